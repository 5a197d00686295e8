//! How a transaction ended: commits, and what becomes of one whose answer was lost.
//!
//! The server remembers how each transaction ended, by a number. Where another server took over, the
//! same number may have been given to somebody else; so it is asked only of the one that gave it.

use daybook_domain::StoreError;

use super::PostgresStore;
use super::connection::{FIRST_WAIT, LONGEST_WAIT, Mode, Tx, Walls};
use super::fault::Fault;
use super::values::{Value, get};

/// Which server, and which history of it: promoting a standby begins a new one.
const IDENTITY: &str = "SELECT system_identifier::TEXT || CASE WHEN pg_is_in_recovery() THEN ''
        ELSE ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS identity
    FROM pg_control_system()";

/// How the transaction of a number ended.
enum Ended {
    Committed,
    Aborted,
    /// Its server process has not noticed yet that nobody listens.
    NotYet,
    /// Another server answers.
    Elsewhere,
}

impl PostgresStore {
    /// What the server is known by; `None` where it does not say.
    pub(super) async fn identity(&self) -> Option<String> {
        let asking = |tx: Tx| async move { get(&tx.one(IDENTITY, &[]).await?, "identity") };
        self.read(Walls::None, asking).await.ok()
    }

    /// Commits. Where the connection breaks meanwhile, the server is asked how it ended, so that
    /// nothing is done twice.
    pub(super) async fn commit(&self, mode: Mode, tx: Tx) -> Result<(), Fault> {
        let number = match mode {
            Mode::Read => None,
            Mode::Write | Mode::Migrate => tx.number().await?,
        };
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
        let mut why = format!("transaction {number} does not end").into();
        for _ in 0..self.options.tries {
            match self.outcome(number).await {
                Ok(Ended::Committed) => return Ok(true),
                Ok(Ended::Aborted) => return Ok(false),
                Ok(Ended::NotYet) => {}
                Ok(Ended::Elsewhere) => {
                    why = "another server has taken over meanwhile".into();
                    break;
                }
                Err(fault) => why = fault.into_error(&self.server).into(),
            }
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
        // Not one of the faults after which the work is done again.
        Err(Fault::Store(StoreError::Unavailable {
            what: format!(
                "{}: nobody knows whether a change was kept; doing it again is safe",
                self.server
            ),
            source: why,
        }))
    }

    async fn outcome(&self, number: &str) -> Result<Ended, Fault> {
        let client = self.pool.get().await?;
        let mut values = vec![Value::from(number)];
        let ask = match &self.identity {
            None => "SELECT TRUE AS here, pg_xact_status($1::TEXT::xid8) AS outcome".to_owned(),
            // In one statement: a pooler may send the next one to another server.
            Some(known) => {
                values.push(Value::from(known.as_str()));
                format!(
                    "SELECT identity = $2 AS here, CASE WHEN identity = $2
                        THEN pg_xact_status($1::TEXT::xid8) END AS outcome
                    FROM ({IDENTITY}) AS server"
                )
            }
        };
        let typed: Vec<_> = values.iter().map(Value::typed).collect();
        let rows = client.query_typed(&ask, &typed).await?;
        let Some(row) = rows.first() else {
            return Ok(Ended::NotYet);
        };
        if !get::<bool>(row, "here")? {
            return Ok(Ended::Elsewhere);
        }
        let outcome: Option<String> = get(row, "outcome")?;
        Ok(match outcome.as_deref() {
            Some("committed") => Ended::Committed,
            Some("aborted") => Ended::Aborted,
            Some(_) | None => Ended::NotYet,
        })
    }
}
