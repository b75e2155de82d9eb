//! An HTML page of search hits: one file that needs no network, for any browser.
//!
//! Each query has a table of its first hits as text, and all its hits as JSON with packed
//! alignments. Scripts draw the overview, sort and filter the hits, and show alignments. Queries
//! are written as they arrive. The list of links to them is at the end of the file, and the style
//! sheet moves it to the side.

mod hits;

use std::collections::BTreeMap;
use std::io::Write;

use self::hits::{TableHit, WrittenSubjects};
use super::{SearchBody, SearchContext, SearchHit, SearchPairs};
use crate::error::Result;
use crate::output::Output;
use crate::output::markup::{BASE_STYLE, Template, UNPACK, push_html, push_script_json};
use crate::score::{Scoring, Statistics};
use crate::seq::{Alphabet, Code, SequenceId, Strand, reverse_complement};

const PAGE: &str = include_str!("report/page.html");
const STYLES: [&str; 2] = [BASE_STYLE, include_str!("report/style.css")];
const PROGRAMS: [&str; 5] = [
    UNPACK,
    include_str!("report/data.js"),
    include_str!("report/overview.js"),
    include_str!("report/table.js"),
    include_str!("report/control.js"),
];
/// Number of hits of each query that the page contains as text.
const FIRST_HITS: usize = 10;
/// Bit scores where the colour changes, as in BLAST.
const COLOUR_LIMITS: [u32; 4] = [40, 50, 80, 200];

pub(super) struct SearchReport {
    title: String,
    /// HTML list of the queries written so far.
    list: Vec<u8>,
    queries: u64,
    subjects: WrittenSubjects,
    template: Template,
}

/// Facts about the scoring that alignments are shown with.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Scheme {
    is_protein: bool,
    has_bits: bool,
    limits: [u32; 4],
    /// Pairs of letters that match.
    matches: Vec<String>,
    /// Other pairs of letters that score more than 0.
    positives: Vec<String>,
    /// Complement of each letter of nucleotides.
    complement: BTreeMap<char, char>,
}

impl Scheme {
    fn new(scoring: &Scoring, has_bits: bool) -> Self {
        let alphabet = scoring.alphabet;
        let codes = || 1..alphabet.size() as Code;
        let letter = |code: Code| char::from(alphabet.decode(code));
        let pairs_that = |is_listed: &dyn Fn(Code, Code) -> bool| {
            let pairs = codes().flat_map(|a| codes().map(move |b| (a, b)));
            pairs.filter(|&(a, b)| is_listed(a, b)).map(|(a, b)| [letter(a), letter(b)].iter().collect()).collect()
        };
        let substitution = &scoring.substitution;
        let complement = match alphabet {
            Alphabet::Dna => codes().map(|code| (letter(code), letter(reverse_complement(&[code])[0]))).collect(),
            _ => BTreeMap::new(),
        };
        Scheme {
            is_protein: alphabet == Alphabet::Protein,
            has_bits,
            limits: COLOUR_LIMITS,
            matches: pairs_that(&|a, b| substitution.is_match(a, b)),
            positives: pairs_that(&|a, b| !substitution.is_match(a, b) && substitution.score(a, b) > 0),
            complement,
        }
    }
}

impl SearchReport {
    pub(super) fn new(title: &str) -> Self {
        SearchReport {
            title: title.to_owned(),
            list: Vec::new(),
            queries: 0,
            subjects: WrittenSubjects::default(),
            template: Template(PAGE),
        }
    }
}

impl SearchBody for SearchReport {
    fn begin(&mut self, search: &SearchContext, output: &mut Output) -> Result<()> {
        self.template.head(&self.title, &STYLES, &describe_search(search), output)?;
        self.template.up_to("{{queries}}", output)
    }

    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()> {
        self.queries += 1;
        let number = self.queries;
        let line = all.search.query_line(query);
        let line = String::from_utf8_lossy(&line);
        let (name, title) = line.split_once(' ').unwrap_or((&line, ""));
        let length = all.search.queries.length(query);
        let hit_count = match hits.len() {
            0 => "no hits".to_owned(),
            1 => "1 hit".to_owned(),
            more => format!("{more} hits"),
        };
        put(&mut self.list, format_args!("<li><a href=\"#q{number}\">"));
        push_html(&mut self.list, name);
        put(&mut self.list, format_args!("</a> <small>{hit_count}</small></li>\n"));

        let out = output.buffer();
        put(out, format_args!("<section id=\"q{number}\">\n<h2>"));
        push_html(out, name);
        put(out, format_args!("</h2>\n<p>"));
        push_html(out, title);
        let blank = if title.is_empty() { "" } else { "; " };
        put(out, format_args!("{blank}length {length}, {hit_count}</p>\n"));
        if !hits.is_empty() {
            let mut part = Vec::new();
            let table = self.subjects.push(all, number - 1, query, hits, &mut part)?;
            out.extend_from_slice(b"<div class=\"overview\"></div>\n");
            push_table(&table, all.search.scoring.alphabet, out);
            out.extend_from_slice(b"<p class=\"more\">");
            if table.len() > FIRST_HITS {
                put(out, format_args!("The first {FIRST_HITS} of {hit_count}."));
            }
            out.extend_from_slice(b"</p>\n<script type=\"application/json\">");
            out.append(&mut part);
            out.extend_from_slice(b"</script>\n");
        }
        out.extend_from_slice(b"</section>\n");
        Ok(())
    }

    fn end(&mut self, search: &SearchContext, output: &mut Output) -> Result<()> {
        self.template.up_to("{{list}}", output)?;
        output.buffer().append(&mut self.list);
        self.template.up_to("{{scheme}}", output)?;
        push_script_json(output.buffer(), &Scheme::new(&search.scoring, search.statistics.is_some()))?;
        self.template.up_to("{{program}}", output)?;
        PROGRAMS.iter().for_each(|program| output.buffer().extend_from_slice(program.as_bytes()));
        self.template.end(output);
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all");
}

/// Describes the search in one line.
fn describe_search(search: &SearchContext) -> String {
    let SearchContext { scoring, size, database, .. } = search;
    let scores = match (search.statistics.as_ref().and_then(Statistics::matrix), scoring.alphabet) {
        (Some(matrix), _) => format!("{matrix}, "),
        (None, Alphabet::Dna) => {
            let score = |b| scoring.substitution.score(1, b);
            format!("match {}, mismatch {}, ", score(1), score(2))
        }
        (None, _) => String::new(),
    };
    let (open, extend) = (scoring.gaps.opening(), scoring.gaps.next);
    format!(
        "{database}: {} sequences, {} symbols; {scores}gaps {open} + {extend} k; pairwave {}",
        size.sequences,
        size.symbols,
        env!("CARGO_PKG_VERSION")
    )
}

/// Columns of the table: key in the scripts, heading, and whether narrow screens show it.
const COLUMNS: [(&str, &str, bool); 9] = [
    ("bits", "Bits", true),
    ("evalue", "E-value", true),
    ("score", "Score", false),
    ("identity", "Identity %", true),
    ("cover", "Cover %", true),
    ("query", "Query", false),
    ("subject", "Subject", false),
    ("length", "Length", false),
    ("strand", "Strand", false),
];

/// Appends the table of the first hits. Scripts replace its rows.
fn push_table(hits: &[TableHit], alphabet: Alphabet, out: &mut Vec<u8>) {
    let columns = if alphabet == Alphabet::Dna { &COLUMNS[..] } else { &COLUMNS[..COLUMNS.len() - 1] };
    let class = |is_shown: bool| if is_shown { "" } else { " class=\"minor\"" };
    out.extend_from_slice(b"<div class=\"table\"><table>\n<thead><tr>");
    out.extend_from_slice(b"<th class=\"left\" scope=\"col\" data-key=\"name\">Hit</th>");
    for &(key, heading, is_shown) in columns {
        put(out, format_args!("<th{} scope=\"col\" data-key=\"{key}\">{heading}</th>", class(is_shown)));
    }
    out.extend_from_slice(b"</tr></thead>\n<tbody>\n");
    for hit in hits.iter().take(FIRST_HITS) {
        out.extend_from_slice(b"<tr><td class=\"left\">");
        push_html(out, &hit.name);
        out.extend_from_slice(b" <span>");
        if hit.part > 1 {
            put(out, format_args!("alignment {}; ", hit.part));
        }
        push_html(out, &hit.title);
        out.extend_from_slice(b"</span></td>");
        let [query, subject] = [hit.query, hit.subject].map(|[first, last]| format!("{first}–{last}"));
        let strand = if hit.strand == Strand::Minus { "−" } else { "+" };
        let TableHit { bits, evalue, score, identity, cover, length, .. } = hit;
        let [score, cover, length] = [score.to_string(), cover.to_string(), length.to_string()];
        let cells = [bits, evalue, &score, identity, &cover, &query, &subject, &length, strand];
        for (&(_, _, is_shown), cell) in columns.iter().zip(cells) {
            put(out, format_args!("<td{}>{cell}</td>", class(is_shown)));
        }
        out.extend_from_slice(b"</tr>\n");
    }
    out.extend_from_slice(b"</tbody>\n</table></div>\n");
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;
    use serde_json::Value;

    use super::super::SearchFormat;
    use super::super::tests::{BLASTN, BLASTP};
    use crate::output::Output;
    use crate::output::captured::CapturedBytes;
    use crate::output::markup::decode_base64;

    fn page(text: &str) -> SearchFormat {
        SearchFormat::Report { title: text.to_owned() }
    }

    /// Returns the part of a page that depends on the search.
    fn main(page: &str) -> &str {
        page.split_once("<main>").unwrap().1.split_once("<script>").unwrap().0
    }

    /// Returns the data of all queries, null for queries without hits.
    fn parts(page: &str) -> Vec<Value> {
        let json = |section: &str| {
            let start = section.split_once("</section>").unwrap().0.split_once("<script type=\"application/json\">")?.1;
            Some(serde_json::from_str(start.split_once("</script>").unwrap().0).unwrap())
        };
        page.split("<section id=").skip(1).map(|section| json(section).unwrap_or_default()).collect()
    }

    /// Returns the CIGARs of a query's hits, and its letters.
    fn unpacked(part: &Value) -> (Vec<String>, String) {
        let packed = part["packed"].as_str().unwrap();
        let mut text = String::new();
        DeflateDecoder::new(&*decode_base64(packed)).read_to_string(&mut text).unwrap();
        assert_eq!(part["size"], text.len());
        let (cigars, letters) = text.split_once('\n').unwrap();
        (cigars.split(' ').map(str::to_owned).collect(), letters.to_owned())
    }

    /// Returns the two rows of an alignment, computed from the data as a script of the page does.
    fn rows(page: &str, query: usize, hit: usize) -> [String; 2] {
        let all = parts(page);
        let scheme: Value = {
            let start = page.split_once("id=\"scheme\">").unwrap().1;
            serde_json::from_str(start.split_once("</script>").unwrap().0).unwrap()
        };
        let number = |value: &Value| value.as_u64().unwrap() as usize;
        let row = &all[query]["hits"][hit];
        let (home, index) = (&all[number(&row[0])], number(&row[1]));
        let subjects = home["subjects"].as_array().unwrap();
        let before: usize = subjects[..index].iter().map(|subject| number(&subject[4])).sum();
        let (offset, part_start) = (number(&home["letters"]) + before, number(&subjects[index][3]));
        let [first, last, start, end] = [7, 8, 9, 10].map(|at| number(&row[at]));
        let [from, to] = [start.min(end) - 1, start.max(end)].map(|position| offset + position - part_start);
        let subject = &unpacked(home).1[from..to];
        let subject: Vec<char> = match number(&row[11]) {
            0 => subject.chars().collect(),
            _ => {
                let complement = |letter: char| scheme["complement"][letter.to_string()].as_str().unwrap();
                subject.chars().rev().flat_map(|letter| complement(letter).chars()).collect()
            }
        };
        let from = number(&all[query]["from"]);
        let (cigars, letters) = unpacked(&all[query]);
        let mut symbols = [letters[first - 1 - from..last - from].chars().collect(), subject].map(Vec::into_iter);
        let mut rows: [String; 2] = Default::default();
        for run in cigars[hit].split_inclusive(['M', 'I', 'D']) {
            let (length, op) = run.split_at(run.len() - 1);
            for _ in 0..length.parse().unwrap() {
                for (side, gap) in ["D", "I"].into_iter().enumerate() {
                    rows[side].push(if op == gap { '-' } else { symbols[side].next().unwrap() });
                }
            }
        }
        assert!(symbols.iter().all(|rest| rest.len() == 0));
        rows
    }

    #[test]
    fn hits_are_shown() {
        let text = BLASTN.read().written(&page("16S genes"));
        insta::assert_snapshot!(main(&text).replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    /// The rows of format 0 are BLAST's.
    #[test]
    fn alignments_equal_format_0() {
        for run in [BLASTP, BLASTN] {
            let searched = run.read();
            let (text, page_text) = (searched.written(&SearchFormat::Blast0), searched.written(&page("x")));
            let mut alignments = text.split("\n Score = ").skip(1);
            let mut count = 0;
            for (query, part) in parts(&page_text).iter().enumerate() {
                for hit in 0..part["hits"].as_array().map_or(0, Vec::len) {
                    let lines = alignments.next().unwrap().lines();
                    let mut expected: [String; 2] = Default::default();
                    for line in lines.take_while(|line| !line.starts_with('>') && !line.starts_with("Lambda")) {
                        let words: Vec<&str> = line.split_whitespace().collect();
                        let letters =
                            words.iter().rev().find(|word| word.len() > 1 && !word.as_bytes()[0].is_ascii_digit());
                        match words.first() {
                            Some(&"Query") => expected[0] += letters.unwrap(),
                            Some(&"Sbjct") => expected[1] += letters.unwrap(),
                            _ => {}
                        }
                    }
                    assert_eq!(rows(&page_text, query, hit), expected, "query {query}, hit {hit}");
                    count += 1;
                }
            }
            assert!(count > 7 && alignments.next().is_none());
        }
    }

    #[test]
    fn subjects_of_several_queries_are_stored_once() {
        let searched = BLASTN.read();
        let captured = CapturedBytes::default();
        let output = Output::to_writer(captured.clone());
        let mut writer = super::super::open(&page("x"), searched.context.clone(), output).unwrap();
        writer.begin().unwrap();
        let query = searched.order[0];
        for _ in 0..3 {
            writer.write(query, &searched.hits(query)).unwrap();
        }
        writer.finish().unwrap();
        let text = captured.text();
        let parts = parts(&text);
        let counts = parts.iter().map(|part| part["subjects"].as_array().unwrap().len());
        assert_eq!(counts.collect::<Vec<_>>(), [searched.hits(query).len(), 0, 0]);
        assert_eq!(rows(&text, 2, 1), rows(&text, 0, 1));
    }

    #[test]
    fn pages_are_complete_and_need_no_network() {
        for run in [BLASTP, BLASTN] {
            let text = run.read().written(&page("</title><b>&amp;"));
            assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && !text.contains("{{"));
            assert!(text.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;amp;"));
            for network in ["http:", "https:", "src=", "@import", "url("] {
                assert!(
                    !text.replace("\"http://www.w3.org/2000/svg\"", "").contains(network),
                    "the page asks for something: {network}"
                );
            }
            for element in ["section", "table", "li", "tr", "td", "th", "p", "script"] {
                let (open, close) = (format!("<{element}"), format!("</{element}>"));
                let opened =
                    text.match_indices(&open).filter(|(at, _)| text[at + open.len()..].starts_with([' ', '>']));
                assert_eq!(opened.count(), text.matches(&close).count(), "{element}");
            }
            for target in text.split("href=\"#").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
                assert_eq!(text.matches(&format!("id=\"{target}\"")).count(), 1, "{target}");
            }
        }
    }

    #[test]
    fn names_are_escaped_in_pages() {
        let mut run = BLASTN;
        let title = "</td></script><script>alert(1)</script><!-- \"\u{e4}";
        let subjects = run.subjects.replace("a 16S gene", title);
        run.subjects = Box::leak(subjects.into_boxed_str());
        let text = run.read().written(&page("x"));
        assert!(!text.contains("<script>alert") && !text.contains("<!--"));
        assert!(text.contains("&lt;script&gt;alert(1)"));
        assert!(parts(&text)[0]["subjects"][0][1].as_str().unwrap().starts_with(title));
    }

    #[test]
    fn unknown_significance_is_a_dash() {
        let text = BLASTP.read().without_significance(&page("x"));
        assert!(text.contains("<td>–</td><td>–</td><td class=\"minor\">214</td>"), "{text}");
        assert!(text.contains("\"hasBits\":false"));
    }
}
