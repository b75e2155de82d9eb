//! A reference alignment with its tree: what reads are placed on.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};
use rayon::prelude::*;

use super::tree::{NodeId, Tree};
use super::vectors::{all, set_of};
use crate::error::{Error, InputLocation, Result};
use crate::seq::aligned::aligned_code;
use crate::seq::{AlignedRows, Alphabet, AlphabetChoice, is_standard};

/// How many names of either side an error lists.
const LISTED: usize = 5;

/// A tree and the alignment of its leaves.
#[derive(Debug, Clone)]
pub struct Reference {
    /// What the rows are of.
    pub alphabet: Alphabet,
    /// The tree. Its leaves have the names of rows.
    pub tree: Tree,
    /// Names of rows, in the alignment's order.
    pub names: Vec<BString>,
    /// Rows as the alignment has them, all of the same length.
    pub rows: Vec<Vec<u8>>,
    /// The columns, from 0, in which something is known of at least one row: sites of vectors of states.
    pub columns: Vec<u32>,
    /// Of each node of the tree that is a leaf its row.
    leaf_rows: Vec<Option<u32>>,
    /// The characters that a byte of a row may be.
    sets: [u32; 256],
}

impl Reference {
    /// Reads a tree and an alignment; of one of them `-` is standard input.
    ///
    /// # Errors
    /// As [`Tree::read`], [`AlignedRows::read`] and [`Reference::new`].
    pub fn read(tree: impl AsRef<Path>, alignment: impl AsRef<Path>, alphabet: AlphabetChoice) -> Result<Reference> {
        if is_standard(tree.as_ref()) && is_standard(alignment.as_ref()) {
            return Err(Error::usage("standard input ('-') can be read only once"));
        }
        Reference::new(Tree::read(tree)?, AlignedRows::read(alignment)?, alphabet)
    }

    /// The rows of a tree's leaves. Where no row has a leaf's name as it stands, underscores may stand for blanks or blanks for
    /// underscores, as Newick has it; the leaf then gets the row's name.
    ///
    /// # Errors
    /// [`Error::Input`] if a leaf has no row, a row no leaf (the message lists both), a row holds a letter that the alphabet
    /// lacks, or nothing is known of any column. [`Error::Usage`] for an alphabet that is neither DNA nor protein.
    pub fn new(mut tree: Tree, aligned: AlignedRows, alphabet: AlphabetChoice) -> Result<Reference> {
        if alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) {
            return Err(Error::usage_of("alphabet", "references are DNA or proteins"));
        }
        let alphabet = aligned.check(alphabet)?;
        let AlignedRows { file, names, rows } = aligned;
        let leaf_rows = match_names(&mut tree, &names).map_err(|message| wrong(&file, message))?;
        let sets: [u32; 256] = std::array::from_fn(|letter| {
            aligned_code(alphabet, letter as u8).map_or(all(alphabet), |code| set_of(alphabet, code))
        });
        let columns = known_columns(&rows, &sets, all(alphabet));
        if columns.is_empty() {
            return Err(wrong(&file, "no row has anything but gaps and letters that stand for any".into()));
        }
        warn_of_unknown_rows(&file, &names, &rows, |letter| sets[letter as usize] != all(alphabet));
        Ok(Reference { alphabet, tree, names, rows, columns, leaf_rows, sets })
    }

    /// Gives the rows and their leaves other names.
    ///
    /// # Panics
    /// If there are fewer names than rows.
    pub fn rename(&mut self, names: Vec<BString>) {
        let leaves =
            self.leaf_rows.iter().zip(0..).filter_map(|(&row, leaf)| Some((leaf, names[row? as usize].clone())));
        self.tree.rename(leaves);
        self.names = names;
    }

    /// Number of sites.
    pub fn sites(&self) -> u32 {
        self.columns.len() as u32
    }

    /// The row of a node that is a leaf.
    pub fn leaf_row(&self, node: NodeId) -> Option<u32> {
        self.leaf_rows[node as usize]
    }

    /// Share of the sign `-` among what rows have at sites.
    pub fn gap_share(&self) -> f64 {
        let gaps: u64 = self
            .rows
            .par_iter()
            .map(|row| self.columns.iter().filter(|&&column| row[column as usize] == b'-').count() as u64)
            .sum();
        gaps as f64 / (self.rows.len() * self.columns.len()) as f64
    }

    /// The characters that a leaf may have at some sites: of all nothing is known. Other nodes have none.
    pub fn leaf_sets(&self, node: NodeId, sites: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let row = self.leaf_row(node).map(|row| &self.rows[row as usize]);
        let columns = &self.columns[sites.start as usize..sites.end as usize];
        row.into_iter().flat_map(move |row| columns.iter().map(move |&column| self.sets[row[column as usize] as usize]))
    }
}

fn wrong(file: &str, message: String) -> Error {
    Error::Input { location: InputLocation::in_file(file), message }
}

/// Warns of rows without a letter that says something: their place in the tree decides nothing.
fn warn_of_unknown_rows(file: &str, names: &[BString], rows: &[Vec<u8>], is_known: impl Fn(u8) -> bool + Sync) {
    let has_none = |row: &Vec<u8>| !row.iter().any(|&letter| is_known(letter));
    let unknown: Vec<usize> = (0..rows.len()).into_par_iter().filter(|&row| has_none(&rows[row])).collect();
    let Some(&first) = unknown.first() else { return };
    let location =
        InputLocation { file: file.to_owned(), record: Some(names[first].to_string()), ..InputLocation::default() };
    let others = match unknown.len() {
        1 => String::new(),
        count => format!(", as have {} others", count - 1),
    };
    tracing::warn!("{location}: the row has nothing but gaps and letters that stand for any{others}");
}

/// Columns in which some row's set is not that of all characters.
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

/// Of each leaf its row, or what is wrong. Leaves get the names of their rows.
fn match_names(tree: &mut Tree, names: &[BString]) -> Result<Vec<Option<u32>>, String> {
    let rows: HashMap<&BStr, u32> = names.iter().map(|name| name.as_bstr()).zip(0..).collect();
    let mut found: Vec<Option<u32>> =
        tree.names.iter().map(|name| rows.get(name.as_ref()?.as_bstr()).copied()).collect();
    let mut is_used = vec![false; names.len()];
    found.iter().flatten().for_each(|&row| is_used[row as usize] = true);
    let mut renamed = Vec::new();
    for (node, name) in tree.leaves().filter(|&(leaf, _)| found[leaf as usize].is_none()) {
        let others = [name.replace("_", " "), name.replace(" ", "_")];
        let row =
            others.iter().find_map(|name| rows.get(name.as_bstr()).copied()).filter(|&row| !is_used[row as usize]);
        if let Some(row) = row {
            is_used[row as usize] = true;
            renamed.push((node, row));
        }
    }
    for &(node, row) in &renamed {
        found[node as usize] = Some(row);
    }
    tree.rename(renamed.into_iter().map(|(node, row)| (node, names[row as usize].clone())));
    let leaves = tree.leaves().filter(|&(leaf, _)| found[leaf as usize].is_none()).map(|(_, name)| name);
    let rowless: Vec<&BStr> = leaves.collect();
    let rows = names.iter().zip(&is_used).filter(|(_, is_used)| !**is_used).map(|(name, _)| name.as_bstr());
    let leafless: Vec<&BStr> = rows.collect();
    let list = |names: &[&BStr]| {
        let shown = names.iter().take(LISTED).map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        if names.len() > LISTED { format!("{shown}, ...") } else { shown }
    };
    let mut parts = Vec::new();
    if !rowless.is_empty() {
        let have = if rowless.len() == 1 { "leaf of the tree has" } else { "leaves of the tree have" };
        parts.push(format!("{} {have} no row here: {}", rowless.len(), list(&rowless)));
    }
    if !leafless.is_empty() {
        let are = if leafless.len() == 1 { "row is" } else { "rows are" };
        parts.push(format!("{} {are} no leaf of the tree: {}", leafless.len(), list(&leafless)));
    }
    if parts.is_empty() { Ok(found) } else { Err(parts.join("; ")) }
}
