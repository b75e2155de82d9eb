//! The five identities of vsearch's `--iddef`.

/// Columns of an alignment, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct AlignmentCounts {
    /// Columns of two matching symbols.
    pub matches: u64,
    /// Columns of two symbols that do not match.
    pub mismatches: u64,
    /// Columns with a gap, end gaps included.
    pub gap_columns: u64,
    /// Runs of one kind of gap, end gaps included.
    pub gap_openings: u64,
    /// Gap columns of the first run and the last run of the alignment, where these are gaps.
    pub end_gap_columns: u64,
}

/// A definition of identity, numbered as vsearch numbers them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum IdentityDefinition {
    /// 0: matches / length of the shorter sequence (CD-HIT).
    Shorter,
    /// 1: matches / alignment columns.
    Columns,
    /// 2: matches / alignment columns without end gaps (the default, as in vsearch).
    #[default]
    InnerColumns,
    /// 3: 1 - (mismatches + gap openings) / length of the longer sequence (Marine Biological Lab).
    Mbl,
    /// 4: as BLAST; the same as 1 in a global alignment.
    Blast,
}
