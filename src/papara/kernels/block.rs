//! Host half of the kernels for reads and ancestral states: constants, and which task is where.

use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::Constants;
use crate::papara::vectors::set_of;
use crate::papara::{OCTET, PhyloBatch};
use crate::score::PhyloScheme;
use crate::seq::{Alphabet, Code};

pub use crate::gpu::kernels::ScoreType;

/// Invocations that share an octet.
pub const LANES: u32 = OCTET as u32 / 2;
/// Sites between which S of a slice goes through memory.
pub const CHUNK: u32 = 128;
/// The greatest number that halves hold exactly, in units of 1/2048.
const MAX_HALF: i64 = 2047;
/// The same of 32 bits, below a number that stands for none.
const MAX_WORD: i64 = 1 << 29;

/// Columns of a read that an invocation keeps in registers: few, and many.
pub const fn columns(numbers: ScoreType) -> [u32; 2] {
    match numbers {
        ScoreType::F16 => [20, 28],
        ScoreType::I32 => [16, 20],
    }
}

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// What scores are held in.
    pub numbers: ScoreType,
    /// Invocations a workgroup, a multiple of [`LANES`].
    pub workgroup: u32,
    /// Columns of a read that an invocation keeps; a multiple of 4.
    pub columns: u32,
    /// Sites between which the rest goes through memory.
    pub chunk: u32,
    /// Whether reads hold bases alone.
    pub is_plain: bool,
    /// Whether vectors are of amino acids.
    pub is_protein: bool,
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Block(self.numbers))
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

impl Variant {
    /// Rows of the table: of every code that a read can have, and of what stands before it.
    fn rows(&self) -> u32 {
        match (self.is_plain, self.is_protein) {
            (true, _) => 5,
            (false, false) => Alphabet::Dna.size() as u32,
            (false, true) => Alphabet::Protein.size() as u32,
        }
    }

    /// Bytes of a number of the scratch memory.
    pub const fn vector_bytes(&self) -> u64 {
        match self.numbers {
            ScoreType::F16 => 8,
            ScoreType::I32 => 16,
        }
    }

    /// Reads against octets of a workgroup.
    pub fn places(&self) -> u32 {
        self.workgroup / LANES
    }

    /// Columns of a read of so many symbols.
    pub fn padded(&self, symbols: u32) -> u32 {
        symbols.next_multiple_of(self.columns)
    }

    /// Numbers that a workgroup has of the scratch memory, for reads of so many columns.
    pub fn scratch_vectors(&self, columns: u32) -> u64 {
        u64::from(columns + self.chunk + 2) * u64::from(self.workgroup)
    }

    /// Bytes of workgroup memory that a workgroup takes.
    pub fn workgroup_bytes(&self) -> u32 {
        self.rows() * self.workgroup * (self.vector_bytes() / 2) as u32
    }

    /// Whether all that is held and added stays within what a number holds exactly, for a read of so many symbols.
    pub fn holds(&self, symbols: u32, scheme: &PhyloScheme) -> bool {
        let most = match self.numbers {
            ScoreType::F16 => MAX_HALF,
            ScoreType::I32 => MAX_WORD,
        };
        let (deletion, insertion) = (scheme.deletion, scheme.insertion);
        let steps = i64::from(insertion.next) * i64::from(self.padded(symbols));
        // b and what one site adds.
        let above = i64::from(deletion.next) * i64::from(self.chunk + 1);
        let one = [scheme.matching, scheme.mismatch, scheme.gap_site, deletion.first, insertion.first];
        let one: i64 = one.into_iter().map(|cost| i64::from(cost).abs()).sum();
        // S is at least what the symbols cost that are inserted, which the steps make up for but for the first.
        scheme.most(symbols) + steps + above + 2 * one <= most
    }
}

/// The parameters of a dispatch, as `common/papara.wgsl` declares them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// First place.
    pub place_begin: u32,
    /// Place after the last.
    pub place_end: u32,
    /// Workgroups.
    pub groups: u32,
    /// First site.
    pub site_begin: u32,
    /// Site after the last.
    pub site_end: u32,
    /// Sites of a vector.
    pub sites: u32,
    /// Columns that scratch memory has room for.
    pub columns: u32,
    /// Numbers of a workgroup's part of that.
    pub scratch_vectors: u32,
    /// Whether what hangs over of a read is free.
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

/// A read against an octet, as `common/papara.wgsl` declares it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Place {
    /// First symbol of the read.
    pub read: u32,
    /// Its symbols.
    pub symbols: u32,
    /// The set of its first row of the table.
    pub rows: u32,
    /// Its rows of the table.
    pub row_count: u32,
    /// The octet.
    pub octet: u32,
    /// Where its scores go.
    pub score: u32,
}

/// What one program computes of a batch.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub variant: Variant,
    /// Reads against octets, the longest first.
    pub places: Vec<Place>,
}

impl Launch {
    /// Columns of the longest read.
    pub fn columns(&self) -> u32 {
        self.places.first().map_or(0, |place| self.variant.padded(place.symbols))
    }
}

/// A batch as the kernels see it.
#[derive(Debug, Clone, Default)]
pub struct BlockTasks {
    /// By program.
    pub launches: Vec<Launch>,
    /// Rows of the table of every symbol of every read, a byte each.
    pub reads: Vec<u8>,
    /// Sets of rows.
    pub rows: Vec<u32>,
    /// Places of all launches.
    pub places: u32,
}

/// Whether a read holds bases alone.
fn is_plain(alphabet: Alphabet, codes: &[Code]) -> bool {
    alphabet == Alphabet::Dna && codes.iter().all(|code| code.is_power_of_two())
}

impl BlockTasks {
    /// The tasks of a batch. `program` says which variant computes a read of such codes, which are plain or not.
    pub fn new(batch: &PhyloBatch, program: impl Fn(&[Code], bool) -> Variant) -> Self {
        let chunk = &batch.chunk;
        let mut list = BlockTasks::default();
        let mut longest_first: Vec<(u32, usize)> = Vec::with_capacity(batch.blocks.len());
        for (index, block) in batch.blocks.iter().enumerate() {
            longest_first.push((list.places, index));
            list.places += block.places.len() as u32;
        }
        longest_first.sort_by_key(|&(_, index)| std::cmp::Reverse(chunk.reads.length(batch.blocks[index].read)));
        for (score, index) in longest_first {
            let block = &batch.blocks[index];
            let codes = chunk.reads.codes(block.read);
            let variant = program(codes, is_plain(chunk.reads.alphabet(), codes));
            let launch = match list.launches.iter().position(|launch| launch.variant == variant) {
                Some(launch) => launch,
                None => {
                    list.launches.push(Launch { variant, places: Vec::new() });
                    list.launches.len() - 1
                }
            };
            let (rows, row_count) = (list.rows.len() as u32, list.rows.len());
            let read = list.add(codes, chunk.reads.alphabet(), variant.is_plain);
            let row_count = (list.rows.len() - row_count) as u32;
            let place = |(score, place): (u32, u32)| Place {
                read,
                symbols: codes.len() as u32,
                rows,
                row_count,
                octet: chunk.octet(place),
                score,
            };
            list.launches[launch].places.extend((score..).zip(block.places.clone()).map(place));
        }
        // Whole words.
        list.reads.resize(list.reads.len().next_multiple_of(4), 0);
        list
    }

    /// Adds a read and its rows; its first symbol.
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
