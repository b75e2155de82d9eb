//! An HTML page of search hits: one file that needs no network, for any browser.
//!
//! Each query has a picture of its hits, coloured by bit score, a table of them, and their
//! alignments, which can be unfolded. Everything is in the page as text; a short script only
//! unfolds the target of a link. Queries are written as they arrive. The list of links to them is
//! at the end of the file, and the style sheet moves it to the side.

use std::io::Write;

use super::picture::{self, Bar, Unit};
use super::rows::{self, BlastRows, header};
use super::{SearchBody, SearchContext, SearchHit, SearchPairs};
use crate::error::{Error, Result};
use crate::output::fields::whole_percentage;
use crate::output::markup::push_html;
use crate::output::{Context, Output, OutputPair};
use crate::score::statistics::{BitScore, Evalue};
use crate::score::{Significance, Statistics};
use crate::seq::{Alphabet, SequenceId, Strand};

const PAGE: &str = include_str!("report/page.html");
const STYLE: &str = include_str!("report/style.css");
const PROGRAM: &str = include_str!("report/control.js");

pub(super) struct SearchReport {
    title: String,
    /// HTML list of the queries written so far.
    list: Vec<u8>,
    queries: u64,
    /// The part of the page template that has not been written yet.
    rest: &'static str,
}

/// Data of a hit for the picture, the table and the list of alignments.
struct ReportHit {
    name: String,
    title: String,
    bar: Bar,
    /// Table cells after the title.
    cells: Vec<String>,
    alignment: Vec<u8>,
}

impl SearchReport {
    pub(super) fn new(title: &str) -> Self {
        SearchReport { title: title.to_owned(), list: Vec::new(), queries: 0, rest: PAGE }
    }

    /// Writes the page template up to a mark.
    fn up_to(&mut self, mark: &str, output: &mut Output) -> Result<()> {
        let (before, after) =
            self.rest.split_once(mark).ok_or_else(|| Error::Internal(format!("the page of a search has no {mark}")))?;
        output.buffer().extend_from_slice(before.as_bytes());
        self.rest = after;
        Ok(())
    }
}

impl SearchBody for SearchReport {
    fn begin(&mut self, search: &SearchContext, output: &mut Output) -> Result<()> {
        self.up_to("{{title}}", output)?;
        push_html(output.buffer(), &self.title);
        self.up_to("{{style}}", output)?;
        output.buffer().extend_from_slice(STYLE.as_bytes());
        self.up_to("{{title}}", output)?;
        push_html(output.buffer(), &self.title);
        self.up_to("{{facts}}", output)?;
        push_html(output.buffer(), &describe_search(search));
        self.up_to("{{queries}}", output)
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
            let best = hits.iter().map(|hit| hit.score).max().unwrap_or(0);
            let shown_hits = hits.iter().map(|hit| {
                let (context, pair) = all.pair(query, hit);
                ReportHit::new(context, &pair, best)
            });
            let shown_hits: Vec<ReportHit> = shown_hits.collect::<Result<_>>()?;
            let bars: Vec<&Bar> = shown_hits.iter().map(|hit| &hit.bar).collect();
            let is_known = hits.iter().all(|hit| hit.significance.is_some());
            let unit = if is_known { Unit::Bits } else { Unit::Share };
            picture::push(number, length, &bars, unit, output.buffer());
            table(number, &shown_hits, all.search.scoring.alphabet, output)?;
            alignments(number, &shown_hits, output)?;
        }
        output.buffer().extend_from_slice(b"</section>\n");
        Ok(())
    }

    fn end(&mut self, _search: &SearchContext, output: &mut Output) -> Result<()> {
        self.up_to("{{list}}", output)?;
        output.buffer().append(&mut self.list);
        self.up_to("{{program}}", output)?;
        output.buffer().extend_from_slice(PROGRAM.as_bytes());
        output.buffer().extend_from_slice(self.rest.as_bytes());
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

impl ReportHit {
    fn new(context: &Context, pair: &OutputPair<'_>, best: i64) -> Result<Self> {
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let columns = context.columns(pair)?;
        let lengths = (context.queries.length(pair.query), context.targets.length(pair.target));
        let name = String::from_utf8_lossy(context.targets.name_bytes(pair.target)).into_owned();
        let line = header(&[], context.targets.description(pair.target));
        let (query, target) = (columns.query.one_based(), columns.target.one_based());
        let identity = 100.0 * context.identity.identity(&columns.counts, lengths.0, lengths.1);
        let covered = whole_percentage(u64::from(columns.query.end - columns.query.start), u64::from(lengths.0));
        let (bits, evalue, class) = match pair.significance() {
            Some(Significance { bits, evalue }) => {
                (BitScore(bits).to_string(), Evalue(evalue).to_string(), picture::colour_of_bits(bits))
            }
            None => ("–".into(), "–".into(), picture::colour_of_fraction(pair.score, best)),
        };
        let is_minus = pair.strand == Strand::Minus;
        let span = |(first, last): (u32, u32)| format!("{first}–{last}");
        let sign = if is_minus { "−" } else { "+" };
        let mut alignment = Vec::new();
        rows::push_facts(context, pair, cigar, &mut alignment);
        alignment.push(b'\n');
        BlastRows::new(context, pair, cigar).push(&mut alignment);
        while alignment.last() == Some(&b'\n') {
            alignment.pop();
        }
        let label = match pair.significance() {
            Some(_) => format!("{name}: {bits} bits, E {evalue}, {}", span(query)),
            None => format!("{name}: score {}, {}", pair.score, span(query)),
        };
        let (score, length) = (pair.score.to_string(), lengths.1.to_string());
        let mut cells = vec![bits, evalue, score, format!("{identity:.1}"), covered.to_string(), span(query)];
        cells.extend([span(target), length]);
        if context.targets.alphabet() == Alphabet::Dna {
            cells.push(sign.to_owned());
        }
        let title = String::from_utf8_lossy(&line).trim().to_owned();
        Ok(ReportHit { name, title, bar: Bar { part: columns.query, class, label }, cells, alignment })
    }
}

/// Table columns after a hit's name and title.
const COLUMNS: [&str; 8] = ["Bits", "E-value", "Score", "Identity %", "Cover %", "Query", "Subject", "Length"];

fn table(number: u64, hits: &[ReportHit], alphabet: Alphabet, output: &mut Output) -> Result<()> {
    let out = output.buffer();
    out.extend_from_slice(b"<div class=\"table\"><table>\n<thead><tr><th class=\"left\" scope=\"col\">Hit</th>");
    let strand = (alphabet == Alphabet::Dna).then_some("Strand");
    for column in COLUMNS.into_iter().chain(strand) {
        put(out, format_args!("<th scope=\"col\">{column}</th>"));
    }
    out.extend_from_slice(b"</tr></thead>\n<tbody>\n");
    for (hit, shown_hits) in (1..).zip(hits) {
        let out = output.buffer();
        put(out, format_args!("<tr><td class=\"left\"><a href=\"#q{number}h{hit}\">"));
        push_html(out, &shown_hits.name);
        out.extend_from_slice(b"</a> <span>");
        push_html(out, &shown_hits.title);
        out.extend_from_slice(b"</span></td>");
        shown_hits.cells.iter().for_each(|cell| put(out, format_args!("<td>{cell}</td>")));
        out.extend_from_slice(b"</tr>\n");
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"</tbody>\n</table></div>\n");
    Ok(())
}

fn alignments(number: u64, hits: &[ReportHit], output: &mut Output) -> Result<()> {
    for (hit, shown_hits) in (1..).zip(hits) {
        let out = output.buffer();
        put(out, format_args!("<details id=\"q{number}h{hit}\"><summary>"));
        push_html(out, &shown_hits.name);
        out.extend_from_slice(b" <small>");
        push_html(out, &shown_hits.title);
        out.extend_from_slice(b"</small></summary>\n<pre>");
        push_html(out, &String::from_utf8_lossy(&shown_hits.alignment));
        out.extend_from_slice(b"</pre></details>\n");
        output.pass_on()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::SearchFormat;
    use super::super::tests::{BLASTN, BLASTP};

    fn page(text: &str) -> SearchFormat {
        SearchFormat::Report { title: text.to_owned() }
    }

    /// Returns the part of a page that depends on the search.
    fn main(page: &str) -> &str {
        page.split_once("<main>").unwrap().1.split_once("<script>").unwrap().0
    }

    #[test]
    fn hits_are_shown() {
        let text = BLASTN.read().written(&page("16S genes"));
        insta::assert_snapshot!(main(&text).replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }

    #[test]
    fn pages_are_complete_and_need_no_network() {
        for run in [BLASTP, BLASTN] {
            let text = run.read().written(&page("</title><b>&amp;"));
            assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && !text.contains("{{"));
            assert!(text.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;amp;"));
            for network in ["http:", "https:", "src=", "@import", "url("] {
                assert!(!text.contains(network), "the page asks for something: {network}");
            }
            for element in ["section", "details", "pre", "table", "svg", "li", "a", "tr", "td", "text", "title"] {
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
        let subjects = run.subjects.replace("a 16S gene", "</td><script>alert(1)</script>");
        run.subjects = Box::leak(subjects.into_boxed_str());
        let text = run.read().written(&page("x"));
        assert!(!text.contains("<script>alert") && text.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn unknown_significance_is_a_dash() {
        let text = BLASTP.read().without_significance(&page("x"));
        assert!(text.contains("<td>–</td><td>–</td><td>214</td>") && text.contains(": score 214, 9–138"), "{text}");
    }
}
