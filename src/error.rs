//! What can go wrong, said once and clearly.
//!
//! Every error a user can cause names the file, the record and the line where it was found. The command line turns
//! an [`Error`] into one line on standard error and an exit code ([`Error::exit_code`]).

use std::fmt;
use std::path::{Path, PathBuf};

/// A result whose error is pairwave's own.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where in an input something was found: as much of it as is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `-` is standard input.
    pub file: String,
    /// Name of the record (the header up to the first blank), if one was read.
    pub record: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column in that line in bytes, counted from 1.
    pub column: Option<u64>,
}

impl Place {
    /// A place with a file and nothing else. Bytes of its name that are not UTF-8 are shown as U+FFFD.
    pub fn of_file(path: impl AsRef<Path>) -> Self {
        Place { file: path.as_ref().display().to_string(), ..Place::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", if self.file == "-" { "standard input" } else { &self.file })?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        if let Some(record) = &self.record {
            write!(f, ", record '{record}'")?;
        }
        Ok(())
    }
}

/// What is wrong with what was asked for.
///
/// Where one field of a job, a scheme or a [`Run`](crate::Run) is to blame, it is named as this library calls it; other
/// fields are in the message, between backquotes. The command line puts its own names in their places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The field.
    pub field: Option<&'static str>,
    /// The field's value, where that is wrong whatever others are.
    pub value: Option<String>,
    /// Why that cannot be and, where it helps, what would be right.
    pub message: String,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.field, &self.value) {
            (Some(field), Some(value)) => write!(f, "{field} {value}: {}", self.message),
            (Some(field), None) => write!(f, "{field}: {}", self.message),
            (None, _) => f.write_str(&self.message),
        }
    }
}

/// Everything that can end a job early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong: the user can mend it.
    #[error("{place}: {message}")]
    Input {
        /// Where.
        place: Place,
        /// What is wrong and, where it helps, what would be right.
        message: String,
    },
    /// The options contradict each other or name something that does not exist.
    #[error("{0}")]
    Usage(Usage),
    /// A file could not be opened, read or written.
    #[error("{path}: {why}", path = path.display(), why = plain(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A device could not be used, was lost, or ran out of memory.
    #[error("device '{device}': {message}")]
    Device {
        /// The device's name.
        device: String,
        /// What happened.
        message: String,
    },
    /// An engine cannot compute this batch, though it is well: another engine has to.
    #[error("device '{device}': {message}")]
    Unsuited {
        /// The device's name.
        device: String,
        /// Why.
        message: String,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The reader of our output went away; not an error for the user.
    #[error("output closed")]
    OutputClosed,
    /// A promise of ours was broken. Please report it.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// The process's exit code: 2 for what the user can mend, 130 for an interrupt, 0 for a closed pipe, 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input { .. } | Error::Usage(_) => 2,
            Error::Io { .. } => 2,
            Error::Interrupted => 130,
            Error::OutputClosed => 0,
            Error::Device { .. } | Error::Unsuited { .. } | Error::Internal(_) => 1,
        }
    }

    /// An error of the options that no one field is to blame for.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: None, value: None, message: message.into() })
    }

    /// An error of a field beside others.
    pub fn usage_of(field: &'static str, message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: Some(field), value: None, message: message.into() })
    }

    /// A value that a field cannot have.
    pub fn usage_value(field: &'static str, value: impl fmt::Display, message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: Some(field), value: Some(value.to_string()), message: message.into() })
    }

    /// An input/output error on `path`; a closed pipe becomes [`Error::OutputClosed`].
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::BrokenPipe {
            return Error::OutputClosed;
        }
        Error::Io { path: path.into(), source }
    }
}

/// What the system said, without its number and in the middle of a sentence.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    let Some(number) = error.raw_os_error() else { return text };
    let words = text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text);
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_is_told_in_words() {
        let missing = std::fs::read("src/none/there").unwrap_err();
        assert!(missing.raw_os_error().is_some());
        let message = Error::io("a.fa", missing).to_string();
        assert!(message.starts_with("a.fa: ") && !message.contains("os error"), "{message}");
        assert!(message["a.fa: ".len()..].starts_with(|letter: char| letter.is_lowercase()), "{message}");
        let own = std::io::Error::new(std::io::ErrorKind::NotFound, "No such thing (os error 2)");
        assert_eq!(Error::io("a.fa", own).to_string(), "a.fa: No such thing (os error 2)");
    }
}
