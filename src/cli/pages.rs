//! What the program says about itself: citation, completions, manual pages.

use super::args::Args;
use clap::CommandFactory;
use clap_mangen::Man;
use pairwave::Result;
use pairwave::output::Output;
use std::path::Path;

const CITATION: &str = concat!(
    "pairwave ",
    env!("CARGO_PKG_VERSION"),
    ": ",
    env!("CARGO_PKG_DESCRIPTION"),
    "\n\n",
    "If it helps your work, please cite the program with its version, and the work that it stands on:\n\n",
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
    "The work queue of GPUs and CPU threads\n",
    "  Alachiotis N, Berger SA, Stamatakis A (2013)\n",
    "  Coupling SIMD and SIMT architectures to boost performance of a phylogeny-aware alignment kernel\n\n",
    "Distances of 'edit'\n",
    "  Chacon A, Marco-Sola S, Espinosa A, Ribeca P, Moure JC (2014)\n",
    "  Thread-cooperative, bit-parallel computation of Levenshtein distance on GPU\n",
    "  Myers G (1999)\n",
    "  A fast bit-vector algorithm for approximate string matching based on dynamic programming\n\n",
    "One pair of long sequences, 'long'\n",
    "  Li J, Ranka S, Sahni S (2014)\n",
    "  Pairwise sequence alignment for very long sequences on GPUs\n\n",
    "Affine gap costs\n",
    "  Gotoh O (1982)\n",
    "  An improved algorithm for matching biological sequences\n"
);

/// Prints text on standard output; a closed pipe shows as [`Error::OutputClosed`].
pub(super) fn print(text: impl AsRef<[u8]>) -> Result<()> {
    let mut output = Output::standard();
    output.buffer().extend_from_slice(text.as_ref());
    output.finish()
}

/// Prints how to cite.
pub(super) fn citation() -> Result<()> {
    print(CITATION)
}

/// Prints the completions of a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Result<()> {
    // Through a vector: the generator panics where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "pairwave", &mut script);
    print(script)
}

/// Writes the manual pages into a directory, or prints them one after the other.
pub(super) fn man(directory: Option<&Path>) -> Result<()> {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let mut pages = vec![Man::new(command.clone())];
    pages.extend(command.get_subcommands().cloned().map(Man::new));
    let mut all = Vec::new();
    for page in pages {
        match directory {
            Some(directory) => {
                let mut output = Output::create(&directory.join(page.get_filename()))?;
                page.render(output.buffer()).expect("a vector takes all");
                output.finish()?;
            }
            None => page.render(&mut all).expect("a vector takes all"),
        }
    }
    print(all)
}
