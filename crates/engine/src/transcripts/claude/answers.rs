//! Reads a person's answers to an agent's questions, each with its question.
//!
//! The host writes questions and answers as data beside the tool's answer, and once more in prose
//! whose wording changes. The data count; the prose is read where there are none. Each answer reads
//! `Q: …` and `A: …`, on a line of its own each.
//!
//! Not here: any other words in a tool's answer.

use serde::Deserialize;

use super::line::ClaudeLine;
use daybook_text::lenient::{Content, ContentMember, Object, Pairs, Text};

/// The text that replaces the tool's own result.
pub(super) const GIVEN: &str = "User has answered your questions";

/// The tool that asks a person.
const ASK: &str = "AskUserQuestion";
/// How its result begins in prose.
const PROSE: &[&str] = &[
    "User has answered your questions:",
    "Your questions have been answered:",
    "The user answered:",
];
/// How the prose continues after the last answer.
const BEHIND: &[&str] = &["\". You can now continue", "\". Read the answers"];
/// How the host words it when the person wants to talk instead of answering.
const CLARIFY: &str = "The user wants to clarify these questions";
/// Most answers that are read at once.
const ANSWERS: usize = 16;

/// The answers as data.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked<'j> {
    #[serde(borrow)]
    answers: Pairs<'j, Answer<'j>>,
    annotations: Pairs<'j, Object<Annotation<'j>>>,
}

/// One answer: a text, or several choices.
type Answer<'j> = Content<'j, Annotation<'j>>;

/// What a person added to an answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Annotation<'j> {
    #[serde(borrow)]
    notes: Text<'j>,
}

/// The answers that a tool's answer holds. Only the tool that asks can give them.
pub(super) fn given(line: &ClaudeLine<'_>, tool: Option<&str>, text: &str) -> Vec<String> {
    let prose = PROSE
        .iter()
        .find_map(|beginning| text.strip_prefix(beginning));
    // An unknown tool may have written anything, also as data.
    let (Some(prose), Some(ASK)) = (prose, tool) else {
        return Vec::new();
    };
    let data = line
        .tool_use_result
        .and_then(|asked| serde_json::from_str::<Object<Asked<'_>>>(asked.get()).ok())
        .and_then(|asked| asked.0)
        .map(|asked| from_data(&asked))
        .filter(|pairs| !pairs.is_empty());
    shown(data.unwrap_or_else(|| from_prose(prose.trim())))
}

/// The answers in a refusal by a person who wants to talk first; `None` for any other refusal.
pub(super) fn clarified(words: &str) -> Option<Vec<String>> {
    if !words.starts_with(CLARIFY) {
        return None;
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in words.lines().map(str::trim) {
        let answer = ["Answer: ", "User notes: "]
            .iter()
            .find_map(|sign| line.strip_prefix(sign));
        if let Some(question) = line.strip_prefix("- ") {
            pairs.push((question.trim_matches('"').to_owned(), String::new()));
        } else if let (Some(answer), Some(pair)) = (answer, pairs.last_mut()) {
            let between = if pair.1.is_empty() { "" } else { ", " };
            pair.1.push_str(between);
            pair.1.push_str(answer);
        }
    }
    Some(shown(pairs))
}

fn shown(pairs: Vec<(String, String)>) -> Vec<String> {
    pairs
        .into_iter()
        .filter(|(_, answer)| !answer.trim().is_empty())
        .take(ANSWERS)
        .map(|(question, answer)| format!("Q: {}\nA: {}", question.trim(), answer.trim()))
        .collect()
}

fn from_data(asked: &Asked<'_>) -> Vec<(String, String)> {
    let notes = asked
        .annotations
        .0
        .iter()
        .filter_map(|(question, annotation)| {
            let notes = annotation.0.as_ref()?.notes.get()?;
            Some((&**question, notes))
        });
    let notes: Vec<(&str, &str)> = notes.collect();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (question, answer) in &asked.answers.0 {
        let notes = notes.iter().find(|(about, _)| *about == &**question);
        let answer = match notes {
            Some((_, notes)) => format!("{} ({notes})", chosen(answer)),
            None => chosen(answer),
        };
        pairs.push((question.to_string(), answer));
    }
    // A person may write notes instead of choosing.
    for (question, notes) in notes {
        if asked
            .answers
            .0
            .iter()
            .all(|(answered, _)| &**answered != question)
        {
            pairs.push((question.to_owned(), notes.to_owned()));
        }
    }
    pairs
}

fn chosen(answer: &Answer<'_>) -> String {
    match answer {
        Content::Nothing => String::new(),
        Content::Text(text) => text.to_string(),
        Content::Parts(parts) => {
            let choices = parts.iter().filter_map(|part| match part {
                ContentMember::Text(text) => Some(&**text),
                ContentMember::Object(_) | ContentMember::Other => None,
            });
            choices.collect::<Vec<_>>().join(", ")
        }
    }
}

/// `"question"="answer", "question"="answer". You can now continue …`
fn from_prose(text: &str) -> Vec<(String, String)> {
    let end = BEHIND.iter().filter_map(|behind| text.find(behind)).min();
    let text = &text[..end.unwrap_or(text.len())];
    let mut pairs = Vec::new();
    let mut rest = text.strip_prefix('"').unwrap_or(text);
    while let Some((question, after)) = rest.split_once("\"=\"") {
        // The answer ends before the next question, which is the last thing quoted before the
        // next `"="`.
        let end = match after.find("\"=\"") {
            Some(next) => after[..next].rfind("\", \"").unwrap_or(next),
            None => after.trim_end_matches(['.', '"']).len(),
        };
        pairs.push((question.to_owned(), after[..end].to_owned()));
        rest = after[end..].strip_prefix("\", \"").unwrap_or_default();
    }
    pairs
}
