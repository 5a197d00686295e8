//! Results of extraction: stored by the one transaction that also ends the job.
//!
//! While a redo runs, its results are invisible (`live` = 0). The finish that catches up deletes the previous
//! generation and makes the new one visible.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::quarantine::{QuarantineDecision, QuarantinedObservation};
use daybook_domain::seams::{
    ExtractionStore, ObservationStore, QuarantineStore, RetractedText, ScopeState, ScopeStore,
    StagedWrites,
};
use daybook_domain::{
    Digest, EventSeq, Extraction, ExtractionRecord, FinishOutcome, Job, JobKey, JobKind,
    LeaseToken, Observation, ObservationId, ObservationKind, Page, PageRequest, Provenance, Scope,
    ScopeKind, SessionId, StagedEntityWrite, StoreError, TallyKind, Tenant, Timestamp, Yield,
};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, Transaction, params};

use super::connection::Fault;
use super::names::{find_session, scope_of, session_id_of, session_no};
use super::revisions::{raise, raise_one};
use super::row_numbers::at_most;
use super::{SqliteStore, evidence_rows, job_rows, overviews, places, quarantine, staged};
use crate::bounds::{check_extraction, check_observations};
use crate::digests::DIGEST_ROOT;
use crate::evidence::{EvidencePiece, TouchedObservations};
use crate::page_keys::kinds_behind;
use crate::provenance::{fallback_columns, provenance_of};
use crate::quarantine::quarantined_text;
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

    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let in_project = "tenant = ?1 AND pollution IS NULL AND session_no IN (
            SELECT session_no FROM tenants JOIN roots USING (tenant_no) JOIN places USING (root_no)
            JOIN session_places USING (place_no) WHERE tenant = ?1 AND project = ?2)";
        self.read(|tx| records_where(tx, in_project, params![tenant.0, project]))
    }

    async fn extractions_without_root(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        // As in the condition of the index `extractions_without_root`, which is used for the same words alone.
        let without_root = format!(
            "tenant = ? AND pollution IS NULL AND digest IS NOT NULL AND instr(digest, '{DIGEST_ROOT}') = 0"
        );
        self.read(|tx| records_where(tx, &without_root, params![tenant.0]))
    }

    async fn extractions_of(
        &self,
        session: &SessionId,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let of_session = "tenant = ? AND host_id = ? AND agent = ?";
        let id = params![session.tenant.0, session.host_id, session.agent];
        self.read(|tx| records_where(tx, of_session, id))
    }

    async fn extractors(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<(SessionId, Provenance)>, StoreError> {
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
}

#[async_trait]
impl ObservationStore for SqliteStore {
    async fn observe(
        &self,
        observations: &[Observation],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        check_observations(observations)?;
        self.write(|tx| {
            let mut touched = TouchedObservations::default();
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
            let mut touched = TouchedObservations::default();
            let held = evidence_rows::retract(tx, scope, id, &mut touched)?;
            raise(tx, &evidence_rows::settle(tx, &touched)?.scopes, now)?;
            Ok(held)
        })
    }

    async fn retracted_texts(
        &self,
        _: &Tenant,
        sessions: &[SessionId],
    ) -> Result<Vec<RetractedText>, StoreError> {
        let cache = &self.read_caches.retracted;
        let found = self.cached(cache, sessions, |tx, session| {
            evidence_rows::retracted_texts(tx, session)
        })?;
        let found: BTreeSet<RetractedText> = found.into_iter().flatten().collect();
        Ok(found.into_iter().collect())
    }

    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Result<(), StoreError> {
        check_observations(std::slice::from_ref(observation))?;
        self.write(|tx| {
            let mut touched = TouchedObservations::default();
            evidence_rows::lift_retractions(tx, &observation.scope, observation.id)?;
            add_all(tx, observation, None, true, &mut touched)?;
            raise(tx, &evidence_rows::settle(tx, &touched)?.scopes, now)
        })
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        self.read(|tx| evidence_rows::observations(tx, scope))
    }

    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Result<Vec<Observation>, StoreError> {
        self.read(|tx| evidence_rows::observations_of_kinds(tx, tenant, scopes, kinds))
    }

    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Result<Vec<(Timestamp, u64)>, StoreError> {
        self.read(|tx| overviews::learned_by_span(tx, tenant, (from, span)))
    }
}

#[async_trait]
impl ScopeStore for SqliteStore {
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        self.write(|tx| raise_one(tx, scope, now))
    }

    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Result<Page<ScopeState, Scope>, StoreError> {
        let (after, most) = (page.after.as_ref(), page.most() + 1);
        let cache = &self.read_caches.scopes;
        let key = (tenant.clone(), after.cloned(), most);
        let read = |tx: &Transaction<'_>, _: &_| scopes(tx, tenant, after, most);
        let scopes = self.cached(cache, &[key], read)?;
        let scopes = scopes.into_iter().next().unwrap_or_default();
        Ok(Page::cut(scopes, page.most(), |state| state.scope.clone()))
    }
}

#[async_trait]
impl QuarantineStore for SqliteStore {
    async fn quarantined(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<QuarantinedObservation>, StoreError> {
        self.read(|tx| quarantine::of_tenant(tx, tenant))
    }

    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Result<bool, StoreError> {
        self.write(|tx| quarantine::decide(tx, scope, id, decision))
    }
}

#[async_trait]
impl StagedWrites for SqliteStore {
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, StoreError> {
        self.read(|tx| staged::of_tenant(tx, tenant))
    }

    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Result<(), StoreError> {
        self.write(|tx| staged::delete_staged(tx, staged))
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
    let tallied = TallyKind::extraction(outcome, &extraction.yielded);
    job_rows::tally(tx, JobKind::Extract, tallied)?;
    if outcome == FinishOutcome::LeaseLost {
        return Ok(outcome);
    }
    let session = session_no(tx, &extraction.session)?;
    let mut touched = TouchedObservations::default();
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

/// Deletes results of an earlier pass of the same generation inside the window, so that a window stored twice
/// counts once.
fn replace_window(
    tx: &Connection,
    session: i64,
    generation: u32,
    extraction: &Extraction,
    touched: &mut TouchedObservations,
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
    touched: &mut TouchedObservations,
) -> Result<(), Fault> {
    for evidence in &observation.evidence {
        let piece = EvidencePiece::of(observation, evidence, generation);
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
    let (fallback_for, fallback_until) = fallback_columns(&extraction.provenance);
    tx.prepare_cached(
        "INSERT INTO extractions (session_no, generation, live, from_seq, to_seq, digest,
            writes, quarantined, extractor, fallback_for, fallback_until, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        session,
        generation,
        live,
        extraction.from.0,
        extraction.to.0,
        digest,
        staged_text(&extraction.writes).map_err(Fault::corrupt)?,
        quarantined_text(&extraction.quarantined).map_err(Fault::corrupt)?,
        extraction.provenance.extractor,
        fallback_for,
        fallback_until,
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

/// Makes the results of a job's redo visible once it has caught up, for jobs that end without results.
pub(super) fn settle_redo(tx: &Connection, job: &mut Job, now: Timestamp) -> Result<(), Fault> {
    let mut touched = TouchedObservations::default();
    let mut scopes = swap_when_caught_up(tx, job, &mut touched)?;
    scopes.extend(evidence_rows::settle(tx, &touched)?.scopes);
    raise(tx, &scopes, now)
}

/// Replaces the previous generation by the new one. Returns the projects whose digests changed.
fn swap_when_caught_up(
    tx: &Connection,
    job: &mut Job,
    touched: &mut TouchedObservations,
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
    evidence_rows::make_evidence_live(tx, row.no, touched)?;
    tx.prepare_cached("DELETE FROM extractions WHERE session_no = ? AND generation < ?")?
        .execute(before)?;
    tx.prepare_cached("UPDATE extractions SET live = 1 WHERE session_no = ? AND live = 0")?
        .execute([row.no])?;
    Ok(scopes)
}

/// Deletes the results of a redo that a newer redo has replaced. The job is already the newer one's.
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
    let mut touched = TouchedObservations::default();
    evidence_rows::delete_where(
        tx,
        "session_no = ? AND live = 0 AND generation < ?",
        overtaken,
        &mut touched,
    )?;
    evidence_rows::settle(tx, &touched)?;
    Ok(())
}

/// Deletes the extractions of a session whose windows overlap `range`, and returns the projects that their
/// digests ended in.
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

/// Raised scopes behind `after`, in the order of [`Scope`].
fn scopes(
    tx: &Connection,
    tenant: &Tenant,
    after: Option<&Scope>,
    limit: usize,
) -> Result<Vec<ScopeState>, Fault> {
    let mut scopes: Vec<ScopeState> = Vec::new();
    for (kind, name) in kinds_behind(after) {
        let (behind, name) = name.map_or((">=", ""), |name| (">", name));
        let mut find = tx.prepare_cached(&format!(
            "SELECT tenant, kind, name, revision,
                (SELECT count(*) FROM observations WHERE scope_no = scopes.scope_no AND holds)
                    AS observations
             FROM scopes JOIN tenants USING (tenant_no)
             WHERE tenant = ? AND kind = ? AND name {behind} ? AND revision > 0
             ORDER BY name LIMIT ?"
        ))?;
        let most = at_most(limit - scopes.len());
        let values = params![tenant.0, kind.as_str(), name, most];
        let mut rows = find.query(values)?;
        while let Some(row) = rows.next()? {
            scopes.push(ScopeState {
                scope: scope_of(row)?,
                revision: row.get("revision")?,
                observations: row.get("observations")?,
            });
        }
    }
    Ok(scopes)
}

/// Live extractions, by session and window.
fn records_where(
    tx: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<ExtractionRecord>, Fault> {
    let mut find = tx.prepare_cached(&format!(
        "SELECT tenant, agent, host_id, label, from_seq, to_seq, digest, extractor, fallback_for, fallback_until,
            at
         FROM extractions JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE live AND {condition}"
    ))?;
    let mut rows = find.query(values)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(record_of(row)?);
    }
    // Sorted here, so that SQLite does not carry their digests through a sort of its own.
    records.sort_by(|a: &ExtractionRecord, b| {
        let key = |one: &ExtractionRecord| (one.from, one.to);
        let sessions = (&a.session.agent, &a.session.host_id);
        let order = sessions.cmp(&(&b.session.agent, &b.session.host_id));
        order.then_with(|| key(a).cmp(&key(b)))
    });
    Ok(records)
}

fn extractors(tx: &Connection, tenant: &Tenant) -> Result<Vec<(SessionId, Provenance)>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT tenant, agent, host_id, extractor, fallback_for, fallback_until
         FROM extractions JOIN sessions USING (session_no) JOIN tenants USING (tenant_no)
         WHERE live AND tenant = ? ORDER BY agent, host_id, extractor,
            fallback_for, fallback_until",
    )?;
    let pair = |row: &Row<'_>| Ok((session_id_of(row)?, stored_provenance(row)?));
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

fn stored_provenance(row: &Row<'_>) -> rusqlite::Result<Provenance> {
    Ok(provenance_of(
        row.get("extractor")?,
        row.get("fallback_for")?,
        row.get("fallback_until")?,
    ))
}

/// The row of [`records_where`]. Columns are named by their place: a search for names would take most of the time.
fn record_of(row: &Row<'_>) -> Result<ExtractionRecord, Fault> {
    let digest = row
        .get_ref(6)?
        .as_str_or_null()
        .map_err(rusqlite::Error::from)?;
    Ok(ExtractionRecord {
        session: SessionId {
            tenant: Tenant(row.get(0)?),
            agent: row.get(1)?,
            host_id: row.get(2)?,
        },
        label: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
        from: EventSeq(row.get(4)?),
        to: EventSeq(row.get(5)?),
        digest: digest.map(parse_digest).transpose()?,
        provenance: provenance_of(row.get(7)?, row.get(8)?, row.get(9)?),
        at: Timestamp(row.get(10)?),
    })
}
