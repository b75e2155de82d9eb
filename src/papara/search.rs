//! Finds the best edges of a read without scoring every edge. Unions of vectors bound the scores of
//! their members from above.
//!
//! The union of eight consecutive vectors is a vector that scores at least as high as each of them.
//! Eight unions have a union in turn, and so on. A read is first scored against the topmost unions.
//! The search then scores the members of the unions with the highest scores, down to the edges.
//! This gives scores to beat. Unions that cannot beat them are pruned with all their members. All
//! other edges are scored. The result is the same as if every edge had been scored.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{OCTET, Vectors};
use crate::seq::Strand;

/// Maximum number of vectors at the top of the tree of unions.
const MAX_TOP_VECTORS: u32 = 64;
/// Number of octets that a search scores per height on its way down to the edges.
const OCTETS_PER_DEPTH: usize = 8;

/// The distinct vectors of a tree's edges, and the tree of their unions. The vectors of the edges
/// have height 0. A vector of height h + 1 is the union of eight vectors of height h.
#[derive(Debug)]
pub struct UnionTree {
    /// Vectors by height.
    by_height: Vec<Arc<Vectors>>,
    /// Edges grouped by their vector. The edges of a vector are in increasing order.
    edges: Vec<u32>,
    /// Start of each vector's edges in `edges`, followed by the end of the last.
    starts: Vec<u32>,
    /// Smallest edge number of each vector and all vectors after it.
    smallest_edges: Vec<u32>,
}

impl UnionTree {
    /// Builds the tree from distinct vectors. `vector_of` contains the index of each edge's vector.
    /// Without `bounds`, no unions are built, so that every edge is scored.
    pub fn new(vectors: Vectors, vector_of: &[u32], bounds: bool, pool: &rayon::ThreadPool) -> Self {
        let count = vectors.len() as usize;
        let mut starts = vec![0u32; count + 1];
        vector_of.iter().for_each(|&vector| starts[vector as usize + 1] += 1);
        (0..count).for_each(|vector| starts[vector + 1] += starts[vector]);
        let (mut next, mut edges) = (starts.clone(), vec![0; vector_of.len()]);
        for (edge, &vector) in (0..).zip(vector_of) {
            let index = &mut next[vector as usize];
            edges[*index as usize] = edge;
            *index += 1;
        }
        let mut smallest_edges = vec![u32::MAX; count + 1];
        for vector in (0..count).rev() {
            let smallest = edges.get(starts[vector] as usize).copied().unwrap_or(u32::MAX);
            smallest_edges[vector] = smallest.min(smallest_edges[vector + 1]);
        }
        let mut by_height = vec![Arc::new(vectors)];
        while let Some(top) = by_height.last().filter(|top| bounds && top.len() > MAX_TOP_VECTORS) {
            let unions = top.unions(pool);
            by_height.push(Arc::new(unions));
        }
        UnionTree { by_height, edges, starts, smallest_edges }
    }

    /// Returns the number of heights.
    pub fn heights(&self) -> usize {
        self.by_height.len()
    }

    /// Checks whether the tree has no heights. This is never the case, because height 0 always
    /// exists.
    pub fn is_empty(&self) -> bool {
        self.by_height.is_empty()
    }

    /// Returns the vectors of a height.
    pub fn vectors(&self, height: usize) -> &Arc<Vectors> {
        &self.by_height[height]
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Returns the edges with this vector.
    fn edges_of(&self, vector: u32) -> &[u32] {
        &self.edges[self.starts[vector as usize] as usize..self.starts[vector as usize + 1] as usize]
    }

    /// Returns a lower bound on the numbers of the edges below a vector.
    fn smallest_edge(&self, height: usize, vector: u32) -> u32 {
        let first = (u64::from(vector) << (3 * height)).min(self.smallest_edges.len() as u64 - 1);
        self.smallest_edges[first as usize]
    }
}

const _: () = assert!(OCTET == 8, "a height shifts by three bits");

/// A read's score at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScoredEdge {
    /// The edge.
    pub edge: u32,
    /// Vector of the edge.
    pub vector: u32,
    /// Score of the read.
    pub score: i32,
    /// Strand of the read.
    pub strand: Strand,
}

impl ScoredEdge {
    /// Checks whether this edge ranks before another: by higher score, then by strand (plus first),
    /// then by smaller edge number.
    fn is_before(&self, other: &ScoredEdge) -> bool {
        let rank = |edge: &ScoredEdge| (Reverse(edge.score), edge.strand, edge.edge);
        rank(self) < rank(other)
    }
}

/// The best edge of a read, and the second-best edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BestEdges {
    /// The best edge.
    pub first: Option<ScoredEdge>,
    /// The best among all other edges.
    pub second: Option<ScoredEdge>,
}

impl BestEdges {
    fn add(&mut self, edge: ScoredEdge) {
        match self.first {
            Some(first) if first.edge == edge.edge => {
                if edge.is_before(&first) {
                    self.first = Some(edge);
                }
            }
            Some(first) if !edge.is_before(&first) => {
                if self.second.is_none_or(|second| edge.is_before(&second)) {
                    self.second = Some(edge);
                }
            }
            before => (self.first, self.second) = (Some(edge), before),
        }
    }
}

/// A round of scoring. All reads finish a round before the next one starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchRound {
    /// Scores all vectors of the greatest height.
    All,
    /// Scores the members of the most promising unions of this height.
    Dive(usize),
    /// Scores the members of all unions of this height that can still win.
    Sweep(usize),
}

impl SearchRound {
    /// Returns the next round for a tree with this number of heights.
    pub fn next(self, heights: usize) -> Option<Self> {
        let top = heights - 1;
        match self {
            SearchRound::All => (top > 0).then_some(SearchRound::Dive(top)),
            SearchRound::Dive(1) => Some(SearchRound::Sweep(top)),
            SearchRound::Dive(height) => Some(SearchRound::Dive(height - 1)),
            SearchRound::Sweep(1) => None,
            SearchRound::Sweep(height) => Some(SearchRound::Sweep(height - 1)),
        }
    }

    /// Returns the height of the vectors that the round scores.
    pub fn height(self, heights: usize) -> usize {
        match self {
            SearchRound::All => heights - 1,
            SearchRound::Dive(height) | SearchRound::Sweep(height) => height - 1,
        }
    }
}

/// A union whose members have not been scored.
#[derive(Debug, Clone, Copy)]
struct UnexpandedUnion {
    bound: i32,
    strand: Strand,
    vector: u32,
}

/// State of the search for the best edges of one read.
#[derive(Debug, Clone, Default)]
pub struct EdgeSearch {
    /// Best edges so far.
    pub best: BestEdges,
    /// Unexpanded unions by height, from height 1 on.
    unexpanded: Vec<Vec<UnexpandedUnion>>,
}

impl EdgeSearch {
    /// Creates a search without any scores.
    pub fn new(heights: usize) -> Self {
        EdgeSearch { best: BestEdges::default(), unexpanded: vec![Vec::new(); heights - 1] }
    }

    /// Adds the scores of one strand of the read against an octet.
    pub fn take(&mut self, tree: &UnionTree, height: usize, octet: u32, strand: Strand, scores: &[i32; OCTET]) {
        let first = octet * OCTET as u32;
        let count = tree.vectors(height).len() - first;
        for (vector, &score) in (first..).zip(scores.iter().take(count as usize)) {
            if height > 0 {
                self.unexpanded[height - 1].push(UnexpandedUnion { bound: score, strand, vector });
                continue;
            }
            if self.best.second.is_some_and(|second| score < second.score) {
                continue;
            }
            // Only the first two edges of a vector can be among the best two, because all have the
            // same score.
            for &edge in tree.edges_of(vector).iter().take(2) {
                self.best.add(ScoredEdge { edge, vector, score, strand });
            }
        }
    }

    /// Returns the octets to score in a round, each with its strand. Returns an empty list for
    /// [`SearchRound::All`], because all reads are scored against the same octets in that round.
    pub fn next_octets(&mut self, tree: &UnionTree, round: SearchRound) -> Vec<(Strand, u32)> {
        let second = self.best.second;
        match round {
            SearchRound::All => Vec::new(),
            SearchRound::Dive(height) => {
                let unexpanded = &mut self.unexpanded[height - 1];
                unexpanded.sort_unstable_by_key(|union| (Reverse(union.bound), union.strand, union.vector));
                unexpanded
                    .drain(..unexpanded.len().min(OCTETS_PER_DEPTH))
                    .map(|union| (union.strand, union.vector))
                    .collect()
            }
            SearchRound::Sweep(height) => {
                let may_win = |union: &UnexpandedUnion| {
                    let edge = tree.smallest_edge(height, union.vector);
                    let at_best = ScoredEdge { edge, vector: union.vector, score: union.bound, strand: union.strand };
                    second.is_none_or(|second| at_best.is_before(&second))
                };
                self.unexpanded[height - 1]
                    .drain(..)
                    .filter(may_win)
                    .map(|union| (union.strand, union.vector))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::thread_pool;
    use crate::papara::vectors::set_bits;
    use crate::papara::{Site, oracle};
    use crate::score::PhyloScheme;
    use crate::seq::Alphabet;

    /// Runs a search with textbook scores. Returns its result and the number of scored octets.
    fn search(tree: &UnionTree, strands: &[(Strand, Vec<u32>)], scheme: &PhyloScheme) -> (BestEdges, usize) {
        let (mut search, mut octets) = (EdgeSearch::new(tree.heights()), 0);
        let mut round = Some(SearchRound::All);
        while let Some(current) = round {
            let height = current.height(tree.heights());
            let vectors = tree.vectors(height);
            let next_octets = match current {
                SearchRound::All => {
                    let all = |strand: Strand| (0..vectors.octets()).map(move |octet| (strand, octet));
                    strands.iter().flat_map(|(strand, _)| all(*strand)).collect()
                }
                _ => search.next_octets(tree, current),
            };
            octets += next_octets.len();
            for (strand, octet) in next_octets {
                let read = &strands.iter().find(|(other, _)| *other == strand).expect("it was given").1;
                let scores = std::array::from_fn(|lane| {
                    let vector = octet * OCTET as u32 + lane as u32;
                    let sites: Vec<Site> = match vector < vectors.len() {
                        true => (0..vectors.sites()).map(|site| vectors.site(vector, site)).collect(),
                        false => Vec::new(),
                    };
                    oracle::score(read, &sites, scheme) as i32
                });
                search.take(tree, height, octet, strand, &scores);
            }
            round = current.next(tree.heights());
        }
        (search.best, octets)
    }

    #[test]
    fn pruned_search_finds_the_best_edges() {
        let pool = thread_pool(1).unwrap();
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        let (mut all, mut scored) = (0, 0);
        for (count, sites, edges) in [(1, 9, 3), (8, 20, 8), (65, 30, 70), (200, 24, 230), (700, 16, 700)] {
            let mut vectors = Vectors::new(Alphabet::Dna, sites, count);
            let mut site = vec![Site::default(); sites as usize];
            for vector in 0..count {
                for (index, site_value) in (0..).zip(&mut site) {
                    if vector == 0 || rng.u32(..12) == 0 {
                        let is_gap = rng.u32(..5) == 0;
                        let set = 1 << rng.u32(..set_bits(Alphabet::Dna));
                        *site_value = Site { set, is_penalised: is_gap, is_free: is_gap };
                    }
                    vectors.set(vector, index, *site_value);
                }
            }
            // Some edges share a vector.
            let mut vector_of: Vec<u32> = (0..count).collect();
            (count..edges).for_each(|_| vector_of.push(rng.u32(..count)));
            let whole = UnionTree::new(vectors.clone(), &vector_of, false, &pool);
            let tree = UnionTree::new(vectors, &vector_of, true, &pool);
            assert_eq!((whole.heights(), tree.edges()), (1, edges as usize));
            for scheme in [PhyloScheme::papara(), PhyloScheme::paper()] {
                for _ in 0..4 {
                    let read = |rng: &mut fastrand::Rng| (0..14).map(|_| 1 << rng.u32(..4)).collect::<Vec<u32>>();
                    let strands = [(Strand::Plus, read(rng)), (Strand::Minus, read(rng))];
                    let strands = &strands[..1 + rng.usize(..2)];
                    let (expected, octets) = search(&whole, strands, &scheme);
                    let (best, fewer) = search(&tree, strands, &scheme);
                    assert_eq!(best, expected, "{count} vectors, {scheme:?}, {strands:?}");
                    assert_eq!(best.second.is_some(), edges > 1);
                    if count == 700 {
                        (all, scored) = (all + octets, scored + fewer);
                    }
                }
            }
        }
        assert!(scored < all * 4 / 5, "{scored} octets of {all}: hardly any is left out");
    }
}
