//! The content of the ledger's file as a value.
//!
//! Not here: its JSON form (`json`), and reading and replacing the file (`file`).

use std::collections::BTreeMap;
use std::sync::Arc;

use daybook_domain::claim::Rounds;
use daybook_domain::{DueMark, Job, JobKey, Priority, SessionId, Tenant, Timestamp};
use serde_json::{Map, Value};

/// Whole seconds since 1970, as MindRoom counts them. They are shown, and never decide what is due.
pub(super) type Seconds = i64;

pub(super) fn seconds(at: Timestamp) -> Seconds {
    at.0.div_euclid(1000)
}

/// The ledger's entry of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LedgerEntry {
    pub(super) job: Job,
    /// When it was marked last.
    pub(super) marked_at: Seconds,
    /// Its last activity.
    pub(super) active_at: Option<Seconds>,
    /// When a claim of it finished last.
    pub(super) flushed_at: Option<Seconds>,
    /// Its last activity when that claim was granted.
    pub(super) flushed_active_at: Option<Seconds>,
    /// Its last activity when the newest claim was granted.
    pub(super) granted_active_at: Option<Seconds>,
    pub(super) room_id: Value,
    pub(super) thread_id: Value,
    /// Fields of this entry that other programs wrote.
    pub(super) rest: Map<String, Value>,
}

impl LedgerEntry {
    fn new(job: Job, marked_at: Seconds) -> Self {
        Self {
            job,
            marked_at,
            active_at: None,
            flushed_at: None,
            flushed_active_at: None,
            granted_active_at: None,
            room_id: Value::Null,
            thread_id: Value::Null,
            rest: Map::new(),
        }
    }

    /// Records that a claim of it has finished.
    pub(super) fn note_flushed(&mut self, now: Timestamp) {
        self.flushed_at = Some(seconds(now));
        self.flushed_active_at = self.granted_active_at;
    }

    /// Records where its session is held. What another program wrote stays where the session names nothing.
    pub(super) fn set_room(&mut self, room_id: Option<String>, thread_id: Option<String>) {
        if let Some(room_id) = room_id {
            self.room_id = Value::String(room_id);
        }
        if let Some(thread_id) = thread_id {
            self.thread_id = Value::String(thread_id);
        }
    }

    /// Whether nothing waits and no worker holds a lease.
    fn is_clean(&self) -> bool {
        !self.job.is_ahead() && self.job.lease.is_none()
    }
}

/// The whole file. A change concerns one entry or a few, and copies no other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FlushState {
    pub(super) entries: BTreeMap<Arc<JobKey>, Arc<LedgerEntry>>,
    /// Entries that another program wrote, of sessions that this store does not have, by their names in the
    /// file.
    pub(super) foreign_entries: BTreeMap<String, Value>,
    /// The order in which lanes are served.
    pub(super) rounds: Rounds,
    /// Claims that were granted.
    pub(super) claimed: u64,
    /// Fields beside the entries that other programs wrote.
    pub(super) rest: Map<String, Value>,
}

impl FlushState {
    pub(super) fn job(&self, key: &JobKey) -> Option<&Job> {
        self.entries.get(key).map(|entry| &entry.job)
    }

    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> + Clone {
        self.entries.values().map(|entry| &entry.job)
    }

    /// The entry of a job, to be changed.
    pub(super) fn entry_mut(&mut self, key: &JobKey) -> Option<&mut LedgerEntry> {
        self.entries.get_mut(key).map(Arc::make_mut)
    }

    /// Changes every job of which `concerned` is true.
    pub(super) fn jobs_mut(
        &mut self,
        concerned: impl Fn(&Job) -> bool,
    ) -> impl Iterator<Item = &mut Job> {
        let entries = self.entries.values_mut();
        let entries = entries.filter(move |entry| concerned(&entry.job));
        entries.map(|entry| &mut Arc::make_mut(entry).job)
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.jobs().filter_map(Job::due_at).min()
    }

    /// Keeps a job; `active_at` is its session's last activity, where that was looked up.
    pub(super) fn put(&mut self, job: Job, active_at: Option<Seconds>) -> &mut LedgerEntry {
        let known = self.entries.remove(&job.key).map(Arc::unwrap_or_clone);
        let key = Arc::new(job.key.clone());
        let mut entry = match known {
            Some(known) => LedgerEntry { job, ..known },
            None => match self.take_foreign_entry(&key) {
                Some(foreign) => adopt_foreign_entry(job, foreign),
                None => LedgerEntry::new(job, active_at.unwrap_or(0)),
            },
        };
        entry.active_at = active_at.or(entry.active_at);
        Arc::make_mut(self.entries.entry(key).or_insert(Arc::new(entry)))
    }

    /// Whether the file has another program's entry of this session.
    pub(super) fn has_foreign_entry(&self, key: &JobKey) -> bool {
        self.foreign_entry_name(key).is_some()
    }

    fn foreign_entry_name(&self, key: &JobKey) -> Option<String> {
        let JobKey::Extract(id) = key else {
            return None;
        };
        let is_of_session = |(name, value): &(&String, &Value)| {
            session_of_foreign(name, value).as_ref() == Some(id)
        };
        let found = self.foreign_entries.iter().find(is_of_session)?;
        Some(found.0.clone())
    }

    fn take_foreign_entry(&mut self, key: &JobKey) -> Option<Map<String, Value>> {
        let name = self.foreign_entry_name(key)?;
        match self.foreign_entries.remove(&name) {
            Some(Value::Object(map)) => Some(map),
            _ => None,
        }
    }

    /// Removes clean entries that were not marked for so many seconds, and returns their jobs.
    pub(super) fn tidy(&mut self, now: Timestamp, stale_ttl: Seconds) -> Vec<Job> {
        let now = seconds(now);
        let stale = |entry: &LedgerEntry| {
            entry.is_clean() && now.saturating_sub(entry.marked_at) > stale_ttl
        };
        let out = self.entries.extract_if(.., |_, entry| stale(entry));
        out.map(|(_, entry)| Arc::unwrap_or_clone(entry).job)
            .collect()
    }

    /// Ends lapsed leases of holders that never returned.
    pub(super) fn clear_lapsed(&mut self, now: Timestamp) {
        let has_lapsed = |job: &Job| job.lease.as_ref().is_some_and(|lease| lease.until <= now);
        for job in self.jobs_mut(has_lapsed) {
            if let Some(lease) = job.lease.clone() {
                job.abandon(&lease.holder);
            }
        }
    }
}

/// The session of another program's entry, from its fields or else from its name.
fn session_of_foreign(name: &str, value: &Value) -> Option<SessionId> {
    let map = value.as_object()?;
    let field = |key: &str| map.get(key).and_then(Value::as_str);
    let (agent, host_id) = match (field("agent_name"), field("session_id")) {
        (Some(agent), Some(session)) => (agent, session),
        _ => name.split_once(':')?,
    };
    Some(SessionId {
        tenant: Tenant::local(),
        agent: agent.to_owned(),
        host_id: host_id.to_owned(),
    })
}

/// Converts another program's entry once its session is known: a dirty one becomes due.
fn adopt_foreign_entry(mut job: Job, mut map: Map<String, Value>) -> LedgerEntry {
    let mut time = |key: &str| map.remove(key).and_then(|value| value.as_i64());
    let marked_at = time("last_seen_at").unwrap_or(0);
    let active_at = time("last_session_updated_at");
    let flushed_at = time("last_flushed_at");
    let flushed_active_at = time("last_flushed_session_updated_at");
    if map.remove("dirty") == Some(Value::Bool(true)) {
        job.hasten(Timestamp(marked_at.saturating_mul(1000)), Priority::Normal);
    }
    // `in_flight` goes, too: no other program holds one of our lease tokens.
    for ours in ["in_flight", "agent_name", "session_id", "daybook"] {
        map.remove(ours);
    }
    LedgerEntry {
        active_at,
        flushed_at,
        flushed_active_at,
        room_id: map.remove("room_id").unwrap_or_default(),
        thread_id: map.remove("thread_id").unwrap_or_default(),
        rest: map,
        ..LedgerEntry::new(job, marked_at)
    }
}

/// The job that the file's entry and its row in the inner store agree on; `None` where the row is gone because
/// its session was undone.
pub(super) fn reconcile(entry: Option<&Job>, row: Option<&Job>) -> Option<Job> {
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
        job.mark(missed_mark(entry, row));
        job.user = row.user.clone().or(job.user);
        job
    } else {
        row.clone()
    };
    job.claims = entry.claims.max(row.claims);
    Some(job)
}

/// The mark of an append that never reached the file.
fn missed_mark(entry: &Job, row: &Job) -> DueMark {
    DueMark {
        input: row.input,
        idle_due: row.idle_due,
        deadline: row.deadline,
        priority: row.priority,
        turns: row.turns.saturating_sub(entry.turns),
        turn_limit: u32::MAX,
        active: row.idle_due,
    }
}
