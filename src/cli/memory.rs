//! Allocator of the program, which records failed allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an allocation failed.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// Returns whether an allocation failed. Safe to call in a signal handler: Rust ends a process
/// without memory with SIGABRT.
pub(super) fn is_short() -> bool {
    IS_SHORT.load(Ordering::Relaxed)
}

/// The system's allocator, which also records whether an allocation failed. The message about a lack of
/// memory depends on it.
pub struct RecordingAllocator;

fn record_address(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        IS_SHORT.store(true, Ordering::Relaxed);
    }
    memory
}

// SAFETY: every method forwards its arguments to the system's allocator and returns its result.
unsafe impl GlobalAlloc for RecordingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller meets the conditions of `GlobalAlloc`, which the system's allocator
        // shares.
        record_address(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller meets the conditions of `GlobalAlloc`.
        record_address(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller meets the conditions of `GlobalAlloc`.
        record_address(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller meets the conditions of `GlobalAlloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}
