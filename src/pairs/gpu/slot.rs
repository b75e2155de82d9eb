//! One half of the double buffer: everything that a batch in flight owns on the device.

use std::sync::Arc;
use std::time::Duration;

use super::decode::{decode_all, decode_kept, drop_blocks};
use super::dispatch::plan_dispatches;
use super::resident::Resident;
use super::upload::Uploads;
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::pairs::kernels::nw_slice::{self, TaskList};
use crate::pairs::{Batch, Report, Want};
use crate::score::OffsetScoring;

/// Kept pairs that travel back with the status words; more are fetched in a second copy.
const FIRST_KEPT: u64 = 1 << 16;

/// A batch made ready for the device.
pub struct Work<'a> {
    pub batch: &'a Arc<Batch>,
    pub list: TaskList,
    pub scoring: OffsetScoring,
    /// What diagonal steps add, as the kernel has it.
    pub table: Vec<i32>,
    /// Columns a slice.
    pub slice: u32,
    pub scratch_slots: u32,
    /// Loop iterations that an invocation may make in one dispatch, if the device limits them.
    pub loop_budget: Option<u64>,
    pub program: &'a Compiled,
    pub queries: &'a Resident,
    pub targets: &'a Resident,
    pub scratch: &'a wgpu::Buffer,
}

/// Buffers of a slot and the batch that is in it.
pub struct Slot {
    uploads: Uploads,
    output: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<InFlight>,
}

struct InFlight {
    batch: Arc<Batch>,
    list: TaskList,
    scoring: OffsetScoring,
    kept_in_staging: u64,
    readback: Readback,
}

impl Slot {
    /// An empty slot.
    pub fn new(gpu: &Gpu) -> Self {
        Slot {
            uploads: Uploads::default(),
            output: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub fn release(&mut self) {
        self.uploads = Uploads::default();
        self.output = GrowingBuffer::default();
        self.staging = GrowingBuffer::default();
        self.in_flight = None;
    }

    /// Uploads the batch's lists, records its dispatches and the copy back, and submits. Does not wait.
    pub fn start(&mut self, gpu: &Gpu, work: Work<'_>) -> Result<()> {
        let (batch, list) = (work.batch, &work.list);
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let before_values = words_before_values(list);
        let keeps_all = !matches!(batch.band.want, Want::Reaching(_));
        let value_words = if keeps_all { list.pairs } else { 2 * list.pairs };
        let output_bytes = 4 * (before_values + value_words);
        let kept_in_staging = if keeps_all { 0 } else { list.pairs.min(FIRST_KEPT) };
        let copied_bytes = 4 * (before_values + if keeps_all { value_words } else { 2 * kept_in_staging });
        let time_offset = copied_bytes.next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;

        let dispatches = plan_dispatches(&work);
        let params = dispatches.iter().map(|dispatch| dispatch.params);
        let uploaded = self.uploads.fill(gpu, &batch.band, work.targets, &list.tasks, &work.table, params)?;
        let output = self.output.reserve(gpu, "output", output_bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let staging = self
            .staging
            .reserve(gpu, "staging", staging_bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?
            .clone();

        let own = [("scratch", work.scratch), ("out", &output)];
        let bind_group = uploaded.bind(gpu, work.program, work.queries, work.targets, &own)?;
        let mut readback = None;
        for (index, dispatch) in dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatches.len());
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if first {
                // Tickets, the number of kept pairs and the status words begin at 0.
                encoder.clear_buffer(&output, 0, Some(4 * before_values));
            }
            {
                let mut pass = self.clock.begin_pass(&mut encoder, "nw_slice", first, last);
                pass.set_pipeline(&work.program.pipeline);
                pass.set_bind_group(0, &bind_group, &[index as u32 * uploaded.params_stride]);
                pass.dispatch_workgroups(dispatch.workgroups, 1, 1);
            }
            if last {
                encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, copied_bytes);
                self.clock.resolve(&mut encoder, &staging, time_offset);
            }
            let submission = gpu.queue.submit([encoder.finish()]);
            readback = last.then(|| Readback::begin(&staging, staging_bytes, submission));
        }
        self.in_flight = readback.map(|readback| InFlight {
            batch: Arc::clone(batch),
            scoring: work.scoring,
            list: work.list,
            kept_in_staging,
            readback,
        });
        gpu.check()
    }

    /// Waits for the batch and decodes its results; `in_place`: straight from the mapped buffer.
    pub fn finish(&mut self, gpu: &Gpu, limit: Duration, in_place: bool) -> Result<Report> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = flight.readback.read(gpu, limit, in_place)?;
        let header = nw_slice::OUTPUT_HEADER_WORDS as usize;
        let (status, values) = words[header..].split_at(flight.list.tasks.len());
        let is_known = |status: u32| [nw_slice::STATUS_NONE, nw_slice::STATUS_DONE].contains(&status);
        if let Some(status) = status.iter().find(|&&status| !is_known(status)) {
            return Err(gpu.error(format!("status {status}, which the kernel does not know")));
        }
        let mut unfinished: Vec<usize> = status
            .iter()
            .zip(&flight.list.blocks)
            .filter(|&(&status, _)| status != nw_slice::STATUS_DONE)
            .map(|(_, &block)| block as usize)
            .collect();
        unfinished.sort_unstable();
        unfinished.dedup();

        let hits = if matches!(flight.batch.band.want, Want::Reaching(_)) {
            let kept = words[1] as u64;
            if kept > flight.list.pairs {
                return Err(gpu.error(format!("{kept} pairs kept of {}", flight.list.pairs)));
            }
            let mut pairs = values[..2 * kept.min(flight.kept_in_staging) as usize].to_vec();
            if kept > flight.kept_in_staging {
                let begin = words_before_values(&flight.list) + 2 * flight.kept_in_staging;
                pairs.extend(self.fetch_words(gpu, begin, 2 * (kept - flight.kept_in_staging), limit)?);
            }
            decode_kept(&flight.batch, &flight.scoring, &pairs)
        } else {
            decode_all(&flight.batch, &flight.scoring, values)
        };
        let hits = drop_blocks(hits, &flight.batch, &unfinished);
        let kernel_time = self.clock.elapsed(gpu, &words);
        Ok(Report { hits, unfinished, kernel_time, ..Report::default() })
    }

    /// Copies words of the output that did not come with the first copy.
    fn fetch_words(&self, gpu: &Gpu, begin: u64, count: u64, limit: Duration) -> Result<Vec<u32>> {
        let output = self.output.get().ok_or_else(|| gpu.error("no output buffer"))?;
        let staging =
            gpu.buffer("staging of the rest", 4 * count, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(output, 4 * begin, &staging, 0, 4 * count);
        let submission = gpu.queue.submit([encoder.finish()]);
        Readback::begin(&staging, 4 * count, submission).words(gpu, limit)
    }
}

/// Words of the output before its values: the header and one status word a task.
fn words_before_values(list: &TaskList) -> u64 {
    nw_slice::OUTPUT_HEADER_WORDS + list.tasks.len() as u64
}
