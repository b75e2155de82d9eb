//! Mode of a multiple alignment with its settings.

use super::costs::{cost_of, series};
use crate::cli::args::{IterateName, ProfileScoringArgs};
use crate::cli::common::first_given;
use crate::cli::tips::percentage_advice;
use pairwave::jobs::msa::MsaMode;
use pairwave::seq::Alphabet;
use pairwave::{Error, Result, posterior, profile};

/// Mode with its given settings.
#[derive(Debug)]
pub(super) enum ModeChoice {
    Accurate(ProfileScoringArgs),
    Clustal(ProfileScoringArgs),
}

impl ModeChoice {
    /// Returns the mode with all settings for this alphabet.
    pub(super) fn resolve(&self, alphabet: Alphabet) -> Result<MsaMode> {
        match self {
            ModeChoice::Clustal(given) => Ok(MsaMode::Clustal(given.profile(alphabet)?)),
            ModeChoice::Accurate(given) => {
                let mut options = posterior::PosteriorOptions::default();
                options.rounds = given.consistency.unwrap_or(options.rounds);
                options.refinements = given.refinements.map_or(options.refinements, |most| most as usize);
                Ok(MsaMode::Accurate(options))
            }
        }
    }
}

impl ProfileScoringArgs {
    /// Returns the first given option that applies to ClustalW's mode.
    pub(super) fn of_clustal(&self) -> Option<&'static str> {
        let given = [
            ("--matrix", self.matrix.is_some()),
            ("--gap-open", self.gap_open.is_some()),
            ("--gap-extend", self.gap_extend.is_some()),
            ("--transition-weight", self.transition_weight.is_some()),
            ("--gap-distance", self.gap_distance.is_some()),
            ("--hydrophilic", self.hydrophilic.is_some()),
            ("--no-residue-gaps", self.no_residue_gaps),
            ("--delay", self.delay.is_some()),
            ("--negative", self.negative),
            ("--no-weights", self.no_weights),
            ("--iterate", self.iterate.is_some()),
        ];
        first_given(&given)
    }

    /// Returns the first given option that applies to the accurate mode.
    pub(super) fn of_accurate(&self) -> Option<&'static str> {
        let given = [("--consistency", self.consistency.is_some()), ("--refinements", self.refinements.is_some())];
        first_given(&given)
    }

    /// Rejects options that apply to another alphabet.
    fn check_letters(&self, alphabet: Alphabet) -> Result<()> {
        let others = match alphabet {
            Alphabet::Protein => vec![("--transition-weight", self.transition_weight.is_some(), "nucleotides")],
            _ => vec![
                ("--gap-distance", self.gap_distance.is_some(), "proteins"),
                ("--hydrophilic", self.hydrophilic.is_some(), "proteins"),
                ("--no-residue-gaps", self.no_residue_gaps, "proteins"),
            ],
        };
        if let Some((option, _, letters)) = others.into_iter().find(|(_, given, _)| *given) {
            return Err(Error::usage(format!(
                "{option} applies only to {letters}, but the sequences are {}: remove it",
                alphabet.letters()
            )));
        }
        Ok(())
    }

    /// Returns the options of ClustalW's mode for this alphabet.
    fn profile(&self, alphabet: Alphabet) -> Result<profile::ProfileOptions> {
        self.check_letters(alphabet)?;
        let mut options = profile::ProfileOptions::new(alphabet);
        if let Some(name) = &self.matrix {
            options.series = series(name, alphabet)?;
        }
        for (option, typed, cost) in [
            ("--gap-open", self.gap_open, &mut options.gap_open),
            ("--gap-extend", self.gap_extend, &mut options.gap_extend),
        ] {
            let Some(typed) = typed else { continue };
            *cost = cost_of(option, typed)?;
        }
        options.transitions = self.transitions()?;
        if let Some(columns) = self.gap_distance {
            options.gap_distance = i32::from(columns);
        }
        if let Some(letters) = &self.hydrophilic {
            options.hydrophilic = hydrophilic(letters)?;
        }
        if let Some(percent) = self.delay {
            options.delay = i32::from(percent);
        }
        options.by_residue = !self.no_residue_gaps;
        options.negative = self.negative;
        options.weighted = !self.no_weights;
        options.iterate = match self.iterate {
            None => profile::Iterate::No,
            Some(IterateName::Tree) => profile::Iterate::Tree,
            Some(IterateName::Alignment) => profile::Iterate::Alignment,
        };
        Ok(options)
    }

    /// Returns the score of a transition, as a fraction of a match.
    pub(super) fn transitions(&self) -> Result<f32> {
        match self.transition_weight {
            Some(share) if !(0.0..=1.0).contains(&share) => {
                let advice = percentage_advice(f64::from(share));
                Err(Error::usage(format!("--transition-weight {share}: must be from 0 to 1{advice}")))
            }
            share => Ok(share.unwrap_or(0.5)),
        }
    }
}

/// Parses the hydrophilic residues. Gaps in runs of them cost less.
fn hydrophilic(letters: &str) -> Result<Vec<u8>> {
    let upper = letters.to_ascii_uppercase().into_bytes();
    match upper.iter().find(|letter| !letter.is_ascii_uppercase()) {
        _ if upper == b"NONE" => Ok(Vec::new()),
        None if !upper.is_empty() => Ok(upper),
        _ => Err(Error::usage(format!("--hydrophilic '{letters}': must be letters of residues, or 'none'"))),
    }
}
