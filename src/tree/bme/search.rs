//! The search for moves that shorten the tree, and the update of the means after a move.

use rayon::prelude::*;

use super::BalancedTree;
use super::topology::{EdgeId, Moved};
use crate::error::Result;
use crate::tree::TreeRun;

/// A subtree that can be moved: the part of the tree beyond an edge.
#[derive(Debug, Clone, Copy)]
struct Subtree {
    edge: EdgeId,
    /// The node of the edge where the subtree is attached to the rest.
    node: usize,
}

/// A move of a subtree to another edge.
#[derive(Debug, Clone, Copy)]
struct Move {
    subtree: Subtree,
    /// Change of the length of the tree; negative if the tree becomes shorter.
    change: f64,
    target: EdgeId,
}

/// A position of the walk from a subtree over the edges of the rest of the tree.
struct Position {
    /// The edge that was crossed last, and the node behind it.
    edge: EdgeId,
    node: usize,
    /// Number of edges that were crossed before.
    crossed: usize,
    /// Weight of the subtree's old place within the part of the tree behind.
    weight: f64,
    /// Mean distance of the subtree to the part of the tree behind, without the subtree.
    to_behind: f64,
    /// Change of the tree's length if the subtree is attached to the edge.
    change: f64,
}

impl BalancedTree {
    /// Applies moves over at most `radius` nodes until none of them shortens the tree.
    pub(super) fn improve(&mut self, radius: usize, run: TreeRun<'_>) -> Result<()> {
        loop {
            let mut moves: Vec<Move> = {
                let subtrees = 0..2 * self.topology.edge_count();
                let best = |subtree: usize| {
                    if run.is_stopped() {
                        return None;
                    }
                    let edge = EdgeId::new(subtree / 2);
                    let node = self.topology.ends(edge)[subtree % 2];
                    self.best_move(Subtree { edge, node }, radius)
                };
                subtrees.into_par_iter().with_min_len(16).filter_map(best).collect()
            };
            run.check()?;
            if moves.is_empty() {
                return Ok(());
            }
            // A stable sort keeps the order of the edges for equal gains.
            moves.sort_by(|a, b| a.change.total_cmp(&b.change));
            for found in moves {
                run.check()?;
                // Earlier moves may have changed the place of the subtree and the gain.
                let Subtree { edge, node } = found.subtree;
                if self.topology.ends(edge).contains(&node)
                    && let Some(best) = self.best_move(found.subtree, radius)
                {
                    self.apply(best);
                }
            }
        }
    }

    /// Applies the first move over at most `radius` nodes that shortens the tree, and returns the
    /// change of the tree's length, if there is such a move.
    #[cfg(test)]
    pub(super) fn first_move(&mut self, radius: usize) -> Option<f64> {
        let subtrees =
            self.topology.edges().flat_map(|edge| self.topology.ends(edge).map(|node| Subtree { edge, node }));
        let first = subtrees.into_iter().find_map(|subtree| self.best_move(subtree, radius))?;
        self.apply(first);
        Some(first.change)
    }

    /// Returns the move of a subtree over at most `radius` nodes that shortens the tree most, if
    /// there is one.
    fn best_move(&self, subtree: Subtree, radius: usize) -> Option<Move> {
        let Subtree { edge: pruned, node } = subtree;
        let others = self.topology.others(node, pruned)?;
        let mut best = Move { subtree, change: -self.least_gain, target: pruned };
        let mut stack = Vec::new();
        for (start, behind) in [(others[0], others[1]), (others[1], others[0])] {
            stack.push(Position {
                edge: start,
                node: self.topology.across(start, node),
                crossed: 0,
                weight: 0.5,
                to_behind: self.mean(pruned, behind),
                change: 0.0,
            });
            while let Some(here) = stack.pop() {
                let Some([a, b]) = self.topology.others(here.node, here.edge) else { continue };
                let between = self.mean(a, b);
                for (ahead, other) in [(a, b), (b, a)] {
                    // The matrix contains the mean to the part behind with the subtree at its old
                    // place.
                    let without = here.weight * (self.mean(other, behind) - self.mean(other, pruned));
                    let other_to_behind = self.mean(other, here.edge) + without;
                    let exchanged = self.mean(pruned, ahead) + other_to_behind - here.to_behind - between;
                    let change = here.change + 0.25 * exchanged;
                    if change < best.change {
                        best = Move { subtree, change, target: ahead };
                    }
                    if here.crossed + 1 < radius {
                        stack.push(Position {
                            edge: ahead,
                            node: self.topology.across(ahead, here.node),
                            crossed: here.crossed + 1,
                            weight: 0.5 * here.weight,
                            to_behind: 0.5 * (here.to_behind + self.mean(pruned, other)),
                            change,
                        });
                    }
                }
            }
        }
        (best.target != pruned).then_some(best)
    }

    /// Returns the edges from a node to an edge, in order. The part of the tree beyond `pruned` is
    /// not searched.
    fn way(&self, node: usize, pruned: EdgeId, target: EdgeId) -> Vec<EdgeId> {
        let mut way = Vec::new();
        let step = |edges: Option<[EdgeId; 2]>, near: usize, depth: usize| {
            edges.into_iter().flatten().map(move |edge| (edge, near, depth))
        };
        let mut stack: Vec<(EdgeId, usize, usize)> = step(self.topology.others(node, pruned), node, 0).collect();
        while let Some((edge, near, depth)) = stack.pop() {
            way.truncate(depth);
            way.push(edge);
            if edge == target {
                break;
            }
            let far = self.topology.across(edge, near);
            stack.extend(step(self.topology.others(far, edge), far, depth + 1));
        }
        way
    }

    /// Moves a subtree, and updates the means.
    fn apply(&mut self, chosen: Move) {
        let Subtree { edge: pruned, node } = chosen.subtree;
        let way = self.way(node, pruned, chosen.target);
        let Moved { path, far_half } = self.topology.regraft(pruned, node, &way);
        for edge in self.topology.edges() {
            self.set(far_half, edge, self.mean(chosen.target, edge));
        }
        self.update(&path);
    }

    /// Recomputes the means of all subtrees that contain the path, after a change at its ends.
    fn update(&mut self, path: &[usize]) {
        let last = path.len() - 1;
        let inner: Vec<EdgeId> = path.windows(2).map(|nodes| self.edge_between(nodes[0], nodes[1])).collect();
        // For each place on the path, the edges that lead away from it.
        let hanging: Vec<Vec<EdgeId>> = (0..=last)
            .map(|place| {
                let from_path = [place.checked_sub(1), (place < last).then_some(place)];
                let of_path: Vec<EdgeId> = from_path.into_iter().flatten().map(|at| inner[at]).collect();
                let all = self.topology.edges_of(path[place]);
                all.into_iter().filter(|edge| !of_path.contains(edge)).collect()
            })
            .collect();
        let mut towards = Vec::new();
        for (place, edges) in hanging.iter().enumerate() {
            for &edge in edges {
                // The walk visits each edge with the edges between it and the path in `towards`.
                let mut stack = vec![(edge, path[place], 0)];
                while let Some((outer, near, depth)) = stack.pop() {
                    towards.truncate(depth);
                    towards.push(outer);
                    self.update_row(outer, place, &inner, &hanging, &towards);
                    let far = self.topology.across(outer, near);
                    for next in self.topology.others(far, outer).into_iter().flatten() {
                        stack.push((next, far, depth + 1));
                    }
                }
            }
        }
        // Pairs of edges on the path, from the start of the path.
        for second in 0..inner.len() {
            for first in 0..=second {
                let mean = match first.checked_sub(1) {
                    None => {
                        let [a, b] = [hanging[0][0], hanging[0][1]];
                        0.5 * (self.mean(a, inner[second]) + self.mean(b, inner[second]))
                    }
                    Some(before) => {
                        0.5 * (self.mean(hanging[first][0], inner[second]) + self.mean(inner[before], inner[second]))
                    }
                };
                self.set(inner[first], inner[second], mean);
            }
        }
    }

    /// Recomputes the means of the part beyond `outer` and the subtrees that contain the path.
    /// `outer` is attached at a place of the path. `towards` consists of the edges from the path
    /// to `outer`, which is the last.
    fn update_row(
        &mut self,
        outer: EdgeId,
        place: usize,
        inner: &[EdgeId],
        hanging: &[Vec<EdgeId>],
        towards: &[EdgeId],
    ) {
        let last = inner.len();
        let sum = |tree: &Self, edges: &[EdgeId]| edges.iter().map(|&edge| tree.mean(outer, edge)).sum::<f64>();
        for at in 0..place {
            let before = at.checked_sub(1).map_or(0.0, |before| self.mean(outer, inner[before]));
            let mean = 0.5 * (sum(self, &hanging[at]) + before);
            self.set(outer, inner[at], mean);
        }
        for at in (place..last).rev() {
            let after = if at + 1 < last { self.mean(outer, inner[at + 1]) } else { 0.0 };
            let mean = 0.5 * (sum(self, &hanging[at + 1]) + after);
            self.set(outer, inner[at], mean);
        }
        let mut near = None;
        for &edge in towards {
            // The two other edges at the end of `edge` that is nearer to the path.
            let mean = match near {
                None => {
                    let on_path = [place.checked_sub(1), (place < last).then_some(place)];
                    let on_path: f64 = on_path.into_iter().flatten().map(|at| self.mean(outer, inner[at])).sum();
                    let beside: f64 = hanging[place]
                        .iter()
                        .filter(|&&other| other != edge)
                        .map(|&other| self.mean(outer, other))
                        .sum();
                    0.5 * (on_path + beside)
                }
                Some(before) => {
                    let node = self.topology.node_between(before, edge);
                    let [a, b] = self.topology.others(node, edge).expect("an inner node");
                    0.5 * (self.mean(outer, a) + self.mean(outer, b))
                }
            };
            self.set(outer, edge, mean);
            near = Some(edge);
        }
    }

    fn edge_between(&self, a: usize, b: usize) -> EdgeId {
        let edges = self.topology.edges_of(a);
        edges.into_iter().find(|&edge| self.topology.across(edge, a) == b).expect("the nodes are neighbours")
    }
}
