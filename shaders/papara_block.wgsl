// papara_block: scores of a read against blocks of ancestral state vectors, in numbers of 32 bits (inter-reference organisation of
// Alachiotis, Berger and Stamatakis 2013).
// Recurrence: that of common/papara.wgsl.
// Owns:       four invocations have a read against an octet of vectors, each two of these.
// Layout:     that of common/papara.wgsl.
// Invariant:  that of common/papara.wgsl.
// Uniform:    no barrier.
// Limits:     scores below 2^29.
// Oracle:     src/papara/oracle.rs

#import papara_words
#import papara
