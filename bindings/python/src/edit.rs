//! Edit distances of two texts.

use std::collections::HashMap;
use std::sync::Arc;

use pairwave::score::{EditMode, EditScheme, Equality, Limit};
use pairwave::seq::AlphabetChoice;
use pairwave::{Against, Alphabet, EditDistances, Job, ReadOptions, SequenceStore};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::invalid;
use crate::input::{Letters, Sequences, stores};
use crate::options::Options;
use crate::run::{RunOptions, run};

/// Maximum number of cells that the calling thread computes, in about a second. Longer computations
/// can be interrupted.
const MAX_DIRECT_CELLS: u64 = 1 << 33;

/// Arguments that define the distance.
pub(crate) struct DistanceOptions {
    mode: EditMode,
    limit: Limit,
    pub(crate) alphabet: Option<Alphabet>,
}

impl DistanceOptions {
    /// Takes `mode`, `k` and `alphabet`.
    pub(crate) fn take(options: &mut Options<'_>) -> PyResult<Self> {
        let modes = [
            ("global", EditMode::Global),
            ("infix", EditMode::Infix),
            ("prefix", EditMode::Prefix),
            ("NW", EditMode::Global),
            ("HW", EditMode::Infix),
            ("SHW", EditMode::Prefix),
        ];
        let alphabets = [("text", None), ("dna", Some(Alphabet::Dna)), ("protein", Some(Alphabet::Protein))];
        Ok(DistanceOptions {
            mode: options.word("mode", &modes)?.unwrap_or_default(),
            limit: options.take("k")?.map_or(Limit::None, Limit::Distance),
            alphabet: options.word("alphabet", &alphabets)?.flatten(),
        })
    }

    /// Returns the limit of the distance.
    pub(crate) fn k(&self) -> Option<u32> {
        if let Limit::Distance(k) = self.limit { Some(k) } else { None }
    }

    /// Returns whether the distance of two sequences is the same in both orders.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.mode == EditMode::Global
    }

    /// Returns the scheme in the form of the library.
    pub(crate) fn scheme(&self) -> EditScheme {
        let equality = match self.alphabet {
            Some(Alphabet::Dna) => Equality::dna(pairwave::Ambiguity::Overlap, true),
            alphabet => Equality::literal(alphabet.unwrap_or(Alphabet::Bytes)),
        };
        EditScheme { mode: self.mode, equality, limit: self.limit }
    }

    /// Encodes sets of sequences.
    pub(crate) fn stores<const N: usize>(
        &self,
        py: Python<'_>,
        sets: [(&str, &Sequences); N],
    ) -> PyResult<[Arc<SequenceStore>; N]> {
        let has_file = sets.iter().any(|(_, set)| matches!(set, Sequences::File(_)));
        if self.alphabet.is_none() && !has_file {
            return text_stores(sets);
        }
        let alphabet = AlphabetChoice::Fixed(self.alphabet.unwrap_or(Alphabet::Bytes));
        stores(py, sets, &ReadOptions { alphabet, ..ReadOptions::default() })
    }
}

/// Numbers the different symbols of texts from 1, in the order of their first occurrence. Characters
/// of str and values of bytes below 128 are the same symbols.
struct SymbolCodes {
    /// Code of each symbol below 256. 0 if it has none yet.
    narrow: [u8; 256],
    /// Codes of the other symbols.
    wide: HashMap<u32, u8>,
    /// Number of codes.
    count: usize,
}

impl SymbolCodes {
    /// Returns the codes of a text. Fails at the 256th symbol.
    fn encode(&mut self, letters: &Letters) -> PyResult<Vec<u8>> {
        match letters {
            Letters::Text(text) => text.chars().map(|letter| self.code(letter.into())).collect(),
            Letters::Bytes(bytes) => bytes.iter().map(|&byte| self.code(byte.into())).collect(),
        }
    }

    fn code(&mut self, symbol: u32) -> PyResult<u8> {
        let code = match self.narrow.get_mut(symbol as usize) {
            Some(code) => code,
            None => self.wide.entry(symbol).or_insert(0),
        };
        if *code == 0 {
            self.count += 1;
            let next = u8::try_from(self.count);
            *code = next.map_err(|_| invalid("the texts have more than 255 different characters"))?;
        }
        Ok(*code)
    }
}

/// Encodes texts by their characters.
fn text_stores<const N: usize>(sets: [(&str, &Sequences); N]) -> PyResult<[Arc<SequenceStore>; N]> {
    let mut symbols = SymbolCodes { narrow: [0; 256], wide: HashMap::new(), count: 0 };
    let mut encoded = Vec::with_capacity(N);
    for (set, sequences) in sets {
        let mut builder = SequenceStore::builder(Alphabet::Bytes);
        let Sequences::Records(records) = sequences else { continue };
        if records.is_empty() {
            return Err(invalid(format!("{set}: there are no sequences")));
        }
        for record in records {
            let codes = symbols.encode(&record.letters)?;
            builder.push(record.name.as_str(), &codes).map_err(|at| invalid(format!("{set}: no code at {at}")))?;
        }
        encoded.push(Arc::new(builder.build()));
    }
    let mut encoded = encoded.into_iter();
    Ok(std::array::from_fn(|_| encoded.next().expect("there is a store for every set")))
}

/// Returns the Levenshtein distance of two sequences: the least number of symbols to insert, delete
/// or replace. Returns None if it is above k.
///
/// a, b: str, bytes or bytearray. By default symbols are characters, and all of them count.
/// mode: 'global' (default), 'infix' (all of a with the nearest part of b) or 'prefix' (the nearest
///     part at the start of b); edlib's names 'NW', 'HW' and 'SHW' work as well
/// k: greatest distance of interest (default: none)
/// alphabet: 'text' (default), 'dna' (IUPAC codes match if they share a base, case does not count) or
///     'protein' (case does not count)
/// devices, threads, memory: as for --device, --threads and --memory (in bytes)
/// progress: function that is called with the computed and the total cells of the matrix
#[pyfunction]
#[pyo3(
    signature = (a, b, **options),
    text_signature = "(a, b, *, mode='global', k=None, alphabet='text', devices=None, threads=None, memory=None, \
                      progress=None)"
)]
pub(crate) fn edit_distance(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<u32>> {
    let mut options = Options::new(py, "edit_distance", options)?;
    let distance = DistanceOptions::take(&mut options)?;
    let has_run_options = options.has_any(&["devices", "threads", "memory", "progress"])?;
    let run_options = RunOptions::take(&mut options)?;
    options.end()?;
    let wrong = || PyTypeError::new_err("edit_distance() compares two str, bytes or bytearray; cdist() compares lists");
    let a = Sequences::of_one(Letters::read(a)?.ok_or_else(wrong)?);
    let b = Sequences::of_one(Letters::read(b)?.ok_or_else(wrong)?);
    let [patterns, texts] = distance.stores(py, [("a", &a), ("b", &b)])?;
    let cells = u64::from(patterns.length(0)) * u64::from(texts.length(0));
    let is_literal = distance.mode == EditMode::Global && distance.alphabet != Some(Alphabet::Dna);
    if is_literal && cells <= MAX_DIRECT_CELLS && !has_run_options {
        let least = py.detach(|| pairwave::edit_distance(patterns.codes(0), texts.codes(0)));
        return Ok(Some(least).filter(|&least| distance.k().is_none_or(|k| least <= k)));
    }
    let job = EditDistances::new(patterns, Against::Texts(texts), Arc::new(distance.scheme()));
    run(py, run_options, cells, |run| {
        let mut least = None;
        job.run(run, |rows| {
            least = rows.first().map(|row| row.distance).or(least);
            Ok(())
        })?;
        Ok(least)
    })
}
