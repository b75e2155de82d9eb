//! The picture of rooms in `src/lib.rs` against what the files really use.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(support::ROOT)
}

/// The level of each room, from the picture: rooms of one line are beside each other; the topmost line is level 0.
fn picture() -> BTreeMap<String, usize> {
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let after = lib.split_once("//! # The rooms").expect("the picture has a headline").1;
    let lines = after.split("```text").nth(1).unwrap().split("```").next().unwrap();
    let mut levels = BTreeMap::new();
    for (level, line) in lines.lines().filter_map(|line| line.strip_prefix("//! ")).enumerate() {
        let line = line.trim_end();
        if line.is_empty() {
            continue;
        }
        // Names stand before the first gap of ten columns or more, or fill the first 26 columns.
        let names = &line[..line.len().min(26)];
        for name in names.split_whitespace() {
            assert!(levels.insert(name.to_owned(), level).is_none(), "{name} is twice in the picture");
        }
    }
    levels
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Rooms that a text names by a path from the root of the crate, each with the line; comments and tests left out.
fn uses(text: &str) -> Vec<(String, usize)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut found = Vec::new();
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
                    // Of a list only the first parts of its members count.
                    let mut depth = 0;
                    let mut member = String::new();
                    for c in list.chars() {
                        match c {
                            '{' => depth += 1,
                            '}' if depth == 0 => break,
                            '}' => depth -= 1,
                            ',' if depth == 0 => found.push((std::mem::take(&mut member), number)),
                            _ if depth == 0 => member.push(c),
                            _ => {}
                        }
                    }
                    found.push((member, number));
                } else {
                    found.push((rest.to_owned(), number));
                }
            }
        }
    }
    let first = |path: &str| {
        let name: String = path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        name
    };
    found.into_iter().map(|(path, line)| (first(&path), line)).collect()
}

/// Uses that the picture does not allow.
fn wrong(levels: &BTreeMap<String, usize>, room: &str, text: &str) -> Vec<(String, usize)> {
    let own = levels[room];
    let is_wrong = |other: &String| other != room && levels.get(other).is_some_and(|&level| level <= own);
    uses(text).into_iter().filter(|(other, _)| is_wrong(other)).collect()
}

#[test]
fn arrows_only_go_down() {
    let levels = picture();
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    let (mut problems, mut seen) = (Vec::new(), 0);
    let mut arrows: BTreeMap<(usize, String), BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(root().join("src")).unwrap().to_str().unwrap().replace('\\', "/");
        let room = path.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        if ["lib", "main"].contains(&room.as_str()) || path.ends_with("tests.rs") {
            continue;
        }
        assert!(levels.contains_key(&room), "src/{path}: the picture in src/lib.rs has no room {room}");
        seen += 1;
        let text = fs::read_to_string(&file).unwrap();
        let others = uses(&text).into_iter().map(|(other, _)| other);
        let others = others.filter(|other| *other != room && levels.contains_key(other));
        arrows.entry((levels[&room], room.clone())).or_default().extend(others);
        problems.extend(
            wrong(&levels, &room, &text).into_iter().map(|(other, line)| format!("src/{path}:{line} uses {other}")),
        );
    }
    for ((_, room), others) in &arrows {
        println!("{room:10} -> {}", others.iter().cloned().collect::<Vec<_>>().join(" "));
    }
    assert!(seen > 150, "only {seen} files were read");
    assert!(problems.is_empty(), "arrows that go up or sideways:\n{}", problems.join("\n"));
}

#[test]
fn every_room_of_the_picture_is_there() {
    for room in picture().keys() {
        let (directory, file) = (root().join("src").join(room), root().join(format!("src/{room}.rs")));
        assert!(directory.is_dir() || file.is_file(), "the picture names {room}, but there is no such room");
    }
}

#[test]
fn rooms_of_recurrences_are_beside_each_other() {
    let levels = picture();
    assert_eq!(levels["pairs"], levels["edit"]);
    assert_eq!(levels["edit"], levels["long"]);
    assert!(levels["cli"] < levels["measure"] && levels["measure"] < levels["jobs"]);
    assert!(levels["cli"] < levels["jobs"] && levels["jobs"] < levels["pairs"] && levels["pairs"] < levels["seq"]);
}

/// The reader of arrows finds them in whatever form they are written.
#[test]
fn wrong_arrows_are_found() {
    let levels = picture();
    let found = |room: &str, text: &str| wrong(&levels, room, text).len();
    assert_eq!(found("seq", "use crate::score::Scoring;\n"), 1);
    assert_eq!(found("score", "use crate::seq::Code;\n"), 0);
    assert_eq!(found("pairs", "use crate::{edit::Edit, seq::{Code, edit}, long};\n"), 2);
    assert_eq!(found("engine", "fn f() { crate::jobs::allpairs::f(crate::pairs::g()) }\n"), 2);
    assert_eq!(found("engine", "// crate::jobs\n/// [`crate::pairs`]\n"), 0);
    assert_eq!(found("engine", "mod a;\n#[cfg(test)]\nmod tests {\nuse crate::pairs::mock;\n}\n"), 0);
    assert_eq!(found("jobs", "use pairwave::cli::Args;\n"), 1);
    assert_eq!(found("gpu", "$crate::edit::f!()\n"), 1);
}
