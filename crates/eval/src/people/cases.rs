//! People as files hold them.

use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::steps::{Step, parse_steps};
use crate::dataset::Split;
use crate::error::EvalError;
use crate::load::read;

const FORMAT: &str = "people";

/// An invented person, or a team, with the key to their memory.
#[derive(Debug, Clone)]
pub struct Person {
    pub(super) name: String,
    pub(super) kind: PersonKind,
    /// Their part.
    pub(super) split: Split,
    pub(super) sessions: Vec<PersonSession>,
    pub(super) questions: Vec<KeyQuestion>,
    /// What a careful colleague would keep.
    pub(super) lines: Vec<KeyLine>,
    /// What would mislead a reader.
    pub(super) misleading: Vec<KeyLine>,
}

/// What a person's sessions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PersonKind {
    /// Work with a coding agent.
    Agent,
    /// Chats with an assistant.
    Chat,
    /// Days of a team's channels.
    Room,
}

/// A session, or a day of a channel.
#[derive(Debug, Clone)]
pub(super) struct PersonSession {
    pub(super) id: String,
    /// The folder of its project; the channel's name in a room.
    pub(super) place: String,
    pub(super) branch: Option<String>,
    /// In milliseconds.
    pub(super) began: i64,
    pub(super) steps: Vec<Step>,
}

/// A question, and how its answer is known.
#[derive(Debug, Clone)]
pub(super) struct KeyQuestion {
    pub(super) question: String,
    /// What a right answer says; nothing for what was never discussed.
    pub(super) answer: Vec<Expression>,
    /// Occurs only in an outdated answer.
    pub(super) outdated: Vec<Expression>,
    pub(super) class: String,
}

/// What must occur in a text, or must not.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) pattern: Regex,
    pub(super) occurs: bool,
}

/// A line that a memory should have, or should not.
#[derive(Debug, Clone)]
pub(super) struct KeyLine {
    pub(super) says: String,
    pub(super) matches: Vec<Expression>,
    /// 2 for what must not be missed, 1 for the rest.
    pub(super) weight: u32,
}

/// Loads a person, or all of a folder, by name.
///
/// # Errors
/// When a file cannot be read, or is of another form.
pub fn load_people(path: &Path) -> Result<Vec<Person>, EvalError> {
    if path.is_file() {
        return Ok(vec![load_person(path)?]);
    }
    let unreadable = |source| EvalError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        files.push(entry.map_err(unreadable)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    files.iter().map(|file| load_person(file)).collect()
}

fn load_person(path: &Path) -> Result<Person, EvalError> {
    let bytes = read(path)?;
    let malformed =
        |place: &str, problem: String| EvalError::malformed(path, FORMAT, place, &problem);
    let text = String::from_utf8(bytes).map_err(|error| malformed("text", error.to_string()))?;
    let file: PersonFile =
        toml::from_str(&text).map_err(|error| malformed("toml", error.to_string()))?;
    file.read()
        .map_err(|(place, problem)| malformed(&place, problem))
}

/// What is wrong with a file: where, and what.
type Fault = (String, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonFile {
    name: String,
    /// For readers of the file.
    #[serde(rename = "about")]
    _about: String,
    kind: PersonKind,
    split: Split,
    session: Vec<SessionEntry>,
    #[serde(default)]
    question: Vec<QuestionEntry>,
    #[serde(default)]
    line: Vec<LineEntry>,
    #[serde(default)]
    never: Vec<LineEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionEntry {
    id: String,
    #[serde(default, alias = "channel")]
    folder: String,
    branch: Option<String>,
    began: String,
    steps: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionEntry {
    question: String,
    #[serde(default)]
    answer: Vec<String>,
    #[serde(default)]
    outdated: Vec<String>,
    #[serde(default)]
    class: String,
    #[serde(default)]
    never: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineEntry {
    says: String,
    #[serde(rename = "match")]
    matches: Vec<String>,
    #[serde(default = "one")]
    weight: u32,
    /// For readers of the file.
    #[serde(default, rename = "why")]
    _why: String,
}

const fn one() -> u32 {
    1
}

impl PersonFile {
    fn read(self) -> Result<Person, Fault> {
        Ok(Person {
            sessions: all(self.session, SessionEntry::read)?,
            questions: all(self.question, QuestionEntry::read)?,
            lines: all(self.line, LineEntry::read)?,
            misleading: all(self.never, LineEntry::read)?,
            name: self.name,
            kind: self.kind,
            split: self.split,
        })
    }
}

fn all<Entry, Read>(
    entries: Vec<Entry>,
    read: impl Fn(Entry) -> Result<Read, Fault>,
) -> Result<Vec<Read>, Fault> {
    entries.into_iter().map(read).collect()
}

impl SessionEntry {
    fn read(self) -> Result<PersonSession, Fault> {
        let faulty = |problem: String| (self.id.clone(), problem);
        let began = self.began.parse::<jiff::Timestamp>();
        let began = began.map_err(|error| faulty(error.to_string()))?;
        Ok(PersonSession {
            began: began.as_millisecond(),
            steps: parse_steps(&self.steps).map_err(faulty)?,
            id: self.id,
            place: self.folder,
            branch: self.branch,
        })
    }
}

impl QuestionEntry {
    fn read(self) -> Result<KeyQuestion, Fault> {
        if self.never != self.answer.is_empty() {
            let problem = "a question has an answer, or was never discussed".to_owned();
            return Err((self.question, problem));
        }
        Ok(KeyQuestion {
            answer: expressions(&self.question, &self.answer)?,
            outdated: expressions(&self.question, &self.outdated)?,
            class: self.class,
            question: self.question,
        })
    }
}

impl LineEntry {
    fn read(self) -> Result<KeyLine, Fault> {
        if self.matches.is_empty() {
            return Err((self.says, "nothing tells this line".to_owned()));
        }
        Ok(KeyLine {
            matches: expressions(&self.says, &self.matches)?,
            weight: self.weight,
            says: self.says,
        })
    }
}

/// Expressions that ignore case; what follows a `!` must not occur.
fn expressions(place: &str, written: &[String]) -> Result<Vec<Expression>, Fault> {
    let read = written.iter().map(|written| {
        let absent = written.strip_prefix('!');
        let pattern = RegexBuilder::new(absent.unwrap_or(written))
            .case_insensitive(true)
            .build()
            .map_err(|error| (place.to_owned(), error.to_string()))?;
        Ok(Expression {
            pattern,
            occurs: absent.is_none(),
        })
    });
    read.collect()
}
