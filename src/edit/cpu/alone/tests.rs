//! Checks that blocks of any width give the same result as a single block.

use super::super::planes::{CodeCensus, CodeRelation, EqualPlanes, SharedPlane};
use super::super::scalar;
use super::*;
use crate::score::{Ambiguity, EditScheme, Equality, Limit};
use crate::seq::Code;

/// Creates a text, and a pattern that is a changed part of it if the text is long enough.
fn sequences(rng: &mut fastrand::Rng, m: usize, n: usize, codes: &[Code]) -> (Vec<Code>, Vec<Code>) {
    let mut some = |symbols: usize| (0..symbols).map(|_| codes[rng.usize(..codes.len())]).collect::<Vec<_>>();
    let (mut pattern, text) = (some(m), some(n));
    if let Some(room) = n.checked_sub(m) {
        let start = rng.usize(..=room);
        pattern.copy_from_slice(&text[start..start + m]);
        pattern.iter_mut().step_by(17).for_each(|code| *code = codes[rng.usize(..codes.len())]);
    }
    (pattern, text)
}

#[test]
fn blocks_of_any_width_match_scalar_form() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let rng = &mut fastrand::Rng::with_seed(seed);
    let sets: Vec<Code> = (1..16).collect();
    for instructions in InstructionSet::available() {
        let lanes = VECTORS * instructions.u64_lanes();
        let mut buffers = AloneBuffers::default();
        // Cover a strip of one vector, a strip of two vectors, and several strips; and blocks that
        // are narrower than a strip has lanes.
        for m in [1, 63, BITS * lanes / 2, BITS * lanes, BITS * lanes + 1, 2 * BITS * lanes + 100] {
            for (n, block) in [(200, 1), (150, 7), (700, 64), (777, 100), (500, 499), (500, 500), (500, 501)] {
                for (mode, is_sets) in [(EditMode::Infix, false), (EditMode::Prefix, true)] {
                    let codes: &[Code] = if is_sets { &sets } else { &[1, 2, 4, 8] };
                    let (pattern, text) = sequences(rng, m, n, codes);
                    let equality = Equality::dna(Ambiguity::Overlap, true);
                    let scheme = EditScheme { mode, equality, limit: Limit::None };
                    let relation = CodeRelation::from_equality(&scheme.equality).unwrap();
                    let planes = relation.planes(CodeCensus::NONE.with(&pattern).with(&text), false);
                    let pair = EditPair { pattern: &pattern, text: &text, limit: u32::MAX };
                    let mut outcome = PairOutcome::Beyond { rows: 0, least: 0 };
                    let task =
                        AloneTask { pair, planes: &planes, mode, block, buffers: &mut buffers, outcome: &mut outcome };
                    if is_sets {
                        align_pair::<SharedPlane<4>>(instructions, task);
                    } else {
                        align_pair::<EqualPlanes<2>>(instructions, task);
                    }
                    let expected = PairOutcome::Distance(scalar::find(&pattern, &text, &scheme));
                    assert_eq!(outcome, expected, "{instructions:?} {mode:?}, {m} against {n} by {block}");
                }
            }
        }
    }
}
