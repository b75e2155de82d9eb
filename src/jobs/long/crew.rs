//! The engines of a job, and what became of them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::LongEngineStats;
use crate::error::{Error, Result};
use crate::long::LongEngine;

/// An engine and what it did.
pub struct Member {
    /// The engine.
    pub engine: Box<dyn LongEngine>,
    /// What it did.
    pub stats: LongEngineStats,
}

/// Opens the engine that steps in when no other is left.
pub type Reserve = Box<dyn FnOnce() -> Box<dyn LongEngine>>;

/// The engines that are left, and what those did that are not.
pub struct Crew {
    /// Those left.
    pub members: Vec<Member>,
    gone: Vec<LongEngineStats>,
    reserve: Option<Reserve>,
}

impl Crew {
    /// All of them, and who steps in for them.
    pub fn new(engines: Vec<Box<dyn LongEngine>>, reserve: Option<Reserve>) -> Crew {
        Crew { members: engines.into_iter().map(Member::new).collect(), gone: Vec::new(), reserve }
    }

    /// Has the reserve step in; says whether there was one.
    pub fn call_reserve(&mut self) -> bool {
        let Some(open) = self.reserve.take() else { return false };
        let member = Member::new(open());
        tracing::warn!("{} steps in and goes on from what is known", member.stats.name);
        self.members.push(member);
        true
    }

    /// Parts with engines that were given up.
    pub fn dismiss_lost(&mut self) {
        let (left, lost): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.members).into_iter().partition(|member| member.stats.lost.is_none());
        self.members = left;
        self.gone.extend(lost.into_iter().map(|member| member.stats));
    }

    /// The engines, fastest first.
    pub fn by_speed(&mut self) -> Vec<&mut Member> {
        let mut members: Vec<&mut Member> = self.members.iter_mut().collect();
        members.sort_by(|a, b| b.engine.speed().total_cmp(&a.engine.speed()));
        members
    }

    /// Why nobody is left.
    pub fn nobody(&self) -> Error {
        let (device, message) = match self.gone.last() {
            Some(stats) => (stats.name.clone(), stats.lost.clone().unwrap_or_default()),
            None => ("none".into(), "there is no engine for long pairs".into()),
        };
        Error::Device { device, message: format!("no engine is left: {message}") }
    }

    /// What all did.
    pub fn stats(&self) -> Vec<LongEngineStats> {
        self.members.iter().map(|member| &member.stats).chain(&self.gone).cloned().collect()
    }
}

impl Member {
    fn new(engine: Box<dyn LongEngine>) -> Member {
        let stats = LongEngineStats { name: engine.label().into(), ..Default::default() };
        Member { engine, stats }
    }

    /// Calls the engine; if it panics that is an error of the device.
    pub fn call<T>(&mut self, f: impl FnOnce(&mut dyn LongEngine) -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(|| f(self.engine.as_mut()))).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(Error::Device { device: self.stats.name.clone(), message: format!("it panicked: {said}") })
        })
    }

    /// Whether an error is the engine's own, so that others can go on. If so it is given up.
    pub fn gives_up(&mut self, error: &Error) -> bool {
        let own = matches!(error, Error::Device { .. } | Error::Unsuited { .. });
        if own {
            tracing::warn!("{} is given up, others take over its work: {error}", self.stats.name);
            self.stats.lost = Some(error.to_string());
        }
        own
    }
}
