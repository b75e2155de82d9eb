//! Levenshtein distances in blocks: of patterns, or of candidates as they were given.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::delivery::keep_least;
use super::{EditAlignment, EditDistances, EditResult};
use crate::edit::plan::{Against, Candidate, EditBands, EditJob};
use crate::edit::{Edit, Region};
use crate::engine::owner::EngineSet;
use crate::engine::queue::Planned;
use crate::engine::{Engine, thread_pool};
use crate::error::Result;
use crate::gpu::kernels::Family;
use crate::jobs::allpairs::part_of;
use crate::jobs::blocks::bytes::{push, push_cigar, take_byte, take_cigar, take_u32};
use crate::jobs::blocks::cut::{Grid, at_most, cut};
use crate::jobs::blocks::source::{Bander, Begun, run_by_lists};
use crate::jobs::blocks::{Block, BlockSink, BlockSource, Divisible, Listed, check};
use crate::jobs::{Job, Run, Summary, engines};
use crate::score::{Found, IdentityDefinition};
use crate::seq::part::Extents;
use crate::seq::{Part, SequenceStore, StrandOf, Strands};

/// Flags of a row in bytes.
const MINUS: u8 = 1;
const ALIGNED: u8 = 2;

/// What lasts from block to block.
pub struct Session {
    pool: Arc<rayon::ThreadPool>,
    /// What engines wait for.
    feeding: Arc<rayon::ThreadPool>,
    /// The patterns' strands.
    patterns: Arc<SequenceStore>,
    /// `None` until devices are opened.
    engine_set: Option<EngineSet<Edit>>,
}

impl EditDistances {
    /// Candidates of which pairs are selected together: those of a pattern, and what is given between them. Where a border of
    /// blocks separates them, they are selected from once more when their rows are joined.
    fn groups(&self, candidates: &[Candidate]) -> Vec<Range<u32>> {
        let all = 0..candidates.len() as u32;
        if self.max_hits.is_none() {
            return all.map(|place| place..place + 1).collect();
        }
        let mut last = vec![0; self.patterns.len()];
        (0..).zip(candidates).for_each(|(place, candidate)| last[candidate.pattern as usize] = place);
        let (mut groups, mut begin, mut reach) = (Vec::new(), 0, 0);
        for (place, candidate) in (0..).zip(candidates) {
            reach = last[candidate.pattern as usize].max(reach);
            if place == reach {
                groups.push(begin..place + 1);
                begin = place + 1;
            }
        }
        groups
    }

    fn cut_candidates(&self, candidates: &[Candidate], cells: u64) -> Vec<Block> {
        let groups = self.groups(candidates);
        let copies = u64::from(self.strands().copies());
        let size_of = |own: &Range<u32>| {
            let own = &candidates[own.start as usize..own.end as usize];
            let cells =
                |one: &Candidate| u128::from(self.patterns.length(one.pattern)) * u128::from(one.region.symbols());
            (own.len() as u64 * copies, own.iter().map(cells).sum::<u128>() * u128::from(copies))
        };
        let size = |group: u64| size_of(&groups[group as usize]);
        let split = |group: u64, pieces: u64| {
            let all = groups[group as usize].clone();
            let most = at_most(size(group).1 / u128::from(pieces) + 1);
            let own = |candidate: u64| {
                let one = all.start + candidate as u32;
                size_of(&(one..one + 1))
            };
            // One that is much alone stays whole.
            let single = |candidate: u64, _: u64| {
                let (pairs, cells) = own(candidate);
                vec![Block { units: candidate..candidate + 1, targets: None, pairs, cells: at_most(cells) }]
            };
            let parts = cut(all.len() as u64, most, own, single);
            let is_whole = parts.len() < 2;
            let block = |part: Block| {
                let some = all.start + part.units.start as u32..all.start + part.units.end as u32;
                Block { units: group..group + 1, targets: (!is_whole).then_some(some), ..part }
            };
            parts.into_iter().map(block).collect()
        };
        let blocks = cut(groups.len() as u64, cells, size, split);
        let units = |block: &Block| {
            let start = u64::from(groups[block.units.start as usize].start);
            match block.targets {
                // Of a group in several blocks, the first candidate stands for all.
                Some(_) => start..start + 1,
                None => start..u64::from(groups[block.units.end as usize - 1].end),
            }
        };
        blocks.into_iter().map(|block| Block { units: units(&block), ..block }).collect()
    }

    /// Units and targets of which there may be blocks.
    fn units(&self) -> (u64, u32) {
        match &self.against {
            Against::Candidates(_, candidates) => (candidates.len() as u64, candidates.len() as u32),
            Against::Later | Against::Texts(_) => (self.patterns.len() as u64, self.texts().len() as u32),
        }
    }

    /// The engines, opened with the first block.
    fn opened<'s>(
        &self,
        engine_set: &'s mut Option<EngineSet<Edit>>,
        feeding: &Arc<rayon::ThreadPool>,
        run: &Run,
    ) -> Result<&'s mut EngineSet<Edit>> {
        Ok(match engine_set {
            Some(engine_set) => engine_set,
            None => engine_set.insert(EngineSet::new(engines::open_edit(run, feeding, self.cells())?)),
        })
    }

    fn run_candidates(
        &self,
        blocks: &[Block],
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<EditResult>,
    ) -> Result<Summary> {
        let begin = Instant::now();
        let Session { pool, feeding, patterns, engine_set } = session;
        let engine_set = self.opened(engine_set, feeding, run)?;
        let own = |block: &Block| match &block.targets {
            Some(some) => some.clone(),
            None => block.units.start as u32..block.units.end as u32,
        };
        let mut ranges: Vec<Range<u32>> = blocks.iter().map(own).collect();
        let mut own = self.clone();
        if let Against::Candidates(texts, candidates) = &self.against {
            // Those of the blocks alone, one block after the other.
            let (mut some, mut end) = (Vec::new(), 0);
            for range in &mut ranges {
                some.extend_from_slice(&candidates[range.start as usize..range.end as usize]);
                let before = std::mem::replace(&mut end, some.len() as u32);
                *range = before..end;
            }
            own.against = Against::Candidates(Arc::clone(texts), Arc::new(some));
        }
        let mut job = own.job_of(Arc::clone(patterns));
        let copies = self.strands().copies();
        let part = |range: Range<u32>| Part { queries: range.start * copies..range.end * copies, targets: None };
        job.parts = Some(ranges.into_iter().map(part).collect());
        let summary = own.compute(job, engine_set, (pool, feeding), run, sink)?;
        Ok(Summary { seconds: begin.elapsed().as_secs_f64(), ..summary })
    }
}

/// Bands of pairs of blocks.
pub(super) struct PatternBands {
    pub(super) whole: EditJob,
    pub(super) bands: EditBands,
    pub(super) begun: Begun<Part>,
    /// Plans.
    pub(super) pool: Arc<rayon::ThreadPool>,
}

impl Bander<Edit> for PatternBands {
    fn begin(&mut self, block: Block) {
        let part = part_of(&block, self.whole.strands.copies());
        let parts = [part.clone()];
        let (pairs, cells) = self.whole.extents(&parts)[0];
        self.begun.add(part.clone(), pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        self.bands.add(part);
    }

    fn next(&mut self) -> Option<Planned<Edit>> {
        let bands = &mut self.bands;
        self.pool.install(|| bands.next())
    }
}

impl Divisible for EditDistances {
    type Session = Session;

    /// Units are patterns, or candidates where these were given. If only some of a pattern's are handed over, these stay together, or
    /// are parts of one unit.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        if let Against::Candidates(_, candidates) = &self.against {
            return Ok(self.cut_candidates(candidates, cells));
        }
        let (texts, later) = (self.texts(), matches!(self.against, Against::Later));
        let extents = Extents::new(&self.patterns, texts, Strands::default(), later);
        let grid = Grid { extents, copies: self.strands().copies(), targets: texts.lengths(), later };
        Ok(grid.cut(self.patterns.len(), cells))
    }

    fn session(&self, run: &Run) -> Result<Session> {
        let pool = thread_pool(run.threads)?;
        pool.install(|| self.validate())?;
        run.check_kernel(Family::Edit)?;
        let feeding = thread_pool(run.threads)?;
        Ok(Session { pool, feeding, patterns: self.strands().store(&self.patterns), engine_set: None })
    }

    fn session_on(&self, engines: Vec<Box<dyn Engine<Edit>>>, run: &Run) -> Result<Session> {
        Ok(Session { engine_set: Some(EngineSet::new(engines)), ..self.session(run)? })
    }

    fn run_blocks(
        &self,
        blocks: &[Block],
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<EditResult>,
    ) -> Result<Summary> {
        let (units, targets) = self.units();
        check(blocks, units, targets)?;
        match self.against {
            Against::Candidates(..) => self.run_candidates(blocks, session, run, sink),
            Against::Later | Against::Texts(_) => {
                let listed: Arc<dyn BlockSource> = Listed::new(blocks);
                self.run_source(&listed, session, run, sink)
            }
        }
    }

    /// Candidates are sorted before they are computed, those of some blocks together; engines stop after these.
    fn run_source(
        &self,
        source: &Arc<dyn BlockSource>,
        session: &mut Session,
        run: &Run,
        sink: &mut dyn BlockSink<EditResult>,
    ) -> Result<Summary> {
        if let Against::Candidates(..) = self.against {
            return run_by_lists(self, source.as_ref(), session, run, sink);
        }
        let begin = Instant::now();
        let Session { pool, feeding, patterns, engine_set } = session;
        let engine_set = self.opened(engine_set, feeding, run)?;
        let whole = self.job_of(Arc::clone(patterns));
        let summary = self.compute_source(&whole, source, engine_set, (pool, feeding), run, sink)?;
        Ok(Summary { seconds: begin.elapsed().as_secs_f64(), ..summary })
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let copies = u64::from(self.strands().copies());
        let is_selected = block.targets.is_none() && !matches!(self.against, Against::Candidates(..));
        let most = self.max_hits.filter(|_| is_selected).unwrap_or(usize::MAX) as u64;
        let rows = (block.pairs / copies).min((block.units.end - block.units.start).saturating_mul(most));
        rows.saturating_mul(14 + if self.align { 4 + block.mean_length() / 5 } else { 0 })
    }

    fn encode(row: &EditResult, bytes: &mut Vec<u8>) {
        let EditResult { pattern, region: Region { text, start, end }, strand, .. } = *row;
        let minus = if strand == StrandOf::Minus { MINUS } else { 0 };
        bytes.push(minus | if row.alignment.is_some() { ALIGNED } else { 0 });
        [pattern, text, start, end, row.distance, row.end].iter().for_each(|&number| push(bytes, number.into()));
        push(bytes, row.ends.len() as u64);
        for &(end, distance) in &row.ends {
            push(bytes, end.into());
            push(bytes, distance.into());
        }
        if let Some(EditAlignment { start, cigar, .. }) = &row.alignment {
            push(bytes, u64::from(*start));
            push_cigar(bytes, cigar);
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<EditResult> {
        let flags = take_byte(bytes)?;
        if flags & !(MINUS | ALIGNED) != 0 {
            return None;
        }
        let strand = if flags & MINUS != 0 { StrandOf::Minus } else { StrandOf::Plus };
        let mut numbers = [0; 6];
        for number in &mut numbers {
            *number = take_u32(bytes)?;
        }
        let [pattern, text, start, end, distance, best] = numbers;
        let mut ends = Vec::new();
        for _ in 0..take_u32(bytes)? {
            ends.push((take_u32(bytes)?, take_u32(bytes)?));
        }
        let mut alignment = None;
        if flags & ALIGNED != 0 {
            let (start, cigar) = (take_u32(bytes)?, take_cigar(bytes)?);
            let counts = cigar.counts();
            // Of columns alone, whatever the lengths are.
            let identity = IdentityDefinition::Columns.identity(&counts, 0, 0);
            alignment = Some(EditAlignment { start, cigar, counts, identity });
        }
        Some(EditResult { pattern, region: Region { text, start, end }, strand, distance, end: best, alignment, ends })
    }

    fn join(&self, rows: &mut Vec<EditResult>) {
        let Some(most) = self.max_hits else { return };
        let mut found: Vec<Found> = rows.iter().map(|row| Found { distance: row.distance, end: row.end }).collect();
        // Candidates of several patterns may be mixed.
        let pattern = |row: u32| rows[row as usize].pattern;
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&row| pattern(row));
        for group in order.chunk_by(|&one, &other| pattern(one) == pattern(other)) {
            keep_least(&mut found, most, group.iter().copied());
        }
        let mut kept = found.iter();
        rows.retain(|_| kept.next().is_some_and(|one| one.is_some()));
    }
}
