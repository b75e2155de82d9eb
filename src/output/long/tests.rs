//! Every format for pairs that were aligned by hand.

use std::sync::Arc;

use super::*;
use crate::alignment::Cigar;
use crate::output::Range32;
use crate::output::captured::CapturedBytes;
#[cfg(feature = "plot")]
use crate::output::dotplot::{self, Picture};
use crate::score::{EndGaps, Gaps, Mode, Scoring};
use crate::seq::{Alphabet, SequenceStore};

fn store(sequences: &[(&str, &str)]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for (name, letters) in sequences {
        builder.push_letters(*name, letters.as_bytes()).unwrap();
    }
    Arc::new(builder.build())
}

/// Returns the context of a query and a target, which are aligned like this:
/// ```text
/// query         1 CCGATTACAGGRTTT    15      the other strand: AAAYCCTGTAATCGG
///                   |||| |||||||
/// target        1 --GATT-CAGGATT--- 10
/// ```
fn context(mode: Mode, end_gaps: EndGaps) -> LongContext {
    let query = store(&[("other", "AC"), ("query", "CCGATTACAGGRTTT")]);
    let target = store(&[("target", "GATTCAGGATTGTAA")]);
    let scoring = Scoring { mode, end_gaps, gaps: Gaps { first: 7, next: 2 }, ..Scoring::truong() };
    let queries = StoredRecords { store: query, ids: vec![1] };
    let targets = StoredRecords { store: target, ids: vec![0] };
    LongContext::new(queries, targets, scoring, vec![1])
}

fn range(start: u32, end: u32) -> Range32 {
    Range32 { start, end }
}

fn score_of(is_reverse: bool, score: i64, query: Range32, target: Range32) -> LongPairAlignment<'static> {
    LongPairAlignment { query_id: 1, target_id: 0, is_reverse, score, query, target, cigar: None, part_of: None }
}

fn cigar(text: &str) -> Cigar {
    text.parse().expect("a CIGAR string")
}

fn written(format: &LongFormat, context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> Result<String> {
    let captured = CapturedBytes::default();
    write(format, context, alignments, Output::to_writer(captured.clone()))?;
    let bytes = captured.bytes();
    Ok(String::from_utf8(bytes).expect("text"))
}

fn formats(score_only: bool) -> Vec<LongFormat> {
    let tables = [
        LongFormat::Tsv(Field::long_tsv_defaults(score_only)),
        LongFormat::JsonLines(Field::long_json_defaults(score_only)),
    ];
    let alignments = [
        LongFormat::Paf { cs: Some(CsForm::Short) },
        LongFormat::Paf { cs: None },
        LongFormat::Sam { command: "pairwave long a\tb".into() },
        LongFormat::Vcf(LongPaths { query: "a".into(), target: "b\tc".into() }),
        LongFormat::Maf,
        LongFormat::Chain,
        LongFormat::Delta(LongPaths { query: "a".into(), target: "b".into() }),
        LongFormat::Text { width: 10 },
    ];
    let wanted = if score_only { &[][..] } else { &alignments[..] };
    tables.into_iter().chain(wanted.iter().cloned()).collect()
}

fn in_all_formats(context: &LongContext, alignments: &[LongPairAlignment<'_>]) -> String {
    formats(false).iter().map(|format| written(format, context, alignments).unwrap() + "\n").collect()
}

#[test]
fn every_format_has_alignments_on_both_strands() {
    let context = context(Mode::Local, EndGaps::Charged);
    let (first, second, third) = (cigar("4=1I7="), cigar("5="), cigar("2="));
    let alignments = [
        LongPairAlignment {
            query_id: 1,
            target_id: 0,
            is_reverse: false,
            score: 48,
            query: range(2, 14),
            target: range(0, 11),
            cigar: Some(&first),
            part_of: None,
        },
        LongPairAlignment {
            query_id: 1,
            target_id: 0,
            is_reverse: true,
            score: 25,
            query: range(4, 9),
            target: range(10, 15),
            cigar: Some(&second),
            part_of: None,
        },
        LongPairAlignment {
            query_id: 1,
            target_id: 0,
            is_reverse: false,
            score: 10,
            query: range(12, 14),
            target: range(2, 4),
            cigar: Some(&third),
            part_of: None,
        },
    ];
    for one in &alignments {
        let (alignment, query, target) = context.alignment(one).unwrap();
        assert_eq!(
            crate::alignment::verify_alignment(&alignment, query, target, context.scoring()).unwrap(),
            one.score
        );
    }
    insta::assert_snapshot!(in_all_formats(&context, &alignments));
    let rows = LongFormat::Tsv(Field::parse_long_list("strand,qstart,qend,query_row,target_row", false).unwrap());
    insta::assert_snapshot!(written(&rows, &context, &alignments[..2]).unwrap(), @r"
    strand	qstart	qend	query_row	target_row
    +	3	14	GATTACAGGRTT	GATT-CAGGATT
    -	5	9	TGTAA	TGTAA
    ");
}

#[test]
fn whole_sequences_with_free_and_charged_ends() {
    let columns = cigar("2I4=1I7=1I4D");
    let alignments = |is_reverse| LongPairAlignment {
        query_id: 1,
        target_id: 0,
        is_reverse,
        score: 48,
        query: range(0, 15),
        target: range(0, 15),
        cigar: Some(&columns),
        part_of: None,
    };
    let free = context(Mode::Global, EndGaps::Free);
    insta::assert_snapshot!("semi_global", in_all_formats(&free, &[alignments(false)]));
    let charged = context(Mode::Global, EndGaps::Charged);
    insta::assert_snapshot!("global", in_all_formats(&charged, &[alignments(false)]));
}

#[test]
fn formats_with_scores_alone_have_no_alignment() {
    let context = context(Mode::Local, EndGaps::Charged);
    let alignments =
        [score_of(false, 48, range(13, 14), range(10, 11)), score_of(true, 25, range(4, 5), range(14, 15))];
    let text: String = formats(true).iter().map(|format| written(format, &context, &alignments).unwrap()).collect();
    insta::assert_snapshot!(text);
    assert!(written(&LongFormat::Paf { cs: None }, &context, &alignments).is_err());
}

#[test]
fn every_format_is_valid_without_an_alignment() {
    let context = context(Mode::Local, EndGaps::Charged);
    insta::assert_snapshot!(in_all_formats(&context, &[]));
}

#[cfg(feature = "plot")]
#[test]
fn pictures_show_the_paths() {
    let context = context(Mode::Local, EndGaps::Charged);
    let (first, second) = (cigar("4=1I7="), cigar("5="));
    let alignments = [
        LongPairAlignment {
            query_id: 1,
            target_id: 0,
            is_reverse: false,
            score: 48,
            query: range(2, 14),
            target: range(0, 11),
            cigar: Some(&first),
            part_of: None,
        },
        LongPairAlignment {
            query_id: 1,
            target_id: 0,
            is_reverse: true,
            score: 25,
            query: range(4, 9),
            target: range(10, 15),
            cigar: Some(&second),
            part_of: None,
        },
    ];
    let svg = String::from_utf8(dotplot::draw(Picture::Svg, &context, &alignments).unwrap()).unwrap();
    insta::assert_snapshot!(svg);
    let bytes = dotplot::draw(Picture::Png, &context, &alignments).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let size = |name: &str| -> u32 {
        let (_, after) = svg.split_once(&format!("{name}=\"")).expect("the size");
        after.split_once('"').and_then(|(number, _)| number.parse().ok()).expect("a number")
    };
    assert_eq!((info.width, info.height), (2 * size(" width"), 2 * size(" height")));
    let has = |colour: [u8; 3]| pixels.chunks_exact(3).filter(|pixel| **pixel == colour).count();
    let [blue, vermillion] = [[0, 114, 178], [213, 94, 0]].map(has);
    // The paths are 12 and 5 symbols long. Each symbol is some 50 units wide and high.
    assert!(blue > vermillion + 1000 && vermillion > 1000, "{blue} {vermillion}");
    assert!(has([255; 3]) > 2_500_000 && has([0; 3]) > 2000);
    if let Some(path) = std::env::var_os("PAIRWAVE_TEST_PNG") {
        std::fs::write(path, &bytes).unwrap();
    }
    assert!(dotplot::draw(Picture::Svg, &context, &[]).is_ok());
}

#[test]
fn reports_are_complete_and_need_no_network() {
    let context = context(Mode::Local, EndGaps::Charged);
    let (first, second) = (cigar("4=1I7="), cigar("5="));
    let plus = LongPairAlignment { cigar: Some(&first), ..score_of(false, 48, range(2, 14), range(0, 11)) };
    let minus = LongPairAlignment { cigar: Some(&second), ..score_of(true, 25, range(4, 9), range(10, 15)) };
    for alignments in [&[plus, minus][..], &[]] {
        let captured = CapturedBytes::default();
        let output = Output::to_writer(captured.clone());
        write_report(&context, alignments, "</title><b>&amp;", output).unwrap();
        let text = String::from_utf8(captured.bytes()).unwrap();
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && !text.contains("{{"));
        assert!(text.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;amp;"));
        for network in ["https:", "src=", "@import", "url(", "<script"] {
            assert!(!text.contains(network), "the page asks for something: {network}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"));
        if alignments.is_empty() {
            assert!(text.contains("<dt>Variants</dt><dd>0</dd>") && text.contains("<dd>–</dd>"));
            continue;
        }
        // The alignments share four query symbols and one target symbol.
        for (term, value) in [
            ("Alignments", "2"),
            ("Query aligned", "80.00%"),
            ("Target aligned", "100.00%"),
            ("Identity of aligned bases", "100.000%"),
            ("Variants", "1"),
        ] {
            assert!(text.contains(&format!("<dt>{term}</dt><dd>{value}</dd>")), "{term} {text}");
        }
        assert!(text.contains("<td class=\"left\">Insertion of 1</td><td>1</td><td>1</td>"));
        let rows = text.rsplit_once("<tbody>\n").unwrap().1.split_once("</tbody>").unwrap().0;
        let names = "<td class=\"left\">query</td><td class=\"left\">target</td>";
        let expected = format!(
            "<tr>{names}<td>+</td><td>48</td><td>91.667</td><td>12</td><td>3–14</td><td>1–11</td></tr>\n\
             <tr>{names}<td>−</td><td>25</td><td>100.000</td><td>5</td><td>5–9</td><td>11–15</td></tr>\n"
        );
        assert_eq!(rows, expected);
    }
    assert!(
        write_report(&context, &[score_of(false, 48, range(13, 14), range(10, 11))], "", Output::to_writer(vec![]))
            .is_err()
    );
}
