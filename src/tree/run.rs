//! Threads of a computation, and its early end.

use std::fmt;

use crate::error::{Error, Result};

/// Threads that compute distances and trees, and a function that ends the computation early.
#[derive(Clone, Copy)]
pub struct TreeRun<'a> {
    /// Threads that do the work.
    pub threads: &'a rayon::ThreadPool,
    /// Returns whether the computation should end. It is called often, by all threads.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> TreeRun<'a> {
    /// Creates a run that does not end early.
    pub fn new(threads: &'a rayon::ThreadPool) -> Self {
        TreeRun { threads, stopped: &|| false }
    }

    pub(super) fn is_stopped(self) -> bool {
        (self.stopped)()
    }

    /// Returns [`Error::Interrupted`] if the computation should end.
    pub(super) fn check(self) -> Result<()> {
        if self.is_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

impl fmt::Debug for TreeRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TreeRun").field("threads", &self.threads).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::seq::Alphabet;
    use crate::tree::tests::threads;
    use crate::tree::{Bootstrap, Correction, Distances, ModelKind, RowComparison, SubstitutionModel, TreeMethod};

    /// Runs a computation that stops when `stopped` is called for the `call`-th time. Returns whether
    /// it was interrupted, and the number of calls.
    fn interrupted<T>(call: usize, compute: impl Fn(TreeRun<'_>) -> Result<T>) -> (bool, usize) {
        let (threads, calls) = (threads(), AtomicUsize::new(0));
        let run = TreeRun { threads: &threads, stopped: &|| calls.fetch_add(1, Ordering::Relaxed) + 1 >= call };
        let result = compute(run);
        assert!(matches!(result, Ok(_) | Err(Error::Interrupted)));
        (result.is_err(), calls.into_inner())
    }

    /// Checks that the function is called often, and that any call can end a computation.
    fn ends_everywhere<T>(what: &str, compute: impl Fn(TreeRun<'_>) -> Result<T>) {
        let (is_interrupted, calls) = interrupted(usize::MAX, &compute);
        assert!(!is_interrupted && calls >= 20, "{what}: {calls} calls");
        for call in [1, 2, calls / 2, calls - 1] {
            let (is_interrupted, called) = interrupted(call, &compute);
            assert!(is_interrupted && called >= call, "{what}: {called} calls, stopped at call {call} of {calls}");
        }
    }

    #[test]
    fn trees_and_distances_can_be_interrupted() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut distances = Distances::new(40);
        (1..40).for_each(|a| (0..a).for_each(|b| distances.set(a, b, random.f64())));
        let rows: Vec<Vec<u8>> = (0..40).map(|_| (0..60).map(|_| 1 << random.u8(0..4)).collect()).collect();
        for method in
            [TreeMethod::NeighbourJoining, TreeMethod::Bionj, TreeMethod::BalancedMinimumEvolution, TreeMethod::Upgma]
        {
            ends_everywhere(&format!("{method:?}"), |run| method.build(distances.clone(), run));
            let names: Vec<String> = (0..40).map(|leaf| format!("s{leaf}")).collect();
            ends_everywhere(&format!("{method:?}"), |run| method.build_named(distances.clone(), &names, run));
        }
        for correction in
            [Correction::Kimura, Correction::Model(SubstitutionModel { kind: ModelKind::Gtr, shape: None })]
        {
            let comparison = RowComparison { without_gaps: false, correction };
            ends_everywhere("rows", |run| Distances::from_rows(Alphabet::Dna, &rows, comparison, run));
            let tree = TreeMethod::NeighbourJoining.build(distances.clone(), TreeRun::new(&threads())).unwrap();
            let bootstrap = Bootstrap { trials: 9, comparison, ..Bootstrap::default() };
            ends_everywhere("bootstrap", |run| tree.support(Alphabet::Dna, &rows, bootstrap, run));
        }
    }
}
