//! The queue, and engines that are slow, wrong or gone.

mod balance;
mod buffering;
mod faults;
mod ordered;
mod queue;
