//! A long pattern in a long text needs memory for a block of the text, not for the whole text. The
//! test counts allocations.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use super::counting::{MAX, NOW, lock_allocations};
use pairwave::edit::cpu::{DistanceWorkspace, run};
use pairwave::edit::{EditBatch, EditBlock, EditChunk, TextRegions};
use pairwave::score::{EditDistance, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code};
use support::store;

#[test]
fn long_pattern_needs_memory_for_a_block_of_the_text_only() {
    let _alone = lock_allocations();
    const TEXT: usize = 1 << 20;
    const PATTERN: usize = 5_000;
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        1u8 << (state >> 62)
    };
    let text: Vec<Code> = (0..TEXT).map(|_| next()).collect();
    // The occurrence crosses the ends of many blocks and has a mismatch.
    let end = 3 * TEXT / 4 + 17;
    let mut pattern = text[end - PATTERN..end].to_vec();
    pattern[PATTERN / 2] = pattern[PATTERN / 2] % 8 * 2 + pattern[PATTERN / 2] / 8;
    let equality = Equality::literal(Alphabet::Dna);
    for mode in [EditMode::Infix, EditMode::Prefix] {
        let scheme = Arc::new(EditScheme { mode, equality: equality.clone(), limit: Limit::None });
        let (patterns, texts) =
            (store(Alphabet::Dna, std::slice::from_ref(&pattern)), store(Alphabet::Dna, std::slice::from_ref(&text)));
        let chunk = Arc::new(EditChunk::new(patterns, texts, scheme, TextRegions::Texts([0].into())));
        let blocks = vec![EditBlock { pattern: 0, regions: 0..1, cells: (TEXT * PATTERN) as u64 }];
        let batch = EditBatch { chunk, blocks };
        let mut workspace = DistanceWorkspace::new();
        let before = NOW.load(SeqCst);
        MAX.store(before, SeqCst);
        let actual = run(&batch, &mut workspace);
        let taken = MAX.load(SeqCst) - before;
        if mode == EditMode::Infix {
            assert_eq!(actual, [EditDistance { distance: 1, end: end as u32 }]);
        }
        assert!(taken > 0 && taken < 2 * TEXT, "{taken} bytes for a text of {TEXT} symbols");
    }
}
