//! Rows as bytes: whole numbers seven bits a byte, the lowest first, texts and alignments behind their lengths. Whatever bytes
//! are read, numbers that cannot be are `None`, and no memory is asked for that the bytes do not account for.

use crate::alignment::{Cigar, Op};

/// Kinds of columns by their numbers.
const OPS: [Op; 4] = [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion];

/// Adds a whole number.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Adds a number that is short where it is near 0, whatever its sign.
pub fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(bytes, (number << 1 ^ number >> 63) as u64);
}

/// Adds a number bit by bit.
pub fn push_float(bytes: &mut Vec<u8>, number: f64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Adds bytes behind their number.
pub fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    push(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Adds runs of columns behind their number.
pub fn push_cigar(bytes: &mut Vec<u8>, cigar: &Cigar) {
    push(bytes, cigar.len() as u64);
    for (length, op) in cigar.iter() {
        let kind = OPS.iter().position(|&other| other == op).unwrap_or_default() as u64;
        push(bytes, u64::from(length) << 2 | kind);
    }
}

/// Takes a byte.
pub fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

/// Takes so many bytes.
pub fn take_bytes<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (own, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(own)
}

/// Takes a whole number.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u64::from(take_byte(bytes)?);
        let bits = byte & 127;
        // The last byte has room for one bit, and none that adds nothing stands at the end.
        if bits << shift >> shift != bits || shift > 0 && byte == 0 {
            return None;
        }
        number |= bits << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// Takes a whole number that fits.
pub fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(bytes)?).ok()
}

/// Takes what [`push_signed`] added.
pub fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Takes what [`push_float`] added.
pub fn take_float(bytes: &mut &[u8]) -> Option<f64> {
    let (own, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*own))
}

/// Takes what [`push_text`] added.
pub fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = take(bytes)?;
    take_bytes(bytes, count)
}

/// Takes what [`push_cigar`] added.
pub fn take_cigar(bytes: &mut &[u8]) -> Option<Cigar> {
    // Every run has a byte or more.
    let runs = usize::try_from(take(bytes)?).ok().filter(|&runs| runs <= bytes.len())?;
    let mut cigar = Cigar::with_capacity(runs);
    for _ in 0..runs {
        let run = take(bytes)?;
        let length = u32::try_from(run >> 2).ok().filter(|&length| length > 0)?;
        cigar.push_checked(length, OPS[(run & 3) as usize])?;
    }
    (cigar.len() == runs).then_some(cigar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            push(&mut bytes, number);
            let mut left = &bytes[..];
            assert_eq!((take(&mut left), left.len()), (Some(number), 0));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
        }
        for number in [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            push_signed(&mut bytes, number);
            assert_eq!(take_signed(&mut &bytes[..]), Some(number));
            assert_eq!(bytes.len() == 1, (-64..64).contains(&number));
        }
        // More than 64 bits; a number that could be shorter.
        assert_eq!(take(&mut &[255, 255, 255, 255, 255, 255, 255, 255, 255, 2][..]), None);
        assert_eq!(take(&mut &[128, 0][..]), None);
        assert_eq!(take_u32(&mut &[255, 255, 255, 255, 16][..]), None);
    }

    #[test]
    fn alignments_come_back_and_only_as_they_are_written() {
        let cigar: Cigar = "12=3X1I700D4000000000=".parse().unwrap();
        let mut bytes = Vec::new();
        push_cigar(&mut bytes, &cigar);
        push_text(&mut bytes, b"end");
        let mut left = &bytes[..];
        assert_eq!((take_cigar(&mut left), take_text(&mut left)), (Some(cigar), Some(&b"end"[..])));
        // Two runs of a kind, one that is empty, one too long, more than there are.
        for runs in [&[2, 4, 8][..], &[1, 0], &[1, 128, 128, 128, 128, 64], &[3, 4, 5]] {
            assert_eq!(take_cigar(&mut &runs[..]), None, "{runs:?}");
        }
        let two = [2, 252, 255, 255, 255, 63, 252, 255, 255, 255, 63];
        assert_eq!(take_cigar(&mut &two[..]), None, "two runs of one kind with 2^32 columns");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            // What is read is written as it was.
            let read = |written: Option<Vec<u8>>, left: &[u8]| {
                written.is_none_or(|written| written == bytes[..bytes.len() - left.len()])
            };
            let mut left = &bytes[..];
            let number = take(&mut left).map(|number| {
                let mut bytes = Vec::new();
                push(&mut bytes, number);
                bytes
            });
            prop_assert!(read(number, left));
            let mut left = &bytes[..];
            let cigar = take_cigar(&mut left).map(|cigar| {
                let mut bytes = Vec::new();
                push_cigar(&mut bytes, &cigar);
                bytes
            });
            prop_assert!(read(cigar, left));
            let mut left = &bytes[..];
            let text = take_text(&mut left).map(|text| {
                let mut bytes = Vec::new();
                push_text(&mut bytes, text);
                bytes
            });
            prop_assert!(read(text, left));
        }
    }
}
