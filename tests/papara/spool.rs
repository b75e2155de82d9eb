//! Tests of the spool, the file of finished reads, and of its use as a checkpoint.

use std::fs;
use std::path::Path;

use pairwave::alignment::{Cigar, Op};
use pairwave::jobs::Fingerprint;
use pairwave::jobs::PhyloResult;
use pairwave::jobs::papara::spool::ReadSpool;
use pairwave::seq::Strand;
use pairwave::{Error, Result};
use proptest::prelude::*;

fn records(count: u32) -> Vec<PhyloResult> {
    let one = |index: u32| PhyloResult {
        number: u64::from(index) << 30,
        name: format!("read{index}").into_bytes(),
        letters: vec![b'A'; 7 * index as usize],
        edge: index * 100,
        score: 500 - 300 * index as i32,
        runner_up: (index % 2 == 1).then_some((index, i32::MIN + index as i32)),
        strand: if index % 3 == 1 { Strand::Minus } else { Strand::Plus },
        first_site: 1000 * index,
        cigar: format!("{}=1D2I200X", index + 1).parse().unwrap(),
    };
    (0..count).map(one).collect()
}

fn all(spool: &ReadSpool) -> Vec<PhyloResult> {
    let records: Vec<PhyloResult> = spool.records().map(Result::unwrap).collect();
    assert_eq!(records.len() as u64, spool.reads());
    records
}

#[test]
fn stored_reads_are_restored() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = ReadSpool::create(directory.path()).unwrap();
    assert!(all(&spool).is_empty());
    let expected = records(10);
    for block in [&expected[..3], &[], &expected[3..4], &expected[4..]] {
        spool.append(block).unwrap();
        assert_eq!(all(&spool), expected[..spool.reads() as usize]);
    }
    assert_eq!(spool.blocks().map(|block| block.unwrap().len()).collect::<Vec<_>>(), [3, 1, 6]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
    assert!(ReadSpool::create(directory.path().join("none")).is_err());
}

/// Returns a fingerprint for job `number`.
fn job(number: u64) -> Fingerprint {
    Fingerprint::default().with("number", number)
}

/// Tests a run that is killed at any point. The next run must find all complete blocks and continue
/// after them.
#[test]
fn torn_file_continues_after_its_last_complete_block() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads");
    let expected = records(4);
    let (mut spool, there) = ReadSpool::open(&path, &job(42)).unwrap();
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
        let (mut spool, there) = ReadSpool::open(&path, &job(42)).unwrap();
        assert_eq!(there, 2 * blocks as u64, "{length} bytes");
        assert_eq!(all(&spool), expected[..2 * blocks]);
        expected[2 * blocks..].chunks(2).for_each(|block| spool.append(block).unwrap());
        drop(spool);
        assert!(fs::read(&path).unwrap() == whole, "{length} bytes");
    }
    // A file with a wrong byte is continued too. The damaged block and the data after it are
    // dropped.
    for at in lengths[0] as usize..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        fs::write(&path, &bytes).unwrap();
        let (spool, there) = ReadSpool::open(&path, &job(42)).unwrap();
        assert_eq!(there, if (at as u64) < lengths[1] { 0 } else { 2 }, "byte {at}");
        assert_eq!(all(&spool), expected[..there as usize]);
    }
}

#[test]
fn foreign_file_is_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reads");
    let refused = |path: &Path, number: u64, part: &str| {
        let before = fs::read(path).unwrap();
        let error = ReadSpool::open(path, &job(number)).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("checkpoint {}: ", path.display())) && message.contains(part),
            "{message}"
        );
        assert!(fs::read(path).unwrap() == before);
    };
    let (mut spool, _) = ReadSpool::open(&path, &job(1)).unwrap();
    spool.append(&records(3)).unwrap();
    refused(&path, 1, "another run uses it now");
    drop(spool);
    refused(&path, 2, "belongs to another job");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.windows(7).position(|part| part == b"program").expect("the header names the program");
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    refused(&path, 1, "damaged");
    for text in ["x", ">read\nACGTACGTACGTACGTACGTACGTACGT\n"] {
        fs::write(&path, text).unwrap();
        refused(&path, 1, "not a checkpoint of aligned reads");
    }
    assert!(matches!(ReadSpool::open(directory.path(), &job(1)), Err(Error::Io { .. })));
}

proptest! {
    #[test]
    fn any_read_is_restored(
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
        let strand = if is_minus { Strand::Minus } else { Strand::Plus };
        let number = u64::from(edge) * 5;
        let record = PhyloResult { number, name, letters, edge, score, runner_up, strand, first_site, cigar };
        let mut spool = ReadSpool::create(std::env::temp_dir()).unwrap();
        spool.append(&[record.clone(), PhyloResult::default()]).unwrap();
        prop_assert_eq!(all(&spool), [record, PhyloResult::default()]);
    }
}
