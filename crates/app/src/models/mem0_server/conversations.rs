//! Sends conversations to the mem0 server, in the place where an extractor would learn from them.
//!
//! So a conversation is sent by the job of its session: the watermark says how far it was sent, an outage is waited
//! out and shown like one of a model, and a worker that vanishes between the server's answer and the watermark leaves a
//! part that the next one recognises by its name.
//!
//! Not here: which conversations these are (`Settings::is_in_mem0`).

use std::sync::Arc;

use async_trait::async_trait;
use daybook_domain::{Event, Origin, Provenance, Scope, ScopeKind, Session, SessionId};
use daybook_engine::extract::{
    ExtractError, Extractor, ExtractorOutput, LookBack, TokenForecast, Window,
};

use super::{Mem0Server, RoleMessage};
use crate::settings::Settings;

/// The name that results have which only the server holds.
const NAME: &str = "mem0/1";

/// Sends conversations of agents whose memory is in mem0, and has all others read by another extractor.
pub(crate) struct ConversationSender {
    server: Mem0Server,
    settings: Settings,
    others: Arc<dyn Extractor>,
    /// Whether what is sent is read by `others`, too.
    also_here: bool,
}

impl ConversationSender {
    /// Sends to `server` what `settings` keep there; `others` reads the rest.
    pub(crate) fn new(server: Mem0Server, settings: &Settings, others: Arc<dyn Extractor>) -> Self {
        let also_here = settings.mem0.as_ref().is_some_and(|mem0| mem0.also_here);
        Self {
            server,
            settings: settings.clone(),
            others,
            also_here,
        }
    }

    /// Whose memory on the server a session belongs to: its team's, else its agent's.
    fn owner(&self, session: &Session) -> Option<Scope> {
        let (kind, name) = match &session.venue.team {
            Some(team) => (ScopeKind::Team, team),
            None => (ScopeKind::Agent, &session.id.agent),
        };
        let owner = Scope {
            tenant: session.id.tenant.clone(),
            kind,
            name: name.clone(),
        };
        self.settings.is_in_mem0(&owner).then_some(owner)
    }

    async fn send(&self, owner: &Scope, window: Window<'_>) -> Result<(), ExtractError> {
        let messages: Vec<RoleMessage<'_>> = window.events.iter().filter_map(message).collect();
        let (Some(first), Some(last)) = (window.events.first(), window.events.last()) else {
            return Ok(());
        };
        if messages.is_empty() {
            return Ok(());
        }
        let session = window.session.id.to_string();
        let part = format!("{session}:{}-{}", first.seq.0, last.seq.0);
        let sent = self
            .server
            .add_conversation(owner, &part, &session, &messages);
        sent.await.map_err(|error| error.of_job())
    }
}

/// What a person or an agent wrote; what tools and hosts wrote is no part of a conversation.
fn message(event: &Event) -> Option<RoleMessage<'_>> {
    let role = match event.origin {
        Origin::Human => "user",
        Origin::Assistant => "assistant",
        Origin::ToolCall
        | Origin::ToolResult
        | Origin::Harness
        | Origin::Synthetic
        | Origin::Recalled
        | Origin::Retraction => return None,
    };
    let text = event.text.trim();
    (!text.is_empty()).then_some(RoleMessage { role, text })
}

#[async_trait]
impl Extractor for ConversationSender {
    fn name(&self) -> &str {
        self.others.name()
    }

    fn name_for(&self, session: &SessionId) -> &str {
        self.others.name_for(session)
    }

    fn wants_known(&self) -> bool {
        self.others.wants_known()
    }

    fn look_back(&self) -> LookBack {
        self.others.look_back()
    }

    fn forecast(&self, window: Window<'_>) -> Option<TokenForecast> {
        match self.owner(window.session) {
            Some(_) if !self.also_here => None,
            Some(_) | None => self.others.forecast(window),
        }
    }

    async fn extract(&self, window: Window<'_>) -> Result<ExtractorOutput, ExtractError> {
        let Some(owner) = self.owner(window.session) else {
            return self.others.extract(window).await;
        };
        self.send(&owner, window).await?;
        if self.also_here {
            return self.others.extract(window).await;
        }
        Ok(ExtractorOutput {
            provenance: Some(Provenance::of(NAME)),
            ..ExtractorOutput::default()
        })
    }
}
