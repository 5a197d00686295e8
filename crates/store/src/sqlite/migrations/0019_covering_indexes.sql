-- What a consolidation reads of a whole scope, in the order of the rows: without these it looks up each row by itself.
CREATE INDEX observations_holding ON observations (scope_no) WHERE holds;
CREATE INDEX extractions_without_root ON extractions (session_no)
    WHERE digest IS NOT NULL AND instr(digest, '"root":"') = 0;
DROP INDEX observations_ended;
CREATE INDEX observations_ended ON observations (scope_no, id, later, ended_because, ended_at)
    WHERE later IS NOT NULL;
