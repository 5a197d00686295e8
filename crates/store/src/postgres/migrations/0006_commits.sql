-- One row for each recent transaction that wrote, under a random id that its client chose and sent
-- together with COMMIT: after a lost answer the row says whether the transaction was committed. Unlike
-- the number of a transaction it goes wherever the rest of the transaction goes: through a crash, which
-- gives numbers out again, and to a standby. A row with kept = FALSE was written by such a look-up, and
-- bars the transaction from committing later. `at` is the server's time; old rows are deleted.
CREATE TABLE commits (
    id          BYTEA PRIMARY KEY,
    tenant      TEXT COLLATE "C" NOT NULL DEFAULT coalesce(current_setting('daybook.tenant', TRUE), ''),
    at          BIGINT NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT,
    kept        BOOLEAN NOT NULL
);
CREATE INDEX commits_at ON commits (at);
CALL build_wall('commits', 'tenant = (SELECT current_setting(''daybook.tenant'', TRUE))');
