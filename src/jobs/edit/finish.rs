//! Reports the pairs within the limit in order, and aligns them if requested.

mod listed;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::collect::CompleteResults;
use super::pieces::PieceBorders;
use super::{EditAlignment, EditDistances, EditResult};
use crate::alignment::{Cigar, verify};
use crate::edit::exact::{self, ExactPattern, ExactRows, PlaceToAlign, align_place};
use crate::edit::overhang::{Overhang, OverhangPlace};
use crate::edit::plan::Against;
use crate::edit::tiles::TextTiles;
use crate::edit::trace::{EditTracer, EditWorkspace};
use crate::edit::{BatchDistances, Candidate, Region};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::{Error, Result};
use crate::jobs::Summary;
use crate::jobs::block::BlockSink;
use crate::jobs::deliver::Delivery;
use crate::jobs::session::Execution;
use crate::jobs::source::OpenBlocks;
use crate::score::{EditDistance, EditMode, IdentityDefinition};
use crate::seq::{ANY_BASE, Code, QueryPart, SequenceId, SequenceStore, Strand};

/// Number of results that are aligned and delivered together.
const MAX_RESULTS: usize = 1 << 15;

/// Turns distances into rows and delivers them.
pub(super) struct EditFinisher<'a> {
    aligner: EditAligner<'a>,
    /// Delivery of parts that are not complete.
    delivery: Delivery<'a, EditResult, QueryPart>,
    results: Vec<EditResult>,
    aligned: u64,
    /// Borders of the part, if the texts are a part of all texts.
    pieces: Option<&'a mut PieceBorders>,
}

impl<'a> EditFinisher<'a> {
    /// Creates a finisher. `patterns` are the strands of the job's patterns.
    pub(super) fn new(
        job: &'a EditDistances,
        patterns: &'a SequenceStore,
        parts: OpenBlocks<QueryPart>,
        execution: Execution<'a>,
        sink: &'a mut dyn BlockSink<EditResult>,
    ) -> Self {
        let tracer = EditTracer::new(&job.scheme);
        let aligner = EditAligner { job, patterns, tracer, execution, tiles: None, tiles_with_parts: Vec::new() };
        EditFinisher {
            aligner,
            delivery: Delivery::new(parts, sink),
            results: Vec::with_capacity(MAX_RESULTS),
            aligned: 0,
            pieces: None,
        }
    }

    /// Returns the job.
    pub(super) fn job(&self) -> &'a EditDistances {
        self.aligner.job
    }

    /// Returns the strands of the job's patterns.
    pub(super) fn patterns(&self) -> &'a SequenceStore {
        self.aligner.patterns
    }

    /// Returns how the job is executed.
    pub(super) fn execution(&self) -> Execution<'a> {
        self.aligner.execution
    }

    /// Sets the tiles that engines compare patterns with.
    pub(super) fn with_tiles(mut self, tiles: Option<Arc<TextTiles>>) -> Self {
        self.aligner.tiles = tiles;
        self
    }

    /// Sets the patterns and tiles of a chunk that have parts within the limit.
    pub(super) fn set_tiles_with_parts(&mut self, found: Vec<(SequenceId, u32)>) {
        self.aligner.tiles_with_parts = found;
    }

    /// Sets the borders of a part of the texts.
    pub(super) fn with_pieces(self, pieces: Option<&'a mut PieceBorders>) -> Self {
        EditFinisher { pieces, ..self }
    }

    /// Returns the borders of the part, if the texts are a part of all texts.
    pub(super) fn pieces(&self) -> Option<&PieceBorders> {
        self.pieces.as_deref()
    }

    /// Returns the borders like [`EditFinisher::pieces`].
    pub(super) fn pieces_mut(&mut self) -> Option<&mut PieceBorders> {
        self.pieces.as_deref_mut()
    }

    /// Reports complete results of the next part that has pairs.
    pub(super) fn take(&mut self, mut complete: CompleteResults) -> Result<()> {
        let part = self.part_of(&complete.range)?;
        let range = self.aligner.job.strands().sequences(complete.range.clone());
        if let Some(tiles) = self.aligner.tiles.clone() {
            if self.aligner.job.all_places {
                self.places(complete.range.clone(), &part, &tiles, &complete.distances)?;
                return self.end_chunk(complete.range, &part);
            }
            complete.distances = self.best_in_texts(complete.range.clone(), &part, &tiles, &complete.distances);
        }
        match &mut complete.distances {
            BatchDistances::Listed { list, .. } => self.listed(range, &part, list)?,
            BatchDistances::Each(distances) if complete.is_part => {
                self.all(range, complete.order.as_deref(), distances)?
            }
            BatchDistances::Each(distances) => self.chunk(range, &part, distances)?,
        }
        self.end_chunk(complete.range, &part)
    }

    /// Delivers the results of a chunk with these patterns or candidates.
    fn end_chunk(&mut self, range: Range<u32>, part: &QueryPart) -> Result<()> {
        self.flush()?;
        // A part that names its texts is a single chunk.
        if part.targets.is_some() || part.queries.end == range.end {
            self.end_part()?;
        }
        Ok(())
    }

    /// Returns the part with these patterns or candidates. Ends earlier parts, which have nothing
    /// left to report.
    fn part_of(&mut self, range: &Range<u32>) -> Result<QueryPart> {
        let job = self.aligner.job;
        let is_later = matches!(job.against, Against::Later);
        while let Some(part) = self.delivery.blocks().first(|part| part.clone()) {
            let sequence = job.strands().sequence_of(range.start).0;
            let has_pairs =
                part.targets.is_none() || !part.compared_targets(sequence, job.texts().len(), is_later).is_empty();
            if part.queries.start <= range.start && range.end <= part.queries.end && has_pairs {
                return Ok(part);
            }
            self.end_part()?;
        }
        Err(Error::Internal(format!("{range:?} is not in a part")))
    }

    fn end_part(&mut self) -> Result<()> {
        _ = self.delivery.take_if(|_| true);
        self.delivery.end_taken()
    }

    /// Reports all pairs of `range`, a chunk of a part, in input order.
    fn chunk(&mut self, range: Range<u32>, part: &QueryPart, distances: &mut [EditDistance]) -> Result<()> {
        let job = self.aligner.job;
        let (distances, strands) = self.better_strands(distances);
        let whole = |text: SequenceId| Region { text, start: 0, end: job.texts().length(text) };
        if let Against::Candidates(_, candidates) = &job.against {
            return self.candidates(&candidates[range.start as usize..range.end as usize], distances, &strands);
        }
        let (mut rest, mut index) = (distances, 0);
        for pattern in range {
            let texts = part.compared_targets(pattern, job.texts().len(), matches!(job.against, Against::Later));
            let (row, others) = rest.split_at_mut(texts.len());
            rest = others;
            if let Some(most) = job.max_hits {
                keep_least(row, most, 0..row.len() as u32);
            }
            for (at, (text, &distances)) in (index..).zip(texts.zip(&*row)) {
                if distances.is_some() {
                    self.push(pattern, strands.get(at), whole(text), distances)?;
                }
            }
            index += row.len();
        }
        Ok(())
    }

    /// Reports a part of the candidates. In `order`, the candidates of a strand of a pattern are
    /// adjacent; `None` is the input order.
    fn all(&mut self, range: Range<u32>, order: Option<&[u32]>, distances: &mut [EditDistance]) -> Result<()> {
        let (distances, strands) = self.better_strands(distances);
        let copies = self.aligner.job.strands().copies();
        // Each candidate is listed once, at the position of its plus strand.
        let forward: Option<Vec<u32>> = order
            .filter(|_| copies > 1)
            .map(|order| order.iter().filter(|&index| index % copies == 0).map(|index| index / copies).collect());
        let order = forward.as_deref().or(order);
        let Against::Candidates(_, candidates) = &self.aligner.job.against else {
            return Err(Error::Internal("only candidates are kept until the end".into()));
        };
        let candidates = &candidates[range.start as usize..range.end as usize];
        if let Some(most) = self.aligner.job.max_hits {
            let pattern = |index: u32| candidates[index as usize].pattern;
            match order {
                Some(order) => {
                    for group in order.chunk_by(|&a, &b| pattern(a) == pattern(b)) {
                        keep_least(distances, most, group.iter().copied());
                    }
                }
                None => {
                    let mut start = 0;
                    for group in candidates.chunk_by(|a, b| a.pattern == b.pattern) {
                        let end = start + group.len() as u32;
                        keep_least(distances, most, start..end);
                        start = end;
                    }
                }
            }
        }
        self.candidates(candidates, distances, &strands)
    }

    /// Selects the strand with the lower distance of each pair, if both were compared.
    fn better_strands<'f>(&self, distances: &'f mut [EditDistance]) -> (&'f mut [EditDistance], PairStrands) {
        let strands = self.aligner.job.strands();
        if strands.copies() == 1 {
            return (distances, PairStrands::All(strands.sequence_of(0).1));
        }
        let pairs = distances.len() / 2;
        let mut is_minus = Vec::with_capacity(pairs);
        for pair in 0..pairs {
            let (plus, minus) = (distances[2 * pair], distances[2 * pair + 1]);
            is_minus.push(minus.distance < plus.distance);
            distances[pair] = if minus.distance < plus.distance { minus } else { plus };
        }
        (&mut distances[..pairs], PairStrands::Each(is_minus))
    }

    fn candidates(
        &mut self,
        candidates: &[Candidate],
        distances: &[EditDistance],
        strands: &PairStrands,
    ) -> Result<()> {
        for (index, (candidate, &result)) in candidates.iter().zip(distances).enumerate() {
            if result.is_some() {
                self.push(candidate.pattern, strands.get(index), candidate.region, result)?;
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        pattern: SequenceId,
        strand: Strand,
        region: Region,
        distance_and_end: EditDistance,
    ) -> Result<()> {
        let job = self.aligner.job;
        // Engines skip pairs above the limit. The result must not depend on this.
        let m = job.patterns.length(pattern);
        if distance_and_end.distance > job.scheme.limit(m, region.symbols()) {
            return Ok(());
        }
        // The engine may have used either sequence as the text.
        let is_global = job.scheme.mode == EditMode::Global;
        let end = if is_global { region.end } else { region.start + distance_and_end.first_end(job.scheme.mode, m) };
        let (distance, ends) = (distance_and_end.distance, Vec::new());
        let overhang = Overhang::default();
        self.push_result(EditResult { pattern, region, strand, distance, end, overhang, alignment: None, ends })
    }

    /// Adds a result, and delivers all results if there are many.
    pub(super) fn push_result(&mut self, result: EditResult) -> Result<()> {
        self.results.push(result);
        if self.results.len() == MAX_RESULTS { self.flush() } else { Ok(()) }
    }

    /// Computes everything that a row of a single result needs. Returns `None` if it is not
    /// reported.
    pub(super) fn complete(&self, mut result: EditResult) -> Result<Option<EditResult>> {
        self.aligner.complete(&mut result, &mut EditWorkspace::default())?;
        if self.aligner.job.max_n_fraction.is_some_and(|most| self.aligner.n_fraction(&result) > most) {
            return Ok(None);
        }
        if let Some(pieces) = &self.pieces {
            pieces.to_whole(&mut result);
        }
        Ok(Some(result))
    }

    /// Delivers a result of [`EditFinisher::complete`] after all earlier results.
    pub(super) fn push_complete(&mut self, result: Option<EditResult>) -> Result<()> {
        self.flush()?;
        self.aligned += u64::from(self.aligner.job.aligns());
        self.delivery.rows(result.as_slice())
    }

    fn flush(&mut self) -> Result<()> {
        if self.results.is_empty() {
            return Ok(());
        }
        let (aligner, results) = (&self.aligner, &mut self.results);
        if aligner.job.aligns() || aligner.job.all_ends {
            let workspaces = WorkspacePool::default();
            let complete = |result| workspaces.with(|workspace| aligner.complete(result, workspace));
            aligner.execution.threads.pool.install(|| results.par_iter_mut().try_for_each(complete))?;
        }
        self.aligned += if aligner.job.aligns() { results.len() as u64 } else { 0 };
        if let Some(most) = aligner.job.max_n_fraction {
            results.retain(|result| aligner.n_fraction(result) <= most);
        }
        if let Some(pieces) = &self.pieces {
            results.iter_mut().for_each(|result| pieces.to_whole(result));
        }
        self.delivery.rows(results)?;
        results.clear();
        Ok(())
    }

    /// Ends all parts. Returns the numbers of aligned and reported pairs.
    pub(super) fn end(mut self) -> Result<Summary> {
        self.delivery.end_while(|_| true)?;
        Ok(Summary { aligned: self.aligned, written: self.delivery.written(), ..Summary::default() })
    }
}

/// The strand of each pair.
enum PairStrands {
    /// All pairs have this strand.
    All(Strand),
    /// Whether each pair has the minus strand.
    Each(Vec<bool>),
}

impl PairStrands {
    fn get(&self, index: usize) -> Strand {
        match self {
            PairStrands::All(strand) => *strand,
            PairStrands::Each(is_minus) if is_minus[index] => Strand::Minus,
            PairStrands::Each(_) => Strand::Plus,
        }
    }
}

/// Computes properties of results that engines do not compute.
pub(super) struct EditAligner<'a> {
    job: &'a EditDistances,
    /// The strands of the patterns.
    patterns: &'a SequenceStore,
    tracer: EditTracer<'a>,
    execution: Execution<'a>,
    /// Tiles of the texts, if engines compare patterns with tiles.
    tiles: Option<Arc<TextTiles>>,
    /// The patterns of the current chunk, counting each strand, with the tiles where they have parts
    /// within the limit, in increasing order. Only set if all ends are requested.
    tiles_with_parts: Vec<(SequenceId, u32)>,
}

impl EditAligner<'_> {
    /// Returns the job.
    pub(super) fn job(&self) -> &EditDistances {
        self.job
    }

    /// Returns the tiles of a range where a pattern has parts within the limit.
    pub(super) fn tiles_with_parts(&self, query: SequenceId, tiles: Range<u32>) -> &[(SequenceId, u32)] {
        let before = |tile: u32| self.tiles_with_parts.partition_point(|&one| one < (query, tile));
        &self.tiles_with_parts[before(tiles.start)..before(tiles.end)]
    }

    fn complete(&self, result: &mut EditResult, workspace: &mut EditWorkspace) -> Result<()> {
        self.execution.run.check_interrupt()?;
        let Region { text, start, end } = result.region;
        let pattern = self.patterns.codes(self.job.strands().query(result.pattern, result.strand));
        let symbols = &self.job.texts().codes(text)[start as usize..end as usize];
        if self.job.all_ends {
            let limit = self.job.scheme.limit(pattern.len() as u32, end - start);
            let ends = match &self.tiles {
                Some(tiles) => self.ends_in_tiles(pattern, result, tiles),
                None => self.tracer.ends(pattern, symbols, limit, workspace),
            };
            let best = ends.iter().min_by_key(|(_, distance)| distance);
            if best != Some(&(result.end - start, result.distance)) {
                let (end, distance) = (result.end - start, result.distance);
                return Err(self.wrong(result, format!("the best end is {best:?}, not {:?}", (end, distance))));
            }
            result.ends = ends.into_iter().map(|(end, distance)| (start + end, distance)).collect();
        }
        if self.job.aligns() {
            self.align(pattern, symbols, result, workspace).map_err(|error| self.located(result, error))?;
        }
        Ok(())
    }

    /// Aligns a pattern with the part of its region that the result names, and completes the result.
    fn align(
        &self,
        pattern: &[Code],
        symbols: &[Code],
        result: &mut EditResult,
        workspace: &mut EditWorkspace,
    ) -> Result<()> {
        let exact = self.exact_rows(pattern);
        let exact = if result.strand == Strand::Minus { exact.reversed() } else { exact };
        let mut edits = result.distance;
        if let Some(cost) = self.job.overhang_cost()? {
            let EditResult { strand, end: position, distance, overhang, .. } = *result;
            let place = OverhangPlace { strand, position, distance, overhang, cost };
            let exact_pattern = ExactPattern { codes: pattern, rows: &exact };
            result.overhang = place.overhang(exact_pattern, symbols, &self.job.scheme.equality);
            edits -= result.overhang.cost(cost);
        }
        let rows = result.overhang.rest(pattern.len());
        let (pattern, exact) = (&pattern[rows.clone()], exact.part(rows));
        let exact_pattern = ExactPattern { codes: pattern, rows: &exact };
        let (before, cigar) = self.align_rows(exact_pattern, symbols, result, edits, workspace)?;
        let start = result.region.start;
        if self.job.check {
            let part = &symbols[before as usize..(result.end - start) as usize];
            let found = -verify(&cigar, pattern, part, self.tracer.scoring())?;
            if found != i64::from(edits) {
                return Err(Error::Internal(format!("the alignment has {found} edits, not {edits}")));
            }
            if !exact.are_exact_in(&cigar) {
                return Err(Error::Internal("symbols that must match exactly are edited".into()));
            }
        }
        let counts = cigar.counts();
        let identity = IdentityDefinition::Columns.identity(&counts, pattern.len() as u32, cigar.target_span() as u32);
        result.alignment = Some(EditAlignment { start: start + before, cigar, counts, identity });
        Ok(())
    }

    /// Aligns the rows of a pattern that do not hang over with the part of its region that the
    /// result names, with `edits` edits. Returns the number of symbols of the region before
    /// the part, and the columns. Sets the end of a part on the minus strand.
    fn align_rows(
        &self,
        exact_pattern: ExactPattern<'_>,
        symbols: &[Code],
        result: &mut EditResult,
        edits: u32,
        workspace: &mut EditWorkspace,
    ) -> Result<(u32, Cigar)> {
        let pattern = exact_pattern.codes;
        let hanging = match result.strand {
            Strand::Plus => (result.overhang.before, 0..result.end),
            Strand::Minus => (result.overhang.after, result.end..symbols.len() as u32),
        };
        if let (1.., part) = hanging {
            // The pattern hangs over the opposite end, so the part reaches this end.
            let whole = &symbols[part.start as usize..part.end as usize];
            let cigar = match self.job.exact.is_empty() {
                true => self.tracer.align_whole(pattern, whole, edits, workspace)?,
                false => exact::align_whole(exact_pattern, whole, edits, &self.job.scheme.equality)?,
            };
            result.end = part.end;
            return Ok((part.start, cigar));
        }
        if !self.job.exact.is_empty() {
            let place = PlaceToAlign { strand: result.strand, position: result.end, distance: edits };
            let (part, cigar) = align_place(exact_pattern, symbols, place, &self.job.scheme.equality)?;
            result.end = part.end;
            return Ok((part.start, cigar));
        }
        if self.job.all_places && result.strand == Strand::Minus {
            // The result has the start of the place instead of its end.
            let start = result.end;
            let (length, cigar) =
                self.tracer.align_from_start(pattern, &symbols[start as usize..], edits, workspace)?;
            result.end = start + length;
            return Ok((start, cigar));
        }
        let distances = EditDistance { distance: edits, end: result.end - result.region.start };
        self.tracer.align(pattern, symbols, distances, workspace)
    }

    /// Returns the fraction of N in the aligned part of the text, 0 if the part is empty.
    fn n_fraction(&self, result: &EditResult) -> f64 {
        let start = result.alignment.as_ref().map_or(result.end, |alignment| alignment.start);
        let part = &self.job.texts().codes(result.text())[start as usize..result.end as usize];
        let count = part.iter().filter(|&&code| code == ANY_BASE).count();
        count as f64 / part.len().max(1) as f64
    }

    /// Returns the rows of a pattern that must match exactly, in the order of the plus strand.
    fn exact_rows(&self, pattern: &[Code]) -> ExactRows {
        self.job.exact.rows(pattern.len() as u32)
    }

    /// Adds the names of the sequences to an internal error.
    fn located(&self, result: &EditResult, error: Error) -> Error {
        match error {
            Error::Internal(message) => self.wrong(result, message),
            error => error,
        }
    }

    fn wrong(&self, result: &EditResult, message: impl std::fmt::Display) -> Error {
        let names = (self.job.patterns.name(result.pattern), self.job.texts().name(result.text()));
        Error::Internal(format!("{} and {}: {message}", names.0, names.1))
    }
}

/// Keeps at most `most` of the given pairs: the ones with the lowest distances, and the earliest of
/// equal ones.
pub(super) fn keep_least(distances: &mut [EditDistance], most: usize, pairs: impl Iterator<Item = u32>) {
    let some =
        pairs.map(|pair| (distances[pair as usize].distance, pair)).filter(|&(distance, _)| distance != u32::MAX);
    let mut some: Vec<(u32, u32)> = some.collect();
    if some.len() > most {
        some.select_nth_unstable(most);
        some[most..].iter().for_each(|&(_, pair)| distances[pair as usize] = EditDistance::NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_distances_are_kept_then_earliest_pairs() {
        let distances = [3, 1, u32::MAX, 1, 0, 1];
        let kept = |most| {
            let mut results = distances.map(|distance| EditDistance { distance, end: 0 });
            keep_least(&mut results, most, 0..6);
            (0..6).filter(|&pair| results[pair].is_some()).collect::<Vec<_>>()
        };
        assert_eq!(kept(0), [0usize; 0]);
        assert_eq!(kept(1), [4]);
        assert_eq!(kept(3), [1, 3, 4]);
        assert_eq!(kept(9), [0, 1, 3, 4, 5]);
    }
}
