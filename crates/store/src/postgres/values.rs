//! Values on their way into statements and out of rows.
//!
//! Each value brings its type along, so that no statement has to be prepared before it is sent:
//! see [`super::connection`]. Numbers are `BIGINT` in all columns.

use daybook_domain::Timestamp;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::fault::Fault;

/// One parameter of a statement.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Int(Option<i64>),
    Bool(bool),
    Text(Option<String>),
    Bytes(Vec<u8>),
    Ints(Vec<Option<i64>>),
    Bools(Vec<bool>),
    Texts(Vec<Option<String>>),
    ByteStrings(Vec<Vec<u8>>),
}

impl Value {
    /// The value as the wire protocol takes it, with its type.
    pub(super) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
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
        &[$($crate::postgres::values::Value::from($value)),*]
    };
}
pub(super) use values;

/// Text as PostgreSQL can keep it: it has no character zero.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A count as a column keeps it; greater ones mean "all".
pub(super) fn counted(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(Some(value))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(Some(counted(value)))
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Int(Some(i64::from(value)))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<Timestamp> for Value {
    fn from(value: Timestamp) -> Self {
        Self::Int(Some(value.0))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(Some(storable(value)))
    }
}

impl From<&String> for Value {
    fn from(value: &String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::from(value.as_str())
    }
}

impl From<Option<&str>> for Value {
    fn from(value: Option<&str>) -> Self {
        Self::Text(value.map(storable))
    }
}

impl From<Option<&String>> for Value {
    fn from(value: Option<&String>) -> Self {
        Self::from(value.map(String::as_str))
    }
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Self {
        Self::from(value.as_deref())
    }
}

impl From<Option<String>> for Value {
    fn from(value: Option<String>) -> Self {
        Self::from(value.as_deref())
    }
}

impl From<Option<i64>> for Value {
    fn from(value: Option<i64>) -> Self {
        Self::Int(value)
    }
}

impl From<Option<u64>> for Value {
    fn from(value: Option<u64>) -> Self {
        Self::Int(value.map(counted))
    }
}

impl From<Option<u32>> for Value {
    fn from(value: Option<u32>) -> Self {
        Self::Int(value.map(i64::from))
    }
}

impl From<Option<Timestamp>> for Value {
    fn from(value: Option<Timestamp>) -> Self {
        Self::Int(value.map(|at| at.0))
    }
}

impl<const N: usize> From<[u8; N]> for Value {
    fn from(value: [u8; N]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<i64>> for Value {
    fn from(values: Vec<i64>) -> Self {
        Self::Ints(values.into_iter().map(Some).collect())
    }
}

impl From<Vec<String>> for Value {
    fn from(values: Vec<String>) -> Self {
        Self::Texts(values.iter().map(|text| Some(storable(text))).collect())
    }
}

impl From<Vec<Option<String>>> for Value {
    fn from(values: Vec<Option<String>>) -> Self {
        let storable = |text: Option<String>| text.map(|text| storable(&text));
        Self::Texts(values.into_iter().map(storable).collect())
    }
}

impl From<Vec<&str>> for Value {
    fn from(values: Vec<&str>) -> Self {
        Self::Texts(
            values
                .into_iter()
                .map(|text| Some(storable(text)))
                .collect(),
        )
    }
}

impl From<Vec<Option<&str>>> for Value {
    fn from(values: Vec<Option<&str>>) -> Self {
        Self::Texts(values.into_iter().map(|text| text.map(storable)).collect())
    }
}

impl From<Vec<Option<i64>>> for Value {
    fn from(values: Vec<Option<i64>>) -> Self {
        Self::Ints(values)
    }
}

impl From<Vec<bool>> for Value {
    fn from(values: Vec<bool>) -> Self {
        Self::Bools(values)
    }
}

impl From<Vec<Vec<u8>>> for Value {
    fn from(values: Vec<Vec<u8>>) -> Self {
        Self::ByteStrings(values)
    }
}

/// What a column can be read as.
pub(super) trait Field: Sized {
    fn read(row: &Row, column: &str) -> Result<Self, Fault>;
}

/// Reads a column.
pub(super) fn get<T: Field>(row: &Row, column: &str) -> Result<T, Fault> {
    T::read(row, column)
}

/// Reads a word of ours.
pub(super) fn word<T>(row: &Row, column: &str, from: fn(&str) -> Option<T>) -> Result<T, Fault> {
    let text: String = get(row, column)?;
    from(&text).ok_or_else(|| Fault::corrupt(format!("{column} holds the unknown word {text:?}")))
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
