//! Our hooks in a host's JSON settings: put in, brought up to date, taken out.
//!
//! Both hosts lay hooks out alike: `hooks` holds a list of groups for each event, and a group holds
//! handlers. We keep to one group of our own for each event, at the end of the list, and bring it up
//! to date in its place: Codex remembers which hooks a person trusts by their number.
//!
//! Not here: which events and commands (`host`), and text places (`json`).

use anyhow::{Result, bail};
use jsonc_parser::ast::{Array, Object, Value};

use super::command::is_ours;
use super::json::{Document, Json, Seats, member, span};

/// What one event is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) event: &'static str,
    pub(super) handlers: Vec<Handler>,
}

/// One command of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handler {
    pub(super) command: String,
    /// Seconds until the host ends it.
    pub(super) timeout: u32,
    /// Whether the host is to go on without waiting for it.
    pub(super) in_background: bool,
}

/// More edits than a settings file can ask for; a bug ends here instead of never.
const MOST_EDITS: usize = 10_000;

/// `text` with exactly the groups `wanted` of ours, each once.
pub(super) fn settle(text: &str, wanted: &[Group]) -> Result<String> {
    let mut text = text.to_owned();
    for _ in 0..MOST_EDITS {
        match step(&text, wanted)? {
            Some(next) => text = next,
            None => return Ok(text),
        }
    }
    bail!("it could not be brought to rest")
}

/// What a program reads there, without anything of ours and the empty places that we may have left.
pub(super) fn others(text: &str) -> Result<serde_json::Value> {
    let document = Document::parse(text)?;
    let mut root = document.root.map_or_else(
        || serde_json::Value::Object(serde_json::Map::new()),
        serde_json::Value::from,
    );
    let Some(hooks) = root
        .get_mut("hooks")
        .and_then(|hooks| hooks.as_object_mut())
    else {
        return Ok(root);
    };
    for groups in hooks
        .values_mut()
        .filter_map(|groups| groups.as_array_mut())
    {
        groups.retain_mut(|group| {
            let handlers = group.get_mut("hooks").and_then(|list| list.as_array_mut());
            let Some(handlers) = handlers else {
                return true;
            };
            let had = handlers.len();
            handlers.retain(|handler| !handler["command"].as_str().is_some_and(is_ours));
            handlers.len() == had || !handlers.is_empty()
        });
    }
    hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    if hooks.is_empty() {
        root.as_object_mut().map(|root| root.remove("hooks"));
    }
    Ok(root)
}

/// The next edit, or `None` when all is as wanted.
fn step(text: &str, wanted: &[Group]) -> Result<Option<String>> {
    let document = Document::parse(text)?;
    let root = match &document.root {
        Some(Value::Object(root)) => root,
        Some(_) => bail!("it holds something other than an object"),
        None if wanted.is_empty() => return Ok(None),
        None if text.trim().is_empty() => return Ok(Some("{}\n".to_owned())),
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
                &Seats::of_object(root),
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
            let Settled::Remove(group) = found else {
                return Ok(found.text());
            };
            // Places that held nothing but ours go with it.
            let seats = match (groups.elements.len(), hooks.properties.len()) {
                (1, 1) => return Ok(Some(document.without(&Seats::of_object(root), place))),
                (1, _) => return Ok(Some(document.without(&Seats::of_object(hooks), at))),
                _ => Seats::of_list(groups),
            };
            return Ok(Some(document.without(&seats, group)));
        }
    }
    Ok(missing(&document, hooks, wanted))
}

/// The edit that an event needs.
enum Settled {
    Edited(String),
    /// The group of that number goes.
    Remove(usize),
}

impl Settled {
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
    wants: Option<&Group>,
) -> Option<Settled> {
    let mut standing = wants;
    for (at, value) in groups.elements.iter().enumerate() {
        let Some(handlers) = handlers(value) else {
            continue;
        };
        let commands: Vec<Option<&str>> = handlers.elements.iter().map(command).collect();
        let ours = |command: &Option<&str>| command.is_some_and(is_ours);
        let count = commands.iter().filter(|command| ours(command)).count();
        if count == 0 {
            continue;
        }
        if count < commands.len() {
            // Somebody else's handler shares the group; only ours may be touched.
            let mine = commands.iter().position(ours)?;
            let text = document.without(&Seats::of_list(handlers), mine);
            return Some(Settled::Edited(text));
        }
        let Some(group) = standing.take() else {
            return Some(Settled::Remove(at));
        };
        // A timeout that a person has changed stays, as long as the commands are right.
        let right = group
            .handlers
            .iter()
            .map(|handler| Some(handler.command.as_str()));
        if !right.eq(commands) {
            let text = document.replaced(span(value), &group.json());
            return Some(Settled::Edited(text));
        }
    }
    None
}

/// The text with the first group that is missing.
fn missing(document: &Document<'_>, hooks: &Object<'_>, wanted: &[Group]) -> Option<String> {
    wanted
        .iter()
        .find_map(|group| match member(hooks, group.event) {
            Some((_, Value::Array(groups))) => {
                let has = groups.elements.iter().any(|value| {
                    let mut handlers = handlers(value).into_iter().flat_map(|list| &list.elements);
                    handlers.any(|handler| command(handler).is_some_and(is_ours))
                });
                let seats = Seats::of_list(groups);
                (!has).then(|| document.appended(&seats, None, &group.json()))
            }
            Some(_) => None,
            None => {
                let seats = Seats::of_object(hooks);
                let value = Json::List(vec![group.json()]);
                Some(document.appended(&seats, Some(group.event), &value))
            }
        })
}

fn handlers<'b, 'a>(group: &'b Value<'a>) -> Option<&'b Array<'a>> {
    let (_, list) = member(group.as_object()?, "hooks")?;
    list.as_array()
}

fn command<'b>(handler: &'b Value<'_>) -> Option<&'b str> {
    let (_, command) = member(handler.as_object()?, "command")?;
    Some(&command.as_string_lit()?.value)
}

impl Group {
    fn json(&self) -> Json {
        let handlers = self.handlers.iter().map(Handler::json).collect();
        Json::Object(vec![("hooks", Json::List(handlers))])
    }
}

impl Handler {
    fn json(&self) -> Json {
        let mut members = vec![
            ("type", Json::Text("command".to_owned())),
            ("command", Json::Text(self.command.clone())),
            ("timeout", Json::Number(self.timeout)),
        ];
        if self.in_background {
            members.push(("async", Json::True));
        }
        Json::Object(members)
    }
}

/// What a value is, for people.
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
