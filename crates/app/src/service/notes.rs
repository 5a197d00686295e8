//! Notes: texts that a person or an agent asks memory to keep as they are.

use std::path::Path;

use anyhow::Result;
use daybook_domain::{Origin, Place, Scope};
use daybook_engine::jobs::{self, NoteTarget};
use daybook_engine::stop::Stop;
use daybook_text::redact::Redactor;
use serde_json::{Value, json};

use super::agent_memory::{failed, server_of};
use super::caller::{NamedCaller, own_scope, parse_named};
use super::current_place::{CurrentPlace, locate};
use super::person_scope;
use super::scope_choice::check_nameable;
use crate::terminal::silent::HiddenUpdate;
use crate::wiring::Daybook;

/// The scope that a note is filed in.
#[derive(Debug, Clone)]
pub enum NoteScope {
    /// The project of the current folder, else the person.
    Current,
    /// The person, wherever they work.
    Person,
    /// A scope by name, such as `project/tidepool`.
    Named(String),
}

/// Who wrote a note.
#[derive(Clone, Copy)]
pub(crate) struct NoteAuthor<'a> {
    /// A person, or an agent.
    pub(crate) origin: Origin,
    /// The caller; `None` for the person, who writes where they want.
    pub(crate) caller: Option<&'a NamedCaller>,
}

impl NoteAuthor<'_> {
    /// Whether it is written in a room or by a team.
    fn is_shared(&self) -> bool {
        self.caller
            .is_some_and(|it| it.room_id.is_some() || it.team.is_some())
    }

    /// The person that the caller names.
    fn user(&self) -> Option<&str> {
        self.caller.and_then(|caller| caller.user.as_deref())
    }

    /// The narrowest scope that applies to the author: the room's, or the team's.
    fn narrowest_scope(&self, daybook: &Daybook, project: &Option<Scope>) -> Result<Scope> {
        let caller = self.caller.cloned().unwrap_or_default();
        let scopes = caller.resolve(&daybook.settings)?;
        let mut scopes = scopes.scopes(daybook.settings.scope_policy());
        scopes.extend(project.clone());
        scopes.push(person_scope(daybook));
        Ok(scopes.remove(0))
    }
}

/// A stored note.
#[derive(Debug, Clone)]
pub struct SavedNote {
    /// The id of the memory that it is.
    pub id: String,
    /// The scope that it is of.
    pub scope: Scope,
    /// Its text, without secrets.
    pub text: String,
    /// How many secrets in it were hidden.
    pub secrets: usize,
}

/// Stores a note and writes it into the memory files, unless another process is writing them. Recall finds it at
/// once. Sessions that are due are not read: the caller waits for none. After `stop` no further file is begun.
pub(crate) async fn save_note(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    folder: Option<&Path>,
    by: NoteAuthor<'_>,
    stop: &Stop,
) -> Result<SavedNote> {
    let place = place_of(daybook, folder).await?;
    let (mut worker, _lock) = daybook.attended_worker().await?;
    worker.limits.proposals = false;
    let note = store_note(daybook, text, scope, place, by).await?;
    jobs::write_due(&worker, stop, &HiddenUpdate).await?;
    Ok(note)
}

/// Stores a note and leaves the memory files to the next update. Recall finds it at once.
pub(crate) async fn save_note_without_files(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    folder: Option<&Path>,
    caller: &NamedCaller,
) -> Result<SavedNote> {
    let place = place_of(daybook, folder).await?;
    let by = NoteAuthor {
        origin: Origin::Human,
        caller: Some(caller),
    };
    store_note(daybook, text, scope, place, by).await
}

async fn place_of(daybook: &Daybook, folder: Option<&Path>) -> Result<CurrentPlace> {
    match folder {
        Some(folder) => locate(daybook, folder).await,
        None => Ok(CurrentPlace::unknown()),
    }
}

async fn store_note(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    current: CurrentPlace,
    by: NoteAuthor<'_>,
) -> Result<SavedNote> {
    let scope = match (scope, &current.project) {
        (NoteScope::Named(name), project) => named_scope(daybook, name, by.caller, project)?,
        (NoteScope::Current | NoteScope::Person, project) if by.is_shared() => {
            by.narrowest_scope(daybook, project)?
        }
        (NoteScope::Current, Some(project)) if !daybook.settings.has_one_memory() => {
            project.clone()
        }
        (NoteScope::Current, _) | (NoteScope::Person, _) => match by.user() {
            Some(user) => named_scope(daybook, &format!("user/{user}"), by.caller, &None)?,
            None => person_scope(daybook),
        },
    };
    let place = current.project.is_some().then_some(current.place);
    remember_in(daybook, text, scope, (place, by.origin)).await
}

/// Stores a note in a scope without asking whether a caller takes part in it, and leaves the memory files to the next update.
pub(crate) async fn save_note_in(
    daybook: &Daybook,
    text: &str,
    scope: Scope,
    origin: Origin,
) -> Result<SavedNote> {
    remember_in(daybook, text, scope, (None, origin)).await
}

async fn remember_in(
    daybook: &Daybook,
    text: &str,
    scope: Scope,
    (place, origin): (Option<Place>, Origin),
) -> Result<SavedNote> {
    let redactor = Redactor::current();
    let there = match server_of(daybook, &scope)? {
        Some(server) => {
            let redacted = redactor.redact(text.trim());
            let (secrets, text) = (redacted.findings.len(), redacted.text.into_owned());
            let id = server.add(&scope, &text).await.map_err(failed)?;
            Some(SavedNote {
                id,
                scope: scope.clone(),
                text,
                secrets,
            })
        }
        None => None,
    };
    let also_here = (daybook.settings.mem0.as_ref()).is_some_and(|mem0| mem0.also_here);
    if let (Some(note), false) = (&there, also_here) {
        return Ok(note.clone());
    }
    let switches = daybook.switches();
    let target = NoteTarget {
        store: &*daybook.store,
        clock: &*daybook.clock,
        tenant: &daybook.tenant,
        switches: &switches,
    };
    let (observation, secrets) =
        jobs::remember(target, &redactor, text, scope, place, origin).await?;
    // What is also kept here is read there, by the id that it has there.
    Ok(there.unwrap_or(SavedNote {
        id: observation.id.to_string(),
        scope: observation.scope,
        text: observation.text,
        secrets,
    }))
}

fn named_scope(
    daybook: &Daybook,
    name: &str,
    caller: Option<&NamedCaller>,
    project: &Option<Scope>,
) -> Result<Scope> {
    let scope = match caller {
        Some(caller) => {
            let caller = NamedCaller {
                project: project.as_ref().map(|scope| scope.name.clone()),
                ..caller.clone()
            };
            let caller = caller.resolve(&daybook.settings)?;
            own_scope(&daybook.settings, &caller, name)?
        }
        None => parse_named(&daybook.settings, &daybook.tenant, name)?,
    };
    check_nameable(&scope)?;
    Ok(scope)
}

/// A stored note as JSON.
pub(crate) fn note_json(note: &SavedNote) -> Value {
    json!({
        "id": note.id,
        "scope": note.scope.to_string(),
        "text": note.text,
        "secrets_hidden": note.secrets,
    })
}
