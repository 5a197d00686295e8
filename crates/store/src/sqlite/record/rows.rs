//! The kinds of lines in a part of the record: how each is selected from the database, and inserted into a new one.
//!
//! A line names sessions, scopes and folders by their names, so that it stands for itself. Where the order of arrival
//! decides between equals, it carries its row's number. Nothing behind the done watermark of a session is recorded:
//! such events are read and extracted again.

/// A kind of line. The column aliases of `select` are the line's fields and the parameters of `insert`.
pub(super) struct LineKind {
    /// What the field `row` holds.
    pub(super) name: &'static str,
    /// Takes the number of the part (`?1`) and, for sessions, the last position that is done (`?2`).
    pub(super) select: &'static str,
    /// Statements that are run in order. The last one must change a row, or the line counts as bad.
    pub(super) insert: &'static [&'static str],
}

/// Finds or makes the session in the fields `by_agent` and `by_host_id`.
const CITED_SESSION: &str =
    "INSERT OR IGNORE INTO sessions (tenant_no, agent, host_id, known, kind, memory_off,
        first_at, last_at, events, last_line)
     SELECT tenant_no, :by_agent, :by_host_id, 0, 'root', 0, 0, 0, 0, 0 FROM tenants
     WHERE tenant = :tenant AND :by_host_id IS NOT NULL";

const IMPORT: &str =
    "INSERT OR IGNORE INTO imports (import_no, tenant_no, began_at, ended_at, what, events)
     SELECT :import_no, tenant_no, :began_at, :ended_at, :what, :events FROM sessions
     WHERE session_no = :session";

const TENANT: &str = "INSERT OR IGNORE INTO tenants (tenant) VALUES (:tenant)";

/// Who a session is, and how far it is done. First and last line of its part, so that damage to one of them costs
/// nothing.
pub(super) const SESSION: LineKind = LineKind {
    name: "session",
    select: "SELECT session_no AS no, tenants.tenant AS tenant, agent, host_id, label, sessions.kind AS kind, memory_off,
            switched_off, kept_on, forked_from, sessions.user AS user, surface, room_id,
            thread_id, team, filed_in, first_at, last_at, ?2 AS done, jobs.job_no IS NOT NULL AS has_job, ifnull(jobs.redo, 0) AS redo, passed,
            ifnull((SELECT line FROM events WHERE event_no = (?1 << 32) | ?2), 0) AS last_line,
            first_source, rules, rescan, pollution
        FROM sessions JOIN tenants USING (tenant_no)
        LEFT JOIN jobs ON jobs.kind = 'extract' AND jobs.tenant = tenants.tenant
            AND jobs.owner = sessions.agent AND jobs.name = sessions.host_id
        WHERE session_no = ?1 AND known",
    insert: &[
        TENANT,
        "INSERT OR IGNORE INTO sessions (session_no, tenant_no, agent, host_id, known, label, kind, memory_off,
            switched_off, kept_on, forked_from, user, surface, room_id, thread_id, team, filed_in,
            first_at, last_at, events, passed, last_line, first_source, rules, rescan, pollution)
         SELECT :no, tenant_no, :agent, :host_id, 1, :label, :kind, :memory_off, :switched_off, :kept_on,
            :forked_from, :user, :surface, :room_id, :thread_id, :team, :filed_in, :first_at, :last_at,
            :done, :passed, :last_line,
            :first_source, :rules, :rescan, :pollution
         FROM tenants WHERE tenant = :tenant",
    ],
};

/// What else is recorded of a session, in this order; its events apart.
pub(super) const OF_SESSION: [LineKind; 11] = [
    LineKind {
        name: "place",
        select: "SELECT root, branch FROM session_places JOIN places USING (place_no)
            JOIN roots USING (root_no) WHERE session_no = ?1 ORDER BY place_no",
        insert: &[
            "INSERT OR IGNORE INTO roots (tenant_no, root)
             SELECT tenant_no, :root FROM sessions WHERE session_no = :session",
            "INSERT OR IGNORE INTO places (root_no, branch) SELECT root_no, :branch FROM roots
             JOIN sessions USING (tenant_no) WHERE session_no = :session AND root = :root",
            "INSERT OR IGNORE INTO session_places (session_no, place_no) SELECT session_no, place_no
             FROM sessions JOIN roots USING (tenant_no) JOIN places USING (root_no)
             WHERE session_no = :session AND root = :root AND branch IS :branch",
        ],
    },
    LineKind {
        name: "word",
        select: "SELECT event_no & 4294967295 AS seq, hex(id) AS id, line, origin, at, tool, call, status,
                sidechain, text, root, branch
            FROM events JOIN sessions USING (session_no) LEFT JOIN places USING (place_no)
            LEFT JOIN roots USING (root_no)
            WHERE session_no = ?1 AND sessions.kind = 'memory_agent' AND event_no <= (?1 << 32) | ?2
                AND NOT EXISTS (SELECT 1 FROM sources WHERE sources.session_no = ?1)
            ORDER BY event_no",
        insert: &[
            "INSERT OR REPLACE INTO events (event_no, session_no, id, line, origin, at, tool, call, status,
                sidechain, place_no, text)
             SELECT (session_no << 32) | :seq, session_no, unhex(:id), :line, :origin, :at, :tool, :call,
                :status, :sidechain, (SELECT place_no FROM places JOIN roots USING (root_no)
                    WHERE roots.tenant_no = sessions.tenant_no AND root = :root AND branch IS :branch),
                :text
             FROM sessions WHERE session_no = :session",
        ],
    },
    LineKind {
        name: "retracts",
        select: "SELECT event_no & 4294967295 AS seq, target FROM event_retractions
            WHERE event_no BETWEEN ?1 << 32 AND (?1 << 32) | ?2 ORDER BY event_no, target",
        insert: &[
            "INSERT OR IGNORE INTO event_retractions (event_no, target)
             VALUES ((:session << 32) | :seq, :target)",
        ],
    },
    LineKind {
        name: "remote",
        select: "SELECT event_no & 4294967295 AS seq, root, remote, shown_by FROM root_remotes
            WHERE event_no BETWEEN ?1 << 32 AND (?1 << 32) | ?2 ORDER BY event_no, root, remote, shown_by",
        insert: &[
            "INSERT OR IGNORE INTO root_remotes (event_no, session_no, root, remote, shown_by)
             VALUES ((:session << 32) | :seq, :session, :root, :remote, :shown_by)",
        ],
    },
    LineKind {
        name: "use",
        select: "SELECT event_no & 4294967295 AS seq, uses.kind AS kind, tenant, sessions.agent AS by_agent,
                sessions.host_id AS by_host_id, hex(by_event) AS by_event, by_door, at
            FROM uses LEFT JOIN sessions ON sessions.session_no = by_session
            LEFT JOIN tenants USING (tenant_no)
            WHERE event_no BETWEEN ?1 << 32 AND (?1 << 32) | ?2
            ORDER BY event_no, uses.kind, by_session, by_door",
        insert: &[
            CITED_SESSION,
            "INSERT OR IGNORE INTO uses (event_no, session_no, kind, by_session, by_event, by_door, at)
             VALUES ((:session << 32) | :seq, :session, :kind,
                ifnull((SELECT session_no FROM sessions JOIN tenants USING (tenant_no)
                    WHERE tenant = :tenant AND host_id = :by_host_id AND agent = :by_agent), 0),
                unhex(:by_event), :by_door, :at)",
        ],
    },
    // `reading` is 0: the file is read from its beginning again, which restores the words of its events.
    LineKind {
        name: "source",
        select: "SELECT path, format, size, modified, \"offset\", lines, fingerprint_head, fingerprint_tail,
                bad_lines, first_bad_line, first_bad_why, secrets, state, failure, claimed_id
            FROM sources WHERE session_no = ?1 ORDER BY path",
        insert: &[
            "INSERT OR IGNORE INTO sources (tenant_no, path, format, session_no, size, modified, \"offset\",
                lines, fingerprint_head, fingerprint_tail, bad_lines, first_bad_line, first_bad_why,
                secrets, state, failure, reading, claimed_id)
             SELECT tenant_no, :path, :format, :session, :size, :modified, :offset, :lines,
                :fingerprint_head, :fingerprint_tail, :bad_lines, :first_bad_line, :first_bad_why,
                :secrets, :state, :failure, 0, :claimed_id
             FROM sessions WHERE session_no = :session",
        ],
    },
    LineKind {
        name: "import",
        select: "SELECT import_no, began_at, ended_at, what, imports.events AS events, from_seq,
                min(to_seq, ?2) AS to_seq
            FROM import_ranges JOIN imports USING (import_no)
            WHERE session_no = ?1 AND (from_seq <= ?2 OR to_seq < from_seq) ORDER BY import_no, from_seq",
        insert: &[
            IMPORT,
            "INSERT OR IGNORE INTO import_ranges (import_no, session_no, from_seq, to_seq)
             VALUES (:import_no, :session, :from_seq, :to_seq)",
        ],
    },
    LineKind {
        name: "source_before",
        select: "SELECT import_no, began_at, ended_at, what, imports.events AS events, path, seen, format,
                session_no IS NOT NULL AS of_session, size, modified,
                \"offset\", lines, fingerprint_head, fingerprint_tail, bad_lines, first_bad_line,
                first_bad_why, secrets, state, failure, claimed_id
            FROM import_sources JOIN imports USING (import_no)
            WHERE path IN (SELECT path FROM sources WHERE session_no = ?1)
                AND import_sources.tenant_no = (SELECT tenant_no FROM sessions WHERE session_no = ?1)
            ORDER BY import_no, path",
        insert: &[
            IMPORT,
            "INSERT OR IGNORE INTO import_sources (tenant_no, import_no, path, seen, format, session_no, size,
                modified, \"offset\", lines, fingerprint_head, fingerprint_tail, bad_lines,
                first_bad_line, first_bad_why, secrets, state, failure, reading, claimed_id)
             SELECT tenant_no, :import_no, :path, :seen, :format, iif(:of_session, session_no, NULL), :size,
                :modified, :offset, :lines, :fingerprint_head, :fingerprint_tail, :bad_lines,
                :first_bad_line, :first_bad_why, :secrets, :state, :failure, 0, :claimed_id
             FROM sessions WHERE session_no = :session",
        ],
    },
    LineKind {
        name: "extraction",
        select: "SELECT extraction_no, generation, from_seq, to_seq, digest, writes, extractor, at,
                fallback_for, fallback_until, quarantined
            FROM extractions WHERE session_no = ?1 AND live AND from_seq <= ?2 ORDER BY extraction_no",
        insert: &[
            "INSERT OR IGNORE INTO extractions (extraction_no, session_no, generation, live, from_seq, to_seq,
                digest, writes, extractor, at, fallback_for, fallback_until, quarantined)
             VALUES (:extraction_no, :session, :generation, 1, :from_seq, :to_seq, :digest, :writes,
                :extractor, :at, :fallback_for, :fallback_until, :quarantined)",
        ],
    },
    LineKind {
        name: "evidence",
        select: "SELECT evidence_no, observation_no, tenant, scopes.kind AS scope_kind, scopes.name AS scope,
                observations.id AS id, observations.kind AS kind, events, generation, first_seq,
                last_seq, lines, label, at, branch, root, stated, quoted, evidence.text AS text,
                evidence.context AS context, evidence.subject AS subject, evidence.tokens AS tokens,
                evidence.origin AS origin
            FROM evidence JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
            JOIN tenants USING (tenant_no)
            WHERE session_no = ?1 AND live AND first_seq <= ?2 ORDER BY evidence_no",
        insert: &[
            "INSERT OR IGNORE INTO scopes (tenant_no, kind, name, revision)
             SELECT tenant_no, :scope_kind, :scope, 0 FROM tenants WHERE tenant = :tenant",
            "INSERT OR IGNORE INTO observations (observation_no, scope_no, id, kind, holds, text, tokens)
             SELECT :observation_no, scope_no, :id, :kind, 0, :text, '' FROM scopes
             JOIN tenants USING (tenant_no)
             WHERE tenant = :tenant AND scopes.kind = :scope_kind AND scopes.name = :scope",
            "INSERT OR IGNORE INTO evidence (evidence_no, observation_no, session_no, events, generation, live,
                first_seq, last_seq, lines, label, at, branch, root, stated, quoted, text, context,
                subject, tokens, origin)
             SELECT :evidence_no, observation_no, :session, :events, :generation, 1, :first_seq, :last_seq,
                :lines, :label, :at, :branch, :root, :stated, :quoted, :text, :context, :subject,
                :tokens, :origin
             FROM observations JOIN scopes USING (scope_no) JOIN tenants USING (tenant_no)
             WHERE tenant = :tenant AND scopes.kind = :scope_kind AND scopes.name = :scope AND id = :id",
        ],
    },
    LineKind {
        name: "gap",
        select: "SELECT from_seq, to_seq, failure_class, failure_message, gaps.at AS at, engine
            FROM gaps JOIN sessions ON owner = agent AND name = host_id JOIN tenants USING (tenant_no)
            WHERE session_no = ?1 AND gaps.kind = 'extract' AND gaps.tenant = tenants.tenant
                AND from_seq <= ?2 ORDER BY from_seq",
        insert: &[
            "INSERT OR IGNORE INTO gaps (kind, tenant, owner, name, from_seq, to_seq, failure_class,
                failure_message, at, engine)
             SELECT 'extract', tenant, agent, host_id, :from_seq, :to_seq, :failure_class,
                :failure_message, :at, :engine
             FROM sessions JOIN tenants USING (tenant_no) WHERE session_no = :session",
        ],
    },
];

/// Which memory a scope is; first and last line of its part. `written` is 1 once its files were consolidated.
pub(super) const SCOPE: LineKind = LineKind {
    name: "scope",
    select: "SELECT scope_no AS no, tenants.tenant AS tenant, scopes.kind AS kind, scopes.name AS name, revision,
            selection, proposals, ifnull(done, 0) > 0 AS written
        FROM scopes JOIN tenants USING (tenant_no)
        LEFT JOIN jobs ON jobs.kind = 'consolidate' AND jobs.tenant = tenants.tenant
            AND jobs.owner = scopes.kind AND jobs.name = scopes.name
        WHERE scope_no = ?1",
    insert: &[
        TENANT,
        "INSERT OR IGNORE INTO scopes (scope_no, tenant_no, kind, name, revision, selection, proposals)
         SELECT :no, tenant_no, :kind, :name, max(:revision, 1), :selection, :proposals FROM tenants
         WHERE tenant = :tenant",
    ],
};

/// What else is recorded of a scope.
pub(super) const OF_SCOPE: [LineKind; 2] = [
    LineKind {
        name: "retraction",
        select: "SELECT id, tenant, agent AS by_agent, host_id AS by_host_id, seq, retractions.kind AS kind,
                text, root
            FROM retractions JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
            WHERE scope_no = ?1 ORDER BY id, session_no, seq",
        insert: &[
            CITED_SESSION,
            "INSERT OR IGNORE INTO retractions (scope_no, id, session_no, seq, kind, text, root)
             SELECT :scope, :id, session_no, :seq, :kind, :text, :root
             FROM sessions JOIN tenants USING (tenant_no)
             WHERE tenant = :tenant AND host_id = :by_host_id AND agent = :by_agent",
        ],
    },
    LineKind {
        name: "ended",
        select: "SELECT id, later, ended_because, ended_at FROM observations
            WHERE scope_no = ?1 AND later IS NOT NULL ORDER BY id",
        insert: &[
            "UPDATE observations SET later = :later, ended_because = :ended_because, ended_at = :ended_at
             WHERE scope_no = :scope AND id = :id",
        ],
    },
];

/// What is recorded of a tenant.
pub(super) const OF_TENANT: [LineKind; 3] = [
    LineKind {
        name: "project",
        select: "SELECT tenant, identity, key, guessed FROM projects JOIN tenants USING (tenant_no)
            WHERE tenant_no = ?1 ORDER BY identity",
        insert: &[
            TENANT,
            "INSERT OR IGNORE INTO projects (tenant_no, identity, key, guessed)
             SELECT tenant_no, :identity, :key, :guessed FROM tenants WHERE tenant = :tenant",
        ],
    },
    LineKind {
        name: "root",
        select: "SELECT tenant, root, project, derived FROM roots JOIN tenants USING (tenant_no)
            WHERE tenant_no = ?1 ORDER BY root_no",
        insert: &[
            TENANT,
            "INSERT INTO roots (tenant_no, root, project, derived)
             SELECT tenant_no, :root, :project, :derived FROM tenants WHERE tenant = :tenant
             ON CONFLICT DO UPDATE SET project = excluded.project, derived = excluded.derived",
        ],
    },
    LineKind {
        name: "spent",
        select: "SELECT tenant, payer, user, period, key, tokens, money FROM spend_purses
            JOIN tenants USING (tenant_no) WHERE tenant_no = ?1 ORDER BY payer, user, period, key",
        insert: &[
            TENANT,
            "INSERT OR IGNORE INTO spend_purses (tenant_no, payer, user, period, key, tokens, money)
             SELECT tenant_no, :payer, :user, :period, :key, :tokens, :money FROM tenants
             WHERE tenant = :tenant",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{SqliteOptions, SqliteStore};
    use crate::transfer::TABLES;

    /// Recorded tables, and their columns that a restore leaves out: it makes them anew, or reads them again.
    const RECORDED: [(&str, &[&str]); 13] = [
        ("sessions", &[]),
        ("projects", &[]),
        ("roots", &["root_no"]),
        ("session_places", &[]),
        ("events", &["entry"]),
        ("event_retractions", &[]),
        ("root_remotes", &[]),
        ("uses", &[]),
        ("sources", &[]),
        ("extractions", &[]),
        ("evidence", &[]),
        ("retractions", &[]),
        ("spend_purses", &[]),
    ];

    /// A part of the record is written for each session, so a statement that reads a whole table makes a large import slow.
    #[test]
    fn no_line_is_found_by_reading_a_whole_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daybook.db");
        drop(SqliteStore::open(&path, SqliteOptions::default()).unwrap());
        let database = rusqlite::Connection::open(&path).unwrap();
        let kinds = OF_SESSION.iter().chain(&OF_SCOPE).chain(&OF_TENANT);
        for kind in kinds.chain([&SESSION, &SCOPE]) {
            let explain = format!("EXPLAIN QUERY PLAN {}", kind.select);
            let mut plan = database.prepare(&explain).unwrap();
            let numbers = [1, 1];
            let given = rusqlite::params_from_iter(&numbers[..plan.parameter_count()]);
            let steps = plan.query_map(given, |row| row.get(3)).unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            let scans = steps.iter().any(|step| step.starts_with("SCAN"));
            assert!(!scans, "{}: {steps:?}", kind.name);
        }
    }

    #[test]
    fn every_column_of_a_recorded_table_is_recorded() {
        let kinds = OF_SESSION.iter().chain(&OF_SCOPE).chain(&OF_TENANT);
        let inserts: Vec<&str> = kinds
            .chain([&SESSION, &SCOPE])
            .flat_map(|kind| kind.insert.iter().copied())
            .collect();
        for (name, left_out) in RECORDED {
            let table = TABLES.iter().find(|table| table.name == name);
            let columns = table
                .expect("a table")
                .columns
                .iter()
                .map(|column| column.name);
            let into = format!("INTO {name} (");
            for column in columns.filter(|column| !left_out.contains(column)) {
                let names = |sql: &&str| {
                    let list = sql
                        .split(&into)
                        .nth(1)
                        .and_then(|rest| rest.split(')').next());
                    let mut words = list
                        .unwrap_or_default()
                        .split(|c: char| !(c == '_' || c.is_alphanumeric()));
                    words.any(|word| word == column)
                };
                assert!(inserts.iter().any(names), "{name}.{column} is not recorded");
            }
        }
    }
}
