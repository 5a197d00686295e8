//! Transactions on pooled connections: how they begin, what their errors mean, and when they are
//! tried again.
//!
//! No statement is prepared under a name. Each one goes out with its parameters' types in a single
//! round trip, parsed as the unnamed statement; so nothing is left behind in a server connection,
//! and a pooler such as PgBouncer in transaction mode may hand the next transaction to another one.
//! For the same reason time limits are set for each transaction and not for the connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use daybook_domain::{StoreError, Tenant};
use deadpool_postgres::{Client, PoolError, TimeoutType};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use super::PostgresStore;
use super::values::{Value, get, storable};

/// Wait before the second try; each further one doubles it.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Longest wait between two tries.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// What can be done about a server that takes no changes.
pub(super) const READ_ONLY: &str = "it can only be read: either it is a standby that waits to take \
    over, and the address of the one that can be written is needed, or its operator has set \
    default_transaction_read_only";

/// What went wrong inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    Pool(PoolError),
    /// The server did not answer for so long.
    Silent(Duration),
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
    /// Something is longer than the server can keep or find, such as a name of several KB.
    Shorten,
    /// The store is closed: what it held lives elsewhere, as the message says.
    Move,
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
            Self::Silent(_) => Remedy::Act,
            Self::Pool(PoolError::Timeout(TimeoutType::Wait)) => Remedy::Later,
            Self::Pool(_) => Remedy::Reconnect,
            Self::Sql(error) => match error.code() {
                Some(state) => remedy_of(state),
                None if error.is_closed() || is_io(error) => Remedy::Reconnect,
                None => Remedy::None,
            },
        }
    }

    /// Whether it says no more than that something failed before it.
    fn is_echo(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION))
    }

    /// The error as the caller of a store sees it; `server` names the database.
    pub(super) fn into_error(self, server: &str) -> StoreError {
        let remedy = self.remedy();
        let source = match self {
            Self::Store(error) => return error,
            Self::Sql(error) => match advice(&error, remedy) {
                Some(advice) => format!("{}; {advice}", told(&error)).into(),
                None => error.into(),
            },
            Self::Pool(error) => error.into(),
            Self::Silent(time) => format!(
                "the server has not answered for {} s; see whether it runs and can be reached",
                time.as_secs()
            )
            .into(),
        };
        match remedy {
            Remedy::Again | Remedy::Later => StoreError::Busy(source),
            Remedy::Reconnect | Remedy::Act => StoreError::Unavailable {
                what: server.to_owned(),
                source,
            },
            Remedy::Shorten | Remedy::Move => StoreError::Refused(told(source.as_ref())),
            Remedy::None => StoreError::Corrupt(format!("{server}: {}", told(source.as_ref()))),
        }
    }
}

/// What a person can do about what the server says.
fn advice(error: &Error, remedy: Remedy) -> Option<&'static str> {
    match error.code() {
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Some(READ_ONLY),
        Some(&SqlState::DISK_FULL) => {
            Some("make room on the server's disk; what waits then goes on by itself")
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => {
            Some("raise max_connections on the server, or put a pooler before it")
        }
        _ if remedy == Remedy::Reconnect => Some("see whether the server runs and can be reached"),
        _ => None,
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
        SqlState::RAISE_EXCEPTION => Remedy::Move,
        _ => match state.code().get(..2) {
            Some("54") => Remedy::Shorten,
            Some("08") => Remedy::Reconnect,
            // Who may come in, which database, resources, the operator, the system.
            Some("28" | "3D" | "53" | "57" | "58") => Remedy::Act,
            _ => Remedy::None,
        },
    }
}

/// A transaction under way. Whoever holds it may run statements in it; beginning and ending it is
/// [`PostgresStore::retry`]'s.
#[derive(Debug, Clone)]
pub(super) struct Tx(Arc<Held>);

/// A connection, on which a transaction may be open.
#[derive(Debug)]
struct Held {
    /// `None` once it is given up.
    client: Option<Client>,
    open: AtomicBool,
    /// Longest wait for an answer; zero waits for as long as it takes.
    patience: Duration,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Its caller went away in the middle: only closing the connection is sure to end the
        // transaction before anybody else gets it.
        if *self.open.get_mut() {
            drop(self.client.take().map(Client::take));
        }
    }
}

impl Tx {
    /// Begins, in one round trip.
    async fn begin(client: Client, patience: Duration, statements: &str) -> Result<Self, Fault> {
        let tx = Self(Arc::new(Held {
            client: Some(client),
            open: AtomicBool::new(true),
            patience,
        }));
        tx.batch(statements).await?;
        Ok(tx)
    }

    pub(super) async fn end(&self, how: &str) -> Result<(), Fault> {
        self.batch(how).await?;
        self.0.open.store(false, Ordering::Release);
        Ok(())
    }

    /// The number under which the server remembers how it ends; `None` while nothing was written.
    pub(super) async fn number(&self) -> Result<Option<String>, Fault> {
        let ask = "SELECT pg_current_xact_id_if_assigned()::TEXT AS number";
        get(&self.one(ask, &[]).await?, "number")
    }

    fn client(&self) -> &Client {
        self.0
            .client
            .as_ref()
            .expect("given up only when it is dropped")
    }

    /// All rows that a statement answers with.
    pub(super) async fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        self.heard(self.client().query_typed(sql, &typed)).await
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
        self.heard(self.client().execute_typed(sql, &typed)).await
    }

    /// Runs statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.heard(self.client().batch_execute(sql)).await
    }

    /// The server ends a statement that takes too long; one that is gone, or stands still, cannot.
    async fn heard<T>(&self, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Fault> {
        let patience = self.0.patience;
        if patience.is_zero() {
            return Ok(answer.await?);
        }
        match tokio::time::timeout(patience, answer).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(Fault::Silent(patience)),
        }
    }
}

/// Does two things in one transaction that go out together. Where one fails, the server refuses the
/// other, too, and that may be heard of first; so both are waited for, and the cause is told.
pub(super) async fn both<A, B>(
    one: impl Future<Output = Result<A, Fault>>,
    other: impl Future<Output = Result<B, Fault>>,
) -> Result<(A, B), Fault> {
    match tokio::join!(one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(echo), Err(cause)) if echo.is_echo() => Err(cause),
        (Err(fault), _) | (Ok(_), Err(fault)) => Err(fault),
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

impl Mode {
    fn begin(self) -> &'static str {
        match self {
            Self::Write | Self::Migrate => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        }
    }
}

/// Whose rows a transaction sees and changes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Walls<'a> {
    Within(&'a Tenant),
    None,
}

impl Walls<'_> {
    /// The walls as a statement. It holds no foreign character: a name is spelled in hexadecimal.
    fn statement(self) -> String {
        match self {
            Self::Within(tenant) => {
                let name: String = storable(&tenant.0)
                    .bytes()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                format!(
                    "SELECT set_config('daybook.tenant', \
                     convert_from(decode('{name}', 'hex'), 'UTF8'), TRUE)"
                )
            }
            Self::None => "SET LOCAL daybook.tenants = 'all'".to_owned(),
        }
    }
}

impl PostgresStore {
    /// Runs `work` in one transaction that writes. It may run again after a rollback; what it wrote is
    /// kept once, or not at all where this returns an error.
    pub(super) async fn write<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        walls: Walls<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        self.retry(Mode::Write, walls, work).await
    }

    /// Runs `work` on a snapshot.
    pub(super) async fn read<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        walls: Walls<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        self.retry(Mode::Read, walls, work).await
    }

    /// A transaction without walls that its caller ends, after these statements. Nothing is tried again.
    pub(super) async fn begin(&self, statements: &str) -> Result<Tx, StoreError> {
        let begin = format!(
            "{}; {}; {}; {statements}",
            Mode::Write.begin(),
            self.options.limits(Mode::Write),
            Walls::None.statement()
        );
        let patience = self.options.patience(Mode::Write);
        let begun = async { Tx::begin(self.pool.get().await?, patience, &begin).await };
        begun.await.map_err(|fault| fault.into_error(&self.server))
    }

    pub(super) async fn retry<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: Mode,
        walls: Walls<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        let begin = format!(
            "{}; {}; {}",
            mode.begin(),
            self.options.limits(mode),
            walls.statement()
        );
        let mut wait = FIRST_WAIT;
        for _ in 1..self.options.tries {
            match self.attempt(mode, &begin, &work).await {
                Err(fault) if matches!(fault.remedy(), Remedy::Again | Remedy::Reconnect) => {
                    tokio::time::sleep(wait).await;
                    wait = LONGEST_WAIT.min(wait * 2);
                }
                outcome => return outcome.map_err(|fault| fault.into_error(&self.server)),
            }
        }
        let last = self.attempt(mode, &begin, &work).await;
        last.map_err(|fault| fault.into_error(&self.server))
    }

    async fn attempt<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: Mode,
        begin: &str,
        work: &impl Fn(Tx) -> F,
    ) -> Result<T, Fault> {
        let patience = self.options.patience(mode);
        let tx = Tx::begin(self.pool.get().await?, patience, begin).await?;
        match work(tx.clone()).await {
            Ok(done) => {
                self.commit(mode, tx).await?;
                Ok(done)
            }
            // The connection is closed, and with it the transaction.
            Err(fault @ Fault::Silent(_)) => Err(fault),
            Err(fault) => {
                // Where this fails, the connection is closed, and with it the transaction.
                let _ = tx.end("ROLLBACK").await;
                Err(fault)
            }
        }
    }
}
