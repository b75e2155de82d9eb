use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::columns::ProfileColumns;
use super::join::JoinParameters;
use super::letters::CountedLetters;
use super::model::ProfilePairModel;
use super::profile::CountProfile;
use super::tuning::ProfileTuning;
use super::{
    AlignedStore, FamilyLimits, LargeRun, PairComputer, PosteriorOptions, align, align_alignments, align_with, tree,
};
use crate::Error;
use crate::alignment::MultipleAlignment;
use crate::engine::Batch;
use crate::engine::thread_engine::CpuKind;
use crate::posterior::cpu::PosteriorWorkspace;
use crate::posterior::model::Model;
use crate::posterior::oracle;
use crate::posterior::progressive::AlignedMembers;
use crate::posterior::tests::{family, random, relative, store};
use crate::posterior::work::{GatheredProbabilities, Posterior, PosteriorPlan};
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::{GuideTree, Join};

fn profile(letters: &CountedLetters, codes: &[Code]) -> CountProfile {
    CountProfile::new(letters, &[codes], &[1.0], &AlignedMembers::single(0, codes.len()))
}

#[test]
fn profiles_of_single_sequences_resemble_pairs() {
    let alphabet = Alphabet::Protein;
    let (model, letters) = (Model::new(alphabet).unwrap(), CountedLetters::new(alphabet).unwrap());
    for seed in 0..10 {
        let rng = &mut fastrand::Rng::with_seed(seed);
        let a = random(rng, alphabet, 90);
        let b = relative(&a, rng, alphabet);
        let columns_of =
            |codes| ProfileColumns::new(&profile(&letters, codes), &letters, &model.chain, &ProfileTuning::default());
        let (rows, columns) = (columns_of(&a), columns_of(&b));
        let both = ProfilePairModel {
            a: &rows,
            b: &columns,
            chain: &model.chain,
            mixed: 0.5,
            cutoff: 0.01,
            memory: usize::MAX,
            interrupt: &AtomicBool::new(false),
        };
        let pairs = InstructionSet::best().run(both);
        let truth = oracle::probabilities(&model, &a, &b);
        let (mut far, mut all) = (0.0, 0.0);
        for &(row, column, probability) in &pairs {
            far += (f64::from(probability) - truth[row as usize][column as usize]).abs();
            all += f64::from(probability);
        }
        // The two models differ: one is a hidden Markov model, the other a partition function over
        // scores. They agree on most residue pairs, but not on the probabilities.
        assert!(far < 0.4 * all, "seed {seed}: {far} of {all}");
    }
}

/// Aligns with families of at most four sequences, so that every kind of join occurs.
fn run(store: &SequenceStore, instructions: InstructionSet, threads: usize) -> (MultipleAlignment, GuideTree) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let limits = FamilyLimits { sequences: 4, ..FamilyLimits::default() };
    let never = AtomicBool::new(false);
    let run = LargeRun { pool: &pool, computer: None, memory: 1 << 30, advance: &|_, _| {}, interrupt: &never };
    align_with(&Arc::new(store.clone()), &PosteriorOptions::default(), &limits, instructions, run).unwrap()
}

#[test]
fn large_sets_do_not_depend_on_threads_and_vectors() {
    for alphabet in [Alphabet::Protein, Alphabet::Dna] {
        let store = store(alphabet, &family(alphabet, 15, 50, 5));
        let first = run(&store, InstructionSet::best(), 1);
        assert_eq!((first.0.rows(), first.1.leaves), (15, 15));
        assert_eq!(run(&store, InstructionSet::best(), 3), first);
        for instructions in InstructionSet::available() {
            assert_eq!(run(&store, instructions, 2), first, "{instructions:?}");
        }
    }
}

/// Computes a plan on the CPU engine, in batches of a few blocks.
fn compute_plan(plan: PosteriorPlan) -> crate::Result<GatheredProbabilities> {
    let mut gathered = GatheredProbabilities::of_plans(std::slice::from_ref(&plan));
    let mut workspace = PosteriorWorkspace::default();
    for blocks in plan.blocks.chunks(5) {
        let batch = Batch { chunk: Arc::clone(&plan.chunk), blocks: blocks.to_vec() };
        let report = Posterior::compute(&batch, &mut workspace, &AtomicBool::new(false))?;
        gathered.add(&batch, report)?;
    }
    Ok(gathered)
}

/// Aligns with families of at most six sequences, on engines if there is a computer.
fn run_on<'a>(
    store: &Arc<SequenceStore>,
    (pool, never): (&'a rayon::ThreadPool, &'a AtomicBool),
    memory: u64,
    computer: Option<&'a mut PairComputer<'a>>,
) -> (MultipleAlignment, GuideTree) {
    let limits = FamilyLimits { sequences: 6, ..FamilyLimits::default() };
    let run = LargeRun { pool, computer, memory, advance: &|_, _| {}, interrupt: never };
    align(store, &PosteriorOptions::default(), &limits, run).unwrap()
}

#[test]
fn large_sets_are_the_same_on_engines_and_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let never = AtomicBool::new(false);
    for (alphabet, seed) in [(Alphabet::Protein, 15), (Alphabet::Dna, 16)] {
        let mut all = family(alphabet, 27, 40, seed);
        all.extend([vec![], all[3][..20].to_vec()]);
        let store = Arc::new(store(alphabet, &all));
        for memory in [0, 100_000, 1 << 30] {
            let mut planned = 0;
            let mut computer = |plan: PosteriorPlan| {
                planned += 1;
                compute_plan(plan)
            };
            let on_engines = run_on(&store, (&pool, &never), memory, Some(&mut computer));
            assert_eq!(on_engines, run_on(&store, (&pool, &never), memory, None), "{alphabet:?} {memory}");
            assert!(planned > 3);
        }
    }
}

/// Threads that wait for parts of a join must not start other joins on the same stack.
#[test]
fn hundreds_of_joins_need_a_small_stack() {
    let store = Arc::new(store(Alphabet::Protein, &family(Alphabet::Protein, 400, 16, 3)));
    let never = AtomicBool::new(false);
    let limits = FamilyLimits { sequences: 1, ..FamilyLimits::default() };
    let align_on = |pool: rayon::ThreadPool| {
        let run = LargeRun { pool: &pool, computer: None, memory: 1 << 30, advance: &|_, _| {}, interrupt: &never };
        align(&store, &PosteriorOptions::default(), &limits, run).unwrap()
    };
    let builder = || rayon::ThreadPoolBuilder::new();
    let small = builder().num_threads(4).stack_size(1 << 20).build().unwrap();
    assert_eq!(align_on(small), align_on(builder().num_threads(1).build().unwrap()));
}

#[test]
fn equal_sequences_share_their_columns_in_large_sets() {
    let one = family(Alphabet::Protein, 1, 80, 6).remove(0);
    let (alignment, _) = run(&store(Alphabet::Protein, &vec![one; 17]), InstructionSet::best(), 1);
    assert_eq!((alignment.columns(), alignment.rows()), (80, 17));
}

#[test]
fn few_short_and_empty_sequences_are_aligned_as_large_sets() {
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
    assert_eq!(columns(&vec![p(""); 9]), 0);
    assert_eq!(columns(&vec![p("W"); 9]), 1);
    assert_eq!(columns(&vec![p("XXXXXXXX"); 9]), 8);
    let long = family(Alphabet::Protein, 1, 1500, 7).remove(0);
    let mut all = vec![long[700..740].to_vec(); 11];
    all.insert(3, long.clone());
    all.extend([p("W"), p(""), long]);
    assert!((1500..1502).contains(&columns(&all)));
}

#[test]
fn large_sets_of_bytes_and_interrupts_are_refused() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (options, limits) = (PosteriorOptions::default(), FamilyLimits { sequences: 4, ..FamilyLimits::default() });
    let run = |store: &SequenceStore, stop: bool| {
        let interrupt = AtomicBool::new(stop);
        let run = LargeRun { pool: &pool, computer: None, memory: 1 << 30, advance: &|_, _| {}, interrupt: &interrupt };
        align(&Arc::new(store.clone()), &options, &limits, run)
    };
    assert!(matches!(run(&SequenceStore::builder(Alphabet::Bytes).build(), false), Err(Error::Usage(_))));
    let store = store(Alphabet::Dna, &family(Alphabet::Dna, 9, 20, 8));
    assert!(matches!(run(&store, true), Err(Error::Interrupted)));
}

/// Neither the guide tree nor a join is computed to its end after an interrupt.
#[test]
fn an_interrupt_ends_every_stage_of_large_sets() {
    let alphabet = Alphabet::Dna;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let sequences = family(alphabet, 12, 60, 8);
    let slices: Vec<&[Code]> = sequences.iter().map(Vec::as_slice).collect();
    let parameters = JoinParameters::new(alphabet, InstructionSet::best()).unwrap();
    for is_set in [false, true] {
        let interrupt = AtomicBool::new(is_set);
        let is_interrupted = |result: Result<(), Error>| matches!(result, Err(Error::Interrupted));
        let guide = tree::guide(&slices, alphabet.size(), &pool, &interrupt);
        assert_eq!(is_interrupted(guide.map(drop)), is_set);
        let inputs = parameters.inputs(&slices, &interrupt);
        let columns = [0, 1].map(|one: usize| inputs.columns(&profile(inputs.letters, slices[one])));
        assert_eq!(inputs.profile_pairs(&columns[0], &columns[1]).is_empty(), is_set);
        assert_eq!(is_interrupted(inputs.check_interrupt()), is_set);
        let halves = [&sequences[..6], &sequences[6..]].map(|half| {
            let store = store(alphabet, half);
            let (alignment, _) = run(&store, InstructionSet::best(), 1);
            (store, alignment)
        });
        let [first, second] = halves.each_ref().map(|(sequences, alignment)| AlignedStore { sequences, alignment });
        assert_eq!(is_interrupted(align_alignments(first, second, &pool, &interrupt).map(drop)), is_set);
    }
}

/// Returns the fraction of the residue pairs in the first rows and columns of a true alignment that
/// the program also aligns.
fn correct_fraction(truth: &str, [rows, columns]: [usize; 2], alphabet: Alphabet) -> f64 {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/msa/").to_owned() + truth).unwrap();
    let row = |record: &str| record.lines().skip(1).flat_map(str::chars).take(columns).collect();
    let rows: Vec<String> = text.split('>').skip(1).map(row).take(rows).collect();
    let codes = |row: &String| -> Vec<Code> {
        row.bytes().filter(|&letter| letter != b'-').map(|letter| alphabet.encode(letter).unwrap()).collect()
    };
    let (alignment, _) = run(&store(alphabet, &rows.iter().map(codes).collect::<Vec<_>>()), InstructionSet::best(), 2);
    let homes = |row: &String| -> Vec<usize> {
        row.bytes().enumerate().filter(|&(_, letter)| letter != b'-').map(|(home, _)| home).collect()
    };
    let homes: Vec<Vec<usize>> = rows.iter().map(homes).collect();
    let (mut right, mut all) = (0, 0);
    for a in 0..homes.len() {
        for b in 0..a {
            let index: std::collections::HashMap<usize, u32> =
                homes[b].iter().copied().zip(alignment.residue_columns(b).iter().copied()).collect();
            for (home, column) in homes[a].iter().zip(alignment.residue_columns(a)) {
                if let Some(other) = index.get(home) {
                    all += 1;
                    right += usize::from(column == other);
                }
            }
        }
    }
    f64::from(right as u32) / f64::from(all as u32)
}

#[test]
fn joined_families_are_accurate() {
    let proteins = correct_fraction("sim_protein24.true.fasta", [12, 250], Alphabet::Protein);
    let genes = correct_fraction("sim_dna12.true.fasta", [8, 400], Alphabet::Dna);
    assert!(proteins > 0.93 && genes > 0.96, "{proteins} {genes}");
}

#[test]
fn families_are_maximal_and_joins_follow_their_children() {
    let join = |children| Join { children, lengths: [1.0; 2] };
    let tree = GuideTree { leaves: 5, joins: vec![join([0, 3]), join([5, 1]), join([2, 4]), join([6, 7])] };
    let families = tree::families(&tree, &[9; 5], |size| size.leaves <= 2 && size.cells <= 81);
    assert_eq!(families.members, [vec![0, 3], vec![1], vec![2, 4]]);
    assert_eq!(families.joins, [[0, 1], [3, 2]]);
    assert_eq!(tree::joins_by_depth(&families), [vec![0], vec![1]]);
    assert_eq!(tree::families(&tree, &[9; 5], |_| true).members, [vec![0, 1, 2, 3, 4]]);
    assert_eq!(tree::families(&tree, &[9; 5], |_| false).joins.len(), 4);
    let weights = tree::weights(&tree);
    assert!((weights.iter().sum::<f32>() - 5.0).abs() < 1e-4 && weights[1] < weights[2] && weights[2] < weights[0]);
}

#[test]
fn recomputed_rows_give_the_same_result() {
    let alphabet = Alphabet::Protein;
    let (model, letters) = (Model::new(alphabet).unwrap(), CountedLetters::new(alphabet).unwrap());
    let rng = &mut fastrand::Rng::with_seed(9);
    let a = random(rng, alphabet, 300);
    let b = relative(&a, rng, alphabet);
    let columns_of =
        |codes| ProfileColumns::new(&profile(&letters, codes), &letters, &model.chain, &ProfileTuning::default());
    let (rows, columns) = (columns_of(&a), columns_of(&b));
    let never = AtomicBool::new(false);
    let both = |memory| ProfilePairModel {
        a: &rows,
        b: &columns,
        chain: &model.chain,
        mixed: 0.5,
        cutoff: 0.01,
        memory,
        interrupt: &never,
    };
    let whole = InstructionSet::best().run(both(usize::MAX));
    assert!(whole.len() > 150);
    for instructions in InstructionSet::available() {
        assert_eq!(instructions.run(both(0)), whole, "{instructions:?}");
    }
}
