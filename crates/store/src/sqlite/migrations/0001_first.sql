-- Everything that Daybook remembers, and the index over it (tables ix_*), which is disposable.
-- Times are milliseconds since 1970 UTC; 0 stands for "unknown". Words are those of GLOSSARY.md.

CREATE TABLE tenants (
    tenant_no   INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL UNIQUE
);

-- `known` is 0 while a session has only been cited; such a one has no label and is not listed.
CREATE TABLE sessions (
    session_no   INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_no    INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    host_id      TEXT NOT NULL,
    known        INTEGER NOT NULL,
    label        TEXT,
    kind         TEXT NOT NULL,
    memory_off   INTEGER NOT NULL,
    switched_off INTEGER NOT NULL DEFAULT 0,
    forked_from  TEXT,
    user         TEXT,
    surface      TEXT,
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    events       INTEGER NOT NULL,
    passed       TEXT NOT NULL DEFAULT '',
    last_line    INTEGER NOT NULL,
    first_source TEXT,
    UNIQUE (tenant_no, host_id, agent)
);
CREATE INDEX sessions_active ON sessions (tenant_no, last_at) WHERE known;
CREATE UNIQUE INDEX sessions_label ON sessions (tenant_no, label);

-- event_no is session_no << 32 | seq, so one tree serves the log, and the index points into it.
-- entry is what the session's thread keeps beside the event; it comes last, so that whoever reads the
-- log alone passes it by.
CREATE TABLE events (
    event_no    INTEGER PRIMARY KEY,
    session_no  INTEGER NOT NULL,
    id          BLOB NOT NULL,
    line        INTEGER NOT NULL,
    origin      TEXT NOT NULL,
    at          INTEGER NOT NULL,
    tool        TEXT,
    call        TEXT,
    status      TEXT,
    sidechain   INTEGER NOT NULL,
    place_no    INTEGER,
    text        TEXT NOT NULL,
    entry       TEXT
);
CREATE UNIQUE INDEX events_id ON events (session_no, id);

-- The live half of sessions. `block_generation` is the token of the last block, also when it is over.
CREATE TABLE threads (
    session_no       INTEGER PRIMARY KEY,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    custom           TEXT NOT NULL,
    deleted_at       INTEGER,
    block_generation INTEGER NOT NULL,
    block_reason     TEXT,
    block_at         INTEGER,
    block_until      INTEGER
);

-- The state of a thread as its log up to seq made it.
CREATE TABLE thread_snapshots (
    session_no  INTEGER PRIMARY KEY,
    seq         INTEGER NOT NULL,
    body        BLOB NOT NULL
);

-- Several identities may stand for one key: projects that a person merged.
CREATE TABLE projects (
    tenant_no   INTEGER NOT NULL,
    identity    TEXT NOT NULL,
    key         TEXT NOT NULL,
    guessed     INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, identity)
) WITHOUT ROWID;

CREATE TABLE roots (
    root_no     INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL,
    root        TEXT NOT NULL,
    project     TEXT,
    UNIQUE (tenant_no, root)
);
CREATE INDEX roots_project ON roots (tenant_no, project) WHERE project IS NOT NULL;

CREATE TABLE places (
    place_no    INTEGER PRIMARY KEY,
    root_no     INTEGER NOT NULL,
    branch      TEXT
);
CREATE UNIQUE INDEX places_name ON places (root_no, ifnull(branch, ''), branch IS NULL);

-- Where the events of a session happened.
CREATE TABLE session_places (
    session_no  INTEGER NOT NULL,
    place_no    INTEGER NOT NULL,
    PRIMARY KEY (session_no, place_no)
) WITHOUT ROWID;
CREATE INDEX session_places_place ON session_places (place_no);

CREATE TABLE sources (
    tenant_no        INTEGER NOT NULL,
    path             TEXT NOT NULL,
    format           TEXT NOT NULL,
    session_no       INTEGER,
    size             INTEGER NOT NULL,
    modified         INTEGER NOT NULL,
    "offset"         INTEGER NOT NULL,
    lines            INTEGER NOT NULL,
    fingerprint_head INTEGER NOT NULL,
    fingerprint_tail INTEGER NOT NULL,
    bad_lines        INTEGER NOT NULL,
    first_bad_line   INTEGER,
    first_bad_why    TEXT,
    secrets          INTEGER NOT NULL,
    state            TEXT NOT NULL,
    PRIMARY KEY (tenant_no, path)
) WITHOUT ROWID;

CREATE TABLE imports (
    import_no   INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_no   INTEGER NOT NULL,
    began_at    INTEGER NOT NULL,
    ended_at    INTEGER,
    what        TEXT NOT NULL,
    events      INTEGER NOT NULL
);
CREATE INDEX imports_tenant ON imports (tenant_no);

-- What an import added to a session: seq from_seq..=to_seq, empty when it only created the session.
CREATE TABLE import_ranges (
    import_no   INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    from_seq    INTEGER NOT NULL,
    to_seq      INTEGER NOT NULL,
    PRIMARY KEY (import_no, session_no, from_seq)
) WITHOUT ROWID;

-- The files that an import read, each as it was known before (`seen` = 0: not at all).
CREATE TABLE import_sources (
    tenant_no        INTEGER NOT NULL,
    import_no        INTEGER NOT NULL,
    path             TEXT NOT NULL,
    seen             INTEGER NOT NULL,
    format           TEXT,
    session_no       INTEGER,
    size             INTEGER,
    modified         INTEGER,
    "offset"         INTEGER,
    lines            INTEGER,
    fingerprint_head INTEGER,
    fingerprint_tail INTEGER,
    bad_lines        INTEGER,
    first_bad_line   INTEGER,
    first_bad_why    TEXT,
    secrets          INTEGER,
    state            TEXT,
    PRIMARY KEY (tenant_no, import_no, path)
) WITHOUT ROWID;
CREATE INDEX import_sources_path ON import_sources (tenant_no, path);

-- owner and name: agent and host id of a session, kind and name of a scope.
-- due_at says when the job may be claimed; NULL while there is nothing to do.
CREATE TABLE jobs (
    job_no           INTEGER PRIMARY KEY,
    kind             TEXT NOT NULL,
    tenant           TEXT NOT NULL,
    owner            TEXT NOT NULL,
    name             TEXT NOT NULL,
    user             TEXT,
    lane_no          INTEGER NOT NULL,
    input            INTEGER NOT NULL,
    done             INTEGER NOT NULL,
    redo             INTEGER NOT NULL,
    redo_until       INTEGER,
    turns            INTEGER NOT NULL,
    idle_due         INTEGER NOT NULL,
    deadline         INTEGER NOT NULL,
    priority         INTEGER NOT NULL,
    retry_at         INTEGER,
    outage           INTEGER NOT NULL,
    tries            INTEGER NOT NULL,
    failures         INTEGER NOT NULL,
    vanished         INTEGER NOT NULL,
    span             INTEGER,
    suspect_to       INTEGER NOT NULL,
    lease_generation INTEGER,
    lease_until      INTEGER,
    lease_holder     TEXT,
    lease_upto       INTEGER,
    lease_arrived    INTEGER,
    lease_turns      INTEGER,
    claims           INTEGER NOT NULL,
    failure_class    TEXT,
    failure_message  TEXT,
    due_at           INTEGER,
    UNIQUE (kind, tenant, owner, name)
);
CREATE INDEX jobs_turn ON jobs (lane_no, priority, due_at, owner, name) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_holder ON jobs (lease_holder) WHERE lease_holder IS NOT NULL;

-- Whose turn it is. A tenant has users below it (level 2), a user agents (level 3), which jobs belong to.
-- `served` counts claims; nothing below a lane is due before next_due (NULL: nothing waits).
CREATE TABLE lanes (
    lane_no     INTEGER PRIMARY KEY,
    kind        TEXT NOT NULL,
    level       INTEGER NOT NULL,
    tenant      TEXT NOT NULL,
    user        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    parent      INTEGER NOT NULL,
    served      INTEGER NOT NULL,
    next_due    INTEGER,
    UNIQUE (kind, level, tenant, user, agent)
);
CREATE INDEX lanes_turn ON lanes (kind, parent, served, tenant, user, agent);

-- What has become of jobs since the first one.
CREATE TABLE tallies (
    kind        TEXT NOT NULL,
    what        TEXT NOT NULL,
    count       INTEGER NOT NULL,
    PRIMARY KEY (kind, what)
) WITHOUT ROWID;

CREATE TABLE gaps (
    kind            TEXT NOT NULL,
    tenant          TEXT NOT NULL,
    owner           TEXT NOT NULL,
    name            TEXT NOT NULL,
    from_seq        INTEGER NOT NULL,
    to_seq          INTEGER NOT NULL,
    failure_class   TEXT NOT NULL,
    failure_message TEXT NOT NULL,
    at              INTEGER NOT NULL,
    engine          TEXT NOT NULL,
    PRIMARY KEY (kind, tenant, owner, name, from_seq)
) WITHOUT ROWID;

CREATE TABLE scopes (
    scope_no    INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    UNIQUE (tenant_no, kind, name)
);

-- `generation` is the redo that wrote a row; rows with live = 0 wait for their redo to catch up.
CREATE TABLE extractions (
    extraction_no INTEGER PRIMARY KEY,
    session_no    INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    live          INTEGER NOT NULL,
    from_seq      INTEGER NOT NULL,
    to_seq        INTEGER NOT NULL,
    digest        TEXT,
    writes        TEXT,
    extractor     TEXT NOT NULL,
    at            INTEGER NOT NULL
);
CREATE INDEX extractions_window ON extractions (session_no, from_seq);
CREATE INDEX extractions_staged ON extractions (session_no) WHERE writes IS NOT NULL;

-- text, context and subject are those of the earliest evidence, `shown`. Rows with holds = 0 have
-- only evidence that waits for its redo.
CREATE TABLE observations (
    observation_no INTEGER PRIMARY KEY AUTOINCREMENT,
    scope_no       INTEGER NOT NULL,
    id             INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    holds          INTEGER NOT NULL,
    shown          INTEGER,
    text           TEXT NOT NULL,
    context        TEXT,
    subject        TEXT,
    tokens         TEXT NOT NULL,
    UNIQUE (scope_no, id)
);

-- `generation` is -1 for what a person asked to remember: no redo replaces it.
-- events and lines are comma-separated, ascending.
CREATE TABLE evidence (
    evidence_no    INTEGER PRIMARY KEY AUTOINCREMENT,
    observation_no INTEGER NOT NULL,
    session_no     INTEGER NOT NULL,
    events         TEXT NOT NULL,
    generation     INTEGER NOT NULL,
    live           INTEGER NOT NULL,
    first_seq      INTEGER NOT NULL,
    last_seq       INTEGER NOT NULL,
    lines          TEXT NOT NULL,
    label          TEXT NOT NULL,
    at             INTEGER NOT NULL,
    branch         TEXT,
    root           TEXT,
    stated         INTEGER NOT NULL,
    quoted         INTEGER NOT NULL,
    text           TEXT NOT NULL,
    context        TEXT,
    subject        TEXT,
    tokens         TEXT NOT NULL,
    UNIQUE (observation_no, session_no, events, generation)
);
CREATE INDEX evidence_session ON evidence (session_no, first_seq);
CREATE INDEX evidence_root ON evidence (root) WHERE root IS NOT NULL;

-- What a person took back: these events do not bring the observation back.
CREATE TABLE retractions (
    scope_no    INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    text        TEXT NOT NULL,
    root        TEXT,
    PRIMARY KEY (scope_no, id, session_no, seq)
) WITHOUT ROWID;
CREATE INDEX retractions_root ON retractions (root) WHERE root IS NOT NULL;

-- Calls of models, each with the most that it could cost. Until it is settled it counts with that: whoever
-- made it may have ended, and what was sent by then is billed. `day` is that of `at`, in UTC. Money is in
-- millionths; NULL where no price was known.
CREATE TABLE spend_calls (
    call_no      INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_no    INTEGER NOT NULL,
    user         TEXT NOT NULL,
    run          TEXT NOT NULL,
    stage        TEXT NOT NULL,
    model        TEXT NOT NULL,
    agent        TEXT,
    host_id      TEXT,
    scope_kind   TEXT,
    scope_name   TEXT,
    at           INTEGER NOT NULL,
    day          TEXT NOT NULL,
    worst_tokens INTEGER NOT NULL,
    worst_money  INTEGER,
    settled_at   INTEGER,
    input        INTEGER,
    cached       INTEGER,
    output       INTEGER,
    money        INTEGER
);
CREATE INDEX spend_calls_at ON spend_calls (tenant_no, at);

-- What counts in each period of a tenant (user '') or user: the sum over its calls, kept so that a
-- reservation need not make it.
CREATE TABLE spend_purses (
    tenant_no   INTEGER NOT NULL,
    payer       TEXT NOT NULL,
    user        TEXT NOT NULL,
    period      TEXT NOT NULL,
    key         TEXT NOT NULL,
    tokens      INTEGER NOT NULL,
    money       INTEGER NOT NULL,
    PRIMARY KEY (tenant_no, payer, user, period, key)
) WITHOUT ROWID;

CREATE TABLE ix_files (
    file_no     INTEGER PRIMARY KEY,
    scope_no    INTEGER NOT NULL,
    file        TEXT NOT NULL,
    stamp       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    UNIQUE (scope_no, file)
);

CREATE TABLE ix_entries (
    entry_no    INTEGER PRIMARY KEY AUTOINCREMENT,
    file_no     INTEGER NOT NULL,
    line        INTEGER NOT NULL,
    text        TEXT NOT NULL,
    heading     TEXT NOT NULL,
    observation INTEGER,
    citation    TEXT
);
CREATE INDEX ix_entries_file ON ix_entries (file_no);

-- Words arrive ready to compare. Each document also carries marks of its tenant, scope, root and
-- origin, so that a filtered search stays as bounded as an open one. Row numbers tell the layers
-- apart: entries from 1 << 62, observations from 1 << 61, events that were said from 1 << 60, all
-- other events below.
-- Merging is done in bounded steps by whoever writes, never by a commit that happens to be due.
CREATE VIRTUAL TABLE ix_text USING fts5 (
    words, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
INSERT INTO ix_text (ix_text, rank) VALUES ('automerge', 0);
INSERT INTO ix_text (ix_text, rank) VALUES ('crisismerge', 500);
INSERT INTO ix_text (ix_text, rank) VALUES ('usermerge', 16);

-- Documents on their way into ix_text, which takes in many at once far more cheaply than one by one.
-- A search looks at both. Rows lie in the order in which they came, whatever their documents' numbers:
-- those that are written together then fill few pages.
CREATE TABLE ix_pending (
    doc         INTEGER NOT NULL UNIQUE,
    words       TEXT NOT NULL
);
