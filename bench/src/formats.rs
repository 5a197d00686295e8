//! How fast transcripts of each format are imported and learned from, beside those of Claude Code.
//!
//! The files are made of the small fixtures: their messages are repeated with ids of their own, until a file is large. A
//! fixture's own statements stand in the first copy alone, and the others have invented words: a real session states little
//! that is worth keeping. All formats get the same words, so that they differ in what a format costs.
//!
//! Most bytes of an agent's session are no words of a person or an agent: in 124 MB of real sessions of Claude Code each message of a
//! person or an agent has 4.6 KB of tools' output beside it, and 25 KB of other fields. Here it has as much output and few
//! other fields, so these rates are far below those of real sessions (`import` measures these), and a format is compared
//! with Claude Code's. Formats of conversations have no output: each message is tokenised, embedded and read for what it
//! states. That takes the time, however many other fields a format has, so they are compared by messages a second with Claude
//! Code's sessions of words alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use daybook_domain::Origin;
use daybook_engine::transcripts::item::{RawEvent, TranscriptItem};
use daybook_engine::transcripts::lines::PieceStep;
use daybook_engine::transcripts::pieces::{PieceReader, head};
use daybook_engine::transcripts::{detect, reader};
use daybook_testkit::mutation::TRANSCRIPTS;
use serde_json::{Map, Value};

use crate::process::daybook;
use crate::transcripts::SeededNumbers;

/// Files of each format.
const FILES: u64 = 4;
/// Bytes of each file, about.
const FILE_BYTES: usize = 4 * 1024 * 1024;
/// Words of each prose text.
const WORDS: u64 = 60;
/// Bytes of tools' output beside each prose text.
const BESIDE_PROSE: usize = 4_600;
/// Messages of a conversation in an export of many.
const CONVERSATION: usize = 40;
/// Words of a line of a tool's output.
const LINE_WORDS: u64 = 8;
/// Share of Claude Code's rate that every format must reach: 40 of 75 MB/s.
const WANTED: f64 = 40.0 / 75.0;
/// The fixture that the others are compared with.
const COMPARED_WITH: &str = "claude-code.jsonl";
/// Lists of a document that hold its messages.
const LISTS: [&str; 3] = ["messages", "requests", "chat_messages"];
/// Keys of ids that all lines of a session share.
const OF_SESSION: [&str; 6] = [
    "sessionId",
    "session_id",
    "sessionID",
    "thread",
    "conversation_id",
    "session",
];
/// Keys of ids of one message or call.
const OF_MESSAGE: [&str; 17] = [
    "id",
    "uuid",
    "parentUuid",
    "parentId",
    "messageId",
    "messageID",
    "message_id",
    "requestId",
    "promptId",
    "bubbleId",
    "toolCallId",
    "tool_call_id",
    "tool_use_id",
    "call_id",
    "callID",
    "turn_id",
    "parent",
];

/// Imports large files of each format; fails where one is slower than what is wanted.
pub(crate) fn import() -> Result<()> {
    let compared = TRANSCRIPTS
        .iter()
        .find(|(name, _)| *name == COMPARED_WITH)
        .context("the fixture of Claude Code")?;
    let base = rate(compared, &tool_outputs(compared)?)?;
    let words = rate(compared, &[])?;
    print(COMPARED_WITH, &base, (1.0, "bytes"));
    print("  words alone", &words, (1.0, "messages"));
    let mut slow = Vec::new();
    let others = TRANSCRIPTS.iter().filter(|one| one.0 != COMPARED_WITH);
    for fixture in others {
        let outputs = tool_outputs(fixture)?;
        let rate = rate(fixture, &outputs)?;
        let share = match rate.has_outputs() {
            true => (rate.megabytes / base.megabytes, "bytes"),
            false => (rate.messages / words.messages, "messages"),
        };
        print(fixture.0, &rate, share);
        if share.0 < WANTED {
            slow.push(fixture.0);
        }
    }
    ensure!(
        slow.is_empty(),
        "slower than {WANTED:.2} of Claude Code's: {}",
        slow.join(", ")
    );
    Ok(())
}

/// Prints a rate, and its share of Claude Code's in what the two are compared by.
fn print(name: &str, rate: &Rate, (share, by): (f64, &str)) {
    let (megabytes, messages) = (rate.megabytes, rate.messages);
    println!(
        "  {name:<22} {megabytes:>7.1} MB/s {messages:>7.0} messages/s   {share:>5.2} of Claude Code's {by}"
    );
}

/// What the whole process does in a second, learning included.
struct Rate {
    megabytes: f64,
    /// Messages of people and agents.
    messages: f64,
}

impl Rate {
    /// Whether the files hold tools' output, rather than words alone.
    fn has_outputs(&self) -> bool {
        1e6 * self.megabytes > self.messages * BESIDE_PROSE as f64 / 2.0
    }
}

fn rate((name, bytes): &(&str, &[u8]), outputs: &[String]) -> Result<Rate> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("transcripts");
    let (mut total, mut messages) = (0, 0);
    for nth in 0..FILES {
        let text = enlarged(name, std::str::from_utf8(bytes)?, outputs, nth)?;
        total += text.len();
        let said = |event: &RawEvent| matches!(event.origin, Origin::Human | Origin::Assistant);
        messages += events(name, text.as_bytes())?
            .into_iter()
            .filter(said)
            .count();
        let below = folder.join(nth.to_string());
        fs::create_dir_all(&below)?;
        fs::write(below.join(name), text)?;
    }
    let root = place.path().join("root");
    let mut command = Command::new(daybook()?);
    command.args(["import", "--yes", "--json", "--root"]);
    command
        .args([root.as_path(), folder.as_path()])
        .stdin(Stdio::null());
    let began = Instant::now();
    let output = command.output().context("daybook does not start")?;
    let took = began.elapsed().as_secs_f64();
    ensure!(
        output.status.success(),
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report: Value = serde_json::from_slice(&output.stdout)?;
    // A message has some hundred bytes, and a tool's output some thousand: far fewer events mean that the files were not
    // understood.
    let events = report["events"].as_u64().unwrap_or_default();
    ensure!(
        events > total as u64 / 50_000,
        "{name}: {events} events of {total} bytes"
    );
    Ok(Rate {
        megabytes: total as f64 / 1e6 / took,
        messages: messages as f64 / took,
    })
}

/// The texts of a fixture that a tool put out, as its reader tells them apart.
fn tool_outputs((name, bytes): &(&str, &[u8])) -> Result<Vec<String>> {
    let outputs = events(name, bytes)?.into_iter();
    let outputs = outputs.filter(|event| event.origin == Origin::ToolResult);
    Ok(outputs.map(|event| event.text).collect())
}

/// The events of a transcript.
fn events(name: &str, bytes: &[u8]) -> Result<Vec<RawEvent>> {
    let format = detect(&head(bytes)?);
    let git = |_: &Path| None;
    let mut reader = reader(&format, name, &git, None)?.context("a format with a reader")?;
    let mut pieces = PieceReader::new(bytes, &format)?;
    let mut items = Vec::new();
    while let PieceStep::Piece(piece) = pieces.step()? {
        // Fixtures hold damaged lines too.
        let _ = reader.line(piece.number, piece.bytes, &mut items);
    }
    Ok(items
        .into_iter()
        .filter_map(|item| match item {
            TranscriptItem::Event(event) => Some(event),
            _ => None,
        })
        .collect())
}

/// A large file of a fixture's format; `nth` gives it a session of its own.
fn enlarged(name: &str, fixture: &str, outputs: &[String], nth: u64) -> Result<String> {
    let mut copies = Copies {
        outputs,
        numbers: SeededNumbers(nth),
        nth,
        copy: 0,
        owed: 0,
        is_export: false,
    };
    match Path::new(name)
        .extension()
        .and_then(|ending| ending.to_str())
    {
        Some("jsonl") => copies.lines(fixture),
        Some("json") => copies.document(fixture),
        _ => Ok(copies.markdown(fixture)),
    }
}

/// Makes copies of a fixture's parts, each with ids and words of its own.
struct Copies<'a> {
    /// Texts that tools put out.
    outputs: &'a [String],
    numbers: SeededNumbers,
    nth: u64,
    copy: u64,
    /// Bytes of tools' output that the prose before is still to have.
    owed: usize,
    /// Whether a list of messages is one conversation of many.
    is_export: bool,
}

impl Copies<'_> {
    /// The first line, which describes a session, once; then all lines again and again.
    fn lines(&mut self, fixture: &str) -> Result<String> {
        let lines: Vec<Value> = fixture
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?;
        let mut text = String::new();
        while text.len() < FILE_BYTES {
            for line in lines.iter().skip(usize::from(self.copy > 0)) {
                text.push_str(&self.changed("", line).to_string());
                text.push('\n');
            }
            self.copy += 1;
        }
        Ok(text)
    }

    /// A list with its members again and again; of an object, its list of messages.
    fn document(&mut self, fixture: &str) -> Result<String> {
        let mut document: Value = serde_json::from_str(fixture)?;
        let name = LISTS.iter().find(|name| document.get(name).is_some());
        let list = match name {
            Some(name) => document[*name].take(),
            None => std::mem::take(&mut document),
        };
        let members = list.as_array().context("a list of messages")?;
        self.is_export = name.is_none();
        let mut copies = Vec::new();
        let mut bytes = 0;
        while bytes < FILE_BYTES {
            for member in members {
                let member = self.changed("", member);
                bytes += member.to_string().len();
                copies.push(member);
            }
            self.copy += 1;
        }
        let copies = Value::Array(copies);
        self.copy = 0;
        let Some(name) = name else {
            return Ok(copies.to_string());
        };
        // The list stands last, as hosts write it: what tells the format stands before it.
        if let Some(fields) = document.as_object_mut() {
            fields.remove(*name);
        }
        let described = self.changed("", &document).to_string();
        let described = described.strip_suffix('}').unwrap_or(&described);
        let comma = if described.len() > 1 { "," } else { "" };
        Ok(format!("{described}{comma}\n\"{name}\": {copies}}}\n"))
    }

    fn markdown(&mut self, fixture: &str) -> String {
        let mut text = fixture.to_owned();
        while text.len() < FILE_BYTES {
            // What precedes the words of each speaker, and the blanks behind them.
            for (before, blanks) in [("> ", "  "), ("\n#### ", "  "), ("\n", "")] {
                let words = self.numbers.sentence(WORDS);
                text.push_str(&format!("{before}{words}{blanks}\n"));
            }
        }
        text
    }

    fn changed(&mut self, key: &str, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter();
                let changed = fields.map(|(key, value)| (key.clone(), self.changed(key, value)));
                Value::Object(changed.collect::<Map<_, _>>())
            }
            Value::Array(list) if self.is_export && LISTS.contains(&key) => self.conversation(list),
            Value::Array(list) => list.iter().map(|value| self.changed(key, value)).collect(),
            Value::String(text) if OF_SESSION.contains(&key) => {
                format!("{text}-{}", self.nth).into()
            }
            Value::String(text) if OF_MESSAGE.contains(&key) => {
                format!("{text}-{}-{}", self.nth, self.copy).into()
            }
            // Slack knows a message by its time.
            Value::String(time) if key == "ts" => {
                let time: f64 = time.parse().unwrap_or_default();
                format!("{:.6}", time + (self.nth * 1_000_000 + self.copy) as f64).into()
            }
            Value::String(text) if self.is_output(text) => {
                let lines = self.output();
                match self.copy {
                    0 => format!("{text}\n{lines}").into(),
                    _ => lines.into(),
                }
            }
            Value::String(text) if text.contains(' ') && !text.starts_with(['{', '[', '<']) => {
                self.owed += BESIDE_PROSE;
                let words = self.numbers.sentence(WORDS);
                match self.copy {
                    0 => format!("{text} {words}").into(),
                    _ => words.into(),
                }
            }
            // Antigravity knows a step by its number.
            Value::Number(step) if key == "step_index" => {
                (step.as_u64().unwrap_or_default() + self.copy * 1_000).into()
            }
            other => other.clone(),
        }
    }

    /// The messages of one conversation of many: people hold longer ones than a fixture shows.
    fn conversation(&mut self, messages: &[Value]) -> Value {
        let mut copies = Vec::new();
        let own = self.copy;
        while copies.len() < CONVERSATION {
            let members = messages.iter();
            copies.extend(members.map(|message| self.changed("", message)));
            self.copy += 1;
        }
        // What follows has ids that none of these messages has.
        self.copy = own.max(self.copy - 1);
        Value::Array(copies)
    }

    fn is_output(&self, text: &str) -> bool {
        self.outputs
            .iter()
            .any(|output| output.trim() == text.trim())
    }

    /// Lines that a tool might put out, as many as the prose before is to have.
    fn output(&mut self) -> String {
        let mut lines = String::new();
        for number in 1.. {
            let words = self.numbers.sentence(LINE_WORDS);
            lines.push_str(&format!("{number:>6} {words}\n"));
            if lines.len() >= self.owed {
                break;
            }
        }
        self.owed = 0;
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_becomes_a_large_file_of_its_format() {
        for (name, bytes) in TRANSCRIPTS {
            let outputs = tool_outputs(&(name, bytes)).unwrap();
            let text = enlarged(name, std::str::from_utf8(bytes).unwrap(), &outputs, 1).unwrap();
            assert!(text.len() >= FILE_BYTES, "{name}: {}", text.len());
            let format = |text: &[u8]| detect(&head(text).unwrap());
            assert_eq!(
                format(text.as_bytes()).as_str(),
                format(bytes).as_str(),
                "{name}"
            );
        }
    }
}
