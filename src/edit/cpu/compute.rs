//! What one thread does with a batch: pairs in groups, side by side, or each alone.

use std::cmp::Reverse;

use super::alone::{self, AloneBuffers, AloneTask, Outcome};
use super::layout::{MAX_PAIRS, VECTORS};
use super::planes::{Any, Census, Matching, Relation, Same};
use super::side::{self, SideBuffers, SideTask};
use super::{Pair, scalar};
use crate::edit::EditBatch;
use crate::score::{EditDistance, EditMode, EditScheme};
use crate::simd::{BITS, InstructionSet};

/// What is in a vector's lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Whatever is expected to be faster.
    #[default]
    Cheaper,
    /// Pairs, one a lane: for many.
    Pairs,
    /// Rows of one pair: for few, or long ones.
    Rows,
}

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Clone)]
pub struct Workspace {
    level: InstructionSet,
    form: Form,
    side: SideBuffers,
    alone: AloneBuffers,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(InstructionSet::best(), Form::Cheaper)
    }

    /// A workspace for these instructions and this form, which change no result.
    pub fn with(level: InstructionSet, form: Form) -> Self {
        Workspace { level, form, side: SideBuffers::default(), alone: AloneBuffers::default() }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes all pairs of a batch on this thread; results as [`crate::edit::EditReport::found`] has them.
pub fn run(batch: &EditBatch, workspace: &mut Workspace) -> Vec<EditDistance> {
    run_until(batch, workspace, || false).unwrap_or_default()
}

/// As [`run`]; `None` if `is_over` says so before all is done.
pub(super) fn run_until(
    batch: &EditBatch,
    workspace: &mut Workspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<EditDistance>> {
    let band = &*batch.chunk;
    let scheme = &*band.scheme;
    let mut found = vec![EditDistance::NONE; batch.pairs() as usize];
    // Pairs that need computing, and where their results go.
    let mut pairs: Vec<(usize, Pair<'_>)> = Vec::with_capacity(found.len());
    let places = batch.blocks.iter().flat_map(|block| {
        let pattern = band.patterns.codes(block.pattern);
        block.places.clone().map(move |place| (pattern, band.text(place)))
    });
    for (index, (pattern, text)) in places.enumerate() {
        let (m, n) = (pattern.len() as u32, text.len() as u32);
        let limit = scheme.limit(m, n);
        let least = match scheme.mode {
            EditMode::Global => m.abs_diff(n),
            EditMode::Infix | EditMode::Prefix => m.saturating_sub(n),
            EditMode::Overlap(_) => 0,
        };
        match scheme.trivial(m, n) {
            Some(trivial) => found[index] = trivial,
            None if least > limit => {}
            None => pairs.push((index, Pair { pattern, text, limit })),
        }
    }
    // No overlap has its rows in all lanes.
    let is_scalar = matches!(scheme.mode, EditMode::Overlap(_)) && workspace.form == Form::Rows;
    let Some(relation) = Relation::of(&scheme.equality).filter(|_| !is_scalar) else {
        for (index, pair) in pairs {
            if is_over() {
                return None;
            }
            found[index] = scalar::find(pair.pattern, pair.text, scheme).within(pair.limit);
        }
        return Some(found);
    };
    // Patterns of equally many words together, and texts of about one length; mostly they are so already.
    pairs.sort_by_key(|(_, pair)| Reverse((pair.pattern.len().div_ceil(BITS), pair.text.len())));
    let mut rest = pairs.as_slice();
    while !rest.is_empty() {
        if is_over() {
            return None;
        }
        let count = workspace.compute(&relation, scheme, rest, |index, result| found[index] = result);
        rest = &rest[count..];
    }
    Some(found)
}

/// The Levenshtein distance of two texts of any bytes.
///
/// # Panics
/// For a text of 2^32 bytes or more.
pub fn distance(a: &[u8], b: &[u8]) -> u32 {
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let longest = u32::try_from(text.len()).expect("a text of fewer than 2^32 bytes");
    let relation = Relation::literal();
    match pattern {
        [] => longest,
        _ => {
            let pair = Pair { pattern, text, limit: longest };
            Workspace::new().compute_alone(&relation, EditMode::Global, pair).distance
        }
    }
}

/// Operations on a word of rows, about; where rows are in all lanes; and there in a strip of one vector, which waits
/// for itself.
const SIDE_COST: u64 = 13;
const ALONE_COST: u64 = 17;
const NARROW_COST: u64 = 24;
/// Words of a pattern whose lanes and planes stay in the fastest cache.
const MAX_WORDS: usize = 64;
/// Columns of a text that may be kept in memory: some words each, where the rows of whole sequences are in all lanes.
const MAX_COLUMNS: usize = 1 << 23;

/// The least length of a pair whose distance is guessed: the band of a guess is narrower than the matrix.
const FEWEST_GUESSED: usize = 4096;
/// The first guess is the difference in length and this part of the length.
const FIRST_GUESS: usize = 16;

/// Runs a kernel for the matcher.
macro_rules! dispatch {
    ($matching:expr, $level:expr, $kernel:path, $task:expr) => {{
        use $kernel as kernel;
        match $matching {
            Matching::Same2 => kernel::<Same<2>>($level, $task),
            Matching::Same3 => kernel::<Same<3>>($level, $task),
            Matching::Same5 => kernel::<Same<5>>($level, $task),
            Matching::Same7 => kernel::<Same<7>>($level, $task),
            Matching::Same9 => kernel::<Same<9>>($level, $task),
            Matching::Any4 => kernel::<Any<4>>($level, $task),
        }
    }};
}

impl Workspace {
    /// Computes the first pairs, at least one; how many.
    fn compute(
        &mut self,
        relation: &Relation,
        scheme: &EditScheme,
        pairs: &[(usize, Pair<'_>)],
        mut put: impl FnMut(usize, EditDistance),
    ) -> usize {
        let lanes = VECTORS * self.level.u64_lanes();
        let words = |pair: &Pair<'_>| pair.pattern.len().div_ceil(BITS);
        let (first, is_global) = (&pairs[0].1, scheme.mode == EditMode::Global);
        let fitting = |(_, pair): &&(usize, Pair<'_>)| is_global || words(pair) == words(first);
        let group = &pairs[..pairs.iter().take(lanes).take_while(fitting).count()];
        let is_alone = match self.form {
            _ if matches!(scheme.mode, EditMode::Overlap(_)) => false,
            Form::Rows => true,
            Form::Pairs => false,
            Form::Cheaper if words(first) > MAX_WORDS => true,
            Form::Cheaper if is_global && first.text.len() > MAX_COLUMNS => false,
            Form::Cheaper => self.alone_cost(group) < self.side_cost(group),
        };
        if is_alone {
            let (index, pair) = pairs[0];
            put(index, self.compute_alone(relation, scheme.mode, pair).within(pair.limit));
            return 1;
        }
        let mut own = [*first; MAX_PAIRS];
        let mut found = [EditDistance::NONE; MAX_PAIRS];
        let mut census = Census::NONE;
        for (lane, (own, &(_, pair))) in own.iter_mut().zip(group).enumerate() {
            *own = pair;
            census = census.with(pair.text);
            if lane == 0 || !std::ptr::eq(pair.pattern, group[lane - 1].1.pattern) {
                census = census.with(pair.pattern);
            }
        }
        let planes = relation.planes(census, scheme.mode == EditMode::Prefix);
        let task = SideTask {
            pairs: &own[..group.len()],
            planes: &planes,
            mode: scheme.mode,
            buffers: &mut self.side,
            found: &mut found[..group.len()],
        };
        dispatch!(planes.matching(), self.level, side::align_group, task);
        for (&(index, pair), found) in group.iter().zip(found) {
            put(index, found.within(pair.limit));
        }
        group.len()
    }

    /// Computes one pair.
    fn compute_alone(&mut self, relation: &Relation, mode: EditMode, pair: Pair<'_>) -> EditDistance {
        let planes = relation.planes(Census::NONE.with(pair.pattern).with(pair.text), false);
        let longest = pair.pattern.len().max(pair.text.len());
        let pair_limit = pair.limit;
        let mut limit = pair_limit;
        if mode == EditMode::Global && longest >= FEWEST_GUESSED && pair_limit as usize > longest / 3 {
            let difference = pair.pattern.len().abs_diff(pair.text.len());
            limit = limit.min((difference + longest / FIRST_GUESS) as u32);
        }
        loop {
            let mut outcome = Outcome::Beyond { rows: 0, least: 0 };
            let pair = Pair { limit, ..pair };
            let buffers = &mut self.alone;
            let block = alone::BLOCK;
            let task = AloneTask { pair, planes: &planes, mode, block, buffers, outcome: &mut outcome };
            dispatch!(planes.matching(), self.level, alone::align_pair, task);
            // Where it was given up, as far apart all along as up to there.
            let expected = match outcome {
                Outcome::Distance(found) if limit == pair_limit || found.distance <= limit => return found,
                Outcome::Beyond { .. } if limit == pair_limit => return EditDistance::NONE,
                Outcome::Distance(found) => u64::from(found.distance),
                Outcome::Beyond { rows, least } => u64::from(least) * longest as u64 / rows.max(1) as u64,
            };
            let next = (expected * 5 / 4).max(2 * u64::from(limit));
            limit = if next > longest as u64 / 2 { pair_limit } else { pair_limit.min(next as u32) };
        }
    }

    /// What a group costs side by side.
    fn side_cost(&self, group: &[(usize, Pair<'_>)]) -> u64 {
        let longest =
            |length: fn(&Pair<'_>) -> usize| group.iter().map(|(_, pair)| length(pair)).max().unwrap_or(0) as u64;
        let words = longest(|pair| pair.pattern.len().div_ceil(BITS));
        longest(|pair| pair.text.len()) * words * VECTORS as u64 * SIDE_COST
    }

    /// What its pairs cost one by one.
    fn alone_cost(&self, group: &[(usize, Pair<'_>)]) -> u64 {
        let lanes = self.level.u64_lanes() as u64;
        let cost = |pair: &Pair<'_>| {
            let (words, n) = (pair.pattern.len().div_ceil(BITS) as u64, pair.text.len() as u64);
            let strips = words / (2 * lanes);
            let last = match words % (2 * lanes) {
                0 => 0,
                rest if rest <= lanes => NARROW_COST,
                _ => 2 * ALONE_COST,
            };
            (n + 2 * lanes) * (2 * ALONE_COST * strips + last)
        };
        group.iter().map(|(_, pair)| cost(pair)).sum()
    }
}
