//! What one thread does with a batch: groups of targets in lanes, in the narrowest numbers that hold their scores.

use super::lanes;
use super::lanes::LANES;
use crate::engine::{Batch, Hit, Want};
use crate::error::{Error, Result};
use crate::score::{Mode, OffsetScoring};
use crate::trace::local;

/// Buffers that live from batch to batch; one for each thread.
#[derive(Debug, Default)]
pub struct Workspace {
    narrow: lanes::Workspace<i32>,
    wide: lanes::Workspace<i64>,
    local: local::Buffers,
}

/// Computes all pairs of a batch on this thread: the score of every pair, or of every one that may reach the identity
/// that is wanted, with its matches where they are carried.
///
/// # Errors
/// [`Error::Internal`] if no number format holds the scores.
pub fn run(batch: &Batch, workspace: &mut Workspace) -> Result<Vec<Hit>> {
    let extent = batch.extent();
    let (shorter, sum) = (extent.shorter as u64, extent.sum);
    let scoring = &batch.band.scoring;
    if scoring.mode == Mode::Local {
        return Ok(run_local(batch, &mut workspace.local));
    }
    let with_matches = !matches!(batch.band.want, Want::Scores);
    // 32 bits with the matches; 32 bits without them, as on a device; 64 bits only where the score itself needs them.
    for carry in [with_matches, false] {
        if let Some(scoring) = OffsetScoring::<i32>::new(scoring, shorter, sum, carry) {
            return Ok(run_in(batch, &scoring, &mut workspace.narrow));
        }
    }
    if let Some(scoring) = OffsetScoring::<i64>::new(scoring, shorter, sum, with_matches) {
        return Ok(run_in(batch, &scoring, &mut workspace.wide));
    }
    Err(Error::Internal(format!("scores of {sum} symbols do not fit 64 bits")))
}

/// The local score of every pair, one pair after the other. Matches are not carried.
fn run_local(batch: &Batch, buffers: &mut local::Buffers) -> Vec<Hit> {
    let band = &batch.band;
    let mut hits = Vec::new();
    for block in &batch.blocks {
        let query = band.queries.codes(block.query);
        for &target in &band.order[block.targets.start as usize..block.targets.end as usize] {
            let codes = band.targets.codes(target);
            let score = local::best_score(query, codes, &band.scoring, buffers);
            let keep = match &band.want {
                Want::Reaching(filter) => filter.may_reach(score, None, query.len() as u32, codes.len() as u32),
                Want::Scores | Want::Alignments => true,
            };
            if keep {
                hits.push(Hit { query: block.query, target, score, matches: None });
            }
        }
    }
    hits
}

fn run_in<V: lanes::LaneValue>(
    batch: &Batch,
    scoring: &OffsetScoring<V>,
    workspace: &mut lanes::Workspace<V>,
) -> Vec<Hit> {
    let band = &batch.band;
    let mut hits = Vec::new();
    for block in &batch.blocks {
        let query = band.queries.codes(block.query);
        for ids in band.order[block.targets.start as usize..block.targets.end as usize].chunks(LANES) {
            let targets: Vec<&[u8]> = ids.iter().map(|&id| band.targets.codes(id)).collect();
            let values = lanes::align(scoring, query, &targets, workspace);
            hits.extend(ids.iter().zip(values).filter_map(|(&target, value)| {
                let (m, n) = (query.len() as u32, band.targets.length(target));
                let (score, matches) = scoring.decode(value, m, n);
                let keep = match &band.want {
                    Want::Reaching(filter) => filter.may_reach(score, matches, m, n),
                    Want::Scores | Want::Alignments => true,
                };
                keep.then_some(Hit { query: block.query, target, score, matches })
            }));
        }
    }
    hits
}
