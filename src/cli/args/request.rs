//! The arguments of a job by their names, independent of spelling, and the subset that decides its results.
//!
//! Lists say which arguments do not decide ([`NEUTRAL`], [`OUTPUT_FILES`], [`LAYOUT`]). Every other argument does, so that a new one counts until it is listed here.

use crate::cli::neutral::{NEUTRAL, OUTPUT_FILES};
use clap::{ArgAction, ArgMatches, ValueHint, builder::PossibleValue, parser::ValueSource};
use pairwave::Result;
use pairwave::jobs::{Fingerprint, names};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Whether an argument changes no byte of any result: it selects devices, progress reports or files to write.
fn is_neutral(id: &str) -> bool {
    NEUTRAL.contains(&id) || OUTPUT_FILES.contains(&id)
}

/// Arguments that only format results, so that a checkpoint does not depend on them.
pub(in crate::cli) const LAYOUT: &[&str] = &["fields", "format", "keep_length", "split", "width"];

/// The arguments of a command.
#[derive(Debug, Clone, Default)]
pub(in crate::cli) struct Request {
    command: String,
    arguments: Vec<Argument>,
}

/// An argument with a value: typed, or by default.
#[derive(Debug, Clone)]
struct Argument {
    /// As clap knows it.
    id: String,
    /// As a user types it: `--format`, or `SEQS`.
    name: String,
    /// Values of each time that it was typed.
    values: Vec<OsString>,
    kind: Kind,
    /// Position in the command line; `None` for a default.
    place: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Value,
    /// The name of a file that is read.
    Input,
    /// A built-in name, or the name of an input file.
    NameOrInput,
}

impl Request {
    /// The arguments that clap found, of the command that was typed.
    pub(in crate::cli) fn of(program: &clap::Command, matches: &ArgMatches) -> Self {
        let Some((command, matches)) = matches.subcommand() else { return Request::default() };
        let all = program.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
        let arguments = all.filter_map(|argument| Argument::of(argument, matches)).collect();
        Request { command: command.to_owned(), arguments }
    }

    /// Returns the command line without neutral arguments, in the order of typing. Names that are not UTF-8 are quoted.
    pub(in crate::cli) fn line(&self) -> String {
        let is_told = |argument: &&Argument| !is_neutral(&argument.id);
        let mut typed: Vec<(usize, &Argument)> =
            self.arguments.iter().filter(is_told).filter_map(|argument| Some((argument.place?, argument))).collect();
        typed.sort_by_key(|(place, _)| *place);
        let mut words: Vec<Cow<'_, str>> = vec!["pairwave".into(), self.command.as_str().into()];
        for (_, argument) in typed {
            let is_option = argument.name.starts_with("--");
            if argument.kind == Kind::Flag {
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

    /// The arguments that decide results, and the content of all files that are read. Standard input has no content here.
    /// `ignored` are further arguments that do not decide.
    ///
    /// # Errors
    /// [`pairwave::Error::Io`] if a file cannot be read; [`pairwave::Error::Usage`] if it can be read only once.
    pub(in crate::cli) fn fingerprint(&self, ignored: &[&str]) -> Result<Fingerprint> {
        let mut all = Fingerprint::default().with("command", &self.command);
        let decides = |id: &str| !is_neutral(id) && !ignored.contains(&id);
        for argument in self.arguments.iter().filter(|argument| decides(&argument.id)) {
            let name = &argument.name;
            if argument.kind != Kind::Input {
                all = all.with(name, names::to_text(argument.values.join(OsStr::new(" "))));
            }
            for (number, value) in argument.values.iter().enumerate() {
                let is_file = match argument.kind {
                    Kind::Flag | Kind::Value => false,
                    Kind::Input => value != "-",
                    Kind::NameOrInput => Path::new(value).is_file(),
                };
                let nth = if number == 0 { name.clone() } else { format!("{name} {}", number + 1) };
                all = match argument.kind {
                    _ if is_file => all.with_file(nth, Path::new(value))?,
                    Kind::Input => all.with(nth, "-"),
                    _ => all,
                };
            }
        }
        Ok(all)
    }
}

impl Argument {
    /// `None` if it has no value.
    fn of(argument: &clap::Arg, matches: &ArgMatches) -> Option<Self> {
        let id = argument.get_id().as_str();
        let source = matches.value_source(id)?;
        let occurrences = matches.get_raw_occurrences(id)?;
        let separator = argument.get_value_delimiter().unwrap_or(' ').to_string();
        let usual = |value| usual(argument, value);
        let values = occurrences.map(|once| once.map(usual).collect::<Vec<_>>().join(OsStr::new(&separator))).collect();
        let value_name = argument.get_value_names().and_then(|names| names.first());
        let is_path = argument.get_value_hint() == ValueHint::FilePath;
        let kind = match argument.get_action() {
            ArgAction::Set | ArgAction::Append if is_path && value_name.is_some_and(|name| name.contains('|')) => {
                Kind::NameOrInput
            }
            ArgAction::Set | ArgAction::Append if is_path => Kind::Input,
            ArgAction::Set | ArgAction::Append => Kind::Value,
            _ => Kind::Flag,
        };
        let is_typed = source == ValueSource::CommandLine;
        let place = matches.indices_of(id).into_iter().flatten().min().filter(|_| is_typed);
        Some(Argument { id: id.to_owned(), name: Self::name_of(argument), values, kind, place })
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

/// A value by its usual name, where it has several.
fn usual(argument: &clap::Arg, value: &OsStr) -> OsString {
    let known = argument.get_possible_values();
    let is_value = |known: &PossibleValue, text| known.matches(text, argument.is_ignore_case_set());
    let found = value.to_str().and_then(|text| known.iter().find(|known| is_value(known, text)));
    found.map_or(value, |found| OsStr::new(found.get_name())).to_owned()
}

/// Returns a word as it is, or in the shell's form `$'caf\xe9.fa'` if it is not UTF-8.
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

    /// Commands with results that can be kept, and their required arguments; `@` stands for a file.
    const JOBS: [(&str, &str); 9] = [
        ("allpairs", "@"),
        ("search", "@ @"),
        ("pairs", "@ @"),
        ("edit", "@"),
        ("long", "@ @"),
        ("papara", "--tree @ --reference @ --reads @"),
        ("msa", "@"),
        ("tree", "@"),
        ("dist", "@"),
    ];

    fn request(words: &[&str]) -> Request {
        Args::of(typed(words)).unwrap_or_else(|error| panic!("{words:?}: {error}")).request
    }

    fn typed(words: &[&str]) -> Vec<std::ffi::OsString> {
        std::iter::once("pairwave").chain(words.iter().copied()).map(Into::into).collect()
    }

    fn line(text: &str) -> String {
        request(&text.split(' ').collect::<Vec<_>>()).line()
    }

    #[test]
    fn a_line_has_what_decides_however_it_is_spelt() {
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
    fn names_that_are_not_utf_8_are_kept() {
        use std::os::unix::ffi::OsStrExt;
        let of = |name: &[u8]| {
            let words = [OsStr::new("pairwave"), OsStr::new("allpairs"), OsStr::new("-"), OsStr::new("--matrix")];
            Args::of(words.into_iter().chain([OsStr::from_bytes(name)]).map(Into::into).collect()).unwrap().request
        };
        assert_eq!(of(b"a'\\\x01\xE9.txt").line(), r"pairwave allpairs - --matrix $'a\'\\\x01\xe9.txt'");
        assert_eq!(of(b"a'\\.txt").line(), r"pairwave allpairs - --matrix a'\.txt");
        let [one, other, shown] =
            [&b"\xE9"[..], b"\xE8", "\u{fffd}".as_bytes()].map(|name| of(name).fingerprint(&[]).unwrap());
        assert_eq!(one.difference(&other).unwrap().to_string(), "--matrix was \u{fffd}, now it is \u{fffd}");
        assert!(one.difference(&one.clone()).is_none() && one.difference(&shown).is_some());
    }

    #[test]
    fn defaults_and_aliases_are_the_same_request() {
        let options = |text: &str| request(&text.split(' ').collect::<Vec<_>>()).fingerprint(&[]).unwrap();
        assert_eq!(options("allpairs - --format tsv"), options("allpairs -"));
        assert_eq!(options("allpairs - --strand forward"), options("allpairs - --strand PLUS"));
        assert_ne!(options("allpairs - --strand minus"), options("allpairs -"));
        assert_ne!(options("allpairs - --alphabet dna"), options("allpairs - --alphabet protein"));
    }

    /// Every argument of every job either is in a list, or changes the fingerprint. A new argument that is in neither list
    /// and does not change it fails here.
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
            let own = command.get_arguments().filter(|argument| argument.get_id() != "help");
            let mut seen = BTreeSet::new();
            for argument in own.chain(global) {
                let id = argument.get_id().as_str();
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
                // Some arguments need others.
                let required: [&[&str]; 3] = [&[], &["--aligned"], &["--aligned", "--bootstrap", "3"]];
                let bases = required.map(|required| [&base[..], required].concat());
                let parses = |base: &Vec<&str>| Args::of(typed(&[&base[..], &more].concat())).is_ok();
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
            // The content of each file that is read.
            for place in (0..base.len()).filter(|&place| base[place] == file) {
                let mut words = base.clone();
                words[place] = other;
                assert!(plain.difference(&of(&words)).is_some(), "{words:?}");
            }
        }
        assert!(counted > 100, "{counted}");
        let unknown: Vec<&&str> = NEUTRAL.iter().chain(OUTPUT_FILES).filter(|id| !listed.contains(**id)).collect();
        assert!(unknown.is_empty(), "no job has {unknown:?}");
    }

    #[test]
    fn the_layout_of_results_is_no_matter_of_checkpoints() {
        let of = |text: &str| request(&text.split(' ').collect::<Vec<_>>()).fingerprint(LAYOUT).unwrap();
        assert_eq!(of("long - - --format paf -o x"), of("long - - --format text --width 70"));
        assert_ne!(of("long - - --format paf"), of("long - - --format paf --score-only"));
    }
}
