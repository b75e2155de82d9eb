//! Tests of the queue, and of engines that are slow, wrong or lost.

mod balance;
mod buffering;
mod faults;
mod ordered;
mod queue;
