//! Excludes devices that take longer to start than they save in a job.

use std::time::Duration;

use super::BATCHES_PER_SECOND;
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
/// Factor by which an opening time must change before it is stored again.
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

/// Removes the devices that would make a job of `cells` cells slower. The first GPU always remains.
/// Another device remains if the time that it saves is longer than its start. A card is expected to
/// compute `card_speed` cells per second. Without a hardware GPU, all devices remain.
pub(super) fn worth_starting<K: CpuKind>(
    devices: Vec<Device>,
    card_speed: f64,
    threads: usize,
    cells: u64,
) -> Vec<Device> {
    let opening = |adapter: &AdapterDescription| OPENING.get(&adapter.fingerprint().key()).unwrap_or(UNKNOWN_OPENING);
    let start = |device: &Device| match device {
        Device::Adapter(adapter) => opening(&adapter.description) + FIRST_RESULTS,
        // A thread that computes the last batch may end last.
        Device::Cpu => 1.0 / BATCHES_PER_SECOND,
    };
    let speed = |device: &Device| match device {
        Device::Adapter(adapter) => card_speed * adapter.description.select_by_kind(1.0, 0.1, 0.001),
        Device::Cpu => threads.max(1) as f64 * K::CELLS as f64 * BATCHES_PER_SECOND,
    };
    let rated = devices.iter().map(|device| RatedDevice { speed: speed(device), start: start(device) }).collect();
    let is_first = |device: &Device| device.adapter().is_some_and(|adapter| !adapter.is_software());
    let Some(first) = devices.iter().position(is_first) else { return devices };
    let kept = kept(rated, first, cells as f64);
    let mut kept = kept.into_iter();
    let mut devices = devices;
    devices.retain(|device| {
        let is_kept = kept.next().unwrap_or(true);
        if !is_kept {
            let name = match device {
                Device::Adapter(adapter) => adapter.description.label.as_str(),
                Device::Cpu => "CPU",
            };
            tracing::debug!(cells, "{name} is not used: its start takes longer than it saves");
        }
        is_kept
    });
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
            assert_eq!(worth_starting::<Pairs>(devices, 1e12, 2, 1).len(), count);
        }
    }
}
