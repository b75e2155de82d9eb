//! Host half of the kernels for Levenshtein distances, `myers_thread`, `myers_subgroup` and `myers_workgroup` (Chacon et
//! al. 2014): how symbols and patterns are packed, and which task is where.

mod tasks;

pub(crate) use self::tasks::run_of;
pub use self::tasks::{EditTasks, Run};
pub use crate::gpu::kernels::LaneGrouping;
use crate::gpu::kernels::{Kernel, KernelKind, KernelProgram, of_kind};
use crate::gpu::source::Constants;
use crate::score::{EditMode, Equality};
use crate::seq::{Alphabet, Code, SequenceStore};

/// Symbols before the first text: a lane reads as many before the first symbol of its text as there are lanes before it.
pub const FRONT_SYMBOLS: u32 = 1024;
/// Texts begin at multiples of so many symbols: whole words whatever a symbol takes.
pub const TEXT_ALIGNMENT: u32 = 16;
/// Bits of a position beside a distance in one word of `myers_thread`.
pub const POSITION_BITS: u32 = 20;
/// The greatest number of symbols of a pattern for `myers_thread`: a distance, up to twice as great in prefix mode, has the
/// bits that a position leaves.
pub const THREAD_SYMBOLS: u32 = 1024;

/// Which pairs of a batch a program computes, and what of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selection {
    /// All of them, as wholes.
    All,
    /// The heads of all: so many words of each pattern from its first on, or all that it has. Pairs whose head is within the
    /// limit are kept, of the others it is known that they are not.
    Heads(u32),
    /// Those that heads kept, as wholes.
    Kept,
}

/// What a pipeline is made for: shader constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How lanes exchange.
    pub grouping: LaneGrouping,
    /// Bits of a symbol: 2, 4 or 8.
    pub bits: u32,
    /// Codes of a profile's vectors, where symbols have 8 bits.
    pub stride: u32,
    /// Words that an invocation keeps of its pattern.
    pub words: u32,
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Invocations a pair; 1 for `myers_thread`.
    pub lanes: u32,
    /// What is computed.
    pub mode: EditMode,
    /// Whether patterns may need several strips, or columns come in parts.
    pub strips: bool,
    /// Words of a base's row in workgroup memory, of `myers_band`; else 0.
    pub row_words: u32,
    /// Which pairs it computes.
    pub selection: Selection,
}

impl KernelProgram for Variant {
    fn kernel(&self) -> &'static Kernel {
        of_kind(KernelKind::Edit(self.grouping))
    }

    fn constants(&self) -> Constants {
        let is_free = pad_bits(self.mode) != 0;
        let head = if let Selection::Heads(words) = self.selection { words } else { 0 };
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
            .number("HEAD", head)
            .flag("IS_KEPT", self.selection == Selection::Kept)
            .flag("TRACK", self.mode != EditMode::Global)
            .flag("IS_PREFIX", self.mode == EditMode::Prefix)
            .flag("STRIPS", self.strips)
            .flag("IS_OVERLAP", matches!(self.mode, EditMode::Overlap(_)))
    }
}

impl Variant {
    /// Pairs a workgroup.
    pub fn tasks(&self) -> u32 {
        self.workgroup / self.lanes
    }

    /// Words of the output a pair.
    pub fn output_words(&self) -> u32 {
        if matches!(self.grouping, LaneGrouping::Thread | LaneGrouping::Band) { 1 } else { 2 }
    }

    /// Words of the list a pair: its number and its output.
    pub fn list_words(&self) -> u32 {
        1 + self.output_words()
    }

    /// Bytes of workgroup memory that a workgroup of so many invocations takes.
    pub fn workgroup_bytes(&self) -> u32 {
        let rows = if self.bits == 8 { 0 } else { 4 };
        if self.grouping == LaneGrouping::Band {
            return 4 * (rows * self.row_words).max(1);
        }
        let exchange = if self.grouping == LaneGrouping::Workgroup { 16 + 4 / self.lanes.max(1) + 4 } else { 0 };
        (4 * (rows * self.words).max(1) + exchange) * self.workgroup + 16
    }

    /// Strips of the longest pattern.
    pub fn strips_of(&self, pattern_symbols: u32) -> u32 {
        pattern_symbols.div_ceil(32).div_ceil(self.words * self.lanes).max(1)
    }

    /// Words of a task's scratch memory before what lanes keep, and in all, for texts of so many symbols.
    pub fn scratch_words(&self, text_symbols: u32) -> (u32, u32) {
        if !self.strips {
            return (0, 0);
        }
        let border = text_symbols.div_ceil(16) + 1;
        (border, border + self.lanes * (2 * self.words + 3))
    }
}

/// Match bits of rows above a pattern.
fn pad_bits(mode: EditMode) -> u32 {
    if matches!(mode, EditMode::Infix | EditMode::Overlap(_)) { u32::MAX } else { 0 }
}

/// The parameters of a dispatch, as `common/myers.wgsl` declares them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    /// Pairs in the batch.
    pub task_count: u32,
    /// The first workgroup's number.
    pub first_workgroup: u32,
    /// First strip.
    pub pass_begin: u32,
    /// Strip after the last.
    pub pass_end: u32,
    /// First column.
    pub column_begin: u32,
    /// Column after the last.
    pub column_end: u32,
    /// Words of a task's scratch memory.
    pub scratch_words: u32,
    /// Where in it lies what lanes keep.
    pub kept: u32,
    /// Words of texts.
    pub text_words: u32,
    /// The greatest distance that is of interest.
    pub limit: u32,
    /// Workgroups of the batch.
    pub groups: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_divisor: u32,
    /// Bases of every code, 4 bits a code.
    pub sets: [u32; 2],
    /// See [`crate::score::OverlapReach`].
    pub reach_shorter: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_constant: u32,
    /// See [`crate::score::OverlapReach`].
    pub reach_rate: u32,
    /// The greatest distance of a pair that is listed.
    pub list_limit: u32,
    /// Pairs that the list has room for; 0 if none is kept.
    pub list_room: u32,
    /// Word of the output's data where the results of all pairs begin: the list is before them.
    pub dense_begin: u32,
    /// Word of the output's data where the tasks begin that heads keep.
    pub kept_begin: u32,
    /// Words of a pair's result.
    pub result_words: u32,
    /// Words of a place: 1 where all texts have as many symbols, else 2.
    pub place_words: u32,
    /// Symbols of every text, where they all have as many.
    pub text_symbols: u32,
}

/// How symbols of texts are coded on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    /// Bits of a symbol.
    pub bits: u32,
    /// Codes on the device: of bases, or of all symbols that texts have.
    pub stride: u32,
    /// Bases of every code on the device, 4 bits a code.
    pub sets: [u32; 2],
    recode: Vec<u8>,
    /// For every code of a pattern the device's codes that it equals: a set of bases, or a list.
    equal: Vec<Vec<u8>>,
    /// The same of bases: the top bit of 16 is set for each that the code equals. Nothing where symbols have 8 bits.
    base_bits: Box<[u64; 256]>,
}

/// The top bit of 16 of every base.
const ALL_BASES: u64 = 0x8000_8000_8000_8000;

impl Coding {
    /// The tightest coding for texts: 2 bits if they consist of bases, 4 if all else is made up of these, else 8.
    pub fn of(texts: &SequenceStore, equality: &Equality) -> Self {
        let alphabet = texts.alphabet();
        let mut occurs = [false; 256];
        for &code in texts.packed_bytes() {
            occurs[code as usize] = true;
        }
        let codes: Vec<Code> = (1..alphabet.size()).filter(|&code| occurs[code]).map(|code| code as Code).collect();
        if alphabet == Alphabet::Dna {
            let others = codes.iter().filter(|code| code.count_ones() != 1);
            let sets: Option<Vec<(Code, u8)>> = others.map(|&code| Some((code, equality.bases_of(code)?))).collect();
            if let Some(others) = sets {
                return Coding::of_bases(&others, equality);
            }
        }
        let mut recode = vec![0; alphabet.size()];
        for (dense, &code) in (0..).zip(&codes) {
            recode[code as usize] = dense;
        }
        let equal = (0..alphabet.size()).map(|own| {
            let own = own as Code;
            codes
                .iter()
                .filter(|&&code| own > 0 && equality.is_match(own, code))
                .map(|&code| recode[code as usize])
                .collect()
        });
        let (stride, equal) = (codes.len().max(1) as u32, equal.collect());
        Coding { bits: 8, stride, sets: [0; 2], equal, recode, base_bits: Box::new([0; 256]) }
    }

    fn of_bases(others: &[(Code, u8)], equality: &Equality) -> Self {
        let mut recode = vec![0; 16];
        for bit in 0..4u8 {
            recode[1 << bit] = bit;
        }
        let mut sets = [0; 2];
        // There are eleven codes beside the bases, so 4 to 14.
        for (own, &(code, bases)) in (4u8..).zip(others) {
            recode[code as usize] = own;
            sets[own as usize / 8] |= u32::from(bases) << (4 * (own % 8));
        }
        let equal = (0..16u8).map(|own| (0..4u8).filter(|bit| own > 0 && equality.is_match(own, 1 << bit)).collect());
        let equal: Vec<Vec<u8>> = equal.collect();
        let mut base_bits = Box::new([0; 256]);
        for (bits, bases) in base_bits.iter_mut().zip(&equal) {
            *bits = bases.iter().fold(0, |bits, base| bits | 1 << (16 * base + 15));
        }
        Coding { bits: if others.is_empty() { 2 } else { 4 }, stride: 4, sets, equal, recode, base_bits }
    }

    /// Packs symbols into words, the first lowest; `words` are as many as they fill.
    pub fn pack(&self, codes: &[Code], words: &mut [u32]) {
        for (word, codes) in words.iter_mut().zip(codes.chunks((32 / self.bits) as usize)) {
            *word = codes.iter().rev().fold(0, |word, &code| word << self.bits | u32::from(self.recode[code as usize]));
        }
    }

    /// Words of a pattern's profile.
    pub fn profile_words(&self, pattern_symbols: u32) -> usize {
        pattern_symbols.div_ceil(32) as usize * self.stride as usize
    }

    /// Writes a pattern's profile: as `common/myers.wgsl` says, in words that are 0.
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
        for (place, &own) in (pads..).zip(pattern) {
            let at = place / 32 * stride;
            for &code in &self.equal[own as usize] {
                profile[at + code as usize] |= 1 << (place % 32);
            }
        }
    }

    /// The same of bases, whose words of 16 rows are made side by side: a shift a row moves all of them, and as there are no more
    /// rows than bits, none reaches the word below.
    fn profile_of_bases(&self, pattern: &[Code], mode: EditMode, profile: &mut [u32]) {
        let words = pattern.len().div_ceil(32);
        let pads = 32 * words - pattern.len();
        let above = if pad_bits(mode) == 0 { 0 } else { ALL_BASES };
        let add = |rows: u64, bits: u64| rows >> 1 | bits;
        for word in 0..words {
            let [low, high] = [0, 16].map(|half| {
                let first = 32 * word + half;
                let own = pads.clamp(first, first + 16);
                let rows = (first..own).fold(0, |rows, _| add(rows, above));
                let own = &pattern[own.max(pads) - pads..(first + 16).max(pads) - pads];
                own.iter().fold(rows, |rows, &code| add(rows, self.base_bits[code as usize]))
            });
            for base in 0..4 {
                let of_base = |rows: u64| (rows >> (16 * base)) as u32 & 0xffff;
                profile[base * words + word] = of_base(low) | of_base(high) << 16;
            }
        }
    }
}

#[cfg(test)]
mod tests;
