-- What a person purged and is not stored again, as fingerprints under a key of the tenant, 16 and 32 bytes. The key is
-- here, so that all machines that share the server make the same ones.
CREATE TABLE purge_keys (
    tenant_no   BIGINT PRIMARY KEY,
    key         BYTEA NOT NULL
);

CREATE TABLE tombstones (
    tenant_no   BIGINT NOT NULL,
    mark        BYTEA NOT NULL,
    PRIMARY KEY (tenant_no, mark)
);
CALL build_wall('purge_keys');
CALL build_wall('tombstones');
