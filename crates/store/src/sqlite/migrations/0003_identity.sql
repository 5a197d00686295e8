-- Which repositories folders are checkouts of, as events show: each row goes with its event.
-- shown_by is 'host', 'pull_request' or 'output'.
CREATE TABLE root_remotes (
    event_no    INTEGER NOT NULL,
    session_no  INTEGER NOT NULL,
    root        TEXT NOT NULL,
    remote      TEXT NOT NULL,
    shown_by    TEXT NOT NULL,
    PRIMARY KEY (event_no, root, remote, shown_by)
) WITHOUT ROWID;

-- The project follows from root_remotes, or is a guess. What older versions settled stands as it is,
-- unless its project is a guess.
ALTER TABLE roots ADD COLUMN derived INTEGER NOT NULL DEFAULT 0;

-- Version of what is kept of a file's lines: 0 kept nothing of root_remotes.
ALTER TABLE sources ADD COLUMN reading INTEGER NOT NULL DEFAULT 0;
ALTER TABLE import_sources ADD COLUMN reading INTEGER DEFAULT 0;
