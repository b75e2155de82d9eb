//! Host side of `nw_slice` (named LazyRScan-mNW in Truong et al. 2014, section 4.4): configuration,
//! bindings and tasks.

use super::layout::{self, EndGapKind, NwTask};
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, ScoreType, of_kind};
use crate::gpu::source::Constants;
pub use crate::pairs::plan::LONG_PAIR_CELLS;
use crate::pairs::{BatchLengths, PairsBatch, ResultFilter};
use crate::score::OffsetScoring;
use crate::seq::SequenceId;

/// Greatest number of cells that one invocation computes in one dispatch of a long pair.
pub const LONG_STEP_CELLS: u64 = 8_000_000;

/// Returns the number of slices that fit in this many loop iterations, for targets of `rows_words`
/// words. A slice takes 6 iterations per word: one for the word, 4 for its rows and, in f16, one
/// for a group of words. Compilers unroll the loop over columns. Each slice takes some dozens more.
/// With free end gaps, the last column takes 6 more per word.
pub fn slices_within(loop_iterations: u64, rows_words: u32) -> u64 {
    let a_pass = 6 * rows_words as u64;
    loop_iterations.saturating_sub(a_pass + 64) / (a_pass + 128)
}

/// Initial value of the status words in `out.data`, before a dispatch.
pub const STATUS_NONE: u32 = 0;
/// Status of a task that is complete.
pub const STATUS_DONE: u32 = 1;
/// Parameters of a pipeline: the shader's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SliceVariant {
    /// Columns that an invocation keeps in registers, a multiple of 4.
    pub slice: u32,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Number of codes of the alphabet.
    pub codes: u32,
    /// Whether gaps are affine.
    pub affine: bool,
    /// Costs of end gaps.
    pub ends: EndGapKind,
}

impl KernelProgram for SliceVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Slice(ScoreType::I32))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        layout::constants(self.codes, self.affine, self.ends)
            .number("SLICE", self.slice)
            .number("STRIDE4", self.stride4())
    }

    fn overrides(&self) -> Vec<(&'static str, f64)> {
        vec![("WG", self.workgroup.into())]
    }
}

impl SliceVariant {
    /// Returns the row length of the profile in words of four entries. It is odd, so that rows of
    /// neighbouring codes start in different memory banks.
    pub const fn stride4(&self) -> u32 {
        (self.slice / 4) | 1
    }

    /// Returns the number of vectors of four values per word of four rows in scratch memory.
    pub const fn planes(&self) -> u32 {
        layout::planes(self.affine)
    }

    /// Returns the workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        self.codes * self.stride4() * 16 + 16
    }

    /// Returns the scratch memory in bytes of one slot for targets of at most `rows_words * 4`
    /// symbols.
    pub const fn slot_bytes(&self, rows_words: u32) -> u64 {
        (rows_words as u64 + 1) * self.planes() as u64 * self.workgroup as u64 * 16
    }
}

/// Words before `out.data`: the ticket counter, the number of kept pairs, and two spare words.
pub const OUTPUT_HEADER_WORDS: u64 = 4;

/// A batch divided into tasks.
#[derive(Debug, Clone)]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<NwTask>,
    /// Index of each task's block in the batch.
    pub blocks: Vec<u32>,
    /// Number of pairs in all tasks.
    pub pairs: u64,
    /// Number of consecutive tasks that a workgroup computes together.
    pub of_slot: u32,
}

impl TaskList {
    /// Divides every block of a batch into runs of at most `workgroup` targets. Tasks with many
    /// cells come first, so that all workgroups finish at about the same time. `query_end_word`
    /// returns the index of the word after a query's last symbol in its buffer.
    pub fn new(batch: &PairsBatch, workgroup: u32, query_end_word: impl Fn(SequenceId) -> u32) -> Self {
        let chunk = &batch.chunk;
        let mut list = TaskList { tasks: Vec::new(), blocks: Vec::new(), pairs: 0, of_slot: 1 };
        for (block_index, block) in batch.blocks.iter().enumerate() {
            let mut first = block.targets.start;
            while first < block.targets.end {
                let count = workgroup.min(block.targets.end - first);
                let longest = chunk.longest(first..first + count);
                list.tasks.push(NwTask {
                    query_end_word: query_end_word(block.query),
                    query_symbols: chunk.queries.length(block.query),
                    first,
                    count,
                    rows_words: longest.div_ceil(4).max(1),
                    pairs_begin: list.pairs as u32,
                    ..bytemuck::Zeroable::zeroed()
                });
                list.blocks.push(block_index as u32);
                list.pairs += count as u64;
                first += count;
            }
        }
        let mut by_work: Vec<usize> = (0..list.tasks.len()).collect();
        by_work.sort_by_key(|&index| {
            let task = &list.tasks[index];
            std::cmp::Reverse(task.query_symbols as u64 * task.rows_words as u64)
        });
        list.tasks = by_work.iter().map(|&index| list.tasks[index]).collect();
        list.blocks = by_work.iter().map(|&index| list.blocks[index]).collect();
        list
    }

    /// Returns the number of groups of tasks. Workgroups draw one group at a time.
    pub fn slots(&self) -> u64 {
        self.tasks.len() as u64 / u64::from(self.of_slot)
    }

    /// Returns the number of rows that every slot must have space for, in words of 4.
    pub fn rows_words(&self) -> u32 {
        self.tasks.iter().map(|task| task.rows_words).max().unwrap_or(1)
    }

    /// Returns the greatest number of slices of any task.
    pub fn slices(&self, slice: u32) -> u32 {
        self.tasks.iter().map(|task| task.query_symbols.div_ceil(slice).max(1)).max().unwrap_or(1)
    }
}

/// Returns the scoring for a batch in the form of the kernels. It counts matches if the batch needs
/// them and 32 bits hold them. Returns `None` if 32 bits do not hold the scores.
pub fn offset_scoring(batch: &PairsBatch, extent: &BatchLengths) -> Option<OffsetScoring> {
    let (shorter, sum) = (extent.shorter as u64, extent.sum);
    let scoring = &batch.chunk.scoring;
    let with_matches = match batch.chunk.filter {
        ResultFilter::Scores | ResultFilter::AtLeast(_) => None,
        ResultFilter::Alignments | ResultFilter::Reaching(_) => OffsetScoring::new(scoring, shorter, sum, true),
    };
    with_matches.or_else(|| OffsetScoring::new(scoring, shorter, sum, false))
}
