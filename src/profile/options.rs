//! What a progressive alignment is made with, and the costs that follow for two profiles.

use crate::score::clustal::{ClustalMatrix, ClustalTable, ClustalTableOptions};
use crate::seq::Alphabet;

/// Which matrices score residues.
#[derive(Debug, Clone, PartialEq)]
pub enum Series {
    /// Gonnet's, of proteins: which of them depends on how alike two profiles are.
    Gonnet,
    /// BLOSUM, of proteins, as above.
    Blosum,
    /// PAM, of proteins, as above.
    Pam,
    /// Identities of proteins.
    Identity,
    /// IUB's of nucleotides.
    Iub,
    /// ClustalW 1.6's of nucleotides: identities of the four bases.
    Bases,
    /// A user's.
    One(ClustalMatrix),
}

/// What is iterated, as ClustalW 2 has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Iterate {
    /// Nothing.
    #[default]
    No,
    /// The alignment of every join of the guide tree.
    Tree,
    /// The alignment of all in the end.
    Alignment,
}

/// Options; [`Options::new`] has ClustalW's defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// What residues score.
    pub series: Series,
    /// The cost of a gap's opening, before it is scaled.
    pub gap_open: f32,
    /// The cost of a gap's symbol.
    pub gap_extend: f32,
    /// What a transition scores as a share of a match (nucleotides).
    pub transitions: f32,
    /// Whether matrices keep their negative scores.
    pub negative: bool,
    /// A sequence is aligned last of all if it is not more alike than this to any, in percent.
    pub delay: i32,
    /// How far from a gap opening another costs more, in columns (proteins).
    pub gap_distance: i32,
    /// Residues in runs of which gaps cost less (proteins), upper-case letters; none for no such runs.
    pub hydrophilic: Vec<u8>,
    /// Whether opening costs depend on the residues of a column (proteins).
    pub by_residue: bool,
    /// Whether sequences count by their place in the tree, or all the same.
    pub weighted: bool,
    /// What is improved by taking sequences out and aligning them anew.
    pub iterate: Iterate,
}

impl Options {
    /// ClustalW's defaults.
    pub fn new(alphabet: Alphabet) -> Options {
        let is_protein = alphabet == Alphabet::Protein;
        Options {
            series: if is_protein { Series::Gonnet } else { Series::Iub },
            gap_open: if is_protein { 10.0 } else { 15.0 },
            gap_extend: if is_protein { 0.2 } else { 6.66 },
            transitions: 0.5,
            negative: false,
            delay: 30,
            gap_distance: 4,
            hydrophilic: b"GPSNDQEKR".to_vec(),
            by_residue: true,
            weighted: true,
            iterate: Iterate::No,
        }
    }

    /// The costs of aligning two profiles whose sequences are so alike on average, in percent, if anything is known of that, and
    /// of such mean lengths.
    pub(super) fn costs(&self, alphabet: Alphabet, identity: impl Into<Option<f64>>, lengths: [i32; 2]) -> Costs {
        let choice = self.choice(identity.into(), lengths[0].min(lengths[1]));
        let is_protein = alphabet == Alphabet::Protein;
        let form = ClustalTableOptions {
            scale: choice.times,
            negative: self.negative,
            transitions: (!is_protein).then_some(self.transitions),
        };
        let table = choice.table(&self.series, form);
        let (open, extend) = (f64::from(self.gap_open), f64::from(self.gap_extend));
        if !is_protein {
            let scaled = |cost: f64| (100.0 * cost * f64::from(choice.share)) as i32;
            return Costs { open: scaled(open), extend: scaled(extend), table };
        }
        let (by_length, by_ratio) = length_factors(lengths);
        // Single precision where ClustalW has it: the whole numbers that come of it are the same.
        let opening = if self.negative {
            (100.0 * open) as i32
        } else if table.average() <= 0 && by_length.is_infinite() {
            // The logarithm of a single residue is 0. ClustalW's cost is then infinite, and becomes the least whole number
            // there is when it is made one: gaps cost next to nothing.
            i32::MIN
        } else if table.average() <= 0 {
            (100.0 * f64::from((open + by_length) as f32)) as i32
        } else {
            (choice.share * table.average() as f32 * (open / (by_ratio * by_length)) as f32) as i32
        };
        Costs { open: opening, extend: (100.0 * extend) as i32, table }
    }

    fn choice(&self, identity: impl Into<Option<f64>>, shorter: i32) -> Choice {
        let known = identity.into();
        let (is_one, identity) = (self.negative || known.is_none(), known.unwrap_or_default());
        let gonnet = |name, share| Choice { name, share, times: 10 };
        let other = |name, share| Choice { name, share, times: 100 };
        match &self.series {
            Series::Gonnet if is_one => gonnet("gonnet250", 0.375),
            Series::Gonnet if identity > 35.0 => gonnet("gonnet80", 0.1875),
            Series::Gonnet if identity > 25.0 => gonnet(if shorter < 100 { "gonnet250" } else { "gonnet120" }, 0.375),
            Series::Gonnet => gonnet(if shorter < 100 { "gonnet350" } else { "gonnet160" }, 0.375),
            Series::Blosum if is_one => other("blosum40", 0.75),
            Series::Blosum if identity > 80.0 => other("blosum80", 0.75),
            Series::Blosum if identity > 60.0 => other("blosum62", 0.75),
            Series::Blosum if identity > 40.0 => other("blosum45", 0.75),
            Series::Blosum if identity > 30.0 => other("blosum45", 0.5),
            Series::Blosum if identity > 20.0 => other("blosum45", 0.6),
            Series::Blosum => other("blosum30", 0.6),
            Series::Pam if is_one => other("pam120", 0.75),
            Series::Pam if identity > 80.0 => other("pam20", 0.75),
            Series::Pam if identity > 60.0 => other("pam60", 0.75),
            Series::Pam if identity > 40.0 => other("pam120", 0.75),
            Series::Pam => other("pam350", 0.75),
            Series::Identity => other("id", 0.75),
            Series::Iub => other("iub", 1.0),
            Series::Bases => other("clustalw", 0.66),
            Series::One(_) => other("", 0.75),
        }
    }
}

/// A matrix, and how costs go with it.
struct Choice {
    /// Its name; none of a user's.
    name: &'static str,
    /// Gap costs are so many times as great.
    share: f32,
    /// Scores are so many times as great.
    times: i32,
}

impl Choice {
    fn table(&self, series: &Series, form: ClustalTableOptions) -> ClustalTable {
        match series {
            Series::One(matrix) => matrix.table(form),
            _ => ClustalMatrix::built_in(self.name).expect("a matrix of the list").table(form),
        }
    }
}

/// How openings go with the mean lengths of two profiles: by the shorter's, and by how much they differ.
fn length_factors([first, second]: [i32; 2]) -> (f64, f64) {
    if first == 0 || second == 0 {
        return (1.0, 1.0);
    }
    let (shorter, longer) = (first.min(second), first.max(second));
    let ratio = f64::from(shorter as f32 / longer as f32);
    (1.0 / f64::from(shorter).log10(), (1.0 + 0.5 * ratio.log10()).max(0.9))
}

/// What two profiles are aligned with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Costs {
    /// Scores of residues.
    pub(super) table: ClustalTable,
    /// A gap's opening at a site with nothing special.
    pub(super) open: i32,
    /// Each of its symbols.
    pub(super) extend: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_identity_and_lengths() {
        let options = Options::new(Alphabet::Protein);
        let name = |identity, shorter| options.choice(identity, shorter).name;
        assert_eq!(
            [name(35.5, 9), name(35.0, 100), name(35.0, 99), name(25.0, 99), name(25.0, 100)],
            ["gonnet80", "gonnet120", "gonnet250", "gonnet350", "gonnet160"]
        );
        let costs = options.costs(Alphabet::Protein, 80.0, [100, 100]);
        assert_eq!(costs.open, (0.1875f32 * costs.table.average() as f32 * 20.0) as i32);
        assert_eq!(costs.extend, 20);
        // The more lengths differ the more gaps cost, up to a ninth.
        let most = options.costs(Alphabet::Protein, 80.0, [1000, 100]);
        assert!(costs.open < most.open);
        assert_eq!(most.open, (0.1875f32 * costs.table.average() as f32 * (10.0 / (0.9 * 0.5)) as f32) as i32);
    }

    #[test]
    fn of_strangers_there_is_one_matrix() {
        for (series, name) in [(Series::Gonnet, "gonnet250"), (Series::Blosum, "blosum40"), (Series::Pam, "pam120")] {
            let options = Options { series, ..Options::new(Alphabet::Protein) };
            assert_eq!((options.choice(None, 200).name, options.choice(99.0, 200).name == name), (name, false));
        }
    }

    #[test]
    fn single_precision_shows_in_nucleotides_costs() {
        let costs = Options::new(Alphabet::Dna).costs(Alphabet::Dna, 50.0, [9, 9]);
        assert_eq!((costs.open, costs.extend), (1500, 665));
        let bases = Options { series: Series::Bases, ..Options::new(Alphabet::Dna) };
        let costs = bases.costs(Alphabet::Dna, 50.0, [9, 9]);
        assert_eq!((costs.open, costs.extend, costs.table.score(0, 0)), (990, 439, 1000));
    }

    #[test]
    fn an_empty_profile_has_costs() {
        assert_eq!(length_factors([0, 9]), (1.0, 1.0));
        let options = Options { negative: true, ..Options::new(Alphabet::Protein) };
        assert_eq!(options.costs(Alphabet::Protein, 50.0, [0, 9]).open, 1000);
    }
}
