//! Tests of the queue, and of engines that are slow, wrong or lost, or have few capabilities.

mod balance;
mod buffering;
mod every_job;
mod faults;
mod minimal;
mod ordered;
mod poisoned;
mod queue;
