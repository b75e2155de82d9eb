//! Assembles shader texts from parts.
//!
//! A line `#import name` in a shader imports a part: the file `shaders/common/name.wgsl`, or a text
//! that the host supplies under that name. The host supplies texts that depend on the variant, or
//! that select one of several files. Parts can import other parts. Each part appears once, before
//! all parts that import it.

use std::fmt::Write;

use crate::error::{Error, Result};

/// Returns a file of `shaders/common` with its name.
macro_rules! part {
    ($name:literal) => {
        ($name, include_str!(concat!("../../shaders/common/", $name, ".wgsl")))
    };
}

/// The files of `shaders/common`.
const PARTS: &[(&str, &str)] = &[
    part!("arena"),
    part!("clustal"),
    part!("exchange_subgroup"),
    part!("exchange_workgroup"),
    part!("lanes_subgroup"),
    part!("lanes_workgroup"),
    part!("myers"),
    part!("myers_column"),
    part!("myers_lanes"),
    part!("myers_scan_columns"),
    part!("nw"),
    part!("papara"),
    part!("papara_halves"),
    part!("papara_words"),
    part!("posterior"),
    part!("profile"),
    part!("profiles"),
    part!("strip"),
    part!("striped_border_anchored"),
    part!("striped_border_stored"),
    part!("striped_paths"),
    part!("striped_stored_borders"),
    part!("striped_symbols"),
    part!("striped_trace"),
    part!("substitution"),
    part!("tile"),
    part!("tile_half_numbers"),
    part!("tile_half_targets"),
    part!("tile_halves"),
    part!("tile_words"),
    part!("traceback"),
];

/// Start of a line that imports a part.
const IMPORT: &str = "#import ";

/// The constants of a shader, as WGSL text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constants(String);

impl Constants {
    /// Adds a u32 constant.
    pub fn number(mut self, name: &str, value: u32) -> Self {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "const {name}: u32 = {value}u;");
        self
    }

    /// Adds a bool constant.
    pub fn flag(mut self, name: &str, value: bool) -> Self {
        let _ = writeln!(self.0, "const {name}: bool = {value};");
        self
    }
}

/// Parts that the host supplies to a shader, by name. They can import other parts.
pub type Supplied = Vec<(&'static str, String)>;

/// Splits a text into its imports and the text without the import lines.
fn split(text: &str) -> (Vec<&str>, String) {
    let imports = text.lines().filter_map(|line| line.strip_prefix(IMPORT)).map(str::trim).collect();
    let rest = text.split_inclusive('\n').filter(|line| !line.starts_with(IMPORT)).collect();
    (imports, rest)
}

/// A text under construction.
struct Resolver<'a> {
    supplied: &'a [(&'static str, String)],
    /// Parts that are already in the text.
    done: Vec<&'a str>,
    /// Parts whose imports are being added. Each part imports the one after it.
    open: Vec<&'a str>,
    text: String,
}

impl<'a> Resolver<'a> {
    fn part(&self, name: &str) -> Option<&'a str> {
        let supplied = self.supplied.iter().find(|(part, _)| *part == name).map(|(_, text)| text.as_str());
        supplied.or_else(|| PARTS.iter().find(|(part, _)| *part == name).map(|(_, text)| *text))
    }

    fn add(&mut self, name: &'a str, text: &'a str) -> Result<()> {
        self.open.push(name);
        let (imports, rest) = split(text);
        for import in imports {
            let import: &'a str = import;
            if self.done.contains(&import) {
                continue;
            }
            if self.open.contains(&import) {
                return Err(Error::Internal(format!(
                    "shader parts import each other in a cycle: {} > {import}",
                    self.open.join(" > ")
                )));
            }
            let part = self
                .part(import)
                .ok_or_else(|| Error::Internal(format!("shader '{name}' imports '{import}', which does not exist")))?;
            self.add(import, part)?;
        }
        self.open.pop();
        self.done.push(name);
        self.text.push_str(&rest);
        Ok(())
    }
}

/// Returns the whole text of a shader: its constants, its imports and its own text.
///
/// # Errors
/// [`Error::Internal`] if an import is missing, or if parts import each other in a cycle.
pub fn resolve(stem: &str, shader: &str, constants: &Constants, supplied: &Supplied) -> Result<String> {
    let mut resolver = Resolver { supplied, done: Vec::new(), open: Vec::new(), text: constants.0.clone() };
    resolver.add(stem, shader)?;
    Ok(resolver.text)
}

/// Returns the files of `shaders/common` with their names, without their import lines.
pub fn parts() -> impl Iterator<Item = (&'static str, String)> {
    PARTS.iter().map(|&(name, text)| (name, split(text).1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(shader: &str, supplied: &[(&'static str, &str)]) -> Result<String> {
        let supplied = supplied.iter().map(|&(name, text)| (name, text.to_owned())).collect();
        resolve("own", shader, &Constants::default().number("WG", 64).flag("LOCAL", true), &supplied)
    }

    #[test]
    fn parts_appear_once_and_before_their_importers() {
        let supplied = [("a", "#import b\n#import c\nA\n"), ("b", "// b\n#import c\nB\n"), ("c", "C\n"), ("d", "D\n")];
        let text = resolved("// own\n#import a\n#import b\n\nOWN\n", &supplied).expect("all are there");
        assert_eq!(text, "const WG: u32 = 64u;\nconst LOCAL: bool = true;\nC\n// b\nB\nA\n// own\n\nOWN\n");
    }

    #[test]
    fn supplied_part_may_import_a_file() {
        let text = resolved("#import lanes\nOWN\n", &[("lanes", "#import exchange_subgroup\n")]).expect("it is there");
        assert!(text.contains("subgroupShuffleUp") && text.ends_with("OWN\n"), "{text}");
        assert!(!text.contains(IMPORT), "{text}");
    }

    #[test]
    fn missing_parts_and_cycles_are_errors() {
        let message = |shader, supplied: &[(&'static str, &str)]| {
            resolved(shader, supplied).expect_err("it is wrong").to_string()
        };
        let unknown = message("#import a\n", &[("a", "#import missing\n")]);
        assert!(unknown.contains("'a' imports 'missing'"), "{unknown}");
        let circle = message("#import a\n", &[("a", "#import b\n"), ("b", "#import c\n"), ("c", "#import a\n")]);
        assert!(circle.contains("own > a > b > c > a"), "{circle}");
        let cycle = message("#import a\n", &[("a", "#import own\n")]);
        assert!(cycle.contains("own > a > own"), "{cycle}");
    }
}
