//! Whose events a rollout holds: its session, what it was forked from, and who holds it.
//!
//! Not here: events.

use std::time::Duration;

use daybook_domain::SessionKind;
use serde::{Deserialize, Serialize};

use super::item::{Meta, Source, SubAgent, TurnContext};
use super::{AGENT, CodexReader};
use crate::ingest::lenient::Object;
use crate::ingest::parsed::{Parsed, SessionHint};
use crate::ingest::place::normalised_remote;

/// How long after a fork's beginning its lines are still its parent's.
const FORKING: Duration = Duration::from_secs(2);

/// What was said of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) host_id: String,
    pub(super) kind: Kind,
    pub(super) memory_off: bool,
    pub(super) forked_from: Option<String>,
    #[serde(default)]
    pub(super) surface: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) remote: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
}

/// Who holds the conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    #[default]
    Root,
    SubAgent,
    MemoryAgent,
}

impl CodexReader<'_> {
    /// What the rollout says of its session. A fork's file holds its parent's words on this, too;
    /// the first count.
    pub(super) fn meta(&mut self, meta: &Meta<'_>, out: &mut Vec<Parsed>) {
        if self.state.session.is_some() || meta.id.is_empty() {
            return;
        }
        let git = meta.git.0.as_ref();
        let branch = git.and_then(|git| git.branch.get());
        self.state.whereabouts.at(&meta.cwd, branch, self.git);
        if let Some(at) = meta.timestamp.read() {
            self.state.at = at;
        }
        let forked_from = meta.forked_from_id.owned();
        self.state.forking_until = forked_from.as_ref().map(|_| self.state.at.plus(FORKING));
        let (kind, parent) = kind(meta);
        self.tell(
            Told {
                host_id: meta.id.to_string(),
                kind,
                memory_off: matches!(&*meta.memory_mode, "off" | "disabled" | "polluted"),
                forked_from,
                surface: surface(meta),
                parent,
                remote: git.and_then(|git| normalised_remote(&git.repository_url)),
                ..Told::default()
            },
            out,
        );
    }

    /// Says whose events follow, if that is new.
    fn tell(&mut self, mut told: Told, out: &mut Vec<Parsed>) {
        told.cwd = self.state.whereabouts.cwd().map(str::to_owned);
        told.branch = self.state.whereabouts.branch().map(str::to_owned);
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

    /// Names the session after its file if nothing was said of it.
    pub(super) fn ensure_session(&mut self, out: &mut Vec<Parsed>) {
        if self.state.session.is_none() {
            let told = Told {
                host_id: self.name.clone(),
                ..Told::default()
            };
            self.tell(told, out);
        }
    }

    pub(super) fn turn_context(&mut self, context: &TurnContext<'_>, out: &mut Vec<Parsed>) {
        self.state.whereabouts.moved(&context.cwd, self.git);
        if let Some(told) = self.state.session.clone() {
            self.tell(told, out);
        }
    }

    /// The session that said it first: the parent, while a fork repeats it.
    pub(super) fn first_session(&self) -> &str {
        let Some(told) = &self.state.session else {
            return &self.name;
        };
        let forking = self
            .state
            .forking_until
            .is_some_and(|until| self.state.at <= until);
        match &told.forked_from {
            Some(parent) if forking => parent,
            Some(_) | None => &told.host_id,
        }
    }

    pub(super) fn is_sub_agent(&self) -> bool {
        self.state
            .session
            .as_ref()
            .is_some_and(|told| told.kind != Kind::Root)
    }
}

impl Told {
    fn hint(&self) -> SessionHint {
        SessionHint {
            host_id: self.host_id.clone(),
            agent: AGENT,
            kind: match self.kind {
                Kind::Root => SessionKind::Root,
                Kind::SubAgent => SessionKind::SubAgent,
                Kind::MemoryAgent => SessionKind::MemoryAgent,
            },
            memory_off: self.memory_off,
            forked_from: self.forked_from.clone(),
            surface: self.surface.clone(),
            parent: self.parent.clone(),
            cwd: self.cwd.clone(),
            branch: self.branch.clone(),
            remote: self.remote.clone(),
        }
    }
}

/// Where a person held it: `"cli"`, or `{"custom":"atlas"}`.
fn surface(meta: &Meta<'_>) -> Option<String> {
    let source = meta.source?.get();
    if let Ok(name) = serde_json::from_str::<String>(source) {
        return Some(name);
    }
    let of = serde_json::from_str::<Object<Source<'_>>>(source).ok()?.0?;
    of.custom.owned()
}

/// Whether another agent holds the conversation, and which session called it.
fn kind(meta: &Meta<'_>) -> (Kind, Option<String>) {
    let source = meta
        .source
        .and_then(|source| serde_json::from_str::<Object<Source<'_>>>(source.get()).ok())
        .and_then(|source| source.0)
        .unwrap_or_default();
    let Some(by) = source.subagent.or(source.internal) else {
        return (Kind::Root, None);
    };
    if by.get().contains("memory") {
        return (Kind::MemoryAgent, None);
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
    (Kind::SubAgent, parent)
}
