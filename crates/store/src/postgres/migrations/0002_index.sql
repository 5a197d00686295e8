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
CREATE INDEX ix_entries_tenant ON ix_entries (tenant_no);

-- The words of each document, each once. Numbers tell the layers apart: entries from 1 << 62,
-- observations from 1 << 61, events that were said from 1 << 60, all other events below.
CREATE TABLE ix_docs (
    doc         BIGINT PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    words       TEXT[] COLLATE "C" NOT NULL
);
CREATE INDEX ix_docs_tenant ON ix_docs (tenant_no);

-- One row for each word of each document. `owner` is the scope of an entry or observation, and of an
-- event its root below zero. A search reads this tree alone, and the pages of the table only where
-- they were not vacuumed since they were written; so that is done earlier than by default.
CREATE TABLE ix_words (
    tenant_no   BIGINT NOT NULL,
    word        TEXT COLLATE "C" NOT NULL,
    doc         BIGINT NOT NULL,
    owner       BIGINT,
    PRIMARY KEY (tenant_no, word, doc) INCLUDE (owner)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);

-- How many documents a tenant has is the sum of its rows. There are several, so that nobody waits to
-- count.
CREATE TABLE ix_sizes (
    size_no     BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_no   BIGINT NOT NULL,
    documents   BIGINT NOT NULL
);
CREATE INDEX ix_sizes_tenant ON ix_sizes (tenant_no);

CALL build_wall('ix_files');
CALL build_wall('ix_entries');
CALL build_wall('ix_docs');
CALL build_wall('ix_words');
CALL build_wall('ix_sizes');
