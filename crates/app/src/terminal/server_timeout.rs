//! How long a command waits for a database server.

/// How long one call of a database server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ServerTimeout {
    /// For background work: long enough for restarts of the server, and reported while it waits.
    #[default]
    Background,
    /// For a person or an agent that waits for an answer: three seconds.
    Interactive,
}
