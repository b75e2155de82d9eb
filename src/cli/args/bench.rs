//! What was typed after `pairwave bench`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::machine::{DeviceArgs, ThreadsArgs};
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Measure the devices: the tables of Truong, Chacon and Li et al. 2014 and Alachiotis et al. 2013
///
/// Speeds of kernels by length and number of pairs, their settings and shapes, kernels as filters, ways to bring results
/// back, whole jobs, Levenshtein distances, pairs of very long sequences, reads against ancestral states, and multiple alignments by
/// stages. Sequences are
/// random, from a seed that is written with the tables, unless --seqs names a file. What is not measured is marked: - does
/// not suit the kernel or the device, 'skipped' would take longer than --seconds.
#[derive(Debug, clap::Args, Default)]
#[command(after_long_help = EXAMPLES, mut_args(as_in_bench))]
pub(crate) struct BenchArgs {
    /// What to measure [default: all of these but 'cluster']
    #[arg(value_name = "EXPERIMENT", value_enum, ignore_case = true)]
    pub experiments: Vec<ExperimentName>,

    /// Lengths for 'kernels', 'tiles', 'edit', 'long' and 'msa' in symbols and for 'papara' in sites, separated by commas
    /// [default: for kernels 128,256,512,1024,2048,4096,8192,16384, for tiles 120,360,1000, for edit
    /// 100,200,400,600,800,1000,10000, for long those of the paper's figures, and up to 1000000, for papara 500,1000,5000,10000,50000,100000,500000, for msa 100,350,1500]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',')]
    pub lengths: Vec<u32>,

    /// Numbers of pairs for 'kernels', of reads for 'papara', of sequences for 'msa' and of ranks for 'cluster', separated by
    /// commas [default: for kernels 8,64,512,4096,32768,100000, for papara 10,50,100,500,1250,5000, for msa 10,100,1000, for
    /// cluster 1,10,100,1000,10000]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',')]
    pub counts: Vec<u32>,

    /// What to compute in 'kernels', separated by commas [default: both]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',', value_enum, ignore_case = true)]
    pub work: Vec<WorkName>,

    /// Gap costs in 'kernels', 'slices', 'tiles' and 'long', separated by commas [default: both]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',', value_enum, ignore_case = true)]
    pub gaps: Vec<GapsName>,

    /// Kernels to measure, separated by commas; cpu is the CPU engine [default: all]
    #[arg(long, value_name = "NAME", help_heading = SELECTION, value_delimiter = ',')]
    pub kernel: Vec<String>,

    /// Sequences for 'filter' (the first 200) and 'endtoend' instead of random ones; - is standard input
    #[arg(long, value_name = "FILE", help_heading = SELECTION, value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    /// Seconds that a row of a table may take, about
    #[arg(long, value_name = "SECONDS", help_heading = SELECTION, default_value_t = 3.0)]
    #[arg(allow_negative_numbers = true)]
    pub seconds: f64,

    /// Small sizes, which show no more than that all works; always taken on software adapters
    #[arg(long, help_heading = SELECTION)]
    pub quick: bool,

    /// Where to write the tables [default: standard output]. The file appears when it is whole
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// What to write
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: TableFormatName,

    /// Write charts of the tables as well, as SVG
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Write the rates as well, one a line, for a later --compare
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,

    /// Set the rates beside those that --save wrote; the exit code is 1 if one fell
    ///
    /// Rows are found by what they measure, so that the same experiments, lengths and counts should be given. What is on one
    /// side only is marked. Another device's rates are compared with a warning. A row that was measured and now takes longer than
    /// --seconds, is refused or fails counts as one that fell.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,

    /// Percent by which a rate may fall with --compare [default: 10]
    #[arg(long, value_name = "PERCENT", help_heading = OUTPUT, allow_negative_numbers = true)]
    pub tolerance: Option<f64>,

    #[command(flatten)]
    pub device: DeviceArgs,

    #[command(flatten)]
    pub threads: ThreadsArgs,
}

/// The options of all jobs as `pairwave bench` has them.
fn as_in_bench(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "device" => arg.help(DEVICE).long_help(format!("{DEVICE}\n\n{SEVERAL}")),
        "threads" => arg.short(None).visible_short_alias(None),
        _ => arg,
    }
}

const DEVICE: &str =
    "Device to measure: its index, a part of its name, its PCI bus id, cpu, or all [default: the best there is]";
const SEVERAL: &str = "\
May be given several times, or with several devices separated by commas: each has tables of its own.";

const EXAMPLES: &str = "\
Examples:
  Everything, with charts:
    pairwave bench -o bench.txt --plot bench.svg
  How fast genes are scored, as numbers for another program:
    pairwave bench kernels --lengths 1500 --work scores --format csv
  Which lanes and columns score proteins fastest, in words and in halves:
    pairwave bench tiles --gaps affine --kernel sw_tile,sw_tile_half,sw_tile_half_targets
  How fast reads of 150 symbols are found in their candidate regions:
    pairwave bench edit --lengths 150
  How fast two sequences of 100,000 symbols are aligned:
    pairwave bench long --lengths 100000 --gaps affine --seconds 30
  How fast reads are scored against ancestral states of 1,500 sites, by a GPU, by the CPU and by both:
    pairwave bench papara --lengths 1500
  How long the stages of multiple alignments of 500 proteins take:
    pairwave bench msa --counts 500 --lengths 350 --seconds 30
  How long all pairs of a file take with every kernel:
    pairwave bench endtoend --seqs genes.fa --seconds 20
  Whether something got slower since rates were saved:
    pairwave bench edit --lengths 150 --save before.rates
    pairwave bench edit --lengths 150 --compare before.rates";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentName {
    /// Every kernel and the CPU engine, by length and number of pairs (Truong et al., figures 8 and 9)
    Kernels,
    /// Slice widths and workgroup sizes of nw_slice and nw_slice_half (table 4, figure 11)
    Slices,
    /// Shapes of the kernels for local scores, of proteins: lanes and columns of a pair, in words and in halves
    Tiles,
    /// Pairs of at least 97% identity: the CPU alone, and kernels as filters before it (table 5)
    Filter,
    /// Ways to bring results back, and sizes of batches (figure 10)
    Buffering,
    /// All pairs of many sequences, filtered at 97% identity, and all aligned (section 6.6)
    #[value(name = "endtoend", alias = "end-to-end")]
    EndToEnd,
    /// Levenshtein distances of reads to regions of a genome: every kernel, by length and by words a lane, whole
    /// batches, and the CPU (Chacon et al. 2014, figures 4 and 7 to 9)
    Edit,
    /// One pair of very long sequences: strip widths and schedules, scores, alignments by every method, and what pruning
    /// spares (Li, Ranka and Sahni 2014, figures 7 and 9)
    Long,
    /// Scores of reads against ancestral states, by sites and by reads: every kernel, the CPU, and both together (Alachiotis et
    /// al. 2013, tables 1 to 3)
    Papara,
    /// Random families of proteins aligned with each other in both modes: seconds of distances, tree and alignment, by length
    /// and number of sequences
    Msa,
    /// Jobs in blocks on many machines, simulated: nothing is computed, and no device is asked
    Cluster,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WorkName {
    /// The score of every pair
    Scores,
    /// The score and the matches of every pair, which an alignment is traced from
    Alignments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GapsName {
    /// 10 a symbol; in 'long' 5
    Linear,
    /// 10, and 1 a symbol; in 'long' 5, and 2 a symbol
    Affine,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormatName {
    /// Aligned columns
    #[default]
    Text,
    /// One table of comma-separated values, with comments that begin with #
    Csv,
}
