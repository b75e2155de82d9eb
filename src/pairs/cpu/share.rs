//! Which targets of a query share a vector's lanes, and which had better be computed each by itself.

use crate::seq::Code;
use crate::simd::InstructionSet;

/// What is in a vector's lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Whatever is expected to be faster.
    #[default]
    Cheaper,
    /// Targets, one a lane: for many of about one length.
    Targets,
    /// Rows of one pair: for few, or long ones.
    Rows,
}

/// How a workspace computes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub level: InstructionSet,
    pub form: Form,
}

/// How much longer a vector of cells takes where one pair fills it than where many do.
const ROWS_COST: u64 = 5;

/// What is computed at once.
pub(super) enum LaneFill<'w, 'a> {
    /// Targets, one a lane.
    Together(&'w [&'a [Code]]),
    /// One pair, the shorter sequence in rows.
    Alone { rows: &'a [Code], columns: &'a [Code] },
}

impl Plan {
    /// Hands all targets to `compute`, with their places among `targets`: by falling length, so that little is padded,
    /// and those that are much longer than others alone.
    pub(super) fn share_out<'a>(
        self,
        query: &'a [Code],
        targets: &[&'a [Code]],
        lanes: usize,
        mut compute: impl FnMut(LaneFill<'_, 'a>, &[usize]),
    ) {
        let mut places: Vec<usize> = (0..targets.len()).collect();
        places.sort_by_key(|&place| std::cmp::Reverse(targets[place].len()));
        let sorted: Vec<&[Code]> = places.iter().map(|&place| targets[place]).collect();
        let mut from = 0;
        while from < sorted.len() {
            let alone = self.alone(query.len(), &sorted[from..], lanes);
            for (target, place) in sorted[from..][..alone].iter().zip(&places[from..]) {
                let (rows, columns) = if query.len() <= target.len() { (query, *target) } else { (*target, query) };
                compute(LaneFill::Alone { rows, columns }, std::slice::from_ref(place));
            }
            from += alone;
            let to = sorted.len().min(from + lanes);
            if from < to {
                compute(LaneFill::Together(&sorted[from..to]), &places[from..to]);
            }
            from = to;
        }
    }

    /// How many of the first targets, which are the longest, had better be computed each by itself.
    fn alone(self, query_symbols: usize, targets: &[&[Code]], lanes: usize) -> usize {
        match self.form {
            Form::Targets => return 0,
            Form::Rows => return targets.len(),
            Form::Cheaper => {}
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
    fn targets_that_are_much_longer_go_alone() {
        let code = [1 as Code; 9_000];
        let targets = |lengths: &[usize]| lengths.iter().map(|&length| &code[..length]).collect::<Vec<&[Code]>>();
        let plan = Plan { level: InstructionSet::PORTABLE, form: Form::Cheaper };
        let alone = |lengths: &[usize]| plan.alone(300, &targets(lengths), 64);
        assert_eq!(alone(&[300; 64]), 0);
        assert_eq!(alone(&[&[9_000, 5_000][..], &[300; 64]].concat()), 2);
        // Few enough that the lanes would be nearly empty.
        assert_eq!((alone(&[300; 8]), alone(&[300; 40])), (8, 0));
        let mut seen = Vec::new();
        let mixed = targets(&[10, 300, 9_000, 20, 300]);
        plan.share_out(&code[..300], &mixed, 2, |fill, places| {
            seen.push((matches!(fill, LaneFill::Together(_)), places.to_vec()));
        });
        // By falling length, two and two, and the last lane empty.
        assert_eq!(seen, [(true, vec![2, 1]), (true, vec![4, 3]), (true, vec![0])]);
    }
}
