//! Paths of alignments in dot plots.

use super::axis::Axis;
use crate::error::{Error, Result};
use crate::output::Range32;
use crate::output::columns::AlignmentColumns;
use crate::output::long_context::{LongContext, LongPairAlignment};
use crate::output::point::Point;

/// Greatest distance between a point of a path and the drawn line, in units.
const TOLERANCE: f64 = 0.1;

/// A point of a path, in symbols along both axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisPoint {
    pub(super) target: f64,
    pub(super) query: f64,
}

/// The path of an alignment, without its end gaps.
pub(super) struct HitPath {
    pub(super) is_reverse: bool,
    points: Vec<AxisPoint>,
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
            AxisPoint { target: before_target + f64::from(j), query: before_query + f64::from(i) }
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
    pub(super) fn drawn(&self, to_units: impl Fn(AxisPoint) -> Point) -> Vec<Point> {
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
    low: Point,
    high: Point,
}

/// Returns a positive number if `b` lies counterclockwise of `a`.
fn cross(a: Point, b: Point) -> f64 {
    a.x * b.y - a.y * b.x
}

impl DirectionCone {
    /// Returns the directions that pass a point at this offset. Every direction passes a close point.
    fn around(offset: Point) -> Option<Self> {
        let Point { x, y } = offset;
        let length = (x * x + y * y).sqrt();
        let side = Point::new(-y / length * TOLERANCE, x / length * TOLERANCE);
        (length > TOLERANCE).then_some(DirectionCone { low: offset - side, high: offset + side })
    }

    fn contains(&self, offset: Point) -> bool {
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
fn simplified(mut points: impl Iterator<Item = Point>) -> Vec<Point> {
    let Some(mut anchor) = points.next() else { return Vec::new() };
    let (mut kept, mut last) = (vec![anchor], anchor);
    let mut cone: Option<DirectionCone> = None;
    for point in points {
        if cone.is_some_and(|cone| !cone.contains(point - anchor)) {
            kept.push(last);
            (anchor, cone) = (last, None);
        }
        cone = match (cone, DirectionCone::around(point - anchor)) {
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
    fn distance(point: Point, path: &[Point]) -> f64 {
        let to_line = |ends: &[Point]| {
            let Point { x: across, y: down } = ends[1] - ends[0];
            let Point { x, y } = point - ends[0];
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
                let mut at = Point::default();
                let mut points = vec![at];
                while points.len() < 2000 && at.x < 700.0 {
                    let length = step * random.f64();
                    at = match random.u8(..8) {
                        0 => Point::new(at.x + length, at.y),
                        1 => Point::new(at.x, at.y - length),
                        _ => Point::new(at.x + length, at.y - length),
                    };
                    points.push(at);
                }
                let path = simplified(points.iter().copied());
                assert!(path.len() <= points.len() && path[0] == Point::default() && path[path.len() - 1] == at);
                for point in &points {
                    assert!(distance(*point, &path) <= TOLERANCE + 1e-9, "{point:?} {path:?}");
                }
            }
        }
    }

    #[test]
    fn straight_paths_have_two_points() {
        let diagonal = |number: u32| Point::new(f64::from(number) * 0.007, 700.0 - f64::from(number) * 0.007);
        assert_eq!(simplified((0..=100_000).map(diagonal)), [diagonal(0), diagonal(100_000)]);
        // Short gaps on alternating sides.
        let stairs = |number: u32| Point::new(f64::from(number.div_ceil(2)) * 0.02, f64::from(number / 2) * 0.02);
        assert_eq!(simplified((0..=70_000).map(stairs)).len(), 2);
        let point = Point::new(1.0, 2.0);
        assert_eq!(simplified([point].into_iter()), [point]);
        assert_eq!(simplified([point; 3].into_iter()), [point]);
        let corner = [(0.0, 0.0), (9.0, 9.0), (9.0, 12.0), (12.0, 15.0)].map(|(x, y)| Point { x, y });
        assert_eq!(simplified(corner.into_iter()), corner);
    }
}
