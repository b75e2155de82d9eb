use super::*;
use crate::tree::tests::threads;
use crate::tree::{Distances, neighbour_joining, newick};

/// Returns a random tree of few or many leaves, with its Newick nodes.
fn drawn(random: &mut fastrand::Rng, threads: &rayon::ThreadPool) -> (UnrootedTree, Vec<NewickNode>, Vec<Option<u32>>) {
    let leaves = random.usize(3..50);
    let mut distances = Distances::new(leaves);
    let steps = random.u32(2..2000);
    for a in 1..leaves {
        (0..a).for_each(|b| distances.set(a, b, f64::from(random.u32(0..steps)) / f64::from(steps)));
    }
    let tree = neighbour_joining(distances, threads);
    let names: Vec<String> = (0..leaves).map(|leaf| leaf.to_string()).collect();
    let nodes = newick::nodes(&tree.dnd(&names)).unwrap();
    let sequences =
        nodes.iter().map(|node| node.label.as_ref().map(|label| label.to_string().parse().unwrap())).collect();
    (tree, nodes, sequences)
}

/// Computes [`LeafPaths::balance`] by following the path from every leaf.
fn plain(tree: &Binary, node: usize) -> (f32, f32) {
    // The ancestors of the node, with their distances.
    let mut above = vec![];
    let (mut here, mut way) = (node, 0.0f32);
    while here != NO_INDEX {
        above.push((here, way));
        way += tree.length[here];
        here = tree.parent[here];
    }
    let (mut outside, mut inside, mut most) = ((0.0f32, 0.0f32), (0.0f32, 0.0f32), 0.0f32);
    for &leaf in &tree.leaves {
        let (mut here, mut up) = (leaf, 0.0f32);
        let way = loop {
            if let Some(&(_, way)) = above.iter().find(|&&(node, _)| node == here) {
                break way;
            }
            up += tree.length[here];
            here = tree.parent[here];
        };
        most = most.max(up);
        if here == node {
            inside = (inside.0 + up, inside.1 + 1.0);
        } else {
            outside = (outside.0 + up + way, outside.1 + 1.0);
        }
    }
    (outside.0 / outside.1 - inside.0 / inside.1, most)
}

#[test]
fn path_sums_have_the_same_rounding_as_single_paths() {
    let threads = threads();
    for seed in 0..200 {
        let (_, nodes, sequences) = drawn(&mut fastrand::Rng::with_seed(seed), &threads);
        let (tree, root, _) = Binary::new(&nodes, &sequences);
        let paths = LeafPaths::new(&tree);
        for &node in tree.met.iter().filter(|&&node| node != root) {
            assert_eq!(paths.balance(node), plain(&tree, node), "seed {seed}, node {node}");
        }
    }
}

#[test]
fn rooting_preserves_path_lengths() {
    let threads = threads();
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for seed in 0..200 {
        let (tree, nodes, sequences) = drawn(&mut fastrand::Rng::with_seed(seed), &threads);
        let rooted = tree.rooted(&threads);
        assert_eq!(rooted, tree.rooted(&single), "seed {seed}");
        assert_eq!(rooted.joins.len(), rooted.leaves - 1, "seed {seed}");
        // Path lengths in the tree as it was read, from the ancestors of both leaves.
        let (read, _, _) = Binary::new(&nodes, &sequences);
        let ups = |leaf: usize| {
            let (mut here, mut up, mut all) = (leaf, 0.0f64, vec![]);
            while here != NO_INDEX {
                all.push((here, up));
                up += f64::from(read.length[here]);
                here = read.parent[here];
            }
            all
        };
        let identities = rooted.identities();
        for &a in &read.leaves {
            for &b in read.leaves.iter().take_while(|&&b| b != a) {
                let (first, second) = (ups(a), ups(b));
                let meet = |&(node, up): &(usize, f64)| {
                    second.iter().find(|&&(other, _)| other == node).map(|&(_, other)| up + other)
                };
                let way = first.iter().find_map(meet).unwrap();
                let identity_way =
                    f64::from(identities.path_length(read.leaf[a].unwrap() as usize, read.leaf[b].unwrap() as usize));
                assert!((way - identity_way).abs() < 1e-4, "seed {seed}: {way} {identity_way}");
            }
        }
    }
}

#[test]
fn any_text_is_parsed_or_refused() {
    let threads = threads();
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..3000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = b"((a:0.1,b:0.2)x:0.3,(c:0.1,((d:0.5),e:-1):2):0.1,f);".to_vec();
        for _ in 0..random.usize(0..3) {
            let at = random.usize(0..text.len());
            match random.u8(0..3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, b"(),:;ab.1-"[random.usize(0..10)]),
                _ => text[at] = b"(),:;ab.1-"[random.usize(0..10)],
            }
        }
        match GuideTree::read("t", &text, &["a", "b", "c", "d", "e", "f"], &threads) {
            Ok(tree) => {
                assert_eq!((tree.leaves, tree.joins.len()), (6, 5), "seed {seed}");
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 500 && refused > 500, "{taken} {refused}");
}
