//! The marks of Clustal below a block: `*` where all rows have one letter; in proteins `:` where all are of one group of residues
//! that replace each other readily, and `.` where all are of one of the weaker groups.

use super::Rows;
use crate::seq::Alphabet;

/// Groups of residues (ClustalX's help): those that score more than 0.5 in Gonnet's PAM 250 matrix, then those that score less.
const GROUPS: [&[u8]; 20] = [
    b"STA", b"NEQK", b"NHQK", b"NDEQ", b"QHRK", b"MILV", b"MILF", b"HY", b"FYW", //
    b"CSA", b"ATV", b"SAG", b"STNK", b"STPA", b"SGND", b"SNDEQK", b"NDEQHK", b"NEQHRK", b"FVLIM", b"HFY",
];
/// The first nine.
const STRONG: u32 = (1 << 9) - 1;

/// What is known of a column.
#[derive(Clone, Copy)]
struct Column {
    residues: u32,
    /// The first row's letter, upper case.
    letter: u8,
    is_mixed: bool,
    /// The groups that all residues belong to.
    groups: u32,
}

/// The mark of every column; lower case letters count as upper case ones.
pub(super) fn marks(rows: &Rows<'_>) -> Vec<u8> {
    let of_letter: [u32; 256] = std::array::from_fn(|letter| {
        let has = |group: &[u8]| group.contains(&(letter as u8).to_ascii_uppercase());
        (0..).zip(GROUPS).map(|(bit, group)| u32::from(has(group)) << bit).sum()
    });
    let unknown = Column { residues: 0, letter: 0, is_mixed: false, groups: u32::MAX };
    let mut columns = vec![unknown; rows.columns()];
    for at in 0..rows.order.len() {
        for (place, letter) in rows.residues(at) {
            let column = &mut columns[place];
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
    let mark = |column: &Column| match column {
        column if column.residues as usize != rows.order.len() => b' ',
        column if !column.is_mixed => b'*',
        column if has_groups && column.groups & STRONG != 0 => b':',
        column if has_groups && column.groups != 0 => b'.',
        _ => b' ',
    };
    columns.iter().map(mark).collect()
}
