//! Searches compared with the textbook: the oracle scores all pairs, and the hits are sorted and
//! cut off.

mod hsps;
mod jobs;
mod real;
mod textbook;

use std::sync::Arc;

use pairwave::Search;
use pairwave::score::{EndGaps, Gaps, Mode, NamedScheme, Scoring};
use pairwave::seq::{Alphabet, Code, SequenceStore, Subjects};
use support::{Rng, mutated, random_codes};

/// Returns the scores of BLASTP.
fn protein() -> Scoring {
    Scoring { mode: Mode::Local, ..Scoring::protein() }
}

/// Returns the scores of BLASTN.
fn dna() -> Scoring {
    let blastn = NamedScheme::find("blastn").expect("a scheme").scoring(Alphabet::Dna).expect("it is for nucleotides");
    Scoring { mode: Mode::Local, ..blastn }
}

/// Returns scores without known statistical parameters.
fn scoring_without_statistics() -> Scoring {
    Scoring { gaps: Gaps::from_blast(3, 3), ..protein() }
}

fn global(end_gaps: EndGaps) -> Scoring {
    Scoring { mode: Mode::Global, end_gaps, ..protein() }
}

/// Returns queries, and subjects of many lengths. Some subjects are related to queries, some of
/// them on the minus strand, and some occur twice.
fn sequences(rng: &mut Rng, alphabet: Alphabet) -> (Vec<Vec<Code>>, Vec<Vec<Code>>) {
    let queries: Vec<Vec<Code>> = [40, 1, 73, 0, 30].map(|length| random_codes(rng, alphabet, length)).into();
    let mut subjects = Vec::new();
    for (index, query) in queries.iter().enumerate() {
        for percent in [2, 10, 25] {
            let relative = mutated(rng, alphabet, query, percent);
            let around = random_codes(rng, alphabet, 9 * index);
            subjects.push([around.clone(), relative.clone()].concat());
            if alphabet == Alphabet::Dna {
                subjects.push(pairwave::seq::reverse_complement(&relative));
            }
        }
        subjects.push(random_codes(rng, alphabet, 20 + index));
        subjects.push(subjects[index].clone());
    }
    subjects.push(Vec::new());
    (queries, subjects)
}

fn store(alphabet: Alphabet, sequences: &[Vec<Code>]) -> SequenceStore {
    let mut builder = SequenceStore::builder(alphabet);
    for (index, codes) in sequences.iter().enumerate() {
        builder.push(format!("s{index}"), codes).expect("codes of the alphabet");
    }
    builder.build()
}

fn search(seed: u64, scoring: &Scoring) -> (Search, SequenceStore) {
    let alphabet = scoring.alphabet;
    let (queries, subjects) = sequences(&mut support::rng(seed), alphabet);
    let subjects = store(alphabet, &subjects);
    let searched = Arc::new(Subjects::from_store(subjects.clone()));
    let search = Search::new(Arc::new(store(alphabet, &queries)), searched, Arc::new(scoring.clone()));
    (Search { check: true, ..search }, subjects)
}
