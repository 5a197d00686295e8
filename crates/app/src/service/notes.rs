//! Notes: texts that a person or an agent asks memory to keep as they are.

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::{Observation, Origin, Scope};
use daybook_engine::jobs::{self, NoteTarget};
use daybook_engine::stop::Stop;
use daybook_text::redact::Redactor;
use serde_json::{Value, json};

use super::current_place::{CurrentPlace, locate};
use super::{RequestError, parse_scope, person_scope};
use crate::terminal::progress::UpdateBar;
use crate::wiring::Daybook;

/// The scope that a note is filed in.
#[derive(Debug, Clone)]
pub(crate) enum NoteScope {
    /// The project of the current folder, else the person.
    Current,
    /// The person, wherever they work.
    Person,
    /// A scope by name, such as `project/tidepool`.
    Named(String),
}

/// A stored note.
pub(crate) struct SavedNote {
    pub(crate) observation: Observation,
    /// How many secrets in it were hidden.
    pub(crate) secrets: usize,
}

/// Stores a note and writes it into the memory files, unless another process is writing them. Recall finds it at
/// once. Sessions that are due are not read: the caller waits for none. After `stop` no further file is begun.
pub(crate) async fn save_note(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    folder: &Path,
    by: Origin,
    stop: &Stop,
) -> Result<SavedNote> {
    let place = locate(daybook, folder).await?;
    let (mut worker, _lock) = daybook.attended_worker().await?;
    worker.limits.proposals = false;
    let note = store_note(daybook, text, scope, place, by).await?;
    jobs::write_due(&worker, stop, &UpdateBar::hidden()).await?;
    Ok(note)
}

/// Stores a note and leaves the memory files to the next update. Recall finds it at once.
pub(crate) async fn save_note_without_files(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    folder: Option<&Path>,
) -> Result<SavedNote> {
    let place = match folder {
        Some(folder) => locate(daybook, folder).await?,
        None => CurrentPlace::unknown(),
    };
    store_note(daybook, text, scope, place, Origin::Human).await
}

async fn store_note(
    daybook: &Daybook,
    text: &str,
    scope: &NoteScope,
    current: CurrentPlace,
    by: Origin,
) -> Result<SavedNote> {
    let scope = match (scope, &current.project) {
        (NoteScope::Named(name), _) => named_scope(daybook, name)?,
        (NoteScope::Current, Some(project)) => project.clone(),
        (NoteScope::Current, None) | (NoteScope::Person, _) => person_scope(daybook),
    };
    let place = current.project.is_some().then_some(current.place);
    let redactor = Redactor::current();
    let switches = daybook.switches();
    let target = NoteTarget {
        store: &*daybook.store,
        clock: &*daybook.clock,
        tenant: &daybook.tenant,
        switches: &switches,
    };
    let (observation, secrets) = jobs::remember(target, &redactor, text, scope, place, by).await?;
    Ok(SavedNote {
        observation,
        secrets,
    })
}

fn named_scope(daybook: &Daybook, name: &str) -> Result<Scope> {
    let (kind, name) = parse_scope(name)?;
    if !Redactor::current().redact(name).findings.is_empty() {
        bail!(RequestError::Invalid(
            "the scope's name holds a secret, and it would be stored as it is; choose another name"
                .to_owned()
        ));
    }
    Ok(Scope {
        tenant: daybook.tenant.clone(),
        kind,
        name: name.to_owned(),
    })
}

/// A stored note as JSON.
pub(crate) fn note_json(note: &SavedNote) -> Value {
    json!({
        "id": note.observation.id.to_string(),
        "scope": note.observation.scope.to_string(),
        "text": note.observation.text,
        "secrets_hidden": note.secrets,
    })
}
