//! The model that is asked: it reads the transcript that it is shown, and answers with words of it.
//!
//! Its answers are well-formed, quote persons and cite the events that they quote, so that they are kept.
//! Every tenth window needs a second request: where an answer has a form, the first misses it and is
//! repaired, by turns in a field of the wrong type and in fields that are missing; where it has none, the
//! first is cut off and less of the window is shown. It counts what reaches it.

use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::model::{Message, Role};
use daybook_engine::extract::model::Dialect;
use daybook_llm::{Tokenizer as _, Vocabulary};
use daybook_testkit::llm_server::{Asked, AskedForm, Behaviour, Script};
use serde_json::json;

/// One window in so many needs a second request.
pub(super) const EVERY: u64 = 10;
/// Tokens of a window of which half is still worth asking about.
const LONG: u64 = 500;
/// Whose tokens are counted.
pub(super) const VOCABULARY: Vocabulary = Vocabulary::O200k;
/// Most of a person's messages that an answer quotes.
const QUOTED: usize = 5;
/// Most characters of a quotation.
const QUOTATION: usize = 200;

/// What has reached the model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard {
    /// Windows that it was asked about.
    pub(super) windows: u64,
    /// Requests, second ones included.
    pub(super) requests: u64,
    /// Tokens of the windows as they were shown first.
    pub(super) rendered: u64,
    /// Tokens of all messages, and of the schemas that went beside them.
    pub(super) sent: u64,
    /// Of these, prompts and schemas of first requests.
    pub(super) prompts: u64,
    /// Of these, second requests.
    pub(super) again: u64,
    /// Windows that took a second request.
    faults: u64,
    /// The next request is the second about a window.
    faulted: bool,
}

/// The model's side of one run. Windows come one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    heard: Arc<Mutex<Heard>>,
    /// The window that it was shown last: a repair of a form alone does not show it again.
    shown: Arc<Mutex<String>>,
}

impl Model {
    pub(super) fn heard(&self) -> Heard {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window that a request is about.
    fn shown(&self, asked: &Asked) -> String {
        let mut last = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = transcript(asked);
        if !shown.is_empty() {
            *last = shown;
        }
        last.clone()
    }

    /// What a provider does that serves this model to an extractor of `dialect`.
    pub(super) fn script(&self, dialect: Dialect) -> Script {
        let model = self.clone();
        Script::answering(move |asked| {
            let transcript = model.shown(asked);
            let mut heard = model.heard.lock().unwrap_or_else(PoisonError::into_inner);
            let [prompt, schema, rest] = sent(asked);
            heard.requests += 1;
            heard.sent += prompt + schema + rest;
            match heard.faulted {
                true => heard.again += prompt + schema + rest,
                false => heard.prompts += prompt + schema,
            }
            let mut faults = false;
            if !heard.faulted {
                let tokens = u64::from(VOCABULARY.count(&transcript));
                heard.windows += 1;
                heard.rendered += tokens;
                faults = heard.windows / EVERY > heard.faults && tokens >= LONG;
            }
            heard.faulted = faults;
            heard.faults += u64::from(faults);
            match faults {
                true => fault(dialect, heard.faults, &quotations(&transcript)),
                false => Behaviour::answer(answer(dialect, &quotations(&transcript))),
            }
        })
    }
}

/// The tokens of a request: of its prompt, of the form that is demanded beside messages, of the rest.
fn sent(asked: &Asked) -> [u64; 3] {
    let count = |text: &str| u64::from(VOCABULARY.count(text));
    let schema = match &asked.form {
        AskedForm::Schema(schema) => count(&schema.to_string()),
        AskedForm::Json | AskedForm::Free => 0,
    };
    let (system, others): (Vec<_>, Vec<_>) =
        (asked.messages.iter()).partition(|it| it.role == Role::System);
    let all = |messages: Vec<&Message>| messages.iter().map(|it| count(&it.text)).sum();
    [all(system), schema, all(others)]
}

/// The window as it is shown; it may be spread over several messages.
fn transcript(asked: &Asked) -> String {
    let shown = asked.messages.iter().filter(|it| it.role == Role::User);
    let shown: String = shown.map(|it| it.text.as_str()).collect();
    let (_, behind) = shown.split_once("<transcript>\n").unwrap_or_default();
    let (transcript, _) = behind.rsplit_once("\n</transcript>").unwrap_or_default();
    transcript.to_owned()
}

/// A person's words, and the number of the event if events have numbers.
type Quotation = (Option<u64>, String);

/// The beginnings of the first things that persons say in a transcript, however it is rendered.
fn quotations(transcript: &str) -> Vec<Quotation> {
    let mut quotations = Vec::new();
    let mut lines = transcript.lines();
    while let Some(line) = lines.next() {
        let said = match line {
            "## User" => lines.nth(1).map(|said| (None, said.to_owned())),
            "[human user]" => lines.next().and_then(content).map(|said| (None, said)),
            line => numbered(line).or_else(|| {
                let said = line.strip_prefix("user: ")?;
                Some((None, said.to_owned()))
            }),
        };
        quotations.extend(said.map(|(number, said)| (number, beginning(&said))));
        if quotations.len() == QUOTED {
            break;
        }
    }
    quotations
}

/// `[12 human] words`
fn numbered(line: &str) -> Option<Quotation> {
    let (number, said) = line.strip_prefix('[')?.split_once(" human] ")?;
    Some((Some(number.parse().ok()?), said.to_owned()))
}

/// A message as JSON.
fn content(line: &str) -> Option<String> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    Some(message["content"].as_str()?.to_owned())
}

fn beginning(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    line.chars().take(QUOTATION).collect()
}

/// What keeps a window from being settled with one request.
fn fault(dialect: Dialect, number: u64, quoted: &[Quotation]) -> Behaviour {
    match dialect {
        Dialect::Extract if number.is_multiple_of(2) => {
            let told = answer(dialect, quoted);
            Behaviour::answer(told.replace("\"slug\":\"what was wanted\"", "\"slug\":7"))
        }
        Dialect::Extract => Behaviour::AnswerJson(json!({"observations": []})),
        Dialect::StageOne => Behaviour::AnswerJson(json!({"raw_memory": ""})),
        Dialect::Observations | Dialect::MemoryAgent => {
            Behaviour::Length("<observations><observation>".to_owned())
        }
        Dialect::SilentTurn => Behaviour::Length("- I could go on".to_owned()),
    }
}

fn answer(dialect: Dialect, quoted: &[Quotation]) -> String {
    let lines: Vec<String> = quoted.iter().map(|(_, said)| format!("- {said}")).collect();
    let summary = match quoted.first() {
        Some((_, said)) => format!("Wanted: {said}"),
        None => String::new(),
    };
    match dialect {
        Dialect::Extract => {
            let observations: Vec<_> = quoted.iter().map(observation).collect();
            let told = json!({
                "observations": observations,
                "summary": summary,
                "slug": "what was wanted",
                "raw_memory": lines.join("\n"),
            });
            told.to_string()
        }
        Dialect::StageOne => {
            let told = json!({
                "rollout_summary": summary,
                "rollout_slug": "what_was_wanted",
                "raw_memory": lines.join("\n"),
            });
            told.to_string()
        }
        Dialect::Observations | Dialect::MemoryAgent if lines.is_empty() => {
            "<observations/>".to_owned()
        }
        Dialect::Observations | Dialect::MemoryAgent => {
            let escaped = |said: &str| said.replace('&', "&amp;").replace('<', "&lt;");
            let said = quoted.iter().map(|(_, said)| {
                let text = escaped(said);
                format!(
                    "<observation kind=\"fact\" stated=\"true\"><text>{text}</text>\
                     <context>What was wanted.</context></observation>"
                )
            });
            let said: Vec<String> = said.collect();
            format!("<observations>{}</observations>", said.join("\n"))
        }
        Dialect::SilentTurn if lines.is_empty() => "NO_REPLY".to_owned(),
        Dialect::SilentTurn => lines.join("\n"),
    }
}

fn observation((number, said): &Quotation) -> serde_json::Value {
    json!({
        "kind": "fact",
        "text": said,
        "context": null,
        "subject": null,
        "events": number.iter().collect::<Vec<_>>(),
        "stated": true,
        "general": false,
    })
}
