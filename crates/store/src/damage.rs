//! Damage in a store, named so that a person and a repair can find it.

use std::fmt;

/// One thing in a store that cannot be relied on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Damage {
    /// The table; empty when it concerns the file as a whole.
    pub table: String,
    /// The key of the row, as the database shows it; of a range, its two ends.
    pub key: Option<String>,
    /// The column.
    pub column: Option<String>,
    /// What is wrong.
    pub what: String,
}

impl Damage {
    /// Damage of the file as a whole.
    pub(crate) fn of_file(what: impl Into<String>) -> Self {
        Self {
            table: String::new(),
            key: None,
            column: None,
            what: what.into(),
        }
    }

    /// Damage of one row.
    pub(crate) fn of_row(table: &str, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            table: table.to_owned(),
            key: Some(key.into()),
            column: None,
            what: what.into(),
        }
    }

    /// The same, in one column.
    pub(crate) fn in_column(self, column: &str) -> Self {
        Self {
            column: Some(column.to_owned()),
            ..self
        }
    }

    /// `table key column`, as far as they are known.
    #[must_use]
    pub fn place(&self) -> String {
        let mut place = self.table.clone();
        for part in [&self.key, &self.column].into_iter().flatten() {
            place.push(' ');
            place.push_str(part);
        }
        place
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.table.is_empty() {
            true => f.write_str(&self.what),
            false => write!(f, "{}: {}", self.place(), self.what),
        }
    }
}
