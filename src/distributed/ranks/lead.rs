//! The rank that leads, and computes as well.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::compute::{Work, compute};
use super::desk::Desk;
use super::message::{Finished, Member, Message};
use super::seat::Seat;
use super::wire::Wire;
use super::{LEAD, Pause};
use crate::distributed::dispatch::{Answer, Dispatcher, Rank, Reply, Request, Rules, Tally};
use crate::error::{Error, Result};
use crate::jobs::blocks::Divisible;

/// How long the end of a job waits for ranks that do not say that they have ended.
const FAREWELL_SECONDS: f64 = 60.0;
/// The same of a job that is stopped: whoever stops it will not wait for long.
const STOP_SECONDS: f64 = 10.0;
/// How often it is looked for ranks that say nothing.
const TICK_SECONDS: f64 = 1.0;

/// Messages that are heard before anything else is looked at.
const AT_ONCE: usize = 64;

/// Is told what happens, and does what is to be done about it.
pub trait Book {
    /// A rank is there.
    fn joined(&mut self, rank: Rank, member: &Member);

    /// A block is done, for the first time. If it has its part with it, that is to be written.
    ///
    /// # Errors
    /// Ends the job.
    fn finished(&mut self, rank: Rank, finished: Finished) -> Result<()>;

    /// A block could not be computed there.
    fn failed(&mut self, rank: Rank, block: usize, error: &str);
}

/// What is to be computed, and by what rules.
#[derive(Debug, Clone)]
pub struct Leader<'a> {
    /// Blocks that nobody has to compute.
    pub done: &'a [bool],
    /// How blocks are handed out.
    pub rules: Rules,
}

/// What came of a job.
#[derive(Debug, Clone, Default)]
pub struct Led {
    /// Blocks that no rank could compute, with what was said of each.
    pub given_up: Vec<(usize, String)>,
    /// Ranks that did not say that they have ended.
    pub silent: Vec<Rank>,
    /// Who they are, and cells a second of those that have finished a block.
    pub members: BTreeMap<Rank, (Member, Option<u64>)>,
    /// What was handed out.
    pub tally: Tally,
}

/// Leads all ranks until every block is done or given up.
///
/// # Errors
/// [`Error::Interrupted`]; what ends a job for all: that there is no room for results, or what `book` returns. All ranks are
/// stopped then, and blocks that are done stay.
pub fn lead<J: Divisible + Sync>(
    wire: &mut dyn Wire,
    work: &Work<'_, J>,
    leader: &Leader<'_>,
    member: Member,
    book: &mut dyn Book,
) -> Result<Led> {
    let cells: Vec<u64> = work.blocks.iter().map(|block| block.cells).collect();
    let mut dispatcher = Dispatcher::new(&cells, leader.done, leader.rules);
    (0..wire.ranks()).for_each(|rank| dispatcher.joined(rank, 0.0));
    let desk = Desk::new(work.blocks);
    thread::scope(|scope| {
        let (sender, events) = channel();
        let desk = &desk;
        scope.spawn(move || compute(work, desk, &sender));
        let seat = Seat::new(desk, events);
        let mut lead = Lead {
            wire,
            book,
            dispatcher,
            seat,
            own: VecDeque::from([Message::Hello(member)]),
            members: BTreeMap::new(),
            left: BTreeSet::new(),
            stopped: None,
            until: None,
            begin: Instant::now(),
        };
        lead.own.extend(lead.seat.wish());
        let ended = lead.run(|| work.run.interrupt.load(Ordering::SeqCst));
        // Whatever ends this, the thread beside it ends, too.
        lead.seat.close();
        ended
    })
}

struct Lead<'a> {
    wire: &'a mut dyn Wire,
    book: &'a mut dyn Book,
    dispatcher: Dispatcher,
    seat: Seat<'a>,
    /// What this rank's seat says.
    own: VecDeque<Message>,
    members: BTreeMap<Rank, Member>,
    /// Those who have said their last word.
    left: BTreeSet<Rank>,
    /// Why the job ends early.
    stopped: Option<Error>,
    /// Who has not left by then is not waited for.
    until: Option<f64>,
    begin: Instant,
}

impl Lead<'_> {
    fn now(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    fn run(&mut self, is_interrupted: impl Fn() -> bool) -> Result<Led> {
        let (mut pause, mut ticked) = (Pause::default(), 0.0);
        while !self.is_over() {
            if is_interrupted() {
                self.stop(Error::Interrupted);
            }
            // However many there are, this rank's own thread and its user are heard as well.
            let mut heard = 0;
            while heard < AT_ONCE
                && let Some((from, bytes)) = self.wire.poll()
            {
                heard += 1;
                pause.reset();
                match Message::from_bytes(bytes) {
                    Some(message) => self.hear(from, message),
                    None => self.stop(Error::Internal(format!("{} says what is no message", self.name(from)))),
                }
            }
            while let Some(message) = self.own.pop_front() {
                pause.reset();
                self.hear(LEAD, message);
            }
            if self.now() - ticked >= TICK_SECONDS {
                ticked = self.now();
                for rank in self.dispatcher.tick(ticked) {
                    let name = self.name(rank);
                    tracing::warn!("{name} has said nothing for long; others may have its blocks as well");
                }
            }
            if self.stopped.is_none() {
                while let Some((rank, answer)) = self.dispatcher.answer(self.now()) {
                    self.tell(rank, answer);
                }
            }
            if !self.own.is_empty() {
                continue;
            }
            let pause_now = if heard == AT_ONCE { Duration::ZERO } else { pause.next() };
            for said in self.seat.listen(pause_now) {
                pause.reset();
                self.own.push_back(said);
            }
        }
        match self.stopped.take() {
            Some(error) => Err(error),
            None => Ok(self.led()),
        }
    }

    /// Whether nobody has anything more to say.
    fn is_over(&mut self) -> bool {
        let now = self.now();
        if self.dispatcher.is_over() {
            self.until.get_or_insert(now + FAREWELL_SECONDS);
        }
        let Some(until) = self.until else { return false };
        let all = self.left.len() + 1 == self.wire.ranks();
        let is_settled = self.stopped.is_some() || self.dispatcher.is_over();
        // What this rank's own thread computes is its business alone once all is settled.
        is_settled && (all && self.seat.is_done() && self.own.is_empty() || now > until)
    }

    fn hear(&mut self, from: Rank, message: Message) {
        let now = self.now();
        match message {
            Message::Hello(member) => {
                self.book.joined(from, &member);
                self.members.insert(from, member);
            }
            Message::Unable(trouble) => {
                tracing::warn!("rank {from} computes nothing: {}", trouble.text);
                self.dispatcher.gone(from, now);
                self.send(from, Message::Reply(Reply::End));
            }
            Message::Request(Request::Asks) => {
                let answer = self.dispatcher.asks(from, now);
                self.tell(from, answer);
            }
            Message::Request(Request::Finished { block }) => {
                let finished = Finished { block, rows: 0, seconds: 0.0, part: None };
                self.finished(from, finished, now);
            }
            Message::Finished(finished) => self.finished(from, finished, now),
            Message::Request(Request::Failed { block, error }) => {
                let name = self.name(from);
                tracing::warn!("block {block} failed on {name}: {error}");
                self.book.failed(from, block, &error);
                self.dispatcher.failed(from, block, format!("{name}: {error}"), now);
            }
            Message::Fatal(trouble) => {
                let error = trouble.into_error(&self.name(from));
                self.stop(error);
            }
            Message::Bye => {
                self.left.insert(from);
            }
            Message::Reply(_) | Message::Stop => {}
        }
    }

    fn finished(&mut self, from: Rank, finished: Finished, now: f64) {
        if self.stopped.is_some() && finished.part.is_none() {
            // It is in its file, and will be found there.
            return;
        }
        let what = self.dispatcher.finished(from, finished.block, now);
        for other in what.drop {
            self.send(other, Message::Reply(Reply::Drop { block: finished.block }));
        }
        if what.counts
            && let Err(error) = self.book.finished(from, finished)
        {
            self.stop(error);
        }
    }

    fn tell(&mut self, rank: Rank, answer: Answer) {
        match answer {
            Answer::Lease(lease) => self.send(rank, Message::Reply(Reply::Lease(lease))),
            Answer::End => self.send(rank, Message::Reply(Reply::End)),
            Answer::Wait => {}
        }
    }

    fn send(&mut self, rank: Rank, message: Message) {
        if rank == LEAD {
            self.own.extend(self.seat.hear(message));
        } else {
            self.wire.send(rank, message.to_bytes());
        }
    }

    /// Ends the job for all. The first reason is the one that is told.
    fn stop(&mut self, error: Error) {
        if self.stopped.is_some() {
            return;
        }
        self.stopped = Some(error);
        self.until = Some(self.now() + STOP_SECONDS);
        for rank in 0..self.wire.ranks() {
            self.send(rank, Message::Stop);
        }
    }

    /// A rank in words.
    fn name(&self, rank: Rank) -> String {
        match self.members.get(&rank) {
            Some(member) => format!("rank {rank} on {}", member.host),
            None => format!("rank {rank}"),
        }
    }

    fn led(&mut self) -> Led {
        let said = |all: &[(Rank, String)]| all.iter().map(|(_, said)| said.as_str()).collect::<Vec<_>>().join("; ");
        let members = std::mem::take(&mut self.members);
        Led {
            given_up: self.dispatcher.given_up().map(|(block, all)| (block, said(all))).collect(),
            silent: (1..self.wire.ranks()).filter(|rank| !self.left.contains(rank)).collect(),
            members: members.into_iter().map(|(rank, member)| (rank, (member, self.dispatcher.speed(rank)))).collect(),
            tally: self.dispatcher.tally(),
        }
    }
}
