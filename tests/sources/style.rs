//! Mechanical style rules of the sources.

use std::collections::BTreeMap;

use super::files::rust_files;

/// Files with a function of more than [`MAX_LINES`]: one loop, whose state must stay in registers.
const LONG_LOOPS: [&str; 8] = [
    "src/edit/cpu/alone/strip.rs",
    "src/long/cpu/tile/strip.rs",
    "src/pairs/cpu/difference.rs",
    "src/pairs/cpu/pair_difference.rs",
    "src/pairs/cpu/pair_local.rs",
    "src/pairs/cpu/traceback/part.rs",
    "src/papara/cpu/kernel.rs",
    "src/trace/local/anchored.rs",
];

/// Maximum number of lines of a function, from its signature to its closing brace.
const MAX_LINES: usize = 80;
/// Maximum number of lines of a function of tests, which may contain a table of cases.
const MAX_TEST_LINES: usize = 100;

/// Words that must not start a documentation comment. A comment starts with a verb or with a noun
/// phrase.
const FORBIDDEN_STARTS: [&str; 12] =
    ["What", "Of", "Those", "So many", "So much", "As many", "As much", "Which", "Whose", "Whoever", "How many", "Nor"];

/// Returns all Rust files of the library, the program, the tests, the benchmarks, the Python module and
/// the examples.
fn all_files() -> Vec<(String, String)> {
    rust_files(&["src", "tests", "benches", "bindings", "examples"])
}

/// Returns an item without `pub` or `pub(...)`.
fn without_visibility(item: &str) -> &str {
    match item.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) => rest,
        None => item.strip_prefix("pub ").unwrap_or(item),
    }
}

/// Returns the name of the function whose signature starts in this line, and the indentation of the
/// line.
fn function_start(line: &str) -> Option<(usize, &str)> {
    let code = line.trim_start();
    let indent = line.len() - code.len();
    let mut rest = without_visibility(code);
    for prefix in ["const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    Some((indent, &name[..name.find(['(', '<'])?]))
}

/// Returns the name, first line (from 1) and number of lines of each function. A function ends with
/// a closing brace at its indentation, as rustfmt writes it.
fn functions(text: &str) -> Vec<(&str, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((indent, name)) = function_start(line) else { continue };
        let closing = format!("{}}}", " ".repeat(indent));
        // A declaration without a body ends with a semicolon; a body on one line ends with a brace.
        let signature = lines[index..].iter().position(|line| line.ends_with(['{', ';', '}']));
        let Some(body) = signature.filter(|&body| lines[index + body].ends_with('{')) else { continue };
        if let Some(length) = lines[index + body..].iter().position(|line| *line == closing) {
            all.push((name, index + 1, body + length + 1));
        }
    }
    all
}

/// Returns the first lines (from 1) of documentation comments that start with a forbidden word.
fn odd_comments(text: &str) -> Vec<(usize, &str)> {
    let comment = |line: &str| line.trim_start().starts_with("///") || line.trim_start().starts_with("//!");
    let mut all = Vec::new();
    let mut previous = "";
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.trim_start().trim_start_matches("///").trim_start_matches("//!").trim();
        let is_odd = FORBIDDEN_STARTS.iter().any(|start| {
            words.strip_prefix(start).is_some_and(|rest| rest.starts_with([' ', '.', ',', ':', ';']) || rest.is_empty())
        });
        if comment(line) && !comment(previous) && is_odd && !words.starts_with("Of course") {
            all.push((number, words));
        }
        previous = line;
    }
    all
}

/// Returns whether a file has only tests.
fn has_tests_only(file: &str) -> bool {
    let is_part_of_tests = file.contains("/tests/") || file.ends_with("/tests.rs");
    is_part_of_tests || file.starts_with("tests/") || file.starts_with("src/cli/combinations/")
}

#[test]
fn functions_are_short() {
    let mut problems = Vec::new();
    let mut used = Vec::new();
    for (file, text) in all_files() {
        let most = if has_tests_only(&file) { MAX_TEST_LINES } else { MAX_LINES };
        for (name, line, length) in functions(&text).into_iter().filter(|(.., length)| *length > most) {
            if LONG_LOOPS.contains(&&*file) {
                used.push(file.clone());
            } else {
                problems.push(format!("{file}:{line}: {name} has {length} lines"));
            }
        }
    }
    assert!(problems.is_empty(), "split these functions:\n{}", problems.join("\n"));
    for file in LONG_LOOPS {
        assert_eq!(used.iter().filter(|other| *other == file).count(), 1, "{file} has another number of long loops");
    }
}

#[test]
fn documentation_comments_start_with_a_verb_or_a_noun() {
    let mut problems = Vec::new();
    for (file, text) in all_files() {
        problems.extend(odd_comments(&text).into_iter().map(|(line, words)| format!("{file}:{line}: {words}")));
    }
    assert!(problems.is_empty(), "rewrite these comments:\n{}", problems.join("\n"));
}

#[test]
fn modules_have_one_file_style() {
    let files = all_files();
    let wrong = files.iter().filter(|(file, _)| file.starts_with("src/") && file.ends_with("/mod.rs"));
    let wrong: Vec<_> = wrong.map(|(file, _)| file).collect();
    assert!(wrong.is_empty(), "use name.rs next to name/: {wrong:?}");
    assert!(files.len() > 400, "only {} files were read", files.len());
}

#[test]
fn type_names_have_one_meaning() {
    let mut definitions = BTreeMap::<String, Vec<String>>::new();
    for (file, text) in rust_files(&["src"]) {
        for (number, line) in (1..).zip(text.lines()) {
            let Some(name) = type_name(line) else { continue };
            definitions.entry(name.to_owned()).or_default().push(format!("{file}:{number}"));
        }
    }
    let twice: Vec<_> = definitions.iter().filter(|(_, places)| places.len() > 1).collect();
    let lines: Vec<_> = twice.iter().map(|(name, places)| format!("{name}: {}", places.join(" "))).collect();
    assert!(lines.is_empty(), "{} type names have several definitions:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn public_functions_take_every_kind_of_path() {
    let library = std::fs::read_to_string(format!("{}/src/lib.rs", support::ROOT)).expect("it is there");
    let hidden: Vec<&str> =
        library.split("#[doc(hidden)]\npub mod ").skip(1).filter_map(|rest| rest.split(';').next()).collect();
    let is_hidden = |file: &str| file["src/".len()..].split(['/', '.']).next().is_some_and(|top| hidden.contains(&top));
    let mut problems = Vec::new();
    for (file, text) in rust_files(&["src"]).into_iter().filter(|(file, _)| !is_hidden(file)) {
        problems.extend(borrowed_paths(&text).into_iter().map(|line| format!("{file}:{line}")));
    }
    assert!(hidden.contains(&"cli") && !hidden.contains(&"seq"), "{hidden:?}");
    assert!(problems.is_empty(), "use impl AsRef<Path> in these functions:\n{}", problems.join("\n"));
}

/// Returns the first lines (from 1) of public functions that take a `&Path` or a `PathBuf`.
fn borrowed_paths(text: &str) -> Vec<usize> {
    let lines: Vec<&str> = text.lines().collect();
    let is_public = |line: &str| function_start(line).is_some() && line.trim_start().starts_with("pub ");
    let signature = |start: usize| {
        let end =
            lines[start..].iter().position(|line| line.ends_with(['{', ';', '}'])).map_or(lines.len(), |n| start + n);
        lines[start..=end.min(lines.len() - 1)].join(" ")
    };
    let takes_one = |&start: &usize| {
        let all = signature(start);
        let arguments = all.split(" -> ").next().unwrap_or(&all);
        [": &Path", ": PathBuf", "Vec<PathBuf>", "[PathBuf]"].iter().any(|kind| arguments.contains(kind))
    };
    (0..lines.len()).filter(|&start| is_public(lines[start])).filter(takes_one).map(|start| start + 1).collect()
}

/// Returns the name of the type that a line defines. Associated types do not count.
fn type_name(line: &str) -> Option<&str> {
    let is_indented = line.starts_with(' ');
    let rest = without_visibility(line.trim_start());
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let kind = kinds.iter().find(|kind| rest.starts_with(**kind))?;
    if *kind == "type " && is_indented {
        return None;
    }
    let name = &rest[kind.len()..];
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn the_checks_detect_violations() {
    let long = format!(
        "impl A {{\n    pub(in crate::b) unsafe fn f(\n        a: u8,\n    ) {{\n{}    }}\n}}\n",
        "a;\n".repeat(98)
    );
    assert_eq!(functions(&long), [("f", 2, 102)]);
    assert_eq!(functions("fn f();\nfn g() {}\nfn h() {\n}\n"), [("h", 3, 2)]);
    assert_eq!(
        odd_comments("/// What is here.\n/// Of these.\nfn f() {}\n//! Of all.\n"),
        [(1, "What is here."), (4, "Of all.")]
    );
    assert_eq!(odd_comments("/// Whatever is here.\n\n/// Official.\n"), []);
    assert_eq!(type_name("    pub(in crate::a) struct Name<'a>(u8);"), Some("Name"));
    assert_eq!(type_name("    type Item = u8;"), None);
    let paths = "pub fn f(a: &Path) {}\npub fn g(a: impl AsRef<Path>) -> PathBuf {\n}\npub(crate) fn h(a: &Path) {}\n";
    assert_eq!(borrowed_paths(&format!("{paths}pub fn i(\n    a: PathBuf,\n) {{\n}}\n")), [1, 5]);
    assert_eq!(type_name("type Alias = u8;"), Some("Alias"));
}
