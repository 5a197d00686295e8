-- What the functions that jobs go through take inside a PostgreSQL server, without any client: each is
-- called in a loop, on 4,000 jobs that are made here and rolled back again. For a database that Daybook
-- has opened once and that nothing else works on:
--
--     psql -X -q -f bench/postgres_profile.sql 'postgres://ada@db.example/daybook'
--
-- docs/scale.md says what comes of it.

BEGIN;
SET LOCAL daybook.tenants = 'all';
SET LOCAL jit = off;
INSERT INTO jobs (kind, tenant, owner, name, lane_user, lane_agent, input, done, redo, turns, idle_due,
    deadline, priority, outage, tries, failures, vanished, suspect_to, claims, due_at)
SELECT 'extract', 'profile', 'agent-' || n % 7, 's' || n, '', 'agent-' || n % 7, 1000000, 0, 0, 0, 0,
    0, 1, FALSE, 0, 0, 0, 0, 0, n
FROM generate_series(1, 4000) AS n;

CREATE FUNCTION pg_temp.profile(what TEXT, times INT, call TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    began TIMESTAMPTZ := clock_timestamp();
BEGIN
    FOR n IN 1..times LOOP
        EXECUTE call USING n;
    END LOOP;
    RAISE NOTICE '% us  %',
        lpad(round(extract(epoch FROM clock_timestamp() - began) * 1000000 / times)::TEXT, 6), what;
END
$$;

\set key '''extract'', ''profile'', ''agent-'' || $1 % 7, ''s'' || $1'
\set of '(SELECT json_agg(jobs) FROM jobs WHERE kind = ''extract'' AND tenant = ''profile'' AND owner = ''agent-'' || $1 % 7 AND name = ''s'' || $1)'
SELECT pg_temp.profile('nothing but the call', 3000, 'SELECT $1') \g /dev/null
SELECT pg_temp.profile('lock_job', 3000, 'SELECT lock_job(' || :'key' || ')') \g /dev/null
SELECT pg_temp.profile('reading one job as JSON', 3000, 'SELECT ' || :'of') \g /dev/null
SELECT pg_temp.profile('save_jobs of one, read so', 3000, 'SELECT save_jobs(' || :'of' || ')') \g /dev/null
SELECT pg_temp.profile('count_more', 300, 'SELECT count_more(''extract'', ARRAY[''finished''], $1)') \g /dev/null
SELECT pg_temp.profile('next_jobs of one', 300,
    'SELECT next_jobs(''extract'', 1000000 + $1, 1, 1, 1000000, 1000000, 10)') \g /dev/null
SELECT pg_temp.profile('next_jobs of ten', 300,
    'SELECT next_jobs(''extract'', 1000000 + $1, 10, 10, 1000000, 1000000, 40)') \g /dev/null
ROLLBACK;
