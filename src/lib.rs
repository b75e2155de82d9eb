//! Exact pairwise sequence alignment on any GPU through wgpu, on CPUs, and on both at once.
//!
//! Two strings, and all pairs of a file:
//!
//! ```
//! use pairwave::{AllPairs, Job, Run, Scoring};
//!
//! let alignment = pairwave::align("GATTACA", "GCATGCT", &Scoring::dna())?;
//! assert_eq!((alignment.score, alignment.cigar.to_string().as_str()), (-1, "1=2X1=1X1=1X"));
//!
//! let genes = pairwave::read("assets/16s/gold12.fasta")?;
//! let job = AllPairs { min_identity: Some(0.97), ..AllPairs::new(genes.clone(), Scoring::dna().into()) };
//! let summary = job.run(&Run::default(), |pairs| {
//!     for pair in pairs {
//!         println!("{} {} {:.4}", genes.name(pair.query), genes.name(pair.target), pair.identity);
//!     }
//!     Ok(())
//! })?;
//! assert_eq!((summary.pairs, summary.written), (66, 4));
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! Levenshtein distances of the same pairs, or of patterns to parts of texts, have a job of their own:
//!
//! ```
//! use pairwave::score::{EditMode, EditScheme, Equality, Limit};
//! use pairwave::{Against, Alphabet, EditDistances, Job, ReadOptions, Run, seq::read_bytes};
//! use std::sync::Arc;
//!
//! let read = |letters: &[u8]| read_bytes("inline", letters, &ReadOptions::default()).map(Arc::new);
//! let (patterns, texts) = (read(b">primer\nGATTACA\n")?, read(b">gene\nCCGATTTACACC\n")?);
//! let scheme = EditScheme {
//!     mode: EditMode::Infix,
//!     equality: Equality::literal(Alphabet::Dna),
//!     limit: Limit::Distance(2),
//! };
//! let job = EditDistances { align: true, ..EditDistances::new(patterns, Against::Texts(texts), Arc::new(scheme)) };
//! job.run(&Run::default(), |results| {
//!     let alignment = results[0].alignment.as_ref().unwrap();
//!     assert_eq!((results[0].distance, alignment.start, results[0].end), (1, 2, 10));
//!     assert_eq!(alignment.cigar.to_string(), "2=1D5=");
//!     Ok(())
//! })?;
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! One pair of sequences that are too long for a matrix in memory is a third job:
//!
//! ```
//! use pairwave::{Job, LongAlignment, Mode, ReadOptions, Run, Scoring, seq::read_bytes};
//! use std::sync::Arc;
//!
//! let read = |letters: &[u8]| read_bytes("inline", letters, &ReadOptions::default()).map(Arc::new);
//! let (query, target) = (read(b">a\nCCGATTACACC\n")?, read(b">b\nTTTGATTACATT\n")?);
//! let scoring = Arc::new(Scoring { mode: Mode::Local, ..Scoring::dna() });
//! LongAlignment::new(query, 0, target, 0, scoring).run(&Run::default(), |hits| {
//!     let hit = &hits[0];
//!     assert_eq!((hit.score, hit.query.clone(), hit.target.clone()), (35, Some(2..9), Some(3..10)));
//!     assert_eq!(hit.cigar.as_ref().unwrap().to_string(), "7=");
//!     Ok(())
//! })?;
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! Reads aligned with a reference alignment, by the states of its tree's edges (PaPaRa), are the fourth:
//!
//! ```
//! use pairwave::seq::AlphabetChoice;
//! use pairwave::{Job, PhyloAlignment, ReadSource, Reference, Run};
//! use std::sync::Arc;
//!
//! let (tree, rows) = ("assets/papara/tiny/ref.nwk", "assets/papara/tiny/ref.fasta");
//! let reference = Arc::new(Reference::read(tree, rows, AlphabetChoice::Detect)?);
//! let reads = ReadSource::File("assets/papara/tiny/reads.fasta".into());
//! let mut best = Vec::new();
//! PhyloAlignment::new(reference, reads).run(&Run::default(), |reads| {
//!     best.extend(reads.iter().map(|read| (read.edge, read.score, read.runner_up)));
//!     Ok(())
//! })?;
//! assert_eq!((best.len(), best[0]), (50, (32, 164, Some((35, 164)))));
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! Many sequences aligned with each other are the fifth:
//!
//! ```
//! use pairwave::jobs::msa::{MsaMode, MultiAlign};
//! use pairwave::{Alphabet, Job, Run, profile};
//!
//! let genes = pairwave::read("assets/16s/gold12.fasta")?;
//! let mode = MsaMode::Clustal(profile::ProfileOptions::new(Alphabet::Dna));
//! MultiAlign { mode, ..MultiAlign::new(genes) }.run(&Run::default(), |aligned| {
//!     assert_eq!((aligned[0].alignment.rows(), aligned[0].alignment.columns()), (12, 1587));
//!     Ok(())
//! })?;
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! # Each job in a line
//!
//! ```
//! # use pairwave::score::{EditMode, EditScheme, Equality, Limit};
//! # use pairwave::seq::AlphabetChoice;
//! # use pairwave::{Against, AllPairs, Alphabet, EditDistances, Job, LongAlignment, PhyloAlignment, ReadSource, Reference, Run, Scoring};
//! # let (genes, run) = (pairwave::read("assets/16s/gold12.fasta")?, Run::default());
//! # let equality = Equality::literal(Alphabet::Dna);
//! # let scheme = EditScheme { mode: EditMode::Global, equality, limit: Limit::Distance(9) };
//! # let (mut scores, mut distances, mut hits, mut placed) = (0, 0, 0, 0);
//! # let assets = "assets/papara/tiny";
//! # let (tree, rows) = (format!("{assets}/ref.nwk"), format!("{assets}/ref.fasta"));
//! # let reference = Reference::read(&tree, &rows, AlphabetChoice::Detect)?;
//! # let reads = ReadSource::File(format!("{assets}/reads.fasta").into());
//! // Two strings: the alignment, and the distance.
//! let alignment = pairwave::align("GATTACA", "GCATGCT", &Scoring::dna())?;
//! let distance = pairwave::edit_distance("GATTACA", "GCATGCT");
//! // All pairs of a file; of patterns and texts; one long pair; reads and a tree.
//! AllPairs::new(genes.clone(), Scoring::dna().into()).run(&run, |pairs| Ok(scores += pairs.len()))?;
//! EditDistances::new(genes.clone(), Against::Later, scheme.into()).run(&run, |results| Ok(distances += results.len()))?;
//! LongAlignment::new(genes.clone(), 0, genes, 1, Scoring::dna().into()).run(&run, |found| Ok(hits += found.len()))?;
//! PhyloAlignment::new(reference.into(), reads).run(&run, |reads| Ok(placed += reads.len()))?;
//! # assert_eq!((alignment.score, distance), (-1, 4));
//! # assert_eq!((scores, distances > 0, hits, placed), (66, false, 1, 50));
//! # Ok::<(), pairwave::Error>(())
//! ```
//!
//! # Features
//!
//! `cli` and `bench` are on by default. `cli` is the program: its parser of arguments, progress
//! bars, handler of signals and log. `bench` measures and tests devices, and contains `plot`, which
//! draws dot plots of long pairs. A library needs none of them: `default-features = false` switches
//! them off.
//!
//! # The rooms
//!
//! Arrows only go down: a room uses those on lines below its own and knows nothing of those above or beside it. A test
//! holds this picture against the `use` lines. Tests inside a room may use any.
//!
//! ```text
//! cli                       what was typed -> valid options -> one job; the program's own, the only room that knows clap
//! measure                   benchmarks, self-tests of devices, random sequences for both, tables and plots
//! distributed               a job's blocks in a directory: who computes which, and their rows put together again
//! jobs                      what a user asks for: read, plan, run, hand over in input order
//! output                    results -> bytes: formats; files that appear whole or not at all
//! clustal profile posterior what multiple alignments need: ClustalW's pairwise alignments, profiles against profiles,
//!                           probabilities that residues belong together
//! pairs edit long papara    a room a recurrence: many pairs, Levenshtein distances, one very long pair, reads against the
//!                           states of a tree
//! trace                     the canonical alignment of one pair on one thread
//! gpu                       all that wgpu needs: adapters, memory, the kernel list, pipelines, the engine for any work
//! engine   simd             the queue and who drives it; vectors of the CPU
//! alignment tree            CIGARs, runs as devices leave them, verification by rescoring, multiple alignments; trees
//! score                     substitution tables, gap costs, identity, the bounds of filters
//! seq                       alphabets, the packed store, readers
//! files                     files that appear whole or not at all; fingerprints of what a result depends on
//! error                     errors that name their place
//! ```
//!
//! The rooms of recurrences have the same files:
//!
//! ```text
//! work.rs       what a block, a batch and a report are, and what makes a report impossible
//! plan          which pairs there are, in which order and pieces; pure
//! oracle        the textbook algorithm that everything in the room answers to
//! kernels       host halves of the shaders: constants, layouts, lists of tasks
//! gpu  cpu      the engines
//! mock.rs       an engine that does as it is told, for tests
//! ```
//!
//! # How a pair travels
//!
//! 1. [`seq::read_files`] packs every record into a [`SequenceStore`], one byte a symbol.
//! 2. [`AllPairs`] says which pairs there are; [`pairs::plan`] cuts them into bands of queries, bands into blocks (a query
//!    and a range of targets of nearly equal length), and puts blocks of one number format together.
//! 3. Each [`Engine`](engine::Engine), a GPU or a thread of the CPU, has a thread that pulls a batch of blocks from the
//!    [queue](engine::queue) whenever it is free: it submits the next batch before it collects the last one. How much it
//!    gets follows from the speed that it has shown ([`engine::sizing`]); what it reports is looked at before it counts
//!    ([`pairs::check`]), and if it fails or falls silent, others do its work ([`engine::owner`]).
//! 4. The engine computes score and matches of every pair ([`score::offset`]). With an identity to reach, it keeps only
//!    the pairs that can reach it ([`score::bound`]); only those come back. A GPU has several kernels for that
//!    ([`pairs::kernels`]), and takes the one that should be cheapest ([`gpu::choosing`]); some of them also trace the
//!    pairs back, and leave their alignments as runs ([`alignment::packed`]).
//!    Local alignments ([`Mode::Local`]) are not filtered: no score bounds their identity.
//! 5. Threads of the CPU trace what they computed ([`trace::traceback()`]). Pairs that a GPU sent back without an
//!    alignment are traced on CPU threads while engines go on.
//!    Results are put in input order band by band and handed to the caller. The program has them made into lines of
//!    [`output`] where they come up ([`engine::postprocess`]), so that only bytes wait for their turn ([`jobs::blocks::Encode`]).
//!
//! A search ([`Search`]) takes the same way with parts of a database ([`seq::Subjects`]) as targets. Engines report only pairs that score
//! enough for an E-value ([`score::statistics`]) and for the list of their query so far ([`pairs::ScoreThresholds`]).
//!
//! Levenshtein distances ([`EditDistances`]) take the same way with blocks of their own ([`edit::work`], [`edit::plan`]):
//! engines find distances and ends, threads of the CPU align what is handed over ([`edit::trace`]).
//!
//! One long pair ([`LongAlignment`]) has engines of its own ([`mod@long`]): its matrix is swept in panels of columns by
//! a chain of engines, each of which takes what its left neighbour hands on while both compute. Of the matrix some rows and
//! columns are kept, between which the path is walked back from its end ([`jobs::long`]).
//!
//! A read ([`PhyloAlignment`]) meets the edges of a tree. [`Reference::read`] holds the tree against the alignment of its
//! leaves, and [`papara::edge_vectors`] gives every edge a vector of ancestral states. Reads come in chunks
//! ([`seq::ReadChunks`]), a few of which are on their way at once, so that not all have to be in memory. In the rounds of a
//! search ([`papara::search`]) the reads of a chunk are scored against unions of vectors, which bound the scores of their
//! members, then against those members that can still be best; the blocks of a round ([`papara::work`]) go through the queue to
//! the engines of all devices. Threads of the CPU align a read with the vector of its best edge, of edges that score the same
//! the first ([`papara::trace`]), while engines go on with other chunks, and reads are handed over in input order.
//!
//! Many sequences ([`jobs::msa`]) go through three stages. Of every pair ClustalW's identities are found: engines find them with
//! the best local alignment ([`clustal`]), a pair of equal sequences only once ([`clustal::plan`]). Of the distances comes a guide
//! tree ([`tree`]), and along its joins profiles are aligned with profiles ([`profile`]). Or sequences are aligned by the
//! probabilities that residues belong together ([`posterior`]), which engines compute of all pairs, and of which the tree comes,
//! too; of very many by those of families ([`posterior::large`]), joined by profiles and by sequences that stand for them.
//!
//! Scores are exact integers, and of all alignments with the best score one documented rule picks one ([`trace`]; of
//! long pairs [`mod@long`], of reads [`papara::trace`]): the result never depends on device, thread count or batch size.
//!
//! # Reading order
//!
//! [`seq::store`], [`score::scoring`] and [`score::gaps`] are the vocabulary. [`pairs::oracle::needleman_wunsch`] is the
//! recurrence as the textbook has it ([`pairs::oracle::smith_waterman`] that of local alignments, `trace/local.rs` how they
//! are found), [`score::offset`] the form in which devices compute it and [`score::difference`] that of the CPU
//! ([`pairs::cpu`]), [`pairs::kernels::nw_slice`] and its shader the way it is computed, [`pairs::kernels::matrix`] how
//! directions are stored and walked back, [`engine`] and [`engine::queue`] by whom. [`jobs::allpairs`] puts it together.
//! Of long pairs, [`mod@long`] says what is computed, [`long::mock`] and [`long::oracle`] are the plain forms of it,
//! [`long::kernels::striped`] and its shader the way of GPUs, [`long::cpu`] that of CPUs, and [`jobs::long`] puts it
//! together. Of reads, [`papara::states`] and [`papara::oracle`] say what is computed, [`papara::kernels`] and
//! [`papara::cpu`] how, [`papara::search`] what need not be, and [`jobs::papara`] puts it together.
//!
//! # Conventions
//!
//! Lengths are symbols, positions count from 0 unless a format says otherwise. Gap costs are positive numbers that are
//! subtracted: `first + (k - 1) * next` for a gap of k symbols ([`Gaps`] converts from the conventions of other tools).
//! In a [`Cigar`], `I` is a query symbol against a gap and `D` a target symbol against a gap. Every error that input can
//! cause names its place ([`error::InputLocation`]).

pub mod alignment;
#[doc(hidden)]
pub mod clustal;
#[doc(hidden)]
pub mod distributed;
#[doc(hidden)]
pub mod edit;
#[doc(hidden)]
pub mod engine;
pub mod error;
pub(crate) mod files;
#[doc(hidden)]
pub mod gpu;
pub mod jobs;
#[doc(hidden)]
pub mod long;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod measure;
pub mod output;
#[doc(hidden)]
pub mod pairs;
#[doc(hidden)]
pub mod papara;
#[doc(hidden)]
pub mod posterior;
#[doc(hidden)]
pub mod profile;
pub mod score;
pub mod seq;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod trace;
pub mod tree;

use std::path::Path;
use std::sync::Arc;

pub use alignment::{Alignment, Cigar};
pub use edit::Region;
pub use edit::plan::{Against, Candidate};
pub use error::{Error, InputLocation, Result};
pub use gpu::adapter::{Device, choose as choose_devices};
pub use jobs::{
    AllPairs, EditDistances, EditResult, Job, LongAlignment, LongHit, LongSummary, PairList, PairResult, PairRow,
    PairSource, PhyloAlignment, PhyloResult, Progress, ReadSource, Run, Search, SearchHit, Summary,
};
pub use papara::{GapModel, Reference};
pub use score::{Ambiguity, EndGaps, Gaps, IdentityDefinition, Mode, PhyloScheme, Scoring, SubstitutionMatrix};
pub use seq::{Alphabet, ReadOptions, SequenceStore};

use seq::Code;
use trace::{Hint, TracebackWorkspace};

/// The examples in README.md are compiled and run with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

/// Aligns two sequences over their whole length (with [`EndGaps::Free`], without charge for what hangs over), or with
/// [`Mode::Local`] the two parts that score most. [`align_local`] and [`align_semi_global`] say so by their names.
///
/// Strings or bytes: letters of either case of the scheme's alphabet; `U` is `T`. An empty one is aligned with gaps. The alignment is
/// the canonical one of [`trace`]. Many pairs are aligned faster by [`AllPairs`].
///
/// # Errors
/// [`Error::Input`] for a letter that the alphabet lacks, with `query` or `target` as the file and the letter's column,
/// in bytes from 1.
///
/// ```
/// use pairwave::{EndGaps, Gaps, Mode, Scoring, align};
///
/// let overlap = Scoring { gaps: Gaps::from_blast(10, 1), end_gaps: EndGaps::Free, ..Scoring::dna() };
/// assert_eq!(align("ccACGTACGT", "ACGTACGTgg", &overlap)?.cigar.to_string(), "2I8=2D");
///
/// let local = Scoring { mode: Mode::Local, ..Scoring::dna() };
/// let part = align("ccACGTACGT", "ACGTACGTgg", &local)?;
/// assert_eq!((part.query_range(), part.target_range(), part.cigar.to_string().as_str()), (2..10, 0..8, "8="));
///
/// let error = align("ACGT", "AC-T", &overlap).unwrap_err();
/// assert_eq!(error.to_string(), "target, column 3: '-' is not a letter of DNA/RNA");
/// # Ok::<(), pairwave::Error>(())
/// ```
pub fn align(query: impl AsRef<[u8]>, target: impl AsRef<[u8]>, scoring: &Scoring) -> Result<Alignment> {
    let query = encode("query", query.as_ref(), scoring.alphabet)?;
    let target = encode("target", target.as_ref(), scoring.alphabet)?;
    trace::traceback(&query, &target, scoring, Hint::NONE, &mut TracebackWorkspace::default())
}

/// The parts of two sequences that score most (Smith-Waterman): [`align`] in [`Mode::Local`], whatever `scoring` says of its
/// mode.
///
/// # Errors
/// As [`align`].
///
/// ```
/// use pairwave::{Scoring, align_local};
///
/// let part = align_local(b"ccACGTACGT", b"ACGTACGTgg", &Scoring::dna())?;
/// assert_eq!((part.score, part.query_range(), part.target_range()), (40, 2..10, 0..8));
/// # Ok::<(), pairwave::Error>(())
/// ```
pub fn align_local(query: impl AsRef<[u8]>, target: impl AsRef<[u8]>, scoring: &Scoring) -> Result<Alignment> {
    align(query, target, &Scoring { mode: Mode::Local, ..scoring.clone() })
}

/// Two sequences as wholes, where what hangs over at either end of either costs nothing: [`align`] with
/// [`EndGaps::Free`], whatever `scoring` says of its mode and its end gaps.
///
/// # Errors
/// As [`align`].
///
/// ```
/// use pairwave::{Scoring, align_semi_global};
///
/// let overlap = align_semi_global("ccACGTACGT", "ACGTACGTgg", &Scoring::dna())?;
/// assert_eq!((overlap.score, overlap.cigar.to_string().as_str()), (40, "2I8=2D"));
/// # Ok::<(), pairwave::Error>(())
/// ```
pub fn align_semi_global(query: impl AsRef<[u8]>, target: impl AsRef<[u8]>, scoring: &Scoring) -> Result<Alignment> {
    align(query, target, &Scoring { mode: Mode::Global, end_gaps: EndGaps::Free, ..scoring.clone() })
}

/// The Levenshtein distance of two texts: how many bytes have to be inserted, deleted or replaced to make one the other.
/// Bytes of any value are equal if they are the same; [`EditDistances`] knows other rules, parts of texts, and many pairs.
///
/// # Panics
/// For a text of 2^32 bytes or more.
///
/// ```
/// assert_eq!(pairwave::edit_distance("GATTACA", "GCATGCT"), 4);
/// assert_eq!(pairwave::edit_distance(b"kitten\0", b"sitting\0"), 3);
/// ```
pub fn edit_distance(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>) -> u32 {
    edit::cpu::distance(a.as_ref(), b.as_ref())
}

/// Reads a file of FASTA or FASTQ records, plain or compressed, and detects its alphabet; `-` is standard input.
/// [`seq::read_files`] takes several files and an alphabet.
///
/// # Errors
/// As [`seq::read_files`].
pub fn read(path: impl AsRef<Path>) -> Result<Arc<SequenceStore>> {
    let mut stores = seq::read_files(&[path], &ReadOptions::default())?;
    stores.pop().map(Arc::new).ok_or_else(|| Error::Internal("no store for the file that was read".into()))
}

/// Codes of letters; `name` is their name in errors.
fn encode(name: &str, letters: &[u8], alphabet: Alphabet) -> Result<Vec<Code>> {
    let encode = |(position, &letter): (usize, &u8)| {
        alphabet.encode(letter).filter(|_| letter.is_ascii() || alphabet == Alphabet::Bytes).ok_or_else(|| {
            Error::Input {
                location: InputLocation {
                    file: name.into(),
                    column: Some(position as u64 + 1),
                    ..InputLocation::default()
                },
                message: format!("{:?} is not a letter of {}", shown(&letters[position..]), alphabet.letters()),
            }
        })
    };
    letters.iter().enumerate().map(encode).collect()
}

/// The character that some bytes begin with; for what is no UTF-8, the byte itself.
fn shown(letters: &[u8]) -> char {
    let whole = letters.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    whole.or_else(|| letters.first().copied().map(char::from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_aligned_as_the_oracle_aligns_them() {
        for scoring in [Scoring::dna(), Scoring { end_gaps: EndGaps::Free, ..Scoring::dna() }] {
            for (query, target) in [("ACGTTGCA", "acguugca"), ("", "ACG"), ("ACG", ""), ("", ""), ("GATTACA", "TACAN")]
            {
                let alignment = align(query, target, &scoring).unwrap();
                let codes = |letters: &str| encode("x", letters.as_bytes(), Alphabet::Dna).unwrap();
                let expected = pairs::oracle::align(&codes(query), &codes(target), &scoring);
                assert_eq!((alignment.score, &alignment.cigar), (expected.score, &expected.cigar), "{query} {target}");
            }
        }
        let same = align("MKVW*", "mkvw*", &Scoring::protein()).unwrap();
        assert_eq!(same.cigar.to_string(), "5=");
    }

    #[test]
    fn distances_of_any_bytes_are_those_of_the_textbook() {
        let textbook = |a: &[u8], b: &[u8]| {
            let mut row: Vec<u32> = (0..=b.len() as u32).collect();
            for (i, x) in (1..).zip(a) {
                let mut diagonal = std::mem::replace(&mut row[0], i);
                for (j, y) in b.iter().enumerate() {
                    let above = row[j + 1];
                    row[j + 1] = (diagonal + u32::from(x != y)).min(above + 1).min(row[j] + 1);
                    diagonal = above;
                }
            }
            row[b.len()]
        };
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        for (m, n, letters) in [(0, 0, 1), (0, 9, 3), (1, 1, 2), (70, 64, 2), (300, 999, 256), (4500, 4400, 256)] {
            let a: Vec<u8> = (0..m).map(|_| rng.usize(..letters) as u8).collect();
            let mut b: Vec<u8> = (0..n).map(|_| rng.usize(..letters) as u8).collect();
            assert_eq!(edit_distance(&a, &b), textbook(&a, &b), "{m} {n}");
            // Relatives: with what both have, and some that differ.
            let both = m.min(n);
            b[..both].copy_from_slice(&a[..both]);
            b.iter_mut().step_by(37).for_each(|byte| *byte = rng.u8(..));
            assert_eq!(edit_distance(&b, &a), textbook(&b, &a), "{m} {n}");
        }
    }

    #[test]
    fn a_letter_that_the_alphabet_lacks_is_named_with_its_column() {
        let message = |query, target, scoring: &Scoring| align(query, target, scoring).unwrap_err().to_string();
        let (dna, protein) = (Scoring::dna(), Scoring::protein());
        assert_eq!(message("ACQT", "ACGT", &dna), "query, column 3: 'Q' is not a letter of DNA/RNA");
        assert_eq!(message("ACGT", "\n", &dna), "target, column 1: '\\n' is not a letter of DNA/RNA");
        assert_eq!(message("MÄ", "M", &protein), "query, column 2: 'Ä' is not a letter of proteins");
        assert_eq!(align("é", "", &dna).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn sequences_and_scoring_have_one_alphabet() {
        let mut proteins = SequenceStore::builder(Alphabet::Protein);
        proteins.push_letters("a", b"MKV").unwrap();
        let job = AllPairs::new(proteins.build().into(), Scoring::dna().into());
        let error = job.run(&Run::default(), |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "queries: these are Protein sequences, but the scores are for Dna");
    }

    #[test]
    fn a_missing_file_is_an_error_of_the_input() {
        assert!(matches!(read("no such file.fa"), Err(Error::Input { .. })));
    }
}
