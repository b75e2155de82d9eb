//! Labels along the axes of pictures.

/// Maximum number of labels along an axis.
const MAX_TICKS: usize = 9;

/// Returns the positions of labels, from one end of an axis to the other. Positions on logarithmic
/// axes are powers of 2.
pub(crate) fn ticks(low: f64, high: f64, is_log: bool) -> Vec<f64> {
    let rough = (high - low).max(1e-9) / (MAX_TICKS - 1) as f64;
    let step = if is_log {
        rough.ceil().max(1.0)
    } else {
        let power = 10f64.powf(rough.log10().floor());
        [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough).unwrap_or(rough)
    };
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last).map(|tick| tick as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        assert_eq!(ticks(0.0, 76.8, false), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
        assert_eq!(ticks(7.0, 14.0, true), [7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0]);
        for (low, high) in [(0.0, 1e-4), (0.0, 0.3), (3.0, 3.0), (0.0, 1e12), (-17.0, 13.0)] {
            for is_log in [false, true] {
                let ticks = ticks(low, high, is_log);
                assert!(ticks.len() <= MAX_TICKS + 1 && ticks[0] <= low && ticks[ticks.len() - 1] >= high, "{ticks:?}");
            }
        }
    }
}
