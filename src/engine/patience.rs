//! How long a device may be silent before its engine is abandoned.

use std::time::Duration;

/// Longest silence of a device, unless the job sets another limit or expects a longer call.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Longest time that a job waits at its end: first for engines whose results are no longer needed,
/// then for devices to close.
pub const GRACE: Duration = Duration::from_secs(5);
/// Largest ratio of the duration of a call to its expected duration.
const CALL_PATIENCE: f64 = 20.0;
/// Factor of the limit for the first calls of an engine, which compile kernels and upload data.
const FIRST_CALL_PATIENCE: f64 = 4.0;

/// Returns the longest allowed duration of a call in seconds.
///
/// The limit is at least `patience`, and grows with the expected duration. It is higher until the
/// engine has proved that it is ready.
pub fn limit(patience: Duration, expected_seconds: f64, is_ready: bool) -> f64 {
    let first = if is_ready { 1.0 } else { FIRST_CALL_PATIENCE };
    first * patience.as_secs_f64().max(CALL_PATIENCE * expected_seconds)
}
