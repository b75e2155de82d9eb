//! The connection between ranks.

use crate::distributed::dispatch::Rank;

/// Carries messages between the ranks of one job, over MPI, or within one process in tests. Only
/// one thread of each rank calls it. Messages from one rank to another arrive in the order in which
/// they were sent.
pub trait Wire {
    /// Returns the number of this rank.
    fn rank(&self) -> Rank;

    /// Returns the number of ranks.
    fn ranks(&self) -> usize;

    /// Sends a message of any length. Does not wait for its arrival.
    fn send(&mut self, to: Rank, message: Vec<u8>);

    /// Returns the next message and its sender, if a message has arrived. Does not wait.
    fn poll(&mut self) -> Option<(Rank, Vec<u8>)>;

    /// Sends `given` of rank 0 to all ranks. All ranks call it, and it waits for them.
    fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8>;

    /// Exchanges `given` among the ranks of this machine. Returns the index of this rank on the
    /// machine and the bytes of each rank. All ranks of the machine call it.
    fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>);
}

#[cfg(test)]
pub(super) mod mock {
    //! Ranks that are threads of one process.

    use super::super::LEAD;
    use super::*;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    type Boxes = Vec<VecDeque<(Rank, Vec<u8>)>>;

    /// The connection of one rank.
    pub(in crate::distributed::ranks) struct ThreadWire {
        rank: Rank,
        boxes: Arc<Mutex<Boxes>>,
        broadcasts: Arc<Mutex<Boxes>>,
    }

    /// Connects `ranks` ranks.
    pub(in crate::distributed::ranks) fn thread_wires(ranks: usize) -> Vec<ThreadWire> {
        let boxes = || Arc::new(Mutex::new(vec![VecDeque::new(); ranks]));
        let (boxes, broadcasts) = (boxes(), boxes());
        (0..ranks)
            .map(|rank| ThreadWire { rank: Rank(rank), boxes: Arc::clone(&boxes), broadcasts: Arc::clone(&broadcasts) })
            .collect()
    }

    impl Wire for ThreadWire {
        fn rank(&self) -> Rank {
            self.rank
        }

        fn ranks(&self) -> usize {
            self.boxes.lock().unwrap().len()
        }

        fn send(&mut self, to: Rank, message: Vec<u8>) {
            self.boxes.lock().unwrap()[to.0].push_back((self.rank, message));
        }

        fn poll(&mut self) -> Option<(Rank, Vec<u8>)> {
            self.boxes.lock().unwrap()[self.rank.0].pop_front()
        }

        fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8> {
            if self.rank == LEAD {
                for to in &mut self.broadcasts.lock().unwrap()[1..] {
                    to.push_back((LEAD, given.clone()));
                }
                return given;
            }
            loop {
                if let Some((_, broadcasts)) = self.broadcasts.lock().unwrap()[self.rank.0].pop_front() {
                    return broadcasts;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>) {
            (0, vec![given])
        }
    }
}
