//! Decides whether edit distances are computed: they must save time for the whole job.

use std::sync::Arc;

use super::EditFilter;
use crate::engine::thread_pool;
use crate::error::Result;
use crate::gpu::adapter::Device;
use crate::jobs::Run;
use crate::jobs::engines::{edit_filter_devices, has_gpu};
use crate::pairs::plan::PairsSpec;
use crate::score::{IdentityDefinition, IdentityFilter, Scoring};

/// Minimum number of cells for a separate pass over all pairs on the CPU. In smaller jobs, the pass
/// saves no time.
const MIN_CELLS: u64 = 2_000_000_000;
/// Minimum number of cells for a pass on a GPU, which is opened a second time for it. The first
/// number applies if scores determine which pairs to trace back. The second number applies if end
/// gaps have their own costs, because scores are less informative then.
const MIN_GPU_CELLS: [u64; 2] = [3_000_000_000_000, 500_000_000_000];
/// Minimum identity for a pass. At lower identities, too many pairs of related sequences pass.
const MIN_IDENTITY: f64 = 0.75;

/// The identity that pairs must reach, and whether edit distances may exclude pairs.
#[derive(Debug, Clone, Copy)]
pub(in crate::jobs) struct IdentityGoal {
    pub definition: IdentityDefinition,
    /// Minimum identity as a fraction; `None` if every pair is reported.
    pub min_identity: Option<f64>,
    pub edit_filter: EditFilter,
}

impl IdentityGoal {
    /// Returns the filter of scores, if a minimum identity is set.
    pub(in crate::jobs) fn score_filter(&self, scoring: &Scoring) -> Option<Arc<IdentityFilter>> {
        let threshold = self.min_identity.filter(|&threshold| threshold > 0.0)?;
        Some(Arc::new(IdentityFilter::new(self.definition, threshold, scoring)))
    }

    /// Returns whether engines that exclude pairs by the identity save time: it is high, or the
    /// filter by edit distances is forced. Many pairs reach a low identity, and engines would trace
    /// all of them.
    pub(in crate::jobs) fn excludes_many(&self) -> bool {
        self.edit_filter == EditFilter::On || self.min_identity.is_some_and(|identity| identity >= MIN_IDENTITY)
    }

    /// Returns the identity for a filter by edit distances, unless this filter is off.
    pub(super) fn filtered_identity(&self) -> Option<f64> {
        self.min_identity.filter(|_| self.edit_filter != EditFilter::Off)
    }
}

/// Properties of a job that decide whether a pass over its edit distances pays off.
#[derive(Debug, Clone, Copy)]
pub(in crate::jobs) struct JobExtent<'a> {
    pub scoring: &'a Scoring,
    /// Length of the longest sequence in symbols.
    pub longest: u32,
    /// Number of pairs. Each strand of a query counts as a query of its own.
    pub pairs: u64,
    /// Number of matrix cells of these pairs.
    pub cells: u64,
}

impl<'a> From<&'a PairsSpec> for JobExtent<'a> {
    fn from(planned: &'a PairsSpec) -> Self {
        let stores = [&planned.queries, planned.targets()];
        let longest = stores.iter().flat_map(|store| store.lengths()).max().copied().unwrap_or(0);
        JobExtent { scoring: &planned.scoring, longest, pairs: planned.pairs(), cells: planned.cells() }
    }
}

/// Returns the devices for a pass over all pairs of a job, and its threads, if the user requests the
/// pass or if it pays off. Opens no device.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(super) fn devices_if_profitable(
    goal: &IdentityGoal,
    identity: f64,
    extent: &JobExtent<'_>,
    run: &Run,
) -> Result<Option<(Vec<Device>, Arc<rayon::ThreadPool>)>> {
    let is_forced = goal.edit_filter == EditFilter::On;
    // A user who selects a kernel wants to run that kernel.
    let is_pointless = identity < MIN_IDENTITY || extent.cells < MIN_CELLS || run.kernel.is_some();
    if !is_forced && is_pointless {
        return Ok(None);
    }
    let pool = thread_pool(run.threads)?;
    // No device is opened for a pass that does not run.
    let devices = edit_filter_devices(run, pool.current_num_threads(), extent.cells, is_forced)?;
    let pays_off = is_forced || extent.cells >= min_cells(&devices, extent.scoring);
    Ok((!devices.is_empty() && pays_off).then_some((devices, pool)))
}

/// Returns the minimum number of cells for a pass over all pairs on these devices.
fn min_cells(devices: &[Device], scoring: &Scoring) -> u64 {
    if has_gpu(devices) { MIN_GPU_CELLS[usize::from(scoring.has_own_ends())] } else { MIN_CELLS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_needs_a_larger_job_than_the_cpu() {
        let Some(found) = crate::gpu::adapter::enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        let gpu = Device::Adapter(Box::new(found));
        let devices = [Device::Cpu, gpu];
        assert_eq!(min_cells(&devices[..1], &Scoring::dna()), MIN_CELLS);
        assert_eq!(min_cells(&devices, &Scoring::truong()), MIN_GPU_CELLS[0]);
        assert_eq!(min_cells(&devices, &Scoring::dna()), MIN_GPU_CELLS[1]);
    }
}
