//! One pair of very long sequences: what engines compute of it (Li, Ranka and Sahni, "Pairwise Sequence Alignment for
//! Very Long Sequences on GPUs", paper 2).
//!
//! The matrix of a pair has rows 0..=m (prefixes of the query) and columns 0..=n (prefixes of the target). Nobody keeps
//! it. What passes from one part of it to the next are [`Edge`]s: H and the gap that enters the next part, along a row or
//! a column. Three states as in [`pairs::oracle::smith_waterman`](crate::pairs::oracle::smith_waterman):
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)       the last column is query symbol i against a gap
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)       the last column is target symbol j against a gap
//! H[i,j] = max(H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j]), and in local mode at least 0
//! ```
//!
//! An engine does two things: it *sweeps* a panel, all rows of some columns, taking what comes from the left and handing
//! on what goes to the right; and it *traces* the alignment back through a region whose upper and left edges are known.
//!
//! # The alignment that is found
//!
//! Long pairs have a rule of their own, since counting the matches of all paths, as the rule of [`crate::trace`] asks,
//! would double the work. A global alignment walks back from the corner (where end gaps have costs of their own, from the cell
//! that rule 3 of [`crate::trace`] names); a local one from the first cell with the best score: the least i, among these the least j. At
//! a cell in state H the walk takes two symbols if H\[i-1,j-1\] + sub gives H\[i,j\], else the query symbol against a gap if
//! I\[i,j\] does, else the target symbol. Inside a gap it leaves (`first`) rather than extends (`next`) if both give the
//! value. A local walk ends at the first cell in state H where H is 0; other walks go along row 0 or column 0 to the
//! corner.

pub mod chain;
pub mod cpu;
pub mod gpu;
pub mod kernels;
pub mod mock;
pub mod oracle;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::alignment::Cigar;
use crate::error::Result;
use crate::score::{Mode, Scoring};
use crate::seq::Code;

/// Stands for minus infinity in edges. Low enough that no path has it, and that subtracting a cost does not wrap.
pub const NEVER: i32 = -(1 << 30);

/// How many times narrower than the panel before the last one has to be for that to take it over: with a few strips more a panel
/// may take twice as long, as if it had twice as many.
pub(crate) const SLIVER: u32 = 16;

/// The pair and how it is scored.
#[derive(Debug, Clone)]
pub struct LongPair {
    /// The rows' symbols.
    pub query: Arc<[Code]>,
    /// The columns' symbols.
    pub target: Arc<[Code]>,
    /// The scoring. [`Scoring::mode`] says whether H is cut off at 0.
    pub scoring: Arc<Scoring>,
}

impl LongPair {
    /// Whether H is cut off at 0.
    pub fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// The edge above row 1, for columns `columns.start..=columns.end`.
    pub fn top(&self, columns: Range<u32>) -> Edge {
        self.border(columns)
    }

    /// The edge left of column 1, for rows `rows.start..=rows.end`.
    pub fn left(&self, rows: Range<u32>) -> Edge {
        self.border(rows)
    }

    fn border(&self, places: Range<u32>) -> Edge {
        let (local, gaps, ends) = (self.is_local(), self.scoring.gaps, self.scoring.end_costs());
        let value = |k: u32| if local { 0 } else { -i32::try_from(ends.cost(k.into())).unwrap_or(-NEVER) };
        let h: Vec<i32> = (places.start..=places.end).map(value).collect();
        let gap = h.iter().map(|h| h - gaps.first).collect();
        Edge { h, gap }
    }

    /// Whether every value of the matrix stays within 32 bits and above [`NEVER`] with room to spare.
    pub fn fits(&self) -> bool {
        let (m, n) = (self.query.len() as i64, self.target.len() as i64);
        let substitution = &self.scoring.substitution;
        let greatest = i64::from(substitution.max_score().max(0)) * (m.min(n) + 1);
        let gaps = self.scoring.gaps;
        // The worst path that is ever needed is two gaps; a step more is subtracted before maxima are taken.
        let step = i64::from(gaps.first).max(-i64::from(substitution.min_score()));
        let least =
            if self.is_local() { 4 * step } else { gaps.cost((m + n) as u64) + 4 * step + i64::from(gaps.first) };
        greatest + step < i64::from(i32::MAX) && least < i64::from(-NEVER)
    }
}

/// Values along a row or a column, between two parts of the matrix.
///
/// Along row i, for columns j: `h` is H\[i,j\] and `gap` is I\[i+1,j\] = max(H\[i,j\] - first, I\[i,j\] - next). Along
/// column j, for rows i: `h` is H\[i,j\] and `gap` is D\[i,j+1\]. Entry 0 is the corner (row or column of the edge's
/// start); the corner's `gap` along a row is of no account, for it enters a column that is left of the part below, and so
/// is a column's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edge {
    /// H.
    pub h: Vec<i32>,
    /// The gap that enters the next row or column.
    pub gap: Vec<i32>,
}

/// A cell with the best score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Best {
    /// Its H.
    pub score: i32,
    /// Its row, from 1.
    pub i: u32,
    /// Its column, from 1.
    pub j: u32,
}

impl Best {
    /// The better of two: the greater score, then the least row, then the least column.
    pub fn better(a: Option<Best>, b: Option<Best>) -> Option<Best> {
        let key = |best: &Best| (best.score, std::cmp::Reverse(best.i), std::cmp::Reverse(best.j));
        a.into_iter().chain(b).max_by_key(key)
    }
}

/// The best local score that anybody has found yet: what tiles are pruned by. Only a hint that grows; who prunes must
/// leave every cell right from which a score of this or more can be reached.
#[derive(Debug, Default)]
pub struct BestSoFar(AtomicI32);

impl BestSoFar {
    /// The score.
    pub fn get(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }

    /// A cell has this score.
    pub fn raise(&self, score: i32) {
        self.0.fetch_max(score, Ordering::Relaxed);
    }
}

/// All rows of some columns, to be computed once. Row i and column j of the pair are those of symbols i - 1 and j - 1; the
/// cells are those with `rows.start < i <= rows.end` and `columns.start < j <= columns.end`.
#[derive(Debug, Clone, Copy)]
pub struct Sweep<'a> {
    /// The pair.
    pub pair: &'a LongPair,
    /// First and last row edge.
    pub rows: (u32, u32),
    /// First and last column edge.
    pub columns: (u32, u32),
    /// The edge along `rows.0`, from `columns.0` to `columns.1`.
    pub top: &'a Edge,
    /// Edges along the rows `rows.0 + k * mark_every` are handed to [`Sink::mark`], and that along `rows.1`. A multiple
    /// of 64.
    pub mark_every: u32,
    /// Columns between edges along columns inside the panel that are handed to [`Sink::column`], about, if the engine
    /// [keeps such columns](LongEngine::keeps_columns).
    pub keep_every: Option<u32>,
    /// Whether a walk or a checkpoint will want what is inside. If not, an engine may leave out the edges along rows before
    /// the last, which then serve only to begin again where another engine was lost.
    pub is_kept: bool,
    /// Whether cells that cannot lie on a path of [`Sweep::best`] or more may be wrong (never too great). Of local
    /// pairs only.
    pub prune: bool,
    /// The best score yet, to be read and raised.
    pub best: &'a BestSoFar,
    /// Set to end early with [`crate::Error::Interrupted`].
    pub interrupt: &'a AtomicBool,
}

/// What a sweep gets from the panel to its left.
pub trait Source: Sync {
    /// Waits until rows up to `until` (inclusive) of the column are there, and copies those of `first..=until`, by the
    /// numbers of the pair's rows.
    ///
    /// # Errors
    /// If they will never come.
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()>;

    /// The last row that is there.
    fn ready(&self) -> u32;
}

/// What a sweep hands on.
pub trait Sink: Sync {
    /// The panel's last column for rows `first..`, in rising order without gaps, from `rows.0` on.
    fn right(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()>;

    /// The edge along a marked row, over all of the panel's columns.
    fn mark(&self, row: u32, edge: Edge) -> Result<()>;

    /// The edge along a column inside the panel, over all of its rows.
    fn column(&self, column: u32, edge: Edge) -> Result<()> {
        let _ = (column, edge);
        Ok(())
    }

    /// More cells were computed or pruned; `best` is the best of all cells that were, if the engine knows it yet.
    fn progress(&self, cells: u64, best: Option<Best>);
}

/// What a sweep found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// The best cell of a local pair, if any scores more than 0. With pruning, only if it is the best of the pair is it
    /// sure to be here.
    pub best: Option<Best>,
    /// Cells that were not computed because nothing good could come of them.
    pub pruned_cells: u64,
}

/// In which matrix a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum State {
    /// Nothing is known of the last column.
    H,
    /// The last column is a query symbol against a gap.
    I,
    /// The last column is a target symbol against a gap.
    D,
}

/// Where a walk is: all columns after this cell are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Point {
    /// Row.
    pub i: u32,
    /// Column.
    pub j: u32,
    /// The matrix.
    pub state: State,
}

/// How a region's path is found (paper 2, section V). All give the same path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// StripedAlignment: start states carried from strip to strip; a strip's part is traced in the whole strip.
    Striped,
    /// ChunkedAlignment1: as striped, but edges of chunks are kept, and a strip's part is traced chunk by chunk.
    Chunked1,
    /// ChunkedAlignment2: start states carried from chunk to chunk, all parts traced at once.
    #[default]
    Chunked2,
}

/// A rectangle of the matrix through which a path is to be traced back. Its first row and first column are as they are given:
/// they need not follow from each other by the recurrence (beside forbidden cells H is 0 there), and no path runs along them.
#[derive(Debug, Clone, Copy)]
pub struct Region<'a> {
    /// The pair.
    pub pair: &'a LongPair,
    /// First and last row edge.
    pub rows: (u32, u32),
    /// First and last column edge.
    pub columns: (u32, u32),
    /// The edge along `rows.0`, from `columns.0` to `columns.1`.
    pub top: &'a Edge,
    /// The edge along `columns.0`, from `rows.0` to `rows.1`.
    pub left: &'a Edge,
    /// Where the walk enters from below or the right: within the region or on its last row or column.
    pub from: Point,
    /// How.
    pub method: Method,
    /// Columns of a strip; `None` for what suits the engine.
    pub strip: Option<u32>,
    /// Rows of a chunk; `None` for what suits the engine.
    pub chunk: Option<u32>,
    /// Set to end early with [`crate::Error::Interrupted`].
    pub interrupt: &'a AtomicBool,
}

/// The part of a path in a region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traced {
    /// Its columns, from `to` to the region's `from`.
    pub cigar: Cigar,
    /// Where the walk is now: on the region's first row or column, or where a local alignment begins.
    pub to: Option<Point>,
    /// Whether a local alignment begins at `to`.
    pub ended: bool,
    /// Bytes of edges, start states and directions that were kept at the most.
    pub bytes: u64,
}

/// An engine for long pairs.
pub trait LongEngine: Send {
    /// What messages and summaries call it.
    fn label(&self) -> &str;

    /// Cells a second that can be expected of it, in sweeps.
    fn speed(&self) -> f64;

    /// Columns of a panel that suit it best, for a pair of so many rows of which so many columns are left. `alone`: nobody
    /// else computes panels, so that none waits for this one's right edge.
    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32;

    /// Whether sweeps hand on edges along columns inside a panel. Then panels may be as wide as suits the engine; else each
    /// is as wide as edges are to be apart.
    fn keeps_columns(&self) -> bool {
        false
    }

    /// Whether it computes on the processors that the program runs on and waits for no device: it answers in the end, and
    /// is never given up for being silent.
    fn is_host(&self) -> bool {
        false
    }

    /// Computes a panel.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the device is lost or out of memory, errors of `left` and `sink`,
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    fn sweep(&mut self, sweep: &Sweep, left: &dyn Source, sink: &dyn Sink) -> Result<Swept>;

    /// Whether the memory that it may take is enough to trace through a region of so many rows and columns. A region of
    /// 1,024 x 1,024 always is.
    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool;

    /// How many regions it is worth [preparing](LongEngine::prepare) at once.
    fn regions_ahead(&self) -> usize {
        0
    }

    /// Hears of regions that a walk is likely to come through, the next first, each as far as it may be wanted: `from` is its last
    /// row and column. What tracing through them takes can be computed for all together. Those of an earlier call are wanted
    /// no more. It changes no result. Returns how many of them, from the first on, are ready.
    ///
    /// # Errors
    /// As [`LongEngine::sweep`].
    fn prepare(&mut self, regions: &[Region]) -> Result<usize> {
        let _ = regions;
        Ok(0)
    }

    /// Traces a path back through a region.
    ///
    /// # Errors
    /// As [`LongEngine::sweep`].
    fn trace(&mut self, region: &Region) -> Result<Traced>;
}
