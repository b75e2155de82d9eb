//! Parameters of the model of two profiles.

/// Parameters, with defaults that proved accurate in experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ProfileTuning {
    /// Fraction of a column that is inferred if the profile has one distinct letter.
    pub guess: f32,
    /// Number of additional distinct letters that halves this fraction.
    pub known: f32,
    /// Exponent of the fraction of residues in a match.
    pub thin: f32,
    /// Exponent of the fraction of residues in a gap.
    pub gaps: f32,
    /// Weight of a residue that faces a gap of the other profile.
    pub mixed: f32,
    /// Weight of a column outside the alignment.
    pub outside: f32,
    /// Weight of the probabilities from pairs of sequences, 0 to 1. Those from profiles have the
    /// remaining weight.
    pub pairs: f32,
    /// Maximum number of representatives of a group.
    pub representatives: usize,
}

impl Default for ProfileTuning {
    fn default() -> Self {
        ProfileTuning {
            guess: 1.0,
            known: 3.0,
            thin: 1.0,
            gaps: 1.0,
            mixed: 0.5,
            outside: 0.97,
            pairs: 0.8,
            representatives: 24,
        }
    }
}
