//! Keeps the sequences and scores of a pair in device memory.

use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::resident::Residents;
use crate::long::LongPair;
use crate::score::Scoring;
use crate::seq::Code;

/// Number of spare bytes after each sequence, because strips may extend beyond the last symbol.
const SPARE_BYTES: usize = 256;
/// Maximum number of classes in the table of scores. A class is one of the different symbols of a
/// query.
const MAX_CLASSES: usize = 32;

/// A pair's sequences and scores on the device. They stay there until this value is dropped.
#[derive(Debug, Clone)]
pub(super) struct ResidentPair {
    /// The query with its scores.
    pub query: Arc<ResidentQuery>,
    /// The target's codes, four in a u32.
    pub target: Arc<ResidentTarget>,
}

/// A query and its scores.
#[derive(Debug)]
pub(super) struct ResidentQuery {
    scoring: Weak<Scoring>,
    /// Number of symbols that precede the first u32 and are skipped.
    pub shift: u32,
    /// Number of different symbols, rounded up to one of a few values.
    pub kinds: u32,
    /// Classes of the symbols, four in a u32.
    pub classes: wgpu::Buffer,
    /// Codes of the symbols, four in a u32.
    pub codes: wgpu::Buffer,
    /// Score of each class against each code.
    pub table: wgpu::Buffer,
}

/// A target.
#[derive(Debug)]
pub(super) struct ResidentTarget(pub wgpu::Buffer);

impl ResidentPair {
    /// Uploads a pair, unless it is already on the device. The symbol of row `row` starts a u32.
    pub(super) fn upload(residents: &mut Residents, gpu: &Gpu, pair: &LongPair, row: u32) -> Result<Self> {
        let is = |resident: &ResidentQuery| resident.fits_pair(pair, row);
        // Looks up both before either is uploaded, so that an upload does not evict the other one.
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
        Ok(ResidentPair { query, target })
    }
}

impl ResidentQuery {
    /// Returns the bytes of a query without its first `shift` symbols.
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
            // There are only a few possible values, so that pairs share compiled shaders.
            kinds: match codes.len() as u32 {
                ..=4 => 4,
                5 => 5,
                // With a multiple of 2, four strips of 21 or 22 different residues fit on a compute
                // unit.
                many => many.next_multiple_of(2),
            },
            classes: gpu.upload("query of a long pair", &words(classes))?,
            codes: gpu.upload("query of a long pair", &words(query.to_vec()))?,
            table: gpu.upload("scores of a long pair", bytemuck::cast_slice(&table))?,
        })
    }

    /// Returns whether the query is scored as in this pair, and the symbol of the row starts a u32.
    fn fits_pair(&self, pair: &LongPair, row: u32) -> bool {
        std::ptr::eq(self.scoring.as_ptr(), Arc::as_ptr(&pair.scoring))
            && row >= self.shift
            && (row - self.shift).is_multiple_of(4)
    }
}

/// Returns the bytes of this number of symbols on the device, with padding.
fn padded(symbols: usize) -> usize {
    symbols.next_multiple_of(4) + SPARE_BYTES
}

fn words(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(padded(bytes.len()), 0);
    bytes
}
