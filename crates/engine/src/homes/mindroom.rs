//! Memory files of MindRoom: lines with ids, facts that a flush joined in one line, and text without ids.

use daybook_domain::Timestamp;

use super::entry::{FileLine, HomeEntry, HomeOwner, item_marker, lines};
use crate::transcripts::time_of;

/// The file that records which sessions were flushed, and up to when.
pub(super) const LEDGER: &str = "memory_flush_state.json";
/// Separates the facts of one flush.
const SEPARATOR: &str = " | ";
/// Begins the marker of a flush's line.
const FLUSHED: &str = "[auto_flush:";

/// Whether a file below a storage folder is one of memory: `MEMORY.md`, and Markdown below `memory/` or `daily/` of a
/// workspace or of a scope's folder.
pub(super) fn is_memory_file(path: &str) -> bool {
    let Some((_, below)) = scope_folder(path) else {
        return false;
    };
    let is_log = |folder: &str| below.starts_with(folder) && below.ends_with(".md");
    below == "MEMORY.md" || is_log("memory/") || is_log("daily/")
}

/// Splits a path into the name of its scope's folder and the rest; `None` outside of one.
fn scope_folder(path: &str) -> Option<(HomeOwner, &str)> {
    let after = |mark: &str| {
        let at = path.rfind(mark)?;
        let is_start = at == 0 || path[..at].ends_with('/');
        is_start.then(|| &path[at + mark.len()..])
    };
    if let Some((scope, below)) = after("memory_files/").and_then(|rest| rest.split_once('/')) {
        return Some((owner_of_folder(scope), below));
    }
    let (agent, below) = path.strip_prefix("agents/")?.split_once("/workspace/")?;
    // A requester's private root lies below the agent's.
    let agent = agent.split('/').next().unwrap_or(agent);
    Some((HomeOwner::Agent(agent.to_owned()), below))
}

fn owner_of_folder(scope: &str) -> HomeOwner {
    let named = |prefix: &str| scope.strip_prefix(prefix).map(str::to_owned);
    named("team_")
        .map(HomeOwner::Team)
        .or_else(|| named("room_").map(HomeOwner::Room))
        .or_else(|| named("agent_").map(HomeOwner::Agent))
        .unwrap_or_else(|| HomeOwner::Agent(scope.to_owned()))
}

/// Whose memory a file is.
pub(super) fn owner(path: &str) -> HomeOwner {
    scope_folder(path).map_or(HomeOwner::Person, |(owner, _)| owner)
}

/// The entries of a file: each line that is no heading.
pub(super) fn entries(path: &str, text: &str) -> Vec<HomeEntry> {
    let day = path
        .rsplit('/')
        .next()
        .and_then(|name| name.strip_suffix(".md"))
        .and_then(|day| time_of(&format!("{day}T00:00:00Z")));
    let mut entries = Vec::new();
    for line in lines(text) {
        let trimmed = line.text.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let (before, at) = match id_before(line.text) {
            Some((before, id)) => (before, time_of_id(id).or(day)),
            None => (item_marker(line.text).unwrap_or(0), day),
        };
        entries.extend(
            facts(text, &line, before)
                .into_iter()
                .map(|entry| HomeEntry { at, ..entry }),
        );
    }
    entries
}

/// The bytes before the text of a line with an id, and the id: `- [id=…] `.
fn id_before(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start().strip_prefix("- [id=")?;
    let (id, text) = rest.split_once(']')?;
    let text = text.trim_start();
    (!text.is_empty()).then(|| (line.len() - text.len(), id))
}

/// The time in an id such as `m_20260301120000_0a1b2c3d`.
fn time_of_id(id: &str) -> Option<Timestamp> {
    let digits = id.strip_prefix("m_")?.get(..14)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let [date, time] = [&digits[..8], &digits[8..]];
    let date = format!("{}-{}-{}", &date[..4], &date[4..6], &date[6..]);
    let time = format!("{}:{}:{}", &time[..2], &time[2..4], &time[4..]);
    time_of(&format!("{date}T{time}Z"))
}

/// The facts of a line behind `before` bytes: one, or those that a flush joined.
fn facts(text: &str, line: &FileLine<'_>, before: usize) -> Vec<HomeEntry> {
    let words = line.words_after(before);
    let said = &text[words.clone()];
    let whole = line.start..line.end;
    let flushed = said
        .strip_prefix(FLUSHED)
        .and_then(|rest| rest.split_once("] "));
    let Some((_, facts)) = flushed else {
        return vec![HomeEntry::new(text, whole, words, line.number)];
    };
    let mut start = words.end - facts.len();
    let mut entries = Vec::new();
    for fact in facts.split(SEPARATOR) {
        let end = start + fact.len();
        if !fact.trim().is_empty() {
            entries.push(HomeEntry::new(text, whole.clone(), start..end, line.number));
        }
        start = end + SEPARATOR.len();
    }
    entries
}
