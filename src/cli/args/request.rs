//! Arguments of a job by name, independent of spelling, and the subset that determines its results.
//!
//! The lists [`NEUTRAL`], [`OUTPUT_FILES`] and [`LAYOUT`] name the arguments that do not determine
//! results. Every argument that is not listed, for example a new one, determines results.

use crate::cli::neutral::{NEUTRAL, OUTPUT_FILES};
use clap::{ArgAction, ArgMatches, ValueHint, builder::PossibleValue, parser::ValueSource};
use pairwave::Result;
use pairwave::jobs::{Fingerprint, names};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns whether an argument changes no byte of any result: it selects devices, progress reports
/// or files to write.
fn is_neutral(id: &str) -> bool {
    NEUTRAL.contains(&id) || OUTPUT_FILES.contains(&id)
}

/// Arguments that only format results, so that a checkpoint does not depend on them.
pub(in crate::cli) const LAYOUT: &[&str] = &["fields", "format", "keep_length", "split", "width"];

/// Arguments of one command.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct JobRequest {
    command: String,
    arguments: Vec<Argument>,
}

/// Argument with a value, typed or by default.
#[derive(Debug, Clone)]
struct Argument {
    /// Identifier that clap uses.
    id: String,
    /// Name as a user types it: `--format`, or `SEQS`.
    name: String,
    /// Values of each occurrence on the command line.
    values: Vec<OsString>,
    kind: ArgumentKind,
    /// Position on the command line; `None` for a default.
    index: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentKind {
    Flag,
    Value,
    /// Name of a file that is read.
    Input,
    /// Built-in name, or name of an input file.
    NameOrInput,
}

impl JobRequest {
    /// Collects the arguments that clap parsed for the typed command.
    pub(in crate::cli) fn from_matches(program: &clap::Command, matches: &ArgMatches) -> Self {
        let Some((command, matches)) = matches.subcommand() else { return JobRequest::default() };
        let all = program.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
        let arguments = all.filter_map(|argument| Argument::from_matches(argument, matches)).collect();
        JobRequest { command: command.to_owned(), arguments }
    }

    /// Returns the command line without neutral arguments, in the order of typing. Quotes names
    /// that are not UTF-8.
    pub(in crate::cli) fn line(&self) -> String {
        let is_decisive = |argument: &&Argument| !is_neutral(&argument.id);
        let mut typed: Vec<(usize, &Argument)> = self
            .arguments
            .iter()
            .filter(is_decisive)
            .filter_map(|argument| Some((argument.index?, argument)))
            .collect();
        typed.sort_by_key(|(index, _)| *index);
        let mut words: Vec<Cow<'_, str>> = vec!["pairwave".into(), self.command.as_str().into()];
        for (_, argument) in typed {
            let is_option = argument.name.starts_with("--");
            if argument.kind == ArgumentKind::Flag {
                words.push(argument.name.as_str().into());
                continue;
            }
            for value in &argument.values {
                words.extend(is_option.then_some(argument.name.as_str().into()));
                words.push(quoted(value));
            }
        }
        words.join(" ")
    }

    /// Returns the fingerprint of the arguments that determine results, and of the content of all
    /// input files. Standard input contributes no content. `ignored` names further arguments that
    /// do not count.
    ///
    /// # Errors
    /// Returns [`pairwave::Error::Io`] if a file cannot be read, and [`pairwave::Error::Usage`] if
    /// it can be read only once.
    pub(in crate::cli) fn fingerprint(&self, ignored: &[&str]) -> Result<Fingerprint> {
        let mut all = Fingerprint::default().with("command", &self.command);
        let decides = |id: &str| !is_neutral(id) && !ignored.contains(&id);
        for argument in self.arguments.iter().filter(|argument| decides(&argument.id)) {
            let name = &argument.name;
            if argument.kind != ArgumentKind::Input {
                all = all.with(name, names::to_text(argument.values.join(OsStr::new(" "))));
            }
            for (number, value) in argument.values.iter().enumerate() {
                let is_file = match argument.kind {
                    ArgumentKind::Flag | ArgumentKind::Value => false,
                    ArgumentKind::Input => value != "-",
                    ArgumentKind::NameOrInput => Path::new(value).is_file(),
                };
                let nth = if number == 0 { name.clone() } else { format!("{name} {}", number + 1) };
                all = match argument.kind {
                    _ if is_file => all.with_file(nth, Path::new(value))?,
                    ArgumentKind::Input => all.with(nth, "-"),
                    _ => all,
                };
            }
        }
        Ok(all)
    }
}

impl Argument {
    /// Returns the parsed argument, or `None` if it has no value.
    fn from_matches(argument: &clap::Arg, matches: &ArgMatches) -> Option<Self> {
        let id = argument.get_id().as_str();
        let source = matches.value_source(id)?;
        let occurrences = matches.get_raw_occurrences(id)?;
        let separator = argument.get_value_delimiter().unwrap_or(' ').to_string();
        let canonical = |value| canonical(argument, value);
        let values =
            occurrences.map(|once| once.map(canonical).collect::<Vec<_>>().join(OsStr::new(&separator))).collect();
        let value_name = argument.get_value_names().and_then(|names| names.first());
        let is_path = argument.get_value_hint() == ValueHint::FilePath;
        let kind = match argument.get_action() {
            ArgAction::Set | ArgAction::Append if is_path && value_name.is_some_and(|name| name.contains('|')) => {
                ArgumentKind::NameOrInput
            }
            ArgAction::Set | ArgAction::Append if is_path => ArgumentKind::Input,
            ArgAction::Set | ArgAction::Append => ArgumentKind::Value,
            _ => ArgumentKind::Flag,
        };
        let is_typed = source == ValueSource::CommandLine;
        let index = matches.indices_of(id).into_iter().flatten().min().filter(|_| is_typed);
        Some(Argument { id: id.to_owned(), name: Self::name_of(argument), values, kind, index })
    }

    fn name_of(argument: &clap::Arg) -> String {
        let value_name = argument.get_value_names().and_then(|names| names.first());
        match (argument.get_long(), value_name) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(name)) => name.to_string(),
            (None, None) => argument.get_id().as_str().to_uppercase(),
        }
    }
}

/// Returns the canonical name of a value that has aliases.
fn canonical(argument: &clap::Arg, value: &OsStr) -> OsString {
    let known = argument.get_possible_values();
    let is_value = |known: &PossibleValue, text| known.matches(text, argument.is_ignore_case_set());
    let name = value.to_str().and_then(|text| known.iter().find(|known| is_value(known, text)));
    name.map_or(value, |name| OsStr::new(name.get_name())).to_owned()
}

/// Returns a word unchanged, or in the shell's form `$'caf\xe9.fa'` if it is not UTF-8.
fn quoted(word: &OsStr) -> Cow<'_, str> {
    if let Some(text) = word.to_str() {
        return text.into();
    }
    let mut quoted = "$'".to_owned();
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' | '\'' => quoted.extend(['\\', letter]),
                _ if letter.is_ascii_control() => quoted += &format!("\\x{:02x}", letter as u32),
                _ => quoted.push(letter),
            }
        }
        quoted.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    (quoted + "'").into()
}

#[cfg(test)]
mod tests {
    use super::super::Args;
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;

    /// Commands whose results can be kept, with their required arguments; `@` stands for a file.
    const JOBS: [(&str, &str); 10] = [
        ("allpairs", "@"),
        ("cluster", "@ --min-identity 0.9"),
        ("search", "@ @"),
        ("pairs", "@ @"),
        ("edit", "@"),
        ("long", "@ @"),
        ("papara", "--tree @ --reference @ --reads @"),
        ("msa", "@"),
        ("tree", "@"),
        ("dist", "@"),
    ];

    fn request(words: &[&str]) -> JobRequest {
        Args::parse_words(typed(words)).unwrap_or_else(|error| panic!("{words:?}: {error}")).request
    }

    fn typed(words: &[&str]) -> Vec<std::ffi::OsString> {
        std::iter::once("pairwave").chain(words.iter().copied()).map(Into::into).collect()
    }

    fn line(text: &str) -> String {
        request(&text.split(' ').collect::<Vec<_>>()).line()
    }

    #[test]
    fn line_keeps_only_arguments_that_determine_results() {
        let job = "pairwave allpairs a.fa --format sam --min-identity 0.9";
        for text in [
            "allpairs a.fa --format sam --min-identity 0.9",
            "allpairs -o x.sam a.fa --format=SAM --min-identity=0.9 --device cpu --threads=3 --tune",
            "-q allpairs -t 4 a.fa --format sam -ox.sam --memory 3G --min-identity 0.9 --stats s.json --check",
            "allpairs a.fa -j3 --format sam --kernel nw_band --device 0,cpu --min-identity 0.9 --edit-filter off",
        ] {
            assert_eq!(line(text), job, "{text}");
        }
        assert_eq!(line("search a.fa b.fa -p 2 -k 7"), "pairwave search a.fa b.fa --max-target-seqs 7");
        assert_eq!(
            line("papara -p 0:1:2:3 -t a -s b -q c -j 3"),
            "pairwave papara --parameters 0:1:2:3 --tree a --reference b --reads c"
        );
        assert_eq!(
            line("allpairs a.fa --degap --match 5 --mismatch -4"),
            "pairwave allpairs a.fa --degap --match 5 --mismatch -4"
        );
    }

    #[test]
    #[cfg(unix)]
    fn names_that_are_not_utf8_are_quoted() {
        use std::os::unix::ffi::OsStrExt;
        let of = |name: &[u8]| {
            let words = [OsStr::new("pairwave"), OsStr::new("allpairs"), OsStr::new("-"), OsStr::new("--matrix")];
            Args::parse_words(words.into_iter().chain([OsStr::from_bytes(name)]).map(Into::into).collect())
                .unwrap()
                .request
        };
        assert_eq!(of(b"a'\\\x01\xE9.txt").line(), r"pairwave allpairs - --matrix $'a\'\\\x01\xe9.txt'");
        assert_eq!(of(b"a'\\.txt").line(), r"pairwave allpairs - --matrix a'\.txt");
        let [one, other, shown] =
            [&b"\xE9"[..], b"\xE8", "\u{fffd}".as_bytes()].map(|name| of(name).fingerprint(&[]).unwrap());
        assert_eq!(one.difference(&other).unwrap().to_string(), "--matrix was \u{fffd}, now it is \u{fffd}");
        assert!(one.difference(&one.clone()).is_none() && one.difference(&shown).is_some());
    }

    #[test]
    fn defaults_and_aliases_have_the_same_fingerprint() {
        let options = |text: &str| request(&text.split(' ').collect::<Vec<_>>()).fingerprint(&[]).unwrap();
        assert_eq!(options("allpairs - --format tsv"), options("allpairs -"));
        assert_eq!(options("allpairs - --strand forward"), options("allpairs - --strand PLUS"));
        assert_ne!(options("allpairs - --strand minus"), options("allpairs -"));
        assert_ne!(options("allpairs - --alphabet dna"), options("allpairs - --alphabet protein"));
    }

    /// Every argument of every job either is listed or changes the fingerprint. A new argument that
    /// does neither fails here.
    #[test]
    fn every_argument_counts_or_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a.fa"), folder.path().join("b.fa"));
        let [file, other] = [&file, &other].map(|path| path.to_str().unwrap());
        std::fs::write(file, ">a\nACGT\n").unwrap();
        std::fs::write(other, ">a\nACGA\n").unwrap();
        let program = Args::command();
        let (mut listed, mut counted) = (BTreeSet::new(), 0);
        for (job, needed) in JOBS {
            let base: Vec<&str> = std::iter::once(job)
                .chain(needed.split(' ').map(|word| if word == "@" { file } else { word }))
                .collect();
            let of = |words: &[&str]| request(words).fingerprint(&[]).unwrap();
            let (plain, command) = (of(&base), program.find_subcommand(job).unwrap());
            let global = program.get_arguments().filter(|argument| argument.is_global_set());
            let local = command.get_arguments().filter(|argument| argument.get_id() != "help");
            let mut seen = BTreeSet::new();
            for argument in local.chain(global) {
                let id = argument.get_id().as_str();
                // These select a job of its own, whose input they name.
                if job == "msa" && ["add", "to", "keep_length"].contains(&id) {
                    continue;
                }
                if !seen.insert(id) || plain.inputs.keys().any(|name| *name == Argument::name_of(argument)) {
                    continue;
                }
                let long = argument.get_long().map(|long| format!("--{long}"));
                let possible = argument.get_possible_values();
                let defaults = argument.get_default_values();
                let value =
                    possible.iter().map(|value| value.get_name()).find(|name| !defaults.iter().any(|d| d == name));
                let is_path = argument.get_value_hint() == ValueHint::FilePath;
                let value = value.unwrap_or(if is_path { other } else { "1" });
                let takes_value = argument.get_action().takes_values();
                let more: Vec<&str> = long.as_deref().into_iter().chain(takes_value.then_some(value)).collect();
                // Some arguments require others.
                let required: [&[&str]; 5] = [
                    &[],
                    &["--aligned"],
                    &["--aligned", "--bootstrap", "3"],
                    &["--aligned", "--model", "jc69"],
                    &["--hits-fasta", "hits.fa"],
                ];
                let bases = required.map(|required| [&base[..], required].concat());
                let parses = |base: &Vec<&str>| Args::parse_words(typed(&[&base[..], &more].concat())).is_ok();
                let base = bases.into_iter().find(parses).unwrap_or_else(|| panic!("{job} {more:?}"));
                let (before, after) = (of(&base), of(&[&base[..], &more].concat()));
                if is_neutral(id) {
                    assert_eq!(before.difference(&after).map(|it| it.to_string()), None, "{job} {more:?}");
                    listed.insert(id.to_owned());
                } else {
                    assert!(before.difference(&after).is_some(), "{job} {more:?} changes nothing and is not listed");
                    counted += 1;
                }
            }
            // The content of each input file counts.
            for index in (0..base.len()).filter(|&index| base[index] == file) {
                let mut words = base.clone();
                words[index] = other;
                assert!(plain.difference(&of(&words)).is_some(), "{words:?}");
            }
        }
        assert!(counted > 100, "{counted}");
        let unknown: Vec<&&str> = NEUTRAL.iter().chain(OUTPUT_FILES).filter(|id| !listed.contains(**id)).collect();
        assert!(unknown.is_empty(), "no job has {unknown:?}");
    }

    #[test]
    fn layout_does_not_change_the_fingerprint_of_a_checkpoint() {
        let of = |text: &str| request(&text.split(' ').collect::<Vec<_>>()).fingerprint(LAYOUT).unwrap();
        assert_eq!(of("long - - --format paf -o x"), of("long - - --format text --width 70"));
        assert_ne!(of("long - - --format paf"), of("long - - --format paf --score-only"));
    }
}
