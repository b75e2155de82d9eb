// nw_tiled_diagonal: global score and directions, one tile per workgroup, a dispatch for each diagonal of tiles of all pairs
//             (TiledDScan-mNW, Truong et al. 2014, section 4.1; tiles as in Rodinia's needle).
// Recurrence: that of nw_slice.wgsl, along diagonals of tiles and, within a tile, along diagonals of blocks.
// Owns:       tile (r, c) is rows r * TILE_ROWS to the next tile's and columns c * LANES * COLUMNS to the next tile's.
// Layout:     arena as in common/arena.wgsl, directions as nw_diagonal lays them. The borders hold what the last tile of a
//             column (row border) or row (column border) left; corner (d % 3) * tile columns + c is V at the lower right end of
//             the tile on diagonal d in column c: its neighbours overwrite it in the borders before tile (r + 1, c + 1) needs it.
// Invariant:  after the dispatch of diagonal d all tiles with r + c <= d are final.
// Uniform:    task and tile come from the workgroup's number; a workgroup without a tile leaves as a whole.
// Limits:     the task's part of the arena; values in 32 bits (OffsetScoring::new refuses others).
// Oracle:     src/pairs/oracle/needleman_wunsch.rs
//
// Constants:  those of common/strip.wgsl; TILE_ROWS is a multiple of 4.

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
