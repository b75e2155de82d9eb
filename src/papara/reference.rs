//! A reference alignment with its tree, on which reads are placed.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use rayon::prelude::*;

use super::tree::{NodeId, ReferenceTree};
use super::vectors::{all, set_of};
use crate::error::{Error, InputLocation, Result};
use crate::seq::aligned::{aligned_code, is_gap};
use crate::seq::{AlignedRows, Alphabet, AlphabetChoice, is_standard};

/// Maximum number of unmatched names that an error lists, for the leaves and for the rows each.
const MAX_LISTED_NAMES: usize = 5;

/// A tree and the alignment of its leaves.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Alphabet of the rows.
    pub alphabet: Alphabet,
    /// The tree. Its leaves have the names of rows.
    pub tree: ReferenceTree,
    /// Names of the rows, in the order of the alignment.
    pub names: Vec<BString>,
    /// Rows of the alignment, all of the same length. Gaps are `-`.
    pub rows: Vec<Vec<u8>>,
    /// Columns (from 0) with information in at least one row. They are the sites of the state
    /// vectors.
    pub columns: Vec<u32>,
    /// Row of each node of the tree; `None` for inner nodes.
    leaf_rows: Vec<Option<u32>>,
    /// Set of characters that each byte of a row stands for.
    sets: [u32; 256],
}

impl Reference {
    /// Reads a tree and an alignment. Either file may be `-`, standard input, but not both.
    ///
    /// # Errors
    /// Returns the errors of [`ReferenceTree::read`], [`AlignedRows::read`] and [`Reference::new`].
    pub fn read(tree: impl AsRef<Path>, alignment: impl AsRef<Path>, alphabet: AlphabetChoice) -> Result<Reference> {
        if is_standard(tree.as_ref()) && is_standard(alignment.as_ref()) {
            return Err(Error::usage("standard input ('-') can be read only once"));
        }
        Reference::new(ReferenceTree::read(tree)?, AlignedRows::read(alignment)?, alphabet)
    }

    /// Matches the leaves of a tree with the rows of an alignment. If no row has the exact name of
    /// a leaf, underscores match blanks and blanks match underscores, as in Newick. The leaf is
    /// then renamed to the row's name.
    ///
    /// # Errors
    /// Returns [`Error::Input`] if a leaf has no row or a row has no leaf (the message lists both),
    /// if a row contains a letter outside the alphabet, or if no column has information. Returns
    /// [`Error::Usage`] for an alphabet other than DNA or protein.
    pub fn new(mut tree: ReferenceTree, aligned: AlignedRows, alphabet: AlphabetChoice) -> Result<Reference> {
        if alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) {
            return Err(Error::usage_of("alphabet", "a reference must be DNA or protein"));
        }
        let alphabet = aligned.check(alphabet)?;
        let AlignedRows { file, names, mut rows } = aligned;
        // PHYLIP has no other gap sign, and neither has the share of gaps.
        let gaps = rows.par_iter_mut().flat_map_iter(|row| row.iter_mut().filter(|letter| is_gap(**letter)));
        gaps.for_each(|letter| *letter = b'-');
        let leaf_rows = match_names(&mut tree, &names).map_err(|message| wrong(&file, message))?;
        let sets: [u32; 256] = std::array::from_fn(|letter| {
            aligned_code(alphabet, letter as u8).map_or(all(alphabet), |code| set_of(alphabet, code))
        });
        let columns = known_columns(&rows, &sets, all(alphabet));
        if columns.is_empty() {
            return Err(wrong(&file, "all rows consist of gaps and letters that stand for any character".into()));
        }
        warn_of_unknown_rows(&file, &names, &rows, |letter| sets[letter as usize] != all(alphabet));
        Ok(Reference { alphabet, tree, names, rows, columns, leaf_rows, sets })
    }

    /// Renames the rows and their leaves.
    ///
    /// # Panics
    /// Panics if there are fewer names than rows.
    pub fn rename(&mut self, names: Vec<BString>) {
        let leaves = self
            .leaf_rows
            .iter()
            .zip(0..)
            .filter_map(|(&row, leaf)| Some((NodeId(leaf), names[row? as usize].clone())));
        self.tree.rename(leaves);
        self.names = names;
    }

    /// Returns the number of sites.
    pub fn sites(&self) -> u32 {
        self.columns.len() as u32
    }

    /// Returns the row of a leaf, or `None` for an inner node.
    pub fn leaf_row(&self, node: NodeId) -> Option<u32> {
        self.leaf_rows[node.index()]
    }

    /// Returns the fraction of `-` among the letters of all rows at sites.
    pub fn gap_share(&self) -> f64 {
        let gaps: u64 = self
            .rows
            .par_iter()
            .map(|row| self.columns.iter().filter(|&&column| row[column as usize] == b'-').count() as u64)
            .sum();
        gaps as f64 / (self.rows.len() * self.columns.len()) as f64
    }

    /// Returns the sets of characters of a leaf at some sites. An unknown character gives the set
    /// of all characters. The iterator is empty for inner nodes.
    pub fn leaf_sets(&self, node: NodeId, sites: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let row = self.leaf_row(node).map(|row| &self.rows[row as usize]);
        let columns = &self.columns[sites.start as usize..sites.end as usize];
        row.into_iter().flat_map(move |row| columns.iter().map(move |&column| self.sets[row[column as usize] as usize]))
    }
}

fn wrong(file: &str, message: String) -> Error {
    Error::Input { location: InputLocation::in_file(file), message }
}

/// Warns about rows without an informative letter, because such rows do not affect any placement.
fn warn_of_unknown_rows(file: &str, names: &[BString], rows: &[Vec<u8>], is_known: impl Fn(u8) -> bool + Sync) {
    let has_none = |row: &Vec<u8>| !row.iter().any(|&letter| is_known(letter));
    let unknown: Vec<usize> = (0..rows.len()).into_par_iter().filter(|&row| has_none(&rows[row])).collect();
    let Some(&first) = unknown.first() else { return };
    let location =
        InputLocation { file: file.to_owned(), record: Some(names[first].to_string()), ..InputLocation::default() };
    let others = match unknown.len() {
        1 => String::new(),
        count => format!("; so do {} other rows", count - 1),
    };
    tracing::warn!("{location}: the row consists of gaps and letters that stand for any character{others}");
}

/// Returns the columns where some row's set does not contain all characters.
fn known_columns(rows: &[Vec<u8>], sets: &[u32; 256], all: u32) -> Vec<u32> {
    let is_known: [bool; 256] = std::array::from_fn(|letter| sets[letter] != all);
    let columns = rows.first().map_or(0, Vec::len);
    let none = || vec![false; columns];
    let known = rows
        .par_iter()
        .fold(none, |mut known, row| {
            known.iter_mut().zip(row).for_each(|(known, &letter)| *known |= is_known[letter as usize]);
            known
        })
        .reduce(none, |mut one, other| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
            one
        });
    (0..).zip(known).filter_map(|(column, is_known)| is_known.then_some(column)).collect()
}

/// Returns the row of each leaf, or an error message. Renames leaves to the names of their rows.
fn match_names(tree: &mut ReferenceTree, names: &[BString]) -> Result<Vec<Option<u32>>, String> {
    let rows: HashMap<&BStr, u32> = names.iter().map(|name| name.as_bstr()).zip(0..).collect();
    let mut leaf_rows: Vec<Option<u32>> =
        tree.names.iter().map(|name| rows.get(name.as_ref()?.as_bstr()).copied()).collect();
    let mut is_used = vec![false; names.len()];
    leaf_rows.iter().flatten().for_each(|&row| is_used[row as usize] = true);
    let mut renamed = Vec::new();
    for (node, name) in tree.leaves().filter(|&(leaf, _)| leaf_rows[leaf.index()].is_none()) {
        let others = [name.replace("_", " "), name.replace(" ", "_")];
        let row =
            others.iter().find_map(|name| rows.get(name.as_bstr()).copied()).filter(|&row| !is_used[row as usize]);
        if let Some(row) = row {
            is_used[row as usize] = true;
            renamed.push((node, row));
        }
    }
    for &(node, row) in &renamed {
        leaf_rows[node.index()] = Some(row);
    }
    tree.rename(renamed.into_iter().map(|(node, row)| (node, names[row as usize].clone())));
    let leaves = tree.leaves().filter(|&(leaf, _)| leaf_rows[leaf.index()].is_none()).map(|(_, name)| name);
    let rowless: Vec<&BStr> = leaves.collect();
    let rows = names.iter().zip(&is_used).filter(|(_, is_used)| !**is_used).map(|(name, _)| name.as_bstr());
    let leafless: Vec<&BStr> = rows.collect();
    let list = |names: &[&BStr]| {
        let listed = names.iter().take(MAX_LISTED_NAMES).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        if names.len() > MAX_LISTED_NAMES { format!("{listed}, ...") } else { listed }
    };
    let mut parts = Vec::new();
    if !rowless.is_empty() {
        let have = if rowless.len() == 1 { "leaf of the tree has" } else { "leaves of the tree have" };
        parts.push(format!("{} {have} no row: {}", rowless.len(), list(&rowless)));
    }
    if !leafless.is_empty() {
        let have = if leafless.len() == 1 { "row has" } else { "rows have" };
        parts.push(format!("{} {have} no leaf in the tree: {}", leafless.len(), list(&leafless)));
    }
    if parts.is_empty() { Ok(leaf_rows) } else { Err(parts.join("; ")) }
}
