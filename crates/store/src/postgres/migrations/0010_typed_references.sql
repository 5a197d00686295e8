-- What events retract, each row with its event: target is the position of an event in the same session. Until
-- now the text of a retraction listed the positions.
CREATE TABLE event_retractions (
    tenant_no   BIGINT NOT NULL,
    event_no    BIGINT NOT NULL,
    target      BIGINT NOT NULL,
    PRIMARY KEY (event_no, target)
);
CALL build_wall('event_retractions');
INSERT INTO event_retractions (tenant_no, event_no, target)
    SELECT tenant_no, event_no, part::BIGINT
    FROM events, unnest(string_to_array(text, ' ')) AS part
    WHERE origin = 'retraction' AND text !~ '[^0-9 ]' AND part ~ '^[0-9]{1,10}$'
    ON CONFLICT DO NOTHING;

-- The host id that a file claims for its session, where another session has it: the file's session is then named
-- ID~2, ID~3, … NULL where the id is the session's own.
ALTER TABLE sources ADD COLUMN claimed_id TEXT COLLATE "C";
ALTER TABLE import_sources ADD COLUMN claimed_id TEXT COLLATE "C";
UPDATE sources SET claimed_id = claimed.host_id
    FROM sessions AS own JOIN sessions AS claimed USING (tenant_no, agent)
    WHERE own.session_no = sources.session_no AND own.host_id ~ '~([2-9]|[1-9][0-9])$'
        AND claimed.host_id = regexp_replace(own.host_id, '~[0-9]+$', '');
UPDATE import_sources SET claimed_id = claimed.host_id
    FROM sessions AS own JOIN sessions AS claimed USING (tenant_no, agent)
    WHERE own.session_no = import_sources.session_no AND own.host_id ~ '~([2-9]|[1-9][0-9])$'
        AND claimed.host_id = regexp_replace(own.host_id, '~[0-9]+$', '');
