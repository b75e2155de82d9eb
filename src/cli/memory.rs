//! The program's allocator, which remembers that the system had no memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an allocation failed.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// Returns whether the system had no memory for an allocation. A signal handler may call it: Rust ends a process without
/// memory by SIGABRT.
pub(super) fn is_short() -> bool {
    IS_SHORT.load(Ordering::Relaxed)
}

struct Remembering;

fn remember(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        IS_SHORT.store(true, Ordering::Relaxed);
    }
    memory
}

// SAFETY: every method passes its arguments to the system's allocator, and returns what that returns.
unsafe impl GlobalAlloc for Remembering {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller meets the conditions of `GlobalAlloc`, and the system's allocator has no others.
        remember(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        remember(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `alloc`.
        remember(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as for `alloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Remembering = Remembering;
