//! Reads the session of a line's events, titles and pull requests.
//!
//! A sub-agent's lines carry its parent's session id: they are the parent's events. A file that has
//! shown only a side conversation so far is marked as such, for the parent may be missing.
//!
//! Not here: events.

use daybook_domain::SessionKind;
use daybook_domain::Venue;
use serde::{Deserialize, Serialize};

use super::line::ClaudeLine;
use super::{AGENT, ClaudeReader, event_id};
use crate::places::folding::normalised_remote;
use crate::transcripts::item::{
    PullRequest, SessionHint, SessionTitle, TitleTarget, TranscriptItem,
};

/// The session's description so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClaudeSession {
    pub(super) host_id: String,
    /// Whether no line of the main conversation was read yet.
    only_sidechain: bool,
    agent: Option<String>,
    forked_from: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
}

impl ClaudeReader<'_> {
    /// Yields the session whose events follow, if anything of it changed.
    pub(super) fn update_session(&mut self, line: &ClaudeLine<'_>, out: &mut Vec<TranscriptItem>) {
        let says_something = matches!(&*line.kind, "user" | "assistant" | "queue-operation");
        let unnamed = self.state.session.is_none() && says_something;
        let name = Some(&*self.name).filter(|_| unnamed);
        let Some(host_id) = line.session_id.get().or(name) else {
            return;
        };
        let before = self
            .state
            .session
            .as_ref()
            .filter(|session| session.host_id == host_id);
        let session = ClaudeSession {
            host_id: host_id.to_owned(),
            only_sidechain: match (line.is_sidechain, before) {
                (Some(sidechain), before) => {
                    sidechain.0 && before.is_none_or(|session| session.only_sidechain)
                }
                (None, Some(before)) => before.only_sidechain,
                (None, None) => false,
            },
            agent: line
                .agent_id
                .owned()
                .or(before.and_then(|session| session.agent.clone())),
            forked_from: match &line.forked_from.0 {
                Some(from) if &*from.session_id != host_id => from.session_id.owned(),
                Some(_) | None => None,
            }
            .or(before.and_then(|session| session.forked_from.clone())),
            cwd: self.state.places.cwd().map(str::to_owned),
            branch: self.state.places.branch().map(str::to_owned),
        };
        if self.state.session.as_ref() != Some(&session) {
            out.push(TranscriptItem::Session(session.hint()));
            self.state.session = Some(session);
        }
    }

    /// Yields the session again, once, after the reader resumed from a state.
    pub(super) fn repeat_session(&mut self, out: &mut Vec<TranscriptItem>) {
        if std::mem::take(&mut self.must_repeat_session) {
            let session = self.state.session.as_ref();
            out.extend(session.map(|session| TranscriptItem::Session(session.hint())));
        }
    }

    /// The present session's id.
    pub(super) fn session(&self) -> &str {
        self.state
            .session
            .as_ref()
            .map_or("", |session| &session.host_id)
    }
}

impl ClaudeSession {
    fn hint(&self) -> SessionHint {
        // A sub-agent's lines carry its parent's id; where they carry the agent's own, the parent
        // is not known here.
        let own = self.agent.as_deref().is_some_and(|agent| {
            self.host_id == agent || self.host_id.strip_prefix("agent-") == Some(agent)
        });
        let parent = (self.only_sidechain && !own).then(|| self.host_id.clone());
        SessionHint {
            host_id: self.host_id.clone(),
            agent: AGENT.into(),
            kind: match self.only_sidechain {
                true => SessionKind::SubAgent,
                false => SessionKind::Root,
            },
            memory_off: false,
            forked_from: self.forked_from.clone(),
            surface: None,
            user: None,
            venue: Venue::default(),
            parent,
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            remote: None,
        }
    }
}

/// Reads a line that only gives a session its title. Returns whether it was one.
pub(super) fn read_title(line: &ClaudeLine<'_>, out: &mut Vec<TranscriptItem>) -> bool {
    let own = || line.session_id.owned().map(TitleTarget::Session);
    let (of, text) = match &*line.kind {
        // The leaf is an event of the session that has this title, which is another one.
        "summary" => {
            let leaf = event_id(&line.leaf_uuid, "0");
            (Some(TitleTarget::Event(leaf)), line.summary.owned())
        }
        "custom-title" => (own(), line.custom_title.owned()),
        "ai-title" => (own(), line.ai_title.owned()),
        _ => return false,
    };
    if let (Some(of), Some(text)) = (of, text) {
        out.push(TranscriptItem::Title(SessionTitle { of, text }));
    }
    true
}

pub(super) fn read_pull_request(line: &ClaudeLine<'_>, out: &mut Vec<TranscriptItem>) {
    let Some(remote) = normalised_remote(&line.pr_url) else {
        return;
    };
    // The address gives the host; the repository's name has a field of its own.
    let host = remote.split('/').next().unwrap_or_default();
    let name = line.pr_repository.trim_matches('/');
    if !name.is_empty() {
        out.push(TranscriptItem::PullRequest(PullRequest {
            repository: format!("{host}/{name}"),
            url: line.pr_url.to_string(),
        }));
    }
}
