//! What one thread does with a batch: groups of targets in lanes, or one pair over all lanes, in the narrowest numbers
//! that hold their scores.

use super::difference::Greatest;
use super::group::{Group, GroupBuffers, GroupTask, codes_of};
use super::local::{Best, Span};
use super::skew::{PairBuffers, PairTask};
use crate::error::{Error, Result};
use crate::pairs::{Band, Batch, Block, Hit};
use crate::score::{DifferenceScoring, LocalScoring, Mode, Scoring, offset};
use crate::seq::{Code, SequenceId};
use crate::simd::{LaneElement, Level, MAX_LANES};
use crate::trace::EndRegion;

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
    level: Level,
    form: Form,
}

type AllBuffers = (WidthBuffers<i8>, WidthBuffers<i16>, WidthBuffers<i32>, WidthBuffers<i64>);

/// Those for elements of one width.
#[derive(Debug, Clone, Default)]
struct WidthBuffers<E> {
    group: GroupBuffers<E>,
    pair: PairBuffers<E>,
}

impl Workspace {
    /// A workspace for the best instructions that the processor has.
    pub fn new() -> Self {
        Self::with(Level::best(), Form::Cheaper)
    }

    /// A workspace for these instructions and this form, which change no result.
    ///
    /// # Panics
    /// If the processor does not have the instructions.
    pub fn with(level: Level, form: Form) -> Self {
        Workspace { plan: Plan { level: level.checked(), form }, buffers: Default::default() }
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

/// Computes all pairs of a batch on this thread, block by block ([`run_block`]).
///
/// # Errors
/// As [`run_block`].
pub fn run(batch: &Batch, workspace: &mut Workspace) -> Result<Vec<Hit>> {
    Ok(run_with_ends(batch, workspace)?.0)
}

/// The same, with where alignments end if a traceback follows that is spared work by it: one for each hit, else none.
///
/// # Errors
/// As [`run_block`].
pub(super) fn run_with_ends(batch: &Batch, workspace: &mut Workspace) -> Result<(Vec<Hit>, Vec<EndRegion>)> {
    let (mut hits, mut ends) = (Vec::new(), Vec::new());
    for block in &batch.blocks {
        let (mut of_block, mut their_ends) = block_with_ends(&batch.band, block, workspace)?;
        hits.append(&mut of_block);
        ends.append(&mut their_ends);
    }
    Ok((hits, ends))
}

/// Where the canonical local alignments of a query with targets end: of those that score more than 0.
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores.
pub fn ends(
    query: &[Code],
    targets: &[&[Code]],
    scoring: &Scoring,
    workspace: &mut Workspace,
) -> Result<Vec<EndRegion>> {
    let found = locals(query, targets, scoring, true, workspace)?;
    Ok(found.into_iter().zip(targets).map(|(found, target)| found.end(query, target, false)).collect())
}

/// Computes all pairs of a block on this thread: the score of every pair, or of every one that may reach the identity
/// or the score that is wanted, with its matches where they are carried (never in local mode).
///
/// The width of numbers, and whether matches are carried, is decided for all that is computed together, and of a block it
/// is what its longest target asks for. So what comes back for a pair does not depend on what else is in a batch.
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores.
pub fn run_block(band: &Band, block: &Block, workspace: &mut Workspace) -> Result<Vec<Hit>> {
    Ok(block_with_ends(band, block, workspace)?.0)
}

fn block_with_ends(band: &Band, block: &Block, workspace: &mut Workspace) -> Result<(Vec<Hit>, Vec<EndRegion>)> {
    match band.scoring.mode {
        Mode::Global => {
            let Workspace { plan, buffers } = workspace;
            let widths: [&mut dyn Differences; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
            let hits = widths.into_iter().find_map(|width| width.run(band, block, *plan));
            hits.ok_or_else(|| Error::Internal("scores that do not fit 64 bits".into()))
        }
        Mode::Local => run_local(band, block, workspace),
    }
}

/// Global scores in one width.
trait Differences {
    /// All pairs of a block, and where their alignments end if that is worth knowing; `None` if the width does not hold them.
    fn run(&mut self, band: &Band, block: &Block, plan: Plan) -> Option<(Vec<Hit>, Vec<EndRegion>)>;
}

impl<E: LaneElement> Differences for WidthBuffers<E> {
    fn run(&mut self, band: &Band, block: &Block, plan: Plan) -> Option<(Vec<Hit>, Vec<EndRegion>)> {
        let query = band.queries.codes(block.query);
        let (m, longest) = (query.len() as u64, u64::from(band.longest(block.targets.clone())));
        let shorter = m.min(longest);
        let carry = band.want.has_alignments() && offset::carries_matches(&band.scoring, shorter, m + longest);
        let form = DifferenceScoring::<E>::new(&band.scoring, shorter, carry)?;
        let codes = &codes_of(query);
        let ids = targets_of(band, block);
        let mut found = vec![Greatest::default(); ids.len()];
        plan.share_out(query, &symbols_of(band, ids), E::lanes(plan.level), |fill, places| match fill {
            LaneFill::Together(targets) => {
                let mut values = [Greatest::default(); MAX_LANES];
                let (group, buffers) = (Group::new(targets), &mut self.group);
                let task = GroupTask { form: &form, query, codes, group, buffers, values: &mut values };
                plan.level.run(task);
                places.iter().zip(values).for_each(|(&place, value)| found[place] = value);
            }
            LaneFill::Alone { rows, columns } => {
                let (codes, buffers) = (&codes_of(columns), &mut self.pair);
                let value = &mut found[places[0]];
                plan.level.run(PairTask { form: &form, rows, columns, codes, buffers, value });
                if std::ptr::eq(rows, query) {
                    // Elsewhere the query is in columns.
                    (value.rows_left, value.columns_left) = (value.columns_left, value.rows_left);
                }
            }
        });
        let tells_ends = band.want.has_alignments() && band.scoring.has_own_ends();
        let (mut hits, mut ends) = (Vec::new(), Vec::new());
        for (&target, Greatest { value, rows_left, columns_left }) in ids.iter().zip(found) {
            let (m, n) = (query.len() as u32, band.targets.length(target));
            let (score, matches) = form.decode(value, m, n);
            if band.want.keeps(block.query, score, matches, (m, n)) {
                hits.push(Hit { query: block.query, target, score, matches });
                if tells_ends {
                    let region = EndRegion::before_gaps((m, columns_left), (n, rows_left));
                    let is_turned = band.earlier_is_query && target < block.query;
                    ends.push(if is_turned { region.turned() } else { region });
                }
            }
        }
        Some((hits, ends))
    }
}

/// A local score, and about where the cells that have it are.
#[derive(Debug, Clone, Copy)]
struct LocalBest {
    score: i64,
    query: Span,
    target: Span,
}

impl LocalBest {
    /// Where the canonical alignment ends; `is_turned`: of the target with the query.
    fn end(&self, query: &[Code], target: &[Code], is_turned: bool) -> EndRegion {
        let (query, target) = ((self.query, query.len() as u32), (self.target, target.len() as u32));
        let ((first, m), (second, n)) = if is_turned { (target, query) } else { (query, target) };
        // With the shortest beginning of its query, and any of the target's.
        EndRegion { query: first.start..first.first_end.min(m), target: second.start..second.end.min(n) }
    }
}

/// Local scores in one width.
trait Locals {
    /// Scores of a query against those targets that have none yet, where the width holds them; with places of the best
    /// cells if `places`.
    fn run(
        &mut self,
        pairs: (&[Code], &[&[Code]]),
        scoring: &Scoring,
        plan: Plan,
        places: bool,
        found: &mut [Option<LocalBest>],
    );
}

impl<E: LaneElement> Locals for WidthBuffers<E> {
    fn run(
        &mut self,
        (query, all): (&[Code], &[&[Code]]),
        scoring: &Scoring,
        plan: Plan,
        places: bool,
        found: &mut [Option<LocalBest>],
    ) {
        let Some(form) = LocalScoring::<E>::new(scoring) else { return };
        let open: Vec<usize> = (0..all.len()).filter(|&place| found[place].is_none()).collect();
        let targets: Vec<&[Code]> = open.iter().map(|&place| all[place]).collect();
        let codes = &codes_of(query);
        plan.share_out(query, &targets, E::lanes(plan.level), |fill, of| {
            let none = Best { value: form.zero(), ..Best::default() };
            let mut bests = [none; MAX_LANES];
            let mut is_turned = false;
            match fill {
                LaneFill::Together(targets) => {
                    let (group, buffers) = (Group::new(targets), &mut self.group);
                    if places {
                        let task = GroupTask { form: &form, query, codes, group, buffers, values: &mut bests };
                        plan.level.run(task);
                    } else {
                        let values = &mut [form.zero(); MAX_LANES];
                        plan.level.run(GroupTask { form: &form, query, codes, group, buffers, values: &mut *values });
                        bests.iter_mut().zip(values).for_each(|(best, value)| best.value = *value);
                    }
                }
                LaneFill::Alone { rows, columns } => {
                    is_turned = std::ptr::eq(rows, query);
                    let (codes, buffers) = (&codes_of(columns), &mut self.pair);
                    let value = &mut bests[0];
                    plan.level.run(PairTask { form: &form, rows, columns, codes, buffers, value });
                }
            }
            for (&place, Best { value, rows, columns }) in of.iter().zip(bests) {
                let (query, target) = if is_turned { (rows, columns) } else { (columns, rows) };
                found[open[place]] = form.decode(value).map(|score| LocalBest { score, query, target });
            }
        });
    }
}

/// Local scores of a query: every target in 8 bits, those whose scores these do not hold again in 16, and so on.
fn locals(
    query: &[Code],
    targets: &[&[Code]],
    scoring: &Scoring,
    places: bool,
    workspace: &mut Workspace,
) -> Result<Vec<LocalBest>> {
    let Workspace { plan, buffers } = workspace;
    let mut found = vec![None; targets.len()];
    let widths: [&mut dyn Locals; 4] = [&mut buffers.0, &mut buffers.1, &mut buffers.2, &mut buffers.3];
    for width in widths {
        if found.iter().any(Option::is_none) {
            width.run((query, targets), scoring, *plan, places, &mut found);
        }
    }
    let found: Option<Vec<LocalBest>> = found.into_iter().collect();
    found.ok_or_else(|| Error::Internal("local scores that do not fit 64 bits".into()))
}

/// Local scores of a block.
fn run_local(band: &Band, block: &Block, workspace: &mut Workspace) -> Result<(Vec<Hit>, Vec<EndRegion>)> {
    let query = band.queries.codes(block.query);
    let ids = targets_of(band, block);
    let targets = symbols_of(band, ids);
    let traced = band.want.has_alignments();
    let found = locals(query, &targets, &band.scoring, traced, workspace)?;
    let (mut hits, mut ends) = (Vec::new(), Vec::new());
    for ((&target, symbols), best) in ids.iter().zip(&targets).zip(found) {
        if band.want.keeps(block.query, best.score, None, (query.len() as u32, symbols.len() as u32)) {
            hits.push(Hit { query: block.query, target, score: best.score, matches: None });
            if traced {
                ends.push(best.end(query, symbols, band.earlier_is_query && target < block.query));
            }
        }
    }
    Ok((hits, ends))
}

/// Numbers of a block's targets.
fn targets_of<'a>(band: &'a Band, block: &Block) -> &'a [SequenceId] {
    &band.order[block.targets.start as usize..block.targets.end as usize]
}

/// Symbols of targets.
fn symbols_of<'a>(band: &'a Band, ids: &[SequenceId]) -> Vec<&'a [Code]> {
    ids.iter().map(|&id| band.targets.codes(id)).collect()
}

/// How much longer a vector of cells takes where one pair fills it than where many do.
const ROWS_COST: u64 = 5;

/// What is computed at once.
enum LaneFill<'w, 'a> {
    /// Targets, one a lane.
    Together(&'w [&'a [Code]]),
    /// One pair, the shorter sequence in rows.
    Alone { rows: &'a [Code], columns: &'a [Code] },
}

impl Plan {
    /// Hands all targets to `compute`, with their places among `targets`: by falling length, so that little is padded,
    /// and those that are much longer than others alone.
    fn share_out<'a>(
        self,
        query: &'a [Code],
        targets: &[&'a [Code]],
        lanes: usize,
        mut compute: impl FnMut(LaneFill<'_, 'a>, &[usize]),
    ) {
        let mut places: Vec<usize> = (0..targets.len()).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(targets[place].len()));
        let sorted: Vec<&[Code]> = places.iter().map(|&place| targets[place]).collect();
        let mut from = 0;
        while from < sorted.len() {
            let alone = self.alone(query.len(), &sorted[from..], lanes);
            for (target, place) in sorted[from..][..alone].iter().zip(&places[from..]) {
                let (rows, columns) = if query.len() <= target.len() { (query, *target) } else { (*target, query) };
                compute(LaneFill::Alone { rows, columns }, std::slice::from_ref(place));
            }
            from += alone;
            let to = sorted.len().min(from + lanes);
            if from < to {
                compute(LaneFill::Together(&sorted[from..to]), &places[from..to]);
            }
            from = to;
        }
    }

    /// How many of the first targets, which are the longest, had better be computed each by itself.
    fn alone(self, query_symbols: usize, targets: &[&[Code]], lanes: usize) -> usize {
        match self.form {
            Form::Targets => return 0,
            Form::Rows => return targets.len(),
            Form::Cheaper => {}
        }
        let together = |count: usize| targets.get(count).map_or(0, |longest| (longest.len() * query_symbols) as u64);
        let (mut best, mut least) = (0, together(0));
        let mut alone = 0;
        for (count, target) in targets.iter().enumerate().take(lanes) {
            let (rows, columns) = (query_symbols.min(target.len()), query_symbols.max(target.len()));
            alone += ROWS_COST * (rows.div_ceil(lanes) * (columns + lanes)) as u64;
            if alone >= least {
                break;
            }
            if alone + together(count + 1) < least {
                (best, least) = (count + 1, alone + together(count + 1));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::alignment::Op;
    use crate::pairs::Want;
    use crate::pairs::gpu::tune::random_store;
    use crate::score::{Ambiguity, EndGaps, Gaps};
    use crate::seq::{Alphabet, SequenceStore};
    use crate::trace::{self, Hint, traceback, traceback_from};

    /// Parts of one sequence and of its relatives, of which some are empty.
    fn parts() -> Arc<SequenceStore> {
        let parents = random_store(Alphabet::Dna, 3, 90, 0xe2d);
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        for index in 0..40usize {
            let (begin, length) = (index * 13 % 50, [0, 1, 40, 33, 7, 25][index % 6]);
            let mut codes = parents.codes(0)[begin..begin + length].to_vec();
            (index % 4..length).step_by(5 + index % 7).for_each(|at| codes[at] = parents.codes(1)[at]);
            if index % 5 == 0 && length > 8 {
                codes.drain(4..8);
            }
            builder.push_valid(format!("part{index}"), &codes);
        }
        Arc::new(builder.build())
    }

    #[test]
    fn gaps_at_the_end_are_as_long_as_told_at_most() {
        let store = parts();
        let all = 0..store.len() as u32;
        let workspace = &mut trace::Workspace::default();
        let (mut told, mut longest) = (0, 0);
        for end_gaps in [(2, 2), (7, 1), (0, 0)].map(|(first, next)| EndGaps::Priced(Gaps { first, next })) {
            for gaps in [Gaps::linear(10), Gaps::from_blast(6, 2), Gaps::from_blast(20, 5)] {
                let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).unwrap();
                let band = Band {
                    queries: Arc::clone(&store),
                    targets: Arc::clone(&store),
                    order: all.clone().collect(),
                    scoring: Arc::new(scoring),
                    want: Want::Alignments,
                    earlier_is_query: true,
                };
                for (query, form) in all.clone().flat_map(|query| [(query, Form::Targets), (query, Form::Rows)]) {
                    let block = Block { query, targets: all.clone(), cells: 0 };
                    let computing = &mut Workspace::with(Level::best(), form);
                    let (hits, ends) = block_with_ends(&band, &block, computing).unwrap();
                    assert_eq!((hits.len(), ends.len()), (store.len(), store.len()));
                    for (hit, end) in hits.iter().zip(&ends) {
                        let (first, second) = (query.min(hit.target), query.max(hit.target));
                        let (a, b) = (store.codes(first), store.codes(second));
                        let hint = Hint { score: Some(hit.score), matches: hit.matches };
                        let expected = traceback(a, b, &band.scoring, hint, workspace).unwrap();
                        let found = traceback_from(a, b, &band.scoring, hint, Some(end), workspace).unwrap();
                        assert_eq!(found, expected, "{form:?} {first} {second} {:?}", band.scoring);
                        let last = expected.cigar.iter().last();
                        let [insertion, deletion] = end.left();
                        let (left, most) = match last {
                            Some((length, Op::Insertion)) => (u64::from(length), insertion),
                            Some((length, Op::Deletion)) => (u64::from(length), deletion),
                            _ => continue,
                        };
                        // Of two gaps that meet at the end the first is not of the end.
                        assert!(left <= most, "{form:?} {first} {second}: {left}, told {most}");
                        (told, longest) = (told + 1, longest.max(left));
                    }
                }
            }
        }
        assert!(told > 1000 && longest > 20, "{told}, {longest}");
    }

    #[test]
    fn targets_that_are_much_longer_go_alone() {
        let code = [1 as Code; 9_000];
        let targets = |lengths: &[usize]| lengths.iter().map(|&length| &code[..length]).collect::<Vec<&[Code]>>();
        let plan = Plan { level: Level::Portable, form: Form::Cheaper };
        let alone = |lengths: &[usize]| plan.alone(300, &targets(lengths), 64);
        assert_eq!(alone(&[300; 64]), 0);
        assert_eq!(alone(&[&[9_000, 5_000][..], &[300; 64]].concat()), 2);
        // Few enough that the lanes would be nearly empty.
        assert_eq!((alone(&[300; 8]), alone(&[300; 40])), (8, 0));
        let mut seen = Vec::new();
        let mixed = targets(&[10, 300, 9_000, 20, 300]);
        plan.share_out(&code[..300], &mixed, 2, |fill, places| {
            seen.push((matches!(fill, LaneFill::Together(_)), places.to_vec()));
        });
        // By falling length, two and two, and the last lane empty.
        assert_eq!(seen, [(true, vec![2, 1]), (true, vec![4, 3]), (true, vec![0])]);
    }
}
