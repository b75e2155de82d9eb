//! Checks that the tables of `tests/README.md` name files and tests that exist.

use std::fs;
use std::path::Path;

/// File with the tables.
const PAGE: &str = "tests/README.md";

fn page() -> String {
    fs::read_to_string(Path::new(support::ROOT).join(PAGE)).expect("the page exists")
}

/// Returns the rows of all tables, with their line numbers from 1.
fn rows(page: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(page.lines()).filter(|(_, line)| line.starts_with('|'))
}

/// Returns the words in backticks in the last cell of a row: paths from the root of the repository,
/// each followed by names of tests in this file.
fn words(row: &str) -> impl Iterator<Item = &str> {
    let cell = row.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
    cell.split('`').skip(1).step_by(2)
}

/// Returns a line for each path that does not exist, and for each name that is no function of the
/// file before it.
fn wrong_names(page: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (number, row) in rows(page) {
        let mut file: Option<String> = None;
        for word in words(row) {
            if word.contains('/') {
                file = fs::read_to_string(Path::new(support::ROOT).join(word)).ok();
                if file.is_none() {
                    problems.push(format!("{PAGE}:{number}: there is no file {word}"));
                }
            } else if !file.as_ref().is_some_and(|text| defines(text, word)) {
                problems.push(format!("{PAGE}:{number}: the file before {word} has no such test"));
            }
        }
    }
    problems
}

/// Returns whether a text in Rust or Python defines a function.
fn defines(text: &str, name: &str) -> bool {
    ["fn", "def"].iter().any(|word| text.contains(&format!("{word} {name}(")))
}

#[test]
fn tables_name_existing_tests() {
    let page = page();
    let problems = wrong_names(&page);
    assert!(problems.is_empty(), "correct these rows:\n{}", problems.join("\n"));
    let count = rows(&page).flat_map(|(_, row)| words(row)).count();
    assert!(count > 150, "only {count} names were read");
}

#[test]
fn every_test_program_is_in_a_table() {
    let page = page();
    let mut programs = 0;
    for entry in fs::read_dir(Path::new(support::ROOT).join("tests")).expect("the directory exists") {
        let path = entry.expect("the entry can be read").path();
        if !path.join("main.rs").is_file() {
            continue;
        }
        programs += 1;
        let start = format!("tests/{}/", path.file_name().and_then(|name| name.to_str()).expect("UTF-8"));
        let is_named = rows(&page).flat_map(|(_, row)| words(row)).any(|word| word.starts_with(&start));
        assert!(is_named, "no table of {PAGE} names a test in {start}");
    }
    assert!(programs > 10, "only {programs} programs were found");
}

/// The check detects names and paths that do not exist.
#[test]
fn wrong_names_are_found() {
    let actual = |page: &str| wrong_names(page).len();
    assert_eq!(actual("| `any text` | `tests/sources/guarantees.rs`: `rows`, `wrong_names_are_found` |"), 0);
    assert_eq!(actual("| text | `tests/sources/guarantees.rs`: `rows`, `made_up_name` |"), 1);
    assert_eq!(actual("| text | `tests/sources/guarantees.rs`: `wrong_name` |"), 1, "the start of a name");
    let python = "bindings/python/tests/test_run.py";
    assert_eq!(actual(&format!("| text | `{python}`: `test_ctrl_c_ends_a_job` |")), 0);
    assert_eq!(actual(&format!("| text | `{python}`: `test_ctrl_c_ends_a` |")), 1);
    assert_eq!(actual("| text | `tests/sources/made_up.rs` |"), 1);
    assert_eq!(actual("| text | `wrong_names_are_found` |"), 1, "no file comes before the name");
    assert_eq!(
        actual("| text | `tests/sources/guarantees.rs`: `rows`; `tests/sources/modules.rs`: `wrong_names_are_found` |"),
        1,
        "the name belongs to another file"
    );
    assert_eq!(actual("Text outside of tables: `made_up_name`\n\n| text | `made_up_name` |\n"), 1);
    assert!(wrong_names("\n| text | `made_up_name` |\n")[0].starts_with("tests/README.md:2: "));
}
