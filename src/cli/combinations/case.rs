//! A command with its options, tried in pairs.

use crate::cli::args::Args;
use crate::cli::neutral::NEUTRAL;
use crate::cli::options::{Action, CommandOptions};
use crate::cli::runner::{JobCommand, JobRunner, run_settings};
use clap::{CommandFactory, FromArgMatches};
use pairwave::Result;
use pairwave::output::{Output, OutputGroup};
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// Command with the arguments to try.
pub(super) struct CommandCase {
    pub(super) command: &'static str,
    /// Inputs to try the options with. An option has an effect if it has one for any of them.
    pub(super) inputs: &'static [&'static str],
    /// Options that are added to every pair.
    pub(super) bases: &'static [&'static str],
    /// Options to combine, with values that are not their defaults.
    pub(super) items: &'static [&'static str],
    /// Options that may have no effect next to certain others.
    pub(super) idle: &'static [Idle],
}

/// Number of genes and of proteins in the input files.
#[derive(Debug, Clone, Copy)]
pub(super) enum SetSize {
    /// Seven genes and six proteins.
    Full,
    /// The first five of each, for commands that take long.
    Five,
}

/// An option, the options next to which it has no effect (separated by ` | `), and the reason.
pub(super) type Idle = (&'static str, &'static str, &'static str);

/// Options that print text about the program, or only select the file for the results.
const PLACES: &[&str] = &["output", "run_name", "help", "version"];

/// Output of a command line including its files; `None` for an error.
type CommandOutput = Rc<Option<Vec<u8>>>;

#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<u8>>>);

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Command lines in one folder of inputs, each run once.
struct ProgramRuns {
    folder: tempfile::TempDir,
    /// Parser without the other commands, which take time to build.
    parser: clap::Command,
    known: HashMap<String, CommandOutput>,
    runs: usize,
}

impl ProgramRuns {
    fn new(command: &str, size: SetSize) -> Self {
        let all = Args::command();
        let subcommand = all.find_subcommand(command).unwrap().clone();
        let parser = clap::Command::new("pairwave").args(all.get_arguments().cloned()).subcommand(subcommand);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in inputs(size) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("out")).unwrap();
        ProgramRuns { folder, parser, known: HashMap::new(), runs: 0 }
    }

    fn outcome(&mut self, line: &str) -> CommandOutput {
        if let Some(known) = self.known.get(line) {
            return Rc::clone(known);
        }
        let outcome = Rc::new(self.run(line).ok());
        self.known.insert(line.to_owned(), Rc::clone(&outcome));
        outcome
    }

    fn run(&mut self, line: &str) -> Result<Vec<u8>> {
        let folder = self.folder.path().to_str().unwrap();
        let line = line.replace('@', &format!("{folder}/"));
        let typed = format!("pairwave {line} --quiet");
        let refused = |error: clap::Error| pairwave::Error::usage(error.to_string());
        let matches = self.parser.clone().try_get_matches_from(typed.split_whitespace()).map_err(refused)?;
        let args = Args::from_arg_matches(&matches).map_err(refused)?;
        let action = CommandOptions::try_from(args)?.action;
        self.runs += 1;
        let out = self.folder.path().join("out");
        let written = match action {
            Action::AllPairs(job) => bytes(&*job),
            Action::Cluster(job) => bytes(&*job),
            Action::Search(job) => bytes(&*job),
            Action::Pairs(job) => bytes(&*job),
            Action::Edit(job) => bytes(&*job),
            Action::Long(job) => bytes(&*job),
            Action::Papara(job) => bytes(&*job),
            Action::Msa(job) => bytes(&*job),
            Action::MsaAdd(job) => bytes(&*job),
            Action::Tree(job) => bytes(&*job),
            Action::Dist(job) => bytes(&*job),
            action => panic!("{line}: {action:?}"),
        };
        written.map(|mut bytes| {
            take_files(&out, &mut bytes);
            bytes
        })
    }
}

/// Appends all files of a folder and of its subfolders to `bytes`, and removes them.
fn take_files(folder: &Path, bytes: &mut Vec<u8>) {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        bytes.extend_from_slice(file.file_name().unwrap().as_encoded_bytes());
        if file.is_dir() {
            take_files(&file, bytes);
            std::fs::remove_dir(&file).unwrap();
            continue;
        }
        bytes.extend(std::fs::read(&file).unwrap());
        std::fs::remove_file(&file).unwrap();
    }
}

fn bytes<C: JobCommand>(command: &C) -> Result<Vec<u8>> {
    let run = run_settings(command.compute(), command.family())?;
    let input = command.open(&run)?;
    let outputs = OutputGroup::default();
    let picture = command.files().picture.map(|path| outputs.create(path)).transpose()?;
    let collected = Collected::default();
    let runner = JobRunner::new(run, true).with_outputs(picture, &outputs);
    command.run(input, runner, Output::to_writer(collected.clone()))?;
    outputs.publish()?;
    let bytes = std::mem::take(&mut *collected.0.lock().unwrap());
    Ok(bytes)
}

/// Returns the option of an item, or the item itself if it is not an option.
fn option(item: &str) -> &str {
    item.split_whitespace().next().unwrap_or(item)
}

impl CommandCase {
    fn is_idle(&self, item: &str, next_to: &str, base: &str) -> bool {
        let is = |pattern: &str, item: &str| pattern == item || pattern == option(item);
        self.idle.iter().any(|(idle, others, _)| {
            let is_listed = |other: &str| is(other, next_to) || item != next_to && base.contains(other);
            is(idle, item) && others.split(" | ").any(is_listed)
        })
    }

    /// Returns the command line with an input and the options of a base.
    fn common(&self, input: &str, base: &str) -> String {
        format!("{} {input} {base} --device cpu --threads 1", self.command)
    }

    /// Returns the index of the first input that shows an effect of an option, or 0.
    fn first_input_with_effect(&self, item: &str, base: &str, program: &mut ProgramRuns) -> usize {
        let has_effect = |input: &&str| {
            let common = self.common(input, base);
            let outcome = program.outcome(&format!("{common} {item}"));
            outcome.is_some() && outcome != program.outcome(&common)
        };
        self.inputs.iter().position(has_effect).unwrap_or(0)
    }

    /// Checks the options with all sequences.
    pub(super) fn check(&self) {
        self.check_with(SetSize::Full);
    }

    /// Checks the options with sets of this size.
    pub(super) fn check_with(&self, size: SetSize) {
        let mut program = ProgramRuns::new(self.command, size);
        let mut silent = Vec::new();
        for base in self.bases {
            let in_base: BTreeSet<&str> = base.split_whitespace().filter(|word| word.starts_with('-')).collect();
            let items: Vec<&str> = self.items.iter().filter(|item| !in_base.contains(option(item))).copied().collect();
            let first_inputs: Vec<usize> =
                items.iter().map(|item| self.first_input_with_effect(item, base, &mut program)).collect();
            for (index, first) in items.iter().enumerate() {
                for (second, &first_input) in items.iter().zip(&first_inputs).skip(index) {
                    let is_pair = first != second;
                    if is_pair && option(first) == option(second) {
                        continue;
                    }
                    let mut is_accepted = false;
                    // An idle option may have no effect. No input has to show one.
                    let mut effects =
                        [(first, second), (second, first)].map(|(item, next_to)| self.is_idle(item, next_to, base));
                    // Begin with the input that probably shows the effects of both options.
                    let begin = first_input.max(first_inputs[index]);
                    let others = (0..self.inputs.len()).filter(|&input| input != begin);
                    for input in std::iter::once(begin).chain(others) {
                        let common = self.common(self.inputs[input], base);
                        let both =
                            if is_pair { format!("{common} {first} {second}") } else { format!("{common} {first}") };
                        let both = program.outcome(&both);
                        if both.is_none() {
                            continue;
                        }
                        is_accepted = true;
                        let without = |item: &str| match is_pair {
                            true => format!("{common} {}", if item == *first { second } else { first }),
                            false => common.clone(),
                        };
                        for (item, effect) in [first, second].into_iter().zip(&mut effects) {
                            *effect = *effect || program.outcome(&without(item)) != both;
                        }
                        if effects == [true; 2] {
                            break;
                        }
                    }
                    for ((item, next_to), effect) in [(first, second), (second, first)].into_iter().zip(effects) {
                        if is_accepted && !effect && (is_pair || item == next_to) {
                            silent.push(format!("[{base}] {item}   beside   {next_to}"));
                        }
                    }
                }
            }
        }
        silent.sort();
        silent.dedup();
        eprintln!("{}: {} command lines were run", self.command, program.runs);
        assert!(silent.is_empty(), "{}: {} without effect:\n{}", self.command, silent.len(), silent.join("\n"));
        self.check_complete();
    }

    /// Checks that every option of the command is an item, a base, or neutral.
    fn check_complete(&self) {
        let args = Args::command();
        let command = args.find_subcommand(self.command).unwrap();
        for argument in command.get_opts() {
            let id = argument.get_id().as_str();
            let long = format!("--{}", argument.get_long().unwrap());
            let words = self.items.iter().chain(self.bases).flat_map(|item| item.split_whitespace());
            let is_tried =
                words.chain(self.inputs.iter().flat_map(|input| input.split_whitespace())).any(|word| word == long);
            assert!(is_tried || NEUTRAL.contains(&id) || PLACES.contains(&id), "{}: {long} is not tried", self.command);
        }
    }
}

/// Returns input files: relatives of a few random sequences.
fn inputs(size: SetSize) -> Vec<(&'static str, String)> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut family = |letters: &[u8], length: usize, count: usize, rate: f64| -> Vec<Vec<u8>> {
        let parent: Vec<u8> = (0..length).map(|_| letters[random.usize(..letters.len())]).collect();
        let relative = |random: &mut fastrand::Rng| {
            let mut child = Vec::new();
            for &letter in &parent {
                match random.f64() / rate {
                    chance if chance < 0.6 => child.push(letters[random.usize(..letters.len())]),
                    chance if chance < 0.8 => {}
                    chance if chance < 1.0 => child.extend([letter, letters[random.usize(..letters.len())]]),
                    _ => child.push(letter),
                }
            }
            child
        };
        (0..count).map(|_| relative(&mut random)).collect()
    };
    let mut genes = family(b"ACGT", 60, 4, 0.25);
    genes.extend(family(b"ACGT", 45, 2, 0.3));
    let mut others = family(b"ACGT", 50, 1, 0.2);
    let mut proteins = family(b"ACDEFGHIKLMNPQRSTVWY", 50, 4, 0.5);
    proteins.extend(family(b"ACDEFGHIKLMNPQRSTVWY", 40, 2, 0.6));
    let complement = |gene: &[u8]| -> Vec<u8> {
        gene.iter().rev().map(|letter| b"TGCA"[b"ACGT".iter().position(|one| one == letter).unwrap()]).collect()
    };
    let reverse = complement(&genes[1]);
    let rotated = |gene: &[u8]| [&gene[27..], &gene[..27]].concat();
    let turned = [rotated(&complement(&genes[3])), rotated(&genes[2])];
    genes.push(reverse);
    others.push(genes[0][5..40].to_vec());
    others.push(complement(&genes[2][8..48]));
    // Adds ambiguity codes and gaps.
    for (gene, (position, letter)) in genes.iter_mut().zip([(7, b'N'), (11, b'R'), (20, b'Y'), (21, b'N'), (30, b'W')])
    {
        gene[position] = letter;
    }
    others[1][9] = b'N';
    let with_gap = |letters: &Vec<u8>| [&letters[..9], b"--", &letters[9..]].concat();
    let gapped: Vec<Vec<u8>> = genes.iter().map(with_gap).collect();
    let gapped_proteins: Vec<Vec<u8>> = proteins.iter().map(with_gap).collect();
    let fasta = |prefix: &str, all: &[Vec<u8>]| -> String {
        (1..)
            .zip(all)
            .map(|(number, letters)| format!(">{prefix}{number} of\n{}\n", String::from_utf8_lossy(letters)))
            .collect()
    };
    let longest = others.iter().map(Vec::len).max().unwrap_or(0);
    let padded = |letters: &Vec<u8>| [&letters[..], &vec![b'-'; longest - letters.len()]].concat();
    let rows: Vec<Vec<u8>> = others.iter().map(padded).collect();
    let record = |(query, ends): (usize, [usize; 2]), strand: &str, target: usize| {
        let [m, n] = [genes[query].len(), genes[target].len()];
        let [query_end, target_end] = [(m, ends[0]), (n, ends[1])].map(|(length, cut)| length - cut);
        format!("a{}\t{m}\t9\t{query_end}\t{strand}\ta{}\t{n}\t8\t{target_end}\t0\t0\t255\n", query + 1, target + 1)
    };
    // The shorter intervals have a low coverage of the other sequence.
    let equal = [record((0, [7, 9]), "+", 1), record((1, [7, 9]), "-", 6)];
    let paf = [&equal[..], &[record((3, [35, 9]), "+", 0), record((3, [7, 35]), "+", 2)]].concat().concat();
    let listed = |(number, letters): (usize, &Vec<u8>)| format!("b{number}\t{}\n", String::from_utf8_lossy(letters));
    let (guide, protein_guide) = match size {
        SetSize::Full => {
            ("((a1:1,a3:1):1,(a2:1,(a4:1,a5:1):1):1,(a6:1,a7:1):2);", "((p1:1,p3:1):1,(p2:1,p5:1):1,(p6:1,p4:1):2);")
        }
        SetSize::Five => ("((a1:1,a3:1):1,a2:1,(a4:1,a5:1):2);", "((p1:1,p3:1):1,p4:1,(p2:1,p5:1):2);"),
    };
    let [gene_count, protein_count] = [genes.len(), proteins.len()].map(|count| match size {
        SetSize::Full => count,
        SetSize::Five => 5,
    });
    vec![
        ("list.txt", (1..).zip(&others).map(listed).collect()),
        ("aligned.fa", fasta("x", &rows)),
        ("rows.fa", fasta("y", &rows)),
        ("a.fa", fasta("a", &genes[..gene_count])),
        ("b.fa", fasta("b", &others)),
        ("gapped.fa", fasta("a", &gapped[..gene_count])),
        ("p.fa", fasta("p", &proteins[..protein_count])),
        ("gappedp.fa", fasta("p", &gapped_proteins[..protein_count])),
        ("one.fa", fasta("a", &genes[..1])),
        ("turned.fa", fasta("t", &turned)),
        ("pair.tsv", "a1\tb2\na2\tb3\na3\tb1\na3\tb3\n".into()),
        ("pairs.paf", paf),
        ("own.tsv", "a1\ta2\na1\ta5\na3\ta2\na3\ta6\n".into()),
        ("guide.nwk", guide.into()),
        ("p.nwk", protein_guide.into()),
        ("rows.fa", ">a\nACGTACGTACTT--ACGGAC\n>b\nACGTACATACTTGGACGGAC\n>c\nACTTACGTGCTTGGACGCAC\n>d\nAC--ACGTGCTAGCACGCAT\n>e\nACTTACCTGCTAGGAAGCAT\n".into()),
        ("rows.nwk", "((a:0.1,b:0.2):0.1,c:0.1,(d:0.3,e:0.1):0.2);".into()),
        ("reads.fa", ">r1\nACGTACNTAC\n>r2\nGCTTCACGTC\n>r3\nGTCCGTCCAAG\n>r4\nACGTTTACTTAC\n>r5\nACGTACGGGGTACTTGGACG\n>r6\nGTCCGTCCAAGTTCGTACGT\n".into()),
    ]
}
