//! The five definitions of identity that vsearch's `--iddef` offers.
//!
//! They are ratios of column counts. Each equals the value that vsearch 2.22 prints for the same
//! alignment. The alignments may differ, because vsearch has other default gap costs and breaks
//! ties in its own way. In vsearch's `=` columns, the sets of bases of the two codes intersect, as
//! under [`super::Ambiguity::Overlap`] and [`super::Ambiguity::Zero`].
//!
//! In a local alignment, only the columns of the two aligned parts count. Definitions 1, 2 and 4
//! are then the same, namely BLAST's. Definition 0 is the matching fraction of the shorter
//! sequence. Definition 3 counts only differences, so any short match of two long sequences would
//! seem nearly identical; jobs refuse it.

/// Column counts of an alignment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct AlignmentCounts {
    /// Columns of two matching symbols.
    pub matches: u64,
    /// Columns of two symbols that do not match.
    pub mismatches: u64,
    /// Columns with a gap, end gaps included.
    pub gap_columns: u64,
    /// Number of gaps, end gaps included. A gap is a maximal run of gap columns in one sequence.
    pub gap_openings: u64,
    /// Gap columns of the first and the last run of the alignment, if these runs are gaps.
    pub end_gap_columns: u64,
}

/// A definition of identity, with vsearch's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub enum IdentityDefinition {
    /// 0: matches / length of the shorter sequence (CD-HIT).
    Shorter,
    /// 1: matches / alignment columns.
    Columns,
    /// 2: matches / alignment columns without end gaps (the default, as in vsearch).
    #[default]
    InnerColumns,
    /// 3: 1 - (mismatches + gap openings) / length of the longer sequence, at least 0 (Marine
    /// Biological Lab). End gaps count as openings.
    Mbl,
    /// 4: as BLAST; the same as 1 in a global alignment.
    Blast,
}

impl IdentityDefinition {
    /// All five definitions, by number.
    pub const ALL: [IdentityDefinition; 5] = [
        IdentityDefinition::Shorter,
        IdentityDefinition::Columns,
        IdentityDefinition::InnerColumns,
        IdentityDefinition::Mbl,
        IdentityDefinition::Blast,
    ];

    /// Returns the definition with vsearch's number, 0 to 4.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns vsearch's number, 0 to 4.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the identity of an alignment of `query_length` and `target_length` symbols, from 0
    /// to 1. It is 0 where nothing is counted, for example if there are only end gaps.
    pub fn identity(self, counts: &AlignmentCounts, query_length: u32, target_length: u32) -> f64 {
        let (query_length, target_length) = (query_length as u64, target_length as u64);
        let columns = counts.matches + counts.mismatches + counts.gap_columns;
        let of_matches = |whole: u64| if whole == 0 { 0.0 } else { counts.matches as f64 / whole as f64 };
        match self {
            IdentityDefinition::Shorter => of_matches(query_length.min(target_length)),
            IdentityDefinition::Columns | IdentityDefinition::Blast => of_matches(columns),
            IdentityDefinition::InnerColumns => of_matches(columns - counts.end_gap_columns),
            IdentityDefinition::Mbl => match query_length.max(target_length) {
                0 => 0.0,
                longer => {
                    let differences = counts.mismatches + counts.gap_openings;
                    longer.saturating_sub(differences) as f64 / longer as f64
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of vsearch 2.22.1 under several schemes: its CIGAR, matches, mismatches, both
    /// lengths, and identities 0 to 4 in percent. In its CIGAR, M is a match or a mismatch,
    /// lengths of 1 are omitted, and I and D are exchanged.
    const VSEARCH: &str = "
        4I3M4D        2  1  7  7  28.6 18.2  66.7  57.1 18.2
        M3I3MI        3  1  4  8  75.0 37.5  42.9  62.5 37.5
        2IM3D2M2D5M4I 7  1 13 14  53.8 36.8  53.8  64.3 36.8
        5I2M          2  0  2  7 100.0 28.6 100.0  85.7 28.6
        6M            4  2  6  6  66.7 66.7  66.7  66.7 66.7
        DMI2M2I4M     7  0  8 10  87.5 63.6  70.0  70.0 63.6
        4DM5D3MD      3  1 14  4  75.0 21.4  33.3  71.4 21.4
        8M4D          6  2 12  8  75.0 50.0  75.0  75.0 50.0
        I6MI4M        4  6 10 12  40.0 33.3  36.4  33.3 33.3
        3IMDMDM4I     3  0  5 10  60.0 25.0  60.0  60.0 25.0
        I8D           0  0  8  1   0.0  0.0   0.0  75.0  0.0
        ID            0  0  1  1   0.0  0.0   0.0   0.0  0.0
        25I42MD12MD1381M8IM2IM3IM3I3MIM4IM7IM3IM8IM8IMIM7I                 1404 44 1450 1528 96.8 91.8 93.7 96.1 91.8
        15I69MD9MD31MI54MD200MI408MDMD10MI8MD10MD125MD5MI36MD110MI2MD355M3IM3IM8IM7I
                                                                          1315 121 1446 1477 90.9 88.4 89.8 90.5 88.4
        14I56M11I6M11I106MI265M2I22MD152MI369MD23MI112M2D152MD163M2D80M16I
                                                                          1331 175 1513 1563 88.0 84.8 86.4 88.0 84.8
        8D30M4IMIMI9M2I2M2I34MD3M2I35MD34MD11MI30MI4MD175MD35MIM3IM2IMI2M4IMIM4I2M4I178MI2MD170MI23MDMD5MI10MI125M2D11MI9MI6MI8M2I97MD29MI10MD188MD47M3D3M2D2MDMD2M8DMD9M2D10M2D6MDMDMD6M3D2MD2MD2M2D3MDM3DMDMD6MD2M2D4M4DMDM2D3MD2MDM2D
                                                                          1131 275 1477 1450 78.0 74.4 74.9 77.0 74.4
    ";

    fn counts(cigar: &str, matches: u64, mismatches: u64) -> AlignmentCounts {
        let mut counts = AlignmentCounts { matches, mismatches, ..Default::default() };
        let mut runs: Vec<(u64, char)> = Vec::new();
        let mut digits = String::new();
        for letter in cigar.chars() {
            if letter.is_ascii_digit() {
                digits.push(letter);
            } else {
                runs.push((digits.parse().unwrap_or(1), letter));
                digits.clear();
            }
        }
        for (position, &(length, letter)) in runs.iter().enumerate() {
            if letter != 'M' {
                counts.gap_columns += length;
                counts.gap_openings += 1;
                let is_end = position == 0 || position + 1 == runs.len();
                counts.end_gap_columns += if is_end { length } else { 0 };
            }
        }
        counts
    }

    #[test]
    fn identities_equal_vsearch_output() {
        let words: Vec<&str> = VSEARCH.split_whitespace().collect();
        assert_eq!(words.len(), 16 * 10);
        for row in words.as_chunks::<10>().0 {
            let number = |index: usize| row[index].parse::<u64>().unwrap();
            let counts = counts(row[0], number(1), number(2));
            for definition in IdentityDefinition::ALL {
                let identity = definition.identity(&counts, number(3) as u32, number(4) as u32);
                let printed = format!("{:.1}", 100.0 * identity);
                assert_eq!(printed, row[5 + definition.number() as usize], "{} {definition:?}", row[0]);
            }
        }
    }

    #[test]
    fn identity_without_columns_is_zero() {
        for definition in IdentityDefinition::ALL {
            assert_eq!(definition.identity(&AlignmentCounts::default(), 0, 0), 0.0);
            let end_gap = AlignmentCounts { gap_columns: 3, gap_openings: 1, end_gap_columns: 3, ..Default::default() };
            let expected = if definition == IdentityDefinition::Mbl { 2.0 / 3.0 } else { 0.0 };
            assert_eq!(definition.identity(&end_gap, 3, 0), expected);
        }
    }

    #[test]
    fn numbers_round_trip() {
        for number in 0..5 {
            assert_eq!(IdentityDefinition::from_number(number).unwrap().number(), number);
        }
        assert_eq!(IdentityDefinition::from_number(5), None);
        assert_eq!(IdentityDefinition::default().number(), 2);
    }
}
