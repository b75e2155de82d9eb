//! Messages between ranks over MPI.
//!
//! Only the thread that started MPI calls it. A thread that waits inside MPI occupies a processor
//! that could compute. Therefore blocking calls are used only in collective operations.

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

/// Maximum number of bytes in one MPI message. MPI counts with 31 bits.
const PIECE: usize = 1 << 28;
/// Tag of a piece of a message that is not the last.
const MORE: Tag = 1;
/// Tag of the last piece of a message.
const LAST: Tag = 2;
/// Pause between two polls for other ranks.
const PAUSE: Duration = Duration::from_millis(1);
/// Maximum time that the end of the job waits for unreceived messages.
const PATIENCE: Duration = Duration::from_secs(10);

/// A piece of a message that MPI is sending.
struct PendingSend {
    /// `None` when MPI no longer needs the bytes.
    request: Option<Request<'static, [u8], StaticScope>>,
    bytes: *mut [u8],
}

impl PendingSend {
    /// Checks whether MPI no longer needs the bytes.
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

impl Drop for PendingSend {
    fn drop(&mut self) {
        match self.request.take() {
            // MPI still reads the bytes, so they stay allocated until the process ends.
            Some(request) => std::mem::forget(request),
            // SAFETY: the pointer came from `Box::into_raw` in `send_piece`, only `self` owns it,
            // and MPI has finished with the request.
            None => drop(unsafe { Box::from_raw(self.bytes) }),
        }
    }
}

/// Connects the ranks of one `mpirun`.
pub struct MpiWire {
    /// Declared before the communicators, so that it is dropped first.
    sending: Vec<PendingSend>,
    /// Incomplete messages, by sender.
    partial: BTreeMap<Rank, Vec<u8>>,
    world: SimpleCommunicator,
    machine: SimpleCommunicator,
    /// Finalizes MPI when it is dropped, which waits for all ranks.
    _universe: Universe,
}

impl MpiWire {
    /// Starts MPI. The main thread calls it once.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the library supports only one thread per process, and
    /// [`Error::Internal`] if MPI has already been started.
    pub fn start() -> Result<Self> {
        let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Funneled) else {
            return Err(Error::Internal("MPI was started twice".into()));
        };
        if threading < Threading::Funneled {
            return Err(Error::usage(
                "this MPI library supports only one thread in a process; use a library that supports MPI_THREAD_FUNNELED",
            ));
        }
        let world = universe.world();
        let machine = world.split_shared(world.rank());
        Ok(MpiWire { sending: Vec::new(), partial: BTreeMap::new(), world, machine, _universe: universe })
    }

    /// Returns the name and version of the MPI library.
    pub fn library() -> String {
        let text = mpi::environment::library_version().unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        line.split(',').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Waits until all messages have been sent and all other ranks have called `finish`.
    pub fn finish(mut self) {
        let start = Instant::now();
        while !self.sweep() && start.elapsed() < PATIENCE {
            sleep(PAUSE);
        }
        self.barrier();
    }

    /// Terminates all ranks immediately, including ranks that do not respond.
    pub fn abort(self, code: u8) -> ! {
        self.world.abort(code.into())
    }

    /// Releases the bytes of finished messages. Returns whether all messages are finished.
    fn sweep(&mut self) -> bool {
        self.sending.retain_mut(|sending| !sending.has_arrived());
        self.sending.is_empty()
    }

    /// Waits for all ranks without occupying a processor.
    fn barrier(&self) {
        let mut request = self.world.immediate_barrier();
        while let Err(again) = request.test() {
            request = again;
            sleep(PAUSE);
        }
    }

    fn send_piece(&mut self, to: Rank, tag: Tag, piece: Box<[u8]>) {
        let bytes = Box::into_raw(piece);
        // SAFETY: the pointer comes from the box above. No code writes these bytes, and
        // `PendingSend` frees them only after MPI has finished with the request.
        let lent: &'static [u8] = unsafe { &*bytes };
        let process = self.world.process_at_rank(to.0 as i32);
        let request = process.immediate_send_with_tag(StaticScope, lent, tag);
        self.sending.push(PendingSend { request: Some(request), bytes });
    }
}

/// Sends the bytes of rank `from` to all ranks of a communicator.
fn broadcast_from(among: &SimpleCommunicator, from: i32, mut given: Vec<u8>) -> Vec<u8> {
    let root = among.process_at_rank(from);
    let mut length = given.len() as u64;
    root.broadcast_into(&mut length);
    given.resize(length as usize, 0);
    given.chunks_mut(PIECE).for_each(|piece| root.broadcast_into(piece));
    given
}

impl Wire for MpiWire {
    fn rank(&self) -> Rank {
        Rank(self.world.rank() as usize)
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
            let from = Rank(status.source_rank() as usize);
            let message = match self.partial.remove(&from) {
                Some(mut partial) => {
                    partial.extend(piece);
                    partial
                }
                None => piece,
            };
            if status.tag() == LAST {
                return Some((from, message));
            }
            self.partial.insert(from, message);
        }
    }

    fn broadcast(&mut self, given: Vec<u8>) -> Vec<u8> {
        self.barrier();
        broadcast_from(&self.world, 0, given)
    }

    fn neighbours(&mut self, given: Vec<u8>) -> (usize, Vec<Vec<u8>>) {
        let rank = self.machine.rank();
        let bytes_of =
            |root| broadcast_from(&self.machine, root, if root == rank { given.clone() } else { Vec::new() });
        (rank as usize, (0..self.machine.size()).map(bytes_of).collect())
    }
}
