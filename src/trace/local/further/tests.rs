use super::*;
use crate::pairs::oracle::smith_waterman::{self, ReferenceLocalAlignment};
use crate::score::{Ambiguity, EndGaps, Gaps, Mode};
use crate::simd::InstructionSet;
use crate::trace::traceback::traceback_from;

fn local(scoring: Scoring) -> Scoring {
    Scoring { mode: Mode::Local, ..scoring }
}

fn dna(a: i32, b: i32, gaps: Gaps) -> Scoring {
    local(Scoring::nucleotide(a, b, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap())
}

fn scorings() -> Vec<Scoring> {
    vec![
        local(Scoring::dna()),
        dna(2, -3, Gaps::from_blast(5, 2)),
        dna(2, -1, Gaps::linear(1)),
        dna(3, -2, Gaps::from_blast(1, 1)),
        dna(1, -1, Gaps::linear(0)),
        dna(3, -2, Gaps::from_blast(4, 0)),
        local(Scoring::protein()),
    ]
}

/// Returns a query, and a target with copies of parts of it, some of them changed.
fn pair(rng: &mut fastrand::Rng, scoring: &Scoring, lengths: [usize; 2], copies: usize) -> [Vec<Code>; 2] {
    // Few letters cause many alignments with equal scores.
    let letters = rng.u8(2..=4);
    let code = |rng: &mut fastrand::Rng| match scoring.substitution.size() {
        16 => 1 << rng.u8(..letters),
        size => rng.u8(1..size as u8),
    };
    let mut random = |length: usize| -> Vec<Code> { (0..length).map(|_| code(rng)).collect() };
    let [query, mut target] = lengths.map(&mut random);
    for _ in 0..copies {
        let length = rng.usize(1..=query.len());
        let (from, to) = (rng.usize(0..=query.len() - length), rng.usize(0..=target.len()));
        let mut part = query[from..from + length].to_vec();
        if length > 3 && rng.bool() {
            part.remove(rng.usize(1..length - 1));
        }
        target.splice(to..to, part);
    }
    [query, target]
}

/// Returns up to `count` alignments of a pair, in the form of the oracle.
fn find_all(
    mut alignments: LocalAlignments<'_>,
    count: usize,
    workspace: &mut TracebackWorkspace,
) -> Vec<ReferenceLocalAlignment> {
    let mut found = Vec::new();
    while found.len() < count
        && let Some(alignment) = alignments.find(workspace).unwrap()
    {
        alignments.exclude(&alignment);
        found.push(ReferenceLocalAlignment {
            score: alignment.score,
            matches: alignment.cigar.counts().matches,
            query: alignment.query_range(),
            target: alignment.target_range(),
            cigar: alignment.cigar,
        });
    }
    found
}

/// Returns whether the parts of an alignment contain cells of an earlier one.
fn has_detour(found: &[ReferenceLocalAlignment]) -> bool {
    let meet = |one: &Range<usize>, other: &Range<usize>| one.start < other.end && other.start < one.end;
    found.iter().enumerate().any(|(at, own)| {
        found[..at].iter().any(|earlier| meet(&own.query, &earlier.query) && meet(&own.target, &earlier.target))
    })
}

#[test]
fn alignments_are_those_of_the_oracle() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    let (mut detours, mut several_windows) = (0, 0);
    for round in 0..12 {
        for scoring in scorings() {
            let lengths = [rng.usize(1..18), rng.usize(0..16)];
            let [query, target] = pair(rng, &scoring, lengths, round % 3);
            let (least, count) = (rng.i64(1..12), rng.usize(1..7));
            let expected = smith_waterman::align_several(&query, &target, &scoring, least, count);
            detours += usize::from(has_detour(&expected));
            for instructions in InstructionSet::available() {
                let mut workspace = TracebackWorkspace::with_budget(1 << 16).with_instructions(instructions);
                for stride in [1, MIN_STRIDE] {
                    let alignments = LocalAlignments::in_windows(&query, &target, &scoring, least, stride).unwrap();
                    several_windows += usize::from(alignments.windows.len() > 1);
                    let found = find_all(alignments, count, &mut workspace);
                    assert_eq!(found, expected, "{query:?} {target:?} {least} {count} {stride} {scoring:?}");
                }
            }
        }
    }
    assert!(detours > 0 && several_windows > 0, "{detours} {several_windows}");
}

#[test]
fn first_alignment_is_the_canonical_one() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    let workspace = &mut TracebackWorkspace::default();
    for scoring in scorings() {
        let [query, target] = pair(rng, &scoring, [60, 300], 4);
        let expected = traceback_from(&query, &target, &scoring, Hint::NONE, None, workspace).unwrap();
        for stride in [1, 70, MIN_STRIDE] {
            let mut alignments = LocalAlignments::in_windows(&query, &target, &scoring, 1, stride).unwrap();
            assert_eq!(alignments.find(workspace).unwrap(), Some(expected.clone()), "{stride} {scoring:?}");
        }
    }
}

/// Copies of a query in a long target, as of a gene in a genome.
#[test]
fn copies_in_many_windows_are_found() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    let scoring = dna(2, -3, Gaps::from_blast(5, 2));
    let mut random = |length: usize| -> Vec<Code> { (0..length).map(|_| 1 << rng.u8(..4)).collect() };
    let (query, mut target) = (random(120), random(30_000));
    let starts = [5, 4_090, 8_200, 8_330, 29_800];
    starts.iter().for_each(|&start| target[start..start + 120].copy_from_slice(&query));
    let alignments = LocalAlignments::new(&query, &target, &scoring, 150).unwrap();
    assert!(alignments.windows.len() > 5);
    let found = find_all(alignments, 9, &mut TracebackWorkspace::default());
    assert_eq!(
        found.iter().map(|one| (one.score, one.target.start)).collect::<Vec<_>>(),
        starts.map(|start| (240, start))
    );
}

#[test]
fn empty_sequences_have_no_alignments() {
    let scoring = dna(2, -3, Gaps::from_blast(5, 2));
    for (query, target) in [(&[][..], &[1][..]), (&[1], &[]), (&[], &[])] {
        let mut alignments = LocalAlignments::new(query, target, &scoring, 1).unwrap();
        assert_eq!(alignments.find(&mut TracebackWorkspace::default()).unwrap(), None);
    }
}
