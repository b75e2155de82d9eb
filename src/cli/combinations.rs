//! No option is silently without effect: every two options of a job together change what is written, each beside the other, or are
//! refused, unless one never changes it (`NEUTRAL`) or the two are on a list here.

mod case;
mod jobs_of_pairs;
mod jobs_of_sets;
