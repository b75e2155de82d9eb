//! The alignment of a read with a vector: the first pass, the choice of the end and the traceback.

use std::ops::Range;

use crate::alignment::{Cigar, Op};
use crate::score::PhyloScheme;
use crate::seq::Code;
use crate::simd::InstructionSet;

use super::super::vectors::{OCTET, Site, StateCells, Vectors, decode, set_bits, set_of};
use super::diagonals::{
    CellNumber, DiagonalEnds, DiagonalSets, DiagonalState, DiagonalSweep, MatrixLimits, SchemeNumbers, direction,
};

/// Minimum number of diagonals in a block.
const MIN_BLOCK: usize = 128;

/// Computes alignments in one number type and reuses its memory.
#[derive(Debug, Default)]
pub(super) struct LaneAligner<T, const LANES: usize> {
    sets: DiagonalSets<T>,
    state: DiagonalState<T>,
    /// Cells that each block of diagonals depends on, indexed by block.
    kept: Vec<Vec<T>>,
    directions: Vec<u8>,
}

/// Checks whether all values of an alignment with `symbols` symbols stay within the range of the
/// number type.
pub(super) fn fits<T: CellNumber>(symbols: usize, scheme: &PhyloScheme) -> bool {
    let one = |number: i32| i64::from(number).abs();
    let step = one(scheme.matching).max(one(scheme.mismatch)) + one(scheme.gap_site) + one(scheme.deletion.first);
    let lowest = scheme.insertion.cost(symbols as u64 + 1) + step;
    let highest = symbols as i64 * i64::from(scheme.matching.max(0)) + step;
    lowest.max(highest) <= T::MAX_ABS
}

/// A cell of the matrix.
#[derive(Clone, Copy)]
struct PathCell {
    /// Number of sites up to the cell.
    i: usize,
    /// Number of symbols up to the cell.
    j: usize,
}

/// The gap that a path is in.
#[derive(Clone, Copy)]
enum PathGap {
    None,
    Deletion,
    Insertion,
}

/// Returns the diagonals of a block.
fn in_block(index: usize, block: usize) -> Range<usize> {
    1 + index * block..1 + (index + 1) * block
}

impl<T: CellNumber, const LANES: usize> LaneAligner<T, LANES> {
    /// Returns the score, the first site and the columns of the alignment.
    pub(super) fn align(
        &mut self,
        instructions: InstructionSet,
        read: &[Code],
        vectors: &Vectors,
        vector: u32,
        scheme: &PhyloScheme,
    ) -> (i64, u32, Cigar) {
        self.prepare(read, vectors, vector, scheme);
        let costs = SchemeNumbers::from_scheme(scheme);
        if set_bits(vectors.alphabet()) > T::SET_BITS {
            self.align_with::<2>(instructions, read.len(), vectors.sites() as usize, costs, scheme)
        } else {
            self.align_with::<1>(instructions, read.len(), vectors.sites() as usize, costs, scheme)
        }
    }

    /// Converts the read and the vector to the inputs of the sweep.
    fn prepare(&mut self, read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) {
        let (alphabet, count) = (vectors.alphabet(), vectors.sites() as usize);
        let low = (1 << T::SET_BITS) - 1;
        let parts = |set: u32| [set & low, set >> T::SET_BITS].map(|bits| T::from_i64(bits.into()));
        let DiagonalSets { read: symbols, sites, charged, penalty } = &mut self.sets;
        for list in symbols.iter_mut() {
            list.clear();
            list.resize(read.len() + LANES, T::default());
        }
        for (index, &code) in read.iter().enumerate() {
            let of_code = parts(set_of(alphabet, code));
            symbols.iter_mut().zip(of_code).for_each(|(list, bits)| list[index] = bits);
        }
        for list in sites.iter_mut().chain([&mut *charged, &mut *penalty]) {
            list.clear();
            list.resize(count + LANES, T::default());
        }
        let mut put = |index: usize, bits: u32| {
            let (index, site) = (count - 1 - index, decode(alphabet, bits));
            let Site { set, is_penalised, is_free } = site;
            sites.iter_mut().zip(parts(set)).for_each(|(list, bits)| list[index] = bits);
            charged[index] = if is_free { T::default() } else { T::ONES };
            penalty[index] = if is_penalised { T::from_i64(scheme.gap_site.into()) } else { T::default() };
        };
        let first = vectors.cell_index(vector, 0);
        match vectors.cells() {
            StateCells::Bytes(bytes) => (0..count).for_each(|index| put(index, bytes[first + index * OCTET].into())),
            StateCells::Words(words) => (0..count).for_each(|index| put(index, words[first + index * OCTET])),
        }
    }

    fn align_with<const PARTS: usize>(
        &mut self,
        instructions: InstructionSet,
        symbols: usize,
        sites: usize,
        costs: SchemeNumbers<T>,
        scheme: &PhyloScheme,
    ) -> (i64, u32, Cigar) {
        let limits = MatrixLimits { sites, symbols, all_sites: sites };
        let block = MIN_BLOCK.max(2 * (sites + symbols).isqrt());
        let blocks = (sites + symbols).div_ceil(block);
        if self.kept.len() < blocks {
            self.kept.resize_with(blocks, Vec::new);
        }
        self.state.start(symbols, LANES);
        let mut ends = DiagonalEnds::none();
        ends.update(&self.state, 0, limits);
        for (index, kept) in self.kept.iter_mut().enumerate().take(blocks) {
            let list = in_block(index, block);
            kept.clear();
            self.state.save(list.start, limits, kept);
            let (sets, state, range) = (&self.sets, &mut self.state, list.start..list.end.min(sites + symbols + 1));
            let ends = Some(&mut ends);
            instructions.run(DiagonalSweep::<T, LANES, PARTS> {
                costs,
                sets,
                state,
                limits,
                range,
                directions: None,
                ends,
            });
        }
        let DiagonalEnds { last_symbol, last_site } = ends;
        // On a tie, a cell of the last site wins. `last_site` excludes the cell of the last symbol.
        if scheme.free_read_ends && last_site.0 >= last_symbol.0 {
            let end = PathCell { i: sites, j: last_site.1 - sites };
            let (first_site, cigar) = self.trace_back::<PARTS>(instructions, limits, end, costs, block);
            (last_site.0.to_i64(), first_site, cigar)
        } else {
            let end = PathCell { i: last_symbol.1 - symbols, j: symbols };
            let (first_site, cigar) = self.trace_back::<PARTS>(instructions, limits, end, costs, block);
            (last_symbol.0.to_i64(), first_site, cigar)
        }
    }

    /// Returns the first site and the columns of the path that ends at a cell.
    fn trace_back<const PARTS: usize>(
        &mut self,
        instructions: InstructionSet,
        limits: MatrixLimits,
        end: PathCell,
        costs: SchemeNumbers<T>,
        block: usize,
    ) -> (u32, Cigar) {
        let PathCell { mut i, mut j } = end;
        let stride = MatrixLimits { symbols: j, ..limits }.width() + LANES;
        if self.directions.len() < block * stride {
            self.directions.resize(block * stride, 0);
        }
        let mut cigar = Cigar::new();
        cigar.push((limits.symbols - j) as u32, Op::Insertion);
        let (mut gap, mut known) = (PathGap::None, usize::MAX);
        while i > 0 && j > 0 {
            if i + j < known {
                // The path enters a block without directions. Only cells up to the current site and
                // symbol are recomputed.
                let index = (i + j - 1) / block;
                known = in_block(index, block).start;
                self.state.restore(known, limits, &self.kept[index]);
                let (sets, state, range) = (&self.sets, &mut self.state, known..i + j + 1);
                let limits = MatrixLimits { sites: i, symbols: j, ..limits };
                let directions = Some((&mut self.directions[..], stride));
                instructions.run(DiagonalSweep::<T, LANES, PARTS> {
                    costs,
                    sets,
                    state,
                    limits,
                    range,
                    directions,
                    ends: None,
                });
            }
            let from = self.directions[(i + j - known) * stride + limits.direction_index(i + j, j)];
            let step = match (gap, from & direction::SOURCE) {
                (PathGap::None, direction::DELETED) => PathGap::Deletion,
                (PathGap::None, direction::INSERTED) => PathGap::Insertion,
                (gap, _) => gap,
            };
            gap = PathGap::None;
            match step {
                PathGap::None => {
                    (i, j) = (i - 1, j - 1);
                    let site = limits.all_sites - 1 - i;
                    let is_match =
                        (0..PARTS).any(|part| self.sets.read[part][j].and(self.sets.sites[part][site]) != T::default());
                    cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                }
                PathGap::Deletion => {
                    i -= 1;
                    cigar.push(1, Op::Deletion);
                    if from & direction::EXTENDS_DELETION != 0 {
                        gap = PathGap::Deletion;
                    }
                }
                PathGap::Insertion => {
                    j -= 1;
                    cigar.push(1, Op::Insertion);
                    if from & direction::EXTENDS_INSERTION != 0 {
                        gap = PathGap::Insertion;
                    }
                }
            }
        }
        cigar.push(j as u32, Op::Insertion);
        cigar.reverse();
        (i as u32, cigar)
    }
}
