//! Adds, updates and removes our hooks in a host's JSON settings.
//!
//! `hooks` holds a list for each event. In most hosts its entries are groups of handlers; Cursor and Copilot CLI list the
//! handlers themselves. Setup keeps one entry of our own for each event, at the end of the list, and updates it in place:
//! Codex identifies the hooks that a person trusts by their position.
//!
//! Not here: which events and commands (`host`), and positions in the text (`json`).

use anyhow::{Result, bail};
use jsonc_parser::ast::{Array, Object, Value};

use super::command::is_ours;
use super::json::{Document, EntrySpans, Json, member, span};

/// How a host writes the hooks of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookLayout {
    /// A list of groups, each with a list of handlers.
    Groups,
    /// A list of handlers, in a file that names version 1 of the format.
    Handlers,
}

/// The hooks of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookGroup {
    pub(super) event: &'static str,
    pub(super) layout: HookLayout,
    /// One handler alone in [`HookLayout::Handlers`].
    pub(super) handlers: Vec<HookHandler>,
}

/// One command of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookHandler {
    pub(super) command: String,
    /// When the host ends it: the name of that member, and its value in the host's unit.
    pub(super) timeout: (&'static str, u32),
    /// Whether the host does not wait for it.
    pub(super) in_background: bool,
}

/// A new file of [`HookLayout::Handlers`].
const VERSIONED: &str = "{\n  \"version\": 1\n}\n";

/// More edits than any settings file needs, so that a defect cannot loop forever.
const MOST_EDITS: usize = 10_000;

/// Edits `text` so that it has exactly the groups `wanted` of ours, each once.
pub(super) fn settle(text: &str, wanted: &[HookGroup]) -> Result<String> {
    let mut text = text.to_owned();
    for _ in 0..MOST_EDITS {
        match next_edit(&text, wanted)? {
            Some(next) => text = next,
            None => return Ok(text),
        }
    }
    bail!("it could not be brought to rest")
}

/// Removes our entries from parsed settings, and empty containers that their removal may have left.
pub(super) fn strip(root: &mut serde_json::Value) {
    let Some(hooks) = root
        .get_mut("hooks")
        .and_then(|hooks| hooks.as_object_mut())
    else {
        return;
    };
    for groups in hooks
        .values_mut()
        .filter_map(|groups| groups.as_array_mut())
    {
        groups.retain_mut(|group| {
            let is_ours =
                |handler: &serde_json::Value| handler["command"].as_str().is_some_and(is_ours);
            let handlers = group.get_mut("hooks").and_then(|list| list.as_array_mut());
            let Some(handlers) = handlers else {
                return !is_ours(group);
            };
            let had = handlers.len();
            handlers.retain(|handler| !is_ours(handler));
            handlers.len() == had || !handlers.is_empty()
        });
    }
    hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    if hooks.is_empty() {
        root.as_object_mut().map(|root| root.remove("hooks"));
    }
}

/// Makes the next edit; `None` when no edit is needed.
fn next_edit(text: &str, wanted: &[HookGroup]) -> Result<Option<String>> {
    let document = Document::parse(text)?;
    let root = match &document.root {
        Some(Value::Object(root)) => root,
        Some(_) => bail!("it holds something other than an object"),
        None if wanted.is_empty() => return Ok(None),
        None if text.trim().is_empty() => {
            let versioned = wanted
                .iter()
                .any(|group| group.layout == HookLayout::Handlers);
            return Ok(Some(if versioned { VERSIONED } else { "{}\n" }.to_owned()));
        }
        None => bail!("it holds comments alone"),
    };
    let (place, hooks) = match member(root, "hooks") {
        Some((place, Value::Object(hooks))) => (place, hooks),
        Some((_, other)) => bail!("its \"hooks\" is {}, not an object", kind(other)),
        None if wanted.is_empty() => return Ok(None),
        None => {
            let events = wanted
                .iter()
                .map(|group| (group.event, Json::List(vec![group.json()])));
            let value = Json::Object(events.collect());
            return Ok(Some(document.appended(
                &EntrySpans::of_object(root),
                Some("hooks"),
                &value,
            )));
        }
    };
    for at in 0..hooks.properties.len() {
        let wants = wanted
            .iter()
            .find(|group| group.event == hooks.properties[at].name.as_str());
        let Value::Array(groups) = &hooks.properties[at].value else {
            match wants {
                Some(group) => bail!(
                    "its \"{}\" is {}, not a list",
                    group.event,
                    kind(&hooks.properties[at].value)
                ),
                None => continue,
            }
        };
        if let Some(found) = settle_event(&document, groups, wants) {
            let EventEdit::Remove(group) = found else {
                return Ok(found.text());
            };
            // Containers that held only our entries are removed, too.
            let spans = match (groups.elements.len(), hooks.properties.len()) {
                (1, 1) => return Ok(Some(document.without(&EntrySpans::of_object(root), place))),
                (1, _) => return Ok(Some(document.without(&EntrySpans::of_object(hooks), at))),
                _ => EntrySpans::of_list(groups),
            };
            return Ok(Some(document.without(&spans, group)));
        }
    }
    Ok(add_missing(&document, hooks, wanted))
}

/// The edit that an event needs.
enum EventEdit {
    Edited(String),
    /// Remove the group at this index.
    Remove(usize),
}

impl EventEdit {
    fn text(self) -> Option<String> {
        match self {
            Self::Edited(text) => Some(text),
            Self::Remove(_) => None,
        }
    }
}

fn settle_event(
    document: &Document<'_>,
    groups: &Array<'_>,
    wants: Option<&HookGroup>,
) -> Option<EventEdit> {
    let mut standing = wants;
    for (at, value) in groups.elements.iter().enumerate() {
        let commands = commands(value);
        let ours = |command: &Option<&str>| command.is_some_and(is_ours);
        let count = commands.iter().filter(|command| ours(command)).count();
        if count == 0 {
            continue;
        }
        if count < commands.len() {
            // A handler of another program shares the group; only ours may be changed.
            let mine = commands.iter().position(ours)?;
            let text = document.without(&EntrySpans::of_list(handlers(value)?), mine);
            return Some(EventEdit::Edited(text));
        }
        let Some(group) = standing.take() else {
            return Some(EventEdit::Remove(at));
        };
        // A timeout that the person has changed stays, as long as the commands are right.
        let right = group
            .handlers
            .iter()
            .map(|handler| Some(handler.command.as_str()));
        if !right.eq(commands) {
            let text = document.replaced(span(value), &group.json());
            return Some(EventEdit::Edited(text));
        }
    }
    None
}

/// Adds the first group that is missing.
fn add_missing(
    document: &Document<'_>,
    hooks: &Object<'_>,
    wanted: &[HookGroup],
) -> Option<String> {
    wanted
        .iter()
        .find_map(|group| match member(hooks, group.event) {
            Some((_, Value::Array(groups))) => {
                let has = groups.elements.iter().any(|value| {
                    let mut commands = commands(value).into_iter().flatten();
                    commands.any(is_ours)
                });
                let spans = EntrySpans::of_list(groups);
                (!has).then(|| document.appended(&spans, None, &group.json()))
            }
            Some(_) => None,
            None => {
                let spans = EntrySpans::of_object(hooks);
                let value = Json::List(vec![group.json()]);
                Some(document.appended(&spans, Some(group.event), &value))
            }
        })
}

fn handlers<'b, 'a>(group: &'b Value<'a>) -> Option<&'b Array<'a>> {
    let (_, list) = member(group.as_object()?, "hooks")?;
    list.as_array()
}

/// The commands of a group's handlers, or of an entry that is a handler itself.
fn commands<'b>(entry: &'b Value<'_>) -> Vec<Option<&'b str>> {
    match handlers(entry) {
        Some(handlers) => handlers.elements.iter().map(command).collect(),
        None => vec![command(entry)],
    }
}

fn command<'b>(handler: &'b Value<'_>) -> Option<&'b str> {
    let (_, command) = member(handler.as_object()?, "command")?;
    Some(&command.as_string_lit()?.value)
}

impl HookGroup {
    fn json(&self) -> Json {
        let mut handlers = self.handlers.iter().map(HookHandler::json);
        match self.layout {
            HookLayout::Groups => Json::Object(vec![("hooks", Json::List(handlers.collect()))]),
            HookLayout::Handlers => handlers.next().unwrap_or(Json::Object(Vec::new())),
        }
    }
}

impl HookHandler {
    fn json(&self) -> Json {
        let mut members = vec![
            ("type", Json::Text("command".to_owned())),
            ("command", Json::Text(self.command.clone())),
            (self.timeout.0, Json::Number(self.timeout.1)),
        ];
        if self.in_background {
            members.push(("async", Json::True));
        }
        Json::Object(members)
    }
}

/// The type of a value, for people.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "true or false",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
