//! BEAM: long chats of a person and an assistant, each in a folder with its questions beside it.
//!
//! A batch of a chat is a session; evidence is named by the ids of messages.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use daybook_domain::{SessionId, Timestamp};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{in_words, read};
use crate::dataset::{
    BenchmarkConversation, BenchmarkQuestion, BenchmarkSession, BenchmarkSpeaker, BenchmarkTurn,
    Counting, Dataset, EvidencePiece, SkippedItem, session_id,
};
use crate::error::EvalError;

const FORMAT: &str = "BEAM";
const CHAT: &str = "chat.json";
/// Paths of the questions below a chat's folder.
const QUESTIONS: [&str; 2] = [
    "probing_questions/probing_questions.json",
    "probing_questions.json",
];
/// Levels of folders that are searched for chats.
const DEPTH: usize = 4;
/// The format of `March-15-2026`.
const DATE: &str = "%B-%d-%Y";
/// The class whose questions have no answer.
const ABSTENTION: &str = "abstention";
/// Fields that hold a question's expected answer: each class has its own.
const ANSWERS: [&str; 5] = [
    "answer",
    "ideal_response",
    "ideal_answer",
    "ideal_summary",
    "expected_compliance",
];

#[derive(Deserialize)]
struct BeamBatch {
    #[serde(default)]
    time_anchor: Option<String>,
    turns: Vec<Vec<BeamMessage>>,
}

#[derive(Deserialize)]
struct BeamMessage {
    role: BeamRole,
    id: u64,
    #[serde(default)]
    time_anchor: Option<String>,
    content: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum BeamRole {
    User,
    Assistant,
}

#[derive(Deserialize)]
struct BeamQuestion {
    question: String,
    #[serde(default)]
    source_chat_ids: Value,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The session and index of each message, by its id.
type Places = HashMap<u64, (SessionId, usize)>;

/// Loads BEAM from a folder: every folder in it that holds `chat.json` is one conversation.
///
/// # Errors
/// When a file cannot be read or is not BEAM, and when there is no chat.
pub fn load_beam(path: &Path) -> Result<Dataset, EvalError> {
    let mut folders = Vec::new();
    find_chats(path, DEPTH, &mut folders)?;
    folders.sort_by_cached_key(|folder| natural_order(folder));
    let mut left_out = Vec::new();
    let mut conversations = Vec::new();
    for folder in folders {
        conversations.push(conversation(path, &folder, &mut left_out)?);
    }
    if conversations.iter().all(|c| c.questions.is_empty()) {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "name a folder that holds N/chat.json and N/probing_questions/probing_questions.json",
        });
    }
    Ok(Dataset {
        name: FORMAT,
        conversations,
        left_out,
    })
}

fn find_chats(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), EvalError> {
    if folder.join(CHAT).is_file() {
        found.push(folder.to_owned());
        return Ok(());
    }
    let unreadable = |source| EvalError::Unreadable {
        path: folder.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let below = entry.map_err(unreadable)?.path();
        if depth > 0 && below.is_dir() {
            find_chats(&below, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Chat 2 comes before chat 10.
fn natural_order(folder: &Path) -> (PathBuf, u64, PathBuf) {
    let number = folder
        .file_name()
        .and_then(|name| name.to_str()?.parse().ok());
    let parent = folder.parent().unwrap_or(folder).to_owned();
    (parent, number.unwrap_or(u64::MAX), folder.to_owned())
}

fn conversation(
    base: &Path,
    folder: &Path,
    left_out: &mut Vec<SkippedItem>,
) -> Result<BenchmarkConversation, EvalError> {
    let name = folder.strip_prefix(base).unwrap_or(folder);
    let id = match name.to_string_lossy() {
        name if name.is_empty() => "chat".to_owned(),
        name => name.into_owned(),
    };
    let (sessions, places) = sessions(&folder.join(CHAT), &id)?;
    let questions = questions(folder, &id, &places, left_out)?;
    Ok(BenchmarkConversation {
        id,
        participants: Vec::new(),
        sessions,
        questions,
    })
}

fn sessions(path: &Path, chat: &str) -> Result<(Vec<BenchmarkSession>, Places), EvalError> {
    let batches: Vec<BeamBatch> = serde_json::from_slice(&read(path)?)
        .map_err(|error| EvalError::json(path, FORMAT, &error))?;
    let mut places = Places::new();
    let mut sessions = Vec::new();
    let mut at = Timestamp::ZERO;
    for (n, batch) in batches.into_iter().enumerate() {
        let session = session_id(format!("{chat}-b{}", n + 1));
        let anchored = |anchor: Option<String>, at: Timestamp| match anchor {
            None => Ok(at),
            Some(anchor) => time(&anchor).ok_or_else(|| {
                let problem = format!("time_anchor `{anchor}` is no date such as `March-15-2026`");
                EvalError::malformed(path, FORMAT, format!("batch {}", n + 1), problem)
            }),
        };
        at = anchored(batch.time_anchor, at)?;
        let mut turns = Vec::new();
        for message in batch.turns.into_iter().flatten() {
            // A message without a date follows the one before it.
            at = anchored(message.time_anchor, at)?;
            places
                .entry(message.id)
                .or_insert((session.clone(), turns.len()));
            turns.push(turn(message.role, &message.content, at));
        }
        sessions.push(BenchmarkSession { id: session, turns });
    }
    Ok((sessions, places))
}

fn turn(role: BeamRole, content: &str, at: Timestamp) -> BenchmarkTurn {
    let (speaker, text) = match role {
        BeamRole::User => (BenchmarkSpeaker::Person, without_index(content)),
        BeamRole::Assistant => (BenchmarkSpeaker::Assistant, content),
    };
    BenchmarkTurn {
        speaker,
        at,
        text: text.to_owned(),
    }
}

/// A person's message without the position in the plan that files append: ` ->-> 1,2`.
fn without_index(content: &str) -> &str {
    let Some((words, index)) = content.rsplit_once("->->") else {
        return content;
    };
    let is_index = |c: char| c.is_ascii_digit() || c == ',' || c.is_whitespace();
    match index.chars().all(is_index) {
        true => words.trim_end(),
        false => content,
    }
}

fn questions(
    folder: &Path,
    chat: &str,
    places: &Places,
    left_out: &mut Vec<SkippedItem>,
) -> Result<Vec<BenchmarkQuestion>, EvalError> {
    let mut files = QUESTIONS.iter().map(|file| folder.join(file));
    let path = files.find(|file| file.is_file());
    let path = path.unwrap_or_else(|| folder.join(QUESTIONS[0]));
    let classes: Map<String, Value> = serde_json::from_slice(&read(&path)?)
        .map_err(|error| EvalError::json(&path, FORMAT, &error))?;
    let mut questions = Vec::new();
    for (class, asked) in classes {
        let asked: Vec<BeamQuestion> = serde_json::from_value(asked)
            .map_err(|error| EvalError::malformed(&path, FORMAT, &class, error.to_string()))?;
        for (n, asked) in asked.into_iter().enumerate() {
            let id = format!("{class}-{}", n + 1);
            questions.extend(question(chat, id, &class, asked, places, left_out));
        }
    }
    Ok(questions)
}

fn question(
    chat: &str,
    id: String,
    class: &str,
    asked: BeamQuestion,
    places: &Places,
    left_out: &mut Vec<SkippedItem>,
) -> Option<BenchmarkQuestion> {
    let mut drop = |evidence: Option<String>, reason| {
        left_out.push(SkippedItem {
            conversation: chat.to_owned(),
            question: id.clone(),
            evidence,
            reason,
        });
    };
    let mut ids = BTreeSet::new();
    collect_ids(&asked.source_chat_ids, &mut ids);
    let mut evidence = Vec::new();
    for message in ids {
        match places.get(&message) {
            Some((session, index)) => {
                evidence.push(EvidencePiece::turn(&message.to_string(), session, *index));
            }
            None => drop(Some(message.to_string()), "names no turn"),
        }
    }
    let counting = match class {
        ABSTENTION => Counting::Abstain,
        _ => Counting::Counted,
    };
    if evidence.is_empty() && counting == Counting::Counted {
        drop(None, "has no evidence");
        return None;
    }
    let answer = ANSWERS.iter().find_map(|field| asked.others.get(*field));
    Some(BenchmarkQuestion {
        id,
        text: asked.question,
        class: class.to_owned(),
        answer: answer.map(in_words).unwrap_or_default(),
        evidence,
        counting,
        split: None,
        asked: Timestamp::ZERO,
    })
}

/// The ids in a list, or in a map of lists.
fn collect_ids(value: &Value, ids: &mut BTreeSet<u64>) {
    match value {
        Value::Number(number) => ids.extend(number.as_u64()),
        Value::String(text) => ids.extend(text.trim().parse::<u64>()),
        Value::Array(items) => items.iter().for_each(|item| collect_ids(item, ids)),
        Value::Object(items) => items.values().for_each(|item| collect_ids(item, ids)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn time(anchor: &str) -> Option<Timestamp> {
    let day = Date::strptime(DATE, anchor.trim()).ok()?;
    let at = day.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp(at.timestamp().as_millisecond()))
}

#[cfg(test)]
#[path = "beam_tests.rs"]
mod tests;
