//! Command line: typed arguments become validated options, and these become one job. Only this
//! module uses clap.
//!
//! `args` contains the typed arguments, `options` validates them, and `runner` runs the job.
//! Files depend on each other in one direction only: args -> common -> runner -> one file per
//! command -> options. A test compares this order with the `use` lines.

mod args;
#[cfg(test)]
mod arrows;
#[cfg(feature = "bench")]
mod bench;
mod blocks;
mod chance;
mod cluster;
#[cfg(test)]
mod combinations;
mod common;
mod derep;
mod device;
mod distributed;
mod edit;
mod endings;
mod flags;
mod interrupt;
mod log;
mod long;
mod makedb;
mod memory;
mod mpi;
mod msa;
mod neutral;
mod options;
mod pages;
mod pairs;
mod papara;
mod progress;
mod run;
mod runner;
mod scoring;
mod search;
mod size;
mod streams;
#[cfg(test)]
mod tests;
mod tips;
mod trees;

pub use memory::RecordingAllocator;

use args::Args;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use options::{Action, CommandOptions};
use pairwave::gpu::device::close_at_exit;
use pairwave::output::{Field, Output};
use pairwave::score::NamedScheme;
use pairwave::{Error, Result};
use std::ffi::OsString;
use std::io::Write;

/// Exit code of a command that succeeded.
const SUCCESS: u8 = 0;

/// Runs the program with a command line, whose first word is the name of the program. Returns the
/// exit code: 0, the code of [`Error::exit_code`], or 1 if `bench --compare` found a lower rate.
///
/// Handles signals and changes an environment variable, so the process must have no other thread,
/// and must end after this call.
pub fn run(typed: Vec<OsString>) -> u8 {
    disable_vulkan_layer();
    streams::start();
    interrupt::start();
    let is_silent = mpi::leaves_it_to_rank_0(&typed);
    if let Some(word) = wrong_word(&typed).filter(|_| !is_silent) {
        return refuse(&misspelt(&typed, &unexpected(word), word));
    }
    match Args::parse_words(typed.clone()) {
        Ok(args) => match CommandOptions::try_from(args) {
            // A failing rank could end rank 0 before it has printed the error.
            Err(_) if is_silent => SUCCESS,
            options => match options.and_then(execute) {
                Ok(code) => code,
                Err(error) => report(&error),
            },
        },
        Err(_) if is_silent => SUCCESS,
        Err(error) => report_typing(&typed, &error),
    }
}

/// Turns off Mesa's device selection layer if there is no display server. The layer does not affect
/// the choice of adapter here, but it asks for a Wayland display and complains on standard error if
/// there is none, for example on a compute node.
fn disable_vulkan_layer() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the process has no other thread yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Returns whether a command opens a device for every kernel. Drivers limit how many can be open.
fn opens_many_devices(action: &Action) -> bool {
    match action {
        #[cfg(feature = "bench")]
        Action::Bench(_) => true,
        Action::Devices(_) => true,
        _ => false,
    }
}

fn execute(options: CommandOptions) -> Result<u8> {
    log::start(options.quiet, options.verbose);
    if !opens_many_devices(&options.action) {
        close_at_exit();
    }
    match options.action {
        Action::AllPairs(job) => runner::run(&*job, options.quiet),
        Action::Cluster(job) => runner::run(&*job, options.quiet),
        Action::Derep(job) => derep::run(&job, options.quiet),
        Action::Search(job) => runner::run(&*job, options.quiet),
        Action::Pairs(job) => runner::run(&*job, options.quiet),
        Action::Edit(job) => runner::run(&*job, options.quiet),
        Action::Long(job) => runner::run(&*job, options.quiet),
        Action::Papara(job) => runner::run(&*job, options.quiet),
        Action::Msa(job) => runner::run(&*job, options.quiet),
        Action::MsaAdd(job) => runner::run(&*job, options.quiet),
        Action::Tree(job) => runner::run(&*job, options.quiet),
        Action::Dist(job) => runner::run(&*job, options.quiet),
        Action::Plan(plan) => distributed::plan(&plan, options.quiet),
        Action::Run(blocks) => distributed::run(&blocks, options.quiet),
        Action::Merge(merge) => distributed::merge(&merge, options.quiet),
        Action::Mpi(job) => distributed::mpi(&job, options.quiet),
        Action::MakeDb(job) => makedb::make(&job, options.quiet),
        Action::DbInfo(job) => makedb::info(&job, options.quiet),
        Action::Devices(job) => run::devices(&job, options.quiet),
        #[cfg(feature = "bench")]
        Action::Bench(job) => return bench::run(&job, options.quiet),
        Action::Completions(shell) => pages::completions(shell),
        Action::Man(directory) => pages::man(directory.as_deref()),
        Action::Citation => pages::citation(),
        Action::Fields => pages::print(flags::in_text(&Field::table())),
        Action::SearchFields => pages::print(flags::in_text(&Field::search_table())),
        Action::EditFields => pages::print(flags::in_text(&Field::edit_table())),
        Action::LongFields => pages::print(flags::in_text(&Field::long_table())),
        Action::Schemes => pages::print(NamedScheme::list()),
    }
    .map(|()| SUCCESS)
}

fn report(error: &Error) -> u8 {
    match error {
        Error::OutputClosed => {}
        Error::Interrupted => log::line("interrupted"),
        error => log::error(&flags::message(error)),
    }
    match error {
        Error::Interrupted => interrupt::exit_code(),
        error => error.exit_code(),
    }
}

/// Returns the first word after a single dash that is no option, unless the command is unknown.
fn wrong_word(typed: &[OsString]) -> Option<&str> {
    let is_command = |word: &str| Args::command().find_subcommand(word).is_some();
    let is_unknown = tips::first_word(typed).is_some_and(|word| !is_command(word));
    tips::word_after_one_dash(typed).filter(|_| !is_unknown)
}

/// Returns the message of clap for an unknown option.
fn unexpected(option: &str) -> String {
    format!("unexpected argument '{option}' found")
}

/// Prints the error of a wrong command line.
fn refuse(message: &str) -> u8 {
    log::error(message);
    2
}

/// Reports a result of clap: help and version on standard output, errors as one line on standard
/// error.
fn report_typing(typed: &[OsString], error: &clap::Error) -> u8 {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        if !error.use_stderr()
            && let Err(problem) = Output::check_standard()
        {
            return report(&problem);
        }
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        return match printed {
            _ if error.use_stderr() => 2,
            Ok(()) => SUCCESS,
            // A closed pipe is no error: the reader needs no more.
            Err(problem) => report(&Error::io("standard output", problem)),
        };
    }
    refuse(&complaint(typed, error))
}

/// Returns the message for an error of clap, with advice.
fn complaint(typed: &[OsString], error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    let (option, value) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue));
    let wrong = match error.kind() {
        ErrorKind::UnknownArgument => option,
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand),
        _ => value,
    };
    let message = tips::in_plain_words(&tips::one_line(&error.render().to_string()));
    let message = tips::without_far_advice(&message, wrong);
    if error.kind() == ErrorKind::UnknownArgument {
        return misspelt(typed, &message, option);
    }
    let command = tips::command(typed, |word| Args::command().find_subcommand(word).is_some());
    let name = option.trim_start_matches('-').split(' ').next().unwrap_or_default();
    let advice = match error.kind() {
        ErrorKind::InvalidSubcommand => tips::command_instead(wrong, typed),
        ErrorKind::InvalidValue if !value.is_empty() => tips::value_instead(command, name, value).map(str::to_owned),
        ErrorKind::ValueValidation if is_part_of_a_score(option, value) => {
            Some("scores and costs must be whole numbers: multiply all of them by one factor, by 2 for halves".into())
        }
        ErrorKind::ValueValidation => tips::number_instead(option, value),
        _ => tips::letter_instead(command, name, typed),
    };
    match advice {
        Some(advice) => with_tip(&message, &advice),
        None => message,
    }
}

/// Replaces the tips of a message.
fn with_tip(message: &str, advice: &str) -> String {
    format!("{}; tip: {advice}", message.split("; tip:").next().unwrap_or_default())
}

/// Returns whether a score or a cost was given as a fraction, as in EMBOSS's `-gapextend 0.5`.
fn is_part_of_a_score(option: &str, value: &str) -> bool {
    let options = ["--match", "--mismatch", "--gap", "--end-gap"];
    options.iter().any(|score| option.starts_with(score))
        && value.replacen(',', ".", 1).parse::<f64>().is_ok_and(|value| value.fract() != 0.0)
}

/// Returns the message for an unknown option, with the option to use instead if that is known. If no
/// command was typed, the advice is about a command of vsearch among the words.
fn misspelt(typed: &[OsString], message: &str, option: &str) -> String {
    let args = Args::command();
    let command = tips::command(typed, |word| args.find_subcommand(word).is_some());
    if let Some(other) = tips::vsearch_command(typed).filter(|&other| command.is_none() && other != option) {
        return misspelt(typed, &unexpected(other), other);
    }
    let name = option.trim_start_matches('-');
    let here = command.and_then(|command| args.find_subcommand(command)).unwrap_or(&args);
    let is_option = |argument: &clap::Arg, name: &str| {
        argument.get_long_and_visible_aliases().is_some_and(|all| all.contains(&name))
    };
    let has = |name: &str| here.get_arguments().chain(args.get_arguments()).any(|argument| is_option(argument, name));
    let long = name.split('=').next().unwrap_or_default();
    let is_of_a_command = || {
        let mut all = args.get_subcommands().flat_map(|command| command.get_arguments());
        tips::is_foreign(option) || all.any(|argument| is_option(argument, long))
    };
    let mut message = message.to_owned();
    match tips::option_advice(command, option, has) {
        Some(advice) => message = with_tip(&message, advice),
        None if command.is_none() && is_of_a_command() => {
            message = with_tip(&message, "name a command before its options, as in 'pairwave allpairs SEQS'");
        }
        None if !option.starts_with("--") && has(long) => {
            message.push_str(&format!("; tip: write '--{name}' with two dashes"));
        }
        None => {}
    }
    let help = command.map_or_else(|| "pairwave --help".into(), |command| format!("pairwave {command} --help"));
    format!("{message}; see '{help}'")
}
