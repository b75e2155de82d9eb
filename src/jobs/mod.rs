//! What a user asks for. Each job reads, plans, runs and writes.

pub mod allpairs;
#[doc(hidden)]
pub mod bench;
#[doc(hidden)]
pub mod devices;
pub mod edit;
pub mod edit_filter;
mod engines;
pub mod long;
pub mod stats;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use crate::engine::stats::EngineStats;
use crate::gpu::adapter::Device;
use crate::gpu::kernels::Kernel;

pub use allpairs::{AllPairs, PairResult};
pub use edit::{EditAlignment, EditDistances, EditResult};
pub use edit_filter::EditFilter;
pub use long::{LongAlignment, LongHit, LongResult, LongSummary, LongWant, Strand, StrandOf};

/// Where and how a job runs. None of it changes the result.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The devices; empty for the best hardware adapter, or the CPU where there is none. An adapter that comes twice is
    /// opened twice: two engines, each with buffers of its own and half of the memory.
    pub devices: Vec<Device>,
    /// CPU threads; 0 for as many as there are processors.
    pub threads: usize,
    /// The kernel that GPUs use; `None` for the one that is expected to be fastest. Of [`AllPairs`] only; a
    /// [`LongAlignment`], whose GPUs have one kernel, refuses it.
    pub kernel: Option<&'static Kernel>,
    /// The same for Levenshtein distances, and only for them.
    pub edit_kernel: Option<&'static Kernel>,
    /// Bytes of memory that a job may take on each GPU at most; `None` for what it has to spare
    /// ([`memory_budget`](crate::gpu::memory::memory_budget)), which is never exceeded.
    pub memory: Option<u64>,
    /// Measure the best kernel configuration anew. [`LongAlignment`], of which nothing is measured, refuses it.
    pub tune: bool,
    /// Set to end the job early with [`crate::Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
    /// How long a device may be silent before its work is given to others; `None` for 30 s. It is never less than 20 times
    /// what is expected of the device, nor than four times as long while it gets ready.
    pub patience: Option<Duration>,
}

/// Hears how far a job is.
pub trait Progress {
    /// More pairs and cells were computed.
    fn advance(&self, pairs: u64, cells: u64);
}

impl Progress for () {
    fn advance(&self, _pairs: u64, _cells: u64) {}
}

/// What a job did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Pairs compared.
    pub pairs: u64,
    /// Cells of their matrices.
    pub cells: u64,
    /// Pairs that were aligned (traced back).
    pub aligned: u64,
    /// Pairs that were given to the caller.
    pub written: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Time in kernels in seconds, summed over engines.
    pub kernel_seconds: f64,
    /// What each engine did.
    pub engines: Vec<EngineStats>,
    /// Time between the first and the last engine's end, as a fraction of the job's time
    /// ([`Ran`](crate::engine::stats::Ran)).
    pub imbalance: f64,
}
