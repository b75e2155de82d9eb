//! Every output format for pairs that were aligned by hand, compared with snapshots. Files appear
//! completely or not at all.

use pairwave::alignment::{Cigar, Op};
use pairwave::output::{
    self, Contents, Context, Details, Distance, DistanceMatrixShape, EDIT_FIELDS, FIELDS, Field, Output, OutputPair,
    PairFormat, PairKind,
};
use pairwave::score::{EndGaps, Gaps, IdentityDefinition, Scoring, Substitution};
use pairwave::seq::{Alphabet, SequenceStore, Strand};
use pairwave::{Error, Result};
use proptest::prelude::*;
use std::sync::Arc;
use support::Tape;

fn store(alphabet: Alphabet, sequences: &[(&str, &str)]) -> Arc<SequenceStore> {
    let mut builder = SequenceStore::builder(alphabet);
    for (name, letters) in sequences {
        builder.push_letters(*name, letters.as_bytes()).unwrap();
    }
    Arc::new(builder.build())
}

fn scoring(alphabet: Alphabet, end_gaps: EndGaps) -> Scoring {
    let substitution = Substitution::from_fn(alphabet, |a, b| if a == b { (5, true) } else { (-4, false) });
    Scoring { alphabet, substitution, gaps: Gaps::linear(10), end_gaps, ..Scoring::truong() }
}

/// Returns a context of two sets, or of one set if `targets` is `None`.
fn context(queries: Arc<SequenceStore>, targets: Option<Arc<SequenceStore>>, end_gaps: EndGaps) -> Context {
    let scoring = scoring(queries.alphabet(), end_gaps);
    let targets = targets.unwrap_or_else(|| queries.clone());
    let contents = Contents { kind: PairKind::Compared, has_alignments: true };
    Context { queries, targets, scoring, identity: IdentityDefinition::InnerColumns, contents }
}

/// Three sequences, aligned as in [`PAIRS`]:
/// ```text
/// a ACGTACGTACGTTTGACCA--   a ACGTACGTACGTTTGACCA   b --GTACGTCCGTTTGACCATT
///     ||||||.||||||||||       |||||||||||  ||||||       ||||||.||  ||||||
/// b --GTACGTCCGTTTGACCATT   c ACGTACGTACG--TGACCA   c ACGTACGTACG--TGACCA--
/// ```
const SEQUENCES: &[(&str, &str)] =
    &[("a", "ACGTACGTACGTTTGACCA"), ("b\"1", "GTACGTCCGTTTGACCATT"), ("c", "ACGTACGTACGTGACCA")];
const PAIRS: &[(u32, u32, i64, &str)] =
    &[(0, 1, 36, "2I6=1X10=2D"), (0, 2, 65, "11=2I6="), (1, 2, -3, "2D6=1X2=2I6=2I")];

fn dna(end_gaps: EndGaps) -> Context {
    context(store(Alphabet::Dna, SEQUENCES), None, end_gaps)
}

type Row<'a> = (u32, u32, i64, &'a str);

fn try_written(format: &PairFormat, context: Context, pairs: &[Row<'_>], with_alignment: bool) -> Result<String> {
    let tape = Tape::default();
    let mut writer = output::open(format, context, Output::to_writer(tape.clone()))?;
    writer.begin()?;
    for &(query, target, score, cigar) in pairs {
        let cigar: Cigar = cigar.parse().expect("a CIGAR string");
        let alignment = with_alignment.then_some(&cigar);
        writer.write(&OutputPair {
            query,
            target,
            strand: Strand::Plus,
            score,
            alignment,
            query_start: 0,
            target_start: 0,
            counts: None,
            details: Details::None,
        })?;
    }
    writer.finish()?;
    let bytes = tape.bytes();
    Ok(String::from_utf8(bytes).expect("text"))
}

fn written(format: &PairFormat, context: Context, pairs: &[Row<'_>]) -> String {
    try_written(format, context, pairs, true).unwrap()
}

/// Makes blanks and tabs distinguishable in a snapshot.
fn visible(text: &str) -> String {
    text.replace('\t', " | ")
}

fn phylip(distance: Distance, shape: DistanceMatrixShape) -> PairFormat {
    PairFormat::Phylip { distance, shape }
}

#[test]
fn test_alignments_are_valid() {
    let context = dna(EndGaps::Charged);
    for &(query, target, _, cigar) in PAIRS {
        let (mut i, mut j) = (0, 0);
        for (length, op) in cigar.parse::<Cigar>().unwrap().iter() {
            for _ in 0..length {
                if matches!(op, Op::Match | Op::Mismatch) {
                    let same = context.queries.codes(query)[i] == context.targets.codes(target)[j];
                    assert_eq!(same, op == Op::Match, "{cigar} at {i}, {j}");
                }
                i += usize::from(op != Op::Deletion);
                j += usize::from(op != Op::Insertion);
            }
        }
        assert_eq!((i as u32, j as u32), (context.queries.length(query), context.targets.length(target)), "{cigar}");
    }
}

#[test]
fn tsv_has_the_default_columns() {
    let text = written(&PairFormat::Tsv(Field::tsv_defaults(false)), dna(EndGaps::Charged), PAIRS);
    insta::assert_snapshot!(visible(&text));
}

#[test]
fn tsv_can_have_every_field() {
    let text = written(&PairFormat::Tsv(FIELDS.iter().collect()), dna(EndGaps::Charged), PAIRS);
    // A block for each pair is easier to read than a line with 28 columns.
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    assert_eq!(header, FIELDS.iter().map(|field| field.name).collect::<Vec<_>>());
    let blocks: Vec<String> = lines
        .map(|values| {
            assert_eq!(values.len(), header.len());
            header.iter().zip(values).map(|(name, value)| format!("{name:18} {value}\n")).collect()
        })
        .collect();
    insta::assert_snapshot!(blocks.join("\n"));
}

#[test]
fn the_table_of_fields() {
    insta::assert_snapshot!(Field::table());
}

#[test]
fn identity_follows_the_definition() {
    let fields = Field::parse_list("identity,identity0,identity1,identity2,identity3,identity4", false).unwrap();
    for number in 0..=4 {
        let mut context = dna(EndGaps::Charged);
        context.identity = IdentityDefinition::from_number(number).unwrap();
        let text = written(&PairFormat::Tsv(fields.clone()), context, PAIRS);
        for line in text.lines().skip(1) {
            let values: Vec<&str> = line.split('\t').collect();
            assert_eq!(values[0], values[1 + usize::from(number)], "{line}");
        }
    }
}

#[test]
fn formats_with_scores_alone_need_no_alignment() {
    let context = || dna(EndGaps::Charged);
    let tsv = PairFormat::Tsv(Field::tsv_defaults(true));
    let json = PairFormat::JsonLines(Field::json_defaults(true));
    assert!(!tsv.needs_alignment() && !json.needs_alignment());
    insta::assert_snapshot!(visible(&try_written(&tsv, context(), PAIRS, false).unwrap()), @r#"
    query | target | score
    a | b"1 | 36
    a | c | 65
    b"1 | c | -3
    "#);
    insta::assert_snapshot!(try_written(&json, context(), PAIRS, false).unwrap(), @r#"
    {"query":"a","target":"b\"1","score":36}
    {"query":"a","target":"c","score":65}
    {"query":"b\"1","target":"c","score":-3}
    "#);
}

#[test]
fn missing_alignments_are_errors() {
    let formats = [
        PairFormat::Tsv(Field::tsv_defaults(false)),
        PairFormat::JsonLines(Field::json_defaults(false)),
        PairFormat::Blast6,
        PairFormat::Paf,
        PairFormat::Text { width: 60 },
        phylip(Distance::Kimura, DistanceMatrixShape::Square),
    ];
    for format in formats {
        assert!(format.needs_alignment());
        let result = try_written(&format, dna(EndGaps::Charged), PAIRS, false);
        assert!(matches!(result, Err(Error::Internal(_))), "{format:?}: {result:?}");
    }
}

#[test]
fn numbers_are_json_numbers_and_names_are_strings() {
    let text = written(&PairFormat::JsonLines(Field::json_defaults(false)), dna(EndGaps::Charged), PAIRS);
    insta::assert_snapshot!(text);
    let every = written(&PairFormat::JsonLines(FIELDS.iter().collect()), dna(EndGaps::Charged), PAIRS);
    for line in every.lines() {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert_eq!(object.len(), FIELDS.len());
        let text: Vec<&str> = object.iter().filter(|(_, value)| value.is_string()).map(|(key, _)| &**key).collect();
        assert_eq!(text, ["cigar", "query", "query_row", "strand", "target", "target_row"]); // sorted by serde_json's map
    }
    let theirs = "aln,caln,btop,qrow,trow,qseq,sseq,qstrand,tstrand,sstrand,qframe,tframe,qseqid,sacc";
    let numbers = "id,id0,id1,id2,id3,id4,pctpv,pctgaps,qcov,tcov,pairs,pv,exts,qlo,qhi,tlo,thi,qs,ts,evalue,bits,pident,\
                   positive,ppos,qcovs,qcovhsp,qcovus,bitscore,ql,mism,alnlen";
    let fields = Field::parse_list(&format!("{theirs},{numbers}"), false).unwrap();
    for line in written(&PairFormat::JsonLines(fields), dna(EndGaps::Charged), PAIRS).lines() {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert!(theirs.split(',').all(|name| object[name].is_string()), "{line}");
        assert!(numbers.split(',').all(|name| object[name].is_number()), "{line}");
    }
}

#[test]
fn blast6_has_twelve_columns() {
    let text = written(&PairFormat::Blast6, dna(EndGaps::Charged), PAIRS);
    insta::assert_snapshot!(visible(&text));
}

/// Returns lines of PAF after checking their spans, counts and tags against their own `cg`.
fn checked_paf(context: Context, pairs: &[Row<'_>]) -> String {
    let text = written(&PairFormat::Paf, context, pairs);
    for line in text.lines() {
        let column: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| column[at].parse::<u64>().unwrap();
        let tag = |name: &str| column[12..].iter().find_map(|tag| tag.strip_prefix(name));
        let cigar: Cigar = tag("cg:Z:").unwrap_or("").parse().unwrap();
        let sum = |ops: &[Op]| cigar.iter().filter(|run| ops.contains(&run.1)).map(|run| u64::from(run.0)).sum::<u64>();
        assert_eq!(number(3) - number(2), sum(&[Op::Match, Op::Mismatch, Op::Insertion]), "{line}");
        assert_eq!(number(8) - number(7), sum(&[Op::Match, Op::Mismatch, Op::Deletion]), "{line}");
        assert!(number(3) <= number(1) && number(8) <= number(6), "{line}");
        assert_eq!(number(9), sum(&[Op::Match]), "{line}");
        assert_eq!(number(10), cigar.iter().map(|run| u64::from(run.0)).sum::<u64>(), "{line}");
        assert_eq!(tag("NM:i:"), Some((number(10) - number(9)).to_string().as_str()), "{line}");
        if number(10) > 0 {
            let gaps = cigar.iter().filter(|run| matches!(run.1, Op::Insertion | Op::Deletion)).count() as u64;
            let events = sum(&[Op::Mismatch]) + gaps;
            let expected = 1.0 - number(9) as f64 / (number(9) + events) as f64;
            let divergence: f64 = tag("de:f:").unwrap().parse().unwrap();
            assert!((divergence - expected).abs() < 1e-6, "{line}");
        }
    }
    text
}

#[test]
fn paf_spans_follow_the_end_gap_costs() {
    insta::assert_snapshot!("paf_charged", visible(&checked_paf(dna(EndGaps::Charged), PAIRS)));
    insta::assert_snapshot!("paf_free", visible(&checked_paf(dna(EndGaps::Free), PAIRS)));
}

#[test]
fn alignments_without_a_common_symbol() {
    let sequences = store(Alphabet::Dna, &[("aa", "AA"), ("ccc", "CCC"), ("none", ""), ("void", "")]);
    let pairs = [(0, 1, -50, "3D2I"), (0, 2, -20, "2I"), (2, 3, 0, "")];
    for end_gaps in [EndGaps::Charged, EndGaps::Free] {
        let context = context(sequences.clone(), None, end_gaps);
        let name = format!("gaps_alone_{}", if end_gaps == EndGaps::Free { "free" } else { "charged" });
        let formats = [PairFormat::Tsv(FIELDS.iter().collect()), PairFormat::Blast6];
        let mut text: String = formats.iter().map(|format| written(format, context.clone(), &pairs)).collect();
        text += &checked_paf(context, &pairs);
        insta::assert_snapshot!(name, visible(&text));
    }
}

#[test]
fn phylip_of_one_file() {
    for distance in [Distance::Identity, Distance::Kimura, Distance::JukesCantor] {
        for shape in [DistanceMatrixShape::Square, DistanceMatrixShape::Lower] {
            let text = written(&phylip(distance, shape), dna(EndGaps::Charged), PAIRS);
            insta::assert_snapshot!(format!("phylip_{distance:?}_{shape:?}").to_lowercase(), text);
        }
    }
}

#[test]
fn phylip_of_two_files_is_a_rectangle() {
    let queries = store(Alphabet::Protein, &[("a_name_longer_than_ten", "WCHW"), ("q", "WCHWA")]);
    let targets = store(Alphabet::Protein, &[("t1", "WCHW"), ("t2", "AAAA"), ("t3", "WCHA")]);
    let pairs = [
        (0, 0, 20, "4="),
        (0, 1, -16, "4X"),
        (0, 2, 11, "3=1X"),
        (1, 0, 10, "4=1I"),
        (1, 1, -26, "4X1I"),
        (1, 2, 10, "3=1I1="),
    ];
    let context = context(queries, Some(targets), EndGaps::Charged);
    insta::assert_snapshot!(written(&phylip(Distance::Kimura, DistanceMatrixShape::Square), context.clone(), &pairs), @r"
    2 3
    t1 t2 t3
    a_name_longer_than_ten 0.000000 -1.000000 0.304489
    q          0.000000 -1.000000 0.000000
    ");
    let result = try_written(&phylip(Distance::Kimura, DistanceMatrixShape::Lower), context, &pairs, true);
    assert!(matches!(result, Err(Error::Usage(_))));
}

#[test]
fn phylip_columns_are_aligned_for_multibyte_names() {
    let sequences = store(Alphabet::Dna, &[("écoute", "ACGT"), ("ääääääääää", "ACGT"), ("b", "ACGA")]);
    let pairs = [(0, 1, 20, "4="), (0, 2, 11, "3=1X"), (1, 2, 11, "3=1X")];
    let context = context(sequences, None, EndGaps::Charged);
    insta::assert_snapshot!(written(&phylip(Distance::Identity, DistanceMatrixShape::Square), context, &pairs), @r"
    3
    écoute     0.000000 0.000000 0.250000
    ääääääääää 0.000000 0.000000 0.250000
    b          0.250000 0.250000 0.000000
    ");
}

#[test]
fn text_rows_before_the_first_symbol_have_position_0_on_both_strands() {
    let queries = store(Alphabet::Dna, &[("q", "TTACGT")]);
    let targets = store(Alphabet::Dna, &[("t", "GGGGACGTAAC")]);
    let context = context(queries, Some(targets), EndGaps::Free);
    let positions = |strand: Strand| {
        let tape = Tape::default();
        let format = PairFormat::Text { width: 3 };
        let mut writer = output::open(&format, context.clone(), Output::to_writer(tape.clone())).unwrap();
        writer.begin().unwrap();
        let cigar: Cigar = "4D6=1D".parse().unwrap();
        writer
            .write(&OutputPair {
                query: 0,
                target: 0,
                strand,
                score: 30,
                alignment: Some(&cigar),
                query_start: 0,
                target_start: 0,
                counts: None,
                details: Details::None,
            })
            .unwrap();
        writer.finish().unwrap();
        let text = tape.text();
        let rows = text.lines().filter(|line| line.starts_with("q ")).map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[1].parse::<u32>().unwrap(), words[3].parse::<u32>().unwrap())
        });
        rows.collect::<Vec<_>>()
    };
    assert_eq!(positions(Strand::Plus), [(0, 0), (1, 2), (3, 5), (6, 6)]);
    assert_eq!(positions(Strand::Minus), [(0, 0), (6, 5), (4, 2), (1, 1)]);
}

#[test]
fn incomplete_matrices_are_refused() {
    let result =
        try_written(&phylip(Distance::Identity, DistanceMatrixShape::Lower), dna(EndGaps::Charged), &PAIRS[..2], true);
    assert!(matches!(result, Err(Error::Internal(_))), "{result:?}");
}

#[test]
fn unfinished_output_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pairs.tsv");
    let format = PairFormat::Tsv(Field::tsv_defaults(false));
    let open = || output::open(&format, dna(EndGaps::Charged), Output::create(&path).unwrap()).unwrap();
    let mut writer = open();
    writer.begin().unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    let mut writer = open();
    writer.begin().unwrap();
    writer.finish().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "query\ttarget\tidentity\tscore\tmatches\tcolumns\tgaps\tquery_length\ttarget_length\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any alignment gives consistent PAF lines, and rows that agree with its CIGAR.
    #[test]
    fn spans_and_rows_agree_with_the_cigar(
        runs in proptest::collection::vec((1u32..9, 0usize..4), 0..9),
        is_free: bool,
    ) {
        let mut cigar = Cigar::default();
        for (length, op) in runs {
            cigar.push(length, [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion][op]);
        }
        let (mut query, mut target) = (String::new(), String::new());
        for (length, op) in cigar.iter() {
            let length = length as usize;
            query += &if op == Op::Deletion { String::new() } else { "A".repeat(length) };
            target += &match op {
                Op::Match => "A".repeat(length),
                Op::Mismatch | Op::Deletion => "C".repeat(length),
                Op::Insertion => String::new(),
            };
        }
        let sequences = store(Alphabet::Dna, &[("q", &query), ("t", &target)]);
        let end_gaps = if is_free { EndGaps::Free } else { EndGaps::Charged };
        let text = cigar.to_string();
        let pairs = [(0, 1, 0, text.as_str())];
        let context = context(sequences, None, end_gaps);
        checked_paf(context.clone(), &pairs);

        let fields = Field::parse_list("cigar,query_row,target_row,columns", false).unwrap();
        let table = written(&PairFormat::Tsv(fields), context, &pairs);
        let values: Vec<&str> = table.lines().nth(1).unwrap().split('\t').collect();
        prop_assert_eq!(values[0], &text);
        prop_assert_eq!(values[1].replace('-', ""), query);
        prop_assert_eq!(values[2].replace('-', ""), target);
        let expected: usize = values[3].parse().unwrap();
        prop_assert_eq!((values[1].len(), values[2].len()), (expected, expected));
        let columns = values[1].bytes().zip(values[2].bytes());
        prop_assert!(columns.clone().all(|column| column != (b'-', b'-')));
    }
}

#[test]
fn formats_refuse_pairs_without_their_data() {
    let scored = || Context { contents: Contents::default(), ..dna(EndGaps::Charged) };
    let refusal = |format: &PairFormat| {
        let opened = output::open(format, scored(), Output::to_writer(Tape::default()));
        opened.err().map(|error| error.to_string())
    };
    let named = |name: &str| Field::parse_list(name, false).expect("a field");
    assert_eq!(refusal(&PairFormat::Tsv(named("query,score"))), None);
    let identity = refusal(&PairFormat::Tsv(named("query,identity"))).expect("it needs alignments");
    assert!(identity.contains("field 'identity' needs alignments"), "{identity}");
    assert!(refusal(&PairFormat::Paf).expect("it needs alignments").contains("needs alignments"));
    let distance = EDIT_FIELDS.iter().find(|field| field.name == "distance").expect("a field of edit");
    let other = refusal(&PairFormat::JsonLines(vec![distance])).expect("pairs have no distance");
    assert!(other.contains("field 'distance' describes pairs of another command"), "{other}");
    let bed = refusal(&PairFormat::Bed).expect("pairs are no places of patterns");
    assert!(bed.contains("BED describes parts of texts where a pattern was found"), "{bed}");
}
