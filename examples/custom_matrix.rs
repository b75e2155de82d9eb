//! Aligns two strings by a matrix that distinguishes transitions from transversions: `cargo run
//! --example custom_matrix -- GATTACA GACTTCA`

use pairwave::{Alphabet, EndGaps, Gaps, Scoring, SubstitutionMatrix, align};

/// NCBI's format. A transition (A and G, C and T) scores -1 and a transversion -4.
const MATRIX: &str = "
   A  C  G  T
A  5 -4 -1 -4
C -4  5 -4 -1
G -1 -4  5 -4
T -4 -1 -4  5
";

fn main() -> pairwave::Result<()> {
    let mut strings = std::env::args().skip(1);
    let query = strings.next().unwrap_or("GATTACA".into());
    let target = strings.next().unwrap_or("GACTTCA".into());
    let matrix = SubstitutionMatrix::parse("MATRIX", MATRIX.as_bytes())?;
    // A gap of k symbols costs 8 + 2 k.
    let scoring = Scoring::matrix(Alphabet::Dna, &matrix, Gaps::from_blast(8, 2), EndGaps::Charged)?;
    let alignment = align(&query, &target, &scoring)?;
    println!("{} {}", alignment.score, alignment.cigar);
    Ok(())
}
