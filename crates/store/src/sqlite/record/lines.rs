//! A row as a line of JSON, and back.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use serde_json::{Map, Value};

use super::rows::LineKind;
use crate::sqlite::connection::Fault;

/// The field that holds the kind of a line.
pub(super) const ROW: &str = "row";

pub(super) fn line_of(fields: Map<String, Value>) -> String {
    Value::Object(fields).to_string()
}

/// Adds the lines of one kind. Each column is a field of its name.
pub(super) fn select_lines(
    tx: &Connection,
    kind: &LineKind,
    values: &[i64],
    lines: &mut Vec<String>,
) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(kind.select)?;
    let names: Vec<String> = find.column_names().map(str::to_owned).collect();
    // A query that needs no position takes none.
    let values = &values[..find.parameter_count().min(values.len())];
    let mut rows = find.query(rusqlite::params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        let mut fields = Map::from_iter([(ROW.to_owned(), Value::from(kind.name))]);
        for (at, name) in names.iter().enumerate() {
            let value = match row.get_ref(at)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                ValueRef::Real(_) | ValueRef::Blob(_) => {
                    return Err(Fault::corrupt(format!(
                        "{name} of a row for the record holds no text or number"
                    )));
                }
            };
            fields.insert(name.clone(), value);
        }
        lines.push(line_of(fields));
    }
    Ok(())
}

/// A field's value on its way into the database.
struct Field<'a>(&'a Value);

impl ToSql for Field<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self.0 {
            Value::Null => ValueRef::Null,
            Value::String(text) => ValueRef::Text(text.as_bytes()),
            Value::Bool(truth) => ValueRef::Integer(i64::from(*truth)),
            Value::Number(number) => match number.as_i64() {
                Some(number) => ValueRef::Integer(number),
                None => return Err(unfit("a number that is not whole")),
            },
            Value::Array(_) | Value::Object(_) => return Err(unfit("a list")),
        };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

fn unfit(what: &'static str) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(format!("it holds {what}").into())
}

/// Inserts the row of a line. The parameters of the statements are its fields, and `context`: the numbers of the
/// session or scope that the line is about.
pub(super) fn insert_line(
    tx: &Connection,
    kind: &LineKind,
    fields: &Map<String, Value>,
    context: &[(&str, i64)],
) -> Result<(), String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let mut changed = 0;
    for sql in kind.insert {
        let mut insert = tx.prepare_cached(sql).map_err(failed)?;
        for at in 1..=insert.parameter_count() {
            let name = insert.parameter_name(at).unwrap_or_default();
            let name = name.trim_start_matches(':').to_owned();
            let number = context.iter().find(|(known, _)| *known == name);
            let bound = match (number, fields.get(&name)) {
                (Some((_, number)), _) => insert.raw_bind_parameter(at, number),
                (None, Some(value)) => insert.raw_bind_parameter(at, Field(value)),
                (None, None) => return Err(format!("it has no field {name}")),
            };
            bound.map_err(failed)?;
        }
        changed = insert.raw_execute().map_err(failed)?;
    }
    match changed {
        0 => Err("it contradicts another line, or a field of it is damaged".to_owned()),
        _ => Ok(()),
    }
}
