//! Arguments of `pairwave bench`.

use crate::cli::args::headings::{OUTPUT, SELECTION};
use crate::cli::args::help::{with_first_paragraph, with_help};
use crate::cli::args::machine::{DeviceArgs, ThreadsArgs};
use crate::cli::args::output::OutputArgs;
use clap::{Arg, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Measure the devices with the experiments of Truong, Chacon and Li et al. (2014) and Alachiotis
/// et al. (2013)
///
/// Measures kernels by length and number of pairs, their settings and shapes, kernels as filters,
/// ways to copy results back, whole jobs, Levenshtein distances, pairs of very long sequences,
/// reads against ancestral states, and the stages of multiple alignments. The sequences are random,
/// from a seed that is written with the tables, unless --seqs names a file. In the tables, '-'
/// marks cases that do not suit the kernel or the device, and 'skipped' marks cases that would take
/// longer than --seconds.
#[derive(Debug, clap::Args, Default)]
#[command(after_long_help = EXAMPLES, mut_args(as_in_bench))]
pub(crate) struct BenchArgs {
    /// Experiments to run [default: all except 'cluster']
    #[arg(value_name = "EXPERIMENT", value_enum, ignore_case = true)]
    pub experiments: Vec<ExperimentName>,

    /// Measure these lengths, separated by commas, in 'kernels', 'tiles', 'edit', 'long' and 'msa'
    /// (symbols) and in 'papara' (sites)
    ///
    /// Defaults: for kernels 128,256,512,1024,2048,4096,8192,16384, for tiles 120,360,1000, for
    /// edit 100,200,400,600,800,1000,10000, for long the lengths of the paper's figures and up to
    /// 1000000, for papara 500,1000,5000,10000,50000,100000,500000, for msa 100,350,1500.
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',')]
    pub lengths: Vec<u32>,

    /// Measure these numbers, separated by commas, of pairs in 'kernels', reads in 'papara',
    /// sequences in 'msa' and ranks in 'cluster'
    ///
    /// Defaults: for kernels 8,64,512,4096,32768,100000, for papara 10,50,100,500,1250,5000, for
    /// msa 10,100,1000, for cluster 1,10,100,1000,10000.
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',')]
    pub counts: Vec<u32>,

    /// Compute these results in 'kernels', separated by commas [default: both]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',', value_enum, ignore_case = true)]
    pub work: Vec<WorkName>,

    /// Use these gap costs in 'kernels', 'slices', 'tiles' and 'long', separated by commas
    /// [default: both]
    #[arg(long, value_name = "LIST", help_heading = SELECTION, value_delimiter = ',', value_enum, ignore_case = true)]
    pub gaps: Vec<GapsName>,

    /// Measure these kernels, separated by commas; 'cpu' is the CPU engine [default: all]
    #[arg(long, value_name = "NAME", help_heading = SELECTION, value_delimiter = ',')]
    pub kernel: Vec<String>,

    /// Use the sequences of this file in 'filter' (the first 200) and 'endtoend' instead of random
    /// ones; - is standard input
    #[arg(long, value_name = "FILE", help_heading = SELECTION, value_hint = ValueHint::FilePath)]
    pub seqs: Option<PathBuf>,

    /// Spend about this time on each row of a table, in seconds
    #[arg(long, value_name = "SECONDS", help_heading = SELECTION, default_value_t = 3.0)]
    #[arg(allow_negative_numbers = true)]
    pub seconds: f64,

    /// Use small sizes that only show that everything works; always on for software adapters
    #[arg(long, help_heading = SELECTION)]
    pub quick: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Write the tables in this format
    #[arg(long, value_name = "FORMAT", help_heading = OUTPUT, value_enum, ignore_case = true, default_value_t)]
    pub format: TableFormatName,

    /// Also write charts of the tables to this SVG file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Also write the rates to this file, one per line, for a later --compare
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,

    /// Compare the rates with a file that --save wrote; exit with code 1 if a rate fell
    ///
    /// Rows are matched by what they measure, so use the same experiments, lengths and counts as
    /// before. Rows that occur on one side only are marked. Rates of another device are compared
    /// with a warning. A row also counts as fallen if it was measured before and now takes longer
    /// than --seconds, is refused or fails.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, value_hint = ValueHint::FilePath)]
    pub compare: Option<PathBuf>,

    /// Allow a rate to fall by this percentage with --compare [default: 10]
    #[arg(long, value_name = "PERCENT", help_heading = OUTPUT, allow_negative_numbers = true)]
    pub tolerance: Option<f64>,

    #[command(flatten)]
    pub device: DeviceArgs,

    #[command(flatten)]
    pub threads: ThreadsArgs,
}

/// Adapts the options that all jobs share to `pairwave bench`.
fn as_in_bench(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "output" => with_first_paragraph(arg, "Write the tables to this file [default: standard output]"),
        "device" => with_help(arg, DEVICE, SEVERAL),
        "threads" => arg.short(None).visible_short_alias(None),
        _ => arg,
    }
}

const DEVICE: &str = "\
Measure this device: index, part of a name, PCI bus id, 'cpu' or 'all' [default: the best \
available]";
const SEVERAL: &str = "\
Repeat the option, or separate devices by commas, to measure several: each gets its own tables.";

const EXAMPLES: &str = "\
Examples:
  Measure everything, with charts:
    pairwave bench -o bench.txt --plot bench.svg
  Measure how fast genes are scored, as numbers for another program:
    pairwave bench kernels --lengths 1500 --work scores --format csv
  Compare lanes and columns for scoring proteins, with i32 and f16 scores:
    pairwave bench tiles --gaps affine --kernel sw_tile,sw_tile_half,sw_tile_half_targets
  Measure how fast reads of 150 symbols are compared with candidate regions:
    pairwave bench edit --lengths 150
  Measure how fast two sequences of 100,000 symbols are aligned:
    pairwave bench long --lengths 100000 --gaps affine --seconds 30
  Measure how fast a GPU, the CPU and both score reads against ancestral states of 1,500 sites:
    pairwave bench papara --lengths 1500
  Measure the stages of multiple alignments of 500 proteins:
    pairwave bench msa --counts 500 --lengths 350 --seconds 30
  Measure all pairs of a file with every kernel:
    pairwave bench endtoend --seqs genes.fa --seconds 20
  Save rates, and check later whether something got slower:
    pairwave bench edit --lengths 150 --save before.rates
    pairwave bench edit --lengths 150 --compare before.rates";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExperimentName {
    /// Every kernel and the CPU engine, by length and number of pairs (Truong et al., figures 8 and 9)
    Kernels,
    /// Slice widths and workgroup sizes of nw_slice and nw_slice_half (table 4, figure 11)
    Slices,
    /// Tile shapes of the kernels for local protein scores: lanes and columns per pair, with i32
    /// and f16 scores
    Tiles,
    /// Pairs of at least 97% identity: the CPU alone, and with kernels as filters before it (table
    /// 5)
    Filter,
    /// Ways to copy results back, and batch sizes (figure 10)
    Buffering,
    /// Whole jobs: all pairs of many sequences, filtered at 97% identity, all aligned, and scores
    /// alone (section 6.6)
    #[value(name = "endtoend", alias = "end-to-end")]
    EndToEnd,
    /// Levenshtein distances of reads to regions of a genome: every kernel, by length and by words
    /// per lane, whole batches, and the CPU (Chacon et al. 2014, figures 4 and 7 to 9)
    Edit,
    /// One pair of very long sequences: strip widths and schedules, scores, alignments by every
    /// method, and cells saved by pruning (Li, Ranka and Sahni 2014, figures 7 and 9)
    Long,
    /// Scores of reads against ancestral states, by sites and by reads: every kernel, the CPU, and
    /// both together (Alachiotis et al. 2013, tables 1 to 3)
    Papara,
    /// Random protein families, aligned in both modes: seconds for distances, tree and alignment,
    /// by length and number of sequences
    Msa,
    /// Jobs in blocks on many machines, simulated: computes nothing and uses no device
    Cluster,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WorkName {
    /// Score of every pair
    Scores,
    /// Score and matches of every pair, as needed for tracing an alignment
    Alignments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GapsName {
    /// 10 per symbol; 5 in 'long'
    Linear,
    /// 10 per gap plus 1 per symbol; 5 plus 2 in 'long'
    Affine,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormatName {
    /// Aligned columns
    #[default]
    Text,
    /// One table of comma-separated values, with comments that start with #
    Csv,
}
