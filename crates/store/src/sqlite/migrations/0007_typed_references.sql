-- What events retract, each row with its event: target is the position of an event in the same session. Until
-- now the text of a retraction listed the positions.
CREATE TABLE event_retractions (
    event_no    INTEGER NOT NULL,
    target      INTEGER NOT NULL,
    PRIMARY KEY (event_no, target)
) WITHOUT ROWID;

-- The host id that a file claims for its session, where another session has it: the file's session is then named
-- ID~2, ID~3, … NULL where the id is the session's own.
ALTER TABLE sources ADD COLUMN claimed_id TEXT;
ALTER TABLE import_sources ADD COLUMN claimed_id TEXT;
