-- For which extractor another one filled in, because a cap had no room for it, and when the cap has room again:
-- the first millisecond of a day in UTC. NULL where none filled in. Older rows have both in the text of extractor.
ALTER TABLE extractions ADD COLUMN fallback_for TEXT COLLATE "C";
ALTER TABLE extractions ADD COLUMN fallback_until BIGINT;
