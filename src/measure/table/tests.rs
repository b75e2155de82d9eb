//! Invented numbers: what is measured is never the same twice.

use super::*;

/// Two tables with every kind of cell, row and chart.
pub(crate) fn invented() -> Measurements {
    let column = |key, name, unit| Column { key, name, unit };
    let columns = [
        column("kernel", "kernel", ""),
        column("length_symbols", "length", "symbols"),
        column("kernel_gcups", "kernel", "GCUPS"),
        column("pairs_per_second", "clock", "pairs/s"),
    ];
    let mut kernels = Table::new("kernels", "Card, model 7 (driver 1.2)", "speed by length", &columns);
    for (kernel, factor) in [("nw_slice", 1000.0), ("nw_rows", 12.34567)] {
        for (length, speed) in [(128u64, 0.5), (1024, 2.0), (16384, 1.25)] {
            let gcups = (kernel != "nw_rows" || length != 1024).then_some(factor * speed);
            kernels.push(Status::Measured, vec![kernel.into(), length.into(), gcups.into(), (factor * 7e3).into()]);
        }
    }
    kernels.push(Status::Skipped, vec!["cpu".into(), 16384u64.into()]);
    kernels.push(Status::Unsuited, vec!["nw_diagonal".into(), 128u64.into()]);
    kernels.push(Status::Failed, vec!["nw_diagonal".into(), 1024u64.into()]);
    kernels.note("1 GCUPS is 10^9 cells a second");
    kernels.note("1 GCUPS is 10^9 cells a second");
    kernels.charts.push(Chart {
        title: "Speed of kernels".into(),
        kind: ChartKind::Lines { log_x: true, log_y: true },
        x: "length_symbols",
        y: "kernel_gcups",
        series: vec!["kernel"],
        only: Vec::new(),
    });
    let columns = [column("method", "method", ""), column("pairs_per_second", "clock", "pairs/s")];
    let mut filter = Table::new("filter", "Card, model 7 (driver 1.2)", "filters at 97%", &columns);
    filter.push(Status::Measured, vec!["CPU alone".into(), 24.0.into()]);
    filter.push(Status::Measured, vec!["\"lazy\" & <slice>".into(), 76.8.into()]);
    filter.push(Status::Skipped, vec!["other".into()]);
    filter.charts.push(Chart {
        title: "Filters".into(),
        kind: ChartKind::Bars,
        x: "method",
        y: "pairs_per_second",
        series: Vec::new(),
        only: Vec::new(),
    });
    Measurements { header: vec!["pairwave 1.2.3 bench, seed 7".into()], tables: vec![kernels, filter] }
}

#[test]
fn as_text() {
    insta::assert_snapshot!(text(&invented()));
}

#[test]
fn as_csv() {
    insta::assert_snapshot!(csv(&invented()));
}

#[test]
fn csv_can_be_read_back() {
    let text = csv(&invented());
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().next_back(), Some("status"));
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 12);
    assert_eq!(rows.iter().filter(|row| &row[1] == "Card, model 7 (driver 1.2)").count(), 12);
    assert!(rows.iter().any(|row| row.iter().any(|field| field == "\"lazy\" & <slice>")));
}

#[test]
fn four_digits_that_count() {
    let numbers = [0.0, 0.000123456, 0.0123456, 1.0, 12.3456, 999.96, 6727.4, 123456.7];
    let texts = ["0", "0.0001235", "0.01235", "1.000", "12.35", "1000.0", "6727", "123457"];
    assert_eq!(numbers.map(four_digits), texts);
}
