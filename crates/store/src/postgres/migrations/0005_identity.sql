-- Which repositories folders are checkouts of, as events show: each row goes with its event.
-- shown_by is 'host', 'pull_request' or 'output'.
CREATE TABLE root_remotes (
    event_no    BIGINT NOT NULL,
    tenant_no   BIGINT NOT NULL,
    session_no  BIGINT NOT NULL,
    root        TEXT COLLATE "C" NOT NULL,
    remote      TEXT COLLATE "C" NOT NULL,
    shown_by    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (event_no, root, remote, shown_by)
);
CREATE INDEX root_remotes_tenant ON root_remotes (tenant_no);
CALL build_wall('root_remotes');

-- The project follows from root_remotes, or is a guess. What older versions settled stands as it is,
-- unless its project is a guess.
ALTER TABLE roots ADD COLUMN derived BOOLEAN NOT NULL DEFAULT FALSE;

-- Version of what is kept of a file's lines: 0 kept nothing of root_remotes.
ALTER TABLE sources ADD COLUMN reading BIGINT NOT NULL DEFAULT 0;
ALTER TABLE import_sources ADD COLUMN reading BIGINT DEFAULT 0;
