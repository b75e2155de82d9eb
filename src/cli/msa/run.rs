//! `pairwave msa`: from validated options to results.

use super::MultipleAlign;
use super::costs::{idle_computing, is_file_of_matrix};
use super::mode::ModeChoice;
use super::sequences::SequenceSet;
use super::written::{WrittenRows, dropped_line};
use crate::cli::blocks::{BlockCommand, RowSink};
use crate::cli::common::{ComputeOptions, first_given, warn_of_names};
use crate::cli::progress::gcups;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use indicatif::HumanCount;
use pairwave::clustal::ClustalCosts;
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::msa::{DistanceRows, MsaResult, MsaSummary, MultiAlign, TreeMethod};
use pairwave::jobs::{Job, Run, Summary};
use pairwave::output::msa::{DistanceFormat, MsaFormat, MsaRows, write, write_distances, write_report};
use pairwave::output::{DistanceMatrixShape, Output};
use pairwave::seq::{Alphabet, NameRules, Renamed, read_text};
use pairwave::tree::newick::NameStyle;
use pairwave::tree::{Distances, GuideTree};
use pairwave::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Input of `pairwave msa`.
pub(in crate::cli) struct MsaInput {
    sequences: SequenceSet,
    /// Guide tree from a file; `None` computes one.
    guide_tree: Option<GuideTree>,
}

impl JobCommand for MultipleAlign {
    type Input = MsaInput;
    type Summary = MsaSummary;
    const FAMILY: Family = Family::Clustal;

    fn family(&self) -> Family {
        match self.mode {
            ModeChoice::Accurate(_) => Family::Posterior,
            ModeChoice::Clustal(_) => Family::Clustal,
        }
    }

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn idle_computing(&self) -> Vec<&'static str> {
        idle_computing(self.distance.unwrap_or_default()).to_vec()
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, self.report.as_deref())
    }

    fn read(&self, run: &Run) -> Result<MsaInput> {
        [&self.guidetree_out, &self.distmat_out].into_iter().flatten().try_for_each(Output::check)?;
        let mut sequences = self.source.read()?;
        if matches!(self.mode, ModeChoice::Clustal(_)) {
            sequences = sequences.of_clustal_letters();
        }
        let guide_tree = match &self.guidetree_in {
            Some(path) => Some(self.read_tree(path, &sequences, run)?),
            None => None,
        };
        Ok(MsaInput { sequences, guide_tree })
    }

    fn run(&self, input: MsaInput, runner: JobRunner, output: Output) -> Result<MsaSummary> {
        self.align(input, None, runner, output)
    }

    fn stats(summary: &MsaSummary) -> impl Serialize {
        summary.clone()
    }

    fn lines(&self, summary: &MsaSummary) -> Vec<String> {
        let MsaSummary { sequences, columns, distances, seconds, .. } = summary;
        let MsaSummary { tree_seconds, alignment_seconds, confidence_seconds, .. } = summary;
        let mut line = format!(
            "{} sequences in {} columns in {seconds:.3} s:",
            HumanCount(*sequences as u64),
            HumanCount(*columns as u64)
        );
        if distances.pairs > 0 {
            let speed = gcups(distances.cells as f64 / distances.seconds.max(1e-6));
            line += &format!(" distances {:.3} s ({speed}),", distances.seconds);
        }
        line += &format!(" guide tree {tree_seconds:.3} s, alignment {alignment_seconds:.3} s");
        if *confidence_seconds > 0.0 {
            line += &format!(", confidence {confidence_seconds:.3} s");
        }
        std::iter::once(line).chain(dropped_line(summary)).collect()
    }
}

impl MultipleAlign {
    /// Returns whether an output contains the confidence. Accurate mode has it at hand, or computes
    /// it in a fraction of its time.
    fn needs_confidence(&self) -> bool {
        matches!(self.mode, ModeChoice::Accurate(_)) && (self.format == MsaFormat::Stockholm || self.report.is_some())
    }

    /// Aligns the input, and writes the results. Given distances are not computed again.
    fn align(
        &self,
        input: MsaInput,
        given: Option<Arc<Distances>>,
        mut runner: JobRunner,
        output: Output,
    ) -> Result<MsaSummary> {
        let MsaInput { sequences, guide_tree } = input;
        let create = |path: &Option<PathBuf>| path.as_deref().map(|path| runner.outputs.create(path)).transpose();
        let (tree_out, distmat_out) = (create(&self.guidetree_out)?, create(&self.distmat_out)?);
        let alphabet = sequences.store.alphabet();
        let job = MultiAlign { given, ..self.job_of(&sequences, guide_tree)? };
        let mut result = None;
        runner.show_progress(job.cells());
        let summary = job.run(&runner.run, |rows| {
            result = rows.first().cloned();
            Ok(())
        })?;
        let MsaResult { alignment, guide, order, confidence, selection } =
            result.ok_or_else(|| Error::Internal("a job without a result".into()))?;
        let letters = sequences.letters(matches!(self.mode, ModeChoice::Clustal(_)));
        let written = WrittenRows { alignment, letters, confidence }.select(selection.as_ref());
        let letters: Vec<&[u8]> = written.letters.iter().map(|letters| &**letters).collect();
        let input_order: Vec<u32> = (0..sequences.store.len() as u32).collect();
        let order = if self.in_tree_order { order } else { input_order.clone() };
        let (names, renamed) = self.written_names(&sequences);
        warn_of_names(self.files.output.as_deref(), &renamed);
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let rows = MsaRows {
            alignment: &written.alignment,
            names: &names,
            letters: &letters,
            order: &order,
            alphabet,
            confidence: written.confidence.as_ref(),
        };
        if let Some(mut file) = tree_out {
            self.warn_of_bare_names(&names);
            file.buffer().extend_from_slice(&guide.newick(self.name_style(), &names));
            file.finish()?;
        }
        if let (Some(file), Some(distances)) = (distmat_out, &guide.distances) {
            let format = DistanceFormat::Phylip(DistanceMatrixShape::Square);
            warn_of_names(
                self.distmat_out.as_deref(),
                &write_distances(format, distances, &names, &input_order, file)?,
            );
        }
        if let Some(file) = runner.picture.take() {
            let title = self.source.title();
            write_report(&rows, Some(&guide.tree), &title, file)?;
        }
        // Writes the alignment last: once it exists, the other files exist too.
        warn_of_names(self.files.output.as_deref(), &write(self.format, &rows, output)?);
        Ok(summary)
    }

    /// Returns the names in the alignment and the tree, in the order of the sequences, and the
    /// renamed sequences.
    fn written_names(&self, sequences: &SequenceSet) -> (Vec<Vec<u8>>, Vec<Renamed>) {
        let names = sequences.names();
        let rules = self.format.name_rules();
        if matches!(self.mode, ModeChoice::Accurate(_)) {
            return rules.apply_to_all(&names);
        }
        let (read, mut renamed) = NameRules::CLUSTALW.apply_to_all(&names);
        let (written, others) = rules.apply_to_all(&read.iter().map(Vec::as_slice).collect::<Vec<_>>());
        renamed.extend(others);
        (written, renamed)
    }

    /// Reads a guide tree. Its leaves have the names of the sequences, as given or as any format
    /// writes them.
    fn read_tree(&self, path: &Path, sequences: &SequenceSet, run: &Run) -> Result<GuideTree> {
        let text = read_text(path)?;
        let path = path.display().to_string();
        let pool = thread_pool(run.threads)?;
        let names = sequences.names();
        let read = |rules: &NameRules| GuideTree::read(&path, &text, &rules.apply_to_all(&names).0, &pool);
        read(&NameRules::NEWICK).or_else(|error| {
            GuideTree::read(&path, &text, &self.written_names(sequences).0, &pool)
                .or_else(|_| NameRules::OF_TREES.iter().find_map(|rules| read(rules).ok()).ok_or(error))
        })
    }

    /// Warns of names that ClustalW's trees write without quotes, although other programs interpret
    /// quotes and brackets.
    fn warn_of_bare_names(&self, names: &[&[u8]]) {
        let is_special = |name: &&&[u8]| name.iter().any(|byte| b"'\"[]".contains(byte));
        if self.name_style() == NameStyle::Bare
            && let (Some(first), Some(file)) = (names.iter().find(is_special), &self.guidetree_out)
        {
            let (name, count) = (String::from_utf8_lossy(first), names.iter().filter(is_special).count());
            tracing::warn!(
                "{}: quotes and brackets in names are written unquoted, as ClustalW does, so other programs may \
            misread these names: '{name}'{}",
                file.display(),
                if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
            );
        }
    }

    /// Returns the style of names in the guide tree's file.
    fn name_style(&self) -> NameStyle {
        match self.mode {
            ModeChoice::Accurate(_) => NameStyle::Quoted,
            ModeChoice::Clustal(_) => NameStyle::Bare,
        }
    }

    fn job_of(&self, sequences: &SequenceSet, guide_tree: Option<GuideTree>) -> Result<MultiAlign> {
        let alphabet = sequences.store.alphabet();
        Ok(MultiAlign {
            mode: self.mode.resolve(alphabet)?,
            distance: self.distance,
            costs: self.costs(alphabet)?,
            tree: self.tree,
            guide_tree,
            needs_distances: self.distmat_out.is_some(),
            needs_confidence: self.needs_confidence(),
            mask: self.mask,
            host_memory: self.host_memory,
            check: self.compute.check,
            ..MultiAlign::new(Arc::clone(&sequences.store))
        })
    }

    /// Returns the costs of ClustalW's distances.
    fn costs(&self, alphabet: Alphabet) -> Result<Option<Arc<ClustalCosts>>> {
        match &self.mode {
            ModeChoice::Clustal(scoring) => self.pairs.costs(alphabet, scoring.transitions()?).map(Some),
            ModeChoice::Accurate(_) => self.pairs.costs(alphabet, 0.5).map(Some),
        }
    }
}

impl BlockCommand for MultipleAlign {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        let (ModeChoice::Accurate(scoring) | ModeChoice::Clustal(scoring)) = &mut self.mode;
        let matrix = scoring.matrix.as_mut().filter(|name| is_file_of_matrix(name));
        [Some(&mut self.source.path), self.pairs.matrix_file(), matrix].into_iter().flatten().collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        let others = [
            ("--guidetree-out", self.guidetree_out.is_some()),
            ("--distmat-out", self.distmat_out.is_some()),
            ("--report", self.report.is_some()),
        ];
        first_given(&others)
    }

    fn job(&self, input: &MsaInput) -> Result<DistanceRows> {
        let nothing =
            |why: &str| Err(Error::usage(format!("{why}: only the distances of all pairs can be split into blocks")));
        if input.guide_tree.is_some() {
            return nothing("--guidetree-in needs no distances");
        }
        match self.job_of(&input.sequences, None)?.pair_distances() {
            Some(job) => Ok(DistanceRows::new(job)),
            None if self.tree == Some(TreeMethod::Mbed) => nothing("--tree mbed needs few distances"),
            None => nothing("--mode accurate needs no distances unless --distance or --tree asks for them"),
        }
    }

    fn deliver(
        &self,
        input: MsaInput,
        mut runner: JobRunner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut JobRunner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<MsaSummary> {
        let job = self.job(&input)?;
        let mut gathered = job.empty_collection()?;
        source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        self.align(input, Some(Arc::new(gathered.finish()?)), runner, output)
    }
}
