//! Compares the states of edges with their definition, which is evaluated separately for each edge
//! and site.

use pairwave::papara::vectors::{all, set_of};
use pairwave::papara::{GapModel, NodeId, Reference, Site, Vectors, edge_vectors};
use pairwave::seq::Alphabet;

use super::{pool, reference};

/// One side of an edge at a site: its set, its state by parsimony, and the logarithms of the
/// likelihoods of residue and gap.
#[derive(Clone, Copy)]
struct Side {
    set: u32,
    is_leaf: bool,
    is_gap: bool,
    is_open: bool,
    logs: [f64; 2],
}

fn log_sum(one: f64, other: f64) -> f64 {
    let most = one.max(other);
    if most == f64::NEG_INFINITY { most } else { most + ((one - most).exp() + (other - most).exp()).ln() }
}

/// Propagates a side across an edge. Only the logarithms change.
fn propagate(side: Side, share: f64, length: f64) -> Side {
    let (p, e) = (share, (-length).exp());
    let table = [[1.0 - p + p * e, p * (1.0 - e)], [(1.0 - p) * (1.0 - e), p + (1.0 - p) * e]];
    let log = |state: usize| log_sum(table[state][0].ln() + side.logs[0], table[state][1].ln() + side.logs[1]);
    Side { logs: [log(0), log(1)], ..side }
}

fn join(sides: &[Side]) -> Side {
    let count = |bit: u32| sides.iter().filter(|side| side.set >> bit & 1 == 1).count();
    let most = (0..20).map(count).max().unwrap();
    let set = (0..20).filter(|&bit| count(bit) == most).fold(0, |set, bit| set | 1 << bit);
    let with_leaf = sides.iter().any(|side| side.is_leaf);
    let gappy = sides.iter().filter(|side| side.is_gap && (with_leaf || !side.is_open)).count();
    let logs = [0, 1].map(|state| sides.iter().map(|side| side.logs[state]).sum());
    Side { set, is_leaf: false, is_gap: gappy > 0, is_open: gappy > 0 && gappy < sides.len(), logs }
}

/// Returns the values of the side behind a node, propagated across the given edge.
fn side_behind(reference: &Reference, share: f64, node: NodeId, edge: usize, site: u32) -> Side {
    let edges = &reference.tree.edges;
    let at = |edge: &usize| edges[*edge].above == node || edges[*edge].below == node;
    let others = (0..edges.len()).filter(at).filter(|&other| other != edge);
    let sides: Vec<Side> = others
        .map(|other| {
            let beyond = if edges[other].above == node { edges[other].below } else { edges[other].above };
            side_behind(reference, share, beyond, other, site)
        })
        .collect();
    let side = match reference.leaf_row(node) {
        Some(row) => {
            let letter = reference.rows[row as usize][reference.columns[site as usize] as usize];
            let any = all(reference.alphabet);
            let set = reference.alphabet.encode(letter).map_or(any, |code| set_of(reference.alphabet, code));
            let is_gap = set == any;
            let logs = if is_gap { [f64::NEG_INFINITY, 0.0] } else { [0.0, f64::NEG_INFINITY] };
            Side { set, is_leaf: true, is_gap, is_open: false, logs }
        }
        None => join(&sides),
    };
    propagate(side, share, edges[edge].length)
}

/// Returns the expected set and flags of an edge at a site. The flags are `None` if they depend on
/// rounding errors.
fn expected(reference: &Reference, share: f64, model: GapModel, edge: usize, site: u32) -> (u32, Option<bool>) {
    let ends = [reference.tree.edges[edge].above, reference.tree.edges[edge].below];
    let both = join(&ends.map(|node| side_behind(reference, share, node, edge, site)));
    let is_gap = match model {
        GapModel::Parsimony => Some(both.is_gap && !both.is_open),
        GapModel::Likelihood if both.logs == [f64::NEG_INFINITY; 2] => Some(false),
        GapModel::Likelihood => ((both.logs[0] - both.logs[1]).abs() > 1e-9).then_some(both.logs[0] < both.logs[1]),
    };
    (both.set, is_gap)
}

/// Creates a random tree with the leaves l0, l1, ...
fn random_tree(random: &mut fastrand::Rng, leaves: usize) -> String {
    let length = |random: &mut fastrand::Rng| match random.u32(0..8) {
        0 => ":0".to_owned(),
        1 => String::new(),
        2 => format!(":{}", random.u32(5..100)),
        _ => format!(":{}", random.f64() * 0.3),
    };
    let mut parts: Vec<String> = (0..leaves).map(|leaf| format!("l{leaf}{}", length(random))).collect();
    let root = random.usize(2..6);
    let most = *random.choice(&[2, 2, 4, 9]).unwrap();
    while parts.len() > root {
        let count = random.usize(2..=most).min(parts.len() - 1);
        let children: Vec<String> = (0..count).map(|_| parts.swap_remove(random.usize(0..parts.len()))).collect();
        parts.push(format!("({}){}", children.join(","), length(random)));
    }
    format!("({});", parts.join(","))
}

/// Creates random rows of varying similarity.
fn random_rows(random: &mut fastrand::Rng, alphabet: Alphabet, leaves: usize, columns: usize) -> Vec<(String, String)> {
    let letters: &[u8] = if alphabet == Alphabet::Dna { b"ACGTUacgtRYN?." } else { b"ARNDCQEGHILKMFPSTWYVBZXJ*?" };
    let model: Vec<(u8, u32)> = (0..columns).map(|_| (*random.choice(letters).unwrap(), random.u32(0..10))).collect();
    let letter = |random: &mut fastrand::Rng, &(usual, gaps): &(u8, u32)| match random.u32(0..10) {
        roll if roll < gaps => b'-',
        roll if roll % 3 == 0 => *random.choice(letters).unwrap(),
        _ => usual,
    };
    let row = |random: &mut fastrand::Rng| model.iter().map(|column| letter(random, column) as char).collect();
    (0..leaves).map(|leaf| (format!("l{leaf}"), row(random))).collect()
}

#[test]
fn states_match_their_definition() {
    let (mut gaps, mut cells) = (0, 0);
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let alphabet = *random.choice(&[Alphabet::Dna, Alphabet::Protein]).unwrap();
        let (leaves, columns) = (random.usize(3..24), random.usize(1..50));
        let tree = random_tree(&mut random, leaves);
        let rows = random_rows(&mut random, alphabet, leaves, columns);
        let Ok(input) = reference(&tree, &rows, alphabet) else { continue };
        let share = input.gap_share();
        for model in [GapModel::Likelihood, GapModel::Parsimony] {
            let vectors = edge_vectors(&input, model, &pool(2));
            assert_eq!((vectors.len() as usize, vectors.sites()), (input.tree.edges.len(), input.sites()));
            for edge in 0..input.tree.edges.len() {
                for site in 0..input.sites() {
                    let actual = vectors.site(edge as u32, site);
                    let (set, is_gap) = expected(&input, share, model, edge, site);
                    let is_gap = is_gap.unwrap_or(actual.is_free);
                    let expected = Site { set, is_penalised: is_gap, is_free: is_gap };
                    assert_eq!(actual, expected, "seed {seed}, {model:?}, edge {edge}, site {site}: {tree}");
                    (gaps, cells) = (gaps + usize::from(is_gap), cells + 1);
                }
            }
        }
    }
    assert!(cells > 20_000 && gaps * 10 > cells && gaps * 10 < cells * 9, "{gaps} gaps among {cells}");
}

/// Tests that products of thousands of likelihoods do not underflow to 0. In one column, every
/// fourth leaf has a gap. In the other column, every fourth leaf has no gap.
#[test]
fn likelihoods_of_large_trees_do_not_underflow() {
    let leaves = 3_000;
    let letters = |leaf: usize| if leaf.is_multiple_of(4) { "-A" } else { "A-" };
    let rows: Vec<(String, String)> = (0..leaves).map(|leaf| (format!("l{leaf}"), letters(leaf).to_owned())).collect();
    let star = (0..leaves).map(|leaf| format!("l{leaf}:0.9")).collect::<Vec<_>>().join(",");
    let ladder = (2..leaves).fold("l0:0.9,l1:0.9".to_owned(), |text, leaf| format!("({text}):0.01,l{leaf}:0.9"));
    for (name, tree) in [("star", star), ("ladder", ladder)] {
        let input = reference(&format!("({tree});"), &rows, Alphabet::Dna).unwrap();
        let vectors = edge_vectors(&input, GapModel::Likelihood, &pool(2));
        let gaps = |site: u32| (0..vectors.len()).filter(|&edge| vectors.site(edge, site).is_free).count();
        let edges = vectors.len() as usize;
        assert!(gaps(0) < edges / 3 && gaps(1) > edges / 3 * 2, "{name}: {} and {} of {edges}", gaps(0), gaps(1));
    }
}

/// Tests that results do not depend on the number of threads or on block boundaries.
#[test]
fn threads_do_not_change_states() {
    let mut random = fastrand::Rng::with_seed(7);
    let tree = random_tree(&mut random, 30);
    for columns in [1, 15, 16, 17, 100] {
        let rows = random_rows(&mut random, Alphabet::Dna, 30, columns);
        let Ok(input) = reference(&tree, &rows, Alphabet::Dna) else { continue };
        for model in [GapModel::Likelihood, GapModel::Parsimony] {
            assert_eq!(edge_vectors(&input, model, &pool(1)), edge_vectors(&input, model, &pool(3)));
        }
    }
}

/// Creates random vectors, some of them equal.
fn random_vectors(random: &mut fastrand::Rng, alphabet: Alphabet, sites: u32, len: u32) -> Vectors {
    let mut vectors = Vectors::new(alphabet, sites, len);
    for vector in 0..len {
        let earlier = (vector > 0 && random.bool()).then(|| random.u32(0..vector));
        for site in 0..sites {
            let (set, is_penalised, is_free) = (random.u32(1..=all(alphabet)), random.bool(), random.bool());
            let value = Site { set, is_penalised, is_free };
            vectors.set(vector, site, earlier.map_or(value, |earlier| vectors.site(earlier, site)));
        }
        // Two vectors that differ in one site are not equal.
        if earlier.is_some() && sites > 0 && random.u32(0..4) == 0 {
            vectors.set(vector, sites - 1, Site { set: 1, is_penalised: true, is_free: false });
        }
    }
    vectors
}

#[test]
fn unions_combine_their_members() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let alphabet = *random.choice(&[Alphabet::Dna, Alphabet::Protein]).unwrap();
        let (sites, len) = (random.u32(1..30), random.u32(0..200));
        let vectors = random_vectors(&mut random, alphabet, sites, len);
        let unions = vectors.unions(&pool(2));
        assert_eq!(unions.len(), vectors.octets(), "seed {seed}");
        for (octet, site) in (0..unions.len()).flat_map(|octet| (0..sites).map(move |site| (octet, site))) {
            let members: Vec<Site> =
                (octet * 8..len.min(octet * 8 + 8)).map(|vector| vectors.site(vector, site)).collect();
            let expected = Site {
                set: members.iter().fold(0, |set, site| set | site.set),
                is_penalised: members.iter().all(|site| site.is_penalised),
                is_free: members.iter().any(|site| site.is_free),
            };
            assert_eq!(unions.site(octet, site), expected, "seed {seed}, octet {octet}, site {site}");
        }
    }
}

#[test]
fn equal_vectors_are_merged() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let alphabet = *random.choice(&[Alphabet::Dna, Alphabet::Protein]).unwrap();
        let (sites, len) = (random.u32(1..30), random.u32(0..200));
        let vectors = random_vectors(&mut random, alphabet, sites, len);
        let (distinct, numbers) = vectors.distinct();
        let row = |source: &Vectors, vector: u32| (0..sites).map(|site| source.site(vector, site)).collect::<Vec<_>>();
        let mut expected: Vec<Vec<Site>> = Vec::new();
        for vector in 0..len {
            let states = row(&vectors, vector);
            let number = expected.iter().position(|earlier| *earlier == states).unwrap_or_else(|| {
                expected.push(states);
                expected.len() - 1
            });
            assert_eq!(numbers[vector as usize] as usize, number, "seed {seed}, vector {vector}");
        }
        assert_eq!((distinct.len() as usize, numbers.len()), (expected.len(), len as usize), "seed {seed}");
        (0..distinct.len())
            .for_each(|vector| assert_eq!(row(&distinct, vector), expected[vector as usize], "seed {seed}"));
    }
}
