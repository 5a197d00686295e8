//! What can go wrong in a store, sorted by what the caller can do about it.

/// A cause whose type does not matter to the caller.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Failures of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Safe to repeat.
    #[error("the store is busy")]
    Busy(#[source] BoxError),
    /// The disk or the server refused; repeating helps only after a person has acted.
    #[error("the store cannot be used: {what}")]
    Unavailable {
        /// What was being done, to which file or server.
        what: String,
        /// The cause.
        #[source]
        source: BoxError,
    },
    /// The schema was written by a newer Daybook.
    #[error(
        "{what} was written by a newer daybook (schema {found}, this one knows {known}); update daybook"
    )]
    TooNew {
        /// The file or database.
        what: String,
        /// Its schema version.
        found: u32,
        /// The newest version that this binary reads.
        known: u32,
    },
    /// The request names something that does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The request breaks a stated bound or rule; sending it again will not help.
    #[error("refused: {0}")]
    Refused(String),
    /// A row violates one of our own invariants.
    #[error("the store is corrupt: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// Whether the store as a whole cannot be used now, other data included. The other failures concern
    /// the requested data alone: the caller reports it and continues with the rest.
    #[must_use]
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Unavailable { .. } | Self::TooNew { .. } => true,
            Self::NotFound(_) | Self::Refused(_) | Self::Corrupt(_) => false,
        }
    }
}
