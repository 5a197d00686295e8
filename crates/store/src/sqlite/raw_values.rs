//! Values of rows as they are stored, of whatever type, and keys for people.

use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// A value as it is stored in the file, of whatever type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl Raw {
    pub(super) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Null | Self::Real(_) | Self::Text(_) | Self::Blob(_) => None,
        }
    }
}

impl From<ValueRef<'_>> for Raw {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(bytes) => Self::Text(bytes.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

impl ToSql for Raw {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(bytes) => ValueRef::Text(bytes),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The values of a row's columns for people.
pub(super) fn format_row_key(row: &Row<'_>, columns: &[usize]) -> String {
    let values = columns.iter().filter_map(|&at| row.get_ref(at).ok());
    format_key(&values.map(Raw::from).collect::<Vec<_>>())
}

/// Key values for people; bytes that are not valid text are shown as far as they are.
pub(super) fn format_key(key: &[Raw]) -> String {
    let parts = key.iter().map(|value| match value {
        Raw::Null => "NULL".to_owned(),
        Raw::Integer(number) => number.to_string(),
        Raw::Real(number) => number.to_string(),
        Raw::Text(bytes) | Raw::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    });
    parts.collect::<Vec<_>>().join(" ")
}
