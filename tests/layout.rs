//! Structures that Rust and WGSL share lie the same way in both.

use pairwave::kernels::layout::{Params, Target, Task};
use pairwave::kernels::nw_slice::Variant;

/// Offsets of a shader structure's members, and its size, as naga lays it out.
fn shader_layout(name: &str) -> (Vec<(String, u32)>, u32) {
    let variant = Variant { slice: 12, workgroup: 16, codes: 16, affine: true, free_ends: true };
    let module = naga::front::wgsl::parse_str(&variant.source()).expect("the shader parses");
    let (_, ty) = module
        .types
        .iter()
        .find(|(_, ty)| ty.name.as_deref() == Some(name))
        .unwrap_or_else(|| panic!("no structure {name}"));
    let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no structure") };
    let members =
        members.iter().map(|member| (member.name.clone().expect("members have names"), member.offset)).collect();
    (members, *span)
}

/// Compares a Rust structure with its shader twin, member by member, in order.
macro_rules! same_layout {
    ($rust:ty, $name:literal, [$($member:ident),* $(,)?]) => {{
        let ours = vec![$((stringify!($member).to_string(), std::mem::offset_of!($rust, $member) as u32)),*];
        let (theirs, size) = shader_layout($name);
        assert_eq!(ours, theirs, "{}", $name);
        assert_eq!(size_of::<$rust>() as u32, size, "{}", $name);
    }};
}

#[test]
fn params() {
    same_layout!(
        Params,
        "Params",
        [
            task_begin,
            task_count,
            slice_begin,
            slice_end,
            ticketed,
            rows_words,
            opening,
            edge_opening,
            edge_step,
            match_bits,
            values_begin,
            filter_mode,
            filter_match,
            filter_mismatch,
            filter_unequal,
            filter_threshold,
            filter_mismatch_low,
            filter_match_low,
            filter_dearest,
            filter_free_step,
            filter_forms,
            tile_diagonal,
            runs_begin,
            runs_capacity_words,
            walk,
        ]
    );
}

#[test]
fn task() {
    same_layout!(
        Task,
        "Task",
        [
            query_end_word,
            query_symbols,
            first,
            count,
            rows_words,
            pairs_begin,
            query_number,
            arena,
            arena_begin,
            columns,
            direction_quads
        ]
    );
}

#[test]
fn target() {
    same_layout!(Target, "Target", [end_word, symbols, number]);
}

#[test]
fn output_header() {
    let (members, _) = shader_layout("Output");
    let data = members.iter().find(|(name, _)| name == "data").expect("the values");
    assert_eq!(data.1 as u64, 4 * pairwave::kernels::nw_slice::OUTPUT_HEADER_WORDS);
}

#[test]
fn the_harness_sees_a_shifted_member() {
    #[repr(C)]
    struct Shifted {
        symbols: u32,
        end_word: u32,
    }
    let shifted = [std::mem::offset_of!(Shifted, end_word) as u32, std::mem::offset_of!(Shifted, symbols) as u32];
    let (theirs, _) = shader_layout("Target");
    assert_ne!(shifted.to_vec(), theirs.iter().map(|member| member.1).collect::<Vec<_>>());
}
