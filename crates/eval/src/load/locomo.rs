//! LoCoMo: dialogues of two people over months, one file with several conversations.
//!
//! Both speakers are people, so all turns are a person's; each text begins with its speaker's name. The caption of a
//! shared picture follows the text in brackets, because people talk about the picture.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use daybook_domain::{SessionId, Timestamp};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use super::{in_words, read};
use crate::dataset::{
    BenchmarkConversation, BenchmarkQuestion, BenchmarkSession, BenchmarkSpeaker, BenchmarkTurn,
    Counting, Dataset, EvidencePiece, SkippedItem, session_id,
};
use crate::error::EvalError;

const FORMAT: &str = "LoCoMo";
/// Of `1:56 pm on 8 May, 2023`.
const DATE: &str = "%I:%M %p on %d %B, %Y";

#[derive(Deserialize)]
struct LocomoSample {
    #[serde(default)]
    sample_id: Option<String>,
    conversation: BTreeMap<String, Value>,
    qa: Vec<LocomoQuestion>,
    /// What was noted of each speaker, by session and name: a sentence, with the id of its turn or a list of ids.
    #[serde(default)]
    observation: BTreeMap<String, BTreeMap<String, Vec<(String, Value)>>>,
}

#[derive(Deserialize)]
struct LocomoQuestion {
    question: String,
    #[serde(default)]
    answer: Value,
    #[serde(default)]
    evidence: Vec<String>,
    category: u8,
}

#[derive(Deserialize)]
struct LocomoLine {
    speaker: String,
    dia_id: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    blip_caption: Option<String>,
}

impl LocomoLine {
    fn text_with_caption(&self) -> String {
        let text = format!("{}: {}", self.speaker, self.text);
        match &self.blip_caption {
            Some(caption) => format!("{text} [{caption}]"),
            None => text,
        }
    }
}

/// The session and index of each turn, by its canonical id.
type Places = HashMap<String, (SessionId, usize)>;

/// Loads LoCoMo from a file with several conversations.
///
/// Questions of category 5 (adversarial) are reported apart. Evidence that names no turn is dropped, and
/// a question without other evidence is left out.
///
/// # Errors
/// When the file cannot be read or is not LoCoMo.
pub fn load_locomo(path: &Path) -> Result<Dataset, EvalError> {
    let bytes = read(path)?;
    let samples: Vec<LocomoSample> =
        serde_json::from_slice(&bytes).map_err(|error| EvalError::json(path, FORMAT, &error))?;
    let mut left_out = Vec::new();
    let mut conversations = Vec::new();
    for (n, sample) in samples.into_iter().enumerate() {
        let id = sample
            .sample_id
            .clone()
            .unwrap_or_else(|| format!("conversation {}", n + 1));
        conversations.push(conversation(path, id, sample, &mut left_out)?);
    }
    if conversations.iter().all(|c| c.questions.is_empty()) {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "each conversation needs `conversation` and `qa`",
        });
    }
    Ok(Dataset {
        name: FORMAT,
        conversations,
        left_out,
    })
}

/// A turn of a dialogue, and whether the dataset's authors noted something of it about its speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedTurn {
    /// The person's words.
    pub text: String,
    /// Whether something was noted.
    pub is_noted: bool,
}

/// Loads the turns of LoCoMo's dialogues with what was noted of their speakers, a list for each dialogue.
///
/// # Errors
/// When the file cannot be read or is not LoCoMo.
pub fn load_noted_turns(path: &Path) -> Result<Vec<Vec<NotedTurn>>, EvalError> {
    let bytes = read(path)?;
    let samples: Vec<LocomoSample> =
        serde_json::from_slice(&bytes).map_err(|error| EvalError::json(path, FORMAT, &error))?;
    let dialogues: Vec<Vec<NotedTurn>> = samples.iter().map(noted_turns).collect();
    if !dialogues.iter().flatten().any(|turn| turn.is_noted) {
        return Err(EvalError::Empty {
            path: path.to_owned(),
            format: FORMAT,
            advice: "each conversation needs `conversation` and `observation`",
        });
    }
    Ok(dialogues)
}

fn noted_turns(sample: &LocomoSample) -> Vec<NotedTurn> {
    let notes = sample.observation.values().flat_map(BTreeMap::values);
    let ids = notes.flatten().flat_map(|(_, turns)| match turns {
        Value::Array(ids) => ids.iter().filter_map(Value::as_str).collect(),
        id => Vec::from_iter(id.as_str()),
    });
    let noted: HashSet<String> = ids.filter_map(canonical).collect();
    let lines = sample.conversation.values().filter_map(Value::as_array);
    let lines = lines
        .flatten()
        .filter_map(|line| LocomoLine::deserialize(line).ok());
    let turn = |line: LocomoLine| NotedTurn {
        is_noted: canonical(&line.dia_id).is_some_and(|id| noted.contains(&id)),
        text: line.text,
    };
    lines.map(turn).collect()
}

fn conversation(
    path: &Path,
    id: String,
    sample: LocomoSample,
    left_out: &mut Vec<SkippedItem>,
) -> Result<BenchmarkConversation, EvalError> {
    let participants = ["speaker_a", "speaker_b"]
        .into_iter()
        .filter_map(|key| Some(sample.conversation.get(key)?.as_str()?.to_owned()))
        .collect();
    let (sessions, places) = sessions(path, &id, &sample.conversation)?;
    let asked = sample.qa.into_iter().enumerate();
    let questions = asked
        .filter_map(|(n, asked)| question(&id, n, asked, &places, left_out))
        .collect();
    Ok(BenchmarkConversation {
        id,
        participants,
        sessions,
        questions,
    })
}

fn sessions(
    path: &Path,
    id: &str,
    conversation: &BTreeMap<String, Value>,
) -> Result<(Vec<BenchmarkSession>, Places), EvalError> {
    let mut numbered: Vec<(u32, &Value)> = conversation
        .iter()
        .filter_map(|(key, value)| Some((key.strip_prefix("session_")?.parse().ok()?, value)))
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    let mut places = Places::new();
    let mut sessions = Vec::new();
    for (number, lines) in numbered {
        let place = || format!("{id}, session_{number}");
        let lines: Vec<LocomoLine> = Vec::deserialize(lines)
            .map_err(|error| EvalError::malformed(path, FORMAT, place(), error.to_string()))?;
        let key = format!("session_{number}_date_time");
        let date = conversation.get(&key).and_then(Value::as_str);
        let at = date.and_then(time).ok_or_else(|| {
            let problem = format!("{key} is not a time such as `1:56 pm on 8 May, 2023`");
            EvalError::malformed(path, FORMAT, place(), problem)
        })?;
        let session = session_id(format!("{id}-s{number}"));
        let mut turns = Vec::new();
        for (index, line) in lines.into_iter().enumerate() {
            let text = line.text_with_caption();
            let known = canonical(&line.dia_id).unwrap_or(line.dia_id);
            places.entry(known).or_insert((session.clone(), index));
            turns.push(BenchmarkTurn {
                speaker: BenchmarkSpeaker::Person,
                at,
                text,
            });
        }
        sessions.push(BenchmarkSession { id: session, turns });
    }
    Ok((sessions, places))
}

fn question(
    conversation: &str,
    n: usize,
    asked: LocomoQuestion,
    places: &Places,
    left_out: &mut Vec<SkippedItem>,
) -> Option<BenchmarkQuestion> {
    let id = format!("q{}", n + 1);
    let mut drop = |evidence: Option<String>, reason| {
        left_out.push(SkippedItem {
            conversation: conversation.to_owned(),
            question: id.clone(),
            evidence,
            reason,
        });
    };
    let mut evidence: Vec<EvidencePiece> = Vec::new();
    for named in turn_ids(&asked.evidence) {
        let Some((label, (session, index))) =
            canonical(&named).and_then(|known| places.get(&known).map(|place| (known, place)))
        else {
            drop(Some(named), "names no turn");
            continue;
        };
        let evidence_turn = EvidencePiece::turn(&label, session, *index);
        if !evidence.contains(&evidence_turn) {
            evidence.push(evidence_turn);
        }
    }
    if evidence.is_empty() {
        drop(None, "has no evidence");
        return None;
    }
    let (class, counting) = class(asked.category);
    Some(BenchmarkQuestion {
        id,
        text: asked.question,
        class,
        answer: in_words(&asked.answer),
        evidence,
        counting,
        split: None,
        asked: Timestamp::ZERO,
    })
}

fn class(category: u8) -> (String, Counting) {
    let known = match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        5 => return ("adversarial".to_owned(), Counting::Apart),
        other => return (format!("category {other}"), Counting::Counted),
    };
    (known.to_owned(), Counting::Counted)
}

/// The single ids of a question's evidence: one string may hold several.
fn turn_ids(evidence: &[String]) -> Vec<String> {
    let separator = |c: char| c == ';' || c == ',' || c.is_whitespace();
    let ids = evidence.iter().flat_map(|text| text.split(separator));
    ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

/// The one spelling of a turn's id: `D:11:26` is `D11:26`, `D30:05` is `D30:5`.
fn canonical(id: &str) -> Option<String> {
    let numbers = id.trim().strip_prefix(['D', 'd'])?;
    let (session, turn) = numbers.trim_start_matches(':').split_once(':')?;
    let (session, turn): (u32, u32) = (session.parse().ok()?, turn.parse().ok()?);
    Some(format!("D{session}:{turn}"))
}

fn time(date: &str) -> Option<Timestamp> {
    let civil = DateTime::strptime(DATE, date.trim()).ok()?;
    let at = civil.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp(at.timestamp().as_millisecond()))
}

#[cfg(test)]
#[path = "locomo_tests.rs"]
mod tests;
