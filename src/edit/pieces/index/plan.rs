//! Selects the tables of an index by their expected cost.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::super::{COLUMN_COST, MAX_COMPARED, PieceFilter, PieceShape, base_runs, piece_lengths};
use super::table::{GramLookup, IndexEntry, PieceTable, add_entries};
use super::{IndexedPattern, PieceIndex, consecutive_ranges, has_ambiguous};
use crate::edit::narrow::is_narrow;
use crate::score::EditScheme;
use crate::seq::{Code, SequenceId, SequenceStore};

/// Numbers of symbols of q-grams.
const GRAMS: [usize; 8] = [6, 8, 10, 12, 14, 16, 20, 24];
/// Distances of q-grams in a text.
const STEPS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Maximum number of tables.
const MAX_TABLES: usize = 4;
/// Maximum number of entries of an index, and so of 24 bytes of memory each.
const MAX_ENTRIES: u64 = 1 << 22;

/// Approximate cost of a lookup in a table that does not fit into the L1 cache, in clock cycles.
const SHARED_LOOKUP_COST: f64 = 12.0;
/// Approximate cost of entries, comparisons and windows, relative to the cost in the table of a
/// single pattern.
const SHARED_HITS_COST: f64 = 2.5;
/// Approximate cost of a column of the kernel for narrow patterns ([`is_narrow`]), in clock cycles.
const NARROW_COLUMN_COST: f64 = 0.7;

/// The tables of an index, and the shape of the pieces of each kind of pattern.
#[derive(Debug)]
pub struct PieceIndexPlan {
    lookups: Vec<GramLookup>,
    kinds: HashMap<PatternKind, PlannedKind>,
    has_ambiguous: bool,
    cycles: f64,
    cycles_without: f64,
}

/// The properties of a pattern that determine its pieces' cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct PatternKind {
    symbols: usize,
    limit: usize,
    /// Number of symbols of the longest pieces, without and with an edit.
    piece_symbols: [usize; 2],
}

/// A kind of patterns in the plan.
#[derive(Debug, Clone, Copy)]
struct PlannedKind {
    /// Number of patterns.
    count: f64,
    /// Table and shape of the pieces; `None` if another filter is faster.
    table: Option<(usize, PieceShape)>,
    /// Expected cost per symbol of the text for each pattern, without lookups in shared tables.
    cost: f64,
}

impl PieceIndexPlan {
    /// Plans the index of all patterns of a store for texts with `text_symbols` symbols.
    /// [`PieceFilter`] must support the scheme. Returns `None` if no table saves time.
    pub fn new(patterns: &SequenceStore, scheme: &EditScheme, text_symbols: u64) -> Option<PieceIndexPlan> {
        debug_assert!(PieceFilter::supports(scheme));
        let mut kinds: HashMap<PatternKind, PlannedKind> = HashMap::new();
        for query in 0..patterns.len() as SequenceId {
            let pattern = patterns.codes(query);
            let kind = PatternKind::new(pattern, scheme);
            let cost = || kind.cost_without(text_symbols);
            let planned = kinds.entry(kind);
            planned.or_insert_with(|| PlannedKind { count: 0.0, table: None, cost: cost() }).count += 1.0;
        }
        let sum = |kinds: &HashMap<PatternKind, PlannedKind>| -> f64 {
            kinds.values().map(|planned| planned.count * planned.cost).sum()
        };
        let cycles_without = sum(&kinds);
        let all = || GRAMS.iter().flat_map(|&gram| STEPS.iter().map(move |&step| GramLookup { gram, step }));
        let mut lookups: Vec<GramLookup> = Vec::new();
        while lookups.len() < MAX_TABLES {
            let gain = |lookup: GramLookup| {
                let saved = |(kind, planned): (&PatternKind, &PlannedKind)| {
                    let (cost, _) = kind.cost_with(lookup, text_symbols)?;
                    Some(planned.count * (planned.cost - cost).max(0.0))
                };
                kinds.iter().filter_map(saved).sum::<f64>() - lookup.cost()
            };
            let gains = all().map(|lookup| (lookup, gain(lookup)));
            let best = gains.max_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, gain)| *gain > 0.0);
            let Some((lookup, _)) = best else { break };
            for (kind, planned) in &mut kinds {
                if let Some((cost, shape)) = kind.cost_with(lookup, text_symbols)
                    && cost < planned.cost
                {
                    (planned.cost, planned.table) = (cost, Some((lookups.len(), shape)));
                }
            }
            lookups.push(lookup);
        }
        let cycles = sum(&kinds) + lookups.iter().map(|lookup| lookup.cost()).sum::<f64>();
        let has_ambiguous = has_ambiguous(&scheme.equality);
        (!lookups.is_empty()).then_some(PieceIndexPlan { lookups, kinds, has_ambiguous, cycles, cycles_without })
    }

    /// Returns the expected cost for each symbol of a text with the index, in clock cycles of one
    /// thread.
    pub fn cycles(&self) -> f64 {
        self.cycles
    }

    /// Returns the cost like [`PieceIndexPlan::cycles`], but without the index.
    pub fn cycles_without(&self) -> f64 {
        self.cycles_without
    }

    /// Splits a range of patterns into ranges whose indexes have a limited size.
    pub fn groups(
        &self,
        patterns: &SequenceStore,
        scheme: &EditScheme,
        queries: Range<SequenceId>,
    ) -> Vec<Range<SequenceId>> {
        consecutive_ranges(queries, MAX_ENTRIES, |query| {
            let shape = self.shape(patterns.codes(query), scheme);
            shape.map_or(0, |(_, shape)| shape.entries() as u64)
        })
    }

    /// Creates the index of consecutive patterns, on the threads of the current pool.
    pub fn index(&self, patterns: &SequenceStore, scheme: &EditScheme, queries: Range<SequenceId>) -> PieceIndex {
        let indexed = |query: SequenceId| {
            let pattern = patterns.codes(query);
            let symbols = pattern.len() as u32;
            let is_indexed = self.shape(pattern, scheme).is_some();
            IndexedPattern { symbols, limit: scheme.limit(symbols, u32::MAX), is_indexed }
        };
        let tables = self.lookups.par_iter().enumerate().map(|(table, &lookup)| {
            let entries_of = |query: SequenceId| {
                let (pattern, mut entries) = (patterns.codes(query), Vec::new());
                match self.shape(pattern, scheme) {
                    Some((of, shape)) if of == table => add_entries(query, pattern, shape, &mut entries),
                    _ => {}
                }
                entries
            };
            let entries: Vec<IndexEntry> = queries.clone().into_par_iter().flat_map_iter(entries_of).collect();
            PieceTable::new(lookup, &entries)
        });
        PieceIndex {
            first: queries.start,
            patterns: queries.clone().map(indexed).collect(),
            tables: tables.collect(),
            has_ambiguous: self.has_ambiguous,
        }
    }

    /// Returns the table and the shape of the pieces of a pattern.
    fn shape(&self, pattern: &[Code], scheme: &EditScheme) -> Option<(usize, PieceShape)> {
        self.kinds.get(&PatternKind::new(pattern, scheme))?.table
    }
}

impl PatternKind {
    fn new(pattern: &[Code], scheme: &EditScheme) -> PatternKind {
        let limit = scheme.limit(pattern.len() as u32, u32::MAX) as usize;
        if limit >= pattern.len() {
            // Every part of a text is within the limit.
            return PatternKind { symbols: pattern.len(), limit, piece_symbols: [0; 2] };
        }
        let piece_symbols = piece_lengths(&base_runs(pattern), pattern.len(), limit);
        PatternKind { symbols: pattern.len(), limit, piece_symbols }
    }

    /// Returns the cost of a pattern for each symbol of a text if it is sought alone.
    fn cost_without(&self, text_symbols: u64) -> f64 {
        let narrow = is_narrow(self.symbols, self.limit).then_some(NARROW_COLUMN_COST);
        let columns = narrow.unwrap_or(COLUMN_COST * self.symbols.div_ceil(64) as f64);
        let shapes = PieceShape::of_lengths(self.piece_symbols, self.limit).into_iter();
        let filters = shapes.filter(|shape| shape.is_sparse());
        filters.map(|shape| shape.cost(self.symbols, self.limit, text_symbols)).fold(columns, f64::min)
    }

    /// Returns the least cost of a pattern for each symbol of a text, and the shape of its pieces, if
    /// it shares the lookups of a table. Returns `None` if its pieces are too short.
    fn cost_with(&self, GramLookup { gram, step }: GramLookup, text_symbols: u64) -> Option<(f64, PieceShape)> {
        let shapes = [0, 1].into_iter().filter_map(|edits| {
            let symbols = self.piece_symbols[edits];
            let is_long = gram + step - 1 + edits <= symbols && gram < MAX_COMPARED;
            let pieces = self.limit / (edits + 1) + 1;
            is_long.then_some(PieceShape { pieces, symbols, edits, gram, step })
        });
        let cost = |shape: PieceShape| SHARED_HITS_COST * shape.cost_of_hits(self.symbols, self.limit, text_symbols);
        let costs = shapes.map(|shape| (cost(shape), shape));
        costs.min_by(|(a, _), (b, _)| a.total_cmp(b))
    }
}

impl GramLookup {
    /// Returns the cost for each symbol of a text.
    fn cost(self) -> f64 {
        SHARED_LOOKUP_COST / self.step as f64
    }
}
