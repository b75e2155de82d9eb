// papara_block_half: papara_block in packed halves.
// Recurrence: that of common/papara.wgsl.
// Owns:       four invocations have a read against an octet of vectors, each two of these.
// Layout:     that of common/papara.wgsl.
// Invariant:  that of common/papara.wgsl.
// Uniform:    no barrier.
// Limits:     all that is held and added is within 2047 of 0: reads of some hundred symbols.
// Oracle:     src/papara/oracle.rs

#import papara_halves
#import papara
