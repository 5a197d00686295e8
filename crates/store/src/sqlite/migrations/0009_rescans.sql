-- rules identifies the rules for secrets that redacted all that is stored of a session; 0 is unknown, or several.
-- rescan is set while a rescan is raised: the rules that it brings. erase is 1 while the file may still hold texts
-- of the session that were replaced.
ALTER TABLE sessions ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN rescan INTEGER;
ALTER TABLE sessions ADD COLUMN erase INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_rules ON sessions (rules) WHERE known;
CREATE INDEX sessions_erase ON sessions (erase) WHERE erase <> 0;
