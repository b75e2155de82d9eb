//! Compares the rates of a benchmark with saved rates of an earlier one.

use std::collections::{HashMap, HashSet};

use super::rates::BenchRate;
use crate::measure::table::{MeasurementTable, RowStatus, TableCell, TableColumn};

const COLUMNS: [TableColumn; 6] = [
    TableColumn { key: "row", name: "row", unit: "" },
    TableColumn { key: "unit", name: "unit", unit: "" },
    TableColumn { key: "saved", name: "saved", unit: "" },
    TableColumn { key: "now", name: "now", unit: "" },
    TableColumn { key: "times_as_fast", name: "times as fast", unit: "" },
    TableColumn { key: "mark", name: "", unit: "" },
];

/// Result of a comparison.
#[derive(Debug, Default)]
pub struct RateComparison {
    /// One table per device, with all rates in the order of measurement, followed by rates that
    /// were only saved.
    pub tables: Vec<MeasurementTable>,
    /// Number of rates on both sides.
    pub compared: usize,
    /// Number of rates that fell by more than the tolerance, including rows that can no longer be
    /// measured.
    pub fallen: usize,
    /// The row with the largest fall, and its speed-up factor. Only rows with rates count.
    pub worst: Option<(String, f64)>,
    /// Pairs of a device and a saved device with a different name whose rates are compared.
    pub other_devices: Vec<(String, String)>,
}

/// Compares rates. `tolerance` is the fraction of a rate by which it may fall. `name` is the name
/// of the saved rates.
///
/// Rates are compared within each device. If one device remains on either side, for example after a
/// driver update, these two are compared and listed in [`RateComparison::other_devices`].
pub fn compare(saved: &[BenchRate], now: &[BenchRate], tolerance: f64, name: &str) -> RateComparison {
    let mut comparison = RateComparison::default();
    let counterparts = compared_devices(saved, now);
    let mut met: HashSet<(&str, &str)> = HashSet::new();
    let of_saved: HashMap<(&str, &str), &BenchRate> = saved.iter().map(|rate| (identity(rate), rate)).collect();
    for device in devices(now) {
        let other = counterparts.get(device).copied();
        if let Some(other) = other.filter(|other| *other != device) {
            comparison.other_devices.push((device.into(), other.into()));
        }
        let mut table = table(device, name, other);
        for rate in now.iter().filter(|rate| rate.device == device) {
            let before = other.and_then(|other| of_saved.get(&(other, rate.key.as_str()))).copied();
            // Numbers with different units are not compared.
            let before = before.filter(|before| before.unit == rate.unit);
            if let Some(before) = before {
                met.insert(identity(before));
            }
            comparison.add(&mut table, before, rate, tolerance);
        }
        if let Some(other) = other {
            let missing = saved.iter().filter(|rate| rate.device == other && !met.contains(&identity(rate)));
            missing.for_each(|rate| push(&mut table, rate, rate.value.ok(), None, None, "not measured"));
        }
        comparison.tables.push(table);
    }
    for device in devices(saved) {
        if !counterparts.values().any(|other| *other == device) {
            let mut table = table(device, name, Some(device));
            let rates = saved.iter().filter(|rate| rate.device == device);
            rates.for_each(|rate| push(&mut table, rate, rate.value.ok(), None, None, "not measured"));
            comparison.tables.push(table);
        }
    }
    comparison
}

impl RateComparison {
    /// Compares a rate with the saved one.
    fn add(&mut self, table: &mut MeasurementTable, before: Option<&BenchRate>, rate: &BenchRate, tolerance: f64) {
        let saved = before.and_then(|before| before.value.ok());
        let times = before.zip(rate.value.ok()).and_then(|(before, now)| before.times(now));
        let mark = match (saved, times, rate.value) {
            (Some(_), Some(times), _) => {
                self.compared += 1;
                let has_fallen = times < 1.0 - tolerance;
                if has_fallen && self.worst.as_ref().is_none_or(|(_, worst)| times < *worst) {
                    self.worst = Some((rate.key.clone(), times));
                }
                self.fallen += usize::from(has_fallen);
                match has_fallen {
                    true => "SLOWER",
                    false if times > 1.0 + tolerance => "faster",
                    false => "",
                }
            }
            (_, _, Ok(_)) => "new",
            // A row loses its rate if it now takes too long, is refused or fails.
            (saved, _, Err(why)) => {
                self.fallen += usize::from(saved.is_some());
                match why {
                    RowStatus::Skipped if saved.is_some() => "SKIPPED",
                    _ if saved.is_some() => "FAILED",
                    // Neither side has a number.
                    _ => return,
                }
            }
        };
        push(table, rate, saved, rate.value.ok(), times, mark);
    }

    /// Summarises the comparison in one sentence.
    pub fn summary(&self, tolerance: f64) -> String {
        let RateComparison { compared, fallen, worst, .. } = self;
        let percent = 100.0 * tolerance;
        let rates = |count: usize| if count == 1 { "1 rate".to_owned() } else { format!("{count} rates") };
        match (fallen, worst) {
            (0, _) => format!("none of {} fell by more than {percent}%", rates(*compared)),
            (_, None) => format!("{} that there were before could not be measured", rates(*fallen)),
            (_, Some((key, times))) => {
                let worst = 100.0 * (1.0 - times);
                format!("{} of {compared} fell by more than {percent}%; most: {key}, by {worst:.0}%", rates(*fallen))
            }
        }
    }
}

fn table(device: &str, name: &str, other: Option<&str>) -> MeasurementTable {
    let mut table = MeasurementTable::new("compare", device, format!("rates compared with those of {name}"), &COLUMNS);
    match other {
        None => table.note(format!("{name} has no rates of this device")),
        Some(other) if other != device => table.note(format!("another device's rates: {other}")),
        Some(_) => {}
    }
    table
}

fn push(
    table: &mut MeasurementTable,
    rate: &BenchRate,
    saved: Option<f64>,
    now: Option<f64>,
    times: Option<f64>,
    mark: &str,
) {
    let number = |value: Option<f64>| value.map_or(TableCell::from(""), TableCell::from);
    let cells = vec![
        rate.key.as_str().into(),
        rate.unit.as_str().into(),
        number(saved),
        number(now),
        number(times),
        mark.into(),
    ];
    table.push(RowStatus::Measured, cells);
}

fn identity(rate: &BenchRate) -> (&str, &str) {
    (&rate.device, &rate.key)
}

/// Returns each device once, in order.
fn devices(rates: &[BenchRate]) -> Vec<&str> {
    let mut devices: Vec<&str> = Vec::new();
    for rate in rates {
        if !devices.contains(&rate.device.as_str()) {
            devices.push(&rate.device);
        }
    }
    devices
}

/// Returns the saved device that each device is compared with.
fn compared_devices<'a>(saved: &'a [BenchRate], now: &'a [BenchRate]) -> HashMap<&'a str, &'a str> {
    let (saved, now) = (devices(saved), devices(now));
    let mut counterparts: HashMap<&str, &str> =
        now.iter().filter(|device| saved.contains(device)).map(|device| (*device, *device)).collect();
    let left = |of: &[&'a str], others: &[&str]| -> Vec<&'a str> {
        of.iter().copied().filter(|device| !others.contains(device)).collect()
    };
    if let ([new], [old]) = (&left(&now, &saved)[..], &left(&saved, &now)[..]) {
        counterparts.insert(new, old);
    }
    counterparts
}

#[cfg(test)]
mod tests;
