//! Transactions on pooled connections: how they begin, what they send, and what their errors mean.
//!
//! No statement is prepared under a name. Each one goes out with its parameters' types in a single
//! round trip, parsed as the unnamed statement; so nothing is left behind in a server connection,
//! and a pooler such as PgBouncer in transaction mode may hand the next transaction to another one.
//! For the same reason time limits are set for each transaction and not for the connection.
//!
//! Statements whose answer is not needed at once are sent together: BEGIN goes out with the first statement of
//! the work, and deferred statements ([`Tx::defer`]) with the next one or with COMMIT. A transaction that locks
//! a row and saves it takes two round trips.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::Tenant;
use deadpool_postgres::Client;
use futures_util::future::{join, join_all};
use tokio_postgres::{Error, Row, SimpleQueryMessage, SimpleQueryRow};

use super::fault::Fault;
use super::values::{SqlValue, without_nul};

/// Wait before the second try; each further one doubles it.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Longest wait between two tries.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// An open transaction. Its holder may run statements in it;
/// [`PostgresStore::retry`](super::PostgresStore::retry) begins and ends it.
#[derive(Debug, Clone)]
pub(super) struct Tx(Arc<TxConnection>);

/// A connection, on which a transaction may be open.
#[derive(Debug)]
struct TxConnection {
    /// `None` once the connection is closed.
    client: Option<Client>,
    open: AtomicBool,
    /// Longest wait for an answer; zero waits for as long as it takes.
    answer_limit: Duration,
    deferred: Mutex<Vec<DeferredStatement>>,
}

/// A deferred statement, which is sent with the next one.
#[derive(Debug)]
struct DeferredStatement {
    sql: &'static str,
    values: Vec<SqlValue>,
}

impl Drop for TxConnection {
    fn drop(&mut self) {
        // The caller was dropped in the middle: only closing the connection is sure to end the transaction
        // before the pool hands the connection out again.
        if *self.open.get_mut() {
            drop(self.client.take().map(Client::take));
        }
    }
}

impl Tx {
    /// A transaction that is about to begin.
    pub(super) fn on(client: Client, answer_limit: Duration) -> Self {
        Self(Arc::new(TxConnection {
            client: Some(client),
            open: AtomicBool::new(true),
            answer_limit,
            deferred: Mutex::default(),
        }))
    }

    /// Begins. No deferred statement goes before it.
    pub(super) async fn begin(&self, statements: &str) -> Result<(), Fault> {
        self.await_answer(self.client().batch_execute(statements))
            .await
    }

    /// Ends the transaction, after its deferred statements. Where one of them fails, COMMIT acts as ROLLBACK.
    pub(super) async fn end(&self, how: &str) -> Result<(), Fault> {
        self.end_with_rows(how).await.map(drop)
    }

    /// Ends the transaction by statements of which the last one is COMMIT or ROLLBACK, sent as one message
    /// after the deferred statements. Returns the rows that they answer with.
    pub(super) async fn end_with_rows(&self, how: &str) -> Result<Vec<SimpleQueryRow>, Fault> {
        let ending = self.await_answer(self.client().simple_query(how));
        let (deferred, ended) = join(self.send_deferred(), ending).await;
        if ended.is_ok() {
            self.0.open.store(false, Ordering::Release);
        }
        deferred?;
        Ok(rows_among(ended?))
    }

    /// Rolls back, without the deferred statements.
    pub(super) async fn roll_back(&self) {
        self.take_deferred();
        // Where this fails, the connection is closed, and with it the transaction.
        let _ = self.end("ROLLBACK").await;
    }

    fn take_deferred(&self) -> Vec<DeferredStatement> {
        let deferred = self.0.deferred.lock();
        std::mem::take(&mut *deferred.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends the deferred statements, in order, as soon as this future is polled.
    async fn send_deferred(&self) -> Result<(), Fault> {
        let deferred = self.take_deferred();
        let sent = deferred
            .iter()
            .map(|deferred| self.send(deferred.sql, &deferred.values));
        let answers = join_all(sent).await;
        // Statements after a failed one only report that failure, so the first error counts.
        answers
            .into_iter()
            .find(Result::is_err)
            .map_or(Ok(()), |failed| failed.map(drop))
    }

    async fn send(&self, sql: &str, values: &[SqlValue]) -> Result<u64, Fault> {
        let with_type: Vec<_> = values.iter().map(SqlValue::with_type).collect();
        self.await_answer(self.client().execute_typed(sql, &with_type))
            .await
    }

    /// Waits for an answer within the limit. The server itself ends a statement that takes too long, but a lost
    /// or frozen server cannot.
    async fn await_answer<T>(
        &self,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Fault> {
        let answer_limit = self.0.answer_limit;
        if answer_limit.is_zero() {
            return Ok(answer.await?);
        }
        match tokio::time::timeout(answer_limit, answer).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(Fault::Silent(answer_limit)),
        }
    }

    fn client(&self) -> &Client {
        self.0
            .client
            .as_ref()
            .expect("given up only when it is dropped")
    }

    /// All rows that a statement answers with.
    pub(super) async fn rows(&self, sql: &str, values: &[SqlValue]) -> Result<Vec<Row>, Fault> {
        let with_type: Vec<_> = values.iter().map(SqlValue::with_type).collect();
        let asking = self.await_answer(self.client().query_typed(sql, &with_type));
        let ((), rows) = join_in_order(self.send_deferred(), asking).await?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub(super) async fn row(&self, sql: &str, values: &[SqlValue]) -> Result<Option<Row>, Fault> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The first row of a statement that always answers with one.
    pub(super) async fn one(&self, sql: &str, values: &[SqlValue]) -> Result<Row, Fault> {
        let row = self.row(sql, values).await?;
        row.ok_or_else(|| Fault::corrupt(format!("no row from: {sql}")))
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) async fn execute(&self, sql: &str, values: &[SqlValue]) -> Result<u64, Fault> {
        let ((), changed) = join_in_order(self.send_deferred(), self.send(sql, values)).await?;
        Ok(changed)
    }

    /// Defers a statement whose answer is not needed: it runs before the next one.
    pub(super) fn defer(&self, sql: &'static str, values: &[SqlValue]) {
        let values = values.to_vec();
        let deferred = self.0.deferred.lock();
        let mut deferred = deferred.unwrap_or_else(PoisonError::into_inner);
        deferred.push(DeferredStatement { sql, values });
    }

    /// Runs statements without parameters.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Fault> {
        let running = self.await_answer(self.client().batch_execute(sql));
        join_in_order(self.send_deferred(), running).await?;
        Ok(())
    }
}

/// The rows among the answers to one message of several statements.
fn rows_among(answers: Vec<SimpleQueryMessage>) -> Vec<SimpleQueryRow> {
    let row = |answer| match answer {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    };
    answers.into_iter().filter_map(row).collect()
}

/// Polls two futures of one transaction so that their statements go out together, in this order. Where one
/// fails, the server refuses the other, too, and the refusal may arrive first; so both are awaited, and the
/// original error is returned.
pub(super) async fn join_in_order<A, B>(
    one: impl Future<Output = Result<A, Fault>>,
    other: impl Future<Output = Result<B, Fault>>,
) -> Result<(A, B), Fault> {
    match join(one, other).await {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(echo), Err(cause)) if echo.is_follow_up() => Err(cause),
        (Err(fault), _) | (Ok(_), Err(fault)) => Err(fault),
    }
}

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TxMode {
    /// Each statement sees what was committed before it; rows that decide are locked as they are read.
    Write,
    /// One snapshot, without changes.
    Read,
    /// Writing, without a time limit.
    Migrate,
}

impl TxMode {
    pub(super) fn begin(self) -> &'static str {
        match self {
            Self::Write | Self::Migrate => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        }
    }
}

/// Which tenants' rows a transaction sees and changes.
#[derive(Debug, Clone, Copy)]
pub(super) enum TenantAccess<'a> {
    Only(&'a Tenant),
    All,
}

impl TenantAccess<'_> {
    /// The statement that sets the boundary. Free of injection: the tenant's name is written as escaped bytes.
    pub(super) fn statement(self) -> String {
        match self {
            Self::Only(tenant) => {
                let name: String = without_nul(&tenant.0)
                    .bytes()
                    .map(|byte| format!("\\x{byte:02x}"))
                    .collect();
                format!("SET LOCAL daybook.tenant = E'{name}'")
            }
            Self::All => "SET LOCAL daybook.tenants = 'all'".to_owned(),
        }
    }
}
