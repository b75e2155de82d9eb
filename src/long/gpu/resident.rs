//! The pair in device memory.

use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::resident::Residents;
use crate::long::LongPair;
use crate::score::Scoring;
use crate::seq::Code;

/// Bytes that are added to each sequence: strips may end behind the last symbol.
const BEHIND: usize = 256;
/// Classes that the table of scores has room for.
const MAX_CLASSES: usize = 32;

/// A pair's sequences and scores on the device. They stay as long as it is held.
#[derive(Debug, Clone)]
pub(super) struct Resident {
    /// The query, and how it is scored.
    pub query: Arc<ResidentQuery>,
    /// The target's codes, four a word.
    pub target: Arc<ResidentTarget>,
}

/// A query and its scores.
#[derive(Debug)]
pub(super) struct ResidentQuery {
    scoring: Weak<Scoring>,
    /// Symbols that are left out before the first word.
    pub shift: u32,
    /// Kinds of symbols.
    pub kinds: u32,
    /// Symbols as classes, four a word.
    pub classes: wgpu::Buffer,
    /// Codes, four a word.
    pub codes: wgpu::Buffer,
    /// Score of each class against each code.
    pub table: wgpu::Buffer,
}

/// A target.
#[derive(Debug)]
pub(super) struct ResidentTarget(pub wgpu::Buffer);

impl Resident {
    /// The pair so that row `row` begins a word, uploaded unless it is there.
    pub(super) fn of(residents: &mut Residents, gpu: &Gpu, pair: &LongPair, row: u32) -> Result<Self> {
        let is = |own: &ResidentQuery| own.is(pair, row);
        // Both are looked for first, so that neither is evicted for the other.
        let (query, target) =
            (residents.find(&pair.query, is), residents.find(&pair.target, |_: &ResidentTarget| true));
        let query = match query {
            Some(query) => query,
            None => {
                let shift = row % 4;
                let bytes = ResidentQuery::bytes(pair, shift);
                residents.make_room(bytes);
                let uploaded = ResidentQuery::upload(gpu, pair, shift)?;
                residents.keep(&pair.query, bytes, uploaded)
            }
        };
        let target = match target {
            Some(target) => target,
            None => {
                let bytes = padded(pair.target.len()) as u64;
                residents.make_room(bytes);
                let uploaded = gpu.upload("target of a long pair", &words(pair.target.to_vec()))?;
                residents.keep(&pair.target, bytes, ResidentTarget(uploaded))
            }
        };
        Ok(Resident { query, target })
    }
}

impl ResidentQuery {
    /// Bytes of a query without its first symbols.
    fn bytes(pair: &LongPair, shift: u32) -> u64 {
        let table = 4 * MAX_CLASSES * pair.scoring.substitution.size();
        (2 * padded(pair.query.len() - shift as usize) + table) as u64
    }

    fn upload(gpu: &Gpu, pair: &LongPair, shift: u32) -> Result<Self> {
        let query = &pair.query[shift as usize..];
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
        table.resize(MAX_CLASSES * size as usize, 0);
        let classes: Vec<u8> = query.iter().map(|&code| class_of[code as usize]).collect();
        Ok(ResidentQuery {
            scoring: Arc::downgrade(&pair.scoring),
            shift,
            // A few sizes, so that pairs share compiled shaders.
            kinds: match codes.len() as u32 {
                ..=4 => 4,
                5 => 5,
                // So many that four strips of 21 or 22 kinds of residues still fit a compute unit.
                many => many.next_multiple_of(2),
            },
            classes: gpu.upload("query of a long pair", &words(classes))?,
            codes: gpu.upload("query of a long pair", &words(query.to_vec()))?,
            table: gpu.upload("scores of a long pair", bytemuck::cast_slice(&table))?,
        })
    }

    /// Whether it is scored as this pair, with that row at a word's begin.
    fn is(&self, pair: &LongPair, row: u32) -> bool {
        std::ptr::eq(self.scoring.as_ptr(), Arc::as_ptr(&pair.scoring))
            && row >= self.shift
            && (row - self.shift).is_multiple_of(4)
    }
}

/// Bytes of so many symbols on the device: whole words, and some more.
fn padded(symbols: usize) -> usize {
    symbols.next_multiple_of(4) + BEHIND
}

fn words(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(padded(bytes.len()), 0);
    bytes
}
