//! Formats of genome alignment for two long sequences: random alignments, read back from the text
//! that is written.

mod decoded;
mod variants;

use pairwave::alignment::{Cigar, Op};
use pairwave::output::long::{StoredRecords, write};
use pairwave::output::{LongContext, LongFormat, LongPairAlignment, Output, Range32};
use pairwave::score::{EndGaps, Mode, Scoring};
use pairwave::seq::{Alphabet, SequenceStore, reverse_complement};
use std::sync::Arc;
use support::{Rng, Tape};

/// Two sequences and an alignment of parts of them.
struct RandomCase {
    mode: Mode,
    query: String,
    target: String,
    /// Aligned strand of the query.
    is_reverse: bool,
    /// First aligned symbols on the aligned strand of the query, and of the target.
    start: (u32, u32),
    cigar: Cigar,
}

/// Returns the reverse complement of letters.
fn reversed(letters: &str) -> String {
    let codes: Vec<u8> = letters.bytes().map(|letter| Alphabet::Dna.encode(letter).expect("a nucleotide")).collect();
    reverse_complement(&codes).into_iter().map(|code| char::from(Alphabet::Dna.decode(code))).collect()
}

impl RandomCase {
    /// Returns a case with these letters. Few letters and short runs give many variants that touch
    /// each other and many repeats.
    fn new(random: &mut Rng, letters: &[u8], mode: Mode) -> Self {
        let code = |letter: u8| Alphabet::Dna.encode(letter).expect("a nucleotide");
        let letter = |random: &mut Rng| char::from(random.pick(letters));
        let (mut target, mut query, mut cigar) = (String::new(), String::new(), Cigar::new());
        let is_local = mode == Mode::Local;
        let start = if is_local { (random.below(4u32), random.below(4u32)) } else { (0, 0) };
        (0..start.0).for_each(|_| query.push(letter(random)));
        (0..start.1).for_each(|_| target.push(letter(random)));
        let count = 1 + random.below(24u32);
        for column in 0..count {
            // A local alignment starts and ends with two symbols, and no sequence is empty.
            let is_whole = column == count / 2 || is_local && (column == 0 || column + 1 == count);
            let (has_target, has_query) = match random.below(8u32) {
                0 if !is_whole => (false, true),
                1 if !is_whole => (true, false),
                _ => (true, true),
            };
            let (t, other) = (letter(random), letter(random));
            let q = if random.below(5u32) == 0 { other } else { t };
            target.extend(has_target.then_some(t));
            query.extend(has_query.then_some(q));
            let op = match (has_target, has_query) {
                (true, true) if code(t as u8) & code(q as u8) != 0 => Op::Match,
                (true, true) => Op::Mismatch,
                (true, false) => Op::Deletion,
                _ => Op::Insertion,
            };
            cigar.push(1, op);
        }
        if is_local {
            (0..random.below(4u32)).for_each(|_| query.push(letter(random)));
            (0..random.below(4u32)).for_each(|_| target.push(letter(random)));
        }
        let is_reverse = random.below(2u32) == 1;
        let query = if is_reverse { reversed(&query) } else { query };
        RandomCase { mode, query, target, is_reverse, start, cigar }
    }

    /// Returns the query's aligned strand.
    fn strand(&self) -> String {
        if self.is_reverse { reversed(&self.query) } else { self.query.clone() }
    }

    /// Returns the aligned range of the query's aligned strand, and of the target.
    fn ranges(&self) -> [std::ops::Range<usize>; 2] {
        let range = |start: u32, span: u64| start as usize..start as usize + span as usize;
        [range(self.start.0, self.cigar.query_span()), range(self.start.1, self.cigar.target_span())]
    }

    /// Returns the text of a format.
    fn written(&self, format: &LongFormat) -> String {
        let store = |name: &str, letters: &str| {
            let mut builder = SequenceStore::builder(Alphabet::Dna);
            builder.push_letters(name, letters.as_bytes()).expect("nucleotides");
            StoredRecords { store: Arc::new(builder.build()), ids: vec![0] }
        };
        let scoring = Scoring { mode: self.mode, end_gaps: EndGaps::Charged, ..Scoring::truong() };
        let reverse_ids = if self.is_reverse { vec![0] } else { Vec::new() };
        let context =
            LongContext::new(store("query", &self.query), store("target", &self.target), scoring, reverse_ids);
        let [query, target] = self.ranges().map(|range| Range32 { start: range.start as u32, end: range.end as u32 });
        let length = self.query.len() as u32;
        let turned = Range32 { start: length - query.end, end: length - query.start };
        let alignment = LongPairAlignment {
            query_id: 0,
            target_id: 0,
            is_reverse: self.is_reverse,
            score: -7,
            query: if self.is_reverse { turned } else { query },
            target,
            cigar: Some(&self.cigar),
            part_of: None,
        };
        let tape = Tape::default();
        write(format, &context, &[alignment], Output::to_writer(tape.clone())).expect("the text");
        String::from_utf8(tape.bytes()).expect("text")
    }
}
