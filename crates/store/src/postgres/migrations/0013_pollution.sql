-- The call that brought text from outside into a session, as JSON; NULL in a clean session. kept_on is true once a
-- person has switched memory on for the session: no call pollutes it then.
ALTER TABLE sessions ADD COLUMN pollution TEXT COLLATE "C";
ALTER TABLE sessions ADD COLUMN kept_on BOOLEAN NOT NULL DEFAULT FALSE;
