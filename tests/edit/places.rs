//! Places of patterns in texts (`EditDistances::all_places`) against the definition, on the rows of
//! the textbook.

use std::sync::Arc;

use pairwave::alignment::verify;
use pairwave::edit::Edit;
use pairwave::edit::cpu::edit_workers;
use pairwave::edit::exact::ExactSymbols;
use pairwave::edit::gpu::EditGpu;
use pairwave::edit::mock::EditMock;
use pairwave::edit::oracle;
use pairwave::edit::overhang::Overhang;
use pairwave::edit::overhang_cost::OverhangCost;
use pairwave::edit::plan::Against;
use pairwave::engine::Engine;
use pairwave::jobs::{EditDistances, EditResult};
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, Limit};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strand, Strands, reverse_complement};
use support::{Rng, random_codes, run_on, two_threads};

/// A place: pattern, strand, text, start, end, distance, and symbols that hang over.
type PlaceRow = (u32, Strand, u32, u32, u32, u32, Overhang);

/// Returns which symbols of a pattern must match exactly.
fn exact_symbols(job: &EditDistances, pattern: &[Code]) -> Vec<bool> {
    let ExactSymbols { ranges, last } = &job.exact;
    let is_exact =
        |row: usize| row >= pattern.len() - *last as usize || ranges.iter().any(|range| range.contains(&(row as u32)));
    (0..pattern.len()).map(is_exact).collect()
}

/// Returns the distances of all ends like [`oracle::last_row`]. Exact symbols have no mismatches and
/// insertions, and no deletion is between two of them. Without such an alignment, the distance is
/// [`u32::MAX`].
fn exact_row(pattern: &[Code], text: &[Code], is_exact: &[bool], scheme: &EditScheme) -> Vec<u32> {
    row_with_overhang(pattern, text, is_exact, scheme, None)
}

/// Returns the distances like [`exact_row`]. If a cost and a limit are given, symbols that are not
/// exact may hang over, and the ends of symbols beyond the end of the text follow.
fn row_with_overhang(
    pattern: &[Code],
    text: &[Code],
    is_exact: &[bool],
    scheme: &EditScheme,
    overhang: Option<(OverhangCost, u32)>,
) -> Vec<u32> {
    let one_more = |distance: u32, is_allowed: bool| if is_allowed { distance.saturating_add(1) } else { u32::MAX };
    let m = pattern.len();
    let mut column = vec![0];
    (0..m).for_each(|i| column.push(one_more(column[i], !is_exact[i])));
    if let Some((cost, _)) = overhang {
        let symbols = (0..=m).take_while(|&symbols| !is_exact[..symbols].contains(&true));
        symbols.for_each(|symbols| column[symbols] = cost.symbols(symbols as u32));
    }
    let mut row = vec![column[m]];
    for (j, &symbol) in text.iter().enumerate() {
        let before = column.clone();
        column[0] = if scheme.mode == EditMode::Infix { 0 } else { j as u32 + 1 };
        for i in 0..m {
            let is_match = scheme.equality.is_match(pattern[i], symbol);
            let diagonal = if is_match { before[i] } else { one_more(before[i], !is_exact[i]) };
            let is_between = i + 1 < m && is_exact[i] && is_exact[i + 1];
            let gaps = one_more(column[i], !is_exact[i]).min(one_more(before[i + 1], !is_between));
            column[i + 1] = diagonal.min(gaps);
        }
        row.push(column[m]);
    }
    if let Some((cost, limit)) = overhang {
        for symbols in 1..=cost.max_after(m as u32, limit) {
            let rest = m - symbols as usize;
            let is_allowed = !is_exact[rest..].contains(&true);
            row.push(if is_allowed { column[rest].saturating_add(cost.symbols(symbols)) } else { u32::MAX });
        }
    }
    row
}

/// Returns the least number of edits of an alignment of a pattern with a whole text.
fn whole(pattern: &[Code], text: &[Code], is_exact: &[bool], scheme: &EditScheme) -> u32 {
    let global = EditScheme { mode: EditMode::Global, ..EditScheme::clone(scheme) };
    *exact_row(pattern, text, is_exact, &global).last().unwrap()
}

/// Returns the start of a place with this end and distance, and the symbols before the start of the
/// text. A place starts as early as its distance allows. Few symbols hang over, but none is inserted
/// next to the end of the text.
fn start(pattern: &[Code], text: &[Code], is_exact: &[bool], distance: u32, job: &EditDistances) -> (usize, u32) {
    let (m, n) = (pattern.len(), text.len());
    if let Some(cost) = job.overhang.map(|cost| OverhangCost::new(cost).unwrap())
        && n <= m + distance as usize
    {
        let edits = |symbols: usize| whole(&pattern[symbols..], text, &is_exact[symbols..], &job.scheme);
        let fits = |symbols: usize| {
            !is_exact[..symbols].contains(&true)
                && edits(symbols).saturating_add(cost.symbols(symbols as u32)) == distance
        };
        if let Some(mut symbols) = (0..=m).find(|&symbols| fits(symbols)) {
            while symbols < m && fits(symbols + 1) && edits(symbols + 1) < edits(symbols) {
                symbols += 1;
            }
            return (0, symbols as u32);
        }
    }
    let mut starts = n.saturating_sub(m + distance as usize)..=n;
    (starts.find(|&start| whole(pattern, &text[start..], is_exact, &job.scheme) == distance).unwrap(), 0)
}

/// Returns the places of a pattern in a text: start, end, distance and overhang. Of adjacent ends
/// with the same distance, the last is a place if the neighbours on both sides are above. Places
/// with too many N are dropped.
fn places(pattern: &[Code], text: &[Code], job: &EditDistances) -> Vec<(u32, u32, u32, Overhang)> {
    let (scheme, is_exact, n) = (&job.scheme, exact_symbols(job, pattern), text.len());
    let limit = scheme.limit(pattern.len() as u32, text.len() as u32);
    let cost = job.overhang.map(|cost| OverhangCost::new(cost).unwrap());
    let row = match (job.exact.is_empty(), cost) {
        (true, None) => oracle::last_row(pattern, text, scheme),
        _ => row_with_overhang(pattern, text, &is_exact, scheme, cost.map(|cost| (cost, limit))),
    };
    let mut places = Vec::new();
    let mut first = 0;
    for plateau in row.chunk_by(|a, b| a == b) {
        let (end, distance) = (first + plateau.len() - 1, plateau[0]);
        let is_below = first == 0 || row[first - 1] > distance;
        if distance <= limit && is_below && row.get(end + 1).is_none_or(|&next| next > distance) {
            let after = end.saturating_sub(n);
            let (rest, edits) = (pattern.len() - after, distance - cost.map_or(0, |cost| cost.symbols(after as u32)));
            let end = end.min(n);
            let (start, before) = start(&pattern[..rest], &text[..end], &is_exact[..rest], edits, job);
            let part = &text[start..end];
            let unknown = part.iter().filter(|&&code| code == 15).count() as f64;
            if job.max_n_fraction.is_none_or(|most| unknown <= most * part.len() as f64) {
                places.push((start as u32, end as u32, distance, Overhang { before, after: after as u32 }));
            }
        }
        first = end + 1;
    }
    places
}

fn expected(job: &EditDistances) -> Vec<PlaceRow> {
    let mut rows = Vec::new();
    let strands = [Strand::Plus, Strand::Minus].into_iter().filter(|strand| match job.strand {
        Strands::Plus => *strand == Strand::Plus,
        Strands::Minus => *strand == Strand::Minus,
        Strands::Both => true,
    });
    let strands: Vec<Strand> = strands.collect();
    for pattern in 0..job.patterns.len() as u32 {
        for text in 0..job.texts().len() as u32 {
            for &strand in &strands {
                let (p, t) = (job.patterns.codes(pattern), job.texts().codes(text));
                if strand == Strand::Plus {
                    let found = places(p, t, job).into_iter();
                    rows.extend(found.map(|(start, end, distance, overhang)| {
                        (pattern, strand, text, start, end, distance, overhang)
                    }));
                } else {
                    let n = t.len() as u32;
                    let found = places(p, &reverse_complement(t), job).into_iter().rev();
                    rows.extend(found.map(|(start, end, distance, overhang)| {
                        let overhang = Overhang { before: overhang.after, after: overhang.before };
                        (pattern, strand, text, n - end, n - start, distance, overhang)
                    }));
                }
            }
        }
    }
    rows
}

fn row(result: &EditResult) -> PlaceRow {
    let start = result.alignment.as_ref().unwrap().start;
    (result.pattern, result.strand, result.text(), start, result.end, result.distance, result.overhang)
}

/// Creates patterns, and texts that contain copies of them with edits, on both strands.
fn stores(rng: &mut Rng, alphabet: Alphabet, lengths: &[usize], text_symbols: usize) -> [Arc<SequenceStore>; 2] {
    let patterns: Vec<Vec<Code>> = lengths.iter().map(|&length| random_codes(rng, alphabet, length)).collect();
    let mut texts = vec![Vec::new(), vec![1; 30]];
    for _ in 0..3 {
        let mut text = random_codes(rng, alphabet, text_symbols);
        if alphabet == Alphabet::Dna && rng.below(2u32) == 0 {
            text.retain(|code| code.is_power_of_two());
        }
        for pattern in &patterns {
            let mut copy = support::mutated(rng, alphabet, pattern, 2);
            if alphabet == Alphabet::Dna && rng.below(2u32) == 0 {
                copy = reverse_complement(&copy);
            }
            let at = rng.below(text.len() + 1);
            text.splice(at..at, copy);
        }
        texts.push(text);
    }
    [support::store(alphabet, &patterns), support::store(alphabet, &texts)]
}

fn job(stores: &[Arc<SequenceStore>; 2], equality: Equality, limit: Limit, strand: Strands) -> EditDistances {
    let [patterns, texts] = stores.each_ref().map(Arc::clone);
    let scheme = EditScheme { mode: EditMode::Infix, equality, limit };
    let job = EditDistances::new(patterns, Against::Texts(texts), Arc::new(scheme));
    EditDistances { strand, all_places: true, check: true, ..job }
}

/// Compares the places of a job on CPU threads and on textbook engines with the definition. Returns
/// their number.
#[track_caller]
fn check(job: &EditDistances) -> usize {
    let textbook: Vec<_> = vec![
        Box::new(EditMock::new("one").with_capacity(2_000, 3)) as _,
        Box::new(EditMock::new("two").with_capacity(500, 7)) as _,
    ];
    check_on(job, [edit_workers(2, &Arc::default()), textbook])
}

/// Compares the places of a job on sets of engines with the definition. Returns their number.
#[track_caller]
fn check_on(job: &EditDistances, sets: impl IntoIterator<Item = Vec<Box<dyn Engine<Edit>>>>) -> usize {
    let expected = expected(job);
    for engines in sets {
        let (results, summary) = run_on(job, engines, &two_threads()).unwrap();
        let found: Vec<PlaceRow> = results.iter().map(row).collect();
        assert_eq!(found, expected);
        assert_eq!(summary.written, found.len() as u64);
        assert!(summary.aligned == summary.written || job.max_n_fraction.is_some());
        for result in &results {
            let alignment = result.alignment.as_ref().unwrap();
            let part = &job.texts().codes(result.text())[alignment.start as usize..result.end as usize];
            let pattern = job.patterns.codes(result.pattern);
            let stranded = match result.strand {
                Strand::Plus => pattern.to_vec(),
                Strand::Minus => reverse_complement(pattern),
            };
            let stranded = &stranded[result.overhang.rest(stranded.len())];
            let score = verify(&alignment.cigar, stranded, part, &job.scheme.equality.scoring()).unwrap();
            let cost = job.overhang.map_or(0, |cost| result.overhang.cost(OverhangCost::new(cost).unwrap()));
            assert_eq!(score - i64::from(cost), -i64::from(result.distance));
        }
    }
    expected.len()
}

#[test]
fn places_are_the_local_minima_on_both_strands() {
    let mut rng = support::rng(21);
    let equality = || Equality::dna(Ambiguity::Overlap, true);
    let mut count = 0;
    for lengths in [&[0, 1, 5, 9][..], &[20, 24, 33], &[64, 70, 150]] {
        let stores = stores(&mut rng, Alphabet::Dna, lengths, 200);
        for limit in [Limit::Distance(0), Limit::Distance(3), Limit::Rate(0.1), Limit::Rate(0.4)] {
            for strand in [Strands::Plus, Strands::Minus, Strands::Both] {
                count += check(&job(&stores, equality(), limit, strand));
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// Texts of several tiles, with pieces as filter and without.
#[test]
fn places_at_the_borders_of_tiles_are_found_once() {
    let mut rng = support::rng(22);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let stores = stores(&mut rng, Alphabet::Dna, &[20, 40], 5000);
    for limit in [Limit::Distance(2), Limit::Distance(6)] {
        assert!(check(&job(&stores, equality.clone(), limit, Strands::Both)) > 3);
    }
}

/// The tiles of texts of equal length have equal lengths, and kernels then know only their starts.
#[test]
fn devices_find_places_in_texts_of_equal_length() {
    let mut rng = support::rng(26);
    let pattern = random_codes(&mut rng, Alphabet::Dna, 20);
    let text = |at: usize| {
        let mut text = vec![1; 300];
        text.splice(at..at + 20, pattern.iter().copied());
        text
    };
    for texts in [vec![text(100)], vec![text(0), text(130), text(280)]] {
        let stores =
            [support::store(Alphabet::Dna, std::slice::from_ref(&pattern)), support::store(Alphabet::Dna, &texts)];
        let job = job(&stores, Equality::literal(Alphabet::Dna), Limit::Distance(2), Strands::Both);
        let engine = EditGpu::open(&support::adapter()).expect("the adapter opens").with_runtime_checks();
        let (results, _) = run_on(&job, vec![Box::new(engine)], &two_threads()).unwrap();
        assert_eq!(results.iter().map(row).collect::<Vec<_>>(), expected(&job));
        assert!(results.len() >= texts.len());
    }
}

/// Compares with a search where exact symbols have no edits. Texts have several tiles.
#[test]
fn places_with_exact_symbols_are_those_of_a_search_without_edits_in_them() {
    let mut rng = support::rng(24);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let mut count = 0;
    // Starts and ends of ranges, and the number of last symbols.
    let cases: [(&[(u32, u32)], u32); 5] =
        [(&[], 3), (&[(0, 4)], 0), (&[(3, 6)], 0), (&[(1, 3), (6, 8)], 1), (&[(0, 8)], 0)];
    for (text_symbols, limits) in [(150, &[0, 2, 6][..]), (5000, &[5])] {
        let stores = stores(&mut rng, Alphabet::Dna, &[8, 23, 70], text_symbols);
        for (case, limit) in cases.iter().flat_map(|case| limits.iter().map(move |&limit| (case, limit))) {
            let ranges = case.0.iter().map(|&(start, end)| start..end).collect();
            let exact = ExactSymbols { ranges, last: case.1 };
            let job = job(&stores, equality.clone(), Limit::Distance(limit), Strands::Both);
            count += check(&EditDistances { exact, ..job });
        }
    }
    assert!(count > 100, "{count}");
}

/// Compares with a search where symbols beyond an end of a text have their own cost. Texts are
/// empty, shorter than patterns, and have one or several tiles. Some contain only the start or the
/// end of a pattern.
#[test]
fn places_hang_over_the_ends_of_texts() {
    let seed = 26;
    let mut rng = support::rng(seed);
    let equality = Equality::dna(Ambiguity::Overlap, true);
    let (mut count, mut hanging) = (0, 0);
    let cases = [(&[0, 1, 8, 23][..], 30), (&[12, 40], 60), (&[64, 70, 130], 150), (&[20, 70], 2100)];
    for (case, (lengths, text_symbols)) in cases.into_iter().enumerate() {
        let [patterns, texts] = stores(&mut rng, Alphabet::Dna, lengths, text_symbols);
        let mut cut = Vec::new();
        for (id, pattern) in (0..patterns.len() as u32).map(|id| (id, patterns.codes(id))) {
            let at = rng.below(pattern.len() + 1);
            let text = texts.codes(2 + id % 3);
            cut.push([&pattern[at..], text].concat());
            cut.push([text, &pattern[..at]].concat());
            cut.push(reverse_complement(cut.last().unwrap()));
            cut.push(pattern[at / 2..at].to_vec());
        }
        cut.extend((0..texts.len() as u32).map(|id| texts.codes(id).to_vec()));
        let stores = [patterns, support::store(Alphabet::Dna, &cut)];
        for (cost, limit) in [(0.5, 4), (0.0, 1), (0.3, 2), (0.25, 0), (1.0, 5), (0.75, 9)] {
            let job = job(&stores, equality.clone(), Limit::Distance(limit), Strands::Both);
            let job = EditDistances { overhang: Some(cost), ..job };
            count += check(&job);
            hanging += expected(&job).iter().filter(|row| row.6 != Overhang::default()).count();
            let exact = ExactSymbols { ranges: Vec::new(), last: 2 };
            if lengths[0] > 1 {
                check(&EditDistances { exact, ..job });
            }
        }
        eprintln!("seed {seed} case {case}: {count} places, {hanging} hang over");
    }
    assert!(count > 1000 && hanging > 500, "{count} {hanging}");
}

#[test]
fn places_hang_over_the_ends_of_texts_on_a_gpu() {
    let mut rng = support::rng(27);
    let stores = stores(&mut rng, Alphabet::Dna, &[20, 70], 2500);
    for (cost, limit) in [(0.5, 5), (0.0, 3)] {
        let job = job(&stores, Equality::dna(Ambiguity::Overlap, true), Limit::Distance(limit), Strands::Both);
        let gpu = EditGpu::open(&support::adapter()).expect("the adapter opens");
        assert!(check_on(&EditDistances { overhang: Some(cost), ..job }, [vec![Box::new(gpu) as _]]) > 10);
    }
}

#[test]
fn places_with_too_many_n_are_dropped() {
    let mut rng = support::rng(25);
    let stores = stores(&mut rng, Alphabet::Dna, &[5, 20], 400);
    let job = job(&stores, Equality::dna(Ambiguity::Overlap, true), Limit::Distance(3), Strands::Both);
    let count = |most| check(&EditDistances { max_n_fraction: Some(most), ..job.clone() });
    let (none, some, all) = (count(0.0), count(0.2), count(1.0));
    assert!(0 < none && none <= some && some <= all && none < all, "{none} {some} {all}");
}

#[test]
fn proteins_and_literal_codes_have_places() {
    let mut rng = support::rng(23);
    for alphabet in [Alphabet::Protein, Alphabet::Dna] {
        let stores = stores(&mut rng, alphabet, &[3, 12, 40], 150);
        assert!(check(&job(&stores, Equality::literal(alphabet), Limit::Rate(0.25), Strands::Plus)) > 3);
    }
}
