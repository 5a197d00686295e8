-- Which documents of the index changed last: a process that holds the index in memory reads only these again.
CREATE TABLE ix_changes (
    change_no   INTEGER PRIMARY KEY,
    doc         INTEGER NOT NULL
);

-- The last ones are enough: a process that missed more reads the index anew.
CREATE TRIGGER ix_changes_bounded AFTER INSERT ON ix_changes WHEN new.change_no % 4096 = 0 BEGIN
    DELETE FROM ix_changes WHERE change_no <= new.change_no - 65536;
END;

-- Triggers, because what changes the index may be an older program.
CREATE TRIGGER ix_docs_added AFTER INSERT ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_docs_changed AFTER UPDATE ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_docs_deleted AFTER DELETE ON ix_docs BEGIN
    INSERT INTO ix_changes (doc) VALUES (old.doc);
END;
CREATE TRIGGER ix_vectors_added AFTER INSERT ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_vectors_changed AFTER UPDATE ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (new.doc);
END;
CREATE TRIGGER ix_vectors_deleted AFTER DELETE ON ix_vectors BEGIN
    INSERT INTO ix_changes (doc) VALUES (old.doc);
END;

-- Counts the commits that may have changed what a recall reads. Notes of what was shown are none, and a server writes one
-- every second. Begins anywhere, so that a file that takes the place of another has no number of it.
CREATE TABLE ix_read_version (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    version     INTEGER NOT NULL
);
INSERT INTO ix_read_version (only_row, version) VALUES (1, abs(random() / 2));
