//! Many sequences aligned with each other: what the stages of `pairwave msa` take, by residues and number of sequences.

use std::sync::Arc;

use super::timing::{Rates, Sample, Timing, repeat};
use super::{Bed, Experiment, mark};
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::gpu::kernels::Family;
use crate::jobs::msa::{MsaMode, MsaSummary, MultiAlign};
use crate::jobs::{Job, Run};
use crate::measure::simulate;
use crate::measure::simulate::SEED;
use crate::measure::table::{Cell, Chart, ChartKind, Column, Status, Table};
use crate::pairs::gpu::tune::random_store;
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::{posterior, profile};

/// Residues, and numbers of sequences.
const RESIDUES: [u32; 3] = [100, 350, 1500];
const QUICK_RESIDUES: [u32; 1] = [40];
const SEQUENCES: [u32; 3] = [10, 100, 1000];
const QUICK_SEQUENCES: [u32; 2] = [4, 9];
/// Of a hundred residues, those that change along a branch.
const CHANGED: u32 = 6;
/// Cells of a family are so many times as many as of one of half the sequences and half the residues.
const STEP: f64 = 16.0;

const COLUMNS: [Column; 13] = [
    Column { key: "mode", name: "mode", unit: "" },
    Column { key: "residues", name: "residues", unit: "" },
    Column { key: "sequences", name: "sequences", unit: "" },
    Column { key: "engine", name: "engine", unit: "" },
    Column { key: "cells", name: "cells", unit: "" },
    Column { key: "distances_seconds", name: "pairs", unit: "s" },
    Column { key: "kernel_seconds", name: "in kernels", unit: "s" },
    Column { key: "gcups", name: "pairs", unit: "GCUPS" },
    Column { key: "tree_seconds", name: "tree", unit: "s" },
    Column { key: "alignment_seconds", name: "alignment", unit: "s" },
    Column { key: "seconds", name: "in all", unit: "s" },
    Column { key: "columns", name: "columns", unit: "" },
    Column { key: "runs", name: "runs", unit: "" },
];

/// The names of the modes, and the kernels of each.
const MODES: [(&str, Family); 2] = [("clustalw", Family::Clustal), ("accurate", Family::Posterior)];

/// Who aligns, and what is known of it.
struct Aligner {
    mode: &'static str,
    is_gpu: bool,
    /// Of cells beyond the seconds that the least family takes.
    rates: Rates,
    least_seconds: Option<f64>,
}

impl Aligner {
    fn name(&self) -> &'static str {
        if self.is_gpu { "gpu" } else { "cpu" }
    }

    fn job(&self, residues: u32, sequences: u32) -> MultiAlign {
        let mode = match self.mode {
            "accurate" => MsaMode::Accurate(posterior::Options::default()),
            _ => MsaMode::Clustal(profile::Options::new(Alphabet::Protein)),
        };
        MultiAlign { mode, ..MultiAlign::new(family(sequences, residues)) }
    }

    fn run(&self, bed: &Bed<'_>, job: &MultiAlign) -> Result<MsaSummary> {
        let run = Run {
            devices: vec![if self.is_gpu { bed.device.clone() } else { Device::Cpu }],
            threads: bed.pool.current_num_threads(),
            interrupt: Arc::clone(&bed.bench.interrupt),
            ..Run::default()
        };
        let summary = job.run(&run, |_| Ok(()))?;
        // A job goes on without an engine that fails; a measurement of it does not.
        let mut engines = summary.distances.engines.iter();
        match engines.find_map(|engine| Some((&engine.name, engine.lost.as_ref()?))) {
            Some((name, lost)) => Err(Error::Device { device: name.clone(), message: lost.clone() }),
            None => Ok(summary),
        }
    }

    /// Seconds that a family should take, by what smaller ones took.
    fn expected(&self, job: &MultiAlign, residues: u32, sequences: u32) -> Option<f64> {
        let rate = self.rates.expected(residues, sequences.into())?;
        Some(self.least_seconds? + job.cells() as f64 / rate)
    }

    fn learn(&mut self, job: &MultiAlign, residues: u32, sequences: u32, seconds: f64) {
        let least = *self.least_seconds.get_or_insert(seconds);
        let rate = job.cells().max(1) as f64 / (seconds - least).max(1e-4);
        self.rates.add(residues, sequences.into(), rate, 1);
    }

    /// Measures a family; `None` if it would take longer than a row may. Where little is known, smaller ones are tried first.
    fn measure(&mut self, bed: &Bed<'_>, residues: u32, sequences: u32) -> Result<Option<(MsaSummary, Timing)>> {
        let most = bed.bench.seconds;
        let halves = |size: u32| std::iter::successors(Some(size), |size| (*size > 2).then_some(size.div_ceil(2)));
        let longest = halves(residues).count().max(halves(sequences).count());
        let smaller = |size: u32, steps: usize| halves(size).nth(steps).unwrap_or(size.min(2));
        for steps in (0..longest).rev() {
            bed.check_interrupt()?;
            let (residues, sequences) = (smaller(residues, steps), smaller(sequences, steps));
            let job = self.job(residues, sequences);
            match self.expected(&job, residues, sequences) {
                Some(seconds) if seconds > most => return Ok(None),
                Some(seconds) if steps > 0 && seconds * STEP < most => continue,
                _ if steps > 0 => {
                    let seconds = self.run(bed, &job)?.seconds;
                    self.learn(&job, residues, sequences, seconds);
                    continue;
                }
                _ => {}
            }
            let mut best: Option<MsaSummary> = None;
            let timing = repeat(bed, most, || {
                let summary = self.run(bed, &job)?;
                let seconds = summary.seconds;
                best = best.take().filter(|best| best.seconds <= seconds).or(Some(summary));
                Ok(Sample { seconds, ..Sample::default() })
            })?;
            self.learn(&job, residues, sequences, timing.seconds);
            return Ok(best.map(|best| (best, timing)));
        }
        Ok(None)
    }
}

/// Measures the stages on one device, and on the CPU.
pub(super) fn run(bed: &Bed<'_>) -> Result<Table> {
    let mut table = bed.table(Experiment::Msa, "families of proteins aligned", &COLUMNS);
    let mut aligners = Vec::new();
    for (mode, kernels) in MODES {
        let is_gpu = [bed.kernels(kernels).next().map(|_| true), bed.has_cpu().then_some(false)];
        let aligner = |is_gpu| Aligner { mode, is_gpu, rates: Rates::default(), least_seconds: None };
        aligners.extend(is_gpu.into_iter().flatten().map(aligner));
    }
    let residues = bed.sizes(&bed.bench.lengths, &RESIDUES, &QUICK_RESIDUES);
    let sequences = bed.sizes(&bed.bench.counts, &SEQUENCES, &QUICK_SEQUENCES);
    for aligner in &mut aligners {
        for (&residues, &sequences) in residues.iter().flat_map(|one| sequences.iter().map(move |other| (one, other))) {
            let who = aligner.name();
            bed.say(Experiment::Msa, format_args!("{}, {sequences} of {residues} residues, {who}", aligner.mode));
            let mut cells: Vec<Cell> = vec![aligner.mode.into(), residues.into(), sequences.into(), who.into()];
            let status = match aligner.measure(bed, residues, sequences) {
                Ok(Some((best, timing))) => {
                    cells.extend(measured(&aligner.job(residues, sequences), &best, aligner.is_gpu));
                    cells.push(timing.runs.into());
                    Status::Measured
                }
                Ok(None) => Status::Skipped,
                Err(error) => mark(&mut table, who, error)?,
            };
            table.push(status, cells);
        }
    }
    describe(bed, &mut table);
    Ok(table)
}

/// The values of a row, but for the runs.
fn measured(job: &MultiAlign, best: &MsaSummary, is_gpu: bool) -> Vec<Cell> {
    let is_accurate = matches!(job.mode, MsaMode::Accurate(_));
    // Large sets have no stage of all pairs in accurate mode, and what the tree takes is in its alignment, as are the pairs.
    let pairs = &best.distances;
    let of_pairs = |value: f64| if pairs.cells > 0 { Cell::from(value) } else { "".into() };
    let alignment = best.alignment_seconds - if is_accurate { pairs.seconds } else { 0.0 };
    vec![
        job.cells().into(),
        of_pairs(pairs.seconds),
        if is_gpu { of_pairs(pairs.kernel_seconds) } else { "".into() },
        of_pairs(Timing::gcups(pairs.cells, pairs.seconds)),
        if is_accurate { "".into() } else { best.tree_seconds.into() },
        alignment.into(),
        best.seconds.into(),
        (best.columns as u64).into(),
    ]
}

fn describe(bed: &Bed<'_>, table: &mut Table) {
    table.note(format!("families along random trees, {CHANGED} of a hundred residues changed along each branch"));
    table.note(
        "pairs: ClustalW's distances or the probabilities of all pairs, from sequences in memory, device opened and kernels compiled",
    );
    table.note(
        "clustalw: all stages as ClustalW computes them; accurate: by probabilities, its tree is a part of the alignment",
    );
    table.note("GCUPS: 10^9 cells of whole matrices a second, by the clock; the fastest of the runs");
    if table.rows.iter().any(|row| row.status == Status::Skipped) {
        table.note(format!("skipped: expected to take more than {} s, by what fewer cells took", bed.bench.seconds));
    }
    for (mode, _) in MODES {
        for (y, what) in [("gcups", "pairs"), ("seconds", "in all")] {
            table.charts.push(Chart {
                title: format!("Families of proteins, {mode}, {what}"),
                kind: ChartKind::Lines { log_x: true, log_y: true },
                x: "sequences",
                y,
                series: vec!["engine", "residues"],
                only: vec![("mode", mode.into())],
            });
        }
    }
}

/// Proteins of about so many residues along a random tree.
fn family(sequences: u32, residues: u32) -> Arc<SequenceStore> {
    let mut next = simulate::random(SEED);
    let mut leaves = vec![random_store(Alphabet::Protein, 1, residues as usize, SEED).codes(0).to_vec()];
    while leaves.len() < sequences as usize {
        let at = next() as usize % leaves.len();
        let own = leaves.swap_remove(at);
        leaves.extend([descendant(&own, &mut next), descendant(&own, &mut next)]);
    }
    let mut builder = SequenceStore::builder(Alphabet::Protein);
    leaves.iter().enumerate().for_each(|(index, codes)| builder.push_valid(format!("protein{index}"), codes));
    Arc::new(builder.build())
}

/// A sequence at the other end of a branch: of what changes, a tenth is lost, and a tenth has up to four residues before it.
fn descendant(of: &[Code], next: &mut impl FnMut() -> u32) -> Vec<Code> {
    let any = |next: &mut dyn FnMut() -> u32| b"ACDEFGHIKLMNPQRSTVWY"[next() as usize % 20] - b'A' + 1;
    let mut codes = Vec::with_capacity(of.len() + 16);
    for &code in of {
        match (next() % 100 < CHANGED).then(|| next() % 10) {
            None => codes.push(code),
            Some(0) => {}
            Some(1) => {
                let more = 1 + next() % 4;
                codes.extend((0..more).map(|_| any(next)));
                codes.push(code);
            }
            Some(_) => codes.push(any(next)),
        }
    }
    if codes.is_empty() {
        codes.push(any(next));
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_the_same_each_time_and_alike() {
        let store = family(12, 200);
        assert_eq!(store, family(12, 200));
        assert_eq!((store.len(), family(1, 7).length(0), family(3, 1).len()), (12, 7, 3));
        assert!(store.lengths().iter().all(|length| (170..240).contains(length)), "{:?}", store.lengths());
        let mut aligned = None;
        let job = MultiAlign::new(Arc::clone(&store));
        let run = Run { devices: vec![Device::Cpu], threads: 1, ..Run::default() };
        job.run(&run, |rows| {
            aligned = rows.first().map(|row| row.alignment.columns());
            Ok(())
        })
        .expect("it aligns");
        // Strangers of these lengths would not have nearly as many of their residues in the same columns.
        assert!(aligned.is_some_and(|columns| (200..300).contains(&columns)), "{aligned:?}");
    }
}
