//! Tables of measurements, which are written as text, as CSV and, by [`super::plot`], as plots.
//!
//! Missing measurements are never omitted: their row has a [`RowStatus`] with the reason.

use std::fmt::Write;

use comfy_table::CellAlignment;

/// All measurements of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurements {
    /// Lines before the tables. They contain everything needed to repeat the measurement, but no
    /// date.
    pub header: Vec<String>,
    /// The tables.
    pub tables: Vec<MeasurementTable>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasurementTable {
    /// Short name, the first column of CSV.
    pub name: &'static str,
    /// The device, the second column of CSV.
    pub device: String,
    /// Description of the table.
    pub title: String,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows.
    pub rows: Vec<MeasurementRow>,
    /// Notes that explain the table.
    pub notes: Vec<String>,
    /// Charts that are drawn from the table.
    pub charts: Vec<TableChart>,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableColumn {
    /// Name in CSV, with the unit. It is unique in its table.
    pub key: &'static str,
    /// Name in text.
    pub name: &'static str,
    /// Unit in text; empty if there is none.
    pub unit: &'static str,
}

/// The status of the measurement of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowStatus {
    /// Measured.
    #[default]
    Measured,
    /// Skipped because it would have taken too long.
    Skipped,
    /// Not supported by the kernel or device.
    Unsuited,
    /// The device failed. A note describes the failure.
    Failed,
}

impl RowStatus {
    /// Returns the text of empty cells in a row with this status.
    pub const fn mark(self) -> &'static str {
        match self {
            RowStatus::Measured => "?",
            RowStatus::Skipped => "skipped",
            RowStatus::Unsuited => "-",
            RowStatus::Failed => "failed",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            RowStatus::Measured => "measured",
            RowStatus::Skipped => "skipped",
            RowStatus::Unsuited => "unsuited",
            RowStatus::Failed => "failed",
        }
    }
}

/// A row of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeasurementRow {
    /// Cells, one for each column.
    pub cells: Vec<TableCell>,
    /// Reason for empty cells.
    pub status: RowStatus,
}

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum TableCell {
    /// A text.
    Text(String),
    /// An integer.
    Count(u64),
    /// A measurement, which is written with four significant digits.
    Number(f64),
    /// No value, with the reason in the status of the row.
    Empty,
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        TableCell::Text(text.into())
    }
}

impl From<u64> for TableCell {
    fn from(count: u64) -> Self {
        TableCell::Count(count)
    }
}

impl From<u32> for TableCell {
    fn from(count: u32) -> Self {
        TableCell::Count(count.into())
    }
}

impl From<f64> for TableCell {
    fn from(number: f64) -> Self {
        TableCell::Number(number)
    }
}

impl<C: Into<TableCell>> From<Option<C>> for TableCell {
    fn from(value: Option<C>) -> Self {
        value.map_or(TableCell::Empty, C::into)
    }
}

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// Lines over a column of numbers.
    Lines {
        /// Whether the x axis is logarithmic.
        log_x: bool,
        /// Whether the y axis is logarithmic.
        log_y: bool,
    },
    /// A bar for each row. A column of texts names the bars.
    Bars,
}

/// A chart of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableChart {
    /// Title of the chart.
    pub title: String,
    /// Kind of the chart.
    pub kind: ChartKind,
    /// Key of the column for the x axis of lines, or for the names of bars.
    pub x: &'static str,
    /// Key of the column of the values.
    pub y: &'static str,
    /// Keys of the columns that distinguish lines.
    pub series: Vec<&'static str>,
    /// Columns and texts that select rows. Rows without these texts are not drawn.
    pub only: Vec<(&'static str, String)>,
}

impl MeasurementTable {
    /// Creates a table without rows.
    pub fn new(name: &'static str, device: &str, title: impl Into<String>, columns: &[TableColumn]) -> Self {
        MeasurementTable {
            name,
            device: device.into(),
            title: title.into(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            notes: Vec::new(),
            charts: Vec::new(),
        }
    }

    /// Adds a row. Missing cells at its end are empty.
    pub fn push(&mut self, status: RowStatus, mut cells: Vec<TableCell>) {
        debug_assert!(cells.len() <= self.columns.len());
        cells.resize(self.columns.len(), TableCell::Empty);
        self.rows.push(MeasurementRow { cells, status });
    }

    /// Adds a note, unless the table already has it.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the index of the column with this key.
    pub fn column(&self, key: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.key == key)
    }
}

/// Formats a number with four significant digits.
pub fn four_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 9) as usize;
    format!("{number:.digits$}")
}

/// Returns the text of a cell.
pub fn cell_text(cell: &TableCell, status: RowStatus) -> String {
    match cell {
        TableCell::Text(text) => text.clone(),
        TableCell::Count(count) => count.to_string(),
        TableCell::Number(number) => four_digits(*number),
        TableCell::Empty => status.mark().into(),
    }
}

/// Formats all tables as text, with aligned columns and units below the names.
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

/// Formats the rows of a table in aligned columns below names and units. Texts are aligned left and
/// numbers right.
fn columns(table: &MeasurementTable) -> String {
    // Cells of a column of numbers may be blank if there is no number.
    let has_words = |cell: &TableCell| matches!(cell, TableCell::Text(text) if !text.is_empty());
    let mut text = comfy_table::Table::new();
    text.load_style(comfy_table::presets::NOTHING);
    text.add_row(table.columns.iter().map(|column| column.name));
    text.add_row(table.columns.iter().map(|column| column.unit));
    text.add_rows(table.rows.iter().map(|row| row.cells.iter().map(|cell| cell_text(cell, row.status))));
    for (index, column) in text.column_iter_mut().enumerate() {
        let is_word = table.rows.iter().any(|row| has_words(&row.cells[index]));
        column.set_padding((2, 0));
        column.set_cell_alignment(if is_word { CellAlignment::Left } else { CellAlignment::Right });
    }
    text.trim_fmt() + "\n"
}

/// Formats all tables as one CSV table with the columns of all tables. Fields are empty if a table
/// has no such column. The last field is the status of the row. Header and notes are comments that
/// start with `#`.
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
            fields.extend(keys.iter().map(|key| match table.column(key).map(|index| &row.cells[index]) {
                None | Some(TableCell::Empty) => String::new(),
                Some(cell) => cell_text(cell, row.status),
            }));
            fields.push(row.status.name().into());
            out.push_str(&line(fields));
        }
    }
    out
}

/// Quotes a field of CSV if necessary (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

#[cfg(test)]
pub(super) mod tests;
