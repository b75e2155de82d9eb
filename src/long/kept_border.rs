//! Borders that are kept for a traceback. A sweep that prunes clears the pruned parts of a border,
//! and these parts take no memory.

use std::ops::Range;

use super::Border;

/// Number of entries that are searched for equal values at once.
pub(crate) const PART_ENTRIES: usize = 4096;

/// A border that is kept. Parts with equal values are stored as one value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptBorder {
    parts: Vec<BorderPart>,
}

/// A part of a border.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BorderPart {
    /// Index after the last entry.
    end: usize,
    values: PartValues,
}

/// The values of a part of a border.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartValues {
    /// Separate values.
    Separate(Border),
    /// H and the gap of every entry.
    Equal(i32, i32),
}

impl KeptBorder {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.parts.last().map_or(0, |part| part.end)
    }

    /// Returns whether the border has no entries.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the bytes of the values in memory.
    pub fn bytes(&self) -> u64 {
        let of_part = |part: &BorderPart| match &part.values {
            PartValues::Separate(border) => 4 * (border.h.capacity() + border.gap.capacity()),
            PartValues::Equal(..) => 0,
        };
        self.parts.iter().map(|part| (of_part(part) + size_of::<BorderPart>()) as u64).sum()
    }

    /// Appends `count` entries.
    pub(crate) fn push(&mut self, count: usize, values: PartValues) {
        let end = self.len() + count;
        match (self.parts.last_mut(), &values) {
            _ if count == 0 => {}
            (Some(last), PartValues::Equal(..)) if last.values == values => last.end = end,
            _ => self.parts.push(BorderPart { end, values }),
        }
    }

    /// Appends the entries of a border.
    pub(crate) fn push_border(&mut self, border: Border) {
        self.push(border.h.len(), PartValues::Separate(border));
    }

    /// Returns a part of the entries.
    pub fn slice(&self, range: Range<usize>) -> Border {
        let mut slice = Border { h: Vec::with_capacity(range.len()), gap: Vec::with_capacity(range.len()) };
        let first = self.parts.partition_point(|part| part.end <= range.start);
        let mut begin = first.checked_sub(1).map_or(0, |before| self.parts[before].end);
        for part in &self.parts[first..] {
            if begin >= range.end {
                break;
            }
            let (from, until) = (range.start.max(begin) - begin, range.end.min(part.end) - begin);
            match &part.values {
                PartValues::Separate(border) => {
                    slice.h.extend_from_slice(&border.h[from..until]);
                    slice.gap.extend_from_slice(&border.gap[from..until]);
                }
                &PartValues::Equal(h, gap) => {
                    slice.h.resize(slice.h.len() + until - from, h);
                    slice.gap.resize(slice.gap.len() + until - from, gap);
                }
            }
            begin = part.end;
        }
        slice
    }

    /// Returns all entries.
    pub fn into_border(mut self) -> Border {
        match self.parts.pop() {
            Some(BorderPart { values: PartValues::Separate(border), .. }) if self.parts.is_empty() => border,
            last => {
                self.parts.extend(last);
                self.slice(0..self.len())
            }
        }
    }
}

impl From<Border> for KeptBorder {
    fn from(mut border: Border) -> Self {
        // An engine that breaks its contract may deliver lists of different lengths.
        let entries = border.h.len().min(border.gap.len());
        border.h.truncate(entries);
        border.gap.truncate(entries);
        let is_equal = |(h, gap): (&[i32], &[i32])| {
            let equal = |values: &[i32]| values.iter().all(|&value| value == values[0]);
            equal(h) && equal(gap)
        };
        let parts = || border.h.chunks(PART_ENTRIES).zip(border.gap.chunks(PART_ENTRIES));
        let mut kept = KeptBorder::default();
        if parts().any(is_equal) {
            for (h, gap) in parts() {
                let values = match is_equal((h, gap)) {
                    true => PartValues::Equal(h[0], gap[0]),
                    false => PartValues::Separate(Border { h: h.to_vec(), gap: gap.to_vec() }),
                };
                kept.push(h.len(), values);
            }
        } else {
            border.h.shrink_to_fit();
            border.gap.shrink_to_fit();
            kept.push_border(border);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_borders_have_the_values_of_the_border() {
        let lengths = [0, 1, 2, PART_ENTRIES - 1, PART_ENTRIES, PART_ENTRIES + 1, 3 * PART_ENTRIES + 5];
        for length in lengths {
            // All different, all equal, and equal in the middle.
            for equal in [0..0, 0..length, length / 3..length] {
                let value = |at: usize| if equal.contains(&at) { 0 } else { at as i32 + 1 };
                let border =
                    Border { h: (0..length).map(value).collect(), gap: (0..length).map(|at| value(at) - 7).collect() };
                let kept = KeptBorder::from(border.clone());
                assert_eq!((kept.len(), kept.is_empty()), (length, length == 0));
                assert_eq!(kept.clone().into_border(), border);
                for range in [0..length, length / 2..length, length / 5..length / 2, length..length] {
                    let part = Border { h: border.h[range.clone()].to_vec(), gap: border.gap[range.clone()].to_vec() };
                    assert_eq!(kept.slice(range), part);
                }
                let separate = 8 * (length - equal.len()) as u64;
                assert!(kept.bytes() >= separate && kept.bytes() <= separate + 16 * PART_ENTRIES as u64 + 512);
            }
        }
    }

    #[test]
    fn appended_parts_follow_each_other() {
        let border = |range: Range<i32>| Border { h: range.clone().collect(), gap: range.collect() };
        let mut kept = KeptBorder::default();
        kept.push(3, PartValues::Equal(0, -5));
        kept.push(0, PartValues::Equal(1, 1));
        kept.push(2, PartValues::Equal(0, -5));
        kept.push_border(border(10..12));
        assert_eq!(kept.parts.len(), 2);
        assert_eq!(kept.slice(4..6), Border { h: vec![0, 10], gap: vec![-5, 10] });
        assert_eq!(
            kept.into_border(),
            Border { h: vec![0, 0, 0, 0, 0, 10, 11], gap: vec![-5, -5, -5, -5, -5, 10, 11] }
        );
    }
}
