//! Tests of the whole module. Alignments must equal those of ClustalW 2.1 for the same sequences
//! and trees. Passes must equal the textbook recurrence.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::columns::Penalties;
use super::oracle;
use super::pass::{MiddleRow, PairProblem, PassScratch, ProfileRectangle, backward, forward};
use super::recursion::PathRecursion;
use super::*;
use crate::error::Error;
use crate::seq::{Alphabet, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::{GuideTree, Join};

/// Sequences with a guide, and ClustalW's alignment of them.
struct ClustalCase {
    store: SequenceStore,
    tree: GuideTree,
    weights: Vec<i32>,
    rows: Vec<String>,
    order: Vec<u32>,
}

impl ClustalCase {
    fn read(alphabet: Alphabet, text: &str) -> ClustalCase {
        let mut store = SequenceStore::builder(alphabet);
        let (mut rows, mut order, mut weights, mut joins) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            let fields: Vec<&str> = line.split(' ').collect();
            match fields[..] {
                ["row", row] => {
                    store.push_letters("", row.replace('-', "").as_bytes()).unwrap();
                    rows.push(row.to_owned());
                }
                ["order", id] => order.push(id.parse().unwrap()),
                ["weight", weight] => weights.push(weight.parse().unwrap()),
                ["join", first, second, to_first, to_second] => joins.push(Join {
                    children: [first, second].map(|child| child.parse().unwrap()),
                    lengths: [to_first, to_second].map(|length| f64::from(length.parse::<f32>().unwrap())),
                }),
                _ => panic!("{line}"),
            }
        }
        ClustalCase { store: store.build(), tree: GuideTree { leaves: rows.len(), joins }, weights, rows, order }
    }

    /// Derives a percent identity from the length of the path in the tree.
    fn likeness(&self, a: usize, b: usize) -> f64 {
        let above = |mut node: usize| {
            let mut ways = vec![(node, 0.0f32)];
            for (number, join) in self.tree.joins.iter().enumerate() {
                if let Some(side) = join.children.iter().position(|&child| child as usize == node) {
                    node = self.tree.leaves + number;
                    ways.push((node, ways[ways.len() - 1].1 + join.lengths[side] as f32));
                }
            }
            ways
        };
        let (from_a, from_b) = (above(a), above(b));
        let meet =
            from_a.iter().find_map(|(node, way)| from_b.iter().find(|other| other.0 == *node).map(|o| way + o.1));
        100.0 - f64::from(meet.unwrap()).clamp(0.01, 1.0) * 100.0
    }

    fn align(
        &self,
        instructions: InstructionSet,
        threads: usize,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> crate::Result<Progressive> {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let likeness = |a, b| self.likeness(a, b);
        let guide = Guide { tree: &self.tree, weights: &self.weights, likeness: &likeness };
        let done = AtomicUsize::new(0);
        let progress = |step: usize, steps: usize| {
            assert!(step <= steps && steps >= self.tree.joins.len());
            done.fetch_add(1, Ordering::Relaxed);
        };
        let run = ProgressiveRun { threads: &threads, instructions, stopped, progress: &progress };
        let aligned = align(&self.store, &guide, &ProfileOptions::new(self.store.alphabet()), &run)?;
        assert!(done.into_inner() >= self.tree.joins.len());
        Ok(aligned)
    }
}

fn cases() -> [ClustalCase; 4] {
    [
        (Alphabet::Protein, include_str!("cases/protein.txt")),
        (Alphabet::Dna, include_str!("cases/dna.txt")),
        (Alphabet::Protein, include_str!("cases/late.txt")),
        (Alphabet::Protein, include_str!("cases/two.txt")),
    ]
    .map(|(alphabet, text)| ClustalCase::read(alphabet, text))
}

#[test]
fn alignments_equal_clustalw() {
    for (number, case) in cases().into_iter().enumerate() {
        for (instructions, threads) in InstructionSet::available().into_iter().zip([1, 2].into_iter().cycle()) {
            let aligned = case.align(instructions, threads, &|| false).unwrap();
            let row = |id: usize| {
                let letters = case.store.letters(id as u32);
                String::from_utf8(aligned.alignment.text(id, letters.as_bytes(), b'-')).unwrap()
            };
            let rows: Vec<String> = (0..case.rows.len()).map(row).collect();
            assert_eq!((&rows, &aligned.order), (&case.rows, &case.order), "{number} {instructions:?}");
        }
    }
}

#[test]
fn alignment_stops_when_requested() {
    for case in cases() {
        let checks = AtomicUsize::new(0);
        case.align(InstructionSet::best(), 1, &|| checks.fetch_add(1, Ordering::Relaxed) == usize::MAX).unwrap();
        // `stopped` returns true on every call after `patience` calls.
        let times = checks.into_inner();
        for patience in (0..times).step_by(1 + times / 40) {
            let checks = AtomicUsize::new(0);
            let ended = case.align(InstructionSet::best(), 1 + patience % 2, &|| {
                checks.fetch_add(1, Ordering::Relaxed) >= patience
            });
            assert!(matches!(ended, Err(Error::Interrupted)), "{patience}");
        }
    }
}

#[test]
fn scores_beyond_32_bits_are_an_error() {
    for delay in [30, 99] {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        (0..2).for_each(|_| store.push_letters("", [b'A'; 300_000]).unwrap());
        let join = Join { children: [0, 1], lengths: [0.1; 2] };
        let tree = GuideTree { leaves: 2, joins: vec![join] };
        let guide = Guide { tree: &tree, weights: &[500; 2], likeness: &|_, _| 80.0 };
        let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let run = ProgressiveRun {
            threads: &threads,
            instructions: InstructionSet::best(),
            stopped: &|| false,
            progress: &|_, _| {},
        };
        let options = ProfileOptions { delay, ..ProfileOptions::new(Alphabet::Dna) };
        let error = align(&store.build(), &guide, &options, &run).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}

#[test]
fn zero_and_one_sequence_are_aligned() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run = ProgressiveRun {
        threads: &threads,
        instructions: InstructionSet::PORTABLE,
        stopped: &|| false,
        progress: &|_, _| {},
    };
    for sequences in 0..2 {
        let mut store = SequenceStore::builder(Alphabet::Dna);
        (0..sequences).for_each(|_| store.push_letters("", b"ACGT").unwrap());
        let tree = GuideTree { leaves: sequences, joins: Vec::new() };
        let guide = Guide { tree: &tree, weights: &[1000][..sequences], likeness: &|_, _| unreachable!() };
        let aligned = align(&store.build(), &guide, &ProfileOptions::new(Alphabet::Dna), &run).unwrap();
        assert_eq!((aligned.alignment.rows(), aligned.alignment.columns()), (sequences, 4 * sequences));
        assert_eq!(aligned.order.len(), sequences);
    }
}

/// Profiles of random numbers.
struct RandomProfiles {
    penalties: [Penalties; 2],
    columns: [Vec<i32>; 2],
    letters: usize,
}

impl RandomProfiles {
    fn random(rng: &mut fastrand::Rng, lengths: [usize; 2]) -> RandomProfiles {
        let letters = rng.usize(1..24);
        let (most, kinds) = (rng.i32(1..2000), rng.usize(1..40));
        let costs = |rng: &mut fastrand::Rng, length: usize, most: i32| {
            let inner = |k: usize| 0 < k && k < length;
            (0..length + 2).map(|k| if inner(k) { rng.i32(1..=most) } else { 0 }).collect()
        };
        let penalties = lengths
            .map(|length| Penalties { open: costs(rng, length, most), extend: costs(rng, length, 1 + most / 20) });
        let mut columns = |length: usize, limit: i32| -> Vec<i32> {
            let kinds: Vec<Vec<i32>> =
                (0..kinds).map(|_| (0..letters).map(|_| rng.i32(-limit / 3..=limit)).collect()).collect();
            (0..length).flat_map(|_| kinds[rng.usize(..kinds.len())].clone()).collect()
        };
        let columns = [columns(lengths[0], most), columns(lengths[1], 10)];
        RandomProfiles { penalties, columns, letters }
    }

    fn check(&self, rectangle: ProfileRectangle, instructions: InstructionSet, kept: usize) {
        let scores = ColumnScores::with_limit(&self.columns[0], &self.columns[1], self.letters, instructions, kept);
        let problem = PairProblem::new(&self.penalties[0], &self.penalties[1], &scores);
        let (mut row, mut scratch) = (MiddleRow::default(), PassScratch::default());
        forward(instructions, &problem, rectangle, &mut row, &mut scratch);
        assert_eq!(row, oracle::forward(&problem, rectangle), "{rectangle:?} {instructions:?}");
        backward(instructions, &problem, rectangle, &mut row, &mut scratch);
        assert_eq!(row, oracle::backward(&problem, rectangle), "{rectangle:?} {instructions:?}");
    }
}

#[test]
fn middle_rows_equal_the_recurrence() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    for round in 0..300 {
        let lengths = [rng.usize(2..40), rng.usize(1..70)];
        let profiles = RandomProfiles::random(rng, lengths);
        let whole =
            ProfileRectangle { a: 0, b: 0, m: lengths[0], n: lengths[1], opens: rng.bool(), closes: rng.bool() };
        let (a, b) = (rng.usize(..lengths[0] - 1), rng.usize(..lengths[1]));
        let part =
            ProfileRectangle { a, b, m: rng.usize(2..=lengths[0] - a), n: rng.usize(1..=lengths[1] - b), ..whole };
        for instructions in InstructionSet::available() {
            profiles.check(whole, instructions, [0, usize::MAX][round % 2]);
            profiles.check(part, instructions, [0, usize::MAX][round % 2]);
        }
    }
}

#[test]
fn paths_are_complete_and_independent_of_vectors_and_threads() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for lengths in [[1, 1], [1, 30], [30, 1], [2, 2], [50, 40], [700, 600]] {
        let profiles = RandomProfiles::random(rng, lengths);
        let mut known = None;
        for instructions in InstructionSet::available() {
            for kept in [0, usize::MAX] {
                let scores = ColumnScores::with_limit(
                    &profiles.columns[0],
                    &profiles.columns[1],
                    profiles.letters,
                    instructions,
                    kept,
                );
                let problem = PairProblem::new(&profiles.penalties[0], &profiles.penalties[1], &scores);
                let recursion = PathRecursion { problem: &problem, instructions, stopped: &|| false };
                let path = threads.install(|| recursion.path());
                assert_eq!(path::join_columns(&path).maps.map(|map| map.len()), lengths);
                assert_eq!(known.get_or_insert_with(|| path.clone()), &path, "{lengths:?} {instructions:?}");
            }
        }
    }
}
