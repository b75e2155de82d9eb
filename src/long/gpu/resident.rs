//! The pair in device memory.

use std::sync::Arc;

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::long::LongPair;
use crate::seq::Code;

/// A pair's sequences and scores on the device.
pub(super) struct Resident {
    pair: LongPair,
    /// Query symbols that are left out before the first word.
    pub shift: u32,
    /// Kinds of query symbols.
    pub classes: u32,
    /// The query's symbols as classes, four a word.
    pub query: wgpu::Buffer,
    /// The query's codes, four a word.
    pub query_codes: wgpu::Buffer,
    /// The target's codes, four a word.
    pub target: wgpu::Buffer,
    /// Score of each class against each code.
    pub table: wgpu::Buffer,
}

impl Resident {
    /// Uploads a pair, so that row `shift` begins a word.
    pub(super) fn new(gpu: &Gpu, pair: &LongPair, shift: u32) -> Result<Self> {
        let (query, target) = (&pair.query[shift as usize..], &pair.target[..]);
        let mut known = [false; 256];
        query.iter().for_each(|&code| known[code as usize] = true);
        let mut class_of = [0u8; 256];
        let codes: Vec<Code> = (0..=255).filter(|&code| known[code as usize]).collect();
        for (class, &code) in codes.iter().enumerate() {
            class_of[code as usize] = class as u8;
        }
        let substitution = &pair.scoring.substitution;
        let size = substitution.size() as u8;
        let mut table: Vec<i32> =
            codes.iter().flat_map(|&a| (0..size).map(move |b| substitution.score(a, b))).collect();
        table.resize(32 * size as usize, 0);
        let classes: Vec<u8> = query.iter().map(|&code| class_of[code as usize]).collect();
        Ok(Resident {
            pair: pair.clone(),
            shift,
            // A few sizes, so that pairs share compiled shaders.
            classes: if codes.len() <= 5 { 5 } else { (codes.len() as u32).next_multiple_of(8) },
            query: gpu.upload("query of a long pair", &words(classes))?,
            query_codes: gpu.upload("query of a long pair", &words(query.to_vec()))?,
            target: gpu.upload("target of a long pair", &words(target.to_vec()))?,
            table: gpu.upload("scores of a long pair", bytemuck::cast_slice(&table))?,
        })
    }

    /// Whether it is this pair, with that row at a word's begin.
    pub(super) fn is(&self, pair: &LongPair, row: u32) -> bool {
        Arc::ptr_eq(&self.pair.query, &pair.query)
            && Arc::ptr_eq(&self.pair.target, &pair.target)
            && Arc::ptr_eq(&self.pair.scoring, &pair.scoring)
            && row >= self.shift
            && (row - self.shift).is_multiple_of(4)
    }
}

/// Whole words, and some more: strips may end behind the last symbol.
fn words(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4) + 256, 0);
    bytes
}
