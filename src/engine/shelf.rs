//! Buffers that are used again: a buffer that is given to the system and asked for once more costs a page fault for every
//! 4 KiB that are written, and many threads wait for each other in these.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, Weak};

/// Buffers that wait to be used again, of whatever capacity they came to have.
pub struct Shelf<T> {
    buffers: Arc<Mutex<Vec<Vec<T>>>>,
}

/// A buffer that goes back to its shelf when it is dropped, if there still is one.
pub struct Lent<T> {
    buffer: Vec<T>,
    shelf: Weak<Mutex<Vec<Vec<T>>>>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Shelf { buffers: Arc::default() }
    }
}

impl<T> Shelf<T> {
    /// An empty buffer, the one that came back last if there is any.
    pub fn take(&self) -> Lent<T> {
        let mut buffers = self.buffers.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let buffer = buffers.pop().unwrap_or_default();
        Lent { buffer, shelf: Arc::downgrade(&self.buffers) }
    }
}

impl<T> From<Vec<T>> for Lent<T> {
    /// A buffer that goes nowhere.
    fn from(buffer: Vec<T>) -> Self {
        Lent { buffer, shelf: Weak::new() }
    }
}

impl<T> Default for Lent<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone> Clone for Lent<T> {
    /// The copy goes nowhere.
    fn clone(&self) -> Self {
        self.buffer.clone().into()
    }
}

impl<T: PartialEq> PartialEq for Lent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.buffer == other.buffer
    }
}

impl<T: Eq> Eq for Lent<T> {}

impl<T: fmt::Debug> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.buffer.fmt(f)
    }
}

impl<T> Deref for Lent<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.buffer
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.buffer
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        if let Some(shelf) = self.shelf.upgrade().filter(|_| self.buffer.capacity() > 0) {
            self.buffer.clear();
            let buffer = std::mem::take(&mut self.buffer);
            shelf.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_empty_and_are_lent_again() {
        let shelf = Shelf::default();
        let mut first = shelf.take();
        first.extend([1, 2, 3]);
        let (place, copy) = (first.as_ptr(), first.clone());
        drop(first);
        let again = shelf.take();
        assert!(again.is_empty() && again.capacity() >= 3 && again.as_ptr() == place);
        drop(copy);
        let other = shelf.take();
        assert_eq!(other.capacity(), 0, "a copy is nobody's");
        drop((again, other));
        assert_eq!(shelf.buffers.lock().unwrap().len(), 1, "what holds nothing is not kept");
        let last = shelf.take();
        drop(shelf);
        drop(last);
    }
}
