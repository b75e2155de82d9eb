//! Names with any bytes, written in every format and read back by the program's own readers. The
//! rows and leaves must be the same.

use std::collections::HashSet;

use super::*;
use crate::seq::NameRules;
use crate::tree::newick::{self, NameStyle};
use crate::tree::{GuideTree, neighbour_joining};

const FORMATS: [MsaFormat; 9] = [
    MsaFormat::Clustal,
    MsaFormat::Fasta,
    phylip(true, false),
    phylip(false, false),
    phylip(true, true),
    phylip(false, true),
    MsaFormat::Stockholm,
    MsaFormat::Msf,
    MsaFormat::Nexus,
];

/// Returns sets of names that are similar in some respect.
fn sets() -> Vec<Vec<Vec<u8>>> {
    let ascii = || 0..=127u8;
    let mut sets: Vec<Vec<Vec<u8>>> = vec![
        ascii().map(|byte| vec![b'a', byte, b'z']).collect(),
        ascii().map(|byte| vec![byte, b'a', b'z']).collect(),
        ascii().map(|byte| vec![b'a', b'z', byte]).collect(),
        ascii().map(|byte| vec![byte]).collect(),
        ascii().map(|byte| vec![byte, byte]).collect(),
        (128..=255).map(|byte| vec![b'a', byte, b'z']).collect(),
        (128..=255).map(|byte| vec![byte]).collect(),
    ];
    let of = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
    sets.push(of(&[
        "ä",
        "日本語",
        "é(",
        "a\u{a0}b",
        "x\u{2028}y",
        "\u{85}",
        "\u{feff}q",
        "🧬🧬🧬🧬🧬🧬🧬🧬🧬🧬🧬🧬",
        "a_b",
    ]));
    sets.push(of(&["a", "a", "a_2", "b", "a", "A", "a_b", "a:b", "a(b", "a b", "", "", "sequence_12"]));
    sets.push(of(&[
        "NC_1:1-9(+)",
        "c(d)",
        "g,h",
        "'e;f'",
        "[k]",
        "{1}",
        "sp|P1|X",
        "x-y",
        "\"q\"",
        "''",
        "5'-UTR",
        "\\'",
    ]));
    sets.push(of(&[
        "//", "#", "#=GC", ";", "matrix", "end;", "Name:", "CLUSTAL", "123", "4 7", ">", "*", "-", "?", "ACGT",
    ]));
    let long = |end: &str| format!("{}{end}", "n".repeat(29));
    sets.push(of(&[&long("a"), &long("ab"), &long("ac"), "abcdefghijk", "abcdefghijl", "abcdefghij", "abcdefgh_2"]));
    let seed = 7;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..100 {
        let name = |random: &mut fastrand::Rng| (0..random.usize(0..14)).map(|_| random.u8(..)).collect();
        sets.push((0..random.usize(3..20)).map(|_| name(&mut random)).collect());
    }
    sets
}

/// Calls a function with rows of different letters, each with nine columns.
fn with_names<T>(names: &[&[u8]], run: impl FnOnce(&MsaRows<'_>) -> T) -> T {
    let places = (0..names.len()).map(|row| (0..9).filter(|index| row >> index & 1 == 0 || *index == 8).collect());
    let places: Vec<Vec<u32>> = places.collect();
    let letters: Vec<Vec<u8>> = places.iter().map(|places| vec![b'A'; places.len()]).collect();
    let letters: Vec<&[u8]> = letters.iter().map(Vec::as_slice).collect();
    let alignment = MultipleAlignment::new(9, places).expect("an alignment");
    let order: Vec<u32> = (0..names.len() as u32).collect();
    run(&MsaRows {
        alignment: &alignment,
        names,
        letters: &letters,
        order: &order,
        alphabet: Alphabet::Dna,
        confidence: None,
    })
}

/// Returns the leaves of a Newick text.
fn leaves(style: NameStyle, text: &[u8]) -> Vec<Vec<u8>> {
    let nodes = newick::nodes_in(style, text).unwrap_or_else(|wrong| panic!("{wrong:?}: {}", text.escape_ascii()));
    let leaves = nodes.into_iter().filter(|node| node.children.is_empty());
    leaves.map(|leaf| leaf.label.expect("a leaf has a name").into()).collect()
}

#[test]
fn names_of_any_bytes_round_trip() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (mut names_read, mut trees_read) = (0, 0);
    for set in sets() {
        let set: Vec<&[u8]> = set.iter().map(Vec::as_slice).collect();
        let mut distances = Distances::new(set.len());
        (1..set.len()).for_each(|b| (0..b).for_each(|a| distances.set(a, b, (a + b) as f64)));
        let unrooted = neighbour_joining(distances, &threads);
        let guide = unrooted.rooted(&threads);
        let all_rules = FORMATS.map(|format| (Some(format), format.name_rules()));
        for (format, rules) in all_rules.into_iter().chain([(None, NameRules::NEWICK), (None, NameRules::CLUSTALW)]) {
            let (names, _) = rules.apply_to_all(&set);
            assert_eq!(names.iter().collect::<HashSet<_>>().len(), set.len(), "{}: two rows of one name", rules.format);
            if let Some(format) = format {
                let captured = CapturedBytes::default();
                with_names(&set, |rows| write(format, rows, Output::to_writer(captured.clone())).unwrap());
                let bytes = captured.bytes();
                let read = AlignedRows::read_bytes("own", &bytes)
                    .unwrap_or_else(|error| panic!("{format:?}: {error}\n{}", bytes.escape_ascii()));
                assert_eq!(read.names, names, "{format:?}");
                names_read += names.len();
            }
            let mut styles = vec![NameStyle::Quoted];
            styles.extend((rules.format == NameRules::CLUSTALW.format).then_some(NameStyle::Bare));
            for style in styles {
                for text in [unrooted.dnd_in(style, &names), guide.newick_in(style, &names)] {
                    let leaf_names: HashSet<Vec<u8>> = leaves(style, &text).into_iter().collect();
                    assert!(
                        names.iter().all(|name| leaf_names.contains(name)),
                        "{}: {}",
                        rules.format,
                        text.escape_ascii()
                    );
                    assert_eq!(leaf_names.len(), names.len(), "{}", rules.format);
                    GuideTree::read("own", &text, &names, &threads).unwrap();
                    trees_read += 1;
                }
            }
        }
    }
    println!("{names_read} names and {trees_read} trees were read back");
    assert!(names_read > 10_000 && trees_read > 1_000);
}
