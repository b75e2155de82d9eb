//! CIGAR strings: runs of alignment columns.

/// Kinds of columns, as in SAM with the query as the read and the target as the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`: two symbols that match.
    Match,
    /// `X`: two symbols that do not.
    Mismatch,
    /// `I`: a query symbol against a gap.
    Insertion,
    /// `D`: a target symbol against a gap.
    Deletion,
}

/// Runs of columns from the first to the last; neighbouring runs differ in kind, and no run is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cigar {
    runs: Vec<(u32, Op)>,
}
