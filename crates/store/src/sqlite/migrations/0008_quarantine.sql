-- Observations that wait for a person's decision, as JSON; NULL where there are none.
ALTER TABLE extractions ADD COLUMN quarantined TEXT;
