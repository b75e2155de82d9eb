//! What was measured of devices, kept in the user's cache directory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

use super::Config;
use super::adapter::AdapterDescription;
use crate::kernels::KERNELS;
use crate::score::Scoring;

/// What the cache file holds: configurations by adapter, driver, kernel text and kind of scoring.
pub type Cache = BTreeMap<String, Config>;

/// The cache file, if the user has a cache directory.
fn cache_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(directory) = std::env::var_os("PAIRWAVE_CACHE_DIR") {
        return Some(PathBuf::from(directory).join("tuning.json"));
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("pairwave").join("tuning.json"))
}

/// What was remembered.
pub fn read_cache() -> Cache {
    let text = cache_file().and_then(|path| std::fs::read_to_string(path).ok());
    // A file that cannot be read is measured anew and replaced.
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Adds a configuration to the cache, which is written whole or not at all; one that cannot be written costs a
/// measurement, no more.
pub fn remember(key: &str, config: Config) {
    // Devices of several models are measured at once; each adds to what the others have written.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut cache = read_cache();
    cache.insert(key.to_owned(), config);
    let write = || -> Option<()> {
        let path = cache_file()?;
        let directory = path.parent()?;
        std::fs::create_dir_all(directory).ok()?;
        let file = tempfile::NamedTempFile::new_in(directory).ok()?;
        serde_json::to_writer_pretty(&file, &cache).ok()?;
        file.persist(path).ok()?;
        Some(())
    };
    if write().is_none() {
        tracing::debug!("the tuning cache could not be written");
    }
}

/// The key of an adapter's best configuration for a kind of scoring.
pub fn cache_key(description: &AdapterDescription, scoring: &Scoring) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    for kernel in KERNELS {
        kernel.shader.hash(&mut hasher);
    }
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
