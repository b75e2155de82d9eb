//! Tests that every advice on wrong command lines can be followed.

use crate::cli::args::Args;
use crate::cli::options::CommandOptions;
use crate::cli::tips::{COMMANDS, VALUES, foreign_options, options_in};
use clap::CommandFactory;

/// Returns the arguments that a command requires besides an option.
fn inputs(command: &str) -> &'static str {
    match command {
        "search" | "pairs" | "long" => "a.fa b.fa",
        "papara" => "-t t.nwk -s r.fa -q q.fa",
        "merge" | "run" => "work",
        "makedb" => "s.fa -o s.pwdb",
        "dbinfo" => "s.pwdb",
        "plan" | "mpi" => "allpairs s.fa -o work",
        "cluster" => "s.fa --min-identity 0.9",
        "derep" => "s.fa -o d.fa",
        "devices" | "bench" | "man" => "",
        "completions" => "bash",
        _ => "s.fa",
    }
}

/// Returns a value for an option that the advice shows with a placeholder.
fn sample(command: &str, option: &str) -> &'static str {
    match (command, option) {
        (_, "min-identity" | "query-cover" | "query-cov" | "target-cov" | "min-cov" | "cov" | "transition-weight") => {
            "0.9"
        }
        (_, "max-n-frac" | "overhang") => "0.1",
        (_, "pam") => "NGG",
        (_, "mismatch") => "-4",
        (_, "memory" | "buffer" | "host-memory") => "1G",
        ("msa", "matrix") => "gonnet",
        (_, "matrix") => "EDNAFULL",
        ("dist" | "tree" | "msa", "pair-matrix") => "gonnet",
        (_, "scheme") => "blastn",
        (_, "device") => "cpu",
        (_, "alphabet") => "dna",
        (_, "mode") => "global",
        (_, "cov-mode") => "both",
        (_, "fields") => "query,target",
        (_, "report") => "x.html",
        (_, "plot") => "x.svg",
        (_, "guidetree-out" | "guidetree-in") => "x.nwk",
        (_, "hydrophilic") => "GPS",
        (_, "output" | "checkpoint") => "x.out",
        ("msa", "format") => "clustal",
        ("dist", "format") => "tsv",
        ("papara", "format") => "fasta",
        ("bench", "format") => "csv",
        (_, "format") => "paf",
        (_, "labels") => "nodes",
        (_, "mask") => "0.9",
        (_, "order") => "tree",
        _ => "5",
    }
}

/// Returns the command line that an advice suggests for a command, or `None` if the command lacks
/// an option.
fn suggestion(command: &clap::Command, advice: &str) -> Option<String> {
    let name = command.get_name();
    let mut line = format!("{name} {}", inputs(name));
    let plain: String = advice.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        let Some(option) = word.strip_prefix("--").map(|word| word.trim_end_matches([',', ';', ':'])) else { continue };
        let is =
            |argument: &&clap::Arg| argument.get_long_and_visible_aliases().is_some_and(|all| all.contains(&option));
        let argument = command.get_arguments().find(is)?;
        if line.contains(&format!(" --{option} "))
            || ["reads", "reference", "db"].contains(&option)
            || option == "output" && line.contains(" -o ")
        {
            continue;
        }
        line.push_str(&format!(" --{option} "));
        if argument.get_action().takes_values() {
            let next = words.get(index + 1).map(|word| word.trim_end_matches([',', ';', ':'])).unwrap_or_default();
            let is_value = argument.get_possible_values().iter().any(|value| value.matches(next, true));
            let is_literal = is_value || option == "fields" && next.contains(',') || next == "none";
            line.push_str(if is_literal { next } else { sample(name, option) });
        }
    }
    match name {
        "tree" if advice.contains("--labels") => line.push_str(" --aligned --bootstrap 5"),
        "edit" if advice.contains("--all-places") => line.push_str(" t.fa"),
        _ => {}
    }
    Some(line)
}

/// Every advice names existing options and commands, and its suggestion can be parsed.
#[test]
fn every_advice_can_be_followed() {
    let args = Args::command();
    let mut wrong = Vec::new();
    let mut parses = |line: &str, advice: &str| match Args::parse_words(
        std::iter::once("pairwave").chain(line.split_whitespace()).map(Into::into).collect(),
    ) {
        Err(error) if !error.use_stderr() => {}
        Err(error) => wrong.push(format!("{advice}\n  {line}\n  {error}")),
        Ok(args) => {
            wrong.extend(CommandOptions::try_from(args).err().map(|error| format!("{advice}\n  {line}\n  {error}")))
        }
    };
    let entries = || foreign_options().chain(VALUES.iter().map(|(_, entry)| entry));
    for (names, advice, commands) in entries() {
        let mut followed = 0;
        for command in args.get_subcommands() {
            if !commands.is_empty() && !commands.contains(&command.get_name()) {
                continue;
            }
            match suggestion(command, advice) {
                Some(line) => parses(&line, advice),
                None => assert!(commands.is_empty(), "{names:?} of {}: {advice}", command.get_name()),
            }
            followed += usize::from(suggestion(command, advice).is_some());
        }
        assert!(followed > 0 || options_in(advice).next().is_none(), "{names:?}: {advice}");
    }
    let quoted = |advice: &str| -> Vec<String> {
        let commands = advice.split('\'').skip(1).step_by(2).filter_map(|line| line.strip_prefix("pairwave "));
        commands.map(str::to_owned).collect()
    };
    let all = entries().map(|(_, advice, _)| *advice).chain(COMMANDS.iter().map(|(_, line)| *line));
    for advice in all {
        for line in quoted(advice) {
            let word = |word: &str| match word {
                "FRACTION" => "0.9".to_owned(),
                "EVALUE" | "N" => "5".to_owned(),
                word if word.chars().all(|letter| letter.is_ascii_uppercase()) => format!("{}.x", word.to_lowercase()),
                word => word.to_owned(),
            };
            parses(&line.split_whitespace().map(word).collect::<Vec<_>>().join(" "), advice);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
