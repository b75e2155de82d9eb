//! Warns if a large job must score all pairs, because its scores or its definition of identity prevent
//! a filter by edit distances.

use super::{EditFilter, IdentityGoal, JobExtent, MAX_OVERLAP_SYMBOLS, devices_if_profitable};
use crate::error::Result;
use crate::jobs::Run;
use crate::score::EditMode;
use crate::score::edit_filter::{EditFilterObstacle, edit_limit};
use crate::seq::Alphabet;

/// Warns once if edit distances exclude no pair although a filter was requested or would save time.
///
/// # Errors
/// The errors of an invalid choice of devices.
pub(in crate::jobs) fn warn_if_impossible<'a>(
    goal: &IdentityGoal,
    job: impl Into<JobExtent<'a>>,
    run: &Run,
) -> Result<()> {
    if let Some(text) = warning(goal, &job.into(), run)? {
        tracing::warn!("{text}");
    }
    Ok(())
}

/// Returns the text of the warning, if there is a reason for one.
fn warning(goal: &IdentityGoal, extent: &JobExtent<'_>, run: &Run) -> Result<Option<String>> {
    let Some(identity) = goal.filtered_identity() else { return Ok(None) };
    let is_dna = extent.scoring.alphabet == Alphabet::Dna;
    let is_too_long = extent.longest > MAX_OVERLAP_SYMBOLS;
    let (why, is_of_scheme) = match edit_limit(goal.definition, identity, extent.scoring) {
        Ok(limit) if limit.scheme.mode == EditMode::Global || !is_too_long => return Ok(None),
        Ok(_) => ("some sequences are too long", false),
        Err(EditFilterObstacle::Local) => ("local alignments may have any identity", false),
        Err(EditFilterObstacle::Identity) => ("the minimum identity is too low", false),
        Err(EditFilterObstacle::CountsGaps) => ("this definition of identity counts a gap of any length once", true),
        Err(EditFilterObstacle::CheapEndGaps) => {
            ("gaps at the ends of alignments cost nothing, and no match scores above 0", true)
        }
    };
    let is_forced = goal.edit_filter == EditFilter::On;
    if !(is_forced || is_of_scheme) || devices_if_profitable(goal, identity, extent, run)?.is_none() {
        return Ok(None);
    }
    let faster = match (is_of_scheme, is_dna) {
        (false, _) => "",
        (true, true) => "; the default scheme of scores with definition 1 or 2 of identity is faster",
        (true, false) => "; definition 1 of identity, which counts all columns, is faster",
    };
    Ok(Some(format!("edit distances exclude no pair, because {why}: all {} pairs are scored{faster}", extent.pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::Device;
    use crate::score::{Ambiguity, EndGaps, Gaps, IdentityDefinition, Mode, NamedScheme, Scoring};

    #[test]
    fn only_large_jobs_whose_scores_prevent_the_filter_are_warned_of() {
        let run = Run { devices: vec![Device::Cpu], ..Run::default() };
        let vsearch = NamedScheme::find("vsearch").unwrap().scoring(Alphabet::Dna).unwrap();
        let goal = IdentityGoal {
            definition: IdentityDefinition::InnerColumns,
            min_identity: Some(0.97),
            edit_filter: EditFilter::Auto,
        };
        let text = |goal: &IdentityGoal, scoring: &Scoring, cells: u64| {
            warning(goal, &JobExtent { scoring, longest: 1500, pairs: 7, cells }, &run).unwrap()
        };
        let large = 1 << 40;
        let mbl = IdentityGoal { definition: IdentityDefinition::Mbl, ..goal };
        assert_eq!(
            text(&mbl, &vsearch, large).as_deref(),
            Some(
                "edit distances exclude no pair, because this definition of identity counts a gap of any length once: \
                 all 7 pairs are scored; the default scheme of scores with definition 1 or 2 of identity is faster"
            )
        );
        let protein = text(&mbl, &Scoring::protein(), large);
        assert!(protein.is_some_and(|text| text.ends_with("which counts all columns, is faster")));
        let worthless = Scoring::nucleotide(0, -1, Ambiguity::Overlap, Gaps::linear(2), EndGaps::Free).unwrap();
        let cheap = text(&goal, &worthless, large);
        assert!(cheap.is_some_and(|text| text.contains("gaps at the ends of alignments cost nothing")));
        let local = Scoring { mode: Mode::Local, ..Scoring::dna() };
        let none = [
            text(&mbl, &vsearch, 1 << 20),
            text(&IdentityGoal { min_identity: Some(0.5), ..mbl }, &vsearch, large),
            text(&IdentityGoal { min_identity: None, ..mbl }, &vsearch, large),
            text(&IdentityGoal { edit_filter: EditFilter::Off, ..mbl }, &vsearch, large),
            text(&goal, &vsearch, large),
            text(&goal, &Scoring::dna(), large),
            text(&goal, &local, large),
        ];
        assert_eq!(none, [const { None }; 7]);
        let forced = text(&IdentityGoal { edit_filter: EditFilter::On, ..goal }, &local, 1);
        assert!(forced.is_some_and(|text| text.contains("local alignments may have any identity")));
    }
}
