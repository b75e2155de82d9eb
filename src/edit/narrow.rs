//! The patterns whose regions can be searched in lanes of 32 bits.

/// Number of rows of a lane.
pub(super) const ROWS: usize = 32;
/// Minimum number of symbols of a pattern for each edit. With more edits, most regions of random
/// text contain a part within the limit.
pub(super) const SYMBOLS_PER_EDIT: usize = 4;

/// Returns whether a pattern with this number of symbols is short enough, and the limit so low that
/// most regions of random text are excluded.
pub(super) fn is_narrow(symbols: usize, limit: usize) -> bool {
    symbols <= ROWS && limit * SYMBOLS_PER_EDIT <= symbols
}
