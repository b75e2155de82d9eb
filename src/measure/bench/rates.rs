//! Files of rates. A later benchmark is compared with them ([`super::compare`]).
//!
//! The first line has the name and version of the format. Lines that start with `#` are comments.
//! Each other line has a key, a value, its unit and the device, separated by tabs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, InputLocation, Result};
use crate::measure::table::{MeasurementTable, Measurements, RowStatus, TableCell, cell_text};

/// The first line of a file, except for the version.
const MAGIC: &str = "pairwave bench rates ";
/// The supported version.
const VERSION: &str = "1";
/// Maximum number of bytes in a line.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// Names of tables, each with the columns that identify its rows. These columns do not depend on
/// the device or its speed.
const NAMING: [(&str, &[&str]); 10] = [
    ("kernels", &["work", "gaps", "length_symbols", "pairs", "kernel"]),
    ("slices", &["kernel", "gaps", "workgroup_invocations", "slice_columns", "length_symbols"]),
    ("tiles", &["kernel", "gaps", "length_symbols", "lanes", "lane_columns"]),
    ("filter", &["method", "sequences"]),
    ("buffering", &["length_symbols", "buffering", "batch_share"]),
    ("endtoend", &["job", "kernel", "sequences"]),
    ("edit", &["mode", "length_symbols", "kernel", "lanes", "words"]),
    (
        "long",
        &[
            "part",
            "gaps",
            "engine",
            "query_symbols",
            "target_symbols",
            "strip_columns",
            "schedule",
            "method",
            "changed_percent",
        ],
    ),
    ("papara", &["by", "sites", "reads", "kernel"]),
    ("msa", &["mode", "residues", "sequences", "engine"]),
];

/// Columns with rates. Pairs per second are redundant if a table also has cells per second by the
/// clock.
const RATES: [&str; 5] = ["kernel_gcups", "gcups", "kernel_tcups", "tcups", "pairs_per_second"];
/// Columns with seconds, for stages without cells.
const SECONDS: [(&str, &[&str]); 1] = [("msa", &["tree_seconds", "alignment_seconds", "seconds"])];

/// A rate, or the duration of a stage.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRate {
    /// Key of the rate: the experiment, the identifying columns of its row, and the column.
    pub key: String,
    /// The value, which is more than 0; or the reason why it is missing.
    pub value: Result<f64, RowStatus>,
    /// `GCUPS`, `TCUPS`, `pairs/s` or `s`. For `s`, lower values are better.
    pub unit: String,
    /// The measured device, as its table names it.
    pub device: String,
}

impl BenchRate {
    /// Returns the speed-up factor of another value with the same unit, relative to this one.
    pub fn times(&self, now: f64) -> Option<f64> {
        let before = self.value.ok()?;
        Some(if self.unit == "s" { before / now } else { now / before })
    }
}

/// Returns the rates of all tables. Rows without a rate give the reason.
pub fn from_measurements(measurements: &Measurements) -> Vec<BenchRate> {
    let mut rates = Vec::new();
    // Rows with equal keys are numbered.
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    for table in &measurements.tables {
        let columns = rate_columns(table);
        let of_experiment = |rows: &[(&str, &'static [&'static str])]| {
            rows.iter().find(|(name, _)| *name == table.name).map_or(&[] as &[&str], |(_, columns)| columns)
        };
        let naming = of_experiment(&NAMING);
        let device = one_line(&table.device);
        for row in &table.rows {
            let mut key = table.name.to_owned();
            for column in naming {
                let cell = table.column(column).map_or(&TableCell::Empty, |index| &row.cells[index]);
                let text = if *cell == TableCell::Empty { String::new() } else { cell_text(cell, row.status) };
                if !text.is_empty() {
                    key.push_str(&format!(" {column}={}", text.replace(char::is_whitespace, "_")));
                }
            }
            let count = seen.entry((device.clone(), key.clone())).or_default();
            *count += 1;
            if *count > 1 {
                key.push_str(&format!(" row={count}"));
            }
            for &index in &columns {
                let value = match row.cells[index] {
                    TableCell::Number(number) if number.is_finite() && number > 0.0 => Ok(number),
                    _ => Err(row.status),
                };
                // A measured row may lack a kind of rate: devices without timestamps have no kernel
                // rates.
                if value != Err(RowStatus::Measured) {
                    let column = &table.columns[index];
                    let key = format!("{key} {}", column.key);
                    rates.push(BenchRate { key, value, unit: column.unit.into(), device: device.clone() });
                }
            }
        }
    }
    rates
}

/// Returns the columns of a table that are compared.
fn rate_columns(table: &MeasurementTable) -> Vec<usize> {
    if !NAMING.iter().any(|(name, _)| *name == table.name) {
        // Simulated tables have no speeds.
        return Vec::new();
    }
    let has_cells = ["gcups", "tcups"].iter().any(|key| table.column(key).is_some());
    let rates = RATES.iter().filter(|key| !(has_cells && **key == "pairs_per_second"));
    let seconds = SECONDS.iter().filter(|(name, _)| *name == table.name).flat_map(|(_, columns)| columns.iter());
    rates.chain(seconds).filter_map(|key| table.column(key)).collect()
}

/// Returns the name of a device without characters that end a field or a line.
fn one_line(name: &str) -> String {
    name.replace(|letter: char| letter.is_control(), " ")
}

/// Formats rates as a file, without missing rates. `header` has lines that describe the
/// measurement.
pub fn text(rates: &[BenchRate], header: &[String]) -> String {
    let mut out = format!("{MAGIC}{VERSION}\n");
    for line in header {
        out.push_str(&format!("# {}\n", one_line(line)));
    }
    for BenchRate { key, value, unit, device } in rates {
        if let Ok(value) = value {
            out.push_str(&format!("{key}\t{value}\t{unit}\t{device}\n"));
        }
    }
    out
}

/// Reads a file of rates.
///
/// # Errors
/// [`Error::Input`] with the line, if the file has another format or version, is damaged, or has no
/// rates; [`Error::Io`].
pub fn read(path: &Path) -> Result<Vec<BenchRate>> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let mut reader = BufReader::new(file);
    let mut rates: Vec<BenchRate> = Vec::new();
    let mut lines: HashMap<(String, String), u64> = HashMap::new();
    for number in 1.. {
        let wrong = |message: String| Error::Input {
            location: InputLocation { file: name.clone(), line: Some(number), ..InputLocation::default() },
            message,
        };
        let foreign = || wrong("not a file of rates saved by a benchmark".into());
        let mut line = Vec::new();
        let bytes = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        if bytes.map_err(|error| Error::io(path, error))? == 0 {
            return match rates.is_empty() {
                true if number == 1 => Err(foreign()),
                true => Err(wrong("the file has no rates".into())),
                false => Ok(rates),
            };
        }
        let is_whole = line.ends_with(b"\n");
        let text = match String::from_utf8(line) {
            Ok(text) => text,
            Err(_) if number == 1 => return Err(foreign()),
            Err(_) => return Err(wrong("not text in UTF-8".into())),
        };
        let text = text.trim_end_matches(['\n', '\r']);
        if number == 1 {
            match text.strip_prefix(MAGIC) {
                None => return Err(foreign()),
                Some(version) if is_whole && version != VERSION => {
                    return Err(wrong(format!(
                        "rates of version '{version}', but only version {VERSION} is supported"
                    )));
                }
                Some(_) => {}
            }
        }
        if !is_whole {
            return Err(wrong("the line is cut off".into()));
        }
        if number == 1 {
            continue;
        }
        if text.starts_with('#') {
            continue;
        }
        let rate = parse(text).map_err(&wrong)?;
        if let Some(before) = lines.insert((rate.device.clone(), rate.key.clone()), number) {
            return Err(wrong(format!("'{}' is already in line {before}", rate.key)));
        }
        rates.push(rate);
    }
    unreachable!("lines are counted without end")
}

fn parse(line: &str) -> Result<BenchRate, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [key, value, unit, device] = fields[..] else {
        return Err(format!(
            "{} fields, but key, value, unit and device are required, separated by tabs",
            fields.len()
        ));
    };
    for (what, text) in [("key", key), ("device", device)] {
        if text.trim().is_empty() {
            return Err(format!("the {what} is missing"));
        }
    }
    if !["GCUPS", "TCUPS", "pairs/s", "s"].contains(&unit) {
        return Err(format!("unknown unit '{unit}': use GCUPS, TCUPS, pairs/s or s"));
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => {
            Ok(BenchRate { key: key.into(), value: Ok(number), unit: unit.into(), device: device.into() })
        }
        _ => Err(format!("'{value}' is not a number above 0")),
    }
}
