//! The best edges of a read without scoring every edge: unions of vectors bound their members' scores from above.
//!
//! Eight vectors that follow each other have a union, eight unions have one again, and so on. A read is scored against the
//! topmost unions, then against the members of those that promise most, down to edges; that gives scores to beat. What
//! cannot beat them is left out with all its members, all else is scored. What comes out is the same as if every edge had
//! been scored.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{OCTET, Vectors};
use crate::seq::Strand;

/// Vectors up to which a level needs no further one above it.
const TOP: u32 = 64;
/// Octets that a read looks into at once on its way down.
const DIVE: usize = 8;

/// The distinct vectors of a tree's edges, and their unions.
#[derive(Debug)]
pub struct Levels {
    /// The vectors, and level by level what unites eight of the level below.
    levels: Vec<Arc<Vectors>>,
    /// Edges of each vector of the lowest level, in their order, one vector's after the other's.
    edges: Vec<u32>,
    /// Where each vector's edges begin, and where the last one's end.
    begins: Vec<u32>,
    /// The least edge of each vector and all after it.
    least: Vec<u32>,
}

impl Levels {
    /// Of distinct vectors, where each edge has the vector with this number. With `bounds`, with levels above them; without,
    /// every edge is scored.
    pub fn new(vectors: Vectors, vector_of: &[u32], bounds: bool, pool: &rayon::ThreadPool) -> Self {
        let count = vectors.len() as usize;
        let mut begins = vec![0u32; count + 1];
        vector_of.iter().for_each(|&vector| begins[vector as usize + 1] += 1);
        (0..count).for_each(|vector| begins[vector + 1] += begins[vector]);
        let (mut next, mut edges) = (begins.clone(), vec![0; vector_of.len()]);
        for (edge, &vector) in (0..).zip(vector_of) {
            let place = &mut next[vector as usize];
            edges[*place as usize] = edge;
            *place += 1;
        }
        let mut least = vec![u32::MAX; count + 1];
        for vector in (0..count).rev() {
            let own = edges.get(begins[vector] as usize).copied().unwrap_or(u32::MAX);
            least[vector] = own.min(least[vector + 1]);
        }
        let mut levels = vec![Arc::new(vectors)];
        while let Some(top) = levels.last().filter(|top| bounds && top.len() > TOP) {
            let unions = top.unions(pool);
            levels.push(Arc::new(unions));
        }
        Levels { levels, edges, begins, least }
    }

    /// Number of levels.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// There is always one.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The vectors of a level; 0 is the lowest.
    pub fn level(&self, level: usize) -> &Arc<Vectors> {
        &self.levels[level]
    }

    /// Edges in all.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Edges of a vector of the lowest level.
    fn edges_of(&self, vector: u32) -> &[u32] {
        &self.edges[self.begins[vector as usize] as usize..self.begins[vector as usize + 1] as usize]
    }

    /// An edge that none below a vector of a level comes before.
    fn least_edge(&self, level: usize, vector: u32) -> u32 {
        let first = (u64::from(vector) << (3 * level)).min(self.least.len() as u64 - 1);
        self.least[first as usize]
    }
}

const _: () = assert!(OCTET == 8, "levels shift by three bits");

/// An edge with a read's score there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// The edge.
    pub edge: u32,
    /// Its vector.
    pub vector: u32,
    /// The score.
    pub score: i32,
    /// The read's strand.
    pub strand: Strand,
}

impl Scored {
    /// Whether it comes before another: it scores more; or as much, and is the forward strand; or is the earlier edge.
    fn is_before(&self, other: &Scored) -> bool {
        let rank = |own: &Scored| (Reverse(own.score), own.strand, own.edge);
        rank(self) < rank(other)
    }
}

/// The best edge of a read, and the best other one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Best {
    /// The best.
    pub first: Option<Scored>,
    /// The best of another edge.
    pub second: Option<Scored>,
}

impl Best {
    fn add(&mut self, own: Scored) {
        match self.first {
            Some(first) if first.edge == own.edge => {
                if own.is_before(&first) {
                    self.first = Some(own);
                }
            }
            Some(first) if !own.is_before(&first) => {
                if self.second.is_none_or(|second| own.is_before(&second)) {
                    self.second = Some(own);
                }
            }
            before => (self.first, self.second) = (Some(own), before),
        }
    }
}

/// What is to be scored next of all reads: rounds follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// All of the topmost level.
    All,
    /// What promises most at this level.
    Dive(usize),
    /// All that may still win at this level.
    Sweep(usize),
}

impl Round {
    /// The next, where there are so many levels.
    pub fn next(self, levels: usize) -> Option<Self> {
        let top = levels - 1;
        match self {
            Round::All => (top > 0).then_some(Round::Dive(top)),
            Round::Dive(1) => Some(Round::Sweep(top)),
            Round::Dive(level) => Some(Round::Dive(level - 1)),
            Round::Sweep(1) => None,
            Round::Sweep(level) => Some(Round::Sweep(level - 1)),
        }
    }

    /// The level that is scored, where there are so many.
    pub fn level(self, levels: usize) -> usize {
        match self {
            Round::All => levels - 1,
            Round::Dive(level) | Round::Sweep(level) => level - 1,
        }
    }
}

/// A union whose members were not scored.
#[derive(Debug, Clone, Copy)]
struct Closed {
    bound: i32,
    strand: Strand,
    vector: u32,
}

/// How far a read is.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The best so far.
    pub best: Best,
    /// By level, from 1 on.
    closed: Vec<Vec<Closed>>,
}

impl Search {
    /// Nothing is known.
    pub fn new(levels: usize) -> Self {
        Search { best: Best::default(), closed: vec![Vec::new(); levels - 1] }
    }

    /// The scores of a strand of the read against an octet of a level.
    pub fn take(&mut self, levels: &Levels, level: usize, octet: u32, strand: Strand, scores: &[i32; OCTET]) {
        let first = octet * OCTET as u32;
        let count = levels.level(level).len() - first;
        for (vector, &score) in (first..).zip(scores.iter().take(count as usize)) {
            if level > 0 {
                self.closed[level - 1].push(Closed { bound: score, strand, vector });
                continue;
            }
            if self.best.second.is_some_and(|second| score < second.score) {
                continue;
            }
            // Of a vector's edges no more than two can be among the best two.
            for &edge in levels.edges_of(vector).iter().take(2) {
                self.best.add(Scored { edge, vector, score, strand });
            }
        }
    }

    /// Octets that are to be scored in a round, each with the strand; of [`Round::All`], which all reads have, none.
    pub fn open(&mut self, levels: &Levels, round: Round) -> Vec<(Strand, u32)> {
        let second = self.best.second;
        match round {
            Round::All => Vec::new(),
            Round::Dive(level) => {
                let closed = &mut self.closed[level - 1];
                closed.sort_unstable_by_key(|own| (Reverse(own.bound), own.strand, own.vector));
                closed.drain(..closed.len().min(DIVE)).map(|own| (own.strand, own.vector)).collect()
            }
            Round::Sweep(level) => {
                let may_win = |own: &Closed| {
                    let edge = levels.least_edge(level, own.vector);
                    let at_best = Scored { edge, vector: own.vector, score: own.bound, strand: own.strand };
                    second.is_none_or(|second| at_best.is_before(&second))
                };
                self.closed[level - 1].drain(..).filter(may_win).map(|own| (own.strand, own.vector)).collect()
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

    /// Scores by the textbook of all that rounds ask for, and the number of octets.
    fn search(levels: &Levels, strands: &[(Strand, Vec<u32>)], scheme: &PhyloScheme) -> (Best, usize) {
        let (mut search, mut octets) = (Search::new(levels.len()), 0);
        let mut round = Some(Round::All);
        while let Some(own) = round {
            let level = own.level(levels.len());
            let vectors = levels.level(level);
            let open = match own {
                Round::All => {
                    let all = |strand: Strand| (0..vectors.octets()).map(move |octet| (strand, octet));
                    strands.iter().flat_map(|(strand, _)| all(*strand)).collect()
                }
                _ => search.open(levels, own),
            };
            octets += open.len();
            for (strand, octet) in open {
                let read = &strands.iter().find(|(own, _)| *own == strand).expect("it was given").1;
                let scores = std::array::from_fn(|lane| {
                    let vector = octet * OCTET as u32 + lane as u32;
                    let sites: Vec<Site> = match vector < vectors.len() {
                        true => (0..vectors.sites()).map(|site| vectors.site(vector, site)).collect(),
                        false => Vec::new(),
                    };
                    oracle::score(read, &sites, scheme) as i32
                });
                search.take(levels, level, octet, strand, &scores);
            }
            round = own.next(levels.len());
        }
        (search.best, octets)
    }

    #[test]
    fn what_is_left_out_cannot_win() {
        let pool = thread_pool(1).unwrap();
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        let (mut all, mut scored) = (0, 0);
        for (count, sites, edges) in [(1, 9, 3), (8, 20, 8), (65, 30, 70), (200, 24, 230), (700, 16, 700)] {
            let mut vectors = Vectors::new(Alphabet::Dna, sites, count);
            let mut site = vec![Site::default(); sites as usize];
            for vector in 0..count {
                for (index, own) in (0..).zip(&mut site) {
                    if vector == 0 || rng.u32(..12) == 0 {
                        let is_gap = rng.u32(..5) == 0;
                        let set = 1 << rng.u32(..set_bits(Alphabet::Dna));
                        *own = Site { set, is_penalised: is_gap, is_free: is_gap };
                    }
                    vectors.set(vector, index, *own);
                }
            }
            // Some edges share a vector.
            let mut vector_of: Vec<u32> = (0..count).collect();
            (count..edges).for_each(|_| vector_of.push(rng.u32(..count)));
            let whole = Levels::new(vectors.clone(), &vector_of, false, &pool);
            let levels = Levels::new(vectors, &vector_of, true, &pool);
            assert_eq!((whole.len(), levels.edges()), (1, edges as usize));
            for scheme in [PhyloScheme::papara(), PhyloScheme::paper()] {
                for _ in 0..4 {
                    let read = |rng: &mut fastrand::Rng| (0..14).map(|_| 1 << rng.u32(..4)).collect::<Vec<u32>>();
                    let strands = [(Strand::Plus, read(rng)), (Strand::Minus, read(rng))];
                    let strands = &strands[..1 + rng.usize(..2)];
                    let (expected, octets) = search(&whole, strands, &scheme);
                    let (best, fewer) = search(&levels, strands, &scheme);
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
