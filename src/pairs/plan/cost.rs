//! What a batch costs on a kernel: the model by which kernels are chosen.
//!
//! A device is full when it computes as many pairs as it can hold at once; a pair alone cannot go faster than the
//! invocations that share it. So the time of a batch is that of all its cells at the full rate, and of the longest chain
//! of cells that depend on each other at the rate of one chain (Graham's bound for list scheduling), and of what each
//! dispatch and each step of a walk back takes beside.

use serde::{Deserialize, Serialize};

/// Seconds of a dispatch that waits for the one before it (2.8 us on an H200; other devices are slower).
const DISPATCH_SECONDS: f64 = 4e-6;
/// Seconds of one column of a walk back, which waits for memory at every few of them (measured on an H200).
const WALK_COLUMN_SECONDS: f64 = 0.9e-6;
/// Cells a second that one CPU thread traces back, counted as if it computed the whole matrix: 16S genes on AVX-512, in
/// bands that score and matches make narrow under linear gaps, less so under affine ones.
const TRACE_CELLS_A_THREAD: [f64; 2] = [2.4e10, 4.5e9];

/// What a batch is for one kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Work {
    /// Cells of all pairs, padding included.
    pub cells: f64,
    /// Cells that come one after the other at least: of the longest pair, or of its chain of tiles.
    pub chain: f64,
    /// Dispatches that wait for each other.
    pub dispatches: f64,
    /// Columns of the longest alignments that are walked back one after the other.
    pub walked_columns: f64,
    /// Seconds on the host beside what every kernel takes there.
    pub host_seconds: f64,
}

/// How fast a kernel is, in cells a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// With enough pairs.
    pub full: f64,
    /// One chain.
    pub lone: f64,
}

impl Speed {
    /// Seconds that a batch takes.
    pub fn seconds(&self, work: &Work) -> f64 {
        work.cells / self.full
            + work.chain / self.lone
            + work.dispatches * DISPATCH_SECONDS
            + work.walked_columns * WALK_COLUMN_SECONDS
            + work.host_seconds
    }

    /// Corrects the full rate by what a batch took, where that rate decided.
    pub fn observe(&mut self, work: &Work, seconds: f64) {
        let (expected, bulk) = (self.seconds(work) - work.host_seconds, work.cells / self.full);
        if bulk > 0.6 * expected && seconds > 0.0 {
            self.full *= (expected / seconds).clamp(0.5, 2.0);
        }
    }
}

/// One kernel's speeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KernelSpeed {
    /// Scores alone.
    pub scores: Speed,
    /// With directions and the walk back.
    pub aligned: Speed,
}

/// Kernels that the model knows, in the order of the kernel table.
pub const KERNEL_COUNT: usize = 5;

/// The speeds of all kernels on a device, for one kind of gaps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Speeds(pub [KernelSpeed; KERNEL_COUNT]);

impl Speeds {
    /// What an H200 does (1,500 symbols, DNA; TCUPS by timestamps), moved to a device on which the first kernel reaches
    /// `cells_per_second`. Other devices differ in their ratios too; what batches take corrects that.
    pub fn typical(affine: bool, cells_per_second: f64) -> Self {
        // Scores full, lone; aligned full, lone, in 10^9 cells a second.
        let table: [[f64; 4]; KERNEL_COUNT] = if affine {
            [
                [3670.0, 0.12, 1.0, 0.12],
                [2700.0, 0.12, 740.0, 0.05],
                [1300.0, 1.4, 560.0, 0.8],
                [1340.0, 0.7, 760.0, 0.5],
                [1000.0, 0.7, 630.0, 0.5],
            ]
        } else {
            [
                [6800.0, 0.24, 1.0, 0.24],
                [5300.0, 0.26, 2200.0, 0.13],
                [2800.0, 3.1, 1640.0, 2.6],
                [2950.0, 1.4, 1610.0, 1.25],
                [2450.0, 1.4, 1470.0, 1.25],
            ]
        };
        let scale = if cells_per_second > 0.0 { cells_per_second / table[0][0] } else { 1e9 };
        Speeds(table.map(|[full, lone, aligned_full, aligned_lone]| KernelSpeed {
            scores: Speed { full: full * scale, lone: lone * scale },
            aligned: Speed { full: aligned_full * scale, lone: aligned_lone * scale },
        }))
    }
}

/// Seconds in which `threads` CPU threads trace back pairs of so many cells.
pub fn host_trace_seconds(cells: f64, is_linear: bool, threads: usize) -> f64 {
    cells / (TRACE_CELLS_A_THREAD[!is_linear as usize] * threads.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(pairs: f64, length: f64) -> Work {
        Work { cells: pairs * length * length, chain: length * length, dispatches: 1.0, ..Work::default() }
    }

    #[test]
    fn many_pairs_go_to_the_fastest_kernel_and_few_to_those_that_share_a_pair() {
        let Speeds(speeds) = Speeds::typical(false, 0.0);
        let best = |pairs, length| {
            (0..4).min_by(|&a, &b| {
                let seconds = |kernel: usize| speeds[kernel].scores.seconds(&work(pairs, length));
                seconds(a).total_cmp(&seconds(b))
            })
        };
        assert_eq!(best(1e6, 1500.0), Some(0));
        assert_eq!(best(8.0, 1500.0), Some(2));
        assert_eq!(best(500.0, 2000.0), Some(2));
    }

    #[test]
    fn the_model_gives_what_was_measured() {
        // GCUPS of an H200: pairs, length, kernel, measured.
        for (pairs, length, kernel, measured) in
            [(8.0, 2048.0, 0, 1.9), (512.0, 2048.0, 0, 115.0), (100_000.0, 2048.0, 0, 5798.0), (64.0, 8192.0, 2, 199.0)]
        {
            let work = work(pairs, length);
            let gcups = work.cells / Speeds::typical(false, 0.0).0[kernel].scores.seconds(&work) / 1e9;
            assert!((gcups / measured - 1.0).abs() < 0.15, "{pairs} x {length}: {gcups}, measured {measured}");
        }
    }

    #[test]
    fn batches_correct_the_full_rate() {
        let mut speed = Speed { full: 1e12, lone: 1e9 };
        let work = work(1e6, 1000.0);
        for _ in 0..20 {
            speed.observe(&work, 4.0);
        }
        assert!((speed.seconds(&work) / 4.0 - 1.0).abs() < 0.05, "{speed:?}");
        // A batch of one pair says nothing about it.
        let before = speed;
        speed.observe(&self::work(1.0, 1000.0), 1.0);
        assert_eq!(speed, before);
    }
}
