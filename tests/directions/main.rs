//! Alignments that devices trace: the kernels that store directions, and the traceback that reads
//! them. Every test body is instantiated for every such kernel.

mod jobs;
mod memory;
mod numbers;
mod shapes;
mod subgroups;
mod traced;

use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::gpu::kernels;
use pairwave::gpu::kernels::{KERNELS, Scan};
use pairwave::pairs::Pairs;
use pairwave::pairs::gpu::{MatrixKernelShape, PairsGpu};
use pairwave::pairs::kernels::matrix::MatrixVariant;
use pairwave::pairs::kernels::matrix_tasks::MatrixTasks;
use pairwave::pairs::{PairHit, PairsBatch, ResultFilter};
use pairwave::score::{EndGaps, Gaps, IdentityDefinition, IdentityFilter, Scoring};
use pairwave::seq::{Alphabet, SequenceStore};
use support::check::*;
use support::*;

/// Instantiates test bodies for every kernel. A test body is a function of the kernel's stem.
macro_rules! on_every_kernel {
    ($($body:ident),* $(,)?) => {$(
        mod $body {
            crate::on_every_kernel! { @of $body: nw_rows nw_diagonal nw_diagonal_subgroup nw_tiled_diagonal nw_checkpoint }
        }
    )*};
    (@of $body:ident: $($stem:ident)*) => {
        $(
            #[test]
            fn $stem() {
                super::$body(stringify!($stem));
            }
        )*
        #[test]
        fn all_kernels_are_here() {
            crate::assert_all_kernels(&[$(stringify!($stem)),*]);
        }
    };
}
pub(crate) use on_every_kernel;

fn assert_all_kernels(stamped: &[&str]) {
    let stems = KERNELS.iter().filter(|kernel| kernel.scan().is_some()).map(|kernel| kernel.stem);
    assert_eq!(stems.collect::<Vec<_>>(), stamped);
}

/// Returns schemes with linear and affine gaps, with charged, free and priced end gaps.
fn six_scorings(base: &Scoring) -> Vec<Scoring> {
    let ends = [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(Gaps { first: 3, next: 1 })];
    let all = [Gaps::linear(10), Gaps::from_blast(10, 1)]
        .map(|gaps| ends.map(|end_gaps| Scoring { gaps, end_gaps, ..base.clone() }));
    all.into_iter().flatten().collect()
}

/// Returns three of [`six_scorings`], with every kind of end gaps and both kinds of gaps. The others
/// come at the next turn, so that all six are tested for two sizes of a kernel, or two kernels.
fn three_scorings(base: &Scoring, turn: usize) -> Vec<Scoring> {
    let six = six_scorings(base);
    (0..3).map(|ends| six[ends + 3 * ((ends + turn) % 2)].clone()).collect()
}

/// Returns schemes with linear and affine gaps, for DNA and proteins, with every kind of end gaps,
/// each at least once. A cell stores 2 bits with linear gaps and 4 bits with affine gaps.
fn four_scorings() -> [Scoring; 4] {
    let affine = Gaps::from_blast(10, 1);
    [
        Scoring::truong(),
        Scoring { gaps: affine, end_gaps: EndGaps::Free, ..Scoring::truong() },
        Scoring { gaps: Gaps::linear(9), end_gaps: EndGaps::Priced(Gaps { first: 8, next: 2 }), ..Scoring::protein() },
        Scoring { gaps: affine, end_gaps: EndGaps::Charged, ..Scoring::protein() },
    ]
}

fn scan(stem: &str) -> Scan {
    kernels::find(stem).and_then(|kernel| kernel.scan()).expect("a kernel that stores directions")
}

/// Returns the variant and the tasks that the engine derives from a batch, with `bytes` bytes per
/// arena.
fn variant_and_tasks(
    stem: &str,
    shape: &MatrixKernelShape,
    batch: &PairsBatch,
    (arenas, bytes): (u32, u64),
    directions: bool,
) -> (MatrixVariant, Option<MatrixTasks>) {
    let variant = shape.variant(scan(stem), batch, &batch.extent(), &adapter().description, arenas, directions);
    let tasks = MatrixTasks::new(batch, &variant, bytes / 16, |_| 0);
    (variant, tasks)
}

/// Returns the bytes of an arena for the largest task of a batch.
fn largest_task_bytes(stem: &str, shape: &MatrixKernelShape, batch: &PairsBatch, directions: bool) -> u64 {
    let (variant, tasks) = variant_and_tasks(stem, shape, batch, (1, u64::MAX), directions);
    let tasks = tasks.expect("there is no limit").tasks;
    let quads = tasks.iter().map(|task| variant.task_quads(task.query_symbols, task.rows_words));
    16 * quads.max().expect("there is a task")
}

/// Returns all pairs of a store in one batch.
fn one_batch(store: &Arc<SequenceStore>, scoring: &Scoring) -> Arc<PairsBatch> {
    let mut all = batches(&job(store, scoring.clone(), ResultFilter::Alignments), u64::MAX);
    assert_eq!(all.len(), 1, "pairs of one class");
    all.remove(0)
}

/// Computes all pairs of a store and compares scores and alignments with the oracle.
fn check_store(engine: &mut dyn Engine<Pairs>, store: &Arc<SequenceStore>, scoring: &Scoring) {
    let job = job(store, scoring.clone(), ResultFilter::Alignments);
    check_traced(store, scoring, &compute_traced(engine, &batches(&job, u64::MAX)));
}
