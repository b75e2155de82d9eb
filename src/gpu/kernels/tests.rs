use super::*;
use crate::gpu::source;
use crate::{clustal, edit, long, pairs, papara, posterior, profile};

fn samples(kind: KernelKind) -> Vec<Box<dyn KernelProgram>> {
    let modules = [
        pairs::kernels::samples,
        edit::kernels::samples,
        long::kernels::samples,
        papara::kernels::samples,
        clustal::kernels::samples,
        posterior::kernels::samples,
        profile::kernels::samples,
    ];
    modules.into_iter().flat_map(|samples| samples(kind)).collect()
}

#[test]
fn samples_belong_to_their_kernels_and_cover_every_common_part() {
    let mut texts = Vec::new();
    for kernel in KERNELS {
        let programs = samples(kernel.kind);
        assert!(!programs.is_empty(), "{} has no sample", kernel.stem);
        for program in programs {
            assert!(std::ptr::eq(program.kernel(), kernel), "{}", kernel.stem);
            texts.push(program.source().expect("all imports exist"));
        }
    }
    for (name, part) in source::parts() {
        assert!(texts.iter().any(|text| text.contains(&part)), "{name} is in no sample");
    }
}

#[test]
fn fingerprints_of_kernels_differ() {
    let all: Vec<u64> = KERNELS.iter().map(|kernel| fingerprint(samples(kernel.kind))).collect();
    let distinct: std::collections::HashSet<&u64> = all.iter().collect();
    assert_eq!(distinct.len(), KERNELS.len());
    assert_eq!(all[0], fingerprint(samples(KERNELS[0].kind)));
}
