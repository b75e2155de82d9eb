//! A matrix of two profiles that has been divided into rectangles: a tree of crossings. The
//! recursion aligns the rectangles that remain.

use super::pass::ProfileRectangle;

/// Position where an alignment crosses the middle row of a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileCrossing {
    /// Number of columns of the rectangle before the crossing.
    pub column: usize,
    /// Whether the crossing is inside a gap in the second profile.
    pub in_gap: bool,
}

/// Crossings of rectangles as a binary heap. Entry 0 is the whole matrix, and entries `2 k + 1` and
/// `2 k + 2` are the two rectangles that remain of rectangle `k`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DividedRectangles(pub Vec<Option<ProfileCrossing>>);

impl DividedRectangles {
    /// Returns the crossing of a rectangle, if it is divided.
    pub fn crossing(&self, node: usize) -> Option<ProfileCrossing> {
        self.0.get(node).copied().flatten()
    }

    /// Checks that the crossings are possible in a matrix with `m` rows and `n` columns.
    ///
    /// # Errors
    /// Returns a message if a column is outside its rectangle, or if a divided rectangle is too
    /// small.
    pub fn check(&self, [m, n]: [usize; 2]) -> Result<(), String> {
        let mut nodes = vec![(0, ProfileRectangle { a: 0, b: 0, m, n, opens: false, closes: false })];
        while let Some((node, rectangle)) = nodes.pop() {
            let Some(crossing) = self.crossing(node) else { continue };
            if rectangle.m < 2 || rectangle.n == 0 || crossing.column > rectangle.n {
                let ProfileRectangle { m, n, .. } = rectangle;
                return Err(format!(
                    "an impossible crossing at column {} of a rectangle of {m} rows and {n} columns",
                    crossing.column
                ));
            }
            let [upper, lower] = rectangle.divided(crossing);
            nodes.extend([(2 * node + 1, upper), (2 * node + 2, lower)]);
        }
        Ok(())
    }
}

impl ProfileRectangle {
    /// Returns the rectangles that remain on both sides of a crossing. A gap at the crossing covers
    /// the rows on both sides of the middle.
    pub(super) fn divided(&self, ProfileCrossing { column, in_gap }: ProfileCrossing) -> [ProfileRectangle; 2] {
        let &ProfileRectangle { a, b, m, n, opens, closes } = self;
        let (middle, skipped) = (m / 2, usize::from(in_gap));
        let upper = ProfileRectangle { a, b, m: middle - skipped, n: column, opens, closes: !in_gap };
        let lower = ProfileRectangle {
            a: a + middle + skipped,
            b: b + column,
            m: m - middle - skipped,
            n: n - column,
            opens: !in_gap,
            closes,
        };
        [upper, lower]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_crossings_are_refused() {
        let crossing = |column, in_gap| Some(ProfileCrossing { column, in_gap });
        assert_eq!(DividedRectangles(vec![crossing(3, false), crossing(3, true), None]).check([9, 7]), Ok(()));
        assert_eq!(DividedRectangles(Vec::new()).check([0, 0]), Ok(()));
        for wrong in [
            vec![crossing(8, false)],
            vec![crossing(3, false), crossing(4, false)],
            vec![crossing(3, false), None, crossing(5, false)],
            // The upper rectangle has no columns.
            vec![crossing(0, false), crossing(0, false)],
            vec![crossing(3, true), crossing(1, true), None, crossing(0, false)],
        ] {
            assert!(DividedRectangles(wrong.clone()).check([9, 7]).is_err(), "{wrong:?}");
        }
    }
}
