//! Trees that say which sequences are aligned with which, and in which order.

/// An inner node of a [`GuideTree`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Join {
    /// The nodes below it.
    pub children: [u32; 2],
    /// The lengths of the branches to them.
    pub lengths: [f64; 2],
}

/// A rooted tree in which every inner node has two children. Nodes below the number of leaves are leaves, in the order of
/// the sequences; then come the joins, children before parents, the root last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuideTree {
    /// Leaves. One leaf alone has no joins.
    pub leaves: usize,
    /// One less than leaves.
    pub joins: Vec<Join>,
}
