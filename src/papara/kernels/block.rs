//! Host side of `papara_block` and `papara_block_half`: constants, parameters and task lists.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::Constants;
use crate::papara::vectors::set_of;
use crate::papara::{OCTET, PhyloBatch};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, Code};

pub use crate::gpu::kernels::ScoreType;

/// Number of invocations that share an octet.
pub const LANES: u32 = OCTET as u32 / 2;
/// Number of sites in a chunk. Kernels process all slices (groups of read columns) in one chunk
/// before the next chunk. The scores of a slice are stored in scratch memory between chunks.
pub const CHUNK: u32 = 128;
/// Largest absolute value of an f16 lane, in units of 1/2048. All multiples up to this value are
/// exact.
const MAX_F16: i64 = 2047;
/// Largest value of an i32 lane, below the value that marks impossible cells.
const MAX_I32: i64 = 1 << 29;

/// Returns the two choices for the number of read columns that an invocation keeps in registers.
pub const fn columns(numbers: ScoreType) -> [u32; 2] {
    match numbers {
        ScoreType::F16 => [20, 28],
        ScoreType::I32 => [16, 20],
    }
}

/// The constants that a pipeline is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockVariant {
    /// Type of the score lanes.
    pub numbers: ScoreType,
    /// Invocations per workgroup, a multiple of [`LANES`].
    pub workgroup: u32,
    /// Columns of a read that an invocation keeps in registers; a multiple of 4.
    pub columns: u32,
    /// Number of sites in a chunk.
    pub chunk: u32,
    /// Whether all reads consist of unambiguous bases.
    pub is_plain: bool,
    /// Whether the vectors contain amino acids.
    pub is_protein: bool,
}

impl KernelProgram for BlockVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Block(self.numbers))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        Constants::default()
            .number("WG", self.workgroup)
            .number("COLUMNS", self.columns)
            .number("CHUNK", self.chunk)
            .number("ROWS", self.rows())
            .flag("IS_PLAIN", self.is_plain)
            .flag("IS_PROTEIN", self.is_protein)
    }
}

impl BlockVariant {
    /// Returns the number of rows of the score table: one for each code of a read, and one for the
    /// padding before the read.
    fn rows(&self) -> u32 {
        match (self.is_plain, self.is_protein) {
            (true, _) => 5,
            (false, false) => Alphabet::Dna.size() as u32,
            (false, true) => Alphabet::Protein.size() as u32,
        }
    }

    /// Returns the bytes of one scratch vector.
    pub const fn vector_bytes(&self) -> u64 {
        match self.numbers {
            ScoreType::F16 => 8,
            ScoreType::I32 => 16,
        }
    }

    /// Returns the number of read-octet pairs of a workgroup.
    pub fn tasks_per_group(&self) -> u32 {
        self.workgroup / LANES
    }

    /// Returns the number of columns of a read with `symbols` symbols, including padding.
    pub fn padded(&self, symbols: u32) -> u32 {
        symbols.next_multiple_of(self.columns)
    }

    /// Returns the number of scratch vectors of a workgroup, for reads of `columns` columns.
    pub fn scratch_vectors(&self, columns: u32) -> u64 {
        u64::from(columns + self.chunk + 2) * u64::from(self.workgroup)
    }

    /// Returns the bytes of workgroup memory of a workgroup.
    pub fn workgroup_bytes(&self) -> u32 {
        self.rows() * self.workgroup * (self.vector_bytes() / 2) as u32
    }

    /// Checks whether all values and sums for a read of `symbols` symbols stay within the exact
    /// range of the lanes.
    pub fn holds(&self, symbols: u32, scheme: &PhyloScheme) -> bool {
        let most = match self.numbers {
            ScoreType::F16 => MAX_F16,
            ScoreType::I32 => MAX_I32,
        };
        let (deletion, insertion) = (scheme.deletion, scheme.insertion);
        let steps = i64::from(insertion.next) * i64::from(self.padded(symbols));
        // Upper bound on the offset of a stored value within a chunk, including one more site.
        let above = i64::from(deletion.next) * i64::from(self.chunk + 1);
        let one = [scheme.matching, scheme.mismatch, scheme.gap_site, deletion.first, insertion.first];
        let one: i64 = one.into_iter().map(|cost| i64::from(cost).abs()).sum();
        // A score is at least minus the cost of inserting all symbols. `steps` compensates for that
        // cost, except for the opening of the gap.
        scheme.max_score(symbols) + steps + above + 2 * one <= most
    }
}

/// Parameters of a dispatch, as declared in `common/papara.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct BlockParams {
    /// First task.
    pub place_begin: u32,
    /// End (exclusive) of the tasks.
    pub place_end: u32,
    /// Number of workgroups.
    pub groups: u32,
    /// First site.
    pub site_begin: u32,
    /// End (exclusive) of the sites.
    pub site_end: u32,
    /// Number of sites of a vector.
    pub sites: u32,
    /// Number of columns that fit the scratch memory.
    pub columns: u32,
    /// Number of scratch vectors of a workgroup.
    pub scratch_vectors: u32,
    /// 1 if overhanging ends of a read are free, else 0.
    pub free_read_ends: u32,
    /// See [`PhyloScheme`].
    pub matching: i32,
    /// See [`PhyloScheme`].
    pub mismatch: i32,
    /// See [`PhyloScheme`].
    pub gap_site: i32,
    /// See [`PhyloScheme`].
    pub deletion_first: i32,
    /// See [`PhyloScheme`].
    pub deletion_next: i32,
    /// See [`PhyloScheme`].
    pub insertion_first: i32,
    /// See [`PhyloScheme`].
    pub insertion_next: i32,
}

/// A task: a read against an octet, as declared in `common/papara.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct BlockTask {
    /// Offset of the first symbol of the read.
    pub read: u32,
    /// Number of symbols of the read.
    pub symbols: u32,
    /// Index in [`BlockTasks::rows`] of its first table row.
    pub rows: u32,
    /// Number of its table rows.
    pub row_count: u32,
    /// The octet.
    pub octet: u32,
    /// Index of its scores in the output.
    pub score: u32,
}

/// The tasks of one program in a batch.
#[derive(Debug, Clone)]
pub struct BlockLaunch {
    /// Program that computes the tasks.
    pub variant: BlockVariant,
    /// Tasks, those with the longest reads first.
    pub tasks: Vec<BlockTask>,
}

impl BlockLaunch {
    /// Returns the number of columns of the longest read.
    pub fn columns(&self) -> u32 {
        self.tasks.first().map_or(0, |task| self.variant.padded(task.symbols))
    }
}

/// A batch in the layout of the kernels.
#[derive(Debug, Clone, Default)]
pub struct BlockTasks {
    /// Launches, one per program.
    pub launches: Vec<BlockLaunch>,
    /// Table row of every symbol of every read, one byte each.
    pub reads: Vec<u8>,
    /// Set of characters of each table row.
    pub rows: Vec<u32>,
    /// Number of tasks of all launches.
    pub task_count: u32,
}

/// Checks whether a read consists of unambiguous bases.
fn is_plain(alphabet: Alphabet, codes: &[Code]) -> bool {
    alphabet == Alphabet::Dna && codes.iter().all(|code| code.is_power_of_two())
}

impl BlockTasks {
    /// Builds the tasks of a batch. `program` returns the variant for a read with the given codes
    /// and the result of `is_plain`.
    pub fn new(batch: &PhyloBatch, program: impl Fn(&[Code], bool) -> BlockVariant) -> Self {
        let chunk = &batch.chunk;
        let mut list = BlockTasks::default();
        let mut longest_first: Vec<(u32, usize)> = Vec::with_capacity(batch.blocks.len());
        for (index, block) in batch.blocks.iter().enumerate() {
            longest_first.push((list.task_count, index));
            list.task_count += block.positions.len() as u32;
        }
        longest_first.sort_by_key(|&(_, index)| std::cmp::Reverse(chunk.reads.length(batch.blocks[index].read)));
        for (score, index) in longest_first {
            let block = &batch.blocks[index];
            let codes = chunk.reads.codes(block.read);
            let variant = program(codes, is_plain(chunk.reads.alphabet(), codes));
            let launch = match list.launches.iter().position(|launch| launch.variant == variant) {
                Some(launch) => launch,
                None => {
                    list.launches.push(BlockLaunch { variant, tasks: Vec::new() });
                    list.launches.len() - 1
                }
            };
            let (rows, row_count) = (list.rows.len() as u32, list.rows.len());
            let read = list.add(codes, chunk.reads.alphabet(), variant.is_plain);
            let row_count = (list.rows.len() - row_count) as u32;
            let task = |(score, position): (u32, u32)| BlockTask {
                read,
                symbols: codes.len() as u32,
                rows,
                row_count,
                octet: chunk.octet(position),
                score,
            };
            list.launches[launch].tasks.extend((score..).zip(block.positions.clone()).map(task));
        }
        // Pad to whole u32 values.
        list.reads.resize(list.reads.len().next_multiple_of(4), 0);
        list
    }

    /// Adds a read and its table rows. Returns the index of its first symbol.
    fn add(&mut self, codes: &[Code], alphabet: Alphabet, is_plain: bool) -> u32 {
        let (begin, rows) = (self.reads.len() as u32, self.rows.len());
        if is_plain {
            self.reads.extend(codes.iter().map(|code| code.trailing_zeros() as u8));
            return begin;
        }
        let mut row_of = [u8::MAX; 256];
        for &code in codes {
            let row = &mut row_of[code as usize];
            if *row == u8::MAX {
                *row = (self.rows.len() - rows) as u8;
                self.rows.push(set_of(alphabet, code));
            }
            self.reads.push(*row);
        }
        begin
    }
}
