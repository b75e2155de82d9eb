//! Compressed output: which endings of names ask for it, and the streams that write it.

use std::io::{self, Write};
use std::path::Path;

/// Bytes that an encoder gets at a time.
const CHUNK_BYTES: usize = 1 << 17;

/// A compression that outputs can have: each that inputs can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// Every compression with the ending of names that asks for it.
    pub const ENDINGS: [(&str, Compression); 4] =
        [("gz", Compression::Gzip), ("zst", Compression::Zstd), ("xz", Compression::Xz), ("bz2", Compression::Bzip2)];

    /// Returns the compression that the ending of a file's name asks for.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::ENDINGS.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|&(_, compression)| compression)
    }
}

/// A stream that compresses its input.
///
/// The compressed bytes depend on the written bytes only, not on how these were split into calls: the encoder gets chunks of one
/// size. All encoders run at their fastest level, because one thread compresses the results of many devices.
pub(super) struct Compressor<W: Write> {
    encoder: Encoder<W>,
    waiting: Vec<u8>,
}

enum Encoder<W: Write> {
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Xz(liblzma::write::XzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
}

impl<W: Write> Compressor<W> {
    /// Starts a compressed stream in front of `base`. No header holds a name or a date.
    pub(super) fn new(compression: Compression, base: W) -> io::Result<Self> {
        let encoder = match compression {
            Compression::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(base, flate2::Compression::fast())),
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(base, 1)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(base, 1)),
            Compression::Bzip2 => Encoder::Bzip2(bzip2::write::BzEncoder::new(base, bzip2::Compression::fast())),
        };
        Ok(Compressor { encoder, waiting: Vec::with_capacity(CHUNK_BYTES) })
    }

    /// Compresses bytes, or keeps them until a chunk is full.
    pub(super) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = CHUNK_BYTES - self.waiting.len();
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.waiting.extend_from_slice(now);
            bytes = later;
            if self.waiting.len() == CHUNK_BYTES {
                self.encode()?;
            }
        }
        Ok(())
    }

    fn encode(&mut self) -> io::Result<()> {
        let chunk = &self.waiting;
        match &mut self.encoder {
            Encoder::Gzip(encoder) => encoder.write_all(chunk),
            Encoder::Zstd(encoder) => encoder.write_all(chunk),
            Encoder::Xz(encoder) => encoder.write_all(chunk),
            Encoder::Bzip2(encoder) => encoder.write_all(chunk),
        }?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes the end of the compressed stream and returns the stream below.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.encode()?;
        match self.encoder {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Xz(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compressed(compression: Compression, parts: &[&[u8]]) -> Vec<u8> {
        let mut stream = Compressor::new(compression, Vec::new()).unwrap();
        parts.iter().for_each(|part| stream.write_all(part).unwrap());
        stream.finish().unwrap()
    }

    #[test]
    fn bytes_do_not_depend_on_how_they_were_split() {
        let text: Vec<u8> =
            (0..60_000u32).flat_map(|line| format!("{line}\t{}\n", line.pow(2) % 997).into_bytes()).collect();
        for (ending, compression) in Compression::ENDINGS {
            let whole = compressed(compression, &[&text]);
            for size in [1000, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 7] {
                let parts: Vec<&[u8]> = text.chunks(size).collect();
                assert!(compressed(compression, &parts) == whole, "{ending} in parts of {size}");
            }
        }
    }

    /// Inputs of every compression are outputs as well, and the other way round.
    #[test]
    fn whatever_is_written_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "query\ttarget\n", &"GATTACA\n".repeat(100_000)] {
            for (ending, compression) in Compression::ENDINGS {
                let path = folder.path().join(format!("pairs.tsv.{}", ending.to_uppercase()));
                assert_eq!(Compression::of(&path), Some(compression));
                std::fs::write(&path, compressed(compression, &[text.as_bytes()])).unwrap();
                assert!(crate::seq::read_text(path.to_str().unwrap()).unwrap() == text.as_bytes(), "{ending}");
            }
        }
        assert_eq!(Compression::of(Path::new("gz")), None);
        assert_eq!(Compression::of(Path::new("pairs.tsv")), None);
    }
}
