//! VCF: variants turn the target into the query, and are normalised.

use super::RandomCase;
use pairwave::output::{LongFormat, LongPaths};
use pairwave::score::Mode;
use support::rng;

/// A line of a VCF file.
struct VcfLine {
    /// Position of REF, from 0.
    position: usize,
    reference: String,
    alternative: String,
    /// Position in the query, from 1.
    query: usize,
}

fn records(case: &RandomCase) -> Vec<VcfLine> {
    let paths = LongPaths { query: "q.fa".into(), target: "t.fa".into() };
    let text = case.written(&LongFormat::Vcf(paths));
    let strand = if case.is_reverse { "-" } else { "+" };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let record = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, position, ".", reference, alternative, ".", ".", info, "GT", "1"] = columns[..] else {
            panic!("{line}")
        };
        assert_eq!(name, "target");
        let info: Vec<&str> = info.split([';', '=']).collect();
        let ["QNAME", "query", "QSTART", query, "QSTRAND", sign] = info[..] else { panic!("{line}") };
        assert_eq!(sign, strand);
        VcfLine {
            position: position.parse::<usize>().expect("a position") - 1,
            reference: reference.to_owned(),
            alternative: alternative.to_owned(),
            query: query.parse().expect("a position"),
        }
    };
    lines.map(record).collect()
}

/// Returns the target's aligned part with all variants.
fn applied(case: &RandomCase, records: &[VcfLine]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    for record in records {
        let VcfLine { position, reference, alternative, .. } = record;
        assert_eq!(case.target[*position..][..reference.len()], **reference);
        // The base before an insertion or deletion may belong to the variant before it.
        let common = reference.bytes().zip(alternative.bytes()).take_while(|(a, b)| a == b).count();
        let start = position + common;
        assert!(start >= at, "variants overlap");
        text.push_str(&case.target[at..start]);
        text.push_str(&alternative[common..]);
        at = position + reference.len();
    }
    text + &case.target[at..]
}

#[test]
fn variants_applied_to_the_target_give_the_query() {
    let mut random = rng(0x7cf);
    for round in 0..6000 {
        let mode = random.pick(&[Mode::Local, Mode::Global]);
        let letters = random.pick(&[&b"AC"[..], b"ACGT"]);
        let case = RandomCase::new(&mut random, letters, mode);
        let records = records(&case);
        let [query, target] = case.ranges();
        let expected = [&case.target[..target.start], &case.strand()[query], &case.target[target.end..]].concat();
        // A target that is deleted as a whole has no base before or after it.
        let context = format!("round {round}: {} {} {}", case.target, case.query, case.cigar);
        assert_eq!(applied(&case, &records), expected, "{context}");
        let mut before = 0;
        for VcfLine { position, reference, alternative, query } in &records {
            assert!(*position >= before, "{context}");
            before = *position;
            let (first, last) = (reference.bytes().next() == alternative.bytes().next(), reference.bytes().last());
            let is_last_equal = last == alternative.bytes().last();
            let is_indel = reference.len() != alternative.len() && reference.len().min(alternative.len()) == 1;
            if first || is_last_equal {
                // Only the base before an indel, or after it at the first position, is equal.
                assert!(is_indel && (*position == 0 || !is_last_equal), "{context}: {reference}>{alternative}");
            }
            assert!(*query >= 1 && *query <= case.query.len(), "{context}");
        }
    }
}

/// QSTART is the place of ALT's first base, unless that base belongs to another variant.
#[test]
fn positions_in_the_query_are_those_of_the_first_base() {
    let mut random = rng(0x7d0);
    for _ in 0..2000 {
        let case = RandomCase::new(&mut random, b"ACGT", Mode::Local);
        let records = records(&case);
        let strand = case.strand();
        for (index, record) in records.iter().enumerate() {
            let shares =
                index > 0 && records[index - 1].position + records[index - 1].reference.len() > record.position;
            let at = if case.is_reverse { case.query.len() - record.query } else { record.query - 1 };
            let is_inside = record.position >= case.start.1 as usize;
            assert!(shares || !is_inside || strand.as_bytes()[at] == record.alternative.as_bytes()[0]);
        }
    }
}

/// Letters for several bases are no variants where they may be equal. REF has the first base, and
/// ALT has N.
#[test]
fn ambiguous_letters_are_concrete_in_ref_and_n_in_alt() {
    let mut random = rng(0x7d1);
    let mut seen = 0;
    for _ in 0..2000 {
        let case = RandomCase::new(&mut random, b"AACCGTRYNK", Mode::Global);
        for record in records(&case) {
            let part = &case.target[record.position..][..record.reference.len()];
            let concrete = part.replace('R', "A").replace('Y', "C").replace('K', "G");
            assert_eq!(concrete, record.reference);
            assert!(record.alternative.bytes().all(|letter| b"ACGTN".contains(&letter)));
            seen += usize::from(part != concrete);
        }
    }
    assert!(seen > 100, "{seen}");
}
