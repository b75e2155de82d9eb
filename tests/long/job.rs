//! `LongAlignment` compared with the textbook algorithm: on all engines, with all divisions and
//! locations of borders, and after any number of kills and restarts.

mod columns;
mod faulty;
mod killed;
mod reserve;
mod several;
mod slain;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use pairwave::jobs::long::LongTuning;
use pairwave::jobs::{LongAlignment, LongHit, LongWant, Strand, Strands};
use pairwave::long::cpu::CpuLong;
use pairwave::long::mock::Textbook;
use pairwave::long::{
    BestCell, KeptBorder, LeftSource, LongEngine, Method, PanelSweep, SweepResult, SweepSink, TraceRegion,
    TracebackResult, oracle,
};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Mode, Scoring, SubstitutionMatrix};
use pairwave::seq::{Alphabet, Code};
use pairwave::{Error, Job, Result, Run};

use support::LongResult;

type Engines = Vec<Box<dyn LongEngine>>;

fn textbook(label: &str, speed: f64) -> Textbook {
    Textbook { label: label.into(), speed, panel_columns: 40, trace_cells: 1 << 14, keeps_columns: false }
}

fn one_engine() -> Engines {
    vec![Box::new(textbook("one", 1e8))]
}

/// Returns engines that report wrong speeds.
fn three_engines() -> Engines {
    vec![
        Box::new(textbook("quick", 3e8)),
        Box::new(Hooked::new(textbook("slow", 2e8), |_| {
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        })),
        Box::new(Textbook { trace_cells: 64 * 64, ..textbook("small", 1e8) }),
    ]
}

/// A function that is called after every mark, with the number of marks so far.
type Hook = Arc<dyn Fn(u64) -> Result<()> + Send + Sync>;

/// An engine that calls a function after every mark.
struct Hooked {
    inner: Textbook,
    hook: Hook,
    marks: AtomicU64,
}

impl Hooked {
    fn new(inner: Textbook, hook: impl Fn(u64) -> Result<()> + Send + Sync + 'static) -> Self {
        Hooked { inner, hook: Arc::new(hook), marks: AtomicU64::new(0) }
    }
}

struct HookedSink<'a>(&'a dyn SweepSink, &'a Hooked);

impl SweepSink for HookedSink<'_> {
    fn push_right_border(&self, first: u32, h: &[i32], gap: &[i32]) -> Result<()> {
        self.0.push_right_border(first, h, gap)
    }

    fn push_column(&self, column: u32, edge: KeptBorder) -> Result<()> {
        self.0.push_column(column, edge)
    }

    fn push_row(&self, row: u32, edge: KeptBorder) -> Result<()> {
        self.0.push_row(row, edge)?;
        (self.1.hook)(self.1.marks.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn progress(&self, cells: u64, best: Option<BestCell>) {
        self.0.progress(cells, best);
    }
}

/// Forwards the properties of a wrapped engine.
macro_rules! as_inner {
    () => {
        fn label(&self) -> &str {
            self.inner.label()
        }

        fn speed(&self) -> f64 {
            self.inner.speed()
        }

        fn panel_columns(&self, rows: u32, columns: u32, alone: bool) -> u32 {
            self.inner.panel_columns(rows, columns, alone)
        }
    };
}
pub(crate) use as_inner;

impl LongEngine for Hooked {
    as_inner!();

    fn keeps_columns(&self) -> bool {
        self.inner.keeps_columns()
    }

    fn sweep(&mut self, sweep: &PanelSweep, left: &dyn LeftSource, sink: &dyn SweepSink) -> Result<SweepResult> {
        self.inner.clone().sweep(sweep, left, &HookedSink(sink, self))
    }

    fn can_trace(&self, rows: u32, columns: u32, method: Method) -> bool {
        self.inner.can_trace(rows, columns, method)
    }

    fn trace(&mut self, region: &TraceRegion) -> Result<TracebackResult> {
        self.inner.trace(region)
    }
}

fn dna(gaps: Gaps, mode: Mode, end_gaps: EndGaps) -> Scoring {
    Scoring { mode, ..Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, end_gaps).unwrap() }
}

fn protein(gaps: Gaps, mode: Mode, end_gaps: EndGaps) -> Scoring {
    let blosum62 = SubstitutionMatrix::built_in("BLOSUM62").unwrap();
    Scoring { mode, ..Scoring::matrix(Alphabet::Protein, &blosum62, gaps, end_gaps).unwrap() }
}

fn job(query: &[Code], target: &[Code], scoring: Scoring) -> LongAlignment {
    let (alphabet, scoring) = (scoring.alphabet, Arc::new(scoring));
    let store = |codes: &[Code]| support::store(alphabet, &[codes.to_vec()]);
    let tuning = LongTuning { grid_pitch: Some(64), save_every: Some(Duration::ZERO), ..LongTuning::default() };
    LongAlignment { tuning, ..LongAlignment::new(store(query), 0, store(target), 0, scoring) }
}

fn run(job: &LongAlignment, engines: Engines) -> Result<LongResult> {
    support::run_long(job, engines, &Run::default())
}

fn hits(job: &LongAlignment, engines: Engines) -> Vec<LongHit> {
    run(job, engines).unwrap().hits
}

fn reverse_complement(codes: &[Code]) -> Vec<Code> {
    let facing = |letter: u8| match b"ACRMBDSWN".iter().position(|&known| known == letter) {
        Some(index) => b"TGYKVHSWN"[index],
        None => b"ACRMBD"[b"TGYKVH".iter().position(|&known| known == letter).unwrap()],
    };
    let encode = |letter| Alphabet::Dna.encode(letter).unwrap();
    codes.iter().rev().map(|&code| encode(facing(Alphabet::Dna.decode(code)))).collect()
}

/// Returns the alignments of the textbook algorithm.
fn expected(query: &[Code], target: &[Code], scoring: &Scoring) -> Vec<LongHit> {
    let actual = oracle::align(query, target, scoring);
    if scoring.mode == Mode::Local && actual.score == 0 {
        return Vec::new();
    }
    let range = |from: usize, to: usize| Some(from as u32..to as u32);
    vec![LongHit {
        strand: Strand::Plus,
        score: actual.score,
        query: range(actual.start.0, actual.end.0),
        target: range(actual.start.1, actual.end.1),
        query_end: actual.end.0 as u32,
        target_end: actual.end.1 as u32,
        cigar: Some(actual.cigar),
    }]
}

/// Converts hits of the reverse complement to hits of the minus strand.
fn on_minus(mut hits: Vec<LongHit>, m: usize) -> Vec<LongHit> {
    for hit in &mut hits {
        hit.strand = Strand::Minus;
        hit.query = hit.query.take().map(|query| m as u32 - query.end..m as u32 - query.start);
    }
    hits
}

/// Returns two related sequences of about these lengths.
fn related(seed: u64, alphabet: Alphabet, m: usize, n: usize) -> (Vec<Code>, Vec<Code>) {
    let mut rng = support::rng(seed);
    let query = support::random_codes(&mut rng, alphabet, m);
    let mut target = support::mutated(&mut rng, alphabet, &query, 12);
    target.truncate(n);
    let rest = n - target.len();
    let (before, after) = (rest / 3, rest - rest / 3);
    let flank = |rng: &mut _, length| support::random_codes(rng, alphabet, length);
    (query, [flank(&mut rng, before), target, flank(&mut rng, after)].concat())
}

const MODES: [(Mode, EndGaps); 4] = [
    (Mode::Global, EndGaps::Charged),
    (Mode::Global, EndGaps::Free),
    (Mode::Local, EndGaps::Charged),
    (Mode::Global, EndGaps::Priced(Gaps { first: 3, next: 1 })),
];
const GAPS: [Gaps; 3] = [Gaps { first: 10, next: 10 }, Gaps { first: 11, next: 1 }, Gaps { first: 0, next: 0 }];

#[test]
fn results_are_the_textbooks() {
    let lengths = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 90), (64, 64), (65, 63), (130, 300), (301, 128)];
    for (seed, (m, n)) in (0..).zip(lengths) {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            let (query, target) = related(seed, alphabet, m, n);
            for (gaps, (mode, end_gaps)) in GAPS.into_iter().flat_map(|gaps| MODES.map(|mode| (gaps, mode))) {
                if matches!(end_gaps, EndGaps::Priced(ends) if ends.first > gaps.first) {
                    continue;
                }
                let scoring = if alphabet == Alphabet::Dna { dna } else { protein }(gaps, mode, end_gaps);
                let what = format!("seed {seed}, {m} x {n} {alphabet:?}, {gaps:?}, {mode:?}, {end_gaps:?}");
                let expected = expected(&query, &target, &scoring);
                let job = job(&query, &target, scoring);
                assert_eq!(hits(&job, one_engine()), expected, "{what}");
                let cut = LongAlignment {
                    tuning: LongTuning { belt_rows: Some(64), panel_columns: Some(17), ..job.tuning.clone() },
                    host_memory: Some(500),
                    ..job.clone()
                };
                assert_eq!(hits(&cut, three_engines()), expected, "{what}, three engines");
                let score = hits(&LongAlignment { want: LongWant::Score, ..job }, three_engines());
                let brief = |hit: &LongHit| (hit.score, hit.query_end, hit.target_end);
                let all = score.iter().map(brief).eq(expected.iter().map(brief));
                assert!(all && score.iter().all(|hit| hit.cigar.is_none()), "{what}: {score:?}");
            }
        }
    }
}

#[test]
fn borders_beyond_the_memory_go_to_files() {
    let (query, target) = related(3, Alphabet::Dna, 700, 600);
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    let expected = expected(&query, &target, &scoring);
    let job = job(&query, &target, scoring);
    let ample = run(&job, one_engine()).unwrap();
    assert_eq!((&ample.hits, ample.summary.details.spilled_bytes), (&expected, 0));
    let tight = run(&LongAlignment { host_memory: Some(10_000), ..job }, one_engine()).unwrap();
    assert_eq!(tight.hits, expected);
    assert!(tight.summary.details.spilled_bytes > 0);
    assert!(tight.summary.details.edge_bytes_peak < ample.summary.details.edge_bytes_peak);
    assert_eq!(tight.summary.cells, 700 * 600);
}

#[test]
fn regions_that_no_engine_traces_are_cut_finer() {
    let (query, target) = related(4, Alphabet::Dna, 900, 800);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let tuning = LongTuning { grid_pitch: Some(512), ..LongTuning::default() };
        let job = LongAlignment { tuning, ..job(&query, &target, scoring) };
        let small: Engines = vec![Box::new(Textbook { trace_cells: 64 * 64, ..textbook("small", 1e8) })];
        let result = run(&job, small).unwrap();
        assert_eq!(result.hits, expected);
        assert!(result.summary.details.traced_cells > 0);
    }
}

#[test]
fn the_better_strand_comes_first() {
    let (query, target) = related(5, Alphabet::Dna, 150, 200);
    let turned = reverse_complement(&query);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[0], mode, end_gaps);
        for (plus, minus) in [(&query, &turned), (&turned, &query)] {
            let of_plus = expected(plus, &target, &scoring);
            let of_minus = on_minus(expected(minus, &target, &scoring), plus.len());
            let job = job(plus, &target, scoring.clone());
            let on = |strand| hits(&LongAlignment { strand, ..job.clone() }, three_engines());
            assert_eq!(on(Strands::Plus), of_plus);
            assert_eq!(on(Strands::Minus), of_minus);
            let better = if of_minus[0].score > of_plus[0].score { of_minus } else { of_plus };
            assert_eq!(on(Strands::Both), better);
        }
    }
    // The query is its own reverse complement, so both strands have the same score. The plus strand
    // is reported.
    let both = [query.clone(), turned].concat();
    let job =
        LongAlignment { strand: Strands::Both, ..job(&both, &target, dna(GAPS[0], Mode::Local, EndGaps::Charged)) };
    assert_eq!(hits(&job, one_engine())[0].strand, Strand::Plus);
}

/// A strand is skipped if its corner proves that it has no alignment of the other strand's score,
/// and swept otherwise.
#[test]
fn a_hopeless_strand_is_skipped() {
    let rng = &mut support::rng(17);
    let [inside, end] = [5000, 1500].map(|length| support::random_codes(rng, Alphabet::Dna, length));
    let ends_alike = [&end[..], &inside[..], &reverse_complement(&end)[..]].concat();
    // Ambiguous codes would lower the bound.
    let unlike: Vec<Code> = (0..8400).map(|_| support::random_code(rng, Alphabet::Dna, 0)).collect();
    let cases = [
        (&unlike, MODES[0], true),
        (&unlike, MODES[1], true),
        (&unlike, MODES[2], true),
        (&ends_alike, MODES[2], false),
    ];
    for (query, (mode, end_gaps), is_hopeless) in cases {
        let target = support::mutated(rng, Alphabet::Dna, query, 1);
        for (query, strand) in [(query.clone(), Strand::Plus), (reverse_complement(query), Strand::Minus)] {
            let scoring = dna(GAPS[1], mode, end_gaps);
            let pruned = LongAlignment { strand: Strands::Both, ..job(&query, &target, scoring) };
            let whole = LongAlignment { prune: false, ..pruned.clone() };
            let pruned = LongAlignment { tuning: LongTuning::default(), ..pruned };
            let cpu = || -> Engines { vec![Box::new(CpuLong::new(2))] };
            let (pruned, whole) = (run(&pruned, cpu()).unwrap(), run(&whole, cpu()).unwrap());
            assert_eq!(pruned.hits, whole.hits);
            assert_eq!((pruned.hits[0].strand, pruned.summary.cells), (strand, whole.summary.cells));
            let (left, a_strand) =
                (pruned.summary.cells - pruned.summary.details.pruned_cells, pruned.summary.cells / 2);
            eprintln!("{strand:?}, hopeless {is_hopeless}: {left} of {a_strand} cells a strand were computed");
            assert!(left < a_strand / if is_hopeless { 2 } else { 1 });
        }
    }
    // An engine that does not prune computes the corner of the other strand only.
    let mut target = unlike.clone();
    target.iter_mut().step_by(500).for_each(|code| *code ^= 15);
    let both = job(&unlike, &target, dna(GAPS[1], Mode::Global, EndGaps::Charged));
    let both = LongAlignment { strand: Strands::Both, want: LongWant::Score, tuning: LongTuning::default(), ..both };
    let LongResult { hits, summary, .. } = run(&both, one_engine()).expect("the pair is computed");
    assert_eq!(hits[0].strand, Strand::Plus);
    assert!(summary.details.pruned_cells > summary.cells / 3, "{:?}", summary.details);
}

/// A sequence is compared only with the part of the other one that contains its words, on the strand
/// that contains them.
#[test]
fn parts_with_few_common_words_are_not_computed() {
    let rng = &mut support::rng(19);
    // Ambiguous codes are as rare as in genomes, because each of them hides several words.
    let bases = |count| (0..count).map(|_| support::random_code(rng, Alphabet::Dna, 0)).collect::<Vec<Code>>();
    let [inside, before, after] = [1000, 5000, 3000].map(bases);
    let copy = support::mutated(rng, Alphabet::Dna, &inside, 1);
    let genome = [&before[..], &copy[..], &after[..]].concat();
    let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
    for (query, target) in [(&inside, &genome), (&genome, &inside)] {
        for (query, strand) in [(query.clone(), Strand::Plus), (reverse_complement(query), Strand::Minus)] {
            let whole = LongAlignment { strand: Strands::Both, prune: false, ..job(&query, target, scoring.clone()) };
            let expected = hits(&whole, vec![Box::new(CpuLong::new(2))]);
            assert_eq!(expected[0].strand, strand);
            let tuning = LongTuning { min_empty_cells: Some(0), ..whole.tuning.clone() };
            let pruned = LongAlignment { prune: true, tuning, ..whole };
            let directory = tempfile::tempdir().expect("a directory");
            let checkpoint = LongAlignment { checkpoint: Some(directory.path().into()), ..pruned.clone() };
            for (job, engines) in [
                (&pruned, vec![Box::new(CpuLong::new(2)) as Box<dyn LongEngine>]),
                (&pruned, three_engines()),
                (&checkpoint, three_engines()),
            ] {
                let LongResult { hits, summary, .. } = run(job, engines).expect("the pair is aligned");
                assert_eq!(hits, expected);
                assert_eq!(summary.cells, 2 * query.len() as u64 * target.len() as u64);
                let computed = summary.cells - summary.details.pruned_cells;
                assert!(computed < summary.cells / 5 * 2, "{computed} of {} cells", summary.cells);
            }
        }
    }
}

/// No k-mer gives a bound for this strand, but everything below the minimum score is pruned.
#[test]
fn the_least_score_prunes_a_strand_alone() {
    let rng = &mut support::rng(18);
    let query = support::random_codes(rng, Alphabet::Dna, 6000);
    let other = |code| if code & 1 == 1 { 2 } else { 1 };
    let target: Vec<Code> = (1..).zip(&query).map(|(k, &code)| if k % 12 == 0 { other(code) } else { code }).collect();
    for (query, strand) in [(query.clone(), Strand::Plus), (reverse_complement(&query), Strand::Minus)] {
        let scoring = dna(GAPS[1], Mode::Local, EndGaps::Charged);
        let greatest = i64::from(scoring.substitution.max_score());
        let both = LongAlignment { strand: Strands::Both, ..job(&query, &target, scoring) };
        let cpu = || -> Engines { vec![Box::new(CpuLong::new(2))] };
        let expected = hits(&LongAlignment { prune: false, ..both.clone() }, cpu());
        let score = expected[0].score;
        assert!(expected[0].strand == strand && score * 4 > 3 * greatest * 6000, "{score}");
        for (min_score, actual) in [(score, &expected[..]), (score + 1, &[])] {
            assert_eq!(hits(&LongAlignment { min_score, ..both.clone() }, cpu()), actual, "{strand:?}, {min_score}");
        }
    }
}

#[test]
fn an_engine_that_fails_leaves_its_work_to_the_others() {
    let (query, target) = related(6, Alphabet::Dna, 500, 700);
    for (mode, end_gaps) in MODES {
        let scoring = dna(GAPS[1], mode, end_gaps);
        let expected = expected(&query, &target, &scoring);
        let job = job(&query, &target, scoring);
        for (fails_at, want) in [(1, LongWant::Alignment), (6, LongWant::Alignment), (6, LongWant::Score)] {
            let lost = move |count| match count {
                count if count < fails_at => Ok(()),
                _ if fails_at == 1 => panic!("a fault of the engine"),
                _ => Err(Error::Device { device: "weak".into(), message: "lost".into() }),
            };
            let job = LongAlignment { want, ..job.clone() };
            let weak = || Box::new(Hooked::new(textbook("weak", 2e8), lost));
            let strong = Hooked::new(textbook("strong", 1e8), |_| {
                std::thread::sleep(Duration::from_millis(2));
                Ok(())
            });
            for engines in [vec![weak() as Box<dyn LongEngine>, Box::new(strong)], with_engine(three_engines(), weak())]
            {
                let result = run(&job, engines).unwrap();
                assert_eq!(result.hits[0].score, expected[0].score);
                if want == LongWant::Alignment {
                    assert_eq!(result.hits, expected);
                }
                let stats = &result.summary.engines;
                // With four engines, this engine may get no work.
                let lost = stats.iter().any(|engine| engine.name == "weak" && engine.lost.is_some());
                assert!(lost || stats.len() == 4, "{stats:?}");
            }
            let error = run(&job, vec![weak()]).unwrap_err();
            assert!(matches!(error, Error::Device { .. }), "{error}");
        }
    }
}

/// End to end, the CPU computes only the cells that a path with the known score can reach. The start
/// and the end of the sequences may differ.
#[test]
fn whole_sequences_are_pruned_around_their_path() {
    let rng = &mut support::rng(28);
    let mut bases = |count| (0..count).map(|_| support::random_code(rng, Alphabet::Dna, 0)).collect::<Vec<Code>>();
    let [query, inserted, flank] = [700, 100, 150].map(&mut bases);
    let mutated = support::mutated(rng, Alphabet::Dna, &query, 2);
    let middle = mutated.len() / 2;
    let moved = [&mutated[..middle], &inserted, &mutated[middle..]].concat();
    let longer = [&flank[..], &mutated, &flank[..100]].concat();
    let (mut pruned_cells, mut cells) = (0, 0);
    for target in [&mutated, &moved, &longer] {
        for ((mode, end_gaps), gaps) in MODES.into_iter().flat_map(|mode| [GAPS[0], GAPS[1]].map(|gaps| (mode, gaps))) {
            let scoring = dna(gaps, mode, end_gaps);
            let turned = reverse_complement(target);
            for (query, target) in [(&query, target), (target, &query), (&query, &turned)] {
                let whole =
                    LongAlignment { strand: Strands::Both, prune: false, ..job(query, target, scoring.clone()) };
                let expected = hits(&whole, vec![Box::new(CpuLong::new(2).with_tile(16, 24))]);
                let pruned = LongAlignment { prune: true, ..whole };
                let narrow = || Box::new(CpuLong::new(1).with_tile(16, 24)) as Box<dyn LongEngine>;
                for engines in [vec![narrow()], vec![narrow(), Box::new(textbook("one", 1e8)), narrow()]] {
                    let is_alone = engines.len() == 1;
                    let LongResult { hits, summary, .. } = run(&pruned, engines).expect("the pair is aligned");
                    assert_eq!(hits, expected, "{mode:?} {end_gaps:?} {gaps:?}");
                    if is_alone && mode == Mode::Global {
                        cells += summary.cells;
                        pruned_cells += summary.details.pruned_cells;
                    }
                }
            }
        }
    }
    assert!(pruned_cells > cells / 2, "{pruned_cells} of {cells} cells");
}

fn with_engine(mut engines: Engines, more: Box<dyn LongEngine>) -> Engines {
    engines.push(more);
    engines
}

#[test]
fn an_interrupt_ends_a_job() {
    let (query, target) = related(7, Alphabet::Dna, 600, 600);
    let job = job(&query, &target, dna(GAPS[0], Mode::Local, EndGaps::Charged));
    let interrupt = Arc::new(AtomicBool::new(false));
    let hook = {
        let interrupt = Arc::clone(&interrupt);
        move |count| {
            interrupt.store(count >= 3, Ordering::Relaxed);
            Ok(())
        }
    };
    let mut engines = three_engines();
    engines.insert(0, Box::new(Hooked::new(textbook("stopped", 1e8), hook)));
    let run = Run { interrupt, ..Run::default() };
    let error = support::run_long(&job, engines, &run).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
}

#[test]
fn invalid_jobs_are_refused() {
    let scoring = dna(GAPS[1], Mode::Global, EndGaps::Charged);
    let good = job(&[1, 2, 4], &[1, 2, 4], scoring);
    let local = Arc::new(dna(GAPS[1], Mode::Local, EndGaps::Charged));
    let costly = Arc::new(dna(Gaps::linear(1_000_000), Mode::Global, EndGaps::Charged));
    let long = support::store(Alphabet::Dna, &[vec![1; 1200]]);
    for (wrong, word) in [
        (LongAlignment { top: 2, ..good.clone() }, "top 2: only local mode"),
        (LongAlignment { top: 0, ..good.clone() }, "top 0: at least 1 is needed"),
        (LongAlignment { min_score: 0, scoring: local, ..good.clone() }, "min_score 0: "),
        (
            LongAlignment { query_id: 1, ..good.clone() },
            "query_id 1: numbers start at 0, and the number of sequences is 1",
        ),
        (LongAlignment { strip: Some(0), ..good.clone() }, "strip 0: "),
        (LongAlignment { scoring: Arc::new(Scoring::protein()), ..good.clone() }, "query: it contains DNA"),
        (LongAlignment { scoring: costly, target: long, ..good.clone() }, "from -1203000000 to 15"),
        (LongAlignment { strand: Strands::Both, ..job(&[1], &[1], Scoring::protein()) }, "strand: only"),
    ] {
        let error = run(&wrong, one_engine()).unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().contains(word), "{word}: {error}");
    }
    assert!(matches!(run(&good, Vec::new()).unwrap_err(), Error::Device { .. }));
    let kernel = pairwave::gpu::kernels::KERNELS.first();
    let edit_kernel = pairwave::gpu::kernels::find("myers_thread");
    assert!(kernel.is_some() && edit_kernel.is_some());
    for (run, word) in [
        (Run { kernel, ..Run::default() }, "kernel"),
        (Run { kernel: edit_kernel, ..Run::default() }, "kernel"),
        (Run { tune: true, ..Run::default() }, "tune"),
    ] {
        let error = good.run(&run, |_| panic!("nothing is handed over")).unwrap_err();
        assert!(matches!(error, Error::Usage(_)) && error.to_string().starts_with(word), "{error}");
    }
    // The only kernel for long pairs may be named.
    for kernel in [None, pairwave::gpu::kernels::find("sw_striped_score")] {
        let mut cigars = Vec::new();
        let run = Run { kernel, ..Run::default() };
        let take = |hits: &[LongHit]| {
            cigars.extend(hits.iter().map(|hit| hit.cigar.as_ref().unwrap().to_string()));
            Ok(())
        };
        good.run(&run, take).unwrap();
        assert_eq!(cigars, ["3="]);
    }
}
