//! Compares the CPU scores of reads against vectors of states with the textbook algorithm. The
//! tests cover every instruction set of this machine, both alphabets, and schemes for every lane
//! width.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pairwave::engine::mock::TextbookKind;
use pairwave::engine::thread_engine::compute_together;
use pairwave::engine::thread_pool;
use pairwave::engine::work::Work;
use pairwave::measure::self_test::SelfTest;
use pairwave::measure::self_test::papara::PhyloTest;
use pairwave::papara::cpu::{PhyloWorker, PhyloWorkspace, phylo_workers, run};
use pairwave::papara::mock::PhyloMock;
use pairwave::papara::vectors::{all, set_of};
use pairwave::papara::{OCTET, Phylo, PhyloBatch, PhyloBlock, PhyloChunk, PhyloReport, Site, Vectors};
use pairwave::score::{Gaps, PhyloScheme};
use pairwave::seq::{Alphabet, Code};
use pairwave::simd::InstructionSet;
use proptest::prelude::*;
use support::check::assert_right;
use support::{Rng, *};

const ALPHABETS: [Alphabet; 2] = [Alphabet::Dna, Alphabet::Protein];

/// Returns schemes whose cells fit 8, 16 and 32 bits. They include negative matches and mismatches,
/// free and expensive openings, and free extensions.
fn schemes() -> Vec<PhyloScheme> {
    let papara = PhyloScheme::papara();
    let paper = PhyloScheme::paper();
    let gaps = Gaps::from_emboss;
    let mut all = vec![
        papara,
        paper,
        PhyloScheme { free_read_ends: false, ..papara },
        PhyloScheme { free_read_ends: true, ..paper },
        PhyloScheme { mismatch: -1, gap_site: 0, insertion: gaps(2, 2), deletion: gaps(1, 1), ..papara },
        PhyloScheme { insertion: gaps(0, 0), deletion: gaps(0, 0), ..papara },
        PhyloScheme { insertion: gaps(0, 0), deletion: gaps(7, 0), free_read_ends: false, ..papara },
        PhyloScheme { matching: -1, mismatch: -2, insertion: gaps(9, 1), ..papara },
        // Schemes whose cells just fit `i8`, and just exceed it.
        PhyloScheme { matching: 1, insertion: gaps(30, 1), deletion: gaps(33, 1), ..papara },
        PhyloScheme { matching: 8, mismatch: -9, insertion: gaps(20, 3), deletion: gaps(5, 2), ..papara },
        PhyloScheme { matching: 5, mismatch: -4, insertion: gaps(10, 5), deletion: gaps(20, 6), gap_site: 1, ..paper },
        PhyloScheme { matching: 0, mismatch: -(1 << 16), gap_site: 1 << 16, ..papara },
    ];
    let large = PhyloScheme { matching: 200, mismatch: -300, gap_site: 150, insertion: gaps(500, 70), ..papara };
    all.push(PhyloScheme { deletion: gaps(400, 90), ..large });
    all.push(PhyloScheme { deletion: gaps(1_000, 1_000), free_read_ends: false, ..large });
    let most = 1 << 16;
    let largest = PhyloScheme { matching: most, mismatch: -most, gap_site: most, ..papara };
    all.push(PhyloScheme { insertion: gaps(most, most), deletion: gaps(most, most), ..largest });
    all.push(PhyloScheme { insertion: gaps(most, 3), deletion: gaps(most, 0), free_read_ends: false, ..largest });
    all.iter().for_each(|scheme| scheme.validate().unwrap());
    all
}

/// The kind of random sites.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Mostly single characters, with both flags at gaps.
    Ordinary,
    /// Any set, with independent flags.
    Union,
    /// All sites are equal.
    Same(Site),
}

/// Creates random vectors, some with runs of gaps.
fn vectors(rng: &mut Rng, alphabet: Alphabet, sites: u32, len: u32, kind: Kind) -> Vectors {
    let mut vectors = Vectors::new(alphabet, sites, len);
    for vector in 0..len {
        let mut is_gap = false;
        for site in 0..sites {
            if rng.below(4u32) == 0 {
                is_gap = rng.below(3u32) == 0;
            }
            let one = 1 << rng.below(pairwave::papara::vectors::set_bits(alphabet));
            let any = rng.next_u32() & all(alphabet);
            let value = match kind {
                Kind::Ordinary => {
                    let set = if rng.below(5u32) == 0 { any } else { one };
                    Site { set, is_penalised: is_gap, is_free: is_gap }
                }
                Kind::Union => {
                    let set = rng.pick(&[any, any | one, 0, all(alphabet)]);
                    Site { set, is_penalised: rng.below(3u32) == 0, is_free: rng.below(3u32) == 0 }
                }
                Kind::Same(site) => site,
            };
            vectors.set(vector, site, value);
        }
    }
    vectors
}

/// Creates reads of each length: random reads, a read that follows a vector's characters, and a
/// read of a single symbol.
fn reads(rng: &mut Rng, vectors: &Vectors, lengths: &[usize]) -> Vec<Vec<Code>> {
    let alphabet = vectors.alphabet();
    let mut all = Vec::new();
    for &length in lengths {
        let mut codes = random_codes(rng, alphabet, length);
        let first = rng.below(vectors.sites() as usize + 1);
        let follows = !vectors.is_empty() && rng.below(4u32) > 0;
        let mut site = first;
        for code in codes.iter_mut().filter(|_| follows) {
            site += rng.pick(&[1, 1, 1, 1, 1, 1, 0, 2, 5]);
            let set = if (site as u32) < vectors.sites() { vectors.site(0, site as u32).set } else { 0 };
            let fitting = (1..alphabet.size() as Code).find(|&code| set_of(alphabet, code) & set != 0);
            *code = fitting.filter(|_| rng.below(8u32) > 0).unwrap_or(*code);
        }
        all.push(codes);
    }
    all
}

/// Creates a batch of reads against all octets.
fn batch(vectors: Vectors, reads: &[Vec<Code>], octets: Option<Vec<u32>>, scheme: PhyloScheme) -> PhyloBatch {
    let positions = octets.as_ref().map_or(vectors.octets(), |octets| octets.len() as u32);
    let chunk = PhyloChunk {
        reads: store(vectors.alphabet(), reads),
        vectors: Arc::new(vectors),
        scheme: Arc::new(scheme),
        octets: octets.map(Arc::from),
    };
    let block = |read| PhyloBlock { read, positions: 0..positions, octet_cells: chunk.cells(read) };
    PhyloBatch { blocks: (0..reads.len() as u32).map(block).collect(), chunk: Arc::new(chunk) }
}

/// Computes a batch with the textbook algorithm.
fn test(batch: &PhyloBatch) -> PhyloTest {
    PhyloTest::new([Arc::new(batch.clone())]).expect("the textbook computes all")
}

/// Compares all instruction sets with the textbook algorithm.
fn check(batch: &PhyloBatch) {
    let test = test(batch);
    for level in InstructionSet::available() {
        // The second run reuses buffers.
        let mut workspace = PhyloWorkspace::with(level);
        for _ in 0..2 {
            assert_right(&test, &run(batch, &mut workspace), &format!("{level:?}"));
        }
    }
}

/// Tests lengths around stripes of 6 and of 12 symbols, and numbers of sites around blocks of 32,
/// with every scheme.
#[test]
fn lengths_and_sites_around_blocks_match_textbook() {
    let rng = &mut rng(0x5717e);
    for scheme in schemes() {
        for alphabet in ALPHABETS {
            for (sites, kind) in
                [(0, Kind::Ordinary), (1, Kind::Union), (2, Kind::Ordinary), (31, Kind::Union), (33, Kind::Ordinary)]
            {
                let len = rng.pick(&[9, 40]);
                let vectors = vectors(rng, alphabet, sites, len, kind);
                let reads = reads(rng, &vectors, &[0, 1, 2, 5, 6, 7, 11, 12, 13, 24, 25, 40]);
                check(&batch(vectors, &reads, None, scheme));
            }
        }
    }
}

/// Tests reads of realistic length and vectors of many blocks of sites.
#[test]
fn long_reads_match_textbook() {
    let rng = &mut rng(0x1049);
    for scheme in schemes() {
        for (alphabet, kind) in ALPHABETS.into_iter().zip([Kind::Ordinary, Kind::Union]) {
            let len = rng.pick(&[10, 36]);
            let vectors = vectors(rng, alphabet, 300, len, kind);
            let reads = reads(rng, &vectors, &[230]);
            check(&batch(vectors, &reads, None, scheme));
        }
    }
    for (scheme, length, len) in [(PhyloScheme::papara(), 811, 34), (PhyloScheme::paper(), 1201, 4)] {
        let vectors = vectors(rng, Alphabet::Dna, 1000, len, Kind::Ordinary);
        let reads = reads(rng, &vectors, &[length]);
        check(&batch(vectors, &reads, None, scheme));
    }
}

/// Tests sites and reads that always or never match, so that the values of cells change as much as
/// possible.
#[test]
fn uniform_sites_match_textbook() {
    let rng = &mut rng(0xe9);
    for scheme in schemes() {
        for alphabet in ALPHABETS {
            for flags in 0..4 {
                let (is_penalised, is_free) = (flags & 1 != 0, flags & 2 != 0);
                for set in [0, 1, all(alphabet)] {
                    let kind = Kind::Same(Site { set, is_penalised, is_free });
                    let len = rng.pick(&[1, 33]);
                    let vectors = vectors(rng, alphabet, 70, len, kind);
                    let first = (1..).find(|&code| set_of(alphabet, code) == 1).unwrap();
                    let reads = [15, 60, 100].map(|length| vec![first; length]);
                    check(&batch(vectors, &reads, None, scheme));
                }
            }
        }
    }
}

/// Tests alternating matching and mismatching stretches as long as blocks and stripes.
#[test]
fn alternating_stretches_match_textbook() {
    let rng = &mut rng(0x415e);
    for scheme in schemes() {
        let len = rng.pick(&[16, 48]);
        let mut vectors = Vectors::new(Alphabet::Dna, 150, len);
        for vector in 0..len {
            let mut site = Site { set: 1, ..Site::default() };
            for at in 0..150 {
                if rng.below(12u32) == 0 {
                    let flags = rng.below(4u32);
                    let set = rng.pick(&[1, 2, 0]);
                    site = Site { set, is_penalised: flags & 1 != 0, is_free: flags & 2 != 0 };
                }
                vectors.set(vector, at, site);
            }
        }
        let mut read = Vec::new();
        while read.len() < 120 {
            let (code, run) = (rng.pick(&[1, 1, 2, 4]), 1 + rng.below(20usize));
            read.extend(std::iter::repeat_n(code, run));
        }
        check(&batch(vectors, &[read], None, scheme));
    }
}

/// Tests reads of many lengths that have few octets and share the lanes.
#[test]
fn reads_sharing_lanes_match_textbook() {
    let rng = &mut rng(0xfe3);
    for scheme in schemes() {
        for alphabet in ALPHABETS {
            let vectors = vectors(rng, alphabet, 45, 90, Kind::Union);
            let lengths: Vec<usize> = (0..13).map(|_| rng.below(60usize)).collect();
            let reads = reads(rng, &vectors, &lengths);
            let mut batch = batch(vectors, &reads, None, scheme);
            for block in &mut batch.blocks {
                let first = rng.below(batch.chunk.vectors.octets());
                block.positions = first..(first + 1 + rng.below(6u32)).min(batch.chunk.vectors.octets());
            }
            check(&batch);
        }
    }
}

/// Tests octets that fill the lanes partly, exactly, and more than once, and selected octets in any
/// order.
#[test]
fn selected_octets_match_textbook() {
    let rng = &mut rng(0x0c7e7);
    for scheme in [PhyloScheme::papara(), schemes()[12], schemes()[14]] {
        for alphabet in ALPHABETS {
            for len in [1, 7, 8, 9, 16, 17, 63, 64, 65, 130] {
                let vectors = vectors(rng, alphabet, 14, len, Kind::Union);
                let reads = reads(rng, &vectors, &[9, 13]);
                let chosen: Vec<u32> = (0..rng.below(14u32)).map(|_| rng.below(vectors.octets())).collect();
                check(&batch(vectors.clone(), &reads, None, scheme));
                check(&batch(vectors, &reads, Some(chosen), scheme));
            }
        }
    }
}

/// Tests blocks with different ranges of octets, consecutive blocks of one read, and empty blocks.
#[test]
fn blocks_of_any_positions_match_textbook() {
    let rng = &mut rng(0xb10c);
    let vectors = vectors(rng, Alphabet::Dna, 40, 100, Kind::Ordinary);
    let reads = reads(rng, &vectors, &[20, 0, 31]);
    let mut batch = batch(vectors, &reads, None, PhyloScheme::papara());
    let blocks = [(0, 3..5), (0, 5..13), (2, 1..1), (2, 12..13), (1, 0..2), (0, 0..0), (2, 4..6), (2, 0..1)];
    batch.blocks = blocks.map(|(read, positions)| PhyloBlock { read, positions, octet_cells: 1 }).to_vec();
    check(&batch);
    batch.blocks.clear();
    check(&batch);
}

/// Tests that the score of a union is at least the score of each member.
#[test]
fn unions_bound_their_members() {
    let rng = &mut rng(0x0110);
    for scheme in [PhyloScheme::papara(), PhyloScheme::paper()] {
        let vectors = vectors(rng, Alphabet::Dna, 120, 30, Kind::Ordinary);
        let reads = reads(rng, &vectors, &[50, 90]);
        let unions = vectors.unions(&thread_pool(1).unwrap());
        let unions = run(&batch(unions, &reads, None, scheme), &mut PhyloWorkspace::default());
        let batch = batch(vectors, &reads, None, scheme);
        let expected = Phylo::compute_textbook(&batch, &AtomicBool::new(false)).unwrap().scores;
        for (octet, scores) in expected.iter().enumerate() {
            let (read, lane) = (octet / 4, octet % 4);
            let scores = &scores[..(30 - OCTET * lane).min(OCTET)];
            assert!(scores.iter().all(|&score| score <= unions[read][lane]), "read {read}, octet {lane}");
        }
    }
}

#[test]
fn worker_and_textbook_are_engines() {
    let rng = &mut rng(0xe9);
    let vectors = vectors(rng, Alphabet::Protein, 50, 20, Kind::Ordinary);
    let reads = reads(rng, &vectors, &[30, 41]);
    let batch = Arc::new(batch(vectors, &reads, None, PhyloScheme::papara()));
    let test = test(&batch);
    let interrupt = Arc::new(AtomicBool::new(false));
    let mut engines = phylo_workers(2, &interrupt);
    assert_eq!(engines.len(), 2);
    engines.push(Box::new(PhyloMock::new("textbook").with_interrupt(Arc::clone(&interrupt))));
    for engine in &mut engines {
        let first = engine.submit(Arc::clone(&batch)).unwrap();
        let second = engine.submit(Arc::clone(&batch)).unwrap();
        for ticket in [second, first] {
            let report = engine.collect(ticket).unwrap();
            assert_eq!(Phylo::check(&batch, &report), Ok(()));
            assert_right(&test, &report.scores, engine.name());
        }
        assert!(engine.collect(first).is_err());
        assert!(engine.universal());
    }
    interrupt.store(true, Ordering::Relaxed);
    for engine in &mut engines {
        let ticket = engine.submit(Arc::clone(&batch)).unwrap();
        assert!(matches!(engine.collect(ticket), Err(pairwave::Error::Interrupted)));
    }
    let spoil = |report: &mut PhyloReport| report.scores[1][2] += 1;
    let mut spoiled = PhyloMock::new("wrong").with_corruption(spoil);
    assert!(test.test(&mut spoiled).is_err());
}

#[test]
fn threads_report_in_block_order() {
    let rng = &mut rng(0x7095);
    let vectors = vectors(rng, Alphabet::Dna, 30, 90, Kind::Ordinary);
    let lengths: Vec<usize> = (0..53).map(|index| 20 + index).collect();
    let reads = reads(rng, &vectors, &lengths);
    let batch = batch(vectors, &reads, None, PhyloScheme::papara());
    let expected = run(&batch, &mut PhyloWorkspace::default());
    let pool = thread_pool(2).unwrap();
    let mut workers = [PhyloWorker::default(), PhyloWorker::default()];
    let reports = compute_together(&pool, &mut workers, &batch).unwrap();
    assert!(reports.len() > 1, "parts for several");
    assert_eq!(reports.into_iter().flat_map(|report| report.scores).collect::<Vec<_>>(), expected);
}

/// Generates valid schemes, mostly with cells of few bits.
fn any_scheme() -> impl Strategy<Value = PhyloScheme> {
    let number = || prop_oneof![6 => 0i32..8, 2 => 0i32..40, 1 => 0i32..4_000, 1 => 0i32..=1 << 16];
    let gaps = move || (number(), number()).prop_map(|(a, b)| Gaps::from_emboss(a.max(b), a.min(b)));
    (number(), number(), number(), gaps(), gaps(), any::<(bool, bool)>()).prop_map(
        |(a, b, gap_site, deletion, insertion, (is_below, free_read_ends))| {
            let (matching, mismatch) = if is_below { (-a.min(b), -a.max(b)) } else { (a, -b) };
            PhyloScheme { matching, mismatch, gap_site, deletion, insertion, free_read_ends }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_schemes_match_textbook(
        scheme in any_scheme(),
        seed in any::<u64>(),
        (sites, len, length) in (0u32..80, prop_oneof![1u32..20, 33u32..66], 0usize..80),
        is_protein in any::<bool>(),
        is_union in any::<bool>(),
    ) {
        prop_assert!(scheme.validate().is_ok());
        let rng = &mut rng(seed);
        let kind = if is_union { Kind::Union } else { Kind::Ordinary };
        let vectors = vectors(rng, ALPHABETS[usize::from(is_protein)], sites, len, kind);
        let reads = reads(rng, &vectors, &[length, length / 2]);
        check(&batch(vectors, &reads, None, scheme));
    }
}
