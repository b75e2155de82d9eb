//! Compares the layouts of structures that Rust and WGSL share.

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

mod long;
mod multiple;
mod papara;

use long::{strip, traceback};
use multiple::{merge, pass, sums};
use pairwave::clustal::kernels::program::ClustalPass;
use pairwave::edit::kernels::myers::{self, LaneGrouping};
use pairwave::gpu::kernels::{
    Access, ClustalStage, Family, KERNELS, Kernel, KernelKind, KernelProgram, Packing, of_kind,
};
use pairwave::pairs::kernels::layout::{EndGapKind, NwParams, NwTarget, NwTask};
use pairwave::pairs::kernels::matrix::{self, MatrixTraceback, Scan};
use pairwave::pairs::kernels::{nw_slice, nw_slice_half, sw_tile};
use pairwave::papara::kernels::block::ScoreType;
use pairwave::score::EditMode;
use papara::block;

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
        lanes: if grouping.divides_pairs() { 4 } else { 1 },
        mode: EditMode::Infix,
        strips: false,
        row_words: if grouping == LaneGrouping::Band { 7 } else { 0 },
        code_lanes: if grouping == LaneGrouping::ScanSubgroup { 8 } else { 0 },
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
            last_run,
            reserved,
        ]
    );
    // A run is four words of `runs`.
    assert_eq!(size_of::<myers::PatternRun>(), 16);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, region), 4);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, profile), 8);
    assert_eq!(std::mem::offset_of!(myers::PatternRun, pattern_symbols), 12);
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
