//! Joins all families along the tree.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::Devices;
use super::columns::ProfileColumns;
use super::join::{FamilyGroup, JoinInputs};
use super::model::ColumnPair;
use super::profile::CountProfile;
use super::representatives::{PairedRepresentatives, Representative, select_representatives};
use super::tree::{Families, joins_by_depth};
use crate::alignment::join::{JoinedColumns, map_columns, move_places};
use crate::posterior::progressive::AlignedMembers;
use crate::posterior::sparse::Sparse;
use crate::posterior::{PosteriorPlan, pair_bytes};
use crate::seq::SequenceId;
use crate::{Error, Result};

/// Input for the joins of families.
pub(super) struct FamilyJoiner<'a> {
    pub inputs: &'a JoinInputs<'a>,
    pub families: &'a Families,
    /// Weight of each sequence.
    pub weights: &'a [f32],
    /// Maximum bytes of the probabilities that devices compute at the same time.
    pub memory: u64,
}

/// A join whose profiles have been compared.
struct ComparedProfiles {
    rows: ProfileColumns,
    columns: ProfileColumns,
    pairs: Vec<ColumnPair>,
}

impl FamilyJoiner<'_> {
    /// Joins the families on the current thread pool. Each join starts when both of its groups are
    /// complete.
    pub(super) fn join(&self, aligned: Vec<AlignedMembers>) -> Result<AlignedMembers> {
        let (count, joins) = (aligned.len(), &self.families.joins);
        let mut groups: Vec<Mutex<Option<FamilyGroup>>> =
            aligned.par_iter().map(|aligned| Mutex::new(Some(self.group(aligned)))).collect();
        groups.resize_with(count + joins.len(), Mutex::default);
        let mut parents = vec![None; groups.len()];
        for (at, children) in joins.iter().enumerate() {
            children.iter().for_each(|&child| parents[child] = Some(at));
        }
        let missing = |children: &[usize; 2]| children.iter().filter(|&&child| child >= count).count();
        let waiting: Vec<AtomicUsize> = joins.iter().map(|children| AtomicUsize::new(missing(children))).collect();
        let done: Vec<OnceLock<JoinedColumns>> = vec![OnceLock::new(); joins.len()];
        let take = |node: usize| groups[node].lock().unwrap_or_else(PoisonError::into_inner).take();
        // Joins two groups and then the groups above, as long as their other groups are complete.
        let climb = |first: usize| {
            let mut next = Some(first);
            while let Some(at) = next {
                let [a, b] = joins[at].map(take);
                let (Some(a), Some(b), Ok(())) = (a, b, self.inputs.check_interrupt()) else { return };
                let joined = self.inputs.align(&a, &b);
                if self.inputs.check_interrupt().is_err() {
                    return;
                }
                let group = self.inputs.merged(&a, &b, &joined);
                *groups[count + at].lock().unwrap_or_else(PoisonError::into_inner) = Some(group);
                // A join is done once.
                let _ = done[at].set(joined);
                next = parents[count + at].filter(|&parent| waiting[parent].fetch_sub(1, Ordering::AcqRel) == 1);
            }
        };
        let ready: Vec<usize> = (0..joins.len()).filter(|&at| missing(&joins[at]) == 0).collect();
        let taken = AtomicUsize::new(0);
        // A thread that waits for a part of its join may run any spawned task meanwhile. If each
        // join were such a task, hundreds of them could be nested on one stack.
        rayon::broadcast(|_| {
            while let Some(&at) = ready.get(taken.fetch_add(1, Ordering::Relaxed)) {
                climb(at);
            }
        });
        let finished = done.into_iter().map(OnceLock::into_inner).collect::<Option<Vec<_>>>();
        match finished {
            Some(finished) => Ok(self.place_residues(&finished, aligned)),
            None => Err(Error::Interrupted),
        }
    }

    /// Joins the families. The devices compute the probabilities of pairs of representatives, for
    /// many joins at the same time.
    pub(super) fn join_on(
        &self,
        aligned: Vec<AlignedMembers>,
        devices: &mut Devices<'_, '_>,
    ) -> Result<AlignedMembers> {
        let (count, joins) = (aligned.len(), &self.families.joins);
        let pool = devices.pool;
        let mut groups: Vec<Option<FamilyGroup>> =
            pool.install(|| aligned.par_iter().map(|aligned| Some(self.group(aligned))).collect());
        groups.resize(count + joins.len(), None);
        let mut done = vec![JoinedColumns::default(); joins.len()];
        for level in joins_by_depth(self.families) {
            let mut rest = &level[..];
            while !rest.is_empty() {
                let taken = self.take_batch(rest, &mut groups)?;
                rest = &rest[taken.len()..];
                for (at, joined, group) in self.join_batch(taken, devices)? {
                    groups[count + at] = Some(group);
                    done[at] = joined;
                }
            }
        }
        Ok(self.place_residues(&done, aligned))
    }

    /// Takes the groups of the first joins whose probabilities fit in memory, but at least one join.
    fn take_batch(&self, joins: &[usize], groups: &mut [Option<FamilyGroup>]) -> Result<Vec<Joinable>> {
        let (mut taken, mut bytes) = (Vec::new(), 0);
        for &at in joins {
            let [a, b] = self.families.joins[at].map(|child| groups[child].take());
            let (Some(a), Some(b)) = (a, b) else { return Err(Error::Internal("a group is missing".into())) };
            let paired = self.inputs.paired(&a.representatives, &b.representatives);
            let residues: usize = paired.a.iter().map(|one| one.places.len()).sum();
            let new_bytes = pair_bytes(self.inputs.model.alphabet(), residues as u64, paired.b.len() as u64);
            if !taken.is_empty() && bytes + new_bytes > self.memory {
                for (child, group) in self.families.joins[at].into_iter().zip([a, b]) {
                    groups[child] = Some(group);
                }
                break;
            }
            bytes += new_bytes;
            taken.push(Joinable { at, a, b, paired });
        }
        Ok(taken)
    }

    fn join_batch(
        &self,
        batch: Vec<Joinable>,
        devices: &mut Devices<'_, '_>,
    ) -> Result<Vec<(usize, JoinedColumns, FamilyGroup)>> {
        self.inputs.check_interrupt()?;
        let numbers = |all: &[Representative]| all.iter().map(|one| one.sequence as SequenceId).collect::<Vec<_>>();
        let numbers: Vec<_> = batch.iter().map(|join| [numbers(&join.paired.a), numbers(&join.paired.b)]).collect();
        let groups = numbers.iter().map(|[a, b]| [&a[..], &b[..]]);
        let plan = PosteriorPlan::between(devices.store, self.inputs.model.clone(), groups);
        let compare = |join: &Joinable| {
            let [rows, columns] = [&join.a, &join.b].map(|group| self.inputs.columns(&group.profile));
            let pairs = self.inputs.profile_pairs(&rows, &columns);
            ComparedProfiles { rows, columns, pairs }
        };
        let compare_all = || batch.par_iter().map(compare).collect::<Vec<_>>();
        let (gathered, compared) = devices.compute_during(plan, compare_all)?;
        self.inputs.check_interrupt()?;
        let known: HashMap<(usize, usize), Sparse> = gathered.into_pairs().into_iter().collect();
        let finish = |(join, compared): (&Joinable, ComparedProfiles)| {
            let Joinable { at, a, b, paired } = join;
            let of_pair = |(a, b): (&Representative, &Representative)| known.get(&(a.sequence, b.sequence));
            let probabilities = paired.pairs().map(of_pair).collect::<Option<Vec<&Sparse>>>();
            let probabilities = probabilities.ok_or_else(|| Error::Internal("a pair of a join is missing".into()))?;
            let of_sequences = paired.column_pairs(a.profile.columns, &probabilities);
            let ComparedProfiles { rows, columns, pairs } = compared;
            let aligned = self.inputs.align_by(&rows, &columns, &pairs, of_sequences.as_deref());
            let joined = JoinedColumns::of_pairs([a.profile.columns, b.profile.columns], &aligned);
            let group = self.inputs.merged(a, b, &joined);
            Ok((*at, joined, group))
        };
        devices.pool.install(|| batch.par_iter().zip(compared).map(finish).collect())
    }

    /// Returns the group of an aligned family.
    fn group(&self, aligned: &AlignedMembers) -> FamilyGroup {
        let all = aligned.members.iter().zip(&aligned.places).map(|(&sequence, places)| Representative {
            sequence,
            weight: self.weights[sequence],
            places: places.clone(),
        });
        FamilyGroup {
            profile: CountProfile::new(self.inputs.letters, self.inputs.sequences, self.weights, aligned),
            representatives: select_representatives(all.collect(), self.inputs.tuning.representatives),
        }
    }

    /// Places the residues of all families in the columns of the root.
    fn place_residues(&self, joins: &[JoinedColumns], aligned: Vec<AlignedMembers>) -> AlignedMembers {
        let (count, sequences) = (aligned.len(), self.inputs.sequences.len());
        let columns = match joins.last() {
            Some(root) => root.columns,
            None => aligned.first().map_or(0, |only| only.columns),
        };
        // `maps` contains, for each node that has not been visited, the root column of each of its
        // columns.
        let mut maps: Vec<Vec<u32>> = vec![Vec::new(); count + joins.len()];
        if let Some(root) = maps.last_mut() {
            *root = (0..columns as u32).collect();
        }
        for (at, join) in joins.iter().enumerate().rev() {
            let node_map = std::mem::take(&mut maps[count + at]);
            for (&child, map) in self.families.joins[at].iter().zip(&join.maps) {
                maps[child] = map_columns(map, &node_map);
            }
        }
        let mut places = vec![Vec::new(); sequences];
        for (family, map) in aligned.into_iter().zip(&maps) {
            for (member, mut row) in family.members.into_iter().zip(family.places) {
                move_places(&mut row, map);
                places[member] = row;
            }
        }
        AlignedMembers { members: (0..sequences).collect(), columns, places }
    }
}

/// A join whose groups are complete.
struct Joinable {
    /// Number of the join.
    at: usize,
    a: FamilyGroup,
    b: FamilyGroup,
    /// The representatives whose pairs are used.
    paired: PairedRepresentatives,
}
