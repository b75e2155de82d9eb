//! Bytes that are either owned or a part of shared memory, which may be a mapped file.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// Memory whose parts several values can share.
#[derive(Debug)]
pub(super) enum Backing {
    /// A mapped file. The system loads its pages when they are first read, and may drop them again.
    File(memmap2::Mmap),
    Memory(Vec<u8>),
}

impl Deref for Backing {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Backing::File(map) => map,
            Backing::Memory(bytes) => bytes,
        }
    }
}

/// Owned bytes or a part of shared bytes. Access to a part takes a few more instructions.
#[derive(Debug, Clone)]
pub(super) enum SharedBytes {
    Owned(Vec<u8>),
    Part { backing: Arc<Backing>, range: Range<usize> },
}

impl SharedBytes {
    /// Returns the bytes for modification. A part is copied first.
    pub(super) fn to_mut(&mut self) -> &mut Vec<u8> {
        if let SharedBytes::Part { .. } = self {
            *self = SharedBytes::Owned(self.to_vec());
        }
        match self {
            SharedBytes::Owned(bytes) => bytes,
            SharedBytes::Part { .. } => unreachable!("the bytes are owned now"),
        }
    }

    /// Moves owned bytes into shared memory, so that taking a part of them copies nothing.
    pub(super) fn shared(self) -> Self {
        match self {
            SharedBytes::Owned(bytes) => {
                SharedBytes::Part { range: 0..bytes.len(), backing: Arc::new(Backing::Memory(bytes)) }
            }
            part => part,
        }
    }

    /// Returns a part of the bytes. Only owned bytes are copied.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        match self {
            SharedBytes::Owned(bytes) => SharedBytes::Owned(bytes[range].to_vec()),
            SharedBytes::Part { backing, range: all } => {
                debug_assert!(range.end <= all.len());
                SharedBytes::Part {
                    backing: Arc::clone(backing),
                    range: all.start + range.start..all.start + range.end,
                }
            }
        }
    }
}

impl Default for SharedBytes {
    fn default() -> Self {
        SharedBytes::Owned(Vec::new())
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            SharedBytes::Owned(bytes) => bytes,
            SharedBytes::Part { backing, range } => &backing[range.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_equal_copies() {
        let owned = SharedBytes::Owned((0..20).collect());
        let shared = owned.clone().shared();
        let (copied, part) = (owned.part(3..11), shared.part(3..11));
        assert!(matches!((&copied, &part), (SharedBytes::Owned(_), SharedBytes::Part { .. })));
        assert_eq!((&*copied, &*part), (&owned[3..11], &owned[3..11]));
        assert_eq!(*part.part(2..5), owned[5..8]);
        let mut changed = part.clone();
        changed.to_mut().push(99);
        assert_eq!((changed.len(), changed[8], part.len(), shared.len()), (9, 99, 8, 20));
    }
}
