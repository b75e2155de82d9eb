//! Memory of the machine.

use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

/// Returns the default limit in bytes: a quarter of the memory available to this process, at most 4
/// GiB.
pub(crate) fn default_limit() -> u64 {
    limit_of(available())
}

fn limit_of(memory: Option<u64>) -> u64 {
    memory.map_or(u64::MAX, |bytes| bytes / 4).min(4 << 30)
}

/// Returns the memory of the machine, or the memory that a control group (a container, a batch job)
/// grants this process, if that is less.
pub(crate) fn available() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory();
    let own_pid = sysinfo::get_current_pid().ok();
    let only_own = ProcessesToUpdate::Some(own_pid.as_slice());
    system.refresh_processes_specifics(only_own, false, ProcessRefreshKind::nothing());
    let limits = [system.cgroup_limits(), own_pid.and_then(|pid| system.process(pid)?.cgroup_limits())];
    let granted = limits.into_iter().flatten().map(|limits| limits.total_memory);
    granted.chain([system.total_memory()]).filter(|&bytes| bytes > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_a_quarter_of_the_memory_up_to_4_gib() {
        assert_eq!(limit_of(Some(8 << 30)), 2 << 30);
        assert_eq!(limit_of(Some(64 << 30)), 4 << 30);
        assert_eq!(limit_of(None), 4 << 30);
        let bytes = available().unwrap();
        assert!((64 << 20..1 << 50).contains(&bytes), "{bytes}");
    }
}
