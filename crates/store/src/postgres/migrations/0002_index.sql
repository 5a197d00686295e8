-- The index over what Daybook remembers. It is disposable.

CREATE TABLE ix_files (
    file_no     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    scope_no    BIGINT NOT NULL,
    file        TEXT COLLATE "C" NOT NULL,
    stamp       TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    UNIQUE (scope_no, file)
);

CREATE TABLE ix_entries (
    entry_no    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    file_no     BIGINT NOT NULL,
    line        BIGINT NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    heading     TEXT COLLATE "C" NOT NULL,
    observation BIGINT,
    citation    TEXT COLLATE "C"
);
CREATE INDEX ix_entries_file ON ix_entries (file_no);

CALL build_wall('ix_files');
CALL build_wall('ix_entries');
