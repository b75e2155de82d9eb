//! Filters the pairs of plans that follow each other, such as queries against the parts of a database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{EditDistanceFilter, Prefiltered, named_stats};
use crate::engine::stats::{self, EngineStats};
use crate::error::{Error, Result};
use crate::jobs::Run;
use crate::pairs::plan::selected::{by_parts, selected_chunks};
use crate::pairs::plan::{PairsSpec, PlannedChunk};

/// A filter for one plan after the other. Clones share their engines, statistics and failures.
#[derive(Clone)]
pub(in crate::jobs) struct PlanFilter(Arc<Mutex<PlanFilterState>>);

struct PlanFilterState {
    filter: EditDistanceFilter,
    /// Statistics of the passes since the last call of [`PlanFilter::finish`].
    engines: Vec<EngineStats>,
    /// Duration of these passes in seconds.
    seconds: f64,
    /// Reason why a pass failed.
    failure: Option<Error>,
}

/// The pairs of a plan that may reach the identity.
pub(in crate::jobs) struct FilteredPlan {
    pub chunks: Box<dyn Iterator<Item = PlannedChunk> + Send>,
    /// Number of pairs of the plan that are in no chunk.
    pub excluded: u64,
}

impl PlanFilter {
    pub(in crate::jobs) fn new(filter: EditDistanceFilter) -> Self {
        let state = PlanFilterState { filter, engines: Vec::new(), seconds: 0.0, failure: None };
        PlanFilter(Arc::new(Mutex::new(state)))
    }

    fn lock(&self) -> MutexGuard<'_, PlanFilterState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Selects the pairs of a plan. Reports all its pairs as progress. The chunks of the selected
    /// pairs have at most `pairs` pairs or a few more. If too many pairs are selected, the chunks
    /// are those of the whole plan, as [`PairsSpec::chunks`] cuts them. Returns `None` if this pass
    /// or an earlier one failed.
    pub(in crate::jobs) fn chunks(
        &self,
        planned: PairsSpec,
        cells: u64,
        pairs: u64,
        run: &Run,
    ) -> Option<FilteredPlan> {
        let mut state = self.lock();
        if state.failure.is_some() {
            return None;
        }
        let Prefiltered { selection, ran, seconds, reported } = match state.filter.select_plan(&planned, run) {
            Ok(prefiltered) => prefiltered,
            Err(error) => {
                state.failure = Some(error);
                return None;
            }
        };
        let start = state.seconds;
        stats::append_run(&mut state.engines, named_stats(ran).collect(), start);
        state.seconds += seconds;
        let (all_pairs, all_cells) = (planned.pairs(), planned.cells());
        run.progress.advance(all_pairs.saturating_sub(reported.pairs), all_cells.saturating_sub(reported.cells));
        let Some(selection) = selection else {
            return Some(FilteredPlan { chunks: Box::new(planned.chunks(cells, pairs)), excluded: 0 });
        };
        let excluded = all_pairs - selection.len() as u64;
        let selected = by_parts(&planned, selection);
        Some(FilteredPlan { chunks: Box::new(selected_chunks(planned, selected, pairs as usize)), excluded })
    }

    /// Returns whether a pass failed since the last call of [`PlanFilter::finish`].
    pub(in crate::jobs) fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    /// Returns the statistics of the passes since the last call.
    ///
    /// # Errors
    /// The error of the pass that failed. Further plans can be filtered nevertheless.
    pub(in crate::jobs) fn finish(&self) -> Result<Vec<EngineStats>> {
        let mut state = self.lock();
        state.seconds = 0.0;
        let engines = std::mem::take(&mut state.engines);
        state.failure.take().map_or(Ok(engines), Err)
    }
}
