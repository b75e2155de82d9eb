//! Submits the dispatches of a panel with their part of the left border, and delivers their
//! results.

use std::ops::Range;
use std::time::{Duration, Instant};

use bytemuck::Zeroable;

use super::delivery::{DeliveredRange, PATIENCE, RecordPolicy, SHARED_BYTES};
use super::inner::{InnerBorders, ReturnedBorders};
use super::layout::{PruningHints, StripLayout};
use super::{GpuLong, Schedule};
use crate::error::Result;
use crate::gpu::launch::Commands;
use crate::gpu::readback::Readback;
use crate::gpu::timer::PassTimer;
use crate::long::kernels::striped::{BLOCK_ROWS, FLIP, StripedShared};
use crate::long::{LeftSource, PanelSweep, SweepSink};

/// Minimum duration of a panel that counts as a measurement of the device's speed.
const MIN_MEASURED_DURATION: Duration = Duration::from_millis(50);
/// Divisor of a panel's duration. If the device has no clock, a panel counts as a measurement only
/// if the engine waited less than the quotient for its left neighbour.
const WAITING_SHARE: u32 = 20;

/// State of a panel between its submissions.
pub(super) struct PanelRun<'a> {
    sweep: &'a PanelSweep<'a>,
    laid: &'a StripLayout,
    schedule: Schedule,
    /// Whether the right border is not needed.
    is_quiet: bool,
    started: Instant,
    /// Index of the next dispatch.
    pub next: u32,
    /// Last row of the left border that is on the device.
    left_rows: Option<u32>,
    /// Greatest H in the rows of the left border that the previous submission reads. Some strips
    /// read these rows only in the next submission.
    reached_before: i32,
    /// Next row of the right border.
    right_begin: u32,
    /// Time that the host waited for the left neighbour.
    waited: Duration,
    /// Time that the device was busy; `None` if it has no clock.
    busy: Option<Duration>,
    /// State that all strips share, after the last submission.
    shared: StripedShared,
    /// Borders inside the panel.
    pub inner: InnerBorders,
}

/// A submission that the device is computing.
pub(super) struct StripSubmission {
    readback: Readback,
    staging: wgpu::Buffer,
    clock: PassTimer,
    /// Rows of the right border that it returns.
    right: Range<u32>,
    /// Parts of the borders inside the panel that it returns.
    inner: ReturnedBorders,
    /// Number of cells that are computed after the submission.
    cells: u64,
}

impl<'a> PanelRun<'a> {
    /// Creates the state of a panel before its first submission.
    pub(super) fn new(
        sweep: &'a PanelSweep<'a>,
        laid: &'a StripLayout,
        schedule: Schedule,
        keep: RecordPolicy,
    ) -> Self {
        PanelRun {
            sweep,
            laid,
            schedule,
            is_quiet: keep.quiet,
            inner: if keep.quiet { InnerBorders::default() } else { InnerBorders::new(sweep, &laid.plan) },
            started: Instant::now(),
            next: 0,
            left_rows: None,
            reached_before: 0,
            right_begin: 0,
            waited: Duration::ZERO,
            busy: Some(Duration::ZERO),
            shared: StripedShared::zeroed(),
        }
    }
}

impl GpuLong {
    /// Uploads the next part of the left border, and submits at most `count` dispatches.
    pub(super) fn submit_dispatches(
        &mut self,
        run: &mut PanelRun<'_>,
        count: u32,
        left: &dyn LeftSource,
    ) -> Result<StripSubmission> {
        let StripLayout { plan, variant, vertical, horizontal, shared, .. } = run.laid;
        let gpu = self.gpu.clone();
        let end = (run.next + count).min(plan.dispatches);
        let begin = Instant::now();
        let reached = self.write_left(vertical, run.sweep, left, plan.left_rows(end - 1), &mut run.left_rows)?;
        run.waited += begin.elapsed();
        let clock = self.buffers.clocks.pop().unwrap_or_else(|| PassTimer::new(&gpu));
        let known = PruningHints { best: run.sweep.best.get(), left_reached: reached.max(run.reached_before) };
        run.reached_before = reached;
        let mut commands = Commands::default();
        for (index, dispatch) in run.laid.hand_over(&gpu, run.next..end, known).into_iter().enumerate() {
            // If strips wait for each other, the tickets are reset for each dispatch.
            if index == 0 || run.schedule == Schedule::Persistent {
                run.laid.clear_tickets(&mut commands);
            }
            commands.dispatch(0, dispatch.params_offset, [dispatch.workgroups, 1, 1]);
        }
        // Row 0 of the right border is known once the last strip has started.
        let right_end = match plan.right_rows(end - 1, variant.lanes) {
            rows if rows > 0 && !run.is_quiet => rows + 1,
            _ => run.right_begin,
        };
        let right = std::mem::replace(&mut run.right_begin, right_end)..right_end;
        let border_bytes = u64::from(right.end - right.start) * 8;
        commands.copy_back(shared, 0..SHARED_BYTES);
        if border_bytes > 0 {
            let from = (plan.right_begin() + u64::from(right.start)) * 8;
            commands.copy_back(vertical, from..from + border_bytes);
        }
        let inner = run.inner.copy_back(plan, right.clone(), [vertical, horizontal], &mut commands);
        let staging = self.free_staging(commands.staging_bytes(true))?;
        let programs = std::slice::from_ref(&run.laid.program);
        let readback = commands.submit(&gpu, "strips", programs, &staging, Some(&clock));
        run.next = end;
        Ok(StripSubmission { readback, staging, clock, right, inner, cells: plan.cells(end - 1) })
    }

    /// Waits for a submission, and delivers its rows of the right border and the marks that it
    /// completes. Returns `false` if a strip waited too long.
    pub(super) fn receive(
        &mut self,
        run: &mut PanelRun<'_>,
        flight: StripSubmission,
        sink: &dyn SweepSink,
        handed: &mut DeliveredRange,
    ) -> Result<bool> {
        let StripSubmission { readback, staging, clock, right, inner, cells } = flight;
        let words = readback.read(&self.gpu, PATIENCE)?;
        run.busy = run.busy.zip(clock.elapsed(&self.gpu, &words)).map(|(all, this_run)| all + this_run);
        let head = SHARED_BYTES as usize / 4;
        run.shared = bytemuck::cast_slice::<u32, StripedShared>(&words[..head])[0];
        if run.shared.stuck != 0 {
            return Ok(false);
        }
        if run.laid.variant.prune {
            run.sweep.best.raise(run.shared.best);
        }
        // If a panel is computed again with another schedule, some rows have already been
        // delivered.
        let skip = handed.rows.saturating_sub(right.start).min(right.end - right.start);
        let of_inner = head + 2 * right.len();
        let known_rows = handed.rows;
        if skip < right.end - right.start {
            let pairs = words[head + 2 * skip as usize..of_inner].chunks_exact(2);
            let (h, gap): (Vec<i32>, Vec<i32>) =
                pairs.map(|pair| ((pair[0] ^ FLIP) as i32, (pair[1] ^ FLIP) as i32)).unzip();
            sink.push_right_border(run.sweep.rows.first + right.start + skip, &h, &gap)?;
            handed.rows = right.end;
        }
        let last_row = run.laid.plan.params.rows;
        let marks = run.inner.take(&words[of_inner..], inner, last_row, self.pool.as_deref());
        for (row, border) in marks.into_iter().filter(|&(row, _)| row >= known_rows) {
            sink.push_row(run.sweep.rows.first + row, border)?;
        }
        drop(words);
        self.buffers.spare.push(staging);
        self.buffers.clocks.push(clock);
        // Counts each cell once.
        sink.progress(cells.saturating_sub(handed.cells), None);
        handed.cells = handed.cells.max(cells);
        Ok(true)
    }

    /// Learns the speed of the device from a panel. Returns the number of cells that were pruned.
    pub(super) fn learn_speed(&mut self, run: &PanelRun<'_>) -> u64 {
        let StripLayout { plan, variant, .. } = run.laid;
        let (rows, columns) = (plan.params.rows, plan.params.columns);
        let seconds = run.started.elapsed();
        // If the engine waited for its left neighbour, only the device's clock shows its speed.
        let busy = run.busy.or((run.waited < seconds / WAITING_SHARE).then_some(seconds));
        tracing::debug!(
            rows,
            columns,
            cells = variant.cells,
            strips = plan.params.strips,
            dispatches = plan.dispatches,
            seconds = seconds.as_secs_f64(),
            waited = run.waited.as_secs_f64(),
            busy = busy.map(|busy| busy.as_secs_f64()),
            "panel computed"
        );
        let batch_cells = u64::from(variant.strip()) * u64::from(variant.batch * BLOCK_ROWS);
        let all = u64::from(rows) * u64::from(columns);
        let pruned_cells = (u64::from(run.shared.pruned) * batch_cells).min(all);
        // A panel that was mostly pruned does not show the speed.
        if let Some(busy) = busy.filter(|&busy| busy > MIN_MEASURED_DURATION && pruned_cells < all / 2) {
            self.speed = all as f64 / busy.as_secs_f64();
        }
        pruned_cells
    }
}
