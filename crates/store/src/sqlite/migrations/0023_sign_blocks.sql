-- Signs of 4,096 numbers in one row: a process that answers one question reads all of them at once.
CREATE TABLE ix_sign_blocks (
    tenant_no   INTEGER NOT NULL,
    block_no    INTEGER NOT NULL,
    packed      BLOB NOT NULL,
    PRIMARY KEY (tenant_no, block_no)
);

-- A trigger, because what deletes signs may be an older program.
CREATE TRIGGER ix_signs_deleted AFTER DELETE ON ix_signs BEGIN
    DELETE FROM ix_sign_blocks WHERE tenant_no = old.tenant_no AND block_no = old.sign_no / 4096;
END;
