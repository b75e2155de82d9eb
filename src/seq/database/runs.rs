//! External sorting: items that do not fit into memory are written to nameless temporary files as
//! sorted runs, and then merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::error::{Error, Result};

/// Maximum number of runs in a level. A full level is merged into one run of the next level, which
/// bounds open files and buffers.
const RUNS_OF_LEVEL: usize = 64;
/// Minimum size of a run's read buffer in bytes.
const MIN_BUFFER: u64 = 1 << 13;

/// The sort key of an item, which is followed by its payload.
pub(super) trait SortKey: Pod + Ord {
    /// Returns the size of the payload in bytes.
    fn payload(&self) -> u64;
}

/// A set of sorted runs.
#[derive(Debug)]
pub(super) struct Runs {
    scratch_directory: PathBuf,
    /// Size of all read buffers together in bytes.
    memory: u64,
    /// Runs of each level. Those of level 0 were written directly, and the others were merged from
    /// the level below.
    levels: Vec<Vec<File>>,
}

/// Writer of a run.
pub(super) struct RunWriter<'a> {
    file: BufWriter<File>,
    scratch_directory: &'a Path,
}

impl RunWriter<'_> {
    /// Adds an item that is not less than the previous one. `parts` form its payload.
    pub(super) fn push<K: SortKey>(&mut self, key: &K, parts: &[&[u8]]) -> Result<()> {
        debug_assert_eq!(key.payload(), parts.iter().map(|part| part.len() as u64).sum::<u64>());
        let mut parts = std::iter::once(bytemuck::bytes_of(key)).chain(parts.iter().copied());
        parts.try_for_each(|part| self.file.write_all(part)).map_err(|source| Error::io(self.scratch_directory, source))
    }
}

impl Runs {
    /// Creates an empty set. Files are created in the directory `scratch_directory`, and read buffers take
    /// `memory` bytes in all.
    pub(super) fn new(scratch_directory: &Path, memory: u64) -> Self {
        Runs { scratch_directory: scratch_directory.to_owned(), memory, levels: Vec::new() }
    }

    /// Returns the directory of the files.
    pub(super) fn scratch_directory(&self) -> &Path {
        &self.scratch_directory
    }

    /// Returns whether there is no run.
    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Adds a run, whose items `write` writes in order.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails, and the errors of `write`.
    pub(super) fn add<K: SortKey>(&mut self, write: impl FnOnce(&mut RunWriter<'_>) -> Result<()>) -> Result<()> {
        let mut run = self.new_run(write)?;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(run);
            if self.levels[level].len() < RUNS_OF_LEVEL {
                break;
            }
            let full = std::mem::take(&mut self.levels[level]);
            run = self.new_run(|writer| {
                self.merge_files(full, |key: K, payload| {
                    let failed = |source| Error::io(&self.scratch_directory, source);
                    writer.file.write_all(bytemuck::bytes_of(&key)).map_err(failed)?;
                    io::copy(payload, &mut writer.file).map(drop).map_err(failed)
                })
            })?;
        }
        Ok(())
    }

    fn new_run(&self, write: impl FnOnce(&mut RunWriter<'_>) -> Result<()>) -> Result<File> {
        let failed = |source| Error::io(&self.scratch_directory, source);
        let file = tempfile::tempfile_in(&self.scratch_directory).map_err(failed)?;
        let mut writer = RunWriter { file: BufWriter::new(file), scratch_directory: &self.scratch_directory };
        write(&mut writer)?;
        let mut file = writer.file.into_inner().map_err(|problem| failed(problem.into_error()))?;
        file.rewind().map_err(failed)?;
        Ok(file)
    }

    /// Passes all items in order to `take`, which need not read the payload.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the system fails, and the errors of `take`.
    pub(super) fn merge<K: SortKey>(mut self, take: impl FnMut(K, &mut dyn Read) -> Result<()>) -> Result<()> {
        let files = std::mem::take(&mut self.levels).into_iter().flatten().collect();
        self.merge_files(files, take)
    }

    fn merge_files<K: SortKey>(
        &self,
        files: Vec<File>,
        mut take: impl FnMut(K, &mut dyn Read) -> Result<()>,
    ) -> Result<()> {
        let failed = |source| Error::io(&self.scratch_directory, source);
        let buffer = (self.memory / files.len().max(1) as u64).max(MIN_BUFFER) as usize;
        let mut files: Vec<BufReader<File>> =
            files.into_iter().map(|file| BufReader::with_capacity(buffer, file)).collect();
        let mut next: BinaryHeap<Reverse<(K, usize)>> = BinaryHeap::with_capacity(files.len());
        for (index, file) in files.iter_mut().enumerate() {
            next.extend(next_key(file).map_err(failed)?.map(|key| Reverse((key, index))));
        }
        while let Some(Reverse((key, index))) = next.pop() {
            let file = &mut files[index];
            let mut payload = file.by_ref().take(key.payload());
            take(key, &mut payload)?;
            io::copy(&mut payload, &mut io::sink()).map_err(failed)?;
            next.extend(next_key(file).map_err(failed)?.map(|key| Reverse((key, index))));
        }
        Ok(())
    }
}

/// Reads the next key, or returns `None` at the end.
fn next_key<K: SortKey>(file: &mut impl Read) -> io::Result<Option<K>> {
    let mut key = K::zeroed();
    let bytes = bytemuck::bytes_of_mut(&mut key);
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl SortKey for [u64; 2] {
        fn payload(&self) -> u64 {
            self[1]
        }
    }

    #[test]
    fn runs_of_several_levels_are_merged_in_order() {
        let rng = &mut fastrand::Rng::with_seed(1);
        for count in [0, 1, RUNS_OF_LEVEL - 1, RUNS_OF_LEVEL, RUNS_OF_LEVEL * RUNS_OF_LEVEL + 3] {
            let mut runs = Runs::new(&std::env::temp_dir(), 1 << 16);
            let mut expected: Vec<[u64; 2]> = Vec::new();
            for _ in 0..count {
                let mut run: Vec<[u64; 2]> = (0..rng.u64(..4)).map(|_| [rng.u64(..99), rng.u64(..9)]).collect();
                run.sort_unstable();
                expected.extend(&run);
                let payload = [7; 9];
                runs.add::<[u64; 2]>(|writer| {
                    run.iter().try_for_each(|key| {
                        let (first, second) = payload[..key[1] as usize].split_at(key[1] as usize / 2);
                        writer.push(key, &[first, second])
                    })
                })
                .unwrap();
            }
            expected.sort_unstable();
            let mut keys = Vec::new();
            runs.merge(|key: [u64; 2], payload| {
                // The payload of some items is not read.
                if key[0].is_multiple_of(2) {
                    let mut bytes = Vec::new();
                    payload.read_to_end(&mut bytes).unwrap();
                    assert_eq!(bytes, vec![7; key[1] as usize]);
                }
                keys.push(key);
                Ok(())
            })
            .unwrap();
            assert_eq!(keys, expected);
        }
    }
}
