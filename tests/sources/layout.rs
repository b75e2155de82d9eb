//! Compares the layouts of structures that Rust and WGSL share.

use pairwave::clustal::kernels::layout as clustal_layout;
use pairwave::clustal::kernels::program::{self as clustal, ClustalPass};
use pairwave::edit::kernels::myers::{self, LaneGrouping};
use pairwave::gpu::kernels::{
    Access, ClustalStage, Family, KERNELS, Kernel, KernelKind, KernelProgram, Packing, PosteriorPass, ProfileStage,
    of_kind,
};
use pairwave::long::kernels::striped;
use pairwave::long::kernels::striped_trace::{self, TracebackStage};
use pairwave::pairs::kernels::layout::{EndGapKind, NwParams, NwTarget, NwTask};
use pairwave::pairs::kernels::matrix::{self, MatrixTraceback, Scan};
use pairwave::pairs::kernels::{nw_slice, nw_slice_half, sw_tile};
use pairwave::papara::kernels::block::{self, ScoreType};
use pairwave::posterior::kernels::layout as posterior_layout;
use pairwave::posterior::kernels::program::PosteriorVariant;
use pairwave::profile::kernels::layout as profile_layout;
use pairwave::profile::kernels::program as profile;
use pairwave::score::EditMode;
use pairwave::seq::Alphabet;

fn parsed(source: &str) -> naga::Module {
    naga::front::wgsl::parse_str(source).expect("the shader parses")
}

fn slice() -> naga::Module {
    parsed(
        &nw_slice::SliceVariant { slice: 12, workgroup: 16, codes: 16, affine: true, ends: EndGapKind::Affine }
            .source()
            .expect("all imports exist"),
    )
}

fn slice_half() -> naga::Module {
    let (slice, workgroup, group_words, codes, affine, ends) = (12, 16, 4, 16, true, EndGapKind::Affine);
    let variant = nw_slice_half::HalfSliceVariant { slice, workgroup, group_words, codes, affine, ends };
    parsed(&variant.source().expect("all imports exist"))
}

fn variant(scan: Scan) -> matrix::MatrixVariant {
    matrix::MatrixVariant {
        scan,
        workgroup: 16,
        columns: 8,
        tile_rows: 12,
        arenas: 2,
        subgroup_sizes: [4, 16],
        codes: 16,
        affine: true,
        ends: EndGapKind::Affine,
        directions: true,
        tags: true,
    }
}

fn traceback_shader() -> naga::Module {
    parsed(&MatrixTraceback(variant(Scan::Rows)).source().expect("all imports exist"))
}

/// Returns the modules of the kernels that can store directions, and of the traceback.
fn matrices() -> Vec<naga::Module> {
    let scans = KERNELS.iter().filter_map(|kernel| kernel.scan());
    let mut all: Vec<_> = scans.map(|scan| parsed(&variant(scan).source().expect("all imports exist"))).collect();
    all.push(traceback_shader());
    all
}

/// Returns the modules of all kernels that share the parameters, and of the traceback.
fn modules() -> Vec<naga::Module> {
    let mut all = matrices();
    all.extend([slice(), slice_half()]);
    assert_eq!(
        all.len(),
        KERNELS.iter().filter(|kernel| kernel.family() == Family::Pairs).count(),
        "a kernel was left out"
    );
    all
}

/// Returns the offsets of a shader structure's members, and its size, as computed by naga.
fn shader_layout(module: &naga::Module, name: &str) -> (Vec<(String, u32)>, u32) {
    let (_, ty) = module
        .types
        .iter()
        .find(|(_, ty)| ty.name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("no structure {name}"));
    let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no structure") };
    let members =
        members.iter().map(|member| (member.name.clone().expect("members have names"), member.offset)).collect();
    (members, *span)
}

/// Compares a Rust structure with its shader twin, member by member, in order.
macro_rules! same_layout {
    ($rust:ty, $name:literal, $members:tt) => {
        same_layout!(modules(), $rust, $name, $members)
    };
    ($modules:expr, $rust:ty, $name:literal, [$($member:ident),* $(,)?]) => {{
        let ours = vec![$((stringify!($member).to_string(), std::mem::offset_of!($rust, $member) as u32)),*];
        for module in $modules {
            let (theirs, size) = shader_layout(&module, $name);
            assert_eq!(ours, theirs, "{}", $name);
            assert_eq!(size_of::<$rust>() as u32, size, "{}", $name);
        }
    }};
}

#[test]
fn params_of_pairs_match() {
    same_layout!(
        NwParams,
        "Params",
        [
            task_begin,
            task_count,
            slice_begin,
            slice_end,
            ticketed,
            rows_words,
            opening,
            border_opening,
            border_step,
            match_bits,
            values_begin,
            filter_mode,
            filter_match,
            filter_mismatch,
            filter_unequal,
            filter_threshold,
            filter_mismatch_low,
            filter_match_low,
            filter_dearest,
            filter_free_step,
            filter_forms,
            tile_diagonal,
            runs_begin,
            runs_capacity_words,
            traces_back,
            slot_quads,
            slots_an_arena,
        ]
    );
}

fn tile(grouping: LaneGrouping, packing: Packing) -> naga::Module {
    let variant = sw_tile::TileVariant {
        grouping,
        packing,
        lanes: 4,
        columns: 8,
        workgroup: 16,
        codes: 16,
        gaps: pairwave::score::Gaps::from_blast(11, 1),
        group: None,
        passes: true,
        split: true,
    };
    parsed(&variant.source().expect("all imports exist"))
}

fn tiles() -> [naga::Module; 4] {
    let (subgroup, workgroup) = (LaneGrouping::Subgroup, LaneGrouping::Workgroup);
    [
        tile(subgroup, Packing::One),
        tile(subgroup, Packing::Queries),
        tile(subgroup, Packing::Targets),
        tile(workgroup, Packing::One),
    ]
}

#[test]
fn structures_of_tiles_match() {
    same_layout!(
        tiles(),
        sw_tile::TileParams,
        "Params",
        [
            task_begin,
            task_end,
            ticketed,
            passes,
            diagonal,
            block_words,
            kept_passes,
            slot_rows,
            slot_borders,
            slot_vectors,
            values_begin,
            list_begin,
            floors
        ]
    );
    same_layout!(tiles(), sw_tile::TileTask, "Task", [parts_begin, passes, first, count, before, words]);
    same_layout!(tiles(), sw_tile::TilePart, "LanePart", [end_word, words, words_left, pairs_begin, floor, state]);
    same_layout!(tiles(), NwTarget, "Target", [end_word, symbols, number]);
    for module in tiles() {
        let (members, _) = shader_layout(&module, "Output");
        let data = members.iter().find(|(name, _)| name == "data").expect("the scores");
        assert_eq!(data.1 as u64, 4 * sw_tile::OUTPUT_HEADER_WORDS);
        let mut all = module.global_variables.iter();
        let (_, scratch) = all.find(|(_, variable)| variable.name.as_deref() == Some("scratch")).expect("it is bound");
        let naga::TypeInner::Array { stride, .. } = module.types[scratch.ty].inner else { panic!("it is no array") };
        assert_eq!(u64::from(stride), sw_tile::VECTOR_BYTES);
    }
}

fn distances(grouping: LaneGrouping) -> myers::EditVariant {
    myers::EditVariant {
        grouping,
        bits: 4,
        stride: 4,
        words: 2,
        workgroup: 32,
        lanes: if matches!(grouping, LaneGrouping::Subgroup | LaneGrouping::Workgroup) { 4 } else { 1 },
        mode: EditMode::Infix,
        strips: false,
        row_words: if grouping == LaneGrouping::Band { 7 } else { 0 },
        selection: myers::PairSelection::All,
    }
}

#[test]
fn params_of_distances_match() {
    let modules = KERNELS
        .iter()
        .filter_map(|kernel| kernel.lane_grouping())
        .map(|grouping| parsed(&distances(grouping).source().expect("all imports exist")));
    same_layout!(
        modules,
        myers::EditParams,
        "Params",
        [
            task_count,
            first_workgroup,
            pass_begin,
            pass_end,
            column_begin,
            column_end,
            scratch_words,
            kept,
            text_words,
            limit,
            groups,
            reach_divisor,
            sets,
            reach_shorter,
            reach_constant,
            reach_rate,
            list_limit,
            list_room,
            dense_begin,
            kept_begin,
            result_words,
            place_words,
            text_symbols,
        ]
    );
    // A run is four words of `runs`.
    assert_eq!(size_of::<myers::PatternRun>(), 16);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, region), 4);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, profile), 8);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, pattern_symbols), 12);
}

fn strip(persistent: bool, shuffle: bool) -> striped::StripedVariant {
    striped::StripedVariant {
        lanes: 32,
        cells: 8,
        classes: 4,
        codes: 16,
        batch: 8,
        last_cell: 7,
        local: true,
        linear: false,
        best: true,
        prune: true,
        persistent,
        shuffle,
    }
}

fn strips() -> Vec<naga::Module> {
    vec![
        parsed(&strip(false, false).source().expect("all imports exist")),
        parsed(&strip(true, true).source().expect("all imports exist")),
    ]
}

#[test]
fn params_of_strips_match() {
    same_layout!(
        strips(),
        striped::StripedParams,
        "Params",
        [
            rows,
            columns,
            strips,
            first_strip,
            base,
            steps,
            lag,
            total_steps,
            query_begin,
            target_begin,
            whole_entries,
            inner_entries,
            inner_mask,
            columns_stride,
            mark_blocks,
            marks,
            first,
            next,
            greatest,
            rows_to_end,
            columns_to_end,
            best_floor,
            spin_limit,
            keep_strips,
            rings_begin,
            padding,
            left_reached,
            turn,
        ]
    );
}

#[test]
fn shared_state_of_strips_matches() {
    same_layout!(strips(), striped::StripedShared, "Shared", [best, ticket, stuck, pruned]);
    // The host clears only the ticket.
    assert_eq!(std::mem::offset_of!(striped::StripedShared, ticket), 4);
}

fn traceback(stage: TracebackStage) -> naga::Module {
    let (local, stored_borders) = (true, true);
    parsed(
        &striped_trace::TracebackVariant { stage, workgroup: 4, codes: 16, column_bits: 6, local, stored_borders }
            .source()
            .expect("all imports exist"),
    )
}

#[test]
fn params_of_tracebacks_match() {
    let modules = [TracebackStage::Starts, TracebackStage::Chase, TracebackStage::Trace].map(traceback);
    same_layout!(
        modules,
        striped_trace::TracebackParams,
        "Params",
        [
            query_begin_symbols,
            target_begin_symbols,
            rows,
            columns,
            rows_stride,
            columns_stride,
            strip,
            chunk,
            first,
            next,
            block_rows,
            strip_begin,
            strip_count,
            block_count,
            at_row,
            at_column,
            at_state,
            path_capacity,
            directions_capacity_words,
            lead,
        ]
    );
}

#[test]
fn path_structures_match() {
    let modules = [TracebackStage::Chase, TracebackStage::Trace].map(traceback);
    same_layout!(
        modules,
        striped_trace::PathPart,
        "Path",
        [start_row, start_column, start_state, end_row, end_column, end_state, directions_begin, runs_begin, run_count,]
    );
    for stage in [TracebackStage::Chase, TracebackStage::Trace] {
        let (members, _) = shader_layout(&traceback(stage), "Paths");
        let list = members.iter().find(|(name, _)| name == "list").expect("the parts");
        assert_eq!(list.1 as usize, 4 * striped_trace::PATHS_HEADER_WORDS);
    }
}

fn block(numbers: ScoreType) -> naga::Module {
    let (workgroup, columns) = (16, block::columns(numbers)[0]);
    let variant =
        block::BlockVariant { numbers, workgroup, columns, chunk: block::CHUNK, is_plain: false, is_protein: true };
    parsed(&variant.source().expect("all imports exist"))
}

fn blocks() -> [naga::Module; 2] {
    [ScoreType::I32, ScoreType::F16].map(block)
}

#[test]
fn params_of_blocks_match() {
    same_layout!(
        blocks(),
        block::BlockParams,
        "Params",
        [
            place_begin,
            place_end,
            groups,
            site_begin,
            site_end,
            sites,
            columns,
            scratch_vectors,
            free_read_ends,
            matching,
            mismatch,
            gap_site,
            deletion_first,
            deletion_next,
            insertion_first,
            insertion_next,
        ]
    );
}

#[test]
fn places_of_blocks_match() {
    same_layout!(blocks(), block::BlockTask, "Place", [read, symbols, rows, row_count, octet, score]);
}

/// The host sizes scratch memory by the size of its numbers.
#[test]
fn scratch_numbers_have_the_expected_size() {
    for numbers in [ScoreType::I32, ScoreType::F16] {
        let (module, columns) = (block(numbers), block::columns(numbers)[1]);
        let mut all = module.global_variables.iter();
        let (_, scratch) = all.find(|(_, variable)| variable.name.as_deref() == Some("scratch")).expect("it is bound");
        let naga::TypeInner::Array { stride, .. } = module.types[scratch.ty].inner else { panic!("it is no array") };
        let variant =
            block::BlockVariant { numbers, workgroup: 16, columns, chunk: 32, is_plain: true, is_protein: false };
        assert_eq!(u64::from(stride), variant.vector_bytes(), "{numbers:?}");
    }
}

fn pass(pass: ClustalPass) -> naga::Module {
    parsed(&clustal::ClustalVariant::new(pass, Alphabet::Protein, 16).source().expect("all imports exist"))
}

#[test]
fn params_of_clustal_passes_match() {
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalParams,
        "Params",
        [task_begin, task_end, groups, slice_begin, slice_end, entries, extension, reserved]
    );
}

#[test]
fn lists_of_clustal_passes_match() {
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalPair,
        "Pair",
        [query, query_symbols, target_begin, target_symbols, opening, by_rows]
    );
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalPairResult,
        "PairResult",
        [score, end_row, end_column, rows_back, columns_back, identities, reserved0, reserved1]
    );
    let slices = [ClustalPass::Ends, ClustalPass::Starts].map(pass);
    same_layout!(slices, clustal_layout::ClustalTask, "Task", [first, count]);
}

/// The host sizes scratch memory by the size of its entries.
#[test]
fn scratch_entries_have_the_expected_size() {
    for kind in ClustalPass::ALL {
        let module = pass(kind);
        let mut all = module.global_variables.iter();
        let (_, scratch) = all.find(|(_, variable)| variable.name.as_deref() == Some("scratch")).expect("it is bound");
        let naga::TypeInner::Array { stride, .. } = module.types[scratch.ty].inner else { panic!("it is no array") };
        // One vector per invocation, or three; or two per half.
        let each = match kind {
            ClustalPass::Ends | ClustalPass::Starts => 16,
            ClustalPass::ForwardReverse => 4,
            ClustalPass::ForwardReverseThread => 48,
        };
        let variant = clustal::ClustalVariant::new(kind, Alphabet::Protein, 16);
        assert_eq!(u64::from(stride) * each, variant.entry_bytes(), "{kind:?}");
    }
}

/// Returns a kernel for probabilities of pairs.
fn sums(sweep: PosteriorPass) -> naga::Module {
    parsed(&PosteriorVariant::new(sweep, Alphabet::Protein, 16, 4).source().expect("all imports exist"))
}

#[test]
fn structures_of_posterior_kernels_match() {
    let modules = || [PosteriorPass::Forward, PosteriorPass::Backward].map(sums);
    same_layout!(
        modules(),
        posterior_layout::PosteriorParams,
        "Params",
        [
            task_begin,
            task_count,
            strip_begin,
            strip_end,
            capacity,
            arena_begin,
            zero,
            open,
            extend,
            cutoff,
            reserved0,
            reserved1
        ]
    );
    same_layout!(
        modules(),
        posterior_layout::PosteriorPair,
        "Pair",
        [row_begin, rows, column_begin, columns, out_begin, reserved0, reserved1, reserved2]
    );
    same_layout!(
        modules(),
        posterior_layout::PosteriorTask,
        "Task",
        [first, count, groups, strips, kept_begin, scratch_begin, list, reserved]
    );
}

fn merge(step: ProfileStage) -> naga::Module {
    let variant = match step {
        ProfileStage::Tile => profile::ProfileVariant::Tile { workgroup: 16, columns: 32, letters: 8 },
        ProfileStage::Cross => profile::ProfileVariant::Cross { workgroup: 16 },
    };
    parsed(&variant.source().expect("all imports exist"))
}

#[test]
fn structures_of_profiles_match() {
    let both = || [ProfileStage::Tile, ProfileStage::Cross].map(merge);
    same_layout!(
        both(),
        profile_layout::ProfileParams,
        "Params",
        [problems, node_begin, nodes, tile_rows, diagonal, reserved0, reserved1, reserved2]
    );
    same_layout!(
        both(),
        profile_layout::ProfileProblem,
        "Problem",
        [m, n, fours, scored, tenths, first, second, nodes, rows, columns, corners, corner_count]
    );
    same_layout!(both(), profile_layout::RectangleNode, "Node", [a, b, m, n, ends, column, in_gap, reserved]);
}

/// Returns a variant of a kernel that declares all its bindings and arenas.
fn module_of(kind: KernelKind) -> naga::Module {
    match kind {
        KernelKind::Slice(ScoreType::I32) => slice(),
        KernelKind::Slice(ScoreType::F16) => slice_half(),
        KernelKind::Scan(scan) => parsed(&variant(scan).source().expect("all imports exist")),
        KernelKind::PairTraceback => traceback_shader(),
        KernelKind::Tile(grouping, numbers) => tile(grouping, numbers),
        KernelKind::Edit(grouping) => parsed(&distances(grouping).source().expect("all imports exist")),
        KernelKind::Strips => parsed(&strip(false, false).source().expect("all imports exist")),
        KernelKind::LongTraceback(stage) => traceback(stage),
        KernelKind::Block(numbers) => block(numbers),
        KernelKind::Clustal(ClustalStage::Ends) => pass(ClustalPass::Ends),
        KernelKind::Clustal(ClustalStage::ForwardReverse(LaneGrouping::Thread)) => {
            pass(ClustalPass::ForwardReverseThread)
        }
        KernelKind::Clustal(ClustalStage::ForwardReverse(_)) => pass(ClustalPass::ForwardReverse),
        KernelKind::Posterior(sweep) => sums(sweep),
        KernelKind::Profile(step) => merge(step),
    }
}

/// Returns the bindings that a shader declares: number, name and access.
fn declared(module: &naga::Module) -> Vec<(u32, String, Access)> {
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("types have layouts");
    let mut all = Vec::new();
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = variable.binding else { continue };
        assert_eq!(binding.group, 0);
        let access = match variable.space {
            naga::AddressSpace::Uniform => Access::Uniform(layouter[variable.ty].size.into()),
            naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE) => Access::Write,
            naga::AddressSpace::Storage { .. } => Access::Read,
            space => panic!("{space:?} is bound"),
        };
        all.push((binding.binding, variable.name.clone().expect("bindings have names"), access));
    }
    all.sort_by_key(|(number, ..)| *number);
    all
}

/// Returns the bindings in a kernel's row, with two arenas.
fn listed(kernel: &Kernel) -> Vec<(u32, String, Access)> {
    let each = kernel.bindings.iter().flat_map(|binding| match binding.access {
        Access::WriteEach => {
            (0..2).map(|k| (binding.number + k, format!("{}{k}", binding.name), Access::Write)).collect()
        }
        access => vec![(binding.number, binding.name.to_string(), access)],
    });
    each.collect()
}

/// Layouts and bind groups are derived from the rows, so a row must list exactly the bindings that
/// the shader declares.
#[test]
fn declared_bindings_match_the_rows() {
    for kernel in KERNELS {
        assert_eq!(declared(&module_of(kernel.kind)), listed(kernel), "{}", kernel.stem);
    }
}

#[test]
fn stems_and_kinds_are_unique() {
    let stems: std::collections::HashSet<&str> = KERNELS.iter().map(|kernel| kernel.stem).collect();
    let kinds: std::collections::HashSet<KernelKind> = KERNELS.iter().map(|kernel| kernel.kind).collect();
    assert_eq!((stems.len(), kinds.len()), (KERNELS.len(), KERNELS.len()));
    assert!(KERNELS.iter().all(|kernel| std::ptr::eq(of_kind(kernel.kind), kernel)));
}

#[test]
fn task_matches() {
    same_layout!(
        NwTask,
        "Task",
        [
            query_end_word,
            query_symbols,
            first,
            count,
            rows_words,
            pairs_begin,
            query_number,
            arena,
            arena_begin,
            columns,
            direction_quads
        ]
    );
}

#[test]
fn target_matches() {
    same_layout!(NwTarget, "Target", [end_word, symbols, number]);
}

#[test]
fn output_headers_match() {
    let of_slice = nw_slice::OUTPUT_HEADER_WORDS;
    let checkpoint = module_of(KernelKind::Scan(Scan::Checkpoint));
    let of_traceback = matrix::OUTPUT_HEADER_WORDS;
    for (module, words) in
        [(slice(), of_slice), (slice_half(), of_slice), (traceback_shader(), of_traceback), (checkpoint, of_traceback)]
    {
        let (members, _) = shader_layout(&module, "Output");
        let data = members.iter().find(|(name, _)| name == "data").expect("the values");
        assert_eq!(data.1 as u64, 4 * words);
    }
}

/// Constants that the host and the traceback kernel share.
#[test]
fn traceback_constants_match() {
    let module = traceback_shader();
    let constant = |name: &str| {
        let mut all = module.constants.iter();
        let (_, constant) =
            all.find(|(_, constant)| constant.name.as_deref() == Some(name)).unwrap_or_else(|| panic!("no {name}"));
        match module.global_expressions[constant.init] {
            naga::Expression::Literal(naga::Literal::U32(number)) => number,
            ref other => panic!("{name} is {other:?}"),
        }
    };
    let ours =
        [matrix::NO_INDEX, matrix::DROPPED, pairwave::alignment::packed::LONGEST_RUN, matrix::TRACEBACK_WORKGROUP];
    assert_eq!(ours, ["NO_INDEX", "DROPPED", "LONGEST_RUN", "WG"].map(constant));
}

#[test]
fn harness_detects_a_shifted_member() {
    #[repr(C)]
    struct Shifted {
        symbols: u32,
        end_word: u32,
    }
    let shifted = [std::mem::offset_of!(Shifted, end_word) as u32, std::mem::offset_of!(Shifted, symbols) as u32];
    let (theirs, _) = shader_layout(&slice(), "Target");
    assert_ne!(shifted.to_vec(), theirs.iter().map(|member| member.1).collect::<Vec<_>>());
}
