//! The file's format: ASCII JSON with an indent of two, as MindRoom's program writes it.
//!
//! Of a job, only fields that differ from a new one are written. Fields of other programs are kept.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use daybook_domain::claim::{Lane, Rounds};
use daybook_domain::{Job, JobKey, SessionId, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::{FlushState, LedgerEntry, Seconds};

/// The format that is written, and the newest one that is read.
pub(super) const VERSION: u64 = 1;

/// Why a file cannot be used.
#[derive(Debug, PartialEq)]
pub(super) enum Unreadable {
    /// The file is no flush state.
    Corrupt,
    /// A newer program wrote the file.
    Newer(u64),
}

/// The file without its sessions, whose texts are put in their place.
#[derive(Serialize)]
struct FileJson<'a> {
    version: u64,
    sessions: Map<String, Value>,
    daybook: OwnFileFields,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

/// How the file without sessions spells that it has none.
const NO_SESSIONS: &str = "\"sessions\": {}";
/// The indent of an entry.
const INDENT: &str = "    ";

/// The texts of the entries that were written last. The whole file is replaced with each change, which concerns one entry
/// or a few: the texts of all others are copied.
#[derive(Debug, Default)]
pub(super) struct EntryTexts(BTreeMap<Arc<JobKey>, EntryText>);

#[derive(Debug)]
struct EntryText {
    entry: Arc<LedgerEntry>,
    /// The entry's name in the file.
    name: String,
    text: String,
}

impl EntryTexts {
    /// Brings the texts up to date with the entries of a book.
    fn update(&mut self, state: &FlushState) -> Result<(), serde_json::Error> {
        self.0.retain(|key, _| state.entries.contains_key(key));
        for (key, entry) in &state.entries {
            let JobKey::Extract(id) = &**key else {
                continue;
            };
            if self.0.get(key).is_some_and(|known| known.entry == *entry) {
                continue;
            }
            let name = entry_name(id);
            let text = entry_text(&name, &own_entry_json(id, entry)?)?;
            let entry = Arc::clone(entry);
            self.0
                .insert(Arc::clone(key), EntryText { entry, name, text });
        }
        Ok(())
    }
}

/// An entry with its name, as it stands in the file.
fn entry_text(name: &str, entry: &impl Serialize) -> Result<String, serde_json::Error> {
    // No string of JSON has a line break, so each one is the format's own.
    let entry = serde_json::to_string_pretty(entry)?.replace('\n', &format!("\n{INDENT}"));
    let name = serde_json::to_string(name)?;
    Ok(escape_non_ascii(&format!("{INDENT}{name}: {entry}")))
}

/// MindRoom's keys, then ours.
#[derive(Serialize)]
struct OwnEntryJson<'a> {
    agent_name: &'a str,
    session_id: &'a str,
    dirty: bool,
    last_session_updated_at: Option<Seconds>,
    last_flushed_at: Option<Seconds>,
    last_flushed_session_updated_at: Option<Seconds>,
    room_id: &'a Value,
    thread_id: &'a Value,
    last_seen_at: Seconds,
    in_flight: bool,
    daybook: OwnEntryFields,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

/// What an entry keeps for Daybook alone.
#[derive(Serialize, Deserialize)]
struct OwnEntryFields {
    tenant: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    granted_session_updated_at: Option<Seconds>,
    job: Map<String, Value>,
}

/// What the file keeps for Daybook alone.
#[derive(Default, Serialize, Deserialize)]
struct OwnFileFields {
    claimed: u64,
    rounds: Vec<ServedLane>,
}

#[derive(Serialize, Deserialize)]
struct ServedLane {
    tenant: String,
    user: String,
    agent: String,
    served: u64,
}

/// Writes a book as JSON; `texts` are those of the last one.
pub(super) fn to_json(
    state: &FlushState,
    texts: &mut EntryTexts,
) -> Result<String, serde_json::Error> {
    texts.update(state)?;
    let mut foreign = Vec::new();
    for (name, value) in &state.foreign_entries {
        foreign.push((name, entry_text(name, value)?));
    }
    let foreign = foreign
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let mut sessions: BTreeMap<&str, &str> = foreign.collect();
    let own = texts.0.values();
    sessions.extend(own.map(|own| (own.name.as_str(), own.text.as_str())));
    let file = FileJson {
        version: VERSION,
        sessions: Map::new(),
        daybook: OwnFileFields {
            claimed: state.claimed,
            rounds: state.rounds.lanes().map(served_lane).collect(),
        },
        rest: &state.rest,
    };
    let file = escape_non_ascii(&serde_json::to_string_pretty(&file)?);
    // It is the file's second key, before which no other program's text stands.
    let Some((head, tail)) = file
        .split_once(NO_SESSIONS)
        .filter(|_| !sessions.is_empty())
    else {
        return Ok(file + "\n");
    };
    let sessions: Vec<&str> = sessions.into_values().collect();
    let sessions = sessions.join(",\n");
    Ok(format!("{head}\"sessions\": {{\n{sessions}\n  }}{tail}\n"))
}

fn own_entry_json<'a>(
    id: &'a SessionId,
    entry: &'a LedgerEntry,
) -> Result<OwnEntryJson<'a>, serde_json::Error> {
    let job = &entry.job;
    Ok(OwnEntryJson {
        agent_name: &id.agent,
        session_id: &id.host_id,
        dirty: job.is_ahead(),
        last_session_updated_at: entry.active_at,
        last_flushed_at: entry.flushed_at,
        last_flushed_session_updated_at: entry.flushed_active_at,
        room_id: &entry.room_id,
        thread_id: &entry.thread_id,
        last_seen_at: entry.marked_at,
        in_flight: job.lease.is_some(),
        daybook: OwnEntryFields {
            tenant: id.tenant.0.clone(),
            granted_session_updated_at: entry.granted_active_at,
            job: changed_fields(job)?,
        },
        rest: &entry.rest,
    })
}

fn served_lane((lane, served): (Lane, u64)) -> ServedLane {
    ServedLane {
        tenant: lane.tenant,
        user: lane.user,
        agent: lane.agent,
        served,
    }
}

/// The name of a session's entry, MindRoom's `agent:session`. No two sessions share one: the part before the
/// first colon is encoded, and names a tenant only when it holds a slash.
fn entry_name(id: &SessionId) -> String {
    let part = |text: &str| {
        text.replace('%', "%25")
            .replace(':', "%3A")
            .replace('/', "%2F")
    };
    let agent = part(&id.agent);
    if id.tenant == Tenant::local() {
        format!("{agent}:{}", id.host_id)
    } else {
        format!("{}/{agent}:{}", part(&id.tenant.0), id.host_id)
    }
}

/// The fields of a job that was never marked, without its key.
static NEW_JOB_FIELDS: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let session = SessionId {
        tenant: Tenant::local(),
        agent: String::new(),
        host_id: String::new(),
    };
    job_fields(&Job::new(JobKey::Extract(session))).unwrap_or_default()
});

fn job_fields(job: &Job) -> Result<Map<String, Value>, serde_json::Error> {
    let Value::Object(mut fields) = serde_json::to_value(job)? else {
        return Ok(Map::new());
    };
    fields.remove("key");
    Ok(fields)
}

fn changed_fields(job: &Job) -> Result<Map<String, Value>, serde_json::Error> {
    let mut fields = job_fields(job)?;
    fields.retain(|name, value| NEW_JOB_FIELDS.get(name) != Some(value));
    Ok(fields)
}

fn job_with_fields(key: &JobKey, changed: Map<String, Value>) -> Option<Job> {
    let mut fields = NEW_JOB_FIELDS.clone();
    fields.extend(changed);
    fields.insert("key".to_owned(), serde_json::to_value(key).ok()?);
    serde_json::from_value(Value::Object(fields)).ok()
}

/// Escapes characters outside ASCII. They occur only inside strings, where JSON allows escapes.
fn escape_non_ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 1);
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// Parses the file's text. A blank file is an empty book.
pub(super) fn parse(text: &[u8]) -> Result<FlushState, Unreadable> {
    if text.trim_ascii().is_empty() {
        return Ok(FlushState::default());
    }
    let Ok(Value::Object(mut rest)) = serde_json::from_slice(text) else {
        return Err(Unreadable::Corrupt);
    };
    match rest.remove("version").as_ref().map(Value::as_u64) {
        None | Some(Some(0..=VERSION)) => {}
        Some(Some(newer)) => return Err(Unreadable::Newer(newer)),
        Some(None) => return Err(Unreadable::Corrupt),
    }
    let sessions = match rest.remove("sessions") {
        Some(Value::Object(sessions)) => sessions,
        None => Map::new(),
        Some(_) => return Err(Unreadable::Corrupt),
    };
    let common = rest.remove("daybook");
    let common: OwnFileFields = common
        .and_then(|value| serde_json::from_value(value).ok())
        .unwrap_or_default();
    let mut state = FlushState {
        claimed: common.claimed,
        rounds: rounds(common.rounds),
        rest,
        ..FlushState::default()
    };
    let parsed = sessions.into_iter().map(|(name, value)| {
        let entry = parse_own_entry(&value);
        (name, value, entry)
    });
    // Of several entries of one session, the one under its own name counts: it is written under that name again.
    let (named, others): (Vec<_>, Vec<_>) = parsed.partition(|(name, _, entry)| {
        let own_name = entry.as_ref().and_then(own_name);
        own_name.as_ref() == Some(name)
    });
    for (name, value, entry) in named.into_iter().chain(others) {
        match entry.filter(|entry| !state.entries.contains_key(&entry.job.key)) {
            Some(entry) => {
                let key = Arc::new(entry.job.key.clone());
                state.entries.insert(key, Arc::new(entry));
            }
            None => drop(state.foreign_entries.insert(name, value)),
        }
    }
    // What stands under the name of a session that is found elsewhere is written over.
    for name in state.entries.values().filter_map(|entry| own_name(entry)) {
        state.foreign_entries.remove(&name);
    }
    Ok(state)
}

/// The name under which an entry is written.
fn own_name(entry: &LedgerEntry) -> Option<String> {
    match &entry.job.key {
        JobKey::Extract(id) => Some(entry_name(id)),
        JobKey::Consolidate(_) | JobKey::Redact(_) => None,
    }
}

fn rounds(served: Vec<ServedLane>) -> Rounds {
    let lanes = served.into_iter().map(|served| {
        let lane = Lane {
            tenant: served.tenant,
            user: served.user,
            agent: served.agent,
        };
        (lane, served.served)
    });
    Rounds::from_lanes(lanes)
}

/// An entry that Daybook wrote; `None` for any other.
fn parse_own_entry(value: &Value) -> Option<LedgerEntry> {
    let mut map = value.as_object()?.clone();
    let ours: OwnEntryFields = serde_json::from_value(map.remove("daybook")?).ok()?;
    let mut words = |key: &str| match map.remove(key) {
        Some(Value::String(words)) => Some(words),
        _ => None,
    };
    let key = JobKey::Extract(SessionId {
        tenant: Tenant(ours.tenant),
        agent: words("agent_name")?,
        host_id: words("session_id")?,
    });
    let mut time = |key: &str| map.remove(key).and_then(|value| value.as_i64());
    let entry = LedgerEntry {
        job: job_with_fields(&key, ours.job)?,
        marked_at: time("last_seen_at").unwrap_or(0),
        active_at: time("last_session_updated_at"),
        flushed_at: time("last_flushed_at"),
        flushed_active_at: time("last_flushed_session_updated_at"),
        granted_active_at: ours.granted_session_updated_at,
        room_id: map.remove("room_id").unwrap_or_default(),
        thread_id: map.remove("thread_id").unwrap_or_default(),
        rest: Map::new(),
    };
    for projected in ["dirty", "in_flight"] {
        map.remove(projected);
    }
    Some(LedgerEntry { rest: map, ..entry })
}
