-- What ranking needs of each document of ix_text, so that a search reads the text of its answers alone.
-- owner is a scope, a root below zero, or 0; origin a place in the list of origins, or -1.
CREATE TABLE ix_docs (
    doc         INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL,
    owner       INTEGER NOT NULL,
    origin      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    terms       BLOB NOT NULL
);

-- The model whose vectors a tenant's documents have. Each change of it is another space.
CREATE TABLE ix_models (
    tenant_no   INTEGER PRIMARY KEY,
    model       TEXT NOT NULL
);

-- Documents that wait for vectors.
CREATE TABLE ix_unembedded (
    doc         INTEGER PRIMARY KEY,
    tenant_no   INTEGER NOT NULL
);

-- Vectors of documents: of the whole, then of the passages.
CREATE TABLE ix_vectors (
    doc         INTEGER PRIMARY KEY,
    sign_no     INTEGER NOT NULL,
    vectors     BLOB NOT NULL
);

-- The signs of documents' vectors, in the order in which they came: a process that holds them in memory
-- reads what is new behind the last that it has. No number is given twice.
CREATE TABLE ix_signs (
    sign_no     INTEGER PRIMARY KEY AUTOINCREMENT,
    doc         INTEGER NOT NULL,
    tenant_no   INTEGER NOT NULL,
    owner       INTEGER NOT NULL,
    origin      INTEGER NOT NULL,
    signs       BLOB NOT NULL
);

-- What was indexed before has no outline. Each gets one with its vectors.
INSERT INTO ix_unembedded (doc, tenant_no)
    SELECT event_no | CASE WHEN origin IN ('human', 'assistant') THEN 1 << 60 ELSE 0 END, tenant_no
    FROM events JOIN sessions USING (session_no)
    WHERE origin IN ('human', 'assistant', 'tool_call', 'tool_result');
INSERT INTO ix_unembedded (doc, tenant_no)
    SELECT observation_no | (1 << 61), tenant_no FROM observations JOIN scopes USING (scope_no)
    WHERE holds AND tokens <> '';
INSERT INTO ix_unembedded (doc, tenant_no)
    SELECT entry_no | (1 << 62), tenant_no FROM ix_entries JOIN ix_files USING (file_no)
    JOIN scopes USING (scope_no);
