//! The client of a rank. It passes messages between rank 0 and the compute thread.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::block_queue::BlockQueue;
use super::compute::ComputeEvent;
use super::message::{RankMessage, RemoteError};
use crate::distributed::dispatch::{BlockLease, RankRequest, Reply};

/// A rank asks for more blocks when at most this number of blocks waits in its queue.
const MIN_WAITING: usize = 1;

/// Sends requests to rank 0, and passes its replies to the block queue of the compute thread.
pub(super) struct RankClient<'a> {
    queue: &'a BlockQueue,
    events: Receiver<ComputeEvent>,
    /// Leased blocks that are neither finished, failed nor dropped.
    held: BTreeSet<usize>,
    ask_at: usize,
    /// Whether a request for blocks has no reply yet.
    has_asked: bool,
    is_over: bool,
    /// Whether the compute thread has ended.
    has_compute_ended: bool,
}

impl<'a> RankClient<'a> {
    pub(super) fn new(queue: &'a BlockQueue, events: Receiver<ComputeEvent>) -> Self {
        let held = BTreeSet::new();
        RankClient { queue, events, held, ask_at: 0, has_asked: false, is_over: false, has_compute_ended: false }
    }

    /// Handles a message from rank 0. Returns the message to send, if any.
    pub(super) fn handle(&mut self, message: RankMessage) -> Option<RankMessage> {
        match message {
            RankMessage::Reply(Reply::Lease(BlockLease { blocks, ask_at })) => {
                self.has_asked = false;
                self.ask_at = ask_at;
                self.held.extend(blocks.clone());
                self.queue.push(blocks);
            }
            RankMessage::Reply(Reply::Drop { block }) => {
                self.held.remove(&block);
                self.queue.drop_block(block);
            }
            RankMessage::Reply(Reply::End) | RankMessage::Stop => self.close(),
            _ => {}
        }
        self.request()
    }

    /// Returns a request for more blocks if the rank needs them and has not asked yet.
    pub(super) fn request(&mut self) -> Option<RankMessage> {
        // Engines that are about to take the last waiting block need more, even if much of their
        // work is unfinished.
        let is_low = self.held.len() <= self.ask_at || self.queue.waiting() <= MIN_WAITING;
        let is_time = !self.has_asked && !self.is_over && is_low;
        self.has_asked |= is_time;
        is_time.then_some(RankMessage::Request(RankRequest::Asks))
    }

    /// Waits up to `pause` for an event of the compute thread. Returns the messages to send.
    pub(super) fn wait_for_messages(&mut self, pause: Duration) -> Vec<RankMessage> {
        let event = match self.events.recv_timeout(pause) {
            Ok(event) => event,
            // Engines take blocks without an event.
            Err(RecvTimeoutError::Timeout) => return self.request().into_iter().collect(),
            Err(RecvTimeoutError::Disconnected) => {
                if !self.has_compute_ended {
                    self.has_compute_ended = true;
                } else {
                    // No further event can arrive, but the caller expects a pause.
                    std::thread::sleep(pause);
                }
                return Vec::new();
            }
        };
        let mut messages = Vec::new();
        match event {
            ComputeEvent::Finished(finished) => {
                self.held.remove(&finished.block);
                messages.push(RankMessage::Finished(finished));
            }
            ComputeEvent::Failed { block, error } => {
                self.held.remove(&block);
                messages.push(RankMessage::Request(RankRequest::Failed { block, error }));
            }
            ComputeEvent::Fatal(error) => {
                self.close();
                messages.push(RankMessage::Fatal(RemoteError::new(&error)));
            }
        }
        messages.extend(self.request());
        messages
    }

    /// Stops the computation. No other one starts after it.
    pub(super) fn close(&mut self) {
        self.is_over = true;
        self.queue.close();
    }

    /// Checks whether the job is over and the compute thread has ended.
    pub(super) fn is_done(&self) -> bool {
        self.is_over && self.has_compute_ended
    }
}
