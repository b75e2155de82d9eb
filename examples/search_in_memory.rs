//! Searches a protein in a database, both in memory: `cargo run --example search_in_memory`

use pairwave::seq::{Subjects, read_bytes};
use pairwave::{Job, Mode, ReadOptions, Run, Scoring, Search};
use std::sync::Arc;

const QUERY: &str = ">query\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n";
const DATABASE: &str = ">near\nMKTAYIAKQRQLSFVKSHFSRQDEERLGLIEVQ\n>far\nAYLVKQRNISFAKPHYSRELDERIGL\n\
                        >other\nGGSGGSGGSGGSGGSGGSGGSG\n";

fn main() -> pairwave::Result<()> {
    let options = ReadOptions::default();
    let queries = Arc::new(read_bytes("QUERY", QUERY.as_bytes(), &options)?);
    let subjects = Arc::new(Subjects::from_bytes("DATABASE", DATABASE.as_bytes(), &options)?);
    let scoring = Scoring { mode: Mode::Local, ..Scoring::protein() };
    Search::new(queries.clone(), subjects, scoring.into()).run(&Run::default(), |hits| {
        for hit in hits {
            let evalue = hit.significance.as_ref().map_or(f64::NAN, |significance| significance.evalue);
            let (query, subject) = (queries.name(hit.query), hit.subjects.name(hit.subject));
            println!("{query} {subject} {} {evalue:.1e} {:.4}", hit.score, hit.identity);
        }
        Ok(())
    })?;
    Ok(())
}
