//! What a rank and the dispatcher tell each other, in bytes.

use std::ops::Range;

/// What a rank tells the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// It wants a lease.
    Asks,
    /// A block is done, and its rows are where they belong.
    Finished {
        /// Its number.
        block: usize,
    },
    /// A block could not be computed.
    Failed {
        /// Its number.
        block: usize,
        /// Why.
        error: String,
    },
}

/// Blocks for one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Neighbours, at least one.
    pub blocks: Range<usize>,
    /// Of all that the rank holds: when no more than so many blocks are unfinished, it is time to ask for the next lease.
    pub ask_at: usize,
}

/// What the dispatcher tells a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Blocks to compute after those that it holds.
    Lease(Lease),
    /// Another rank has done this block: no need to begin it.
    Drop {
        /// Its number.
        block: usize,
    },
    /// There is nothing more for this rank to do, or ever will be.
    End,
}

impl Request {
    /// As bytes: one that says which, and numbers of eight with the least first.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Request::Asks => vec![0],
            Request::Finished { block } => with_numbers(1, &[*block]),
            Request::Failed { block, error } => {
                let mut bytes = with_numbers(2, &[*block]);
                bytes.extend(error.bytes());
                bytes
            }
        }
    }

    /// `None` if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let request = match kind {
            0 => Request::Asks,
            1 => Request::Finished { block: number(&mut rest)? },
            2 => {
                let block = number(&mut rest)?;
                Request::Failed { block, error: String::from_utf8_lossy(std::mem::take(&mut rest)).into_owned() }
            }
            _ => return None,
        };
        rest.is_empty().then_some(request)
    }
}

impl Reply {
    /// As bytes: one that says which, and numbers of eight with the least first.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Reply::Lease(Lease { blocks, ask_at }) => with_numbers(0, &[blocks.start, blocks.end, *ask_at]),
            Reply::Drop { block } => with_numbers(1, &[*block]),
            Reply::End => vec![2],
        }
    }

    /// `None` if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let reply = match kind {
            0 => {
                let blocks = number(&mut rest)?..number(&mut rest)?;
                if blocks.is_empty() {
                    return None;
                }
                Reply::Lease(Lease { blocks, ask_at: number(&mut rest)? })
            }
            1 => Reply::Drop { block: number(&mut rest)? },
            2 => Reply::End,
            _ => return None,
        };
        rest.is_empty().then_some(reply)
    }
}

fn with_numbers(kind: u8, numbers: &[usize]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(numbers.iter().flat_map(|&number| (number as u64).to_le_bytes()));
    bytes
}

fn number(bytes: &mut &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    usize::try_from(u64::from_le_bytes(*first)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_from_their_bytes() {
        let requests = [
            Request::Asks,
            Request::Finished { block: 1 << 40 },
            Request::Failed { block: 3, error: "device 'a': löst".into() },
            Request::Failed { block: 3, error: String::new() },
        ];
        for request in requests {
            let bytes = request.to_bytes();
            assert_eq!(Request::from_bytes(&bytes), Some(request));
        }
        let lease = Lease { blocks: 7..99, ask_at: 2 };
        for reply in [Reply::Lease(lease), Reply::Drop { block: 0 }, Reply::End] {
            let bytes = reply.to_bytes();
            for length in 0..bytes.len() {
                assert_eq!(Reply::from_bytes(&bytes[..length]), None, "{length} of {bytes:?}");
            }
            assert_eq!(Reply::from_bytes(&[&bytes[..], &[0]].concat()), None);
            assert_eq!(Reply::from_bytes(&bytes), Some(reply));
        }
    }

    #[test]
    fn other_bytes_are_no_message() {
        for bytes in [&[][..], &[3], &[9, 0], &[0, 1], &[1, 2, 3]] {
            assert_eq!(Request::from_bytes(bytes), None, "{bytes:?}");
        }
        let empty = Reply::Lease(Lease { blocks: 4..4, ask_at: 1 });
        assert_eq!(Reply::from_bytes(&empty.to_bytes()), None);
    }
}
