//! Errors: their kinds, their locations in the input, and the exit code of each.
//!
//! Every error in an input names the file and, as far as they are known, the line, the column and
//! the record. The command line prints an [`Error`] as one line on standard error and exits with
//! [`Error::exit_code`].

use std::fmt;
use std::path::{Path, PathBuf};

/// A result whose error is [`enum@Error`] by default.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A location in an input, as precise as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputLocation {
    /// The file as the user named it; `-` is standard input.
    pub file: String,
    /// Name of the record (the header up to the first blank), if one was read.
    pub record: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u64>,
    /// Column in that line in bytes, counted from 1.
    pub column: Option<u64>,
}

impl InputLocation {
    /// Returns a location that names only a file. Bytes of the path that are not UTF-8 are shown as
    /// U+FFFD.
    pub fn in_file(path: impl AsRef<Path>) -> Self {
        InputLocation { file: path.as_ref().display().to_string(), ..InputLocation::default() }
    }
}

impl fmt::Display for InputLocation {
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

/// An invalid option, or a contradiction between options.
///
/// If a single field of a job, a scheme or a [`Run`](crate::Run) is wrong, `field` is its name in
/// this library. The message puts the names of other fields in backquotes. The command line
/// replaces all these names with its own option names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The wrong field, if there is exactly one.
    pub field: Option<&'static str>,
    /// The field's value, if it is invalid regardless of the other fields.
    pub value: Option<String>,
    /// The problem and, where it helps, a valid value.
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

/// The reasons why a job can end early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input is wrong, and the user can correct it.
    #[error("{location}: {message}")]
    Input {
        /// Location of the problem in the input.
        location: InputLocation,
        /// The problem and, where it helps, a valid form.
        message: String,
    },
    /// The options contradict each other, or name something that does not exist.
    #[error("{0}")]
    Usage(Usage),
    /// A file could not be opened, read or written.
    #[error("{path}: {why}", path = path.display(), why = plain(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The error that the operating system reported.
        source: std::io::Error,
    },
    /// A device could not be used, was lost, or ran out of memory.
    #[error("device '{device}': {message}")]
    Device {
        /// Name of the device.
        device: String,
        /// The failure.
        message: String,
    },
    /// A working device cannot compute this batch, and another engine must compute it instead.
    #[error("device '{device}': {message}")]
    Unsuited {
        /// Name of the device.
        device: String,
        /// The reason.
        message: String,
    },
    /// The user interrupted the program (Ctrl-C or a signal).
    #[error("interrupted")]
    Interrupted,
    /// The reader of the output closed it. This is not an error for the user.
    #[error("output closed")]
    OutputClosed,
    /// An invariant of this library does not hold. Please report it.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// Returns the process's exit code: 2 for errors that the user can correct, 130 for an
    /// interrupt, 0 for a closed pipe, and 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Input { .. } | Error::Usage(_) => 2,
            Error::Io { .. } => 2,
            Error::Interrupted => 130,
            Error::OutputClosed => 0,
            Error::Device { .. } | Error::Unsuited { .. } | Error::Internal(_) => 1,
        }
    }

    /// Returns a usage error that does not concern a single field.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: None, value: None, message: message.into() })
    }

    /// Returns a usage error for a field whose value conflicts with other fields.
    pub fn usage_of(field: &'static str, message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: Some(field), value: None, message: message.into() })
    }

    /// Returns a usage error for a value that is never valid for its field.
    pub fn usage_value(field: &'static str, value: impl fmt::Display, message: impl Into<String>) -> Self {
        Error::Usage(Usage { field: Some(field), value: Some(value.to_string()), message: message.into() })
    }

    /// Returns an input/output error on `path`. A closed pipe becomes [`Error::OutputClosed`].
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::BrokenPipe {
            return Error::OutputClosed;
        }
        Error::Io { path: path.into(), source }
    }
}

/// Formats an operating system's error for the middle of a sentence: without the error number, and
/// with a lower-case first letter.
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
    fn system_errors_are_shown_without_number() {
        let missing = std::fs::read("src/none/there").unwrap_err();
        assert!(missing.raw_os_error().is_some());
        let message = Error::io("a.fa", missing).to_string();
        assert!(message.starts_with("a.fa: ") && !message.contains("os error"), "{message}");
        assert!(message["a.fa: ".len()..].starts_with(|letter: char| letter.is_lowercase()), "{message}");
        let not_found = std::io::Error::new(std::io::ErrorKind::NotFound, "No such thing (os error 2)");
        assert_eq!(Error::io("a.fa", not_found).to_string(), "a.fa: No such thing (os error 2)");
    }
}
