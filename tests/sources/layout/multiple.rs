//! Structures of the kernels for multiple alignments.

use super::{parsed, shader_layout};
use pairwave::clustal::kernels::layout as clustal_layout;
use pairwave::clustal::kernels::program::{self as clustal, ClustalPass};
use pairwave::gpu::kernels::{KernelProgram, PosteriorPass, ProfileStage};
use pairwave::posterior::kernels::layout as posterior_layout;
use pairwave::posterior::kernels::program::PosteriorVariant;
use pairwave::profile::kernels::layout as profile_layout;
use pairwave::profile::kernels::program as profile;
use pairwave::seq::Alphabet;

pub(super) fn pass(pass: ClustalPass) -> naga::Module {
    parsed(&clustal::ClustalVariant::new(pass, Alphabet::Protein, 16).source().expect("all imports exist"))
}

#[test]
fn params_of_clustal_passes_match() {
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalParams,
        "Params",
        [task_begin, task_end, groups, slice_begin, slice_end, entries, extension, reserved]
    );
}

#[test]
fn lists_of_clustal_passes_match() {
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalPair,
        "Pair",
        [query, query_symbols, target_begin, target_symbols, opening, by_rows]
    );
    same_layout!(
        ClustalPass::ALL.map(pass),
        clustal_layout::ClustalPairResult,
        "PairResult",
        [score, end_row, end_column, rows_back, columns_back, identities, reserved0, reserved1]
    );
    let slices = [ClustalPass::Ends, ClustalPass::Starts].map(pass);
    same_layout!(slices, clustal_layout::ClustalTask, "Task", [first, count]);
}

/// The host sizes scratch memory by the size of its entries.
#[test]
fn scratch_entries_have_the_expected_size() {
    for kind in ClustalPass::ALL {
        let module = pass(kind);
        let mut all = module.global_variables.iter();
        let (_, scratch) = all.find(|(_, variable)| variable.name.as_deref() == Some("scratch")).expect("it is bound");
        let naga::TypeInner::Array { stride, .. } = module.types[scratch.ty].inner else { panic!("it is no array") };
        // One vector per invocation, or three; or two per half.
        let each = match kind {
            ClustalPass::Ends | ClustalPass::Starts => 16,
            ClustalPass::ForwardReverse => 4,
            ClustalPass::ForwardReverseThread => 48,
        };
        let variant = clustal::ClustalVariant::new(kind, Alphabet::Protein, 16);
        assert_eq!(u64::from(stride) * each, variant.entry_bytes(), "{kind:?}");
    }
}

/// Returns a kernel for probabilities of pairs.
pub(super) fn sums(sweep: PosteriorPass) -> naga::Module {
    parsed(&PosteriorVariant::new(sweep, Alphabet::Protein, 16, 4).source().expect("all imports exist"))
}

#[test]
fn structures_of_posterior_kernels_match() {
    let modules = || [PosteriorPass::Forward, PosteriorPass::Backward].map(sums);
    same_layout!(
        modules(),
        posterior_layout::PosteriorParams,
        "Params",
        [
            task_begin,
            task_count,
            strip_begin,
            strip_end,
            capacity,
            arena_begin,
            zero,
            open,
            extend,
            cutoff,
            end_gap,
            reserved
        ]
    );
    same_layout!(
        modules(),
        posterior_layout::PosteriorPair,
        "Pair",
        [row_begin, rows, column_begin, columns, out_begin, reserved0, reserved1, reserved2]
    );
    same_layout!(
        modules(),
        posterior_layout::PosteriorTask,
        "Task",
        [first, count, groups, strips, kept_begin, scratch_begin, list, reserved]
    );
}

pub(super) fn merge(step: ProfileStage) -> naga::Module {
    let variant = match step {
        ProfileStage::Tile => profile::ProfileVariant::Tile { workgroup: 16, columns: 32, letters: 8 },
        ProfileStage::Cross => profile::ProfileVariant::Cross { workgroup: 16 },
    };
    parsed(&variant.source().expect("all imports exist"))
}

#[test]
fn structures_of_profiles_match() {
    let both = || [ProfileStage::Tile, ProfileStage::Cross].map(merge);
    same_layout!(
        both(),
        profile_layout::ProfileParams,
        "Params",
        [problems, node_begin, nodes, tile_rows, diagonal, reserved0, reserved1, reserved2]
    );
    same_layout!(
        both(),
        profile_layout::ProfileProblem,
        "Problem",
        [m, n, fours, scored, tenths, first, second, nodes, rows, columns, corners, corner_count]
    );
    same_layout!(both(), profile_layout::RectangleNode, "Node", [a, b, m, n, ends, column, in_gap, reserved]);
}
