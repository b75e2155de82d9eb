//! Memory for vectors.

/// Elements in memory that begins where a cache line does: a vector never straddles two.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines<E> {
    lines: Vec<Line>,
    kind: std::marker::PhantomData<E>,
}

#[derive(Debug, Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

impl<E: bytemuck::Pod> Lines<E> {
    /// At least so many elements, with any values.
    pub(crate) fn at_least(&mut self, elements: usize) -> &mut [E] {
        let lines = (elements * size_of::<E>()).div_ceil(size_of::<Line>());
        if self.lines.len() < lines {
            self.lines.resize(lines, Line::default());
        }
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}
