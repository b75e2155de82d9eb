//! A counting allocator, and a lock for the tests that use it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of allocated bytes.
pub(crate) static NOW: AtomicUsize = AtomicUsize::new(0);
/// Largest number of allocated bytes.
pub(crate) static MAX: AtomicUsize = AtomicUsize::new(0);

/// Waits until no other test allocates.
pub(crate) fn lock_allocations() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Counting;

// SAFETY: all calls are forwarded to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MAX.fetch_max(NOW.fetch_add(layout.size(), SeqCst) + layout.size(), SeqCst);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;
