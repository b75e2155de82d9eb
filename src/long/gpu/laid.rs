//! A panel laid out on the device: its edges and its strips in memory, bound for the kernel, and its dispatches.

use std::ops::Range;

use bytemuck::Zeroable;

use super::panel::{Extent, PanelPlan};
use super::resident::Resident;
use super::sweep::Keep;
use super::{GpuLong, PanelBuffers, Schedule};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::pipeline::Compiled;
use crate::long::Sweep;
use crate::long::kernels::striped::{BLOCK_ROWS, Params, Shared, Variant};

/// Seconds of work in a submission: short enough that the right neighbour and the user hear of it.
const SUBMISSION_SECONDS: f64 = 0.0125;
/// Dispatches in a submission at most.
const SUBMISSION_DISPATCHES: u32 = 512;
/// How often a lane asks in vain before a dispatch is given up: some tenths of a second.
const SPINS: u32 = 1 << 19;

/// What is known before a submission, of pairs that are pruned.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    /// A local score that somebody has found.
    pub best: i32,
    /// The greatest H of the left edge in the rows that the submission reads.
    pub left_reached: i32,
}

/// A panel that can be dispatched.
pub(super) struct Laid {
    /// How it is cut.
    pub plan: PanelPlan,
    /// The kernel's constants.
    pub variant: Variant,
    /// Edges along columns.
    pub vertical: wgpu::Buffer,
    /// Edges along rows.
    pub horizontal: wgpu::Buffer,
    /// What strips keep to find the best cell.
    pub records: wgpu::Buffer,
    /// What strips tell: a [`Shared`].
    pub shared: wgpu::Buffer,
    params: wgpu::Buffer,
    /// Bytes between the parameters of two dispatches.
    stride: u32,
    program: Compiled,
    group: wgpu::BindGroup,
}

impl GpuLong {
    /// Makes room for a panel in `buffers`, and writes all that is known but the edge to its left.
    pub(super) fn lay_out(
        &mut self,
        sweep: &Sweep,
        keep: Keep,
        schedule: Schedule,
        buffers: &mut PanelBuffers,
    ) -> Result<Laid> {
        let pair = sweep.pair;
        let Resident { query, target } = Resident::of(&mut self.residents, &self.gpu, pair, sweep.rows.0)?;
        let columns = sweep.columns.1 - sweep.columns.0;
        let variant = self.variant((pair, query.kinds), columns, keep.strip, (!keep.quiet, sweep.prune), schedule);
        let extent = Extent {
            rows: sweep.rows.1 - sweep.rows.0,
            columns,
            mark_every: keep.mark_every,
            keep_strips: keep.columns.map(|columns| (columns / variant.strip()).max(1)),
        };
        let Some(mut plan) = self.plan(extent, &variant, schedule) else {
            return Err(self.gpu.unsuited(format!(
                "a panel of {} rows and {} columns does not fit its memory",
                extent.rows, extent.columns
            )));
        };
        let program = self.pipelines.get(&self.gpu, variant)?;
        let substitution = &pair.scoring.substitution;
        plan.params = Params {
            query_begin: (sweep.rows.0 - query.shift) / BLOCK_ROWS,
            target_begin: sweep.columns.0,
            first: -pair.scoring.gaps.first,
            next: -pair.scoring.gaps.next,
            greatest: substitution.max_score().max(0),
            rows_to_end: pair.query.len() as i32 - sweep.rows.0 as i32,
            columns_to_end: pair.target.len() as i32 - sweep.columns.0 as i32,
            spin_limit: if self.loop_budget.is_some() { 20_000 } else { SPINS },
            ..plan.params
        };

        let gpu = &self.gpu;
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let vertical = buffers.vertical.reserve(gpu, "vertical edges", plan.vertical_bytes(), storage)?.clone();
        let horizontal = buffers.horizontal.reserve(gpu, "horizontal edges", plan.horizontal_bytes(), storage)?.clone();
        let state = buffers.state.reserve(gpu, "strips", plan.state_bytes(&variant), storage)?.clone();
        let records = buffers.records.reserve(gpu, "records", plan.record_bytes(&variant), storage)?.clone();
        let shared = buffers.shared.reserve(gpu, "best", size_of::<Shared>() as u64, storage)?.clone();
        let alignment = gpu.device.limits().min_uniform_buffer_offset_alignment;
        let stride = (size_of::<Params>() as u32).next_multiple_of(alignment);
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let params_bytes = u64::from(stride) * u64::from(SUBMISSION_DISPATCHES);
        let params = buffers.params.reserve(gpu, "panel", params_bytes, uniform)?.clone();
        let group = program.bind(
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
        gpu.queue.write_buffer(&shared, 0, bytemuck::bytes_of(&Shared { best: sweep.best.get(), ..Shared::zeroed() }));
        if schedule == Schedule::Persistent {
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let begin = u64::from(plan.params.whole_entries) * 8;
            encoder.clear_buffer(&vertical, begin, Some(plan.vertical_bytes() - begin));
            gpu.queue.submit([encoder.finish()]);
        }
        Ok(Laid { plan, variant, vertical, horizontal, records, shared, params, stride, program, group })
    }

    /// Dispatches of a submission, of so many that compute so many cells in all.
    pub(super) fn a_submission(&self, cells: u64, dispatches: u32) -> u32 {
        let seconds = cells as f64 / self.speed / f64::from(dispatches);
        ((SUBMISSION_SECONDS / seconds.max(1e-9)) as u32).clamp(1, SUBMISSION_DISPATCHES)
    }
}

impl Laid {
    /// Writes the parameters of a submission's dispatches, as far as there are so many: how many workgroups each has.
    pub(super) fn hand_over(&self, gpu: &Gpu, dispatches: Range<u32>, known: Known) -> Vec<u32> {
        let Known { best: best_floor, left_reached } = known;
        let dispatches = dispatches.start..dispatches.end.min(self.plan.dispatches);
        let mut bytes = vec![0u8; self.stride as usize * dispatches.len()];
        let mut counts = Vec::new();
        for (d, room) in dispatches.zip(bytes.chunks_exact_mut(self.stride as usize)) {
            let (one, workgroups) = self.plan.dispatch(d);
            room[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&Params {
                best_floor,
                left_reached,
                ..one
            }));
            counts.push(workgroups);
        }
        gpu.queue.write_buffer(&self.params, 0, &bytes);
        counts
    }

    /// Tickets begin anew.
    pub(super) fn clear_tickets(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.shared, 4, Some(4));
    }

    /// The k-th dispatch of those that were handed over last.
    pub(super) fn dispatch(&self, pass: &mut wgpu::ComputePass, k: u32, workgroups: u32) {
        pass.set_pipeline(&self.program.pipeline);
        pass.set_bind_group(0, &self.group, &[k * self.stride]);
        pass.dispatch_workgroups(workgroups, 1, 1);
    }
}
