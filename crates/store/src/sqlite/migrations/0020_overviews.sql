-- What people look at first is what waits and what was learned lately: neither takes longer for all that was done before.
CREATE INDEX jobs_open ON jobs (kind, tenant, owner, name) WHERE input > done;
CREATE INDEX evidence_times ON evidence (at, session_no, observation_no) WHERE live;
