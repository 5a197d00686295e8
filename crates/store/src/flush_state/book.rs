//! What the file says, as a value.
//!
//! Not here: how it is spelled (`text`), and how it is read and replaced (`file`).

use std::collections::BTreeMap;

use daybook_domain::claim::Rounds;
use daybook_domain::{Job, JobKey, Mark, Priority, SessionId, Tenant, Timestamp};
use serde_json::{Map, Value};

/// Whole seconds since 1970, as the seed counts them. They are shown, and never decide what is due.
pub(super) type Seconds = i64;

pub(super) fn seconds(at: Timestamp) -> Seconds {
    at.0.div_euclid(1000)
}

/// What is known of one session.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) job: Job,
    /// When it was marked last.
    pub(super) seen: Seconds,
    /// Its last activity.
    pub(super) updated: Option<Seconds>,
    /// When a claim of it finished last.
    pub(super) flushed: Option<Seconds>,
    /// Its last activity when that claim was granted.
    pub(super) flushed_updated: Option<Seconds>,
    /// Its last activity when the newest claim was granted.
    pub(super) granted_updated: Option<Seconds>,
    pub(super) room_id: Value,
    pub(super) thread_id: Value,
    /// What other programs keep here.
    pub(super) rest: Map<String, Value>,
}

impl Entry {
    fn new(job: Job, seen: Seconds) -> Self {
        Self {
            job,
            seen,
            updated: None,
            flushed: None,
            flushed_updated: None,
            granted_updated: None,
            room_id: Value::Null,
            thread_id: Value::Null,
            rest: Map::new(),
        }
    }

    /// Notes that a claim of it has finished.
    pub(super) fn note_flushed(&mut self, now: Timestamp) {
        self.flushed = Some(seconds(now));
        self.flushed_updated = self.granted_updated;
    }

    /// Nothing waits, and nobody works on it.
    fn is_clean(&self) -> bool {
        !self.job.is_ahead() && self.job.lease.is_none()
    }
}

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Book {
    pub(super) entries: BTreeMap<JobKey, Entry>,
    /// Entries that another program wrote, of sessions that are not known here; by the name that
    /// they stand under.
    pub(super) strangers: BTreeMap<String, Value>,
    /// Whose turn it is.
    pub(super) rounds: Rounds,
    /// Claims that were granted.
    pub(super) claimed: u64,
    /// What other programs keep beside the entries.
    pub(super) rest: Map<String, Value>,
}

impl Book {
    pub(super) fn job(&self, key: &JobKey) -> Option<&Job> {
        self.entries.get(key).map(|entry| &entry.job)
    }

    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> + Clone {
        self.entries.values().map(|entry| &entry.job)
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.jobs().filter_map(Job::due_at).min()
    }

    /// Keeps a job; `updated` is its session's last activity, where that was looked up.
    pub(super) fn put(&mut self, job: Job, updated: Option<Seconds>) -> &mut Entry {
        let key = job.key.clone();
        if !self.entries.contains_key(&key) {
            let entry = match self.take_stranger(&key) {
                Some(stranger) => taken_over(job.clone(), stranger),
                None => Entry::new(job.clone(), updated.unwrap_or(0)),
            };
            self.entries.insert(key.clone(), entry);
        } else if let Some(entry) = self.entries.get_mut(&key) {
            entry.job = job.clone();
        }
        let entry = self
            .entries
            .entry(key)
            .or_insert_with(|| Entry::new(job, 0));
        entry.updated = updated.or(entry.updated);
        entry
    }

    /// Whether another program's entry waits for this session.
    pub(super) fn has_stranger(&self, key: &JobKey) -> bool {
        self.stranger(key).is_some()
    }

    fn stranger(&self, key: &JobKey) -> Option<String> {
        let JobKey::Extract(id) = key else {
            return None;
        };
        let meant = |(name, value): &(&String, &Value)| meant(name, value).as_ref() == Some(id);
        let found = self.strangers.iter().find(meant)?;
        Some(found.0.clone())
    }

    fn take_stranger(&mut self, key: &JobKey) -> Option<Map<String, Value>> {
        let name = self.stranger(key)?;
        match self.strangers.remove(&name) {
            Some(Value::Object(map)) => Some(map),
            _ => None,
        }
    }

    /// Takes out clean entries that nobody has seen for so many seconds, and returns their jobs.
    pub(super) fn tidy(&mut self, now: Timestamp, stale_ttl: Seconds) -> Vec<Job> {
        let now = seconds(now);
        let stale = |entry: &Entry| entry.is_clean() && now.saturating_sub(entry.seen) > stale_ttl;
        let out = self.entries.extract_if(.., |_, entry| stale(entry));
        out.map(|(_, entry)| entry.job).collect()
    }

    /// Takes leases that have lapsed from holders that never came back.
    pub(super) fn clear_lapsed(&mut self, now: Timestamp) {
        for entry in self.entries.values_mut() {
            let lapsed = entry.job.lease.clone().filter(|lease| lease.until <= now);
            if let Some(lease) = lapsed {
                entry.job.abandon(&lease.holder);
            }
        }
    }
}

/// The session that another program's entry means: what it says in it, or what its name says.
fn meant(name: &str, value: &Value) -> Option<SessionId> {
    let map = value.as_object()?;
    let said = |key: &str| map.get(key).and_then(Value::as_str);
    let (agent, host_id) = match (said("agent_name"), said("session_id")) {
        (Some(agent), Some(session)) => (agent, session),
        _ => name.split_once(':')?,
    };
    Some(SessionId {
        tenant: Tenant::local(),
        agent: agent.to_owned(),
        host_id: host_id.to_owned(),
    })
}

/// Another program's entry, now that its session is known: what it calls dirty is due.
fn taken_over(mut job: Job, mut map: Map<String, Value>) -> Entry {
    let mut time = |key: &str| map.remove(key).and_then(|value| value.as_i64());
    let seen = time("last_seen_at").unwrap_or(0);
    let updated = time("last_session_updated_at");
    let flushed = time("last_flushed_at");
    let flushed_updated = time("last_flushed_session_updated_at");
    if map.remove("dirty") == Some(Value::Bool(true)) {
        job.hasten(Timestamp(seen.saturating_mul(1000)), Priority::Normal);
    }
    // Nobody who could still hold it has a token of ours.
    for ours in ["in_flight", "agent_name", "session_id", "daybook"] {
        map.remove(ours);
    }
    Entry {
        updated,
        flushed,
        flushed_updated,
        room_id: map.remove("room_id").unwrap_or_default(),
        thread_id: map.remove("thread_id").unwrap_or_default(),
        rest: map,
        ..Entry::new(job, seen)
    }
}

/// What a job is, given what the file and the row beneath say of it; nothing where the row is gone,
/// because its session was undone.
pub(super) fn settled(entry: Option<&Job>, row: Option<&Job>) -> Option<Job> {
    let row = row?;
    let Some(entry) = entry else {
        return Some(row.clone());
    };
    let read = |job: &Job| (job.done, job.redo, job.redo_until);
    let holds = |job: &Job| job.lease.as_ref().map(|lease| lease.generation);
    let claims_agree = entry.claims >= row.claims;
    let lease_stands = entry.lease.is_none() || holds(entry) == holds(row);
    let unread = read(entry) == read(row) && claims_agree && lease_stands;
    if unread && entry.input == row.input {
        return Some(entry.clone());
    }
    let mut job = if unread && entry.input < row.input {
        let mut job = entry.clone();
        job.mark(missed(entry, row));
        job.user = row.user.clone().or(job.user);
        job
    } else {
        row.clone()
    };
    job.claims = entry.claims.max(row.claims);
    Some(job)
}

/// The mark of an append that never reached the file.
fn missed(entry: &Job, row: &Job) -> Mark {
    Mark {
        input: row.input,
        idle_due: row.idle_due,
        deadline: row.deadline,
        priority: row.priority,
        turns: row.turns.saturating_sub(entry.turns),
        turn_limit: u32::MAX,
        active: row.idle_due,
    }
}
