//! Sequences that are added to an alignment, and the alignment of two alignments.

use std::sync::Arc;

use super::stages::StageClock;
use super::{MsaSummary, check_letters, check_mask, select};
use crate::alignment::insert::insert;
use crate::alignment::join::map_columns;
use crate::alignment::{ColumnSelection, Confidence, MultipleAlignment};
use crate::engine::thread_pool;
use crate::error::{Error, Result};
use crate::jobs::Run;
use crate::posterior::{self, large};
use crate::seq::aligned::{aligned_code, is_gap};
use crate::seq::{AlignedRows, Alphabet, Code, SequenceId, SequenceStore};

/// The sequences of an alignment, without gaps, and their columns.
#[derive(Debug, Clone)]
pub struct AlignedSequences {
    /// The sequences.
    pub sequences: Arc<SequenceStore>,
    /// Letters of the sequences as read.
    pub letters: Vec<Vec<u8>>,
    /// The alignment.
    pub alignment: MultipleAlignment,
}

impl AlignedSequences {
    /// Converts rows whose letters are in the alphabet ([`AlignedRows::check`]). `?` is an unknown
    /// residue.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] for letters that the alphabet lacks.
    pub fn new(rows: &AlignedRows, alphabet: Alphabet) -> Result<Self> {
        let unknown = if alphabet == Alphabet::Dna { b'N' } else { b'X' };
        let mut builder = SequenceStore::builder(alphabet);
        let (mut all_letters, mut places) = (Vec::new(), Vec::new());
        for (name, row) in rows.names.iter().zip(&rows.rows) {
            let residues = row.iter().zip(0u32..).filter(|(letter, _)| !is_gap(**letter));
            let (letters, columns): (Vec<u8>, Vec<u32>) = residues.map(|(&letter, column)| (letter, column)).unzip();
            let code = |&letter: &u8| aligned_code(alphabet, if letter == b'?' { unknown } else { letter });
            let codes: Option<Vec<Code>> = letters.iter().map(code).collect();
            let is_stored = codes.is_some_and(|codes| builder.push(name.to_string(), &codes).is_ok());
            if !is_stored {
                return Err(Error::Internal(format!("letters of {name} are not in the alphabet")));
            }
            all_letters.push(letters);
            places.push(columns);
        }
        let alignment = MultipleAlignment::new(rows.columns(), places).unwrap_or_default();
        Ok(AlignedSequences { sequences: Arc::new(builder.build()), letters: all_letters, alignment })
    }
}

/// Rows to align with an alignment.
#[derive(Debug, Clone)]
pub enum NewRows {
    /// Sequences that are added one by one.
    Sequences {
        /// The sequences.
        sequences: Arc<SequenceStore>,
        /// Whether to drop residues between two columns, so that no columns are inserted.
        keep_length: bool,
    },
    /// Another alignment, whose columns are kept too.
    Alignment(AlignedSequences),
}

/// The alignment of an alignment, whose columns are kept, with new rows.
#[derive(Debug, Clone)]
pub struct AddRows {
    /// The alignment.
    pub base: AlignedSequences,
    /// The new rows.
    pub new: NewRows,
    /// Whether to compute the confidence of residues and columns.
    pub needs_confidence: bool,
    /// Minimum confidence of the columns to select, from 0 to 1.
    pub mask: Option<f32>,
}

/// Result of [`AddRows::run`]. The rows of the alignment come first.
#[derive(Debug, Clone, Default)]
pub struct AddedRows {
    /// The alignment of all rows.
    pub alignment: MultipleAlignment,
    /// New column of each column of the given alignment.
    pub base_columns: Vec<u32>,
    /// Indices of the residues of each new sequence that were dropped to keep the length.
    pub dropped: Vec<Vec<u32>>,
    /// Confidence of residues and columns, if requested.
    pub confidence: Option<Confidence>,
    /// Columns with the minimum confidence, if one is given.
    pub selection: Option<ColumnSelection>,
}

impl AddedRows {
    /// Returns the residues of a new sequence, or values for them, without the dropped ones.
    pub fn kept<T: Copy>(&self, new: usize, residues: &[T]) -> Vec<T> {
        let is_kept = |at: &u32| self.dropped[new].binary_search(at).is_err();
        residues.iter().zip(0..).filter(|(_, at)| is_kept(at)).map(|(&residue, _)| residue).collect()
    }
}

impl AddRows {
    /// Returns the new sequences without gaps.
    fn new_sequences(&self) -> &Arc<SequenceStore> {
        match &self.new {
            NewRows::Sequences { sequences, .. } => sequences,
            NewRows::Alignment(aligned) => &aligned.sequences,
        }
    }

    /// Aligns all new rows. The result does not depend on the order of new sequences, except for
    /// the order of their rows.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for different alphabets, for no new sequence, and if no column has
    /// the minimum confidence; [`Error::Interrupted`] if the run is interrupted.
    pub fn run(&self, run: &Run) -> Result<(AddedRows, MsaSummary)> {
        let mut clock = StageClock::start();
        let new = self.new_sequences();
        check_letters(&self.base.sequences)?;
        check_mask(self.mask)?;
        if new.is_empty() {
            return Err(Error::usage("there is no sequence to add"));
        }
        let pool = thread_pool(run.threads)?;
        let mut rows = match &self.new {
            NewRows::Sequences { sequences, keep_length } => self.add(sequences, *keep_length, &pool, run)?,
            NewRows::Alignment(other) => self.join(other, &pool, run)?,
        };
        let mut summary = MsaSummary {
            sequences: self.base.sequences.len() + new.len(),
            columns: rows.alignment.columns(),
            alignment_seconds: clock.lap(),
            ..MsaSummary::default()
        };
        if self.needs_confidence || self.mask.is_some() {
            rows.confidence = Some(self.confidence(&rows, &pool, run)?);
            rows.selection = select(rows.confidence.as_ref(), self.mask, &mut summary)?;
            summary.confidence_seconds = clock.lap();
        }
        summary.seconds = clock.total();
        Ok((rows, summary))
    }

    fn aligned_base(&self) -> large::AlignedStore<'_> {
        large::AlignedStore { sequences: &self.base.sequences, alignment: &self.base.alignment }
    }

    fn add(
        &self,
        sequences: &SequenceStore,
        keep_length: bool,
        pool: &rayon::ThreadPool,
        run: &Run,
    ) -> Result<AddedRows> {
        let advance = |pairs, cells| run.progress.advance(pairs, cells);
        let mut placed = large::add(self.aligned_base(), sequences, pool, &advance, &run.interrupt)?;
        let mut dropped = vec![Vec::new(); placed.len()];
        if keep_length {
            for (row, dropped) in placed.iter_mut().zip(&mut dropped) {
                *dropped = row.iter().zip(0..).filter(|(column, _)| column.is_none()).map(|(_, at)| at).collect();
                row.retain(Option::is_some);
            }
        }
        let inserted = insert(self.base.alignment.columns(), &placed);
        let base_rows = (0..self.base.alignment.rows())
            .map(|row| map_columns(self.base.alignment.residue_columns(row), &inserted.base));
        let rows = base_rows.chain(inserted.added).collect();
        let alignment = finished(inserted.columns, rows)?;
        Ok(AddedRows { alignment, base_columns: inserted.base, dropped, ..AddedRows::default() })
    }

    fn join(&self, other: &AlignedSequences, pool: &rayon::ThreadPool, run: &Run) -> Result<AddedRows> {
        let second = large::AlignedStore { sequences: &other.sequences, alignment: &other.alignment };
        let joined = large::align_alignments(self.aligned_base(), second, pool, &run.interrupt)?;
        let [first_map, second_map] = joined.maps;
        let of_side = |alignment: &MultipleAlignment, map: &[u32]| -> Vec<Vec<u32>> {
            (0..alignment.rows()).map(|row| map_columns(alignment.residue_columns(row), map)).collect()
        };
        let rows = [of_side(&self.base.alignment, &first_map), of_side(&other.alignment, &second_map)].concat();
        let dropped = vec![Vec::new(); other.alignment.rows()];
        let alignment = finished(joined.columns, rows)?;
        Ok(AddedRows { alignment, base_columns: first_map, dropped, ..AddedRows::default() })
    }

    /// Computes the confidence of the alignment of all rows.
    fn confidence(&self, rows: &AddedRows, pool: &rayon::ThreadPool, run: &Run) -> Result<Confidence> {
        let (base, new) = (&self.base.sequences, self.new_sequences());
        let mut builder = SequenceStore::builder(base.alphabet());
        (0..base.len() as SequenceId).for_each(|id| builder.push_from(base, id));
        for id in 0..new.len() as SequenceId {
            builder.push_renamed(new, id, &rows.kept(id as usize, new.codes(id)));
        }
        let all = builder.build();
        let order: Vec<SequenceId> = (0..all.len() as SequenceId).collect();
        posterior::confidence(&all, &rows.alignment, &order, pool, &|_, _| (), &run.interrupt)
    }
}

fn finished(columns: usize, rows: Vec<Vec<u32>>) -> Result<MultipleAlignment> {
    MultipleAlignment::new(columns, rows).ok_or_else(|| Error::Internal("columns do not increase".into()))
}
