//! Results of extraction: stored by the one transaction that also ends the job.
//!
//! While a redo runs, its results are invisible (not `live`). The finish that catches up deletes the previous
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
use tokio_postgres::Row;

use super::connection::{TenantAccess, Tx};
use super::evidence_rows::{self, NewEvidence};
use super::fault::Fault;
use super::names::{find_session, raise, raise_one, scope_of, session_id_of, session_no};
use super::values::{SqlValue, get, values};
use super::{
    PostgresStore, job_rows, observation_rows, overviews, quarantine, retractions, staged,
};
use crate::bounds::{check_extraction, check_observations};
use crate::digests::DIGEST_ROOT;
use crate::evidence::{EvidencePiece, TouchedObservations};
use crate::page_keys::kinds_behind;
use crate::provenance::{fallback_columns, provenance_of};
use crate::quarantine::quarantined_text;
use crate::staged::staged_text;

#[async_trait]
impl ExtractionStore for PostgresStore {
    async fn finish_extraction(
        &self,
        lease: &LeaseToken,
        extraction: &Extraction,
        now: Timestamp,
    ) -> Result<FinishOutcome, StoreError> {
        check_extraction(lease, extraction)?;
        let finish = |tx| async move { finish(&tx, lease, extraction, now).await };
        self.write(TenantAccess::Only(&extraction.session.tenant), finish)
            .await
    }

    async fn extractions_in_project(
        &self,
        tenant: &Tenant,
        project: &str,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let in_project = "tenant = $1 AND pollution IS NULL AND session_no IN (
            SELECT session_no FROM tenants JOIN roots USING (tenant_no)
            JOIN places USING (root_no) JOIN session_places USING (place_no)
            WHERE tenant = $1 AND project = $2)";
        let records =
            |tx| async move { records_where(&tx, in_project, values![&tenant.0, project]).await };
        self.read(TenantAccess::Only(tenant), records).await
    }

    async fn extractions_without_root(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let without_root =
            "tenant = $1 AND pollution IS NULL AND digest IS NOT NULL AND strpos(digest, $2) = 0";
        let records = |tx| async move {
            records_where(&tx, without_root, values![&tenant.0, DIGEST_ROOT]).await
        };
        self.read(TenantAccess::Only(tenant), records).await
    }

    async fn extractions_of(
        &self,
        session: &SessionId,
    ) -> Result<Vec<ExtractionRecord>, StoreError> {
        let of_session = "tenant = $1 AND host_id = $2 AND agent = $3";
        let records = |tx| async move {
            let id = values![&session.tenant.0, &session.host_id, &session.agent];
            records_where(&tx, of_session, id).await
        };
        self.read(TenantAccess::Only(&session.tenant), records)
            .await
    }

    async fn extractors(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<(SessionId, Provenance)>, StoreError> {
        let extractors = |tx| async move { extractors(&tx, tenant).await };
        self.read(TenantAccess::Only(tenant), extractors).await
    }

    async fn digest_before(
        &self,
        session: &SessionId,
        redo: u32,
        before: EventSeq,
    ) -> Result<Option<Digest>, StoreError> {
        let digest = |tx| async move { digest_before(&tx, session, redo, before).await };
        self.read(TenantAccess::Only(&session.tenant), digest).await
    }
}

#[async_trait]
impl ObservationStore for PostgresStore {
    async fn observe(
        &self,
        observations: &[Observation],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        check_observations(observations)?;
        let Some(first) = observations.first() else {
            return Ok(());
        };
        let tenant = &first.scope.tenant;
        let is_theirs = |observation: &Observation| &observation.scope.tenant == tenant;
        let access = if observations.iter().all(is_theirs) {
            TenantAccess::Only(tenant)
        } else {
            TenantAccess::All
        };
        let observe = |tx: Tx| async move {
            let tx = &tx;
            let mut touched = TouchedObservations::default();
            let scopes = observations.iter().map(|observation| &observation.scope);
            let locked = evidence_rows::lock(tx, &scopes.collect(), None).await?;
            let additions = additions(observations, None, true);
            evidence_rows::add(tx, &locked, &additions, &mut touched).await?;
            settle(tx, &touched, BTreeSet::new(), now).await
        };
        self.write(access, observe).await
    }

    async fn retract(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let retract = |tx: Tx| async move {
            let tx = &tx;
            let mut touched = TouchedObservations::default();
            let held = retractions::retract(tx, scope, id, &mut touched).await?;
            settle(tx, &touched, BTreeSet::new(), now).await?;
            Ok(held)
        };
        self.write(TenantAccess::Only(&scope.tenant), retract).await
    }

    async fn retracted_texts(
        &self,
        tenant: &Tenant,
        sessions: &[SessionId],
    ) -> Result<Vec<RetractedText>, StoreError> {
        let find = |tx: Tx| async move { retractions::texts(&tx, tenant, sessions).await };
        self.read(TenantAccess::Only(tenant), find).await
    }

    async fn reinstate(&self, observation: &Observation, now: Timestamp) -> Result<(), StoreError> {
        let observations = std::slice::from_ref(observation);
        check_observations(observations)?;
        let scope = &observation.scope;
        let reinstate = |tx: Tx| async move {
            let tx = &tx;
            let mut touched = TouchedObservations::default();
            let locked = evidence_rows::lock(tx, &BTreeSet::from([scope]), None).await?;
            retractions::lift(tx, locked.no(scope)?, observation.id).await?;
            let additions = additions(observations, None, true);
            evidence_rows::add(tx, &locked, &additions, &mut touched).await?;
            settle(tx, &touched, BTreeSet::new(), now).await
        };
        self.write(TenantAccess::Only(&scope.tenant), reinstate)
            .await
    }

    async fn observations(&self, scope: &Scope) -> Result<Vec<Observation>, StoreError> {
        let observations = |tx| async move { observation_rows::in_scope(&tx, scope).await };
        self.read(TenantAccess::Only(&scope.tenant), observations)
            .await
    }

    async fn observations_of_kinds(
        &self,
        tenant: &Tenant,
        scopes: ScopeKind,
        kinds: &[ObservationKind],
    ) -> Result<Vec<Observation>, StoreError> {
        let observations =
            |tx| async move { observation_rows::of_kinds(&tx, tenant, scopes, kinds).await };
        self.read(TenantAccess::Only(tenant), observations).await
    }

    async fn learned_by_span(
        &self,
        tenant: &Tenant,
        from: Timestamp,
        span: Duration,
    ) -> Result<Vec<(Timestamp, u64)>, StoreError> {
        let learned =
            |tx| async move { overviews::learned_by_span(&tx, tenant, (from, span)).await };
        self.read(TenantAccess::Only(tenant), learned).await
    }
}

#[async_trait]
impl ScopeStore for PostgresStore {
    async fn touch_scope(&self, scope: &Scope, now: Timestamp) -> Result<u64, StoreError> {
        let touch = |tx| async move { raise_one(&tx, scope, now).await };
        self.write(TenantAccess::Only(&scope.tenant), touch).await
    }

    async fn scopes(
        &self,
        tenant: &Tenant,
        page: PageRequest<Scope>,
    ) -> Result<Page<ScopeState, Scope>, StoreError> {
        let (most, after) = (page.most(), &page.after);
        let read = |tx| async move { scopes(&tx, tenant, after.as_ref(), most + 1).await };
        let scopes = self.read(TenantAccess::Only(tenant), read).await?;
        Ok(Page::cut(scopes, most, |state| state.scope.clone()))
    }
}

#[async_trait]
impl QuarantineStore for PostgresStore {
    async fn quarantined(
        &self,
        tenant: &Tenant,
    ) -> Result<Vec<QuarantinedObservation>, StoreError> {
        let quarantined = |tx| async move { quarantine::of_tenant(&tx, tenant).await };
        self.read(TenantAccess::Only(tenant), quarantined).await
    }

    async fn decide(
        &self,
        scope: &Scope,
        id: ObservationId,
        decision: QuarantineDecision,
    ) -> Result<bool, StoreError> {
        let decide = |tx: Tx| async move { quarantine::decide(&tx, scope, id, decision).await };
        self.write(TenantAccess::Only(&scope.tenant), decide).await
    }
}

#[async_trait]
impl StagedWrites for PostgresStore {
    async fn staged(&self, tenant: &Tenant) -> Result<Vec<StagedEntityWrite>, StoreError> {
        let staged = |tx| async move { staged::of_tenant(&tx, tenant).await };
        self.read(TenantAccess::Only(tenant), staged).await
    }

    async fn unstage(&self, staged: &[StagedEntityWrite]) -> Result<(), StoreError> {
        for one in staged {
            let delete_staged = |tx| async move { staged::delete_staged(&tx, one).await };
            self.write(TenantAccess::Only(&one.session.tenant), delete_staged)
                .await?;
        }
        Ok(())
    }
}

async fn finish(
    tx: &Tx,
    lease: &LeaseToken,
    extraction: &Extraction,
    now: Timestamp,
) -> Result<FinishOutcome, Fault> {
    let Some(mut job) = job_rows::load(tx, lease.job()).await? else {
        return Ok(FinishOutcome::LeaseLost);
    };
    let live = job.redo_until.is_none();
    let outcome = job.finish(lease, extraction.to.0, now);
    let tallied = TallyKind::extraction(outcome, &extraction.yielded);
    if outcome == FinishOutcome::LeaseLost {
        job_rows::tally(tx, JobKind::Extract, tallied);
        return Ok(outcome);
    }
    let session = session_no(tx, &extraction.session).await?;
    let mut touched = TouchedObservations::default();
    let mut scopes: BTreeSet<Scope> = extraction.concerns.iter().cloned().collect();
    let (observations, digest) = match &extraction.yielded {
        Yield::Nothing => (&[][..], None),
        Yield::Something {
            observations,
            digest,
        } => (observations.as_slice(), Some(digest.as_ref())),
    };
    let filed = observations.iter().map(|observation| &observation.scope);
    let locked = evidence_rows::lock(tx, &filed.collect(), Some(session)).await?;
    staged::withdraw(tx, session, &extraction.retracted).await?;
    replace_window(tx, session, (job.redo, live), extraction, digest, now).await?;
    // Results of an earlier pass of the same generation inside the window are deleted, so that a window stored
    // twice counts once.
    let inside = "session_no = $1 AND generation = $2 AND first_seq >= $3 AND last_seq <= $4";
    let window = values![session, job.redo, extraction.from.0, extraction.to.0];
    evidence_rows::delete_where(tx, inside, window, &mut touched).await?;
    let additions = additions(observations, Some(job.redo), live);
    evidence_rows::add(tx, &locked, &additions, &mut touched).await?;
    let digests: Vec<&Digest> = digest.into_iter().collect();
    scopes.extend(project_scopes(tx, &extraction.session.tenant, &digests).await?);
    let retracted = extraction.retracted.iter().copied().collect();
    evidence_rows::cut(tx, session, &retracted, &mut touched).await?;
    scopes.extend(swap_when_caught_up(tx, &mut job, &mut touched).await?);
    settle(tx, &touched, scopes, now).await?;
    job_rows::save(tx, &job);
    job_rows::tally(tx, JobKind::Extract, tallied);
    Ok(outcome)
}

fn additions(
    observations: &[Observation],
    generation: Option<u32>,
    live: bool,
) -> Vec<NewEvidence> {
    let mut additions = Vec::new();
    for observation in observations {
        additions.extend(observation.evidence.iter().map(|evidence| NewEvidence {
            scope: observation.scope.clone(),
            what: (observation.id, observation.kind),
            piece: EvidencePiece::of(observation, evidence, generation),
            live,
        }));
    }
    additions
}

/// Derives the touched observations again, and raises their scopes together with those that are concerned
/// anyway.
pub(super) async fn settle(
    tx: &Tx,
    touched: &TouchedObservations,
    mut scopes: BTreeSet<Scope>,
    now: Timestamp,
) -> Result<(), Fault> {
    scopes.extend(observation_rows::settle(tx, touched).await?.scopes);
    if scopes.is_empty() {
        return Ok(());
    }
    raise(tx, &scopes, now).await
}

/// Stores the record of a window in place of those from an earlier pass of the same generation.
async fn replace_window(
    tx: &Tx,
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
    let replace = "WITH gone AS (
            DELETE FROM extractions
            WHERE session_no = $1 AND generation = $2 AND from_seq >= $4 AND to_seq <= $5
        )
        INSERT INTO extractions (tenant_no, session_no, generation, live, from_seq, to_seq, digest,
            writes, quarantined, extractor, fallback_for, fallback_until, at)
        SELECT tenant_no, session_no, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM sessions
        WHERE session_no = $1";
    let record = values![
        session,
        generation,
        live,
        extraction.from.0,
        extraction.to.0,
        digest,
        staged_text(&extraction.writes).map_err(Fault::corrupt)?,
        quarantined_text(&extraction.quarantined).map_err(Fault::corrupt)?,
        &extraction.provenance.extractor,
        fallback_for,
        fallback_until,
        now
    ];
    tx.execute(replace, record).await?;
    Ok(())
}

/// The scopes of the projects that digests end in.
async fn project_scopes(
    tx: &Tx,
    tenant: &Tenant,
    digests: &[&Digest],
) -> Result<BTreeSet<Scope>, Fault> {
    let roots: BTreeSet<&String> = digests.iter().filter_map(|d| d.root.as_ref()).collect();
    if roots.is_empty() {
        return Ok(BTreeSet::new());
    }
    let find = "SELECT project FROM roots JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND root = ANY ($2) AND project IS NOT NULL";
    let roots: Vec<String> = roots.into_iter().cloned().collect();
    let rows = tx.rows(find, values![&tenant.0, roots]).await?;
    rows.iter()
        .map(|row| {
            Ok(Scope {
                tenant: tenant.clone(),
                kind: ScopeKind::Project,
                name: get(row, "project")?,
            })
        })
        .collect()
}

/// Makes the results of a job's redo visible once it has caught up, for jobs that end without results.
pub(super) async fn settle_redo(tx: &Tx, job: &mut Job, now: Timestamp) -> Result<(), Fault> {
    let mut touched = TouchedObservations::default();
    let scopes = swap_when_caught_up(tx, job, &mut touched).await?;
    settle(tx, &touched, scopes, now).await
}

/// Replaces the previous generation by the new one. Returns the projects whose digests changed.
async fn swap_when_caught_up(
    tx: &Tx,
    job: &mut Job,
    touched: &mut TouchedObservations,
) -> Result<BTreeSet<Scope>, Fault> {
    let is_caught_up = job.take_caught_up();
    let JobKey::Extract(id) = &job.key else {
        return Ok(BTreeSet::new());
    };
    if !is_caught_up {
        return Ok(BTreeSet::new());
    }
    let Some(row) = find_session(tx, id).await? else {
        return Ok(BTreeSet::new());
    };
    evidence_rows::lock(tx, &BTreeSet::new(), Some(row.no)).await?;
    let scopes = projects_of(tx, &id.tenant, "session_no = $1", values![row.no]).await?;
    let before = values![row.no, job.redo];
    let replaced = "session_no = $1 AND generation >= 0 AND generation < $2";
    evidence_rows::delete_where(tx, replaced, before, touched).await?;
    evidence_rows::make_evidence_live(tx, row.no, touched).await?;
    let delete = "DELETE FROM extractions WHERE session_no = $1 AND generation < $2";
    tx.execute(delete, before).await?;
    let show = "UPDATE extractions SET live = TRUE WHERE session_no = $1 AND NOT live";
    tx.execute(show, values![row.no]).await?;
    Ok(scopes)
}

/// Deletes the results of a redo that a newer redo has replaced. The job is already the newer one's.
pub(super) async fn drop_unfinished_redo(tx: &Tx, job: &Job) -> Result<(), Fault> {
    let JobKey::Extract(id) = &job.key else {
        return Ok(());
    };
    let Some(row) = find_session(tx, id).await? else {
        return Ok(());
    };
    let overtaken = "session_no = $1 AND NOT live AND generation < $2";
    let values = values![row.no, job.redo];
    tx.execute(
        &format!("DELETE FROM extractions WHERE {overtaken}"),
        values,
    )
    .await?;
    let mut touched = TouchedObservations::default();
    evidence_rows::lock(tx, &BTreeSet::new(), Some(row.no)).await?;
    evidence_rows::delete_where(tx, overtaken, values, &mut touched).await?;
    observation_rows::settle(tx, &touched).await?;
    Ok(())
}

/// Deletes the extractions of a session whose windows overlap `range`, and returns the projects that their
/// digests ended in.
pub(super) async fn forget_windows(
    tx: &Tx,
    (session, id): (i64, &SessionId),
    (from, to): (EventSeq, EventSeq),
) -> Result<BTreeSet<Scope>, Fault> {
    let touching = "session_no = $1 AND from_seq <= $2 AND to_seq >= $3";
    let values = values![session, to.0, from.0];
    let scopes = projects_of(tx, &id.tenant, touching, values).await?;
    tx.execute(&format!("DELETE FROM extractions WHERE {touching}"), values)
        .await?;
    Ok(scopes)
}

/// The projects that the digests of some extractions ended in.
async fn projects_of(
    tx: &Tx,
    tenant: &Tenant,
    condition: &str,
    values: &[SqlValue],
) -> Result<BTreeSet<Scope>, Fault> {
    let sql = format!("SELECT digest FROM extractions WHERE {condition} AND digest IS NOT NULL");
    let mut digests = Vec::new();
    for row in tx.rows(&sql, values).await? {
        digests.push(parse_digest(&get::<String>(&row, "digest")?)?);
    }
    project_scopes(tx, tenant, &digests.iter().collect::<Vec<_>>()).await
}

fn parse_digest(text: &str) -> Result<Digest, Fault> {
    serde_json::from_str(text)
        .map_err(|error| Fault::corrupt(format!("a digest cannot be read: {error}")))
}

/// Raised scopes behind `after`, in the order of [`Scope`].
async fn scopes(
    tx: &Tx,
    tenant: &Tenant,
    after: Option<&Scope>,
    limit: usize,
) -> Result<Vec<ScopeState>, Fault> {
    let mut scopes: Vec<ScopeState> = Vec::new();
    for (kind, name) in kinds_behind(after) {
        let (behind, name) = name.map_or((">=", ""), |name| (">", name));
        let find = format!(
            "SELECT tenant, kind, name, revision,
                (SELECT count(*) FROM observations WHERE scope_no = scopes.scope_no AND holds)
                    AS observations
             FROM scopes JOIN tenants USING (tenant_no)
             WHERE tenant = $1 AND kind = $2 AND name {behind} $3 AND revision > 0
             ORDER BY name LIMIT $4"
        );
        let values = values![&tenant.0, kind.as_str(), name, limit - scopes.len()];
        for row in tx.rows(&find, values).await? {
            scopes.push(ScopeState {
                scope: scope_of(&row)?,
                revision: get(&row, "revision")?,
                observations: get(&row, "observations")?,
            });
        }
    }
    Ok(scopes)
}

/// Live extractions, by session and window.
async fn records_where(
    tx: &Tx,
    condition: &str,
    values: &[SqlValue],
) -> Result<Vec<ExtractionRecord>, Fault> {
    let find = format!(
        "SELECT tenant, agent, host_id, label, from_seq, to_seq, digest, extractor, fallback_for, fallback_until,
            at
         FROM extractions JOIN sessions USING (session_no)
         JOIN tenants ON tenants.tenant_no = sessions.tenant_no
         WHERE live AND {condition} ORDER BY agent, host_id, from_seq, to_seq"
    );
    let rows = tx.rows(&find, values).await?;
    rows.iter().map(record_of).collect()
}

async fn extractors(tx: &Tx, tenant: &Tenant) -> Result<Vec<(SessionId, Provenance)>, Fault> {
    let find = "SELECT DISTINCT tenant, agent, host_id, extractor, fallback_for, fallback_until
        FROM extractions JOIN sessions USING (session_no)
        JOIN tenants ON tenants.tenant_no = sessions.tenant_no
        WHERE live AND tenant = $1 ORDER BY agent, host_id, extractor,
            fallback_for NULLS FIRST, fallback_until";
    let rows = tx.rows(find, values![&tenant.0]).await?;
    rows.iter()
        .map(|row| Ok((session_id_of(row)?, stored_provenance(row)?)))
        .collect()
}

async fn digest_before(
    tx: &Tx,
    session: &SessionId,
    redo: u32,
    before: EventSeq,
) -> Result<Option<Digest>, Fault> {
    let Some(row) = find_session(tx, session).await? else {
        return Ok(None);
    };
    let find = "SELECT digest FROM extractions
        WHERE session_no = $1 AND generation = $2 AND to_seq < $3 AND digest IS NOT NULL
        ORDER BY from_seq DESC LIMIT 1";
    let found = tx.row(find, values![row.no, redo, before.0]).await?;
    let digest: Option<String> = found.map(|row| get(&row, "digest")).transpose()?;
    digest.as_deref().map(parse_digest).transpose()
}

fn stored_provenance(row: &Row) -> Result<Provenance, Fault> {
    Ok(provenance_of(
        get(row, "extractor")?,
        get(row, "fallback_for")?,
        get(row, "fallback_until")?,
    ))
}

fn record_of(row: &Row) -> Result<ExtractionRecord, Fault> {
    let digest: Option<String> = get(row, "digest")?;
    Ok(ExtractionRecord {
        session: session_id_of(row)?,
        label: get::<Option<String>>(row, "label")?.unwrap_or_default(),
        from: EventSeq(get(row, "from_seq")?),
        to: EventSeq(get(row, "to_seq")?),
        digest: digest.as_deref().map(parse_digest).transpose()?,
        provenance: stored_provenance(row)?,
        at: get(row, "at")?,
    })
}
