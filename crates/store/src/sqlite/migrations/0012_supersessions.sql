-- What ended an observation's validity: the id of the observation that did, in the same scope, why, and since when.
-- Consolidation derives all three from the observations.
ALTER TABLE observations ADD COLUMN later INTEGER;
ALTER TABLE observations ADD COLUMN ended_because TEXT;
ALTER TABLE observations ADD COLUMN ended_at INTEGER;
CREATE INDEX observations_ended ON observations (scope_no, id) WHERE later IS NOT NULL;
