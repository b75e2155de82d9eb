//! Places in texts that are read in parts equal those in texts that are read as a whole.

use std::sync::Arc;

use pairwave::edit::Edit;
use pairwave::edit::cpu::edit_workers;
use pairwave::edit::exact::ExactSymbols;
use pairwave::edit::gpu::EditGpu;
use pairwave::edit::mock::EditMock;
use pairwave::edit::plan::Against;
use pairwave::engine::Engine;
use pairwave::jobs::{EditDistances, EditResult};
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, PartSize, SequenceStore, Strands, TextParts};
use support::{Rng, random_codes, run_on, two_threads};

/// Writes texts as FASTA with lines of `line` letters.
fn fasta(texts: &SequenceStore, line: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in 0..texts.len() as u32 {
        bytes.extend(format!(">{} described\n", texts.name(text)).bytes());
        texts.letters(text).as_bytes().chunks(line).for_each(|line| bytes.extend([line, b"\n"].concat()));
    }
    bytes
}

/// Creates texts with planted patterns, and runs of N, where plateaus of distances are long.
fn texts(rng: &mut Rng, patterns: &[Vec<Code>], lengths: &[usize]) -> Arc<SequenceStore> {
    let mut texts = Vec::new();
    for &length in lengths {
        let mut text: Vec<Code> = random_codes(rng, Alphabet::Dna, length);
        text.retain(|code| code.is_power_of_two());
        text.resize(length, 1);
        for pattern in patterns {
            let mut copy = support::mutated(rng, Alphabet::Dna, pattern, 2);
            if rng.below(2u32) == 0 {
                copy = pairwave::seq::reverse_complement(&copy);
            }
            let at = rng.below(text.len() + 1);
            text.splice(at..at, copy);
        }
        if rng.below(2u32) == 0 {
            let at = rng.below(text.len() + 1);
            text.splice(at..at, vec![15; 1 + rng.below(120u32) as usize]);
        }
        texts.push(text);
    }
    support::store(Alphabet::Dna, &texts)
}

/// Finds places in parts of a file.
fn in_parts(job: &EditDistances, engines: Vec<Box<dyn Engine<Edit>>>, symbols: u64) -> Vec<EditResult> {
    let overlap = 2 * job.patterns.lengths().iter().max().expect("a pattern");
    let bytes = std::io::Cursor::new(fasta(job.texts(), 7 + symbols as usize % 100));
    let size = PartSize { symbols, overlap };
    let parts = TextParts::from_reader("texts.fa", bytes, Alphabet::Dna, size).unwrap();
    let none = Arc::new(SequenceStore::builder(Alphabet::Dna).build());
    let streamed = EditDistances { against: Against::Texts(none), ..job.clone() };
    let directory = std::env::temp_dir();
    let places = streamed.find_in_parts_on(Some(engines), parts, &two_threads(), &directory).unwrap();
    assert_eq!(places.texts().lengths(), job.texts().lengths());
    let mut rows = Vec::new();
    let add = |some: &[EditResult]| {
        rows.extend_from_slice(some);
        Ok(())
    };
    places.deliver(&two_threads(), add).unwrap();
    let summary = places.summary();
    assert_eq!(summary.written, rows.len() as u64);
    let pairs = job.patterns.len() * job.texts().len() * if job.strand == Strands::Both { 2 } else { 1 };
    assert_eq!(summary.pairs, pairs as u64);
    rows
}

/// Compares parts of several sizes with the whole texts. Returns the number of places.
#[track_caller]
fn check(job: &EditDistances) -> usize {
    let (expected, _) = run_on(job, edit_workers(2, &Arc::default()), &two_threads()).unwrap();
    for symbols in [1, 23, 150, 1 << 20] {
        let rows = in_parts(job, edit_workers(2, &Arc::default()), symbols);
        assert_eq!(rows, expected, "parts of {symbols} symbols");
    }
    let textbook: Vec<Box<dyn Engine<Edit>>> = vec![Box::new(EditMock::new("one").with_capacity(2_000, 3))];
    assert_eq!(in_parts(job, textbook, 60), expected);
    expected.len()
}

fn job(rng: &mut Rng, lengths: &[usize], texts_of: &[usize], limit: Limit, strand: Strands) -> EditDistances {
    let patterns: Vec<Vec<Code>> = lengths.iter().map(|&length| random_codes(rng, Alphabet::Dna, length)).collect();
    let texts = texts(rng, &patterns, texts_of);
    let scheme = EditScheme { mode: EditMode::Infix, equality: Equality::dna(Ambiguity::Overlap, true), limit };
    let patterns = support::store(Alphabet::Dna, &patterns);
    let job = EditDistances::new(patterns, Against::Texts(texts), Arc::new(scheme));
    EditDistances { strand, all_places: true, check: true, ..job }
}

#[test]
fn places_in_parts_are_those_in_whole_texts() {
    let mut rng = support::rng(31);
    let mut count = 0;
    for (lengths, texts) in [(&[0, 1, 4][..], &[3, 90, 1, 40][..]), (&[8, 20], &[200, 1, 2, 300]), (&[40, 70], &[900])]
    {
        for limit in [Limit::Distance(0), Limit::Distance(3), Limit::Rate(0.4)] {
            for strand in [Strands::Plus, Strands::Minus, Strands::Both] {
                count += check(&job(&mut rng, lengths, texts, limit, strand));
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn exact_symbols_and_limits_of_n_apply_in_parts() {
    let mut rng = support::rng(32);
    let mut count = 0;
    for _ in 0..4 {
        let job = job(&mut rng, &[12, 23], &[400, 30, 200], Limit::Distance(4), Strands::Both);
        let exact = ExactSymbols { ranges: Vec::new(), last: 3 };
        count += check(&EditDistances { exact, ..job.clone() });
        count += check(&EditDistances { max_n_fraction: Some(0.2), ..job });
    }
    assert!(count > 20, "{count}");
}

#[test]
fn places_hang_over_the_ends_of_texts_and_not_of_parts() {
    let mut rng = support::rng(35);
    let mut count = 0;
    for overhang in [0.0, 0.5, 1.0] {
        for texts in [&[400, 30, 1, 200][..], &[0, 12, 700]] {
            let job = job(&mut rng, &[1, 12, 23], texts, Limit::Distance(4), Strands::Both);
            count += check(&EditDistances { overhang: Some(overhang), ..job });
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn devices_find_places_in_parts() {
    let mut rng = support::rng(33);
    let job = job(&mut rng, &[20, 24], &[3000, 50, 700], Limit::Distance(4), Strands::Both);
    let (expected, _) = run_on(&job, edit_workers(2, &Arc::default()), &two_threads()).unwrap();
    for symbols in [500, 1 << 20] {
        let engine = EditGpu::open(&support::adapter()).expect("the adapter opens").with_runtime_checks();
        assert_eq!(in_parts(&job, vec![Box::new(engine)], symbols), expected, "parts of {symbols} symbols");
    }
}

#[test]
fn invalid_parts_are_refused() {
    let mut rng = support::rng(34);
    let job = job(&mut rng, &[20], &[60], Limit::Distance(2), Strands::Plus);
    let none = Arc::new(SequenceStore::builder(Alphabet::Dna).build());
    let streamed = EditDistances { against: Against::Texts(none), ..job.clone() };
    let message = |job: &EditDistances, data: &str, overlap| {
        let size = PartSize { symbols: 5, overlap };
        let data = std::io::Cursor::new(data.to_owned());
        let parts = TextParts::from_reader("texts.fa", data, Alphabet::Dna, size).unwrap();
        let found = job.find_in_parts(parts, &two_threads(), std::env::temp_dir());
        found.map(|_| ()).unwrap_err().to_string()
    };
    let text = format!(">a\n{0}\n>b\n{0}", "ACGT".repeat(50));
    assert_eq!(message(&streamed, &text, 21), "texts: the parts must overlap by 22 symbols");
    assert!(message(&streamed, &(text + "?\n"), 22).starts_with("texts.fa, line 4, column 201, record 'b': '?' is"));
    let distances = EditDistances { all_places: false, ..streamed };
    assert!(message(&distances, ">a\nA\n", 40).starts_with("all_places: "));
}
