//! Computation of a batch by one thread: pairs in groups, or one pair at a time.

use std::cmp::Reverse;

use super::alone::{self, AloneBuffers, AloneTask, PairOutcome};
use super::layout::{MAX_PAIRS, VECTORS};
use super::planes::{CodeCensus, CodeRelation, EqualPlanes, PlaneMatcher, SharedPlane};
use super::side::{self, SideBuffers, SideTask};
use super::windows::{self, PairWindow};
use super::{EditPair, scalar};
use crate::edit::{EditBatch, EditBlock, EditChunk};
use crate::score::{EditDistance, EditMode, EditScheme};
use crate::simd::{BITS, InstructionSet};

/// The content of vector lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LaneContent {
    /// The content that is expected to be faster.
    #[default]
    Cheaper,
    /// One pair per lane, for many pairs.
    Pairs,
    /// Rows of a single pair, for few or long pairs.
    Rows,
}

/// Scratch memory of a thread, reused for all batches.
#[derive(Debug, Clone)]
pub struct DistanceWorkspace {
    instructions: InstructionSet,
    content: LaneContent,
    side: SideBuffers,
    alone: AloneBuffers,
}

impl DistanceWorkspace {
    /// Creates a workspace for the best instruction set of the processor.
    pub fn new() -> Self {
        Self::with(InstructionSet::best(), LaneContent::Cheaper)
    }

    /// Creates a workspace for an instruction set and a lane content. Results do not depend on
    /// either.
    pub fn with(instructions: InstructionSet, content: LaneContent) -> Self {
        DistanceWorkspace { instructions, content, side: SideBuffers::default(), alone: AloneBuffers::default() }
    }
}

impl Default for DistanceWorkspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes all pairs of a batch on this thread. Returns the results in the order of
/// [`crate::edit::EditReport::distances`].
pub fn run(batch: &EditBatch, workspace: &mut DistanceWorkspace) -> Vec<EditDistance> {
    run_until(batch, workspace, || false).unwrap_or_default()
}

/// Computes a batch like [`run`], but returns `None` if `is_over` returns true before the end. It
/// calls `is_over` between groups of pairs.
pub(super) fn run_until(
    batch: &EditBatch,
    workspace: &mut DistanceWorkspace,
    is_over: impl Fn() -> bool,
) -> Option<Vec<EditDistance>> {
    let chunk = &*batch.chunk;
    let scheme = &*chunk.scheme;
    let mut results = vec![EditDistance::NONE; batch.pairs() as usize];
    // Pairs that need computing, and the indices of their results. Indices of windows follow those
    // of the pairs.
    let mut pairs: Vec<(usize, EditPair<'_>)> = Vec::with_capacity(results.len());
    let mut windows: Vec<PairWindow> = Vec::new();
    let mut first = 0;
    for block in &batch.blocks {
        let count = block.regions.len();
        match windows::pairs_in_windows(chunk, block, first, workspace.instructions) {
            Some(found) => {
                pairs.extend((results.len() + windows.len()..).zip(found.pairs));
                windows.extend(found.windows);
            }
            None => add_pairs(chunk, block, first, &mut results, &mut pairs),
        }
        first += count;
    }
    workspace
        .compute_pairs(scheme, pairs, is_over, |index, result| windows::put(index, result, &windows, &mut results))?;
    Some(results)
}

/// Adds the pairs of a block that need computing. Sets the results of the others. `first` is the
/// index of the block's first pair.
fn add_pairs<'a>(
    chunk: &'a EditChunk,
    block: &EditBlock,
    first: usize,
    results: &mut [EditDistance],
    pairs: &mut Vec<(usize, EditPair<'a>)>,
) {
    let scheme = &*chunk.scheme;
    let pattern = chunk.patterns.codes(block.pattern);
    for (index, region) in (first..).zip(block.regions.clone()) {
        let mut text = chunk.text(region);
        let (m, n) = (pattern.len() as u32, text.len() as u32);
        let limit = scheme.limit(m, n);
        let least = match scheme.mode {
            EditMode::Global => m.abs_diff(n),
            EditMode::Infix | EditMode::Prefix => m.saturating_sub(n),
            EditMode::Overlap(_) => 0,
        };
        match scheme.trivial(m, n) {
            Some(trivial) => results[index] = trivial,
            None if least > limit => {}
            None => {
                if scheme.mode == EditMode::Prefix {
                    // A longer prefix has more than `limit` differences, or not fewer than one symbol
                    // has, which are at most m.
                    let most = m as usize + limit.min(m) as usize;
                    text = &text[..text.len().min(most)];
                }
                pairs.push((index, EditPair { pattern, text, limit }));
            }
        }
    }
}

/// Returns the Levenshtein distance of two byte strings.
///
/// # Panics
/// Panics if a string has 2^32 bytes or more.
pub fn distance(a: &[u8], b: &[u8]) -> u32 {
    let (pattern, text) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let longest = u32::try_from(text.len()).expect("a text of fewer than 2^32 bytes");
    let relation = CodeRelation::literal();
    match pattern {
        [] => longest,
        _ => {
            let pair = EditPair { pattern, text, limit: longest };
            DistanceWorkspace::new().compute_alone(&relation, EditMode::Global, pair).distance
        }
    }
}

/// Approximate number of operations per word of rows in the three kernels: one pair per lane, rows
/// of one pair in all lanes, and the same with strips of one vector, which cannot hide its latency.
const SIDE_COST: u64 = 13;
const ALONE_COST: u64 = 17;
const NARROW_COST: u64 = 24;
/// Maximum number of words of a pattern whose rows and planes stay in the L1 cache.
const MAX_WORDS: usize = 64;
/// Maximum number of columns of a text in global mode with rows in all lanes, because a few words
/// are stored per column.
const MAX_COLUMNS: usize = 1 << 23;

/// Minimum length of a pair for which a limit is guessed first. The band for the guess is narrower
/// than the matrix.
const MIN_GUESSED: usize = 4096;
/// The first guess is the difference in length plus this fraction of the length.
const FIRST_GUESS: usize = 16;

/// Runs a kernel with a matcher.
macro_rules! dispatch {
    ($matcher:expr, $instructions:expr, $kernel:path, $task:expr) => {{
        use $kernel as kernel;
        match $matcher {
            PlaneMatcher::Equal2 => kernel::<EqualPlanes<2>>($instructions, $task),
            PlaneMatcher::Equal3 => kernel::<EqualPlanes<3>>($instructions, $task),
            PlaneMatcher::Equal5 => kernel::<EqualPlanes<5>>($instructions, $task),
            PlaneMatcher::Equal7 => kernel::<EqualPlanes<7>>($instructions, $task),
            PlaneMatcher::Equal9 => kernel::<EqualPlanes<9>>($instructions, $task),
            PlaneMatcher::Shared4 => kernel::<SharedPlane<4>>($instructions, $task),
        }
    }};
}

impl DistanceWorkspace {
    /// Computes pairs on this thread. Calls `put` with the index of each pair and its result, in any
    /// order. Returns `None` if `is_over` returns true before the end.
    pub(super) fn compute_pairs(
        &mut self,
        scheme: &EditScheme,
        mut pairs: Vec<(usize, EditPair<'_>)>,
        is_over: impl Fn() -> bool,
        mut put: impl FnMut(usize, EditDistance),
    ) -> Option<()> {
        // No kernel for overlaps has the rows of a pair in all lanes.
        let is_scalar = matches!(scheme.mode, EditMode::Overlap(_)) && self.content == LaneContent::Rows;
        let Some(relation) = CodeRelation::from_equality(&scheme.equality).filter(|_| !is_scalar) else {
            for (index, pair) in pairs {
                if is_over() {
                    return None;
                }
                put(index, scalar::find(pair.pattern, pair.text, scheme).within(pair.limit));
            }
            return Some(());
        };
        // Sort by the number of words of the pattern and by the length of the text, so that groups
        // are uniform. Usually the pairs are almost sorted already.
        pairs.sort_by_key(|(_, pair)| Reverse((pair.pattern.len().div_ceil(BITS), pair.text.len())));
        let mut rest = pairs.as_slice();
        while !rest.is_empty() {
            if is_over() {
                return None;
            }
            let count = self.compute(&relation, scheme, rest, &mut put);
            rest = &rest[count..];
        }
        Some(())
    }

    /// Computes the first pairs, at least one. Returns their number.
    fn compute(
        &mut self,
        relation: &CodeRelation,
        scheme: &EditScheme,
        pairs: &[(usize, EditPair<'_>)],
        mut put: impl FnMut(usize, EditDistance),
    ) -> usize {
        let lanes = VECTORS * self.instructions.u64_lanes();
        let words = |pair: &EditPair<'_>| pair.pattern.len().div_ceil(BITS);
        let (first, is_global) = (&pairs[0].1, scheme.mode == EditMode::Global);
        let fitting = |(_, pair): &&(usize, EditPair<'_>)| is_global || words(pair) == words(first);
        let group = &pairs[..pairs.iter().take(lanes).take_while(fitting).count()];
        let is_alone = match self.content {
            _ if matches!(scheme.mode, EditMode::Overlap(_)) => false,
            LaneContent::Rows => true,
            LaneContent::Pairs => false,
            LaneContent::Cheaper if words(first) > MAX_WORDS => true,
            LaneContent::Cheaper if is_global && first.text.len() > MAX_COLUMNS => false,
            LaneContent::Cheaper => self.alone_cost(group) < self.lane_group_cost(group),
        };
        if is_alone {
            let (index, pair) = pairs[0];
            put(index, self.compute_alone(relation, scheme.mode, pair).within(pair.limit));
            return 1;
        }
        let mut group_pairs = [*first; MAX_PAIRS];
        let mut results = [EditDistance::NONE; MAX_PAIRS];
        let mut census = CodeCensus::NONE;
        for (lane, (slot, &(_, pair))) in group_pairs.iter_mut().zip(group).enumerate() {
            *slot = pair;
            census = census.with(pair.text);
            if lane == 0 || !std::ptr::eq(pair.pattern, group[lane - 1].1.pattern) {
                census = census.with(pair.pattern);
            }
        }
        let planes = relation.planes(census, scheme.mode == EditMode::Prefix);
        let task = SideTask {
            pairs: &group_pairs[..group.len()],
            planes: &planes,
            mode: scheme.mode,
            buffers: &mut self.side,
            results: &mut results[..group.len()],
        };
        dispatch!(planes.matcher(), self.instructions, side::align_group, task);
        for (&(index, pair), results) in group.iter().zip(results) {
            put(index, results.within(pair.limit));
        }
        group.len()
    }

    /// Computes one pair with its rows in all lanes.
    fn compute_alone(&mut self, relation: &CodeRelation, mode: EditMode, pair: EditPair<'_>) -> EditDistance {
        let planes = relation.planes(CodeCensus::NONE.with(pair.pattern).with(pair.text), false);
        let longest = pair.pattern.len().max(pair.text.len());
        let pair_limit = pair.limit;
        let mut limit = pair_limit;
        if mode == EditMode::Global && longest >= MIN_GUESSED && pair_limit as usize > longest / 3 {
            let difference = pair.pattern.len().abs_diff(pair.text.len());
            limit = limit.min((difference + longest / FIRST_GUESS) as u32);
        }
        loop {
            let mut outcome = PairOutcome::Beyond { rows: 0, least: 0 };
            let pair = EditPair { limit, ..pair };
            let buffers = &mut self.alone;
            let block = alone::BLOCK;
            let task = AloneTask { pair, planes: &planes, mode, block, buffers, outcome: &mut outcome };
            dispatch!(planes.matcher(), self.instructions, alone::align_pair, task);
            // The next guess extrapolates the distance per row of the stopped computation to the
            // whole length.
            let expected = match outcome {
                PairOutcome::Distance(results) if limit == pair_limit || results.distance <= limit => return results,
                PairOutcome::Beyond { .. } if limit == pair_limit => return EditDistance::NONE,
                PairOutcome::Distance(results) => u64::from(results.distance),
                PairOutcome::Beyond { rows, least } => u64::from(least) * longest as u64 / rows.max(1) as u64,
            };
            let next = (expected * 5 / 4).max(2 * u64::from(limit));
            limit = if next > longest as u64 / 2 { pair_limit } else { pair_limit.min(next as u32) };
        }
    }

    /// Estimates the cost of a group with one pair per lane.
    fn lane_group_cost(&self, group: &[(usize, EditPair<'_>)]) -> u64 {
        let longest =
            |length: fn(&EditPair<'_>) -> usize| group.iter().map(|(_, pair)| length(pair)).max().unwrap_or(0) as u64;
        let words = longest(|pair| pair.pattern.len().div_ceil(BITS));
        longest(|pair| pair.text.len()) * words * VECTORS as u64 * SIDE_COST
    }

    /// Estimates the cost of a group with one pair at a time.
    fn alone_cost(&self, group: &[(usize, EditPair<'_>)]) -> u64 {
        let lanes = self.instructions.u64_lanes() as u64;
        let cost = |pair: &EditPair<'_>| {
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
