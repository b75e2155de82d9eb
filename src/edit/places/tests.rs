use super::*;
use crate::edit::oracle;
use crate::score::{Ambiguity, EditMode, EditScheme, Limit};
use crate::seq::{Alphabet, reverse_complement};

fn scheme(limit: u32) -> EditScheme {
    let equality = Equality::dna(Ambiguity::Overlap, true);
    EditScheme { mode: EditMode::Infix, equality, limit: Limit::Distance(limit) }
}

/// Returns the positions of the local minima, found by the definition.
fn minima(row: &[u32], limit: u32) -> Vec<Place> {
    let is_above = |position: Option<usize>, distance| {
        position.and_then(|position| row.get(position)).is_none_or(|&other| other > distance)
    };
    let mut places = Vec::new();
    for (position, &distance) in row.iter().enumerate().filter(|(_, distance)| **distance <= limit) {
        let plateau = row[..position].iter().rev().take_while(|&&other| other == distance).count();
        if is_above(Some(position + 1), distance) && is_above((position - plateau).checked_sub(1), distance) {
            places.push(Place { position: position as i64, distance });
        }
    }
    places
}

fn bases(rng: &mut fastrand::Rng, length: usize, letters: u8) -> Vec<Code> {
    (0..length).map(|_| if rng.u8(..40) == 0 { rng.u8(1..16) } else { 1 << rng.u8(..letters) }).collect()
}

/// The minus strand of a text has the places of the reversed pattern in the reverse complement.
#[test]
fn tiles_have_the_local_minima_of_the_definition() {
    let seed = 11;
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut count = 0;
    for case in 0..250 {
        let letters = [1, 2, 4][case % 3];
        let symbols = [rng.usize(..12), rng.usize(..70), rng.usize(60..200)][case / 3 % 3];
        let pattern = bases(&mut rng, symbols, letters);
        let mut text = bases(&mut rng, [0, 40, 300][case / 9 % 3], letters);
        for _ in 0..rng.usize(..3) {
            let mut copy = pattern.clone();
            (0..rng.usize(..6)).for_each(|_| match copy.len() {
                0 => copy.push(1),
                all => drop(copy.remove(rng.usize(..all))),
            });
            let at = rng.usize(..=text.len());
            text.splice(at..at, copy);
        }
        let limit = rng.u32(..=2 + symbols as u32 / 3);
        let mut store = SequenceStore::builder(Alphabet::Dna);
        store.push("text", &text).unwrap();
        let texts = store.build();
        let overlap = symbols as u32 + limit;
        let tiles = TextTiles::with_core(&texts, overlap, overlap.max(1) + rng.u32(..50));
        let scheme = scheme(limit);
        let tiled = TiledTexts { texts: &texts, tiles: &tiles, equality: &scheme.equality };
        let mut search = PlaceSearch::default();
        for strand in [Strand::Plus, Strand::Minus] {
            let is_minus = strand == Strand::Minus;
            let stranded = if is_minus { reverse_complement(&pattern) } else { pattern.clone() };
            let sought =
                SoughtPattern { pattern: &stranded, strand, limit, exact: &ExactRows::default(), overhang: None };
            let mut found_minima = LocalMinima::new(strand);
            let mut found = Vec::new();
            for tile in tiles.of_texts(0..1) {
                let places = search.in_tile(sought, &tiled, SoughtTile { tile, has_parts: true });
                found.extend(places.into_iter().filter_map(|place| found_minima.add(place)));
            }
            found.extend(found_minima.end());
            let stranded_text = if is_minus { reverse_complement(&text) } else { text.clone() };
            let mut expected = minima(&oracle::last_row(&pattern, &stranded_text, &scheme), limit);
            if is_minus {
                expected.iter_mut().for_each(|place| place.position = text.len() as i64 - place.position);
                expected.reverse();
            }
            assert_eq!(found, expected, "seed {seed} case {case} {strand:?}: {pattern:?} in {text:?} within {limit}");
            count += found.len();
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn the_last_end_of_a_plateau_represents_it() {
    let row = [2, 1, 1, 2, 0, 3, 3, 1, 1];
    let mut minima = LocalMinima::new(Strand::Plus);
    let places = row.iter().enumerate().filter(|(_, distance)| **distance < 3);
    let places = places.map(|(position, &distance)| Place { position: position as i64, distance });
    let mut found: Vec<(i64, u32)> =
        places.filter_map(|place| minima.add(place)).map(|place| (place.position, place.distance)).collect();
    found.extend(minima.end().map(|place| (place.position, place.distance)));
    assert_eq!(found, [(2, 1), (4, 0), (8, 1)]);
}
