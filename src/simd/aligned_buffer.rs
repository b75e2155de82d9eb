//! Aligned memory for vectors.

/// Elements in memory that starts at a cache line, so that an aligned vector never straddles two
/// lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct AlignedBuffer<E> {
    lines: Vec<CacheLine>,
    kind: std::marker::PhantomData<E>,
}

#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u64; 8]);

impl<E: bytemuck::Pod> AlignedBuffer<E> {
    /// Returns a slice of at least `elements` elements. Their values are arbitrary.
    pub(crate) fn at_least(&mut self, elements: usize) -> &mut [E] {
        let lines = (elements * size_of::<E>()).div_ceil(size_of::<CacheLine>());
        if self.lines.len() < lines {
            self.lines.resize(lines, CacheLine::default());
        }
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
