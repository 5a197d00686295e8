-- Where evidence comes from: external, tool, pasted, concluded or typed. NULL in rows of earlier versions. An
-- observation's is the most trusted of its visible evidence.
ALTER TABLE evidence ADD COLUMN origin TEXT;
ALTER TABLE observations ADD COLUMN origin TEXT;
-- What was stated was already known to be a person's own.
UPDATE observations SET origin = 'typed' WHERE observation_no IN
    (SELECT observation_no FROM evidence WHERE stated AND live);
