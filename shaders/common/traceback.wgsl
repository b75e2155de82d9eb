// Shared by the kernels that trace alignments back over stored directions.
// They collect the runs of a pair's alignment from its end to its start, count columns, and decide
// whether the pair is kept.
// State:      the traceback is at row trace_i and column trace_j, counted in real symbols. All
//             columns after it are counted and emitted.

#import arena

const LONGEST_RUN: u32 = 16383u;
const NO_INDEX: u32 = 0xffffffffu;
// Marks a pair that does not pass the identity filter.
const DROPPED: u32 = 0xfffffffeu;
const MATCH: u32 = 0u;
const MISMATCH: u32 = 1u;
const INSERTION: u32 = 2u;
const DELETION: u32 = 3u;
const NO_RUN: u32 = 4u;
const NO_QUAD: u32 = 0xffffffffu;
// State of the traceback: at V, in a gap from the left, or in a gap from above.
const AT_V: u32 = 0u;
const IN_LEFT: u32 = 1u;
const IN_ABOVE: u32 = 2u;

struct Output {
    runs_words: atomic<u32>,
    ticket: atomic<u32>,
    reserved0: u32,
    reserved1: u32,
    data: array<u32>,
}

@group(0) @binding(7) var<storage, read_write> out: Output;

var<private> trace_i: u32;
var<private> trace_j: u32;
var<private> trace_state: u32;
// Kinds of a step from the left and of a step from above in the alignment, and the tag of a step
// from the left.
var<private> from_left_kind: u32;
var<private> from_above_kind: u32;
var<private> left_tag: u32;
// Location of the collected runs, their number, and the last ones, up to one quad.
var<private> pair_runs: ArenaPart;
var<private> run_count: u32;
var<private> held: vec4<u32>;
// The current run, which may still grow.
var<private> run_kind: u32;
var<private> run_length: u32;
// Counts from which the identity is computed (`IdentityDefinition`).
var<private> matches: u32;
var<private> mismatches: u32;
var<private> gap_columns: u32;
var<private> gap_openings: u32;
var<private> end_gap_columns: u32;

fn emit(code: u32) {
    // Appends a half word.
    held = vec4<u32>((held.x >> 16u) | (held.y << 16u), (held.y >> 16u) | (held.z << 16u),
                     (held.z >> 16u) | (held.w << 16u), (held.w >> 16u) | (code << 16u));
    if ((run_count & 7u) == 7u) {
        write_quad(pair_runs.arena, pair_runs.begin + (run_count >> 3u) * pair_runs.stride, held);
    }
    run_count++;
}

// Ends the current run. The run that is collected first is the alignment's last one. If it is a
// gap, it is an end gap. The caller handles the run that is collected last.
fn close_run() {
    if (run_length == 0u) {
        return;
    }
    if (run_kind == MATCH) {
        matches += run_length;
    } else if (run_kind == MISMATCH) {
        mismatches += run_length;
    } else {
        if (matches + mismatches + gap_columns == 0u) {
            end_gap_columns = run_length;
        }
        gap_columns += run_length;
        gap_openings++;
    }
    var left = run_length;
    while (left > 0u) {
        let length = min(left, LONGEST_RUN);
        emit(run_kind | (length << 2u));
        left -= length;
    }
}

fn push(kind: u32, length: u32) {
    if (length == 0u) {
        return;
    }
    if (kind != run_kind) {
        close_run();
        run_kind = kind;
        run_length = 0u;
    }
    run_length += length;
}

// Tests the identity filter with exact counts and a slightly lower threshold. The host repeats the
// test exactly.
fn reaches(m: u32, n: u32) -> bool {
    let longer = f32(max(m, n));
    if (params.filter_mode == 3u) {
        return min(f32(mismatches + gap_openings), longer) <= params.filter_threshold * longer;
    }
    var denominator = min(m, n);
    if (params.filter_mode == 1u) {
        denominator = matches + mismatches + gap_columns;
    } else if (params.filter_mode == 2u) {
        denominator = matches + mismatches + gap_columns - end_gap_columns;
    }
    // The identity of an alignment without counted columns is 0.
    if (denominator == 0u) {
        return params.filter_threshold <= 0.0;
    }
    return f32(matches) >= params.filter_threshold * f32(denominator);
}

// Starts a traceback at a cell, after the end gaps between this cell and the corner, of which at
// most one is not empty. `turned` states that the kernel's query is the target of the reported
// alignment.
fn start_traceback(i: u32, j: u32, m: u32, n: u32, turned: bool) {
    from_left_kind = select(INSERTION, DELETION, turned);
    from_above_kind = select(DELETION, INSERTION, turned);
    left_tag = u32(tag_left(turned));
    trace_i = i;
    trace_j = j;
    trace_state = AT_V;
    run_count = 0u;
    held = vec4<u32>(0u);
    run_kind = NO_RUN;
    run_length = 0u;
    matches = 0u;
    mismatches = 0u;
    gap_columns = 0u;
    gap_openings = 0u;
    end_gap_columns = 0u;
    push(from_left_kind, m - j);
    push(from_above_kind, n - i);
}

// Takes one step of the traceback, given the directions of the cell.
fn advance(bits: u32) {
    if (!AFFINE || (trace_state == IN_LEFT && (bits & 4u) != 0u)) {
        trace_state = AT_V;
    }
    if (trace_state == AT_V && (bits & 2u) == 0u) {
        trace_state = select(IN_ABOVE, IN_LEFT, (bits & 3u) == left_tag);
    }
    // There is only one call of push per step, so that its loops are not inlined several times.
    var kind = select(MISMATCH, MATCH, (bits & 1u) != 0u);
    if (trace_state == IN_LEFT) {
        kind = from_left_kind;
    } else if (trace_state == IN_ABOVE) {
        kind = from_above_kind;
    }
    push(kind, 1u);
    trace_j -= select(0u, 1u, trace_state != IN_ABOVE);
    trace_i -= select(0u, 1u, trace_state != IN_LEFT);
    if (trace_state == IN_ABOVE && (bits & 8u) != 0u) {
        trace_state = AT_V;
    }
}

// Ends the traceback at the first row or column. Returns the number of runs. The last quad is
// padded.
fn end_traceback(m: u32, n: u32) -> u32 {
    push(from_left_kind, trace_j);
    push(from_above_kind, trace_i);
    // The run at the alignment's start is an end gap, too, unless it is the only run.
    let is_only_run = run_length == m + n;
    let last_kind = run_kind;
    let last_length = run_length;
    close_run();
    if ((last_kind == INSERTION || last_kind == DELETION) && !is_only_run) {
        end_gap_columns += last_length;
    }
    // Fills the unused half words at the end of the last quad.
    let kept_count = run_count;
    while ((run_count & 7u) != 0u) {
        emit(0u);
    }
    return kept_count;
}

// Reserves memory for the runs of a pair and stores its status. Returns the index of the first word
// of the runs; NO_INDEX if they do not fit or if the pair is dropped.
fn place_runs(pair: u32, m: u32, n: u32, kept_count: u32) -> u32 {
    if (params.filter_mode != 6u && !reaches(m, n)) {
        out.data[3u * pair + 2u] = DROPPED;
        return NO_INDEX;
    }
    let words = (kept_count + 1u) / 2u;
    // Cannot overflow: the pairs of a batch have fewer than 2^32 words of runs in all.
    let index = atomicAdd(&out.runs_words, words);
    if (index > params.runs_capacity_words || words > params.runs_capacity_words - index) {
        out.data[3u * pair + 2u] = NO_INDEX;
        return NO_INDEX;
    }
    out.data[3u * pair + 1u] = index;
    out.data[3u * pair + 2u] = kept_count;
    return index;
}

// Copies quad k of `words` words of runs to the words from `index` on.
fn copy_runs(k: u32, words: u32, index: u32) {
    let quad = read_quad(pair_runs.arena, pair_runs.begin + k * pair_runs.stride);
    for (var q = 0u; q < min(words - 4u * k, 4u); q++) {
        out.data[params.runs_begin + index + 4u * k + q] = quad[q];
    }
}
