//! The definition of several local alignments, implemented from the documentation of
//! `pairwave::jobs::long`: whole matrices, forbidden cells, and the traceback of `pairwave::long`.
//! It shares only the scores of two symbols with the program.

use std::ops::Range;

use pairwave::alignment::{Cigar, Op};
use pairwave::jobs::{LongHit, Strand, Strands};
use pairwave::score::Scoring;
use pairwave::seq::Code;

/// Minus infinity.
const NEG_INF: i64 = i64::MIN / 4;

/// A strand of the query, and its forbidden rectangles.
struct Side {
    strand: Strand,
    query: Vec<Code>,
    forbidden: Vec<(Range<usize>, Range<usize>)>,
}

/// H, I and D, each `[i][j]`.
struct Matrices {
    h: Vec<Vec<i64>>,
    i: Vec<Vec<i64>>,
    d: Vec<Vec<i64>>,
}

/// Returns the reverse complement. A code is a set of the bases A = 1, C = 2, G = 4, T = 8.
pub(crate) fn reverse_complement(codes: &[Code]) -> Vec<Code> {
    let facing =
        |code: Code| [(1, 8), (2, 4), (4, 2), (8, 1)].iter().map(|&(a, b)| if code & a > 0 { b } else { 0 }).sum();
    codes.iter().rev().map(|&code| facing(code)).collect()
}

fn fill(query: &[Code], target: &[Code], scoring: &Scoring, forbidden: &[(Range<usize>, Range<usize>)]) -> Matrices {
    let (first, next) = (i64::from(scoring.gaps.first), i64::from(scoring.gaps.next));
    let all = |value: i64| vec![vec![value; target.len() + 1]; query.len() + 1];
    let Matrices { mut h, mut i, mut d } = Matrices { h: all(0), i: all(NEG_INF), d: all(NEG_INF) };
    for r in 1..=query.len() {
        for c in 1..=target.len() {
            if forbidden.iter().any(|(rows, columns)| rows.contains(&(r - 1)) && columns.contains(&(c - 1))) {
                continue;
            }
            i[r][c] = (h[r - 1][c] - first).max(i[r - 1][c] - next);
            d[r][c] = (h[r][c - 1] - first).max(d[r][c - 1] - next);
            let two = h[r - 1][c - 1] + i64::from(scoring.substitution.score(query[r - 1], target[c - 1]));
            h[r][c] = two.max(i[r][c]).max(d[r][c]).max(0);
        }
    }
    Matrices { h, i, d }
}

/// Traces back from a cell. Returns the last point and the columns of the path.
fn trace_back(
    matrices: &Matrices,
    side: &Side,
    target: &[Code],
    scoring: &Scoring,
    end: (usize, usize),
) -> ((usize, usize), Cigar) {
    let Matrices { h, i, d } = matrices;
    let first = i64::from(scoring.gaps.first);
    let ((mut r, mut c), mut state) = (end, 'H');
    let mut columns = Vec::new();
    while state != 'H' || h[r][c] > 0 {
        match state {
            'H' => {
                let (a, b) = (side.query[r - 1], target[c - 1]);
                if h[r - 1][c - 1] + i64::from(scoring.substitution.score(a, b)) == h[r][c] {
                    columns.push(if scoring.substitution.is_match(a, b) { Op::Match } else { Op::Mismatch });
                    (r, c) = (r - 1, c - 1);
                } else {
                    state = if i[r][c] == h[r][c] { 'I' } else { 'D' };
                }
            }
            'I' => {
                columns.push(Op::Insertion);
                state = if h[r - 1][c] - first == i[r][c] { 'H' } else { 'I' };
                r -= 1;
            }
            _ => {
                columns.push(Op::Deletion);
                state = if h[r][c - 1] - first == d[r][c] { 'H' } else { 'D' };
                c -= 1;
            }
        }
    }
    let mut cigar = Cigar::new();
    columns.iter().rev().for_each(|&op| cigar.push(1, op));
    ((r, c), cigar)
}

/// A local alignment: its score, its first and its last point, and its columns.
pub(crate) type Traced = (i64, (usize, usize), (usize, usize), Cigar);

/// Returns the best local alignment of sequences with forbidden cells, or `None` if none scores more
/// than 0.
pub(crate) fn first(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    forbidden: &[(Range<usize>, Range<usize>)],
) -> Option<Traced> {
    let side = Side { strand: Strand::Plus, query: query.to_vec(), forbidden: forbidden.to_vec() };
    let matrices = fill(query, target, scoring, forbidden);
    let (score, end) = first_best(&matrices, query.len(), target.len());
    if score == 0 {
        return None;
    }
    let (begin, cigar) = trace_back(&matrices, &side, target, scoring, end);
    Some((score, begin, end, cigar))
}

/// Returns the best score of a matrix and the first cell that has it.
fn first_best(matrices: &Matrices, m: usize, n: usize) -> (i64, (usize, usize)) {
    let cells = (1..=m).flat_map(|r| (1..=n).map(move |c| (r, c)));
    cells.fold((0, (0, 0)), |best, (r, c)| if matrices.h[r][c] > best.0 { (matrices.h[r][c], (r, c)) } else { best })
}

/// Returns the best local alignments, best first.
pub(crate) fn best(
    query: &[Code],
    target: &[Code],
    scoring: &Scoring,
    strand: Strands,
    (top, min_score): (u32, i64),
) -> Vec<LongHit> {
    let side = |strand, query| Side { strand, query, forbidden: Vec::new() };
    let mut sides = match strand {
        Strands::Plus => vec![side(Strand::Plus, query.to_vec())],
        Strands::Minus => vec![side(Strand::Minus, reverse_complement(query))],
        Strands::Both => vec![side(Strand::Plus, query.to_vec()), side(Strand::Minus, reverse_complement(query))],
    };
    let (m, mut hits) = (query.len(), Vec::new());
    while hits.len() < top as usize {
        let mut best: Option<(i64, usize, (usize, usize), Matrices)> = None;
        for (index, side) in sides.iter().enumerate() {
            let matrices = fill(&side.query, target, scoring, &side.forbidden);
            let actual = first_best(&matrices, m, target.len());
            if best.as_ref().is_none_or(|best| actual.0 > best.0) {
                best = Some((actual.0, index, actual.1, matrices));
            }
        }
        let Some((score, index, end, matrices)) = best else { break };
        if score < min_score.max(1) {
            break;
        }
        let (begin, cigar) = trace_back(&matrices, &sides[index], target, scoring, end);
        let side = &mut sides[index];
        side.forbidden.push((begin.0..end.0, begin.1..end.1));
        let rows = match side.strand {
            Strand::Plus => begin.0..end.0,
            Strand::Minus => m - end.0..m - begin.0,
        };
        hits.push(LongHit {
            strand: side.strand,
            score,
            query: Some(rows.start as u32..rows.end as u32),
            target: Some(begin.1 as u32..end.1 as u32),
            query_end: end.0 as u32,
            target_end: end.1 as u32,
            cigar: Some(cigar),
        });
    }
    hits
}
