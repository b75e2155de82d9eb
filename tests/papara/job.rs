//! Tests the placement of reads on a reference tree. Results must equal those of PaPaRa 2.5 for
//! every engine and any division of the work.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use pairwave::engine::Engine;
use pairwave::jobs::papara::{PhyloAlignment, PhyloResult, ReadSource};
use pairwave::jobs::{Job, Run, Summary};
use pairwave::papara::cpu::phylo_workers;
use pairwave::papara::gpu::PhyloGpu;
use pairwave::papara::mock::PhyloMock;
use pairwave::papara::{GapModel, Phylo, Reference};
use pairwave::score::PhyloScheme;
use pairwave::seq::{AlphabetChoice, Strand, Strands, reverse_complement_letters};

fn asset(set: &str, file: &str) -> String {
    let root = PathBuf::from(support::ROOT).join("assets/papara");
    root.join(set).join(file).to_str().expect("a path in UTF-8").to_owned()
}

fn job(set: &str) -> PhyloAlignment {
    let reference = Reference::read(asset(set, "ref.nwk"), asset(set, "ref.fasta"), AlphabetChoice::Detect);
    let reads = ReadSource::File(asset(set, "reads.fasta").into());
    PhyloAlignment { check: true, ..PhyloAlignment::new(Arc::new(reference.expect("it is right")), reads) }
}

/// Returns the names and letters of the reads. The file has one line for each.
fn letters(set: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(asset(set, "reads.fasta")).expect("it is there");
    let records = text.split('>').skip(1).map(|record| {
        let (name, rest) = record.split_once('\n').expect("a line of a name");
        (name.to_owned(), rest.split_whitespace().collect())
    });
    records.collect()
}

fn to_source(reads: &[(String, String)]) -> ReadSource {
    let text: String = reads.iter().map(|(name, letters)| format!(">{name}\n{letters}\n")).collect();
    ReadSource::Bytes("some.fa".into(), text.into_bytes().into())
}

fn cpu(threads: usize) -> Vec<Box<dyn Engine<Phylo>>> {
    phylo_workers(threads, &Arc::default())
}

fn run(job: &PhyloAlignment, engines: Vec<Box<dyn Engine<Phylo>>>) -> (Vec<PhyloResult>, Summary) {
    let mut rows = Vec::new();
    let summary = job.run_on(engines, &Run { threads: 2, ..Run::default() }, |some| {
        rows.extend_from_slice(some);
        Ok(())
    });
    (rows, summary.expect("the job ends"))
}

#[test]
fn edges_and_scores_match_papara() {
    for set in ["tiny", "tiny_aa"] {
        for (gap_model, name) in [(GapModel::Likelihood, "pgap"), (GapModel::Parsimony, "cgap")] {
            let published = fs::read_to_string(asset(set, &format!("papara.{name}.scores.tsv"))).expect("it is there");
            let published: HashMap<&str, (u32, i32)> = published
                .lines()
                .skip(1)
                .map(|line| {
                    let fields: Vec<&str> = line.split('\t').collect();
                    (fields[0], (fields[1].parse().expect("an edge"), fields[2].parse().expect("a score")))
                })
                .collect();
            let (rows, summary) = run(&PhyloAlignment { gap_model, ..job(set) }, cpu(2));
            assert_eq!((rows.len(), summary.written), (published.len(), published.len() as u64));
            for row in rows {
                let name = String::from_utf8_lossy(&row.name).into_owned();
                assert_eq!((row.edge, row.score), published[name.as_str()], "{set}, {name}");
            }
        }
    }
}

#[test]
fn rows_do_not_depend_on_engines_and_pruning() {
    for set in ["tiny", "tiny_aa"] {
        let mut reads = letters(set);
        reads.retain(|(_, letters)| letters.len() < 120);
        reads.truncate(6);
        for scheme in [PhyloScheme::papara(), PhyloScheme::paper()] {
            let job = PhyloAlignment { reads: to_source(&reads), scheme: Arc::new(scheme), ..job(set) };
            let (expected, summary) = run(&PhyloAlignment { exhaustive: true, ..job.clone() }, cpu(1));
            assert_eq!(expected.len(), reads.len());
            assert!(summary.engines.iter().map(|engine| engine.cells).sum::<u64>() >= summary.cells);
            assert_eq!(run(&job, cpu(2)).0, expected);
            let gpu =
                || Box::new(PhyloGpu::open(&support::adapter()).expect("the adapter opens")) as Box<dyn Engine<Phylo>>;
            assert_eq!(run(&job, vec![gpu()]).0, expected, "{set}");
            let mut several = cpu(1);
            several.extend([gpu(), gpu()]);
            assert_eq!(run(&job, several).0, expected, "{set}");
        }
    }
}

#[test]
fn better_strand_is_aligned() {
    let forward = letters("tiny");
    let mut turned = forward.clone();
    for (_, letters) in turned.iter_mut().step_by(2) {
        *letters = String::from_utf8(reverse_complement_letters(letters.as_bytes())).expect("letters");
    }
    let plus = run(&job("tiny"), cpu(2)).0;
    let both = PhyloAlignment { strand: Strands::Both, reads: to_source(&turned), ..job("tiny") };
    let rows = run(&both, cpu(2)).0;
    assert_eq!(rows.len(), plus.len());
    for (index, (row, plus)) in rows.iter().zip(&plus).enumerate() {
        let expected = if index % 2 == 0 { Strand::Minus } else { Strand::Plus };
        assert_eq!((row.strand, row.edge, row.score), (expected, plus.edge, plus.score), "{index}");
        assert_eq!((&row.letters, &row.cigar), (&plus.letters, &plus.cigar));
    }
    let minus = run(&PhyloAlignment { strand: Strands::Minus, ..both }, cpu(1)).0;
    assert!(minus.iter().all(|row| row.strand == Strand::Minus));
    assert_eq!(minus[0], rows[0]);
}

#[test]
fn unusual_letters_are_kept_and_empty_reads_skipped() {
    let reads = "tiny";
    let (name, read_letters) = &letters(reads)[0];
    let changed = read_letters.to_ascii_lowercase().replace('t', "u");
    let odd = vec![
        (name.clone(), read_letters.clone()),
        ("low".to_owned(), changed.clone()),
        ("empty".to_owned(), String::new()),
        ("gaps".to_owned(), format!("--{read_letters}..")),
        ("unknown".to_owned(), "NNNNNNNNNN".to_owned()),
    ];
    let job = PhyloAlignment { reads: to_source(&odd), ..job("tiny") };
    let rows = run(&job, cpu(1)).0;
    let names: Vec<&[u8]> = rows.iter().map(|row| &row.name[..]).collect();
    assert_eq!(names, [name.as_bytes(), b"low", b"gaps", b"unknown"]);
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [0, 1, 3, 4]);
    assert_eq!((rows[1].letters.as_slice(), &rows[1].cigar), (changed.as_bytes(), &rows[0].cigar));
    assert_eq!((&rows[2].letters, &rows[2].cigar), (&rows[0].letters, &rows[0].cigar));
    // Finished reads are skipped, and reads keep their numbers. Empty reads give no rows.
    let rest = run(&PhyloAlignment { skip: 2, ..job.clone() }, cpu(1)).0;
    assert_eq!(rest, rows[2..]);
    assert!(run(&PhyloAlignment { skip: 99, ..job }, cpu(1)).0.is_empty());
}

#[test]
fn chunks_stay_in_order_and_invalid_letters_stop_the_job() {
    let reads: Vec<(String, String)> = letters("tiny").into_iter().filter(|(_, letters)| letters.len() < 60).collect();
    let count = 20_000;
    let many: Vec<_> =
        (0..count).map(|index| (format!("r{index}"), reads[index % reads.len()].1[..20].to_owned())).collect();
    let job = PhyloAlignment { reads: to_source(&many), check: false, ..job("tiny") };
    let rows = run(&job, cpu(2)).0;
    assert_eq!(rows.len(), count);
    assert!(
        rows.iter()
            .enumerate()
            .all(|(index, row)| row.number == index as u64 && row.name == format!("r{index}").as_bytes())
    );
    let mut wrong = many;
    wrong[19_000].1.push('!');
    let job = PhyloAlignment { reads: to_source(&wrong), ..job };
    let error = job.run_on(cpu(2), &Run { threads: 2, ..Run::default() }, |_| Ok(())).expect_err("a letter is wrong");
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("some.fa") && error.to_string().contains("r19000"), "{error}");
}

#[test]
fn failed_engine_is_replaced() {
    let mut reads = letters("tiny");
    reads.retain(|(_, letters)| letters.len() < 120);
    let job = PhyloAlignment { reads: to_source(&reads), ..job("tiny") };
    let expected = run(&job, cpu(1)).0;
    // One engine returns wrong results, and another one rejects all batches.
    let liar = || {
        let spoil = |report: &mut pairwave::papara::PhyloReport| report.scores[0][0] = i32::MAX;
        Box::new(PhyloMock::new("liar").with_corruption(spoil)) as Box<dyn Engine<Phylo>>
    };
    let full = || {
        let engine = PhyloGpu::open(&support::adapter()).expect("the adapter opens");
        engine.gpu().feign_shortage("", 0, u64::MAX);
        Box::new(engine) as Box<dyn Engine<Phylo>>
    };
    for engines in [vec![liar()], vec![full()], vec![liar(), full()]] {
        let (rows, summary) = run(&job, engines);
        assert_eq!(rows, expected);
        assert!(summary.engines.iter().any(|engine| engine.name == "cpu" && engine.cells > 0));
    }
}
