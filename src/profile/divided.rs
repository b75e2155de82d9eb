//! Rectangles of the matrix of two profiles that are divided already: a tree of crossings, of which the recursion does the rest.

use super::pass::Rectangle;

/// Where an alignment crosses the middle row of a rectangle: behind so many of its columns, and whether it is in a gap there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    /// Columns before it.
    pub column: usize,
    /// Whether it is in a gap in the second profile.
    pub in_gap: bool,
}

/// Crossings of rectangles: of the whole matrix, and of the two rectangles that remain of rectangle k, which are 2 k + 1 and
/// 2 k + 2.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Divided(pub Vec<Option<Crossing>>);

impl Divided {
    /// The crossing of a rectangle, if it is divided.
    pub fn crossing(&self, node: usize) -> Option<Crossing> {
        self.0.get(node).copied().flatten()
    }

    /// Says what is wrong with crossings that cannot be those of such a matrix.
    ///
    /// # Errors
    /// A column that is not in its rectangle, or a rectangle that nothing is left of.
    pub fn check(&self, [m, n]: [usize; 2]) -> Result<(), String> {
        let mut nodes = vec![(0, Rectangle { a: 0, b: 0, m, n, opens: false, closes: false })];
        while let Some((node, rectangle)) = nodes.pop() {
            let Some(crossing) = self.crossing(node) else { continue };
            if rectangle.m < 2 || rectangle.n == 0 || crossing.column > rectangle.n {
                return Err(format!("{crossing:?} in a rectangle of {} rows and {} columns", rectangle.m, rectangle.n));
            }
            let [upper, lower] = rectangle.divided(crossing);
            nodes.extend([(2 * node + 1, upper), (2 * node + 2, lower)]);
        }
        Ok(())
    }
}

impl Rectangle {
    /// What remains of it on both sides of a crossing. A gap takes the rows on both sides of the middle along.
    pub(super) fn divided(&self, Crossing { column, in_gap }: Crossing) -> [Rectangle; 2] {
        let &Rectangle { a, b, m, n, opens, closes } = self;
        let (middle, skipped) = (m / 2, usize::from(in_gap));
        let upper = Rectangle { a, b, m: middle - skipped, n: column, opens, closes: !in_gap };
        let lower = Rectangle {
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
    fn crossings_that_cannot_be_are_told() {
        let crossing = |column, in_gap| Some(Crossing { column, in_gap });
        assert_eq!(Divided(vec![crossing(3, false), crossing(3, true), None]).check([9, 7]), Ok(()));
        assert_eq!(Divided(Vec::new()).check([0, 0]), Ok(()));
        for wrong in [
            vec![crossing(8, false)],
            vec![crossing(3, false), crossing(4, false)],
            vec![crossing(3, false), None, crossing(5, false)],
            // Nothing is left above.
            vec![crossing(0, false), crossing(0, false)],
            vec![crossing(3, true), crossing(1, true), None, crossing(0, false)],
        ] {
            assert!(Divided(wrong.clone()).check([9, 7]).is_err(), "{wrong:?}");
        }
    }
}
