-- Everything that Daybook remembers; the index over it has a migration of its own.
-- Times are milliseconds since 1970 UTC; 0 stands for "unknown". Words are those of GLOSSARY.md.

CREATE TABLE tenants (
    tenant_no   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant      TEXT COLLATE "C" NOT NULL UNIQUE
);

-- `known` is FALSE while a session has only been cited; such a one has no label and is not listed.
CREATE TABLE sessions (
    session_no   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no    BIGINT NOT NULL,
    agent        TEXT COLLATE "C" NOT NULL,
    host_id      TEXT COLLATE "C" NOT NULL,
    known        BOOLEAN NOT NULL,
    label        TEXT COLLATE "C",
    kind         TEXT COLLATE "C" NOT NULL,
    memory_off   BOOLEAN NOT NULL,
    switched_off BOOLEAN NOT NULL DEFAULT FALSE,
    forked_from  TEXT COLLATE "C",
    "user"       TEXT COLLATE "C",
    surface      TEXT COLLATE "C",
    first_at     BIGINT NOT NULL,
    last_at      BIGINT NOT NULL,
    events       BIGINT NOT NULL,
    passed       TEXT COLLATE "C" NOT NULL DEFAULT '',
    last_line    BIGINT NOT NULL,
    first_source TEXT COLLATE "C",
    UNIQUE (tenant_no, host_id, agent)
);
CREATE INDEX sessions_active ON sessions (tenant_no, last_at) WHERE known;
CREATE UNIQUE INDEX sessions_label ON sessions (tenant_no, label);

-- event_no is session_no << 32 | seq, so one tree serves the log, and the index points into it.
-- entry is what the session's thread keeps beside the event.
CREATE TABLE events (
    event_no    BIGINT PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    id          BYTEA NOT NULL,
    line        BIGINT NOT NULL,
    origin      TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    tool        TEXT COLLATE "C",
    call        TEXT COLLATE "C",
    status      TEXT COLLATE "C",
    sidechain   BOOLEAN NOT NULL,
    place_no    BIGINT,
    text        TEXT COLLATE "C" NOT NULL,
    entry       TEXT COLLATE "C"
);
CREATE UNIQUE INDEX events_id ON events (session_no, id);

-- The live half of sessions. `block_generation` is the token of the last block, also when it is over.
CREATE TABLE threads (
    session_no       BIGINT PRIMARY KEY,
    tenant_no        BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    custom           TEXT COLLATE "C" NOT NULL,
    deleted_at       BIGINT,
    block_generation BIGINT NOT NULL,
    block_reason     TEXT COLLATE "C",
    block_at         BIGINT,
    block_until      BIGINT
);

-- The state of a thread as its log up to seq made it.
CREATE TABLE thread_snapshots (
    session_no  BIGINT PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    body        BYTEA NOT NULL
);

-- Several identities may stand for one key: projects that a person merged.
CREATE TABLE projects (
    tenant_no   BIGINT NOT NULL,
    identity    TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    guessed     BOOLEAN NOT NULL,
    PRIMARY KEY (tenant_no, identity)
);

CREATE TABLE roots (
    root_no     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    root        TEXT COLLATE "C" NOT NULL,
    project     TEXT COLLATE "C",
    UNIQUE (tenant_no, root)
);
CREATE INDEX roots_project ON roots (tenant_no, project) WHERE project IS NOT NULL;

CREATE TABLE places (
    place_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    root_no     BIGINT NOT NULL,
    branch      TEXT COLLATE "C",
    UNIQUE NULLS NOT DISTINCT (root_no, branch)
);

-- Where the events of a session happened.
CREATE TABLE session_places (
    tenant_no   BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    place_no    BIGINT NOT NULL,
    PRIMARY KEY (session_no, place_no)
);
CREATE INDEX session_places_place ON session_places (place_no);

CREATE TABLE sources (
    tenant_no        BIGINT NOT NULL,
    path             TEXT COLLATE "C" NOT NULL,
    format           TEXT COLLATE "C" NOT NULL,
    session_no       BIGINT,
    size             BIGINT NOT NULL,
    modified         BIGINT NOT NULL,
    "offset"         BIGINT NOT NULL,
    lines            BIGINT NOT NULL,
    fingerprint_head BIGINT NOT NULL,
    fingerprint_tail BIGINT NOT NULL,
    bad_lines        BIGINT NOT NULL,
    first_bad_line   BIGINT,
    first_bad_why    TEXT COLLATE "C",
    secrets          BIGINT NOT NULL,
    state            TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_no, path)
);

CREATE TABLE imports (
    import_no   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    began_at    BIGINT NOT NULL,
    ended_at    BIGINT,
    what        TEXT COLLATE "C" NOT NULL,
    events      BIGINT NOT NULL
);

-- What an import added to a session: seq from_seq..=to_seq, empty when it only created the session.
CREATE TABLE import_ranges (
    tenant_no   BIGINT NOT NULL,
    import_no   BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    from_seq    BIGINT NOT NULL,
    to_seq      BIGINT NOT NULL,
    PRIMARY KEY (import_no, session_no, from_seq)
);

-- The files that an import read, each as it was known before (not `seen`: not at all).
CREATE TABLE import_sources (
    tenant_no        BIGINT NOT NULL,
    import_no        BIGINT NOT NULL,
    path             TEXT COLLATE "C" NOT NULL,
    seen             BOOLEAN NOT NULL,
    format           TEXT COLLATE "C",
    session_no       BIGINT,
    size             BIGINT,
    modified         BIGINT,
    "offset"         BIGINT,
    lines            BIGINT,
    fingerprint_head BIGINT,
    fingerprint_tail BIGINT,
    bad_lines        BIGINT,
    first_bad_line   BIGINT,
    first_bad_why    TEXT COLLATE "C",
    secrets          BIGINT,
    state            TEXT COLLATE "C",
    PRIMARY KEY (import_no, path)
);
CREATE INDEX import_sources_path ON import_sources (tenant_no, path);

-- owner and name: agent and host id of a session, kind and name of a scope. lane_user and lane_agent:
-- whose turn the job takes, beside its tenant. due_at says when the job may be claimed; NULL while
-- there is nothing to do.
CREATE TABLE jobs (
    kind             TEXT COLLATE "C" NOT NULL,
    tenant           TEXT COLLATE "C" NOT NULL,
    owner            TEXT COLLATE "C" NOT NULL,
    name             TEXT COLLATE "C" NOT NULL,
    "user"           TEXT COLLATE "C",
    lane_user        TEXT COLLATE "C" NOT NULL,
    lane_agent       TEXT COLLATE "C" NOT NULL,
    input            BIGINT NOT NULL,
    done             BIGINT NOT NULL,
    redo             BIGINT NOT NULL,
    redo_until       BIGINT,
    turns            BIGINT NOT NULL,
    idle_due         BIGINT NOT NULL,
    deadline         BIGINT NOT NULL,
    priority         BIGINT NOT NULL,
    retry_at         BIGINT,
    outage           BOOLEAN NOT NULL,
    tries            BIGINT NOT NULL,
    failures         BIGINT NOT NULL,
    vanished         BIGINT NOT NULL,
    span             BIGINT,
    suspect_to       BIGINT NOT NULL,
    lease_generation BIGINT,
    lease_until      BIGINT,
    lease_holder     TEXT COLLATE "C",
    lease_upto       BIGINT,
    lease_arrived    BIGINT,
    lease_turns      BIGINT,
    claims           BIGINT NOT NULL,
    failure_class    TEXT COLLATE "C",
    failure_message  TEXT COLLATE "C",
    due_at           BIGINT,
    PRIMARY KEY (kind, tenant, owner, name)
);
CREATE INDEX jobs_turn
    ON jobs (kind, tenant, lane_user, lane_agent, priority, due_at, owner, name)
    WHERE due_at IS NOT NULL;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_leased ON jobs (kind, lease_until) WHERE lease_holder IS NOT NULL;

-- When each lane was served last: a greater number is later. A lane that is not here never was.
CREATE TABLE lanes (
    kind        TEXT COLLATE "C" NOT NULL,
    tenant      TEXT COLLATE "C" NOT NULL,
    "user"      TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    served      BIGINT NOT NULL,
    PRIMARY KEY (kind, tenant, "user", agent)
);
CREATE INDEX lanes_of_tenant ON lanes (kind, tenant, served);
CREATE INDEX lanes_of_user ON lanes (kind, tenant, "user", served);
CREATE SEQUENCE turns;

-- What has become of jobs since the first one. Several rows may count the same, so that nobody waits
-- to count; the number is their sum.
CREATE TABLE tallies (
    tally_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        TEXT COLLATE "C" NOT NULL,
    what        TEXT COLLATE "C" NOT NULL,
    count       BIGINT NOT NULL
);
CREATE INDEX tallies_what ON tallies (kind, what);

CREATE TABLE gaps (
    kind            TEXT COLLATE "C" NOT NULL,
    tenant          TEXT COLLATE "C" NOT NULL,
    owner           TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    from_seq        BIGINT NOT NULL,
    to_seq          BIGINT NOT NULL,
    failure_class   TEXT COLLATE "C" NOT NULL,
    failure_message TEXT COLLATE "C" NOT NULL,
    at              BIGINT NOT NULL,
    engine          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, tenant, owner, name, from_seq)
);

CREATE TABLE scopes (
    scope_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL,
    UNIQUE (tenant_no, kind, name)
);

-- `generation` is the redo that wrote a row; rows with live = FALSE wait for their redo to catch up.
CREATE TABLE extractions (
    extraction_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no     BIGINT NOT NULL,
    session_no    BIGINT NOT NULL,
    generation    BIGINT NOT NULL,
    live          BOOLEAN NOT NULL,
    from_seq      BIGINT NOT NULL,
    to_seq        BIGINT NOT NULL,
    digest        TEXT COLLATE "C",
    writes        TEXT COLLATE "C",
    extractor     TEXT COLLATE "C" NOT NULL,
    at            BIGINT NOT NULL
);
CREATE INDEX extractions_window ON extractions (session_no, from_seq);
CREATE INDEX extractions_staged ON extractions (session_no) WHERE writes IS NOT NULL;

-- text, context and subject are those of the earliest evidence, `shown`. Rows with holds = FALSE have
-- only evidence that waits for its redo.
CREATE TABLE observations (
    observation_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no      BIGINT NOT NULL,
    scope_no       BIGINT NOT NULL,
    id             BIGINT NOT NULL,
    kind           TEXT COLLATE "C" NOT NULL,
    holds          BOOLEAN NOT NULL,
    shown          BIGINT,
    text           TEXT COLLATE "C" NOT NULL,
    context        TEXT COLLATE "C",
    subject        TEXT COLLATE "C",
    tokens         TEXT COLLATE "C" NOT NULL,
    UNIQUE (scope_no, id)
);

-- `generation` is -1 for what a person asked to remember: no redo replaces it.
-- events and lines are comma-separated, ascending.
CREATE TABLE evidence (
    evidence_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no      BIGINT NOT NULL,
    observation_no BIGINT NOT NULL,
    session_no     BIGINT NOT NULL,
    events         TEXT COLLATE "C" NOT NULL,
    generation     BIGINT NOT NULL,
    live           BOOLEAN NOT NULL,
    first_seq      BIGINT NOT NULL,
    last_seq       BIGINT NOT NULL,
    lines          TEXT COLLATE "C" NOT NULL,
    label          TEXT COLLATE "C" NOT NULL,
    at             BIGINT NOT NULL,
    branch         TEXT COLLATE "C",
    root           TEXT COLLATE "C",
    stated         BOOLEAN NOT NULL,
    quoted         BOOLEAN NOT NULL,
    text           TEXT COLLATE "C" NOT NULL,
    context        TEXT COLLATE "C",
    subject        TEXT COLLATE "C",
    tokens         TEXT COLLATE "C" NOT NULL
);
-- A tree refuses keys beyond 2.7 KB, which a long list of events is.
CREATE UNIQUE INDEX evidence_piece
    ON evidence (observation_no, session_no, md5(events), generation);
CREATE INDEX evidence_session ON evidence (session_no, first_seq);
CREATE INDEX evidence_root ON evidence (tenant_no, root) WHERE root IS NOT NULL;

-- What a person took back: these events do not bring the observation back.
CREATE TABLE retractions (
    tenant_no   BIGINT NOT NULL,
    scope_no    BIGINT NOT NULL,
    id          BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    seq         BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    root        TEXT COLLATE "C",
    PRIMARY KEY (scope_no, id, session_no, seq)
);
CREATE INDEX retractions_root ON retractions (tenant_no, root) WHERE root IS NOT NULL;

-- Calls of models, each with the most that it could cost. Until it is settled it counts with that: whoever
-- made it may have ended, and what was sent by then is billed. `day` is that of `at`, in UTC. Money is in
-- millionths; NULL where no price was known.
CREATE TABLE spend_calls (
    call_no      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no    BIGINT NOT NULL,
    "user"         TEXT COLLATE "C" NOT NULL,
    run          TEXT COLLATE "C" NOT NULL,
    stage        TEXT COLLATE "C" NOT NULL,
    model        TEXT COLLATE "C" NOT NULL,
    agent        TEXT COLLATE "C",
    host_id      TEXT COLLATE "C",
    scope_kind   TEXT COLLATE "C",
    scope_name   TEXT COLLATE "C",
    at           BIGINT NOT NULL,
    day          TEXT COLLATE "C" NOT NULL,
    worst_tokens BIGINT NOT NULL,
    worst_money  BIGINT,
    settled_at   BIGINT,
    input        BIGINT,
    cached       BIGINT,
    output       BIGINT,
    money        BIGINT
);
CREATE INDEX spend_calls_at ON spend_calls (tenant_no, at);

-- What counts in each period of a tenant (user '') or user: the sum over its calls, kept so that a
-- reservation need not make it.
CREATE TABLE spend_purses (
    tenant_no   BIGINT NOT NULL,
    payer       TEXT COLLATE "C" NOT NULL,
    "user"        TEXT COLLATE "C" NOT NULL,
    period      TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    tokens      BIGINT NOT NULL,
    money       BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, payer, "user", period, key)
);

-- Histories of memory files: git's own objects. A history ends in `commit` once somebody advanced it;
-- its objects are numbered from 1 without holes.
CREATE TABLE trees (
    tree_no     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    commit      BYTEA,
    beside      TEXT COLLATE "C" NOT NULL,
    objects     BIGINT NOT NULL,
    UNIQUE (tenant_no, kind, name)
);
CREATE TABLE tree_objects (
    tenant_no   BIGINT NOT NULL,
    tree_no     BIGINT NOT NULL,
    nth         BIGINT NOT NULL,
    object      BYTEA NOT NULL,
    what        TEXT COLLATE "C" NOT NULL,
    length      BIGINT NOT NULL,
    bytes       BYTEA NOT NULL,
    PRIMARY KEY (tree_no, nth)
);
CREATE UNIQUE INDEX tree_objects_name ON tree_objects (tree_no, object);


-- Walls. A transaction sees and changes the rows of the tenant that it names (daybook.tenant), or of
-- all tenants where it says so (daybook.tenants = 'all'); one that says neither sees no row. The
-- tables' owner is no exception.
CREATE PROCEDURE build_wall(walled TEXT, mine TEXT) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
    -- In selects of their own, so that each is looked up once for a statement and not for each row.
    EXECUTE format(
        'CREATE POLICY wall ON %I USING (
            %s OR (SELECT current_setting(''daybook.tenants'', TRUE) = ''all''))', walled, mine);
END
$$;

-- For tables with tenant_no. Under a wall only operators that PostgreSQL trusts (=, <, … of numbers
-- and text, but not LIKE, @@, @> or &&) can be answered from an index.
CREATE PROCEDURE build_wall(walled TEXT) LANGUAGE sql AS $$
    CALL build_wall(walled, 'tenant_no = (SELECT tenants.tenant_no FROM tenants
        WHERE tenants.tenant = current_setting(''daybook.tenant'', TRUE))');
$$;

CALL build_wall('tenants', 'tenant = (SELECT current_setting(''daybook.tenant'', TRUE))');
CALL build_wall('jobs', 'tenant = (SELECT current_setting(''daybook.tenant'', TRUE))');
CALL build_wall('lanes', 'tenant = (SELECT current_setting(''daybook.tenant'', TRUE))');
CALL build_wall('gaps', 'tenant = (SELECT current_setting(''daybook.tenant'', TRUE))');
CALL build_wall('sessions');
CALL build_wall('events');
CALL build_wall('threads');
CALL build_wall('thread_snapshots');
CALL build_wall('projects');
CALL build_wall('roots');
CALL build_wall('places');
CALL build_wall('session_places');
CALL build_wall('sources');
CALL build_wall('imports');
CALL build_wall('import_ranges');
CALL build_wall('import_sources');
CALL build_wall('scopes');
CALL build_wall('extractions');
CALL build_wall('observations');
CALL build_wall('evidence');
CALL build_wall('retractions');
CALL build_wall('spend_calls');
CALL build_wall('spend_purses');
CALL build_wall('trees');
CALL build_wall('tree_objects');
