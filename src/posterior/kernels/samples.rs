//! A program of every kernel of the room.

use super::program::Variant;
use crate::gpu::kernels::{Kind, Program, Sweep};
use crate::seq::Alphabet;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: Kind) -> Vec<Box<dyn Program>> {
    let all = [Sweep::Forward, Sweep::Backward].map(|sweep| Variant::new(sweep, Alphabet::Protein, 32, 4));
    all.into_iter().filter(|own| own.kernel().kind == kind).map(|own| Box::new(own) as Box<dyn Program>).collect()
}
