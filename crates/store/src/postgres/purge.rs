//! Removes what a person purges, and keeps the tombstones of it.
//!
//! Events go in steps that each leave the store consistent, the last ones first, like those of an undone import. The
//! server overwrites removed rows by itself, when it vacuums their tables.

use std::collections::BTreeSet;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::PurgeStore;
use daybook_domain::{
    EventSeq, JobKey, ObservationId, Page, PageRequest, PurgeKey, PurgedEvents, Scope, ScopeKind,
    SeqRange, SessionId, StoreError, Tenant, Timestamp, Tombstone,
};

use super::connection::{TenantAccess, Tx};
use super::fault::Fault;
use super::names::{find_scope, find_tenant, lock_session, raise, tenant_no};
use super::pollution::rederive_learned;
use super::row_numbers::{event_no, event_nos, seq_of};
use super::tombstones::{bytes_of, key_of, mark_of};
use super::undo::{delete_events, rederive_session, shorten_job};
use super::values::{get, values};
use super::{
    PostgresStore, evidence_rows, extractions, gaps, index, index_rows, job_rows, observation_rows,
    places, sessions, uses,
};
use crate::bounds::STEP_ROWS;
use crate::documents::observation_doc;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;

/// Rows of one step, as a value of a statement.
const STEP: i64 = STEP_ROWS as i64;

#[async_trait]
impl PurgeStore for PostgresStore {
    async fn purge_key(&self, tenant: &Tenant, fresh: &PurgeKey) -> Result<PurgeKey, StoreError> {
        let find = |tx: Tx| async move {
            let no = tenant_no(&tx, tenant).await?;
            let insert = "INSERT INTO purge_keys (tenant_no, key) VALUES ($1, $2)
                ON CONFLICT DO NOTHING";
            tx.execute(insert, values![no, &fresh.0[..]]).await?;
            let key = key_of(&tx, no).await?;
            key.ok_or_else(|| Fault::corrupt(format!("the key of tenant {no} vanished")))
        };
        self.write(TenantAccess::Only(tenant), find).await
    }

    async fn add_tombstones(
        &self,
        tenant: &Tenant,
        tombstones: &[Tombstone],
    ) -> Result<u64, StoreError> {
        let mut added = 0;
        for some in tombstones.chunks(STEP_ROWS) {
            let add = |tx: Tx| async move {
                let no = tenant_no(&tx, tenant).await?;
                let insert = "INSERT INTO tombstones (tenant_no, mark)
                    SELECT $1, mark FROM unnest($2) AS new (mark) ON CONFLICT DO NOTHING";
                tx.execute(insert, values![no, bytes_of(some)]).await
            };
            added += self.write(TenantAccess::Only(tenant), add).await?;
        }
        Ok(added)
    }

    async fn tombstones(
        &self,
        tenant: &Tenant,
        page: PageRequest<Tombstone>,
    ) -> Result<Page<Tombstone, Tombstone>, StoreError> {
        let most = page.most();
        let after = page.after;
        let read = |tx: Tx| async move {
            let Some(no) = find_tenant(&tx, tenant).await? else {
                return Ok(Vec::new());
            };
            let after = after.map_or(Vec::new(), |mark| mark.0.to_be_bytes().to_vec());
            let find = "SELECT mark FROM tombstones WHERE tenant_no = $1 AND mark > $2
                ORDER BY mark LIMIT $3";
            let limit = i64::try_from(most + 1).unwrap_or(i64::MAX);
            let rows = tx.rows(find, values![no, &after[..], limit]).await?;
            rows.iter()
                .map(|row| mark_of(&get::<Vec<u8>>(row, "mark")?))
                .collect()
        };
        let marks: Vec<Tombstone> = self.read(TenantAccess::Only(tenant), read).await?;
        Ok(Page::cut(marks, most, |mark| *mark))
    }

    async fn purge_events(
        &self,
        session: &SessionId,
        range: SeqRange,
        now: Timestamp,
    ) -> Result<PurgedEvents, StoreError> {
        let mut purged = PurgedEvents::default();
        let step = |tx: Tx| async move { purge_step(&tx, session, range, now).await };
        while let Some(step) = self
            .write(TenantAccess::Only(&session.tenant), step)
            .await?
        {
            purged.events += step.events;
            purged.observations += step.observations;
            purged.session_gone |= step.session_gone;
        }
        Ok(purged)
    }

    async fn purge_observation(
        &self,
        scope: &Scope,
        id: ObservationId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let purge = |tx: Tx| async move { purge_observation(&tx, scope, id, now).await };
        self.write(TenantAccess::Only(&scope.tenant), purge).await
    }

    async fn purge_scope(&self, scope: &Scope, _: Timestamp) -> Result<u64, StoreError> {
        let mut removed = 0;
        let step = |tx: Tx| async move { purge_scope_step(&tx, scope).await };
        while let Some(step) = self.write(TenantAccess::Only(&scope.tenant), step).await? {
            removed += step;
        }
        Ok(removed)
    }

    async fn reset_session(&self, session: &SessionId) -> Result<bool, StoreError> {
        let reset = |tx: Tx| async move { reset_session(&tx, session).await };
        self.write(TenantAccess::Only(&session.tenant), reset).await
    }

    async fn reset_scope(&self, scope: &Scope) -> Result<u64, StoreError> {
        let mut removed = 0;
        let step = |tx: Tx| async move { reset_scope_step(&tx, scope).await };
        loop {
            match self.write(TenantAccess::Only(&scope.tenant), step).await? {
                0 => return Ok(removed),
                step => removed += step,
            }
        }
    }

    async fn is_scope_empty(&self, scope: &Scope) -> Result<bool, StoreError> {
        let read = |tx: Tx| async move {
            let Some(no) = find_scope(&tx, scope).await? else {
                return Ok(true);
            };
            let find = "SELECT EXISTS (SELECT FROM observations WHERE scope_no = $1)
                OR ($2 AND EXISTS (SELECT FROM places JOIN roots USING (root_no)
                    JOIN tenants ON tenants.tenant_no = roots.tenant_no
                    WHERE tenant = $3 AND project = $4)) AS held";
            let is_project = scope.kind == ScopeKind::Project;
            let asked = values![no, is_project, &scope.tenant.0, &scope.name];
            Ok(!get::<bool>(&tx.one(find, asked).await?, "held")?)
        };
        self.read(TenantAccess::Only(&scope.tenant), read).await
    }

    async fn erase_purged(&self) -> Result<bool, StoreError> {
        Ok(true)
    }
}

/// Removes the last events of a range, at most so many as one transaction touches; `None` when the range holds none
/// and the session keeps others.
async fn purge_step(
    tx: &Tx,
    id: &SessionId,
    (from, to): SeqRange,
    now: Timestamp,
) -> Result<Option<PurgedEvents>, Fault> {
    let Some(mut row) = lock_session(tx, id).await? else {
        return Ok(None);
    };
    let find = "SELECT min(event_no) AS first, max(event_no) AS last FROM (
            SELECT event_no FROM events WHERE event_no BETWEEN $1 AND $2
            ORDER BY event_no DESC LIMIT $3) AS last_ones";
    let asked = values![event_no(row.no, from), event_no(row.no, to), STEP];
    let found = tx.one(find, asked).await?;
    let found: (Option<i64>, Option<i64>) = (get(&found, "first")?, get(&found, "last")?);
    let range = match found {
        (Some(first), Some(last)) => (seq_of(first), seq_of(last)),
        _ if has_events(tx, row.no).await? => return Ok(None),
        _ => (EventSeq(0), EventSeq(0)),
    };
    let purged = remove_range(tx, &mut row, range, now).await?;
    if purged.session_gone {
        delete_session(tx, &row).await?;
    }
    Ok(Some(purged))
}

async fn has_events(tx: &Tx, session: i64) -> Result<bool, Fault> {
    let (from, to) = event_nos(session);
    let find = "SELECT EXISTS (SELECT FROM events WHERE event_no BETWEEN $1 AND $2) AS held";
    get(&tx.one(find, values![from, to]).await?, "held")
}

/// Removes events and all that rests on them.
async fn remove_range(
    tx: &Tx,
    row: &mut SessionRow,
    range: SeqRange,
    now: Timestamp,
) -> Result<PurgedEvents, Fault> {
    let (session, id) = (row.no, row.session.id.clone());
    let mut concerned = extractions::forget_windows(tx, (session, &id), range).await?;
    concerned.extend(uses::forget(tx, session, range).await?);
    let used = places::of_events(tx, session, range).await?;
    let events = delete_events(tx, session, range).await?;
    places::forget_unused(tx, used).await?;
    forget_thread(tx, session).await?;
    let mut touched = TouchedObservations::default();
    evidence_rows::delete_within(tx, session, range, &mut touched).await?;
    let (from, to) = (
        evidence_rows::seq_column(range.0),
        evidence_rows::seq_column(range.1),
    );
    let delete = "DELETE FROM retractions WHERE session_no = $1 AND seq BETWEEN $2 AND $3";
    tx.execute(delete, values![session, from, to]).await?;
    let was_polluted = row.session.pollution.is_some();
    let removed = rederive_session(tx, row).await?;
    if was_polluted && (removed || row.session.pollution.is_none()) {
        row.session.pollution = None;
        sessions::save(tx, row);
        rederive_learned(tx, row, &Switches::default(), now).await?;
    }
    let key = JobKey::Extract(id.clone());
    if removed {
        delete_job(tx, &key).await?;
        delete_job(tx, &JobKey::Redact(id.clone())).await?;
        evidence_rows::delete_where(tx, "session_no = $1", values![session], &mut touched).await?;
    } else {
        shorten_job(tx, &key, &row.session, now).await?;
    }
    let settled = observation_rows::settle(tx, &touched).await?;
    concerned.extend(settled.scopes);
    forget_of_models(tx, &concerned, &id).await?;
    raise(tx, &concerned, now).await?;
    Ok(PurgedEvents {
        events,
        observations: settled.withdrawn,
        session_gone: removed,
    })
}

async fn delete_job(tx: &Tx, key: &JobKey) -> Result<(), Fault> {
    job_rows::delete(tx, key).await?;
    gaps::delete(tx, key).await?;
    Ok(())
}

/// Forgets what a model phrased of scopes, and selections that name a session.
async fn forget_of_models(
    tx: &Tx,
    scopes: &BTreeSet<Scope>,
    session: &SessionId,
) -> Result<(), Fault> {
    for scope in scopes {
        let Some(no) = find_scope(tx, scope).await? else {
            continue;
        };
        let forget = "UPDATE scopes SET proposals = NULL,
                selection = CASE WHEN strpos(selection, $2) > 0 THEN NULL ELSE selection END
            WHERE scope_no = $1 AND (proposals IS NOT NULL OR selection IS NOT NULL)";
        tx.execute(forget, values![no, &session.host_id]).await?;
    }
    Ok(())
}

/// Removes the state of a session's thread: a summary in it may repeat any event.
async fn forget_thread(tx: &Tx, session: i64) -> Result<(), Fault> {
    for table in ["thread_snapshots", "threads"] {
        let delete = format!("DELETE FROM {table} WHERE session_no = $1");
        tx.execute(&delete, values![session]).await?;
    }
    let (from, to) = event_nos(session);
    let forget = "UPDATE events SET entry = NULL
        WHERE event_no BETWEEN $1 AND $2 AND entry IS NOT NULL";
    tx.execute(forget, values![from, to]).await?;
    Ok(())
}

/// Deletes a session without events, with everything that names it.
async fn delete_session(tx: &Tx, row: &SessionRow) -> Result<(), Fault> {
    uses::forget_user(tx, row.no).await?;
    let id = &row.session.id;
    let forget = "UPDATE spend_calls SET agent = NULL, host_id = NULL
        WHERE tenant_no = $1 AND host_id = $2 AND agent = $3";
    tx.execute(forget, values![row.tenant, &id.host_id, &id.agent])
        .await?;
    let find = "SELECT DISTINCT import_no FROM import_ranges WHERE session_no = $1
        UNION SELECT import_no FROM import_sources WHERE session_no = $1";
    let imports = tx.rows(find, values![row.no]).await?;
    let imports = imports.iter().map(|row| get::<i64>(row, "import_no"));
    let imports: Vec<i64> = imports.collect::<Result<_, _>>()?;
    for table in [
        "extractions",
        "retractions",
        "root_remotes",
        "session_places",
        "import_ranges",
        "import_sources",
        "sources",
        "sessions",
    ] {
        let delete = format!("DELETE FROM {table} WHERE session_no = $1");
        tx.execute(&delete, values![row.no]).await?;
    }
    // Their names repeat the paths that they read.
    let delete = "DELETE FROM imports WHERE import_no = ANY ($1) AND ended_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM import_ranges
            WHERE import_ranges.import_no = imports.import_no)";
    tx.execute(delete, values![imports]).await?;
    Ok(())
}

async fn purge_observation(
    tx: &Tx,
    scope: &Scope,
    id: ObservationId,
    now: Timestamp,
) -> Result<bool, Fault> {
    if find_scope(tx, scope).await?.is_none() {
        return Ok(false);
    }
    let no = evidence_rows::lock(tx, &BTreeSet::from([scope]), None)
        .await?
        .no(scope)?;
    let id = id.0.cast_signed();
    let delete = "DELETE FROM retractions WHERE scope_no = $1 AND id = $2";
    tx.execute(delete, values![no, id]).await?;
    let find = "SELECT observation_no FROM observations WHERE scope_no = $1 AND id = $2";
    let Some(found) = tx.row(find, values![no, id]).await? else {
        return Ok(false);
    };
    let observation: i64 = get(&found, "observation_no")?;
    let mut touched = TouchedObservations::default();
    let condition = "observation_no = $1";
    evidence_rows::delete_where(tx, condition, values![observation], &mut touched).await?;
    observation_rows::settle(tx, &touched).await?;
    let forget = "UPDATE scopes SET proposals = NULL WHERE scope_no = $1";
    tx.execute(forget, values![no]).await?;
    raise(tx, [scope], now).await?;
    Ok(true)
}

async fn reset_session(tx: &Tx, id: &SessionId) -> Result<bool, Fault> {
    let Some(row) = lock_session(tx, id).await? else {
        return Ok(false);
    };
    let delete = "DELETE FROM extractions WHERE session_no = $1";
    let removed = tx.execute(delete, values![row.no]).await?;
    let key = JobKey::Extract(id.clone());
    if let Some(mut job) = job_rows::load(tx, &key).await? {
        gaps::delete(tx, &key).await?;
        job.keep_as_done();
        job_rows::save(tx, &job);
    }
    Ok(removed > 0)
}

/// Removes some of a scope's observations, and with the last ones all else that was learned. Returns how many.
async fn reset_scope_step(tx: &Tx, scope: &Scope) -> Result<u64, Fault> {
    if find_scope(tx, scope).await?.is_none() {
        return Ok(0);
    }
    let no = evidence_rows::lock(tx, &BTreeSet::from([scope]), None)
        .await?
        .no(scope)?;
    let some = delete_observations(tx, no).await?;
    if some == 0 {
        index::forget_scope(tx, no).await?;
        delete_job(tx, &JobKey::Consolidate(scope.clone())).await?;
        remove_history(tx, scope).await?;
        let forget = "UPDATE scopes SET selection = NULL, proposals = NULL WHERE scope_no = $1";
        tx.execute(forget, values![no]).await?;
    }
    Ok(some)
}

/// Deletes some of a scope's observations, with their evidence. Returns how many.
async fn delete_observations(tx: &Tx, no: i64) -> Result<u64, Fault> {
    let find = "SELECT observation_no FROM observations WHERE scope_no = $1 LIMIT $2";
    let some = tx.rows(find, values![no, STEP]).await?;
    let some = some.iter().map(|row| get::<i64>(row, "observation_no"));
    let some: Vec<i64> = some.collect::<Result<_, _>>()?;
    if !some.is_empty() {
        index_rows::forget(tx, some.iter().map(|no| observation_doc(*no)).collect()).await?;
        for table in ["evidence", "observations"] {
            let delete = format!("DELETE FROM {table} WHERE observation_no = ANY ($1)");
            tx.execute(&delete, values![some.clone()]).await?;
        }
    }
    Ok(some.len() as u64)
}

/// Removes some of a scope's rows, its name last; `None` when nothing is left.
async fn purge_scope_step(tx: &Tx, scope: &Scope) -> Result<Option<u64>, Fault> {
    if find_scope(tx, scope).await?.is_none() {
        return Ok(None);
    }
    let no = evidence_rows::lock(tx, &BTreeSet::from([scope]), None)
        .await?
        .no(scope)?;
    let some = delete_observations(tx, no).await?;
    if some > 0 {
        return Ok(Some(some));
    }
    index::forget_scope(tx, no).await?;
    let delete = "DELETE FROM retractions WHERE scope_no = $1";
    tx.execute(delete, values![no]).await?;
    delete_job(tx, &JobKey::Consolidate(scope.clone())).await?;
    match scope.kind {
        ScopeKind::Project => forget_project(tx, scope).await?,
        ScopeKind::User => forget_payer(tx, scope).await?,
        ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => {}
    }
    let forget = "UPDATE spend_calls SET scope_kind = NULL, scope_name = NULL
        WHERE scope_kind = $1 AND scope_name = $2
            AND tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $3)";
    let named = values![scope.kind.as_str(), &scope.name, &scope.tenant.0];
    tx.execute(forget, named).await?;
    remove_history(tx, scope).await?;
    let delete = "DELETE FROM scopes WHERE scope_no = $1";
    tx.execute(delete, values![no]).await?;
    Ok(Some(0))
}

/// Deletes the shared history of a scope's memory files. Its row stays, so that machines which have fetched the history
/// give it up, and do not push it again.
async fn remove_history(tx: &Tx, scope: &Scope) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, &scope.tenant).await? else {
        return Ok(());
    };
    let find = "SELECT tree_no FROM trees WHERE tenant_no = $1 AND kind = $2 AND name = $3";
    let named = values![tenant, scope.kind.as_str(), &scope.name];
    let Some(row) = tx.row(find, named).await? else {
        return Ok(());
    };
    let tree: i64 = get(&row, "tree_no")?;
    let delete = "DELETE FROM tree_objects WHERE tree_no = $1";
    tx.execute(delete, values![tree]).await?;
    let empty = "UPDATE trees SET commit = NULL, beside = '', objects = 0,
            version = version + 1, rewrites = rewrites + 1
        WHERE tree_no = $1";
    tx.execute(empty, values![tree]).await?;
    Ok(())
}

/// Forgets the folders and remotes of a project in which no session has events.
async fn forget_project(tx: &Tx, scope: &Scope) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, &scope.tenant).await? else {
        return Ok(());
    };
    let named = values![tenant, &scope.name];
    let find = "SELECT place_no FROM places JOIN roots USING (root_no)
        WHERE roots.tenant_no = $1 AND project = $2";
    let unused = tx.rows(find, named).await?;
    let unused = unused.iter().map(|row| get::<i64>(row, "place_no"));
    places::forget_unused(tx, unused.collect::<Result<_, _>>()?).await?;
    let delete = "DELETE FROM roots WHERE tenant_no = $1 AND project = $2
        AND NOT EXISTS (SELECT FROM places WHERE places.root_no = roots.root_no)";
    tx.execute(delete, named).await?;
    let delete = "DELETE FROM projects WHERE tenant_no = $1 AND key = $2
        AND NOT EXISTS (SELECT FROM roots WHERE tenant_no = $1 AND project = $2)";
    tx.execute(delete, named).await?;
    Ok(())
}

/// Forgets the name of a user in what their calls of models cost; the tenant's sums stay.
async fn forget_payer(tx: &Tx, scope: &Scope) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, &scope.tenant).await? else {
        return Ok(());
    };
    let named = values![tenant, &scope.name];
    let forget = "UPDATE spend_calls SET \"user\" = '' WHERE tenant_no = $1 AND \"user\" = $2";
    tx.execute(forget, named).await?;
    let delete = "DELETE FROM spend_purses WHERE tenant_no = $1 AND \"user\" = $2";
    tx.execute(delete, named).await?;
    let delete = "DELETE FROM lanes WHERE tenant = $1 AND \"user\" = $2
        AND NOT EXISTS (SELECT FROM jobs WHERE jobs.tenant = $1 AND jobs.lane_user = $2)";
    tx.execute(delete, values![&scope.tenant.0, &scope.name])
        .await?;
    Ok(())
}
