use super::*;
use crate::pairs::oracle;
use crate::score::{Ambiguity, EndGaps, Gaps, offset};

/// Returns a random number generator, and prints its seed.
fn seeded() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

/// Returns a code of DNA. One in twenty is ambiguous.
fn code(rng: &mut fastrand::Rng) -> Code {
    if rng.u32(0..20) == 0 { rng.u8(1..16) } else { 1 << rng.u8(0..4) }
}

/// A pair with its scoring.
struct Case {
    scoring: Scoring,
    rows: Vec<Code>,
    columns: Vec<Code>,
}

impl Case {
    /// Returns a pair with gaps that are short in some rounds and long in others.
    fn of_round(rng: &mut fastrand::Rng, round: usize) -> Case {
        Case::random(rng, 1_100 + 100 * (round / 5), [2, 20, 60, 200, 600][round % 5])
    }

    /// Returns a sequence of `length` symbols and a copy with changes, and with gaps of up to
    /// `longest` symbols.
    fn random(rng: &mut fastrand::Rng, length: usize, longest: usize) -> Case {
        let (first, next) = (rng.i32(0..12), rng.i32(1..4));
        let gaps = if rng.bool() { Gaps::linear(next) } else { Gaps::from_blast(first, next) };
        let end_gaps = match rng.u32(0..3) {
            0 => EndGaps::Charged,
            1 => EndGaps::Free,
            _ => EndGaps::Priced(Gaps { first: gaps.first.min(2), next: gaps.next.min(1) }),
        };
        let scoring = Scoring::nucleotide(rng.i32(1..6), rng.i32(-6..=0), Ambiguity::Overlap, gaps, end_gaps);
        let scoring = scoring.expect("valid costs");
        let original: Vec<Code> = (0..length).map(|_| code(rng)).collect();
        let mut copy = Vec::new();
        let mut at = 0;
        while at < original.len() {
            match rng.u32(0..200) {
                0..4 => copy.push(code(rng)),
                4 => at += rng.usize(..longest),
                5 => (0..rng.usize(..longest)).for_each(|_| copy.push(code(rng))),
                _ => copy.push(original[at]),
            }
            at += 1;
        }
        let (rows, columns) = if copy.len() <= original.len() { (copy, original) } else { (original, copy) };
        Case { scoring, rows, columns }
    }

    /// Computes the pair within a band.
    fn within<E: LaneElement>(&self, form: &DifferenceScoring<E>, set: InstructionSet, band: Band) -> Greatest {
        let mut value = Greatest::default();
        let (columns, mut buffers) = (&ProfiledSequence::new(&self.columns), PairBuffers::default());
        let task = PairTask { form, rows: &self.rows, columns, buffers: &mut buffers, value: &mut value };
        set.run(PairInBand { task, band });
        value
    }

    /// Calls `check` with every form of the scoring that holds the pair, with and without matches.
    fn in_all_forms(&self, mut check: impl FnMut(&dyn AnyForm)) {
        let (m, n) = (self.rows.len() as u64, self.columns.len() as u64);
        for carry in [false, offset::carries_matches(&self.scoring, m, m + n)] {
            DifferenceScoring::<i8>::new(&self.scoring, m, carry).iter().for_each(|form| check(form));
            DifferenceScoring::<i16>::new(&self.scoring, m, carry).iter().for_each(|form| check(form));
            DifferenceScoring::<i32>::new(&self.scoring, m, carry).iter().for_each(|form| check(form));
        }
    }
}

/// A form of a scoring in lanes of any width.
trait AnyForm {
    fn fits(&self) -> bool;
    fn within(&self, case: &Case, set: InstructionSet, band: Band) -> Greatest;
    fn greatest(&self, case: &Case, set: InstructionSet) -> Greatest;
    fn score(&self, case: &Case, greatest: Greatest) -> i64;
}

impl<E: LaneElement> AnyForm for DifferenceScoring<E> {
    fn fits(&self) -> bool {
        self.fits_bands()
    }

    fn within(&self, case: &Case, set: InstructionSet, band: Band) -> Greatest {
        case.within(self, set, band)
    }

    fn greatest(&self, case: &Case, set: InstructionSet) -> Greatest {
        let Case { scoring, rows, columns } = case;
        LonePair { scoring, form: self, rows, columns }.greatest(set, &mut PairBuffers::default())
    }

    fn score(&self, case: &Case, greatest: Greatest) -> i64 {
        self.decode(greatest.value, case.rows.len() as u32, case.columns.len() as u32).0
    }
}

/// Returns the best score of the alignments of a pair with charged end gaps that stay on the
/// diagonals of a band, cell by cell.
fn score_within(case: &Case, band: Band) -> i64 {
    let Case { scoring, rows, columns } = case;
    let (opening, next) = (scoring.gaps.opening() as i64, scoring.gaps.next as i64);
    let unreached = i64::MIN / 2;
    let mut above = vec![[unreached; 3]; columns.len() + 1];
    for i in 0..=rows.len() {
        let mut row = vec![[unreached; 3]; columns.len() + 1];
        for j in 0..=columns.len() {
            let diagonal = i as i64 - j as i64;
            if diagonal < band.low || diagonal > band.high {
                continue;
            }
            let longer = |cell: [i64; 3], gap: usize| (cell[0] - opening).max(cell[gap]) - next;
            let insertion = if i > 0 { longer(above[j], 1) } else { unreached };
            let deletion = if j > 0 { longer(row[j - 1], 2) } else { unreached };
            let pair = match (i, j) {
                (0, 0) => 0,
                (0, _) | (_, 0) => unreached,
                _ => above[j - 1][0] + i64::from(scoring.substitution.score(rows[i - 1], columns[j - 1])),
            };
            row[j] = [pair.max(insertion).max(deletion), insertion, deletion];
        }
        above = row;
    }
    above[columns.len()][0]
}

#[test]
fn bands_contain_at_least_their_own_alignments() {
    let mut rng = seeded();
    let sets = InstructionSet::available();
    for round in 0..120 {
        let set = sets[round / 10 % sets.len()];
        let length = [1, 2, 15, 16, 17, 63, 64, 65, 129, 300][round % 10];
        let mut case = Case::random(&mut rng, length, 20);
        if case.rows.is_empty() {
            continue;
        }
        case.scoring.end_gaps = EndGaps::Charged;
        let ahead = case.rows.len() as i64 - case.columns.len() as i64;
        let side = |rng: &mut fastrand::Rng| rng.i64(0..40);
        let band = Band { low: ahead.min(0) - side(&mut rng), high: ahead.max(0) + side(&mut rng) };
        let (least, most) = (score_within(&case, band), oracle::align(&case.rows, &case.columns, &case.scoring).score);
        case.in_all_forms(|form| {
            if form.fits() {
                let score = form.score(&case, form.within(&case, set, band));
                assert!((least..=most).contains(&score), "{least} {score} {most} {band:?} {set:?} {:?}", case.scoring);
            }
        });
    }
}

#[test]
fn similar_pairs_have_the_greatest_value_of_the_whole_matrix() {
    let mut rng = seeded();
    let sets = InstructionSet::available();
    // Each instruction set has two of the five lengths of gaps, and each length has two sets.
    for round in 0..10 {
        let set = sets[(round + round / 5) % sets.len()];
        let case = Case::of_round(&mut rng, round);
        let (m, n) = (case.rows.len(), case.columns.len());
        case.in_all_forms(|form| {
            let whole = form.within(&case, set, Band::full(m, n));
            assert_eq!(form.greatest(&case, set), whole, "{set:?} {:?}", case.scoring);
        });
    }
}

/// The first band is sufficient for some of the pairs of the test above, and not for others.
#[test]
fn the_first_band_is_sufficient_for_some_pairs() {
    let mut rng = fastrand::Rng::with_seed(0x5eed);
    let set = InstructionSet::best();
    let (mut tried, mut sufficient) = (0, 0);
    for round in 0..25 {
        let case = Case::of_round(&mut rng, round);
        let Case { scoring, rows, columns } = &case;
        let (m, n) = (rows.len(), columns.len());
        let form = DifferenceScoring::<i32>::new(scoring, m as u64, false).expect("32 bits");
        let pair = LonePair { scoring, form: &form, rows, columns };
        let first = Band::guess(m, n);
        if form.fits_bands() && pair.is_worth_trying(first, 16) {
            tried += 1;
            sufficient += usize::from(case.within(&form, set, first) == case.within(&form, set, Band::full(m, n)));
        }
    }
    assert!(tried >= 5 && (1..tried).contains(&sufficient), "{tried} bands, {sufficient} sufficient");
}

#[test]
fn only_similar_pairs_try_a_band() {
    let mut rng = seeded();
    let scoring = Scoring::dna();
    let form = &DifferenceScoring::<i32>::new(&scoring, 5_000, false).expect("32 bits");
    let random = |rng: &mut fastrand::Rng| -> Vec<Code> { (0..5_000).map(|_| 1 << rng.u8(0..4)).collect() };
    let (rows, other) = (random(&mut rng), random(&mut rng));
    let is_tried = |columns: &[Code]| {
        let pair = LonePair { scoring: &scoring, form, rows: &rows, columns };
        pair.is_worth_trying(Band::guess(rows.len(), columns.len()), 64)
    };
    assert!(is_tried(&rows));
    assert!(!is_tried(&other));
    assert!(!is_tried(&[&other[..2_500], &rows[..2_500]].concat()), "no word is near its own diagonal");
    let short = LonePair { scoring: &scoring, form, rows: &rows[..1_000], columns: &rows[..1_000] };
    assert!(!short.is_worth_trying(Band::guess(1_000, 1_000), 64), "the band is too large a part");
}
