//! A batch in the layout of the kernels: packed profiles, rectangles, and the dispatches that
//! divide the rectangles.

use rayon::prelude::*;

use super::layout::{ProfileParams, ProfileProblem, RectangleNode, UNDIVIDED};
use super::program::ROWS;
use crate::profile::divided::{DividedRectangles, ProfileCrossing};
use crate::profile::work::{ProfileBatch, ProfilePair};

/// Rectangles with at most this number of rows are not divided further, because the CPU aligns them
/// faster.
pub const MIN_ROWS: usize = 64;
/// Maximum depth of the tree of rectangles.
const MAX_DEPTH: u32 = 20;
/// Upper bound on absolute values in the kernels.
const MAX_VALUE: i64 = 1 << 30;

/// Sizes of tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileShape {
    /// Invocations in a workgroup. Each computes [`ROWS`] rows of a tile.
    pub workgroup: u32,
    /// Columns of a tile.
    pub columns: u32,
    /// Invocations per workgroup of `profile_cross`.
    pub cross: u32,
    /// Maximum number of rows of rectangles that are not divided further.
    pub least_rows: usize,
}

/// Kind of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileLaunch {
    /// Computes a diagonal of tiles.
    Tiles,
    /// Finds the crossings of all rectangles of one depth.
    Crossings,
}

/// A batch in the layout of the kernels.
#[derive(Debug, Clone, Default)]
pub struct ProfileTasks {
    /// The problems.
    pub problems: Vec<ProfileProblem>,
    /// Their profiles.
    pub data: Vec<i32>,
    /// Their rectangles.
    pub nodes: Vec<RectangleNode>,
    /// Number of entries of the row borders, of the column borders, and of the corners.
    pub borders: [u64; 3],
    /// Maximum number of letters of a problem, rounded up to a multiple of 4.
    pub letters: u32,
    /// Number of rectangles of each problem that are divided.
    pub divided: usize,
    /// Dispatches in the order of execution, with their numbers of workgroups.
    pub launches: Vec<(ProfileLaunch, ProfileParams, u64)>,
}

/// Returns the number of halvings after which no rectangle has more than `least` rows.
fn depth_of(rows: usize, least: usize) -> u32 {
    (0..MAX_DEPTH).find(|&depth| rows.div_ceil(1 << depth) <= least.max(1)).unwrap_or(MAX_DEPTH)
}

/// Checks whether all values of a problem are within the limits of the kernels.
fn holds(pair: &ProfilePair) -> bool {
    let [m, n] = pair.columns().map(|columns| columns as i64);
    let greatest = |numbers: &[i32]| numbers.iter().map(|&number| i64::from(number).abs()).max().unwrap_or(0);
    let costs =
        pair.penalties.iter().map(|side| 4 * greatest(&side.open) + greatest(&side.extend) * (m + n)).sum::<i64>();
    let column = |column: &[i32]| column.iter().map(|&tenths| i64::from(tenths).abs()).sum::<i64>();
    let shares = pair.tenths.chunks_exact(pair.letters).map(column).max().unwrap_or(0);
    let products = greatest(&pair.scored).saturating_mul(shares);
    let scores = (products / 10 + 1).saturating_mul(m.min(n));
    let tenths = pair.tenths.iter().all(|&tenths| i8::try_from(tenths).is_ok());
    tenths && products < MAX_VALUE && scores.saturating_add(costs) < MAX_VALUE
}

/// Packs two profiles. Returns their sizes and offsets, and their data.
fn pack(pair: &ProfilePair) -> (ProfileProblem, Vec<i32>) {
    let mut data = Vec::new();
    let [m, n] = pair.columns();
    // Letters that do not occur in the second profile do not contribute to scores.
    let has = |&letter: &usize| pair.tenths.iter().skip(letter).step_by(pair.letters).any(|&tenths| tenths != 0);
    let used: Vec<usize> = (0..pair.letters).filter(has).collect();
    let fours = used.len().div_ceil(4);
    let mut problem = ProfileProblem { m: m as u32, n: n as u32, fours: fours as u32, ..ProfileProblem::default() };
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
    for (side, offset) in pair.penalties.iter().zip([&mut problem.first, &mut problem.second]) {
        *offset = data.len() as u32;
        data.extend(&side.open);
        data.extend(&side.extend);
        data.extend(side.extend.iter().scan(0, |sum, extend| {
            *sum += extend;
            Some(*sum)
        }));
    }
    (problem, data)
}

impl ProfileTasks {
    /// Creates the tasks of a batch. Returns `None` if a value may exceed the limits of the
    /// kernels.
    pub fn new(batch: &ProfileBatch, shape: ProfileShape) -> Option<Self> {
        let mut tasks = ProfileTasks::default();
        let pairs = || batch.blocks.iter().map(|block| &*block.pair);
        let [most_rows, most_columns] = [0, 1].map(|side| pairs().map(|pair| pair.columns()[side]).max().unwrap_or(0));
        let depth = depth_of(most_rows, shape.least_rows);
        tasks.divided = (1 << depth) - 1;
        // Pack on the thread pool, because the thread of the device is busy.
        let packed = batch.chunk.pool.install(|| {
            batch.blocks.par_iter().map(|block| holds(&block.pair).then(|| pack(&block.pair))).collect::<Vec<_>>()
        });
        for packed in packed {
            let (problem, data) = packed.filter(|(_, data)| tasks.data.len() + data.len() < 1 << 30)?;
            tasks.add(problem, &data, shape);
        }
        tasks.launch(depth, most_rows, most_columns as u32, shape);
        Some(tasks)
    }

    fn add(&mut self, mut problem: ProfileProblem, data: &[i32], shape: ProfileShape) {
        let start = self.data.len() as u32;
        for offset in [&mut problem.scored, &mut problem.tenths, &mut problem.first, &mut problem.second] {
            *offset += start;
        }
        self.data.extend(data);
        let (m, n) = (problem.m, problem.n);
        problem.nodes = self.nodes.len() as u32;
        let whole = RectangleNode { a: 0, b: 0, m, n, ends: 0, column: UNDIVIDED, in_gap: 0, reserved: 0 };
        self.nodes.push(whole);
        self.nodes.extend(std::iter::repeat_n(RectangleNode { m: 0, n: 0, ..whole }, 2 * self.divided));
        let [rows, columns, corners] = &mut self.borders;
        problem.corner_count = n / shape.columns + self.divided as u32 + 2;
        (problem.rows, problem.columns, problem.corners) = (*rows as u32, *columns as u32, *corners as u32);
        *rows += 2 * u64::from(n);
        *columns += u64::from(m);
        *corners += 6 * u64::from(problem.corner_count);
        self.letters = self.letters.max(4 * problem.fours);
        self.problems.push(problem);
    }

    /// Appends the dispatches.
    fn launch(&mut self, depth: u32, rows: usize, columns: u32, shape: ProfileShape) {
        let problems = self.problems.len() as u32;
        for level in 0..depth {
            let nodes = 1 << level;
            // Maximum number of rows of half a rectangle of this depth.
            let half = (rows.div_ceil(1 << level)).div_ceil(2) as u32;
            let tile_rows = half.div_ceil(ROWS * shape.workgroup).max(1);
            let params = ProfileParams {
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
            // At every depth, one rectangle may have all columns.
            for diagonal in 0..tile_rows + columns.div_ceil(shape.columns).max(1) - 1 {
                let groups = all * 2 * u64::from(tile_rows);
                self.launches.push((ProfileLaunch::Tiles, ProfileParams { diagonal, ..params }, groups));
            }
            self.launches.push((ProfileLaunch::Crossings, params, all));
        }
    }

    /// Returns the crossings that the kernels found for a problem.
    pub fn divided(&self, problem: usize, nodes: &[RectangleNode]) -> DividedRectangles {
        let start = self.problems[problem].nodes as usize;
        let problem_nodes = nodes[start..][..self.divided].iter();
        DividedRectangles(
            problem_nodes
                .map(|node| {
                    (node.column != UNDIVIDED)
                        .then_some(ProfileCrossing { column: node.column as usize, in_gap: node.in_gap != 0 })
                })
                .collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_are_halved_down_to_few_rows() {
        assert_eq!([0, 1, 64, 65, 128, 129, 1500].map(|rows| depth_of(rows, 64)), [0, 0, 0, 1, 1, 2, 5]);
        assert_eq!(depth_of(3, 0), 2);
    }
}
