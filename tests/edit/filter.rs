//! Edit distances before scores: the filter does not change the written pairs, for every definition
//! of identity, with one file and with two.

use std::sync::Arc;

use pairwave::gpu::adapter::Device;
use pairwave::jobs::{AllPairs, EditFilter, Job, PairResult, Run, Summary};
use pairwave::score::edit_filter::edit_limit;
use pairwave::score::{Ambiguity, EndGaps, Gaps, IdentityDefinition, SCHEMES, Scoring};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strands};
use support::*;

/// Creates families of related sequences, with some fragments and some unrelated sequences.
fn families(seed: u64, alphabet: Alphabet, bare: bool) -> Arc<SequenceStore> {
    let mut rng = rng(seed);
    let codes: Vec<Code> = match (alphabet, bare) {
        (Alphabet::Dna, true) => vec![1, 2, 4, 8],
        (Alphabet::Dna, false) => vec![1, 2, 4, 8, 1, 2, 4, 8, 15, 5],
        _ => (1..21).collect(),
    };
    let mut store = SequenceStore::builder(alphabet);
    for family in 0..6 {
        let length = 40 + rng.below(160) as usize;
        let parent: Vec<Code> = (0..length).map(|_| codes[rng.below(codes.len() as u32) as usize]).collect();
        for member in 0..8 {
            let (from, to) = if member % 3 == 2 { (length / 5, length - length / 7) } else { (0, length) };
            let apart = [4, 15, 60][member % 3];
            let mut copy = Vec::new();
            for &code in &parent[from..to] {
                match rng.below(3 * apart) {
                    0 => {}
                    1 => copy.extend([code, codes[0]]),
                    2 => copy.push(codes[rng.below(codes.len() as u32) as usize]),
                    _ => copy.push(code),
                }
            }
            store.push(format!("{family}_{member}"), &copy).unwrap();
        }
    }
    Arc::new(store.build())
}

fn gpu() -> Device {
    Device::Adapter(Box::new(adapter()))
}

fn run(job: &AllPairs, edit_filter: EditFilter, device: Device) -> (Vec<PairResult>, Summary) {
    let run = Run { devices: vec![device], ..Run::default() };
    let mut results = Vec::new();
    let job = AllPairs { edit_filter, check: true, ..job.clone() };
    let summary = job.run(&run, |some| {
        results.extend_from_slice(some);
        Ok(())
    });
    (results, summary.expect("the job ends well"))
}

/// Name of the row with the pairs that are excluded because a bound on their score proves a long
/// overlap.
const SCORE_BOUNDS: &str = "score bounds (edit distances)";

/// Returns the number of pairs that edit distances or q-grams decided if `by_distance` is set.
/// Otherwise returns the number of all other pairs.
fn decided_pairs(summary: &Summary, by_distance: bool) -> u64 {
    let is_so = |name: &str| name != SCORE_BOUNDS && name.ends_with("(edit distances)") == by_distance;
    summary.engines.iter().filter(|engine| is_so(&engine.name)).map(|engine| engine.pairs).sum()
}

#[test]
fn filter_does_not_change_written_pairs() {
    let affine = Scoring { gaps: Gaps::from_blast(10, 1), end_gaps: EndGaps::Free, ..Scoring::truong() };
    let cases = [
        (Alphabet::Dna, true, Scoring::truong()),
        (Alphabet::Dna, false, Scoring::truong()),
        (Alphabet::Dna, false, affine),
        (Alphabet::Protein, true, Scoring::protein()),
    ];
    let (mut prefiltered, mut less, mut by_grams) = (0, 0, 0);
    for (index, (alphabet, bare, scoring)) in cases.into_iter().enumerate() {
        let store = families(0x51E7E + index as u64, alphabet, bare);
        for definition in IdentityDefinition::ALL {
            for (identity, against) in [(0.97, false), (0.8, false), (0.9, true)] {
                let job = AllPairs {
                    definition,
                    min_identity: Some(identity),
                    against: against.then(|| families(0x51E7E, alphabet, bare)),
                    max_hits: against.then_some(3),
                    ..AllPairs::new(Arc::clone(&store), Arc::new(scoring.clone()))
                };
                let (plain, _) = run(&job, EditFilter::Off, Device::Cpu);
                let (with, summary) = run(&job, EditFilter::On, gpu());
                assert_eq!(with, plain, "{alphabet:?} {definition:?} {identity}");
                assert!(against || !plain.is_empty());
                if let Ok(limit) = edit_limit(definition, identity, &scoring) {
                    prefiltered += 1;
                    assert!(summary.engines[0].name.ends_with("(edit distances)"), "{:?}", summary.engines);
                    assert_eq!(decided_pairs(&summary, true), summary.pairs);
                    let (on_cpu, summary) = run(&job, EditFilter::On, Device::Cpu);
                    assert_eq!(on_cpu, plain, "{alphabet:?} {definition:?} {identity} on the CPU");
                    assert_eq!(summary.engines[0].name, "cpu (edit distances)");
                    // Sequences of different families have no proof of a long overlap.
                    let is_less = limit.proof.is_some() || decided_pairs(&summary, false) < summary.pairs / 4;
                    less += usize::from(is_less);
                    by_grams +=
                        usize::from(summary.engines.iter().any(|engine| engine.name == "q-grams (edit distances)"));
                } else {
                    assert!(!summary.engines[0].name.ends_with("(edit distances)"));
                }
            }
        }
    }
    assert!(prefiltered > 30 && less > prefiltered / 2, "{less} of {prefiltered}");
    assert!(by_grams > 5, "{by_grams} of {prefiltered}");
}

/// Creates relatives of one sequence: whole, cut at either end, with repeated parts, short, or empty
/// of relation, some with ambiguous symbols.
fn relatives(seed: u64, alphabet: Alphabet, count: usize) -> Arc<SequenceStore> {
    let mut rng = rng(seed);
    let code = |rng: &mut Rng| match alphabet {
        Alphabet::Dna if rng.below(40u32) == 0 => 1 + rng.below(15u32) as Code,
        Alphabet::Dna => 1 << rng.below(4u32),
        _ => 1 + rng.below(20u32) as Code,
    };
    let length = 60 + rng.below(60u32) as usize;
    let parent: Vec<Code> = (0..length).map(|_| code(&mut rng)).collect();
    let mut store = SequenceStore::builder(alphabet);
    for number in 0..count {
        let cut = |rng: &mut Rng| if rng.below(2u32) == 0 { 0 } else { rng.below(length as u32 / 3) as usize };
        let (from, to) = (cut(&mut rng), length - cut(&mut rng));
        let apart = [4, 20, 100][rng.below(3usize)];
        let mut codes = Vec::new();
        for &old in &parent[from..to] {
            match rng.below(3 * apart) {
                0 => {}
                1 => codes.extend([old, code(&mut rng)]),
                2 => codes.push(code(&mut rng)),
                _ => codes.push(old),
            }
        }
        match number % 8 {
            5 => codes.truncate(1 + rng.below(12u32) as usize),
            6 => codes.iter_mut().for_each(|old| *old = code(&mut rng)),
            7 => codes.extend_from_within(..rng.below(20u32) as usize),
            _ => {}
        }
        store.push(format!("{number}"), &codes).unwrap();
    }
    Arc::new(store.build())
}

/// Returns random schemes of nucleotides with cheap end gaps and many ties.
fn cheap_schemes(rng: &mut Rng, count: usize) -> Vec<Scoring> {
    let scheme = |_| {
        let next = rng.below(4u32) as i32;
        let gaps = Gaps { first: next + rng.below(8u32) as i32, next };
        let end_next = rng.below(next as u32 + 1) as i32;
        let ends = Gaps { first: end_next + rng.below((gaps.first - end_next) as u32 + 1) as i32, next: end_next };
        let rule = [Ambiguity::Overlap, Ambiguity::Mismatch, Ambiguity::Zero, Ambiguity::Mean][rng.below(4usize)];
        let (high, low) = (1 + rng.below(4u32) as i32, 1 - rng.below(6u32) as i32);
        Scoring::nucleotide(high, low, rule, gaps, EndGaps::Priced(ends)).unwrap()
    };
    (0..count).map(scheme).collect()
}

#[test]
fn filter_does_not_change_written_pairs_under_any_scheme() {
    let seed = 0xC4EA9;
    println!("seed {seed:#x}");
    let named =
        SCHEMES.iter().flat_map(|scheme| [Alphabet::Dna, Alphabet::Protein].map(|one| scheme.scoring(one).ok()));
    let mut schemes: Vec<Scoring> = named.flatten().collect();
    schemes.extend(cheap_schemes(&mut rng(seed), 10));
    let (mut with_proofs, mut proven, mut written) = (0, 0, 0);
    for (number, scoring) in schemes.into_iter().enumerate() {
        let alphabet = scoring.alphabet;
        let store = relatives(seed + number as u64, alphabet, 24);
        for (definition, identity) in
            IdentityDefinition::ALL.into_iter().map(|one| (one, 0.8)).chain([(IdentityDefinition::InnerColumns, 0.97)])
        {
            let against = (number % 3 == 1).then(|| relatives(seed + 100, alphabet, 20));
            let strand = if alphabet == Alphabet::Dna && number % 3 == 2 { Strands::Both } else { Strands::Plus };
            let job = AllPairs {
                definition,
                min_identity: Some(identity),
                against,
                strand,
                ..AllPairs::new(Arc::clone(&store), Arc::new(scoring.clone()))
            };
            let (plain, _) = run(&job, EditFilter::Off, Device::Cpu);
            let (with, summary) = run(&job, EditFilter::On, Device::Cpu);
            assert_eq!(with, plain, "{definition:?} {identity} {scoring:?}");
            written += plain.len();
            let limit = edit_limit(definition, identity, &scoring);
            let row = summary.engines.iter().find(|engine| engine.name == SCORE_BOUNDS);
            assert_eq!(row.is_some(), limit.is_ok_and(|limit| limit.proof.is_some()));
            with_proofs += usize::from(row.is_some());
            proven += row.map_or(0, |row| row.pairs);
        }
    }
    println!("{with_proofs} jobs with proofs, {proven} pairs excluded by them, {written} pairs written");
    assert!(with_proofs > 10 && proven > 300 && written > 500, "{with_proofs} {proven} {written}");
}

#[test]
fn small_job_uses_no_filter() {
    let job = AllPairs {
        min_identity: Some(0.97),
        ..AllPairs::new(families(1, Alphabet::Dna, true), Arc::new(Scoring::truong()))
    };
    let (_, summary) = run(&job, EditFilter::Auto, gpu());
    assert_eq!(summary.engines.len(), 1);
}

/// Devices are measured when they are opened. The measurement must save time for the remaining
/// pairs.
#[test]
fn devices_are_opened_for_remaining_pairs() {
    let job = AllPairs {
        min_identity: Some(0.97),
        ..AllPairs::new(families(1, Alphabet::Dna, true), Arc::new(Scoring::truong()))
    };
    warnings::record("debug");
    let (_, summary) = run(&job, EditFilter::On, gpu());
    let left: u64 = summary.engines[1..].iter().map(|engine| engine.cells).sum();
    assert!(left > 0 && left < summary.cells, "{left} of {}", summary.cells);
    let opened = warnings::lines_with("opened adapters=1");
    assert!(opened.iter().any(|line| line.contains(&format!("cells={left} "))), "{left}: {opened:#?}");
}
