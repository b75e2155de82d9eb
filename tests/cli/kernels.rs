//! Every kernel by its name: the same bytes as the CPU.

use pairwave::gpu::kernels::{Family, selectable};

use super::*;

/// Checks that `allpairs` writes equal output on the CPU and on the first adapter with each kernel.
fn with_every_kernel(arguments: &[&str]) {
    with_every_kernel_of(Family::Pairs, arguments);
}

fn with_every_kernel_of(family: Family, arguments: &[&str]) {
    let expected = allpairs_each(&[("cpu", "2")], arguments);
    assert!(expected.lines().count() > 5, "{expected}");
    for kernel in selectable(family) {
        let actual = allpairs_each(&[("0", "2")], &[arguments, &["--kernel", kernel.stem]].concat());
        assert!(actual == expected, "{} writes something else: {arguments:?}", kernel.stem);
    }
}

const SCHEMES: [&[&str]; 4] = [
    &[],
    &["--gap-open", "10", "--gap-extend", "1"],
    &["--end-gaps", "free"],
    &["--end-gaps", "free", "--gap-open", "10", "--gap-extend", "1"],
];

#[test]
fn every_kernel_gives_the_same_genes() {
    let folder = folder();
    let genes = std::fs::read_to_string(GENES).expect("it is there");
    let five: String = genes.split_inclusive("\n>").take(5).collect();
    let five = file(&folder, "genes.fa", five.trim_end_matches('>'));
    for scheme in SCHEMES {
        with_every_kernel(&[&[five.as_str(), "--check", "--format", "paf"], scheme].concat());
    }
}

/// Pairs of two files, with the identity compared on the device.
#[test]
fn every_kernel_filters_the_same_pairs_of_two_files() {
    let folder = folder();
    let lengths: Vec<usize> = (0..30).map(|index| 20 + index * 7 % 90).collect();
    let first = file(&folder, "first.fa", random_fasta(0xf1257, Alphabet::Dna, &lengths));
    let second = file(&folder, "second.fa", random_fasta(0x5ec07d, Alphabet::Dna, &lengths[..17]));
    for scheme in SCHEMES {
        with_every_kernel(&[&[first.as_str(), "--min-identity", "0.6", "--check", "--format", "paf"], scheme].concat());
        with_every_kernel(&[&[first.as_str(), "--against", &second, "--check", "--format", "paf"], scheme].concat());
    }
}

/// Local alignments of two files and of one, also with scores that exceed f16, and scores alone.
#[test]
fn every_kernel_gives_the_same_local_alignments() {
    let folder = folder();
    let lengths: Vec<usize> = (0..12).map(|index| 20 + index * 29 % 170).collect();
    let first = file(&folder, "first.fa", random_fasta(0x10ca1, Alphabet::Dna, &lengths));
    let second = file(&folder, "second.fa", random_fasta(0x10ca1, Alphabet::Dna, &lengths[3..]));
    let local = ["--mode", "local", "--check"];
    for scheme in [&["--match", "25"][..], &["--gap-open", "5", "--gap-extend", "2"]] {
        let arguments = [&[first.as_str(), "--format", "paf"], &local[..], scheme].concat();
        with_every_kernel_of(Family::Local, &arguments);
        let against = ["--against", &second, "--min-score", "60"];
        with_every_kernel_of(Family::Local, &[&arguments[..], &against].concat());
        with_every_kernel_of(Family::Local, &[&[first.as_str(), "--mode", "local", "--score-only"], scheme].concat());
    }
}

/// Returns the output of a command on a device. Software Vulkan has subgroups of sixteen lanes then,
/// instead of eight. Hardware adapters ignore the variable.
fn output_of_wide_subgroups(device: &str, arguments: &[&str]) -> String {
    let mut command = pairwave(&[arguments, &["--device", device]].concat());
    let run = command.env("LP_NATIVE_VECTOR_WIDTH", "512").assert().success().stderr("");
    String::from_utf8(run.get_output().stdout.clone()).expect("it is text")
}

/// Kernels with subgroup operations compute the same with wide subgroups.
#[test]
fn wide_subgroups_change_no_byte() {
    needs_adapter();
    let devices: serde_json::Value =
        serde_json::from_str(&output_of_wide_subgroups("0", &["devices", "--json"])).expect("it is JSON");
    if support::adapter().is_software() {
        assert_eq!(devices[0]["subgroup_sizes"][0].as_u64(), Some(16));
    }
    let folder = folder();
    let lengths: Vec<usize> = (0..12).map(|index| 20 + index * 29 % 170).collect();
    let first = file(&folder, "first.fa", random_fasta(0x5b9, Alphabet::Dna, &lengths));
    let second = file(&folder, "second.fa", random_fasta(0x5b9, Alphabet::Dna, &lengths[2..]));
    let scored = ["allpairs", &first, "--against", &second, "--check", "--format", "paf"];
    let jobs = [
        (Family::Pairs, [&scored[..], SCHEMES[0]].concat()),
        (Family::Pairs, [&scored[..], SCHEMES[3]].concat()),
        (Family::Local, [&scored[..], &["--mode", "local"]].concat()),
        (Family::Edit, vec!["edit", &first, &second, "--mode", "infix"]),
    ];
    let mut tested = 0;
    for (family, job) in jobs {
        let expected = output_of_wide_subgroups("cpu", &[&job[..], &["--quiet"]].concat());
        assert!(expected.lines().count() > 5, "{expected}");
        for kernel in selectable(family).filter(|kernel| kernel.features.contains(wgpu::Features::SUBGROUP)) {
            let actual = output_of_wide_subgroups("0", &[&job[..], &["--quiet", "--kernel", kernel.stem]].concat());
            assert!(actual == expected, "{} writes something else", kernel.stem);
            tested += 1;
        }
    }
    assert!(tested >= 9, "{tested} kernels and schemes");
}
