//! Stores measurements of devices for later runs, in the user's cache directory.

use std::collections::BTreeMap;
use std::io::Write;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::files::temporary::TemporaryFile;

/// Returns the path of a file in the cache, if the user has a cache directory.
fn cache_file(name: &str) -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(directory) = std::env::var_os("PAIRWAVE_CACHE_DIR") {
        return Some(PathBuf::from(directory).join(name));
    }
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("pairwave").join(name))
}

/// A file in the cache with one measurement per device and program.
pub(crate) struct Store<T> {
    file: &'static str,
    content: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Store<T> {
    /// Returns the store with this file name.
    pub(crate) const fn new(file: &'static str) -> Self {
        Store { file, content: PhantomData }
    }

    /// Returns a stored measurement.
    pub(crate) fn get(&self, key: &str) -> Option<T> {
        self.all().remove(key)
    }

    /// Returns all measurements. An unreadable file counts as empty, so its measurements are
    /// repeated and the file is replaced.
    fn all(&self) -> BTreeMap<String, T> {
        let text = cache_file(self.file).and_then(|path| std::fs::read_to_string(path).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Stores a measurement. The file is replaced atomically. If that fails, a later run measures
    /// again.
    pub(crate) fn keep(&self, key: &str, value: T) {
        // Devices of several models are measured in parallel. Each adds to the measurements of the
        // others.
        static WRITING: Mutex<()> = Mutex::new(());
        let _writing = WRITING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut all = self.all();
        all.insert(key.to_owned(), value);
        let write = || -> Option<()> {
            let path = cache_file(self.file)?;
            let directory = path.parent()?;
            std::fs::create_dir_all(directory).ok()?;
            let text = serde_json::to_vec_pretty(&all).ok()?;
            // Other processes may write the same file at the same time.
            let temporary = TemporaryFile::create(directory, self.file).ok()?;
            temporary.file().write_all(&text).and_then(|()| temporary.file().sync_all()).ok()?;
            temporary.persist(&path).ok().map(drop)
        };
        if write().is_none() {
            tracing::debug!("{} could not be written", self.file);
        }
    }
}
