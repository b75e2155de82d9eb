//! Matches from bit planes. A plane contains one bit of every symbol's code. A few operations on
//! words compare a symbol of the text with 64 rows of the pattern. Adjacent lanes may have
//! different patterns, and no profile is stored.

use crate::score::Equality;
use crate::seq::{Alphabet, Code, PAD};
use crate::simd::{BITS, LanesU64};

/// Maximum number of planes: eight bits, and one plane for padding.
pub(super) const MAX_PLANES: usize = 9;

/// A rule that derives matches from planes.
pub(super) trait Matcher {
    /// Number of planes, at most [`MAX_PLANES`].
    const PLANES: usize;
    /// Returns the rows of the pattern that match the lanes' symbols of the text. Each plane of a
    /// text symbol has all bits set or none.
    ///
    /// # Safety
    /// The processor has the instructions of V.
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V;
}

/// Symbols match if all planes agree.
pub(super) struct EqualPlanes<const N: usize>;

/// Symbols match if some plane contains both.
pub(super) struct SharedPlane<const N: usize>;

impl<const N: usize> Matcher for EqualPlanes<N> {
    const PLANES: usize = N;
    #[inline(always)]
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut differing = V::splat(0);
            for p in 1..N {
                differing = pattern(p).xor_or(text(p), differing);
            }
            pattern(0).nor_xor(text(0), differing)
        }
    }
}

impl<const N: usize> Matcher for SharedPlane<N> {
    const PLANES: usize = N;
    #[inline(always)]
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut matching = pattern(0).and(text(0));
            for p in 1..N {
                matching = pattern(p).and_or(text(p), matching);
            }
            matching
        }
    }
}

/// An equality of codes that planes can represent.
#[derive(Debug, Clone)]
pub(super) struct CodeRelation {
    kind: RelationKind,
    /// Replacement of each code; `None` if codes are used unchanged.
    map: Option<Box<[Code; 256]>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelationKind {
    /// Each code is equal to itself only.
    Literal {
        /// Whether two bits distinguish the codes of sequences without ambiguous codes.
        bases: bool,
    },
    /// Codes are sets of bases, and are equal if they share a base.
    Sets,
}

/// The union and the intersection of the bits in the codes of some sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeCensus {
    or: Code,
    and: Code,
    /// Bits of codes with several bits.
    several: Code,
}

impl CodeCensus {
    /// The state for no sequence.
    pub(super) const NONE: CodeCensus = CodeCensus { or: 0, and: Code::MAX, several: 0 };

    /// Returns the state with one more sequence.
    pub(super) fn with(self, codes: &[Code]) -> CodeCensus {
        codes.iter().fold(self, |all, &code| CodeCensus {
            or: all.or | code,
            and: all.and & code,
            several: all.several | (code & code.wrapping_sub(1)),
        })
    }
}

impl CodeRelation {
    /// Returns the relation of codes of any kind that are equal to themselves only.
    pub(super) fn literal() -> CodeRelation {
        CodeRelation { kind: RelationKind::Literal { bases: false }, map: None }
    }

    /// Returns the relation of an equality, or `None` if planes cannot represent it.
    pub(super) fn from_equality(equality: &Equality) -> Option<CodeRelation> {
        let alphabet = equality.alphabet();
        let codes = || 1..alphabet.size() as u32;
        let is_match = |a: u32, b: u32| equality.is_match(a as Code, b as Code);
        if codes().all(|a| codes().all(|b| is_match(a, b) == (a == b))) {
            return Some(CodeRelation { kind: RelationKind::Literal { bases: alphabet == Alphabet::Dna }, map: None });
        }
        if alphabet != Alphabet::Dna {
            return None;
        }
        let mut map = Box::new([PAD; 256]);
        for code in codes() {
            map[code as usize] = equality.bases_of(code as Code)?;
        }
        let is_consistent =
            codes().all(|a| codes().all(|b| is_match(a, b) == (map[a as usize] & map[b as usize] != 0)));
        let is_identity = codes().all(|code| map[code as usize] == code as Code);
        is_consistent.then_some(CodeRelation { kind: RelationKind::Sets, map: (!is_identity).then_some(map) })
    }

    /// Returns the planes for sequences with these codes. If `padded` is set, rows of padding match
    /// nothing.
    pub(super) fn planes(&self, census: CodeCensus, padded: bool) -> Planes<'_> {
        let is_base = census.several == 0;
        let (test, map) = match self.kind {
            RelationKind::Literal { bases: true } | RelationKind::Sets if is_base => {
                // A, C, G and T are 1, 2, 4 and 8.
                (PlaneTest::Agreement, None)
            }
            RelationKind::Literal { .. } => (PlaneTest::Agreement, None),
            RelationKind::Sets => (PlaneTest::Sharing, self.map.as_deref()),
        };
        let mut masks = [0; MAX_PLANES];
        let mut count = 0;
        let mut add = |mask| {
            masks[count] = mask;
            count += 1;
        };
        match self.kind {
            RelationKind::Literal { bases: true } | RelationKind::Sets if is_base => {
                [0b1010, 0b1100].into_iter().for_each(&mut add)
            }
            RelationKind::Literal { .. } => {
                let varying = census.or & !census.and;
                (0..8).map(|bit| 1 << bit).filter(|bit| varying & bit != 0).for_each(&mut add);
            }
            RelationKind::Sets => (0..4).map(|bit| 1 << bit).for_each(&mut add),
        }
        let padding = (padded && test == PlaneTest::Agreement).then_some(count);
        Planes { test, masks, count: count + usize::from(padding.is_some()), padding, map }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaneTest {
    Agreement,
    Sharing,
}

/// The planes of some sequences.
#[derive(Debug, Clone)]
pub(super) struct Planes<'a> {
    test: PlaneTest,
    /// Code bits of each plane. A plane contains a symbol if its code has any of these bits.
    masks: [Code; MAX_PLANES],
    count: usize,
    /// Plane that contains only rows of padding.
    padding: Option<usize>,
    map: Option<&'a [Code; 256]>,
}

/// The matchers that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaneMatcher {
    /// [`EqualPlanes`] with at most 2 planes.
    Equal2,
    /// [`EqualPlanes`] with 3 planes.
    Equal3,
    /// [`EqualPlanes`] with at most 5 planes.
    Equal5,
    /// [`EqualPlanes`] with at most 7 planes.
    Equal7,
    /// [`EqualPlanes`] with at most 9 planes.
    Equal9,
    /// [`SharedPlane`] with 4 planes.
    Shared4,
}

impl Planes<'_> {
    /// Returns the matcher for these planes.
    pub(super) fn matcher(&self) -> PlaneMatcher {
        match (self.test, self.count) {
            (PlaneTest::Sharing, _) => PlaneMatcher::Shared4,
            (PlaneTest::Agreement, ..=2) => PlaneMatcher::Equal2,
            (PlaneTest::Agreement, 3) => PlaneMatcher::Equal3,
            (PlaneTest::Agreement, ..=5) => PlaneMatcher::Equal5,
            (PlaneTest::Agreement, ..=7) => PlaneMatcher::Equal7,
            (PlaneTest::Agreement, _) => PlaneMatcher::Equal9,
        }
    }

    /// Returns the index of the padding plane, if there is one.
    pub(super) fn padding(&self) -> Option<usize> {
        self.padding
    }

    /// Returns the code bits that put a symbol into a plane.
    pub(super) fn mask(&self, plane: usize) -> Code {
        self.masks[plane]
    }

    /// Returns the replacement of a code.
    #[inline(always)]
    pub(super) fn code(&self, code: Code) -> Code {
        self.map.map_or(code, |map| map[code as usize])
    }

    /// Reads the planes of 64 symbols, starting at index `first`. Symbols before index 0 or after
    /// the end are padding.
    ///
    /// # Safety
    /// The processor has the instructions of V.
    #[inline(always)]
    pub(super) unsafe fn read<V: LanesU64>(&self, codes: &[Code], first: isize, planes: &mut [u64]) {
        let mut some = [PAD; BITS];
        let whole = usize::try_from(first).ok().and_then(|first| codes.get(first..first + BITS));
        let block = match (whole, self.map) {
            (Some(block), None) => block,
            _ => {
                let begin = first.max(0).min(codes.len() as isize);
                let end = (first + BITS as isize).clamp(begin, codes.len() as isize);
                let to = ((begin - first) as usize).min(BITS);
                let part = &codes[begin as usize..end as usize];
                let some_part = &mut some[to..to + part.len()];
                match self.map {
                    None => some_part.copy_from_slice(part),
                    Some(_) => some_part.iter_mut().zip(part).for_each(|(to, &code)| *to = self.code(code)),
                }
                &some
            }
        };
        for (plane, &mask) in planes.iter_mut().zip(&self.masks) {
            // SAFETY: the block has 64 symbols, and the caller guarantees the instructions of V.
            *plane = unsafe { V::test_bytes(block.as_ptr(), mask) };
        }
    }
}
