//! A program of every kernel of the room.

use super::block;
use crate::gpu::kernels::{Kind, Program};

/// Programs of a kernel; none of those of other rooms.
pub fn samples(kind: Kind) -> Vec<Box<dyn Program>> {
    match kind {
        Kind::Block(numbers) => vec![Box::new(block::Variant {
            numbers,
            workgroup: 32,
            columns: block::columns(numbers)[0],
            chunk: block::CHUNK,
            is_plain: true,
            is_protein: false,
        })],
        _ => Vec::new(),
    }
}
