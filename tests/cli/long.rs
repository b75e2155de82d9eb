//! `pairwave long`: equal output on all devices, and rejected input.

mod circular;
mod records;

use insta::assert_snapshot;

use super::*;

/// A gene, and a relative of one of its parts in other surroundings: 2 mismatches, 3 deletions and
/// 2 insertions.
const QUERY: &str = ">gene\nTTGACCATGGCTAAGCTTACGGATCCATTGCGTACGATTAGCCAGTNCATGCAAGT\n";
const TARGET: &str = ">relative x\nCCCCCATGGCTAAGCTAACGGATTGCGTACGATTAGGGCCAGTACATGCTTTTTTTTTT\n";
/// The reverse complement of symbols 5 to 46 of the gene, between other letters.
const TURNED: &str = ">turned\nAAAAAACTGGCTAATCGTACGCAATGGATCCGTAAGCTTAGCCATGGAAAA\n";
const SCHEME: &[&str] = &["--match", "2", "--mismatch", "-3", "--gap-open", "3", "--gap-extend", "1"];
const SARS: [&str; 2] = ["assets/genomes/ON811099.fa.xz", "assets/genomes/ON811173.fa.xz"];
const LAMBDA: &str = "assets/genomes/lambda.fa.xz";

/// Returns the standard output of `long`, equal on all devices.
fn long(arguments: &[&str]) -> String {
    equal_output("long", TWO_WAYS, arguments)
}

/// Returns the output of `long` under [`SCHEME`]; SAM without the line that contains the command
/// line, and VCF and delta without the lines that contain paths.
fn scored(arguments: &[&str]) -> String {
    let text = equal_output("long", &TWO_WAYS[..1], &[arguments, SCHEME].concat());
    for (device, threads) in &TWO_WAYS[1..] {
        let again = equal_output("long", &[(*device, *threads)], &[arguments, SCHEME].concat());
        assert_eq!(without_command(&text), without_command(&again), "--device {device}");
    }
    without_command(&text)
}

fn without_command(text: &str) -> String {
    let is_kept =
        |line: &&str| !line.starts_with("@PG\t") && !line.starts_with("##reference=") && !line.starts_with('/');
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_format_has_the_alignment_of_each_mode() {
    let folder = folder();
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let mut text = String::new();
    for mode in ["local", "global", "semi-global"] {
        for format in ["tsv", "jsonl", "paf", "sam", "vcf", "maf", "chain", "delta", "text"] {
            let written = scored(&[&query, &target, "--mode", mode, "--format", format, "--check"]);
            writeln!(text, "{mode} {format}\n{written}").unwrap();
        }
    }
    assert_snapshot!(text);
    assert_snapshot!("narrow_text", scored(&[&query, &target, "--format", "text", "--width", "20"]));
    let rows = ["--fields", "query,strand,score,query_row,target_row"];
    assert_snapshot!("rows", scored(&[&query, &target, rows[0], rows[1]]));
}

/// SAM starts and ends with two aligned symbols, also if all gaps cost the same.
#[test]
fn sam_has_the_records_of_allpairs() {
    let folder = folder();
    let files = [
        (">short\nACGTTTGACC\n", ">long\nGGACGTTTGACC\n"),
        (">long\nGGACGTTTGACCT\n", ">short\nACGTTTGACC\n"),
        // Adjacent gaps of both sequences at an end.
        (">q1\nGCAGAGGACATAAATTTCGATACACT\n>q2\nACGTGTTAAAACATTT\n", ">t\nGCCCGCCGACCTCGATGCACCT\n"),
        // No two symbols are aligned.
        (">a\nAAAA\n", ">t\nTTTT\n"),
    ];
    let schemes = [
        "--mode global --gap-open 2 --gap-extend 2 --strand plus",
        "--mode semi-global --match 5 --mismatch -4 --gap-open 4 --gap-extend 1 --strand both",
        "--mode global --match 5 --mismatch -14 --gap-open 0 --gap-extend 1 --strand minus",
    ];
    let mut clipped = 0;
    for (query, target) in files {
        let (query, target) = (file(&folder, "query.fa", query), file(&folder, "target.fa", target));
        for scheme in schemes {
            let more: Vec<&str> = [&*query, &*target].into_iter().chain(scheme.split(' ')).collect();
            let records = |command: &str| {
                let text = equal_output(command, TWO_WAYS, &[&more[..], &["--format", "sam"]].concat());
                let is_record = |line: &&str| !line.starts_with('@') && !line.contains("\t4\t*\t");
                text.lines().filter(is_record).map(|line| format!("{line}\n")).collect::<String>()
            };
            let long = records("long");
            assert_eq!(long, records("allpairs"), "{scheme}");
            for line in long.lines() {
                let cigar = line.split('\t').nth(5).expect("a CIGAR string");
                let first = cigar.chars().find(|c| !c.is_ascii_digit() && *c != 'S');
                let last = cigar.trim_end_matches('S').trim_end_matches(|c: char| c.is_ascii_digit());
                assert!(first.is_some_and(|c| "=X".contains(c)) && last.ends_with(['=', 'X']), "{line}");
                clipped += usize::from(cigar.contains('S'));
            }
        }
    }
    assert!(clipped > 3, "{clipped}");
}

#[test]
fn scores_and_ends_alone() {
    let folder = folder();
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let turned = file(&folder, "turned.fa", TURNED);
    let aligned = scored(&[&query, &target]);
    let scores = scored(&[&query, &target, "--score-only"]);
    let (aligned, scores) = (cells(&aligned), cells(&scores));
    let field = |table: &[Vec<&str>], name: &str| {
        let index = table[0].iter().position(|header| *header == name).expect(name);
        table[1][index].to_owned()
    };
    for name in ["score", "strand", "query_end", "target_end", "query_length", "target_length"] {
        assert_eq!(field(&aligned, name), field(&scores, name), "{name}");
    }
    assert_eq!((field(&scores, "query_start"), field(&scores, "target_start")), (".".into(), ".".into()));
    // On the minus strand, the end is the start of the query in the file.
    let scores = scored(&[&query, &turned, "--strand", "both", "--score-only", "--format", "jsonl"]);
    let scores: serde_json::Value = serde_json::from_str(&scores).expect("an object");
    assert_eq!((&scores["strand"], scores["query_start"].as_u64()), (&"-".into(), Some(5)));
    assert!(scores["query_end"].is_null() && scores["target_end"].as_u64() == Some(47), "{scores}");
}

#[test]
fn only_the_requested_strands_are_aligned() {
    let folder = folder();
    let (query, turned) = (file(&folder, "query.fa", QUERY), file(&folder, "turned.fa", TURNED));
    let mut text = String::new();
    for strand in ["plus", "minus", "both"] {
        writeln!(text, "{strand}\n{}", scored(&[&query, &turned, "--strand", strand, "--check"])).unwrap();
    }
    // Both strands are the default. Older names are accepted.
    let of = |more: &[&str]| scored(&[&[&*query, &*turned, "--check"], more].concat());
    assert_eq!(of(&[]), of(&["--strand", "both"]));
    assert_eq!(of(&["--strand", "reverse"]), of(&["--strand", "minus"]));
    assert_ne!(of(&[]), of(&["--strand", "forward"]));
    for format in ["paf", "sam", "vcf", "maf", "chain", "delta", "text"] {
        let arguments = [&*query, &turned, "--strand", "both", "--format", format, "--check"];
        writeln!(text, "{format}\n{}", scored(&arguments)).unwrap();
    }
    assert_snapshot!(text);
}

/// Several alignments, best first. Each list starts with the shorter lists.
#[test]
fn shorter_lists_are_the_start_of_longer_ones() {
    let folder = folder();
    let (query, turned) = (
        file(&folder, "query.fa", QUERY),
        file(&folder, "both.fa", {
            let letters = |record: &str| record.lines().nth(1).expect("letters").to_owned();
            format!(">both\n{}{}\n", letters(TARGET), letters(TURNED))
        }),
    );
    let top = |k: &str, format: &str| {
        let arguments = ["--strand", "both", "--top", k, "--min-score", "8", "--format", format, "--check"];
        scored(&[&[&*query, &*turned], &arguments[..]].concat())
    };
    let four = top("4", "tsv");
    for k in ["1", "2", "3"] {
        assert!(four.starts_with(&top(k, "tsv")), "--top {k}");
    }
    let scores: Vec<i64> = cells(&four)[1..].iter().map(|row| row[3].parse().expect("a score")).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| *score >= 8), "{scores:?}");
    let sam = top("4", "sam");
    assert_snapshot!(format!("{four}\n{sam}"));
    for line in sam.lines().filter(|line| !line.starts_with('@')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (mut query_symbols, mut number) = (0, 0);
        for byte in columns[5].bytes() {
            match byte {
                b'0'..=b'9' => number = 10 * number + usize::from(byte - b'0'),
                b'D' => number = 0,
                _ => query_symbols += std::mem::take(&mut number),
            }
        }
        assert_eq!(query_symbols, 56, "{line}");
        assert!(columns[9] == "*" || columns[9].len() == query_symbols, "{line}");
    }
}

/// The method of the traceback does not change the alignment.
#[test]
fn methods_strips_and_chunks() {
    let folder = folder();
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let expected = scored(&[&query, &target, "--format", "jsonl"]);
    let checkpoint = path(&folder, "work");
    for more in [
        &["--method", "striped"][..],
        &["--method", "striped", "--strip", "16"],
        &["--method", "chunked1", "--strip", "16", "--chunk", "8"],
        &["--method", "chunked2", "--chunk", "64"],
        &["--no-prune"],
        &["--host-memory", "16M"],
        &["--checkpoint", &checkpoint],
    ] {
        let actual = scored(&[&[&*query, &target, "--format", "jsonl", "--check"], more].concat());
        assert_eq!(actual, expected, "{more:?}");
    }
}

#[test]
fn records_are_chosen_by_name() {
    let folder = folder();
    let both = file(&folder, "both.fa", format!("{QUERY}{TARGET}"));
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let expected = scored(&[&query, &target]);
    assert_eq!(scored(&[&both, &both, "--query-id", "gene", "--target-id", "relative"]), expected);
    assert_eq!(scored(&[&query, &both, "--target-id", "relative"]), expected);
    let mut arguments = vec!["long", "--quiet", "--device", "cpu", "-", &target];
    arguments.extend(SCHEME);
    pairwave(&arguments).write_stdin(QUERY).assert().success().stdout(expected).stderr("");
    // A file against itself.
    let itself = scored(&[&query, &query, "--fields", "query,target,identity,cigar"]);
    assert_eq!(itself.lines().nth(1), Some("gene\tgene\t1.000000\t56="));
}

/// Names are bytes, which a shell passes on unchanged.
#[cfg(unix)]
#[test]
fn records_are_chosen_by_names_of_any_bytes() {
    use std::os::unix::ffi::OsStrExt;

    let folder = folder();
    let names: [&[u8]; 3] = [b"caf\xe9", b"caf\xe8", "café".as_bytes()];
    let record = |name: &[u8], letters: &str| [b">", name, b"\n", letters.as_bytes(), b"\n"].concat();
    let records = [record(names[0], "GATTACAGG"), record(names[1], "CCTGTAATC"), record(names[2], "GATTACAGGA")];
    let both = file(&folder, "both.fa", records.concat());
    for (name, length) in names.into_iter().zip([9, 9, 10]) {
        let mut command = pairwave(&["long", "--quiet", "--device", "cpu", "--strand", "plus", &both, &both]);
        command.arg("--query-id").arg(std::ffi::OsStr::from_bytes(name));
        command.arg("--target-id").arg(std::ffi::OsStr::from_bytes(name));
        let run = command.args(["--fields", "query,target,query_length,identity"]).assert().success();
        let [_, line] = run.get_output().stdout.split(|&byte| byte == b'\n').collect::<Vec<_>>()[..2] else { panic!() };
        assert_eq!(line, [name, b"\t", name, format!("\t{length}\t1.000000").as_bytes()].concat());
    }
    let mut command = pairwave(&["long", "--quiet", "--device", "cpu", &both, &both, "--query-id"]);
    let run = command.arg(std::ffi::OsStr::from_bytes(b"caf\xea")).assert().code(2);
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("--query-id 'caf\u{FFFD}': the file holds no sequence of this name"), "{text}");
}

#[test]
fn proteins_are_aligned() {
    let folder = folder();
    let query = file(&folder, "p.fa", ">p1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n");
    let target = file(&folder, "q.fa", ">p2\nGGSMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n");
    assert_snapshot!(long(&[&query, &target, "--format", "text", "--check"]));
}

/// If no score is high enough, the output is a table without rows, an unmapped read, or a plot
/// without a path.
#[test]
fn output_is_valid_without_an_alignment() {
    let folder = folder();
    let (a, c) = (file(&folder, "a.fa", ">a\nAAAAAAAA\n"), file(&folder, "c.fa", ">c\nCCCCCCCC\n"));
    assert_eq!(scored(&[&a, &c]).lines().count(), 1);
    assert_eq!(scored(&[&a, &c, "--format", "paf"]), "");
    assert_eq!(scored(&[&a, &c, "--format", "sam"]).lines().last(), Some("a\t4\t*\t0\t0\t*\t*\t0\t0\tAAAAAAAA\t*"));
    assert_eq!(scored(&[&a, &c, "--format", "maf"]), "##maf version=1 scoring=pairwave\n");
    assert_eq!(scored(&[&a, &c, "--format", "chain"]), "");
    assert_eq!(scored(&[&a, &c, "--format", "delta"]), "NUCMER\n");
    assert!(scored(&[&a, &c, "--format", "vcf"]).ends_with("\tFORMAT\ta\n"));
    let plot = path(&folder, "none.svg");
    scored(&[&a, &c, "--plot", &plot]);
    assert!(std::fs::read_to_string(plot).unwrap().contains("no alignment"));
    let few = scored(&[&a, &a, "--min-score", "1000"]);
    assert_eq!(few.lines().count(), 1);
    assert_eq!(scored(&[&a, &a, "--mode", "global", "--min-score", "1000"]), few);
}

#[test]
fn files_summaries_and_statistics() {
    let folder = folder();
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let [table, stats, svg, png] = ["hit.sam.gz", "stats.json", "hit.svg", "hit.PNG"].map(|name| path(&folder, name));
    let base = ["long", &query, &target, "--format", "sam", "--device", "cpu", "-o", &table];
    let run = pairwave(&[&base[..], &["--stats", &stats, "--plot", &svg]].concat()).assert().success().stdout("");
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    // The cells include both strands.
    assert!(stderr.starts_with("pairwave: 6,608 cells in ") && stderr.contains("; 1 alignment; "), "{stderr}");
    let stats: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(stats).unwrap()).unwrap();
    assert_eq!((stats["cells"].as_u64(), stats["written"].as_u64()), (Some(6608), Some(1)));
    assert_eq!((stats["query_length"].as_u64(), stats["target_length"].as_u64()), (Some(56), Some(59)));
    assert!(stats["engines"][0]["name"].is_string() && stats["gcups"].is_number(), "{stats}");
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.starts_with("<?xml ") && svg.contains("gene (56 bp)") && svg.contains("relative (59 bp)"), "{svg}");
    let mut text = String::new();
    let bytes = std::fs::read(&table).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*bytes), &mut text).unwrap();
    let program = text.lines().nth(2).expect("the third line of the header");
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        program.starts_with(&format!("@PG\tID:pairwave\tPN:pairwave\tVN:{version}\tCL:pairwave long ")),
        "{program}"
    );
    pairwave(&[&base[..], &["--quiet", "--plot", &png]].concat()).assert().success().stdout("").stderr("");
    assert!(std::fs::read(png).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn wrong_options_and_input_are_rejected() {
    let folder = folder();
    file(&folder, "one.fa", QUERY);
    file(&folder, "many.fa", ">chr1.1\nAC\n>chr2.1\nAC\n>chr3.1\nAC\n>chr4.1\nAC\n");
    file(&folder, "twice.fa", ">a\nAC\n>a\nGT\n");
    file(&folder, "empty.fa", "");
    file(&folder, "no_sequence.fa", ">a\n");
    file(&folder, "letter.fa", ">a x\nGATT\nAC7A\n");
    file(&folder, "protein.fa", ">p\nMKTAYIAKQRQISFVKSHFSRQ\n");
    file(&folder, "brackets.fa", ">a(b)\nGATTACA\n");
    file(&folder, "at.fa", ">a@b\nGATTACA\n");
    let all = [
        "@one.fa",
        "- -",
        "@missing.fa @one.fa",
        "@many.fa @one.fa --query-id CHR2",
        "@many.fa @one.fa --query-id x",
        "@one.fa @many.fa --target-id chr2.1.1",
        "@one.fa @twice.fa --target-id a",
        "@one.fa @one.fa --query-id relative",
        "@one.fa @empty.fa",
        "@one.fa @no_sequence.fa",
        "@one.fa @letter.fa",
        "@protein.fa @protein.fa --strand both",
        "@protein.fa @protein.fa --format sam",
        "@one.fa @protein.fa --alphabet dna",
        "@one.fa @brackets.fa --format sam",
        "@at.fa @one.fa --format sam",
        "@one.fa @one.fa --mode lokal",
        "@one.fa @one.fa --strand up",
        "@one.fa @one.fa --method quick",
        "@one.fa @one.fa --mode global --top 2",
        "@one.fa @one.fa --score-only --format sam",
        "@one.fa @one.fa --plot @plot.jpg",
        "@one.fa @one.fa --plot @missing/plot.svg",
        "@one.fa @one.fa --stats @missing/stats.json",
        "@one.fa @one.fa -o @one.fa",
        "@one.fa @one.fa -o @missing/hit.tsv",
        "@one.fa @one.fa --kernel nw_slice",
    ];
    assert_snapshot!(all.map(|arguments| wrong::refused_by("long", &folder, arguments)).concat());
}

/// Two genomes of SARS-CoV-2: the same result as `allpairs`, in every format.
#[test]
fn genomes_are_aligned_as_by_allpairs() {
    let scheme = ["--match", "1", "--mismatch", "-3", "--gap-open", "5", "--gap-extend", "2"];
    let table = long(&[&SARS[..], &scheme, &["--check"]].concat());
    assert_snapshot!(table, @r"
    query	target	strand	score	identity	matches	mismatches	gaps	query_start	query_end	query_length	target_start	target_end	target_length
    ON811099.1	ON811173.1	+	29473	0.998081	29639	27	30	1	29687	29687	1	29675	29675
    ");
    // Uses one device from here on, because a second one is slow and gives equal results.
    let by_cpu = |arguments: &[&str]| equal_output("long", &TWO_WAYS[..1], arguments);
    let fields = ["--fields", "query,target,score,qstart,qend,sstart,send"];
    let all = ["--mode", "local", "--against", SARS[1]];
    let expected = allpairs_each(&TWO_WAYS[..1], &[&SARS[..1], &all, &scheme, &fields].concat());
    assert_eq!(by_cpu(&[&SARS[..], &scheme, &fields].concat()), expected);
    let global = by_cpu(&[&SARS[..], &scheme, &["--mode", "global", "--check", "--fields", "score,cigar"]].concat());
    assert_snapshot!("genomes_global", global);
    let text = by_cpu(&[&SARS[..], &scheme, &["--format", "text"]].concat());
    assert_snapshot!("genomes_text", text.lines().take(40).collect::<Vec<_>>().join("\n"));
    // A phage has nothing in common with a coronavirus.
    let chance =
        by_cpu(&[&[SARS[0], LAMBDA], &scheme[..], &["--fields", "target,score,qstart,qend,sstart,send"]].concat());
    assert_eq!(chance.lines().nth(1), Some("NC_001416.1\t19\t9519\t9537\t34047\t34065"));
}

/// Messages about other options name them as typed.
#[test]
fn refused_checkpoints_name_the_options() {
    let folder = folder();
    let (query, target) = (file(&folder, "query.fa", QUERY), file(&folder, "target.fa", TARGET));
    let checkpoint = path(&folder, "work");
    let job = |more: &[&str]| {
        let job = ["long", "--quiet", "--device", "cpu", "--checkpoint", &checkpoint, &query, &target];
        pairwave(&[&job[..], more].concat())
    };
    job(&[]).assert().success();
    for other in [
        "--top 3",
        "--match 7",
        "--gap-open 9",
        "--strand plus",
        "--min-score 9",
        "--no-prune",
        "--scheme blastn",
        "--mode global",
        "--circular",
        "--score-only",
        "--ambiguity zero",
        "--matrix EDNAFULL",
        "--alphabet protein",
    ] {
        let run = job(&other.split(' ').collect::<Vec<_>>()).assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        let option = format!("it belongs to another job: {} was ", other.split(' ').next().expect("a word"));
        assert!(text.contains(&option), "{other}: {text}");
    }
    // Standard input has no path.
    let checkpoint = path(&folder, "of_input");
    let job = ["long", "--quiet", "--device", "cpu", "--checkpoint", &checkpoint, "-", &target];
    pairwave(&job).write_stdin(QUERY).assert().success();
    let run = pairwave(&job).write_stdin(format!("{QUERY}ACGT\n")).assert().code(2).stdout("");
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("it belongs to another job: QUERY was "), "{text}");
}
