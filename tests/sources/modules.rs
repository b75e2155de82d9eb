//! Compares the picture of modules in `src/lib.rs` with the modules that each file uses, and checks
//! that the uses of sibling modules have no cycle (`cycles`).

mod cycles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use self::cycles::{cycles, library};
use super::files::rust_files;

fn root() -> PathBuf {
    PathBuf::from(support::ROOT)
}

/// Returns the layer of each module in the picture. Modules on one line share a layer; the topmost
/// line is layer 0.
fn picture() -> BTreeMap<String, usize> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let after = lib.split_once("```text").expect("the picture exists").1;
    let lines = after.split("```").next().unwrap();
    let mut layers = BTreeMap::new();
    for (layer, line) in lines.lines().filter_map(|line| line.strip_prefix("//! ")).enumerate() {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        // Names precede the first gap of ten columns or more, or fill the first 26 columns.
        let names = &line[..line.len().min(26)];
        for name in names.split_whitespace() {
            assert!(layers.insert(name.to_owned(), layer).is_none(), "{name} is twice in the picture");
        }
    }
    layers
}

/// Returns the modules that a text names by a path from the crate root, with the line. Skips
/// comments and tests.
fn uses(text: &str) -> Vec<(String, usize)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut actual = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        let line = line.split("//").next().unwrap();
        for start in ["crate::", "pairwave::"] {
            for (at, _) in line.match_indices(start) {
                let before = line[..at].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                    continue;
                }
                let rest = &line[at + start.len()..];
                if let Some(list) = rest.strip_prefix('{') {
                    // Only the first path segments of list members count.
                    let mut depth = 0;
                    let mut member = String::new();
                    for c in list.chars() {
                        match c {
                            '{' => depth += 1,
                            '}' if depth == 0 => break,
                            '}' => depth -= 1,
                            ',' if depth == 0 => actual.push((std::mem::take(&mut member), number)),
                            _ if depth == 0 => member.push(c),
                            _ => {}
                        }
                    }
                    actual.push((member, number));
                } else {
                    actual.push((rest.to_owned(), number));
                }
            }
        }
    }
    let first = |path: &str| {
        let name: String = path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        name
    };
    actual.into_iter().map(|(path, line)| (first(&path), line)).collect()
}

/// Returns the uses that the picture does not allow.
fn wrong(layers: &BTreeMap<String, usize>, module: &str, text: &str) -> Vec<(String, usize)> {
    let layer = layers[module];
    let is_wrong =
        |other: &String| other != module && layers.get(other).is_some_and(|&other_layer| other_layer <= layer);
    uses(text).into_iter().filter(|(other, _)| is_wrong(other)).collect()
}

#[test]
fn dependencies_only_point_downwards() {
    let layers = picture();
    let (mut problems, mut seen) = (Vec::new(), 0);
    let mut arrows: BTreeMap<(usize, String), BTreeSet<String>> = BTreeMap::new();
    for (file, text) in rust_files(&["src"]) {
        let path = file.strip_prefix("src/").unwrap();
        let module = path.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        if ["lib", "main"].contains(&module.as_str()) || path.ends_with("tests.rs") {
            continue;
        }
        assert!(layers.contains_key(&module), "src/{path}: the picture in src/lib.rs has no module {module}");
        seen += 1;
        let others = uses(&text).into_iter().map(|(other, _)| other);
        let others = others.filter(|other| *other != module && layers.contains_key(other));
        arrows.entry((layers[&module], module.clone())).or_default().extend(others);
        problems.extend(
            wrong(&layers, &module, &text).into_iter().map(|(other, line)| format!("src/{path}:{line} uses {other}")),
        );
    }
    for ((_, module), others) in &arrows {
        println!("{module:10} -> {}", others.iter().cloned().collect::<Vec<_>>().join(" "));
    }
    assert!(seen > 150, "only {seen} files were read");
    assert!(problems.is_empty(), "dependencies that point upwards or sideways:\n{}", problems.join("\n"));
}

#[test]
fn sibling_modules_have_no_import_cycles() {
    let library = library(rust_files(&["src"]));
    assert!(library.len() > 700, "only {} modules were read", library.len());
    let cycles = cycles(&library);
    assert!(cycles.is_empty(), "move items to the lower module of each cycle:\n{}", cycles.join("\n"));
}

#[test]
fn every_module_of_the_picture_exists() {
    for module in picture().keys() {
        let (directory, file) = (root().join("src").join(module), root().join(format!("src/{module}.rs")));
        assert!(directory.is_dir() || file.is_file(), "the picture names {module}, but there is no such module");
    }
}

#[test]
fn recurrence_modules_share_a_layer() {
    let layers = picture();
    assert_eq!(layers["pairs"], layers["edit"]);
    assert_eq!(layers["edit"], layers["long"]);
    assert!(layers["cli"] < layers["measure"] && layers["measure"] < layers["jobs"]);
    assert!(layers["cli"] < layers["jobs"] && layers["jobs"] < layers["pairs"] && layers["pairs"] < layers["seq"]);
}

/// The test detects dependencies in every form.
#[test]
fn wrong_dependencies_are_found() {
    let layers = picture();
    let actual = |module: &str, text: &str| wrong(&layers, module, text).len();
    assert_eq!(actual("seq", "use crate::score::Scoring;\n"), 1);
    assert_eq!(actual("score", "use crate::seq::Code;\n"), 0);
    assert_eq!(actual("pairs", "use crate::{edit::Edit, seq::{Code, edit}, long};\n"), 2);
    assert_eq!(actual("engine", "fn f() { crate::jobs::allpairs::f(crate::pairs::g()) }\n"), 2);
    assert_eq!(actual("engine", "// crate::jobs\n/// [`crate::pairs`]\n"), 0);
    assert_eq!(actual("engine", "mod a;\n#[cfg(test)]\nmod tests {\nuse crate::pairs::mock;\n}\n"), 0);
    assert_eq!(actual("jobs", "use pairwave::cli::Args;\n"), 1);
    assert_eq!(actual("gpu", "$crate::edit::f!()\n"), 1);
}

/// The test detects cycles of imports and of paths in expressions, and through re-exports.
#[test]
fn import_cycles_are_found() {
    let actual = |parent: &str, c: &str| {
        let files =
            [("lib", "mod a;"), ("a", parent), ("a/b", "use super::Item;"), ("a/c", c), ("a/c/e", "use crate::a::b;")];
        cycles(&library(files.map(|(name, text)| (format!("src/{name}.rs"), text.to_owned())).to_vec()))
    };
    let (none, one) = (Vec::<String>::new(), ["a: b -> c -> b"]);
    let names = "mod b; mod c; pub use c::Item;";
    for text in ["", "// super::b::f", "mod d; use self::d::b;", "#[cfg(test)]\nmod tests { use crate::a::b::f; }"] {
        assert_eq!(actual(names, text), none, "{text}");
    }
    for text in ["use super::{self, b::{f as g, *}};", "fn f() -> u8 { crate::a::b::f() }", "mod e;"] {
        assert_eq!(actual(names, text), one, "{text}");
    }
    let item = "use super::b::f; pub struct Item;";
    assert_eq!(actual("mod b; mod c; pub use self::c::*;", item), one);
    assert_eq!(actual("mod b; mod c; pub struct Item;", item), none, "the parent defines the item");
    assert_eq!(actual("#[cfg(test)] mod b; mod c; pub use c::Item;", item), none, "a module for tests");
}
