//! Pages about devices and about the program itself, the documentation, and the examples.

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
fn devices_are_described_as_json() {
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
    let mut actual: Vec<&str> = devices[0].as_object().expect("an object").keys().map(String::as_str).collect();
    actual.sort_unstable();
    let mut expected = keys.to_vec();
    expected.sort_unstable();
    assert_eq!(actual, expected);
    assert_eq!((devices[0]["index"].as_u64(), devices[0]["name"].as_str()), (Some(0), Some(first.name.as_str())));
    assert!(devices[0]["workgroup_memory_bytes"].as_u64().expect("a number") > 0);
    assert!(devices[0]["features"].is_array() && devices[0]["subgroup_sizes"][0].as_u64().is_some());
    assert_eq!(devices.last().expect("the last")["device"], "cpu");
}

#[test]
fn cpus_pass_their_self_test() {
    let text = output(&["devices", "--self-test", "--device", "cpu"]);
    let tests: Vec<&str> = text.lines().filter(|line| line.contains("self-test")).collect();
    let cpu = ["cpu", "cpu, local", "cpu, distances", "cpu, long pairs", "cpu, ancestral states"];
    assert_eq!(tests.len(), cpu.len(), "{text}");
    assert!(tests.iter().all(|line| line.contains(": passed, ") && line.ends_with(" pairs")), "{text}");
    for name in cpu {
        assert!(tests.iter().any(|line| line.contains(&format!(" {name}: "))), "{text}");
    }
    let json = output(&["devices", "--self-test", "--device", "cpu", "--json"]);
    let devices: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    for test in devices[0]["self_test"].as_array().expect("a list") {
        let least = if test["kernel"] == "cpu, long pairs" { 15 } else { 1000 };
        assert!(test["failure"].is_null() && test["pairs"].as_u64() > Some(least), "{test}");
    }
}

/// Runs the self-test of the first adapter with these environment variables. Returns the description
/// of the adapter. Fails if a kernel fails.
fn self_test(variables: &[(&str, &str)]) -> serde_json::Value {
    let mut command = pairwave(&["devices", "--self-test", "--device", "0", "--json"]);
    let run = command.envs(variables.iter().copied()).assert().success().stderr("");
    let devices: serde_json::Value = serde_json::from_slice(&run.get_output().stdout).expect("it is JSON");
    let tests = devices[0]["self_test"].as_array().expect("a list");
    assert!(tests.iter().all(|test| test["failure"].is_null()), "{tests:?}");
    // `nw_traceback` is tested together with the kernels whose directions it follows.
    let has = |name: &str| devices[0]["features"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let named = [(wgpu::Features::SUBGROUP, "subgroups"), (wgpu::Features::SHADER_F16, "f16")];
    for kernel in KERNELS.iter().filter(|kernel| kernel.stem != "nw_traceback") {
        let is_able = named.iter().all(|(feature, name)| !kernel.features.contains(*feature) || has(name));
        assert_eq!(tests.iter().any(|test| test["kernel"] == kernel.stem), is_able, "{}", kernel.stem);
    }
    devices[0].clone()
}

#[cfg(not(target_os = "linux"))]
#[test]
fn every_kernel_passes_the_self_test() {
    needs_adapter();
    self_test(&[]);
}

/// The Khronos validation layer checks the use of Vulkan, all SPIR-V, and hazards between dispatches
/// and copies.
#[cfg(target_os = "linux")]
#[test]
fn self_tests_obey_the_rules_of_vulkan() {
    needs_adapter();
    let folder = folder();
    let log = path(&folder, "log");
    let settings = format!(
        "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
         khronos_validation.report_flags = error,warn,info\n\
         khronos_validation.log_filename = {log}\n\
         khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n\
         khronos_validation.disables = VK_VALIDATION_FEATURE_DISABLE_SHADER_VALIDATION_CACHING_EXT\n"
    );
    file(&folder, "vk_layer_settings.txt", settings);
    self_test(&[
        ("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation"),
        ("VK_LAYER_SETTINGS_PATH", folder.path().to_str().expect("the path is text")),
    ]);
    let log = std::fs::read_to_string(log).expect("the layer writes a log (Debian's package vulkan-validationlayers)");
    assert!(log.contains("Khronos Validation Layer Active"), "{log}");
    assert!(log.contains("VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION"), "{log}");
    assert_eq!(problems(&log), Vec::<&str>::new());
    let wrong = "VUID-vkCmdDispatch-None-02699(ERROR / SPEC): msgNum: 1 - Validation Error";
    assert_eq!(problems(&format!("{log}\n{wrong}\n    Objects: 1\n")), [wrong]);
}

/// Returns the warnings and errors in a log of the validation layer.
#[cfg(target_os = "linux")]
fn problems(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.contains("): msgNum: ") && !line.contains("(INFO / ")).collect()
}

/// SwiftShader, the software Vulkan of Chromium, is a second driver. It has subgroups of four lanes
/// and no half floats.
#[cfg(target_os = "linux")]
#[test]
fn another_driver_passes_the_self_test() {
    let driver = "/usr/lib/chromium/vk_swiftshader_icd.json";
    assert!(std::path::Path::new(driver).exists(), "{driver} is missing (Debian's package chromium)");
    let device = self_test(&[("VK_DRIVER_FILES", driver), ("VK_ICD_FILENAMES", driver)]);
    assert!(device["name"].as_str().expect("a name").contains("SwiftShader"), "{device}");
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

/// Completions of `pairwave allpairs --min-i` in each shell, loaded as users load them.
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
        // zsh shows completions only on a terminal, so only loading and content are checked.
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

/// Creates the files that commands in the documentation name.
#[cfg(unix)]
fn files_of_the_documentation(folder: &TempDir) {
    let root = env!("CARGO_MANIFEST_DIR");
    std::os::unix::fs::symlink(format!("{root}/assets"), path(folder, "assets")).expect("a link can be made");
    file(folder, "broken.fa", ">a\nGATTACA\n>b\nGATT\nAC7A\n");
    let genes = std::fs::read_to_string(format!("{root}/assets/16s/gold12.fasta")).expect("it is there");
    let primers = std::fs::read_to_string(format!("{root}/assets/16s/primers.fasta")).expect("it is there");
    let proteins = ">p1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n>p2\nMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n";
    let gene =
        |index: usize| genes.split('>').nth(index + 1).and_then(|record| record.split_once('\n')).expect("a gene").1;
    let [one, other] = [0, 1].map(|index| format!(">chr1\n{}", gene(index)));
    let tiny = |name: &str| std::fs::read_to_string(format!("{root}/assets/papara/tiny/{name}")).expect("it is there");
    for (name, asset) in
        [("ref.nwk", "ref.nwk"), ("ref.fa", "ref.fasta"), ("ref.phy", "ref.phy"), ("reads.fa", "reads.fasta")]
    {
        file(folder, name, tiny(asset));
    }
    for (name, text) in [("genes.fa", &genes), ("primers.fa", &primers), ("barcodes.fa", &primers)] {
        file(folder, name, text);
    }
    for name in ["proteins.fa", "p.fa", "q.fa"] {
        file(folder, name, proteins);
    }
    file(folder, "new.fa", ">n1\nMKTAYIAKQRQISFVKSHFSRQLEEKLGLIEVQ\n>n2\nAYIAKQRQVSFVKNHFSRQ\n");
    file(folder, "more.fa", ">m1\nMKTVYIAKQ--ISFVKSH\n>m2\nMKTVYIAKQRQISFVRSH\n");
    let compressed = |name: &str, text: &str| {
        file(folder, name, gzipped(text));
    };
    for (name, text) in [("a.fa", &one), ("b.fa", &other), ("genome.fa", &one)] {
        file(folder, name, text);
        compressed(&format!("{name}.gz"), text);
    }
    compressed("genes.fa.gz", &genes);
    compressed("reads.fq.gz", &tiny("reads.fasta"));
    let read: String = gene(0).chars().filter(|letter| letter.is_ascii_alphabetic()).skip(100).take(80).collect();
    file(folder, "reads.fq", format!("@r\n{read}\n+\n{}\n", "I".repeat(read.len())));
    file(folder, "probe.fa", format!(">probe\n{}\n", &read[..20]));
    file(folder, "contigs.fa", format!(">contig1\n{}\n>contig2\n{}\n", &read[..50], &read[20..]));
    file(folder, "candidates.tsv", "r\tchr1\t90\t190\n");
    let length = |index: usize| gene(index).chars().filter(char::is_ascii_alphabetic).count();
    let record = format!("chr1\t{}\t100\t900\t+\tchr1\t{}\t110\t880\t0\t0\t255\n", length(0), length(1));
    file(folder, "mappings.paf", record);
    file(folder, "pairs.tsv", "S000002387\t7000004128191544\n");
}

/// Returns README.md and the pages of docs/, each with its text.
fn documents() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = std::fs::read_dir(root.join("docs")).expect("it is there");
    let mut paths: Vec<PathBuf> = pages.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    paths.insert(0, root.join("README.md"));
    let text = |path: &PathBuf| std::fs::read_to_string(path).expect("it is there");
    paths.into_iter().map(|path| (path.clone(), text(&path))).collect()
}

/// Returns the commands of a document that are shown without output and can run, in blocks and in
/// tables.
#[cfg(unix)]
fn commands_without_output(text: &str) -> impl Iterator<Item = &str> {
    const JOBS: [&str; 18] = [
        "allpairs ",
        "cluster ",
        "derep ",
        "search ",
        "pairs ",
        "edit ",
        "long ",
        "papara ",
        "msa ",
        "tree ",
        "dist ",
        "makedb ",
        "dbinfo ",
        "man ",
        "completions ",
        "plan ",
        "run ",
        "merge ",
    ];
    let in_blocks = text.split("```sh\n").skip(1).flat_map(|block| block.split("```").next().unwrap_or("").lines());
    let in_tables =
        text.lines().filter(|line| line.starts_with("| ")).flat_map(|line| line.split('`').skip(1).step_by(2));
    in_blocks.chain(in_tables).filter(|line| {
        let is_job = line
            .strip_prefix("pairwave ")
            .is_some_and(|rest| JOBS.iter().any(|job| rest.starts_with(job)) && !rest.contains("..."));
        let runs_ranks = cfg!(feature = "mpi") && line.starts_with("mpirun ") && !line.contains("...");
        is_job || runs_ranks || line.starts_with("mkdir ")
    })
}

/// Every command of README.md and docs/ runs, and its output equals the output shown. `pairwave
/// devices` is skipped because its output differs between machines, and `pairwave bench` because it
/// is slow.
#[cfg(unix)]
#[test]
fn documentation_shows_real_output() {
    let folder = folder();
    files_of_the_documentation(&folder);
    let mut directories = program().parent().expect("the program is in a directory").as_os_str().to_owned();
    directories.push(":");
    directories.push(std::env::var_os("PATH").expect("there is a PATH"));
    let run = |command: &str| {
        let mut shell = std::process::Command::new("bash");
        let shell =
            shell.args(["-c", command]).current_dir(&folder).env("PATH", &directories).env("HOME", folder.path());
        // Open MPI refuses more ranks than processors, and the user root, unless these are set.
        for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"] {
            shell.env(name, "1");
        }
        shell.env("PAIRWAVE_CACHE_DIR", NO_CACHE).output().expect("there is a shell")
    };

    let (mut shown, mut run_alone) = (0, 0);
    for (_, text) in documents() {
        for block in text.split("```console\n$ ").skip(1) {
            let block = block.split("```").next().expect("the block ends");
            let (command, expected) = block.split_once('\n').expect("the command is a line");
            if command == "pairwave devices" {
                continue;
            }
            let output = run(command);
            let written = if output.status.success() { output.stdout } else { output.stderr };
            assert_eq!(String::from_utf8_lossy(&written), expected, "{command}");
            shown += 1;
        }
        for command in commands_without_output(&text) {
            // One machine runs all ranks here.
            let output = run(&command.replace("--map-by ppr:1:node ", ""));
            assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
            run_alone += 1;
        }
    }
    assert!(shown >= 11 && run_alone >= 23, "{shown} {run_alone}");
    for written in [
        "placed.fa",
        "edges.nwk",
        "best.tsv.gz",
        "genes.phy",
        "path.svg",
        "hits.sam",
        "found.sam",
        "chr1.paf",
        ".local/share/man/man1/pairwave.1",
    ] {
        assert!(folder.path().join(written).is_file(), "{written}");
    }
    let plain = run("pairwave allpairs genes.fa --min-identity 0.97").stdout;
    let in_blocks = std::fs::read(folder.path().join("genes.tsv")).expect("it was merged");
    assert!(plain.len() > 100 && plain == in_blocks, "{}", String::from_utf8_lossy(&in_blocks));
}

/// Links between the documents lead to existing files.
#[test]
fn links_of_the_documentation_are_valid() {
    let mut links = 0;
    for (document, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            if !link.contains("://") && !file.is_empty() {
                assert!(document.with_file_name(file).exists(), "{}: {link}", document.display());
                links += 1;
            }
        }
    }
    assert!(links > 9, "{links}");
}

/// Runs an example, which is built together with the tests.
fn example(name: &str, arguments: &[&str]) -> Output {
    let directory = program().parent().expect("the program is in a directory").join("examples");
    let path = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    std::process::Command::new(path)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}: cargo test builds the examples, cargo test --test does not"))
}

#[test]
fn examples_of_the_library_run() {
    let two = example("align_two", &[]);
    assert_eq!((two.status.code(), String::from_utf8_lossy(&two.stdout).as_ref()), (Some(0), "-1 1=2X1=1X1=1X\n"));
    let wrong = example("align_two", &["GATTACA", "GAT7ACA"]);
    assert_eq!(wrong.status.code(), Some(1));
    for (name, arguments, expected) in [
        ("custom_matrix", &[][..], "20 2=1X1=1X2=\n"),
        ("pairs_in_batches", &["2000"][..], "2000 pairs, mean identity 0.900\n"),
        ("search_in_memory", &[][..], "query near 150 3.4e-21 0.9394\nquery far 96 5.5e-13 0.6538\n"),
    ] {
        let run = example(name, arguments);
        assert_eq!((run.status.code(), String::from_utf8_lossy(&run.stdout).as_ref()), (Some(0), expected), "{name}");
    }
    let pairs = example("all_pairs", &[]);
    assert_eq!(pairs.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8_lossy(&pairs.stdout), @"
    7000004128191543 7000004128191544 0.9914
    7000004128191543 7000004128191567 0.9829
    7000004128191543 7000004128191572 0.9233
    7000004128191544 7000004128191567 0.9862
    7000004128191544 7000004128191572 0.9267
    7000004128191567 7000004128191572 0.9371
    7000004128490803 7000004128490808 0.9900
    7000004131499276 S000002387 0.9416
    7000004131501016 7000004131501107 0.9432
    ");
}
