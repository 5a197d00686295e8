//! Faults of a server or its connection, and the remedy for each.

use std::fmt;
use std::time::Duration;

use daybook_domain::StoreError;
use deadpool::managed::TimeoutType;
use tokio_postgres::Error;
use tokio_postgres::error::{Severity, SqlState};

use super::dial::trust_advice;

type PoolError = deadpool::managed::PoolError<Error>;

/// Advice for a server that takes no changes.
pub(super) const READ_ONLY: &str = "it can only be read: either it is a standby that waits to take \
    over, and the address of the one that can be written is needed, or its operator has set \
    default_transaction_read_only";

/// An error inside a transaction.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(Error),
    /// A prepared statement is gone, or no longer fits the schema.
    Stale(Error),
    Pool(PoolError),
    /// The server did not answer for so long.
    Silent(Duration),
    /// A lock was not free in time; holds a description of its holder, if the server shows it.
    Locked(Option<String>),
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

/// The remedy for a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Another transaction was in the way: try again.
    Again,
    /// The connection broke; a new one may work.
    Reconnect,
    /// It took too long; trying at once would take as long.
    Later,
    /// The server refuses to work until a person acts.
    Act,
    /// Something is longer than the server can keep or find, such as a name of several KB.
    Shorten,
    /// The store is closed: its content was moved, as the message states.
    Move,
    None,
}

impl Fault {
    /// A row that breaks one of our own invariants.
    pub(super) fn corrupt(what: impl Into<String>) -> Self {
        Self::Store(StoreError::Corrupt(what.into()))
    }

    pub(super) fn remedy(&self) -> Remedy {
        match self {
            Self::Store(_) => Remedy::None,
            Self::Locked(_) | Self::Stale(_) => Remedy::Again,
            Self::Silent(_) => Remedy::Act,
            Self::Pool(PoolError::Timeout(TimeoutType::Wait)) => Remedy::Later,
            Self::Pool(_) => Remedy::Reconnect,
            Self::Sql(error) => match error.code() {
                Some(state) => remedy_of(state),
                None if trust_advice(error).is_some() => Remedy::Act,
                None if error.is_closed() || is_io(error) => Remedy::Reconnect,
                None => Remedy::None,
            },
        }
    }

    /// Whether the server itself reports that the transaction failed. Not where it, or a pooler, ends the
    /// connection: that may happen after a commit, too.
    pub(super) fn is_rolled_back(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        let Some(reported) = error.as_db_error() else {
            return false;
        };
        let class = reported.code().code().get(..2);
        reported.parsed_severity() == Some(Severity::Error)
            && !matches!(class, Some("08" | "57" | "58"))
    }

    /// Whether the error only reports that an earlier statement failed.
    pub(super) fn is_follow_up(&self) -> bool {
        matches!(self, Self::Sql(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION))
    }

    /// Converts the fault to the error that the store's caller gets; `server` names the database.
    pub(super) fn into_error(self, server: &str) -> StoreError {
        let remedy = self.remedy();
        let source = match self {
            Self::Store(error) => return error,
            Self::Sql(error) if advice(&error, remedy).is_none() => error.into(),
            Self::Locked(_) => format!("{server}: {self}").into(),
            Self::Sql(_) | Self::Stale(_) | Self::Pool(_) | Self::Silent(_) => {
                self.to_string().into()
            }
        };
        match remedy {
            Remedy::Again | Remedy::Later => StoreError::Busy(source),
            Remedy::Reconnect | Remedy::Act => StoreError::Unavailable {
                what: server.to_owned(),
                source,
            },
            Remedy::Shorten | Remedy::Move => StoreError::Refused(with_causes(source.as_ref())),
            Remedy::None => {
                StoreError::Corrupt(format!("{server}: {}", with_causes(source.as_ref())))
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => f.write_str(&with_causes(error)),
            Self::Sql(error) => match advice(error, self.remedy()) {
                Some(advice) => write!(f, "{}; {advice}", with_causes(error)),
                None => f.write_str(&with_causes(error)),
            },
            Self::Stale(error) => f.write_str(&with_causes(error)),
            Self::Pool(error) => f.write_str(&with_causes(error)),
            Self::Silent(time) => write!(
                f,
                "the server has not answered for {} s; see whether it runs and can be reached",
                time.as_secs().max(1)
            ),
            Self::Locked(Some(holder)) => {
                write!(f, "another session holds a lock that is needed: {holder}")
            }
            Self::Locked(None) => f.write_str("another session holds a lock that is needed"),
        }
    }
}

/// What a person can do about a server's error.
fn advice(error: &Error, remedy: Remedy) -> Option<&'static str> {
    match error.code() {
        Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Some(READ_ONLY),
        Some(&SqlState::DISK_FULL) => {
            Some("free space on the server's disk; waiting work then continues by itself")
        }
        Some(&SqlState::TOO_MANY_CONNECTIONS) => {
            Some("raise max_connections on the server, or put a pooler before it")
        }
        None if remedy == Remedy::Act => trust_advice(error),
        _ if remedy == Remedy::Reconnect => Some("see whether the server runs and can be reached"),
        _ => None,
    }
}

/// An error with its causes: the outermost alone is only "db error".
fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut reported = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        reported = format!("{reported}: {error}");
        cause = error.source();
    }
    reported
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
        // Two transactions inserted the same row at once: the second one finds it at its next try.
        | SqlState::UNIQUE_VIOLATION => Remedy::Again,
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        // This machine paused in the middle.
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => Remedy::Reconnect,
        SqlState::QUERY_CANCELED => Remedy::Later,
        SqlState::INSUFFICIENT_PRIVILEGE | SqlState::READ_ONLY_SQL_TRANSACTION => Remedy::Act,
        SqlState::RAISE_EXCEPTION => Remedy::Move,
        _ => match state.code().get(..2) {
            Some("54") => Remedy::Shorten,
            Some("08") => Remedy::Reconnect,
            // Authentication, the database, resources, the operator, the system.
            Some("28" | "3D" | "53" | "57" | "58") => Remedy::Act,
            _ => Remedy::None,
        },
    }
}
