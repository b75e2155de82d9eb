//! Structures of the kernels for reads.

use super::{parsed, shader_layout};
use pairwave::gpu::kernels::KernelProgram;
use pairwave::papara::kernels::block::{self, ScoreType};

pub(super) fn block(numbers: ScoreType) -> naga::Module {
    let (workgroup, columns) = (16, block::columns(numbers)[0]);
    let variant =
        block::BlockVariant { numbers, workgroup, columns, chunk: block::CHUNK, is_plain: false, is_protein: true };
    parsed(&variant.source().expect("all imports exist"))
}

fn blocks() -> [naga::Module; 2] {
    [ScoreType::I32, ScoreType::F16].map(block)
}

#[test]
fn params_of_blocks_match() {
    same_layout!(
        blocks(),
        block::BlockParams,
        "Params",
        [
            place_begin,
            place_end,
            groups,
            site_begin,
            site_end,
            sites,
            columns,
            scratch_vectors,
            free_read_ends,
            matching,
            mismatch,
            gap_site,
            deletion_first,
            deletion_next,
            insertion_first,
            insertion_next,
        ]
    );
}

#[test]
fn places_of_blocks_match() {
    same_layout!(blocks(), block::BlockTask, "Place", [read, symbols, rows, row_count, octet, score]);
}

/// The host sizes scratch memory by the size of its numbers.
#[test]
fn scratch_numbers_have_the_expected_size() {
    for numbers in [ScoreType::I32, ScoreType::F16] {
        let (module, columns) = (block(numbers), block::columns(numbers)[1]);
        let mut all = module.global_variables.iter();
        let (_, scratch) = all.find(|(_, variable)| variable.name.as_deref() == Some("scratch")).expect("it is bound");
        let naga::TypeInner::Array { stride, .. } = module.types[scratch.ty].inner else { panic!("it is no array") };
        let variant =
            block::BlockVariant { numbers, workgroup: 16, columns, chunk: 32, is_plain: true, is_protein: false };
        assert_eq!(u64::from(stride), variant.vector_bytes(), "{numbers:?}");
    }
}
