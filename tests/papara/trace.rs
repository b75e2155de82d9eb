//! Compares the alignment of a read with a vector of states to that of the textbook algorithm, with
//! every instruction set.

use pairwave::papara::trace::{self, rescore};
use pairwave::papara::vectors::{all, set_of};
use pairwave::papara::{ReadAligner, ReadAlignment, Site, Vectors, oracle};
use pairwave::score::{Gaps, PhyloScheme};
use pairwave::seq::{Alphabet, Code};
use pairwave::simd::InstructionSet;
use proptest::prelude::*;

fn schemes() -> Vec<PhyloScheme> {
    let gaps = |first, next| Gaps { first, next };
    let papara = PhyloScheme::papara();
    vec![
        papara,
        PhyloScheme { free_read_ends: false, ..papara },
        PhyloScheme::paper(),
        PhyloScheme { free_read_ends: true, ..PhyloScheme::paper() },
        // With these schemes, many alignments have equal scores.
        PhyloScheme { matching: 1, mismatch: 0, gap_site: 0, deletion: gaps(1, 0), insertion: gaps(1, 1), ..papara },
        PhyloScheme { matching: 0, gap_site: 1, deletion: gaps(0, 0), insertion: gaps(0, 0), ..papara },
        // Scores exceed 16 bits.
        PhyloScheme {
            matching: 60_000,
            mismatch: -60_000,
            deletion: gaps(65_536, 1_000),
            insertion: gaps(65_536, 65_536),
            ..papara
        },
    ]
}

/// A read and a vector of sites, which may share its octet with other vectors.
#[derive(Debug, Clone)]
struct Case {
    read: Vec<Code>,
    vectors: Vectors,
    vector: u32,
    scheme: PhyloScheme,
}

impl Case {
    fn new(alphabet: Alphabet, read: Vec<Code>, sites: &[Site], vector: u32, scheme: PhyloScheme) -> Case {
        let mut vectors = Vectors::new(alphabet, sites.len() as u32, vector + 1);
        (0..).zip(sites).for_each(|(index, &site)| vectors.set(vector, index, site));
        Case { read, vectors, vector, scheme }
    }

    fn textbook(&self) -> (i64, ReadAlignment) {
        let read: Vec<u32> = self.read.iter().map(|&code| set_of(self.vectors.alphabet(), code)).collect();
        let sites: Vec<Site> = (0..self.vectors.sites()).map(|site| self.vectors.site(self.vector, site)).collect();
        (oracle::score(&read, &sites, &self.scheme), oracle::align(&read, &sites, &self.scheme))
    }

    fn check(&self, aligners: &mut [ReadAligner]) {
        let (score, expected) = self.textbook();
        assert_eq!(i64::from(expected.score), score, "{self:?}");
        let rescored = rescore(&expected, &self.read, &self.vectors, self.vector, &self.scheme);
        assert_eq!(rescored, Ok(score), "{self:?}: {}", expected.cigar);
        for aligner in aligners {
            let placed = aligner.align(&self.read, &self.vectors, self.vector, &self.scheme);
            assert_eq!(placed, expected, "{aligner:?}, {self:?}");
        }
    }
}

fn aligners() -> Vec<ReadAligner> {
    InstructionSet::available().into_iter().map(ReadAligner::new).collect()
}

/// Generates sites and a read. The read is a changed part of the sites or unrelated to them.
fn case() -> impl Strategy<Value = Case> {
    let site = (any::<u32>(), any::<u32>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sites = prop_oneof![
        1 => prop::collection::vec(site, 0..3),
        8 => prop::collection::vec(site, 0..90),
        1 => prop::collection::vec(site, 300..700),
    ];
    let edits = prop::collection::vec((0usize..90, 0u8..4, any::<u8>()), 0..12);
    let read = (any::<prop::sample::Index>(), prop_oneof![0usize..4, 0usize..120, 250usize..400], edits);
    (any::<bool>(), sites, read, 0u32..10, prop::sample::select(schemes()), 0u32..4).prop_map(
        |(is_dna, sites, (from, length, edits), vector, scheme, sharpness)| {
            let alphabet = if is_dna { Alphabet::Dna } else { Alphabet::Protein };
            let bits = all(alphabet).count_ones();
            let sites: Vec<Site> = sites
                .into_iter()
                .map(|(set, one, has_more, flag, other)| {
                    let one = 1 << (one % bits);
                    let set = if has_more && sharpness < 2 { set & all(alphabet) | one } else { one };
                    let both = if sharpness == 0 { other } else { flag };
                    Site { set, is_penalised: flag && sharpness < 3, is_free: both && sharpness < 3 }
                })
                .collect();
            let code = |set: u32| (1..alphabet.size() as Code).find(|&code| set_of(alphabet, code) & set != 0);
            let from = if sites.is_empty() { 0 } else { from.index(sites.len()) };
            let mut read: Vec<Code> =
                sites.iter().skip(from).chain(&sites).take(length).filter_map(|site| code(site.set)).collect();
            for (at, kind, value) in edits {
                let (at, value) = (at.min(read.len()), 1 + value % (alphabet.size() as u8 - 1));
                match kind {
                    0 => read.insert(at, value),
                    1 if at < read.len() => drop(read.remove(at)),
                    2 => read.truncate(read.len() - at.min(read.len()) / 4),
                    _ if at < read.len() => read[at] = value,
                    _ => read.push(value),
                }
            }
            Case::new(alphabet, read, &sites, vector, scheme)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn alignments_match_textbook(cases in prop::collection::vec(case(), 1..4)) {
        // All cases use the same aligners, which reuse their memory.
        let mut aligners = aligners();
        cases.iter().for_each(|case| case.check(&mut aligners));
    }
}

fn dna(text: &str) -> Vec<Code> {
    text.bytes().map(|letter| Alphabet::Dna.encode(letter).unwrap()).collect()
}

/// Parses sites of single bases. Lower case marks a gap site.
fn sites(text: &str) -> Vec<Site> {
    let site = |letter: u8| {
        let is_gap = letter.is_ascii_lowercase();
        Site { set: Alphabet::Dna.encode(letter).unwrap().into(), is_penalised: is_gap, is_free: is_gap }
    };
    text.bytes().map(site).collect()
}

fn align_read(read: &str, reference: &str, scheme: PhyloScheme) -> String {
    let case = Case::new(Alphabet::Dna, dna(read), &sites(reference), 0, scheme);
    case.check(&mut aligners());
    let ReadAlignment { score, first_site, cigar } = trace::align(&case.read, &case.vectors, 0, &case.scheme);
    format!("{score} {first_site} {cigar}")
}

#[test]
fn ties_and_overhangs_follow_papara() {
    let papara = PhyloScheme::papara();
    // The first of two positions is chosen. Skipping a gap site costs nothing.
    assert_eq!(align_read("ACGT", "TTACGTTTACGTTT", papara), "8 2 4=");
    assert_eq!(align_read("ACGT", "TTACaaGTTT", papara), "8 2 2=2D2=");
    // Among gaps with equal costs, the first one is chosen: the traceback prefers the diagonal.
    assert_eq!(align_read("ACCCCAAAAAATTGCGC", "ACCCCAAAAAAATTGCGC", papara), "31 0 5=1D12=");
    assert_eq!(align_read("ACCCCAAAAAAATTGCGC", "ACCCCAAAAAATTGCGC", papara), "31 0 5=1I12=");
    // Overhanging ends are inserted before the first site or after the last.
    assert_eq!(align_read("GGGGACGT", "ACGTTTTT", papara), "8 0 4I4=");
    assert_eq!(align_read("ACGTGGGG", "TTTTACGT", papara), "8 4 4=4I");
    // In the scheme of the paper, overhanging ends have a cost.
    assert_eq!(align_read("ACGTGGGG", "TTTTACGT", PhyloScheme::paper()), "-12 4 4=4I");
    assert_eq!(align_read("ACGT", "ggggACggggGT", PhyloScheme::paper()), "0 4 2=4D2=");
}

#[test]
fn empty_inputs_are_aligned() {
    let papara = PhyloScheme::papara();
    assert_eq!(align_read("", "", papara), "0 0 ");
    assert_eq!(align_read("", "ACGT", papara), "0 0 ");
    assert_eq!(align_read("ACG", "", papara), "0 0 3I");
    assert_eq!(align_read("ACG", "", PhyloScheme::paper()), "-9 0 3I");
    assert_eq!(align_read("A", "C", papara), "0 1 1I");
    assert_eq!(align_read("A", "A", papara), "2 0 1=");
}

/// Tests that rescoring rejects a wrong alignment or returns another score.
#[test]
fn rescoring_detects_wrong_alignments() {
    let scheme = PhyloScheme::papara();
    let case = Case::new(Alphabet::Dna, dna("ACGTAC"), &sites("TTACGTTACTT"), 3, scheme);
    let score = |first_site: u32, cigar: &str| {
        let placed = ReadAlignment { score: 0, first_site, cigar: cigar.parse().unwrap() };
        rescore(&placed, &case.read, &case.vectors, 3, &scheme)
    };
    assert_eq!(score(2, "4=1D2="), Ok(9));
    for (first_site, cigar, part) in [
        (2, "4=1D1=", "5 of 6 symbols"),
        (6, "4=1D2=", "ends after 13 of 11"),
        (2, "6=", "'=' at site 6, symbol 4"),
        (2, "1X3=1D2=", "'X' at site 2"),
        (1, "1D4=1D2=", "the alignment starts or ends with a deletion"),
    ] {
        let message = score(first_site, cigar).unwrap_err();
        assert!(message.contains(part), "{cigar}: {message}");
    }
    // Inner insertions have a cost. Overhanging ends have none.
    assert_eq!((score(0, "6I"), score(11, "6I"), score(5, "6I")), (Ok(0), Ok(0), Ok(-8)));
}

/// Tests long reads, which have larger blocks of diagonals and paths across several blocks.
#[test]
fn long_reads_match_textbook() {
    let letters = |length: usize, mut state: u32| -> Vec<Code> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            1 << (state >> 30)
        };
        (0..length).map(|_| next()).collect()
    };
    let reference = letters(1800, 7);
    let mut sites: Vec<Site> =
        reference.iter().map(|&code| Site { set: code.into(), is_penalised: false, is_free: false }).collect();
    sites[700..760].iter_mut().for_each(|site| (site.is_penalised, site.is_free) = (true, true));
    let mut read = [&letters(40, 1), &reference[100..600], &reference[605..700], &reference[760..1500]].concat();
    read.splice(300..300, letters(30, 3));
    for scheme in schemes() {
        Case::new(Alphabet::Dna, read.clone(), &sites, 0, scheme).check(&mut aligners());
    }
}
