//! Host half of `sw_striped_score`: one very long pair, a strip of columns per workgroup (StripedScore; Li, Ranka and
//! Sahni, section IV).

use bytemuck::{Pod, Zeroable};

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::{Constants, Supplied};

/// Rows of a block: what a lane computes in a step.
pub const BLOCK_ROWS: u32 = 4;
/// What the words of vertical edges are combined with, so that 0 says "not there yet".
pub const FLIP: u32 = 0x8000_0000;

/// `Params` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct Params {
    /// Rows of the panel.
    pub rows: u32,
    /// Its columns.
    pub columns: u32,
    /// Its strips.
    pub strips: u32,
    /// The strip of the dispatch's first workgroup.
    pub first_strip: u32,
    /// Steps that strip 0 has made before this dispatch.
    pub base: i32,
    /// Steps of a strip in this dispatch.
    pub steps: i32,
    /// Steps that a strip is behind its left neighbour.
    pub lag: i32,
    /// Steps of a strip in all.
    pub total_steps: i32,
    /// Word of the query's first block.
    pub query_begin: u32,
    /// Place of the first column's symbol.
    pub target_begin: u32,
    /// Entries of the panel's first vertical edge.
    pub whole_entries: u32,
    /// Entries of an inner one.
    pub inner_entries: u32,
    /// Which bits of a row choose an entry of an inner edge.
    pub inner_mask: u32,
    /// Entries of a horizontal edge.
    pub columns_stride: u32,
    /// Blocks between marked rows.
    pub mark_blocks: u32,
    /// Number of the horizontal edge along the last row.
    pub marks: u32,
    /// What a gap's first symbol adds: not above 0.
    pub first: i32,
    /// What each further one adds.
    pub next: i32,
    /// The greatest score of two symbols.
    pub greatest: i32,
    /// Rows from the panel's first to the pair's last.
    pub rows_to_end: i32,
    /// Columns from the panel's first to the pair's last.
    pub columns_to_end: i32,
    /// A local score that somebody has found.
    pub best_floor: i32,
    /// How often a lane may ask for what is not there yet, in a dispatch.
    pub spin_limit: u32,
    /// Every so many-th edge between strips is kept whole.
    pub keep_strips: u32,
    /// Entries of all edges that are kept whole.
    pub rings_begin: u32,
    /// Columns that the first strip lacks, a multiple of the variant's cells.
    pub padding: u32,
    /// The greatest H that the panel's left edge has in the rows that this dispatch reads.
    pub left_reached: i32,
    /// Which of a strip's words that take turns tells of this dispatch.
    pub turn: u32,
}

/// `Shared` of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Shared {
    /// The best local score of all strips, where tiles are pruned.
    pub best: i32,
    /// Strips taken in this dispatch.
    pub ticket: u32,
    /// Not 0 if a strip waited too long: what was computed is worthless.
    pub stuck: u32,
    /// Batches of steps that were pruned.
    pub pruned: u32,
}

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Invocations of a workgroup, each with columns of its own.
    pub lanes: u32,
    /// Columns that an invocation keeps in registers; a multiple of 4.
    pub cells: u32,
    /// Kinds of query symbols, at least.
    pub classes: u32,
    /// Codes of the alphabet.
    pub codes: u32,
    /// Steps between exchanges through memory (paper 2's T, in blocks of four rows); even.
    pub batch: u32,
    /// Which of the last lane's columns is the panel's last.
    pub last_cell: u32,
    /// Whether H is cut off at 0.
    pub local: bool,
    /// Linear gaps.
    pub linear: bool,
    /// Whether the best cell is looked for; only where H is cut off at 0.
    pub best: bool,
    /// Whether hopeless batches are pruned.
    pub prune: bool,
    /// Whether strips wait for each other within a dispatch.
    pub persistent: bool,
    /// Whether lanes talk by shuffles: a workgroup is one subgroup.
    pub shuffle: bool,
}

/// Words that a strip tells of its records: its best score, the first step of the first batch that has it, how many batches it
/// keeps.
pub const RECORD_HEAD: usize = 4;
/// Words that it keeps beside these, in turns, of how long it was pruned.
pub const RECORD_TURNS: usize = 2;

/// Batches whose blocks are not all below those of the first of them.
const fn slots(lanes: u32, batch: u32) -> u32 {
    (lanes + batch - 2) / batch + 1
}

const fn slot_words(lanes: u32, cells: u32, batch: u32) -> u32 {
    (2 * cells + 9) * lanes + batch * 2 * BLOCK_ROWS + 1
}

/// Bytes of what a strip of so many lanes, each of so many columns, keeps to find its best cell.
pub const fn record_bytes(lanes: u32, cells: u32, batch: u32) -> u64 {
    4 * ((RECORD_HEAD + RECORD_TURNS) as u64 + slots(lanes, batch) as u64 * slot_words(lanes, cells, batch) as u64)
}

/// A batch that a strip kept, from which it can be computed again: its lanes before the first step, and what entered from
/// the left.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The kernel's constants.
    pub variant: &'a Variant,
    /// What it wrote.
    pub words: &'a [u32],
}

impl Record<'_> {
    fn of_lane(&self, lane: u32, word: u32) -> i32 {
        self.words[(word * self.variant.lanes + lane) as usize] as i32
    }

    /// H of a lane's column above its block.
    pub fn h(&self, lane: u32, cell: u32) -> i32 {
        self.of_lane(lane, cell)
    }

    /// The gap that enters its block there.
    pub fn gap(&self, lane: u32, cell: u32) -> i32 {
        self.of_lane(lane, self.variant.cells + cell)
    }

    /// H and gap that a lane handed on of its last block's row.
    pub fn sent(&self, lane: u32, row: u32) -> (i32, i32) {
        let rest = 2 * self.variant.cells;
        (self.of_lane(lane, rest + row), self.of_lane(lane, rest + BLOCK_ROWS + row))
    }

    /// H of the cell above and left of a lane's block.
    pub fn corner(&self, lane: u32) -> i32 {
        self.of_lane(lane, 2 * self.variant.cells + 2 * BLOCK_ROWS)
    }

    /// H and gap that entered the first lane's block in a step.
    pub fn entered(&self, step: u32, row: u32) -> (i32, i32) {
        let begin = (2 * self.variant.cells + 2 * BLOCK_ROWS + 1) * self.variant.lanes;
        let at = (begin + 2 * (step * BLOCK_ROWS + row)) as usize;
        (self.words[at] as i32, self.words[at + 1] as i32)
    }

    /// The strip's first step of the batch.
    pub fn first_step(&self) -> i32 {
        self.words[self.words.len() - 1] as i32
    }
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Strips)
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

impl Variant {
    /// Columns of a strip.
    pub const fn strip(&self) -> u32 {
        self.lanes * self.cells
    }

    /// Words that a lane leaves between dispatches.
    pub const fn state_words(&self) -> u32 {
        2 * self.cells + 10
    }

    /// Batches that a strip may have to keep to find its best cell.
    pub const fn slots(&self) -> u32 {
        slots(self.lanes, self.batch)
    }

    /// Words of a batch that is kept: see [`Record`].
    pub const fn slot_words(&self) -> u32 {
        slot_words(self.lanes, self.cells, self.batch)
    }

    /// Bytes of what a strip keeps to find its best cell.
    pub const fn record_bytes(&self) -> u64 {
        record_bytes(self.lanes, self.cells, self.batch)
    }

    /// Workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let exchange = if self.shuffle { 0 } else { 2 * self.lanes * 16 + 8 };
        self.classes * self.strip() * 4 + 2 * self.batch * 8 * 4 + exchange
    }

    /// Loop iterations that an invocation makes at most in so many steps, if no loop is unrolled.
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
