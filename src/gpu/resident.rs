//! What lies on a device from batch to batch: sequences, query profiles, lists, evicted by use.
//!
//! Everything is made from something that the host holds in an [`Arc`], whose pointer names it. Residents hold that
//! weakly: a store that the host has dropped can never be asked for again and is evicted first, and until then its
//! pointer is not used for another.

use std::any::{Any, TypeId};
use std::sync::{Arc, Weak};

/// What lies on the device, up to a number of bytes.
///
/// Whoever uses an entry holds its [`Arc`]: what a batch in flight uses is never evicted, since that would free nothing.
/// Only such entries can take the sum above the budget.
#[derive(Default)]
pub struct Residents {
    entries: Vec<Entry>,
    /// Bytes that all entries together should take at most.
    budget: u64,
    /// Counts uses.
    now: u64,
}

struct Entry {
    /// What it was made from; `None` for what nobody will ask for again.
    source: Option<Box<dyn Source>>,
    kind: TypeId,
    value: Arc<dyn Any + Send + Sync>,
    bytes: u64,
    /// When it was last asked for.
    used: u64,
}

/// Something that the host holds, known weakly.
trait Source: Send + Sync {
    /// Whether the host still holds it.
    fn is_there(&self) -> bool;

    /// Where it is.
    fn address(&self) -> *const ();
}

impl<S: Send + Sync + ?Sized> Source for Weak<S> {
    fn is_there(&self) -> bool {
        self.strong_count() > 0
    }

    fn address(&self) -> *const () {
        self.as_ptr().cast()
    }
}

impl Entry {
    /// Whether a batch in flight holds it.
    fn is_held(&self) -> bool {
        Arc::strong_count(&self.value) > 1
    }

    /// Whether somebody may ask for it again.
    fn is_wanted(&self) -> bool {
        self.source.as_ref().is_some_and(|source| source.is_there())
    }

    fn is_from<S: ?Sized>(&self, source: &Arc<S>) -> bool {
        self.source.as_ref().is_some_and(|own| std::ptr::addr_eq(own.address(), Arc::as_ptr(source)))
    }
}

impl Residents {
    /// None yet, and at most so many bytes.
    pub fn new(budget: u64) -> Self {
        Residents { budget, ..Residents::default() }
    }

    /// Changes the number of bytes; what lies there stays until room is made.
    pub fn set_budget(&mut self, bytes: u64) {
        self.budget = bytes;
    }

    /// Bytes that all entries should take at most.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes of all entries.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    /// The entry that was made from `source`, is a `T`, and of which `is` holds.
    pub fn find<S, T>(&mut self, source: &Arc<S>, is: impl Fn(&T) -> bool) -> Option<Arc<T>>
    where
        S: Send + Sync + ?Sized + 'static,
        T: Any + Send + Sync,
    {
        let own = self.entries.iter_mut().filter(|entry| entry.kind == TypeId::of::<T>() && entry.is_from(source));
        for entry in own {
            let Ok(value) = Arc::clone(&entry.value).downcast::<T>() else { continue };
            if is(&value) {
                self.now += 1;
                entry.used = self.now;
                return Some(value);
            }
        }
        None
    }

    /// Evicts until `bytes` more fit, as far as that is possible: first what nobody can ask for again, then what was asked
    /// for longest ago. To be called before they are allocated, so that old and new need not fit at once.
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

    /// Keeps a value that takes so many bytes and can be found again by `source`.
    pub fn keep<S, T>(&mut self, source: &Arc<S>, bytes: u64, value: T) -> Arc<T>
    where
        S: Send + Sync + ?Sized + 'static,
        T: Any + Send + Sync,
    {
        self.put(Some(Box::new(Arc::downgrade(source))), bytes, value)
    }

    /// Counts a value of so many bytes as long as somebody holds it.
    pub fn count<T: Any + Send + Sync>(&mut self, bytes: u64, value: T) -> Arc<T> {
        self.put(None, bytes, value)
    }

    fn put<T: Any + Send + Sync>(&mut self, source: Option<Box<dyn Source>>, bytes: u64, value: T) -> Arc<T> {
        let value = Arc::new(value);
        self.now += 1;
        let (kind, kept) = (TypeId::of::<T>(), Arc::clone(&value) as Arc<dyn Any + Send + Sync>);
        self.entries.push(Entry { source, kind, value: kept, bytes, used: self.now });
        value
    }

    /// Evicts all that no batch holds; gives its bytes.
    pub fn clear(&mut self) -> u64 {
        let before = self.bytes();
        self.entries.retain(Entry::is_held);
        before - self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands for a buffer: its content.
    #[derive(Debug, PartialEq)]
    struct Buffer(u32);

    fn any(_: &Buffer) -> bool {
        true
    }

    /// Finds or makes what a source has on the device, of 10 bytes; whether it was there.
    fn get(residents: &mut Residents, source: &Arc<u32>) -> (Arc<Buffer>, bool) {
        if let Some(found) = residents.find(source, any) {
            assert_eq!(found.0, **source, "of another source");
            return (found, true);
        }
        residents.make_room(10);
        (residents.keep(source, 10, Buffer(**source)), false)
    }

    #[test]
    fn what_was_used_last_stays() {
        let sources: Vec<Arc<u32>> = (0..4).map(Arc::new).collect();
        let mut residents = Residents::new(35);
        let mut was_there =
            |order: &[usize]| -> Vec<bool> { order.iter().map(|&at| get(&mut residents, &sources[at]).1).collect() };
        assert_eq!(was_there(&[0, 1, 2, 0]), [false, false, false, true]);
        // The fourth takes the place of the second, which was asked for longest ago.
        assert_eq!(was_there(&[3, 0, 2, 1]), [false, true, true, false]);
        assert_eq!(was_there(&[3]), [false], "it was the oldest when the second came back");
        assert_eq!(residents.bytes(), 30);
    }

    #[test]
    fn what_is_held_stays_and_counts() {
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
    fn what_nobody_can_ask_for_goes_first() {
        let mut residents = Residents::new(100);
        let old = Arc::new(0);
        get(&mut residents, &old);
        for number in 1..50 {
            // A new allocation may get the address of one that was dropped, if nothing prevents it.
            let source = Arc::new(number);
            assert!(!get(&mut residents, &source).1, "{number} was never made");
            assert!(residents.bytes() <= 30);
        }
        let passing = residents.count(10, Buffer(99));
        residents.make_room(0);
        assert_eq!(residents.bytes(), 20, "the first, and what is held");
        drop(passing);
        residents.make_room(0);
        assert_eq!(residents.bytes(), 10);
        assert!(get(&mut residents, &old).1);
    }

    #[test]
    fn one_source_may_have_several() {
        #[derive(Debug, PartialEq)]
        struct Profile(u32);
        let source = Arc::new(7);
        let mut residents = Residents::new(100);
        residents.keep(&source, 1, Buffer(1));
        residents.keep(&source, 2, Buffer(2));
        residents.keep(&source, 4, Profile(2));
        assert_eq!(residents.find(&source, |buffer: &Buffer| buffer.0 == 2).as_deref(), Some(&Buffer(2)));
        assert_eq!(residents.find(&source, |_: &Profile| true).as_deref(), Some(&Profile(2)));
        assert!(residents.find(&source, |profile: &Profile| profile.0 == 1).is_none());
        let held = residents.find(&source, |buffer: &Buffer| buffer.0 == 1);
        assert_eq!((residents.clear(), residents.bytes()), (6, 1));
        drop(held);
        assert_eq!((residents.clear(), residents.bytes()), (1, 0));
    }
}
