//! Progress on standard error, and the summary as text.

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use pairwave::engine::stats::EngineStats;
use pairwave::jobs::Summary;
use pairwave::output::Output;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Bar that is currently on the terminal. Warnings are printed above it.
static VISIBLE_BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Progress bar of a job. Drawn only if standard error is a terminal; otherwise it costs almost
/// nothing.
#[derive(Debug)]
pub(super) struct ProgressDisplay {
    bar: Option<ProgressBar>,
    pairs: Arc<AtomicU64>,
    /// Part of the job whose steps are shown instead of cells.
    part: Mutex<Option<&'static str>>,
}

impl ProgressDisplay {
    /// Shows a bar for a job of `cells` cells until the value is dropped; with `quiet` there is
    /// none. Results on the same terminal must go to [`standard_output`].
    pub(super) fn start(cells: u64, quiet: bool) -> Self {
        Self::with_style(cells, quiet, style)
    }

    /// Shows a bar for a job of one pair, without a speed in pairs.
    pub(super) fn start_long(cells: u64, quiet: bool) -> Self {
        Self::with_style(cells, quiet, |_| long_style())
    }

    /// Shows a counter for reads whose number is unknown. Reads are counted as pairs.
    pub(super) fn start_reads(quiet: bool) -> Self {
        Self::with_style(None, quiet, |reads| counted_style("reads", reads))
    }

    /// Shows a counter for symbols whose number is unknown. Symbols are counted as pairs.
    pub(super) fn start_symbols(quiet: bool) -> Self {
        Self::with_style(None, quiet, |symbols| counted_style("symbols", symbols))
    }

    /// Shows a counter for pairs whose number is unknown.
    pub(super) fn start_pairs(quiet: bool) -> Self {
        Self::with_style(None, quiet, |pairs| counted_style("pairs", pairs))
    }

    /// Shows a counter for sequences that are being read.
    pub(super) fn start_sequences(quiet: bool) -> Self {
        Self::with_style(None, quiet, |sequences| counted_style("sequences", sequences))
    }

    fn with_style(
        cells: impl Into<Option<u64>>,
        quiet: bool,
        style: impl FnOnce(Arc<AtomicU64>) -> ProgressStyle,
    ) -> Self {
        let pairs = Arc::new(AtomicU64::new(0));
        let bar = is_shown(quiet).then(|| {
            let bar = ProgressBar::with_draw_target(cells.into(), ProgressDrawTarget::stderr_with_hz(5));
            bar.set_style(style(pairs.clone()));
            bar.enable_steady_tick(Duration::from_millis(200));
            *VISIBLE_BAR.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(bar.clone());
            bar
        });
        ProgressDisplay { bar, pairs, part: Mutex::default() }
    }
}

impl pairwave::jobs::Progress for ProgressDisplay {
    fn advance(&self, pairs: u64, cells: u64) {
        self.pairs.fetch_add(pairs, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(cells);
        }
    }

    fn step(&self, part: &'static str, done: u64, all: u64) {
        let Some(bar) = &self.bar else { return };
        let mut visible_bar = self.part.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if *visible_bar != Some(part) {
            *visible_bar = Some(part);
            bar.set_style(parts_style());
            bar.set_message(part);
            bar.set_length(all);
            bar.reset_eta();
        }
        bar.set_position(done);
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            *VISIBLE_BAR.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = None;
        }
    }
}

/// Prints on standard error while no bar is drawn.
pub(super) fn without_bar(print: impl FnOnce()) {
    let visible_bar = VISIBLE_BAR.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone();
    match visible_bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Returns whether bars are shown.
fn is_shown(quiet: bool) -> bool {
    !quiet && io::stderr().is_terminal()
}

/// Returns standard output for results. If a bar is on the same terminal, results appear above it.
pub(super) fn standard_output(quiet: bool) -> Output {
    if is_shown(quiet) && io::stdout().is_terminal() {
        Output::to_writer(AboveTheBar::new(io::stdout()))
    } else {
        Output::standard()
    }
}

/// Writer of whole lines above the bar. A partial line is held back, because redrawing the bar
/// would erase it.
struct AboveTheBar<W> {
    to: W,
    begun: Vec<u8>,
}

impl<W: io::Write> AboveTheBar<W> {
    fn new(to: W) -> Self {
        AboveTheBar { to, begun: Vec::new() }
    }

    /// Prints the first `bytes` bytes that are held back.
    fn print(&mut self, bytes: usize) -> io::Result<()> {
        let mut printed = Ok(());
        if bytes > 0 {
            let (to, begun) = (&mut self.to, &self.begun[..bytes]);
            without_bar(|| printed = to.write_all(begun).and_then(|()| to.flush()));
            self.begun.drain(..bytes);
        }
        printed
    }
}

impl<W: io::Write> io::Write for AboveTheBar<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        self.print(whole)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.print(self.begun.len())
    }
}

fn style(pairs: Arc<AtomicU64>) -> ProgressStyle {
    let speed = move |state: &ProgressState, out: &mut dyn Write| {
        let seconds = state.elapsed().as_secs_f64().max(1e-6);
        let rate = pairs.load(Ordering::Relaxed) as f64 / seconds;
        // An error cannot be reported while the bar is drawn.
        let _ = write!(out, "{} pairs/s, {}", HumanCount(rate as u64), gcups(state.per_sec()));
    };
    ProgressStyle::with_template("{wide_bar} {percent:>3}%  {speed}  {eta} left")
        .expect("the template is valid")
        .progress_chars("=> ")
        .with_key("speed", speed)
}

fn parts_style() -> ProgressStyle {
    ProgressStyle::with_template("{wide_bar} {percent:>3}%  {msg}: step {pos} of {len}  {eta} left")
        .expect("the template is valid")
        .progress_chars("=> ")
}

/// Returns the style of a counter with a unit.
fn counted_style(name: &'static str, counter: Arc<AtomicU64>) -> ProgressStyle {
    let done = move |state: &ProgressState, out: &mut dyn Write| {
        let (count, seconds) = (counter.load(Ordering::Relaxed), state.elapsed().as_secs_f64().max(1e-6));
        // An error cannot be reported while the bar is drawn.
        let _ = write!(out, "{} {name}, {}/s", HumanCount(count), HumanCount((count as f64 / seconds) as u64));
    };
    ProgressStyle::with_template("{spinner} {done}  {elapsed}").expect("the template is valid").with_key("done", done)
}

fn long_style() -> ProgressStyle {
    let speed = |state: &ProgressState, out: &mut dyn Write| {
        let _ = out.write_str(&gcups(state.per_sec()));
    };
    ProgressStyle::with_template("{wide_bar} {percent:>3}%  {speed}  {eta} left")
        .expect("the template is valid")
        .progress_chars("=> ")
        .with_key("speed", speed)
}

/// Formats cells per second in units of 1e9 per second, with four significant digits.
pub(super) fn gcups(cells_per_second: f64) -> String {
    let gcups = cells_per_second / 1e9;
    let digits = (3 - gcups.max(1e-3).log10().floor() as i32).clamp(0, 3) as usize;
    format!("{gcups:.digits$} GCUPS")
}

/// Returns the summary of a job of many pairs as text. `is_filtered` selects whether it reports
/// pairs that the filter left unaligned.
pub(super) fn summary_lines(summary: &Summary, is_filtered: bool) -> Vec<String> {
    let mut lines = vec![summary_line(summary, is_filtered)];
    lines.extend(engine_lines(summary));
    lines
}

/// Formats a number of pairs with its noun. Each aligned strand of a query counts as a pair.
pub(super) fn pairs_in_words(pairs: u64) -> String {
    counted(pairs, "pair")
}

/// Formats a number with its noun, in the singular or the plural.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

fn summary_line(summary: &Summary, is_filtered: bool) -> String {
    let seconds = summary.seconds.max(1e-6);
    let mut line = format!(
        "{} in {:.3} s: {} pairs/s, {}",
        pairs_in_words(summary.pairs),
        summary.seconds,
        HumanCount((summary.pairs as f64 / seconds).round() as u64),
        gcups(summary.cells as f64 / seconds)
    );
    if summary.kernel_seconds > 0.0 {
        let speed = gcups(summary.cells as f64 / summary.kernel_seconds);
        write!(line, " (kernels {:.3} s, {speed})", summary.kernel_seconds).expect("a string takes all");
    }
    write!(line, "; {} aligned", HumanCount(summary.aligned)).expect("a string takes all");
    if is_filtered {
        let saved = summary.pairs.saturating_sub(summary.aligned);
        let share = 100.0 * saved as f64 / summary.pairs.max(1) as f64;
        write!(line, ", {} ({share:.1}%) saved by the filter", HumanCount(saved)).expect("a string takes all");
    }
    write!(line, ", {} written", HumanCount(summary.written)).expect("a string takes all");
    let engines = &summary.engines;
    for (index, engine) in engines.iter().enumerate() {
        line.push_str(if index == 0 { "; " } else { ", " });
        line.push_str(&engine.name);
        if engines.len() > 1 {
            let share = 100.0 * engine.cells as f64 / summary.cells.max(1) as f64;
            write!(line, " {share:.1}%").expect("a string takes all");
        }
    }
    line
}

/// Returns one line per engine if there are several.
pub(super) fn engine_lines(summary: &Summary) -> Vec<String> {
    let several = summary.engines.len() > 1;
    let engines = summary.engines.iter().filter(|_| several);
    let line = |engine: &EngineStats| {
        let mut line = format!("  {}", engine.name);
        if engine.threads > 1 {
            write!(line, ", {} threads", engine.threads).expect("a string takes all");
        }
        write!(
            line,
            ": {} in {} batches, {} while busy, busy {:.3} s, idle {:.3} s, done after {:.3} s",
            pairs_in_words(engine.pairs),
            HumanCount(engine.batches),
            gcups(engine.gcups * 1e9),
            engine.busy_seconds,
            engine.idle_seconds,
            engine.finished_at,
        )
        .expect("a string takes all");
        if engine.lost.is_some() {
            line.push_str("; abandoned");
        }
        line
    };
    engines.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pairwave::jobs::Progress as _;

    #[test]
    fn the_summary_in_one_line() {
        let summary = Summary {
            pairs: 13_418_790,
            cells: 28_591_234_567_890,
            aligned: 41_223,
            written: 40_112,
            seconds: 4.25,
            kernel_seconds: 3.875,
            engines: [("NVIDIA H200", 28_000_000_000_000), ("cpu", 591_234_567_890)]
                .map(|(name, cells)| EngineStats { name: name.into(), cells, ..EngineStats::default() })
                .to_vec(),
            imbalance: 0.01,
            details: (),
        };
        insta::assert_snapshot!(summary_line(&summary, true), @"13,418,790 pairs in 4.250 s: 3,157,362 pairs/s, 6727 GCUPS (kernels 3.875 s, 7378 GCUPS); 41,223 aligned, 13,377,567 (99.7%) saved by the filter, 40,112 written; NVIDIA H200 97.9%, cpu 2.1%");
        let one = Summary { pairs: 1, cells: 900, seconds: 1.0, ..Summary::default() };
        assert!(summary_line(&one, false).starts_with("1 pair in 1.000 s: "));
        let small = Summary { pairs: 3, cells: 900, written: 3, ..Summary::default() };
        insta::assert_snapshot!(summary_line(&small, false), @"3 pairs in 0.000 s: 3,000,000 pairs/s, 0.900 GCUPS; 0 aligned, 3 written");
    }

    #[test]
    fn a_line_for_each_of_several_engines() {
        let card = EngineStats {
            name: "NVIDIA H200".into(),
            threads: 1,
            batches: 42,
            pairs: 13_000_000,
            gcups: 7123.4,
            busy_seconds: 3.9,
            idle_seconds: 0.35,
            finished_at: 4.2,
            ..EngineStats::default()
        };
        let lost =
            EngineStats { lost: Some("no answer for 31 s".into()), threads: 16, name: "cpu".into(), ..card.clone() };
        let mut summary = Summary { engines: vec![card, lost], ..Summary::default() };
        insta::assert_snapshot!(engine_lines(&summary).join("\n"), @r"
          NVIDIA H200: 13,000,000 pairs in 42 batches, 7123 GCUPS while busy, busy 3.900 s, idle 0.350 s, done after 4.200 s
          cpu, 16 threads: 13,000,000 pairs in 42 batches, 7123 GCUPS while busy, busy 3.900 s, idle 0.350 s, done after 4.200 s; abandoned
        ");
        summary.engines.pop();
        assert!(engine_lines(&summary).is_empty());
    }

    #[test]
    fn the_bar_can_be_drawn() {
        let bar = ProgressBar::with_draw_target(Some(100), ProgressDrawTarget::hidden());
        bar.set_style(style(Arc::new(AtomicU64::new(3)))); // panics on a wrong template
        bar.inc(1);
        bar.set_style(long_style());
        bar.set_style(parts_style());
        bar.inc(1);
        bar.set_style(counted_style("reads", Arc::new(AtomicU64::new(3))));
        bar.inc(1);
        assert_eq!(
            [0.0, 5e5, 1.5e9, 9.9996e12].map(gcups),
            ["0.000 GCUPS", "0.001 GCUPS", "1.500 GCUPS", "10000 GCUPS"]
        );
    }

    #[test]
    fn lines_above_the_bar_are_whole() {
        use std::io::Write;
        let mut output = AboveTheBar::new(Vec::new());
        for (bytes, visible_bar) in [("a\tb\nc", "a\tb\n"), ("d", "a\tb\n"), ("\n\ne", "a\tb\ncd\n\n")] {
            output.write_all(bytes.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&output.to), visible_bar);
        }
        output.flush().unwrap();
        assert_eq!(output.to, b"a\tb\ncd\n\ne");
    }

    #[test]
    fn progress_counts_without_a_terminal() {
        let progress = ProgressDisplay::start(100, true);
        progress.advance(2, 60);
        progress.advance(1, 40);
        assert_eq!(progress.pairs.load(Ordering::Relaxed), 3);
    }
}
