//! Structures of the kernels for long pairs.

use super::{parsed, shader_layout};
use pairwave::gpu::kernels::KernelProgram;
use pairwave::long::kernels::striped;
use pairwave::long::kernels::striped_trace::{self, TracebackStage};

pub(super) fn strip(persistent: bool, shuffle: bool) -> striped::StripedVariant {
    striped::StripedVariant {
        lanes: 32,
        cells: 8,
        classes: 4,
        codes: 16,
        batch: 8,
        last_cell: 7,
        local: true,
        linear: false,
        best: true,
        prune: true,
        persistent,
        shuffle,
    }
}

fn strips() -> Vec<naga::Module> {
    vec![
        parsed(&strip(false, false).source().expect("all imports exist")),
        parsed(&strip(true, true).source().expect("all imports exist")),
    ]
}

#[test]
fn params_of_strips_match() {
    same_layout!(
        strips(),
        striped::StripedParams,
        "Params",
        [
            rows,
            columns,
            strips,
            first_strip,
            base,
            steps,
            lag,
            total_steps,
            query_begin,
            target_begin,
            whole_entries,
            inner_entries,
            inner_mask,
            columns_stride,
            mark_blocks,
            marks,
            first,
            next,
            greatest,
            rows_to_end,
            columns_to_end,
            best_floor,
            spin_limit,
            keep_strips,
            rings_begin,
            padding,
            left_reached,
            turn,
        ]
    );
}

#[test]
fn shared_state_of_strips_matches() {
    same_layout!(strips(), striped::StripedShared, "Shared", [best, ticket, stuck, pruned]);
    // The host clears only the ticket.
    assert_eq!(std::mem::offset_of!(striped::StripedShared, ticket), 4);
}

pub(super) fn traceback(stage: TracebackStage) -> naga::Module {
    let (local, stored_borders) = (true, true);
    parsed(
        &striped_trace::TracebackVariant { stage, workgroup: 4, codes: 16, column_bits: 6, local, stored_borders }
            .source()
            .expect("all imports exist"),
    )
}

#[test]
fn params_of_tracebacks_match() {
    let modules = [TracebackStage::Starts, TracebackStage::Chase, TracebackStage::Trace].map(traceback);
    same_layout!(
        modules,
        striped_trace::TracebackParams,
        "Params",
        [
            query_begin_symbols,
            target_begin_symbols,
            rows,
            columns,
            rows_stride,
            columns_stride,
            strip,
            chunk,
            first,
            next,
            block_rows,
            strip_begin,
            strip_count,
            block_count,
            at_row,
            at_column,
            at_state,
            path_capacity,
            directions_capacity_words,
            lead,
        ]
    );
}

#[test]
fn path_structures_match() {
    let modules = [TracebackStage::Chase, TracebackStage::Trace].map(traceback);
    same_layout!(
        modules,
        striped_trace::PathPart,
        "Path",
        [start_row, start_column, start_state, end_row, end_column, end_state, directions_begin, runs_begin, run_count,]
    );
    for stage in [TracebackStage::Chase, TracebackStage::Trace] {
        let (members, _) = shader_layout(&traceback(stage), "Paths");
        let list = members.iter().find(|(name, _)| name == "list").expect("the parts");
        assert_eq!(list.1 as usize, 4 * striped_trace::PATHS_HEADER_WORDS);
    }
}
