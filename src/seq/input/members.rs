//! Compressed data as a sequence of members, each of which its own decoder reads.

use std::io::{self, BufRead, Read};

use super::Compression;
use crate::error::InputLocation;

/// Reads all members of compressed data, one after the other.
pub(super) struct Members<R: BufRead> {
    name: String,
    compression: Compression,
    /// `None` after the last member.
    decoder: Option<Decoder<R>>,
}

/// The decoder of one member.
enum Decoder<R: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<R>>),
    Bzip2(Box<bzip2::bufread::BzDecoder<R>>),
    Xz(Box<liblzma::bufread::XzDecoder<R>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, R>>),
}

impl<R: BufRead> Decoder<R> {
    fn new(compression: Compression, raw: R) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => Decoder::Gzip(Box::new(flate2::bufread::GzDecoder::new(raw))),
            Compression::Bzip2 => Decoder::Bzip2(Box::new(bzip2::bufread::BzDecoder::new(raw))),
            Compression::Xz => Decoder::Xz(Box::new(liblzma::bufread::XzDecoder::new(raw))),
            Compression::Zstd => Decoder::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(raw)?.single_frame())),
        })
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Bzip2(decoder) => decoder.read(buffer),
            Decoder::Xz(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        }
    }

    fn into_inner(self) -> R {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
            Decoder::Xz(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
        }
    }
}

impl<R: BufRead> Members<R> {
    /// Starts at the first member of `raw`; `name` stands for the file in warnings.
    pub(super) fn new(name: &str, compression: Compression, raw: R) -> io::Result<Self> {
        Ok(Members { name: name.to_owned(), compression, decoder: Some(Decoder::new(compression, raw)?) })
    }

    /// Finds the next member after one that has ended.
    fn next(&self, mut raw: R) -> io::Result<Option<Decoder<R>>> {
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
                return Decoder::new(self.compression, raw).map(Some);
            }
            let format = self.compression.name();
            return match self.compression {
                Compression::Gzip | Compression::Bzip2 => {
                    let location = InputLocation::in_file(&self.name);
                    tracing::warn!("{location}: there is garbage after the {format} data, which is ignored");
                    Ok(None)
                }
                Compression::Xz | Compression::Zstd => {
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
            let raw = self.decoder.take().map(Decoder::into_inner);
            self.decoder = raw.map(|raw| self.next(raw)).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Returns the buffered bytes, reading some if there are none; empty at the end.
fn fill(raw: &mut impl BufRead) -> io::Result<&[u8]> {
    while let Err(error) = raw.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    raw.fill_buf()
}

/// Whether bytes after a member start another one. Only the buffered bytes are compared, at least one.
fn starts_member(compression: Compression, rest: &[u8]) -> bool {
    let has_prefix = |magic: &[u8]| rest.iter().zip(magic).all(|(byte, expected)| byte == expected);
    match compression {
        Compression::Gzip => has_prefix(b"\x1F\x8B"),
        Compression::Bzip2 => has_prefix(b"BZh"),
        Compression::Xz => has_prefix(b"\xFD7zXZ\0"),
        // Frames of zstd and those that readers skip.
        Compression::Zstd => {
            has_prefix(b"\x28\xB5\x2F\xFD") || rest[0] >> 4 == 5 && has_prefix(&[rest[0], 0x2A, 0x4D, 0x18])
        }
    }
}
