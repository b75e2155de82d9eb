//! Comparison with definitions: path lengths of random trees, Pauplin's formula and exhaustive
//! searches.

use std::collections::BTreeSet;

use super::*;
use crate::tree::Join;
use crate::tree::tests::threads;

/// Returns a random unrooted tree with lengths of branches.
fn random_tree(leaves: usize, random: &mut fastrand::Rng) -> UnrootedTree {
    let mut left: Vec<u32> = (0..leaves as u32).collect();
    let mut joins = Vec::new();
    let mut length = || 0.01 + random.f64();
    let lengths: Vec<f64> = (0..2 * leaves).map(|_| length()).collect();
    while left.len() > 3 {
        let pair = [0; 2].map(|_| left.swap_remove(random.usize(..left.len())));
        left.push((leaves + joins.len()) as u32);
        joins.push(Join { children: pair, lengths: pair.map(|child| lengths[child as usize]) });
    }
    let centre = left.into_iter().map(|node| (node, lengths[node as usize])).collect();
    UnrootedTree { leaves, joins, centre }
}

/// Returns the number of edges and the length of the path between each pair of leaves.
fn paths(tree: &UnrootedTree) -> Vec<Vec<(i32, f64)>> {
    let mut below: Vec<Vec<(usize, i32, f64)>> = (0..tree.leaves).map(|leaf| vec![(leaf, 0, 0.0)]).collect();
    let mut found = vec![vec![(0, 0.0); tree.leaves]; tree.leaves];
    let mut meet = |groups: Vec<Vec<(usize, i32, f64)>>| {
        for (index, group) in groups.iter().enumerate() {
            for &(a, steps, length) in group {
                for &(b, more, further) in groups[..index].iter().flatten() {
                    found[a][b] = (steps + more, length + further);
                    found[b][a] = found[a][b];
                }
            }
        }
        groups.concat()
    };
    let extended = |below: &[Vec<(usize, i32, f64)>], child: u32, length: f64| -> Vec<(usize, i32, f64)> {
        below[child as usize].iter().map(|&(leaf, steps, to_leaf)| (leaf, steps + 1, to_leaf + length)).collect()
    };
    for join in &tree.joins {
        let groups = join.children.iter().zip(join.lengths).map(|(&child, length)| extended(&below, child, length));
        let joined = meet(groups.collect());
        below.push(joined);
    }
    meet(tree.centre.iter().map(|&(child, length)| extended(&below, child, length)).collect());
    found
}

/// Returns the distances of leaves along the branches.
fn additive(tree: &UnrootedTree) -> Distances {
    let paths = paths(tree);
    let mut distances = Distances::new(tree.leaves);
    (1..tree.leaves).for_each(|a| (0..a).for_each(|b| distances.set(a, b, paths[a][b].1)));
    distances
}

fn random_distances(leaves: usize, random: &mut fastrand::Rng) -> Distances {
    let mut distances = additive(&random_tree(leaves, random));
    for a in 1..leaves {
        (0..a).for_each(|b| distances.set(a, b, distances.get(a, b) * (0.5 + random.f64())));
    }
    distances
}

/// Returns the length of a tree by the formula of Pauplin (2000).
fn pauplin(tree: &UnrootedTree, distances: &Distances) -> f64 {
    let paths = paths(tree);
    let pairs = (1..tree.leaves).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| distances.get(a, b) * 2f64.powi(1 - paths[a][b].0)).sum()
}

/// Returns the sides of all branches, without the side of leaf 0.
fn splits(tree: &UnrootedTree) -> BTreeSet<Vec<u32>> {
    let mut below: Vec<Vec<u32>> = (0..tree.leaves as u32).map(|leaf| vec![leaf]).collect();
    for join in &tree.joins {
        below.push(join.children.iter().flat_map(|&child| below[child as usize].clone()).collect());
    }
    let without_first = |side: Vec<u32>| {
        let is_inside = side.contains(&0);
        (0..tree.leaves as u32).filter(|leaf| side.contains(leaf) != is_inside).collect()
    };
    below[tree.leaves..].iter().cloned().map(without_first).collect()
}

/// Returns the length of a tree: the sum of its branches, which may be negative.
fn length(tree: &BalancedTree) -> f64 {
    tree.topology.edges().map(|edge| tree.length(edge)).sum()
}

fn unrooted(tree: &BalancedTree) -> UnrootedTree {
    tree.topology.unrooted(|edge| tree.length(edge))
}

/// Calls `call` with every unrooted tree of some leaves.
fn each_tree(leaves: usize, call: &mut impl FnMut(&UnrootedTree)) {
    // A tree is a list of edges between nodes; leaves are added to each edge in turn.
    fn extend(leaf: usize, leaves: usize, edges: &[[usize; 2]], call: &mut impl FnMut(&UnrootedTree)) {
        if leaf == leaves {
            return call(&from_edges(leaves, edges));
        }
        let node = leaves + leaf - 2;
        for (at, &[a, b]) in edges.iter().enumerate() {
            let mut more = edges.to_vec();
            more[at] = [a, node];
            more.extend([[node, b], [node, leaf]]);
            extend(leaf + 1, leaves, &more, call);
        }
    }
    extend(3, leaves, &[[0, leaves], [1, leaves], [2, leaves]], call);
}

/// Converts a list of edges to a tree whose centre is next to leaf 0.
fn from_edges(leaves: usize, edges: &[[usize; 2]]) -> UnrootedTree {
    fn number(node: usize, from: usize, leaves: usize, edges: &[[usize; 2]], joins: &mut Vec<Join>) -> u32 {
        if node < leaves {
            return node as u32;
        }
        let children: Vec<u32> = neighbours(node, edges)
            .filter(|&next| next != from)
            .map(|next| number(next, node, leaves, edges, joins))
            .collect();
        joins.push(Join { children: [children[0], children[1]], lengths: [1.0; 2] });
        (leaves + joins.len() - 1) as u32
    }
    fn neighbours(node: usize, edges: &[[usize; 2]]) -> impl Iterator<Item = usize> {
        edges.iter().filter(move |edge| edge.contains(&node)).map(move |&[a, b]| if a == node { b } else { a })
    }
    let centre = neighbours(0, edges).next().expect("a leaf has a neighbour");
    let mut joins = Vec::new();
    let ends = neighbours(centre, edges).map(|next| (number(next, centre, leaves, edges, &mut joins), 1.0)).collect();
    UnrootedTree { leaves, joins, centre: ends }
}

#[test]
fn additive_distances_give_their_tree() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let tree = random_tree(random.usize(3..40), &mut random);
        let distances = additive(&tree);
        for built in [bionj(&distances, &threads()), balanced_minimum_evolution(&distances, &threads())] {
            assert_eq!(splits(&built), splits(&tree), "seed {seed}");
            let again = additive(&built);
            for a in 1..tree.leaves {
                for b in 0..a {
                    assert!((again.get(a, b) - distances.get(a, b)).abs() < 1e-9, "seed {seed}: {a} {b}");
                }
            }
        }
    }
}

/// The sum of branches, the means that moves update and the predicted change agree with the
/// definitions after every move.
#[test]
fn moves_change_the_length_as_predicted() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let leaves = random.usize(4..30);
        let distances = random_distances(leaves, &mut random);
        let start = Topology::new(&random_tree(leaves, &mut random));
        let mut tree = BalancedTree::new(start, &distances);
        let mut before = pauplin(&unrooted(&tree), &distances);
        for radius in [1, usize::MAX] {
            while let Some(change) = tree.first_move(radius) {
                let after = pauplin(&unrooted(&tree), &distances);
                assert!(change < 0.0 && (after - before - change).abs() < 1e-9, "seed {seed}");
                assert!((length(&tree) - after).abs() < 1e-9, "seed {seed}");
                let fresh = BalancedTree::new(tree.topology.clone(), &distances);
                for (actual, expected) in tree.means.iter().zip(&fresh.means) {
                    assert!((actual - expected).abs() < 1e-9, "seed {seed}: {actual} {expected}");
                }
                before = after;
            }
        }
    }
}

/// No tree that differs by one move is shorter, and none of all trees by more than a rounding error
/// is shorter than the least length.
#[test]
fn small_trees_are_local_minima_of_all_trees() {
    let mut least_found = 0;
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let leaves = random.usize(4..8);
        let distances = random_distances(leaves, &mut random);
        let built = balanced_minimum_evolution(&distances, &threads());
        let mut all = Vec::new();
        each_tree(leaves, &mut |tree| all.push((pauplin(tree, &distances), splits(tree))));
        assert_eq!(all.len(), [1, 3, 15, 105, 945][leaves - 3]);
        let own = pauplin(&built, &distances);
        let least = all.iter().map(|&(length, _)| length).fold(f64::INFINITY, f64::min);
        assert!(own > least - 1e-9, "seed {seed}");
        least_found += usize::from(own < least + 1e-9);
        // Trees that differ in one split differ by one exchange of neighbours.
        for (length, other) in &all {
            let shared = other.intersection(&splits(&built)).count();
            assert!(shared + 1 != leaves - 3 || own < length + 1e-9, "seed {seed}");
        }
    }
    assert!(least_found >= 10, "{least_found} of 12");
}

#[test]
fn trees_do_not_depend_on_the_order_of_named_sequences() {
    for method in [crate::tree::TreeMethod::Bionj, crate::tree::TreeMethod::BalancedMinimumEvolution] {
        for seed in 0..10 {
            let mut random = fastrand::Rng::with_seed(seed);
            let leaves = random.usize(2..20);
            // Few different values make many ties.
            let mut distances = Distances::new(leaves);
            (1..leaves).for_each(|a| (0..a).for_each(|b| distances.set(a, b, f64::from(random.u8(1..4)) / 4.0)));
            let names: Vec<String> = (0..leaves).map(|leaf| format!("s{leaf}")).collect();
            let mut order: Vec<usize> = (0..leaves).collect();
            random.shuffle(&mut order);
            let mut shuffled = Distances::new(leaves);
            for a in 1..leaves {
                (0..a).for_each(|b| shuffled.set(a, b, distances.get(order[a], order[b])));
            }
            let other_names: Vec<&str> = order.iter().map(|&leaf| &*names[leaf]).collect();
            let style = crate::tree::newick::NameStyle::Quoted;
            let threads = threads();
            let run = TreeRun::new(&threads);
            assert_eq!(
                method.build_named(distances, &names, run).unwrap().newick_in(style, &names),
                method.build_named(shuffled, &other_names, run).unwrap().newick_in(style, &other_names),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn few_or_equal_sequences_give_trees() {
    for leaves in 0..6 {
        let tree = balanced_minimum_evolution(&Distances::new(leaves), &threads());
        assert_eq!((tree.leaves, tree.joins.len()), (leaves, leaves.saturating_sub(3)));
        assert!(tree.joins.iter().flat_map(|join| join.lengths).all(|length| length == 0.0));
    }
}
