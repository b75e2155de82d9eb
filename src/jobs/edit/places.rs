//! Reports the places of patterns in texts, given the tiles that contain a part within the limit.

use std::ops::Range;

use rayon::prelude::*;

use super::EditResult;
use super::finish::EditFinisher;
use crate::edit::places::{LocalMinima, Place, PlaceSearch, SoughtPattern, TiledTexts};
use crate::edit::tiles::TextTiles;
use crate::edit::{BatchDistances, Region};
use crate::error::Result;
use crate::seq::{QueryPart, SequenceId, Strand};

/// Number of tiles that are searched before their places are reported.
const TILES_AT_ONCE: usize = 1 << 10;

/// A tile where a pattern has places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlaceTile {
    /// The pattern, counting each strand.
    query: SequenceId,
    tile: u32,
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
        let part_tiles = tiles.of_texts(texts);
        let mut searched = Vec::new();
        let mut first_of_pattern = 0;
        for (index, query) in queries.clone().enumerate() {
            let first = index * part_tiles.len();
            let hits = distances.within(first..first + part_tiles.len());
            let hits = hits.map(|(position, _)| part_tiles.start + position as u32);
            let (pattern, strand) = self.job().strands().sequence_of(query);
            add_tiles(&mut searched, query, hits, strand, tiles);
            // Blocks can have parts of the texts, so both strands of a text come before the next text.
            if query + 1 == queries.end || self.job().strands().sequence_of(query + 1).0 != pattern {
                searched[first_of_pattern..].sort_by_key(|one: &PlaceTile| tiles.regions()[one.tile as usize].text);
                first_of_pattern = searched.len();
            }
        }
        let mut minima = LocalMinima::new(Strand::Plus);
        let mut before: Option<(SequenceId, SequenceId)> = None;
        for some in searched.chunks(TILES_AT_ONCE) {
            for (&PlaceTile { query, tile }, places) in some.iter().zip(self.search(some, tiles)?) {
                let text = tiles.regions()[tile as usize].text;
                if before != Some((query, text)) {
                    self.end_text(before, &mut minima)?;
                    minima = LocalMinima::new(self.job().strands().sequence_of(query).1);
                    before = Some((query, text));
                }
                for place in places {
                    if let Some(minimum) = minima.add(place) {
                        self.push_place(query, text, minimum)?;
                    }
                }
            }
        }
        self.end_text(before, &mut minima)
    }

    /// Returns the places in the cores of tiles.
    fn search(&self, searched: &[PlaceTile], tiles: &TextTiles) -> Result<Vec<Vec<Place>>> {
        let (job, patterns, execution) = (self.job(), self.patterns(), self.execution());
        let texts = TiledTexts { texts: job.texts(), tiles, equality: &job.scheme.equality };
        let search = |search: &mut PlaceSearch, &PlaceTile { query, tile }: &PlaceTile| {
            execution.run.check_interrupt()?;
            let pattern = patterns.codes(query);
            let strand = job.strands().sequence_of(query).1;
            let limit = job.place_limit(pattern.len() as u32);
            let exact = &job.exact.rows(pattern.len() as u32);
            Ok(search.in_tile(SoughtPattern { pattern, strand, limit, exact }, &texts, tile))
        };
        execution.threads.pool.install(|| searched.par_iter().map_init(PlaceSearch::default, search).collect())
    }

    /// Reports the last place in a text.
    fn end_text(&mut self, text: Option<(SequenceId, SequenceId)>, minima: &mut LocalMinima) -> Result<()> {
        match (text, minima.end()) {
            (Some((query, text)), Some(minimum)) => self.push_place(query, text, minimum),
            _ => Ok(()),
        }
    }

    fn push_place(&mut self, query: SequenceId, text: SequenceId, place: Place) -> Result<()> {
        let (pattern, strand) = self.job().strands().sequence_of(query);
        let region = Region { text, start: 0, end: self.job().texts().length(text) };
        let (distance, end) = (place.distance, place.position);
        self.push_result(EditResult { pattern, region, strand, distance, end, alignment: None, ends: Vec::new() })
    }
}

/// Appends the tiles whose cores can contain a place of a pattern, given the tiles with a part
/// within the limit, in increasing order.
fn add_tiles(
    searched: &mut Vec<PlaceTile>,
    query: SequenceId,
    hits: impl Iterator<Item = u32>,
    strand: Strand,
    tiles: &TextTiles,
) {
    for tile in hits {
        // A part that ends in a core may start in the core before it.
        let begin = match strand {
            Strand::Plus => tile,
            Strand::Minus => tile - u32::from(tiles.core(tile).start > 0),
        };
        for tile in begin..=tile {
            let next = PlaceTile { query, tile };
            if searched.last() != Some(&next) {
                searched.push(next);
            }
        }
    }
}
