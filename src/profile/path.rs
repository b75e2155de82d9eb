//! Alignments of two profiles as sequences of columns.

use crate::alignment::join::JoinedColumns;

/// Consecutive columns of an alignment that come from the same profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnStep {
    /// Columns of both profiles.
    Both(u32),
    /// Columns of the first profile, against gaps.
    First(u32),
    /// Columns of the second profile, against gaps.
    Second(u32),
}

/// Pieces of an alignment in the order of columns, as the recursion produces them.
///
/// [`PathPieces::path`] merges them as ClustalW does: columns of the second profile move before
/// columns of the first profile that immediately precede them.
#[derive(Debug, Default)]
pub(super) struct PathPieces(Vec<ColumnStep>);

impl PathPieces {
    pub(super) fn push_match(&mut self) {
        self.0.push(ColumnStep::Both(1));
    }

    pub(super) fn push_first(&mut self, columns: usize) {
        self.0.push(ColumnStep::First(columns as u32));
    }

    pub(super) fn push_second(&mut self, columns: usize) {
        self.0.push(ColumnStep::Second(columns as u32));
    }

    /// Appends the pieces that follow.
    pub(super) fn append(&mut self, mut behind: PathPieces) {
        self.0.append(&mut behind.0);
    }

    /// Merges the pieces into a path.
    pub(super) fn path(self) -> Vec<ColumnStep> {
        let mut path: Vec<ColumnStep> = Vec::new();
        for piece in self.0 {
            match (path.last_mut(), piece) {
                (_, ColumnStep::First(0) | ColumnStep::Second(0)) => {}
                (Some(ColumnStep::First(last)), ColumnStep::First(more)) => *last += more,
                (Some(first @ ColumnStep::First(_)), ColumnStep::Second(_)) => {
                    let first = std::mem::replace(first, piece);
                    path.push(first);
                }
                _ => path.push(piece),
            }
        }
        path.dedup_by(|next, last| match (next, last) {
            (ColumnStep::Both(more), ColumnStep::Both(columns))
            | (ColumnStep::Second(more), ColumnStep::Second(columns)) => {
                *columns += *more;
                true
            }
            _ => false,
        });
        path
    }
}

/// Returns the columns of a path. Its maps give the column of the alignment for each column of the
/// first and of the second profile.
pub(super) fn join_columns(path: &[ColumnStep]) -> JoinedColumns {
    let mut joined = JoinedColumns::default();
    for &step in path {
        match step {
            ColumnStep::Both(count) => joined.add_both(count),
            ColumnStep::First(count) => joined.add_first(count),
            ColumnStep::Second(count) => joined.add_second(count),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_merged_with_second_columns_before_first() {
        let mut pieces = PathPieces::default();
        pieces.push_match();
        pieces.push_match();
        pieces.push_first(2);
        pieces.push_first(1);
        pieces.push_second(0);
        pieces.push_second(4);
        let mut behind = PathPieces::default();
        behind.push_second(1);
        behind.push_match();
        behind.push_second(2);
        behind.push_first(1);
        pieces.append(behind);
        let path = pieces.path();
        let expected = [
            ColumnStep::Both(2),
            ColumnStep::Second(5),
            ColumnStep::First(3),
            ColumnStep::Both(1),
            ColumnStep::Second(2),
            ColumnStep::First(1),
        ];
        let JoinedColumns { maps, columns } = join_columns(&path);
        assert_eq!((path.as_slice(), columns), (expected.as_slice(), 14));
        assert_eq!(maps, [vec![0, 1, 7, 8, 9, 10, 13], vec![0, 1, 2, 3, 4, 5, 6, 10, 11, 12]]);
    }
}
