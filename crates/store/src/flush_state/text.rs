//! The file's spelling: ASCII JSON with an indent of two, as the seed's program writes it.
//!
//! Of a job, only what differs from a new one is written. What other programs keep in the file stays.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use daybook_domain::claim::{Lane, Rounds};
use daybook_domain::{Job, JobKey, SessionId, Tenant};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::book::{Book, Entry, Seconds};

/// The format that is written, and the newest one that is read.
pub(super) const VERSION: u64 = 1;

/// Why a file cannot be used.
#[derive(Debug, PartialEq)]
pub(super) enum Unreadable {
    /// It is no flush state.
    Corrupt,
    /// A newer program wrote it.
    Newer(u64),
}

#[derive(Serialize)]
struct Written<'a> {
    version: u64,
    sessions: BTreeMap<String, Row<'a>>,
    daybook: Common,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Row<'a> {
    Known(Box<Known<'a>>),
    Stranger(&'a Value),
}

/// The seed's keys, then ours.
#[derive(Serialize)]
struct Known<'a> {
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
    daybook: Ours,
    #[serde(flatten)]
    rest: &'a Map<String, Value>,
}

/// What an entry keeps for Daybook alone.
#[derive(Serialize, Deserialize)]
struct Ours {
    tenant: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    granted_session_updated_at: Option<Seconds>,
    job: Map<String, Value>,
}

/// What the file keeps for Daybook alone.
#[derive(Default, Serialize, Deserialize)]
struct Common {
    claimed: u64,
    rounds: Vec<Served>,
}

#[derive(Serialize, Deserialize)]
struct Served {
    tenant: String,
    user: String,
    agent: String,
    served: u64,
}

/// Spells a book.
pub(super) fn write(book: &Book) -> Result<String, serde_json::Error> {
    let strangers = book.strangers.iter();
    let mut sessions: BTreeMap<String, Row<'_>> = strangers
        .map(|(name, value)| (name.clone(), Row::Stranger(value)))
        .collect();
    for (key, entry) in &book.entries {
        if let JobKey::Extract(id) = key {
            sessions.insert(name(id), Row::Known(Box::new(known(id, entry)?)));
        }
    }
    let written = Written {
        version: VERSION,
        sessions,
        daybook: Common {
            claimed: book.claimed,
            rounds: book.rounds.lanes().map(served).collect(),
        },
        rest: &book.rest,
    };
    Ok(ascii(&serde_json::to_string_pretty(&written)?))
}

fn known<'a>(id: &'a SessionId, entry: &'a Entry) -> Result<Known<'a>, serde_json::Error> {
    let job = &entry.job;
    Ok(Known {
        agent_name: &id.agent,
        session_id: &id.host_id,
        dirty: job.is_ahead(),
        last_session_updated_at: entry.updated,
        last_flushed_at: entry.flushed,
        last_flushed_session_updated_at: entry.flushed_updated,
        room_id: &entry.room_id,
        thread_id: &entry.thread_id,
        last_seen_at: entry.seen,
        in_flight: job.lease.is_some(),
        daybook: Ours {
            tenant: id.tenant.0.clone(),
            granted_session_updated_at: entry.granted_updated,
            job: spelled(job)?,
        },
        rest: &entry.rest,
    })
}

fn served((lane, served): (Lane, u64)) -> Served {
    Served {
        tenant: lane.tenant,
        user: lane.user,
        agent: lane.agent,
        served,
    }
}

/// The name of a session's entry, the seed's `agent:session`. No two sessions share one: what stands
/// before the first colon is encoded, and names a tenant only when it holds a slash.
fn name(id: &SessionId) -> String {
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

/// A job nothing has been marked for, less its key.
static BLANK: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let nobody = SessionId {
        tenant: Tenant::local(),
        agent: String::new(),
        host_id: String::new(),
    };
    fields(&Job::new(JobKey::Extract(nobody))).unwrap_or_default()
});

fn fields(job: &Job) -> Result<Map<String, Value>, serde_json::Error> {
    let Value::Object(mut fields) = serde_json::to_value(job)? else {
        return Ok(Map::new());
    };
    fields.remove("key");
    Ok(fields)
}

fn spelled(job: &Job) -> Result<Map<String, Value>, serde_json::Error> {
    let mut fields = fields(job)?;
    fields.retain(|name, value| BLANK.get(name) != Some(value));
    Ok(fields)
}

fn job_of(key: &JobKey, spelled: Map<String, Value>) -> Option<Job> {
    let mut fields = BLANK.clone();
    fields.extend(spelled);
    fields.insert("key".to_owned(), serde_json::to_value(key).ok()?);
    serde_json::from_value(Value::Object(fields)).ok()
}

/// Characters outside ASCII stand only inside strings, where they can be escaped.
fn ascii(json: &str) -> String {
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
    out.push('\n');
    out
}

/// Reads what a file says. A blank one says nothing.
pub(super) fn parse(text: &[u8]) -> Result<Book, Unreadable> {
    if text.trim_ascii().is_empty() {
        return Ok(Book::default());
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
    let common: Common = common
        .and_then(|value| serde_json::from_value(value).ok())
        .unwrap_or_default();
    let mut book = Book {
        claimed: common.claimed,
        rounds: rounds(common.rounds),
        rest,
        ..Book::default()
    };
    for (name, value) in sessions {
        match entry_of(&value).filter(|entry| !book.entries.contains_key(&entry.job.key)) {
            Some(entry) => drop(book.entries.insert(entry.job.key.clone(), entry)),
            None => drop(book.strangers.insert(name, value)),
        }
    }
    Ok(book)
}

fn rounds(served: Vec<Served>) -> Rounds {
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

/// An entry that we wrote; `None` for any other.
fn entry_of(value: &Value) -> Option<Entry> {
    let mut map = value.as_object()?.clone();
    let ours: Ours = serde_json::from_value(map.remove("daybook")?).ok()?;
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
    let entry = Entry {
        job: job_of(&key, ours.job)?,
        seen: time("last_seen_at").unwrap_or(0),
        updated: time("last_session_updated_at"),
        flushed: time("last_flushed_at"),
        flushed_updated: time("last_flushed_session_updated_at"),
        granted_updated: ours.granted_session_updated_at,
        room_id: map.remove("room_id").unwrap_or_default(),
        thread_id: map.remove("thread_id").unwrap_or_default(),
        rest: Map::new(),
    };
    for projected in ["dirty", "in_flight"] {
        map.remove(projected);
    }
    Some(Entry { rest: map, ..entry })
}
