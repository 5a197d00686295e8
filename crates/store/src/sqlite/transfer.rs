//! Rows as every database can read and write them: see [`crate::transfer`].

use async_trait::async_trait;
use daybook_domain::claim::Lane;
use daybook_domain::{StoreError, Timestamp};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Transaction, params, params_from_iter};

use super::connection::Fault;
use super::{SqliteStore, lanes};
use crate::transfer::{Cell, Hold, Portable, Row, TABLES, Table, moved_message};

/// The first part of the names of triggers that refuse writes to a closed store.
const MOVED: &str = "moved_";

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(number) => ToSqlOutput::Borrowed(ValueRef::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Self::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

#[async_trait]
impl Portable for SqliteStore {
    async fn made_at(&self) -> Result<i64, StoreError> {
        self.read(|tx| {
            let ask = "SELECT applied_at FROM schema_migrations WHERE version = 1";
            Ok(tx.query_row(ask, [], |row| row.get(0))?)
        })
    }

    async fn rows(&self, table: &Table) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {}", rows_of(table));
        self.read(|tx| Ok(tx.query_row(&count, [], |row| row.get(0))?))
    }

    async fn page(
        &self,
        table: &Table,
        after: Option<&[Cell]>,
        most: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let further = after.map_or(String::new(), |key| {
            let marks = vec!["?"; key.len()].join(", ");
            format!("WHERE ({}) > ({marks})", table.key_order(""))
        });
        let select = format!(
            "SELECT {} FROM {} {further} ORDER BY {} LIMIT {most}",
            table.all_columns(),
            rows_of(table),
            table.key_order("")
        );
        self.read(|tx| {
            let values = params_from_iter(after.unwrap_or_default());
            select_rows(tx, table, &select, values)
        })
    }

    async fn last_key(&self, table: &Table) -> Result<Option<Vec<Cell>>, StoreError> {
        let select = format!(
            "SELECT {} FROM {} ORDER BY {} LIMIT 1",
            table.key_order(""),
            rows_of(table),
            table.key_order(" DESC")
        );
        self.read(|tx| Ok(select_rows(tx, table, &select, [])?.pop()))
    }

    async fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError> {
        self.write(|tx| match table.name {
            "lanes" => rows.iter().try_for_each(|row| put_lane(tx, table, row)),
            "jobs" => rows.iter().try_for_each(|row| put_job(tx, table, row)),
            _ => rows
                .iter()
                .try_for_each(|row| insert(tx, table, row, None).map(drop)),
        })
    }

    async fn empty(&self, table: &Table) -> Result<(), StoreError> {
        // The lanes stay, because jobs reference them.
        let sql = match table.name {
            "lanes" => "UPDATE lanes SET served = 0".to_owned(),
            name => format!("DELETE FROM {name}"),
        };
        self.write(|tx| Ok(tx.execute_batch(&sql)?))
    }

    async fn last_number(&self, table: &Table) -> Result<i64, StoreError> {
        let Some(numbers) = table.numbers else {
            return Ok(0);
        };
        let greatest = format!(
            "SELECT max(ifnull((SELECT seq FROM sqlite_sequence WHERE name = ?1), 0),
                ifnull((SELECT max({}) FROM {}), 0))",
            numbers.column, table.name
        );
        self.read(|tx| Ok(tx.query_row(&greatest, [table.name], |row| row.get(0))?))
    }

    async fn count_from(&self, table: &Table, last: i64) -> Result<(), StoreError> {
        self.write(|tx| {
            let raise = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1";
            if tx.execute(raise, params![table.name, last])? == 0 {
                // A table that reuses the numbers of deleted rows has no counter to keep.
                tx.execute(
                    "INSERT INTO sqlite_sequence (name, seq) SELECT name, ?2 FROM sqlite_schema
                     WHERE type = 'table' AND name = ?1 AND sql LIKE '%AUTOINCREMENT%'",
                    params![table.name, last],
                )?;
            }
            Ok(())
        })
    }

    async fn hold(&self) -> Result<Box<dyn Hold>, StoreError> {
        let connection = self.file.connect()?;
        self.file
            .retry(|| Ok(connection.execute_batch("BEGIN IMMEDIATE")?))?;
        Ok(Box::new(SqliteHold {
            connection,
            path: self.file.path().to_owned(),
        }))
    }

    async fn is_closed(&self) -> Result<bool, StoreError> {
        self.read(is_moved)
    }
}

/// Whether the content of this database was moved to another one.
pub(super) fn is_moved(tx: &Transaction<'_>) -> Result<bool, Fault> {
    let find = "SELECT EXISTS (SELECT 1 FROM sqlite_schema
        WHERE type = 'trigger' AND name = ? || 'sessions_insert')";
    Ok(tx.query_row(find, [MOVED], |row| row.get(0))?)
}

/// A connection that holds the write lock; closing it releases the lock.
struct SqliteHold {
    connection: Connection,
    path: std::path::PathBuf,
}

#[async_trait]
impl Hold for SqliteHold {
    async fn close(self: Box<Self>, elsewhere: &str) -> Result<(), StoreError> {
        let message = moved_message(elsewhere).replace('\'', "''");
        let mut sql = String::new();
        for table in TABLES.iter().map(|table| table.name) {
            for operation in ["insert", "update", "delete"] {
                sql.push_str(&format!(
                    "CREATE TRIGGER IF NOT EXISTS {MOVED}{table}_{operation} BEFORE {operation} ON {table}
                     BEGIN SELECT RAISE(ABORT, '{message}'); END;"
                ));
            }
        }
        sql.push_str("COMMIT;");
        let closed = self.connection.execute_batch(&sql).map_err(Fault::from);
        closed.map_err(|fault| fault.into_error(&self.path))
    }
}

fn rows_of(table: &Table) -> &'static str {
    table.sqlite_rows.unwrap_or(table.name)
}

fn select_rows(
    tx: &Connection,
    table: &Table,
    select: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Row>, Fault> {
    let mut statement = tx.prepare_cached(select)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query(values)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let cells = names.iter().enumerate().map(|(n, name)| {
            cell(row.get_ref(n)?, table.key.contains(&name.as_str())).ok_or_else(|| {
                Fault::corrupt(format!(
                    "{}.{name} holds a value that cannot be copied",
                    table.name
                ))
            })
        });
        rows.push(cells.collect::<Result<Row, Fault>>()?);
    }
    Ok(rows)
}

/// A value in a form that every database can keep; in a key nothing is replaced, or it would name another row.
fn cell(value: ValueRef<'_>, is_key: bool) -> Option<Cell> {
    Some(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Int(number),
        ValueRef::Text(text) => {
            let text = std::str::from_utf8(text).ok()?;
            if is_key && text.contains('\0') {
                return None;
            }
            Cell::Text(text.replace('\0', "\u{fffd}"))
        }
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return None,
    })
}

/// Inserts a row, with the columns that only SQLite has, and returns its number.
fn insert(
    tx: &Transaction<'_>,
    table: &Table,
    row: &[Cell],
    own: Option<(&str, i64)>,
) -> Result<i64, Fault> {
    let carried = table.columns.iter().zip(row);
    let carried = carried.filter(|(column, _)| own.is_none() || !is_of_lane(column.name));
    let (mut names, mut cells): (Vec<&str>, Vec<Cell>) = carried
        .map(|(column, cell)| (column.name, cell.clone()))
        .unzip();
    if let Some((name, number)) = own {
        names.push(name);
        cells.push(Cell::Int(number));
    }
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        table.name,
        Table::quoted(names.iter().copied()),
        vec!["?"; names.len()].join(", ")
    );
    tx.prepare_cached(&sql)?.execute(params_from_iter(&cells))?;
    Ok(tx.last_insert_rowid())
}

/// The fields of a job that identify its lane, for which SQLite stores a number.
fn is_of_lane(column: &str) -> bool {
    matches!(column, "lane_user" | "lane_agent")
}

fn put_job(tx: &Transaction<'_>, table: &Table, row: &[Cell]) -> Result<(), Fault> {
    let lane = Lane {
        tenant: text(table, row, "tenant")?,
        user: text(table, row, "lane_user")?,
        agent: text(table, row, "lane_agent")?,
    };
    let lane = lanes::number(tx, &text(table, row, "kind")?, &lane)?;
    insert(tx, table, row, Some(("lane_no", lane)))?;
    let due = match cell_of(table, row, "due_at") {
        Some(Cell::Int(due)) => Some(Timestamp(*due)),
        Some(Cell::Null | Cell::Text(_) | Cell::Bytes(_)) | None => None,
    };
    lanes::note_due(tx, lane, due)
}

fn put_lane(tx: &Transaction<'_>, table: &Table, row: &[Cell]) -> Result<(), Fault> {
    let lane = Lane {
        tenant: text(table, row, "tenant")?,
        user: text(table, row, "user")?,
        agent: text(table, row, "agent")?,
    };
    let lane = lanes::number(tx, &text(table, row, "kind")?, &lane)?;
    let Some(Cell::Int(served)) = cell_of(table, row, "served") else {
        return Err(Fault::corrupt("lanes.served is no number"));
    };
    lanes::note_served(tx, lane, *served)
}

fn cell_of<'a>(table: &Table, row: &'a [Cell], column: &str) -> Option<&'a Cell> {
    let mut columns = table.columns.iter();
    row.get(columns.position(|known| known.name == column)?)
}

fn text(table: &Table, row: &[Cell], column: &str) -> Result<String, Fault> {
    match cell_of(table, row, column) {
        Some(Cell::Text(text)) => Ok(text.clone()),
        Some(Cell::Null | Cell::Int(_) | Cell::Bytes(_)) | None => Err(Fault::corrupt(format!(
            "{}.{column} is no text",
            table.name
        ))),
    }
}
