//! A reader of placement files that accepts version 3 of jplace only (Matsen et al. 2012,
//! doi:10.1371/journal.pone.0031009). It shares no code with the writer.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

/// A checked placement file.
#[derive(Debug)]
pub(super) struct PlacedReads {
    /// Length of each edge, by its number.
    pub(super) edges: BTreeMap<u64, f64>,
    /// Names of the leaves, in the order of the tree.
    pub(super) leaves: Vec<String>,
    /// Names of the values of a placement.
    pub(super) fields: Vec<String>,
    pub(super) reads: Vec<PlacedRead>,
}

/// The reads that share a list of placements.
#[derive(Debug)]
pub(super) struct PlacedRead {
    pub(super) names: Vec<String>,
    /// Values of each placement, in the order of the fields.
    pub(super) placements: Vec<Vec<f64>>,
}

impl PlacedReads {
    /// Returns the value of a field.
    pub(super) fn value(&self, placement: &[f64], field: &str) -> f64 {
        placement[self.fields.iter().position(|name| name == field).expect("the field exists")]
    }
}

/// Parses a placement file. Returns a message if it violates the format.
pub(super) fn parse(text: &str) -> Result<PlacedReads, String> {
    let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let file = file.as_object().ok_or("the file is no object")?;
    let known = ["tree", "placements", "fields", "metadata", "version"];
    if let Some(other) = file.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!("key '{other}' is unknown"));
    }
    if file.get("version") != Some(&Value::from(3)) {
        return Err("version is not 3".to_owned());
    }
    let metadata = file.get("metadata").and_then(Value::as_object).ok_or("metadata is no object")?;
    if metadata.values().any(|value| !value.is_string()) {
        return Err("metadata has a value that is no string".to_owned());
    }
    let tree = file.get("tree").and_then(Value::as_str).ok_or("tree is no string")?;
    let mut parser = TreeParser { rest: tree, edges: BTreeMap::new(), leaves: Vec::new() };
    parser.tree()?;
    let TreeParser { edges, leaves, .. } = parser;
    let fields = strings(file.get("fields"), "fields")?;
    check_fields(&fields)?;
    let list = file.get("placements").and_then(Value::as_array).ok_or("placements is no list")?;
    let mut placed = PlacedReads { edges, leaves, fields, reads: Vec::new() };
    let mut seen = HashSet::new();
    for item in list {
        let item = item.as_object().ok_or("an item of placements is no object")?;
        let read = PlacedRead { names: names(item)?, placements: rows(item)? };
        read.placements.iter().try_for_each(|row| check_row(&placed, row))?;
        let total: f64 = read.placements.iter().map(|row| placed.value(row, "like_weight_ratio")).sum();
        if total > 1.0 {
            return Err(format!("weights of {:?} add up to {total}", read.names));
        }
        if let Some(name) = read.names.iter().find(|name| !seen.insert((*name).clone())) {
            return Err(format!("name '{name}' occurs twice"));
        }
        placed.reads.push(read);
    }
    Ok(placed)
}

/// Returns a list of different strings.
fn strings(value: Option<&Value>, key: &str) -> Result<Vec<String>, String> {
    let list = value.and_then(Value::as_array).ok_or(format!("{key} is no list"))?;
    let list: Option<Vec<String>> = list.iter().map(|item| item.as_str().map(str::to_owned)).collect();
    let list = list.ok_or(format!("{key} has an item that is no string"))?;
    match list.iter().collect::<HashSet<_>>().len() == list.len() && !list.iter().any(String::is_empty) {
        true => Ok(list),
        false => Err(format!("{key} has an empty or repeated item")),
    }
}

/// Checks the names of the values of a placement.
fn check_fields(fields: &[String]) -> Result<(), String> {
    let has = |name: &str| fields.iter().any(|field| field == name);
    for name in ["edge_num", "likelihood", "like_weight_ratio", "pendant_length"] {
        if !has(name) {
            return Err(format!("field '{name}' is missing"));
        }
    }
    match has("distal_length") != has("proximal_length") {
        true => Ok(()),
        false => Err("fields need one of distal_length and proximal_length".to_owned()),
    }
}

/// Returns the names of an item: `n`, or `nm`, whose names have multiplicities.
fn names(item: &Map<String, Value>) -> Result<Vec<String>, String> {
    if let Some(other) = item.keys().find(|key| !["p", "n", "nm"].contains(&key.as_str())) {
        return Err(format!("key '{other}' of a placement is unknown"));
    }
    let names = match (item.get("n"), item.get("nm")) {
        (Some(list), None) => strings(Some(list), "n")?,
        (None, Some(list)) => {
            let pairs: Vec<(String, f64)> = serde_json::from_value(list.clone()).map_err(|error| error.to_string())?;
            if pairs.iter().any(|(_, multiplicity)| *multiplicity <= 0.0) {
                return Err("a multiplicity is not positive".to_owned());
            }
            pairs.into_iter().map(|(name, _)| name).collect()
        }
        _ => return Err("a placement needs one of n and nm".to_owned()),
    };
    if names.is_empty() { Err("a placement has no name".to_owned()) } else { Ok(names) }
}

/// Returns the rows of `p`.
fn rows(item: &Map<String, Value>) -> Result<Vec<Vec<f64>>, String> {
    let rows = item.get("p").ok_or("p is missing")?;
    let rows: Vec<Vec<f64>> = serde_json::from_value(rows.clone()).map_err(|error| error.to_string())?;
    if rows.is_empty() { Err("p has no row".to_owned()) } else { Ok(rows) }
}

/// Checks the values of a placement.
fn check_row(placed: &PlacedReads, row: &[f64]) -> Result<(), String> {
    if row.len() != placed.fields.len() {
        return Err(format!("{} values for {} fields", row.len(), placed.fields.len()));
    }
    if row.iter().any(|value| !value.is_finite()) {
        return Err("a value is not finite".to_owned());
    }
    let edge = placed.value(row, "edge_num");
    let length = (edge.fract() == 0.0 && edge >= 0.0).then(|| placed.edges.get(&(edge as u64))).flatten();
    let length = *length.ok_or(format!("edge {edge} is not in the tree"))?;
    let position =
        if placed.fields.iter().any(|field| field == "distal_length") { "distal_length" } else { "proximal_length" };
    if !(0.0..=length).contains(&placed.value(row, position)) {
        return Err(format!("{position} is outside edge {edge}"));
    }
    if placed.value(row, "pendant_length") < 0.0 {
        return Err("pendant_length is negative".to_owned());
    }
    match (0.0..=1.0).contains(&placed.value(row, "like_weight_ratio")) {
        true => Ok(()),
        false => Err("like_weight_ratio is outside 0 to 1".to_owned()),
    }
}

/// A parser of Newick trees whose edges have numbers in braces, behind their lengths.
struct TreeParser<'a> {
    rest: &'a str,
    edges: BTreeMap<u64, f64>,
    leaves: Vec<String>,
}

impl TreeParser<'_> {
    fn tree(&mut self) -> Result<(), String> {
        self.node(true)?;
        match self.rest {
            ";" => Ok(()),
            rest => Err(format!("the tree ends with '{rest}'")),
        }
    }

    fn accepts(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Parses a node, and the edge above it. The root may lack one.
    fn node(&mut self, is_root: bool) -> Result<(), String> {
        let is_leaf = !self.accepts('(');
        if !is_leaf {
            self.node(false)?;
            while self.accepts(',') {
                self.node(false)?;
            }
            if !self.accepts(')') {
                return Err(format!("')' is missing before '{}'", self.rest));
            }
        }
        let label = self.label()?;
        if is_leaf {
            if label.is_empty() || self.leaves.contains(&label) {
                return Err(format!("leaf '{label}' has no name, or that of another leaf"));
            }
            self.leaves.push(label);
        }
        if is_root && self.rest == ";" {
            return Ok(());
        }
        let length = match self.accepts(':') {
            true => self.until('{')?.parse::<f64>().map_err(|error| error.to_string())?,
            false => return Err(format!("a length is missing before '{}'", self.rest)),
        };
        if !self.accepts('{') {
            return Err(format!("an edge number is missing before '{}'", self.rest));
        }
        let number = self.until('}')?.parse::<u64>().map_err(|error| error.to_string())?;
        self.accepts('}');
        if !length.is_finite() || length < 0.0 || self.edges.insert(number, length).is_some() {
            return Err(format!("edge {number} has length {length}, or the number of another edge"));
        }
        Ok(())
    }

    /// Returns the text before a letter.
    fn until(&mut self, letter: char) -> Result<String, String> {
        let at = self.rest.find(letter).ok_or(format!("'{letter}' is missing"))?;
        let (text, rest) = self.rest.split_at(at);
        self.rest = rest;
        Ok(text.to_owned())
    }

    /// Parses a name. A quote within quotes is doubled.
    fn label(&mut self) -> Result<String, String> {
        if !self.accepts('\'') {
            let at = self.rest.find(|letter| "(),:;{}[]'".contains(letter)).unwrap_or(self.rest.len());
            let (label, rest) = self.rest.split_at(at);
            self.rest = rest;
            return Ok(label.to_owned());
        }
        let mut label = String::new();
        loop {
            label += &self.until('\'')?;
            self.accepts('\'');
            if !self.accepts('\'') {
                return Ok(label);
            }
            label.push('\'');
        }
    }
}
