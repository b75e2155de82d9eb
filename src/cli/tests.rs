//! Tests of every contradiction with its message, and of the help of every command.

mod advice;
mod contradictions;
mod validity;
mod vsearch_users;

use super::args::Args;
use super::options::CommandOptions;
use clap::CommandFactory;
use contradictions::CONTRADICTIONS;
use pairwave::Error;

fn options(line: &str) -> pairwave::Result<CommandOptions> {
    let args = Args::parse_words(std::iter::once("pairwave").chain(line.split_whitespace()).map(Into::into).collect());
    CommandOptions::try_from(args.unwrap_or_else(|error| panic!("clap refused '{line}': {error}")))
}

#[test]
fn clap_accepts_the_commands() {
    Args::command().debug_assert();
}

#[test]
fn contradictions_are_rejected_in_one_line() {
    let messages: Vec<String> = CONTRADICTIONS
        .iter()
        .map(|line| {
            let error = options(line).expect_err(line);
            assert!(matches!(error, Error::Usage(_)), "{line}: {error:?}");
            let message = super::flags::message(&error);
            assert!(!message.contains('\n'), "{line}: more than one line");
            format!("{line}\n    {message}\n")
        })
        .collect();
    insta::assert_snapshot!(messages.concat());
}

#[test]
fn output_may_not_replace_the_input() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let error = options(&format!("allpairs {path} -o {path}")).unwrap_err().to_string();
    assert!(error.ends_with("would overwrite an input file"), "{error}");
}

#[test]
fn help_of_every_command_is_stable() {
    let mut command = Args::command().term_width(100);
    command.build();
    insta::assert_snapshot!("help", command.render_long_help());
    for name in [
        "allpairs",
        "cluster",
        "derep",
        "search",
        "pairs",
        "edit",
        "long",
        "papara",
        "plan",
        "run",
        "merge",
        "mpi",
        "makedb",
        "dbinfo",
        "devices",
        "bench",
        "completions",
        "man",
    ] {
        let command = command.find_subcommand_mut(name).unwrap();
        insta::assert_snapshot!(format!("help_{name}"), command.render_long_help());
        insta::assert_snapshot!(format!("help_{name}_short"), command.render_help());
    }
}

#[test]
fn pages_name_every_option() {
    let mut command = Args::command();
    command.build();
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::Bash, &mut Args::command(), "pairwave", &mut script);
    let script = String::from_utf8(script).unwrap();
    for name in [
        "allpairs", "cluster", "derep", "search", "pairs", "edit", "long", "papara", "plan", "run", "merge", "mpi",
        "makedb", "dbinfo", "bench",
    ] {
        let command = command.find_subcommand(name).unwrap();
        let mut page = Vec::new();
        clap_mangen::Man::new(command.clone()).render(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap().replace('\\', "");
        for option in command.get_opts() {
            let name = format!("--{}", option.get_long().unwrap());
            assert!(page.contains(&name), "the manual lacks {name}");
            assert!(script.contains(&name), "the completions lack {name}");
        }
    }
}
