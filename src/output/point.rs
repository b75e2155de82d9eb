//! Points and sizes of shapes.

use std::ops::{Add, Sub};

/// A point of a picture, or the offset between two points. Coordinates are in units unless a
/// comment names others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Point {
    /// Distance to the right.
    pub(super) x: f64,
    /// Distance downwards.
    pub(super) y: f64,
}

impl Point {
    pub(super) const fn new(x: f64, y: f64) -> Self {
        Point { x, y }
    }
}

impl Add for Point {
    type Output = Point;

    fn add(self, other: Point) -> Point {
        Point::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Point {
    type Output = Point;

    fn sub(self, other: Point) -> Point {
        Point::new(self.x - other.x, self.y - other.y)
    }
}

/// The size of a rectangle in units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Size {
    /// Returns the size of a square.
    pub(super) const fn square(side: f64) -> Self {
        Size { width: side, height: side }
    }
}
