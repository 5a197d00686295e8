-- The call that brought text from outside into a session, as JSON; NULL in a clean session. kept_on is 1 once a
-- person has switched memory on for the session: no call pollutes it then.
ALTER TABLE sessions ADD COLUMN pollution TEXT;
ALTER TABLE sessions ADD COLUMN kept_on INTEGER NOT NULL DEFAULT 0;
