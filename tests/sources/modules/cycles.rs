//! Finds cycles in the uses of sibling modules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::slice;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Names of nested modules and an item. The root of the crate is empty.
type ModulePath = Vec<String>;

/// The modules of a crate, by their paths.
type Library = BTreeMap<ModulePath, Names>;

/// Keywords before the name of an item.
const KINDS: [&str; 8] = ["mod", "struct", "enum", "trait", "type", "fn", "const", "static"];
/// Maximum number of re-exports that lead to an item.
const MAX_REEXPORTS: u32 = 8;

/// The names in the code of a module, except in tests and comments.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Defined items and declared modules.
    items: BTreeSet<String>,
    /// Imported names, or `*`, and their paths.
    imports: Vec<(String, ModulePath)>,
    /// Paths outside of imports.
    paths: Vec<ModulePath>,
}

impl Names {
    /// Adds the names in some code. `prefix` is the path before a list of imports; it is empty for
    /// other code.
    fn read(&mut self, code: TokenStream, prefix: &[String]) {
        let (mut path, mut colons, mut is_import) = (Vec::new(), 0, !prefix.is_empty());
        let mut trees = code.into_iter();
        while let Some(tree) = trees.next() {
            if matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == ':') {
                colons += 1;
                continue;
            }
            // Two colons precede the next part of a path.
            let continues = std::mem::take(&mut colons) == 2;
            match tree {
                TokenTree::Ident(word) if continues => path.push(word.to_string()),
                TokenTree::Punct(mark) if continues && mark.as_char() == '*' => path.push("*".into()),
                TokenTree::Group(list) if continues && is_import => {
                    self.read(list.stream(), &std::mem::take(&mut path));
                }
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    let before = std::mem::replace(&mut path, [prefix, slice::from_ref(&word)].concat());
                    match before.last().map_or("", String::as_str) {
                        "as" if is_import => {
                            self.imports.last_mut().expect("a path before `as`").0 = path.pop().expect("the new name");
                            path.clear();
                        }
                        kind if KINDS.contains(&kind) => _ = self.items.insert(word.clone()),
                        _ => self.add(before, is_import),
                    }
                    if word == "use" {
                        (path, is_import) = (Vec::new(), true);
                    }
                }
                other => {
                    self.add(std::mem::take(&mut path), is_import);
                    match other {
                        TokenTree::Punct(mark) if mark.as_char() == '#' => skip_attribute(&mut trees),
                        TokenTree::Punct(mark) => is_import &= mark.as_char() == ',',
                        TokenTree::Group(group) => self.read(group.stream(), &[]),
                        _ => {}
                    }
                }
            }
        }
        self.add(path, is_import);
    }

    /// Adds a complete path.
    fn add(&mut self, mut path: ModulePath, is_import: bool) {
        if is_import && path.len() > 1 {
            path.pop_if(|last| last == "self");
            self.imports.push((path[path.len() - 1].clone(), path));
        } else if path.len() > 1 {
            self.paths.push(path);
        }
    }
}

/// Skips an attribute after its `#`, and the item after it if it is compiled for tests only.
fn skip_attribute(trees: &mut impl Iterator<Item = TokenTree>) {
    let attribute = trees.next().map_or(String::new(), |tree| tree.to_string().replace(' ', ""));
    if attribute.starts_with("[cfg(test)") || attribute.starts_with("[cfg(all(test,") {
        trees.find(|tree| match tree {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            _ => false,
        });
    }
}

/// Returns the modules of the files in `src`, except those for tests only.
pub(super) fn library(files: Vec<(String, String)>) -> Library {
    let mut library = Library::new();
    for (file, text) in files {
        let path = file.trim_start_matches("src/").trim_end_matches(".rs").split('/').filter(|name| *name != "lib");
        let names = library.entry(path.map(str::to_owned).collect()).or_default();
        names.read(text.parse().unwrap_or_else(|error| panic!("{file}: {error}")), &[]);
    }
    let declares = |parent: &[String], name: &str| library.get(parent).is_some_and(|names| names.items.contains(name));
    let is_declared = |module: &ModulePath| (0..module.len()).all(|n| declares(&module[..n], &module[n]));
    let undeclared: Vec<_> = library.keys().filter(|module| !is_declared(module)).cloned().collect();
    undeclared.iter().for_each(|module| _ = library.remove(module));
    library
}

/// Returns the module that defines the item of a path in a module. Returns `None` if the path starts
/// with another crate or with an item of the module.
fn defining(library: &Library, module: &[String], path: &[String], reexports: u32) -> Option<ModulePath> {
    let mut current = module.to_vec();
    for (index, name) in path.iter().enumerate() {
        current.push(name.clone());
        match name.as_str() {
            "crate" | "pairwave" => current.clear(),
            "self" => _ = current.pop(),
            "super" => current.truncate(current.len().saturating_sub(2)),
            _ if library.contains_key(&current) => {}
            _ => {
                current.pop();
                let follow = |path: &[String]| defining(library, &current, path, reexports.checked_sub(1)?);
                let imported = library[&current].imports.iter().find_map(|(import, from)| match import.as_str() {
                    "*" => follow(&from[..from.len() - 1]).filter(|other| library[other].items.contains(name)),
                    _ if import == name => follow(&[from, &path[index + 1..]].concat()),
                    _ => None,
                });
                return imported.or((index > 0).then_some(current));
            }
        }
    }
    Some(current)
}

/// Returns the shortest cycle through each module that is the first of a cycle by name, such as
/// `edit: exact -> overhang -> exact`.
pub(super) fn cycles(library: &Library) -> Vec<String> {
    let mut siblings = BTreeMap::<&[String], BTreeMap<String, BTreeSet<String>>>::new();
    for (module, names) in library {
        for path in names.imports.iter().map(|(_, path)| path).chain(&names.paths) {
            let Some(other) = defining(library, module, path, MAX_REEXPORTS) else { continue };
            let shared = module.iter().zip(&other).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(shared), other.get(shared)) {
                let uses = siblings.entry(&module[..shared]).or_default();
                uses.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let cycle = |(parent, uses): (&&[String], &BTreeMap<_, _>)| {
        let all = uses.keys().filter_map(|start| shortest_cycle(uses, start));
        all.map(|cycle| format!("{}: {}", parent.join("/"), cycle.join(" -> "))).collect::<Vec<_>>()
    };
    siblings.iter().flat_map(cycle).collect()
}

/// Returns the shortest cycle from a module through modules with greater names.
fn shortest_cycle(uses: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let (mut paths, mut seen) = (VecDeque::from([vec![start.to_owned()]]), BTreeSet::new());
    while let Some(path) = paths.pop_front() {
        for next in uses.get(&path[path.len() - 1]).into_iter().flatten() {
            let longer = [&path[..], slice::from_ref(next)].concat();
            if next == start {
                return Some(longer);
            }
            if next.as_str() > start && seen.insert(next) {
                paths.push_back(longer);
            }
        }
    }
    None
}
