//! Endings of output names: the format that each implies, and the refusal of names that imply
//! another format.

use super::args::Args;
use clap::{CommandFactory, ValueEnum};
use pairwave::output::OutputCompression;
use pairwave::{Error, Result};
use std::path::Path;

/// Kind of file.
struct FileKind {
    /// Name in messages.
    name: &'static str,
    /// File name endings in lower case, the preferred one first.
    endings: &'static [&'static str],
    /// Writers of this kind: values of --format, options that name a file, and options of one
    /// command as in `dbinfo --fasta`.
    writers: &'static [&'static str],
    /// Advice for kinds that no pairwave command writes.
    note: &'static str,
}

const fn kind(name: &'static str, endings: &'static [&'static str], writers: &'static [&'static str]) -> FileKind {
    FileKind { name, endings, writers, note: "" }
}

const fn foreign(name: &'static str, endings: &'static [&'static str], note: &'static str) -> FileKind {
    FileKind { name, endings, writers: &[], note }
}

/// Kinds of files by their endings. Other endings, such as `.txt` and `.out`, are allowed for any
/// format.
const KINDS: [FileKind; 38] = [
    kind(
        "FASTA",
        &["fa", "fasta", "fna", "faa", "ffn", "frn", "fas", "fsa", "afa", "mfa"],
        &["fasta", "dbinfo --fasta", "dbinfo --entry", "search --hits-fasta", "cluster --centroids", "derep --output"],
    ),
    kind("Clustal", &["aln", "clu", "clustal", "clustalw"], &["clustal"]),
    kind("PHYLIP", &["phy", "phylip"], &["phylip", "--distmat-out"]),
    kind("Stockholm", &["sto", "sth", "stk", "stockholm"], &["stockholm"]),
    kind("MSF", &["msf"], &["msf"]),
    kind("NEXUS", &["nex", "nexus", "nxs"], &["nexus"]),
    kind("a ClustalW matrix", &["dst"], &["dst"]),
    kind(
        "a Newick tree",
        &["nwk", "dnd", "newick", "nw", "tree", "tre", "ph", "phb", "treefile"],
        &["newick", "--guidetree-out", "--tree-out"],
    ),
    kind(
        "tab-separated values",
        &["tsv", "tab"],
        &[
            "tsv",
            "blast6",
            "blast7",
            "--table",
            "cluster --otu-table",
            "cluster --pairs-out",
            "cluster --mothur-list",
            "cluster --shared",
        ],
    ),
    kind("a BLAST table", &["b6", "m8", "m9", "blast6", "blast7", "outfmt6", "outfmt7"], &["blast6", "blast7"]),
    kind("comma-separated values", &["csv"], &["csv"]),
    kind("PAF", &["paf"], &["paf"]),
    kind("BIOM", &["biom"], &["cluster --biom"]),
    kind("JSON", &["json"], &["jsonl", "dbinfo --json", "statistics", "cluster --biom"]),
    kind("JSON lines", &["jsonl", "ndjson"], &["jsonl"]),
    kind("SAM", &["sam"], &["sam"]),
    kind("VCF", &["vcf"], &["vcf"]),
    kind("MAF", &["maf"], &["maf"]),
    kind("chains", &["chain"], &["chain"]),
    kind("a delta file", &["delta"], &["delta"]),
    kind("BED", &["bed"], &["bed"]),
    kind("HTML", &["html", "htm", "xhtml"], &["--report"]),
    kind("SVG", &["svg"], &["long --plot", "dist --plot", "tree --plot", "cluster --plot", "bench --plot"]),
    kind("PNG", &["png"], &["long --plot", "dist --plot", "tree --plot", "cluster --plot"]),
    kind("uc clusters", &["uc"], &["--uc"]),
    kind("CD-HIT's clusters", &["clstr"], &["cluster --clstr"]),
    kind("jplace", &["jplace"], &["papara --jplace"]),
    kind("a pairwave database", &["pwdb"], &["database"]),
    foreign("FASTQ", &["fq", "fastq"], "qualities are written only in SAM"),
    foreign("BAM", &["bam", "cram", "bcf"], "'samtools view' converts SAM to it"),
    foreign("PDF", &["pdf", "ps", "eps"], "a browser can print pages and pictures as PDF"),
    foreign("a picture", &["jpg", "jpeg", "gif", "tif", "tiff", "bmp", "webp"], "pictures are written as SVG or PNG"),
    foreign("an annotation", &["bedpe", "gff", "gff3", "gtf", "wig", "bw", "bigwig"], ""),
    foreign("another program's alignment", &["axt", "coords", "psl", "pir", "a3m", "a2m"], ""),
    foreign("a spreadsheet", &["xls", "xlsx", "ods"], "spreadsheet programs open tab-separated values"),
    foreign("a document", &["md", "tex", "doc", "docx", "rtf", "xml", "yaml", "yml", "toml"], ""),
    foreign("a binary table", &["parquet", "arrow", "feather", "npy", "npz", "h5", "hdf5", "rds", "pickle"], ""),
    foreign(
        "an archive or another compression",
        &[
            "zip", "7z", "rar", "tar", "tgz", "tbz", "tbz2", "txz", "tzst", "lz4", "lz", "lzma", "lzo", "br", "z",
            "bgz", "bgzf", "gzip", "bzip2", "zstd",
        ],
        "compressed output ends in .gz, .zst, .xz or .bz2",
    ),
];

impl FileKind {
    /// Returns whether `written`, a format or an option of this command, writes this kind of file.
    fn is_written_by(&self, command: &str, written: &str) -> bool {
        self.writers.iter().any(|writer| match writer.split_once(' ') {
            Some((only, option)) => only == command && option == written,
            None => *writer == written,
        })
    }
}

/// Returns the ending of a file name in lower case, without the ending of a compression.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let compression =
        OutputCompression::ENDINGS.iter().find_map(|(ending, _)| name.strip_suffix(ending)?.strip_suffix('.'));
    compression.unwrap_or(&name).rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_owned())
}

fn kind_of(path: &Path) -> Option<&'static FileKind> {
    let ending = ending(path);
    KINDS.iter().find(|kind| kind.endings.contains(&&*ending))
}

/// Returns the value of `T` that the ending of a name stands for.
pub(super) fn format_of<T: ValueEnum>(path: &Path) -> Option<T> {
    kind_of(path)?.writers.iter().find_map(|writer| T::from_str(writer, true).ok())
}

/// Returns the name of a value as it is typed.
pub(super) fn value_name<T: ValueEnum>(value: T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Rejects an output whose name stands for another format than `written`. `written` is the name of
/// a format, or the option that names the file. `-`, pipes and devices may have any name.
pub(super) fn check(command: &str, option: &str, path: Option<&Path>, written: &str) -> Result<()> {
    let Some((path, kind)) = path.and_then(|path| Some((path, kind_of(path)?))) else { return Ok(()) };
    let is_special = std::fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
    if is_special || kind.is_written_by(command, written) {
        return Ok(());
    }
    let actual = KINDS.iter().find(|kind| kind.is_written_by(command, written));
    let advice = advice(command, option, path, kind, actual);
    Err(Error::usage(format!(
        "{option} {}: .{} stands for {}, but the output is {}; {advice}",
        path.display(),
        ending(path),
        kind.name,
        actual.map_or(written, |actual| actual.name),
    )))
}

/// Rejects a compressed name for a file that is read again in place.
pub(super) fn check_plain(option: &str, path: Option<&Path>) -> Result<()> {
    match path {
        Some(path) if OutputCompression::from_path(path).is_some() => {
            let ending = path.extension().unwrap_or_default().display();
            Err(Error::usage(format!("{option} {}: this file is never compressed: remove .{ending}", path.display())))
        }
        _ => Ok(()),
    }
}

/// Returns the fix: the format or option that writes this kind of file, or another name.
fn advice(command: &str, option: &str, path: &Path, kind: &FileKind, actual: Option<&FileKind>) -> String {
    if command == "plan" {
        return format!(
            "name a directory; 'pairwave merge' writes the results, as in 'pairwave merge WORK -o {}'",
            path.display()
        );
    }
    let args = Args::command();
    let here = args.find_subcommand(command);
    let option_called = |name: &str| here?.get_arguments().find(|argument| argument.get_long() == Some(name));
    let writes = |format: &str| {
        let values = option_called("format").map(clap::Arg::get_possible_values).unwrap_or_default();
        values.iter().any(|value| value.matches(format, true))
    };
    let instead = kind.writers.iter().filter(|_| option == "--output").find_map(|writer| {
        if writes(writer) {
            return Some(format!("--format {writer} writes {}", kind.name));
        }
        let (only, writer_option) = writer.split_once(' ').unwrap_or((command, writer));
        let argument = option_called(writer_option.strip_prefix("--")?).filter(|_| only == command)?;
        let has_file = argument.get_action().takes_values();
        let file = if has_file { format!(" {}", path.display()) } else { String::new() };
        Some(format!("{writer_option}{file} writes {}", kind.name))
    });
    instead.unwrap_or_else(|| {
        let ending = actual.map_or("txt", |actual| actual.endings[0]);
        let renamed = renamed(path, ending);
        let note = if kind.note.is_empty() { String::new() } else { format!("{}; ", kind.note) };
        format!("{note}use a name such as {renamed}")
    })
}

/// Returns a name with another ending and the same compression.
fn renamed(path: &Path, ending: &str) -> String {
    let (inner, compression) = match OutputCompression::from_path(path) {
        Some(_) => (path.with_extension(""), path.extension()),
        None => (path.to_owned(), None),
    };
    let mut renamed = inner.with_extension(ending).into_os_string();
    if let Some(compression) = compression {
        renamed.push(".");
        renamed.push(compression);
    }
    renamed.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_ending_stands_for_one_kind() {
        let all: Vec<&str> = KINDS.iter().flat_map(|kind| kind.endings).copied().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        let neutral = ["txt", "text", "out", "log", "dat", "res", "result", "list", "mat", "dist", "matrix", "blast"];
        assert!(neutral.iter().all(|ending| !all.contains(ending)));
        assert!(OutputCompression::ENDINGS.iter().all(|(ending, _)| !all.contains(ending)));
    }

    #[test]
    fn endings_of_compressions_are_looked_through() {
        for (name, expected) in [
            ("a.tsv", "tsv"),
            ("dir.svg/a", ""),
            ("a.b.TSV.GZ", "tsv"),
            ("a.html.zst", "html"),
            ("a.paf.xz", "paf"),
            ("a.sam.bz2", "sam"),
            ("a.gz", ""),
            ("gz", ""),
            ("a.fagz", "fagz"),
            (".tsv", "tsv"),
            ("a.", ""),
        ] {
            assert_eq!(ending(Path::new(name)), expected, "{name}");
        }
        assert_eq!(renamed(Path::new("d/a.svg.gz"), "tsv"), "d/a.tsv.gz");
        assert_eq!(renamed(Path::new("a.b.svg"), "fa"), "a.b.fa");
    }
}
