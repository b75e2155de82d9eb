//! `pairwave derep`: validated options, and the work.

use super::args::{DerepArgs, JoinedStrands};
use super::common::{OutputFiles, check_others, check_standard, check_strand, check_temporary};
use super::progress::{ProgressDisplay, counted};
use super::runner::{check_results, results, write_json};
use super::{endings, interrupt, log, size};
use indicatif::HumanCount;
use pairwave::jobs::derep::DEFAULT_MEMORY;
use pairwave::output::cluster::DereplicatedWriter;
use pairwave::output::{Output, OutputGroup};
use pairwave::seq::{Alphabet, AlphabetChoice, ReadOptions, Strands};
use pairwave::{DerepSummary, Dereplication, Error, Result, Run};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Validated options of `pairwave derep`.
#[derive(Debug)]
pub(super) struct Derep {
    job: Dereplication,
    /// Minimum abundance of written sequences. The job passes on all sequences if all groups are
    /// written.
    min_size: NonZeroU64,
    files: OutputFiles,
    /// File for the groups of identical reads.
    uc: Option<PathBuf>,
    /// Number of threads; `None` is all.
    threads: Option<NonZeroUsize>,
}

impl TryFrom<DerepArgs> for Derep {
    type Error = Error;

    fn try_from(args: DerepArgs) -> Result<Self> {
        let inputs: Vec<&Path> = args.reads.iter().map(PathBuf::as_path).collect();
        check_standard(&inputs, "name '-' once among the READS")?;
        let files = OutputFiles::new(&args.output, args.stats.as_deref(), &inputs)?;
        check_others(&[("--uc", args.uc.as_deref())], &inputs, &files.names())?;
        endings::check("derep", "--output", files.output.as_deref(), "fasta")?;
        endings::check("derep", "--uc", args.uc.as_deref(), "--uc")?;
        let ReadOptions { alphabet, degap, .. } = args.letters.into();
        let alphabet = match alphabet {
            AlphabetChoice::Detect => Alphabet::Dna,
            AlphabetChoice::Fixed(Alphabet::Bytes) => {
                return Err(Error::usage("--alphabet bytes: reads are DNA, RNA or proteins"));
            }
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        let both_strands = args.strand == Some(JoinedStrands::Both);
        check_strand(if both_strands { Strands::Both } else { Strands::Plus }, alphabet)?;
        size::check_positive("--min-size", args.min_size)?;
        let min_size = args.min_size.and_then(NonZeroU64::new).unwrap_or(NonZeroU64::MIN);
        let memory = args.buffer.as_deref().map(|text| size::bytes_of_option("--buffer", text)).transpose()?;
        let job = Dereplication {
            alphabet,
            degap,
            both_strands,
            by_sample: args.by_sample,
            lists_reads: args.uc.is_some(),
            min_size: if args.uc.is_some() { NonZeroU64::MIN } else { min_size },
            memory: memory.unwrap_or(DEFAULT_MEMORY),
            ..Dereplication::new(&args.reads)
        };
        Ok(Derep { job, min_size, files, uc: args.uc, threads: args.threads.number()? })
    }
}

/// Dereplicates reads. With `quiet`, prints only errors on standard error.
pub(super) fn run(derep: &Derep, quiet: bool) -> Result<()> {
    let Derep { job, files, uc, .. } = derep;
    // Checks now, not after hours of reading, that these files can be written.
    check_results(files.output.as_deref())?;
    [files.stats.as_deref(), uc.as_deref()].into_iter().flatten().try_for_each(Output::check)?;
    check_temporary()?;
    let progress = Arc::new(ProgressDisplay::start_reads(quiet));
    let threads = derep.threads.map_or(0, NonZeroUsize::get);
    let mut run = Run { threads, progress: progress.clone(), ..Run::default() };
    let reads = job.read(&run)?;
    // Interrupts are watched from here on. While reads are read, an interrupt ends the process, and
    // there are no files to remove.
    run.interrupt = interrupt::watch();
    let outputs = OutputGroup::default();
    let stats = files.stats.as_deref().map(|path| outputs.create(path)).transpose()?;
    let output = results(files.output.as_deref(), &outputs, quiet)?;
    let mut writer = DereplicatedWriter::new(output, derep.min_size.get());
    if let Some(uc) = uc {
        writer = writer.with_uc(outputs.create(uc)?, &job.directory);
    }
    let mut summary = reads.write(&run, |sequence| writer.write(sequence))?;
    summary.written = writer.finish()?;
    if let Some(stats) = stats {
        write_json(stats, &summary)?;
    }
    outputs.publish()?;
    drop((run, progress));
    if !quiet {
        log::line(&line(&summary));
    }
    Ok(())
}

/// Returns the summary as text.
fn line(summary: &DerepSummary) -> String {
    let DerepSummary { reads, sequences, abundance, written, seconds, .. } = *summary;
    format!(
        "{}, {}, abundance {} in {seconds:.3} s: {} reads/s; {} written",
        counted(reads, "read"),
        counted(sequences, "different sequence"),
        HumanCount(abundance),
        HumanCount((reads as f64 / seconds.max(1e-6)).round() as u64),
        HumanCount(written),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_in_one_line() {
        let many = DerepSummary {
            reads: 1_200_000,
            sequences: 30_000,
            abundance: 5_000_000,
            written: 700,
            temporary_bytes: 0,
            seconds: 2.0,
        };
        let one = DerepSummary { reads: 1, sequences: 1, abundance: 1, written: 1, ..many };
        insta::assert_snapshot!(line(&many), @"1,200,000 reads, 30,000 different sequences, abundance 5,000,000 in 2.000 s: 600,000 reads/s; 700 written");
        assert!(line(&one).starts_with("1 read, 1 different sequence, abundance 1 in "));
    }
}
