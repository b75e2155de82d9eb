//! A strand of a pair, and the parts of its matrix that further alignments avoid.

use std::ops::Range;
use std::sync::Arc;

use super::bound::KmerAnchor;
use super::circular::{CircleOpening, MatrixFrame};
use super::parts::MatrixSweep;
use super::{LongHit, Strand};
use crate::alignment::ForbiddenRectangle;
use crate::long::LongPair;
use crate::long::chain::grid::MatrixSize;

/// A strand of the pair.
pub(super) struct StrandMatrix {
    pub(super) strand: Strand,
    pub(super) pair: LongPair,
    pub(super) frame: MatrixFrame,
    pub(super) forbidden: Vec<ForbiddenRectangle>,
    /// Number of alignments so far.
    pub(super) found: usize,
    pub(super) pass: Option<MatrixSweep>,
    /// A lower bound of the best score of the strand; 0 if unknown.
    pub(super) bound: i32,
    /// Points of a path with this score, in order. A traceback is likely to visit them.
    pub(super) expected_path: Arc<[KmerAnchor]>,
    /// Parts that no alignment of the best score passes through. They are skipped.
    pub(super) empty: Vec<ForbiddenRectangle>,
    /// Number of strands of the job that have been opened so far.
    pub(super) openings: usize,
}

impl StrandMatrix {
    /// Returns the name of the current sweep of the strand in a checkpoint.
    pub(super) fn name(&self) -> String {
        let strand = match self.strand {
            Strand::Plus => "plus",
            Strand::Minus => "minus",
        };
        // After an opening, every strand is swept again with another bound.
        let opened = if self.openings > 0 { format!("-opened-{}", self.openings) } else { String::new() };
        format!("{strand}-{}{opened}", self.found)
    }

    /// Forbids the rectangle of an alignment for further alignments.
    pub(super) fn exclude(&mut self, hit: &LongHit) {
        let (Some(query), Some(target)) = (&hit.query, &hit.target) else { return };
        let rectangles = self.frame.rectangles(query, target, self.strand);
        self.pass.iter_mut().for_each(|pass| pass.forbid(&rectangles));
        self.forbidden.extend(rectangles);
        self.found += 1;
    }

    /// Opens the circular sequences. `hits` are the alignments so far.
    pub(super) fn open(&mut self, opening: CircleOpening, hits: &[LongHit]) {
        self.pair = self.frame.open(&self.pair, opening);
        self.bound = opening.score.min(i32::MAX.into()) as i32;
        self.expected_path = Arc::default();
        (self.forbidden, self.found) = (Vec::new(), 0);
        let strand = self.strand;
        hits.iter().filter(|hit| hit.strand == strand).for_each(|hit| self.exclude(hit));
        self.pass = None;
    }

    /// Returns the number of rows and columns between empty parts.
    pub(super) fn size_left(&self) -> MatrixSize {
        let (m, n) = (self.pair.query.len() as u32, self.pair.target.len() as u32);
        let columns = self.empty.iter().filter(|part| part.query == (0..m)).map(|part| part.target.len() as u32);
        let rows = self.empty.iter().filter(|part| part.query != (0..m)).map(|part| part.query.len() as u32);
        MatrixSize { rows: m - rows.sum::<u32>(), columns: n - columns.sum::<u32>() }
    }

    /// Returns the number of cells in empty parts.
    pub(super) fn empty_cells(&self) -> u64 {
        let size = |range: &Range<u32>| u64::from(range.end - range.start);
        self.empty.iter().map(|part| size(&part.query) * size(&part.target)).sum()
    }
}
