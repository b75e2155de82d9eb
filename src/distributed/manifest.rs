//! The plan of a job: its command line, its input and its blocks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::files::fingerprint::{Difference, Fingerprint};
use crate::files::names;
use crate::jobs::blocks::Block;

/// Version of the directory format. Directories of other versions are rejected. Version 1 contained
/// SHA-256 sums of the input.
pub const FORMAT: u32 = 2;

/// SHA-256 digest of a manifest. Different plans have different digests.
pub type Digest = [u8; 32];

/// The plan of a job in blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockManifest {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// Version of the program that wrote it.
    pub version: String,
    /// Command line of the job without the program's name, as the user typed it.
    #[serde(with = "names::list")]
    pub arguments: Vec<OsString>,
    /// Working directory of the command line. Relative file names refer to it.
    #[serde(with = "names")]
    pub directory: PathBuf,
    /// Fingerprint of the options and of the content of every input file.
    pub job: Fingerprint,
    /// Target number of cells per block.
    pub block_cells: u64,
    /// The blocks, in the order of their rows.
    pub blocks: Vec<Block>,
}

/// A manifest and its digest: the content of the manifest file.
#[derive(Serialize, Deserialize)]
struct Sealed {
    #[serde(flatten)]
    manifest: BlockManifest,
    digest: String,
}

impl BlockManifest {
    /// Creates the plan of a job with this version of the program.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the working directory no longer exists.
    pub fn new(arguments: Vec<OsString>, job: Fingerprint, block_cells: u64, blocks: Vec<Block>) -> Result<Self> {
        Ok(BlockManifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            arguments,
            directory: std::env::current_dir().map_err(|error| Error::io(".", error))?,
            job,
            block_cells,
            blocks,
        })
    }

    /// Returns the digest of the manifest.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the manifest cannot be converted to JSON.
    pub fn digest(&self) -> Result<Digest> {
        Ok(Sha256::digest(serde_json::to_vec(self).map_err(json_error)?).into())
    }

    /// Returns the content of the manifest file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>> {
        let sealed = Sealed { manifest: self.clone(), digest: hexadecimal(&self.digest()?) };
        let mut bytes = serde_json::to_vec_pretty(&sealed).map_err(json_error)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a manifest from the content of its file.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the content is not a manifest, is damaged, or was written by
    /// another version of the program.
    pub(super) fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self> {
        let refuse = |problem: String| Err(Error::usage(format!("{}: {problem}", path.display())));
        #[derive(Deserialize)]
        struct PlanVersion {
            format: u32,
            version: String,
        }
        let Ok(PlanVersion { format, version }) = serde_json::from_slice(bytes) else {
            return refuse("this is not the plan of a job, or it is damaged: plan the job again".into());
        };
        let this_version = env!("CARGO_PKG_VERSION");
        if version != this_version {
            return refuse(format!(
                "version {version} of pairwave wrote this plan, and this is version {this_version}: rows of different versions cannot \
                 be merged; use version {version}, or plan the job again"
            ));
        }
        if format != FORMAT {
            return refuse(format!(
                "another build of version {this_version} wrote this plan in another format: plan the job again"
            ));
        }
        let damaged = || refuse("the plan is damaged or was changed: plan the job again".into());
        let Ok(Sealed { manifest, digest }) = serde_json::from_slice::<Sealed>(bytes) else { return damaged() };
        if hexadecimal(&manifest.digest()?) != digest {
            return damaged();
        }
        Ok(manifest)
    }

    /// Checks that the options and inputs of a job still match the plan. `now` is the current
    /// fingerprint.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the first difference.
    pub fn check(&self, now: &Fingerprint) -> Result<()> {
        let advice = "plan the job again, or restore what has changed";
        match self.job.difference(now) {
            None => Ok(()),
            Some(Difference::Content(path)) => {
                Err(Error::usage(format!("{path}: its content has changed since the job was planned; {advice}")))
            }
            Some(Difference::Other(words)) => Err(Error::usage(format!("{words}; {advice}"))),
        }
    }

    /// Returns the number of pairs in all blocks.
    pub fn pairs(&self) -> u64 {
        self.blocks.iter().map(|block| block.pairs).sum()
    }

    /// Returns the number of cells in all blocks.
    pub fn cells(&self) -> u64 {
        self.blocks.iter().map(|block| block.cells).sum()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts an error of the JSON writer.
pub(super) fn json_error(error: serde_json::Error) -> Error {
    Error::Internal(format!("cannot write JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &Path) -> BlockManifest {
        let block = |from| Block { units: from..from + 2, targets: None, pairs: 3, cells: 70 };
        let job = job(path);
        BlockManifest::new(vec!["allpairs".into(), "a.fa".into()], job, 70, vec![block(0), block(2)]).unwrap()
    }

    fn job(path: &Path) -> Fingerprint {
        Fingerprint::default().with_file("SEQS", path).unwrap()
    }

    #[test]
    fn manifest_survives_a_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        let bytes = manifest.to_bytes().unwrap();
        assert_eq!(BlockManifest::from_bytes(Path::new("m"), &bytes).unwrap(), manifest);
        assert_eq!((manifest.pairs(), manifest.cells()), (6, 140));
        assert_eq!(manifest.job.inputs["SEQS"].bytes, 8);
    }

    #[test]
    fn changed_manifest_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        let text = String::from_utf8(manifest.to_bytes().unwrap()).unwrap();
        let message = |text: &str| BlockManifest::from_bytes(Path::new("m"), text.as_bytes()).unwrap_err().to_string();
        for (old, new) in [
            ("\"cells\": 70", "\"cells\": 71"),
            ("allpairs", "allpair"),
            ("\"a.fa\"", "\"b.fa\""),
            ("\"bytes\": 8", "\"bytes\": 9"),
        ] {
            assert!(text.contains(old), "{text}");
            assert_eq!(
                message(&text.replacen(old, new, 1)),
                "m: the plan is damaged or was changed: plan the job again"
            );
        }
        assert!(message(&text[..text.len() / 2]).contains("not the plan"));
        let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
        assert!(message(&text.replace(&version, "\"version\": \"9.9.9\"")).starts_with("m: version 9.9.9 of pairwave"));
        assert!(message(&text.replace("\"format\": 2", "\"format\": 1")).contains("in another format"));
    }

    #[test]
    fn changed_input_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("a.fa");
        std::fs::write(&input, ">a\nACGT\n").unwrap();
        let manifest = manifest(&input);
        manifest.check(&job(&input)).unwrap();
        std::fs::write(&input, ">a\nACGA\n").unwrap();
        let error = manifest.check(&job(&input)).unwrap_err();
        assert!(error.to_string().contains("a.fa: its content has changed since the job was planned"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
