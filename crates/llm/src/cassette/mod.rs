//! Records the requests to a model and its replies, and replays them without a model.
//!
//! A cassette is a file of lines, one for each `ask`: the request in a canonical form, its hash, and its
//! outcome. It records above the wire, so that no header and no key can get onto it. Equal requests are
//! replayed in the order in which they were recorded.

mod difference;
mod recording;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use daybook_domain::model::{
    FailureCost, Model, ModelError, ModelFailure, ModelReply, ModelRequest,
};
use serde_json::Value;

use difference::difference;
use recording::{Recording, canonical, key};

/// A model that records another one, or replays a recording.
pub struct Cassette {
    /// The model that is recorded; a replay takes its name and its token counts from it.
    model: Arc<dyn Model>,
    path: PathBuf,
    mode: CassetteMode,
}

enum CassetteMode {
    Recording(Mutex<File>),
    Playing(Mutex<Vec<Track>>),
}

impl Cassette {
    /// Asks `model` and appends each outcome to the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn recording(model: Arc<dyn Model>, path: &Path) -> Result<Self, CassetteError> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| CassetteError::file(path, error))?;
        Ok(Self {
            model,
            path: path.to_owned(),
            mode: CassetteMode::Recording(Mutex::new(file)),
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
            let recording: Recording =
                serde_json::from_str(line).map_err(|source| CassetteError::Line {
                    path: path.to_owned(),
                    line: number + 1,
                    source,
                })?;
            Ok(Track {
                recording,
                is_played: false,
            })
        });
        Ok(Self {
            model,
            path: path.to_owned(),
            mode: CassetteMode::Playing(Mutex::new(tracks.collect::<Result<_, CassetteError>>()?)),
        })
    }

    async fn record(
        &self,
        file: &Mutex<File>,
        request: &ModelRequest,
    ) -> Result<ModelReply, ModelFailure> {
        let outcome = self.model.ask(request).await;
        let line = Recording::new(self.model.name(), request, &outcome);
        let mut text = serde_json::to_string(&line).expect("a line is made of plain values");
        text.push('\n');
        // One write of a file that is opened for appending: lines of several processes do not mix.
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        match file.write_all(text.as_bytes()) {
            Ok(()) => outcome,
            Err(error) => Err(ModelFailure {
                spent: match &outcome {
                    Ok(reply) => reply
                        .usage
                        .map_or(FailureCost::Unknown, FailureCost::Reported),
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
        let canonical_request = canonical(request);
        let key = key(self.model.name(), &canonical_request);
        let mut tracks = tracks.lock().unwrap_or_else(PoisonError::into_inner);
        let track = tracks
            .iter_mut()
            .find(|it| !it.is_played && it.recording.key == key);
        if let Some(track) = track {
            track.is_played = true;
            return track.recording.outcome.replay();
        }
        let missing = CassetteError::NotRecorded {
            path: self.path.clone(),
            why: why_not(&tracks, &key, self.model.name(), &canonical_request),
        };
        Err(ModelFailure {
            error: self.other(missing),
            spent: FailureCost::Nothing,
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
            CassetteMode::Recording(_) => "recording",
            CassetteMode::Playing(_) => "playing",
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
            CassetteMode::Recording(file) => self.record(file, request).await,
            CassetteMode::Playing(tracks) => self.play(tracks, request),
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
    recording: Recording,
    is_played: bool,
}

/// Describes how a request differs from the one that would have been replayed next.
fn why_not(tracks: &[Track], key: &str, model: &str, asked: &Value) -> String {
    let times = tracks.iter().filter(|it| it.recording.key == key).count();
    if times > 0 {
        return format!("it was recorded {times} times, and played as often");
    }
    let Some((number, next)) = tracks.iter().enumerate().find(|(_, it)| !it.is_played) else {
        return format!("all {} recordings have been played", tracks.len());
    };
    let line = number + 1;
    if next.recording.model != model {
        return format!(
            "line {line} was recorded of {}, not of {model}",
            next.recording.model
        );
    }
    match difference(&next.recording.request, asked, "") {
        Some((place, recorded, asked)) => {
            format!("at {place} line {line} has {recorded}, and now there is {asked}")
        }
        None => format!("line {line} is the same but for its key, so it was edited"),
    }
}
