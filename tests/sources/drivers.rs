//! The tables of drivers and compilers in docs/devices.md agree with the kernels and the tests.

use pairwave::gpu::kernels::KERNELS;

use super::shaders::distinct_texts;

fn page() -> String {
    std::fs::read_to_string(format!("{}/docs/devices.md", support::ROOT)).expect("it is there")
}

/// Returns the result of a kernel on a driver with these features.
fn result(needed: wgpu::Features, there: wgpu::Features) -> &'static str {
    let missing = needed - there;
    if missing.contains(wgpu::Features::SUBGROUP) {
        "needs subgroups"
    } else if missing.contains(wgpu::Features::SHADER_F16) {
        "needs half floats"
    } else {
        assert!(missing.is_empty(), "{missing:?}");
        "passed"
    }
}

/// Tests run the self-test on each of these drivers and fail if a kernel with the necessary features
/// is missing or fails.
#[test]
fn the_page_lists_the_result_of_every_kernel() {
    let (subgroups, halves) = (wgpu::Features::SUBGROUP, wgpu::Features::SHADER_F16);
    let mut expected = String::new();
    for kernel in KERNELS {
        let [llvmpipe, swiftshader, minimal] =
            [subgroups | halves, subgroups, wgpu::Features::empty()].map(|there| result(kernel.features, there));
        expected += &format!("| `{}` | {llvmpipe} | {swiftshader} | {minimal} |\n", kernel.stem);
    }
    assert!(page().contains(&expected), "docs/devices.md needs these rows:\n{expected}");
}

#[test]
fn the_page_has_the_number_of_shader_texts() {
    let count = distinct_texts().len();
    let count = format!("{},{:03}", count / 1000, count % 1000);
    let (page, row) = (page(), format!(" | {count} of {count} |\n"));
    assert_eq!(page.matches(&row).count(), 5, "docs/devices.md needs five compilers that end with '{row}'");
}
