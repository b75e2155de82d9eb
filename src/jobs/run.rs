//! Options of a run: devices, threads, memory, interruption and progress.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::engine::owner::Control;
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::gpu::kernels::{Family, Kernel, selectable};

/// The devices and settings that a job runs with. None of them changes the rows.
#[derive(Clone)]
pub struct Run {
    /// The devices. If empty, the job uses the best hardware adapter. It uses the CPU if there is
    /// no such adapter, or if the job is so small that the CPU finishes before a GPU has started.
    /// An adapter that is listed twice is opened twice: as two engines that have separate buffers
    /// and half of the memory each.
    pub devices: Vec<Device>,
    /// Number of CPU threads; 0 for one thread per processor.
    pub threads: usize,
    /// Kernel for GPUs, which must compute this kind of job. `None` selects the kernel that is
    /// expected to be fastest.
    pub kernel: Option<&'static Kernel>,
    /// Maximum memory in bytes that the job takes on each GPU. It is capped by the memory budget of
    /// the device ([`memory_budget`](crate::gpu::memory::memory_budget)), which is also the
    /// default.
    pub memory: Option<u64>,
    /// Whether to measure the best kernel configuration again.
    /// [`LongAlignment`](super::LongAlignment) has no measured configuration and refuses this
    /// option.
    pub tune: bool,
    /// Flag that ends the job early with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
    /// Time that a device may be silent before other engines compute its work; `None` for 30 s. The
    /// limit is at least 20 times the expected time of the call. It is four times as long until the
    /// device has returned its first results.
    pub patience: Option<Duration>,
    /// Receiver of progress reports; `()` ignores them.
    pub progress: Arc<dyn Progress>,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            devices: Vec::new(),
            threads: 0,
            kernel: None,
            memory: None,
            tune: false,
            interrupt: Arc::default(),
            patience: None,
            progress: Arc::new(()),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { devices, threads, kernel, memory, tune, interrupt, patience, progress: _ } = self;
        f.debug_struct("Run")
            .field("devices", devices)
            .field("threads", threads)
            .field("kernel", kernel)
            .field("memory", memory)
            .field("tune", tune)
            .field("interrupt", interrupt)
            .field("patience", patience)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Refuses a kernel that does not compute jobs of this family.
    pub(super) fn check_kernel(&self, family: Family) -> Result<()> {
        let Some(kernel) = self.kernel else { return Ok(()) };
        if selectable(family).any(|offered| offered.stem == kernel.stem) {
            return Ok(());
        }
        let names: Vec<&str> = selectable(family).map(|kernel| kernel.stem).collect();
        Err(Error::usage_value(
            "kernel",
            kernel.stem,
            format!("it does not compute this job; use {}", names.join(", ")),
        ))
    }

    /// Returns [`Error::Interrupted`] if the job must end early.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        check_interrupt(&self.interrupt)
    }

    /// Returns the settings for the engines. The threads of `pool` check and settle reports of
    /// devices.
    pub(super) fn control(&self, pool: &Arc<rayon::ThreadPool>) -> Control {
        let (interrupt, pool) = (Arc::clone(&self.interrupt), Some(Arc::clone(pool)));
        Control { interrupt, patience: self.patience, pool, ..Control::default() }
    }
}

/// Returns [`Error::Interrupted`] if the flag is set.
pub(super) fn check_interrupt(interrupt: &AtomicBool) -> Result<()> {
    if interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Receives progress reports of a job.
pub trait Progress: Send + Sync {
    /// Adds pairs and cells to those computed so far.
    fn advance(&self, pairs: u64, cells: u64);

    /// Reports that `_done` of `_all` steps of the named part are done. Such parts have no cells.
    fn step(&self, _part: &'static str, _done: u64, _all: u64) {}
}

impl Progress for () {
    fn advance(&self, _pairs: u64, _cells: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernels::KERNELS;

    #[test]
    fn a_kernel_is_accepted_only_for_jobs_of_its_family() {
        let families = [Family::Pairs, Family::Local, Family::Edit, Family::Long, Family::Phylo, Family::Clustal];
        let families = [&families[..], &[Family::Posterior]].concat();
        for kernel in KERNELS {
            let run = Run { kernel: Some(kernel), ..Run::default() };
            for &family in &families {
                let is_its = family == kernel.family() && !kernel.is_later_stage();
                match run.check_kernel(family) {
                    Ok(()) => assert!(is_its, "{}", kernel.stem),
                    Err(error) => assert!(!is_its && error.to_string().contains(kernel.stem), "{error}"),
                }
            }
        }
        families.into_iter().for_each(|family| Run::default().check_kernel(family).unwrap());
    }
}
