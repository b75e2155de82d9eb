//! Ranks of one job: one leads, all compute.
//!
//! Rank 0 hears of everything, and asks the [dispatcher](crate::distributed::dispatch) what follows. On every rank, rank 0 as well,
//! one thread carries messages and another computes, so that a rank has its next blocks before it needs them.

mod compute;
mod desk;
mod follow;
mod lead;
mod machine;
mod message;
mod seat;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

pub use compute::{Results, Work};
pub use follow::{follow, stand_by};
pub use lead::{Book, Leader, Led, lead};
pub use machine::{Offer, Share, share};
pub use message::{Finished, Member};
pub use wire::Wire;

use crate::distributed::dispatch::Rank;

/// The rank that leads.
pub const LEAD: Rank = 0;

/// How long nobody looks for messages: the longer, the longer nothing came.
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
