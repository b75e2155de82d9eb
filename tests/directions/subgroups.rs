//! Teams of every size: the workgroups of nw_diagonal, and the subgroups of nw_diagonal_subgroup.
//! No single device has subgroups of all sizes, so they are emulated.

use pairwave::pairs::gpu::Config;

use super::*;

/// Tests lengths around the columns of all lanes, with four columns per lane.
fn test_lanes(lanes: u32, engine: PairsGpu, seed: u64) {
    team_under(&three_scorings(&Scoring::truong(), lanes.ilog2() as usize), lanes, engine, seed);
}

fn team_under(scorings: &[Scoring], lanes: u32, mut engine: PairsGpu, seed: u64) {
    let mut rng = rng(seed);
    let unit = 4 * lanes as usize;
    let lengths = [unit - 1, unit, unit + 1, 2 * unit + 1, 0, 1, 5, 30, 31, 33];
    for scoring in scorings {
        check_store(&mut engine, &mixed_store(&mut rng, scoring.alphabet, &lengths), scoring);
    }
}

#[test]
fn workgroups_of_every_size() {
    for lanes in [4, 8, 16, 32, 64, 128] {
        let shape = MatrixKernelShape { diagonal_workgroup: lanes, ..SMALL_SHAPE };
        test_lanes(lanes, with_matrix(kernel_checked("nw_diagonal"), shape), 0x7ea3 + lanes as u64);
    }
}

/// Returns the source of nw_diagonal_subgroup with subgroups of `lanes` lanes emulated in workgroup
/// memory.
fn emulate_subgroups(source: String, lanes: u32) -> String {
    let shuffle = "return vec2<i32>(subgroupShuffleUp(value.x, 1u), subgroupShuffleUp(value.y, 1u));";
    if !source.contains("subgroupShuffleUp") {
        return source; // the traceback
    }
    let mut text = source;
    let mut replace = |old: &str, new: &str| {
        assert_eq!(text.matches(old).count(), 1, "the text has not one {old}");
        text = text.replace(old, new);
    };
    // Like exchange_workgroup.wgsl. A team's first lane receives the value of another team's last
    // lane, which hardware leaves undefined.
    replace(
        shuffle,
        "let begin = (step & 1u) * WG;
         ring[begin + own_lane] = value;
         workgroupBarrier();
         return ring[begin + max(own_lane, 1u) - 1u];",
    );
    let begin = format!(
        ") {{ own_lane = t; let sg_lanes = {lanes}u; let sg_lane = t % sg_lanes; let sg_index = t / sg_lanes;
         let sg_count = WG / sg_lanes;"
    );
    let builtins = "    @builtin(subgroup_id) sg_index: u32,
    @builtin(num_subgroups) sg_count: u32,
    @builtin(subgroup_size) sg_lanes: u32,
    @builtin(subgroup_invocation_id) sg_lane: u32,
) {";
    replace(builtins, &begin);
    text + "var<workgroup> ring: array<vec2<i32>, 2u * WG>;
            var<private> own_lane: u32;"
}

/// Returns an engine whose device appears to have subgroups of `lanes` lanes. The device reports
/// the sizes in `sizes`.
fn with_subgroups(lanes: u32, sizes: [u32; 2]) -> PairsGpu {
    let mut adapter = adapter();
    adapter.description.subgroup_sizes = sizes;
    let engine = PairsGpu::open(&adapter, Config::default()).expect("the adapter opens");
    with_matrix(engine, SMALL_SHAPE)
        .with_runtime_checks()
        .with_kernel(kernels::find("nw_diagonal_subgroup"))
        .with_rewritten_shaders(Box::new(move |source| emulate_subgroups(source, lanes)))
}

#[test]
fn subgroups_of_every_size() {
    for lanes in [4, 8, 16, 32, 64, 128] {
        test_lanes(lanes, with_subgroups(lanes, [lanes, lanes]), 0x5b6 + lanes as u64);
    }
}

/// A device with several subgroup sizes does not report which size a kernel will have. The index of
/// a team's first lane does not depend on the scheme.
#[test]
fn subgroups_of_unknown_size_are_supported() {
    for (lanes, sizes) in [(4, [4, 128]), (8, [8, 32]), (16, [8, 32]), (32, [8, 32]), (128, [4, 128]), (64, [32, 64])] {
        team_under(&four_scorings()[..2], lanes, with_subgroups(lanes, sizes), 0x5b7 + lanes as u64);
    }
}

/// Tests more pairs than a workgroup has subgroups, so that each subgroup computes several in turn.
#[test]
fn subgroups_take_turns() {
    let mut rng = rng(0x7a2e);
    let lengths: Vec<usize> = (0..60).map(|index| index * 7 % 41).collect();
    for scoring in four_scorings() {
        let store = mixed_store(&mut rng, scoring.alphabet, &lengths);
        check_store(&mut with_subgroups(32, [4, 128]), &store, &scoring);
    }
}

#[test]
#[should_panic(expected = "of PairHit")]
fn the_harness_sees_a_wrong_emulation() {
    // Teams of 4 lanes that act as teams of 8.
    let engine = with_subgroups(8, [8, 8]).with_rewritten_shaders(Box::new(|source| {
        emulate_subgroups(source, 8).replace("let sg_lane = t % sg_lanes", "let sg_lane = t % 4u")
    }));
    test_lanes(8, engine, 0xbad);
}
