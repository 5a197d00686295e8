-- What is done with jobs all the time, as functions: a server connection keeps their plans, which
-- takes longer to make than to carry out, and no statement has to be prepared under a name. Rules are
-- not here; the transitions of jobs are the domain's.

-- Jobs of a kind whose turn it is at a time, in turn, locked: at most `wanted`, and so many that the
-- leases then do not exceed `most_running` in all, nor `lane_running` in a lane, nor this claim
-- `lane_wanted` in a lane. Looks at about `beside` jobs, so as to pass over those that are locked.
--
-- Turns need no simulation. The one that was served longest ago comes next, so all with work are
-- served once in that order, then all that are left in the same order, and so on: the n-th job of
-- each comes in round n. That holds for the agents of a user, the users of a tenant and the tenants.
--
-- Lanes with waiting jobs are found by stepping through jobs_turn from one lane and priority to the
-- next. A place says how many jobs at least come before the first one of a lane.
--
-- Each scan is to follow its index, whatever statistics say of a queue that was empty yesterday; and
-- compiling the plan would take longer than a hundred claims.
CREATE FUNCTION next_jobs(
    of_kind TEXT, at BIGINT, wanted BIGINT, lane_wanted BIGINT, most_running BIGINT,
    lane_running BIGINT, beside BIGINT
) RETURNS SETOF jobs LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
SET enable_mergejoin = off SET enable_sort = off SET enable_incremental_sort = off
SET plan_cache_mode = force_generic_plan SET jit = off
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

-- The job of a key, locked, as an object with a member for each column; NULL where there is none.
CREATE FUNCTION lock_job(of_kind TEXT, of_tenant TEXT, of_owner TEXT, of_name TEXT)
RETURNS JSON LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    found JSON;
BEGIN
    SELECT row_to_json(jobs) INTO found FROM jobs
    WHERE kind = of_kind AND tenant = of_tenant AND owner = of_owner AND name = of_name FOR UPDATE;
    RETURN found;
END
$$;

-- Writes jobs that are there, each an object with a member for each column.
CREATE FUNCTION save_jobs(jobs_now JSON) RETURNS VOID LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
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

-- Notes that lanes were served, in their order. Who serves one of them at this moment notes that for
-- both.
CREATE FUNCTION serve_lanes(of_kind TEXT, tenants TEXT[], users TEXT[], agents TEXT[]) RETURNS VOID
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

-- Counts so many more of each, in a row that nobody else counts in at this moment: an old one where
-- there is one, so there are as many as have ever counted at once.
CREATE FUNCTION count_more(of_kind TEXT, counted TEXT[], more BIGINT) RETURNS VOID LANGUAGE plpgsql
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
