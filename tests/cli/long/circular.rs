//! `pairwave long` with circular sequences.

use insta::assert_snapshot;

use super::*;

const FORMATS: [&str; 9] = ["tsv", "jsonl", "paf", "sam", "vcf", "maf", "chain", "delta", "text"];
const OPTIONS: [&str; 3] = ["--circular", "--circular-query", "--circular-target"];

/// Returns random bases, equal in each run.
fn bases(seed: u64, length: usize) -> String {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % 4
    };
    (0..length).map(|_| b"ACGT"[next()] as char).collect()
}

fn rotated(bases: &str, first: usize) -> String {
    format!("{}{}", &bases[first..], &bases[..first])
}

fn complement(bases: &str) -> String {
    let facing = |base: char| "TGCA".as_bytes()["ACGT".find(base).expect("a base")] as char;
    bases.chars().rev().map(facing).collect()
}

/// Writes a genome and a plasmid, and copies of both that start elsewhere and differ in a base, an
/// insertion at the origin of the genome, and a deletion across the origin of the plasmid. The copy
/// of the plasmid is the other strand. Returns the paths of the copies and of the originals.
fn files(folder: &TempDir) -> [String; 2] {
    let (genome, plasmid) = (bases(1, 300), bases(2, 120));
    let changed = format!("{}A{}", &genome[..149], &genome[150..]);
    let copies = [rotated(&format!("GATTA{changed}"), 105), rotated(&complement(&plasmid[3..116]), 40)];
    let fasta =
        |names: [&str; 2], bases: [&str; 2]| format!(">{}\n{}\n>{}\n{}\n", names[0], bases[0], names[1], bases[1]);
    [
        file(folder, "copies.fa", fasta(["genome_copy", "plasmid_copy"], [&copies[0], &copies[1]])),
        file(folder, "originals.fa", fasta(["genome", "plasmid"], [&genome, &plasmid])),
    ]
}

#[test]
fn rotated_genomes_are_one_alignment_in_every_format() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let mut text = String::new();
    for format in FORMATS {
        let arguments = [&*queries, &targets, "--circular-target", "--min-score", "60", "--format", format, "--check"];
        writeln!(text, "{format}\n{}", scored(&arguments)).unwrap();
    }
    assert_snapshot!(text);
    let fields = ["--fields", "query,target,strand,score,query_start,query_end,target_start,target_end,alignment"];
    let rows = |option: &str| scored(&[&[&*queries, &targets, option, "--min-score", "60"], &fields[..]].concat());
    assert_snapshot!("rows_of_circles", OPTIONS.map(|option| format!("{option}\n{}", rows(option))).concat());
}

#[test]
fn a_rotated_copy_has_no_variants() {
    let folder = folder();
    let genome = bases(3, 240);
    let target = file(&folder, "genome.fa", format!(">genome\n{genome}\n"));
    for (number, copy) in [rotated(&genome, 77), complement(&rotated(&genome, 200))].into_iter().enumerate() {
        let query = file(&folder, &format!("copy{number}.fa"), format!(">copy\n{copy}\n"));
        for option in OPTIONS {
            let vcf = scored(&[&query, &target, option, "--format", "vcf", "--check"]);
            assert!(vcf.ends_with("FORMAT\tcopy\n"), "{vcf}");
            let rows =
                scored(&[&query, &target, option, "--top", "3", "--min-score", "30", "--fields", "columns,alignment"]);
            let rows: Vec<(u32, &str)> = rows
                .lines()
                .skip(1)
                .map(|row| row.split_once('\t').expect("two fields"))
                .map(|(columns, number)| (columns.parse().expect("a number"), number))
                .collect();
            assert!(
                rows.iter().all(|row| row.1 == "1") && rows.iter().map(|row| row.0).sum::<u32>() == 240,
                "{rows:?}"
            );
        }
    }
}

#[test]
fn plots_show_both_sides_of_an_origin() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    let plot = path(&folder, "plot.svg");
    scored(&[&queries, &targets, "--circular", "--min-score", "60", "--format", "vcf", "--plot", &plot]);
    let svg = std::fs::read_to_string(&plot).expect("the plot was written");
    assert!(svg.contains("2 alignments, best: score"), "{svg}");
}

#[test]
fn checkpoints_and_blocks_of_circles_have_the_output_of_the_job() {
    let folder = folder();
    let [queries, targets] = files(&folder);
    for (number, options) in [
        &["--circular", "--top", "2", "--min-score", "15"][..],
        &["--circular-target", "--top-per", "query", "--format", "paf"],
    ]
    .into_iter()
    .enumerate()
    {
        let job = [&["long", &queries, &targets, "--strand", "both"], options, SCHEME].concat();
        let output = |arguments: &[&str]| {
            let run = pairwave(arguments).arg("--quiet").assert().success();
            String::from_utf8(run.get_output().stdout.clone()).expect("the output is text")
        };
        let expected = output(&[&job[..], &["--device", "cpu", "--threads", "2"]].concat());
        assert_eq!(output(&[&job[..], &["--device", "cpu", "--no-prune"]].concat()), expected);
        let checkpoint = path(&folder, &format!("checkpoint{number}"));
        for _ in 0..2 {
            assert_eq!(output(&[&job[..], &["--device", "cpu", "--checkpoint", &checkpoint]].concat()), expected);
        }
        for cells in ["1", "100000", "1G"] {
            let work = path(&folder, &format!("work{number}-{cells}"));
            output(&[&["plan", "--block-cells", cells], &job[..], &["--output", &work]].concat());
            output(&["run", &work, "--device", "cpu"]);
            assert_eq!(output(&["merge", &work]), expected, "--block-cells {cells}");
        }
    }
}
