//! Commits of transactions that write, and the look-up of one whose answer was lost.
//!
//! Each such transaction leaves a row in `commits` under a random id, in the same message as COMMIT. The
//! look-up inserts a row of the same id with "not kept". Either it finds the transaction's own row, and the
//! transaction was committed; or its own row is stored from then on, and a COMMIT that is still on its way
//! fails on it. The insert waits for a transaction that is just committing. So the answer is right after a
//! crash, on a standby that took over, and through any pooler.
//!
//! Rows are deleted when they are [`KEEP_ROWS`] old. A look-up that comes so late that its row may be gone
//! returns that the outcome is unknown, never that nothing was kept.
//!
//! Not here: when a transaction is tried again (`retry`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::{BoxError, StoreError};
use tokio::time::Instant;
use tokio_postgres::SimpleQueryRow;

use super::PostgresStore;
use super::connection::{FIRST_WAIT, LONGEST_WAIT, Tx, TxMode};
use super::fault::Fault;

/// How long the row of a transaction is kept. A busy server holds as many rows as it commits meanwhile.
const KEEP_ROWS: Duration = Duration::from_secs(10 * 60);
/// Oldest transaction that is looked up: well before its row may be deleted.
const LOOK_UP: Duration = Duration::from_secs(5 * 60);
/// Old rows are deleted at the first commit of a store and then once in so many.
const COMMITS_PER_PRUNING: u64 = 1024;
/// Most rows that are deleted at once: more than are added meanwhile.
const PRUNED_ROWS: u64 = 4096;

/// The present time of the server, in milliseconds since 1970 UTC.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";

/// The id of one transaction, chosen at random by its client.
#[derive(Debug, Clone)]
struct CommitId([u8; 16]);

impl CommitId {
    fn random() -> Result<Self, Fault> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| StoreError::Unavailable {
            what: "random numbers of the system".to_owned(),
            source: error.into(),
        })?;
        Ok(Self(id))
    }

    /// The id as a literal of SQL.
    fn literal(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("'\\x{digits}'")
    }
}

/// What one store remembers of its commits.
#[derive(Debug, Default)]
pub(super) struct CommitTracker {
    /// A time of the server, and when it was read here. Time that this machine slept in between is not counted,
    /// so an estimate from it is too early rather than too late.
    server_time: Mutex<Option<(i64, Instant)>>,
    count: AtomicU64,
}

impl CommitTracker {
    fn set_server_time(&self, millis: i64) {
        let mut known = self.lock();
        *known = Some((millis, Instant::now()));
    }

    /// The server's time now, or earlier; `None` while it is not known.
    fn server_time(&self) -> Option<i64> {
        let (millis, read_at) = (*self.lock())?;
        Some(millis.saturating_add(whole_millis(read_at.elapsed())))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(i64, Instant)>> {
        let known = self.server_time.lock();
        known.unwrap_or_else(PoisonError::into_inner)
    }

    fn is_pruning_due(&self) -> bool {
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        before.is_multiple_of(COMMITS_PER_PRUNING)
    }
}

/// How a transaction ended whose answer was lost.
enum CommitOutcome {
    Committed,
    /// It was not committed, and cannot be any more.
    NotCommitted,
    /// Its row may have been deleted.
    TooOld,
}

impl PostgresStore {
    /// Reads the server's clock, from which the age of later transactions is computed.
    pub(super) async fn note_server_time(&self) {
        // Without it no lost commit can be looked up; the first commit with an answer sets it, too.
        if let Ok(now) = self.server_time().await {
            self.commits.set_server_time(now.0);
        }
    }

    /// Commits. If the connection breaks meanwhile, looks up the outcome, so that nothing is done twice.
    pub(super) async fn commit(&self, mode: TxMode, tx: Tx) -> Result<(), Fault> {
        match mode {
            TxMode::Write => self.commit_write(tx).await,
            // Each step first checks whether it was already applied.
            TxMode::Migrate => tx.end("COMMIT").await,
            TxMode::Read => {
                // All its reads are done; there is nothing to keep.
                let _ = tx.end("COMMIT").await;
                Ok(())
            }
        }
    }

    async fn commit_write(&self, tx: Tx) -> Result<(), Fault> {
        let id = CommitId::random()?;
        let sent_at = self.commits.server_time();
        // One message, so that the row cannot be written without its COMMIT in a transaction that stays open.
        let ending = format!("{}; COMMIT", tx.commit_row(&id.literal()));
        let ended = tx.end_with_rows(&ending).await;
        let fault = match ended {
            Ok(rows) => {
                if let Some(at) = number_of(&rows) {
                    self.note_commit(at);
                }
                return Ok(());
            }
            Err(fault) => fault,
        };
        if fault.is_rolled_back() {
            tx.roll_back().await;
            return Err(tx.with_stale(fault));
        }
        drop(tx);
        if !self.is_committed(&id, sent_at).await? {
            return Err(fault);
        }
        self.changes.schedule_notification(&self.pool);
        Ok(())
    }

    /// Records a commit at this time of the server.
    fn note_commit(&self, at: i64) {
        self.commits.set_server_time(at);
        self.changes.schedule_notification(&self.pool);
        if self.commits.is_pruning_due() {
            self.prune();
        }
    }

    /// Whether a transaction was committed that was sent at this time of the server, looked up on another
    /// connection. `false` means that it never will be; an error, that this is not known. The work is not
    /// repeated after that error.
    async fn is_committed(&self, id: &CommitId, sent_at: Option<i64>) -> Result<bool, Fault> {
        let unknown = |why: &str| Fault::Store(unknown_outcome(&self.server, why.into()));
        let sent_at = sent_at.ok_or_else(|| unknown("the server's clock was never read"))?;
        let mut wait = FIRST_WAIT;
        // Until the call has used up its time: there is no other way to learn the outcome.
        loop {
            match self.look_up(id, sent_at).await {
                Ok(CommitOutcome::Committed) => return Ok(true),
                Ok(CommitOutcome::NotCommitted) => return Ok(false),
                Ok(CommitOutcome::TooOld) => return Err(unknown("it was sent too long ago")),
                Err(_) => tokio::time::sleep(wait).await,
            }
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    /// Finds the row of a transaction, or inserts one. The look-up's own commit is awaited: its result is then
    /// as durable as any commit of this server.
    async fn look_up(&self, id: &CommitId, sent_at: i64) -> Result<CommitOutcome, Fault> {
        let tx = Tx::on(
            self.pool.get().await?,
            self.options.answer_limit(TxMode::Write),
        );
        let all = format!(
            "{};
             INSERT INTO commits (id, kept) SELECT {}, FALSE WHERE {NOW} - {sent_at} < {}
                ON CONFLICT (id) DO UPDATE SET kept = commits.kept RETURNING kept::INT;
             COMMIT",
            self.start_of_all().statements(),
            id.literal(),
            whole_millis(LOOK_UP),
        );
        let rows = tx.end_with_rows(&all).await?;
        Ok(match number_of(&rows) {
            Some(0) => CommitOutcome::NotCommitted,
            Some(_) => CommitOutcome::Committed,
            None => CommitOutcome::TooOld,
        })
    }

    /// Deletes some old rows in the background; later stores delete the rest.
    fn prune(&self) {
        let prune = format!(
            "{};
             DELETE FROM commits WHERE id IN (
                SELECT id FROM commits WHERE at < {NOW} - {}
                ORDER BY at LIMIT {PRUNED_ROWS} FOR UPDATE SKIP LOCKED);
             COMMIT",
            self.start_of_all().statements(),
            whole_millis(KEEP_ROWS),
        );
        let pool = self.pool.clone();
        let answer_limit = self.options.answer_limit(TxMode::Write);
        self.changes.spawn(async move {
            if let Ok(client) = pool.get().await {
                let _ = Tx::on(client, answer_limit).end(&prune).await;
            }
        });
    }
}

/// The error of a change whose outcome is unknown.
pub(super) fn unknown_outcome(server: &str, why: BoxError) -> StoreError {
    StoreError::Unavailable {
        what: format!("{server}: it is unknown whether a change was stored; repeating it is safe"),
        source: why,
    }
}

/// The number that the first row holds.
fn number_of(rows: &[SimpleQueryRow]) -> Option<i64> {
    rows.first()?.get(0)?.parse().ok()
}

fn whole_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
