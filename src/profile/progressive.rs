//! Progressive alignment. First, sequences and groups are aligned along the joins of a guide tree.
//! Then the delayed sequences, which are not similar enough to any other, are added one after
//! another.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::columns::{Penalties, scored, tenths};
use super::group::ProfileGroup;
use super::letters::ProfileLetters;
use super::options::{Iterate, ProfileCosts, ProfileOptions};
use super::path::{self, ColumnStep};
use super::work::ProfilePair;
use crate::alignment::MultipleAlignment;
use crate::alignment::join::move_places;
use crate::engine::guard::lock;
use crate::error::{Error, Result};
use crate::seq::SequenceStore;
use crate::simd::InstructionSet;
use crate::tree::GuideTree;

/// A function that returns the percent identity of two different sequences, 0 to 99.
pub type Likeness<'a> = &'a (dyn Fn(usize, usize) -> f64 + Sync);

/// Guide of a progressive alignment.
pub struct Guide<'a> {
    /// Guide tree.
    pub tree: &'a GuideTree,
    /// Weight of each sequence: at least 1, with a sum of about 1,000.
    pub weights: &'a [i32],
    /// Percent identity of each pair.
    pub likeness: Likeness<'a>,
}

/// Threads and callbacks of an alignment.
pub struct ProgressiveRun<'a> {
    /// Thread pool.
    pub threads: &'a rayon::ThreadPool,
    /// Instruction set.
    pub instructions: InstructionSet,
    /// Returns true to end early with [`Error::Interrupted`].
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Called from any thread with the number of completed steps and the total number of steps.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A multiple alignment with the order of its sequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progressive {
    /// The alignment. Its rows are in the order of the store.
    pub alignment: MultipleAlignment,
    /// Indices of the sequences in the order in which they were aligned.
    pub order: Vec<u32>,
}

/// Sum of weights after they are scaled by similarity.
pub(super) const WEIGHT_SUM: i32 = 1000;

/// Aligns the sequences of a store as ClustalW does.
///
/// # Errors
/// Returns [`Error::Interrupted`] if `run` is stopped, and [`Error::Usage`] if the sequences are so
/// long that scores may exceed 32 bits.
///
/// # Panics
/// Panics if the tree or the weights belong to other sequences, or if the store contains bytes.
pub fn align(
    store: &SequenceStore,
    guide: &Guide,
    options: &ProfileOptions,
    run: &ProgressiveRun,
) -> Result<Progressive> {
    let sequences = store.len();
    assert_eq!(
        (guide.tree.leaves, guide.weights.len()),
        (sequences, sequences),
        "the guide belongs to other sequences"
    );
    if sequences == 0 {
        return Ok(Progressive { alignment: MultipleAlignment::default(), order: Vec::new() });
    }
    let even = even_weights(sequences);
    let guide = &guide.counting(options, &even);
    let work = ProgressiveAligner::new(store, guide, options, run);
    run.threads.install(|| {
        let delayed = work.delayed();
        if options.iterate == Iterate::Tree {
            return work.align_iterating(&delayed);
        }
        let tree = work.along_tree(&delayed)?;
        work.complete(&delayed, tree)
    })
}

/// Returns equal weights.
pub(super) fn even_weights(sequences: usize) -> Vec<i32> {
    vec![(WEIGHT_SUM / sequences.max(1) as i32).max(1); sequences]
}

impl<'a> Guide<'a> {
    /// Returns the guide with its own weights, or with the equal weights in `even` if the options
    /// request them.
    pub(super) fn counting<'b>(&'b self, options: &ProfileOptions, even: &'b [i32]) -> Guide<'b>
    where
        'a: 'b,
    {
        Guide { weights: if options.weighted { self.weights } else { even }, ..*self }
    }
}

pub(super) struct ProgressiveAligner<'a> {
    pub(super) store: &'a SequenceStore,
    pub(super) guide: &'a Guide<'a>,
    pub(super) options: &'a ProfileOptions,
    pub(super) run: &'a ProgressiveRun<'a>,
    pub(super) letters: ProfileLetters,
}

/// A completed join.
pub(super) struct CompletedJoin {
    /// Whether the first profile belongs to the second child.
    is_switched: bool,
    path: Vec<ColumnStep>,
}

/// The group of all sequences that are not delayed, if there are any, and the paths of the joins.
pub(super) type JoinedTree = (Option<ProfileGroup>, Vec<Option<CompletedJoin>>);

/// Two groups to join. The group with more sequences is the first.
pub(super) struct PendingJoin {
    pub(super) is_switched: bool,
    pub(super) first: ProfileGroup,
    pub(super) second: ProfileGroup,
}

/// Groups of the children of a join.
pub(super) enum Children {
    /// Two groups.
    Both(Box<PendingJoin>),
    /// At most one group, because the sequences of one or both children are delayed.
    Only(Option<ProfileGroup>),
}

/// State of the joins of a tree.
pub(super) struct JoinStates<'a> {
    /// Parent of each node.
    parents: Vec<Option<usize>>,
    /// Groups of nodes that wait for their siblings.
    groups: Vec<Mutex<Option<ProfileGroup>>>,
    /// Number of completed children of each join.
    ready: Vec<AtomicUsize>,
    paths: Vec<Mutex<Option<CompletedJoin>>>,
    delayed: &'a [bool],
    done: AtomicUsize,
    /// Error of a failed join.
    pub(super) failure: Mutex<Option<Error>>,
}

impl JoinStates<'_> {
    /// Checks whether a join is the root.
    pub(super) fn is_root(&self, number: usize) -> bool {
        number + 1 == self.paths.len()
    }
}

impl<'a> ProgressiveAligner<'a> {
    pub(super) fn new(
        store: &'a SequenceStore,
        guide: &'a Guide<'a>,
        options: &'a ProfileOptions,
        run: &'a ProgressiveRun<'a>,
    ) -> ProgressiveAligner<'a> {
        ProgressiveAligner { store, guide, options, run, letters: ProfileLetters::from_store(store, options) }
    }
}

impl ProgressiveAligner<'_> {
    /// Completes the alignment: adds the delayed sequences to the aligned ones.
    pub(super) fn complete(&self, delayed: &[bool], (group, paths): JoinedTree) -> Result<Progressive> {
        let sequences = self.store.len();
        let mut order = self.order(delayed);
        let mut rows = self.rows(&group, &paths);
        let first = match group {
            Some(group) => group,
            // All sequences are delayed: start with one of the two most similar ones.
            None => {
                let first = self.first_if_all_delayed();
                order.push(first);
                rows[first as usize] = (0..self.store.length(first)).collect();
                self.leaf(first)
            }
        };
        let columns = self.add_delayed(first, &mut rows, &mut order)?;
        debug_assert_eq!(order.len(), sequences, "every sequence is aligned once");
        let alignment = MultipleAlignment::new(columns, rows)
            .ok_or_else(|| Error::Internal("columns of a multiple alignment do not increase".into()))?;
        let progressive = Progressive { alignment, order };
        if self.options.iterate == Iterate::Alignment { self.iterate_on(progressive, delayed) } else { Ok(progressive) }
    }

    /// Returns a flag for each sequence: whether it is delayed because it is not similar enough to
    /// any other.
    pub(super) fn delayed(&self) -> Vec<bool> {
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

    /// Returns the sequence that is aligned first if all sequences are delayed.
    pub(super) fn first_if_all_delayed(&self) -> u32 {
        let (mut most, mut first) = (-1, 0);
        for a in 0..self.store.len() {
            for b in a + 1..self.store.len() {
                let percent = (self.guide.likeness)(a, b);
                // Like ClustalW, this compares a truncated value with an exact one.
                if f64::from(most) < percent {
                    (most, first) = (percent as i32, a as u32);
                }
            }
        }
        first
    }

    fn leaf(&self, id: u32) -> ProfileGroup {
        let sequence = self.letters.numbers(self.store, id);
        ProfileGroup::from_sequence(&self.letters, id, &sequence, self.guide.weights[id as usize])
    }

    /// Returns the joins in ClustalW's order: joins below the first child, joins below the second
    /// child, the join itself.
    pub(super) fn joins_in_order(&self) -> Vec<usize> {
        let leaves = self.guide.tree.leaves;
        let mut order = Vec::with_capacity(self.guide.tree.joins.len());
        let mut stack: Vec<usize> = self.guide.tree.joins.len().checked_sub(1).into_iter().collect();
        // The stack yields the reverse order: the join, joins below the second child, joins below
        // the first.
        while let Some(join) = stack.pop() {
            order.push(join);
            let children = self.guide.tree.joins[join].children;
            stack.extend(children.iter().filter_map(|&child| (child as usize).checked_sub(leaves)));
        }
        order.reverse();
        order
    }

    /// Returns the sequences that are not delayed, in the order of their alignment.
    pub(super) fn order(&self, delayed: &[bool]) -> Vec<u32> {
        let leaves = self.guide.tree.leaves as u32;
        let mut order = Vec::with_capacity(delayed.len());
        for join in self.joins_in_order() {
            let mut children = self.guide.tree.joins[join].children;
            children.sort_unstable();
            order.extend(children.iter().filter(|&&child| child < leaves && !delayed[child as usize]));
        }
        order
    }

    /// Aligns along the tree.
    fn along_tree(&self, delayed: &[bool]) -> Result<JoinedTree> {
        let joins = self.joins(delayed);
        rayon::scope(|scope| {
            let joins = &joins;
            self.leaf_joins().for_each(|number| scope.spawn(move |_| self.join_upwards(joins, number)));
        });
        self.result(joins)
    }

    /// Returns the joins whose children are both leaves.
    pub(super) fn leaf_joins(&self) -> impl Iterator<Item = usize> {
        let (joins, leaves) = (&self.guide.tree.joins, self.guide.tree.leaves);
        let is_leaf_join = move |&number: &usize| joins[number].children.iter().all(|&child| (child as usize) < leaves);
        (0..joins.len()).filter(is_leaf_join)
    }

    /// Returns the initial state of the joins.
    pub(super) fn joins<'b>(&self, delayed: &'b [bool]) -> JoinStates<'b> {
        let (tree, leaves) = (self.guide.tree, self.guide.tree.leaves);
        let nodes = leaves + tree.joins.len();
        let mut parents = vec![None; nodes];
        for (join, children) in tree.joins.iter().map(|join| join.children).enumerate() {
            children.iter().for_each(|&child| parents[child as usize] = Some(join));
        }
        let joins = JoinStates {
            parents,
            groups: (0..nodes).map(|_| Mutex::default()).collect(),
            ready: tree.joins.iter().map(|_| AtomicUsize::new(0)).collect(),
            paths: tree.joins.iter().map(|_| Mutex::default()).collect(),
            delayed,
            done: AtomicUsize::new(0),
            failure: Mutex::default(),
        };
        let is_leaf = |child: &u32| (*child as usize) < leaves;
        for (join, ready) in tree.joins.iter().zip(&joins.ready) {
            ready.store(join.children.iter().filter(|child| is_leaf(child)).count(), Ordering::Relaxed);
        }
        joins
    }

    /// Returns the result of all joins.
    pub(super) fn result(&self, joins: JoinStates) -> Result<JoinedTree> {
        let leaves = self.guide.tree.leaves;
        if let Some(error) = lock(&joins.failure).take() {
            return Err(error);
        }
        if (self.run.stopped)() {
            return Err(Error::Interrupted);
        }
        let mut root = joins.groups.last().and_then(|root| lock(root).take());
        if leaves == 1 && !joins.delayed[0] {
            root = Some(self.leaf(0));
        }
        Ok((root, joins.paths.iter().map(|path| lock(path).take()).collect()))
    }

    /// Performs a join, then the joins above it until one has a child that is not finished.
    fn join_upwards(&self, joins: &JoinStates, mut number: usize) {
        loop {
            if (self.run.stopped)() {
                return;
            }
            let group = match self.children(joins, number) {
                Children::Both(joining) => match self.path(&joining.first, &joining.second) {
                    Ok(path) => Some(self.join_groups(joins, number, *joining, path)),
                    Err(error) => {
                        *lock(&joins.failure) = Some(error);
                        return;
                    }
                },
                Children::Only(group) => group,
            };
            match self.complete_join(joins, number, group) {
                Some(parent) => number = parent,
                None => return,
            }
        }
    }

    /// Returns the groups of the children of a join.
    pub(super) fn children(&self, joins: &JoinStates, number: usize) -> Children {
        let leaves = self.guide.tree.leaves;
        let children = self.guide.tree.joins[number].children.map(|child| child as usize);
        let [first, second] = children.map(|child| match child < leaves {
            true => (!joins.delayed[child]).then(|| self.leaf(child as u32)),
            false => lock(&joins.groups[child]).take(),
        });
        match (first, second) {
            (Some(first), Some(second)) => {
                let is_switched = second.members.len() > first.members.len();
                let (first, second) = if is_switched { (second, first) } else { (first, second) };
                Children::Both(Box::new(PendingJoin { is_switched, first, second }))
            }
            (first, second) => Children::Only(first.or(second)),
        }
    }

    /// Joins two groups, and stores the path.
    pub(super) fn join_groups(
        &self,
        joins: &JoinStates,
        number: usize,
        joining: PendingJoin,
        path: Vec<ColumnStep>,
    ) -> ProfileGroup {
        let PendingJoin { is_switched, first, second } = joining;
        let group = first.join(&second, &self.letters, &path);
        *lock(&joins.paths[number]) = Some(CompletedJoin { is_switched, path });
        group
    }

    /// Marks a join as done. Returns its parent if the parent is ready.
    pub(super) fn complete_join(
        &self,
        joins: &JoinStates,
        number: usize,
        group: Option<ProfileGroup>,
    ) -> Option<usize> {
        let node = self.guide.tree.leaves + number;
        *lock(&joins.groups[node]) = group;
        (self.run.progress)(joins.done.fetch_add(1, Ordering::Relaxed) + 1, self.steps(joins.delayed));
        // If the parent is not ready, the thread of the other child continues with it.
        joins.parents[node].filter(|&parent| joins.ready[parent].fetch_add(1, Ordering::AcqRel) == 1)
    }

    /// Returns the number of steps: joins and delayed sequences.
    pub(super) fn steps(&self, delayed: &[bool]) -> usize {
        self.guide.tree.joins.len() + delayed.iter().filter(|&&delayed| delayed).count()
    }

    /// Returns the mean identity of the sequences of two groups, summed in ClustalW's order.
    fn mean_likeness(&self, first: &ProfileGroup, second: &ProfileGroup) -> f64 {
        let mut sum = 0.0;
        for &a in &first.members {
            for &b in &second.members {
                sum += (self.guide.likeness)(a as usize, b as usize);
            }
        }
        sum / f64::from((first.members.len() * second.members.len()) as f32)
    }

    /// Returns the profiles of two groups.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if scores may exceed 32 bits.
    pub(super) fn pair(&self, first: &ProfileGroup, second: &ProfileGroup) -> Result<ProfilePair> {
        self.pair_at(first, second, Some(self.mean_likeness(first, second)))
    }

    /// Returns the profiles of two groups with the given mean percent identity.
    fn pair_at(&self, first: &ProfileGroup, second: &ProfileGroup, identity: Option<f64>) -> Result<ProfilePair> {
        let lengths = [first.mean_length(), second.mean_length()];
        let costs = self.options.costs(self.store.alphabet(), identity, lengths);
        let penalties = [first, second].map(|group| Penalties::new(group, &self.letters, self.options, &costs));
        if !fits(&costs, &penalties) {
            return Err(Error::usage("the sequences are too long to be aligned with scores of 32 bits"));
        }
        let letters = self.letters.count().max(1);
        Ok(ProfilePair { penalties, scored: scored(first, &self.letters, &costs), tenths: tenths(second), letters })
    }

    pub(super) fn path(&self, first: &ProfileGroup, second: &ProfileGroup) -> Result<Vec<ColumnStep>> {
        self.pair(first, second)?.path(self.run.instructions, self.run.stopped).ok_or(Error::Interrupted)
    }

    /// Returns the path of two groups with the given mean percent identity.
    pub(super) fn path_at(
        &self,
        first: &ProfileGroup,
        second: &ProfileGroup,
        identity: Option<f64>,
    ) -> Result<Vec<ColumnStep>> {
        self.pair_at(first, second, identity)?.path(self.run.instructions, self.run.stopped).ok_or(Error::Interrupted)
    }

    /// Returns the columns of all residues after the joins. Rows of delayed sequences are empty.
    fn rows(&self, group: &Option<ProfileGroup>, paths: &[Option<CompletedJoin>]) -> Vec<Vec<u32>> {
        let leaves = self.guide.tree.leaves;
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); leaves];
        let Some(group) = group else { return rows };
        let mut columns: Vec<Option<Vec<u32>>> = vec![None; leaves + paths.len()];
        if let Some(root) = columns.last_mut() {
            *root = Some((0..group.columns as u32).collect());
        }
        for (number, joined) in paths.iter().enumerate().rev() {
            let Some(node_columns) = columns[leaves + number].take() else { continue };
            let mut children = self.guide.tree.joins[number].children.map(|child| child as usize);
            let Some(CompletedJoin { is_switched, path }) = joined else {
                // At most one child has sequences, and the other one does not need columns.
                children.iter().for_each(|&child| columns[child] = Some(node_columns.clone()));
                continue;
            };
            if *is_switched {
                children.reverse();
            }
            for (child, mut map) in children.into_iter().zip(path::join_columns(path).maps) {
                move_places(&mut map, &node_columns);
                columns[child] = Some(map);
            }
        }
        let members = group.members.iter().map(|&id| id as usize);
        members.for_each(|id| rows[id] = columns[id].take().unwrap_or_default());
        rows
    }

    /// Aligns delayed sequences with all others, the most similar one first. Returns the final
    /// number of columns.
    fn add_delayed(&self, mut group: ProfileGroup, rows: &mut [Vec<u32>], order: &mut Vec<u32>) -> Result<usize> {
        let sequences = rows.len();
        let total = self.guide.tree.joins.len() + sequences - order.len();
        let mut queue = self.delayed_sequences(order);
        while let Some(next) = queue.next() {
            let next = next as usize;
            self.apply_weights(&mut group, rows, next);
            let leaf = self.leaf(next as u32);
            let path = self.path(&group, &leaf)?;
            let [first, second] = path::join_columns(&path).maps;
            for &id in &group.members {
                move_places(&mut rows[id as usize], &first);
            }
            rows[next] = second;
            group = group.join(&leaf, &self.letters, &path);
            order.push(next as u32);
            queue.add(next as u32);
            (self.run.progress)(total - (sequences - order.len()), total);
        }
        Ok(group.columns)
    }

    /// Returns the sequences that are not aligned yet.
    pub(super) fn delayed_sequences(&self, aligned: &[u32]) -> DelayedSequences<'_> {
        let mut delayed = DelayedSequences { likeness: self.guide.likeness, most: vec![Some(-1); self.store.len()] };
        aligned.iter().for_each(|&id| delayed.most[id as usize] = None);
        aligned.iter().for_each(|&id| delayed.add(id));
        delayed
    }

    /// Returns the weights of aligned sequences, scaled by their similarity to a new sequence. Also
    /// returns whether all weights are equal because no sequence is similar.
    pub(super) fn delayed_weights(&self, ids: &[u32], new: usize) -> (Vec<i32>, bool) {
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
        weights.iter_mut().for_each(|weight| *weight = (*weight * WEIGHT_SUM / sum).max(1));
        (weights, is_even)
    }

    /// Applies these weights to the sequences of a group.
    fn apply_weights(&self, group: &mut ProfileGroup, rows: &[Vec<u32>], new: usize) {
        if !self.options.weighted {
            return;
        }
        let (weights, _) = self.delayed_weights(&group.members, new);
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

/// Delayed sequences that are not aligned yet.
pub(super) struct DelayedSequences<'a> {
    likeness: Likeness<'a>,
    /// Identity of each sequence with the most similar aligned sequence. `None` after it is aligned
    /// itself.
    most: Vec<Option<i32>>,
}

impl DelayedSequences<'_> {
    /// Returns the sequence that is most similar to an aligned one. On a tie, returns the first.
    pub(super) fn next(&self) -> Option<u32> {
        let waiting = self.most.iter().enumerate().rev().filter(|(_, most)| most.is_some());
        waiting.max_by_key(|(_, most)| **most).map(|(id, _)| id as u32)
    }

    /// Marks a sequence as aligned.
    pub(super) fn add(&mut self, new: u32) {
        self.most[new as usize] = None;
        for (id, most) in self.most.iter_mut().enumerate() {
            *most = most.map(|most| most.max((self.likeness)(id, new as usize) as i32));
        }
    }
}

/// Checks whether all scores and intermediate values of two profiles stay well within 32 bits.
fn fits(costs: &ProfileCosts, penalties: &[Penalties; 2]) -> bool {
    let most = |numbers: &[i32]| i64::from(numbers.iter().map(|number| number.saturating_abs()).max().unwrap_or(0));
    let columns = penalties[0].columns().min(penalties[1].columns()) as i64;
    let symbols: i64 = penalties.iter().flat_map(|side| &side.extend).map(|&extend| i64::from(extend)).sum();
    let openings: i64 = penalties.iter().map(|side| most(&side.open)).sum();
    most(costs.table.scores()) * columns + symbols + 8 * openings < 1 << 29
}
