-- Few windows have anything in quarantine: they are found without reading all.
CREATE INDEX extractions_quarantined ON extractions (session_no) WHERE quarantined IS NOT NULL;
