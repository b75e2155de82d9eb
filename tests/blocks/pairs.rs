//! Tests of all-pairs jobs in blocks.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pairwave::engine::{Capacity, Engine};
use pairwave::gpu::adapter::Device;
use pairwave::jobs::blocks::{Block, BlockSource, Divisible, Whole};
use pairwave::jobs::{AllPairs, EditFilter, Feed, Job, PairResult, Run};
use pairwave::pairs::Pairs;
use pairwave::pairs::cpu::CpuWorker;
use pairwave::pairs::mock::{Act, MockEngine};
use pairwave::score::{CoverageFilter, Gaps, Mode, NamedScheme, Scoring};
use pairwave::seq::{Alphabet, Code, SequenceStore, Strands};
use pairwave::{Error, jobs::Summary};

use support::blocks::{SourceWithGaps, check_blocks};
use support::{Rng, adapter, gpu_checked, mutated, random_codes, rng, run_on, store, two_threads};

/// Creates many related sequences, some empty ones, and one that is as long as ten others.
fn sequences(rng: &mut Rng, alphabet: Alphabet, count: usize) -> Arc<SequenceStore> {
    let mut all: Vec<Vec<Code>> = Vec::new();
    for index in 0..count {
        let relative = (rng.below(3u32) > 0 && !all.is_empty()).then(|| rng.below(all.len()));
        let length = if index == count / 3 { 400 } else { rng.below(60usize) };
        let codes = match relative.filter(|_| length < 100) {
            Some(of) if all[of].len() < 100 => mutated(rng, alphabet, &all[of], 6),
            _ => random_codes(rng, alphabet, length),
        };
        all.push(codes);
    }
    store(alphabet, &all)
}

/// Creates jobs for alignments, scores, identities and best pairs, with one store or two, global or
/// local, and on one strand or both.
fn jobs(rng: &mut Rng) -> Vec<(&'static str, AllPairs)> {
    let (dna, others) = (sequences(rng, Alphabet::Dna, 24), sequences(rng, Alphabet::Dna, 17));
    let triangle = AllPairs::new(Arc::clone(&dna), Arc::new(Scoring::truong()));
    let rectangle = AllPairs { against: Some(Arc::clone(&others)), ..triangle.clone() };
    let affine = Scoring { gaps: Gaps::from_blast(5, 2), mode: Mode::Local, ..Scoring::truong() };
    let local = AllPairs { scoring: Arc::new(affine), min_score: Some(1), ..triangle.clone() };
    let coverage = CoverageFilter { query: Some(0.5), ..CoverageFilter::default() };
    let protein = AllPairs::new(sequences(rng, Alphabet::Protein, 15), Arc::new(Scoring::protein()));
    vec![
        ("triangle", triangle.clone()),
        ("rectangle", rectangle.clone()),
        ("scores", AllPairs { score_only: true, ..triangle.clone() }),
        ("best scores", AllPairs { score_only: true, max_hits: Some(2), ..rectangle.clone() }),
        ("identity", AllPairs { min_identity: Some(0.8), ..triangle.clone() }),
        ("best", AllPairs { max_hits: Some(3), ..triangle.clone() }),
        ("both strands", AllPairs { strand: Strands::Both, max_hits: Some(2), ..triangle.clone() }),
        ("reverse strands", AllPairs { strand: Strands::Minus, ..triangle.clone() }),
        ("both strands of two", AllPairs { strand: Strands::Both, min_identity: Some(0.7), ..rectangle.clone() }),
        ("local", local.clone()),
        ("top local", AllPairs { top_hits_only: true, coverage, ..local.clone() }),
        ("best local", AllPairs { against: Some(others), max_hits: Some(2), strand: Strands::Both, ..local }),
        ("protein", protein),
        ("covered", AllPairs { strand: Strands::Both, coverage, ..rectangle.clone() }),
        ("top", AllPairs { top_hits_only: true, ..triangle.clone() }),
        ("best of top", AllPairs { top_hits_only: true, max_hits: Some(1), ..rectangle.clone() }),
        ("top scores", AllPairs { top_hits_only: true, score_only: true, ..triangle }),
        ("one query", AllPairs { queries: store(Alphabet::Dna, &[dna.codes(8).to_vec()]), ..rectangle }),
    ]
}

fn mock(name: &str, cells: u64, script: impl IntoIterator<Item = Act>) -> Box<dyn Engine<Pairs>> {
    let capacity = Capacity { cells, pairs: 16, store_bytes: u64::MAX, batches: 2 };
    Box::new(MockEngine::new(name, capacity, script))
}

fn worker() -> Box<dyn Engine<Pairs>> {
    Box::<CpuWorker>::default()
}

fn whole(job: &AllPairs) -> Vec<PairResult> {
    run_on(job, vec![worker()], &two_threads()).expect("the job ends well").0
}

#[test]
fn blocks_of_pairs_equal_the_job() {
    let mut rng = rng(0xb10c);
    let run = two_threads();
    let mut cut_along_targets = 0;
    for (name, job) in jobs(&mut rng) {
        eprintln!("{name}");
        let expected = whole(&job);
        for parts in [1, 2, 7, 40] {
            let cells = job.cells() / parts;
            let engines = || match job.scoring.mode {
                Mode::Local => vec![worker(), worker()],
                Mode::Global => vec![mock("large", 1 << 40, []), mock("tiny", 300, []), worker()],
            };
            let session = || job.session_on(engines(), &run).expect("a session");
            let blocks = check_blocks(&job, &expected, cells, &run, &mut rng, session);
            assert!(
                blocks.len() as u64 <= 3 * parts && (parts == 1) == (blocks.len() == 1),
                "{} of {parts}",
                blocks.len()
            );
            cut_along_targets += blocks.iter().filter(|block| block.targets.is_some()).count();
        }
    }
    assert!(cut_along_targets > 20, "{cut_along_targets} blocks with some of the targets");
}

#[test]
fn blocks_on_a_gpu_equal_the_job() {
    let mut rng = rng(0xb10d);
    let (run, queries) = (two_threads(), sequences(&mut rng, Alphabet::Dna, 24));
    let all = AllPairs::new(queries, Arc::new(Scoring::truong()));
    for job in
        [AllPairs { strand: Strands::Both, max_hits: Some(4), ..all.clone() }, AllPairs { score_only: true, ..all }]
    {
        let engines = || vec![Box::new(gpu_checked()) as Box<dyn Engine<Pairs>>, worker()];
        let session = || job.session_on(engines(), &run).expect("a session");
        check_blocks(&job, &whole(&job), job.cells() / 9, &run, &mut rng, session);
    }
}

#[test]
fn devices_are_opened_and_edit_distances_run_first() {
    let mut rng = rng(0xb10e);
    let queries = sequences(&mut rng, Alphabet::Dna, 40);
    let others = sequences(&mut rng, Alphabet::Dna, 12);
    let (min_identity, edit_filter) = (Some(0.8), EditFilter::On);
    let triangle = AllPairs { min_identity, edit_filter, ..AllPairs::new(queries, Arc::new(Scoring::truong())) };
    let rectangle = AllPairs { against: Some(others), strand: Strands::Both, ..triangle.clone() };
    // Cheap end gaps: pairs need a proof of a long overlap.
    let vsearch = NamedScheme::find("vsearch").expect("a scheme").scoring(Alphabet::Dna).expect("for nucleotides");
    let scoring = Arc::new(vsearch);
    for (job, devices) in [
        (&triangle, vec![Device::Cpu]),
        (&AllPairs { scoring: Arc::clone(&scoring), ..triangle.clone() }, vec![Device::Cpu]),
        (&AllPairs { scoring, ..rectangle.clone() }, vec![Device::Cpu]),
        (&rectangle, vec![Device::Cpu]),
        (&AllPairs { max_hits: Some(1), ..rectangle.clone() }, vec![Device::Cpu]),
        (&triangle, vec![Device::Adapter(Box::new(adapter()))]),
    ] {
        let run = Run { devices, threads: 2, ..Run::default() };
        let expected = whole(&AllPairs { edit_filter: EditFilter::Off, ..job.clone() });
        assert!(expected.len() > 10);
        check_blocks(job, &expected, job.cells() / 12, &run, &mut rng, || job.session(&run).expect("a session"));
        let mut session = job.session(&run).expect("a session");
        for block in job.cut(job.cells() / 2).expect("it can be cut") {
            let summary = job.run_blocks(&[block], &mut session, &run, &mut Whole(|_: &[PairResult]| Ok(())));
            let engines = summary.expect("a block").engines;
            assert!(engines[0].name.ends_with("(edit distances)"), "{}", engines[0].name);
        }
    }
}

/// Computes the given blocks in one run on these engines.
fn run_blocks(job: &AllPairs, engines: Vec<Box<dyn Engine<Pairs>>>, blocks: &[Block]) -> Result<Summary, Error> {
    let mut session = job.session_on(engines, &two_threads())?;
    job.run_blocks(blocks, &mut session, &two_threads(), &mut Whole(|_: &[PairResult]| Ok(())))
}

#[test]
fn blocks_of_another_job_are_refused() {
    let job = AllPairs::new(sequences(&mut rng(1), Alphabet::Dna, 9), Arc::new(Scoring::truong()));
    let block = |units, targets| Block { units, targets, pairs: 0, cells: 0 };
    for wrong in [block(0..10, None), block(4..5, Some(0..10)), block(4..6, Some(0..3)), block(1 << 32..1 << 33, None)]
    {
        let error = run_blocks(&job, vec![worker()], &[block(0..2, None), wrong.clone()]).expect_err("refused");
        assert!(error.to_string().contains("is not a block of this job"), "{error}");
    }
    assert_eq!(run_blocks(&job, vec![worker()], &[]).expect("nothing to do").pairs, 0);
}

#[test]
fn session_continues_after_lost_engines_and_errors() {
    let mut rng = rng(3);
    let job = AllPairs::new(sequences(&mut rng, Alphabet::Dna, 24), Arc::new(Scoring::truong()));
    let run = two_threads();
    let expected = whole(&job);
    // One engine fails in its third batch, the other in its first. The reserve engine continues in
    // this run and in the next.
    let lost = |name, after| {
        mock(name, 500, vec![Act::Compute(Default::default()); after].into_iter().chain([Act::FailCollect]))
    };
    let session = || job.session_on(vec![lost("first", 2), lost("second", 0)], &run).expect("a session");
    check_blocks(&job, &expected, job.cells() / 9, &run, &mut rng, session);
    let mut session = job.session_on(vec![mock("well", 1 << 30, [])], &run).expect("a session");
    let blocks = job.cut(job.cells() / 4).expect("it can be cut");
    let full = |_: &[PairResult]| Err(Error::Internal("the disk is full".into()));
    let error = job.run_blocks(&blocks, &mut session, &run, &mut Whole(full)).expect_err("the sink failed");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    let summary =
        job.run_blocks(&blocks, &mut session, &run, &mut Whole(|_: &[PairResult]| Ok(()))).expect("it goes on");
    assert_eq!((summary.written, summary.engines[0].name.as_str()), (expected.len() as u64, "well"));
    assert_eq!(summary.engines.len(), 1, "nobody else had to step in");
    run.interrupt.store(true, Ordering::Relaxed);
    let error = job.run_blocks(&blocks, &mut session, &run, &mut Whole(|_: &[PairResult]| Ok(())));
    assert!(matches!(error, Err(Error::Interrupted)), "{error:?}");
}

/// Tests that one call of `feed` computes everything. Running engines must take the blocks that
/// arrive after the start.
#[test]
fn engines_take_blocks_that_arrive_during_a_run() {
    let queries = sequences(&mut rng(0xb10f), Alphabet::Dna, 40);
    let job = AllPairs { score_only: true, ..AllPairs::new(queries, Arc::new(Scoring::truong())) };
    let expected = whole(&job);
    let blocks = job.cut(job.cells() / 20).expect("it can be cut");
    let mut session = job.session_on(vec![mock("one", 1 << 40, [])], &two_threads()).expect("a session");
    let late = SourceWithGaps::new(&blocks);
    let source: Arc<dyn BlockSource> = Arc::<SourceWithGaps>::clone(&late);
    let mut rows = Vec::new();
    let mut sink = Whole(|some: &[PairResult]| {
        rows.extend_from_slice(some);
        Ok(())
    });
    let feed = Feed { source: &source, run: &two_threads(), sink: &mut sink };
    job.feed(feed, &mut session).expect("blocks are computed");
    assert_eq!(
        (late.remaining(), source.pending_cells().load(Ordering::Relaxed)),
        (0, 0),
        "one run takes all of {}",
        blocks.len()
    );
    assert_eq!(rows, expected);
}
