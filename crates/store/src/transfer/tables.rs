//! The tables that are copied, in an order in which each comes after the tables that its rows reference.
//!
//! A table or column that a migration adds must be added here: a test compares this list with the
//! catalogues of both databases.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Int,
    /// A boolean: 0 or 1 in SQLite, `BOOLEAN` in PostgreSQL.
    Truth,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

/// A column that both databases have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A column whose numbers the database issues, and the PostgreSQL sequence that issues them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The column.
    pub column: &'static str,
    /// The sequence.
    pub sequence: &'static str,
}

/// A table as both databases have it, rows and columns in one order.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What identifies a row. Text is ordered by its bytes.
    pub key: &'static [&'static str],
    /// All columns that are copied.
    pub columns: &'static [Column],
    /// The source of its row numbers, if it has one.
    pub numbers: Option<Numbers>,
    /// The query that SQLite reads rows from, where the table itself has other ones.
    pub sqlite_rows: Option<&'static str>,
    /// The same for PostgreSQL.
    pub postgres_rows: Option<&'static str>,
    /// Columns that only SQLite has, and fills in as a row is written.
    pub sqlite_own: &'static [&'static str],
    /// The same for PostgreSQL, its `tenant_no` apart.
    pub postgres_own: &'static [&'static str],
    /// How PostgreSQL finds the tenant of a row that carries none: a table, and the number in both.
    pub tenant_of: Option<(&'static str, &'static str)>,
}

/// A table of plain rows.
const PLAIN: Table = Table {
    name: "",
    key: &[],
    columns: &[],
    numbers: None,
    sqlite_rows: None,
    postgres_rows: None,
    sqlite_own: &[],
    postgres_own: &[],
    tenant_of: None,
};

macro_rules! columns {
    ($($name:ident: $kind:ident),* $(,)?) => {
        &[$(Column { name: stringify!($name), kind: Kind::$kind }),*]
    };
}

macro_rules! numbers {
    ($column:literal, $sequence:literal) => {
        Some(Numbers {
            column: $column,
            sequence: $sequence,
        })
    };
}

/// Every table except the index and the histories of memory files.
pub const TABLES: [Table; 29] = [
    Table {
        name: "tenants",
        key: &["tenant_no"],
        columns: columns![tenant_no: Int, tenant: Text],
        numbers: numbers!("tenant_no", "tenants_tenant_no_seq"),
        ..PLAIN
    },
    Table {
        name: "sessions",
        key: &["session_no"],
        columns: columns![
            session_no: Int, tenant_no: Int, agent: Text, host_id: Text, known: Truth, label: Text,
            kind: Text, memory_off: Truth, switched_off: Truth, forked_from: Text, user: Text,
            surface: Text, first_at: Int, last_at: Int, events: Int, passed: Text, last_line: Int,
            first_source: Text, rules: Int, rescan: Int, pollution: Text, kept_on: Truth,
            room_id: Text, thread_id: Text, team: Text, filed_in: Text,
        ],
        numbers: numbers!("session_no", "sessions_session_no_seq"),
        sqlite_own: &["erase"],
        ..PLAIN
    },
    Table {
        name: "projects",
        key: &["tenant_no", "identity"],
        columns: columns![tenant_no: Int, identity: Text, key: Text, guessed: Truth],
        ..PLAIN
    },
    Table {
        name: "roots",
        key: &["root_no"],
        columns: columns![root_no: Int, tenant_no: Int, root: Text, project: Text, derived: Truth],
        numbers: numbers!("root_no", "roots_root_no_seq"),
        ..PLAIN
    },
    Table {
        name: "places",
        key: &["place_no"],
        columns: columns![place_no: Int, root_no: Int, branch: Text],
        numbers: numbers!("place_no", "places_place_no_seq"),
        tenant_of: Some(("roots", "root_no")),
        ..PLAIN
    },
    Table {
        name: "session_places",
        key: &["session_no", "place_no"],
        columns: columns![session_no: Int, place_no: Int],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "events",
        key: &["event_no"],
        columns: columns![
            event_no: Int, session_no: Int, id: Bytes, line: Int, origin: Text, at: Int, tool: Text,
            call: Text, status: Text, sidechain: Truth, place_no: Int, text: Text, entry: Text,
        ],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "event_retractions",
        key: &["event_no", "target"],
        columns: columns![event_no: Int, target: Int],
        tenant_of: Some(("events", "event_no")),
        ..PLAIN
    },
    Table {
        name: "root_remotes",
        key: &["event_no", "root", "remote", "shown_by"],
        columns: columns![event_no: Int, session_no: Int, root: Text, remote: Text, shown_by: Text],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "uses",
        key: &["event_no", "kind", "by_session", "by_door"],
        columns: columns![
            event_no: Int, session_no: Int, kind: Text, by_session: Int, by_event: Bytes,
            by_door: Text, at: Int,
        ],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "threads",
        key: &["session_no"],
        columns: columns![
            session_no: Int, created_at: Int, updated_at: Int, custom: Text, deleted_at: Int,
            block_generation: Int, block_reason: Text, block_at: Int, block_until: Int,
        ],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "thread_snapshots",
        key: &["session_no"],
        columns: columns![session_no: Int, seq: Int, body: Bytes],
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "sources",
        key: &["tenant_no", "path"],
        columns: columns![
            tenant_no: Int, path: Text, format: Text, session_no: Int, size: Int, modified: Int,
            offset: Int, lines: Int, fingerprint_head: Int, fingerprint_tail: Int, bad_lines: Int,
            first_bad_line: Int, first_bad_why: Text, secrets: Int, state: Text, failure: Text,
            reading: Int, claimed_id: Text,
        ],
        ..PLAIN
    },
    Table {
        name: "imports",
        key: &["import_no"],
        columns: columns![
            import_no: Int, tenant_no: Int, began_at: Int, ended_at: Int, what: Text, events: Int,
        ],
        numbers: numbers!("import_no", "imports_import_no_seq"),
        ..PLAIN
    },
    Table {
        name: "import_ranges",
        key: &["import_no", "session_no", "from_seq"],
        columns: columns![import_no: Int, session_no: Int, from_seq: Int, to_seq: Int],
        tenant_of: Some(("imports", "import_no")),
        ..PLAIN
    },
    Table {
        name: "import_sources",
        key: &["import_no", "path"],
        columns: columns![
            tenant_no: Int, import_no: Int, path: Text, seen: Truth, format: Text, session_no: Int,
            size: Int, modified: Int, offset: Int, lines: Int, fingerprint_head: Int,
            fingerprint_tail: Int, bad_lines: Int, first_bad_line: Int, first_bad_why: Text,
            secrets: Int, state: Text, failure: Text, reading: Int, claimed_id: Text,
        ],
        ..PLAIN
    },
    Table {
        name: "jobs",
        key: &["kind", "tenant", "owner", "name"],
        columns: columns![
            kind: Text, tenant: Text, owner: Text, name: Text, user: Text, lane_user: Text,
            lane_agent: Text, input: Int, done: Int, redo: Int, redo_until: Int, turns: Int,
            idle_due: Int, deadline: Int, priority: Int, retry_at: Int, outage: Truth, tries: Int,
            failures: Int, vanished: Int, span: Int, suspect_to: Int, lease_generation: Int,
            lease_until: Int, lease_holder: Text, lease_upto: Int, lease_arrived: Int,
            lease_turns: Int, claims: Int, failure_class: Text, failure_message: Text, due_at: Int,
        ],
        sqlite_rows: Some(
            "(SELECT jobs.*, lanes.user AS lane_user, lanes.agent AS lane_agent
                FROM jobs JOIN lanes ON lanes.lane_no = jobs.lane_no)",
        ),
        sqlite_own: &["job_no", "lane_no"],
        ..PLAIN
    },
    // When each lane of an agent was served last. The levels above it follow from these rows.
    Table {
        name: "lanes",
        key: &["kind", "tenant", "user", "agent"],
        columns: columns![kind: Text, tenant: Text, user: Text, agent: Text, served: Int],
        numbers: numbers!("served", "turns"),
        sqlite_rows: Some(
            "(SELECT kind, tenant, user, agent, served FROM lanes WHERE level = 3 AND served > 0)",
        ),
        sqlite_own: &["lane_no", "level", "parent", "next_due"],
        ..PLAIN
    },
    Table {
        name: "tallies",
        key: &["kind", "what"],
        columns: columns![kind: Text, what: Text, count: Int],
        postgres_rows: Some(
            "(SELECT kind, what, sum(count)::BIGINT AS count FROM tallies GROUP BY kind, what)",
        ),
        postgres_own: &["tally_no"],
        ..PLAIN
    },
    Table {
        name: "gaps",
        key: &["kind", "tenant", "owner", "name", "from_seq"],
        columns: columns![
            kind: Text, tenant: Text, owner: Text, name: Text, from_seq: Int, to_seq: Int,
            failure_class: Text, failure_message: Text, at: Int, engine: Text,
        ],
        ..PLAIN
    },
    Table {
        name: "scopes",
        key: &["scope_no"],
        columns: columns![
            scope_no: Int, tenant_no: Int, kind: Text, name: Text, revision: Int, selection: Text,
            proposals: Text,
        ],
        numbers: numbers!("scope_no", "scopes_scope_no_seq"),
        ..PLAIN
    },
    Table {
        name: "extractions",
        key: &["extraction_no"],
        columns: columns![
            extraction_no: Int, session_no: Int, generation: Int, live: Truth, from_seq: Int,
            to_seq: Int, digest: Text, writes: Text, extractor: Text, at: Int,
            fallback_for: Text, fallback_until: Int, quarantined: Text,
        ],
        numbers: numbers!("extraction_no", "extractions_extraction_no_seq"),
        tenant_of: Some(("sessions", "session_no")),
        ..PLAIN
    },
    Table {
        name: "observations",
        key: &["observation_no"],
        columns: columns![
            observation_no: Int, scope_no: Int, id: Int, kind: Text, holds: Truth, shown: Int,
            text: Text, context: Text, subject: Text, tokens: Text, origin: Text, later: Int,
            ended_because: Text, ended_at: Int,
        ],
        numbers: numbers!("observation_no", "observations_observation_no_seq"),
        tenant_of: Some(("scopes", "scope_no")),
        ..PLAIN
    },
    Table {
        name: "evidence",
        key: &["evidence_no"],
        columns: columns![
            evidence_no: Int, observation_no: Int, session_no: Int, events: Text, generation: Int,
            live: Truth, first_seq: Int, last_seq: Int, lines: Text, label: Text, at: Int,
            branch: Text, root: Text, stated: Truth, quoted: Truth, text: Text, context: Text,
            subject: Text, tokens: Text, origin: Text,
        ],
        numbers: numbers!("evidence_no", "evidence_evidence_no_seq"),
        tenant_of: Some(("observations", "observation_no")),
        ..PLAIN
    },
    Table {
        name: "retractions",
        key: &["scope_no", "id", "session_no", "seq"],
        columns: columns![
            scope_no: Int, id: Int, session_no: Int, seq: Int, kind: Text, text: Text, root: Text,
        ],
        tenant_of: Some(("scopes", "scope_no")),
        ..PLAIN
    },
    Table {
        name: "spend_calls",
        key: &["call_no"],
        columns: columns![
            call_no: Int, tenant_no: Int, user: Text, run: Text, stage: Text, model: Text,
            agent: Text, host_id: Text, scope_kind: Text, scope_name: Text, at: Int, day: Text,
            worst_tokens: Int, worst_money: Int, settled_at: Int, input: Int, cached: Int,
            output: Int, money: Int,
        ],
        numbers: numbers!("call_no", "spend_calls_call_no_seq"),
        ..PLAIN
    },
    Table {
        name: "spend_purses",
        key: &["tenant_no", "payer", "user", "period", "key"],
        columns: columns![
            tenant_no: Int, payer: Text, user: Text, period: Text, key: Text, tokens: Int,
            money: Int,
        ],
        ..PLAIN
    },
    Table {
        name: "purge_keys",
        key: &["tenant_no"],
        columns: columns![tenant_no: Int, key: Bytes],
        ..PLAIN
    },
    Table {
        name: "tombstones",
        key: &["tenant_no", "mark"],
        columns: columns![tenant_no: Int, mark: Bytes],
        ..PLAIN
    },
];
