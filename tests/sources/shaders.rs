//! Every shader, in every variant that is used, is parsed, validated, and translated to SPIR-V, MSL
//! and HLSL. Other compilers accept it, too.

mod dawn;
mod spirv;

use std::fmt::Debug;

use naga::back::{hlsl, msl};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use pairwave::clustal::kernels::program::{self as clustal, ClustalPass};
use pairwave::edit::kernels::myers::{self, LaneGrouping, PairSelection};
use pairwave::gpu::kernels::{Family, KERNELS, Kernel, KernelProgram, Packing, PosteriorPass};
use pairwave::gpu::source;
use pairwave::long::kernels::striped;
use pairwave::long::kernels::striped_trace::{self, TracebackStage};
use pairwave::pairs::gpu::tune::{HALF_SLICES, SLICES, WORKGROUPS};
use pairwave::pairs::gpu::{Config, MatrixKernelShape};
use pairwave::pairs::kernels::layout::EndGapKind;
use pairwave::pairs::kernels::matrix::{self, MatrixTraceback, Scan, TRACEBACK_WORKGROUP};
use pairwave::pairs::kernels::{nw_slice, nw_slice_half, sw_tile};
use pairwave::papara::kernels::block::{self, ScoreType};
use pairwave::posterior::kernels::program::PosteriorVariant;
use pairwave::profile::kernels::program as profile;
use pairwave::score::{EditMode, Gaps, OverlapReach};
use pairwave::seq::Alphabet;
use rayon::prelude::*;

/// Workgroup memory that every device has.
const MIN_WORKGROUP_BYTES: u32 = 16 << 10;

/// A shader text, as it is passed to a device.
pub(crate) struct Text {
    name: String,
    source: String,
    workgroup: u32,
    /// Workgroup memory that the host expects.
    workgroup_bytes: u32,
}

/// Returns linear and affine gaps, each with all kinds of end gaps.
fn gap_kinds() -> impl Iterator<Item = (bool, EndGapKind)> {
    [false, true].into_iter().flat_map(|affine| EndGapKind::ALL.map(|ends| (affine, ends)))
}

/// Returns all constants of `nw_slice` that the host can request.
fn slices() -> Vec<nw_slice::SliceVariant> {
    let mut all = Vec::new();
    let defaults = [(Config::default().slice, Config::default().workgroup), (12, 16)];
    let tuned = SLICES.iter().flat_map(|&slice| WORKGROUPS.iter().map(move |&workgroup| (slice, workgroup)));
    for (slice, workgroup) in tuned.chain(defaults) {
        for codes in [16, 28] {
            for (affine, ends) in gap_kinds() {
                all.push(nw_slice::SliceVariant { slice, workgroup, codes, affine, ends });
            }
        }
    }
    all
}

/// Returns constants of `nw_slice_half`: all combinations that change the text, with sizes that the
/// host can request.
fn half_slices() -> Vec<nw_slice_half::HalfSliceVariant> {
    let sizes = HALF_SLICES.iter().flat_map(|&slice| WORKGROUPS.iter().map(move |&workgroup| (slice, workgroup)));
    let mut all = Vec::new();
    for (slice, workgroup) in sizes.chain([(12, 16)]) {
        for (codes, group_words) in [(16, 16), (28, 1)] {
            for (affine, ends) in gap_kinds() {
                all.push(nw_slice_half::HalfSliceVariant { slice, workgroup, group_words, codes, affine, ends });
            }
        }
    }
    all
}

/// Returns the workgroup sizes and columns of a scan that the host can request.
fn shapes(scan: Scan, affine: bool) -> Vec<(u32, u32)> {
    let usual = MatrixKernelShape::default();
    // Includes the sizes of software adapters, and the smallest possible ones.
    let (workgroups, columns): (&[u32], &[u32]) = match scan {
        Scan::Rows => (&[usual.rows_workgroup, 16], if affine { &[8, 32] } else { &[16, 64] }),
        Scan::Diagonal => (&[usual.diagonal_workgroup, 16, 4], if affine { &[4, 8] } else { &[4, 8, 16] }),
        Scan::DiagonalSubgroup => (&[usual.subgroup_workgroup], if affine { &[4, 8] } else { &[4, 8, 16] }),
        Scan::Checkpoint => (&[usual.checkpoint_workgroup, 16], &[4, 8, 16]),
        Scan::TiledDiagonal => (&[usual.tile_workgroup, 16, 4], if affine { &[4, 8] } else { &[4, 8, 16] }),
    };
    // Not all combinations are needed, only every value of both.
    (0..workgroups.len().max(columns.len()))
        .map(|at| (workgroups[at % workgroups.len()], columns[at % columns.len()]))
        .collect()
}

/// Returns constants of the kernels that can store directions: all combinations that change the
/// text, and every value of a constant that only changes sizes.
fn matrices() -> Vec<matrix::MatrixVariant> {
    let mut all = Vec::new();
    let mut rest = (0..).map(|index| ([1, 2, 16][index % 3], [[4, 4], [8, 32], [32, 32], [64, 128]][index % 4]));
    for scan in KERNELS.iter().filter_map(|kernel| kernel.scan()) {
        for (affine, ends) in gap_kinds() {
            for (directions, tags) in [(true, true), (true, false), (false, true), (false, false)] {
                for codes in [16, 28] {
                    for (workgroup, columns) in shapes(scan, affine) {
                        let (arenas, subgroup_sizes) = rest.next().expect("it has no end");
                        let tile_rows = if workgroup == 4 { 12 } else { MatrixKernelShape::default().tile_rows };
                        all.push(matrix::MatrixVariant {
                            scan,
                            workgroup,
                            columns,
                            tile_rows,
                            arenas,
                            subgroup_sizes,
                            codes,
                            affine,
                            ends,
                            directions,
                            tags,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Returns constants of the kernels for local scores: all combinations that change the text, with
/// shapes that the host can request.
fn tiles() -> Vec<sw_tile::TileVariant> {
    let mut all = Vec::new();
    let (subgroup, workgroup) = (LaneGrouping::Subgroup, LaneGrouping::Workgroup);
    let kernels = [
        (subgroup, Packing::One),
        (subgroup, Packing::Queries),
        (subgroup, Packing::Targets),
        (workgroup, Packing::One),
    ];
    for (grouping, packing) in kernels {
        for (lanes, columns, workgroup) in
            [(4, 4, 16), (4, 28, 256), (8, 12, 16), (8, 20, 256), (16, 20, 256), (32, 8, 64)]
        {
            for codes in [16, 28] {
                for (affine, passes, split, group) in [
                    (true, true, true, None),
                    (false, true, true, Some(4)),
                    (true, true, false, Some(columns)),
                    (true, false, false, None),
                    (false, false, false, None),
                ] {
                    let gaps = if affine { Gaps::from_blast(11, 1) } else { Gaps::linear(6) };
                    let sizes = sw_tile::TileVariant {
                        grouping,
                        packing,
                        lanes,
                        columns,
                        workgroup,
                        codes,
                        gaps,
                        group,
                        passes,
                        split,
                    };
                    all.push(sizes);
                }
            }
        }
    }
    all
}

/// Returns constants of the kernels for edit distances: all combinations that change the text, with
/// the default maximum of words.
fn distances() -> Vec<myers::EditVariant> {
    let reach = OverlapReach { shorter: 9, constant: 0, divisor: 25, rate: 2027 };
    let modes = [EditMode::Global, EditMode::Infix, EditMode::Prefix, EditMode::Overlap(reach)];
    let mut all = Vec::new();
    for bits in [2, 4, 8] {
        for mode in modes {
            for (grouping, words, workgroup, lanes) in [
                (LaneGrouping::Thread, 1, 16, 1),
                (LaneGrouping::Thread, 16, 32, 1),
                (LaneGrouping::Subgroup, 12, 64, 32),
                (LaneGrouping::Subgroup, 1, 16, 4),
                (LaneGrouping::Workgroup, 8, 64, 64),
                (LaneGrouping::Workgroup, 8, 16, 2),
                (LaneGrouping::Band, 1, 32, 1),
                (LaneGrouping::Band, 16, 32, 1),
                (LaneGrouping::ScanSubgroup, 1, 32, 1),
                (LaneGrouping::ScanSubgroup, 8, 32, 1),
                (LaneGrouping::ScanWorkgroup, 1, 32, 1),
                (LaneGrouping::ScanWorkgroup, 8, 32, 1),
            ] {
                let is_scan = grouping.shares_pattern() && grouping != LaneGrouping::Band;
                let row_words = if grouping == LaneGrouping::Band { 513 } else { 0 };
                let has_strips = grouping.divides_pairs();
                let code_lanes =
                    if grouping == LaneGrouping::ScanSubgroup { if words == 1 { 4 } else { 16 } } else { 0 };
                for strips in [false, true] {
                    let fits = (has_strips || !strips)
                        && (grouping != LaneGrouping::Band || mode == EditMode::Global)
                        && (!is_scan || mode == EditMode::Infix);
                    if fits && !(strips && matches!(mode, EditMode::Overlap(_))) {
                        let stride = if bits == 8 { 28 } else { 4 };
                        let all_pairs = myers::EditVariant {
                            grouping,
                            bits,
                            stride,
                            words,
                            workgroup,
                            lanes,
                            mode,
                            strips,
                            row_words,
                            code_lanes,
                            selection: PairSelection::All,
                        };
                        all.push(all_pairs);
                        if bits == 4 && grouping != LaneGrouping::Band && mode == EditMode::Infix {
                            let selections = [PairSelection::Heads(2), PairSelection::Kept];
                            let suited = selections.into_iter().filter(|one| !is_scan || *one != PairSelection::Kept);
                            all.extend(suited.map(|selection| myers::EditVariant { selection, ..all_pairs }));
                        }
                    }
                }
            }
        }
    }
    all
}

/// Returns constants of the kernels for the traceback of long pairs: all combinations that change
/// the text, with narrow and wide strips.
fn tracebacks() -> Vec<striped_trace::TracebackVariant> {
    let mut all = Vec::new();
    for stage in [TracebackStage::Starts, TracebackStage::Chase, TracebackStage::Trace] {
        for strip in [1, 4, 256, striped_trace::MAX_STRIP] {
            for (local, stored_borders) in [(false, false), (false, true), (true, false), (true, true)] {
                for codes in [16, 28, striped_trace::MAX_CODES] {
                    let workgroup = if stage == TracebackStage::Chase { 1 } else { striped_trace::workgroup(strip) };
                    let column_bits = striped_trace::column_bits(strip);
                    all.push(striped_trace::TracebackVariant {
                        stage,
                        workgroup,
                        codes,
                        column_bits,
                        local,
                        stored_borders,
                    });
                }
            }
        }
    }
    all
}

/// Returns constants of `sw_striped_score`: all combinations that change the text, with every width
/// of a strip, and at least once every value that only changes sizes. As on a device, lanes have
/// fewer columns if workgroup memory does not hold more.
fn strips() -> Vec<striped::StripedVariant> {
    let mut all = Vec::new();
    let mut rest = (0..).map(|index| ([1, 4, 5, 16, 24, 28][index % 6], [8, 2, 16][index % 3], index as u32));
    for (local, best, prune) in [(false, false, false), (true, false, false), (true, true, false), (true, true, true)] {
        for (linear, persistent) in [(false, false), (false, true), (true, false), (true, true)] {
            for (lanes, shuffle) in [(8, true), (8, false), (32, true), (32, false), (64, true), (64, false)] {
                for cells in [4, 8, 12, 16] {
                    for codes in [16, 28] {
                        let (classes, batch, last) = rest.next().expect("it has no end");
                        let classes = classes.min(codes);
                        let mut variant = striped::StripedVariant {
                            lanes,
                            cells,
                            classes,
                            codes,
                            batch,
                            last_cell: 0,
                            local,
                            linear,
                            best,
                            prune,
                            persistent,
                            shuffle,
                        };
                        while variant.workgroup_bytes() > MIN_WORKGROUP_BYTES && variant.cells > 4 {
                            variant.cells -= 4;
                        }
                        variant.last_cell = last % variant.cells;
                        if variant.workgroup_bytes() <= MIN_WORKGROUP_BYTES {
                            all.push(variant);
                        }
                    }
                }
            }
        }
    }
    all
}

/// Returns constants of the kernels for reads and ancestral states. Reads of bases have no amino
/// acids, and chunks are short if the device limits loops.
fn blocks() -> Vec<block::BlockVariant> {
    let mut all = Vec::new();
    for numbers in [ScoreType::I32, ScoreType::F16] {
        for (is_plain, is_protein) in [(true, false), (false, false), (false, true)] {
            for workgroup in [16, 32, 64] {
                for chunk in [32, block::CHUNK] {
                    for columns in block::columns(numbers) {
                        all.push(block::BlockVariant { numbers, workgroup, columns, chunk, is_plain, is_protein });
                    }
                }
            }
        }
    }
    all
}

/// Returns constants of the kernels for ClustalW's pairwise stage: the values of devices, and
/// others.
fn passes() -> Vec<clustal::ClustalVariant> {
    let mut all = Vec::new();
    for pass in ClustalPass::ALL {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            for workgroup in [4, 16, 32, 64] {
                let usual = clustal::ClustalVariant::new(pass, alphabet, workgroup);
                all.extend([usual, clustal::ClustalVariant { size: 4, ..usual }]);
            }
        }
    }
    all
}

/// Returns constants of the kernels for probabilities of pairs.
fn sums() -> Vec<PosteriorVariant> {
    let mut all = Vec::new();
    for sweep in [PosteriorPass::Forward, PosteriorPass::Backward] {
        for alphabet in [Alphabet::Dna, Alphabet::Protein] {
            for (workgroup, lanes) in [(16, 4), (32, 4), (32, 32), (4, 1)] {
                all.push(PosteriorVariant::new(sweep, alphabet, workgroup, lanes));
            }
        }
    }
    all
}

/// Returns constants of the kernels for profiles: the values of devices, and others.
fn merges() -> Vec<profile::ProfileVariant> {
    let tile = |(workgroup, columns, letters)| profile::ProfileVariant::Tile { workgroup, columns, letters };
    let tiles = [(32, 128, profile::MAX_LETTERS), (32, 128, 4), (2, 4, 24), (8, 20, 12)].map(tile);
    tiles.into_iter().chain([4, 16, 64].map(|workgroup| profile::ProfileVariant::Cross { workgroup })).collect()
}

/// Returns the shader of a program.
fn text(variant: &(impl KernelProgram + Debug), workgroup: u32, workgroup_bytes: u32) -> Text {
    let source = variant.source().expect("all imports exist");
    Text { name: format!("{variant:?}"), source, workgroup, workgroup_bytes }
}

/// Returns all shaders, including the traceback after each kernel that can store directions.
fn texts() -> Vec<Text> {
    let of_traceback = |variant: &matrix::MatrixVariant| {
        let traceback = text(&MatrixTraceback(*variant), TRACEBACK_WORKGROUP, 0);
        Text { name: format!("traceback after {variant:?}"), ..traceback }
    };
    let matrices = matrices();
    let mut all: Vec<Text> =
        slices().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())).collect();
    all.extend(half_slices().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(matrices.iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    // The traceback does not depend on the workgroup size, so that many texts are equal.
    let mut seen = std::collections::HashSet::new();
    all.extend(matrices.iter().map(of_traceback).filter(|text| seen.insert(text.source.clone())));
    all.extend(tiles().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(distances().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(strips().iter().map(|variant| text(variant, variant.lanes, variant.workgroup_bytes())));
    all.extend(tracebacks().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(blocks().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(passes().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(sums().iter().map(|variant| text(variant, variant.workgroup, variant.workgroup_bytes())));
    all.extend(merges().iter().map(|variant| text(variant, variant.workgroup(), variant.workgroup_bytes())));
    all
}

/// Returns all shaders with different texts. The names of sizes differ more than the texts.
pub(crate) fn distinct_texts() -> Vec<Text> {
    let mut texts = texts();
    let mut seen = std::collections::HashSet::new();
    texts.retain(|text| seen.insert((text.source.clone(), text.workgroup)));
    texts
}

/// Returns whether a shader requests half floats.
fn has_halves(source: &str) -> bool {
    source.starts_with("enable f16;")
}

/// Returns whether a shader uses subgroup operations.
fn has_subgroups(source: &str) -> bool {
    source.contains("subgroupShuffle")
}

/// Parses and validates a shader. Returns the input of the back ends.
fn validated(source: &str) -> Result<(naga::Module, naga::valid::ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    // Like a device, allows extensions only in shaders that request them.
    let mut capabilities = Capabilities::empty();
    capabilities.set(Capabilities::SUBGROUP, has_subgroups(source));
    capabilities.set(Capabilities::SHADER_FLOAT16, has_halves(source));
    // Packing pairs of half floats in words is supported everywhere except in old OpenGL.
    capabilities.set(Capabilities::SHADER_FLOAT16_IN_FLOAT32, source.contains("pack2x16float"));
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
        .subgroup_operations(naga::valid::SubgroupOperationSet::all())
        .validate(&module)
        .map_err(|error| format!("{error:?}"))?;
    Ok((module, info))
}

/// Sets the workgroup size if the shader leaves it open, like the creation of a pipeline does.
fn with_workgroup<'a>(
    module: &'a naga::Module,
    info: &'a naga::valid::ModuleInfo,
    workgroup: u32,
) -> (std::borrow::Cow<'a, naga::Module>, std::borrow::Cow<'a, naga::valid::ModuleInfo>) {
    let names = module.overrides.iter().filter_map(|(_, constant)| constant.name.clone());
    let constants = names.filter(|name| name == "WG").map(|name| (name, workgroup as f64)).collect();
    naga::back::pipeline_constants::process_overrides(module, info, None, &constants).expect("WG is the only override")
}

/// Translates a shader for every graphics interface.
fn translate(text: &Text) -> Result<(), String> {
    let Text { source, workgroup, .. } = text;
    let (module, info) = validated(source)?;
    let (module, info) = with_workgroup(&module, &info, *workgroup);
    spirv::check(&spirv::words(&module, &info)?)?;

    let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
    let (text, _) = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
        .map_err(|error| format!("MSL: {error}"))?;
    assert!(text.contains("kernel void"), "{text}");

    let mut text = String::new();
    // Half floats need shader model 6.2.
    let shader_model = if has_halves(source) { hlsl::ShaderModel::V6_2 } else { hlsl::ShaderModel::V6_0 };
    let options = hlsl::Options { shader_model, fake_missing_bindings: true, ..Default::default() };
    hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default())
        .write(&module, &info, None)
        .map_err(|error| format!("HLSL: {error}"))?;
    assert!(text.contains(&format!("numthreads({workgroup}, 1, 1)")), "{text}");
    Ok(())
}

#[test]
fn every_variant_translates_for_every_graphics_interface() {
    let texts = distinct_texts();
    let wrong = texts.par_iter().filter_map(|text| Some(format!("{}: {}", text.name, translate(text).err()?)));
    let wrong: Vec<String> = wrong.collect();
    let first = wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} shaders fail. The first ones:\n{first}", wrong.len(), texts.len());
}

#[test]
fn every_kernel_has_a_shader_an_oracle_and_a_contract() {
    let root = support::ROOT;
    for Kernel { stem, shader: text, recurrence, .. } in KERNELS {
        let shader = std::fs::read_to_string(format!("{root}/shaders/{stem}.wgsl")).expect(stem);
        assert_eq!(shader, *text);
        assert!(shader.starts_with(&format!("// {stem}:")));
        for line in
            ["// Recurrence:", "// Owns:", "// Layout:", "// Invariant:", "// Uniform:", "// Limits:", "// Oracle:"]
        {
            assert!(shader.contains(line), "{stem} lacks the line {line}");
        }
        let oracle = match *recurrence {
            "levenshtein" => "src/edit/oracle.rs".to_owned(),
            "long" => "src/long/oracle.rs".to_owned(),
            "phylo" => "src/papara/oracle.rs".to_owned(),
            "clustal" => "src/clustal/oracle.rs".to_owned(),
            "posterior" => "src/posterior/oracle.rs".to_owned(),
            "profile" => "src/profile/oracle.rs".to_owned(),
            _ => format!("src/pairs/oracle/{recurrence}.rs"),
        };
        assert!(shader.contains(&format!("// Oracle:     {oracle}\n")), "{stem}");
        assert!(std::path::Path::new(root).join(oracle).exists());
    }
}

/// Tests compare a kernel with the oracle of the module that uses it.
#[test]
fn every_shader_names_the_oracle_of_its_module() {
    let root = support::ROOT;
    for kernel in KERNELS {
        let module = match kernel.family() {
            Family::Pairs | Family::Local => "pairs",
            Family::Edit => "edit",
            Family::Long => "long",
            Family::Phylo => "papara",
            Family::Clustal => "clustal",
            Family::Posterior => "posterior",
            Family::Profile => "profile",
        };
        let named = kernel.shader.lines().filter_map(|line| line.strip_prefix("// Oracle:")).map(str::trim);
        let named: Vec<&str> = named.collect();
        assert_eq!(named.len(), 1, "{} names {named:?}", kernel.stem);
        assert!(named[0].starts_with(&format!("src/{module}/oracle")), "{} names {}", kernel.stem, named[0]);
    }
    for (name, part) in source::parts() {
        for path in part.lines().filter_map(|line| line.strip_prefix("// Oracle:")).map(str::trim) {
            assert!(std::path::Path::new(root).join(path).exists(), "{name} names {path}");
        }
    }
}

/// Every file in shaders/ is a kernel or a part of some text, and starts with a description.
#[test]
fn every_shader_file_is_used() {
    let root = format!("{}/shaders", support::ROOT);
    let names = |folder: &str| -> Vec<String> {
        let entries = std::fs::read_dir(format!("{root}/{folder}")).expect("the folder is there");
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
    };
    let mut files: Vec<String> = names("").into_iter().filter(|name| name.ends_with(".wgsl")).collect();
    let mut expected: Vec<String> = KERNELS.iter().map(|kernel| format!("{}.wgsl", kernel.stem)).collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected);
    let texts = texts();
    let mut files = names("common");
    files.sort();
    assert_eq!(files, source::parts().map(|(name, _)| format!("{name}.wgsl")).collect::<Vec<_>>());
    for (name, part) in source::parts() {
        assert!(part.starts_with("// "), "{name} does not start with a description");
        assert!(texts.iter().any(|text| text.source.contains(&part)), "{name} is in no shader");
    }
}

#[test]
fn workgroup_memory_matches_the_variants() {
    for Text { name, source, workgroup, workgroup_bytes } in texts() {
        let (module, info) = validated(&source).unwrap();
        let (module, _) = with_workgroup(&module, &info, workgroup);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        let bytes: u32 = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
            .map(|(_, variable)| layouter[variable.ty].size)
            .sum();
        assert!(bytes <= workgroup_bytes, "{name}: {bytes} bytes");
        // Tiles and profiles are as large as a device allows, and the smallest one fits every
        // device.
        let is_fitted = source.contains("fn run_tasks") || source.contains("const BLOCK_GROUPS");
        assert!(is_fitted || workgroup_bytes <= MIN_WORKGROUP_BYTES, "{name}: more than every device has");
    }
    let least = tiles().into_iter().find(|variant| (variant.columns, variant.codes) == (28, 28)).expect("there is one");
    assert!(least.workgroup_bytes() <= MIN_WORKGROUP_BYTES, "{least:?}");
    for least in matrices().into_iter().filter(|variant| (variant.scan, variant.columns) == (Scan::Checkpoint, 4)) {
        assert!(least.workgroup_bytes() <= MIN_WORKGROUP_BYTES, "{least:?}");
    }
}

#[test]
fn harness_detects_a_wrong_shader() {
    let wrong =
        slices()[0].source().expect("all imports exist").replace("let slot = workgroup.x;", "let slot = workgroup;");
    assert!(validated(&wrong).is_err());
}

/// The harness also detects half floats without a directive.
#[test]
fn harness_detects_undeclared_half_floats() {
    let halves = blocks().into_iter().find(|variant| variant.numbers == ScoreType::F16).expect("there is one");
    let right = halves.source().expect("all imports exist");
    validated(&right).expect("they are asked for");
    assert!(validated(right.strip_prefix("enable f16;").expect("it is the first line")).is_err());
}

/// The validator accepts subgroup operations only in shaders that request them.
#[test]
fn harness_detects_undeclared_subgroup_operations() {
    let variant = matrices().into_iter().find(|variant| variant.scan == Scan::Diagonal).expect("there is one");
    let wrong = variant.source().expect("all imports exist").replace("workgroupBarrier();", "subgroupBarrier();");
    assert!(validated(&wrong).is_err());
}
