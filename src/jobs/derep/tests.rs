//! Dereplication against sets of sequences in memory.

use super::*;
use crate::cluster::UniqueSet;
use crate::error::InputLocation;
use crate::seq::{SequenceStore, Strand, read_files};
use std::path::Path;

/// Memory limits: a run for each chunk, several runs, and no run.
const LIMITS: [u64; 3] = [0, 60_000, DEFAULT_MEMORY];

/// A sequence with owned parts: annotated name, letters, abundance, and its reads with their
/// strands.
type OwnedSequence = (String, String, u64, Vec<(String, Strand)>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Returns the result of a job with one thread, after checking that three threads return the same.
fn result(job: &Dereplication) -> (Vec<OwnedSequence>, DerepSummary) {
    let [one, three] = [1, 3].map(|threads| {
        let mut all = Vec::new();
        let summary = job
            .run(&Run { threads, ..Run::default() }, |sequence| {
                let reads = sequence.reads.iter().map(|read| (text(read.name), read.strand)).collect();
                all.push((text(&sequence.annotated_name()), text(sequence.letters), sequence.abundance, reads));
                Ok(())
            })
            .unwrap();
        (all, summary)
    });
    assert_eq!(one.0, three.0);
    three
}

/// Writes records to two files in a random order.
fn write(folder: &Path, records: &mut [String], rng: &mut fastrand::Rng) -> Vec<PathBuf> {
    rng.shuffle(records);
    let (first, second) = records.split_at(rng.usize(1..records.len()));
    let write = |(name, records): (&str, &[String])| {
        let path = folder.join(name);
        std::fs::write(&path, records.concat()).unwrap();
        path
    };
    [("a.fa", first), ("b.fa", second)].map(write).to_vec()
}

/// Returns records of few different sequences, some as RNA and in lower case.
fn random_records(rng: &mut fastrand::Rng, count: usize) -> Vec<String> {
    let record = |index| {
        let mut letters: String = (0..rng.usize(1..7)).map(|_| ['A', 'C', 'G', 'T', 'N'][rng.usize(..5)]).collect();
        if rng.usize(..3) == 0 {
            // Sequences that differ only after many symbols, from either end.
            letters = format!("ACGGTACGGTACGGTACGGT{letters}TTGCATTGCATTGCATTGCA");
        }
        if rng.usize(..9) == 0 {
            letters = letters.replace('T', "U").to_lowercase();
        }
        let annotation = [String::new(), format!(";size={}", rng.usize(1..5)), ";sample=Q;".into()];
        format!(">S{}_{index}{}\n{letters}\n", rng.usize(..3), annotation[rng.usize(..3)]).replacen(
            '_',
            if index % 2 == 0 { "." } else { "-" },
            1,
        )
    };
    (0..count).map(record).collect()
}

/// Reads all records into one store.
fn store(paths: &[PathBuf]) -> SequenceStore {
    let options = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Dna), ..ReadOptions::default() };
    let mut all = SequenceStore::builder(Alphabet::Dna);
    for store in read_files(paths, &options).unwrap() {
        (0..store.len() as u32).for_each(|id| all.push_from(&store, id));
    }
    all.build()
}

/// Returns the sequences of a set, with letters as in the codes.
fn expected(store: &SequenceStore, both_strands: bool) -> Vec<OwnedSequence> {
    let sizes: Vec<u64> = (0..store.len() as u32).map(|id| abundance(store.name_bytes(id)).unwrap()).collect();
    let set = UniqueSet::new(store, &sizes, both_strands);
    let sequence = |id: u32| {
        let records = set.records(id);
        let reads: Vec<_> = records.iter().map(|one| (store.name(one.record).to_owned(), one.strand)).collect();
        let size = set.sizes[id as usize];
        let name = crate::cluster::annotations::with_abundance(reads[0].0.as_bytes(), size);
        (text(&name), set.store.letters(id), size, reads)
    };
    (0..set.len() as u32).map(sequence).collect()
}

#[test]
fn sequences_equal_those_of_sets_in_memory_for_every_limit_and_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut records = random_records(&mut rng, 2_500);
    for both_strands in [false, true] {
        let mut first: Option<Vec<OwnedSequence>> = None;
        for memory in LIMITS {
            let inputs = write(folder.path(), &mut records, &mut rng);
            let all = store(&inputs);
            let job = Dereplication { both_strands, lists_reads: true, memory, ..Dereplication::new(&inputs) };
            let (found, summary) = result(&job);
            let codes: Vec<OwnedSequence> =
                found.iter().cloned().map(|one| (one.0, one.1.replace('U', "T"), one.2, one.3)).collect();
            assert_eq!(codes, expected(&all, both_strands), "{memory}");
            assert!(found.iter().any(|one| one.1.contains('U')), "letters are written as read");
            let abundance: u64 = found.iter().map(|one| one.2).sum();
            assert_eq!((summary.reads, summary.abundance), (2_500, abundance));
            assert_eq!((summary.sequences, summary.written), (found.len() as u64, found.len() as u64));
            assert_eq!(summary.temporary_bytes > 0, memory < DEFAULT_MEMORY, "{memory}");
            assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "another order of the reads");
        }
    }
}

#[test]
fn samples_have_their_own_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(4);
    let mut records = random_records(&mut rng, 1_500);
    let inputs = write(folder.path(), &mut records, &mut rng);
    let all = store(&inputs);
    let samples = ["Q", "S0", "S1", "S2"];
    let mut of_samples = Vec::new();
    for name in samples {
        let mut one = SequenceStore::builder(Alphabet::Dna);
        let of_sample = |id: &u32| sample(all.name_bytes(*id)) == name.as_bytes();
        (0..all.len() as u32).filter(of_sample).for_each(|id| one.push_from(&all, id));
        of_samples.extend(expected(&one.build(), false).into_iter().map(|one| (one.1, one.2, name.to_owned())));
    }
    of_samples.sort();
    for memory in LIMITS {
        let job = Dereplication { by_sample: true, memory, ..Dereplication::new(&inputs) };
        let (found, _) = result(&job);
        let key = |one: &OwnedSequence| (one.1.replace('U', "T"), one.2, text(sample(one.0.as_bytes())));
        let mut keys: Vec<_> = found.iter().map(key).collect();
        assert!(found.iter().all(|one| one.0.contains(";sample=") && one.3.is_empty()), "names have samples");
        assert!(keys.is_sorted_by_key(|key| std::cmp::Reverse((key.1, key.0.len()))), "{memory}");
        keys.sort();
        assert_eq!(keys, of_samples, "{memory}");
    }
}

#[test]
fn sequences_below_the_minimum_abundance_are_counted_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(5);
    let mut records = random_records(&mut rng, 1_500);
    let inputs = write(folder.path(), &mut records, &mut rng);
    let all = Dereplication { lists_reads: true, ..Dereplication::new(&inputs) };
    let (mut kept, whole) = result(&all);
    kept.retain(|one| one.2 >= 3);
    for memory in LIMITS {
        let (found, summary) = result(&Dereplication { min_size: NonZeroU64::new(3).unwrap(), memory, ..all.clone() });
        assert_eq!(found, kept, "{memory}");
        assert_eq!((summary.sequences, summary.written), (whole.sequences, kept.len() as u64));
    }
}

#[test]
fn prefixes_have_the_order_of_symbols_on_both_strands() {
    let mut rng = fastrand::Rng::with_seed(6);
    for alphabet in [Alphabet::Dna, Alphabet::Protein] {
        let rules = DerepRules { alphabet, by_sample: false };
        for _ in 0..2_000 {
            let length = rng.usize(1..20);
            // Few different symbols, so that the first ones are often equal.
            let mut codes = || -> Vec<Code> { (0..length).map(|_| 1 << rng.u8(2..4)).collect() };
            let (a, b) = (codes(), codes());
            for is_minus in [false, alphabet == Alphabet::Dna] {
                let item = |codes| DerepItem {
                    hash: 7,
                    size: 1,
                    greatest_size: 1,
                    codes,
                    is_minus,
                    name: b"a",
                    respelled: &[],
                };
                let (a, b) = (item(&*a), item(&*b));
                let order = a.prefix(alphabet).cmp(&b.prefix(alphabet)).then_with(|| a.output_order(&b, rules));
                assert_eq!(order, a.output_order(&b, rules), "{a:?} {b:?}");
            }
        }
    }
}

#[test]
fn sequences_with_equal_hashes_stay_different() {
    let rules = DerepRules { alphabet: Alphabet::Dna, by_sample: false };
    let mut table = DerepTable::new(rules);
    let item =
        |codes, name| DerepItem { hash: 7, size: 1, greatest_size: 1, codes, is_minus: false, name, respelled: &[] };
    for (codes, name) in
        [(&[1, 2][..], &b"a"[..]), (&[2, 1], b"b"), (&[1, 2, 4], b"c"), (&[2, 1], b"long"), (&[1, 2], b"0")]
    {
        table.add(&item(codes, name), &[]);
    }
    let found: Vec<_> = table.ids().map(|id| (table.item(id).name.to_vec(), table.item(id).size)).collect();
    assert_eq!(found, [(b"0".to_vec(), 2), (b"b".to_vec(), 2), (b"c".to_vec(), 1)]);
    let ids: Vec<_> = table.ids().collect();
    assert_eq!(table.in_hash_order(), [ids[0], ids[2], ids[1]]);
}

#[test]
fn wrong_reads_are_located() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fa");
    for (content, line, message) in [
        (">a\nAC\n>b;size=0\nAC\n", Some(3), "the abundance after ';size=' must be a positive whole number"),
        (
            ">a;size=18446744073709551615\nAC\n>b\nAC\n",
            Some(3),
            "the sum of the abundances up to this read exceeds 18446744073709551615",
        ),
        (">a\nAC\n>b\nA-C\n", Some(4), "'-' is a gap: the file looks aligned (`degap` removes gaps)"),
        ("", None, "the file is empty"),
    ] {
        std::fs::write(&path, content).unwrap();
        for threads in [1, 2] {
            let job = Dereplication::new(&[&path]);
            match job.read(&Run { threads, ..Run::default() }) {
                Err(Error::Input { location: InputLocation { line: found, .. }, message: said }) => {
                    assert_eq!((found, said.as_str()), (line, message));
                }
                other => panic!("{content}: {other:?}"),
            }
        }
    }
    let proteins = Dereplication { both_strands: true, alphabet: Alphabet::Protein, ..Dereplication::new(&[path]) };
    assert!(matches!(proteins.read(&Run::default()), Err(Error::Usage(_))));
}

#[test]
fn an_interrupt_ends_the_writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fa");
    std::fs::write(&path, ">a\nAC\n>b\nAC\n").unwrap();
    for memory in LIMITS {
        let run = Run::default();
        let reads = Dereplication { memory, ..Dereplication::new(&[&path]) }.read(&run).unwrap();
        run.interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(reads.write(&run, |_| panic!("no sequence")), Err(Error::Interrupted)));
    }
}
