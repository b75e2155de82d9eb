//! Chooses the width of the strips of a panel on a card.
//!
//! NVIDIA's Vulkan driver gives all workgroups of a compute unit 48 KiB of workgroup memory
//! together, regardless of the hardware (H200: 12 workgroups of 4 KiB, 4 of 12 KiB, 1 of more than
//! 24 KiB). A strip needs most of it for its profile, whose size is the number of its columns times
//! the number of different symbols. If a strip takes more than a fifth of the 48 KiB, four strips
//! run on a unit, one for each scheduler. If it takes less, a fifth strip joins. One scheduler then
//! has two strips, and all strips wait for these: a pair of 1,000,000 x 1,000,000 symbols then
//! takes 1.1 times as long.

use crate::seq::Alphabet;

/// Number of strips that fill a large device: one for each scheduler of an H200. Four times as many
/// strips make a panel start and end with idle schedulers a quarter as often, which is 1.2 times as
/// fast. But the right border would be available later, for which other devices may wait.
pub(super) const STRIPS: u32 = 528;
/// Number of columns of an invocation in a panel of few strips.
pub(super) const NARROW_CELLS: u32 = 8;
/// Number of columns of an invocation in a panel of many strips, for queries of [`ANY_KINDS`]
/// symbols.
pub(super) const WIDE_CELLS: u32 = 16;
/// Number of different symbols that is assumed for a query of nucleotides if the real number is
/// unknown or would make no difference.
pub(super) const ANY_KINDS: u32 = 5;
/// Maximum number of bytes of workgroup memory of a strip if four strips should run on a compute
/// unit. The second value is the part for the borders of a batch, which do not belong to the
/// profile.
const STRIP_BYTES: u32 = 12 << 10;
const BORDER_BYTES: u32 = 512;
/// Fixed cost of a step, in half columns. On an H100, 1,000,000 rows of as many strips as run at
/// once take 102 ms with 8 columns an invocation, 125 ms with 12, 148 ms with 16, and 166 ms with
/// 20.
const STEP_CELLS: u32 = 19;
/// Maximum number of columns in the registers of an invocation.
const MAX_CELLS: u32 = 20;

/// Returns the approximate number of different symbols of any query of an alphabet.
pub(super) fn any_kinds(alphabet: Alphabet) -> u32 {
    if alphabet == Alphabet::Dna { ANY_KINDS } else { alphabet.size() as u32 }
}

/// Returns the columns of an invocation that let four strips of 32 invocations run on a compute
/// unit.
fn widest_cells(kinds: u32) -> u32 {
    let columns = (STRIP_BYTES - BORDER_BYTES) / (kinds * 32 * size_of::<i32>() as u32);
    (columns / 4 * 4).clamp(4, MAX_CELLS)
}

/// Returns the number of columns of an invocation in a panel of this width, for a query of this
/// number of different symbols. It minimises the time of all strips if [`STRIPS`] of them run at
/// once, and leaves enough workgroup memory for that many.
pub(super) fn suiting_cells(columns: u32, kinds: u32, lanes: u32) -> u32 {
    let most = widest_cells(kinds);
    let cost = |&cells: &u32| columns.div_ceil(cells * lanes).div_ceil(STRIPS) * (2 * cells + STEP_CELLS);
    let wider = (NARROW_CELLS..most + 1).step_by(4).rev();
    wider.min_by_key(cost).unwrap_or(most)
}

/// Returns the number of classes in the profile of a query of this number of different symbols. It
/// may exceed four by one, which prevents a fifth strip on a compute unit.
pub(super) fn suiting_classes(kinds: u32, cells: u32) -> u32 {
    if cells == WIDE_CELLS { kinds.max(ANY_KINDS) } else { kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::SLIVER;
    use crate::long::chain::grid::MIN_WIDE_PITCH;
    use crate::long::gpu::panel::{PanelExtent, PanelPlan};
    use crate::long::gpu::{Schedule, StripedShape, WIDE_BORDERS, WIDE_TIMES};
    use crate::long::kernels::striped::StripedVariant;

    /// Returns a strip of 32 lanes.
    fn variant(kinds: u32, cells: u32) -> StripedVariant {
        StripedVariant {
            lanes: 32,
            cells,
            classes: suiting_classes(kinds, cells),
            codes: 16,
            batch: StripedShape::default().batch,
            last_cell: 0,
            local: true,
            linear: false,
            best: true,
            prune: true,
            persistent: true,
            shuffle: true,
        }
    }

    #[test]
    fn wide_panels_keep_no_more_borders_than_expected() {
        let variant = variant(ANY_KINDS, widest_cells(ANY_KINDS));
        // A panel may also take a few remaining columns.
        let columns = WIDE_TIMES * STRIPS * variant.strip() / SLIVER * (SLIVER + 1);
        let keep_strips = Some(MIN_WIDE_PITCH as u32 / variant.strip());
        let extent = PanelExtent { rows: 1 << 20, columns, mark_every: 1 << 20, keep_strips };
        let plan = PanelPlan::new(extent, &variant, Schedule::Persistent, 2048);
        assert_eq!(plan.params.keep_strips, 64);
        assert!((30..=WIDE_BORDERS as u32).contains(&plan.whole_borders()), "{} borders", plan.whole_borders());
    }

    #[test]
    fn four_wide_strips_fit_a_compute_unit_and_not_five() {
        const UNIT: u32 = 48 << 10;
        for (kinds, wanted) in [(1, 20), (4, 20), (5, 16), (20, 4), (22, 4)] {
            let cells = suiting_cells(1_000_000, kinds, 32);
            assert_eq!(cells, wanted);
            // The condition must also hold for nucleotides that are traced afterwards.
            let traced = if kinds <= ANY_KINDS { WIDE_CELLS } else { cells };
            for cells in [cells, traced] {
                let bytes = variant(kinds.max(4), cells).workgroup_bytes();
                assert!(4 * bytes <= UNIT && 5 * bytes > UNIT, "{kinds} kinds, {cells} columns: {bytes} bytes");
            }
        }
    }

    #[test]
    fn strips_are_narrow_while_all_are_at_work() {
        let suiting = |columns| suiting_cells(columns, 4, 32);
        let widest = |cells: u32| 32 * cells * STRIPS;
        assert_eq!([1, widest(8), widest(8) + 1, widest(12), widest(16)].map(suiting), [8, 8, 12, 12, 16]);
        assert_eq!([widest(16) + 1, u32::MAX].map(suiting), [20, 20]);
        assert_eq!(suiting_cells(widest(16) + 1, 5, 32), 12, "two rounds of these take less time than two of 16");
        assert_eq!(suiting_cells(2 * widest(12) + 1, 5, 32), 16);
        assert_eq!(suiting_cells(u32::MAX, 5, 32), 16);
        assert_eq!([1, 100_000, u32::MAX].map(|columns| suiting_cells(columns, 20, 32)), [4, 4, 4]);
        assert_eq!([8, 24, 32].map(|kinds| suiting_cells(u32::MAX, kinds, 32)), [8, 4, 4]);
    }
}
