-- What ranking needs of each document, so that a search reads the text of its answers alone: whose it is, as in
-- ix_words, who said it, when, and its terms. What was indexed before has no terms; it gets them with its
-- vectors.
ALTER TABLE ix_docs ADD COLUMN owner BIGINT;
ALTER TABLE ix_docs ADD COLUMN origin TEXT COLLATE "C";
ALTER TABLE ix_docs ADD COLUMN at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ix_docs ADD COLUMN terms BYTEA;

-- The model whose vectors a tenant's documents have. Each change of it is another space.
CREATE TABLE ix_models (
    tenant_no   BIGINT PRIMARY KEY,
    model       TEXT COLLATE "C" NOT NULL
);

-- Documents that wait for vectors.
CREATE TABLE ix_unembedded (
    tenant_no   BIGINT NOT NULL,
    doc         BIGINT NOT NULL,
    PRIMARY KEY (tenant_no, doc)
);

-- Vectors of documents: of the whole, then of the passages.
CREATE TABLE ix_vectors (
    tenant_no   BIGINT NOT NULL,
    doc         BIGINT NOT NULL,
    vectors     BYTEA NOT NULL,
    PRIMARY KEY (tenant_no, doc)
);

-- The signs of the first vector of each document, with what a search can be narrowed to. They stand apart
-- from the vectors because a search compares them all.
CREATE TABLE ix_signs (
    tenant_no   BIGINT NOT NULL,
    doc         BIGINT NOT NULL,
    owner       BIGINT,
    origin      TEXT COLLATE "C",
    signs       BIT VARYING NOT NULL,
    PRIMARY KEY (tenant_no, doc)
);

CALL build_wall('ix_models');
CALL build_wall('ix_unembedded');
CALL build_wall('ix_vectors');
CALL build_wall('ix_signs');

UPDATE ix_docs SET origin = source.origin, at = source.at, owner = (
        SELECT ix_words.owner FROM ix_words WHERE ix_words.tenant_no = ix_docs.tenant_no
            AND ix_words.word = ix_docs.words[1] AND ix_words.doc = ix_docs.doc)
    FROM (
        SELECT event_no | CASE WHEN origin IN ('human', 'assistant') THEN 1::BIGINT << 60 ELSE 0 END AS doc,
            origin, at FROM events
        UNION ALL
        SELECT observations.observation_no | (1::BIGINT << 61), NULL, at
            FROM observations JOIN evidence ON evidence_no = shown
        UNION ALL
        SELECT entry_no | (1::BIGINT << 62), NULL, at FROM ix_entries JOIN ix_files USING (file_no)
    ) AS source
    WHERE ix_docs.doc = source.doc;
INSERT INTO ix_unembedded (tenant_no, doc) SELECT tenant_no, doc FROM ix_docs;
