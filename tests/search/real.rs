//! Searches in real proteins. (The command-line program is compared with BLASTP on the same
//! proteins.)

use pairwave::seq::{ReadOptions, SequenceStore, read_bytes};

use super::textbook::{hits, summarise};
use super::*;

fn proteins(name: &str) -> SequenceStore {
    let path = format!("{}/assets/proteins/{name}.fasta", support::ROOT);
    let bytes = std::fs::read(&path).expect("it is there");
    read_bytes(name, &bytes, &ReadOptions::default()).expect("they are proteins")
}

#[test]
fn hits_match_the_textbook() {
    let (queries, subjects) = (proteins("queries"), proteins("subjects"));
    let searched = Arc::new(Subjects::from_store(subjects.clone()));
    let search = Search::new(Arc::new(queries), searched, Arc::new(protein()));
    let (actual, _) = support::run_on(&search, vec![Box::new(support::cpu())], &support::two_threads()).unwrap();
    let rows: Vec<_> = actual.iter().map(summarise).collect();
    assert_eq!(rows.len(), 82);
    assert_eq!(rows, hits(&search, &subjects));
}
