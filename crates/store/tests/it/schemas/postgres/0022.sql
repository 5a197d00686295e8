SELECT pg_catalog.set_config('search_path', '', false);
CREATE PROCEDURE public.build_wall(IN walled text)
    LANGUAGE sql
    AS $$
    CALL build_wall(walled, 'tenant_no = (SELECT tenants.tenant_no FROM tenants
        WHERE tenants.tenant = current_setting(''daybook.tenant'', TRUE))');
$$;
CREATE PROCEDURE public.build_wall(IN walled text, IN mine text)
    LANGUAGE plpgsql
    AS $$
BEGIN
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
    -- In selects of their own, so that each is looked up once for a statement and not for each row.
    EXECUTE format(
        'CREATE POLICY wall ON %I USING (
            %s OR (SELECT current_setting(''daybook.tenants'', TRUE) = ''all''))', walled, mine);
END
$$;
CREATE FUNCTION public.count_more(of_kind text, counted text[], more bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    one TEXT;
BEGIN
    FOREACH one IN ARRAY counted LOOP
        UPDATE tallies SET count = count + more
        WHERE tally_no = (SELECT tally_no FROM tallies WHERE kind = of_kind AND what = one
            ORDER BY tally_no LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO tallies (kind, what, count) VALUES (of_kind, one, more);
        END IF;
    END LOOP;
END
$$;
CREATE FUNCTION public.lock_job(of_kind text, of_tenant text, of_owner text, of_name text) RETURNS json
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    found JSON;
BEGIN
    SELECT row_to_json(jobs) INTO found FROM jobs
    WHERE kind = of_kind AND tenant = of_tenant AND owner = of_owner AND name = of_name FOR UPDATE;
    RETURN found;
END
$$;
CREATE TABLE public.jobs (
    kind text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    "user" text COLLATE pg_catalog."C",
    lane_user text NOT NULL COLLATE pg_catalog."C",
    lane_agent text NOT NULL COLLATE pg_catalog."C",
    input bigint NOT NULL,
    done bigint NOT NULL,
    redo bigint NOT NULL,
    redo_until bigint,
    turns bigint NOT NULL,
    idle_due bigint NOT NULL,
    deadline bigint NOT NULL,
    priority bigint NOT NULL,
    retry_at bigint,
    outage boolean NOT NULL,
    tries bigint NOT NULL,
    failures bigint NOT NULL,
    vanished bigint NOT NULL,
    span bigint,
    suspect_to bigint NOT NULL,
    lease_generation bigint,
    lease_until bigint,
    lease_holder text COLLATE pg_catalog."C",
    lease_upto bigint,
    lease_arrived bigint,
    lease_turns bigint,
    claims bigint NOT NULL,
    failure_class text COLLATE pg_catalog."C",
    failure_message text COLLATE pg_catalog."C",
    due_at bigint
);
ALTER TABLE ONLY public.jobs FORCE ROW LEVEL SECURITY;
CREATE FUNCTION public.next_jobs(of_kind text, at bigint, wanted bigint, lane_wanted bigint, most_running bigint, lane_running bigint, beside bigint) RETURNS SETOF public.jobs
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_sort TO 'off'
    SET enable_incremental_sort TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    SET jit TO 'off'
    AS $$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM jobs WHERE kind = of_kind AND due_at <= at) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH RECURSIVE first AS (
        (SELECT tenant, lane_user, lane_agent, priority, due_at FROM jobs
            WHERE kind = of_kind AND due_at IS NOT NULL
            ORDER BY tenant, lane_user, lane_agent, priority, due_at LIMIT 1)
        UNION ALL
        SELECT further.* FROM first, LATERAL (
            SELECT tenant, lane_user, lane_agent, priority, due_at FROM jobs
            WHERE kind = of_kind AND due_at IS NOT NULL
                AND (tenant, lane_user, lane_agent, priority)
                    > (first.tenant, first.lane_user, first.lane_agent, first.priority)
            ORDER BY tenant, lane_user, lane_agent, priority, due_at LIMIT 1
        ) AS further
    ), running AS (
        SELECT tenant, lane_user, lane_agent, count(*) AS leases FROM jobs
        WHERE kind = of_kind AND lease_holder IS NOT NULL AND lease_until > at
        GROUP BY tenant, lane_user, lane_agent
    ), due AS (
        SELECT tenant, lane_user, lane_agent,
            least(lane_wanted, lane_running - coalesce(leases, 0)) AS room
        FROM (SELECT DISTINCT tenant, lane_user, lane_agent FROM first WHERE due_at <= at) AS lane
        LEFT JOIN running USING (tenant, lane_user, lane_agent)
    ), lane AS (
        SELECT due.*,
            coalesce((SELECT served FROM lanes WHERE kind = of_kind AND tenant = due.tenant
                ORDER BY served DESC LIMIT 1), 0) AS tenant_served,
            coalesce((SELECT served FROM lanes WHERE kind = of_kind AND tenant = due.tenant
                AND "user" = lane_user ORDER BY served DESC LIMIT 1), 0) AS user_served,
            coalesce((SELECT served FROM lanes WHERE kind = of_kind AND tenant = due.tenant
                AND "user" = lane_user AND agent = lane_agent), 0) AS served
        FROM due WHERE room > 0
    ), placed AS (
        SELECT *, count(*) OVER () AS lanes,
            dense_rank() OVER (ORDER BY tenant_served, tenant)
            + dense_rank() OVER (PARTITION BY tenant ORDER BY user_served, lane_user)
            + row_number() OVER (PARTITION BY tenant, lane_user ORDER BY served, lane_agent)
            - 3 AS place
        FROM lane
    ), candidate AS (
        SELECT placed.*, queued.*
        FROM placed JOIN first USING (tenant, lane_user, lane_agent), LATERAL (
            SELECT priority, due_at, owner, name FROM jobs
            WHERE kind = of_kind AND due_at IS NOT NULL
                AND (tenant, lane_user, lane_agent, priority)
                    >= (placed.tenant, placed.lane_user, placed.lane_agent, first.priority)
                AND (tenant, lane_user, lane_agent, priority, due_at)
                    <= (placed.tenant, placed.lane_user, placed.lane_agent, first.priority, at)
            ORDER BY tenant, lane_user, lane_agent, priority, due_at, owner, name
            LIMIT least(room, greatest(wanted - place, beside / lanes + 1))
        ) AS queued
        WHERE first.due_at <= at AND place < beside
    ), of_agent AS (
        SELECT *, row_number() OVER (PARTITION BY tenant, lane_user, lane_agent
            ORDER BY priority DESC, due_at, owner, name) AS agent_round
        FROM candidate
    ), of_user AS (
        SELECT *, row_number() OVER (PARTITION BY tenant, lane_user
            ORDER BY agent_round, served, lane_agent) AS user_round
        FROM of_agent WHERE agent_round <= room
    ), of_tenant AS (
        SELECT *, row_number() OVER (PARTITION BY tenant
            ORDER BY user_round, user_served, lane_user) AS tenant_round
        FROM of_user
    )
    SELECT granted.*
    FROM (SELECT * FROM of_tenant ORDER BY tenant_round, tenant_served, tenant) AS turn, LATERAL (
        SELECT * FROM jobs
        WHERE kind = of_kind AND tenant = turn.tenant AND owner = turn.owner AND name = turn.name
            -- Said so that only the key is looked up; looked at again once the row is locked.
            AND coalesce(due_at <= at, FALSE)
        FOR UPDATE SKIP LOCKED
    ) AS granted
    ORDER BY turn.tenant_round, turn.tenant_served, turn.tenant
    LIMIT greatest(0, least(wanted, most_running - (SELECT coalesce(sum(leases), 0) FROM running)));
END
$$;
CREATE FUNCTION public.save_jobs(jobs_now json) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    now jobs;
BEGIN
    FOR now IN SELECT * FROM json_populate_recordset(NULL::jobs, jobs_now) LOOP
        UPDATE jobs SET
            "user" = now."user", lane_user = now.lane_user, lane_agent = now.lane_agent, input =
            now.input, done = now.done, redo = now.redo, redo_until = now.redo_until, turns =
            now.turns, idle_due = now.idle_due, deadline = now.deadline, priority =
            now.priority, retry_at = now.retry_at, outage = now.outage, tries = now.tries,
            failures = now.failures, vanished = now.vanished, span = now.span, suspect_to =
            now.suspect_to, lease_generation = now.lease_generation, lease_until =
            now.lease_until, lease_holder = now.lease_holder, lease_upto = now.lease_upto,
            lease_arrived = now.lease_arrived, lease_turns = now.lease_turns, claims =
            now.claims, failure_class = now.failure_class, failure_message =
            now.failure_message, due_at = now.due_at
        WHERE kind = now.kind AND tenant = now.tenant AND owner = now.owner AND name = now.name;
        IF NOT FOUND THEN
            RAISE 'there is no job % % % %', now.kind, now.tenant, now.owner, now.name
                USING ERRCODE = 'data_corrupted';
        END IF;
    END LOOP;
END
$$;
CREATE FUNCTION public.serve_lanes(of_kind text, tenants text[], users text[], agents text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    WITH turn AS MATERIALIZED (
        SELECT *, nextval('turns') AS served
        FROM unnest(tenants, users, agents) AS lane (tenant, "user", agent)
    ), free AS MATERIALIZED (
        SELECT lanes.tenant, lanes."user", lanes.agent, turn.served
        FROM lanes JOIN turn USING (tenant, "user", agent)
        WHERE kind = of_kind FOR NO KEY UPDATE OF lanes SKIP LOCKED
    ), again AS (
        UPDATE lanes SET served = free.served FROM free
        WHERE lanes.kind = of_kind AND lanes.tenant = free.tenant AND lanes."user" = free."user"
            AND lanes.agent = free.agent
    )
    INSERT INTO lanes (kind, tenant, "user", agent, served)
    SELECT of_kind, tenant, "user", agent, served FROM turn
    WHERE NOT EXISTS (SELECT FROM lanes WHERE kind = of_kind AND lanes.tenant = turn.tenant
        AND lanes."user" = turn."user" AND lanes.agent = turn.agent)
    ON CONFLICT DO NOTHING;
END
$$;
CREATE TABLE public.commits (
    id bytea NOT NULL,
    tenant text DEFAULT COALESCE(current_setting('daybook.tenant'::text, true), ''::text) NOT NULL COLLATE pg_catalog."C",
    at bigint DEFAULT ((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint NOT NULL,
    kept boolean NOT NULL
);
ALTER TABLE ONLY public.commits FORCE ROW LEVEL SECURITY;
CREATE TABLE public.event_retractions (
    tenant_no bigint NOT NULL,
    event_no bigint NOT NULL,
    target bigint NOT NULL
);
ALTER TABLE ONLY public.event_retractions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.events (
    event_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    session_no bigint NOT NULL,
    id bytea NOT NULL,
    line bigint NOT NULL,
    origin text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    tool text COLLATE pg_catalog."C",
    call text COLLATE pg_catalog."C",
    status text COLLATE pg_catalog."C",
    sidechain boolean NOT NULL,
    place_no bigint,
    text text NOT NULL COLLATE pg_catalog."C",
    entry text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;
CREATE TABLE public.evidence (
    evidence_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    observation_no bigint NOT NULL,
    session_no bigint NOT NULL,
    events text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    live boolean NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    lines text NOT NULL COLLATE pg_catalog."C",
    label text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    branch text COLLATE pg_catalog."C",
    root text COLLATE pg_catalog."C",
    stated boolean NOT NULL,
    quoted boolean NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    subject text COLLATE pg_catalog."C",
    tokens text NOT NULL COLLATE pg_catalog."C",
    origin text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.evidence FORCE ROW LEVEL SECURITY;
ALTER TABLE public.evidence ALTER COLUMN evidence_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.evidence_evidence_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.extractions (
    extraction_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    session_no bigint NOT NULL,
    generation bigint NOT NULL,
    live boolean NOT NULL,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    digest text COLLATE pg_catalog."C",
    writes text COLLATE pg_catalog."C",
    extractor text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    fallback_for text COLLATE pg_catalog."C",
    fallback_until bigint,
    quarantined text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.extractions FORCE ROW LEVEL SECURITY;
ALTER TABLE public.extractions ALTER COLUMN extraction_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.extractions_extraction_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.gaps (
    kind text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL,
    failure_class text NOT NULL COLLATE pg_catalog."C",
    failure_message text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    engine text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.gaps FORCE ROW LEVEL SECURITY;
CREATE TABLE public.import_ranges (
    tenant_no bigint NOT NULL,
    import_no bigint NOT NULL,
    session_no bigint NOT NULL,
    from_seq bigint NOT NULL,
    to_seq bigint NOT NULL
);
ALTER TABLE ONLY public.import_ranges FORCE ROW LEVEL SECURITY;
CREATE TABLE public.import_sources (
    tenant_no bigint NOT NULL,
    import_no bigint NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    seen boolean NOT NULL,
    format text COLLATE pg_catalog."C",
    session_no bigint,
    size bigint,
    modified bigint,
    "offset" bigint,
    lines bigint,
    fingerprint_head bigint,
    fingerprint_tail bigint,
    bad_lines bigint,
    first_bad_line bigint,
    first_bad_why text COLLATE pg_catalog."C",
    secrets bigint,
    state text COLLATE pg_catalog."C",
    failure text COLLATE pg_catalog."C",
    reading bigint DEFAULT 0,
    claimed_id text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.import_sources FORCE ROW LEVEL SECURITY;
CREATE TABLE public.imports (
    import_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    began_at bigint NOT NULL,
    ended_at bigint,
    what text NOT NULL COLLATE pg_catalog."C",
    events bigint NOT NULL
);
ALTER TABLE ONLY public.imports FORCE ROW LEVEL SECURITY;
ALTER TABLE public.imports ALTER COLUMN import_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.imports_import_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ix_docs (
    doc bigint NOT NULL,
    tenant_no bigint NOT NULL,
    words text[] NOT NULL COLLATE pg_catalog."C",
    owner bigint,
    origin text COLLATE pg_catalog."C",
    at bigint DEFAULT 0 NOT NULL,
    terms bytea
);
ALTER TABLE ONLY public.ix_docs FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ix_entries (
    entry_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    file_no bigint NOT NULL,
    line bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    heading text NOT NULL COLLATE pg_catalog."C",
    observation bigint,
    citation text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.ix_entries FORCE ROW LEVEL SECURITY;
ALTER TABLE public.ix_entries ALTER COLUMN entry_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ix_entries_entry_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ix_files (
    file_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    scope_no bigint NOT NULL,
    file text NOT NULL COLLATE pg_catalog."C",
    stamp text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);
ALTER TABLE ONLY public.ix_files FORCE ROW LEVEL SECURITY;
ALTER TABLE public.ix_files ALTER COLUMN file_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ix_files_file_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ix_models (
    tenant_no bigint NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.ix_models FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ix_signs (
    tenant_no bigint NOT NULL,
    doc bigint NOT NULL,
    owner bigint,
    origin text COLLATE pg_catalog."C",
    signs bit varying NOT NULL
);
ALTER TABLE ONLY public.ix_signs FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ix_sizes (
    size_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    documents bigint NOT NULL
);
ALTER TABLE ONLY public.ix_sizes FORCE ROW LEVEL SECURITY;
ALTER TABLE public.ix_sizes ALTER COLUMN size_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.ix_sizes_size_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ix_unembedded (
    tenant_no bigint NOT NULL,
    doc bigint NOT NULL
);
ALTER TABLE ONLY public.ix_unembedded FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ix_vectors (
    tenant_no bigint NOT NULL,
    doc bigint NOT NULL,
    vectors bytea NOT NULL
);
ALTER TABLE ONLY public.ix_vectors FORCE ROW LEVEL SECURITY;
CREATE TABLE public.ix_words (
    tenant_no bigint NOT NULL,
    word text NOT NULL COLLATE pg_catalog."C",
    doc bigint NOT NULL,
    owner bigint
)
WITH (autovacuum_vacuum_insert_scale_factor='0.02', autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE ONLY public.ix_words FORCE ROW LEVEL SECURITY;
CREATE TABLE public.lanes (
    kind text NOT NULL COLLATE pg_catalog."C",
    tenant text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    agent text NOT NULL COLLATE pg_catalog."C",
    served bigint NOT NULL
);
ALTER TABLE ONLY public.lanes FORCE ROW LEVEL SECURITY;
CREATE TABLE public.observations (
    observation_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    scope_no bigint NOT NULL,
    id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    holds boolean NOT NULL,
    shown bigint,
    text text NOT NULL COLLATE pg_catalog."C",
    context text COLLATE pg_catalog."C",
    subject text COLLATE pg_catalog."C",
    tokens text NOT NULL COLLATE pg_catalog."C",
    origin text COLLATE pg_catalog."C",
    later bigint,
    ended_because text COLLATE pg_catalog."C",
    ended_at bigint
);
ALTER TABLE ONLY public.observations FORCE ROW LEVEL SECURITY;
ALTER TABLE public.observations ALTER COLUMN observation_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.observations_observation_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.scopes (
    scope_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    selection text COLLATE pg_catalog."C",
    proposals text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.scopes FORCE ROW LEVEL SECURITY;
CREATE TABLE public.sessions (
    session_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    agent text NOT NULL COLLATE pg_catalog."C",
    host_id text NOT NULL COLLATE pg_catalog."C",
    known boolean NOT NULL,
    label text COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    memory_off boolean NOT NULL,
    switched_off boolean DEFAULT false NOT NULL,
    forked_from text COLLATE pg_catalog."C",
    "user" text COLLATE pg_catalog."C",
    surface text COLLATE pg_catalog."C",
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    events bigint NOT NULL,
    passed text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    last_line bigint NOT NULL,
    first_source text COLLATE pg_catalog."C",
    rules bigint DEFAULT 0 NOT NULL,
    rescan bigint,
    pollution text COLLATE pg_catalog."C",
    kept_on boolean DEFAULT false NOT NULL,
    room_id text COLLATE pg_catalog."C",
    thread_id text COLLATE pg_catalog."C",
    team text COLLATE pg_catalog."C",
    filed_in text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tenants (
    tenant_no bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.tenants FORCE ROW LEVEL SECURITY;
CREATE TABLE public.uses (
    tenant_no bigint NOT NULL,
    event_no bigint NOT NULL,
    session_no bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    by_session bigint NOT NULL,
    by_event bytea NOT NULL,
    by_door text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);
ALTER TABLE ONLY public.uses FORCE ROW LEVEL SECURITY;
CREATE VIEW public.pipeline_state AS
 SELECT tenants.tenant,
    session.agent AS agent_name,
    session.host_id AS session_id,
        CASE
            WHEN (session.pollution IS NOT NULL) THEN 'polluted'::text
            WHEN (session.memory_off OR session.switched_off) THEN 'disabled'::text
            ELSE 'enabled'::text
        END AS memory_mode,
    job.input AS input_watermark,
    NULLIF(job.done, 0) AS last_success_watermark,
    NULLIF(job.done, 0) AS processed_until,
        CASE
            WHEN (job.input > job.done) THEN job.input
            ELSE NULL::bigint
        END AS invalidated_at,
    COALESCE((job.input > job.done), false) AS dirty,
    COALESCE(((job.lease_holder IS NOT NULL) AND (job.lease_until > ((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint)), false) AS in_flight,
        CASE
            WHEN ((job.lease_holder IS NOT NULL) AND (job.lease_until > ((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric))::bigint)) THEN 'running'::text
            WHEN ((job.input > job.done) AND (job.failure_class IS NOT NULL)) THEN 'error'::text
            WHEN (job.input > job.done) THEN 'pending'::text
            ELSE 'done'::text
        END AS status,
    job.lease_holder AS worker_id,
    (job.lease_generation)::text AS ownership_token,
        CASE
            WHEN (job.tries >= 3) THEN (0)::bigint
            ELSE (3 - COALESCE(job.tries, (0)::bigint))
        END AS retry_remaining,
    job.failure_message AS last_error,
    job.lease_until,
    job.retry_at,
    ( SELECT events.at
           FROM public.events
          WHERE ((job.input > job.done) AND (events.event_no = (((session.session_no << 32) + job.done) + 1)))) AS first_dirty_at,
    session.last_at AS last_seen_at,
    session.last_at AS last_session_updated_at,
    ( SELECT max(extractions.at) AS max
           FROM public.extractions
          WHERE ((extractions.session_no = session.session_no) AND extractions.live)) AS last_flushed_at,
    ( SELECT events.at
           FROM public.events
          WHERE (events.event_no = ((session.session_no << 32) + job.done))) AS last_flushed_session_updated_at,
    ( SELECT events.at
           FROM public.events
          WHERE (events.event_no = ((session.session_no << 32) + job.done))) AS source_updated_at,
    ( SELECT max(extractions.at) AS max
           FROM public.extractions
          WHERE ((extractions.session_no = session.session_no) AND extractions.live AND (extractions.digest IS NOT NULL))) AS generated_at,
    ( SELECT count(*) AS count
           FROM ( SELECT DISTINCT uses.by_session,
                    uses.by_door
                   FROM public.uses
                  WHERE ((uses.kind = 'cited'::text) AND (uses.tenant_no = session.tenant_no) AND (uses.event_no >= (session.session_no << 32)) AND (uses.event_no < ((session.session_no + 1) << 32)))) citing) AS usage_count,
    ( SELECT max(uses.at) AS max
           FROM public.uses
          WHERE ((uses.kind = 'cited'::text) AND (uses.tenant_no = session.tenant_no) AND (uses.event_no >= (session.session_no << 32)) AND (uses.event_no < ((session.session_no + 1) << 32)))) AS last_usage,
    (EXISTS ( SELECT
           FROM public.scopes,
            LATERAL jsonb_array_elements(((scopes.selection)::jsonb -> 'sessions'::text)) selected(value)
          WHERE ((scopes.tenant_no = session.tenant_no) AND ((selected.value #>> '{session,agent}'::text[]) = session.agent) AND ((selected.value #>> '{session,host_id}'::text[]) = session.host_id)))) AS selected_for_phase2,
    ( SELECT max(events.at) AS max
           FROM public.scopes,
            LATERAL jsonb_array_elements(((scopes.selection)::jsonb -> 'sessions'::text)) selected(value),
            public.events
          WHERE ((scopes.tenant_no = session.tenant_no) AND ((selected.value #>> '{session,agent}'::text[]) = session.agent) AND ((selected.value #>> '{session,host_id}'::text[]) = session.host_id) AND (events.event_no = ((session.session_no << 32) + ((selected.value #>> '{snapshot,upto}'::text[]))::bigint)))) AS selected_for_phase2_source_updated_at
   FROM ((public.sessions session
     JOIN public.tenants ON ((tenants.tenant_no = session.tenant_no)))
     LEFT JOIN public.jobs job ON (((job.kind = 'extract'::text) AND (job.tenant = tenants.tenant) AND (job.owner = session.agent) AND (job.name = session.host_id))))
  WHERE session.known;
CREATE TABLE public.places (
    place_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    root_no bigint NOT NULL,
    branch text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.places FORCE ROW LEVEL SECURITY;
ALTER TABLE public.places ALTER COLUMN place_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.places_place_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.projects (
    tenant_no bigint NOT NULL,
    identity text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    guessed boolean NOT NULL
);
ALTER TABLE ONLY public.projects FORCE ROW LEVEL SECURITY;
CREATE TABLE public.purge_keys (
    tenant_no bigint NOT NULL,
    key bytea NOT NULL
);
ALTER TABLE ONLY public.purge_keys FORCE ROW LEVEL SECURITY;
CREATE TABLE public.retractions (
    tenant_no bigint NOT NULL,
    scope_no bigint NOT NULL,
    id bigint NOT NULL,
    session_no bigint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    text text NOT NULL COLLATE pg_catalog."C",
    root text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.retractions FORCE ROW LEVEL SECURITY;
CREATE TABLE public.root_remotes (
    event_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    session_no bigint NOT NULL,
    root text NOT NULL COLLATE pg_catalog."C",
    remote text NOT NULL COLLATE pg_catalog."C",
    shown_by text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.root_remotes FORCE ROW LEVEL SECURITY;
CREATE TABLE public.roots (
    root_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    root text NOT NULL COLLATE pg_catalog."C",
    project text COLLATE pg_catalog."C",
    derived boolean DEFAULT false NOT NULL
);
ALTER TABLE ONLY public.roots FORCE ROW LEVEL SECURITY;
ALTER TABLE public.roots ALTER COLUMN root_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.roots_root_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.schema_migrations (
    version bigint NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at bigint NOT NULL,
    serves bigint NOT NULL
);
ALTER TABLE public.scopes ALTER COLUMN scope_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.scopes_scope_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.session_places (
    tenant_no bigint NOT NULL,
    session_no bigint NOT NULL,
    place_no bigint NOT NULL
);
ALTER TABLE ONLY public.session_places FORCE ROW LEVEL SECURITY;
ALTER TABLE public.sessions ALTER COLUMN session_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sessions_session_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.sources (
    tenant_no bigint NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    session_no bigint,
    size bigint NOT NULL,
    modified bigint NOT NULL,
    "offset" bigint NOT NULL,
    lines bigint NOT NULL,
    fingerprint_head bigint NOT NULL,
    fingerprint_tail bigint NOT NULL,
    bad_lines bigint NOT NULL,
    first_bad_line bigint,
    first_bad_why text COLLATE pg_catalog."C",
    secrets bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    failure text COLLATE pg_catalog."C",
    reading bigint DEFAULT 0 NOT NULL,
    claimed_id text COLLATE pg_catalog."C"
);
ALTER TABLE ONLY public.sources FORCE ROW LEVEL SECURITY;
CREATE TABLE public.spend_calls (
    call_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    "user" text NOT NULL COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    stage text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    agent text COLLATE pg_catalog."C",
    host_id text COLLATE pg_catalog."C",
    scope_kind text COLLATE pg_catalog."C",
    scope_name text COLLATE pg_catalog."C",
    at bigint NOT NULL,
    day text NOT NULL COLLATE pg_catalog."C",
    worst_tokens bigint NOT NULL,
    worst_money bigint,
    settled_at bigint,
    input bigint,
    cached bigint,
    output bigint,
    money bigint
);
ALTER TABLE ONLY public.spend_calls FORCE ROW LEVEL SECURITY;
ALTER TABLE public.spend_calls ALTER COLUMN call_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.spend_calls_call_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.spend_purses (
    tenant_no bigint NOT NULL,
    payer text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    period text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    tokens bigint NOT NULL,
    money bigint NOT NULL
);
ALTER TABLE ONLY public.spend_purses FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tallies (
    tally_no bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    what text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);
ALTER TABLE public.tallies ALTER COLUMN tally_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tallies_tally_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE public.tenants ALTER COLUMN tenant_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tenants_tenant_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.thread_snapshots (
    session_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL
);
ALTER TABLE ONLY public.thread_snapshots FORCE ROW LEVEL SECURITY;
CREATE TABLE public.threads (
    session_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    custom text NOT NULL COLLATE pg_catalog."C",
    deleted_at bigint,
    block_generation bigint NOT NULL,
    block_reason text COLLATE pg_catalog."C",
    block_at bigint,
    block_until bigint
);
ALTER TABLE ONLY public.threads FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tombstones (
    tenant_no bigint NOT NULL,
    mark bytea NOT NULL
);
ALTER TABLE ONLY public.tombstones FORCE ROW LEVEL SECURITY;
CREATE TABLE public.tree_objects (
    tenant_no bigint NOT NULL,
    tree_no bigint NOT NULL,
    nth bigint NOT NULL,
    object bytea NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    length bigint NOT NULL,
    bytes bytea NOT NULL
);
ALTER TABLE ONLY public.tree_objects FORCE ROW LEVEL SECURITY;
CREATE TABLE public.trees (
    tree_no bigint NOT NULL,
    tenant_no bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    commit bytea,
    beside text NOT NULL COLLATE pg_catalog."C",
    objects bigint NOT NULL,
    rewrites bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.trees FORCE ROW LEVEL SECURITY;
ALTER TABLE public.trees ALTER COLUMN tree_no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.trees_tree_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE public.turns
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
INSERT INTO public.events VALUES (4294967297, 1, 1, '\x931b7d798608163034002ec84bc9c771', 1, 'human', 1793491201000, NULL, NULL, NULL, false, 1, 't0 s0 1', NULL);
INSERT INTO public.events VALUES (4294967298, 1, 1, '\x8909c8f72bf8bac3fedb435edcb233e7', 2, 'human', 1793491202000, NULL, NULL, NULL, false, 1, 't0 s0 2', NULL);
INSERT INTO public.events VALUES (4294967299, 1, 1, '\x32ffaccb6f088efa9f6238ec477f3f94', 3, 'human', 1793491203000, NULL, NULL, NULL, false, 1, 't0 s0 3', NULL);
INSERT INTO public.events VALUES (4294967300, 1, 1, '\x4eef8e4dee7da89aa49ba9c143039d34', 4, 'human', 1793491204000, NULL, NULL, NULL, false, 1, 't0 s0 4', NULL);
INSERT INTO public.events VALUES (8589934593, 1, 2, '\x15f167e9fc04f236dbda636bb20a6ed3', 1, 'human', 1793491200000, NULL, NULL, NULL, false, NULL, 't1 s2 e3', NULL);
INSERT INTO public.events VALUES (4294967301, 1, 1, '\x941d262510652f20f3b9373beeab4d38', 5, 'human', 1793491201000, NULL, NULL, NULL, false, NULL, 't1 s2 1', NULL);
INSERT INTO public.events VALUES (4294967302, 1, 1, '\x03600ab951a2deb6c9d7ba68bfb4ea63', 6, 'human', 1793491202000, NULL, NULL, NULL, false, NULL, 't1 s2 2', NULL);
INSERT INTO public.events VALUES (8589934594, 1, 2, '\x220a19090ed3cf419af99d80d9e7da51', 2, 'human', 1793491200000, NULL, NULL, NULL, false, NULL, 't0 s1 e1', '{}');
INSERT INTO public.evidence OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 1, '1,2', 0, true, 1, 2, '1,2', 'aaaa', 1793491201000, 'main', NULL, true, true, 'said once', 'context of said once', NULL, 'said once', 'typed');
INSERT INTO public.extractions OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 0, true, 1, 4, '{"task":null,"outcome":null,"last_words":null,"answered":false,"commits":0,"pushed":0,"highlights":[],"human_messages":0,"branch":null,"root":null,"from_at":0,"to_at":0}', NULL, 'test/1', 1793500200000, NULL, NULL, NULL);
INSERT INTO public.import_ranges VALUES (1, 1, 1, 1, 4);
INSERT INTO public.import_sources VALUES (1, 1, '/logs/1', false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.imports OVERRIDING SYSTEM VALUE VALUES (1, 1, 1793491200000, 1793491201000, 'all', 4);
INSERT INTO public.ix_sizes OVERRIDING SYSTEM VALUE VALUES (1, 1, 0);
INSERT INTO public.jobs VALUES ('extract', 'local', 'claude-code', 'aaaa-one', NULL, '', 'claude-code', 6, 4, 0, NULL, 2, 1793491322000, 1793491802000, 1, NULL, false, 0, 0, 0, NULL, 0, 2, 1793500760000, 'worker', 6, NULL, 0, 2, NULL, NULL, 1793500760000);
INSERT INTO public.jobs VALUES ('consolidate', 'local', 'project', 'left', NULL, '', '', 2, 0, 0, NULL, 0, 1793500200000, 1793491202000, 1, 1793500731000, false, 1, 1, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'content', 'no usable answer', 1793500731000);
INSERT INTO public.jobs VALUES ('extract', 'local', 'claude-code', 'bb', NULL, '', 'claude-code', 2, 0, 0, NULL, 1, 1793491320000, 1793491800000, 1, NULL, false, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, 1793491320000);
INSERT INTO public.lanes VALUES ('extract', 'local', '', 'claude-code', 2);
INSERT INTO public.lanes VALUES ('consolidate', 'local', '', '', 3);
INSERT INTO public.observations OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 6920554953402613707, 'preference', true, 1, 'said once', 'context of said once', NULL, 'said once', 'typed', NULL, NULL, NULL);
INSERT INTO public.places OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 'main');
INSERT INTO public.projects VALUES (1, 'example.org/ada/left', 'left', false);
INSERT INTO public.roots OVERRIDING SYSTEM VALUE VALUES (1, 1, '/home/ada/a', 'left', false);
INSERT INTO public.schema_migrations VALUES (1, 'first', 'a07b819f7d40e1e22038abff63ad0a81', 1795754215571, 1);
INSERT INTO public.schema_migrations VALUES (2, 'index', '48ee6e77323630aaf5ec385b23f66ed4', 1795754215618, 2);
INSERT INTO public.schema_migrations VALUES (3, 'jobs', '0c05079586c8e9f5eef4866e8e545249', 1795754215638, 3);
INSERT INTO public.schema_migrations VALUES (4, 'failing sources', '6f28e1383adde6964cf544faf11abad1', 1795754215652, 3);
INSERT INTO public.schema_migrations VALUES (5, 'identity', '2d0dc95ffabc437fcfd6fafbc7c113e8', 1795754215658, 3);
INSERT INTO public.schema_migrations VALUES (6, 'commits', '52fe143ebab22e6615996b59508c6587', 1795754215669, 3);
INSERT INTO public.schema_migrations VALUES (7, 'outlines', '21912971a20710f12ae505156e59e88d', 1795754215699, 7);
INSERT INTO public.schema_migrations VALUES (8, 'uses', '0d12a30f6605ec09edd7896e0c2b149f', 1795754215734, 7);
INSERT INTO public.schema_migrations VALUES (9, 'fallbacks', '3a572dff2c9fa68e7b220702eee442bc', 1795754215752, 7);
INSERT INTO public.schema_migrations VALUES (10, 'typed references', '93c722a0be09ff070a9f8ac2c8824e0e', 1795754215766, 10);
INSERT INTO public.schema_migrations VALUES (11, 'quarantine', 'dc465f0e329dd87079be903c89919cc2', 1795754215785, 10);
INSERT INTO public.schema_migrations VALUES (12, 'rescans', '091efcece71ecb2ff47f0f05449b7b07', 1795754215803, 12);
INSERT INTO public.schema_migrations VALUES (13, 'pollution', 'd41caf62dda9ab7245e8293379fc9ba1', 1795754215815, 12);
INSERT INTO public.schema_migrations VALUES (14, 'origins', 'e2704dec1a228197259cdc5891157d01', 1795754215819, 12);
INSERT INTO public.schema_migrations VALUES (15, 'supersessions', 'ad1e1e0c70d6c68938993d085bd3898a', 1795754215834, 12);
INSERT INTO public.schema_migrations VALUES (16, 'selections', '0366d963653b6156f3a783df3c9b8702', 1795754215845, 12);
INSERT INTO public.schema_migrations VALUES (17, 'proposals', '17641a188ce87bc2ef1fb2e84ec268c8', 1795754215849, 12);
INSERT INTO public.schema_migrations VALUES (18, 'pipeline_state', '662d73889d8c23dba3d0465384b07773', 1795754215866, 12);
INSERT INTO public.schema_migrations VALUES (19, 'venues', '390d068e502de486a7a3f3356a2e9ba6', 1795754215884, 19);
INSERT INTO public.schema_migrations VALUES (20, 'tombstones', 'ee06dff3b1f00d61cb7ba8bd9ef6bf23', 1795754215906, 20);
INSERT INTO public.schema_migrations VALUES (21, 'rewritten trees', 'd91fac963a5b2c87108546ccc74fdc22', 1795754215915, 21);
INSERT INTO public.schema_migrations VALUES (22, 'overviews', '083e1113bb9b43bb6259f6ee0fbc8798', 1795754215921, 21);
INSERT INTO public.scopes OVERRIDING SYSTEM VALUE VALUES (1, 1, 'project', 'left', 2, NULL, NULL);
INSERT INTO public.session_places VALUES (1, 1, 1);
INSERT INTO public.sessions OVERRIDING SYSTEM VALUE VALUES (1, 1, 'claude-code', 'aaaa-one', true, 'aaaa', 'root', false, false, NULL, NULL, NULL, 1793491201000, 1793491204000, 6, '', 6, '/logs/1', 7, NULL, NULL, false, NULL, NULL, NULL, NULL);
INSERT INTO public.sessions OVERRIDING SYSTEM VALUE VALUES (3, 1, 'claude-code', 'gone', true, 'gone', 'root', false, false, NULL, NULL, NULL, 0, 0, 0, '', 0, NULL, 7, NULL, NULL, false, NULL, NULL, NULL, NULL);
INSERT INTO public.sessions OVERRIDING SYSTEM VALUE VALUES (2, 1, 'claude-code', 'bb', true, 'bb', 'root', false, false, NULL, NULL, NULL, 1793491200000, 1793491200000, 2, '', 2, NULL, 7, NULL, NULL, false, NULL, NULL, NULL, NULL);
INSERT INTO public.sources VALUES (1, '/logs/1', 'claude-code', 1, 4, 0, 4, 4, 4, -5, 1, 1, 'not JSON', 0, '{}', NULL, 0, NULL);
INSERT INTO public.spend_calls OVERRIDING SYSTEM VALUE VALUES (1, 1, 'ada', '1', 'extract', 'ada/small', 'claude-code', 'bb', 'project', 'left', 1793500702000, '2026-11-01', 900, 40, 1793500703000, 300, 100, 20, 17);
INSERT INTO public.spend_calls OVERRIDING SYSTEM VALUE VALUES (2, 1, 'ada', '1', 'extract', 'ada/small', 'claude-code', 'bb', 'project', 'left', 1793500702000, '2026-11-01', 900, 40, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.spend_purses VALUES (1, 'tenant', '', 'day', '2026-11-01', 1220, 57);
INSERT INTO public.spend_purses VALUES (1, 'tenant', '', 'month', '2026-11', 1220, 57);
INSERT INTO public.spend_purses VALUES (1, 'tenant', '', 'run', '1', 1220, 57);
INSERT INTO public.spend_purses VALUES (1, 'user', 'ada', 'day', '2026-11-01', 1220, 57);
INSERT INTO public.spend_purses VALUES (1, 'user', 'ada', 'month', '2026-11', 1220, 57);
INSERT INTO public.spend_purses VALUES (1, 'user', 'ada', 'run', '1', 1220, 57);
INSERT INTO public.tallies OVERRIDING SYSTEM VALUE VALUES (2, 'extract', 'finished', 1);
INSERT INTO public.tallies OVERRIDING SYSTEM VALUE VALUES (1, 'extract', 'claimed', 2);
INSERT INTO public.tallies OVERRIDING SYSTEM VALUE VALUES (3, 'consolidate', 'claimed', 1);
INSERT INTO public.tallies OVERRIDING SYSTEM VALUE VALUES (4, 'consolidate', 'failed_content', 1);
INSERT INTO public.tenants OVERRIDING SYSTEM VALUE VALUES (1, 'local');
INSERT INTO public.thread_snapshots VALUES (2, 1, 1, '\x7374617465');
INSERT INTO public.threads VALUES (2, 1, 1793500704000, 1793491200000, '{"colour":"blue"}', NULL, 1, 'PAUSED', 2, 9223372036854775807);
INSERT INTO public.threads VALUES (3, 1, 1793500704000, 1793500704000, '{"colour":"blue"}', 1793500706000, 0, NULL, NULL, NULL);
INSERT INTO public.uses VALUES (1, 4294967299, 1, 'shown', 0, '\x', 'cli/2026-11-01', 1793500708000);
INSERT INTO public.uses VALUES (1, 8589934593, 2, 'cited', 1, '\x8909c8f72bf8bac3fedb435edcb233e7', '', 1793500707000);
SELECT pg_catalog.setval('public.evidence_evidence_no_seq', 1, true);
SELECT pg_catalog.setval('public.extractions_extraction_no_seq', 1, true);
SELECT pg_catalog.setval('public.imports_import_no_seq', 1, true);
SELECT pg_catalog.setval('public.ix_entries_entry_no_seq', 1, false);
SELECT pg_catalog.setval('public.ix_files_file_no_seq', 1, false);
SELECT pg_catalog.setval('public.ix_sizes_size_no_seq', 1, true);
SELECT pg_catalog.setval('public.observations_observation_no_seq', 1, true);
SELECT pg_catalog.setval('public.places_place_no_seq', 1, true);
SELECT pg_catalog.setval('public.roots_root_no_seq', 2, true);
SELECT pg_catalog.setval('public.scopes_scope_no_seq', 2, true);
SELECT pg_catalog.setval('public.sessions_session_no_seq', 3, true);
SELECT pg_catalog.setval('public.spend_calls_call_no_seq', 2, true);
SELECT pg_catalog.setval('public.tallies_tally_no_seq', 4, true);
SELECT pg_catalog.setval('public.tenants_tenant_no_seq', 1, true);
SELECT pg_catalog.setval('public.trees_tree_no_seq', 1, false);
SELECT pg_catalog.setval('public.turns', 3, true);
ALTER TABLE ONLY public.commits
    ADD CONSTRAINT commits_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.event_retractions
    ADD CONSTRAINT event_retractions_pkey PRIMARY KEY (event_no, target);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (event_no);
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (evidence_no);
ALTER TABLE ONLY public.extractions
    ADD CONSTRAINT extractions_pkey PRIMARY KEY (extraction_no);
ALTER TABLE ONLY public.gaps
    ADD CONSTRAINT gaps_pkey PRIMARY KEY (kind, tenant, owner, name, from_seq);
ALTER TABLE ONLY public.import_ranges
    ADD CONSTRAINT import_ranges_pkey PRIMARY KEY (import_no, session_no, from_seq);
ALTER TABLE ONLY public.import_sources
    ADD CONSTRAINT import_sources_pkey PRIMARY KEY (import_no, path);
ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (import_no);
ALTER TABLE ONLY public.ix_docs
    ADD CONSTRAINT ix_docs_pkey PRIMARY KEY (doc);
ALTER TABLE ONLY public.ix_entries
    ADD CONSTRAINT ix_entries_pkey PRIMARY KEY (entry_no);
ALTER TABLE ONLY public.ix_files
    ADD CONSTRAINT ix_files_pkey PRIMARY KEY (file_no);
ALTER TABLE ONLY public.ix_files
    ADD CONSTRAINT ix_files_scope_no_file_key UNIQUE (scope_no, file);
ALTER TABLE ONLY public.ix_models
    ADD CONSTRAINT ix_models_pkey PRIMARY KEY (tenant_no);
ALTER TABLE ONLY public.ix_signs
    ADD CONSTRAINT ix_signs_pkey PRIMARY KEY (tenant_no, doc);
ALTER TABLE ONLY public.ix_sizes
    ADD CONSTRAINT ix_sizes_pkey PRIMARY KEY (size_no);
ALTER TABLE ONLY public.ix_unembedded
    ADD CONSTRAINT ix_unembedded_pkey PRIMARY KEY (tenant_no, doc);
ALTER TABLE ONLY public.ix_vectors
    ADD CONSTRAINT ix_vectors_pkey PRIMARY KEY (tenant_no, doc);
ALTER TABLE ONLY public.ix_words
    ADD CONSTRAINT ix_words_pkey PRIMARY KEY (tenant_no, word, doc) INCLUDE (owner);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (kind, tenant, owner, name);
ALTER TABLE ONLY public.lanes
    ADD CONSTRAINT lanes_pkey PRIMARY KEY (kind, tenant, "user", agent);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_pkey PRIMARY KEY (observation_no);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_scope_no_id_key UNIQUE (scope_no, id);
ALTER TABLE ONLY public.places
    ADD CONSTRAINT places_pkey PRIMARY KEY (place_no);
ALTER TABLE ONLY public.places
    ADD CONSTRAINT places_root_no_branch_key UNIQUE NULLS NOT DISTINCT (root_no, branch);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (tenant_no, identity);
ALTER TABLE ONLY public.purge_keys
    ADD CONSTRAINT purge_keys_pkey PRIMARY KEY (tenant_no);
ALTER TABLE ONLY public.retractions
    ADD CONSTRAINT retractions_pkey PRIMARY KEY (scope_no, id, session_no, seq);
ALTER TABLE ONLY public.root_remotes
    ADD CONSTRAINT root_remotes_pkey PRIMARY KEY (event_no, root, remote, shown_by);
ALTER TABLE ONLY public.roots
    ADD CONSTRAINT roots_pkey PRIMARY KEY (root_no);
ALTER TABLE ONLY public.roots
    ADD CONSTRAINT roots_tenant_no_root_key UNIQUE (tenant_no, root);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_pkey PRIMARY KEY (scope_no);
ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_tenant_no_kind_name_key UNIQUE (tenant_no, kind, name);
ALTER TABLE ONLY public.session_places
    ADD CONSTRAINT session_places_pkey PRIMARY KEY (session_no, place_no);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session_no);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_tenant_no_host_id_agent_key UNIQUE (tenant_no, host_id, agent);
ALTER TABLE ONLY public.sources
    ADD CONSTRAINT sources_pkey PRIMARY KEY (tenant_no, path);
ALTER TABLE ONLY public.spend_calls
    ADD CONSTRAINT spend_calls_pkey PRIMARY KEY (call_no);
ALTER TABLE ONLY public.spend_purses
    ADD CONSTRAINT spend_purses_pkey PRIMARY KEY (tenant_no, payer, "user", period, key);
ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (tally_no);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_pkey PRIMARY KEY (tenant_no);
ALTER TABLE ONLY public.tenants
    ADD CONSTRAINT tenants_tenant_key UNIQUE (tenant);
ALTER TABLE ONLY public.thread_snapshots
    ADD CONSTRAINT thread_snapshots_pkey PRIMARY KEY (session_no);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (session_no);
ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (tenant_no, mark);
ALTER TABLE ONLY public.tree_objects
    ADD CONSTRAINT tree_objects_pkey PRIMARY KEY (tree_no, nth);
ALTER TABLE ONLY public.trees
    ADD CONSTRAINT trees_pkey PRIMARY KEY (tree_no);
ALTER TABLE ONLY public.trees
    ADD CONSTRAINT trees_tenant_no_kind_name_key UNIQUE (tenant_no, kind, name);
ALTER TABLE ONLY public.uses
    ADD CONSTRAINT uses_pkey PRIMARY KEY (tenant_no, event_no, kind, by_session, by_door);
CREATE INDEX commits_at ON public.commits USING btree (at);
CREATE UNIQUE INDEX events_id ON public.events USING btree (session_no, id);
CREATE UNIQUE INDEX evidence_piece ON public.evidence USING btree (observation_no, session_no, md5(events), generation);
CREATE INDEX evidence_root ON public.evidence USING btree (tenant_no, root) WHERE (root IS NOT NULL);
CREATE INDEX evidence_session ON public.evidence USING btree (session_no, first_seq);
CREATE INDEX evidence_times ON public.evidence USING btree (tenant_no, at) INCLUDE (observation_no) WHERE live;
CREATE INDEX extractions_staged ON public.extractions USING btree (session_no) WHERE (writes IS NOT NULL);
CREATE INDEX extractions_window ON public.extractions USING btree (session_no, from_seq);
CREATE INDEX import_sources_path ON public.import_sources USING btree (tenant_no, path);
CREATE INDEX ix_docs_tenant ON public.ix_docs USING btree (tenant_no);
CREATE INDEX ix_entries_file ON public.ix_entries USING btree (file_no);
CREATE INDEX ix_entries_tenant ON public.ix_entries USING btree (tenant_no);
CREATE INDEX ix_sizes_tenant ON public.ix_sizes USING btree (tenant_no);
CREATE INDEX jobs_due ON public.jobs USING btree (kind, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX jobs_leased ON public.jobs USING btree (kind, lease_until) WHERE (lease_holder IS NOT NULL);
CREATE INDEX jobs_open ON public.jobs USING btree (kind, tenant, owner, name) WHERE (input > done);
CREATE INDEX jobs_turn ON public.jobs USING btree (kind, tenant, lane_user, lane_agent, priority, due_at, owner, name) WHERE (due_at IS NOT NULL);
CREATE INDEX lanes_of_tenant ON public.lanes USING btree (kind, tenant, served);
CREATE INDEX lanes_of_user ON public.lanes USING btree (kind, tenant, "user", served);
CREATE INDEX observations_ended ON public.observations USING btree (tenant_no, scope_no, id) WHERE (later IS NOT NULL);
CREATE INDEX retractions_root ON public.retractions USING btree (tenant_no, root) WHERE (root IS NOT NULL);
CREATE INDEX root_remotes_tenant ON public.root_remotes USING btree (tenant_no);
CREATE INDEX roots_project ON public.roots USING btree (tenant_no, project) WHERE (project IS NOT NULL);
CREATE INDEX session_places_place ON public.session_places USING btree (place_no);
CREATE INDEX sessions_active ON public.sessions USING btree (tenant_no, last_at) WHERE known;
CREATE UNIQUE INDEX sessions_label ON public.sessions USING btree (tenant_no, label);
CREATE INDEX sessions_rules ON public.sessions USING btree (rules) WHERE known;
CREATE INDEX spend_calls_at ON public.spend_calls USING btree (tenant_no, at);
CREATE INDEX tallies_what ON public.tallies USING btree (kind, what);
CREATE UNIQUE INDEX tree_objects_name ON public.tree_objects USING btree (tree_no, object);
CREATE INDEX uses_by ON public.uses USING btree (tenant_no, by_session, by_door);
ALTER TABLE public.commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.event_retractions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.extractions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.gaps ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.import_ranges ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.import_sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_docs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_models ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_signs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_sizes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_unembedded ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.ix_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.lanes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.observations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.places ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.purge_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.retractions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.root_remotes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.roots ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.scopes ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.session_places ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.spend_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.spend_purses ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.thread_snapshots ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.threads ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tree_objects ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.trees ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.uses ENABLE ROW LEVEL SECURITY;
CREATE POLICY wall ON public.commits USING (((tenant = ( SELECT current_setting('daybook.tenant'::text, true) AS current_setting)) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.event_retractions USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.events USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.evidence USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.extractions USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.gaps USING (((tenant = ( SELECT current_setting('daybook.tenant'::text, true) AS current_setting)) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.import_ranges USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.import_sources USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.imports USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_docs USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_entries USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_files USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_models USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_signs USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_sizes USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_unembedded USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_vectors USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.ix_words USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.jobs USING (((tenant = ( SELECT current_setting('daybook.tenant'::text, true) AS current_setting)) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.lanes USING (((tenant = ( SELECT current_setting('daybook.tenant'::text, true) AS current_setting)) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.observations USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.places USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.projects USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.purge_keys USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.retractions USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.root_remotes USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.roots USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.scopes USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.session_places USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.sessions USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.sources USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.spend_calls USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.spend_purses USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.tenants USING (((tenant = ( SELECT current_setting('daybook.tenant'::text, true) AS current_setting)) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.thread_snapshots USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.threads USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.tombstones USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.tree_objects USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.trees USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
CREATE POLICY wall ON public.uses USING (((tenant_no = ( SELECT tenants.tenant_no
   FROM public.tenants
  WHERE (tenants.tenant = current_setting('daybook.tenant'::text, true)))) OR ( SELECT (current_setting('daybook.tenants'::text, true) = 'all'::text))));
