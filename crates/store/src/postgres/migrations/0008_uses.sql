-- Which events were used: shown to a session, or cited by one. session_no is the session of the event that was
-- used. by_session used it, in the event by_event (an id); it is 0 for a way of asking that leaves no transcript,
-- which by_door names together with the day. kind is 'shown' or 'cited'.
CREATE TABLE uses (
    tenant_no   BIGINT NOT NULL,
    event_no    BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    by_session  BIGINT NOT NULL,
    by_event    BYTEA NOT NULL,
    by_door     TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, event_no, kind, by_session, by_door)
);
CREATE INDEX uses_by ON uses (tenant_no, by_session, by_door);
CALL build_wall('uses');
