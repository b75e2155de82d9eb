//! Two profiles to be aligned as work: what a block, a batch and a report are.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::divided::Divided;
use super::pass::Problem;
use super::path::{Step, joined};
use super::walk::Walk;
use super::{Penalties, Scores};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::error::{Error, Result};
use crate::simd::InstructionSet;

/// Two profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Gap costs of both.
    pub penalties: [Penalties; 2],
    /// What letters score with columns of the first profile: those of its first column first.
    pub scored: Vec<i32>,
    /// How many tenths of columns of the second letters are, in the same order.
    pub tenths: Vec<i32>,
    /// How many letters there are; at least 1.
    pub letters: usize,
}

impl Pair {
    /// Columns of both.
    pub fn columns(&self) -> [usize; 2] {
        [0, 1].map(|side| self.penalties[side].columns())
    }

    /// Cells of the matrix.
    pub fn cells(&self) -> u64 {
        self.columns().iter().map(|&columns| columns as u64).product()
    }

    /// The best alignment, on the pool that this is called in; `None` once it is stopped.
    pub fn path(&self, level: InstructionSet, stopped: &(dyn Fn() -> bool + Sync)) -> Option<Vec<Step>> {
        let scores = Scores::new(&self.scored, &self.tenths, self.letters, level);
        let problem = Problem::new(&self.penalties[0], &self.penalties[1], &scores);
        let path = Walk { problem: &problem, level, stopped }.path();
        // A path that was given up lacks columns.
        (!stopped()).then_some(path)
    }

    /// As above, of what is left of rectangles.
    pub fn rest(
        &self,
        divided: &Divided,
        level: InstructionSet,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Step>> {
        let scores = Scores::sparingly(&self.scored, &self.tenths, self.letters, level);
        let problem = Problem::new(&self.penalties[0], &self.penalties[1], &scores);
        let path = Walk { problem: &problem, level, stopped }.rest(divided);
        (!stopped()).then_some(path)
    }
}

/// What the blocks of a batch share.
pub struct ProfileChunk {
    /// The threads on which the CPU computes. Nobody waits for engines there.
    pub pool: Arc<rayon::ThreadPool>,
    /// The vectors.
    pub level: InstructionSet,
}

impl fmt::Debug for ProfileChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfileChunk").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Two profiles with a number that is the caller's.
#[derive(Debug, Clone)]
pub struct ProfileBlock {
    /// The number.
    pub number: usize,
    /// The profiles.
    pub pair: Arc<Pair>,
}

/// Alignments of profiles.
#[derive(Debug, Clone, Copy)]
pub struct Profile;

/// Profiles that are aligned together.
pub type ProfileBatch = Batch<Profile>;

/// What came of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// The alignment.
    Path(Vec<Step>),
    /// Rectangles that it goes through.
    Divided(Divided),
}

/// What came of a batch.
#[derive(Debug, Clone, Default)]
pub struct ProfileReport {
    /// One a block. What stands for blocks that are not finished has no meaning.
    pub merged: Vec<Merged>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device was busy with kernels, where it can be told.
    pub kernel_time: Option<Duration>,
}

impl BatchReport for ProfileReport {
    fn unfinished(&self) -> &[usize] {
        &self.unfinished
    }

    fn kernel_time(&self) -> Option<Duration> {
        self.kernel_time
    }
}

impl Work for Profile {
    type Chunk = ProfileChunk;
    type Block = ProfileBlock;
    type Class = ();
    type Report = ProfileReport;

    fn pairs(_block: &ProfileBlock) -> u64 {
        1
    }

    fn cells(block: &ProfileBlock) -> u64 {
        block.pair.cells()
    }

    fn first_cells(_chunk: &ProfileChunk, block: &ProfileBlock) -> Option<u64> {
        Some(block.pair.cells())
    }

    fn one_block(_chunk: &ProfileChunk, _store_bytes: u64) -> bool {
        false
    }

    fn split(_chunk: &ProfileChunk, block: ProfileBlock, _portion: Portion) -> (ProfileBlock, Option<ProfileBlock>) {
        (block, None)
    }

    fn check(batch: &ProfileBatch, report: &ProfileReport) -> Result<(), String> {
        let finished = check::finished(batch.blocks.len(), &report.unfinished)?;
        if report.merged.len() != batch.blocks.len() {
            return Err(format!("alignments of {} profiles for {}", report.merged.len(), batch.blocks.len()));
        }
        let found = batch.blocks.iter().zip(&report.merged).zip(finished).filter(|(_, is_finished)| *is_finished);
        for ((block, merged), _) in found {
            let columns = block.pair.columns();
            match merged {
                Merged::Path(path) if joined(path).maps.map(|map| map.len()) == columns => {}
                Merged::Path(_) => return Err(format!("an alignment that is not of {columns:?} columns")),
                Merged::Divided(divided) => divided.check(columns)?,
            }
        }
        Ok(())
    }
}

impl CpuKind for Profile {
    type Scratch = ();

    // One pair of profiles at once, whatever its size.
    const CELLS: u64 = 1;
    const PAIRS: u64 = 1;
    const GROUP_PAIRS: u64 = 1;

    fn compute(batch: &ProfileBatch, _scratch: &mut (), interrupt: &AtomicBool) -> Result<ProfileReport> {
        let begin = Instant::now();
        let chunk = &batch.chunk;
        let stopped = || interrupt.load(Ordering::Relaxed);
        let mut merged = Vec::with_capacity(batch.blocks.len());
        for block in &batch.blocks {
            let path = chunk.pool.install(|| block.pair.path(chunk.level, &stopped));
            merged.push(Merged::Path(path.ok_or(Error::Interrupted)?));
        }
        Ok(ProfileReport { merged, unfinished: Vec::new(), kernel_time: Some(begin.elapsed()) })
    }
}
