//! Where the texts of a session stand, and how each is replaced: statements that both databases understand.
//!
//! A text is replaced by its value, wherever the session has it. So it needs no key, a text that has changed meanwhile
//! stays, and repeating a replacement changes nothing.
//!
//! Not here: events and evidence, which have more than one text and are indexed.

use daybook_domain::rescan::{StoredEvent, TextField};
use daybook_domain::working::LogEntry;

/// Rows of a session, with its number as parameter 1.
const OF_SESSION: &str = "session_no = ?1";
/// The imports that added to a session.
const OF_IMPORTS: &str = "import_no IN (SELECT import_no FROM import_ranges WHERE session_no = ?1)";
/// The job or the gaps of a session's extraction.
const OF_EXTRACTION: &str = "kind = 'extract' AND (tenant, owner, name) IN
    (SELECT tenant, agent, host_id FROM sessions JOIN tenants USING (tenant_no)
        WHERE session_no = ?1)";

/// The column that holds a field.
struct TextColumn {
    table: &'static str,
    column: &'static str,
    /// Selects a session's rows.
    rows: &'static str,
    /// The other columns of a key that this one is part of: a row that has the new key already takes the place of the
    /// replaced one.
    key: &'static [&'static str],
}

const fn plain(table: &'static str, column: &'static str) -> TextColumn {
    TextColumn {
        table,
        column,
        rows: OF_SESSION,
        key: &[],
    }
}

const fn key_part(
    table: &'static str,
    column: &'static str,
    key: &'static [&'static str],
) -> TextColumn {
    TextColumn {
        table,
        column,
        rows: OF_SESSION,
        key,
    }
}

const fn of_extraction(table: &'static str) -> TextColumn {
    TextColumn {
        table,
        column: "failure_message",
        rows: OF_EXTRACTION,
        key: &[],
    }
}

fn column_of(field: TextField) -> TextColumn {
    match field {
        TextField::ForkedFrom => plain("sessions", "forked_from"),
        TextField::User => plain("sessions", "user"),
        TextField::Surface => plain("sessions", "surface"),
        TextField::RoomId => plain("sessions", "room_id"),
        TextField::ThreadId => plain("sessions", "thread_id"),
        TextField::Team => plain("sessions", "team"),
        TextField::FiledIn => plain("sessions", "filed_in"),
        TextField::FirstSource => plain("sessions", "first_source"),
        TextField::ThreadCustom => plain("threads", "custom"),
        TextField::SourcePath => key_part("sources", "path", &["tenant_no"]),
        TextField::SourceBadLine => plain("sources", "first_bad_why"),
        TextField::SourceState => plain("sources", "state"),
        TextField::SourceFailure => plain("sources", "failure"),
        TextField::SourceClaimedId => plain("sources", "claimed_id"),
        TextField::ImportedPath => key_part("import_sources", "path", &["tenant_no", "import_no"]),
        TextField::ImportedBadLine => plain("import_sources", "first_bad_why"),
        TextField::ImportedState => plain("import_sources", "state"),
        TextField::ImportedFailure => plain("import_sources", "failure"),
        TextField::ImportedClaimedId => plain("import_sources", "claimed_id"),
        TextField::ImportWhat => TextColumn {
            table: "imports",
            column: "what",
            rows: OF_IMPORTS,
            key: &[],
        },
        TextField::RemoteRoot => {
            key_part("root_remotes", "root", &["event_no", "remote", "shown_by"])
        }
        TextField::RemoteName => plain("root_remotes", "remote"),
        TextField::Digest => plain("extractions", "digest"),
        TextField::StagedWrites => plain("extractions", "writes"),
        TextField::Quarantined => plain("extractions", "quarantined"),
        TextField::Retraction => plain("retractions", "text"),
        TextField::RetractionRoot => plain("retractions", "root"),
        TextField::JobFailure => of_extraction("jobs"),
        TextField::GapFailure => of_extraction("gaps"),
    }
}

/// Events of the log, as a rescan reads them.
pub(crate) fn stored_events(entries: Vec<LogEntry>) -> Vec<StoredEvent> {
    let stored = entries.into_iter().map(|logged| StoredEvent {
        event: logged.event,
        entry: logged.entry,
    });
    stored.collect()
}

/// Reads the values of a field, each once. Parameter 1 is the session's number.
pub(crate) fn select(field: TextField) -> String {
    let TextColumn {
        table,
        column,
        rows,
        ..
    } = column_of(field);
    format!(
        "SELECT DISTINCT \"{column}\" AS value FROM {table} WHERE {rows} AND \"{column}\" IS NOT NULL"
    )
}

/// Replaces a value of a field, in the order of the statements. Parameters are the session's number, the value, and
/// what takes its place.
pub(crate) fn replace(field: TextField) -> Vec<String> {
    let TextColumn {
        table,
        column,
        rows,
        key,
    } = column_of(field);
    // A remote with a secret is no evidence of a folder's project.
    if field == TextField::RemoteName {
        return vec![format!(
            "DELETE FROM {table} WHERE {rows} AND \"{column}\" = ?2 AND \"{column}\" <> ?3"
        )];
    }
    let mut statements = Vec::new();
    if !key.is_empty() {
        let same: String = key
            .iter()
            .map(|part| format!(" AND other.{part} = {table}.{part}"))
            .collect();
        statements.push(format!(
            "DELETE FROM {table} WHERE {rows} AND \"{column}\" = ?2 AND EXISTS
                (SELECT 1 FROM {table} AS other WHERE other.\"{column}\" = ?3{same})"
        ));
    }
    statements.push(format!(
        "UPDATE {table} SET \"{column}\" = ?3 WHERE {rows} AND \"{column}\" = ?2"
    ));
    statements
}

/// [`select`] or [`replace`] in the dialect of PostgreSQL.
#[cfg(feature = "postgres")]
pub(crate) fn with_dollars(statement: &str) -> String {
    statement.replace('?', "$")
}
