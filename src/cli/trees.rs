//! `pairwave tree` and `pairwave dist`.

mod compared;
mod dist;
mod make;

pub(super) use dist::DistanceMatrix;
pub(super) use make::TreeMake;
