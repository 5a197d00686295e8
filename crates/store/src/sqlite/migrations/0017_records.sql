-- Which parts of the record in files (DESIGN.md, "On disk") are older than the rows that they are made from. Triggers
-- set the marks, so that no way to change a row can forget them. `no` is a session_no, scope_no or tenant_no; `mark`
-- grows with each change, so that a writer of the record clears no mark of a change that it has not seen.
CREATE TABLE ix_stale_records (
    kind        TEXT NOT NULL,
    no          INTEGER NOT NULL,
    mark        INTEGER NOT NULL,
    PRIMARY KEY (kind, no)
) WITHOUT ROWID;

INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions WHERE known;
INSERT INTO ix_stale_records SELECT 'scope', scope_no, 1 FROM scopes;
INSERT INTO ix_stale_records SELECT 'tenant', tenant_no, 1 FROM tenants;

CREATE TRIGGER record_sessions_insert AFTER INSERT ON sessions WHEN NEW.known BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sessions_update AFTER UPDATE ON sessions WHEN
    (NEW.known, NEW.agent, NEW.host_id, NEW.label, NEW.kind, NEW.memory_off, NEW.switched_off, NEW.kept_on,
        NEW.forked_from, NEW.user, NEW.surface, NEW.room_id, NEW.thread_id, NEW.team, NEW.filed_in, NEW.passed, NEW.first_source, NEW.rules, NEW.rescan, NEW.pollution)
    IS NOT
    (OLD.known, OLD.agent, OLD.host_id, OLD.label, OLD.kind, OLD.memory_off, OLD.switched_off, OLD.kept_on,
        OLD.forked_from, OLD.user, OLD.surface, OLD.room_id, OLD.thread_id, OLD.team, OLD.filed_in, OLD.passed, OLD.first_source, OLD.rules, OLD.rescan, OLD.pollution)
BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_jobs_insert AFTER INSERT ON jobs WHEN NEW.kind = 'extract' AND NEW.done > 0 BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_jobs_update AFTER UPDATE ON jobs WHEN NEW.kind = 'extract'
    AND (NEW.done, NEW.redo, NEW.redo_until) IS NOT (OLD.done, OLD.redo, OLD.redo_until)
BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_gaps_insert AFTER INSERT ON gaps WHEN NEW.kind = 'extract' BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND host_id = NEW.name AND agent = NEW.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_gaps_delete AFTER DELETE ON gaps WHEN OLD.kind = 'extract' BEGIN
    INSERT INTO ix_stale_records SELECT 'session', session_no, 1 FROM sessions JOIN tenants USING (tenant_no)
        WHERE tenant = OLD.tenant AND host_id = OLD.name AND agent = OLD.owner
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_insert AFTER INSERT ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_update AFTER UPDATE ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_extractions_delete AFTER DELETE ON extractions BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_insert AFTER INSERT ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_update AFTER UPDATE ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_evidence_delete AFTER DELETE ON evidence BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_uses_insert AFTER INSERT ON uses BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_uses_delete AFTER DELETE ON uses BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_root_remotes_insert AFTER INSERT ON root_remotes BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_session_places_insert AFTER INSERT ON session_places BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_session_places_delete AFTER DELETE ON session_places BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sources_insert AFTER INSERT ON sources WHEN NEW.session_no IS NOT NULL BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_sources_delete AFTER DELETE ON sources WHEN OLD.session_no IS NOT NULL BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_import_ranges_insert AFTER INSERT ON import_ranges BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_import_ranges_delete AFTER DELETE ON import_ranges BEGIN
    INSERT INTO ix_stale_records VALUES ('session', OLD.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
-- The words that a person asked to remember are in no transcript.
CREATE TRIGGER record_events_update AFTER UPDATE OF text ON events
    WHEN (SELECT kind FROM sessions WHERE session_no = NEW.session_no) = 'memory_agent'
BEGIN
    INSERT INTO ix_stale_records VALUES ('session', NEW.session_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;

CREATE TRIGGER record_scopes_insert AFTER INSERT ON scopes BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_scopes_update AFTER UPDATE ON scopes
    WHEN (NEW.kind, NEW.name, NEW.selection, NEW.proposals) IS NOT (OLD.kind, OLD.name, OLD.selection, OLD.proposals)
BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_scopes_delete AFTER DELETE ON scopes BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
-- From then on, entries in files that the database does not know are not the engine's.
CREATE TRIGGER record_jobs_consolidated AFTER UPDATE ON jobs
    WHEN NEW.kind = 'consolidate' AND (NEW.done > 0) IS NOT (OLD.done > 0)
BEGIN
    INSERT INTO ix_stale_records SELECT 'scope', scope_no, 1 FROM scopes JOIN tenants USING (tenant_no)
        WHERE tenant = NEW.tenant AND scopes.kind = NEW.owner AND scopes.name = NEW.name
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_observations_update AFTER UPDATE ON observations
    WHEN (NEW.later, NEW.ended_because, NEW.ended_at, NEW.scope_no)
        IS NOT (OLD.later, OLD.ended_because, OLD.ended_at, OLD.scope_no)
BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_insert AFTER INSERT ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_update AFTER UPDATE ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
    INSERT INTO ix_stale_records VALUES ('scope', NEW.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_retractions_delete AFTER DELETE ON retractions BEGIN
    INSERT INTO ix_stale_records VALUES ('scope', OLD.scope_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;

CREATE TRIGGER record_projects_insert AFTER INSERT ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_projects_update AFTER UPDATE ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_projects_delete AFTER DELETE ON projects BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', OLD.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_insert AFTER INSERT ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_update AFTER UPDATE ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_roots_delete AFTER DELETE ON roots BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', OLD.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_spend_purses_insert AFTER INSERT ON spend_purses BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER record_spend_purses_update AFTER UPDATE ON spend_purses BEGIN
    INSERT INTO ix_stale_records VALUES ('tenant', NEW.tenant_no, 1)
        ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
