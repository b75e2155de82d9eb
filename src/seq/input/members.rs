//! Compressed data as a sequence of members. Each member has its own decoder.

use std::io::{self, BufRead, Read};

use super::InputCompression;
use crate::error::InputLocation;

/// Reader of all members of compressed data, in order.
pub(super) struct Members<R: BufRead> {
    name: String,
    compression: InputCompression,
    /// Decoder of the current member; `None` after the last member.
    decoder: Option<MemberDecoder<R>>,
}

/// The decoder of one member.
enum MemberDecoder<R: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<R>>),
    Bzip2(Box<bzip2::bufread::BzDecoder<R>>),
    Xz(Box<liblzma::bufread::XzDecoder<R>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, R>>),
}

impl<R: BufRead> MemberDecoder<R> {
    fn new(compression: InputCompression, raw: R) -> io::Result<Self> {
        Ok(match compression {
            InputCompression::Gzip => MemberDecoder::Gzip(Box::new(flate2::bufread::GzDecoder::new(raw))),
            InputCompression::Bzip2 => MemberDecoder::Bzip2(Box::new(bzip2::bufread::BzDecoder::new(raw))),
            InputCompression::Xz => MemberDecoder::Xz(Box::new(liblzma::bufread::XzDecoder::new(raw))),
            InputCompression::Zstd => {
                MemberDecoder::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(raw)?.single_frame()))
            }
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            MemberDecoder::Gzip(decoder) => decoder.read(buffer),
            MemberDecoder::Bzip2(decoder) => decoder.read(buffer),
            MemberDecoder::Xz(decoder) => decoder.read(buffer),
            MemberDecoder::Zstd(decoder) => decoder.read(buffer),
        }
    }

    fn into_inner(self) -> R {
        match self {
            MemberDecoder::Gzip(decoder) => decoder.into_inner(),
            MemberDecoder::Bzip2(decoder) => decoder.into_inner(),
            MemberDecoder::Xz(decoder) => decoder.into_inner(),
            MemberDecoder::Zstd(decoder) => decoder.finish(),
        }
    }
}

impl<R: BufRead> Members<R> {
    /// Creates a reader that starts at the first member of `raw`. Warnings name the file `name`.
    pub(super) fn new(name: &str, compression: InputCompression, raw: R) -> io::Result<Self> {
        Ok(Members { name: name.to_owned(), compression, decoder: Some(MemberDecoder::new(compression, raw)?) })
    }

    /// Finds the next member after the end of the current one.
    fn next(&self, mut raw: R) -> io::Result<Option<MemberDecoder<R>>> {
        loop {
            let rest = fill(&mut raw)?;
            let zeros = rest.iter().take_while(|&&byte| byte == 0).count();
            if zeros > 0 {
                raw.consume(zeros);
                continue;
            }
            if rest.is_empty() {
                return Ok(None);
            }
            if starts_member(self.compression, rest) {
                return MemberDecoder::new(self.compression, raw).map(Some);
            }
            let format = self.compression.name();
            return match self.compression {
                InputCompression::Gzip | InputCompression::Bzip2 => {
                    let location = InputLocation::in_file(&self.name);
                    tracing::warn!("{location}: there is garbage after the {format} data, which is ignored");
                    Ok(None)
                }
                InputCompression::Xz | InputCompression::Zstd => {
                    Err(io::Error::new(io::ErrorKind::InvalidData, format!("other bytes follow the {format} data")))
                }
            };
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let raw = self.decoder.take().map(MemberDecoder::into_inner);
            self.decoder = raw.map(|raw| self.next(raw)).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Returns the buffered bytes, after filling the buffer if it is empty. Returns an empty slice at
/// the end of the data.
fn fill(raw: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(error) = raw.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    raw.fill_buf()
}

/// Returns whether bytes after a member start another one. Only the buffered bytes are compared.
/// There must be at least one.
fn starts_member(compression: InputCompression, rest: &[u8]) -> bool {
    let has_prefix = |magic: &[u8]| rest.iter().zip(magic).all(|(byte, expected)| byte == expected);
    match compression {
        InputCompression::Gzip => has_prefix(b"\x1F\x8B"),
        InputCompression::Bzip2 => has_prefix(b"BZh"),
        InputCompression::Xz => has_prefix(b"\xFD7zXZ\0"),
        // Data frames of zstd, and skippable frames.
        InputCompression::Zstd => {
            has_prefix(b"\x28\xB5\x2F\xFD") || rest[0] >> 4 == 5 && has_prefix(&[rest[0], 0x2A, 0x4D, 0x18])
        }
    }
}
