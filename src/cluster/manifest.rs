//! What was cut: the command line of the job, its input, and its blocks.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::jobs::blocks::Block;

/// The form of the directory. Another one is refused.
pub const FORMAT: u32 = 1;

/// Stands for a manifest as a whole: what is of another one has another.
pub type Digest = [u8; 32];

/// What was cut, and into what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`] of the program that made it.
    pub format: u32,
    /// That program's version.
    pub version: String,
    /// The job's command line without the program's name, as it was typed.
    pub arguments: Vec<String>,
    /// Where it was typed: names of files are to be understood from here.
    pub directory: String,
    /// Files that the job reads.
    pub inputs: Vec<InputFile>,
    /// Cells that a block was to have.
    pub block_cells: u64,
    /// What is to be computed, in the order of the rows.
    pub blocks: Vec<Block>,
}

/// A manifest as it lies in the file.
#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    manifest: Manifest,
    digest: String,
}

impl Manifest {
    /// Of a job that is cut now, by this version of the program.
    ///
    /// # Errors
    /// [`Error::Io`] if an input cannot be read, or the working directory is gone.
    pub fn new(arguments: Vec<String>, inputs: &[&Path], block_cells: u64, blocks: Vec<Block>) -> Result<Self> {
        let directory = std::env::current_dir().map_err(|error| Error::io(".", error))?;
        Ok(Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            arguments,
            directory: text_of(&directory)?,
            inputs: inputs.iter().map(|path| InputFile::read(path)).collect::<Result<_>>()?,
            block_cells,
            blocks,
        })
    }

    /// What stands for all of it.
    ///
    /// # Errors
    /// [`Error::Internal`] if it cannot be put in words.
    pub fn digest(&self) -> Result<Digest> {
        Ok(Sha256::digest(serde_json::to_vec(self).map_err(broken)?).into())
    }

    /// As the file has it.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let sealed = Sealed { manifest: self.clone(), digest: hexadecimal(&self.digest()?) };
        let mut bytes = serde_json::to_vec_pretty(&sealed).map_err(broken)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// From the bytes of a file.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is none, damaged, or of another version of the program.
    pub(super) fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let refuse = |what: String| Err(Error::usage(format!("{}: {what}", path.display())));
        #[derive(Deserialize)]
        struct About {
            format: u32,
            version: String,
        }
        let Ok(About { format, version }) = serde_json::from_slice(bytes) else {
            return refuse("this is no plan of a job, or it is damaged; make it anew".into());
        };
        let own = env!("CARGO_PKG_VERSION");
        if format != FORMAT || version != own {
            let form = if format == FORMAT { "" } else { " in another form" };
            return refuse(format!(
                "version {version} of pairwave made this plan{form}, but this is {own}: rows of two versions are not put \
                 together; use {version}, or plan anew"
            ));
        }
        let damaged = || refuse("the plan is damaged or was changed; make it anew".into());
        let Ok(Sealed { manifest, digest }) = serde_json::from_slice::<Sealed>(bytes) else { return damaged() };
        if hexadecimal(&manifest.digest()?) != digest {
            return damaged();
        }
        Ok(manifest)
    }

    /// Whether the job's input is what it was. A file of the same size and time is not read.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the file that was changed; [`Error::Io`] if one is gone.
    pub fn check_inputs(&self) -> Result<()> {
        self.inputs.iter().try_for_each(InputFile::check)
    }

    /// Pairs of all blocks.
    pub fn pairs(&self) -> u64 {
        self.blocks.iter().map(|block| block.pairs).sum()
    }

    /// Cells of all blocks.
    pub fn cells(&self) -> u64 {
        self.blocks.iter().map(|block| block.cells).sum()
    }
}

/// A file that a job reads, as it was when it was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// From the root.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was changed last, in nanoseconds since 1970; `None` where the system does not tell.
    pub modified: Option<u64>,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

impl InputFile {
    /// A file as it is now.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(path, error);
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if !about.is_file() {
            let message = "it is no file that can be read again, as every block needs";
            return Err(Error::usage(format!("{}: {message}", path.display())));
        }
        let (bytes, sha256) = hash(file).map_err(failed)?;
        let whole = path.canonicalize().map_err(failed)?;
        Ok(InputFile { path: text_of(&whole)?, bytes, modified: modified(&about), sha256 })
    }

    fn check(&self) -> Result<()> {
        let path = PathBuf::from(&self.path);
        let failed = |error| Error::io(&path, error);
        let about = path.metadata().map_err(failed)?;
        if about.len() == self.bytes && self.modified.is_some() && modified(&about) == self.modified {
            return Ok(());
        }
        if about.len() == self.bytes && hash(File::open(&path).map_err(failed)?).map_err(failed)?.1 == self.sha256 {
            return Ok(());
        }
        let message = "it is not what it was when the job was planned: plan anew, or put it back";
        Err(Error::usage(format!("{}: {message}", path.display())))
    }
}

/// Length and SHA-256.
fn hash(mut file: File) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let (mut buffer, mut bytes) = (vec![0; 1 << 18], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hexadecimal(&hasher.finalize()))),
            Ok(read) => {
                hasher.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn modified(about: &std::fs::Metadata) -> Option<u64> {
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text_of(path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::usage(format!("{}: a plan can hold names in UTF-8 only", path.display())))
}

/// What cannot be put in words.
pub(super) fn broken(error: serde_json::Error) -> Error {
    Error::Internal(format!("a plan does not become JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &Path) -> Manifest {
        let block = |from| Block { units: from..from + 2, targets: None, pairs: 3, cells: 70 };
        Manifest::new(vec!["allpairs".into(), "a.fa".into()], &[path], 70, vec![block(0), block(2)]).unwrap()
    }

    #[test]
    fn a_manifest_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        let bytes = manifest.to_bytes().unwrap();
        assert_eq!(Manifest::from_bytes(Path::new("m"), &bytes).unwrap(), manifest);
        assert_eq!((manifest.pairs(), manifest.cells()), (6, 140));
        let expected = "ec93753459551ffadb17f616d5e6bd45de641c045083fac84c4fa223987b232b";
        assert_eq!(manifest.inputs[0].sha256, expected);
    }

    #[test]
    fn whatever_was_changed_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        let text = String::from_utf8(manifest.to_bytes().unwrap()).unwrap();
        let message = |text: &str| Manifest::from_bytes(Path::new("m"), text.as_bytes()).unwrap_err().to_string();
        for (old, new) in [("\"cells\": 70", "\"cells\": 71"), ("allpairs", "allpair"), ("\"a.fa\"", "\"b.fa\"")] {
            assert!(text.contains(old), "{text}");
            assert_eq!(message(&text.replacen(old, new, 1)), "m: the plan is damaged or was changed; make it anew");
        }
        assert!(message(&text[..text.len() / 2]).contains("no plan"));
        let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(message(&text.replace(&version, "\"version\": \"9.9.9\"")).starts_with("m: version 9.9.9 of pairwave"));
        assert!(message(&text.replace("\"format\": 1", "\"format\": 2")).contains("in another form"));
    }

    #[test]
    fn input_that_was_changed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        manifest.check_inputs().unwrap();
        let later = |text: &str| {
            std::fs::write(&input, text).unwrap();
            let file = File::options().write(true).open(&input).unwrap();
            file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(9)).unwrap();
        };
        later(">a\nACGT\n");
        manifest.check_inputs().unwrap();
        later(">a\nACGA\n");
        let message = manifest.check_inputs().unwrap_err().to_string();
        assert!(message.contains("a.fa: it is not what it was"), "{message}");
        std::fs::remove_file(&input).unwrap();
        let error = manifest.check_inputs().unwrap_err();
        assert!(matches!(&error, Error::Io { path, .. } if path.ends_with("a.fa")), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
