//! Borders inside a panel: marked rows and kept columns. The host reads each part of them with the
//! submission that completes it, while the device computes the next submission.

use rayon::prelude::*;

use super::panel::PanelPlan;
use crate::gpu::launch::Commands;
use crate::long::kept_border::{KeptBorder, PART_ENTRIES, PartValues};
use crate::long::kernels::striped::{BLOCK_ROWS, FLIP};
use crate::long::{Border, PanelSweep};

/// Maximum number of bytes of borders in a submission, if it has more than one dispatch.
const SUBMISSION_BYTES: u64 = 64 << 20;

/// Borders inside a panel. Their values arrive during the computation.
#[derive(Debug, Default)]
pub(super) struct InnerBorders {
    /// Wanted marks that no submission returns yet, in reverse order.
    marks: Vec<InnerMark>,
    /// Wanted columns.
    pub columns: Vec<InnerColumn>,
    /// The border along the last row of the panel.
    pub bottom: Option<KeptBorder>,
}

/// A marked row of a panel.
#[derive(Debug, Clone, Copy)]
struct InnerMark {
    /// Number of the border on the device.
    number: u32,
    /// Row of the panel.
    row: u32,
}

/// A kept column inside a panel.
#[derive(Debug)]
pub(super) struct InnerColumn {
    /// Number of the border on the device, from 1 on.
    pub number: u32,
    /// Column of the panel.
    pub column: u32,
    /// The values of the rows that have arrived.
    pub border: KeptBorder,
}

/// The parts of borders that a submission returns.
pub(super) struct ReturnedBorders {
    marks: Vec<InnerMark>,
    /// Number of entries of a mark.
    mark_entries: usize,
    /// Rows of the kept columns.
    rows: std::ops::Range<usize>,
}

impl InnerBorders {
    /// Returns the borders that a panel delivers.
    pub(super) fn new(sweep: &PanelSweep, plan: &PanelPlan) -> Self {
        let p = plan.params;
        let row_of = |mark: u32| (u64::from(mark) * u64::from(p.mark_blocks * BLOCK_ROWS)).min(p.rows.into()) as u32;
        let marks = (1..=p.marks).map(|number| InnerMark { number, row: row_of(number) });
        let is_wanted = |mark: &InnerMark| mark.row.is_multiple_of(sweep.mark_every) || mark.row == p.rows;
        let every = sweep.keep_every.map_or(u32::MAX, |every| (every / (plan.strip * p.keep_strips)).max(1));
        let new = |number| InnerColumn { number, column: plan.whole_column(number), border: KeptBorder::default() };
        let kept = (1..plan.whole_borders() - 1).filter(|number| number.is_multiple_of(every));
        InnerBorders { marks: marks.filter(is_wanted).rev().collect(), columns: kept.map(new).collect(), bottom: None }
    }

    /// Returns the maximum number of dispatches of a submission, so that it returns few bytes.
    pub(super) fn max_dispatches(&self, plan: &PanelPlan) -> u32 {
        let p = plan.params;
        let mark_bytes = u64::from(p.columns_stride) * self.marks.len() as u64 * 8 / u64::from(p.rows);
        let row_bytes = self.columns.len() as u64 * 8 + mark_bytes;
        let dispatch_rows = p.steps as u64 * u64::from(BLOCK_ROWS);
        u32::try_from(SUBMISSION_BYTES / (row_bytes * dispatch_rows).max(1)).unwrap_or(u32::MAX).max(1)
    }

    /// Copies the parts back that are complete when the right border is known for `rows`, which
    /// follow the rows of the previous submission.
    pub(super) fn copy_back(
        &mut self,
        plan: &PanelPlan,
        rows: std::ops::Range<u32>,
        [vertical, horizontal]: [&wgpu::Buffer; 2],
        commands: &mut Commands,
    ) -> ReturnedBorders {
        let stride = u64::from(plan.params.columns_stride);
        let mut marks = Vec::new();
        while let Some(mark) = self.marks.pop_if(|mark| mark.row < rows.end) {
            let begin = u64::from(mark.number) * stride * 8;
            commands.copy_back(horizontal, begin..begin + stride * 8);
            marks.push(mark);
        }
        if !rows.is_empty() {
            for column in &self.columns {
                let begin = plan.whole_begin(column.number);
                let bytes = |row: u32| (begin + u64::from(row)) * 8;
                commands.copy_back(vertical, bytes(rows.start)..bytes(rows.end));
            }
        }
        ReturnedBorders { marks, mark_entries: stride as usize, rows: rows.start as usize..rows.end as usize }
    }

    /// Takes the values of a submission, which other words may follow. Returns the completed marks,
    /// each with its row in the panel. The border along the last row stays here.
    pub(super) fn take(
        &mut self,
        words: &[u32],
        ReturnedBorders { marks, mark_entries, rows }: ReturnedBorders,
        last_row: u32,
        pool: Option<&rayon::ThreadPool>,
    ) -> Vec<(u32, KeptBorder)> {
        let (of_marks, of_columns) = words.split_at(2 * mark_entries * marks.len());
        let mut borders: Vec<(u32, KeptBorder)> =
            marks.into_iter().map(|mark| (mark.row, KeptBorder::default())).collect();
        let in_marks = borders.iter_mut().map(|(_, border)| border);
        let in_marks = in_marks.zip(of_marks.chunks_exact(2 * mark_entries)).map(|(border, words)| (border, words, 0));
        // Without rows, no words belong to columns.
        let returned = if rows.is_empty() { 0 } else { self.columns.len() };
        let in_columns = self.columns[..returned].iter_mut().map(|column| &mut column.border);
        let in_columns = in_columns.zip(of_columns.chunks_exact((2 * rows.len()).max(1)));
        let in_columns = in_columns.map(|(border, words)| (border, words, FLIP));
        append_all(in_marks.chain(in_columns).collect(), pool);
        self.bottom = borders.pop_if(|(row, _)| *row == last_row).map(|(_, border)| border).or(self.bottom.take());
        borders
    }
}

/// Appends values to borders, on the threads of a pool if there is one. Each border has its words
/// of the device, and the bits of each word that are inverted.
fn append_all(borders: Vec<(&mut KeptBorder, &[u32], u32)>, pool: Option<&rayon::ThreadPool>) {
    let parts =
        borders.iter().flat_map(|&(_, words, flip)| words.chunks(2 * PART_ENTRIES).map(move |part| (part, flip)));
    let parts: Vec<(&[u32], u32)> = parts.collect();
    let read = |&(words, flip): &(&[u32], u32)| {
        let value = |at: usize| (words[at] ^ flip) as i32;
        if words.chunks_exact(2).all(|pair| pair == &words[..2]) {
            return PartValues::Equal(value(0), value(1));
        }
        let of = |first: usize| (first..words.len()).step_by(2).map(value).collect();
        PartValues::Separate(Border { h: of(0), gap: of(1) })
    };
    let values: Vec<PartValues> = match pool {
        Some(pool) => pool.install(|| parts.par_iter().map(read).collect()),
        None => parts.iter().map(read).collect(),
    };
    let mut values = values.into_iter();
    for (border, words, _) in borders {
        for part in words.chunks(2 * PART_ENTRIES) {
            values.next().into_iter().for_each(|values| border.push(part.len() / 2, values));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_the_borders_are_ignored() {
        let column = |number| InnerColumn { number, column: number, border: KeptBorder::default() };
        let mut inner = InnerBorders { columns: vec![column(1), column(2)], ..InnerBorders::default() };
        let pool = crate::engine::thread_pool(2).unwrap();
        let mut take = |marks: &[(u32, u32)], rows: std::ops::Range<usize>, words: &[u32], pool| {
            let marks = marks.iter().map(|&(number, row)| InnerMark { number, row }).collect();
            inner.take(words, ReturnedBorders { marks, mark_entries: 3, rows }, 8, pool)
        };
        // Two words of a clock follow.
        assert_eq!(take(&[], 0..0, &[77, 78], None), []);
        let flipped = |values: [u32; 8]| values.map(|value| value ^ FLIP);
        let mark = [1, 2, 3, 4, 5, 6];
        let words = [&mark[..], &flipped([10, 11, 12, 13, 20, 21, 22, 23]), &[77, 78]].concat();
        let border = |h: &[i32], gap: &[i32]| Border { h: h.to_vec(), gap: gap.to_vec() };
        let expected = (4, border(&[1, 3, 5], &[2, 4, 6]));
        let marks = take(&[(1, 4)], 0..2, &words, Some(&pool));
        let marks: Vec<(u32, Border)> = marks.into_iter().map(|(row, border)| (row, border.into_border())).collect();
        assert_eq!(marks, [expected]);
        // The border along the last row stays.
        let words = [&[7; 6][..], &flipped([14, 15, 16, 17, 24, 25, 24, 25])].concat();
        assert_eq!(take(&[(2, 8)], 2..4, &words, None), []);
        assert_eq!(inner.bottom.take().unwrap().into_border(), border(&[7; 3], &[7; 3]));
        let columns: Vec<Border> = inner.columns.into_iter().map(|column| column.border.into_border()).collect();
        assert_eq!(
            columns,
            [border(&[10, 12, 14, 16], &[11, 13, 15, 17]), border(&[20, 22, 24, 24], &[21, 23, 25, 25]),]
        );
    }
}
