//! Device memory of a batch of local scores, and the decoding of its results.

use std::time::Duration;

use super::plan::TilePlan;
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::launch::{BatchResults, Buffers, Slot};
use crate::gpu::pipeline::Compiled;
use crate::pairs::PairsChunk;
use crate::pairs::gpu::resident::ResidentSequences;
use crate::pairs::gpu::upload::{HeldTargets, Inputs};
use crate::pairs::kernels::sw_tile::{self, OUTPUT_HEADER_WORDS, STATUS_DONE};

/// Number of listed pairs that are copied at first. If there are more, a second copy fetches the
/// rest.
const FIRST_LISTED: u64 = 1 << 16;

/// Buffers of a batch, and the batch in flight.
pub(in crate::pairs::gpu) struct TileFlight {
    pub buffers: Buffers,
    targets: HeldTargets,
    in_flight: Option<TileInFlight>,
}

struct TileInFlight {
    tasks: usize,
    pairs: u64,
    halved: u64,
    bounded: u64,
    /// Greatest number of listed pairs in the staging buffer. `None` if it holds all scores.
    listed: Option<u64>,
}

/// A batch that is ready for the device.
pub(super) struct TileWork<'a> {
    pub chunk: &'a PairsChunk,
    pub plan: TilePlan,
    /// Programs of the plan's launches.
    pub programs: Vec<Compiled>,
    pub pairs: u64,
    pub lists: bool,
    pub queries: &'a ResidentSequences,
    pub targets: &'a ResidentSequences,
    pub scratch: &'a wgpu::Buffer,
}

/// Results of a batch.
pub(super) struct TileOutcome {
    /// Indices and scores of pairs. `None` if the device did not complete all tasks.
    pub scores: Option<Vec<(u32, i32)>>,
    /// Number of pairs that were computed with f16.
    pub halved: u64,
    /// Number of pairs whose scores are only lower bounds.
    pub bounded: u64,
    pub kernel_time: Option<Duration>,
}

impl TileFlight {
    pub(super) fn new(gpu: &Gpu) -> Self {
        TileFlight { buffers: Buffers::new(gpu), targets: HeldTargets::default(), in_flight: None }
    }

    /// Frees the buffers. No batch may be in flight.
    pub(super) fn release(&mut self) {
        self.buffers.release();
        self.in_flight = None;
    }

    /// Uploads the batch's lists, records its dispatches and the copy of the results to the host,
    /// and submits them. Does not wait for the device.
    pub(super) fn record(&mut self, gpu: &Gpu, work: TileWork<'_>) -> Result<()> {
        let TilePlan { tasks, parts, launches, halved, bounded, .. } = &work.plan;
        let before_scores = OUTPUT_HEADER_WORDS + tasks.len() as u64;
        let before_list = before_scores + work.pairs;
        let output_words = before_list + if work.lists { 2 * work.pairs } else { 0 };
        let listed = work.lists.then(|| work.pairs.min(FIRST_LISTED));

        let mut recording = self.buffers.record(gpu);
        let TileWork { chunk, queries, targets, .. } = work;
        let table = sw_tile::table(&chunk.scoring);
        self.targets.record(&mut recording, &Inputs { chunk, queries, targets, tasks, table: &table })?;
        recording.resident("scratch", work.scratch);
        recording.upload("parts", parts)?;
        recording.reserve("out", 4 * output_words)?;
        recording.zero("out", 0..4 * before_scores)?;
        let mut left: usize = launches.iter().map(|launch| launch.dispatches.len()).sum();
        for (launch, program) in launches.iter().zip(&work.programs) {
            // The ticket counter starts at 0 for every launch.
            recording.zero("out", 0..4)?;
            for dispatch in &launch.dispatches {
                recording.dispatch(program, &dispatch.params, dispatch.workgroups.into());
                left -= 1;
                // One submission with all dispatches might exceed the time limit of a driver.
                if dispatch.ends_round && left > 0 {
                    recording.cut();
                }
            }
        }
        match listed {
            None => recording.copy_back("out", 0..4 * before_list)?,
            Some(listed) => {
                recording.copy_back("out", 0..4 * before_scores)?;
                recording.copy_back("out", 4 * before_list..4 * before_list + 8 * listed)?;
            }
        }
        recording.submit("sw_tile")?;
        let (tasks, pairs, halved, bounded) = (tasks.len(), work.pairs, *halved, *bounded);
        self.in_flight = Some(TileInFlight { tasks, pairs, halved, bounded, listed });
        Ok(())
    }

    /// Decodes the scores of the batch.
    pub(super) fn decode(&mut self, gpu: &Gpu, results: BatchResults) -> Result<TileOutcome> {
        let Some(flight) = self.in_flight.take() else {
            return Err(gpu.error("no batch in flight"));
        };
        let BatchResults { words, kernel_time, limit } = results;
        let words = words.into_vec();
        let kernel_time = kernel_time.filter(|_| flight.tasks > 0);
        let (status, scores) = words[OUTPUT_HEADER_WORDS as usize..].split_at(flight.tasks);
        if status.iter().any(|&status| status != STATUS_DONE) {
            return Ok(TileOutcome { scores: None, halved: 0, bounded: 0, kernel_time });
        }
        let scores = match flight.listed {
            None => (0..).zip(&scores[..flight.pairs as usize]).map(|(pair, &score)| (pair, score as i32)).collect(),
            Some(first) => {
                let count = u64::from(words[1]);
                if count > flight.pairs {
                    return Err(gpu.error(format!("the kernel reports {count} listed pairs out of {}", flight.pairs)));
                }
                let mut list = scores[..2 * count.min(first) as usize].to_vec();
                if count > first {
                    let begin = OUTPUT_HEADER_WORDS + flight.tasks as u64 + flight.pairs + 2 * first;
                    let end = begin + 2 * (count - first);
                    list.extend_from_slice(&self.buffers.fetch(gpu, "out", 4 * begin..4 * end, limit)?);
                }
                list.chunks_exact(2).map(|pair| (pair[0], pair[1] as i32)).collect()
            }
        };
        Ok(TileOutcome { scores: Some(scores), halved: flight.halved, bounded: flight.bounded, kernel_time })
    }
}
