//! The kernel list: one row per kernel, and beside it each kernel's host half.
//!
//! A kernel is a shader in `shaders/`, a host half in the `kernels` of a room, and a row in [`KERNELS`]; the same stem names all of them, its
//! bench, its tests and the value of `--kernel`. From the rows follow bind groups and their layouts, the names that the
//! command line takes, the self-test, the measurements and the keys of what was measured.

pub mod binding;

use std::hash::{Hash, Hasher};

pub use self::binding::{Access, Binding};
use super::source::{self, Constants, Supplied};
use crate::error::Result;

/// What a kernel is for: the jobs that dispatch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Many pairs: scores and alignments of whole sequences.
    Pairs,
    /// Many pairs: scores of local alignments.
    Local,
    /// Levenshtein distances.
    Edit,
    /// One long pair.
    Long,
    /// Reads against ancestral states.
    Phylo,
    /// ClustalW's pairwise stage.
    Clustal,
    /// Probabilities of pairs of residues.
    Posterior,
    /// Profiles against profiles.
    Profile,
}

/// How a kernel goes over the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scan {
    /// `nw_rows`.
    Rows,
    /// `nw_diagonal`.
    Diagonal,
    /// `nw_diagonal_subgroup`.
    DiagonalSubgroup,
    /// `nw_tiled_diagonal`.
    TiledDiagonal,
    /// `nw_checkpoint`.
    Checkpoint,
}

/// How the lanes of a pair exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneGrouping {
    /// Not at all: one invocation a pair.
    Thread,
    /// By shuffles in a subgroup.
    Subgroup,
    /// Through workgroup memory.
    Workgroup,
    /// Not at all: one invocation a pair, which computes a band of diagonals; workgroups share a pattern.
    Band,
}

/// What scores are held in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScoreType {
    /// 32 bits.
    I32,
    /// Half floats, two in a register.
    F16,
}

/// Which step of tracing a long pair back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TracebackStage {
    /// Start states of blocks.
    Starts,
    /// The parts of the path.
    Chase,
    /// Their columns.
    Trace,
}

/// A step of ClustalW's pairwise stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClustalStage {
    /// Where the best local alignment ends and begins.
    Ends,
    /// The identities in the rectangle between the two: how a pair is divided.
    ForwardReverse(LaneGrouping),
}

/// Sums over alignments: of those up to a cell, or of those from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PosteriorPass {
    /// From the first cell to the last.
    Forward,
    /// Back.
    Backward,
}

/// A step of dividing the matrix of two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileStage {
    /// Scores up to the middle row.
    Tile,
    /// Where the best alignment crosses it.
    Cross,
}

/// What a lane computes together in local scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// One pair, in words.
    One,
    /// Two queries against a target, in halves.
    Queries,
    /// A query against two targets, in halves.
    Targets,
}

/// Which kernel it is, as its host half knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// One that keeps scores only, by `nw_slice`: what it holds them in.
    Slice(ScoreType),
    /// One that can store directions, by `matrix`: how it goes over the matrix.
    Scan(Scan),
    /// `nw_walk`, by `matrix`: the walk back over what a scan leaves.
    PairTraceback,
    /// One for local scores, by `sw_tile`: how the lanes of a pair exchange, and what is computed together.
    Tile(LaneGrouping, Packing),
    /// One for distances, by `myers`: how it divides a pair.
    Edit(LaneGrouping),
    /// `sw_striped_score`, by `striped`.
    Strips,
    /// One that traces a long pair back, by `striped_trace`: which step it is.
    LongTraceback(TracebackStage),
    /// One for reads and ancestral states, by `block`: what it holds scores in.
    Block(ScoreType),
    /// One for ClustalW's pairwise stage, by `program`: which step it is.
    Clustal(ClustalStage),
    /// One for probabilities of pairs of residues, by `program`: which sweep it is.
    Posterior(PosteriorPass),
    /// One for profiles against profiles, by `program`: which step it is.
    Profile(ProfileStage),
}

/// What is known of a kernel without a device.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The stem of its names.
    pub stem: &'static str,
    /// The shader's text, without what it imports.
    pub shader: &'static str,
    /// Which one it is.
    pub kind: KernelKind,
    /// Its buffers.
    pub bindings: &'static [Binding],
    /// Features without which it does not run.
    pub features: wgpu::Features,
    /// The recurrence that it computes, by the name of its oracle.
    pub recurrence: &'static str,
    /// What it is.
    pub summary: &'static str,
}

impl Kernel {
    /// What it is for.
    pub const fn family(&self) -> Family {
        match self.kind {
            KernelKind::Slice(_) | KernelKind::Scan(_) | KernelKind::PairTraceback => Family::Pairs,
            KernelKind::Tile(..) => Family::Local,
            KernelKind::Edit(_) => Family::Edit,
            KernelKind::Strips | KernelKind::LongTraceback(_) => Family::Long,
            KernelKind::Block(_) => Family::Phylo,
            KernelKind::Clustal(_) => Family::Clustal,
            KernelKind::Posterior(_) => Family::Posterior,
            KernelKind::Profile(_) => Family::Profile,
        }
    }

    /// Returns whether engines choose the kernel unasked. `nw_rows` runs only by its name: by the table of costs it was the
    /// cheapest in 2 of 111 cases, by 2%.
    pub fn is_chosen(&self) -> bool {
        self.kind != KernelKind::Scan(Scan::Rows)
    }

    /// Whether it is but a step before or after what another kernel does: work is not handed to it by name.
    pub const fn follows(&self) -> bool {
        let is_first = matches!(
            self.kind,
            KernelKind::Clustal(ClustalStage::Ends) | KernelKind::Posterior(PosteriorPass::Forward)
        );
        is_first
            || matches!(
                self.kind,
                KernelKind::PairTraceback | KernelKind::LongTraceback(_) | KernelKind::Profile(ProfileStage::Cross)
            )
    }

    /// How it goes over the matrix, if it can store directions.
    pub const fn scan(&self) -> Option<Scan> {
        match self.kind {
            KernelKind::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    /// Whether it has scores without matches only.
    pub const fn has_scores_alone(&self) -> bool {
        matches!(self.kind, KernelKind::Slice(ScoreType::F16))
    }

    /// How it divides a pair, if it computes distances.
    pub const fn lane_grouping(&self) -> Option<LaneGrouping> {
        match self.kind {
            KernelKind::Edit(grouping) => Some(grouping),
            _ => None,
        }
    }

    /// A kernel that needs nothing but what every adapter has.
    const fn plain(
        (stem, shader): (&'static str, &'static str),
        kind: KernelKind,
        bindings: &'static [Binding],
        recurrence: &'static str,
        summary: &'static str,
    ) -> Self {
        Kernel { stem, shader, kind, bindings, features: wgpu::Features::empty(), recurrence, summary }
    }

    /// The same with shuffles.
    const fn with_subgroups(self) -> Self {
        Kernel { features: self.features.union(wgpu::Features::SUBGROUP), ..self }
    }

    /// The same with half floats.
    const fn with_halves(self) -> Self {
        Kernel { features: self.features.union(wgpu::Features::SHADER_F16), ..self }
    }
}

/// A kernel with its constants: what a pipeline is made for.
pub trait KernelProgram {
    /// The kernel.
    fn kernel(&self) -> &'static Kernel;

    /// The constants that its shader and the parts of that ask for.
    fn constants(&self) -> Constants;

    /// Parts that depend on the variant.
    fn supplied(&self) -> Supplied {
        Vec::new()
    }

    /// The whole shader.
    ///
    /// # Errors
    /// [`crate::Error::Internal`] if it imports what there is not.
    fn source(&self) -> Result<String> {
        let kernel = self.kernel();
        let text = source::resolve(kernel.stem, kernel.shader, &self.constants(), &self.supplied())?;
        // What the language has only on request is to be asked for before all else.
        let has_halves = kernel.features.contains(wgpu::Features::SHADER_F16);
        Ok(if has_halves { format!("enable f16;\n{text}") } else { text })
    }

    /// Values of the shader's overrides.
    fn overrides(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Arenas that it binds, if it binds any.
    fn arenas(&self) -> u32 {
        1
    }
}

/// A kernel's stem and its shader's text.
macro_rules! shader {
    ($stem:literal) => {
        ($stem, include_str!(concat!("../../shaders/", $stem, ".wgsl")))
    };
}

/// All kernels.
pub static KERNELS: &[Kernel] = &[
    Kernel::plain(
        shader!("nw_slice"),
        KernelKind::Slice(ScoreType::I32),
        binding::SLICE,
        "needleman_wunsch",
        "scores, one pair per invocation, slices of columns in registers (LazyRScan-mNW, Truong et al. 2014)",
    ),
    Kernel::plain(
        shader!("nw_slice_half"),
        KernelKind::Slice(ScoreType::F16),
        binding::SLICE,
        "needleman_wunsch",
        "nw_slice in packed half floats, two queries against a target at a time, for scores alone",
    )
    .with_halves(),
    Kernel::plain(
        shader!("nw_rows"),
        KernelKind::Scan(Scan::Rows),
        binding::SCAN,
        "needleman_wunsch",
        "alignments, one pair per invocation, rows in slices (RScan-mNW, Truong et al. 2014)",
    ),
    Kernel::plain(
        shader!("nw_diagonal"),
        KernelKind::Scan(Scan::Diagonal),
        binding::SCAN,
        "needleman_wunsch",
        "alignments, one pair per workgroup, diagonals in one dispatch (DScan-mNW, Truong et al. 2014)",
    ),
    Kernel::plain(
        shader!("nw_diagonal_subgroup"),
        KernelKind::Scan(Scan::DiagonalSubgroup),
        binding::SCAN,
        "needleman_wunsch",
        "nw_diagonal with one pair per subgroup and shuffles instead of workgroup memory",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("nw_tiled_diagonal"),
        KernelKind::Scan(Scan::TiledDiagonal),
        binding::SCAN,
        "needleman_wunsch",
        "alignments, one tile per workgroup, a dispatch a diagonal of tiles (TiledDScan-mNW, Truong et al. 2014)",
    ),
    Kernel::plain(
        shader!("nw_checkpoint"),
        KernelKind::Scan(Scan::Checkpoint),
        binding::WALK,
        "needleman_wunsch",
        "alignments, one pair over some lanes of a subgroup, blocks along the path done again (Grice et al. 1997)",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("nw_walk"),
        KernelKind::PairTraceback,
        binding::WALK,
        "needleman_wunsch",
        "values and runs of alignments, from the borders and directions that the others leave",
    ),
    Kernel::plain(
        shader!("sw_tile"),
        KernelKind::Tile(LaneGrouping::Subgroup, Packing::One),
        binding::TILE,
        "smith_waterman",
        "local scores, one pair over some lanes of a subgroup, columns in registers, shuffles",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("sw_tile_half"),
        KernelKind::Tile(LaneGrouping::Subgroup, Packing::Queries),
        binding::TILE,
        "smith_waterman",
        "sw_tile in packed half floats, two queries against a target at a time, for scores below 2048",
    )
    .with_subgroups()
    .with_halves(),
    Kernel::plain(
        shader!("sw_tile_half_targets"),
        KernelKind::Tile(LaneGrouping::Subgroup, Packing::Targets),
        binding::TILE,
        "smith_waterman",
        "sw_tile in packed half floats, a query against two targets at a time, for scores below 2048",
    )
    .with_subgroups()
    .with_halves(),
    Kernel::plain(
        shader!("sw_tile_workgroup"),
        KernelKind::Tile(LaneGrouping::Workgroup, Packing::One),
        binding::TILE,
        "smith_waterman",
        "sw_tile without subgroup operations, through workgroup memory",
    ),
    Kernel::plain(
        shader!("myers_thread"),
        KernelKind::Edit(LaneGrouping::Thread),
        binding::MYERS,
        "levenshtein",
        "edit distances, one pair per invocation, bit-vectors in registers (Myers 1999)",
    ),
    Kernel::plain(
        shader!("myers_subgroup"),
        KernelKind::Edit(LaneGrouping::Subgroup),
        binding::MYERS,
        "levenshtein",
        "edit distances, pairs over the lanes of a subgroup, shuffles (Chacon et al. 2014)",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("myers_workgroup"),
        KernelKind::Edit(LaneGrouping::Workgroup),
        binding::MYERS,
        "levenshtein",
        "myers_subgroup without subgroup operations, through workgroup memory",
    ),
    Kernel::plain(
        shader!("myers_band"),
        KernelKind::Edit(LaneGrouping::Band),
        binding::MYERS,
        "levenshtein",
        "global edit distances within a limit, one pair per invocation, a band of diagonals (Hyyro 2003)",
    ),
    Kernel::plain(
        shader!("sw_striped_score"),
        KernelKind::Strips,
        binding::STRIPS,
        "long",
        "scores of one long pair, a strip of columns per workgroup (StripedScore; Li, Ranka and Sahni)",
    ),
    Kernel::plain(
        shader!("sw_striped_starts"),
        KernelKind::LongTraceback(TracebackStage::Starts),
        binding::STARTS,
        "smith_waterman",
        "start states of the paths through blocks of a long pair (Li, Ranka and Sahni, phase 2)",
    ),
    Kernel::plain(
        shader!("sw_striped_chase"),
        KernelKind::LongTraceback(TracebackStage::Chase),
        binding::CHASE,
        "smith_waterman",
        "the parts of a long pair's path, from start state to start state (Li, Ranka and Sahni, phase 2)",
    ),
    Kernel::plain(
        shader!("sw_striped_trace"),
        KernelKind::LongTraceback(TracebackStage::Trace),
        binding::COLUMNS,
        "smith_waterman",
        "the columns of a long pair's path, all parts at once (Li, Ranka and Sahni, phase 3)",
    ),
    Kernel::plain(
        shader!("papara_block"),
        KernelKind::Block(ScoreType::I32),
        binding::BLOCK,
        "phylo",
        "scores of reads against blocks of ancestral states (PaPaRa; Alachiotis, Berger and Stamatakis 2013)",
    ),
    Kernel::plain(
        shader!("papara_block_half"),
        KernelKind::Block(ScoreType::F16),
        binding::BLOCK,
        "phylo",
        "papara_block in packed half floats, for reads of some hundred symbols",
    )
    .with_halves(),
    Kernel::plain(
        shader!("sw_ends"),
        KernelKind::Clustal(ClustalStage::Ends),
        binding::ENDS,
        "clustal",
        "ends and starts of best local alignments, one pair per invocation (ClustalW's forward and reverse passes)",
    ),
    Kernel::plain(
        shader!("nw_forward_reverse"),
        KernelKind::Clustal(ClustalStage::ForwardReverse(LaneGrouping::Workgroup)),
        binding::FORWARD_REVERSE,
        "clustal",
        "identities of a pair, one per workgroup, by dividing from both ends (CUDA ClustalW, Hung et al. 2015)",
    ),
    Kernel::plain(
        shader!("nw_forward_reverse_thread"),
        KernelKind::Clustal(ClustalStage::ForwardReverse(LaneGrouping::Thread)),
        binding::FORWARD_REVERSE,
        "clustal",
        "nw_forward_reverse with one pair per invocation, slices of columns in registers",
    ),
    Kernel::plain(
        shader!("posterior_forward"),
        KernelKind::Posterior(PosteriorPass::Forward),
        binding::POSTERIOR,
        "posterior",
        "sums over all alignments up to each cell, some invocations a pair (Probalign: Roshan and Livesay 2006)",
    ),
    Kernel::plain(
        shader!("posterior_backward"),
        KernelKind::Posterior(PosteriorPass::Backward),
        binding::POSTERIOR,
        "posterior",
        "the same from each cell on, and the probable pairs of residues (Probalign: Roshan and Livesay 2006)",
    ),
    Kernel::plain(
        shader!("profile_tile"),
        KernelKind::Profile(ProfileStage::Tile),
        binding::PROFILE_TILE,
        "profile",
        "scores of two profiles up to the middle row, a tile per workgroup, a dispatch a diagonal of tiles",
    ),
    Kernel::plain(
        shader!("profile_cross"),
        KernelKind::Profile(ProfileStage::Cross),
        binding::PROFILE_CROSS,
        "profile",
        "where the best alignment of two profiles crosses the middle row (Myers and Miller 1988)",
    ),
];

/// The kernel with this stem.
pub fn find(stem: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.stem == stem)
}

/// The kernel of this kind.
pub fn of_kind(kind: KernelKind) -> &'static Kernel {
    KERNELS.iter().find(|kernel| kernel.kind == kind).expect("every kind has a kernel")
}

/// The kernels that work of a family is handed to, those that a user can name.
pub fn offered(family: Family) -> impl Iterator<Item = &'static Kernel> + Clone {
    KERNELS.iter().filter(move |kernel| kernel.family() == family && !kernel.follows())
}

/// A number that changes with any text of these programs: for keys of what was measured with them.
pub fn fingerprint(programs: impl IntoIterator<Item = Box<dyn KernelProgram>>) -> u64 {
    let mut hasher = twox_hash::XxHash3_64::new();
    for program in programs {
        // A text with parts that are missing is never compiled.
        program.source().unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
