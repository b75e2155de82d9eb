//! Levenshtein distances of pairs, with ends and alignments. The pairs are all pairs of one set,
//! all pairs of two sets, or candidates that a read mapper found.
//!
//! Engines compute distances and ends ([`crate::edit`]). Pairs within the limit are reported by
//! pattern, then by text, or in the order of the candidates. Requested alignments follow the rule
//! of [`crate::edit::trace`] and are computed just before a pair is reported.
//!
//! Engines are fastest if the candidates of a pattern are adjacent. Otherwise the candidates are
//! computed in a different order.
//!
//! All distances of candidates are kept until the end, with 8 bytes for each candidate and strand,
//! if the order is changed, if there is a maximum number of hits per pattern, and in most cases
//! with both strands. Otherwise they are kept chunk by chunk. If there is a limit and only GPUs
//! compute, only pairs within it are kept, with 12 bytes each.
//!
//! For nucleotides, the reverse complement of each pattern can be compared as well
//! ([`EditDistances::strand`]). Engines treat it as a separate pattern. The row of a pair has the
//! lower of its two distances.

mod blocks;
mod collect;
mod compute;
mod finish;
mod indexed;
mod pieces;
mod places;
mod spool;
mod stream;

use std::sync::Arc;

use rayon::prelude::*;

use self::compute::EditSession;
pub use self::stream::StreamedPlaces;
use super::block::Block;
use super::session::{SessionStart, Threads};
use super::{Feed, Job, Run, Summary};
use crate::alignment::Cigar;
use crate::edit::exact::{self, ExactSymbols};
use crate::edit::overhang::{self, Overhang};
use crate::edit::overhang_cost::OverhangCost;
use crate::edit::plan::{Against, CANDIDATES_AT_ONCE, EditJob};
use crate::edit::tiles::TextTiles;
use crate::edit::{Candidate, Edit, Region};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gpu::kernels::Family;
use crate::score::{AlignmentCounts, EditMode, EditScheme, Limit};
use crate::seq::{Alphabet, QueryStrands, SequenceId, SequenceStore, Strand, Strands};

/// A computation of edit distances.
#[derive(Debug, Clone)]
pub struct EditDistances {
    /// The patterns.
    pub patterns: Arc<SequenceStore>,
    /// The texts or candidates. In a comparison of one set with itself, the earlier sequence of a
    /// pair is the pattern.
    pub against: Against,
    /// The edit mode, equality and limit. Pairs above the limit are not reported.
    pub scheme: Arc<EditScheme>,
    /// The strand of each pattern that is compared. Only DNA has minus strands. For both strands,
    /// the row has the one with the lower distance, or the plus strand if the distances are equal.
    /// Positions in texts always refer to the texts as they were read.
    pub strand: Strands,
    /// Whether to align every reported pair.
    pub align: bool,
    /// Whether to find all ends within the limit, not only the first end with the lowest distance.
    /// Requires a limit and a mode that compares patterns with parts of texts.
    pub all_ends: bool,
    /// Whether to report every place within the limit, instead of one result per pair: the local
    /// minima of the distances of all ends, or of all starts on the minus strand
    /// ([`crate::edit::places::LocalMinima`]). Places are aligned, and reported by pattern, text,
    /// strand and position. Requires texts, infix mode and a limit.
    pub all_places: bool,
    /// Symbols of patterns that must match exactly in places ([`crate::edit::exact`]). The local
    /// minima are those of the distances of alignments that satisfy this. Requires `all_places`, and
    /// patterns that have these symbols, with at most [`exact::MAX_SYMBOLS`] symbols.
    pub exact: ExactSymbols,
    /// Cost of each symbol of a pattern that hangs over an end of a text, from 0 to 1, as in sassy.
    /// The cost of all symbols at an end is rounded down. If it is set, ends beyond the end of a text
    /// (on the minus strand, starts before its start) can be places, and exact symbols may not hang
    /// over. Requires `all_places`, and patterns of at most [`overhang::MAX_SYMBOLS`] symbols.
    pub overhang: Option<f64>,
    /// Maximum fraction of N in the part of the text at a place, from 0 to 1. Places with more are
    /// not reported, and an empty part has none. Requires `all_places` and DNA.
    pub max_n_fraction: Option<f64>,
    /// Maximum number of pairs for each pattern. Pairs with the lowest distances are kept, and the
    /// earliest of equal ones.
    pub max_hits: Option<usize>,
    /// Whether to align every pair, rescore its alignment, and fail if the number of edits differs
    /// from the distance.
    pub check: bool,
}

/// The result of one pair.
#[derive(Debug, Clone, PartialEq)]
pub struct EditResult {
    /// Number of the pattern in its set.
    pub pattern: SequenceId,
    /// The text, and the part of it that the pattern was compared with.
    pub region: Region,
    /// The strand of the pattern.
    pub strand: Strand,
    /// The lowest distance.
    pub distance: u32,
    /// Number of text symbols up to the end of the first part with this distance, counted from the
    /// start of the text.
    pub end: u32,
    /// Symbols of the pattern that hang over the ends of the text, if this is allowed. The distance
    /// contains their cost, and the alignment does not contain them.
    pub overhang: Overhang,
    /// The alignment with that part, if requested. On the minus strand, the aligned pattern is the
    /// reverse complement.
    pub alignment: Option<EditAlignment>,
    /// All ends within the limit and their distances, if requested.
    pub ends: Vec<(u32, u32)>,
}

impl EditResult {
    /// Returns the number of the text in its set.
    pub fn text(&self) -> SequenceId {
        self.region.text
    }
}

/// The alignment of a pattern with a part of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct EditAlignment {
    /// Number of text symbols before the part, counted from the start of the text.
    pub start: u32,
    /// Columns of the alignment.
    pub cigar: Cigar,
    /// Numbers of columns by kind.
    pub counts: AlignmentCounts,
    /// Matches divided by columns, as a fraction.
    pub identity: f64,
}

impl EditDistances {
    /// Creates a computation of all distances without alignments.
    pub fn new(patterns: Arc<SequenceStore>, against: Against, scheme: Arc<EditScheme>) -> Self {
        EditDistances {
            patterns,
            against,
            scheme,
            strand: Strands::default(),
            align: false,
            all_ends: false,
            all_places: false,
            exact: ExactSymbols::default(),
            overhang: None,
            max_n_fraction: None,
            max_hits: None,
            check: false,
        }
    }

    /// Returns the number of cells of all pairs and strands.
    pub fn cells(&self) -> u64 {
        let copies = self.strands().copies();
        EditDistances { strand: Strands::Plus, ..self.clone() }.job().cells().saturating_mul(u64::from(copies))
    }

    /// Returns which strands of each pattern are compared, and whether a pattern is compared only
    /// with the sequences after it.
    fn strands(&self) -> QueryStrands {
        let is_triangle = matches!(self.against, Against::Later);
        QueryStrands { strand: self.strand, later_only: is_triangle && self.strand != Strands::Plus }
    }

    /// Returns the plan of the pairs in their given order. With both strands, the minus strand
    /// follows the plus strand. Computes the reverse complements of the patterns if they are
    /// needed.
    pub fn job(&self) -> EditJob {
        self.job_of(self.strands().store(&self.patterns))
    }

    /// Returns the plan like [`EditDistances::job`], given the strands of the patterns.
    fn job_of(&self, patterns: Arc<SequenceStore>) -> EditJob {
        let strands = self.strands();
        let against = match &self.against {
            Against::Later if strands.later_only => Against::Texts(Arc::clone(&self.patterns)),
            Against::Candidates(texts, candidates) if self.strand == Strands::Both => {
                let strand = |of, one: &Candidate| Candidate { pattern: strands.query(one.pattern, of), ..*one };
                let both = |one| [strand(Strand::Plus, one), strand(Strand::Minus, one)];
                Against::Candidates(Arc::clone(texts), Arc::new(candidates.iter().flat_map(both).collect()))
            }
            Against::Texts(texts) if self.has_tiles(texts) => {
                Against::Tiles(Arc::clone(texts), Arc::new(TextTiles::new(texts, self.max_part_symbols())))
            }
            against => against.clone(),
        };
        EditJob { patterns, against, scheme: Arc::clone(&self.scheme), strands, parts: None }
    }

    /// Returns the set of texts.
    pub fn texts(&self) -> &Arc<SequenceStore> {
        self.against.texts(&self.patterns)
    }

    /// Returns whether pairs are aligned.
    fn aligns(&self) -> bool {
        self.align || self.check || self.all_places
    }

    /// Returns the greatest distance of places of a pattern with `m` symbols: at most `m`, which is
    /// also the definition for patterns with exact symbols.
    fn place_limit(&self, m: u32) -> u32 {
        self.scheme.limit(m, u32::MAX).min(m)
    }

    /// Returns the maximum number of symbols of a part of a text within the limit.
    fn max_part_symbols(&self) -> u32 {
        let symbols = |&m: &u32| m.saturating_add(self.place_limit(m));
        self.patterns.lengths().iter().map(symbols).max().unwrap_or(0)
    }

    /// Returns whether texts are cut into tiles, so that few pairs occupy all devices and tiles
    /// without a part within the limit are skipped.
    fn has_tiles(&self, texts: &SequenceStore) -> bool {
        let is_limited = matches!(self.scheme.limit, Limit::Distance(_) | Limit::Rate(_));
        let is_search = self.scheme.mode == EditMode::Infix && is_limited;
        self.all_places || (is_search && TextTiles::are_several(texts, self.max_part_symbols()))
    }

    /// Checks that places are sought in texts, in infix mode and within a limit.
    fn validate_places(&self) -> Result<()> {
        let wrong = |what| Err(Error::usage_of("all_places", what));
        match (&self.against, self.scheme.mode, self.scheme.limit) {
            (Against::Tiles(..), ..) => Err(Error::usage_of("against", "a job makes tiles from texts")),
            _ if !self.all_places && self.exact != ExactSymbols::default() => {
                Err(Error::usage_of("exact", "only places have exact symbols, so `all_places` is required"))
            }
            _ if !self.all_places && self.overhang.is_some() => {
                Err(Error::usage_of("overhang", "only places hang over, so `all_places` is required"))
            }
            _ if !self.all_places && self.max_n_fraction.is_some() => {
                Err(Error::usage_of("max_n_fraction", "only places are dropped, so `all_places` is required"))
            }
            _ if !self.all_places => Ok(()),
            (Against::Later | Against::Candidates(..), ..) => {
                wrong("places are sought in whole texts, so texts are required")
            }
            (_, EditMode::Global | EditMode::Prefix | EditMode::Overlap(_), _) => {
                wrong("places are parts of texts, so the mode must be infix")
            }
            (.., Limit::None | Limit::Shorter(..)) => wrong("without a `limit` every part of a text is a place"),
            _ if self.all_ends => wrong("a row has one place, so `all_ends` has no effect"),
            _ if self.max_hits.is_some() => wrong("`max_hits` selects pairs, not places"),
            _ => self.validate_max_n().and_then(|()| self.validate_exact()).and_then(|()| self.validate_overhang()),
        }
    }

    fn validate_max_n(&self) -> Result<()> {
        let Some(most) = self.max_n_fraction else { return Ok(()) };
        if !(0.0..=1.0).contains(&most) {
            return Err(Error::usage_value("max_n_fraction", most, "a fraction is from 0 to 1"));
        }
        if self.scheme.equality.alphabet() != Alphabet::Dna {
            return Err(Error::usage_of("max_n_fraction", "only DNA and RNA have N"));
        }
        Ok(())
    }

    /// Checks that every pattern has the exact symbols, and that they can match.
    fn validate_exact(&self) -> Result<()> {
        let least = self.exact.min_symbols();
        if self.exact.is_empty() {
            return Ok(());
        }
        for (pattern, &symbols) in (0..).zip(self.patterns.lengths()) {
            let name = self.patterns.name(pattern);
            if symbols < least {
                let what = format!("pattern '{name}' has {symbols} symbols, but symbol {least} must match exactly");
                return Err(Error::usage_of("exact", what));
            }
            if symbols > exact::MAX_SYMBOLS {
                let most = exact::MAX_SYMBOLS;
                let what = format!("pattern '{name}' has {symbols} symbols, but exact symbols are for at most {most}");
                return Err(Error::usage_of("exact", what));
            }
            let codes = self.patterns.codes(pattern);
            let has_equal = |row: &usize| self.scheme.equality.is_match(codes[*row], codes[*row]);
            if let Some(row) = self.exact.rows(symbols).iter().find(|row| !has_equal(row)) {
                let letter = char::from(self.patterns.alphabet().decode(codes[row]));
                let what = format!("symbol {} of pattern '{name}' must match, but {letter} equals nothing", row + 1);
                return Err(Error::usage_of("exact", what));
            }
        }
        Ok(())
    }
}

impl EditDistances {
    /// Checks the cost of symbols that hang over, and that patterns are short enough.
    fn validate_overhang(&self) -> Result<()> {
        let most = overhang::MAX_SYMBOLS;
        let is_long = |&symbols: &u32| symbols > most;
        match (self.overhang_cost()?, self.patterns.lengths().iter().position(is_long)) {
            (Some(_), Some(long)) => {
                let name = self.patterns.name(long as SequenceId);
                Err(Error::usage_of("overhang", format!("pattern '{name}' has more than {most} symbols")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the cost of symbols that hang over.
    fn overhang_cost(&self) -> Result<Option<OverhangCost>> {
        self.overhang.map(OverhangCost::new).transpose()
    }
}

impl Job for EditDistances {
    type Row = EditResult;
    type Summary = Summary;
    type Engines = Vec<Box<dyn Engine<Edit>>>;
    type Session = EditSession;

    fn validate(&self) -> Result<()> {
        self.scheme.validate()?;
        if let EditMode::Overlap(_) = self.scheme.mode {
            return Err(Error::usage_of("mode", "overlaps have no ends: they can only exclude pairs"));
        }
        let compared = self.scheme.equality.alphabet();
        if self.strand != Strands::Plus && compared != Alphabet::Dna {
            return Err(Error::usage_of("strand", "only DNA and RNA have a minus strand"));
        }
        let wrong = |read: Alphabet| format!("these are {read:?} sequences, but the distance is for {compared:?}");
        if self.patterns.alphabet() != compared {
            return Err(Error::usage_of("patterns", wrong(self.patterns.alphabet())));
        }
        if self.texts().alphabet() != compared {
            return Err(Error::usage_of("texts", wrong(self.texts().alphabet())));
        }
        if self.all_ends && self.scheme.mode == EditMode::Global {
            return Err(Error::usage_of("all_ends", "a text that is compared end to end has only one end"));
        }
        if self.all_ends && self.scheme.limit == Limit::None {
            return Err(Error::usage_of("all_ends", "without a `limit` every symbol of a text is an end"));
        }
        self.validate_places()?;
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
            let wrong = candidates.par_chunks(CANDIDATES_AT_ONCE).enumerate().find_map_first(|(part, candidates)| {
                Some(part * CANDIDATES_AT_ONCE + candidates.iter().position(|candidate| !fits(candidate))?)
            });
            if let Some(index) = wrong {
                let wrong = candidates[index];
                return Err(Error::usage_of(
                    "candidates",
                    format!("number {index} is outside the sequences: {wrong:?}"),
                ));
            }
        }
        Ok(())
    }

    fn whole_block(&self, session: &EditSession) -> Block {
        let units = match &self.against {
            Against::Candidates(_, candidates) => candidates.len(),
            Against::Later | Against::Texts(_) | Against::Tiles(..) => self.patterns.len(),
        };
        Block { units: 0..units as u64, targets: None, pairs: 0, cells: session.cells_of_all(self) }
    }

    fn open(&self, start: SessionStart<Self::Engines>, run: &Run) -> Result<EditSession> {
        let threads = Threads::separate(run)?;
        threads.pool.install(|| self.validate())?;
        start.check_kernel(run, Family::Edit)?;
        EditSession::open(self, start, threads, run)
    }

    fn feed(&self, feed: Feed<'_, EditResult>, session: &mut EditSession) -> Result<Summary> {
        match self.against {
            Against::Candidates(..) => self.compute_candidates(feed, session),
            Against::Later | Against::Texts(_) | Against::Tiles(..) => self.compute_patterns(feed, session),
        }
    }
}
