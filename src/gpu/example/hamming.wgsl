// hamming: Hamming distances of pairs of texts, one pair per invocation.
// Recurrence: D[k] = D[k-1] + (a[k] != b[k]); D[symbols] is the distance.
// Owns:       invocation t computes pair pairs[t] and writes out[t].
// Layout:     pair p consists of texts 2 p and 2 p + 1, each of `symbols` words.
// Invariant:  no invocation reads a value that another one writes.
// Limits:     none.
// Oracle:     hamming in src/gpu/example.rs

struct Params {
    pairs: u32,
    symbols: u32,
    reserved0: u32,
    reserved1: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> texts: array<u32>;
@group(0) @binding(2) var<storage, read> pairs: array<u32>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) t: u32,
) {
    let index = (group.y * groups.x + group.x) * WORKGROUP + t;
    if index >= params.pairs {
        return;
    }
    let a = 2u * pairs[index] * params.symbols;
    let b = a + params.symbols;
    var distance = 0u;
    for (var k = 0u; k < params.symbols; k++) {
        distance += u32(texts[a + k] != texts[b + k]);
    }
    out[index] = distance;
}
