//! Rows as lines of JSON, for archives that people and other programs read.
//!
//! A line is an object with every column of its table, in their order. Bytes are hexadecimal digits.

use serde_json::{Map, Value};

use super::{Cell, Column, Kind, Row, Table};

/// Why a line is no row of its table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LineError(String);

/// A row as one line, without its line break. The same row always gives the same bytes.
///
/// ```
/// use daybook_store::transfer::{Cell, TABLES, json_lines};
/// let tenants = TABLES.iter().find(|table| table.name == "tenants").unwrap();
/// let row = vec![Cell::Int(1), Cell::Text("local".to_owned())];
/// let line = json_lines::line_of(tenants, &row);
/// assert_eq!(line, r#"{"tenant_no":1,"tenant":"local"}"#);
/// assert_eq!(json_lines::row_of(tenants, &line).unwrap(), row);
/// ```
#[must_use]
pub fn line_of(table: &Table, row: &[Cell]) -> String {
    let columns = table.columns.iter().zip(row);
    let fields =
        columns.map(|(column, cell)| format!("\"{}\":{}", column.name, value_of(*column, cell)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn value_of(column: Column, cell: &Cell) -> Value {
    match (cell, column.kind) {
        (Cell::Null, _) => Value::Null,
        (Cell::Int(number), Kind::Truth) => Value::Bool(*number != 0),
        (Cell::Int(number), _) => Value::from(*number),
        (Cell::Text(text), _) => Value::from(text.as_str()),
        (Cell::Bytes(bytes), _) => Value::from(
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>(),
        ),
    }
}

/// The row that a line describes.
///
/// # Errors
/// When the line is no JSON object, or has other columns than the table, or values of another kind.
pub fn row_of(table: &Table, line: &str) -> Result<Row, LineError> {
    let mut fields: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| LineError(error.to_string()))?;
    let mut row = Row::with_capacity(table.columns.len());
    for column in table.columns {
        let Some(value) = fields.remove(column.name) else {
            return Err(LineError(format!("{} is missing", column.name)));
        };
        let wrong = || LineError(format!("{} has a value of another kind", column.name));
        row.push(cell_of(column.kind, value).ok_or_else(wrong)?);
    }
    match fields.keys().next() {
        Some(name) => Err(LineError(format!("{name} is no column of {}", table.name))),
        None => Ok(row),
    }
}

fn cell_of(kind: Kind, value: Value) -> Option<Cell> {
    match (kind, value) {
        (_, Value::Null) => Some(Cell::Null),
        (Kind::Truth, Value::Bool(truth)) => Some(Cell::Int(i64::from(truth))),
        (Kind::Int, Value::Number(number)) => number.as_i64().map(Cell::Int),
        (Kind::Text, Value::String(text)) => Some(Cell::Text(text)),
        (Kind::Bytes, Value::String(digits)) => bytes_of(&digits).map(Cell::Bytes),
        _ => None,
    }
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::transfer::TABLES;

    fn cell(kind: Kind) -> BoxedStrategy<Cell> {
        let some = match kind {
            Kind::Int => any::<i64>().prop_map(Cell::Int).boxed(),
            Kind::Truth => any::<bool>()
                .prop_map(|truth| Cell::Int(truth.into()))
                .boxed(),
            Kind::Text => any::<String>().prop_map(Cell::Text).boxed(),
            Kind::Bytes => any::<Vec<u8>>().prop_map(Cell::Bytes).boxed(),
        };
        prop_oneof![1 => Just(Cell::Null), 4 => some].boxed()
    }

    fn table_and_row() -> impl Strategy<Value = (usize, Row)> {
        (0..TABLES.len()).prop_flat_map(|at| {
            let cells: Vec<_> = TABLES[at]
                .columns
                .iter()
                .map(|column| cell(column.kind))
                .collect();
            (Just(at), cells)
        })
    }

    proptest! {
        #[test]
        fn every_row_is_read_as_it_was_written((at, row) in table_and_row()) {
            let line = line_of(&TABLES[at], &row);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(row_of(&TABLES[at], &line), Ok(row));
        }

        #[test]
        fn no_text_makes_it_panic(at in 0..TABLES.len(), text: String) {
            let _ = row_of(&TABLES[at], &text);
        }
    }

    #[test]
    fn a_line_of_another_form_is_refused_with_what_is_wrong() {
        let tombstones = TABLES
            .iter()
            .find(|table| table.name == "tombstones")
            .unwrap();
        let why = |line: &str| row_of(tombstones, line).unwrap_err().to_string();
        assert_eq!(why(r#"{"tenant_no":1}"#), "mark is missing");
        assert_eq!(
            why(r#"{"tenant_no":"1","mark":"00"}"#),
            "tenant_no has a value of another kind"
        );
        assert_eq!(
            why(r#"{"tenant_no":1,"mark":"0"}"#),
            "mark has a value of another kind"
        );
        assert_eq!(
            why(r#"{"tenant_no":1,"mark":"zz"}"#),
            "mark has a value of another kind"
        );
        assert_eq!(
            why(r#"{"tenant_no":1,"mark":"00","more":1}"#),
            "more is no column of tombstones"
        );
        assert!(why("[]").contains("expected"));
    }
}
