//! Checks references between rows: each references existing rows, and derived values agree with their source.

use rusqlite::Connection;

use super::super::connection::Fault;
use super::super::raw_values::format_key;
use super::FINDINGS;
use crate::damage::Damage;

/// A column whose values are keys of another table.
pub(in crate::sqlite) struct Reference {
    pub(in crate::sqlite) table: &'static str,
    /// What identifies a row for people.
    key: &'static str,
    pub(in crate::sqlite) column: &'static str,
    pub(in crate::sqlite) target: &'static str,
}

const fn names(
    table: &'static str,
    key: &'static str,
    column: &'static str,
    target: &'static str,
) -> Reference {
    Reference {
        table,
        key,
        column,
        target,
    }
}

/// All references; a column has the same name in both tables.
pub(in crate::sqlite) const REFERENCES: [Reference; 21] = [
    names("sessions", "session_no", "tenant_no", "tenants"),
    names("events", "event_no", "session_no", "sessions"),
    names("events", "event_no", "place_no", "places"),
    names("event_retractions", "event_no", "event_no", "events"),
    names("uses", "event_no", "event_no", "events"),
    names("threads", "session_no", "session_no", "sessions"),
    names("projects", "identity", "tenant_no", "tenants"),
    names("roots", "root_no", "tenant_no", "tenants"),
    names("places", "place_no", "root_no", "roots"),
    names("session_places", "session_no", "session_no", "sessions"),
    names("session_places", "session_no", "place_no", "places"),
    names("import_ranges", "import_no", "import_no", "imports"),
    names("import_sources", "path", "import_no", "imports"),
    names("jobs", "job_no", "lane_no", "lanes"),
    names("scopes", "scope_no", "tenant_no", "tenants"),
    names("extractions", "extraction_no", "session_no", "sessions"),
    names("observations", "observation_no", "scope_no", "scopes"),
    names("evidence", "evidence_no", "observation_no", "observations"),
    names("evidence", "evidence_no", "session_no", "sessions"),
    names("ix_files", "file_no", "scope_no", "scopes"),
    names("ix_entries", "entry_no", "file_no", "ix_files"),
];

/// Derived values that disagree with other rows: a query for the keys of such rows, and the reason.
const DERIVED: [(&str, &str, &str, &str); 4] = [
    (
        "events",
        "session_no",
        "SELECT event_no FROM events WHERE session_no <> event_no >> 32",
        "differs from the session that its number names",
    ),
    (
        "sessions",
        "events",
        "SELECT session_no FROM sessions WHERE events <> ifnull((SELECT max(event_no) & 4294967295
            FROM events WHERE event_no BETWEEN sessions.session_no << 32
                AND (sessions.session_no << 32) | 4294967295), 0)",
        "differs from the place of its last event",
    ),
    (
        "sessions",
        "last_at",
        "SELECT session_no FROM sessions JOIN (SELECT session_no, max(at) AS newest FROM events
            WHERE at <> 0 GROUP BY session_no) USING (session_no) WHERE last_at <> newest",
        "differs from the time of its newest event",
    ),
    (
        "observations",
        "text",
        "SELECT observations.observation_no FROM observations
            JOIN evidence ON evidence.evidence_no = observations.shown
            WHERE holds AND (observations.text <> evidence.text
                OR observations.tokens <> evidence.tokens)",
        "differs from the evidence that it shows",
    ),
];

pub(super) fn check(connection: &Connection) -> Result<Vec<Damage>, Fault> {
    let mut damage = Vec::new();
    for reference in REFERENCES {
        let Reference {
            table,
            key,
            column,
            target,
        } = reference;
        let sql = format!(
            "SELECT {key} FROM {table} WHERE {column} IS NOT NULL
             AND {column} NOT IN (SELECT {column} FROM {target}) LIMIT {FINDINGS}"
        );
        for row in keys(connection, &sql)? {
            let what = format!("references a row of {target} that does not exist");
            damage.push(Damage::of_row(table, row, what).in_column(column));
        }
    }
    for (table, column, sql, what) in DERIVED {
        for row in keys(connection, &format!("{sql} LIMIT {FINDINGS}"))? {
            damage.push(Damage::of_row(table, row, what).in_column(column));
        }
    }
    Ok(damage)
}

fn keys(connection: &Connection, sql: &str) -> Result<Vec<String>, Fault> {
    let mut find = connection.prepare(sql)?;
    let rows = find.query_map([], |row| Ok(format_key(&[row.get_ref(0)?.into()])))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
