use super::super::rates::{self, BenchRate};
use super::*;
use crate::measure::table::{MeasurementRow, Measurements, text};
use std::path::PathBuf;

fn rate(device: &str, key: &str, value: f64, unit: &str) -> BenchRate {
    BenchRate { key: key.into(), value: Ok(value), unit: unit.into(), device: device.into() }
}

/// Returns row, speed-up factor and mark of each row of a comparison.
fn row_texts(comparison: &RateComparison) -> Vec<(String, String, String)> {
    let cells = |row: &MeasurementRow| {
        let of = |index: usize| crate::measure::table::cell_text(&row.cells[index], row.status);
        (of(0), of(4), of(5))
    };
    comparison.tables.iter().flat_map(|table| table.rows.iter().map(cells)).collect()
}

fn row_text(row: &str, times: &str, mark: &str) -> (String, String, String) {
    (row.into(), times.into(), mark.into())
}

#[test]
fn only_changes_beyond_the_tolerance_are_marked() {
    let before = [("a", 100.0), ("b", 100.0), ("c", 100.0), ("d", 100.0), ("gone", 5.0)];
    let before: Vec<BenchRate> = before.iter().map(|&(key, value)| rate("X", key, value, "GCUPS")).collect();
    let mut now: Vec<BenchRate> = [("a", 90.0), ("b", 89.0), ("c", 111.0), ("d", 109.0)]
        .map(|(key, value)| rate("X", key, value, "GCUPS"))
        .into();
    now.push(rate("X", "more", 7.0, "GCUPS"));
    let comparison = compare(&before, &now, 0.1, "before");
    let expected = [
        row_text("a", "0.9000", ""),
        row_text("b", "0.8900", "SLOWER"),
        row_text("c", "1.110", "faster"),
        row_text("d", "1.090", ""),
        row_text("more", "", "new"),
        row_text("gone", "", "not measured"),
    ];
    assert_eq!(row_texts(&comparison), expected);
    assert_eq!((comparison.compared, comparison.fallen), (4, 1));
    assert!(comparison.other_devices.is_empty());
    assert_eq!(comparison.summary(0.1), "1 rate of 4 fell by more than 10%; most: b, by 11%");
    assert_eq!(compare(&before, &now, 0.2, "before").summary(0.2), "none of 4 rates fell by more than 20%");
    let written = text(&Measurements { header: Vec::new(), tables: comparison.tables });
    insta::assert_snapshot!(written);
}

#[test]
fn fewer_seconds_are_faster() {
    let before = [rate("X", "tree", 2.0, "s"), rate("X", "all", 2.0, "s"), rate("X", "rate", 2.0, "TCUPS")];
    let now = [rate("X", "tree", 4.0, "s"), rate("X", "all", 1.0, "s"), rate("X", "rate", 2.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.5 - 1e-9, "before");
    // Numbers with different units are not compared.
    let expected = [
        row_text("tree", "0.5000", "SLOWER"),
        row_text("all", "2.000", "faster"),
        row_text("rate", "", "new"),
        row_text("rate", "", "not measured"),
    ];
    assert_eq!(row_texts(&comparison), expected);
    assert_eq!(comparison.worst, Some(("tree".into(), 0.5)));
}

#[test]
fn rows_that_can_no_longer_be_measured_have_fallen() {
    let before = ["a", "b", "c"].map(|key| rate("X", key, 1.0, "GCUPS"));
    let without = |key: &str, why| BenchRate { value: Err(why), ..rate("X", key, 1.0, "GCUPS") };
    let now = [
        without("a", RowStatus::Skipped),
        without("b", RowStatus::Failed),
        without("c", RowStatus::Unsuited),
        without("d", RowStatus::Failed),
    ];
    let comparison = compare(&before, &now, 0.1, "before");
    assert_eq!(
        row_texts(&comparison),
        [row_text("a", "", "SKIPPED"), row_text("b", "", "FAILED"), row_text("c", "", "FAILED")]
    );
    assert_eq!((comparison.compared, comparison.fallen), (0, 3));
    assert_eq!(comparison.summary(0.1), "3 rates that there were before could not be measured");
}

#[test]
fn devices_are_compared_with_themselves_or_the_only_other_one() {
    let before = [rate("X", "a", 1.0, "GCUPS"), rate("Y", "a", 10.0, "GCUPS")];
    // One new device and one missing device are compared with each other, with a note.
    let now = [rate("X", "a", 1.0, "GCUPS"), rate("Z", "a", 1.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.1, "before");
    assert_eq!(row_texts(&comparison), [row_text("a", "1.000", ""), row_text("a", "0.1000", "SLOWER")]);
    assert_eq!(comparison.other_devices, [("Z".to_owned(), "Y".to_owned())]);
    assert_eq!(comparison.tables[1].notes, ["another device's rates: Y"]);
    // With two new devices, the assignment is unknown.
    let now = [rate("V", "a", 1.0, "GCUPS"), rate("Z", "a", 1.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.1, "before");
    let expected = [
        row_text("a", "", "new"),
        row_text("a", "", "new"),
        row_text("a", "", "not measured"),
        row_text("a", "", "not measured"),
    ];
    assert_eq!(row_texts(&comparison), expected);
    assert_eq!((comparison.compared, comparison.fallen), (0, 0));
    assert_eq!(comparison.tables[0].notes, ["before has no rates of this device"]);
}

fn measured() -> Measurements {
    let columns = ["mode", "length_symbols", "kernel", "lanes", "pairs", "kernel_tcups", "tcups", "pairs_per_second"];
    let columns =
        columns.map(|key| TableColumn { key, name: key, unit: if key.contains("tcups") { "TCUPS" } else { "" } });
    let mut edit = MeasurementTable::new("edit", "a\tb", "distances", &columns);
    let row = |kernel: &str, lanes: TableCell, numbers: [TableCell; 2]| {
        let [kernels, clock] = numbers;
        vec!["infix".into(), 150u32.into(), kernel.into(), lanes, 1000u32.into(), kernels, clock, 5.0.into()]
    };
    edit.push(RowStatus::Measured, row("myers_thread", 1u32.into(), [1.25.into(), 0.1.into()]));
    edit.push(RowStatus::Measured, row("end to end", "".into(), [TableCell::Empty, (1.0 / 3.0).into()]));
    edit.push(RowStatus::Failed, row("cpu", "".into(), [TableCell::Empty, TableCell::Empty]));
    let mut simulated = MeasurementTable::new("cluster", "none", "simulated", &columns);
    simulated.push(RowStatus::Measured, row("a", "".into(), [1.0.into(), 1.0.into()]));
    Measurements { header: vec!["a header\nof two lines".into()], tables: vec![edit, simulated] }
}

#[test]
fn saved_rates_are_read_back_unchanged() {
    let rates = rates::from_measurements(&measured());
    let text = rates::text(&rates, &measured().header);
    let expected = "pairwave bench rates 1\n# a header of two lines\n\
        edit mode=infix length_symbols=150 kernel=myers_thread lanes=1 kernel_tcups\t1.25\tTCUPS\ta b\n\
        edit mode=infix length_symbols=150 kernel=myers_thread lanes=1 tcups\t0.1\tTCUPS\ta b\n\
        edit mode=infix length_symbols=150 kernel=end_to_end tcups\t0.3333333333333333\tTCUPS\ta b\n";
    assert_eq!(text, expected);
    let (_folder, path) = file(text.as_bytes());
    let read = rates::read(&path).unwrap();
    let with_numbers: Vec<BenchRate> = rates.iter().filter(|rate| rate.value.is_ok()).cloned().collect();
    assert_eq!(read, with_numbers);
    let comparison = compare(&read, &rates, 0.0, "itself");
    assert_eq!((comparison.compared, comparison.fallen), (3, 0));
    assert!(comparison.tables[0].rows.iter().all(|row| row.cells[5] == TableCell::from("")));
}

/// Rows with equal keys remain separate.
#[test]
fn rows_with_equal_keys_are_numbered() {
    let mut twice = measured();
    let again = twice.tables[0].rows.clone();
    twice.tables[0].rows.extend(again);
    let rates = rates::from_measurements(&twice);
    let keys: HashSet<&str> = rates.iter().map(|rate| rate.key.as_str()).collect();
    assert_eq!((rates.len(), keys.len()), (10, 10));
    assert!(keys.contains("edit mode=infix length_symbols=150 kernel=cpu row=2 tcups"), "{keys:?}");
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rates");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn damaged_and_foreign_files_are_refused_with_their_line() {
    let first = "pairwave bench rates 1\n";
    let long = format!("{first}{}\n", "a".repeat(1 << 17));
    let cases: [(&[u8], u64, &str); 14] = [
        (b"", 1, "not a file of rates saved by a benchmark"),
        (b">a\nACGT\n", 1, "not a file of rates saved by a benchmark"),
        (b"\xff\xfe\x00", 1, "not a file of rates saved by a benchmark"),
        (b"pairwave bench rates 2\na\t1\tGCUPS\tX\n", 1, "rates of version '2', but only version 1 is supported"),
        (b"pairwave bench rates 1", 1, "the line is cut off"),
        (first.as_bytes(), 2, "the file has no rates"),
        (b"pairwave bench rates 1\n# none\n", 3, "the file has no rates"),
        (b"pairwave bench rates 1\na\t1\tGCUPS\tX\nb\t1\tGCUPS\t", 3, "the line is cut off"),
        (
            b"pairwave bench rates 1\na\t1\tGCUPS\n",
            2,
            "3 fields, but key, value, unit and device are required, separated by tabs",
        ),
        (b"pairwave bench rates 1\na\t-1\tGCUPS\tX\n", 2, "'-1' is not a number above 0"),
        (b"pairwave bench rates 1\na\tinf\tGCUPS\tX\n", 2, "'inf' is not a number above 0"),
        (b"pairwave bench rates 1\na\t1\tfurlongs\tX\n", 2, "unknown unit 'furlongs': use GCUPS, TCUPS, pairs/s or s"),
        (b"pairwave bench rates 1\na\t1\tGCUPS\tX\r\n#\na\t2\tGCUPS\tX\n", 4, "'a' is already in line 2"),
        (long.as_bytes(), 2, "the line is cut off"),
    ];
    for (bytes, line, message) in cases {
        let (_folder, path) = file(bytes);
        let error = rates::read(&path).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert_eq!(error.to_string(), format!("{}, line {line}: {message}", path.display()));
    }
    let (_folder, path) = file(b"pairwave bench rates 1\na\t1\tGCUPS\t\xff\n");
    assert!(rates::read(&path).unwrap_err().to_string().ends_with("line 2: not text in UTF-8"));
    assert!(matches!(rates::read(&path.with_extension("none")), Err(crate::error::Error::Io { .. })));
}
