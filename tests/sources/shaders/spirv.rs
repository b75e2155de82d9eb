//! The SPIR-V that naga makes of a shader is checked by the rules of Vulkan 1.1, by spirv-val of the
//! Khronos Group.

use std::io::Write;
use std::process::{Command, Stdio};

use naga::back::spv;

/// Returns the SPIR-V of a shader, as devices without runtime checks get it.
pub(super) fn words(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Result<Vec<u32>, String> {
    // Subgroup operations need Vulkan 1.1.
    let options = spv::Options {
        lang_version: (1, 3),
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    spv::write_vec(module, info, &options, None).map_err(|error| format!("SPIR-V: {error}"))
}

/// Runs spirv-val.
///
/// # Errors
/// Returns its messages if it rejects the module.
pub(super) fn check(words: &[u32]) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut validator = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val starts (Debian's package spirv-tools)");
    // The validator reads everything before it writes.
    validator.stdin.take().expect("it is piped").write_all(&bytes).expect("the validator reads the module");
    let run = validator.wait_with_output().expect("the validator ends");
    if run.status.success() { Ok(()) } else { Err(format!("spirv-val: {}", String::from_utf8_lossy(&run.stderr))) }
}

/// Integers cannot be added as floats.
#[test]
fn the_validator_detects_wrong_types() {
    let text = &super::texts()[0];
    let (module, info) = super::validated(&text.source).expect("naga accepts it");
    let (module, info) = super::with_workgroup(&module, &info, text.workgroup);
    let mut words = words(&module, &info).expect("naga translates it");
    check(&words).expect("it is valid");
    const ADD_INTEGERS: u32 = 128;
    const ADD_FLOATS: u32 = 129;
    // An instruction begins with its number of words and its code. Five words precede the first one.
    let mut at = 5;
    while words[at] & 0xffff != ADD_INTEGERS {
        at += (words[at] >> 16) as usize;
    }
    words[at] += ADD_FLOATS - ADD_INTEGERS;
    let error = check(&words).expect_err("it is invalid");
    assert!(error.contains("FAdd"), "{error}");
}
