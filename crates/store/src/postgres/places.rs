//! Places, and the projects that they belong to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use daybook_domain::seams::ProjectKey;
use daybook_domain::{
    EventSeq, ObservationId, ObservationKind, Place, Project, Scope, ScopeKind, StoreError, Tenant,
    Timestamp,
};
use tokio_postgres::Row;

use super::connection::{TenantAccess, Tx};
use super::evidence_rows;
use super::fault::Fault;
use super::names::{raise, scope_no, scope_of, tenant_no};
use super::row_numbers::{event_no, event_nos};
use super::values::{SqlValue, get, parse_column, values};
use super::{PostgresStore, observation_rows};
use crate::bounds::STEP_ROWS;
use crate::evidence::TouchedObservations;

/// The numbers of a place and of its root.
pub(super) type PlaceNumbers = (i64, i64);

/// The numbers of places, in order; inserts missing ones.
pub(super) async fn place_nos(
    tx: &Tx,
    tenant: i64,
    places: &[&Place],
) -> Result<Vec<PlaceNumbers>, Fault> {
    let roots: Vec<&str> = places.iter().map(|place| place.root.as_str()).collect();
    let branches: Vec<Option<&str>> = places.iter().map(|p| p.branch.as_deref()).collect();
    let named = values![tenant, roots, branches];
    let known = find_places(tx, named).await?;
    if known.len() == places.len() {
        return Ok(known);
    }
    // Other transactions may insert the same ones meanwhile, so they are looked up again.
    let add_roots = "INSERT INTO roots (tenant_no, root)
        SELECT DISTINCT $1, root FROM unnest($2, $3) AS named (root, branch) ORDER BY root
        ON CONFLICT DO NOTHING";
    tx.execute(add_roots, named).await?;
    let add_places = "INSERT INTO places (tenant_no, root_no, branch)
        SELECT $1, root_no, branch FROM unnest($2, $3) AS named (root, branch)
        JOIN roots USING (root) WHERE tenant_no = $1 ORDER BY root_no, branch
        ON CONFLICT DO NOTHING";
    tx.execute(add_places, named).await?;
    let known = find_places(tx, named).await?;
    if known.len() < places.len() {
        return Err(Fault::corrupt("a place that was just added is missing"));
    }
    Ok(known)
}

async fn find_places(tx: &Tx, named: &[SqlValue]) -> Result<Vec<PlaceNumbers>, Fault> {
    let find = "SELECT place_no, root_no
        FROM unnest($2, $3) WITH ORDINALITY AS named (root, branch, nth)
        JOIN roots ON roots.tenant_no = $1 AND roots.root = named.root
        JOIN places USING (root_no)
        WHERE places.branch IS NOT DISTINCT FROM named.branch ORDER BY nth";
    let rows = tx.rows(find, named).await?;
    rows.iter()
        .map(|row| Ok((get(row, "place_no")?, get(row, "root_no")?)))
        .collect()
}

/// The numbers of those of a tenant's places that have a row.
pub(super) async fn find_named_places(
    tx: &Tx,
    tenant: &Tenant,
    places: &[&Place],
) -> Result<HashMap<Place, PlaceNumbers>, Fault> {
    if places.is_empty() {
        return Ok(HashMap::new());
    }
    let roots: Vec<&str> = places.iter().map(|place| place.root.as_str()).collect();
    let branches: Vec<Option<&str>> = places.iter().map(|p| p.branch.as_deref()).collect();
    let find = "SELECT nth, place_no, root_no
        FROM unnest($2, $3) WITH ORDINALITY AS named (root, branch, nth)
        JOIN roots USING (root) JOIN tenants USING (tenant_no) JOIN places USING (root_no)
        WHERE tenant = $1 AND places.branch IS NOT DISTINCT FROM named.branch";
    let rows = tx.rows(find, values![&tenant.0, roots, branches]).await?;
    let mut found = HashMap::new();
    for row in &rows {
        let nth: usize = get(row, "nth")?;
        let place = nth.checked_sub(1).and_then(|nth| places.get(nth));
        let place = place.ok_or_else(|| Fault::corrupt("a place that was not asked for"))?;
        let numbers = (get(row, "place_no")?, get(row, "root_no")?);
        found.insert((*place).clone(), numbers);
    }
    Ok(found)
}

/// Deletes a session's links to those of these places at which it has no events left.
pub(super) async fn unlink_if_empty(tx: &Tx, session: i64, places: Vec<i64>) -> Result<(), Fault> {
    let (from, to) = event_nos(session);
    let delete = "DELETE FROM session_places AS noted
        WHERE session_no = $1 AND place_no = ANY ($2) AND NOT EXISTS (SELECT FROM events
            WHERE event_no BETWEEN $3 AND $4 AND events.place_no = noted.place_no)";
    tx.execute(delete, values![session, places, from, to])
        .await?;
    Ok(())
}

/// The places of events of a session.
pub(super) async fn of_events(
    tx: &Tx,
    session: i64,
    (from, to): (EventSeq, EventSeq),
) -> Result<Vec<i64>, Fault> {
    let find = "SELECT DISTINCT place_no FROM events
        WHERE event_no BETWEEN $1 AND $2 AND place_no IS NOT NULL";
    let range = values![event_no(session, from), event_no(session, to)];
    let rows = tx.rows(find, range).await?;
    rows.iter().map(|row| get(row, "place_no")).collect()
}

/// Deletes those of the places where no session has events, their roots with their last places, and what identified
/// the roots' projects with their last roots.
pub(super) async fn forget_unused(tx: &Tx, places: Vec<i64>) -> Result<(), Fault> {
    let delete = "DELETE FROM places WHERE place_no = ANY ($1)
        AND NOT EXISTS (SELECT FROM session_places AS noted WHERE noted.place_no = places.place_no)
        RETURNING root_no";
    let roots = tx.rows(delete, values![places]).await?;
    let roots = roots.iter().map(|row| get::<i64>(row, "root_no"));
    let roots: Vec<i64> = roots.collect::<Result<_, _>>()?;
    let delete = "DELETE FROM roots WHERE root_no = ANY ($1)
        AND NOT EXISTS (SELECT FROM places WHERE places.root_no = roots.root_no)
        RETURNING tenant_no, project";
    for row in tx.rows(delete, values![roots]).await? {
        let Some(project) = get::<Option<String>>(&row, "project")? else {
            continue;
        };
        let delete = "DELETE FROM projects WHERE tenant_no = $1 AND key = $2
            AND NOT EXISTS (SELECT FROM roots WHERE tenant_no = $1 AND project = $2)";
        let tenant: i64 = get(&row, "tenant_no")?;
        tx.execute(delete, values![tenant, project]).await?;
    }
    Ok(())
}

/// Deletes places where no session has events, and their roots with their last places. Another root takes over what
/// the deleted ones belonged to.
pub(super) async fn replace_unused(tx: &Tx, place: i64, by_root: i64) -> Result<(), Fault> {
    let find = "SELECT root_no FROM places WHERE place_no = $1
        AND NOT EXISTS (SELECT FROM session_places WHERE place_no = $1)";
    let Some(row) = tx.row(find, values![place]).await? else {
        return Ok(());
    };
    let root: i64 = get(&row, "root_no")?;
    let take_over = "UPDATE roots SET project = former.project, derived = former.derived
        FROM roots AS former
        WHERE former.root_no = $1 AND roots.root_no = $2 AND roots.project IS NULL";
    tx.execute(take_over, values![root, by_root]).await?;
    let delete = "DELETE FROM places WHERE place_no = $1";
    tx.execute(delete, values![place]).await?;
    let delete = "DELETE FROM roots WHERE root_no = $1
        AND NOT EXISTS (SELECT FROM places WHERE root_no = $1)";
    tx.execute(delete, values![root]).await?;
    Ok(())
}

pub(super) async fn places(
    tx: &Tx,
    tenant: &Tenant,
) -> Result<Vec<(Place, Option<String>)>, Fault> {
    let find = "SELECT root, branch, project
        FROM places JOIN roots USING (root_no) JOIN tenants ON tenants.tenant_no = roots.tenant_no
        WHERE tenant = $1
            AND EXISTS (SELECT FROM session_places WHERE place_no = places.place_no)
        ORDER BY root, branch NULLS FIRST";
    let place = |row: &Row| {
        let place = Place {
            root: get(row, "root")?,
            branch: get(row, "branch")?,
        };
        Ok((place, get(row, "project")?))
    };
    let rows = tx.rows(find, values![&tenant.0]).await?;
    rows.iter().map(place).collect()
}

/// The key of the project that a root belongs to.
pub(super) async fn project_of_root(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
) -> Result<Option<String>, Fault> {
    let find = "SELECT project FROM roots JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND root = $2";
    let row = tx.row(find, values![&tenant.0, root]).await?;
    Ok(row.map(|row| get(&row, "project")).transpose()?.flatten())
}

pub(super) async fn projects(
    tx: &Tx,
    tenant: &Tenant,
    after: Option<&ProjectKey>,
    limit: usize,
) -> Result<Vec<Project>, Fault> {
    let (behind, (key, identity)) = match after {
        Some((key, identity)) => (">", (key.as_str(), identity.as_str())),
        None => (">=", ("", "")),
    };
    let find = format!(
        "SELECT key, identity, guessed FROM projects JOIN tenants USING (tenant_no)
         WHERE tenant = $1 AND (key, identity) {behind} ($2, $3) ORDER BY key, identity LIMIT $4"
    );
    let project = |row: &Row| {
        Ok(Project {
            key: get(row, "key")?,
            identity: get(row, "identity")?,
            guessed: get(row, "guessed")?,
        })
    };
    let values = values![&tenant.0, key, identity, limit];
    let rows = tx.rows(&find, values).await?;
    rows.iter().map(project).collect()
}

impl PostgresStore {
    /// Moves a root's evidence to its project, in as many transactions as it takes, and assigns the root in the
    /// last of them: until then the root shows that there is something left to do.
    pub(super) async fn assign(
        &self,
        tenant: &Tenant,
        root: &str,
        assigned: (&Project, bool),
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let access = TenantAccess::Only(tenant);
        let look = |tx: Tx| async move { is_assigned(&tx, tenant, root, assigned).await };
        if self.read(access, look).await? {
            return Ok(());
        }
        let step = |tx: Tx| async move {
            let mut concerned = BTreeSet::new();
            let moved = move_step(&tx, tenant, root, assigned.0, &mut concerned).await?;
            if moved < STEP_ROWS {
                concerned.extend(assign(&tx, tenant, root, assigned).await?);
            }
            raise(&tx, &concerned, now).await?;
            Ok(moved)
        };
        while self.write(access, step).await? == STEP_ROWS {}
        Ok(())
    }
}

/// Deletes the project of an identity.
pub(super) async fn forget_identity(
    tx: &Tx,
    tenant: &Tenant,
    identity: &str,
) -> Result<bool, Fault> {
    let forget = "DELETE FROM projects USING tenants
        WHERE tenants.tenant_no = projects.tenant_no AND tenant = $1 AND identity = $2
        RETURNING identity";
    let gone = tx.row(forget, values![&tenant.0, identity]).await?;
    Ok(gone.is_some())
}

/// Whether the root is assigned already and no evidence is left to move.
async fn is_assigned(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
    (project, derived): (&Project, bool),
) -> Result<bool, Fault> {
    let find = "SELECT FROM projects JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND identity = $2 AND key = $3 AND guessed = $4";
    let key = values![&tenant.0, &project.identity, &project.key, project.guessed];
    let known = tx.row(find, key).await?.is_some();
    let find = "SELECT FROM roots JOIN tenants USING (tenant_no)
        WHERE tenant = $1 AND root = $2 AND project = $3 AND derived = $4";
    let key = values![&tenant.0, root, &project.key, derived];
    let assigned = tx.row(find, key).await?.is_some();
    Ok(known
        && assigned
        && misplaced_evidence(tx, tenant, root, project)
            .await?
            .is_empty())
}

/// Stores the project and the root's assignment, and returns the scopes concerned.
async fn assign(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
    (project, derived): (&Project, bool),
) -> Result<BTreeSet<Scope>, Fault> {
    let number = tenant_no(tx, tenant).await?;
    let note = "INSERT INTO projects (tenant_no, key, identity, guessed) VALUES ($1, $2, $3, $4)
        ON CONFLICT (tenant_no, identity)
        DO UPDATE SET key = excluded.key, guessed = excluded.guessed";
    let noted = values![number, &project.key, &project.identity, project.guessed];
    tx.execute(note, noted).await?;
    // Inserted without a project first, so that the previous project is read from the locked row.
    let add = "INSERT INTO roots (tenant_no, root) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.execute(add, values![number, root]).await?;
    let find = "SELECT root_no, project, EXISTS (SELECT FROM places
            JOIN session_places USING (place_no) WHERE places.root_no = roots.root_no) AS seen
        FROM roots WHERE tenant_no = $1 AND root = $2 FOR UPDATE";
    let row = tx.one(find, values![number, root]).await?;
    let before: Option<String> = get(&row, "project")?;
    let no: i64 = get(&row, "root_no")?;
    let assign = "UPDATE roots SET project = $2, derived = $3 WHERE root_no = $1";
    tx.execute(assign, values![no, &project.key, derived])
        .await?;
    if before.as_ref() == Some(&project.key) {
        return Ok(BTreeSet::new());
    }
    if !get::<bool>(&row, "seen")? {
        return Ok(BTreeSet::new());
    }
    let scope = |name| Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::Project,
        name,
    };
    let names = before.into_iter().chain([project.key.clone()]);
    Ok(names.map(scope).collect())
}

/// Numbers of a tenant's evidence of `root` in the scopes of other projects, with these scopes.
async fn misplaced_evidence(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
    project: &Project,
) -> Result<Vec<(i64, Scope)>, Fault> {
    let find = "SELECT evidence_no, tenant, scopes.kind AS kind, name
        FROM tenants JOIN evidence USING (tenant_no) JOIN observations USING (observation_no)
        JOIN scopes USING (scope_no)
        WHERE tenant = $1 AND root = $2 AND scopes.kind = 'project' AND name <> $3
        ORDER BY evidence_no LIMIT $4";
    let values = values![&tenant.0, root, &project.key, STEP_ROWS];
    let rows = tx.rows(find, values).await?;
    rows.iter()
        .map(|row| Ok((get(row, "evidence_no")?, scope_of(row)?)))
        .collect()
}

/// Moves some of the evidence of `root`, and returns how many pieces.
async fn move_step(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
    project: &Project,
    concerned: &mut BTreeSet<Scope>,
) -> Result<usize, Fault> {
    move_retractions(tx, tenant, root, project).await?;
    let misplaced_evidence = misplaced_evidence(tx, tenant, root, project).await?;
    let mut touched = TouchedObservations::default();
    let renamed = |scope: &Scope| Scope {
        name: project.key.clone(),
        ..scope.clone()
    };
    let moves: Vec<(i64, Scope)> = misplaced_evidence
        .iter()
        .map(|(evidence_no, from)| (*evidence_no, renamed(from)))
        .collect();
    evidence_rows::move_to(tx, &moves, &mut touched).await?;
    concerned.extend(observation_rows::settle(tx, &touched).await?.scopes);
    Ok(misplaced_evidence.len())
}

/// Moves a root's retractions to its new project, so that they still apply there.
async fn move_retractions(
    tx: &Tx,
    tenant: &Tenant,
    root: &str,
    project: &Project,
) -> Result<(), Fault> {
    let take = "DELETE FROM retractions USING scopes, tenants
        WHERE scopes.scope_no = retractions.scope_no AND tenants.tenant_no = retractions.tenant_no
            AND tenant = $1 AND root = $2 AND scopes.kind = 'project' AND name <> $3
        RETURNING session_no, seq, retractions.kind AS kind, text";
    let taken = tx
        .rows(take, values![&tenant.0, root, &project.key])
        .await?;
    if taken.is_empty() {
        return Ok(());
    }
    let to = Scope {
        tenant: tenant.clone(),
        kind: ScopeKind::Project,
        name: project.key.clone(),
    };
    // Two retractions from two projects may become one.
    let mut moved: BTreeMap<(i64, i64, i64), (&str, String)> = BTreeMap::new();
    for row in &taken {
        let kind = parse_column::<ObservationKind>(row, "kind")?;
        let text: String = get(row, "text")?;
        let id = ObservationId::of(&to, kind, &text);
        let key = (
            id.0.cast_signed(),
            get(row, "session_no")?,
            get(row, "seq")?,
        );
        moved.insert(key, (kind.as_str(), text));
    }
    let put = "INSERT INTO retractions (tenant_no, scope_no, id, session_no, seq, kind, text, root)
        SELECT tenant_no, scope_no, moved.*, $2
        FROM scopes, unnest($3, $4, $5, $6, $7) AS moved WHERE scope_no = $1
        ON CONFLICT (scope_no, id, session_no, seq) DO UPDATE SET root = excluded.root";
    let column = |part: fn(&(i64, i64, i64)) -> i64| moved.keys().map(part).collect::<Vec<i64>>();
    let (kinds, texts): (Vec<&str>, Vec<&str>) = moved
        .values()
        .map(|(kind, text)| (*kind, text.as_str()))
        .unzip();
    let moved = values![
        scope_no(tx, &to).await?,
        root,
        column(|key| key.0),
        column(|key| key.1),
        column(|key| key.2),
        kinds,
        texts,
    ];
    tx.execute(put, moved).await?;
    Ok(())
}
