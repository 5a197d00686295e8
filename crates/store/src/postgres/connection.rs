//! Transactions on pooled connections: how they begin, what their errors mean, and when they are
//! tried again.
//!
//! No statement is prepared under a name. Each one goes out with its parameters' types in a single
//! round trip, parsed as the unnamed statement; so nothing is left behind in a server connection,
//! and a pooler such as PgBouncer in transaction mode may hand the next transaction to another one.
//! For the same reason time limits are set for each transaction and not for the connection.
//!
//! What needs no answer waits for company: BEGIN goes out with the first statement of the work, and
//! statements that are left for later ([`Tx::leave`]) with the next one or with COMMIT. A transaction
//! that locks a row and saves it takes two round trips.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use daybook_domain::{StoreError, Tenant};
use deadpool_postgres::{Client, PoolError, TimeoutType};
use futures_util::future::{join, try_join, try_join_all};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use super::PostgresStore;
use super::values::{Value, get, storable};

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
    /// Something is longer than the server can keep or find, such as a name of several KB.
    Shorten,
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
            Remedy::Shorten => StoreError::Refused(told(source.as_ref())),
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
    /// The number under which the server remembers how it ends, once that is known.
    number: OnceLock<String>,
    left: Mutex<Vec<Left>>,
}

/// A statement that waits for the next one.
#[derive(Debug)]
struct Left {
    sql: &'static str,
    values: Vec<Value>,
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
    /// A transaction that is about to begin.
    fn on(client: Client) -> Self {
        Self(Arc::new(Held {
            client: Some(client),
            open: AtomicBool::new(true),
            number: OnceLock::new(),
            left: Mutex::default(),
        }))
    }

    /// Ends, with what was left for later. Where that fails, COMMIT is ROLLBACK.
    async fn end(&self, how: &str) -> Result<(), Fault> {
        let (left, ended) = join(self.send_left(), self.client().batch_execute(how)).await;
        if ended.is_ok() {
            self.0.open.store(false, Ordering::Release);
        }
        left.and(ended.map_err(Fault::from))
    }

    /// Ends without what was left for later.
    async fn give_up(&self) {
        self.take_left();
        // Where this fails, the connection is closed, and with it the transaction.
        let _ = self.end("ROLLBACK").await;
    }

    /// Its number; `None` while nothing was written.
    async fn number(&self) -> Result<Option<String>, Fault> {
        if let Some(number) = self.0.number.get() {
            return Ok(Some(number.clone()));
        }
        let ask = "SELECT pg_current_xact_id_if_assigned()::TEXT AS number";
        get(&self.one(ask, &[]).await?, "number")
    }

    fn take_left(&self) -> Vec<Left> {
        let left = self.0.left.lock();
        std::mem::take(&mut *left.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends what was left for later, in its order, as soon as this is polled.
    async fn send_left(&self) -> Result<(), Fault> {
        let left = self.take_left();
        let sent = left.iter().map(|left| self.send(left.sql, &left.values));
        try_join_all(sent).await?;
        Ok(())
    }

    async fn send(&self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        Ok(self.client().execute_typed(sql, &typed).await?)
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
        let asking = async { Ok(self.client().query_typed(sql, &typed).await?) };
        let ((), rows) = try_join(self.send_left(), asking).await?;
        Ok(rows)
    }

    /// All rows of a statement that locks or writes them. Each also says in a column `number` what
    /// `pg_current_xact_id()::TEXT` is, so that it need not be asked for before the commit.
    pub(super) async fn numbered(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        let rows = self.rows(sql, values).await?;
        if let Some(row) = rows.first() {
            // Whoever else says it says the same.
            let _ = self.0.number.set(get(row, "number")?);
        }
        Ok(rows)
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
        let ((), changed) = try_join(self.send_left(), self.send(sql, values)).await?;
        Ok(changed)
    }

    /// Leaves a statement for later whose answer nobody needs: it runs before the next one.
    pub(super) fn leave(&self, sql: &'static str, values: &[Value]) {
        let values = values.to_vec();
        let left = self.0.left.lock();
        let mut left = left.unwrap_or_else(PoisonError::into_inner);
        left.push(Left { sql, values });
    }

    /// Runs statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        let running = async { Ok(self.client().batch_execute(sql).await?) };
        try_join(self.send_left(), running).await?;
        Ok(())
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
    /// The walls as a statement. It holds no foreign character: a name is spelled by its bytes.
    fn statement(self) -> String {
        match self {
            Self::Within(tenant) => {
                let name: String = storable(&tenant.0)
                    .bytes()
                    .map(|byte| format!("\\x{byte:02x}"))
                    .collect();
                format!("SET LOCAL daybook.tenant = E'{name}'")
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
        let tx = Tx::on(self.pool.get().await?);
        // Sent together. A statement that came in without a transaction would meet walls all around
        // it, and see and change nothing.
        let beginning = async { Ok(tx.client().batch_execute(begin).await?) };
        let working = async {
            let ((), done) = try_join(beginning, work(tx.clone())).await?;
            // Known before COMMIT is sent: afterwards there may be nobody left to ask.
            let number = match mode {
                Mode::Read => None,
                Mode::Write | Mode::Migrate => tx.number().await?,
            };
            Ok((done, number))
        };
        match working.await {
            Ok((done, number)) => {
                self.commit(tx, number).await?;
                Ok(done)
            }
            Err(fault) => {
                tx.give_up().await;
                Err(fault)
            }
        }
    }

    /// Commits. Where the connection breaks meanwhile, the server is asked how it ended, so that
    /// nothing is done twice.
    async fn commit(&self, tx: Tx, number: Option<String>) -> Result<(), Fault> {
        let ended = tx.end("COMMIT").await;
        drop(tx);
        if number.is_some() {
            self.changes.say(&self.pool);
        }
        match (ended, number) {
            // Without a number it has written nothing.
            (Ok(()), _) | (Err(_), None) => Ok(()),
            (Err(fault), Some(number)) if self.is_committed(&number).await? => {
                drop(fault);
                Ok(())
            }
            (Err(fault), Some(_)) => Err(fault),
        }
    }

    /// Whether the transaction of this number was committed, asked on another connection.
    async fn is_committed(&self, number: &str) -> Result<bool, Fault> {
        let mut wait = FIRST_WAIT;
        let mut last = None;
        for _ in 0..self.options.tries {
            match self.outcome(number).await {
                Ok(outcome) if outcome.as_deref() == Some("committed") => return Ok(true),
                Ok(outcome) if outcome.as_deref() == Some("aborted") => return Ok(false),
                // Its server process has not noticed yet that nobody listens.
                Ok(_) => {}
                Err(fault) => last = Some(fault),
            }
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
        let source = last.map_or_else(
            || format!("transaction {number} does not end").into(),
            |fault| fault.into_error(&self.server).into(),
        );
        // Not one of the faults after which the work is done again.
        Err(Fault::Store(StoreError::Unavailable {
            what: format!("{}: nobody knows whether a change was kept", self.server),
            source,
        }))
    }

    async fn outcome(&self, number: &str) -> Result<Option<String>, Fault> {
        let client = self.pool.get().await?;
        let ask = "SELECT pg_xact_status($1::TEXT::xid8) AS outcome";
        let number = Value::from(number);
        let rows = client.query_typed(ask, &[number.typed()]).await?;
        let row = rows.first();
        row.map_or(Ok(None), |row| Ok(row.try_get("outcome")?))
    }
}
