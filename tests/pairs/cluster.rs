//! Clusters of random families of sequences: the guarantees of every method, on every engine.

use std::collections::HashMap;
use std::sync::Arc;

use pairwave::cluster::{ClusterMethod, ClusterSet, UniqueSet, annotations};
use pairwave::jobs::cluster::BatchSizes;
use pairwave::jobs::{Clusters, EditFilter};
use pairwave::score::{CoverageFilter, EndGaps, IdentityDefinition, Mode, Scoring};
use pairwave::seq::{Alphabet, Code, SequenceId, SequenceStore, Strand, Strands, reverse_complement};
use pairwave::{AllPairs, Device, Job, PairResult, Run};
use support::{Rng, adapter, rng};

const METHODS: [ClusterMethod; 4] =
    [ClusterMethod::Greedy, ClusterMethod::Single, ClusterMethod::Complete, ClusterMethod::Average];

/// Sequences with names that contain abundances.
type Named = Vec<(String, Vec<Code>)>;

/// Creates families of sequences. Some are identical, some are reverse complements.
fn families(rng: &mut Rng, count: usize) -> Named {
    let mut all: Named = Vec::new();
    for index in 0..count {
        let codes = match all.len() {
            0 => None,
            many if rng.below(6u32) > 0 => Some(all[rng.below(many)].1.clone()),
            _ => None,
        };
        let codes = match codes {
            None => {
                let length = 40 + rng.below(60usize);
                support::random_codes(rng, Alphabet::Dna, length)
            }
            Some(codes) => {
                let percent = rng.pick(&[0, 2, 5, 10]);
                let codes = support::mutated(rng, Alphabet::Dna, &codes, percent);
                if rng.below(4u32) == 0 { reverse_complement(&codes) } else { codes }
            }
        };
        all.push((format!("r{index};size={}", 1 + rng.below(3u32)), codes));
    }
    all
}

fn store(sequences: &Named) -> SequenceStore {
    let mut store = SequenceStore::builder(Alphabet::Dna);
    sequences.iter().for_each(|(name, codes)| store.push(name.as_str(), codes).expect("valid codes"));
    store.build()
}

fn unique(sequences: &Named, strand: Strands) -> Arc<UniqueSet> {
    let store = store(sequences);
    let size = |id: SequenceId| annotations::abundance(store.name_bytes(id)).expect("a size");
    let sizes: Vec<u64> = (0..store.len() as SequenceId).map(size).collect();
    Arc::new(UniqueSet::new(&store, &sizes, strand == Strands::Both))
}

fn scorings() -> [Scoring; 4] {
    [
        Scoring::dna(),
        Scoring::truong(),
        Scoring { end_gaps: EndGaps::Free, ..Scoring::truong() },
        Scoring { mode: Mode::Local, ..Scoring::truong() },
    ]
}

/// Runs on a GPU, on the CPU, or on both.
fn runs() -> [Run; 3] {
    let gpu = Device::Adapter(Box::new(adapter()));
    [vec![Device::Cpu], vec![gpu.clone()], vec![gpu, Device::Cpu]].map(|devices| Run {
        devices,
        threads: 2,
        ..Run::default()
    })
}

/// Returns all pairs of a comparison by their sequences.
fn all_pairs(job: AllPairs) -> HashMap<(u32, u32), PairResult> {
    let mut pairs = HashMap::new();
    let run = Run { devices: vec![Device::Cpu], threads: 1, ..Run::default() };
    let add = |rows: &[PairResult]| {
        pairs.extend(rows.iter().map(|row| ((row.query, row.target), row.clone())));
        Ok(())
    };
    AllPairs { edit_filter: EditFilter::Off, ..job }.run(&run, add).expect("the job ends well");
    pairs
}

/// Returns the identities of all pairs that reach a threshold.
fn identities(job: &Clusters, threshold: f64) -> HashMap<(u32, u32), f64> {
    let at_threshold = Clusters { thresholds: vec![threshold], ..job.clone() };
    all_pairs(at_threshold.pairs()).into_iter().map(|(pair, row)| (pair, row.identity)).collect()
}

/// Checks the guarantees of a method against all identities.
fn check(job: &Clusters, set: &ClusterSet, identities: &HashMap<(u32, u32), f64>, what: &str) {
    let similar = |a: u32, b: u32| identities.get(&(a.min(b), a.max(b))).copied();
    let mut cluster_of = HashMap::new();
    for (number, cluster) in set.clusters.iter().enumerate() {
        let members = cluster.members.iter().map(|member| member.sequence);
        for sequence in std::iter::once(cluster.centroid).chain(members.clone()) {
            assert!(cluster_of.insert(sequence, number).is_none(), "{what}: {sequence} is in two clusters");
        }
        let size: u64 =
            std::iter::once(cluster.centroid).chain(members).map(|one| job.unique.sizes[one as usize]).sum();
        assert_eq!(cluster.size, size, "{what}");
    }
    assert_eq!(cluster_of.len(), job.unique.len(), "{what}");
    let centroids: Vec<u32> = set.clusters.iter().map(|cluster| cluster.centroid).collect();
    for cluster in &set.clusters {
        for member in &cluster.members {
            let known = identities.get(&(member.sequence.min(cluster.centroid), member.sequence.max(cluster.centroid)));
            if let Some(&identity) = known {
                assert_eq!(member.identity, identity, "{what}");
            }
        }
    }
    match job.method {
        ClusterMethod::Greedy => {
            for (index, &a) in centroids.iter().enumerate() {
                for &b in &centroids[..index] {
                    assert!(similar(a, b).is_none(), "{what}: centroids {a} and {b} are similar");
                }
            }
            for cluster in &set.clusters {
                for member in &cluster.members {
                    let own = similar(member.sequence, cluster.centroid).expect("a similar centroid");
                    let best = centroids.iter().filter_map(|&centroid| similar(member.sequence, centroid));
                    assert_eq!(best.fold(0.0, f64::max), own, "{what}");
                }
            }
        }
        ClusterMethod::Single => {
            for (a, b) in identities.keys() {
                assert!(cluster_of[a] == cluster_of[b], "{what}: {a} and {b}");
            }
        }
        ClusterMethod::Complete => {
            for (&a, cluster) in &cluster_of {
                for (&b, other) in &cluster_of {
                    assert!(a >= b || cluster != other || similar(a, b).is_some(), "{what}: {a} and {b}");
                }
            }
        }
        ClusterMethod::Average => {}
    }
}

#[test]
fn clusters_keep_their_guarantees_on_every_engine() {
    let mut rng = rng(0xc1);
    for round in 0..8 {
        let sequences = families(&mut rng, 60);
        let strand = rng.pick(&[Strands::Plus, Strands::Both]);
        let scoring = Arc::new(scorings()[round % 4].clone());
        let unique = unique(&sequences, strand);
        for method in METHODS {
            let minimum = || Some(0.8);
            let coverage = match rng.below(3u32) {
                0 => CoverageFilter { both: minimum(), ..CoverageFilter::default() },
                1 => CoverageFilter { shorter: minimum(), ..CoverageFilter::default() },
                _ => CoverageFilter::default(),
            };
            let min_score = (scoring.mode == Mode::Local).then_some(20);
            let job = Clusters {
                strand,
                method,
                coverage,
                min_score,
                thresholds: vec![0.97, 0.85],
                check: true,
                ..Clusters::new(Arc::clone(&unique), Arc::clone(&scoring), 0.9)
            };
            let identities = [0.97, 0.85].map(|threshold| identities(&job, threshold));
            let mut expected = None;
            for run in runs() {
                let what = format!("round {round}, {method:?}, {strand:?}, {:?}", run.devices);
                let (sets, _) = job.run(&run).expect("the job ends well");
                sets.iter().zip(&identities).for_each(|(set, identities)| check(&job, set, identities, &what));
                assert_eq!(expected.get_or_insert_with(|| sets.clone()), &sets, "{what}");
            }
        }
    }
}

#[test]
fn batches_give_the_clusters_of_all_pairs() {
    let mut rng = rng(0xc2);
    for round in 0..12 {
        let sequences = families(&mut rng, 80);
        let strand = rng.pick(&[Strands::Plus, Strands::Both]);
        let unique = unique(&sequences, strand);
        let scoring = Arc::new(scorings()[round % 4].clone());
        let job = Clusters { strand, check: true, with_alignments: true, ..Clusters::new(unique, scoring, 0.9) };
        let run = Run { devices: vec![Device::Cpu], threads: 2, ..Run::default() };
        let (expected, _) = job.run(&run).expect("the job ends well");
        // With many centroids, the second batch may end in a comparison of all pairs.
        for (first, growth, all_pairs_up_to) in [(1, 1, 0), (7, 2, 0), (7, 2, usize::MAX), (16, 8, 0), (100, 1, 0)] {
            let batches = BatchSizes { above: 0, first, growth, all_pairs_up_to };
            let (sets, _) = Clusters { batches, ..job.clone() }.run(&run).expect("the job ends well");
            assert_eq!(sets, expected, "round {round}, {batches:?}");
        }
    }
}

#[test]
fn alignments_of_members_fit_their_sequences() {
    let mut rng = rng(0xc3);
    let sequences = families(&mut rng, 80);
    let unique = unique(&sequences, Strands::Both);
    for method in METHODS {
        let job = Clusters {
            strand: Strands::Both,
            method,
            with_alignments: true,
            ..Clusters::new(Arc::clone(&unique), Arc::new(Scoring::dna()), 0.85)
        };
        let (sets, _) = job.run(&runs()[0]).expect("the job ends well");
        let mut minus = 0;
        for cluster in &sets[0].clusters {
            for member in &cluster.members {
                let codes = unique.store.codes(member.sequence);
                let query = if member.strand == Strand::Minus { reverse_complement(codes) } else { codes.to_vec() };
                let target = unique.store.codes(cluster.centroid);
                let cigar = member.cigar.as_ref().expect("alignments were requested");
                let alignment = pairwave::Alignment::end_to_end(0, cigar.clone());
                let (mut i, mut j, mut matches) = (0, 0, 0);
                for (length, op) in alignment.cigar.iter() {
                    let length = length as usize;
                    match op {
                        pairwave::alignment::Op::Insertion => i += length,
                        pairwave::alignment::Op::Deletion => j += length,
                        _ => {
                            matches += (0..length).filter(|&at| query[i + at] & target[j + at] != 0).count();
                            i += length;
                            j += length;
                        }
                    }
                }
                assert_eq!((i, j), (query.len(), target.len()), "{method:?}");
                assert_eq!(matches as u64, cigar.counts().matches, "{method:?}");
                minus += usize::from(member.strand == Strand::Minus);
            }
        }
        assert!(minus > 0, "{method:?}");
    }
}

/// Creates a few short sequences. Both strands of many pairs have similar scores, and often only the
/// strand with the lower score reaches a threshold.
fn short_sequences(rng: &mut Rng) -> Named {
    let mut all: Named = Vec::new();
    for index in 0..3 + rng.below(5usize) {
        let length = 2 + rng.below(14usize);
        let codes = match all.len() {
            many if many > 0 && rng.below(2u32) == 0 => {
                let other = rng.below(many);
                let codes = support::mutated(rng, Alphabet::Dna, &all[other].1, 20);
                if rng.below(2u32) == 0 { reverse_complement(&codes) } else { codes }
            }
            _ => support::random_codes(rng, Alphabet::Dna, length),
        };
        all.push((format!("r{index};size={}", 1 + rng.below(3u32)), codes));
    }
    all
}

#[test]
fn members_have_the_strand_and_the_identity_of_all_pairs() {
    let mut rng = rng(0xc6);
    let run = Run { devices: vec![Device::Cpu], threads: 1, ..Run::default() };
    let mut lower_scores = [0; METHODS.len()];
    for round in 0..80 {
        let unique = unique(&short_sequences(&mut rng), Strands::Both);
        let scoring = Arc::new(scorings()[round % 4].clone());
        let is_local = scoring.mode == Mode::Local;
        let definition = if is_local { IdentityDefinition::default() } else { rng.pick(&IdentityDefinition::ALL) };
        let coverage = match rng.below(3u32) {
            0 => CoverageFilter { query: Some(0.5), target: Some(0.7), ..CoverageFilter::default() },
            _ => CoverageFilter::default(),
        };
        let min_score = is_local.then(|| i64::from(rng.below(20i32)));
        for (method, lower_scores) in METHODS.into_iter().zip(&mut lower_scores) {
            let job = Clusters {
                strand: Strands::Both,
                definition,
                coverage,
                min_score,
                method,
                ..Clusters::new(Arc::clone(&unique), Arc::clone(&scoring), 0.8)
            };
            let similar = all_pairs(job.pairs());
            let no_minimum =
                AllPairs { min_identity: None, min_score: None, coverage: CoverageFilter::default(), ..job.pairs() };
            let all = all_pairs(no_minimum);
            for (check, with_alignments) in [(false, false), (false, true), (true, false), (true, true)] {
                let job = Clusters { check, with_alignments, ..job.clone() };
                let (sets, _) = job.run(&run).expect("the job ends well");
                let what = format!("round {round}, {method:?}, check {check}, alignments {with_alignments}");
                for cluster in &sets[0].clusters {
                    for member in &cluster.members {
                        let pair = (member.sequence.min(cluster.centroid), member.sequence.max(cluster.centroid));
                        let better = &all[&pair];
                        let expected = similar.get(&pair).unwrap_or(better);
                        assert_eq!(member.identity, expected.identity, "{what}");
                        assert_eq!(member.strand, expected.strand, "{what}");
                        *lower_scores += usize::from(expected.score < better.score);
                    }
                }
            }
        }
    }
    assert!(lower_scores.iter().all(|&count| count > 0), "{lower_scores:?}");
}

#[test]
fn the_order_of_the_input_makes_no_difference() {
    let mut rng = rng(0xc4);
    for method in METHODS {
        let mut sequences = families(&mut rng, 60);
        let described = |sequences: &Named| {
            let store = store(sequences);
            let unique = unique(sequences, Strands::Both);
            let job = Clusters {
                strand: Strands::Both,
                method,
                ..Clusters::new(Arc::clone(&unique), Arc::new(Scoring::dna()), 0.9)
            };
            let (sets, _) = job.run(&runs()[0]).expect("the job ends well");
            let names =
                |one: u32| unique.records(one).iter().map(|record| store.name(record.record).to_owned()).collect();
            let clusters = sets[0].clusters.iter().map(|cluster| {
                let members = cluster.members.iter().map(|member| member.sequence);
                std::iter::once(cluster.centroid).chain(members).map(names).collect::<Vec<Vec<String>>>()
            });
            clusters.collect::<Vec<_>>()
        };
        let expected = described(&sequences);
        for _ in 0..3 {
            for index in (1..sequences.len()).rev() {
                let other = rng.below(index + 1);
                sequences.swap(index, other);
            }
            assert_eq!(described(&sequences), expected, "{method:?}");
        }
    }
}

#[test]
fn pairs_beyond_the_memory_are_refused() {
    let mut rng = rng(0xc5);
    let unique = unique(&families(&mut rng, 60), Strands::Plus);
    let scoring = Arc::new(Scoring::dna());
    for (method, is_refused) in METHODS.into_iter().zip([true, false, true, true]) {
        let job =
            Clusters { method, pair_memory: 200, ..Clusters::new(Arc::clone(&unique), Arc::clone(&scoring), 0.85) };
        let result = job.run(&runs()[0]).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(
            result.as_ref().is_err_and(|error| error.starts_with("pair_memory: more than ")),
            is_refused,
            "{result:?}"
        );
    }
}
