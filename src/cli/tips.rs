//! Advice on wrong command lines: options, values and commands of other programs with their names
//! in pairwave, and numbers in other notations.

mod clustering;
mod tables;

use std::ffi::{OsStr, OsString};

use clustering::{ACTIONS, OPTIONS};
use tables::FOREIGN;
pub(super) use tables::{AdviceEntry, COMMANDS, VALUES};

/// One-letter flags that take no value and may be combined.
const FLAGS: &str = "qvhV";

fn applies_to(commands: &[&str], command: Option<&str>) -> bool {
    commands.is_empty() || command.is_some_and(|command| commands.contains(&command))
}

/// Returns the options that an advice names outside quoted commands.
pub(super) fn options_in(advice: &str) -> impl Iterator<Item = &str> {
    let plain = advice.split('\'').step_by(2);
    let words = plain.flat_map(|text| text.split([' ', ',', ';', ':']));
    words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
}

/// Returns the advice on options of other programs.
pub(super) fn foreign_options() -> impl Iterator<Item = &'static AdviceEntry> {
    [ACTIONS, OPTIONS, FOREIGN].into_iter().flatten()
}

/// Returns the name of an option as the tables spell it: without dashes and value, in lower case,
/// with hyphens.
fn bare_name(option: &str) -> String {
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    name.to_ascii_lowercase().replace('_', "-")
}

/// Returns the first word that is a command of vsearch, such as `--cluster_fast`.
pub(super) fn vsearch_command(typed: &[OsString]) -> Option<&str> {
    let is_command = |word: &&str| {
        let name = bare_name(word);
        word.starts_with('-') && ACTIONS.iter().any(|(names, ..)| names.contains(&&*name))
    };
    typed.iter().skip(1).filter_map(|word| word.to_str()).find(is_command)
}

/// Returns whether any command of another program has this option.
pub(super) fn is_foreign(option: &str) -> bool {
    let name = bare_name(option);
    foreign_options().any(|(names, ..)| names.contains(&&*name))
}

/// Returns the advice for an option that a command does not have. `has` reports whether the command
/// has an option.
pub(super) fn option_advice(command: Option<&str>, option: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = bare_name(option);
    let fits = |(names, advice, commands): &&AdviceEntry| {
        names.contains(&&*name) && applies_to(commands, command) && options_in(advice).all(&has)
    };
    foreign_options().find(fits).map(|(_, advice, _)| *advice)
}

/// Returns the advice for a value that an option of this command does not take.
pub(super) fn value_instead(command: Option<&str>, option: &str, value: &str) -> Option<&'static str> {
    let value = value.to_ascii_lowercase();
    let fits = |(name, (values, _, commands)): &&(&str, AdviceEntry)| {
        *name == option && values.contains(&&*value) && applies_to(commands, command)
    };
    VALUES.iter().find(fits).map(|(_, (_, advice, _))| *advice)
}

/// Replaces the wording of clap's ranges and of the standard library's number parsers by plain words.
pub(super) fn in_plain_words(message: &str) -> String {
    limit_in_words(message)
        .unwrap_or_else(|| message.to_owned())
        .replace("invalid digit found in string", "not a whole number")
        .replace("number too large to fit in target type", "the number is too large")
        .replace("number too small to fit in target type", "the number is too small")
        .replace("cannot parse integer from empty string", "a number is missing")
        .replace("cannot parse float from empty string", "a number is missing")
        .replace("invalid float literal", "not a number")
}

/// Replaces clap's message for a number outside a range, as in `7 is not in 0..=4`, by the limit that
/// the number exceeds. Returns `None` for other messages.
fn limit_in_words(message: &str) -> Option<String> {
    let (before, after) = message.split_once(" is not in ")?;
    let (before, number) = before.rsplit_once(' ')?;
    let range_end = after.find(|letter: char| !matches!(letter, '0'..='9' | '-' | '.' | '=')).unwrap_or(after.len());
    let (range, rest) = after.split_at(range_end);
    let (least, most) = range.split_once("..=")?;
    let number: i128 = number.parse().ok()?;
    let limit = if number > most.parse().ok()? { format!("at most {most}") } else { format!("at least {least}") };
    Some(format!("{before} must be {limit}{rest}"))
}

/// Returns the pairwave command for the name of another program or of its command.
fn pairwave_command(word: &str) -> Option<&'static str> {
    let name = bare_name(word);
    COMMANDS.iter().find(|(names, _)| names.contains(&&*name)).map(|(_, line)| *line)
}

/// Returns the advice for a word that is not a command. The other words may name a command of the
/// other program, as in `mmseqs easy-cluster` and `vsearch --cluster_fast`.
pub(super) fn command_instead(word: &str, typed: &[OsString]) -> Option<String> {
    if let Some(line) = pairwave_command(word) {
        if let Some(advice) = vsearch_command(typed).and_then(|option| option_advice(None, option, |_| false)) {
            return Some(advice.to_owned());
        }
        let words = typed.iter().filter_map(|word| word.to_str());
        let next = words.skip_while(|next| *next != word).nth(1).and_then(pairwave_command);
        return Some(format!("use {}", next.unwrap_or(line)));
    }
    let is_file = word.contains(['.', '/']) || std::path::Path::new(word).exists();
    is_file.then(|| format!("name a command before the files, as in 'pairwave allpairs {word}'"))
}

/// Returns the advice for a number that cannot be parsed, for an option such as
/// `--min-identity <FRACTION>`.
pub(super) fn number_instead(option: &str, value: &str) -> Option<String> {
    let name = option.split_whitespace().next().unwrap_or_default();
    let unit = option.split_once('<').map_or("", |(_, unit)| unit.trim_end_matches('>'));
    let is_share = ["FRACTION", "SHARE", "RATE"].iter().any(|share| unit.contains(share));
    let digits = value.trim().trim_end_matches('%').trim();
    let pointed = if digits.contains('.') { digits.to_owned() } else { digits.replacen(',', ".", 1) };
    let number = pointed.parse::<f64>().ok().filter(|number| number.is_finite())?;
    if value.trim().ends_with('%') {
        return match number {
            0.0..=100.0 if is_share => Some(format!("use {name} {}", share_of_percent(number))),
            number if unit == "PERCENT" => Some(format!("use {name} {number}")),
            _ => None,
        };
    }
    let is_whole = ["N", "K", "COLUMNS", "ROWS", "SCORE", "OPEN", "EXTEND", "COST", "NUMBER"].contains(&unit);
    match digits.split_once(',') {
        // A thousands separator looks like a decimal comma: advises only unambiguous numbers.
        Some((_, decimals)) if is_whole && decimals.len() == 3 => {
            let whole = digits.replace(',', "");
            Some(format!("use {name} {whole}"))
        }
        Some(_) if is_whole && unit != "COST" => None,
        Some(_) => Some(format!("use {name} {pointed}")),
        // A rejected whole number is out of range.
        None if is_whole && number.fract() == 0.0 && number.abs() < 1e15 && format!("{number:.0}") != digits => {
            Some(format!("use {name} {number:.0}"))
        }
        None => None,
    }
}

/// Formats a percentage as a fraction, without binary rounding noise.
fn share_of_percent(percent: f64) -> String {
    let text = format!("{:.8}", percent / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the advice for a fraction that was given as a percentage; empty for other values.
pub(super) fn percentage_advice(given: f64) -> String {
    match given {
        2.0..=100.0 => format!("; did you mean {}?", share_of_percent(given)),
        _ => String::new(),
    }
}

/// Returns whether a word may be a misspelling of another: at most a third of its letters differ.
fn is_misspelling(typed: &str, meant: &str) -> bool {
    let (typed, meant): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    let mut row: Vec<usize> = (0..=meant.len()).collect();
    for (line, a) in (1..).zip(&typed) {
        let mut diagonal = std::mem::replace(&mut row[0], line);
        for (column, b) in (1..).zip(&meant) {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[column];
            row[column] = substituted.min(diagonal + 1).min(row[column - 1] + 1);
        }
    }
    let is_start = meant.starts_with(&typed) && typed.len() > 2;
    is_start || row[meant.len()] <= typed.len().max(meant.len()) / 3
}

/// Removes the advice of clap from a message if it names something unlike the typed word.
pub(super) fn without_far_advice(message: &str, typed: &str) -> String {
    let typed = typed.trim_start_matches('-').to_ascii_lowercase();
    let is_near = |part: &&str| {
        let Some(advice) = part.strip_prefix("tip: ").filter(|advice| advice.contains("similar")) else { return true };
        advice.split('\'').skip(1).step_by(2).any(|meant| is_misspelling(&typed, meant.trim_start_matches('-')))
    };
    message.split("; ").filter(is_near).collect::<Vec<_>>().join("; ")
}

/// Returns the first typed word that is a command.
pub(super) fn command(typed: &[OsString], commands: impl Fn(&str) -> bool) -> Option<&str> {
    typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| commands(word))
}

/// Returns the first word that is not an option, if only flags precede it.
pub(super) fn first_word(typed: &[OsString]) -> Option<&str> {
    let word = typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| {
        let letters = word.trim_start_matches('-');
        !word.starts_with('-')
            || !(["quiet", "verbose"].contains(&letters) || letters.chars().all(|one| FLAGS.contains(one)))
    })?;
    (!word.starts_with('-')).then_some(word)
}

/// Returns the option that a letter stands for in `pairwave papara`. Its letters are PaPaRa's and
/// differ from those of the other commands.
pub(super) fn letter_instead(command: Option<&str>, option: &str, typed: &[OsString]) -> Option<String> {
    let (letter, meant) = match (command?, option) {
        ("papara", "reads") => ("-q", "use --quiet for no messages"),
        ("papara", "tree") => ("-t", "use -j or --threads for threads"),
        ("papara", "parameters") => ("-p", "use -j or --threads for threads"),
        _ => return None,
    };
    let is_typed = typed.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with(letter)));
    is_typed.then(|| format!("{letter} is --{option} here; {meant}"))
}

/// Returns the first word after a single dash that clap would parse as a one-letter option with a
/// value: `-out` as `-o ut`.
pub(super) fn word_after_one_dash(typed: &[OsString]) -> Option<&str> {
    let options = typed.iter().skip(1).take_while(|word| word.as_os_str() != OsStr::new("--"));
    options.filter_map(|word| word.to_str()).find(|word| {
        let Some(letters) = word.strip_prefix('-') else { return false };
        let name = letters.split('=').next().unwrap_or_default();
        let is_word =
            name.len() > 1 && name.chars().all(|letter| letter.is_ascii_alphabetic() || "-_".contains(letter));
        is_word && !letters.starts_with('-') && !name.chars().all(|letter| FLAGS.contains(letter))
    })
}

/// Returns clap's message and tips on one line, without usage and help lines, and without its tip
/// to pass an option as a value.
pub(super) fn one_line(text: &str) -> String {
    let is_message = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut message = String::new();
    for line in text.strip_prefix("error: ").unwrap_or(text).lines().map(str::trim).take_while(is_message) {
        if line.starts_with("tip: to pass '") {
            continue;
        }
        let joint = if line.starts_with("tip:") { "; " } else { " " };
        message.push_str(if line.is_empty() || message.is_empty() { "" } else { joint });
        message.push_str(line);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::tables::WRITING;
    use super::*;

    fn advice(command: &str, option: &str) -> Option<&'static str> {
        option_advice(Some(command), option, |_| true)
    }

    #[test]
    fn options_of_other_programs_have_their_names_here() {
        for (command, option, expected) in [
            ("allpairs", "--id", "--min-identity"),
            ("edit", "--id", "--max-distance"),
            ("allpairs", "-max_target_seqs", "--max-hits"),
            ("long", "-max_target_seqs", "--top"),
            ("allpairs", "--gapopen=10", "--gap-open"),
            ("allpairs", "--userfields", "--fields"),
            ("pairs", "--min-identity", "'pairwave allpairs A B'"),
            ("search", "-seg", "masks nothing"),
            ("search", "--query_cov", "--query-cov "),
            ("pairs", "--target_cov=0.9", "--target-cov "),
            ("allpairs", "--top_hits_only", "--top-hits-only"),
            ("papara", "--query", "--reads"),
            ("msa", "--outfmt", "'clustal' for clu"),
            ("msa", "-output=phylip", "--format"),
            ("allpairs", "--force", "always replaced"),
            ("plan", "--force", "never replaced"),
        ] {
            assert!(advice(command, option).is_some_and(|advice| advice.contains(expected)), "{command} {option}");
        }
        assert!(option_advice(None, "--licence", |_| false).is_some_and(|advice| advice.contains("MIT")));
        assert_eq!(advice("long", "--uc"), option_advice(None, "--UC", |_| true));
        assert_eq!(advice("allpairs", "--nonsense"), None);
        assert_eq!(option_advice(Some("tree"), "--gpu", |option| option != "device"), None);
    }

    #[test]
    fn a_name_has_one_answer_in_a_command() {
        for command in WRITING {
            let here = |commands: &&[&str]| applies_to(commands, Some(command));
            let entries = foreign_options().filter(|(_, _, commands)| here(commands));
            let mut names: Vec<&str> = entries.flat_map(|(names, ..)| names.iter().copied()).collect();
            names.sort_unstable();
            let twice: Vec<&[&str]> = names.windows(2).filter(|two| two[0] == two[1]).collect();
            assert!(twice.is_empty(), "{command}: {twice:?}");
        }
    }

    #[test]
    fn numbers_beyond_a_range_have_a_limit() {
        let error = "error: invalid value '7' for '--top <K>':";
        for (message, expected) in [
            ("7 is not in 0..=4", "must be at most 4"),
            ("-7 is not in -5..=4", "must be at least -5"),
            ("4294967296 is not in 0..=4294967295; tip: x", "must be at most 4294967295; tip: x"),
            ("number too large to fit in target type", "the number is too large"),
            ("seven is not in 0..=4", "seven is not in 0..=4"),
            ("7 is not in a list", "7 is not in a list"),
        ] {
            assert_eq!(in_plain_words(&format!("{error} {message}")), format!("{error} {expected}"));
        }
    }

    #[test]
    fn numbers_that_were_written_in_another_way() {
        let advice = |option: &str, value: &str| number_instead(option, value).unwrap_or_default();
        for (option, value, expected) in [
            ("--min-identity <FRACTION>", "97%", "use --min-identity 0.97"),
            ("--min-identity <FRACTION>", "99.9%", "use --min-identity 0.999"),
            ("--min-identity <FRACTION>", "97,5 %", "use --min-identity 0.975"),
            ("--min-identity <FRACTION>", "0,97", "use --min-identity 0.97"),
            ("--min-identity <FRACTION>", "100%", "use --min-identity 1"),
            ("--min-identity <FRACTION>", "970%", ""),
            ("--min-identity <FRACTION>", "high", ""),
            ("--max-distance <EDITS|RATE>", "3%", "use --max-distance 0.03"),
            ("--transition-weight <SHARE>", "50%", "use --transition-weight 0.5"),
            ("--delay <PERCENT>", "30%", "use --delay 30"),
            ("--tolerance <PERCENT>", "12,5", "use --tolerance 12.5"),
            ("--evalue <EVALUE>", "0,001", "use --evalue 0.001"),
            ("--threads <N>", "50%", ""),
            ("--max-hits <N>", "1,000", "use --max-hits 1000"),
            ("--max-hits <N>", "5.0", "use --max-hits 5"),
            ("--max-hits <N>", "1e3", "use --max-hits 1000"),
            ("--max-hits <N>", "1,5", ""),
            ("--iddef <NUMBER>", "5", ""),
            ("--gap-open <OPEN>", "10.0", "use --gap-open 10"),
            ("--gap-open <OPEN>", "0.5", ""),
            ("--pair-gap-open <COST>", "0,1", "use --pair-gap-open 0.1"),
        ] {
            assert_eq!(advice(option, value), expected, "{option} {value}");
        }
    }

    #[test]
    fn far_advice_is_dropped() {
        let kept = |typed: &str, meant: &str| {
            let message = format!("unexpected argument '{typed}' found; tip: a similar argument exists: '{meant}'");
            without_far_advice(&message, typed).contains("tip:")
        };
        for (typed, meant) in
            [("--fromat", "--format"), ("--thread", "--threads"), ("--out", "--output"), ("--boot", "--bootstrap")]
        {
            assert!(kept(typed, meant), "{typed}");
        }
        for (typed, meant) in [("--force", "--format"), ("--in", "--refinements"), ("fasta", "blast0")] {
            assert!(!kept(typed, meant), "{typed}");
        }
    }

    #[test]
    fn words_after_one_dash_are_not_taken_apart() {
        let tip = |line: &str| {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            word_after_one_dash(&typed).map(str::to_owned)
        };
        assert_eq!(tip("pairwave allpairs a.fa -out b.tsv").as_deref(), Some("-out"));
        assert_eq!(tip("pairwave allpairs a.fa -max_target_seqs 3").as_deref(), Some("-max_target_seqs"));
        for fine in ["-o pairs.tsv", "-opairs.tsv", "-t4", "-qv", "--mismatch -4", "-- -out", "-"] {
            assert_eq!(tip(&format!("pairwave allpairs a.fa {fine}")), None, "{fine}");
        }
    }
}
