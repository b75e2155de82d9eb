//! Identifies this process, and detects whether another process has ended.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sysinfo::System;

/// A process on some machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Name of the machine.
    pub host: String,
    /// Process id on that machine.
    #[serde(rename = "number")]
    pub pid: u32,
    /// Start time of the process, in the unit of the operating system. It distinguishes processes
    /// that had the same id at different times.
    #[serde(rename = "began")]
    pub started: u64,
    /// Scope of the process id: boot id and PID namespace on Linux, the machine elsewhere.
    pub system: String,
}

impl Process {
    /// Returns the current process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Process { host: host(), pid, started: start_time(pid).unwrap_or(0), system: system() }
    }

    /// Checks whether the process is known to have ended. Returns `false` for processes on other
    /// machines.
    pub fn has_ended(&self) -> bool {
        !self.system.is_empty()
            && self.host == host()
            && self.system == system()
            && start_time(self.pid) != Some(self.started)
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// Returns the name of this machine.
pub fn host() -> String {
    static HOST: OnceLock<String> = OnceLock::new();
    let name = || System::host_name().ok().filter(|name| !name.is_empty());
    HOST.get_or_init(|| name().unwrap_or_else(|| "localhost".into())).clone()
}

/// Returns the current time in seconds since 1970.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns a random token for names of temporary files.
pub(super) fn unique_token() -> String {
    use std::hash::{BuildHasher, RandomState};
    // `RandomState` has random keys, which differ for every instance.
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

#[cfg(target_os = "linux")]
fn system() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {}", read("/proc/sys/kernel/random/boot_id"), space.display())
}

#[cfg(not(target_os = "linux"))]
fn system() -> String {
    // Process ids are unique on the whole machine.
    host()
}

/// Returns the start time of a process, or `None` if it does not run.
#[cfg(target_os = "linux")]
fn start_time(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // proc(5): the name in parentheses may contain any character. After it, field 3 is the state,
    // and field 22 is the start time in ticks since the boot.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") { None } else { fields.nth(22 - 4)?.parse().ok() }
}

#[cfg(not(target_os = "linux"))]
fn start_time(pid: u32) -> Option<u64> {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate};
    let (mut system, pid) = (System::new().ok()?, Pid::from_u32(pid));
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, ProcessRefreshKind::nothing());
    system.process(pid).map(|process| process.start_time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_is_identified_by_id_and_start_time() {
        let this = Process::current();
        assert!(this.started > 0 && !this.host.is_empty() && !this.system.is_empty());
        assert!(!this.has_ended());
        assert!(Process { started: this.started + 1, ..this.clone() }.has_ended());
        assert!(!Process { started: this.started + 1, system: "elsewhere".into(), ..this.clone() }.has_ended());
        assert!(!Process { started: this.started + 1, host: "another".into(), ..this.clone() }.has_ended());
        assert_eq!(this.to_string(), format!("process {} on {}", std::process::id(), host()));
    }

    #[cfg(unix)]
    #[test]
    fn ended_process_is_detected() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let process = Process { pid, started: start_time(pid).unwrap(), ..Process::current() };
        assert!(!process.has_ended());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.has_ended());
    }

    #[test]
    fn tokens_differ() {
        assert_ne!(unique_token(), unique_token());
    }
}
