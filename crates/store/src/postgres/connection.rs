//! Transactions on pooled connections: how they begin, what they send, and what their errors mean.
//!
//! A statement goes out with its parameters' types in a single round trip, parsed as the unnamed statement; so
//! nothing is left behind in a server connection, and a pooler such as PgBouncer in transaction mode may hand the
//! next transaction to another one. For the same reason time limits are set for each transaction. A connection
//! that has a session of its own keeps some statements prepared, and has the limits from its start: see
//! [`super::kept_statements`].
//!
//! Statements whose answer is not needed at once are sent together: BEGIN goes out with the first statement of
//! the work, and deferred statements ([`Tx::defer`]) with the next one or with COMMIT. A transaction that locks
//! a row and saves it takes two round trips.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::{join, join_all, join3};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Error, Row, SimpleQueryMessage, SimpleQueryRow, Statement};

use super::fault::Fault;
use super::kept_statements::{FrameStatements, KeptStatements, Sql, commit_row};
use super::pool::PooledConnection;
pub(super) use super::tx_start::{TenantAccess, TxMode, TxStart};
use super::values::SqlValue;

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
    client: Option<PooledConnection>,
    /// The statements that it keeps; `None` where it keeps none.
    framed: Option<Framed>,
    open: AtomicBool,
    /// Longest wait for an answer; zero waits for as long as it takes.
    answer_limit: Duration,
    deferred: Mutex<Vec<DeferredStatement>>,
}

/// A transaction that begins and ends with prepared statements.
#[derive(Debug)]
struct Framed {
    kept: Arc<KeptStatements>,
    frame: Arc<FrameStatements>,
    /// What prepares the frame, if that is still to be done.
    prepare: Option<String>,
}

/// A deferred statement, which is sent with the next one.
#[derive(Debug)]
struct DeferredStatement {
    sql: Sql<'static>,
    values: Vec<SqlValue>,
}

impl Drop for TxConnection {
    fn drop(&mut self) {
        // The caller was dropped in the middle: only closing the connection is sure to end the transaction
        // before the pool hands the connection out again.
        if *self.open.get_mut() {
            drop(self.client.take().map(Object::take));
        }
    }
}

impl Tx {
    /// A transaction that is about to begin, without statements that stay prepared.
    pub(super) fn on(client: PooledConnection, answer_limit: Duration) -> Self {
        Self::with(client, None, answer_limit)
    }

    /// A transaction that is about to begin by [`Tx::begin`].
    pub(super) fn framed(client: PooledConnection, answer_limit: Duration) -> Self {
        let kept = client.kept.clone();
        let framed = kept.and_then(|kept| {
            let (frame, prepare) = kept.frame()?;
            Some(Framed {
                kept,
                frame,
                prepare,
            })
        });
        Self::with(client, framed, answer_limit)
    }

    fn with(client: PooledConnection, framed: Option<Framed>, answer_limit: Duration) -> Self {
        Self(Arc::new(TxConnection {
            client: Some(client),
            framed,
            open: AtomicBool::new(true),
            answer_limit,
            deferred: Mutex::default(),
        }))
    }

    /// Begins. No deferred statement goes before it.
    pub(super) async fn begin(&self, start: TxStart<'_>) -> Result<(), Fault> {
        match &self.0.framed {
            Some(framed) => self.begin_framed(framed, start).await,
            None => self.begin_by(&start.statements()).await,
        }
    }

    /// Begins by statements in one message.
    pub(super) async fn begin_by(&self, statements: &str) -> Result<(), Fault> {
        self.await_answer(self.client().batch_execute(statements))
            .await
    }

    /// Begins by the frame's statement, and prepares what earlier transactions would have used.
    async fn begin_framed(&self, framed: &Framed, start: TxStart<'_>) -> Result<(), Fault> {
        let set_access = framed.frame.set_access(start.access);
        let begin = format!("{}; {set_access}", start.mode.begin());
        let preparing_frame = async {
            match &framed.prepare {
                Some(prepare) => self.begin_by(prepare).await,
                None => Ok(()),
            }
        };
        let wanted = framed.kept.take_wanted();
        let preparing = wanted.iter().map(|(text, types)| async {
            let statement = self.client().prepare_typed(text, types);
            framed
                .kept
                .insert(text, self.await_answer(statement).await?);
            Ok(())
        });
        let begun = join3(preparing_frame, self.begin_by(&begin), join_all(preparing)).await;
        let (framed, begun, prepared) = begun;
        framed.and(begun)?;
        prepared.into_iter().collect()
    }

    /// The statement that leaves the row of this transaction in `commits`; `id` is a literal.
    pub(super) fn commit_row(&self, id: &str) -> String {
        match &self.0.framed {
            Some(framed) => framed.frame.commit_row(id),
            None => commit_row(id),
        }
    }

    /// Marks the fault of a prepared statement that is gone or outdated, and forgets such statements.
    pub(super) fn with_stale(&self, fault: Fault) -> Fault {
        match (fault, &self.0.framed) {
            (Fault::Sql(error), Some(framed)) if framed.kept.forget_stale(&error) => {
                Fault::Stale(error)
            }
            (fault, _) => fault,
        }
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

    async fn send(&self, sql: Sql<'_>, values: &[SqlValue]) -> Result<u64, Fault> {
        let (client, with_type) = (self.client(), with_types(values));
        match self.prepared(sql, &with_type) {
            Ok(statement) => {
                let values = without_types(&with_type);
                self.await_answer(client.execute(&statement, &values)).await
            }
            Err(text) => {
                self.await_answer(client.execute_typed(text, &with_type))
                    .await
            }
        }
    }

    /// The prepared statement, else the text to send.
    fn prepared<'a>(&self, sql: Sql<'a>, values: &[TypedValue<'_>]) -> Result<Statement, &'a str> {
        match (sql, &self.0.framed) {
            (Sql::Kept(text), Some(framed)) => {
                let types: Vec<Type> = values.iter().map(|(_, of)| of.clone()).collect();
                framed.kept.find(text, &types).ok_or(text)
            }
            (Sql::Kept(text) | Sql::Planned(text), _) => Err(text),
        }
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

    fn client(&self) -> &PooledConnection {
        self.0
            .client
            .as_ref()
            .expect("given up only when it is dropped")
    }

    /// All rows that a statement answers with.
    pub(super) async fn rows<'a>(
        &self,
        sql: impl Into<Sql<'a>>,
        values: &[SqlValue],
    ) -> Result<Vec<Row>, Fault> {
        let (client, with_type) = (self.client(), with_types(values));
        let asking = async {
            match self.prepared(sql.into(), &with_type) {
                Ok(statement) => {
                    let values = without_types(&with_type);
                    self.await_answer(client.query(&statement, &values)).await
                }
                Err(text) => {
                    self.await_answer(client.query_typed(text, &with_type))
                        .await
                }
            }
        };
        let ((), rows) = join_in_order(self.send_deferred(), asking).await?;
        Ok(rows)
    }

    /// The first row, if there is one.
    pub(super) async fn row<'a>(
        &self,
        sql: impl Into<Sql<'a>>,
        values: &[SqlValue],
    ) -> Result<Option<Row>, Fault> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The first row of a statement that always answers with one.
    pub(super) async fn one(&self, sql: &str, values: &[SqlValue]) -> Result<Row, Fault> {
        let row = self.row(sql, values).await?;
        row.ok_or_else(|| Fault::corrupt(format!("no row from: {sql}")))
    }

    /// Runs a statement, and returns how many rows it changed.
    pub(super) async fn execute<'a>(
        &self,
        sql: impl Into<Sql<'a>>,
        values: &[SqlValue],
    ) -> Result<u64, Fault> {
        let sending = self.send(sql.into(), values);
        let ((), changed) = join_in_order(self.send_deferred(), sending).await?;
        Ok(changed)
    }

    /// Defers a statement whose answer is not needed: it runs before the next one.
    pub(super) fn defer(&self, sql: impl Into<Sql<'static>>, values: &[SqlValue]) {
        let (sql, values) = (sql.into(), values.to_vec());
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

type TypedValue<'a> = (&'a (dyn ToSql + Sync), Type);

fn with_types(values: &[SqlValue]) -> Vec<TypedValue<'_>> {
    values.iter().map(SqlValue::with_type).collect()
}

fn without_types<'a>(values: &[TypedValue<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|(value, _)| *value).collect()
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
