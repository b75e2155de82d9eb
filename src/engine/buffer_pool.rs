//! Reuses buffers and workspaces instead of allocating new ones.
//!
//! Each new allocation of a large buffer costs one page fault for every 4 KiB written, and page
//! faults of many threads wait for each other.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, Weak};

/// A pool of unused buffers, of any capacity.
pub struct BufferPool<T> {
    buffers: Arc<Mutex<Vec<Vec<T>>>>,
}

/// A buffer that returns to its pool when it is dropped, if the pool still exists.
pub struct PooledVec<T> {
    buffer: Vec<T>,
    pool: Weak<Mutex<Vec<Vec<T>>>>,
}

impl<T> Default for BufferPool<T> {
    fn default() -> Self {
        BufferPool { buffers: Arc::default() }
    }
}

impl<T> BufferPool<T> {
    /// Returns an empty buffer: the most recently returned one, or a new one.
    pub fn take(&self) -> PooledVec<T> {
        let mut buffers = self.buffers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let buffer = buffers.pop().unwrap_or_default();
        PooledVec { buffer, pool: Arc::downgrade(&self.buffers) }
    }
}

impl<T> From<Vec<T>> for PooledVec<T> {
    /// Wraps a buffer that belongs to no pool.
    fn from(buffer: Vec<T>) -> Self {
        PooledVec { buffer, pool: Weak::new() }
    }
}

impl<T> Default for PooledVec<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone> Clone for PooledVec<T> {
    /// Clones the content. The clone belongs to no pool.
    fn clone(&self) -> Self {
        self.buffer.clone().into()
    }
}

impl<T: PartialEq> PartialEq for PooledVec<T> {
    fn eq(&self, other: &Self) -> bool {
        self.buffer == other.buffer
    }
}

impl<T: Eq> Eq for PooledVec<T> {}

impl<T: fmt::Debug> fmt::Debug for PooledVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.buffer.fmt(f)
    }
}

impl<T> Deref for PooledVec<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.buffer
    }
}

impl<T> DerefMut for PooledVec<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.buffer
    }
}

impl<T> Drop for PooledVec<T> {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.upgrade().filter(|_| self.buffer.capacity() > 0) {
            self.buffer.clear();
            let buffer = std::mem::take(&mut self.buffer);
            pool.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(buffer);
        }
    }
}

/// Workspaces for the items of a parallel iterator. Each thread that computes an item takes one, so
/// there are at most as many as threads. (`map_init` creates one for each group of items that a
/// thread takes at once, which is far more often.)
#[derive(Debug)]
pub(crate) struct WorkspacePool<T> {
    unused: Mutex<Vec<T>>,
}

impl<T> Default for WorkspacePool<T> {
    fn default() -> Self {
        WorkspacePool { unused: Mutex::default() }
    }
}

impl<T: Default> WorkspacePool<T> {
    /// Calls a function with an unused workspace, which has the content of its last use, or with a
    /// new one. A workspace is not used again after a panic.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        let unused = || self.unused.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let taken = unused().pop();
        let mut workspace = taken.unwrap_or_default();
        let result = f(&mut workspace);
        unused().push(workspace);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_used_again() {
        let pool = WorkspacePool::<Vec<u8>>::default();
        pool.with(|outer| {
            outer.push(1);
            assert_eq!(pool.with(|inner| inner.len()), 0, "the other one is in use");
            pool.with(|inner| inner.push(2));
        });
        assert_eq!(pool.with(|last| last.clone()), [1]);
        assert_eq!(pool.unused.lock().unwrap().len(), 2);
        let panics = || pool.with(|_| panic!("by script"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
        assert_eq!(pool.unused.lock().unwrap()[..], [vec![2]]);
    }

    #[test]
    fn returned_buffers_are_cleared_and_reused() {
        let pool = BufferPool::default();
        let mut first = pool.take();
        first.extend([1, 2, 3]);
        let (address, copy) = (first.as_ptr(), first.clone());
        drop(first);
        let again = pool.take();
        assert!(again.is_empty() && again.capacity() >= 3 && again.as_ptr() == address);
        drop(copy);
        let other = pool.take();
        assert_eq!(other.capacity(), 0, "a clone belongs to no pool");
        drop((again, other));
        assert_eq!(pool.buffers.lock().unwrap().len(), 1, "a buffer without memory is not kept");
        let last = pool.take();
        drop(pool);
        drop(last);
    }
}
