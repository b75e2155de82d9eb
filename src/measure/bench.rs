//! `pairwave bench`: the tables of Truong et al. 2014, section 6, the figures of Chacon et al. 2014, section 4, and of Li,
//! Ranka and Sahni 2014, sections IV and V, and the tables of Alachiotis, Berger and Stamatakis 2013, on one's own machine.
//!
//! Each experiment is a file and gives one [`Table`] a device. Sequences are random from a fixed
//! seed unless a file is given, and every number is a measurement of this run: what is not measured
//! is marked as such.

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
use crate::measure::table::{Column, Measurements, Status, Table};
use crate::score::{Gaps, Scoring};
use crate::seq::{Alphabet, SequenceStore};

/// One experiment.
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
    /// Ways to bring results back, and sizes of batches (figure 10).
    Buffering,
    /// The whole job: filtered, and every pair aligned (section 6.6).
    EndToEnd,
    /// Kernels for Levenshtein distances by length and words a lane (Chacon et al. 2014, figures 4 and 7 to 9).
    Edit,
    /// One pair of very long sequences: strip widths, scores and alignments (Li, Ranka and Sahni 2014, figures 7 and 9).
    Long,
    /// Scores of reads against ancestral states by sites and by reads (Alachiotis, Berger and Stamatakis 2013, tables 1 to 3).
    Papara,
    /// Families of proteins aligned with each other, stage by stage, by residues and number of sequences.
    Msa,
}

impl Experiment {
    /// All of them, in the order in which they run.
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

    /// Its name on the command line and in tables.
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

/// What engines are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchWork {
    /// Scores ([`crate::pairs::Want::Scores`]).
    Scores,
    /// Scores and matches, from which a pair is traced back ([`crate::pairs::Want::Alignments`]).
    Alignments,
}

/// Gap costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapKind {
    /// 10 a symbol: the default for nucleotides; in `long` 5.
    Linear,
    /// 10, and 1 a symbol; in `long` 5, and 2 a symbol.
    Affine,
}

impl GapKind {
    fn name(self) -> &'static str {
        match self {
            GapKind::Linear => "linear",
            GapKind::Affine => "affine",
        }
    }

    /// Nucleotides with these gap costs.
    fn scoring(self) -> Arc<Scoring> {
        Arc::new(match self {
            GapKind::Linear => Scoring::truong(),
            GapKind::Affine => Scoring { gaps: Gaps::from_blast(10, 1), ..Scoring::truong() },
        })
    }
}

/// Who may be measured.
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

/// What to measure, and how long.
#[derive(Debug, Clone)]
pub struct Bench {
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// The devices; empty for the best hardware adapter, or the CPU where there is none.
    pub devices: Vec<Device>,
    /// The kernels, and the CPU engine beside them.
    pub contenders: Vec<Contender>,
    /// Lengths in symbols for `kernels`, `tiles`, `edit`, `long` and `msa`, and numbers of sites for `papara`; `None` for
    /// 128, 256, ... 16,384, for 120, 360 and 1000, for 100, 200, ... 10,000, for the sizes of the papers' figures up to 1,000,000, for 100, 350 and 1500, and for 500,
    /// 1000, ... 500,000.
    pub lengths: Option<Vec<u32>>,
    /// Numbers of pairs for `kernels`, of reads for `papara` and of sequences for `msa`; `None` for 8, 64, ... 100,000, for 10, 50,
    /// ... 5000, and for 10, 100 and 1000.
    pub counts: Option<Vec<u32>>,
    /// What to ask of engines in `kernels`.
    pub work: Vec<BenchWork>,
    /// Gap costs in `kernels`, `slices`, `tiles` and `long`.
    pub gaps: Vec<GapKind>,
    /// Seconds that one row of a table may take.
    pub seconds: f64,
    /// Sequences for `filter` and `endtoend`; `None` for random relatives.
    pub sequences: Option<Arc<SequenceStore>>,
    /// Small sizes, that show no more than that all works.
    pub quick: bool,
    /// CPU threads; 0 for as many as there are processors.
    pub threads: usize,
    /// Set to end early with [`Error::Interrupted`].
    pub interrupt: Arc<AtomicBool>,
}

/// What experiments share on one device.
struct Bed<'a> {
    bench: &'a Bench,
    device: &'a Device,
    /// Name, driver and backend.
    name: String,
    pool: Arc<rayon::ThreadPool>,
    quick: bool,
    /// Tells the user what is being measured.
    say: &'a dyn Fn(&str),
}

impl Bed<'_> {
    fn adapter(&self) -> Option<&FoundAdapter> {
        match self.device {
            Device::Cpu => None,
            Device::Adapter(found) => Some(found),
        }
    }

    fn table(&self, experiment: Experiment, title: impl Into<String>, columns: &[Column]) -> Table {
        Table::new(experiment.name(), &self.name, title, columns)
    }

    /// The kernels of a family that were asked for; none on the CPU.
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

    /// Lengths or numbers of pairs, from the least, as smaller work tells how long larger work takes.
    fn sizes(&self, given: &Option<Vec<u32>>, usual: &[u32], quick: &[u32]) -> Vec<u32> {
        let mut sizes = given.clone().unwrap_or_else(|| if self.quick { quick } else { usual }.to_vec());
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    /// Whether the CPU engine is measured here: on the CPU, and beside an adapter if the CPU has no table of its own.
    fn has_cpu(&self) -> bool {
        let has_own = self.bench.devices.iter().any(|device| matches!(device, Device::Cpu));
        let is_asked = self.bench.contenders.iter().any(|contender| matches!(contender, Contender::Cpu));
        is_asked && (self.adapter().is_none() || !has_own)
    }

    fn check_interrupt(&self) -> Result<()> {
        if self.bench.interrupt.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn say(&self, experiment: Experiment, what: impl std::fmt::Display) {
        (self.say)(&format!("{}: {what}", experiment.name()));
    }
}

impl Bench {
    /// Runs the experiments, device after device. `say` hears what is being measured.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Usage`] for what cannot be measured; [`Error::Device`] for an adapter that does
    /// not open; [`Error::Internal`] if engines disagree. A kernel that refuses or fails is a mark in its table.
    pub fn run(&self, say: &dyn Fn(&str)) -> Result<Measurements> {
        self.validate()?;
        let found;
        let devices = if self.devices.is_empty() {
            found = choose(&[])?;
            &found
        } else {
            &self.devices
        };
        let pool = thread_pool(self.threads)?;
        let mut measurements = Measurements { header: vec![self.header()], tables: Vec::new() };
        for device in devices {
            let is_software = matches!(device, Device::Adapter(found) if found.is_software());
            if is_software && !self.quick {
                tracing::warn!("a software adapter: sizes are small, and show no more than that all works");
            }
            let name = describe(device, &pool);
            let quick = self.quick || is_software;
            let bed = Bed { bench: self, device, name, pool: Arc::clone(&pool), quick, say };
            for &experiment in &self.experiments {
                bed.check_interrupt()?;
                measurements.tables.push(match experiment {
                    Experiment::Kernels => kernels::run(&bed)?,
                    Experiment::Slices => slices::run(&bed)?,
                    Experiment::Tiles => tiles::run(&bed)?,
                    Experiment::Filter => filter::run(&bed)?,
                    Experiment::Buffering => buffering::run(&bed)?,
                    Experiment::EndToEnd => endtoend::run(&bed)?,
                    Experiment::Edit => edit::run(&bed)?,
                    Experiment::Long => long::run(&bed)?,
                    Experiment::Papara => papara::run(&bed)?,
                    Experiment::Msa => msa::run(&bed)?,
                });
            }
        }
        Ok(measurements)
    }

    fn validate(&self) -> Result<()> {
        let is_zero = |list: &Option<Vec<u32>>| list.as_ref().is_some_and(|list| list.contains(&0));
        if is_zero(&self.lengths) {
            return Err(Error::usage_of("lengths", "sequences have 1 symbol or more"));
        }
        if is_zero(&self.counts) {
            return Err(Error::usage_of("counts", "there are numbers of pairs from 1 on"));
        }
        if !(self.seconds > 0.0 && self.seconds.is_finite()) {
            return Err(Error::usage_value("seconds", self.seconds, "more than 0 is needed"));
        }
        match &self.sequences {
            Some(store) if store.len() < 2 => Err(Error::usage_of("sequences", "a pair needs two, but there is one")),
            _ => Ok(()),
        }
    }

    /// What has to be the same for the same tables. What users choose is named as in the library, between backquotes.
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

    /// The scheme of the sequences in `filter` and `endtoend`: the default of their alphabet.
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
        Device::Adapter(found) => {
            let found = &found.description;
            format!("{} ({}, {}); {cpu}", found.name, found.backend, found.driver)
        }
    }
}

/// What becomes of a measurement that an engine did not make: a mark in the table and a note, or the end of the bench.
fn mark(table: &mut Table, who: &str, error: Error) -> Result<Status> {
    match error {
        Error::Unsuited { message, .. } => {
            table.note(format!("-: {who}: {message}"));
            Ok(Status::Unsuited)
        }
        Error::Device { message, .. } => {
            tracing::warn!("{who}: {message}");
            table.note(format!("failed: {who}: {message}"));
            Ok(Status::Failed)
        }
        other => Err(other),
    }
}
