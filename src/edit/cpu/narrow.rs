//! Regions of texts that contain a part within the limit, for patterns of at most 32 symbols.
//!
//! All lanes have the same pattern, and one region each. A lane has 32 bits, and a symbol of the
//! text two, so a column takes half as many operations as in lanes of 64 bits with bit planes.
//! Other kernels then compute only the regions that remain. The loops over arrays are vectorised by
//! the compiler.

use crate::edit::narrow::{ROWS, is_narrow};
use crate::edit::pieces::PackedText;
use crate::score::Equality;
use crate::seq::Code;
use crate::simd::{InstructionSet, Simd, SimdKernel};

/// Number of regions that are searched together.
pub(super) const LANES: usize = 64;
/// Number of symbols of a text that a lane reads at once.
const SYMBOLS: usize = 16;

/// A pattern of at most 32 symbols, and its limit.
#[derive(Debug)]
pub(super) struct NarrowPattern {
    /// Rows that match A, C, G and T. The last row of the pattern is the highest bit. Rows before
    /// its first row match everything.
    matches: [u32; 4],
    symbols: usize,
    limit: u32,
}

/// A region of a packed text without codes other than A, C, G and T.
#[derive(Debug, Clone, Copy)]
pub(super) struct NarrowRegion<'a> {
    pub text: &'a PackedText,
    /// First symbol of the region, and number of its symbols.
    pub start: usize,
    pub symbols: usize,
}

impl NarrowPattern {
    /// Creates the pattern. Returns `None` if it is too long, or if the limit is so great that most
    /// regions would remain.
    pub(super) fn new(pattern: &[Code], limit: u32, equality: &Equality) -> Option<Self> {
        let symbols = pattern.len();
        if symbols == 0 || !is_narrow(symbols, limit as usize) {
            return None;
        }
        let padding = u32::MAX.checked_shr(symbols as u32).unwrap_or(0);
        let matches = [0, 1, 2, 3].map(|base| {
            let rows = pattern.iter().enumerate().filter(|&(_, &code)| equality.is_match(code, 1 << base));
            rows.fold(padding, |matches, (row, _)| matches | 1 << (ROWS - symbols + row))
        });
        Some(NarrowPattern { matches, symbols, limit })
    }

    /// Returns, for each of at most [`LANES`] regions, whether it may contain a part within the
    /// limit. Every region that contains one is included.
    pub(super) fn may_be_in(&self, instructions: InstructionSet, regions: &[NarrowRegion<'_>]) -> [bool; LANES] {
        instructions.run(NarrowKernel { pattern: self, regions })
    }

    /// Implements [`NarrowPattern::may_be_in`].
    #[inline(always)]
    fn search(&self, regions: &[NarrowRegion<'_>]) -> [bool; LANES] {
        let [a, c, g, t] = self.matches;
        let mut plus = [u32::MAX << (ROWS - self.symbols); LANES];
        let mut minus = [0u32; LANES];
        let mut distance = [self.symbols as i32; LANES];
        let mut least = distance;
        let columns = regions.iter().map(|region| region.symbols).max().unwrap_or(0);
        for before in (0..columns).step_by(SYMBOLS) {
            let mut codes = [0u32; LANES];
            for (codes, region) in codes.iter_mut().zip(regions) {
                // Symbols after the end of a region, or of its text, only add regions.
                *codes = region.text.read(region.start + before.min(region.symbols)) as u32;
            }
            for _ in 0..SYMBOLS {
                for lane in 0..LANES {
                    let low = ((codes[lane] << 31) as i32 >> 31) as u32;
                    let high = ((codes[lane] << 30) as i32 >> 31) as u32;
                    codes[lane] >>= 2;
                    let matches = !high & (low & c | !low & a) | high & (low & t | !low & g);
                    let zero = matches | minus[lane];
                    let diagonal = ((zero & plus[lane]).wrapping_add(plus[lane]) ^ plus[lane]) | zero;
                    let (ups, downs) = (minus[lane] | !(diagonal | plus[lane]), diagonal & plus[lane]);
                    distance[lane] += (ups >> 31) as i32 - (downs >> 31) as i32;
                    least[lane] = least[lane].min(distance[lane]);
                    let (ups, downs) = (ups << 1, downs << 1);
                    plus[lane] = downs | !(diagonal | ups);
                    minus[lane] = ups & diagonal;
                }
            }
        }
        least.map(|least| least <= self.limit as i32)
    }
}

/// The regions of one pattern.
struct NarrowKernel<'a> {
    pattern: &'a NarrowPattern,
    regions: &'a [NarrowRegion<'a>],
}

impl SimdKernel for NarrowKernel<'_> {
    type Output = [bool; LANES];

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> [bool; LANES] {
        self.pattern.search(self.regions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::narrow::SYMBOLS_PER_EDIT;
    use crate::edit::oracle;
    use crate::score::{Ambiguity, EditMode, EditScheme, Limit};

    /// Regions have different lengths and start anywhere. Some contain copies of the pattern.
    #[test]
    fn regions_with_a_part_within_the_limit_remain() {
        let seed = 17;
        let mut rng = fastrand::Rng::with_seed(seed);
        let scheme =
            EditScheme { mode: EditMode::Infix, equality: Equality::dna(Ambiguity::Overlap, true), limit: Limit::None };
        let (mut kept, mut dropped) = (0, 0);
        for case in 0..60 {
            let symbols = rng.usize(1..=ROWS);
            let limit = rng.u32(..=(symbols / SYMBOLS_PER_EDIT) as u32);
            let pattern: Vec<Code> =
                (0..symbols).map(|_| if rng.u8(..12) == 0 { rng.u8(1..16) } else { 1 << rng.u8(..4) }).collect();
            let mut text: Vec<Code> = (0..900).map(|_| 1 << rng.u8(..4)).collect();
            for _ in 0..3 {
                let copy = pattern.iter().map(|code| 1 << code.trailing_zeros()).filter(|_| rng.u8(..15) > 0);
                let copy: Vec<Code> = copy.collect();
                let at = rng.usize(..text.len());
                text.splice(at..at, copy);
            }
            let packed = PackedText::new(&text);
            let region = |_| {
                let start = rng.usize(..text.len());
                NarrowRegion { text: &packed, start, symbols: rng.usize(..=(text.len() - start).min(150)) }
            };
            let regions: Vec<NarrowRegion<'_>> = (0..LANES - case % 3).map(region).collect();
            let narrow = NarrowPattern::new(&pattern, limit, &scheme.equality).unwrap();
            for instructions in InstructionSet::available() {
                let found = narrow.may_be_in(instructions, &regions);
                for (region, found) in regions.iter().zip(found) {
                    let part = &text[region.start..region.start + region.symbols];
                    let is_within = oracle::last_row(&pattern, part, &scheme)[1..].iter().any(|&edits| edits <= limit);
                    assert!(found || !is_within, "seed {seed} case {case} {instructions:?}: {pattern:?} {region:?}");
                    (kept, dropped) = (kept + u32::from(found), dropped + u32::from(!found));
                }
            }
        }
        assert!(kept > 500 && dropped > 1000, "{kept} {dropped}");
    }

    #[test]
    fn long_patterns_and_great_limits_are_not_supported() {
        let equality = Equality::dna(Ambiguity::Overlap, true);
        let is_supported = |symbols: usize, limit| NarrowPattern::new(&vec![1; symbols], limit, &equality).is_some();
        assert!(is_supported(23, 4) && is_supported(32, 8) && is_supported(1, 0));
        assert!(!is_supported(23, 6) && !is_supported(33, 4) && !is_supported(0, 0));
    }
}
