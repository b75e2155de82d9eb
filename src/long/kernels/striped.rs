//! Constants and layouts of `sw_striped_score`: one very long pair, one strip of columns per
//! workgroup (StripedScore; Li, Ranka and Sahni, section IV).

use bytemuck::{Pod, Zeroable};

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::{Constants, Supplied};

/// Rows of a block, which a lane computes in a step.
pub const BLOCK_ROWS: u32 = 4;
/// Mask by which values of vertical borders are combined by exclusive or, so that 0 means "not
/// written yet".
pub const FLIP: u32 = 0x8000_0000;

/// `StripedParams` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct StripedParams {
    /// Rows of the panel.
    pub rows: u32,
    /// Columns of the panel.
    pub columns: u32,
    /// Strips of the panel.
    pub strips: u32,
    /// Strip of the dispatch's first workgroup.
    pub first_strip: u32,
    /// Number of steps that strip 0 has made before this dispatch.
    pub base: i32,
    /// Steps of a strip in this dispatch.
    pub steps: i32,
    /// Delay of a strip behind its left neighbour, in steps.
    pub lag: i32,
    /// Steps of a strip in total.
    pub total_steps: i32,
    /// Index of the u32 with the query's first block.
    pub query_begin: u32,
    /// Index of the symbol of the first column.
    pub target_begin: u32,
    /// Entries of a vertical border that is kept as a whole.
    pub whole_entries: u32,
    /// Number of entries of a vertical border that is a ring, which is reused for later rows.
    pub inner_entries: u32,
    /// Mask of the bits of a row that select an entry of a ring.
    pub inner_mask: u32,
    /// Entries of a horizontal border.
    pub columns_stride: u32,
    /// Blocks between marked rows.
    pub mark_blocks: u32,
    /// Index of the horizontal border along the last row.
    pub marks: u32,
    /// Score of the first symbol of a gap, at most 0.
    pub first: i32,
    /// Score of each further symbol of a gap.
    pub next: i32,
    /// The greatest score of two symbols.
    pub greatest: i32,
    /// Rows from the first row of the panel to the last row of the pair.
    pub rows_to_end: i32,
    /// Columns from the first column of the panel to the last column of the pair.
    pub columns_to_end: i32,
    /// A local score that some engine has reached.
    pub best_floor: i32,
    /// Maximum number of times that a lane polls for a missing value in a dispatch.
    pub spin_limit: u32,
    /// Distance in strips of the vertical borders that are kept as a whole.
    pub keep_strips: u32,
    /// Total number of entries of all vertical borders that are kept as a whole. The rings follow
    /// them.
    pub rings_begin: u32,
    /// Number of columns by which the first strip is narrower, a multiple of the variant's cells.
    pub padding: u32,
    /// The greatest H of the panel's left border in the rows that this dispatch reads.
    pub left_reached: i32,
    /// Index of the u32 value of a strip that belongs to this dispatch: 0 or 1, alternately.
    pub turn: u32,
}

/// `StripedShared` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct StripedShared {
    /// The best local score of all strips, if batches are pruned.
    pub best: i32,
    /// Number of strips that have been taken in this dispatch.
    pub ticket: u32,
    /// Not 0 if a strip waited too long. The results are then invalid.
    pub stuck: u32,
    /// Number of pruned batches of steps.
    pub pruned: u32,
}

/// Constants of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StripedVariant {
    /// Number of invocations of a workgroup. Each has separate columns.
    pub lanes: u32,
    /// Columns that an invocation keeps in registers; a multiple of 4.
    pub cells: u32,
    /// Number of different query symbols, rounded up.
    pub classes: u32,
    /// Codes of the alphabet.
    pub codes: u32,
    /// Number of steps between exchanges through memory (paper 2's T, in blocks of four rows);
    /// even.
    pub batch: u32,
    /// Index of the panel's last column among the columns of the last lane.
    pub last_cell: u32,
    /// Whether H is clamped at 0.
    pub local: bool,
    /// Whether gaps are linear.
    pub linear: bool,
    /// Whether the kernel searches for the best cell. Only if H is clamped at 0.
    pub best: bool,
    /// Whether batches that cannot reach the best score are pruned.
    pub prune: bool,
    /// Whether strips wait for each other within a dispatch.
    pub persistent: bool,
    /// Whether lanes communicate by shuffles. A workgroup is then one subgroup.
    pub shuffle: bool,
}

/// Number of u32 values at the start of a strip's records. They contain its best score, the first
/// step of the first batch that has this score, and the number of recorded batches.
pub const RECORD_HEAD: usize = 4;
/// Number of alternating u32 values that follow the head. They count pruned steps.
pub const RECORD_TURNS: usize = 2;

/// Returns the maximum number of batches that a strip records. Batches that are completely below
/// the first one need not be recorded.
const fn slots(lanes: u32, batch: u32) -> u32 {
    (lanes + batch - 2) / batch + 1
}

const fn slot_words(lanes: u32, cells: u32, batch: u32) -> u32 {
    (2 * cells + 9) * lanes + batch * 2 * BLOCK_ROWS + 1
}

/// Returns the number of bytes that a strip of these lanes and columns records to find its best
/// cell.
pub const fn record_bytes(lanes: u32, cells: u32, batch: u32) -> u64 {
    4 * ((RECORD_HEAD + RECORD_TURNS) as u64 + slots(lanes, batch) as u64 * slot_words(lanes, cells, batch) as u64)
}

/// The input of a recorded batch, from which it can be computed again: the state of the lanes
/// before its first step, and the values that entered from the left.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Constants of the kernel.
    pub variant: &'a StripedVariant,
    /// The u32 values that the kernel wrote.
    pub words: &'a [u32],
}

impl Record<'_> {
    fn of_lane(&self, lane: u32, word: u32) -> i32 {
        self.words[(word * self.variant.lanes + lane) as usize] as i32
    }

    /// Returns H of a lane's column above its block.
    pub fn h(&self, lane: u32, cell: u32) -> i32 {
        self.of_lane(lane, cell)
    }

    /// Returns the gap that enters the block of a lane in a column.
    pub fn gap(&self, lane: u32, cell: u32) -> i32 {
        self.of_lane(lane, self.variant.cells + cell)
    }

    /// Returns H and gap that a lane delivered to the right for a row of its last block.
    pub fn sent(&self, lane: u32, row: u32) -> (i32, i32) {
        let rest = 2 * self.variant.cells;
        (self.of_lane(lane, rest + row), self.of_lane(lane, rest + BLOCK_ROWS + row))
    }

    /// Returns H of the cell above and left of a lane's block.
    pub fn corner(&self, lane: u32) -> i32 {
        self.of_lane(lane, 2 * self.variant.cells + 2 * BLOCK_ROWS)
    }

    /// Returns H and gap that entered the first lane's block in a step.
    pub fn entered(&self, step: u32, row: u32) -> (i32, i32) {
        let begin = (2 * self.variant.cells + 2 * BLOCK_ROWS + 1) * self.variant.lanes;
        let at = (begin + 2 * (step * BLOCK_ROWS + row)) as usize;
        (self.words[at] as i32, self.words[at + 1] as i32)
    }

    /// Returns the number of the batch's first step, counted by the strip.
    pub fn first_step(&self) -> i32 {
        self.words[self.words.len() - 1] as i32
    }
}

impl KernelProgram for StripedVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Strips)
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        Constants::default()
            .number("LANES", self.lanes)
            .number("CELLS", self.cells)
            .number("CLASSES", self.classes)
            .number("CODES", self.codes)
            .number("BATCH", self.batch)
            .number("LAST_CELL", self.last_cell)
            .flag("LOCAL", self.local)
            .flag("LINEAR", self.linear)
            .flag("BEST", self.best)
            .flag("PRUNE", self.prune)
            .flag("PERSISTENT", self.persistent)
    }

    fn supplied(&self) -> Supplied {
        let lanes = if self.shuffle { "lanes_subgroup" } else { "lanes_workgroup" };
        vec![("lanes", format!("#import {lanes}\n"))]
    }
}

impl StripedVariant {
    /// Returns the columns of a strip.
    pub const fn strip(&self) -> u32 {
        self.lanes * self.cells
    }

    /// Returns the u32 values that a lane stores between dispatches.
    pub const fn state_words(&self) -> u32 {
        2 * self.cells + 10
    }

    /// Returns the maximum number of batches that a strip records.
    pub const fn slots(&self) -> u32 {
        slots(self.lanes, self.batch)
    }

    /// Returns the u32 values of a recorded batch (see [`Record`]).
    pub const fn slot_words(&self) -> u32 {
        slot_words(self.lanes, self.cells, self.batch)
    }

    /// Returns the bytes that a strip records to find its best cell.
    pub const fn record_bytes(&self) -> u64 {
        record_bytes(self.lanes, self.cells, self.batch)
    }

    /// Returns the bytes of workgroup memory.
    pub const fn workgroup_bytes(&self) -> u32 {
        let exchange = if self.shuffle { 4 } else { 2 * self.lanes * 16 + 12 };
        self.classes * self.strip() * 4 + 2 * self.batch * 8 * 4 + exchange
    }

    /// Returns the maximum number of loop iterations of an invocation in this number of steps, if
    /// the compiler unrolls no loop.
    pub const fn iterations(&self, steps: u64) -> u64 {
        let cells = self.cells as u64;
        let a_row = cells + cells / 4 + 1;
        let a_step = 4 * (a_row + 2) + 2 * cells + 12;
        let words = (self.batch as u64 * 8).div_ceil(self.lanes as u64);
        let a_batch = 7 * words + 5 * cells + self.batch as u64 * cells + 8;
        let once = 5 * (self.classes as u64 * cells / 4) + 4 * cells + 20;
        steps * a_step + steps.div_ceil(self.batch as u64) * a_batch + once
    }
}
