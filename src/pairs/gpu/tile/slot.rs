//! What a batch of local scores owns on the device, and the way of its results back.

use std::time::Duration;

use super::plan::Plan;
use crate::error::Result;
use crate::gpu::clock::{Clock, TIME_BYTES};
use crate::gpu::device::{Gpu, GrowingBuffer};
use crate::gpu::pipeline::Compiled;
use crate::gpu::readback::Readback;
use crate::pairs::Band;
use crate::pairs::gpu::resident::Resident;
use crate::pairs::gpu::upload::{self, Uploads};
use crate::pairs::kernels::sw_tile::{self, OUTPUT_HEADER_WORDS, STATUS_DONE};

/// Listed pairs that travel back at once; more are fetched in a second copy.
const FIRST_LISTED: u64 = 1 << 16;

/// Buffers of a batch, and what of it is in flight.
pub(in crate::pairs::gpu) struct Flight {
    uploads: Uploads,
    parts: GrowingBuffer,
    output: GrowingBuffer,
    staging: GrowingBuffer,
    clock: Clock,
    in_flight: Option<InFlight>,
}

struct InFlight {
    tasks: usize,
    pairs: u64,
    halved: u64,
    bounded: u64,
    /// Listed pairs that are in the staging buffer at most; `None` if all scores are.
    listed: Option<u64>,
    readback: Readback,
}

/// A batch made ready for the device.
pub(super) struct Work<'a> {
    pub band: &'a Band,
    pub plan: Plan,
    /// The programs of the plan's launches.
    pub programs: Vec<Compiled>,
    pub pairs: u64,
    pub lists: bool,
    pub queries: &'a Resident,
    pub targets: &'a Resident,
    pub scratch: &'a wgpu::Buffer,
}

/// What came of a batch.
pub(super) struct Outcome {
    /// Indices of pairs and their scores; `None` if the device did not do all tasks.
    pub scores: Option<Vec<(u32, i32)>>,
    /// Pairs that were computed in halves.
    pub halved: u64,
    /// Pairs whose bounds were computed: of these the scores are bounds, too.
    pub bounded: u64,
    pub kernel_time: Option<Duration>,
}

impl Flight {
    pub(super) fn new(gpu: &Gpu) -> Self {
        Flight {
            uploads: Uploads::default(),
            parts: GrowingBuffer::default(),
            output: GrowingBuffer::default(),
            staging: GrowingBuffer::default(),
            clock: Clock::new(gpu),
            in_flight: None,
        }
    }

    /// Gives the memory of its buffers back; it holds no batch.
    pub(super) fn release(&mut self) {
        self.uploads = Uploads::default();
        self.parts = GrowingBuffer::default();
        self.output = GrowingBuffer::default();
        self.staging = GrowingBuffer::default();
        self.in_flight = None;
    }

    /// Uploads the batch's lists, records its dispatches and the copy back, and submits. Does not wait.
    pub(super) fn start(&mut self, gpu: &Gpu, work: Work<'_>) -> Result<()> {
        let Plan { tasks, parts, launches, halved, bounded, .. } = &work.plan;
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let before_scores = OUTPUT_HEADER_WORDS + tasks.len() as u64;
        let before_list = before_scores + work.pairs;
        let output_words = before_list + if work.lists { 2 * work.pairs } else { 0 };
        let listed = work.lists.then(|| work.pairs.min(FIRST_LISTED));
        let copied_words = before_scores + listed.map_or(work.pairs, |listed| 2 * listed);
        let time_offset = (4 * copied_words).next_multiple_of(8);
        let staging_bytes = time_offset + TIME_BYTES;

        let dispatches = || launches.iter().flat_map(|launch| &launch.dispatches);
        let params: Vec<sw_tile::Params> = dispatches().map(|dispatch| dispatch.params).collect();
        let table = sw_tile::table(&work.band.scoring);
        let uploaded = self.uploads.fill(gpu, work.band, work.targets, tasks, &table, params.into_iter())?;
        let output = self.output.reserve(gpu, "output", 4 * output_words, storage)?.clone();
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.staging.reserve(gpu, "staging", staging_bytes, usage)?.clone();
        let parts = upload::fill(gpu, &mut self.parts, "parts", storage, bytemuck::cast_slice(parts))?;
        let own = [("scratch", work.scratch), ("out", &output), ("parts", &parts)];
        let bind = |program| uploaded.bind(gpu, program, work.queries, work.targets, &own);
        let groups: Vec<wgpu::BindGroup> = work.programs.iter().map(bind).collect::<Result<_>>()?;

        let launched = launches.iter().zip(&work.programs).zip(&groups);
        let count = dispatches().count();
        let mut index = 0;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&output, 0, Some(4 * before_scores));
        for ((launch, program), group) in launched {
            // Every launch draws tickets of its own.
            encoder.clear_buffer(&output, 0, Some(4));
            for dispatch in &launch.dispatches {
                let mut pass = self.clock.begin_pass(&mut encoder, "sw_tile", index == 0, index + 1 == count);
                pass.set_pipeline(&program.pipeline);
                pass.set_bind_group(0, group, &[index as u32 * uploaded.params_stride]);
                pass.dispatch_workgroups(dispatch.workgroups, 1, 1);
                drop(pass);
                index += 1;
                // By themselves, as together they may last as long as a driver allows.
                if dispatch.ends_round && index < count {
                    let done = std::mem::replace(&mut encoder, gpu.device.create_command_encoder(&Default::default()));
                    gpu.queue.submit([done.finish()]);
                }
            }
        }
        match listed {
            None => encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, 4 * copied_words),
            Some(listed) => {
                encoder.copy_buffer_to_buffer(&output, 0, &staging, 0, 4 * before_scores);
                encoder.copy_buffer_to_buffer(&output, 4 * before_list, &staging, 4 * before_scores, 8 * listed);
            }
        }
        if count > 0 {
            self.clock.resolve(&mut encoder, &staging, time_offset);
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        let readback = Readback::begin(&staging, staging_bytes, submission);
        let (tasks, pairs, halved, bounded) = (tasks.len(), work.pairs, *halved, *bounded);
        self.in_flight = Some(InFlight { tasks, pairs, halved, bounded, listed, readback });
        gpu.check()
    }

    /// Waits for the batch and reads its scores.
    pub(super) fn finish(&mut self, gpu: &Gpu, limit: Duration) -> Result<Outcome> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let words = flight.readback.words(gpu, limit)?;
        let kernel_time = if flight.tasks > 0 { self.clock.elapsed(gpu, &words) } else { None };
        let (status, scores) = words[OUTPUT_HEADER_WORDS as usize..].split_at(flight.tasks);
        if status.iter().any(|&status| status != STATUS_DONE) {
            return Ok(Outcome { scores: None, halved: 0, bounded: 0, kernel_time });
        }
        let scores = match flight.listed {
            None => (0..).zip(&scores[..flight.pairs as usize]).map(|(pair, &score)| (pair, score as i32)).collect(),
            Some(first) => {
                let count = u64::from(words[1]);
                if count > flight.pairs {
                    return Err(gpu.error(format!("{count} pairs listed of {}", flight.pairs)));
                }
                let mut list = scores[..2 * count.min(first) as usize].to_vec();
                if count > first {
                    let begin = OUTPUT_HEADER_WORDS + flight.tasks as u64 + flight.pairs + 2 * first;
                    list.extend(self.fetch_words(gpu, begin, 2 * (count - first), limit)?);
                }
                list.chunks_exact(2).map(|pair| (pair[0], pair[1] as i32)).collect()
            }
        };
        Ok(Outcome { scores: Some(scores), halved: flight.halved, bounded: flight.bounded, kernel_time })
    }

    /// Copies words of the output that did not come with the first copy.
    fn fetch_words(&self, gpu: &Gpu, begin: u64, count: u64, limit: Duration) -> Result<Vec<u32>> {
        let output = self.output.get().ok_or_else(|| gpu.error("no output buffer"))?;
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = gpu.buffer("staging of the rest", 4 * count, usage)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(output, 4 * begin, &staging, 0, 4 * count);
        let submission = gpu.queue.submit([encoder.finish()]);
        Readback::begin(&staging, 4 * count, submission).words(gpu, limit)
    }
}
