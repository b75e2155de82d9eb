//! Compares the kernels with the CPU bit by bit.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{PosteriorGpu, PosteriorShape, USUAL_RESULT_BYTES};
use crate::engine::thread_engine::CpuKind;
use crate::engine::{Batch, Engine, Portion, Work};
use crate::gpu::adapter::{FoundAdapter, enumerate};
use crate::gpu::memory::MIN_BYTES;
use crate::posterior::cpu::PosteriorWorkspace;
use crate::posterior::kernels::tasks::{PosteriorTasks, TaskResources};
use crate::posterior::sparse::Sparse;
use crate::posterior::work::{Posterior, PosteriorBatch, PosteriorBlock, PosteriorPlan};
use crate::seq::{Alphabet, Code, SequenceStore};

fn adapter() -> FoundAdapter {
    enumerate().into_iter().next().expect("no adapter runs compute shaders here: install software Vulkan")
}

fn engine() -> PosteriorGpu {
    PosteriorGpu::open(&adapter()).expect("the adapter opens").with_runtime_checks()
}

fn random(rng: &mut fastrand::Rng, alphabet: Alphabet, length: usize) -> Vec<Code> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGTACGTNRY" } else { b"ACDEFGHIKLMNPQRSTVWYXBZJ*" };
    (0..length).map(|_| alphabet.encode(letters[rng.usize(..letters.len())]).unwrap_or(1)).collect()
}

/// Returns similar sequences of these lengths.
fn family(rng: &mut fastrand::Rng, alphabet: Alphabet, lengths: &[usize]) -> Vec<Vec<Code>> {
    let ancestor = random(rng, alphabet, lengths.iter().copied().max().unwrap_or(0) + 8);
    let relative = |&length: &usize| {
        let (mut sequence, mut at) = (Vec::new(), rng.usize(..9));
        while sequence.len() < length {
            match rng.u32(..12) {
                0 => at += rng.usize(..6),
                1 => {
                    let more = rng.usize(..6);
                    sequence.extend(random(rng, alphabet, more));
                }
                2..5 => sequence.extend(random(rng, alphabet, 1)),
                _ => sequence.push(ancestor[at % ancestor.len()]),
            }
            at += 1;
        }
        sequence.truncate(length);
        sequence
    };
    lengths.iter().map(relative).collect()
}

fn batch(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<PosteriorBatch> {
    let mut builder = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        builder.push(index.to_string(), codes).expect("codes of the alphabet");
    }
    let plan = PosteriorPlan::new(Arc::new(builder.build())).expect("they suit");
    Arc::new(Batch { chunk: plan.chunk, blocks: plan.blocks })
}

fn on_the_cpu(batch: &PosteriorBatch) -> Vec<Sparse> {
    let report =
        Posterior::compute(batch, &mut PosteriorWorkspace::default(), &AtomicBool::new(false)).expect("it ends");
    Posterior::check(batch, &report).expect("it can be right");
    report.probabilities
}

/// Returns the results of the engine. `None` marks a pair whose survivors exceeded the memory.
fn results_of(engine: &mut PosteriorGpu, batch: &Arc<PosteriorBatch>) -> Vec<Option<Sparse>> {
    let ticket = engine.submit(Arc::clone(batch)).expect("the batch suits");
    let report = engine.collect(ticket).expect("the device answers");
    Posterior::check(batch, &report).expect("it can be right");
    let mut all = report.probabilities.into_iter();
    let results = |(index, block): (usize, &PosteriorBlock)| {
        let is_finished = !report.unfinished.contains(&index);
        all.by_ref().take(block.columns.len()).map(|sparse| is_finished.then_some(sparse)).collect::<Vec<_>>()
    };
    batch.blocks.iter().enumerate().flat_map(results).collect()
}

/// Compares the finished pairs with the CPU. Returns the number of unfinished pairs.
fn compare(engine: &mut PosteriorGpu, batch: &Arc<PosteriorBatch>, what: &str) -> usize {
    compare_with(&on_the_cpu(batch), engine, batch, what)
}

/// Compares the finished pairs with the results of the CPU. Returns the number of unfinished pairs.
fn compare_with(expected: &[Sparse], engine: &mut PosteriorGpu, batch: &Arc<PosteriorBatch>, what: &str) -> usize {
    let actual = results_of(engine, batch);
    let pairs = batch.blocks.iter().flat_map(|block| block.columns.clone().map(|column| (block.row, column)));
    assert!(expected.iter().any(|sparse| sparse.cells() > 0), "{what}: nothing is probable");
    let mut unfinished = 0;
    for (((row, column), actual), expected) in pairs.zip(actual).zip(expected) {
        let lengths = [row, column].map(|position| batch.chunk.length(position));
        match actual {
            Some(actual) => assert_eq!(&actual, expected, "{what}: {lengths:?} residues, positions {row} and {column}"),
            None => unfinished += 1,
        }
    }
    unfinished
}

fn assert_same(engine: &mut PosteriorGpu, batch: &Arc<PosteriorBatch>, what: &str) {
    assert_eq!(compare(engine, batch, what), 0, "{what}: all are finished");
}

#[test]
fn bits_equal_the_cpu_at_every_boundary() {
    for (seed, alphabet) in [(1, Alphabet::Protein), (2, Alphabet::Dna)] {
        println!("seed {seed}");
        let rng = &mut fastrand::Rng::with_seed(seed);
        let lengths = [1, 2, 7, 8, 9, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 0, 150];
        let mut sequences = family(rng, alphabet, &lengths);
        sequences.push(sequences[15].clone());
        sequences.push(random(rng, alphabet, 90));
        let batch = batch(alphabet, &sequences);
        let expected = on_the_cpu(&batch);
        for (workgroup, lanes) in [(16, 4), (4, 1), (8, 2), (32, 32)] {
            let mut engine = engine().with_shape(PosteriorShape { workgroup, lanes });
            let what = format!("{alphabet:?}, {lanes} of {workgroup}");
            assert_eq!(compare_with(&expected, &mut engine, &batch, &what), 0, "{what}: all are finished");
        }
    }
}

/// Each plan is computed with the weights of its own model, in any order of the models.
#[test]
fn models_of_the_same_sequences_equal_the_cpu() {
    let sequences = family(&mut fastrand::Rng::with_seed(6), Alphabet::Protein, &[40, 61, 64, 90]);
    let mut builder = SequenceStore::builder(Alphabet::Protein);
    sequences.iter().for_each(|codes| builder.push("s", codes).expect("codes of the alphabet"));
    let plans = PosteriorPlan::of_all_models(&Arc::new(builder.build())).expect("they suit");
    assert!(plans.len() > 1);
    let batches: Vec<Arc<PosteriorBatch>> =
        plans.into_iter().map(|plan| Arc::new(Batch { chunk: plan.chunk, blocks: plan.blocks })).collect();
    let mut engine = engine();
    for batch in batches.iter().chain(batches.iter().rev()) {
        assert_same(&mut engine, batch, "a model");
    }
}

#[test]
fn equal_and_ambiguous_letters_equal_the_cpu() {
    for (alphabet, letters) in [(Alphabet::Protein, b"WAX*"), (Alphabet::Dna, b"ACNR")] {
        let mut sequences = Vec::new();
        for (index, &letter) in letters.iter().enumerate() {
            let code = alphabet.encode(letter).unwrap_or(1);
            sequences.extend([vec![code; 40 + index], vec![code; 200]]);
        }
        assert_same(&mut engine(), &batch(alphabet, &sequences), &format!("{alphabet:?}"));
    }
}

#[test]
fn long_pairs_with_scaled_values_equal_the_cpu() {
    for alphabet in [Alphabet::Protein, Alphabet::Dna] {
        let rng = &mut fastrand::Rng::with_seed(3);
        let [short, long, tail] = [150, 330, 40].map(|length| random(rng, alphabet, length));
        let swapped = [[short.clone(), long.clone()].concat(), [long, short].concat()];
        let before = [random(rng, alphabet, 500), tail.clone()].concat();
        let sequences = [swapped[0].clone(), swapped[1].clone(), before, tail];
        assert_same(&mut engine(), &batch(alphabet, &sequences), &format!("{alphabet:?}, swapped domains, a tail"));
    }
}

#[test]
fn small_memory_needs_several_rounds() {
    let rng = &mut fastrand::Rng::with_seed(4);
    let sequences = family(rng, Alphabet::Protein, &[120; 12]);
    let batch = batch(Alphabet::Protein, &sequences);
    let whole = PosteriorTasks::new(
        &batch,
        TaskResources { workgroup: 16, lanes: 4, kept_fours: 1 << 24, scratch_words: 1 << 24 },
    );
    let whole = whole.expect("they fit");
    assert!(whole.rounds.len() == 1 && whole.rounds[0] == (0..17), "{:?}", whole.rounds);
    let third = whole.kept_fours / 3;
    let room = TaskResources { workgroup: 16, lanes: 4, kept_fours: third, scratch_words: 1 << 24 };
    let rounds = PosteriorTasks::new(&batch, room).expect("they fit").rounds;
    assert!(rounds.len() >= 3 && rounds.windows(2).all(|two| two[0].end == two[1].start), "{rounds:?}");
    // Forward values may use 3/16 of the memory.
    let memory = (third * 16 * 16 / 3).max(MIN_BYTES);
    let shape = PosteriorShape { workgroup: 16, lanes: 4 };
    assert_same(&mut engine().with_memory(memory).with_shape(shape), &batch, "little memory");
    let none = TaskResources { kept_fours: 10, ..room };
    assert!(PosteriorTasks::new(&batch, none).is_err());
}

#[test]
fn large_pairs_get_many_invocations() {
    let host = engine().state;
    let lanes = |length: usize, kept: u64| host.lanes(&batch(Alphabet::Dna, &vec![vec![1; length]; 20]), kept);
    assert_eq!([lanes(100, 1 << 20), lanes(100, 1), lanes(3000, 1 << 20)], [4, 16, 16]);
}

#[test]
fn excess_survivors_are_unfinished_and_fit_the_next_time() {
    let rng = &mut fastrand::Rng::with_seed(7);
    let batch = batch(Alphabet::Protein, &family(rng, Alphabet::Protein, &[70; 10]));
    let room = TaskResources { workgroup: 16, lanes: 4, kept_fours: 1 << 24, scratch_words: 1 << 24 };
    let rows = PosteriorTasks::new(&batch, room).expect("they fit").rows;
    let survivors: usize = on_the_cpu(&batch).iter().map(Sparse::cells).sum();
    let mut engine = engine();
    // Reserves one percent less memory than all survivors need. Only a few of the 45 pairs then
    // lack memory, in any order.
    *engine.state.density(&batch.chunk.model) = 0.99 * survivors as f64 / rows as f64;
    let unfinished = compare(&mut engine, &batch, "little room");
    assert!((1..45).contains(&unfinished), "{unfinished} of 45");
    assert_same(&mut engine, &batch, "more room");
}

#[test]
fn oversized_batches_are_unsuited() {
    let rng = &mut fastrand::Rng::with_seed(5);
    let batch = batch(Alphabet::Dna, &family(rng, Alphabet::Dna, &[9, 30, 22]));
    for label in ["sequences", "weights", "kept", "scratch", "output", "staging"] {
        let mut short = engine();
        short.gpu().feign_shortage(label, 0, 1);
        assert_same(&mut short, &batch, label);
        let mut short = engine();
        short.gpu().feign_shortage(label, 0, u64::MAX);
        let error = short.submit(Arc::clone(&batch)).expect_err("there is no memory");
        assert!(matches!(error, crate::Error::Unsuited { .. }), "{label}: {error}");
    }
}

#[test]
fn batch_size_follows_the_size_of_results() {
    let rng = &mut fastrand::Rng::with_seed(8);
    let batch = batch(Alphabet::Protein, &family(rng, Alphabet::Protein, &[40; 9]));
    let mut engine = engine();
    engine.forget_speed(Some(1e15));
    assert_eq!(engine.capacity().cells, 10_000_000_000_000, "a first one is as long as the device is thought to take");
    assert_same(&mut engine, &batch, "the first batch");
    // 36 pairs of 40 rows, 32 survivors of two u32 for each row, and the u32 before the survivors.
    let results = 36 * 4 * (40 * 32 * 2 + 4 + 40 + 5 + 41 + 3);
    let cells = USUAL_RESULT_BYTES * batch.cells() as f64 / f64::from(results);
    // The capacity must not depend on the time that the batch took.
    engine.set_speed(1e15);
    let actual = engine.capacity();
    assert_eq!((actual.cells, actual.batches), (cells as u64, 2), "one is read while the next is computed");
    let empty = self::batch(Alphabet::Protein, &[vec![], vec![]]);
    assert_eq!(results_of(&mut engine, &empty).len(), 1);
    assert_eq!(engine.capacity().cells, actual.cells, "without residues nothing is learnt");
}

#[test]
fn further_batches_reuse_buffers() {
    let rng = &mut fastrand::Rng::with_seed(9);
    let lengths = [65, 66, 67, 68, 69, 70, 71, 72, 73];
    let whole = batch(Alphabet::Protein, &family(rng, Alphabet::Protein, &lengths));
    let part = |blocks: std::ops::Range<usize>| {
        Arc::new(Batch { chunk: Arc::clone(&whole.chunk), blocks: whole.blocks[blocks].to_vec() })
    };
    for label in ["sequences", "weights", "kept", "scratch", "output", "staging"] {
        let mut engine = engine();
        assert_same(&mut engine, &part(0..6), "the first");
        engine.gpu().feign_shortage(label, 0, u64::MAX);
        // The same number of pairs, with longer sequences.
        assert_same(&mut engine, &part(5..8), label);
    }
}

#[test]
fn split_blocks_keep_all_pairs() {
    let rng = &mut fastrand::Rng::with_seed(6);
    let batch = batch(Alphabet::Dna, &family(rng, Alphabet::Dna, &[3, 5, 7, 9, 11]));
    let whole = batch.blocks.last().expect("there are some").clone();
    assert_eq!((Posterior::pairs(&whole), whole.cells), (4, 11 * 24));
    for (cells, pairs, first) in [(0, 9, 1), (88, 9, 2), (87, 9, 1), (1000, 3, 3), (1000, 0, 1), (1000, 4, 4)] {
        let portion = Portion { cells, pairs, target_bytes: 0 };
        let (head, tail) = Posterior::split(&batch.chunk, whole.clone(), portion);
        let left = tail.as_ref().map_or(0, |tail| tail.cells);
        assert_eq!((head.columns.clone(), head.cells + left), (0..first, whole.cells), "{portion:?}");
        assert_eq!(tail.map(|tail| tail.columns), (first < 4).then_some(first..4));
    }
}
