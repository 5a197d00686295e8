//! Detects whether a connection has a server session of its own, or a pooler lends it one for each transaction.
//!
//! The session begins with a setting that no server knows by itself. A pooler in transaction mode refuses it, or
//! drops it; a server's own session keeps it to its end.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error};

/// The setting with which an own session begins.
const SETTING: &str = "-c daybook.session=own";

/// The address with settings of the session: the one that detects a pooler, then `more`.
pub(super) fn with_settings(config: &Config, more: &str) -> Config {
    let given = config.get_options().unwrap_or_default();
    let mut config = config.clone();
    config.options(format!("{given} {SETTING} {more}").trim());
    config
}

/// Whether the session has the setting, and is not one that a pooler has opened for others.
pub(super) async fn has_setting(client: &Client) -> Result<bool, Error> {
    let ask = "SELECT coalesce(current_setting('daybook.session', TRUE), '') = 'own'";
    let rows = client.query_typed(ask, &[]).await?;
    rows.first().map_or(Ok(false), |row| row.try_get(0))
}

/// Whether a connection failed because a pooler refuses settings at its start.
pub(super) fn is_refused(error: &Error) -> bool {
    error.code() == Some(&SqlState::PROTOCOL_VIOLATION)
}
