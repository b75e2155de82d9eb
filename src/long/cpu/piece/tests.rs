use super::*;
use crate::long::oracle::LongMatrices;
use crate::score::{Ambiguity, EndGaps};

/// Returns the next random number.
fn random(state: &mut fastrand::Rng) -> u64 {
    state.u64(..)
}

fn below(state: &mut fastrand::Rng, bound: usize) -> usize {
    random(state) as usize % bound
}

/// Returns random matrices, and the first point of a traceback through them.
fn case(state: &mut fastrand::Rng) -> (Vec<Code>, Vec<Code>, Scoring, LongMatrices, PathPoint) {
    let letters: &[Code] = &[1, 2, 4, 8, 1, 15][..1 + below(state, 6)];
    let mut codes =
        |length: usize| -> Vec<Code> { (0..length).map(|_| letters[below(state, letters.len())]).collect() };
    let query = codes(150);
    let mut target: Vec<Code> = query.clone();
    for _ in 0..below(state, 12) {
        let index = below(state, target.len());
        match below(state, 3) {
            0 => target[index] = 1 << below(state, 4),
            1 => drop(target.drain(index..target.len().min(index + below(state, 9)))),
            _ => (0..below(state, 9)).for_each(|_| target.insert(index, 1 << below(state, 4))),
        }
    }
    let query = query[..below(state, 150)].to_vec();
    let next = below(state, 3) as i32;
    let gaps = Gaps { first: next + below(state, 4) as i32, next };
    let end_gaps = [EndGaps::Charged, EndGaps::Free][below(state, 2)];
    let mode = [Mode::Global, Mode::Local][below(state, 2)];
    let scoring = Scoring { mode, ..Scoring::nucleotide(2, -3, Ambiguity::Zero, gaps, end_gaps).unwrap() };
    let matrices = LongMatrices::fill(&query, &target, &scoring);
    let (m, n) = (query.len(), target.len());
    let (i, j) = match mode {
        Mode::Local => matrices.best(0..m, 0..n).map_or((0, 0), |(_, i, j)| (i, j)),
        Mode::Global => matrices.last_cell(),
    };
    (query, target, scoring, matrices, PathPoint { i: i as u32, j: j as u32, state: PathState::H })
}

#[test]
fn any_two_points_of_a_path_have_its_columns_between_them() {
    println!("seed 3");
    let state = &mut fastrand::Rng::with_seed(3);
    let mut states = [0; 3];
    for round in 0..600 {
        let (query, target, scoring, matrices, from) = case(state);
        let instruction_sets = InstructionSet::available();
        let mut pieces = PieceTracer::new(&scoring, instruction_sets[round % instruction_sets.len()]);
        let traceback = matrices.trace_back(from, 0, 0);
        for _ in 0..4 {
            let (a, b) = (below(state, traceback.points.len()), below(state, traceback.points.len()));
            let (late, early) = (a.min(b), a.max(b));
            let (start, end) = (traceback.points[early].0, traceback.points[late].0);
            states[start.state as usize] += 1;
            let cigar = pieces.path_columns(&query, &target, start, StartWalls::default(), end);
            let what = format!("round {round}: {start:?} to {end:?}, {:?} {:?}", scoring.gaps, scoring.mode);
            assert_eq!(cigar.to_string(), traceback.columns_between(late, early).to_string(), "{what}");
        }
    }
    assert!(states.iter().all(|&times| times > 20), "all states are tried: {states:?}");
}

#[test]
fn regions_are_left_where_the_path_leaves_them() {
    println!("seed 5");
    let state = &mut fastrand::Rng::with_seed(5);
    for round in 0..300 {
        let (query, target, scoring, matrices, from) = case(state);
        let instruction_sets = InstructionSet::available();
        let mut pieces = PieceTracer::new(&scoring, instruction_sets[round % instruction_sets.len()]);
        let traceback = matrices.trace_back(from, 0, 0);
        let end = traceback.points[below(state, traceback.points.len())].0;
        let (top, left) = (below(state, end.i as usize + 1) as u32, below(state, end.j as usize + 1) as u32);
        let bottom = end.i + below(state, query.len() + 1 - end.i as usize) as u32;
        let right = end.j + below(state, target.len() + 1 - end.j as usize) as u32;
        let upper = matrices.row_border(top as usize, left as usize..right as usize);
        let left_border = matrices.column_border(left as usize, top as usize..bottom as usize);
        let rectangle = MatrixRectangle::new(&query, &target, top..bottom, left..right);
        let (cigar, to, ended) = pieces.trace_with_borders(rectangle, &upper, &left_border, end);
        let expected = matrices.trace_back(end, top as usize, left as usize);
        assert_eq!((to, ended), (expected.to(), expected.ended), "round {round}");
        assert_eq!(cigar.to_string(), expected.cigar().to_string(), "round {round}");
    }
}
