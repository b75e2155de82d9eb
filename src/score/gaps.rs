//! Gap costs in one convention, with converters from the conventions of other programs.

/// Costs of a gap, as non-negative numbers that are subtracted. A gap of length k costs
/// `first + (k - 1) * next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Gaps {
    /// Cost of the first symbol; at least `next`.
    pub first: i32,
    /// Cost of each further symbol; at least 0.
    pub next: i32,
}

impl Gaps {
    /// Creates linear costs: a gap of k symbols costs `k * cost` (Needleman and Wunsch; Truong et
    /// al. 2014, equation 1).
    pub const fn linear(cost: i32) -> Self {
        Gaps { first: cost, next: cost }
    }

    /// Converts from BLAST's convention: a gap of k symbols costs `open + k * extend`. Sums beyond
    /// 32 bits saturate, and no scheme accepts them.
    pub const fn from_blast(open: i32, extend: i32) -> Self {
        Gaps { first: open.saturating_add(extend), next: extend }
    }

    /// Converts from the convention of EMBOSS, parasail and vsearch. A gap of k symbols costs
    /// `open + (k - 1) * extend`.
    pub const fn from_emboss(open: i32, extend: i32) -> Self {
        Gaps { first: open, next: extend }
    }

    /// Returns the cost of opening a gap, in addition to `next` for every symbol: `first - next`.
    pub const fn opening(self) -> i32 {
        self.first - self.next
    }

    /// Returns whether every symbol of a gap costs the same.
    pub const fn is_linear(self) -> bool {
        self.first == self.next
    }

    /// Returns the cost of a gap of `length` symbols, which is 0 for none.
    pub const fn cost(self, length: u64) -> i64 {
        if length == 0 { 0 } else { self.first as i64 + (length as i64 - 1) * self.next as i64 }
    }
}

/// Costs of end gaps. These are the first and the last run of an alignment, if they are gaps, at
/// both ends of both sequences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EndGaps {
    /// Costs of inner gaps: a global alignment as defined by Needleman and Wunsch.
    #[default]
    Charged,
    /// No costs (EMBOSS needle's default; "overlap" alignment).
    Free,
    /// Separate costs (vsearch's default). Neither `first` nor `next` exceeds that of inner gaps.
    /// Otherwise, splitting an end gap or aligning a symbol beyond it would improve the score.
    Priced(Gaps),
}

impl EndGaps {
    /// Returns the costs of end gaps if inner gaps cost `inner`.
    pub const fn costs(self, inner: Gaps) -> Gaps {
        match self {
            EndGaps::Charged => inner,
            EndGaps::Free => Gaps { first: 0, next: 0 },
            EndGaps::Priced(costs) => costs,
        }
    }
}

/// The parts of two sequences that an alignment covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Both sequences from end to end. [`EndGaps`] defines the costs of end gaps.
    #[default]
    Global,
    /// The two parts with the highest score, or none if no score exceeds 0 (Smith and Waterman
    /// 1981). There are no end gaps, so [`EndGaps`] has no effect.
    Local,
}
