//! No option is silently without effect.
//!
//! Each two options of a job change what is written, each next to the other, or are refused, unless
//! one is in `NEUTRAL` or the two are in a list here.

mod case;
mod jobs_of_pairs;
mod jobs_of_sets;
