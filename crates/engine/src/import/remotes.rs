//! Collects a transcript's evidence of its folders' remotes, on its way to the store.
//!
//! Evidence goes with the event that shows it. Evidence beside events, of a session or of a pull request,
//! goes with the event before it, or with the session's last one if that came earlier. A command whose output was not
//! written yet when reading stopped is remembered beside the reader's state.
//!
//! Not here: which project follows from it.

use std::collections::HashSet;

use daybook_domain::limits::APPEND_EVENTS;
use daybook_domain::{EventId, NewEvent, RemoteEvidence, RemoteSource};

use crate::places::folding::{GitCommonDir, fold_root};
use crate::projects::output_evidence::OutputReader;
use crate::projects::settle::redact_evidence;
use crate::transcripts::SessionHint;
use crate::transcripts::state::storable_state;
use daybook_text::RawEvent;
use daybook_text::redact::Redactor;
use serde::{Deserialize, Serialize};

/// Evidence that waits for its batch.
#[derive(Debug, Default)]
pub(super) struct Remotes {
    waiting: Vec<RemoteEvidence>,
    /// The session's folder, and the remote that its host wrote for it.
    session: Option<(String, Option<String>)>,
    /// The last event with a place, and that place's folder.
    last: Option<(EventId, String)>,
    commands: SessionCommands,
}

/// The commands of a session whose outputs are to come.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SessionCommands {
    /// The session's id at its host.
    host_id: Option<String>,
    outputs: OutputReader,
}

/// Divides what is stored of a file into the state of its format's reader and that of [`Remotes`].
pub(super) fn split_state(stored: &str) -> (&str, Option<&str>) {
    match stored.split_once('\n') {
        Some((reader, remotes)) => (reader, Some(remotes)),
        None => (stored, None),
    }
}

impl Remotes {
    /// Goes on where reading stopped.
    pub(super) fn resume(state: Option<&str>) -> Self {
        let commands = state.and_then(|state| serde_json::from_str(state).ok());
        Self {
            commands: commands.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// What is stored of a file: the state of its format's reader, and the commands whose outputs are to come.
    pub(super) fn stored_state(&self, redactor: &Redactor, reader: String) -> String {
        let reader = storable_state(redactor, reader);
        let commands = match self.commands.outputs.is_idle() {
            true => None,
            false => serde_json::to_string(&self.commands).ok(),
        };
        let commands = commands.map(|commands| storable_state(redactor, commands));
        match commands.filter(|commands| !commands.is_empty()) {
            Some(commands) => format!("{reader}\n{commands}"),
            None => reader,
        }
    }

    /// Sets the session whose events follow.
    pub(super) fn set_session(&mut self, hint: &SessionHint, git: GitCommonDir<'_>) {
        let root = hint.cwd.as_ref();
        let root = root.map(|cwd| fold_root(cwd, hint.branch.as_deref(), git));
        self.session = root.map(|root| (root, hint.remote.clone()));
        if self.commands.host_id.as_ref() != Some(&hint.host_id) {
            self.last = None;
            self.commands = SessionCommands {
                host_id: Some(hint.host_id.clone()),
                outputs: OutputReader::default(),
            };
        }
    }

    /// Adds the evidence of an event, as it was read.
    pub(super) fn add_event(
        &mut self,
        redactor: &Redactor,
        event: &RawEvent,
        git: GitCommonDir<'_>,
    ) {
        let shown = self.commands.outputs.read_raw(redactor, event, git);
        self.push(shown);
        let Some(place) = &event.place else { return };
        self.last = Some((event.id, place.root.clone()));
        let Some((root, remote)) = &mut self.session else {
            return;
        };
        let (root, remote) = (root.clone(), remote.take());
        let evidence = remote.map(|remote| RemoteEvidence {
            event: Some(event.id),
            root,
            remote,
            source: RemoteSource::Host,
        });
        self.push(evidence.and_then(|evidence| redact_evidence(redactor, evidence)));
    }

    /// Adds the evidence of a pull request of `repository`.
    pub(super) fn add_pull_request(&mut self, redactor: &Redactor, repository: String) {
        let session = self.session.as_ref().map(|(root, _)| (None, root.clone()));
        let last = self.last.clone().map(|(event, root)| (Some(event), root));
        let Some((event, root)) = last.or(session) else {
            return;
        };
        let evidence = RemoteEvidence {
            event,
            root,
            remote: repository,
            source: RemoteSource::PullRequest,
        };
        self.push(redact_evidence(redactor, evidence));
    }

    /// Whether there is evidence that no batch carries yet.
    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes the evidence of a batch of these events; for the last batch, all that is left.
    pub(super) fn take_for(&mut self, events: &[NewEvent], is_last: bool) -> Vec<RemoteEvidence> {
        if is_last {
            return std::mem::take(&mut self.waiting);
        }
        let ids: HashSet<EventId> = events.iter().map(|event| event.id).collect();
        let is_here = |evidence: &RemoteEvidence| evidence.event.is_none_or(|id| ids.contains(&id));
        let (here, later) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(is_here);
        self.waiting = later;
        here
    }

    fn push(&mut self, evidence: Option<RemoteEvidence>) {
        // A file with more evidence than one append may carry repeats the same evidence.
        if let Some(evidence) = evidence
            && self.waiting.len() < APPEND_EVENTS
            && !self.waiting.contains(&evidence)
        {
            self.waiting.push(evidence);
        }
    }
}
