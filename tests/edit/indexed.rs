//! Patterns that share an index of their pieces have the results of engines.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pairwave::edit::cpu::edit_workers;
use pairwave::edit::exact::ExactSymbols;
use pairwave::edit::plan::Against;
use pairwave::error::Error;
use pairwave::gpu::adapter::Device;
use pairwave::jobs::{EditDistances, EditResult, Job, Run};
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, PartSize, SequenceStore, Strands, TextParts, reverse_complement};
use support::{Rng, random_codes, run_on, two_threads};

/// Creates many patterns, few of them without long pieces, and texts of several tiles that contain
/// copies with edits.
fn stores(rng: &mut Rng) -> [Arc<SequenceStore>; 2] {
    let base = |rng: &mut Rng, n: usize, is_pure: bool| {
        let mut codes = random_codes(rng, Alphabet::Dna, n);
        if is_pure {
            codes.iter_mut().for_each(|code| *code = 1 << code.trailing_zeros());
        }
        codes
    };
    let lengths = [20, 31, 36, 50, 75, 100, 150, 400, 3, 0];
    let patterns: Vec<Vec<Code>> = (0..60).map(|index| base(rng, lengths[index % 10], index % 7 > 0)).collect();
    let mut texts = vec![Vec::new(), vec![1; 30]];
    for case in 0..3 {
        let mut text = base(rng, 9_000, case > 0);
        for pattern in &patterns {
            let edits = rng.below(4u32);
            let mut copy = support::mutated(rng, Alphabet::Dna, pattern, edits);
            if rng.below(2u32) == 0 {
                copy = reverse_complement(&copy);
            }
            let at = [0, text.len(), rng.below(text.len() + 1)][rng.below(3usize)];
            text.splice(at..at, copy);
        }
        // N equals every base, so all patterns have places here.
        text.splice(700..700, vec![15; case]);
        texts.push(text);
    }
    [support::store(Alphabet::Dna, &patterns), support::store(Alphabet::Dna, &texts)]
}

fn job(stores: &[Arc<SequenceStore>; 2], limit: Limit, strand: Strands) -> EditDistances {
    let [patterns, texts] = stores.each_ref().map(Arc::clone);
    let scheme = EditScheme { mode: EditMode::Infix, equality: Equality::dna(Ambiguity::Overlap, true), limit };
    EditDistances { strand, ..EditDistances::new(patterns, Against::Texts(texts), Arc::new(scheme)) }
}

fn on_cpu() -> Run {
    Run { devices: vec![Device::Cpu], ..two_threads() }
}

/// Compares a search on the threads of the CPU with engines. Returns the number of rows if it used an
/// index, and `None` if the expected cost of an index was too high.
#[track_caller]
fn check(job: &EditDistances) -> Option<usize> {
    let (expected, of_engines) = run_on(job, edit_workers(2, &Arc::default()), &two_threads()).unwrap();
    let mut rows = Vec::new();
    let summary = job.run(&on_cpu(), |some| {
        rows.extend_from_slice(some);
        Ok(())
    });
    let summary = summary.unwrap();
    assert_eq!(rows, expected);
    let totals = |pairs, cells, aligned, written| (pairs, cells, aligned, written);
    assert_eq!(
        totals(summary.pairs, summary.cells, summary.aligned, summary.written),
        totals(of_engines.pairs, of_engines.cells, of_engines.aligned, of_engines.written)
    );
    let [engine] = &summary.engines[..] else { panic!("one row of statistics: {:?}", summary.engines) };
    assert_eq!((engine.pairs, engine.threads), (pairs_in_tiles(job), 2));
    (engine.name == "cpu (index of patterns)").then_some(rows.len())
}

/// Returns the number of pairs of patterns and tiles.
fn pairs_in_tiles(job: &EditDistances) -> u64 {
    let Against::Tiles(_, tiles) = job.job().against else { panic!("the texts have tiles") };
    let copies = if job.strand == Strands::Both { 2 } else { 1 };
    (tiles.regions().len() * job.patterns.len() * copies) as u64
}

#[test]
fn an_index_finds_the_results_of_engines() {
    let seed = 41;
    let mut rng = support::rng(seed);
    let stores = stores(&mut rng);
    println!("seed {seed}");
    let mut counts = Vec::new();
    for (limit, strand) in [
        (Limit::Distance(2), Strands::Both),
        (Limit::Rate(0.06), Strands::Both),
        (Limit::Rate(0.1), Strands::Minus),
        (Limit::Distance(0), Strands::Plus),
    ] {
        let job = job(&stores, limit, strand);
        let places = EditDistances { all_places: true, check: true, ..job.clone() };
        counts.push(check(&places));
        counts.push(check(&job));
        counts.push(check(&EditDistances { all_ends: true, align: true, check: true, ..job.clone() }));
        counts.push(check(&EditDistances { max_hits: Some(1), ..job }));
        counts.push(check(&EditDistances { overhang: Some(0.5), ..places.clone() }));
        counts.push(check(&EditDistances { max_n_fraction: Some(0.1), ..places }));
    }
    let indexed: Vec<usize> = counts.iter().copied().flatten().collect();
    assert!(indexed.len() * 4 >= counts.len() * 3 && indexed.iter().sum::<usize>() > 1500, "{counts:?}");
}

#[test]
fn an_index_serves_exact_symbols_and_other_rules_of_equality() {
    let mut rng = support::rng(42);
    let [patterns, texts] = stores(&mut rng);
    let long: Vec<Vec<Code>> = (0..patterns.len() as u32).map(|one| patterns.codes(one).to_vec()).collect();
    let long: Vec<Vec<Code>> = long.into_iter().filter(|codes| codes.len() > 10).collect();
    let stores = [support::store(Alphabet::Dna, &long), texts];
    for equality in [Equality::dna(Ambiguity::Mismatch, true), Equality::literal(Alphabet::Dna)] {
        let job = job(&stores, Limit::Distance(2), Strands::Both);
        let scheme = EditScheme { equality, ..(*job.scheme).clone() };
        let job = EditDistances { all_places: true, check: true, scheme: Arc::new(scheme), ..job };
        assert!(check(&job).is_some_and(|rows| rows > 20));
        let exact = ExactSymbols { ranges: Vec::new(), last: 3 };
        assert!(check(&EditDistances { exact, ..job }).is_some_and(|rows| rows > 20));
    }
}

#[test]
fn an_index_continues_from_one_part_of_the_texts_to_the_next() {
    let mut rng = support::rng(43);
    let [patterns, texts] = stores(&mut rng);
    // Readers skip empty records.
    let texts: Vec<Vec<Code>> = (1..texts.len() as u32).map(|text| texts.codes(text).to_vec()).collect();
    let stores = [patterns, support::store(Alphabet::Dna, &texts)];
    let whole = EditDistances { all_places: true, ..job(&stores, Limit::Rate(0.06), Strands::Both) };
    let (expected, _) = run_on(&whole, edit_workers(2, &Arc::default()), &two_threads()).unwrap();
    let mut fasta = Vec::new();
    for text in 0..whole.texts().len() as u32 {
        let letters = whole.texts().letters(text);
        fasta.extend(format!(">{}\n{letters}\n", whole.texts().name(text)).bytes());
    }
    for symbols in [6_000, 1 << 20] {
        let size = PartSize { symbols, overlap: 500 };
        let parts = std::io::Cursor::new(fasta.clone());
        let parts = TextParts::from_reader("texts.fa", parts, Alphabet::Dna, size).unwrap();
        let none = Arc::new(SequenceStore::builder(Alphabet::Dna).build());
        let streamed = EditDistances { against: Against::Texts(none), ..whole.clone() };
        let places = streamed.find_in_parts(parts, &on_cpu(), std::env::temp_dir()).unwrap();
        assert_eq!(places.summary().engines[0].name, "cpu (index of patterns)");
        let mut rows: Vec<EditResult> = Vec::new();
        let add = |some: &[EditResult]| {
            rows.extend_from_slice(some);
            Ok(())
        };
        places.deliver(&on_cpu(), add).unwrap();
        assert_eq!(rows, expected, "parts of {symbols} symbols");
    }
}

#[test]
fn an_interrupt_ends_a_search_with_an_index() {
    let mut rng = support::rng(44);
    let job = EditDistances { all_places: true, ..job(&stores(&mut rng), Limit::Distance(2), Strands::Both) };
    let run = Run { interrupt: Arc::new(AtomicBool::new(true)), ..on_cpu() };
    assert!(matches!(job.run(&run, |_| Ok(())), Err(Error::Interrupted)));
}
