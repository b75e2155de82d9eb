//! What the program says about devices and about itself, and the examples.

use std::process::Output;

use pairwave::gpu::kernels::KERNELS;

use super::*;

fn output(arguments: &[&str]) -> String {
    let run = pairwave(arguments).assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

#[test]
fn devices_are_listed() {
    let first = support::adapter().description;
    let text = output(&["devices"]);
    assert!(text.starts_with(&format!("0: {}\n  vendor            {}\n", first.name, first.vendor)), "{text}");
    let line = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).expect("such a line");
    for (name, value) in [("kind", first.kind), ("backend", first.backend.as_str()), ("driver", first.driver.as_str())]
    {
        assert!(line(name).ends_with(value), "{text}");
    }
    if let Some(bytes) = first.memory_bytes {
        assert!(line("memory").contains(&format!(" {} MiB", bytes >> 20)), "{text}");
    }
    for name in ["subgroup size", "workgroup memory", "largest buffer", "largest binding", "features"] {
        line(name);
    }
    assert!(text.lines().last().expect("a line").starts_with("cpu: "), "{text}");
    assert!(output(&["devices", "--device", "cpu"]).starts_with("cpu: "));
}

#[test]
fn devices_as_json() {
    let first = support::adapter().description;
    let text = output(&["devices", "--json"]);
    let devices: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let devices = devices.as_array().expect("a list");
    let keys = [
        "index",
        "name",
        "vendor",
        "backend",
        "kind",
        "driver",
        "pci_bus_id",
        "memory_bytes",
        "subgroup_sizes",
        "workgroup_memory_bytes",
        "max_buffer_bytes",
        "max_binding_bytes",
        "max_workgroup_invocations",
        "features",
        "device",
    ];
    let mut found: Vec<&str> = devices[0].as_object().expect("an object").keys().map(String::as_str).collect();
    found.sort_unstable();
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!((devices[0]["index"].as_u64(), devices[0]["name"].as_str()), (Some(0), Some(first.name.as_str())));
    assert!(devices[0]["workgroup_memory_bytes"].as_u64().expect("a number") > 0);
    assert!(devices[0]["features"].is_array() && devices[0]["subgroup_sizes"][0].as_u64().is_some());
    assert_eq!(devices.last().expect("the last")["device"], "cpu");
}

#[test]
fn devices_test_themselves() {
    needs_adapter();
    let text = output(&["devices", "--self-test", "--device", "0,cpu"]);
    let tests: Vec<&str> = text.lines().filter(|line| line.contains("self-test")).collect();
    // The walk is a part of what the kernels before it are compared by.
    let stems = || KERNELS.iter().map(|kernel| kernel.stem).filter(|stem| *stem != "nw_walk");
    let cpu = ["cpu", "cpu, local", "cpu, distances", "cpu, long pairs"];
    assert_eq!(tests.len(), stems().count() + cpu.len(), "{text}");
    assert!(tests.iter().all(|line| line.contains(": passed, ") && line.ends_with(" pairs")), "{text}");
    for stem in stems().chain(cpu) {
        assert!(tests.iter().any(|line| line.contains(&format!(" {stem}: "))), "{text}");
    }
    let json = output(&["devices", "--self-test", "--device", "cpu", "--json"]);
    let devices: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    for test in devices[0]["self_test"].as_array().expect("a list") {
        let least = if test["kernel"] == "cpu, long pairs" { 15 } else { 1000 };
        assert!(test["failure"].is_null() && test["pairs"].as_u64() > Some(least), "{test}");
    }
}

/// Software Vulkan has subgroups as wide as its vectors, which can be chosen. (Hardware adapters do not mind.)
#[test]
fn devices_test_themselves_with_other_subgroups() {
    needs_adapter();
    for bits in ["128", "512"] {
        let mut command = pairwave(&["devices", "--self-test", "--device", "0", "--json"]);
        let run = command.env("LP_NATIVE_VECTOR_WIDTH", bits).assert().success().stderr("");
        let devices: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("it is JSON");
        if support::adapter().is_software() {
            let lanes = bits.parse::<u64>().expect("a number") / 32;
            assert_eq!(devices[0]["subgroup_sizes"][0].as_u64(), Some(lanes));
        }
        let tests = devices[0]["self_test"].as_array().expect("a list");
        assert!(tests.len() > 1 && tests.iter().all(|test| test["failure"].is_null()), "{tests:?}");
    }
}

#[test]
fn the_program_explains_itself() {
    assert_eq!(output(&["--version"]), format!("pairwave {}\n", env!("CARGO_PKG_VERSION")));
    assert!(output(&["--citation"]).contains("Needleman SB, Wunsch CD (1970)"));
    assert!(output(&["man"]).contains(".TH pairwave"));
    let folder = folder();
    let pages = path(&folder, "share/man/man1");
    output(&["man", &pages]);
    let page = std::fs::read_to_string(format!("{pages}/pairwave-allpairs.1")).expect("the page of a command");
    for section in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT"] {
        assert!(page.contains(&format!("\n.SH \"{section}\"\n.nf\n")), "{section}");
    }
    assert!(page.contains("\n    pairwave allpairs genes.fa \\-\\-min\\-identity 0.97"), "{page}");
    assert!(output(&["completions", "bash"]).contains("complete -F _pairwave"));
    assert!(output(&["allpairs", "--fields", "help"]).starts_with("FIELD "));
    assert!(output(&["long", "--fields", "help"]).contains("\nstrand "));
    assert!(output(&["allpairs", "--help"]).contains("OPEN + k * EXTEND"));
}

/// What a shell offers after `pairwave allpairs --min-i`, as its users load completions.
#[cfg(unix)]
#[test]
fn shells_complete_options() {
    let folder = folder();
    for (shell, script) in [
        (
            "bash",
            "source FILE; COMP_WORDS=(pairwave allpairs --min-i); COMP_CWORD=2; _pairwave pairwave --min-i allpairs; echo ${COMPREPLY[@]}",
        ),
        ("fish", "source FILE; complete -C 'pairwave allpairs --min-i'"),
        // What zsh offers is seen on a terminal only: that it loads, and what it holds.
        (
            "zsh",
            "autoload -Uz compinit; compinit -u -D; source FILE; [ $_comps[pairwave] = _pairwave ] && functions _pairwave",
        ),
    ] {
        let completions = file(&folder, &format!("completions.{shell}"), output(&["completions", shell]));
        let mut command = std::process::Command::new(shell);
        command.args(["-c", &script.replace("FILE", &completions)]).env("HOME", folder.path());
        let run = command.output().unwrap_or_else(|error| panic!("{shell}: {error}; scripts/test installs it"));
        let offered = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && offered.contains("--min-identity"), "{shell}: {offered} {run:?}");
    }
}

/// What README.md shows of the program's output is what it writes. (`pairwave devices` is left out: every machine has
/// its own.)
#[cfg(unix)]
#[test]
fn the_readme_shows_what_is_written() {
    let folder = folder();
    let root = env!("CARGO_MANIFEST_DIR");
    std::os::unix::fs::symlink(format!("{root}/assets"), path(&folder, "assets")).expect("a link can be made");
    let proteins = ">p1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n>p2\nMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n";
    file(&folder, "proteins.fa", proteins);
    file(&folder, "genes.fa", ">a\nGATTACA\n>b\nGATT\nAC7A\n");
    let mut directories = program().parent().expect("the program is in a directory").as_os_str().to_owned();
    directories.push(":");
    directories.push(std::env::var_os("PATH").expect("there is a PATH"));

    let text = std::fs::read_to_string(format!("{root}/README.md")).expect("it is there");
    let mut seen = 0;
    for block in text.split("```console\n$ ").skip(1) {
        let block = block.split("```").next().expect("the block ends");
        let (command, expected) = block.split_once('\n').expect("the command is a line");
        if command == "pairwave devices" {
            continue;
        }
        let mut shell = std::process::Command::new("sh");
        let run = shell.args(["-c", command]).current_dir(&folder).env("PATH", &directories);
        let output = run.env("PAIRWAVE_CACHE_DIR", "no such directory").output().expect("there is a shell");
        let shown = if output.status.success() { output.stdout } else { output.stderr };
        assert_eq!(String::from_utf8_lossy(&shown), expected, "{command}");
        seen += 1;
    }
    assert_eq!(seen, 9);
    assert_eq!(entries(folder.path()), ["assets", "best.tsv.gz", "genes.fa", "genes.phy", "proteins.fa"]);
}

/// Runs an example. They are built by whoever builds the tests.
fn example(name: &str, arguments: &[&str]) -> Output {
    let directory = program().parent().expect("the program is in a directory").join("examples");
    let path = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    std::process::Command::new(path)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}: cargo test builds the examples, cargo test --test does not"))
}

#[test]
fn examples() {
    let two = example("align_two", &[]);
    assert_eq!((two.status.code(), String::from_utf8_lossy(&two.stdout).as_ref()), (Some(0), "-1 1=2X1=1X1=1X\n"));
    let wrong = example("align_two", &["GATTACA", "GAT7ACA"]);
    assert_eq!(wrong.status.code(), Some(1));
    let pairs = example("all_pairs", &[]);
    assert_eq!(pairs.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8_lossy(&pairs.stdout), @"
    7000004128191543 7000004128191544 0.9914
    7000004128191543 7000004128191567 0.9835
    7000004128191543 7000004128191572 0.9302
    7000004128191544 7000004128191567 0.9869
    7000004128191544 7000004128191572 0.9335
    7000004128191567 7000004128191572 0.9398
    7000004128490803 7000004128490808 0.9900
    7000004131499276 S000002387 0.9322
    7000004131501016 7000004131501107 0.9458
    ");
}
