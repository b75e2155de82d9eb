//! Tests of the output: reads in the columns of a reference alignment. Expected values are examples
//! by hand and the output of PaPaRa 2.5.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use pairwave::alignment::{Cigar, Op};
use pairwave::jobs::PhyloResult;
use pairwave::output::{
    BestEdge, BestTable, Output, PlacedExtent, PlacedFormat, PlacedRead, PlacedWriter, ReferenceRows,
};
use pairwave::papara::{GapModel, ReadAligner, ReadAlignment, Reference, edge_vectors};
use pairwave::score::PhyloScheme;
use pairwave::seq::{AlphabetChoice, Strand, reverse_complement_letters};
use pairwave::{Error, Result};
use support::Tape;

/// A reference alignment and reads aligned with it.
#[derive(Debug, Default)]
struct Case {
    names: Vec<bstr::BString>,
    rows: Vec<Vec<u8>>,
    columns: Vec<u32>,
    reads: Vec<PhyloResult>,
}

impl Case {
    fn extent(&self) -> Result<PlacedExtent> {
        let mut extent = PlacedExtent::new(self.columns.len());
        self.reads.iter().try_for_each(|read| extent.add(&read.name, read.first_site, &read.cigar))?;
        Ok(extent)
    }

    fn written_with(&self, format: PlacedFormat, extent: Option<&PlacedExtent>) -> Result<String> {
        let tape = Tape::default();
        let references = ReferenceRows { names: &self.names, rows: &self.rows, columns: &self.columns };
        let mut writer = PlacedWriter::begin(format, references, extent, Output::to_writer(tape.clone()))?;
        let reads: Vec<PlacedRead<'_>> = self.reads.iter().map(to_placed_read).collect();
        // Write the first read alone, and the others together.
        let (first, others) = reads.split_at(reads.len().min(1));
        writer.write(first)?;
        writer.write(others)?;
        writer.finish()?;
        Ok(tape.text())
    }

    fn written(&self, format: PlacedFormat) -> Result<String> {
        self.written_with(format, Some(&self.extent()?))
    }
}

fn to_placed_read(read: &PhyloResult) -> PlacedRead<'_> {
    let PhyloResult { name, letters, first_site, cigar, .. } = read;
    PlacedRead { name, letters, first_site: *first_site, cigar }
}

fn read(name: &str, letters: &str, first_site: u32, cigar: &str) -> PhyloResult {
    let cigar = cigar.parse().unwrap();
    PhyloResult { name: name.into(), letters: letters.into(), first_site, cigar, ..PhyloResult::default() }
}

/// Returns an example by hand, in which columns 2 and 5 of the reference are not sites.
fn by_hand() -> Case {
    Case {
        names: vec!["one".into(), "second".into()],
        rows: vec![b"AC-G.-Tt".to_vec(), b"AcNGG-~T".to_vec()],
        columns: vec![0, 1, 3, 4, 6, 7],
        reads: vec![
            read("plain", "ACg", 1, "2=1X"),
            read("inserted_reads", "nACuuG", 0, "1I2=2I1="),
            read("over", "ACGTACGT", 4, "1=1X6I"),
            read("before", "GGGACT", 0, "3I2=2D1="),
            read("one_inserted", "ACaG", 0, "2=1I1="),
            read("empty", "", 3, ""),
            read("nowhere", "TT", 6, "2I"),
        ],
    }
}

#[test]
fn manual_examples_give_expected_rows() {
    let case = by_hand();
    let format = PlacedFormat { is_phylip: true, ..PlacedFormat::default() };
    let all = "\
9 17
one            ---AC--G-Tt------
second         ---Ac--GG-T------
plain          ----A--Cg--------
inserted_reads --nACuuG---------
over           ---------ACGTACGT
before         GGGAC----T-------
one_inserted   ---ACa-G---------
empty          -----------------
nowhere        -----------TT----
";
    assert_eq!(case.written(format).unwrap(), all);
    let short = "\
7 6
plain          -ACg--
inserted_reads ACG---
over           ----AC
before         AC--T-
one_inserted   ACG---
empty          ------
nowhere        ------
";
    let format = PlacedFormat { is_phylip: true, keep_length: true, reads_only: true };
    assert_eq!(case.written(format).unwrap(), short);
    // The FASTA output contains the same rows.
    for (text, keep_length, reads_only) in [(all, false, false), (short, true, true)] {
        let rows = text.lines().skip(1).map(|line| {
            let (name, letters) = line.split_once(' ').unwrap();
            format!(">{name}\n{}\n", letters.trim())
        });
        let format = PlacedFormat { is_phylip: false, keep_length, reads_only };
        assert_eq!(case.written(format).unwrap(), rows.collect::<String>());
    }
}

/// Tests that the output does not depend on the number of threads that write rows.
#[test]
fn rows_are_aligned_for_multibyte_names() {
    let case = Case {
        names: vec!["é".into(), "second".into()],
        rows: vec![b"ACGT".to_vec(), b"AC-T".to_vec()],
        columns: vec![0, 1, 2, 3],
        reads: vec![read("äöü", "AC", 0, "2=")],
    };
    let format = PlacedFormat { is_phylip: true, ..PlacedFormat::default() };
    assert_eq!(case.written(format).unwrap(), "3 4\né      ACGT\nsecond AC-T\näöü    AC--\n");
}

#[test]
fn threads_do_not_change_rows() {
    let one = by_hand();
    let mut many = by_hand();
    many.reads = (0..1000).map(|index| one.reads[index % one.reads.len()].clone()).collect();
    let format = PlacedFormat { reads_only: true, ..PlacedFormat::default() };
    let few = one.written(format).unwrap();
    let rows: Vec<&str> = few.lines().collect();
    let expected: String =
        (0..1000).flat_map(|index| [rows[2 * (index % 7)], "\n", rows[2 * (index % 7) + 1], "\n"]).collect();
    assert_eq!(many.written(format).unwrap(), expected);
}

#[test]
fn uncounted_reads_are_refused() {
    let case = by_hand();
    let phylip = PlacedFormat { is_phylip: true, keep_length: true, ..PlacedFormat::default() };
    let fasta = PlacedFormat { is_phylip: false, ..phylip };
    assert!(phylip.needs_extent() && !fasta.needs_extent());
    assert_eq!(case.written_with(fasta, None).unwrap(), case.written(fasta).unwrap());
    let refused = |case: &Case, format, extent: Option<&PlacedExtent>| {
        let error = case.written_with(format, extent).unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{error}");
        error.to_string()
    };
    assert!(refused(&case, phylip, None).contains("not counted"));
    assert!(refused(&case, phylip, Some(&PlacedExtent::new(3))).contains("not counted"));
    let extent = case.extent().unwrap();
    let mut other = by_hand();
    other.reads.push(read("more", "A", 0, "1="));
    assert!(refused(&other, phylip, Some(&extent)).contains("more reads"));
    other.reads.truncate(2);
    assert!(refused(&other, phylip, Some(&extent)).contains("5 reads"));
    let default = PlacedFormat::default();
    for wrong in [
        read("wide", "AAAA", 2, "4I"),
        read("beyond", "AC", 5, "2="),
        read("short", "A", 2, "2="),
        read("long", "ACG", 2, "2="),
        read("before", "ACGTA", 0, "4I1="),
        read("nowhere", "", 7, ""),
    ] {
        let mut other = by_hand();
        let name = String::from_utf8(wrong.name.clone()).unwrap();
        other.reads[0] = wrong;
        assert!(refused(&other, default, Some(&extent)).contains(&format!("'{name}'")));
    }
    assert!(PlacedExtent::new(3).add(b"read", 2, &"2=".parse().unwrap()).is_err());
    assert!(PlacedExtent::new(3).add(b"read", 4, &"1I".parse().unwrap()).is_err());
}

#[test]
fn table_lists_best_edges() {
    let tape = Tape::default();
    let mut table = BestTable::begin(Output::to_writer(tape.clone()));
    let best = BestEdge { name: b"a", edge: 7, score: 20, runner_up: Some((3, -1)), strand: Strand::Plus };
    table.write(&best, b"edge 7").unwrap();
    let best = BestEdge { name: b"b", edge: 0, score: -5, runner_up: None, strand: Strand::Minus };
    table.write(&best, b"x|y").unwrap();
    table.finish().unwrap();
    let expected = "\
read\tedge\tscore\trunner_up\trunner_up_score\tstrand\tsplit
a\t7\t20\t3\t-1\t+\tedge 7
b\t0\t-5\t.\t.\t-\tx|y
";
    assert_eq!(tape.text(), expected);
}

fn asset(path: &str) -> String {
    fs::read_to_string(PathBuf::from(support::ROOT).join("assets/papara").join(path)).unwrap()
}

/// Returns the names and letters of a FASTA file.
fn fasta(text: &str) -> Vec<(String, String)> {
    let record = |record: &str| {
        let (name, letters) = record.split_once('\n').unwrap();
        (name.split_whitespace().next().unwrap().to_owned(), letters.replace('\n', ""))
    };
    text.split('>').skip(1).map(record).collect()
}

/// Returns the positions of reads in an alignment of PaPaRa, derived from its rows.
fn parse_papara(references: &[(String, String)], reads: &[(String, String)], text: &str) -> Case {
    let rows: BTreeMap<&str, &str> =
        text.lines().skip(1).map(|line| line.split_once(' ').unwrap()).map(|(name, row)| (name, row.trim())).collect();
    let width = rows.values().next().unwrap().len();
    let is_site: Vec<bool> = (0..width)
        .map(|column| references.iter().any(|(name, _)| rows[name.as_str()].as_bytes()[column] != b'-'))
        .collect();
    let columns: Vec<u32> = (0..references[0].1.len() as u32).collect();
    assert_eq!(is_site.iter().filter(|&&is| is).count(), columns.len(), "no column is left out");
    let placed = |(name, letters): &(String, String)| {
        let row = rows[name.as_str()].as_bytes();
        let (mut cigar, mut site, mut deleted, mut first_site) = (Cigar::new(), 0, 0, None);
        for (&letter, &is_site) in row.iter().zip(&is_site) {
            if letter != b'-' {
                first_site.get_or_insert(site);
                cigar.push(deleted, Op::Deletion);
                deleted = 0;
                cigar.push(1, if is_site { Op::Match } else { Op::Insertion });
            } else if is_site && first_site.is_some() {
                deleted += 1;
            }
            site += u32::from(is_site);
        }
        let (name, letters) = (name.clone().into_bytes(), letters.clone().into_bytes());
        PhyloResult { name, letters, first_site: first_site.unwrap(), cigar, ..PhyloResult::default() }
    };
    Case {
        names: references.iter().map(|(name, _)| name.as_str().into()).collect(),
        rows: references.iter().map(|(_, letters)| letters.clone().into_bytes()).collect(),
        columns,
        reads: reads.iter().map(placed).collect(),
    }
}

/// Tests that PaPaRa's read positions give PaPaRa's output file, byte for byte. When inserted
/// characters are dropped, PaPaRa also replaces N by gaps.
#[test]
fn output_matches_papara() {
    for (set, is_dna) in [("tiny", true), ("tiny_aa", false)] {
        let (references, reads) =
            (fasta(&asset(&format!("{set}/ref.fasta"))), fasta(&asset(&format!("{set}/reads.fasta"))));
        for model in ["pgap", "cgap"] {
            let text = asset(&format!("{set}/papara.{model}.phy"));
            let case = parse_papara(&references, &reads, &text);
            let format = PlacedFormat { is_phylip: true, ..PlacedFormat::default() };
            assert!(case.written(format).unwrap() == text, "{set}, {model}");
            if model == "pgap" {
                let written = case.written(PlacedFormat { keep_length: true, ..format }).unwrap();
                let without_n = |line: &str| match line.split_once(' ') {
                    Some((name, row)) if is_dna => format!("{name} {}\n", row.replace('N', "-")),
                    _ => format!("{line}\n"),
                };
                let written: String = written.lines().map(without_n).collect();
                assert!(written == asset(&format!("{set}/papara.pgap.r.phy")), "{set}, inserted characters dropped");
            }
        }
    }
}

/// Tests states, the alignment with PaPaRa's best edge, and the output file, byte for byte. The
/// search for the best edge is not part of this test.
#[test]
fn positions_match_papara() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let scheme = PhyloScheme::papara();
    for set in ["tiny", "tiny_aa"] {
        let path = |file: &str| format!("{}/assets/papara/{set}/{file}", support::ROOT);
        let reference = Reference::read(path("ref.nwk"), path("ref.fasta"), AlphabetChoice::Detect).unwrap();
        let reads = fasta(&asset(&format!("{set}/reads.fasta")));
        for (model, name) in [(GapModel::Likelihood, "pgap"), (GapModel::Parsimony, "cgap")] {
            let vectors = edge_vectors(&reference, model, &pool);
            let best = asset(&format!("{set}/papara.{name}.scores.tsv"));
            let best: BTreeMap<&str, &str> = best.lines().filter_map(|line| line.split_once('\t')).collect();
            let mut aligner = ReadAligner::default();
            let placed = reads.iter().map(|(name, letters)| {
                let (edge, score) = best[name.as_str()].split_once('\t').unwrap();
                let edge = edge.parse().unwrap();
                let codes: Vec<u8> = letters.bytes().map(|letter| reference.alphabet.encode(letter).unwrap()).collect();
                let ReadAlignment { score: computed, first_site, cigar } =
                    aligner.align(&codes, &vectors, edge, &scheme);
                assert_eq!(computed.to_string(), score, "{name}");
                let (name, letters) = (name.clone().into_bytes(), letters.clone().into_bytes());
                PhyloResult { name, letters, edge, score: computed, first_site, cigar, ..PhyloResult::default() }
            });
            let reads = placed.collect();
            let Reference { names, rows, columns, .. } = reference.clone();
            let format = PlacedFormat { is_phylip: true, ..PlacedFormat::default() };
            let written = Case { names, rows, columns, reads }.written(format).unwrap();
            let expected = asset(&format!("{set}/papara.{name}.phy"));
            let different = || written.lines().zip(expected.lines()).find(|(line, other)| line != other);
            assert!(written == expected, "{set}, {name}: {:?}", different());
        }
    }
}

#[test]
fn minus_strand_keeps_the_letters_of_the_file() {
    let turned = |letters: &str| String::from_utf8(reverse_complement_letters(letters.as_bytes())).unwrap();
    assert_eq!(turned("ACGTacgtNnRYkm"), "kmRYnNacgtACGT");
    assert_eq!(turned("AuGcU"), "AgCaU");
    assert_eq!(turned("AUT-x"), "x-AAT");
    assert_eq!(turned(""), "");
}
