//! What ranks tell each other, in bytes.

use serde::{Deserialize, Serialize};

use crate::distributed::dispatch::{Reply, Request};
use crate::error::Error;

/// Who a rank is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its machine's name.
    pub host: String,
    /// What it computes on, in words.
    pub devices: String,
}

/// Why a rank ends the job for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trouble {
    /// What to say.
    pub text: String,
    /// The exit code that it deserves ([`Error::exit_code`]).
    pub code: u8,
}

impl Trouble {
    pub(super) fn of(error: &Error) -> Self {
        Trouble { text: error.to_string(), code: error.exit_code() }
    }

    /// The error again, as far as it can be told from its text, of a rank with this name.
    pub(super) fn into_error(self, rank: &str) -> Error {
        match self.code {
            130 => Error::Interrupted,
            2 => Error::usage(format!("{rank}: {}", self.text)),
            _ => Error::Device { device: rank.to_owned(), message: self.text },
        }
    }
}

/// A block that is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Its number.
    pub block: usize,
    /// Rows that it has.
    pub rows: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Its part; `None` if that was written to its file.
    pub part: Option<Vec<u8>>,
}

impl Finished {
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

    /// Of bytes with one before them.
    fn from_bytes(mut bytes: Vec<u8>) -> Option<Self> {
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let (block, rows, seconds) = (number(1)?, number(9)?, number(17)?);
        bytes.drain(..25);
        // A part has a head at least.
        let part = (!bytes.is_empty()).then_some(bytes);
        Some(Finished { block: usize::try_from(block).ok()?, rows, seconds: f64::from_bits(seconds), part })
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// To rank 0: this one is there, and has all that it needs.
    Hello(Member),
    /// To rank 0: this one lacks something, and computes nothing.
    Unable(Trouble),
    /// To rank 0.
    Request(Request),
    /// To rank 0: a block is done.
    Finished(Finished),
    /// To rank 0: the job cannot go on.
    Fatal(Trouble),
    /// To rank 0: the last word.
    Bye,
    /// From rank 0.
    Reply(Reply),
    /// From rank 0: the job is over before its end.
    Stop,
}

impl Message {
    /// As bytes: one that says which, and what belongs to it.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let json = |kind, value: serde_json::Result<Vec<u8>>| {
            let mut bytes = vec![kind];
            // Text becomes JSON without fail.
            bytes.extend(value.unwrap_or_default());
            bytes
        };
        let prefixed = |kind, rest: Vec<u8>| {
            let mut bytes = vec![kind];
            bytes.extend(rest);
            bytes
        };
        match self {
            Message::Hello(member) => json(0, serde_json::to_vec(member)),
            Message::Unable(trouble) => json(1, serde_json::to_vec(trouble)),
            Message::Request(request) => prefixed(2, request.to_bytes()),
            Message::Finished(finished) => finished.to_bytes(),
            Message::Fatal(trouble) => json(4, serde_json::to_vec(trouble)),
            Message::Bye => vec![5],
            Message::Reply(reply) => prefixed(6, reply.to_bytes()),
            Message::Stop => vec![7],
        }
    }

    /// `None` if the bytes are none.
    pub(super) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let (&kind, rest) = bytes.split_first()?;
        Some(match kind {
            0 => Message::Hello(serde_json::from_slice(rest).ok()?),
            1 => Message::Unable(serde_json::from_slice(rest).ok()?),
            2 => Message::Request(Request::from_bytes(rest)?),
            3 => Message::Finished(Finished::from_bytes(bytes)?),
            4 => Message::Fatal(serde_json::from_slice(rest).ok()?),
            5 if rest.is_empty() => Message::Bye,
            6 => Message::Reply(Reply::from_bytes(rest)?),
            7 if rest.is_empty() => Message::Stop,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::dispatch::Lease;

    #[test]
    fn messages_come_back_from_their_bytes() {
        let trouble = Trouble { text: "/x: no space left on device".into(), code: 2 };
        let messages = [
            Message::Hello(Member { host: "node7".into(), devices: "NVIDIA H200".into() }),
            Message::Unable(trouble.clone()),
            Message::Request(Request::Asks),
            Message::Request(Request::Failed { block: 7, error: "lost".into() }),
            Message::Finished(Finished { block: 1 << 33, rows: 7, seconds: 0.25, part: Some(vec![0, 1, 255]) }),
            Message::Finished(Finished { block: 0, rows: 0, seconds: 0.0, part: None }),
            Message::Fatal(trouble),
            Message::Bye,
            Message::Reply(Reply::Lease(Lease { blocks: 3..9, ask_at: 1 })),
            Message::Reply(Reply::End),
            Message::Stop,
        ];
        for message in messages {
            assert_eq!(Message::from_bytes(message.to_bytes()), Some(message));
        }
    }

    #[test]
    fn other_bytes_are_no_message() {
        for bytes in [&[][..], &[0], &[0, b'{'], &[2], &[3, 0, 0], &[5, 0], &[6, 9], &[8], &[255]] {
            assert_eq!(Message::from_bytes(bytes.to_vec()), None, "{bytes:?}");
        }
    }

    #[test]
    fn an_error_keeps_its_exit_code() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let device = Error::Device { device: "H200".into(), message: "lost".into() };
        for error in
            [Error::io("/x", full), device, Error::Interrupted, Error::usage("no"), Error::Internal("?".into())]
        {
            let again = Trouble::of(&error).into_error("rank 3 on node7");
            assert_eq!(again.exit_code(), error.exit_code());
            let text = again.to_string();
            assert!(
                text.contains(&error.to_string()) && (error.exit_code() == 130 || text.contains("rank 3 on node7"))
            );
        }
    }
}
