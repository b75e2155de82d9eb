//! Log lines on standard error: `pairwave: warning: ...`, without date and module path.

use super::progress;
use clap::builder::styling::{AnsiColor, Style};
use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// Environment variable that asks for more than warnings, in tracing's syntax
/// (`pairwave=debug,wgpu_core=info`).
const VARIABLE: &str = "PAIRWAVE_LOG";

/// Text after `pairwave: ` in each line, which identifies one of several processes.
static PREFIX: OnceLock<String> = OnceLock::new();

/// Sets the prefix of all further lines, which identifies the process. Only the first call has
/// an effect.
#[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "only ranks are many"))]
pub(super) fn prefix(prefix: String) {
    // The first prefix stays.
    let _ = PREFIX.set(prefix);
}

fn prefixed() -> &'static str {
    PREFIX.get().map_or("", String::as_str)
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Starts logging of pairwave's warnings and measurements. With `quiet`, only errors are shown.
/// With `verbose`, devices and kernels are reported as well. Messages of drivers and libraries are
/// hidden unless the environment variable selects them.
pub(super) fn start(quiet: bool, verbose: bool) {
    let standard = match (quiet, verbose) {
        (true, _) => "pairwave=error",
        (false, true) => "pairwave=debug",
        (false, false) => "pairwave=warn,pairwave::tune=info",
    };
    let filter = match std::env::var(VARIABLE) {
        Ok(directives) if !quiet => EnvFilter::new(directives),
        _ => EnvFilter::new(standard),
    };
    tracing_subscriber::fmt()
        .with_ansi(false)
        .event_format(Plain)
        .with_env_filter(filter)
        .with_writer(|| LogLines)
        .init();
}

/// Prints `pairwave: error: message`.
pub(super) fn error(message: &str) {
    line(&format!("{ERROR}error:{ERROR:#} {message}"));
}

/// Prints `pairwave: text`.
pub(super) fn line(text: &str) {
    // If standard error is closed, there is no place to report the failure.
    progress::without_bar(|| drop(writeln!(anstream::stderr().lock(), "pairwave: {}{text}", prefixed())));
}

struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &tracing::Event<'_>,
    ) -> fmt::Result {
        write!(out, "pairwave: {}", prefixed())?;
        match *event.metadata().level() {
            tracing::Level::ERROR => write!(out, "{ERROR}error:{ERROR:#} ")?,
            tracing::Level::WARN => write!(out, "{WARNING}warning:{WARNING:#} ")?,
            tracing::Level::INFO => {}
            level => write!(out, "{}: ", level.as_str().to_ascii_lowercase())?,
        }
        context.field_format().format_fields(out.by_ref(), event)?;
        writeln!(out)
    }
}

/// Writer of whole lines. Drops colours if standard error is not a terminal.
struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = Ok(());
        progress::without_bar(|| written = anstream::stderr().lock().write_all(bytes));
        written.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn warnings_are_plain_lines() {
        #[derive(Clone, Default)]
        struct LogTape(Arc<Mutex<Vec<u8>>>);
        impl Write for LogTape {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().write(bytes)
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let tape = LogTape::default();
        let writer = tape.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).event_format(Plain).with_writer(move || writer.clone());
        tracing::subscriber::with_default(subscriber.finish(), || {
            tracing::warn!("{} of {} names are taken twice", 2, 7);
            tracing::error!(file = "a.fa", "no more");
        });
        let text = String::from_utf8(tape.0.lock().unwrap().clone()).unwrap();
        let text = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(text, "pairwave: warning: 2 of 7 names are taken twice\npairwave: error: no more file=\"a.fa\"\n");
    }
}
