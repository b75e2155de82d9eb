//! Structures that kernels and host share, as declared in `shaders/common/clustal.wgsl`.

use crate::clustal::PairIdentities;

/// Parameters of a dispatch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ClustalParams {
    /// First task, or first pair in passes that assign pairs.
    pub task_begin: u32,
    /// End (exclusive) of the tasks or pairs.
    pub task_end: u32,
    /// Number of workgroups.
    pub groups: u32,
    /// First slice.
    pub slice_begin: u32,
    /// End (exclusive) of the slices.
    pub slice_end: u32,
    /// Number of scratch entries: the rows of an invocation, or the columns of a border plus one.
    pub entries: u32,
    /// Cost of each symbol in a gap.
    pub extension: i32,
    /// Padding.
    pub reserved: u32,
}

/// Pairs of one query that a workgroup computes at once.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ClustalTask {
    /// Index of the first pair.
    pub first: u32,
    /// Number of pairs.
    pub count: u32,
}

/// One pair of sequences.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ClustalPair {
    /// Offset of the first query symbol.
    pub query: u32,
    /// Number of query symbols.
    pub query_symbols: u32,
    /// Offset of the first target symbol.
    pub target_begin: u32,
    /// Number of target symbols.
    pub target_symbols: u32,
    /// Cost of opening a gap, in addition to the extension of all its symbols.
    pub opening: i32,
    /// 1 if the target precedes the query in the input, else 0. Among equal cells, 1 selects the
    /// first in row order and 0 the first in column order.
    pub by_rows: u32,
}

/// The result of one pair. Rows index target symbols and columns index query symbols, from 0.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ClustalPairResult {
    /// Highest local score. If it is 0, the other fields are meaningless.
    pub score: i32,
    /// Row of the end.
    pub end_row: u32,
    /// Column of the end.
    pub end_column: u32,
    /// Number of rows from the end back to the start.
    pub rows_back: u32,
    /// Number of columns from the last column of the query back to the start.
    pub columns_back: u32,
    /// Number of identities in ClustalW's alignment between start and end.
    pub identities: u32,
    /// Padding.
    pub reserved0: u32,
    /// Padding.
    pub reserved1: u32,
}

impl ClustalPairResult {
    /// Converts the result to positions in both sequences, in input order.
    pub fn identities(&self, pair: &ClustalPair) -> PairIdentities {
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
