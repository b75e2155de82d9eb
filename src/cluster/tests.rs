//! Methods of clustering against textbook versions that look at all pairs.

use super::*;
use proptest::prelude::*;

/// Identities of all pairs; 0 for pairs below the threshold.
struct Matrix(Vec<Vec<f64>>);

impl Matrix {
    fn new(sequences: usize, pairs: &[SimilarPair]) -> Self {
        let mut all = vec![vec![0.0; sequences]; sequences];
        for pair in pairs {
            let (a, b) = (pair.earlier as usize, pair.later as usize);
            all[a][b] = pair.identity;
            all[b][a] = pair.identity;
        }
        Matrix(all)
    }

    /// Clusters one centroid after the other.
    fn greedy(&self) -> Vec<u32> {
        let mut centroids: Vec<usize> = Vec::new();
        for sequence in 0..self.0.len() {
            if centroids.iter().all(|&centroid| self.0[sequence][centroid] == 0.0) {
                centroids.push(sequence);
            }
        }
        let nearest = |sequence: usize| {
            if centroids.contains(&sequence) {
                return sequence as u32;
            }
            let first_best = |best: usize, &other: &usize| {
                if self.0[sequence][other] > self.0[sequence][best] { other } else { best }
            };
            centroids.iter().fold(centroids[0], first_best) as u32
        };
        (0..self.0.len()).map(nearest).collect()
    }

    /// Merges the two clusters with the greatest linkage until none reaches the threshold.
    fn agglomerate(&self, linkage: impl Fn(&[usize], &[usize]) -> f64, threshold: f64) -> Vec<u32> {
        let mut clusters: Vec<Vec<usize>> = (0..self.0.len()).map(|sequence| vec![sequence]).collect();
        loop {
            let mut best: Option<(f64, usize, usize)> = None;
            for a in 0..clusters.len() {
                for b in a + 1..clusters.len() {
                    let linkage = linkage(&clusters[a], &clusters[b]);
                    if linkage >= threshold && best.is_none_or(|(most, ..)| linkage > most) {
                        best = Some((linkage, a, b));
                    }
                }
            }
            let Some((_, a, b)) = best else { break };
            let merged = clusters.remove(b);
            clusters[a].extend(merged);
            clusters[a].sort_unstable();
        }
        let mut representatives = vec![0; self.0.len()];
        clusters.iter().for_each(|cluster| cluster.iter().for_each(|&one| representatives[one] = cluster[0] as u32));
        representatives
    }
}

const THRESHOLD: f64 = 0.5;

/// Generates up to 11 sequences with their sizes and similar pairs. Identities have few values, so
/// that many are equal. They are binary fractions, so that sums are exact.
fn graph() -> impl Strategy<Value = (Vec<u64>, Vec<SimilarPair>)> {
    (1..12usize).prop_flat_map(|sequences| {
        let cells = prop::collection::vec(0..13u32, sequences * sequences);
        (prop::collection::vec(1..4u64, sequences), cells).prop_map(|(sizes, cells)| {
            let mut pairs = Vec::new();
            for later in 0..sizes.len() {
                for earlier in 0..later {
                    let sixteenths = cells[later * sizes.len() + earlier];
                    if sixteenths >= 8 {
                        let identity = f64::from(sixteenths) / 16.0;
                        let (earlier, later) = (earlier as u32, later as u32);
                        pairs.push(SimilarPair { earlier, later, identity, score: 0, strand: Strand::Plus });
                    }
                }
            }
            (sizes, pairs)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn methods_agree_with_textbook_versions((sizes, pairs) in graph()) {
        let matrix = Matrix::new(sizes.len(), &pairs);
        let cluster = |method: ClusterMethod| method.cluster(&sizes, &pairs, THRESHOLD).representatives;
        prop_assert_eq!(cluster(ClusterMethod::Greedy), matrix.greedy());
        let cross = |a: &[usize], b: &[usize]| -> Vec<(usize, usize)> {
            a.iter().flat_map(|&one| b.iter().map(move |&other| (one, other))).collect()
        };
        let most = |a: &[usize], b: &[usize]| cross(a, b).iter().map(|&(a, b)| matrix.0[a][b]).fold(0.0, f64::max);
        prop_assert_eq!(cluster(ClusterMethod::Single), matrix.agglomerate(most, THRESHOLD));
        let least = |a: &[usize], b: &[usize]| cross(a, b).iter().map(|&(a, b)| matrix.0[a][b]).fold(1.0, f64::min);
        prop_assert_eq!(cluster(ClusterMethod::Complete), matrix.agglomerate(least, THRESHOLD));
        let weight = |cluster: &[usize]| cluster.iter().map(|&one| sizes[one] as f64).sum::<f64>();
        let mean = |a: &[usize], b: &[usize]| {
            let sum: f64 = cross(a, b).iter().map(|&(a, b)| matrix.0[a][b] * (sizes[a] * sizes[b]) as f64).sum();
            sum / (weight(a) * weight(b))
        };
        prop_assert_eq!(cluster(ClusterMethod::Average), matrix.agglomerate(mean, THRESHOLD));
    }

    #[test]
    fn clusters_have_no_violation((sizes, pairs) in graph()) {
        for method in [ClusterMethod::Greedy, ClusterMethod::Single, ClusterMethod::Complete, ClusterMethod::Average] {
            let clusters = method.cluster(&sizes, &pairs, THRESHOLD);
            prop_assert_eq!(clusters.violation(method, &pairs), None, "{:?}", method);
            let all: usize = clusters.clusters().iter().map(Vec::len).sum();
            prop_assert_eq!(all, sizes.len());
        }
    }

    #[test]
    fn the_order_of_pairs_makes_no_difference((sizes, mut pairs) in graph(), seed in any::<u64>()) {
        for method in [ClusterMethod::Greedy, ClusterMethod::Single, ClusterMethod::Complete, ClusterMethod::Average] {
            let expected = method.cluster(&sizes, &pairs, THRESHOLD);
            fastrand::Rng::with_seed(seed).shuffle(&mut pairs);
            prop_assert_eq!(method.cluster(&sizes, &pairs, THRESHOLD), expected, "{:?}", method);
        }
    }

    #[test]
    fn batches_select_the_same_centroids((sizes, pairs) in graph(), cuts in prop::collection::vec(0..12usize, 0..4)) {
        let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(sizes.len())).chain([sizes.len()]).collect();
        ends.sort_unstable();
        let mut batched = GreedyCentroids::new(sizes.len());
        let mut start = 0;
        for end in ends {
            let inside = |sequence: u32| (start..end).contains(&(sequence as usize));
            for pair in pairs.iter().filter(|pair| inside(pair.later)) {
                if batched.is_centroid(pair.earlier) {
                    batched.add(pair.later, NearestCentroid::new(pair.earlier, pair));
                }
            }
            let open = |sequence: u32| inside(sequence) && !batched.is_assigned(sequence);
            let within: Vec<SimilarPair> = pairs.iter().filter(|pair| open(pair.earlier) && open(pair.later)).copied().collect();
            batched.decide(end, &within);
            start = end;
        }
        for pair in &pairs {
            if batched.is_centroid(pair.later) && !batched.is_centroid(pair.earlier) {
                batched.add(pair.earlier, NearestCentroid::new(pair.later, pair));
            }
        }
        // Pairs of a sequence and a centroid of its own batch, which joined an earlier centroid.
        for pair in &pairs {
            if batched.is_centroid(pair.earlier) && !batched.is_centroid(pair.later) {
                batched.add(pair.later, NearestCentroid::new(pair.earlier, pair));
            }
        }
        prop_assert_eq!(batched.finish(), ClusterMethod::Greedy.cluster(&sizes, &pairs, THRESHOLD));
    }
}

#[test]
fn broken_clusters_are_reported() {
    let pair = |earlier, later, identity| SimilarPair { earlier, later, identity, score: 0, strand: Strand::Plus };
    let pairs = [pair(0, 1, 0.9), pair(1, 2, 0.95), pair(2, 3, 0.9)];
    let violation = |method: ClusterMethod, representatives: [u32; 4]| {
        Clustering { representatives: representatives.into() }.violation(method, &pairs)
    };
    assert_eq!(violation(ClusterMethod::Greedy, [0, 0, 2, 2]), Some(Violation::CloserCentroid(1)));
    assert_eq!(violation(ClusterMethod::Greedy, [0, 2, 2, 2]), None);
    assert_eq!(violation(ClusterMethod::Greedy, [0, 1, 1, 3]), Some(Violation::SimilarCentroids(0, 1)));
    assert_eq!(violation(ClusterMethod::Greedy, [0, 2, 2, 0]), Some(Violation::FarMember(3)));
    assert_eq!(violation(ClusterMethod::Single, [0, 0, 2, 2]), Some(Violation::SeparatedPair(1, 2)));
    assert_eq!(violation(ClusterMethod::Single, [0, 0, 0, 0]), None);
    assert_eq!(violation(ClusterMethod::Complete, [0, 0, 0, 3]), Some(Violation::FarPair(0, 2)));
    assert_eq!(violation(ClusterMethod::Complete, [0, 0, 2, 2]), None);
    assert_eq!(violation(ClusterMethod::Average, [0, 1, 1, 0]), Some(Violation::Unconnected(3)));
}
