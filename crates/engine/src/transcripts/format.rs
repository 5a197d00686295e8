//! The format of one host, and the reader that all such formats share.
//!
//! A format is a folder of its own: a type that implements [`SessionFormat`], the shape of its lines, and a table of what
//! each line becomes. The reader parses lines, repairs what programs are known to get wrong, resumes from a state and says
//! first whose events follow; the format only decides who wrote what. `docs/readers.md` shows how one is added.
//!
//! Not here: events and sessions as they are yielded (`item_writer`), and which format a file has (`detect`).

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::item::{BadLine, BadState, TranscriptItem, TranscriptReader};
use super::item_writer::{ItemWriter, WriterState};
use super::json;
use crate::places::folding::GitCommonDir;

/// One host's format. The value itself is what later lines need of earlier ones, beyond what every
/// format has; it is bounded, and stored with the file's progress.
pub(super) trait SessionFormat: Default + Serialize + DeserializeOwned + Send {
    /// The agent's name in session ids.
    const AGENT: &'static str;

    /// A line, or a member of a document's list, as far as it is read.
    type Line<'j>: Deserialize<'j>;

    /// Writes what a line becomes. Safe to repeat: the same line yields the same events.
    fn read(&mut self, line: &Self::Line<'_>, out: &mut ItemWriter<'_>) -> Result<(), BadLine>;
}

/// Reads one transcript of a format.
pub(super) struct SessionReader<'a, F: Default> {
    git: GitCommonDir<'a>,
    /// The session's id if no line names one.
    name: String,
    state: ReaderState<F>,
    /// Whether the session was yielded by an earlier reader only.
    must_repeat_session: bool,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ReaderState<F: Default> {
    format: F,
    writer: WriterState,
}

impl<'a, F: SessionFormat> SessionReader<'a, F> {
    /// Opens a reader, which resumes from `state` if there is one.
    pub(super) fn new(
        name: &str,
        git: GitCommonDir<'a>,
        state: Option<&str>,
    ) -> Result<Self, BadState> {
        let state: ReaderState<F> = match state {
            Some(state) => serde_json::from_str(state).map_err(|_| BadState)?,
            None => ReaderState::default(),
        };
        Ok(Self {
            git,
            name: name.to_owned(),
            must_repeat_session: state.writer.has_session(),
            state,
        })
    }

    fn read_objects(&mut self, bytes: &[u8], mut writer: ItemWriter<'_>) -> Result<(), BadLine> {
        for (line, _) in json::objects::<F::Line<'_>>(bytes)? {
            self.state.format.read(&line, &mut writer)?;
        }
        Ok(())
    }
}

impl<F: SessionFormat> TranscriptReader for SessionReader<'_, F> {
    fn line(
        &mut self,
        number: u32,
        bytes: &[u8],
        out: &mut Vec<TranscriptItem>,
    ) -> Result<(), BadLine> {
        let (git, name) = (self.git, self.name.clone());
        let mut state = std::mem::take(&mut self.state.writer);
        let mut writer = ItemWriter::new(F::AGENT, &name, git, number, &mut state, out);
        if std::mem::take(&mut self.must_repeat_session) {
            writer.repeat_session();
        }
        let read = match self.read_objects(bytes, writer) {
            Ok(()) => Ok(()),
            Err(bad) => match json::repaired(bytes) {
                Some(repaired) => {
                    let writer = ItemWriter::new(F::AGENT, &name, git, number, &mut state, out);
                    self.read_objects(&repaired, writer)
                }
                None => Err(bad),
            },
        };
        self.state.writer = state;
        read
    }

    fn state(&self) -> String {
        serde_json::to_string(&self.state).unwrap_or_default()
    }
}
