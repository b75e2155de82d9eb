//! Tables of measurements: one structure that is written as text, as CSV and, by [`super::plot`], as pictures.
//!
//! What was not measured is never left out: its row says why ([`Status`]).

use std::fmt::Write;

use comfy_table::CellAlignment;

/// All that one run measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurements {
    /// Lines that stand before the tables: what is needed to measure the same again. No date.
    pub header: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// A short name, the first column of CSV.
    pub name: &'static str,
    /// The device, the second column of CSV.
    pub device: String,
    /// What the table shows.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What has to be known to read the table.
    pub notes: Vec<String>,
    /// The pictures that are drawn of it.
    pub charts: Vec<Chart>,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in CSV, which holds its unit: unique in its table.
    pub key: &'static str,
    /// Its name in text.
    pub name: &'static str,
    /// Its unit in text; empty if it has none.
    pub unit: &'static str,
}

/// Whether a row was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// It was.
    #[default]
    Measured,
    /// It would have taken too long.
    Skipped,
    /// The kernel or the device does not do this.
    Unsuited,
    /// The device failed; a note says how.
    Failed,
}

impl Status {
    /// What stands in the cells of such a row that have no value.
    pub const fn mark(self) -> &'static str {
        match self {
            Status::Measured => "?",
            Status::Skipped => "skipped",
            Status::Unsuited => "-",
            Status::Failed => "failed",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Status::Measured => "measured",
            Status::Skipped => "skipped",
            Status::Unsuited => "unsuited",
            Status::Failed => "failed",
        }
    }
}

/// A row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// As many as there are columns.
    pub cells: Vec<Cell>,
    /// Why cells are empty, if any is.
    pub status: Status,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A word.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A measurement: four digits of it are written.
    Number(f64),
    /// Nothing: see [`Row::status`].
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.into())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Cell::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Cell::Count(count.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Cell::Number(number)
    }
}

impl<C: Into<Cell>> From<Option<C>> for Cell {
    fn from(value: Option<C>) -> Self {
        value.map_or(Cell::Empty, C::into)
    }
}

/// What kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// Lines over a column of numbers.
    Lines {
        /// Its axis is logarithmic.
        log_x: bool,
        /// The axis of the values is logarithmic.
        log_y: bool,
    },
    /// A bar for each row, named by a column of words.
    Bars,
}

/// A picture of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How.
    pub kind: ChartKind,
    /// Key of the column along the axis: the horizontal one of lines, the names of bars.
    pub x: &'static str,
    /// Key of the column of the values.
    pub y: &'static str,
    /// Keys of the columns that tell lines apart.
    pub series: Vec<&'static str>,
    /// Only rows that have these texts in these columns.
    pub only: Vec<(&'static str, String)>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &'static str, device: &str, title: impl Into<String>, columns: &[Column]) -> Self {
        Table {
            name,
            device: device.into(),
            title: title.into(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            notes: Vec::new(),
            charts: Vec::new(),
        }
    }

    /// Adds a row; cells that are missing at its end are empty.
    pub fn push(&mut self, status: Status, mut cells: Vec<Cell>) {
        debug_assert!(cells.len() <= self.columns.len());
        cells.resize(self.columns.len(), Cell::Empty);
        self.rows.push(Row { cells, status });
    }

    /// Adds a note, once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The column with this key.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }
}

/// A number with four digits that count.
pub fn four_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{number:.digits$}")
}

/// What a cell shows in text.
pub fn shown(cell: &Cell, status: Status) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => count.to_string(),
        Cell::Number(number) => four_digits(*number),
        Cell::Empty => status.mark().into(),
    }
}

/// All tables as text for people: aligned columns, units under the names.
pub fn text(measurements: &Measurements) -> String {
    let mut out = String::new();
    for line in &measurements.header {
        writeln!(out, "{line}").expect("a string takes all");
    }
    for table in &measurements.tables {
        writeln!(out, "\n{}: {}\n{}", table.name, table.title, table.device).expect("a string takes all");
        out.push_str(&columns(table));
        for note in &table.notes {
            writeln!(out, "  * {note}").expect("a string takes all");
        }
    }
    out
}

/// A table's rows in aligned columns, below their names and units: words to the left, numbers to the right.
fn columns(table: &Table) -> String {
    // A column of numbers may be blank where there can be none.
    let has_words = |cell: &Cell| matches!(cell, Cell::Text(text) if !text.is_empty());
    let mut text = comfy_table::Table::new();
    text.load_style(comfy_table::presets::NOTHING);
    text.add_row(table.columns.iter().map(|column| column.name));
    text.add_row(table.columns.iter().map(|column| column.unit));
    text.add_rows(table.rows.iter().map(|row| row.cells.iter().map(|cell| shown(cell, row.status))));
    for (place, column) in text.column_iter_mut().enumerate() {
        let is_word = table.rows.iter().any(|row| has_words(&row.cells[place]));
        column.set_padding((2, 0));
        column.set_cell_alignment(if is_word { CellAlignment::Left } else { CellAlignment::Right });
    }
    text.trim_fmt() + "\n"
}

/// All tables as one table for programs: the columns of all, empty where a table has none, and how each row came about.
/// Header and notes are comments that begin with `#`.
pub fn csv(measurements: &Measurements) -> String {
    let mut out = String::new();
    let comments = measurements.header.iter().cloned();
    let notes = measurements
        .tables
        .iter()
        .flat_map(|table| table.notes.iter().map(move |note| format!("{} ({}): {note}", table.name, table.device)));
    for line in comments.chain(notes) {
        writeln!(out, "# {line}").expect("a string takes all");
    }
    let mut keys: Vec<&str> = Vec::new();
    for column in measurements.tables.iter().flat_map(|table| &table.columns) {
        if !keys.contains(&column.key) {
            keys.push(column.key);
        }
    }
    let line = |fields: Vec<String>| fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n";
    let first = ["experiment", "device"].into_iter().chain(keys.iter().copied()).chain(["status"]);
    out.push_str(&line(first.map(str::to_owned).collect()));
    for table in &measurements.tables {
        for row in &table.rows {
            let mut fields = vec![table.name.to_owned(), table.device.clone()];
            fields.extend(keys.iter().map(|key| match table.column(key).map(|place| &row.cells[place]) {
                None | Some(Cell::Empty) => String::new(),
                Some(cell) => shown(cell, row.status),
            }));
            fields.push(row.status.name().into());
            out.push_str(&line(fields));
        }
    }
    out
}

/// A field of CSV (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

#[cfg(test)]
pub(super) mod tests;
