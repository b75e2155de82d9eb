//! The sequence store: every sequence of a job, packed once and uploaded once.

use std::collections::BTreeMap;

use super::alphabet::{Alphabet, Code, PAD};
use super::bytes::SharedBytes;
use super::messages::{encode_letters, input_error};
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, InputLocation, Result};

/// Index of a sequence in its store, in input order.
pub type SequenceId = u32;

/// Packed sequences of one alphabet, in input order. A store does not change after it has been
/// built.
///
/// In memory, each symbol takes one byte. [`PAD`] bytes precede each sequence and complete it to
/// 32-bit words, so that every sequence *ends* at a word boundary. Kernels read words backwards
/// from the end and need no special case for the tail. The symbols may be in a mapped file
/// ([`Subjects`](super::Subjects)).
#[derive(Debug, Clone)]
pub struct SequenceStore {
    alphabet: Alphabet,
    names: NameStore,
    lengths: Vec<u32>,
    /// Offset in bytes just past each sequence's last symbol; a multiple of 4.
    ends: Vec<usize>,
    codes: SharedBytes,
    /// Descriptions after the names, if they were requested. Empty ones at the end are not stored.
    descriptions: Option<Box<TextList>>,
    /// Qualities of FASTQ, if they were requested: one character for each symbol. Empty ones at the
    /// end are not stored.
    qualities: Option<Box<TextList>>,
    /// File of the sequences as the user named it; `None` if they do not come from one file.
    file: Option<Arc<str>>,
}

impl SequenceStore {
    /// Returns a builder for a store.
    pub fn builder(alphabet: Alphabet) -> StoreBuilder {
        StoreBuilder {
            store: SequenceStore {
                alphabet,
                names: NameStore::default(),
                lengths: Vec::new(),
                ends: Vec::new(),
                codes: SharedBytes::default(),
                descriptions: None,
                qualities: None,
                file: None,
            },
        }
    }

    /// Returns the alphabet of all sequences.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Returns whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Returns the name of a sequence, which is its header up to the first blank. Bytes that are
    /// not UTF-8 are replaced by U+FFFD.
    pub fn name(&self, id: SequenceId) -> &str {
        self.names.get(id)
    }

    /// Returns the exact bytes of a sequence's name.
    pub fn name_bytes(&self, id: SequenceId) -> &[u8] {
        self.names.raw.get(&id).map_or(self.names.get(id).as_bytes(), Vec::as_slice)
    }

    /// Returns the exact bytes of the description after the name. It is empty if there is none, or
    /// if the readers did not keep it.
    pub fn description(&self, id: SequenceId) -> &[u8] {
        self.descriptions.as_ref().map_or(&[], |texts| texts.get(id as usize))
    }

    /// Returns the qualities as in FASTQ, one character for each symbol. They are empty if there
    /// are none, or if the readers did not keep them.
    pub fn qualities(&self, id: SequenceId) -> &[u8] {
        self.qualities.as_ref().map_or(&[], |texts| texts.get(id as usize))
    }

    /// Returns the location of the file that the sequences were read from.
    pub(crate) fn file_location(&self) -> InputLocation {
        InputLocation::in_file(self.file.as_deref().unwrap_or("memory"))
    }

    /// Returns the location of a record, as far as it is known.
    pub(crate) fn location(&self, id: SequenceId) -> InputLocation {
        let name = self.name(id);
        InputLocation { record: (!name.is_empty()).then(|| name.to_owned()), ..self.file_location() }
    }

    /// Returns the error of a record that the job or the output cannot use, with the location of the
    /// record as far as it is known.
    pub(crate) fn record_error(&self, id: SequenceId, message: impl Into<String>) -> Error {
        let (location, message) = (self.location(id), message.into());
        match (&self.file, location.record) {
            (Some(_), record) => input_error(InputLocation { record, ..self.file_location() }, message),
            (None, Some(record)) => Error::usage(format!("record '{record}': {message}")),
            (None, None) => Error::usage(message),
        }
    }

    /// Returns the number of names that are not UTF-8.
    pub fn foreign_names(&self) -> usize {
        self.names.raw.len()
    }

    /// Returns the length of a sequence in symbols.
    pub fn length(&self, id: SequenceId) -> u32 {
        self.lengths[id as usize]
    }

    /// Returns the lengths of all sequences in symbols.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the codes of a sequence, without padding. They are empty if the store has only names
    /// and lengths ([`TextParts::finish`](super::TextParts::finish)).
    pub fn codes(&self, id: SequenceId) -> &[Code] {
        let end = self.ends[id as usize];
        &self.codes[end.saturating_sub(self.lengths[id as usize] as usize)..end]
    }

    /// Returns all sequences in the form that is uploaded to devices: four symbols in each 32-bit
    /// word, the first in the lowest byte.
    pub fn packed_bytes(&self) -> &[u8] {
        &self.codes
    }

    /// Returns one sequence in the form that is uploaded to devices: its codes, preceded by padding
    /// to whole 32-bit words.
    pub fn packed_sequence(&self, id: SequenceId) -> &[u8] {
        let end = self.ends[id as usize];
        &self.codes[end - (self.lengths[id as usize] as usize).next_multiple_of(4)..end]
    }

    /// Returns the index of the word just past a sequence's last symbol.
    pub fn end_word(&self, id: SequenceId) -> usize {
        self.ends[id as usize] / 4
    }

    /// Returns the sequences under their names, each followed by `codes`, which must be in the
    /// alphabet. Descriptions and qualities are dropped.
    pub fn followed_by(&self, codes: &[Code]) -> SequenceStore {
        let mut builder = SequenceStore::builder(self.alphabet);
        (0..self.len() as SequenceId).for_each(|id| {
            builder.push_renamed(self, id, &[self.codes(id), codes].concat());
        });
        builder.build()
    }

    /// Returns the letters of a sequence, in upper case (with T for U).
    pub fn letters(&self, id: SequenceId) -> String {
        self.codes(id).iter().map(|&code| self.alphabet.decode(code) as char).collect()
    }

    /// Creates a store from parts of a database file. The codes must be valid and correctly padded.
    /// There may be no descriptions.
    pub(super) fn from_parts(
        alphabet: Alphabet,
        names: NameStore,
        lengths: Vec<u32>,
        codes: SharedBytes,
        descriptions: TextList,
    ) -> Self {
        debug_assert_eq!(lengths.len(), names.ends.len());
        let mut end = 0;
        let mut next = |&length: &u32| {
            end += (length as usize).next_multiple_of(4);
            end
        };
        let ends = lengths.iter().map(&mut next).collect();
        debug_assert_eq!(end, codes.len());
        SequenceStore {
            alphabet,
            names,
            lengths,
            ends,
            codes,
            descriptions: Some(Box::new(descriptions)),
            qualities: None,
            file: None,
        }
    }

    /// Sets the file that errors name.
    pub(super) fn with_file(self, name: &str) -> Self {
        SequenceStore { file: (!name.is_empty()).then(|| name.into()), ..self }
    }

    /// Returns the approximate size in memory, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let kept = [&self.descriptions, &self.qualities].into_iter().flatten().map(|texts| texts.bytes.len());
        let texts = self.names.text.len() + kept.sum::<usize>();
        let each = size_of::<u32>() + 3 * size_of::<usize>();
        (self.codes.len() + texts + self.len() * each) as u64
    }

    /// Moves the texts and codes into shared memory, so that taking a part of the store does not
    /// copy them.
    pub(super) fn shared(self) -> Self {
        let shared = |texts: Box<TextList>| Box::new(TextList { bytes: texts.bytes.shared(), ends: texts.ends });
        SequenceStore {
            codes: self.codes.shared(),
            descriptions: self.descriptions.map(shared),
            qualities: self.qualities.map(shared),
            ..self
        }
    }

    /// Returns a store of some of the sequences.
    pub(super) fn part(&self, ids: Range<SequenceId>) -> Self {
        let range = ids.start as usize..ids.end as usize;
        let start = |ends: &[usize], index: usize| if index == 0 { 0 } else { ends[index - 1] };
        let code_start = start(&self.ends, range.start);
        let ends: Vec<usize> = self.ends[range.clone()].iter().map(|end| end - code_start).collect();
        let mut names = NameStore::default();
        ids.for_each(|id| names.push(self.name_bytes(id)));
        let some = |texts: &Option<Box<TextList>>| texts.as_ref().map(|texts| Box::new(texts.part(range.clone())));
        let (descriptions, qualities) = (some(&self.descriptions), some(&self.qualities));
        SequenceStore {
            alphabet: self.alphabet,
            names,
            lengths: self.lengths[range].to_vec(),
            codes: self.codes.part(code_start..code_start + ends.last().unwrap_or(&0)),
            ends,
            descriptions,
            qualities,
            file: self.file.clone(),
        }
    }
}

/// Stores are equal if all their accessors return equal values, regardless of their representation.
impl PartialEq for SequenceStore {
    fn eq(&self, other: &Self) -> bool {
        let same = |id| {
            self.name_bytes(id) == other.name_bytes(id)
                && self.description(id) == other.description(id)
                && self.qualities(id) == other.qualities(id)
        };
        self.alphabet == other.alphabet
            && self.lengths == other.lengths
            && *self.codes == *other.codes
            && (0..self.len() as SequenceId).all(same)
    }
}

impl Eq for SequenceStore {}

/// Names, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct NameStore {
    text: String,
    /// End of each name in `text`.
    ends: Vec<usize>,
    /// Exact bytes of the names that are not UTF-8. Few files have any.
    raw: BTreeMap<SequenceId, Vec<u8>>,
}

impl NameStore {
    fn get(&self, id: SequenceId) -> &str {
        let start = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.text[start..self.ends[id as usize]]
    }

    /// Creates the names from their concatenated bytes and the end of each.
    pub(super) fn from_bytes(bytes: &[u8], ends: Vec<usize>) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if ends.iter().all(|&end| text.is_char_boundary(end)) => {
                NameStore { text: text.to_owned(), ends, raw: BTreeMap::new() }
            }
            _ => {
                let mut names = NameStore::default();
                let mut start = 0;
                for end in ends {
                    names.push(&bytes[start..end]);
                    start = end;
                }
                names
            }
        }
    }

    fn push(&mut self, name: &[u8]) {
        let text = String::from_utf8_lossy(name);
        if std::str::from_utf8(name).is_err() {
            self.raw.insert(self.ends.len() as SequenceId, name.to_vec());
        }
        self.push_text(&text);
    }

    fn push_text(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Removes the last name.
    fn pop(&mut self) {
        self.ends.pop();
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
        self.raw.remove(&(self.ends.len() as SequenceId));
    }
}

/// Texts, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct TextList {
    pub bytes: SharedBytes,
    /// End of each text.
    pub ends: Vec<usize>,
}

impl TextList {
    /// Returns a text. Texts after the last one are empty.
    fn get(&self, index: usize) -> &[u8] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..end]
    }

    /// Returns the texts of a range of indices.
    fn part(&self, range: Range<usize>) -> TextList {
        let start = |ends: &[usize], index: usize| if index == 0 { 0 } else { ends[index - 1] };
        let stored = &self.ends[..range.end.min(self.ends.len())];
        let first = range.start.min(stored.len());
        let start_byte = start(stored, first);
        let bytes = self.bytes.part(start_byte..stored.last().map_or(start_byte, |&end| end));
        TextList { bytes, ends: stored[first..].iter().map(|end| end - start_byte).collect() }
    }

    /// Adds a text with an index after all others. Missing texts before it are empty.
    fn put(&mut self, index: usize, text: &[u8]) {
        debug_assert!(index >= self.ends.len());
        self.ends.resize(index, self.bytes.len());
        self.bytes.to_mut().extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }
}

/// Builder of a [`SequenceStore`].
#[derive(Debug)]
pub struct StoreBuilder {
    store: SequenceStore,
}

impl StoreBuilder {
    /// Adds a sequence of codes. On failure, nothing is added, and `Err` contains the position of
    /// the first code that the alphabet lacks. Engines use codes as unchecked indices, so each must
    /// be from 1 to [`Alphabet::size`]` - 1`. In [`Alphabet::Bytes`], that is any code but [`PAD`].
    /// An empty sequence is allowed here, although the readers refuse it.
    ///
    /// # Panics
    /// Panics for a sequence of 2^32 symbols or more.
    pub fn push(&mut self, name: impl Into<String>, codes: &[Code]) -> Result<(), usize> {
        let size = self.store.alphabet.size();
        match codes.iter().position(|&code| code == PAD || usize::from(code) >= size) {
            Some(position) => Err(position),
            None => {
                self.push_valid(name, codes);
                Ok(())
            }
        }
    }

    /// Adds a sequence of letters. On failure, nothing is added.
    ///
    /// # Errors
    /// Returns [`Error::Input`] for a letter that the alphabet lacks, and for a sequence of 2^32
    /// symbols or more. The location has `memory` as the file, the name as the record, and the
    /// letter's column in bytes from 1.
    ///
    /// ```
    /// use pairwave::{Alphabet, SequenceStore};
    ///
    /// let mut builder = SequenceStore::builder(Alphabet::Dna);
    /// builder.push_letters("a", b"GATTACA")?;
    /// let error = builder.push_letters("b", b"GAT-ACA").unwrap_err();
    /// assert_eq!(error.to_string(), "memory, column 4, record 'b': '-' is not a letter of DNA/RNA");
    /// assert_eq!(builder.build().len(), 1);
    /// # Ok::<(), pairwave::Error>(())
    /// ```
    pub fn push_letters(&mut self, name: impl Into<String>, letters: impl AsRef<[u8]>) -> Result<()> {
        let (name, letters) = (name.into(), letters.as_ref());
        let location = || InputLocation { record: Some(name.clone()), ..InputLocation::in_file("memory") };
        if u32::try_from(letters.len()).is_err() {
            return Err(input_error(location(), "the sequence has 2^32 symbols or more"));
        }
        let codes = encode_letters(letters, self.store.alphabet, location)?;
        self.push_valid(name, &codes);
        Ok(())
    }

    /// Adds a sequence like [`StoreBuilder::push`]. The codes must be in the alphabet.
    pub(crate) fn push_valid(&mut self, name: impl Into<String>, codes: &[Code]) {
        let store = &mut self.store;
        debug_assert!(codes.iter().all(|&code| code != PAD && usize::from(code) < store.alphabet.size()));
        let padding = codes.len().next_multiple_of(4) - codes.len();
        let all = store.codes.to_mut();
        all.extend(std::iter::repeat_n(PAD, padding));
        all.extend_from_slice(codes);
        store.ends.push(all.len());
        store.lengths.push(u32::try_from(codes.len()).expect("a sequence of 2^32 symbols or more"));
        store.names.push_text(&name.into());
    }

    /// Reserves memory for a sequence of at most `max_symbols` codes. On failure, `Err` contains the
    /// number of bytes that were requested.
    pub(super) fn reserve(&mut self, max_symbols: usize) -> Result<(), usize> {
        let codes = self.store.codes.to_mut();
        let more = max_symbols.saturating_add(4);
        // `try_reserve` may double the capacity, which saves copies but is not necessary.
        codes.try_reserve(more).or_else(|_| codes.try_reserve_exact(more)).map_err(|_| codes.len().saturating_add(more))
    }

    /// Adds a sequence of at most `max_symbols` codes in place. `fill` gets that many bytes, writes
    /// codes to their front, and returns the number of codes. This saves the readers a second copy
    /// of each record. The readers refuse sequences of 2^32 symbols or more. This function would
    /// store a truncated length for them.
    pub(super) fn push_with(&mut self, name: &[u8], max_symbols: usize, fill: impl FnOnce(&mut [Code]) -> usize) {
        let start = self.bytes();
        self.extend_with(max_symbols, fill);
        self.close(start, name);
    }

    /// Returns the number of bytes of all codes so far. A sequence that is added in pieces starts
    /// there.
    pub(super) fn bytes(&self) -> usize {
        self.store.codes.len()
    }

    /// Appends at most `max_symbols` codes to a sequence that is added in pieces. `fill` works as in
    /// [`StoreBuilder::push_with`]. Returns the appended codes.
    pub(super) fn extend_with(&mut self, max_symbols: usize, fill: impl FnOnce(&mut [Code]) -> usize) -> &[Code] {
        let codes = self.store.codes.to_mut();
        let start = codes.len();
        codes.resize(start + max_symbols, PAD);
        let length = fill(&mut codes[start..]);
        codes.truncate(start + length);
        &codes[start..]
    }

    /// Ends a sequence that was added in pieces from byte `start` on.
    pub(super) fn close(&mut self, start: usize, name: &[u8]) {
        let store = &mut self.store;
        let codes = store.codes.to_mut();
        // The codes belong at the end of their words. The number of words is known only now.
        let length = codes.len() - start;
        let padding = length.next_multiple_of(4) - length;
        codes.resize(codes.len() + padding, PAD);
        codes.copy_within(start..start + length, start + padding);
        codes[start..start + padding].fill(PAD);
        store.ends.push(codes.len());
        store.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
        store.names.push(name);
    }

    /// Adds the name and the length of a sequence whose codes are not kept.
    pub(super) fn push_outline(&mut self, name: &[u8], length: u32) {
        self.store.ends.push(0);
        self.store.lengths.push(length);
        self.store.names.push(name);
    }

    /// Removes the last sequence, which must have no symbols.
    pub(super) fn pop_empty(&mut self) {
        let store = &mut self.store;
        debug_assert_eq!(store.lengths.last(), Some(&0));
        store.ends.pop();
        store.lengths.pop();
        store.names.pop();
        let count = store.lengths.len();
        if let Some(texts) = store.descriptions.as_mut().filter(|texts| texts.ends.len() > count) {
            texts.ends.truncate(count);
            let end = texts.ends.last().copied().unwrap_or(0);
            texts.bytes.to_mut().truncate(end);
        }
    }

    /// Adds codes under the name of a sequence of another store. The codes must be in the alphabet.
    pub(crate) fn push_renamed(&mut self, store: &SequenceStore, id: SequenceId, codes: &[Code]) {
        self.push_valid(store.name(id), codes);
        if let Some(name) = store.names.raw.get(&id) {
            self.store.names.raw.insert(self.store.len() as SequenceId - 1, name.clone());
        }
    }

    /// Sets the description of the last sequence.
    pub(super) fn describe(&mut self, description: &[u8]) {
        if !description.is_empty() {
            let texts = self.store.descriptions.get_or_insert_default();
            texts.put(self.store.lengths.len() - 1, description);
        }
    }

    /// Sets the qualities of the last sequence.
    pub(super) fn qualify(&mut self, qualities: &[u8]) {
        if !qualities.is_empty() {
            let texts = self.store.qualities.get_or_insert_default();
            texts.put(self.store.lengths.len() - 1, qualities);
        }
    }

    /// Adds a sequence of another store, with its description and qualities.
    pub(crate) fn push_from(&mut self, store: &SequenceStore, id: SequenceId) {
        self.push_renamed(store, id, store.codes(id));
        self.describe(store.description(id));
        self.qualify(store.qualities(id));
    }

    /// Returns the sequences so far.
    pub(super) fn records_so_far(&self) -> &SequenceStore {
        &self.store
    }

    /// Returns the number of words so far.
    pub(super) fn words(&self) -> usize {
        self.store.codes.len() / 4
    }

    /// Replaces the alphabet, and each code by `recode[code]`. [`PAD`] must stay [`PAD`].
    pub(super) fn recode(&mut self, alphabet: Alphabet, recode: &[Code]) {
        debug_assert_eq!(recode[PAD as usize], PAD);
        self.store.alphabet = alphabet;
        for code in self.store.codes.to_mut() {
            *code = recode[*code as usize];
        }
    }

    /// Returns the finished store.
    pub fn build(self) -> SequenceStore {
        self.store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_memory_is_reported() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        builder.push("a", &[1, 2, 4, 8]).unwrap();
        assert_eq!(builder.reserve(1 << 62), Err((1 << 62) + 8));
        builder.reserve(100).unwrap();
        assert!(builder.store.codes.to_mut().capacity() >= 104);
    }

    #[test]
    fn codes_outside_the_alphabet_are_refused() {
        for (alphabet, wrong) in [
            (Alphabet::Dna, [&[1, 0, 16][..], &[2, 16], &[255]]),
            (Alphabet::Protein, [&[1, 28][..], &[27, 27, 0], &[200]]),
            (Alphabet::Bytes, [&[0][..], &[255, 0], &[7, 7, 7, 0]]),
        ] {
            let mut builder = SequenceStore::builder(alphabet);
            for codes in wrong {
                let first = codes.iter().position(|&code| code == PAD || usize::from(code) >= alphabet.size());
                assert_eq!(builder.push("wrong", codes).err(), first, "{alphabet:?} {codes:?}");
            }
            let right: Vec<Code> = (1..alphabet.size()).map(|code| code as Code).collect();
            builder.push("right", &right).unwrap();
            builder.push("none", &[]).unwrap();
            // Refused sequences have left nothing behind.
            let store = builder.build();
            assert_eq!((store.len(), store.name(0), store.codes(0)), (2, "right", &right[..]));
            assert_eq!(store.codes(1), [0; 0]);
        }
    }
}
