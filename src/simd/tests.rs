use super::*;

/// Returns random words: random bits, words with some zero bytes, and extreme values.
fn words<const N: usize>(random: &mut fastrand::Rng) -> [u64; N] {
    std::array::from_fn(|k| match (k % 3, random.u64(..) % 5) {
        (_, 0) => [0, u64::MAX, 1 << 63, 0x7fff_ffff_7fff_ffff, 0x8000_8080_8000_0000][random.u64(..) as usize % 5],
        (0, _) => random.u64(..) & 0xff00_ff0f_f000_ffff,
        _ => random.u64(..),
    })
}

/// A kernel that checks all vector functions against scalar arithmetic.
struct Checked<'a>(&'a [u64; 24]);

impl SimdKernel for Checked<'_> {
    type Output = InstructionSet;
    const USES_VBMI2: bool = true;

    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> InstructionSet {
        // SAFETY: guaranteed by the caller; there are three times 64 bytes, enough for three of the
        // widest vectors.
        unsafe {
            check_lanes::<S::I8Lanes>(self.0, |a| a as u8 as i64);
            check_lanes::<S::I16Lanes>(self.0, |a| a as u16 as i64);
            check_lanes::<S::I32Lanes>(self.0, |a| a as u32 as i64);
            check_lanes::<i64In<S>>(self.0, |a| a ^ i64::MIN);
            check_i32_lanes::<S::I32Lanes>(self.0);
            check_eight_lanes::<S::EightLanes>(self.0);
            check_u64_lanes::<S::U64Lanes>(self.0);
            InstructionSet::from_simd::<S>()
        }
    }
}

#[allow(non_camel_case_types, reason = "short for a type that has no name")]
type i64In<S> = <i64 as LaneElement>::In<S>;

/// Returns the lanes of a vector as numbers.
///
/// # Safety
/// The processor has the instructions of `V`.
unsafe fn lanes<V: Lanes>(vector: V) -> Vec<i64> {
    let mut out = [V::Elem::default(); MAX_LANES];
    // SAFETY: guaranteed by the caller; the array holds the widest vector.
    unsafe { vector.store(out.as_mut_ptr()) };
    out[..V::COUNT].iter().map(|lane| lane.number()).collect()
}

/// Checks every function of [`Lanes`] against scalar arithmetic.
///
/// # Safety
/// The processor has the instructions of `V`.
unsafe fn check_lanes<V: Lanes>(words: &[u64; 24], unsigned: fn(i64) -> i64) {
    let elements: &[V::Elem] = bytemuck::cast_slice(words);
    let part = elements.len() / 3;
    let at = |part_number: usize, k: usize| elements[part_number * part + k].number();
    let wrapped = |number: i64| V::Elem::from_number(number).number();
    let each = |f: &dyn Fn(usize) -> i64| (0..V::COUNT).map(f).collect::<Vec<i64>>();
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (a, b) = (V::load(elements.as_ptr()), V::load(elements.as_ptr().add(part)));
        assert_eq!(lanes(V::splat(elements[0])), each(&|_| at(0, 0)));
        assert_eq!(lanes(a.add(b)), each(&|k| wrapped(at(0, k).wrapping_add(at(1, k)))));
        assert_eq!(lanes(a.sub(b)), each(&|k| wrapped(at(0, k).wrapping_sub(at(1, k)))));
        assert_eq!(lanes(a.max(b)), each(&|k| at(0, k).max(at(1, k))));
        assert_eq!(a.exceeds(b), (0..V::COUNT).any(|k| at(0, k) > at(1, k)));
        assert!(!a.exceeds(a) && !a.exceeds(a.max(b)));
        for lane in 0..V::COUNT {
            // One lane is greater by one, and the others are equal.
            let mut one: Vec<V::Elem> = elements[..V::COUNT].to_vec();
            one[lane] = V::Elem::from_number(one[lane].number().wrapping_add(1));
            let one = V::load(one.as_ptr());
            let is_greater = wrapped(at(0, lane).wrapping_add(1)) > at(0, lane);
            assert_eq!((one.exceeds(a), a.exceeds(one)), (is_greater, !is_greater), "lane {lane}");
        }
        let mut some = [V::Elem::default(); MAX_LANES];
        some.iter_mut().enumerate().take(V::COUNT).for_each(|(k, some)| *some = elements[k + part * (k * k / 3 % 2)]);
        let same = (0..V::COUNT).fold(0, |bits, k| bits | u64::from(some[k] == elements[k]) << k);
        assert_eq!(a.equal(V::load(some.as_ptr())), same);
        let greater = |k: usize| if unsigned(at(0, k)) > unsigned(at(1, k)) { at(0, k) } else { at(1, k) };
        assert_eq!(lanes(a.max_unsigned(b)), each(&greater));
        let below_last = |k: usize| if k + 1 < V::COUNT { at(0, k + 1) } else { at(1, 0) };
        assert_eq!(lanes(a.shift_down(elements[part])), each(&below_last));
        let mut mask = [V::Elem::default(); MAX_LANES];
        mask.iter_mut()
            .zip(elements)
            .for_each(|(mask, &element)| *mask = V::Elem::from_number(-(element.number() & 1)));
        let blended = |k: usize| if mask[k].number() == 0 { at(0, k) } else { at(1, k) };
        assert_eq!(lanes(a.blend(b, V::load(mask.as_ptr()))), each(&blended));
        let table: [V::Elem; STEPS] = std::array::from_fn(|k| elements[k % elements.len()]);
        let bytes: &[u8] = bytemuck::cast_slice(words);
        for mask in [0, 1, 6, 128, 255] {
            let others: [u8; MAX_LANES] = std::array::from_fn(|k| bytes[k + MAX_LANES] & mask);
            let disjoint = lanes(V::disjoint_bytes(bytes.as_ptr(), others.as_ptr()));
            assert_eq!(disjoint, each(&|k| -i64::from(bytes[k] & others[k] == 0)), "mask {mask}");
        }
        let codes: [Code; MAX_LANES] = std::array::from_fn(|k| bytes[k] % STEPS as u8);
        assert_eq!(lanes(V::lookup(&table, codes.as_ptr())), each(&|k| table[codes[k] as usize].number()));
    }
}

/// Checks every function of [`LanesI32`] against scalar arithmetic.
///
/// # Safety
/// The processor has the instructions of `V`.
unsafe fn check_i32_lanes<V: LanesI32>(words: &[u64; 24]) {
    let (numbers, bytes): (&[i32], &[i8]) = (bytemuck::cast_slice(words), bytemuck::cast_slice(words));
    // SAFETY: guaranteed by the caller. The rows overlap; each has 16 bytes inside `bytes`.
    unsafe {
        let a = V::load(numbers.as_ptr());
        let mut other: [i32; MAX_I32_LANES] = std::array::from_fn(|k| numbers[k]);
        other.iter_mut().zip(bytes).for_each(|(other, byte)| *other ^= i32::from(byte & 1));
        let (then, or) = (V::load(numbers[16..].as_ptr()), V::load(numbers[32..].as_ptr()));
        let greater = |k: usize| if numbers[k] > other[k] { numbers[16 + k] } else { numbers[32 + k] };
        let expected: Vec<i64> = (0..V::COUNT).map(|k| greater(k).into()).collect();
        assert_eq!(lanes(a.where_greater(V::load(other.as_ptr()), then, or)), expected);
        let expected: Vec<i64> = bytes[..V::COUNT].iter().map(|&byte| byte.into()).collect();
        assert_eq!(lanes(V::widen(bytes.as_ptr())), expected);
        let rows: [*const i8; BLOCK] = std::array::from_fn(|k| bytes[7 * k..].as_ptr());
        let mut transposed = [0; BLOCK * BLOCK];
        V::transpose(&rows, transposed.as_mut_ptr());
        for (index, &byte) in transposed.iter().enumerate() {
            assert_eq!(byte, bytes[7 * (index % BLOCK) + index / BLOCK], "{index}");
        }
    }
}

/// Checks every function of [`EightLanes`] against scalar arithmetic.
///
/// # Safety
/// The processor has the instructions of `V`.
unsafe fn check_eight_lanes<V: EightLanes>(words: &[u64; 24]) {
    let (numbers, bytes): (&[i32], &[u8]) = (bytemuck::cast_slice(words), bytemuck::cast_slice(words));
    let each = |f: &dyn Fn(usize) -> i32| (0..8).map(|k| f(k).into()).collect::<Vec<i64>>();
    let eight = |from: usize| -> [Code; 8] { std::array::from_fn(|k| bytes[from + k] & 7) };
    let (x, y) = (eight(0), eight(8));
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (a, b) = (V::load(numbers.as_ptr()), V::load(numbers.as_ptr().add(8)));
        let some: [i32; 8] = std::array::from_fn(|k| numbers[k + 8 * usize::from(bytes[k] & 1)]);
        assert_eq!(lanes(a.equal_mask(V::load(some.as_ptr()))), each(&|k| -i32::from(some[k] == numbers[k])));
        assert_eq!(lanes(a.and(b)), each(&|k| numbers[k] & numbers[k + 8]));
        assert_eq!(lanes(a.or(b)), each(&|k| numbers[k] | numbers[k + 8]));
        assert_eq!(lanes(a.and_not(b)), each(&|k| numbers[k] & !numbers[k + 8]));
        assert_eq!(lanes(a.shift_up_from(b)), each(&|k| if k > 0 { numbers[k - 1] } else { numbers[15] }));
        assert_eq!(lanes(a.shift_down_from(b)), each(&|k| numbers[k + 1]));
        assert_eq!(lanes(V::disjoint(&x, &y)), each(&|k| -i32::from(x[k] & y[k] == 0)));
        assert_eq!(lanes(V::same_codes(&x, &y)), each(&|k| -i32::from(x[k] == y[k])));
        let small: [i32; 8] = std::array::from_fn(|k| numbers[k] & 127);
        assert_eq!(V::load(small.as_ptr()).to_bytes(), small.map(|number| number as u8));
    }
}

/// Checks every function of [`LanesU64`] against scalar arithmetic.
///
/// # Safety
/// The processor has the instructions of `V`.
unsafe fn check_u64_lanes<V: LanesU64>(words: &[u64; 24]) {
    // SAFETY: guaranteed by the caller; three times eight words are enough for three of the widest
    // vectors.
    unsafe {
        let at = |k: usize| V::load(words.as_ptr().add(8 * k));
        let (a, b, c) = (at(0), at(1), at(2));
        let each = |f: fn(u64, u64, u64) -> u64| {
            (0..V::COUNT).map(|k| f(words[k], words[8 + k], words[16 + k])).collect::<Vec<u64>>()
        };
        let lanes = |v: V| {
            let mut out = [0; MAX_U64_LANES];
            v.store(out.as_mut_ptr());
            out[..V::COUNT].to_vec()
        };
        assert_eq!(lanes(a.add(b)), each(|a, b, _| a.wrapping_add(b)));
        assert_eq!(lanes(a.and(b)), each(|a, b, _| a & b));
        assert_eq!(lanes(a.or3(b, c)), each(|a, b, c| a | b | c));
        assert_eq!(lanes(a.xor_or(b, c)), each(|a, b, c| a ^ b | c));
        assert_eq!(lanes(a.nor_xor(b, c)), each(|a, b, c| !(a ^ b | c)));
        assert_eq!(lanes(a.and_or(b, c)), each(|a, b, c| a & b | c));
        assert_eq!(lanes(a.or_nor(b, c)), each(|a, b, c| a | !(b | c)));
        assert_eq!(lanes(a.shift_in(b)), each(|a, b, _| a << 1 | b >> 63));
        assert_eq!(lanes(a.top_bits()), each(|a, _, _| a >> 63));
        assert_eq!(lanes(a.test(1 << 63)), each(|a, _, _| if a >> 63 == 1 { u64::MAX } else { 0 }));
        assert_eq!(lanes(a.test(1 << 5)), each(|a, _, _| if a >> 5 & 1 == 1 { u64::MAX } else { 0 }));
        assert_eq!(lanes(V::splat(77)), each(|_, _, _| 77));
        let down = lanes(a.shift_down(b));
        assert_eq!(down[..V::COUNT - 1], words[1..V::COUNT]);
        assert_eq!(down[V::COUNT - 1], words[8]);
        let bytes: &[u8] = bytemuck::cast_slice(&words[..8]);
        for mask in [0, 1, 6, 128, 255] {
            let expected = (0..64).fold(0u64, |bits, k| bits | u64::from(bytes[k] & mask != 0) << k);
            assert_eq!(V::test_bytes(bytes.as_ptr(), mask), expected, "mask {mask}");
        }
    }
}

#[test]
fn vector_functions_match_scalar_arithmetic() {
    let random = &mut fastrand::Rng::with_seed(1);
    for round in 0..100 {
        let words = words(random);
        for instructions in InstructionSet::available() {
            eprintln!("round {round}, {instructions:?}, {words:x?}");
            assert_eq!(instructions.run(Checked(&words)), instructions, "each instruction set runs its own code");
            assert_eq!(instructions.u64_lanes() * 8, instructions.bytes());
        }
    }
}

#[test]
fn aligned_buffer_starts_at_a_cache_line() {
    let mut lines = AlignedBuffer::<i16>::default();
    for elements in [0, 1, 31, 32, 33, 1_000, 5] {
        let memory = lines.at_least(elements);
        assert!(memory.len() >= elements && memory.as_ptr().addr().is_multiple_of(64));
    }
}
