//! Opens the engines of a long pair on devices.

use crate::engine::thread_pool;
use crate::error::Result;
use crate::gpu::adapter::{Device, choose};
use crate::jobs::Run;
use crate::jobs::engines::adapters_and_memory;
use crate::long::LongEngine;
use crate::long::cpu::CpuLong;
use crate::long::gpu::GpuLong;

/// Seconds that a GPU needs before its first results: it is opened, its kernels are compiled and its
/// data are uploaded.
const START: f64 = 0.3;

/// Opens engines for a job of this number of cells on the devices of a run. A device that cannot be
/// opened is skipped with a warning. If none is left, opens the CPU. The CPU also computes a job
/// that it finishes before a GPU has started, unless the run names devices.
///
/// # Errors
/// [`Error::Usage`](crate::Error::Usage) for a device that does not exist.
pub fn open_long(run: &Run, cells: u64) -> Result<Vec<Box<dyn LongEngine>>> {
    let is_small = || (cells as f64) < START * cpu(run.threads).speed();
    let chosen = match &run.devices[..] {
        [] if is_small() => vec![Device::Cpu],
        [] => choose(&[])?,
        named => named.to_vec(),
    };
    let mut engines: Vec<Box<dyn LongEngine>> = Vec::new();
    let adapters = adapters_and_memory(&chosen, run.memory);
    // If the system starts no threads, the engines copy data on their own threads.
    let pool = if adapters.is_empty() { None } else { thread_pool(run.threads).ok() };
    for (adapter, memory) in adapters {
        match GpuLong::open(&adapter) {
            Ok(engine) => engines.push(Box::new(engine.with_memory(memory).with_pool(pool.clone()))),
            Err(error) => tracing::warn!("{error}; continuing without it"),
        }
    }
    if engines.is_empty() || chosen.iter().any(|device| matches!(device, Device::Cpu)) {
        engines.push(cpu(run.threads));
    }
    Ok(engines)
}

/// Opens the CPU, which is always available, with this number of threads; 0 stands for one thread
/// per processor.
pub fn cpu(threads: usize) -> Box<dyn LongEngine> {
    Box::new(CpuLong::new(threads))
}
