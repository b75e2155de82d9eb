//! Texts and bytes in HTML pages and SVG pictures.

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
