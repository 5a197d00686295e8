CREATE TABLE schema_migrations (
            version    INTEGER PRIMARY KEY,
            name       TEXT NOT NULL,
            checksum   TEXT NOT NULL,
            applied_at INTEGER NOT NULL,
            serves     INTEGER NOT NULL
        );
CREATE TABLE tenants (
    tenant_no   INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL UNIQUE
);
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
    first_source TEXT, rules INTEGER NOT NULL DEFAULT 0, rescan INTEGER, erase INTEGER NOT NULL DEFAULT 0, pollution TEXT, kept_on INTEGER NOT NULL DEFAULT 0, room_id TEXT, thread_id TEXT, team TEXT, filed_in TEXT,
    UNIQUE (tenant_no, host_id, agent)
);
CREATE INDEX sessions_active ON sessions (tenant_no, last_at) WHERE known;
CREATE UNIQUE INDEX sessions_label ON sessions (tenant_no, label);
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
CREATE TABLE thread_snapshots (
    session_no  INTEGER PRIMARY KEY,
    seq         INTEGER NOT NULL,
    body        BLOB NOT NULL
);
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
    project     TEXT, derived INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant_no, root)
);
CREATE INDEX roots_project ON roots (tenant_no, project) WHERE project IS NOT NULL;
CREATE TABLE places (
    place_no    INTEGER PRIMARY KEY,
    root_no     INTEGER NOT NULL,
    branch      TEXT
);
CREATE UNIQUE INDEX places_name ON places (root_no, ifnull(branch, ''), branch IS NULL);
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
    state            TEXT NOT NULL, failure TEXT, reading INTEGER NOT NULL DEFAULT 0, claimed_id TEXT,
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
CREATE TABLE import_ranges (
    import_no   INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    from_seq    INTEGER NOT NULL,
    to_seq      INTEGER NOT NULL,
    PRIMARY KEY (import_no, session_no, from_seq)
) WITHOUT ROWID;
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
    state            TEXT, failure TEXT, reading INTEGER DEFAULT 0, claimed_id TEXT,
    PRIMARY KEY (tenant_no, import_no, path)
) WITHOUT ROWID;
CREATE INDEX import_sources_path ON import_sources (tenant_no, path);
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
    revision    INTEGER NOT NULL, selection TEXT, proposals TEXT,
    UNIQUE (tenant_no, kind, name)
);
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
, fallback_for TEXT, fallback_until INTEGER, quarantined TEXT);
CREATE INDEX extractions_window ON extractions (session_no, from_seq);
CREATE INDEX extractions_staged ON extractions (session_no) WHERE writes IS NOT NULL;
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
    tokens         TEXT NOT NULL, origin TEXT, later INTEGER, ended_because TEXT, ended_at INTEGER,
    UNIQUE (scope_no, id)
);
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
    tokens         TEXT NOT NULL, origin TEXT,
    UNIQUE (observation_no, session_no, events, generation)
);
CREATE INDEX evidence_session ON evidence (session_no, first_seq);
CREATE INDEX evidence_root ON evidence (root) WHERE root IS NOT NULL;
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
CREATE VIRTUAL TABLE ix_text USING fts5 (
    words, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
CREATE TABLE ix_pending (
    doc         INTEGER NOT NULL UNIQUE,
    words       TEXT NOT NULL
);
CREATE TABLE root_remotes (
    event_no    INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    root        TEXT NOT NULL,
    remote      TEXT NOT NULL,
    shown_by    TEXT NOT NULL,
    PRIMARY KEY (event_no, root, remote, shown_by)
) WITHOUT ROWID;
CREATE TABLE ix_docs (
    doc         INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL,
    owner       INTEGER NOT NULL,
    origin      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    terms       BLOB NOT NULL
);
CREATE TABLE ix_models (
    tenant_no   INTEGER PRIMARY KEY,
    model       TEXT NOT NULL
);
CREATE TABLE ix_unembedded (
    doc         INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL
);
CREATE TABLE ix_vectors (
    doc         INTEGER PRIMARY KEY,
    sign_no     INTEGER NOT NULL,
    vectors     BLOB NOT NULL
);
CREATE TABLE ix_signs (
    sign_no     INTEGER PRIMARY KEY AUTOINCREMENT,
    doc         INTEGER NOT NULL,
    tenant_no   INTEGER NOT NULL,
    owner       INTEGER NOT NULL,
    origin      INTEGER NOT NULL,
    signs       BLOB NOT NULL
);
CREATE TABLE uses (
    event_no    INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    by_session  INTEGER NOT NULL,
    by_event    BLOB NOT NULL,
    by_door     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (event_no, kind, by_session, by_door)
) WITHOUT ROWID;
CREATE INDEX uses_by ON uses (by_session, by_door);
CREATE TABLE event_retractions (
    event_no    INTEGER NOT NULL,
    target      INTEGER NOT NULL,
    PRIMARY KEY (event_no, target)
) WITHOUT ROWID;
CREATE INDEX sessions_rules ON sessions (rules) WHERE known;
CREATE INDEX sessions_erase ON sessions (erase) WHERE erase <> 0;
CREATE VIEW pipeline_state AS
SELECT
    tenants.tenant AS tenant,
    session.agent AS agent_name,
    session.host_id AS session_id,
    CASE
        WHEN session.pollution IS NOT NULL THEN 'polluted'
        WHEN session.memory_off OR session.switched_off THEN 'disabled'
        ELSE 'enabled'
    END AS memory_mode,
    -- Places in the session's log.
    job.input AS input_watermark,
    nullif(job.done, 0) AS last_success_watermark,
    nullif(job.done, 0) AS processed_until,
    CASE WHEN job.input > job.done THEN job.input END AS invalidated_at,
    coalesce(job.input > job.done, 0) AS dirty,
    coalesce(job.lease_holder IS NOT NULL AND job.lease_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), 0) AS in_flight,
    CASE
        WHEN job.lease_holder IS NOT NULL AND job.lease_until > CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) THEN 'running'
        WHEN job.input > job.done AND job.failure_class IS NOT NULL THEN 'error'
        WHEN job.input > job.done THEN 'pending'
        ELSE 'done'
    END AS status,
    job.lease_holder AS worker_id,
    CAST(job.lease_generation AS TEXT) AS ownership_token,
    -- Of the default of three tries; a setting may allow others.
    CASE WHEN job.tries >= 3 THEN 0 ELSE 3 - coalesce(job.tries, 0) END AS retry_remaining,
    job.failure_message AS last_error,
    -- Times, in milliseconds since 1970.
    job.lease_until AS lease_until,
    job.retry_at AS retry_at,
    (SELECT events.at FROM events WHERE job.input > job.done
        AND events.event_no = (session.session_no << 32) + job.done + 1) AS first_dirty_at,
    session.last_at AS last_seen_at,
    session.last_at AS last_session_updated_at,
    (SELECT max(extractions.at) FROM extractions
        WHERE extractions.session_no = session.session_no AND extractions.live = 1) AS last_flushed_at,
    (SELECT events.at FROM events
        WHERE events.event_no = (session.session_no << 32) + job.done) AS last_flushed_session_updated_at,
    (SELECT events.at FROM events
        WHERE events.event_no = (session.session_no << 32) + job.done) AS source_updated_at,
    (SELECT max(extractions.at) FROM extractions
        WHERE extractions.session_no = session.session_no AND extractions.live = 1 AND extractions.digest IS NOT NULL) AS generated_at,
    -- Other sessions, and interfaces on a day, that cited something of it.
    (SELECT count(*) FROM (
        SELECT DISTINCT uses.by_session, uses.by_door FROM uses
        WHERE uses.kind = 'cited'
            AND uses.event_no >= (session.session_no << 32) AND uses.event_no < ((session.session_no + 1) << 32)
    ) AS citing) AS usage_count,
    (SELECT max(uses.at) FROM uses
        WHERE uses.kind = 'cited'
            AND uses.event_no >= (session.session_no << 32) AND uses.event_no < ((session.session_no + 1) << 32)
    ) AS last_usage,
    EXISTS (
        SELECT 1 FROM scopes, json_each(scopes.selection, '$.sessions') AS selected
        WHERE scopes.tenant_no = session.tenant_no
            AND json_extract(selected.value, '$.session.agent') = session.agent
            AND json_extract(selected.value, '$.session.host_id') = session.host_id
    ) AS selected_for_phase2,
    (
        SELECT max(events.at) FROM scopes, json_each(scopes.selection, '$.sessions') AS selected, events
        WHERE scopes.tenant_no = session.tenant_no
            AND json_extract(selected.value, '$.session.agent') = session.agent
            AND json_extract(selected.value, '$.session.host_id') = session.host_id
            AND events.event_no = (session.session_no << 32) + json_extract(selected.value, '$.snapshot.upto')
    ) AS selected_for_phase2_source_updated_at
FROM sessions AS session
JOIN tenants ON tenants.tenant_no = session.tenant_no
LEFT JOIN jobs AS job ON job.kind = 'extract' AND job.tenant = tenants.tenant
    AND job.owner = session.agent AND job.name = session.host_id
WHERE session.known;
CREATE TABLE ix_stale_records (
    kind        TEXT NOT NULL,
    no          INTEGER NOT NULL,
    mark        INTEGER NOT NULL,
    PRIMARY KEY (kind, no)
) WITHOUT ROWID;
CREATE TRIGGER record_sessions_insert AFTER INSERT ON sessions WHEN NEW.known BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sessions_update AFTER UPDATE ON sessions WHEN
    (NEW.known, NEW.agent, NEW.host_id, NEW.label, NEW.kind, NEW.memory_off, NEW.switched_off, NEW.kept_on,
        NEW.forked_from, NEW.user, NEW.surface, NEW.room_id, NEW.thread_id, NEW.team, NEW.filed_in, NEW.passed, NEW.first_source, NEW.rules, NEW.rescan, NEW.pollution)
    IS NOT
    (OLD.known, OLD.agent, OLD.host_id, OLD.label, OLD.kind, OLD.memory_off, OLD.switched_off, OLD.kept_on,
        OLD.forked_from, OLD.user, OLD.surface, OLD.room_id, OLD.thread_id, OLD.team, OLD.filed_in, OLD.passed, OLD.first_source, OLD.rules, OLD.rescan, OLD.pollution)
BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_jobs_insert AFTER INSERT ON jobs WHEN NEW.kind = 'extract' AND NEW.done > 0 BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_jobs_update AFTER UPDATE ON jobs WHEN NEW.kind = 'extract'
    AND (NEW.done, NEW.redo, NEW.redo_until) IS NOT (OLD.done, OLD.redo, OLD.redo_until)
BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_gaps_insert AFTER INSERT ON gaps WHEN NEW.kind = 'extract' BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_gaps_delete AFTER DELETE ON gaps WHEN OLD.kind = 'extract' BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = OLD.tenant AND host_id = OLD.name AND agent = OLD.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_insert AFTER INSERT ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_update AFTER UPDATE ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_delete AFTER DELETE ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_insert AFTER INSERT ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_update AFTER UPDATE ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_delete AFTER DELETE ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_uses_insert AFTER INSERT ON uses BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_uses_delete AFTER DELETE ON uses BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_root_remotes_insert AFTER INSERT ON root_remotes BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_session_places_insert AFTER INSERT ON session_places BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_session_places_delete AFTER DELETE ON session_places BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sources_insert AFTER INSERT ON sources WHEN NEW.session_no IS NOT NULL BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sources_delete AFTER DELETE ON sources WHEN OLD.session_no IS NOT NULL BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_import_ranges_insert AFTER INSERT ON import_ranges BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_import_ranges_delete AFTER DELETE ON import_ranges BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_events_update AFTER UPDATE OF text ON events
    WHEN (SELECT kind FROM sessions WHERE session_no = NEW.session_no) = 'memory_agent'
BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_scopes_insert AFTER INSERT ON scopes BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_scopes_update AFTER UPDATE ON scopes
    WHEN (NEW.kind, NEW.name, NEW.selection, NEW.proposals) IS NOT (OLD.kind, OLD.name, OLD.selection, OLD.proposals)
BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_scopes_delete AFTER DELETE ON scopes BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_jobs_consolidated AFTER UPDATE ON jobs
    WHEN NEW.kind = 'consolidate' AND (NEW.done > 0) IS NOT (OLD.done > 0)
BEGIN
    INSERT INTO ix_stale_records SELECT 'scope', scope_no, 1 FROM scopes JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND scopes.kind = NEW.owner AND scopes.name = NEW.name
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_observations_update AFTER UPDATE ON observations
    WHEN (NEW.later, NEW.ended_because, NEW.ended_at, NEW.scope_no)
        IS NOT (OLD.later, OLD.ended_because, OLD.ended_at, OLD.scope_no)
BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_insert AFTER INSERT ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_update AFTER UPDATE ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_delete AFTER DELETE ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_projects_insert AFTER INSERT ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_projects_update AFTER UPDATE ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_projects_delete AFTER DELETE ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', OLD.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_insert AFTER INSERT ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_update AFTER UPDATE ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_delete AFTER DELETE ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', OLD.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_spend_purses_insert AFTER INSERT ON spend_purses BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_spend_purses_update AFTER UPDATE ON spend_purses BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TABLE purge_keys (
    tenant_no   INTEGER PRIMARY KEY,
    key         BLOB NOT NULL
);
CREATE TABLE tombstones (
    tenant_no   INTEGER NOT NULL,
    mark        BLOB NOT NULL,
    PRIMARY KEY (tenant_no, mark)
) WITHOUT ROWID;
CREATE INDEX observations_holding ON observations (scope_no) WHERE holds;
CREATE INDEX extractions_without_root ON extractions (session_no)
    WHERE digest IS NOT NULL AND instr(digest, '"root":"') = 0;
CREATE INDEX observations_ended ON observations (scope_no, id, later, ended_because, ended_at)
    WHERE later IS NOT NULL;
CREATE INDEX jobs_open ON jobs (kind, tenant, owner, name) WHERE input > done;
CREATE INDEX evidence_times ON evidence (at, session_no, observation_no) WHERE live;
CREATE INDEX sources_session ON sources (session_no) WHERE session_no IS NOT NULL;
CREATE INDEX import_ranges_session ON import_ranges (session_no);
CREATE INDEX import_sources_session ON import_sources (session_no) WHERE session_no IS NOT NULL;
CREATE INDEX retractions_session ON retractions (session_no);
CREATE INDEX extractions_quarantined ON extractions (session_no) WHERE quarantined IS NOT NULL;
CREATE TABLE ix_sign_blocks (
    tenant_no   INTEGER NOT NULL,
    block_no    INTEGER NOT NULL,
    packed      BLOB NOT NULL,
    PRIMARY KEY (tenant_no, block_no)
);
CREATE TRIGGER ix_signs_deleted AFTER DELETE ON ix_signs BEGIN
    DELETE FROM ix_sign_blocks WHERE tenant_no = old.tenant_no AND block_no = old.sign_no / 4096;
END;
CREATE INDEX sources_failing ON sources (tenant_no, path) WHERE failure IS NOT NULL;
CREATE INDEX sources_secret ON sources (tenant_no, path) WHERE secrets > 0;
CREATE TABLE ix_changes (
    change_no   INTEGER PRIMARY KEY,
    doc         INTEGER NOT NULL
);
CREATE TRIGGER ix_changes_bounded AFTER INSERT ON ix_changes WHEN new.change_no % 4096 = 0 BEGIN
    DELETE FROM ix_changes WHERE change_no <= new.change_no - 65536;
END;
CREATE TRIGGER ix_docs_added AFTER INSERT ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_docs_changed AFTER UPDATE ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_docs_deleted AFTER DELETE ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (old.doc);
END;
CREATE TRIGGER ix_vectors_added AFTER INSERT ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_vectors_changed AFTER UPDATE ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_vectors_deleted AFTER DELETE ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (old.doc);
END;
CREATE TABLE ix_read_version (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    version     INTEGER NOT NULL
);
INSERT INTO sqlite_sequence VALUES ('evidence', 1);
INSERT INTO sqlite_sequence VALUES ('imports', 1);
INSERT INTO sqlite_sequence VALUES ('observations', 1);
INSERT INTO sqlite_sequence VALUES ('sessions', 3);
INSERT INTO sqlite_sequence VALUES ('spend_calls', 2);
INSERT INTO schema_migrations VALUES (1, 'first', 'd82c84f556b1501a2ea86671ec9e4099', 0, 1);
INSERT INTO schema_migrations VALUES (10, 'pollution', '7e5a78ac5f249b642f75ac15ed741d88', 0, 9);
INSERT INTO schema_migrations VALUES (11, 'origins', 'd4df743d02e7e03b7c18929b8faefb0f', 0, 9);
INSERT INTO schema_migrations VALUES (12, 'supersessions', '4952e16dd420e3284e29bcb0b8bce279', 0, 9);
INSERT INTO schema_migrations VALUES (13, 'selections', 'ec15c587fbd1a916afc4cb4f43748807', 0, 9);
INSERT INTO schema_migrations VALUES (14, 'proposals', '775137464e2eab1beae4d60c1e5dd990', 0, 9);
INSERT INTO schema_migrations VALUES (15, 'pipeline_state', '45c56c69c8e59c9b228ee1cb4f6595dd', 0, 9);
INSERT INTO schema_migrations VALUES (16, 'venues', 'bb7d6745e703acc299e586a7b9bc0a9a', 0, 16);
INSERT INTO schema_migrations VALUES (17, 'records', '17673bbe8c5e352a68da380854fd9325', 0, 16);
INSERT INTO schema_migrations VALUES (18, 'tombstones', '4ebbcc59044d21ca85a2c0baebb7c8b1', 0, 18);
INSERT INTO schema_migrations VALUES (19, 'covering indexes', '096f79c0a5fa3f2bac3a47026d7ed9db', 0, 18);
INSERT INTO schema_migrations VALUES (2, 'failing sources', '80723ee64ce1f1be9c5560c6c9f13ab4', 0, 1);
INSERT INTO schema_migrations VALUES (20, 'overviews', 'e77638af3ef90b9ac7a2e4a1a99188c9', 0, 18);
INSERT INTO schema_migrations VALUES (21, 'record indexes', '619b2687f54e7f90f378c89076a2281f', 0, 18);
INSERT INTO schema_migrations VALUES (22, 'quarantine index', 'c4852d10a03e5147caf3c9c8c35de83c', 0, 18);
INSERT INTO schema_migrations VALUES (23, 'sign blocks', '74e6d9cb8b20c42f5bb1f7a00dcdd035', 0, 18);
INSERT INTO schema_migrations VALUES (24, 'failing sources index', '7d2cc8bc9e17bc70561d091e43e879f6', 0, 18);
INSERT INTO schema_migrations VALUES (25, 'index changes', '77bedc81f07797458e3d167a5fdd71e7', 0, 25);
INSERT INTO schema_migrations VALUES (3, 'identity', '61c0a6e0663859c3fcd3af6fdf25bae3', 0, 1);
INSERT INTO schema_migrations VALUES (4, 'outlines', 'ee648a4d9f769c4623eb1d1609c1aef5', 0, 4);
INSERT INTO schema_migrations VALUES (5, 'uses', '88fb7632c04cc2019c95caf8df991c71', 0, 4);
INSERT INTO schema_migrations VALUES (6, 'fallbacks', 'ab080d0080f44d2539c572ee1b8fcd39', 0, 4);
INSERT INTO schema_migrations VALUES (7, 'typed references', 'ccb7d66485b20203de02e56f1277e06e', 0, 7);
INSERT INTO schema_migrations VALUES (8, 'quarantine', '2c81f0bbf01a0137aaf5faa45ddfc444', 0, 7);
INSERT INTO schema_migrations VALUES (9, 'rescans', 'd1475ba6d88b3fdf6c9fe5e2d4d9a23f', 0, 9);
INSERT INTO tenants VALUES (1, 'local');
INSERT INTO sessions VALUES (1, 1, 'claude-code', 'aaaa-one', 1, 'aaaa', 'root', 0, 0, NULL, NULL, NULL, 1793491201000, 1793491204000, 6, '', 6, '/logs/1', 7, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
INSERT INTO sessions VALUES (2, 1, 'claude-code', 'bb', 1, 'bb', 'root', 0, 0, NULL, NULL, NULL, 1793491200000, 1793491200000, 2, '', 2, NULL, 7, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
INSERT INTO sessions VALUES (3, 1, 'claude-code', 'gone', 1, 'gone', 'root', 0, 0, NULL, NULL, NULL, 0, 0, 0, '', 0, NULL, 7, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (4294967297, 1, X'931B7D798608163034002EC84BC9C771', 1, 'human', 1793491201000, NULL, NULL, NULL, 0, 1, 't0 s0 1', NULL);
INSERT INTO events VALUES (4294967298, 1, X'8909C8F72BF8BAC3FEDB435EDCB233E7', 2, 'human', 1793491202000, NULL, NULL, NULL, 0, 1, 't0 s0 2', NULL);
INSERT INTO events VALUES (4294967299, 1, X'32FFACCB6F088EFA9F6238EC477F3F94', 3, 'human', 1793491203000, NULL, NULL, NULL, 0, 1, 't0 s0 3', NULL);
INSERT INTO events VALUES (4294967300, 1, X'4EEF8E4DEE7DA89AA49BA9C143039D34', 4, 'human', 1793491204000, NULL, NULL, NULL, 0, 1, 't0 s0 4', NULL);
INSERT INTO events VALUES (4294967301, 1, X'941D262510652F20F3B9373BEEAB4D38', 5, 'human', 1793491201000, NULL, NULL, NULL, 0, NULL, 't1 s2 1', NULL);
INSERT INTO events VALUES (4294967302, 1, X'03600AB951A2DEB6C9D7BA68BFB4EA63', 6, 'human', 1793491202000, NULL, NULL, NULL, 0, NULL, 't1 s2 2', NULL);
INSERT INTO events VALUES (8589934593, 2, X'15F167E9FC04F236DBDA636BB20A6ED3', 1, 'human', 1793491200000, NULL, NULL, NULL, 0, NULL, 't1 s2 e3', NULL);
INSERT INTO events VALUES (8589934594, 2, X'220A19090ED3CF419AF99D80D9E7DA51', 2, 'human', 1793491200000, NULL, NULL, NULL, 0, NULL, 't0 s1 e1', '{}');
INSERT INTO threads VALUES (2, 1793500704000, 1793491200000, '{"colour":"blue"}', NULL, 1, 'PAUSED', 2, 9223372036854775807);
INSERT INTO threads VALUES (3, 1793500704000, 1793500704000, '{"colour":"blue"}', 1793500706000, 0, NULL, NULL, NULL);
INSERT INTO thread_snapshots VALUES (2, 1, X'7374617465');
INSERT INTO projects VALUES (1, 'example.org/ada/left', 'left', 0);
INSERT INTO roots VALUES (1, 1, '/home/ada/a', 'left', 0);
INSERT INTO places VALUES (1, 1, 'main');
INSERT INTO session_places VALUES (1, 1);
INSERT INTO sources VALUES (1, '/logs/1', 'claude-code', 1, 4, 0, 4, 4, 4, -5, 1, 1, 'not JSON', 0, '{}', NULL, 0, NULL);
INSERT INTO imports VALUES (1, 1, 1793491200000, 1793491201000, 'all', 4);
INSERT INTO import_ranges VALUES (1, 1, 1, 4);
INSERT INTO import_sources VALUES (1, 1, '/logs/1', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL);
INSERT INTO jobs VALUES (1, 'extract', 'local', 'claude-code', 'aaaa-one', NULL, 3, 6, 4, 0, NULL, 2, 1793491322000, 1793491802000, 1, NULL, 0, 0, 0, 0, NULL, 0, 2, 1793500760000, 'worker', 6, NULL, 0, 2, NULL, NULL, 1793500760000);
INSERT INTO jobs VALUES (2, 'consolidate', 'local', 'project', 'left', NULL, 6, 2, 0, 0, NULL, 0, 1793500200000, 1793491202000, 1, 1793500731000, 0, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'content', 'no usable answer', 1793500731000);
INSERT INTO jobs VALUES (3, 'extract', 'local', 'claude-code', 'bb', NULL, 3, 2, 0, 0, NULL, 1, 1793491320000, 1793491800000, 1, NULL, 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 1793491320000);
INSERT INTO lanes VALUES (1, 'extract', 1, 'local', '', '', 0, 2, 1793491320000);
INSERT INTO lanes VALUES (2, 'extract', 2, 'local', '', '', 1, 2, 1793491320000);
INSERT INTO lanes VALUES (3, 'extract', 3, 'local', '', 'claude-code', 2, 2, 1793491320000);
INSERT INTO lanes VALUES (4, 'consolidate', 1, 'local', '', '', 0, 1, 1793491202000);
INSERT INTO lanes VALUES (5, 'consolidate', 2, 'local', '', '', 4, 1, 1793491202000);
INSERT INTO lanes VALUES (6, 'consolidate', 3, 'local', '', '', 5, 1, 1793491202000);
INSERT INTO tallies VALUES ('consolidate', 'claimed', 1);
INSERT INTO tallies VALUES ('consolidate', 'failed_content', 1);
INSERT INTO tallies VALUES ('extract', 'claimed', 2);
INSERT INTO tallies VALUES ('extract', 'finished', 1);
INSERT INTO scopes VALUES (1, 1, 'project', 'left', 2, NULL, NULL);
INSERT INTO extractions VALUES (1, 1, 0, 1, 1, 4, '{"task":null,"outcome":null,"last_words":null,"answered":false,"commits":0,"pushed":0,"highlights":[],"human_messages":0,"branch":null,"root":null,"from_at":0,"to_at":0}', NULL, 'test/1', 1793500200000, NULL, NULL, NULL);
INSERT INTO observations VALUES (1, 1, 6920554953402613707, 'preference', 1, 1, 'said once', 'context of said once', NULL, 'said once', 'typed', NULL, NULL, NULL);
INSERT INTO evidence VALUES (1, 1, 1, '1,2', 0, 1, 1, 2, '1,2', 'aaaa', 1793491201000, 'main', NULL, 1, 1, 'said once', 'context of said once', NULL, 'said once', 'typed');
INSERT INTO spend_calls VALUES (1, 1, 'ada', '1', 'extract', 'ada/small', 'claude-code', 'bb', 'project', 'left', 1793500702000, '2026-11-01', 900, 40, 1793500703000, 300, 100, 20, 17);
INSERT INTO spend_calls VALUES (2, 1, 'ada', '1', 'extract', 'ada/small', 'claude-code', 'bb', 'project', 'left', 1793500702000, '2026-11-01', 900, 40, NULL, NULL, NULL, NULL, NULL);
INSERT INTO spend_purses VALUES (1, 'tenant', '', 'day', '2026-11-01', 1220, 57);
INSERT INTO spend_purses VALUES (1, 'tenant', '', 'month', '2026-11', 1220, 57);
INSERT INTO spend_purses VALUES (1, 'tenant', '', 'run', '1', 1220, 57);
INSERT INTO spend_purses VALUES (1, 'user', 'ada', 'day', '2026-11-01', 1220, 57);
INSERT INTO spend_purses VALUES (1, 'user', 'ada', 'month', '2026-11', 1220, 57);
INSERT INTO spend_purses VALUES (1, 'user', 'ada', 'run', '1', 1220, 57);
INSERT INTO uses VALUES (4294967299, 1, 'shown', 0, X'', 'cli/2026-11-01', 1793500708000);
INSERT INTO uses VALUES (8589934593, 2, 'cited', 1, X'8909C8F72BF8BAC3FEDB435EDCB233E7', '', 1793500707000);
