//! Uses invented numbers, because measurements never repeat exactly.

use super::*;

/// Returns two tables with every kind of cell, row and chart.
pub(crate) fn invented() -> Measurements {
    let column = |key, name, unit| TableColumn { key, name, unit };
    let columns = [
        column("kernel", "kernel", ""),
        column("length_symbols", "length", "symbols"),
        column("kernel_gcups", "kernel", "GCUPS"),
        column("pairs_per_second", "clock", "pairs/s"),
    ];
    let mut kernels = MeasurementTable::new("kernels", "Card, model 7 (driver 1.2)", "speed by length", &columns);
    for (kernel, factor) in [("nw_slice", 1000.0), ("nw_rows", 12.34567)] {
        for (length, speed) in [(128u64, 0.5), (1024, 2.0), (16384, 1.25)] {
            let gcups = (kernel != "nw_rows" || length != 1024).then_some(factor * speed);
            kernels.push(RowStatus::Measured, vec![kernel.into(), length.into(), gcups.into(), (factor * 7e3).into()]);
        }
    }
    kernels.push(RowStatus::Skipped, vec!["cpu".into(), 16384u64.into()]);
    kernels.push(RowStatus::Unsuited, vec!["nw_diagonal".into(), 128u64.into()]);
    kernels.push(RowStatus::Failed, vec!["nw_diagonal".into(), 1024u64.into()]);
    kernels.note("1 GCUPS is 10^9 cells a second");
    kernels.note("1 GCUPS is 10^9 cells a second");
    kernels.charts.push(TableChart {
        title: "Speed of kernels".into(),
        kind: ChartKind::Lines { log_x: true, log_y: true },
        x: "length_symbols",
        y: "kernel_gcups",
        series: vec!["kernel"],
        only: Vec::new(),
    });
    let columns = [column("method", "method", ""), column("pairs_per_second", "clock", "pairs/s")];
    let mut filter = MeasurementTable::new("filter", "Card, model 7 (driver 1.2)", "filters at 97%", &columns);
    filter.push(RowStatus::Measured, vec!["CPU alone".into(), 24.0.into()]);
    filter.push(RowStatus::Measured, vec!["\"lazy\" & <slice>".into(), 76.8.into()]);
    filter.push(RowStatus::Skipped, vec!["other".into()]);
    filter.charts.push(TableChart {
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
fn text_has_aligned_columns() {
    insta::assert_snapshot!(text(&invented()));
}

#[test]
fn csv_has_the_columns_of_all_tables() {
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
fn numbers_have_four_significant_digits() {
    let numbers = [0.0, 0.000123456, 0.0123456, 1.0, 12.3456, 999.96, 6727.4, 123456.7];
    let texts = ["0", "0.0001235", "0.01235", "1.000", "12.35", "1000.0", "6727", "123457"];
    assert_eq!(numbers.map(four_digits), texts);
}
