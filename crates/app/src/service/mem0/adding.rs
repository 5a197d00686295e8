//! Adds memories as mem0's programs do: a message as it is, or what is to be learned from a conversation.
//!
//! A conversation is a session like any other, which ends with its last message: background work learns from it, and the
//! program asks what became of it by the session's name.
//!
//! Not here: what became of a conversation (`events`).

use anyhow::{Result, bail};
use daybook_domain::{Origin, Scope, Trigger};
use daybook_engine::append::batch::{ReportedEvent, SpeakerRole};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::attributes::{Kept, keep};
use super::changing::check_day;
use super::events::{CONVERSATION, name_of};
use super::reading::get;
use super::{Mem0Memory, NO_OWNER, Owners};
use crate::process::random_bytes;
use crate::service::RequestError;
use crate::service::append_api::{
    ReportedPlace, ReportedVenue, SessionAppend, SessionTrigger, append, apply_trigger, session_id,
};
use crate::service::notes::save_note_in;
use crate::wiring::Daybook;

/// A message of a conversation.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Message {
    role: String,
    /// A text, or parts of which some have one.
    content: Value,
}

/// What is to be kept.
#[derive(Debug, Clone)]
pub(crate) struct Addition {
    pub(crate) messages: Vec<Message>,
    pub(crate) owners: Owners,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) expiration_date: Option<String>,
}

impl Message {
    /// A message of a person.
    pub(crate) fn of_person(text: String) -> Self {
        Self {
            role: "user".to_owned(),
            content: Value::String(text),
        }
    }

    /// Its text; images and other parts have none.
    fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.trim().to_owned(),
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                texts.collect::<Vec<_>>().join("\n").trim().to_owned()
            }
            _ => String::new(),
        }
    }

    fn speaker(&self) -> SpeakerRole {
        match self.role.as_str() {
            "assistant" => SpeakerRole::Assistant,
            "system" | "developer" => SpeakerRole::System,
            "tool" | "function" => SpeakerRole::Tool,
            _ => SpeakerRole::User,
        }
    }
}

impl Addition {
    /// Its messages with a text, of which there must be one.
    fn texts(&self) -> Result<Vec<(SpeakerRole, String)>> {
        let texts = self.messages.iter().map(|it| (it.speaker(), it.text()));
        let texts: Vec<_> = texts.filter(|(_, text)| !text.is_empty()).collect();
        if texts.is_empty() {
            bail!(RequestError::Invalid("messages hold no text".to_owned()));
        }
        check_day(self.expiration_date.as_deref())?;
        Ok(texts)
    }

    /// What is kept beside the text: the owners that the scope does not name, too. `None` where that is nothing.
    fn kept(&self) -> Option<Kept> {
        let kept = Kept {
            owners: self.owners.clone().without_scope(),
            metadata: self.metadata.clone(),
            expiration_date: self.expiration_date.clone(),
            updated_at: None,
        };
        (kept != Kept::default()).then_some(kept)
    }
}

/// The scope of an addition. What a mem0 server keeps is asked of that server: it may even be the program that calls.
fn own_scope(daybook: &Daybook, given: &Addition) -> Result<Scope> {
    let scope = given.owners.scope(&daybook.tenant)?;
    if daybook.settings.is_in_mem0(&scope) {
        bail!(RequestError::Conflict(format!(
            "the memory of {scope} is on the mem0 server that settings name; send this to that server"
        )));
    }
    Ok(scope)
}

/// Keeps each message as it is, and returns the memories.
pub(crate) async fn add_as_is(daybook: &Daybook, given: &Addition) -> Result<Vec<Mem0Memory>> {
    let (scope, texts) = (own_scope(daybook, given)?, given.texts()?);
    let mut added = Vec::new();
    for (speaker, text) in texts {
        let origin = match speaker {
            SpeakerRole::User => Origin::Human,
            SpeakerRole::Assistant => Origin::Assistant,
            // What the host says is no memory, and neither is what a tool answered.
            SpeakerRole::System | SpeakerRole::Tool => continue,
        };
        let note = save_note_in(daybook, &text, scope.clone(), origin).await?;
        keep(daybook, &scope, &note.id, given.kept()).await?;
        added.push(get(daybook, &note.id).await?);
    }
    Ok(added)
}

/// Takes a conversation to learn from, and returns its name, by which its event is found.
pub(crate) async fn add_to_learn(daybook: &Daybook, given: &Addition) -> Result<String> {
    let (scope, texts) = (own_scope(daybook, given)?, given.texts()?);
    let agent = given.owners.agent_id.as_deref().unwrap_or(NO_OWNER);
    let digits = random_bytes::<16>()?.map(|byte| format!("{byte:02x}"));
    let session = session_id(
        daybook,
        agent,
        &format!("{CONVERSATION}{}", digits.concat()),
    )?;
    keep(daybook, &scope, &session.to_string(), given.kept()).await?;
    let event = |(role, text)| ReportedEvent {
        id: None,
        role,
        text,
        at: None,
        tool: None,
        external: false,
    };
    let user = given.owners.user_id.clone();
    append(
        daybook,
        SessionAppend {
            session: session.clone(),
            kind: None,
            user: user.clone(),
            at: ReportedPlace::default(),
            held: ReportedVenue {
                scope: Some(scope.to_string()),
                ..ReportedVenue::default()
            },
            events: texts.into_iter().map(event).collect(),
        },
    )
    .await?;
    let ended = SessionTrigger {
        session: session.clone(),
        user,
        trigger: Trigger::End,
        successor: None,
    };
    // Where memory is switched off nothing falls due, and the event says that it is done.
    let _ = apply_trigger(daybook, ended).await?;
    Ok(name_of(&session))
}
