//! Table of the different sequences in memory.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Write};

use rayon::prelude::*;

use super::item::{DerepItem, DerepRules};
use super::runs::ItemHeader;

/// Number of entries or blocks that fills a table. One more chunk of reads still fits.
const MAX_ENTRIES: usize = 1 << 31;
/// Bytes that sorting takes for each entry.
const SORT_BYTES: usize = size_of::<EntryKey>();
/// Bytes of the index for each entry of its capacity. While it grows, the smaller index also takes
/// memory.
const INDEX_BYTES: usize = 30;

/// Index of an entry in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryId(u32);

impl EntryId {
    /// End of a list of entries.
    const END: EntryId = EntryId(u32::MAX);

    fn new(index: usize) -> Self {
        EntryId(index as u32)
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a block of reads in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReadBlockId(u32);

impl ReadBlockId {
    /// End of a list of blocks.
    const END: ReadBlockId = ReadBlockId(u32::MAX);

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A sequence in a table.
#[derive(Debug, Clone, Copy)]
struct TableEntry {
    hash: u64,
    size: u64,
    greatest_size: u64,
    /// Offset of the codes.
    codes: u64,
    /// Offset of the name, which is followed by the letters if these are respelled.
    name: u64,
    length: u32,
    name_length: u32,
    /// Next entry with the same hash.
    next: EntryId,
    /// Last block of reads.
    block: ReadBlockId,
    is_minus: bool,
    is_respelled: bool,
}

/// Reads of an entry: part of a list.
#[derive(Debug, Clone, Copy)]
struct ReadBlock {
    start: u64,
    length: u64,
    /// Previous block of the same entry.
    previous: ReadBlockId,
}

/// Hasher of hashes.
#[derive(Debug, Default)]
pub(super) struct HashOfHash(u64);

impl Hasher for HashOfHash {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u64(&mut self, hash: u64) {
        // The upper bits select the table, so they are equal in all entries.
        self.0 = hash.rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The different sequences of reads.
#[derive(Debug)]
pub(super) struct DerepTable {
    rules: DerepRules,
    /// Codes, names, letters and lists of reads.
    bytes: Vec<u8>,
    entries: Vec<TableEntry>,
    blocks: Vec<ReadBlock>,
    /// First entry of each hash.
    index: HashMap<u64, EntryId, BuildHasherDefault<HashOfHash>>,
}

/// Sort key of an entry of several tables.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryKey {
    size: u64,
    /// First symbols as a number, so that most comparisons need no symbols from the table.
    prefix: u64,
    length: u32,
    pub(super) table: u32,
    pub(super) entry: EntryId,
}

impl DerepTable {
    pub(super) fn new(rules: DerepRules) -> Self {
        DerepTable { rules, bytes: Vec::new(), entries: Vec::new(), blocks: Vec::new(), index: HashMap::default() }
    }

    /// Returns the number of different sequences.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of bytes that the table uses, including the memory for sorting it. Returns
    /// [`u64::MAX`] for a table with the maximum number of entries.
    pub(super) fn memory(&self) -> u64 {
        if self.entries.len().max(self.blocks.len()) >= MAX_ENTRIES {
            return u64::MAX;
        }
        let entries = self.entries.len() * (size_of::<TableEntry>() + SORT_BYTES);
        let blocks = self.blocks.len() * size_of::<ReadBlock>();
        (self.bytes.len() + entries + blocks + self.index.capacity() * INDEX_BYTES) as u64
    }

    /// Removes all sequences. Their memory is used again.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.blocks.clear();
        self.index.clear();
    }

    /// Adds an item with a list of its reads, which may be empty.
    pub(super) fn add(&mut self, item: &DerepItem<'_>, reads: &[u8]) {
        let new = EntryId::new(self.entries.len());
        let mut entry = *self.index.entry(item.hash).or_insert(new);
        if entry == new {
            return self.push(item, reads);
        }
        loop {
            if self.item(entry).equals(item, self.rules) {
                return self.join(entry, item, reads);
            }
            match self.entries[entry.index()].next {
                EntryId::END => break,
                next => entry = next,
            }
        }
        self.entries[entry.index()].next = new;
        self.push(item, reads);
    }

    /// Adds an item that follows all others in the order of hashes. Returns whether it is different
    /// from the last one.
    pub(super) fn add_in_order(&mut self, item: &DerepItem<'_>, reads: &[u8]) -> bool {
        let last = self.entries.len().checked_sub(1).map(EntryId::new);
        match last.filter(|&last| self.item(last).equals(item, self.rules)) {
            Some(last) => self.join(last, item, reads),
            None => {
                self.push(item, reads);
                return true;
            }
        }
        false
    }

    /// Returns whether an item equals the last one.
    pub(super) fn ends_with(&self, item: &DerepItem<'_>) -> bool {
        !self.entries.is_empty() && self.item(EntryId::new(self.entries.len() - 1)).equals(item, self.rules)
    }

    /// Removes the last sequence of a table that was filled in order if its abundance is below a
    /// minimum.
    pub(super) fn pop_below(&mut self, min_size: u64) {
        let Some(last) = self.entries.pop_if(|last| last.size < min_size) else { return };
        // In a table that was filled in order, the data of the last sequence are at the end.
        self.bytes.truncate(last.codes as usize);
        let mut block = last.block;
        while block != ReadBlockId::END {
            block = self.blocks[block.index()].previous;
            self.blocks.pop();
        }
    }

    fn push(&mut self, item: &DerepItem<'_>, reads: &[u8]) {
        let codes = self.append(item.codes);
        let name = self.append(item.name);
        self.append(item.respelled);
        self.entries.push(TableEntry {
            hash: item.hash,
            size: item.size,
            greatest_size: item.greatest_size,
            codes,
            name,
            length: item.codes.len() as u32,
            name_length: item.name.len() as u32,
            next: EntryId::END,
            block: ReadBlockId::END,
            is_minus: item.is_minus,
            is_respelled: !item.respelled.is_empty(),
        });
        self.add_reads(EntryId::new(self.entries.len() - 1), reads);
    }

    /// Adds an item to an entry with identical reads.
    fn join(&mut self, entry: EntryId, item: &DerepItem<'_>, reads: &[u8]) {
        let current = self.item(entry);
        let size = current.size + item.size;
        if item.representative_order(&current, self.rules) == Ordering::Less {
            let available = current.name.len() + current.respelled.len();
            let mut name = self.entries[entry.index()].name;
            if item.name.len() + item.respelled.len() <= available {
                let start = name as usize;
                let (name, respelled) = (item.name, item.respelled);
                self.bytes[start..][..name.len()].copy_from_slice(name);
                self.bytes[start + name.len()..][..respelled.len()].copy_from_slice(respelled);
            } else {
                name = self.append(item.name);
                self.append(item.respelled);
            }
            let current = &mut self.entries[entry.index()];
            current.greatest_size = item.greatest_size;
            current.name = name;
            current.name_length = item.name.len() as u32;
            current.is_minus = item.is_minus;
            current.is_respelled = !item.respelled.is_empty();
        }
        self.entries[entry.index()].size = size;
        self.add_reads(entry, reads);
    }

    fn add_reads(&mut self, entry: EntryId, reads: &[u8]) {
        if reads.is_empty() {
            return;
        }
        let start = self.append(reads);
        let block = ReadBlockId(self.blocks.len() as u32);
        let previous = std::mem::replace(&mut self.entries[entry.index()].block, block);
        self.blocks.push(ReadBlock { start, length: reads.len() as u64, previous });
    }

    /// Appends bytes, and returns their offset.
    fn append(&mut self, bytes: &[u8]) -> u64 {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        start
    }

    fn slice(&self, start: u64, length: u64) -> &[u8] {
        &self.bytes[start as usize..][..length as usize]
    }

    /// Returns a sequence.
    pub(super) fn item(&self, entry: EntryId) -> DerepItem<'_> {
        let entry = &self.entries[entry.index()];
        let (length, name_length) = (u64::from(entry.length), u64::from(entry.name_length));
        let respelled = if entry.is_respelled { length } else { 0 };
        DerepItem {
            hash: entry.hash,
            size: entry.size,
            greatest_size: entry.greatest_size,
            codes: self.slice(entry.codes, length),
            is_minus: entry.is_minus,
            name: self.slice(entry.name, name_length),
            respelled: self.slice(entry.name + name_length, respelled),
        }
    }

    /// Returns the lists of a sequence's reads.
    pub(super) fn reads(&self, entry: EntryId) -> impl Iterator<Item = &[u8]> {
        let first = self.entries[entry.index()].block;
        let block = |block: ReadBlockId| self.blocks.get(block.index());
        std::iter::successors(block(first), move |current| block(current.previous))
            .map(|block| self.slice(block.start, block.length))
    }

    /// Writes a sequence with its reads as an item of a run.
    pub(super) fn write(&self, entry: EntryId, out: &mut impl Write) -> io::Result<()> {
        let item = self.item(entry);
        let reads = self.reads(entry).map(|list| list.len() as u64).sum();
        out.write_all(bytemuck::bytes_of(&ItemHeader::new(&item, reads)))?;
        [item.codes, item.name, item.respelled].into_iter().try_for_each(|part| out.write_all(part))?;
        self.reads(entry).try_for_each(|list| out.write_all(list))
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.entries.len()).map(EntryId::new)
    }

    /// Returns all entries in the order of hashes.
    pub(super) fn in_hash_order(&self) -> Vec<EntryId> {
        let mut keys: Vec<(u64, EntryId)> = self.ids().zip(&self.entries).map(|(id, entry)| (entry.hash, id)).collect();
        keys.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| self.item(a.1).hash_order(&self.item(b.1), self.rules))
        });
        keys.into_iter().map(|(_, entry)| entry).collect()
    }
}

/// Returns the entries of all tables with at least this abundance, in the order of the output.
/// Sorts on the threads of the current pool.
pub(super) fn in_output_order(tables: &[DerepTable], rules: DerepRules, min_size: u64) -> Vec<EntryKey> {
    let mut keys = Vec::with_capacity(tables.iter().map(DerepTable::len).sum());
    for (number, table) in (0..).zip(tables) {
        for (entry, one) in table.ids().zip(&table.entries).filter(|(_, one)| one.size >= min_size) {
            let prefix = table.item(entry).prefix(rules.alphabet);
            keys.push(EntryKey { size: one.size, prefix, length: one.length, table: number, entry });
        }
    }
    let item = |key: &EntryKey| tables[key.table as usize].item(key.entry);
    keys.par_sort_unstable_by(|a, b| {
        let order = (b.size, b.length, a.prefix).cmp(&(a.size, a.length, b.prefix));
        order.then_with(|| item(a).output_order(&item(b), rules))
    });
    keys
}
