//! Whose events a line holds, and what else the host says of sessions.
//!
//! A sub-agent's lines carry its parent's session id: they are the parent's events. A file of
//! which nothing but a side conversation has been seen says so, for the parent may be missing.
//!
//! Not here: events.

use daybook_domain::SessionKind;
use serde::{Deserialize, Serialize};

use super::line::Line;
use super::{AGENT, ClaudeReader, event_id};
use crate::ingest::parsed::{Parsed, PullRequest, SessionHint, Title, TitleOf};
use crate::ingest::place::normalised_remote;

/// What was said of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) host_id: String,
    /// No line of the main conversation has been seen yet.
    only_sidechain: bool,
    agent: Option<String>,
    forked_from: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
}

impl ClaudeReader<'_> {
    /// Says whose events follow, if that is new.
    pub(super) fn tell(&mut self, line: &Line<'_>, out: &mut Vec<Parsed>) {
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
            .filter(|told| told.host_id == host_id);
        let told = Told {
            host_id: host_id.to_owned(),
            only_sidechain: match (line.is_sidechain, before) {
                (Some(sidechain), before) => {
                    sidechain.0 && before.is_none_or(|told| told.only_sidechain)
                }
                (None, Some(before)) => before.only_sidechain,
                (None, None) => false,
            },
            agent: line
                .agent_id
                .owned()
                .or(before.and_then(|told| told.agent.clone())),
            forked_from: match &line.forked_from.0 {
                Some(from) if &*from.session_id != host_id => from.session_id.owned(),
                Some(_) | None => None,
            }
            .or(before.and_then(|told| told.forked_from.clone())),
            cwd: self.state.whereabouts.cwd().map(str::to_owned),
            branch: self.state.whereabouts.branch().map(str::to_owned),
        };
        if self.state.session.as_ref() != Some(&told) {
            out.push(Parsed::Session(told.hint()));
            self.state.session = Some(told);
        }
    }

    /// Says whose events follow to whoever goes on from a state.
    pub(super) fn tell_again(&mut self, out: &mut Vec<Parsed>) {
        if std::mem::take(&mut self.untold) {
            let told = self.state.session.as_ref();
            out.extend(told.map(|told| Parsed::Session(told.hint())));
        }
    }

    /// The present session's id.
    pub(super) fn session(&self) -> &str {
        self.state.session.as_ref().map_or("", |told| &told.host_id)
    }
}

impl Told {
    fn hint(&self) -> SessionHint {
        // A sub-agent's lines carry its parent's id; where they carry the agent's own, the parent
        // is not known here.
        let own = self.agent.as_deref().is_some_and(|agent| {
            self.host_id == agent || self.host_id.strip_prefix("agent-") == Some(agent)
        });
        let parent = (self.only_sidechain && !own).then(|| self.host_id.clone());
        SessionHint {
            host_id: self.host_id.clone(),
            agent: AGENT,
            kind: match self.only_sidechain {
                true => SessionKind::SubAgent,
                false => SessionKind::Root,
            },
            memory_off: false,
            forked_from: self.forked_from.clone(),
            surface: None,
            parent,
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            remote: None,
        }
    }
}

/// Takes in a line that only gives a session its title.
pub(super) fn titled(line: &Line<'_>, out: &mut Vec<Parsed>) -> bool {
    let own = || line.session_id.owned().map(TitleOf::Session);
    let (of, text) = match &*line.kind {
        // The leaf is an event of the session that has this title, which is another one.
        "summary" => {
            let leaf = event_id(&line.leaf_uuid, "0");
            (Some(TitleOf::Event(leaf)), line.summary.owned())
        }
        "custom-title" => (own(), line.custom_title.owned()),
        "ai-title" => (own(), line.ai_title.owned()),
        _ => return false,
    };
    if let (Some(of), Some(text)) = (of, text) {
        out.push(Parsed::Title(Title { of, text }));
    }
    true
}

pub(super) fn pull_request(line: &Line<'_>, out: &mut Vec<Parsed>) {
    let Some(remote) = normalised_remote(&line.pr_url) else {
        return;
    };
    // The address says the host; the repository's name is given on its own.
    let host = remote.split('/').next().unwrap_or_default();
    let name = line.pr_repository.trim_matches('/');
    if !name.is_empty() {
        out.push(Parsed::PullRequest(PullRequest {
            repository: format!("{host}/{name}"),
            url: line.pr_url.to_string(),
        }));
    }
}
