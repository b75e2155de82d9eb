//! The best configurations that were measured, kept in the user's cache directory.

use std::collections::BTreeMap;

use super::Config;
use crate::gpu::adapter::AdapterDescription;
use crate::gpu::cache;
use crate::gpu::kernels::{Family, KERNELS, fingerprint};
use crate::pairs::kernels::samples;
use crate::score::Scoring;

/// The files.
const TUNING: &str = "tuning.json";
const FIRST_LOOKS: &str = "first-looks.json";

/// What the file holds: configurations by adapter, driver, kernel text and kind of scoring.
pub(super) type Cache = BTreeMap<String, Config>;

/// What was remembered.
pub(super) fn read_cache() -> Cache {
    cache::read(TUNING)
}

/// Adds a configuration.
pub(super) fn remember(key: &str, config: Config) {
    cache::add(TUNING, key, config);
}

/// Cells a second of `nw_slice` with the default sizes, if a first look at the adapter was taken before.
pub(super) fn read_first_look(key: &str) -> Option<f64> {
    cache::read(FIRST_LOOKS).get(key).copied().filter(|&speed: &f64| speed > 0.0)
}

/// Remembers a first look.
pub(super) fn remember_first_look(key: &str, cells_per_second: f64) {
    cache::add(FIRST_LOOKS, key, cells_per_second);
}

/// The key of an adapter's best configuration for a kind of scoring.
pub(super) fn cache_key(description: &AdapterDescription, scoring: &Scoring) -> String {
    // Of local scores nothing is measured.
    let measured = KERNELS.iter().filter(|kernel| kernel.family() == Family::Pairs);
    let programs = measured.flat_map(|kernel| samples(kernel.kind));
    let gaps = if scoring.gaps.is_linear() { "linear" } else { "affine" };
    description
        .fingerprint()
        .with("alphabet", format!("{:?}", scoring.alphabet))
        .with("gaps", gaps)
        .with("programs", format!("{:016x}", fingerprint(programs)))
        .key()
}
