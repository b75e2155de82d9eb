//! A finished read, and how it becomes bytes: whole numbers seven bits a byte, the lowest first, texts behind their lengths.

use crate::alignment::{Cigar, Op};
use crate::jobs::PhyloResult;
use crate::seq::StrandOf;

/// Kinds of columns by their numbers.
const OPS: [Op; 4] = [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion];

fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Numbers near 0 are short, whatever their sign.
fn push_signed(out: &mut Vec<u8>, number: i32) {
    push(out, (u64::from(number.unsigned_abs()) << 1) - u64::from(number < 0));
}

fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    push(out, text.len() as u64);
    out.extend_from_slice(text);
}

impl PhyloResult {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        push(out, self.number);
        push_text(out, &self.name);
        push_text(out, &self.letters);
        push(out, self.edge.into());
        push_signed(out, self.score);
        out.push(u8::from(self.runner_up.is_some()) | u8::from(self.strand == StrandOf::Minus) << 1);
        if let Some((edge, score)) = self.runner_up {
            push(out, edge.into());
            push_signed(out, score);
        }
        push(out, self.first_site.into());
        push(out, self.cigar.len() as u64);
        for (length, op) in self.cigar.iter() {
            let kind = OPS.iter().position(|&other| other == op).unwrap_or_default() as u64;
            push(out, u64::from(length) << 2 | kind);
        }
    }
}

/// Bytes from the first on; `None` once they end too early.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, length: u64) -> Option<&'a [u8]> {
        let (own, others) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = others;
        Some(own)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let &[byte] = self.bytes(1)?.first_chunk()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    fn word(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn signed(&mut self) -> Option<i32> {
        let number = self.number()?;
        let magnitude = i64::try_from(number / 2 + number % 2).ok()?;
        i32::try_from(if number % 2 == 1 { -magnitude } else { magnitude }).ok()
    }

    fn text(&mut self) -> Option<Vec<u8>> {
        let length = self.number()?;
        self.bytes(length).map(<[u8]>::to_vec)
    }

    fn record(&mut self) -> Option<PhyloResult> {
        let (number, name, letters) = (self.number()?, self.text()?, self.text()?);
        let (edge, score) = (self.word()?, self.signed()?);
        let flags = self.bytes(1)?[0];
        let runner_up = if flags & 1 != 0 { Some((self.word()?, self.signed()?)) } else { None };
        let strand = if flags & 2 != 0 { StrandOf::Minus } else { StrandOf::Plus };
        let (first_site, runs) = (self.word()?, self.number()?);
        let mut cigar = Cigar::new();
        for _ in 0..runs {
            let run = self.number()?;
            cigar.push(u32::try_from(run >> 2).ok()?, OPS[(run & 3) as usize]);
        }
        Some(PhyloResult { number, name, letters, edge, score, runner_up, strand, first_site, cigar })
    }
}

/// So many records that fill these bytes; `None` if they do not.
pub(super) fn decode(bytes: &[u8], records: u64) -> Option<Vec<PhyloResult>> {
    let mut reader = Reader(bytes);
    let records: Option<Vec<PhyloResult>> = (0..records).map(|_| reader.record()).collect();
    records.filter(|_| reader.0.is_empty())
}
