//! All of one alignment: the first pass, its end, and the way back.

use std::ops::Range;

use crate::alignment::{Cigar, Op};
use crate::score::PhyloScheme;
use crate::seq::Code;
use crate::simd::InstructionSet;

use super::super::vectors::{Cells, OCTET, Site, Vectors, decode, set_bits, set_of};
use super::diagonals::{Diagonals, Ends, Limits, Number, Numbers, Sets, State, direction};

/// The fewest diagonals of a block.
const MIN_BLOCK: usize = 128;

/// Memory for alignments in one kind of numbers.
#[derive(Debug, Default)]
pub(super) struct Pass<T, const LANES: usize> {
    sets: Sets<T>,
    state: State<T>,
    /// The cells that each block depends on, block by block.
    kept: Vec<Vec<T>>,
    directions: Vec<u8>,
}

/// Whether all numbers of an alignment of so many symbols are far enough from what such a number cannot hold.
pub(super) fn fits<T: Number>(symbols: usize, scheme: &PhyloScheme) -> bool {
    let one = |number: i32| i64::from(number).abs();
    let step = one(scheme.matching).max(one(scheme.mismatch)) + one(scheme.gap_site) + one(scheme.deletion.first);
    let lowest = scheme.insertion.cost(symbols as u64 + 1) + step;
    let highest = symbols as i64 * i64::from(scheme.matching.max(0)) + step;
    lowest.max(highest) <= T::FARTHEST
}

/// A cell of the matrix.
#[derive(Clone, Copy)]
struct Cell {
    /// Sites up to it.
    i: usize,
    /// Symbols up to it.
    j: usize,
}

/// What a path is in.
#[derive(Clone, Copy)]
enum Inside {
    Nothing,
    Deletion,
    Insertion,
}

/// Diagonals of a block.
fn in_block(index: usize, block: usize) -> Range<usize> {
    1 + index * block..1 + (index + 1) * block
}

impl<T: Number, const LANES: usize> Pass<T, LANES> {
    /// Score, first site and columns.
    pub(super) fn align(
        &mut self,
        level: InstructionSet,
        read: &[Code],
        vectors: &Vectors,
        vector: u32,
        scheme: &PhyloScheme,
    ) -> (i64, u32, Cigar) {
        self.prepare(read, vectors, vector, scheme);
        let numbers = Numbers::of(scheme);
        if set_bits(vectors.alphabet()) > T::SET_BITS {
            self.found::<2>(level, read.len(), vectors.sites() as usize, numbers, scheme)
        } else {
            self.found::<1>(level, read.len(), vectors.sites() as usize, numbers, scheme)
        }
    }

    /// Sets as kernels read them.
    fn prepare(&mut self, read: &[Code], vectors: &Vectors, vector: u32, scheme: &PhyloScheme) {
        let (alphabet, count) = (vectors.alphabet(), vectors.sites() as usize);
        let low = (1 << T::SET_BITS) - 1;
        let parts = |set: u32| [set & low, set >> T::SET_BITS].map(|bits| T::from_number(bits.into()));
        let Sets { read: symbols, sites, charged, penalty } = &mut self.sets;
        for own in symbols.iter_mut() {
            own.clear();
            own.resize(read.len() + LANES, T::default());
        }
        for (place, &code) in read.iter().enumerate() {
            let of_code = parts(set_of(alphabet, code));
            symbols.iter_mut().zip(of_code).for_each(|(own, bits)| own[place] = bits);
        }
        for own in sites.iter_mut().chain([&mut *charged, &mut *penalty]) {
            own.clear();
            own.resize(count + LANES, T::default());
        }
        let mut put = |index: usize, bits: u32| {
            let (place, site) = (count - 1 - index, decode(alphabet, bits));
            let Site { set, is_penalised, is_free } = site;
            sites.iter_mut().zip(parts(set)).for_each(|(own, bits)| own[place] = bits);
            charged[place] = if is_free { T::default() } else { T::ONES };
            penalty[place] = if is_penalised { T::from_number(scheme.gap_site.into()) } else { T::default() };
        };
        let first = vectors.place(vector, 0);
        match vectors.cells() {
            Cells::Bytes(bytes) => (0..count).for_each(|index| put(index, bytes[first + index * OCTET].into())),
            Cells::Words(words) => (0..count).for_each(|index| put(index, words[first + index * OCTET])),
        }
    }

    fn found<const PARTS: usize>(
        &mut self,
        level: InstructionSet,
        symbols: usize,
        sites: usize,
        numbers: Numbers<T>,
        scheme: &PhyloScheme,
    ) -> (i64, u32, Cigar) {
        let limits = Limits { sites, symbols, all_sites: sites };
        let block = MIN_BLOCK.max(2 * (sites + symbols).isqrt());
        let blocks = (sites + symbols).div_ceil(block);
        if self.kept.len() < blocks {
            self.kept.resize_with(blocks, Vec::new);
        }
        self.state.begin(symbols, LANES);
        let mut ends = Ends::none();
        ends.look(&self.state, 0, limits);
        for (index, kept) in self.kept.iter_mut().enumerate().take(blocks) {
            let own = in_block(index, block);
            kept.clear();
            self.state.save(own.start, limits, kept);
            let (sets, state, range) = (&self.sets, &mut self.state, own.start..own.end.min(sites + symbols + 1));
            let ends = Some(&mut ends);
            level.run(Diagonals::<T, LANES, PARTS> { numbers, sets, state, limits, range, directions: None, ends });
        }
        let Ends { last_symbol, last_site } = ends;
        // Of the last site all but the last symbol's cell come before those of the last symbol.
        if scheme.free_read_ends && last_site.0 >= last_symbol.0 {
            let end = Cell { i: sites, j: last_site.1 - sites };
            let (first_site, cigar) = self.back::<PARTS>(level, limits, end, numbers, block);
            (last_site.0.wide(), first_site, cigar)
        } else {
            let end = Cell { i: last_symbol.1 - symbols, j: symbols };
            let (first_site, cigar) = self.back::<PARTS>(level, limits, end, numbers, block);
            (last_symbol.0.wide(), first_site, cigar)
        }
    }

    /// The path to a cell: its first site and its columns.
    fn back<const PARTS: usize>(
        &mut self,
        level: InstructionSet,
        limits: Limits,
        end: Cell,
        numbers: Numbers<T>,
        block: usize,
    ) -> (u32, Cigar) {
        let Cell { mut i, mut j } = end;
        let stride = Limits { symbols: j, ..limits }.width() + LANES;
        if self.directions.len() < block * stride {
            self.directions.resize(block * stride, 0);
        }
        let mut cigar = Cigar::new();
        cigar.push((limits.symbols - j) as u32, Op::Insertion);
        let (mut inside, mut known) = (Inside::Nothing, usize::MAX);
        while i > 0 && j > 0 {
            if i + j < known {
                // The path's cell is in an earlier block; of which only cells before that one matter.
                let index = (i + j - 1) / block;
                known = in_block(index, block).start;
                self.state.restore(known, limits, &self.kept[index]);
                let (sets, state, range) = (&self.sets, &mut self.state, known..i + j + 1);
                let limits = Limits { sites: i, symbols: j, ..limits };
                let directions = Some((&mut self.directions[..], stride));
                level.run(Diagonals::<T, LANES, PARTS> { numbers, sets, state, limits, range, directions, ends: None });
            }
            let from = self.directions[(i + j - known) * stride + limits.place(i + j, j)];
            let step = match (inside, from & direction::SOURCE) {
                (Inside::Nothing, direction::DELETED) => Inside::Deletion,
                (Inside::Nothing, direction::INSERTED) => Inside::Insertion,
                (inside, _) => inside,
            };
            inside = Inside::Nothing;
            match step {
                Inside::Nothing => {
                    (i, j) = (i - 1, j - 1);
                    let site = limits.all_sites - 1 - i;
                    let is_match =
                        (0..PARTS).any(|part| self.sets.read[part][j].and(self.sets.sites[part][site]) != T::default());
                    cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                }
                Inside::Deletion => {
                    i -= 1;
                    cigar.push(1, Op::Deletion);
                    if from & direction::EXTENDS_DELETION != 0 {
                        inside = Inside::Deletion;
                    }
                }
                Inside::Insertion => {
                    j -= 1;
                    cigar.push(1, Op::Insertion);
                    if from & direction::EXTENDS_INSERTION != 0 {
                        inside = Inside::Insertion;
                    }
                }
            }
        }
        cigar.push(j as u32, Op::Insertion);
        cigar.reverse();
        (i as u32, cigar)
    }
}
