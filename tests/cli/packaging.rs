//! The files in `assets/packaging`.

use std::fs;
use std::process::Command as Process;

use super::*;

const PACKAGING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/packaging");

/// Runs a command, which must succeed, and returns its output.
fn run(command: &mut Process) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn archives_contain_program_pages_and_completions() {
    let folder = folder();
    let program = program();
    let archive = path(&folder, "pairwave-x");
    run(Process::new(format!("{PACKAGING}/archive")).arg(&program).arg(&archive));
    run(Process::new("tar").args(["-xzf", &format!("{archive}.tar.gz"), "-C"]).arg(folder.path()));
    let content = |name: &str| fs::read(format!("{archive}/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(content("pairwave") == fs::read(program).expect("it is there"));
    for (name, part) in [
        ("man/man1/pairwave.1", ".TH pairwave"),
        ("man/man1/pairwave-allpairs.1", "EXIT STATUS"),
        ("completions/pairwave.bash", "complete -F _pairwave"),
        ("completions/_pairwave", "#compdef pairwave"),
        ("completions/pairwave.fish", "complete -c pairwave"),
        ("completions/_pairwave.ps1", "Register-ArgumentCompleter"),
        ("LICENSE-MIT", "Permission is hereby granted"),
        ("LICENSE-APACHE", "Apache License"),
        ("README.md", "# pairwave"),
        ("CHANGELOG.md", "# Changelog"),
    ] {
        assert!(String::from_utf8_lossy(&content(name)).contains(part), "{name}");
    }
    assert_eq!(fs::read_dir(&archive).expect("it is there").count(), 7);
}

/// Recipe and workflow are read by PyYAML, which Snakemake needs, too.
#[test]
fn packages_have_the_versions_of_the_manifest() {
    let (version, rust) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_RUST_VERSION"));
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/read_packages.py");
    let files = ["bioconda/meta.yaml", "release.yml"].map(|name| format!("{PACKAGING}/{name}"));
    let text = run(Process::new("python3").arg(reader).args(files));
    let [recipe, workflow]: [serde_json::Value; 2] = serde_json::from_str(&text).expect("two objects");
    assert_eq!((&recipe["package"]["name"], &recipe["package"]["version"]), (&"pairwave".into(), &version.into()));
    let tools = recipe["requirements"]["build"].as_array().expect("a list");
    assert!(tools.contains(&format!("rust >={rust}").into()), "{tools:?}");
    for license in recipe["about"]["license_file"].as_array().expect("a list") {
        let name = license.as_str().expect("a name");
        let is_written_by_build = name == "THIRDPARTY.yml";
        assert!(is_written_by_build || Path::new(env!("CARGO_MANIFEST_DIR")).join(name).is_file(), "{name}");
    }
    assert_eq!(workflow["env"]["RUST_VERSION"], rust);
    let systems = workflow["jobs"]["build"]["strategy"]["matrix"]["include"].as_array().expect("a list");
    let targets: Vec<&str> = systems.iter().filter_map(|system| system["target"].as_str()).collect();
    let expected =
        ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];
    assert_eq!(targets, expected);
    let image = fs::read_to_string(format!("{PACKAGING}/Containerfile")).expect("it is there");
    assert!(image.contains(&format!("\nFROM docker.io/library/rust:{rust}-slim-bookworm AS build\n")), "{image}");
    // Cargo needs the manifests of all members.
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("it is there");
    let members = manifest.split_once("members = [").and_then(|(_, rest)| rest.split_once(']')).expect("a list").0;
    for member in members.split(',') {
        let folder = member.trim().trim_matches('"').split('/').next().unwrap_or_default();
        assert!(image.contains(&format!("\nCOPY {folder} {folder}\n")), "{folder}");
    }
    for script in ["archive", "bioconda/build.sh"] {
        run(Process::new("bash").args(["-n", &format!("{PACKAGING}/{script}")]));
    }
}
