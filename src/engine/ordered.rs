//! Results of bands, back in input order; and how far they may run ahead of the oldest band that is not complete.
//!
//! Engines finish blocks in any order. [`Ordered`] gathers what came of each band until all of its pairs are there, and
//! gives bands out in the order in which they were planned. What is gathered of later bands waits for the oldest one, which
//! an engine may hold that is a hundred times slower than the others, or that is about to be given up. [`Ahead`] bounds that:
//! [`Ordered`] writes there how much waits, and the queue plans no further band while that is too much.
//!
//! Nobody waits in vain for that. Work of planned bands is always handed out, the oldest band is planned before all that
//! wait for it, and what an engine gives back of it is the next to be taken.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::work::BandInfo;
use crate::error::{Error, Result};
use crate::seq::SequenceId;

/// Bytes of results that wait for an older band, beyond which no band is planned. Results of a second on the fastest devices.
const MOST_BYTES: u64 = 1 << 30;
/// Bands that are planned at most beyond the oldest that is not complete: where few pairs pass a filter, hardly a byte waits,
/// but blocks that one engine refuses and the other has no time for would pile up.
const MOST_BANDS: usize = 256;

/// How far bands may be planned ahead of the oldest that was not given out. [`Ordered`] writes where it stands, the queue
/// looks.
#[derive(Debug)]
pub struct Ahead {
    /// The band whose turn it is.
    next: AtomicUsize,
    /// Bytes that wait for it.
    bytes: AtomicU64,
    most_bytes: u64,
    most_bands: usize,
}

impl Default for Ahead {
    /// As far as they like, where nothing waits for its turn.
    fn default() -> Self {
        Self::new(u64::MAX, usize::MAX)
    }
}

impl Ahead {
    fn new(most_bytes: u64, most_bands: usize) -> Self {
        Ahead { next: AtomicUsize::new(0), bytes: AtomicU64::new(0), most_bytes, most_bands }
    }

    /// As far as [`Ahead::open`] says.
    pub fn closed() -> Self {
        Self::new(u64::MAX, 0)
    }

    /// The first so many bands may be planned; at least one.
    pub fn open(&self, bands: usize) {
        self.next.store(bands.max(1) - 1, Ordering::Relaxed);
    }

    /// The band whose turn it is: bands before it were given out.
    pub fn next(&self) -> usize {
        self.next.load(Ordering::Relaxed)
    }

    /// Whether this band may be planned.
    pub fn admits(&self, band: usize) -> bool {
        let next = self.next();
        band <= next || band - next <= self.most_bands && self.bytes.load(Ordering::Relaxed) < self.most_bytes
    }
}

/// A band whose results are coming in.
struct Open<B> {
    info: Arc<BandInfo>,
    pairs_left: u64,
    /// What `gathered` takes.
    bytes: u64,
    gathered: B,
}

/// Gathers results of bands, a `B` for each, and gives them out in order.
pub struct Ordered<B> {
    open: BTreeMap<usize, Open<B>>,
    /// The band whose turn it is.
    next: usize,
    /// Of all open bands.
    bytes: u64,
    ahead: Arc<Ahead>,
}

impl<B> Default for Ordered<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Ordered<B> {
    /// Nothing gathered yet. Bands may be planned as far ahead as fits a usual computer and keeps the fastest devices busy.
    pub fn new() -> Self {
        Self::with_limits(MOST_BYTES, MOST_BANDS)
    }

    /// The same; a band may be planned while less than `most_bytes` of results wait for the oldest that was not given out, and
    /// at most so many bands after it.
    pub fn with_limits(most_bytes: u64, most_bands: usize) -> Self {
        let ahead = Arc::new(Ahead::new(most_bytes, most_bands));
        Ordered { open: BTreeMap::new(), next: 0, bytes: 0, ahead }
    }

    /// What the queue has to look at before it plans.
    pub fn ahead(&self) -> Arc<Ahead> {
        Arc::clone(&self.ahead)
    }

    /// `pairs` pairs of a band are finished: `gather` adds their results to what is there of the band, which `begin` makes
    /// for the first, and says how many bytes more that takes.
    ///
    /// # Errors
    /// [`Error::Internal`] if the band has not so many pairs left; what `gather` returns.
    pub fn add(
        &mut self,
        info: &Arc<BandInfo>,
        pairs: u64,
        begin: impl FnOnce() -> B,
        gather: impl FnOnce(&mut B) -> Result<u64>,
    ) -> Result<()> {
        if pairs == 0 {
            // An engine left all blocks; others may have finished them, and the band, before it could say so.
            return Ok(());
        }
        let too_many = || Error::Internal(format!("band {} has more pairs than it began with", info.index));
        if info.index < self.next {
            return Err(too_many());
        }
        let band = self.open.entry(info.index).or_insert_with(|| {
            let bytes = size_of::<Open<B>>() as u64;
            self.bytes += bytes;
            Open { info: Arc::clone(info), pairs_left: info.pairs, bytes, gathered: begin() }
        });
        band.pairs_left = band.pairs_left.checked_sub(pairs).ok_or_else(too_many)?;
        let more = gather(&mut band.gathered)?;
        band.bytes += more;
        self.bytes += more;
        self.tell();
        Ok(())
    }

    /// The next band, if it is complete: its queries and what was gathered.
    pub fn complete(&mut self) -> Option<(Range<SequenceId>, B)> {
        let entry = self.open.first_entry()?;
        if *entry.key() != self.next || entry.get().pairs_left > 0 {
            return None;
        }
        let band = entry.remove();
        self.next += 1;
        self.bytes -= band.bytes;
        self.tell();
        Some((band.info.queries.clone(), band.gathered))
    }

    /// Bands that are open: begun and not given out.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// There is nothing more to come.
    ///
    /// # Errors
    /// [`Error::Internal`] if a band is not complete.
    pub fn end(self) -> Result<()> {
        match self.open.first_key_value() {
            None => Ok(()),
            Some((index, band)) => Err(Error::Internal(format!("band {index} is short of {} pairs", band.pairs_left))),
        }
    }

    /// Says where it stands. The band whose turn it is waits for none.
    fn tell(&self) {
        let own = self.open.get(&self.next).map_or(0, |band| band.bytes);
        self.ahead.bytes.store(self.bytes - own, Ordering::Relaxed);
        self.ahead.next.store(self.next, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(index: usize, pairs: u64) -> Arc<BandInfo> {
        let first = index as SequenceId;
        Arc::new(BandInfo { index, queries: first..first + 1, pairs })
    }

    fn add(ordered: &mut Ordered<Vec<u64>>, index: usize, pairs: u64, bytes: u64) -> Result<()> {
        ordered.add(&info(index, 4), pairs, Vec::new, |all| {
            all.push(pairs);
            Ok(bytes)
        })
    }

    #[test]
    fn bands_come_out_in_order_when_they_are_complete() {
        let mut ordered = Ordered::new();
        add(&mut ordered, 1, 4, 0).unwrap();
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!((ordered.complete(), ordered.open()), (None, 2));
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(ordered.complete(), Some((1..2, vec![4])));
        assert_eq!((ordered.complete(), ordered.open()), (None, 0));
        // An engine that finished nothing may say so when others have done its work.
        add(&mut ordered, 0, 0, 0).unwrap();
        assert_eq!(ordered.open(), 0);
        ordered.end().unwrap();
    }

    #[test]
    fn pairs_too_many_or_too_few_are_errors() {
        let message = |result: Result<()>| result.unwrap_err().to_string();
        let mut ordered = Ordered::new();
        let more = "internal error: band 0 has more pairs than it began with";
        add(&mut ordered, 0, 3, 0).unwrap();
        assert_eq!(message(add(&mut ordered, 0, 2, 0)), more);
        add(&mut ordered, 0, 1, 0).unwrap();
        assert_eq!(ordered.complete(), Some((0..1, vec![3, 1])));
        assert_eq!(message(add(&mut ordered, 0, 1, 0)), more, "it was given out");
        add(&mut ordered, 2, 3, 0).unwrap();
        assert_eq!(message(ordered.end()), "internal error: band 2 is short of 1 pairs");
    }

    #[test]
    fn what_waits_for_an_older_band_counts() {
        let own = size_of::<Open<Vec<u64>>>() as u64;
        let mut ordered = Ordered::with_limits(own + 100, 3);
        let ahead = ordered.ahead();
        // The band whose turn it is may have as much as it likes.
        add(&mut ordered, 0, 1, 1_000_000).unwrap();
        assert!(ahead.admits(3) && !ahead.admits(4));
        add(&mut ordered, 1, 1, 99).unwrap();
        assert!(ahead.admits(3));
        add(&mut ordered, 1, 1, 1).unwrap();
        assert!(!ahead.admits(2) && ahead.admits(0), "what others wait for is planned in any case");
        add(&mut ordered, 0, 3, 0).unwrap();
        assert!(!ahead.admits(2));
        ordered.complete().unwrap();
        assert!(ahead.admits(4) && !ahead.admits(5), "it is the next band's turn, which waits for none");
        assert!(Ahead::default().admits(usize::MAX));
    }
    #[test]
    fn what_is_closed_is_planned_as_far_as_it_was_opened() {
        let ahead = Ahead::closed();
        assert!(ahead.admits(0) && !ahead.admits(1), "the first is planned in any case");
        for bands in [0, 1, 2, 3, 300, 299, 1, usize::MAX - 1, usize::MAX] {
            ahead.open(bands);
            let most = bands.max(1);
            let near = (most.saturating_sub(3)..most.saturating_add(3)).chain([0, 1, usize::MAX - 1]);
            for band in near {
                assert_eq!(ahead.admits(band), band < most, "band {band} of {bands}");
            }
        }
    }
}
