//! A scripted model that answers with quotations from the transcript it is shown, and counts the requests.
//!
//! Its answers are well-formed, quote persons and cite the quoted events, so that the engine keeps them. Every tenth
//! window needs a second request. Where an answer has a schema, the first answer violates it and is repaired: by turns a
//! field of the wrong type, and missing fields. Without a schema, the first answer is cut off, and the second request shows
//! less of the window.

use std::sync::{Arc, Mutex, PoisonError};

use daybook_domain::model::{Message, Role};
use daybook_engine::extract::model::Dialect;
use daybook_llm::{TokenVocabulary, Tokenizer as _};
use daybook_testkit::llm_server::{Behaviour, RecordedRequest, RequestedForm, Script};
use serde_json::json;

/// One window in so many needs a second request.
pub(super) const EVERY: u64 = 10;
/// Tokens of a window of which half is still worth asking about.
const LONG: u64 = 500;
/// The vocabulary that tokens are counted with.
pub(super) const VOCABULARY: TokenVocabulary = TokenVocabulary::O200k;
/// Most of a person's messages that an answer quotes.
const QUOTED: usize = 5;
/// Most characters of a quotation.
const QUOTATION: usize = 200;

/// Totals of the requests to the model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestTotals {
    /// Windows in the requests.
    pub(super) windows: u64,
    /// Requests, second ones included.
    pub(super) requests: u64,
    /// Tokens of the windows as first shown.
    pub(super) rendered: u64,
    /// Tokens of all messages and schemas.
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
pub(super) struct QuotingModel {
    totals: Arc<Mutex<RequestTotals>>,
    /// The last window: a repair of the answer's form does not repeat it.
    shown: Arc<Mutex<String>>,
}

impl QuotingModel {
    pub(super) fn totals(&self) -> RequestTotals {
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window that a request is about.
    fn shown(&self, asked: &RecordedRequest) -> String {
        let mut last = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = transcript(asked);
        if !shown.is_empty() {
            *last = shown;
        }
        last.clone()
    }

    /// The script of a provider that serves this model to an extractor of `dialect`.
    pub(super) fn script(&self, dialect: Dialect) -> Script {
        let model = self.clone();
        Script::answering(move |asked| {
            let transcript = model.shown(asked);
            let mut totals = model.totals.lock().unwrap_or_else(PoisonError::into_inner);
            let [prompt, schema, rest] = sent(asked);
            totals.requests += 1;
            totals.sent += prompt + schema + rest;
            match totals.faulted {
                true => totals.again += prompt + schema + rest,
                false => totals.prompts += prompt + schema,
            }
            let mut faults = false;
            if !totals.faulted {
                let tokens = u64::from(VOCABULARY.count(&transcript));
                totals.windows += 1;
                totals.rendered += tokens;
                faults = totals.windows / EVERY > totals.faults && tokens >= LONG;
            }
            totals.faulted = faults;
            totals.faults += u64::from(faults);
            match faults {
                true => fault(dialect, totals.faults, &quotations(&transcript)),
                false => Behaviour::answer(answer(dialect, &quotations(&transcript))),
            }
        })
    }
}

/// The tokens of a request: of its prompt, of its schema, and of the rest.
fn sent(asked: &RecordedRequest) -> [u64; 3] {
    let count = |text: &str| u64::from(VOCABULARY.count(text));
    let schema = match &asked.form {
        RequestedForm::Schema(schema) => count(&schema.to_string()),
        RequestedForm::Json | RequestedForm::Free => 0,
    };
    let (system, others): (Vec<_>, Vec<_>) =
        (asked.messages.iter()).partition(|it| it.role == Role::System);
    let all = |messages: Vec<&Message>| messages.iter().map(|it| count(&it.text)).sum();
    [all(system), schema, all(others)]
}

/// The window in a request, which may span several messages.
fn transcript(asked: &RecordedRequest) -> String {
    let shown = asked.messages.iter().filter(|it| it.role == Role::User);
    let shown: String = shown.map(|it| it.text.as_str()).collect();
    let (_, behind) = shown.split_once("<transcript>\n").unwrap_or_default();
    let (transcript, _) = behind.rsplit_once("\n</transcript>").unwrap_or_default();
    transcript.to_owned()
}

/// A person's words, and the number of their event in numbered renderings.
type Quotation = (Option<u64>, String);

/// The beginnings of the first human messages of a transcript, in any rendering.
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

/// The faulty first answer of a window that needs a second request.
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
