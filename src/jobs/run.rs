//! Where and how a job runs, and who hears how far it is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::engine::owner::Control;
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::gpu::kernels::{Family, Kernel, offered};

/// Where and how a job runs. None of it changes the rows.
#[derive(Clone)]
pub struct Run {
    /// The devices; empty for the best hardware adapter, or the CPU where there is none and for jobs so small that it is done
    /// before a GPU has begun. An adapter that comes twice is
    /// opened twice: two engines, each with buffers of its own and half of the memory.
    pub devices: Vec<Device>,
    /// CPU threads; 0 for as many as there are processors.
    pub threads: usize,
    /// The kernel that GPUs use, one of the job's kind; `None` for the one that is expected to be fastest.
    pub kernel: Option<&'static Kernel>,
    /// Bytes of memory that a job may take on each GPU at most; `None` for what it has to spare
    /// ([`memory_budget`](crate::gpu::memory::memory_budget)), which is never exceeded.
    pub memory: Option<u64>,
    /// Measure the best kernel configuration anew. [`LongAlignment`](super::LongAlignment), of which nothing is measured,
    /// refuses it.
    pub tune: bool,
    /// Set to end the job early with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
    /// How long a device may be silent before its work is given to others; `None` for 30 s. It is never less than 20 times
    /// what is expected of the device, nor than four times as long while it gets ready.
    pub patience: Option<Duration>,
    /// Hears how far the job is; `()` for nobody.
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
    /// Refuses a kernel that does not compute what jobs of this kind need.
    pub(super) fn check_kernel(&self, family: Family) -> Result<()> {
        let Some(kernel) = self.kernel else { return Ok(()) };
        if offered(family).any(|offered| offered.stem == kernel.stem) {
            return Ok(());
        }
        let names: Vec<&str> = offered(family).map(|kernel| kernel.stem).collect();
        Err(Error::usage_value(
            "kernel",
            kernel.stem,
            format!("it is not for this job, which has {}", names.join(", ")),
        ))
    }

    /// Returns [`Error::Interrupted`] if the job is to end early.
    pub(super) fn check_interrupt(&self) -> Result<()> {
        check_interrupt(&self.interrupt)
    }

    /// How engines are driven; what devices find is checked and settled on these threads.
    pub(super) fn control(&self, pool: &Arc<rayon::ThreadPool>) -> Control {
        let (interrupt, pool) = (Arc::clone(&self.interrupt), Some(Arc::clone(pool)));
        Control { interrupt, patience: self.patience, pool, ..Control::default() }
    }
}

/// Returns [`Error::Interrupted`] if this is set.
pub(super) fn check_interrupt(interrupt: &AtomicBool) -> Result<()> {
    if interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
}

/// Hears how far a job is.
pub trait Progress: Send + Sync {
    /// More pairs and cells were computed.
    fn advance(&self, pairs: u64, cells: u64);

    /// A part of the job that has no cells, by its name: so many of its steps are done, of how many in all.
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
    fn a_kernel_is_of_one_kind_of_job_or_of_none() {
        let families = [Family::Pairs, Family::Local, Family::Edit, Family::Long, Family::Phylo, Family::Clustal];
        let families = [&families[..], &[Family::Posterior]].concat();
        for kernel in KERNELS {
            let run = Run { kernel: Some(kernel), ..Run::default() };
            for &family in &families {
                let is_its = family == kernel.family() && !kernel.follows();
                match run.check_kernel(family) {
                    Ok(()) => assert!(is_its, "{}", kernel.stem),
                    Err(error) => assert!(!is_its && error.to_string().contains(kernel.stem), "{error}"),
                }
            }
        }
        families.into_iter().for_each(|family| Run::default().check_kernel(family).unwrap());
    }
}
