//! Rows as bytes. Integers have seven bits per byte, the lowest first. Texts and alignments follow
//! their lengths. Decoding works on arbitrary bytes. Invalid values give `None`, and allocations
//! never exceed the size of the input.

use crate::alignment::{Cigar, Op};

/// Operations of a CIGAR by their codes.
const OPS: [Op; 4] = [Op::Match, Op::Mismatch, Op::Insertion, Op::Deletion];

/// Appends an unsigned integer.
pub fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a signed integer. Numbers near 0 are short for both signs.
pub fn push_signed(bytes: &mut Vec<u8>, number: i64) {
    push(bytes, (number << 1 ^ number >> 63) as u64);
}

/// Appends a number as the eight bytes of its bit pattern.
pub fn push_float(bytes: &mut Vec<u8>, number: f64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends a text after its length in bytes.
pub fn push_text(bytes: &mut Vec<u8>, text: &[u8]) {
    push(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// Appends the runs of an alignment after their number.
pub fn push_cigar(bytes: &mut Vec<u8>, cigar: &Cigar) {
    push(bytes, cigar.len() as u64);
    for (length, op) in cigar.iter() {
        let kind = OPS.iter().position(|&other| other == op).unwrap_or_default() as u64;
        push(bytes, u64::from(length) << 2 | kind);
    }
}

/// Takes one byte.
pub fn take_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

/// Takes this number of bytes.
pub fn take_bytes<'a>(bytes: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(count).ok()?)?;
    *bytes = rest;
    Some(taken)
}

/// Takes an unsigned integer.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = u64::from(take_byte(bytes)?);
        let bits = byte & 127;
        // The tenth byte has one usable bit. A final zero byte would be redundant.
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

/// Takes an unsigned integer below 2^32.
pub fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(bytes)?).ok()
}

/// Takes a number that [`push_signed`] appended.
pub fn take_signed(bytes: &mut &[u8]) -> Option<i64> {
    let number = take(bytes)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Takes a number that [`push_float`] appended.
pub fn take_float(bytes: &mut &[u8]) -> Option<f64> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(f64::from_le_bytes(*taken))
}

/// Takes a text that [`push_text`] appended.
pub fn take_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let count = take(bytes)?;
    take_bytes(bytes, count)
}

/// Takes an alignment that [`push_cigar`] appended.
pub fn take_cigar(bytes: &mut &[u8]) -> Option<Cigar> {
    // Every run has at least one byte.
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
    fn numbers_survive_encoding_and_decoding() {
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
        // More than 64 bits, and a number that is not in its shortest form.
        assert_eq!(take(&mut &[255, 255, 255, 255, 255, 255, 255, 255, 255, 2][..]), None);
        assert_eq!(take(&mut &[128, 0][..]), None);
        assert_eq!(take_u32(&mut &[255, 255, 255, 255, 16][..]), None);
    }

    #[test]
    fn alignments_decode_only_from_their_canonical_bytes() {
        let cigar: Cigar = "12=3X1I700D4000000000=".parse().unwrap();
        let mut bytes = Vec::new();
        push_cigar(&mut bytes, &cigar);
        push_text(&mut bytes, b"end");
        let mut left = &bytes[..];
        assert_eq!((take_cigar(&mut left), take_text(&mut left)), (Some(cigar), Some(&b"end"[..])));
        // Two adjacent runs of one kind, an empty run, a run that is too long, too many runs.
        for runs in [&[2, 4, 8][..], &[1, 0], &[1, 128, 128, 128, 128, 64], &[3, 4, 5]] {
            assert_eq!(take_cigar(&mut &runs[..]), None, "{runs:?}");
        }
        let two = [2, 252, 255, 255, 255, 63, 252, 255, 255, 255, 63];
        assert_eq!(take_cigar(&mut &two[..]), None, "two runs of one kind with 2^32 columns");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn decoded_values_encode_to_the_same_bytes(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            // A decoded value must encode to the bytes that were read.
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
