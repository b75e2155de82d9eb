use std::sync::Arc;

use super::*;
use crate::alignment::Cigar;
use crate::output::Range32;
use crate::output::dotplot::{Picture, draw, svg_element};
use crate::output::long::StoredRecords;
use crate::output::plot::svg::tests::{assert_texts_are_apart, elements};
use crate::score::Scoring;
use crate::seq::{SequenceId, SequenceStore};

fn records(sequences: &[(String, usize)]) -> StoredRecords {
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for (name, length) in sequences {
        builder.push(name, &vec![1; *length]).unwrap();
    }
    StoredRecords { store: Arc::new(builder.build()), ids: (0..sequences.len() as SequenceId).collect() }
}

/// Returns the context of local alignments, in which the first query also has its other strand.
fn context(queries: &[(String, usize)], targets: &[(String, usize)]) -> LongContext {
    let scoring = Scoring { mode: crate::score::Mode::Local, ..Scoring::truong() };
    let reverse_ids = if queries.is_empty() { Vec::new() } else { vec![0] };
    LongContext::new(records(queries), records(targets), scoring, reverse_ids)
}

fn one(name: &str, length: usize) -> Vec<(String, usize)> {
    vec![(name.into(), length)]
}

/// Returns an alignment of the first query and the first target.
fn hit<'a>(cigar: &'a Cigar, query: (u32, u32), target: (u32, u32), is_reverse: bool) -> LongPairAlignment<'a> {
    let [query, target] = [query, target].map(|(start, end)| Range32 { start, end });
    let score = i64::from(query.end - query.start);
    LongPairAlignment { query_id: 0, target_id: 0, is_reverse, score, query, target, cigar: Some(cigar), part_of: None }
}

fn texts(drawing: &Drawing) -> Vec<&Caption> {
    let captions = drawing.shapes.iter().filter_map(|shape| match shape {
        DrawnShape::Text(caption) => Some(caption),
        _ => None,
    });
    captions.collect()
}

/// A path with a tip.
struct TippedPath<'a> {
    colour: Rgb,
    width: f64,
    points: &'a [Point],
    tip: &'a str,
}

fn paths(drawing: &Drawing) -> Vec<TippedPath<'_>> {
    let paths = drawing.shapes.iter().filter_map(|shape| match shape {
        DrawnShape::Path { colour, width, points, tip } if !tip.is_empty() => {
            Some(TippedPath { colour: *colour, width: *width, points, tip })
        }
        _ => None,
    });
    paths.collect()
}

#[test]
fn texts_never_overlap() {
    let set = |count: usize, name: &str| -> Vec<(String, usize)> {
        (0..count).map(|number| (format!("{name}{number}"), 1 + 700 / (number + 1) * (number % 7 + 1))).collect()
    };
    let long = "a <long> name & of a W\u{e9}ird contig ".repeat(3);
    let mut sets: Vec<Vec<(String, usize)>> =
        [0, 1, 2, 9, 24, 300].iter().flat_map(|&count| [set(count, "c"), set(count, &long)]).collect();
    sets.push((0..56).map(|number| (format!("WWWWWW{number}"), 1000)).collect());
    sets.push(one("huge", 1_000_000));
    sets.push(one("", 1));
    let five = "5=".parse().unwrap();
    for queries in &sets {
        for targets in &sets {
            let context = context(queries, targets);
            let alignments = [hit(&five, (0, 5), (0, 5), false), hit(&five, (0, 5), (0, 5), true)];
            let has_room = [queries, targets].iter().all(|set| set.first().is_some_and(|first| first.1 >= 5));
            let drawing = drawing(&context, if has_room { &alignments } else { &[] }).unwrap();
            assert_texts_are_apart(&drawing);
        }
    }
}

#[test]
fn records_of_sufficient_length_have_names() {
    let chromosomes: Vec<(String, usize)> = (1..=24).map(|number| (format!("chromosome_{number}"), 100)).collect();
    let context = context(&chromosomes, &chromosomes);
    let drawing = drawing(&context, &[]).unwrap();
    let names: Vec<bool> =
        texts(&drawing).iter().filter(|text| text.text.starts_with("chromosome")).map(|text| text.is_upright).collect();
    assert_eq!(names, [[true; 24], [false; 24]].concat(), "across, then up");
    let svg = svg_element(&context, &[]).unwrap();
    assert!(svg.contains(">24 sequences (2,400 bp)<") && svg.contains(">no alignment<"));
}

#[test]
fn short_hits_are_dots_above_lines() {
    let context = context(&one("a&b", 1_000_000), &one("genome", 2_000_000));
    let cigars: Vec<Cigar> = ["100=", "500000=", "1000=2I1000=", "6000="].map(|text| text.parse().unwrap()).into();
    let alignments = [
        hit(&cigars[0], (4000, 4100), (100_000, 100_100), false),
        hit(&cigars[1], (0, 500_000), (1_500_000, 2_000_000), false),
        hit(&cigars[2], (999, 3001), (0, 2000), true),
        hit(&cigars[3], (5000, 11_000), (5000, 11_000), true),
    ];
    let drawing = drawing(&context, &alignments).unwrap();
    let [blue, vermilion] = [LINE_COLOURS[0], LINE_COLOURS[1]];
    let left =
        texts(&drawing).iter().find(|text| text.text == "0" && text.anchor == CaptionAnchor::Middle).unwrap().at.x;
    let (bottom, unit) = (TOP + SIDE, SIDE / 2e6);
    let paths = paths(&drawing);
    let seen: Vec<(Rgb, f64, usize, &str)> =
        paths.iter().map(|path| (path.colour, path.width, path.points.len(), path.tip)).collect();
    assert_eq!(
        seen,
        [
            (blue, 2.0, 2, "query a&b 1-500000, target genome 1500001-2000000, forward strand, score 500000"),
            (vermilion, 2.0, 2, "query a&b 5001-11000, target genome 5001-11000, reverse complement, score 6000"),
            (vermilion, 4.0, 1, "query a&b 1000-3001, target genome 1-2000, reverse complement, score 2002"),
            (blue, 4.0, 1, "query a&b 4001-4100, target genome 100001-100100, forward strand, score 100"),
        ]
    );
    let near = |point: Point, x: f64, y: f64| f64::hypot(point.x - x, point.y - y) < 1e-6;
    assert!(
        near(paths[0].points[0], left + 1.5e6 * unit, bottom)
            && near(paths[0].points[1], left + SIDE, TOP + SIDE / 2.0)
    );
    // The query of the other strand runs downwards.
    assert!(near(paths[1].points[0], left + 5e3 * unit, bottom - 22e3 * unit));
    assert!(near(paths[3].points[0], left + 100_050.0 * unit, bottom - 8100.0 * unit));
    let svg = String::from_utf8(draw(Picture::Svg, &context, &alignments).unwrap()).unwrap();
    // The grid, the frame, the legend and the paths.
    assert_eq!(elements(&svg, ["svg", "path", "title"]), [1, 2 + 2 + 4, 4]);
    assert!(svg.ends_with(&svg_element(&context, &alignments).unwrap()) && svg.contains("<title>query a&amp;b 1-"));
    assert!(svg.contains(">forward</text>") && svg.contains(">reverse complement</text>"));
}

#[test]
fn files_of_similar_genomes_are_small() {
    let mut random = fastrand::Rng::with_seed(3);
    let (mut cigar, mut query, mut target) = (String::new(), 0, 0);
    while query < 1_600_000 {
        let (matches, gap) = (random.u32(1..200), random.u32(1..30));
        let is_insertion = random.bool();
        cigar += &format!("{matches}=1X4={gap}{}1X", if is_insertion { 'I' } else { 'D' });
        let gaps = if is_insertion { (gap, 0) } else { (0, gap) };
        (query, target) = (query + matches + 6 + gaps.0, target + matches + 6 + gaps.1);
    }
    let cigar = cigar.parse().unwrap();
    let context = context(&one("query", query as usize), &one("target", target as usize));
    let alignments = [hit(&cigar, (0, query), (0, target), false)];
    let svg = svg_element(&context, &alignments).unwrap();
    assert!(svg.len() < 20_000, "{}", svg.len());
}
