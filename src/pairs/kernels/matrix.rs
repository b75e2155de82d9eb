//! Host half of the kernels that can trace back: `nw_rows`, `nw_diagonal`, `nw_diagonal_subgroup` and `nw_tiled_diagonal`, which
//! store directions of all cells (Truong et al. 2014, sections 4.1 to 4.3), the walk back over them, `nw_walk`, and
//! `nw_checkpoint`, which stores what it takes to make the directions of a block when the walk comes there.
//!
//! Where the paper stores every score, the former store 2 bits a cell, under affine gaps 4: what the walk asks. All of it is
//! in an *arena*, a buffer that tasks share; `shaders/common/arena.wgsl` says what is where. `nw_checkpoint` has a part of an
//! arena a workgroup, whatever number of tasks there are.

use super::layout::{self, Ends, Task};
pub use crate::gpu::kernels::Scan;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, binding, of_kind};
use crate::gpu::source::{Constants, Supplied};
use crate::score::{OffsetScoring, offset};

/// Words before `out.data` of `nw_walk`: words of runs, and three spare.
pub const OUTPUT_HEADER_WORDS: u64 = 4;
/// Words of `out.data` a pair: value, first word of its runs, number of runs.
pub const PAIR_WORDS: u64 = 3;
/// Number of runs of a pair whose runs found no room.
pub const NO_ROOM: u32 = u32::MAX;
/// Number of runs of a pair that has not the identity asked for.
pub const DROPPED: u32 = u32::MAX - 1;
/// Invocations a workgroup of the walk.
pub const WALK_WORKGROUP: u32 = 64;

/// Invocations of `nw_checkpoint` that are at work together at most: what fills the largest devices (an H200 has room for 67,584 or a
/// quarter more).
const RESIDENT_INVOCATIONS: u32 = 81_920;

/// What a value that stands for minus infinity is in every form.
const NEG_INF: i32 = offset::NEG_INF;

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The kernel.
    pub scan: Scan,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Columns that an invocation keeps in registers; a multiple of [`Variant::cells`].
    pub columns: u32,
    /// Rows of a tile, or of `nw_checkpoint` steps from checkpoint to checkpoint; a multiple of 4.
    pub tile_rows: u32,
    /// Arenas.
    pub arenas: u32,
    /// Least and greatest subgroup size of the device.
    pub subgroup_sizes: [u32; 2],
    /// Codes of the alphabet.
    pub codes: u32,
    /// Affine gaps.
    pub affine: bool,
    /// What end gaps cost.
    pub ends: Ends,
    /// Whether directions are stored.
    pub directions: bool,
    /// Whether values have room for the tags that say which candidate was taken; else that is found by comparing.
    pub tags: bool,
}

/// `nw_walk` over what a variant leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Walk(pub Variant);

impl KernelProgram for Walk {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::PairTraceback)
    }

    fn constants(&self) -> Constants {
        self.0.constants_for(WALK_WORKGROUP)
    }

    fn supplied(&self) -> Supplied {
        self.0.supplied()
    }

    fn arenas(&self) -> u32 {
        self.0.arenas
    }
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Scan(self.scan))
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

impl Variant {
    /// Bits of a cell's directions.
    pub const fn bits(&self) -> u32 {
        if self.affine { 4 } else { 2 }
    }

    /// Zeros below a value for tags.
    pub const fn tag_bits(&self) -> u32 {
        if self.tags && self.directions { self.bits() } else { 0 }
    }

    /// A scoring's table with the tag of a diagonal step, and how far its other values move up.
    pub fn tagged_table(&self, scoring: &OffsetScoring) -> Vec<i32> {
        let bits = self.tag_bits();
        // 2 for a mismatch, 3 for a match, which is the lowest bit of a value that carries matches.
        let tagged = |value: i32| if bits > 0 { (value << bits) + 2 + (value & 1) } else { value };
        scoring.table().iter().map(|&value| if value <= NEG_INF { NEG_INF } else { tagged(value) }).collect()
    }

    /// Cells of one row in a word of directions: as many as fit, if an invocation keeps so many columns.
    pub const fn cells(&self) -> u32 {
        let fit = 32 / self.bits();
        if self.columns < fit { self.columns } else { fit }
    }

    /// Whether lanes are a row behind each other, each, and store what they find in the same steps.
    const fn is_skewed(&self) -> bool {
        !matches!(self.scan, Scan::Rows)
    }

    /// Rows after which the lanes of a pair begin anew: if never, more than there are.
    const fn rows_a_scan(&self) -> u32 {
        match self.scan {
            Scan::TiledDiagonal => self.tile_rows,
            _ => 1 << 30,
        }
    }

    /// Pairs of a task: one an invocation, one a workgroup, or one a subgroup, as many as a workgroup has of the smallest.
    pub const fn slots(&self) -> u32 {
        match self.scan {
            Scan::Rows => self.workgroup,
            Scan::Diagonal | Scan::TiledDiagonal => 1,
            Scan::DiagonalSubgroup => self.workgroup / self.subgroup_sizes[0],
            Scan::Checkpoint => self.workgroup / self.lanes(),
        }
    }

    /// Invocations that share a pair, or 0 if only the kernel knows.
    const fn lanes(&self) -> u32 {
        match self.scan {
            Scan::Rows => 1,
            Scan::Diagonal | Scan::TiledDiagonal => self.workgroup,
            Scan::DiagonalSubgroup => 0,
            // 4 or 8.
            Scan::Checkpoint => {
                if self.subgroup_sizes[0] < 8 {
                    4
                } else {
                    8
                }
            }
        }
    }

    /// The most invocations that can share a pair.
    const fn most_lanes(&self) -> u32 {
        match self.scan {
            Scan::DiagonalSubgroup => self.subgroup_sizes[1],
            _ => self.lanes(),
        }
    }

    /// Columns are padded to a multiple of this: what a slice, pass or tile has.
    pub const fn column_unit(&self) -> u32 {
        self.columns * self.most_lanes()
    }

    /// Whether a task's pairs lie word by word beside each other.
    const fn interleaved(&self) -> bool {
        matches!(self.scan, Scan::Rows)
    }

    /// Words of four profile entries a row (`nw_rows`). Odd: rows of neighbouring codes then start in different banks.
    const fn stride4(&self) -> u32 {
        (self.columns / 4) | 1
    }

    /// Workgroup memory in bytes.
    pub const fn workgroup_bytes(&self) -> u32 {
        let substitution = self.codes * (self.codes | 1) * 4;
        match self.scan {
            Scan::Rows => self.codes * self.stride4() * 16,
            Scan::DiagonalSubgroup => substitution,
            Scan::Diagonal | Scan::TiledDiagonal => substitution + 2 * self.workgroup * 8,
            // Beside them what the workgroup agrees on.
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
            .number("TILE_ROWS", self.rows_a_scan())
            .number("BITS", self.bits())
            .flag("DIRECTIONS", self.directions)
            .number("TAG_BITS", self.tag_bits())
    }

    /// The arenas' bindings, and how to get at a quad of one.
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

    /// Columns of a query with this many symbols, padding included.
    pub fn padded_columns(&self, query_symbols: u32) -> u64 {
        (query_symbols as u64).div_ceil(self.column_unit() as u64).max(1) * self.column_unit() as u64
    }

    /// Quads (of four words) of directions of a pair with so many padded columns: one for four rows of a block, or of skewed lanes
    /// for four steps.
    pub(super) fn direction_quads(&self, rows_words: u32, columns: u64) -> u64 {
        let scans = (rows_words * 4).div_ceil(self.rows_a_scan()).max(1);
        let more = if self.is_skewed() { scans * self.most_lanes() / 4 } else { 0 };
        if self.directions { columns / u64::from(self.cells()) * u64::from(rows_words + more) } else { 0 }
    }

    /// Quads of an arena that a task takes for a query of so many symbols and targets of up to `rows_words * 4`.
    pub fn task_quads(&self, query_symbols: u32, rows_words: u32) -> u64 {
        let columns = self.padded_columns(query_symbols);
        let borders = (rows_words as u64 + columns / 4) * layout::planes(self.affine) as u64 + columns / 4 + 4;
        let runs = run_quads(query_symbols, rows_words);
        if self.scan == Scan::Checkpoint {
            return (self.checkpoint_quads(rows_words, columns) + runs) * self.slots() as u64;
        }
        (borders + self.direction_quads(rows_words, columns) + runs) * self.slots() as u64
    }

    /// Quads of a pair of `nw_checkpoint`, beside its runs.
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

    /// Groups of four steps between two checkpoints.
    const fn block_groups(&self) -> u32 {
        self.tile_rows / 4
    }

    /// Tasks whose memory is in use together at most.
    pub fn tasks_together(&self, tasks: u64) -> u64 {
        if self.scan == Scan::Checkpoint {
            tasks.min((RESIDENT_INVOCATIONS / self.workgroup).max(1).into())
        } else {
            tasks
        }
    }

    /// Slices, passes or tile columns of a task.
    pub fn passes(&self, task: &Task) -> u32 {
        // The device may have smaller subgroups than the greatest, and then as many more passes.
        let fewest_lanes = if self.scan == Scan::DiagonalSubgroup { self.subgroup_sizes[0] } else { self.most_lanes() };
        task.columns / (self.columns * fewest_lanes)
    }

    /// Diagonals of tiles of a task.
    pub fn tile_diagonals(&self, task: &Task) -> u32 {
        (task.rows_words * 4).div_ceil(self.tile_rows) + task.columns / self.column_unit() - 1
    }

    /// Loop iterations that an invocation makes at most in a pass over so many rows, if no loop is unrolled.
    pub fn iterations_a_pass(&self, rows: u64) -> u64 {
        match self.scan {
            Scan::Rows => {
                rows * (2 + self.columns as u64 / 4 * 6) + 3 * self.columns as u64 + self.iterations_at_corners(rows)
            }
            Scan::TiledDiagonal => self.iterations_a_strip(rows.min(self.tile_rows as u64)),
            _ => self.iterations_a_strip(rows),
        }
    }

    /// Loop iterations that an invocation of `nw_checkpoint` makes at most in a pass over so many rows.
    pub fn iterations_a_sweep(&self, rows: u64) -> u64 {
        let profile = (self.codes * self.lanes() * self.columns / 4).div_ceil(self.workgroup) as u64;
        (rows + self.lanes() as u64) * self.iterations_a_step() + 4 * self.columns as u64 + profile
    }

    /// And after the last pass, for pairs with so many rows, columns, and symbols together.
    pub fn iterations_after_sweeps(&self, rows: u64, columns: u64, symbols: u64) -> u64 {
        // A path meets each block of rows once, and two more in every pass at most.
        let steps = self.tile_rows as u64;
        let blocks = 2 * columns / self.column_unit() as u64 + rows.div_ceil(steps) + 1;
        let block = steps * self.iterations_a_step() + 4 * self.columns as u64;
        self.walk_iterations(symbols) + if self.directions { blocks * block } else { 0 }
    }

    /// Columns in fours, words and their shift, and a quarter of what a group of four steps has.
    fn iterations_a_step(&self) -> u64 {
        let corner = if self.ends == Ends::Affine { self.columns as u64 / 4 * 5 + 2 } else { 0 };
        let words = (self.columns / self.cells()) as u64;
        self.columns as u64 / 4 * 5 + 3 * words + 6 + corner
    }

    /// Loop iterations that an invocation of the walk makes at most for a pair with so many symbols together, as devices
    /// count them whose lanes go through all branches together: a loop that is entered in any lane counts at least once
    /// in all, and once more for its end.
    pub const fn walk_iterations(&self, symbols: u64) -> u64 {
        // The search along both borders: other lanes may take them the other way round.
        let search = if self.ends.are_own() { 2 } else { 0 };
        // A step, with a loop over the pieces of a run, which llvmpipe enters whether a run ends or not; and copying, less
        // than one a run.
        let walk = if self.directions { 1 + 2 + 1 } else { 0 };
        (search + walk) * symbols + 100
    }

    fn iterations_a_strip(&self, rows: u64) -> u64 {
        let steps = rows + self.most_lanes() as u64;
        let rest = 4 * self.columns as u64 + 1000 + self.iterations_at_corners(steps);
        // Beside the columns: words twice, their shift, and a quarter of what follows four steps.
        steps * (self.columns as u64 + 14) + rest
    }

    /// Those that lift corners to 0, which the invocations of a workgroup come to in different steps, and as many for a loop
    /// that no lane enters as [`Self::walk_iterations`] says.
    fn iterations_at_corners(&self, steps: u64) -> u64 {
        let entered = steps.min(self.workgroup as u64) * 2 * self.columns as u64;
        if self.ends == Ends::Affine { 2 * steps + entered } else { 0 }
    }
}

/// Quads that the runs of a pair can take.
pub(super) fn run_quads(query_symbols: u32, rows_words: u32) -> u64 {
    (query_symbols as u64 + rows_words as u64 * 4) / 8 + 2
}
