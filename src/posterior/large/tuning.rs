//! Numbers of the model of two profiles.

/// What was found to be good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tuning {
    /// How much is guessed of a column of one letter.
    pub guess: f32,
    /// Different letters that halve the guess.
    pub known: f32,
    /// To what power the share of residues counts in a match.
    pub thin: f32,
    /// To what power it counts in a gap.
    pub gaps: f32,
    /// What a residue weighs that stands beside a gap of the other profile.
    pub mixed: f32,
    /// What a column outside the alignment weighs.
    pub outside: f32,
    /// How much pairs of sequences count; profiles count for the rest of 1.
    pub pairs: f32,
    /// Sequences that stand for a group.
    pub representatives: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            guess: 1.0,
            known: 3.0,
            thin: 1.0,
            gaps: 1.0,
            mixed: 0.5,
            outside: 0.97,
            pairs: 0.8,
            representatives: 16,
        }
    }
}
