//! Many long pairs: every selected record of the queries with every selected record of the targets.
//!
//! The pairs are units, numbered in the order of the rows: by query, then by target. A block
//! computes its pairs longest first. The engines stay open from pair to pair, and large pairs have
//! all of them. If the CPU may be used, small pairs are computed at the same time, one on each
//! thread (`compute`).

mod blocks;
mod compute;
mod queue;

use std::cmp::Reverse;

use super::{BlockTotals, LongAlignment, LongDetails, LongEngines, LongHit, LongSession};
use crate::error::{Error, Result};
use crate::jobs::block::Block;
use crate::jobs::blocks::cut::saturating_u64;
use crate::jobs::session::SessionStart;
use crate::jobs::source::{NextBlock, subtract_cells};
use crate::jobs::{Feed, Job, Run, Summary};
use crate::score::{DatabaseSize, DatabaseStatistics, MaxEvalue, Mode, Statistics};
use crate::seq::SequenceId;

/// The group of pairs whose alignments compete for a place in the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TopPer {
    /// Each pair has its own list.
    #[default]
    Pair,
    /// All pairs of a query have one list.
    Query,
    /// All pairs have one list.
    All,
}

/// Alignments of some queries with some targets.
#[derive(Debug, Clone)]
pub struct LongRecordPairs {
    /// Settings and stores. The indices of query and target are ignored, and `top` is the maximum
    /// length of each list of alignments.
    pub settings: LongAlignment,
    /// Indices of the queries, ascending.
    pub queries: Vec<SequenceId>,
    /// Indices of the targets, ascending.
    pub targets: Vec<SequenceId>,
    /// The alignments among which the best `top` are selected.
    pub top_per: TopPer,
    /// Maximum E-value of local alignments, in addition to the minimum score.
    pub max_evalue: Option<MaxEvalue>,
}

/// An alignment of a query and a target, or its score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongRecordHit {
    /// Index of the query.
    pub query: SequenceId,
    /// Index of the target.
    pub target: SequenceId,
    /// The alignment.
    pub hit: LongHit,
}

impl LongRecordPairs {
    /// Returns the number of pairs.
    pub fn pairs(&self) -> u64 {
        self.queries.len() as u64 * self.targets.len() as u64
    }

    /// Returns the number of cells in the matrices of all pairs and strands.
    pub fn cells(&self) -> u64 {
        let queries: u128 = self.queries.iter().map(|&id| u128::from(self.settings.rows_of(id))).sum();
        let targets: u128 = self.targets.iter().map(|&id| u128::from(self.settings.columns_of(id))).sum();
        saturating_u64(queries.saturating_mul(targets)).saturating_mul(self.settings.strands().len() as u64)
    }

    /// Returns the size of the targets, which are the database that E-values refer to.
    fn database_size(&self) -> DatabaseSize {
        let lengths = self.targets.iter().map(|&id| u64::from(self.settings.target.length(id)));
        DatabaseSize { sequences: self.targets.len() as u64, symbols: lengths.sum() }
    }

    /// Returns the statistics of local alignments, if they are known for the scores.
    pub fn statistics(&self) -> Option<DatabaseStatistics> {
        let scoring = &self.settings.scoring;
        let statistics = (scoring.mode == Mode::Local).then(|| Statistics::for_scheme(scoring)).flatten();
        statistics.map(|statistics| DatabaseStatistics { statistics, size: self.database_size() })
    }

    /// Limits the E-values of alignments, with the targets as the database.
    ///
    /// # Errors
    /// The errors of [`MaxEvalue::new`].
    pub fn with_max_evalue(self, evalue: f64) -> Result<Self> {
        let max_evalue = MaxEvalue::new(evalue, &self.settings.scoring, self.database_size())?;
        Ok(LongRecordPairs { max_evalue: Some(max_evalue), ..self })
    }

    /// Selects the best alignments of each list. Among equal scores, the first in the order of the
    /// rows are selected. The rows must be in this order, and stay in it.
    pub fn select(&self, rows: &mut Vec<LongRecordHit>) {
        if self.top_per == TopPer::Pair {
            return;
        }
        let is_one_list = |a: &LongRecordHit, b: &LongRecordHit| self.top_per == TopPer::All || a.query == b.query;
        let mut is_kept = Vec::with_capacity(rows.len());
        for list in rows.chunk_by(is_one_list) {
            let mut best_first: Vec<usize> = (0..list.len()).collect();
            best_first.sort_by_key(|&index| Reverse(list[index].hit.score));
            let first = is_kept.len();
            is_kept.resize(first + list.len(), false);
            best_first.iter().take(self.settings.top as usize).for_each(|index| is_kept[first + index] = true);
        }
        let mut is_kept = is_kept.into_iter();
        rows.retain(|_| is_kept.next().unwrap_or(false));
    }

    /// Returns the indices of query and target of a unit.
    fn ids(&self, unit: u64) -> (SequenceId, SequenceId) {
        let targets = self.targets.len() as u64;
        (self.queries[(unit / targets) as usize], self.targets[(unit % targets) as usize])
    }

    /// Returns the number of cells of a unit in one strand.
    fn cells_of(&self, unit: u64) -> u64 {
        let (query, target) = self.ids(unit);
        self.settings.rows_of(query).saturating_mul(self.settings.columns_of(target))
    }

    /// Returns the job of a pair.
    fn pair(&self, query_id: SequenceId, target_id: SequenceId) -> LongAlignment {
        // End to end, a pair has one alignment.
        let top = if self.settings.scoring.mode == Mode::Local { self.settings.top } else { 1 };
        let mut pair = LongAlignment { query_id, target_id, top, ..self.settings.clone() };
        if let Some(max_evalue) = &self.max_evalue {
            let least = max_evalue.least_score(pair.query.length(query_id), pair.target.length(target_id));
            pair.min_score = pair.min_score.max(least);
        }
        pair
    }
}

impl Job for LongRecordPairs {
    type Row = LongRecordHit;
    type Summary = Summary<LongDetails>;
    type Engines = LongEngines;
    type Session = LongSession;

    fn validate(&self) -> Result<()> {
        let is_valid = |ids: &[SequenceId]| !ids.is_empty() && ids.is_sorted_by(|a, b| a < b);
        let message = "at least one record is needed, each once and in order";
        if !is_valid(&self.queries) {
            return Err(Error::usage_of("query", message));
        }
        if !is_valid(&self.targets) {
            return Err(Error::usage_of("target", message));
        }
        if self.max_evalue.is_some() && self.settings.scoring.mode != Mode::Local {
            return Err(Error::usage_of("max_evalue", "only local alignments have E-values: omit it"));
        }
        // A list of several pairs may have several alignments in any mode.
        let of_pair = if self.top_per == TopPer::Pair { self.settings.top } else { self.settings.top.min(1) };
        self.settings.check_top(of_pair)?;
        self.queries.iter().try_for_each(|&query| self.pair(query, self.targets[0]).check())?;
        self.targets.iter().try_for_each(|&target| self.pair(self.queries[0], target).check())
    }

    fn whole_block(&self, _session: &LongSession) -> Block {
        let pairs = self.pairs();
        Block {
            units: 0..pairs,
            targets: None,
            pairs: pairs.saturating_mul(self.settings.strands().len() as u64),
            cells: self.cells(),
        }
    }

    fn open(&self, start: SessionStart<LongEngines>, run: &Run) -> Result<LongSession> {
        self.validate()?;
        LongSession::open(start, run, self.cells())
    }

    /// Passes on the alignments of a block when it is complete, by query, then by target, the best
    /// of a pair first. The best alignments of each list are selected within the block.
    ///
    /// # Errors
    /// The errors of the [job of a pair](LongAlignment).
    fn feed(
        &self,
        Feed { source, run, sink }: Feed<'_, LongRecordHit>,
        session: &mut LongSession,
    ) -> Result<Summary<LongDetails>> {
        let pending_cells = source.pending_cells();
        let mut totals = BlockTotals::default();
        while let NextBlock::Block(block) = source.next() {
            subtract_cells(&pending_cells, block.cells);
            let (rows, summary) = self.compute(&block, session, run)?;
            if !rows.is_empty() {
                sink.rows(&rows)?;
            }
            sink.end()?;
            totals.add(summary);
        }
        Ok(totals.finish())
    }
}
