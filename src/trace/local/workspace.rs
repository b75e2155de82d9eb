//! The buffers of global and local tracebacks.

use super::LocalBuffers;
use crate::simd::InstructionSet;
use crate::trace::global::GlobalBuffers;

/// Buffers for repeated tracebacks. Each thread has its own.
#[derive(Debug)]
pub struct TracebackWorkspace {
    pub(in crate::trace) global: GlobalBuffers,
    pub(in crate::trace) local: LocalBuffers,
}

impl TracebackWorkspace {
    /// Default limit in bytes on the directions that a workspace keeps: enough for all cells of two
    /// sequences of 8,000 symbols.
    pub const DEFAULT_BUDGET_BYTES: usize = 64 << 20;

    /// Returns a workspace with a limit of [`TracebackWorkspace::DEFAULT_BUDGET_BYTES`].
    pub fn new() -> Self {
        Self::with_budget(Self::DEFAULT_BUDGET_BYTES)
    }

    /// Returns a workspace that keeps at most about `budget_bytes` bytes of directions. The search
    /// for the start of a local alignment also keeps at most about `budget_bytes` bytes of values.
    /// Results do not depend on the limit. A lower limit makes tracebacks slower.
    pub fn with_budget(budget_bytes: usize) -> Self {
        TracebackWorkspace { global: GlobalBuffers::new(budget_bytes), local: LocalBuffers::default() }
    }

    /// Sets the instruction set. Results do not depend on it.
    pub fn with_instructions(mut self, instructions: InstructionSet) -> Self {
        self.global.resources.instructions = instructions;
        self
    }
}

impl Default for TracebackWorkspace {
    fn default() -> Self {
        Self::new()
    }
}
