//! Warnings about names that occur more than once.

/// Maximum number of duplicate names in a warning.
pub(in crate::seq) const NAMED_DUPLICATES: usize = 3;

/// Names that occur more than once.
#[derive(Debug, Default)]
pub(in crate::seq) struct Duplicates {
    records: u64,
    /// The first of these names.
    distinct: Vec<String>,
    more: bool,
}

impl Duplicates {
    /// Creates the list for `records` records with the name of an earlier one. `distinct` contains
    /// the first of these names, at most one more than [`NAMED_DUPLICATES`].
    pub(in crate::seq) fn new(records: u64, mut distinct: Vec<String>) -> Self {
        let more = distinct.len() > NAMED_DUPLICATES;
        distinct.truncate(NAMED_DUPLICATES);
        Duplicates { records, distinct, more }
    }

    /// Counts a record with the name of an earlier one.
    pub(in crate::seq) fn add(&mut self, name: &str) {
        self.records += 1;
        if !self.distinct.iter().any(|known| known == name) {
            if self.distinct.len() < NAMED_DUPLICATES {
                self.distinct.push(name.to_owned());
            } else {
                self.more = true;
            }
        }
    }

    /// Warns about the names, if there are any.
    pub(in crate::seq) fn warn(&self, location: &str) {
        if self.records == 0 {
            return;
        }
        let (listed, more) = (self.distinct.join("', '"), if self.more { ", ..." } else { "" });
        let records = if self.records == 1 { "1 record has" } else { &format!("{} records have", self.records) };
        tracing::warn!("{location}: {records} the name of an earlier one: '{listed}'{more}");
    }
}
