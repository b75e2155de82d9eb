//! `pairwave msa`: what is valid, and the job.

use super::args::*;
use super::blocks::{BlockCommand, RowSink};
use super::common::{Compute, check_others, check_stats, compute, is_standard, output, warn_of_names};
use super::endings;
use super::progress::gcups;
use super::runner::{Files, JobCommand, Runner};
use super::scoring::is_built_in;
use super::tips::share_of_percent;
use indicatif::HumanCount;
use pairwave::clustal::ClustalCosts;
use pairwave::clustal::costs::PairGaps;
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::msa::{Aligned, DistanceRows, MsaMode, MsaSummary, MultiAlign, PairDistance, TreeMethod};
use pairwave::jobs::{Job, Run, Summary};
use pairwave::output::msa::{DistanceFormat, MsaFormat, Rows, write, write_distances, write_report};
use pairwave::output::{MatrixShape, Output};
use pairwave::profile::Series;
use pairwave::score::SubstitutionMatrix;
use pairwave::score::clustal::Matrix;
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, NameRules, ReadOptions, Renamed, SequenceStore, Written, read_text};
use pairwave::tree::newick::NameStyle;
use pairwave::tree::{Distances, GuideTree};
use pairwave::{Error, Result};
use pairwave::{posterior, profile};
use serde::Serialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is read.
#[derive(Debug)]
pub(super) struct Source {
    /// `-` is standard input.
    pub(super) path: PathBuf,
    pub(super) options: ReadOptions,
}

impl From<SequencesArgs> for Source {
    fn from(args: SequencesArgs) -> Self {
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        Source { path: args.seqs, options: ReadOptions { alphabet, degap: args.degap } }
    }
}

impl Source {
    pub(super) fn read(&self) -> Result<Sequences> {
        let written = Written::read(&self.path, &self.options)?;
        if written.store.alphabet() == Alphabet::Bytes {
            return Err(Error::usage("--alphabet bytes: only nucleotides and proteins are aligned with each other"));
        }
        Ok(Sequences { store: Arc::new(written.store.clone()), written })
    }
}

/// What was read.
pub(super) struct Sequences {
    pub(super) store: Arc<SequenceStore>,
    written: Written,
}

impl Sequences {
    /// Without what ClustalW passes over when it reads.
    pub(super) fn of_clustal_letters(self) -> Sequences {
        if self.store.alphabet() != Alphabet::Protein {
            return self;
        }
        let (written, left_out) = self.written.without(|letter| matches!(letter, b'J' | b'j' | b'*'));
        if left_out == 0 {
            return self;
        }
        tracing::warn!("{left_out} letters J and * are left out, as ClustalW does");
        Sequences { store: Arc::new(written.store.clone()), written }
    }

    pub(super) fn names(&self) -> Vec<&[u8]> {
        (0..self.store.len() as u32).map(|id| self.store.name_bytes(id)).collect()
    }

    /// As they were read; ClustalW writes capitals.
    fn letters(&self, as_clustal: bool) -> Vec<Cow<'_, [u8]>> {
        let written = |id| Cow::Borrowed(self.written.letters(id));
        let capitals = |id| Cow::Owned(self.written.letters(id).to_ascii_uppercase());
        let ids = 0..self.store.len() as u32;
        if as_clustal { ids.map(capitals).collect() } else { ids.map(written).collect() }
    }
}

impl From<PairDistanceName> for PairDistance {
    fn from(name: PairDistanceName) -> Self {
        match name {
            PairDistanceName::Clustal => PairDistance::Clustal,
            PairDistanceName::Identity => PairDistance::Identity,
            PairDistanceName::Edit => PairDistance::Edit,
            PairDistanceName::Kmer => PairDistance::Kmer,
        }
    }
}

impl From<TreeMethodName> for TreeMethod {
    fn from(name: TreeMethodName) -> Self {
        match name {
            TreeMethodName::Nj => TreeMethod::NeighbourJoining,
            TreeMethodName::Upgma => TreeMethod::Upgma,
            TreeMethodName::Mbed => TreeMethod::Mbed,
        }
    }
}

/// A mode, and what was given of its numbers.
#[derive(Debug)]
enum ModeChoice {
    Accurate(ProfileScoringArgs),
    Clustal(ProfileScoringArgs),
}

impl ModeChoice {
    /// For letters of this alphabet.
    fn resolve(&self, alphabet: Alphabet) -> Result<MsaMode> {
        let given = match self {
            ModeChoice::Clustal(given) => given,
            ModeChoice::Accurate(given) => {
                let mut options = posterior::Options::default();
                options.rounds = given.consistency.unwrap_or(options.rounds);
                options.refinements = given.refinements.map_or(options.refinements, |most| most as usize);
                return Ok(MsaMode::Accurate(options));
            }
        };
        let others = match alphabet {
            Alphabet::Protein => vec![("--transition-weight", given.transition_weight.is_some(), "nucleotides")],
            _ => vec![
                ("--gap-distance", given.gap_distance.is_some(), "proteins"),
                ("--hydrophilic", given.hydrophilic.is_some(), "proteins"),
                ("--no-residue-gaps", given.no_residue_gaps, "proteins"),
            ],
        };
        if let Some((option, _, letters)) = others.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::usage(format!(
                "{option} is for {letters}, but these are {}: leave it out",
                alphabet.letters()
            )));
        }
        let mut options = profile::Options::new(alphabet);
        if let Some(name) = &given.matrix {
            options.series = series(name, alphabet)?;
        }
        for (option, typed, cost) in [
            ("--gap-open", given.gap_open, &mut options.gap_open),
            ("--gap-extend", given.gap_extend, &mut options.gap_extend),
        ] {
            let Some(typed) = typed else { continue };
            *cost = cost_of(option, typed)?;
        }
        options.transitions = given.transitions()?;
        if let Some(columns) = given.gap_distance {
            options.gap_distance = i32::from(columns);
        }
        if let Some(letters) = &given.hydrophilic {
            options.hydrophilic = hydrophilic(letters)?;
        }
        if let Some(percent) = given.delay {
            options.delay = i32::from(percent);
        }
        options.by_residue = !given.no_residue_gaps;
        options.negative = given.negative;
        options.weighted = !given.no_weights;
        options.iterate = match given.iterate {
            None => profile::Iterate::No,
            Some(IterateName::Tree) => profile::Iterate::Tree,
            Some(IterateName::Alignment) => profile::Iterate::Alignment,
        };
        Ok(MsaMode::Clustal(options))
    }
}

/// A cost that was typed.
fn cost_of(option: &str, typed: f32) -> Result<f32> {
    if (0.0..=1000.0).contains(&typed) {
        Ok(typed)
    } else {
        Err(Error::usage(format!("{option} {typed}: costs are from 0 to 1000")))
    }
}

/// Residues in runs of which gaps cost less.
fn hydrophilic(letters: &str) -> Result<Vec<u8>> {
    let upper = letters.to_ascii_uppercase().into_bytes();
    match upper.iter().find(|letter| !letter.is_ascii_uppercase()) {
        _ if upper == b"NONE" => Ok(Vec::new()),
        None if !upper.is_empty() => Ok(upper),
        _ => Err(Error::usage(format!("--hydrophilic '{letters}': letters of residues are needed, or none"))),
    }
}

impl ProfileScoringArgs {
    /// What transitions score.
    fn transitions(&self) -> Result<f32> {
        match self.transition_weight {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                let advice = match share {
                    1.0..=100.0 => format!("; did you mean {}?", share_of_percent(f64::from(share))),
                    _ => String::new(),
                };
                Err(Error::usage(format!("--transition-weight {share}: a share is from 0 to 1{advice}")))
            }
            share => Ok(share.unwrap_or(0.5)),
        }
    }
}

impl PairScoringArgs {
    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--pair-matrix", self.pair_matrix.is_some()),
            ("--pair-gap-open", self.pair_gap_open.is_some()),
            ("--pair-gap-extend", self.pair_gap_extend.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// The file of a matrix, if it has no built-in one.
    pub(super) fn matrix_file(&mut self) -> Option<&mut PathBuf> {
        self.pair_matrix.as_mut().filter(|name| is_file_of_matrix(name))
    }

    /// Refuses what another kind of distance has no use for.
    pub(super) fn check(&self, distance: Option<PairDistanceName>) -> Result<()> {
        match self.given() {
            Some(option) if distance.is_some_and(|distance| distance != PairDistanceName::Clustal) => {
                Err(Error::usage(format!("{option} is for --distance clustal: the others have numbers of their own")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses options that have no effect on a tree by shared words.
    pub(super) fn check_tree(&self, distances: &DistanceArgs) -> Result<()> {
        match distances.distance.map(|_| "--distance").or_else(|| self.given()) {
            Some(option) if distances.tree == Some(TreeMethodName::Mbed) => Err(Error::usage(format!(
                "{option} with --tree mbed: that tree is made of words that sequences share, leave one of them out"
            ))),
            _ => Ok(()),
        }
    }

    /// What distances of letters of this alphabet are computed with.
    pub(super) fn costs(&self, alphabet: Alphabet, transitions: f32) -> Result<Arc<ClustalCosts>> {
        let mut gaps = PairGaps { transition: transitions, ..PairGaps::of(alphabet) };
        for (option, typed, cost) in [
            ("--pair-gap-open", self.pair_gap_open, &mut gaps.open),
            ("--pair-gap-extend", self.pair_gap_extend, &mut gaps.extend),
        ] {
            if let Some(typed) = typed {
                *cost = cost_of(option, typed)?;
            }
        }
        let default = Path::new(if alphabet == Alphabet::Dna { "iub" } else { "gonnet" });
        let name = self.pair_matrix.as_deref().unwrap_or(default);
        let built_in = match of_series("--pair-matrix", name, alphabet)? {
            Some(Series::Gonnet) => "gonnet250",
            Some(Series::Blosum) => "blosum30",
            Some(Series::Pam) => "pam350",
            Some(Series::Identity) => "id",
            Some(Series::Bases) => "clustalw",
            Some(Series::Iub) => "iub",
            Some(Series::One(_)) | None => "",
        };
        let costs = match Matrix::built_in(built_in) {
            Some(matrix) => ClustalCosts::new(alphabet, matrix, gaps),
            None => ClustalCosts::new(alphabet, &other_matrix("--pair-matrix", name)?, gaps),
        };
        Ok(Arc::new(costs))
    }
}

/// The matrices of a name, or of a file.
fn series(name: &Path, alphabet: Alphabet) -> Result<Series> {
    match of_series("--matrix", name, alphabet)? {
        Some(series) => Ok(series),
        None => other_matrix("--matrix", name).map(Series::One),
    }
}

/// Whether a name is that of no built-in matrix.
fn is_file_of_matrix(name: &Path) -> bool {
    let is_series = |alphabet| !matches!(of_series("", name, alphabet), Ok(None));
    !is_series(Alphabet::Dna) && !is_built_in(name)
}

/// A matrix that is none of ClustalW's: a file, or one by its name.
fn other_matrix(option: &str, name: &Path) -> Result<Matrix> {
    match SubstitutionMatrix::open(name) {
        Ok(matrix) => Ok(Matrix::of(&matrix)),
        Err(Error::Usage(_)) => {
            let name = name.display().to_string();
            let (own, others) = (
                "gonnet, blosum, pam and id for proteins, iub and clustalw for nucleotides",
                SubstitutionMatrix::suggestion(&name),
            );
            Err(Error::usage(format!("{option} {name}: no such file; ClustalW's matrices are {own}, and {others}")))
        }
        Err(error) => Err(error),
    }
}

/// The matrices of a name, if it is one of ClustalW's.
fn of_series(option: &str, name: &Path, alphabet: Alphabet) -> Result<Option<Series>> {
    let lower = name.as_os_str().to_ascii_lowercase();
    let (series, needed) = match lower.to_str().unwrap_or_default() {
        "gonnet" => (Series::Gonnet, Alphabet::Protein),
        "blosum" => (Series::Blosum, Alphabet::Protein),
        "pam" => (Series::Pam, Alphabet::Protein),
        "id" => (Series::Identity, Alphabet::Protein),
        "iub" => (Series::Iub, Alphabet::Dna),
        "clustalw" => (Series::Bases, Alphabet::Dna),
        _ => return Ok(None),
    };
    if needed == alphabet {
        Ok(Some(series))
    } else {
        Err(Error::usage(format!(
            "{option} {}: it is for {}, but these are {}",
            name.display(),
            needed.letters(),
            alphabet.letters()
        )))
    }
}

/// Sequences to align with each other.
#[derive(Debug)]
pub(super) struct MultipleAlign {
    source: Source,
    mode: ModeChoice,
    distance: Option<PairDistance>,
    pairs: PairScoringArgs,
    tree: Option<TreeMethod>,
    guidetree_in: Option<PathBuf>,
    guidetree_out: Option<PathBuf>,
    distmat_out: Option<PathBuf>,
    in_tree_order: bool,
    format: MsaFormat,
    output: Option<PathBuf>,
    report: Option<PathBuf>,
    stats: Option<PathBuf>,
    compute: Compute,
}

impl TryFrom<MsaArgs> for MultipleAlign {
    type Error = Error;

    fn try_from(args: MsaArgs) -> Result<Self> {
        let (compute, stats) = compute(args.compute)?;
        let inputs: Vec<&Path> =
            [Some(&*args.input.seqs), args.guidetree_in.as_deref()].into_iter().flatten().collect();
        if inputs.iter().all(|input| is_standard(input)) && inputs.len() > 1 {
            return Err(Error::usage("standard input can be read once: SEQS and --guidetree-in cannot both be -"));
        }
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        let others = [
            ("--guidetree-out", args.guidetree_out.as_deref()),
            ("--distmat-out", args.distmat_out.as_deref()),
            ("--report", args.report.as_deref()),
        ];
        check_others(&others, &inputs, &[output.as_deref(), stats.as_deref()])?;
        let is_clustal = args.mode == MsaModeName::Clustalw;
        let given = [
            ("--distance", args.distances.distance.is_some()),
            ("--tree", args.distances.tree.is_some()),
            ("--distmat-out", args.distmat_out.is_some()),
            (args.pairs.given().unwrap_or_default(), args.pairs.given().is_some()),
        ];
        args.pairs.check(args.distances.distance)?;
        if args.guidetree_in.is_some()
            && let Some((option, _)) =
                given.iter().find(|(option, given)| *given && (is_clustal || *option != "--distmat-out"))
        {
            return Err(Error::usage(format!("{option} with --guidetree-in: no tree is made, leave one of them out")));
        }
        if !is_clustal
            && args.distances.distance.is_none()
            && let Some(option) = args.pairs.given()
        {
            return Err(Error::usage(format!("{option} with --mode accurate is for --distance clustal: name it too")));
        }
        let distance = args.distances.distance.map(PairDistance::from);
        let tree = args.distances.tree.map(TreeMethod::from);
        args.pairs.check_tree(&args.distances)?;
        if args.distmat_out.is_some() && tree == Some(TreeMethod::Mbed) {
            return Err(Error::usage("--distmat-out with --tree mbed: that tree is made without the whole matrix"));
        }
        let scoring = &args.scoring;
        let of_clustal = [
            ("--matrix", scoring.matrix.is_some()),
            ("--gap-open", scoring.gap_open.is_some()),
            ("--gap-extend", scoring.gap_extend.is_some()),
            ("--transition-weight", scoring.transition_weight.is_some()),
            ("--gap-distance", scoring.gap_distance.is_some()),
            ("--hydrophilic", scoring.hydrophilic.is_some()),
            ("--no-residue-gaps", scoring.no_residue_gaps),
            ("--delay", scoring.delay.is_some()),
            ("--negative", scoring.negative),
            ("--no-weights", scoring.no_weights),
            ("--iterate", scoring.iterate.is_some()),
        ];
        if !is_clustal && let Some((option, _)) = of_clustal.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{option} is for --mode clustalw: the other has numbers of its own")));
        }
        let of_accurate =
            [("--consistency", scoring.consistency.is_some()), ("--refinements", scoring.refinements.is_some())];
        if is_clustal && let Some((option, _)) = of_accurate.iter().find(|(_, given)| *given) {
            return Err(Error::usage(format!("{option} is for --mode accurate: ClustalW has no such thing")));
        }
        let by_ending = || output.as_deref().and_then(endings::format_of);
        let name = args.format.or_else(by_ending).unwrap_or(MsaFormatName::Fasta);
        for (option, path, written) in [
            ("--output", &output, &*endings::typed(name)),
            ("--guidetree-out", &args.guidetree_out, "--guidetree-out"),
            ("--distmat-out", &args.distmat_out, "--distmat-out"),
            ("--report", &args.report, "--report"),
        ] {
            endings::check("msa", option, path.as_deref(), written)?;
        }
        let format = format(name);
        Ok(MultipleAlign {
            source: args.input.into(),
            pairs: args.pairs,
            mode: if is_clustal { ModeChoice::Clustal(args.scoring) } else { ModeChoice::Accurate(args.scoring) },
            distance,
            tree,
            guidetree_in: args.guidetree_in,
            guidetree_out: args.guidetree_out,
            distmat_out: args.distmat_out,
            in_tree_order: args.order == RowOrderName::Tree,
            format,
            output,
            report: args.report,
            stats,
            compute,
        })
    }
}

fn format(name: MsaFormatName) -> MsaFormat {
    match name {
        MsaFormatName::Fasta => MsaFormat::Fasta,
        MsaFormatName::Clustal => MsaFormat::Clustal,
        MsaFormatName::Phylip => MsaFormat::Phylip { is_interleaved: true, is_strict: false },
        MsaFormatName::PhylipStrict => MsaFormat::Phylip { is_interleaved: true, is_strict: true },
        MsaFormatName::Stockholm => MsaFormat::Stockholm,
        MsaFormatName::Msf => MsaFormat::Msf,
        MsaFormatName::Nexus => MsaFormat::Nexus,
    }
}

impl JobCommand for MultipleAlign {
    type Input = (Sequences, Option<GuideTree>);
    type Summary = MsaSummary;
    const FAMILY: Family = Family::Clustal;

    fn family(&self) -> Family {
        match self.mode {
            ModeChoice::Accurate(_) => Family::Posterior,
            ModeChoice::Clustal(_) => Family::Clustal,
        }
    }

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files { output: self.output.as_deref(), stats: self.stats.as_deref(), picture: self.report.as_deref() }
    }

    fn read(&self, run: &Run) -> Result<Self::Input> {
        [&self.guidetree_out, &self.distmat_out].into_iter().flatten().try_for_each(|path| Output::check(path))?;
        let mut sequences = self.source.read()?;
        if matches!(self.mode, ModeChoice::Clustal(_)) {
            sequences = sequences.of_clustal_letters();
        }
        let tree = match &self.guidetree_in {
            Some(path) => Some(self.read_tree(path, &sequences, run)?),
            None => None,
        };
        Ok((sequences, tree))
    }

    fn run(&self, input: Self::Input, runner: Runner, output: Output) -> Result<MsaSummary> {
        self.align(input, None, runner, output)
    }

    fn stats(summary: &MsaSummary) -> impl Serialize {
        summary.clone()
    }

    fn lines(&self, summary: &MsaSummary) -> Vec<String> {
        let MsaSummary { sequences, columns, distances, tree_seconds, alignment_seconds, seconds } = summary;
        let mut line = format!(
            "{} sequences in {} columns in {seconds:.3} s:",
            HumanCount(*sequences as u64),
            HumanCount(*columns as u64)
        );
        if distances.pairs > 0 {
            let speed = gcups(distances.cells as f64 / distances.seconds.max(1e-6));
            line += &format!(" distances {:.3} s ({speed}),", distances.seconds);
        }
        line += &format!(" guide tree {tree_seconds:.3} s, alignment {alignment_seconds:.3} s");
        vec![line]
    }
}

impl MultipleAlign {
    /// Aligns what was read, and writes it. Distances that are given are not computed.
    fn align(
        &self,
        (sequences, tree): (Sequences, Option<GuideTree>),
        given: Option<Arc<Distances>>,
        mut runner: Runner,
        output: Output,
    ) -> Result<MsaSummary> {
        let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
        let (tree_out, distmat_out) = (create(&self.guidetree_out)?, create(&self.distmat_out)?);
        let alphabet = sequences.store.alphabet();
        let job = MultiAlign { given, ..self.job_of(&sequences, tree)? };
        let mut result = None;
        runner.show_progress(job.cells());
        let summary = job.run(&runner.run, |rows| {
            result = rows.first().cloned();
            Ok(())
        })?;
        let Aligned { alignment, guide, order } =
            result.ok_or_else(|| Error::Internal("a job without a result".into()))?;
        let letters = sequences.letters(matches!(self.mode, ModeChoice::Clustal(_)));
        let letters: Vec<&[u8]> = letters.iter().map(|letters| &**letters).collect();
        let input_order: Vec<u32> = (0..sequences.store.len() as u32).collect();
        let order = if self.in_tree_order { order } else { input_order.clone() };
        let (names, renamed) = self.written_names(&sequences);
        warn_of_names(self.output.as_deref(), &renamed);
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let rows = Rows { alignment: &alignment, names: &names, letters: &letters, order: &order, alphabet };
        if let Some(mut file) = tree_out {
            self.warn_of_bare_names(&names);
            file.buffer().extend_from_slice(&guide.newick(self.name_style(), &names));
            file.finish()?;
        }
        if let (Some(file), Some(distances)) = (distmat_out, &guide.distances) {
            let format = DistanceFormat::Phylip(MatrixShape::Square);
            warn_of_names(
                self.distmat_out.as_deref(),
                &write_distances(format, distances, &names, &input_order, file)?,
            );
        }
        if let Some(file) = runner.picture.take() {
            let title = self.title();
            write_report(&rows, Some(&guide.tree), &title, file)?;
        }
        // The alignment last: who waits for it finds the others.
        warn_of_names(self.output.as_deref(), &write(self.format, &rows, output)?);
        Ok(summary)
    }

    /// Returns the names in the alignment and the tree, in the order of the sequences, and the renamed sequences.
    fn written_names(&self, sequences: &Sequences) -> (Vec<Vec<u8>>, Vec<Renamed>) {
        let names = sequences.names();
        let rules = self.format.name_rules();
        if matches!(self.mode, ModeChoice::Accurate(_)) {
            return rules.apply_to_all(&names);
        }
        let (read, mut renamed) = NameRules::CLUSTALW.apply_to_all(&names);
        let (written, others) = rules.apply_to_all(&read.iter().map(Vec::as_slice).collect::<Vec<_>>());
        renamed.extend(others);
        (written, renamed)
    }

    /// Reads a guide tree. Its leaves have the names of the sequences, as given or as any format writes them.
    fn read_tree(&self, path: &Path, sequences: &Sequences, run: &Run) -> Result<GuideTree> {
        let text = read_text(path)?;
        let path = path.display().to_string();
        let pool = thread_pool(run.threads)?;
        let names = sequences.names();
        let read = |rules: &NameRules| GuideTree::read(&path, &text, &rules.apply_to_all(&names).0, &pool);
        read(&NameRules::NEWICK).or_else(|error| {
            GuideTree::read(&path, &text, &self.written_names(sequences).0, &pool)
                .or_else(|_| NameRules::OF_TREES.iter().find_map(|rules| read(rules).ok()).ok_or(error))
        })
    }

    /// Warns of names that ClustalW's trees hold bare, though other programs read quotes and comments there.
    fn warn_of_bare_names(&self, names: &[&[u8]]) {
        let is_special = |name: &&&[u8]| name.iter().any(|byte| b"'\"[]".contains(byte));
        if self.name_style() == NameStyle::Bare
            && let (Some(first), Some(file)) = (names.iter().find(is_special), &self.guidetree_out)
        {
            let (name, count) = (String::from_utf8_lossy(first), names.iter().filter(is_special).count());
            tracing::warn!(
                "{}: quotes and brackets in names stand as ClustalW writes them, and other programs may read other names: '{name}'{}",
                file.display(),
                if count > 1 { format!(" and {} more", count - 1) } else { String::new() }
            );
        }
    }

    /// How names stand in the guide tree's file.
    fn name_style(&self) -> NameStyle {
        match self.mode {
            ModeChoice::Accurate(_) => NameStyle::Quoted,
            ModeChoice::Clustal(_) => NameStyle::Bare,
        }
    }

    fn job_of(&self, sequences: &Sequences, tree: Option<GuideTree>) -> Result<MultiAlign> {
        let alphabet = sequences.store.alphabet();
        Ok(MultiAlign {
            mode: self.mode.resolve(alphabet)?,
            distance: self.distance,
            costs: self.costs(alphabet)?,
            tree: self.tree,
            guide_tree: tree,
            needs_distances: self.distmat_out.is_some(),
            check: self.compute.check,
            ..MultiAlign::new(Arc::clone(&sequences.store))
        })
    }

    /// What ClustalW's distances are computed with.
    fn costs(&self, alphabet: Alphabet) -> Result<Option<Arc<ClustalCosts>>> {
        match &self.mode {
            ModeChoice::Clustal(scoring) => self.pairs.costs(alphabet, scoring.transitions()?).map(Some),
            ModeChoice::Accurate(_) => self.pairs.costs(alphabet, 0.5).map(Some),
        }
    }

    /// The title of the page.
    fn title(&self) -> String {
        let path = &self.source.path;
        path.file_name().unwrap_or(path.as_os_str()).display().to_string()
    }
}

impl BlockCommand for MultipleAlign {
    type Job = DistanceRows;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        let (ModeChoice::Accurate(scoring) | ModeChoice::Clustal(scoring)) = &mut self.mode;
        let matrix = scoring.matrix.as_mut().filter(|name| is_file_of_matrix(name));
        [Some(&mut self.source.path), self.pairs.matrix_file(), matrix].into_iter().flatten().collect()
    }

    fn other_output(&self) -> Option<&'static str> {
        let others = [
            ("--guidetree-out", self.guidetree_out.is_some()),
            ("--distmat-out", self.distmat_out.is_some()),
            ("--report", self.report.is_some()),
        ];
        others.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    fn job(&self, (sequences, tree): &Self::Input) -> Result<DistanceRows> {
        let nothing = |why: &str| Err(Error::usage(format!("{why}: the distances of all pairs are what is cut")));
        if tree.is_some() {
            return nothing("--guidetree-in needs no distances");
        }
        match self.job_of(sequences, None)?.pair_distances() {
            Some(job) => Ok(DistanceRows::new(job)),
            None if self.tree == Some(TreeMethod::Mbed) => nothing("--tree mbed needs few distances"),
            None => nothing("--mode accurate needs no distances unless --distance or --tree asks for them"),
        }
    }

    fn deliver(
        &self,
        input: Self::Input,
        mut runner: Runner,
        output: Output,
        source: impl FnOnce(&DistanceRows, &mut Runner, RowSink<'_, DistanceRows>) -> Result<Summary>,
    ) -> Result<MsaSummary> {
        let job = self.job(&input)?;
        let mut gathered = job.gather()?;
        source(&job, &mut runner, &mut Whole(|rows: &[_]| gathered.add(rows)))?;
        self.align(input, Some(Arc::new(gathered.finish()?)), runner, output)
    }
}
