//! `pairwave plan`, `run`, `merge` and `mpi`: a job is split into blocks, any number of processes
//! compute them, and their results are merged.

mod merge;
#[cfg(feature = "mpi")]
mod mpi;
mod prediction;
#[cfg(not(feature = "mpi"))]
mod mpi {
    //! Stand-in for a program without MPI.

    use crate::cli::mpi::MpiOptions;
    use pairwave::{Error, Result};

    /// Fails with instructions for building pairwave with MPI.
    pub(crate) fn mpi(_mpi: &MpiOptions, _quiet: bool) -> Result<()> {
        Err(Error::usage(
            "this pairwave was built without MPI; build it with 'cargo install --path . --locked --features \
            mpi' in its source directory, which needs mpicc (Open MPI or MPICH) and libclang, or use \
            'pairwave plan', 'run' and 'merge', which need no MPI",
        ))
    }
}
mod operation;
mod plan;
mod run;
mod status;

pub(super) use merge::merge;
pub(super) use mpi::mpi;
pub(super) use plan::plan;
pub(super) use run::run;
