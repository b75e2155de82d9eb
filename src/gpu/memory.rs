//! Memory of an adapter: how much a job may use, and how an engine divides it.

use super::adapter::FoundAdapter;
use super::heap::free_bytes;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Memory in bytes below which a GPU should align pairs with the help of the CPU. For 1,000 genes,
/// an H100 alone and an H100 with 16 threads took 2.8 and 5.2 s in 2 GiB, 6.0 and 6.3 s in 1 GiB,
/// and 15 and 9.5 s in 512 MiB.
const SHORT_BYTES: u64 = GIB;
/// Smallest memory limit of an engine in bytes.
pub const MIN_BYTES: u64 = 16 * MIB;

/// Returns the bytes that a job may use on a device: the usual budget, at most nine tenths of the
/// free memory of a card, and at most `cap`.
///
/// The usual budget depends on the kind of device. A card uses 70% of its memory (Truong et al.
/// 2014 fill 70 to 75%; displays and other programs need some). A device that shares memory with
/// the CPU uses a quarter of that memory, at most 4 GiB. A device that is the CPU itself uses a
/// quarter, at most 1 GiB. If the memory is unknown, the three budgets are 2 GiB, 1 GiB and 512
/// MiB.
pub fn memory_budget(adapter: &FoundAdapter, cap: Option<u64>) -> u64 {
    let spare = usual_budget(adapter);
    let free = match adapter.description.kind {
        "discrete" | "virtual" => free_bytes(&adapter.handle).map_or(u64::MAX, |bytes| bytes / 10 * 9),
        _ => u64::MAX,
    };
    spare.min(free).min(cap.unwrap_or(u64::MAX)).max(MIN_BYTES)
}

/// Returns the bytes that a job may use on a device that no other program uses.
pub fn usual_budget(adapter: &FoundAdapter) -> u64 {
    spare_bytes(adapter.description.kind, adapter.description.memory_bytes)
}

/// Returns whether a memory limit slows down a job. It does if it is small both in absolute terms
/// and compared with the usual budget.
pub fn is_short(adapter: &FoundAdapter, memory: u64) -> bool {
    memory < SHORT_BYTES && memory < usual_budget(adapter) / 2
}

fn spare_bytes(kind: &str, memory: Option<u64>) -> u64 {
    match (kind, memory) {
        ("discrete" | "virtual", Some(bytes)) => bytes / 10 * 7,
        ("discrete" | "virtual", None) => 2 * GIB,
        ("integrated", Some(bytes)) => (bytes / 4).min(4 * GIB),
        ("integrated", None) => GIB,
        (_, Some(bytes)) => (bytes / 4).min(GIB),
        (_, None) => 512 * MIB,
    }
}

/// Division of an engine's memory. One eighth remains for lists of tasks and targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryShares {
    /// Bytes for the values that `nw_slice` keeps between slices: an eighth.
    pub scratch_bytes: u64,
    /// Bytes for the borders and directions of the other kernels: three eighths.
    pub arena_bytes: u64,
    /// Bytes of one buffer of sequences: a sixteenth, because two batches may each have their own
    /// queries and targets.
    pub store_bytes: u64,
    /// Bytes of the results of a batch on the device: a thirty-second. Two batches have results,
    /// each in a buffer on the device and in a staging buffer.
    pub output_bytes: u64,
    /// Largest number of pairs in a batch, given that each pair has at most three u32 of results.
    pub pairs: u64,
}

impl MemoryShares {
    /// Divides `memory` bytes.
    pub fn new(memory: u64) -> Self {
        let output_bytes = memory / 32;
        MemoryShares {
            scratch_bytes: memory / 8,
            arena_bytes: memory / 8 * 3,
            store_bytes: memory / 16,
            output_bytes,
            pairs: (output_bytes / 16).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;

    #[test]
    fn budget_is_most_of_a_cards_memory_and_a_quarter_of_shared_memory() {
        let spare = |kind, gib: u64| spare_bytes(kind, Some(gib * GIB)) as f64 / GIB as f64;
        for gib in [1, 8, 141] {
            assert!((spare("discrete", gib) / gib as f64 - 0.7).abs() < 1e-6);
        }
        assert_eq!([spare("integrated", 8), spare("integrated", 64)], [2.0, 4.0]);
        assert_eq!([spare("cpu", 2), spare("cpu", 64)], [0.5, 1.0]);
        let unknown = ["discrete", "integrated", "cpu", "other"].map(|kind| spare_bytes(kind, None) / MIB);
        assert_eq!(unknown, [2048, 1024, 512, 512]);
    }

    #[test]
    fn adapter_reports_its_memory_and_the_cap_holds() {
        let Some(adapter) = enumerate().into_iter().next() else {
            panic!("no adapter runs compute shaders here: install software Vulkan (Debian: mesa-vulkan-drivers)");
        };
        if adapter.description.backend == "vulkan" {
            assert!(
                adapter.description.memory_bytes.is_some_and(|bytes| bytes >= 256 * MIB),
                "{:?}",
                adapter.description
            );
        }
        let budget = memory_budget(&adapter, None);
        assert!(budget >= MIN_BYTES);
        assert_eq!(memory_budget(&adapter, Some(MIN_BYTES)), MIN_BYTES);
        assert_eq!(memory_budget(&adapter, Some(u64::MAX)), budget);
        // Small, and small compared with the usual budget.
        let usual = usual_budget(&adapter);
        assert!(is_short(&adapter, MIN_BYTES) && !is_short(&adapter, usual) && !is_short(&adapter, SHORT_BYTES));
    }

    #[test]
    fn shares_leave_an_eighth() {
        for memory in [MIN_BYTES, GIB, 100 * GIB] {
            let parts = MemoryShares::new(memory);
            let taken = parts.scratch_bytes + parts.arena_bytes + 4 * parts.store_bytes + 4 * parts.output_bytes;
            assert!(taken <= memory - memory / 8, "{memory}: {taken}");
        }
    }
}
