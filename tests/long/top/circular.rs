//! Compares jobs for circular sequences with the definition, and with all rotations.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use pairwave::alignment::{Cigar, Op, verify};
use pairwave::jobs::long::CircularSides;
use pairwave::jobs::{LongAlignment, LongHit, Strand, Strands};
use pairwave::long::LongEngine;
use pairwave::long::mock::Textbook;
use pairwave::score::{Ambiguity, Gaps, Scoring};
use pairwave::seq::Code;
use pairwave::simd::InstructionSet;

use super::definition::{any_job, cpu, methods, pair, scoring, sequence};
use super::devices::{begun_again, processor, tuning};
use super::{Lent, Rng, below, choose_one, job, local, oracle, run};

const SIDES: [CircularSides; 3] = [
    CircularSides { query: true, target: true },
    CircularSides { query: true, target: false },
    CircularSides { query: false, target: true },
];

/// A column of an alignment, and the numbers of symbols before it.
type Column = (Op, usize, usize);

/// A strand of the query with the target, as the documentation of `pairwave::jobs::long::circular`
/// describes.
struct Side<'a> {
    strand: Strand,
    query: Vec<Code>,
    target: Vec<Code>,
    scoring: &'a Scoring,
    circular: CircularSides,
    opening: Option<(usize, usize)>,
    /// Parts of earlier alignments, on the aligned strand.
    found: Vec<(Range<usize>, Range<usize>)>,
}

impl Side<'_> {
    fn lengths(&self) -> (usize, usize) {
        (self.query.len(), self.target.len())
    }

    fn form(&self, codes: &[Code], is_circular: bool, first: usize) -> Vec<Code> {
        match (is_circular, self.opening) {
            (true, None) => codes.iter().chain(codes).take((2 * codes.len()).saturating_sub(1)).copied().collect(),
            _ => [&codes[first..], &codes[..first]].concat(),
        }
    }

    /// Returns the best remaining alignment, and opens the sequences before if necessary.
    fn next(&mut self) -> Option<LongHit> {
        let first = self.opening.unwrap_or_default();
        let query = self.form(&self.query, self.circular.query, first.0);
        let target = self.form(&self.target, self.circular.target, first.1);
        let (m, n) = self.lengths();
        let contains = |part: &Range<usize>, symbol: usize, length: usize| {
            part.contains(&symbol) || part.contains(&(symbol + length))
        };
        let mut forbidden = Vec::new();
        for r in 0..query.len() {
            for c in 0..target.len() {
                let (i, j) = ((r + first.0) % m, (c + first.1) % n);
                if self.found.iter().any(|(rows, columns)| contains(rows, i, m) && contains(columns, j, n)) {
                    forbidden.push((r..r + 1, c..c + 1));
                }
            }
        }
        let (score, begin, end, cigar) = oracle::first(&query, &target, self.scoring, &forbidden)?;
        let (rows, columns) = (end.0 - begin.0, end.1 - begin.1);
        if self.opening.is_none() && (self.circular.query && rows > m || self.circular.target && columns > n) {
            let (i, j) = self.best_part(begin, &cigar);
            let is_turned = (self.circular.query, self.circular.target);
            self.opening = Some((if is_turned.0 { i % m } else { 0 }, if is_turned.1 { j % n } else { 0 }));
            return self.next();
        }
        let (i, j) = ((begin.0 + first.0) % m, (begin.1 + first.1) % n);
        self.found.push((i..i + rows, j..j + columns));
        let in_file = match self.strand {
            Strand::Plus => i,
            Strand::Minus => (2 * m - i - rows) % m,
        };
        Some(LongHit {
            strand: self.strand,
            score,
            query: Some(in_file as u32..(in_file + rows) as u32),
            target: Some(j as u32..(j + columns) as u32),
            query_end: (i + rows) as u32,
            target_end: (j + columns) as u32,
            cigar: Some(cigar),
        })
    }

    /// Returns the start of the best part of an alignment that goes around at most once.
    fn best_part(&self, begin: (usize, usize), cigar: &Cigar) -> (usize, usize) {
        let (m, n) = self.lengths();
        let ops: Vec<Op> = cigar.iter().flat_map(|(length, op)| (0..length).map(move |_| op)).collect();
        let columns = numbered(&ops, begin);
        let (mut score, mut start) = self.best_of(&columns).expect("a part");
        if self.circular.query && self.circular.target {
            let pairs = || (0..columns.len()).filter(|&at| !columns[at].0.is_gap());
            let turn = |&first: &usize| {
                pairs()
                    .find(|&later| (columns[later].1, columns[later].2) == (columns[first].1 + m, columns[first].2 + n))
            };
            if let Some((first, later)) = pairs().find_map(|first| Some((first, turn(&first)?))) {
                let circle = &ops[first..later];
                let twice = numbered(&[circle, circle].concat(), (columns[first].1, columns[first].2));
                if let Some(other) = self.best_of(&twice).filter(|other| other.0 > score) {
                    (score, start) = other;
                }
            }
        }
        assert!(score > 0);
        start
    }

    /// Tries all parts of some columns. Returns the score and the start of the best one.
    fn best_of(&self, columns: &[Column]) -> Option<(i64, (usize, usize))> {
        let (m, n) = self.lengths();
        let mut best: Option<(i64, (usize, usize))> = None;
        for end in 1..=columns.len() {
            for start in (0..end).rev() {
                let (part, first, last) = (&columns[start..end], columns[start], columns[end - 1]);
                let spans = (last.1 + 1 - first.1, last.2 + 1 - first.2);
                let is_too_long = self.circular.query && spans.0 > m || self.circular.target && spans.1 > n;
                if first.0.is_gap() || last.0.is_gap() || is_too_long {
                    continue;
                }
                let score = self.score(part);
                if best.is_none_or(|best| score > best.0) {
                    best = Some((score, (first.1, first.2)));
                }
            }
        }
        best
    }

    fn score(&self, columns: &[Column]) -> i64 {
        let (m, n) = self.lengths();
        let gaps = self.scoring.gaps;
        let mut score = 0;
        for (at, &(op, i, j)) in columns.iter().enumerate() {
            score += match op {
                Op::Match | Op::Mismatch => {
                    self.scoring.substitution.score(self.query[i % m], self.target[j % n]).into()
                }
                _ if columns[at - 1].0 == op => -i64::from(gaps.next),
                _ => -i64::from(gaps.first),
            };
        }
        score
    }
}

fn numbered(ops: &[Op], begin: (usize, usize)) -> Vec<Column> {
    let (mut i, mut j) = begin;
    let column = |&op: &Op| {
        let column = (op, i, j);
        (i, j) = (i + usize::from(op.consumes_query()), j + usize::from(op.consumes_target()));
        column
    };
    ops.iter().map(column).collect()
}

/// Returns the alignments of a job by the definition, and whether each strand was opened.
fn expected(job: &LongAlignment) -> (Vec<LongHit>, bool) {
    let (query, target) = (job.query.codes(0), job.target.codes(0));
    let strands: &[Strand] = match job.strand {
        Strands::Plus => &[Strand::Plus],
        Strands::Minus => &[Strand::Minus],
        Strands::Both => &[Strand::Plus, Strand::Minus],
    };
    let (mut all, mut is_open) = (Vec::new(), false);
    for &strand in strands {
        let query = if strand == Strand::Plus { query.to_vec() } else { oracle::reverse_complement(query) };
        let (scoring, target) = (&*job.scoring, target.to_vec());
        let mut side =
            Side { strand, query, target, scoring, circular: job.circular, opening: None, found: Vec::new() };
        for _ in 0..job.top {
            let Some(hit) = side.next().filter(|hit| hit.score >= job.min_score) else { break };
            all.push(hit);
        }
        is_open |= side.opening.is_some();
    }
    // Stable: the plus strand is first among equal scores.
    all.sort_by_key(|hit| std::cmp::Reverse(hit.score));
    all.truncate(job.top as usize);
    (all, is_open)
}

/// Returns the best score of all rotations of the circular sequences, on the strands of a job.
fn best_of_rotations(job: &LongAlignment) -> i64 {
    let rotations = |codes: &[Code], is_circular: bool| -> Vec<Vec<Code>> {
        let rotation = |first: usize| [&codes[first..], &codes[..first]].concat();
        (0..if is_circular { codes.len() } else { 1 }).map(rotation).collect()
    };
    let mut best = 0;
    for query in rotations(job.query.codes(0), job.circular.query) {
        for target in rotations(job.target.codes(0), job.circular.target) {
            let hits = oracle::best(&query, &target, &job.scoring, job.strand, (1, 1));
            best = best.max(hits.first().map_or(0, |hit| hit.score));
        }
    }
    best
}

/// Fails unless an alignment has its score, and goes around at most once.
fn check_hit(job: &LongAlignment, hit: &LongHit) {
    let part = |codes: &[Code], part: &Range<u32>, is_circular: bool| -> Vec<Code> {
        assert!(part.len() <= codes.len() && (part.start as usize) < codes.len());
        assert!(is_circular || part.end as usize <= codes.len());
        part.clone().map(|symbol| codes[symbol as usize % codes.len()]).collect()
    };
    let query = part(job.query.codes(0), hit.query.as_ref().unwrap(), job.circular.query);
    let query = if hit.strand == Strand::Plus { query } else { oracle::reverse_complement(&query) };
    let target = part(job.target.codes(0), hit.target.as_ref().unwrap(), job.circular.target);
    assert_eq!(verify(hit.cigar.as_ref().unwrap(), &query, &target, &job.scoring).unwrap(), hit.score);
}

/// Returns two sequences. One is often a changed rotation of the other one. It may be shorter or
/// longer than one turn, and it may be on the other strand.
fn circles(rng: &mut Rng, most: usize) -> (Vec<Code>, Vec<Code>) {
    let query = sequence(rng, most);
    if query.is_empty() || below(rng, 4) == 0 {
        return pair(rng, most);
    }
    let from = if below(rng, 3) == 0 { oracle::reverse_complement(&query) } else { query.clone() };
    let (first, length) =
        (below(rng, from.len()), choose_one(rng, &[from.len(), from.len(), from.len() / 2, 2 * most]));
    let mut target: Vec<Code> = from.iter().copied().cycle().skip(first).take(length).collect();
    for _ in 0..below(rng, 4) {
        if target.is_empty() {
            break;
        }
        let at = below(rng, target.len());
        match below(rng, 3) {
            0 => target[at] = 1 << below(rng, 4),
            1 => drop(target.remove(at)),
            _ => target.insert(at, 1 << below(rng, 4)),
        }
    }
    target.truncate(most);
    if below(rng, 2) == 0 { (query, target) } else { (target, query) }
}

#[test]
fn no_rotation_has_a_better_alignment() {
    let rng = &mut support::rng(41);
    let (mut closed, mut opened) = (0, 0);
    for round in 0..700 {
        let (query, target) = circles(rng, 11);
        let scoring = scoring(rng);
        let job = LongAlignment {
            circular: choose_one(rng, &SIDES),
            top: 1,
            min_score: 1,
            ..any_job(rng, &query, &target, &scoring)
        };
        let hits = run(&job, vec![cpu(InstructionSet::PORTABLE)]).unwrap().hits;
        let (expected, is_open) = expected(&job);
        assert_eq!(hits, expected, "round {round}: {query:?} {target:?}");
        hits.iter().for_each(|hit| check_hit(&job, hit));
        let (best, score) = (best_of_rotations(&job), hits.first().map_or(0, |hit| hit.score));
        assert!(score <= best, "round {round}");
        if is_open {
            opened += 1;
        } else {
            assert_eq!(score, best, "round {round}");
            closed += 1;
        }
    }
    assert!(closed > 100 && opened > 100, "{closed} {opened}");
}

#[test]
fn several_alignments_of_circles() {
    let rng = &mut support::rng(42);
    let mut several = 0;
    for round in 0..400 {
        let (query, target) = circles(rng, if round % 10 == 0 { 40 } else { 18 });
        let scoring = scoring(rng);
        let job = LongAlignment { circular: choose_one(rng, &SIDES), ..any_job(rng, &query, &target, &scoring) };
        let (expected, _) = expected(&job);
        expected.iter().for_each(|hit| check_hit(&job, hit));
        several += usize::from(expected.len() > 1);
        let textbook = Textbook { panel_columns: 64, trace_cells: 1 << 14, ..Textbook::default() };
        let engines: [Box<dyn LongEngine>; 2] = [Box::new(textbook), cpu(InstructionSet::available()[0])];
        for (job, engine) in methods(rng, &job).into_iter().zip(engines) {
            let hits = run(&job, vec![engine]).unwrap_or_else(|error| panic!("round {round}: {error}")).hits;
            let what =
                || format!("round {round}: {query:?} {target:?} {:?} top {} {:?}", job.circular, job.top, job.tuning);
            assert_eq!(hits, expected, "{}", what());
        }
        // Each strand may be a block.
        if job.strand == Strands::Both {
            let on = |strand| {
                run(&LongAlignment { strand, ..job.clone() }, vec![cpu(InstructionSet::PORTABLE)]).unwrap().hits
            };
            let mut both = [on(Strands::Plus), on(Strands::Minus)].concat();
            both.sort_by_key(|hit| std::cmp::Reverse(hit.score));
            both.truncate(job.top as usize);
            assert_eq!(both, expected, "round {round}");
        }
    }
    assert!(several > 100, "{several}");
}

/// A rotated copy is one alignment, whichever strand it is on.
#[test]
fn a_rotated_copy_is_one_alignment() {
    let rng = &mut support::rng(43);
    let genome: Vec<Code> = (0..800).map(|_| 1 << below(rng, 4)).collect();
    let scoring = local(1, -19, Ambiguity::Zero, Gaps::from_blast(39, 3));
    for (round, first) in [0, 300, 799].into_iter().enumerate() {
        let rotated = [&genome[first..], &genome[..first]].concat();
        let turned = oracle::reverse_complement(&rotated);
        for (query, strand) in [(&rotated, Strand::Plus), (&turned, Strand::Minus)] {
            for circular in SIDES {
                let job = LongAlignment {
                    circular,
                    strand: Strands::Both,
                    min_score: 50,
                    top: 1 + round as u32 % 2,
                    ..job(query, &genome, &scoring)
                };
                let hits = run(&job, vec![cpu(InstructionSet::available()[0])]).unwrap().hits;
                let [hit] = hits.as_slice() else { panic!("{} alignments", hits.len()) };
                assert_eq!((hit.strand, hit.score), (strand, 800));
                assert_eq!(hit.cigar.as_ref().unwrap().to_string(), "800=");
                check_hit(&job, hit);
            }
        }
    }
}

#[test]
fn circles_on_two_devices_that_are_stopped() {
    let rng = &mut support::rng(44);
    let processor = processor();
    let textbook = Textbook { panel_columns: 64, trace_cells: 1 << 14, ..Textbook::default() };
    let textbook = Arc::new(Mutex::new(textbook));
    let mut stops = 0;
    for round in 0..6 {
        let unit: Vec<Code> = (0..100 + below(rng, 40)).map(|_| 1 << below(rng, 4)).collect();
        let first = below(rng, unit.len());
        let rotated = [&unit[first..], &unit[..first]].concat();
        let other = support::mutated(rng, pairwave::seq::Alphabet::Dna, &rotated, 9);
        let query = if round % 3 == 0 { oracle::reverse_complement(&unit) } else { unit };
        let scoring = local(5, -4, Ambiguity::Overlap, Gaps { first: 6, next: 2 });
        let job = LongAlignment {
            circular: SIDES[round % 3],
            strand: Strands::Both,
            top: 1 + round as u32 % 2 * 3,
            min_score: 40,
            tuning: tuning(rng),
            ..job(&query, &other, &scoring)
        };
        let (expected, _) = expected(&job);
        let engines = |marks: &Arc<AtomicU64>| -> Vec<Box<dyn LongEngine>> {
            vec![Lent::stopped(&textbook, marks), Lent::stopped(&processor, marks)]
        };
        let (times, hits) = begun_again(&job, engines, &format!("round {round}"));
        assert_eq!(hits, expected, "round {round}, stopped {times} times");
        stops += times;
    }
    assert!(stops > 6, "{stops}");
}
