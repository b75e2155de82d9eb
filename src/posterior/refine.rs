//! Refinement. A cut divides the sequences into two groups at a branch of the tree, and the two
//! groups are aligned again.

use std::sync::atomic::{AtomicBool, Ordering};

use super::all_pairs::PairProbabilities;
use super::guide::members;
use super::progressive::{AlignedMembers, join};
use crate::tree::GuideTree;
use crate::{Error, Result};

/// Returns all distinct cuts, each as the group of sequences below a branch.
fn cuts(tree: &GuideTree) -> Vec<Vec<usize>> {
    let mut below = members(tree);
    // The root is not below a branch, and its two branches give the same cut.
    below.pop();
    if tree.leaves > 1 {
        let root = tree.joins[tree.leaves - 2].children;
        below.remove(root[0].max(root[1]) as usize);
    }
    below
}

/// Shuffles a list. The order depends only on `state`.
fn shuffle<T>(list: &mut [T], state: &mut u64) {
    for end in (1..list.len()).rev() {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = ((*state >> 33) * (end as u64 + 1)) >> 31;
        list.swap(end, at as usize);
    }
}

/// Performs at most `cuts_at_most` cuts, and stops when no cut changes the alignment.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `interrupt` is set.
pub(super) fn refine(
    all: &PairProbabilities,
    weights: &[f32],
    tree: &GuideTree,
    mut aligned: AlignedMembers,
    cuts_at_most: usize,
    interrupt: &AtomicBool,
) -> Result<AlignedMembers> {
    let mut cuts = cuts(tree);
    let (mut state, mut done, mut unchanged) = (1, 0, 0);
    while done < cuts_at_most && unchanged < cuts.len() {
        shuffle(&mut cuts, &mut state);
        for group in &cuts {
            if done == cuts_at_most || unchanged >= cuts.len() {
                break;
            }
            if interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let inside = aligned.extract(|member| group.binary_search(&member).is_ok());
            let outside = aligned.extract(|member| group.binary_search(&member).is_err());
            let realigned = join(all, weights, &inside, &outside);
            unchanged = if realigned == aligned { unchanged + 1 } else { 0 };
            aligned = realigned;
            done += 1;
        }
    }
    Ok(aligned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Join;

    #[test]
    fn every_branch_cuts_once() {
        let join = |children| Join { children, lengths: [1.0; 2] };
        let tree = GuideTree { leaves: 4, joins: vec![join([0, 2]), join([4, 1]), join([5, 3])] };
        assert_eq!(cuts(&tree), [vec![0], vec![1], vec![2], vec![3], vec![0, 2]]);
        let pair = GuideTree { leaves: 2, joins: vec![join([0, 1])] };
        assert_eq!(cuts(&pair), [vec![0]]);
        assert!(cuts(&GuideTree { leaves: 1, joins: Vec::new() }).is_empty());
    }

    #[test]
    fn shuffling_keeps_all_elements() {
        let mut list: Vec<u32> = (0..20).collect();
        shuffle(&mut list, &mut 7);
        assert_ne!(list, (0..20).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..20).collect::<Vec<_>>());
    }
}
