//! Host side of the kernels that can trace back. `nw_rows`, `nw_diagonal`, `nw_diagonal_subgroup`
//! and `nw_tiled_diagonal` store the directions of all cells (Truong et al. 2014, sections 4.1 to
//! 4.3), and `nw_traceback` is their traceback. `nw_checkpoint` stores checkpoints, and computes
//! the directions of a block when the traceback reaches it.
//!
//! The paper stores every score. These kernels store only the bits that the traceback reads: 2 per
//! cell, or 4 with affine gaps. All directions are in an *arena*, a buffer that tasks share.
//! `shaders/common/arena.wgsl` describes its layout. For `nw_checkpoint`, an arena has one part per
//! workgroup, regardless of the number of tasks.

use super::layout::{self, EndGapKind, NwTask};
pub use crate::gpu::kernels::Scan;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, binding, of_kind};
use crate::gpu::source::{Constants, Supplied};
use crate::score::{OffsetScoring, offset};

/// Words before `out.data` of `nw_traceback`: a counter of the words of runs, and three spare
/// words.
pub const OUTPUT_HEADER_WORDS: u64 = 4;
/// Words of `out.data` per pair: value, first word of its runs, number of runs.
pub const PAIR_WORDS: u64 = 3;
/// Number of runs that is reported for a pair whose runs did not fit.
pub const NO_INDEX: u32 = u32::MAX;
/// Number of runs that is reported for a pair that does not reach the requested identity.
pub const DROPPED: u32 = u32::MAX - 1;
/// Invocations per workgroup of the traceback.
pub const TRACEBACK_WORKGROUP: u32 = 64;

/// Upper bound on the invocations of `nw_checkpoint` that run at the same time, a quarter more than
/// on an H200 (67,584).
const RESIDENT_INVOCATIONS: u32 = 81_920;

/// Value that represents minus infinity in all formats of values.
const NEG_INF: i32 = offset::NEG_INF;

/// Parameters of a pipeline: the shader's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixVariant {
    /// The kernel.
    pub scan: Scan,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Columns that an invocation keeps in registers, a multiple of [`MatrixVariant::cells`].
    pub columns: u32,
    /// Rows of a tile, or steps between two checkpoints of `nw_checkpoint`. A multiple of 4.
    pub tile_rows: u32,
    /// Number of arenas.
    pub arenas: u32,
    /// Least and greatest subgroup size of the device.
    pub subgroup_sizes: [u32; 2],
    /// Number of codes of the alphabet.
    pub codes: u32,
    /// Whether gaps are affine.
    pub affine: bool,
    /// Costs of end gaps.
    pub ends: EndGapKind,
    /// Whether directions are stored.
    pub directions: bool,
    /// Whether values have spare low bits for tags. A tag identifies the candidate that a maximum
    /// selected. Without tags, the kernel identifies it by comparison.
    pub tags: bool,
}

/// `nw_traceback` for the directions that a variant stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatrixTraceback(pub MatrixVariant);

impl KernelProgram for MatrixTraceback {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::PairTraceback)
    }

    fn workgroup_memory(&self) -> u32 {
        0
    }

    fn constants(&self) -> Constants {
        self.0.constants_for(TRACEBACK_WORKGROUP)
    }

    fn supplied(&self) -> Supplied {
        self.0.supplied()
    }

    fn arenas(&self) -> u32 {
        self.0.arenas
    }
}

impl KernelProgram for MatrixVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Scan(self.scan))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        let constants = self.constants_for(self.workgroup);
        match self.scan {
            Scan::Rows => constants.number("SLICE", self.columns).number("STRIDE4", self.stride4()),
            Scan::TiledDiagonal | Scan::Diagonal | Scan::DiagonalSubgroup => constants,
            Scan::Checkpoint => constants.number("BLOCK_GROUPS", self.block_groups()),
        }
    }

    fn supplied(&self) -> Supplied {
        vec![("arenas", self.arena_source())]
    }

    fn arenas(&self) -> u32 {
        self.arenas
    }
}

impl MatrixVariant {
    /// Returns the number of bits of a cell's directions.
    pub const fn bits(&self) -> u32 {
        if self.affine { 4 } else { 2 }
    }

    /// Returns the number of zero bits below a value that are reserved for tags.
    pub const fn tag_bits(&self) -> u32 {
        if self.tags && self.directions { self.bits() } else { 0 }
    }

    /// Returns a scoring's table with its values shifted by the tag bits, and with the tags of
    /// diagonal steps.
    pub fn tagged_table(&self, scoring: &OffsetScoring) -> Vec<i32> {
        let bits = self.tag_bits();
        // 2 for a mismatch and 3 for a match. The lowest bit of a value counts its match.
        let tagged = |value: i32| if bits > 0 { (value << bits) + 2 + (value & 1) } else { value };
        scoring.table().iter().map(|&value| if value <= NEG_INF { NEG_INF } else { tagged(value) }).collect()
    }

    /// Returns the number of cells of one row in a word of directions: as many as fit, but at most
    /// the columns of an invocation.
    pub const fn cells(&self) -> u32 {
        let fit = 32 / self.bits();
        if self.columns < fit { self.columns } else { fit }
    }

    /// Returns whether each lane is one row behind the previous lane, and all lanes store their
    /// directions in the same steps.
    const fn is_skewed(&self) -> bool {
        !matches!(self.scan, Scan::Rows)
    }

    /// Returns the number of rows after which the lanes of a pair start again. If they never do, it
    /// is greater than any number of rows.
    const fn rows_per_scan(&self) -> u32 {
        match self.scan {
            Scan::TiledDiagonal => self.tile_rows,
            _ => 1 << 30,
        }
    }

    /// Returns the number of pairs per task: one per invocation, one per workgroup, or one per
    /// subgroup of the smallest size.
    pub const fn slots(&self) -> u32 {
        match self.scan {
            Scan::Rows => self.workgroup,
            Scan::Diagonal | Scan::TiledDiagonal => 1,
            Scan::DiagonalSubgroup => self.workgroup / self.subgroup_sizes[0],
            Scan::Checkpoint => self.workgroup / self.lanes(),
        }
    }

    /// Returns the number of invocations that share a pair, or 0 if only the kernel can determine
    /// it.
    const fn lanes(&self) -> u32 {
        match self.scan {
            Scan::Rows => 1,
            Scan::Diagonal | Scan::TiledDiagonal => self.workgroup,
            Scan::DiagonalSubgroup => 0,
            // The shader uses 4 or 8 lanes.
            Scan::Checkpoint => {
                if self.subgroup_sizes[0] < 8 {
                    4
                } else {
                    8
                }
            }
        }
    }

    /// Returns the greatest number of invocations that can share a pair.
    const fn most_lanes(&self) -> u32 {
        match self.scan {
            Scan::DiagonalSubgroup => self.subgroup_sizes[1],
            _ => self.lanes(),
        }
    }

    /// Returns the number of columns of a slice, pass or tile. Columns are padded to a multiple of
    /// it.
    pub const fn column_unit(&self) -> u32 {
        self.columns * self.most_lanes()
    }

    /// Returns whether the words of a task's pairs are interleaved.
    const fn interleaved(&self) -> bool {
        matches!(self.scan, Scan::Rows)
    }

    /// Returns the row length of the profile in words of four entries (`nw_rows`). It is odd, so
    /// that rows of neighbouring codes start in different memory banks.
    const fn stride4(&self) -> u32 {
        (self.columns / 4) | 1
    }

    /// Returns the workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let substitution = self.codes * (self.codes | 1) * 4;
        match self.scan {
            Scan::Rows => self.codes * self.stride4() * 16,
            Scan::DiagonalSubgroup => substitution,
            Scan::Diagonal | Scan::TiledDiagonal => substitution + 2 * self.workgroup * 8,
            // In addition, the values that the whole workgroup shares.
            Scan::Checkpoint => substitution + 4 * self.codes * self.lanes() * self.columns + 12,
        }
    }

    fn constants_for(&self, workgroup: u32) -> Constants {
        layout::constants(self.codes, self.affine, self.ends)
            .number("WG", workgroup)
            .number("SLOTS", self.slots())
            .flag("INTERLEAVED", self.interleaved())
            .number("LANES", self.lanes())
            .number("CELLS", self.cells())
            .number("WORDS", self.columns / self.cells())
            .flag("SKEWED", self.is_skewed())
            .number("TILE_ROWS", self.rows_per_scan())
            .number("BITS", self.bits())
            .flag("DIRECTIONS", self.directions)
            .number("TAG_BITS", self.tag_bits())
    }

    /// Returns the source of the arenas' bindings and of the functions that access their quads.
    fn arena_source(&self) -> String {
        let first = binding::ARENAS.number;
        let mut text = String::new();
        let (mut reads, mut writes, mut pair_reads, mut pair_writes) = Default::default();
        for arena in 0..self.arenas {
            let binding = first + arena;
            text +=
                &format!("@group(0) @binding({binding}) var<storage, read_write> arena{arena}: array<vec4<u32>>;\n");
            let case = if arena == 0 { "default".into() } else { format!("case {arena}u") };
            let of = |index: &str| format!("arena{arena}[{index}]");
            let add = |to: &mut String, what: String| *to += &format!("{case}: {{ {what} }}\n");
            add(&mut reads, format!("return {};", of("index")));
            add(&mut writes, format!("{} = quad;", of("index")));
            add(&mut pair_reads, format!("return array<vec4<u32>, 2>({}, {});", of("one"), of("two")));
            add(&mut pair_writes, format!("{} = first; {} = second;", of("one"), of("two")));
        }
        let functions: [(&str, &str, String); 4] = [
            ("read_quad(arena: u32, index: u32)", " -> vec4<u32>", reads),
            ("write_quad(arena: u32, index: u32, quad: vec4<u32>)", "", writes),
            ("read_pair(arena: u32, one: u32, two: u32)", " -> array<vec4<u32>, 2>", pair_reads),
            ("write_pair(arena: u32, one: u32, first: vec4<u32>, two: u32, second: vec4<u32>)", "", pair_writes),
        ];
        for (head, result, cases) in functions {
            text += &format!("fn {head}{result} {{\nswitch (arena) {{\n{cases}}}\n}}\n");
        }
        text
    }

    /// Returns the number of columns of a query with this many symbols, including padding.
    pub fn padded_columns(&self, query_symbols: u32) -> u64 {
        (query_symbols as u64).div_ceil(self.column_unit() as u64).max(1) * self.column_unit() as u64
    }

    /// Returns the number of quads (of four words) of directions of a pair with this many padded
    /// columns. A quad holds four rows of a block, or four steps of skewed lanes.
    pub(super) fn direction_quads(&self, rows_words: u32, columns: u64) -> u64 {
        let scans = (rows_words * 4).div_ceil(self.rows_per_scan()).max(1);
        let more = if self.is_skewed() { scans * self.most_lanes() / 4 } else { 0 };
        if self.directions { columns / u64::from(self.cells()) * u64::from(rows_words + more) } else { 0 }
    }

    /// Returns the number of quads of an arena that a task needs for a query of `query_symbols`
    /// symbols and targets of at most `rows_words * 4` symbols.
    pub fn task_quads(&self, query_symbols: u32, rows_words: u32) -> u64 {
        let columns = self.padded_columns(query_symbols);
        let borders = (rows_words as u64 + columns / 4) * layout::planes(self.affine) as u64 + columns / 4 + 4;
        let runs = run_quads(query_symbols, rows_words);
        if self.scan == Scan::Checkpoint {
            return (self.checkpoint_quads(rows_words, columns) + runs) * self.slots() as u64;
        }
        (borders + self.direction_quads(rows_words, columns) + runs) * self.slots() as u64
    }

    /// Returns the number of quads that a pair of `nw_checkpoint` needs, without its runs.
    fn checkpoint_quads(&self, rows_words: u32, columns: u64) -> u64 {
        let (planes, lanes) = (layout::planes(self.affine) as u64, self.lanes() as u64);
        let passes = columns / self.column_unit() as u64;
        let borders = passes * rows_words as u64 * planes;
        let below = if self.ends.are_own() { columns / 4 } else { 0 };
        let checkpoints = (rows_words as u64 + lanes / 4 - 1) / self.block_groups() as u64;
        let states = passes * checkpoints * (self.columns as u64 / 4 * planes + 1) * lanes;
        let block = self.block_groups() as u64 * (self.columns / self.cells()) as u64 * lanes;
        borders + below + if self.directions { states + block } else { 0 }
    }

    /// Returns the number of groups of four steps between two checkpoints.
    const fn block_groups(&self) -> u32 {
        self.tile_rows / 4
    }

    /// Returns the greatest number of tasks whose memory is in use at the same time.
    pub fn tasks_together(&self, tasks: u64) -> u64 {
        if self.scan == Scan::Checkpoint {
            tasks.min((RESIDENT_INVOCATIONS / self.workgroup).max(1).into())
        } else {
            tasks
        }
    }

    /// Returns the number of slices, passes or tile columns of a task.
    pub fn passes(&self, task: &NwTask) -> u32 {
        // The device may use smaller subgroups, and then needs more passes.
        let fewest_lanes = if self.scan == Scan::DiagonalSubgroup { self.subgroup_sizes[0] } else { self.most_lanes() };
        task.columns / (self.columns * fewest_lanes)
    }

    /// Returns the number of diagonals of tiles of a task.
    pub fn tile_diagonals(&self, task: &NwTask) -> u32 {
        (task.rows_words * 4).div_ceil(self.tile_rows) + task.columns / self.column_unit() - 1
    }

    /// Returns the greatest number of loop iterations of an invocation in a pass over `rows` rows,
    /// if no loop is unrolled.
    pub fn iterations_a_pass(&self, rows: u64) -> u64 {
        match self.scan {
            Scan::Rows => {
                rows * (2 + self.columns as u64 / 4 * 6) + 3 * self.columns as u64 + self.iterations_at_corners(rows)
            }
            Scan::TiledDiagonal => self.iterations_a_strip(rows.min(self.tile_rows as u64)),
            _ => self.iterations_a_strip(rows),
        }
    }

    /// Returns the greatest number of loop iterations of an invocation of `nw_checkpoint` in a pass
    /// over `rows` rows.
    pub fn iterations_a_sweep(&self, rows: u64) -> u64 {
        let profile = (self.codes * self.lanes() * self.columns / 4).div_ceil(self.workgroup) as u64;
        (rows + self.lanes() as u64) * self.iterations_a_step() + 4 * self.columns as u64 + profile
    }

    /// Returns the greatest number of loop iterations of an invocation of `nw_checkpoint` after the
    /// last pass. `rows` and `columns` are the size of a pair, `symbols` is the number of symbols
    /// in both sequences together.
    pub fn iterations_after_sweeps(&self, rows: u64, columns: u64, symbols: u64) -> u64 {
        // A path passes through each block of rows once, and through at most two more blocks in
        // every pass.
        let steps = self.tile_rows as u64;
        let blocks = 2 * columns / self.column_unit() as u64 + rows.div_ceil(steps) + 1;
        let block = steps * self.iterations_a_step() + 4 * self.columns as u64;
        self.traceback_iterations(symbols) + if self.directions { blocks * block } else { 0 }
    }

    /// Returns the number of loop iterations in a step. It counts the columns in fours, the words
    /// and their shift, and a quarter of the work for four steps.
    fn iterations_a_step(&self) -> u64 {
        let corner = if self.ends == EndGapKind::Affine { self.columns as u64 / 4 * 5 + 2 } else { 0 };
        let words = (self.columns / self.cells()) as u64;
        self.columns as u64 / 4 * 5 + 3 * words + 6 + corner
    }

    /// Returns the greatest number of loop iterations of an invocation of the traceback, for a pair
    /// with this many symbols in both sequences together. Some devices run all branches in all
    /// lanes. On these, a loop that any lane enters counts at least once in every lane, and once
    /// more for its end.
    pub const fn traceback_iterations(&self, symbols: u64) -> u64 {
        // The search along both borders. Lanes may search them in different orders, so both count.
        let search = if self.ends.are_own() { 2 } else { 0 };
        // A step has a loop over the pieces of a run, which llvmpipe enters even if no run ends.
        // Copying the runs takes less than one step per run.
        let traceback = if self.directions { 1 + 2 + 1 } else { 0 };
        (search + traceback) * symbols + 100
    }

    fn iterations_a_strip(&self, rows: u64) -> u64 {
        let steps = rows + self.most_lanes() as u64;
        let rest = 4 * self.columns as u64 + 1000 + self.iterations_at_corners(steps);
        // In addition to the columns: the words twice, their shift, and a quarter of the work after
        // four steps.
        steps * (self.columns as u64 + 14) + rest
    }

    /// Returns the number of iterations that set corners to 0. The invocations of a workgroup reach
    /// their corners in different steps. The number includes loops that no lane enters (see
    /// [`Self::traceback_iterations`]).
    fn iterations_at_corners(&self, steps: u64) -> u64 {
        let entered = steps.min(self.workgroup as u64) * 2 * self.columns as u64;
        if self.ends == EndGapKind::Affine { 2 * steps + entered } else { 0 }
    }
}

/// Returns the greatest number of quads that the runs of a pair can need.
pub(super) fn run_quads(query_symbols: u32, rows_words: u32) -> u64 {
    (query_symbols as u64 + rows_words as u64 * 4) / 8 + 2
}
