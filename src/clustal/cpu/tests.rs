use super::*;
use crate::clustal::costs::PairGaps;
use crate::clustal::{Clustal, ClustalBatch, ClustalCosts, ClustalPlan, oracle};
use crate::engine::Work;
use crate::engine::mock::TextbookKind;
use crate::engine::thread_engine::CpuKind;
use crate::error::Error;
use crate::score::clustal::ClustalMatrix;
use crate::seq::{Alphabet, Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Derives a sequence from an ancestor by substitutions, deletions and insertions.
fn relative(random: &mut fastrand::Rng, ancestor: &[Code], letters: &[Code], change: f64) -> Vec<Code> {
    let mut codes = Vec::new();
    let mut at = random.usize(..=ancestor.len().min(9));
    while at < ancestor.len() {
        if random.f64() < change / 6.0 {
            at += random.usize(1..12);
        } else if random.f64() < change / 6.0 {
            codes.extend((0..random.usize(1..12)).map(|_| letters[random.usize(..letters.len())]));
        } else {
            let other = random.f64() < change;
            codes.push(if other { letters[random.usize(..letters.len())] } else { ancestor[at] });
            at += 1;
        }
    }
    codes
}

/// Creates families of near and distant sequences. Some families have only two letters.
fn families(random: &mut fastrand::Rng, alphabet: Alphabet, members: usize, most: usize) -> SequenceStore {
    let all: Vec<Code> = match alphabet {
        Alphabet::Dna if random.bool() => vec![1, 2, 4, 8],
        Alphabet::Dna => (1..16).collect(),
        _ => (1..27).filter(|code| *code != 10).collect(),
    };
    let letters = if random.u8(..3) == 0 { &all[..2] } else { &all[..] };
    let ancestor: Vec<Code> = (0..random.usize(..=most)).map(|_| letters[random.usize(..letters.len())]).collect();
    let mut store = SequenceStore::builder(alphabet);
    for _ in 0..members {
        let change = [0.0, 0.02, 0.2, 0.5, 0.8][random.usize(..5)];
        store.push("s", &relative(random, &ancestor, letters, change)).unwrap();
    }
    store.build()
}

/// Returns costs with ordinary, free and expensive gaps.
fn costs(alphabet: Alphabet) -> Vec<ClustalCosts> {
    let custom = |open, extend| {
        let name = if alphabet == Alphabet::Dna { "iub" } else { "gonnet250" };
        ClustalCosts::new(alphabet, ClustalMatrix::built_in(name).unwrap(), PairGaps { open, extend, transition: 0.5 })
    };
    vec![ClustalCosts::for_alphabet(alphabet), custom(1.0, 0.0), custom(0.0, 1.0), custom(2.0, 0.2), custom(40.0, 3.0)]
}

/// Checks families of fewer than `members` sequences, whose ancestors have at most `most` residues.
fn check(seed: u64, sets: &[InstructionSet], rounds: usize, members: usize, most: usize) {
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..rounds {
        let alphabet = if random.bool() { Alphabet::Dna } else { Alphabet::Protein };
        let members = random.usize(2..members);
        let store = families(&mut random, alphabet, members, most);
        let count = store.len() as SequenceId;
        let pairs: Vec<_> = (0..count).flat_map(|a| (a..count).map(move |b| (a, b))).collect();
        for costs in costs(alphabet) {
            let expected: Vec<_> =
                pairs.iter().map(|&(a, b)| oracle::identities(store.codes(a), store.codes(b), &costs)).collect();
            for &instructions in sets {
                let actual =
                    compute(&store, &costs, &pairs, &mut ClustalWorkspace::with(instructions), || false).unwrap();
                for ((pair, actual), expected) in pairs.iter().zip(actual).zip(&expected) {
                    assert_eq!(&actual, expected, "seed {seed}, round {round}, {instructions:?}, {pair:?}, {costs:?}");
                }
            }
        }
    }
}

#[test]
fn identities_match_textbook_on_every_instruction_set() {
    check(fastrand::u64(..), &InstructionSet::available(), 30, 9, 40);
}

/// Tests gaps that the recursion chooses at a corner of the rectangle, where opening a gap is free.
#[test]
fn gaps_at_corners_match_textbook() {
    for seed in [331, 1287, 1811, 15_262_635_080_471_336_067] {
        check(seed, &[InstructionSet::best()], 10, 9, 40);
    }
}

#[test]
fn longer_pairs_match_textbook() {
    check(fastrand::u64(..), &[InstructionSet::best()], 6, 6, 250);
}

#[test]
fn results_do_not_depend_on_memory_limit() {
    let mut random = fastrand::Rng::with_seed(11);
    let store = families(&mut random, Alphabet::Protein, 12, 200);
    let costs = ClustalCosts::protein();
    let pairs: Vec<_> = (0..12).flat_map(|a| (a..12).map(move |b| (a, b))).collect();
    let expected = compute(&store, &costs, &pairs, &mut ClustalWorkspace::new(), || false);
    let mut narrow = ClustalWorkspace::new();
    narrow.max_elements = 0;
    assert_eq!(compute(&store, &costs, &pairs, &mut narrow, || false), expected);
}

#[test]
fn threads_share_pairs_and_stop_on_request() {
    let mut random = fastrand::Rng::with_seed(7);
    let store = families(&mut random, Alphabet::Protein, 20, 50);
    let costs = ClustalCosts::protein();
    let pairs: Vec<_> = (0..20).flat_map(|a| (a + 1..20).map(move |b| (a, b))).collect();
    let one = identities(&store, &costs, &pairs, 1);
    assert_eq!(one.len(), pairs.len());
    for threads in [0, 2, 3, 500] {
        assert_eq!(identities(&store, &costs, &pairs, threads), one, "{threads}");
    }
    assert!(identities(&store, &costs, &[], 2).is_empty());
    assert!(compute(&store, &costs, &pairs, &mut ClustalWorkspace::new(), || true).is_none());
}

#[test]
fn batch_report_matches_textbook() {
    let mut random = fastrand::Rng::with_seed(5);
    let store = families(&mut random, Alphabet::Dna, 25, 60);
    let plan = ClustalPlan::new(Arc::new(store), Arc::new(ClustalCosts::dna()));
    let batch = ClustalBatch { chunk: Arc::clone(&plan.chunk), blocks: plan.blocks.clone() };
    let report = <Clustal as CpuKind>::compute(&batch, &mut ClustalWorkspace::new(), &AtomicBool::new(false)).unwrap();
    let textbook = Clustal::compute_textbook(&batch, &AtomicBool::new(false)).unwrap();
    assert_eq!(report.identities, textbook.identities);
    assert_eq!(Clustal::check(&batch, &report), Ok(()));
    let over = <Clustal as CpuKind>::compute(&batch, &mut ClustalWorkspace::new(), &AtomicBool::new(true));
    assert!(matches!(over, Err(Error::Interrupted)));
}
