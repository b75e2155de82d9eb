// papara_block_half: papara_block in packed f16 lanes.
// Recurrence: see common/papara.wgsl.
// Owns:       four invocations compute a read against an octet. Each computes two vectors of the
//             octet.
// Layout:     see common/papara.wgsl.
// Invariant:  see common/papara.wgsl.
// Uniform:    no barrier.
// Limits:     the absolute values of all numbers and sums are at most 2047, which suffices for
//             reads of a few hundred symbols.
// Oracle:     src/papara/oracle.rs

#import papara_halves
#import papara
