use super::*;
use crate::error::Error;

fn tree(text: &str) -> ReferenceTree {
    ReferenceTree::parse("a.nwk", text.as_bytes()).unwrap()
}

fn names_below(text: &str) -> Vec<String> {
    let tree = tree(text);
    let name = |edge: &Edge| tree.names[edge.below.index()].clone().or(edge.label.clone()).unwrap_or("-".into());
    tree.edges.iter().map(|edge| format!("{}:{}", name(edge), edge.length)).collect()
}

#[test]
fn edges_are_numbered_in_paparas_order() {
    assert_eq!(names_below("(a:1,(b:2,c:3)x:4,(d:5,e:6)y:7);"), ["y:7", "d:5", "e:6", "a:1", "x:4", "b:2", "c:3"]);
    assert_eq!(names_below("((a:1,b:2)l:3,(c:4,d:5)r:6)root:9;"), ["r:9", "c:4", "d:5", "a:1", "b:2"]);
    assert_eq!(names_below("((a:1,b:2)l:3,(c:4,d:5):6);")[0], "l:9");
    assert_eq!(names_below("(a,b,c,d,e);"), ["c:1", "a:1", "b:1", "d:1", "e:1"]);
    assert_eq!(names_below("(a:1,(b:2,(c:3,d:4):5):6);"), ["a:7", "b:2", "-:5", "c:3", "d:4"]);
    assert_eq!(names_below("((b:2,(c:3,d:4):5):6,a:1);"), ["a:7", "b:2", "-:5", "c:3", "d:4"]);
    assert_eq!(names_below(" ( 'a b':1e-1 [x[y]] ,\"it\"\"s\":2, c_d:-0.5 ) ; "), ["c_d:0", "a b:0.1", "it\"s:2"]);
    // Nodes with a single child are points on an edge, including a root with a single child.
    assert_eq!(names_below("(((a:1):2,b,(c,d)0.5:1{7}));"), ["0.5:1", "c:1", "d:1", "a:3", "b:1"]);
}

#[test]
fn nexus_translations_are_applied() {
    let head = "#NEXUS\n[a tree = (x,y);]\nBegin taxa;\n taxlabels a 'b;c' d e;\nEnd;\nbegin trees;\n";
    let expected = names_below("(a:1,'b c':2,(d:3,e:4)9:5);");
    for trees in [
        "tree t = (a:1,'b c':2,(d:3,e:4)9:5);\nend;\n",
        "translate 1 a, 2 'b c',3 d, 4 e;\ntree * t=[&U] (1:1,2:2,(3:3,4[&x]:4)9:5);\nEnd;",
        "Title x;\nTRANSLATE\n1 a,\n2 'b c',\n3 d\n;\nUTREE 'my tree' = [&R](1:1,2:2,(3:3,e:4)9:5);\nEND;\n",
    ] {
        assert_eq!(names_below(&format!("{head}{trees}")), expected, "{trees}");
    }
    for (trees, line, column, part) in [
        ("end;\n", 8, 1, "has no tree"),
        ("tree a=(a,b,c);\ntree b=(a,b,c);\nend;", 8, 1, "more than one tree"),
        ("tree a=(a,b,c;\nend;", 7, 14, "';' is not expected here"),
        ("translate 1 a 2 b;\ntree a=(1,2,3);", 7, 15, "expected ',' or ';'"),
    ] {
        let text = format!("{head}{trees}");
        let Err(Error::Input { location, message }) = ReferenceTree::parse("a.nex", text.as_bytes()) else {
            panic!("{trees}")
        };
        assert!(message.contains(part), "{trees}: {message}");
        let head_lines = head.matches('\n').count() as u64;
        assert_eq!((location.line, location.column), (Some(head_lines + line - 6), Some(column)), "{trees}");
    }
}

#[test]
fn parse_errors_name_their_position() {
    for (text, line, column, part) in [
        ("(a,b,c)", 1, 8, "';'"),
        ("(a,b,c", 1, 7, "no ')'"),
        ("(a,b),c);", 1, 6, "','"),
        ("(a,\n,c);", 2, 1, "no name"),
        ("(a,'',c);", 1, 6, "no name"),
        ("(a,b:x,c);", 1, 6, "'x' is not a branch length"),
        ("(a,b:1e999,c);", 1, 6, "'1e999' is not a branch length"),
        ("(a,b:1{x},c);", 1, 7, "without an edge number"),
        ("(a,b,a);", 1, 1, "have the name 'a'"),
        ("(a,b);", 1, 1, "it has 2"),
        ("a;", 1, 1, "it has 1"),
        ("(a,\n b,\n  'c);", 3, 3, "quotes"),
        ("(a,b,'c\nd');", 1, 6, "byte 0x0A in a name"),
        ("(a,b,c);(d,e,f);", 1, 9, "more than one"),
        ("(a,[b,c);", 1, 4, "comment"),
    ] {
        let Error::Input { location, message } = ReferenceTree::parse("a.nwk", text.as_bytes()).unwrap_err() else {
            panic!()
        };
        assert_eq!(
            (location.file.as_str(), location.line, location.column),
            ("a.nwk", Some(line), Some(column)),
            "{text}: {message}"
        );
        assert!(message.contains(part), "{text}: {message}");
    }
    let empty = ReferenceTree::parse("a.nwk", b"").unwrap_err();
    assert_eq!(empty.to_string(), "a.nwk: the file is empty");
}

#[test]
fn deep_trees_do_not_overflow_the_stack() {
    let depth = 200_000;
    let text = format!("{}a,b){};", "(".repeat(depth), (0..depth - 1).map(|i| format!(",x{i})")).collect::<String>());
    let deep = tree(&text);
    assert_eq!(deep.leaves().count(), depth + 1);
    assert_eq!(tree(&deep.annotated().to_string()), deep);
}

#[test]
fn lengths_stay_finite() {
    assert_eq!(names_below("((a,b):1e308,(c,d):1e308);")[0], format!("-:{}", f64::MAX));
}

/// Creates a random tree with unusual names, some nodes with many children, and a root with two to
/// four children.
fn random(random: &mut fastrand::Rng, leaves: usize) -> String {
    let length = |random: &mut fastrand::Rng| match random.u32(0..4) {
        0 => String::new(),
        1 => ":0".to_owned(),
        _ => format!(":{}", random.f64() * 10f64.powi(random.i32(-9..3))),
    };
    let names = ["a b", "it's", "x\"y", "p|q", "{1}", "ü", "(", "T_1", "9"];
    let mut parts: Vec<String> = (0..leaves)
        .map(|leaf| {
            newick::quoted(format!("{}{leaf}", random.choice(names).unwrap()).as_bytes()).to_string() + &length(random)
        })
        .collect();
    let root = random.usize(2..5);
    while parts.len() > root {
        let most = if random.u32(0..5) == 0 { 5 } else { 2 };
        let children: Vec<String> =
            (0..most.min(parts.len() - 1)).map(|_| parts.swap_remove(random.usize(0..parts.len()))).collect();
        let label = if random.bool() { random.u32(0..100).to_string() } else { String::new() };
        parts.push(format!("({}){label}{}", children.join(","), length(random)));
    }
    format!("({});", parts.join(","))
}

#[test]
fn random_trees_survive_writing_and_reading() {
    for seed in 0..400 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let leaves = rng.usize(3..40);
        let text = random(&mut rng, leaves);
        let read = tree(&text);
        assert_eq!(read.leaves().count(), leaves, "seed {seed}");
        assert_eq!(tree(&read.annotated().to_string()), read, "seed {seed}: {text}");
        for (number, edge) in read.edges.iter().enumerate() {
            assert!(edge.below.index() == number + 1 && edge.above < edge.below, "seed {seed}");
            assert!(read.annotated().to_string().contains(&format!("{{{number}}}")), "seed {seed}");
        }
    }
}

/// Checks that the leaves of a split are on the two sides of its edge, and of no other edge.
#[test]
fn splits_name_one_edge_each() {
    assert_eq!(tree("((a,b),(c,d),(e,f));").split(0), "a,c|e,f");
    assert_eq!(tree("(d,c,b,a);").split(3), "a|b,c");
    assert_eq!(tree("('x y','p|q',z);").split(1), "'x y'|'p|q',z");
    for seed in 0..100 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let leaves = rng.usize(3..30);
        let read = tree(&random(&mut rng, leaves));
        // `below[node]` marks the nodes below a node.
        let nodes = read.names.len();
        let mut below: Vec<Vec<bool>> =
            (0..nodes).map(|node| (0..nodes).map(|other| other == node).collect()).collect();
        for edge in read.edges.iter().rev() {
            let leaves = below[edge.below.index()].clone();
            below[edge.above.index()].iter_mut().zip(leaves).for_each(|(all, is_below)| *all |= is_below);
        }
        for number in 0..read.edges.len() as u32 {
            let split = read.split(number).to_string();
            // `a,b|c,d` becomes the Newick texts `(a,b);` and `(c,d);`.
            let bars: Vec<usize> = split.match_indices('|').map(|(at, _)| at).collect();
            let outside = |&at: &usize| split[..at].matches('\'').count().is_multiple_of(2);
            let at = bars.into_iter().find(outside).unwrap();
            let sides = [&split[..at], &split[at + 1..]].map(|side| {
                let names = newick::nodes(format!("({side});").as_bytes()).unwrap();
                let names = names.into_iter().filter_map(|node| node.label);
                names.map(|name| read.leaves().find(|leaf| leaf.1 == name).unwrap().0).collect::<Vec<_>>()
            });
            let parts = |edge: &Edge| {
                let is_below = |side: usize| sides[side].iter().map(|&leaf| below[edge.below.index()][leaf.index()]);
                let is = |side, what| is_below(side).all(|is| is == what);
                (is(0, true) && is(1, false)) || (is(0, false) && is(1, true))
            };
            let numbers: Vec<u32> =
                read.edges.iter().filter(|edge| parts(edge)).filter_map(|edge| edge.below.edge_above()).collect();
            assert_eq!(numbers, [number], "seed {seed}: {split}");
        }
    }
}

#[test]
fn broken_texts_never_panic() {
    for seed in 0..3000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let leaves = rng.usize(3..8);
        let mut text = random(&mut rng, leaves).into_bytes();
        for _ in 0..rng.usize(1..6) {
            let at = rng.usize(0..text.len());
            match rng.u32(0..4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, *rng.choice(b"()[]{}:;,'\" \n1eE-.\xFF\0").unwrap()),
                2 => text[at] = rng.u8(..),
                _ => text.truncate(at),
            }
            if text.is_empty() {
                break;
            }
        }
        println!("seed {seed}");
        if let Ok(read) = ReferenceTree::parse("a.nwk", &text) {
            assert_eq!(ReferenceTree::parse("b.nwk", read.annotated().as_bytes()).unwrap(), read, "seed {seed}");
            (0..read.edges.len() as u32).for_each(|edge| assert!(read.split(edge).contains(&b'|'), "seed {seed}"));
        }
        let noise: Vec<u8> = (0..rng.usize(0..40)).map(|_| *rng.choice(b"()[]{}:;,'\" a1e-\xFF").unwrap()).collect();
        let _ = ReferenceTree::parse("a.nwk", &noise);
    }
}
