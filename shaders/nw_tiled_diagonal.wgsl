// nw_tiled_diagonal: global score and directions, one tile per workgroup, one dispatch for each
//             diagonal of tiles of all pairs (TiledDScan-mNW, Truong et al. 2014, section 4.1;
//             tiles as in Rodinia's needle).
// Recurrence: the recurrence of nw_slice.wgsl, along diagonals of tiles and, within a tile, along
//             diagonals of blocks.
// Owns:       tile (r, c) has TILE_ROWS rows from r * TILE_ROWS on, and LANES * COLUMNS columns
//             from c * LANES * COLUMNS on.
// Layout:     the arena as in common/arena.wgsl, with directions as in nw_diagonal. The row border
//             holds the last row of the last tile of each column, and the column border the last
//             column of the last tile of each row. Corner (d % 3) * tile columns + c is V at the
//             lower right end of the tile on diagonal d in column c. Its neighbours overwrite this
//             value in the borders before tile (r + 1, c + 1) reads it.
// Invariant:  after the dispatch of diagonal d all tiles with r + c <= d are final.
// Uniform:    task and tile come from the workgroup's index. A workgroup without a tile returns as
//             a whole.
// Limits:     the task's part of the arena; i32 values (OffsetScoring::new rejects others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Constants:  the constants of common/strip.wgsl. TILE_ROWS is a multiple of 4.

#import exchange_workgroup
#import strip

const KEEP_CORNERS: bool = true;

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let task_index = params.task_begin + workgroup.x + workgroup.z * workgroups.x;
    if (task_index >= params.task_count) {
        return;
    }
    let task = tasks[task_index];
    let rows = task.rows_words * 4u;
    let tile_rows = (rows + TILE_ROWS - 1u) / TILE_ROWS;
    let tile_columns = task.columns / (WG * COLUMNS);
    let d = params.tile_diagonal;
    let first_column = max(d, tile_rows - 1u) - (tile_rows - 1u);
    let column = first_column + workgroup.y;
    if (column > d || column >= tile_columns) {
        return;
    }
    let row_begin = (d - column) * TILE_ROWS;
    this_lane = t;
    load_substitution(t, WG);
    scan(task, 0u, t, WG, column, row_begin, min(row_begin + TILE_ROWS, rows), true, d);
}
