//! Removes what a person purges, and keeps the tombstones of it.
//!
//! Events go in steps that each leave the store consistent, the last ones first, like those of an undone import.
//! What the file still holds of removed rows is overwritten by [`PurgeStore::erase_purged`].

use std::collections::BTreeSet;

use async_trait::async_trait;
use daybook_domain::eligibility::Switches;
use daybook_domain::seams::PurgeStore;
use daybook_domain::{
    EventSeq, JobKey, ObservationId, Page, PageRequest, PurgeKey, PurgedEvents, Scope, ScopeKind,
    SeqRange, SessionId, StoreError, Tenant, Timestamp, Tombstone,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::connection::Fault;
use super::listing::list;
use super::names::{find_scope, find_session, find_tenant, scope_named, tenant_no};
use super::pollution::rederive_learned;
use super::revisions::raise;
use super::row_numbers::{event_no, event_nos, seq_of};
use super::tombstones::key_of;
use super::undo::{delete_events, rederive_session, shorten_job};
use super::{
    SqliteStore, evidence_rows, extractions, index, index_rows, job_rows, places, sessions, uses,
};
use crate::blocking::blocking;
use crate::bounds::STEP_ROWS;
use crate::documents::observation_doc;
use crate::evidence::TouchedObservations;
use crate::log::SessionRow;

#[async_trait]
impl PurgeStore for SqliteStore {
    async fn purge_key(&self, tenant: &Tenant, fresh: &PurgeKey) -> Result<PurgeKey, StoreError> {
        self.write_synced(|tx| {
            let tenant = tenant_no(tx, tenant)?;
            if let Some(key) = key_of(tx, tenant)? {
                return Ok(key);
            }
            tx.prepare_cached("INSERT INTO purge_keys (tenant_no, key) VALUES (?, ?)")?
                .execute(params![tenant, fresh.0])?;
            Ok(*fresh)
        })
    }

    async fn add_tombstones(
        &self,
        tenant: &Tenant,
        tombstones: &[Tombstone],
    ) -> Result<u64, StoreError> {
        let mut added = 0;
        for some in tombstones.chunks(STEP_ROWS) {
            added += self.write_synced(|tx| {
                let tenant = tenant_no(tx, tenant)?;
                let mut insert = tx.prepare_cached(
                    "INSERT OR IGNORE INTO tombstones (tenant_no, mark) VALUES (?, ?)",
                )?;
                let mut added = 0;
                for tombstone in some {
                    added += insert.execute(params![tenant, tombstone.0.to_be_bytes()])?;
                }
                Ok(added as u64)
            })?;
        }
        Ok(added)
    }

    async fn tombstones(
        &self,
        tenant: &Tenant,
        page: PageRequest<Tombstone>,
    ) -> Result<Page<Tombstone, Tombstone>, StoreError> {
        let after = page
            .after
            .map_or(Vec::new(), |mark| mark.0.to_be_bytes().to_vec());
        self.page(page.most(), |mark| *mark, |tx, most| {
            let tenant = find_tenant(tx, tenant)?;
            let mut find = tx.prepare_cached(
                "SELECT mark FROM tombstones WHERE tenant_no = ? AND mark > ? ORDER BY mark LIMIT ?",
            )?;
            let rows = find.query(params![tenant, after, most])?;
            list(rows, ("tombstones", &[0]), |row| {
                Ok(Tombstone(u128::from_be_bytes(row.get(0)?)))
            })
        })
    }

    async fn purge_events(
        &self,
        session: &SessionId,
        range: SeqRange,
        now: Timestamp,
    ) -> Result<PurgedEvents, StoreError> {
        let mut purged = PurgedEvents::default();
        while let Some(step) = self.write(|tx| purge_step(tx, session, range, now))? {
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
        self.write(|tx| purge_observation(tx, scope, id, now))
    }

    async fn purge_scope(&self, scope: &Scope, _: Timestamp) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            match self.write(|tx| purge_scope_step(tx, scope))? {
                Some(step) => removed += step,
                None => return Ok(removed),
            }
        }
    }

    async fn reset_session(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.write(|tx| reset_session(tx, session))
    }

    async fn reset_scope(&self, scope: &Scope) -> Result<u64, StoreError> {
        let mut removed = 0;
        loop {
            match self.write(|tx| reset_scope_step(tx, scope))? {
                0 => return Ok(removed),
                step => removed += step,
            }
        }
    }

    async fn is_scope_empty(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.read(|tx| {
            let Some(no) = find_scope(tx, scope)? else {
                return Ok(true);
            };
            let mut held =
                tx.prepare_cached("SELECT 1 FROM observations WHERE scope_no = ? LIMIT 1")?;
            let is_project = scope.kind == ScopeKind::Project;
            let mut rooted = tx.prepare_cached(
                "SELECT 1 FROM places JOIN roots USING (root_no) JOIN tenants USING (tenant_no)
                 WHERE tenant = ? AND project = ? LIMIT 1",
            )?;
            let key = params![scope.tenant.0, scope.name];
            Ok(!(held.exists([no])? || is_project && rooted.exists(key)?))
        })
    }

    async fn erase_purged(&self) -> Result<bool, StoreError> {
        blocking(|| self.erase())
    }
}

/// Removes the last events of a range, at most so many as one transaction touches; `None` when the range holds none
/// and the session keeps others.
fn purge_step(
    tx: &Connection,
    id: &SessionId,
    (from, to): SeqRange,
    now: Timestamp,
) -> Result<Option<PurgedEvents>, Fault> {
    let Some(mut row) = find_session(tx, id)? else {
        return Ok(None);
    };
    let last = event_no(row.no, to);
    let mut find = tx.prepare_cached(
        "SELECT min(event_no), max(event_no) FROM (SELECT event_no FROM events
         WHERE event_no BETWEEN ? AND ? ORDER BY event_no DESC LIMIT ?)",
    )?;
    let key = params![event_no(row.no, from), last, STEP_ROWS as i64];
    let found: (Option<i64>, Option<i64>) =
        find.query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let range = match found {
        (Some(first), Some(last)) => (seq_of(first), seq_of(last)),
        _ if has_events(tx, row.no)? => return Ok(None),
        _ => (EventSeq(0), EventSeq(0)),
    };
    let purged = remove_range(tx, &mut row, range, now)?;
    if purged.session_gone {
        delete_session(tx, &row)?;
    }
    Ok(Some(purged))
}

fn has_events(tx: &Connection, session: i64) -> Result<bool, Fault> {
    let (from, to) = event_nos(session);
    let mut find =
        tx.prepare_cached("SELECT 1 FROM events WHERE event_no BETWEEN ? AND ? LIMIT 1")?;
    Ok(find.exists([from, to])?)
}

/// Removes events and all that rests on them.
fn remove_range(
    tx: &Connection,
    row: &mut SessionRow,
    range: SeqRange,
    now: Timestamp,
) -> Result<PurgedEvents, Fault> {
    let (session, id) = (row.no, row.session.id.clone());
    let mut concerned = extractions::forget_windows(tx, (session, &id), range)?;
    concerned.extend(uses::forget(tx, session, range)?);
    let places = places::of_events(tx, session, range)?;
    let events = delete_events(tx, session, range)?;
    for place in places {
        places::forget_unused(tx, place)?;
    }
    forget_thread(tx, session)?;
    let mut touched = TouchedObservations::default();
    evidence_rows::delete_within(tx, session, range, &mut touched)?;
    tx.prepare_cached("DELETE FROM retractions WHERE session_no = ? AND seq BETWEEN ? AND ?")?
        .execute(params![session, range.0.0, range.1.0])?;
    let was_polluted = row.session.pollution.is_some();
    let removed = rederive_session(tx, row)?;
    if was_polluted && (removed || row.session.pollution.is_none()) {
        row.session.pollution = None;
        sessions::save(tx, row)?;
        rederive_learned(tx, row, &Switches::default(), now)?;
    }
    let key = JobKey::Extract(id.clone());
    if removed {
        job_rows::delete(tx, &key)?;
        job_rows::delete(tx, &JobKey::Redact(id.clone()))?;
        evidence_rows::delete_where(tx, "session_no = ?", [session], &mut touched)?;
    } else {
        shorten_job(tx, &key, &row.session, now)?;
    }
    let settled = evidence_rows::settle(tx, &touched)?;
    concerned.extend(settled.scopes);
    forget_of_models(tx, &concerned, &id)?;
    raise(tx, &concerned, now)?;
    Ok(PurgedEvents {
        events,
        observations: settled.withdrawn,
        session_gone: removed,
    })
}

/// Forgets what a model phrased of scopes, and selections that name a session.
fn forget_of_models(
    tx: &Connection,
    scopes: &BTreeSet<Scope>,
    session: &SessionId,
) -> Result<(), Fault> {
    for scope in scopes {
        let Some(no) = find_scope(tx, scope)? else {
            continue;
        };
        tx.prepare_cached(
            "UPDATE scopes SET proposals = NULL,
                selection = CASE WHEN instr(selection, ?2) > 0 THEN NULL ELSE selection END
             WHERE scope_no = ?1 AND (proposals IS NOT NULL OR selection IS NOT NULL)",
        )?
        .execute(params![no, session.host_id])?;
    }
    Ok(())
}

/// Removes the state of a session's thread: a summary in it may repeat any event.
fn forget_thread(tx: &Connection, session: i64) -> Result<(), Fault> {
    for table in ["thread_snapshots", "threads"] {
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE session_no = ?"))?
            .execute([session])?;
    }
    let (from, to) = event_nos(session);
    tx.prepare_cached(
        "UPDATE events SET entry = NULL WHERE event_no BETWEEN ? AND ? AND entry IS NOT NULL",
    )?
    .execute([from, to])?;
    Ok(())
}

/// Deletes a session without events, with everything that names it.
fn delete_session(tx: &Connection, row: &SessionRow) -> Result<(), Fault> {
    uses::forget_user(tx, row.no)?;
    let id = &row.session.id;
    tx.prepare_cached(
        "UPDATE spend_calls SET agent = NULL, host_id = NULL
         WHERE tenant_no = ? AND host_id = ? AND agent = ?",
    )?
    .execute(params![row.tenant, id.host_id, id.agent])?;
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT import_no FROM import_ranges WHERE session_no = ?1
         UNION SELECT import_no FROM import_sources WHERE session_no = ?1",
    )?;
    let imports: Vec<i64> = find
        .query_map([row.no], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
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
        tx.prepare_cached(&format!("DELETE FROM {table} WHERE session_no = ?"))?
            .execute([row.no])?;
    }
    for import in imports {
        // Its name repeats the paths that it read.
        tx.prepare_cached(
            "DELETE FROM imports WHERE import_no = ?1 AND ended_at IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM import_ranges WHERE import_no = ?1)",
        )?
        .execute([import])?;
    }
    // The record of the session in files is older than this now.
    tx.prepare_cached(
        "INSERT INTO ix_stale_records VALUES ('session', ?, 1)
         ON CONFLICT DO UPDATE SET mark = mark + 1",
    )?
    .execute([row.no])?;
    Ok(())
}

fn purge_observation(
    tx: &Connection,
    scope: &Scope,
    id: ObservationId,
    now: Timestamp,
) -> Result<bool, Fault> {
    let Some(no) = find_scope(tx, scope)? else {
        return Ok(false);
    };
    tx.prepare_cached("DELETE FROM retractions WHERE scope_no = ? AND id = ?")?
        .execute(params![no, id.0.cast_signed()])?;
    let mut find =
        tx.prepare_cached("SELECT observation_no FROM observations WHERE scope_no = ? AND id = ?")?;
    let found: Option<i64> = find
        .query_row(params![no, id.0.cast_signed()], |row| row.get(0))
        .optional()?;
    let Some(observation) = found else {
        return Ok(false);
    };
    let mut touched = TouchedObservations::default();
    evidence_rows::delete_where(tx, "observation_no = ?", [observation], &mut touched)?;
    evidence_rows::settle(tx, &touched)?;
    tx.prepare_cached("UPDATE scopes SET proposals = NULL WHERE scope_no = ?")?
        .execute([no])?;
    raise(tx, [scope], now)?;
    Ok(true)
}

fn reset_session(tx: &Connection, id: &SessionId) -> Result<bool, Fault> {
    let Some(row) = find_session(tx, id)? else {
        return Ok(false);
    };
    let removed = tx
        .prepare_cached("DELETE FROM extractions WHERE session_no = ?")?
        .execute([row.no])?;
    let key = JobKey::Extract(id.clone());
    if let Some(mut job) = job_rows::load(tx, &key)? {
        job_rows::delete_gaps(tx, &key)?;
        job.keep_as_done();
        job_rows::save(tx, &job)?;
    }
    Ok(removed > 0)
}

/// Removes some of a scope's observations, and with the last ones all else that was learned. Returns how many.
fn reset_scope_step(tx: &Connection, scope: &Scope) -> Result<u64, Fault> {
    let Some(no) = find_scope(tx, scope)? else {
        return Ok(0);
    };
    let some = delete_observations(tx, no)?;
    if some == 0 {
        index::forget_scope(tx, no)?;
        job_rows::delete(tx, &JobKey::Consolidate(scope_named(tx, no)?))?;
        tx.prepare_cached(
            "UPDATE scopes SET selection = NULL, proposals = NULL WHERE scope_no = ?",
        )?
        .execute([no])?;
    }
    Ok(some)
}

/// Deletes some of a scope's observations, with their evidence. Returns how many.
fn delete_observations(tx: &Connection, no: i64) -> Result<u64, Fault> {
    let mut find =
        tx.prepare_cached("SELECT observation_no FROM observations WHERE scope_no = ? LIMIT ?")?;
    let some: Vec<i64> = find
        .query_map(params![no, STEP_ROWS as i64], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for &observation in &some {
        index_rows::forget(tx, observation_doc(observation))?;
        for table in ["evidence", "observations"] {
            tx.prepare_cached(&format!("DELETE FROM {table} WHERE observation_no = ?"))?
                .execute([observation])?;
        }
    }
    Ok(some.len() as u64)
}

/// Removes some of a scope's rows, its name last; `None` when nothing is left.
fn purge_scope_step(tx: &Connection, scope: &Scope) -> Result<Option<u64>, Fault> {
    let Some(no) = find_scope(tx, scope)? else {
        return Ok(None);
    };
    let some = delete_observations(tx, no)?;
    if some > 0 {
        return Ok(Some(some));
    }
    index::forget_scope(tx, no)?;
    tx.prepare_cached("DELETE FROM retractions WHERE scope_no = ?")?
        .execute([no])?;
    job_rows::delete(tx, &JobKey::Consolidate(scope_named(tx, no)?))?;
    if scope.kind == ScopeKind::Project {
        forget_project(tx, scope)?;
    }
    if scope.kind == ScopeKind::User {
        forget_payer(tx, scope)?;
    }
    tx.prepare_cached(
        "UPDATE spend_calls SET scope_kind = NULL, scope_name = NULL
         WHERE scope_kind = ? AND scope_name = ?
            AND tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = ?)",
    )?
    .execute(params![scope.kind.as_str(), scope.name, scope.tenant.0])?;
    tx.prepare_cached("DELETE FROM scopes WHERE scope_no = ?")?
        .execute([no])?;
    Ok(Some(0))
}

/// Forgets the folders and remotes of a project in which no session has events.
fn forget_project(tx: &Connection, scope: &Scope) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, &scope.tenant)? else {
        return Ok(());
    };
    let unused = "SELECT place_no FROM places JOIN roots USING (root_no)
        WHERE tenant_no = ? AND project = ?";
    let places: Vec<i64> = tx
        .prepare_cached(unused)?
        .query_map(params![tenant, scope.name], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for place in places {
        places::forget_unused(tx, place)?;
    }
    tx.prepare_cached(
        "DELETE FROM roots WHERE tenant_no = ?1 AND project = ?2
         AND NOT EXISTS (SELECT 1 FROM places WHERE places.root_no = roots.root_no)",
    )?
    .execute(params![tenant, scope.name])?;
    tx.prepare_cached(
        "DELETE FROM projects WHERE tenant_no = ?1 AND key = ?2
         AND NOT EXISTS (SELECT 1 FROM roots WHERE tenant_no = ?1 AND project = ?2)",
    )?
    .execute(params![tenant, scope.name])?;
    Ok(())
}

/// Forgets the name of a user in what their calls of models cost; the tenant's sums stay.
fn forget_payer(tx: &Connection, scope: &Scope) -> Result<(), Fault> {
    let Some(tenant) = find_tenant(tx, &scope.tenant)? else {
        return Ok(());
    };
    tx.prepare_cached("UPDATE spend_calls SET user = '' WHERE tenant_no = ? AND user = ?")?
        .execute(params![tenant, scope.name])?;
    tx.prepare_cached("DELETE FROM spend_purses WHERE tenant_no = ? AND user = ?")?
        .execute(params![tenant, scope.name])?;
    // Lanes without jobs; a lane above has other lanes below it or goes, too.
    for level in [3, 2] {
        tx.prepare_cached(
            "DELETE FROM lanes WHERE tenant = ?1 AND user = ?2 AND level = ?3
             AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.lane_no = lanes.lane_no)
             AND NOT EXISTS (SELECT 1 FROM lanes AS below WHERE below.parent = lanes.lane_no)",
        )?
        .execute(params![scope.tenant.0, scope.name, level])?;
    }
    Ok(())
}
