//! One phase of a simulation. It lasts from the start or restart of all ranks to the end of the job
//! or to a death that causes a restart.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::super::dispatch::{Answer, BlockLease, Dispatcher, Rank, RankRequest, Reply};
use super::super::ranks::LEAD;
use super::{RankFate, Simulation, SimulationReport, SplitMix64};

/// Seconds between ticks of the dispatcher.
const TICK: f64 = 1.0;

/// End of a phase and its time.
pub(super) enum PhaseEnd {
    Over(f64),
    Died(f64),
}

#[derive(Debug)]
enum SimulatedEventKind {
    /// A rank starts.
    Begins,
    /// A rank has computed its block.
    Computed,
    /// A message has arrived at rank 0.
    Arrives(RankRequest),
    /// Rank 0 has handled the message.
    Read(RankRequest),
    /// A message has arrived at a rank.
    Received(Reply),
    /// A rank dies, a rank falls silent, or the dispatcher is informed of a death.
    Dies,
    Hangs,
    Noticed,
    Tick,
}

/// A future event.
#[derive(Debug)]
struct SimulatedEvent {
    at: f64,
    /// Breaks ties between events at the same time: the older event comes first.
    number: u64,
    rank: Rank,
    what: SimulatedEventKind,
}

impl PartialEq for SimulatedEvent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SimulatedEvent {}

impl PartialOrd for SimulatedEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SimulatedEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.number.cmp(&other.number))
    }
}

/// A simulated rank.
#[derive(Debug, Clone, Default)]
struct SimulatedRank {
    queue: VecDeque<usize>,
    /// The block that the rank computes, and its start.
    computes: Option<(usize, f64)>,
    ask_at: usize,
    has_asked: bool,
    is_silent: bool,
    /// Number of blocks that the engines will still start before they stop.
    run: usize,
    /// Time since which the rank is idle.
    idle_since: Option<f64>,
}

pub(super) struct Phase<'a> {
    world: &'a Simulation,
    bad: &'a [bool],
    random: &'a mut SplitMix64,
    dispatcher: Dispatcher,
    ranks: Vec<SimulatedRank>,
    events: BinaryHeap<Reverse<SimulatedEvent>>,
    number: u64,
    now: f64,
    /// Time until which rank 0 handles messages.
    busy_until: f64,
    report: SimulationReport,
}

impl<'a> Phase<'a> {
    pub(super) fn new(
        world: &'a Simulation,
        random_failures: &[RankFate],
        bad: &'a [bool],
        begin: f64,
        report: SimulationReport,
        random: &'a mut SplitMix64,
    ) -> Self {
        let done: Vec<bool> = report.counted.iter().map(|&count| count > 0).collect();
        let mut dispatcher = Dispatcher::new(&world.blocks, &done, world.rules);
        let ranks = vec![SimulatedRank::default(); world.speeds.len()];
        (0..ranks.len()).map(Rank).for_each(|rank| dispatcher.add_rank(rank, begin));
        let events = BinaryHeap::new();
        let mut phase =
            Phase { world, bad, random, dispatcher, ranks, events, number: 0, now: begin, busy_until: begin, report };
        for (rank, fate) in (0..).map(Rank).zip(random_failures) {
            phase.at(begin + fate.late, rank, SimulatedEventKind::Begins);
            for (when, what) in [(fate.dies, SimulatedEventKind::Dies), (fate.hangs, SimulatedEventKind::Hangs)] {
                // Events between a death and the restart have no effect.
                if let Some(when) = when.filter(|&when| when >= begin) {
                    phase.at(when, rank, what);
                }
            }
        }
        phase.at(begin + TICK, LEAD, SimulatedEventKind::Tick);
        phase
    }

    fn at(&mut self, at: f64, rank: Rank, what: SimulatedEventKind) {
        self.number += 1;
        self.events.push(Reverse(SimulatedEvent { at, number: self.number, rank, what }));
    }

    pub(super) fn run(mut self) -> (PhaseEnd, SimulationReport) {
        while !self.dispatcher.is_over() {
            let Some(Reverse(SimulatedEvent { at, rank, what, .. })) = self.events.pop() else { break };
            self.now = at;
            match what {
                SimulatedEventKind::Tick => {
                    self.dispatcher.tick(at);
                    self.at(at + TICK, LEAD, SimulatedEventKind::Tick);
                    self.answers(at);
                }
                SimulatedEventKind::Arrives(request) => {
                    let bytes = request.to_bytes().len() as u64;
                    let rows = matches!(request, RankRequest::Finished { .. }).then_some(self.world.result_bytes);
                    self.report.longest_wait = self.report.longest_wait.max(self.busy_until - at);
                    let read = self.handle_message(rank, bytes + rows.unwrap_or(0));
                    self.at(read, rank, SimulatedEventKind::Read(request));
                }
                SimulatedEventKind::Read(request) => self.read(rank, request),
                SimulatedEventKind::Noticed => {
                    self.dispatcher.end_rank(rank, at);
                    self.answers(at);
                }
                SimulatedEventKind::Dies if self.world.restart.is_some() => {
                    self.report.deaths += 1;
                    for (state, speed) in self.ranks.iter().zip(&self.world.speeds) {
                        if let Some((_, since)) = state.computes {
                            self.report.lost_cells += (at - since) * speed;
                        }
                    }
                    return (PhaseEnd::Died(at), self.finish());
                }
                SimulatedEventKind::Dies | SimulatedEventKind::Hangs => {
                    self.make_silent(rank, matches!(what, SimulatedEventKind::Dies))
                }
                SimulatedEventKind::Begins | SimulatedEventKind::Computed | SimulatedEventKind::Received(_)
                    if self.ranks[rank.0].is_silent => {}
                SimulatedEventKind::Begins => self.send_request(rank),
                SimulatedEventKind::Computed => self.finish_block(rank),
                SimulatedEventKind::Received(reply) => self.receive(rank, reply),
            }
        }
        (PhaseEnd::Over(self.now), self.finish())
    }

    fn finish(mut self) -> SimulationReport {
        let tally = self.dispatcher.tally();
        self.report.failures += tally.failures;
        self.report.copies += tally.copies;
        self.report.failed_blocks = self.dispatcher.failed_blocks().map(|(block, _)| block).collect();
        self.report
    }

    fn make_silent(&mut self, rank: Rank, dies: bool) {
        let state = &mut self.ranks[rank.0];
        if !std::mem::replace(&mut state.is_silent, true)
            && let Some((_, since)) = state.computes
        {
            self.report.lost_cells += (self.now - since) * self.world.speeds[rank.0];
        }
        if dies {
            self.report.deaths += 1;
            self.at(self.now + self.world.notice, rank, SimulatedEventKind::Noticed);
        }
    }

    /// Lets rank 0 handle a message to or from a rank. Returns the time when it has finished.
    fn handle_message(&mut self, rank: Rank, bytes: u64) -> f64 {
        let mut seconds = self.world.handling;
        if rank != LEAD {
            self.report.messages += 1;
            self.report.bytes += bytes;
            seconds += bytes as f64 / self.world.bandwidth;
        }
        self.report.busy += seconds;
        self.busy_until = self.busy_until.max(self.now) + seconds;
        self.busy_until
    }

    fn latency(&self, rank: Rank) -> f64 {
        if rank == LEAD { 0.0 } else { self.world.latency }
    }

    fn read(&mut self, rank: Rank, request: RankRequest) {
        match request {
            RankRequest::Asks => {
                let answer = self.dispatcher.answer_request(rank, self.now);
                self.reply(rank, answer);
            }
            RankRequest::Finished { block } => {
                let finished = self.dispatcher.finished(rank, block, self.now);
                self.report.counted[block] += u32::from(finished.counts);
                if !finished.counts {
                    self.report.lost_cells += self.world.blocks[block] as f64;
                }
                for other in finished.drop {
                    self.send_reply(other, Reply::Drop { block });
                }
            }
            RankRequest::Failed { block, error } => {
                self.dispatcher.failed(rank, block, error, self.now);
                self.report.lost_cells += self.world.blocks[block] as f64;
            }
        }
        self.answers(self.now);
    }

    fn answers(&mut self, now: f64) {
        while let Some((rank, answer)) = self.dispatcher.answer(now) {
            self.reply(rank, answer);
        }
    }

    fn reply(&mut self, rank: Rank, answer: Answer) {
        match answer {
            Answer::Lease(lease) => self.send_reply(rank, Reply::Lease(lease)),
            Answer::End => self.send_reply(rank, Reply::End),
            Answer::Wait => {}
        }
    }

    fn send_reply(&mut self, rank: Rank, reply: Reply) {
        let sent = self.handle_message(rank, reply.to_bytes().len() as u64);
        self.at(sent + self.latency(rank), rank, SimulatedEventKind::Received(reply));
    }

    fn send(&mut self, rank: Rank, request: RankRequest) {
        self.at(self.now + self.latency(rank), rank, SimulatedEventKind::Arrives(request));
    }

    fn send_request(&mut self, rank: Rank) {
        self.ranks[rank.0].has_asked = true;
        self.send(rank, RankRequest::Asks);
    }

    fn receive(&mut self, rank: Rank, reply: Reply) {
        let state = &mut self.ranks[rank.0];
        match reply {
            Reply::Lease(BlockLease { blocks, ask_at }) => {
                state.queue.extend(blocks);
                state.ask_at = ask_at;
                state.has_asked = false;
                self.start_next(rank);
            }
            Reply::Drop { block } => state.queue.retain(|&other| other != block),
            Reply::End => {}
        }
    }

    fn finish_block(&mut self, rank: Rank) {
        let Some((block, _)) = self.ranks[rank.0].computes.take() else { return };
        let fails = self.bad[block] || self.world.failures > 0.0 && self.random.fraction() < self.world.failures;
        self.send(rank, if fails { failure(block) } else { RankRequest::Finished { block } });
        self.start_next(rank);
    }

    /// Starts the next block of an idle rank. Asks for more blocks if the rank holds few.
    fn start_next(&mut self, rank: Rank) {
        let now = self.now;
        let state = &mut self.ranks[rank.0];
        if state.computes.is_none() {
            match state.queue.pop_front() {
                None => (state.idle_since, state.run) = (Some(now), 0),
                Some(block) => {
                    let begins = state.run == 0;
                    state.run = match (begins, self.world.stops_between) {
                        (false, true) => state.run - 1,
                        // A block that arrives later starts the engines again.
                        (true, true) => state.queue.len(),
                        (_, false) => 1,
                    };
                    self.report.idle += state.idle_since.take().map_or(0.0, |since| now - since);
                    state.computes = Some((block, now));
                    let noise = 1.0 + self.world.jitter * (2.0 * self.random.fraction() - 1.0);
                    let stop = if begins { self.world.stop } else { 0.0 };
                    self.report.begins += u64::from(begins);
                    let seconds = stop + self.world.blocks[block].max(1) as f64 / self.world.speeds[rank.0] * noise;
                    self.at(now + seconds, rank, SimulatedEventKind::Computed);
                }
            }
        }
        let state = &self.ranks[rank.0];
        let held = state.queue.len() + usize::from(state.computes.is_some());
        if !state.has_asked && held <= state.ask_at {
            self.send_request(rank);
        }
    }
}

fn failure(block: usize) -> RankRequest {
    RankRequest::Failed { block, error: "simulated failure of block".to_owned() }
}
