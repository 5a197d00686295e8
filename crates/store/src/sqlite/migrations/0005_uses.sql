-- Which events were used: shown to a session, or cited by one. session_no is the session of the event that was
-- used. by_session used it, in the event by_event (an id); it is 0 for a way of asking that leaves no transcript,
-- which by_door names together with the day. kind is 'shown' or 'cited'.
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
