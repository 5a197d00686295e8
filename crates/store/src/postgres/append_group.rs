//! Several appends to existing sessions in one transaction, in two round trips.
//!
//! One round trip locks and reads the rows that decide, the other writes the result. Rows that another
//! transaction has locked are skipped instead of waited for, so a group holds up no other and takes part in no
//! deadlock; an append that needs such a row is left out.
//!
//! Not here: which appends form a group, and what happens to those left out (`append_queue`).

use std::collections::{BTreeSet, HashMap};

use daybook_domain::seams::{Append, AppendOutcome};
use daybook_domain::{EventId, EventSeq, Job, JobKey, Place, SessionId, Tenant};
use futures_util::future::try_join4;
use tokio_postgres::Row;

use super::connection::Tx;
use super::fault::Fault;
use super::names::lock_free_sessions;
use super::places::{PlaceNumbers, find_named_places};
use super::row_numbers::seq_of;
use super::sessions::{self, NewEventRow};
use super::values::{get, values};
use super::{events, job_rows, tombstones};
use crate::log::{self, AppendPositions, ExtractionEffect, SessionRow};
use crate::pollution::{PollutionEffect, pollute};

/// The rows that a group needs, and their changes.
struct AppendGroup<'a> {
    sessions: HashMap<&'a SessionId, LockedSession>,
    places: HashMap<Place, PlaceNumbers>,
}

/// A locked session, with its extraction's job if that is locked, too.
struct LockedSession {
    row: SessionRow,
    job: Option<Job>,
    /// The positions of those of the group's events that the session already has.
    known: HashMap<EventId, EventSeq>,
    is_job_changed: bool,
    is_changed: bool,
    /// Once an append is left out, later ones to the same session are, too.
    is_left_out: bool,
}

/// Adds the appends, which are of one tenant. Returns the outcome of each, and `None` for those left out.
pub(super) async fn add_group(
    tx: &Tx,
    appends: &[Append],
) -> Result<Vec<Option<AppendOutcome>>, Fault> {
    let Some(first) = appends.first() else {
        return Ok(Vec::new());
    };
    let tenant = &first.session.id.tenant;
    let mut group = load(tx, tenant, appends).await?;
    let all: Vec<&Append> = appends.iter().collect();
    for (append, purged) in appends
        .iter()
        .zip(tombstones::purged_of(tx, tenant, &all).await?)
    {
        // What was purged is passed over by an append of its own.
        if let Some(state) = group.sessions.get_mut(&append.session.id) {
            state.is_left_out |= !purged.is_none();
        }
    }
    let (mut rows, mut active) = (Vec::new(), Vec::new());
    let mut outcomes = Vec::with_capacity(appends.len());
    for append in appends {
        let placed = group.add(append, &mut rows);
        if placed
            .as_ref()
            .is_some_and(|placed| placed.last > placed.before)
        {
            active.push((&append.session.id, append.now));
        }
        outcomes.push(placed.map(|placed| placed.outcome()));
    }
    let changed: Vec<&LockedSession> = group.sessions.values().filter(|s| s.is_changed).collect();
    let saved: Vec<&SessionRow> = changed.iter().map(|state| &state.row).collect();
    let Some(tenant) = saved.first().map(|row| row.tenant) else {
        return Ok(outcomes);
    };
    sessions::insert(tx, tenant, None, &rows);
    let noted = active.into_iter();
    let noted = noted.filter_map(|(id, now)| Some((group.sessions.get(id)?.row.no, now)));
    sessions::note_entries(tx, &noted.collect::<Vec<_>>());
    let jobs = changed.iter().filter(|state| state.is_job_changed);
    let jobs: Vec<Job> = jobs.filter_map(|state| state.job.clone()).collect();
    job_rows::save_all(tx, &jobs);
    sessions::save_all(tx, &saved);
    Ok(outcomes)
}

/// Locks and reads all that the appends need, in one round trip.
async fn load<'a>(
    tx: &Tx,
    tenant: &Tenant,
    appends: &'a [Append],
) -> Result<AppendGroup<'a>, Fault> {
    let ids: BTreeSet<&SessionId> = appends.iter().map(|append| &append.session.id).collect();
    let ids: Vec<&SessionId> = ids.into_iter().collect();
    let keys = ids.iter().map(|id| JobKey::Extract((*id).clone()));
    let keys: Vec<JobKey> = keys.collect();
    let keys: Vec<&JobKey> = keys.iter().collect();
    let places = appends.iter().flat_map(|append| &append.events);
    let places: BTreeSet<&Place> = places.filter_map(|event| event.place.as_ref()).collect();
    let places: Vec<&Place> = places.into_iter().collect();
    // Sent in this order. Each statement sees what was committed before it, so an event that is missing in a
    // locked session stays missing.
    let loading = try_join4(
        lock_free_sessions(tx, tenant, &ids),
        job_rows::load_free(tx, &keys),
        known_events(tx, tenant, appends),
        find_named_places(tx, tenant, &places),
    );
    let (rows, jobs, known, places) = loading.await?;
    let mut jobs: HashMap<JobKey, Job> =
        jobs.into_iter().map(|job| (job.key.clone(), job)).collect();
    let mut known_of: HashMap<i64, HashMap<EventId, EventSeq>> = HashMap::new();
    for row in &known {
        let (session, id, seq) = known_event(row)?;
        known_of.entry(session).or_default().insert(id, seq);
    }
    let mut sessions = HashMap::new();
    for row in rows.into_iter().filter(|row| row.known) {
        let found = ids.iter().find(|id| ***id == row.session.id);
        let Some(id) = found else { continue };
        let state = LockedSession {
            job: jobs.remove(&JobKey::Extract(row.session.id.clone())),
            known: known_of.remove(&row.no).unwrap_or_default(),
            row,
            is_job_changed: false,
            is_changed: false,
            is_left_out: false,
        };
        sessions.insert(*id, state);
    }
    Ok(AppendGroup { sessions, places })
}

/// Those of the appends' events that their sessions already have.
async fn known_events(tx: &Tx, tenant: &Tenant, appends: &[Append]) -> Result<Vec<Row>, Fault> {
    let (mut hosts, mut agents, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for append in appends {
        for event in &append.events {
            hosts.push(append.session.id.host_id.as_str());
            agents.push(append.session.id.agent.as_str());
            ids.push(event.id.0.to_be_bytes().to_vec());
        }
    }
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let find = "SELECT session_no, known.id, known.event_no
        FROM unnest($2, $3, $4) AS asked (host_id, agent, id) JOIN sessions USING (host_id, agent),
        LATERAL (SELECT events.id, event_no FROM events
            WHERE events.session_no = sessions.session_no AND events.id = asked.id) AS known
        WHERE sessions.tenant_no = (SELECT tenant_no FROM tenants WHERE tenant = $1)";
    tx.rows(find, values![&tenant.0, hosts, agents, ids]).await
}

fn known_event(row: &Row) -> Result<(i64, EventId, EventSeq), Fault> {
    let session = get(row, "session_no")?;
    Ok((session, events::id_of(row)?, seq_of(get(row, "event_no")?)))
}

impl AppendGroup<'_> {
    /// Adds one append to the rows to be written; `None` if it has to be left out.
    fn add<'a>(
        &mut self,
        append: &'a Append,
        rows: &mut Vec<NewEventRow<'a>>,
    ) -> Option<AppendPositions> {
        let state = self.sessions.get_mut(&append.session.id)?;
        let is_placed = |place: &Place| self.places.contains_key(place);
        let mut places = append
            .events
            .iter()
            .filter_map(|event| event.place.as_ref());
        if state.is_left_out || !places.all(is_placed) {
            state.is_left_out = true;
            return None;
        }
        let placed = state.add(append, &self.places, rows);
        state.is_left_out |= placed.is_none();
        placed
    }
}

impl LockedSession {
    fn add<'a>(
        &mut self,
        append: &'a Append,
        places: &HashMap<Place, PlaceNumbers>,
        rows: &mut Vec<NewEventRow<'a>>,
    ) -> Option<AppendPositions> {
        let mut row = self.row.clone();
        // A room's or a team's session is appended to alone: its events belong to that scope, and an append that
        // names another is refused.
        log::check_venue(&row.session, &append.session).ok()?;
        log::merge_meta(&mut row.session, &append.session);
        if !row.session.venue.is_empty() {
            return None;
        }
        row.scan.note_append(false, append.rules);
        let mut known = self.known.clone();
        let number_of = |place: &Place| places.get(place).copied();
        let (new_rows, new, seqs) =
            sessions::place_rows(&mut row, append, &[], &mut known, number_of);
        // What a polluted session showed is hidden in the append's own transaction.
        if pollute(&mut row.session, &new) != PollutionEffect::None {
            return None;
        }
        match log::extraction_effect(Some(&self.row.session), &row.session, &new, append) {
            ExtractionEffect::Mark(mark) => {
                let job = self.job.as_mut()?;
                if let Some(user) = &row.session.user {
                    job.user = Some(user.clone());
                }
                job.mark(mark);
                self.is_job_changed = true;
            }
            ExtractionEffect::Pass(_) => return None,
            ExtractionEffect::None => {}
        }
        rows.extend(new_rows);
        let before = self.row.session.events;
        (self.row, self.known, self.is_changed) = (row, known, true);
        Some(AppendPositions {
            before,
            last: self.row.session.events,
            seqs,
            polluted: false,
        })
    }
}
