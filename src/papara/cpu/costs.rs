//! The representation of cells, and the range of their values.
//!
//! Let S be the score of a cell as in the oracle, j its symbol and i its site. The cell is stored
//! as
//!
//! ```text
//! S'(i,j) = S(i,j) + j * insertion.next + (deletion.next for each of the first i sites that is not free)
//! ```
//!
//! A gap then has a cost only where it opens:
//!
//! ```text
//! inserted(i,j) = max(S'(i,j-1) - insertion opening, inserted(i,j-1))
//! deleted(i,j)  = max(S'(i-1,j) - (deletion opening, or 0 where the site is free), deleted(i-1,j))
//! S'(i,j)       = max(S'(i-1,j-1) + score of the symbol at the site, inserted(i,j), deleted(i,j))
//! ```
//!
//! The score of a symbol at a site is the sum of:
//! - `matching` or `mismatch`,
//! - minus `gap_site` where the site is penalised,
//! - `insertion.next` for the step from j-1 to j,
//! - `deletion.next` for the step from i-1 to i, where the site is not free.
//!
//! Range: going from cell (i,j) to (i,j+J) by inserting J symbols loses at most one insertion
//! opening. Take the best path to (i,j+J) and replace each of its last J symbols by a deletion of
//! its site. The result is a path to (i,j). Therefore these J symbols gain at most one deletion
//! opening plus `insertion.next + max(0, matching + deletion.next)` each. The bounds along sites
//! follow with the roles exchanged.

use crate::score::PhyloScheme;
use crate::score::difference::Element;
use crate::simd::array_of;

/// Maximum number of sites in a block.
pub(super) const MAX_SITES: usize = 32;
/// Minimum number of sites in a block. With fewer, wider elements are as fast.
const MIN_SITES: usize = 4;
/// Number of site kinds. Bit 0 marks a penalised site and bit 1 a free site.
pub(super) const KINDS: usize = 4;

/// The costs of a scheme.
#[derive(Debug, Clone)]
pub(super) struct CellCosts {
    matching: i64,
    mismatch: i64,
    gap_site: i64,
    /// Opening of an insertion.
    pub opening: i64,
    /// Cost of each symbol of an insertion.
    pub symbol: i64,
    /// Opening of a deletion.
    pub site_opening: i64,
    /// Cost of each site of a deletion.
    pub site: i64,
    /// Whether overhanging ends of the read are free.
    pub is_free: bool,
}

/// Lane values by site kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct SiteKindScores<E> {
    /// Score of a symbol that the site's set contains.
    pub matching: [E; KINDS],
    /// Score of a symbol that the site's set does not contain.
    pub mismatch: [E; KINDS],
    /// Score of a padding symbol before the first symbol. It keeps the score of all padding cells
    /// at 0, like that of the cells before the first symbol.
    pub padding: [E; KINDS],
    /// Cost of opening a deletion at the site.
    pub opening: [E; KINDS],
    /// Increase of cells from the previous site to this one.
    pub site: [E; KINDS],
}

impl CellCosts {
    pub(super) fn new(scheme: &PhyloScheme) -> Self {
        CellCosts {
            matching: scheme.matching.into(),
            mismatch: scheme.mismatch.into(),
            gap_site: scheme.gap_site.into(),
            opening: scheme.insertion.opening().into(),
            symbol: scheme.insertion.next.into(),
            site_opening: scheme.deletion.opening().into(),
            site: scheme.deletion.next.into(),
            is_free: scheme.free_read_ends,
        }
    }

    /// Returns the score of `symbols` symbols before the first site.
    pub(super) fn leading_score(&self, symbols: usize) -> i64 {
        if self.is_free || symbols == 0 { 0 } else { -(self.opening + symbols as i64 * self.symbol) }
    }

    /// Returns the maximum number of sites in a block such that the cells of a stripe and all their
    /// inputs fit in an element. Returns `None` if the number is too small to be worthwhile.
    pub(super) fn sites<E: Element>(&self, stripe: usize) -> Option<usize> {
        let fits = |sites: &usize| self.span(stripe, *sites) <= E::MAX - E::MIN;
        (MIN_SITES..=MAX_SITES).rev().find(fits)
    }

    /// Returns an upper bound on the difference between the largest and the smallest value of a
    /// stripe in a block.
    fn span(&self, stripe: usize, sites: usize) -> i64 {
        let along_sites = sites as i64 * (self.site + (self.matching + self.symbol).max(0)) + self.opening;
        let along_symbols = stripe as i64 * (self.symbol + (self.matching + self.site).max(0)) + self.site_opening;
        along_sites + along_symbols + 2 * self.openings()
    }

    /// Returns the maximum decrease from a cell to the next cell on its diagonal.
    fn openings(&self) -> i64 {
        self.opening + self.site_opening
    }

    /// Returns the stored value of the cell before a stripe and a block. Cells of the stripe are
    /// smaller by at most both openings, and their inputs by at most both openings again.
    pub(super) fn origin<E: Element>(&self) -> i64 {
        E::MIN + 2 * self.openings()
    }

    /// Returns the stored value of a score. The scores after the next sites of a block are stored
    /// relative to it.
    pub(super) fn score_origin<E: Element>(&self, sites: usize) -> i64 {
        E::MIN + self.site_opening + sites as i64 * self.site
    }

    /// Returns the lane values of all site kinds. Values outside the element range wrap, but sums
    /// are correct because they are within the range.
    pub(super) fn kinds<E: Element>(&self) -> SiteKindScores<E> {
        let by_kind = |number: fn(&CellCosts, bool, bool) -> i64| {
            array_of(|kind| E::from_number(number(self, kind & 1 != 0, kind & 2 != 0)))
        };
        SiteKindScores {
            matching: by_kind(|costs, is_penalised, is_free| costs.aligned(costs.matching, is_penalised, is_free)),
            mismatch: by_kind(|costs, is_penalised, is_free| costs.aligned(costs.mismatch, is_penalised, is_free)),
            padding: by_kind(|costs, _, is_free| costs.symbol + costs.site_cost(is_free)),
            opening: by_kind(|costs, _, is_free| if is_free { 0 } else { costs.site_opening }),
            site: by_kind(|costs, _, is_free| costs.site_cost(is_free)),
        }
    }

    fn site_cost(&self, is_free: bool) -> i64 {
        if is_free { 0 } else { self.site }
    }

    /// Returns the stored score of a symbol at a site of a kind. A lower limit is safe, because an
    /// insertion next to a deletion never costs more than both openings.
    fn aligned(&self, score: i64, is_penalised: bool, is_free: bool) -> i64 {
        let penalty = if is_penalised { self.gap_site } else { 0 };
        (score - penalty + self.symbol + self.site_cost(is_free)).max(-self.openings())
    }
}
