-- What a person purged and is not stored again, as fingerprints under a key of the tenant, 16 and 32 bytes.
CREATE TABLE purge_keys (
    tenant_no   INTEGER PRIMARY KEY,
    key         BLOB NOT NULL
);

CREATE TABLE tombstones (
    tenant_no   INTEGER NOT NULL,
    mark        BLOB NOT NULL,
    PRIMARY KEY (tenant_no, mark)
) WITHOUT ROWID;
