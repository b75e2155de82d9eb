//! Host side of the kernels for Levenshtein distances, `myers_thread`, `myers_subgroup`,
//! `myers_workgroup`, `myers_band` and `myers_scan` (Chacon et al. 2014): packing of symbols and
//! patterns, and task lists.

mod tasks;

use rayon::prelude::*;

pub(crate) use self::tasks::run_of;
pub use self::tasks::{EditTasks, PatternRun};
pub use crate::gpu::kernels::LaneGrouping;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::Constants;
use crate::score::{EditMode, Equality};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Number of padding symbols before the first text. Each lane starts one symbol earlier than the
/// lane before it, so it reads symbols before the start of its text.
pub const FRONT_SYMBOLS: u32 = 1024;
/// Texts start at multiples of this number of symbols, so they fill whole u32 values with any
/// symbol size.
pub const TEXT_ALIGNMENT: u32 = 16;
/// Number of bits of the position in a result of `myers_thread`. The distance has the remaining
/// bits of the u32.
pub const POSITION_BITS: u32 = 20;
/// Maximum number of symbols of a pattern in `myers_thread`. A distance, which is up to twice as
/// large in prefix mode, must fit into the bits above the position.
pub const THREAD_SYMBOLS: u32 = 1024;

/// Selection of the pairs and rows that a program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PairSelection {
    /// All pairs, with all rows.
    All,
    /// The heads of all pairs: this number of u32 words of rows, from the first row of each pattern
    /// on, or all words of a shorter pattern. Pairs with a head within the limit are kept. All
    /// other pairs exceed the limit.
    Heads(u32),
    /// The pairs that the heads kept, with all rows.
    Kept,
}

/// The constants that a pipeline is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EditVariant {
    /// How lanes cooperate.
    pub grouping: LaneGrouping,
    /// Bits per symbol: 2, 4 or 8.
    pub bits: u32,
    /// Number of codes in a profile, for symbols of 8 bits.
    pub stride: u32,
    /// Number of u32 words of rows that an invocation keeps.
    pub words: u32,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Invocations per pair; 1 for `myers_thread`.
    pub lanes: u32,
    /// Mode of the distance.
    pub mode: EditMode,
    /// Whether patterns may need several strips, or a dispatch only a part of the columns.
    pub strips: bool,
    /// Number of u32 values of a base's row in workgroup memory for `myers_band`, else 0.
    pub row_words: u32,
    /// Number of lanes of a subgroup that hold the match bits of different codes for `myers_scan`,
    /// else 0.
    pub code_lanes: u32,
    /// Pairs that the program computes.
    pub selection: PairSelection,
}

impl KernelProgram for EditVariant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Edit(self.grouping))
    }

    fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes()
    }

    fn constants(&self) -> Constants {
        let is_free = pad_bits(self.mode) != 0;
        let head = if let PairSelection::Heads(words) = self.selection { words } else { 0 };
        Constants::default()
            .number("BITS", self.bits)
            .number("STRIDE", self.stride)
            .number("WORDS", self.words)
            .number("WG", self.workgroup)
            .number("LANES", self.lanes)
            .number("PADS", pad_bits(self.mode))
            .number("INPUT", if is_free { 0 } else { 1 << 31 })
            .number("POSITION_BITS", POSITION_BITS)
            .number("ROW_WORDS", self.row_words)
            .number("CODE_LANES", self.code_lanes)
            .number("HEAD", head)
            .flag("IS_KEPT", self.selection == PairSelection::Kept)
            .flag("TRACK", self.mode != EditMode::Global)
            .flag("IS_PREFIX", self.mode == EditMode::Prefix)
            .flag("STRIPS", self.strips)
            .flag("IS_OVERLAP", matches!(self.mode, EditMode::Overlap(_)))
    }
}

impl EditVariant {
    /// Returns the number of pairs per workgroup.
    pub fn tasks(&self) -> u32 {
        self.workgroup / self.lanes
    }

    /// Returns the number of u32 values per result.
    pub fn output_words(&self) -> u32 {
        if self.grouping.divides_pairs() { 2 } else { 1 }
    }

    /// Returns the number of u32 values per list entry: the number of the pair and its result.
    pub fn list_words(&self) -> u32 {
        1 + self.output_words()
    }

    /// Returns the bytes of workgroup memory of a workgroup.
    pub fn workgroup_bytes(&self) -> u32 {
        let rows = if self.bits == 8 { 0 } else { 4 };
        if self.grouping == LaneGrouping::Band {
            return 4 * (rows * self.row_words).max(1);
        }
        match self.grouping {
            LaneGrouping::ScanSubgroup => return SCAN_STATE_BYTES,
            LaneGrouping::ScanWorkgroup => return SCAN_STATE_BYTES + 4 * self.codes() * self.words,
            _ => {}
        }
        let exchange = if self.grouping == LaneGrouping::Workgroup { 16 + 4 / self.lanes.max(1) + 4 } else { 0 };
        (4 * (rows * self.words).max(1) + exchange) * self.workgroup + 16
    }

    /// Returns the number of codes of symbols.
    pub fn codes(&self) -> u32 {
        if self.bits == 8 { self.stride } else { 1 << self.bits }
    }

    /// Returns the number of strips of a pattern.
    pub fn strips_of(&self, pattern_symbols: u32) -> u32 {
        pattern_symbols.div_ceil(32).div_ceil(self.words * self.lanes).max(1)
    }

    /// Returns two sizes in u32 values for texts of `text_symbols` symbols: the size of the border
    /// that precedes the lanes' state in a task's scratch memory, and the size of the whole scratch
    /// memory of a task.
    pub fn scratch_words(&self, text_symbols: u32) -> (u32, u32) {
        if !self.strips {
            return (0, 0);
        }
        let border = text_symbols.div_ceil(16) + 1;
        (border, border + self.lanes * (2 * self.words + 3))
    }
}

/// Bytes of workgroup memory of `myers_scan` for the numbers of columns.
const SCAN_STATE_BYTES: u32 = 16;

/// Returns the match bits of the padding rows above a pattern.
fn pad_bits(mode: EditMode) -> u32 {
    if matches!(mode, EditMode::Infix | EditMode::Overlap(_)) { u32::MAX } else { 0 }
}

/// Parameters of a dispatch, as declared in `common/myers.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct EditParams {
    /// Number of pairs in the batch.
    pub task_count: u32,
    /// Number of the first workgroup.
    pub first_workgroup: u32,
    /// First strip.
    pub pass_begin: u32,
    /// End (exclusive) of the strips.
    pub pass_end: u32,
    /// First column.
    pub column_begin: u32,
    /// End (exclusive) of the columns.
    pub column_end: u32,
    /// Number of u32 values of a task's scratch memory.
    pub scratch_words: u32,
    /// Offset of the lanes' state in a task's scratch memory.
    pub kept: u32,
    /// Number of u32 values of all texts.
    pub text_words: u32,
    /// Maximum distance of interest.
    pub limit: u32,
    /// Number of workgroups of the batch.
    pub groups: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_divisor: u32,
    /// Bases of every code, 4 bits per code.
    pub sets: [u32; 2],
    /// See [`crate::score::OverlapReach`].
    pub reach_shorter: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_constant: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_rate: u32,
    /// Maximum distance of a listed pair.
    pub list_limit: u32,
    /// Capacity of the list in pairs; 0 if there is no list.
    pub list_room: u32,
    /// Index of the first result of all pairs in the output. The list precedes it.
    pub dense_begin: u32,
    /// Index of the first task that the heads keep in the output.
    pub kept_begin: u32,
    /// Number of u32 values per result.
    pub result_words: u32,
    /// Number of u32 values per region: 1 if all texts have the same length, else 2.
    pub place_words: u32,
    /// Number of symbols of every text, if all have the same length.
    pub text_symbols: u32,
    /// Number of the last run.
    pub last_run: u32,
    /// Padding.
    pub reserved: u32,
}

/// The encoding of text symbols on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    /// Bits per symbol.
    pub bits: u32,
    /// Number of device codes: of bases, or of all symbols that occur in texts.
    pub stride: u32,
    /// Bases of every device code, 4 bits per code.
    pub sets: [u32; 2],
    recode: Vec<u8>,
    /// For each code of a pattern, the device codes that equal it: a set of bases, or a list.
    equal: Vec<Vec<u8>>,
    /// For symbols of 2 or 4 bits, the bases that equal each code. There are 16 bits for each base,
    /// of which only the top bit can be set.
    base_bits: Box<[u64; 256]>,
}

/// Number of symbols that one thread reads at a time.
const CODES_AT_ONCE: usize = 1 << 20;

/// The top bit of all four groups of 16 bits.
const ALL_BASES: u64 = 0x8000_8000_8000_8000;

impl Coding {
    /// Chooses the smallest encoding for texts: 2 bits if they consist of bases, 4 bits if all
    /// other symbols are sets of bases, else 8 bits. Reads the texts on the threads of the current
    /// pool.
    pub fn for_texts(texts: &SequenceStore, equality: &Equality) -> Self {
        let alphabet = texts.alphabet();
        let occurs = occurring_codes(texts.packed_bytes());
        let codes: Vec<Code> = (1..alphabet.size()).filter(|&code| occurs[code]).map(|code| code as Code).collect();
        if alphabet == Alphabet::Dna {
            let others = codes.iter().filter(|code| code.count_ones() != 1);
            let sets: Option<Vec<(Code, u8)>> = others.map(|&code| Some((code, equality.bases_of(code)?))).collect();
            if let Some(others) = sets {
                return Coding::for_bases(&others, equality);
            }
        }
        let mut recode = vec![0; alphabet.size()];
        for (dense, &code) in (0..).zip(&codes) {
            recode[code as usize] = dense;
        }
        let equal = (0..alphabet.size()).map(|pattern_code| {
            let pattern_code = pattern_code as Code;
            codes
                .iter()
                .filter(|&&code| pattern_code > 0 && equality.is_match(pattern_code, code))
                .map(|&code| recode[code as usize])
                .collect()
        });
        let (stride, equal) = (codes.len().max(1) as u32, equal.collect());
        Coding { bits: 8, stride, sets: [0; 2], equal, recode, base_bits: Box::new([0; 256]) }
    }

    fn for_bases(others: &[(Code, u8)], equality: &Equality) -> Self {
        let mut recode = vec![0; 16];
        for bit in 0..4u8 {
            recode[1 << bit] = bit;
        }
        let mut sets = [0; 2];
        // The eleven codes that are sets of several bases get the device codes 4 to 14.
        for (device_code, &(code, bases)) in (4u8..).zip(others) {
            recode[code as usize] = device_code;
            sets[device_code as usize / 8] |= u32::from(bases) << (4 * (device_code % 8));
        }
        let equal = (0..16u8).map(|pattern_code| {
            (0..4u8).filter(|bit| pattern_code > 0 && equality.is_match(pattern_code, 1 << bit)).collect()
        });
        let equal: Vec<Vec<u8>> = equal.collect();
        let mut base_bits = Box::new([0; 256]);
        for (bits, bases) in base_bits.iter_mut().zip(&equal) {
            *bits = bases.iter().fold(0, |bits, base| bits | 1 << (16 * base + 15));
        }
        Coding { bits: if others.is_empty() { 2 } else { 4 }, stride: 4, sets, equal, recode, base_bits }
    }

    /// Packs symbols into u32 values, with the first symbol in the lowest bits. `words` must have
    /// exactly the length that the symbols fill.
    pub fn pack(&self, codes: &[Code], words: &mut [u32]) {
        for (word, codes) in words.iter_mut().zip(codes.chunks((32 / self.bits) as usize)) {
            *word = codes.iter().rev().fold(0, |word, &code| word << self.bits | u32::from(self.recode[code as usize]));
        }
    }

    /// Returns the number of u32 values of a pattern's profile.
    pub fn profile_words(&self, pattern_symbols: u32) -> usize {
        pattern_symbols.div_ceil(32) as usize * self.stride as usize
    }

    /// Writes a pattern's profile in the layout of `common/myers.wgsl`. `profile` must be zeroed.
    pub fn profile(&self, pattern: &[Code], mode: EditMode, profile: &mut [u32]) {
        if self.bits != 8 {
            self.profile_of_bases(pattern, mode, profile);
            return;
        }
        let words = pattern.len().div_ceil(32);
        let pads = 32 * words - pattern.len();
        let stride = self.stride as usize;
        if pads > 0 {
            let bits = pad_bits(mode) & !(u32::MAX << pads);
            profile[..stride].iter_mut().for_each(|word| *word |= bits);
        }
        for (row, &symbol) in (pads..).zip(pattern) {
            let at = row / 32 * stride;
            for &code in &self.equal[symbol as usize] {
                profile[at + code as usize] |= 1 << (row % 32);
            }
        }
    }

    /// Writes a profile of bases. The u64 `rows` contains 16 rows for each of the four bases, so
    /// that one shift adds a row for all four. After at most 16 rows, no bit has moved into the
    /// group of the next base.
    fn profile_of_bases(&self, pattern: &[Code], mode: EditMode, profile: &mut [u32]) {
        let words = pattern.len().div_ceil(32);
        let pads = 32 * words - pattern.len();
        let above = if pad_bits(mode) == 0 { 0 } else { ALL_BASES };
        let add = |rows: u64, bits: u64| rows >> 1 | bits;
        for word in 0..words {
            let [low, high] = [0, 16].map(|half| {
                let first = 32 * word + half;
                let first_symbol = pads.clamp(first, first + 16);
                let rows = (first..first_symbol).fold(0, |rows, _| add(rows, above));
                let symbols = &pattern[first_symbol.max(pads) - pads..(first + 16).max(pads) - pads];
                symbols.iter().fold(rows, |rows, &code| add(rows, self.base_bits[code as usize]))
            });
            for base in 0..4 {
                let of_base = |rows: u64| (rows >> (16 * base)) as u32 & 0xffff;
                profile[base * words + word] = of_base(low) | of_base(high) << 16;
            }
        }
    }
}

/// Returns which codes occur.
fn occurring_codes(codes: &[Code]) -> [bool; 256] {
    let add = |mut occurs: [bool; 256], codes: &[Code]| {
        codes.iter().for_each(|&code| occurs[code as usize] = true);
        occurs
    };
    let join = |one: [bool; 256], other: [bool; 256]| std::array::from_fn(|code| one[code] || other[code]);
    codes.par_chunks(CODES_AT_ONCE).fold(|| [false; 256], add).reduce(|| [false; 256], join)
}

#[cfg(test)]
mod tests;
