//! Aligns two strings: `cargo run --example align_two -- GATTACA GCATGCT`

use pairwave::{Scoring, align};

fn main() -> pairwave::Result<()> {
    let mut strings = std::env::args().skip(1);
    let query = strings.next().unwrap_or("GATTACA".into());
    let target = strings.next().unwrap_or("GCATGCT".into());
    let alignment = align(&query, &target, &Scoring::dna())?;
    println!("{} {}", alignment.score, alignment.cigar);
    Ok(())
}
