-- rules identifies the rules for secrets that redacted all that is stored of a session; 0 is unknown, or several.
-- rescan is set while a rescan is raised: the rules that it brings.
ALTER TABLE sessions ADD COLUMN rules BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN rescan BIGINT;
CREATE INDEX sessions_rules ON sessions (rules) WHERE known;
