// Shared by the kernels whose lanes look up the score of each cell by both symbols: the table in
// workgroup memory.

#import nw

// Substitution table with rows of an odd stride, so that the rows spread over the banks.
const TABLE_STRIDE: u32 = CODES | 1u;
var<workgroup> substitution: array<i32, CODES * TABLE_STRIDE>;

// Fills the table. Ends with a barrier.
fn load_substitution(t: u32, invocations: u32) {
    for (var k = t; k < CODES * CODES; k += invocations) {
        substitution[(k / CODES) * TABLE_STRIDE + k % CODES] = table[k];
    }
    workgroupBarrier();
}
