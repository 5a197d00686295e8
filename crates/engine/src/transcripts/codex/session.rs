//! Reads a rollout's session: its id, the session it was forked from, and the agent that holds it.
//!
//! Not here: events.

use std::time::Duration;

use daybook_domain::SessionKind;
use daybook_domain::Venue;
use serde::{Deserialize, Serialize};

use super::item::{Meta, Source, SubAgent, TurnContext};
use super::{AGENT, CodexReader};
use crate::places::folding::normalised_remote;
use crate::transcripts::item::{SessionHint, TranscriptItem};
use crate::transcripts::when;
use daybook_text::lenient::Object;

/// How long after a fork's beginning its lines are still its parent's.
const FORKING: Duration = Duration::from_secs(2);

/// The session's description so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CodexSession {
    pub(super) host_id: String,
    pub(super) kind: HolderKind,
    pub(super) memory_off: bool,
    pub(super) forked_from: Option<String>,
    #[serde(default)]
    pub(super) surface: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) remote: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
}

/// The kind of agent that holds the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum HolderKind {
    #[default]
    Root,
    SubAgent,
    MemoryAgent,
}

impl CodexReader<'_> {
    /// Reads the rollout's description of its session. A fork's file holds its parent's description too;
    /// the first one counts.
    pub(super) fn meta(&mut self, meta: &Meta<'_>, out: &mut Vec<TranscriptItem>) {
        if self.state.session.is_some() || meta.id.is_empty() {
            return;
        }
        let git = meta.git.0.as_ref();
        let branch = git.and_then(|git| git.branch.get());
        self.state.places.set_folder(&meta.cwd, branch, self.git);
        if let Some(at) = when::parse_field(&meta.timestamp) {
            self.state.at = at;
        }
        let forked_from = meta.forked_from_id.owned();
        self.state.forking_until = forked_from.as_ref().map(|_| self.state.at.plus(FORKING));
        let (kind, parent) = kind(meta);
        self.update_session(
            CodexSession {
                host_id: meta.id.to_string(),
                kind,
                memory_off: matches!(&*meta.memory_mode, "off" | "disabled" | "polluted"),
                forked_from,
                surface: surface(meta),
                parent,
                remote: git.and_then(|git| normalised_remote(&git.repository_url)),
                ..CodexSession::default()
            },
            out,
        );
    }

    /// Yields the session whose events follow, if anything of it changed.
    fn update_session(&mut self, mut session: CodexSession, out: &mut Vec<TranscriptItem>) {
        session.cwd = self.state.places.cwd().map(str::to_owned);
        session.branch = self.state.places.branch().map(str::to_owned);
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

    /// Names the session after its file if the rollout does not describe it.
    pub(super) fn ensure_session(&mut self, out: &mut Vec<TranscriptItem>) {
        if self.state.session.is_none() {
            let session = CodexSession {
                host_id: self.name.clone(),
                ..CodexSession::default()
            };
            self.update_session(session, out);
        }
    }

    pub(super) fn turn_context(
        &mut self,
        context: &TurnContext<'_>,
        out: &mut Vec<TranscriptItem>,
    ) {
        self.state.places.change_folder(&context.cwd, self.git);
        if let Some(session) = self.state.session.clone() {
            self.update_session(session, out);
        }
    }

    /// The session that the events came from first: the parent, while a fork repeats them.
    pub(super) fn first_session(&self) -> &str {
        let Some(session) = &self.state.session else {
            return &self.name;
        };
        let forking = self
            .state
            .forking_until
            .is_some_and(|until| self.state.at <= until);
        match &session.forked_from {
            Some(parent) if forking => parent,
            Some(_) | None => &session.host_id,
        }
    }

    pub(super) fn is_sub_agent(&self) -> bool {
        self.state
            .session
            .as_ref()
            .is_some_and(|session| session.kind != HolderKind::Root)
    }
}

impl CodexSession {
    fn hint(&self) -> SessionHint {
        SessionHint {
            host_id: self.host_id.clone(),
            agent: AGENT.into(),
            kind: match self.kind {
                HolderKind::Root => SessionKind::Root,
                HolderKind::SubAgent => SessionKind::SubAgent,
                HolderKind::MemoryAgent => SessionKind::MemoryAgent,
            },
            memory_off: self.memory_off,
            forked_from: self.forked_from.clone(),
            surface: self.surface.clone(),
            user: None,
            venue: Venue::default(),
            parent: self.parent.clone(),
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            remote: self.remote.clone(),
        }
    }
}

/// The surface that a person used: `"cli"`, or `{"custom":"atlas"}`.
fn surface(meta: &Meta<'_>) -> Option<String> {
    let source = meta.source?.get();
    if let Ok(name) = serde_json::from_str::<String>(source) {
        return Some(name);
    }
    let of = serde_json::from_str::<Object<Source<'_>>>(source).ok()?.0?;
    of.custom.owned()
}

/// The kind of agent that holds the conversation, and the session that called it.
fn kind(meta: &Meta<'_>) -> (HolderKind, Option<String>) {
    let source = meta
        .source
        .and_then(|source| serde_json::from_str::<Object<Source<'_>>>(source.get()).ok())
        .and_then(|source| source.0)
        .unwrap_or_default();
    let Some(by) = source.subagent.or(source.internal) else {
        return (HolderKind::Root, None);
    };
    if by.get().contains("memory") {
        return (HolderKind::MemoryAgent, None);
    }
    let spawned = serde_json::from_str::<Object<SubAgent<'_>>>(by.get());
    let spawn = spawned
        .ok()
        .and_then(|by| by.0)
        .and_then(|by| by.thread_spawn.0);
    let parent = meta
        .parent_thread_id
        .owned()
        .or_else(|| spawn.and_then(|spawn| spawn.parent_thread_id.owned()));
    (HolderKind::SubAgent, parent)
}
