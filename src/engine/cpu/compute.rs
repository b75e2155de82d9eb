//! What one thread does with a batch: groups of targets in lanes, or one pair over all lanes, in the narrowest numbers
//! that hold their scores.

use super::difference::{self, DifferenceElement};
use super::group::{Group, codes_of};
use super::local::{self, LocalElement};
use super::pair_difference::{self, PairDifferenceElement};
use super::pair_local::{self, PairLocalElement};
use super::simd::{Isa, MAX_LANES};
use crate::engine::{Band, Batch, Hit, Want};
use crate::error::{Error, Result};
use crate::score::{DifferenceScoring, LocalScoring, Mode, offset};
use crate::seq::{Code, SequenceId};

/// What is in a vector's lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Whatever is expected to be faster.
    #[default]
    Cheaper,
    /// Targets, one a lane: for many of about one length.
    Targets,
    /// Rows of one pair: for few, or long ones.
    Rows,
}

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Clone)]
pub struct Workspace {
    plan: Plan,
    buffers: AllBuffers,
}

/// How a workspace computes.
#[derive(Debug, Clone, Copy)]
struct Plan {
    isa: Isa,
    form: Form,
}

type AllBuffers = (Buffers<i8>, Buffers<i16>, Buffers<i32>, Buffers<i64>);

/// Those for elements of one width.
#[derive(Debug, Clone, Default)]
struct Buffers<E> {
    difference: difference::Buffers<E>,
    pair_difference: pair_difference::Buffers<E>,
    local: local::Buffers<E>,
    pair_local: pair_local::Buffers<E>,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(Isa::best(), Form::Cheaper)
    }

    /// A workspace for these instructions and this form, which change no result.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn with(isa: Isa, form: Form) -> Self {
        assert!(Isa::available().contains(&isa), "the processor does not have {}", isa.name());
        Workspace { plan: Plan { isa, form }, buffers: Default::default() }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes all pairs of a batch on this thread: the score of every pair, or of every one that may reach the identity
/// that is wanted, with its matches where they are carried (never in local mode).
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores.
pub fn run(batch: &Batch, workspace: &mut Workspace) -> Result<Vec<Hit>> {
    let Workspace { plan, buffers } = workspace;
    match batch.band.scoring.mode {
        Mode::Global => {
            let widths: [&mut dyn Differences; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
            let hits = widths.into_iter().find_map(|width| width.run(batch, *plan));
            hits.ok_or_else(|| Error::Internal("scores that do not fit 64 bits".into()))
        }
        Mode::Local => run_local(batch, *plan, buffers),
    }
}

/// Global scores in one width.
trait Differences {
    /// All pairs of a batch; `None` if the width does not hold them.
    fn run(&mut self, batch: &Batch, plan: Plan) -> Option<Vec<Hit>>;
}

impl<E: DifferenceElement + PairDifferenceElement> Differences for Buffers<E> {
    fn run(&mut self, batch: &Batch, plan: Plan) -> Option<Vec<Hit>> {
        let (band, extent) = (&batch.band, batch.extent());
        let (shorter, sum) = (extent.shorter as u64, extent.sum);
        let carry = !matches!(band.want, Want::Scores) && offset::carries_matches(&band.scoring, shorter, sum);
        let form = DifferenceScoring::<E>::new(&band.scoring, shorter, carry)?;
        let mut hits = Vec::new();
        for block in &batch.blocks {
            let query = band.queries.codes(block.query);
            let codes = &codes_of(query);
            for ids in targets_of(band, block.targets.clone()).chunks(E::lanes(plan.isa)) {
                let mut values = [0; MAX_LANES];
                let targets = symbols_of(band, ids);
                if plan.is_by_targets(query, &targets, E::lanes(plan.isa)) {
                    let (group, buffers) = (Group::new(&targets), &mut self.difference);
                    let task = difference::Task { form: &form, query, codes, group, buffers, values: &mut values };
                    E::align_group(plan.isa, task);
                } else {
                    for (target, value) in targets.iter().zip(&mut values) {
                        let (rows, columns) = by_length(query, target);
                        let (codes, buffers) = (&codes_of(columns), &mut self.pair_difference);
                        let task = pair_difference::Task { form: &form, rows, columns, codes, buffers, value };
                        E::align_pair(plan.isa, task);
                    }
                }
                hits.extend(ids.iter().zip(values).filter_map(|(&target, value)| {
                    let (m, n) = (query.len() as u32, band.targets.length(target));
                    let (score, matches) = form.decode(value, m, n);
                    let hit = Hit { query: block.query, target, score, matches };
                    is_wanted(band, score, matches, m, n).then_some(hit)
                }));
            }
        }
        Some(hits)
    }
}

/// Local scores in one width.
trait Locals {
    /// Scores of a query against targets. Those that need greater width stay in `targets`.
    fn run(&mut self, band: &Band, plan: Plan, id: SequenceId, targets: &mut Vec<SequenceId>, hits: &mut Vec<Hit>);
}

impl<E: LocalElement + PairLocalElement> Locals for Buffers<E> {
    fn run(&mut self, band: &Band, plan: Plan, id: SequenceId, targets: &mut Vec<SequenceId>, hits: &mut Vec<Hit>) {
        let Some(form) = LocalScoring::<E>::new(&band.scoring) else { return };
        let query = band.queries.codes(id);
        let codes = &codes_of(query);
        let mut wider = Vec::new();
        for ids in targets.chunks(E::lanes(plan.isa)) {
            let mut values = [E::default(); MAX_LANES];
            let symbols = symbols_of(band, ids);
            if plan.is_by_targets(query, &symbols, E::lanes(plan.isa)) {
                let (group, buffers) = (Group::new(&symbols), &mut self.local);
                let task = local::Task { form: &form, query, codes, group, buffers, values: &mut values };
                E::align_group(plan.isa, task);
            } else {
                for (target, value) in symbols.iter().zip(&mut values) {
                    let (rows, columns) = by_length(query, target);
                    let (codes, buffers) = (&codes_of(columns), &mut self.pair_local);
                    E::align_pair(plan.isa, pair_local::Task { form: &form, rows, columns, codes, buffers, value });
                }
            }
            for (&target, value) in ids.iter().zip(values) {
                let Some(score) = form.decode(value) else {
                    wider.push(target);
                    continue;
                };
                if is_wanted(band, score, None, query.len() as u32, band.targets.length(target)) {
                    hits.push(Hit { query: id, target, score, matches: None });
                }
            }
        }
        *targets = wider;
    }
}

/// Local scores: every target in 8 bits, those whose scores these do not hold again in 16, and so on.
fn run_local(batch: &Batch, plan: Plan, buffers: &mut AllBuffers) -> Result<Vec<Hit>> {
    let band = &batch.band;
    let mut hits = Vec::new();
    for block in &batch.blocks {
        let mut targets = targets_of(band, block.targets.clone()).to_vec();
        let widths: [&mut dyn Locals; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
        for width in widths {
            if !targets.is_empty() {
                width.run(band, plan, block.query, &mut targets, &mut hits);
            }
        }
        if !targets.is_empty() {
            return Err(Error::Internal("local scores that do not fit 64 bits".into()));
        }
    }
    Ok(hits)
}

/// Whether a pair of `m` and `n` symbols is to be reported.
fn is_wanted(band: &Band, score: i64, matches: Option<u64>, m: u32, n: u32) -> bool {
    match &band.want {
        Want::Reaching(filter) => filter.may_reach(score, matches, m, n),
        Want::Scores | Want::Alignments => true,
    }
}

/// Numbers of the targets in a range of a band's order.
fn targets_of(band: &Band, range: std::ops::Range<u32>) -> &[SequenceId] {
    &band.order[range.start as usize..range.end as usize]
}

/// Symbols of targets.
fn symbols_of<'a>(band: &'a Band, ids: &[SequenceId]) -> Vec<&'a [Code]> {
    ids.iter().map(|&id| band.targets.codes(id)).collect()
}

/// How much longer a vector of cells takes where one pair fills it than where many do.
const ROWS_COST: u64 = 5;

impl Plan {
    /// Whether targets are computed one a lane, rather than each over all lanes.
    fn is_by_targets(self, query: &[Code], targets: &[&[Code]], lanes: usize) -> bool {
        match self.form {
            Form::Targets => true,
            Form::Rows => false,
            Form::Cheaper => {
                let together = (Group::new(targets).rows() * query.len()) as u64;
                let alone = |target: &&[Code]| {
                    let (rows, columns) = by_length(query, target);
                    (rows.len().div_ceil(lanes) * (columns.len() + lanes)) as u64
                };
                together <= ROWS_COST * targets.iter().map(alone).sum::<u64>()
            }
        }
    }
}

/// The shorter one of two sequences, then the longer one.
fn by_length<'a>(a: &'a [Code], b: &'a [Code]) -> (&'a [Code], &'a [Code]) {
    if a.len() <= b.len() { (a, b) } else { (b, a) }
}
