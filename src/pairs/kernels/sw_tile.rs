//! Host side of `sw_tile`, `sw_tile_half`, `sw_tile_half_targets` and `sw_tile_workgroup`: sizes,
//! shared structures, and the limits of their number formats.

use bytemuck::{Pod, Zeroable};

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, LaneGrouping, Packing, of_kind};
use crate::gpu::source::Constants;
use crate::score::{Gaps, Scoring};

/// Score that f16 kernels report if they cannot hold the score.
pub const SATURATED: i32 = 2048;
/// Greatest cost or score of a symbol in f16. Up to this, f16 sums are exact whenever the scores
/// are.
const MAX_IN_F16: i32 = 1000;
/// i32 kernels can hold scores below this. The value leaves enough space to add large values to the
/// scores of padding without overflow.
const MAX_IN_I32: i64 = 1 << 29;
/// Score of padding. It is so low that no positive score remains after it.
const PADDING: i32 = -(1 << 30);
/// Number of columns whose scores one load reads.
const LOAD: u32 = 4;
/// Greatest number of columns of a group ([`TileVariant::group`]). Larger groups save no time.
const MAX_IN_GROUP: u32 = 16;
/// Bytes of a vector of scratch memory. It contains the values that pass from column to column in
/// two rows.
pub const VECTOR_BYTES: u64 = 16;
/// Words before `out.data`: the ticket counter, the number of listed pairs, and two spare words.
pub const OUTPUT_HEADER_WORDS: u64 = 4;
/// Bit of [`TilePart::state`]: the lane has a query in this pass.
pub const PART_EXISTS: u32 = 1;
/// Bit of [`TilePart::state`]: the lane has the first columns of its query.
pub const PART_BEGIN: u32 = 2;
/// Bit of [`TilePart::state`]: the query starts in this pass.
pub const PART_FIRST: u32 = 4;
/// Bit of [`TilePart::state`]: the lane has the last columns of its query.
pub const PART_END: u32 = 8;
/// Status of a task that is complete.
pub const STATUS_DONE: u32 = 1;

/// Parameters of a pipeline: the shader's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileVariant {
    /// How the lanes of a pair exchange values.
    pub grouping: LaneGrouping,
    /// The values that share a register.
    pub packing: Packing,
    /// Lanes per pair, a power of two of at least 4.
    pub lanes: u32,
    /// Columns that a lane keeps in registers, a multiple of 4.
    pub columns: u32,
    /// Invocations per workgroup, a multiple of the lanes and of every subgroup size.
    pub workgroup: u32,
    /// Number of codes of the alphabet.
    pub codes: u32,
    /// Cost of a gap's first symbol, and of each further symbol.
    pub gaps: Gaps,
    /// If set, the kernel reports a lower bound of the score and compares values only once in this
    /// many columns. With `None` it reports exact scores.
    pub group: Option<u32>,
    /// Whether there is more than one pass.
    pub passes: bool,
    /// Whether rows are divided into parts with one dispatch each.
    pub split: bool,
}

impl KernelProgram for TileVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Tile(self.grouping, self.packing))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
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

impl TileVariant {
    /// Returns the bytes of a load.
    const fn load_bytes(&self) -> u32 {
        if matches!(self.packing, Packing::Targets) { 8 } else { 16 }
    }

    /// Returns the number of loads between the scores of one code and the next. The scores for a
    /// pair's lanes are adjacent. If the loads of one pair's lanes use all memory banks, the
    /// distance between codes does not matter. Otherwise several pairs load at the same time, and
    /// an odd multiple distributes their codes over the banks.
    const fn row_loads(&self) -> u32 {
        let loads = self.columns / LOAD;
        if self.lanes * self.load_bytes() < 128 { self.lanes * (loads | 1) } else { self.lanes * loads }
    }

    /// Returns the workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let ring = if matches!(self.grouping, LaneGrouping::Workgroup) { 16 * self.workgroup } else { 0 };
        self.codes * self.row_loads() * self.load_bytes() + 8 * self.lanes * (self.columns / LOAD) + ring + 16
    }

    /// Returns the number of columns of a pass.
    pub const fn pass_columns(&self) -> u32 {
        self.lanes * self.columns
    }

    /// Returns the number of words of a lane's columns.
    pub const fn lane_words(&self) -> u32 {
        self.columns / 4
    }

    /// Returns the number of lanes for a query of this length, in all passes.
    pub fn lanes_of(&self, query_symbols: u32) -> u32 {
        query_symbols.div_ceil(self.columns).max(1)
    }

    /// Returns the number of teams of lanes in a workgroup. Each team computes one pair, or two.
    pub const fn teams(&self) -> u32 {
        self.workgroup / self.lanes
    }

    /// Returns the number of queries that are computed together.
    pub const fn queries(&self) -> usize {
        if matches!(self.packing, Packing::Queries) { 2 } else { 1 }
    }

    /// Returns the number of targets that are computed together.
    pub const fn targets(&self) -> u32 {
        if matches!(self.packing, Packing::Targets) { 2 } else { 1 }
    }

    /// Returns whether scores are f16 values.
    pub const fn is_f16(&self) -> bool {
        !matches!(self.packing, Packing::One)
    }

    /// Returns the variant with the largest groups whose bounds are too low by at most `most`.
    /// Returns `None` if there is no such variant.
    pub fn bounded(&self, most: i64) -> Option<TileVariant> {
        let groups = (1..=MAX_IN_GROUP / LOAD).rev().map(|loads| loads * LOAD);
        let with = |group| TileVariant { group: Some(group), ..*self };
        groups.filter(|group| self.columns.is_multiple_of(*group)).map(with).find(|variant| variant.slack() <= most)
    }

    /// Returns the greatest error of the bounds of scores, or 0 if the variant reports scores.
    pub fn slack(&self) -> i64 {
        self.group.map_or(0, |group| i64::from(group - 1) * i64::from(self.gaps.next))
    }

    /// Returns the number of vectors of scratch memory of a slot. A slot contains `borders` borders
    /// of `words` words of rows. If rows are divided into parts, it also contains the columns of
    /// `kept_passes` passes.
    pub fn slot_vectors(&self, borders: u32, words: u32, kept_passes: u32) -> u64 {
        let borders = if self.passes { u64::from(borders) * u64::from(words) * 2 } else { 0 };
        let kept = u64::from(kept_passes) * u64::from(self.workgroup) * u64::from(self.columns + 1);
        borders + if self.split { kept } else { 0 }
    }

    /// Returns the number of loop iterations of an invocation in a step of four rows, if no loop is
    /// unrolled.
    pub fn step_iterations(&self) -> u64 {
        let groups = self.columns / self.group.unwrap_or(self.columns);
        1 + 4 * (1 + u64::from(groups) + u64::from(self.columns / LOAD) * (1 + u64::from(LOAD)))
    }

    /// Returns the number of loop iterations of an invocation in a pass, apart from its steps.
    /// `turns` is the number of targets that it computes one after another.
    pub fn pass_iterations(&self, turns: u32) -> u64 {
        let profile = (self.codes * self.lanes * (self.columns / LOAD)).div_ceil(self.workgroup) + 2;
        let turn = self.lanes + 3 * self.columns + 8;
        u64::from(profile) + u64::from(turns) * (u64::from(turn) + self.delay_steps() * self.step_iterations())
    }

    /// Returns the number of steps of four rows by which the last lane is behind the first.
    pub fn delay_steps(&self) -> u64 {
        u64::from((self.lanes + 2) / 4)
    }
}

/// Returns the scores of all pairs of symbols in the form that the kernels need. There is one row
/// per code of targets. The cost of a gap's first symbol is added to each score.
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

/// Returns whether i32 holds all scores of pairs whose shorter sequence has this many symbols.
pub fn i32_holds(scoring: &Scoring, shorter: u32) -> bool {
    i64::from(scoring.substitution.max_score().max(0)) * i64::from(shorter) < MAX_IN_I32
}

/// Returns whether f16 holds the scores and costs of single symbols. The kernel then detects every
/// score that f16 does not hold.
pub fn f16_holds_symbols(scoring: &Scoring) -> bool {
    let substitution = &scoring.substitution;
    let costs = [scoring.gaps.first as i64, substitution.max_score().into(), -i64::from(substitution.min_score())];
    costs.into_iter().all(|cost| cost <= MAX_IN_F16.into())
}

/// Returns whether f16 holds all scores of pairs whose shorter sequence has this many symbols.
pub fn f16_holds(scoring: &Scoring, shorter: u32) -> bool {
    i64::from(scoring.substitution.max_score().max(0)) * i64::from(shorter) < SATURATED.into()
}

/// `TileParams` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TileParams {
    /// Index of the first task of this dispatch.
    pub task_begin: u32,
    /// Index after the last task.
    pub task_end: u32,
    /// 1: workgroups draw tasks by ticket and finish them. 0: each workgroup computes one block of
    /// rows of a pass.
    pub ticketed: u32,
    /// Workgroups per task, one for each pass, if tasks are not drawn by ticket. At least 1.
    pub passes: u32,
    /// Diagonal to compute: the sum of the index of a pass and the index of a block.
    pub diagonal: u32,
    /// Words of rows of a block.
    pub block_words: u32,
    /// Passes whose columns are kept at the same time, at least 1.
    pub kept_passes: u32,
    /// Rows of a border in scratch memory.
    pub slot_rows: u32,
    /// Borders of a slot: one per target, or per two targets that are computed together.
    pub slot_borders: u32,
    /// Vectors of scratch memory of a slot.
    pub slot_vectors: u32,
    /// Index of the first score in `out.data`.
    pub values_begin: u32,
    /// Index of the first listed pair in `out.data`.
    pub list_begin: u32,
    /// 1: pairs that reach their threshold are listed.
    pub floors: u32,
}

/// `TileTask` of the shader: queries against some targets.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TileTask {
    /// Index of the first part of the first pass.
    pub parts_begin: u32,
    /// Number of passes.
    pub passes: u32,
    /// Index of the first target.
    pub first: u32,
    /// Number of targets.
    pub count: u32,
    /// Number of the run's targets that precede the task's first target.
    pub before: u32,
    /// Words of rows of the longest target.
    pub words: u32,
}

/// `TilePart` of the shader: the columns of a query that a lane computes in a pass.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct TilePart {
    /// Index of the word after the query's last symbol.
    pub end_word: u32,
    /// Words of the query.
    pub words: u32,
    /// Words from the first of these columns to the query's end. If this exceeds the query's words,
    /// the columns start with padding.
    pub words_left: u32,
    /// Index of the query's first pair.
    pub pairs_begin: u32,
    /// Least score that is listed.
    pub floor: i32,
    /// Bits [`PART_EXISTS`], [`PART_BEGIN`], [`PART_FIRST`] and [`PART_END`]. 0 if there is no
    /// query.
    pub state: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(packing: Packing, lanes: u32, columns: u32, codes: u32) -> TileVariant {
        TileVariant {
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

    /// Eight invocations load 16 bytes at the same time, or sixteen load 8 bytes. The lanes of one
    /// pair use different banks, whatever the code. The lanes of several pairs do so if their codes
    /// are consecutive.
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
    fn bounded_variants_respect_the_allowed_error() {
        let group = |columns, most| variant(Packing::Queries, 8, columns, 28).bounded(most).map(|to| to.group);
        assert_eq!([0, 2, 3, 6, 7, 10, 11, 99].map(|most| group(24, most)), {
            [None, None, Some(4), Some(4), Some(8), Some(8), Some(12), Some(12)].map(|columns| columns.map(Some))
        });
        assert_eq!(group(20, 99), Some(Some(4)));
        assert_eq!(group(32, 99), Some(Some(16)));
        let dear = TileVariant { gaps: Gaps::linear(5), ..variant(Packing::Queries, 8, 24, 28) };
        assert_eq!(dear.bounded(14), None);
        assert_eq!(dear.bounded(15).map(|to| (to.group, to.slack())), Some((Some(4), 15)));
        assert_eq!(dear.slack(), 0);
    }

    #[test]
    fn an_empty_query_has_a_lane() {
        let variant = variant(Packing::One, 8, 20, 16);
        assert_eq!([0, 1, 20, 21, 480].map(|symbols| variant.lanes_of(symbols)), [1, 1, 1, 2, 24]);
        assert_eq!((variant.teams(), variant.slot_vectors(9, 9, 1)), (8, 0));
    }

    #[test]
    fn number_formats_hold_the_scores_that_they_accept() {
        let protein = Scoring::protein();
        assert!(f16_holds_symbols(&protein) && i32_holds(&protein, u32::MAX / 128));
        assert!(!i32_holds(&protein, 1 << 28));
        // Tryptophan has the greatest score, 11.
        assert!(f16_holds(&protein, 186) && !f16_holds(&protein, 187));
        let dear = Scoring { gaps: crate::score::Gaps::linear(1001), ..protein };
        assert!(!f16_holds_symbols(&dear));
    }
}
