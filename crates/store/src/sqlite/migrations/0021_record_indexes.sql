-- What the record and a purge look up by session: without these each session reads all files of all sessions.
CREATE INDEX sources_session ON sources (session_no) WHERE session_no IS NOT NULL;
CREATE INDEX import_ranges_session ON import_ranges (session_no);
CREATE INDEX import_sources_session ON import_sources (session_no) WHERE session_no IS NOT NULL;
CREATE INDEX retractions_session ON retractions (session_no);
