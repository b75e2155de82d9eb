//! Clustal's marks below a block. `*` means that all rows have the same letter. In proteins, `:`
//! means that all letters belong to one group of residues that readily replace each other, and `.`
//! that they belong to a weaker group.

use super::MsaRows;
use crate::seq::Alphabet;

/// Groups of residues (ClustalX's help): first the groups with scores above 0.5 in Gonnet's PAM 250
/// matrix, and then the weaker groups.
const GROUPS: [&[u8]; 20] = [
    b"STA", b"NEQK", b"NHQK", b"NDEQ", b"QHRK", b"MILV", b"MILF", b"HY", b"FYW", //
    b"CSA", b"ATV", b"SAG", b"STNK", b"STPA", b"SGND", b"SNDEQK", b"NDEQHK", b"NEQHRK", b"FVLIM", b"HFY",
];
/// Bits of the first nine groups, which are the strong ones.
const STRONG: u32 = (1 << 9) - 1;

/// State of a column while its rows are added.
#[derive(Clone, Copy)]
struct ConservationColumn {
    residues: u32,
    /// Letter of the first row, in upper case.
    letter: u8,
    is_mixed: bool,
    /// Groups that contain all residues of the column.
    groups: u32,
}

/// Returns the mark of every column. Lower case letters count as upper case letters.
pub(super) fn marks(rows: &MsaRows<'_>) -> Vec<u8> {
    let of_letter: [u32; 256] = std::array::from_fn(|letter| {
        let has = |group: &[u8]| group.contains(&(letter as u8).to_ascii_uppercase());
        (0..).zip(GROUPS).map(|(bit, group)| u32::from(has(group)) << bit).sum()
    });
    let unknown = ConservationColumn { residues: 0, letter: 0, is_mixed: false, groups: u32::MAX };
    let mut columns = vec![unknown; rows.columns()];
    for at in 0..rows.order.len() {
        for (index, letter) in rows.residues(at) {
            let column = &mut columns[index];
            let upper = letter.to_ascii_uppercase();
            if column.residues == 0 {
                column.letter = upper;
            }
            column.is_mixed |= column.letter != upper;
            column.groups &= of_letter[letter as usize];
            column.residues += 1;
        }
    }
    let has_groups = rows.alphabet == Alphabet::Protein;
    let mark = |column: &ConservationColumn| match column {
        column if column.residues as usize != rows.order.len() => b' ',
        column if !column.is_mixed => b'*',
        column if has_groups && column.groups & STRONG != 0 => b':',
        column if has_groups && column.groups != 0 => b'.',
        _ => b' ',
    };
    columns.iter().map(mark).collect()
}
