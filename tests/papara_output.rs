//! Reads in the columns of a reference alignment: by hand, and as PaPaRa 2.5 writes them; and the file in which finished reads
//! wait.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pairwave::alignment::{Cigar, Op};
use pairwave::jobs::papara::spool::{Record, Spool};
use pairwave::output::{Best, BestTable, Extent, Output, PlacedFormat, PlacedRead, PlacedWriter, ReferenceRows};
use pairwave::seq::StrandOf;
use pairwave::{Error, Result};
use proptest::prelude::*;

/// A stream whose bytes stay at hand.
#[derive(Clone, Default)]
struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tape {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A reference alignment and reads that lie in it.
#[derive(Debug, Default)]
struct Case {
    names: Vec<String>,
    rows: Vec<Vec<u8>>,
    columns: Vec<u32>,
    reads: Vec<Record>,
}

impl Case {
    fn extent(&self) -> Result<Extent> {
        let mut extent = Extent::new(self.columns.len());
        self.reads.iter().try_for_each(|read| extent.add(&read.name, read.first_site, &read.cigar))?;
        Ok(extent)
    }

    fn written_with(&self, format: PlacedFormat, extent: Option<&Extent>) -> Result<String> {
        let tape = Tape::default();
        let references = ReferenceRows { names: &self.names, rows: &self.rows, columns: &self.columns };
        let mut writer = PlacedWriter::begin(format, references, extent, Output::to_writer(tape.clone()))?;
        let reads: Vec<PlacedRead<'_>> = self.reads.iter().map(placed).collect();
        // The first by itself, the others at once.
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

fn placed(read: &Record) -> PlacedRead<'_> {
    let Record { name, letters, first_site, cigar, .. } = read;
    PlacedRead { name, letters, first_site: *first_site, cigar }
}

fn read(name: &str, letters: &str, first_site: u32, cigar: &str) -> Record {
    let cigar = cigar.parse().unwrap();
    Record { name: name.into(), letters: letters.into(), first_site, cigar, ..Record::default() }
}

/// Columns 2 and 5 of the reference are no sites.
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
fn rows_by_hand() {
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
    // The same rows in FASTA.
    for (text, keep_length, reads_only) in [(all, false, false), (short, true, true)] {
        let rows = text.lines().skip(1).map(|line| {
            let (name, letters) = line.split_once(' ').unwrap();
            format!(">{name}\n{}\n", letters.trim())
        });
        let format = PlacedFormat { is_phylip: false, keep_length, reads_only };
        assert_eq!(case.written(format).unwrap(), rows.collect::<String>());
    }
}

/// The same bytes whether rows are made one after another or on several threads.
#[test]
fn many_reads_are_the_same_rows() {
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
fn what_was_not_counted_is_refused() {
    let case = by_hand();
    let phylip = PlacedFormat { is_phylip: true, keep_length: true, ..PlacedFormat::default() };
    let fasta = PlacedFormat { is_phylip: false, ..phylip };
    assert!(phylip.needs_extent() && !fasta.needs_extent());
    assert_eq!(case.written_with(fasta, None).unwrap(), case.written(fasta).unwrap());
    let refused = |case: &Case, format, extent: Option<&Extent>| {
        let error = case.written_with(format, extent).unwrap_err();
        assert!(matches!(error, Error::Internal(_)), "{error}");
        error.to_string()
    };
    assert!(refused(&case, phylip, None).contains("not counted"));
    assert!(refused(&case, phylip, Some(&Extent::new(3))).contains("not counted"));
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
    assert!(Extent::new(3).add(b"read", 2, &"2=".parse().unwrap()).is_err());
    assert!(Extent::new(3).add(b"read", 4, &"1I".parse().unwrap()).is_err());
}

#[test]
fn the_table_of_best_edges() {
    let tape = Tape::default();
    let mut table = BestTable::begin(Output::to_writer(tape.clone()));
    let best = Best { name: b"a", edge: 7, score: 20, runner_up: Some((3, -1)), strand: StrandOf::Plus };
    table.write(&best, |edge| format!("edge {edge}")).unwrap();
    let best = Best { name: b"b", edge: 0, score: -5, runner_up: None, strand: StrandOf::Minus };
    table.write(&best, |_| "x|y".into()).unwrap();
    table.finish().unwrap();
    let expected = "\
read\tedge\tscore\trunner_up\trunner_up_score\tstrand\tsplit
a\t7\t20\t3\t-1\t+\tedge 7
b\t0\t-5\t.\t.\t-\tx|y
";
    assert_eq!(tape.text(), expected);
}

fn asset(path: &str) -> String {
    fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/papara").join(path)).unwrap()
}

/// Names and letters of a FASTA file.
fn fasta(text: &str) -> Vec<(String, String)> {
    let record = |record: &str| {
        let (name, letters) = record.split_once('\n').unwrap();
        (name.split_whitespace().next().unwrap().to_owned(), letters.replace('\n', ""))
    };
    text.split('>').skip(1).map(record).collect()
}

/// Where reads lie in an alignment of PaPaRa's, by its own rows.
fn theirs(references: &[(String, String)], reads: &[(String, String)], text: &str) -> Case {
    let rows: BTreeMap<&str, &str> =
        text.lines().skip(1).map(|line| line.split_once(' ').unwrap()).map(|(name, row)| (name, row.trim())).collect();
    let width = rows.values().next().unwrap().len();
    let is_site: Vec<bool> = (0..width)
        .map(|place| references.iter().any(|(name, _)| rows[name.as_str()].as_bytes()[place] != b'-'))
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
        Record { name, letters, first_site: first_site.unwrap(), cigar, ..Record::default() }
    };
    Case {
        names: references.iter().map(|(name, _)| name.clone()).collect(),
        rows: references.iter().map(|(_, letters)| letters.clone().into_bytes()).collect(),
        columns,
        reads: reads.iter().map(placed).collect(),
    }
}

/// Of where PaPaRa puts each read we make its file, byte for byte; with inserted characters dropped it also has gaps for N.
#[test]
fn alignments_are_written_as_papara_does() {
    for (set, is_dna) in [("tiny", true), ("tiny_aa", false)] {
        let (references, reads) =
            (fasta(&asset(&format!("{set}/ref.fasta"))), fasta(&asset(&format!("{set}/reads.fasta"))));
        for model in ["pgap", "cgap"] {
            let text = asset(&format!("{set}/papara.{model}.phy"));
            let case = theirs(&references, &reads, &text);
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

fn records(count: u32) -> Vec<Record> {
    let one = |index: u32| Record {
        name: format!("read{index}").into_bytes(),
        letters: vec![b'A'; 7 * index as usize],
        edge: index * 100,
        score: 500 - 300 * index as i32,
        runner_up: (index % 2 == 1).then_some((index, i32::MIN + index as i32)),
        strand: if index % 3 == 1 { StrandOf::Minus } else { StrandOf::Plus },
        first_site: 1000 * index,
        cigar: format!("{}=1D2I200X", index + 1).parse().unwrap(),
    };
    (0..count).map(one).collect()
}

fn all(spool: &Spool) -> Vec<Record> {
    let records: Vec<Record> = spool.records().map(Result::unwrap).collect();
    assert_eq!(records.len() as u64, spool.reads());
    records
}

#[test]
fn finished_reads_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = Spool::create(directory.path()).unwrap();
    assert!(all(&spool).is_empty());
    let expected = records(10);
    for block in [&expected[..3], &[], &expected[3..4], &expected[4..]] {
        spool.append(block).unwrap();
        assert_eq!(all(&spool), expected[..spool.reads() as usize]);
    }
    assert_eq!(spool.blocks().map(|block| block.unwrap().len()).collect::<Vec<_>>(), [3, 1, 6]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
    assert!(Spool::create(&directory.path().join("none")).is_err());
}

/// Wherever a run is killed, the next one has all whole blocks, and goes on.
#[test]
fn a_torn_file_goes_on_behind_its_last_whole_block() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads");
    let expected = records(4);
    let (mut spool, there) = Spool::open(&path, 42).unwrap();
    assert_eq!(there, 0);
    let mut lengths = vec![fs::metadata(&path).unwrap().len()];
    for block in expected.chunks(2) {
        spool.append(block).unwrap();
        lengths.push(fs::metadata(&path).unwrap().len());
    }
    drop(spool);
    let whole = fs::read(&path).unwrap();
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let blocks = lengths.iter().filter(|&&end| end <= length as u64).count().saturating_sub(1);
        let (mut spool, there) = Spool::open(&path, 42).unwrap();
        assert_eq!(there, 2 * blocks as u64, "{length} bytes");
        assert_eq!(all(&spool), expected[..2 * blocks]);
        expected[2 * blocks..].chunks(2).for_each(|block| spool.append(block).unwrap());
        drop(spool);
        assert!(fs::read(&path).unwrap() == whole, "{length} bytes");
    }
    // So does one of which a byte is wrong; what is behind it is dropped, too.
    for at in lengths[0] as usize..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        let (spool, there) = Spool::open(&path, 42).unwrap();
        assert_eq!(there, if (at as u64) < lengths[1] { 0 } else { 2 }, "byte {at}");
        assert_eq!(all(&spool), expected[..there as usize]);
    }
}

#[test]
fn a_file_of_something_else_is_refused_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads");
    let refused = |path: &Path, fingerprint: u64, part: &str| {
        let before = fs::read(path).unwrap();
        let error = Spool::open(path, fingerprint).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("checkpoint {}: ", path.display())) && message.contains(part),
            "{message}"
        );
        assert!(fs::read(path).unwrap() == before);
    };
    let (mut spool, _) = Spool::open(&path, 1).unwrap();
    spool.append(&records(3)).unwrap();
    refused(&path, 1, "another run uses it now");
    drop(spool);
    refused(&path, 2, "of another job");
    let mut bytes = fs::read(&path).unwrap();
    bytes[9] ^= 1;
    fs::write(&path, bytes).unwrap();
    refused(&path, 1, "damaged");
    for text in ["x", ">read\nACGTACGTACGTACGTACGTACGTACGT\n"] {
        fs::write(&path, text).unwrap();
        refused(&path, 1, "no checkpoint of aligned reads");
    }
    assert!(matches!(Spool::open(directory.path(), 1), Err(Error::Io { .. })));
}

proptest! {
    #[test]
    fn any_read_comes_back(
        name in prop::collection::vec(any::<u8>(), 0..20),
        letters in prop::collection::vec(any::<u8>(), 0..300),
        numbers in any::<(u32, i32, Option<(u32, i32)>, bool, u32)>(),
        runs in prop::collection::vec((any::<u32>(), 0usize..4), 0..9),
    ) {
        let (edge, score, runner_up, is_minus, first_site) = numbers;
        let mut cigar = Cigar::new();
        let (mut last, ops) = (4, [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion]);
        for (length, op) in runs {
            if op != last {
                cigar.push(length, ops[op]);
                last = if length > 0 { op } else { 4 };
            }
        }
        let strand = if is_minus { StrandOf::Minus } else { StrandOf::Plus };
        let record = Record { name, letters, edge, score, runner_up, strand, first_site, cigar };
        let mut spool = Spool::create(&std::env::temp_dir()).unwrap();
        spool.append(&[record.clone(), Record::default()]).unwrap();
        prop_assert_eq!(all(&spool), [record, Record::default()]);
    }
}
