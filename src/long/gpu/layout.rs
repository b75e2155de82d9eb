//! A panel in device memory: its borders and strips, bound to the kernel, and its dispatches.

use std::ops::Range;

use bytemuck::Zeroable;

use super::delivery::RecordPolicy;
use super::panel::{PanelExtent, PanelPlan};
use super::resident::ResidentPair;
use super::{GpuLong, PanelBuffers, Schedule};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{BoundProgram, Commands, Uniforms};
use crate::long::PanelSweep;
use crate::long::kernels::striped::{BLOCK_ROWS, StripedParams, StripedShared, StripedVariant};

/// Seconds of work in a submission. Submissions are short, so that the right neighbour gets its
/// rows early.
const SUBMISSION_SECONDS: f64 = 0.0125;
/// Maximum number of dispatches in a submission.
const SUBMISSION_DISPATCHES: u32 = 512;
/// Number of polls after which a lane reports that it has waited too long, which takes some tenths
/// of a second.
const SPINS: u32 = 1 << 19;

/// Values known before a submission, by which its strips prune.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PruningHints {
    /// A local score that some engine has reached.
    pub best: i32,
    /// The greatest H of the left border in the rows that the submission reads.
    pub left_reached: i32,
}

/// A panel that is ready to be dispatched.
pub(super) struct StripLayout {
    /// Its plan.
    pub plan: PanelPlan,
    /// Constants of the kernel.
    pub variant: StripedVariant,
    /// Borders along columns.
    pub vertical: wgpu::Buffer,
    /// Borders along rows.
    pub horizontal: wgpu::Buffer,
    /// Records of strips, in which the host searches for the best cell.
    pub records: wgpu::Buffer,
    /// State that strips share: a [`StripedShared`].
    pub shared: wgpu::Buffer,
    /// The kernel with its buffers.
    pub program: BoundProgram,
    params: wgpu::Buffer,
}

/// One dispatch of a submission.
pub(super) struct StripDispatch {
    /// Offset of its parameters, in bytes.
    pub params_offset: u32,
    /// Number of workgroups.
    pub workgroups: u32,
}

impl GpuLong {
    /// Allocates a panel in `buffers`, and writes all inputs except its left border.
    pub(super) fn lay_out(
        &mut self,
        sweep: &PanelSweep,
        keep: RecordPolicy,
        schedule: Schedule,
        buffers: &mut PanelBuffers,
    ) -> Result<StripLayout> {
        let pair = sweep.pair;
        let ResidentPair { query, target } =
            ResidentPair::upload(&mut self.residents, &self.gpu, pair, sweep.rows.first)?;
        let columns = sweep.columns.length();
        let variant = self.variant(sweep, query.kinds, keep, schedule);
        let extent = PanelExtent {
            rows: sweep.rows.length(),
            columns,
            mark_every: keep.mark_every,
            keep_strips: keep.columns.map(|columns| (columns / variant.strip()).max(1)),
        };
        let Some(mut plan) = self.plan(extent, &variant, schedule) else {
            return Err(self.gpu.refusal(format!(
                "its memory is too small for a panel of {} rows and {} columns",
                extent.rows, extent.columns
            )));
        };
        let program = self.pipelines.get(&self.gpu, variant)?;
        let substitution = &pair.scoring.substitution;
        plan.params = StripedParams {
            query_begin: (sweep.rows.first - query.shift) / BLOCK_ROWS,
            target_begin: sweep.columns.first,
            first: -pair.scoring.gaps.first,
            next: -pair.scoring.gaps.next,
            greatest: substitution.max_score().max(0),
            rows_to_end: pair.query.len() as i32 - sweep.rows.first as i32,
            columns_to_end: pair.target.len() as i32 - sweep.columns.first as i32,
            spin_limit: if self.loop_budget.is_some() { 20_000 } else { SPINS },
            ..plan.params
        };

        let gpu = &self.gpu;
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let vertical = buffers.vertical.reserve(gpu, "vertical borders", plan.vertical_bytes(), storage)?.clone();
        let horizontal =
            buffers.horizontal.reserve(gpu, "horizontal borders", plan.horizontal_bytes(), storage)?.clone();
        let state = buffers.state.reserve(gpu, "strips", plan.state_bytes(&variant), storage)?.clone();
        let records = buffers.records.reserve(gpu, "records", plan.record_bytes(&variant), storage)?.clone();
        let shared = buffers.shared.reserve(gpu, "best", size_of::<StripedShared>() as u64, storage)?.clone();
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let params_bytes = Uniforms::bytes_of::<StripedParams>(gpu, SUBMISSION_DISPATCHES);
        let params = buffers.params.reserve(gpu, "panel", params_bytes, uniform)?.clone();
        let program = program.bound(
            gpu,
            &[
                ("params", &params),
                ("query_classes", &query.classes),
                ("target_codes", &target.0),
                ("table", &query.table),
                ("vertical", &vertical),
                ("horizontal", &horizontal),
                ("state", &state),
                ("shared_best", &shared),
                ("records", &records),
            ],
        )?;

        self.write_pairs(&horizontal, 0, sweep.top, false);
        gpu.queue.write_buffer(
            &shared,
            0,
            bytemuck::bytes_of(&StripedShared { best: sweep.best.get(), ..StripedShared::zeroed() }),
        );
        if schedule == Schedule::Persistent {
            let mut commands = Commands::default();
            commands.zero(&vertical, u64::from(plan.params.whole_entries) * 8..plan.vertical_bytes());
            commands.execute(gpu, "rings");
        }
        Ok(StripLayout { plan, variant, vertical, horizontal, records, shared, program, params })
    }

    /// Returns the number of dispatches of one submission, for a panel with this number of cells
    /// and dispatches in total.
    pub(super) fn a_submission(&self, cells: u64, dispatches: u32) -> u32 {
        let seconds = cells as f64 / self.speed / f64::from(dispatches);
        ((SUBMISSION_SECONDS / seconds.max(1e-9)) as u32).clamp(1, SUBMISSION_DISPATCHES)
    }
}

impl StripLayout {
    /// Returns the number of cells of the panel.
    pub(super) fn cells(&self) -> u64 {
        u64::from(self.plan.params.rows) * u64::from(self.plan.params.columns)
    }

    /// Writes the parameters of a submission's dispatches, and returns the dispatches. A range
    /// beyond the panel's last dispatch is cut off.
    pub(super) fn hand_over(&self, gpu: &Gpu, dispatches: Range<u32>, known: PruningHints) -> Vec<StripDispatch> {
        let PruningHints { best: best_floor, left_reached } = known;
        let mut uniforms = Uniforms::new(gpu);
        let dispatches = (dispatches.start..dispatches.end.min(self.plan.dispatches)).map(|d| {
            let (params, workgroups) = self.plan.dispatch(d);
            let params_offset = uniforms.push(&StripedParams { best_floor, left_reached, ..params });
            StripDispatch { params_offset, workgroups }
        });
        let dispatches = dispatches.collect();
        gpu.queue.write_buffer(&self.params, 0, uniforms.bytes());
        dispatches
    }

    /// Resets the tickets, which number the strips of a dispatch, to 0.
    pub(super) fn clear_tickets(&self, commands: &mut Commands) {
        commands.zero(&self.shared, 4..8);
    }
}
