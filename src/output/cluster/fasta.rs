//! FASTA: a file of centroids, and a directory with a file for each cluster.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::ClusterContext;
use crate::cluster::{ClusterSet, annotations};
use crate::error::{Error, Result};
use crate::output::fasta::push_lines;
use crate::output::{Output, push_fasta_header};
use crate::seq::SequenceId;

/// Number of letters in a line, as in vsearch.
pub(super) const LINE: usize = 80;

/// Writes the centroids as FASTA with the abundance of their clusters: `>name;size=12`. Letters are
/// in upper case, with T for U. Lines have 80 letters.
///
/// # Errors
/// Returns [`Error::Io`] if writing fails.
pub fn write_centroids(context: &ClusterContext<'_>, clusters: &ClusterSet, mut output: Output) -> Result<()> {
    for cluster in &clusters.clusters {
        push_record(context, context.centroid(cluster), cluster.size, output.buffer());
        output.pass_on()?;
    }
    output.finish()
}

/// Appends a record with this abundance.
fn push_record(context: &ClusterContext<'_>, record: SequenceId, size: u64, out: &mut Vec<u8>) {
    push_fasta_header(&annotations::with_abundance(context.name(record), size), b"", out);
    push_lines(context.records.alphabet(), context.records.codes(record), LINE, out);
}

/// Checks that [`write_cluster_files`] can write into a directory, before the clusters are
/// computed. Creates nothing.
///
/// # Errors
/// Returns [`Error::Io`] if the path is not a directory and cannot become one, or if the directory
/// contains files of clusters.
pub fn check_cluster_directory(directory: impl AsRef<Path>) -> Result<()> {
    let directory = directory.as_ref();
    let failed = |source| Error::io(directory, source);
    match fs::read_dir(directory) {
        Ok(entries) => {
            for entry in entries {
                let name = entry.map_err(failed)?.file_name();
                if let Some(name) = name.to_str().filter(|name| is_cluster_file(name)) {
                    let message = format!("contains {name}; remove the files of clusters or name another directory");
                    return Err(failed(io::Error::new(io::ErrorKind::AlreadyExists, message)));
                }
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = parent_of(directory);
            if parent.is_dir() && directory.file_name().is_some() {
                return Ok(());
            }
            let message = format!("no directory {}", parent.display());
            Err(failed(io::Error::new(io::ErrorKind::NotFound, message)))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Writes a FASTA file for each cluster into a directory, which is created if it does not exist:
/// `cluster_00.fasta` and so on, with as many digits as the last number has. A file contains all
/// records of the cluster, on the strand of the input, with their own abundances. Letters and lines
/// are as in [`write_centroids`].
///
/// The files are written to a temporary directory and renamed at the end. If writing fails, no file
/// of a cluster remains. If the process is killed, the temporary directory (`.NAME.xxxxxx.part`)
/// remains.
///
/// # Errors
/// Returns the errors of [`check_cluster_directory`], and [`Error::Io`] if writing fails.
pub fn write_cluster_files(
    context: &ClusterContext<'_>,
    clusters: &ClusterSet,
    directory: impl AsRef<Path>,
) -> Result<()> {
    let directory = directory.as_ref();
    check_cluster_directory(directory)?;
    let failed = |source| Error::io(directory, source);
    let exists = directory.is_dir();
    // A directory that exists may be the root of a file system, across which files cannot be
    // renamed. So its own temporary directory is inside it.
    let place = if exists { directory } else { parent_of(directory) };
    let name = directory.file_name().map_or_else(|| "clusters".into(), |name| name.to_string_lossy());
    let temporary =
        tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".part").tempdir_in(place).map_err(failed)?;
    // The temporary directory is private to the user. The directory inside it has the usual
    // permissions.
    let inner = temporary.path().join("clusters");
    fs::create_dir(&inner).map_err(failed)?;
    let digits = clusters.clusters.len().saturating_sub(1).to_string().len();
    let mut text = Vec::new();
    for (number, cluster) in clusters.clusters.iter().enumerate() {
        let mut file = BufWriter::new(File::create(inner.join(file_name(number, digits))).map_err(failed)?);
        for one in context.expand(cluster) {
            text.clear();
            push_record(context, one.record, context.size(one.record), &mut text);
            file.write_all(&text).map_err(failed)?;
        }
        file.flush().map_err(failed)?;
    }
    if exists {
        let names = (0..clusters.clusters.len()).map(|number| file_name(number, digits));
        move_files(names, &inner, directory).map_err(failed)
    } else {
        fs::rename(&inner, directory).map_err(failed)
    }
}

/// Moves files to another directory. If one cannot be moved, none remains there.
fn move_files(names: impl Iterator<Item = String>, from: &Path, to: &Path) -> io::Result<()> {
    let mut moved: Vec<PathBuf> = Vec::new();
    for name in names {
        let target = to.join(&name);
        if let Err(error) = fs::rename(from.join(&name), &target) {
            moved.iter().for_each(|path| drop(fs::remove_file(path)));
            return Err(error);
        }
        moved.push(target);
    }
    Ok(())
}

/// Returns the name of a cluster's file.
fn file_name(number: usize, digits: usize) -> String {
    format!("cluster_{number:0digits$}.fasta")
}

/// Returns whether a file has the name of a cluster's file, with any number of digits.
fn is_cluster_file(name: &str) -> bool {
    let number = name.strip_prefix("cluster_").and_then(|rest| rest.strip_suffix(".fasta"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the directory that contains a path.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    fn entries(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn centroids_have_the_abundance_of_their_clusters() {
        let example = ClusterExample::new();
        let text = written(|output| write_centroids(&example.context(), &example.sets[0], output)).unwrap();
        let expected = ">c1;sample=X;size=8\nACGTACGTAC\n>lone;tax=d:B,p:F;sample=Z;size=1\nTTTTTTTT\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn lines_have_80_letters() {
        let letters = "ACGTACGTAC".repeat(9);
        let example = ClusterExample::from_records(&format!(
            ">a;size=9\n{letters}\n>b;size=2\nACGTTCGTAC\n>c\nCCGTACGTACGU\n>d\nttttTTTT\n"
        ));
        let text = written(|output| write_centroids(&example.context(), &example.sets[1], output)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], [">a;size=9", &letters[..80], &letters[80..]]);
        assert_eq!(lines[5..], [">c;size=1", "CCGTACGTACGT", ">d;size=1", "TTTTTTTT"]);
    }

    #[test]
    fn every_cluster_has_a_file() {
        let example = ClusterExample::new();
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        write_cluster_files(&example.context(), &example.sets[0], &new).unwrap();
        assert_eq!(entries(&new), ["cluster_0.fasta", "cluster_1.fasta"]);
        assert_eq!(entries(folder.path()), ["new"]);
        let expected = ">c1;sample=X;size=3\nACGTACGTAC\n>c2;sample=Y;size=1\nGTACGTACGT\n\
                        >m1;sample=X;size=2\nACGTTCGTAC\n>m2;sample=Y;size=1\nGTACGAACGT\n\
                        >m3;sample=X;size=1\nCCGTACGTACGT\n";
        assert_eq!(fs::read_to_string(new.join("cluster_0.fasta")).unwrap(), expected);

        let existing = folder.path().join("existing");
        fs::create_dir(&existing).unwrap();
        fs::write(existing.join("cluster_a.fasta"), "other").unwrap();
        let mut set = example.sets[1].clone();
        set.clusters = (0..11).map(|index| set.clusters[index % 4].clone()).collect();
        write_cluster_files(&example.context(), &set, &existing).unwrap();
        let names = entries(&existing);
        assert_eq!((names.len(), names[0].as_str(), names[10].as_str()), (12, "cluster_00.fasta", "cluster_10.fasta"));
    }

    #[test]
    fn files_of_clusters_are_never_replaced() {
        let example = ClusterExample::new();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cluster_017.fasta"), "old").unwrap();
        let result = write_cluster_files(&example.context(), &example.sets[0], folder.path());
        let message = result.unwrap_err().to_string();
        assert!(message.contains(": contains cluster_017.fasta; "), "{message}");
        assert_eq!(entries(folder.path()), ["cluster_017.fasta"]);
    }

    #[test]
    fn missing_and_wrong_directories_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for wrong in [file.clone(), file.join("x"), folder.path().join("none/x")] {
            let message = check_cluster_directory(&wrong).unwrap_err().to_string();
            assert!(message.starts_with(wrong.to_str().unwrap()), "{message}");
        }
        check_cluster_directory(folder.path().join("new")).unwrap();
        assert_eq!(entries(folder.path()), ["file"]);
    }

    #[test]
    fn no_file_remains_if_one_cannot_be_moved() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("a"), "").unwrap();
        assert!(move_files(["a", "missing"].map(str::to_owned).into_iter(), &from, &to).is_err());
        assert!(entries(&to).is_empty());
    }
}
