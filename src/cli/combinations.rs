//! Tests that no option is silently without effect.
//!
//! The tests try every pair of options of a job. Adding either option to the other must change the
//! output, or the program must reject the pair. The options in `NEUTRAL` and the pairs listed here
//! are exceptions.

mod case;
mod jobs_of_pairs;
mod jobs_of_sets;
