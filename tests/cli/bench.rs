//! `pairwave bench` at its smallest sizes: its tables, columns and rows. The only numbers checked
//! are counts, which do not depend on time.

use super::*;

/// Parses rows of CSV into columns by name.
fn rows(text: &str) -> Vec<std::collections::HashMap<String, String>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().map(|row| row.expect("a row")).collect()
}

fn bench(arguments: &[&str]) -> String {
    needs_adapter();
    let run = pairwave(&["bench", "--quick", "--quiet"]).args(arguments).assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).expect("text")
}

/// Returns a table without its numbers.
fn without_numbers(text: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let line = |line: &str| {
        let words = line.split_whitespace().map(|word| if is_number(word) { "#" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn every_kernel_is_measured_at_every_size() {
    let text = bench(&["kernels", "--device", "0", "--lengths", "9,5", "--counts", "3,100", "--format", "csv"]);
    let rows = rows(&text);
    let of = |family| pairwave::gpu::kernels::selectable(family).count();
    let contenders = of(pairwave::gpu::kernels::Family::Pairs) + of(pairwave::gpu::kernels::Family::Local) + 1;
    assert_eq!(rows.len(), contenders * 2 * 2 * 2 * 2, "{text}");
    let mut seen = std::collections::HashSet::new();
    for row in &rows {
        let index = ["work", "gaps", "kernel", "length_symbols", "pairs"].map(|key| row[key].clone());
        assert!(seen.insert(index), "{row:?}");
        assert_eq!((row["experiment"].as_str(), row["status"].is_empty()), ("kernels", false));
        let is_measured = row["status"] == "measured";
        assert!(is_measured || !["cpu", "nw_slice"].contains(&row["kernel"].as_str()), "{row:?}");
        for key in ["gcups", "pairs_per_second"] {
            assert_eq!(row[key].parse::<f64>().is_ok_and(|number| number > 0.0), is_measured, "{row:?}");
        }
    }
    assert!(text.starts_with("# pairwave ") && text.contains("seed 24301"), "{text}");
}

#[test]
fn every_shape_of_a_tile_is_measured() {
    let text = bench(&["tiles", "--device", "0", "--gaps", "affine", "--lengths", "9,30", "--format", "csv"]);
    let rows = rows(&text);
    let kernels = pairwave::gpu::kernels::selectable(pairwave::gpu::kernels::Family::Local).count();
    assert_eq!(rows.len(), kernels * 2 * 2, "{text}");
    for row in &rows {
        assert_eq!((row["experiment"].as_str(), row["pairs"].as_str()), ("tiles", "64"), "{row:?}");
        let lacks = !support::adapter().features.contains(wgpu::Features::SHADER_F16);
        assert!(row["status"] == "measured" || (lacks && row["kernel"].starts_with("sw_tile_half")), "{row:?}");
        assert!(row["status"] != "measured" || row["pairs_per_second"].parse::<f64>().is_ok_and(|rate| rate > 0.0));
    }
}

#[test]
fn slow_cases_are_marked_as_skipped() {
    // The CPU cannot compute ten billion cells in a millisecond.
    let arguments = ["kernels", "--device", "cpu", "--work", "scores", "--gaps", "linear", "--seconds", "0.001"];
    let text = bench(&[&arguments[..], &["--lengths", "100", "--counts", "8,1000000"]].concat());
    let row = |pairs: &str| text.lines().find(|line| line.contains(&format!(" {pairs}  cpu"))).expect("a row");
    assert!(!row("8").contains("skipped"), "{text}");
    assert!(row("1000000").contains("skipped"), "{text}");
    assert!(text.contains("* skipped: expected to take more than 0.001 s"), "{text}");
}

#[test]
fn remaining_experiments_write_their_tables() {
    let folder = folder();
    let [tables, picture] = ["bench.csv", "bench.svg"].map(|name| path(&folder, name));
    let experiments = ["slices", "filter", "buffering", "endtoend", "--gaps", "linear", "--kernel", "nw_slice,cpu"];
    let files = ["--device", "0,cpu", "--format", "csv", "-o", &tables, "--plot", &picture];
    assert_eq!(bench(&[&experiments[..], &files].concat()), "");
    let text = std::fs::read_to_string(&tables).expect("it is there");
    let all = rows(&text);
    let of = |name: &str| all.iter().filter(|row| row["experiment"] == name).collect::<Vec<_>>();
    assert!(of("slices").iter().any(|row| row["status"] == "measured"), "{text}");
    // Table 5: every filter keeps the same pairs.
    let kept: Vec<&str> = of("filter").iter().map(|row| row["kept"].as_str()).filter(|kept| !kept.is_empty()).collect();
    assert_eq!(kept.len(), 5, "{text}");
    assert!(kept.iter().all(|other| *other == kept[0]) && kept[0].parse::<u32>().is_ok_and(|kept| kept > 0), "{text}");
    let unsuited = of("filter").iter().filter(|row| row["status"] == "unsuited").count();
    assert_eq!(unsuited, 1, "nw_diagonal was skipped: {text}");
    assert_eq!(of("buffering").len(), 2 * 4, "{text}");
    assert_eq!(of("endtoend").len(), 6, "the CPU has a table of its own: {text}");
    let svg = std::fs::read_to_string(&picture).expect("it is there");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    for words in ["in kernels (GCUPS)", "slice (columns)", "in all (pairs/s)", "double"] {
        assert!(svg.contains(words), "{words}");
    }
    assert_eq!(entries(folder.path()), ["bench.csv", "bench.svg"]);
}

#[test]
fn distances_by_every_kernel_and_lane() {
    let text = bench(&["edit", "--device", "0,cpu", "--lengths", "150,40", "--format", "csv"]);
    let rows = rows(&text);
    assert!(rows.iter().all(|row| row["experiment"] == "edit"), "{text}");
    for (mode, length) in [("infix", "40"), ("infix", "150"), ("global", "40"), ("global", "150")] {
        let selected: Vec<_> =
            rows.iter().filter(|row| row["mode"] == mode && row["length_symbols"] == length).collect();
        let of = |kernel: &str| selected.iter().copied().filter(|row| row["kernel"] == kernel).collect::<Vec<_>>();
        let kernels: &[&str] = match mode {
            "infix" => &["myers_thread", "myers_subgroup", "myers_workgroup", "myers_scan", "myers_scan_workgroup"],
            _ => &["myers_band"],
        };
        // The CPU has a separate table.
        assert_eq!((of("cpu").len(), of("end to end").len()), (1, 1), "{text}");
        let lanes: Vec<_> = kernels.iter().flat_map(|kernel| of(kernel)).collect();
        assert_eq!(selected.len(), lanes.len() + 2, "{text}");
        for row in &selected {
            let number = |key: &str| row[key].parse::<f64>().ok().filter(|number| *number > 0.0);
            // Only subgroups may be missing.
            assert!(
                row["status"] == "measured" || ["myers_subgroup", "myers_scan"].contains(&&*row["kernel"]),
                "{row:?}"
            );
            assert_eq!(number("tcups").is_some(), row["status"] == "measured", "{row:?}");
            let is_kernel = row["kernel"].starts_with("myers");
            assert_eq!((number("lanes").is_some(), number("words").is_some()), (is_kernel, is_kernel), "{row:?}");
            if is_kernel && mode == "infix" {
                let words = length.parse::<u32>().expect("a number").div_ceil(32);
                assert!(number("lanes").zip(number("words")).is_some_and(|(lanes, of)| lanes * of >= words.into()));
            }
            assert_eq!(row["pairs"], if row["kernel"] == "end to end" { "360" } else { "60" }, "{row:?}");
        }
        assert_eq!(selected.iter().filter(|row| row["best"] == "yes").count(), 1, "{text}");
        let of_workgroups = of("myers_workgroup").len();
        assert_eq!(of_workgroups, [0, 1, 3][usize::from(mode == "infix") * (1 + usize::from(length == "150"))]);
    }
    let within: Vec<_> = rows.iter().filter(|row| row["mode"] == "within").collect();
    assert_eq!(within.iter().filter(|row| row["kernel"] == "end to end" && row["status"] == "measured").count(), 2);
    assert_eq!(within.len(), 4, "no kernel by itself: {text}");
    let text = bench(&["edit", "--device", "0", "--lengths", "40", "--kernel", "myers_band", "--format", "csv"]);
    let kernels: Vec<String> = self::rows(&text).into_iter().map(|row| row["kernel"].clone()).collect();
    assert_eq!(kernels, ["myers_band", "end to end"]);
}

#[test]
fn distances_as_text_and_as_a_picture() {
    let folder = folder();
    let picture = path(&folder, "edit.svg");
    let lengths = ["--lengths", "10000,40", "--seconds", "0.001"];
    let text = bench(&[&["edit", "--device", "cpu", "--plot", &picture][..], &lengths].concat());
    let shown = without_numbers(&text).replace(&cpu_line(&text), "[device]");
    insta::assert_snapshot!(shown.replace(env!("CARGO_PKG_VERSION"), "[version]"), @r"
    pairwave [version] bench edit --quick; random sequences, seed 24301; about # s a row

    edit: distances of reads to regions of a genome
    [device]
    mode length kernel lanes words pairs in kernels by the clock by the clock best runs
    symbols a pair a lane TCUPS TCUPS pairs/s
    infix # cpu # # # # #
    infix # cpu skipped skipped skipped skipped skipped
    within # cpu # # # # #
    within # cpu skipped skipped skipped skipped skipped
    global # cpu # # # # #
    global # cpu skipped skipped skipped skipped skipped
    * TCUPS: 10^12 cells of whole matrices per second; fastest run
    * reads of a genome of # random bases, one base in # changed; # regions per read
    * infix: regions of # times the length; within: also limits the distance to a tenth of the length
    * global: regions of the same length; the distance is limited to a tenth of it
    * cpu: the time in kernels is the mean of its threads
    * skipped: expected to take more than # s, estimated from shorter reads
    ");
    let svg = std::fs::read_to_string(&picture).expect("it is there");
    assert!(svg.contains("Distances, infix, in kernels") && svg.contains("by the clock (TCUPS)"), "{svg}");
}

#[test]
fn long_pairs_by_every_strip_and_method() {
    let folder = folder();
    let picture = path(&folder, "long.svg");
    let options = ["--gaps", "affine", "--format", "csv", "--plot", &picture];
    let text = bench(&[&["long", "--device", "0,cpu", "--lengths", "300,90"][..], &options].concat());
    let rows = rows(&text);
    let of = |engine: &str, part: &str| {
        let selected = rows.iter().filter(|row| row["engine"] == engine && row["part"] == part);
        selected.cloned().collect::<Vec<_>>()
    };
    for engine in ["sw_striped_score", "cpu"] {
        let is_gpu = engine != "cpu";
        assert_eq!(of(engine, "strips").len(), if is_gpu { 2 * 2 } else { 0 }, "{text}");
        assert_eq!(of(engine, "scores").len(), 2, "{text}");
        let alignments = of(engine, "alignments");
        let methods: Vec<&str> = alignments.iter().map(|row| row["method"].as_str()).collect();
        assert_eq!(methods, [["score", "striped", "chunked1", "chunked2"]; 2].concat());
        assert!(alignments.iter().all(|row| row["method"] == "score" || !row["times_score"].is_empty()), "{text}");
        let pruning = of(engine, "pruning");
        assert_eq!(pruning.len(), 2 * 2 * 2, "{text}");
        assert!(pruning.iter().all(|row| row["pruned_percent"].is_empty() == (row["method"] == "score")), "{text}");
    }
    for row in &rows {
        // Strips on a software adapter do not wait for each other.
        assert!(row["status"] == "measured" || row["schedule"] == "persistent", "{row:?}");
        let number = row["gcups"].parse::<f64>().is_ok_and(|number| number > 0.0);
        assert_eq!(number, row["status"] == "measured", "{row:?}");
    }
    let svg = std::fs::read_to_string(&picture).expect("it is there");
    assert!(svg.contains("Scores of long pairs: affine gaps"), "{svg}");
}

#[test]
fn long_pairs_on_the_cpu() {
    let text = bench(&["long", "--device", "cpu", "--gaps", "linear", "--threads", "1"]);
    let shown = without_numbers(&text).replace(&cpu_line(&text), "[device]");
    assert_eq!(shown.matches("linear cpu # #").count(), 1 + 4 + 4, "{text}");
    assert!(!shown.contains("sw_striped_score") && shown.contains("* in all: from sequences"), "{text}");
    let text = bench(&["long", "--kernel", "sw_striped_score", "--device", "cpu", "--lengths", "9", "--format", "csv"]);
    assert_eq!(rows(&text).len(), 0, "{text}");
}

#[test]
fn sequences_of_a_file() {
    let text = bench(&["filter", "--device", "cpu", "--seqs", GENES, "--kernel", "cpu"]);
    let shown = without_numbers(&text).replace(&cpu_line(&text), "[device]");
    insta::assert_snapshot!(shown.replace(env!("CARGO_PKG_VERSION"), "[version]"), @r"
    pairwave [version] bench filter --quick; # sequences from a file, seed 24301; about # s a row

    filter: pairs of at least 97% identity, sequences of the file
    [device]
    method sequences pairs aligned kept scores in all in all times as fast runs
    pairs pairs s s pairs/s
    CPU alone # # # # # # # # #
    CPU as filter # # # # # # # # #
    * CPU alone: every pair is aligned, and identities are compared afterwards
    * every method kept the same pairs; scores: time in kernels (CPU engine: in its threads)
    * from sequences in memory to alignments in order, with an open device and a compiled kernel; fastest run
    ");
}

/// Compares rates with saved ones: rates that were altered to be far lower or higher are reported.
#[test]
fn compare_reports_rates_that_fell() {
    let folder = folder();
    let [saved, altered, again] = ["saved.rates", "altered.rates", "again.rates"].map(|name| path(&folder, name));
    let edit = ["edit", "--device", "cpu", "--lengths", "40"];
    bench(&[&edit[..], &["--save", &saved]].concat());
    let text = std::fs::read_to_string(&saved).expect("it is there");
    let keys: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('\t')?.0)).collect();
    let expected = ["infix", "within", "global"].map(|mode| {
        ["kernel_tcups", "tcups"].map(|rate| format!("edit mode={mode} length_symbols=40 kernel=cpu {rate}"))
    });
    assert_eq!(keys, expected.concat());
    assert!(text.starts_with("pairwave bench rates 1\n# pairwave "), "{text}");

    // A factor of a hundred million puts a rate below or above every measured one.
    let times = |factor: f64| {
        let line = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
            [key, value, unit, device] => {
                format!("{key}\t{}\t{unit}\t{device}\n", value.parse::<f64>().expect("a number") * factor)
            }
            _ => format!("{line}\n"),
        };
        text.lines().map(line).collect::<String>()
    };
    std::fs::write(&altered, times(1e-8)).expect("written");
    let said = |run: assert_cmd::assert::Assert| {
        [&run.get_output().stdout, &run.get_output().stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let arguments = [&["bench", "--quick"][..], &edit, &["--compare", &altered, "--format", "csv"]].concat();
    let [out, stderr] = said(pairwave(&arguments).assert().success());
    assert!(stderr.contains("none of 6 rates fell by more than 10%"), "{stderr}");
    let compared: Vec<_> = rows(&out).into_iter().filter(|row| row["experiment"] == "compare").collect();
    assert_eq!(compared.iter().map(|row| row["row"].as_str()).collect::<Vec<_>>(), keys);
    assert!(compared.iter().all(|row| row["mark"] == "faster"), "{out}");

    std::fs::write(&altered, times(1e8).replace("CPU, ", "Abacus, ")).expect("written");
    let arguments = [&["bench", "--quick"][..], &edit, &["--compare", &altered, "--save", &again]].concat();
    let [out, stderr] = said(pairwave(&arguments).assert().code(1));
    assert!(stderr.contains("error: ") && stderr.contains("6 rates of 6 fell by more than 10%"), "{stderr}");
    assert!(stderr.contains("come from another device, Abacus, "), "{stderr}");
    assert_eq!((out.matches("SLOWER").count(), out.contains("another device's rates: Abacus")), (6, true), "{out}");
    assert!(std::fs::read_to_string(&again).is_ok_and(|text| text.lines().count() == 2 + 6));

    // Rejected before anything is measured or written.
    std::fs::write(&altered, "pairwave bench rates 1\na\tb\n").expect("written");
    let none = path(&folder, "none");
    let arguments = [&["bench"][..], &edit, &["--compare", &altered, "-o", &none]].concat();
    let [_, stderr] = said(pairwave(&arguments).assert().code(2));
    assert!(stderr.contains("altered.rates, line 2: 2 fields, but key, value, unit and device"), "{stderr}");
    assert_eq!(entries(folder.path()), ["again.rates", "altered.rates", "saved.rates"]);
}

/// Returns the line that names the CPU.
fn cpu_line(text: &str) -> String {
    without_numbers(text.lines().find(|line| line.starts_with("CPU, ")).expect("such a line")).trim_end().to_owned()
}

#[test]
fn a_software_adapter_gets_small_sizes() {
    let actual = support::adapter();
    if !actual.is_software() {
        return;
    }
    let arguments = ["bench", "filter", "--device", "0", "--kernel", "nw_slice", "--seconds", "0.01"];
    let run = pairwave(&arguments).assert().success();
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(stderr.contains("a software adapter: sizes are small"), "{stderr}");
    assert!(stderr.contains("filter: nw_slice as filter"), "{stderr}");
}

/// Runs tables 1 to 3 of Alachiotis, Berger and Stamatakis (2013).
#[test]
fn reads_by_sites_and_by_number() {
    let lengths = ["--lengths", "70,20", "--counts", "9", "--format", "csv"];
    let text = bench(&[&["papara", "--device", "0"][..], &lengths].concat());
    let rows = rows(&text);
    let has_halves = support::adapter().features.contains(wgpu::Features::SHADER_F16);
    let actual: Vec<String> =
        rows.iter().map(|row| ["by", "sites", "reads", "kernel"].map(|key| row[key].as_str()).join(" ")).collect();
    let expected: Vec<String> = ["sites 20 20", "sites 70 20", "reads 100 9"]
        .iter()
        .flat_map(|case| {
            ["papara_block", "papara_block_half", "cpu", "together"].map(|kernel| format!("{case} {kernel}"))
        })
        .collect();
    assert_eq!(actual, expected);
    for row in &rows {
        let number = |key: &str| row[key].parse::<f64>().ok().filter(|number| *number > 0.0);
        let is_measured = has_halves || row["kernel"] != "papara_block_half";
        assert_eq!(row["status"], if is_measured { "measured" } else { "unsuited" }, "{row:?}");
        assert_eq!((number("gcups").is_some(), number("runs").is_some()), (is_measured, is_measured), "{row:?}");
        let is_together = row["kernel"] == "together";
        assert_eq!(number("of_sum").is_some(), is_together, "{row:?}");
        // The cells of 24 vectors and of reads of 90 to 110 symbols.
        let [sites, reads] = ["sites", "reads"].map(|key| number(key).expect("a number"));
        let symbols = number("cells").expect("a number") / (sites * reads * 24.0);
        assert!((90.0..=110.0).contains(&symbols), "{row:?}");
    }
    assert_eq!(rows.iter().filter(|row| row["best"] == "yes").count(), 3, "{text}");
    // The CPU alone has no shared work, and sizes that would take too long are skipped.
    let text = bench(&["papara", "--device", "cpu", "--lengths", "1000000", "--counts", "1", "--seconds", "0.0001"]);
    let row = |sites: &str| text.lines().find(|line| line.contains(&format!(" {sites} "))).expect("a row");
    assert!(row("1000000").contains("skipped") && !row("100").contains("skipped"), "{text}");
    assert!(text.contains("* skipped: expected to take more than 0.0001 s") && !text.contains("together"), "{text}");
}

#[test]
fn families_by_mode_and_engine() {
    // A slow machine skips no row within this time, and two runs per row suffice with `--quick`.
    let sizes = ["--lengths", "30", "--counts", "5,2", "--seconds", "1e9", "--format", "csv"];
    let text = bench(&[&["msa", "--device", "0"][..], &sizes].concat());
    let rows = rows(&text);
    let keys = ["mode", "engine", "residues", "sequences"];
    let actual: Vec<String> = rows.iter().map(|row| keys.map(|key| row[key].as_str()).join(" ")).collect();
    let expected = [["clustalw gpu", "clustalw cpu"], ["accurate gpu", "accurate cpu"]];
    let expected = expected.as_flattened().iter().flat_map(|who| [format!("{who} 30 2"), format!("{who} 30 5")]);
    assert_eq!(actual, expected.collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(row["status"], "measured", "{row:?}");
        let number = |key: &str| row[key].parse::<f64>().unwrap_or_else(|_| panic!("{key}: {row:?}"));
        for key in ["cells", "columns", "runs"] {
            assert!(number(key) > 0.0, "{key}: {row:?}");
        }
        for key in ["distances_seconds", "gcups", "alignment_seconds", "seconds"] {
            assert!(number(key) >= 0.0, "{key}: {row:?}");
        }
        assert_eq!(row["kernel_seconds"].is_empty(), row["engine"] == "cpu", "{row:?}");
        assert_eq!(row["tree_seconds"].is_empty(), row["mode"] == "accurate", "{row:?}");
    }
    // Cells and columns are equal on all devices.
    let of = |row: usize| ["cells", "columns"].map(|key| rows[row][key].clone());
    for (gpu, cpu) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
        assert_eq!(of(gpu), of(cpu), "{text}");
    }
    let text = bench(&["msa", "--device", "cpu", "--lengths", "60000", "--counts", "50", "--seconds", "0.001"]);
    assert!(text.contains("skipped") && text.contains("* skipped: expected to take more than 0.001 s"), "{text}");
}

#[test]
fn wrong_options_are_refused_before_anything_is_measured() {
    let folder = folder();
    let one = file(&folder, "one.fa", ">a\nGATTACA\n");
    let missing = path(&folder, "no such directory/bench.txt");
    for (arguments, words) in [
        (&["sleep"][..], "'sleep'"),
        (&["kernels", "--lengths", "0"], "--lengths 0"),
        (&["kernels", "--kernel", "nw_lines"], "no kernel is called 'nw_lines'"),
        (&["edit", "--kernel", "myers_lines"], "myers_band"),
        (&["slices", "--lengths", "9"], "--lengths applies only to kernels, tiles, edit, long, papara and msa"),
        (&["long", "--counts", "9"], "--counts applies only to kernels, papara, msa and cluster"),
        (&["papara", "--work", "scores"], "--work applies only to kernels"),
        (&["edit", "--seqs", &one], "--seqs applies only to filter and endtoend"),
        (&["filter", "--seqs", &one], "--seqs: a pair needs two"),
        (&["kernels", "-o", &missing], "bench.txt"),
        (&["kernels", "--plot", &missing], "bench.txt"),
        (&["kernels", "--device", "no such device"], "no device is called"),
    ] {
        let run = pairwave(&["bench"]).args(arguments).assert().code(2).stdout("");
        let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(stderr.starts_with("pairwave: error: ") && stderr.contains(words), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
    }
    assert_eq!(entries(folder.path()), ["one.fa"]);
}
