//! Results of extraction: stored by the one transaction that also ends the job.
//!
//! While a redo runs, what it yields is kept out of sight (`live` = 0). The finish that catches up
//! deletes the generation before and shows the new one.

use std::collections::BTreeSet;

use async_trait::async_trait;
use daybook_domain::seams::{ExtractionStore, ScopeState};
use daybook_domain::{
    Digest, EventSeq, Extraction, ExtractionRecord, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, Observation, ObservationId, Scope, ScopeKind, SessionId, Staged, StoreError,
    Tallied, Tenant, Timestamp, Yield,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::connection::Fault;
use super::evidence_rows::{self, Touched};
use super::names::{find_session, raise, raise_one, scope_of, session_id_of, session_no};
use super::{SqliteStore, job_rows, jobs, places, staged};
use crate::bounds::{check_extraction, check_observations};
use crate::evidence::Piece;
use crate::staged::staged_text;

#[async_trait]
impl ExtractionStore for SqliteStore {
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        check_extraction(lease, extraction)?;
        let outcome = self.write(|tx| finish(tx, lease, extraction, now))?;
        self.tidy();
        Ok(outcome)
    }

    async fn observe(
        &self,
        observations: &[Observation],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        check_observations(observations)?;
        self.write(|tx| {
            let mut touched = Touched::default();
            for observation in observations {
                add_all(tx, observation, None, true, &mut touched)?;
            }
            raise(tx, &evidence_rows::settle(tx, &touched)?.scopes, now)
        })?;
        self.tidy();
        Ok(())
    }

    async fn retract(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(|tx| {
            let mut touched = Touched::default();
            let held = evidence_rows::retract(tx, scope, id, &mut touched)?;
            raise(tx, &evidence_rows::settle(tx, &touched)?.scopes, now)?;
            Ok(held)
        })
    }

    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.write(|tx| raise_one(tx, scope, now))
    }

    async fn scopes(&self, tenant: &Tenant) -> Result<Vec<ScopeState>, StoreError> {
        self.read(|tx| scopes(tx, tenant))
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        self.read(|tx| evidence_rows::observations(tx, scope))
    }

    async fn extractions(
        &self,
        tenant: &Tenant,
        project: Option<&str>,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        self.read(|tx| records(tx, tenant, project))
    }

    async fn extractors(&self, tenant: &Tenant) -> Result<Vec<(SessionId, String)>, StoreError> {
        self.read(|tx| extractors(tx, tenant))
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError> {
        self.read(|tx| digest_before(tx, session, redo, before))
    }

    async fn staged(&self, tenant: &Tenant) -> Result<Vec<Staged>, StoreError> {
        self.read(|tx| staged::of_tenant(tx, tenant))
    }

    async fn unstage(&self, staged: &[Staged]) -> Result<(), StoreError> {
        self.write(|tx| staged::take_out(tx, staged))
    }
}

fn finish(
    tx: &Connection,
    lease: &LeaseToken,
    extraction: &Extraction,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let Some(mut job) = job_rows::load(tx, lease.job())? else {
        return Ok(FinishOutcome::LeaseLost);
    };
    let live = job.redo_until.is_none();
    let outcome = job.finish(lease, extraction.to.0, now);
    let tallied = Tallied::extraction(outcome, &extraction.yielded);
    jobs::tally(tx, JobKind::Extract, tallied)?;
    if outcome == FinishOutcome::LeaseLost {
        return Ok(outcome);
    }
    let session = session_no(tx, &extraction.session)?;
    let mut touched = Touched::default();
    replace_window(tx, session, job.redo, extraction, &mut touched)?;
    let mut scopes: BTreeSet<Scope> = extraction.concerns.iter().cloned().collect();
    let digest = match &extraction.yielded {
        Yield::Nothing => None,
        Yield::Something {
            observations,
            digest,
        } => {
            for observation in observations {
                add_all(tx, observation, Some(job.redo), live, &mut touched)?;
            }
            scopes.extend(project_scope(tx, &extraction.session.tenant, digest)?);
            Some(digest.as_ref())
        }
    };
    staged::withdraw(tx, session, &extraction.retracted)?;
    insert_record(tx, session, (job.redo, live), extraction, digest, now)?;
    let retracted = extraction.retracted.iter().copied().collect();
    evidence_rows::cut(tx, session, &retracted, &mut touched)?;
    scopes.extend(swap_when_caught_up(tx, &mut job, &mut touched)?);
    scopes.extend(evidence_rows::settle(tx, &touched)?.scopes);
    raise(tx, &scopes, now)?;
    job_rows::save(tx, &job)?;
    Ok(outcome)
}

/// Takes out what an earlier pass of the same generation left inside the window, so that a window
/// stored twice counts once.
fn replace_window(
    tx: &Connection,
    session: i64,
    generation: u32,
    extraction: &Extraction,
    touched: &mut Touched,
) -> Result<(), Fault> {
    let window = params![session, generation, extraction.from.0, extraction.to.0];
    tx.prepare_cached(
        "DELETE FROM extractions
         WHERE session_no = ? AND generation = ? AND from_seq >= ? AND to_seq <= ?",
    )?
    .execute(window)?;
    evidence_rows::delete_where(
        tx,
        "session_no = ? AND generation = ? AND first_seq >= ? AND last_seq <= ?",
        window,
        touched,
    )
}

fn add_all(
    tx: &Connection,
    observation: &Observation,
    generation: Option<u32>,
    live: bool,
    touched: &mut Touched,
) -> Result<(), Fault> {
    for evidence in &observation.evidence {
        let piece = Piece::of(observation, evidence, generation);
        let what = (observation.id, observation.kind);
        evidence_rows::add(tx, &observation.scope, what, &piece, live, touched)?;
    }
    Ok(())
}

fn insert_record(
    tx: &Connection,
    session: i64,
    (generation, live): (u32, bool),
    extraction: &Extraction,
    digest: Option<&Digest>,
    now: Timestamp,
) -> Result<(), Fault> {
    let digest = digest
        .map(serde_json::to_string)
        .transpose()
        .map_err(|error| Fault::corrupt(format!("a digest cannot be written: {error}")))?;
    tx.prepare_cached(
        "INSERT INTO extractions (session_no, generation, live, from_seq, to_seq, digest,
            writes, extractor, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        session,
        generation,
        live,
        extraction.from.0,
        extraction.to.0,
        digest,
        staged_text(&extraction.writes).map_err(Fault::corrupt)?,
        extraction.extractor,
        now.0
    ])?;
    Ok(())
}

/// The scope of the project that a digest ends in.
fn project_scope(
    tx: &Connection,
    tenant: &Tenant,
    digest: &Digest,
) -> Result<Option<Scope>, Fault> {
    let Some(root) = &digest.root else {
        return Ok(None);
    };
    Ok(
        places::project_of_root(tx, tenant, root)?.map(|name| Scope {
            tenant: tenant.clone(),
            kind: ScopeKind::Project,
            name,
        }),
    )
}

/// Shows what a job's redo yielded when it has caught up, for jobs that end without results.
pub(super) fn settle_redo(tx: &Connection, job: &mut Job, now: Timestamp) -> Result<(), Fault> {
    let mut touched = Touched::default();
    let mut scopes = swap_when_caught_up(tx, job, &mut touched)?;
    scopes.extend(evidence_rows::settle(tx, &touched)?.scopes);
    raise(tx, &scopes, now)
}

/// The generation before goes, the new one shows. Returns the projects whose digests changed.
fn swap_when_caught_up(
    tx: &Connection,
    job: &mut Job,
    touched: &mut Touched,
) -> Result<BTreeSet<Scope>, Fault> {
    let JobKey::Extract(id) = job.key.clone() else {
        job.take_caught_up();
        return Ok(BTreeSet::new());
    };
    if !job.take_caught_up() {
        return Ok(BTreeSet::new());
    }
    let Some(row) = find_session(tx, &id)? else {
        return Ok(BTreeSet::new());
    };
    let scopes = projects_of(tx, &id.tenant, "session_no = ?", [row.no])?;
    let before = params![row.no, job.redo];
    evidence_rows::delete_where(
        tx,
        "session_no = ? AND generation >= 0 AND generation < ?",
        before,
        touched,
    )?;
    evidence_rows::enliven(tx, row.no, touched)?;
    tx.prepare_cached("DELETE FROM extractions WHERE session_no = ? AND generation < ?")?
        .execute(before)?;
    tx.prepare_cached("UPDATE extractions SET live = 1 WHERE session_no = ? AND live = 0")?
        .execute([row.no])?;
    Ok(scopes)
}

/// Forgets what a redo yielded that another one has overtaken. The job is already the later one's.
pub(super) fn drop_unfinished_redo(tx: &Connection, job: &Job) -> Result<(), Fault> {
    let JobKey::Extract(id) = &job.key else {
        return Ok(());
    };
    let Some(row) = find_session(tx, id)? else {
        return Ok(());
    };
    let overtaken = params![row.no, job.redo];
    tx.prepare_cached(
        "DELETE FROM extractions WHERE session_no = ? AND live = 0 AND generation < ?",
    )?
    .execute(overtaken)?;
    let mut touched = Touched::default();
    evidence_rows::delete_where(
        tx,
        "session_no = ? AND live = 0 AND generation < ?",
        overtaken,
        &mut touched,
    )?;
    evidence_rows::settle(tx, &touched)?;
    Ok(())
}

/// Forgets the extractions of a session whose windows touch `range`, and returns the projects that
/// their digests ended in.
pub(super) fn forget_windows(
    tx: &Connection,
    (session, id): (i64, &SessionId),
    (from, to): (EventSeq, EventSeq),
) -> Result<BTreeSet<Scope>, Fault> {
    let touching = "session_no = ? AND from_seq <= ? AND to_seq >= ?";
    let values = [session, seq_column(to), seq_column(from)];
    let scopes = projects_of(tx, &id.tenant, touching, values)?;
    tx.prepare_cached(&format!("DELETE FROM extractions WHERE {touching}"))?
        .execute(values)?;
    Ok(scopes)
}

fn seq_column(seq: EventSeq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// The projects that the digests of some extractions ended in.
fn projects_of(
    tx: &Connection,
    tenant: &Tenant,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<BTreeSet<Scope>, Fault> {
    let sql = format!("SELECT digest FROM extractions WHERE {condition} AND digest IS NOT NULL");
    let mut find = tx.prepare_cached(&sql)?;
    let digests: Vec<String> = find
        .query_map(values, |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut scopes = BTreeSet::new();
    for digest in digests {
        scopes.extend(project_scope(tx, tenant, &parse_digest(&digest)?)?);
    }
    Ok(scopes)
}

fn parse_digest(text: &str) -> Result<Digest, Fault> {
    serde_json::from_str(text)
        .map_err(|error| Fault::corrupt(format!("a digest cannot be read: {error}")))
}

fn scopes(tx: &Connection, tenant: &Tenant) -> Result<Vec<ScopeState>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, kind, name, revision,
            (SELECT count(*) FROM observations WHERE scope_no = scopes.scope_no AND holds)
                AS observations
         FROM scopes JOIN tenants USING (tenant_no) WHERE tenant = ? AND revision > 0",
    )?;
    let rows = find.query_map([&tenant.0], |row| {
        Ok(ScopeState {
            scope: scope_of(row)?,
            revision: row.get("revision")?,
            observations: row.get("observations")?,
        })
    })?;
    let mut scopes: Vec<ScopeState> = rows.collect::<Result<_, _>>()?;
    scopes.sort_by(|a, b| a.scope.cmp(&b.scope));
    Ok(scopes)
}

fn records(
    tx: &Connection,
    tenant: &Tenant,
    project: Option<&str>,
) -> Result<Vec<ExtractionRecord>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT tenant, agent, host_id, label, from_seq, to_seq, digest, extractor, at
         FROM extractions JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE live AND tenant = ?1 AND (?2 IS NULL OR session_no IN (
            SELECT session_no FROM session_places JOIN places USING (place_no)
            JOIN roots USING (root_no) WHERE project = ?2))
         ORDER BY agent, host_id, from_seq, to_seq",
    )?;
    let mut rows = find.query(params![tenant.0, project])?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record_of(row)?);
    }
    Ok(records)
}

fn extractors(tx: &Connection, tenant: &Tenant) -> Result<Vec<(SessionId, String)>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT tenant, agent, host_id, extractor
         FROM extractions JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE live AND tenant = ? ORDER BY agent, host_id, extractor",
    )?;
    let pair = |row: &Row<'_>| Ok((session_id_of(row)?, row.get("extractor")?));
    let pairs = find.query_map([&tenant.0], pair)?;
    Ok(pairs.collect::<Result<_, _>>()?)
}

fn digest_before(
    tx: &Connection,
    session: &SessionId,
    redo: u32,
    before: EventSeq,
) -> Result<Option<Digest>, Fault> {
    let Some(row) = find_session(tx, session)? else {
        return Ok(None);
    };
    let mut find = tx.prepare_cached(
        "SELECT digest FROM extractions
         WHERE session_no = ? AND generation = ? AND to_seq < ? AND digest IS NOT NULL
         ORDER BY from_seq DESC LIMIT 1",
    )?;
    let values = params![row.no, redo, seq_column(before)];
    let digest: Option<String> = find.query_row(values, |row| row.get(0)).optional()?;
    digest.as_deref().map(parse_digest).transpose()
}

fn record_of(row: &Row<'_>) -> Result<ExtractionRecord, Fault> {
    let digest: Option<String> = row.get("digest")?;
    Ok(ExtractionRecord {
        session: session_id_of(row)?,
        label: row.get::<_, Option<String>>("label")?.unwrap_or_default(),
        from: EventSeq(row.get("from_seq")?),
        to: EventSeq(row.get("to_seq")?),
        digest: digest.as_deref().map(parse_digest).transpose()?,
        extractor: row.get("extractor")?,
        at: Timestamp(row.get("at")?),
    })
}
