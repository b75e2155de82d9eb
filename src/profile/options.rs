//! Options of progressive alignment, and the costs for aligning two profiles.

use crate::score::clustal::{ClustalMatrix, ClustalTable, ClustalTableOptions};
use crate::seq::Alphabet;

/// The matrices for scoring residues.
#[derive(Debug, Clone, PartialEq)]
pub enum Series {
    /// Gonnet matrices for proteins, chosen by the similarity of the profiles.
    Gonnet,
    /// BLOSUM matrices for proteins, chosen by the similarity of the profiles.
    Blosum,
    /// PAM matrices for proteins, chosen by the similarity of the profiles.
    Pam,
    /// Identity matrix for proteins.
    Identity,
    /// IUB matrix for nucleotides.
    Iub,
    /// Matrix of ClustalW 1.6 for nucleotides: identity of the four bases.
    Bases,
    /// A matrix that the user provides.
    One(ClustalMatrix),
}

/// Stage of the alignment that is refined by iteration, as in ClustalW 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Iterate {
    /// No iteration.
    #[default]
    No,
    /// The alignment at each join of the guide tree.
    Tree,
    /// The final alignment.
    Alignment,
}

/// Options of progressive alignment. [`ProfileOptions::new`] returns ClustalW's defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileOptions {
    /// Scores of residues.
    pub series: Series,
    /// Cost to open a gap, before scaling.
    pub gap_open: f32,
    /// Cost of each symbol of a gap.
    pub gap_extend: f32,
    /// Score of a transition as a fraction of a match (nucleotides).
    pub transitions: f32,
    /// Whether matrices keep their negative scores.
    pub negative: bool,
    /// Percent identity. A sequence is delayed, that is aligned after all others, if its identity
    /// with every other sequence is at most this.
    pub delay: i32,
    /// Distance from a gap, in columns, within which opening another gap costs more (proteins).
    pub gap_distance: i32,
    /// Residues that are hydrophilic, as upper-case letters. Gaps cost less in runs of them
    /// (proteins). An empty list turns this off.
    pub hydrophilic: Vec<u8>,
    /// Whether opening costs depend on the residues of a column (proteins).
    pub by_residue: bool,
    /// Whether the guide tree determines the weights of sequences. If not, all weights are equal.
    pub weighted: bool,
    /// Stage that is refined by iteration.
    pub iterate: Iterate,
}

impl ProfileOptions {
    /// Returns ClustalW's defaults.
    pub fn new(alphabet: Alphabet) -> ProfileOptions {
        let is_protein = alphabet == Alphabet::Protein;
        ProfileOptions {
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

    /// Returns the costs to align two profiles. `identity` is the mean percent identity of their
    /// sequences, if it is known. `lengths` are the mean lengths of their sequences.
    pub(super) fn costs(
        &self,
        alphabet: Alphabet,
        identity: impl Into<Option<f64>>,
        lengths: [i32; 2],
    ) -> ProfileCosts {
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
            return ProfileCosts { open: scaled(open), extend: scaled(extend), table };
        }
        let (by_length, by_ratio) = length_factors(lengths);
        // Single precision in the same places as ClustalW, so that the integers are equal.
        let opening = if self.negative {
            (100.0 * open) as i32
        } else if table.average() <= 0 && by_length.is_infinite() {
            // The logarithm of a length of 1 is 0, so ClustalW's cost is infinite. Its conversion
            // to an integer gives the smallest integer, and gaps then cost almost nothing.
            i32::MIN
        } else if table.average() <= 0 {
            (100.0 * f64::from((open + by_length) as f32)) as i32
        } else {
            (choice.share * table.average() as f32 * (open / (by_ratio * by_length)) as f32) as i32
        };
        ProfileCosts { open: opening, extend: (100.0 * extend) as i32, table }
    }

    fn choice(&self, identity: impl Into<Option<f64>>, shorter: i32) -> MatrixChoice {
        let known = identity.into();
        let (is_one, identity) = (self.negative || known.is_none(), known.unwrap_or_default());
        let gonnet = |name, share| MatrixChoice { name, share, times: 10 };
        let other = |name, share| MatrixChoice { name, share, times: 100 };
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

/// A matrix with the factors of costs and scores.
struct MatrixChoice {
    /// Name of a built-in matrix. Empty for a matrix of the user.
    name: &'static str,
    /// Factor of gap costs.
    share: f32,
    /// Factor of scores.
    times: i32,
}

impl MatrixChoice {
    fn table(&self, series: &Series, form: ClustalTableOptions) -> ClustalTable {
        match series {
            Series::One(matrix) => matrix.table(form),
            _ => ClustalMatrix::built_in(self.name).expect("a matrix of the list").table(form),
        }
    }
}

/// Returns the factors of opening costs that depend on the mean lengths of two profiles: one from
/// the shorter length, and one from the ratio of the lengths.
fn length_factors([first, second]: [i32; 2]) -> (f64, f64) {
    if first == 0 || second == 0 {
        return (1.0, 1.0);
    }
    let (shorter, longer) = (first.min(second), first.max(second));
    let ratio = f64::from(shorter as f32 / longer as f32);
    (1.0 / f64::from(shorter).log10(), (1.0 + 0.5 * ratio.log10()).max(0.9))
}

/// Scores and gap costs for two profiles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProfileCosts {
    /// Scores of residues.
    pub(super) table: ClustalTable,
    /// Cost to open a gap in an ordinary column.
    pub(super) open: i32,
    /// Cost of each symbol of a gap.
    pub(super) extend: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_identity_and_lengths() {
        let options = ProfileOptions::new(Alphabet::Protein);
        let name = |identity, shorter| options.choice(identity, shorter).name;
        assert_eq!(
            [name(35.5, 9), name(35.0, 100), name(35.0, 99), name(25.0, 99), name(25.0, 100)],
            ["gonnet80", "gonnet120", "gonnet250", "gonnet350", "gonnet160"]
        );
        let costs = options.costs(Alphabet::Protein, 80.0, [100, 100]);
        assert_eq!(costs.open, (0.1875f32 * costs.table.average() as f32 * 20.0) as i32);
        assert_eq!(costs.extend, 20);
        // Gaps cost more if the lengths differ more, up to one ninth.
        let most = options.costs(Alphabet::Protein, 80.0, [1000, 100]);
        assert!(costs.open < most.open);
        assert_eq!(most.open, (0.1875f32 * costs.table.average() as f32 * (10.0 / (0.9 * 0.5)) as f32) as i32);
    }

    #[test]
    fn unknown_identity_selects_one_matrix() {
        for (series, name) in [(Series::Gonnet, "gonnet250"), (Series::Blosum, "blosum40"), (Series::Pam, "pam120")] {
            let options = ProfileOptions { series, ..ProfileOptions::new(Alphabet::Protein) };
            assert_eq!((options.choice(None, 200).name, options.choice(99.0, 200).name == name), (name, false));
        }
    }

    #[test]
    fn nucleotide_costs_use_single_precision() {
        let costs = ProfileOptions::new(Alphabet::Dna).costs(Alphabet::Dna, 50.0, [9, 9]);
        assert_eq!((costs.open, costs.extend), (1500, 665));
        let bases = ProfileOptions { series: Series::Bases, ..ProfileOptions::new(Alphabet::Dna) };
        let costs = bases.costs(Alphabet::Dna, 50.0, [9, 9]);
        assert_eq!((costs.open, costs.extend, costs.table.score(0, 0)), (990, 439, 1000));
    }

    #[test]
    fn empty_profile_has_costs() {
        assert_eq!(length_factors([0, 9]), (1.0, 1.0));
        let options = ProfileOptions { negative: true, ..ProfileOptions::new(Alphabet::Protein) };
        assert_eq!(options.costs(Alphabet::Protein, 50.0, [0, 9]).open, 1000);
    }
}
