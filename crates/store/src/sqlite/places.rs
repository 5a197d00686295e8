//! Places, and the projects that they belong to.

use std::collections::BTreeSet;

use daybook_domain::{
    EventSeq, ObservationId, ObservationKind, Place, Project, Scope, ScopeKind, Tenant, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, ToSql, params};

use super::SqliteStore;
use super::connection::Fault;
use super::evidence_rows;
use super::listing::{Listing, list};
use super::names::{parse_column, scope_no, scope_of, tenant_no};
use super::revisions::raise;
use super::row_numbers::{event_no, event_nos};
use crate::bounds::STEP_ROWS;
use crate::evidence::TouchedObservations;

fn root_no(tx: &Connection, tenant: i64, root: &str) -> Result<i64, Fault> {
    let key = params![tenant, root];
    let mut find =
        tx.prepare_cached("SELECT root_no FROM roots WHERE tenant_no = ? AND root = ?")?;
    if let Some(no) = find.query_row(key, |row| row.get(0)).optional()? {
        return Ok(no);
    }
    tx.prepare_cached("INSERT INTO roots (tenant_no, root) VALUES (?, ?)")?
        .execute(key)?;
    Ok(tx.last_insert_rowid())
}

/// The numbers of a place and of its root.
pub(super) fn place_no(tx: &Connection, tenant: i64, place: &Place) -> Result<(i64, i64), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT place_no, root_no FROM roots JOIN places USING (root_no)
         WHERE tenant_no = ?1 AND root = ?2 AND ifnull(branch, '') = ifnull(?3, '')
         AND (branch IS NULL) = (?3 IS NULL)",
    )?;
    let key = params![tenant, place.root, place.branch];
    let known = find
        .query_row(key, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some(numbers) = known {
        return Ok(numbers);
    }
    let root = root_no(tx, tenant, &place.root)?;
    tx.prepare_cached("INSERT INTO places (root_no, branch) VALUES (?, ?)")?
        .execute(params![root, place.branch])?;
    Ok((tx.last_insert_rowid(), root))
}

/// Records that a session has events at a place.
pub(super) fn note(tx: &Connection, session: i64, place: i64) -> Result<(), Fault> {
    tx.prepare_cached("INSERT OR IGNORE INTO session_places (session_no, place_no) VALUES (?, ?)")?
        .execute([session, place])?;
    Ok(())
}

/// Deletes a session's link to a place at which it has no events left.
pub(super) fn unlink_if_empty(tx: &Connection, session: i64, place: i64) -> Result<(), Fault> {
    let (from, to) = event_nos(session);
    tx.prepare_cached(
        "DELETE FROM session_places WHERE session_no = ?1 AND place_no = ?2 AND NOT EXISTS
            (SELECT 1 FROM events WHERE event_no BETWEEN ?3 AND ?4 AND place_no = ?2)",
    )?
    .execute([session, place, from, to])?;
    Ok(())
}

/// The places of events of a session.
pub(super) fn of_events(
    tx: &Connection,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<BTreeSet<i64>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT DISTINCT place_no FROM events
         WHERE event_no BETWEEN ? AND ? AND place_no IS NOT NULL",
    )?;
    let range = [event_no(session, from), event_no(session, to)];
    let places = find.query_map(range, |row| row.get(0))?;
    Ok(places.collect::<Result<_, _>>()?)
}

/// Deletes a place where no session has events, its root with its last place, and what identified the root's project
/// with its last root.
pub(super) fn forget_unused(tx: &Connection, place: i64) -> Result<(), Fault> {
    let mut forget = tx.prepare_cached(
        "DELETE FROM places WHERE place_no = ?1
         AND NOT EXISTS (SELECT 1 FROM session_places WHERE place_no = ?1) RETURNING root_no",
    )?;
    let Some(root): Option<i64> = forget.query_row([place], |row| row.get(0)).optional()? else {
        return Ok(());
    };
    let mut forget = tx.prepare_cached(
        "DELETE FROM roots WHERE root_no = ?1
         AND NOT EXISTS (SELECT 1 FROM places WHERE root_no = ?1) RETURNING tenant_no, project",
    )?;
    let gone: Option<(i64, Option<String>)> = forget
        .query_row([root], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((tenant, Some(project))) = gone {
        tx.prepare_cached(
            "DELETE FROM projects WHERE tenant_no = ?1 AND key = ?2
             AND NOT EXISTS (SELECT 1 FROM roots WHERE tenant_no = ?1 AND project = ?2)",
        )?
        .execute(params![tenant, project])?;
    }
    Ok(())
}

/// Deletes a place where no session has events, and its root with its last place. Another root takes over what the
/// deleted one belonged to.
pub(super) fn replace_unused(tx: &Connection, place: i64, by_root: i64) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT root_no FROM places WHERE place_no = ?1
         AND NOT EXISTS (SELECT 1 FROM session_places WHERE place_no = ?1)",
    )?;
    let Some(root): Option<i64> = find.query_row([place], |row| row.get(0)).optional()? else {
        return Ok(());
    };
    tx.prepare_cached(
        "UPDATE roots SET (project, derived) =
            (SELECT project, derived FROM roots WHERE root_no = ?1)
         WHERE root_no = ?2 AND project IS NULL",
    )?
    .execute([root, by_root])?;
    tx.prepare_cached("DELETE FROM places WHERE place_no = ?")?
        .execute([place])?;
    tx.prepare_cached(
        "DELETE FROM roots WHERE root_no = ?1
         AND NOT EXISTS (SELECT 1 FROM places WHERE root_no = ?1)",
    )?
    .execute([root])?;
    Ok(())
}

/// The key of the project that a root belongs to.
pub(super) fn project_of_root(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
) -> Result<Option<String>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT project FROM roots JOIN tenants USING (tenant_no) WHERE tenant = ? AND root = ?",
    )?;
    let key: Option<Option<String>> = find
        .query_row([&tenant.0, root], |row| row.get(0))
        .optional()?;
    Ok(key.flatten())
}

pub(super) fn places(
    tx: &Connection,
    tenant: &Tenant,
) -> Result<Listing<(Place, Option<String>)>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT root, branch, project FROM places JOIN roots USING (root_no)
         JOIN tenants USING (tenant_no)
         WHERE tenant = ? AND EXISTS (SELECT 1 FROM session_places WHERE place_no = places.place_no)
         ORDER BY root, branch",
    )?;
    list(find.query([&tenant.0])?, ("places", &[0, 1]), |row| {
        let place = Place {
            root: row.get(0)?,
            branch: row.get(1)?,
        };
        Ok((place, row.get(2)?))
    })
}

/// Projects of a tenant by key and identity, from `behind` such a pair on: `values` are the tenant, the pair and
/// how many.
pub(super) fn projects(
    tx: &Connection,
    behind: &str,
    values: &[&dyn ToSql],
) -> Result<Listing<Project>, Fault> {
    let mut find = tx.prepare_cached(&format!(
        "SELECT key, identity, guessed FROM projects JOIN tenants USING (tenant_no)
         WHERE tenant = ? AND (key, identity) {behind} (?, ?) ORDER BY key, identity LIMIT ?"
    ))?;
    list(find.query(values)?, ("projects", &[0, 1]), |row| {
        Ok(Project {
            key: row.get(0)?,
            identity: row.get(1)?,
            guessed: row.get(2)?,
        })
    })
}

impl SqliteStore {
    /// Moves a root's evidence to its project, in as many transactions as it takes, and assigns the root in the
    /// last of them: until then the root shows that there is something left to do.
    pub(super) fn assign(
        &self,
        tenant: &Tenant,
        root: &str,
        (project, derived): (&Project, bool),
        now: Timestamp,
    ) -> Result<(), daybook_domain::StoreError> {
        if self.read(|tx| is_assigned(tx, tenant, root, (project, derived)))? {
            return Ok(());
        }
        let mut moved = STEP_ROWS;
        while moved == STEP_ROWS {
            moved = self.write(|tx| {
                let mut concerned = BTreeSet::new();
                let moved = move_step(tx, tenant, root, project, &mut concerned)?;
                if moved < STEP_ROWS {
                    concerned.extend(assign(tx, tenant, root, (project, derived))?);
                }
                raise(tx, &concerned, now)?;
                Ok(moved)
            })?;
        }
        Ok(())
    }
}

/// Deletes the project of an identity.
pub(super) fn forget_identity(
    tx: &Connection,
    tenant: &Tenant,
    identity: &str,
) -> Result<bool, Fault> {
    let number = tenant_no(tx, tenant)?;
    let mut forget =
        tx.prepare_cached("DELETE FROM projects WHERE tenant_no = ? AND identity = ?")?;
    Ok(forget.execute(params![number, identity])? > 0)
}

/// Whether the root is assigned already and no evidence is left to move.
fn is_assigned(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
    (project, derived): (&Project, bool),
) -> Result<bool, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT 1 FROM projects JOIN tenants USING (tenant_no)
         WHERE tenant = ? AND identity = ? AND key = ? AND guessed = ?",
    )?;
    let known = find.exists(params![
        tenant.0,
        project.identity,
        project.key,
        project.guessed
    ])?;
    let mut find = tx.prepare_cached(
        "SELECT 1 FROM roots JOIN tenants USING (tenant_no)
         WHERE tenant = ? AND root = ? AND project = ? AND derived = ?",
    )?;
    let assigned = find.exists(params![tenant.0, root, project.key, derived])?;
    Ok(known && assigned && misplaced_evidence(tx, tenant, root, project)?.is_empty())
}

/// Stores the project and the root's assignment, and returns the scopes concerned.
fn assign(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
    (project, derived): (&Project, bool),
) -> Result<BTreeSet<Scope>, Fault> {
    let number = tenant_no(tx, tenant)?;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO projects (tenant_no, key, identity, guessed) VALUES (?, ?, ?, ?)",
    )?
    .execute(params![
        number,
        project.key,
        project.identity,
        project.guessed
    ])?;
    let before = project_of_root(tx, tenant, root)?;
    let no = root_no(tx, number, root)?;
    tx.prepare_cached("UPDATE roots SET project = ?, derived = ? WHERE root_no = ?")?
        .execute(params![project.key, derived, no])?;
    if before.as_ref() == Some(&project.key) {
        return Ok(BTreeSet::new());
    }
    let mut find = tx.prepare_cached(
        "SELECT 1 FROM places JOIN session_places USING (place_no) WHERE root_no = ?",
    )?;
    if !find.exists([no])? {
        return Ok(BTreeSet::new());
    }
    let names = before.into_iter().chain([project.key.clone()]);
    let scope = |name| Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::Project,
        name,
    };
    Ok(names.map(scope).collect())
}

/// Numbers of a tenant's evidence of `root` in the scopes of other projects, with these scopes.
fn misplaced_evidence(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
    project: &Project,
) -> Result<Vec<(i64, Scope)>, Fault> {
    let mut find = tx.prepare_cached(
        "SELECT evidence_no, tenant, scopes.kind AS kind, name FROM evidence
         JOIN observations USING (observation_no) JOIN scopes USING (scope_no)
         JOIN tenants USING (tenant_no)
         WHERE root = ? AND tenant = ? AND scopes.kind = 'project' AND name <> ?
         ORDER BY evidence_no LIMIT ?",
    )?;
    let values = params![root, tenant.0, project.key, STEP_ROWS];
    let rows = find.query_map(values, |row| Ok((row.get(0)?, scope_of(row)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Moves some of the evidence of `root`, and returns how many pieces.
fn move_step(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
    project: &Project,
    concerned: &mut BTreeSet<Scope>,
) -> Result<usize, Fault> {
    move_retractions(tx, tenant, root, project)?;
    let misplaced_evidence = misplaced_evidence(tx, tenant, root, project)?;
    let mut touched = TouchedObservations::default();
    for (evidence_no, from) in &misplaced_evidence {
        let to = Scope {
            name: project.key.clone(),
            ..from.clone()
        };
        evidence_rows::move_to(tx, *evidence_no, &to, &mut touched)?;
    }
    concerned.extend(evidence_rows::settle(tx, &touched)?.scopes);
    Ok(misplaced_evidence.len())
}

/// Moves a root's retractions to its new project, so that they still apply there.
fn move_retractions(
    tx: &Connection,
    tenant: &Tenant,
    root: &str,
    project: &Project,
) -> Result<(), Fault> {
    let mut find = tx.prepare_cached(
        "SELECT scope_no, id, session_no, seq, retractions.kind AS what, text,
            tenant, scopes.kind AS kind, name
         FROM retractions JOIN scopes USING (scope_no) JOIN tenants USING (tenant_no)
         WHERE root = ? AND tenant = ? AND scopes.kind = 'project' AND name <> ?",
    )?;
    let mut rows = find.query(params![root, tenant.0, project.key])?;
    let mut moves = Vec::new();
    while let Some(row) = rows.next()? {
        let to = Scope {
            name: project.key.clone(),
            ..scope_of(row)?
        };
        let kind = parse_column::<ObservationKind>(row, "what")?;
        let id = ObservationId::of(&to, kind, &row.get::<_, String>("text")?);
        let key: [i64; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        moves.push((key, to, id));
    }
    for (key, to, id) in moves {
        let to = scope_no(tx, &to)?;
        tx.prepare_cached(
            "UPDATE OR REPLACE retractions SET scope_no = ?, id = ?
             WHERE scope_no = ? AND id = ? AND session_no = ? AND seq = ?",
        )?
        .execute(params![
            to,
            id.0.cast_signed(),
            key[0],
            key[1],
            key[2],
            key[3]
        ])?;
    }
    Ok(())
}
