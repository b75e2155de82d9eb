//! Rows of the matrices that the oracles fill.

/// Returns rows `i - 1` and `i` of a matrix.
pub(crate) fn row_and_row_above<T>(matrix: &mut [Vec<T>], i: usize) -> (&[T], &mut [T]) {
    let (above, from) = matrix.split_at_mut(i);
    (&above[i - 1], &mut from[0])
}
