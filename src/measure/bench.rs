//! Experiments of `pairwave bench`. They reproduce published measurements on the user's machine:
//! the tables of Truong et al. 2014 (section 6), the figures of Chacon et al. 2014 (section 4) and
//! of Li, Ranka and Sahni 2014 (sections IV and V), and the tables of Alachiotis, Berger and
//! Stamatakis 2013.
//!
//! Each experiment has its own file and gives one [`MeasurementTable`] per device. Sequences are
//! random with a fixed seed, unless a file is given. Every number is a measurement of this run.
//! Missing measurements are marked.

mod buffering;
pub mod compare;
mod edit;
mod endtoend;
mod filter;
mod kernels;
mod long;
mod msa;
mod papara;
pub mod ranks;
pub mod rates;
pub(super) mod reads;
mod slices;
pub(super) mod states;
pub(super) mod threads;
mod tiles;
pub(super) mod timing;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::gpu::adapter::{Device, FoundAdapter, choose};
use crate::gpu::kernels::{Family, Kernel};
use crate::measure::simulate::SEED;
use crate::measure::table::{MeasurementTable, Measurements, RowStatus, TableColumn};
use crate::score::{Gaps, Scoring};
use crate::seq::{Alphabet, SequenceStore};

/// An experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Experiment {
    /// Every kernel and the CPU engine, by length and number of pairs (figures 8 and 9).
    Kernels,
    /// Slice widths and workgroup sizes of `nw_slice` and `nw_slice_half` (table 4 and figure 11).
    Slices,
    /// Shapes of the kernels for local scores, by length.
    Tiles,
    /// Kernels as filters before the alignment on the CPU (table 5).
    Filter,
    /// Ways to copy results back, and sizes of batches (figure 10).
    Buffering,
    /// The whole job: with a filter, and with alignments of every pair (section 6.6).
    EndToEnd,
    /// Kernels for Levenshtein distances, by length and u32 words per lane (Chacon et al. 2014,
    /// figures 4 and 7 to 9).
    Edit,
    /// One pair of very long sequences: strip widths, scores and alignments (Li, Ranka and Sahni
    /// 2014, figures 7 and 9).
    Long,
    /// Scores of reads against ancestral states, by sites and by reads (Alachiotis, Berger and
    /// Stamatakis 2013, tables 1 to 3).
    Papara,
    /// Multiple alignment of protein families, stage by stage, by length and number of sequences.
    Msa,
}

impl Experiment {
    /// All experiments in the order of a run.
    pub const ALL: [Experiment; 10] = [
        Experiment::Kernels,
        Experiment::Slices,
        Experiment::Tiles,
        Experiment::Filter,
        Experiment::Buffering,
        Experiment::EndToEnd,
        Experiment::Edit,
        Experiment::Long,
        Experiment::Papara,
        Experiment::Msa,
    ];

    /// Returns the name on the command line and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Experiment::Kernels => "kernels",
            Experiment::Slices => "slices",
            Experiment::Tiles => "tiles",
            Experiment::Filter => "filter",
            Experiment::Buffering => "buffering",
            Experiment::EndToEnd => "endtoend",
            Experiment::Edit => "edit",
            Experiment::Long => "long",
            Experiment::Papara => "papara",
            Experiment::Msa => "msa",
        }
    }
}

/// The results that engines compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchWork {
    /// Scores ([`crate::pairs::ResultFilter::Scores`]).
    Scores,
    /// Scores and matches, which a traceback needs ([`crate::pairs::ResultFilter::Alignments`]).
    Alignments,
}

/// The kind of gap costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapKind {
    /// 10 per symbol, the default for nucleotides; 5 in `long`.
    Linear,
    /// 10 per gap and 1 per symbol; 5 and 2 in `long`.
    Affine,
}

impl GapKind {
    fn name(self) -> &'static str {
        match self {
            GapKind::Linear => "linear",
            GapKind::Affine => "affine",
        }
    }

    /// Returns a scheme for nucleotides with these gap costs.
    fn scoring(self) -> Arc<Scoring> {
        Arc::new(match self {
            GapKind::Linear => Scoring::truong(),
            GapKind::Affine => Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() },
        })
    }
}

/// A kernel or engine that can be measured.
#[derive(Debug, Clone, Copy)]
pub enum Contender {
    /// A kernel.
    Kernel(&'static Kernel),
    /// The CPU engine.
    Cpu,
}

impl Contender {
    fn name(&self) -> &'static str {
        match self {
            Contender::Kernel(kernel) => kernel.stem,
            Contender::Cpu => "cpu",
        }
    }
}

/// The experiments to run and their options.
#[derive(Debug, Clone)]
pub struct BenchRun {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// The devices. If empty, the run uses the best hardware adapter, or the CPU if there is none.
    pub devices: Vec<Device>,
    /// The kernels to measure, and whether to measure the CPU engine.
    pub contenders: Vec<Contender>,
    /// Lengths in symbols for `kernels`, `tiles`, `edit`, `long` and `msa`, and numbers of sites
    /// for `papara`. The defaults are 128, 256, ... 16,384 for `kernels`; 120, 360 and 1000 for
    /// `tiles`; 100, 200, ... 10,000 for `edit`; the sizes of the papers' figures up to 1,000,000
    /// for `long`; 100, 350 and 1500 for `msa`; and 500, 1000, ... 500,000 for `papara`.
    pub lengths: Option<Vec<u32>>,
    /// Numbers of pairs for `kernels`, of reads for `papara` and of sequences for `msa`. The
    /// defaults are 8, 64, ... 100,000 for `kernels`; 10, 50, ... 5000 for `papara`; and 10, 100
    /// and 1000 for `msa`.
    pub counts: Option<Vec<u32>>,
    /// The results that engines compute in `kernels`.
    pub work: Vec<BenchWork>,
    /// The gap costs in `kernels`, `slices`, `tiles` and `long`.
    pub gaps: Vec<GapKind>,
    /// Approximate time of a table row in seconds.
    pub seconds: f64,
    /// Sequences for `filter` and `endtoend`; `None` for random related sequences.
    pub sequences: Option<Arc<SequenceStore>>,
    /// Whether to use small sizes, which only show that everything works.
    pub quick: bool,
    /// Number of CPU threads; 0 for one thread per processor.
    pub threads: usize,
    /// Flag that ends the run early with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
}

/// Shared state of the experiments on one device.
struct ExperimentContext<'a> {
    bench: &'a BenchRun,
    device: &'a Device,
    /// Name, driver and backend.
    name: String,
    pool: Arc<rayon::ThreadPool>,
    quick: bool,
    /// Reports the current measurement to the user.
    report_progress: &'a dyn Fn(&str),
}

impl ExperimentContext<'_> {
    fn adapter(&self) -> Option<&FoundAdapter> {
        match self.device {
            Device::Cpu => None,
            Device::Adapter(adapter) => Some(adapter),
        }
    }

    fn table(&self, experiment: Experiment, title: impl Into<String>, columns: &[TableColumn]) -> MeasurementTable {
        MeasurementTable::new(experiment.name(), &self.name, title, columns)
    }

    /// Returns the selected kernels of a family; none on the CPU.
    fn kernels(&self, family: Family) -> impl Iterator<Item = &'static Kernel> {
        let is_adapter = self.adapter().is_some();
        self.bench.contenders.iter().filter_map(move |contender| match contender {
            Contender::Kernel(kernel) if is_adapter && kernel.family() == family => Some(*kernel),
            _ => None,
        })
    }

    fn kernel_called(&self, stem: &str) -> Option<&'static Kernel> {
        self.kernels(Family::Pairs).find(|kernel| kernel.stem == stem)
    }

    /// Returns lengths or numbers of pairs in ascending order. The times of small sizes predict the
    /// times of larger ones.
    fn sizes(&self, given: &Option<Vec<u32>>, usual: &[u32], quick: &[u32]) -> Vec<u32> {
        let mut sizes = given.clone().unwrap_or_else(|| if self.quick { quick } else { usual }.to_vec());
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Returns whether the CPU engine is measured on this device: on the CPU, or on an adapter if
    /// the CPU has no table of its own.
    fn has_cpu(&self) -> bool {
        let has_own = self.bench.devices.iter().any(|device| matches!(device, Device::Cpu));
        let is_asked = self.bench.contenders.iter().any(|contender| matches!(contender, Contender::Cpu));
        is_asked && (self.adapter().is_none() || !has_own)
    }

    fn check_interrupt(&self) -> Result<()> {
        if self.bench.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn report_progress(&self, experiment: Experiment, what: impl std::fmt::Display) {
        (self.report_progress)(&format!("{}: {what}", experiment.name()));
    }
}

impl BenchRun {
    /// Runs the experiments on one device after the other. `report_progress` receives a description
    /// of each measurement.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Usage`] for an invalid request; [`Error::Device`] for an
    /// adapter that cannot be opened; [`Error::Internal`] if engines disagree. A kernel that
    /// refuses or fails is only marked in its table.
    pub fn run(&self, report_progress: &dyn Fn(&str)) -> Result<Measurements> {
        self.validate()?;
        let adapter;
        let devices = if self.devices.is_empty() {
            adapter = choose(&[])?;
            &adapter
        } else {
            &self.devices
        };
        let pool = thread_pool(self.threads)?;
        let mut measurements = Measurements { header: vec![self.header()], tables: Vec::new() };
        for device in devices {
            let is_software = matches!(device, Device::Adapter(adapter) if adapter.is_software());
            if is_software && !self.quick {
                tracing::warn!("a software adapter: sizes are small, and speeds only show that everything works");
            }
            let name = describe(device, &pool);
            let quick = self.quick || is_software;
            let context =
                ExperimentContext { bench: self, device, name, pool: Arc::clone(&pool), quick, report_progress };
            for &experiment in &self.experiments {
                context.check_interrupt()?;
                measurements.tables.push(match experiment {
                    Experiment::Kernels => kernels::run(&context)?,
                    Experiment::Slices => slices::run(&context)?,
                    Experiment::Tiles => tiles::run(&context)?,
                    Experiment::Filter => filter::run(&context)?,
                    Experiment::Buffering => buffering::run(&context)?,
                    Experiment::EndToEnd => endtoend::run(&context)?,
                    Experiment::Edit => edit::run(&context)?,
                    Experiment::Long => long::run(&context)?,
                    Experiment::Papara => papara::run(&context)?,
                    Experiment::Msa => msa::run(&context)?,
                });
            }
        }
        Ok(measurements)
    }

    fn validate(&self) -> Result<()> {
        let is_zero = |list: &Option<Vec<u32>>| list.as_ref().is_some_and(|list| list.contains(&0));
        if is_zero(&self.lengths) {
            return Err(Error::usage_of("lengths", "use lengths of at least 1 symbol"));
        }
        if is_zero(&self.counts) {
            return Err(Error::usage_of("counts", "use numbers of at least 1"));
        }
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Err(Error::usage_value("seconds", self.seconds, "more than 0 is needed"));
        }
        match &self.sequences {
            Some(store) if store.len() < 2 => {
                Err(Error::usage_of("sequences", "a pair needs two sequences, but the file has fewer"))
            }
            _ => Ok(()),
        }
    }

    /// Returns a line with everything needed to repeat the measurement. It names options as in the
    /// library, between backquotes.
    fn header(&self) -> String {
        let names: Vec<&str> = self.experiments.iter().map(|experiment| experiment.name()).collect();
        let sequences = match &self.sequences {
            None => "random sequences".to_owned(),
            Some(store) => format!("{} sequences from a file", store.len()),
        };
        format!(
            "pairwave {} bench {}{}; {sequences}, seed {SEED}; about {} s a row",
            env!("CARGO_PKG_VERSION"),
            names.join(" "),
            if self.quick { " `quick`" } else { "" },
            self.seconds
        )
    }

    /// Returns the scoring scheme for `filter` and `endtoend`: the default for the alphabet of the
    /// sequences.
    fn scoring(&self) -> Arc<Scoring> {
        let alphabet = self.sequences.as_ref().map_or(Alphabet::Dna, |store| store.alphabet());
        Arc::new(match alphabet {
            Alphabet::Dna => Scoring::dna(),
            // Jobs refuse bytes, which have no scores.
            Alphabet::Protein | Alphabet::Bytes => Scoring::protein(),
        })
    }
}

fn describe(device: &Device, pool: &rayon::ThreadPool) -> String {
    let cpu = format!("CPU, {} threads, {}", pool.current_num_threads(), crate::simd::InstructionSet::best().name());
    match device {
        Device::Cpu => cpu,
        Device::Adapter(adapter) => {
            let adapter = &adapter.description;
            format!("{} ({}, {}); {cpu}", adapter.name, adapter.backend, adapter.driver)
        }
    }
}

/// Handles the error of an engine that made no measurement. Returns the mark of the row and adds a
/// note, or returns the error if the run must end.
fn error_mark(table: &mut MeasurementTable, who: &str, error: Error) -> Result<RowStatus> {
    match error {
        Error::Unsuited { message, .. } => {
            table.note(format!("-: {who}: {message}"));
            Ok(RowStatus::Unsuited)
        }
        Error::Device { message, .. } => {
            tracing::warn!("{who}: {message}");
            table.note(format!("failed: {who}: {message}"));
            Ok(RowStatus::Failed)
        }
        other => Err(other),
    }
}
