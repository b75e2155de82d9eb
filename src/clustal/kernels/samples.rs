//! A program of every kernel of the room.

use super::program::{Pass, Variant};
use crate::gpu::kernels::{Kind, Program};
use crate::seq::Alphabet;

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: Kind) -> Vec<Box<dyn Program>> {
    let all = Pass::ALL.map(|pass| Variant::new(pass, Alphabet::Protein, 32));
    all.into_iter().filter(|own| own.kernel().kind == kind).map(|own| Box::new(own) as Box<dyn Program>).collect()
}
