//! Log lines on standard error: `pairwave: warning: ...`, without date and module path.

use super::progress;
use clap::builder::styling::{AnsiColor, Style};
use std::fmt;
use std::io::{self, Write};
use std::sync::OnceLock;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

/// Environment variable that asks for more than warnings: modules and their levels
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
        Ok(directives) if !quiet => targets(&directives),
        _ => targets(standard),
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).event_format(Plain).with_writer(|| LogLines);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
}

/// Returns the levels of modules in a list of directives. Invalid directives are ignored; without a
/// valid one, errors of all modules are shown.
fn targets(directives: &str) -> Targets {
    let is_valid = |directive: &&str| !directive.is_empty() && directive.parse::<Targets>().is_ok();
    let valid: Vec<&str> = directives.split(',').map(str::trim).filter(is_valid).collect();
    let list = if valid.is_empty() { "error".to_owned() } else { valid.join(",") };
    list.parse().expect("every directive is valid")
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
    fn valid_directives_select_modules_and_levels() {
        let debug = tracing::Level::DEBUG;
        let error = tracing::Level::ERROR;
        for (directives, module, level, expected) in [
            ("pairwave=warn,wgpu_core=debug", "wgpu_core::device", debug, true),
            ("pairwave=warn,wgpu_core=debug", "pairwave::pairs", debug, false),
            ("pairwave=warn, pairwave::tune=debug", "pairwave::tune", debug, true),
            ("debug", "naga", debug, true),
            ("pairwave", "pairwave::cli", debug, true),
            ("pairwave=debug,naga=loud,a=b=c,", "pairwave", debug, true),
            ("pairwave=debug,naga=loud,a=b=c,", "naga", error, false),
            ("", "naga", error, true),
            ("", "naga", debug, false),
            ("pairwave=loud", "pairwave", debug, false),
        ] {
            assert_eq!(targets(directives).would_enable(module, &level), expected, "{directives}: {module} {level}");
        }
    }

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
