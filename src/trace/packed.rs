//! Alignments as devices write them: two runs a word, the low half first, from the alignment's last run to its first. A
//! run is its kind in bits 0 and 1 (0 to 3 for `=`, `X`, `I`, `D`) and its length above; one longer than
//! [`LONGEST_RUN`] is several.

use super::{Cigar, Op};

/// Columns that one packed run can have.
pub const LONGEST_RUN: u32 = (1 << 14) - 1;

/// The alignment of so many packed runs.
pub fn unpack(words: &[u32], runs: u32) -> Cigar {
    let mut cigar = Cigar::with_capacity(runs as usize);
    for index in (0..runs as usize).rev() {
        let run = words[index / 2] >> (16 * (index % 2)) & 0xffff;
        let op = match run & 3 {
            0 => Op::Match,
            1 => Op::Mismatch,
            2 => Op::Insertion,
            _ => Op::Deletion,
        };
        cigar.push(run >> 2, op);
    }
    cigar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_back_first_to_last() {
        let run = |length: u32, kind: u32| length << 2 | kind;
        let words = [run(5, 0) | run(1, 1) << 16, run(7, 2) | run(2, 3) << 16, run(9, 0)];
        assert_eq!(unpack(&words, 5).to_string(), "9=2D7I1X5=");
        assert_eq!(unpack(&words, 3).to_string(), "7I1X5=");
        assert_eq!(unpack(&[], 0), Cigar::new());
    }

    #[test]
    fn pieces_of_a_long_run_are_one() {
        let piece = LONGEST_RUN << 2;
        assert_eq!(unpack(&[piece | piece << 16, 3 << 2], 3).to_string(), format!("{}=", 2 * LONGEST_RUN + 3));
    }
}
