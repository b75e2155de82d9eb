//! A fingerprint of everything that a result depends on: the program, its options, and the content
//! of its inputs.
//!
//! Plans, checkpoints and device measurements are stored for later runs together with a
//! [`Fingerprint`]. A later run builds its own and compares the two. The command line records every
//! argument except a list of arguments that change no byte of the output. Therefore a new option is
//! part of the fingerprint unless it is excluded explicitly.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use super::names;
use crate::error::{Error, Result};

/// Size of the read buffer in bytes.
const PIECE: usize = 1 << 18;

/// The program, the options and the inputs that a result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Version of the program.
    pub program: String,
    /// Options and other values, by name.
    pub options: BTreeMap<String, String>,
    /// Input files, by the options that name them.
    pub inputs: BTreeMap<String, InputFile>,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint { program: env!("CARGO_PKG_VERSION").into(), options: BTreeMap::new(), inputs: BTreeMap::new() }
    }
}

impl Fingerprint {
    /// Sets a value. It replaces an earlier value of the same name.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl fmt::Display) -> Self {
        self.options.insert(name.into(), value.to_string());
        self
    }

    /// Reads a file and adds its content.
    ///
    /// # Errors
    /// Returns the errors of [`InputFile::read`].
    pub fn with_file(mut self, name: impl Into<String>, path: impl AsRef<Path>) -> Result<Self> {
        self.inputs.insert(name.into(), InputFile::read(path)?);
        Ok(self)
    }

    /// Sets a value to the length and the checksum of the concatenated `pieces`.
    #[must_use]
    pub fn with_bytes<'a>(self, name: impl Into<String>, pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let (mut sum, mut bytes) = (XxHash3_64::new(), 0);
        for piece in pieces {
            sum.write(piece);
            bytes += piece.len();
        }
        self.with(name, format!("{bytes} bytes, {:016x}", sum.finish()))
    }

    /// Adds all values and files of another fingerprint. These replace values of the same name.
    #[must_use]
    pub fn merge(mut self, other: &Fingerprint) -> Self {
        self.options.extend(other.options.clone());
        self.inputs.extend(other.inputs.clone());
        self
    }

    /// Returns the first difference between this fingerprint and the one of a later run, or `None`
    /// if both runs have the same results. Files come first, and then options in the order of their
    /// names: options of a command line (`--top`) come before the fields that they set.
    pub fn difference(&self, later: &Fingerprint) -> Option<Difference> {
        use Difference::{Content, Other};
        if self.program != later.program {
            return Some(Other(format!("version {} of pairwave made it, this is {}", self.program, later.program)));
        }
        let names: BTreeSet<&String> = self.inputs.keys().chain(later.inputs.keys()).collect();
        for name in names {
            match (self.inputs.get(name), later.inputs.get(name)) {
                (Some(before), Some(now)) if before.is_same_content(now) => {}
                (Some(before), Some(now)) if before.path == now.path => {
                    return Some(Content(now.path.display().to_string()));
                }
                (Some(before), Some(now)) => {
                    let [before, now] = [before, now].map(|file| file.path.display());
                    return Some(Other(format!("{name} was {before}, and {now} has other content")));
                }
                (Some(before), None) => {
                    return Some(Other(format!("{name} was {}, now it is not given", before.path.display())));
                }
                (None, now) => {
                    let path = now.map_or(Path::new(""), |now| &now.path).display();
                    return Some(Other(format!("{name} was not given, now it is {path}")));
                }
            }
        }
        let names: BTreeSet<&String> = self.options.keys().chain(later.options.keys()).collect();
        let name = names.into_iter().find(|&name| self.options.get(name) != later.options.get(name))?;
        let [before, now] = [self, later].map(|one| one.options.get(name).map_or("not given", String::as_str));
        let [before, now] = [before, now].map(names::from_text);
        Some(Other(format!("{name} was {}, now it is {}", before.display(), now.display())))
    }

    /// Returns all values in one line, as the key of a cache entry. The key contains no paths.
    pub fn key(&self) -> String {
        let inputs = self.inputs.iter().map(|(name, file)| format!("{name} {} {}", file.bytes, file.xxh3));
        let options = self.options.iter().map(|(name, value)| format!("{name} {value}"));
        let all: Vec<String> =
            std::iter::once(format!("pairwave {}", self.program)).chain(options).chain(inputs).collect();
        all.join(" | ")
    }
}

/// A difference between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// The content of the file at this path has changed.
    Content(String),
    /// Any other difference, as a phrase.
    Other(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Content(path) => write!(f, "the content of {path} has changed"),
            Difference::Other(words) => f.write_str(words),
        }
    }
}

/// The content of a file that a job reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The absolute path.
    #[serde(with = "names")]
    pub path: PathBuf,
    /// Length in bytes.
    pub bytes: u64,
    /// XXH3 (64 bits) of the bytes on disk, in hexadecimal digits.
    pub xxh3: String,
}

impl InputFile {
    /// Reads all bytes of a file and computes their checksum. Compressed files are not
    /// decompressed.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be read, and [`Error::Usage`] for a pipe or a
    /// device, which can be read only once.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            let message = "this is not a regular file: it has to be read more than once";
            return Err(Error::usage(format!("{}: {message}", path.display())));
        }
        let (bytes, sum) = sum_of(file).map_err(failed)?;
        let whole = path.canonicalize().map_err(failed)?;
        Ok(InputFile { path: whole, bytes, xxh3: format!("{sum:016x}") })
    }

    /// Returns whether both files have the same bytes.
    pub fn is_same_content(&self, other: &InputFile) -> bool {
        (self.bytes, &self.xxh3) == (other.bytes, &other.xxh3)
    }
}

/// Returns the length of a file and the checksum of its bytes.
fn sum_of(mut file: File) -> io::Result<(u64, u64)> {
    let (mut sum, mut piece, mut bytes) = (XxHash3_64::new(), vec![0; PIECE], 0);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((bytes, sum.finish())),
            Ok(read) => {
                sum.write(&piece[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(folder: &Path, letters: &str) -> Fingerprint {
        let path = folder.join("a.fa");
        std::fs::write(&path, letters).unwrap();
        Fingerprint::default().with("alphabet", "dna").with_file("SEQS", &path).unwrap()
    }

    #[test]
    fn first_difference_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let before = fingerprint(folder.path(), ">a\nACGT\n");
        assert_eq!(before.difference(&before.clone()), None);
        let difference = |later: &Fingerprint| before.difference(later).unwrap().to_string();
        assert_eq!(difference(&before.clone().with("alphabet", "protein")), "alphabet was dna, now it is protein");
        assert_eq!(difference(&before.clone().with("degap", true)), "degap was not given, now it is true");
        let [before_top, after_top] = [before.clone().with("top", 1), before.clone().with("top", 3).with("TOP", 3)];
        let of_option = before_top.difference(&after_top).map(|difference| difference.to_string());
        assert_eq!(of_option.as_deref(), Some("TOP was not given, now it is 3"));
        let older = Fingerprint { program: "0.0.9".into(), ..before.clone() };
        assert!(difference(&older).starts_with("version "), "{}", difference(&older));
        let none = Fingerprint { inputs: BTreeMap::new(), ..before.clone() };
        assert!(difference(&none).ends_with("a.fa, now it is not given"), "{}", difference(&none));
        assert!(none.difference(&before).unwrap().to_string().contains("SEQS was not given, now it is "));
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(before.difference(&fingerprint(elsewhere.path(), ">a\nACGT\n")), None);
        let other = difference(&fingerprint(elsewhere.path(), ">a\nACGA\n"));
        assert!(other.starts_with("SEQS was ") && other.ends_with("a.fa has other content"), "{other}");
        let changed = difference(&fingerprint(folder.path(), ">a\nACGA\n"));
        assert!(changed.starts_with("the content of ") && changed.ends_with("a.fa has changed"), "{changed}");
    }

    /// Changes are detected even if size and modification time stay the same.
    #[test]
    fn any_changed_byte_changes_the_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.fa");
        let text = b">a\nACGT\n>b\nAC\n";
        std::fs::write(&path, text).unwrap();
        let before = InputFile::read(&path).unwrap();
        let time = path.metadata().unwrap().modified().unwrap();
        for at in 0..text.len() {
            let mut other = text.to_vec();
            other[at] ^= 1;
            std::fs::write(&path, &other).unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            assert!(!before.is_same_content(&InputFile::read(&path).unwrap()), "byte {at}");
        }
        std::fs::write(&path, text).unwrap();
        assert_eq!(before, InputFile::read(&path).unwrap());
    }

    #[test]
    fn keys_contain_every_value() {
        let key = Fingerprint::default().with("adapter", "H200").with("driver", "580").key();
        assert_eq!(key, format!("pairwave {} | adapter H200 | driver 580", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn only_regular_files_are_accepted() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(InputFile::read(folder.path()), Err(Error::Usage(_))));
        assert!(matches!(InputFile::read(folder.path().join("none")), Err(Error::Io { .. })));
    }
}
