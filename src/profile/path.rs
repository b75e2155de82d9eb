//! How the columns of two profiles become columns of one.

use crate::alignment::join::JoinedColumns;

/// Columns in a row that come from the same side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A column of each profile, so many times.
    Both(u32),
    /// Columns of the first profile, against gaps.
    First(u32),
    /// Columns of the second.
    Second(u32),
}

/// What the recursion says, piece by piece, in the order of columns; a piece is joined with others as ClustalW's recursion does:
/// columns of the second profile go before those of the first that came just ahead of them.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<Step>);

impl Pieces {
    pub(super) fn both(&mut self) {
        self.0.push(Step::Both(1));
    }

    pub(super) fn first(&mut self, columns: usize) {
        self.0.push(Step::First(columns as u32));
    }

    pub(super) fn second(&mut self, columns: usize) {
        self.0.push(Step::Second(columns as u32));
    }

    /// Adds what comes behind.
    pub(super) fn append(&mut self, mut behind: Pieces) {
        self.0.append(&mut behind.0);
    }

    /// The path.
    pub(super) fn path(self) -> Vec<Step> {
        let mut path: Vec<Step> = Vec::new();
        for piece in self.0 {
            match (path.last_mut(), piece) {
                (_, Step::First(0) | Step::Second(0)) => {}
                (Some(Step::First(last)), Step::First(more)) => *last += more,
                (Some(first @ Step::First(_)), Step::Second(_)) => {
                    let first = std::mem::replace(first, piece);
                    path.push(first);
                }
                _ => path.push(piece),
            }
        }
        path.dedup_by(|next, last| match (next, last) {
            (Step::Both(more), Step::Both(columns)) | (Step::Second(more), Step::Second(columns)) => {
                *columns += *more;
                true
            }
            _ => false,
        });
        path
    }
}

/// Returns the columns of a path, and which of them the columns of its first and of its second
/// profile become.
pub(super) fn joined(path: &[Step]) -> JoinedColumns {
    let mut joined = JoinedColumns::default();
    for &step in path {
        match step {
            Step::Both(count) => joined.add_both(count),
            Step::First(count) => joined.add_first(count),
            Step::Second(count) => joined.add_second(count),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_columns_of_the_second_go_ahead() {
        let mut pieces = Pieces::default();
        pieces.both();
        pieces.both();
        pieces.first(2);
        pieces.first(1);
        pieces.second(0);
        pieces.second(4);
        let mut behind = Pieces::default();
        behind.second(1);
        behind.both();
        behind.second(2);
        behind.first(1);
        pieces.append(behind);
        let path = pieces.path();
        let expected = [Step::Both(2), Step::Second(5), Step::First(3), Step::Both(1), Step::Second(2), Step::First(1)];
        let JoinedColumns { maps, columns } = joined(&path);
        assert_eq!((path.as_slice(), columns), (expected.as_slice(), 14));
        assert_eq!(maps, [vec![0, 1, 7, 8, 9, 10, 13], vec![0, 1, 2, 3, 4, 5, 6, 10, 11, 12]]);
    }
}
