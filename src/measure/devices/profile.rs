//! Kernels for profiles against profiles beside the CPU's recursion, and their speed.

use std::sync::Arc;
use std::time::Instant;

use super::{KernelSpeed, KernelTest, test_of};
use crate::engine::{Batch, Engine, Work, thread_pool};
use crate::error::{Error, Result};
use crate::gpu::adapter::FoundAdapter;
use crate::gpu::kernels::{KERNELS, Kernel, Kind};
use crate::measure::bench::SEED;
use crate::pairs::gpu::tune::random_store;
use crate::profile::Penalties;
use crate::profile::gpu::ProfileGpu;
use crate::profile::work::{Merged, Pair, Profile, ProfileBand, ProfileBatch, ProfileBlock};
use crate::seq::Alphabet;
use crate::simd::Level;

/// Columns of profiles in the test: of less and of more than one tile, and around those.
const LENGTHS: [[usize; 2]; 8] =
    [[1, 7], [65, 40], [90, 129], [129, 128], [200, 300], [257, 130], [300, 1], [520, 460]];
/// Columns in the measurement: the longest of the paper; and where loops end early.
const BENCH_COLUMNS: [usize; 2] = [1523, 300];
/// Pairs of profiles at once, at most.
const MOST_PAIRS: usize = 256;
/// Seconds that a measurement should last.
const SECONDS: f64 = 0.1;

/// Profiles of random columns: each two letters, of which one is in most sequences.
fn pair(lengths: [usize; 2], letters: usize, seed: u64) -> Pair {
    let numbers = |length: usize, seed: u64| -> Vec<usize> {
        let store = random_store(Alphabet::Bytes, 1, length, seed);
        store.codes(0).iter().map(|&code| usize::from(code)).collect()
    };
    let [first, second] = [0, 1].map(|side| numbers(lengths[side], seed + side as u64));
    let costs = |columns: &[usize], greatest: usize| -> Vec<i32> {
        let last = columns.len();
        let inner = |(k, &column): (usize, &usize)| if k + 1 < last { (1 + column % greatest) as i32 } else { 0 };
        std::iter::once(0).chain(columns.iter().enumerate().map(inner)).chain([0]).collect()
    };
    let penalties = [&first, &second].map(|columns| Penalties { open: costs(columns, 91), extend: costs(columns, 7) });
    let score = |column: usize| {
        move |letter: usize| if column % letters == letter { 60 } else { -((column + letter) as i32 % 40) }
    };
    let share = |column: usize| {
        move |letter: usize| match letter {
            letter if letter == column % letters => 7,
            letter if letter == (column / 3) % letters => 3,
            _ => 0,
        }
    };
    let scored = first.iter().flat_map(|&column| (0..letters).map(score(column))).collect();
    let tenths = second.iter().flat_map(|&column| (0..letters).map(share(column))).collect();
    Pair { penalties, scored, tenths, letters }
}

fn batch(pairs: impl Iterator<Item = Pair>) -> Result<Arc<ProfileBatch>> {
    let blocks = pairs.enumerate().map(|(number, pair)| ProfileBlock { number, pair: Arc::new(pair) }).collect();
    Ok(Arc::new(Batch { band: Arc::new(ProfileBand { pool: thread_pool(0)?, level: Level::best() }), blocks }))
}

/// Compares what the device leaves with the recursion; the number of pairs compared.
fn compare(found: &FoundAdapter) -> Result<u64> {
    let mut engine = ProfileGpu::open(found)?;
    let pairs = LENGTHS.iter().flat_map(|&lengths| [4, 22].map(|letters| pair(lengths, letters, SEED)));
    let batch = batch(pairs)?;
    let ticket = engine.submit(Arc::clone(&batch))?;
    let report = engine.collect(ticket)?;
    Profile::check(&batch, &report).map_err(Error::Internal)?;
    same(&batch, &report.merged)
}

fn same(batch: &ProfileBatch, merged: &[Merged]) -> Result<u64> {
    let level = batch.band.level;
    for (block, merged) in batch.blocks.iter().zip(merged) {
        let found = match merged {
            Merged::Path(path) => Some(path.clone()),
            Merged::Divided(divided) => block.pair.rest(divided, level, &|| false),
        };
        if found != block.pair.path(level, &|| false) {
            let [first, second] = block.pair.columns();
            return Err(Error::Internal(format!("another alignment of profiles of {first} and {second} columns")));
        }
    }
    Ok(batch.blocks.len() as u64)
}

/// Tests the kernels on an adapter, all together.
pub(super) fn test_adapter(found: &FoundAdapter) -> Vec<KernelTest> {
    own_kernels().map(|kernel| test_of(kernel.stem, compare(found))).collect()
}

/// The kernels of the room.
fn own_kernels() -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(|kernel| matches!(kernel.kind, Kind::Profile(_)))
}

/// Measures the kernels together, with as many pairs as take long enough.
pub(super) fn bench_adapter(found: &FoundAdapter) -> Result<Vec<KernelSpeed>> {
    let columns = BENCH_COLUMNS[usize::from(found.is_software())];
    let mut engine = ProfileGpu::open(found)?;
    let mut seconds = |count: usize| -> Result<(f64, u64)> {
        let batch = batch((0..count).map(|number| pair([columns; 2], 20, SEED + number as u64)))?;
        let begin = Instant::now();
        let ticket = engine.submit(Arc::clone(&batch))?;
        let report = engine.collect(ticket)?;
        Ok((report.kernel_time.unwrap_or_else(|| begin.elapsed()).as_secs_f64().max(1e-6), batch.cells()))
    };
    // Compiled before the clock runs.
    seconds(1)?;
    let mut count = 2;
    loop {
        let (took, cells) = seconds(count)?;
        if took >= SECONDS || count >= MOST_PAIRS {
            let gcups = cells as f64 / took / 1e9;
            return Ok(vec![KernelSpeed { kernel: "profile_tile".into(), work: "profiles of proteins", gcups }]);
        }
        count *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Crossing, Divided};

    #[test]
    fn a_wrong_crossing_is_seen() {
        let batch = batch([[9, 7], [65, 40]].iter().map(|&lengths| pair(lengths, 4, SEED))).expect("a pool");
        let right = |block: &ProfileBlock| Merged::Path(block.pair.path(Level::best(), &|| false).expect("it ends"));
        let mut merged: Vec<Merged> = batch.blocks.iter().map(right).collect();
        assert_eq!(same(&batch, &merged).expect("it is the same"), 2);
        merged[1] = Merged::Divided(Divided::default());
        assert_eq!(same(&batch, &merged).expect("nothing is divided"), 2);
        merged[1] = Merged::Divided(Divided(vec![Some(Crossing { column: 3, in_gap: true })]));
        assert!(same(&batch, &merged).is_err());
    }
}
