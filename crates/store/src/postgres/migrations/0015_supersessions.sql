-- What ended an observation's validity: the id of the observation that did, in the same scope, why, and since when.
-- Consolidation derives all three from the observations.
ALTER TABLE observations ADD COLUMN later BIGINT;
ALTER TABLE observations ADD COLUMN ended_because TEXT COLLATE "C";
ALTER TABLE observations ADD COLUMN ended_at BIGINT;
CREATE INDEX observations_ended ON observations (tenant_no, scope_no, id) WHERE later IS NOT NULL;
