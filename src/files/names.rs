//! Names of files and arguments as UTF-8 text, for plans, checkpoints and messages between ranks.
//!
//! Valid UTF-8 stays unchanged. Any other byte becomes NUL followed by two hexadecimal digits.
//! Operating systems allow NUL in no name and in no argument, so every text stands for exactly one
//! name.

use std::ffi::{OsStr, OsString};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Converts a name to text.
///
/// ```
/// # #[cfg(unix)] {
/// use pairwave::jobs::names::{from_text, to_text};
/// use std::ffi::OsStr;
/// use std::os::unix::ffi::OsStrExt;
///
/// let name = OsStr::from_bytes(b"caf\xE9.fa");
/// assert_eq!(to_text(name), "caf\0e9.fa");
/// assert_eq!(from_text("caf\0e9.fa"), name);
/// # }
/// ```
pub fn to_text(name: impl AsRef<OsStr>) -> String {
    let mut text = String::new();
    for chunk in name.as_ref().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\0{byte:02x}")));
    }
    text
}

/// Converts text back to the name. Systems other than Unix keep the text unchanged.
pub fn from_text(text: &str) -> OsString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let mut parts = text.split('\0');
        let mut name: Vec<u8> = parts.next().unwrap_or_default().into();
        for part in parts {
            let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            name.push(byte.unwrap_or_default());
            name.extend_from_slice(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
        }
        OsString::from_vec(name)
    }
    #[cfg(not(unix))]
    text.into()
}

/// Serializes a name, for `#[serde(with)]`.
///
/// # Errors
/// Returns the error of the serializer.
pub(crate) fn serialize<S: Serializer>(name: impl AsRef<OsStr>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&to_text(name))
}

/// Deserializes a name, for `#[serde(with)]`.
///
/// # Errors
/// Returns the error of the deserializer.
pub(crate) fn deserialize<'a, T: From<OsString>, D: Deserializer<'a>>(deserializer: D) -> Result<T, D::Error> {
    Ok(from_text(&String::deserialize(deserializer)?).into())
}

/// Serialization of lists of names.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(names: &[OsString], serializer: S) -> Result<S::Ok, S::Error> {
        names.iter().map(to_text).collect::<Vec<String>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<Vec<OsString>, D::Error> {
        Ok(Vec::<String>::deserialize(deserializer)?.iter().map(|text| from_text(text)).collect())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_round_trip() {
        let names: [&[u8]; 10] = [
            b"",
            b"a.fa",
            "caf\u{e9}.fa".as_bytes(),
            "caf\u{fffd}.fa".as_bytes(),
            b"caf\xE9.fa",
            b"caf\\xE9.fa",
            b"caf%E9.fa",
            b"cafe9.fa",
            b"\xFF\xFEe9\xC3",
            b"\xE2\x82/\xF0\x9F\x98",
        ];
        let texts: BTreeSet<String> = names.iter().map(|name| to_text(OsStr::from_bytes(name))).collect();
        assert_eq!(texts.len(), names.len());
        for name in names {
            let text = to_text(OsStr::from_bytes(name));
            assert_eq!(from_text(&text), OsStr::from_bytes(name), "{text:?}");
            assert_eq!(str::from_utf8(name).is_ok_and(|name| name == text), str::from_utf8(name).is_ok());
        }
    }

    #[test]
    fn damaged_text_names_no_file() {
        for text in ["a\0", "a\0e", "a\0zz.fa", "\0\u{e9}"] {
            assert!(from_text(text).as_bytes().contains(&0), "{text:?}");
        }
    }
}
