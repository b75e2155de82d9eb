//! The ranks of one job. All ranks compute. Rank 0 also leads: it distributes the blocks.
//!
//! Rank 0 receives the messages of all ranks, and asks the
//! [dispatcher](crate::distributed::dispatch) how to respond. On every rank, including rank 0, one
//! thread handles messages and another one computes. Therefore a rank receives its next blocks
//! before it has finished the current ones.

mod block_queue;
mod client;
mod compute;
mod follow;
mod lead;
mod machine;
mod message;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

pub use compute::RankWork;
pub use follow::{follow, wait_after_error};
pub use lead::{LeadHandler, LeadOptions, LeadSummary, lead};
pub use machine::{RankResources, ResourceShare, share};
pub use message::{FinishedBlock, RankInfo};
pub use wire::Wire;

use crate::distributed::dispatch::Rank;

/// The rank that leads.
pub const LEAD: Rank = Rank(0);

/// Pause between two polls for messages. It doubles while no message arrives.
struct Pause(Duration);

impl Pause {
    const MIN: Duration = Duration::from_micros(50);
    const MAX: Duration = Duration::from_millis(2);

    fn reset(&mut self) {
        self.0 = Self::MIN;
    }

    fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(Self::MAX);
        pause
    }
}

impl Default for Pause {
    fn default() -> Self {
        Pause(Self::MIN)
    }
}
