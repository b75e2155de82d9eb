//! Databases: creation, description, verification and export.

use super::*;

/// Runs the program. Returns its standard output and standard error.
fn run_program(arguments: &[&str]) -> (String, String) {
    let run = pairwave(arguments).assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&run.get_output().stdout), text(&run.get_output().stderr))
}

/// Returns the error of a command that fails with exit code 2.
fn refused(arguments: &[&str]) -> String {
    let run = pairwave(arguments).assert().code(2).stdout("");
    String::from_utf8(run.get_output().stderr.clone()).expect("text")
}

const PROTEINS: &str = ">long of all, with\ttab\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n\
                        >two\nMKV\n>three same length\nMLE\n";

#[test]
fn database_gives_back_its_sequences() {
    let folder = folder();
    let (proteins, db) = (file(&folder, "p.fa", PROTEINS), path(&folder, "p.pwdb"));
    let (out, line) = run_program(&["makedb", &proteins, "-o", &db]);
    assert_eq!(out, "");
    let (amounts, bytes) = (line.split(" in ").next(), line.split(" s: ").nth(1));
    assert_eq!((amounts, bytes), (Some("pairwave: 3 sequences, 72 symbols of proteins"), Some("688 bytes\n")));
    let looks = ["--verify", "--json", "--fasta"].map(|way| run_program(&["dbinfo", &db, way]).0);
    insta::assert_snapshot!("what_is_in_a_database", looks.join("\n"));
    assert_eq!(entries(folder.path()), ["p.fa", "p.pwdb"]);
}

#[test]
fn files_together_are_as_one_file() {
    let folder = folder();
    let genes = std::fs::read_to_string(GENES).expect("it is there");
    let middle = genes.match_indices("\n>").nth(5).expect("a sixth gene").0 + 1;
    let first = file(&folder, "a.fa", &genes[..middle]);
    let second = file(&folder, "b.gz", gzipped(&genes[middle..]));
    let [whole, parts, piped] = ["whole.pwdb", "parts.pwdb", "piped.pwdb"].map(|name| path(&folder, name));
    run_program(&["makedb", GENES, "-o", &whole]);
    run_program(&["makedb", &first, &second, "-o", &parts, "--memory", "16M"]);
    pairwave(&["makedb", "-", "-o", &piped, "--quiet"]).write_stdin(genes.as_str()).assert().success().stderr("");
    let bytes = |path: &str| std::fs::read(path).expect("it was made");
    assert!(bytes(&whole) == bytes(&parts) && bytes(&whole) == bytes(&piped));
    // Its FASTA gives the same database.
    let (again, anew) = (path(&folder, "again.fa.gz"), path(&folder, "anew.pwdb"));
    run_program(&["dbinfo", &whole, "--fasta", "-o", &again]);
    run_program(&["makedb", &again, "-o", &anew]);
    assert!(bytes(&whole) == bytes(&anew));
}

#[test]
fn entries_are_written_in_the_order_of_their_names() {
    let folder = folder();
    let text = ">b two words\nMKV\n>a\nMLE\n>b\nMKTAYIAKQR\n>c\nMAL\n";
    let (proteins, db) = (file(&folder, "p.fa", text), path(&folder, "p.pwdb"));
    run_program(&["makedb", &proteins, "-o", &db, "-q"]);
    let all_b = ">b two words\nMKV\n>b\nMKTAYIAKQR\n";
    assert_eq!(run_program(&["dbinfo", &db, "--entry", "b"]).0, all_b);
    let three = ["--entry", "c", "--entry", "b", "--entry", "c"];
    assert_eq!(run_program(&[&["dbinfo", &db], &three[..]].concat()).0, format!(">c\nMAL\n{all_b}"));
    let list = file(&folder, "names", "c\r\n\nb\n");
    let listed = run_program(&["dbinfo", &db, "--entry", "a", "--entries", &list]).0;
    assert_eq!(listed, format!(">a\nMLE\n>c\nMAL\n{all_b}"));
    let (unknown, words) = (file(&folder, "unknown", "a\nd\ne\n"), file(&folder, "words", "a\nb two\n"));
    let (empty, output) = (file(&folder, "empty", "\n"), path(&folder, "x.fa"));
    let refused = |arguments: &[&str]| {
        let message = refused(&[&["dbinfo", &db, "-o", &output], arguments].concat());
        message.replace(&path(&folder, ""), "").trim_end().to_owned()
    };
    assert_eq!(refused(&["--entry", "d"]), "pairwave: error: p.pwdb: no sequence is named 'd'");
    assert_eq!(
        refused(&["--entries", &unknown]),
        "pairwave: error: unknown, line 2: no sequence of p.pwdb is named 'd'; 2 of 3 names are unknown"
    );
    assert!(refused(&["--entries", &words]).contains("words, line 2: more than one word"));
    assert!(refused(&["--entries", &empty]).contains("empty: the list has no names"));
    assert!(refused(&["--entry", "a", "--json"]).contains("--json"));
    assert!(!entries(folder.path()).contains(&"x.fa".to_owned()));
}

#[test]
fn duplicate_names_give_a_warning() {
    let folder = folder();
    let (first, second) = (file(&folder, "a.fa", ">x\nMKV\n>y\nMKL\n"), file(&folder, "b.fa", ">x\nMLE\n"));
    let db = path(&folder, "x.pwdb");
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let message = first_line(run_program(&["makedb", &first, &second, "-o", &db]).1);
    assert_eq!(message, "pairwave: warning: the files together: 1 record has the name of an earlier one: 'x'");
    assert!(!first_line(run_program(&["makedb", &first, "-o", &db]).1).contains("warning"));
}

#[test]
fn wrong_databases_and_options() {
    let folder = folder();
    let (proteins, db) = (file(&folder, "p.fa", PROTEINS), path(&folder, "p.pwdb"));
    run_program(&["makedb", &proteins, "-o", &db]);
    let bytes = std::fs::read(&db).expect("it was made");
    let mut changed = bytes.clone();
    changed[100] ^= 1;
    let changed = file(&folder, "changed.pwdb", changed);
    let cut = file(&folder, "cut.pwdb", &bytes[..bytes.len() - 5]);
    let gzip = path(&folder, "p.pwdb.gz");
    let bad = file(&folder, "bad.fa", ">a\nMKV\n>b\nM7\n");
    let never = path(&folder, "never.pwdb");
    let all = [
        &["dbinfo", &changed, "--verify"][..],
        &["dbinfo", &cut],
        &["dbinfo", &proteins],
        &["dbinfo", &path(&folder, "none.pwdb")],
        &["allpairs", &db],
        &["makedb", &db, "-o", &never],
        &["makedb", &bad, "-o", &never],
        &["makedb", &proteins, "-o", &never, "--alphabet", "dna"],
        &["makedb", &proteins, "-o", &never, "--alphabet", "bytes"],
        &["makedb", &proteins, "-o", &never, "--memory", "1M"],
        &["makedb", "-", "-", "-o", &never],
        &["makedb", &proteins, "-o", "-"],
        &["makedb", &proteins, "-o", &gzip],
        &["makedb", &proteins, "-o", &proteins],
        &["makedb", &bad, "-o", &proteins],
        &["makedb", &proteins],
        &["makedb", "-o", &never],
    ];
    let said: String = all.iter().map(|arguments| refused(arguments)).collect();
    insta::assert_snapshot!("wrong_databases_and_options", said.replace(&format!("{}/", folder.path().display()), ""));
    let mut left = entries(folder.path());
    left.retain(|name| name.contains("never") || name.ends_with(".part"));
    assert!(left.is_empty(), "{left:?}");
}

/// Searches a database that `change` modifies after it was mapped and before the queries arrive.
/// Returns the error.
#[cfg(target_os = "linux")]
fn search_changed(change: impl FnOnce(&str)) -> String {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = folder();
    let (proteins, db) = (file(&folder, "p.fa", PROTEINS.repeat(200)), path(&folder, "p.pwdb"));
    run_program(&["makedb", &proteins, "-o", &db]);
    let mut search = Command::new(program());
    let table = path(&folder, "hits.tsv");
    search.args(["search", "-", &db, "--device", "cpu", "-q", "-o", &table]);
    let mut search =
        search.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let maps = format!("/proc/{}/maps", search.id());
    let begin = Instant::now();
    while !std::fs::read_to_string(&maps).expect("it runs").contains("p.pwdb") {
        assert!(begin.elapsed() < Duration::from_secs(60), "the database is not mapped");
        std::thread::sleep(Duration::from_millis(5));
    }
    change(&db);
    let mut queries = search.stdin.take().expect("it is piped");
    queries.write_all(PROTEINS.as_bytes()).expect("the queries are read");
    drop(queries);
    let mut message = String::new();
    search.stderr.take().expect("it is piped").read_to_string(&mut message).expect("text");
    assert_eq!(search.wait().expect("it ends").code(), Some(2), "{message}");
    assert!(message.starts_with("pairwave: error: ") && message.lines().count() == 1, "{message}");
    assert_eq!(entries(folder.path()), ["p.fa", "p.pwdb"]);
    message
}

#[cfg(target_os = "linux")]
#[test]
fn truncated_database_gives_one_error() {
    search_changed(|db| {
        std::fs::File::options().write(true).open(db).and_then(|file| file.set_len(0)).expect("it is cut")
    });
}

#[cfg(target_os = "linux")]
#[test]
fn overwritten_database_gives_one_error() {
    // Rewriting equal bytes counts as a change, because other bytes may have been there in between.
    for changed in [0, 1] {
        let message = search_changed(|db| {
            let mut bytes = std::fs::read(db).expect("it is there");
            bytes[200] ^= changed;
            // Overwrites in place, so the file never gets shorter.
            let mut file = std::fs::File::options().write(true).open(db).expect("it is there");
            std::io::Write::write_all(&mut file, &bytes).expect("it is written");
        });
        assert!(message.contains("p.pwdb: the database was changed while it was read"), "{message}");
    }
}

#[test]
fn database_from_a_pipe_is_rejected() {
    let folder = folder();
    let (proteins, db) = (file(&folder, "p.fa", PROTEINS), path(&folder, "p.pwdb"));
    run_program(&["makedb", &proteins, "-o", &db]);
    let bytes = std::fs::read(&db).expect("it was made");
    let zipped = file(&folder, "p.pwdb.gz", gzipped(&bytes));
    for arguments in [["search", &proteins, "-"], ["search", &proteins, &zipped]] {
        let run = pairwave(&arguments).write_stdin(bytes.clone()).assert().code(2).stdout("");
        let message = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        assert!(message.contains("a database of 'pairwave makedb' cannot be read from"), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
