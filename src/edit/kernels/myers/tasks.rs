//! Task list of a batch: runs of one pattern each, and the first run of each workgroup.

use std::ops::Range;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::EditVariant;
use crate::edit::{EditBatch, EditBlock};

/// Number of blocks that one thread processes at a time.
const BLOCKS_AT_ONCE: usize = 1 << 12;
/// Number of workgroups whose runs one thread finds at a time.
const WORKGROUPS_AT_ONCE: usize = 1 << 12;

/// Consecutive pairs of one pattern.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PatternRun {
    /// First task of the run.
    pub task: u32,
    /// Index of the first task's region.
    pub region: u32,
    /// Index of the first u32 of the pattern's profile.
    pub profile: u32,
    /// Length of the pattern in symbols.
    pub pattern_symbols: u32,
}

/// A batch in the layout of the kernels, without its regions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditTasks {
    /// One run per block, and a final run that starts at the end of the last.
    pub runs: Vec<PatternRun>,
    /// Range of regions of all blocks. Regions of runs are relative to its start.
    pub regions: Range<u32>,
    /// For each workgroup, the run of its first task, followed by the last run. For kernels whose
    /// workgroups share a pattern, the run and the first task of each workgroup.
    pub first_runs: Vec<u32>,
    /// Number of workgroups.
    pub workgroups: u32,
    /// Number of pairs.
    pub tasks: u32,
    /// Length of the longest pattern in symbols.
    pub pattern_symbols: u32,
}

/// Totals of some blocks.
#[derive(Clone)]
struct BlockTally {
    tasks: u32,
    /// Number of workgroups, if each has pairs of one pattern only.
    workgroups: u32,
    pattern_symbols: u32,
    regions: Range<u32>,
}

impl BlockTally {
    const NOTHING: BlockTally =
        BlockTally { tasks: 0, workgroups: 0, pattern_symbols: 0, regions: Range { start: u32::MAX, end: 0 } };

    fn from_blocks(batch: &EditBatch, blocks: &[EditBlock], per_workgroup: u32) -> Self {
        blocks.iter().fold(Self::NOTHING, |mut tally, block| {
            let pairs = block.regions.len() as u32;
            let m = batch.chunk.patterns.length(block.pattern);
            let regions = if pairs == 0 { Self::NOTHING.regions } else { block.regions.clone() };
            tally.add(&BlockTally {
                tasks: pairs,
                workgroups: pairs.div_ceil(per_workgroup),
                pattern_symbols: m,
                regions,
            });
            tally
        })
    }

    fn add(&mut self, other: &BlockTally) {
        self.tasks += other.tasks;
        self.workgroups += other.workgroups;
        self.pattern_symbols = self.pattern_symbols.max(other.pattern_symbols);
        self.regions = self.regions.start.min(other.regions.start)..self.regions.end.max(other.regions.end);
    }
}

impl EditTasks {
    /// Builds the task list of a batch for a kernel. `profile_begins` has the index of the first
    /// u32 of every pattern's profile.
    pub fn new(batch: &EditBatch, variant: &EditVariant, profile_begins: &[u32]) -> Self {
        let mut list = EditTasks::default();
        list.fill(batch, variant, profile_begins);
        list
    }

    /// Rebuilds the list as [`EditTasks::new`] does, but reuses its memory. Runs on the threads of
    /// the current pool.
    pub fn fill(&mut self, batch: &EditBatch, variant: &EditVariant, profile_begins: &[u32]) {
        let (blocks, per_workgroup) = (&batch.blocks, variant.tasks());
        let parts = blocks.par_chunks(BLOCKS_AT_ONCE).map(|part| BlockTally::from_blocks(batch, part, per_workgroup));
        let parts: Vec<BlockTally> = parts.collect();
        let mut all = BlockTally::NOTHING;
        // Totals of all parts before each part.
        let before = parts.iter().map(|part| {
            let before = all.clone();
            all.add(part);
            before
        });
        let before: Vec<BlockTally> = before.collect();
        self.regions = if all.tasks == 0 { 0..0 } else { all.regions };
        (self.tasks, self.pattern_symbols) = (all.tasks, all.pattern_symbols);
        // Existing entries are overwritten, so only new ones are zeroed.
        self.runs.resize(blocks.len() + 1, PatternRun::zeroed());
        self.runs[blocks.len()] = PatternRun { task: all.tasks, ..PatternRun::zeroed() };
        let first_place = self.regions.start;
        let part = self.runs[..blocks.len()].par_chunks_mut(BLOCKS_AT_ONCE).zip(blocks.par_chunks(BLOCKS_AT_ONCE));
        part.zip(&before).for_each(|((runs, blocks), before)| {
            let mut task = before.tasks;
            for (run, block) in runs.iter_mut().zip(blocks) {
                let pattern = block.pattern;
                *run = PatternRun {
                    task,
                    region: block.regions.start.wrapping_sub(first_place),
                    profile: profile_begins[pattern as usize],
                    pattern_symbols: batch.chunk.patterns.length(pattern),
                };
                task += block.regions.len() as u32;
            }
        });
        if variant.grouping.shares_pattern() {
            self.workgroups = all.workgroups;
            self.share_patterns(&before, per_workgroup);
        } else {
            self.workgroups = all.tasks.div_ceil(per_workgroup);
            self.count_through(per_workgroup);
        }
    }

    /// Assigns `per_workgroup` consecutive tasks to each workgroup, regardless of runs.
    fn count_through(&mut self, per_workgroup: u32) {
        let last = (self.runs.len() - 1).saturating_sub(1);
        self.first_runs.resize(self.workgroups as usize + 1, 0);
        self.first_runs[self.workgroups as usize] = last as u32;
        let runs = &self.runs[..];
        let parts = self.first_runs[..self.workgroups as usize].par_chunks_mut(WORKGROUPS_AT_ONCE).enumerate();
        parts.for_each(|(part, first_runs)| {
            let mut task = (part * WORKGROUPS_AT_ONCE) as u32 * per_workgroup;
            let mut run = run_of(runs, task);
            for first_run in first_runs {
                while runs[run + 1].task <= task {
                    run += 1;
                }
                *first_run = run as u32;
                task += per_workgroup;
            }
        });
    }

    /// Assigns tasks of a single run to each workgroup. `before` contains the totals of the blocks
    /// before every part.
    fn share_patterns(&mut self, before: &[BlockTally], per_workgroup: u32) {
        self.first_runs.resize(2 * self.workgroups as usize, 0);
        let runs = &self.runs[..];
        let mut rest = self.first_runs.as_mut_slice();
        let mut parts = Vec::with_capacity(before.len());
        for (part, tally) in before.iter().enumerate() {
            let end = before.get(part + 1).map_or(self.workgroups, |next| next.workgroups);
            let (first_runs, others) = std::mem::take(&mut rest).split_at_mut(2 * (end - tally.workgroups) as usize);
            rest = others;
            parts.push(first_runs);
        }
        parts.into_par_iter().enumerate().for_each(|(part, first_runs)| {
            let mut run = part * BLOCKS_AT_ONCE;
            let mut task = runs[run].task;
            for [own_run, own_task] in first_runs.as_chunks_mut().0 {
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

/// Returns the run that contains a task.
pub(crate) fn run_of(runs: &[PatternRun], task: u32) -> usize {
    runs.partition_point(|run| run.task <= task).saturating_sub(1)
}
