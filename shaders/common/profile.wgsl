// Shared by the kernels with one pair per invocation. All invocations of a workgroup share a query,
// so the scores of a slice's query symbols against every code are in workgroup memory.
// Constants:  SLICE (columns per slice), STRIDE4 (length of a profile row in vec4s; odd, so that
//             rows of neighbouring codes start in different banks).

#import nw

const SLICE4: u32 = SLICE / 4u;

var<workgroup> profile: array<vec4<i32>, CODES * STRIDE4>;

// Fills the profile of slice s. Columns before the query's first word, first_a_word from a_begin
// on, are padding. Starts and ends with a barrier: all invocations of the workgroup must call it.
fn make_profile(s: u32, a_begin: u32, first_a_word: u32, t: u32) {
    workgroupBarrier();
    for (var p = t; p < CODES * SLICE4; p += WG) {
        let code = p / SLICE4;
        let c4 = p % SLICE4;
        let a_word_index = s * SLICE4 + c4;
        var a_word = 0u;
        if (a_word_index >= first_a_word) {
            a_word = query_words[a_begin + a_word_index];
        }
        let row = code * CODES;
        profile[code * STRIDE4 + c4] = vec4<i32>(
            table[row + (a_word & 255u)], table[row + ((a_word >> 8u) & 255u)],
            table[row + ((a_word >> 16u) & 255u)], table[row + (a_word >> 24u)]);
    }
    // Safe: every entry was written by one invocation before this barrier, and is only read until
    // the next slice.
    workgroupBarrier();
}
