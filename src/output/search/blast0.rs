//! The format `blast0`: text for people to read, like BLAST's format 0.
//!
//! Each query has a table of the sequences found, one line each, followed by their alignments in
//! blocks of 60 columns. The line of a sequence with several alignments describes the best. Between
//! the rows of proteins, matching letters are repeated, and `+` marks other pairs with a score above 0. Between the rows of nucleotides, `|` marks matches. As in BLAST, the query
//! is always shown forward. If its reverse complement is aligned, the subject is reversed, and its
//! positions decrease. The lines with parameters are like BLAST's, except that the parameters
//! without gaps are for the usual composition instead of the query's. If the parameters are
//! unknown, there are no bit scores and E-values.

use std::io::Write;

use super::rows::{self, BlastRows, header};
use super::{SearchBody, SearchContext, SearchHit, SearchPairs, hits_by_subject};
use crate::error::{Error, Result};
use crate::output::numbers::grouped;
use crate::output::{Context, Output, OutputPair};
use crate::score::statistics::{BitScore, Parameters, ShortEvalue};
use crate::score::{Significance, Statistics};
use crate::seq::{Alphabet, SequenceId};

/// Number of letters in a line of a query's header and of a hit's header.
const QUERY_LINE: usize = 68;
const HIT_LINE: usize = 60;
/// Number of letters of a hit in the table.
const SUMMARY: usize = 68;

pub(super) struct Blast0;

impl SearchBody for Blast0 {
    fn begin(&mut self, search: &SearchContext, output: &mut Output) -> Result<()> {
        let (name, size) = (&search.database, search.size);
        let (sequences, symbols) = (grouped(size.sequences), grouped(size.symbols));
        line(output, format_args!(concat!("pairwave ", env!("CARGO_PKG_VERSION"), "\n\n\n")));
        line(output, format_args!("Database: {name}\n           {sequences} sequences; {symbols} total letters\n\n"));
        Ok(())
    }

    fn query(
        &mut self,
        all: &mut SearchPairs,
        query: SequenceId,
        hits: &[SearchHit],
        output: &mut Output,
    ) -> Result<()> {
        let header = all.search.query_line(query);
        let length = all.search.queries.length(query);
        output.buffer().extend_from_slice(b"\nQuery= ");
        push_words(output.buffer(), &header);
        line(output, format_args!("\n\nLength={length}"));
        if hits.is_empty() {
            line(output, format_args!("\n\n***** No hits found *****\n\n"));
        } else {
            summary(hits, output);
        }
        for hits in hits_by_subject(hits) {
            for (rank, hit) in hits.iter().enumerate() {
                let (context, pair) = all.pair(query, hit);
                if rank == 0 {
                    push_subject(context, &pair, output);
                }
                push_alignment(context, &pair, output)?;
                output.pass_on()?;
            }
        }
        parameters(&all.search, length, output);
        Ok(())
    }

    fn end(&mut self, search: &SearchContext, output: &mut Output) -> Result<()> {
        let (sequences, symbols) = (grouped(search.size.sequences), grouped(search.size.symbols));
        line(output, format_args!("\n  Database: {}", search.database));
        line(output, format_args!("  Number of letters in database: {symbols}"));
        line(output, format_args!("  Number of sequences in database:  {sequences}\n\n\n"));
        let matrix = search.statistics.as_ref().and_then(Statistics::matrix);
        match (matrix, search.scoring.alphabet) {
            (Some(matrix), _) => line(output, format_args!("Matrix: {matrix}")),
            (None, Alphabet::Dna) => {
                let score = |b| search.scoring.substitution.score(1, b);
                line(output, format_args!("Matrix: blastn matrix {} {}", score(1), score(2)));
            }
            (None, _) => {}
        }
        let gaps = search.scoring.gaps;
        line(output, format_args!("Gap Penalties: Existence: {}, Extension: {}", gaps.opening(), gaps.next));
        Ok(())
    }
}

fn line(output: &mut Output, text: std::fmt::Arguments<'_>) {
    writeln!(output.buffer(), "{text}").expect("a vector takes all");
}

/// Writes a line for the best hit of every subject.
fn summary(hits: &[SearchHit], output: &mut Output) {
    let score = |hit: &SearchHit| match hit.significance {
        Some(Significance { bits, .. }) => BitScore(bits).to_string(),
        None => hit.score.to_string(),
    };
    let evalue = |hit: &SearchHit| match hit.significance {
        Some(Significance { evalue, .. }) => ShortEvalue(evalue).to_string(),
        None => String::new(),
    };
    let is_known = hits.iter().any(|hit| hit.significance.is_some());
    let width = |text: &dyn Fn(&SearchHit) -> String, least: usize| {
        hits.iter().map(|hit| text(hit).len()).fold(least, usize::max)
    };
    let score_width = width(&score, 6);
    let evalue_width = width(&evalue, 5);
    let wider = score_width - 6;
    let [above, below] = if is_known { ["E", "Value"] } else { [""; 2] };
    let unit = if is_known { "(Bits)" } else { "(Raw) " };
    let text = format!("{:70}Score     {:wider$}{above}", "", "");
    line(output, format_args!("{}", text.trim_end()));
    let text = format!("{:69}{unit}{:wider$}  {below}", "Sequences producing significant alignments:", "");
    line(output, format_args!("{}\n", text.trim_end()));
    for hit in hits_by_subject(hits).map(|hits| &hits[0]) {
        let mut header = header(hit.subjects.name_bytes(hit.subject), hit.subjects.description(hit.subject));
        if header.len() > SUMMARY {
            // Cuts between UTF-8 characters.
            let starts = |at: &usize| header[*at] & 0xc0 != 0x80;
            header.truncate((0..=SUMMARY - 3).rev().find(starts).unwrap_or(0));
            header.extend_from_slice(b"...");
        }
        let blanks = SUMMARY - header.len();
        output.buffer().extend_from_slice(&header);
        let (score, evalue) = (score(hit), evalue(hit));
        let evalue = if is_known { format!("  {evalue:evalue_width$}") } else { String::new() };
        line(output, format_args!("{:blanks$}  {score:score_width$}{evalue}", ""));
    }
    line(output, format_args!("\n"));
}

/// Appends a query's header, with line breaks between words.
fn push_words(out: &mut Vec<u8>, header: &[u8]) {
    let mut filled = 0;
    for word in header.split(|&byte| byte == b' ').filter(|word| !word.is_empty()) {
        if filled > 0 {
            let is_full = filled + 1 + word.len() > QUERY_LINE;
            out.push(if is_full { b'\n' } else { b' ' });
            filled = if is_full { 0 } else { filled + 1 };
        }
        out.extend_from_slice(word);
        filled += word.len();
    }
}

/// Appends a hit's header, with a line break after the first blank after every 60 letters.
fn push_wrapped(out: &mut Vec<u8>, header: &[u8]) {
    let mut is_due = false;
    for (at, &byte) in header.iter().enumerate() {
        is_due |= header.len() > HIT_LINE && at > 0 && at % HIT_LINE == 0;
        out.push(byte);
        if is_due && byte == b' ' {
            out.push(b'\n');
            is_due = false;
        }
    }
}

fn push_subject(context: &Context, pair: &OutputPair<'_>, output: &mut Output) {
    let (targets, id) = (&context.targets, pair.target);
    output.buffer().push(b'>');
    push_wrapped(output.buffer(), &header(targets.name_bytes(id), targets.description(id)));
    line(output, format_args!("\nLength={}\n", targets.length(id)));
}

fn push_alignment(context: &Context, pair: &OutputPair<'_>, output: &mut Output) -> Result<()> {
    let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
    rows::push_facts(context, pair, cigar, output.buffer());
    line(output, format_args!(""));
    BlastRows::new(context, pair, cigar).push(output.buffer());
    line(output, format_args!(""));
    Ok(())
}

/// Writes Karlin and Altschul's parameters and the search space.
fn parameters(search: &SearchContext, query: u32, output: &mut Output) {
    let Some(statistics) = &search.statistics else { return };
    let numbers = |of: Parameters, more: &[f64]| {
        let all = [of.lambda, of.k, of.h].into_iter().chain(more.iter().copied());
        all.map(|number| format!("{:>8} ", three_digits(number))).collect::<String>()
    };
    let finite = statistics.finite_size();
    let (gapped, ungapped) = finite.as_ref().map_or((&[][..], &[][..]), |(gapped, ungapped)| (gapped, ungapped));
    let is_known = finite.is_some();
    let names = ["", "        a         alpha"][usize::from(is_known)];
    line(output, format_args!("\nLambda      K        H{names}\n{}", numbers(statistics.ungapped(), ungapped)));
    let names = ["", "        a         alpha    sigma"][usize::from(is_known)];
    line(output, format_args!("\nGapped\nLambda      K        H{names}\n{}", numbers(statistics.gapped(), gapped)));
    let space = statistics.search_space(query, &search.size);
    line(output, format_args!("\nEffective search space used: {space:.0}\n"));
}

/// Formats a positive number with three significant digits and a point, like C's `%#.3g` for
/// numbers from 0.0001 to 1000.
fn three_digits(number: f64) -> String {
    let exponent = format!("{number:.2e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    let text = format!("{number:.*}", usize::try_from(2 - exponent).unwrap_or(0));
    if text.contains('.') { text } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_like_blast() {
        for (number, text) in
            [(0.041, "0.0410"), (0.14, "0.140"), (1.9, "1.90"), (42.6028, "42.6"), (210.333, "210."), (0.9996, "1.00")]
        {
            assert_eq!(three_digits(number), text);
        }
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (9_055_569, "9,055,569")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn headers_are_wrapped_between_words() {
        let long = "abcdefghi ".repeat(14) + "end";
        let mut out = Vec::new();
        push_words(&mut out, long.as_bytes());
        assert_eq!(String::from_utf8(out).unwrap().lines().map(str::len).collect::<Vec<_>>(), [59, 59, 23]);
        let mut out = Vec::new();
        push_wrapped(&mut out, long.as_bytes());
        assert_eq!(String::from_utf8(out).unwrap().lines().map(str::len).collect::<Vec<_>>(), [70, 60, 13]);
    }
}
