//! Annotations in the names of sequences, as vsearch and USEARCH write them: `;size=12;` for the
//! abundance, `;sample=A;` or `;barcodelabel=A;` for the sample, `;otu=X;` and `;tax=Y;`.

/// Returns the value of an annotation: `12` for the key `size` in `read7;size=12;sample=A`.
/// Annotations are separated by semicolons.
pub fn value<'a>(name: &'a [u8], key: &str) -> Option<&'a [u8]> {
    name.split(|&byte| byte == b';').find_map(|part| part.strip_prefix(key.as_bytes())?.strip_prefix(b"="))
}

/// Returns the abundance that a name states: 1 without the annotation `size`, `None` if its value
/// is not a positive whole number.
pub fn abundance(name: &[u8]) -> Option<u64> {
    match value(name, "size") {
        None => Some(1),
        Some(digits) if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).ok()?.parse().ok().filter(|&size| size > 0)
        }
        Some(_) => None,
    }
}

/// Message for a name whose abundance is wrong.
pub(crate) const WRONG_ABUNDANCE: &str = "the abundance after ';size=' must be a positive whole number";

/// Refuses a name whose [`abundance`] is wrong.
///
/// # Errors
/// Returns the message of an error.
pub fn check_abundance(name: &[u8]) -> Result<(), &'static str> {
    abundance(name).map(|_| ()).ok_or(WRONG_ABUNDANCE)
}

/// Returns a name without its abundance.
pub fn without_abundance(name: &[u8]) -> Vec<u8> {
    let is_size = |part: &&[u8]| part.starts_with(b"size=");
    let parts: Vec<&[u8]> = name.split(|&byte| byte == b';').collect();
    if !parts.iter().any(is_size) {
        return name.to_vec();
    }
    let mut kept: Vec<&[u8]> = parts.into_iter().filter(|part| !is_size(part)).collect();
    while kept.len() > 1 && kept.last().is_some_and(|part| part.is_empty()) {
        kept.pop();
    }
    kept.join(&b';')
}

/// Returns a name with this abundance, as vsearch writes it: `read7;size=12`.
pub fn with_abundance(name: &[u8], abundance: u64) -> Vec<u8> {
    with_annotation(without_abundance(name), "size", abundance.to_string().as_bytes())
}

/// Returns a name with another annotation at its end.
pub(super) fn with_annotation(mut name: Vec<u8>, key: &str, value: &[u8]) -> Vec<u8> {
    while name.last() == Some(&b';') {
        name.pop();
    }
    for part in [b";", key.as_bytes(), b"=", value] {
        name.extend_from_slice(part);
    }
    name
}

/// Returns the sample that a name states: the value of `sample` or `barcodelabel`, or else the
/// letters, digits and underscores at the start of the name.
pub fn sample(name: &[u8]) -> &[u8] {
    let annotated = value(name, "sample").or_else(|| value(name, "barcodelabel"));
    annotated.filter(|sample| !sample.is_empty()).unwrap_or_else(|| {
        let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        &name[..end.unwrap_or(name.len())]
    })
}

/// Returns the label of a cluster in tables of samples: the value of `otu`, or else the name up to
/// the first semicolon.
pub fn otu(name: &[u8]) -> &[u8] {
    let annotated = value(name, "otu").filter(|otu| !otu.is_empty());
    annotated.unwrap_or_else(|| name.split(|&byte| byte == b';').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_found_anywhere_between_semicolons() {
        for name in ["a;size=12", "a;size=12;", "a;sample=X;size=12;otu=3", "size=12;a"] {
            assert_eq!(abundance(name.as_bytes()), Some(12), "{name}");
        }
        for name in ["a", "a;oversize=3", "a;size", "size12"] {
            assert_eq!(abundance(name.as_bytes()), Some(1), "{name}");
        }
        assert_eq!(value(b"a;tax=d:B,p:F;", "tax"), Some(&b"d:B,p:F"[..]));
    }

    #[test]
    fn wrong_abundances_are_refused() {
        for name in ["a;size=", "a;size=0", "a;size=x", "a;size=-1", "a;size=1.5", "a;size=99999999999999999999"] {
            assert_eq!(abundance(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn abundances_are_replaced() {
        for (name, without, with) in [
            ("a", "a", "a;size=7"),
            ("a;size=3", "a", "a;size=7"),
            ("a;size=3;", "a", "a;size=7"),
            ("a;size=3;sample=X;", "a;sample=X", "a;sample=X;size=7"),
            ("a;sample=X;", "a;sample=X;", "a;sample=X;size=7"),
        ] {
            assert_eq!(without_abundance(name.as_bytes()), without.as_bytes(), "{name}");
            assert_eq!(with_abundance(name.as_bytes(), 7), with.as_bytes(), "{name}");
        }
    }

    #[test]
    fn samples_and_otus_have_defaults() {
        for (name, expected) in [
            ("r1;sample=S-1;size=3", "S-1"),
            ("r1;barcodelabel=B 2;", "B 2"),
            ("S1_a.17;size=3", "S1_a"),
            ("S1;sample=;", "S1"),
        ] {
            assert_eq!(sample(name.as_bytes()), expected.as_bytes(), "{name}");
        }
        assert_eq!(otu(b"c.1 x;otu=OTU_4;size=3"), b"OTU_4");
        assert_eq!(otu(b"c.1;size=3"), b"c.1");
    }
}
