//! Compares scores and best edges with the test data that PaPaRa 2.5 contains.

use pairwave::papara::{GapModel, Reference, Site, edge_vectors, oracle, vectors::set_of};
use pairwave::score::PhyloScheme;
use pairwave::seq::{AlignedRows, Alphabet, AlphabetChoice, ReadOptions, read_files};
use rayon::prelude::*;

fn path(file: &str) -> String {
    format!("{}/assets/papara/{file}", support::ROOT)
}

/// Returns the read, the best edge and the score of each line.
fn read_shipped(file: &str) -> Vec<(String, u32, i64)> {
    let text = std::fs::read_to_string(path(file)).unwrap();
    let line = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        (fields[0].to_owned(), fields[1].parse().unwrap(), fields[2].parse().unwrap())
    };
    text.lines().skip(1).map(line).collect()
}

fn check(folder: &str, alphabet: Alphabet, reads: usize) {
    let detect = AlphabetChoice::Detect;
    let reference =
        Reference::read(path(&format!("{folder}/ref.nwk")), path(&format!("{folder}/ref.phy")), detect).unwrap();
    assert_eq!(reference.alphabet, alphabet);
    let options = ReadOptions { alphabet: AlphabetChoice::Fixed(alphabet), ..ReadOptions::default() };
    let store = read_files(&[&path(&format!("{folder}/reads.fasta"))], &options).unwrap().remove(0);
    assert_eq!(store.len(), reads);
    for (model, name) in [(GapModel::Likelihood, "pgap"), (GapModel::Parsimony, "cgap")] {
        let vectors = edge_vectors(&reference, model, &super::pool(2));
        // Among edges with equal scores, the first one is the best.
        let (distinct, numbers) = vectors.distinct();
        let first = |vector: u32| numbers.iter().position(|&number| number == vector).unwrap() as u32;
        let edges: Vec<(u32, Vec<Site>)> = (0..distinct.len())
            .map(|vector| (first(vector), (0..distinct.sites()).map(|site| distinct.site(vector, site)).collect()))
            .collect();
        let best = |id: u32| {
            let read: Vec<u32> = store.codes(id).iter().map(|&code| set_of(alphabet, code)).collect();
            let scores = edges.iter().map(|(edge, sites)| (oracle::score(&read, sites, &PhyloScheme::papara()), *edge));
            let (score, edge) = scores.max_by_key(|&(score, edge)| (score, std::cmp::Reverse(edge))).unwrap();
            (store.name(id).to_owned(), edge, score)
        };
        let actual: Vec<(String, u32, i64)> = (0..reads as u32).into_par_iter().map(best).collect();
        assert_eq!(actual, read_shipped(&format!("{folder}/papara.{name}.scores.tsv")), "{folder}, {name}");
    }
}

#[test]
fn gene_scores_match_papara() {
    check("tiny", Alphabet::Dna, 50);
}

#[test]
fn protein_scores_match_papara() {
    check("tiny_aa", Alphabet::Protein, 30);
}

#[test]
fn both_formats_give_the_same_reference() {
    for folder in ["tiny", "tiny_aa"] {
        let [fasta, phylip] =
            ["ref.fasta", "ref.phy"].map(|file| AlignedRows::read(path(&format!("{folder}/{file}"))).unwrap());
        assert_eq!((fasta.names, fasta.rows), (phylip.names, phylip.rows));
    }
}
