//! Messages between ranks, and their encoding.

use serde::{Deserialize, Serialize};

use crate::distributed::dispatch::{RankRequest, Reply};
use crate::error::Error;

/// Description of a rank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankInfo {
    /// Name of its machine.
    pub host: String,
    /// Description of its devices for users.
    pub devices: String,
}

/// An error on another rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RemoteError {
    /// Error message.
    pub text: String,
    /// Exit code of the program ([`Error::exit_code`]).
    pub code: u8,
}

impl RemoteError {
    pub(super) fn new(error: &Error) -> Self {
        RemoteError { text: error.to_string(), code: error.exit_code() }
    }

    /// Converts the message back to an error. The text names the rank, and the exit code stays the
    /// same.
    pub(super) fn into_error(self, rank: &str) -> Error {
        match self.code {
            130 => Error::Interrupted,
            2 => Error::usage(format!("{rank}: {}", self.text)),
            _ => Error::Device { device: rank.to_owned(), message: self.text },
        }
    }
}

/// A finished block.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedBlock {
    /// Number of the block.
    pub block: usize,
    /// Number of rows.
    pub rows: u64,
    /// Seconds of computation.
    pub seconds: f64,
    /// Bytes of the part. `None` if the part is in its file.
    pub part: Option<Vec<u8>>,
}

impl FinishedBlock {
    fn to_bytes(&self) -> Vec<u8> {
        let part = self.part.as_deref().unwrap_or_default();
        let mut bytes = Vec::with_capacity(1 + 24 + part.len());
        bytes.push(3);
        for number in [self.block as u64, self.rows, self.seconds.to_bits()] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend_from_slice(part);
        bytes
    }

    /// Decodes a message whose first byte is the message type.
    fn from_bytes(mut bytes: Vec<u8>) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (block, rows, seconds) = (number(1)?, number(9)?, number(17)?);
        bytes.drain(..25);
        // A part is never empty, because it has a header.
        let part = (!bytes.is_empty()).then_some(bytes);
        Some(FinishedBlock { block: usize::try_from(block).ok()?, rows, seconds: f64::from_bits(seconds), part })
    }
}

/// A message between rank 0 and another rank.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum RankMessage {
    /// To rank 0: this rank is ready to compute.
    Hello(RankInfo),
    /// To rank 0: this rank cannot compute, for the given reason.
    Unable(RemoteError),
    /// To rank 0: a request to the dispatcher.
    Request(RankRequest),
    /// To rank 0: a block is done.
    Finished(FinishedBlock),
    /// To rank 0: the job cannot continue.
    Fatal(RemoteError),
    /// To rank 0: the last message of this rank.
    Bye,
    /// From rank 0: a reply of the dispatcher.
    Reply(Reply),
    /// From rank 0: the job is cancelled.
    Stop,
}

impl RankMessage {
    /// Encodes the message: one byte for the type, then its content.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let json = |kind, value: serde_json::Result<Vec<u8>>| {
            let mut bytes = vec![kind];
            // These types have only strings and numbers, so writing JSON cannot fail.
            bytes.extend(value.unwrap_or_default());
            bytes
        };
        let prefixed = |kind, rest: Vec<u8>| {
            let mut bytes = vec![kind];
            bytes.extend(rest);
            bytes
        };
        match self {
            RankMessage::Hello(member) => json(0, serde_json::to_vec(member)),
            RankMessage::Unable(error) => json(1, serde_json::to_vec(error)),
            RankMessage::Request(request) => prefixed(2, request.to_bytes()),
            RankMessage::Finished(finished) => finished.to_bytes(),
            RankMessage::Fatal(error) => json(4, serde_json::to_vec(error)),
            RankMessage::Bye => vec![5],
            RankMessage::Reply(reply) => prefixed(6, reply.to_bytes()),
            RankMessage::Stop => vec![7],
        }
    }

    /// Decodes a message. Returns `None` if the bytes are not a message.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        Some(match kind {
            0 => RankMessage::Hello(serde_json::from_slice(rest).ok()?),
            1 => RankMessage::Unable(serde_json::from_slice(rest).ok()?),
            2 => RankMessage::Request(RankRequest::from_bytes(rest)?),
            3 => RankMessage::Finished(FinishedBlock::from_bytes(bytes)?),
            4 => RankMessage::Fatal(serde_json::from_slice(rest).ok()?),
            5 if rest.is_empty() => RankMessage::Bye,
            6 => RankMessage::Reply(Reply::from_bytes(rest)?),
            7 if rest.is_empty() => RankMessage::Stop,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::dispatch::BlockLease;

    #[test]
    fn messages_survive_a_round_trip() {
        let error = RemoteError { text: "/x: no space left on device".into(), code: 2 };
        let messages = [
            RankMessage::Hello(RankInfo { host: "node7".into(), devices: "NVIDIA H200".into() }),
            RankMessage::Unable(error.clone()),
            RankMessage::Request(RankRequest::Asks),
            RankMessage::Request(RankRequest::Failed { block: 7, error: "lost".into() }),
            RankMessage::Finished(FinishedBlock {
                block: 1 << 33,
                rows: 7,
                seconds: 0.25,
                part: Some(vec![0, 1, 255]),
            }),
            RankMessage::Finished(FinishedBlock { block: 0, rows: 0, seconds: 0.0, part: None }),
            RankMessage::Fatal(error),
            RankMessage::Bye,
            RankMessage::Reply(Reply::Lease(BlockLease { blocks: 3..9, ask_at: 1 })),
            RankMessage::Reply(Reply::End),
            RankMessage::Stop,
        ];
        for message in messages {
            assert_eq!(RankMessage::from_bytes(message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn malformed_bytes_are_refused() {
        for bytes in [&[][..], &[0], &[0, b'{'], &[2], &[3, 0, 0], &[5, 0], &[6, 9], &[8], &[255]] {
            assert_eq!(RankMessage::from_bytes(bytes.to_vec()), None, "{bytes:?}");
        }
    }

    #[test]
    fn remote_error_keeps_its_exit_code() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let device = Error::Device { device: "H200".into(), message: "lost".into() };
        for error in
            [Error::io("/x", full), device, Error::Interrupted, Error::usage("no"), Error::Internal("?".into())]
        {
            let again = RemoteError::new(&error).into_error("rank 3 on node7");
            assert_eq!(again.exit_code(), error.exit_code());
            let text = again.to_string();
            assert!(
                text.contains(&error.to_string()) && (error.exit_code() == 130 || text.contains("rank 3 on node7"))
            );
        }
    }
}
