//! How ranks hear of each other.

use crate::distributed::dispatch::Rank;

/// Carries messages between the ranks of one job: by MPI, or in a test within one process. All calls are from one thread, and
/// messages from one rank to another arrive in the order in which they were sent.
pub trait Wire {
    /// The number of this rank.
    fn rank(&self) -> Rank;

    /// How many there are.
    fn ranks(&self) -> usize;

    /// Sends a message of any length. Does not wait until it has arrived.
    fn send(&mut self, to: Rank, message: Vec<u8>);

    /// The next message that has arrived, with the rank that sent it. Does not wait for one.
    fn poll(&mut self) -> Option<(Rank, Vec<u8>)>;

    /// Hands what rank 0 gives to all, who call this as well. Waits for them.
    fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8>;

    /// What each rank of this machine gives, by their numbers, and this one's place among them. All of them call this.
    fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>);
}

#[cfg(test)]
pub(super) mod mock {
    //! Ranks that are threads of one process.

    use super::*;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    type Boxes = Vec<VecDeque<(Rank, Vec<u8>)>>;

    /// One rank's end.
    pub(in crate::distributed::ranks) struct Thread {
        rank: Rank,
        boxes: Arc<Mutex<Boxes>>,
        told: Arc<Mutex<Boxes>>,
    }

    /// So many ranks.
    pub(in crate::distributed::ranks) fn threads(ranks: usize) -> Vec<Thread> {
        let boxes = || Arc::new(Mutex::new(vec![VecDeque::new(); ranks]));
        let (boxes, told) = (boxes(), boxes());
        (0..ranks).map(|rank| Thread { rank, boxes: Arc::clone(&boxes), told: Arc::clone(&told) }).collect()
    }

    impl Wire for Thread {
        fn rank(&self) -> Rank {
            self.rank
        }

        fn ranks(&self) -> usize {
            self.boxes.lock().unwrap().len()
        }

        fn send(&mut self, to: Rank, message: Vec<u8>) {
            self.boxes.lock().unwrap()[to].push_back((self.rank, message));
        }

        fn poll(&mut self) -> Option<(Rank, Vec<u8>)> {
            self.boxes.lock().unwrap()[self.rank].pop_front()
        }

        fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8> {
            if self.rank == 0 {
                for to in &mut self.told.lock().unwrap()[1..] {
                    to.push_back((0, given.clone()));
                }
                return given;
            }
            loop {
                if let Some((_, told)) = self.told.lock().unwrap()[self.rank].pop_front() {
                    return told;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>) {
            (0, vec![given])
        }
    }
}
