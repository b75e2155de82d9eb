//! Tests of distance jobs in blocks. Merged blocks must equal the whole job, with the same trees
//! and alignments.

use std::sync::Arc;

use pairwave::Job;
use pairwave::clustal::Clustal;
use pairwave::clustal::gpu::ClustalGpu;
use pairwave::clustal::mock::ClustalMock;
use pairwave::engine::Engine;
use pairwave::jobs::blocks::Divisible;
use pairwave::jobs::msa::{
    DistanceRows, MsaMode, MultiAlign, PairCounts, PairDistance, PairDistances, SequenceTree, TreeMethod,
};
use pairwave::profile;
use pairwave::seq::{Alphabet, SequenceStore};
use pairwave::tree::Distances;

use support::blocks::check_blocks;
use support::codec::check_codec;
use support::{Rng, rng, run_on, two_threads};

fn mocks() -> Vec<Box<dyn Engine<Clustal>>> {
    let mock = |name: &str, cells, pairs| -> Box<dyn Engine<Clustal>> {
        Box::new(ClustalMock::new(name).with_capacity(cells, pairs))
    };
    vec![mock("one", 2_000, 3), mock("two", 500, 7)]
}

/// Creates a family with some repeated sequences and an empty one.
fn store(random: &mut Rng, alphabet: Alphabet, count: usize) -> Arc<SequenceStore> {
    let lengths: Vec<usize> = (0..count).map(|_| 8 + random.below(30usize)).collect();
    let mut sequences = support::clustal::family(random, alphabet, &lengths);
    sequences.insert(count / 2, Vec::new());
    sequences.push(sequences[1].clone());
    sequences.push(sequences[2].clone());
    support::clustal::store(alphabet, &sequences)
}

fn whole(job: &PairDistances) -> Distances {
    let mut all = None;
    let summary = job.run(&two_threads(), |some| {
        all = some.first().cloned();
        Ok(())
    });
    summary.expect("the job ends");
    all.expect("there are distances")
}

fn gathered(job: &DistanceRows, rows: &[PairCounts]) -> Distances {
    let mut gathered = job.empty_collection().expect("it makes sense");
    rows.iter().rev().for_each(|row| gathered.add(std::slice::from_ref(row)).expect("it is of the job"));
    gathered.finish().expect("all are there")
}

#[test]
fn merged_distances_equal_the_whole_job() {
    let mut random = rng(1);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let sequences = store(&mut random, alphabet, 14);
        for kind in [PairDistance::Clustal, PairDistance::Identity, PairDistance::Edit] {
            for check in [false, true] {
                let of = PairDistances { kind, check, ..PairDistances::new(Arc::clone(&sequences)) };
                let job = DistanceRows::new(of.clone());
                let (expected, summary) = run_on(&job, mocks(), &two_threads()).expect("the job ends");
                check_codec(&job, &expected, &mut random);
                let distances = whole(&of);
                assert_eq!(gathered(&job, &expected), distances, "{alphabet:?} {kind:?}");
                for cells in [1, summary.cells / 9, u64::MAX] {
                    let session = || job.session_on(mocks(), &two_threads()).expect("it begins");
                    let blocks = check_blocks(&job, &expected, cells, &two_threads(), &mut random, session);
                    let sum = blocks.iter().fold((0, 0), |sum, block| (sum.0 + block.pairs, sum.1 + block.cells));
                    assert_eq!(sum, (summary.pairs, summary.cells));
                    assert!(cells > 1 || blocks.len() > 10, "{blocks:?}");
                }
                // The first distance is missing.
                let mut some = job.empty_collection().unwrap();
                some.add(&expected[1..]).unwrap();
                assert!(some.finish().unwrap_err().to_string().contains("missing"));
            }
        }
    }
}

#[test]
fn engines_continue_from_block_to_block() {
    let mut random = rng(2);
    let sequences = store(&mut random, Alphabet::Dna, 30);
    let job = DistanceRows::new(PairDistances::new(sequences));
    let (expected, summary) = run_on(&job, mocks(), &two_threads()).expect("the job ends");
    let gpu = || -> Vec<Box<dyn Engine<Clustal>>> {
        vec![Box::new(ClustalGpu::open(&support::adapter()).expect("the adapter opens"))]
    };
    let session = || job.session_on(gpu(), &two_threads()).expect("it begins");
    check_blocks(&job, &expected, summary.cells / 12, &two_threads(), &mut random, session);
    let opened = || job.session(&two_threads()).expect("it begins");
    check_blocks(&job, &expected, summary.cells / 5, &two_threads(), &mut random, opened);
}

#[test]
fn rows_of_another_job_are_refused() {
    let sequences = store(&mut rng(3), Alphabet::Dna, 5);
    for kind in [PairDistance::Clustal, PairDistance::Edit] {
        let job = DistanceRows::new(PairDistances { kind, ..PairDistances::new(Arc::clone(&sequences)) });
        let mut gathered = job.empty_collection().unwrap();
        let far = PairCounts { unit: 70, first: 71, counts: vec![1] };
        let long = PairCounts { unit: 0, first: 1, counts: vec![1; 9] };
        let end = PairCounts { unit: 0, first: u32::MAX, counts: vec![1] };
        for row in [far, long, end] {
            assert!(gathered.add(&[row]).unwrap_err().to_string().contains("do not belong to this job"));
        }
    }
    let words = PairDistances { kind: PairDistance::Kmer, ..PairDistances::new(sequences) };
    let error = DistanceRows::new(words).cut(1).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("k-mer"), "{error}");
}

#[test]
fn given_distances_give_equal_trees_and_alignments() {
    let sequences = store(&mut rng(4), Alphabet::Dna, 9);
    let run = two_threads();
    for method in [TreeMethod::NeighbourJoining, TreeMethod::Upgma] {
        let job = SequenceTree { method, needs_distances: true, ..SequenceTree::new(Arc::clone(&sequences)) };
        let made = run_on(&job, mocks(), &run).unwrap().0.remove(0);
        let given = Some(Arc::new(whole(&job.pair_distances().expect("of all pairs"))));
        let (mut again, summary) = run_on(&SequenceTree { given, ..job }, Vec::new(), &run).unwrap();
        let again = again.remove(0);
        assert_eq!((again.unrooted, again.tree, again.distances), (made.unrooted, made.tree, made.distances));
        assert!(summary.distances.engines.is_empty(), "nothing was computed");
    }
    for mode in [MsaMode::Clustal(profile::ProfileOptions::new(Alphabet::Dna)), MsaMode::default()] {
        let distance = Some(PairDistance::Clustal);
        let job = MultiAlign { mode, distance, ..MultiAlign::new(Arc::clone(&sequences)) };
        let made = run_on(&job, mocks(), &run).unwrap().0.remove(0);
        let given = Some(Arc::new(whole(&job.pair_distances().expect("of all pairs"))));
        let again = run_on(&MultiAlign { given, ..job }, Vec::new(), &run).unwrap().0.remove(0);
        assert_eq!((again.alignment, again.guide.unrooted), (made.alignment, made.guide.unrooted));
    }
    // Modes that use probabilities or seeds do not need pair distances.
    let accurate = MultiAlign::new(Arc::clone(&sequences));
    assert!(accurate.pair_distances().is_none());
    let seeds = SequenceTree { method: TreeMethod::Mbed, ..SequenceTree::new(Arc::clone(&sequences)) };
    assert!(seeds.pair_distances().is_none());
    let given = Some(Arc::new(Distances::new(3)));
    for wrong in [
        SequenceTree { given: given.clone(), ..SequenceTree::new(Arc::clone(&sequences)) }.validate(),
        SequenceTree { given: given.clone(), ..seeds }.validate(),
        MultiAlign { given, ..accurate }.validate(),
    ] {
        let error = wrong.unwrap_err();
        assert!(error.exit_code() == 2 && error.to_string().contains("given"), "{error}");
    }
}
