//! `--stats`: statistics of each device as JSON.

use super::*;
use insta::assert_snapshot;
use serde_json::Value;

/// Replaces numbers that differ between runs by their kind, and names of adapters by `[name]`.
fn redacted(value: &mut Value, key: &str) {
    let exact = ["pairs", "cells", "aligned", "written", "threads"];
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| redacted(value, key)),
        Value::Array(items) => items.iter_mut().for_each(|item| redacted(item, key)),
        Value::Number(_) if !exact.contains(&key) => *value = Value::from("[number]"),
        Value::String(text) if key == "version" => *text = "[version]".into(),
        Value::String(text) if text != "cpu" => *text = "[name]".into(),
        _ => {}
    }
}

fn stats_of(device: &str) -> Value {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("stats.json");
    let path = path.to_str().expect("a name");
    // Next to a GPU, half of the threads process its results.
    let threads = if device == "cpu" { "2" } else { "4" };
    let run =
        pairwave(&["allpairs", GENES, "--device", device, "--threads", threads, "--stats", path]).assert().success();
    assert!(!run.get_output().stdout.is_empty());
    serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("it is JSON")
}

#[test]
fn statistics_of_one_and_several_engines() {
    let mut cpu = stats_of("cpu");
    for (field, most) in [("imbalance", 1.0), ("seconds", 600.0), ("gcups", 1e6), ("cpu_user_seconds", 6000.0)] {
        assert!((0.0..most).contains(&cpu[field].as_f64().unwrap_or(0.0)), "{field}: {cpu}");
    }
    assert_eq!(cpu["engines"][0]["cells"], cpu["cells"]);
    redacted(&mut cpu, "");
    if !cfg!(target_os = "linux") {
        (cpu["cpu_user_seconds"], cpu["cpu_system_seconds"]) = ("[number]".into(), "[number]".into());
    }
    assert_snapshot!("stats", serde_json::to_string_pretty(&cpu).expect("JSON"));
    let both = stats_of("0,cpu,cpu");
    let engines = both["engines"].as_array().expect("a list");
    assert_eq!((engines.len(), &engines[1]["name"], &engines[1]["threads"]), (2, &"cpu".into(), &2.into()));
    let cells: u64 = engines.iter().filter_map(|engine| engine["cells"].as_u64()).sum();
    assert_eq!(Some(cells), both["cells"].as_u64());
    assert_eq!(both["devices"][0], engines[0]["name"]);
}

/// The summary has one further line per engine if there are several.
#[test]
fn the_summary_has_a_line_for_each_engine() {
    let lines = |device: &str| {
        let run = pairwave(&["allpairs", GENES, "--device", device, "--threads", "4"]).assert().success();
        let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        text.lines().filter(|line| line.contains("while busy")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines("cpu"), [""; 0]);
    let both = lines("cpu,0");
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both[1].starts_with("pairwave:   cpu, 2 threads: "), "{both:?}");
}

/// The error comes before anything is read or computed.
#[test]
fn unwritable_file_is_reported_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a directory");
    let name = |name: &str| folder.path().join(name).to_str().expect("a name").to_owned();
    let (missing, genes) = (name("none/stats.json"), name("genes.fa"));
    std::fs::copy(GENES, &genes).expect("a copy");
    let refused = |arguments: &[&str]| {
        let run = pairwave(&[&["allpairs"], arguments].concat()).assert().code(2).stdout("");
        String::from_utf8(run.get_output().stderr.clone()).expect("text")
    };
    assert!(refused(&["no such file.fa", "--stats", &missing]).contains("none/stats.json: "));
    assert!(refused(&[&genes, "--stats", &genes]).contains("would overwrite an input file"));
    assert!(refused(&[&genes, "--stats", &name("x"), "-o", &name("x")]).contains("would overwrite the output file"));
    assert!(refused(&[&genes, "--stats", "-"]).contains("standard output"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a directory").count(), 1);
}

/// 'all' includes the CPU, so both may be named.
#[test]
fn all_and_the_cpu() {
    let all = pairwave(&["allpairs", GENES, "--quiet", "--device", "all"]).assert().success();
    let both = pairwave(&["allpairs", GENES, "--quiet", "--device", "all,cpu"]).assert().success();
    assert_eq!(all.get_output().stdout, both.get_output().stdout);
}
