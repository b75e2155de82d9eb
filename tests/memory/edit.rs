//! A long pattern in a long text needs memory for a block of the text, and places in texts that are
//! read in parts need memory for two parts. The tests count allocations.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use super::counting::{MAX, NOW, lock_allocations};
use pairwave::edit::cpu::{DistanceWorkspace, edit_workers, run};
use pairwave::edit::plan::Against;
use pairwave::edit::{EditBatch, EditBlock, EditChunk, TextRegions};
use pairwave::jobs::{EditDistances, Run};
use pairwave::score::{EditDistance, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, PartSize, SequenceStore, TextParts};
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

/// FASTA of one random text, which is never in memory as a whole.
struct SimulatedText {
    state: u64,
    letters_left: usize,
    header: &'static [u8],
}

impl Read for SimulatedText {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        if !self.header.is_empty() {
            return self.header.read(bytes);
        }
        let count = bytes.len().min(self.letters_left);
        for byte in &mut bytes[..count] {
            self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            *byte = b"ACGT"[(self.state >> 62) as usize];
        }
        self.letters_left -= count;
        Ok(count)
    }
}

/// Finds places in a text of `symbols` symbols. Returns the largest number of allocated bytes.
fn find_in_parts(symbols: usize, part: u64) -> usize {
    let (equality, limit) = (Equality::literal(Alphabet::Dna), Limit::Distance(2));
    let scheme = EditScheme { mode: EditMode::Infix, equality, limit };
    let patterns = store(Alphabet::Dna, &[[1, 2, 4, 8].repeat(5)]);
    let none = Arc::new(SequenceStore::builder(Alphabet::Dna).build());
    let job =
        EditDistances { all_places: true, ..EditDistances::new(patterns, Against::Texts(none), Arc::new(scheme)) };
    let text = SimulatedText { state: 7, letters_left: symbols, header: b">text\n" };
    let run = Run { threads: 1, ..Run::default() };
    let before = NOW.load(SeqCst);
    MAX.store(before, SeqCst);
    let parts =
        TextParts::from_reader("text.fa", text, Alphabet::Dna, PartSize { symbols: part, overlap: 40 }).unwrap();
    let engines = edit_workers(1, &run.interrupt);
    let places = job.find_in_parts_on(Some(engines), parts, &run, std::env::temp_dir()).unwrap();
    assert_eq!(places.texts().lengths(), [symbols as u32]);
    MAX.load(SeqCst) - before
}

#[test]
fn places_need_memory_for_two_parts_of_the_text_only() {
    let _alone = lock_allocations();
    const PART: u64 = 1 << 18;
    let [short, long] = [1 << 21, 1 << 24].map(|symbols| find_in_parts(symbols, PART));
    // The reader's buffers and the memory of the engines do not depend on the text.
    assert!(long < short + PART as usize && long < 1 << 23, "{short} and {long} bytes");
}
