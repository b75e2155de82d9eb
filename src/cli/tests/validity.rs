//! Validated options of correct command lines.

use super::options;
use crate::cli::device::DeviceChoice;
use crate::cli::options::{Action, AllPairsOptions};
use pairwave::output::{Distance, DistanceMatrixShape, PairFormat};
use pairwave::score::IdentityDefinition;
use pairwave::seq::Alphabet;
use pairwave::seq::reader::AlphabetChoice;

fn allpairs(line: &str) -> AllPairsOptions {
    match options(&format!("allpairs {line}")).unwrap().action {
        Action::AllPairs(job) => *job,
        action => panic!("{action:?}"),
    }
}

#[test]
fn omitted_options_have_their_defaults() {
    let job = allpairs("seqs.fa");
    assert_eq!((job.seqs.to_str(), job.against, job.files.output), (Some("seqs.fa"), None, None));
    assert_eq!(job.read.alphabet, AlphabetChoice::Detect);
    assert_eq!(job.selection.identity, IdentityDefinition::InnerColumns);
    assert!(!job.selection.score_only && job.selection.min_identity.is_none() && job.selection.max_hits.is_none());
    assert_eq!(job.compute.devices, [DeviceChoice::Auto]);
    assert_eq!(job.compute.memory, None);
    let PairFormat::Tsv(fields) = &job.format else { panic!("{:?}", job.format) };
    assert_eq!(fields.len(), 9);
}

#[test]
fn independent_options_can_be_combined() {
    let job = allpairs(
        "- --against b.fa --alphabet rna --match 1 --mismatch -4 --gap-open 2 --gap-extend 1 --ambiguity zero \
         --end-gaps free --min-identity .97 --iddef 1 --max-hits 3 --format blast6 -o out.b6 --device 0,cpu \
         --device h200 --kernel nw_slice --memory 1.5G --threads 2 --tune --check",
    );
    assert_eq!(job.read.alphabet, AlphabetChoice::Fixed(Alphabet::Dna));
    assert_eq!(job.selection.min_identity, Some(0.97));
    assert_eq!(job.selection.max_hits.map(u32::from), Some(3));
    assert_eq!(job.selection.identity, IdentityDefinition::Columns);
    assert_eq!(job.compute.devices, [DeviceChoice::Index(0), DeviceChoice::Cpu, DeviceChoice::Name("h200".into())]);
    assert!(job.compute.tune && job.compute.check);
    assert_eq!(job.compute.memory, Some(3 << 29));
    insta::assert_debug_snapshot!(job.scoring.resolve(Alphabet::Dna).unwrap(), @r"
    ResolvedScheme {
        alphabet: Dna,
        table: Nucleotide {
            match_score: 1,
            mismatch: -4,
            ambiguity: Zero,
            ambiguous: None,
        },
        gaps: Gaps {
            first: 3,
            next: 1,
        },
        mode: Global,
        end_gaps: Free,
    }
    ");
}

#[cfg(feature = "bench")]
#[test]
fn experiments_run_in_their_own_order_each_once() {
    use pairwave::measure::bench::{BenchWork, Experiment, GapKind};
    let bench = |line: &str| match options(&format!("bench {line}")).unwrap().action {
        Action::Bench(job) => *job,
        action => panic!("{action:?}"),
    };
    let all = bench("");
    assert_eq!((all.experiments, all.cluster), (Experiment::ALL.to_vec(), false));
    let simulated = bench("cluster --counts 5,7");
    assert_eq!((simulated.experiments.len(), simulated.cluster, simulated.counts), (0, true, Some(vec![5, 7])));
    assert_eq!((all.lengths, all.counts, all.output, all.plot), (None, None, None, None));
    // All kernels except the seven variants of others, plus the CPU.
    assert_eq!(all.contenders.len(), pairwave::gpu::kernels::KERNELS.len() - 7 + 1);
    assert_eq!((all.work.len(), all.gaps.len()), (2, 2));
    assert_eq!((all.save, all.compare, all.tolerance), (None, None, 0.1));
    let guarded = bench("edit --save new.rates --compare old.rates --tolerance 12.5");
    assert_eq!((guarded.save, guarded.compare), (Some("new.rates".into()), Some("old.rates".into())));
    assert_eq!(guarded.tolerance, 0.125);
    let some = bench("end-to-end filter kernels filter --work scores --gaps affine --lengths 5,7 --kernel cpu -o -");
    assert_eq!(some.experiments, [Experiment::Kernels, Experiment::Filter, Experiment::EndToEnd]);
    assert_eq!((some.work, some.gaps), (vec![BenchWork::Scores], vec![GapKind::Affine]));
    assert_eq!((some.lengths, some.contenders.len(), some.output), (Some(vec![5, 7]), 1, None));
}

#[test]
fn formats_and_their_longer_names() {
    let format = |line: &str| allpairs(&format!("seqs.fa {line}")).format;
    assert_eq!(format("--format blast-tab"), PairFormat::Blast6);
    assert_eq!(format("--format paf"), PairFormat::Paf);
    assert!(matches!(format("--format json-lines"), PairFormat::JsonLines(_)));
    let matrix = PairFormat::Phylip { distance: Distance::Identity, shape: DistanceMatrixShape::Square };
    assert_eq!(format("--format distance-matrix"), matrix);
    let matrix = PairFormat::Phylip { distance: Distance::JukesCantor, shape: DistanceMatrixShape::Lower };
    assert_eq!(format("--format phylip --distance jc --matrix-shape lower"), matrix);
    let PairFormat::Tsv(fields) = format("--fields query+target+id") else { panic!() };
    assert_eq!(fields.iter().map(|field| field.name).collect::<Vec<_>>(), ["query", "target", "id"]);
}

#[test]
fn modes_decide_the_end_gaps() {
    use pairwave::score::{EndGaps, Mode};
    let mode = |line: &str| {
        let scheme = allpairs(&format!("seqs.fa {line}")).scoring.resolve(Alphabet::Dna).unwrap();
        let scoring = scheme.scoring().unwrap();
        (scoring.mode, scoring.end_gaps)
    };
    for line in ["", "--mode global", "--mismatch -5"] {
        assert_eq!(mode(line), (Mode::Global, pairwave::Scoring::dna().end_gaps), "{line}");
    }
    for line in ["--mode global --end-gaps charged", "--end-gaps charged", "--gap-open 3", "--gap-extend 3"] {
        assert_eq!(mode(line), (Mode::Global, EndGaps::Charged), "{line}");
    }
    for line in ["--end-gaps free", "--mode semi-global", "--mode semi-global --end-gaps free"] {
        assert_eq!(mode(line), (Mode::Global, EndGaps::Free), "{line}");
    }
    assert_eq!(mode("--mode local").0, Mode::Local);
    let PairFormat::Tsv(fields) = allpairs("seqs.fa --mode local").format else { panic!() };
    assert_eq!((fields.len(), fields[7].name), (13, "query_start"));
    let PairFormat::Tsv(fields) = allpairs("seqs.fa --mode local --score-only").format else { panic!() };
    assert_eq!(fields.len(), 3);
    assert_eq!(allpairs("seqs.fa --min-score -7").selection.min_score, Some(-7));
}

#[test]
fn fields_decide_what_edit_computes() {
    use pairwave::score::{EditMode, Limit};
    let edit = |line: &str| match options(&format!("edit {line}")).unwrap().action {
        Action::Edit(job) => *job,
        action => panic!("{action:?}"),
    };
    let fields = |line: &str| match edit(line).format {
        PairFormat::Tsv(fields) | PairFormat::JsonLines(fields) => {
            fields.iter().map(|field| field.name).collect::<Vec<_>>().join(",")
        }
        format => panic!("{format:?}"),
    };
    let job = edit("p.fa");
    assert_eq!((job.mode, job.limit, job.align, job.all_ends), (EditMode::Global, Limit::None, false, false));
    assert_eq!((job.texts, job.pairs, job.read.alphabet), (None, None, AlphabetChoice::Detect));
    for (typed, limit) in [
        ("0", Limit::Distance(0)),
        ("1", Limit::Distance(1)),
        ("1.0", Limit::Rate(1.0)),
        (".05", Limit::Rate(0.05)),
        ("0.", Limit::Rate(0.0)),
    ] {
        assert_eq!(edit(&format!("p.fa --max-distance {typed}")).limit, limit, "{typed}");
    }
    assert_eq!(fields("p.fa t.fa"), "query,target,distance");
    assert_eq!(fields("p.fa --mode hw"), "query,target,distance,target_end");
    let all = "p.fa t.fa --pairs c.tsv --mode shw --align --all-ends --max-distance 0.1 --format ndjson";
    assert_eq!(
        fields(all),
        "query,target,region_start,region_end,distance,target_start,target_end,ends,identity,cigar"
    );
    // Implied by the format or the fields.
    assert!(edit("p.fa --format paf").align && edit("p.fa --fields query,qlen,gaps").align);
    assert!(edit("p.fa --mode infix --max-distance 2 --fields query,ends").all_ends);
    assert!(!edit("p.fa --fields qseqid,distance,send").align);
    assert!(matches!(options("edit --fields help").unwrap().action, Action::EditFields));
}

#[test]
fn options_of_long_decide_its_job() {
    use crate::cli::common::plot::PlotFile;
    use pairwave::jobs::long::Strands;
    use pairwave::long::Method;
    use pairwave::output::LongFormat;
    use pairwave::output::dotplot::Picture;
    use pairwave::score::{EndGaps, Mode};
    let long = |line: &str| match options(&format!("long {line}")).unwrap().action {
        Action::Long(job) => *job,
        action => panic!("{action:?}"),
    };
    long("q.fa t.fa --kernel sw_striped_score");
    let job = long("q.fa t.fa");
    let files = [job.query.to_str(), job.target.to_str()];
    assert_eq!((files, job.query_ids, job.target_ids), ([Some("q.fa"), Some("t.fa")], vec![], vec![]));
    assert_eq!((job.scoring.mode(), job.strand, job.top, job.min_score), (Mode::Local, None, 1, None));
    assert_eq!((job.method, job.strip, job.chunk, job.prune), (None, None, None, true));
    assert_eq!((job.host_memory, job.checkpoint, job.plot, job.files.stats), (None, None, None, None));
    let LongFormat::Tsv(fields) = job.format else { panic!() };
    assert_eq!((fields.len(), fields[2].name), (14, "strand"));
    // Both sequences may be in one file.
    let job = long(
        "g.fa g.fa --query-id a --target-id b --alphabet dna --strand both --top 5 --min-score 100 --method chunked1 \
         --strip 4096 --chunk 512 --no-prune --host-memory 2G --memory 1G --checkpoint work --format text --width 100 \
         --plot Path.PNG --check --threads 2 -o out.txt --gap-open 5 --gap-extend 2",
    );
    assert_eq!((job.query_ids, job.target_ids), (vec!["a".into()], vec!["b".into()]));
    assert_eq!((job.strand, job.top, job.min_score, job.prune), (Some(Strands::Both), 5, Some(100), false));
    assert_eq!((job.method, job.strip, job.chunk), (Some(Method::Chunked1), Some(4096), Some(512)));
    assert_eq!((job.host_memory, job.compute.memory), (Some(2 << 30), Some(1 << 30)));
    assert_eq!(job.plot, Some(PlotFile { path: "Path.PNG".into(), picture: Picture::Png }));
    assert_eq!(job.format, LongFormat::Text { width: 100 });
    assert!(job.compute.check);
    let ends = |line: &str| {
        let scoring = long(line).scoring.resolve(Alphabet::Dna).unwrap().scoring().unwrap();
        (scoring.mode, scoring.end_gaps)
    };
    assert_eq!(ends("q t --mode global"), (Mode::Global, pairwave::Scoring::dna().end_gaps));
    for name in ["semi-global", "semiglobal", "sg"] {
        assert_eq!(ends(&format!("q t --mode {name}")), (Mode::Global, EndGaps::Free));
    }
    assert_eq!(long("q t --mode global --min-score -7").min_score, Some(-7));
    let LongFormat::JsonLines(fields) = long("q t --format ndjson --score-only").format else { panic!() };
    assert_eq!(fields.len(), 10);
    assert!(matches!(options("long --fields help").unwrap().action, Action::LongFields));
}

#[test]
fn actions_that_only_print() {
    assert!(matches!(options("--citation").unwrap().action, Action::Citation));
    assert!(matches!(options("allpairs --fields help").unwrap().action, Action::Fields));
    assert!(matches!(options("man").unwrap().action, Action::Man(None)));
    assert!(options("devices --json --quiet").unwrap().quiet);
}
