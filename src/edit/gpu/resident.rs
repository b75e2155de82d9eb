//! Texts and patterns on the device, packed once per job.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::edit::kernels::myers::{Coding, FRONT_SYMBOLS, TEXT_ALIGNMENT};
use crate::error::Result;
use crate::gpu::device::Gpu;
use crate::gpu::resident::Residents;
use crate::score::{EditMode, EditScheme, Equality};
use crate::seq::{Code, SequenceStore};

/// Number of symbols of a text that one thread packs at a time.
const PIECE_SYMBOLS: usize = 1 << 20;
/// Number of u32 values of profiles that one thread writes at a time. A single pattern may have
/// more.
const WORDS_AT_ONCE: u64 = 1 << 14;

/// All texts of a store on the device.
pub struct ResidentTexts {
    equality: Equality,
    /// Encoding of the symbols.
    pub coding: Arc<Coding>,
    /// Offset of every text's first symbol.
    pub begins: Arc<Vec<u32>>,
    /// Packed symbols.
    pub buffer: wgpu::Buffer,
    /// Number of u32 values in the buffer.
    pub words: u32,
}

impl ResidentTexts {
    /// Packs a store on the threads of a pool and uploads it. Evicts the oldest resident data if
    /// necessary.
    ///
    /// # Errors
    /// Returns [`crate::Error::Unsuited`] if the store exceeds `limit` bytes.
    pub fn new(
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        residents: &mut Residents,
        store: &Arc<SequenceStore>,
        equality: &Equality,
        limit: u64,
    ) -> Result<Arc<Self>> {
        let coding = pool.install(|| Coding::for_texts(store, equality));
        let mut begins = Vec::with_capacity(store.len());
        let mut next = u64::from(FRONT_SYMBOLS);
        for &length in store.lengths() {
            begins.push(next);
            next += u64::from(length).next_multiple_of(u64::from(TEXT_ALIGNMENT));
        }
        // Kernels read up to two u32 values beyond the last text.
        let symbols = next + u64::from(2 * TEXT_ALIGNMENT);
        let bytes = symbols * u64::from(coding.bits) / 8;
        if bytes > limit || symbols > u64::from(u32::MAX) {
            return Err(gpu.refusal(format!("{bytes} bytes of texts exceed its limit of {limit} bytes")));
        }
        let mut words = vec![0u32; (bytes / 4) as usize];
        // Divides the buffer into one part for each text.
        let mut rest = words.as_mut_slice();
        let mut taken = 0;
        let mut jobs = Vec::new();
        for (id, &begin) in (0..).zip(&begins) {
            let first = (begin * u64::from(coding.bits) / 32) as usize;
            let codes = store.codes(id);
            let count = (codes.len() * coding.bits as usize).div_ceil(32);
            let (text_words, after) = std::mem::take(&mut rest)[first - taken..].split_at_mut(count);
            rest = after;
            taken = first + count;
            jobs.push((codes, text_words));
        }
        let pack = |(codes, text_words): (&[Code], &mut [u32])| {
            let piece_words = PIECE_SYMBOLS * coding.bits as usize / 32;
            text_words
                .par_chunks_mut(piece_words)
                .zip(codes.par_chunks(PIECE_SYMBOLS))
                .for_each(|(words, codes)| coding.pack(codes, words));
        };
        pool.install(|| jobs.into_par_iter().for_each(pack));
        residents.make_room(bytes);
        let texts = ResidentTexts {
            equality: equality.clone(),
            coding: Arc::new(coding),
            begins: Arc::new(begins.into_iter().map(|begin| begin as u32).collect()),
            buffer: gpu.upload("texts", bytemuck::cast_slice(&words))?,
            words: words.len() as u32,
        };
        Ok(residents.keep(store, texts.buffer.size(), texts))
    }

    /// Checks whether the texts are encoded for this equality.
    pub fn is_for(&self, equality: &Equality) -> bool {
        self.equality == *equality
    }
}

/// Profiles of all patterns of a store on the device.
pub struct ResidentProfiles {
    coding: Arc<Coding>,
    mode: EditMode,
    /// Index of the first u32 of every pattern's profile.
    pub begins: Arc<Vec<u32>>,
    /// The profiles.
    pub buffer: wgpu::Buffer,
}

impl ResidentProfiles {
    /// Writes the profiles of a store's patterns on the threads of a pool and uploads them. Evicts
    /// the oldest resident data if necessary.
    ///
    /// # Errors
    /// Returns [`crate::Error::Unsuited`] if the profiles exceed `limit` bytes.
    pub fn new(
        gpu: &Gpu,
        pool: &rayon::ThreadPool,
        residents: &mut Residents,
        store: &Arc<SequenceStore>,
        coding: &Arc<Coding>,
        scheme: &EditScheme,
        limit: u64,
    ) -> Result<Arc<Self>> {
        let mut begins = Vec::with_capacity(store.len());
        let mut next = 0u64;
        // For each thread, the end of its range of patterns, and the number of u32 values that it
        // writes.
        let (mut ends, mut first) = (Vec::new(), 0);
        for &length in store.lengths() {
            // The total is checked against the limit below.
            begins.push(next as u32);
            next += coding.profile_words(length) as u64;
            if next - first >= WORDS_AT_ONCE || begins.len() == store.len() {
                ends.push((begins.len() as u32, (next - first) as usize));
                first = next;
            }
        }
        if 4 * next > limit || next > u64::from(u32::MAX) {
            return Err(gpu.refusal(format!("{} bytes of query profiles exceed its limit of {limit} bytes", 4 * next)));
        }
        let mut words = vec![0u32; next as usize];
        let mut rest = words.as_mut_slice();
        let mut jobs = Vec::with_capacity(ends.len());
        let mut begin = 0;
        for (end, count) in ends {
            let (pattern_words, after) = std::mem::take(&mut rest).split_at_mut(count);
            rest = after;
            jobs.push((begin..end, pattern_words));
            begin = end;
        }
        let profile = |(patterns, mut pattern_words): (Range<u32>, &mut [u32])| {
            for id in patterns {
                let (one, after) = pattern_words.split_at_mut(coding.profile_words(store.length(id)));
                coding.profile(store.codes(id), scheme.mode, one);
                pattern_words = after;
            }
        };
        pool.install(|| jobs.into_par_iter().for_each(profile));
        residents.make_room(4 * next);
        let profiles = ResidentProfiles {
            coding: Arc::clone(coding),
            mode: scheme.mode,
            begins: Arc::new(begins),
            buffer: gpu.upload("query profiles", bytemuck::cast_slice(&words))?,
        };
        Ok(residents.keep(store, profiles.buffer.size(), profiles))
    }

    /// Checks whether the profiles are for texts of this encoding and for this mode.
    pub fn is_for(&self, coding: &Coding, mode: EditMode) -> bool {
        *self.coding == *coding && self.mode == mode
    }
}
