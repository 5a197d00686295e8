//! Values of statement parameters and of columns.
//!
//! Each value carries its type, so that no statement has to be prepared before it is sent: see
//! [`super::connection`]. Numbers are `BIGINT` in all columns.

use std::str::FromStr;

use daybook_domain::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::fault::Fault;

/// One parameter of a statement.
#[derive(Debug, Clone)]
pub(super) enum SqlValue {
    Int(Option<i64>),
    Bool(bool),
    Text(Option<String>),
    Bytes(Vec<u8>),
    Ints(Vec<Option<i64>>),
    Bools(Vec<bool>),
    Texts(Vec<Option<String>>),
    ByteStrings(Vec<Vec<u8>>),
}

impl SqlValue {
    /// The value in the form of the wire protocol, with its type.
    pub(super) fn with_type(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Int(value) => (value, Type::INT8),
            Self::Bool(value) => (value, Type::BOOL),
            Self::Text(value) => (value, Type::TEXT),
            Self::Bytes(value) => (value, Type::BYTEA),
            Self::Ints(value) => (value, Type::INT8_ARRAY),
            Self::Bools(value) => (value, Type::BOOL_ARRAY),
            Self::Texts(value) => (value, Type::TEXT_ARRAY),
            Self::ByteStrings(value) => (value, Type::BYTEA_ARRAY),
        }
    }
}

/// The parameters of a statement, in order.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::postgres::values::SqlValue::from($value)),*]
    };
}
pub(super) use values;

/// Text in a form that PostgreSQL can keep: without the character zero.
pub(super) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A count in the form of a column; greater ones mean "all".
pub(super) fn saturating_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<u64> for SqlValue {
    fn from(value: u64) -> Self {
        Self::Int(Some(saturating_count(value)))
    }
}

impl From<u32> for SqlValue {
    fn from(value: u32) -> Self {
        Self::Int(Some(i64::from(value)))
    }
}

impl From<usize> for SqlValue {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<Timestamp> for SqlValue {
    fn from(value: Timestamp) -> Self {
        Self::Int(Some(value.0))
    }
}

impl From<bool> for SqlValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> Self {
        Self::Text(Some(without_nul(value)))
    }
}

impl From<&String> for SqlValue {
    fn from(value: &String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Option<&str>> for SqlValue {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(without_nul))
    }
}

impl From<Option<&String>> for SqlValue {
    fn from(value: Option<&String>) -> Self {
        Self::from(value.map(String::as_str))
    }
}

impl From<&Option<String>> for SqlValue {
    fn from(value: &Option<String>) -> Self {
        Self::from(value.as_deref())
    }
}

impl From<Option<String>> for SqlValue {
    fn from(value: Option<String>) -> Self {
        Self::from(value.as_deref())
    }
}

impl From<Option<i64>> for SqlValue {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<Option<u64>> for SqlValue {
    fn from(value: Option<u64>) -> Self {
        Self::Int(value.map(saturating_count))
    }
}

impl From<Option<u32>> for SqlValue {
    fn from(value: Option<u32>) -> Self {
        Self::Int(value.map(i64::from))
    }
}

impl From<Option<Timestamp>> for SqlValue {
    fn from(value: Option<Timestamp>) -> Self {
        Self::Int(value.map(|at| at.0))
    }
}

impl<const N: usize> From<[u8; N]> for SqlValue {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<&[u8]> for SqlValue {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<i64>> for SqlValue {
    fn from(values: Vec<i64>) -> Self {
        Self::Ints(values.into_iter().map(Some).collect())
    }
}

impl From<Vec<String>> for SqlValue {
    fn from(values: Vec<String>) -> Self {
        Self::Texts(values.iter().map(|text| Some(without_nul(text))).collect())
    }
}

impl From<Vec<Option<String>>> for SqlValue {
    fn from(values: Vec<Option<String>>) -> Self {
        let without_nul = |text: Option<String>| text.map(|text| without_nul(&text));
        Self::Texts(values.into_iter().map(without_nul).collect())
    }
}

impl From<Vec<&str>> for SqlValue {
    fn from(values: Vec<&str>) -> Self {
        Self::Texts(
            values
                .into_iter()
                .map(|text| Some(without_nul(text)))
                .collect(),
        )
    }
}

impl From<Vec<Option<&str>>> for SqlValue {
    fn from(values: Vec<Option<&str>>) -> Self {
        Self::Texts(
            values
                .into_iter()
                .map(|text| text.map(without_nul))
                .collect(),
        )
    }
}

impl From<Vec<Option<i64>>> for SqlValue {
    fn from(values: Vec<Option<i64>>) -> Self {
        Self::Ints(values)
    }
}

impl From<Vec<bool>> for SqlValue {
    fn from(values: Vec<bool>) -> Self {
        Self::Bools(values)
    }
}

impl From<Vec<Vec<u8>>> for SqlValue {
    fn from(values: Vec<Vec<u8>>) -> Self {
        Self::ByteStrings(values)
    }
}

/// A type that a column can be read as.
pub(super) trait Field: Sized {
    fn read(row: &Row, column: &str) -> Result<Self, Fault>;
}

/// Reads a column.
pub(super) fn get<T: Field>(row: &Row, column: &str) -> Result<T, Fault> {
    T::read(row, column)
}

/// Reads a column that holds the name of an enum's variant.
pub(super) fn parse_column<T: FromStr>(row: &Row, column: &str) -> Result<T, Fault> {
    let text: String = get(row, column)?;
    text.parse()
        .map_err(|_| Fault::corrupt(format!("{column} holds the unknown word {text:?}")))
}

macro_rules! plain_fields {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn read(row: &Row, column: &str) -> Result<Self, Fault> {
                Ok(row.try_get(column)?)
            }
        }
    )*};
}

plain_fields!(
    i64,
    bool,
    String,
    Vec<u8>,
    Option<i64>,
    Option<bool>,
    Option<String>,
    Option<Vec<u8>>,
    Vec<String>
);

fn whole<T: TryFrom<i64>>(number: i64, column: &str) -> Result<T, Fault> {
    T::try_from(number).map_err(|_| Fault::corrupt(format!("{column} holds {number}")))
}

macro_rules! number_fields {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn read(row: &Row, column: &str) -> Result<Self, Fault> {
                whole(get(row, column)?, column)
            }
        }

        impl Field for Option<$type> {
            fn read(row: &Row, column: &str) -> Result<Self, Fault> {
                let number: Option<i64> = get(row, column)?;
                number.map(|number| whole(number, column)).transpose()
            }
        }
    )*};
}

number_fields!(u64, u32, usize);

impl Field for Timestamp {
    fn read(row: &Row, column: &str) -> Result<Self, Fault> {
        Ok(Self(get(row, column)?))
    }
}

impl Field for Option<Timestamp> {
    fn read(row: &Row, column: &str) -> Result<Self, Fault> {
        Ok(get::<Option<i64>>(row, column)?.map(Timestamp))
    }
}
