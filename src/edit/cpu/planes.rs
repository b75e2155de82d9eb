//! Matches from bit planes: a plane holds one bit of every symbol's code, and a symbol of the text is compared with 64
//! rows of the pattern by a few operations on words. Patterns in neighbouring lanes may differ, and no profile is kept.

use crate::score::Equality;
use crate::seq::{Alphabet, Code, PAD};
use crate::simd::{BITS, LanesU64};

/// The most planes: eight bits, and one that tells padding.
pub(super) const MAX_PLANES: usize = 9;

/// How planes tell matches.
pub(super) trait Matcher {
    /// Number of planes; at most [`MAX_PLANES`].
    const PLANES: usize;
    /// Rows of the pattern that match the lanes' symbols of the text, each plane of which has all bits or none.
    ///
    /// # Safety
    /// The processor has the instructions of V.
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V;
}

/// Symbols match if all planes agree.
pub(super) struct Same<const N: usize>;

/// Symbols match if any plane has both.
pub(super) struct Any<const N: usize>;

impl<const N: usize> Matcher for Same<N> {
    const PLANES: usize = N;
    #[inline(always)]
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V {
        // SAFETY: the caller's.
        unsafe {
            let mut differing = V::splat(0);
            for p in 1..N {
                differing = pattern(p).xor_or(text(p), differing);
            }
            pattern(0).nor_xor(text(0), differing)
        }
    }
}

impl<const N: usize> Matcher for Any<N> {
    const PLANES: usize = N;
    #[inline(always)]
    unsafe fn matches<V: LanesU64>(pattern: impl Fn(usize) -> V, text: impl Fn(usize) -> V) -> V {
        // SAFETY: the caller's.
        unsafe {
            let mut matching = pattern(0).and(text(0));
            for p in 1..N {
                matching = pattern(p).and_or(text(p), matching);
            }
            matching
        }
    }
}

/// Which codes are equal, as far as planes can tell.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    kind: Kind,
    /// What codes are taken for; `None` if for themselves.
    map: Option<Box<[Code; 256]>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Each code is equal to itself alone.
    Literal {
        /// Whether sequences without ambiguous codes may be told apart by two bits.
        bases: bool,
    },
    /// Codes are sets of bases, and equal if they share one.
    Sets,
}

/// What is known of the codes of some sequences.
#[derive(Debug, Clone, Copy)]
pub(super) struct Census {
    or: Code,
    and: Code,
    /// Bits of codes that have several.
    several: Code,
}

impl Census {
    /// Of no sequence.
    pub(super) const NONE: Census = Census { or: 0, and: Code::MAX, several: 0 };

    /// With those of one sequence more.
    pub(super) fn with(self, codes: &[Code]) -> Census {
        codes.iter().fold(self, |all, &code| Census {
            or: all.or | code,
            and: all.and & code,
            several: all.several | (code & code.wrapping_sub(1)),
        })
    }
}

impl Relation {
    /// Codes of any kind, each equal to itself alone.
    pub(super) fn literal() -> Relation {
        Relation { kind: Kind::Literal { bases: false }, map: None }
    }

    /// That of a rule; `None` if planes cannot tell it.
    pub(super) fn of(equality: &Equality) -> Option<Relation> {
        let alphabet = equality.alphabet();
        let codes = || 1..alphabet.size() as u32;
        let is_match = |a: u32, b: u32| equality.is_match(a as Code, b as Code);
        if codes().all(|a| codes().all(|b| is_match(a, b) == (a == b))) {
            return Some(Relation { kind: Kind::Literal { bases: alphabet == Alphabet::Dna }, map: None });
        }
        if alphabet != Alphabet::Dna {
            return None;
        }
        let mut map = Box::new([PAD; 256]);
        for code in codes() {
            map[code as usize] = equality.bases_of(code as Code)?;
        }
        let told = codes().all(|a| codes().all(|b| is_match(a, b) == (map[a as usize] & map[b as usize] != 0)));
        let is_identity = codes().all(|code| map[code as usize] == code as Code);
        told.then_some(Relation { kind: Kind::Sets, map: (!is_identity).then_some(map) })
    }

    /// The planes for sequences of these codes; `padded`: rows of padding must match nothing.
    pub(super) fn planes(&self, census: Census, padded: bool) -> Planes<'_> {
        let is_base = census.several == 0;
        let (told_by, map) = match self.kind {
            Kind::Literal { bases: true } | Kind::Sets if is_base => {
                // A, C, G and T are 1, 2, 4 and 8.
                (ToldBy::Agreement, None)
            }
            Kind::Literal { .. } => (ToldBy::Agreement, None),
            Kind::Sets => (ToldBy::Sharing, self.map.as_deref()),
        };
        let mut masks = [0; MAX_PLANES];
        let mut count = 0;
        let mut add = |mask| {
            masks[count] = mask;
            count += 1;
        };
        match self.kind {
            Kind::Literal { bases: true } | Kind::Sets if is_base => [0b1010, 0b1100].into_iter().for_each(&mut add),
            Kind::Literal { .. } => {
                let varying = census.or & !census.and;
                (0..8).map(|bit| 1 << bit).filter(|bit| varying & bit != 0).for_each(&mut add);
            }
            Kind::Sets => (0..4).map(|bit| 1 << bit).for_each(&mut add),
        }
        let padding = (padded && told_by == ToldBy::Agreement).then_some(count);
        Planes { told_by, masks, count: count + usize::from(padding.is_some()), padding, map }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToldBy {
    Agreement,
    Sharing,
}

/// The planes of some sequences.
#[derive(Debug, Clone)]
pub(super) struct Planes<'a> {
    told_by: ToldBy,
    /// Bits of codes: a plane has a symbol if its code has one of the bits.
    masks: [Code; MAX_PLANES],
    count: usize,
    /// The plane that has rows of padding, and nothing else.
    padding: Option<usize>,
    map: Option<&'a [Code; 256]>,
}

/// Matchers that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    /// [`Same`], for so many planes.
    Same2,
    /// As above.
    Same3,
    /// As above.
    Same5,
    /// As above.
    Same7,
    /// As above.
    Same9,
    /// [`Any`], for so many planes.
    Any4,
}

impl Planes<'_> {
    /// The matcher that suits.
    pub(super) fn matching(&self) -> Matching {
        match (self.told_by, self.count) {
            (ToldBy::Sharing, _) => Matching::Any4,
            (ToldBy::Agreement, ..=2) => Matching::Same2,
            (ToldBy::Agreement, 3) => Matching::Same3,
            (ToldBy::Agreement, ..=5) => Matching::Same5,
            (ToldBy::Agreement, ..=7) => Matching::Same7,
            (ToldBy::Agreement, _) => Matching::Same9,
        }
    }

    /// Bits of the plane that tells padding, if there is one.
    pub(super) fn padding(&self) -> Option<usize> {
        self.padding
    }

    /// Bits of a code that put a symbol in a plane.
    pub(super) fn mask(&self, plane: usize) -> Code {
        self.masks[plane]
    }

    /// What a code is taken for.
    #[inline(always)]
    pub(super) fn code(&self, code: Code) -> Code {
        self.map.map_or(code, |map| map[code as usize])
    }

    /// The first N planes of 64 symbols, of which the first is number `first`; there are no symbols before number 0 or
    /// beyond the end.
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
            // SAFETY: the block has 64 symbols; the instructions are the caller's.
            *plane = unsafe { V::test_bytes(block.as_ptr(), mask) };
        }
    }
}
