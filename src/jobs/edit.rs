//! Levenshtein distances of pairs: all of one store, all of one with all of another, or candidates that a read mapper
//! found; distances, ends, alignments.
//!
//! Engines compute distances and ends ([`crate::edit`]). What is within the limit is handed over in input
//! order, by pattern, then by text, or candidates as they were given; and if alignments are asked for, aligned just
//! before that by the rule of [`crate::edit::trace`].
//!
//! Engines are fastest where the candidates of a pattern follow each other. If they do not, they are computed in
//! another order than they were given in; then, and so in most cases if both strands are compared, and where only the best candidates of each pattern are handed over, all
//! distances are held until the end: 8 bytes a candidate and strand. Else they are held band by band. Where there is a limit and GPUs
//! alone compute, only pairs within it are held, 12 bytes each.
//!
//! Of nucleotides the reverse complement of each pattern can be compared as well ([`EditDistances::strand`]). Engines see it
//! as a pattern of its own; of the two distances of a pair the lesser one is handed over.

mod blocks;
mod collect;
mod compute;
mod finish;

use std::sync::Arc;

use rayon::prelude::*;

use self::compute::Session;
use super::block::Block;
use super::session::{SessionStart, Threads};
use super::{Feed, Job, Run, Summary};
use crate::alignment::Cigar;
use crate::edit::plan::{Against, CANDIDATES_AT_ONCE, Candidate, EditJob};
use crate::edit::{Edit, Region};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::score::{AlignmentCounts, EditMode, EditScheme, Limit};
use crate::seq::{Alphabet, QueryStrands, SequenceId, SequenceStore, Strand, Strands};

/// Distances to compute, and what is to be said of them.
#[derive(Debug, Clone)]
pub struct EditDistances {
    /// The patterns.
    pub patterns: Arc<SequenceStore>,
    /// What they are compared with. In an all-against-all of one store the earlier sequence of a pair is the pattern.
    pub against: Against,
    /// How. Pairs above its limit are not handed over.
    pub scheme: Arc<EditScheme>,
    /// Which strand of each pattern is compared; of DNA only if not forward. Of both the nearer one is handed over, the
    /// forward one if they are at the same distance. Positions in texts are as these were read.
    pub strand: Strands,
    /// Align every pair that is handed over.
    pub align: bool,
    /// Find all ends within the limit, not only the first one of least distance. Needs a limit, and a text of which a
    /// part is looked for.
    pub all_ends: bool,
    /// At most this many pairs a pattern: those of least distance, and among these the earliest.
    pub max_hits: Option<usize>,
    /// Align every pair, rescore the alignment and fail if it has not as many edits as were computed.
    pub check: bool,
}

/// One pair's result.
#[derive(Debug, Clone, PartialEq)]
pub struct EditResult {
    /// The pattern.
    pub pattern: SequenceId,
    /// The text, and the part of it where the pattern was looked for.
    pub region: Region,
    /// The pattern's strand.
    pub strand: Strand,
    /// The least distance.
    pub distance: u32,
    /// Where the first part of that distance ends: text symbols up to there, from the text's begin.
    pub end: u32,
    /// The alignment with that part, of the minus strand that of the pattern's reverse complement; if it was asked for.
    pub alignment: Option<EditAlignment>,
    /// All ends within the limit, each with its distance, if these were asked for.
    pub ends: Vec<(u32, u32)>,
}

impl EditResult {
    /// The text.
    pub fn text(&self) -> SequenceId {
        self.region.text
    }
}

/// The alignment of a pattern with a part of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct EditAlignment {
    /// Text symbols before the part, from the text's begin.
    pub start: u32,
    /// Its columns.
    pub cigar: Cigar,
    /// Their numbers.
    pub counts: AlignmentCounts,
    /// Matches / columns, a fraction.
    pub identity: f64,
}

impl EditDistances {
    /// All distances, no alignments.
    pub fn new(patterns: Arc<SequenceStore>, against: Against, scheme: Arc<EditScheme>) -> Self {
        EditDistances {
            patterns,
            against,
            scheme,
            strand: Strands::default(),
            align: false,
            all_ends: false,
            max_hits: None,
            check: false,
        }
    }

    /// Cells of all pairs, of all strands that are compared.
    pub fn cells(&self) -> u64 {
        let copies = self.strands().copies();
        EditDistances { strand: Strands::Plus, ..self.clone() }.job().cells().saturating_mul(u64::from(copies))
    }

    /// What the patterns of [`EditDistances::job`] are strands of, and which texts they meet.
    fn strands(&self) -> QueryStrands {
        let is_triangle = matches!(self.against, Against::Later);
        QueryStrands { strand: self.strand, later: is_triangle && self.strand != Strands::Plus }
    }

    /// The pairs, in the order in which they were given: of both strands the reverse one after the forward one. Makes the
    /// reverse complements of the patterns if they are to be compared.
    pub fn job(&self) -> EditJob {
        self.job_of(self.strands().store(&self.patterns))
    }

    /// [`EditDistances::job`], of the patterns' strands.
    fn job_of(&self, patterns: Arc<SequenceStore>) -> EditJob {
        let strands = self.strands();
        let against = match &self.against {
            Against::Later if strands.later => Against::Texts(Arc::clone(&self.patterns)),
            Against::Candidates(texts, candidates) if self.strand == Strands::Both => {
                let strand = |of, one: &Candidate| Candidate { pattern: strands.query(one.pattern, of), ..*one };
                let both = |one| [strand(Strand::Plus, one), strand(Strand::Minus, one)];
                Against::Candidates(Arc::clone(texts), Arc::new(candidates.iter().flat_map(both).collect()))
            }
            against => against.clone(),
        };
        EditJob { patterns, against, scheme: Arc::clone(&self.scheme), strands, parts: None }
    }

    /// Where texts are.
    pub fn texts(&self) -> &Arc<SequenceStore> {
        self.against.texts(&self.patterns)
    }

    /// Whether pairs are aligned.
    fn aligns(&self) -> bool {
        self.align || self.check
    }
}

impl Job for EditDistances {
    type Row = EditResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Edit>>>;
    type Session = Session;

    fn validate(&self) -> Result<()> {
        self.scheme.validate()?;
        if let EditMode::Overlap(_) = self.scheme.mode {
            return Err(Error::usage_of("mode", "overlaps have no ends, and are computed to leave pairs out only"));
        }
        let compared = self.scheme.equality.alphabet();
        if self.strand != Strands::Plus && compared != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a reverse one"));
        }
        let wrong = |read: Alphabet| format!("these are {read:?} sequences, but the distance is for {compared:?}");
        if self.patterns.alphabet() != compared {
            return Err(Error::usage_of("patterns", wrong(self.patterns.alphabet())));
        }
        if self.texts().alphabet() != compared {
            return Err(Error::usage_of("texts", wrong(self.texts().alphabet())));
        }
        if self.all_ends && self.scheme.mode == EditMode::Global {
            return Err(Error::usage_of("all_ends", "a text that is compared as a whole has one end"));
        }
        if self.all_ends && self.scheme.limit == Limit::None {
            return Err(Error::usage_of("all_ends", "without a `limit` every symbol of a text is an end"));
        }
        if let Against::Candidates(texts, candidates) = &self.against {
            let most = u32::MAX / self.strands().copies();
            if candidates.len() > most as usize {
                return Err(Error::usage_of("candidates", format!("{} are more than {most}", candidates.len())));
            }
            let (patterns, texts) = (self.patterns.lengths(), texts.lengths());
            let fits = |candidate: &Candidate| {
                let Region { text, start, end } = candidate.region;
                let length = texts.get(text as usize);
                (candidate.pattern as usize) < patterns.len()
                    && start <= end
                    && length.is_some_and(|&length| end <= length)
            };
            let wrong = candidates.par_chunks(CANDIDATES_AT_ONCE).enumerate().find_map_first(|(part, own)| {
                Some(part * CANDIDATES_AT_ONCE + own.iter().position(|candidate| !fits(candidate))?)
            });
            if let Some(index) = wrong {
                let wrong = candidates[index];
                return Err(Error::usage_of(
                    "candidates",
                    format!("number {index} is not in the sequences: {wrong:?}"),
                ));
            }
        }
        Ok(())
    }

    fn whole(&self, session: &Session) -> Block {
        let units = match &self.against {
            Against::Candidates(_, candidates) => candidates.len(),
            Against::Later | Against::Texts(_) => self.patterns.len(),
        };
        Block { units: 0..units as u64, targets: None, pairs: 0, cells: session.cells_of_all(self) }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<Session> {
        let threads = Threads::separate(run)?;
        threads.pool.install(|| self.validate())?;
        start.check_kernel(run, Family::Edit)?;
        Session::open(self, start, threads, run)
    }

    fn feed(&self, feed: Feed<'_, EditResult>, session: &mut Session) -> Result<Summary> {
        match self.against {
            Against::Candidates(..) => self.compute_candidates(feed, session),
            Against::Later | Against::Texts(_) => self.compute_patterns(feed, session),
        }
    }
}
