//! Messages between a rank and the dispatcher, and their encoding.

use std::ops::Range;

/// A message from a rank to the dispatcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankRequest {
    /// The rank asks for blocks.
    Asks,
    /// A block is done, and its rows are stored.
    Finished {
        /// Number of the block.
        block: usize,
    },
    /// A block could not be computed.
    Failed {
        /// Number of the block.
        block: usize,
        /// Error message.
        error: String,
    },
}

/// Blocks for one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockLease {
    /// Consecutive blocks, at least one.
    pub blocks: Range<usize>,
    /// The rank asks again when it holds at most this number of unfinished blocks in total.
    pub ask_at: usize,
}

/// A message from the dispatcher to a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Blocks to compute after those that the rank already holds.
    Lease(BlockLease),
    /// Another rank has finished this block, so this rank should not compute it.
    Drop {
        /// Number of the block.
        block: usize,
    },
    /// The rank will get no more work.
    End,
}

impl RankRequest {
    /// Encodes the message: one byte for its type, then little-endian numbers of eight bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            RankRequest::Asks => vec![0],
            RankRequest::Finished { block } => with_numbers(1, &[*block]),
            RankRequest::Failed { block, error } => {
                let mut bytes = with_numbers(2, &[*block]);
                bytes.extend(error.bytes());
                bytes
            }
        }
    }

    /// Decodes a message. Returns `None` if the bytes are not a request.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let request = match kind {
            0 => RankRequest::Asks,
            1 => RankRequest::Finished { block: number(&mut rest)? },
            2 => {
                let block = number(&mut rest)?;
                RankRequest::Failed { block, error: String::from_utf8_lossy(std::mem::take(&mut rest)).into_owned() }
            }
            _ => return None,
        };
        rest.is_empty().then_some(request)
    }
}

impl Reply {
    /// Encodes the message: one byte for its type, then little-endian numbers of eight bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Reply::Lease(BlockLease { blocks, ask_at }) => with_numbers(0, &[blocks.start, blocks.end, *ask_at]),
            Reply::Drop { block } => with_numbers(1, &[*block]),
            Reply::End => vec![2],
        }
    }

    /// Decodes a message. Returns `None` if the bytes are not a reply.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let reply = match kind {
            0 => {
                let blocks = number(&mut rest)?..number(&mut rest)?;
                if blocks.is_empty() {
                    return None;
                }
                Reply::Lease(BlockLease { blocks, ask_at: number(&mut rest)? })
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
    fn messages_survive_a_round_trip() {
        let requests = [
            RankRequest::Asks,
            RankRequest::Finished { block: 1 << 40 },
            RankRequest::Failed { block: 3, error: "device 'a': löst".into() },
            RankRequest::Failed { block: 3, error: String::new() },
        ];
        for request in requests {
            let bytes = request.to_bytes();
            assert_eq!(RankRequest::from_bytes(&bytes), Some(request));
        }
        let lease = BlockLease { blocks: 7..99, ask_at: 2 };
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
    fn malformed_bytes_are_refused() {
        for bytes in [&[][..], &[3], &[9, 0], &[0, 1], &[1, 2, 3]] {
            assert_eq!(RankRequest::from_bytes(bytes), None, "{bytes:?}");
        }
        let empty = Reply::Lease(BlockLease { blocks: 4..4, ask_at: 1 });
        assert_eq!(Reply::from_bytes(&empty.to_bytes()), None);
    }
}
