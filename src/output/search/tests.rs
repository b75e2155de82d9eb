//! All formats for hits that BLAST found (2.12.0+ with `-max_hsps 1`; proteins with
//! `-comp_based_stats 0 -seg no -xdrop_gap 200 -xdrop_gap_final 1000`, nucleotides with `-task
//! blastn -dust no`). Formats that BLAST has are compared with its output.

use super::*;
use crate::alignment::{Cigar, Op};
use crate::output::captured::CapturedBytes;
use crate::score::{Mode, NamedScheme};
use crate::seq::{ReadOptions, Subjects};

/// Input and output of a run of BLAST.
pub(super) struct BlastRun {
    queries: &'static str,
    pub(super) subjects: &'static str,
    /// Names, score, four positions and BTOP of each hit.
    hits: &'static str,
    scheme: &'static str,
    /// Formats 0 and 7 of the run.
    text: &'static str,
    table: &'static str,
}

pub(super) const BLASTP: BlastRun = BlastRun {
    queries: include_str!("tests/blastp.queries.fa"),
    subjects: include_str!("tests/blastp.subjects.fa"),
    hits: include_str!("tests/blastp.hits.tsv"),
    scheme: "blastp",
    text: include_str!("tests/blastp.0.txt"),
    table: include_str!("tests/blastp.7.txt"),
};
pub(super) const BLASTN: BlastRun = BlastRun {
    queries: include_str!("tests/blastn.queries.fa"),
    subjects: include_str!("tests/blastn.subjects.fa"),
    hits: include_str!("tests/blastn.hits.tsv"),
    scheme: "blastn",
    text: include_str!("tests/blastn.0.txt"),
    table: include_str!("tests/blastn.7.txt"),
};

/// Sequences and hits of a run.
pub(super) struct Searched {
    pub(super) context: SearchContext,
    /// The subjects and their record numbers, in two stores like a database with two chunks.
    stores: Vec<(Arc<SequenceStore>, Vec<u64>)>,
    /// The queries as they were read.
    pub(super) order: Vec<SequenceId>,
    rows: Vec<BlastRow>,
}

struct BlastRow {
    query: SequenceId,
    /// Index of the store, and id of the subject in it.
    subject: (usize, SequenceId),
    strand: Strand,
    score: i64,
    starts: [u32; 2],
    cigar: Cigar,
    significance: Option<Significance>,
}

impl BlastRun {
    pub(super) fn read(&self) -> Searched {
        let options = ReadOptions::default();
        let subjects = Subjects::from_bytes("subjects.fa", self.subjects.as_bytes(), &options).unwrap();
        let size = DatabaseSize { sequences: subjects.size().sequences, symbols: subjects.size().symbols };
        let chunks: Vec<_> = subjects.chunks(size.symbols / 2).map(|chunk| chunk.unwrap()).collect();
        assert!(chunks.len() > 1);
        let queries = Subjects::from_bytes("queries.fa", self.queries.as_bytes(), &options).unwrap();
        let chunk = queries.chunks(1 << 20).next().unwrap().unwrap();
        let mut order: Vec<SequenceId> = (0..chunk.store.len() as SequenceId).collect();
        order.sort_by_key(|&id| chunk.record(id));
        let queries = chunk.store;
        let scoring = NamedScheme::find(self.scheme).unwrap().scoring(queries.alphabet()).unwrap();
        let scoring = Scoring { mode: Mode::Local, ..scoring };
        let statistics = Statistics::for_scheme(&scoring);
        let context = SearchContext {
            queries,
            scoring,
            identity: IdentityDefinition::Blast,
            statistics,
            database: "subjects".into(),
            size,
            has_alignments: true,
        };
        let records = |store: &Arc<SequenceStore>, chunk: usize| {
            (0..store.len() as SequenceId).map(|id| chunks[chunk].record(id)).collect::<Vec<u64>>()
        };
        let stores = chunks
            .iter()
            .enumerate()
            .map(|(at, chunk)| (Arc::clone(&chunk.store), records(&chunk.store, at)))
            .collect();
        let mut searched = Searched { context, stores, order, rows: Vec::new() };
        searched.rows = self.hits.lines().map(|line| searched.row(line)).collect();
        searched
    }
}

impl Searched {
    fn row(&self, line: &str) -> BlastRow {
        let fields: Vec<&str> = line.split('\t').collect();
        let named =
            |store: &SequenceStore, name: &str| (0..store.len() as SequenceId).find(|&id| store.name(id) == name);
        let query = named(&self.context.queries, fields[0]).unwrap();
        let in_store =
            |(at, (store, _)): (usize, &(Arc<SequenceStore>, Vec<u64>))| Some((at, named(store, fields[1])?));
        let subject = self.stores.iter().enumerate().find_map(in_store).unwrap();
        let numbers: Vec<u32> = fields[2..7].iter().map(|number| number.parse().unwrap()).collect();
        let [score, first, last, target_first, target_last] = numbers[..] else { panic!("{line}") };
        let (query_length, target_length) =
            (self.context.queries.length(query), self.stores[subject.0].0.length(subject.1));
        let mut cigar = cigar(fields[7]);
        let is_plus = target_first <= target_last;
        let starts = if is_plus { [first - 1, target_first - 1] } else { [query_length - last, target_last - 1] };
        if !is_plus {
            cigar.reverse();
        }
        let score = i64::from(score);
        let statistics = self.context.statistics.as_ref().unwrap();
        BlastRow {
            query,
            subject,
            strand: if is_plus { Strand::Plus } else { Strand::Minus },
            score,
            starts,
            cigar,
            significance: Some(statistics.significance(score, query_length, target_length, &self.context.size)),
        }
    }

    /// Returns the hits of a query.
    pub(super) fn hits(&self, query: SequenceId) -> Vec<SearchHit> {
        self.rows.iter().filter(|row| row.query == query).map(|row| self.hit(row)).collect()
    }

    fn hit(&self, row: &BlastRow) -> SearchHit {
        let (subjects, records) = &self.stores[row.subject.0];
        let [query_start, target_start] = row.starts;
        let (score, counts) = (row.score, row.cigar.counts());
        SearchHit {
            query: row.query,
            subjects: Arc::clone(subjects),
            subject: row.subject.1,
            subject_index: 0,
            record: records[row.subject.1 as usize],
            strand: row.strand,
            score,
            significance: row.significance,
            alignment: Some(Alignment { score, query_start, target_start, cigar: row.cigar.clone() }),
            counts,
            identity: 0.0,
        }
    }

    pub(super) fn written(&self, format: &SearchFormat) -> String {
        self.try_written(format, self.context.clone(), |hit| hit).unwrap()
    }

    /// Writes the hits as if the scheme had no statistical parameters.
    pub(super) fn without_significance(&self, format: &SearchFormat) -> String {
        let context = SearchContext { statistics: None, ..self.context.clone() };
        self.try_written(format, context, |hit| SearchHit { significance: None, ..hit }).unwrap()
    }

    /// Writes changed hits with a changed context.
    fn try_written(
        &self,
        format: &SearchFormat,
        context: SearchContext,
        change: impl Fn(SearchHit) -> SearchHit,
    ) -> Result<String> {
        let captured = CapturedBytes::default();
        let mut writer = open(format, context, Output::to_writer(captured.clone()))?;
        writer.begin()?;
        for &query in &self.order {
            let hits: Vec<SearchHit> = self.hits(query).into_iter().map(&change).collect();
            writer.write(query, &hits)?;
        }
        writer.finish()?;
        Ok(captured.text())
    }
}

/// Parses BLAST's traceback operations.
fn cigar(btop: &str) -> Cigar {
    let mut cigar = Cigar::with_capacity(btop.len());
    let mut rest = btop;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 {
            cigar.push(rest[..digits].parse().unwrap(), Op::Match);
            rest = &rest[digits..];
            continue;
        }
        let op = match rest.as_bytes() {
            [b'-', ..] => Op::Deletion,
            [_, b'-', ..] => Op::Insertion,
            _ => Op::Mismatch,
        };
        cigar.push(1, op);
        rest = &rest[2..];
    }
    cigar
}

fn sam() -> SearchFormat {
    SearchFormat::Sam { command: "pairwave search q.fa db.fa".into() }
}

/// Makes tabs distinguishable from blanks in a snapshot.
fn visible(text: &str) -> String {
    text.replace('\t', " | ")
}

#[test]
fn format_6_equals_blast_output() {
    for run in [BLASTP, BLASTN] {
        let expected: String =
            run.table.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        assert_eq!(run.read().written(&SearchFormat::Blast6(Field::blast_defaults())), expected);
    }
}

/// Replaces BLAST's own name and version.
fn renamed(text: &str) -> String {
    let name = concat!("pairwave ", env!("CARGO_PKG_VERSION"));
    let text = text.replace("BLASTP 2.12.0+", name).replace("BLASTN 2.12.0+", name);
    text.replace("BLAST processed", "pairwave processed")
}

#[test]
fn format_7_equals_blast_output() {
    for run in [BLASTP, BLASTN] {
        let written = run.read().written(&SearchFormat::Blast7(Field::blast_defaults()));
        assert_eq!(written, renamed(run.table));
    }
    let fields = Field::parse_search_list("qseqid,identity,btop", false).unwrap();
    assert!(BLASTN.read().written(&SearchFormat::Blast7(fields)).contains("# Fields: query id, identity, BTOP\n"));
}

/// The comparison skips references, dates, word lengths and parameters for the query's composition.
#[test]
fn format_0_is_that_of_blast() {
    for run in [BLASTP, BLASTN] {
        let expected = renamed(run.text);
        let [title, rest] = ["\nReference", "\nDatabase: "].map(|start| expected.find(start).unwrap());
        let rest = expected[rest..].replace(".fa\n", "\n");
        let rest = rest
            .split_inclusive('\n')
            .filter(|line| !["    Posted", "Neighb", "Window"].iter().any(|start| line.starts_with(start)));
        let expected = expected[..title].to_owned() + "\n" + &rest.collect::<String>();
        let of_composition = |text: &str| {
            let mut lines: Vec<&str> = text.lines().collect();
            let ungapped: Vec<usize> =
                (2..lines.len()).filter(|&at| lines[at].starts_with("Lambda") && lines[at - 1] != "Gapped").collect();
            assert_eq!(ungapped.len(), run.read().order.len());
            ungapped.iter().for_each(|&at| lines[at + 1] = "");
            lines.join("\n")
        };
        let written = run.read().written(&SearchFormat::Blast0);
        assert_eq!(of_composition(&written), of_composition(&expected));
    }
}

#[test]
fn text_format_has_all_sections() {
    let text = BLASTN.read().written(&SearchFormat::Blast0);
    insta::assert_snapshot!("blast0", text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

/// Control characters become blanks, and multi-byte characters stay complete.
#[test]
fn headers_lose_control_characters_only() {
    let mut run = BLASTP;
    let subjects = BLASTP.subjects.replace(
        "ATP synthase subunit 9, mitochondrial OS=Sacch",
        "\u{3b1}\u{3b2} \t\u{3b3}OS=Sacch\u{e9}\u{e9}\u{e9}\u{e9}",
    );
    run.subjects = Box::leak(subjects.into_boxed_str());
    let searched = run.read();
    let text = searched.written(&SearchFormat::Blast0);
    assert!(text.contains("ATP9_YEAST \u{3b1}\u{3b2}  \u{3b3}OS=Sacch\u{e9}\u{e9}"), "{text}");
    let fields = Field::parse_search_list("target,target_title", false).unwrap();
    let table = searched.written(&SearchFormat::Tsv(fields.clone()));
    assert!(table.lines().all(|line| line.split('\t').count() == 2), "{table}");
    let json = searched.written(&SearchFormat::JsonLines(fields));
    assert!(json.contains("\\t\u{3b3}OS"), "{json}");
}

#[test]
fn every_line_format_has_the_hits() {
    let (proteins, nucleotides) = (BLASTP.read(), BLASTN.read());
    let fields =
        Field::parse_search_list("query,query_title,target,stitle,strand,evalue,bits,sstart,send", false).unwrap();
    insta::assert_snapshot!("tsv", visible(&proteins.written(&SearchFormat::Tsv(Field::search_tsv_defaults(false)))));
    insta::assert_snapshot!("tsv_titles", visible(&nucleotides.written(&SearchFormat::Tsv(fields.clone()))));
    insta::assert_snapshot!("jsonl", proteins.written(&SearchFormat::JsonLines(Field::search_json_defaults(false))));
    insta::assert_snapshot!("jsonl_titles", nucleotides.written(&SearchFormat::JsonLines(fields)));
    insta::assert_snapshot!("paf", visible(&nucleotides.written(&SearchFormat::Paf)));
    let sam = visible(&nucleotides.written(&sam()));
    insta::assert_snapshot!("sam", sam.replace(concat!("VN:", env!("CARGO_PKG_VERSION")), "VN:VERSION"));
}

#[test]
fn every_json_line_is_valid() {
    let text = BLASTP.read().written(&SearchFormat::JsonLines(Field::search_json_defaults(false)));
    for line in text.lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["evalue"].is_f64() && object["bits"].is_number(), "{line}");
    }
}

/// Formats omit E-values and bit scores, or write fixed values, if the scheme has no statistical
/// parameters.
#[test]
fn formats_without_statistics_omit_significance() {
    let searched = BLASTP.read();
    let written = |format: &SearchFormat| searched.without_significance(format);
    let fields = Field::parse_search_list("target,evalue,bits", true).unwrap();
    assert!(written(&SearchFormat::Tsv(fields.clone())).contains("\nsp|P38120|RT09_YEAST\t-1\t0\n"));
    assert!(written(&SearchFormat::JsonLines(fields)).contains("\"evalue\":null,\"bits\":null}"));
    assert!(!written(&SearchFormat::Paf).contains("EV:f"));
    let text = written(&SearchFormat::Blast0);
    assert!(text.contains("\n Score = 96\n") && text.contains("Saccharom...  96    \n"), "{text}");
    assert!(!["Lambda", "Expect", "bits", "(Bits)"].iter().any(|word| text.contains(word)), "{text}");
}

#[test]
fn sam_refuses_equal_reference_names() {
    let searched = BLASTN.read();
    fn with_another_query(hit: SearchHit) -> SearchHit {
        SearchHit { record: hit.score as u64, ..hit }
    }
    let message = searched.try_written(&sam(), searched.context.clone(), with_another_query).unwrap_err().to_string();
    assert!(message.contains("no two references of one name"), "{message}");
    let error = open(&sam(), BLASTP.read().context, Output::to_writer(CapturedBytes::default())).err().unwrap();
    assert!(error.to_string().contains("SAM is for nucleotides"));
}

#[test]
fn formats_require_the_alignments_that_they_show() {
    fn without_alignment(hit: SearchHit) -> SearchHit {
        SearchHit { alignment: None, ..hit }
    }
    let searched = BLASTN.read();
    let scored = SearchContext { has_alignments: false, ..searched.context.clone() };
    for format in [sam(), SearchFormat::Paf, SearchFormat::Blast6(Field::blast_defaults())] {
        assert!(format.needs_alignment());
        // Opening a format that needs alignments fails if there are none. Writing fails if the
        // context announces alignments, but a hit has none.
        let error =
            open(&format, scored.clone(), Output::to_writer(CapturedBytes::default())).err().unwrap().to_string();
        assert!(error.contains("only scores are computed"), "{error}");
        assert!(searched.try_written(&format, searched.context.clone(), without_alignment).is_err(), "{format:?}");
    }
    let scores = SearchFormat::Tsv(Field::search_tsv_defaults(true));
    assert!(!scores.needs_alignment());
    assert_eq!(searched.try_written(&scores, scored, without_alignment).unwrap().lines().count(), 9);
}
