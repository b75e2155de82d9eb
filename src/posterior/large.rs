//! Sets of sequences too large for the probabilities of all pairs.
//!
//! 1. A guide tree of longest common subsequences with some sequences ([`crate::tree::embedded`]).
//! 2. Subtrees of few sequences, each aligned by all its pairs.
//! 3. Those are joined along the tree by their profiles: forward and backward sums over all alignments of two profiles
//!    say how probable it is that two columns belong together.

mod columns;
mod join;
mod lcs;
mod letters;
mod math;
mod model;
mod profile;
#[cfg(test)]
mod tests;
mod tree;
mod tuning;

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use self::join::{Group, Representative, Task, chosen};
use self::letters::Letters;
use self::profile::Profile;
use self::tree::Families;
use self::tuning::Tuning;
use super::model::Model;
use super::progressive::Aligned;
use super::{LONGEST, Options, align_few};
use crate::alignment::MultipleAlignment;
use crate::alignment::join::{JoinedColumns, move_places, moved};
use crate::seq::{Code, SequenceId, SequenceStore};
use crate::simd::InstructionSet;
use crate::tree::GuideTree;
use crate::{Error, Result};

/// How large what is aligned by all pairs may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sequences.
    pub sequences: usize,
    /// Cells of all pairs.
    pub cells: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { sequences: 50, cells: 2_000_000_000 }
    }
}

/// Bytes of families that are aligned at the same time.
const AT_ONCE: u64 = 2 << 30;

/// Aligns all sequences of a store, however many there are. `advance` hears of pairs and cells. The result depends on nothing
/// but sequences, options and limits.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] of bytes.
pub fn align(
    store: &SequenceStore,
    options: &Options,
    limits: &Limits,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    align_with(store, options, limits, InstructionSet::best(), pool, advance, interrupt)
}

fn align_with(
    store: &SequenceStore,
    options: &Options,
    limits: &Limits,
    level: InstructionSet,
    pool: &rayon::ThreadPool,
    advance: &(dyn Fn(u64, u64) + Sync),
    interrupt: &AtomicBool,
) -> Result<(MultipleAlignment, GuideTree)> {
    let (Some(model), Some(letters)) = (Model::new(store.alphabet()), Letters::new(store.alphabet())) else {
        return Err(Error::usage("multiple alignments are of proteins and of nucleotides"));
    };
    let sequences: Vec<&[Code]> = (0..store.len() as SequenceId).map(|id| store.codes(id)).collect();
    let guide = tree::guide(&sequences, store.alphabet().size(), pool);
    let weights = tree::weights(&guide);
    let task = Task { model: &model, letters: &letters, tuning: &Tuning::default(), sequences: &sequences, level };
    pool.install(|| {
        let lengths: Vec<usize> = sequences.iter().map(|sequence| sequence.len()).collect();
        let fits =
            |size: &tree::Size| size.leaves <= limits.sequences && size.cells <= limits.cells && size.longest < LONGEST;
        let families = tree::families(&guide, &lengths, fits);
        let small = Small { task: &task, options, advance, interrupt };
        let aligned = small.all(&families.members)?;
        let places = joined(&task, &families, aligned, &weights, interrupt)?;
        let finished = places.finished().ok_or_else(|| Error::Internal("columns do not rise".into()))?;
        Ok((finished, guide))
    })
}

/// What families are aligned with.
struct Small<'a> {
    task: &'a Task<'a>,
    options: &'a Options,
    advance: &'a (dyn Fn(u64, u64) + Sync),
    interrupt: &'a AtomicBool,
}

impl Small<'_> {
    /// All of them, as many at a time as memory is for.
    fn all(&self, families: &[Vec<usize>]) -> Result<Vec<Aligned>> {
        let mut aligned = Vec::with_capacity(families.len());
        let mut rest = families;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |family: &&Vec<usize>| {
                bytes += super::memory(&self.lengths(family));
                bytes <= AT_ONCE
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            aligned.extend(now.par_iter().map(|family| self.one(family)).collect::<Result<Vec<_>>>()?);
            rest = later;
        }
        Ok(aligned)
    }

    fn lengths(&self, family: &[usize]) -> Vec<u32> {
        family.iter().map(|&member| self.task.sequences[member].len() as u32).collect()
    }

    fn one(&self, family: &[usize]) -> Result<Aligned> {
        if let &[alone] = family {
            return Ok(Aligned::one(alone, self.task.sequences[alone].len()));
        }
        let sequences: Vec<&[Code]> = family.iter().map(|&member| self.task.sequences[member]).collect();
        let Task { model, level, .. } = *self.task;
        let few = align_few(model, &sequences, self.options, None, level, self.advance, self.interrupt)?;
        let mut aligned = few.aligned;
        aligned.members = aligned.members.iter().map(|&member| family[member]).collect();
        Ok(aligned)
    }
}

/// Families joined along the tree.
fn joined(
    task: &Task,
    families: &Families,
    aligned: Vec<Aligned>,
    weights: &[f32],
    interrupt: &AtomicBool,
) -> Result<Aligned> {
    let group = |aligned: &Aligned| {
        let all = aligned.members.iter().zip(&aligned.places).map(|(&sequence, places)| Representative {
            sequence,
            weight: weights[sequence],
            places: places.clone(),
        });
        Group {
            profile: Profile::new(task.letters, task.sequences, weights, aligned),
            representatives: chosen(all.collect(), task.tuning.representatives),
        }
    };
    let mut groups: Vec<Option<Group>> = aligned.par_iter().map(|aligned| Some(group(aligned))).collect();
    let count = aligned.len();
    groups.resize(count + families.joins.len(), None);
    let mut joins = vec![JoinedColumns::default(); families.joins.len()];
    for level in tree::levels(families) {
        let done: Vec<(usize, JoinedColumns, Group)> = level
            .par_iter()
            .map(|&at| {
                if interrupt.load(Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                let [a, b] = families.joins[at].map(|child| groups[child].as_ref());
                let (Some(a), Some(b)) = (a, b) else { return Err(Error::Internal("a group is missing".into())) };
                let joined = task.align(a, b);
                let group = task.merged(a, b, &joined);
                Ok((at, joined, group))
            })
            .collect::<Result<_>>()?;
        for (at, joined, group) in done {
            for child in families.joins[at] {
                groups[child] = None;
            }
            groups[count + at] = Some(group);
            joins[at] = joined;
        }
    }
    Ok(placed(families, &joins, aligned, task.sequences.len()))
}

/// All families in the columns of the root.
fn placed(families: &Families, joins: &[JoinedColumns], aligned: Vec<Aligned>, sequences: usize) -> Aligned {
    let count = aligned.len();
    let columns = match joins.last() {
        Some(root) => root.columns,
        None => aligned.first().map_or(0, |only| only.columns),
    };
    // Of each node that is still to be looked at its columns' places in the root.
    let mut maps: Vec<Vec<u32>> = vec![Vec::new(); count + joins.len()];
    if let Some(root) = maps.last_mut() {
        *root = (0..columns as u32).collect();
    }
    for (at, join) in joins.iter().enumerate().rev() {
        let own = std::mem::take(&mut maps[count + at]);
        for (&child, map) in families.joins[at].iter().zip(&join.maps) {
            maps[child] = moved(map, &own);
        }
    }
    let mut places = vec![Vec::new(); sequences];
    for (family, map) in aligned.into_iter().zip(&maps) {
        for (member, mut row) in family.members.into_iter().zip(family.places) {
            move_places(&mut row, map);
            places[member] = row;
        }
    }
    Aligned { members: (0..sequences).collect(), columns, places }
}
