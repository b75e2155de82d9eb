//! Exact pairwise sequence alignment on any GPU through wgpu, on CPUs, and on both at once.
//!
//! This example aligns two strings, and all pairs of a file:
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
//! [`EditDistances`] computes Levenshtein distances, here of a pattern to the nearest part of a
//! text:
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
//! [`LongAlignment`] aligns two sequences that are too long for a matrix in memory:
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
//! [`PhyloAlignment`] aligns reads with a reference alignment, by the ancestral states of its tree
//! (PaPaRa):
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
//! [`MultiAlign`](jobs::msa::MultiAlign) computes a multiple alignment:
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
//! # All jobs
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
//! // The alignment and the edit distance of two strings.
//! let alignment = pairwave::align("GATTACA", "GCATGCT", &Scoring::dna())?;
//! let distance = pairwave::edit_distance("GATTACA", "GCATGCT");
//! // All pairs of a file, edit distances, one long pair, and reads with a tree.
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
//! `cli` and `bench` are on by default. `cli` is the program: argument parser, progress bars,
//! signal handler and log. `bench` measures and tests devices, and includes `plot`, which draws dot
//! plots of long pairs, heat maps of distances, and trees. A program that uses the library needs
//! none of these features: `default-features = false` switches them off.
//!
//! # Modules
//!
//! A module uses only modules on lines below its own. A test compares this picture with the `use`
//! lines of the code. Unit tests may use any module.
//!
//! ```text
//! cli                       arguments -> valid options -> one job; the only module that knows clap
//! measure                   benchmarks, self-tests of devices, random sequences, tables and plots
//! distributed               jobs in blocks: directories, claims, ranks, merged results
//! jobs                      operations of the user: read, plan, run, return rows in input order
//! output                    results -> bytes: formats; files that appear only when complete
//! clustal profile posterior building blocks of multiple alignment: ClustalW's pairwise stage,
//!                           pairs of profiles, probabilities that residues are aligned
//! pairs edit long papara    one module per recurrence: many pairs, Levenshtein distances, one very
//!                           long pair, reads with the states of a tree
//! trace                     the canonical alignment of one pair on one thread
//! cluster                   groups of identical and of similar sequences
//! gpu                       wgpu: adapters, memory, kernel list, pipelines, the generic engine
//! engine   simd             the work queue and the threads that drive it; vectors of the CPU
//! alignment tree            CIGARs, packed runs, rescoring, multiple alignments; trees
//! score                     substitution tables, gap costs, identity, bounds of filters
//! seq                       alphabets, the sequence store, readers
//! files   host              atomic files; fingerprints of inputs; memory of the machine
//! error                     errors with file, record and line
//! ```
//!
//! The modules of recurrences have the same files:
//!
//! ```text
//! work.rs       chunks, blocks, batches and reports, and the checks of a report
//! plan          which pairs exist, in which order and blocks; pure functions
//! oracle        the textbook algorithm, the reference for all other code of the module
//! kernels       host halves of the shaders: constants, layouts, task lists
//! gpu  cpu      the engines
//! mock.rs       an engine for tests, with programmed answers and failures
//! ```
//!
//! # The path of a pair
//!
//! 1. [`seq::read_files`] packs every record into a [`SequenceStore`], one byte per symbol.
//! 2. [`AllPairs`] defines the pairs. [`pairs::plan`] cuts them into chunks of queries, and chunks
//!    into blocks: a query and a range of targets of similar length. Blocks with the same score
//!    type go together.
//! 3. Each [`Engine`](engine::Engine), a GPU or a CPU thread, has a thread that pulls a batch of
//!    blocks from the [queue](engine::queue) when it is free. It submits the next batch before it
//!    collects the previous one. The batch size follows the measured speed ([`engine::sizing`]).
//!    Each report is checked before it counts ([`pairs::check`]). If an engine fails or stops
//!    answering, other engines do its work ([`engine::owner`]).
//! 4. The engine computes score and matches of every pair ([`score::offset`]). With a minimum
//!    identity, it returns only the pairs that can reach it ([`score::bound`]). A GPU has several
//!    kernels ([`pairs::kernels`]) and uses the one with the lowest predicted cost
//!    ([`gpu::choosing`]). Some kernels also trace the pairs and return alignments as runs
//!    ([`alignment::packed`]). Local alignments ([`Mode::Local`]) are not filtered, because no
//!    score bounds their identity.
//! 5. CPU threads trace their own pairs ([`trace::traceback()`]), and pairs that a GPU returns
//!    without an alignment, while engines continue. Results are restored to input order chunk by
//!    chunk. The threads that compute results also format them as lines of [`output`]
//!    ([`engine::postprocess`]), so that only bytes wait for their turn ([`jobs::blocks::Encode`]).
//!
//! The other jobs use the same queue:
//!
//! - **[`Search`]** takes parts of a database ([`seq::Subjects`]) as targets. Engines report only
//!   pairs whose score suffices for the E-value ([`score::statistics`]) and for the current list of
//!   their query.
//! - **[`EditDistances`]** has its own type of block ([`edit::work`], [`edit::plan`]). Engines
//!   compute distances and ends, and CPU threads align the reported pairs ([`edit::trace`]).
//! - **[`LongAlignment`]** has its own engines ([`mod@long`]). A chain of engines sweeps the
//!   matrix in panels of columns; each passes its right border to the next while both compute. Some
//!   rows and columns are kept, and the path is traced between them ([`jobs::long`]).
//! - **[`PhyloAlignment`]** reads the tree and the alignment of its leaves ([`Reference::read`])
//!   and computes a vector of ancestral states for every edge ([`papara::edge_vectors`]). Reads are
//!   streamed ([`seq::ReadChunks`]). A search ([`papara::search`]) scores them against unions of
//!   vectors, whose scores bound their members, and then against the members that can still be best
//!   ([`papara::work`]). CPU threads align each read with its best edge ([`papara::trace`]).
//! - **Multiple alignments** ([`jobs::msa`]) have three stages: ClustalW's identities of all pairs
//!   ([`clustal`]), a guide tree ([`tree`]), and alignments of profiles along the tree
//!   ([`profile`]). The default mode aligns by the probabilities that residues are aligned
//!   ([`posterior`]); large sets use families ([`posterior::large`]).
//! - **[`Dereplication`]** needs no engine. Tables collect the different sequences of reads, and
//!   sorted runs in temporary files continue them beyond the memory limit ([`jobs::derep`]).
//!
//! Scores are exact integers. A documented rule picks one of several best alignments ([`trace`];
//! for long pairs [`mod@long`], for reads [`papara::trace`]). The result never depends on device,
//! thread count or batch size.
//!
//! # Reading order
//!
//! 1. Vocabulary: [`seq::store`], [`score::scoring`], [`score::gaps`].
//! 2. The recurrence: [`pairs::oracle::needleman_wunsch`] and [`pairs::oracle::smith_waterman`];
//!    [`score::offset`] is the form for devices, [`score::difference`] the form for CPUs
//!    ([`pairs::cpu`]).
//! 3. Kernels: [`pairs::kernels::nw_slice`] and its shader, then [`pairs::kernels::matrix`] for
//!    directions and tracebacks.
//! 4. Scheduling: [`engine`], [`engine::queue`]. [`jobs::allpairs`] connects everything.
//! 5. Long pairs: [`mod@long`], [`long::mock`] and [`long::oracle`] define the computation;
//!    [`long::kernels::striped`] with its shader and [`long::cpu`] implement it; [`jobs::long`] is
//!    the job.
//! 6. Reads: [`papara::states`], [`papara::oracle`], [`papara::kernels`], [`papara::cpu`],
//!    [`papara::search`], [`jobs::papara`].
//!
//! # Conventions
//!
//! Lengths are numbers of symbols, and positions count from 0 unless a format requires otherwise.
//! Gap costs are positive and are subtracted: a gap of k symbols costs `first + (k - 1) * next`
//! ([`Gaps`] converts from the conventions of other tools). In a [`Cigar`], `I` is a query symbol
//! with a gap and `D` a target symbol with a gap. Every error that input can cause names its place
//! ([`error::InputLocation`]).

// The program uses the library by the same paths as any other program.
#[cfg(feature = "cli")]
extern crate self as pairwave;

pub mod alignment;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod clustal;
pub mod cluster;
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
mod host;
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
pub use edit::plan::Against;
pub use edit::{Candidate, Region};
pub use error::{Error, InputLocation, Result};
pub use gpu::adapter::{Device, choose as choose_devices};
pub use jobs::{
    AllPairs, DerepSummary, Dereplication, EditDistances, EditResult, Job, LongAlignment, LongDetails, LongHit,
    PairList, PairResult, PairRow, PairSource, PhyloAlignment, PhyloResult, Progress, ReadSource, Run, Search,
    SearchHit, Summary,
};
pub use papara::{GapModel, Reference};
pub use score::{
    Ambiguity, CoverageFilter, EndGaps, Gaps, IdentityDefinition, Mode, PhyloScheme, Scoring, SubstitutionMatrix,
};
pub use seq::{Alphabet, ReadOptions, SequenceStore};

use seq::Code;
use trace::{Hint, TracebackWorkspace};

/// Compiles and runs the examples of README.md with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

/// Aligns two sequences in the mode of `scoring`: end to end, with free overhangs
/// ([`EndGaps::Free`]), or the two parts with the highest score ([`Mode::Local`]).
///
/// The sequences are strings or bytes with letters of the scheme's alphabet in either case; `U`
/// equals `T`. An empty sequence is aligned with gaps. The result is the canonical alignment of
/// [`trace`]. [`align_local`] and [`align_semi_global`] set the mode. [`AllPairs`] aligns many
/// pairs faster.
///
/// # Errors
/// Returns [`Error::Input`] for a letter that is not in the alphabet. The location has `query` or
/// `target` as the file, and the letter's column in bytes from 1. Returns [`Error::Usage`] for costs
/// of gaps that [`Scoring::check_gaps`] refuses.
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
    scoring.check_gaps()?;
    let query = encode("query", query.as_ref(), scoring.alphabet)?;
    let target = encode("target", target.as_ref(), scoring.alphabet)?;
    trace::traceback(&query, &target, scoring, Hint::NONE, &mut TracebackWorkspace::default())
}

/// Aligns the two parts with the highest score (Smith and Waterman 1981): [`align`] in
/// [`Mode::Local`]. The mode of `scoring` is ignored.
///
/// # Errors
/// Returns the errors of [`align`].
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

/// Aligns two sequences with free overhangs at all four ends: [`align`] with [`EndGaps::Free`]. The
/// mode and the end gaps of `scoring` are ignored.
///
/// # Errors
/// Returns the errors of [`align`].
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

/// Returns the Levenshtein distance of two texts: the smallest number of bytes to insert, delete or
/// replace to turn one into the other. [`EditDistances`] has other rules of equality, parts of
/// texts, and many pairs.
///
/// # Panics
/// Panics for a text of 2^32 bytes or more.
///
/// ```
/// assert_eq!(pairwave::edit_distance("GATTACA", "GCATGCT"), 4);
/// assert_eq!(pairwave::edit_distance(b"kitten\0", b"sitting\0"), 3);
/// ```
pub fn edit_distance(a: impl AsRef<[u8]>, b: impl AsRef<[u8]>) -> u32 {
    edit::cpu::distance(a.as_ref(), b.as_ref())
}

/// Reads a file of FASTA or FASTQ records, plain or compressed, and detects its alphabet. `-` is
/// standard input. [`seq::read_files`] takes several files and an alphabet.
///
/// # Errors
/// Returns the errors of [`seq::read_files`].
pub fn read(path: impl AsRef<Path>) -> Result<Arc<SequenceStore>> {
    let mut stores = seq::read_files(&[path], &ReadOptions::default())?;
    stores.pop().map(Arc::new).ok_or_else(|| Error::Internal("no store for the file that was read".into()))
}

/// Encodes letters. Errors name the sequence `name`.
fn encode(name: &str, letters: &[u8], alphabet: Alphabet) -> Result<Vec<Code>> {
    seq::encode_letters(letters, alphabet, || InputLocation::in_file(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_aligned_as_by_the_oracle() {
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
    fn distances_of_any_bytes_equal_the_textbook() {
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
            // Related texts: copy the common length, then change every 37th byte.
            let both = m.min(n);
            b[..both].copy_from_slice(&a[..both]);
            b.iter_mut().step_by(37).for_each(|byte| *byte = rng.u8(..));
            assert_eq!(edit_distance(&b, &a), textbook(&b, &a), "{m} {n}");
        }
    }

    #[test]
    fn unknown_letters_are_reported_with_their_column() {
        let message = |query, target, scoring: &Scoring| align(query, target, scoring).unwrap_err().to_string();
        let (dna, protein) = (Scoring::dna(), Scoring::protein());
        assert_eq!(message("ACQT", "ACGT", &dna), "query, column 3: 'Q' is not a letter of DNA/RNA");
        assert_eq!(message("ACGT", "\n", &dna), "target, column 1: '\\n' is not a letter of DNA/RNA");
        assert_eq!(message("MÄ", "M", &protein), "query, column 2: 'Ä' is not a letter of proteins");
        assert_eq!(align("é", "", &dna).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn impossible_costs_of_gaps_are_refused() {
        // The end gaps of the default cost more than these inner gaps.
        let scoring = Scoring { gaps: Gaps::from_blast(8, 2), ..Scoring::dna() };
        let expected =
            "end_gaps.next 3: an end gap's further symbols must not cost more than an inner gap's, which cost 2";
        assert_eq!(align("ACGT", "ACG", &scoring).unwrap_err().to_string(), expected);
        let genes = |scoring: &Scoring| {
            let mut builder = SequenceStore::builder(Alphabet::Dna);
            builder.push_letters("a", "ACGT").unwrap();
            builder.push_letters("b", "ACG").unwrap();
            (Arc::new(builder.build()), Arc::new(scoring.clone()))
        };
        let (store, scheme) = genes(&scoring);
        let all = AllPairs::new(store.clone(), scheme.clone()).run(&Run::default(), |_| Ok(()));
        let long = LongAlignment::new(store.clone(), 0, store, 1, scheme).run(&Run::default(), |_| Ok(()));
        assert_eq!((all.unwrap_err().to_string(), long.unwrap_err().to_string()), (expected.into(), expected.into()));
        assert_eq!(align_local("ACGT", "ACG", &scoring).unwrap().score, 15);
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
