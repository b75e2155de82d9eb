//! The main loop of rank 0, which leads and also computes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use super::block_queue::BlockQueue;
use super::client::RankClient;
use super::compute::{RankWork, compute};
use super::message::{FinishedBlock, RankInfo, RankMessage};
use super::wire::Wire;
use super::{LEAD, Pause};
use crate::distributed::dispatch::{Answer, DispatchTally, Dispatcher, Rank, RankRequest, Reply, Rules};
use crate::error::{Error, Result};
use crate::jobs::blocks::Divisible;

/// Maximum seconds that the end of a job waits for ranks that have not sent their last message.
const LAST_MESSAGE_SECONDS: f64 = 60.0;
/// Maximum seconds that a cancelled job waits for the other ranks.
const STOP_SECONDS: f64 = 10.0;
/// Seconds between two checks for silent ranks.
const TICK_SECONDS: f64 = 1.0;

/// Maximum number of messages that are handled in a row.
const MAX_MESSAGES: usize = 64;

/// Handles the events of a job on rank 0.
pub trait LeadHandler {
    /// Called when a rank has joined.
    fn rank_joined(&mut self, rank: Rank, member: &RankInfo);

    /// Called when the first result of a block has arrived. If the result includes the part, the
    /// handler writes it.
    ///
    /// # Errors
    /// Any error ends the job.
    fn finished(&mut self, rank: Rank, finished: FinishedBlock) -> Result<()>;

    /// Called when a block could not be computed on a rank.
    fn failed(&mut self, rank: Rank, block: usize, error: &str);
}

/// Input of [`lead`].
#[derive(Debug, Clone)]
pub struct LeadOptions<'a> {
    /// Whether each block is already done.
    pub done: &'a [bool],
    /// Rules of the dispatcher.
    pub rules: Rules,
}

/// Result of [`lead`].
#[derive(Debug, Clone, Default)]
pub struct LeadSummary {
    /// Blocks that no rank could compute, with their error messages.
    pub failed_blocks: Vec<(usize, String)>,
    /// Ranks that have not sent their last message.
    pub silent: Vec<Rank>,
    /// All ranks, each with its speed in cells per second if it has finished a block.
    pub members: BTreeMap<Rank, (RankInfo, Option<u64>)>,
    /// Statistics of the dispatcher.
    pub tally: DispatchTally,
}

/// Leads all ranks until every block is done or has finally failed.
///
/// # Errors
/// Returns [`Error::Interrupted`] if the user cancels. Returns an error if results cannot be
/// stored, or if `handler` fails. In each case all ranks are stopped, and finished blocks are kept.
pub fn lead<J: Divisible + Sync>(
    wire: &mut dyn Wire,
    work: &RankWork<'_, J>,
    leader: &LeadOptions<'_>,
    member: RankInfo,
    handler: &mut dyn LeadHandler,
) -> Result<LeadSummary> {
    let cells: Vec<u64> = work.blocks.iter().map(|block| block.cells).collect();
    let mut dispatcher = Dispatcher::new(&cells, leader.done, leader.rules);
    (0..wire.ranks()).map(Rank).for_each(|rank| dispatcher.add_rank(rank, 0.0));
    let queue = BlockQueue::new(work.blocks);
    thread::scope(|scope| {
        let (sender, events) = channel();
        let queue = &queue;
        scope.spawn(move || compute(work, queue, &sender));
        let client = RankClient::new(queue, events);
        let mut lead = LeadLoop {
            wire,
            handler,
            dispatcher,
            client,
            local_messages: VecDeque::from([RankMessage::Hello(member)]),
            members: BTreeMap::new(),
            departed: BTreeSet::new(),
            stopped: None,
            deadline: None,
            start: Instant::now(),
        };
        lead.local_messages.extend(lead.client.request());
        let ended = lead.run(|| work.run.interrupt.load(Ordering::SeqCst));
        // Closing the client ends the compute thread in every case.
        lead.client.close();
        ended
    })
}

struct LeadLoop<'a> {
    wire: &'a mut dyn Wire,
    handler: &'a mut dyn LeadHandler,
    dispatcher: Dispatcher,
    client: RankClient<'a>,
    /// Messages from the client of this rank to rank 0 itself.
    local_messages: VecDeque<RankMessage>,
    members: BTreeMap<Rank, RankInfo>,
    /// Ranks that have sent their last message.
    departed: BTreeSet<Rank>,
    /// Reason for an early end of the job.
    stopped: Option<Error>,
    /// Time after which the job no longer waits for ranks, in seconds since the start.
    deadline: Option<f64>,
    start: Instant,
}

impl LeadLoop<'_> {
    fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn run(&mut self, is_interrupted: impl Fn() -> bool) -> Result<LeadSummary> {
        let (mut pause, mut ticked) = (Pause::default(), 0.0);
        while !self.is_over() {
            if is_interrupted() {
                self.stop(Error::Interrupted);
            }
            // The limit gives the local compute thread and a cancelling user a turn.
            let mut heard = 0;
            while heard < MAX_MESSAGES
                && let Some((from, bytes)) = self.wire.poll()
            {
                heard += 1;
                pause.reset();
                match RankMessage::from_bytes(bytes) {
                    Some(message) => self.handle(from, message),
                    None => {
                        self.stop(Error::Internal(format!("{} sent a message that cannot be decoded", self.name(from))))
                    }
                }
            }
            while let Some(message) = self.local_messages.pop_front() {
                pause.reset();
                self.handle(LEAD, message);
            }
            if self.now() - ticked >= TICK_SECONDS {
                ticked = self.now();
                for rank in self.dispatcher.tick(ticked) {
                    let name = self.name(rank);
                    tracing::warn!("{name} has not responded for a while; other ranks may compute its blocks too");
                }
            }
            if self.stopped.is_none() {
                while let Some((rank, answer)) = self.dispatcher.answer(self.now()) {
                    self.reply(rank, answer);
                }
            }
            if !self.local_messages.is_empty() {
                continue;
            }
            let pause_now = if heard == MAX_MESSAGES { Duration::ZERO } else { pause.next() };
            for message in self.client.wait_for_messages(pause_now) {
                pause.reset();
                self.local_messages.push_back(message);
            }
        }
        match self.stopped.take() {
            Some(error) => Err(error),
            None => Ok(self.summary()),
        }
    }

    /// Checks whether all messages of the job have been exchanged.
    fn is_over(&mut self) -> bool {
        let now = self.now();
        if self.dispatcher.is_over() {
            self.deadline.get_or_insert(now + LAST_MESSAGE_SECONDS);
        }
        let Some(deadline) = self.deadline else { return false };
        let all = self.departed.len() + 1 == self.wire.ranks();
        let is_settled = self.stopped.is_some() || self.dispatcher.is_over();
        // A local copy of a block that is already done does not delay the end.
        is_settled && (all && self.client.is_done() && self.local_messages.is_empty() || now > deadline)
    }

    fn handle(&mut self, from: Rank, message: RankMessage) {
        let now = self.now();
        match message {
            RankMessage::Hello(member) => {
                self.handler.rank_joined(from, &member);
                self.members.insert(from, member);
            }
            RankMessage::Unable(error) => {
                tracing::warn!("rank {from} cannot compute: {}", error.text);
                self.dispatcher.end_rank(from, now);
                self.send(from, RankMessage::Reply(Reply::End));
            }
            RankMessage::Request(RankRequest::Asks) => {
                let answer = self.dispatcher.answer_request(from, now);
                self.reply(from, answer);
            }
            RankMessage::Request(RankRequest::Finished { block }) => {
                let finished = FinishedBlock { block, rows: 0, seconds: 0.0, part: None };
                self.finished(from, finished, now);
            }
            RankMessage::Finished(finished) => self.finished(from, finished, now),
            RankMessage::Request(RankRequest::Failed { block, error }) => {
                let name = self.name(from);
                tracing::warn!("block {block} failed on {name}: {error}");
                self.handler.failed(from, block, &error);
                self.dispatcher.failed(from, block, format!("{name}: {error}"), now);
            }
            RankMessage::Fatal(error) => {
                let error = error.into_error(&self.name(from));
                self.stop(error);
            }
            RankMessage::Bye => {
                self.departed.insert(from);
            }
            RankMessage::Reply(_) | RankMessage::Stop => {}
        }
    }

    fn finished(&mut self, from: Rank, finished: FinishedBlock, now: f64) {
        if self.stopped.is_some() && finished.part.is_none() {
            // The part is in its file, where the next run finds it.
            return;
        }
        let outcome = self.dispatcher.finished(from, finished.block, now);
        for other in outcome.drop {
            self.send(other, RankMessage::Reply(Reply::Drop { block: finished.block }));
        }
        if outcome.counts
            && let Err(error) = self.handler.finished(from, finished)
        {
            self.stop(error);
        }
    }

    fn reply(&mut self, rank: Rank, answer: Answer) {
        match answer {
            Answer::Lease(lease) => self.send(rank, RankMessage::Reply(Reply::Lease(lease))),
            Answer::End => self.send(rank, RankMessage::Reply(Reply::End)),
            Answer::Wait => {}
        }
    }

    fn send(&mut self, rank: Rank, message: RankMessage) {
        if rank == LEAD {
            self.local_messages.extend(self.client.handle(message));
        } else {
            self.wire.send(rank, message.to_bytes());
        }
    }

    /// Ends the job on all ranks. Only the first reason is kept and returned.
    fn stop(&mut self, error: Error) {
        if self.stopped.is_some() {
            return;
        }
        self.stopped = Some(error);
        self.deadline = Some(self.now() + STOP_SECONDS);
        for rank in (0..self.wire.ranks()).map(Rank) {
            self.send(rank, RankMessage::Stop);
        }
    }

    /// Formats the name of a rank for messages to the user.
    fn name(&self, rank: Rank) -> String {
        match self.members.get(&rank) {
            Some(member) => format!("rank {rank} on {}", member.host),
            None => format!("rank {rank}"),
        }
    }

    fn summary(&mut self) -> LeadSummary {
        let messages =
            |all: &[(Rank, String)]| all.iter().map(|(_, messages)| messages.as_str()).collect::<Vec<_>>().join("; ");
        let members = std::mem::take(&mut self.members);
        LeadSummary {
            failed_blocks: self.dispatcher.failed_blocks().map(|(block, all)| (block, messages(all))).collect(),
            silent: (1..self.wire.ranks()).map(Rank).filter(|rank| !self.departed.contains(rank)).collect(),
            members: members.into_iter().map(|(rank, member)| (rank, (member, self.dispatcher.speed(rank)))).collect(),
            tally: self.dispatcher.tally(),
        }
    }
}
