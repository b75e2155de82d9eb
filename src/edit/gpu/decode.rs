//! What a kernel wrote, as distances: of all pairs, or of those that it listed.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::prelude::*;

use crate::edit::check::Possible;
use crate::edit::kernels::myers::{EditTasks, LaneGrouping, POSITION_BITS, Run, Variant, run_of};
use crate::edit::{EditBatch, EditChunk, GROUP_PAIRS};
use crate::engine::buffer_pool::PooledVec;
use crate::score::{EditDistance, EditMode, EditScheme};

/// Pairs of a list that one thread decodes at a time.
const LISTED_AT_ONCE: usize = 1 << 10;

/// What results are of.
#[derive(Clone, Copy)]
pub(super) struct Decoder<'a> {
    pub(super) batch: &'a EditBatch,
    pub(super) tasks: &'a EditTasks,
    /// What computed them.
    pub(super) variant: Variant,
    /// Symbols of every text, if all have as many.
    pub(super) text_symbols: Option<u32>,
}

/// What the words of a pair's result say.
#[derive(Clone, Copy)]
enum Form {
    /// The distance of wholes.
    Whole,
    /// A distance without an end.
    NoEnd,
    /// A distance and, in the bits below it, an end.
    Packed,
    /// A distance, then an end.
    Both,
}

impl Form {
    fn of(variant: &Variant) -> Self {
        match (variant.grouping, variant.mode) {
            (LaneGrouping::Thread | LaneGrouping::Band, EditMode::Global) => Form::Whole,
            (_, EditMode::Overlap(_)) => Form::NoEnd,
            (LaneGrouping::Thread, _) => Form::Packed,
            _ => Form::Both,
        }
    }

    /// What was found in a text of `n` symbols.
    #[inline(always)]
    fn read(self, [word, next]: [u32; 2], n: u32) -> EditDistance {
        match self {
            Form::Whole => EditDistance { distance: word, end: n },
            Form::NoEnd => EditDistance { distance: word, end: 0 },
            Form::Packed => EditDistance { distance: word >> POSITION_BITS, end: word & ((1 << POSITION_BITS) - 1) },
            Form::Both => EditDistance { distance: word, end: next },
        }
    }
}

/// What pairs of two lengths have in common.
#[derive(Clone, Copy)]
struct Lengths {
    pattern_symbols: u32,
    text_symbols: u32,
    trivial: Option<EditDistance>,
    limit: u32,
    possible: Possible,
}

impl Lengths {
    fn of(scheme: &EditScheme, m: u32, n: u32) -> Self {
        let limit = scheme.limit(m, n);
        Lengths {
            pattern_symbols: m,
            text_symbols: n,
            trivial: scheme.trivial(m, n),
            limit,
            possible: Possible::of(scheme, m, n),
        }
    }
}

/// Pairs of one pattern that are looked at together for whether their texts have one length.
const ALIKE_AT_ONCE: usize = 64;
/// Lengths of texts that are remembered.
const REMEMBERED: usize = 64;

/// What was said of lengths before: regions of one kind differ by a few symbols.
struct Memory<'a> {
    scheme: &'a EditScheme,
    known: [Lengths; REMEMBERED],
}

impl<'a> Memory<'a> {
    fn new(scheme: &'a EditScheme) -> Self {
        Memory { scheme, known: [Lengths::of(scheme, 0, 0); REMEMBERED] }
    }

    #[inline]
    fn of(&mut self, m: u32, n: u32) -> &Lengths {
        let known = &mut self.known[n as usize % REMEMBERED];
        if known.pattern_symbols != m || known.text_symbols != n {
            *known = Lengths::of(self.scheme, m, n);
        }
        known
    }
}

impl Decoder<'_> {
    fn pairs(&self) -> usize {
        self.tasks.tasks as usize
    }

    /// Results of all pairs, in their order, in the memory of `found`. `None` if one cannot be.
    pub(super) fn each(&self, words: &[u32], found: PooledVec<EditDistance>) -> Option<PooledVec<EditDistance>> {
        // Which form it is decides outside of the loops.
        match (Form::of(&self.variant), self.variant.output_words()) {
            (Form::Whole, _) => self.each_of::<1>(words, found, |[word], n| Form::Whole.read([word, 0], n)),
            (Form::Packed, _) => self.each_of::<1>(words, found, |[word], n| Form::Packed.read([word, 0], n)),
            (Form::NoEnd, 1) => self.each_of::<1>(words, found, |[word], n| Form::NoEnd.read([word, 0], n)),
            (Form::NoEnd, _) => self.each_of::<2>(words, found, |both, n| Form::NoEnd.read(both, n)),
            (Form::Both, _) => self.each_of::<2>(words, found, |both, n| Form::Both.read(both, n)),
        }
    }

    fn each_of<const WORDS: usize>(
        &self,
        words: &[u32],
        mut found: PooledVec<EditDistance>,
        read: impl Fn([u32; WORDS], u32) -> EditDistance + Sync,
    ) -> Option<PooledVec<EditDistance>> {
        let pairs = self.pairs();
        let results = words.as_chunks::<WORDS>().0.get(..pairs)?;
        found.clear();
        found.reserve(pairs);
        let room = &mut found.spare_capacity_mut()[..pairs];
        let at_once = if self.text_symbols.is_some() { pairs } else { ALIKE_AT_ONCE };
        // Pieces of equal size: a block may have most of the pairs, or one.
        let pieces = room.par_chunks_mut(GROUP_PAIRS).zip(results.par_chunks(GROUP_PAIRS)).enumerate();
        let are_possible = pieces.map(|(piece, (room, results))| {
            let mut results = results;
            let (mut room, mut task) = (room, piece * GROUP_PAIRS);
            let mut run = run_of(&self.tasks.runs, task as u32);
            let mut memory = Memory::new(&self.batch.chunk.scheme);
            let mut are_possible = true;
            while !results.is_empty() {
                let end = self.tasks.runs[run + 1].task as usize;
                let count = (end - task).min(results.len()).min(at_once);
                let (own, later) = results.split_at(count);
                let (own_room, later_room) = std::mem::take(&mut room).split_at_mut(count);
                are_possible &= self.run(self.tasks.runs[run], task as u32, own, own_room, &mut memory, &read);
                (results, room, task) = (later, later_room, task + count);
                run += usize::from(task == end);
            }
            are_possible
        });
        if !are_possible.reduce(|| true, |a, b| a & b) {
            return None;
        }
        // SAFETY: the pieces cover the room for all pairs, and each wrote a result for every pair of its own.
        unsafe { found.set_len(pairs) };
        Some(found)
    }

    /// Results of tasks of one run, of which `task` is the first. Whether all of them can be.
    #[inline]
    fn run<const WORDS: usize>(
        &self,
        run: Run,
        task: u32,
        results: &[[u32; WORDS]],
        room: &mut [MaybeUninit<EditDistance>],
        memory: &mut Memory<'_>,
        read: &impl Fn([u32; WORDS], u32) -> EditDistance,
    ) -> bool {
        if results.is_empty() {
            return true;
        }
        let (chunk, m) = (&self.batch.chunk, run.pattern_symbols);
        let first = self.tasks.places.start + run.place + (task - run.task);
        let mut are_possible = true;
        let all = room.iter_mut().zip(results);
        // A few regions of another length, at the ends of a genome, should not make all others slow.
        if let Some(n) = self.text_symbols.or_else(|| one_length(chunk, first..first + results.len() as u32)) {
            let Lengths { trivial, limit, possible, .. } = *memory.of(m, n);
            if let Some(found) = trivial {
                all.for_each(|(room, _)| _ = room.write(found));
                return possible.has(found);
            }
            for (room, &result) in all {
                let found = read(result, n).within(limit);
                room.write(found);
                are_possible &= possible.has(found);
            }
            return are_possible;
        }
        for ((room, &result), place) in all.zip(first..) {
            let n = chunk.region(place).symbols();
            let Lengths { trivial, limit, possible, .. } = memory.of(m, n);
            let found = trivial.unwrap_or_else(|| read(result, n).within(*limit));
            room.write(found);
            are_possible &= possible.has(found);
        }
        are_possible
    }

    /// Results of the pairs that a kernel listed, in any order: those within their limits, by their number. `None` if a number
    /// or a distance cannot be.
    pub(super) fn listed(&self, words: &[u32]) -> Option<Vec<(u32, EditDistance)>> {
        // A pair's number and two words of output at most.
        let read = |entry: &[u32]| (entry[0], [entry[1], entry.get(2).copied().unwrap_or(0)]);
        let entries = words.par_chunks_exact(self.variant.list_words() as usize);
        let mut listed: Vec<(u32, [u32; 2])> = entries.map(read).collect();
        listed.par_sort_unstable();
        let is_rising = listed.is_sorted_by(|(one, _), (next, _)| one < next);
        if !is_rising || listed.last().is_some_and(|&(pair, _)| pair as usize >= self.pairs()) {
            return None;
        }
        let (chunk, scheme, form) = (&self.batch.chunk, &*self.batch.chunk.scheme, Form::of(&self.variant));
        let parts = listed.par_chunks(LISTED_AT_ONCE).map(|part| {
            let mut run = part.first().map_or(0, |&(pair, _)| run_of(&self.tasks.runs, pair));
            let mut own = Vec::with_capacity(part.len());
            for &(pair, output) in part {
                while self.tasks.runs[run + 1].task <= pair {
                    run += 1;
                }
                let Run { task, place, pattern_symbols: m, .. } = self.tasks.runs[run];
                let place = self.tasks.places.start + place + (pair - task);
                let n = self.text_symbols.unwrap_or_else(|| chunk.region(place).symbols());
                let found = form.read(output, n).within(scheme.limit(m, n));
                if found.is_some() {
                    own.push((pair, found));
                    if !Possible::of(scheme, m, n).has(found) {
                        return None;
                    }
                }
            }
            Some(own)
        });
        let parts: Option<Vec<Vec<(u32, EditDistance)>>> = parts.collect();
        Some(parts?.concat())
    }
}

/// Symbols of the texts at these places, if all have as many.
fn one_length(chunk: &EditChunk, mut places: Range<u32>) -> Option<u32> {
    let n = chunk.region(places.start).symbols();
    places.all(|place| chunk.region(place).symbols() == n).then_some(n)
}

#[cfg(test)]
mod tests;
