//! The strips and dispatches of a panel, and the positions of its borders in device memory.

use bytemuck::Zeroable;

use super::Schedule;
use crate::long::kernels::striped::{BLOCK_ROWS, StripedParams, StripedVariant};

/// Size of a panel, in symbols and strips.
#[derive(Debug, Clone, Copy)]
pub struct PanelExtent {
    /// Rows of the panel, at least 4 and a multiple of 4.
    pub rows: u32,
    /// Columns of the panel, at least 1.
    pub columns: u32,
    /// Distance of marked rows, a multiple of 4.
    pub mark_every: u32,
    /// Number of strips between borders that are kept as a whole; `None` keeps no borders inside
    /// the panel.
    pub keep_strips: Option<u32>,
}

/// Plan of a panel.
#[derive(Debug, Clone, Copy)]
pub struct PanelPlan {
    /// Parameters of the first dispatch.
    pub params: StripedParams,
    /// Number of dispatches.
    pub dispatches: u32,
    /// Columns of a strip.
    pub strip: u32,
}

impl PanelPlan {
    /// Divides a panel. A strip makes `steps` steps in a dispatch, which is a multiple of the
    /// batch.
    pub fn new(extent: PanelExtent, variant: &StripedVariant, schedule: Schedule, steps: u32) -> Self {
        let PanelExtent { rows, columns, mark_every, keep_strips } = extent;
        let batch = variant.batch;
        let blocks = rows / BLOCK_ROWS;
        let total = (blocks + variant.lanes - 1).next_multiple_of(batch);
        let steps = steps.min(total).next_multiple_of(batch);
        let behind = (variant.lanes - 1).next_multiple_of(batch);
        let lag = match schedule {
            Schedule::Wavefront => steps + behind,
            // One batch is in use, one is requested in advance, and one more lets strips seldom
            // wait. With marks a fourth one is needed, because a strip that writes marks is late.
            Schedule::Persistent => behind + if mark_every < rows { 4 } else { 3 } * batch,
        };
        let strips = columns.div_ceil(variant.strip());
        // Includes the last rows, which the host computes.
        let whole = blocks * BLOCK_ROWS + BLOCK_ROWS;
        let ring = (BLOCK_ROWS * (steps + lag + 2 * batch + variant.lanes)).next_power_of_two();
        // A border that is shorter than a ring is kept as a whole.
        let keep_strips = if ring >= whole { 1 } else { keep_strips.unwrap_or(strips).clamp(1, strips) };
        // The value exceeds 32 bits only if the panel does not fit.
        let rings_begin = (u64::from(strips.div_ceil(keep_strips)) + 1) * u64::from(whole);
        let mark_blocks = (mark_every / BLOCK_ROWS).max(1);
        let span = u64::from(total) + u64::from(strips - 1) * u64::from(lag);
        let dispatches = span.div_ceil(steps.into()) as u32;
        let params = StripedParams {
            rows,
            columns,
            strips,
            steps: steps as i32,
            lag: lag as i32,
            total_steps: total as i32,
            whole_entries: whole,
            inner_entries: ring,
            inner_mask: ring - 1,
            columns_stride: columns + 1,
            mark_blocks,
            marks: blocks.div_ceil(mark_blocks),
            keep_strips,
            rings_begin: rings_begin as u32,
            padding: (strips * variant.lanes - columns.div_ceil(variant.cells)) * variant.cells,
            ..StripedParams::zeroed()
        };
        PanelPlan { params, dispatches, strip: variant.strip() }
    }

    /// Returns the parameters and the workgroups of dispatch `d`.
    pub fn dispatch(&self, d: u32) -> (StripedParams, u32) {
        let p = self.params;
        let base = i64::from(d) * i64::from(p.steps);
        let (lag, total) = (i64::from(p.lag), i64::from(p.total_steps));
        let first = if base >= total { (base - total) / lag + 1 } else { 0 };
        let last = ((base + i64::from(p.steps) - 1) / lag).min(i64::from(p.strips) - 1);
        let workgroups = (last - first + 1).max(0) as u32;
        (StripedParams { first_strip: first as u32, base: base as i32, turn: d % 2, ..p }, workgroups)
    }

    /// Returns the last row of the left border that dispatch `d` reads.
    pub fn left_rows(&self, d: u32) -> u32 {
        let p = self.params;
        let steps = (u64::from(d) + 1) * p.steps as u64;
        (steps * u64::from(BLOCK_ROWS)).min(p.rows.into()) as u32
    }

    /// Returns the last row of the right border that is known after dispatch `d`.
    pub fn right_rows(&self, d: u32, lanes: u32) -> u32 {
        let p = self.params;
        let steps = (i64::from(d) + 1) * i64::from(p.steps) - i64::from(p.strips - 1) * i64::from(p.lag);
        let blocks = steps.min(p.total_steps.into()) - i64::from(lanes) + 1;
        (blocks.max(0) as u64 * u64::from(BLOCK_ROWS)).min(p.rows.into()) as u32
    }

    /// Estimates the number of cells that are computed after dispatch `d`, as if all dispatches
    /// were equal.
    pub fn cells(&self, d: u32) -> u64 {
        let all = u128::from(self.params.rows) * u128::from(self.params.columns);
        (all * (u128::from(d) + 1) / u128::from(self.dispatches)) as u64
    }

    /// Returns the index of the entry for row 0 of the n-th border that is kept as a whole.
    pub fn whole_begin(&self, n: u32) -> u64 {
        u64::from(n) * u64::from(self.params.whole_entries)
    }

    /// Returns the column of the panel along which the n-th border lies that is kept as a whole,
    /// except the last one.
    pub fn whole_column(&self, n: u32) -> u32 {
        n * self.params.keep_strips * self.strip - self.params.padding
    }

    /// Returns the number of borders that are kept as a whole, including the first and the last
    /// one.
    pub fn whole_borders(&self) -> u32 {
        self.params.strips.div_ceil(self.params.keep_strips) + 1
    }

    /// Returns the index of the right border's entry for row 0.
    pub fn right_begin(&self) -> u64 {
        self.whole_begin(self.whole_borders() - 1)
    }

    /// Returns the bytes of all vertical borders.
    pub fn vertical_bytes(&self) -> u64 {
        let p = self.params;
        let rings = u64::from(p.strips + 1 - self.whole_borders()) * u64::from(p.inner_entries);
        (self.whole_begin(self.whole_borders()) + rings) * 8
    }

    /// Returns the bytes of all horizontal borders.
    pub fn horizontal_bytes(&self) -> u64 {
        (u64::from(self.params.marks) + 1) * u64::from(self.params.columns_stride) * 8
    }

    /// Returns the bytes that lanes store between dispatches.
    pub fn state_bytes(&self, variant: &StripedVariant) -> u64 {
        u64::from(self.params.strips) * u64::from(variant.state_words() * variant.lanes) * 4
    }

    /// Returns the bytes of the records of strips, at least 16.
    pub fn record_bytes(&self, variant: &StripedVariant) -> u64 {
        if variant.best { u64::from(self.params.strips) * variant.record_bytes() } else { 16 }
    }

    /// Returns the bytes of each buffer that grows with the panel.
    pub fn buffers(&self, variant: &StripedVariant) -> [u64; 4] {
        [self.vertical_bytes(), self.horizontal_bytes(), self.state_bytes(variant), self.record_bytes(variant)]
    }

    /// Returns the bytes of all buffers.
    pub fn bytes(&self, variant: &StripedVariant) -> u64 {
        self.buffers(variant).iter().sum()
    }
}
