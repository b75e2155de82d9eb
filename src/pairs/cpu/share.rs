//! Decides which targets of a query share the lanes of a vector, and which are computed alone.

use crate::seq::Code;
use crate::simd::InstructionSet;

/// Contents of a vector's lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LaneForm {
    /// The form that is expected to be faster.
    #[default]
    Cheaper,
    /// One target per lane: for many targets of similar length.
    Targets,
    /// Rows of one pair: for few or long targets.
    Rows,
}

/// Parameters of a workspace's computations.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComputePlan {
    pub instructions: InstructionSet,
    pub form: LaneForm,
}

/// Time of a vector of cells if one pair fills it, relative to a unit of 1 if each lane has its own
/// pair.
const ROWS_COST: u64 = 5;

/// Pairs that are computed at the same time.
pub(super) enum LaneFill<'w, 'a> {
    /// One target per lane.
    Together(&'w [&'a [Code]]),
    /// A single pair. The shorter sequence is in the rows.
    Alone { rows: &'a [Code], columns: &'a [Code] },
}

impl ComputePlan {
    /// Passes all targets to `compute`, with their indices in `targets`. Targets come in the order
    /// of decreasing length, so that little padding is needed. Targets that are much longer than
    /// the others are passed alone.
    pub(super) fn distribute<'a>(
        self,
        query: &'a [Code],
        targets: &[&'a [Code]],
        lanes: usize,
        mut compute: impl FnMut(LaneFill<'_, 'a>, &[usize]),
    ) {
        let mut indices: Vec<usize> = (0..targets.len()).collect();
        indices.sort_by_key(|&index| std::cmp::Reverse(targets[index].len()));
        let sorted: Vec<&[Code]> = indices.iter().map(|&index| targets[index]).collect();
        let mut from = 0;
        while from < sorted.len() {
            let alone = self.count_alone(query.len(), &sorted[from..], lanes);
            for (target, index) in sorted[from..][..alone].iter().zip(&indices[from..]) {
                let (rows, columns) = if query.len() <= target.len() { (query, *target) } else { (*target, query) };
                compute(LaneFill::Alone { rows, columns }, std::slice::from_ref(index));
            }
            from += alone;
            let to = sorted.len().min(from + lanes);
            if from < to {
                compute(LaneFill::Together(&sorted[from..to]), &indices[from..to]);
            }
            from = to;
        }
    }

    /// Returns the number of the longest targets that are faster to compute alone. The targets are
    /// sorted by decreasing length.
    fn count_alone(self, query_symbols: usize, targets: &[&[Code]], lanes: usize) -> usize {
        match self.form {
            LaneForm::Targets => return 0,
            LaneForm::Rows => return targets.len(),
            LaneForm::Cheaper => {}
        }
        let together = |count: usize| targets.get(count).map_or(0, |longest| (longest.len() * query_symbols) as u64);
        let (mut best, mut least) = (0, together(0));
        let mut alone = 0;
        for (count, target) in targets.iter().enumerate().take(lanes) {
            let (rows, columns) = (query_symbols.min(target.len()), query_symbols.max(target.len()));
            alone += ROWS_COST * (rows.div_ceil(lanes) * (columns + lanes)) as u64;
            if alone >= least {
                break;
            }
            if alone + together(count + 1) < least {
                (best, least) = (count + 1, alone + together(count + 1));
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_longer_targets_are_computed_alone() {
        let code = [1 as Code; 9_000];
        let targets = |lengths: &[usize]| lengths.iter().map(|&length| &code[..length]).collect::<Vec<&[Code]>>();
        let plan = ComputePlan { instructions: InstructionSet::PORTABLE, form: LaneForm::Cheaper };
        let alone = |lengths: &[usize]| plan.count_alone(300, &targets(lengths), 64);
        assert_eq!(alone(&[300; 64]), 0);
        assert_eq!(alone(&[&[9_000, 5_000][..], &[300; 64]].concat()), 2);
        // The targets are so few that the lanes would be nearly empty.
        assert_eq!((alone(&[300; 8]), alone(&[300; 40])), (8, 0));
        let mut seen = Vec::new();
        let mixed = targets(&[10, 300, 9_000, 20, 300]);
        plan.distribute(&code[..300], &mixed, 2, |fill, indices| {
            seen.push((matches!(fill, LaneFill::Together(_)), indices.to_vec()));
        });
        // Two targets at a time by decreasing length, with an empty lane at the end.
        assert_eq!(seen, [(true, vec![2, 1]), (true, vec![4, 3]), (true, vec![0])]);
    }
}
