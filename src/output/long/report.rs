//! An HTML page of the alignments of long sequences: one file that needs no network, for any
//! browser. It has no script.

mod changes;
mod tracks;

use std::cmp::Reverse;

use super::{LongContext, LongPairAlignment, cut};
use crate::error::Result;
use crate::output::markup::chart::put;
use crate::output::markup::{BASE_STYLE, PAGE_STYLE, Template, push_html};
use crate::output::numbers::grouped;
use crate::output::{Output, OutputPair};
use crate::score::statistics::{BitScore, Evalue};
use crate::score::{EndGaps, Mode, Significance};
use crate::seq::{Alphabet, SequenceId, SequenceStore};
use changes::ChangeCounts;
use tracks::TargetTracks;

const PAGE: &str = concat!(include_str!("../markup/head.html"), include_str!("report/page.html"));
/// Maximum number of alignments in the table.
const MAX_ROWS: usize = 200;

/// Writes a page with the numbers of alignments and variants, the dot plot, the variants by type,
/// the identity and the coverage along the targets, and a table of the 200 best alignments. The dot
/// plot requires the feature `plot`.
///
/// # Errors
/// Returns an error if there is only a score, and [`crate::Error::Io`] if writing fails.
pub fn write_report(
    context: &LongContext,
    alignments: &[LongPairAlignment<'_>],
    title: &str,
    mut output: Output,
) -> Result<()> {
    let changes = ChangeCounts::new(context, alignments)?;
    let parts = if context.circular().any() { cut(context, alignments)? } else { Vec::new() };
    let parts: Vec<LongPairAlignment<'_>> = parts.iter().map(|part| part.alignment()).collect();
    let rows = if context.circular().any() { &parts } else { alignments };
    let tracks = TargetTracks::new(context, rows)?;
    let mut template = Template(PAGE);
    template.head(title, &[BASE_STYLE, PAGE_STYLE], &facts(context), &mut output)?;
    template.up_to("{{summary}}", &mut output)?;
    push_summary(context, alignments.len(), changes.total(), &tracks, output.buffer());
    template.up_to("{{dot_plot}}", &mut output)?;
    push_dot_plot(context, alignments, output.buffer())?;
    template.up_to("{{variants}}", &mut output)?;
    changes.push(context.alphabet(), output.buffer());
    template.up_to("{{tracks}}", &mut output)?;
    tracks.push(context, unit(context.alphabet()), output.buffer());
    template.up_to("{{table}}", &mut output)?;
    push_table(context, rows, &mut output)?;
    template.end(&mut output);
    output.finish()
}

fn unit(alphabet: Alphabet) -> &'static str {
    if alphabet == Alphabet::Dna { "base" } else { "residue" }
}

/// Returns the line below the title: sequences, mode and program.
fn facts(context: &LongContext) -> String {
    let counted = |count: usize, noun: &str, plural: &str| {
        let noun = if count == 1 { noun } else { plural };
        format!("{} {noun}", grouped(count as u64))
    };
    let queries = counted(context.query_ids().len(), "query", "queries");
    let targets = counted(context.target_ids().len(), "target", "targets");
    let mode = match (context.scoring().mode, context.scoring().end_gaps) {
        (Mode::Local, _) => "Local alignments",
        (Mode::Global, EndGaps::Free) => "Semi-global alignments",
        (Mode::Global, _) => "Global alignments",
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("{mode} of {queries} and {targets}; pairwave {version}")
}

/// Appends the numbers of alignments, aligned symbols and variants.
fn push_summary(context: &LongContext, alignments: usize, changes: u64, tracks: &TargetTracks, out: &mut Vec<u8>) {
    let percentage = |part: u64, all: u64| format!("{:.2}%", 100.0 * part as f64 / all.max(1) as f64);
    let symbols =
        |store: &SequenceStore, ids: &[SequenceId]| ids.iter().map(|&id| u64::from(store.length(id))).sum::<u64>();
    let query_symbols = symbols(context.queries(), context.query_ids());
    let target_symbols = symbols(context.targets(), context.target_ids());
    let unit = unit(context.alphabet());
    out.extend_from_slice(b"<dl>\n");
    for (term, value) in [
        ("Alignments".to_owned(), grouped(alignments as u64)),
        (format!("Query {unit}s"), grouped(query_symbols)),
        ("Query aligned".into(), percentage(tracks.query_covered(), query_symbols)),
        (format!("Target {unit}s"), grouped(target_symbols)),
        ("Target aligned".into(), percentage(tracks.target_covered(), target_symbols)),
        (
            format!("Identity of aligned {unit}s"),
            tracks.identity().map_or("–".into(), |identity| format!("{:.3}%", 100.0 * identity)),
        ),
        ("Variants".into(), grouped(changes)),
    ] {
        put(out, format_args!("<div><dt>{term}</dt><dd>{value}</dd></div>\n"));
    }
    out.extend_from_slice(b"</dl>\n");
}

#[cfg(feature = "plot")]
fn push_dot_plot(context: &LongContext, alignments: &[LongPairAlignment<'_>], out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(b"<section>\n<h2>Dot plot</h2>\n<div class=\"map\">\n");
    out.extend_from_slice(crate::output::dotplot::svg_element(context, alignments)?.as_bytes());
    out.extend_from_slice(b"</div>\n</section>\n");
    Ok(())
}

#[cfg(not(feature = "plot"))]
fn push_dot_plot(_context: &LongContext, _alignments: &[LongPairAlignment<'_>], _out: &mut Vec<u8>) -> Result<()> {
    Ok(())
}

/// Writes the table of the best alignments.
fn push_table(context: &LongContext, rows: &[LongPairAlignment<'_>], output: &mut Output) -> Result<()> {
    let mut best_first: Vec<&LongPairAlignment<'_>> = rows.iter().collect();
    best_first.sort_by_key(|row| Reverse(row.score));
    best_first.truncate(MAX_ROWS);
    let out = output.buffer();
    if best_first.len() < rows.len() {
        put(out, format_args!("<p>The best {} of {} by score. ", MAX_ROWS, grouped(rows.len() as u64)));
    } else {
        out.extend_from_slice(b"<p>");
    }
    out.extend_from_slice(b"Positions count from 1 on the strand of the file. Identity is matches / columns.");
    if context.circular().any() {
        out.extend_from_slice(b" An alignment that crosses an origin has several rows.");
    }
    out.extend_from_slice(b"</p>\n<div class=\"table pairs\"><table>\n<thead><tr>");
    for column in ["Query", "Target"] {
        put(out, format_args!("<th class=\"left\" scope=\"col\">{column}</th>"));
    }
    let has_significance = best_first.first().is_some_and(|row| is_significance_known(context, row));
    let significance = if has_significance { &["Bits", "E-value"][..] } else { &[] };
    for column in [&["Strand", "Score"], significance, &["Identity %", "Columns", "Query part", "Target part"]]
        .into_iter()
        .flatten()
    {
        put(out, format_args!("<th scope=\"col\">{column}</th>"));
    }
    out.extend_from_slice(b"</tr></thead>\n<tbody>\n");
    for row in best_first {
        push_row(context, row, output)?;
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"</tbody>\n</table></div>\n");
    Ok(())
}

fn is_significance_known(context: &LongContext, row: &LongPairAlignment<'_>) -> bool {
    context.pair(row).is_ok_and(|(_, pair)| pair.significance().is_some())
}

/// Writes the row of an alignment.
fn push_row(context: &LongContext, row: &LongPairAlignment<'_>, output: &mut Output) -> Result<()> {
    let (strand, pair) = context.pair(row)?;
    let columns = strand.columns(&pair)?;
    let (query_length, target_length) = (strand.queries.length(pair.query), strand.targets.length(pair.target));
    let identity = strand.identity.identity(&columns.counts, query_length, target_length);
    let OutputPair { score, .. } = pair;
    let query = pair.long_hit().map_or(columns.query, |hit| hit.in_file(columns.query, query_length));
    let out = output.buffer();
    for name in [context.queries().name(row.query_id), context.targets().name(row.target_id)] {
        out.extend_from_slice(if out.ends_with(b"</td>") {
            b"<td class=\"left\">"
        } else {
            b"<tr><td class=\"left\">"
        });
        push_html(out, name);
        out.extend_from_slice(b"</td>");
    }
    put(out, format_args!("<td>{}</td><td>{score}</td>", if row.is_reverse { "−" } else { "+" }));
    if let Some(Significance { bits, evalue }) = pair.significance() {
        put(out, format_args!("<td>{}</td><td>{}</td>", BitScore(bits), Evalue(evalue)));
    }
    put(out, format_args!("<td>{:.3}</td><td>{}</td>", 100.0 * identity, grouped(columns.inner_total())));
    for range in [query, columns.target] {
        let (first, last) = range.one_based();
        put(out, format_args!("<td>{}–{}</td>", grouped(first.into()), grouped(last.into())));
    }
    out.extend_from_slice(b"</tr>\n");
    Ok(())
}
