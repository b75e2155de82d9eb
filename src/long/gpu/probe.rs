//! Tests whether workgroups of an adapter can wait for each other, because no API guarantees it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use super::delivery::{DeliveredRange, RecordPolicy};
use super::{GpuLong, Schedule};

use crate::error::Result;
use crate::gpu::adapter::AdapterDescription;
use crate::gpu::choosing::Store;
use crate::gpu::kernels::{KernelKind, fingerprint};
use crate::long::kernels::samples;
use crate::long::{BestCell, BestSoFar, Border, BorderSpan, KeptBorder, LeftSource, LongPair, PanelSweep, SweepSink};
use crate::score::{Ambiguity, EndGaps, Gaps, Scoring};
use crate::seq::Code;

/// The first column of a pair's matrix, which is the left border of its first panel.
struct FirstColumn<'a>(&'a LongPair);

impl LeftSource for FirstColumn<'_> {
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()> {
        let border = self.0.left_border(first..until);
        h.copy_from_slice(&border.h);
        gap.copy_from_slice(&border.gap);
        Ok(())
    }

    fn last_known_row(&self) -> u32 {
        u32::MAX
    }
}

/// Results of the trial by adapter.
static FORWARD_PROGRESS: Store<bool> = Store::new("forward-progress.json");

/// Number of strips in the trial. It exceeds the number that an adapter runs at once.
const STRIPS: u32 = 2048;

/// Stores the right border.
#[derive(Default)]
struct ProbeSink(Mutex<Border>);

impl SweepSink for ProbeSink {
    fn push_right_border(&self, _first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        let mut border = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        border.h.extend(h);
        border.gap.extend(gap);
        Ok(())
    }

    fn push_row(&self, _row: u32, _border: KeptBorder) -> Result<()> {
        Ok(())
    }

    fn progress(&self, _cells: u64, _best: Option<BestCell>) {}
}

/// Returns a key made from everything that influences the result.
fn cache_key(description: &AdapterDescription) -> String {
    description.fingerprint().with("programs", format!("{:016x}", fingerprint(samples(KernelKind::Strips)))).key()
}

impl GpuLong {
    /// Returns the fastest schedule that is safe on this device.
    pub(super) fn schedule(&mut self) -> Result<Schedule> {
        if let Some(schedule) = self.shape.schedule {
            return Ok(schedule);
        }
        // A software adapter runs few workgroups at once, so waiting would only cost time.
        if self.software {
            return Ok(Schedule::Wavefront);
        }
        let proceeds = match self.proceeds {
            Some(known) => known,
            None => {
                let key = cache_key(&self.gpu.description);
                let known = match FORWARD_PROGRESS.get(&key) {
                    Some(known) => known,
                    None => {
                        // The panel of the trial has few rows, and kernels are compiled meanwhile,
                        // so its speed is not representative.
                        let speed = self.speed;
                        let makes_progress = self.probe()?;
                        self.speed = speed;
                        // With little memory, the trial had fewer strips than a later run may have,
                        // so its result is not stored.
                        if self.most_strips(self.cells(1 << 20, 4)) >= STRIPS {
                            FORWARD_PROGRESS.keep(&key, makes_progress);
                        }
                        makes_progress
                    }
                };
                self.proceeds = Some(known);
                known
            }
        };
        Ok(if proceeds { Schedule::Persistent } else { Schedule::Wavefront })
    }

    /// Computes a small pair with more strips than an adapter runs at once, with and without
    /// waiting. A strip reports if it waits for some tenths of a second. Returns `false` if a strip
    /// reported, or if the results differ.
    fn probe(&mut self) -> Result<bool> {
        let symbols = |count: u32, seed: u32| -> Arc<[Code]> {
            (0..count).map(|k| 1 << (k.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13 & 3)).collect()
        };
        let gaps = Gaps::from_blast(5, 2);
        let scoring = Scoring::nucleotide(2, -3, Ambiguity::Overlap, gaps, EndGaps::Charged)?;
        let cells = self.cells(1 << 20, 4);
        let columns = self.most_strips(cells).min(STRIPS) * self.lanes() * cells;
        let pair = LongPair { query: symbols(300, 1), target: symbols(columns, 7), scoring: scoring.into() };
        let top = pair.top_border(0..columns);
        let (best, interrupt) = (BestSoFar::default(), AtomicBool::new(false));
        let sweep = PanelSweep {
            pair: &pair,
            rows: BorderSpan::new(0, 300),
            columns: BorderSpan::new(0, columns),
            top: &top,
            mark_every: 1 << 20,
            keep_every: None,
            is_kept: false,
            best: &best,
            prune: false,
            interrupt: &interrupt,
        };
        let mut borders = Vec::new();
        for schedule in [Schedule::Wavefront, Schedule::Persistent] {
            let kept = ProbeSink::default();
            let keep = RecordPolicy { columns: None, strip: None, mark_every: 1 << 20, quiet: false };
            if self
                .run_panel(&sweep, keep, schedule, &FirstColumn(&pair), &kept, &mut DeliveredRange::default())?
                .is_none()
            {
                tracing::debug!("workgroups cannot wait for each other here");
                return Ok(false);
            }
            borders.push(kept.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        }
        Ok(borders[0] == borders[1])
    }
}
