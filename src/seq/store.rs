//! The sequence store: every sequence of a job, packed once, uploaded once.

use std::collections::BTreeMap;

use super::alphabet::{Alphabet, Code, PAD};
use super::bytes::Bytes;
use std::ops::Range;

/// Index of a sequence in its store, in input order.
pub type SequenceId = u32;

/// Packed sequences of one alphabet, in input order. Immutable once built.
///
/// Layout: one byte a symbol, each sequence stored after [`PAD`] bytes that fill it up to whole 32-bit words, so that
/// every sequence *ends* on a word boundary. Kernels read words backwards from the end and need no tail case. The symbols
/// may be in a file that is mapped ([`Subjects`](super::Subjects)).
#[derive(Debug, Clone)]
pub struct SequenceStore {
    alphabet: Alphabet,
    names: Names,
    lengths: Vec<u32>,
    /// Offset in bytes just past each sequence's last symbol; a multiple of 4.
    ends: Vec<usize>,
    codes: Bytes,
    /// What headers say after the names, where that was asked for. All after the last that says something lack here.
    descriptions: Option<Box<Texts>>,
    /// Qualities of FASTQ, where that was asked for: one character a symbol. All after the last that has some lack here.
    qualities: Option<Box<Texts>>,
}

impl SequenceStore {
    /// An empty store to add to.
    pub fn builder(alphabet: Alphabet) -> StoreBuilder {
        StoreBuilder {
            store: SequenceStore {
                alphabet,
                names: Names::default(),
                lengths: Vec::new(),
                ends: Vec::new(),
                codes: Bytes::default(),
                descriptions: None,
                qualities: None,
            },
        }
    }

    /// The alphabet of all sequences.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Number of sequences.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no sequence.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Name of a sequence: its header up to the first blank. What is not UTF-8 is U+FFFD here.
    pub fn name(&self, id: SequenceId) -> &str {
        self.names.get(id)
    }

    /// The same byte for byte as its file has it.
    pub fn name_bytes(&self, id: SequenceId) -> &[u8] {
        self.names.raw.get(&id).map_or(self.names.get(id).as_bytes(), Vec::as_slice)
    }

    /// What its header says after the name, byte for byte; empty where it says nothing, or the readers were not asked to
    /// keep it.
    pub fn description(&self, id: SequenceId) -> &[u8] {
        self.descriptions.as_ref().map_or(&[], |texts| texts.get(id as usize))
    }

    /// Its qualities as FASTQ has them, one character a symbol; empty where it has none, or the readers were not asked to keep
    /// them.
    pub fn qualities(&self, id: SequenceId) -> &[u8] {
        self.qualities.as_ref().map_or(&[], |texts| texts.get(id as usize))
    }

    /// How many names are not UTF-8.
    pub fn foreign_names(&self) -> usize {
        self.names.raw.len()
    }

    /// Length of a sequence in symbols.
    pub fn length(&self, id: SequenceId) -> u32 {
        self.lengths[id as usize]
    }

    /// Lengths of all sequences in symbols.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Codes of a sequence, without padding.
    pub fn codes(&self, id: SequenceId) -> &[Code] {
        let end = self.ends[id as usize];
        &self.codes[end - self.lengths[id as usize] as usize..end]
    }

    /// All sequences as they are uploaded: four symbols a word, the first in the lowest byte.
    pub fn packed_bytes(&self) -> &[u8] {
        &self.codes
    }

    /// One sequence as it is uploaded: its codes with the padding before them, whole words.
    pub fn packed_sequence(&self, id: SequenceId) -> &[u8] {
        let end = self.ends[id as usize];
        &self.codes[end - (self.lengths[id as usize] as usize).next_multiple_of(4)..end]
    }

    /// Index of the word just past a sequence's last symbol.
    pub fn end_word(&self, id: SequenceId) -> usize {
        self.ends[id as usize] / 4
    }

    /// The letters of a sequence, upper case (U reads as T).
    pub fn letters(&self, id: SequenceId) -> String {
        self.codes(id).iter().map(|&code| self.alphabet.decode(code) as char).collect()
    }

    /// Makes a store of what a file has of its sequences: all that is wanted of codes holds. There
    /// may be no descriptions.
    pub(super) fn of_parts(
        alphabet: Alphabet,
        names: Names,
        lengths: Vec<u32>,
        codes: Bytes,
        descriptions: Texts,
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
        }
    }

    /// Bytes of memory that it takes, in about.
    pub(super) fn memory(&self) -> u64 {
        let kept = [&self.descriptions, &self.qualities].into_iter().flatten().map(|texts| texts.bytes.len());
        let texts = self.names.text.len() + kept.sum::<usize>();
        let each = size_of::<u32>() + 3 * size_of::<usize>();
        (self.codes.len() + texts + self.len() * each) as u64
    }

    /// The same sequences; parts of what this gives are no copies.
    pub(super) fn shared(self) -> Self {
        let shared = |texts: Box<Texts>| Box::new(Texts { bytes: texts.bytes.shared(), ends: texts.ends });
        SequenceStore {
            codes: self.codes.shared(),
            descriptions: self.descriptions.map(shared),
            qualities: self.qualities.map(shared),
            ..self
        }
    }

    /// Some of its sequences.
    pub(super) fn part(&self, ids: Range<SequenceId>) -> Self {
        let range = ids.start as usize..ids.end as usize;
        let start = |ends: &[usize], index: usize| if index == 0 { 0 } else { ends[index - 1] };
        let code_start = start(&self.ends, range.start);
        let ends: Vec<usize> = self.ends[range.clone()].iter().map(|end| end - code_start).collect();
        let mut names = Names::default();
        ids.for_each(|id| names.push(self.name_bytes(id)));
        let some = |texts: &Option<Box<Texts>>| texts.as_ref().map(|texts| Box::new(texts.part(range.clone())));
        let (descriptions, qualities) = (some(&self.descriptions), some(&self.qualities));
        SequenceStore {
            alphabet: self.alphabet,
            names,
            lengths: self.lengths[range].to_vec(),
            codes: self.codes.part(code_start..code_start + ends.last().unwrap_or(&0)),
            ends,
            descriptions,
            qualities,
        }
    }
}

/// Stores are equal if what can be asked of them is, however they hold it.
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
pub(super) struct Names {
    text: String,
    /// Where each ends.
    ends: Vec<usize>,
    /// The bytes of those that are not UTF-8; few files have any.
    raw: BTreeMap<SequenceId, Vec<u8>>,
}

impl Names {
    fn get(&self, id: SequenceId) -> &str {
        let start = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.text[start..self.ends[id as usize]]
    }

    /// Takes names from all their bytes and the place where each ends.
    pub(super) fn of_bytes(bytes: &[u8], ends: Vec<usize>) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if ends.iter().all(|&end| text.is_char_boundary(end)) => {
                Names { text: text.to_owned(), ends, raw: BTreeMap::new() }
            }
            _ => {
                let mut names = Names::default();
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

/// Texts one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    pub bytes: Bytes,
    /// Where each ends.
    pub ends: Vec<usize>,
}

impl Texts {
    /// A text; empty after the last.
    fn get(&self, index: usize) -> &[u8] {
        let Some(&end) = self.ends.get(index) else { return &[] };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..end]
    }

    /// The texts of some indices.
    fn part(&self, range: Range<usize>) -> Texts {
        let start = |ends: &[usize], index: usize| if index == 0 { 0 } else { ends[index - 1] };
        let told = &self.ends[..range.end.min(self.ends.len())];
        let told_from = range.start.min(told.len());
        let told_start = start(told, told_from);
        let bytes = self.bytes.part(told_start..told.last().map_or(told_start, |&end| end));
        Texts { bytes, ends: told[told_from..].iter().map(|end| end - told_start).collect() }
    }

    /// Adds a text at an index after all others; those between are empty.
    fn put(&mut self, index: usize, text: &[u8]) {
        debug_assert!(index >= self.ends.len());
        self.ends.resize(index, self.bytes.len());
        self.bytes.own().extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }
}

/// Fills a [`SequenceStore`].
#[derive(Debug)]
pub struct StoreBuilder {
    store: SequenceStore,
}

impl StoreBuilder {
    /// Adds a sequence of codes; `Err` holds the position of the first that the alphabet lacks, and nothing is added:
    /// every engine indexes by codes unchecked, so that each has to be from 1 to [`Alphabet::size`]` - 1`. (Of
    /// [`Alphabet::Bytes`] that is any but [`PAD`].) An empty sequence is allowed here (the readers refuse it).
    ///
    /// # Panics
    /// For a sequence of 2^32 symbols or more.
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

    /// Adds a sequence given as letters; `Err` holds the position of the first letter that the alphabet lacks, and
    /// nothing is added.
    ///
    /// # Panics
    /// For a sequence of 2^32 symbols or more.
    pub fn push_letters(&mut self, name: impl Into<String>, letters: &[u8]) -> Result<(), usize> {
        let alphabet = self.store.alphabet;
        let codes: Vec<Code> = letters
            .iter()
            .enumerate()
            .map(|(position, &letter)| alphabet.encode(letter).ok_or(position))
            .collect::<Result<_, _>>()?;
        self.push_valid(name, &codes);
        Ok(())
    }

    /// [`StoreBuilder::push`] of codes that are known to be of the alphabet.
    pub(crate) fn push_valid(&mut self, name: impl Into<String>, codes: &[Code]) {
        let store = &mut self.store;
        debug_assert!(codes.iter().all(|&code| code != PAD && usize::from(code) < store.alphabet.size()));
        let padding = codes.len().next_multiple_of(4) - codes.len();
        let all = store.codes.own();
        all.extend(std::iter::repeat_n(PAD, padding));
        all.extend_from_slice(codes);
        store.ends.push(all.len());
        store.lengths.push(u32::try_from(codes.len()).expect("a sequence of 2^32 symbols or more"));
        store.names.push_text(&name.into());
    }

    /// Makes room for a sequence of at most so many codes; `Err` holds the bytes that were asked for and cannot be had.
    pub(super) fn reserve(&mut self, at_most: usize) -> Result<(), usize> {
        let codes = self.store.codes.own();
        let more = at_most.saturating_add(4);
        // Room for as many again, which spares copies, is more than is needed.
        codes.try_reserve(more).or_else(|_| codes.try_reserve_exact(more)).map_err(|_| codes.len().saturating_add(more))
    }

    /// Adds a sequence of at most `at_most` codes in place: `fill` gets that many bytes, writes codes to their front
    /// and returns how many. Spares the readers a second copy of each record. They refuse a sequence of 2^32 symbols or
    /// more, which is recorded here with a length that is too small.
    pub(super) fn push_with(&mut self, name: &[u8], at_most: usize, fill: impl FnOnce(&mut [Code]) -> usize) {
        let store = &mut self.store;
        let codes = store.codes.own();
        let start = codes.len();
        codes.resize(start + at_most.next_multiple_of(4), PAD);
        let length = fill(&mut codes[start..start + at_most]);
        // The codes belong at the end of their words; the number of words is known only now.
        let padding = length.next_multiple_of(4) - length;
        codes.copy_within(start..start + length, start + padding);
        codes[start..start + padding].fill(PAD);
        codes.truncate(start + padding + length);
        store.ends.push(codes.len());
        store.lengths.push(u32::try_from(length).unwrap_or(u32::MAX));
        store.names.push(name);
    }

    /// Removes the sequence added last, which has no symbols.
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
            texts.bytes.own().truncate(end);
        }
    }

    /// Adds codes that are known to be of the alphabet under the name of a sequence of another store.
    pub(crate) fn push_renamed(&mut self, store: &SequenceStore, id: SequenceId, codes: &[Code]) {
        self.push_valid(store.name(id), codes);
        if let Some(name) = store.names.raw.get(&id) {
            self.store.names.raw.insert(self.store.len() as SequenceId - 1, name.clone());
        }
    }

    /// Says what the header of the sequence added last has after the name.
    pub(super) fn describe(&mut self, description: &[u8]) {
        if !description.is_empty() {
            let texts = self.store.descriptions.get_or_insert_default();
            texts.put(self.store.lengths.len() - 1, description);
        }
    }

    /// Sets the qualities of the sequence added last.
    pub(super) fn qualify(&mut self, qualities: &[u8]) {
        if !qualities.is_empty() {
            let texts = self.store.qualities.get_or_insert_default();
            texts.put(self.store.lengths.len() - 1, qualities);
        }
    }

    /// Adds a sequence of another store with all that is known of it.
    pub(crate) fn push_from(&mut self, store: &SequenceStore, id: SequenceId) {
        self.push_renamed(store, id, store.codes(id));
        self.describe(store.description(id));
        self.qualify(store.qualities(id));
    }

    /// Codes of the sequence added last.
    pub(super) fn last_codes(&self) -> &[Code] {
        self.store.codes(self.store.len() as SequenceId - 1)
    }

    /// The sequences so far.
    pub(super) fn so_far(&self) -> &SequenceStore {
        &self.store
    }

    /// Words so far.
    pub(super) fn words(&self) -> usize {
        self.store.codes.len() / 4
    }

    /// Replaces the alphabet, and each code by `recode[code]`. [`PAD`] has to stay [`PAD`].
    pub(super) fn recode(&mut self, alphabet: Alphabet, recode: &[Code]) {
        debug_assert_eq!(recode[PAD as usize], PAD);
        self.store.alphabet = alphabet;
        for code in self.store.codes.own() {
            *code = recode[*code as usize];
        }
    }

    /// The finished store.
    pub fn build(self) -> SequenceStore {
        self.store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_cannot_be_had_is_told() {
        let mut builder = SequenceStore::builder(Alphabet::Dna);
        builder.push("a", &[1, 2, 4, 8]).unwrap();
        assert_eq!(builder.reserve(1 << 62), Err((1 << 62) + 8));
        builder.reserve(100).unwrap();
        assert!(builder.store.codes.own().capacity() >= 104);
    }

    #[test]
    fn codes_that_no_letter_has_are_refused() {
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
            // What was refused has left nothing behind.
            let store = builder.build();
            assert_eq!((store.len(), store.name(0), store.codes(0)), (2, "right", &right[..]));
            assert_eq!(store.codes(1), [0; 0]);
        }
    }
}
