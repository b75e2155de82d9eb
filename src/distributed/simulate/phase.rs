//! From a start, or a resumption, of all ranks to the end or the death that ends it.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use super::super::dispatch::{Answer, Dispatcher, Lease, Rank, Reply, Request};
use super::{Fate, Random, Report, World};

/// Seconds between ticks of the dispatcher.
const TICK: f64 = 1.0;

/// How a phase ends, and when.
pub(super) enum End {
    Over(f64),
    Died(f64),
}

#[derive(Debug)]
enum What {
    /// A rank is there.
    Begins,
    /// A rank is through with the block that it computes.
    Computed,
    /// A message is at rank 0's door.
    Arrives(Request),
    /// Rank 0 has read it.
    Read(Request),
    /// A message is at a rank.
    Told(Reply),
    /// A rank is dead; a rank is silent; somebody has noticed a death.
    Dies,
    Hangs,
    Noticed,
    Tick,
}

/// Something that will happen to a rank.
#[derive(Debug)]
struct Event {
    at: f64,
    /// Of two at the same time the one that was thought of first.
    number: u64,
    rank: Rank,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.number.cmp(&other.number))
    }
}

/// One that pretends to compute.
#[derive(Debug, Clone, Default)]
struct Pretender {
    queue: VecDeque<usize>,
    /// The block that it computes, and since when.
    computes: Option<(usize, f64)>,
    ask_at: usize,
    has_asked: bool,
    is_silent: bool,
    /// Blocks that its engines will still begin before they stop.
    run: usize,
    /// When it had nothing to do any more.
    idle_since: Option<f64>,
}

pub(super) struct Phase<'a> {
    world: &'a World,
    bad: &'a [bool],
    random: &'a mut Random,
    dispatcher: Dispatcher,
    ranks: Vec<Pretender>,
    events: BinaryHeap<Reverse<Event>>,
    number: u64,
    now: f64,
    /// Until when rank 0 deals with messages.
    busy_until: f64,
    report: Report,
}

impl<'a> Phase<'a> {
    pub(super) fn new(
        world: &'a World,
        fates: &[Fate],
        bad: &'a [bool],
        begin: f64,
        report: Report,
        random: &'a mut Random,
    ) -> Self {
        let done: Vec<bool> = report.counted.iter().map(|&count| count > 0).collect();
        let mut dispatcher = Dispatcher::new(&world.blocks, &done, world.rules);
        let ranks = vec![Pretender::default(); world.speeds.len()];
        (0..ranks.len()).for_each(|rank| dispatcher.joined(rank, begin));
        let events = BinaryHeap::new();
        let mut phase =
            Phase { world, bad, random, dispatcher, ranks, events, number: 0, now: begin, busy_until: begin, report };
        for (rank, fate) in fates.iter().enumerate() {
            phase.at(begin + fate.late, rank, What::Begins);
            for (when, what) in [(fate.dies, What::Dies), (fate.hangs, What::Hangs)] {
                // What happens while the job is down happens to nobody.
                if let Some(when) = when.filter(|&when| when >= begin) {
                    phase.at(when, rank, what);
                }
            }
        }
        phase.at(begin + TICK, 0, What::Tick);
        phase
    }

    fn at(&mut self, at: f64, rank: Rank, what: What) {
        self.number += 1;
        self.events.push(Reverse(Event { at, number: self.number, rank, what }));
    }

    pub(super) fn run(mut self) -> (End, Report) {
        while !self.dispatcher.is_over() {
            let Some(Reverse(Event { at, rank, what, .. })) = self.events.pop() else { break };
            self.now = at;
            match what {
                What::Tick => {
                    self.dispatcher.tick(at);
                    self.at(at + TICK, 0, What::Tick);
                    self.answers(at);
                }
                What::Arrives(request) => {
                    let bytes = request.to_bytes().len() as u64;
                    let rows = matches!(request, Request::Finished { .. }).then_some(self.world.result_bytes);
                    self.report.longest_wait = self.report.longest_wait.max(self.busy_until - at);
                    let read = self.deal(rank, bytes + rows.unwrap_or(0));
                    self.at(read, rank, What::Read(request));
                }
                What::Read(request) => self.read(rank, request),
                What::Noticed => {
                    self.dispatcher.gone(rank, at);
                    self.answers(at);
                }
                What::Dies if self.world.restart.is_some() => {
                    self.report.deaths += 1;
                    let computing: Vec<(Rank, f64)> =
                        self.ranks.iter().enumerate().filter_map(|(rank, one)| Some((rank, one.computes?.1))).collect();
                    for (rank, since) in computing {
                        self.report.lost_cells += (at - since) * self.world.speeds[rank];
                    }
                    return (End::Died(at), self.finish());
                }
                What::Dies | What::Hangs => self.falls_silent(rank, matches!(what, What::Dies)),
                What::Begins | What::Computed | What::Told(_) if self.ranks[rank].is_silent => {}
                What::Begins => self.asks(rank),
                What::Computed => self.computed(rank),
                What::Told(reply) => self.told(rank, reply),
            }
        }
        (End::Over(self.now), self.finish())
    }

    fn finish(mut self) -> Report {
        let tally = self.dispatcher.tally();
        self.report.failures += tally.failures;
        self.report.copies += tally.copies;
        self.report.given_up = self.dispatcher.given_up().map(|(block, _)| block).collect();
        self.report
    }

    fn falls_silent(&mut self, rank: Rank, dies: bool) {
        let one = &mut self.ranks[rank];
        if !std::mem::replace(&mut one.is_silent, true)
            && let Some((_, since)) = one.computes
        {
            self.report.lost_cells += (self.now - since) * self.world.speeds[rank];
        }
        if dies {
            self.report.deaths += 1;
            self.at(self.now + self.world.notice, rank, What::Noticed);
        }
    }

    /// Rank 0 deals with a message to or from another; when it has.
    fn deal(&mut self, rank: Rank, bytes: u64) -> f64 {
        let mut seconds = self.world.handling;
        if rank != 0 {
            self.report.messages += 1;
            self.report.bytes += bytes;
            seconds += bytes as f64 / self.world.bandwidth;
        }
        self.report.busy += seconds;
        self.busy_until = self.busy_until.max(self.now) + seconds;
        self.busy_until
    }

    fn latency(&self, rank: Rank) -> f64 {
        if rank == 0 { 0.0 } else { self.world.latency }
    }

    fn read(&mut self, rank: Rank, request: Request) {
        match request {
            Request::Asks => {
                let answer = self.dispatcher.asks(rank, self.now);
                self.reply(rank, answer);
            }
            Request::Finished { block } => {
                let finished = self.dispatcher.finished(rank, block, self.now);
                self.report.counted[block] += u32::from(finished.counts);
                if !finished.counts {
                    self.report.lost_cells += self.world.blocks[block] as f64;
                }
                for other in finished.drop {
                    self.tell(other, Reply::Drop { block });
                }
            }
            Request::Failed { block, error } => {
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
            Answer::Lease(lease) => self.tell(rank, Reply::Lease(lease)),
            Answer::End => self.tell(rank, Reply::End),
            Answer::Wait => {}
        }
    }

    fn tell(&mut self, rank: Rank, reply: Reply) {
        let sent = self.deal(rank, reply.to_bytes().len() as u64);
        self.at(sent + self.latency(rank), rank, What::Told(reply));
    }

    fn says(&mut self, rank: Rank, request: Request) {
        self.at(self.now + self.latency(rank), rank, What::Arrives(request));
    }

    fn asks(&mut self, rank: Rank) {
        self.ranks[rank].has_asked = true;
        self.says(rank, Request::Asks);
    }

    fn told(&mut self, rank: Rank, reply: Reply) {
        let one = &mut self.ranks[rank];
        match reply {
            Reply::Lease(Lease { blocks, ask_at }) => {
                one.queue.extend(blocks);
                one.ask_at = ask_at;
                one.has_asked = false;
                self.goes_on(rank);
            }
            Reply::Drop { block } => one.queue.retain(|&other| other != block),
            Reply::End => {}
        }
    }

    fn computed(&mut self, rank: Rank) {
        let Some((block, _)) = self.ranks[rank].computes.take() else { return };
        let fails = self.bad[block] || self.world.failures > 0.0 && self.random.fraction() < self.world.failures;
        self.says(rank, if fails { failure(block) } else { Request::Finished { block } });
        self.goes_on(rank);
    }

    /// A rank begins its next block if it computes none, and asks for more if it holds little.
    fn goes_on(&mut self, rank: Rank) {
        let now = self.now;
        let one = &mut self.ranks[rank];
        if one.computes.is_none() {
            match one.queue.pop_front() {
                None => (one.idle_since, one.run) = (Some(now), 0),
                Some(block) => {
                    let begins = one.run == 0;
                    one.run = match (begins, self.world.stops_between) {
                        (false, true) => one.run - 1,
                        // What follows the last of them stops them first.
                        (true, true) => one.queue.len(),
                        (_, false) => 1,
                    };
                    self.report.idle += one.idle_since.take().map_or(0.0, |since| now - since);
                    one.computes = Some((block, now));
                    let noise = 1.0 + self.world.jitter * (2.0 * self.random.fraction() - 1.0);
                    let stop = if begins { self.world.stop } else { 0.0 };
                    self.report.begins += u64::from(begins);
                    let seconds = stop + self.world.blocks[block].max(1) as f64 / self.world.speeds[rank] * noise;
                    self.at(now + seconds, rank, What::Computed);
                }
            }
        }
        let one = &self.ranks[rank];
        let held = one.queue.len() + usize::from(one.computes.is_some());
        if !one.has_asked && held <= one.ask_at {
            self.asks(rank);
        }
    }
}

fn failure(block: usize) -> Request {
    Request::Failed { block, error: "it pretends to have failed".to_owned() }
}
