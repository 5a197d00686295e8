-- What former versions kept in texts, as rows and columns. A repair applies it, too, to what it saved of an older
-- schema; rows and values that are there stay.
INSERT OR IGNORE INTO event_retractions (event_no, target)
    SELECT event_no, CAST(value AS INTEGER)
    FROM events, json_each(CASE WHEN text GLOB '*[^0-9 ]*' THEN '[]'
        ELSE '["' || replace(text, ' ', '","') || '"]' END)
    WHERE origin = 'retraction' AND length(value) BETWEEN 1 AND 10;
UPDATE sources SET claimed_id = (
    SELECT claimed.host_id FROM sessions AS own JOIN sessions AS claimed USING (tenant_no, agent)
    WHERE own.session_no = sources.session_no
        AND claimed.host_id IN (
            substr(own.host_id, 1, length(own.host_id) - 2), substr(own.host_id, 1, length(own.host_id) - 3))
        AND (substr(own.host_id, length(claimed.host_id) + 1) GLOB '~[2-9]'
            OR substr(own.host_id, length(claimed.host_id) + 1) GLOB '~[1-9][0-9]'))
    WHERE claimed_id IS NULL;
UPDATE import_sources SET claimed_id = (
    SELECT claimed.host_id FROM sessions AS own JOIN sessions AS claimed USING (tenant_no, agent)
    WHERE own.session_no = import_sources.session_no
        AND claimed.host_id IN (
            substr(own.host_id, 1, length(own.host_id) - 2), substr(own.host_id, 1, length(own.host_id) - 3))
        AND (substr(own.host_id, length(claimed.host_id) + 1) GLOB '~[2-9]'
            OR substr(own.host_id, length(claimed.host_id) + 1) GLOB '~[1-9][0-9]'))
    WHERE claimed_id IS NULL;
