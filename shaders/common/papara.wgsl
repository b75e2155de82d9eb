// Shared by the kernels for phylogeny-aware alignment: scores of a read against vectors of
// ancestral states.
// Recurrence: equation 1 of Alachiotis, Berger and Stamatakis 2013, with maxima of scores instead of
//             minima of costs:
//               L[i,j] = max(S[i-1,j] - (free_i ? 0 : deletion.first),
//                            L[i-1,j] - (free_i ? 0 : deletion.next))
//               U[i,j] = max(S[i,j-1] - insertion.first, U[i,j-1] - insertion.next)
//               S[i,j] = max(S[i-1,j-1] + score(A_i, B_j), L[i,j], U[i,j])
//               S[i,0] = 0
//             Values are stored as S + insertion.next * column + b_i, where b_i is the sum of
//             deletion.next over the sites up to i that are not free. Extending a gap then does not
//             change the stored value. b restarts at 0 every CHUNK sites.
// Owns:       four invocations compute a read against an octet of vectors, two vectors each. They
//             keep a slice of COLUMNS columns of the read in registers while they visit the sites.
// Layout:     columns are those of the longest read of a workgroup, which is its first, in whole
//             slices. Shorter reads are padded at the front (row ROWS - 1 of the table), where S
//             stays 0.
//             vectors: in the format of papara/vectors.rs, four bytes per word, or words.
//             reads: a row of the table for every symbol, four per word.
//             rows: the set of each row.
//             scratch: every workgroup has params.scratch_vectors. They contain S and L of every
//             column, then S and U at the last column of the previous slice, one per site of the
//             chunk. Every WG-th vector belongs to the same invocation.
//             out: eight scores per place.
// Invariant:  when a slice of a chunk starts, the borders contain the previous slice's values of
//             the same sites.
// Uniform:    no barrier; an invocation reads only its own values from workgroup memory and
//             scratch.
// Limits:     |S| and the numbers added to it are exact in the number type of S. The host ensures
//             this.
// Oracle:     src/papara/oracle.rs
// Constants:  WG, COLUMNS, CHUNK, ROWS (of the table), IS_PLAIN (rows are A, C, G, T and padding),
//             IS_PROTEIN.
// Imports:    the importing shader supplies S (two numbers), V (two S), number, rounded, lowest,
//             later_max, S_ZERO.

struct Params {
    // Places of the dispatch: first and end.
    place_begin: u32,
    place_end: u32,
    // Number of workgroups. If the dispatch does not compute all sites, each workgroup computes
    // only one set of places.
    groups: u32,
    // Sites of the dispatch: first, a multiple of CHUNK, and end. Other dispatches compute the
    // sites before and after.
    site_begin: u32,
    site_end: u32,
    sites: u32,
    // Capacity of scratch in columns.
    columns: u32,
    scratch_vectors: u32,
    free_read_ends: u32,
    matching: i32,
    mismatch: i32,
    gap_site: i32,
    deletion_first: i32,
    deletion_next: i32,
    insertion_first: i32,
    insertion_next: i32,
}

// A read against an octet.
struct Place {
    // First symbol and length of the read.
    read: u32,
    symbols: u32,
    // Index of the read's first entry in `rows`, and number of its entries.
    rows: u32,
    row_count: u32,
    octet: u32,
    // Index of its scores in out.
    score: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> vectors: array<u32>;
@group(0) @binding(2) var<storage, read> reads: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<u32>;
@group(0) @binding(4) var<storage, read> places: array<Place>;
@group(0) @binding(5) var<storage, read_write> scratch: array<V>;
@group(0) @binding(6) var<storage, read_write> out: array<vec2<i32>>;

// For each invocation, the score of a symbol of each row at the current site.
var<workgroup> table: array<S, ROWS * WG>;

// Places per workgroup.
const PLACES: u32 = WG / 4u;
const SET_BITS: u32 = select(4u, 20u, IS_PROTEIN);

// Returns one site of two vectors, in the format of the buffer.
fn site_bits(octet: u32, site: u32, pair: u32) -> vec2<u32> {
    if (IS_PROTEIN) {
        let at = (octet * params.sites + site) * 8u + 2u * pair;
        return vec2<u32>(vectors[at], vectors[at + 1u]);
    }
    let word = vectors[(octet * params.sites + site) * 2u + (pair >> 1u)] >> ((pair & 1u) * 16u);
    return vec2<u32>(word & 0xffu, (word >> 8u) & 0xffu);
}

fn has(bits: vec2<u32>, mask: u32) -> vec2<bool> {
    return (bits & vec2<u32>(mask)) != vec2<u32>(0u);
}

// Returns the scores of a read against two vectors of an octet.
fn align(place: Place, columns: u32, pair: u32, t: u32, scratch_begin: u32) -> vec2<i32> {
    let octet = place.octet;
    let pads = columns - place.symbols;
    let one_step = number(params.insertion_next);
    let insertion = number(params.insertion_next - params.insertion_first);
    let deletion = number(params.deletion_next - params.deletion_first);
    let deletion_step = number(params.deletion_next);
    let penalty = number(params.gap_site);
    let matching = number(params.matching + params.insertion_next);
    let mismatch = number(params.mismatch + params.insertion_next);
    let none = lowest();
    let is_free = params.free_read_ends != 0u;
    let slices = columns / COLUMNS;
    let border = scratch_begin + params.columns * WG;
    let last_step = number(params.insertion_next * i32(columns));

    // S of the whole read before the first site.
    let symbols = i32(place.symbols);
    let unaligned = select(params.insertion_first + (symbols - 1) * params.insertion_next, 0, is_free || symbols == 0);
    var best = number(-unaligned);
    var begin = params.site_begin;
    if (begin > 0u) {
        best = low(scratch[border + (CHUNK + 1u) * WG + t]);
    }
    loop {
        let end = min(begin + CHUNK, params.sites);
        let is_last = end == params.sites;
        for (var slice = 0u; slice < slices; slice++) {
            var s: array<S, COLUMNS>;
            var l: array<S, COLUMNS>;
            var row: array<u32, COLUMNS>;
            let first = slice * COLUMNS;
            for (var k = 0u; k < COLUMNS; k++) {
                let column = first + k;
                row[k] = (ROWS - 1u) * WG + t;
                if (column >= pads) {
                    let symbol = place.read + column - pads;
                    row[k] = ((reads[symbol / 4u] >> (8u * (symbol % 4u))) & 0xffu) * WG + t;
                }
                if (begin == 0u) {
                    // Before the first site, symbols either overhang or are inserted.
                    let before = i32(column + 1u) - i32(pads);
                    let cost = params.insertion_first + (before - 1) * params.insertion_next;
                    let start = select(-cost, 0, is_free || before <= 0);
                    s[k] = number(start + params.insertion_next * i32(column + 1u));
                    l[k] = none;
                } else {
                    let kept = scratch[scratch_begin + column * WG + t];
                    s[k] = low(kept);
                    l[k] = high(kept);
                }
            }
            // S one site above, at the column before the slice.
            var above = S_ZERO;
            if (slice > 0u) {
                above = low(scratch[border + CHUNK * WG + t]);
            }
            // S one site above, for the next slice.
            let above_next = s[COLUMNS - 1u];
            var b = S_ZERO;
            // The next site's data is loaded one site ahead, to hide the latency.
            var next_bits = vec2<u32>(0u);
            var next_border = V_of(S_ZERO, none);
            if (begin < end) {
                next_bits = site_bits(octet, begin, pair);
                if (slice > 0u) {
                    next_border = scratch[border + t];
                }
            }
            for (var site = begin; site < end; site++) {
                let bits = next_bits;
                let at = border + (site - begin) * WG + t;
                var left = low(next_border);
                var u = high(next_border);
                next_bits = site_bits(octet, min(site + 1u, end - 1u), pair);
                if (slice > 0u) {
                    // After the chunk's last site, the entry contains other data, which is not
                    // used.
                    next_border = scratch[at + WG];
                }
                let no_cost = has(bits, 2u << SET_BITS);
                let down = select(deletion, S_ZERO, no_cost);
                let b_step = select(deletion_step, S_ZERO, no_cost);
                b += b_step;
                let loss = b_step - select(S_ZERO, penalty, has(bits, 1u << SET_BITS));
                let miss = mismatch + loss;
                let hit = matching + loss;
                if (IS_PLAIN) {
                    table[t] = select(miss, hit, has(bits, 1u));
                    table[WG + t] = select(miss, hit, has(bits, 2u));
                    table[2u * WG + t] = select(miss, hit, has(bits, 4u));
                    table[3u * WG + t] = select(miss, hit, has(bits, 8u));
                } else {
                    for (var r = 0u; r < place.row_count; r++) {
                        table[r * WG + t] = select(miss, hit, has(bits, rows[place.rows + r]));
                    }
                }
                table[(ROWS - 1u) * WG + t] = one_step + b_step;

                if (slice == 0u) {
                    left = b;
                }
                var diagonal = above;
                above = left;
                for (var k = 0u; k < COLUMNS; k++) {
                    // Only values from the left depend on the previous column of this site.
                    let aligned = diagonal + table[row[k]];
                    diagonal = s[k];
                    l[k] = max(l[k], diagonal + down);
                    let others = later_max(aligned, l[k]);
                    u = max(u, left + insertion);
                    left = max(others, u);
                    s[k] = left;
                }
                if (slice + 1u < slices) {
                    scratch[at] = V_of(left, u);
                } else {
                    best = max(best, left - b - last_step);
                }
            }
            if (slice + 1u < slices) {
                scratch[border + CHUNK * WG + t] = V_of(above_next, none);
            }
            if (!is_last) {
                for (var k = 0u; k < COLUMNS; k++) {
                    scratch[scratch_begin + (first + k) * WG + t] = V_of(s[k] - b, l[k] - b);
                }
            } else if (is_free) {
                // Symbols after any column may overhang behind the last site.
                for (var k = 0u; k < COLUMNS; k++) {
                    best = max(best, s[k] - b - number(params.insertion_next * i32(first + k + 1u)));
                }
            }
        }
        begin = end;
        if (begin >= params.site_end) {
            break;
        }
    }
    if (begin < params.sites) {
        scratch[border + (CHUNK + 1u) * WG + t] = V_of(best, best);
    }
    return rounded(best);
}

@compute @workgroup_size(WG)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let group = workgroup.x + workgroup.y * workgroups.x;
    if (group >= params.groups) {
        return;
    }
    let groups_needed = (params.place_end - params.place_begin + PLACES - 1u) / PLACES;
    for (var index = group; index < groups_needed; index += params.groups) {
        let first = params.place_begin + index * PLACES;
        // Invocations without a place compute the last place and discard the result.
        let place_index = first + t / 4u;
        let place = places[min(place_index, params.place_end - 1u)];
        let columns = (places[first].symbols + COLUMNS - 1u) / COLUMNS * COLUMNS;
        let scores = align(place, columns, t % 4u, t, group * params.scratch_vectors);
        if (place_index < params.place_end) {
            out[place.score * 4u + t % 4u] = scores;
        }
    }
}
