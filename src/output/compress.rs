//! Compressed output: the extensions that select a compression, and the compressing streams.

use std::io::{self, Write};
use std::path::Path;

/// Number of bytes that an encoder gets at a time.
const CHUNK_BYTES: usize = 1 << 17;

/// A compression of output files. Inputs support the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputCompression {
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// xz.
    Xz,
    /// bzip2.
    Bzip2,
}

impl OutputCompression {
    /// Every compression, with the file name extension that selects it.
    pub const ENDINGS: [(&str, OutputCompression); 4] = [
        ("gz", OutputCompression::Gzip),
        ("zst", OutputCompression::Zstd),
        ("xz", OutputCompression::Xz),
        ("bz2", OutputCompression::Bzip2),
    ];

    /// Returns the compression that a file name's extension selects.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Self> {
        let ending = path.as_ref().extension()?.to_str()?;
        Self::ENDINGS.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|&(_, compression)| compression)
    }
}

/// A stream that compresses its input.
///
/// The compressed bytes depend only on the written bytes, and not on how these were split into
/// calls, because the encoder gets chunks of one size. All encoders run at their fastest level,
/// because one thread compresses the results of many devices.
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
    /// Starts a compressed stream that is written to `base`. Its header contains no name and no
    /// date.
    pub(super) fn new(compression: OutputCompression, base: W) -> io::Result<Self> {
        let encoder = match compression {
            OutputCompression::Gzip => Encoder::Gzip(flate2::write::GzEncoder::new(base, flate2::Compression::fast())),
            OutputCompression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(base, 1)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            OutputCompression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(base, 1)),
            OutputCompression::Bzip2 => Encoder::Bzip2(bzip2::write::BzEncoder::new(base, bzip2::Compression::fast())),
        };
        Ok(Compressor { encoder, waiting: Vec::with_capacity(CHUNK_BYTES) })
    }

    /// Compresses bytes, or buffers them until a chunk is full.
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

    /// Ends the compressed stream and returns the underlying stream.
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

    fn compressed(compression: OutputCompression, parts: &[&[u8]]) -> Vec<u8> {
        let mut stream = Compressor::new(compression, Vec::new()).unwrap();
        parts.iter().for_each(|part| stream.write_all(part).unwrap());
        stream.finish().unwrap()
    }

    #[test]
    fn compressed_bytes_do_not_depend_on_call_sizes() {
        let text: Vec<u8> =
            (0..60_000u32).flat_map(|line| format!("{line}\t{}\n", line.pow(2) % 997).into_bytes()).collect();
        for (ending, compression) in OutputCompression::ENDINGS {
            let whole = compressed(compression, &[&text]);
            for size in [1000, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 7] {
                let parts: Vec<&[u8]> = text.chunks(size).collect();
                assert!(compressed(compression, &parts) == whole, "{ending} in parts of {size}");
            }
        }
    }

    /// Inputs and outputs support the same compressions.
    #[test]
    fn every_output_compression_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "query\ttarget\n", &"GATTACA\n".repeat(100_000)] {
            for (ending, compression) in OutputCompression::ENDINGS {
                let path = folder.path().join(format!("pairs.tsv.{}", ending.to_uppercase()));
                assert_eq!(OutputCompression::from_path(&path), Some(compression));
                std::fs::write(&path, compressed(compression, &[text.as_bytes()])).unwrap();
                assert!(crate::seq::read_text(path.to_str().unwrap()).unwrap() == text.as_bytes(), "{ending}");
            }
        }
        assert_eq!(OutputCompression::from_path(Path::new("gz")), None);
        assert_eq!(OutputCompression::from_path(Path::new("pairs.tsv")), None);
    }
}
