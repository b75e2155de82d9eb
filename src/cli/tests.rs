//! Every contradiction with its message, and the help of every command.

use super::args::Args;
use super::device::DeviceChoice;
use super::options::{Action, AllPairs, Options};
use clap::CommandFactory;
use pairwave::Error;
use pairwave::output::{Distance, Format, MatrixShape};
use pairwave::score::IdentityDefinition;
use pairwave::seq::Alphabet;
use pairwave::seq::reader::AlphabetChoice;

fn options(line: &str) -> pairwave::Result<Options> {
    let args = Args::of(std::iter::once("pairwave").chain(line.split_whitespace()).map(Into::into).collect());
    Options::try_from(args.unwrap_or_else(|error| panic!("clap refused '{line}': {error}")))
}

fn allpairs(line: &str) -> AllPairs {
    match options(&format!("allpairs {line}")).unwrap().action {
        Action::AllPairs(job) => *job,
        action => panic!("{action:?}"),
    }
}

#[test]
fn clap_finds_no_fault_in_the_commands() {
    Args::command().debug_assert();
}

#[test]
fn defaults() {
    let job = allpairs("seqs.fa");
    assert_eq!((job.seqs.to_str(), job.against, job.files.output), (Some("seqs.fa"), None, None));
    assert_eq!(job.read.alphabet, AlphabetChoice::Detect);
    assert_eq!(job.selection.identity, IdentityDefinition::InnerColumns);
    assert!(!job.selection.score_only && job.selection.min_identity.is_none() && job.selection.max_hits.is_none());
    assert_eq!(job.compute.devices, [DeviceChoice::Auto]);
    assert_eq!(job.compute.memory, None);
    let Format::Tsv(fields) = &job.format else { panic!("{:?}", job.format) };
    assert_eq!(fields.len(), 9);
}

#[test]
fn everything_at_once() {
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
    Scheme {
        alphabet: Dna,
        table: Nucleotide {
            match_score: 1,
            mismatch: -4,
            ambiguity: Zero,
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

#[test]
fn experiments_run_in_their_own_order_each_once() {
    use pairwave::jobs::bench::{BenchWork, Experiment, GapKind};
    let bench = |line: &str| match options(&format!("bench {line}")).unwrap().action {
        Action::Bench(job) => *job,
        action => panic!("{action:?}"),
    };
    let all = bench("");
    assert_eq!((all.experiments, all.cluster), (Experiment::ALL.to_vec(), false));
    let simulated = bench("cluster --counts 5,7");
    assert_eq!((simulated.experiments.len(), simulated.cluster, simulated.counts), (0, true, Some(vec![5, 7])));
    assert_eq!((all.lengths, all.counts, all.output, all.plot), (None, None, None, None));
    // All but the seven that follow others, and the CPU.
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
    assert_eq!(format("--format blast-tab"), Format::Blast6);
    assert_eq!(format("--format paf"), Format::Paf);
    assert!(matches!(format("--format json-lines"), Format::JsonLines(_)));
    let matrix = Format::Phylip { distance: Distance::Identity, shape: MatrixShape::Square };
    assert_eq!(format("--format distance-matrix"), matrix);
    let matrix = Format::Phylip { distance: Distance::JukesCantor, shape: MatrixShape::Lower };
    assert_eq!(format("--format phylip --distance jc --matrix-shape lower"), matrix);
    let Format::Tsv(fields) = format("--fields query+target+id") else { panic!() };
    assert_eq!(fields.iter().map(|field| field.name).collect::<Vec<_>>(), ["query", "target", "id"]);
}

#[test]
fn modes() {
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
    let Format::Tsv(fields) = allpairs("seqs.fa --mode local").format else { panic!() };
    assert_eq!((fields.len(), fields[7].name), (13, "query_start"));
    let Format::Tsv(fields) = allpairs("seqs.fa --mode local --score-only").format else { panic!() };
    assert_eq!(fields.len(), 3);
    assert_eq!(allpairs("seqs.fa --min-score -7").selection.min_score, Some(-7));
}

#[test]
fn distances() {
    use pairwave::score::{EditMode, Limit};
    let edit = |line: &str| match options(&format!("edit {line}")).unwrap().action {
        Action::Edit(job) => *job,
        action => panic!("{action:?}"),
    };
    let fields = |line: &str| match edit(line).format {
        Format::Tsv(fields) | Format::JsonLines(fields) => {
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
    // Implied by what is to be written.
    assert!(edit("p.fa --format paf").align && edit("p.fa --fields query,qlen,gaps").align);
    assert!(edit("p.fa --mode infix --max-distance 2 --fields query,ends").all_ends);
    assert!(!edit("p.fa --fields qseqid,distance,send").align);
    assert!(matches!(options("edit --fields help").unwrap().action, Action::EditFields));
}

#[test]
fn long_pairs() {
    use pairwave::jobs::long::Strand;
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
    assert_eq!((files, job.query_id, job.target_id), ([Some("q.fa"), Some("t.fa")], None, None));
    assert_eq!((job.mode, job.strand, job.top, job.min_score), (Mode::Local, None, 1, None));
    assert_eq!((job.method, job.strip, job.chunk, job.prune), (None, None, None, true));
    assert_eq!((job.host_memory, job.checkpoint, job.plot, job.files.stats), (None, None, None, None));
    let LongFormat::Tsv(fields) = job.format else { panic!() };
    assert_eq!((fields.len(), fields[2].name), (14, "strand"));
    // One file may be both.
    let job = long(
        "g.fa g.fa --query-id a --target-id b --alphabet dna --strand both --top 5 --min-score 100 --method chunked1 \
         --strip 4096 --chunk 512 --no-prune --host-memory 2G --memory 1G --checkpoint work --format text --width 100 \
         --plot Path.PNG --check --threads 2 -o out.txt --gap-open 5 --gap-extend 2",
    );
    assert_eq!((job.query_id.as_deref(), job.target_id.as_deref()), (Some("a"), Some("b")));
    assert_eq!((job.strand, job.top, job.min_score, job.prune), (Some(Strand::Both), 5, Some(100), false));
    assert_eq!((job.method, job.strip, job.chunk), (Some(Method::Chunked1), Some(4096), Some(512)));
    assert_eq!((job.host_memory, job.compute.memory), (Some(2 << 30), Some(1 << 30)));
    assert_eq!(job.plot, Some(("Path.PNG".into(), Picture::Png)));
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

#[test]
fn contradictions() {
    let lines = [
        "--quiet",
        "allpairs --fields query",
        "allpairs - --against -",
        "allpairs s.fa --min-identity 97",
        "allpairs s.fa --min-identity 970",
        "allpairs s.fa --min-identity -0.1",
        "allpairs s.fa --min-identity nan",
        "allpairs s.fa --max-hits 0",
        "allpairs s.fa --threads 0",
        "allpairs s.fa --score-only --min-identity 0.97",
        "allpairs s.fa --score-only --max-hits 3",
        "allpairs s.fa --score-only --iddef 1",
        "allpairs s.fa --score-only --check",
        "allpairs s.fa --score-only --fields query,identity",
        "allpairs s.fa --score-only --format paf",
        "allpairs s.fa --score-only --format phylip",
        "allpairs s.fa --fields query,expect",
        "allpairs s.fa --fields query,sgi",
        "allpairs s.fa --score-only --fields query,btop",
        "allpairs s.fa --format sam --fields query",
        "allpairs s.fa --format text --width 0",
        "allpairs s.fa --width 80",
        "allpairs s.fa --score-only --format text",
        "edit p.fa --alphabet bytes --fields query,btop",
        "allpairs s.fa --fields query,query",
        "allpairs s.fa --fields query --format paf",
        "allpairs s.fa --distance kimura",
        "allpairs s.fa --matrix-shape lower --format jsonl",
        "allpairs s.fa --format phylip --min-identity 0.9",
        "allpairs s.fa --format phylip --max-hits 3",
        "allpairs s.fa --format phylip --against t.fa --matrix-shape lower",
        "allpairs s.fa --format phylip --distance kimura --iddef 1",
        "allpairs s.fa --format phylip --min-score 5",
        "allpairs s.fa --format phylip --mode local",
        "allpairs s.fa --mode local --end-gaps charged",
        "allpairs s.fa --mode local --end-gaps free",
        "allpairs s.fa --mode semi-global --end-gaps charged",
        "allpairs s.fa --mode global --end-gaps free",
        "allpairs s.fa --mode local --iddef 3",
        "allpairs s.fa --mode local --fields query,id3",
        "allpairs s.fa --match 5 --matrix EDNAFULL",
        "allpairs s.fa --mismatch -4 --matrix EDNAFULL",
        "allpairs s.fa --ambiguity zero --matrix EDNAFULL",
        "allpairs s.fa --mismatch 4",
        "allpairs s.fa --match -4",
        "allpairs s.fa --gap-open -10",
        "allpairs s.fa --gap-extend -1",
        "allpairs s.fa --gap-extend 1000001",
        "allpairs s.fa --match 5 --alphabet protein",
        "allpairs s.fa --alphabet bytes",
        "allpairs s.fa --memory much",
        "allpairs s.fa --memory 8X",
        "allpairs s.fa --memory -8G",
        "allpairs s.fa --memory 15M",
        "allpairs s.fa --device 0,0",
        "allpairs s.fa --device 0 --device all",
        "long --fields query",
        "long - -",
        "long q.fa t.fa --top 0",
        "long q.fa t.fa --strip 0",
        "long q.fa t.fa --chunk 0",
        "long q.fa t.fa --width 0 --format text",
        "long q.fa t.fa --width 80",
        "long q.fa t.fa --min-score 0",
        "long q.fa t.fa --tune",
        "long q.fa t.fa --kernel nw_slice",
        "long q.fa t.fa --kernel myers_thread",
        "long q.fa t.fa --kernel sw_stripes",
        "long q.fa t.fa --mode global --top 2",
        "long q.fa t.fa --mode semi-global --no-prune",
        "long q.fa t.fa --method striped --chunk 64",
        "long q.fa t.fa --score-only --format paf",
        "long q.fa t.fa --score-only --format sam",
        "long q.fa t.fa --score-only --format text",
        "long q.fa t.fa --score-only --plot p.svg",
        "long q.fa t.fa --score-only --check",
        "long q.fa t.fa --score-only --method striped",
        "long q.fa t.fa --score-only --strip 64",
        "long q.fa t.fa --score-only --fields query,identity",
        "long q.fa t.fa --fields query,expect",
        "long q.fa t.fa --fields query --format sam",
        "long q.fa t.fa --alphabet protein --strand both",
        "long q.fa t.fa --alphabet protein --strand reverse",
        "long q.fa t.fa --alphabet protein --format sam",
        "long q.fa t.fa --alphabet protein --match 2",
        "long q.fa t.fa --alphabet bytes",
        "long q.fa t.fa --plot picture",
        "long q.fa t.fa --plot picture.pdf",
        "long q.fa t.fa --plot -",
        "long q.fa t.fa --plot a.svg -o a.svg",
        "long q.fa t.fa --plot a.svg --stats a.svg",
        "long q.fa t.fa --host-memory much",
        "long q.fa t.fa --host-memory 1M",
        "long q.fa t.fa --memory 8X",
        "long q.fa t.fa --device 0,0",
        "long q.fa t.fa --threads 0",
        "long q.fa t.fa --mismatch 4",
        "bench --seconds 0",
        "bench --seconds -1",
        "bench --seconds nan",
        "bench kernels --lengths 128,0",
        "bench kernels --counts 0",
        "bench kernels --counts 10000001",
        "bench kernels --work scores,scores",
        "bench slices --gaps linear,affine,linear",
        "bench slices --lengths 128",
        "bench kernels --seqs s.fa",
        "bench --kernel cpu,cpu",
        "bench --plot -",
        "bench -o bench.svg --plot bench.svg",
        "bench --plot a --save a",
        "bench --save a --compare a",
        "bench --compare -",
        "bench --compare a --tolerance 100",
        "bench --compare a --tolerance -1",
        "bench --compare a --tolerance nan",
        "bench --tolerance 5",
        "bench cluster --save a",
        "bench --threads 0",
        "bench --device 0,0",
        "bench edit --gaps affine",
        "bench cluster --device cpu",
        "allpairs s.fa -o x.svg",
        "allpairs s.fa -o x.csv.zst",
        "allpairs s.fa -o x.json",
        "allpairs s.fa --format paf -o x.sam",
        "allpairs s.fa -o x.zip",
        "allpairs s.fa --stats x.tsv",
        "search q.fa d.fa -o x.html",
        "search q.fa d.fa -o x.bam",
        "pairs a.fa b.fa -o x.fa",
        "edit p.fa -o x.vcf",
        "long q.fa t.fa -o x.SVG",
        "long q.fa t.fa -o x.vcf.xz",
        "papara -t t -s s -q q -o x.jplace",
        "papara -t t -s s -q q -o x.sto",
        "papara -t t -s s -q q -o x.fa --format phylip",
        "papara -t t -s s -q q --table x.html",
        "papara -t t -s s -q q --checkpoint x.gz",
        "msa s.fa -o x.pdf",
        "msa s.fa -o x.dnd",
        "msa s.fa -o x.aln --format phylip",
        "msa s.fa --guidetree-out x.svg",
        "msa s.fa --distmat-out x.tsv --report x.pdf",
        "tree s.fa -o x.svg",
        "dist s.fa -o x.dst",
        "makedb s.fa -o x.fa",
        "makedb s.fa -o x.pwdb.zst",
        "dbinfo x.pwdb -o x.fa",
        "plan allpairs s.fa -o x.tsv",
        "bench -o x.png",
        "bench --save x.csv",
        "msa s.fa --tree mbed --distance kmer",
        "msa s.fa --mode clustalw --tree mbed --pair-gap-open 3",
        "tree s.fa --tree mbed --distance edit",
        "tree s.fa --tree mbed --pair-matrix blosum",
        "tree s.fa --aligned --degap",
        "dist s.fa --aligned --degap",
        "edit p.fa --align --fields query,distance",
        "edit p.fa --mode infix --max-distance 3 --all-ends --fields query,distance",
        "edit p.fa --alphabet bytes --degap",
        "edit p.fa --max-distance 3%",
        "allpairs s.fa --iddef 1 --format paf",
        "pairs a.fa b.fa --iddef 0 --format text",
        "run work --status --device cpu",
        "run work --missing --stats s.json",
        "plan allpairs s.fa -o work --block-cells 5T --speed 2T",
    ];
    let messages: Vec<String> = lines
        .iter()
        .map(|line| {
            let error = options(line).expect_err(line);
            assert!(matches!(error, Error::Usage(_)), "{line}: {error:?}");
            let message = super::flags::message(&error);
            assert!(!message.contains('\n'), "{line}: more than one line");
            format!("{line}\n    {message}\n")
        })
        .collect();
    insta::assert_snapshot!(messages.concat());
}

#[test]
fn output_may_not_replace_the_input() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = options(&format!("allpairs {path} -o {path}")).unwrap_err().to_string();
    assert!(error.ends_with("would replace the input of that name"), "{error}");
}

#[test]
fn help_of_every_command() {
    let mut command = Args::command().term_width(100);
    command.build();
    insta::assert_snapshot!("help", command.render_long_help());
    for name in [
        "allpairs",
        "search",
        "pairs",
        "edit",
        "long",
        "papara",
        "plan",
        "run",
        "merge",
        "mpi",
        "makedb",
        "dbinfo",
        "devices",
        "bench",
        "completions",
        "man",
    ] {
        let command = command.find_subcommand_mut(name).unwrap();
        insta::assert_snapshot!(format!("help_{name}"), command.render_long_help());
        insta::assert_snapshot!(format!("help_{name}_short"), command.render_help());
    }
}

#[test]
fn pages_name_every_option() {
    let mut command = Args::command();
    command.build();
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::Bash, &mut Args::command(), "pairwave", &mut script);
    let script = String::from_utf8(script).unwrap();
    for name in [
        "allpairs", "search", "pairs", "edit", "long", "papara", "plan", "run", "merge", "mpi", "makedb", "dbinfo",
        "bench",
    ] {
        let command = command.find_subcommand(name).unwrap();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap().replace('\\', "");
        for option in command.get_opts() {
            let name = format!("--{}", option.get_long().unwrap());
            assert!(page.contains(&name), "the manual lacks {name}");
            assert!(script.contains(&name), "the completions lack {name}");
        }
    }
}

/// Arguments besides an option that a command requires.
fn inputs(command: &str) -> &'static str {
    match command {
        "search" | "pairs" | "long" => "a.fa b.fa",
        "papara" => "-t t.nwk -s r.fa -q q.fa",
        "merge" | "run" => "work",
        "makedb" => "s.fa -o s.pwdb",
        "dbinfo" => "s.pwdb",
        "plan" | "mpi" => "allpairs s.fa -o work",
        "devices" | "bench" | "man" => "",
        "completions" => "bash",
        _ => "s.fa",
    }
}

/// A value for an option that the advice shows with a placeholder.
fn sample(command: &str, option: &str) -> &'static str {
    match (command, option) {
        (_, "min-identity" | "query-cover" | "transition-weight") => "0.9",
        (_, "mismatch") => "-4",
        (_, "memory") => "1G",
        ("msa", "matrix") => "gonnet",
        (_, "matrix") => "EDNAFULL",
        ("dist" | "tree" | "msa", "pair-matrix") => "gonnet",
        (_, "scheme") => "blastn",
        (_, "device") => "cpu",
        (_, "alphabet") => "dna",
        (_, "mode") => "global",
        (_, "fields") => "query,target",
        (_, "report") => "x.html",
        (_, "plot") => "x.svg",
        (_, "guidetree-out" | "guidetree-in") => "x.nwk",
        (_, "hydrophilic") => "GPS",
        (_, "output" | "checkpoint") => "x.out",
        ("msa", "format") => "clustal",
        ("dist", "format") => "tsv",
        ("papara", "format") => "fasta",
        ("bench", "format") => "csv",
        (_, "format") => "paf",
        (_, "labels") => "nodes",
        (_, "order") => "tree",
        _ => "5",
    }
}

/// Returns the command line that an advice suggests for a command; `None` if the command lacks an option.
fn suggestion(command: &clap::Command, advice: &str) -> Option<String> {
    let name = command.get_name();
    let mut line = format!("{name} {}", inputs(name));
    let plain: String = advice.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        let Some(option) = word.strip_prefix("--").map(|word| word.trim_end_matches([',', ';', ':'])) else { continue };
        let is =
            |argument: &&clap::Arg| argument.get_long_and_visible_aliases().is_some_and(|all| all.contains(&option));
        let argument = command.get_arguments().find(is)?;
        if line.contains(&format!(" --{option} "))
            || ["reads", "reference", "db"].contains(&option)
            || option == "output" && line.contains(" -o ")
        {
            continue;
        }
        line.push_str(&format!(" --{option} "));
        if argument.get_action().takes_values() {
            let next = words.get(index + 1).map(|word| word.trim_end_matches([',', ';', ':'])).unwrap_or_default();
            let is_value = argument.get_possible_values().iter().any(|value| value.matches(next, true));
            let is_literal = is_value || option == "fields" && next.contains(',') || next == "none";
            line.push_str(if is_literal { next } else { sample(name, option) });
        }
    }
    match name {
        "tree" if advice.contains("--labels") => line.push_str(" --aligned --bootstrap 5"),
        _ => {}
    }
    Some(line)
}

/// Every advice names existing options and commands, and its suggestion can be parsed.
#[test]
fn every_advice_can_be_followed() {
    use super::tips::{COMMANDS, FOREIGN, VALUES, options_in};
    let args = Args::command();
    let mut wrong = Vec::new();
    let mut parses = |line: &str, advice: &str| match Args::of(
        std::iter::once("pairwave").chain(line.split_whitespace()).map(Into::into).collect(),
    ) {
        Err(error) if !error.use_stderr() => {}
        Err(error) => wrong.push(format!("{advice}\n  {line}\n  {error}")),
        Ok(args) => wrong.extend(Options::try_from(args).err().map(|error| format!("{advice}\n  {line}\n  {error}"))),
    };
    let entries = FOREIGN.iter().chain(VALUES.iter().map(|(_, entry)| entry));
    for (names, advice, commands) in entries {
        let mut followed = 0;
        for command in args.get_subcommands() {
            if !commands.is_empty() && !commands.contains(&command.get_name()) {
                continue;
            }
            match suggestion(command, advice) {
                Some(line) => parses(&line, advice),
                None => assert!(commands.is_empty(), "{names:?} of {}: {advice}", command.get_name()),
            }
            followed += usize::from(suggestion(command, advice).is_some());
        }
        assert!(followed > 0 || options_in(advice).next().is_none(), "{names:?}: {advice}");
    }
    let quoted = |advice: &str| -> Vec<String> {
        let commands = advice.split('\'').skip(1).step_by(2).filter_map(|line| line.strip_prefix("pairwave "));
        commands.map(str::to_owned).collect()
    };
    let all = entries_of(FOREIGN, VALUES).chain(COMMANDS.iter().map(|(_, line)| *line));
    for advice in all {
        for line in quoted(advice) {
            let word = |word: &str| match word {
                "FRACTION" => "0.9".to_owned(),
                "EVALUE" | "N" => "5".to_owned(),
                word if word.chars().all(|letter| letter.is_ascii_uppercase()) => format!("{}.x", word.to_lowercase()),
                word => word.to_owned(),
            };
            parses(&line.split_whitespace().map(word).collect::<Vec<_>>().join(" "), advice);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn entries_of(
    options: &'static [super::tips::Entry],
    values: &'static [(&'static str, super::tips::Entry)],
) -> impl Iterator<Item = &'static str> {
    options.iter().chain(values.iter().map(|(_, entry)| entry)).map(|(_, advice, _)| *advice)
}
