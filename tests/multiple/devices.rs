//! Tests that the device does not change the alignment of a large set.

use std::sync::Arc;

use pairwave::gpu::adapter::{Device, enumerate};
use pairwave::jobs::msa::{MsaResult, MultiAlign};
use pairwave::jobs::{Job, Run};
use pairwave::seq::{Alphabet, SequenceStore};
use support::rng;

/// Aligns a set on a device, within a limit of the memory.
fn align(sequences: &Arc<SequenceStore>, device: Device, host_memory: Option<u64>) -> MsaResult {
    let run = Run { devices: vec![device], threads: 2, ..Run::default() };
    let mut result = None;
    let job = MultiAlign { host_memory, ..MultiAlign::new(Arc::clone(sequences)) };
    job.run(&run, |rows: &[MsaResult]| {
        result = rows.first().cloned();
        Ok(())
    })
    .expect("the job ends well");
    result.expect("one result")
}

#[test]
fn alignments_of_large_sets_do_not_depend_on_devices_and_memory() {
    let Some(adapter) = enumerate().into_iter().next() else {
        panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
    };
    let mut rng = rng(0xDE71CE);
    let ancestor: Vec<u8> = (0..40).map(|_| 1 << rng.below(4usize)).collect();
    let mut builder = SequenceStore::builder(Alphabet::Dna);
    for number in 0..230 {
        let mut codes = ancestor.clone();
        for _ in 0..12 {
            let at = rng.below(codes.len());
            codes[at] = 1 << rng.below(4usize);
        }
        codes.truncate(40 - number % 7);
        builder.push(format!("{number}"), &codes).expect("valid codes");
    }
    let sequences = Arc::new(builder.build());
    let expected = align(&sequences, Device::Cpu, None);
    for memory in [None, Some(16 << 20)] {
        let on_device = align(&sequences, Device::Adapter(Box::new(adapter.clone())), memory);
        assert_eq!(on_device.alignment, expected.alignment, "{memory:?}");
        assert_eq!(align(&sequences, Device::Cpu, memory).alignment, expected.alignment, "{memory:?}");
    }
}
