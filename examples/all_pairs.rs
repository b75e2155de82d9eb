//! Prints all pairs of a file that are at least 90 % identical: `cargo run --example all_pairs --
//! genes.fasta`

use pairwave::{AllPairs, Job, Run, Scoring};

fn main() -> pairwave::Result<()> {
    let path = std::env::args().nth(1).unwrap_or("assets/16s/gold12.fasta".into());
    let genes = pairwave::read(&path)?;
    let job = AllPairs { min_identity: Some(0.9), ..AllPairs::new(genes.clone(), Scoring::dna().into()) };
    job.run(&Run::default(), |pairs| {
        for pair in pairs {
            println!("{} {} {:.4}", genes.name(pair.query), genes.name(pair.target), pair.identity);
        }
        Ok(())
    })?;
    Ok(())
}
