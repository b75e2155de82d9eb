//! Structures that the kernels and the host share, as `shaders/common/clustal.wgsl` declares them.

use crate::clustal::PairIdentities;

/// The parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// First task, or pair.
    pub task_begin: u32,
    /// Task, or pair, after the last.
    pub task_end: u32,
    /// Workgroups.
    pub groups: u32,
    /// First slice.
    pub slice_begin: u32,
    /// Slice after the last.
    pub slice_end: u32,
    /// Entries of the scratch memory: rows of an invocation, or columns of a border and one.
    pub entries: u32,
    /// What every symbol of a gap costs.
    pub extension: i32,
    /// Nothing.
    pub reserved: u32,
}

/// Pairs of one query that a workgroup does at once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Task {
    /// The first pair.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// A pair.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Pair {
    /// First symbol of the query.
    pub query: u32,
    /// Its symbols.
    pub query_symbols: u32,
    /// First symbol of the target.
    pub target_begin: u32,
    /// Its symbols.
    pub target_symbols: u32,
    /// What a gap costs beside the extension of all its symbols.
    pub opening: i32,
    /// Whether the target comes first, so that of equal cells the first by rows counts.
    pub by_rows: u32,
}

/// What is found of a pair. Rows are symbols of the target, columns those of the query, from 0 on.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Found {
    /// The greatest score; 0 if there is none, and then the rest has no meaning.
    pub score: i32,
    /// Row of the end.
    pub end_row: u32,
    /// Column of the end.
    pub end_column: u32,
    /// Rows from there to the start.
    pub rows_back: u32,
    /// Columns from the query's last one to the start.
    pub columns_back: u32,
    /// Identities of the alignment that ClustalW chooses between the two.
    pub identities: u32,
    /// Nothing.
    pub reserved0: u32,
    /// Nothing.
    pub reserved1: u32,
}

impl Found {
    /// What it says of a pair.
    pub fn identities(&self, pair: &Pair) -> PairIdentities {
        if self.score <= 0 {
            return PairIdentities::default();
        }
        let (row, column) = (self.end_row, self.end_column);
        let starts =
            [row.wrapping_sub(self.rows_back), pair.query_symbols.wrapping_sub(self.columns_back.wrapping_add(1))];
        let of_first = |[target, query]: [u32; 2]| if pair.by_rows != 0 { [target, query] } else { [query, target] };
        PairIdentities {
            identities: self.identities,
            start: of_first(starts),
            end: of_first([row.wrapping_add(1), column.wrapping_add(1)]),
        }
    }
}
