-- For people, and for programs of other systems: one row for each session, with the columns that Daycare, Codex and
-- MindRoom keep. Nothing here reads it. docs/operating.md describes it.
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
