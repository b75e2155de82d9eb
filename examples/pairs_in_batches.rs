//! Aligns a million pairs in batches, so that only one batch is in memory: `cargo run --release
//! --example pairs_in_batches -- 1000000`

use pairwave::seq::{AlphabetChoice, read_bytes};
use pairwave::{Alphabet, Job, PairList, PairSource, ReadOptions, Run, Scoring};
use std::sync::Arc;

const BATCH: u64 = 100_000;

/// Appends a record of 100 letters. Each letter of sequence 1 of a pair differs from that of
/// sequence 0 with a probability of a tenth.
fn push_record(fasta: &mut Vec<u8>, pair: u64, sequence: u64) {
    let mut state = pair;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    fasta.extend_from_slice(format!(">{pair}/{sequence}\n").as_bytes());
    for _ in 0..100 {
        let [letter, other, chance] = [random(), random(), random()];
        let is_changed = chance % 10 == 0 && sequence == 1;
        fasta.push(b"ACGT"[(letter + usize::from(is_changed) * (1 + other % 3)) % 4]);
    }
    fasta.push(b'\n');
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let options = ReadOptions { alphabet: AlphabetChoice::Fixed(Alphabet::Dna), ..ReadOptions::default() };
    let scoring = Arc::new(Scoring::dna());
    let (mut pairs, mut identities) = (0, 0.0);
    for start in (0..count).step_by(BATCH as usize) {
        let mut files = [Vec::new(), Vec::new()];
        for pair in start..(start + BATCH).min(count) {
            (0..).zip(&mut files).for_each(|(sequence, fasta)| push_record(fasta, pair, sequence));
        }
        let [queries, targets] = files.map(|fasta| read_bytes("batch", &fasta, &options));
        let source = PairSource::by_equal_index(Arc::new(queries?), Arc::new(targets?))?;
        let summary = PairList::new(source, scoring.clone()).run(&Run::default(), |rows| {
            identities += rows.iter().map(|row| row.result.identity).sum::<f64>();
            Ok(())
        })?;
        pairs += summary.written;
    }
    println!("{pairs} pairs, mean identity {:.3}", identities / pairs as f64);
    Ok(())
}
