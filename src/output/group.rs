//! Output files of one job, which appear together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::files::temporary::TemporaryFile;

/// Output files that appear together or not at all.
///
/// A finished file of a group keeps its temporary name until [`OutputGroup::publish`]. If the group
/// is dropped before, all its files are removed, and older files with their names stay unchanged.
/// Streams that are written directly, such as standard output, are not held back. Clones are the
/// same group.
///
/// ```
/// use pairwave::output::OutputGroup;
///
/// let directory = tempfile::tempdir()?;
/// let [rows, tree] = ["rows.fa", "tree.nwk"].map(|name| directory.path().join(name));
/// let group = OutputGroup::default();
/// for (path, text) in [(&rows, ">a\n"), (&tree, "(a,b);\n")] {
///     let mut output = group.create(path)?;
///     output.buffer().extend_from_slice(text.as_bytes());
///     output.finish()?;
///     assert!(!path.exists());
/// }
/// group.publish()?;
/// assert!(rows.exists() && tree.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct OutputGroup(Arc<Mutex<Vec<FinishedFile>>>);

/// A complete file under its temporary name.
#[derive(Debug)]
struct FinishedFile {
    file: TemporaryFile,
    target: PathBuf,
    /// Name for messages.
    name: PathBuf,
}

impl OutputGroup {
    /// Adds a finished file.
    pub(super) fn add(&self, file: TemporaryFile, target: PathBuf, name: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(FinishedFile { file, target, name });
    }

    /// Gives all finished files their final names, in the order of
    /// [`Output::finish`](super::Output::finish).
    ///
    /// # Errors
    /// Returns [`Error::Io`] if a file cannot be renamed. The files before it then exist, and the
    /// files after it do not.
    pub fn publish(&self) -> Result<()> {
        let files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for FinishedFile { file, target, name } in files {
            file.persist(&target).map_err(|error| Error::io(name, error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_group_appear_together_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let paths = ["pairs.tsv", "pairs.svg", "stats.json.gz"].map(|name| directory.path().join(name));
        std::fs::write(&paths[0], "old").unwrap();
        let count = || std::fs::read_dir(directory.path()).unwrap().count();
        let write_all = |group: &OutputGroup| {
            for path in &paths {
                let mut output = group.create(path).unwrap();
                output.buffer().extend(b"new");
                output.finish().unwrap();
            }
        };
        let group = OutputGroup::default();
        write_all(&group);
        assert_eq!((std::fs::read(&paths[0]).unwrap(), count()), (b"old".to_vec(), 4));
        drop(group);
        assert_eq!((std::fs::read(&paths[0]).unwrap(), count()), (b"old".to_vec(), 1));
        let group = OutputGroup::default();
        write_all(&group);
        // A file that is not finished is dropped.
        drop(group.create(directory.path().join("unfinished")).unwrap());
        group.publish().unwrap();
        assert_eq!((std::fs::read(&paths[0]).unwrap(), count()), (b"new".to_vec(), 3));
    }
}
