//! Several local alignments, compared with their definition.

use pairwave::jobs::long::LongTuning;
use pairwave::jobs::{LongAlignment, LongHit, LongWant, Strand, Strands};
use pairwave::long::oracle::LongMatrices;
use pairwave::long::{PathPoint, PathState};
use pairwave::score::{EndGaps, Mode, Scoring};
use pairwave::seq::{Alphabet, Code};

use support::LongResult;

use super::{GAPS, dna, hits, job, on_minus, one_engine, reverse_complement, run, three_engines};

/// Returns the best alignments by the definition of `jobs::long`, computed with whole matrices.
fn best_by_definition(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    strand: Strands,
    job: &LongAlignment,
) -> Vec<LongHit> {
    let (m, n) = (query.len(), target.len());
    let turned = reverse_complement(query);
    let mut actual: Vec<LongHit> = Vec::new();
    let sides = [(Strand::Plus, query, Strands::Minus), (Strand::Minus, &turned[..], Strands::Plus)];
    while actual.len() < job.top as usize {
        let mut best: Option<(i64, LongHit)> = None;
        for &(side, query, without) in &sides {
            if strand == without {
                continue;
            }
            let on_side = |hit: &&LongHit| hit.strand == side;
            let rectangles: Vec<_> = actual
                .iter()
                .filter(on_side)
                .map(|hit| {
                    let (rows, columns) = (hit.query.clone().unwrap(), hit.target.clone().unwrap());
                    let rows = if side == Strand::Plus { rows } else { m as u32 - rows.end..m as u32 - rows.start };
                    (rows, columns)
                })
                .collect();
            let is_forbidden = |i: usize, j: usize| {
                rectangles
                    .iter()
                    .any(|(rows, columns)| rows.contains(&(i as u32 - 1)) && columns.contains(&(j as u32 - 1)))
            };
            let mut matrices = LongMatrices::fill(query, target, scoring);
            let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
            for i in 1..=m {
                for j in 1..=n {
                    let LongMatrices { h, insertion, deletion, .. } = &mut matrices;
                    insertion[i][j] = (h[i - 1][j] - first).max(insertion[i - 1][j] - next);
                    deletion[i][j] = (h[i][j - 1] - first).max(deletion[i][j - 1] - next);
                    let aligned = h[i - 1][j - 1] + i64::from(scoring.substitution.score(query[i - 1], target[j - 1]));
                    h[i][j] = aligned.max(insertion[i][j]).max(deletion[i][j]).max(0);
                    if is_forbidden(i, j) {
                        (h[i][j], insertion[i][j], deletion[i][j]) = (0, -1_000_000, -1_000_000);
                    }
                }
            }
            let Some((score, i, j)) = matrices.best(0..m, 0..n) else { continue };
            if best.as_ref().is_some_and(|best| best.0 >= score) {
                continue;
            }
            let traceback = matrices.trace_back(PathPoint { i: i as u32, j: j as u32, state: PathState::H }, 0, 0);
            let hit = LongHit {
                strand: Strand::Plus,
                score,
                query: Some(traceback.to().i..i as u32),
                target: Some(traceback.to().j..j as u32),
                query_end: i as u32,
                target_end: j as u32,
                cigar: Some(traceback.cigar()),
            };
            let hit = if side == Strand::Plus { hit } else { on_minus(vec![hit], m).remove(0) };
            best = Some((score, hit));
        }
        match best {
            Some((score, hit)) if score >= job.min_score => actual.push(hit),
            _ => break,
        }
    }
    actual
}

#[test]
fn several_alignments_follow_the_definition() {
    for seed in 0..6 {
        let mut rng = support::rng(100 + seed);
        let piece = |rng: &mut _, length| support::random_codes(rng, Alphabet::Dna, length);
        let (a, b) = (piece(&mut rng, 40), piece(&mut rng, 35));
        let noise = piece(&mut rng, 30);
        let query = [&a[..], &noise, &b, &a].concat();
        let target = [&b[..], &a, &noise[..11], &b, &reverse_complement(&a)].concat();
        for (gaps, strand) in GAPS.into_iter().flat_map(|gaps| [(gaps, Strands::Plus), (gaps, Strands::Both)]) {
            let scoring = dna(gaps, Mode::Local, EndGaps::Charged);
            let job = LongAlignment { top: 6, min_score: 20, strand, ..job(&query, &target, scoring.clone()) };
            let expected = best_by_definition(&query, &target, &scoring, strand, &job);
            assert!(!expected.is_empty());
            assert_eq!(hits(&job, three_engines()), expected, "seed {seed}, {gaps:?}, {strand:?}");
            let score = hits(&LongAlignment { want: LongWant::Score, ..job }, one_engine());
            assert!(score.iter().map(|hit| hit.score).eq(expected.iter().map(|hit| hit.score)));
        }
    }
}

/// A further alignment computes only the sections of the matrix again whose cells have changed.
#[test]
fn further_alignments_compute_few_cells_again() {
    let rng = &mut support::rng(27);
    let mut bases = |count| (0..count).map(|_| support::random_code(rng, Alphabet::Dna, 0)).collect::<Vec<Code>>();
    let (query, mut target) = (bases(1000), bases(1200));
    // Eight parts of the query are copied to other places, in another order.
    for part in 0..8 {
        let (from, to) = (part * 120, part * 3 % 8 * 145);
        target[to..to + 40 + part].copy_from_slice(&query[from..from + 40 + part]);
    }
    let scoring = dna(GAPS[0], Mode::Local, EndGaps::Charged);
    let whole = LongAlignment { top: 16, prune: false, ..job(&query, &target, scoring) };
    let tuning = LongTuning { section: Some(100), ..whole.tuning.clone() };
    let sections = LongAlignment { tuning, ..whole.clone() };
    let expected = hits(&whole, one_engine());
    let scores: Vec<i64> = expected.iter().map(|hit| hit.score).collect();
    assert!(scores.len() == 16 && scores[7] >= 40 * 5, "{scores:?}");
    for engines in [one_engine(), three_engines()] {
        let LongResult { hits, summary, .. } = run(&sections, engines).expect("the pair is aligned");
        assert_eq!(hits, expected);
        let of_matrix = (query.len() * target.len()) as u64;
        assert!(summary.cells < of_matrix * 3, "{} cells of {of_matrix}", summary.cells);
    }
    // Cells of parts that cannot reach the minimum score are never computed.
    let tuning = LongTuning { min_empty_cells: Some(0), ..sections.tuning.clone() };
    let short = sections.query.codes(0)[..400].to_vec();
    let with_min = LongAlignment {
        min_score: 390 * 5,
        top: 5,
        prune: true,
        tuning,
        ..job(&short, &query, sections.scoring.as_ref().clone())
    };
    let LongResult { hits, summary, .. } = run(&with_min, one_engine()).expect("the pair is aligned");
    assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [400 * 5]);
    assert!(summary.details.pruned_cells > summary.cells / 2, "{:?}", summary.details);
}
