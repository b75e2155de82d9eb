//! `pairwave papara`: from validated options to results.

use super::Papara;
use crate::cli::args::LAYOUT;
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::{
    ComputeOptions, NAMED, check_strand, check_temporary, first_given, warn_of_names, warn_of_some_names,
};
use crate::cli::log;
use crate::cli::progress::gcups;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use bstr::BString;
use indicatif::HumanCount;
use pairwave::Result;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::papara::spool::ReadSpool;
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{Fingerprint, Job, PhyloAlignment, PhyloResult, ReadSource, Run, Summary};
use pairwave::output::{
    BestEdge, BestTable, Output, PlacedExtent, PlacedRead, PlacedWriter, PlacementFile, ReferenceRows,
};
use pairwave::papara::Reference;
use pairwave::seq::{NameRules, Namer, Renamed};
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Papara {
    /// Returns the rules for names in the alignment's format.
    fn name_rules(&self) -> NameRules {
        if self.format.is_phylip { NameRules::PHYLIP } else { NameRules::FASTA }
    }

    /// Returns a namer that gives reads names distinct from the references and from each other.
    fn namer(&self, reference: &Reference) -> Namer {
        Namer::new(self.name_rules(), reference.names.iter().map(|name| name.as_slice()))
    }

    /// Returns the fingerprint of a checkpoint. It covers all arguments except formatting options,
    /// all files, and the references as they were read, since these may come from standard input.
    fn fingerprint(&self, reference: &Reference) -> Result<Fingerprint> {
        let rows = reference.names.iter().map(|name| name.as_slice()).zip(&reference.rows);
        let rows = rows.flat_map(|(name, row)| [name, b"\t", row.as_slice(), b"\n"]);
        let all = self.request.fingerprint(LAYOUT)?;
        Ok(all
            // The alphabet as given or detected.
            .with("--alphabet", reference.alphabet.letters())
            .with_bytes("--reference", rows)
            .with_bytes("--tree", [reference.tree.annotated().as_slice()]))
    }

    /// Opens the file for finished reads, if they have to wait.
    fn spool(&self, reference: &Reference) -> Result<Option<ReadSpool>> {
        if let Some(path) = &self.checkpoint {
            let (spool, reads) = ReadSpool::open(path, &self.fingerprint(reference)?)?;
            if reads > 0 {
                log::line(&format!("resuming after {} reads of {}", HumanCount(reads), path.display()));
            }
            return Ok(Some(spool));
        }
        if !self.format.needs_extent() {
            return Ok(None);
        }
        ReadSpool::create(self.spool_directory()).map(Some)
    }

    /// Returns the directory of the spool: the directory of the output, or the directory for
    /// temporary files.
    fn spool_directory(&self) -> PathBuf {
        // Pipes and devices have no directory for temporary files.
        let is_file = |path: &&Path| path.metadata().map_or(true, |file| file.is_file());
        let file = self.files.output.as_deref().filter(|path| *path != Path::new("-")).filter(is_file);
        match file.map(|file| file.parent().filter(|parent| !parent.as_os_str().is_empty())) {
            Some(Some(parent)) => parent.to_owned(),
            Some(None) => PathBuf::from("."),
            None => std::env::temp_dir(),
        }
    }
}

/// Writers of the results.
struct PaparaWriters<'a> {
    reference: &'a Reference,
    /// Writer of rows that are written as they arrive.
    alignment: Option<PlacedWriter>,
    table: Option<BestTable>,
    placements: Option<PlacementFile>,
    /// Splits of edges that have reads. They are stored because each takes a search through the
    /// tree.
    splits: HashMap<u32, BString>,
    namer: Namer,
    /// First reads that were renamed.
    renamed: Vec<Renamed>,
    /// Number of renamed reads.
    renamed_count: u64,
}

impl PaparaWriters<'_> {
    fn write(&mut self, reads: &[PhyloResult]) -> Result<()> {
        let names: Vec<Vec<u8>> = reads.iter().map(|read| self.name(&read.name)).collect();
        if let Some(alignment) = &mut self.alignment {
            let rows: Vec<PlacedRead<'_>> = reads.iter().zip(&names).map(|(read, name)| row_of(read, name)).collect();
            alignment.write(&rows)?;
        }
        for (read, name) in reads.iter().zip(&names) {
            let &PhyloResult { edge, score, runner_up, strand, .. } = read;
            let best = BestEdge { name, edge, score, runner_up, strand };
            if let Some(placements) = &mut self.placements {
                placements.write(&best, |edge| self.reference.tree.edges[edge as usize].length)?;
            }
            if let Some(table) = &mut self.table {
                let split = self.splits.entry(edge).or_insert_with(|| self.reference.tree.split(edge));
                table.write(&best, split)?;
            }
        }
        Ok(())
    }

    /// Returns the name under which the next read is written.
    fn name(&mut self, name: &[u8]) -> Vec<u8> {
        let (name, renamed) = self.namer.name(name);
        if let Some(renamed) = renamed {
            self.renamed_count += 1;
            if self.renamed.len() < NAMED {
                self.renamed.push(renamed);
            }
        }
        name
    }

    fn finish(self, output: Option<&Path>) -> Result<()> {
        warn_of_some_names(output, &self.renamed, self.renamed_count);
        // Finishes the alignment last: once it exists, the other files exist too.
        self.table.map_or(Ok(()), BestTable::finish)?;
        self.placements.map_or(Ok(()), PlacementFile::finish)?;
        self.alignment.map_or(Ok(()), PlacedWriter::finish)
    }
}

fn row_of<'a>(read: &'a PhyloResult, name: &'a [u8]) -> PlacedRead<'a> {
    PlacedRead { name, letters: &read.letters, first_site: read.first_site, cigar: &read.cigar }
}

impl JobCommand for Papara {
    type Input = Arc<Reference>;
    type Summary = Summary;
    const FAMILY: Family = Family::Phylo;

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, None)
    }

    fn sequence_files(&self) -> Vec<&Path> {
        vec![&self.reads]
    }

    fn read(&self, _run: &Run) -> Result<Arc<Reference>> {
        if self.checkpoint.is_none() && self.format.needs_extent() && self.spool_directory() == std::env::temp_dir() {
            check_temporary()?;
        }
        [&self.table, &self.jplace, &self.tree_out].into_iter().flatten().try_for_each(Output::check)?;
        let mut reference = Reference::read(&self.tree, &self.reference, self.alphabet)?;
        let names: Vec<&[u8]> = reference.names.iter().map(|name| name.as_slice()).collect();
        let order: Vec<u32> = (0..names.len() as u32).collect();
        let (written, renamed) = self.name_rules().apply(&names, &order);
        if !renamed.is_empty() {
            warn_of_names(self.files.output.as_deref(), &renamed);
            reference.rename(written.into_iter().map(BString::from).collect());
        }
        check_strand(self.strand, reference.alphabet)?;
        let (sites, columns) = (reference.columns.len(), reference.rows.first().map_or(0, Vec::len));
        if self.format.keep_length && self.format.reads_only && sites < columns {
            // EPA-ng compares the lengths of reads and references.
            tracing::warn!(
                "{} of {columns} columns of '{}' carry no information and are dropped: the reads \
                 fit the references as written without --split, not that file",
                columns - sites,
                self.reference.display()
            );
        }
        Ok(Arc::new(reference))
    }

    fn run(&self, reference: Arc<Reference>, runner: JobRunner, output: Output) -> Result<Summary> {
        self.deliver(reference, runner, output, |job, runner, rows| {
            runner.show_progress_reads();
            job.run(&runner.run, |some| rows.rows(some))
        })
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::from_summary(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        let seconds = summary.seconds.max(1e-6);
        let computed: u64 = summary.engines.iter().map(|engine| engine.cells).sum();
        // Groups of eight are padded, so the number can exceed the total.
        let share = (100.0 * computed as f64 / summary.cells.max(1) as f64).min(100.0);
        let engines: Vec<String> =
            summary.engines.iter().map(|engine| format!("{} {}", engine.name, gcups(engine.gcups * 1e9))).collect();
        vec![format!(
            "{} {} aligned in {:.3} s: {} reads/s, {} over all edges, {share:.1}% of them computed; {}",
            HumanCount(summary.written),
            if summary.written == 1 { "read" } else { "reads" },
            summary.seconds,
            HumanCount((summary.written as f64 / seconds).round() as u64),
            gcups(summary.cells as f64 / seconds),
            engines.join(", "),
        )]
    }
}

impl BlockCommand for Papara {
    type Job = PhyloAlignment;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        vec![&mut self.tree, &mut self.reference, &mut self.reads]
    }

    fn other_output(&self) -> Option<&'static str> {
        let others = [
            ("--table", self.table.is_some()),
            ("--jplace", self.jplace.is_some()),
            ("--tree-out", self.tree_out.is_some()),
            ("--checkpoint", self.checkpoint.is_some()),
        ];
        first_given(&others)
    }

    fn job(&self, reference: &Arc<Reference>) -> Result<PhyloAlignment> {
        Ok(PhyloAlignment {
            gap_model: self.gap_model,
            scheme: Arc::new(self.scheme),
            strand: self.strand,
            exhaustive: self.exhaustive,
            check: self.compute.check,
            ..PhyloAlignment::new(Arc::clone(reference), ReadSource::File(self.reads.clone()))
        })
    }

    fn deliver(
        &self,
        reference: Arc<Reference>,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&PhyloAlignment, &mut JobRunner, RowSink<'_, PhyloAlignment>) -> Result<Summary>,
    ) -> Result<Summary> {
        let mut job = self.job(&reference)?;
        let create = |path: &Option<PathBuf>| path.as_deref().map(|path| runner.outputs.create(path)).transpose();
        let table = create(&self.table)?.map(BestTable::begin);
        let begin = |output| PlacementFile::begin(output, &reference.tree.annotated());
        let placements = create(&self.jplace)?.map(begin);
        let tree_out = create(&self.tree_out)?;
        let rows = ReferenceRows { names: &reference.names, rows: &reference.rows, columns: &reference.columns };
        let mut sink = PaparaWriters {
            reference: &reference,
            alignment: None,
            table,
            placements,
            splits: HashMap::new(),
            namer: self.namer(&reference),
            renamed: Vec::new(),
            renamed_count: 0,
        };
        let mut extent = PlacedExtent::new(reference.columns.len());
        let mut counted = self.namer(&reference);
        let (summary, sink) = match self.spool(&reference)? {
            None => {
                sink.alignment = Some(PlacedWriter::begin(self.format, rows, None, output)?);
                let summary = source(&job, &mut runner, &mut Whole(|reads: &[_]| sink.write(reads)))?;
                (summary, sink)
            }
            Some(mut spool) => {
                for block in spool.blocks() {
                    block?
                        .iter()
                        .try_for_each(|row| extent.add(&counted.name(&row.name).0, row.first_site, &row.cigar))?;
                }
                job.skip = spool.reads();
                let mut spooled = Whole(|reads: &[PhyloResult]| {
                    reads
                        .iter()
                        .try_for_each(|row| extent.add(&counted.name(&row.name).0, row.first_site, &row.cigar))?;
                    spool.append(reads)
                });
                let summary = source(&job, &mut runner, &mut spooled)?;
                sink.alignment = Some(PlacedWriter::begin(self.format, rows, Some(&extent), output)?);
                spool.blocks().try_for_each(|block| sink.write(&block?))?;
                (summary, sink)
            }
        };
        if let Some(mut tree) = tree_out {
            tree.buffer().extend_from_slice(&reference.tree.annotated());
            tree.buffer().push(b'\n');
            tree.finish()?;
        }
        sink.finish(self.files.output.as_deref())?;
        Ok(summary)
    }
}
