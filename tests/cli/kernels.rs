//! Every kernel by its name: the same bytes as the CPU.

use pairwave::gpu::kernels::{Family, offered};

use super::*;

/// What `allpairs` writes, whoever computes: the CPU, and the first adapter with each kernel.
fn with_every_kernel(arguments: &[&str]) {
    let expected = allpairs_each(&[("cpu", "2")], arguments);
    assert!(expected.lines().count() > 5, "{expected}");
    for kernel in offered(Family::Pairs) {
        let found = allpairs_each(&[("0", "2")], &[arguments, &["--kernel", kernel.stem]].concat());
        assert!(found == expected, "{} writes something else: {arguments:?}", kernel.stem);
    }
}

const SCHEMES: [&[&str]; 4] = [
    &[],
    &["--gap-open", "10", "--gap-extend", "1"],
    &["--end-gaps", "free"],
    &["--end-gaps", "free", "--gap-open", "10", "--gap-extend", "1"],
];

#[test]
fn genes_by_every_kernel() {
    for scheme in SCHEMES {
        with_every_kernel(&[&[GENES, "--check", "--format", "paf"], scheme].concat());
    }
}

/// With the identity compared on the device, and pairs of two files.
#[test]
fn filtered_pairs_of_two_files_by_every_kernel() {
    let folder = folder();
    let lengths: Vec<usize> = (0..30).map(|index| 20 + index * 7 % 90).collect();
    let first = file(&folder, "first.fa", random_fasta(0xf1257, Alphabet::Dna, &lengths));
    let second = file(&folder, "second.fa", random_fasta(0x5ec07d, Alphabet::Dna, &lengths[..17]));
    for scheme in SCHEMES {
        with_every_kernel(&[&[first.as_str(), "--min-identity", "0.6", "--check", "--format", "paf"], scheme].concat());
        with_every_kernel(&[&[first.as_str(), "--against", &second, "--check", "--format", "paf"], scheme].concat());
    }
}
