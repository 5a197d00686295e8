//! Recording what was asked of a model, and playing it again without one.
//!
//! A cassette is a file of lines, one for each `ask`: the question in a canonical form, its hash, and what
//! came of it. It lies above the wire, so that no header and no key can get onto it. Questions that are
//! alike are played in the order in which they were recorded.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use daybook_domain::model::{Model, ModelError, ModelFailure, ModelReply, ModelRequest, Spent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most characters of a value that are shown when questions differ.
const SHOWN_CHARACTERS: usize = 80;

/// A model that records another, or plays what was recorded of it.
pub struct Cassette {
    /// Who is asked while recording; playing takes its name and its way to count from it.
    model: Arc<dyn Model>,
    path: PathBuf,
    mode: Mode,
}

enum Mode {
    Recording(Mutex<File>),
    Playing(Mutex<Vec<Track>>),
}

impl Cassette {
    /// Asks `model` and appends what comes of it to the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn recording(model: Arc<dyn Model>, path: &Path) -> Result<Self, CassetteError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| CassetteError::file(path, error))?;
        Ok(Self {
            model,
            path: path.to_owned(),
            mode: Mode::Recording(Mutex::new(file)),
        })
    }

    /// Answers from the file at `path`; never asks `model`.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is none that was recorded.
    pub fn playing(model: Arc<dyn Model>, path: &Path) -> Result<Self, CassetteError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| CassetteError::file(path, error))?;
        let tracks = text.lines().enumerate().map(|(number, line)| {
            let line: Line = serde_json::from_str(line).map_err(|source| CassetteError::Line {
                path: path.to_owned(),
                line: number + 1,
                source,
            })?;
            Ok(Track {
                line,
                played: false,
            })
        });
        Ok(Self {
            model,
            path: path.to_owned(),
            mode: Mode::Playing(Mutex::new(tracks.collect::<Result<_, CassetteError>>()?)),
        })
    }

    async fn record(
        &self,
        file: &Mutex<File>,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelFailure> {
        let outcome = self.model.ask(request).await;
        let line = Line::new(self.model.name(), request, &outcome);
        let mut text = serde_json::to_string(&line).expect("a line is made of plain values");
        text.push('\n');
        // One write of a file that is opened for appending: lines of several processes do not mix.
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        match file.write_all(text.as_bytes()) {
            Ok(()) => outcome,
            Err(error) => Err(ModelFailure {
                spent: match &outcome {
                    Ok(reply) => reply.usage.map_or(Spent::Unknown, Spent::Reported),
                    Err(failure) => failure.spent,
                },
                error: self.other(CassetteError::file(&self.path, error)),
            }),
        }
    }

    fn play(
        &self,
        tracks: &Mutex<Vec<Track>>,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelFailure> {
        let asked = canonical(request);
        let key = key(self.model.name(), &asked);
        let mut tracks = tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let track = tracks
            .iter_mut()
            .find(|it| !it.played && it.line.key == key);
        if let Some(track) = track {
            track.played = true;
            return track.line.outcome.played();
        }
        let missing = CassetteError::NotRecorded {
            path: self.path.clone(),
            why: why_not(&tracks, &key, self.model.name(), &asked),
        };
        Err(ModelFailure {
            error: self.other(missing),
            spent: Spent::Nothing,
        })
    }

    fn other(&self, error: CassetteError) -> ModelError {
        ModelError::Other {
            model: self.model.name().to_owned(),
            source: error.into(),
        }
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match self.mode {
            Mode::Recording(_) => "recording",
            Mode::Playing(_) => "playing",
        };
        write!(f, "Cassette({mode} {})", self.path.display())
    }
}

#[async_trait]
impl Model for Cassette {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn context_tokens(&self) -> u32 {
        self.model.context_tokens()
    }

    fn count_tokens(&self, text: &str) -> u32 {
        self.model.count_tokens(text)
    }

    async fn ask(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        match &self.mode {
            Mode::Recording(file) => self.record(file, request).await,
            Mode::Playing(tracks) => self.play(tracks, request),
        }
    }
}

/// A cassette that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// Its file cannot be read or written.
    #[error("the cassette {} cannot be used", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A line of it is none that was recorded, or not all of it.
    #[error("line {line} of the cassette {} is no whole recording; record it anew", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A question that was never recorded.
    #[error("the cassette {} does not hold this question: {why}; record it anew", path.display())]
    NotRecorded {
        /// Which file.
        path: PathBuf,
        /// How the question differs from what is on it.
        why: String,
    },
}

impl CassetteError {
    fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }
}

struct Track {
    line: Line,
    played: bool,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    model: String,
    request: Value,
    outcome: Outcome,
}

impl Line {
    fn new(
        model: &str,
        request: &ModelRequest,
        outcome: &Result<ModelReply, ModelFailure>,
    ) -> Self {
        let request = canonical(request);
        Self {
            key: key(model, &request),
            model: model.to_owned(),
            request,
            outcome: Outcome::of(outcome),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reply(ModelReply),
    Failure { spent: Spent, error: Recorded },
}

/// A [`ModelError`], as it is written down.
#[derive(Serialize, Deserialize)]
struct Recorded {
    class: Class,
    model: String,
    message: String,
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Class {
    Unavailable,
    Denied,
    TooLong,
    Refused,
    Malformed,
    BadRequest,
    Cancelled,
    Other,
}

impl Outcome {
    fn of(outcome: &Result<ModelReply, ModelFailure>) -> Self {
        match outcome {
            Ok(reply) => Self::Reply(reply.clone()),
            Err(failure) => Self::Failure {
                spent: failure.spent,
                error: Recorded::of(&failure.error),
            },
        }
    }

    fn played(&self) -> Result<ModelReply, ModelFailure> {
        match self {
            Self::Reply(reply) => Ok(reply.clone()),
            Self::Failure { spent, error } => Err(ModelFailure {
                error: error.played(),
                spent: *spent,
            }),
        }
    }
}

impl Recorded {
    fn of(error: &ModelError) -> Self {
        let mut retry_after_ms = None;
        let (class, model, message) = match error {
            ModelError::Unavailable {
                model,
                message,
                retry_after,
            } => {
                let ms = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                retry_after_ms = retry_after.map(ms);
                (Class::Unavailable, model, message.clone())
            }
            ModelError::Denied { model, message } => (Class::Denied, model, message.clone()),
            ModelError::TooLong { model, message } => (Class::TooLong, model, message.clone()),
            ModelError::Refused { model, message } => (Class::Refused, model, message.clone()),
            ModelError::Malformed { model, message } => (Class::Malformed, model, message.clone()),
            ModelError::BadRequest { model, message } => {
                (Class::BadRequest, model, message.clone())
            }
            ModelError::Cancelled { model } => (Class::Cancelled, model, String::new()),
            ModelError::Other { model, source } => (Class::Other, model, source.to_string()),
        };
        Self {
            class,
            model: model.clone(),
            message,
            retry_after_ms,
        }
    }

    fn played(&self) -> ModelError {
        let (model, message) = (self.model.clone(), self.message.clone());
        match self.class {
            Class::Unavailable => ModelError::Unavailable {
                model,
                message,
                retry_after: self.retry_after_ms.map(Duration::from_millis),
            },
            Class::Denied => ModelError::Denied { model, message },
            Class::TooLong => ModelError::TooLong { model, message },
            Class::Refused => ModelError::Refused { model, message },
            Class::Malformed => ModelError::Malformed { model, message },
            Class::BadRequest => ModelError::BadRequest { model, message },
            Class::Cancelled => ModelError::Cancelled { model },
            Class::Other => ModelError::Other {
                model,
                source: message.into(),
            },
        }
    }
}

/// A question with the fields of every object in the order of their names.
fn canonical(request: &ModelRequest) -> Value {
    sorted(serde_json::to_value(request).expect("a question is made of plain values"))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            fields
                .into_iter()
                .map(|(name, field)| (name, sorted(field)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

fn key(model: &str, request: &Value) -> String {
    let hash = blake3::hash(format!("{model}\n{request}").as_bytes());
    hash.to_hex()[..32].to_owned()
}

/// How a question differs from the one that would have been played next.
fn why_not(tracks: &[Track], key: &str, model: &str, asked: &Value) -> String {
    let times = tracks.iter().filter(|it| it.line.key == key).count();
    if times > 0 {
        return format!("it was recorded {times} times, and played as often");
    }
    let Some((number, next)) = tracks.iter().enumerate().find(|(_, it)| !it.played) else {
        return format!("all {} recordings have been played", tracks.len());
    };
    let line = number + 1;
    if next.line.model != model {
        return format!(
            "line {line} was recorded of {}, not of {model}",
            next.line.model
        );
    }
    match difference(&next.line.request, asked, "") {
        Some((place, recorded, asked)) => {
            format!("at {place} line {line} has {recorded}, and now there is {asked}")
        }
        None => format!("line {line} is the same but for its key, so it was edited"),
    }
}

/// Where two values first differ, and what each has there.
fn difference(recorded: &Value, asked: &Value, at: &str) -> Option<(String, String, String)> {
    let nothing = || "nothing".to_owned();
    let both = |name: &str, one: Option<&Value>, other: Option<&Value>| match (one, other) {
        (Some(one), Some(other)) => difference(one, other, &format!("{at}/{name}")),
        (None, None) => None,
        (one, other) => Some((
            format!("{at}/{name}"),
            one.map_or_else(nothing, shown),
            other.map_or_else(nothing, shown),
        )),
    };
    match (recorded, asked) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys());
            names
                .into_iter()
                .find_map(|name| both(name, one.get(name), other.get(name)))
        }
        (Value::Array(one), Value::Array(other)) => (0..one.len().max(other.len()))
            .find_map(|place| both(&place.to_string(), one.get(place), other.get(place))),
        (one, other) if one == other => None,
        (Value::String(one), Value::String(other)) => {
            let common = one
                .chars()
                .zip(other.chars())
                .take_while(|(a, b)| a == b)
                .count();
            let place = format!("{at} (from character {})", common + 1);
            let rest = |text: &str| shown(&text.chars().skip(common).collect::<String>().into());
            Some((place, rest(one), rest(other)))
        }
        (one, other) => Some((at.to_owned(), shown(one), shown(other))),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
