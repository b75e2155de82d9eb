//! Common columns for two groups of aligned sequences.

/// The common columns of two groups that are joined into one alignment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JoinedColumns {
    /// For each group, the new column of each of its columns, in increasing order.
    pub maps: [Vec<u32>; 2],
    /// Number of common columns.
    pub columns: usize,
}

impl JoinedColumns {
    /// Joins the columns in `pairs`, which increase in both groups. All other columns are aligned
    /// with gaps. Between two pairs, those of the first group come first. `columns` contains the
    /// number of columns of each group.
    pub(crate) fn of_pairs(columns: [usize; 2], pairs: &[(u32, u32)]) -> Self {
        let mut joined = JoinedColumns { maps: columns.map(Vec::with_capacity), columns: 0 };
        for &(first, second) in pairs {
            joined.fill_up([first, second]);
            joined.add_both(1);
        }
        joined.fill_up(columns.map(|columns| columns as u32));
        joined
    }

    /// Adds columns that are aligned with gaps, until the groups have at least `first` and `second`
    /// columns.
    fn fill_up(&mut self, [first, second]: [u32; 2]) {
        self.add_first(first.saturating_sub(self.maps[0].len() as u32));
        self.add_second(second.saturating_sub(self.maps[1].len() as u32));
    }

    /// Adds columns of both groups.
    pub(crate) fn add_both(&mut self, count: u32) {
        let start = self.columns as u32;
        self.maps.iter_mut().for_each(|map| map.extend(start..start + count));
        self.columns += count as usize;
    }

    /// Adds columns of the first group, aligned with gaps in the second.
    pub(crate) fn add_first(&mut self, count: u32) {
        self.add_to(0, count);
    }

    /// Adds columns of the second group, aligned with gaps in the first.
    pub(crate) fn add_second(&mut self, count: u32) {
        self.add_to(1, count);
    }

    fn add_to(&mut self, group: usize, count: u32) {
        let start = self.columns as u32;
        self.maps[group].extend(start..start + count);
        self.columns += count as usize;
    }
}

/// Returns the columns of a row's residues after mapping them by `map`.
pub(crate) fn map_columns(places: &[u32], map: &[u32]) -> Vec<u32> {
    places.iter().map(|&column| map[column as usize]).collect()
}

/// Maps the columns of a row's residues by `map`, in place.
pub(crate) fn move_places(places: &mut [u32], map: &[u32]) {
    places.iter_mut().for_each(|column| *column = map[*column as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpaired_columns_are_aligned_with_gaps() {
        let joined = JoinedColumns::of_pairs([3, 4], &[(0, 1), (2, 2)]);
        assert_eq!(joined, JoinedColumns { maps: [vec![1, 2, 3], vec![0, 1, 3, 4]], columns: 5 });
        assert_eq!(map_columns(&[0, 2], &joined.maps[0]), [1, 3]);
        let mut places = [1, 3];
        move_places(&mut places, &joined.maps[1]);
        assert_eq!(places, [1, 4]);
        assert_eq!(JoinedColumns::of_pairs([2, 0], &[]), JoinedColumns { maps: [vec![0, 1], vec![]], columns: 2 });
    }

    #[test]
    fn columns_are_added_in_order() {
        let mut joined = JoinedColumns::default();
        joined.add_both(2);
        joined.add_second(1);
        joined.add_first(2);
        assert_eq!(joined, JoinedColumns { maps: [vec![0, 1, 3, 4], vec![0, 1, 2]], columns: 5 });
    }
}
