//! Rows as every database can read and write them: see [`crate::transfer`].

use async_trait::async_trait;
use daybook_domain::StoreError;
use tokio_postgres::Row as PostgresRow;

use super::PostgresStore;
use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::values::{SqlValue, get, values};
use crate::transfer::{Cell, Column, Hold, Kind, Portable, Row, TABLES, Table, moved_message};

#[async_trait]
impl Portable for PostgresStore {
    async fn made_at(&self) -> Result<i64, StoreError> {
        let ask = "SELECT applied_at FROM schema_migrations WHERE version = 1";
        let asking = |tx: Tx| async move { get(&tx.one(ask, &[]).await?, "applied_at") };
        self.read(TenantAccess::All, asking).await
    }

    async fn rows(&self, table: &Table) -> Result<u64, StoreError> {
        let count = &format!("SELECT count(*) AS rows FROM {} AS t", rows_of(table));
        let counting = |tx: Tx| async move { get(&tx.one(count, &[]).await?, "rows") };
        self.read(TenantAccess::All, counting).await
    }

    async fn page(
        &self,
        table: &Table,
        after: Option<&[Cell]>,
        most: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let after: Vec<SqlValue> = after.unwrap_or_default().iter().map(value_of).collect();
        let marks: Vec<String> = (1..=after.len()).map(|n| format!("${n}")).collect();
        let further = match after.is_empty() {
            true => String::new(),
            false => format!("WHERE ({}) > ({})", table.key_order(""), marks.join(", ")),
        };
        let select = format!(
            "SELECT {} FROM {} AS t {further} ORDER BY {} LIMIT {most}",
            selected_columns(table.columns),
            rows_of(table),
            table.key_order("")
        );
        let (select, after) = (&select, &after);
        let reading = |tx: Tx| async move {
            let rows = tx.rows(select, after).await?;
            rows.iter().map(|row| cells(row, table.columns)).collect()
        };
        self.read(TenantAccess::All, reading).await
    }

    async fn last_key(&self, table: &Table) -> Result<Option<Vec<Cell>>, StoreError> {
        let key = table.columns.iter().copied();
        let mut key: Vec<Column> = key.filter(|c| table.key.contains(&c.name)).collect();
        key.sort_by_key(|column| table.key.iter().position(|name| *name == column.name));
        let select = format!(
            "SELECT {} FROM {} AS t ORDER BY {} LIMIT 1",
            selected_columns(&key),
            rows_of(table),
            table.key_order(" DESC")
        );
        let (select, key) = (&select, &key);
        let reading = |tx: Tx| async move {
            let row = tx.row(select, &[]).await?;
            row.map(|row| cells(&row, key)).transpose()
        };
        self.read(TenantAccess::All, reading).await
    }

    async fn put(&self, table: &Table, rows: &[Row]) -> Result<(), StoreError> {
        let insert = &insert_sql(table);
        let columns = table.columns.iter().enumerate();
        let columns = columns.map(|(n, column)| column_of(table, rows, n, column.kind));
        let columns = &columns.collect::<Result<Vec<SqlValue>, StoreError>>()?;
        let putting = |tx: Tx| async move {
            tx.execute(insert, columns).await?;
            Ok(())
        };
        self.write(TenantAccess::All, putting).await
    }

    async fn empty(&self, table: &Table) -> Result<(), StoreError> {
        let delete = &format!("DELETE FROM {}", table.name);
        let deleting = |tx: Tx| async move { tx.batch(delete).await };
        self.write(TenantAccess::All, deleting).await
    }

    async fn last_number(&self, table: &Table) -> Result<i64, StoreError> {
        let Some(numbers) = table.numbers else {
            return Ok(0);
        };
        let ask = "SELECT coalesce(pg_sequence_last_value($1::TEXT::regclass), 0) AS last";
        let asking = |tx: Tx| async move {
            let row = tx.one(ask, values![numbers.sequence]).await?;
            get(&row, "last")
        };
        self.read(TenantAccess::All, asking).await
    }

    async fn count_from(&self, table: &Table, last: i64) -> Result<(), StoreError> {
        let Some(numbers) = table.numbers.filter(|_| last > 0) else {
            return Ok(());
        };
        let count = "SELECT setval($1::TEXT::regclass,
            greatest($2, coalesce(pg_sequence_last_value($1::TEXT::regclass), 0)))";
        let counting = |tx: Tx| async move {
            tx.rows(count, values![numbers.sequence, last]).await?;
            Ok(())
        };
        self.write(TenantAccess::All, counting).await
    }

    async fn hold(&self) -> Result<Box<dyn Hold>, StoreError> {
        let tables: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        // Triggers need this lock, too, so closing the store waits for no other session.
        let lock = format!(
            // The transaction is idle while rows are copied; only a lost connection ends it.
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
             SET LOCAL tcp_keepalives_idle = 10; SET LOCAL tcp_keepalives_interval = 5;
             SET LOCAL tcp_keepalives_count = 3;
             LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE",
            tables.join(", ")
        );
        let tx = self.begin(&lock).await?;
        Ok(Box::new(PostgresHold {
            tx,
            server: self.server.clone(),
        }))
    }

    async fn is_closed(&self) -> Result<bool, StoreError> {
        let find = "SELECT EXISTS (SELECT FROM pg_trigger
            WHERE tgrelid = 'sessions'::regclass AND tgname = 'moved') AS closed";
        let asking = |tx: Tx| async move { get(&tx.one(find, &[]).await?, "closed") };
        self.read(TenantAccess::All, asking).await
    }
}

/// A transaction that has locked all tables against writers. Dropping it closes its connection, which releases
/// the locks.
struct PostgresHold {
    tx: Tx,
    server: String,
}

#[async_trait]
impl Hold for PostgresHold {
    async fn close(self: Box<Self>, elsewhere: &str) -> Result<(), StoreError> {
        let message = moved_message(elsewhere)
            .replace('\'', "''")
            .replace('%', "%%");
        let mut sql = format!(
            "CREATE OR REPLACE FUNCTION moved() RETURNS TRIGGER LANGUAGE plpgsql AS $moved$
             BEGIN RAISE EXCEPTION '{message}'; END $moved$;"
        );
        for table in TABLES {
            sql.push_str(&format!(
                "CREATE OR REPLACE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE ON {}
                 FOR EACH STATEMENT EXECUTE FUNCTION moved();",
                table.name
            ));
        }
        let closing = async {
            self.tx.batch(&sql).await?;
            self.tx.end("COMMIT").await
        };
        let closed: Result<(), Fault> = closing.await;
        closed.map_err(|fault| fault.into_error(&self.server))
    }
}

fn rows_of(table: &Table) -> &'static str {
    table.postgres_rows.unwrap_or(table.name)
}

/// Columns in the form in which they are read: booleans as numbers.
fn selected_columns(columns: &[Column]) -> String {
    let read = columns.iter().map(|column| match column.kind {
        Kind::Truth => format!("\"{0}\"::INT::BIGINT AS \"{0}\"", column.name),
        Kind::Int | Kind::Text | Kind::Bytes => format!("\"{}\"", column.name),
    });
    read.collect::<Vec<_>>().join(", ")
}

fn cells(row: &PostgresRow, columns: &[Column]) -> Result<Row, Fault> {
    let cell = |column: &Column| -> Result<Cell, Fault> {
        Ok(match column.kind {
            Kind::Int | Kind::Truth => {
                get::<Option<i64>>(row, column.name)?.map_or(Cell::Null, Cell::Int)
            }
            Kind::Text => get::<Option<String>>(row, column.name)?.map_or(Cell::Null, Cell::Text),
            Kind::Bytes => Cell::Bytes(get(row, column.name)?),
        })
    };
    columns.iter().map(cell).collect()
}

fn value_of(cell: &Cell) -> SqlValue {
    match cell {
        Cell::Null => SqlValue::Text(None),
        Cell::Int(number) => SqlValue::from(*number),
        Cell::Text(text) => SqlValue::from(text),
        Cell::Bytes(bytes) => SqlValue::Bytes(bytes.clone()),
    }
}

/// One insert for many rows: a list for each column. PostgreSQL's own columns are looked up.
fn insert_sql(table: &Table) -> String {
    let read = table.columns.iter().map(|column| match column.kind {
        Kind::Truth => format!("\"{}\" <> 0", column.name),
        Kind::Int | Kind::Text | Kind::Bytes => format!("\"{}\"", column.name),
    });
    let mut read: Vec<String> = read.collect();
    let mut written = table.all_columns();
    if let Some((parent, number)) = table.tenant_of {
        written.push_str(", tenant_no");
        read.push(format!(
            "(SELECT p.tenant_no FROM {parent} AS p WHERE p.{number} = new.{number})"
        ));
    }
    let lists: Vec<String> = (1..=table.columns.len()).map(|n| format!("${n}")).collect();
    format!(
        "INSERT INTO {} ({written}) OVERRIDING SYSTEM VALUE SELECT {} FROM unnest({}) AS new ({})",
        table.name,
        read.join(", "),
        lists.join(", "),
        table.all_columns()
    )
}

/// The values of one column in all rows.
fn column_of(table: &Table, rows: &[Row], n: usize, kind: Kind) -> Result<SqlValue, StoreError> {
    let wrong = || {
        let name = table.columns[n].name;
        StoreError::Corrupt(format!(
            "{}.{name} holds a value of the wrong type",
            table.name
        ))
    };
    let column = rows.iter().map(|row| row.get(n).unwrap_or(&Cell::Null));
    Ok(match kind {
        Kind::Int | Kind::Truth => SqlValue::Ints(
            column
                .map(|cell| match cell {
                    Cell::Int(number) => Ok(Some(*number)),
                    Cell::Null => Ok(None),
                    Cell::Text(_) | Cell::Bytes(_) => Err(wrong()),
                })
                .collect::<Result<_, _>>()?,
        ),
        Kind::Text => SqlValue::Texts(
            column
                .map(|cell| match cell {
                    Cell::Text(text) => Ok(Some(text.clone())),
                    Cell::Null => Ok(None),
                    Cell::Int(_) | Cell::Bytes(_) => Err(wrong()),
                })
                .collect::<Result<_, _>>()?,
        ),
        Kind::Bytes => SqlValue::ByteStrings(
            column
                .map(|cell| match cell {
                    Cell::Bytes(bytes) => Ok(bytes.clone()),
                    Cell::Null | Cell::Int(_) | Cell::Text(_) => Err(wrong()),
                })
                .collect::<Result<_, _>>()?,
        ),
    })
}
