//! Engines for one pair of very long sequences (Li, Ranka and Sahni, "Pairwise Sequence Alignment
//! for Very Long Sequences on GPUs", called paper 2 here).
//!
//! The matrix of a pair has rows 0..=m (prefixes of the query) and columns 0..=n (prefixes of the
//! target). The whole matrix is never stored. Neighbouring parts of it are connected by
//! [`Border`]s. A border lies along a row or a column, and contains H and the value of the gap that
//! enters the next part. There are three states, as in
//! [`pairs::oracle::smith_waterman`](crate::pairs::oracle::smith_waterman):
//!
//! ```text
//! I[i,j] = max(H[i-1,j] - first, I[i-1,j] - next)       the last column is query symbol i against a gap
//! D[i,j] = max(H[i,j-1] - first, D[i,j-1] - next)       the last column is target symbol j against a gap
//! H[i,j] = max(H[i-1,j-1] + sub(query[i], target[j]), I[i,j], D[i,j]), and in local mode at least 0
//! ```
//!
//! An engine has two tasks. It *sweeps* a panel, which consists of all rows of some columns: it
//! reads the left border of the panel and delivers the right border. It also *traces* the alignment
//! back through a region whose upper and left borders are known.
//!
//! # Terms
//!
//! - A *panel* consists of all rows of some columns. One engine sweeps it.
//! - A *mark* is a row of a panel whose border the engine delivers.
//! - The *grid* of a sweep consists of the rows and columns whose borders are kept for the
//!   traceback.
//! - A *region* is a rectangle between neighbouring rows and columns of the grid.
//! - A *strip* consists of some columns of a panel or a region. On a GPU, one workgroup computes
//!   it.
//! - A *chunk* consists of some rows of a strip.
//! - A *start state* of a cell is the point where the path to this cell enters its strip or chunk.
//! - An *anchored* value counts from the start of a part of the path instead of the start of the
//!   matrix.
//!
//! # The canonical alignment
//!
//! Long pairs have a separate rule, because the rule of [`crate::trace`] requires the number of
//! matches of all paths, which would double the work. The traceback of a global alignment starts at
//! the lower right corner. If end gaps have their own costs, it starts at the cell that rule 3 of
//! [`crate::trace`] names. The traceback of a local alignment starts at the first cell with the
//! best score: the cell with the least i, and among these the cell with the least j.
//!
//! At a cell in state H, the traceback aligns two symbols if H\[i-1,j-1\] + sub equals H\[i,j\].
//! Otherwise it aligns the query symbol with a gap if I\[i,j\] equals H\[i,j\]. Otherwise it aligns
//! the target symbol with a gap. Inside a gap, the traceback leaves the gap (`first`) rather than
//! extending it (`next`) if both give the value. A local traceback ends at the first cell in state
//! H where H is 0. Other tracebacks continue along row 0 or column 0 to the upper left corner.

pub mod chain;
pub mod cpu;
pub mod gpu;
mod kept_border;
pub mod kernels;
pub mod mock;
pub mod oracle;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::alignment::Cigar;
use crate::error::Result;
use crate::score::{Mode, Scoring};
use crate::seq::Code;

pub use self::kept_border::KeptBorder;

/// Minus infinity in borders. It is below the value of every path, and subtracting a cost from it
/// does not wrap.
pub const NEG_INF: i32 = -(1 << 30);

/// Minimum ratio of a panel's width to the remaining columns at which the panel also takes these. A
/// separate panel for a few columns would be slow. Panels must leave space for them: a panel with a
/// few more strips than a device runs at once may take twice as long.
pub(crate) const SLIVER: u32 = 16;

/// A pair and its scoring.
#[derive(Debug, Clone)]
pub struct LongPair {
    /// Symbols of the rows.
    pub query: Arc<[Code]>,
    /// Symbols of the columns.
    pub target: Arc<[Code]>,
    /// The scoring. [`Scoring::mode`] determines whether H is clamped at 0.
    pub scoring: Arc<Scoring>,
}

impl LongPair {
    /// Returns whether H is clamped at 0.
    pub fn is_local(&self) -> bool {
        self.scoring.mode == Mode::Local
    }

    /// Returns the border above row 1, for columns `columns.start..=columns.end`.
    pub fn top_border(&self, columns: Range<u32>) -> Border {
        self.border(columns)
    }

    /// Returns the border left of column 1, for rows `rows.start..=rows.end`.
    pub fn left_border(&self, rows: Range<u32>) -> Border {
        self.border(rows)
    }

    fn border(&self, places: Range<u32>) -> Border {
        let (local, gaps, ends) = (self.is_local(), self.scoring.gaps, self.scoring.end_costs());
        let value = |k: u32| if local { 0 } else { -i32::try_from(ends.cost(k.into())).unwrap_or(-NEG_INF) };
        let h: Vec<i32> = (places.start..=places.end).map(value).collect();
        let gap = h.iter().map(|h| h - gaps.first).collect();
        Border { h, gap }
    }

    /// Returns the most that paths can gain in the rest of the matrix.
    pub(crate) fn rest_gain(&self) -> RestGain {
        let Scoring { substitution, gaps, .. } = &*self.scoring;
        let ends = self.scoring.end_costs();
        let least_cost = [gaps.first, gaps.next, ends.first, ends.next].into_iter().min().unwrap_or(0);
        RestGain {
            lengths: (self.query.len() as i64, self.target.len() as i64),
            of_pair: substitution.max_score().max(0).into(),
            of_gap_symbol: if self.is_local() { 0 } else { least_cost.into() },
        }
    }

    /// Returns whether every value of the matrix fits in 32 bits and stays well above [`NEG_INF`].
    pub fn fits(&self) -> bool {
        let (m, n) = (self.query.len() as i64, self.target.len() as i64);
        let substitution = &self.scoring.substitution;
        let greatest = i64::from(substitution.max_score().max(0)) * (m.min(n) + 1);
        let gaps = self.scoring.gaps;
        // The worst path that can matter has two gaps. One more step is subtracted before the
        // maximum is taken.
        let step = i64::from(gaps.first).max(-i64::from(substitution.min_score()));
        let least =
            if self.is_local() { 4 * step } else { gaps.cost((m + n) as u64) + 4 * step + i64::from(gaps.first) };
        greatest + step < i64::from(i32::MAX) && least < i64::from(-NEG_INF)
    }
}

/// Values along a row or a column, between two parts of the matrix.
///
/// Along row i, for columns j: `h` is H\[i,j\] and `gap` is I\[i+1,j\] = max(H\[i,j\] - first,
/// I\[i,j\] - next). Along column j, for rows i: `h` is H\[i,j\] and `gap` is D\[i,j+1\]. Entry 0
/// is the corner: the first row or column of the border. The `gap` of the corner is not used. Along
/// a row it would enter a column left of the part below, and along a column it would enter a row
/// above the part to the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Border {
    /// H.
    pub h: Vec<i32>,
    /// Value of the gap that enters the next row or column.
    pub gap: Vec<i32>,
}

/// A cell with the best score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BestCell {
    /// H of the cell.
    pub score: i32,
    /// Row, from 1.
    pub i: u32,
    /// Column, from 1.
    pub j: u32,
}

impl BestCell {
    /// Returns the better of two cells: the one with the greater score, then the lesser row, then
    /// the lesser column.
    pub fn better(a: Option<BestCell>, b: Option<BestCell>) -> Option<BestCell> {
        let key = |best: &BestCell| (best.score, std::cmp::Reverse(best.i), std::cmp::Reverse(best.j));
        a.into_iter().chain(b).max_by_key(key)
    }
}

/// The most that a path can gain after a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestGain {
    /// Lengths of query and target.
    lengths: (i64, i64),
    /// The greatest score of two symbols.
    of_pair: i64,
    /// The least cost of a symbol in a gap; 0 if paths may end anywhere.
    of_gap_symbol: i64,
}

impl RestGain {
    /// Returns the most that a path can gain after the cell (i, j): the greatest score for each pair
    /// of symbols that follows. A path to the ends of both sequences also has gaps opposite the
    /// further symbols of the longer rest.
    pub(crate) fn after(&self, i: u32, j: u32) -> i64 {
        let (rows, columns) = (self.lengths.0 - i64::from(i), self.lengths.1 - i64::from(j));
        self.of_pair * rows.min(columns) - self.of_gap_symbol * (rows - columns).abs()
    }
}

/// The score that engines prune by. For local pairs it is the best score so far of all threads, and
/// for whole sequences it is a lower bound of the score. It never decreases. An engine that prunes
/// must still compute every cell correctly that is on a path of at least this score.
#[derive(Debug, Default)]
pub struct BestSoFar(AtomicI32);

impl BestSoFar {
    /// Returns the score.
    pub fn get(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Raises the score to at least the score of a cell.
    pub fn raise(&self, score: i32) {
        self.0.fetch_max(score, Ordering::Relaxed);
    }
}

/// The rows or columns between two borders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct BorderSpan {
    /// Row of the upper border, or column of the left border. The cells come after it.
    pub first: u32,
    /// Row of the lower border, or column of the right border. It contains the last cells.
    pub last: u32,
}

impl BorderSpan {
    /// Creates the span from one border to another.
    pub const fn new(first: u32, last: u32) -> Self {
        BorderSpan { first, last }
    }

    /// Returns the number of rows or columns of cells.
    pub fn length(self) -> u32 {
        self.last - self.first
    }

    /// Returns the rows or columns from one border to the other, both included.
    pub fn lines(self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    /// Returns whether a row or column contains cells of the span.
    pub fn contains(self, line: u32) -> bool {
        self.first < line && line <= self.last
    }
}

impl From<(u32, u32)> for BorderSpan {
    fn from((first, last): (u32, u32)) -> Self {
        BorderSpan { first, last }
    }
}

impl From<BorderSpan> for (u32, u32) {
    fn from(span: BorderSpan) -> Self {
        (span.first, span.last)
    }
}

/// A panel to compute. Row i and column j of the matrix belong to symbols i - 1 and j - 1. The
/// panel contains the cells with `rows.first < i <= rows.last` and `columns.first < j <=
/// columns.last`.
#[derive(Debug, Clone, Copy)]
pub struct PanelSweep<'a> {
    /// The pair.
    pub pair: &'a LongPair,
    /// Rows of the upper and the lower border.
    pub rows: BorderSpan,
    /// Columns of the left and the right border.
    pub columns: BorderSpan,
    /// The border along `rows.first`, from `columns.first` to `columns.last`.
    pub top: &'a Border,
    /// Distance of the marks: [`SweepSink::push_row`] receives the borders along the rows
    /// `rows.first + k * mark_every`, and along `rows.last`. A multiple of 64.
    pub mark_every: u32,
    /// Approximate distance of the columns inside the panel whose borders
    /// [`SweepSink::push_column`] receives, if the engine [keeps such
    /// columns](LongEngine::keeps_columns).
    pub keep_every: Option<u32>,
    /// Whether a traceback or a checkpoint needs the borders inside the panel. If not, an engine
    /// may skip all marks except the last row. They would only allow another engine to continue
    /// from there.
    pub is_kept: bool,
    /// Whether pruning is allowed. Cells that are on no path of at least the score
    /// [`PanelSweep::best`] may then have values that are too small, but never too great. GPUs prune
    /// local pairs only.
    pub prune: bool,
    /// The best score so far. The sweep reads and raises it.
    pub best: &'a BestSoFar,
    /// Set to end the sweep early with [`crate::Error::Interrupted`].
    pub interrupt: &'a AtomicBool,
}

/// The left border of a panel, which the panel to its left may still be computing.
pub trait LeftSource: Sync {
    /// Waits until rows up to `until` (inclusive) of the column are known, and copies rows
    /// `first..=until`. Rows are numbered as in the pair.
    ///
    /// # Errors
    /// An error if the rows will never be known.
    fn read(&self, first: u32, until: u32, h: &mut [i32], gap: &mut [i32]) -> Result<()>;

    /// Returns the last row that is known.
    fn last_known_row(&self) -> u32;
}

/// Receives the results of a sweep while it runs.
pub trait SweepSink: Sync {
    /// Receives the panel's last column from row `first` on. Rows come in order without gaps, from
    /// `rows.first` on.
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()>;

    /// Receives the border along a marked row, over all columns of the panel.
    fn push_row(&self, row: u32, edge: KeptBorder) -> Result<()>;

    /// Receives the border along a column inside the panel, over all rows of the panel.
    fn push_column(&self, column: u32, edge: KeptBorder) -> Result<()> {
        let _ = (column, edge);
        Ok(())
    }

    /// Receives the number of cells that were computed or pruned since the last call. `best` is the
    /// best cell of all cells so far, if the engine knows it already.
    fn progress(&self, cells: u64, best: Option<BestCell>);
}

/// Result of a sweep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepResult {
    /// The best cell of a local pair, if any cell scores more than 0. With pruning, it is correct
    /// only if it is the best cell of the whole pair.
    pub best: Option<BestCell>,
    /// Number of cells that were skipped, because no alignment of the best score passes through
    /// them.
    pub pruned_cells: u64,
}

/// State of a path at a cell: the matrix that contains its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum PathState {
    /// The last column of the alignment is not determined yet.
    H,
    /// The last column is a query symbol against a gap.
    I,
    /// The last column is a target symbol against a gap.
    D,
}

/// Position of a traceback. All columns of the alignment after this position are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PathPoint {
    /// Row.
    pub i: u32,
    /// Column.
    pub j: u32,
    /// Matrix.
    pub state: PathState,
}

/// Method of finding the path through a region (paper 2, section V). All methods find the same
/// path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// StripedAlignment: carries start states from strip to strip. Traces the part of the path in a
    /// strip at once.
    Striped,
    /// ChunkedAlignment1: like StripedAlignment, but keeps the borders of chunks and traces the
    /// part of the path in a strip chunk by chunk.
    Chunked1,
    /// ChunkedAlignment2: carries start states from chunk to chunk, and traces all parts at the
    /// same time.
    #[default]
    Chunked2,
}

/// A rectangle of the matrix through which a path is traced back. The values of its first row and
/// first column are given. They need not satisfy the recurrences, because H is 0 next to forbidden
/// cells, and no path runs along them.
#[derive(Debug, Clone, Copy)]
pub struct TraceRegion<'a> {
    /// The pair.
    pub pair: &'a LongPair,
    /// Rows of the upper and the lower border.
    pub rows: BorderSpan,
    /// Columns of the left and the right border.
    pub columns: BorderSpan,
    /// The border along `rows.first`, from `columns.first` to `columns.last`.
    pub top: &'a Border,
    /// The border along `columns.first`, from `rows.first` to `rows.last`.
    pub left: &'a Border,
    /// The point where the traceback enters the region from below or from the right. It is in the
    /// region, which includes the last row and column.
    pub from: PathPoint,
    /// The method.
    pub method: Method,
    /// Columns of a strip. `None` lets the engine choose.
    pub strip: Option<u32>,
    /// Rows of a chunk. `None` lets the engine choose.
    pub chunk: Option<u32>,
    /// Set to end the traceback early with [`crate::Error::Interrupted`].
    pub interrupt: &'a AtomicBool,
}

/// The part of a path that lies in a region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TracebackResult {
    /// Columns of the alignment between `to` and the region's `from`.
    pub cigar: Cigar,
    /// Last position of the traceback in the region, on its first row or column, or the start of a
    /// local alignment.
    pub to: Option<PathPoint>,
    /// Whether a local alignment starts at `to`.
    pub ended: bool,
    /// Peak number of bytes of borders, start states and directions.
    pub bytes: u64,
}

/// An engine for long pairs.
pub trait LongEngine: Send {
    /// Returns the name for messages and summaries.
    fn label(&self) -> &str;

    /// Returns the expected speed of sweeps in cells per second.
    fn speed(&self) -> f64;

    /// Returns the number of columns of a panel that suits the engine best. The pair has `rows`
    /// rows, and `columns` columns are left. `alone` states that no other engine computes panels,
    /// so that none waits for the right border of this panel.
    fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32;

    /// Returns the least number of columns of a panel that suits the engine. Narrower panels do not
    /// occupy it.
    fn min_panel_columns(&self) -> u32 {
        4096
    }

    /// Returns whether sweeps deliver borders along columns inside a panel. Such an engine may take
    /// panels of any width. All other engines take panels that are as wide as the distance between
    /// kept columns.
    fn keeps_columns(&self) -> bool {
        false
    }

    /// Returns whether the engine computes on the processors of this program and does not depend on
    /// a device. Such an engine always returns eventually, so it is never abandoned for being
    /// silent.
    fn is_host(&self) -> bool {
        false
    }

    /// Returns engines that share the threads or the device of this one, to compute separate pairs
    /// at the same time. On the CPU, each has one thread. This engine must not compute as long as
    /// they exist. Returns none if the engine cannot be divided.
    fn engines_for_pairs(&mut self) -> Vec<Box<dyn LongEngine>> {
        Vec::new()
    }

    /// Computes a panel.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the device is lost or out of memory; errors of
    /// `left` and `sink`; [`Error::Interrupted`](crate::Error::Interrupted).
    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult>;

    /// Returns whether the engine's memory suffices to trace through a region of these rows and
    /// columns. It always suffices for 1,024 x 1,024.
    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool;

    /// Returns the number of regions that are worth [preparing](LongEngine::prepare) at once.
    fn max_prepared_regions(&self) -> usize {
        0
    }

    /// Prepares regions that a traceback is likely to enter, in order. The `from` of a region
    /// contains the last row and column that may be needed. The engine may compute the borders for
    /// all regions together. It drops the regions of an earlier call. Preparing does not change
    /// results. Returns the number of regions that are ready, counted from the first one.
    ///
    /// # Errors
    /// The errors of [`LongEngine::sweep`].
    fn prepare(&mut self, regions: &[TraceRegion]) -> Result<usize> {
        let _ = regions;
        Ok(0)
    }

    /// Traces a path back through a region.
    ///
    /// # Errors
    /// The errors of [`LongEngine::sweep`].
    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult>;
}
