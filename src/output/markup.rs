//! Texts, bytes and templates of HTML pages and SVG pictures.

pub(super) mod chart;

use super::Output;
use crate::error::{Error, Result};

/// Colours and rules that the pages of searches and clusters share.
pub(super) const BASE_STYLE: &str = include_str!("markup/base.css");
/// Rules of pages with charts and tables and without a script.
pub(super) const PAGE_STYLE: &str = include_str!("markup/page.css");
/// Functions that unpack data that is deflated and in base64.
pub(super) const UNPACK: &str = include_str!("markup/unpack.js");

/// The part of a page's template that has not been written yet.
pub(super) struct Template(pub(super) &'static str);

impl Template {
    /// Writes the template up to a mark, which is dropped.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the rest has no such mark, and [`Error::Io`] if writing
    /// fails.
    pub(super) fn up_to(&mut self, mark: &str, output: &mut Output) -> Result<()> {
        let (before, after) =
            self.0.split_once(mark).ok_or_else(|| Error::Internal(format!("a page has no {mark}")))?;
        output.buffer().extend_from_slice(before.as_bytes());
        self.0 = after;
        output.pass_on()
    }

    /// Writes the start of a page: the title, the styles, the title again and the line below it.
    ///
    /// # Errors
    /// The errors of [`Template::up_to`].
    pub(super) fn head(&mut self, title: &str, styles: &[&str], facts: &str, output: &mut Output) -> Result<()> {
        self.up_to("{{title}}", output)?;
        push_html(output.buffer(), title);
        self.up_to("{{style}}", output)?;
        styles.iter().for_each(|style| output.buffer().extend_from_slice(style.as_bytes()));
        self.up_to("{{title}}", output)?;
        push_html(output.buffer(), title);
        self.up_to("{{facts}}", output)?;
        push_html(output.buffer(), facts);
        Ok(())
    }

    /// Writes the rest of the template.
    pub(super) fn end(&mut self, output: &mut Output) {
        output.buffer().extend_from_slice(std::mem::take(&mut self.0).as_bytes());
    }
}

/// Appends a value as JSON for a `script` element. Every `<` is escaped, so that no text ends the
/// element. JSON contains `<` only in strings.
///
/// # Errors
/// Returns [`Error::Internal`] if the value has no JSON.
pub(super) fn push_script_json(out: &mut Vec<u8>, value: &impl serde::Serialize) -> Result<()> {
    let text =
        serde_json::to_string(value).map_err(|problem| Error::Internal(format!("the data of a page: {problem}")))?;
    for (number, piece) in text.split('<').enumerate() {
        if number > 0 {
            out.extend_from_slice(b"\\u003c");
        }
        out.extend_from_slice(piece.as_bytes());
    }
    Ok(())
}

/// Appends bytes in base64, with four characters for every three bytes.
pub(super) fn push_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        let four = [18, 12, 6, 0].map(|shift| LETTERS[(bits >> shift & 63) as usize]);
        out.extend_from_slice(&four[..three.len() + 1]);
        out.extend(std::iter::repeat_n(b'=', 3 - three.len()));
    }
}

/// Appends text of an HTML or SVG element, with its special characters escaped.
pub(super) fn push_html(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            byte => out.push(byte),
        }
    }
}

/// Returns the bytes of a text in base64.
#[cfg(test)]
pub(super) fn decode_base64(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let of_four = |four: &[u8]| {
        let whole = four.iter().fold(0u32, |all, &six| all << 6 | u32::from(six)) << (6 * (4 - four.len()));
        whole.to_be_bytes()[1..four.len()].to_vec()
    };
    bits.chunks(4).flat_map(of_four).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn json_cannot_end_its_script() {
        let text = "</script><!-- \" \u{e4} ]]>";
        let mut out = Vec::new();
        push_script_json(&mut out, &text).unwrap();
        let json = String::from_utf8(out).unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn base64_follows_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            let mut out = Vec::new();
            push_base64(&mut out, bytes.as_bytes());
            assert_eq!((out.as_slice(), decode_base64(text)), (text.as_bytes(), bytes.as_bytes().to_vec()));
        }
    }

    /// Returns the relative luminance of a colour such as `#0a72ad`, as WCAG defines it.
    fn luminance(colour: &str) -> f64 {
        let value = u32::from_str_radix(&colour[1..], 16).unwrap();
        let channel = |shift: u32| {
            let part = f64::from(value >> shift & 255) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    /// Colours by the names of their variables.
    type Colours<'a> = HashMap<&'a str, &'a str>;

    /// Returns the colours of a style sheet in light mode, in dark mode and on paper. A mode has the
    /// colours of its own rules, and the colours that all modes share.
    fn modes(style: &str) -> [Colours<'_>; 3] {
        let mut modes: [Colours<'_>; 3] = Default::default();
        let mut rule = "";
        for line in style.lines() {
            if line.starts_with('@') || line.contains("data-theme") {
                rule = line;
            } else if line == "}" {
                rule = "";
            }
            let shown = if rule.contains("dark") {
                1..2
            } else if rule.contains("print") {
                2..3
            } else {
                0..3
            };
            for variable in line.split("--").skip(1).filter(|variable| variable.contains(": #")) {
                let (name, colour) = variable.split_once(": ").unwrap();
                for mode in &mut modes[shown.clone()] {
                    mode.insert(name, &colour[..7]);
                }
            }
        }
        modes
    }

    /// Texts, bars and lines have the contrast that WCAG requires of texts, in light and in dark mode
    /// and on paper. `tests/cli/reports.rs` checks the letters on coloured cells.
    #[test]
    fn colours_have_a_contrast_of_at_least_4_5() {
        let search = [BASE_STYLE, include_str!("search/report/style.css")].concat();
        let plain = [BASE_STYLE, PAGE_STYLE].concat();
        let texts =
            [("text", "back panel row"), ("soft", "back panel row"), ("focus", "back panel row"), ("bar", "back")];
        let bars = ["c0", "c1", "c2", "c3", "c4"].map(|name| (name, "back"));
        let alignment = [
            ("text", "back panel found"),
            ("soft", "back panel"),
            ("gap", "back panel"),
            ("bar", "panel"),
            ("mark", "back panel"),
            ("focus", "back panel found"),
            ("tree", "back"),
        ];
        let pages = [
            ("search", &*search, [&texts[..], &bars].concat()),
            ("cluster and long", &plain, texts.to_vec()),
            ("msa", include_str!("msa/report/style.css"), alignment.to_vec()),
        ];
        for (page, style, pairs) in pages {
            for (mode, colours) in modes(style).iter().enumerate() {
                for (name, grounds) in &pairs {
                    for ground in grounds.split(' ') {
                        let [one, other] = [colours[name], colours[ground]].map(luminance);
                        let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                        assert!(contrast >= 4.5, "{page}, mode {mode}: {name} on {ground}: {contrast:.2}");
                    }
                }
            }
        }
    }
}
