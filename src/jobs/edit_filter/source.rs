//! Pairs of blocks that come while others are computed: what is left of a block goes on as soon as all of it is there, and the
//! devices go on with the next.

use std::sync::Arc;

use super::{BAND_PAIRS, Filter, KeepAll, MOST_SELECTED, Prefiltered, edit_job, select};
use crate::edit::Edit;
use crate::edit::plan::{EditBands, EditJob};
use crate::engine::Engine;
use crate::engine::ordered::Ordered;
use crate::engine::owner::{self, Control, EngineSet};
use crate::engine::queue::Planned;
use crate::engine::stats::Ran;
use crate::error::{Error, Result};
use crate::jobs::Run;
use crate::jobs::allpairs::part_of;
use crate::jobs::blocks::source::{Bander, Begun, BlockBands};
use crate::jobs::blocks::{Block, BlockSource};
use crate::pairs::plan;
use crate::seq::Part;

/// Parts of a job that are done, each a block, with what is left of them.
type Done<'a> = dyn FnMut(Vec<Part>, Prefiltered) -> Result<()> + 'a;

impl Filter {
    /// Selects the pairs of blocks, and tells `done` of some as soon as they are through, in their order, while engines go on.
    /// These stay for the next time. Gives what they did; `None`, and takes no block, where there are none to be had.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; a broken promise of an engine as [`Error::Internal`]; what `done` returns.
    pub(in crate::jobs) fn select_source(
        &mut self,
        whole: &plan::Job,
        source: &Arc<dyn BlockSource>,
        run: &Run,
        mut done: impl FnMut(Vec<Part>, Prefiltered) -> Result<()>,
    ) -> Result<Option<Ran>> {
        let mut engine_set = self.engine_set.take().unwrap_or_else(|| EngineSet::new(self.open(run, 2)));
        let selected = match engine_set.is_empty() {
            true => Ok(None),
            false => self.select_blocks(whole, source, (&mut engine_set, MOST_SELECTED), run, &mut done).map(Some),
        };
        // What keeps everything is of no use to the next; but nor would the devices be, if they are opened once more.
        engine_set.retain(|engine| engine.name() != KeepAll::NAME);
        self.engine_set = Some(engine_set);
        selected
    }

    /// `most`: pairs of a block that are selected; one that has more is computed as a whole.
    pub(super) fn select_blocks(
        &self,
        whole: &plan::Job,
        source: &Arc<dyn BlockSource>,
        (engine_set, most): (&mut EngineSet<Edit>, usize),
        run: &Run,
        done: &mut Done<'_>,
    ) -> Result<Ran> {
        let edit = edit_job(&plan::Job { parts: None, ..whole.clone() }, self.scheme.clone());
        let begun = Begun::default();
        let nothing = EditJob { parts: Some(Arc::default()), ..edit.clone() };
        let bander =
            Bands { edit, bands: nothing.bands(BAND_PAIRS), begun: begun.clone(), pool: Arc::clone(&self.pool) };
        let mut bands: Ordered<(u64, Vec<(u32, u32)>)> = Ordered::new();
        let control = Control {
            ahead: bands.ahead(),
            pool: Some(Arc::clone(&self.pool)),
            coming: source.coming(),
            is_open_ended: true,
            ..run.control()
        };
        let known = source.coming().load(std::sync::atomic::Ordering::Relaxed);
        let reserve = || vec![Box::<KeepAll>::default() as Box<dyn Engine<Edit>>];
        let is_triangle = whole.against.is_none();
        let source = BlockBands::new(source, bander);
        let ran = owner::run_set(engine_set, reserve, source, known, &control, |outcome| {
            run.progress.advance(outcome.pairs, outcome.cells);
            let found = self.pool.install(|| select(&outcome, is_triangle));
            bands.add(
                &outcome.band,
                outcome.pairs,
                || (outcome.band.pairs, Vec::new()),
                |(_, selected)| {
                    selected.extend(found.into_iter().flatten());
                    Ok(size_of_val(&**selected) as u64)
                },
            )?;
            let mut through = Vec::new();
            while let Some((_, (pairs, selected))) = bands.complete() {
                take_through(&begun, &mut through);
                let took = begun.first(|open| open.take(pairs, selected, most)).unwrap_or(false);
                if !took {
                    return Err(Error::Internal("a band of edit distances is in several blocks".into()));
                }
                take_through(&begun, &mut through);
            }
            self.go_on(through, done)
        })?;
        bands.end()?;
        let mut through = Vec::new();
        take_through(&begun, &mut through);
        self.go_on(through, done)?;
        match begun.first(|open| open.left) {
            None => Ok(ran),
            Some(left) => Err(Error::Internal(format!("a block is short of {left} edit distances"))),
        }
    }

    /// Tells of blocks that are through, as many at once as can be.
    fn go_on(&self, through: Vec<Open>, done: &mut Done<'_>) -> Result<()> {
        for group in through.chunk_by(|one, other| one.selected.is_some() && other.selected.is_some()) {
            let parts = group.iter().map(|open| open.part.clone()).collect();
            let told = group.iter().fold((0, 0), |told, open| (told.0 + open.all.0, told.1 + open.all.1));
            let mut selection: Option<Vec<(u32, u32)>> = Some(Vec::new());
            for open in group {
                match (&mut selection, &open.selected) {
                    (Some(all), Some(own)) => all.extend_from_slice(own),
                    _ => selection = None,
                }
            }
            if let Some(all) = &mut selection {
                self.pool.install(|| rayon::slice::ParallelSliceMut::par_sort_unstable(all.as_mut_slice()));
                tracing::debug!(pairs = all.len(), blocks = group.len(), "selected by edit distance");
            }
            done(parts, Prefiltered { selection: selection.map(Arc::new), ran: Ran::default(), seconds: 0.0, told })?;
        }
        Ok(())
    }
}

/// A block that was begun.
struct Open {
    part: Part,
    /// Its pairs and cells.
    all: (u64, u64),
    /// Pairs that are not through.
    left: u64,
    /// Pairs that may reach the identity; `None` if these are too many.
    selected: Option<Vec<(u32, u32)>>,
}

impl Open {
    /// So many more of its pairs are through. Whether it had so many left.
    fn take(&mut self, pairs: u64, more: Vec<(u32, u32)>, most: usize) -> bool {
        if let Some(selected) = &mut self.selected {
            selected.extend(more);
            if selected.len() > most {
                self.selected = None;
            }
        }
        let left = self.left.checked_sub(pairs);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}

/// Takes the blocks that are through.
fn take_through(begun: &Begun<Open>, through: &mut Vec<Open>) {
    while let Some(open) = begun.end_if(|open| open.left == 0) {
        through.push(open);
    }
}

/// Bands of edit distances of blocks.
struct Bands {
    edit: EditJob,
    bands: EditBands,
    begun: Begun<Open>,
    pool: Arc<rayon::ThreadPool>,
}

impl Bander<Edit> for Bands {
    fn begin(&mut self, block: Block) {
        let part = part_of(&block, self.edit.strands.copies());
        let parts = [part.clone()];
        let (pairs, cells) = self.edit.extents(&parts)[0];
        let all = (pairs, u64::try_from(cells).unwrap_or(u64::MAX));
        self.begun.add(Open { part: part.clone(), all, left: pairs, selected: Some(Vec::new()) }, all.0, all.1);
        self.bands.add(part);
    }

    fn next(&mut self) -> Option<Planned<Edit>> {
        let bands = &mut self.bands;
        self.pool.install(|| bands.next())
    }
}
