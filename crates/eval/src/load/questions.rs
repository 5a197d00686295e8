//! Loads users' own questions about stored sessions: a TOML file with `[[question]]` tables, or JSON lines.
//!
//! ```toml
//! [[question]]
//! question = "Which harbour are the tide tables for?"
//! class = "fact"
//! answer = "Oban"
//! evidence = ["7f78:L636-640", "2026/april.jsonl:L12,31"]
//! split = "report"
//!
//! [[question]]
//! question = "What did we do yesterday?"
//! asked = "2026-04-03"
//! evidence = ["7f78:L12"]
//!
//! [[question]]
//! question = "What colour is the boat?"
//! never = true
//! ```
//!
//! Evidence is a citation: a session by its label, the beginning of its id, or the end of its file's path,
//! and lines there. Each range of lines is one piece; without lines the whole session is.

use std::collections::BTreeSet;
use std::path::Path;

use daybook_domain::page::visit_all;
use daybook_domain::seams::Store;
use daybook_domain::source::TranscriptSource;
use daybook_domain::{
    Citation, Event, EventSeq, Session, SessionId, StoreError, Tenant, Timestamp,
};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::read;
use crate::dataset::{
    BenchmarkConversation, BenchmarkQuestion, Counting, Dataset, EventRef, EvidencePiece,
    SkippedItem, Split,
};
use crate::error::EvalError;

const FORMAT: &str = "questions";
/// Most events of one piece of evidence.
const EVENTS: usize = 10_000;

/// A file of questions. Evidence is text until [`WrittenQuestions::resolve`] looks it up in a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenQuestions {
    questions: Vec<WrittenQuestion>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenQuestion {
    question: String,
    #[serde(default = "unclassed")]
    class: String,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    evidence: Vec<String>,
    #[serde(default)]
    never: bool,
    #[serde(default)]
    split: Option<Split>,
    /// The day on which it is asked, for questions such as "what did we do yesterday?".
    #[serde(default)]
    asked: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlFile {
    #[serde(default)]
    question: Vec<WrittenQuestion>,
}

fn unclassed() -> String {
    "unclassed".to_owned()
}

/// Loads questions from a TOML file, or from JSON lines where the name ends in `.jsonl`.
///
/// # Errors
/// When the file cannot be read, holds no question, or one of them is damaged.
pub fn load_questions(path: &Path) -> Result<WrittenQuestions, EvalError> {
    let text = String::from_utf8(read(path)?)
        .map_err(|_| EvalError::malformed(path, FORMAT, "the file", "it is not UTF-8"))?;
    let is_lines = path
        .extension()
        .is_some_and(|extension| extension == "jsonl");
    let questions = match is_lines {
        true => json_lines(path, &text)?,
        false => toml_tables(path, &text)?,
    };
    if questions.is_empty() {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "write [[question]] tables in TOML, or one JSON object a line in a .jsonl file",
        });
    }
    for (n, written) in questions.iter().enumerate() {
        let has_day = written
            .asked
            .as_deref()
            .is_none_or(|day| noon(day).is_some());
        let problem = match (written.never, written.evidence.is_empty()) {
            (true, false) => "a question with `never = true` has no evidence",
            (false, true) => "it needs evidence such as \"7f78:L636-640\", or `never = true`",
            _ if !has_day => "`asked` is a day such as 2026-03-02",
            (true, true) | (false, false) => continue,
        };
        let place = format!("question {} ({})", n + 1, written.question);
        return Err(EvalError::malformed(path, FORMAT, place, problem));
    }
    Ok(WrittenQuestions { questions })
}

fn json_lines(path: &Path, text: &str) -> Result<Vec<WrittenQuestion>, EvalError> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let parse = |(n, line)| {
        serde_json::from_str(line).map_err(|error: serde_json::Error| {
            EvalError::malformed(path, FORMAT, format!("line {}", n + 1), error.to_string())
        })
    };
    lines.map(parse).collect()
}

fn toml_tables(path: &Path, text: &str) -> Result<Vec<WrittenQuestion>, EvalError> {
    let file: TomlFile = toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        EvalError::malformed(path, FORMAT, format!("line {line}"), error.message())
    })?;
    Ok(file.question)
}

impl WrittenQuestions {
    /// Resolves the evidence of the questions, of one split or all, to events of a memory.
    ///
    /// Evidence that the memory does not hold is skipped and reported; a question without other evidence is skipped too.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn resolve(
        &self,
        store: &dyn Store,
        tenant: &Tenant,
        split: Option<Split>,
    ) -> Result<Dataset, StoreError> {
        let mut left_out = Vec::new();
        let mut questions = Vec::new();
        for (n, written) in self.questions.iter().enumerate() {
            if split.is_none() || written.split == split {
                let id = format!("q{}", n + 1);
                let question = resolve(store, tenant, id, written, &mut left_out).await?;
                questions.extend(question);
            }
        }
        let conversation = BenchmarkConversation {
            id: FORMAT.to_owned(),
            participants: Vec::new(),
            sessions: Vec::new(),
            questions,
        };
        Ok(Dataset {
            name: FORMAT,
            conversations: vec![conversation],
            left_out,
        })
    }
}

async fn resolve(
    store: &dyn Store,
    tenant: &Tenant,
    id: String,
    written: &WrittenQuestion,
    left_out: &mut Vec<SkippedItem>,
) -> Result<Option<BenchmarkQuestion>, StoreError> {
    let drop = |evidence: Option<String>, reason| SkippedItem {
        conversation: FORMAT.to_owned(),
        question: id.clone(),
        evidence,
        reason,
    };
    let mut evidence = Vec::new();
    for citation in &written.evidence {
        match pieces(store, tenant, citation).await? {
            Ok(pieces) => evidence.extend(pieces),
            Err(reason) => left_out.push(drop(Some(citation.clone()), reason)),
        }
    }
    if evidence.is_empty() && !written.never {
        left_out.push(drop(None, "has no evidence"));
        return Ok(None);
    }
    Ok(Some(BenchmarkQuestion {
        id,
        text: written.question.clone(),
        class: written.class.clone(),
        answer: written.answer.clone(),
        evidence,
        counting: match written.never {
            true => Counting::Abstain,
            false => Counting::Counted,
        },
        split: written.split,
        asked: written
            .asked
            .as_deref()
            .and_then(noon)
            .unwrap_or(Timestamp::ZERO),
    }))
}

/// Noon of a day.
fn noon(day: &str) -> Option<Timestamp> {
    let noon = day.parse::<Date>().ok()?.at(12, 0, 0, 0);
    let noon = noon.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp(noon.timestamp().as_millisecond()))
}

/// The pieces of evidence that a citation names, or why there are none.
async fn pieces(
    store: &dyn Store,
    tenant: &Tenant,
    text: &str,
) -> Result<Result<Vec<EvidencePiece>, &'static str>, StoreError> {
    let Some(citation) = Citation::parse(text) else {
        return Ok(Err("is no citation such as 7f78:L636-640"));
    };
    let session = match find_session(store, tenant, &citation.session).await? {
        Ok(session) => session,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut pieces = Vec::new();
    if citation.lines.is_empty() {
        let (first, last) = (EventSeq(0), session.events);
        let events = store.events(&session.id, first, last, EVENTS, usize::MAX);
        pieces.push(EvidencePiece {
            is_session: true,
            ..piece(text, &session.id, &events.await?)
        });
    }
    for lines in &citation.lines {
        let events = store.events_at(&session.id, *lines, EVENTS).await?;
        pieces.push(piece(text, &session.id, &events));
    }
    match pieces.iter().any(|piece| piece.events.is_empty()) {
        true => Ok(Err("names lines without an event")),
        false => Ok(Ok(pieces)),
    }
}

fn piece(label: &str, session: &SessionId, events: &[Event]) -> EvidencePiece {
    let event = |event: &Event| EventRef {
        session: session.clone(),
        seq: event.seq,
    };
    EvidencePiece {
        label: label.to_owned(),
        is_session: false,
        events: events.iter().map(event).collect(),
    }
}

/// Finds a session by its label or id, otherwise by the end of its file's path.
async fn find_session(
    store: &dyn Store,
    tenant: &Tenant,
    name: &str,
) -> Result<Result<Session, &'static str>, StoreError> {
    let mut sessions = store.find_sessions(tenant, name).await?;
    if sessions.is_empty() {
        let mut ids: BTreeSet<SessionId> = BTreeSet::new();
        let add = |source: TranscriptSource| {
            if Path::new(&source.path).ends_with(name) {
                ids.extend(source.session);
            }
        };
        visit_all(|page| store.sources(tenant, page), add).await?;
        for id in &ids {
            sessions.extend(store.session(id).await?);
        }
    }
    Ok(match sessions.len() {
        0 => Err("names no session"),
        1 => Ok(sessions.remove(0)),
        _ => Err("names several sessions"),
    })
}

#[cfg(test)]
#[path = "questions_tests.rs"]
mod tests;
