//! Steps that all commands for jobs in blocks share: parse the job, check its input, open its
//! directory.

use crate::cli::args::Args;
use crate::cli::blocks::BlockCommand;
use crate::cli::options::{Action, job_of};
use crate::cli::tips::one_line;
use pairwave::distributed::Directory;
use pairwave::jobs::Fingerprint;
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Operation on a job of any kind.
pub(super) trait JobOperation {
    /// Result of the operation.
    type Output;

    /// Performs the operation.
    fn perform<C: BlockCommand>(self, command: C) -> Result<Self::Output>;
}

/// Performs an operation on the job of a command line.
pub(super) fn on_job<T: JobOperation>(arguments: &[OsString], task: T) -> Result<T::Output> {
    match job_of(arguments)? {
        Action::AllPairs(command) => task.perform(*command),
        Action::Cluster(command) => task.perform(*command),
        Action::Search(command) => task.perform(*command),
        Action::Pairs(command) => task.perform(*command),
        Action::Edit(command) => task.perform(*command),
        Action::Long(command) => task.perform(*command),
        Action::Papara(command) => task.perform(*command),
        Action::Msa(command) => task.perform(*command),
        Action::Tree(command) => task.perform(*command),
        Action::Dist(command) => task.perform(*command),
        Action::MsaAdd(_) => {
            Err(Error::usage("--add and --profile: only the distances of all pairs can be split into blocks"))
        }
        _ => Err(Error::usage(
            "this command line prints help or a list: only jobs that compute can be split into blocks",
        )),
    }
}

/// Returns the fingerprint of a job with the present content of its files.
pub(super) fn fingerprint(arguments: &[OsString]) -> Result<Fingerprint> {
    let typed = std::iter::once("pairwave".into()).chain(arguments.iter().cloned()).collect();
    Args::parse_words(typed)
        .map_err(|error| Error::usage(one_line(&error.render().to_string())))?
        .request
        .fingerprint(&[])
}

/// Rejects a plan whose options or input have changed. Reads all input once.
pub(super) fn check_inputs(directory: &Directory) -> Result<()> {
    let manifest = directory.manifest();
    manifest.check(&fingerprint(&manifest.arguments)?)
}

/// Returns an absolute path, which stays valid when the working directory changes.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::io(path, error))
}

/// Opens a directory of blocks, and changes to the directory where its job was planned, because the
/// job's command line may contain relative paths.
pub(super) fn open(path: &Path) -> Result<Directory> {
    let directory = Directory::open(&absolute(path)?)?;
    let planned_in = &directory.manifest().directory;
    std::env::set_current_dir(planned_in).map_err(|error| Error::io(planned_in, error))?;
    Ok(directory)
}
