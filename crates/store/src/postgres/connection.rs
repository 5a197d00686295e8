//! Transactions on pooled connections: how they begin, what their errors mean, and when they are
//! tried again.
//!
//! No statement is prepared under a name. Each one goes out with its parameters' types in a single
//! round trip, parsed as the unnamed statement; so nothing is left behind in a server connection,
//! and a pooler such as PgBouncer in transaction mode may hand the next transaction to another one.
//! For the same reason time limits are set for each transaction and not for the connection.

use std::time::Duration;

use daybook_domain::StoreError;
use deadpool_postgres::{PoolError, TimeoutType};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, IsolationLevel, Row, Transaction};

use super::PostgresStore;
use super::values::Value;

/// How often a transaction is tried before its caller hears that the store is busy.
const TRIES: u32 = 12;
/// Wait before the second try; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// What went wrong inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    Pool(PoolError),
    Store(StoreError),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Sql(error),
            other => Self::Pool(other),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What can be done about a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    /// Somebody else was in the way.
    Again,
    /// The connection broke; another one may do.
    Reconnect,
    /// It took too long; trying at once would take as long.
    Later,
    /// The server refuses to work.
    Act,
    None,
}

impl Fault {
    /// A row that breaks one of our own invariants.
    pub(super) fn corrupt(what: impl Into<String>) -> Self {
        Self::Store(StoreError::Corrupt(what.into()))
    }

    fn remedy(&self) -> Remedy {
        match self {
            Self::Store(_) => Remedy::None,
            Self::Pool(PoolError::Timeout(TimeoutType::Wait)) => Remedy::Later,
            Self::Pool(_) => Remedy::Reconnect,
            Self::Sql(error) => match error.code() {
                Some(state) => remedy_of(state),
                None if error.is_closed() || is_io(error) => Remedy::Reconnect,
                None => Remedy::None,
            },
        }
    }

    /// The error as the caller of a store sees it; `server` names the database.
    fn into_error(self, server: &str) -> StoreError {
        let remedy = self.remedy();
        let source = match self {
            Self::Store(error) => return error,
            Self::Sql(error) => error.into(),
            Self::Pool(error) => error.into(),
        };
        match remedy {
            Remedy::Again | Remedy::Later => StoreError::Busy(source),
            Remedy::Reconnect | Remedy::Act => StoreError::Unavailable {
                what: server.to_owned(),
                source,
            },
            Remedy::None => StoreError::Corrupt(format!("{server}: {}", told(source.as_ref()))),
        }
    }
}

/// An error with its causes: the outermost alone says only "db error".
fn told(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        said = format!("{said}: {error}");
        cause = error.source();
    }
    said
}

fn is_io(error: &Error) -> bool {
    let cause = std::error::Error::source(error);
    cause.is_some_and(|cause| cause.is::<std::io::Error>())
}

fn remedy_of(state: &SqlState) -> Remedy {
    match *state {
        SqlState::T_R_SERIALIZATION_FAILURE
        | SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE
        // Two made the same row at once: the second one finds it at its next try.
        | SqlState::UNIQUE_VIOLATION => Remedy::Again,
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            Remedy::Reconnect
        }
        SqlState::QUERY_CANCELED => Remedy::Later,
        SqlState::INSUFFICIENT_PRIVILEGE | SqlState::READ_ONLY_SQL_TRANSACTION => Remedy::Act,
        _ => match state.code().get(..2) {
            Some("08") => Remedy::Reconnect,
            // Who may come in, which database, resources, the operator, the system.
            Some("28" | "3D" | "53" | "57" | "58") => Remedy::Act,
            _ => Remedy::None,
        },
    }
}

/// A transaction under way.
pub(super) struct Tx<'a>(Transaction<'a>);

impl Tx<'_> {
    /// All rows that a statement answers with.
    pub(super) async fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        Ok(self.0.query_typed(sql, &typed).await?)
    }

    /// The first row, if there is one.
    pub(super) async fn row(&self, sql: &str, values: &[Value]) -> Result<Option<Row>, Fault> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The first row of a statement that always answers with one.
    pub(super) async fn one(&self, sql: &str, values: &[Value]) -> Result<Row, Fault> {
        let row = self.row(sql, values).await?;
        row.ok_or_else(|| Fault::corrupt(format!("no row from: {sql}")))
    }

    /// Runs a statement, and says how many rows it changed.
    pub(super) async fn execute(&self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        Ok(self.0.execute_typed(sql, &typed).await?)
    }

    /// Runs statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        Ok(self.0.batch_execute(sql).await?)
    }
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each statement sees what was committed before it; rows that decide are locked as they are read.
    Write,
    /// One snapshot, and no change.
    Read,
    /// Writing, for as long as it takes.
    Migrate,
}

impl PostgresStore {
    /// Runs `work` in one transaction that writes. It may run again after a rollback, or after a
    /// commit of which nobody knows how it ended.
    pub(super) async fn write<T>(
        &self,
        work: impl AsyncFn(&Tx<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.retry(Mode::Write, work).await
    }

    /// Runs `work` on a snapshot.
    pub(super) async fn read<T>(
        &self,
        work: impl AsyncFn(&Tx<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.retry(Mode::Read, work).await
    }

    pub(super) async fn retry<T>(
        &self,
        mode: Mode,
        work: impl AsyncFn(&Tx<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut wait = FIRST_WAIT;
        for _ in 1..TRIES {
            match self.attempt(mode, &work).await {
                Err(fault) if matches!(fault.remedy(), Remedy::Again | Remedy::Reconnect) => {
                    tokio::time::sleep(wait).await;
                    wait = LONGEST_WAIT.min(wait * 2);
                }
                outcome => return outcome.map_err(|fault| fault.into_error(&self.server)),
            }
        }
        let last = self.attempt(mode, &work).await;
        last.map_err(|fault| fault.into_error(&self.server))
    }

    async fn attempt<T>(
        &self,
        mode: Mode,
        work: &impl AsyncFn(&Tx<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut client = self.pool.get().await?;
        let client: &mut Client = &mut client;
        let begin = client.build_transaction();
        let begin = match mode {
            Mode::Write | Mode::Migrate => begin.isolation_level(IsolationLevel::ReadCommitted),
            Mode::Read => begin
                .isolation_level(IsolationLevel::RepeatableRead)
                .read_only(true),
        };
        // Dropped before its commit, it is rolled back.
        let tx = Tx(begin.start().await?);
        tx.batch(&self.options.limits(mode)).await?;
        let done = work(&tx).await?;
        tx.0.commit().await?;
        Ok(done)
    }
}
