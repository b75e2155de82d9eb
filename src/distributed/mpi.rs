//! Ranks that hear of each other by MPI.
//!
//! Only the thread that began it calls MPI. Nothing is waited for in MPI itself but what all ranks do at the same time: whoever
//! waits there takes a processor from those who compute.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use mpi::environment::Universe;
use mpi::point_to_point::MatchedReceiveVec as _;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Tag, Threading};

use super::dispatch::Rank;
use super::ranks::Wire;
use crate::error::{Error, Result};

/// Bytes that are sent in one piece: MPI counts with 31 bits.
const PIECE: usize = 1 << 28;
/// A piece of a message that goes on.
const MORE: Tag = 1;
/// The last piece of a message.
const LAST: Tag = 2;
/// How long it is waited for the others without taking a processor.
const PAUSE: Duration = Duration::from_millis(1);
/// How long the end waits for messages that nobody takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes on their way.
struct Sending {
    /// `None` when they have arrived.
    request: Option<Request<'static, [u8], StaticScope>>,
    bytes: *mut [u8],
}

impl Sending {
    /// Whether they have arrived, and need not be kept.
    fn has_arrived(&mut self) -> bool {
        match self.request.take().map(Request::test) {
            Some(Err(request)) => {
                self.request = Some(request);
                false
            }
            _ => true,
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        match self.request.take() {
            // MPI still reads them: they stay where they are until the process ends.
            Some(request) => std::mem::forget(request),
            // SAFETY: the pointer came from a box that nobody else has, and MPI has done with it.
            None => drop(unsafe { Box::from_raw(self.bytes) }),
        }
    }
}

/// The ranks of one `mpirun`.
pub struct Mpi {
    /// Before the communicators, which are of no use without it.
    sending: Vec<Sending>,
    /// Messages of which not all pieces have arrived.
    begun: BTreeMap<Rank, Vec<u8>>,
    world: SimpleCommunicator,
    machine: SimpleCommunicator,
    /// Ends MPI when it is dropped, which waits for all ranks.
    _universe: Universe,
}

impl Mpi {
    /// Begins MPI. To be called once, by the thread that `main` runs in.
    ///
    /// # Errors
    /// [`Error::Usage`] if the library cannot have other threads beside this one; [`Error::Internal`] if it was begun before.
    pub fn begin() -> Result<Self> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(Error::Internal("MPI was begun twice".into()));
        };
        if threading < Threading::Funneled {
            return Err(Error::usage("this MPI library allows one thread a process; one is needed that allows more"));
        }
        let world = universe.world();
        let machine = world.split_shared(world.rank());
        Ok(Mpi { sending: Vec::new(), begun: BTreeMap::new(), world, machine, _universe: universe })
    }

    /// The library, in words.
    pub fn library() -> String {
        let text = mpi::environment::library_version().unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        line.split(',').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Waits until what was sent has arrived, and for all ranks.
    pub fn end(mut self) {
        let begin = Instant::now();
        while !self.sweep() && begin.elapsed() < PATIENCE {
            sleep(PAUSE);
        }
        self.meet();
    }

    /// Ends all ranks at once, those that do not answer as well.
    pub fn abort(self, code: u8) -> ! {
        self.world.abort(code.into())
    }

    /// Lets go of what has arrived; whether that is all.
    fn sweep(&mut self) -> bool {
        self.sending.retain_mut(|sending| !sending.has_arrived());
        self.sending.is_empty()
    }

    /// Waits for all ranks, but takes no processor.
    fn meet(&self) {
        let mut request = self.world.immediate_barrier();
        while let Err(again) = request.test() {
            request = again;
            sleep(PAUSE);
        }
    }

    fn send_piece(&mut self, to: Rank, tag: Tag, piece: Box<[u8]>) {
        let bytes = Box::into_raw(piece);
        // SAFETY: nobody writes these bytes, and they are freed only when MPI has done with them, see `Sending`.
        let lent: &'static [u8] = unsafe { &*bytes };
        let process = self.world.process_at_rank(to as i32);
        let request = process.immediate_send_with_tag(StaticScope, lent, tag);
        self.sending.push(Sending { request: Some(request), bytes });
    }
}

/// Hands what the first process of a communicator gives to all others.
fn spread(among: &SimpleCommunicator, from: i32, mut given: Vec<u8>) -> Vec<u8> {
    let root = among.process_at_rank(from);
    let mut length = given.len() as u64;
    root.broadcast_into(&mut length);
    given.resize(length as usize, 0);
    given.chunks_mut(PIECE).for_each(|piece| root.broadcast_into(piece));
    given
}

impl Wire for Mpi {
    fn rank(&self) -> Rank {
        self.world.rank() as Rank
    }

    fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    fn send(&mut self, to: Rank, mut message: Vec<u8>) {
        self.sweep();
        while message.len() > PIECE {
            let rest = message.split_off(PIECE);
            self.send_piece(to, MORE, message.into_boxed_slice());
            message = rest;
        }
        self.send_piece(to, LAST, message.into_boxed_slice());
    }

    fn poll(&mut self) -> Option<(Rank, Vec<u8>)> {
        self.sweep();
        loop {
            let (piece, status) = self.world.any_process().immediate_matched_probe()?.matched_receive_vec::<u8>();
            let from = status.source_rank() as Rank;
            let message = match self.begun.remove(&from) {
                Some(mut begun) => {
                    begun.extend(piece);
                    begun
                }
                None => piece,
            };
            if status.tag() == LAST {
                return Some((from, message));
            }
            self.begun.insert(from, message);
        }
    }

    fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8> {
        self.meet();
        spread(&self.world, 0, given)
    }

    fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>) {
        let own = self.machine.rank();
        let of = |rank| spread(&self.machine, rank, if rank == own { given.clone() } else { Vec::new() });
        (own as usize, (0..self.machine.size()).map(of).collect())
    }
}
