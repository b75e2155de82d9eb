//! Blocks of edit distances, by patterns or by candidates in their given order.

use std::ops::Range;

use super::finish::keep_least;
use super::{EditAlignment, EditDistances, EditResult};
use crate::edit::overhang::Overhang;
use crate::edit::plan::Against;
use crate::edit::{Candidate, Region};
use crate::error::Result;
use crate::jobs::Job;
use crate::jobs::blocks::bytes::{push, push_cigar, take_byte, take_cigar, take_u32};
use crate::jobs::blocks::cut::{ComparisonGrid, cut, saturating_u64};
use crate::jobs::blocks::{Block, Divisible};
use crate::jobs::engines::CARD_DISTANCES;
use crate::score::{EditDistance, IdentityDefinition};
use crate::seq::part::Extents;
use crate::seq::{QueryStrands, Strand};

/// Flag in the first byte of a row: the strand is minus.
const MINUS: u8 = 1;
/// Flag: there is an alignment.
const ALIGNED: u8 = 2;
/// Flag: symbols of the pattern hang over an end of the text.
const HANGING: u8 = 4;

impl EditDistances {
    /// Returns the smallest ranges of candidates that contain all candidates of each pattern in
    /// them, because `max_hits` selects among these. Without `max_hits`, every candidate is its own
    /// range. If a range is in several blocks, the selection is repeated when rows are joined.
    fn groups(&self, candidates: &[Candidate]) -> Vec<Range<u32>> {
        let all = 0..candidates.len() as u32;
        if self.max_hits.is_none() {
            return all.map(|index| index..index + 1).collect();
        }
        let mut last = vec![0; self.patterns.len()];
        (0..).zip(candidates).for_each(|(index, candidate)| last[candidate.pattern as usize] = index);
        let (mut groups, mut start, mut reach) = (Vec::new(), 0, 0);
        for (index, candidate) in (0..).zip(candidates) {
            reach = last[candidate.pattern as usize].max(reach);
            if index == reach {
                groups.push(start..index + 1);
                start = index + 1;
            }
        }
        groups
    }

    fn cut_candidates(&self, candidates: &[Candidate], cells: u64) -> Vec<Block> {
        let groups = self.groups(candidates);
        let copies = u64::from(self.strands().copies());
        let size_of = |range: &Range<u32>| {
            let group = &candidates[range.start as usize..range.end as usize];
            let cells =
                |one: &Candidate| u128::from(self.patterns.length(one.pattern)) * u128::from(one.region.symbols());
            (group.len() as u64 * copies, group.iter().map(cells).sum::<u128>() * u128::from(copies))
        };
        let size = |group: u64| size_of(&groups[group as usize]);
        let split = |group: u64, pieces: u64| {
            let all = groups[group as usize].clone();
            let most = saturating_u64(size(group).1 / u128::from(pieces) + 1);
            let size_of_one = |candidate: u64| {
                let one = all.start + candidate as u32;
                size_of(&(one..one + 1))
            };
            // A single candidate is never cut, even if it is too large for a block.
            let single = |candidate: u64, _: u64| {
                let (pairs, cells) = size_of_one(candidate);
                vec![Block { units: candidate..candidate + 1, targets: None, pairs, cells: saturating_u64(cells) }]
            };
            let parts = cut(all.len() as u64, most, size_of_one, single);
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
                // The first candidate represents a group that is in several blocks.
                Some(_) => start..start + 1,
                None => start..u64::from(groups[block.units.end as usize - 1].end),
            }
        };
        blocks.into_iter().map(|block| Block { units: units(&block), ..block }).collect()
    }
}

impl Divisible for EditDistances {
    const CARD_SPEED: f64 = CARD_DISTANCES;

    /// Cuts patterns, or candidates if these are given. With a maximum number of hits, all
    /// candidates of a pattern stay together or form parts of one unit.
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        self.validate()?;
        if let Against::Candidates(_, candidates) = &self.against {
            return Ok(self.cut_candidates(candidates, cells));
        }
        let (texts, later) = (self.texts(), matches!(self.against, Against::Later));
        let extents = Extents::new(&self.patterns, texts, QueryStrands::default(), later);
        let grid = ComparisonGrid { extents, copies: self.strands().copies(), targets: texts.lengths(), later };
        Ok(grid.cut(self.patterns.len(), cells))
    }

    fn targets(&self) -> u32 {
        match &self.against {
            Against::Candidates(_, candidates) => candidates.len() as u32,
            Against::Later | Against::Texts(_) | Against::Tiles(..) => self.texts().len() as u32,
        }
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        let copies = u64::from(self.strands().copies());
        let is_selected = block.targets.is_none() && !matches!(self.against, Against::Candidates(..));
        let most = self.max_hits.filter(|_| is_selected).unwrap_or(usize::MAX) as u64;
        let rows = (block.pairs / copies).min((block.units.end - block.units.start).saturating_mul(most));
        rows.saturating_mul(14 + if self.aligns() { 4 + block.mean_length() / 5 } else { 0 })
    }

    fn encode(row: &EditResult, bytes: &mut Vec<u8>) {
        let EditResult { pattern, region: Region { text, start, end }, strand, .. } = *row;
        let minus = if strand == Strand::Minus { MINUS } else { 0 };
        let hanging = if row.overhang == Overhang::default() { 0 } else { HANGING };
        bytes.push(minus | hanging | if row.alignment.is_some() { ALIGNED } else { 0 });
        [pattern, text, start, end, row.distance, row.end].iter().for_each(|&number| push(bytes, number.into()));
        if hanging != 0 {
            [row.overhang.before, row.overhang.after].iter().for_each(|&symbols| push(bytes, symbols.into()));
        }
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
        if flags & !(MINUS | ALIGNED | HANGING) != 0 {
            return None;
        }
        let strand = if flags & MINUS != 0 { Strand::Minus } else { Strand::Plus };
        let mut numbers = [0; 6];
        for number in &mut numbers {
            *number = take_u32(bytes)?;
        }
        let [pattern, text, start, end, distance, best] = numbers;
        let overhang = match flags & HANGING {
            0 => Overhang::default(),
            _ => Overhang { before: take_u32(bytes)?, after: take_u32(bytes)? },
        };
        let mut ends = Vec::new();
        for _ in 0..take_u32(bytes)? {
            ends.push((take_u32(bytes)?, take_u32(bytes)?));
        }
        let mut alignment = None;
        if flags & ALIGNED != 0 {
            let (start, cigar) = (take_u32(bytes)?, take_cigar(bytes)?);
            let counts = cigar.counts();
            // This definition depends on columns only, not on the lengths.
            let identity = IdentityDefinition::Columns.identity(&counts, 0, 0);
            alignment = Some(EditAlignment { start, cigar, counts, identity });
        }
        let region = Region { text, start, end };
        Some(EditResult { pattern, region, strand, distance, end: best, overhang, alignment, ends })
    }

    fn join(&self, rows: &mut Vec<EditResult>) {
        let Some(most) = self.max_hits else { return };
        let mut distances: Vec<EditDistance> =
            rows.iter().map(|row| EditDistance { distance: row.distance, end: row.end }).collect();
        // Candidates of several patterns may be mixed.
        let pattern = |row: u32| rows[row as usize].pattern;
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&row| pattern(row));
        for group in order.chunk_by(|&one, &other| pattern(one) == pattern(other)) {
            keep_least(&mut distances, most, group.iter().copied());
        }
        let mut kept = distances.iter();
        rows.retain(|_| kept.next().is_some_and(|one| one.is_some()));
    }
}
