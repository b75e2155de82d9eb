//! The main loop of every rank except rank 0.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;

use super::block_queue::BlockQueue;
use super::client::RankClient;
use super::compute::{RankWork, compute};
use super::message::{RankInfo, RankMessage, RemoteError};
use super::wire::Wire;
use super::{LEAD, Pause};
use crate::distributed::dispatch::Reply;
use crate::error::Error;
use crate::jobs::blocks::Divisible;

/// Computes the blocks that rank 0 sends, until rank 0 ends the job.
pub fn follow<J: Divisible + Sync>(wire: &mut dyn Wire, work: &RankWork<'_, J>, member: RankInfo) {
    let queue = BlockQueue::new(work.blocks);
    thread::scope(|scope| {
        let (sender, events) = channel();
        let queue = &queue;
        scope.spawn(move || compute(work, queue, &sender));
        let mut client = RankClient::new(queue, events);
        wire.send(LEAD, RankMessage::Hello(member).to_bytes());
        if let Some(request) = client.request() {
            wire.send(LEAD, request.to_bytes());
        }
        let (mut pause, mut is_stopping, mut has_ended) = (Pause::default(), false, false);
        while !(client.is_done() && has_ended) {
            if work.run.interrupt.load(Ordering::SeqCst) && !is_stopping {
                is_stopping = true;
                client.close();
                wire.send(LEAD, RankMessage::Fatal(RemoteError::new(&Error::Interrupted)).to_bytes());
            }
            while let Some((_, bytes)) = wire.poll() {
                let Some(message) = RankMessage::from_bytes(bytes) else { continue };
                pause.reset();
                has_ended |= is_last(&message);
                if let Some(reply) = client.handle(message) {
                    wire.send(LEAD, reply.to_bytes());
                }
            }
            for reply in client.wait_for_messages(pause.next()) {
                pause.reset();
                wire.send(LEAD, reply.to_bytes());
            }
        }
        wire.send(LEAD, RankMessage::Bye.to_bytes());
    });
}

/// Reports an error that prevents this rank from computing, and waits for the end of the job.
pub fn wait_after_error(wire: &mut dyn Wire, error: &Error) {
    wire.send(LEAD, RankMessage::Unable(RemoteError::new(error)).to_bytes());
    let mut pause = Pause::default();
    let mut has_ended = false;
    while !has_ended {
        match wire.poll() {
            Some((_, bytes)) => has_ended = RankMessage::from_bytes(bytes).is_some_and(|message| is_last(&message)),
            None => thread::sleep(pause.next()),
        }
    }
    wire.send(LEAD, RankMessage::Bye.to_bytes());
}

fn is_last(message: &RankMessage) -> bool {
    matches!(message, RankMessage::Reply(Reply::End) | RankMessage::Stop)
}
