//! Recognises a person's rule for the agent that they talk with: how it, as that agent, should work.
//!
//! Only a sentence that addresses the agent about itself counts: "you should always answer in short paragraphs", "as the harbour
//! bot, never promise a berth", "harbour-bot, greet in Norwegian". An order without such words ("always run the tests")
//! is about the work, and a wish ("I prefer tabs") is about the person.
//!
//! Not here: which scope it is filed in (`filing`).

use std::sync::LazyLock;

use daybook_domain::{Descriptor, Event, ObservationKind, Origin};
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use crate::extract::ObservationDraft;
use crate::transcripts::{chat, claude, codex};

/// Names in session ids that are no agent's own: hosts of coding sessions, the reader of chat files, threads without an
/// agent, and Daybook's notes.
const UNNAMED: [&str; 5] = [claude::AGENT, codex::AGENT, chat::AGENT, "agent", "daybook"];

/// Longest message whose every statement is about the agent when the message is addressed to it.
const SHORT_MESSAGE: usize = 400;

/// Phrases about the conduct of the agent that reads them, in the languages that extraction understands.
static ABOUT_YOU: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = [
        r"\byou (?:should|must|shall|may|need to|have to|ought to|are to|can)(?: (?:not|never|always|only))?\b",
        r"\byou(?:'re| are) (?:not )?(?:allowed|supposed|expected) to\b",
        r"\b(?:when|whenever|before|after|if) you (?:answer|reply|respond|speak|talk|write|greet|explain|summari[sz]e)\b",
        r"\byour (?:answers?|repl(?:y|ies)|responses?|tone|name|role|job|style|messages?|greetings?|personality)\b",
        r"\b(?:answer|reply|respond|speak|talk|greet|address) (?:me|us|people|everyone|users|customers|visitors|guests|in|with|briefly|politely|formally)\b",
        r"\b(?:du|sie) (?:sollst|solltest|musst|darfst|sollen|sollten|müssen|dürfen)\b",
        r"\b(?:deine|ihre) (?:antworten?|rolle|aufgabe)\b",
        r"\b(?:tu dois|vous devez|tu ne dois|vous ne devez|tes réponses|vos réponses)\b",
        r"\b(?:debes|deberías|tienes que|no debes|tus respuestas)\b",
    ]
    .join("|");
    constant_regex(&format!("(?i){pattern}"))
});

/// Whether sessions of this name are those of one agent with a memory of its own.
#[must_use]
pub fn is_named_agent(agent: &str) -> bool {
    !UNNAMED.contains(&agent) && Descriptor::of_key(agent).is_none()
}

/// Whether a stated draft is a rule for the agent itself. `said` are the person's messages that it rests on.
pub(super) fn is_agent_rule(agent: &str, draft: &ObservationDraft, said: &[&str]) -> bool {
    let may_be_rule = match draft.kind {
        ObservationKind::Correction | ObservationKind::Preference | ObservationKind::Decision => {
            true
        }
        ObservationKind::Fact
        | ObservationKind::Value
        | ObservationKind::Fix
        | ObservationKind::OpenEnd
        | ObservationKind::Note => false,
    };
    let mut addressed = said.iter().filter(|text| text.len() <= SHORT_MESSAGE);
    may_be_rule
        && (is_about_agent(agent, &draft.text) || addressed.any(|text| is_addressed(agent, text)))
}

/// Splits drafts that state both a rule for a named agent and something of the person: "You should always answer briefly.
/// I prefer espresso." Each part is filed where it is true.
pub(super) fn split_mixed(agent: &str, drafts: Vec<ObservationDraft>) -> Vec<ObservationDraft> {
    if !is_named_agent(agent) {
        return drafts;
    }
    let parts = |draft: ObservationDraft| {
        let of_person = |one: &&str| !is_about_agent(agent, one) && OF_PERSON.is_match(one);
        let (own, rules): (Vec<&str>, Vec<&str>) = sentences(&draft.text).partition(of_person);
        if own.is_empty() || !rules.iter().any(|one| is_about_agent(agent, one)) {
            return vec![draft];
        }
        [rules, own]
            .map(|part| ObservationDraft {
                text: part.join(" "),
                ..draft.clone()
            })
            .into()
    };
    drafts.into_iter().flat_map(parts).collect()
}

/// Drafts of the rules for a named agent in `events` that no draft rests on: extractors learn what concerns the work and
/// the person, and may pass over them.
pub(super) fn missing_rules(
    agent: &str,
    events: &[Event],
    drafts: &[ObservationDraft],
) -> Vec<ObservationDraft> {
    if !is_named_agent(agent) {
        return Vec::new();
    }
    let is_new = |event: &&Event| {
        let rests_on_it = |draft: &ObservationDraft| draft.events.contains(&event.seq);
        event.origin == Origin::Human
            && event.text.len() <= SHORT_MESSAGE
            && !drafts.iter().any(rests_on_it)
    };
    let rules = events.iter().filter(is_new).flat_map(|event| {
        let stated = sentences(&event.text).filter(|one| is_rule(agent, one));
        stated.map(|sentence| ObservationDraft {
            kind: ObservationKind::Preference,
            general: EVERYWHERE.is_match(sentence),
            text: sentence.to_owned(),
            quoted: true,
            context: None,
            subject: None,
            stated: true,
            events: vec![event.seq],
            lines: vec![event.line],
            at: event.at,
        })
    });
    rules.collect()
}

/// Whether a sentence states how the agent works from now on, and asks nothing.
fn is_rule(agent: &str, sentence: &str) -> bool {
    !sentence.ends_with('?') && LASTS.is_match(sentence) && is_about_agent(agent, sentence)
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split_inclusive(['.', '!', '?', '\n']);
    ends.map(str::trim).filter(|one| !one.is_empty())
}

/// What a person says of themselves.
static OF_PERSON: LazyLock<Regex> = LazyLock::new(|| {
    let verbs = "prefer|like|love|hate|dislike|use|want|am|have|live|work";
    let pattern = format!(
        r"(?i)\bI (?:always |never |usually |really |don't )?(?:{verbs})\b|\bI'm\b|\bmy (?:name|favou?rite)\b|\bich (?:mag|bevorzuge|hasse|bin|habe|wohne)\b|\bje (?:préfère|déteste|suis)\b|\bprefiero\b"
    );
    constant_regex(&pattern)
});

/// What makes an order one for all times.
static LASTS: LazyLock<Regex> = LazyLock::new(|| {
    let words = "always|never|from now on|every time|whenever|only ever|immer|nie|niemals|ab jetzt|toujours|\
                 jamais|siempre|nunca";
    constant_regex(&format!(r"(?i)\b(?:{words})\b"))
});

/// What makes it one for all places.
static EVERYWHERE: LazyLock<Regex> = LazyLock::new(|| {
    let words = "everywhere|in (?:every|all|any) (?:rooms?|projects?|teams?|conversations?)|überall|partout";
    constant_regex(&format!(r"(?i)\b(?:{words})\b"))
});

fn is_about_agent(agent: &str, text: &str) -> bool {
    ABOUT_YOU.is_match(text) || is_addressed(agent, text)
}

/// Whether a text calls the agent by its name, or gives it its role: "as the harbour bot", "harbour-bot, never …".
fn is_addressed(agent: &str, text: &str) -> bool {
    let (name, text) = (spoken(agent), spoken(text));
    let Some(rest) = text.strip_prefix(&name) else {
        let roles = [
            "as the",
            "as our",
            "as a",
            "as an",
            "as",
            "als",
            "en tant que",
            "como",
        ];
        let is_role = |role: &str| format!(" {text} ").contains(&format!(" {role} {name} "));
        return roles.iter().any(|role| is_role(role));
    };
    // "Harbour bot crashed" speaks of it, not to it.
    let orders = [
        "please", "always", "never", "do", "don", "you", "from", "in", "when", "bitte", "immer",
        "nie",
    ];
    let next = rest.trim_start().split(' ').next().unwrap_or_default();
    rest.starts_with(' ') && orders.contains(&next)
}

/// A text as it is spoken: words in lower case, one space apart, without marks.
fn spoken(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
