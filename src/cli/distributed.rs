//! `pairwave plan`, `run` and `merge`: a job is cut, its blocks are computed by whoever there is, their rows are put together.

mod foreseen;
mod merge;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(not(feature = "mpi"))]
mod mpi {
    //! Of a program without MPI.

    use crate::cli::mpi::Mpi;
    use pairwave::{Error, Result};

    /// Says where it is.
    pub(crate) fn mpi(_mpi: &Mpi, _quiet: bool) -> Result<()> {
        Err(Error::usage(
            "this pairwave was built without MPI; build it with 'cargo install --path . --locked --features \
            mpi' in its source directory, which needs mpicc (Open MPI or MPICH) and libclang, or use \
            'pairwave plan', 'run' and 'merge', which need no MPI",
        ))
    }
}
mod plan;
mod run;
mod status;
mod task;

pub(super) use merge::merge;
pub(super) use mpi::mpi;
pub(super) use plan::plan;
pub(super) use run::run;
