//! Colours that are distinguishable with any colour vision: seven colours of lines, and the colour
//! scale Viridis, which is perceptually uniform.

/// Red, green and blue.
pub(in crate::output) type Rgb = [u8; 3];

pub(in crate::output) const BLACK: Rgb = [0; 3];
pub(super) const GREY: Rgb = [110; 3];

/// Colours of lines (Okabe and Ito 2008), without yellow, which is faint.
pub(crate) const LINE_COLOURS: [Rgb; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [230, 159, 0], BLACK];

/// Eleven equidistant colours of the scale (Smith and van der Walt 2015).
const SAMPLES: [Rgb; 11] = [
    [68, 1, 84],
    [72, 37, 118],
    [65, 68, 135],
    [53, 96, 141],
    [42, 120, 142],
    [33, 144, 140],
    [34, 168, 132],
    [67, 191, 113],
    [122, 209, 81],
    [187, 223, 39],
    [253, 231, 37],
];

/// Returns the colour of a level, from 0 (dark) to 255 (light).
pub(super) fn of_level(level: u8) -> Rgb {
    let place = usize::from(level) * (SAMPLES.len() - 1);
    let (index, rest) = (place / 255, place % 255);
    let (low, high) = (SAMPLES[index], SAMPLES[(index + 1).min(SAMPLES.len() - 1)]);
    std::array::from_fn(|part| {
        let (low, high) = (usize::from(low[part]), usize::from(high[part]));
        ((low * (255 - rest) + high * rest + 127) / 255) as u8
    })
}

/// Returns the colours of all levels, as the palette of a PNG image.
pub(super) fn palette() -> Vec<u8> {
    (0..=255).flat_map(of_level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_levels_are_lighter() {
        let light = |level: u8| {
            let [red, green, blue] = of_level(level).map(f64::from);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        assert!((0..255).all(|level| light(level) < light(level + 1) + 0.75), "in steps");
        assert!((0..=245).all(|level| light(level) < light(level + 10)), "over ten levels");
        assert_eq!((of_level(0), of_level(255)), (SAMPLES[0], SAMPLES[10]));
        assert_eq!(palette().len(), 3 * 256);
    }
}
