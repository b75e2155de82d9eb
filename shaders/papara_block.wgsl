// papara_block: scores of reads against octets of ancestral state vectors, in i32 lanes
// (inter-reference organisation of Alachiotis, Berger and Stamatakis 2013).
// Recurrence: see common/papara.wgsl.
// Owns:       four invocations compute a read against an octet. Each computes two vectors of the
//             octet.
// Layout:     see common/papara.wgsl.
// Invariant:  see common/papara.wgsl.
// Uniform:    no barrier.
// Limits:     scores below 2^29.
// Oracle:     src/papara/oracle.rs

#import papara_words
#import papara
