use super::super::rates::{self, Rate};
use super::*;
use crate::measure::table::{Measurements, Row, text};
use std::path::PathBuf;

fn rate(device: &str, key: &str, value: f64, unit: &str) -> Rate {
    Rate { key: key.into(), value: Ok(value), unit: unit.into(), device: device.into() }
}

/// Columns of what was found: row, times as fast, mark.
fn found(comparison: &Comparison) -> Vec<(String, String, String)> {
    let cells = |row: &Row| {
        let of = |place: usize| crate::measure::table::shown(&row.cells[place], row.status);
        (of(0), of(4), of(5))
    };
    comparison.tables.iter().flat_map(|table| table.rows.iter().map(cells)).collect()
}

fn three(row: &str, times: &str, mark: &str) -> (String, String, String) {
    (row.into(), times.into(), mark.into())
}

#[test]
fn only_what_falls_beyond_the_tolerance_is_marked() {
    let before = [("a", 100.0), ("b", 100.0), ("c", 100.0), ("d", 100.0), ("gone", 5.0)];
    let before: Vec<Rate> = before.iter().map(|&(key, value)| rate("X", key, value, "GCUPS")).collect();
    let mut now: Vec<Rate> = [("a", 90.0), ("b", 89.0), ("c", 111.0), ("d", 109.0)]
        .map(|(key, value)| rate("X", key, value, "GCUPS"))
        .into();
    now.push(rate("X", "more", 7.0, "GCUPS"));
    let comparison = compare(&before, &now, 0.1, "before");
    let expected = [
        three("a", "0.9000", ""),
        three("b", "0.8900", "SLOWER"),
        three("c", "1.110", "faster"),
        three("d", "1.090", ""),
        three("more", "", "new"),
        three("gone", "", "not measured"),
    ];
    assert_eq!(found(&comparison), expected);
    assert_eq!((comparison.compared, comparison.fallen), (4, 1));
    assert!(comparison.other_devices.is_empty());
    assert_eq!(comparison.summary(0.1), "1 rate of 4 fell by more than 10%; most: b, by 11%");
    assert_eq!(compare(&before, &now, 0.2, "before").summary(0.2), "none of 4 rates fell by more than 20%");
    let shown = text(&Measurements { header: Vec::new(), tables: comparison.tables });
    insta::assert_snapshot!(shown);
}

#[test]
fn seconds_are_better_when_they_are_fewer() {
    let before = [rate("X", "tree", 2.0, "s"), rate("X", "all", 2.0, "s"), rate("X", "rate", 2.0, "TCUPS")];
    let now = [rate("X", "tree", 4.0, "s"), rate("X", "all", 1.0, "s"), rate("X", "rate", 2.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.5 - 1e-9, "before");
    // Numbers of other units are not put beside each other.
    let expected = [
        three("tree", "0.5000", "SLOWER"),
        three("all", "2.000", "faster"),
        three("rate", "", "new"),
        three("rate", "", "not measured"),
    ];
    assert_eq!(found(&comparison), expected);
    assert_eq!(comparison.worst, Some(("tree".into(), 0.5)));
}

#[test]
fn a_row_that_is_measured_no_more_has_fallen() {
    let before = ["a", "b", "c"].map(|key| rate("X", key, 1.0, "GCUPS"));
    let without = |key: &str, why| Rate { value: Err(why), ..rate("X", key, 1.0, "GCUPS") };
    let now = [
        without("a", Status::Skipped),
        without("b", Status::Failed),
        without("c", Status::Unsuited),
        without("d", Status::Failed),
    ];
    let comparison = compare(&before, &now, 0.1, "before");
    assert_eq!(found(&comparison), [three("a", "", "SKIPPED"), three("b", "", "FAILED"), three("c", "", "FAILED")]);
    assert_eq!((comparison.compared, comparison.fallen), (0, 3));
    assert_eq!(comparison.summary(0.1), "3 rates that there were before could not be measured");
}

#[test]
fn devices_are_told_apart() {
    let before = [rate("X", "a", 1.0, "GCUPS"), rate("Y", "a", 10.0, "GCUPS")];
    // One device that was not saved beside one that is not there: they stand beside each other, with a word about it.
    let now = [rate("X", "a", 1.0, "GCUPS"), rate("Z", "a", 1.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.1, "before");
    assert_eq!(found(&comparison), [three("a", "1.000", ""), three("a", "0.1000", "SLOWER")]);
    assert_eq!(comparison.other_devices, [("Z".to_owned(), "Y".to_owned())]);
    assert_eq!(comparison.tables[1].notes, ["another device's rates: Y"]);
    // Two, and nobody knows which is which.
    let now = [rate("V", "a", 1.0, "GCUPS"), rate("Z", "a", 1.0, "GCUPS")];
    let comparison = compare(&before, &now, 0.1, "before");
    let expected =
        [three("a", "", "new"), three("a", "", "new"), three("a", "", "not measured"), three("a", "", "not measured")];
    assert_eq!(found(&comparison), expected);
    assert_eq!((comparison.compared, comparison.fallen), (0, 0));
    assert_eq!(comparison.tables[0].notes, ["before has no rates of this device"]);
}

fn measured() -> Measurements {
    let columns = ["mode", "length_symbols", "kernel", "lanes", "pairs", "kernel_tcups", "tcups", "pairs_per_second"];
    let columns = columns.map(|key| Column { key, name: key, unit: if key.contains("tcups") { "TCUPS" } else { "" } });
    let mut edit = Table::new("edit", "a\tb", "distances", &columns);
    let row = |kernel: &str, lanes: Cell, numbers: [Cell; 2]| {
        let [kernels, clock] = numbers;
        vec!["infix".into(), 150u32.into(), kernel.into(), lanes, 1000u32.into(), kernels, clock, 5.0.into()]
    };
    edit.push(Status::Measured, row("myers_thread", 1u32.into(), [1.25.into(), 0.1.into()]));
    edit.push(Status::Measured, row("end to end", "".into(), [Cell::Empty, (1.0 / 3.0).into()]));
    edit.push(Status::Failed, row("cpu", "".into(), [Cell::Empty, Cell::Empty]));
    let mut simulated = Table::new("cluster", "none", "simulated", &columns);
    simulated.push(Status::Measured, row("a", "".into(), [1.0.into(), 1.0.into()]));
    Measurements { header: vec!["a header\nof two lines".into()], tables: vec![edit, simulated] }
}

#[test]
fn what_is_saved_is_read_as_it_was() {
    let rates = rates::of(&measured());
    let text = rates::text(&rates, &measured().header);
    let expected = "pairwave bench rates 1\n# a header of two lines\n\
        edit mode=infix length_symbols=150 kernel=myers_thread lanes=1 kernel_tcups\t1.25\tTCUPS\ta b\n\
        edit mode=infix length_symbols=150 kernel=myers_thread lanes=1 tcups\t0.1\tTCUPS\ta b\n\
        edit mode=infix length_symbols=150 kernel=end_to_end tcups\t0.3333333333333333\tTCUPS\ta b\n";
    assert_eq!(text, expected);
    let (_folder, path) = file(text.as_bytes());
    let read = rates::read(&path).unwrap();
    let with_numbers: Vec<Rate> = rates.iter().filter(|rate| rate.value.is_ok()).cloned().collect();
    assert_eq!(read, with_numbers);
    let comparison = compare(&read, &rates, 0.0, "itself");
    assert_eq!((comparison.compared, comparison.fallen), (3, 0));
    assert!(comparison.tables[0].rows.iter().all(|row| row.cells[5] == Cell::from("")));
}

/// Rows that nothing tells apart stay apart.
#[test]
fn rows_alike_are_counted() {
    let mut twice = measured();
    let again = twice.tables[0].rows.clone();
    twice.tables[0].rows.extend(again);
    let rates = rates::of(&twice);
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
        (b"", 1, "not a file of rates that a bench saved"),
        (b">a\nACGT\n", 1, "not a file of rates that a bench saved"),
        (b"\xff\xfe\x00", 1, "not a file of rates that a bench saved"),
        (b"pairwave bench rates 2\na\t1\tGCUPS\tX\n", 1, "rates of version '2'; version 1 is read"),
        (b"pairwave bench rates 1", 1, "the line is cut off"),
        (first.as_bytes(), 2, "the file ends without a rate"),
        (b"pairwave bench rates 1\n# none\n", 3, "the file ends without a rate"),
        (b"pairwave bench rates 1\na\t1\tGCUPS\tX\nb\t1\tGCUPS\t", 3, "the line is cut off"),
        (
            b"pairwave bench rates 1\na\t1\tGCUPS\n",
            2,
            "3 fields; key, value, unit and device are needed, with tabs between them",
        ),
        (b"pairwave bench rates 1\na\t-1\tGCUPS\tX\n", 2, "'-1' is not a number above 0"),
        (b"pairwave bench rates 1\na\tinf\tGCUPS\tX\n", 2, "'inf' is not a number above 0"),
        (
            b"pairwave bench rates 1\na\t1\tfurlongs\tX\n",
            2,
            "the unit 'furlongs' is not known; GCUPS, TCUPS, pairs/s and s are",
        ),
        (b"pairwave bench rates 1\na\t1\tGCUPS\tX\r\n#\na\t2\tGCUPS\tX\n", 4, "'a' is in line 2 too"),
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
