//! The best configurations that were measured, kept in the user's cache directory.

use std::collections::BTreeMap;

use super::Config;
use super::shader_texts::SHADERS;
use crate::gpu::adapter::AdapterDescription;
use crate::gpu::cache;
use crate::score::Scoring;

/// The file.
const TUNING: &str = "tuning.json";

/// What the file holds: configurations by adapter, driver, kernel text and kind of scoring.
pub type Cache = BTreeMap<String, Config>;

/// What was remembered.
pub fn read_cache() -> Cache {
    cache::read(TUNING)
}

/// Adds a configuration.
pub fn remember(key: &str, config: Config) {
    cache::add(TUNING, key, config);
}

/// The key of an adapter's best configuration for a kind of scoring.
pub fn cache_key(description: &AdapterDescription, scoring: &Scoring) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    SHADERS.hash(&mut hasher);
    format!(
        "{} | {} | {} | {:?} {} | {:016x}",
        description.name,
        description.driver,
        description.backend,
        scoring.alphabet,
        if scoring.gaps.is_linear() { "linear" } else { "affine" },
        hasher.finish()
    )
}
