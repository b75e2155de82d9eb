//! Chunks, blocks, batches and reports for the alignment of pairs of profiles on engines.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::divided::DividedRectangles;
use super::pass::PairProblem;
use super::path::{ColumnStep, join_columns};
use super::recursion::PathRecursion;
use super::{ColumnScores, Penalties};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, BatchReport, Portion, Work, check};
use crate::error::{Error, Result};
use crate::simd::InstructionSet;

/// Two profiles to align.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfilePair {
    /// Gap costs of both profiles.
    pub penalties: [Penalties; 2],
    /// Score of each letter with each column of the first profile. All letters of one column are
    /// consecutive.
    pub scored: Vec<i32>,
    /// Share of each letter in each column of the second profile, in tenths, in the same order.
    pub tenths: Vec<i32>,
    /// Number of letters, at least 1.
    pub letters: usize,
}

impl ProfilePair {
    /// Returns the numbers of columns of both profiles.
    pub fn columns(&self) -> [usize; 2] {
        [0, 1].map(|side| self.penalties[side].columns())
    }

    /// Returns the number of cells of the matrix.
    pub fn cells(&self) -> u64 {
        self.columns().iter().map(|&columns| columns as u64).product()
    }

    /// Computes the best alignment on the current thread pool. Returns `None` if `stopped` returns
    /// true.
    pub fn path(&self, instructions: InstructionSet, stopped: &(dyn Fn() -> bool + Sync)) -> Option<Vec<ColumnStep>> {
        let scores = ColumnScores::new(&self.scored, &self.tenths, self.letters, instructions);
        let problem = PairProblem::new(&self.penalties[0], &self.penalties[1], &scores);
        let path = PathRecursion { problem: &problem, instructions, stopped }.path();
        // A stopped computation leaves a path without some of its columns.
        (!stopped()).then_some(path)
    }

    /// Computes the best alignment of a matrix that an engine has already divided into rectangles.
    /// Returns `None` if `stopped` returns true.
    pub fn complete_alignment(
        &self,
        divided: &DividedRectangles,
        instructions: InstructionSet,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<ColumnStep>> {
        let scores = ColumnScores::without_table(&self.scored, &self.tenths, self.letters, instructions);
        let problem = PairProblem::new(&self.penalties[0], &self.penalties[1], &scores);
        let path = PathRecursion { problem: &problem, instructions, stopped }.complete_path(divided);
        (!stopped()).then_some(path)
    }
}

/// Data that the blocks of a batch share.
pub struct ProfileChunk {
    /// Threads for computations on the CPU. None of them waits for engines.
    pub pool: Arc<rayon::ThreadPool>,
    /// Instruction set of the CPU.
    pub instructions: InstructionSet,
}

impl fmt::Debug for ProfileChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProfileChunk").field("instructions", &self.instructions).finish_non_exhaustive()
    }
}

/// Two profiles with a number that the caller chooses.
#[derive(Debug, Clone)]
pub struct ProfileBlock {
    /// Number of the pair.
    pub number: usize,
    /// The profiles.
    pub pair: Arc<ProfilePair>,
}

/// The job kind that aligns two profiles.
#[derive(Debug, Clone, Copy)]
pub struct ProfileWork;

/// Pairs of profiles that an engine aligns together.
pub type ProfileBatch = Batch<ProfileWork>;

/// Result of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileMerge {
    /// The complete alignment.
    Path(Vec<ColumnStep>),
    /// The rectangles that the alignment passes through. The CPU must still align each of them.
    Divided(DividedRectangles),
}

/// Result of a batch.
#[derive(Debug, Clone, Default)]
pub struct ProfileReport {
    /// One result for each block. Results of unfinished blocks are placeholders.
    pub merged: Vec<ProfileMerge>,
    /// Indices of the blocks that the engine did not finish.
    pub unfinished: Vec<usize>,
    /// Time that the device spent in kernels, if it is known.
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

impl Work for ProfileWork {
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
            return Err(format!("{} results for {} pairs of profiles", report.merged.len(), batch.blocks.len()));
        }
        let results = batch.blocks.iter().zip(&report.merged).zip(finished).filter(|(_, is_finished)| *is_finished);
        for ((block, merged), _) in results {
            let columns = block.pair.columns();
            match merged {
                ProfileMerge::Path(path) if join_columns(path).maps.map(|map| map.len()) == columns => {}
                ProfileMerge::Path(_) => return Err(format!("an alignment does not have {columns:?} columns")),
                ProfileMerge::Divided(divided) => divided.check(columns)?,
            }
        }
        Ok(())
    }
}

impl CpuKind for ProfileWork {
    type Scratch = ();

    // Engines take one pair of profiles at a time, whatever its size.
    const CELLS: u64 = 1;
    const PAIRS: u64 = 1;
    const GROUP_PAIRS: u64 = 1;

    fn compute(batch: &ProfileBatch, _scratch: &mut (), interrupt: &AtomicBool) -> Result<ProfileReport> {
        let start = Instant::now();
        let chunk = &batch.chunk;
        let stopped = || interrupt.load(Ordering::Relaxed);
        let mut merged = Vec::with_capacity(batch.blocks.len());
        for block in &batch.blocks {
            let path = chunk.pool.install(|| block.pair.path(chunk.instructions, &stopped));
            merged.push(ProfileMerge::Path(path.ok_or(Error::Interrupted)?));
        }
        Ok(ProfileReport { merged, unfinished: Vec::new(), kernel_time: Some(start.elapsed()) })
    }
}
