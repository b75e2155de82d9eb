//! One half of the double buffer: everything that a batch in flight owns on the device.

use std::sync::Arc;
use std::time::Duration;

use super::decode::{decode_all, decode_kept, drop_blocks};
use super::device::{Gpu, GrowingBuffer};
use super::dispatch::plan_dispatches;
use super::readback::Readback;
use super::resident::Resident;
use crate::engine::{Batch, Report, Want};
use crate::error::Result;
use crate::kernels::nw_slice::{self, Params, Target, TaskList, Variant};
use crate::score::OffsetScoring;

/// Kept pairs that travel back with the status words; more are fetched in a second copy.
const FIRST_KEPT: u64 = 1 << 16;
/// Bytes of two timestamps.
const TIME_BYTES: u64 = 16;

/// A batch made ready for the device.
pub struct Work<'a> {
    pub batch: &'a Arc<Batch>,
    pub list: TaskList,
    pub scoring: OffsetScoring,
    pub variant: Variant,
    pub scratch_slots: u32,
    /// Loop iterations that an invocation may make in one dispatch, if the device limits them.
    pub loop_budget: Option<u64>,
    pub pipeline: &'a wgpu::ComputePipeline,
    pub layout: &'a wgpu::BindGroupLayout,
    pub queries: &'a Resident,
    pub targets: &'a Resident,
    pub scratch: &'a wgpu::Buffer,
}

/// Buffers of a slot and the batch that is in it.
pub struct Slot {
    params: GrowingBuffer,
    targets: GrowingBuffer,
    tasks: GrowingBuffer,
    table: GrowingBuffer,
    output: GrowingBuffer,
    staging: GrowingBuffer,
    times: Option<(wgpu::QuerySet, wgpu::Buffer)>,
    in_flight: Option<InFlight>,
}

struct InFlight {
    batch: Arc<Batch>,
    list: TaskList,
    scoring: OffsetScoring,
    cells: u64,
    kept_in_staging: u64,
    readback: Readback,
}

impl Slot {
    /// An empty slot.
    pub fn new(gpu: &Gpu) -> Self {
        let times = gpu.timestamps.then(|| {
            let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("pass times"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pass times"),
                size: TIME_BYTES,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            });
            (queries, buffer)
        });
        Slot {
            params: GrowingBuffer::default(),
            targets: GrowingBuffer::default(),
            tasks: GrowingBuffer::default(),
            table: GrowingBuffer::default(),
            output: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            times,
            in_flight: None,
        }
    }

    /// Cells of the batch in flight.
    pub fn cells(&self) -> u64 {
        self.in_flight.as_ref().map_or(0, |flight| flight.cells)
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

        let targets: Vec<Target> = batch
            .band
            .order
            .iter()
            .map(|&id| Target {
                end_word: work.targets.end_word(&batch.band.targets, id),
                symbols: batch.band.targets.length(id),
            })
            .collect();
        let dispatches = plan_dispatches(&work);
        let stride =
            size_of::<Params>().next_multiple_of(gpu.device.limits().min_uniform_buffer_offset_alignment as usize);
        let mut params = vec![0u8; stride * dispatches.len()];
        for (place, dispatch) in params.chunks_mut(stride).zip(&dispatches) {
            place[..size_of::<Params>()].copy_from_slice(bytemuck::bytes_of(&dispatch.params));
        }

        let fill = |buffer: &mut GrowingBuffer, label: &str, usage: wgpu::BufferUsages, content: &[u8]| {
            let buffer = buffer.reserve(gpu, label, content.len() as u64, usage)?;
            gpu.queue.write_buffer(buffer, 0, content);
            Result::Ok(buffer.clone())
        };
        let uniform = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let params_buffer = fill(&mut self.params, "parameters", uniform, &params)?;
        let targets_buffer = fill(&mut self.targets, "targets", storage, bytemuck::cast_slice(&targets))?;
        let tasks_buffer = fill(&mut self.tasks, "tasks", storage, bytemuck::cast_slice(&list.tasks))?;
        let table_buffer = fill(&mut self.table, "table", storage, bytemuck::cast_slice(work.scoring.table()))?;
        let output = self.output.reserve(gpu, "output", output_bytes, storage | wgpu::BufferUsages::COPY_SRC)?.clone();
        let staging = self
            .staging
            .reserve(gpu, "staging", staging_bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?
            .clone();

        let entries = [
            (1, &work.queries.buffer),
            (2, &work.targets.buffer),
            (3, &targets_buffer),
            (4, &tasks_buffer),
            (5, &table_buffer),
            (6, work.scratch),
            (7, &output),
        ];
        let mut bindings = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &params_buffer,
                offset: 0,
                size: std::num::NonZeroU64::new(size_of::<Params>() as u64),
            }),
        }];
        bindings.extend(
            entries.map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() }),
        );
        let bind_group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("nw_slice"),
            layout: work.layout,
            entries: &bindings,
        });

        let mut readback = None;
        for (index, dispatch) in dispatches.iter().enumerate() {
            let (first, last) = (index == 0, index + 1 == dispatches.len());
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            if first {
                // Tickets, the number of kept pairs and the status words begin at 0.
                encoder.clear_buffer(&output, 0, Some(4 * before_values));
            }
            {
                let timestamp_writes = self.times.as_ref().map(|(queries, _)| wgpu::ComputePassTimestampWrites {
                    query_set: queries,
                    beginning_of_pass_write_index: first.then_some(0),
                    end_of_pass_write_index: last.then_some(1),
                });
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("nw_slice"),
                    timestamp_writes: timestamp_writes.filter(|_| first || last),
                });
                pass.set_pipeline(work.pipeline);
                pass.set_bind_group(0, &bind_group, &[(index * stride) as u32]);
                pass.dispatch_workgroups(dispatch.workgroups, 1, 1);
            }
            if last {
                encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, copied_bytes);
                if let Some((queries, buffer)) = &self.times {
                    encoder.resolve_query_set(queries, 0..2, buffer, 0);
                    encoder.copy_buffer_to_buffer(buffer, 0, &staging, time_offset, TIME_BYTES);
                }
            }
            let submission = gpu.queue.submit([encoder.finish()]);
            readback = last.then(|| Readback::begin(&staging, staging_bytes, submission));
        }
        self.in_flight = readback.map(|readback| InFlight {
            cells: batch.cells(),
            batch: Arc::clone(batch),
            scoring: work.scoring,
            list: work.list,
            kept_in_staging,
            readback,
        });
        gpu.check()
    }

    /// Waits for the batch and decodes its results.
    pub fn finish(&mut self, gpu: &Gpu, limit: Duration) -> Result<Report> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = flight.readback.words(gpu, limit)?;
        let header = nw_slice::OUTPUT_HEADER_WORDS as usize;
        let (status, values) = words[header..].split_at(flight.list.tasks.len());
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
        let kernel_time = self.times.is_some().then(|| {
            let at = words.len() - TIME_BYTES as usize / 4;
            let ticks = |at: usize| words[at] as u64 | (words[at + 1] as u64) << 32;
            let nanoseconds = ticks(at + 2).saturating_sub(ticks(at)) as f64 * gpu.queue.get_timestamp_period() as f64;
            Duration::from_nanos(nanoseconds as u64)
        });
        Ok(Report { hits, unfinished, kernel_time })
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
