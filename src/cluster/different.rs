//! Different sequences of reads, and the reads that are identical to each.

use super::annotations::{sample, value, with_abundance, with_annotation, without_abundance};
use crate::seq::Strand;

/// A different sequence of the reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DifferentSequence<'a> {
    /// Name of its representative, as read: of the identical reads with the greatest abundance, the
    /// one with the smallest name.
    pub name: &'a [u8],
    /// Sum of the abundances of all identical reads, or of the identical reads of its sample.
    pub abundance: u64,
    /// Letters of its representative as read, in upper case.
    pub letters: &'a [u8],
    /// Whether reads of other samples are separate sequences.
    pub is_of_one_sample: bool,
    /// All identical reads, if they were requested: by abundance (descending), then by name. The
    /// first is the representative.
    pub reads: &'a [IdenticalRead<'a>],
}

/// A read that is identical to a [`DifferentSequence`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdenticalRead<'a> {
    /// Name as read.
    pub name: &'a [u8],
    /// Abundance that the name states.
    pub abundance: u64,
    /// The strand of the read that equals the representative.
    pub strand: Strand,
}

impl DifferentSequence<'_> {
    /// Returns the name with the abundance of the sequence. A sequence of one sample gets the
    /// annotation `sample`, if it lacks both `sample` and `barcodelabel`.
    pub fn annotated_name(&self) -> Vec<u8> {
        let is_annotated = || ["sample", "barcodelabel"].iter().any(|key| value(self.name, key).is_some());
        let sample = sample(self.name);
        if !self.is_of_one_sample || sample.is_empty() || is_annotated() {
            return with_abundance(self.name, self.abundance);
        }
        let name = with_annotation(without_abundance(self.name), "sample", sample);
        with_abundance(&name, self.abundance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_abundance_and_sample() {
        for (name, whole, of_one_sample) in [
            ("S1.7", "S1.7;size=5", "S1.7;sample=S1;size=5"),
            ("S1.7;size=2;", "S1.7;size=5", "S1.7;sample=S1;size=5"),
            ("r;size=2;sample=A", "r;sample=A;size=5", "r;sample=A;size=5"),
            ("r;barcodelabel=A;", "r;barcodelabel=A;size=5", "r;barcodelabel=A;size=5"),
            ("-", "-;size=5", "-;size=5"),
        ] {
            for (is_of_one_sample, expected) in [(false, whole), (true, of_one_sample)] {
                let sequence = DifferentSequence {
                    name: name.as_bytes(),
                    abundance: 5,
                    letters: b"A",
                    is_of_one_sample,
                    reads: &[],
                };
                assert_eq!(String::from_utf8(sequence.annotated_name()).unwrap(), expected);
            }
        }
    }
}
