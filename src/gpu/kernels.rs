//! The kernel list: one row per kernel.
//!
//! A kernel consists of a shader in `shaders/`, host code in the `kernels` submodule of a
//! recurrence module, and a row in [`KERNELS`]. All three share one stem, which also names the
//! kernel's benchmark, its tests and the value of `--kernel`. The rows determine bind groups and
//! their layouts, names on the command line, the self-test, the benchmarks, and the keys of stored
//! measurements.

pub mod binding;

use std::hash::{Hash, Hasher};

pub use self::binding::{Access, Binding};
use super::source::{self, Constants, Supplied};
use crate::error::Result;

/// The jobs that use a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Scores and alignments of whole sequences, for many pairs.
    Pairs,
    /// Local scores, for many pairs.
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

/// Order in which a kernel computes the cells of a matrix.
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

/// How the lanes that share a pair exchange values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneGrouping {
    /// No exchange: one invocation per pair.
    Thread,
    /// Shuffles within a subgroup.
    Subgroup,
    /// Workgroup memory.
    Workgroup,
    /// No exchange: one invocation per pair computes a band of diagonals, and a workgroup shares a
    /// pattern.
    Band,
    /// One invocation per pair, and a workgroup shares a pattern, whose match bits are shuffled
    /// within a subgroup.
    ScanSubgroup,
    /// One invocation per pair, and a workgroup shares a pattern, whose match bits are in workgroup
    /// memory.
    ScanWorkgroup,
}

impl LaneGrouping {
    /// Returns whether every workgroup computes pairs of one pattern only.
    pub const fn shares_pattern(self) -> bool {
        matches!(self, LaneGrouping::Band | LaneGrouping::ScanSubgroup | LaneGrouping::ScanWorkgroup)
    }

    /// Returns whether several lanes can share a pair.
    pub const fn divides_pairs(self) -> bool {
        matches!(self, LaneGrouping::Subgroup | LaneGrouping::Workgroup)
    }
}

/// Number format of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScoreType {
    /// 32-bit integers.
    I32,
    /// Half floats, two in a register.
    F16,
}

/// Stage of the traceback of a long pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TracebackStage {
    /// Computes the start states of blocks.
    Starts,
    /// Computes the parts of the path.
    Chase,
    /// Computes the columns of the parts.
    Trace,
}

/// Stage of ClustalW's pairwise alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClustalStage {
    /// Finds the end and the start of the best local alignment.
    Ends,
    /// Counts the identities in the rectangle between the start and the end. The value states how a
    /// pair is divided among lanes.
    ForwardReverse(LaneGrouping),
}

/// Pass of the forward-backward algorithm, which sums over alignments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PosteriorPass {
    /// Sums over the alignments of the prefixes that end at each cell, from the first cell to the
    /// last.
    Forward,
    /// Sums over the alignments of the suffixes that start at each cell, from the last cell to the
    /// first.
    Backward,
}

/// Stage of the divide-and-conquer alignment of two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileStage {
    /// Computes scores up to the middle row.
    Tile,
    /// Finds where the best alignment crosses the middle row.
    Cross,
}

/// Pairs that one lane of a kernel for local scores computes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packing {
    /// One pair, in i32.
    One,
    /// Two queries against one target, in half floats.
    Queries,
    /// One query against two targets, in half floats.
    Targets,
}

/// Identity of a kernel, on which host code matches. Each description names the module in `kernels`
/// that contains the host code of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// A kernel that keeps scores only (`nw_slice`), with its number format.
    Slice(ScoreType),
    /// A kernel that can store directions (`matrix`), with the order in which it computes the
    /// matrix.
    Scan(Scan),
    /// `nw_traceback` (`matrix`): the traceback over the borders and directions that a scan leaves.
    PairTraceback,
    /// A kernel for local scores (`sw_tile`), with its exchange between lanes and its packing.
    Tile(LaneGrouping, Packing),
    /// A kernel for edit distances (`myers`). The value states how a pair is divided among lanes.
    Edit(LaneGrouping),
    /// `sw_striped_score` (`striped`).
    Strips,
    /// A kernel for the traceback of a long pair (`striped_trace`), with its stage.
    LongTraceback(TracebackStage),
    /// A kernel for reads and ancestral states (`block`), with its number format.
    Block(ScoreType),
    /// A kernel for ClustalW's pairwise stage (`program`), with its stage.
    Clustal(ClustalStage),
    /// A kernel for probabilities of pairs of residues (`program`), with its pass.
    Posterior(PosteriorPass),
    /// A kernel for profiles against profiles (`program`), with its stage.
    Profile(ProfileStage),
}

/// Properties of a kernel that do not depend on a device.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// Stem of all names of the kernel.
    pub stem: &'static str,
    /// Text of the shader, without its imports.
    pub shader: &'static str,
    /// Identity of the kernel.
    pub kind: KernelKind,
    /// Buffers of the kernel.
    pub bindings: &'static [Binding],
    /// Features that the kernel requires.
    pub features: wgpu::Features,
    /// Recurrence that the kernel computes, named after its oracle.
    pub recurrence: &'static str,
    /// One-line description for help texts.
    pub summary: &'static str,
}

impl Kernel {
    /// Returns the jobs that use the kernel.
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

    /// Returns whether engines may choose the kernel if the user names none. `nw_rows` runs only by
    /// name: according to the table of costs, it was the cheapest kernel in 2 of 111 cases, by 2%.
    pub fn is_chosen(&self) -> bool {
        self.kind != KernelKind::Scan(Scan::Rows)
    }

    /// Returns whether the kernel is a later stage of a computation. Such a kernel computes no
    /// batches by itself and cannot be selected by name.
    pub const fn is_later_stage(&self) -> bool {
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

    /// Returns the order in which the kernel computes the matrix, if it can store directions.
    pub const fn scan(&self) -> Option<Scan> {
        match self.kind {
            KernelKind::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    /// Returns whether the kernel computes scores but no counts of matches.
    pub const fn has_scores_alone(&self) -> bool {
        matches!(self.kind, KernelKind::Slice(ScoreType::F16))
    }

    /// Returns how a pair is divided among lanes, if the kernel computes edit distances.
    pub const fn lane_grouping(&self) -> Option<LaneGrouping> {
        match self.kind {
            KernelKind::Edit(grouping) => Some(grouping),
            _ => None,
        }
    }

    /// Creates a kernel that runs on every adapter.
    const fn plain(
        source: ShaderFile,
        kind: KernelKind,
        bindings: &'static [Binding],
        recurrence: &'static str,
        summary: &'static str,
    ) -> Self {
        let ShaderFile { stem, text: shader } = source;
        Kernel { stem, shader, kind, bindings, features: wgpu::Features::empty(), recurrence, summary }
    }

    /// Adds subgroup operations to the required features.
    const fn with_subgroups(self) -> Self {
        Kernel { features: self.features.union(wgpu::Features::SUBGROUP), ..self }
    }

    /// Adds half floats to the required features.
    const fn with_halves(self) -> Self {
        Kernel { features: self.features.union(wgpu::Features::SHADER_F16), ..self }
    }
}

/// A kernel with its constants: the input of a pipeline.
pub trait KernelProgram {
    /// Returns the kernel.
    fn kernel(&self) -> &'static Kernel;

    /// Returns the bytes of workgroup memory that the shader declares, or more.
    fn workgroup_memory(&self) -> u32;

    /// Returns the constants that the shader and its imports use.
    fn constants(&self) -> Constants;

    /// Returns the imports that the host supplies, because they depend on the variant.
    fn supplied(&self) -> Supplied {
        Vec::new()
    }

    /// Returns the whole shader.
    ///
    /// # Errors
    /// [`crate::Error::Internal`] if an import is missing.
    fn source(&self) -> Result<String> {
        let kernel = self.kernel();
        let text = source::resolve(kernel.stem, kernel.shader, &self.constants(), &self.supplied())?;
        // WGSL requires `enable` directives before everything else.
        let has_halves = kernel.features.contains(wgpu::Features::SHADER_F16);
        Ok(if has_halves { format!("enable f16;\n{text}") } else { text })
    }

    /// Returns the values of the shader's overrides.
    fn overrides(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Returns the number of arenas that the program binds, for kernels with arenas.
    fn arenas(&self) -> u32 {
        1
    }
}

/// A shader of the directory `shaders`.
struct ShaderFile {
    /// File name without its extension.
    stem: &'static str,
    text: &'static str,
}

/// Returns the shader with this stem.
macro_rules! shader {
    ($stem:literal) => {
        ShaderFile { stem: $stem, text: include_str!(concat!("../../shaders/", $stem, ".wgsl")) }
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
        binding::NW_TRACEBACK,
        "needleman_wunsch",
        "alignments, one pair over some lanes of a subgroup, blocks along the path done again (Grice et al. 1997)",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("nw_traceback"),
        KernelKind::PairTraceback,
        binding::NW_TRACEBACK,
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
        shader!("myers_scan"),
        KernelKind::Edit(LaneGrouping::ScanSubgroup),
        binding::MYERS,
        "levenshtein",
        "edit distances of one pattern in parts of many texts, one text per invocation, shuffles",
    )
    .with_subgroups(),
    Kernel::plain(
        shader!("myers_scan_workgroup"),
        KernelKind::Edit(LaneGrouping::ScanWorkgroup),
        binding::MYERS,
        "levenshtein",
        "myers_scan without subgroup operations, through workgroup memory",
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
        "long",
        "start states of the paths through blocks of a long pair (Li, Ranka and Sahni, phase 2)",
    ),
    Kernel::plain(
        shader!("sw_striped_chase"),
        KernelKind::LongTraceback(TracebackStage::Chase),
        binding::STRIPED_TRACEBACK,
        "long",
        "the parts of a long pair's path, from start state to start state (Li, Ranka and Sahni, phase 2)",
    ),
    Kernel::plain(
        shader!("sw_striped_trace"),
        KernelKind::LongTraceback(TracebackStage::Trace),
        binding::COLUMNS,
        "long",
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

/// Returns the kernel with this stem.
pub fn find(stem: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.stem == stem)
}

/// Returns the kernel of this kind.
pub fn of_kind(kind: KernelKind) -> &'static Kernel {
    KERNELS.iter().find(|kernel| kernel.kind == kind).expect("every kind has a kernel")
}

/// Returns the kernels of a family that can be selected by name.
pub fn selectable(family: Family) -> impl Iterator<Item = &'static Kernel> + Clone {
    KERNELS.iter().filter(move |kernel| kernel.family() == family && !kernel.is_later_stage())
}

/// Returns a hash of the source texts of these programs. It is part of the key of measurements that
/// were made with them.
pub fn fingerprint(programs: impl IntoIterator<Item = Box<dyn KernelProgram>>) -> u64 {
    let mut hasher = twox_hash::XxHash3_64::new();
    for program in programs {
        // A missing import gives an empty text here. Such a program is never compiled.
        program.source().unwrap_or_default().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests;
