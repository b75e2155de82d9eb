//! How wide the strips of a panel are on a card.
//!
//! NVIDIA's Vulkan gives all workgroups of a compute unit 48 KiB of workgroup memory together, whatever the unit has (H200: 12
//! workgroups of 4 KiB, 4 of 12 KiB, 1 of more than 24). Most of what a strip takes is its profile: its columns times the kinds
//! of symbols. With more than a fifth of the 48 KiB, four strips are at work on a unit, one for each scheduler. With less a fifth one
//! comes, one scheduler has two, and all strips wait for these: 1,000,000 squared then take 1.1 times as long.

use crate::seq::Alphabet;

/// Strips that fill a large device: one for each scheduler of an H200. With four times as many a panel begins and ends with
/// idle schedulers a quarter as often, at 1.2 times the speed; but where other devices wait for its right edge, that comes
/// the later.
pub(super) const STRIPS: u32 = 528;
/// Columns of an invocation where strips are few.
pub(super) const NARROW_CELLS: u32 = 8;
/// The same where they are many, for [`ANY_KINDS`].
pub(super) const WIDE_CELLS: u32 = 16;
/// Kinds of symbols of a query of nucleotides of which it is not known, or does not matter, that it has fewer.
pub(super) const ANY_KINDS: u32 = 5;
/// Bytes of workgroup memory that a strip takes at most if four are to be at work on a compute unit, and of these what is not its
/// profile: edges of a batch.
const STRIP_BYTES: u32 = 12 << 10;
const EDGE_BYTES: u32 = 512;
/// What a step takes beside its columns, in half columns: 1,000,000 rows of as many strips as are at work at the same time take 102 ms
/// on an H100 with 8 columns an invocation, 125 with 12, 148 with 16, 166 with 20.
const STEP_CELLS: u32 = 19;
/// Columns that an invocation has registers for.
const MAX_CELLS: u32 = 20;

/// Kinds of symbols that any query has of an alphabet, about.
pub(super) fn any_kinds(alphabet: Alphabet) -> u32 {
    if alphabet == Alphabet::Dna { ANY_KINDS } else { alphabet.size() as u32 }
}

/// Columns of an invocation with which four strips of 32 of them are at work on a compute unit.
fn widest_cells(kinds: u32) -> u32 {
    let columns = (STRIP_BYTES - EDGE_BYTES) / (kinds * 32 * size_of::<i32>() as u32);
    (columns / 4 * 4).clamp(4, MAX_CELLS)
}

/// Columns of an invocation, in a panel of so many, for a query of so many kinds of symbols: those with which all strips take least
/// time, [`STRIPS`] of them at once, and not more than leave workgroup memory for so many.
pub(super) fn suiting_cells(columns: u32, kinds: u32, lanes: u32) -> u32 {
    let most = widest_cells(kinds);
    let cost = |&cells: &u32| columns.div_ceil(cells * lanes).div_ceil(STRIPS) * (2 * cells + STEP_CELLS);
    let wider = (NARROW_CELLS..most + 1).step_by(4).rev();
    wider.min_by_key(cost).unwrap_or(most)
}

/// Classes that the profile of a query of so many kinds of symbols has room for. One more than four keeps a fifth strip away.
pub(super) fn suiting_classes(kinds: u32, cells: u32) -> u32 {
    if cells == WIDE_CELLS { kinds.max(ANY_KINDS) } else { kinds }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::gpu::StripedShape;
    use crate::long::kernels::striped::Variant;

    /// Workgroup memory of a strip of 32 lanes.
    fn bytes(kinds: u32, cells: u32) -> u32 {
        let variant = Variant {
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
        };
        variant.workgroup_bytes()
    }

    #[test]
    fn four_wide_strips_fit_a_compute_unit_and_not_five() {
        const UNIT: u32 = 48 << 10;
        for (kinds, wanted) in [(1, 20), (4, 20), (5, 16), (20, 4), (22, 4)] {
            let cells = suiting_cells(1_000_000, kinds, 32);
            assert_eq!(cells, wanted);
            // Of nucleotides that are traced afterwards, too.
            let traced = if kinds <= ANY_KINDS { WIDE_CELLS } else { cells };
            for cells in [cells, traced] {
                let bytes = bytes(kinds.max(4), cells);
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
