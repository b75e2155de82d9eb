//! All ranks but the one that leads.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;

use super::compute::{Work, compute};
use super::desk::Desk;
use super::message::{Member, Message, Trouble};
use super::seat::Seat;
use super::wire::Wire;
use super::{LEAD, Pause};
use crate::distributed::dispatch::Reply;
use crate::error::Error;
use crate::jobs::blocks::Divisible;

/// Computes what rank 0 gives, until there is nothing more.
pub fn follow<J: Divisible + Sync>(wire: &mut dyn Wire, work: &Work<'_, J>, member: Member) {
    let desk = Desk::new(work.blocks);
    thread::scope(|scope| {
        let (sender, events) = channel();
        let desk = &desk;
        scope.spawn(move || compute(work, desk, &sender));
        let mut seat = Seat::new(desk, events);
        wire.send(LEAD, Message::Hello(member).to_bytes());
        if let Some(wish) = seat.wish() {
            wire.send(LEAD, wish.to_bytes());
        }
        let (mut pause, mut is_stopping, mut is_told) = (Pause::default(), false, false);
        while !(seat.is_done() && is_told) {
            if work.run.interrupt.load(Ordering::SeqCst) && !is_stopping {
                is_stopping = true;
                seat.close();
                wire.send(LEAD, Message::Fatal(Trouble::of(&Error::Interrupted)).to_bytes());
            }
            while let Some((_, bytes)) = wire.poll() {
                let Some(message) = Message::from_bytes(bytes) else { continue };
                pause.reset();
                is_told |= is_last(&message);
                if let Some(said) = seat.hear(message) {
                    wire.send(LEAD, said.to_bytes());
                }
            }
            for said in seat.listen(pause.next()) {
                pause.reset();
                wire.send(LEAD, said.to_bytes());
            }
        }
        wire.send(LEAD, Message::Bye.to_bytes());
    });
}

/// Waits until rank 0 has nothing more to say, and computes nothing, because of this.
pub fn stand_by(wire: &mut dyn Wire, error: &Error) {
    wire.send(LEAD, Message::Unable(Trouble::of(error)).to_bytes());
    let mut pause = Pause::default();
    let mut is_told = false;
    while !is_told {
        match wire.poll() {
            Some((_, bytes)) => is_told = Message::from_bytes(bytes).is_some_and(|message| is_last(&message)),
            None => thread::sleep(pause.next()),
        }
    }
    wire.send(LEAD, Message::Bye.to_bytes());
}

fn is_last(message: &Message) -> bool {
    matches!(message, Message::Reply(Reply::End) | Message::Stop)
}
