//! `pairwave edit`: what is valid, and the job.

use super::args::*;
use super::blocks::{BlockCommand, RowSink};
use super::common::{Compute, check_stats, check_strand, compute, is_standard, max_hits, output};
use super::endings;
use super::progress::summary_lines;
use super::runner::{Files, JobCommand, Runner};
use super::tips::number_instead;
use pairwave::edit::Region;
use pairwave::edit::plan::{Against, Candidate};
use pairwave::engine::thread_pool;
use pairwave::gpu::kernels::Family;
use pairwave::jobs::blocks::Whole;
use pairwave::jobs::stats::JobStats;
use pairwave::jobs::{EditDistances, EditResult, Job, Run, Summary};
use pairwave::output::{
    self, Contents, Context, Details, EDIT_FIELDS, EditDefaults, Edits, Field, Format, Output, Pair, PairKind, Range32,
};
use pairwave::score::{Ambiguity, EditMode, EditScheme, Equality, IdentityDefinition, Limit};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, SequenceStore, Strand, read_candidates, read_files};
use pairwave::{Error, Result};
use rayon::ThreadPool;
use serde::Serialize;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Distances of pairs of one file, of two, or of candidates.
#[derive(Debug)]
pub(super) struct Edit {
    /// `-` is standard input.
    pub patterns: PathBuf,
    pub texts: Option<PathBuf>,
    pub pairs: Option<PathBuf>,
    pub alphabet: AlphabetChoice,
    pub degap: bool,
    pub strand: Strand,
    pub mode: EditMode,
    pub limit: Limit,
    pub equality: EqualityChoice,
    pub max_hits: Option<NonZeroU32>,
    pub all_ends: bool,
    pub align: bool,
    pub format: Format,
    /// `None` is standard output.
    pub output: Option<PathBuf>,
    /// Where to write what the job took.
    pub stats: Option<PathBuf>,
    pub compute: Compute,
}

/// What is equal; `None` is the default of nucleotides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EqualityChoice {
    ambiguity: Option<EditAmbiguityName>,
    n: Option<EditNName>,
}

impl TryFrom<EditArgs> for Edit {
    type Error = Error;

    fn try_from(args: EditArgs) -> Result<Self> {
        let alphabet = args.alphabet.map_or(AlphabetChoice::Detect, AlphabetChoice::from);
        let strand = args.strand.map_or(Strand::Forward, Strand::from);
        let equality = EqualityChoice::new(args.ambiguity, args.n)?;
        if let AlphabetChoice::Fixed(alphabet) = alphabet {
            equality.resolve(alphabet)?;
            check_strand(strand, alphabet)?;
        }
        let mode = EditMode::from(args.mode);
        let limit = args.max_distance.as_deref().map_or(Ok(Limit::None), limit)?;
        let fields = args.fields.as_deref().map(Field::parse_edit_list).transpose()?;
        let named = |what: fn(&Field) -> bool| fields.iter().flatten().any(|field| what(field));
        let all_ends = args.all_ends || named(Field::needs_all_ends);
        if all_ends {
            let typed = if args.all_ends { "--all-ends" } else { "--fields ends" };
            if mode == EditMode::Global {
                return Err(Error::usage(format!(
                    "{typed} is for --mode infix or prefix: in global mode there is one end"
                )));
            }
            if limit == Limit::None {
                return Err(Error::usage(format!("{typed} needs --max-distance: without it every symbol is an end")));
            }
        }
        for (option, is_given, is_shown, what) in [
            ("--align", args.align, named(Field::needs_alignment), "needs an alignment"),
            ("--all-ends", args.all_ends, named(Field::needs_all_ends), "is 'ends'"),
        ] {
            if is_given && fields.is_some() && !is_shown {
                return Err(Error::usage(format!(
                    "{option} with --fields: none of them {what}, leave one of the two out"
                )));
            }
        }
        if alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) && args.degap {
            return Err(Error::usage("--degap: bytes stand for themselves, and none is a gap; leave it out"));
        }
        if alphabet == AlphabetChoice::Fixed(Alphabet::Bytes) && named(Field::shows_letters) {
            return Err(Error::usage(
                "--fields: rows of bytes could break the table; use cigar, or --alphabet dna or protein",
            ));
        }
        let align = args.align || args.format == EditFormatName::Paf || named(Field::needs_alignment);
        let defaults = EditDefaults {
            regions: args.pairs.is_some(),
            parts: mode != EditMode::Global,
            aligned: align,
            ends: all_ends,
        };
        let is_default = fields.is_none();
        let fields = fields.unwrap_or_else(|| match strand {
            Strand::Forward => defaults.fields(),
            Strand::Reverse | Strand::Both => Field::with_strand(defaults.fields(), EDIT_FIELDS),
        });
        let format = match args.format {
            EditFormatName::Tsv => Format::Tsv(fields),
            EditFormatName::Jsonl => Format::JsonLines(fields),
            EditFormatName::Paf if is_default => Format::Paf,
            EditFormatName::Paf => {
                return Err(Error::usage("--fields is for tsv and jsonl: paf has its own columns"));
            }
        };
        if all_ends && format == Format::Paf {
            return Err(Error::usage("--all-ends: paf has one place a line; use tsv or jsonl"));
        }

        let (compute, stats) = compute(args.compute)?;
        let patterns = args.patterns.ok_or_else(|| Error::usage("a file of patterns is missing"))?;
        let inputs = [Some(&*patterns), args.texts.as_deref(), args.pairs.as_deref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().collect();
        if inputs.iter().filter(|input| is_standard(input)).count() > 1 {
            return Err(Error::usage(
                "standard input can be read once: only one of PATTERNS, TEXTS and --pairs can be -",
            ));
        }
        let output = output(args.output, &inputs)?;
        check_stats(stats.as_deref(), &inputs, output.as_deref())?;
        endings::check("edit", "--output", output.as_deref(), &endings::typed(args.format))?;
        Ok(Edit {
            patterns,
            texts: args.texts,
            pairs: args.pairs,
            alphabet,
            degap: args.degap,
            strand,
            mode,
            limit,
            equality,
            max_hits: max_hits(args.max_hits)?,
            all_ends,
            align,
            format,
            output,
            stats,
            compute,
        })
    }
}

/// Edits, or with a decimal point a rate.
fn limit(typed: &str) -> Result<Limit> {
    let wrong = |why: &str| {
        if let Some(advice) = number_instead("--max-distance <RATE>", typed) {
            return Err(Error::usage(format!("--max-distance {typed}: {why}; {advice}")));
        }
        Err(Error::usage(format!(
            "--max-distance {typed}: {why}; give a number of edits, as in 5, or a rate with a decimal point, as in 0.05"
        )))
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(typed) {
        return typed.parse().map_or_else(|_| wrong("no sequence is so long"), |edits| Ok(Limit::Distance(edits)));
    }
    let digits = typed.replacen('.', "", 1);
    match typed.parse::<f64>() {
        Ok(rate) if typed.contains('.') && is_number(&digits) => {
            if rate <= 1.0 {
                Ok(Limit::Rate(rate))
            } else {
                wrong("rates are from 0 to 1")
            }
        }
        _ => wrong("this is neither"),
    }
}

impl EqualityChoice {
    fn new(ambiguity: Option<EditAmbiguityName>, n: Option<EditNName>) -> Result<Self> {
        match (ambiguity, n) {
            (Some(EditAmbiguityName::Literal), Some(_)) => {
                Err(Error::usage("--n with --ambiguity literal: N is then a letter like others, leave one of them out"))
            }
            (Some(EditAmbiguityName::Mismatch), Some(EditNName::Match)) => Err(Error::usage(
                "--n match with --ambiguity mismatch: N is ambiguous, and then equals nothing; leave one of them out",
            )),
            _ => Ok(EqualityChoice { ambiguity, n }),
        }
    }

    /// What is equal among letters of this alphabet.
    fn resolve(self, alphabet: Alphabet) -> Result<Equality> {
        let rule = match (alphabet, self.ambiguity) {
            (Alphabet::Dna, None | Some(EditAmbiguityName::Overlap)) => Ambiguity::Overlap,
            (Alphabet::Dna, Some(EditAmbiguityName::Mismatch)) => Ambiguity::Mismatch,
            (Alphabet::Dna, Some(EditAmbiguityName::Literal)) => return Ok(Equality::literal(alphabet)),
            (Alphabet::Protein | Alphabet::Bytes, None | Some(EditAmbiguityName::Literal)) if self.n.is_none() => {
                return Ok(Equality::literal(alphabet));
            }
            (Alphabet::Protein | Alphabet::Bytes, _) => {
                let what = if alphabet == Alphabet::Protein { "proteins" } else { "bytes" };
                return Err(Error::usage(format!(
                    "--ambiguity and --n are for nucleotides, but these are {what}; leave them out, or use --alphabet \
                     dna if they are not"
                )));
            }
        };
        Ok(Equality::dna(rule, self.n != Some(EditNName::Mismatch)))
    }
}

impl From<EditModeName> for EditMode {
    fn from(name: EditModeName) -> Self {
        match name {
            EditModeName::Global => EditMode::Global,
            EditModeName::Infix => EditMode::Infix,
            EditModeName::Prefix => EditMode::Prefix,
        }
    }
}

impl From<EditAlphabetName> for AlphabetChoice {
    fn from(name: EditAlphabetName) -> Self {
        AlphabetChoice::Fixed(match name {
            EditAlphabetName::Dna | EditAlphabetName::Rna => Alphabet::Dna,
            EditAlphabetName::Protein => Alphabet::Protein,
            EditAlphabetName::Bytes => Alphabet::Bytes,
        })
    }
}

/// What `pairwave edit` reads.
pub(super) struct Sequences {
    patterns: Arc<SequenceStore>,
    against: Against,
    scheme: EditScheme,
    /// Threads of the job, which read candidates and make lines of results.
    pool: Arc<ThreadPool>,
}

impl JobCommand for Edit {
    type Input = Sequences;
    type Summary = Summary;
    const FAMILY: Family = Family::Edit;

    fn compute(&self) -> &Compute {
        &self.compute
    }

    fn files(&self) -> Files<'_> {
        Files { output: self.output.as_deref(), stats: self.stats.as_deref(), picture: None }
    }

    fn read(&self, run: &Run) -> Result<Sequences> {
        let paths: Vec<&PathBuf> = [Some(&self.patterns), self.texts.as_ref()].into_iter().flatten().collect();
        let mut stores =
            read_files(&paths, &ReadOptions { alphabet: self.alphabet, degap: self.degap })?.into_iter().map(Arc::new);
        let patterns = stores.next().ok_or_else(|| Error::Internal("no store for the file that was read".into()))?;
        let texts = stores.next();
        check_strand(self.strand, patterns.alphabet())?;
        let scheme =
            EditScheme { mode: self.mode, equality: self.equality.resolve(patterns.alphabet())?, limit: self.limit };
        let pool = thread_pool(run.threads)?;
        let against = match (&self.pairs, texts) {
            (Some(pairs), texts) => {
                let texts = texts.unwrap_or_else(|| Arc::clone(&patterns));
                let candidate = |pattern, text, part: std::ops::Range<u32>| {
                    let region = Region { text, start: part.start, end: part.end };
                    Candidate { pattern, region }
                };
                let candidates = pool.install(|| read_candidates(pairs, &patterns, &texts, candidate))?;
                Against::Candidates(texts, Arc::new(candidates))
            }
            (None, Some(texts)) => Against::Texts(texts),
            (None, None) => Against::Later,
        };
        Ok(Sequences { patterns, against, scheme, pool })
    }

    fn run(&self, input: Sequences, runner: Runner, output: Output) -> Result<Summary> {
        self.deliver(input, runner, output, |job, runner, rows| {
            runner.show_progress(job.cells());
            job.run(&runner.run, |some| rows.rows(some))
        })
    }

    fn stats(summary: &Summary) -> impl Serialize {
        JobStats::of(summary)
    }

    fn lines(&self, summary: &Summary) -> Vec<String> {
        summary_lines(summary, false)
    }
}

impl BlockCommand for Edit {
    type Job = EditDistances;

    fn inputs(&mut self) -> Vec<&mut PathBuf> {
        [Some(&mut self.patterns), self.texts.as_mut(), self.pairs.as_mut()].into_iter().flatten().collect()
    }

    fn job(&self, input: &Sequences) -> Result<EditDistances> {
        let patterns = Arc::clone(&input.patterns);
        Ok(EditDistances {
            strand: self.strand,
            align: self.align,
            all_ends: self.all_ends,
            max_hits: self.max_hits.map(|most| most.get() as usize),
            check: self.compute.check,
            ..EditDistances::new(patterns, input.against.clone(), Arc::new(input.scheme.clone()))
        })
    }

    fn deliver(
        &self,
        input: Sequences,
        mut runner: Runner,
        output: Output,
        source: impl FnOnce(&EditDistances, &mut Runner, RowSink<'_, EditDistances>) -> Result<Summary>,
    ) -> Result<Summary> {
        let job = self.job(&input)?;
        let context = Context {
            queries: Arc::clone(&job.patterns),
            targets: Arc::clone(job.texts()),
            scoring: input.scheme.equality.scoring(),
            identity: IdentityDefinition::Columns,
            contents: Contents { kind: PairKind::Edit, has_alignments: job.align },
        };
        let mut writer = output::open(&self.format, context, output)?;
        writer.begin()?;
        let mut rows = Whole(|results: &[EditResult]| {
            let pairs: Vec<Pair<'_>> = results.iter().map(pair).collect();
            input.pool.install(|| writer.write_all(&pairs))
        });
        let summary = source(&job, &mut runner, &mut rows)?;
        writer.finish()?;
        Ok(summary)
    }
}

/// A result as writers take it.
fn pair(result: &EditResult) -> Pair<'_> {
    let alignment = result.alignment.as_ref();
    let Region { text, start, end } = result.region;
    Pair {
        query: result.pattern,
        target: text,
        strand: result.strand,
        score: -i64::from(result.distance),
        alignment: alignment.map(|alignment| &alignment.cigar),
        query_start: 0,
        target_start: alignment.map_or(0, |alignment| alignment.start),
        counts: alignment.map(|alignment| alignment.counts),
        details: Details::Edit(Edits {
            distance: result.distance,
            end: result.end,
            region: Range32 { start, end },
            ends: &result.ends,
        }),
    }
}
