//! Probabilities that two residues belong together, made consistent over all sequences, and alignments by them.
