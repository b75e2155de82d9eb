//! How long devices may be silent before they are given up.

use std::time::Duration;

/// How long a device may be silent, if nothing else is said and it is not expected to need longer.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// How long a job waits at its end for engines that compute what nobody wants any more, and for devices to be closed.
pub const GRACE: Duration = Duration::from_secs(5);
/// By how much a call may last longer than expected.
const CALL_PATIENCE: f64 = 20.0;
/// How much longer an engine's first calls may last, in which it compiles and uploads.
const FIRST_CALL_PATIENCE: f64 = 4.0;

/// How long a call may last of which so many seconds are expected: no less than `patience`, and longer as long as the
/// engine has not shown that it is ready.
pub fn limit(patience: Duration, expected_seconds: f64, has_shown: bool) -> f64 {
    let first = if has_shown { 1.0 } else { FIRST_CALL_PATIENCE };
    first * patience.as_secs_f64().max(CALL_PATIENCE * expected_seconds)
}
