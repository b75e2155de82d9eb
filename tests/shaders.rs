//! Every shader, in every variant that is used, parses, validates, and translates to SPIR-V, MSL and HLSL.

use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use pairwave::engine::gpu::Config;
use pairwave::engine::gpu::tune::{SLICES, WORKGROUPS};
use pairwave::kernels::{KERNELS, nw_slice::Variant};

/// Every set of constants that the host can ask for.
fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    let defaults = [(Config::default().slice, Config::default().workgroup), (12, 16)];
    let tuned = SLICES.iter().flat_map(|&slice| WORKGROUPS.iter().map(move |&workgroup| (slice, workgroup)));
    for (slice, workgroup) in tuned.chain(defaults) {
        for codes in [16, 28] {
            for (affine, free_ends) in [(false, false), (false, true), (true, false), (true, true)] {
                all.push(Variant { slice, workgroup, codes, affine, free_ends });
            }
        }
    }
    all
}

/// Parses and validates; returns what the back ends need.
fn validated(source: &str) -> Result<(naga::Module, naga::valid::ModuleInfo), String> {
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .map_err(|error| format!("{error:?}"))?;
    Ok((module, info))
}

/// Fixes the workgroup size, as pipeline creation does.
fn with_workgroup<'a>(
    module: &'a naga::Module,
    info: &'a naga::valid::ModuleInfo,
    workgroup: u32,
) -> (std::borrow::Cow<'a, naga::Module>, std::borrow::Cow<'a, naga::valid::ModuleInfo>) {
    let constants = [("WG".to_string(), workgroup as f64)].into_iter().collect();
    naga::back::pipeline_constants::process_overrides(module, info, None, &constants).expect("WG is the only override")
}

#[test]
fn every_variant_translates_for_every_interface() {
    for variant in variants() {
        let (module, info) = validated(&variant.source()).unwrap_or_else(|error| panic!("{variant:?}\n{error}"));
        let (module, info) = with_workgroup(&module, &info, variant.workgroup);

        let words = spv::write_vec(&module, &info, &spv::Options::default(), None)
            .unwrap_or_else(|error| panic!("{variant:?}: SPIR-V: {error}"));
        assert_eq!(words[0], 0x0723_0203, "SPIR-V begins with its magic number");

        let options = msl::Options { lang_version: (2, 4), fake_missing_bindings: true, ..Default::default() };
        let (text, _) = msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{variant:?}: MSL: {error}"));
        assert!(text.contains("kernel void"), "{text}");

        let mut text = String::new();
        let options =
            hlsl::Options { shader_model: hlsl::ShaderModel::V6_0, fake_missing_bindings: true, ..Default::default() };
        hlsl::Writer::new(&mut text, &options, &hlsl::PipelineOptions::default())
            .write(&module, &info, None)
            .unwrap_or_else(|error| panic!("{variant:?}: HLSL: {error}"));
        assert!(text.contains(&format!("numthreads({}, 1, 1)", variant.workgroup)), "{variant:?}");
    }
}

#[test]
fn every_kernel_of_the_table_has_its_shader_oracle_and_contract() {
    for kernel in KERNELS {
        let root = env!("CARGO_MANIFEST_DIR");
        let shader = std::fs::read_to_string(format!("{root}/shaders/{}.wgsl", kernel.stem)).expect(kernel.stem);
        assert_eq!(shader, kernel.shader);
        assert!(shader.starts_with(&format!("// {}:", kernel.stem)));
        for line in
            ["// Recurrence:", "// Owns:", "// Layout:", "// Invariant:", "// Uniform:", "// Limits:", "// Oracle:"]
        {
            assert!(shader.contains(line), "{} lacks the line {line}", kernel.stem);
        }
        let oracle = format!("src/reference/{}.rs", kernel.recurrence);
        assert!(shader.contains(&oracle));
        assert!(std::path::Path::new(root).join(oracle).exists());
    }
}

#[test]
fn workgroup_memory_is_what_the_variant_says() {
    for variant in variants() {
        let (module, info) = validated(&variant.source()).unwrap();
        let (module, _) = with_workgroup(&module, &info, variant.workgroup);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        let bytes: u32 = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == naga::AddressSpace::WorkGroup)
            .map(|(_, variable)| layouter[variable.ty].size)
            .sum();
        assert!(bytes <= variant.workgroup_bytes(), "{variant:?}: {bytes} bytes");
        assert!(variant.workgroup_bytes() <= 16 << 10, "{variant:?}: more than every device has");
    }
}

#[test]
fn the_harness_sees_a_wrong_shader() {
    let variant = variants()[0];
    let wrong = variant.source().replace("let slot = workgroup.x;", "let slot = workgroup;");
    assert!(validated(&wrong).is_err());
}
