//! Variants of alignments that were written by hand.

use super::*;
use crate::alignment::Cigar;

fn codes(letters: &str) -> Vec<Code> {
    letters.bytes().map(|letter| Alphabet::Dna.encode(letter).expect("a nucleotide")).collect()
}

/// Returns the variants of two rows of an alignment as `start letters>letters@query`.
fn variants(target: &str, query: &str) -> Vec<String> {
    let mut cigar = Cigar::new();
    for (t, q) in target.bytes().zip(query.bytes()) {
        let op = match (t, q) {
            (b'-', _) => Op::Insertion,
            (_, b'-') => Op::Deletion,
            _ if t == q => Op::Match,
            _ => Op::Mismatch,
        };
        cigar.push(1, op);
    }
    let [target, query] = [target, query].map(|row| codes(&row.replace('-', "")));
    let found = VariantCollector::collect(cigar.iter(), &query, &target, Sides::default());
    let text = |variant: &Variant| {
        let Variant { start, end, letters, query } = variant;
        let replaced: String = (*start..*end).map(|at| char::from(target_letter(target[at as usize]))).collect();
        format!("{start} {replaced}>{}@{query}", String::from_utf8_lossy(letters))
    };
    found.iter().map(text).collect()
}

#[test]
fn substitutions_are_separate() {
    assert_eq!(variants("ACGTA", "ACGTA"), [""; 0]);
    assert_eq!(variants("ACGTA", "TCAGA"), ["0 A>T@0", "2 G>A@2", "3 T>G@3"]);
}

#[test]
fn insertions_and_deletions_move_to_the_left() {
    assert_eq!(variants("CTTTTG", "CTT--G"), ["1 TT>@1"]);
    assert_eq!(variants("CTT--G", "CTTTTG"), ["1 >TT@1"]);
    // A repeat of two letters: the inserted letters rotate.
    assert_eq!(variants("GACACA--T", "GACACACAT"), ["1 >AC@1"]);
    assert_eq!(variants("CACACA-T", "CACACAAT"), ["5 >A@5"]);
    assert_eq!(variants("TACACAC-G", "TACACACAG"), ["7 >A@7"]);
}

#[test]
fn runs_from_the_first_position_on() {
    assert_eq!(variants("TTTTG", "TTT-G"), ["0 T>@0"]);
    assert_eq!(variants("TTT-G", "TTTTG"), ["0 >T@0"]);
    assert_eq!(variants("--ACG", "TTACG"), ["0 >TT@0"]);
    assert_eq!(variants("ACGTT", "--GTT"), ["0 AC>@0"]);
    // The symbol after the variant is part of its record, so its substitution is, too.
    assert_eq!(variants("ACGTT", "--ATT"), ["1 CG>@1"]);
    assert_eq!(variants("ACGTT", "--TTT"), ["0 ACG>T@0"]);
    assert_eq!(variants("-C-GTT", "ACAGTT"), ["0 C>ACA@0"]);
    assert_eq!(variants("ACG-TT", "--GATT"), ["0 ACG>GA@0"]);
}

#[test]
fn ends_of_the_target() {
    assert_eq!(variants("ACG--", "ACGTA"), ["3 >TA@3"]);
    assert_eq!(variants("ACGTA", "ACG--"), ["3 TA>@3"]);
    assert_eq!(variants("ACGGG", "ACG--"), ["2 GG>@2"]);
}

/// An indel that could move across a substitution is one variant with it.
#[test]
fn variants_never_move_across_others() {
    assert_eq!(variants("CAAG", "CT-G"), ["1 AA>T@1"]);
    assert_eq!(variants("CATG", "CC-G"), ["1 A>C@1", "2 T>@2"]);
    assert_eq!(variants("CA-G", "CTAG"), ["1 >T@1"]);
    assert_eq!(variants("CAAAAG", "CTAA-G"), ["1 AA>T@1"]);
    assert_eq!(variants("GTTATTC", "GT-AT-C"), ["1 T>@1", "4 T>@3"]);
    // Deletions of one run become one, and an insertion next to a deletion is a replacement.
    assert_eq!(variants("GAAAC", "G-A-C"), ["1 AA>@1"]);
    assert_eq!(variants("GA--CG", "G-TTCG"), ["1 A>TT@1"]);
    assert_eq!(variants("GA-CG", "G-TCG"), ["1 A>T@1"]);
    assert_eq!(variants("G-ACG", "GA-CG"), [""; 0]);
    assert_eq!(variants("G--ACTC", "GTG-CTC"), ["1 A>TG@1"]);
}

#[test]
fn ambiguous_letters() {
    // R is A or G: no variant next to A, and A in REF. Y is C or T: N in ALT.
    assert_eq!(variants("ARGC", "RAGN"), [""; 0]);
    assert_eq!(variants("CRG", "CCG"), ["1 A>C@1"]);
    assert_eq!(variants("CAG", "CYG"), ["1 A>N@1"]);
    assert_eq!(variants("CNRG", "C--G"), ["1 NA>@1"]);
    assert_eq!(variants("C--G", "CYTG"), ["1 >NT@1"]);
    // The reference is read as CAAG.
    assert_eq!(variants("CRAG", "CR-G"), ["1 A>@1"]);
}
