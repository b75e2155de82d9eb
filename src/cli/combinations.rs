//! No option is silently without effect: every two options of a job together change what is written, each beside the other, or are
//! refused, unless one never changes it ([`NEUTRAL`]) or the two are on a list here.

use super::args::Args;
use super::neutral::NEUTRAL;
use super::options::{Action, Options};
use super::runner::{JobCommand, Runner, run_of};
use clap::{CommandFactory, FromArgMatches};
use pairwave::Result;
use pairwave::output::Output;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// A command with all that may be typed of it.
struct Case {
    command: &'static str,
    /// Inputs that the options are tried with. An option has an effect if it has one for any of them.
    inputs: &'static [&'static str],
    /// Options that are added to every pair.
    bases: &'static [&'static str],
    /// Options with values that are not their defaults.
    items: &'static [&'static str],
    /// An option that may have no effect next to others, which ` | ` separates, and the reason.
    idle: &'static [(&'static str, &'static str, &'static str)],
}

/// Options that only say where results go.
const PLACES: &[&str] = &["output", "help", "version"];

/// All output of a command line, files included; `None` for an error.
type Outcome = Rc<Option<Vec<u8>>>;

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

/// Command lines of one folder of inputs, each run once.
struct Program {
    folder: tempfile::TempDir,
    /// The parser without other commands, which take time to make.
    parser: clap::Command,
    known: HashMap<String, Outcome>,
    runs: usize,
}

impl Program {
    fn new(command: &str) -> Self {
        let all = Args::command();
        let own = all.find_subcommand(command).unwrap().clone();
        let parser = clap::Command::new("pairwave").args(all.get_arguments().cloned()).subcommand(own);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in inputs() {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("out")).unwrap();
        Program { folder, parser, known: HashMap::new(), runs: 0 }
    }

    fn outcome(&mut self, line: &str) -> Outcome {
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
        let action = Options::try_from(args)?.action;
        self.runs += 1;
        let out = self.folder.path().join("out");
        let written = match action {
            Action::AllPairs(job) => bytes(&*job),
            Action::Search(job) => bytes(&*job),
            Action::Pairs(job) => bytes(&*job),
            Action::Edit(job) => bytes(&*job),
            Action::Long(job) => bytes(&*job),
            Action::Papara(job) => bytes(&*job),
            Action::Msa(job) => bytes(&*job),
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

/// Appends all files of a folder to `bytes`, and removes them.
fn take_files(folder: &Path, bytes: &mut Vec<u8>) {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        bytes.extend_from_slice(file.file_name().unwrap().as_encoded_bytes());
        bytes.extend(std::fs::read(&file).unwrap());
        std::fs::remove_file(&file).unwrap();
    }
}

fn bytes<C: JobCommand>(command: &C) -> Result<Vec<u8>> {
    let run = run_of(command.compute(), command.family())?;
    let input = command.read(&run)?;
    let picture = command.files().picture.map(Output::create).transpose()?;
    let collected = Collected::default();
    command.run(input, Runner::new(run, picture, true), Output::to_writer(collected.clone()))?;
    let bytes = std::mem::take(&mut *collected.0.lock().unwrap());
    Ok(bytes)
}

/// The option of an item, or of what is no option the item itself.
fn option(item: &str) -> &str {
    item.split_whitespace().next().unwrap_or(item)
}

impl Case {
    fn is_idle(&self, item: &str, beside: &str, base: &str) -> bool {
        let is = |pattern: &str, item: &str| pattern == item || pattern == option(item);
        self.idle.iter().any(|(idle, others, _)| {
            let is_listed = |other: &str| is(other, beside) || item != beside && base.contains(other);
            is(idle, item) && others.split(" | ").any(is_listed)
        })
    }

    fn check(&self) {
        let mut program = Program::new(self.command);
        let mut silent = Vec::new();
        for base in self.bases {
            let in_base: BTreeSet<&str> = base.split_whitespace().filter(|word| word.starts_with('-')).collect();
            let items: Vec<&str> = self.items.iter().filter(|item| !in_base.contains(option(item))).copied().collect();
            for (index, first) in items.iter().enumerate() {
                for second in &items[index..] {
                    let is_pair = first != second;
                    if is_pair && option(first) == option(second) {
                        continue;
                    }
                    let (mut is_accepted, mut effects) = (false, [false; 2]);
                    for input in self.inputs {
                        let common = format!("{} {input} {base} --device cpu --threads 1", self.command);
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
                    for ((item, beside), effect) in [(first, second), (second, first)].into_iter().zip(effects) {
                        if is_accepted && !effect && !self.is_idle(item, beside, base) && (is_pair || item == beside) {
                            silent.push(format!("[{base}] {item}   beside   {beside}"));
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

    /// Every option of the command is an item, a base, or one that never matters.
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

/// Inputs: relatives of a few random sequences.
fn inputs() -> Vec<(&'static str, String)> {
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
    genes.push(reverse);
    others.push(genes[0][5..40].to_vec());
    others.push(complement(&genes[2][8..48]));
    // Codes that stand for several bases, and gaps.
    for (gene, (place, letter)) in genes.iter_mut().zip([(7, b'N'), (11, b'R'), (20, b'Y'), (21, b'N'), (30, b'W')]) {
        gene[place] = letter;
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
    vec![
        ("a.fa", fasta("a", &genes)),
        ("b.fa", fasta("b", &others)),
        ("gapped.fa", fasta("a", &gapped)),
        ("p.fa", fasta("p", &proteins)),
        ("gappedp.fa", fasta("p", &gapped_proteins)),
        ("one.fa", fasta("a", &genes[..1])),
        ("pair.tsv", "a1\tb2\na2\tb3\na3\tb1\na3\tb3\n".into()),
        ("own.tsv", "a1\ta2\na1\ta5\na3\ta2\na3\ta6\n".into()),
        ("guide.nwk", "((a1:1,a3:1):1,(a2:1,(a4:1,a5:1):1):1,(a6:1,a7:1):2);".into()),
        ("p.nwk", "((p1:1,p3:1):1,(p2:1,p5:1):1,(p6:1,p4:1):2);".into()),
        ("rows.fa", ">a\nACGTACGTACTT--ACGGAC\n>b\nACGTACATACTTGGACGGAC\n>c\nACTTACGTGCTTGGACGCAC\n>d\nAC--ACGTGCTAGCACGCAT\n>e\nACTTACCTGCTAGGAAGCAT\n".into()),
        ("rows.nwk", "((a:0.1,b:0.2):0.1,c:0.1,(d:0.3,e:0.1):0.2);".into()),
        ("reads.fa", ">r1\nACGTACNTAC\n>r2\nGCTTCACGTC\n>r3\nGTCCGTCCAAG\n>r4\nACGTTTACTTAC\n>r5\nACGTACGGGGTACTTGGACG\n>r6\nGTCCGTCCAAGTTCGTACGT\n".into()),
    ]
}

#[test]
fn tree() {
    Case {
        command: "tree",
        inputs: &["@a.fa", "@p.fa", "@gapped.fa", "@rows.fa"],
        bases: &["", "--aligned", "--aligned --bootstrap 9"],
        items: &[
            "--alphabet protein",
            "--degap",
            "--aligned",
            "--no-gap-columns",
            "--kimura",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--tree upgma",
            "--tree mbed",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--bootstrap 9",
            "--seed 3",
            "--labels branches",
        ],
        idle: &[
            ("--alphabet", "--alphabet", "columns are compared letter by letter"),
            ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
            ("--alphabet", "--aligned", "columns are compared letter by letter"),
        ],
    }
    .check();
}

#[test]
fn dist() {
    Case {
        command: "dist",
        inputs: &["@a.fa", "@p.fa", "@gapped.fa", "@rows.fa"],
        bases: &["", "--aligned"],
        items: &[
            "--alphabet protein",
            "--degap",
            "--aligned",
            "--no-gap-columns",
            "--kimura",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--format clustal",
            "--format tsv",
            "--matrix-shape lower",
        ],
        idle: &[
            ("--alphabet", "--alphabet", "columns are compared letter by letter"),
            ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
            ("--alphabet", "--aligned", "columns are compared letter by letter"),
        ],
    }
    .check();
}

#[test]
fn allpairs() {
    Case {
        command: "allpairs",
        inputs: &["@a.fa", "@gapped.fa"],
        bases: &[""],
        items: &[
            "@b.fa",
            "--against @b.fa",
            "--alphabet protein",
            "--degap",
            "--strand minus",
            "--strand both",
            "--mode semi-global",
            "--mode local",
            "--match 9",
            "--mismatch -9",
            "--ambiguity zero",
            "--matrix EDNAFULL",
            "--gap-open 3",
            "--gap-extend 3",
            "--end-gap-open 15",
            "--end-gap-extend 0",
            "--end-gaps charged",
            "--end-gaps free",
            "--scheme truong",
            "--min-identity 0.7",
            "--min-score 60",
            "--iddef 0",
            "--iddef 1",
            "--iddef 3",
            "--max-hits 1",
            "--score-only",
            "--format blast6",
            "--format paf",
            "--format jsonl",
            "--format text",
            "--format sam",
            "--format phylip",
            "--fields query,target,id",
            "--fields query,score",
            "--width 20",
            "--distance kimura",
            "--distance jukes-cantor",
            "--matrix-shape lower",
        ],
        idle: &[
            ("--end-gaps charged", "--scheme truong", "what the other option says or implies"),
            ("--score-only", "--fields query,score", "what the other option says or implies"),
            ("--end-gaps charged", "--gap-open", "what the other option says or implies"),
            ("--end-gaps charged", "--gap-extend", "what the other option says or implies"),
            ("--end-gaps charged", "--alphabet", "what the other option says or implies"),
            ("--end-gaps free", "--mode semi-global", "what the other option says or implies"),
            ("--mode semi-global", "--end-gaps free", "what the other option says or implies"),
            ("--iddef 1", "--mode local", "a local alignment has no end gaps"),
            ("--min-score", "--min-identity", "a threshold that all or none of so few results reach"),
            ("--max-hits", "--min-identity", "a threshold that all or none of so few results reach"),
        ],
    }
    .check();
}

#[test]
fn pairs() {
    Case {
        command: "pairs",
        inputs: &["@a.fa @a.fa", "@gapped.fa @gapped.fa", "@a.fa @b.fa --pairs @pair.tsv"],
        bases: &[""],
        items: &[
            "--alphabet protein",
            "--degap",
            "--strand minus",
            "--strand both",
            "--mode semi-global",
            "--mode local",
            "--match 9",
            "--mismatch -9",
            "--ambiguity zero",
            "--matrix EDNAFULL",
            "--gap-open 3",
            "--gap-extend 3",
            "--end-gap-open 15",
            "--end-gap-extend 0",
            "--end-gaps charged",
            "--end-gaps free",
            "--scheme truong",
            "--iddef 0",
            "--iddef 1",
            "--iddef 3",
            "--score-only",
            "--format blast6",
            "--format paf",
            "--format jsonl",
            "--format text",
            "--format sam",
            "--fields query,target,id",
            "--fields query,score",
            "--width 20",
        ],
        idle: &[
            ("--gap-extend 3", "--end-gaps free | --mode local | --mode semi-global", "it depends on the sequences"),
            ("--matrix EDNAFULL", "--fields query,target,id | --format blast6", "it depends on the sequences"),
            (
                "--scheme truong",
                "--end-gap-extend 0 | --end-gaps free | --mode local | --mode semi-global",
                "it depends on the sequences",
            ),
            ("--end-gaps charged", "--scheme truong", "what the other option says or implies"),
            ("--score-only", "--fields query,score", "what the other option says or implies"),
            ("--end-gaps charged", "--gap-open", "what the other option says or implies"),
            ("--end-gaps charged", "--gap-extend", "what the other option says or implies"),
            ("--end-gaps charged", "--alphabet", "what the other option says or implies"),
            ("--end-gaps free", "--mode semi-global", "what the other option says or implies"),
            ("--mode semi-global", "--end-gaps free", "what the other option says or implies"),
            ("--iddef 1", "--mode local", "a local alignment has no end gaps"),
        ],
    }
    .check();
}

#[test]
fn search() {
    Case {
        command: "search",
        inputs: &["@a.fa @b.fa", "@gapped.fa @gapped.fa", "--query @b.fa --db @a.fa"],
        bases: &[""],
        items: &[
            "--alphabet protein",
            "--degap",
            "--strand plus",
            "--strand minus",
            "--mode global",
            "--mode semi-global",
            "--match 3",
            "--mismatch -4",
            "--ambiguity zero",
            "--matrix EDNAFULL",
            "--gap-open 3",
            "--gap-extend 4",
            "--end-gap-open 15",
            "--end-gap-extend 0",
            "--scheme megablast",
            "--evalue 0.001",
            "--max-target-seqs 1",
            "--min-score 25",
            "--min-identity 0.9",
            "--query-cover 0.7",
            "--score-only",
            "--format blast6",
            "--format blast7",
            "--format blast0",
            "--format paf",
            "--format jsonl",
            "--format sam",
            "--outfmt 6",
            "--outfmt 7",
            "--outfmt 0",
            "--fields query,target,score",
            "--fields query,bits",
            "--report @out/r.html",
        ],
        idle: &[
            (
                "--evalue 0.001",
                "--alphabet protein | --query-cover 0.7",
                "a threshold that all or none of so few results reach",
            ),
            ("--max-target-seqs 1", "--query-cover 0.7", "a threshold that all or none of so few results reach"),
            ("--min-identity 0.9", "--query-cover 0.7", "a threshold that all or none of so few results reach"),
            (
                "--min-score 25",
                "--alphabet protein | --evalue 0.001 | --matrix EDNAFULL | --query-cover 0.7",
                "a threshold that all or none of so few results reach",
            ),
            ("--mismatch -4", "--scheme megablast", "it depends on the sequences"),
            ("--score-only", "--fields query,target,score", "what the other option says or implies"),
            ("--score-only", "--fields query,bits", "what the other option says or implies"),
            ("--strand plus", "--alphabet protein", "what the other option says or implies"),
        ],
    }
    .check();
}

#[test]
fn edit() {
    Case {
        command: "edit",
        inputs: &["@b.fa @a.fa", "@gapped.fa @gapped.fa", "@a.fa"],
        bases: &["", "--mode infix --max-distance 30"],
        items: &[
            "--pairs @pair.tsv",
            "--pairs @own.tsv",
            "--alphabet protein",
            "--alphabet bytes",
            "--degap",
            "--strand minus",
            "--strand both",
            "--mode infix",
            "--mode prefix",
            "--ambiguity mismatch",
            "--ambiguity literal",
            "--n mismatch",
            "--max-distance 25",
            "--max-distance 0.4",
            "--max-hits 1",
            "--all-ends",
            "--align",
            "--format jsonl",
            "--format paf",
            "--fields query,distance",
            "--fields query,cigar",
        ],
        idle: &[
            ("--max-hits 1", "--pairs @own.tsv", "it depends on the sequences"),
            ("--align", "--fields query,cigar", "what the other option says or implies"),
            ("--align", "--format paf", "what the other option says or implies"),
            ("--n", "--ambiguity mismatch", "what the other option says or implies"),
            ("--ambiguity literal", "--alphabet", "what the other option says or implies"),
            ("--alphabet protein", "--ambiguity literal", "what the other option says or implies"),
        ],
    }
    .check();
}

#[test]
fn long() {
    Case {
        command: "long",
        inputs: &[
            "@a.fa @a.fa --query-id a1 --target-id a2",
            "@gapped.fa @gapped.fa --query-id a1 --target-id a2",
            "@one.fa @one.fa",
            "@a.fa @a.fa --query-id a2 --target-id a7",
            "@b.fa @a.fa --query-id b2 --target-id a1",
        ],
        bases: &[""],
        items: &[
            "--alphabet protein",
            "--degap",
            "--strand plus",
            "--strand minus",
            "--mode global",
            "--mode semi-global",
            "--match 9",
            "--mismatch -9",
            "--ambiguity zero",
            "--matrix EDNAFULL",
            "--gap-open 3",
            "--gap-extend 3",
            "--end-gap-open 15",
            "--end-gap-extend 0",
            "--scheme truong",
            "--top 3",
            "--min-score 90",
            "--score-only",
            "--format jsonl",
            "--format paf",
            "--format sam",
            "--format text",
            "--fields query,score",
            "--fields query,cigar",
            "--width 20",
            "--plot @out/p.svg",
            "--plot @out/p.png",
        ],
        idle: &[
            ("--ambiguity zero", "--fields query,cigar", "it depends on the sequences"),
            (
                "--gap-extend 3",
                "--fields query,cigar | --min-score 90 | --mismatch -9 | --strand minus",
                "it depends on the sequences",
            ),
            ("--matrix EDNAFULL", "--fields query,cigar", "it depends on the sequences"),
            (
                "--min-score 90",
                "--alphabet protein | --gap-open 3 | --match 9 | --scheme truong",
                "a threshold that all or none of so few results reach",
            ),
            ("--top 3", "--min-score 90", "a threshold that all or none of so few results reach"),
            ("--mode", "--min-score", "it depends on the sequences"),
            ("--width", "--strand minus", "it depends on the sequences"),
            ("--score-only", "--fields query,score", "what the other option says or implies"),
            ("--strand plus", "--alphabet protein", "what the other option says or implies"),
        ],
    }
    .check();
}

#[test]
fn papara() {
    Case {
        command: "papara",
        inputs: &["--tree @rows.nwk --reference @rows.fa --reads @reads.fa"],
        bases: &[""],
        items: &[
            "--alphabet protein",
            "--strand minus",
            "--strand both",
            "--gap-model cgap",
            "--scoring paper",
            "--parameters -2:-1:3:-1",
            "--match 4",
            "--mismatch -3",
            "--gap-open 0",
            "--gap-extend 3",
            "--gap-site 1",
            "--format phylip",
            "--keep-length",
            "--split",
            "--table @out/t.tsv",
            "--tree-out @out/t.nwk",
        ],
        idle: &[
            (
                "--alphabet protein",
                "--format phylip | --gap-extend 3 | --gap-model cgap | --gap-open 0 | --gap-site 1 \
                 | --keep-length | --match 4 | --mismatch -3 | --parameters -2:-1:3:-1 | --scoring paper \
                 | --split | --tree-out @out/t.nwk",
                "the states of so few letters are the same",
            ),
            ("--gap-model cgap", "--gap-open 0", "it depends on the sequences"),
            ("--gap-open 0", "--strand both", "it depends on the sequences"),
            ("--gap-site 1", "--gap-model cgap | --gap-open 0 | --strand minus", "it depends on the sequences"),
            ("--mismatch -3", "--scoring paper", "it depends on the sequences"),
            ("--parameters -2:-1:3:-1", "--strand both", "it depends on the sequences"),
            ("--alphabet", "--alphabet", "the states of so few letters are the same"),
        ],
    }
    .check();
}

#[test]
fn msa() {
    Case {
        command: "msa",
        inputs: &["@a.fa", "@p.fa", "@gapped.fa", "@gappedp.fa"],
        bases: &["", "--mode clustalw"],
        items: &[
            "--alphabet protein",
            "--degap",
            "--mode clustalw",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--distance clustal",
            "--tree upgma",
            "--tree mbed",
            "--guidetree-in @guide.nwk",
            "--guidetree-in @p.nwk",
            "--guidetree-out @out/t.dnd",
            "--distmat-out @out/d.phy",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--matrix pam",
            "--matrix clustalw",
            "--gap-open 2",
            "--gap-extend 3",
            "--transition-weight 0.1",
            "--gap-distance 9",
            "--hydrophilic none",
            "--no-residue-gaps",
            "--delay 90",
            "--negative",
            "--no-weights",
            "--iterate tree",
            "--iterate alignment",
            "--consistency 0",
            "--refinements 0",
            "--format clustal",
            "--format phylip",
            "--format stockholm",
            "--format msf",
            "--format nexus",
            "--order tree",
            "--report @out/r.html",
        ],
        idle: &[
            (
                "--delay 90",
                "--distance kmer | --gap-distance 9 | --guidetree-in @guide.nwk | --guidetree-in @p.nwk \
                 | --hydrophilic none | --matrix pam | --no-residue-gaps | --pair-matrix blosum \
                 | --tree mbed",
                "it depends on the sequences",
            ),
            ("--gap-distance 9", "--gap-extend 3 | --matrix pam | --negative", "it depends on the sequences"),
            ("--gap-extend 3", "--matrix clustalw", "it depends on the sequences"),
            (
                "--hydrophilic none",
                "--distance identity | --distance kmer | --gap-distance 9 | --gap-extend 3 \
                 | --guidetree-in @p.nwk | --no-residue-gaps | --no-weights | --pair-gap-open 3 \
                 | --pair-matrix blosum | --tree mbed",
                "it depends on the sequences",
            ),
            (
                "--iterate alignment",
                "--distance kmer | --gap-extend 3 | --guidetree-in @guide.nwk | --guidetree-in @p.nwk | --tree mbed",
                "it depends on the sequences",
            ),
            ("--negative", "--matrix clustalw", "it depends on the sequences"),
            ("--no-residue-gaps", "--gap-extend 3 | --matrix pam", "it depends on the sequences"),
            (
                "--no-weights",
                "--guidetree-in @guide.nwk | --guidetree-in @p.nwk | --matrix clustalw | --matrix pam | --negative",
                "it depends on the sequences",
            ),
            ("--order tree", "--guidetree-in @guide.nwk | --guidetree-in @p.nwk", "it depends on the sequences"),
            (
                "--pair-gap-extend 3",
                "--alphabet protein | --gap-distance 9 | --hydrophilic none | --matrix pam | --no-residue-gaps",
                "it depends on the sequences",
            ),
            ("--pair-matrix clustalw", "--pair-gap-extend 3", "it depends on the sequences"),
            ("--tree upgma", "--distance kmer", "it depends on the sequences"),
            ("--distance clustal", "--distance clustal", "what the other option says or implies"),
            ("--alphabet", "--guidetree-in @p.nwk", "what the other option says or implies"),
            ("--degap", "--guidetree-in @p.nwk", "what the other option says or implies"),
            ("--degap", "--matrix pam", "what the other option says or implies"),
            ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
            ("--distance clustal", "--tree upgma", "it depends on the sequences"),
            ("--distance clustal", "--mode clustalw", "what the other option says or implies"),
        ],
    }
    .check();
}
