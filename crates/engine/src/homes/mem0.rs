//! Memories that mem0 exported: a JSON list of objects with `memory`, or an object with such a list.
//!
//! Where the memories of several users are in one file, each user's are a file of their own, whose name ends with the
//! user's: no user's words become another's memory.

use std::collections::BTreeSet;

use serde_json::Value;

use super::entry::{HomeEntry, HomeOwner, one_line};
use crate::transcripts::time_of;

/// Separates the name of the file from a user's.
pub(super) const USER: char = '#';
/// Names of the list in an object.
const LISTS: [&str; 3] = ["results", "memories", "data"];

/// The memories in a document; `None` where it is no export.
fn memories(text: &str) -> Option<Vec<Value>> {
    let mut document: Value = serde_json::from_str(text).ok()?;
    let list = match &mut document {
        Value::Object(fields) => LISTS.iter().find_map(|name| fields.remove(*name))?,
        list => list.take(),
    };
    let Value::Array(list) = list else {
        return None;
    };
    let is_memory = |one: &Value| one["memory"].is_string() && one["id"].is_string();
    list.first().is_some_and(is_memory).then_some(list)
}

/// The names under which an export's memories are taken over: that of the file, or one for each of several users;
/// `None` where it is no export.
pub(super) fn parts(name: &str, text: &str) -> Option<Vec<String>> {
    let memories = memories(text)?;
    let users: BTreeSet<&str> = memories
        .iter()
        .filter_map(|one| one["user_id"].as_str())
        .collect();
    Some(match users.len() {
        0 | 1 => vec![name.to_owned()],
        _ => users
            .into_iter()
            .map(|user| format!("{name}{USER}{user}"))
            .collect(),
    })
}

/// Whose memory a part is.
pub(super) fn owner(path: &str) -> HomeOwner {
    match path.split_once(USER) {
        Some((_, user)) => HomeOwner::User(user.to_owned()),
        None => HomeOwner::Person,
    }
}

/// The entries of a part.
pub(super) fn entries(path: &str, text: &str) -> Vec<HomeEntry> {
    let user = path.split_once(USER).map(|(_, user)| user);
    let mut entries = Vec::new();
    let mut end = 0;
    for one in memories(text).unwrap_or_default() {
        let (Some(words), Some(id)) = (one["memory"].as_str(), one["id"].as_str()) else {
            continue;
        };
        if user.is_some() && one["user_id"].as_str() != user {
            continue;
        }
        // An id stands once in an export: its line is the memory's.
        let start = text[end..].find(id).map_or(end, |found| end + found);
        end = start;
        let line = text[..start].matches('\n').count() + 1;
        let time = |name: &str| one[name].as_str().and_then(time_of);
        let categories = one["categories"].as_array().into_iter().flatten();
        let categories: Vec<&str> = categories.filter_map(Value::as_str).collect();
        entries.push(HomeEntry {
            text: one_line(words),
            at: time("updated_at").or(time("created_at")),
            context: (!categories.is_empty()).then(|| categories.join(", ")),
            ..HomeEntry::new(text, start..start, start..start, line)
        });
    }
    entries
}
