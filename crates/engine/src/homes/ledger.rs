//! Which sessions a home's system has learned from already, and up to when.
//!
//! Codex shows it by its raw memories and accounts of rollouts: each names its thread and the time of the thread that it
//! was made from. MindRoom keeps a ledger. Daycare keeps it in its database, which is no part of the folder.

use std::collections::BTreeMap;
use std::path::Path;

use daybook_domain::Timestamp;
use serde_json::Value;

use super::mindroom::LEDGER;
use super::recognize::{FileRole, Home};
use super::{FILE_BYTES, HomeKind, codex};
use crate::bounded;
use crate::transcripts::peek::peek;

/// Times of sessions are whole seconds there: the last event may be up to this many milliseconds later.
const SECOND: i64 = 1_000;

/// The sessions that were learned from, by their host's id, with the time of the newest event that was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LearnedSessions(pub BTreeMap<String, Timestamp>);

impl LearnedSessions {
    fn add(&mut self, session: String, upto: Timestamp) {
        let known = self.0.entry(session).or_insert(upto);
        *known = upto.max(*known);
    }
}

/// The sessions that a home's system has learned from. A file that cannot be read adds none.
#[must_use]
pub fn learned_sessions(home: &Home) -> LearnedSessions {
    let mut learned = LearnedSessions::default();
    let read = |path: &str| bounded::read_text(&home.at(path), FILE_BYTES).unwrap_or_default();
    match home.kind {
        HomeKind::Codex => {
            for path in home.paths(|role| role == FileRole::Memory) {
                add_threads(&mut learned, path, &read(path));
            }
        }
        HomeKind::Mindroom => add_flushed(&mut learned, &read(LEDGER)),
        HomeKind::Daycare
        | HomeKind::Claude
        | HomeKind::ServerMemory
        | HomeKind::Mem0
        | HomeKind::BasicMemory
        | HomeKind::Obsidian => {}
    }
    learned
}

/// Whether a transcript holds nothing that its system has not learned from. One that shows no time does.
#[must_use]
pub fn is_transcript_learned(path: &Path, learned: &LearnedSessions) -> bool {
    if path.extension().is_some_and(|ending| ending == "json") {
        return are_rows_learned(path, learned);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let upto = learned.0.iter().find(|(session, _)| {
        let before = name.strip_suffix(session.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('-'))
    });
    let last = peek(path).ok().and_then(|peek| peek.last_at);
    match (upto, last) {
        (Some((_, upto)), Some(last)) => last.0 < upto.0.saturating_add(SECOND),
        (Some(_), None) | (None, _) => false,
    }
}

/// Whether everything in a file of Agno's rows was learned from.
fn are_rows_learned(path: &Path, learned: &LearnedSessions) -> bool {
    let text = bounded::read_text(path, FILE_BYTES).unwrap_or_default();
    let rows = match serde_json::from_str(&text) {
        Ok(Value::Array(rows)) => rows,
        Ok(row @ Value::Object(_)) => vec![row],
        Ok(_) | Err(_) => Vec::new(),
    };
    !rows.is_empty() && rows.iter().all(|row| is_row_learned(row, learned))
}

/// Whether a row of Agno's holds nothing that its system has not learned from.
#[must_use]
pub fn is_row_learned(row: &Value, learned: &LearnedSessions) -> bool {
    let session = row["session_id"].as_str();
    let upto = session.and_then(|session| learned.0.get(session));
    let updated = row["updated_at"].as_i64();
    matches!((upto, updated), (Some(upto), Some(at)) if at.saturating_mul(SECOND) <= upto.0)
}

fn add_threads(learned: &mut LearnedSessions, path: &str, text: &str) {
    let mut add = |thread: Option<String>, fields: &codex::BlockFields| {
        if let (Some(thread), Some(upto)) = (thread, fields.updated_at) {
            learned.add(thread, upto);
        }
    };
    for (thread, block) in codex::threads(text) {
        add(Some(thread), &codex::fields(text, block).0);
    }
    if path.contains("/rollout_summaries/") {
        let (fields, _) = codex::fields(text, 0..text.len());
        add(fields.thread.clone(), &fields);
    }
}

/// The sessions that the ledger shows as flushed. One that is dirty is not, whatever was flushed of it before.
fn add_flushed(learned: &mut LearnedSessions, text: &str) {
    let ledger: Value = serde_json::from_str(text).unwrap_or_default();
    let entries = ledger["sessions"].as_object();
    for entry in entries.into_iter().flat_map(|entries| entries.values()) {
        let session = entry["session_id"].as_str();
        let upto = entry["last_flushed_session_updated_at"].as_i64();
        let is_clean = entry["dirty"] == Value::Bool(false);
        if let (Some(session), Some(upto), true) = (session, upto, is_clean) {
            learned.add(session.to_owned(), Timestamp(upto.saturating_mul(SECOND)));
        }
    }
}
