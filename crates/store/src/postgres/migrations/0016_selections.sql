-- Which sessions the scope's last successful consolidation selected, and when, as JSON; NULL before the first one
-- that selected.
ALTER TABLE scopes ADD COLUMN selection TEXT COLLATE "C";
