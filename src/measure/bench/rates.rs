//! Rates of a bench as a file: one line a rate, which a later bench is compared with ([`super::compare`]).
//!
//! The first line says what the file is and its version. Lines that begin with `#` are comments. Each other line is a key, a
//! value, its unit and the device, with tabs between them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::measure::table::{Cell, Measurements, Status, Table, shown};

/// The first line of a file, but for the version.
const MAGIC: &str = "pairwave bench rates ";
/// The version that is written, and the only one that is read.
const VERSION: &str = "1";
/// Bytes of a line at most.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// What tells the rows of a table apart, whatever device measures them and however fast that is.
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

/// Columns with rates. Pairs a second say the same as cells a second, and count where a table has no cells a second by the
/// clock.
const RATES: [&str; 5] = ["kernel_gcups", "gcups", "kernel_tcups", "tcups", "pairs_per_second"];
/// Columns with seconds, of the stages that have no cells.
const SECONDS: [(&str, &[&str]); 1] = [("msa", &["tree_seconds", "alignment_seconds", "seconds"])];

/// One rate, or the seconds of a stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Rate {
    /// Which: the experiment, what tells its row apart, and the column.
    pub key: String,
    /// The number, more than 0; or why there is none.
    pub value: Result<f64, Status>,
    /// `GCUPS`, `TCUPS`, `pairs/s`, or `s`, of which less is better.
    pub unit: String,
    /// The device that was measured, as its table names it.
    pub device: String,
}

impl Rate {
    /// How many times as fast as this another value of the same unit is.
    pub fn times(&self, now: f64) -> Option<f64> {
        let before = self.value.ok()?;
        Some(if self.unit == "s" { before / now } else { now / before })
    }
}

/// The rates of all tables, and of rows without one why there is none.
pub fn of(measurements: &Measurements) -> Vec<Rate> {
    let mut rates = Vec::new();
    // Rows that nothing tells apart are counted.
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
                let cell = table.column(column).map_or(&Cell::Empty, |place| &row.cells[place]);
                let text = if *cell == Cell::Empty { String::new() } else { shown(cell, row.status) };
                if !text.is_empty() {
                    key.push_str(&format!(" {column}={}", text.replace(char::is_whitespace, "_")));
                }
            }
            let count = seen.entry((device.clone(), key.clone())).or_default();
            *count += 1;
            if *count > 1 {
                key.push_str(&format!(" row={count}"));
            }
            for &place in &columns {
                let value = match row.cells[place] {
                    Cell::Number(number) if number.is_finite() && number > 0.0 => Ok(number),
                    _ => Err(row.status),
                };
                // A row that was measured may have no rate of a kind: of kernels, where a device has no timestamps.
                if value != Err(Status::Measured) {
                    let column = &table.columns[place];
                    let key = format!("{key} {}", column.key);
                    rates.push(Rate { key, value, unit: column.unit.into(), device: device.clone() });
                }
            }
        }
    }
    rates
}

/// The columns of a table that are compared.
fn rate_columns(table: &Table) -> Vec<usize> {
    if !NAMING.iter().any(|(name, _)| *name == table.name) {
        // What is simulated has no speed.
        return Vec::new();
    }
    let has_cells = ["gcups", "tcups"].iter().any(|key| table.column(key).is_some());
    let rates = RATES.iter().filter(|key| !(has_cells && **key == "pairs_per_second"));
    let seconds = SECONDS.iter().filter(|(name, _)| *name == table.name).flat_map(|(_, columns)| columns.iter());
    rates.chain(seconds).filter_map(|key| table.column(key)).collect()
}

/// A device's name without what would end a field or a line.
fn one_line(name: &str) -> String {
    name.replace(|letter: char| letter.is_control(), " ")
}

/// Rates as a file, those of rows without one left out. `header`: lines that say how they were measured.
pub fn text(rates: &[Rate], header: &[String]) -> String {
    let mut out = format!("{MAGIC}{VERSION}\n");
    for line in header {
        out.push_str(&format!("# {}\n", one_line(line)));
    }
    for Rate { key, value, unit, device } in rates {
        if let Ok(value) = value {
            out.push_str(&format!("{key}\t{value}\t{unit}\t{device}\n"));
        }
    }
    out
}

/// Reads such a file.
///
/// # Errors
/// [`Error::Input`] with the line, if it is another file, of another version, damaged, or without rates; [`Error::Io`].
pub fn read(path: &Path) -> Result<Vec<Rate>> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let mut reader = BufReader::new(file);
    let mut rates: Vec<Rate> = Vec::new();
    let mut lines: HashMap<(String, String), u64> = HashMap::new();
    for number in 1.. {
        let wrong = |message: String| Error::Input {
            place: Place { file: name.clone(), line: Some(number), ..Place::default() },
            message,
        };
        let foreign = || wrong("not a file of rates that a bench saved".into());
        let mut line = Vec::new();
        let bytes = reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
        if bytes.map_err(|error| Error::io(path, error))? == 0 {
            return match rates.is_empty() {
                true if number == 1 => Err(foreign()),
                true => Err(wrong("the file ends without a rate".into())),
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
                    return Err(wrong(format!("rates of version '{version}'; version {VERSION} is read")));
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
            return Err(wrong(format!("'{}' is in line {before} too", rate.key)));
        }
        rates.push(rate);
    }
    unreachable!("lines are counted without end")
}

fn parse(line: &str) -> Result<Rate, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [key, value, unit, device] = fields[..] else {
        return Err(format!("{} fields; key, value, unit and device are needed, with tabs between them", fields.len()));
    };
    for (what, text) in [("key", key), ("device", device)] {
        if text.trim().is_empty() {
            return Err(format!("the {what} is missing"));
        }
    }
    if !["GCUPS", "TCUPS", "pairs/s", "s"].contains(&unit) {
        return Err(format!("the unit '{unit}' is not known; GCUPS, TCUPS, pairs/s and s are"));
    }
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => {
            Ok(Rate { key: key.into(), value: Ok(number), unit: unit.into(), device: device.into() })
        }
        _ => Err(format!("'{value}' is not a number above 0")),
    }
}
