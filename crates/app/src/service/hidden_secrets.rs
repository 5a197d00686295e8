//! Counts what was hidden in the stored events, by rule and place.
//!
//! The markers are counted, so the counts are right whatever came in by which way and whatever was removed since.
//!
//! Not here: how many secrets an import met in each file (`TranscriptSource::secrets`).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_domain::{Event, EventSeq, Origin, Session};
use serde::Serialize;

use crate::wiring::Daybook;

/// Most events that are read at once, and most bytes of their text.
const EVENTS: usize = 1_000;
const BYTES: usize = 8 * 1024 * 1024;

/// What one rule has hidden.
#[derive(Debug, Default, Serialize)]
pub(crate) struct HiddenByRule {
    /// How often, in each place.
    pub(crate) places: BTreeMap<&'static str, u64>,
    /// How many different secrets these are, of those whose marker tells.
    pub(crate) different: usize,
    #[serde(skip)]
    fingerprints: BTreeSet<String>,
}

/// The rules that have hidden something, by name.
pub(crate) type HiddenSecrets = BTreeMap<String, HiddenByRule>;

/// Counts the markers in all sessions of the tenant: in texts each, in names once for each name.
pub(crate) async fn count_hidden(daybook: &Daybook) -> Result<HiddenSecrets> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let mut counter = MarkerCounter::default();
    for session in read_all(|page| store.sessions(tenant, page)).await? {
        counter.count_session(&session);
        let mut after = EventSeq(0);
        loop {
            let events = store
                .events(&session.id, after, session.events, EVENTS, BYTES)
                .await?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            events.iter().for_each(|event| counter.count_event(event));
        }
    }
    let mut hidden = counter.hidden;
    for rule in hidden.values_mut() {
        rule.different = rule.fingerprints.len();
    }
    Ok(hidden)
}

#[derive(Default)]
struct MarkerCounter {
    hidden: HiddenSecrets,
    /// Names with a marker that were counted.
    counted: BTreeSet<(&'static str, String)>,
}

impl MarkerCounter {
    fn count_session(&mut self, session: &Session) {
        self.count_name("agents", Some(&session.id.agent));
        self.count_name("users", session.user.as_deref());
        self.count_name("surfaces", session.surface.as_deref());
    }

    fn count_event(&mut self, event: &Event) {
        let place = match event.origin {
            Origin::Human => "messages of people",
            Origin::Assistant => "messages of agents",
            Origin::ToolCall => "tool calls",
            Origin::ToolResult => "tool results",
            Origin::Harness | Origin::Synthetic => "lines of hosts",
            Origin::Recalled | Origin::Retraction => "recalled memory",
        };
        self.count(place, &event.text);
        self.count_name("names of tools", event.tool.as_deref());
        let at = event.place.as_ref();
        self.count_name("folders", at.map(|at| at.root.as_str()));
        self.count_name("branches", at.and_then(|at| at.branch.as_deref()));
    }

    fn count_name(&mut self, place: &'static str, name: Option<&str>) {
        let Some(name) = name.filter(|name| markers(name).next().is_some()) else {
            return;
        };
        if self.counted.insert((place, name.to_owned())) {
            self.count(place, name);
        }
    }

    fn count(&mut self, place: &'static str, text: &str) {
        for (rule, fingerprint) in markers(text) {
            let rule = self.hidden.entry(rule.to_owned()).or_default();
            *rule.places.entry(place).or_default() += 1;
            rule.fingerprints.extend(fingerprint.map(str::to_owned));
        }
    }
}

/// The rule and the fingerprint of each marker: `[REDACTED:password:k3x9]`.
fn markers(text: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let is_name = |name: &str| {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=40).contains(&name.len()) && name.chars().all(is_letter)
    };
    let inside = text.split("[REDACTED:").skip(1);
    let inside = inside.filter_map(|rest| Some(rest.split_once(']')?.0));
    let markers = inside.map(|inside| match inside.split_once(':') {
        Some((rule, fingerprint)) => (rule, Some(fingerprint)),
        None => (inside, None),
    });
    markers.filter(move |(rule, _)| is_name(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_a_rule_and_may_have_a_fingerprint() {
        let text =
            "a [REDACTED:password:k3x9] [REDACTED:github-token][REDACTED:no end, [REDACTED:x y]";
        let found: Vec<_> = markers(text).collect();
        assert_eq!(found, [("password", Some("k3x9")), ("github-token", None)]);
    }
}
