//! Arenas, rounds, dispatches of several rows, and lengths around the sizes of the kernels.

use super::*;

/// Tests several arenas, several tasks in each arena, and several rounds.
fn several_rounds_are_traced(stem: &str) {
    const ARENAS: u32 = 3;
    let mut rng = rng(0x2071d);
    let adapter = adapter();
    for scoring in four_scorings() {
        let store = mixed_store(&mut rng, scoring.alphabet, EDGES);
        let batch = one_batch(&store, &scoring);
        let each = largest_task_bytes(stem, &SMALL_SHAPE, &batch, true) * 5 / 2;
        let (_, tasks) = variant_and_tasks(stem, &SMALL_SHAPE, &batch, (ARENAS, each), true);
        let tasks = tasks.expect("every task fits");
        assert_eq!(tasks.arena_quads.len(), ARENAS as usize);
        match tasks.parts.first() {
            // Large parts first, then smaller ones for the rest.
            Some(first) => assert!(first.an_arena > 1 && tasks.parts.len() >= 2, "{:?}", tasks.parts),
            None => assert!(tasks.rounds.len() >= 2, "{:?}", tasks.rounds),
        }
        let mut engine = kernel_checked(stem).with_arenas(each * ARENAS as u64, each);
        let bindings = engine.gpu().device.limits().max_storage_buffers_per_shader_stage;
        assert!(bindings >= 6 + ARENAS, "{} has {bindings} bindings only", adapter.description.name);
        check_store(&mut engine, &store, &scoring);
    }
}

/// Tests more tasks than a dispatch can have workgroups in one dimension, with one pair each.
fn many_tasks_are_traced(stem: &str) {
    let mut rng = rng(0x3a27);
    // A few sequences are empty. Their pairs come last, and an arena that was never written gives
    // the correct values for them.
    let lengths: Vec<usize> =
        (0..260).map(|index| if index < 2 { 0 } else { 1 + rng.next_u32() as usize % 3 }).collect();
    let widest = adapter().description.subgroup_sizes[1].clamp(4, 128);
    let shape = MatrixKernelShape { rows_workgroup: 1, subgroup_workgroup: widest, ..SMALL_SHAPE };
    let mut engine = with_matrix(kernel_checked(stem), shape);
    for scoring in three_scorings(&Scoring::truong(), turn_of(stem)) {
        let store = mixed_store(&mut rng, Alphabet::Dna, &lengths);
        let batch = one_batch(&store, &scoring);
        let (variant, tasks) = variant_and_tasks(stem, &shape, &batch, (1, u64::MAX), true);
        let tasks = tasks.expect("there is no limit").tasks.len();
        assert!(tasks > 1 << 15 || variant.slots() > 1, "{tasks} tasks are too few for this test");
        let adapter = compute_traced(&mut engine, &[Arc::clone(&batch)]);
        check_traced(&store, &scoring, &adapter);
        let mut hits: Vec<PairHit> = adapter.into_iter().map(|(hit, _)| hit).collect();
        hits.sort();
        assert_eq!(hits, compute(&mut cpu(), &[batch]));
    }
}

/// Tests lengths around the padding units of the default sizes: the columns of a lane, of all
/// lanes, of tiles and of slices.
fn padded_lengths_are_traced(stem: &str) {
    let mut rng = rng(0xdef);
    // The number of columns is fixed, because short sequences would otherwise get fewer columns per
    // lane.
    let shape = MatrixKernelShape { lane_columns: Some(16), ..MatrixKernelShape::default() };
    let mut engine = with_matrix(kernel_default(stem), shape);
    for scoring in three_scorings(&Scoring::truong(), turn_of(stem)) {
        let small = [3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257];
        check_store(&mut engine, &mixed_store(&mut rng, Alphabet::Dna, &small), &scoring);
        // All lanes have 64 x 16 columns, or 64 x 8 with affine gaps. Adapters that count loop
        // iterations refuse this many for nw_rows, and half as many for nw_checkpoint, whose lanes
        // have 8 x 16.
        let is_wide = scoring.gaps.is_linear() && stem != "nw_rows";
        let large: &[usize] = match stem {
            "nw_checkpoint" => &[383, 384, 385, 2],
            _ if is_wide => &[1023, 1024, 1025, 2],
            _ => &[511, 512, 513, 2],
        };
        check_store(&mut engine, &mixed_store(&mut rng, Alphabet::Dna, large), &scoring);
    }
}

/// Tests every number of columns per lane, with lengths one below, at and one above the columns of
/// all lanes, and twice these.
fn every_number_of_lane_columns_is_traced(stem: &str) {
    let mut rng = rng(0x1a2e);
    for (turn, columns) in (turn_of(stem)..).zip([4, 8, 16]) {
        let shape = MatrixKernelShape { lane_columns: Some(columns), rows_words: columns / 4, ..SMALL_SHAPE };
        // Four lanes, or one per lane of a subgroup, and rows around tiles of 12. Affine gaps have
        // at most 8 columns.
        let lanes = match stem {
            "nw_diagonal_subgroup" => adapter().description.subgroup_sizes[1].min(32),
            "nw_checkpoint" => adapter().description.subgroup_sizes[0].clamp(4, 8),
            _ => 4,
        };
        let unit = (lanes * columns) as usize;
        let mut lengths = vec![11, 12, 13, 23, 24, 25];
        lengths.extend([unit - 1, unit, unit + 1, 2 * unit - 1, 2 * unit, 2 * unit + 1]);
        let mut engine = with_matrix(kernel_checked(stem), shape);
        for scoring in three_scorings(&Scoring::truong(), turn) {
            check_store(&mut engine, &mixed_store(&mut rng, Alphabet::Dna, &lengths), &scoring);
        }
    }
}

/// Runs that exceed the length of a packed run are split. Here they are split after three columns
/// instead of thousands.
fn long_runs_are_split(stem: &str) {
    let mut rng = rng(0x10e6);
    let mut engine = kernel_checked(stem).with_rewritten_shaders(Box::new(|source| {
        let longest = format!("const LONGEST_RUN: u32 = {}u;", pairwave::alignment::packed::LONGEST_RUN);
        assert_eq!(source.contains(&longest), source.contains("LONGEST_RUN"));
        source.replace(&longest, "const LONGEST_RUN: u32 = 3u;")
    }));
    for scoring in three_scorings(&Scoring::truong(), turn_of(stem)) {
        check_store(&mut engine, &mixed_store(&mut rng, Alphabet::Dna, EDGES), &scoring);
    }
}

on_every_kernel! { long_runs_are_split, several_rounds_are_traced, many_tasks_are_traced, padded_lengths_are_traced, every_number_of_lane_columns_is_traced }
