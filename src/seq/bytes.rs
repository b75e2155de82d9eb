//! Bytes that something owns alone, or a part of what several share: of a file that is mapped, or of memory.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// What several may have parts of.
#[derive(Debug)]
pub(super) enum Backing {
    /// A file in the address space. Its pages come from the disk when they are read first, and the system may drop them
    /// again.
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

/// Some bytes. To read those of a part costs a few instructions more than to read own ones.
#[derive(Debug, Clone)]
pub(super) enum Bytes {
    Own(Vec<u8>),
    Part { of: Arc<Backing>, range: Range<usize> },
}

impl Bytes {
    /// The bytes to change; those of a part are copied before.
    pub(super) fn own(&mut self) -> &mut Vec<u8> {
        if let Bytes::Part { .. } = self {
            *self = Bytes::Own(self.to_vec());
        }
        match self {
            Bytes::Own(bytes) => bytes,
            Bytes::Part { .. } => unreachable!("they were made own"),
        }
    }

    /// The same bytes as they can be shared.
    pub(super) fn shared(self) -> Self {
        match self {
            Bytes::Own(bytes) => Bytes::Part { range: 0..bytes.len(), of: Arc::new(Backing::Memory(bytes)) },
            part => part,
        }
    }

    /// A part of them, of shared ones without a copy.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        match self {
            Bytes::Own(bytes) => Bytes::Own(bytes[range].to_vec()),
            Bytes::Part { of, range: all } => {
                debug_assert!(range.end <= all.len());
                Bytes::Part { of: Arc::clone(of), range: all.start + range.start..all.start + range.end }
            }
        }
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes::Own(Vec::new())
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Own(bytes) => bytes,
            Bytes::Part { of, range } => &of[range.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_copies_would_be() {
        let own = Bytes::Own((0..20).collect());
        let shared = own.clone().shared();
        let (copied, part) = (own.part(3..11), shared.part(3..11));
        assert!(matches!((&copied, &part), (Bytes::Own(_), Bytes::Part { .. })));
        assert_eq!((&*copied, &*part), (&own[3..11], &own[3..11]));
        assert_eq!(*part.part(2..5), own[5..8]);
        let mut changed = part.clone();
        changed.own().push(99);
        assert_eq!((changed.len(), changed[8], part.len(), shared.len()), (9, 99, 8, 20));
    }
}
