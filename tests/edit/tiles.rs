//! Best parts and all ends in long texts, which are searched in tiles, against the rows of the
//! textbook.

use std::sync::Arc;

use pairwave::edit::cpu::edit_workers;
use pairwave::edit::gpu::EditGpu;
use pairwave::edit::mock::EditMock;
use pairwave::edit::oracle;
use pairwave::edit::plan::Against;
use pairwave::jobs::EditDistances;
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strand, Strands, reverse_complement};
use support::{Rng, random_codes, run_on, two_threads};

/// A row: pattern, text, strand, distance, end and all ends.
type EndRow = (u32, u32, Strand, u32, u32, Vec<(u32, u32)>);

/// Returns the rows of a job without a maximum of hits, by the definition.
fn expected(job: &EditDistances) -> Vec<EndRow> {
    let mut rows = Vec::new();
    let pairs = (0..job.patterns.len() as u32).flat_map(|p| (0..job.texts().len() as u32).map(move |t| (p, t)));
    for (pattern, text) in pairs {
        let (codes, symbols) = (job.patterns.codes(pattern), job.texts().codes(text));
        let limit = job.scheme.limit(codes.len() as u32, symbols.len() as u32);
        let on_strand = |strand: Strand| {
            let codes = if strand == Strand::Minus { reverse_complement(codes) } else { codes.to_vec() };
            let row = oracle::last_row(&codes, symbols, &job.scheme);
            let ends: Vec<(u32, u32)> = (0..).zip(row).filter(|&(_, distance)| distance <= limit).collect();
            let (end, distance) = ends.iter().copied().min_by_key(|&(_, distance)| distance)?;
            Some((pattern, text, strand, distance, end, if job.all_ends { ends } else { Vec::new() }))
        };
        let strands = [Strand::Plus, Strand::Minus].into_iter().filter(|strand| match job.strand {
            Strands::Plus => *strand == Strand::Plus,
            Strands::Minus => *strand == Strand::Minus,
            Strands::Both => true,
        });
        rows.extend(strands.filter_map(on_strand).min_by_key(|row| row.3));
    }
    rows
}

/// Creates patterns, and texts of several tiles that contain copies with edits, also at their ends.
fn stores(rng: &mut Rng) -> [Arc<SequenceStore>; 2] {
    let patterns: Vec<Vec<Code>> =
        [1, 8, 23, 24, 32, 40, 150].map(|length| random_codes(rng, Alphabet::Dna, length)).into();
    let mut texts = vec![vec![1; 40]];
    for case in 0..3 {
        let mut text = random_codes(rng, Alphabet::Dna, 16_000);
        if case > 0 {
            text.retain(|code| code.is_power_of_two());
        }
        for pattern in &patterns {
            let mut copy = support::mutated(rng, Alphabet::Dna, pattern, 2);
            if rng.below(2u32) == 0 {
                copy = reverse_complement(&copy);
            }
            let at = [0, text.len(), rng.below(text.len() + 1)][rng.below(3usize)];
            text.splice(at..at, copy);
        }
        texts.push(text);
    }
    [support::store(Alphabet::Dna, &patterns), support::store(Alphabet::Dna, &texts)]
}

#[test]
fn long_texts_have_the_best_parts_and_all_ends_of_the_textbook() {
    let seed = 31;
    let mut rng = support::rng(seed);
    let [patterns, texts] = stores(&mut rng);
    let mut count = 0;
    for (limit, strand) in [
        (Limit::Distance(0), Strands::Both),
        (Limit::Distance(4), Strands::Both),
        (Limit::Rate(0.2), Strands::Minus),
        (Limit::Rate(1.0), Strands::Plus),
    ] {
        let equality = Equality::dna(Ambiguity::Overlap, true);
        let scheme = Arc::new(EditScheme { mode: EditMode::Infix, equality, limit });
        for all_ends in [false, true] {
            let job =
                EditDistances::new(Arc::clone(&patterns), Against::Texts(Arc::clone(&texts)), Arc::clone(&scheme));
            let job = EditDistances { strand, all_ends, check: true, ..job };
            assert!(matches!(job.job().against, Against::Tiles(..)));
            let expected = expected(&job);
            let gpu = || EditGpu::open(&support::adapter()).expect("the adapter opens");
            let textbook = EditMock::new("textbook").with_capacity(1 << 20, 9);
            for engines in [edit_workers(2, &Arc::default()), vec![Box::new(textbook) as _], vec![Box::new(gpu()) as _]]
            {
                let (results, _) = run_on(&job, engines, &two_threads()).unwrap();
                let rows = results.into_iter().map(|result| {
                    let (pattern, text) = (result.pattern, result.text());
                    (pattern, text, result.strand, result.distance, result.end, result.ends)
                });
                assert!(rows.eq(expected.iter().cloned()), "seed {seed}: {limit:?} {strand:?} {all_ends}");
            }
            count += expected.len();
            let nearest = EditDistances { max_hits: Some(1), ..job };
            let (results, _) = run_on(&nearest, edit_workers(2, &Arc::default()), &two_threads()).unwrap();
            for result in results {
                let of_pattern = expected.iter().filter(|row| row.0 == result.pattern);
                let first = of_pattern.min_by_key(|row| row.3).unwrap();
                assert_eq!((result.text(), result.distance, result.end), (first.1, first.3, first.4));
                assert_eq!(result.ends, first.5);
            }
        }
    }
    assert!(count > 100, "{count}");
}
