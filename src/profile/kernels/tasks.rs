//! A batch as the kernels see it: packed profiles, rectangles, and the dispatches that divide them.

use rayon::prelude::*;

use super::layout::{Node, Params, Problem, UNDIVIDED};
use super::program::ROWS;
use crate::profile::divided::{Crossing, Divided};
use crate::profile::work::{Pair, ProfileBatch};

/// Rows of rectangles that are not divided further: the CPU does these faster than they are handed on.
pub const MIN_ROWS: usize = 64;
/// Levels of rectangles at most.
const MAX_LEVELS: u32 = 20;
/// What numbers of the kernels stay below.
const MAX: i64 = 1 << 30;

/// Sizes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Invocations a workgroup; each has [`ROWS`] rows of a tile.
    pub workgroup: u32,
    /// Columns of a tile.
    pub columns: u32,
    /// Invocations that look for a crossing.
    pub cross: u32,
    /// Rows of rectangles that are not divided further.
    pub least_rows: usize,
}

/// What a dispatch is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launch {
    /// A diagonal of tiles.
    Tiles,
    /// The crossings of a level.
    Crossings,
}

/// A batch as the kernels see it.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// The problems.
    pub problems: Vec<Problem>,
    /// Their profiles.
    pub data: Vec<i32>,
    /// Their rectangles.
    pub nodes: Vec<Node>,
    /// Entries of row borders, of column borders, and corners.
    pub borders: [u64; 3],
    /// Letters of the problem that has most, in fours.
    pub letters: u32,
    /// Rectangles of every problem that are divided.
    pub divided: usize,
    /// In the order in which they go over the problems; with the workgroups of each.
    pub launches: Vec<(Launch, Params, u64)>,
}

/// How often rectangles are halved before none has more rows than are left to the CPU.
fn levels(rows: usize, least: usize) -> u32 {
    (0..MAX_LEVELS).find(|&level| rows.div_ceil(1 << level) <= least.max(1)).unwrap_or(MAX_LEVELS)
}

/// Whether numbers of the kernels hold a problem.
fn holds(pair: &Pair) -> bool {
    let [m, n] = pair.columns().map(|columns| columns as i64);
    let greatest = |numbers: &[i32]| numbers.iter().map(|&number| i64::from(number).abs()).max().unwrap_or(0);
    let costs = pair.penalties.iter().map(|own| 4 * greatest(&own.open) + greatest(&own.extend) * (m + n)).sum::<i64>();
    let column = |column: &[i32]| column.iter().map(|&tenths| i64::from(tenths).abs()).sum::<i64>();
    let shares = pair.tenths.chunks_exact(pair.letters).map(column).max().unwrap_or(0);
    let products = greatest(&pair.scored).saturating_mul(shares);
    let scores = (products / 10 + 1).saturating_mul(m.min(n));
    let tenths = pair.tenths.iter().all(|&tenths| i8::try_from(tenths).is_ok());
    tenths && products < MAX && scores.saturating_add(costs) < MAX
}

/// Two profiles as the kernels have them: their sizes and places of all numbers, and these.
fn pack(pair: &Pair) -> (Problem, Vec<i32>) {
    let mut data = Vec::new();
    let [m, n] = pair.columns();
    // Letters that the second profile does not have score nothing.
    let has = |&letter: &usize| pair.tenths.iter().skip(letter).step_by(pair.letters).any(|&tenths| tenths != 0);
    let used: Vec<usize> = (0..pair.letters).filter(has).collect();
    let fours = used.len().div_ceil(4);
    let mut problem = Problem { m: m as u32, n: n as u32, fours: fours as u32, ..Problem::default() };
    problem.scored = data.len() as u32;
    for column in pair.scored.chunks_exact(pair.letters) {
        data.extend(used.iter().map(|&letter| column[letter]));
        data.extend(std::iter::repeat_n(0, 4 * fours - used.len()));
    }
    problem.tenths = data.len() as u32;
    for four in used.chunks(4) {
        data.extend(pair.tenths.chunks_exact(pair.letters).map(|column| {
            let mut bytes = [0; 4];
            bytes.iter_mut().zip(four).for_each(|(byte, &letter)| *byte = column[letter] as u8);
            i32::from_le_bytes(bytes)
        }));
    }
    for (side, place) in pair.penalties.iter().zip([&mut problem.first, &mut problem.second]) {
        *place = data.len() as u32;
        data.extend(&side.open);
        data.extend(&side.extend);
        data.extend(side.extend.iter().scan(0, |sum, extend| {
            *sum += extend;
            Some(*sum)
        }));
    }
    (problem, data)
}

impl Tasks {
    /// The tasks of a batch. `None` if a number may exceed what the kernels hold.
    pub fn new(batch: &ProfileBatch, shape: Shape) -> Option<Self> {
        let mut tasks = Tasks::default();
        let pairs = || batch.blocks.iter().map(|block| &*block.pair);
        let [most_rows, most_columns] = [0, 1].map(|side| pairs().map(|pair| pair.columns()[side]).max().unwrap_or(0));
        let levels = levels(most_rows, shape.least_rows);
        tasks.divided = (1 << levels) - 1;
        // Not on the thread of the device, which has enough to do.
        let packed = batch.chunk.pool.install(|| {
            batch.blocks.par_iter().map(|block| holds(&block.pair).then(|| pack(&block.pair))).collect::<Vec<_>>()
        });
        for packed in packed {
            let (problem, data) = packed.filter(|(_, data)| tasks.data.len() + data.len() < 1 << 30)?;
            tasks.add(problem, &data, shape);
        }
        tasks.launch(levels, most_rows, most_columns as u32, shape);
        Some(tasks)
    }

    fn add(&mut self, mut problem: Problem, data: &[i32], shape: Shape) {
        let begin = self.data.len() as u32;
        for place in [&mut problem.scored, &mut problem.tenths, &mut problem.first, &mut problem.second] {
            *place += begin;
        }
        self.data.extend(data);
        let (m, n) = (problem.m, problem.n);
        problem.nodes = self.nodes.len() as u32;
        let whole = Node { a: 0, b: 0, m, n, ends: 0, column: UNDIVIDED, in_gap: 0, reserved: 0 };
        self.nodes.push(whole);
        self.nodes.extend(std::iter::repeat_n(Node { m: 0, n: 0, ..whole }, 2 * self.divided));
        let [rows, columns, corners] = &mut self.borders;
        problem.corner_count = n / shape.columns + self.divided as u32 + 2;
        (problem.rows, problem.columns, problem.corners) = (*rows as u32, *columns as u32, *corners as u32);
        *rows += 2 * u64::from(n);
        *columns += u64::from(m);
        *corners += 6 * u64::from(problem.corner_count);
        self.letters = self.letters.max(4 * problem.fours);
        self.problems.push(problem);
    }

    /// Lists the dispatches.
    fn launch(&mut self, levels: u32, rows: usize, columns: u32, shape: Shape) {
        let problems = self.problems.len() as u32;
        for level in 0..levels {
            let nodes = 1 << level;
            // A half of a rectangle of the level has at most so many rows.
            let half = (rows.div_ceil(1 << level)).div_ceil(2) as u32;
            let tile_rows = half.div_ceil(ROWS * shape.workgroup).max(1);
            let params = Params {
                problems,
                node_begin: nodes - 1,
                nodes,
                tile_rows,
                diagonal: 0,
                reserved0: 0,
                reserved1: 0,
                reserved2: 0,
            };
            let all = u64::from(problems) * u64::from(nodes);
            // A rectangle may have all columns on every level.
            for diagonal in 0..tile_rows + columns.div_ceil(shape.columns).max(1) - 1 {
                let groups = all * 2 * u64::from(tile_rows);
                self.launches.push((Launch::Tiles, Params { diagonal, ..params }, groups));
            }
            self.launches.push((Launch::Crossings, params, all));
        }
    }

    /// What the kernels left of a problem's rectangles.
    pub fn divided(&self, problem: usize, nodes: &[Node]) -> Divided {
        let begin = self.problems[problem].nodes as usize;
        let own = nodes[begin..][..self.divided].iter();
        Divided(
            own.map(|node| {
                (node.column != UNDIVIDED)
                    .then_some(Crossing { column: node.column as usize, in_gap: node.in_gap != 0 })
            })
            .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_are_halved_until_few_rows_are_left() {
        assert_eq!([0, 1, 64, 65, 128, 129, 1500].map(|rows| levels(rows, 64)), [0, 0, 0, 1, 1, 2, 5]);
        assert_eq!(levels(3, 0), 2);
    }
}
