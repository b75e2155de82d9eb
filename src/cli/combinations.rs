//! Tests that no option is silently without effect.
//!
//! For each two options of a job, adding either to the other changes the output, or the pair is
//! rejected. Exceptions are the options in `NEUTRAL` and the pairs listed here.

mod case;
mod jobs_of_pairs;
mod jobs_of_sets;
