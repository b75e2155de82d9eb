use super::*;
use crate::tree::tests::threads;

impl Nodes {
    /// Returns the pair to join by considering all pairs, as ClustalW does.
    fn least_of_all(&self) -> (usize, usize) {
        let scale = self.scale();
        let (mut best, mut pair) = (scale.max_total(), (self.left[0] as usize, self.left[1] as usize));
        for (index, &later) in self.left.iter().enumerate() {
            let later = later as usize;
            for &earlier in &self.left[..index] {
                let earlier = earlier as usize;
                let total = scale.total(self.distances.get(earlier, later), self.sum(earlier), self.sum(later));
                if total < best {
                    (best, pair) = (total, (earlier, later));
                }
            }
        }
        pair
    }
}

/// Returns the neighbour-joining tree, computed by considering all pairs at each step.
fn plain(distances: Distances) -> UnrootedTree {
    let leaves = distances.sequences();
    let mut nodes = Nodes::new(distances);
    let mut joins = Vec::new();
    while nodes.left.len() > 3 {
        let (earlier, later) = nodes.least_of_all();
        joins.push(nodes.join(earlier, later, (leaves + joins.len()) as u32));
    }
    UnrootedTree { leaves, joins, centre: nodes.centre() }
}

fn distances_from(leaves: usize, mut distance: impl FnMut(usize, usize) -> f64) -> Distances {
    let mut distances = Distances::new(leaves);
    for a in 1..leaves {
        (0..a).for_each(|b| distances.set(a, b, distance(a, b)));
    }
    distances
}

/// Returns a random matrix of several kinds: arbitrary numbers, few distinct numbers, equal
/// numbers, distances along a tree, and copies.
fn drawn(leaves: usize, kind: usize, random: &mut fastrand::Rng) -> Distances {
    match kind {
        0 => distances_from(leaves, |_, _| random.f64()),
        1 => distances_from(leaves, |_, _| f64::from(random.u8(0..4)) / 4.0),
        2 => distances_from(leaves, |_, _| 0.25),
        3 => {
            // Each leaf is attached to a point on a line. Some leaves are far away from the line.
            let at: Vec<f64> = (0..leaves).map(|_| random.f64() * 3.0).collect();
            let out: Vec<f64> = (0..leaves).map(|_| random.f64().powi(8) * 50.0).collect();
            distances_from(leaves, |a, b| (at[a] - at[b]).abs() + out[a] + out[b])
        }
        _ => {
            // Many sequences are identical, and single precision makes ties.
            let group: Vec<usize> = (0..leaves).map(|_| random.usize(0..leaves / 4 + 1)).collect();
            let between = distances_from(leaves / 4 + 1, |_, _| f64::from(random.u8(1..60)) / 60.0);
            distances_from(leaves, |a, b| f64::from(between.get(group[a], group[b]) as f32))
        }
    }
}

#[test]
fn bounded_search_equals_full_search() {
    let threads = threads();
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let distances = drawn(random.usize(0..60), seed as usize % 5, &mut random);
        assert_eq!(neighbour_joining(distances.clone(), &threads), plain(distances), "seed {seed}");
    }
}

#[test]
fn parallel_search_equals_serial_search() {
    let threads = threads();
    for kind in 0..5 {
        let mut random = fastrand::Rng::with_seed(kind as u64);
        let distances = drawn(search::MIN_PARALLEL_NODES + 60, kind, &mut random);
        assert_eq!(neighbour_joining(distances.clone(), &threads), plain(distances), "kind {kind}");
    }
}

#[test]
fn nan_distances_terminate() {
    let distances = distances_from(6, |a, _| if a == 3 { f64::NAN } else { 0.5 });
    assert_eq!(neighbour_joining(distances, &threads()).joins.len(), 3);
}
