//! Scoring options. A scoring scheme is complete only when the alphabet is known, which may require
//! reading the input.

use super::args::{
    AlignmentArgs, AmbiguityName, EndGapsName, IdentityArgs, LettersArgs, LocalAlignmentArgs, LongModeName, ModeName,
    ScoringArgs, StrandArgs,
};
use super::common::check_strand;
use pairwave::score::{
    Ambiguity, EndGaps, Gaps, IdentityDefinition, MAX_SCORE, Mode, NamedScheme, Scoring, SubstitutionMatrix,
};
use pairwave::seq::reader::AlphabetChoice;
use pairwave::seq::{Alphabet, ReadOptions, Strands};
use pairwave::{Error, Result};
use std::path::{Path, PathBuf};

/// Scoring options; `None` is the default of the alphabet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ScoringChoice {
    table: Option<SymbolScoreTable>,
    gap_open: Option<i32>,
    gap_extend: Option<i32>,
    end_gap_open: Option<i32>,
    end_gap_extend: Option<i32>,
    /// Scheme that gives the remaining values.
    named: Option<&'static NamedScheme>,
    mode: Mode,
    /// Rule for all end gaps, if an option sets it.
    end_gaps: Option<EndGaps>,
}

/// Scores of pairs of symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SymbolScoreTable {
    /// Match, mismatch and ambiguity rule for nucleotides, and the score of every pair with an
    /// ambiguous code, if it is fixed.
    Nucleotide { match_score: i32, mismatch: i32, ambiguity: Ambiguity, ambiguous: Option<i32> },
    /// Substitution matrix, a built-in name or a file, with all scores multiplied by `times`.
    Matrix { name: PathBuf, times: i32 },
    /// Scores of a named scheme.
    Named(&'static NamedScheme),
}

/// Scoring scheme with every default filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResolvedScheme {
    pub alphabet: Alphabet,
    pub table: SymbolScoreTable,
    pub gaps: Gaps,
    pub mode: Mode,
    pub end_gaps: EndGaps,
}

impl ScoringChoice {
    /// Checks the options that do not depend on the alphabet. `end_gaps` is the rule for end gaps
    /// apart from their costs.
    pub(super) fn new(args: &ScoringArgs, mode: Mode, end_gaps: Option<EndGaps>) -> Result<Self> {
        let ambiguity = args.ambiguity.map(Ambiguity::from);
        let named = args.scheme.as_deref().and_then(NamedScheme::find);
        check_symbol_scores(args, mode)?;
        let end_costs = [("--end-gap-open", args.end_gap_open), ("--end-gap-extend", args.end_gap_extend)];
        if let Some((option, _)) = end_costs.iter().find(|(_, cost)| cost.is_some()) {
            let against = match (mode, end_gaps) {
                (Mode::Local, _) => "but a local alignment has no end gaps: remove it, or use --mode global",
                (Mode::Global, Some(EndGaps::Free)) => "but another option makes them free: remove one of them",
                (Mode::Global, Some(_)) => "but another option charges them like inner gaps: remove one of them",
                (Mode::Global, None) => "",
            };
            if !against.is_empty() {
                return Err(Error::usage(format!("{option} sets the cost of end gaps, {against}")));
            }
        }
        let costs = [("--gap-open", args.gap_open), ("--gap-extend", args.gap_extend)].into_iter().chain(end_costs);
        for (option, cost) in costs.clone() {
            if let Some(cost) = cost.filter(|&cost| cost < 0) {
                return Err(Error::usage(format!(
                    "{option} {cost} would reward gaps; did you mean {option} {}?",
                    cost.unsigned_abs()
                )));
            }
        }
        for (option, number) in [("--match", args.match_score), ("--mismatch", args.mismatch)].into_iter().chain(costs)
        {
            if let Some(number) = number.filter(|number| number.unsigned_abs() > MAX_SCORE.unsigned_abs()) {
                return Err(Error::usage(format!("{option} {number}: scores and costs may be at most {MAX_SCORE}")));
            }
        }
        let nucleotide = [
            ("--match", args.match_score.is_some()),
            ("--mismatch", args.mismatch.is_some()),
            ("--ambiguity", ambiguity.is_some()),
        ];
        let table = match (&args.matrix, nucleotide.iter().find(|(_, given)| *given)) {
            (Some(_), Some((option, _))) => {
                return Err(Error::usage(format!(
                    "{option} has no effect with --matrix, which sets all scores: remove one of them"
                )));
            }
            (Some(matrix), None) => {
                // The scheme's gap costs are multiplied by the same factor.
                Some(SymbolScoreTable::Matrix { name: matrix.clone(), times: named.map_or(1, NamedScheme::times) })
            }
            (None, Some(_)) => {
                let scores = |named: &NamedScheme| named.nucleotide();
                let scores = named.and_then(scores).or_else(|| scores(NamedScheme::dna()));
                let (match_score, mismatch, rule) = scores.unwrap_or_default();
                Some(SymbolScoreTable::Nucleotide {
                    match_score: args.match_score.unwrap_or(match_score),
                    mismatch: args.mismatch.unwrap_or(mismatch),
                    ambiguity: ambiguity.unwrap_or(rule),
                    ambiguous: named.filter(|_| ambiguity.is_none()).and_then(NamedScheme::ambiguous_score),
                })
            }
            (None, None) => None,
        };
        if let Some(SymbolScoreTable::Nucleotide { match_score, mismatch, .. }) = table
            && match_score <= mismatch
        {
            return Err(Error::usage(format!("a match ({match_score}) must score more than a mismatch ({mismatch})")));
        }
        Ok(ScoringChoice {
            table,
            gap_open: args.gap_open,
            gap_extend: args.gap_extend,
            end_gap_open: args.end_gap_open,
            end_gap_extend: args.end_gap_extend,
            named,
            mode,
            end_gaps,
        })
    }

    /// Returns whether the job aligns end to end or locally.
    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the scheme for sequences of this alphabet.
    ///
    /// The scheme is the named one or the alphabet's default, overridden by single options. Given
    /// gap costs apply to all gaps: end gaps with separate costs in the scheme then cost as much as
    /// inner gaps, unless an option sets their costs too.
    pub(super) fn resolve(&self, alphabet: Alphabet) -> Result<ResolvedScheme> {
        let of_alphabet = if alphabet == Alphabet::Dna { NamedScheme::dna() } else { NamedScheme::protein() };
        let named = self.named.unwrap_or(of_alphabet);
        let table = match (&self.table, alphabet) {
            (_, Alphabet::Bytes) => {
                return Err(Error::usage(
                    "--alphabet bytes: bytes have no scores, only distances: use 'pairwave edit'",
                ));
            }
            (Some(SymbolScoreTable::Nucleotide { .. }), Alphabet::Protein) => {
                return Err(Error::usage(
                    "--match, --mismatch and --ambiguity apply only to nucleotides, but the sequences are proteins; \
            use --matrix, or --alphabet dna if they are nucleotides",
                ));
            }
            // The options equal the scheme's scores. The scheme's table is used, because it may
            // have other scores besides these.
            (Some(SymbolScoreTable::Nucleotide { match_score, mismatch, ambiguity, ambiguous }), _)
                if named.nucleotide() == Some((*match_score, *mismatch, *ambiguity))
                    && named.ambiguous_score() == *ambiguous =>
            {
                SymbolScoreTable::Named(named)
            }
            (Some(table), _) => table.clone(),
            (None, _) => SymbolScoreTable::Named(named),
        };
        let default = named.scoring(alphabet)?;
        let costs = |open: Option<i32>, extend: Option<i32>, default: Gaps| {
            Gaps::from_blast(open.unwrap_or(default.opening()), extend.unwrap_or(default.next))
        };
        let gaps = costs(self.gap_open, self.gap_extend, default.gaps);
        let gaps_were_given = self.gap_open.is_some() || self.gap_extend.is_some();
        let end_gaps = match (self.end_gaps, default.end_gaps) {
            _ if self.mode == Mode::Local => EndGaps::Charged,
            (Some(end_gaps), _) => end_gaps,
            (None, EndGaps::Priced(_)) if gaps_were_given => EndGaps::Charged,
            (None, end_gaps) => end_gaps,
        };
        let end_gaps = match (self.end_gap_open, self.end_gap_extend) {
            (None, None) => end_gaps,
            (open, extend) => EndGaps::Priced(costs(open, extend, end_gaps.costs(gaps))),
        };
        Ok(ResolvedScheme { alphabet, table, gaps, mode: self.mode, end_gaps })
    }
}

/// Rejects scores that reward mismatches or make local alignments impossible.
fn check_symbol_scores(args: &ScoringArgs, mode: Mode) -> Result<()> {
    if let Some(score) = args.mismatch.filter(|&score| score > 0) {
        return Err(Error::usage(format!(
            "--mismatch {score} would reward mismatches; did you mean --mismatch -{score}?"
        )));
    }
    if let Some(score) = args.match_score.filter(|&score| score < 1 && mode == Mode::Local) {
        return Err(Error::usage(format!(
            "--match {score}: must be at least 1 for local alignments, which need a score above 0"
        )));
    }
    Ok(())
}

impl ScoringChoice {
    /// Returns the path of the matrix, unless the name is built in.
    pub(super) fn matrix_file(&mut self) -> Option<&mut PathBuf> {
        match &mut self.table {
            Some(SymbolScoreTable::Matrix { name, .. }) if !is_built_in(name) => Some(name),
            _ => None,
        }
    }
}

/// Returns whether a built-in matrix has this name.
pub(super) fn is_built_in(name: &Path) -> bool {
    name.to_str().and_then(SubstitutionMatrix::built_in).is_some()
}

impl ResolvedScheme {
    /// Returns the scheme in the form that engines use.
    pub(super) fn scoring(&self) -> Result<Scoring> {
        let scoring = match &self.table {
            &SymbolScoreTable::Nucleotide { match_score, mismatch, ambiguity, ambiguous } => {
                let scoring = Scoring::nucleotide(match_score, mismatch, ambiguity, self.gaps, self.end_gaps)?;
                ambiguous.map_or(Ok(scoring.clone()), |score| scoring.with_ambiguous_score(score))?
            }
            SymbolScoreTable::Matrix { name, times } => {
                let matrix = SubstitutionMatrix::open(name)?;
                Scoring::matrix(self.alphabet, &matrix, self.gaps, self.end_gaps)?.times(*times)?
            }
            SymbolScoreTable::Named(named) => named.scoring(self.alphabet)?.with_gaps(self.gaps, self.end_gaps)?,
        };
        Ok(Scoring { mode: self.mode, ..scoring })
    }
}

impl TryFrom<&AlignmentArgs> for ScoringChoice {
    type Error = Error;

    fn try_from(args: &AlignmentArgs) -> Result<Self> {
        let (mode, end_gaps) = match (args.mode, args.end_gaps) {
            (Some(ModeName::Local), Some(_)) => {
                return Err(Error::usage("--end-gaps with --mode local: a local alignment has no end gaps: remove it"));
            }
            (Some(ModeName::SemiGlobal), Some(EndGapsName::Charged)) => {
                return Err(Error::usage(
                    "--mode semi-global makes end gaps free, --end-gaps charged does not: remove one of them",
                ));
            }
            (Some(ModeName::Global), Some(EndGapsName::Free)) => {
                return Err(Error::usage(
                    "--mode global charges end gaps, --end-gaps free does not: use --mode semi-global, or remove --mode",
                ));
            }
            (Some(ModeName::Local), None) => (Mode::Local, None),
            (Some(ModeName::SemiGlobal), _) => (Mode::Global, Some(EndGaps::Free)),
            (_, end_gaps) => (Mode::Global, end_gaps.map(EndGaps::from)),
        };
        ScoringChoice::new(&args.scoring, mode, end_gaps)
    }
}

/// Options of a job that aligns pairs: how sequences are read, scored and oriented.
#[derive(Debug)]
pub(super) struct PairScheme {
    pub read: ReadOptions,
    pub scoring: ScoringChoice,
    pub strand: Strands,
}

impl PairScheme {
    /// Validates the options. If the alphabet is given, scoring and strands must suit it.
    pub(super) fn new(letters: LettersArgs, alignment: &AlignmentArgs, strands: StrandArgs) -> Result<Self> {
        let read = ReadOptions::from(letters);
        let scoring = ScoringChoice::try_from(alignment)?;
        let strand = strands.given().unwrap_or_default();
        if let AlphabetChoice::Fixed(alphabet) = read.alphabet {
            scoring.resolve(alphabet)?;
            check_strand(strand, alphabet)?;
        }
        Ok(PairScheme { read, scoring, strand })
    }
}

impl TryFrom<&LocalAlignmentArgs> for ScoringChoice {
    type Error = Error;

    fn try_from(args: &LocalAlignmentArgs) -> Result<Self> {
        let (mode, end_gaps) = match args.mode {
            LongModeName::Local => (Mode::Local, None),
            LongModeName::Global => (Mode::Global, None),
            LongModeName::SemiGlobal => (Mode::Global, Some(EndGaps::Free)),
        };
        ScoringChoice::new(&args.scoring, mode, end_gaps)
    }
}

impl IdentityArgs {
    /// Returns the definition of identity for alignments of this mode.
    pub(super) fn definition(&self, mode: Mode) -> Result<IdentityDefinition> {
        let identity = match self.iddef {
            Some(number) => IdentityDefinition::from_number(number)
                .ok_or_else(|| Error::usage(format!("--iddef {number}: must be from 0 to 4")))?,
            None => IdentityDefinition::default(),
        };
        if mode == Mode::Local && identity == IdentityDefinition::Mbl {
            return Err(Error::usage("--iddef 3 needs end-to-end alignments, but the mode is local: use 0, 1, 2 or 4"));
        }
        Ok(identity)
    }
}

impl From<AmbiguityName> for Ambiguity {
    fn from(name: AmbiguityName) -> Self {
        match name {
            AmbiguityName::Overlap => Ambiguity::Overlap,
            AmbiguityName::Mismatch => Ambiguity::Mismatch,
            AmbiguityName::Zero => Ambiguity::Zero,
            AmbiguityName::Mean => Ambiguity::Mean,
        }
    }
}

impl From<EndGapsName> for EndGaps {
    fn from(name: EndGapsName) -> Self {
        match name {
            EndGapsName::Charged => EndGaps::Charged,
            EndGapsName::Free => EndGaps::Free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(args: ScoringArgs) -> Result<ScoringChoice> {
        ScoringChoice::new(&args, Mode::Global, None)
    }

    #[test]
    fn defaults_depend_on_the_alphabet() {
        let choice = choice(ScoringArgs::default()).unwrap();
        let dna = choice.resolve(Alphabet::Dna).unwrap();
        assert_eq!(dna.scoring().unwrap(), Scoring::dna());
        let protein = choice.resolve(Alphabet::Protein).unwrap();
        assert_eq!(protein.scoring().unwrap(), Scoring::protein());
    }

    #[test]
    fn one_number_leaves_the_others_at_their_defaults() {
        let args = ScoringArgs { mismatch: Some(-2), gap_open: Some(3), ..Default::default() };
        let scheme = choice(args).unwrap().resolve(Alphabet::Dna).unwrap();
        let (ambiguity, ambiguous) = (Ambiguity::Overlap, None);
        let table = SymbolScoreTable::Nucleotide { match_score: 5, mismatch: -2, ambiguity, ambiguous };
        assert_eq!((scheme.table, scheme.gaps), (table, Gaps { first: 8, next: 5 }));
        assert_eq!(scheme.end_gaps, EndGaps::Charged);
        let scores_only = ScoringArgs { match_score: Some(4), ..Default::default() };
        let scheme = choice(scores_only).unwrap().resolve(Alphabet::Dna).unwrap();
        assert_eq!((scheme.gaps, scheme.end_gaps), (Scoring::dna().gaps, Scoring::dna().end_gaps));
    }

    #[test]
    fn end_gaps_default_to_the_costs_of_inner_gaps() {
        let ends = |open, extend| {
            let args = ScoringArgs {
                gap_open: Some(20),
                gap_extend: Some(2),
                end_gap_open: open,
                end_gap_extend: extend,
                ..Default::default()
            };
            choice(args).unwrap().resolve(Alphabet::Dna).unwrap().scoring().map(|scoring| scoring.end_gaps)
        };
        assert_eq!(ends(None, None).unwrap(), EndGaps::Charged);
        assert_eq!(ends(Some(2), Some(1)).unwrap(), EndGaps::Priced(Gaps { first: 3, next: 1 }));
        assert_eq!(ends(Some(2), None).unwrap(), EndGaps::Priced(Gaps { first: 4, next: 2 }));
        assert_eq!(ends(None, Some(1)).unwrap(), EndGaps::Priced(Gaps { first: 21, next: 1 }));
        assert!(ends(Some(2), Some(3)).unwrap_err().to_string().contains("end_gaps.next 3"));
        for (mode, end_gaps, part) in [
            (Mode::Local, None, "a local alignment has no end gaps"),
            (Mode::Global, Some(EndGaps::Free), "another option makes them free"),
            (Mode::Global, Some(EndGaps::Charged), "another option charges them like inner gaps"),
        ] {
            let args = ScoringArgs { end_gap_open: Some(2), ..Default::default() };
            let error = ScoringChoice::new(&args, mode, end_gaps).unwrap_err().to_string();
            assert!(error.contains("--end-gap-open") && error.contains(part), "{error}");
        }
        let negative = ScoringArgs { end_gap_extend: Some(-1), ..Default::default() };
        assert!(choice(negative).unwrap_err().to_string().contains("did you mean --end-gap-extend 1?"));
    }

    #[test]
    fn single_costs_override_a_scheme() {
        let vsearch = NamedScheme::find("vsearch");
        let of = |args: ScoringArgs, mode, end_gaps| {
            let args = ScoringArgs { scheme: Some("VSEARCH".into()), ..args };
            let choice = ScoringChoice::new(&args, mode, end_gaps).unwrap();
            choice.resolve(Alphabet::Dna).unwrap().scoring().unwrap()
        };
        let plain = of(ScoringArgs::default(), Mode::Global, None);
        assert_eq!(plain, vsearch.unwrap().scoring(Alphabet::Dna).unwrap());
        let free = of(ScoringArgs::default(), Mode::Global, Some(EndGaps::Free));
        assert_eq!(free, Scoring { end_gaps: EndGaps::Free, ..plain.clone() });
        let local = of(ScoringArgs::default(), Mode::Local, None);
        assert_eq!(local, Scoring { mode: Mode::Local, end_gaps: EndGaps::Charged, ..plain.clone() });
        let args = ScoringArgs { match_score: Some(3), gap_open: Some(9), end_gap_open: Some(5), ..Default::default() };
        let changed = of(args, Mode::Global, None);
        assert_eq!((changed.gaps, changed.end_costs()), (Gaps { first: 11, next: 2 }, Gaps { first: 7, next: 2 }));
        assert_eq!((changed.substitution.max_score(), changed.substitution.min_score()), (3, -4));
        assert_eq!(changed.substitution.score(1, 15), 0);
        let args = ScoringArgs { scheme: Some("vsearch".into()), ..Default::default() };
        assert!(matches!(choice(args).unwrap().resolve(Alphabet::Protein), Err(Error::Usage(_))));
    }

    #[test]
    fn repeating_the_scores_of_a_scheme_changes_nothing() {
        let of = |args: ScoringArgs| {
            let args = ScoringArgs { scheme: Some("megablast".into()), ..args };
            choice(args).unwrap().resolve(Alphabet::Dna).unwrap().scoring().unwrap()
        };
        let plain = of(ScoringArgs::default());
        let (match_score, mismatch, ambiguity) = (Some(2), Some(-4), Some(AmbiguityName::Mean));
        assert_eq!(of(ScoringArgs { match_score, mismatch, ambiguity, ..Default::default() }), plain);
        assert_ne!(of(ScoringArgs { mismatch: Some(-5), ..Default::default() }), plain);
    }

    #[test]
    fn scores_of_ambiguous_codes_stay_until_a_rule_is_given() {
        let score_of_n = |args: ScoringArgs| {
            let args = ScoringArgs { scheme: Some("asm5".into()), ..args };
            let scoring = choice(args).unwrap().resolve(Alphabet::Dna).unwrap().scoring().unwrap();
            (scoring.substitution.score(1, 2), scoring.substitution.score(1, 15))
        };
        assert_eq!(score_of_n(ScoringArgs::default()), (-19, -1));
        assert_eq!(score_of_n(ScoringArgs { mismatch: Some(-7), ..Default::default() }), (-7, -1));
        for (rule, score) in [(AmbiguityName::Zero, 0), (AmbiguityName::Overlap, 1), (AmbiguityName::Mean, -14)] {
            assert_eq!(score_of_n(ScoringArgs { ambiguity: Some(rule), ..Default::default() }), (-19, score));
        }
    }

    #[test]
    fn nucleotide_scores_do_not_fit_proteins() {
        let choice = choice(ScoringArgs { match_score: Some(1), ..Default::default() }).unwrap();
        assert!(choice.resolve(Alphabet::Dna).is_ok());
        assert!(matches!(choice.resolve(Alphabet::Protein), Err(Error::Usage(_))));
    }
}
