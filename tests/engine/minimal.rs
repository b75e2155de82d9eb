//! Devices with WebGPU's default limits and without optional features, which are the least that an
//! implementation of WebGPU offers. Every kernel that needs no feature is correct there, and every
//! job gives the rows of the CPU.

use pairwave::engine::Engine;
use pairwave::gpu::adapter::{Device, FoundAdapter};
use pairwave::gpu::device::Gpu;
use pairwave::gpu::kernels::{KERNELS, KernelKind};
use pairwave::pairs::ResultFilter;
use pairwave::pairs::gpu::{Config, PairsGpu};
use pairwave::score::Scoring;
use pairwave::seq::Alphabet;
use pairwave::{Error, measure};
use support::poison::poisoned;
use support::*;

use super::every_job::{every_job, run_with};

/// Returns an adapter with minimal limits. Its kernels have the sizes for graphics cards, which use
/// more invocations and memory than those for software adapters.
fn minimal(label: &str) -> FoundAdapter {
    let mut adapter = adapter_called(label).with_minimal_limits();
    adapter.description.kind = "discrete";
    adapter
}

#[test]
fn minimal_devices_have_default_limits_and_no_features() {
    let adapter = minimal("minimal");
    let device = Gpu::open(&adapter).expect("the adapter opens").device;
    let limits = device.limits();
    let storage = (limits.max_compute_workgroup_storage_size, limits.max_compute_invocations_per_workgroup);
    let buffers = (limits.max_storage_buffers_per_shader_stage, limits.max_storage_buffer_binding_size);
    assert_eq!((storage, buffers, limits.max_buffer_size), ((16 << 10, 256), (8, 128 << 20), 256 << 20));
    assert_eq!((device.features(), adapter.description.features.len()), (wgpu::Features::empty(), 0));
    let described = (adapter.description.workgroup_memory_bytes, adapter.description.max_workgroup_invocations);
    assert_eq!(described, storage);
}

/// The workgroup memory of the kernels contains values that no kernel wrote.
#[test]
fn every_kernel_without_features_passes_its_self_test_on_a_minimal_device() {
    let adapter = FoundAdapter { rewrite: Some(poisoned), ..minimal("minimal") };
    let device = Device::Adapter(Box::new(adapter));
    let reports = measure::devices::report(&[device], true, false).expect("the adapter opens");
    let tests = &reports[0].self_test;
    for test in tests {
        assert!(test.failure.is_none() && test.pairs > 0, "{test:?}");
    }
    // `nw_traceback` is tested together with the kernels whose directions it follows.
    for kernel in KERNELS.iter().filter(|kernel| kernel.kind != KernelKind::PairTraceback) {
        let is_tested = tests.iter().any(|test| test.kernel == kernel.stem);
        assert_eq!(is_tested, kernel.features.is_empty(), "{}", kernel.stem);
    }
}

#[test]
fn every_job_computes_the_rows_of_the_cpu_on_a_minimal_device() {
    warnings::record("warn");
    let device = Device::Adapter(Box::new(minimal("the minimal device")));
    for (name, job) in every_job() {
        let expected = job(&run_with(Device::Cpu));
        let actual = job(&run_with(device.clone()));
        assert_eq!(actual.0, expected.0, "{name}");
        // Jobs of one long pair do not list their engines.
        let is_used = actual.1.iter().any(|engine| engine.starts_with("the minimal device"));
        assert!(is_used || actual.1.is_empty(), "{name} was computed by {:?}", actual.1);
    }
    let lines = warnings::lines_with("the minimal device");
    assert!(lines.is_empty(), "{lines:?}");
}

/// A kernel with too much workgroup memory is refused, and not passed to the driver.
#[test]
fn kernels_beyond_the_workgroup_memory_are_refused() {
    let mut adapter = minimal("small");
    adapter.description.workgroup_memory_bytes = 64;
    let kernel = KERNELS.iter().find(|kernel| kernel.stem == "nw_diagonal");
    let mut engine = PairsGpu::open(&adapter, Config::default()).expect("the adapter opens").with_kernel(kernel);
    let store = mixed_store(&mut rng(4), Alphabet::Dna, &[20, 30]);
    let batch = batches(&job(&store, Scoring::truong(), ResultFilter::Alignments), u64::MAX).remove(0);
    let error = engine.submit(batch).expect_err("it needs more");
    assert!(matches!(error, Error::Unsuited { .. }), "{error}");
    assert!(error.to_string().ends_with(" bytes of workgroup memory, and it has 64"), "{error}");
}
