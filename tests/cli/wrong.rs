//! Invalid input and options: exit code 2, one line that names the problem, an empty standard
//! output, and no file.

use insta::assert_snapshot;

use super::*;

fn refused(folder: &TempDir, arguments: &str) -> String {
    refused_by("allpairs", folder, arguments)
}

/// Runs a command with an output file and checks exit code, streams and files. Returns the message
/// without `folder` and the adapter's name. `arguments` are split at blanks; `@name` is a file in
/// `folder`.
pub(crate) fn refused_by(command: &str, folder: &TempDir, arguments: &str) -> String {
    let before = entries(folder.path());
    let words: Vec<String> = arguments
        .split_whitespace()
        .map(|word| word.strip_prefix('@').map_or(word.to_owned(), |name| path(folder, name)))
        .collect();
    let mut command = pairwave(&[command, "--quiet"]);
    let command = command.args(&words);
    if !arguments.contains("-o") {
        command.args(["-o", &path(folder, "pairs.out")]);
    }
    let run = command.assert().code(2).stdout("");
    assert_eq!(entries(folder.path()), before, "{arguments} left a file behind");
    let stderr = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    let message = stderr.strip_prefix("pairwave: error: ").unwrap_or_else(|| panic!("{arguments}: {stderr}"));
    assert_eq!(message.matches('\n').count(), 1, "{arguments}: {stderr}");
    let message = adapter_names().iter().fold(message.to_owned(), |text, name| text.replace(name, "[name]"));
    format!("{arguments}\n    {}", message.replace(&path(folder, ""), "@"))
}

/// Returns the adapters of this machine. They are queried once, because some drivers print messages
/// on every query.
fn adapter_names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let names = || pairwave::gpu::adapter::enumerate().into_iter().map(|adapter| adapter.description.name).collect();
    NAMES.get_or_init(names)
}

fn all_refused(folder: &TempDir, lines: &[&str]) -> String {
    lines.iter().map(|line| refused(folder, line)).collect()
}

#[test]
fn wrong_input_is_located() {
    let folder = folder();
    let good = ">a\nGATTACA\n>b\nGATCA\n";
    file(&folder, "good.fa", good);
    file(&folder, "protein.fa", ">p\nMKTAYIAKQRQISFVKSHFSRQ\n>q\nMKTAYIAKQR\n");
    file(&folder, "empty.fa", "");
    file(&folder, "blank.fa", "\n\n");
    file(&folder, "text.txt", "query\ttarget\n");
    file(&folder, "letter.fa", ">a\nGATTACA\n>b x\nGATT\nAC7A\n");
    file(&folder, "gap.fa", ">a\nGATTACA\n>b\nGA--CA\n");
    file(&folder, "no_sequence.fa", ">b\n>c\n");
    file(&folder, "no_name.fa", ">a\nGATTACA\n> \nGATTACA\n");
    file(&folder, "cut.fq", "@a\nGATTACA\n+\nIIIIIII\n@b\nGATTACA\n+\nIII\n");
    let gz = gzipped(good);
    file(&folder, "cut.fa.gz", &gz[..gz.len() - 9]);
    assert_snapshot!(all_refused(
        &folder,
        &[
            "@missing.fa",
            "@",
            "@empty.fa",
            "@blank.fa",
            "@text.txt",
            "@letter.fa",
            "@gap.fa",
            "@no_sequence.fa",
            "@no_name.fa",
            "@cut.fq",
            "@cut.fa.gz",
            "@protein.fa --alphabet dna",
            "@good.fa --against @missing.fa",
            "@good.fa --against @letter.fa",
            "@missing.fa -o @results/",
        ]
    ));
}

#[test]
fn wrong_matrices_are_located() {
    let folder = folder();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    file(&folder, "uneven.txt", "   A  C\nA  1 -1\nC -1\n");
    file(&folder, "word.txt", "   A  C  G  T\nA  1 -1 -1 -1\nC -1  x -1 -1\nG -1 -1  1 -1\nT -1 -1 -1  1\n");
    file(&folder, "lopsided.txt", "   A  C  G  T\nA  1 -1 -1 -1\nC -2  1 -1 -1\nG -1 -1  1 -1\nT -1 -1 -1  1\n");
    file(&folder, "three.txt", "   A  C  G\nA  1 -1 -1\nC -1  1 -1\nG -1 -1  1\n");
    file(&folder, "empty.txt", "");
    assert_snapshot!(all_refused(
        &folder,
        &[
            "@good.fa --matrix BLOSUM61",
            "@good.fa --matrix BLOSUM62",
            "@good.fa --matrix @",
            "@good.fa --matrix @uneven.txt",
            "@good.fa --matrix @word.txt",
            "@good.fa --matrix @lopsided.txt",
            "@good.fa --matrix @three.txt",
            "@good.fa --matrix @empty.txt",
        ]
    ));
}

#[test]
fn unknown_options_are_rejected() {
    let folder = folder();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    assert_snapshot!(all_refused(
        &folder,
        &[
            "",
            "@good.fa --nonsense",
            "@good.fa --id 0.97",
            "@good.fa -evalue 1e-5",
            "@good.fa -outfmt 6",
            "@good.fa -out @out.tsv",
            "@good.fa --gapopen 10",
            "@good.fa --userfields query+target",
            "@good.fa --uc @clusters.uc",
            "@good.fa -format paf",
            "@good.fa @good.fa --against @good.fa",
            "@good.fa --fromat tsv",
        ]
    ));
}

/// A command line of vsearch leads to one line with the command to type.
#[test]
fn command_lines_of_vsearch() {
    for (line, advice) in [
        (
            &["--cluster_fast", "in.fa", "--id", "0.97", "--uc", "out.uc"][..],
            "unexpected argument '--cluster_fast' found; tip: use 'pairwave cluster SEQS --min-identity FRACTION'; \
             see 'pairwave --help'\n",
        ),
        (
            &["vsearch", "--derep_fulllength", "in.fa"][..],
            "unrecognized subcommand 'vsearch'; tip: use 'pairwave derep READS -o FILE'\n",
        ),
    ] {
        pairwave(line).assert().code(2).stdout("").stderr(format!("pairwave: error: {advice}"));
    }
}

#[test]
fn invalid_values_are_rejected() {
    let folder = folder();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    assert_snapshot!(all_refused(
        &folder,
        &[
            "@good.fa --format csv",
            "@good.fa --iddef 5",
            "@good.fa --threads many",
            "@good.fa --threads 0",
            "@good.fa --gap-extend 0.5",
            "@good.fa --memory 8X",
            "@good.fa --memory 1M",
            "@good.fa --min-identity 97",
            "@good.fa --min-identity high",
            "@good.fa --min-score much",
            "@good.fa --mode lokal",
            "@good.fa --gap-open -5",
            "@good.fa --fields query,expect",
            "@good.fa --fields query,staxid",
        ]
    ));
}

#[test]
fn contradictory_options_are_rejected() {
    let folder = folder();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    assert_snapshot!(all_refused(
        &folder,
        &[
            "@good.fa --score-only --format paf",
            "@good.fa --width 20",
            "@good.fa --match 1 --mismatch 1",
            "@good.fa --mode local --end-gaps charged",
            "@good.fa --mode semi-global --end-gaps charged",
            "@good.fa --mode local --format phylip",
            "@good.fa --mode local --iddef 3",
        ]
    ));
}

#[test]
fn unwritable_outputs_are_errors() {
    let folder = folder();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    assert_snapshot!(all_refused(
        &folder,
        &["@good.fa -o @good.fa", "@good.fa -o @missing/pairs.tsv", "@good.fa -o @",]
    ));
}

/// Errors about devices and kernels list the available ones.
#[test]
fn unsuitable_devices_and_kernels_are_rejected() {
    let folder = folder();
    needs_adapter();
    file(&folder, "good.fa", ">a\nGATTACA\n>b\nGATCA\n");
    for (arguments, start) in [
        ("@good.fa --device GeForce-256", "no device is called 'GeForce-256'; available devices: 0 = [name], "),
        (
            "@good.fa --device 4711",
            "no device has the index 4711 or '4711' in its name; available devices: 0 = [name], ",
        ),
        ("@good.fa --device cpu,GeForce-256", "no device is called 'GeForce-256'; available devices: 0 = [name], "),
    ] {
        let text = refused(&folder, arguments);
        let message = text.lines().nth(1).unwrap().trim();
        assert!(message.starts_with(start) && message.ends_with(", cpu"), "{text}");
    }
    assert_snapshot!(all_refused(
        &folder,
        &["@good.fa --kernel nw_slise", "@good.fa --device 0,0", "@good.fa --device all,0"]
    ));
    pairwave(&["devices", "--device", "GeForce-256"]).assert().code(2).stdout("").stderr(predicates::str::starts_with(
        "pairwave: error: no device is called 'GeForce-256'; available devices: 0 = ",
    ));
}
