//! `text`: alignments in blocks under each other, as EMBOSS writes them (its format `pair`).
//!
//! Between the rows `|` stands for a match, `:` for another pair of symbols that scores more than 0, `.` for one that does not,
//! and a blank for a gap. The numbers beside a row are those of its first and its last symbol, from 1, in the sequence as its
//! file has it: on the reverse strand they fall. A row without a symbol has the number of the last one before it.
//!
//! Many pairs follow each other in one file, each under a header of its own.

use std::borrow::Cow;
use std::io::Write;

use super::long_context::{Found, LongContext};
use super::{Body, Bytes, Context, Line, Output, Pair};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Mode, Scoring};
use crate::seq::Code;

/// Least widths of names and of positions.
const NAME_WIDTH: usize = 13;
const POSITION_WIDTH: usize = 6;

const RULE: &str = "########################################";
const LINE: &str = "#=======================================";
const LAST: &str = "#---------------------------------------";

/// The format of many pairs.
pub(super) struct Text {
    width: usize,
}

impl Text {
    /// Columns of a block; at least one.
    pub(super) fn new(width: u32) -> Self {
        Text { width: width.max(1) as usize }
    }
}

impl Body for Text {
    fn begin(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        top(output.buffer());
        Ok(())
    }

    fn lines(&self) -> Option<&dyn Line> {
        Some(self)
    }

    fn end(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        bottom(output.buffer());
        Ok(())
    }
}

impl Line for Text {
    fn push(&self, context: &Context, pair: &Pair<'_>, out: &mut Vec<u8>) -> Result<()> {
        header(context, pair, None, out)?;
        Blocks::new(context, pair, self.width)?.write(out)
    }
}

/// What stands before the first alignment.
fn top(out: &mut Vec<u8>) {
    let version = env!("CARGO_PKG_VERSION");
    line(out, format_args!("{RULE}\n# Program: pairwave {version}\n# Align_format: pair\n{RULE}"));
}

/// What stands after the last.
fn bottom(out: &mut Vec<u8>) {
    line(out, format_args!("{LAST}\n{LAST}"));
}

/// Writes all alignments of two very long sequences.
pub(super) fn write(context: &LongContext, width: u32, found: &[Found<'_>], output: &mut Output) -> Result<()> {
    let out = output.buffer();
    top(out);
    if found.is_empty() {
        let (query, target) = (context.query_name(), context.target_name());
        line(out, format_args!("\n{LINE}\n#\n# 1: {query}\n# 2: {target}\n# There is no alignment.\n#\n{LINE}\n\n"));
    }
    for (index, one) in found.iter().enumerate() {
        let (context, pair) = context.pair(one)?;
        header(context, &pair, Some((index, found.len())), output.buffer())?;
        Blocks::new(context, &pair, width.max(1) as usize)?.write(output)?;
    }
    bottom(output.buffer());
    output.pass_on()
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a vector takes all");
}

/// What stands before an alignment, which of how many of the same two sequences if they are numbered.
fn header(context: &Context, pair: &Pair<'_>, number: Option<(usize, usize)>, out: &mut Vec<u8>) -> Result<()> {
    let cigar = alignment(pair)?;
    let columns = context.columns(pair)?;
    let Scoring { gaps, mode, end_gaps, .. } = context.scoring;
    let mode = match (mode, end_gaps) {
        (Mode::Local, _) => "local",
        (Mode::Global, EndGaps::Charged | EndGaps::Priced(_)) => "global",
        (Mode::Global, EndGaps::Free) => "semi-global",
    };
    let strand = if pair.is_reverse() { " (reverse complement)" } else { "" };
    let total = columns.total();
    let similar = super::columns::similar(context, pair, cigar);
    let digits = total.to_string().len();
    let share = |count: u64| {
        let percent = 100.0 * count as f64 / total.max(1) as f64;
        format!("{count:>digits$}/{total} ({percent:.1}%)")
    };
    line(out, format_args!("\n{LINE}\n#\n# Aligned_sequences: 2"));
    for (start, name, end) in [
        ("# 1: ", context.queries.name_bytes(pair.query), strand),
        ("# 2: ", context.targets.name_bytes(pair.target), ""),
    ] {
        out.extend_from_slice(start.as_bytes());
        out.extend_from_slice(name);
        line(out, format_args!("{end}"));
    }
    let place = number.map_or(String::new(), |(index, of)| format!("{} of {of}, ", index + 1));
    line(out, format_args!("# Alignment: {place}{mode}"));
    line(out, format_args!("# Gap_penalty: {}\n# Extend_penalty: {}", gaps.first, gaps.next));
    if let (Mode::Global, EndGaps::Priced(ends)) = (context.scoring.mode, end_gaps) {
        line(out, format_args!("# End_gap_penalty: {}\n# End_extend_penalty: {}", ends.first, ends.next));
    }
    line(out, format_args!("#"));
    line(out, format_args!("# Length: {total}"));
    line(out, format_args!("# Identity:   {}", share(columns.counts.matches)));
    line(out, format_args!("# Similarity: {}", share(similar)));
    line(out, format_args!("# Gaps:       {}", share(columns.counts.gap_columns)));
    line(out, format_args!("# Score: {}\n#\n#\n{LINE}\n", pair.score));
    Ok(())
}

fn alignment<'a>(pair: &Pair<'a>) -> Result<&'a Cigar> {
    pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))
}

/// An alignment that is cut into blocks.
struct Blocks<'a> {
    context: &'a Context,
    cigar: &'a Cigar,
    width: usize,
    /// With the blanks that make them equally wide.
    names: [Vec<u8>; 2],
    name_width: usize,
    position_width: usize,
    codes: [Cow<'a, [Code]>; 2],
    is_reverse: bool,
    /// Symbols of the two before the block, and up to the column at hand.
    before: [usize; 2],
    now: [usize; 2],
    upper: Vec<u8>,
    between: Vec<u8>,
    lower: Vec<u8>,
}

impl<'a> Blocks<'a> {
    fn new(context: &'a Context, pair: &Pair<'a>, width: usize) -> Result<Self> {
        let names = [context.queries.name(pair.query), context.targets.name(pair.target)];
        let width_of = |name: &str| name.chars().count();
        let name_width = names.into_iter().map(width_of).fold(NAME_WIDTH, usize::max);
        let padded = |bytes: &[u8], name: &str| [bytes, " ".repeat(name_width - width_of(name)).as_bytes()].concat();
        let names = [
            padded(context.queries.name_bytes(pair.query), names[0]),
            padded(context.targets.name_bytes(pair.target), names[1]),
        ];
        let longest = context.queries.length(pair.query).max(context.targets.length(pair.target));
        let start = [pair.query_start as usize, pair.target_start as usize];
        Ok(Blocks {
            context,
            cigar: alignment(pair)?,
            width,
            names,
            name_width,
            position_width: longest.to_string().len().max(POSITION_WIDTH),
            codes: [context.query_codes(pair), Cow::Borrowed(context.targets.codes(pair.target))],
            is_reverse: pair.is_reverse(),
            before: start,
            now: start,
            upper: Vec::with_capacity(width),
            between: Vec::with_capacity(width),
            lower: Vec::with_capacity(width),
        })
    }

    fn write(mut self, output: &mut impl Bytes) -> Result<()> {
        for (length, op) in self.cigar.iter() {
            for _ in 0..length {
                self.column(op);
                if self.upper.len() == self.width {
                    self.block(output)?;
                }
            }
        }
        if self.upper.is_empty() { Ok(()) } else { self.block(output) }
    }

    fn column(&mut self, op: Op) {
        let symbol = |is_there: bool, side: usize| is_there.then(|| self.codes[side][self.now[side]]);
        let (a, b) = (symbol(op.consumes_query(), 0), symbol(op.consumes_target(), 1));
        let letter = |code: Option<Code>| code.map_or(b'-', |code| self.context.queries.alphabet().decode(code));
        let is_similar = || a.zip(b).is_some_and(|(a, b)| self.context.scoring.substitution.score(a, b) > 0);
        self.between.push(match op {
            Op::Match => b'|',
            Op::Mismatch if is_similar() => b':',
            Op::Mismatch => b'.',
            Op::Insertion | Op::Deletion => b' ',
        });
        self.upper.push(letter(a));
        self.lower.push(letter(b));
        self.now[0] += usize::from(a.is_some());
        self.now[1] += usize::from(b.is_some());
    }

    /// The numbers of the first and the last symbol of a row.
    fn positions(&self, side: usize) -> (usize, usize) {
        let (before, now) = (self.before[side], self.now[side]);
        let first = if now > before { before + 1 } else { before };
        let turned = |position: usize| self.codes[side].len() + 1 - position;
        if side == 0 && self.is_reverse { (turned(first), turned(now)) } else { (first, now) }
    }

    fn block(&mut self, output: &mut impl Bytes) -> Result<()> {
        let (name_width, position_width) = (self.name_width, self.position_width);
        let out = output.buffer();
        for side in 0..2 {
            let (first, last) = self.positions(side);
            let row = String::from_utf8_lossy(if side == 0 { &self.upper } else { &self.lower });
            out.extend_from_slice(&self.names[side]);
            line(out, format_args!(" {first:>position_width$} {row} {last:>position_width$}"));
            if side == 0 {
                let between = String::from_utf8_lossy(&self.between);
                let text = format!("{:1$}{between}", "", name_width + position_width + 2);
                line(out, format_args!("{}", text.trim_end()));
            }
        }
        out.push(b'\n');
        self.before = self.now;
        self.upper.clear();
        self.between.clear();
        self.lower.clear();
        output.pass_on()
    }
}
