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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::{StoreError, Tenant};
use deadpool_postgres::Client;
use futures_util::future::{join, join_all};
use tokio_postgres::{Error, Row, SimpleQueryMessage, SimpleQueryRow};

use super::PostgresStore;
use super::call::Call;
use super::fault::{Fault, Remedy};
use super::values::{Value, storable};

/// Wait before the second try; each further one doubles it.
pub(super) const FIRST_WAIT: Duration = Duration::from_millis(5);
/// Longest wait between two tries.
pub(super) const LONGEST_WAIT: Duration = Duration::from_millis(500);

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
    pub(super) fn on(client: Client, patience: Duration) -> Self {
        Self(Arc::new(Held {
            client: Some(client),
            open: AtomicBool::new(true),
            patience,
            left: Mutex::default(),
        }))
    }

    /// Begins; nothing that was left for later goes before it.
    async fn begin(&self, statements: &str) -> Result<(), Fault> {
        self.heard(self.client().batch_execute(statements)).await
    }

    /// Ends, with what was left for later. Where that fails, COMMIT is ROLLBACK.
    pub(super) async fn end(&self, how: &str) -> Result<(), Fault> {
        self.end_with_rows(how).await.map(drop)
    }

    /// Ends by statements of which the last one is COMMIT or ROLLBACK, sent as one message after what
    /// was left for later. Returns the rows that they answer with.
    pub(super) async fn end_with_rows(&self, how: &str) -> Result<Vec<SimpleQueryRow>, Fault> {
        let ending = self.heard(self.client().simple_query(how));
        let (left, ended) = join(self.send_left(), ending).await;
        if ended.is_ok() {
            self.0.open.store(false, Ordering::Release);
        }
        left?;
        Ok(rows_among(ended?))
    }

    /// Ends without what was left for later.
    pub(super) async fn give_up(&self) {
        self.take_left();
        // Where this fails, the connection is closed, and with it the transaction.
        let _ = self.end("ROLLBACK").await;
    }

    fn take_left(&self) -> Vec<Left> {
        let left = self.0.left.lock();
        std::mem::take(&mut *left.unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends what was left for later, in its order, as soon as this is polled.
    async fn send_left(&self) -> Result<(), Fault> {
        let left = self.take_left();
        let sent = left.iter().map(|left| self.send(left.sql, &left.values));
        let heard = join_all(sent).await;
        // Those after the one that failed were refused for its sake.
        heard
            .into_iter()
            .find(Result::is_err)
            .map_or(Ok(()), |failed| failed.map(drop))
    }

    async fn send(&self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        self.heard(self.client().execute_typed(sql, &typed)).await
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

    fn client(&self) -> &Client {
        self.0
            .client
            .as_ref()
            .expect("given up only when it is dropped")
    }

    /// All rows that a statement answers with.
    pub(super) async fn rows(&self, sql: &str, values: &[Value]) -> Result<Vec<Row>, Fault> {
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        let asking = self.heard(self.client().query_typed(sql, &typed));
        let ((), rows) = both(self.send_left(), asking).await?;
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
        let ((), changed) = both(self.send_left(), self.send(sql, values)).await?;
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
        let running = self.heard(self.client().batch_execute(sql));
        both(self.send_left(), running).await?;
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

/// Does two things in one transaction that go out together, in this order. Where one fails, the server
/// refuses the other, too, and that may be heard of first; so both are waited for, and the cause is told.
async fn both<A, B>(
    one: impl Future<Output = Result<A, Fault>>,
    other: impl Future<Output = Result<B, Fault>>,
) -> Result<(A, B), Fault> {
    match join(one, other).await {
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
    pub(super) fn begin(self) -> &'static str {
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
    pub(super) fn statement(self) -> String {
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

    /// A transaction without walls that its caller ends, after these statements. Nothing is tried again.
    pub(super) async fn begin(&self, statements: &str) -> Result<Tx, StoreError> {
        let begin = format!(
            "{}; {}; {}; {statements}",
            Mode::Write.begin(),
            self.options.limits(Mode::Write),
            Walls::None.statement()
        );
        let patience = self.options.patience(Mode::Write);
        let begun = async {
            let tx = Tx::on(self.pool.get().await?, patience);
            tx.begin(&begin).await?;
            Ok(tx)
        };
        begun
            .await
            .map_err(|fault: Fault| fault.into_error(&self.server))
    }

    pub(super) async fn retry<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: Mode,
        walls: Walls<'_>,
        work: impl Fn(Tx) -> F,
    ) -> Result<T, StoreError> {
        let call = Call::default();
        // On the heap: each function that a future is handed through holds it whole, and what an append
        // does is large enough to fill a thread's stack with such copies.
        let tries = Box::pin(self.tries(mode, walls, &work, &call));
        self.within_limit(mode, &call, tries).await
    }

    async fn tries<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: Mode,
        walls: Walls<'_>,
        work: &impl Fn(Tx) -> F,
        call: &Call,
    ) -> Result<T, StoreError> {
        let begin = format!(
            "{}; {}; {}",
            mode.begin(),
            self.options.limits(mode),
            walls.statement()
        );
        let mut wait = FIRST_WAIT;
        let mut tried = 0;
        loop {
            let fault = match self.attempt(mode, &begin, work, call).await {
                Ok(done) => return Ok(done),
                Err(fault) => self.explained(fault).await,
            };
            // A lock is waited for until the call has used up its time; its holder may have vanished,
            // and is ended by the server after a while.
            tried += u32::from(!matches!(fault, Fault::Locked(_)));
            let helps = matches!(fault.remedy(), Remedy::Again | Remedy::Reconnect);
            if !helps || tried >= self.options.tries {
                return Err(fault.into_error(&self.server));
            }
            call.note_fault(&fault);
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    async fn attempt<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        mode: Mode,
        begin: &str,
        work: &impl Fn(Tx) -> F,
        call: &Call,
    ) -> Result<T, Fault> {
        let tx = Tx::on(self.pool.get().await?, self.options.patience(mode));
        // Sent together. A statement that came in without a transaction would meet walls all around
        // it, and see and change nothing.
        match both(tx.begin(begin), work(tx.clone())).await {
            Ok(((), done)) => {
                call.set_committing(mode == Mode::Write);
                let committed = self.commit(mode, tx).await;
                call.set_committing(false);
                committed.map(|()| done)
            }
            // The connection is closed, and with it the transaction.
            Err(fault @ Fault::Silent(_)) => Err(fault),
            Err(fault) => {
                tx.give_up().await;
                Err(fault)
            }
        }
    }
}
