//! Progressive alignment: along the joins of a tree, then one sequence after another that is too different.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::columns::{Penalties, scored, tenths};
use super::group::Group;
use super::letters::Letters;
use super::options::{Costs, Iterate, Options};
use super::path::{self, Step};
use super::work::Pair;
use crate::alignment::MultipleAlignment;
use crate::alignment::join::move_places;
use crate::error::{Error, Result};
use crate::seq::SequenceStore;
use crate::simd::InstructionSet;
use crate::tree::GuideTree;

/// How alike two different sequences are, in percent, 0 to 99.
pub type Likeness<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

/// What the sequences are aligned by.
pub struct Guide<'a> {
    /// Who is aligned with whom.
    pub tree: &'a GuideTree,
    /// How much each sequence counts: 1 or more, about 1,000 together.
    pub weights: &'a [i32],
    /// How alike they are.
    pub likeness: Likeness<'a>,
}

/// What aligns, and who is told.
pub struct Run<'a> {
    /// The threads.
    pub threads: &'a rayon::ThreadPool,
    /// The vectors.
    pub level: InstructionSet,
    /// Whether to end early with [`Error::Interrupted`].
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Told how many of how many steps are done, from any thread.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A multiple alignment, and the order in which sequences came to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progressive {
    /// The alignment; rows in the order of the store.
    pub alignment: MultipleAlignment,
    /// The sequences in the order in which they were aligned.
    pub order: Vec<u32>,
}

/// Sums of weights once sequences are weighted by likeness.
pub(super) const SUM: i32 = 1000;

/// Aligns the sequences of a store as ClustalW does.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Usage`] for sequences that are so long that scores do not fit in 32 bits.
///
/// # Panics
/// If the tree or the weights are of other sequences, or the store is one of bytes.
pub fn align(store: &SequenceStore, guide: &Guide, options: &Options, run: &Run) -> Result<Progressive> {
    let sequences = store.len();
    assert_eq!((guide.tree.leaves, guide.weights.len()), (sequences, sequences), "a guide of other sequences");
    if sequences == 0 {
        return Ok(Progressive { alignment: MultipleAlignment::default(), order: Vec::new() });
    }
    let even = even_weights(sequences);
    let guide = &guide.counting(options, &even);
    let work = Work::new(store, guide, options, run);
    run.threads.install(|| {
        let late = work.late();
        if options.iterate == Iterate::Tree {
            return work.align_iterating(&late);
        }
        let tree = work.along_tree(&late)?;
        work.complete(&late, tree)
    })
}

/// Weights of so many sequences that all count the same.
pub(super) fn even_weights(sequences: usize) -> Vec<i32> {
    vec![(SUM / sequences.max(1) as i32).max(1); sequences]
}

impl<'a> Guide<'a> {
    /// With its weights, or with even ones if the options say so.
    pub(super) fn counting<'b>(&'b self, options: &Options, even: &'b [i32]) -> Guide<'b>
    where
        'a: 'b,
    {
        Guide { weights: if options.weighted { self.weights } else { even }, ..*self }
    }
}

pub(super) struct Work<'a> {
    pub(super) store: &'a SequenceStore,
    pub(super) guide: &'a Guide<'a>,
    pub(super) options: &'a Options,
    pub(super) run: &'a Run<'a>,
    pub(super) letters: Letters,
}

/// A join that took place.
pub(super) struct Joined {
    /// Whether the first profile is the second child's.
    is_switched: bool,
    path: Vec<Step>,
}

/// The group of all sequences that are not late, if there are any, and the paths of the joins.
pub(super) type Tree = (Option<Group>, Vec<Option<Joined>>);

/// Two groups to be joined. The profile of the one with more sequences is the first.
pub(super) struct Joining {
    pub(super) is_switched: bool,
    pub(super) first: Group,
    pub(super) second: Group,
}

/// What a join finds below it.
pub(super) enum Children {
    /// Two groups.
    Both(Box<Joining>),
    /// One at most: the sequences of the other, or of both, are late.
    Only(Option<Group>),
}

/// Joins on their way.
pub(super) struct Joins<'a> {
    /// The join above each node.
    parents: Vec<Option<usize>>,
    /// Groups of nodes that wait for their sisters.
    groups: Vec<Mutex<Option<Group>>>,
    /// How many children of each join are ready.
    ready: Vec<AtomicUsize>,
    paths: Vec<Mutex<Option<Joined>>>,
    late: &'a [bool],
    done: AtomicUsize,
    /// Why a join failed.
    pub(super) failure: Mutex<Option<Error>>,
}

impl Joins<'_> {
    /// Whether nothing is above a join.
    pub(super) fn is_root(&self, number: usize) -> bool {
        number + 1 == self.paths.len()
    }
}

impl<'a> Work<'a> {
    pub(super) fn new(
        store: &'a SequenceStore,
        guide: &'a Guide<'a>,
        options: &'a Options,
        run: &'a Run<'a>,
    ) -> Work<'a> {
        Work { store, guide, options, run, letters: Letters::of(store, options) }
    }
}

impl Work<'_> {
    /// The alignment, once all sequences that are not late are aligned.
    pub(super) fn complete(&self, late: &[bool], (group, paths): Tree) -> Result<Progressive> {
        let sequences = self.store.len();
        let mut order = self.order(late);
        let mut rows = self.rows(&group, &paths);
        let first = match group {
            Some(group) => group,
            // All are too different: begin with one of the two that are the most alike.
            None => {
                let first = self.most_alike();
                order.push(first);
                rows[first as usize] = (0..self.store.length(first)).collect();
                self.leaf(first)
            }
        };
        let columns = self.add_late(first, &mut rows, &mut order)?;
        debug_assert_eq!(order.len(), sequences, "every sequence is aligned once");
        let alignment = MultipleAlignment::new(columns, rows)
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not rise".into()))?;
        let found = Progressive { alignment, order };
        if self.options.iterate == Iterate::Alignment { self.iterate_on(found, late) } else { Ok(found) }
    }

    /// Which sequences are not alike enough to any.
    pub(super) fn late(&self) -> Vec<bool> {
        let sequences = self.store.len();
        let mut most = vec![-1; sequences];
        for a in 0..sequences {
            for b in 0..a {
                let percent = (self.guide.likeness)(a, b) as i32;
                most[a] = percent.max(most[a]);
                most[b] = percent.max(most[b]);
            }
        }
        most.into_iter().map(|most| most <= self.options.delay).collect()
    }

    /// The sequence that is aligned first if all are late.
    pub(super) fn most_alike(&self) -> u32 {
        let (mut most, mut first) = (-1, 0);
        for a in 0..self.store.len() {
            for b in a + 1..self.store.len() {
                let percent = (self.guide.likeness)(a, b);
                // As ClustalW compares them: what is cut off one counts of the other.
                if f64::from(most) < percent {
                    (most, first) = (percent as i32, a as u32);
                }
            }
        }
        first
    }

    fn leaf(&self, id: u32) -> Group {
        let sequence = self.letters.numbers(self.store, id);
        Group::of_sequence(&self.letters, id, &sequence, self.guide.weights[id as usize])
    }

    /// Joins in ClustalW's order: those below the first child, those below the second, the join itself.
    pub(super) fn joins_in_order(&self) -> Vec<usize> {
        let leaves = self.guide.tree.leaves;
        let mut order = Vec::with_capacity(self.guide.tree.joins.len());
        let mut stack: Vec<usize> = self.guide.tree.joins.len().checked_sub(1).into_iter().collect();
        // The other way round: the join, those below the second child, those below the first.
        while let Some(join) = stack.pop() {
            order.push(join);
            let children = self.guide.tree.joins[join].children;
            stack.extend(children.iter().filter_map(|&child| (child as usize).checked_sub(leaves)));
        }
        order.reverse();
        order
    }

    /// The sequences that are not late as they come to the alignment.
    pub(super) fn order(&self, late: &[bool]) -> Vec<u32> {
        let leaves = self.guide.tree.leaves as u32;
        let mut order = Vec::with_capacity(late.len());
        for join in self.joins_in_order() {
            let mut children = self.guide.tree.joins[join].children;
            children.sort_unstable();
            order.extend(children.iter().filter(|&&child| child < leaves && !late[child as usize]));
        }
        order
    }

    /// Aligns along the tree.
    fn along_tree(&self, late: &[bool]) -> Result<Tree> {
        let joins = self.joins(late);
        rayon::scope(|scope| {
            let joins = &joins;
            self.lowest().for_each(|number| scope.spawn(move |_| self.climb(joins, number)));
        });
        self.ended(joins)
    }

    /// Joins of two leaves.
    pub(super) fn lowest(&self) -> impl Iterator<Item = usize> {
        let (joins, leaves) = (&self.guide.tree.joins, self.guide.tree.leaves);
        let is_lowest = move |&number: &usize| joins[number].children.iter().all(|&child| (child as usize) < leaves);
        (0..joins.len()).filter(is_lowest)
    }

    /// Joins of which none took place.
    pub(super) fn joins<'b>(&self, late: &'b [bool]) -> Joins<'b> {
        let (tree, leaves) = (self.guide.tree, self.guide.tree.leaves);
        let nodes = leaves + tree.joins.len();
        let mut parents = vec![None; nodes];
        for (join, children) in tree.joins.iter().map(|join| join.children).enumerate() {
            children.iter().for_each(|&child| parents[child as usize] = Some(join));
        }
        let joins = Joins {
            parents,
            groups: (0..nodes).map(|_| Mutex::default()).collect(),
            ready: tree.joins.iter().map(|_| AtomicUsize::new(0)).collect(),
            paths: tree.joins.iter().map(|_| Mutex::default()).collect(),
            late,
            done: AtomicUsize::new(0),
            failure: Mutex::default(),
        };
        let is_leaf = |child: &u32| (*child as usize) < leaves;
        for (join, ready) in tree.joins.iter().zip(&joins.ready) {
            ready.store(join.children.iter().filter(|child| is_leaf(child)).count(), Ordering::Relaxed);
        }
        joins
    }

    /// What came of all joins.
    pub(super) fn ended(&self, joins: Joins) -> Result<Tree> {
        let leaves = self.guide.tree.leaves;
        if let Some(error) = lock(&joins.failure).take() {
            return Err(error);
        }
        if (self.run.stopped)() {
            return Err(Error::Interrupted);
        }
        let mut root = joins.groups.last().and_then(|root| lock(root).take());
        if leaves == 1 && !joins.late[0] {
            root = Some(self.leaf(0));
        }
        Ok((root, joins.paths.iter().map(|path| lock(path).take()).collect()))
    }

    /// Joins, then what is above it if that is ready, and so on.
    fn climb(&self, joins: &Joins, mut number: usize) {
        loop {
            if (self.run.stopped)() {
                return;
            }
            let group = match self.children(joins, number) {
                Children::Both(joining) => match self.path(&joining.first, &joining.second) {
                    Ok(path) => Some(self.joined(joins, number, *joining, path)),
                    Err(error) => {
                        *lock(&joins.failure) = Some(error);
                        return;
                    }
                },
                Children::Only(group) => group,
            };
            match self.passed(joins, number, group) {
                Some(parent) => number = parent,
                None => return,
            }
        }
    }

    /// The groups that a join is of.
    pub(super) fn children(&self, joins: &Joins, number: usize) -> Children {
        let leaves = self.guide.tree.leaves;
        let children = self.guide.tree.joins[number].children.map(|child| child as usize);
        let [first, second] = children.map(|child| match child < leaves {
            true => (!joins.late[child]).then(|| self.leaf(child as u32)),
            false => lock(&joins.groups[child]).take(),
        });
        match (first, second) {
            (Some(first), Some(second)) => {
                let is_switched = second.members.len() > first.members.len();
                let (first, second) = if is_switched { (second, first) } else { (first, second) };
                Children::Both(Box::new(Joining { is_switched, first, second }))
            }
            (first, second) => Children::Only(first.or(second)),
        }
    }

    /// Two groups as one, and the path is kept.
    pub(super) fn joined(&self, joins: &Joins, number: usize, joining: Joining, path: Vec<Step>) -> Group {
        let Joining { is_switched, first, second } = joining;
        let group = first.joined(&second, &self.letters, &path);
        *lock(&joins.paths[number]) = Some(Joined { is_switched, path });
        group
    }

    /// A join is done. Gives the one above it if that is ready.
    pub(super) fn passed(&self, joins: &Joins, number: usize, group: Option<Group>) -> Option<usize> {
        let node = self.guide.tree.leaves + number;
        *lock(&joins.groups[node]) = group;
        (self.run.progress)(joins.done.fetch_add(1, Ordering::Relaxed) + 1, self.steps(joins.late));
        // The other child's thread goes on if it is not ready yet.
        joins.parents[node].filter(|&parent| joins.ready[parent].fetch_add(1, Ordering::AcqRel) == 1)
    }

    /// Steps of all: joins, and late sequences.
    pub(super) fn steps(&self, late: &[bool]) -> usize {
        self.guide.tree.joins.len() + late.iter().filter(|&&late| late).count()
    }

    /// Mean likeness of the sequences of two groups, added up as ClustalW does.
    fn mean_likeness(&self, first: &Group, second: &Group) -> f64 {
        let mut sum = 0.0;
        for &a in &first.members {
            for &b in &second.members {
                sum += (self.guide.likeness)(a as usize, b as usize);
            }
        }
        sum / f64::from((first.members.len() * second.members.len()) as f32)
    }

    /// The profiles of two groups.
    ///
    /// # Errors
    /// [`Error::Usage`] if scores may not fit in 32 bits.
    pub(super) fn pair(&self, first: &Group, second: &Group) -> Result<Pair> {
        self.pair_at(first, second, Some(self.mean_likeness(first, second)))
    }

    /// The profiles of two groups that are so alike, in percent, if that is known.
    fn pair_at(&self, first: &Group, second: &Group, identity: Option<f64>) -> Result<Pair> {
        let lengths = [first.mean_length(), second.mean_length()];
        let costs = self.options.costs(self.store.alphabet(), identity, lengths);
        let penalties = [first, second].map(|group| Penalties::of(group, &self.letters, self.options, &costs));
        if !fits(&costs, &penalties) {
            return Err(Error::usage("the sequences are too long to be aligned with scores of 32 bits"));
        }
        let letters = self.letters.count().max(1);
        Ok(Pair { penalties, scored: scored(first, &self.letters, &costs), tenths: tenths(second), letters })
    }

    pub(super) fn path(&self, first: &Group, second: &Group) -> Result<Vec<Step>> {
        self.pair(first, second)?.path(self.run.level, self.run.stopped).ok_or(Error::Interrupted)
    }

    /// The path of two groups that are so alike, in percent, if that is known.
    pub(super) fn path_at(&self, first: &Group, second: &Group, identity: Option<f64>) -> Result<Vec<Step>> {
        self.pair_at(first, second, identity)?.path(self.run.level, self.run.stopped).ok_or(Error::Interrupted)
    }

    /// The columns of all residues after the joins; none of sequences that are late.
    fn rows(&self, group: &Option<Group>, paths: &[Option<Joined>]) -> Vec<Vec<u32>> {
        let leaves = self.guide.tree.leaves;
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); leaves];
        let Some(group) = group else { return rows };
        let mut columns: Vec<Option<Vec<u32>>> = vec![None; leaves + paths.len()];
        if let Some(root) = columns.last_mut() {
            *root = Some((0..group.columns as u32).collect());
        }
        for (number, joined) in paths.iter().enumerate().rev() {
            let Some(own) = columns[leaves + number].take() else { continue };
            let mut children = self.guide.tree.joins[number].children.map(|child| child as usize);
            let Some(Joined { is_switched, path }) = joined else {
                // One of the children, or none, has sequences; the other has no use for columns.
                children.iter().for_each(|&child| columns[child] = Some(own.clone()));
                continue;
            };
            if *is_switched {
                children.reverse();
            }
            for (child, mut map) in children.into_iter().zip(path::joined(path).maps) {
                move_places(&mut map, &own);
                columns[child] = Some(map);
            }
        }
        let members = group.members.iter().map(|&id| id as usize);
        members.for_each(|id| rows[id] = columns[id].take().unwrap_or_default());
        rows
    }

    /// Aligns late sequences with all others, the most alike first; how many columns there are in the end.
    fn add_late(&self, mut group: Group, rows: &mut [Vec<u32>], order: &mut Vec<u32>) -> Result<usize> {
        let sequences = rows.len();
        let total = self.guide.tree.joins.len() + sequences - order.len();
        let mut ways = self.late_ways(order);
        while let Some(next) = ways.next() {
            let next = next as usize;
            self.weigh(&mut group, rows, next);
            let leaf = self.leaf(next as u32);
            let path = self.path(&group, &leaf)?;
            let [first, second] = path::joined(&path).maps;
            for &id in &group.members {
                move_places(&mut rows[id as usize], &first);
            }
            rows[next] = second;
            group = group.joined(&leaf, &self.letters, &path);
            order.push(next as u32);
            ways.add(next as u32);
            (self.run.progress)(total - (sequences - order.len()), total);
        }
        Ok(group.columns)
    }

    /// Those that are not aligned yet, the most alike first.
    pub(super) fn late_ways(&self, aligned: &[u32]) -> Late<'_> {
        let mut late = Late { likeness: self.guide.likeness, most: vec![Some(-1); self.store.len()] };
        aligned.iter().for_each(|&id| late.most[id as usize] = None);
        aligned.iter().for_each(|&id| late.add(id));
        late
    }

    /// How much aligned sequences count by their weights and by how alike they are to one that is not; and whether they count
    /// the same because none is.
    pub(super) fn late_weights(&self, ids: &[u32], new: usize) -> (Vec<i32>, bool) {
        let weight = |&id: &u32| f64::from(self.guide.weights[id as usize]);
        if !self.options.weighted {
            return (ids.iter().map(|id| weight(id) as i32).collect(), false);
        }
        let mut weights: Vec<i32> =
            ids.iter().map(|id| (weight(id) * (self.guide.likeness)(*id as usize, new)) as i32).collect();
        let mut sum: i32 = weights.iter().sum();
        let is_even = sum == 0;
        if is_even {
            weights.fill(1);
            sum = self.store.len() as i32;
        }
        weights.iter_mut().for_each(|weight| *weight = (*weight * SUM / sum).max(1));
        (weights, is_even)
    }

    /// Lets the sequences of a group count by these.
    fn weigh(&self, group: &mut Group, rows: &[Vec<u32>], new: usize) {
        if !self.options.weighted {
            return;
        }
        let (weights, _) = self.late_weights(&group.members, new);
        group.weight = weights.iter().sum();
        group.weights.fill(0);
        let count = self.letters.count();
        for (&id, weight) in group.members.iter().zip(weights) {
            let sequence = self.letters.numbers(self.store, id);
            for (&column, letter) in rows[id as usize].iter().zip(sequence) {
                group.weights[column as usize * count + letter as usize] += weight;
            }
        }
    }
}

/// Sequences that wait to be aligned.
pub(super) struct Late<'a> {
    likeness: Likeness<'a>,
    /// How alike each is to the one that is the most alike of those aligned; none once it is aligned itself.
    most: Vec<Option<i32>>,
}

impl Late<'_> {
    /// The next: the first of those that are the most alike.
    pub(super) fn next(&self) -> Option<u32> {
        let waiting = self.most.iter().enumerate().rev().filter(|(_, most)| most.is_some());
        waiting.max_by_key(|(_, most)| **most).map(|(id, _)| id as u32)
    }

    /// Says that a sequence is aligned.
    pub(super) fn add(&mut self, new: u32) {
        self.most[new as usize] = None;
        for (id, most) in self.most.iter_mut().enumerate() {
            *most = most.map(|most| most.max((self.likeness)(id, new as usize) as i32));
        }
    }
}

/// Whether all scores of alignments of two profiles, and what is added on the way, are far from the ends of 32 bits.
fn fits(costs: &Costs, penalties: &[Penalties; 2]) -> bool {
    let most = |numbers: &[i32]| i64::from(numbers.iter().map(|number| number.saturating_abs()).max().unwrap_or(0));
    let columns = penalties[0].columns().min(penalties[1].columns()) as i64;
    let symbols: i64 = penalties.iter().flat_map(|side| &side.extend).map(|&extend| i64::from(extend)).sum();
    let openings: i64 = penalties.iter().map(|side| most(&side.open)).sum();
    most(costs.table.scores()) * columns + symbols + 8 * openings < 1 << 29
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}
