//! Statements that stay prepared on a connection, and the proof at the start of each transaction that they are
//! there.
//!
//! Names of prepared statements belong to a session of the server. A pooler in transaction mode lends a session
//! to many clients in turn, so a name may be missing there, or mean the statement of another program. Two things
//! keep that from doing harm. Only a connection that began with settings of its own (`own_session`) keeps
//! statements. And each transaction on it begins with `EXECUTE` of a statement whose name ends in random digits,
//! which was prepared once, on one session: on any other one it fails, and with it the whole transaction, before
//! any other name is used in it. All other statements are prepared in transactions that began so. A failed
//! transaction is tried again, so where names are gone (a pooler that was not detected, `DISCARD ALL`) nothing
//! is lost; where that happens often, the store stops keeping statements.
//!
//! Not here: what the transactions do (`connection`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Statement};

use super::tx_start::{TenantAccess, literal};

/// Most statements that are kept on a connection. Each costs the server some 20 KB there.
const MOST_KEPT: usize = 64;
/// After so many transactions that began on a session without the store's statements, it keeps none.
const MOST_LOSSES: u32 = 3;

/// A statement, and whether it stays prepared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sql<'a> {
    /// Planned each time, for the sizes that tables then have.
    Planned(&'a str),
    /// Kept prepared where that is possible. Its plan must not depend on what tables hold, because the server
    /// may go on using the plan of an empty table until it has counted the rows: it calls functions, or inserts
    /// its parameters.
    Kept(&'static str),
}

impl<'a> From<&'a str> for Sql<'a> {
    fn from(text: &'a str) -> Self {
        Self::Planned(text)
    }
}

impl<'a> From<&'a String> for Sql<'a> {
    fn from(text: &'a String) -> Self {
        Self::Planned(text)
    }
}

/// Whether the connections of one store keep statements.
#[derive(Debug, Default)]
pub(super) struct StatementKeeping {
    /// Whether the tables exist that kept statements name.
    has_schema: AtomicBool,
    losses: AtomicU32,
}

impl StatementKeeping {
    /// Records that the schema is complete.
    pub(super) fn begin(&self) {
        self.has_schema.store(true, Ordering::Relaxed);
    }

    /// Stops keeping statements, because a pooler lends sessions.
    pub(super) fn give_up(&self) {
        self.losses.store(MOST_LOSSES, Ordering::Relaxed);
    }

    /// Whether no pooler is known.
    pub(super) fn is_possible(&self) -> bool {
        self.losses.load(Ordering::Relaxed) < MOST_LOSSES
    }

    fn note_loss(&self) {
        let _ = self
            .losses
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |losses| {
                (losses < MOST_LOSSES).then_some(losses + 1)
            });
    }
}

/// The prepared statements of one connection.
#[derive(Debug)]
pub(super) struct KeptStatements {
    keeping: Arc<StatementKeeping>,
    session: Mutex<SessionStatements>,
}

/// What the session of a connection has prepared.
#[derive(Debug, Default)]
struct SessionStatements {
    frame: Option<Arc<FrameStatements>>,
    prepared: HashMap<&'static str, Statement>,
    /// What the next transaction prepares.
    wanted: HashMap<&'static str, Vec<Type>>,
}

impl KeptStatements {
    pub(super) fn new(keeping: Arc<StatementKeeping>) -> Self {
        Self {
            keeping,
            session: Mutex::default(),
        }
    }

    /// The frame of the next transaction, with the message that prepares it if it is new. `None` while nothing is
    /// kept.
    pub(super) fn frame(&self) -> Option<(Arc<FrameStatements>, Option<String>)> {
        if !self.keeping.has_schema.load(Ordering::Relaxed) || !self.keeping.is_possible() {
            return None;
        }
        let mut session = self.session();
        if let Some(frame) = &session.frame {
            return Some((Arc::clone(frame), None));
        }
        let frame = Arc::new(FrameStatements::with_random_name()?);
        session.frame = Some(Arc::clone(&frame));
        let prepare = frame.prepare();
        Some((frame, Some(prepare)))
    }

    /// The prepared statement of this text. Where there is none, the next transaction prepares it.
    pub(super) fn find(&self, text: &'static str, types: &[Type]) -> Option<Statement> {
        let mut session = self.session();
        let found = session.prepared.get(text).cloned();
        if found.is_none() && session.prepared.len() + session.wanted.len() < MOST_KEPT {
            session.wanted.entry(text).or_insert_with(|| types.to_vec());
        }
        found
    }

    /// The statements to prepare now.
    pub(super) fn take_wanted(&self) -> HashMap<&'static str, Vec<Type>> {
        std::mem::take(&mut self.session().wanted)
    }

    pub(super) fn insert(&self, text: &'static str, statement: Statement) {
        self.session().prepared.insert(text, statement);
    }

    /// Forgets the statements that a failed transaction shows to be gone or outdated, and returns whether it has to
    /// be tried again for that reason.
    pub(super) fn forget_stale(&self, error: &Error) -> bool {
        let mut session = self.session();
        match error.code().and_then(|state| state.code().get(..2)) {
            // There is no statement of such a name.
            Some("26") => {
                *session = SessionStatements::default();
                self.keeping.note_loss();
                true
            }
            // A function or a table changed, also to another result ("cached plan must not change result type").
            Some("0A" | "42") if !session.prepared.is_empty() => {
                session.prepared.clear();
                true
            }
            Some(_) | None => false,
        }
    }

    fn session(&self) -> MutexGuard<'_, SessionStatements> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The statements at the start and at the end of transactions, under names that exist on one session alone.
#[derive(Debug)]
pub(super) struct FrameStatements {
    /// The end of their names.
    id: String,
}

impl FrameStatements {
    /// `None` where the system has no random numbers.
    fn with_random_name() -> Option<Self> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).ok()?;
        let id = id.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(Self { id })
    }

    /// Prepares them.
    fn prepare(&self) -> String {
        let id = &self.id;
        format!(
            "PREPARE daybook_all_{id} AS SELECT WHERE set_config('daybook.tenants', 'all', TRUE) IS NULL;
             PREPARE daybook_one_{id} (TEXT) AS SELECT WHERE set_config('daybook.tenant', $1, TRUE) IS NULL;
             PREPARE daybook_commit_{id} (BYTEA) AS {}",
            commit_row("$1")
        )
    }

    /// Sets the boundary of a transaction, and fails on any session but the own one.
    pub(super) fn set_access(&self, access: TenantAccess<'_>) -> String {
        match access {
            TenantAccess::All => format!("EXECUTE daybook_all_{}", self.id),
            TenantAccess::Only(tenant) => {
                format!("EXECUTE daybook_one_{} ({})", self.id, literal(tenant))
            }
        }
    }

    /// [`commit_row`] for the id in this literal.
    pub(super) fn commit_row(&self, id: &str) -> String {
        format!("EXECUTE daybook_commit_{} ({id})", self.id)
    }
}

/// The statement that leaves the row of a transaction in `commits`. A transaction that has written nothing leaves
/// no row, and so costs no write of the log and wakes no worker.
pub(super) fn commit_row(id: &str) -> String {
    format!(
        "INSERT INTO commits (id, kept) SELECT {id}, TRUE
            WHERE pg_current_xact_id_if_assigned() IS NOT NULL RETURNING at"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_keeps_a_bounded_number_of_statements() {
        let kept = KeptStatements::new(Arc::default());
        for n in 0..1_000 {
            let text: &str = Box::leak(format!("SELECT {n}").into_boxed_str());
            assert!(kept.find(text, &[]).is_none());
        }
        assert_eq!(kept.take_wanted().len(), MOST_KEPT);
    }

    #[test]
    fn nothing_is_kept_before_the_schema_is_complete_and_after_names_were_missing_too_often() {
        let keeping = Arc::<StatementKeeping>::default();
        let kept = KeptStatements::new(Arc::clone(&keeping));
        assert!(kept.frame().is_none());
        keeping.begin();
        for _ in 0..MOST_LOSSES {
            assert!(kept.frame().is_some());
            keeping.note_loss();
        }
        assert!(kept.frame().is_none());
    }
}
