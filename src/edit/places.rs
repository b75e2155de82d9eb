//! Places of a pattern in a text: the ends of parts within a limit, and the local minima among
//! them.

use std::ops::Range;

use super::Region;
use super::exact::{ExactColumns, ExactPattern, ExactRows, PartStart};
use super::overhang_cost::{OverhangCost, OverhangCosts, SearchedText};
use super::tiles::TextTiles;
use crate::score::Equality;
use crate::seq::{Code, SequenceStore, Strand};

/// Number of rows in a word.
const ROWS: usize = 64;

/// An end of a part of a text, or its start if the minus strand is searched, and the least distance
/// of a part with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of symbols of the text before the position. If the pattern hangs over the end of the
    /// text, the symbols beyond the end are added. If it hangs over the start on the minus strand,
    /// this is minus the number of these symbols.
    pub position: i64,
    /// The distance.
    pub distance: u32,
}

/// Selects the local minima from the places of a text in increasing order of positions.
///
/// Adjacent positions with the same distance form a plateau. A plateau is a local minimum if the
/// positions before and after it have a greater distance, are above the limit, or do not exist. It
/// is represented by its last position in the direction of the pattern: the greatest end on the
/// plus strand, and the least start on the minus strand.
#[derive(Debug)]
pub struct LocalMinima {
    strand: Strand,
    plateau: Option<Plateau>,
}

/// Adjacent positions with the same distance.
#[derive(Debug, Clone, Copy)]
struct Plateau {
    first: i64,
    last: i64,
    distance: u32,
    /// Whether the position before is above.
    is_below: bool,
}

impl LocalMinima {
    /// Creates the state before the first position of a text.
    pub fn new(strand: Strand) -> Self {
        LocalMinima { strand, plateau: None }
    }

    /// Adds a place. Returns the previous plateau if it is now known to be a local minimum.
    pub fn add(&mut self, place: Place) -> Option<Place> {
        let Place { position, distance } = place;
        let next = |is_below| Some(Plateau { first: position, last: position, distance, is_below });
        match &mut self.plateau {
            Some(plateau) if plateau.last + 1 == position && plateau.distance == distance => {
                plateau.last = position;
                None
            }
            Some(plateau) if plateau.last + 1 == position && plateau.distance > distance => {
                self.plateau = next(true);
                None
            }
            Some(plateau) if plateau.last + 1 == position => {
                let before = *plateau;
                self.plateau = next(false);
                self.minimum(before)
            }
            _ => {
                let before = self.plateau.take();
                self.plateau = next(true);
                before.and_then(|before| self.minimum(before))
            }
        }
    }

    /// Returns the last plateau of the text if it is a local minimum.
    pub fn end(&mut self) -> Option<Place> {
        self.plateau.take().and_then(|last| self.minimum(last))
    }

    /// Returns the last position of the last plateau.
    pub fn last_position(&self) -> Option<i64> {
        self.plateau.map(|plateau| plateau.last)
    }

    /// Returns the place of the last plateau if it were a local minimum.
    pub fn last_place(&self) -> Option<Place> {
        self.plateau.map(|plateau| self.place(plateau))
    }

    fn minimum(&self, plateau: Plateau) -> Option<Place> {
        plateau.is_below.then(|| self.place(plateau))
    }

    fn place(&self, plateau: Plateau) -> Place {
        let position = if self.strand == Strand::Minus { plateau.first } else { plateau.last };
        Place { position, distance: plateau.distance }
    }
}

/// A pattern to search for.
#[derive(Debug, Clone, Copy)]
pub struct SoughtPattern<'a> {
    /// The pattern, or its reverse complement if the minus strand is sought.
    pub pattern: &'a [Code],
    /// The strand.
    pub strand: Strand,
    /// Maximum distance.
    pub limit: u32,
    /// The rows that must match exactly, in the order of the plus strand. Empty if there are none.
    pub exact: &'a ExactRows,
    /// Cost of symbols that hang over an end of a text; `None` if none may.
    pub overhang: Option<OverhangCost>,
}

/// A tile to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoughtTile {
    /// Index of the tile.
    pub tile: u32,
    /// Whether a part of the text within the limit may be in the tile. If not, only places that
    /// hang over an end of the text are sought.
    pub has_parts: bool,
}

/// Texts to search in.
#[derive(Debug, Clone, Copy)]
pub struct TiledTexts<'a> {
    /// The texts.
    pub texts: &'a SequenceStore,
    /// Their tiles.
    pub tiles: &'a TextTiles,
    /// The codes that are equal.
    pub equality: &'a Equality,
}

/// Finds the places in tiles of texts. The memory is reused for all tiles.
#[derive(Debug, Default)]
pub struct PlaceSearch {
    columns: PlaceColumns,
    codes: [Vec<Code>; 2],
}

impl PlaceSearch {
    /// Returns the places within the limit in the core of a tile, in increasing order of positions.
    /// An end belongs to the tile whose core contains the symbol before it, and a start to the tile
    /// whose core contains the symbol after it. The first position of a text and those before it
    /// belong to its first tile, and the last position and those after it to its last tile.
    pub fn in_tile(&mut self, sought: SoughtPattern<'_>, texts: &TiledTexts<'_>, tile: SoughtTile) -> Vec<Place> {
        let SoughtPattern { pattern, strand, limit, exact, overhang } = sought;
        let TiledTexts { texts, tiles, equality } = *texts;
        let Region { text, .. } = tiles.regions()[tile.tile as usize];
        let (codes, core) = (texts.codes(text), tiles.core(tile.tile));
        let (n, reach) = (codes.len() as u32, (pattern.len() as u32).saturating_add(limit));
        let window = match strand {
            Strand::Plus => core.start.saturating_sub(reach)..core.end,
            Strand::Minus => core.start..core.end.saturating_add(reach).min(n),
        };
        let mut places = Vec::new();
        for part in parts_to_search(window, n, reach, tile.has_parts) {
            let costs = [part.start == 0, part.end == n].map(|is_end| overhang.filter(|_| is_end));
            let part_codes = &codes[part.start as usize..part.end as usize];
            if strand == Strand::Plus {
                let costs = OverhangCosts { start: costs[0], end: costs[1] };
                let sought = ExactPattern { codes: pattern, rows: exact };
                let searched = SearchedText { codes: part_codes, costs };
                self.columns.search(sought, searched, limit, equality, |end, distance| {
                    let position = i64::from(part.start) + i64::from(end);
                    if position > i64::from(core.start) || core.start == 0 {
                        places.push(Place { position, distance });
                    }
                });
                continue;
            }
            let first = places.len();
            let costs = OverhangCosts { start: costs[1], end: costs[0] };
            let [reversed_pattern, reversed_text] = &mut self.codes;
            reversed_pattern.clear();
            reversed_pattern.extend(pattern.iter().rev());
            reversed_text.clear();
            reversed_text.extend(part_codes.iter().rev());
            let sought = ExactPattern { codes: reversed_pattern, rows: exact };
            let searched = SearchedText { codes: reversed_text, costs };
            self.columns.search(sought, searched, limit, equality, |before, distance| {
                let position = i64::from(part.end) - i64::from(before);
                if position < i64::from(core.end) || core.end == n {
                    places.push(Place { position, distance });
                }
            });
            places[first..].reverse();
        }
        places
    }
}

/// Returns the parts of a window of a text that can contain a place: the whole window, or only the
/// `reach` symbols next to the ends of the text of `n` symbols.
fn parts_to_search(window: Range<u32>, n: u32, reach: u32, has_parts: bool) -> Vec<Range<u32>> {
    let first = (window.start == 0).then(|| 0..window.end.min(reach));
    let last = (window.end == n).then(|| window.start.max(n.saturating_sub(reach))..n);
    match (first, last) {
        _ if has_parts => Vec::from([window]),
        (Some(first), Some(last)) if last.start <= first.end => Vec::from([window]),
        (first, last) => first.into_iter().chain(last).collect(),
    }
}

/// The columns of sweeps with and without exact rows.
#[derive(Debug, Default)]
struct PlaceColumns {
    active: ActiveColumns,
    exact: ExactColumns,
}

impl PlaceColumns {
    /// Calls `visit` with every end within the limit and the least distance of a part that ends
    /// there, in increasing order. The empty part at the start of the text counts. The costs of
    /// `text` define whether the pattern may hang over its ends, so that ends beyond it exist.
    fn search(
        &mut self,
        pattern: ExactPattern<'_>,
        text: SearchedText<'_>,
        limit: u32,
        equality: &Equality,
        mut visit: impl FnMut(u32, u32),
    ) {
        if pattern.rows.is_empty() {
            return self.active.search(pattern.codes, text, limit, equality, visit);
        }
        // Exact rows only increase distances. So an end within the limit is also within it without
        // them, and its part is in the window before it.
        let SearchedText { codes, costs } = text;
        let (n, reach) = (codes.len() as u32, (pattern.codes.len() as u32).saturating_add(limit));
        let mut windows: Vec<Range<u32>> = Vec::new();
        self.active.search(pattern.codes, text, limit, equality, |end, _| {
            let (start, end) = (end.saturating_sub(reach), end.min(n));
            match windows.last_mut() {
                Some(last) if start <= last.end => last.end = end,
                _ => windows.push(start..end),
            }
        });
        for window in windows {
            let codes = &codes[window.start as usize..window.end as usize];
            let costs = OverhangCosts {
                start: costs.start.filter(|_| window.start == 0),
                end: costs.end.filter(|_| window.end == n),
            };
            let part = SearchedText { codes, costs };
            self.exact.search(pattern, part, PartStart::Any, limit, equality, |end, distance| {
                visit(window.start + end, distance);
            });
        }
    }
}

/// The current column of a sweep, up to the last word that can have a row within the limit (Ukkonen
/// 1985, Myers 1999).
#[derive(Debug, Default)]
struct ActiveColumns {
    /// For each code, the rows that match it.
    matches: Vec<u64>,
    words: Vec<ActiveWord>,
}

/// Rows of the current column.
#[derive(Debug, Clone, Copy)]
struct ActiveWord {
    /// Rows whose distance is one more, and one less than in the row before.
    plus: u64,
    minus: u64,
    /// Distance in the last row.
    distance: u32,
}

impl ActiveColumns {
    /// Calls `visit` like [`PlaceColumns::search`].
    fn search(
        &mut self,
        pattern: &[Code],
        text: SearchedText<'_>,
        limit: u32,
        equality: &Equality,
        mut visit: impl FnMut(u32, u32),
    ) {
        let SearchedText { codes: text, costs } = text;
        let m = pattern.len();
        if m == 0 {
            (0..=text.len() as u32).for_each(|end| visit(end, 0));
            return;
        }
        let first = costs.start.map_or(m as u32, |cost| cost.symbols(m as u32));
        if first <= limit {
            visit(0, first);
        }
        let words = m.div_ceil(ROWS);
        self.set_matches(pattern, equality, words);
        let rows = |word: usize| ROWS.min(m - word * ROWS);
        self.words.clear();
        for word in 0..words {
            let above = self.words.last().map_or(0, |word| word.distance);
            self.words.push(match costs.start {
                None => ActiveWord::first(above, rows(word)),
                Some(cost) => ActiveWord::hanging(cost, word * ROWS, rows(word)),
            });
            if above > limit {
                break;
            }
        }
        for (end, &code) in (1..).zip(text) {
            let matches = &self.matches[code as usize * words..][..words];
            let active = self.words.len();
            let before = self.words[active - 1].distance;
            let (mut up, mut down) = (0, 0);
            for (index, word) in self.words.iter_mut().enumerate() {
                (up, down) = word.advance(matches[index], up, down, rows(index));
            }
            let last = self.words[active - 1].distance;
            if active < words && before.min(last) <= limit {
                // The word was above the limit. In the column before, its rows increase steadily
                // from the last row of the word before it, so no distance is too small.
                let mut next = ActiveWord::first(before, rows(active));
                next.advance(matches[active], up, down, rows(active));
                self.words.push(next);
            } else {
                while let [.., _, word] = self.words[..]
                    && word.distance >= limit.saturating_add(rows(self.words.len() - 1) as u32)
                {
                    self.words.pop();
                }
            }
            if self.words.len() == words {
                let distance = self.words[words - 1].distance;
                if distance <= limit {
                    visit(end, distance);
                }
            }
        }
        if let Some(cost) = costs.end {
            self.hang_over(m, cost, limit, |symbols, distance| visit(text.len() as u32 + symbols, distance));
        }
    }

    /// Calls `visit` with each number of last symbols that hang over the end of the text within the
    /// limit, and the distance.
    fn hang_over(&self, m: usize, cost: OverhangCost, limit: u32, mut visit: impl FnMut(u32, u32)) {
        // The rows of other words are above the limit.
        let mut row = m.min(self.words.len() * ROWS);
        let mut distance = self.words.last().map_or(0, |word| word.distance);
        let most = cost.max_after(m as u32, limit) as usize;
        while m - row <= most {
            let symbols = (m - row) as u32;
            let total = distance.saturating_add(cost.symbols(symbols));
            if symbols > 0 && total <= limit {
                visit(symbols, total);
            }
            let Some(above) = row.checked_sub(1) else { return };
            let ActiveWord { plus, minus, .. } = self.words[above / ROWS];
            distance = distance + (minus >> (above % ROWS) & 1) as u32 - (plus >> (above % ROWS) & 1) as u32;
            row = above;
        }
    }

    fn set_matches(&mut self, pattern: &[Code], equality: &Equality, words: usize) {
        let codes = equality.alphabet().size();
        self.matches.clear();
        self.matches.resize(codes * words, 0);
        let mut is_done = [false; 256];
        for &code in pattern {
            if std::mem::replace(&mut is_done[code as usize], true) {
                continue;
            }
            for symbol in (1..codes).filter(|&symbol| equality.is_match(code, symbol as Code)) {
                let matches = &mut self.matches[symbol * words..][..words];
                for (row, _) in pattern.iter().enumerate().filter(|(_, other)| **other == code) {
                    matches[row / ROWS] |= 1 << (row % ROWS);
                }
            }
        }
    }
}

impl ActiveWord {
    /// Returns rows that increase steadily from the distance above.
    fn first(above: u32, rows: usize) -> ActiveWord {
        ActiveWord { plus: u64::MAX, minus: 0, distance: above.saturating_add(rows as u32) }
    }

    /// Returns the rows from `first` on before a text, if they hang over its start.
    fn hanging(cost: OverhangCost, first: usize, rows: usize) -> ActiveWord {
        let distance = |row: usize| cost.symbols((first + row) as u32);
        let plus = (0..rows).filter(|&row| distance(row + 1) > distance(row)).fold(0, |plus, row| plus | 1 << row);
        ActiveWord { plus, minus: 0, distance: distance(rows) }
    }

    /// Advances the word by one column. `up` and `down` are 1 if the row before its first row
    /// increases or decreases. Returns the same for the last of its `rows` rows.
    #[inline(always)]
    fn advance(&mut self, matches: u64, up: u64, down: u64, rows: usize) -> (u64, u64) {
        let ActiveWord { plus, minus, .. } = *self;
        let zero = matches | minus | down;
        let diagonal = ((zero & plus).wrapping_add(plus) ^ plus) | zero;
        let (ups, downs) = (minus | !(diagonal | plus), diagonal & plus);
        let (ups_before, downs_before) = (ups << 1 | up, downs << 1 | down);
        self.plus = downs_before | !(diagonal | ups_before);
        self.minus = ups_before & diagonal;
        let (up, down) = (ups >> (rows - 1) & 1, downs >> (rows - 1) & 1);
        self.distance = self.distance + up as u32 - down as u32;
        (up, down)
    }
}

#[cfg(test)]
mod tests;
