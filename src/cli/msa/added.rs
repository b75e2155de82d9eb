//! `pairwave msa --add` and `--profile`: validated options, and the work.

use super::format;
use super::written::{WrittenRows, dropped_line};
use crate::cli::args::{MsaArgs, MsaFormatName, MsaModeName, RowOrderName};
use crate::cli::common::{
    ComputeOptions, OutputFiles, check_others, check_standard, file_name, first_given, warn_of_names,
};
use crate::cli::endings;
use crate::cli::runner::{Files, JobCommand, JobRunner};
use bstr::ByteSlice;
use indicatif::HumanCount;
use pairwave::error::InputLocation;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::Run;
use pairwave::jobs::msa::{AddRows, AddedRows, AlignedSequences, MsaSummary, NewRows};
use pairwave::output::Output;
use pairwave::output::msa::{MsaFormat, MsaRows, write, write_report};
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice, OriginalLetters, ReadOptions};
use pairwave::{Error, Result};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows to align with an alignment.
#[derive(Debug)]
enum Addition {
    /// Sequences of this file.
    Sequences { path: PathBuf, keep_length: bool },
    /// The alignment in this file.
    Alignment(PathBuf),
}

/// Rows that are aligned with an alignment, whose columns are kept.
#[derive(Debug)]
pub(in crate::cli) struct AddToAlignment {
    aligned: PathBuf,
    addition: Addition,
    letters: ReadOptions,
    format: MsaFormat,
    files: OutputFiles,
    report: Option<PathBuf>,
    mask: Option<f32>,
    compute: ComputeOptions,
}

impl TryFrom<MsaArgs> for AddToAlignment {
    type Error = Error;

    /// Validates arguments with `--add` or `--profile`.
    fn try_from(args: MsaArgs) -> Result<Self> {
        check_base(&args)?;
        let added = &args.input.added;
        let (aligned, addition) = match (&added.add, &added.to, &added.profile, &args.input.seqs) {
            (Some(path), Some(to), _, _) => {
                (to.clone(), Addition::Sequences { path: path.clone(), keep_length: added.keep_length })
            }
            (_, _, Some(first), Some(second)) => (first.clone(), Addition::Alignment(second.clone())),
            _ => return Err(Error::usage("--add needs --to, and --profile needs SEQS")),
        };
        let (option, new, rule) = match &addition {
            Addition::Sequences { path, .. } => ("--add", path, "--add and --to cannot both be -"),
            Addition::Alignment(path) => ("--profile", path, "--profile and SEQS cannot both be -"),
        };
        let inputs: Vec<&Path> = vec![new, &aligned];
        check_standard(&inputs, rule)?;
        check_idle(&args, option)?;
        let compute = ComputeOptions::try_from(&args.compute)?;
        let files = OutputFiles::new(&args.output, args.compute.machine.stats.as_deref(), &inputs)?;
        check_others(&[("--report", args.report.as_deref())], &inputs, &files.names())?;
        super::check_mask(args.mask)?;
        let by_ending = || files.output.as_deref().and_then(endings::format_of);
        let name = args.format.or_else(by_ending).unwrap_or(MsaFormatName::Fasta);
        endings::check("msa", "--output", files.output.as_deref(), &endings::value_name(name))?;
        endings::check("msa", "--report", args.report.as_deref(), "--report")?;
        Ok(AddToAlignment {
            aligned,
            addition,
            letters: args.input.letters.into(),
            format: format(name),
            files,
            report: args.report,
            mask: args.mask,
            compute,
        })
    }
}

/// Rejects `--to` without `--add`, which a parser accepts next to SEQS because `--add` is not allowed
/// there.
pub(super) fn check_base(args: &MsaArgs) -> Result<()> {
    let added = &args.input.added;
    if added.to.is_some() && added.add.is_none() {
        let message = "--to names the alignment that --add adds sequences to: give them with --add instead of SEQS, or \
                       remove --to";
        return Err(Error::usage(message));
    }
    Ok(())
}

/// Rejects options without effect.
fn check_idle(args: &MsaArgs, with: &str) -> Result<()> {
    let machine = &args.compute.machine;
    let pairs = args.pairs.given();
    let others = [args.scoring.of_clustal(), args.scoring.of_accurate(), pairs];
    let given = [
        ("--mode clustalw", args.mode == MsaModeName::Clustalw),
        ("--distance", args.distances.pair.distance.is_some()),
        ("--tree", args.distances.tree.is_some()),
        ("--guidetree-in", args.guidetree_in.is_some()),
        ("--guidetree-out", args.guidetree_out.is_some()),
        ("--distmat-out", args.distmat_out.is_some()),
        ("--order tree", args.order == RowOrderName::Tree),
        ("--degap", with == "--profile" && args.input.letters.gaps.degap),
        ("--device", !machine.device.device.is_empty()),
        ("--memory", machine.memory.is_some()),
        ("--host-memory", args.host_memory.is_some()),
        ("--check", machine.check),
        ("--kernel", args.compute.kernels.kernel.is_some()),
        ("--tune", args.compute.kernels.tune),
    ];
    match others.into_iter().flatten().next().or_else(|| first_given(&given)) {
        Some(option) => Err(Error::usage(format!("{option} has no effect with {with}: remove it"))),
        None => Ok(()),
    }
}

/// Input of [`AddToAlignment`].
pub(in crate::cli) struct AddInput {
    base: AlignedSequences,
    new: NewRows,
    /// Names of all rows. The rows of the alignment come first.
    names: Vec<Vec<u8>>,
    /// Letters of the new rows.
    letters: Vec<Vec<u8>>,
}

/// The new rows of a file.
struct RowsToAdd {
    new: NewRows,
    names: Vec<Vec<u8>>,
    letters: Vec<Vec<u8>>,
}

impl AddToAlignment {
    /// Reads the new rows. They have the alphabet of the alignment.
    fn read_new(&self, alphabet: Alphabet) -> Result<RowsToAdd> {
        match &self.addition {
            Addition::Sequences { path, keep_length } => {
                let read = OriginalLetters::read(path, &self.letters)?;
                self.check_alphabet(path, read.store.alphabet(), alphabet)?;
                let ids = 0..read.store.len() as u32;
                let names = ids.clone().map(|id| read.store.name_bytes(id).to_vec()).collect();
                let letters = ids.map(|id| read.letters(id).to_vec()).collect();
                let sequences = Arc::new(read.store);
                Ok(RowsToAdd { new: NewRows::Sequences { sequences, keep_length: *keep_length }, names, letters })
            }
            Addition::Alignment(path) => {
                let rows = AlignedRows::read(path)?;
                self.check_alphabet(path, rows.check(self.letters.alphabet)?, alphabet)?;
                let names = rows.names.iter().map(|name| name.to_vec()).collect();
                let aligned = AlignedSequences::new(&rows, alphabet)?;
                let letters = aligned.letters.clone();
                Ok(RowsToAdd { new: NewRows::Alignment(aligned), names, letters })
            }
        }
    }

    fn check_alphabet(&self, path: &Path, new: Alphabet, base: Alphabet) -> Result<()> {
        if new == base {
            return Ok(());
        }
        Err(Error::Input {
            location: InputLocation::in_file(path),
            message: format!(
                "these are {}, but {} has {}; give --alphabet if one was detected wrongly",
                new.letters(),
                self.aligned.display(),
                base.letters()
            ),
        })
    }

    /// Rejects names that two rows have.
    fn check_names(&self, base: &[Vec<u8>], new: &[Vec<u8>]) -> Result<()> {
        let (Addition::Sequences { path, .. } | Addition::Alignment(path)) = &self.addition;
        let mut known: HashSet<&[u8]> = base.iter().map(Vec::as_slice).collect();
        let in_base = known.clone();
        for name in new {
            if known.insert(name) {
                continue;
            }
            let message = if in_base.contains(name.as_slice()) {
                format!("{} has a row of this name already: rename one of them", self.aligned.display())
            } else {
                "the file has a sequence of this name already: rename one of them".to_owned()
            };
            let record = Some(name.as_bstr().to_string());
            let location = InputLocation { record, ..InputLocation::in_file(path) };
            return Err(Error::Input { location, message });
        }
        Ok(())
    }

    /// Returns the title of the page: the name of the alignment's file.
    fn title(&self) -> String {
        file_name(&self.aligned)
    }

    /// Warns of residues that were dropped to keep the length.
    fn warn_of_dropped(&self, names: &[Vec<u8>], dropped: &[Vec<u32>]) {
        const LISTED: usize = 5;
        let losses: Vec<(&Vec<u8>, usize)> =
            names.iter().zip(dropped).map(|(name, lost)| (name, lost.len())).filter(|loss| loss.1 > 0).collect();
        if losses.is_empty() {
            return;
        }
        let total: usize = losses.iter().map(|loss| loss.1).sum();
        let listed: Vec<String> =
            losses.iter().take(LISTED).map(|(name, lost)| format!("'{}' {lost}", name.as_bstr())).collect();
        let more = if losses.len() > LISTED { ", ..." } else { "" };
        tracing::warn!(
            "residues without a column in {} are dropped: {total} in total, of {}{more}",
            self.aligned.display(),
            listed.join(", ")
        );
    }
}

impl JobCommand for AddToAlignment {
    type Input = AddInput;
    type Summary = MsaSummary;
    const FAMILY: Family = Family::Posterior;

    fn compute(&self) -> &ComputeOptions {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files::new(&self.files, self.report.as_deref())
    }

    fn read(&self, _run: &Run) -> Result<AddInput> {
        if self.letters.alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) {
            return Err(Error::usage("--alphabet bytes: the sequences must be nucleotides or proteins"));
        }
        let rows = AlignedRows::read(&self.aligned)?;
        let alphabet = rows.check(self.letters.alphabet)?;
        let base = AlignedSequences::new(&rows, alphabet)?;
        let RowsToAdd { new, names: new_names, letters } = self.read_new(alphabet)?;
        let names: Vec<Vec<u8>> = rows.names.iter().map(|name| name.to_vec()).collect();
        self.check_names(&names, &new_names)?;
        Ok(AddInput { base, new, names: [names, new_names].concat(), letters })
    }

    fn run(&self, input: AddInput, mut runner: JobRunner, output: Output) -> Result<MsaSummary> {
        let AddInput { base, new, names, letters } = input;
        let needs_confidence = self.format == MsaFormat::Stockholm || self.report.is_some();
        let job = AddRows { base, new, needs_confidence, mask: self.mask };
        runner.show_progress(0);
        let (rows, summary) = job.run(&runner.run)?;
        self.warn_of_dropped(&names[job.base.letters.len()..], &rows.dropped);
        let kept = letters.iter().enumerate().map(|(new, letters)| rows.kept(new, letters));
        let all = job.base.letters.iter().cloned().chain(kept).map(Into::into).collect();
        let AddedRows { alignment, confidence, selection, .. } = rows;
        let written = WrittenRows { alignment, letters: all, confidence }.select(selection.as_ref());
        let letters: Vec<&[u8]> = written.letters.iter().map(|letters| &**letters).collect();
        let order: Vec<u32> = (0..names.len() as u32).collect();
        let (names, renamed) =
            self.format.name_rules().apply_to_all(&names.iter().map(Vec::as_slice).collect::<Vec<_>>());
        warn_of_names(self.files.output.as_deref(), &renamed);
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let rows = MsaRows {
            alignment: &written.alignment,
            names: &names,
            letters: &letters,
            order: &order,
            alphabet: job.base.sequences.alphabet(),
            confidence: written.confidence.as_ref(),
        };
        if let Some(file) = runner.picture.take() {
            write_report(&rows, None, &self.title(), file)?;
        }
        warn_of_names(self.files.output.as_deref(), &write(self.format, &rows, output)?);
        Ok(summary)
    }

    fn stats(summary: &MsaSummary) -> impl Serialize {
        summary.clone()
    }

    fn lines(&self, summary: &MsaSummary) -> Vec<String> {
        let MsaSummary { sequences, columns, seconds, .. } = summary;
        let line = format!(
            "{} sequences in {} columns in {seconds:.3} s",
            HumanCount(*sequences as u64),
            HumanCount(*columns as u64)
        );
        std::iter::once(line).chain(dropped_line(summary)).collect()
    }
}
