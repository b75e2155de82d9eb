//! Records the log lines of all tests of a program.

use std::io::Write;
use std::sync::{Mutex, MutexGuard, OnceLock};

use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

fn tape() -> &'static Mutex<Vec<String>> {
    static TAPE: OnceLock<Mutex<Vec<String>>> = OnceLock::new();
    TAPE.get_or_init(Mutex::default)
}

fn lock() -> MutexGuard<'static, Vec<String>> {
    tape().lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Starts recording all lines from this level on. Only the first call has an effect.
pub fn record(level: &str) {
    struct Tape;
    impl Write for Tape {
        fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
            lock().push(String::from_utf8_lossy(line).into_owned());
            Ok(line.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        let level: LevelFilter = level.parse().unwrap();
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Tape);
        tracing_subscriber::registry().with(lines.with_filter(Targets::new().with_target("pairwave", level))).init();
    });
}

/// Returns the recorded lines that contain a text.
pub fn lines_with(text: &str) -> Vec<String> {
    lock().iter().filter(|line| line.contains(text)).cloned().collect()
}
