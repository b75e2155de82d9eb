//! Excludes devices that take longer to start than they save in a job.

use std::time::Duration;

use super::{BATCHES_PER_SECOND, Run, is_measured};
use crate::engine::thread_engine::CpuKind;
use crate::gpu::adapter::{AdapterDescription, Device, FoundAdapter};
use crate::gpu::choosing::Store;

/// Seconds that a GPU needs to open, by adapter.
static OPENING: Store<f64> = Store::new("openings.json");
/// Seconds that a GPU of unknown speed needs to open.
const UNKNOWN_OPENING: f64 = 0.1;
/// Seconds that a GPU needs from its opening to its first results. Its kernels are compiled and its
/// data are uploaded.
const FIRST_RESULTS: f64 = 0.2;
/// An opening time is stored again if it changes by this factor.
const CHANGE: f64 = 2.0;

/// Stores the time that an adapter took to open, unless about the same time is stored.
pub(super) fn remember_opening(adapter: &FoundAdapter, time: Duration) {
    let key = adapter.description.fingerprint().key();
    let seconds = time.as_secs_f64();
    let is_known = |stored: f64| seconds < stored * CHANGE && stored < seconds * CHANGE;
    if !OPENING.get(&key).is_some_and(is_known) {
        OPENING.keep(&key, seconds);
    }
}

/// The work of a job, for an estimate of its time.
pub(super) struct JobWork {
    pub(super) cells: u64,
    /// Cells that a card is expected to compute per second.
    pub(super) card_speed: f64,
    /// Number of CPU threads that compute next to a GPU.
    pub(super) threads: usize,
}

/// Removes the devices that would make a job slower. The first GPU always remains. Another device
/// remains if the time that it saves is longer than its start. All devices remain if a kernel is
/// named or measured again, or if there is no hardware GPU.
pub(super) fn worth_starting<K: CpuKind>(options: &Run, mut devices: Vec<Device>, work: JobWork) -> Vec<Device> {
    let JobWork { cells, card_speed, threads } = work;
    let first = devices.iter().position(Device::is_hardware_gpu);
    let Some(first) = first.filter(|_| devices.len() > 1 && !is_measured(options)) else { return devices };
    let opening = |adapter: &AdapterDescription| OPENING.get(&adapter.fingerprint().key()).unwrap_or(UNKNOWN_OPENING);
    let rate = |device: &Device| match device {
        Device::Adapter(adapter) => RatedDevice {
            speed: card_speed * adapter.description.select_by_kind(1.0, 0.1, 0.001),
            start: opening(&adapter.description) + FIRST_RESULTS,
        },
        // A thread that computes the last batch may end last.
        Device::Cpu => RatedDevice {
            speed: threads.max(1) as f64 * K::CELLS as f64 * BATCHES_PER_SECOND,
            start: 1.0 / BATCHES_PER_SECOND,
        },
    };
    let kept = kept(devices.iter().map(rate).collect(), first, cells as f64);
    for (device, _) in devices.iter().zip(&kept).filter(|(_, is_kept)| !**is_kept) {
        let name = device.adapter().map_or("CPU", |adapter| adapter.description.label.as_str());
        tracing::debug!(cells, "{name} is not used: its start takes longer than it saves");
    }
    let mut kept = kept.into_iter();
    devices.retain(|_| kept.next().unwrap_or(true));
    devices
}

/// A device of a job.
struct RatedDevice {
    /// Cells per second.
    speed: f64,
    /// Seconds until the first results.
    start: f64,
}

/// Returns which devices remain. `first` is the device that always remains.
fn kept(devices: Vec<RatedDevice>, first: usize, cells: f64) -> Vec<bool> {
    let mut speed = devices[first].speed;
    let is_kept = |(index, device): (usize, RatedDevice)| {
        let saved = cells / speed - cells / (speed + device.speed);
        let is_kept = index == first || saved > device.start;
        if is_kept && index != first {
            speed += device.speed;
        }
        is_kept
    };
    devices.into_iter().enumerate().map(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::adapter::enumerate;
    use crate::pairs::Pairs;

    #[test]
    fn devices_remain_if_they_save_more_than_their_start() {
        let card = || RatedDevice { speed: 2e12, start: 0.3 };
        let threads = || RatedDevice { speed: 2e11, start: 0.1 };
        let kept = |devices, first, seconds: f64| kept(devices, first, seconds * 2e12);
        assert_eq!(kept(vec![card()], 0, 0.0), [true]);
        // Two cards take half of the time of one.
        assert_eq!(kept(vec![card(), card()], 0, 0.5), [true, false]);
        assert_eq!(kept(vec![card(), card()], 0, 0.7), [true, true]);
        // Threads with a tenth of the speed of a card save a tenth of the time, and less next to two.
        assert_eq!(kept(vec![threads(), card()], 1, 1.0), [false, true]);
        assert_eq!(kept(vec![threads(), card()], 1, 1.2), [true, true]);
        assert_eq!(kept(vec![card(), card(), threads()], 0, 1.2), [true, true, false]);
        assert_eq!(kept(vec![card(), card(), threads()], 0, 6.0), [true, true, true]);
    }

    #[test]
    fn all_devices_remain_without_a_hardware_gpu() {
        let adapter =
            enumerate().into_iter().last().expect("no adapter runs compute shaders here: install software Vulkan");
        let software = Device::Adapter(Box::new(adapter));
        for devices in [vec![Device::Cpu], vec![software, Device::Cpu]] {
            let count = devices.len();
            assert_eq!(
                worth_starting::<Pairs>(&Run::default(), devices, JobWork { cells: 1, card_speed: 1e12, threads: 2 })
                    .len(),
                count
            );
        }
    }
}
