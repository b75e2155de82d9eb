// papara_block_half: papara_block in packed f16 lanes.
// Recurrence: see common/papara.wgsl.
// Owns:       four invocations compute a read against an octet of vectors; each computes two vectors.
// Layout:     see common/papara.wgsl.
// Invariant:  see common/papara.wgsl.
// Uniform:    no barrier.
// Limits:     all values and sums lie within 2047 of 0, which suffices for reads of some hundred symbols.
// Oracle:     src/papara/oracle.rs

#import papara_halves
#import papara
