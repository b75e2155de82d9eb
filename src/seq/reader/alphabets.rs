//! Decisions on the alphabet of files from the letters of their records.

use super::{Loaded, ReadOptions, Recorder};
use crate::error::{Error, Result};
use crate::seq::alphabet::{Alphabet, AlphabetChoice, Code};
use crate::seq::detect::{self, LetterCensus};
use crate::seq::messages::{input_error, letter_error};
use crate::seq::store::SequenceStore;

impl Recorder {
    /// Decides on the alphabet of all files. Also returns the conversion of the codes, if they were
    /// read in another alphabet.
    pub(in crate::seq) fn decide_alphabet(
        all: Vec<Self>,
        options: &ReadOptions,
    ) -> Result<(Alphabet, Option<Vec<Code>>)> {
        let read_as = all.first().map(|recorder| recorder.records_so_far().alphabet());
        let stores = build_stores(all.into_iter().map(|recorder| recorder.loaded).collect(), options)?;
        let none_read = match options.alphabet {
            AlphabetChoice::Detect => Alphabet::Protein,
            AlphabetChoice::Fixed(alphabet) => alphabet,
        };
        let alphabet = stores.first().map_or(none_read, SequenceStore::alphabet);
        let is_other = read_as.is_some_and(|read_as| read_as != alphabet);
        Ok((alphabet, is_other.then(|| detect::protein_to_dna().to_vec())))
    }
}

/// Decides on the alphabet from the records read so far, and returns these. The rest is read in
/// that alphabet.
pub(in crate::seq) fn decide_alphabet<const N: usize>(
    recorders: [&mut Recorder; N],
    options: &ReadOptions,
) -> Result<[SequenceStore; N]> {
    let take = |recorder: &mut Recorder| {
        let name = recorder.loaded.name.clone();
        let empty = Loaded {
            name,
            builder: SequenceStore::builder(Alphabet::Protein),
            census: LetterCensus::default(),
            first_foreign: None,
        };
        std::mem::replace(&mut recorder.loaded, empty)
    };
    let mut recorders = recorders;
    let stores = build_stores(recorders.iter_mut().map(|recorder| take(recorder)).collect(), options)?;
    let alphabet = stores.first().map_or(Alphabet::Protein, SequenceStore::alphabet);
    for recorder in recorders {
        recorder.table = detect::table(alphabet, options.degap);
        recorder.choice = AlphabetChoice::Fixed(alphabet);
        recorder.loaded.builder = SequenceStore::builder(alphabet);
    }
    stores.try_into().map_err(|_| Error::Internal("a store is missing".into()))
}

/// Decides on the alphabet of all files, converts their codes if necessary, and builds the stores.
pub(super) fn build_stores(mut files: Vec<Loaded>, options: &ReadOptions) -> Result<Vec<SequenceStore>> {
    if options.alphabet == AlphabetChoice::Detect {
        let mut census = LetterCensus::default();
        files.iter().for_each(|file| census.merge(&file.census));
        let alphabet = census.alphabet();
        if alphabet == Alphabet::Dna {
            if let Some((letter, location)) = files.iter_mut().find_map(|file| file.first_foreign.take()) {
                let message = format!(
                    "{}, the alphabet that was detected; give the alphabet if these are proteins",
                    letter_error(letter, AlphabetChoice::Fixed(alphabet))
                );
                return Err(input_error(location, message));
            }
            let recode = detect::protein_to_dna();
            files.iter_mut().for_each(|file| file.builder.recode(alphabet, &recode));
        }
        files.iter().for_each(|file| file.warn_of_alphabet(alphabet, "as all files together look"));
    }
    Ok(files.into_iter().map(|file| file.builder.build().with_file(&file.name)).collect())
}
