//! The columns of a group as a profile: the factors of scores, and gap costs.
//!
//! Single precision and truncation are used in the same places as in ClustalW, so that all integers
//! are equal.

use super::group::ProfileGroup;
use super::letters::ProfileLetters;
use super::options::{ProfileCosts, ProfileOptions};

/// Gap costs at the columns of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Penalties {
    /// Cost to open a gap next to column k, counted from 1. It is 0 at both ends of the profile.
    /// The vector has two more entries than the profile has columns.
    pub open: Vec<i32>,
    /// Cost of each column that faces a gap, in the same order.
    pub extend: Vec<i32>,
}

impl Penalties {
    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.open.len() - 2
    }

    pub(super) fn new(
        group: &ProfileGroup,
        letters: &ProfileLetters,
        options: &ProfileOptions,
        costs: &ProfileCosts,
    ) -> Penalties {
        let columns = group.columns;
        let sequences = group.members.len() as i32;
        let near = if letters.is_protein { near_gaps(&group.gaps, options.gap_distance) } else { group.gaps.clone() };
        let hydrophilic = if letters.is_protein { group.hydrophilic() } else { vec![false; columns] };
        let mut open = vec![0; columns + 2];
        let mut extend = vec![0; columns + 2];
        // The last column is an end, so gaps cost nothing there.
        for column in 0..columns.saturating_sub(1) {
            let (opening, extension) = if near[column] > 0 {
                let share = (sequences - group.gaps[column]) as f32 / sequences as f32;
                ((share * costs.open as f32) as i32, (0.5 * f64::from(costs.extend)) as i32)
            } else {
                let factor = match () {
                    () if !letters.is_protein => 1.0,
                    () if hydrophilic[column] => 0.5,
                    () if options.by_residue => (f64::from(group.sites[column] / sequences) / 100.0) as f32,
                    () => 1.0,
                };
                let mut opening = (factor * costs.open as f32) as i32;
                if near[column] < 0 {
                    let distance = f64::from(options.gap_distance);
                    opening = (f64::from(opening)
                        * (2.0 + 2.0 * f64::from(options.gap_distance + near[column]) / distance))
                        as i32;
                }
                (opening, costs.extend)
            };
            open[column + 1] = opening.max(1);
            extend[column + 1] = extension.max(1);
        }
        Penalties { open, extend }
    }
}

/// Returns the number of gaps for each column with gaps. For a column without gaps, returns minus
/// the distance to the nearest gap. The distance is at most `distance - 1` before a gap and at most
/// `distance` after one. Columns farther away have 0.
fn near_gaps(gaps: &[i32], distance: i32) -> Vec<i32> {
    let mut near = gaps.to_vec();
    if distance <= 0 {
        return near;
    }
    let ahead = distance as usize - 1;
    let mut at = 0;
    while at < gaps.len() {
        if gaps[at] <= 0 {
            at += 1;
            continue;
        }
        for back in (1..=ahead.min(at)).rev().filter(|back| gaps[at - back] == 0) {
            near[at - back] = -(back as i32);
        }
        at += gaps[at..].iter().take_while(|&&gaps| gaps > 0).count();
        let free = gaps[at..].iter().take(distance as usize).take_while(|&&gaps| gaps == 0).count();
        for (behind, index) in near[at..at + free].iter_mut().enumerate() {
            *index = -(behind as i32) - 1;
        }
        at += free;
    }
    near
}

/// Returns the score of each letter with each column. All letters of one column are consecutive.
pub(super) fn scored(group: &ProfileGroup, letters: &ProfileLetters, costs: &ProfileCosts) -> Vec<i32> {
    let count = letters.count();
    let sequences = group.members.len() as i32;
    let weight = group.weight as f32;
    let mut profile = vec![0; group.columns * count];
    let columns = group.weights.chunks_exact(count.max(1)).zip(&group.gaps);
    for ((column_weights, &gaps), entries) in columns.zip(profile.chunks_exact_mut(count.max(1))) {
        if gaps == sequences {
            continue;
        }
        let share = (sequences - gaps) as f32 / sequences as f32;
        for (&code, &letter_weight) in letters.codes.iter().zip(column_weights).filter(|(_, weight)| **weight != 0) {
            for (sum, &other) in entries.iter_mut().zip(&letters.codes) {
                *sum += letter_weight * costs.table.score(code, other);
            }
        }
        entries.iter_mut().for_each(|sum| *sum = (*sum as f32 / weight * share) as i32);
    }
    profile
}

/// Returns the share of each letter in each column, in tenths. All letters of one column are
/// consecutive.
pub(super) fn tenths(group: &ProfileGroup) -> Vec<i32> {
    group.weights.iter().map(|&weight| (10.0 * weight as f32 / group.weight as f32) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_to_gaps_are_computed() {
        assert_eq!(
            near_gaps(&[0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0], 4),
            [0, 0, -3, -2, -1, 2, 1, -1, -2, -3, -4, 0, 0]
        );
        // Between two gaps, the distance to the later one counts.
        assert_eq!(near_gaps(&[1, 0, 0, 0, 0, 1], 4), [1, -1, -3, -2, -1, 1]);
        assert_eq!(near_gaps(&[1, 0, 1, 0], 4), [1, -1, 1, -1]);
        assert_eq!(near_gaps(&[1, 0, 1, 0], 0), [1, 0, 1, 0]);
    }
}
