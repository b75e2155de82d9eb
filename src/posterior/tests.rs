use std::sync::atomic::AtomicBool;

use super::floats::{LANES, OnFloats};
use super::kernel::{CUTOFF, PosteriorLanes, PosteriorScratch, Posteriors};
use super::model::Model;
use super::{PosteriorOptions, align, align_along, align_with, oracle};
use crate::Error;
use crate::alignment::MultipleAlignment;
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::{GuideTree, Join};

pub(super) fn random(random: &mut fastrand::Rng, alphabet: Alphabet, length: usize) -> Vec<Code> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGTN" } else { b"ACDEFGHIKLMNPQRSTVWYXB" };
    (0..length).map(|_| alphabet.encode(letters[random.usize(..letters.len())]).unwrap()).collect()
}

/// Returns a relative of a sequence, with substitutions, deletions and insertions.
pub(super) fn relative(of: &[Code], rng: &mut fastrand::Rng, alphabet: Alphabet) -> Vec<Code> {
    let mut codes = Vec::new();
    for &code in of {
        match rng.u32(..20) {
            0 => {}
            1 => codes.extend(random(rng, alphabet, 3)),
            2..6 => codes.extend(random(rng, alphabet, 1)),
            _ => codes.push(code),
        }
    }
    codes
}

/// Returns the probabilities of one pair as a full table. Rows are residues of `a`.
fn table(model: &Model, a: &[Code], b: &[Code], instructions: InstructionSet, memory: usize) -> Vec<Vec<f32>> {
    let filler = vec![1; b.len() / 2 + 3];
    let mut group: Vec<&[Code]> = vec![&filler; LANES];
    group[5] = b;
    let group = PosteriorLanes::new(model, &group, &vec![true; model.codes()]);
    let mut scratch = PosteriorScratch::default();
    let kernel = Posteriors { model, group: &group, rows: a, lanes: 5..6, memory, scratch: &mut scratch };
    let pairs = instructions.run(OnFloats(kernel));
    let mut table = vec![vec![0.0; b.len()]; a.len()];
    for &(row, column, probability) in &pairs[5] {
        table[row as usize][column as usize] = probability;
    }
    assert!(pairs.iter().enumerate().all(|(lane, list)| lane == 5 || list.is_empty()), "lanes that were not asked for");
    table
}

fn check(model: &Model, a: &[Code], b: &[Code], name: &str) {
    let table = table(model, a, b, InstructionSet::best(), usize::MAX);
    let truth = oracle::probabilities(model, a, b);
    for (row, (table, truth)) in table.iter().zip(&truth).enumerate() {
        assert!(table.iter().sum::<f32>() < 1.001, "{name}: row {row}");
        for (column, (&value, &expected)) in table.iter().zip(truth).enumerate() {
            let expected = if value == 0.0 && expected < f64::from(CUTOFF) * 1.001 { 0.0 } else { expected };
            assert!((f64::from(value) - expected).abs() < 2e-3, "{name}: {row} {column}: {value}, not {expected}");
        }
    }
}

#[test]
fn probabilities_equal_the_oracle() {
    for seed in 0..12 {
        let alphabet = if seed % 3 == 0 { Alphabet::Dna } else { Alphabet::Protein };
        let model = Model::new(alphabet).unwrap();
        let rng = &mut fastrand::Rng::with_seed(seed);
        let length = rng.usize(1..120);
        let a = random(rng, alphabet, length);
        let b = relative(&a, rng, alphabet);
        let other_length = rng.usize(1..90);
        let other = random(rng, alphabet, other_length);
        check(&model, &a, &b, &format!("seed {seed}, relatives"));
        check(&model, &a, &other, &format!("seed {seed}, strangers"));
    }
}

/// The mean of the probabilities under all models of proteins, without the improbable ones.
#[test]
fn means_over_models_equal_the_oracle_in_any_order() {
    let mut models = Model::all(Alphabet::Protein).unwrap();
    assert_eq!((models.len() as u64, super::models(Alphabet::Dna)), (super::models(Alphabet::Protein), 1));
    let rng = &mut fastrand::Rng::with_seed(9);
    let a = random(rng, Alphabet::Protein, 61);
    let sequences = [a.clone(), relative(&a, rng, Alphabet::Protein), random(rng, Alphabet::Protein, 40)];
    let codes: Vec<&[Code]> = sequences.iter().map(Vec::as_slice).collect();
    let compute = |models: &[Model]| {
        let never = AtomicBool::new(false);
        super::all_pairs::compute(models, &codes, InstructionSet::best(), &|_, _| {}, &never).unwrap()
    };
    let means = compute(&models);
    for (row_id, column_id) in [(1, 0), (2, 0), (2, 1)] {
        let under = |model: &Model| oracle::probabilities(model, codes[row_id], codes[column_id]);
        let all: Vec<Vec<Vec<f64>>> = models.iter().map(under).collect();
        let mut probable = 0;
        for row in 0..codes[row_id].len() {
            let cells = means.get(row_id, column_id).row(row);
            for column in 0..codes[column_id].len() {
                let expected = all.iter().map(|table| table[row][column]).sum::<f64>() / all.len() as f64;
                let cell = cells.iter().find(|cell| cell.column() == column);
                // Members below the cutoff do not count.
                let value = cell.map_or(0.0, |cell| f64::from(cell.probability()));
                let is_dropped = cell.is_none() && expected < 2.0 * f64::from(CUTOFF);
                let lost = f64::from(CUTOFF) + 2e-3;
                assert!(
                    is_dropped || (-2e-3..lost).contains(&(expected - value)),
                    "{row} {column}: {value} {expected}"
                );
                probable += usize::from(value > 0.3);
            }
        }
        assert!(probable > 5 || column_id + row_id > 1, "{probable}");
    }
    models.reverse();
    assert_eq!(compute(&models), means);
}

/// Tests two domains in swapped order, of which the second is longer. The best path then starts
/// with a gap that is too long for floats without exponents.
#[test]
fn long_detours_keep_their_probability() {
    for alphabet in [Alphabet::Protein, Alphabet::Dna] {
        let model = Model::new(alphabet).unwrap();
        let rng = &mut fastrand::Rng::with_seed(3);
        let [short, long] = [150, 260].map(|length| random(rng, alphabet, length));
        let a = [short.clone(), long.clone()].concat();
        let b = [long, short].concat();
        check(&model, &a, &b, "swapped domains");
        let tail = random(rng, alphabet, 40);
        let a = [random(rng, alphabet, 900), tail.clone()].concat();
        check(&model, &a, &tail, "a short one at the end");
        check(&model, &tail, &a, "a long one before the end");
    }
}

#[test]
fn bits_do_not_depend_on_vectors_and_memory() {
    let model = Model::new(Alphabet::Protein).unwrap();
    let rng = &mut fastrand::Rng::with_seed(4);
    let a = random(rng, Alphabet::Protein, 203);
    let b = relative(&a, rng, Alphabet::Protein);
    let whole = table(&model, &a, &b, InstructionSet::best(), usize::MAX);
    assert!(whole.iter().flatten().any(|&value| value > 0.5));
    for instructions in InstructionSet::available() {
        assert_eq!(table(&model, &a, &b, instructions, usize::MAX), whole, "{instructions:?}");
    }
    for memory in [0, 1 << 19] {
        assert_eq!(table(&model, &a, &b, InstructionSet::best(), memory), whole, "{memory} bytes");
    }
}

/// Returns a store of sequences with their numbers as names.
pub(super) fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> SequenceStore {
    let mut builder = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        builder.push(index.to_string(), codes).unwrap();
    }
    builder.build()
}

fn run(store: &SequenceStore, instructions: InstructionSet, threads: usize) -> (MultipleAlignment, GuideTree) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let never = AtomicBool::new(false);
    let outcome =
        align_with(store, &PosteriorOptions::default(), None, instructions, &pool, &|_, _| {}, &never).unwrap();
    assert_eq!(outcome.distances.sequences(), store.len());
    (outcome.alignment, outcome.tree)
}

pub(super) fn family(alphabet: Alphabet, sequences: usize, length: usize, seed: u64) -> Vec<Vec<Code>> {
    let rng = &mut fastrand::Rng::with_seed(seed);
    let mut all = vec![random(rng, alphabet, length)];
    while all.len() < sequences {
        let parent = rng.usize(..all.len());
        all.push(relative(&all[parent].clone(), rng, alphabet));
    }
    all
}

#[test]
fn alignments_do_not_depend_on_threads_and_vectors() {
    for alphabet in [Alphabet::Protein, Alphabet::Dna] {
        let store = store(alphabet, &family(alphabet, 12, 50, 5));
        let first = run(&store, InstructionSet::best(), 1);
        assert_eq!(first.0.rows(), 12);
        assert_eq!(run(&store, InstructionSet::best(), 3), first);
        for instructions in InstructionSet::available() {
            assert_eq!(run(&store, instructions, 2), first, "{instructions:?}");
        }
    }
}

#[test]
fn given_tree_determines_the_order() {
    let store = store(Alphabet::Protein, &family(Alphabet::Protein, 9, 60, 11));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (never, options) = (AtomicBool::new(false), PosteriorOptions::default());
    let along = |tree: Option<&GuideTree>| align_along(&store, &options, tree, &pool, &|_, _| {}, &never);
    let default = along(None).unwrap();
    assert_eq!(along(Some(&default.tree)).unwrap(), default);
    // The tree adds one sequence per join, from the last to the first.
    let join = |at: u32| Join { children: [if at == 0 { 0 } else { 8 + at }, 8 - at], lengths: [0.0; 2] };
    let odd = GuideTree { leaves: 9, joins: (0..8).map(join).collect() };
    let other = along(Some(&odd)).unwrap();
    assert_eq!((&other.tree, other.distances), (&odd, default.distances));
    assert_ne!(other.alignment, default.alignment);
    let few = GuideTree { leaves: 1, joins: Vec::new() };
    assert!(matches!(along(Some(&few)), Err(Error::Usage(_))));
}

#[test]
fn equal_sequences_share_their_columns() {
    let one = family(Alphabet::Protein, 1, 80, 6).remove(0);
    let (alignment, tree) = run(&store(Alphabet::Protein, &vec![one; 5]), InstructionSet::best(), 1);
    assert_eq!((alignment.columns(), tree.leaves, tree.joins.len()), (80, 5, 4));
}

#[test]
fn few_short_and_empty_sequences_are_aligned() {
    let p = |letters: &str| letters.bytes().map(|letter| Alphabet::Protein.encode(letter).unwrap()).collect::<Vec<_>>();
    let columns = |sequences: &[Vec<Code>]| {
        let (alignment, tree) = run(&store(Alphabet::Protein, sequences), InstructionSet::best(), 1);
        assert_eq!((alignment.rows(), tree.leaves), (sequences.len(), sequences.len()));
        for (row, codes) in sequences.iter().enumerate() {
            assert_eq!(alignment.residue_columns(row).len(), codes.len());
        }
        alignment.columns()
    };
    assert_eq!(columns(&[]), 0);
    assert_eq!(columns(&[p("MKV")]), 3);
    assert_eq!(columns(&[p(""), p("")]), 0);
    assert_eq!(columns(&[p(""), p("MKVL"), p("MKVL")]), 4);
    assert_eq!(columns(&[p("W"), p("W")]), 1);
    assert_eq!(columns(&[p("XXXXXXXX"), p("XXXXXXXX"), p("XXXXXXXX")]), 8);
    let long = family(Alphabet::Protein, 1, 700, 7).remove(0);
    let middle = long[300..340].to_vec();
    assert_eq!(columns(&[long, middle.clone(), middle]), 700);
}

#[test]
fn bytes_and_interrupts_are_refused() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let bytes = SequenceStore::builder(Alphabet::Bytes).build();
    let never = AtomicBool::new(false);
    assert!(matches!(align(&bytes, &PosteriorOptions::default(), &pool, &|_, _| {}, &never), Err(Error::Usage(_))));
    let store = store(Alphabet::Dna, &family(Alphabet::Dna, 3, 20, 8));
    let now = AtomicBool::new(true);
    assert!(matches!(align(&store, &PosteriorOptions::default(), &pool, &|_, _| {}, &now), Err(Error::Interrupted)));
}

#[test]
fn memory_grows_with_the_number_of_pairs() {
    assert_eq!((super::memory(Alphabet::Protein, &[]), super::cells(&[])), (0, 0));
    assert_eq!(super::cells(&[3, 5, 7]), 15 + 21 + 35);
    let proteins = |lengths: &[u32]| super::memory(Alphabet::Protein, lengths);
    let (few, many) = (proteins(&[300; 100]), proteins(&[300; 1000]));
    assert!((90..=110).contains(&(many / few)), "{few} {many}");
    assert!((20 << 30..21 << 30).contains(&many), "{many}");
    assert!(super::memory(Alphabet::Dna, &[300; 1000]) > many);
    assert_eq!(proteins(&[u32::MAX; 100_000]), u64::MAX);
}
