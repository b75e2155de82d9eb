//! Reports the places of patterns in texts, given the tiles that contain a part within the limit.

use std::ops::Range;

use rayon::prelude::*;

use super::EditResult;
use super::finish::{EditAligner, EditFinisher};
use super::pieces::{AlignedPlace, CarriedPlateau, TextMinima};
use crate::edit::exact::ExactRows;
use crate::edit::overhang::Overhang;
use crate::edit::places::{Place, PlaceSearch, SoughtPattern, SoughtTile, TiledTexts};
use crate::edit::tiles::TextTiles;
use crate::edit::{BatchDistances, Region};
use crate::engine::buffer_pool::WorkspacePool;
use crate::error::Result;
use crate::score::EditDistance;
use crate::seq::{Code, QueryPart, SequenceId, Strand};

/// Number of tiles that are searched before their places are reported.
const TILES_AT_ONCE: usize = 1 << 10;

/// A tile where a pattern has places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaceTile {
    /// The pattern, counting each strand.
    query: SequenceId,
    sought: SoughtTile,
}

impl PlaceTile {
    fn text(&self, tiles: &TextTiles) -> SequenceId {
        tiles.regions()[self.sought.tile as usize].text
    }
}

impl EditFinisher<'_> {
    /// Reports the places of a chunk of a part by pattern, text, strand and position. `distances`
    /// has the results of every pattern of `queries` with every tile of the part.
    pub(super) fn places(
        &mut self,
        queries: Range<SequenceId>,
        part: &QueryPart,
        tiles: &TextTiles,
        distances: &BatchDistances,
    ) -> Result<()> {
        let texts = part.compared_targets(0, self.job().texts().len(), false);
        let part_tiles = tiles.of_texts(texts.clone());
        // Engines ignore parts of the text that the pattern hangs over.
        let end_tiles: Vec<u32> = match self.job().overhang {
            Some(_) => texts.flat_map(|text| tiles.at_ends(text)).collect(),
            None => Vec::new(),
        };
        let mut searched = Vec::new();
        let mut first_of_pattern = 0;
        for (index, query) in queries.clone().enumerate() {
            let first = index * part_tiles.len();
            let hits = distances.within(first..first + part_tiles.len());
            let hits = hits.map(|(position, _)| part_tiles.start + position as u32);
            // The first tile decides whether a carried plateau continues.
            let is_carried = self.pieces().is_some_and(|pieces| pieces.is_carried(query));
            let hits = is_carried.then_some(0).into_iter().chain(hits);
            let (pattern, strand) = self.job().strands().sequence_of(query);
            let mut found = tiles_of_hits(hits, strand, tiles);
            if !end_tiles.is_empty() {
                found.extend(end_tiles.iter().map(|&tile| SoughtTile { tile, has_parts: false }));
                found.sort_unstable_by_key(|sought| (sought.tile, !sought.has_parts));
                found.dedup_by_key(|sought| sought.tile);
            }
            searched.extend(found.into_iter().map(|sought| PlaceTile { query, sought }));
            // Blocks can have parts of the texts, so both strands of a text come before the next text.
            if query + 1 == queries.end || self.job().strands().sequence_of(query + 1).0 != pattern {
                searched[first_of_pattern..].sort_by_key(|one: &PlaceTile| one.text(tiles));
                first_of_pattern = searched.len();
            }
        }
        let mut minima: Option<TextMinima> = None;
        for some in searched.chunks(TILES_AT_ONCE) {
            for (one, places) in some.iter().zip(self.search(some, tiles)?) {
                let (query, text) = (one.query, one.text(tiles));
                if minima.as_ref().map(|minima| (minima.query, minima.text)) != Some((query, text)) {
                    self.end_text(minima.take())?;
                }
                let minima = minima.get_or_insert_with(|| self.begin_text(query, text));
                for place in places {
                    let place = self.pieces().map_or(Some(place), |pieces| pieces.whole(minima, place));
                    if let Some(minimum) = place.and_then(|place| minima.minima.add(place)) {
                        self.push_place(minima, minimum)?;
                    }
                }
            }
        }
        self.end_text(minima)
    }

    /// Returns the best results of all patterns of a chunk in the texts of its part, given those in
    /// tiles. Both strands of a pair are adjacent, the plus strand first.
    pub(super) fn best_in_texts(
        &mut self,
        queries: Range<SequenceId>,
        part: &QueryPart,
        tiles: &TextTiles,
        distances: &BatchDistances,
    ) -> BatchDistances {
        let job = self.job();
        let copies = job.strands().copies() as usize;
        let texts = part.compared_targets(0, job.texts().len(), false);
        let part_tiles = tiles.of_texts(texts.clone());
        let mut best = vec![EditDistance::NONE; queries.len() * texts.len()];
        let mut found = Vec::new();
        for (index, query) in queries.enumerate() {
            let first = index * part_tiles.len();
            for (position, result) in distances.within(first..first + part_tiles.len()) {
                let tile = part_tiles.start + position as u32;
                let Region { text, start, .. } = tiles.regions()[tile as usize];
                let pair = index / copies * texts.len() + (text - texts.start) as usize;
                let best = &mut best[pair * copies + index % copies];
                *best = EditDistance { end: start + result.end, ..result }.min(*best);
                if job.all_ends {
                    found.push((query, tile));
                }
            }
        }
        self.set_tiles_with_parts(found);
        BatchDistances::Each(best.into())
    }

    /// Returns the places in the cores of tiles.
    fn search(&self, searched: &[PlaceTile], tiles: &TextTiles) -> Result<Vec<Vec<Place>>> {
        let (job, patterns, execution) = (self.job(), self.patterns(), self.execution());
        let texts = TiledTexts { texts: job.texts(), tiles, equality: &job.scheme.equality };
        let overhang = job.overhang_cost()?;
        let search = |search: &mut PlaceSearch, &PlaceTile { query, sought }: &PlaceTile| {
            execution.run.check_interrupt()?;
            let pattern = patterns.codes(query);
            let strand = job.strands().sequence_of(query).1;
            let limit = job.place_limit(pattern.len() as u32);
            let exact = &job.exact.rows(pattern.len() as u32);
            Ok(search.in_tile(SoughtPattern { pattern, strand, limit, exact, overhang }, &texts, sought))
        };
        let workspaces = WorkspacePool::default();
        let search = |tile| workspaces.with(|workspace| search(workspace, tile));
        execution.threads.pool.install(|| searched.par_iter().map(search).collect())
    }

    /// Returns the state before the first place of a pattern in a text.
    fn begin_text(&mut self, query: SequenceId, text: SequenceId) -> TextMinima {
        let strand = self.job().strands().sequence_of(query).1;
        match self.pieces_mut() {
            Some(pieces) => pieces.begin(query, text, strand),
            None => TextMinima::new(query, text, strand),
        }
    }

    /// Reports the last place in a text, or keeps it for the next part.
    fn end_text(&mut self, minima: Option<TextMinima>) -> Result<()> {
        let Some(mut minima) = minima else { return Ok(()) };
        if self.pieces().is_some_and(|pieces| pieces.reaches_border(&minima)) {
            return self.carry(minima);
        }
        match minima.minima.end() {
            Some(minimum) => self.push_place(&mut minima, minimum),
            None => Ok(()),
        }
    }

    /// Aligns the place of a plateau that reaches the border of a part, and keeps it.
    fn carry(&mut self, mut minima: TextMinima) -> Result<()> {
        let Some(place) = minima.minima.last_place() else { return Ok(()) };
        let aligned = match minima.aligned.take().filter(|aligned| aligned.place == place) {
            Some(aligned) => aligned,
            None => AlignedPlace { place, result: self.complete(self.place_result(&minima, place))? },
        };
        let (query, minima) = (minima.query, minima.minima);
        if let Some(pieces) = self.pieces_mut() {
            pieces.carry(query, CarriedPlateau { minima, aligned });
        }
        Ok(())
    }

    fn push_place(&mut self, minima: &mut TextMinima, place: Place) -> Result<()> {
        match minima.aligned.take().filter(|aligned| aligned.place == place) {
            Some(AlignedPlace { result, .. }) => self.push_complete(result),
            None => self.push_result(self.place_result(minima, place)),
        }
    }

    /// Returns the result of a place before it is aligned.
    fn place_result(&self, minima: &TextMinima, place: Place) -> EditResult {
        let &TextMinima { query, text, .. } = minima;
        let (pattern, strand) = self.job().strands().sequence_of(query);
        let length = self.job().texts().length(text);
        let region = Region { text, start: 0, end: length };
        let Place { distance, position } = self.pieces().map_or(place, |pieces| pieces.in_piece(text, place));
        let end = position.clamp(0, i64::from(length));
        let beyond = (position - end).unsigned_abs() as u32;
        let overhang = match strand {
            Strand::Plus => Overhang { before: 0, after: beyond },
            Strand::Minus => Overhang { before: beyond, after: 0 },
        };
        let (end, ends) = (end as u32, Vec::new());
        EditResult { pattern, region, strand, distance, end, overhang, alignment: None, ends }
    }
}

impl EditAligner<'_> {
    /// Returns all ends of the pattern of a result with their distances, given its strand, in the
    /// tiles that have a part within the limit.
    pub(super) fn ends_in_tiles(&self, pattern: &[Code], result: &EditResult, tiles: &TextTiles) -> Vec<(u32, u32)> {
        let (job, exact) = (self.job(), ExactRows::default());
        let query = job.strands().query(result.pattern, result.strand);
        let text_tiles = tiles.of_texts(result.text()..result.text() + 1);
        let limit = job.place_limit(pattern.len() as u32);
        // Ends are sought on both strands.
        let sought = SoughtPattern { pattern, strand: Strand::Plus, limit, exact: &exact, overhang: None };
        let texts = TiledTexts { texts: job.texts(), tiles, equality: &job.scheme.equality };
        let mut search = PlaceSearch::default();
        let found = self.tiles_with_parts(query, text_tiles).iter();
        let places = found.flat_map(|&(_, tile)| search.in_tile(sought, &texts, SoughtTile { tile, has_parts: true }));
        places.map(|place| (place.position as u32, place.distance)).collect()
    }
}

/// Returns the tiles whose cores can contain a place of a pattern, given the tiles with a part
/// within the limit. Both are in increasing order.
fn tiles_of_hits(hits: impl Iterator<Item = u32>, strand: Strand, tiles: &TextTiles) -> Vec<SoughtTile> {
    let mut found: Vec<SoughtTile> = Vec::new();
    for tile in hits {
        // A part that ends in a core may start in the core before it.
        let begin = match strand {
            Strand::Plus => tile,
            Strand::Minus => tile - u32::from(tiles.core(tile).start > 0),
        };
        for tile in begin..=tile {
            let next = SoughtTile { tile, has_parts: true };
            if found.last() != Some(&next) {
                found.push(next);
            }
        }
    }
    found
}
