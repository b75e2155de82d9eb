//! Pages that the program prints about itself: citation, shell completions and manual pages.

use super::args::Args;
use clap::CommandFactory;
use clap_mangen::Man;
use pairwave::output::Output;
use pairwave::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Exit codes of [`Error::exit_code`] and of the command line.
const STATUS: &str = "\
0    The job succeeded, or the reader of the output closed it early.
1    A device or the program failed and no other device could take over, or 'bench --compare' found a lower rate.
2    The input or an option is invalid, or a file cannot be read or written.
130  The job was interrupted by Ctrl-C. Other signals give 128 plus their number, as in 143 for SIGTERM.";

const ENVIRONMENT: &str = "\
PAIRWAVE_CACHE_DIR  Directory for measurements of devices and compiled kernels
                    [default: pairwave in the user's cache directory]
PAIRWAVE_LOG        Messages on standard error, as in PAIRWAVE_LOG=pairwave=debug
NO_COLOR            Disables colours
WGPU_ADAPTER_NAME   Part of the name of the GPU that jobs use without --device
WGPU_BACKEND        Graphics interfaces whose GPUs are listed, as in WGPU_BACKEND=vulkan
WGPU_POWER_PREF     'low' lists integrated GPUs first
WGPU_ALLOW_UNDERLYING_NONCOMPLIANT_ADAPTER
                    1 lists GPUs whose Vulkan does not conform, such as dzn in WSL2";

const CITATION: &str = concat!(
    "pairwave ",
    env!("CARGO_PKG_VERSION"),
    ": ",
    env!("CARGO_PKG_DESCRIPTION"),
    "\n\n",
    "If pairwave helps your work, please cite it with its version, and the work that it is based on:\n\n",
    "Kernels and filter of 'allpairs'\n",
    "  Truong H, Li D, Sajjapongse K, Conant G, Becchi M (2014)\n",
    "  Large-scale pairwise alignments on GPU clusters: exploring the implementation space\n\n",
    "Global alignment\n",
    "  Needleman SB, Wunsch CD (1970)\n",
    "  A general method applicable to the search for similarities in the amino acid sequence of two proteins\n\n",
    "Local alignment\n",
    "  Smith TF, Waterman MS (1981)\n",
    "  Identification of common molecular subsequences\n\n",
    "The CPU's kernels\n",
    "  Suzuki H, Kasahara M (2018)\n",
    "  Introducing difference recurrence relations for faster semi-global alignment of long sequences\n",
    "  Rognes T (2011)\n",
    "  Faster Smith-Waterman database searches with inter-sequence SIMD parallelisation\n\n",
    "Reads on a reference tree, 'papara'\n",
    "  Berger SA, Stamatakis A (2011)\n",
    "  Aligning short reads to reference alignments and trees\n\n",
    "The work queue of GPUs and CPU threads, and the kernel of 'papara'\n",
    "  Alachiotis N, Berger SA, Stamatakis A (2013)\n",
    "  Coupling SIMD and SIMT architectures to boost performance of a phylogeny-aware alignment kernel\n\n",
    "Many sequences, 'msa'\n",
    "  Thompson JD, Higgins DG, Gibson TJ (1994)\n",
    "  CLUSTAL W: improving the sensitivity of progressive multiple sequence alignment\n",
    "  Hung CL, Lin YS, Lin CY, Chung YC, Chung YF (2015)\n",
    "  CUDA ClustalW: an efficient parallel algorithm for progressive multiple sequence alignment on multi-GPUs\n",
    "  Saitou N, Nei M (1987)\n",
    "  The neighbor-joining method: a new method for reconstructing phylogenetic trees\n",
    "  Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S (2005)\n",
    "  ProbCons: probabilistic consistency-based multiple sequence alignment\n",
    "  Liu Y, Schmidt B, Maskell DL (2010)\n",
    "  MSAProbs: multiple sequence alignment based on pair hidden Markov models and partition function posterior probabilities\n\n",
    "Distances of 'edit'\n",
    "  Chacon A, Marco-Sola S, Espinosa A, Ribeca P, Moure JC (2014)\n",
    "  Thread-cooperative, bit-parallel computation of Levenshtein distance on GPU\n",
    "  Myers G (1999)\n",
    "  A fast bit-vector algorithm for approximate string matching based on dynamic programming\n\n",
    "One pair of long sequences, 'long'\n",
    "  Li J, Ranka S, Sahni S (2014)\n",
    "  Pairwise sequence alignment for very long sequences on GPUs\n",
    "  Delcher AL, Kasif S, Fleischmann RD, Peterson J, White O, Salzberg SL (1999)\n",
    "  Alignment of whole genomes\n\n",
    "Affine gap costs\n",
    "  Gotoh O (1982)\n",
    "  An improved algorithm for matching biological sequences\n"
);

/// Prints text on standard output. Returns [`Error::OutputClosed`] if the pipe is closed.
pub(super) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut output = Output::standard();
    output.buffer().extend_from_slice(text.as_ref());
    output.finish()
}

/// Prints how to cite pairwave.
pub(super) fn citation() -> Result<()> {
    print(CITATION)
}

/// Prints the completions of a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<()> {
    // Uses a vector, because the generator panics if a write fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "pairwave", &mut script);
    print(script)
}

/// Writes the manual pages into a directory, which is created if missing, or prints them one after
/// the other.
pub(super) fn man(directory: Option<&Path>) -> Result<()> {
    if let Some(directory) = directory {
        std::fs::create_dir_all(directory).map_err(|source| Error::io(directory, source))?;
    }
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let mut all = Vec::new();
    for command in [&program].into_iter().chain(program.get_subcommands()) {
        let page = Man::new(command.clone());
        match directory {
            Some(directory) => {
                let mut output = Output::create(directory.join(page.get_filename()))?;
                render(command, &page, output.buffer()).expect("a vector takes all");
                output.finish()?;
            }
            None => render(command, &page, &mut all).expect("a vector takes all"),
        }
    }
    print(all)
}

/// Renders a manual page with the usual sections. The examples of the help text keep their lines.
fn render(command: &clap::Command, page: &Man, out: &mut Vec<u8>) -> io::Result<()> {
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    let help = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = help.split_once("Examples:\n").unwrap_or((&help, ""));
    for (title, lines) in
        [("NOTES", notes), ("EXAMPLES", examples), ("EXIT STATUS", STATUS), ("ENVIRONMENT", ENVIRONMENT)]
    {
        if !lines.trim().is_empty() {
            write!(out, ".SH \"{title}\"\n.nf\n")?;
            lines.trim_end().lines().try_for_each(|line| writeln!(out, "{}", escape_line(line)))?;
            writeln!(out, ".fi")?;
        }
    }
    page.render_version_section(out)
}

/// Escapes a line so that a manual page shows it unchanged.
fn escape_line(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}
