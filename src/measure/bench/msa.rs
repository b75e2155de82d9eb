//! Multiple alignment: durations of the stages of `pairwave msa`, by length and number of
//! sequences.

use std::sync::Arc;

use super::timing::{Rates, Sample, Timing, repeat};
use super::{Experiment, ExperimentContext, error_mark};
use crate::error::{Error, Result};
use crate::gpu::adapter::Device;
use crate::gpu::kernels::Family;
use crate::jobs::msa::{MsaMode, MsaSummary, MultiAlign};
use crate::jobs::{Job, Run};
use crate::measure::simulate;
use crate::measure::simulate::SEED;
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableCell, TableChart, TableColumn};
use crate::pairs::gpu::tune::random_store;
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::{posterior, profile};

/// Lengths in residues.
const RESIDUES: [u32; 3] = [100, 350, 1500];
const QUICK_RESIDUES: [u32; 1] = [40];
/// Numbers of sequences.
const SEQUENCES: [u32; 3] = [10, 100, 1000];
const QUICK_SEQUENCES: [u32; 2] = [4, 9];
/// Percentage of residues that change along a branch.
const CHANGED: u32 = 6;
/// Ratio of cells between a family and one with half the sequences and half the residues.
const STEP: f64 = 16.0;

const COLUMNS: [TableColumn; 13] = [
    TableColumn { key: "mode", name: "mode", unit: "" },
    TableColumn { key: "residues", name: "residues", unit: "" },
    TableColumn { key: "sequences", name: "sequences", unit: "" },
    TableColumn { key: "engine", name: "engine", unit: "" },
    TableColumn { key: "cells", name: "cells", unit: "" },
    TableColumn { key: "distances_seconds", name: "pairs", unit: "s" },
    TableColumn { key: "kernel_seconds", name: "in kernels", unit: "s" },
    TableColumn { key: "gcups", name: "pairs", unit: "GCUPS" },
    TableColumn { key: "tree_seconds", name: "tree", unit: "s" },
    TableColumn { key: "alignment_seconds", name: "alignment", unit: "s" },
    TableColumn { key: "seconds", name: "in all", unit: "s" },
    TableColumn { key: "columns", name: "columns", unit: "" },
    TableColumn { key: "runs", name: "runs", unit: "" },
];

/// Names of the modes, and the kernel family of each.
const MODES: [(&str, Family); 2] = [("clustalw", Family::Clustal), ("accurate", Family::Posterior)];

/// An engine that aligns, and its known speed.
struct MsaContender {
    mode: &'static str,
    is_gpu: bool,
    /// Rates of the cells, without the fixed time that the smallest family takes.
    rates: Rates,
    least_seconds: Option<f64>,
}

impl MsaContender {
    fn name(&self) -> &'static str {
        if self.is_gpu { "gpu" } else { "cpu" }
    }

    fn job(&self, residues: u32, sequences: u32) -> MultiAlign {
        let mode = match self.mode {
            "accurate" => MsaMode::Accurate(posterior::PosteriorOptions::default()),
            _ => MsaMode::Clustal(profile::ProfileOptions::new(Alphabet::Protein)),
        };
        MultiAlign { mode, ..MultiAlign::new(family(sequences, residues)) }
    }

    fn run(&self, context: &ExperimentContext<'_>, job: &MultiAlign) -> Result<MsaSummary> {
        let run = Run {
            devices: vec![if self.is_gpu { context.device.clone() } else { Device::Cpu }],
            threads: context.pool.current_num_threads(),
            interrupt: Arc::clone(&context.bench.interrupt),
            ..Run::default()
        };
        let summary = job.run(&run, |_| Ok(()))?;
        // A job continues without an engine that fails. A measurement of that engine must not.
        let mut engines = summary.distances.engines.iter();
        match engines.find_map(|engine| Some((&engine.name, engine.lost.as_ref()?))) {
            Some((name, lost)) => Err(Error::Device { device: name.clone(), message: lost.clone() }),
            None => Ok(summary),
        }
    }

    /// Returns the expected duration of a family in seconds, from measurements of smaller ones.
    fn expected(&self, job: &MultiAlign, residues: u32, sequences: u32) -> Option<f64> {
        let rate = self.rates.expected(residues, sequences.into())?;
        Some(self.least_seconds? + job.cells() as f64 / rate)
    }

    fn learn(&mut self, job: &MultiAlign, residues: u32, sequences: u32, seconds: f64) {
        let least = *self.least_seconds.get_or_insert(seconds);
        let rate = job.cells().max(1) as f64 / (seconds - least).max(1e-4);
        self.rates.add(residues, sequences.into(), rate, 1);
    }

    /// Measures a family. Returns `None` if it would exceed the time of a row. If little is known,
    /// measures smaller families first.
    fn measure(
        &mut self,
        context: &ExperimentContext<'_>,
        residues: u32,
        sequences: u32,
    ) -> Result<Option<(MsaSummary, Timing)>> {
        let most = context.bench.seconds;
        let halves = |size: u32| std::iter::successors(Some(size), |size| (*size > 2).then_some(size.div_ceil(2)));
        let longest = halves(residues).count().max(halves(sequences).count());
        let smaller = |size: u32, steps: usize| halves(size).nth(steps).unwrap_or(size.min(2));
        for steps in (0..longest).rev() {
            context.check_interrupt()?;
            let (residues, sequences) = (smaller(residues, steps), smaller(sequences, steps));
            let job = self.job(residues, sequences);
            match self.expected(&job, residues, sequences) {
                Some(seconds) if seconds > most => return Ok(None),
                Some(seconds) if steps > 0 && seconds * STEP < most => continue,
                _ if steps > 0 => {
                    let seconds = self.run(context, &job)?.seconds;
                    self.learn(&job, residues, sequences, seconds);
                    continue;
                }
                _ => {}
            }
            let mut best: Option<MsaSummary> = None;
            let timing = repeat(context, most, || {
                let summary = self.run(context, &job)?;
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

/// Measures the stages on one device and on the CPU.
pub(super) fn run(context: &ExperimentContext<'_>) -> Result<MeasurementTable> {
    let mut table = context.table(Experiment::Msa, "families of proteins aligned", &COLUMNS);
    let mut contenders = Vec::new();
    for (mode, kernels) in MODES {
        let is_gpu = [context.kernels(kernels).next().map(|_| true), context.has_cpu().then_some(false)];
        let contender = |is_gpu| MsaContender { mode, is_gpu, rates: Rates::default(), least_seconds: None };
        contenders.extend(is_gpu.into_iter().flatten().map(contender));
    }
    let residues = context.sizes(&context.bench.lengths, &RESIDUES, &QUICK_RESIDUES);
    let sequences = context.sizes(&context.bench.counts, &SEQUENCES, &QUICK_SEQUENCES);
    for contender in &mut contenders {
        for (&residues, &sequences) in residues.iter().flat_map(|one| sequences.iter().map(move |other| (one, other))) {
            let who = contender.name();
            context.report_progress(
                Experiment::Msa,
                format_args!("{}, {sequences} of {residues} residues, {who}", contender.mode),
            );
            let mut cells: Vec<TableCell> = vec![contender.mode.into(), residues.into(), sequences.into(), who.into()];
            let status = match contender.measure(context, residues, sequences) {
                Ok(Some((best, timing))) => {
                    cells.extend(measured(&contender.job(residues, sequences), &best, contender.is_gpu));
                    cells.push(timing.runs.into());
                    RowStatus::Measured
                }
                Ok(None) => RowStatus::Skipped,
                Err(error) => error_mark(&mut table, who, error)?,
            };
            table.push(status, cells);
        }
    }
    describe(context, &mut table);
    Ok(table)
}

/// Returns the values of a row, except the number of runs.
fn measured(job: &MultiAlign, best: &MsaSummary, is_gpu: bool) -> Vec<TableCell> {
    let is_accurate = matches!(job.mode, MsaMode::Accurate(_));
    // Large sets in accurate mode have no separate stage for all pairs. The alignment then includes
    // the tree and the pairs.
    let pairs = &best.distances;
    let of_pairs = |value: f64| if pairs.cells > 0 { TableCell::from(value) } else { "".into() };
    vec![
        job.cells().into(),
        of_pairs(pairs.seconds),
        if is_gpu { of_pairs(pairs.kernel_seconds) } else { "".into() },
        of_pairs(Timing::gcups(pairs.cells, pairs.seconds)),
        if is_accurate { "".into() } else { best.tree_seconds.into() },
        best.alignment_seconds.into(),
        best.seconds.into(),
        (best.columns as u64).into(),
    ]
}

fn describe(context: &ExperimentContext<'_>, table: &mut MeasurementTable) {
    table.note(format!("families along random trees; {CHANGED}% of residues change along each branch"));
    table.note(
        "pairs: ClustalW's distances or the probabilities of all pairs, from sequences in memory, with an open device and compiled kernels",
    );
    table.note(
        "clustalw: all stages as ClustalW computes them; accurate: by probabilities; its tree is part of the alignment",
    );
    table.note("GCUPS: 10^9 cells of whole matrices per second, by the clock; fastest run");
    if table.rows.iter().any(|row| row.status == RowStatus::Skipped) {
        table.note(format!(
            "skipped: expected to take more than {} s, estimated from fewer cells",
            context.bench.seconds
        ));
    }
    for (mode, _) in MODES {
        for (y, what) in [("gcups", "pairs"), ("seconds", "in all")] {
            table.charts.push(TableChart {
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

/// Returns proteins with about this number of residues along a random tree.
fn family(sequences: u32, residues: u32) -> Arc<SequenceStore> {
    let mut next = simulate::random(SEED);
    let mut leaves = vec![random_store(Alphabet::Protein, 1, residues as usize, SEED).codes(0).to_vec()];
    while leaves.len() < sequences as usize {
        let at = next() as usize % leaves.len();
        let parent = leaves.swap_remove(at);
        leaves.extend([descendant(&parent, &mut next), descendant(&parent, &mut next)]);
    }
    let mut builder = SequenceStore::builder(Alphabet::Protein);
    leaves.iter().enumerate().for_each(|(index, codes)| builder.push_valid(format!("protein{index}"), codes));
    Arc::new(builder.build())
}

/// Returns the sequence at the other end of a branch. A tenth of the changes are deletions, and a
/// tenth are insertions of up to four residues.
fn descendant(parent: &[Code], next: &mut impl FnMut() -> u32) -> Vec<Code> {
    let any = |next: &mut dyn FnMut() -> u32| b"ACDEFGHIKLMNPQRSTVWY"[next() as usize % 20] - b'A' + 1;
    let mut codes = Vec::with_capacity(parent.len() + 16);
    for &code in parent {
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
    fn families_are_reproducible_and_similar() {
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
        // Unrelated sequences of these lengths would not share nearly as many columns.
        assert!(aligned.is_some_and(|columns| (200..300).contains(&columns)), "{aligned:?}");
    }
}
