//! What was cut: the command line of the job, its input, and its blocks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::files::fingerprint::{Difference, Fingerprint};
use crate::files::names;
use crate::jobs::blocks::Block;

/// The form of the directory. Another one is refused. Form 1 had SHA-256 sums of the input.
pub const FORMAT: u32 = 2;

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
    #[serde(with = "names::list")]
    pub arguments: Vec<OsString>,
    /// Where it was typed: names of files are to be understood from here.
    #[serde(with = "names")]
    pub directory: PathBuf,
    /// The options, and the content of every input.
    pub job: Fingerprint,
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
    /// [`Error::Io`] if the working directory is gone.
    pub fn new(arguments: Vec<OsString>, job: Fingerprint, block_cells: u64, blocks: Vec<Block>) -> Result<Self> {
        Ok(Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            arguments,
            directory: std::env::current_dir().map_err(|error| Error::io(".", error))?,
            job,
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
        if version != own {
            return refuse(format!(
                "version {version} of pairwave made this plan, and this is version {own}: rows of two versions are not put \
                 together; use {version}, or plan anew"
            ));
        }
        if format != FORMAT {
            return refuse(format!("another build of version {own} made this plan, in another form; plan anew"));
        }
        let damaged = || refuse("the plan is damaged or was changed; make it anew".into());
        let Ok(Sealed { manifest, digest }) = serde_json::from_slice::<Sealed>(bytes) else { return damaged() };
        if hexadecimal(&manifest.digest()?) != digest {
            return damaged();
        }
        Ok(manifest)
    }

    /// Refuses a job whose options or inputs differ from the plan. `now` is the present fingerprint.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the first difference.
    pub fn check(&self, now: &Fingerprint) -> Result<()> {
        let advice = "plan the job again, or restore what has changed";
        match self.job.difference(now) {
            None => Ok(()),
            Some(Difference::Content(path)) => {
                Err(Error::usage(format!("{path}: it is not what it was when the job was planned; {advice}")))
            }
            Some(Difference::Other(words)) => Err(Error::usage(format!("{words}; {advice}"))),
        }
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

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
        let job = job(path);
        Manifest::new(vec!["allpairs".into(), "a.fa".into()], job, 70, vec![block(0), block(2)]).unwrap()
    }

    fn job(path: &Path) -> Fingerprint {
        Fingerprint::default().with_file("SEQS", path).unwrap()
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
        assert_eq!(manifest.job.inputs["SEQS"].bytes, 8);
    }

    #[test]
    fn whatever_was_changed_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        let text = String::from_utf8(manifest.to_bytes().unwrap()).unwrap();
        let message = |text: &str| Manifest::from_bytes(Path::new("m"), text.as_bytes()).unwrap_err().to_string();
        for (old, new) in [
            ("\"cells\": 70", "\"cells\": 71"),
            ("allpairs", "allpair"),
            ("\"a.fa\"", "\"b.fa\""),
            ("\"bytes\": 8", "\"bytes\": 9"),
        ] {
            assert!(text.contains(old), "{text}");
            assert_eq!(message(&text.replacen(old, new, 1)), "m: the plan is damaged or was changed; make it anew");
        }
        assert!(message(&text[..text.len() / 2]).contains("no plan"));
        let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(message(&text.replace(&version, "\"version\": \"9.9.9\"")).starts_with("m: version 9.9.9 of pairwave"));
        assert!(message(&text.replace("\"format\": 2", "\"format\": 1")).contains("in another form"));
    }

    #[test]
    fn input_that_was_changed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        manifest.check(&job(&input)).unwrap();
        std::fs::write(&input, ">a\nACGA\n").unwrap();
        let error = manifest.check(&job(&input)).unwrap_err();
        assert!(error.to_string().contains("a.fa: it is not what it was when the job was planned"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
