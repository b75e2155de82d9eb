//! The kernels for local scores against the oracle.

use std::sync::Arc;

use pairwave::Error;
use pairwave::engine::{Engine, thread_pool};
use pairwave::gpu::kernels::find;
use pairwave::pairs::gpu::{PairsGpu, PairsShape, TileShape};
use pairwave::pairs::oracle::smith_waterman;
use pairwave::pairs::plan::PairsSpec;
use pairwave::pairs::{PairHit, PairsBatch, ResultFilter, ScoreThresholds};
use pairwave::score::{Ambiguity, EndGaps, Gaps, Scoring};
use pairwave::seq::{Alphabet, QueryStrands, SequenceStore};

use super::*;

const STEMS: [&str; 4] = ["sw_tile", "sw_tile_half", "sw_tile_half_targets", "sw_tile_workgroup"];

/// Small sizes, with which a pass has 16 columns.
const SMALL: TileShape =
    TileShape { workgroup: 16, lanes: Some(4), columns: Some(4), halves: false, most_rows: u64::MAX, host_cells: 0 };

fn engine(stem: &str, tile: TileShape) -> PairsGpu {
    let kernel = find(stem).expect("a kernel of the table");
    with_tiles(tile).with_kernel(Some(kernel))
}

/// Returns an engine that chooses among the kernels for local scores, with these sizes.
fn with_tiles(tile: TileShape) -> PairsGpu {
    let engine = support::gpu_checked();
    let shape = engine.shape();
    engine.with_shape(PairsShape { tile, ..shape })
}

/// Creates sequences of length 0, 1, and around the columns of a lane, of a pass, and of several
/// passes.
fn edges(seed: u64, alphabet: Alphabet) -> Arc<SequenceStore> {
    let mut rng = support::rng(seed);
    support::mixed_store(&mut rng, alphabet, &[0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 32, 33, 47, 48, 49, 70])
}

fn expected(store: &SequenceStore, hit: &PairHit, scoring: &Scoring) -> i64 {
    smith_waterman::score_only(store.codes(hit.query), store.codes(hit.target), scoring)
}

/// Computes all pairs of a store with an engine in batches of this many cells, and compares the
/// scores with the oracle.
fn check(engine: &mut PairsGpu, store: &Arc<SequenceStore>, scoring: &Scoring, cells: u64, context: &str) {
    let batches = support::batches(&support::job(store, scoring.clone(), ResultFilter::Scores), cells);
    let hits = support::compute(engine, &batches);
    assert_eq!(hits.len(), store.len() * (store.len() - 1) / 2, "{context}");
    for hit in hits {
        let score = expected(store, &hit, scoring);
        assert_eq!((hit.score, hit.matches), (score, None), "{context}: {hit:?}, {scoring:?}");
    }
}

#[test]
fn every_kernel_agrees_with_the_oracle() {
    for stem in STEMS {
        let mut engine = engine(stem, SMALL);
        let all: Vec<&Scoring> = DNA.iter().chain(PROTEIN.iter()).collect();
        // f16 is slow on software adapters, and the scheme with large numbers needs i32.
        let schemes = if stem.starts_with("sw_tile_half") {
            vec![all[0], all[3], all[6], all[11], all[13], all[14]]
        } else {
            all
        };
        for scoring in schemes {
            let store = edges(0x711e, scoring.alphabet);
            // All pairs in one batch, and then batches that are small enough to draw tasks by
            // ticket even if loops are limited.
            for cells in [u64::MAX, 1000] {
                check(&mut engine, &store, scoring, cells, &format!("{stem}, {cells} cells"));
            }
        }
    }
}

/// Tests the kernels as jobs use them on this machine, and with other numbers of lanes and columns.
/// Both gap models are used, so that every shape is compiled.
#[test]
fn every_shape_gives_the_same_scores() {
    let usual = TileShape::for_adapter(&support::adapter());
    let most = support::adapter().description.subgroup_sizes[0];
    for stem in STEMS {
        for (lanes, columns) in
            [(None, Some(12)), (Some(4), Some(8)), (Some(8), Some(4)), (Some(4), Some(28)), (Some(8), None)]
        {
            if lanes > Some(most) {
                continue;
            }
            let mut engine = engine(stem, TileShape { lanes, columns, ..usual });
            for scoring in [&DNA[4], &PROTEIN[0]] {
                let store = edges(0x54a9e, scoring.alphabet);
                check(&mut engine, &store, scoring, u64::MAX, &format!("{stem}, {lanes:?} x {columns:?}"));
            }
        }
    }
}

/// Rows are divided into parts of 8 and of 36, and passes are computed in parallel.
#[test]
fn rows_in_parts_give_the_same_scores() {
    for stem in STEMS {
        for most_rows in [8, 36] {
            let mut engine = engine(stem, TileShape { most_rows, ..SMALL });
            for scoring in [&DNA[0], &PROTEIN[0]] {
                check(
                    &mut engine,
                    &edges(0x9a2, scoring.alphabet),
                    scoring,
                    u64::MAX,
                    &format!("{stem}, {most_rows} rows"),
                );
            }
        }
    }
}

/// Tests scores of 2040, 2048 and more, for equal sequences and for parts of them. Scores from 2048
/// on exceed f16.
#[test]
fn scores_beyond_f16_are_computed_again() {
    for gaps in [Gaps::linear(10), Gaps::from_blast(10, 1)] {
        let scoring = local(Scoring::nucleotide(8, -8, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap());
        let long = support::random_codes(&mut support::rng(5), Alphabet::Dna, 270);
        let parts: Vec<Vec<u8>> = [270, 256, 255, 257, 20, 256].map(|length| long[..length].to_vec()).to_vec();
        let store = support::store(Alphabet::Dna, &parts);
        let greatest = smith_waterman::score_only(store.codes(0), store.codes(3), &scoring);
        assert!(greatest >= 2048, "{greatest}");
        check(&mut engine("sw_tile_half", TileShape { halves: true, ..SMALL }), &store, &scoring, u64::MAX, "halves");
        // By default, two queries share the f16 lanes, and the remaining queries use i32.
        let mut both = with_tiles(TileShape { halves: true, ..SMALL });
        for _ in 0..2 {
            check(&mut both, &store, &scoring, u64::MAX, "both");
        }
    }
}

/// Tests two stores, so that queries are joined.
#[test]
fn two_queries_have_their_own_scores() {
    let scoring = &PROTEIN[0];
    let (queries, targets) = (edges(1, Alphabet::Protein), edges(2, Alphabet::Protein));
    let job = PairsSpec {
        queries: Arc::clone(&queries),
        against: Some(Arc::clone(&targets)),
        scoring: Arc::new(scoring.clone()),
        filter: ResultFilter::Scores,
        strands: QueryStrands::default(),
        parts: None,
    };
    for shape in
        [TileShape { halves: true, ..SMALL }, TileShape { halves: true, lanes: Some(4), columns: Some(12), ..SMALL }]
    {
        let mut engine = with_tiles(shape);
        let hits = support::compute(&mut engine, &support::batches(&job, u64::MAX));
        assert_eq!(hits.len(), queries.len() * targets.len());
        for hit in hits {
            let score = smith_waterman::score_only(queries.codes(hit.query), targets.codes(hit.target), scoring);
            assert_eq!(hit.score, score, "{hit:?}");
        }
    }
}

#[test]
fn pairs_below_their_threshold_are_not_reported() {
    let scoring = local(Scoring::nucleotide(40, -40, Ambiguity::Overlap, Gaps::linear(50), EndGaps::Charged).unwrap());
    // Each sequence occurs twice, so that every length has a pair with a high score.
    let mut rng = support::rng(0xf1002);
    let half: Vec<Vec<u8>> =
        [3, 17, 30, 48, 55, 70].map(|length| support::random_codes(&mut rng, Alphabet::Dna, length)).to_vec();
    let store = support::store(Alphabet::Dna, &[&half[..], &half[..]].concat());
    for stem in STEMS {
        // Some scores exceed f16.
        let thresholds: ScoreThresholds =
            (0..store.len()).map(|query| if query % 2 == 0 { 300 } else { 2100 }).collect();
        let thresholds = Arc::new(thresholds);
        let batches = support::batches(
            &support::job(&store, scoring.clone(), ResultFilter::AtLeast(Arc::clone(&thresholds))),
            u64::MAX,
        );
        let hits = support::compute(&mut engine(stem, SMALL), &batches);
        let pairs = support::batches(&support::job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX);
        let all = support::compute(&mut support::cpu(), &pairs);
        // The planner decides which member of a pair is the block's query. It decides in the same
        // way for both jobs.
        let wanted: Vec<PairHit> =
            all.iter().copied().filter(|hit| hit.score >= thresholds.threshold(hit.query)).collect();
        assert_eq!(hits, wanted, "{stem}");
        assert!(hits.len() > 4 && hits.len() < all.len(), "{} of {}", hits.len(), all.len());
        assert!(hits.iter().any(|hit| hit.score > 2100), "{stem}");
    }
}

/// Thresholds equal to existing scores, just above them, and so high that groups of columns are as
/// large as possible. Bounds rule out exactly the pairs below their threshold.
#[test]
fn bounds_rule_out_exactly_the_pairs_below_their_threshold() {
    let affine = |alphabet, gaps| match alphabet {
        Alphabet::Protein => local(Scoring { gaps, ..Scoring::protein() }),
        _ => local(Scoring::nucleotide(5, -4, Ambiguity::Overlap, gaps, EndGaps::Charged).unwrap()),
    };
    let schemes = [
        affine(Alphabet::Protein, Gaps::from_blast(11, 1)),
        affine(Alphabet::Dna, Gaps::from_blast(8, 2)),
        affine(Alphabet::Protein, Gaps::linear(3)),
    ];
    for (turn, scoring) in schemes.iter().enumerate() {
        let seed = 0xb0d5 + turn as u64;
        let mut rng = support::rng(seed);
        let parent = support::random_codes(&mut rng, scoring.alphabet, 75);
        let related: Vec<Vec<u8>> = (0..12)
            .map(|which| {
                let (begin, end) = ([0, 9, 40][which % 3], [75, 61, 70][which % 2]);
                support::mutated(&mut rng, scoring.alphabet, &parent[begin..end], 5 + 4 * which as u32)
            })
            .collect();
        let store = support::store(scoring.alphabet, &related);
        let pairs = support::batches(&support::job(&store, scoring.clone(), ResultFilter::Scores), u64::MAX);
        let all = support::compute(&mut support::cpu(), &pairs);
        let greatest = |query| all.iter().filter(|hit| hit.query == query).map(|hit| hit.score).max().unwrap_or(1000);
        // Two of the numbers of columns with each scheme, and all with each kernel.
        let columns_of = |turn: usize| [4, 12, 20].into_iter().cycle().skip(turn).take(2);
        let shapes = (turn..).zip(STEMS).flat_map(|(turn, stem)| columns_of(turn).map(move |columns| (stem, columns)));
        for (stem, columns) in shapes {
            // The threshold of a query is the score of its best hit, or one more.
            for above in [0, 1] {
                let thresholds: Arc<ScoreThresholds> =
                    Arc::new((0..store.len() as u32).map(|query| greatest(query) + above).collect());
                let filter = ResultFilter::AtLeast(Arc::clone(&thresholds));
                let batches = support::batches(&support::job(&store, scoring.clone(), filter), u64::MAX);
                let host_cells = if above == 0 && columns > 4 { u64::MAX } else { 0 };
                let mut engine = engine(stem, TileShape { columns: Some(columns), host_cells, ..SMALL });
                if columns == 20 {
                    engine = engine.with_pool(thread_pool(2).unwrap());
                }
                // Each batch runs twice, because the number of listed pairs determines how the next
                // batch is computed.
                for _ in 0..2 {
                    let hits = support::compute(&mut engine, &batches);
                    let wanted: Vec<PairHit> =
                        all.iter().copied().filter(|hit| hit.score >= thresholds.threshold(hit.query)).collect();
                    assert_eq!(hits, wanted, "{stem}, {columns} columns, seed {seed:#x}, {scoring:?}");
                    assert_eq!(hits.is_empty(), above == 1, "{stem}");
                }
            }
        }
    }
}

/// Targets longer than the limit on loops allows, so that rows are divided into parts. The expected
/// scores are the CPU's.
#[test]
fn long_targets_are_computed_in_parts() {
    let mut rng = support::rng(0x10e6);
    let query = support::random_codes(&mut rng, Alphabet::Dna, 150);
    let target: Vec<u8> = (0..60).flat_map(|_| support::mutated(&mut rng, Alphabet::Dna, &query, 20)).collect();
    let store = support::store(Alphabet::Dna, &[query, target]);
    let batches = support::batches(&support::job(&store, DNA[3].clone(), ResultFilter::Scores), u64::MAX);
    let expected = support::compute(&mut support::cpu(), &batches);
    let shape = TileShape::for_adapter(&support::adapter());
    for stem in ["sw_tile", "sw_tile_workgroup"] {
        assert_eq!(support::compute(&mut engine(stem, shape), &batches), expected, "{stem}");
    }
}

#[test]
fn scores_beyond_i32_are_refused() {
    let store = support::store(Alphabet::Dna, &[vec![1; 600], vec![1; 600]]);
    let batches = support::batches(&support::job(&store, DNA[11].clone(), ResultFilter::Scores), u64::MAX);
    let error = engine("sw_tile", SMALL).submit(Arc::<PairsBatch>::clone(&batches[0])).expect_err("too great");
    assert!(matches!(error, Error::Unsuited { .. }) && error.to_string().contains("32 bits"), "{error}");
    // A kernel for global alignments is refused as well.
    let small =
        support::batches(&support::job(&edges(3, Alphabet::Dna), DNA[0].clone(), ResultFilter::Scores), u64::MAX);
    let error = support::kernel_checked("nw_slice").submit(Arc::clone(&small[0])).expect_err("no local scores");
    assert!(matches!(error, Error::Unsuited { .. }), "{error}");
    let whole =
        support::batches(&support::job(&edges(3, Alphabet::Dna), Scoring::truong(), ResultFilter::Scores), u64::MAX);
    let error = engine("sw_tile", SMALL).submit(Arc::clone(&whole[0])).expect_err("no scores of whole sequences");
    assert!(matches!(error, Error::Unsuited { .. }), "{error}");
}
