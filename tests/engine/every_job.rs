//! Small jobs of every kind. Their rows must not depend on the device.

use std::sync::Arc;

use pairwave::cluster::UniqueSet;
use pairwave::gpu::adapter::Device;
use pairwave::jobs::blocks::Divisible;
use pairwave::jobs::msa::{DistanceRows, MsaMode, MultiAlign, SequenceTree};
use pairwave::jobs::{
    AllPairs, Clusters, EditDistances, EditFilter, Job, LongAlignment, PairList, PairSource, PhyloAlignment,
    ReadSource, Run, Search, Summary,
};
use pairwave::score::{EditMode, EditScheme, EndGaps, Equality, Gaps, Limit, Mode, Scoring};
use pairwave::seq::{Alphabet, AlphabetChoice, SequenceStore, Strands, Subjects};
use pairwave::{Against, Reference};
use support::blocks::check_blocks;
use support::*;

/// Values with names.
pub(crate) type Named<T> = Vec<(&'static str, T)>;

/// Runs a job. Returns its rows as text, and the names of the engines that computed it.
pub(crate) type AnyJob = Box<dyn Fn(&Run) -> (String, Vec<String>)>;

/// Computes a job in blocks, in two sessions. Fails unless the rows equal those of the whole job on
/// the CPU.
pub(crate) type AnyBlocks = Box<dyn Fn(&Run)>;

fn any_blocks<J>(job: J, cells: u64) -> AnyBlocks
where
    J: Divisible<Row: Clone + std::fmt::Debug + PartialEq> + 'static,
{
    Box::new(move |run| {
        let mut expected = Vec::new();
        let whole = job.run(&run_with(Device::Cpu), |some| {
            expected.extend_from_slice(some);
            Ok(())
        });
        whole.expect("the CPU computes it");
        let session = || job.session(run).expect("the session goes on without the device");
        let blocks = check_blocks(&job, &expected, cells, run, &mut rng(9), session);
        assert!(blocks.len() > 2, "{} blocks", blocks.len());
    })
}

/// Returns options with one device.
pub(crate) fn run_with(device: Device) -> Run {
    Run { devices: vec![device], ..two_threads() }
}

/// Runs a whole job.
fn any_job<J: Job<Row: Clone + std::fmt::Debug> + 'static>(job: J, engines: fn(&J::Summary) -> Vec<String>) -> AnyJob {
    Box::new(move |run| {
        let mut rows = Vec::new();
        let summary = job.run(run, |some| {
            rows.extend_from_slice(some);
            Ok(())
        });
        let summary = summary.unwrap_or_else(|error| panic!("{error}"));
        (format!("{rows:?}"), engines(&summary))
    })
}

/// Returns the names of the engines of a job.
pub(crate) fn names<D>(summary: &Summary<D>) -> Vec<String> {
    summary.engines.iter().map(|engine| engine.name.clone()).collect()
}

/// Sequences of the jobs.
struct Inputs {
    genes: Arc<SequenceStore>,
    proteins: Arc<SequenceStore>,
}

impl Inputs {
    fn new() -> Self {
        let store = |alphabet, seed, count: usize| {
            let lengths: Vec<usize> = (0..count).map(|index| 30 + (index * 7) % 40).collect();
            mixed_store(&mut rng(seed), alphabet, &lengths)
        };
        Inputs { genes: store(Alphabet::Dna, 1, 24), proteins: store(Alphabet::Protein, 2, 12) }
    }

    /// Returns all pairs of the genes.
    fn pairs(&self, scoring: Scoring) -> AllPairs {
        AllPairs::new(Arc::clone(&self.genes), Arc::new(scoring))
    }

    /// Returns all pairs of similar genes, filtered by edit distances.
    fn filtered(&self) -> AllPairs {
        AllPairs { min_identity: Some(0.8), edit_filter: EditFilter::On, ..self.pairs(Scoring::dna()) }
    }

    /// Returns the pairs of each gene with another one.
    fn listed(&self) -> PairList {
        let listed: Vec<(u32, u32)> = (0..24).map(|one| (one, 23 - one)).collect();
        let [queries, targets] = [0; 2].map(|_| Arc::clone(&self.genes));
        PairList::new(PairSource::Listed { queries, targets, pairs: listed.into() }, Arc::new(Scoring::dna()))
    }

    fn search(&self) -> Search {
        let subjects = Arc::new(Subjects::from_store((*self.proteins).clone()));
        Search::new(Arc::clone(&self.proteins), subjects, Arc::new(local_proteins()))
    }

    /// Returns edit distances of all pairs.
    fn distances(&self, mode: EditMode) -> EditDistances {
        let scheme = EditScheme { mode, equality: Equality::literal(Alphabet::Dna), limit: Limit::Distance(20) };
        EditDistances::new(Arc::clone(&self.genes), Against::Later, Arc::new(scheme))
    }

    fn long(&self, mode: Mode) -> LongAlignment {
        let scoring = Arc::new(Scoring { mode, ..Scoring::dna() });
        LongAlignment::new(Arc::clone(&self.genes), 0, Arc::clone(&self.genes), 1, scoring)
    }

    fn clusters(&self) -> Clusters {
        let unique = UniqueSet::new(&self.genes, &vec![1; self.genes.len()], false);
        Clusters { check: true, with_alignments: true, ..Clusters::new(unique.into(), Scoring::dna().into(), 0.8) }
    }

    fn msa(&self, mode: MsaMode) -> AnyJob {
        let job = MultiAlign { mode, ..MultiAlign::new(Arc::clone(&self.proteins)) };
        any_job(job, |summary| names(&summary.distances))
    }

    fn tree(&self) -> SequenceTree {
        SequenceTree::new(Arc::clone(&self.proteins))
    }
}

fn local_proteins() -> Scoring {
    Scoring { mode: Mode::Local, ..Scoring::protein() }
}

/// Returns the placement of reads on a small tree.
fn placed() -> PhyloAlignment {
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/papara/tiny");
    let reference = |file: &str| format!("{tiny}/{file}");
    let reference = Reference::read(reference("ref.nwk"), reference("ref.fasta"), AlphabetChoice::Detect)
        .expect("the reference is readable");
    PhyloAlignment::new(reference.into(), ReadSource::File(format!("{tiny}/reads.fasta").into()))
}

/// Returns small jobs of every kind that engines compute.
pub(crate) fn every_job() -> Named<AnyJob> {
    let inputs = Inputs::new();
    let pairs = inputs.pairs(Scoring::dna());
    let affine = Scoring { gaps: Gaps::from_blast(8, 2), end_gaps: EndGaps::Charged, ..Scoring::dna() };
    let overlap = Scoring { end_gaps: EndGaps::Free, ..affine.clone() };
    let local = AllPairs::new(Arc::clone(&inputs.proteins), Arc::new(local_proteins()));
    let clusters = inputs.clusters();
    let clustal = MsaMode::Clustal(pairwave::profile::ProfileOptions::new(Alphabet::Protein));
    vec![
        ("scores", any_job(AllPairs { score_only: true, ..pairs.clone() }, names)),
        ("alignments", any_job(pairs.clone(), names)),
        ("affine gaps", any_job(inputs.pairs(affine), names)),
        ("free end gaps", any_job(inputs.pairs(overlap), names)),
        ("both strands", any_job(AllPairs { strand: Strands::Both, ..pairs.clone() }, names)),
        ("identities", any_job(AllPairs { min_identity: Some(0.8), ..pairs }, names)),
        ("filtered", any_job(inputs.filtered(), names)),
        ("local", any_job(local, names)),
        ("pairs", any_job(inputs.listed(), names)),
        ("edit", any_job(inputs.distances(EditMode::Infix), names)),
        ("whole texts", any_job(inputs.distances(EditMode::Global), names)),
        ("prefixes", any_job(inputs.distances(EditMode::Prefix), names)),
        ("search", any_job(inputs.search(), names)),
        ("long", any_job(inputs.long(Mode::Global), |_| Vec::new())),
        ("long, local", any_job(inputs.long(Mode::Local), |_| Vec::new())),
        ("papara", any_job(placed(), names)),
        (
            "cluster",
            Box::new(move |run| {
                let (sets, summary) = clusters.run(run).unwrap_or_else(|error| panic!("{error}"));
                (format!("{sets:?}"), names(&summary))
            }),
        ),
        ("msa", inputs.msa(MultiAlign::new(Arc::clone(&inputs.proteins)).mode)),
        ("clustalw", inputs.msa(clustal)),
        ("tree", any_job(inputs.tree(), |summary| names(&summary.distances))),
    ]
}

/// Returns small jobs that can be divided, computed in blocks.
pub(crate) fn every_job_in_blocks() -> Named<AnyBlocks> {
    let inputs = Inputs::new();
    let distances = DistanceRows::new(inputs.tree().pair_distances().expect("its tree is made of distances"));
    vec![
        ("alignments", any_blocks(inputs.pairs(Scoring::dna()), 100_000)),
        ("filtered", any_blocks(inputs.filtered(), 100_000)),
        ("pairs", any_blocks(inputs.listed(), 10_000)),
        ("edit", any_blocks(inputs.distances(EditMode::Infix), 100_000)),
        ("search", any_blocks(inputs.search(), 30_000)),
        ("papara", any_blocks(placed(), 1_000)),
        ("tree", any_blocks(distances, 30_000)),
    ]
}
