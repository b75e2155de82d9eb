//! Changes of the help that an option has in all commands to its help in one command.

use clap::Arg;

/// Sets both helps of an option. The long help has a second paragraph.
pub(super) fn with_help(arg: Arg, first: &'static str, second: &str) -> Arg {
    arg.help(first).long_help(format!("{first}\n\n{second}"))
}

/// Replaces the first paragraph of an option's help.
pub(super) fn with_first_paragraph(arg: Arg, first: &'static str) -> Arg {
    let long = arg.get_long_help().map(|help| help.to_string()).unwrap_or_default();
    match long.split_once("\n\n") {
        Some((_, rest)) => with_help(arg, first, rest),
        None => arg.help(first).long_help(None),
    }
}

/// Adds a paragraph to the long help of an option.
pub(super) fn with_more_help(arg: Arg, more: &str) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).map(|help| help.to_string()).unwrap_or_default();
    arg.long_help(format!("{help}\n\n{more}"))
}
