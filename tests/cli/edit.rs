//! `pairwave edit`: equal output on all devices, and rejected input.

use insta::assert_snapshot;

use super::*;

/// Parts of genes with a few edits, an ambiguous base, and a primer that is in no gene.
const PRIMERS: &str = ">515F\nGTGYCAGCMGCCGCGGTAA\n>806R_rc\nATTAGAWACCCBNGTAGTCC\n>27F\nAGAGTTTGATCMTGGCTCAG\n\
                       >edited\nGTGCCAGCAGCCGGGTAATAC\n>none\nTTTTTTTTTTTTTTTTTTTTTTTT\n";
const PROTEINS: &str = ">p1\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ\n>p2\nMKTAYIAKQRQISFVKSFSRQLEDRLGLIEVQ\n>p3\nMKV\n";

/// Returns the standard output of `edit`, equal on all devices.
fn edit(arguments: &[&str]) -> String {
    equal_output("edit", TWO_WAYS, arguments)
}

#[test]
fn all_pairs_of_a_file_have_distances() {
    assert_snapshot!(edit(&[GENES]));
}

#[test]
fn pairs_within_a_rate_are_aligned() {
    assert_snapshot!(edit(&[GENES, "--max-distance", "0.1", "--align", "--check"]));
}

#[test]
fn patterns_are_located_in_texts() {
    let folder = folder();
    let primers = file(&folder, "primers.fa", PRIMERS);
    let infix = |more: &[&str]| edit(&[&[&*primers, GENES, "--mode", "infix", "--max-distance", "3"], more].concat());
    let aligned = infix(&["--align", "--check"]);
    assert_snapshot!(aligned);
    assert_snapshot!("patterns_in_texts_jsonl", infix(&["--max-hits", "2", "--all-ends", "--format", "jsonl"]));
    assert_snapshot!("patterns_in_texts_paf", infix(&["--max-hits", "2", "--format", "paf"]));
    let fields = "target,query,distance,target_start,target_end,matches,mismatches,columns,gaps,gap_openings,\
                  query_length,target_length,region_start,region_end,query_row,target_row";
    assert_snapshot!("patterns_in_texts_with_chosen_fields", infix(&["--max-hits", "1", "--fields", fields]));
    // Without alignments there are fewer fields, but the same pairs.
    let bare: Vec<String> = infix(&[]).lines().map(str::to_owned).collect();
    for (bare, aligned) in bare.iter().zip(aligned.lines()) {
        let columns: Vec<&str> = aligned.split('\t').collect();
        assert_eq!(*bare, [columns[0], columns[1], columns[2], columns[4]].join("\t"));
    }
    assert_eq!(bare.len(), aligned.lines().count());
}

/// Each place is one line of BED and one record of SAM.
#[test]
fn places_in_bed_and_sam_are_those_of_tsv() {
    let folder = folder();
    // One insertion before the first symbol, and a pattern that is its own reverse complement.
    let primers = file(&folder, "primers.fa", format!("{PRIMERS}>clipped\nCCCCCGTGCCAGCAGCC\n>own\nGGATCC\n"));
    let options = ["--mode", "infix", "--max-distance", "4", "--strand", "both", "--all-places"];
    let places = |more: &[&str]| edit(&[&[&primers, GENES], &options[..], more].concat());
    let fields = "query,target,strand,distance,target_start,target_end,cigar,query_length";
    let table = places(&["--fields", fields]);
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let number = |text: &str| text.parse::<u32>().expect("a number");
    let bed = rows.iter().map(|row| {
        let (distance, symbols) = (number(row[3]), number(row[7]));
        let score = 1000 * (symbols - distance) / symbols;
        format!("{}\t{}\t{}\t{}\t{score}\t{}\n", row[1], number(row[4]) - 1, row[5], row[0], row[2])
    });
    assert_eq!(places(&["--format", "bed"]), bed.collect::<String>());

    let sam = places(&["--format", "sam"]);
    let (header, records): (Vec<&str>, Vec<&str>) = sam.lines().partition(|line| line.starts_with('@'));
    let texts = std::fs::read_to_string(GENES).unwrap().matches('>').count();
    assert_eq!(header.iter().filter(|line| line.starts_with("@SQ\t")).count(), texts);
    assert!(header.last().is_some_and(|line| line.contains("CL:pairwave edit ")), "{header:?}");
    assert_eq!((records.len(), rows.len() > 20), (rows.len(), true));
    let mut with_clips = 0;
    for (record, row) in records.iter().zip(&rows) {
        let columns: Vec<&str> = record.split('\t').collect();
        let others = || rows.iter().filter(|other| other[0] == row[0]);
        let is_primary = others().min_by_key(|other| number(other[3])) == Some(row);
        let is_minus = row[2] == "-";
        let flag = if is_primary { 0 } else { 256 } + if is_minus { 16 } else { 0 };
        assert_eq!([columns[0], columns[2], columns[1]], [row[0], row[1], &*flag.to_string()]);
        let symbols = columns[9].len();
        assert_eq!(symbols, if is_primary { number(row[7]) as usize } else { 1 }, "{record}");
        assert!(columns[12] == format!("AS:i:-{}", row[3]) || columns[12] == "AS:i:0" && row[3] == "0", "{record}");
        let (start, cigar, edits) = match columns[5].contains('S') {
            true => (columns[3], row[6], columns[11]),
            false => (row[4], columns[5], &*format!("NM:i:{}", row[3])),
        };
        with_clips += usize::from(columns[5].contains('S'));
        assert_eq!([columns[3], row[6], columns[11]], [start, cigar, edits], "{record}");
    }
    assert!(with_clips > 0, "{sam}");
}

/// Every place is a place of the whole pattern, also if it hangs over the end of the text.
#[test]
fn places_over_the_ends_are_secondary_in_sam() {
    let folder = folder();
    let pattern = file(&folder, "pattern.fa", ">ad\nGATTACAGGC\n");
    let text = file(&folder, "text.fa", ">read\nCAGGCTTTTTTTTTTTTTTTTTGATTA\n");
    let options = ["--mode", "infix", "--max-distance", "3", "--all-places", "--overhang", "0.5", "--format", "sam"];
    let sam = edit(&[&[&*pattern, &text], &options[..]].concat());
    let records: Vec<&str> = sam.lines().filter(|line| !line.starts_with('@')).collect();
    assert_eq!(
        records,
        [
            "ad\t0\tread\t1\t255\t5S5=\t*\t0\t0\tGATTACAGGC\t*\tNM:i:0\tAS:i:-2",
            "ad\t256\tread\t23\t255\t5=5S\t*\t0\t0\t*\t*\tNM:i:0\tAS:i:-2",
        ]
    );
}

/// Texts are read in parts if rows do not show their letters.
#[test]
fn fields_of_places_do_not_depend_on_the_way_texts_are_read() {
    const WITH_LETTERS: [&str; 7] = ["query_row", "target_row", "qrow", "trow", "qseq", "sseq", "btop"];
    let folder = folder();
    let primers = file(&folder, "primers.fa", PRIMERS);
    let options = ["--mode", "infix", "--max-distance", "4", "--strand", "both", "--all-places", "--fields"];
    let help = pairwave(&["edit", "--fields", "help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let names = help.lines().filter(|line| !line.starts_with("FIELD") && !line.starts_with("As "));
    let names = names.filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty() && *name != "ends").collect();
    let without: Vec<&str> = names.iter().copied().filter(|name| !WITH_LETTERS.contains(name)).collect();
    assert!(without.contains(&"query") && without.len() + WITH_LETTERS.len() == names.len() && names.len() > 40);
    let table = |names: &[&str]| edit(&[&[&primers, GENES], &options[..], &[&names.join(",")]].concat());
    let (whole, parts) = (table(&names), table(&without));
    let (whole, parts) = (cells(&whole), cells(&parts));
    for (column, name) in without.iter().enumerate() {
        let same = names.iter().position(|other| other == name).unwrap();
        assert!(parts.iter().map(|row| row[column]).eq(whole.iter().map(|row| row[same])), "{name}");
    }
    assert!(parts.len() > 20, "{}", parts.len());
    let genes = std::fs::read(GENES).unwrap();
    let named = &["query,target,target_end"];
    let [from_file, from_pipe] = [GENES, "-"].map(|texts| {
        let arguments = [&["edit", &primers, texts], &options[..], named].concat();
        let output = pairwave(&arguments).write_stdin(genes.clone()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    });
    assert_eq!(from_pipe, from_file);
    assert_eq!(from_file.lines().count(), parts.len());
}

#[test]
fn candidates_keep_the_order_of_the_file() {
    let folder = folder();
    let primers = file(&folder, "primers.fa", PRIMERS);
    let names: Vec<String> = std::fs::read_to_string(GENES)
        .unwrap()
        .lines()
        .filter_map(|line| {
            line.strip_prefix('>').and_then(|header| header.split_whitespace().next()).map(str::to_owned)
        })
        .collect();
    let pairs = format!(
        "# candidates\npattern\ttext\tstart\tend\n515F\t{0}\t400\t600\nedited\t{1}\n806R_rc\t{0}\t700\t800\n\
         515F\t{1}\t\t520\nnone\t{2}\t0\t10\n\n515F\t{0}\t500\t\n",
        names[0], names[1], names[2]
    );
    let pairs = file(&folder, "pairs.tsv", &pairs);
    let infix = edit(&[&primers, GENES, "--pairs", &pairs, "--mode", "infix", "--align", "--check"]);
    assert_snapshot!(infix);
    assert_snapshot!("candidates_as_wholes", edit(&[&primers, GENES, "--pairs", &pairs]));
    let paf = edit(&[&primers, GENES, "--pairs", &pairs, "--mode", "prefix", "--format", "paf"]);
    assert_snapshot!("candidates_paf", paf);
    // Reads compressed standard input.
    let compressed = gzipped(std::fs::read(&pairs).unwrap());
    let arguments = ["edit", "--quiet", &*primers, GENES, "--pairs", "-", "--mode", "infix", "--align"];
    pairwave(&arguments).write_stdin(compressed).assert().success().stdout(infix);
}

#[test]
fn ambiguity_rules_decide_equality() {
    let folder = folder();
    let ambiguous = file(&folder, "ambiguous.fa", ">a\nACGTACGTNN\n>b\nACRTACGTNA\n>c\nacguacgurr\n");
    let mut text = String::new();
    for arguments in [
        &[][..],
        &["--n", "mismatch"],
        &["--ambiguity", "mismatch"],
        &["--ambiguity", "literal"],
        &["--alphabet", "bytes"],
        &["--alphabet", "protein"],
    ] {
        let table = edit(&[&[&*ambiguous, "--check"], arguments].concat());
        writeln!(text, "{}\n{table}", arguments.join(" ")).unwrap();
    }
    let proteins = file(&folder, "proteins.fa", PROTEINS);
    writeln!(text, "proteins\n{}", edit(&[&proteins, "--align", "--mode", "prefix"])).unwrap();
    let bytes: &[u8] = b">1\nna\xC3\xAFve caf\xC3\xA9, 50% [off]\r\nnow\n>2\nNaive cafe - 50% off now\n";
    let bytes = file(&folder, "bytes.fa", bytes);
    writeln!(text, "bytes\n{}", edit(&[&bytes, "--alphabet", "bytes", "--align", "--check"])).unwrap();
    assert_snapshot!(text);
}

#[test]
fn summary_and_statistics_count_the_pairs() {
    let folder = folder();
    let stats = path(&folder, "stats.json");
    let output = path(&folder, "distances.tsv");
    let arguments = ["edit", GENES, "-o", &output, "--stats", &stats, "--max-distance", "0.05", "--align"];
    let run = pairwave(&arguments).assert().success().stdout("");
    let stderr = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(stderr.starts_with("pairwave: 66 pairs in ") && stderr.contains(" aligned, "), "{stderr}");
    let stats: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(stats).unwrap()).unwrap();
    let written = std::fs::read_to_string(output).unwrap().lines().count() as u64 - 1;
    assert_eq!((stats["pairs"].as_u64(), stats["written"].as_u64()), (Some(66), Some(written)));
}

/// `--check` has an effect without `--align`: it aligns the pairs, and changes no byte.
#[test]
fn checked_pairs_are_aligned() {
    let folder = folder();
    let (first, second) = (path(&folder, "first.json"), path(&folder, "second.json"));
    let line = [GENES, "--max-distance", "0.05"];
    let bare = edit(&[&line[..], &["--stats", &first]].concat());
    assert_eq!(edit(&[&line[..], &["--check", "--stats", &second]].concat()), bare);
    let [unaligned, aligned] = [first, second].map(|stats| {
        let stats: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(stats).unwrap()).unwrap();
        stats["aligned"].as_u64()
    });
    assert_eq!((unaligned, aligned), (Some(0), Some(bare.lines().count() as u64 - 1)));
}

#[test]
fn wrong_options_and_input_are_rejected() {
    let folder = folder();
    file(&folder, "a.fa", ">a\nGATTACA\n>b\nGATCA\n>b2\nGA\n>twice\nA\n>twice\nC\n");
    file(&folder, "p.fa", ">p\nMKTAYIAKQRQISFVKSHFSRQ\n>q\nMKTAYIAKQR\n");
    file(&folder, "zero.fa", ">a\nAC\0GT\n");
    let lines = |lines: &str| format!("pattern\ttext\tstart\tend\na\tb\t0\t5\n{lines}\n");
    file(&folder, "name.tsv", lines("c\tb"));
    file(&folder, "text.tsv", lines("a\tc"));
    file(&folder, "twice.tsv", lines("a\ttwice"));
    file(&folder, "turned.tsv", lines("a\tb\t4\t3"));
    file(&folder, "beyond.tsv", lines("a\tb\t4\t6"));
    file(&folder, "number.tsv", lines("a\tb\tx\t5"));
    file(&folder, "columns.tsv", lines("a\tb\t0"));
    file(&folder, "blanks.tsv", lines("a b 0 5"));
    let refused = |arguments: &str| wrong::refused_by("edit", &folder, arguments);
    let all = [
        "@a.fa --max-distance five",
        "@a.fa --max-distance -1",
        "@a.fa --max-distance 1.5",
        "@a.fa --max-distance 99999999999",
        "@a.fa --all-ends --max-distance 2",
        "@a.fa --all-ends --mode infix",
        "@a.fa --fields query,ends --mode prefix",
        "@a.fa --fields query,score",
        "@a.fa --fields query --format paf",
        "@a.fa --all-ends --max-distance 2 --mode infix --format paf",
        "@a.fa --max-hits 0",
        "@a.fa --ambiguity literal --n mismatch",
        "@a.fa --ambiguity mismatch --n match",
        "@a.fa --alphabet protein --ambiguity overlap",
        "@a.fa --alphabet bytes --n match",
        "@a.fa --alphabet bytes --fields query_row",
        "@p.fa --n mismatch",
        "@p.fa @a.fa --alphabet dna",
        "@zero.fa --alphabet bytes",
        "- - ",
        "@a.fa -o @a.fa",
        "@a.fa --pairs @name.tsv -o @name.tsv",
        "@a.fa --pairs @missing.tsv",
        "@a.fa --pairs @name.tsv",
        "@a.fa --pairs @text.tsv",
        "@a.fa --pairs @twice.tsv",
        "@a.fa --pairs @turned.tsv",
        "@a.fa --pairs @beyond.tsv",
        "@a.fa --pairs @number.tsv",
        "@a.fa --pairs @columns.tsv",
        "@a.fa --pairs @blanks.tsv",
        "@a.fa --kernel fast",
    ];
    assert_snapshot!(all.map(refused).concat());
}

#[test]
fn empty_part_ends_first() {
    let folder = folder();
    let patterns = file(&folder, "p.fa", ">p1\nA\n>p2\nAAAA\n>p3\nACG\n");
    let texts = file(&folder, "t.fa", ">t1\nCGT\n>t2\nCCACC\n");
    let all: String = ["p1", "p2", "p3"].iter().flat_map(|p| ["t1", "t2"].map(|t| format!("{p}\t{t}\n"))).collect();
    let list = file(&folder, "l.tsv", &all);
    // The expected values are the distance and the first end that edlib reports.
    let infix = "p1\tt1\t1\t1\t0\t0.000000\t1I\np1\tt2\t0\t3\t3\t1.000000\t1=\n\
                 p2\tt1\t4\t1\t0\t0.000000\t4I\np2\tt2\t3\t1\t3\t0.250000\t1I2X1=\n\
                 p3\tt1\t1\t1\t2\t0.666667\t1I2=\np3\tt2\t1\t3\t4\t0.666667\t2=1I\n";
    let fields = "query,target,distance,target_start,target_end,identity,cigar";
    for mode in ["infix", "prefix"] {
        let run = |more: &[&str]| {
            let arguments = [&["--mode", mode, "--fields", fields, "--check"][..], more].concat();
            edit(&[&[&*patterns, &*texts], &arguments[..]].concat())
        };
        let plain = run(&[]);
        assert_eq!(run(&["--pairs", &list]), plain, "{mode}");
        assert_eq!(run(&["--max-distance", "4"]), plain, "{mode}");
        assert!(plain.contains("p2\tt1\t4\t1\t0\t0.000000\t4I\n"), "{mode}: {plain}");
        if mode == "infix" {
            assert_eq!(plain.split_once('\n').map(|(_, rows)| rows), Some(infix));
        }
    }
    let ends = edit(&[
        &patterns,
        &texts,
        "--mode",
        "infix",
        "--max-distance",
        "1",
        "--all-ends",
        "--fields",
        "query,target,ends",
    ]);
    assert!(ends.contains("p1\tt1\t0:1,1:1,2:1,3:1\n"), "{ends}");
}
