//! Paths through regions of long pairs on a device, compared with a traceback through whole
//! matrices. The tests cover all methods, scorings and states, small strips and chunks and lengths
//! close to their sizes, and windows and buffers that are too small for the whole path.

use std::sync::atomic::AtomicBool;

use pairwave::alignment::{Cigar, Op};
use pairwave::gpu::device::Gpu;
use pairwave::long::gpu::fine::FineGrid;
use pairwave::long::gpu::trace::{TraceInput, TraceKernels, TraceShape};
use pairwave::long::{LongPair, Method, NEG_INF, PathPoint, PathState, TracebackResult};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring};
use pairwave::seq::{Alphabet, Code};
use support::Rng;

const METHODS: [Method; 3] = [Method::Striped, Method::Chunked1, Method::Chunked2];
const STATES: [PathState; 3] = [PathState::H, PathState::I, PathState::D];

/// The matrices of a pair.
struct Matrices {
    pair: LongPair,
    h: Vec<Vec<i32>>,
    insertion: Vec<Vec<i32>>,
    deletion: Vec<Vec<i32>>,
}

impl Matrices {
    fn new(query: Vec<Code>, target: Vec<Code>, scoring: &Scoring) -> Self {
        let (m, n) = (query.len(), target.len());
        let pair = LongPair { query: query.into(), target: target.into(), scoring: scoring.clone().into() };
        let (top, left) = (pair.top_border(0..n as u32), pair.left_border(0..m as u32));
        let Gaps { first, next } = scoring.gaps;
        let mut h = vec![vec![0; n + 1]; m + 1];
        let mut insertion = vec![vec![NEG_INF; n + 1]; m + 1];
        let mut deletion = insertion.clone();
        h[0] = top.h;
        for i in 1..=m {
            h[i][0] = left.h[i];
            for j in 1..=n {
                insertion[i][j] = (h[i - 1][j] - first).max(insertion[i - 1][j] - next);
                deletion[i][j] = (h[i][j - 1] - first).max(deletion[i][j - 1] - next);
                let diagonal = h[i - 1][j - 1] + scoring.substitution.score(pair.query[i - 1], pair.target[j - 1]);
                h[i][j] = diagonal.max(insertion[i][j]).max(deletion[i][j]);
                if pair.is_local() {
                    h[i][j] = h[i][j].max(0);
                }
            }
        }
        Matrices { pair, h, insertion, deletion }
    }

    /// The canonical traceback, as the documentation of `long` describes it.
    fn trace_back(&self, from: PathPoint, origin: (u32, u32)) -> TracebackResult {
        let (scoring, first) = (&self.pair.scoring, self.pair.scoring.gaps.first);
        let (mut i, mut j, mut state) = (from.i as usize, from.j as usize, from.state);
        let mut cigar = Cigar::new();
        let mut ended = false;
        loop {
            ended = ended || (self.pair.is_local() && state == PathState::H && self.h[i][j] == 0);
            if ended || i == origin.0 as usize || j == origin.1 as usize {
                break;
            }
            let leaves = match state {
                PathState::H => {
                    let (a, b) = (self.pair.query[i - 1], self.pair.target[j - 1]);
                    if self.h[i - 1][j - 1] + scoring.substitution.score(a, b) == self.h[i][j] {
                        let is_match = scoring.substitution.is_match(a, b);
                        cigar.push(1, if is_match { Op::Match } else { Op::Mismatch });
                        (i, j) = (i - 1, j - 1);
                    } else {
                        state = if self.insertion[i][j] == self.h[i][j] { PathState::I } else { PathState::D };
                    }
                    false
                }
                PathState::I => {
                    cigar.push(1, Op::Insertion);
                    i -= 1;
                    self.h[i][j] - first == self.insertion[i + 1][j]
                }
                PathState::D => {
                    cigar.push(1, Op::Deletion);
                    j -= 1;
                    self.h[i][j] - first == self.deletion[i][j + 1]
                }
            };
            if leaves {
                state = PathState::H;
            }
        }
        cigar.reverse();
        TracebackResult { cigar, to: Some(PathPoint { i: i as u32, j: j as u32, state }), ended, bytes: 0 }
    }

    /// Returns H and the gap that enters the next row, or the next column.
    fn edge(&self, i: usize, j: usize, down: bool) -> [i32; 2] {
        let Gaps { first, next } = self.pair.scoring.gaps;
        let gap = if down { self.insertion[i][j] } else { self.deletion[i][j] };
        [self.h[i][j], (self.h[i][j] - first).max(gap - next)]
    }

    /// Returns the borders of a region's chunks, changed by `change`.
    fn grid(&self, gpu: &Gpu, region: &Case, change: impl Fn(&mut [u32], &mut [i32])) -> FineGrid {
        let ((top, bottom), (left, right)) = (region.rows, region.columns);
        let (rows, columns, strip, chunk) = (bottom - top, right - left, region.strip, region.chunk);
        let (rows_stride, columns_stride) = (rows + 3, columns + 2);
        let mut vertical = vec![0u32; (2 * (columns.div_ceil(strip) + 1) * rows_stride) as usize];
        for k in 0..=columns.div_ceil(strip) {
            for i in 0..=rows {
                let at = (2 * (k * rows_stride + i)) as usize;
                let j = left + (k * strip).min(columns);
                let values = self.edge((top + i) as usize, j as usize, false);
                vertical[at..at + 2].copy_from_slice(&values.map(|value| value as u32 ^ 1 << 31));
            }
        }
        let mut horizontal = vec![0; (2 * (rows.div_ceil(chunk) + 1) * columns_stride) as usize];
        for c in 0..=rows.div_ceil(chunk) {
            for j in 0..=columns {
                let at = (2 * (c * columns_stride + j)) as usize;
                let i = top + (c * chunk).min(rows);
                horizontal[at..at + 2].copy_from_slice(&self.edge(i as usize, (left + j) as usize, true));
            }
        }
        change(&mut vertical, &mut horizontal);
        let vertical = gpu.upload("vertical", bytemuck::cast_slice(&vertical)).expect("there is memory");
        let horizontal = gpu.upload("horizontal", bytemuck::cast_slice(&horizontal)).expect("there is memory");
        FineGrid { vertical, horizontal, rows, columns, rows_stride, columns_stride, strip, lead: 0, chunk }
    }
}

/// A region and its division.
#[derive(Debug, Clone, Copy)]
struct Case {
    rows: (u32, u32),
    columns: (u32, u32),
    strip: u32,
    chunk: u32,
}

/// A device and its kernels.
struct Device {
    gpu: Gpu,
    kernels: TraceKernels,
    usual: TraceShape,
}

impl Device {
    fn new() -> Self {
        let adapter = support::adapter();
        let gpu = Gpu::open(&adapter).expect("the adapter opens");
        let kernels = TraceKernels::new(&gpu, &adapter).with_runtime_checks();
        let usual = kernels.shape();
        Device { gpu, kernels, usual }
    }

    fn shaped(mut self, shape: TraceShape) -> Self {
        self.kernels = self.kernels.with_shape(shape);
        self
    }

    fn codes(&self, codes: &[Code]) -> wgpu::Buffer {
        let mut bytes = codes.to_vec();
        bytes.resize(codes.len().next_multiple_of(4).max(4), 0);
        self.gpu.upload("codes", &bytes).expect("there is memory")
    }

    /// Traces from all these points with all methods. Returns the first difference from the
    /// textbook algorithm.
    fn differences(
        &mut self,
        matrices: &Matrices,
        case: Case,
        points: &[PathPoint],
        change: impl Fn(&mut [u32], &mut [i32]),
    ) -> Option<String> {
        let grid = matrices.grid(&self.gpu, &case, change);
        // Some symbols precede the region, so that positions in the buffers differ from positions
        // in the pair.
        let mut codes = vec![1; 3];
        codes.extend_from_slice(&matrices.pair.query);
        let (query, target) = (self.codes(&codes), self.codes(&matrices.pair.target));
        for &from in points {
            let origin = (case.rows.0, case.columns.0);
            let expected = matrices.trace_back(from, origin);
            for method in METHODS {
                let input = TraceInput {
                    grid: &grid,
                    query: &query,
                    query_begin: 3 + origin.0,
                    target: &target,
                    target_begin: origin.1,
                    scoring: &matrices.pair.scoring,
                    origin,
                    from,
                    method,
                    interrupt: &AtomicBool::new(false),
                };
                let adapter = match self.kernels.trace(&input) {
                    Ok(adapter) => adapter,
                    Err(error) => return Some(format!("{method:?} {case:?} {from:?}: {error}")),
                };
                if (&adapter.cigar, adapter.to, adapter.ended) != (&expected.cigar, expected.to, expected.ended) {
                    return Some(format!(
                        "{method:?} {case:?} {from:?}: {} to {:?} {}, not {} to {:?} {}",
                        adapter.cigar, adapter.to, adapter.ended, expected.cigar, expected.to, expected.ended
                    ));
                }
                assert!(
                    adapter.bytes > grid.bytes() || adapter.cigar.is_empty(),
                    "directions and start states are counted"
                );
            }
        }
        None
    }

    fn check(&mut self, matrices: &Matrices, case: Case, points: &[PathPoint]) {
        assert_eq!(self.differences(matrices, case, points, |_, _| {}), None, "{:?}", matrices.pair.scoring.gaps);
    }
}

fn dna(gaps: Gaps, end_gaps: EndGaps, mode: Mode) -> Scoring {
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).expect("a valid scheme");
    Scoring { mode, ..scoring }
}

fn scorings() -> Vec<Scoring> {
    let affine = Gaps { first: 8, next: 1 };
    vec![
        dna(affine, EndGaps::Charged, Mode::Global),
        dna(affine, EndGaps::Charged, Mode::Local),
        dna(Gaps::linear(3), EndGaps::Charged, Mode::Local),
        dna(Gaps::linear(10), EndGaps::Free, Mode::Global),
        dna(Gaps::linear(0), EndGaps::Charged, Mode::Global),
        dna(Gaps::linear(0), EndGaps::Charged, Mode::Local),
        dna(Gaps { first: 6, next: 0 }, EndGaps::Free, Mode::Global),
        dna(affine, EndGaps::Priced(Gaps { first: 5, next: 1 }), Mode::Global),
        dna(Gaps::linear(3), EndGaps::Priced(Gaps { first: 3, next: 0 }), Mode::Global),
        Scoring { mode: Mode::Local, ..Scoring::protein() },
        Scoring::protein(),
    ]
}

/// Returns sequences of at most these lengths. Depending on `kind`, they are related, consist of
/// one symbol or of few symbols, or are unrelated.
fn sequences(rng: &mut Rng, alphabet: Alphabet, kind: usize, m: usize, n: usize) -> (Vec<Code>, Vec<Code>) {
    let fit = |mut codes: Vec<Code>, length: usize, rng: &mut Rng| {
        let more = length.saturating_sub(codes.len());
        codes.extend(support::random_codes(rng, alphabet, more));
        codes.truncate(length);
        codes
    };
    let query = support::random_codes(rng, alphabet, m);
    match kind {
        0 => {
            let target = support::mutated(rng, alphabet, &query, 10);
            (query, fit(target, n, rng))
        }
        1 => (vec![1; m], vec![1; n]),
        2 => ((0..m).map(|_| 1 << rng.below(2)).collect(), (0..n).map(|_| 1 << rng.below(2)).collect()),
        _ => (query, support::random_codes(rng, alphabet, n)),
    }
}

/// Returns the region's corner in all states, its best cell, and `some` cells in random states.
fn points(rng: &mut Rng, matrices: &Matrices, case: Case, some: u32) -> Vec<PathPoint> {
    let ((top, bottom), (left, right)) = (case.rows, case.columns);
    let mut points: Vec<PathPoint> = STATES.map(|state| PathPoint { i: bottom, j: right, state }).into();
    for _ in 0..some {
        let (i, j) = (top + 1 + rng.below(bottom - top), left + 1 + rng.below(right - left));
        points.push(PathPoint { i, j, state: STATES[rng.below(3) as usize] });
    }
    let cells = (top + 1..=bottom).flat_map(|i| (left + 1..=right).map(move |j| (i, j)));
    let (i, j) = cells.max_by_key(|&(i, j)| matrices.h[i as usize][j as usize]).expect("there are cells");
    points.push(PathPoint { i, j, state: PathState::H });
    points
}

#[test]
fn every_method_finds_the_canonical_path() {
    let mut rng = support::rng(1);
    let mut device = Device::new();
    for (turn, scoring) in scorings().iter().enumerate() {
        for (strip, chunk) in [(4, 4), (13, 9), (64, 48)] {
            for kind in 0..4 {
                let (m, n) = (30 + rng.below(100) as usize, 30 + rng.below(100) as usize);
                let (query, target) = sequences(&mut rng, scoring.alphabet, kind, m, n);
                let matrices = Matrices::new(query, target, scoring);
                let (top, left) = if (turn + kind) % 3 == 0 { (0, 0) } else { (rng.below(9), rng.below(9)) };
                let case = Case { rows: (top, m as u32), columns: (left, n as u32), strip, chunk };
                let points = points(&mut rng, &matrices, case, 2);
                device.check(&matrices, case, &points);
            }
        }
    }
}

#[test]
fn lengths_around_strips_and_chunks() {
    let mut rng = support::rng(2);
    let mut device = Device::new();
    for scoring in &scorings()[..2] {
        for (strip, chunk) in [(8, 16), (16, 8)] {
            for rows in [1, 2, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 1] {
                for columns in [1, 2, strip - 1, strip, strip + 1, 2 * strip, 2 * strip + 1] {
                    let kind = rng.below(3) as usize;
                    let (query, target) = sequences(&mut rng, Alphabet::Dna, kind, rows as usize, columns as usize);
                    let matrices = Matrices::new(query, target, scoring);
                    let case = Case { rows: (0, rows), columns: (0, columns), strip, chunk };
                    let points = [PathPoint { i: rows, j: columns, state: STATES[rng.below(2) as usize] }];
                    device.check(&matrices, case, &points);
                }
            }
        }
    }
}

/// A traceback that starts on the border ends at once.
#[test]
fn on_the_border_there_is_no_path() {
    let mut device = Device::new();
    for scoring in &scorings()[..2] {
        let matrices = Matrices::new(vec![1; 20], vec![1; 20], scoring);
        let case = Case { rows: (3, 20), columns: (5, 20), strip: 8, chunk: 16 };
        let at = |i, j, state| PathPoint { i, j, state };
        let points = [
            at(3, 9, PathState::H),
            at(9, 5, PathState::H),
            at(3, 5, PathState::H),
            at(3, 9, PathState::I),
            at(9, 5, PathState::D),
        ];
        device.check(&matrices, case, &points);
        let case = Case { rows: (0, 20), columns: (0, 20), ..case };
        device.check(&matrices, case, &[at(0, 9, PathState::H), at(9, 0, PathState::H)]);
    }
}

/// Long gaps lead out of windows, and small buffers require many rounds.
#[test]
fn a_path_takes_several_rounds() {
    let mut rng = support::rng(3);
    let device = Device::new();
    let usual = device.usual;
    let mut device = device.shaped(TraceShape { blocks: 5, margin_chunks: 0, block_rows: 40, ..usual });
    let mut small = Device::new().shaped(TraceShape { directions_bytes: 3000, ..usual });
    for scoring in [&scorings()[0], &scorings()[1]] {
        for deleted in [0, 60, 200] {
            let query = support::random_codes(&mut rng, Alphabet::Dna, 300);
            let mut target = support::mutated(&mut rng, Alphabet::Dna, &query, 5);
            target.drain(40..40 + deleted);
            for (query, target) in [(query.clone(), target.clone()), (target, query)] {
                let matrices = Matrices::new(query, target, scoring);
                let (m, n) = (matrices.pair.query.len() as u32, matrices.pair.target.len() as u32);
                let case = Case { rows: (0, m), columns: (0, n), strip: 8, chunk: 16 };
                let points = points(&mut rng, &matrices, case, 0);
                device.check(&matrices, case, &points);
                small.check(&matrices, case, &points);
            }
        }
    }
}

/// Blocks have the maximum height that the kernels accept. Software Vulkan ends longer loops
/// without an error, so higher blocks would give wrong results.
#[test]
fn the_highest_blocks_are_traced() {
    let mut rng = support::rng(5);
    let adapter = support::adapter();
    let mut device = Device::new();
    device.kernels = TraceKernels::new(&device.gpu, &adapter);
    let (strip, chunk) = (64, 4096);
    let rows = (1024..8192).take_while(|&rows| device.kernels.can_trace(rows, strip, chunk, Method::Striped));
    let rows = rows.last().expect("1,024 rows always are");
    let query = support::random_codes(&mut rng, Alphabet::Dna, rows as usize);
    // A gap for nearly every row causes the longest traceback.
    for target in [query[..100].to_vec(), query.iter().step_by(28).copied().collect()] {
        let matrices = Matrices::new(query.clone(), target, &scorings()[0]);
        let columns = matrices.pair.target.len() as u32;
        for (strip, chunk) in [(strip, chunk), (8, 32)] {
            let case = Case { rows: (0, rows), columns: (0, columns), strip, chunk };
            let from = PathPoint { i: rows, j: columns, state: PathState::H };
            device.check(&matrices, case, &[from]);
        }
    }
}

#[test]
fn a_region_of_the_usual_size() {
    let mut rng = support::rng(6);
    let mut device = Device::new();
    let (query, target) = sequences(&mut rng, Alphabet::Dna, 0, 1024, 1024);
    let matrices = Matrices::new(query, target, &scorings()[1]);
    let case = Case { rows: (0, 1024), columns: (0, 1024), strip: 256, chunk: 512 };
    let points = points(&mut rng, &matrices, case, 1);
    device.check(&matrices, case, &points[3..]);
}

#[test]
fn regions_that_are_too_large_are_refused() {
    let mut device = Device::new();
    let scoring = Scoring::nucleotide(5, -4, Ambiguity::Overlap, Gaps::linear(1_000_000), EndGaps::Charged);
    let matrices = Matrices::new(vec![1; 20], vec![1; 20], &scoring.expect("a valid scheme"));
    let case = Case { rows: (0, 20), columns: (0, 20), strip: 8, chunk: 2048 };
    let point = PathPoint { i: 20, j: 20, state: PathState::H };
    device.check(&matrices, case, &[point]);
    let kernels = &device.kernels;
    for method in METHODS {
        assert!(kernels.can_trace(1024, 256, 512, method), "{method:?}");
        assert!(!kernels.can_trace(1024, 4096, 512, method) && !kernels.can_trace(1024, 0, 512, method));
    }
    assert!(!kernels.can_trace(u32::MAX, 256, 512, Method::Striped));
}

#[test]
fn the_harness_detects_a_wrong_border() {
    let mut rng = support::rng(4);
    let mut device = Device::new();
    let (query, target) = sequences(&mut rng, Alphabet::Dna, 0, 100, 100);
    let matrices = Matrices::new(query, target, &scorings()[0]);
    let case = Case { rows: (0, 100), columns: (0, 100), strip: 8, chunk: 16 };
    let from = PathPoint { i: 100, j: 100, state: PathState::H };
    device.check(&matrices, case, &[from]);
    // A wrong cell next to the path, in the block where the traceback enters, attracts the path.
    let index = 2 * (12 * (100 + 3) + 97);
    let wrong = |vertical: &mut [u32], _: &mut [i32]| vertical[index] = 1000 ^ 1 << 31;
    assert!(device.differences(&matrices, case, &[from], wrong).is_some());
}
