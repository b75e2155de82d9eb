//! What a rank does between hearing from the one that leads and computing.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::compute::Event;
use super::desk::Desk;
use super::message::{Message, Trouble};
use crate::distributed::dispatch::{Lease, Reply, Request};

/// Blocks that nobody has begun when it is time to ask for more.
const AHEAD: usize = 1;

/// A rank as a state machine, with the desk at which its other thread computes.
pub(super) struct Seat<'a> {
    desk: &'a Desk,
    events: Receiver<Event>,
    /// Blocks that it was given and has not settled.
    held: BTreeSet<usize>,
    ask_at: usize,
    /// It has asked, and nothing was said yet.
    asks: bool,
    is_over: bool,
    /// The thread that computes has ended.
    is_idle: bool,
}

impl<'a> Seat<'a> {
    pub(super) fn new(desk: &'a Desk, events: Receiver<Event>) -> Self {
        let held = BTreeSet::new();
        Seat { desk, events, held, ask_at: 0, asks: false, is_over: false, is_idle: false }
    }

    /// Hears from the one that leads, and says what there is to say.
    pub(super) fn hear(&mut self, message: Message) -> Option<Message> {
        match message {
            Message::Reply(Reply::Lease(Lease { blocks, ask_at })) => {
                self.asks = false;
                self.ask_at = ask_at;
                self.held.extend(blocks.clone());
                self.desk.put(blocks);
            }
            Message::Reply(Reply::Drop { block }) => {
                self.held.remove(&block);
                self.desk.withdraw(block);
            }
            Message::Reply(Reply::End) | Message::Stop => self.close(),
            _ => {}
        }
        self.wish()
    }

    /// Asks for more, if it is time.
    pub(super) fn wish(&mut self) -> Option<Message> {
        // Also when engines are about to begin the last that there is, however much of it is in their hands.
        let is_low = self.held.len() <= self.ask_at || self.desk.waiting() <= AHEAD;
        let is_time = !self.asks && !self.is_over && is_low;
        self.asks |= is_time;
        is_time.then_some(Message::Request(Request::Asks))
    }

    /// Waits so long for what was computed, and says what there is to say.
    pub(super) fn listen(&mut self, pause: Duration) -> Vec<Message> {
        let event = match self.events.recv_timeout(pause) {
            Ok(event) => event,
            // Engines may have begun blocks without a word.
            Err(RecvTimeoutError::Timeout) => return self.wish().into_iter().collect(),
            Err(RecvTimeoutError::Disconnected) => {
                if !self.is_idle {
                    self.is_idle = true;
                } else {
                    // Nothing will come, but the caller counts on a pause.
                    std::thread::sleep(pause);
                }
                return Vec::new();
            }
        };
        let mut said = Vec::new();
        match event {
            Event::Finished(finished) => {
                self.held.remove(&finished.block);
                said.push(Message::Finished(finished));
            }
            Event::Failed { block, error } => {
                self.held.remove(&block);
                said.push(Message::Request(Request::Failed { block, error }));
            }
            Event::Fatal(error) => {
                self.close();
                said.push(Message::Fatal(Trouble::of(&error)));
            }
        }
        said.extend(self.wish());
        said
    }

    /// Ends what is computed, and begins nothing.
    pub(super) fn close(&mut self) {
        self.is_over = true;
        self.desk.close();
    }

    /// Whether nothing is computed, or ever will be.
    pub(super) fn is_done(&self) -> bool {
        self.is_over && self.is_idle
    }
}
