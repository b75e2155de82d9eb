//! What cells are held as, and how far they can lie apart.
//!
//! With S the score of a cell (the oracle's), j its symbol and i its site, a cell is held as
//!
//! ```text
//! S'(i,j) = S(i,j) + j * insertion.next + (deletion.next for each of the first i sites that is not free)
//! ```
//!
//! A gap then pays when it opens, and nothing for its further symbols:
//!
//! ```text
//! inserted(i,j) = max(S'(i,j-1) - insertion opening, inserted(i,j-1))
//! deleted(i,j)  = max(S'(i-1,j) - (deletion opening, or 0 where the site is free), deleted(i-1,j))
//! S'(i,j)       = max(S'(i-1,j-1) + what the symbol scores here, inserted(i,j), deleted(i,j))
//! ```
//!
//! What a symbol scores is `matching` or `mismatch`, less `gap_site` where the site is penalised, and `insertion.next` and
//! (where the site is not free) `deletion.next` for the step from j-1 to j and from i-1 to i.
//!
//! How far apart: from a cell (i,j) to (i,j+J) inserting J symbols loses the opening of an insertion at most. The best
//! path to (i,j+J), with each of its last J symbols taken out and their sites deleted, is a path to (i,j): so all of them
//! gain at most the opening of a deletion, and `insertion.next + max(0, matching + deletion.next)` each. Sites likewise,
//! with the roles changed.

use crate::score::PhyloScheme;
use crate::score::difference::Element;

/// The most sites of a block.
pub(super) const MAX_SITES: usize = 32;
/// With fewer sites a block, wider elements are as fast.
const FEWEST_SITES: usize = 4;
/// What a site may be: 1 where it is penalised, and 2 where it is free.
pub(super) const KINDS: usize = 4;

/// A scheme's numbers.
#[derive(Debug, Clone)]
pub(super) struct Costs {
    matching: i64,
    mismatch: i64,
    gap_site: i64,
    /// Of an insertion.
    pub opening: i64,
    /// Of each of its symbols.
    pub symbol: i64,
    /// Opening of a deletion.
    pub site_opening: i64,
    /// Of each of its sites.
    pub site: i64,
    /// What hangs over of the read costs nothing.
    pub is_free: bool,
}

/// What lanes are set to by what a site is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds<E> {
    /// What a symbol scores that the site's set holds.
    pub matching: [E; KINDS],
    /// What one scores that it does not hold.
    pub mismatch: [E; KINDS],
    /// What one scores that fills the read up before its first symbol: its cells have the score 0, as the first column.
    pub padding: [E; KINDS],
    /// What a deletion pays that opens here.
    pub opening: [E; KINDS],
    /// What cells gain from the site before to this.
    pub site: [E; KINDS],
}

impl Costs {
    pub(super) fn new(scheme: &PhyloScheme) -> Self {
        Costs {
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

    /// What the read before the first site costs, so many symbols of it.
    pub(super) fn before(&self, symbols: usize) -> i64 {
        if self.is_free || symbols == 0 { 0 } else { -(self.opening + symbols as i64 * self.symbol) }
    }

    /// The most sites of a block of which the cells of a stripe of so many symbols, and all that they are made from, fit
    /// in an element; `None` if that is too few to be worth it.
    pub(super) fn sites<E: Element>(&self, stripe: usize) -> Option<usize> {
        let fits = |sites: &usize| self.span(stripe, *sites) <= E::MAX - E::MIN;
        (FEWEST_SITES..=MAX_SITES).rev().find(fits)
    }

    /// The greatest less the least number of a stripe in a block.
    fn span(&self, stripe: usize, sites: usize) -> i64 {
        let along_sites = sites as i64 * (self.site + (self.matching + self.symbol).max(0)) + self.opening;
        let along_symbols = stripe as i64 * (self.symbol + (self.matching + self.site).max(0)) + self.site_opening;
        along_sites + along_symbols + 2 * self.openings()
    }

    /// How much less than the first cell of a row the next cell down its diagonal is at most.
    fn openings(&self) -> i64 {
        self.opening + self.site_opening
    }

    /// What the cell before a stripe and a block is held as: those in there are less by both openings at most, and what
    /// they are made from by both once more.
    pub(super) fn origin<E: Element>(&self) -> i64 {
        E::MIN + 2 * self.openings()
    }

    /// What a score is held as from which those of a block's next sites are told apart, in the same column.
    pub(super) fn score_origin<E: Element>(&self, sites: usize) -> i64 {
        E::MIN + self.site_opening + sites as i64 * self.site
    }

    /// What lanes are set to. Numbers beyond an element wrap: sums come out right, for they are in its range.
    pub(super) fn kinds<E: Element>(&self) -> Kinds<E> {
        let of = |number: fn(&Costs, bool, bool) -> i64| {
            std::array::from_fn(|kind| E::from_number(number(self, kind & 1 != 0, kind & 2 != 0)))
        };
        Kinds {
            matching: of(|costs, is_penalised, is_free| costs.aligned(costs.matching, is_penalised, is_free)),
            mismatch: of(|costs, is_penalised, is_free| costs.aligned(costs.mismatch, is_penalised, is_free)),
            padding: of(|costs, _, is_free| costs.symbol + costs.gained(is_free)),
            opening: of(|costs, _, is_free| if is_free { 0 } else { costs.site_opening }),
            site: of(|costs, _, is_free| costs.gained(is_free)),
        }
    }

    fn gained(&self, is_free: bool) -> i64 {
        if is_free { 0 } else { self.site }
    }

    /// What a symbol scores. An insertion beside a deletion is never worse than both openings.
    fn aligned(&self, score: i64, is_penalised: bool, is_free: bool) -> i64 {
        let penalty = if is_penalised { self.gap_site } else { 0 };
        (score - penalty + self.symbol + self.gained(is_free)).max(-self.openings())
    }
}
