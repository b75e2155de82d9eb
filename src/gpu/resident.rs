//! Data that stays on a device from batch to batch: sequences, query profiles and lists. If memory
//! is short, the least recently used data is evicted.
//!
//! Every entry is made from data that the host holds in an [`Arc`], whose pointer identifies it.
//! Entries hold only a weak reference, so they do not keep that data alive. An entry whose data the
//! host has dropped can never be requested again, so it is evicted first. The weak reference keeps
//! the address from being reused for other data until then.

use std::any::{Any, TypeId};
use std::sync::{Arc, Weak};

/// Data on the device, up to a number of bytes.
///
/// The user of an entry holds its [`Arc`]. An entry that a batch in flight uses is never evicted,
/// because that would free no memory. Only such entries can make the total exceed the budget.
#[derive(Default)]
pub struct Residents {
    entries: Vec<ResidentEntry>,
    /// Largest number of bytes of all entries together.
    budget: u64,
    /// Counter that every use of an entry increases.
    now: u64,
}

struct ResidentEntry {
    /// Data that the entry was made from; `None` if it cannot be requested again.
    source: Option<Box<dyn HostSource>>,
    kind: TypeId,
    value: Arc<dyn Any + Send + Sync>,
    bytes: u64,
    /// Value of the counter at the last use.
    used: u64,
}

/// Data on the host, by a weak reference.
trait HostSource: Send + Sync {
    /// Returns whether the host still holds the data.
    fn is_there(&self) -> bool;

    /// Returns the address of the data.
    fn address(&self) -> *const ();
}

impl<S: Send + Sync + ?Sized> HostSource for Weak<S> {
    fn is_there(&self) -> bool {
        self.strong_count() > 0
    }

    fn address(&self) -> *const () {
        self.as_ptr().cast()
    }
}

impl ResidentEntry {
    /// Returns whether a batch in flight holds the entry.
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.value) > 1
    }

    /// Returns whether the entry may be requested again.
    fn is_wanted(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_there())
    }

    fn is_from<S: ?Sized>(&self, source: &Arc<S>) -> bool {
        self.source.as_ref().is_some_and(|entry_source| std::ptr::addr_eq(entry_source.address(), Arc::as_ptr(source)))
    }
}

impl Residents {
    /// Returns an empty collection with a budget in bytes.
    pub fn new(budget: u64) -> Self {
        Residents { budget, ..Residents::default() }
    }

    /// Changes the budget. Entries beyond it stay until [`Residents::make_room`] is called.
    pub fn set_budget(&mut self, bytes: u64) {
        self.budget = bytes;
    }

    /// Returns the largest number of bytes of all entries together.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Returns the bytes of all entries.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// Returns the entry that was made from `source`, has the type `T`, and for which `is` returns
    /// true.
    pub fn find<S, T>(&mut self, source: &Arc<S>, is: impl Fn(&T) -> bool) -> Option<Arc<T>>
    where
        S: Send + Sync + ?Sized + 'static,
        T: Any + Send + Sync,
    {
        let candidates =
            self.entries.iter_mut().filter(|entry| entry.kind == TypeId::of::<T>() && entry.is_from(source));
        for entry in candidates {
            let Ok(value) = Arc::clone(&entry.value).downcast::<T>() else { continue };
            if is(&value) {
                self.now += 1;
                entry.used = self.now;
                return Some(value);
            }
        }
        None
    }

    /// Evicts entries until `bytes` more bytes fit, as far as possible. Evicts entries that cannot
    /// be requested again first, then the least recently used ones. Callers must make room before
    /// they allocate, so that old and new data need not fit at the same time.
    pub fn make_room(&mut self, bytes: u64) {
        self.entries.retain(|entry| entry.is_held() || entry.is_wanted());
        let mut taken = self.bytes();
        while taken.saturating_add(bytes) > self.budget {
            let free = self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_held());
            let Some((oldest, _)) = free.min_by_key(|(_, entry)| entry.used) else { break };
            let entry = self.entries.swap_remove(oldest);
            taken -= entry.bytes;
            tracing::debug!(bytes = entry.bytes, "evicted");
        }
    }

    /// Stores a value of `bytes` bytes, which [`Residents::find`] returns for `source`.
    pub fn keep<S, T>(&mut self, source: &Arc<S>, bytes: u64, value: T) -> Arc<T>
    where
        S: Send + Sync + ?Sized + 'static,
        T: Any + Send + Sync,
    {
        self.put(Some(Box::new(Arc::downgrade(source))), bytes, value)
    }

    /// Counts the bytes of a value until its last user drops it. The value cannot be found.
    pub fn count<T: Any + Send + Sync>(&mut self, bytes: u64, value: T) -> Arc<T> {
        self.put(None, bytes, value)
    }

    fn put<T: Any + Send + Sync>(&mut self, source: Option<Box<dyn HostSource>>, bytes: u64, value: T) -> Arc<T> {
        let value = Arc::new(value);
        self.now += 1;
        let (kind, kept) = (TypeId::of::<T>(), Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
        self.entries.push(ResidentEntry { source, kind, value: kept, bytes, used: self.now });
        value
    }

    /// Evicts all entries that no batch holds, and returns their bytes.
    pub fn clear(&mut self) -> u64 {
        let before = self.bytes();
        self.entries.retain(ResidentEntry::is_held);
        before - self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands for a buffer with this content.
    #[derive(Debug, PartialEq)]
    struct TestBuffer(u32);

    fn any(_: &TestBuffer) -> bool {
        true
    }

    /// Finds or creates the entry of a source, with 10 bytes. Returns whether it existed.
    fn get(residents: &mut Residents, source: &Arc<u32>) -> (Arc<TestBuffer>, bool) {
        if let Some(buffer) = residents.find(source, any) {
            assert_eq!(buffer.0, **source, "of another source");
            return (buffer, true);
        }
        residents.make_room(10);
        (residents.keep(source, 10, TestBuffer(**source)), false)
    }

    #[test]
    fn least_recently_used_entry_is_evicted() {
        let sources: Vec<Arc<u32>> = (0..4).map(Arc::new).collect();
        let mut residents = Residents::new(35);
        let mut was_there =
            |order: &[usize]| -> Vec<bool> { order.iter().map(|&at| get(&mut residents, &sources[at]).1).collect() };
        assert_eq!(was_there(&[0, 1, 2, 0]), [false, false, false, true]);
        // The fourth entry replaces the second one, which is the least recently used.
        assert_eq!(was_there(&[3, 0, 2, 1]), [false, true, true, false]);
        assert_eq!(was_there(&[3]), [false], "it was the oldest when the second came back");
        assert_eq!(residents.bytes(), 30);
    }

    #[test]
    fn held_entries_stay_and_count() {
        let sources: Vec<Arc<u32>> = (0..6).map(Arc::new).collect();
        let mut residents = Residents::new(20);
        let held: Vec<_> = sources[..3].iter().map(|source| get(&mut residents, source).0).collect();
        assert_eq!(residents.bytes(), 30, "nothing can be evicted");
        assert!(sources[..3].iter().all(|source| get(&mut residents, source).1));
        drop(held);
        get(&mut residents, &sources[3]);
        assert_eq!(residents.bytes(), 20);
        assert!(get(&mut residents, &sources[2]).1 && !get(&mut residents, &sources[0]).1);
    }

    #[test]
    fn entries_without_a_source_are_evicted_first() {
        let mut residents = Residents::new(100);
        let old = Arc::new(0);
        get(&mut residents, &old);
        for number in 1..50 {
            // A new allocation may get the address of a dropped one, unless the weak reference
            // prevents it.
            let source = Arc::new(number);
            assert!(!get(&mut residents, &source).1, "{number} was never made");
            assert!(residents.bytes() <= 30);
        }
        let passing = residents.count(10, TestBuffer(99));
        residents.make_room(0);
        assert_eq!(residents.bytes(), 20, "the first, and what is held");
        drop(passing);
        residents.make_room(0);
        assert_eq!(residents.bytes(), 10);
        assert!(get(&mut residents, &old).1);
    }

    #[test]
    fn source_may_have_several_entries() {
        #[derive(Debug, PartialEq)]
        struct TestProfile(u32);
        let source = Arc::new(7);
        let mut residents = Residents::new(100);
        residents.keep(&source, 1, TestBuffer(1));
        residents.keep(&source, 2, TestBuffer(2));
        residents.keep(&source, 4, TestProfile(2));
        assert_eq!(residents.find(&source, |buffer: &TestBuffer| buffer.0 == 2).as_deref(), Some(&TestBuffer(2)));
        assert_eq!(residents.find(&source, |_: &TestProfile| true).as_deref(), Some(&TestProfile(2)));
        assert!(residents.find(&source, |profile: &TestProfile| profile.0 == 1).is_none());
        let held = residents.find(&source, |buffer: &TestBuffer| buffer.0 == 1);
        assert_eq!((residents.clear(), residents.bytes()), (6, 1));
        drop(held);
        assert_eq!((residents.clear(), residents.bytes()), (1, 0));
    }
}
