-- Why the last import of a file failed; NULL once one succeeded.
ALTER TABLE sources ADD COLUMN failure TEXT;
ALTER TABLE import_sources ADD COLUMN failure TEXT;
