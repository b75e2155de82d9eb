//! Dereplicated reads as FASTA and in the cluster format of UCLUST, as vsearch's
//! `derep_fulllength` writes them.

use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::SpooledTempFile;

use super::fasta::LINE;
use super::uc::{end_of_centroid, start};
use crate::cluster::DifferentSequence;
use crate::error::{Error, Result};
use crate::output::Output;
use crate::seq::Strand;

/// Bytes of C lines that are kept in memory.
const SPOOLED: usize = 1 << 20;

/// Writer of dereplicated reads.
#[derive(Debug)]
pub struct DereplicatedWriter {
    fasta: Output,
    /// Minimum abundance of sequences in the FASTA file.
    min_size: u64,
    uc: Option<UcClusters>,
    written: u64,
}

/// The file of clusters.
#[derive(Debug)]
struct UcClusters {
    output: Output,
    /// C lines, which follow all other lines.
    ends: BufWriter<SpooledTempFile>,
    line: Vec<u8>,
    /// Number of the next cluster.
    number: u64,
    directory: PathBuf,
}

impl DereplicatedWriter {
    /// Creates a writer of FASTA, without sequences of an abundance below `min_size`.
    pub fn new(fasta: Output, min_size: u64) -> Self {
        DereplicatedWriter { fasta, min_size, uc: None, written: 0 }
    }

    /// Also writes all clusters of identical reads to `output`. A temporary file in `directory`
    /// holds lines that belong to the end.
    pub fn with_uc(self, output: Output, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        let ends = BufWriter::new(tempfile::spooled_tempfile_in(SPOOLED, directory));
        let uc = UcClusters { output, ends, line: Vec::new(), number: 0, directory: directory.to_owned() };
        DereplicatedWriter { uc: Some(uc), ..self }
    }

    /// Writes a sequence. Clusters need its reads.
    ///
    /// # Errors
    /// Returns [`Error::Io`] or [`Error::OutputClosed`] if writing fails.
    pub fn write(&mut self, sequence: &DifferentSequence<'_>) -> Result<()> {
        if let Some(uc) = &mut self.uc {
            uc.write(sequence)?;
        }
        if sequence.abundance < self.min_size {
            return Ok(());
        }
        self.written += 1;
        let out = self.fasta.buffer();
        out.push(b'>');
        out.extend_from_slice(&sequence.annotated_name());
        out.push(b'\n');
        for line in sequence.letters.chunks(LINE) {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        self.fasta.pass_on()
    }

    /// Completes the files. Returns the number of sequences in the FASTA file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] or [`Error::OutputClosed`] if writing fails.
    pub fn finish(self) -> Result<u64> {
        // All data are written before the first file gets its name.
        let uc = self.uc.map(UcClusters::end).transpose()?;
        self.fasta.finish()?;
        uc.map(Output::finish).transpose()?;
        Ok(self.written)
    }
}

impl UcClusters {
    /// Writes the S line of a sequence and the H lines of its other reads.
    fn write(&mut self, sequence: &DifferentSequence<'_>) -> Result<()> {
        let length = sequence.letters.len() as u64;
        let out = self.output.buffer();
        start(out, b'S', self.number, length);
        end_of_centroid(out, sequence.name);
        for read in sequence.reads.iter().skip(1) {
            let out = self.output.buffer();
            start(out, b'H', self.number, length);
            let sign: &[u8] = if read.strand == Strand::Minus { b"-" } else { b"+" };
            for part in [b"100.0\t", sign, b"\t0\t0\t*\t", read.name, b"\t", sequence.name, b"\n"] {
                out.extend_from_slice(part);
            }
            self.output.pass_on()?;
        }
        self.line.clear();
        start(&mut self.line, b'C', self.number, sequence.abundance);
        end_of_centroid(&mut self.line, sequence.name);
        self.number += 1;
        self.ends.write_all(&self.line).map_err(|source| Error::io(&self.directory, source))?;
        self.output.pass_on()
    }

    /// Writes the C lines.
    fn end(mut self) -> Result<Output> {
        let failed = |source: io::Error| Error::io(&self.directory, source);
        let mut ends = self.ends.into_inner().map_err(|error| failed(error.into_error()))?;
        ends.rewind().map_err(failed)?;
        let mut part = vec![0; SPOOLED];
        loop {
            match ends.read(&mut part) {
                Ok(0) => return Ok(self.output),
                Ok(count) => self.output.append(&part[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::IdenticalRead;

    #[test]
    fn lines_are_those_of_vsearch() {
        let folder = tempfile::tempdir().unwrap();
        let [fasta, uc] = ["d.fa", "d.uc"].map(|name| folder.path().join(name));
        let mut writer = DereplicatedWriter::new(Output::create(&fasta).unwrap(), 2)
            .with_uc(Output::create(&uc).unwrap(), folder.path());
        let read = |name: &'static [u8], abundance, strand| IdenticalRead { name, abundance, strand };
        let reads = [
            read(b"b;size=2", 2, Strand::Plus),
            read(b"a;sample=X", 1, Strand::Plus),
            read(b"z", 1, Strand::Minus),
            read(b"c", 1, Strand::Plus),
        ];
        let letters = b"ACGU".repeat(21);
        for (reads, letters, abundance) in [(&reads[..3], &letters[..], 4), (&reads[3..], b"GGC", 1)] {
            let name = reads[0].name;
            let sequence = DifferentSequence { name, abundance, letters, is_of_one_sample: false, reads };
            writer.write(&sequence).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), 1);
        let written = |path| std::fs::read_to_string(path).unwrap();
        assert_eq!(written(fasta), format!(">b;size=4\n{}\nACGU\n", "ACGU".repeat(20)));
        let expected = "\
S\t0\t84\t*\t*\t*\t*\t*\tb;size=2\t*
H\t0\t84\t100.0\t+\t0\t0\t*\ta;sample=X\tb;size=2
H\t0\t84\t100.0\t-\t0\t0\t*\tz\tb;size=2
S\t1\t3\t*\t*\t*\t*\t*\tc\t*
C\t0\t4\t*\t*\t*\t*\t*\tb;size=2\t*
C\t1\t1\t*\t*\t*\t*\t*\tc\t*
";
        assert_eq!(written(uc), expected);
    }
}
