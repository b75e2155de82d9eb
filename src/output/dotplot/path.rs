//! Paths of alignments in dot plots.

use super::axis::Axis;
use crate::error::{Error, Result};
use crate::output::Range32;
use crate::output::columns::AlignmentColumns;
use crate::output::long_context::{LongContext, LongPairAlignment};

/// Greatest distance between a point of a path and the drawn line, in units.
const TOLERANCE: f64 = 0.1;

/// The path of an alignment, without its end gaps.
pub(super) struct HitPath {
    pub(super) is_reverse: bool,
    /// Points in symbols: along the axis of the targets, and of the queries.
    points: Vec<(f64, f64)>,
    /// Description of the alignment.
    pub(super) tip: String,
}

impl HitPath {
    /// # Errors
    /// Returns an error if there is only a score.
    pub(super) fn new(
        all: &LongContext,
        alignment: &LongPairAlignment<'_>,
        [targets, queries]: [&Axis<'_>; 2],
    ) -> Result<Self> {
        let (context, pair) = all.pair(alignment)?;
        let cigar = pair.alignment.ok_or_else(|| Error::Internal("a pair without its alignment".into()))?;
        let columns = context.columns(&pair)?;
        let (mut i, mut j) = (columns.query.start, columns.target.start);
        let query_length = all.queries().length(alignment.query_id);
        let (before_target, before_query) = (targets.start(alignment.target_id), queries.start(alignment.query_id));
        let position = |i: u32, j: u32| {
            let i = if alignment.is_reverse { query_length - i } else { i };
            (before_target + f64::from(j), before_query + f64::from(i))
        };
        let mut points = vec![position(i, j)];
        for (length, op) in columns.inner_runs(cigar) {
            i += if op.consumes_query() { length } else { 0 };
            j += if op.consumes_target() { length } else { 0 };
            points.push(position(i, j));
        }
        let tip = tip(alignment, &columns, query_length, [targets, queries]);
        Ok(HitPath { is_reverse: alignment.is_reverse, points, tip })
    }

    /// Returns the points in units, without those that are too close to a straight line to see.
    pub(super) fn drawn(&self, to_units: impl Fn((f64, f64)) -> (f64, f64)) -> Vec<(f64, f64)> {
        simplified(self.points.iter().map(|&point| to_units(point)))
    }
}

/// Describes an alignment: positions count from 1 on the strands of the files.
fn tip(
    alignment: &LongPairAlignment<'_>,
    columns: &AlignmentColumns,
    query_length: u32,
    [targets, queries]: [&Axis<'_>; 2],
) -> String {
    let (start, end) = (columns.query.start, columns.query.end);
    let (query, strand) = match alignment.is_reverse {
        true => (Range32 { start: query_length - end, end: query_length - start }, "reverse complement"),
        false => (columns.query, "forward strand"),
    };
    let [query, target] = [query, columns.target].map(|part| {
        let (first, last) = part.one_based();
        format!("{first}-{last}")
    });
    let names = (queries.name(alignment.query_id), targets.name(alignment.target_id));
    let score = match alignment.part_of {
        Some(whole) if whole.parts > 1 => format!("part of an alignment with score {}", whole.score),
        _ => format!("score {}", alignment.score),
    };
    format!("query {} {query}, target {} {target}, {strand}, {score}", names.0, names.1)
}

/// The directions in which a straight line from a point passes all later points at a distance of at
/// most [`TOLERANCE`].
#[derive(Debug, Clone, Copy)]
struct DirectionCone {
    low: (f64, f64),
    high: (f64, f64),
}

/// Returns a positive number if `b` lies counterclockwise of `a`.
fn cross(a: (f64, f64), b: (f64, f64)) -> f64 {
    a.0 * b.1 - a.1 * b.0
}

impl DirectionCone {
    /// Returns the directions that pass a point at this offset. Every direction passes a close point.
    fn around((x, y): (f64, f64)) -> Option<Self> {
        let length = (x * x + y * y).sqrt();
        let (across, down) = (-y / length * TOLERANCE, x / length * TOLERANCE);
        (length > TOLERANCE).then_some(DirectionCone { low: (x - across, y - down), high: (x + across, y + down) })
    }

    fn contains(&self, offset: (f64, f64)) -> bool {
        cross(self.low, offset) >= 0.0 && cross(offset, self.high) >= 0.0
    }

    fn intersection(&self, other: &Self) -> Self {
        DirectionCone {
            low: if cross(self.low, other.low) > 0.0 { other.low } else { self.low },
            high: if cross(other.high, self.high) > 0.0 { other.high } else { self.high },
        }
    }
}

/// Drops points of a path that runs in one direction along each axis. Every dropped point is at most
/// [`TOLERANCE`] away from the remaining lines.
fn simplified(mut points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let Some(mut anchor) = points.next() else { return Vec::new() };
    let (mut kept, mut last) = (vec![anchor], anchor);
    let mut cone: Option<DirectionCone> = None;
    for point in points {
        let offset = |anchor: (f64, f64)| (point.0 - anchor.0, point.1 - anchor.1);
        if cone.is_some_and(|cone| !cone.contains(offset(anchor))) {
            kept.push(last);
            (anchor, cone) = (last, None);
        }
        cone = match (cone, DirectionCone::around(offset(anchor))) {
            (Some(cone), Some(next)) => Some(cone.intersection(&next)),
            (cone, next) => cone.or(next),
        };
        last = point;
    }
    if last != anchor {
        kept.push(last);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the distance between a point and the nearest line of a path.
    fn distance(point: (f64, f64), path: &[(f64, f64)]) -> f64 {
        let to_line = |ends: &[(f64, f64)]| {
            let (across, down) = (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1);
            let (x, y) = (point.0 - ends[0].0, point.1 - ends[0].1);
            let share = ((x * across + y * down) / (across * across + down * down)).clamp(0.0, 1.0);
            f64::hypot(x - share * across, y - share * down)
        };
        path.windows(2).map(to_line).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn simplified_paths_stay_close() {
        let mut random = fastrand::Rng::with_seed(7);
        for step in [0.0004, 0.03, 0.3, 5.0] {
            for _ in 0..20 {
                let mut at = (0.0, 0.0);
                let mut points = vec![at];
                while points.len() < 2000 && at.0 < 700.0 {
                    let length = step * random.f64();
                    at = match random.u8(..8) {
                        0 => (at.0 + length, at.1),
                        1 => (at.0, at.1 - length),
                        _ => (at.0 + length, at.1 - length),
                    };
                    points.push(at);
                }
                let path = simplified(points.iter().copied());
                assert!(path.len() <= points.len() && path[0] == (0.0, 0.0) && path[path.len() - 1] == at);
                for point in &points {
                    assert!(distance(*point, &path) <= TOLERANCE + 1e-9, "{point:?} {path:?}");
                }
            }
        }
    }

    #[test]
    fn straight_paths_have_two_points() {
        let diagonal = |number: u32| (f64::from(number) * 0.007, 700.0 - f64::from(number) * 0.007);
        assert_eq!(simplified((0..=100_000).map(diagonal)), [diagonal(0), diagonal(100_000)]);
        // Short gaps on alternating sides.
        let stairs = |number: u32| (f64::from(number.div_ceil(2)) * 0.02, f64::from(number / 2) * 0.02);
        assert_eq!(simplified((0..=70_000).map(stairs)).len(), 2);
        assert_eq!(simplified([(1.0, 2.0)].into_iter()), [(1.0, 2.0)]);
        assert_eq!(simplified([(1.0, 2.0); 3].into_iter()), [(1.0, 2.0)]);
        let corner = [(0.0, 0.0), (9.0, 9.0), (9.0, 12.0), (12.0, 15.0)];
        assert_eq!(simplified(corner.into_iter()), corner);
    }
}
