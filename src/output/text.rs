//! The format `text`: alignments in blocks of rows, as in EMBOSS's format `pair`.
//!
//! Between the rows, `|` marks a match, `:` another pair of symbols with a score above 0, `.` one
//! with a score of at most 0, and a blank a gap. The numbers next to a row are the positions of its
//! first and last symbol, from 1, in the sequence as in its file; on the minus strand they
//! decrease. A row without symbols has the position of the last symbol before it, or 0 if there is
//! none.
//!
//! Several pairs follow each other in one file, each with its own header.

use std::borrow::Cow;
use std::io::Write;

use super::long_context::{LongContext, LongPairAlignment};
use super::{ByteSink, Context, FormatBody, Output, OutputPair, PairLine};
use crate::alignment::{Cigar, Op};
use crate::error::{Error, Result};
use crate::score::{EndGaps, Mode, Scoring};
use crate::seq::Code;

/// Minimum widths of names and of positions.
const NAME_WIDTH: usize = 13;
const POSITION_WIDTH: usize = 6;

const RULE: &str = "########################################";
const LINE: &str = "#=======================================";
const LAST: &str = "#---------------------------------------";

/// The format for many pairs.
pub(super) struct TextFormat {
    width: usize,
}

impl TextFormat {
    /// Creates the format with blocks of `width` columns, or one column if `width` is 0.
    pub(super) fn new(width: u32) -> Self {
        TextFormat { width: width.max(1) as usize }
    }
}

impl FormatBody for TextFormat {
    fn begin(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        write_header(output.buffer());
        Ok(())
    }

    fn lines(&self) -> Option<&dyn PairLine> {
        Some(self)
    }

    fn end(&mut self, _context: &Context, output: &mut Output) -> Result<()> {
        bottom(output.buffer());
        Ok(())
    }
}

impl PairLine for TextFormat {
    fn push(&self, context: &Context, pair: &OutputPair<'_>, out: &mut Vec<u8>) -> Result<()> {
        header(context, pair, None, out)?;
        TextBlocks::new(context, pair, self.width)?.write(out)
    }
}

/// Writes the lines before the first alignment.
fn write_header(out: &mut Vec<u8>) {
    let version = env!("CARGO_PKG_VERSION");
    line(out, format_args!("{RULE}\n# Program: pairwave {version}\n# Align_format: pair\n{RULE}"));
}

/// Writes the lines after the last alignment.
fn bottom(out: &mut Vec<u8>) {
    line(out, format_args!("{LAST}\n{LAST}"));
}

/// Writes all alignments of very long sequences. The alignments of each pair are numbered.
pub(super) fn write(
    context: &LongContext,
    width: u32,
    alignments: &[LongPairAlignment<'_>],
    output: &mut Output,
) -> Result<()> {
    let out = output.buffer();
    write_header(out);
    if alignments.is_empty() {
        let names = match (context.query_ids(), context.target_ids()) {
            (&[query], &[target]) => {
                format!("# 1: {}\n# 2: {}\n", context.queries().name(query), context.targets().name(target))
            }
            _ => String::new(),
        };
        line(out, format_args!("\n{LINE}\n#\n{names}# There is no alignment.\n#\n{LINE}\n\n"));
    }
    let is_same_pair =
        |a: &LongPairAlignment<'_>, b: &LongPairAlignment<'_>| (a.query_id, a.target_id) == (b.query_id, b.target_id);
    for of_pair in alignments.chunk_by(is_same_pair) {
        for (index, one) in of_pair.iter().enumerate() {
            let (context, pair) = context.pair(one)?;
            header(context, &pair, Some((index, of_pair.len())), output.buffer())?;
            TextBlocks::new(context, &pair, width.max(1) as usize)?.write(output)?;
        }
    }
    bottom(output.buffer());
    output.pass_on()
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a vector takes all");
}

/// Writes the header of an alignment. `number` is its index and the number of alignments of the
/// same two sequences.
fn header(context: &Context, pair: &OutputPair<'_>, number: Option<(usize, usize)>, out: &mut Vec<u8>) -> Result<()> {
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
    let number_text = number.map_or(String::new(), |(index, of)| format!("{} of {of}, ", index + 1));
    line(out, format_args!("# Alignment: {number_text}{mode}"));
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

fn alignment<'a>(pair: &OutputPair<'a>) -> Result<&'a Cigar> {
    pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))
}

/// State of writing an alignment in blocks.
struct TextBlocks<'a> {
    context: &'a Context,
    cigar: &'a Cigar,
    width: usize,
    /// Names, padded to equal width.
    names: [Vec<u8>; 2],
    name_width: usize,
    position_width: usize,
    codes: [Cow<'a, [Code]>; 2],
    is_reverse: bool,
    /// Numbers of query and target symbols before the block, and up to the current column.
    before: [usize; 2],
    now: [usize; 2],
    upper: Vec<u8>,
    between: Vec<u8>,
    lower: Vec<u8>,
}

impl<'a> TextBlocks<'a> {
    fn new(context: &'a Context, pair: &OutputPair<'a>, width: usize) -> Result<Self> {
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
        Ok(TextBlocks {
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

    fn write(mut self, output: &mut impl ByteSink) -> Result<()> {
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

    /// Returns the positions of the first and the last symbol of a row.
    fn positions(&self, side: usize) -> (usize, usize) {
        let (before, now) = (self.before[side], self.now[side]);
        let first = if now > before { before + 1 } else { before };
        let in_file = |position: usize| match side == 0 && self.is_reverse && position > 0 {
            true => self.codes[side].len() + 1 - position,
            false => position,
        };
        (in_file(first), in_file(now))
    }

    fn block(&mut self, output: &mut impl ByteSink) -> Result<()> {
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
