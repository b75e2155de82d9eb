//! Trees compared with the trees that ClustalW 2.1 makes from the same distances.

use super::*;

/// Distances of nine sequences of 60 residues, with three identical ones. For each sequence,
/// they are the distances to earlier ones, in single precision.
const DISTANCES: [f32; 36] = [
    0.48333332, 0.26666665, 0.5833333, 0.06666664, 0.45, 0.2, 0.06666664, 0.45, 0.2, 0.0, 0.48333332, 0.65, 0.36666667,
    0.4166667, 0.4166667, 0.68333334, 0.45, 0.78333336, 0.68333334, 0.68333334, 0.78333336, 0.06666664, 0.45, 0.2, 0.0,
    0.0, 0.4166667, 0.68333334, 0.6, 0.65, 0.66666675, 0.5833333, 0.5833333, 0.71666664, 0.81666666, 0.5833333,
];

const DND: &str = "(\n(\n(\ns1:0.06042,\n(\n(\n(\n(\ns2:0.12500,\ns7:0.32500)\n:0.13750,\ns9:0.37083)\n:0.08083,\ns6:0.26917)\n:0.04688,\ns3:0.11563)\n:0.08125)\n:0.00625,\ns4:0.00000)\n:0.00000,\ns5:0.00000,\ns8:0.00000);\n";

/// Identities in percent, in the order of the distances.
const IDENTITIES: [f64; 36] = [
    46.81199789047241,
    74.27000105381012,
    49.4159996509552,
    93.33299994468689,
    52.22899913787842,
    79.68699932098389,
    93.33299994468689,
    52.22899913787842,
    79.68699932098389,
    99.0,
    54.228001832962036,
    38.749998807907104,
    56.832000613212585,
    59.64500308036804,
    59.64500308036804,
    26.811999082565308,
    55.000001192092896,
    29.416000843048096,
    32.22900032997131,
    32.22900032997131,
    18.75,
    93.33299994468689,
    52.22899913787842,
    79.68699932098389,
    99.0,
    99.0,
    59.64500308036804,
    32.22900032997131,
    35.97899675369263,
    36.667001247406006,
    38.582998514175415,
    41.39599800109863,
    41.39599800109863,
    27.917003631591797,
    16.666996479034424,
    41.39599800109863,
];

/// For each step, 1 marks sequences of the first group and 2 sequences of the second.
const STEPS: [[u8; 9]; 8] = [
    [0, 0, 0, 0, 2, 0, 0, 1, 0],
    [0, 0, 0, 2, 1, 0, 0, 1, 0],
    [1, 0, 0, 2, 2, 0, 0, 2, 0],
    [1, 0, 2, 1, 1, 0, 0, 1, 0],
    [1, 0, 1, 1, 1, 2, 0, 1, 0],
    [1, 0, 1, 1, 1, 1, 0, 1, 2],
    [0, 1, 0, 0, 0, 0, 2, 0, 0],
    [1, 2, 1, 1, 1, 1, 2, 1, 1],
];

pub(super) fn threads() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap()
}

fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (1..9).flat_map(|a| (0..a).map(move |b| (a, b)))
}

fn names() -> Vec<String> {
    (1..10).map(|number| format!("s{number}")).collect()
}

fn unrooted() -> UnrootedTree {
    let mut distances = Distances::new(9);
    pairs().zip(DISTANCES).for_each(|((a, b), distance)| distances.set(a, b, f64::from(distance)));
    neighbour_joining(distances, &threads())
}

#[test]
fn tree_files_equal_clustalw_output() {
    assert_eq!(unrooted().dnd(&names()), DND);
}

#[test]
fn weights_identities_and_joins_equal_clustalw() {
    let tree = unrooted().rooted(&threads());
    assert_eq!(tree.weights(), [69, 106, 88, 31, 31, 176, 232, 31, 232]);
    let identities = tree.identities();
    for ((a, b), percent) in pairs().zip(IDENTITIES) {
        assert_eq!(identities.percent(a, b), percent, "{a} {b}");
        assert_eq!(identities.percent(b, a), percent, "{b} {a}");
    }
    let mut steps = Vec::new();
    tree.each_join(|number, first, second, _| {
        assert_eq!(number, steps.len());
        let mut step = [0; 9];
        first.iter().for_each(|&leaf| step[leaf as usize] = 1);
        second.iter().for_each(|&leaf| step[leaf as usize] = 2);
        steps.push(step);
    });
    assert_eq!(steps, STEPS);
}

#[test]
fn tree_files_round_trip() {
    let tree = unrooted().rooted(&threads());
    assert_eq!(GuideTree::read("x.dnd", DND.as_bytes(), &names(), &threads()).unwrap(), tree);
    let text = tree.newick(&names());
    assert_eq!(GuideTree::read("x.nwk", &text, &names(), &threads()).unwrap(), tree);
    let upper: Vec<String> = names().iter().map(|name| name.to_uppercase()).collect();
    assert_eq!(GuideTree::read("x.nwk", &text, &upper, &threads()).unwrap(), tree);
}

#[test]
fn trees_of_few_leaves_are_valid() {
    let none = neighbour_joining(Distances::new(0), &threads()).rooted(&threads());
    assert_eq!((none.leaves, none.joins.len(), none.weights()), (0, 0, vec![]));
    let one = neighbour_joining(Distances::new(1), &threads()).rooted(&threads());
    assert_eq!((one.leaves, one.joins.len(), one.weights()), (1, 0, vec![1000]));
    assert_eq!(one.newick(&["a b"]), "'a b';\n");
    let mut distances = Distances::new(2);
    distances.set(0, 1, 0.3);
    let two = neighbour_joining(distances, &threads());
    assert_eq!(two.dnd(&["a", "b"]), "(a:0.15,b:0.15);\n");
    let two = two.rooted(&threads());
    assert_eq!((two.weights(), two.identities().percent(0, 1)), (vec![500, 500], 100.0 - f64::from(0.3f32) * 100.0));
}

#[test]
fn binary_roots_are_kept_and_others_resolved() {
    let read = |text: &str| GuideTree::read("t", text.as_bytes(), &["a", "b", "c", "d", "e"], &threads()).unwrap();
    let tree = read("((a:1,b:2):3,(c:4,(d:5):6,e:7):8);");
    let join = |children, lengths| Join { children, lengths };
    let joins =
        [join([0, 1], [1.0, 2.0]), join([2, 3], [4.0, 11.0]), join([6, 4], [0.0, 7.0]), join([5, 7], [3.0, 8.0])];
    assert_eq!(tree.joins, joins);
    // All branches meet at one point. The root is in the middle between the end of the longest
    // branch and the other leaves.
    let star = read("(a:1,b:1,c:1,d:1,e:3);");
    assert_eq!(star.joins.last(), Some(&join([7, 4], [1.0, 2.0])));
}

#[test]
fn mismatched_trees_are_refused_with_location() {
    let cases = [
        ("((a:1,b:1):1,\n x:1);", "line 2", "no sequence is called 'x'"),
        ("((a:1,b:1):1,a:1);", "line 1", "'a' is in the tree twice"),
        ("(a:1,b:1);", "line 1", "'c' is not in the tree"),
        ("(a,b,c);", "line 1", "the tree has neither a root nor lengths"),
        ("(a,b,c;", "line 1", "';' is not expected here"),
        ("(a,,b);", "line 1", "a leaf has no name"),
        ("", "t: ", "the file is empty"),
        (" \r\n\t\n", "t: ", "the file has no tree"),
    ];
    for (text, location, message) in cases {
        let error = GuideTree::read("t", text.as_bytes(), &["a", "b", "c"], &threads()).unwrap_err().to_string();
        assert!(error.contains(location) && error.contains(message), "{text}: {error}");
    }
    // Names that become equal in the inexact comparison match only exactly.
    let error = GuideTree::read("t", b"(B:1,b:1);", &["a", "A"], &threads()).unwrap_err().to_string();
    assert!(error.contains("no sequence is called 'B'"), "{error}");
    assert!(GuideTree::read("t", b"(A:1,a:1);", &["a", "A"], &threads()).is_ok());
}
