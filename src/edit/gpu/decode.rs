//! Decoding of a kernel's output: results of all pairs, or of the listed pairs.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;

use crate::edit::check::Possible;
use crate::edit::kernels::myers::{EditTasks, EditVariant, LaneGrouping, POSITION_BITS, PatternRun, run_of};
use crate::edit::{EditBatch, EditChunk, GROUP_PAIRS};
use crate::engine::buffer_pool::PooledVec;
use crate::score::{EditDistance, EditMode, EditScheme};

/// Number of listed pairs that one thread decodes at a time.
const LISTED_AT_ONCE: usize = 1 << 10;

/// The batch that the results belong to.
#[derive(Clone, Copy)]
pub(super) struct EditDecoder<'a> {
    pub(super) batch: &'a EditBatch,
    pub(super) tasks: &'a EditTasks,
    /// Variant that computed the results.
    pub(super) variant: EditVariant,
    /// Number of symbols of every text, if all have the same length.
    pub(super) text_symbols: Option<u32>,
}

/// The format of a pair's result.
#[derive(Clone, Copy)]
enum ResultFormat {
    /// A distance of whole sequences.
    Whole,
    /// A distance without an end.
    NoEnd,
    /// A distance in the upper bits, and an end in the lower bits.
    Packed,
    /// A distance, followed by an end.
    Both,
}

impl ResultFormat {
    fn for_variant(variant: &EditVariant) -> Self {
        match (variant.grouping, variant.mode) {
            (LaneGrouping::Thread | LaneGrouping::Band, EditMode::Global) => ResultFormat::Whole,
            (_, EditMode::Overlap(_)) => ResultFormat::NoEnd,
            (grouping, _) if grouping.divides_pairs() => ResultFormat::Both,
            _ => ResultFormat::Packed,
        }
    }

    /// Reads a result for a text of `n` symbols.
    #[inline(always)]
    fn read(self, [word, next]: [u32; 2], n: u32) -> EditDistance {
        match self {
            ResultFormat::Whole => EditDistance { distance: word, end: n },
            ResultFormat::NoEnd => EditDistance { distance: word, end: 0 },
            ResultFormat::Packed => {
                EditDistance { distance: word >> POSITION_BITS, end: word & ((1 << POSITION_BITS) - 1) }
            }
            ResultFormat::Both => EditDistance { distance: word, end: next },
        }
    }
}

/// Values that all pairs with the same two lengths share.
#[derive(Clone, Copy)]
struct PairLengths {
    pattern_symbols: u32,
    text_symbols: u32,
    trivial: Option<EditDistance>,
    limit: u32,
    possible: Possible,
}

impl PairLengths {
    fn new(scheme: &EditScheme, m: u32, n: u32) -> Self {
        let limit = scheme.limit(m, n);
        PairLengths {
            pattern_symbols: m,
            text_symbols: n,
            trivial: scheme.trivial(m, n),
            limit,
            possible: Possible::for_lengths(scheme, m, n),
        }
    }
}

/// Number of pairs of one pattern that are checked together for texts of equal length.
const PAIRS_CHECKED_TOGETHER: usize = 64;
/// Number of text lengths in the cache.
const CACHED_LENGTHS: usize = 64;

/// A cache of [`PairLengths`]. It is effective because regions of one kind differ by a few symbols
/// in length.
struct LengthCache<'a> {
    scheme: &'a EditScheme,
    known: [PairLengths; CACHED_LENGTHS],
}

impl<'a> LengthCache<'a> {
    fn new(scheme: &'a EditScheme) -> Self {
        LengthCache { scheme, known: [PairLengths::new(scheme, 0, 0); CACHED_LENGTHS] }
    }

    #[inline]
    fn get(&mut self, m: u32, n: u32) -> &PairLengths {
        let known = &mut self.known[n as usize % CACHED_LENGTHS];
        if known.pattern_symbols != m || known.text_symbols != n {
            *known = PairLengths::new(self.scheme, m, n);
        }
        known
    }
}

impl EditDecoder<'_> {
    fn pairs(&self) -> usize {
        self.tasks.tasks as usize
    }

    /// Decodes the results of all pairs, in the order of the pairs, into the memory of `distances`.
    /// Returns `None` if a result is impossible.
    pub(super) fn decode_all(
        &self,
        words: &[u32],
        distances: PooledVec<EditDistance>,
    ) -> Option<PooledVec<EditDistance>> {
        // Select the format outside of the loops.
        match (ResultFormat::for_variant(&self.variant), self.variant.output_words()) {
            (ResultFormat::Whole, _) => {
                self.decode_each::<1>(words, distances, |[word], n| ResultFormat::Whole.read([word, 0], n))
            }
            (ResultFormat::Packed, _) => {
                self.decode_each::<1>(words, distances, |[word], n| ResultFormat::Packed.read([word, 0], n))
            }
            (ResultFormat::NoEnd, 1) => {
                self.decode_each::<1>(words, distances, |[word], n| ResultFormat::NoEnd.read([word, 0], n))
            }
            (ResultFormat::NoEnd, _) => {
                self.decode_each::<2>(words, distances, |both, n| ResultFormat::NoEnd.read(both, n))
            }
            (ResultFormat::Both, _) => {
                self.decode_each::<2>(words, distances, |both, n| ResultFormat::Both.read(both, n))
            }
        }
    }

    fn decode_each<const WORDS: usize>(
        &self,
        words: &[u32],
        mut distances: PooledVec<EditDistance>,
        read: impl Fn([u32; WORDS], u32) -> EditDistance + Sync,
    ) -> Option<PooledVec<EditDistance>> {
        let pairs = self.pairs();
        let results = words.as_chunks::<WORDS>().0.get(..pairs)?;
        distances.clear();
        distances.reserve(pairs);
        let room = &mut distances.spare_capacity_mut()[..pairs];
        let at_once = if self.text_symbols.is_some() { pairs } else { PAIRS_CHECKED_TOGETHER };
        // Pieces have equal size, because a block may have most of the pairs or only one.
        let pieces = room.par_chunks_mut(GROUP_PAIRS).zip(results.par_chunks(GROUP_PAIRS)).enumerate();
        let are_possible = pieces.map(|(piece, (room, results))| {
            let mut results = results;
            let (mut room, mut task) = (room, piece * GROUP_PAIRS);
            let mut run = run_of(&self.tasks.runs, task as u32);
            let mut cache = LengthCache::new(&self.batch.chunk.scheme);
            let mut are_possible = true;
            while !results.is_empty() {
                let end = self.tasks.runs[run + 1].task as usize;
                let count = (end - task).min(results.len()).min(at_once);
                let (part_results, later) = results.split_at(count);
                let (part_space, later_room) = std::mem::take(&mut room).split_at_mut(count);
                are_possible &=
                    self.run(self.tasks.runs[run], task as u32, part_results, part_space, &mut cache, &read);
                (results, room, task) = (later, later_room, task + count);
                run += usize::from(task == end);
            }
            are_possible
        });
        if !are_possible.reduce(|| true, |a, b| a & b) {
            return None;
        }
        // SAFETY: the pieces cover the space for all pairs, and each has written a result for every
        // pair of its own.
        unsafe { distances.set_len(pairs) };
        Some(distances)
    }

    /// Decodes the results of tasks of one run, starting with `task`. Returns whether all of them
    /// are possible.
    #[inline]
    fn run<const WORDS: usize>(
        &self,
        run: PatternRun,
        task: u32,
        results: &[[u32; WORDS]],
        room: &mut [MaybeUninit<EditDistance>],
        cache: &mut LengthCache<'_>,
        read: &impl Fn([u32; WORDS], u32) -> EditDistance,
    ) -> bool {
        if results.is_empty() {
            return true;
        }
        let (chunk, m) = (&self.batch.chunk, run.pattern_symbols);
        let first = self.tasks.regions.start + run.region + (task - run.task);
        let mut are_possible = true;
        let all = room.iter_mut().zip(results);
        // A few regions of another length, at the ends of a genome, must not slow down the decoding
        // of all other regions.
        if let Some(n) = self.text_symbols.or_else(|| one_length(chunk, first..first + results.len() as u32)) {
            let PairLengths { trivial, limit, possible, .. } = *cache.get(m, n);
            if let Some(distances) = trivial {
                all.for_each(|(room, _)| _ = room.write(distances));
                return possible.has(distances);
            }
            for (room, &result) in all {
                let distances = read(result, n).within(limit);
                room.write(distances);
                are_possible &= possible.has(distances);
            }
            return are_possible;
        }
        for ((room, &result), region_index) in all.zip(first..) {
            let n = chunk.region(region_index).symbols();
            let PairLengths { trivial, limit, possible, .. } = cache.get(m, n);
            let distances = trivial.unwrap_or_else(|| read(result, n).within(*limit));
            room.write(distances);
            are_possible &= possible.has(distances);
        }
        are_possible
    }

    /// Decodes the results of the pairs that a kernel listed, in any order. Returns the pairs
    /// within their limits by increasing number, or `None` if a number or a distance is impossible.
    pub(super) fn listed(&self, words: &[u32]) -> Option<Vec<(u32, EditDistance)>> {
        // An entry has the number of a pair and at most two u32 values of output.
        let read = |entry: &[u32]| (entry[0], [entry[1], entry.get(2).copied().unwrap_or(0)]);
        let entries = words.par_chunks_exact(self.variant.list_words() as usize);
        let mut listed: Vec<(u32, [u32; 2])> = entries.map(read).collect();
        listed.par_sort_unstable();
        let is_rising = listed.is_sorted_by(|(one, _), (next, _)| one < next);
        if !is_rising || listed.last().is_some_and(|&(pair, _)| pair as usize >= self.pairs()) {
            return None;
        }
        let (chunk, scheme, format) =
            (&self.batch.chunk, &*self.batch.chunk.scheme, ResultFormat::for_variant(&self.variant));
        let parts = listed.par_chunks(LISTED_AT_ONCE).map(|part| {
            let mut run = part.first().map_or(0, |&(pair, _)| run_of(&self.tasks.runs, pair));
            let mut part_results = Vec::with_capacity(part.len());
            for &(pair, output) in part {
                while self.tasks.runs[run + 1].task <= pair {
                    run += 1;
                }
                let PatternRun { task, region, pattern_symbols: m, .. } = self.tasks.runs[run];
                let region_index = self.tasks.regions.start + region + (pair - task);
                let n = self.text_symbols.unwrap_or_else(|| chunk.region(region_index).symbols());
                let distances = format.read(output, n).within(scheme.limit(m, n));
                if distances.is_some() {
                    part_results.push((pair, distances));
                    if !Possible::for_lengths(scheme, m, n).has(distances) {
                        return None;
                    }
                }
            }
            Some(part_results)
        });
        let parts: Option<Vec<Vec<(u32, EditDistance)>>> = parts.collect();
        Some(parts?.concat())
    }
}

/// Returns the number of symbols of the texts in these regions, if all have the same length.
fn one_length(chunk: &EditChunk, mut regions: Range<u32>) -> Option<u32> {
    let n = chunk.region(regions.start).symbols();
    regions.all(|region_index| chunk.region(region_index).symbols() == n).then_some(n)
}

#[cfg(test)]
mod tests;
