//! Who this process is, and whether another one is still there.

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sysinfo::System;

/// A process of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The machine's name.
    pub host: String,
    /// The process's number there.
    pub number: u32,
    /// When it began, by the machine's own count; another one of the same number began at another time.
    pub began: u64,
    /// Where these numbers mean something: a boot of a machine and, of containers, one of these.
    pub system: String,
}

impl Process {
    /// This one.
    pub fn own() -> Self {
        let number = std::process::id();
        Process { host: host(), number, began: began(number).unwrap_or(0), system: system() }
    }

    /// Whether it is known to be gone. Of those on other machines nothing is known.
    pub fn is_gone(&self) -> bool {
        !self.system.is_empty()
            && self.host == host()
            && self.system == system()
            && began(self.number) != Some(self.began)
    }
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {}", self.number, self.host)
    }
}

/// This machine's name.
pub fn host() -> String {
    static HOST: OnceLock<String> = OnceLock::new();
    let name = || System::host_name().ok().filter(|name| !name.is_empty());
    HOST.get_or_init(|| name().unwrap_or_else(|| "localhost".into())).clone()
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A word that nobody else has, for names of files.
pub(super) fn word() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Seeded by the system, and never twice the same.
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
    // Numbers of processes are of the whole machine.
    host()
}

/// When a process began that is there and has not ended.
#[cfg(target_os = "linux")]
fn began(number: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    // proc(5): the name in brackets may hold anything; behind it field 3 is the state, 22 the start in ticks since the boot.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") { None } else { fields.nth(22 - 4)?.parse().ok() }
}

#[cfg(not(target_os = "linux"))]
fn began(number: u32) -> Option<u64> {
    use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate};
    let (mut system, pid) = (System::new().ok()?, Pid::from_u32(number));
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), false, ProcessRefreshKind::nothing());
    system.process(pid).map(|process| process.start_time())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_there_and_others_of_its_number_are_gone() {
        let own = Process::own();
        assert!(own.began > 0 && !own.host.is_empty() && !own.system.is_empty());
        assert!(!own.is_gone());
        assert!(Process { began: own.began + 1, ..own.clone() }.is_gone());
        assert!(!Process { began: own.began + 1, system: "elsewhere".into(), ..own.clone() }.is_gone());
        assert!(!Process { began: own.began + 1, host: "another".into(), ..own.clone() }.is_gone());
        assert_eq!(own.to_string(), format!("process {} on {}", std::process::id(), host()));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_ended_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let number = child.id();
        let process = Process { number, began: began(number).unwrap(), ..Process::own() };
        assert!(!process.is_gone());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(process.is_gone());
    }

    #[test]
    fn words_differ() {
        assert_ne!(word(), word());
    }
}
