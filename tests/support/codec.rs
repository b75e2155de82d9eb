//! Encoding of rows as bytes.

use std::fmt::Debug;

use pairwave::jobs::blocks::Divisible;

use super::random::Rng;

/// Fails unless rows survive encoding and decoding, and damaged or truncated bytes do not cause a
/// panic.
pub fn check_codec<J: Divisible<Row: Debug + PartialEq>>(job: &J, rows: &[J::Row], random: &mut Rng) {
    assert!(!rows.is_empty());
    for row in rows {
        let mut bytes = vec![7];
        J::encode(row, &mut bytes);
        bytes.push(9);
        let mut left = &bytes[1..];
        let mut read = [J::decode(&mut left).expect("a row that was written")];
        job.resolve(&mut read).expect("it is of this job");
        assert_eq!(read[0], *row);
        assert_eq!(left, [9], "no byte too many is taken");
        let whole = &bytes[1..bytes.len() - 1];
        let cut = random.below(whole.len());
        assert!(J::decode(&mut &whole[..cut]).is_none(), "{row:?} has no end");
        for _ in 0..20 {
            let mut damaged = whole.to_vec();
            for _ in 0..=random.below(3u32) {
                let index = random.below(damaged.len());
                damaged[index] = random.next_u32() as u8;
            }
            let mut left = &damaged[..];
            // The number of decoded rows is limited by the number of bytes.
            if J::decode(&mut left).is_some() {
                assert!(left.len() < damaged.len());
            }
        }
    }
}
