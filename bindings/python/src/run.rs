//! Runs a job on other threads, while the calling thread handles signals and reports progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pairwave::jobs::Progress;
use pairwave::{Result, Run, choose_devices};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::options::Options;

/// Time between two checks of signals and two reports of progress.
const CHECK: Duration = Duration::from_millis(50);

/// Arguments about how a job runs.
pub(crate) struct RunOptions {
    run: Run,
    /// Function that receives the cells that are computed, and all cells.
    progress: Option<Py<PyAny>>,
}

impl RunOptions {
    /// Takes `devices`, `threads`, `memory` and `progress`.
    pub(crate) fn take(options: &mut Options<'_>) -> PyResult<Self> {
        let names = options.take::<Bound<'_, PyAny>>("devices")?.map(|devices| device_names(&devices)).transpose()?;
        let threads = options.take("threads")?.unwrap_or(0);
        let memory = options.take("memory")?;
        let progress: Option<Bound<'_, PyAny>> = options.take("progress")?;
        if let Some(wrong) = progress.as_ref().filter(|progress| !progress.is_callable()) {
            return Err(PyTypeError::new_err(format!("progress must be a function of (done, total), not {wrong}")));
        }
        let names = names.unwrap_or_default();
        Ok(RunOptions { run: run_on(names, threads, memory)?, progress: progress.map(Bound::unbind) })
    }
}

/// Returns the settings of a run on named devices; without names, on the default device.
fn run_on(names: Vec<String>, threads: usize, memory: Option<u64>) -> PyResult<Run> {
    let names: Vec<String> = names.into_iter().filter(|name| !name.eq_ignore_ascii_case("auto")).collect();
    let devices = if names.is_empty() {
        Vec::new()
    } else {
        Python::attach(|py| choose_devices(&names).map_err(|error| exception(py, error)))?
    };
    Ok(Run { devices, threads, memory, ..Run::default() })
}

/// Returns the names of devices: one name or index, or a list of them.
fn device_names(devices: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(name) = devices.extract::<String>() {
        return Ok(name.split(',').map(|name| name.trim().to_owned()).collect());
    }
    if let Ok(index) = devices.extract::<usize>() {
        return Ok(vec![index.to_string()]);
    }
    devices.try_iter()?.map(|device| Ok(device?.str()?.to_string())).collect()
}

/// Counter of the cells that a job has computed.
#[derive(Default)]
struct CellCounter(AtomicU64);

impl Progress for CellCounter {
    fn advance(&self, _pairs: u64, cells: u64) {
        self.0.fetch_add(cells, Ordering::Relaxed);
    }
}

/// Runs a job of `cells` cells without the lock of the interpreter. The calling thread handles
/// signals and calls the function for progress. If either fails, the job is interrupted, and the
/// failure is returned.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    options: RunOptions,
    cells: u64,
    job: impl FnOnce(&Run) -> Result<T> + Send,
) -> PyResult<T> {
    let RunOptions { run, progress } = options;
    let counter = Arc::new(CellCounter::default());
    let run = Run { progress: Arc::clone(&counter) as Arc<dyn Progress>, ..run };
    let report = |py: Python<'_>, done: u64| match &progress {
        Some(function) => function.call1(py, (done.min(cells), cells)).map(|_| ()),
        None => Ok(()),
    };
    let (result, failure) = std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let worker = scope.spawn(|| {
            // Dropping the sender wakes the calling thread, also if the job panics.
            let _sender: mpsc::Sender<()> = sender;
            job(&run)
        });
        let mut failure = None;
        while !py.detach(|| is_finished(&receiver, CHECK)) {
            if failure.is_some() {
                continue;
            }
            let done = counter.0.load(Ordering::Relaxed);
            if let Err(error) = py.check_signals().and_then(|()| report(py, done)) {
                run.interrupt.store(true, Ordering::Relaxed);
                failure = Some(error);
            }
        }
        (worker.join(), failure)
    });
    let result = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    if let Some(error) = failure {
        return Err(error);
    }
    let value = result.map_err(|error| exception(py, error))?;
    report(py, cells)?;
    Ok(value)
}

/// Waits for the end of a job, at most `time`. Returns whether it has ended.
fn is_finished(receiver: &Mutex<Receiver<()>>, time: Duration) -> bool {
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    receiver.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
}
