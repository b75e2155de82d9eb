use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::alignment::Cigar;
use crate::engine::thread_engine::CpuKind;
use crate::pairs::cpu::PairsScratch;
use crate::pairs::cpu::compute::{ComputedHits, LaneForm, ScoreWorkspace, run_tracing};
use crate::pairs::{Pairs, PairsBatch, PairsBlock, PairsChunk, ResultFilter, oracle};
use crate::score::{Ambiguity, EndGaps, Gaps, Scoring};
use crate::seq::{Alphabet, Code, SequenceStore};
use crate::simd::InstructionSet;
use crate::trace::{self, Hint, traceback};

/// Returns a batch with all pairs of sequences of a store, in both orders.
fn all_pairs(store: &Arc<SequenceStore>, scoring: &Scoring, earlier_is_query: bool) -> PairsBatch {
    let all = 0..store.len() as u32;
    let chunk = Arc::new(PairsChunk {
        queries: Arc::clone(store),
        targets: Arc::clone(store),
        order: all.clone().collect(),
        scoring: Arc::new(scoring.clone()),
        filter: ResultFilter::Alignments,
        earlier_is_query,
    });
    let blocks = all.clone().map(|query| PairsBlock { query, targets: all.clone(), cells: 0 }).collect();
    PairsBatch { chunk, blocks }
}

/// Pairs of a store with their score, matches and alignment, each computed when it is needed first.
struct CheckedPairs<'a> {
    store: &'a Arc<SequenceStore>,
    scoring: &'a Scoring,
    known: HashMap<[u32; 2], (i64, u64, Cigar)>,
}

impl<'a> CheckedPairs<'a> {
    fn new(store: &'a Arc<SequenceStore>, scoring: &'a Scoring) -> Self {
        CheckedPairs { store, scoring, known: HashMap::new() }
    }

    /// Computes the alignments of all pairs with one instruction set, and checks them against the
    /// oracle, or the general traceback if they are long. Returns the number of pairs that were
    /// traced from kept rows.
    fn check(&mut self, instructions: InstructionSet, earlier_is_query: bool) -> usize {
        let CheckedPairs { store, scoring, known } = self;
        let workspace = &mut ScoreWorkspace::with(instructions, LaneForm::Targets);
        let batch = all_pairs(store, scoring, earlier_is_query);
        let ComputedHits { hits, traces, .. } = run_tracing(&batch, true, workspace).unwrap();
        let traces = traces.unwrap();
        assert_eq!((hits.len(), traces.spans.len()), (store.len() * store.len(), hits.len()));
        let tracing = &mut trace::TracebackWorkspace::default();
        let mut traced = 0;
        for (hit, span) in hits.iter().zip(&traces.spans) {
            let is_exchanged = earlier_is_query && hit.target < hit.query;
            let pair = if is_exchanged { [hit.target, hit.query] } else { [hit.query, hit.target] };
            let [a, b] = pair.map(|id| store.codes(id));
            let &Some((first, runs)) = span else { continue };
            let actual = crate::alignment::packed::unpack(&traces.words[first..], runs);
            let (score, matches, expected) = known.entry(pair).or_insert_with(|| {
                if a.len() * b.len() < 10_000 {
                    let expected = oracle::align(a, b, scoring);
                    return (expected.score, expected.matches, expected.cigar);
                }
                let expected = traceback(a, b, scoring, Hint::NONE, tracing).unwrap();
                let matches = expected.cigar.counts().matches;
                (expected.score, matches, expected.cigar)
            });
            let what = || format!("{instructions:?} turned {is_exchanged} {a:?} {b:?} {scoring:?}");
            assert_eq!((hit.score, hit.matches), (*score, Some(*matches)), "{}", what());
            assert_eq!(actual, *expected, "{}", what());
            traced += 1;
        }
        traced
    }
}

/// Checks all pairs of a store once.
fn check(store: &Arc<SequenceStore>, scoring: &Scoring, instructions: InstructionSet, earlier_is_query: bool) -> usize {
    CheckedPairs::new(store, scoring).check(instructions, earlier_is_query)
}

fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(alphabet);
    sequences.iter().enumerate().for_each(|(k, codes)| builder.push_valid(format!("s{k}"), codes));
    Arc::new(builder.build())
}

/// Returns a relative of a sequence: some symbols are changed, a run is deleted, and another run is
/// inserted.
fn relative(parent: &[Code], random: &mut fastrand::Rng, letters: &[Code]) -> Vec<Code> {
    let mut codes = parent.to_vec();
    let every = random.usize(2..20);
    codes.iter_mut().for_each(|code| {
        if random.usize(..every) == 0 {
            *code = letters[random.usize(..letters.len())];
        }
    });
    if !codes.is_empty() && random.bool() {
        let at = random.usize(..codes.len());
        codes.drain(at..(at + random.usize(1..60)).min(codes.len()));
    }
    if random.bool() {
        let (at, length) = (random.usize(..=codes.len()), random.usize(1..60));
        let run: Vec<Code> = (0..length).map(|_| letters[random.usize(..letters.len())]).collect();
        codes.splice(at..at, run);
    }
    codes
}

/// Returns schemes with different gap costs and end gaps, each under all of the rules of ambiguity.
fn nucleotide_schemes(rules: &[Ambiguity]) -> Vec<Scoring> {
    let mut schemes = Vec::new();
    for gaps in
        [Gaps::linear(10), Gaps::linear(2), Gaps::from_blast(6, 2), Gaps::from_blast(20, 5), Gaps::from_blast(3, 0)]
    {
        let priced = Gaps { first: gaps.first.min(3), next: gaps.next.min(1) };
        for end_gaps in [EndGaps::Charged, EndGaps::Free, EndGaps::Priced(priced)] {
            for &ambiguity in rules {
                schemes.extend(Scoring::nucleotide(5, -4, ambiguity, gaps, end_gaps));
            }
        }
    }
    schemes
}

/// Returns the instruction sets for a scheme of [`nucleotide_schemes`] under this many rules. The
/// schemes together combine every instruction set with each of the gap costs, kinds of end gaps and
/// rules.
fn sets_for_scheme(number: usize, rules: usize) -> [InstructionSet; 2] {
    let all = InstructionSet::available();
    // Two sets for each scheme. The gap costs have three kinds of end gaps each, and skip a set after them.
    let first = 2 * number + number / (3 * rules);
    [first, first + 1].map(|index| all[index % all.len()])
}

const BASES: [Code; 4] = [1, 2, 4, 8];

#[test]
fn lengths_around_vectors_and_kept_rows_are_traced() {
    let random = &mut fastrand::Rng::with_seed(7);
    let lengths = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 66, 95, 96, 97, 100];
    let parent: Vec<Code> = (0..100).map(|_| BASES[random.usize(..4)]).collect();
    let sequences: Vec<Vec<Code>> = lengths
        .iter()
        .map(|&length| {
            let mut codes = relative(&parent, random, &[1, 2, 4, 8, 5, 15]);
            codes.resize(length, 4);
            codes
        })
        .collect();
    let store = store(Alphabet::Dna, &sequences);
    for (number, scoring) in nucleotide_schemes(&[Ambiguity::Overlap, Ambiguity::Zero]).iter().enumerate() {
        let mut pairs = CheckedPairs::new(&store, scoring);
        for instructions in sets_for_scheme(number, 2) {
            let traced = pairs.check(instructions, true);
            // All pairs are traced, with two exceptions: pairs with the empty sequence, and pairs
            // whose score fits in 8 bits while the values of recomputed parts do not.
            assert!(
                (15 * 21..=21 * 21).contains(&traced) || gaps_beat_mismatches(scoring) && traced == 0,
                "{traced} {instructions:?}"
            );
        }
    }
}

/// Returns whether mismatches cost more than two gaps.
fn gaps_beat_mismatches(scoring: &Scoring) -> bool {
    -4 + 2 * (scoring.gaps.next as i64) < -2 * scoring.gaps.opening() as i64
}

#[test]
fn long_gaps_and_ties_are_traced_canonically() {
    let random = &mut fastrand::Rng::with_seed(8);
    let parent: Vec<Code> = (0..210).map(|_| BASES[random.usize(..4)]).collect();
    let mut sequences: Vec<Vec<Code>> = (0..4).map(|_| relative(&parent, random, &BASES)).collect();
    // Sequences whose alignments are all ties, sequences without common symbols, two halves far
    // apart, and parts of either end.
    sequences.extend([vec![1; 140], vec![1; 100], vec![2; 120], [1, 2].repeat(65), [1, 1, 2].repeat(50)]);
    sequences.push([&parent[..50], &parent[160..]].concat());
    sequences.extend([parent[..105].to_vec(), parent[105..].to_vec(), parent[70..140].to_vec()]);
    let store = store(Alphabet::Dna, &sequences);
    let mut least = usize::MAX;
    // No symbol is ambiguous, so that all rules give the same scores.
    for (number, scoring) in nucleotide_schemes(&[Ambiguity::Overlap]).iter().enumerate() {
        let mut pairs = CheckedPairs::new(&store, scoring);
        for instructions in sets_for_scheme(number, 1) {
            // If the earlier sequence is always the query, only half of the pairs have different alignments.
            let traced = pairs.check(instructions, number % 3 > 0);
            least = if traced > 0 { least.min(traced) } else { least };
        }
    }
    assert!(least > store.len() * store.len() / 2, "{least}");
}

#[test]
fn proteins_and_wide_integers_are_traced_canonically() {
    let random = &mut fastrand::Rng::with_seed(9);
    let letters: Vec<Code> = b"ACDEFGHIKLMNPQRSTVWY".iter().map(|letter| letter - b'A' + 1).collect();
    let parent: Vec<Code> = (0..180).map(|_| letters[random.usize(..20)]).collect();
    let sequences: Vec<Vec<Code>> = (0..8).map(|_| relative(&parent, random, &letters)).collect();
    let proteins = store(Alphabet::Protein, &sequences);
    let bases: Vec<Vec<Code>> = sequences[..5]
        .iter()
        .map(|codes| codes.iter().cycle().take(5 * codes.len()).map(|code| 1 << (code % 4)).collect())
        .collect();
    let bases = store(Alphabet::Dna, &bases);
    for gaps in [Gaps::from_blast(11, 1), Gaps::linear(4)] {
        for end_gaps in [EndGaps::Charged, EndGaps::Free] {
            let scoring = Scoring { gaps, end_gaps, ..Scoring::protein() };
            let mut pairs = CheckedPairs::new(&proteins, &scoring);
            for instructions in InstructionSet::available() {
                assert!(pairs.check(instructions, true) > 44, "{instructions:?} {scoring:?}");
            }
        }
    }
    // Values exceed 32 bits. Half of the instruction sets compute linear gaps, and the others affine gaps.
    for (number, gaps) in [Gaps::linear(1_000_000), Gaps::from_blast(900_000, 100_000)].into_iter().enumerate() {
        let scoring = Scoring::nucleotide(1_000_000, -900_000, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
        let mut pairs = CheckedPairs::new(&bases, &scoring);
        let sets = InstructionSet::available();
        for &instructions in sets.iter().cycle().skip(number).step_by(2).take(sets.len().div_ceil(2)) {
            let traced = pairs.check(instructions, true);
            assert!(traced > 12 || !gaps.is_linear(), "{traced} {instructions:?} {scoring:?}");
        }
    }
}

#[test]
fn steps_worse_than_two_gaps_are_left_to_the_general_traceback() {
    let sequences = vec![vec![1; 40], vec![2; 40], [1, 2].repeat(20)];
    let store = store(Alphabet::Dna, &sequences);
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, Gaps::linear(1), EndGaps::Charged).unwrap();
    assert_eq!(check(&store, &scoring, InstructionSet::best(), true), 0);
}

#[test]
fn wrong_diagonals_with_right_low_bits_are_detected() {
    // Eight mismatches of 37 cost 256 more than two gaps of 20. With 255 symbols, scores are
    // multiplied by 256 to count matches. The difference is then 65,536, so that the diagonal
    // through the mismatches has the same low 16 bits.
    let random = &mut fastrand::Rng::with_seed(12);
    let parent: Vec<Code> = (0..255).map(|_| BASES[random.usize(..2)]).collect();
    let with = |letter: Code, at: usize| {
        let mut codes = parent.clone();
        codes[at..at + 8].fill(letter);
        codes
    };
    let store = store(Alphabet::Dna, &[with(4, 112), with(8, 112), with(4, 70), with(8, 70)]);
    let gaps = Gaps { first: 20, next: 0 };
    let scoring = Scoring::nucleotide(5, -37, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap();
    for instructions in InstructionSet::available() {
        for earlier_is_query in [true, false] {
            assert_eq!(check(&store, &scoring, instructions, earlier_is_query), 16);
        }
    }
}

/// Returns two kinds of sequences. The second half of the first kind is the first half of the
/// second kind.
fn shifted(random: &mut fastrand::Rng, of_each: usize) -> Vec<Vec<Code>> {
    let mut codes = |length: usize| (0..length).map(|_| BASES[random.usize(..4)]).collect::<Vec<Code>>();
    let shared = codes(200);
    let first: Vec<Vec<Code>> = (0..of_each).map(|_| [&codes(200)[..], &shared].concat()).collect();
    let second: Vec<Vec<Code>> = (0..of_each).map(|_| [&shared[..], &codes(200)].concat()).collect();
    [first, second].concat()
}

#[test]
fn tracebacks_outside_the_kept_columns_are_left_to_others() {
    let random = &mut fastrand::Rng::with_seed(10);
    let store = store(Alphabet::Dna, &shifted(random, 4));
    for (gaps, end_gaps) in [
        // The alignment leaves the kept columns by an end far from the corner, or by an inner gap.
        (Gaps::from_blast(20, 5), EndGaps::Free),
        (Gaps { first: 10, next: 0 }, EndGaps::Charged),
    ] {
        let scoring = Scoring::nucleotide(5, -4, Ambiguity::Mismatch, gaps, end_gaps).unwrap();
        let batch = all_pairs(&store, &scoring, true);
        let workspace = &mut ScoreWorkspace::with(InstructionSet::best(), LaneForm::Targets);
        let mut traced = || {
            let actual = run_tracing(&batch, true, workspace).unwrap();
            actual.traces.unwrap().spans.iter().flatten().count()
        };
        // At first, at least the alignments of the first query with the other kind leave the kept
        // columns. Later groups keep more columns, and finally enough.
        let first = traced();
        assert!(first <= 64 - 4, "{first} {gaps:?}");
        assert_eq!(traced(), 64, "{gaps:?}");
        // A pair has the same alignment, whichever code traces it.
        let compute = ScoreWorkspace::with(InstructionSet::best(), LaneForm::Targets);
        let scratch = &mut PairsScratch { compute, trace: Some(trace::TracebackWorkspace::default()) };
        let report = Pairs::compute(&batch, scratch, &AtomicBool::new(false)).unwrap();
        assert_eq!(report.traced.spans.iter().flatten().count(), 64);
        for (index, hit) in report.hits.iter().enumerate() {
            let (a, b) = (store.codes(hit.query.min(hit.target)), store.codes(hit.query.max(hit.target)));
            let expected = traceback(a, b, &scoring, Hint::NONE, &mut trace::TracebackWorkspace::default()).unwrap();
            assert_eq!((hit.score, report.traced.cigar(index).unwrap()), (expected.score, expected.cigar));
        }
    }
}

/// Returns a nucleotide scheme whose costs may be so high that lanes of 8, 16 or 32 bits barely
/// hold its steps.
fn random_scheme(random: &mut fastrand::Rng) -> Option<Scoring> {
    let most = [3, 12, 40, 300, 20_000, 1_000_000][random.usize(..6)];
    let next = random.i32(0..=most / 2);
    let gaps =
        if random.usize(..3) == 0 { Gaps::linear(next) } else { Gaps { first: next + random.i32(0..=most), next } };
    // A mismatch rarely costs more than two gaps.
    let least = (-2 * gaps.first - i32::from(random.usize(..8) == 0)).max(-1_000_000);
    let mismatch = random.i32(least..=0.min(least + most).max(least));
    let actual = random.i32(mismatch..=most.max(mismatch));
    let end_gaps = random_end_gaps(gaps, random);
    let rules = [Ambiguity::Overlap, Ambiguity::Overlap, Ambiguity::Zero, Ambiguity::Mismatch, Ambiguity::Mean];
    Scoring::nucleotide(actual, mismatch, rules[random.usize(..rules.len())], gaps, end_gaps).ok()
}

/// Returns a protein scheme with random gap costs.
fn random_protein_scheme(random: &mut fastrand::Rng) -> Option<Scoring> {
    let next = random.i32(0..12);
    let gaps = if random.usize(..3) == 0 { Gaps::linear(next) } else { Gaps { first: next + random.i32(0..25), next } };
    Scoring::protein().with_gaps(gaps, random_end_gaps(gaps, random)).ok()
}

fn random_end_gaps(gaps: Gaps, random: &mut fastrand::Rng) -> EndGaps {
    let next = random.i32(0..=gaps.next);
    let priced = EndGaps::Priced(Gaps { first: random.i32(next..=gaps.first), next });
    [EndGaps::Charged, EndGaps::Free, priced, priced][random.usize(..4)]
}

/// Returns sequences with many ties, long gaps, very different lengths, or lengths near vector
/// lengths.
fn random_sequences(random: &mut fastrand::Rng, letters: &[Code]) -> Vec<Vec<Code>> {
    let letters = &letters[..random.usize(1..=letters.len())];
    let around = [0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 191, 192, 193];
    let letter = |random: &mut fastrand::Rng| letters[random.usize(..letters.len())];
    let most = [8, 40, 150, 300, 500][random.usize(..5)];
    let parent: Vec<Code> = (0..random.usize(1..=most)).map(|_| letter(random)).collect();
    let part = |random: &mut fastrand::Rng| {
        let from = random.usize(..parent.len());
        &parent[from..random.usize(from..=parent.len())]
    };
    (0..random.usize(2..12))
        .map(|_| match random.usize(..8) {
            0 => {
                let unit: Vec<Code> = (0..random.usize(1..5)).map(|_| letter(random)).collect();
                unit.into_iter().cycle().take(random.usize(..=most)).collect()
            }
            1 => [part(random), part(random)].concat(),
            2 => part(random).to_vec(),
            3 => {
                let length = around[random.usize(..around.len())].min(most);
                parent.iter().copied().cycle().take(length).collect()
            }
            4 => (0..random.usize(..=most)).map(|_| letter(random)).collect(),
            _ => relative(&parent, random, letters),
        })
        .collect()
}

#[test]
fn random_pairs_are_traced_canonically() {
    let rounds = std::env::var("ROUNDS").map_or(40, |rounds| rounds.parse().unwrap());
    let seed = std::env::var("SEED").map_or(11, |seed| seed.parse().unwrap());
    let random = &mut fastrand::Rng::with_seed(seed);
    let residues: Vec<Code> = b"ACDEFGHIKLMNPQRSTVWYXBZ".iter().map(|letter| letter - b'A' + 1).collect();
    let (mut traced, mut all) = (0, 0);
    for _ in 0..rounds {
        let is_protein = random.usize(..4) == 0;
        let scoring = if is_protein { random_protein_scheme(random) } else { random_scheme(random) };
        let Some(scoring) = scoring else { continue };
        let (alphabet, letters): (_, &[Code]) =
            if is_protein { (Alphabet::Protein, &residues) } else { (Alphabet::Dna, &[1, 2, 4, 8, 5, 15, 3]) };
        let sequences = random_sequences(random, letters);
        let levels = InstructionSet::available();
        let instructions = levels[random.usize(..levels.len())];
        let actual = check(&store(alphabet, &sequences), &scoring, instructions, random.bool());
        (traced, all) = (traced + actual, all + sequences.len() * sequences.len());
    }
    assert!(2 * traced > all, "{traced} of {all}");
}
