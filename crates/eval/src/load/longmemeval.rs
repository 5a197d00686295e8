//! LongMemEval: each question has a history of its own, of a person's sessions with an assistant.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use daybook_domain::{SessionId, Timestamp};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use super::{in_words, read};
use crate::dataset::{
    BenchmarkConversation, BenchmarkQuestion, BenchmarkSession, BenchmarkSpeaker, BenchmarkTurn,
    Counting, Dataset, EventRef, EvidencePiece, SkippedItem, session_id,
};
use crate::error::EvalError;

const FORMAT: &str = "LongMemEval";
/// The format of `2026/03/15 (Sun) 10:12` without the day of the week.
const DATE: &str = "%Y/%m/%d %H:%M";
/// Part of the id of a question that the history does not answer.
const ABSTAIN: &str = "_abs";

#[derive(Deserialize)]
struct LongMemEvalInstance {
    question_id: String,
    question_type: String,
    question: String,
    #[serde(default)]
    answer: Value,
    haystack_session_ids: Vec<String>,
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<LongMemEvalMessage>>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct LongMemEvalMessage {
    role: LongMemEvalRole,
    content: String,
    #[serde(default)]
    has_answer: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum LongMemEvalRole {
    User,
    Assistant,
}

/// Loads LongMemEval from a file of questions with their histories.
///
/// Evidence is the turns that the file marks with `has_answer`, or, without any mark, the sessions that it names; any
/// turn of such a session covers it.
///
/// # Errors
/// When the file cannot be read or is not LongMemEval.
pub fn load_longmemeval(path: &Path) -> Result<Dataset, EvalError> {
    let instances: Vec<LongMemEvalInstance> = serde_json::from_slice(&read(path)?)
        .map_err(|error| EvalError::json(path, FORMAT, &error))?;
    if instances.is_empty() {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "the file is a list of questions with their histories",
        });
    }
    let mut left_out = Vec::new();
    let mut conversations = Vec::new();
    for instance in instances {
        conversations.push(conversation(path, instance, &mut left_out)?);
    }
    Ok(Dataset {
        name: FORMAT,
        conversations,
        left_out,
    })
}

fn conversation(
    path: &Path,
    instance: LongMemEvalInstance,
    left_out: &mut Vec<SkippedItem>,
) -> Result<BenchmarkConversation, EvalError> {
    let id = instance.question_id.clone();
    let (ids, dates) = (&instance.haystack_session_ids, &instance.haystack_dates);
    let histories = &instance.haystack_sessions;
    if ids.len() != histories.len() || dates.len() != histories.len() {
        let problem = format!(
            "{} sessions have {} ids and {} dates",
            histories.len(),
            ids.len(),
            dates.len()
        );
        return Err(EvalError::malformed(path, FORMAT, id, problem));
    }
    let names = unique(ids);
    let mut sessions = Vec::new();
    for ((name, date), messages) in names.iter().zip(dates).zip(histories) {
        let at = time(date).ok_or_else(|| {
            let problem = format!("`{date}` is no time such as `2026/03/15 (Sun) 10:12`");
            EvalError::malformed(
                path,
                FORMAT,
                format!("{id}, session {}", name.host_id),
                problem,
            )
        })?;
        sessions.push(BenchmarkSession {
            id: name.clone(),
            turns: messages.iter().map(|message| turn(message, at)).collect(),
        });
    }
    let questions = question(&instance, &names, left_out).into_iter().collect();
    Ok(BenchmarkConversation {
        id,
        participants: Vec::new(),
        sessions,
        questions,
    })
}

fn turn(message: &LongMemEvalMessage, at: Timestamp) -> BenchmarkTurn {
    BenchmarkTurn {
        speaker: match message.role {
            LongMemEvalRole::User => BenchmarkSpeaker::Person,
            LongMemEvalRole::Assistant => BenchmarkSpeaker::Assistant,
        },
        at,
        text: message.content.clone(),
    }
}

/// The sessions' identities: a history may hold the same session twice.
fn unique(ids: &[String]) -> Vec<SessionId> {
    let mut times: HashMap<String, u32> = HashMap::new();
    let name = |id: &String| {
        let time = times.entry(id.clone()).or_default();
        *time += 1;
        match *time {
            1 => session_id(id.clone()),
            time => session_id(format!("{id}#{time}")),
        }
    };
    ids.iter().map(name).collect()
}

fn question(
    instance: &LongMemEvalInstance,
    names: &[SessionId],
    left_out: &mut Vec<SkippedItem>,
) -> Option<BenchmarkQuestion> {
    let id = &instance.question_id;
    let counting = match id.contains(ABSTAIN) {
        true => Counting::Abstain,
        false => Counting::Counted,
    };
    let evidence = match counting {
        Counting::Abstain => Vec::new(),
        Counting::Counted | Counting::Apart => evidence(instance, names, left_out),
    };
    if evidence.is_empty() && counting == Counting::Counted {
        left_out.push(SkippedItem {
            conversation: id.clone(),
            question: id.clone(),
            evidence: None,
            reason: "has no evidence",
        });
        return None;
    }
    Some(BenchmarkQuestion {
        id: id.clone(),
        text: instance.question.clone(),
        class: instance.question_type.clone(),
        answer: in_words(&instance.answer),
        evidence,
        counting,
        split: None,
        asked: Timestamp::ZERO,
    })
}

fn evidence(
    instance: &LongMemEvalInstance,
    names: &[SessionId],
    left_out: &mut Vec<SkippedItem>,
) -> Vec<EvidencePiece> {
    let sessions = || names.iter().zip(&instance.haystack_sessions);
    let marked = sessions().flat_map(|(name, messages)| {
        let marked = messages.iter().enumerate().filter(|(_, m)| m.has_answer);
        marked.map(move |(index, _)| {
            let label = format!("{}:{}", name.host_id, index + 1);
            EvidencePiece::turn(&label, name, index)
        })
    });
    let marked: Vec<EvidencePiece> = marked.collect();
    if !marked.is_empty() {
        return marked;
    }
    let mut whole = Vec::new();
    for named in &instance.answer_session_ids {
        let session =
            sessions().find(|(name, messages)| name.host_id == *named && !messages.is_empty());
        match session {
            Some((name, messages)) => whole.push(EvidencePiece {
                label: named.clone(),
                is_session: false,
                events: (0..messages.len())
                    .map(|index| EventRef::turn(name, index))
                    .collect::<BTreeSet<_>>(),
            }),
            None => left_out.push(SkippedItem {
                conversation: instance.question_id.clone(),
                question: instance.question_id.clone(),
                evidence: Some(named.clone()),
                reason: "names no session",
            }),
        }
    }
    whole
}

fn time(date: &str) -> Option<Timestamp> {
    let (day, rest) = date.trim().split_once(' ')?;
    let hour = rest.rsplit(' ').next()?;
    let civil = DateTime::strptime(DATE, format!("{day} {hour}")).ok()?;
    let at = civil.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp(at.timestamp().as_millisecond()))
}

#[cfg(test)]
#[path = "longmemeval_tests.rs"]
mod tests;
