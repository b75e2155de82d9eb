//! Rates of a bench beside those that an earlier one saved: which fell.

use std::collections::{HashMap, HashSet};

use super::rates::Rate;
use crate::measure::table::{Cell, Column, Status, Table};

const COLUMNS: [Column; 6] = [
    Column { key: "row", name: "row", unit: "" },
    Column { key: "unit", name: "unit", unit: "" },
    Column { key: "saved", name: "saved", unit: "" },
    Column { key: "now", name: "now", unit: "" },
    Column { key: "times_as_fast", name: "times as fast", unit: "" },
    Column { key: "mark", name: "", unit: "" },
];

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Comparison {
    /// One a device, all rates in the order in which they were measured, then those that were only saved.
    pub tables: Vec<Table>,
    /// Rates on both sides.
    pub compared: usize,
    /// Rates that fell by more than the tolerance, and rows that could not be measured any more.
    pub fallen: usize,
    /// The row that fell by most, and how many times as fast it is; of rows with a rate.
    pub worst: Option<(String, f64)>,
    /// Devices whose rates stand beside those of another one: it, and the one that was saved.
    pub other_devices: Vec<(String, String)>,
}

/// Compares rates. `tolerance`: the part of a rate by which it may fall; `name`: what the saved ones are called.
///
/// Rates of one device stand beside its own. If that leaves one device on either side, as after a driver's update, these
/// stand beside each other, and [`Comparison::other_devices`] says so.
pub fn compare(saved: &[Rate], now: &[Rate], tolerance: f64, name: &str) -> Comparison {
    let mut comparison = Comparison::default();
    let beside = devices_beside(saved, now);
    let mut met: HashSet<(&str, &str)> = HashSet::new();
    let of_saved: HashMap<(&str, &str), &Rate> = saved.iter().map(|rate| (place(rate), rate)).collect();
    for device in devices(now) {
        let other = beside.get(device).copied();
        if let Some(other) = other.filter(|other| *other != device) {
            comparison.other_devices.push((device.into(), other.into()));
        }
        let mut table = table(device, name, other);
        for rate in now.iter().filter(|rate| rate.device == device) {
            let before = other.and_then(|other| of_saved.get(&(other, rate.key.as_str()))).copied();
            // Numbers of different units are not compared.
            let before = before.filter(|before| before.unit == rate.unit);
            if let Some(before) = before {
                met.insert(place(before));
            }
            comparison.add(&mut table, before, rate, tolerance);
        }
        if let Some(other) = other {
            let missing = saved.iter().filter(|rate| rate.device == other && !met.contains(&place(rate)));
            missing.for_each(|rate| push(&mut table, rate, rate.value.ok(), None, None, "not measured"));
        }
        comparison.tables.push(table);
    }
    for device in devices(saved) {
        if !beside.values().any(|other| *other == device) {
            let mut table = table(device, name, Some(device));
            let rates = saved.iter().filter(|rate| rate.device == device);
            rates.for_each(|rate| push(&mut table, rate, rate.value.ok(), None, None, "not measured"));
            comparison.tables.push(table);
        }
    }
    comparison
}

impl Comparison {
    /// Puts a rate beside the saved one.
    fn add(&mut self, table: &mut Table, before: Option<&Rate>, rate: &Rate, tolerance: f64) {
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
            // What was measured once and now takes too long, is refused or fails, has lost its rate.
            (saved, _, Err(why)) => {
                self.fallen += usize::from(saved.is_some());
                match why {
                    Status::Skipped if saved.is_some() => "SKIPPED",
                    _ if saved.is_some() => "FAILED",
                    // Neither side has a number.
                    _ => return,
                }
            }
        };
        push(table, rate, saved, rate.value.ok(), times, mark);
    }

    /// In one sentence.
    pub fn summary(&self, tolerance: f64) -> String {
        let Comparison { compared, fallen, worst, .. } = self;
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

fn table(device: &str, name: &str, other: Option<&str>) -> Table {
    let mut table = Table::new("compare", device, format!("rates beside those of {name}"), &COLUMNS);
    match other {
        None => table.note(format!("{name} has no rates of this device")),
        Some(other) if other != device => table.note(format!("another device's rates: {other}")),
        Some(_) => {}
    }
    table
}

fn push(table: &mut Table, rate: &Rate, saved: Option<f64>, now: Option<f64>, times: Option<f64>, mark: &str) {
    let number = |value: Option<f64>| value.map_or(Cell::from(""), Cell::from);
    let cells = vec![
        rate.key.as_str().into(),
        rate.unit.as_str().into(),
        number(saved),
        number(now),
        number(times),
        mark.into(),
    ];
    table.push(Status::Measured, cells);
}

fn place(rate: &Rate) -> (&str, &str) {
    (&rate.device, &rate.key)
}

/// Each once, in their order.
fn devices(rates: &[Rate]) -> Vec<&str> {
    let mut devices: Vec<&str> = Vec::new();
    for rate in rates {
        if !devices.contains(&rate.device.as_str()) {
            devices.push(&rate.device);
        }
    }
    devices
}

/// The saved device that each device now stands beside.
fn devices_beside<'a>(saved: &'a [Rate], now: &'a [Rate]) -> HashMap<&'a str, &'a str> {
    let (saved, now) = (devices(saved), devices(now));
    let mut beside: HashMap<&str, &str> =
        now.iter().filter(|device| saved.contains(device)).map(|device| (*device, *device)).collect();
    let left = |of: &[&'a str], others: &[&str]| -> Vec<&'a str> {
        of.iter().copied().filter(|device| !others.contains(device)).collect()
    };
    if let ([own], [other]) = (&left(&now, &saved)[..], &left(&saved, &now)[..]) {
        beside.insert(own, other);
    }
    beside
}

#[cfg(test)]
mod tests;
