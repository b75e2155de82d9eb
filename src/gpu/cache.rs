//! What was measured of devices, kept in the user's cache directory.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::temporary::Temporary;

/// A file of the cache, if the user has a cache directory.
fn cache_file(name: &str) -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(directory) = std::env::var_os("PAIRWAVE_CACHE_DIR") {
        return Some(PathBuf::from(directory).join(name));
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("pairwave").join(name))
}

/// Adapters whose workgroups may wait for each other, and those whose may not.
const FORWARD_PROGRESS: &str = "forward-progress.json";

/// Whether workgroups of an adapter were seen to wait for each other without harm.
pub(crate) fn read_forward_progress(key: &str) -> Option<bool> {
    read(FORWARD_PROGRESS).get(key).copied()
}

/// Remembers whether they may.
pub(crate) fn remember_forward_progress(key: &str, proceeds: bool) {
    add(FORWARD_PROGRESS, key, proceeds);
}

/// What a file of the cache holds.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> BTreeMap<String, T> {
    let text = cache_file(name).and_then(|path| std::fs::read_to_string(path).ok());
    // A file that cannot be read is measured anew and replaced.
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Adds an entry to a file, which is written whole or not at all; one that cannot be written costs a measurement, no more.
pub(crate) fn add<T: Serialize + DeserializeOwned>(name: &str, key: &str, value: T) {
    // Devices of several models are measured at once; each adds to what the others have written.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut cache: BTreeMap<String, T> = read(name);
    cache.insert(key.to_owned(), value);
    let write = || -> Option<()> {
        let path = cache_file(name)?;
        let directory = path.parent()?;
        std::fs::create_dir_all(directory).ok()?;
        let text = serde_json::to_vec_pretty(&cache).ok()?;
        // Other processes may write the same file now.
        let aside = Temporary::create(directory, name).ok()?;
        aside.file().write_all(&text).and_then(|()| aside.file().sync_all()).ok()?;
        aside.persist(&path).ok().map(drop)
    };
    if write().is_none() {
        tracing::debug!("{name} could not be written");
    }
}
