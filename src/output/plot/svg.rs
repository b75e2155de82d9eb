//! Writes a drawing as SVG 1.1. The file needs no other file and no script.

use std::fmt::Arguments;
use std::io::Write;

use super::bitmap::encode_levels;
use super::colours::Rgb;
use super::drawing::{Caption, CaptionAnchor, Drawing, DrawnShape};
use crate::error::Result;
use crate::output::markup::{push_base64, push_html};
use crate::output::point::Point;

/// First line of a file.
pub(in crate::output) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
/// Start of a group of paths.
const PATH_GROUP: &str = "<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
/// Distance from half the height of capital letters down to the base line, as a share of the size.
const BASE: f64 = 0.36;

fn put(out: &mut Vec<u8>, text: Arguments<'_>) {
    out.write_fmt(text).expect("a vector takes all");
}

/// Formats a coordinate with at most two decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

fn hexadecimal([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns the bytes of the file.
///
/// # Errors
/// Returns [`crate::Error::Internal`] if an image cannot be encoded.
pub(super) fn bytes(drawing: &Drawing) -> Result<Vec<u8>> {
    let mut out = DECLARATION.as_bytes().to_vec();
    push_element(&mut out, drawing)?;
    Ok(out)
}

/// Returns the SVG element of the file.
///
/// # Errors
/// Returns [`crate::Error::Internal`] if an image cannot be encoded.
pub(super) fn element(drawing: &Drawing) -> Result<String> {
    let mut out = Vec::new();
    push_element(&mut out, drawing)?;
    Ok(String::from_utf8(out).expect("all parts are text"))
}

fn push_element(out: &mut Vec<u8>, drawing: &Drawing) -> Result<()> {
    let (width, height) = (drawing.size.width.ceil(), drawing.size.height.ceil());
    put(out, format_args!("<svg version=\"1.1\" "));
    put(out, format_args!("xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "));
    put(out, format_args!("width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" "));
    put(out, format_args!("font-family=\"sans-serif\">\n"));
    put(out, format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"));
    let mut is_in_group = false;
    for shape in &drawing.shapes {
        // Neighbouring paths share their attributes.
        if is_in_group != matches!(shape, DrawnShape::Path { .. }) {
            is_in_group = !is_in_group;
            put(out, format_args!("{}", if is_in_group { PATH_GROUP } else { "</g>\n" }));
        }
        match shape {
            DrawnShape::Rectangle { at, size, colour, tip } => {
                let [x, y, width, height] = [at.x, at.y, size.width, size.height].map(number);
                put(out, format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" "));
                put(out, format_args!("fill=\"{}\"", hexadecimal(*colour)));
                if tip.is_empty() {
                    put(out, format_args!("/>\n"));
                } else {
                    push_tip(out, tip);
                    put(out, format_args!("</rect>\n"));
                }
            }
            DrawnShape::Lines { colour, width, ends } => {
                let (colour, width) = (hexadecimal(*colour), number(*width));
                put(out, format_args!("<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" "));
                put(out, format_args!("stroke-linecap=\"square\" d=\""));
                for line in ends {
                    let [x, y, to_x, to_y] = line.map(number);
                    let step = if y == to_y { format!("H{to_x}") } else { format!("V{to_y}") };
                    put(out, format_args!("M{x} {y}{step}"));
                }
                put(out, format_args!("\"/>\n"));
            }
            DrawnShape::Path { colour, width, points, tip } => push_path(out, *colour, *width, points, tip),
            DrawnShape::Cells { at, cell, columns, levels } => {
                let (width, height) = (columns * cell, levels.len() / (*columns).max(1) * cell);
                if width > 0 && height > 0 {
                    let [x, y] = [at.x, at.y].map(number);
                    put(out, format_args!("<image x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" "));
                    put(out, format_args!("image-rendering=\"optimizeSpeed\" xlink:href=\"data:image/png;base64,"));
                    push_base64(out, &encode_levels(levels, *columns, *cell)?);
                    put(out, format_args!("\"/>\n"));
                }
            }
            DrawnShape::Text(caption) => push_caption(out, caption),
        }
    }
    put(out, format_args!("{}</svg>\n", if is_in_group { "</g>\n" } else { "" }));
    Ok(())
}

/// Appends connected lines. Each line is the difference of two rounded points, so that errors do not
/// add up.
fn push_path(out: &mut Vec<u8>, colour: Rgb, width: f64, points: &[Point], tip: &str) {
    let hundredths = |&Point { x, y }: &Point| Point::new((100.0 * x).round(), (100.0 * y).round());
    let Some((first, rest)) = points.split_first() else { return };
    let (colour, width) = (hexadecimal(colour), number(width));
    let mut last = hundredths(first);
    put(out, format_args!("<path stroke=\"{colour}\" stroke-width=\"{width}\" "));
    put(out, format_args!("d=\"M{} {}", number(last.x / 100.0), number(last.y / 100.0)));
    // A line without length is a dot, because its ends are round.
    if rest.is_empty() {
        put(out, format_args!("h0"));
    }
    for point in rest.iter().map(hundredths) {
        let [across, down] = [point.x - last.x, point.y - last.y].map(|difference| number(difference / 100.0));
        put(out, format_args!("l{across} {down}"));
        last = point;
    }
    if tip.is_empty() {
        put(out, format_args!("\"/>\n"));
    } else {
        out.push(b'"');
        push_tip(out, tip);
        put(out, format_args!("</path>\n"));
    }
}

/// Closes a start tag, and appends a text that appears at the pointer.
fn push_tip(out: &mut Vec<u8>, tip: &str) {
    put(out, format_args!("><title>"));
    push_html(out, tip);
    put(out, format_args!("</title>"));
}

fn push_caption(out: &mut Vec<u8>, caption: &Caption) {
    let Point { x, y } = caption.at;
    let down = BASE * caption.size;
    let place = if caption.is_upright {
        let [x, y] = [x + down, y].map(number);
        format!("x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\"")
    } else {
        format!("x=\"{}\" y=\"{}\"", number(x), number(y + down))
    };
    put(out, format_args!("<text {place} font-size=\"{}\"", number(caption.size)));
    match caption.anchor {
        CaptionAnchor::Start => {}
        CaptionAnchor::Middle => put(out, format_args!(" text-anchor=\"middle\"")),
        CaptionAnchor::End => put(out, format_args!(" text-anchor=\"end\"")),
    }
    if caption.colour != [0; 3] {
        put(out, format_args!(" fill=\"{}\"", hexadecimal(caption.colour)));
    }
    if caption.tip.is_empty() {
        out.push(b'>');
    } else {
        push_tip(out, &caption.tip);
    }
    push_html(out, &caption.text);
    put(out, format_args!("</text>\n"));
}

#[cfg(test)]
pub(in crate::output) mod tests {
    use super::*;

    /// Checks that tags are balanced and that no text contains a bare `<`, `>` or `&`. Returns the
    /// number of elements of each name that `names` lists.
    pub(in crate::output) fn elements<const N: usize>(svg: &str, names: [&str; N]) -> [usize; N] {
        let body = svg.strip_prefix(DECLARATION).expect("the declaration");
        let (mut open, mut counts) = (Vec::new(), [0; N]);
        let mut rest = body;
        while let Some((text, after)) = rest.split_once('<') {
            assert!(!text.contains('>'), "{text}");
            for part in text.split('&').skip(1) {
                assert!(["amp;", "lt;", "gt;"].iter().any(|entity| part.starts_with(entity)), "{text}");
            }
            let (tag, after) = after.split_once('>').expect("a tag ends");
            assert!(!tag.contains('<') && tag.matches('"').count() % 2 == 0, "{tag}");
            let name = tag.trim_matches('/').split(' ').next().unwrap();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else {
                (0..N).filter(|&index| names[index] == name).for_each(|index| counts[index] += 1);
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
            rest = after;
        }
        assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
        counts
    }

    /// Asserts that no two texts of a drawing overlap, and that all are inside of it.
    pub(in crate::output) fn assert_texts_are_apart(drawing: &Drawing) {
        let captions: Vec<&Caption> = drawing
            .shapes
            .iter()
            .filter_map(|shape| if let DrawnShape::Text(caption) = shape { Some(caption) } else { None })
            .collect();
        for (index, one) in captions.iter().enumerate() {
            let [left, top, right, bottom] = one.bounds();
            assert!(
                left >= 0.0 && top >= 0.0 && right <= drawing.size.width && bottom <= drawing.size.height,
                "{one:?}"
            );
            for other in &captions[..index] {
                let [other_left, other_top, other_right, other_bottom] = other.bounds();
                let is_apart = right <= other_left || other_right <= left || bottom <= other_top || other_bottom <= top;
                assert!(is_apart, "{one:?}\n{other:?}");
            }
        }
    }

    #[test]
    fn texts_are_escaped() {
        let mut drawing = Drawing::default();
        let text = "a<b & \"c\">'d'";
        drawing.text(Caption {
            tip: text.into(),
            is_upright: true,
            ..Caption::new(text, Point::new(20.0, 200.0), 10.0)
        });
        let svg = String::from_utf8(bytes(&drawing).unwrap()).unwrap();
        assert_eq!(svg.matches(">a&lt;b &amp; \"c\"&gt;'d'</").count(), 2);
        assert_eq!(elements(&svg, ["svg", "text", "title", "rect"]), [1, 1, 1, 1]);
    }

    #[test]
    fn paths_are_continuous() {
        let mut drawing = Drawing::default();
        let (colour, width) = ([255, 0, 0], 1.5);
        for (points, tip) in
            [(vec![(1.004, 2.0), (2.008, 2.504), (1.0, 2.0)], "a<b"), (vec![(3.0, 4.0)], ""), (vec![], "")]
        {
            let points = points.into_iter().map(|(x, y)| Point { x, y }).collect();
            drawing.shapes.push(DrawnShape::Path { colour, width, points, tip: tip.into() });
        }
        let svg = String::from_utf8(bytes(&drawing).unwrap()).unwrap();
        assert_eq!(elements(&svg, ["g", "path", "title"]), [1, 2, 1]);
        assert!(svg.contains("d=\"M1 2l1.01 0.5l-1.01 -0.5\"><title>a&lt;b</title></path>"), "{svg}");
        assert!(svg.contains("stroke-width=\"1.5\" d=\"M3 4h0\"/>\n</g>\n</svg>"));
        assert_eq!(svg.split_once('\n').unwrap().1, element(&drawing).unwrap());
    }

    #[test]
    fn coordinates_have_at_most_two_decimals() {
        assert_eq!([0.0, -0.001, 1.0, 0.5, 12.346, 100.0].map(number), ["0", "0", "1", "0.5", "12.35", "100"]);
    }
}
