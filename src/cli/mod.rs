//! The command line: what was typed becomes valid options, these become one job. The only place that knows clap.
//!
//! [`args`] is what was typed, [`options`] what is valid, [`runner`] runs it. Arrows go one way, and a test holds them against
//! the `use` lines: args -> common -> runner -> one file a command -> options.

mod args;
#[cfg(test)]
mod arrows;
mod bench;
mod common;
mod device;
mod edit;
mod interrupt;
mod log;
mod long;
mod options;
mod pages;
mod progress;
mod run;
mod runner;
mod scoring;
mod size;
#[cfg(test)]
mod tests;

use args::Args;
use clap::Parser;
use clap::error::ErrorKind;
use options::{Options, Task};
use pairwave::output::Field;
use pairwave::{Error, Result};
use std::process::ExitCode;

/// Runs the program: the exit code is 0, or that of [`Error::exit_code`].
pub(crate) fn run() -> ExitCode {
    quieten_vulkan();
    match Args::try_parse() {
        Ok(args) => match Options::try_from(args).and_then(execute) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(&error),
        },
        Err(error) => report_typing(&error),
    }
}

/// Mesa's device selection layer, which has no say in which adapter we take, asks for a Wayland display and complains on
/// standard error where there is none, as on every cluster node.
fn quieten_vulkan() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the process has no other thread yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn execute(options: Options) -> Result<()> {
    log::start(options.quiet);
    match options.task {
        Task::AllPairs(job) => runner::run(&*job, options.quiet),
        Task::Edit(job) => runner::run(&*job, options.quiet),
        Task::Long(job) => runner::run(&*job, options.quiet),
        Task::Devices(job) => run::devices(&job, options.quiet),
        Task::Bench(job) => bench::run(&job, options.quiet),
        Task::Completions(shell) => pages::completions(shell),
        Task::Man(directory) => pages::man(directory.as_deref()),
        Task::Citation => pages::citation(),
        Task::Fields => pages::print(Field::table()),
        Task::EditFields => pages::print(Field::edit_table()),
        Task::LongFields => pages::print(Field::long_table()),
    }
}

fn report(error: &Error) -> ExitCode {
    match error {
        Error::OutputClosed => {}
        Error::Interrupted => log::line("interrupted"),
        error => log::error(&error.to_string()),
    }
    ExitCode::from(error.exit_code())
}

/// What clap has to say: help and version on standard output, errors on one line in our form on standard error.
fn report_typing(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // A reader that went away has seen enough.
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    log::error(&one_line(&error.render().to_string()));
    ExitCode::from(2)
}

/// clap's message and tips without its lines on usage and help.
fn one_line(text: &str) -> String {
    let is_message = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut message = String::new();
    for line in text.strip_prefix("error: ").unwrap_or(text).lines().map(str::trim).take_while(is_message) {
        let joint = if line.starts_with("tip:") { "; " } else { " " };
        message.push_str(if line.is_empty() || message.is_empty() { "" } else { joint });
        message.push_str(line);
    }
    message
}
