//! Tests that alignments by probabilities do not depend on the order of the records.

use std::sync::Arc;

use pairwave::gpu::adapter::Device;
use pairwave::jobs::Run;
use pairwave::jobs::msa::{AddRows, AlignedSequences, MsaResult, MultiAlign, NewRows, TreeMethod};
use pairwave::seq::{Alphabet, SequenceStore};
use pairwave::tree::GuideTree;
use support::{Rng, rng};

use super::large::align;

/// Creates a store of some of the sequences, in this order. Their numbers are their names.
fn store(alphabet: Alphabet, sequences: &[Vec<u8>], order: &[usize]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(alphabet);
    for &number in order {
        builder.push(format!("{number}"), &sequences[number]).expect("valid codes");
    }
    Arc::new(builder.build())
}

/// Creates relatives of a random sequence, with substitutions, deletions and repeats. Some are equal,
/// and others differ in their order of symbols only, so that there are many ties.
fn family(rng: &mut Rng, alphabet: Alphabet, count: usize, length: usize) -> Vec<Vec<u8>> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGT" } else { b"ACDEFGHIKLMNPQRSTVWY" };
    let letters: Vec<u8> = letters.iter().map(|&letter| alphabet.encode(letter).expect("a letter")).collect();
    let parent: Vec<u8> = (0..length).map(|_| rng.pick(&letters)).collect();
    let mut all: Vec<Vec<u8>> = Vec::new();
    while all.len() < count {
        let mut codes = match rng.below(4usize) {
            0 if !all.is_empty() => all[rng.below(all.len())].clone(),
            _ => parent.clone(),
        };
        for _ in 0..rng.below(length) {
            let at = rng.below(codes.len());
            match rng.below(6usize) {
                0 if codes.len() > length / 2 => drop(codes.remove(at)),
                1 => codes.insert(at, rng.pick(&letters)),
                _ => codes[at] = rng.pick(&letters),
            }
        }
        all.push(codes);
        if rng.below(3usize) == 0 {
            let mut other = all[rng.below(all.len())].clone();
            if rng.below(2usize) == 0 {
                other.reverse();
            }
            all.push(other);
        }
    }
    all.truncate(count);
    all
}

fn shuffled(rng: &mut Rng, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    (1..count).for_each(|end| order.swap(end, rng.below(end + 1)));
    order
}

/// Asserts that two results have the same rows and the same confidence. `order` contains the number
/// of each row of the second result.
fn assert_same_rows(first: &MsaResult, second: &MsaResult, order: &[usize]) {
    assert_eq!(second.alignment.columns(), first.alignment.columns());
    for (row, &number) in order.iter().enumerate() {
        assert_eq!(second.alignment.residue_columns(row), first.alignment.residue_columns(number), "{number}");
        let confidence = |result: &MsaResult, row: usize| {
            result.confidence.as_ref().map(|confidence| confidence.residues(row).to_vec())
        };
        assert_eq!(confidence(second, row), confidence(first, number), "{number}");
    }
}

#[test]
fn alignments_do_not_depend_on_the_order_of_records() {
    let mut rng = rng(0x0DE5);
    for (alphabet, count, length) in [(Alphabet::Protein, 3, 30), (Alphabet::Protein, 24, 40), (Alphabet::Dna, 12, 50)]
    {
        for _ in 0..6 {
            let sequences = family(&mut rng, alphabet, count, length);
            let input: Vec<usize> = (0..count).collect();
            let job = |order: &[usize]| MultiAlign {
                needs_confidence: true,
                ..MultiAlign::new(store(alphabet, &sequences, order))
            };
            let first = align(&job(&input), 1);
            let order = shuffled(&mut rng, count);
            assert_same_rows(&first, &align(&job(&order), 2), &order);
        }
    }
}

#[test]
fn large_sets_do_not_depend_on_the_order_of_records() {
    let mut rng = rng(0x0DE6);
    let sequences = family(&mut rng, Alphabet::Protein, 320, 30);
    let input: Vec<usize> = (0..sequences.len()).collect();
    let job = |order: &[usize]| MultiAlign {
        needs_confidence: true,
        ..MultiAlign::new(store(Alphabet::Protein, &sequences, order))
    };
    let first = align(&job(&input), 2);
    let order = shuffled(&mut rng, sequences.len());
    assert_same_rows(&first, &align(&job(&order), 2), &order);
}

#[test]
fn alignments_along_a_given_tree_do_not_depend_on_the_order_of_records() {
    let mut rng = rng(0x0DE7);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    for _ in 0..6 {
        let sequences = family(&mut rng, Alphabet::Protein, 15, 30);
        let input: Vec<usize> = (0..15).collect();
        let job = |order: &[usize]| MultiAlign::new(store(Alphabet::Protein, &sequences, order));
        let tree = align(&MultiAlign { tree: Some(TreeMethod::Upgma), ..job(&input) }, 1).guide.tree;
        let names = |order: &[usize]| order.iter().map(|number| format!("{number}")).collect::<Vec<_>>();
        let newick = tree.newick(&names(&input));
        let along = |order: &[usize]| {
            let tree = GuideTree::read("x.nwk", &newick, &names(order), &pool).expect("a tree");
            align(&MultiAlign { guide_tree: Some(tree), ..job(order) }, 1)
        };
        let order = shuffled(&mut rng, 15);
        assert_same_rows(&along(&input), &along(&order), &order);
    }
}

#[test]
fn added_rows_do_not_depend_on_the_order_of_the_alignment() {
    let mut rng = rng(0x0DE8);
    let run = Run { devices: vec![Device::Cpu], threads: 2, ..Run::default() };
    for _ in 0..4 {
        let sequences = family(&mut rng, Alphabet::Protein, 20, 30);
        let numbers: Vec<usize> = (0..20).collect();
        let (base, new) = numbers.split_at(14);
        let of_rows = |order: &[usize]| {
            let sequences = store(Alphabet::Protein, &sequences, order);
            let alignment = align(&MultiAlign::new(Arc::clone(&sequences)), 1).alignment;
            AlignedSequences { letters: vec![Vec::new(); order.len()], sequences, alignment }
        };
        let order = shuffled(&mut rng, base.len());
        for new in [
            NewRows::Sequences { sequences: store(Alphabet::Protein, &sequences, new), keep_length: false },
            NewRows::Alignment(of_rows(new)),
        ] {
            let rows = |order: &[usize]| {
                let job = AddRows { base: of_rows(order), new: new.clone(), needs_confidence: false, mask: None };
                job.run(&run).expect("the job ends well").0.alignment
            };
            let (first, second) = (rows(base), rows(&order));
            for (row, &number) in order.iter().chain(&numbers[base.len()..]).enumerate() {
                assert_eq!(second.residue_columns(row), first.residue_columns(number), "{number}");
            }
        }
    }
}
