//! The expected hits of a search, computed by its definition.

use std::cmp::Reverse;

use pairwave::pairs::oracle::{needleman_wunsch, smith_waterman};
use pairwave::score::{AlignmentCounts, CoverageFilter, Mode, Statistics};
use pairwave::seq::{SequenceStore, Strand, Strands, reverse_complement};
use pairwave::{Cigar, Search, SearchHit};

/// The comparable properties of a hit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HitSummary {
    pub query: u32,
    pub record: u64,
    pub strand: Strand,
    pub score: i64,
    /// Numbers of symbols before the alignment in query and subject, and its columns.
    pub alignment: Option<(u32, u32, String)>,
    pub evalue: Option<f64>,
}

pub(crate) fn summarise(hit: &SearchHit) -> HitSummary {
    let alignment = hit.alignment.as_ref();
    HitSummary {
        query: hit.query,
        record: hit.record,
        strand: hit.strand,
        score: hit.score,
        alignment: alignment.map(|a| (a.query_start, a.target_start, a.cigar.to_string())),
        evalue: hit.significance.map(|significance| significance.evalue),
    }
}

/// Returns the fraction of a query between its end gaps.
fn query_coverage(cigar: &Cigar, query_symbols: u32) -> f64 {
    let text = cigar.to_string();
    let runs: Vec<(u64, char)> = text
        .split_inclusive(|c: char| !c.is_ascii_digit())
        .map(|run| (run[..run.len() - 1].parse().expect("a number"), run.chars().last().expect("an operation")))
        .collect();
    let inserted = |run: Option<&(u64, char)>| run.filter(|run| run.1 == 'I').map_or(0, |run| run.0);
    let ends = inserted(runs.first()) + if runs.len() > 1 { inserted(runs.last()) } else { 0 };
    (cigar.query_span() - ends) as f64 / f64::from(query_symbols)
}

/// Returns whether an alignment reaches the coverages, computed in whole numbers from thousandths.
fn is_covered(filter: &CoverageFilter, counts: &AlignmentCounts, m: u32, n: u32) -> bool {
    let covered = counts.matches + counts.mismatches;
    let reaches = |minimum: Option<f64>, length: u32| {
        let thousandths = (1000.0 * minimum.unwrap_or_default()).round() as u64;
        1000 * covered >= thousandths * u64::from(length.max(1))
    };
    reaches(filter.query, m) && reaches(filter.target, n) && reaches(filter.both, m) && reaches(filter.both, n)
}

/// Returns all hits of a search in order, by the definition.
pub(crate) fn hits(search: &Search, subjects: &SequenceStore) -> Vec<HitSummary> {
    let (scoring, queries) = (&*search.scoring, &search.queries);
    let statistics = (scoring.mode == Mode::Local).then(|| Statistics::for_scheme(scoring)).flatten();
    let size = search.database_size();
    let mut all = Vec::new();
    for query in 0..queries.len() as u32 {
        let mut actual: Vec<Vec<HitSummary>> = Vec::new();
        for record in 0..subjects.len() as u32 {
            let (m, n) = (queries.length(query), subjects.length(record));
            let evalue = |score: i64| statistics.as_ref().map(|statistics| statistics.evalue(score, m, n, &size));
            let suffices = |score: i64| {
                (scoring.mode == Mode::Global || score > 0)
                    && search.min_score.is_none_or(|least| score >= least)
                    && search.max_evalue.is_none_or(|most| evalue(score).expect("statistics") <= most)
            };
            let passes = |cigar: &Cigar| {
                let identity = search.definition.identity(&cigar.counts(), m, n);
                search.min_identity.is_none_or(|least| identity >= least)
                    && search.min_query_cover.is_none_or(|least| query_coverage(cigar, m) >= least)
                    && is_covered(&search.coverage, &cigar.counts(), m, n)
            };
            let mut of_pair: Vec<HitSummary> = Vec::new();
            for strand in [Strand::Plus, Strand::Minus] {
                let forward = queries.codes(query);
                let a = match (search.strand, strand) {
                    (Strands::Plus | Strands::Both, Strand::Plus) => forward.to_vec(),
                    (Strands::Minus | Strands::Both, Strand::Minus) => reverse_complement(forward),
                    _ => continue,
                };
                let alignments = match scoring.mode {
                    Mode::Local => {
                        let least = (1..).find(|&score| suffices(score)).expect("a score that suffices");
                        let count = if search.max_hsps == 1 { 1 } else { usize::MAX };
                        let found = smith_waterman::align_several(&a, subjects.codes(record), scoring, least, count);
                        let starts =
                            |one: &smith_waterman::ReferenceLocalAlignment| (one.query.start, one.target.start);
                        found.into_iter().map(|one| (one.score, starts(&one), one.cigar)).collect()
                    }
                    Mode::Global => {
                        let best = needleman_wunsch::align(&a, subjects.codes(record), scoring);
                        vec![(best.score, (0, 0), best.cigar)]
                    }
                };
                for (score, starts, cigar) in alignments {
                    if suffices(score) && passes(&cigar) {
                        let text = (starts.0 as u32, starts.1 as u32, cigar.to_string());
                        let alignment = (!search.score_only).then_some(text);
                        let (record, evalue) = (record.into(), evalue(score));
                        of_pair.push(HitSummary { query, record, strand, score, alignment, evalue });
                    }
                }
            }
            // The plus strand comes first if scores are equal.
            of_pair.sort_by_key(|row| Reverse(row.score));
            of_pair.truncate(search.max_hsps);
            if !of_pair.is_empty() {
                actual.push(of_pair);
            }
        }
        actual.sort_by_key(|rows| (Reverse(rows[0].score), rows[0].record));
        actual.truncate(search.max_hits);
        let mut actual: Vec<HitSummary> = actual.into_iter().flatten().collect();
        if let Some(best) = actual.first().map(|row| row.score).filter(|_| search.top_hits_only) {
            actual.retain(|row| row.score == best);
        }
        all.extend(actual);
    }
    all
}
