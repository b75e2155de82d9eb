//! Host half of `sw_tile`, `sw_tile_half`, `sw_tile_half_targets` and `sw_tile_workgroup`: sizes, structures that they share, and what their numbers hold.

use bytemuck::{Pod, Zeroable};

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, LaneGrouping, Packing, of_kind};
use crate::gpu::source::Constants;
use crate::score::{Gaps, Scoring};

/// What halves give for a score that they do not hold.
pub const SATURATED: i32 = 2048;
/// Greatest cost or score of a symbol with which sums in halves are exact as long as scores are.
const MAX_IN_HALVES: i32 = 1000;
/// Scores that words hold are below this: much is added to padding's before anything overflows.
const MAX_IN_WORDS: i64 = 1 << 29;
/// What padding scores: enough that no score is left.
const PADDING: i32 = -(1 << 30);
/// Columns whose scores come in one load.
const LOAD: u32 = 4;
/// Columns of a group at most: more gain nothing.
const MAX_IN_GROUP: u32 = 16;
/// Bytes of a vector of scratch: what goes from column to column in two rows.
pub const VECTOR_BYTES: u64 = 16;
/// Words before `out.data`: the ticket counter, the number of listed pairs, and two spare.
pub const OUTPUT_HEADER_WORDS: u64 = 4;
/// A part is there.
pub const PART_THERE: u32 = 1;
/// It is its query's first.
pub const PART_BEGIN: u32 = 2;
/// Its query begins in this pass.
pub const PART_FIRST: u32 = 4;
/// It is its query's last.
pub const PART_END: u32 = 8;
/// Status of a task that was done.
pub const STATUS_DONE: u32 = 1;

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How the lanes of a pair exchange.
    pub grouping: LaneGrouping,
    /// What is computed together.
    pub packing: Packing,
    /// Lanes of a pair, a power of two from 4 on.
    pub lanes: u32,
    /// Columns that a lane keeps in registers; a multiple of 4.
    pub columns: u32,
    /// Invocations a workgroup: a multiple of the lanes and of every subgroup size.
    pub workgroup: u32,
    /// Codes of the alphabet.
    pub codes: u32,
    /// Cost of a gap's first symbol, and of each further one.
    pub gaps: Gaps,
    /// Scores are told by a lower bound, which is looked at once in so many columns; `None` for the scores.
    pub group: Option<u32>,
    /// There are more passes than one.
    pub passes: bool,
    /// Rows come in parts, a dispatch each.
    pub split: bool,
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Tile(self.grouping, self.packing))
    }

    fn constants(&self) -> Constants {
        Constants::default()
            .number("LANES", self.lanes)
            .number("COLUMNS", self.columns)
            .number("ROW_LOADS", self.row_loads())
            .number("CODES", self.codes)
            .number("GROUP", self.group.unwrap_or(self.columns))
            .number("OPENING", self.gaps.first as u32)
            .number("EXTENSION", self.gaps.next as u32)
            .flag("AFFINE", !self.gaps.is_linear())
            .flag("BOUNDED", self.group.is_some())
            .flag("PASSES", self.passes)
            .flag("SPLIT", self.split)
    }

    fn overrides(&self) -> Vec<(&'static str, f64)> {
        vec![("WG", self.workgroup.into())]
    }
}

impl Variant {
    /// Bytes of a load.
    const fn load_bytes(&self) -> u32 {
        if matches!(self.packing, Packing::Targets) { 8 } else { 16 }
    }

    /// Loads from one code's scores to the next one's. Those of a pair's lanes lie side by side. Where so many lanes load at once
    /// as fill all banks, it does not matter which codes they have; of fewer lanes several pairs load at once, and an odd multiple
    /// spreads their codes over the banks.
    const fn row_loads(&self) -> u32 {
        let loads = self.columns / LOAD;
        if self.lanes * self.load_bytes() < 128 { self.lanes * (loads | 1) } else { self.lanes * loads }
    }

    /// Workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let ring = if matches!(self.grouping, LaneGrouping::Workgroup) { 16 * self.workgroup } else { 0 };
        self.codes * self.row_loads() * self.load_bytes() + 8 * self.lanes * (self.columns / LOAD) + ring + 16
    }

    /// Columns of a pass.
    pub const fn pass_columns(&self) -> u32 {
        self.lanes * self.columns
    }

    /// Words of a lane's columns.
    pub const fn lane_words(&self) -> u32 {
        self.columns / 4
    }

    /// Lanes that a query of so many symbols takes, in as many passes as there are.
    pub fn lanes_of(&self, query_symbols: u32) -> u32 {
        query_symbols.div_ceil(self.columns).max(1)
    }

    /// Groups of lanes in a workgroup, each with a pair, or with two.
    pub const fn teams(&self) -> u32 {
        self.workgroup / self.lanes
    }

    /// Queries that are computed together.
    pub const fn queries(&self) -> usize {
        if matches!(self.packing, Packing::Queries) { 2 } else { 1 }
    }

    /// Targets that are computed together.
    pub const fn targets(&self) -> u32 {
        if matches!(self.packing, Packing::Targets) { 2 } else { 1 }
    }

    /// Whether scores are held in halves.
    pub const fn is_halves(&self) -> bool {
        !matches!(self.packing, Packing::One)
    }

    /// The variant whose bounds of scores are too low by `most` at most, if there is one.
    pub fn bounded(&self, most: i64) -> Option<Variant> {
        let groups = (1..=MAX_IN_GROUP / LOAD).rev().map(|loads| loads * LOAD);
        let with = |group| Variant { group: Some(group), ..*self };
        groups.filter(|group| self.columns.is_multiple_of(*group)).map(with).find(|variant| variant.slack() <= most)
    }

    /// By how much bounds of scores are too low at most; 0 where scores are told.
    pub fn slack(&self) -> i64 {
        self.group.map_or(0, |group| i64::from(group - 1) * i64::from(self.gaps.next))
    }

    /// Vectors of scratch that a slot takes for so many borders at a time of so many words of rows at most, and to keep the columns
    /// of so many passes if rows come in parts.
    pub fn slot_vectors(&self, borders: u32, words: u32, kept_passes: u32) -> u64 {
        let borders = if self.passes { u64::from(borders) * u64::from(words) * 2 } else { 0 };
        let kept = u64::from(kept_passes) * u64::from(self.workgroup) * u64::from(self.columns + 1);
        borders + if self.split { kept } else { 0 }
    }

    /// What a step of four rows is in loop iterations of an invocation, if no loop is unrolled.
    pub fn step_iterations(&self) -> u64 {
        let groups = self.columns / self.group.unwrap_or(self.columns);
        1 + 4 * (1 + u64::from(groups) + u64::from(self.columns / LOAD) * (1 + u64::from(LOAD)))
    }

    /// Loop iterations of an invocation in a pass beside steps, with so many targets one after the other.
    pub fn pass_iterations(&self, turns: u32) -> u64 {
        let profile = (self.codes * self.lanes * (self.columns / LOAD)).div_ceil(self.workgroup) + 2;
        let turn = self.lanes + 3 * self.columns + 8;
        u64::from(profile) + u64::from(turns) * (u64::from(turn) + self.delay_steps() * self.step_iterations())
    }

    /// Steps of four rows by which the last lane is behind the first.
    pub fn delay_steps(&self) -> u64 {
        u64::from((self.lanes + 2) / 4)
    }
}

/// The scores of all symbols against each other, a row a code of targets, as the kernels take them: a gap's first symbol more.
pub fn table(scoring: &Scoring) -> Vec<i32> {
    let size = scoring.substitution.size();
    let mut table = vec![PADDING; size * size];
    for target in 1..size {
        for query in 1..size {
            let score = scoring.substitution.score(query as u8, target as u8);
            table[target * size + query] = score + scoring.gaps.first;
        }
    }
    table
}

/// Whether words hold the scores of pairs whose shorter sequence has so many symbols.
pub fn words_hold(scoring: &Scoring, shorter: u32) -> bool {
    i64::from(scoring.substitution.max_score().max(0)) * i64::from(shorter) < MAX_IN_WORDS
}

/// Whether halves hold what is added for a symbol, so that they tell every score but those that they do not hold.
pub fn halves_hold_symbols(scoring: &Scoring) -> bool {
    let substitution = &scoring.substitution;
    let costs = [scoring.gaps.first as i64, substitution.max_score().into(), -i64::from(substitution.min_score())];
    costs.into_iter().all(|cost| cost <= MAX_IN_HALVES.into())
}

/// Whether halves hold all scores of pairs whose shorter sequence has so many symbols.
pub fn halves_hold(scoring: &Scoring, shorter: u32) -> bool {
    i64::from(scoring.substitution.max_score().max(0)) * i64::from(shorter) < SATURATED.into()
}

/// `Params` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Params {
    /// First task of this dispatch.
    pub task_begin: u32,
    /// One past the last task.
    pub task_end: u32,
    /// 1: workgroups draw tasks by ticket and finish them. 0: each does a block of rows of a pass.
    pub ticketed: u32,
    /// Workgroups of a task, a pass each, if not ticketed; at least 1.
    pub passes: u32,
    /// Which block of which pass: their sum.
    pub diagonal: u32,
    /// Words of rows of a block.
    pub block_words: u32,
    /// Passes whose columns are kept at a time; at least 1.
    pub kept_passes: u32,
    /// Rows that a border has in scratch.
    pub slot_rows: u32,
    /// Borders that a slot has: of a target, or of two that are computed together.
    pub slot_borders: u32,
    /// Vectors that a slot has.
    pub slot_vectors: u32,
    /// Index of the first score in `out.data`.
    pub values_begin: u32,
    /// Index of the first listed pair.
    pub list_begin: u32,
    /// 1: pairs that reach a floor are listed.
    pub floors: u32,
}

/// `Task` of the shader: queries against some targets.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Task {
    /// First part of its first pass.
    pub parts_begin: u32,
    /// Passes.
    pub passes: u32,
    /// First of the targets.
    pub first: u32,
    /// Number of targets.
    pub count: u32,
    /// Targets before these of which the queries have pairs.
    pub before: u32,
    /// Words of rows of the longest target.
    pub words: u32,
}

/// `Part` of the shader: what a lane has in a pass, columns of a query.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Part {
    /// Word just past the query's last symbol.
    pub end_word: u32,
    /// Words of the query.
    pub words: u32,
    /// Words from these columns' first to the query's end; if there are more than the query has, they begin with padding.
    pub words_left: u32,
    /// Index of its first pair.
    pub pairs_begin: u32,
    /// Least score that is listed.
    pub floor: i32,
    /// [`PART_THERE`], [`PART_BEGIN`], [`PART_FIRST`] and [`PART_END`], as far as they hold; 0 where there is no query.
    pub state: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(packing: Packing, lanes: u32, columns: u32, codes: u32) -> Variant {
        Variant {
            grouping: LaneGrouping::Subgroup,
            packing,
            lanes,
            columns,
            workgroup: 64,
            codes,
            gaps: Gaps::from_blast(11, 1),
            group: None,
            passes: false,
            split: false,
        }
    }

    /// Loads of 16 bytes are done by eight invocations at once, of 8 bytes by sixteen: those of one pair from banks of their own
    /// whatever their codes, those of several pairs too if their codes are consecutive.
    #[test]
    fn lanes_load_from_different_banks() {
        for packing in [Packing::One, Packing::Queries, Packing::Targets] {
            for columns in (4..=32).step_by(4) {
                for lanes in [4, 8, 16, 32] {
                    let variant = variant(packing, lanes, columns, 28);
                    let at_once = 128 / variant.load_bytes();
                    let any_codes = |t: u32| t * 5 % 28;
                    let codes_of_pairs = |t: u32| 3 + t / lanes;
                    for first in (0..32).step_by(at_once as usize) {
                        let bank = |t: u32, code: u32| (code * variant.row_loads() + t % lanes) % at_once;
                        let banks = |code: &dyn Fn(u32) -> u32, count: u32| -> usize {
                            let all: std::collections::HashSet<u32> =
                                (first..first + count).map(|t| bank(t, code(t))).collect();
                            all.len()
                        };
                        assert_eq!(banks(&codes_of_pairs, at_once) as u32, at_once, "{variant:?}");
                        if lanes >= at_once {
                            assert_eq!(banks(&any_codes, at_once) as u32, at_once, "{variant:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_are_as_low_as_is_allowed() {
        let group = |columns, most| variant(Packing::Queries, 8, columns, 28).bounded(most).map(|to| to.group);
        assert_eq!([0, 2, 3, 6, 7, 10, 11, 99].map(|most| group(24, most)), {
            [None, None, Some(4), Some(4), Some(8), Some(8), Some(12), Some(12)].map(|columns| columns.map(Some))
        });
        assert_eq!(group(20, 99), Some(Some(4)));
        assert_eq!(group(32, 99), Some(Some(16)));
        let dear = Variant { gaps: Gaps::linear(5), ..variant(Packing::Queries, 8, 24, 28) };
        assert_eq!(dear.bounded(14), None);
        assert_eq!(dear.bounded(15).map(|to| (to.group, to.slack())), Some((Some(4), 15)));
        assert_eq!(dear.slack(), 0);
    }

    #[test]
    fn a_query_of_nothing_has_a_lane() {
        let variant = variant(Packing::One, 8, 20, 16);
        assert_eq!([0, 1, 20, 21, 480].map(|symbols| variant.lanes_of(symbols)), [1, 1, 1, 2, 24]);
        assert_eq!((variant.teams(), variant.slot_vectors(9, 9, 1)), (8, 0));
    }

    #[test]
    fn numbers_hold_what_they_say() {
        let protein = Scoring::protein();
        assert!(halves_hold_symbols(&protein) && words_hold(&protein, u32::MAX / 128));
        assert!(!words_hold(&protein, 1 << 28));
        // 11 for tryptophan.
        assert!(halves_hold(&protein, 186) && !halves_hold(&protein, 187));
        let dear = Scoring { gaps: crate::score::Gaps::linear(1001), ..protein };
        assert!(!halves_hold_symbols(&dear));
    }
}
