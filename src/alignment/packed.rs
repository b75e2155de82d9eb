//! Alignments as devices write them. Each word contains two runs, the first in the low half, and
//! the runs are ordered from the alignment's last to its first. Bits 0 and 1 of a run are its kind
//! (0 to 3 for `=`, `X`, `I`, `D`), and the others are its length. A run longer than
//! [`LONGEST_RUN`] is split.

use super::{Cigar, Op};

/// Maximum number of columns in a packed run.
pub const LONGEST_RUN: u32 = (1 << 14) - 1;

/// Unpacks an alignment of `runs` packed runs.
pub fn unpack(words: &[u32], runs: u32) -> Cigar {
    let mut cigar = Cigar::with_capacity(runs as usize);
    unpack_into(words, runs, &mut cigar);
    cigar
}

/// Unpacks an alignment of `runs` packed runs into `cigar`, whose memory is reused.
pub(crate) fn unpack_into(words: &[u32], runs: u32, cigar: &mut Cigar) {
    cigar.clear();
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
}

/// Appends an alignment's packed runs to `words`. Returns the index of its first word and its
/// number of packed runs.
pub fn pack(cigar: &Cigar, words: &mut Vec<u32>) -> (usize, u32) {
    pack_from_last(cigar.iter().rev(), words)
}

/// Appends packed runs to `words`, given in order from the alignment's last to its first. Returns
/// the index of the first word and the number of packed runs.
pub(crate) fn pack_from_last(backwards: impl Iterator<Item = (u32, Op)>, words: &mut Vec<u32>) -> (usize, u32) {
    let (first, mut runs) = (words.len(), 0);
    for (length, op) in backwards {
        let kind = match op {
            Op::Match => 0,
            Op::Mismatch => 1,
            Op::Insertion => 2,
            Op::Deletion => 3,
        };
        let mut left = length;
        while left > 0 {
            let run = left.min(LONGEST_RUN) << 2 | kind;
            left -= left.min(LONGEST_RUN);
            match words.last_mut() {
                Some(last) if runs % 2 == 1 => *last |= run << 16,
                _ => words.push(run),
            }
            runs += 1;
        }
    }
    (first, runs)
}

/// Returns the numbers of query symbols, target symbols and matches in `runs` packed runs.
pub fn spans(words: &[u32], runs: u32) -> (u64, u64, u64) {
    let mut of_kind = [0u64; 4];
    for index in 0..runs as usize {
        let run = words[index / 2] >> (16 * (index % 2)) & 0xffff;
        of_kind[(run & 3) as usize] += u64::from(run >> 2);
    }
    let [matches, mismatches, insertions, deletions] = of_kind;
    (matches + mismatches + insertions, matches + mismatches + deletions, matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_runs_are_unpacked_in_order() {
        let run = |length: u32, kind: u32| length << 2 | kind;
        let words = [run(5, 0) | run(1, 1) << 16, run(7, 2) | run(2, 3) << 16, run(9, 0)];
        assert_eq!(unpack(&words, 5).to_string(), "9=2D7I1X5=");
        assert_eq!(unpack(&words, 3).to_string(), "7I1X5=");
        assert_eq!(unpack(&[], 0), Cigar::new());
    }

    #[test]
    fn packing_round_trips() {
        let mut words = Vec::new();
        let alignments = ["9=2D7I1X5=".into(), format!("3I{}=", 2 * LONGEST_RUN + 3), "4D".into(), String::new()];
        let alignments = alignments.map(|text| text.parse::<Cigar>().unwrap());
        let places = alignments.each_ref().map(|cigar| pack(cigar, &mut words));
        assert_eq!(places.map(|(_, runs)| runs), [5, 4, 1, 0]);
        for (cigar, (first, runs)) in alignments.iter().zip(places) {
            assert_eq!(&unpack(&words[first..], runs), cigar);
            let expected = (cigar.query_span(), cigar.target_span(), cigar.counts().matches);
            assert_eq!(spans(&words[first..], runs), expected);
        }
    }

    #[test]
    fn split_runs_are_merged_when_unpacked() {
        let piece = LONGEST_RUN << 2;
        assert_eq!(unpack(&[piece | piece << 16, 3 << 2], 3).to_string(), format!("{}=", 2 * LONGEST_RUN + 3));
    }
}
