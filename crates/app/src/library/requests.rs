//! What a program hands over with its requests.

use std::path::PathBuf;

use anyhow::Result;
use daybook_domain::SessionId;
use daybook_engine::append::batch::ReportedEvent;

use crate::service::append_api::{ReportedPlace, ReportedVenue, SessionAppend, session_id};
use crate::service::caller::NamedCaller;
use crate::service::notes::NoteScope;
use crate::wiring::Daybook;

/// A session as the program that holds it names it.
#[derive(Debug, Clone, Default)]
pub struct ProgramSession {
    /// The agent: letters, digits, dots, dashes and underscores.
    pub agent: String,
    /// The program's own id of the session.
    pub id: String,
    /// The user whose messages it holds; the person of the data folder if `None`.
    pub user: Option<String>,
    /// The folder that the agent works in. Its project's memory learns from the session.
    pub folder: Option<PathBuf>,
    /// The room that it is held in.
    pub room_id: Option<String>,
}

impl ProgramSession {
    /// A session of the data folder's person, without a folder.
    pub fn new(agent: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            id: id.into(),
            ..Self::default()
        }
    }

    /// Its id in the log.
    pub(super) fn id(&self, daybook: &Daybook) -> Result<SessionId> {
        session_id(daybook, &self.agent, &self.id)
    }

    /// The request that appends `events` to it.
    pub(super) fn append_of(
        self,
        daybook: &Daybook,
        events: Vec<ReportedEvent>,
    ) -> Result<SessionAppend> {
        let folder = self.folder.as_ref();
        Ok(SessionAppend {
            session: self.id(daybook)?,
            kind: None,
            at: ReportedPlace {
                folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
                branch: None,
            },
            user: self.user,
            held: ReportedVenue {
                room_id: self.room_id,
                ..ReportedVenue::default()
            },
            events,
        })
    }
}

/// A text to keep.
#[derive(Debug, Clone)]
pub struct NewNote {
    /// The text.
    pub text: String,
    /// The scope that keeps it.
    pub scope: NoteScope,
    /// The folder whose project [`NoteScope::Current`] means.
    pub folder: Option<PathBuf>,
    /// Who asks for it; the person of the data folder if `None`.
    pub caller: Option<NamedCaller>,
    /// Whether an agent wrote it. A person's words have more weight.
    pub by_agent: bool,
}

impl NewNote {
    /// The person's words, for their own memory.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            scope: NoteScope::Person,
            folder: None,
            caller: None,
            by_agent: false,
        }
    }
}

impl<T: Into<String>> From<T> for NewNote {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}
