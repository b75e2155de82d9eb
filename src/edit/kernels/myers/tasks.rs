//! A batch as the kernels see it: its tasks, in runs of one pattern, and in which run each workgroup begins.

use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::{LaneGrouping, Variant};
use crate::edit::{EditBatch, EditBlock};

/// Blocks that one thread lists at a time.
const BLOCKS_AT_ONCE: usize = 1 << 12;
/// Workgroups whose runs one thread finds at a time.
const WORKGROUPS_AT_ONCE: usize = 1 << 12;

/// A run of pairs of one pattern.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Run {
    /// Its first task.
    pub task: u32,
    /// The place of that.
    pub place: u32,
    /// First word of the pattern's profile.
    pub profile: u32,
    /// Length of the pattern.
    pub pattern_symbols: u32,
}

/// A batch as the kernels see it, but for its places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditTasks {
    /// One a block, and one that begins where the last ends.
    pub runs: Vec<Run>,
    /// The places that runs count from the first of, and what lies between those of two blocks.
    pub places: Range<u32>,
    /// The run of each workgroup's first task, and the last run; of `myers_band` each workgroup's run and first task.
    pub first_runs: Vec<u32>,
    /// Workgroups.
    pub workgroups: u32,
    /// Pairs.
    pub tasks: u32,
    /// Longest pattern.
    pub pattern_symbols: u32,
}

/// What some blocks come to.
#[derive(Clone)]
struct Tally {
    tasks: u32,
    /// Where workgroups share a pattern.
    workgroups: u32,
    pattern_symbols: u32,
    places: Range<u32>,
}

impl Tally {
    const NOTHING: Tally =
        Tally { tasks: 0, workgroups: 0, pattern_symbols: 0, places: Range { start: u32::MAX, end: 0 } };

    fn of(batch: &EditBatch, blocks: &[EditBlock], per_workgroup: u32) -> Self {
        blocks.iter().fold(Self::NOTHING, |mut tally, block| {
            let pairs = block.places.len() as u32;
            let m = batch.chunk.patterns.length(block.pattern);
            let places = if pairs == 0 { Self::NOTHING.places } else { block.places.clone() };
            tally.add(&Tally { tasks: pairs, workgroups: pairs.div_ceil(per_workgroup), pattern_symbols: m, places });
            tally
        })
    }

    fn add(&mut self, other: &Tally) {
        self.tasks += other.tasks;
        self.workgroups += other.workgroups;
        self.pattern_symbols = self.pattern_symbols.max(other.pattern_symbols);
        self.places = self.places.start.min(other.places.start)..self.places.end.max(other.places.end);
    }
}

impl EditTasks {
    /// The tasks of a batch for a kernel. `profile_begins`: first word of every pattern's profile.
    pub fn new(batch: &EditBatch, variant: &Variant, profile_begins: &[u32]) -> Self {
        let mut list = EditTasks::default();
        list.fill(batch, variant, profile_begins);
        list
    }

    /// Becomes [`EditTasks::new`] in the memory that it has, on the threads of the pool that this runs in.
    pub fn fill(&mut self, batch: &EditBatch, variant: &Variant, profile_begins: &[u32]) {
        let (blocks, per_workgroup) = (&batch.blocks, variant.tasks());
        let is_band = variant.grouping == LaneGrouping::Band;
        let parts = blocks.par_chunks(BLOCKS_AT_ONCE).map(|part| Tally::of(batch, part, per_workgroup));
        let parts: Vec<Tally> = parts.collect();
        let mut all = Tally::NOTHING;
        // What comes before each part.
        let before = parts.iter().map(|part| {
            let before = all.clone();
            all.add(part);
            before
        });
        let before: Vec<Tally> = before.collect();
        self.places = if all.tasks == 0 { 0..0 } else { all.places };
        (self.tasks, self.pattern_symbols) = (all.tasks, all.pattern_symbols);
        // What was there before is written over: only what is new is zeroed.
        self.runs.resize(blocks.len() + 1, Run::zeroed());
        self.runs[blocks.len()] = Run { task: all.tasks, ..Run::zeroed() };
        let first_place = self.places.start;
        let own = self.runs[..blocks.len()].par_chunks_mut(BLOCKS_AT_ONCE).zip(blocks.par_chunks(BLOCKS_AT_ONCE));
        own.zip(&before).for_each(|((runs, blocks), before)| {
            let mut task = before.tasks;
            for (run, block) in runs.iter_mut().zip(blocks) {
                let pattern = block.pattern;
                *run = Run {
                    task,
                    place: block.places.start.wrapping_sub(first_place),
                    profile: profile_begins[pattern as usize],
                    pattern_symbols: batch.chunk.patterns.length(pattern),
                };
                task += block.places.len() as u32;
            }
        });
        if is_band {
            self.workgroups = all.workgroups;
            self.share_patterns(&before, per_workgroup);
        } else {
            self.workgroups = all.tasks.div_ceil(per_workgroup);
            self.count_through(per_workgroup);
        }
    }

    /// Workgroups of so many tasks, whatever runs these are of.
    fn count_through(&mut self, per_workgroup: u32) {
        let last = (self.runs.len() - 1).saturating_sub(1);
        self.first_runs.resize(self.workgroups as usize + 1, 0);
        self.first_runs[self.workgroups as usize] = last as u32;
        let runs = &self.runs[..];
        let parts = self.first_runs[..self.workgroups as usize].par_chunks_mut(WORKGROUPS_AT_ONCE).enumerate();
        parts.for_each(|(part, own)| {
            let mut task = (part * WORKGROUPS_AT_ONCE) as u32 * per_workgroup;
            let mut run = run_of(runs, task);
            for first_run in own {
                while runs[run + 1].task <= task {
                    run += 1;
                }
                *first_run = run as u32;
                task += per_workgroup;
            }
        });
    }

    /// Workgroups of tasks of one run each. `before`: what comes before every part of the blocks.
    fn share_patterns(&mut self, before: &[Tally], per_workgroup: u32) {
        self.first_runs.resize(2 * self.workgroups as usize, 0);
        let runs = &self.runs[..];
        let mut rest = self.first_runs.as_mut_slice();
        let mut parts = Vec::with_capacity(before.len());
        for (part, own) in before.iter().enumerate() {
            let end = before.get(part + 1).map_or(self.workgroups, |next| next.workgroups);
            let (own, others) = std::mem::take(&mut rest).split_at_mut(2 * (end - own.workgroups) as usize);
            rest = others;
            parts.push(own);
        }
        parts.into_par_iter().enumerate().for_each(|(part, own)| {
            let mut run = part * BLOCKS_AT_ONCE;
            let mut task = runs[run].task;
            for [own_run, own_task] in own.as_chunks_mut().0 {
                while task >= runs[run + 1].task {
                    run += 1;
                    task = runs[run].task;
                }
                (*own_run, *own_task) = (run as u32, task);
                task += per_workgroup;
            }
        });
    }
}

/// The run that has a task, among those of a list.
pub(crate) fn run_of(runs: &[Run], task: u32) -> usize {
    runs.partition_point(|run| run.task <= task).saturating_sub(1)
}
