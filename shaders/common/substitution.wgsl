// Shared by the kernels whose lanes look up the score of each cell by its two symbols. The table is
// in workgroup memory.

#import nw

// Substitution table. Its rows have an odd stride, so that they are spread over the memory banks.
const TABLE_STRIDE: u32 = CODES | 1u;
var<workgroup> substitution: array<i32, CODES * TABLE_STRIDE>;

// Fills the table. Ends with a barrier.
fn load_substitution(t: u32, invocations: u32) {
    for (var k = t; k < CODES * CODES; k += invocations) {
        substitution[(k / CODES) * TABLE_STRIDE + k % CODES] = table[k];
    }
    workgroupBarrier();
}
