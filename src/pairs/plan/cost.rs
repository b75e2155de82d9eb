//! Speeds of the kernels for pairs, from which [`crate::gpu::choosing`] selects a kernel.

use serde::{Deserialize, Serialize};

use crate::gpu::choosing::Speed;

/// Speed of tracebacks on one CPU thread for linear and for affine gaps, in cells per second, where
/// all cells of the matrix count. Measured for 16S genes with AVX-512. For linear gaps, score and
/// number of matches allow narrow bands. Affine gaps need wider bands.
const TRACE_CELLS_A_THREAD: [f64; 2] = [2.4e10, 4.5e9];

/// Speeds of one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairsKernelSpeed {
    /// Speed without alignments.
    pub scores: Speed,
    /// Speed with directions and traceback.
    pub aligned: Speed,
}

/// Number of kernels in the model, in the order of the kernel table.
pub const KERNEL_COUNT: usize = 7;

/// Speeds of all kernels on a device, for linear or affine gaps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairsSpeeds(pub [PairsKernelSpeed; KERNEL_COUNT]);

impl PairsSpeeds {
    /// Returns the speeds of an H200 (1,500 symbols, DNA, by timestamps), scaled to a device on
    /// which the first kernel reaches `cells_per_second`. The ratios between kernels differ on
    /// other devices. The durations of the first batches correct them.
    pub fn typical(affine: bool, cells_per_second: f64) -> Self {
        // Speeds in 10^9 cells per second. Columns: `full` and `lone` speed without alignments,
        // then `full` and `lone` speed with alignments (see [`Speed`]).
        let table: [[f64; 4]; KERNEL_COUNT] = if affine {
            [
                [3670.0, 0.12, 1.0, 0.12],
                [4640.0, 0.12, 1.0, 0.12],
                [2900.0, 0.14, 920.0, 0.065],
                [1850.0, 3.3, 1140.0, 2.0],
                [2140.0, 2.2, 1180.0, 1.3],
                [1950.0, 2.0, 850.0, 1.0],
                [2880.0, 0.6, 1720.0, 0.4],
            ]
        } else {
            [
                [6800.0, 0.24, 1.0, 0.24],
                [7700.0, 0.24, 1.0, 0.24],
                [5400.0, 0.36, 2450.0, 0.18],
                [2640.0, 5.6, 1700.0, 3.4],
                [3300.0, 3.1, 2130.0, 1.7],
                [2960.0, 2.55, 1900.0, 1.3],
                [5020.0, 1.0, 3120.0, 0.6],
            ]
        };
        let scale = if cells_per_second > 0.0 { cells_per_second / table[0][0] } else { 1e9 };
        PairsSpeeds(table.map(|[full, lone, aligned_full, aligned_lone]| PairsKernelSpeed {
            scores: Speed { full: full * scale, lone: lone * scale },
            aligned: Speed { full: aligned_full * scale, lone: aligned_lone * scale },
        }))
    }
}

/// Returns the seconds that `threads` CPU threads need to trace pairs with this number of cells.
pub fn host_trace_seconds(cells: f64, is_linear: bool, threads: usize) -> f64 {
    cells / (TRACE_CELLS_A_THREAD[!is_linear as usize] * threads.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::choosing::WorkEstimate;

    fn work(pairs: f64, length: f64) -> WorkEstimate {
        WorkEstimate {
            cells: pairs * length * length,
            chain: length * length,
            dispatches: 1.0,
            ..WorkEstimate::default()
        }
    }

    #[test]
    fn many_pairs_use_the_fastest_kernel_and_few_pairs_a_cooperative_one() {
        let PairsSpeeds(speeds) = PairsSpeeds::typical(false, 0.0);
        let best = |pairs, length| {
            (0..5).min_by(|&a, &b| {
                let seconds = |kernel: usize| speeds[kernel].scores.seconds(&work(pairs, length));
                seconds(a).total_cmp(&seconds(b))
            })
        };
        assert_eq!(best(1e6, 1500.0), Some(1));
        assert_eq!(best(8.0, 1500.0), Some(3));
        assert_eq!(best(500.0, 2000.0), Some(3));
    }

    #[test]
    fn the_model_predicts_the_measurements() {
        // GCUPS of an H200: pairs, length, kernel, measured speed.
        for (pairs, length, kernel, measured) in
            [(8.0, 2048.0, 0, 1.9), (512.0, 2048.0, 0, 115.0), (100_000.0, 2048.0, 0, 5798.0), (64.0, 8192.0, 3, 357.0)]
        {
            let work = work(pairs, length);
            let gcups = work.cells / PairsSpeeds::typical(false, 0.0).0[kernel].scores.seconds(&work) / 1e9;
            assert!((gcups / measured - 1.0).abs() < 0.15, "{pairs} x {length}: {gcups}, measured {measured}");
        }
    }
}
