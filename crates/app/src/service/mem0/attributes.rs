//! What mem0 keeps beside a memory's text: `mem0.jsonl` in the memory folder of its scope, a JSON object on each line.
//!
//! A line is for one memory, by its id, or for all that was learned from one session. It is a file like any other of the
//! folder: its changes are commits, and backups and archives have it.

use std::collections::BTreeMap;

use anyhow::Result;
use daybook_domain::Scope;
use daybook_engine::files::changes::FileChanges;
use daybook_engine::files::error::FilesError;
use daybook_engine::files::layout::{ATTRIBUTES, folder};
use daybook_engine::files::path::FilePath;
use daybook_engine::files::reader;
use daybook_engine::jobs::memories::Memory;
use daybook_text::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Owners;
use crate::service::file_changes::plan_change;
use crate::service::memory_changes::RequestedBy;
use crate::wiring::Daybook;

/// What is kept of one memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(flatten)]
    pub(super) owners: Owners,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) metadata: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expiration_date: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) updated_at: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    /// The id of a memory, or a session as `agent:session`.
    of: String,
    #[serde(flatten)]
    kept: Kept,
}

/// The attributes of one scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Attributes(BTreeMap<String, Kept>);

impl Attributes {
    /// Those of a scope. A line that cannot be read costs no other.
    pub(super) fn load(daybook: &Daybook, scope: &Scope) -> Result<Self> {
        let folder = folder(&daybook.root, scope);
        let text =
            reader::text(&folder, &FilePath::engine_file(ATTRIBUTES)).map_err(FilesError::from)?;
        Ok(Self::parse(&text.unwrap_or_default()))
    }

    fn parse(text: &str) -> Self {
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        Self(lines.map(|line: Line| (line.of, line.kept)).collect())
    }

    fn text(&self) -> String {
        let lines = self.0.iter().filter_map(|(of, kept)| {
            let (of, kept) = (of.clone(), kept.clone());
            serde_json::to_string(&Line { of, kept }).ok()
        });
        lines.map(|line| line + "\n").collect()
    }

    /// What is kept of a memory: of itself, else of the session that it was learned from.
    pub(super) fn of(&self, memory: &Memory) -> Kept {
        let ids = memory.observations.iter().map(|one| one.id.to_string());
        let sessions = memory.observations.iter().flat_map(|one| &one.evidence);
        let sessions = sessions.map(|evidence| evidence.session.to_string());
        let kept = ids.chain(sessions).find_map(|of| self.0.get(&of));
        kept.cloned().unwrap_or_default()
    }
}

/// Changes what is kept of `of`, a memory's id or a session; `None` removes it. Nothing is written where nothing changes.
pub(super) async fn keep(
    daybook: &Daybook,
    scope: &Scope,
    of: &str,
    kept: Option<Kept>,
) -> Result<()> {
    let file = FilePath::engine_file(ATTRIBUTES);
    let before = Attributes::load(daybook, scope)?;
    let with = |mut attributes: Attributes| {
        match &kept {
            Some(kept) => attributes.0.insert(of.to_owned(), kept.clone()),
            None => attributes.0.remove(of),
        };
        attributes
    };
    if with(before.clone()) == before {
        return Ok(());
    }
    let message = "Attributes of memories, by mem0";
    plan_change(daybook, scope, (message, RequestedBy::Agent), |snapshot| {
        let bytes = snapshot.read(&file)?.unwrap_or_default();
        let attributes = with(Attributes::parse(&String::from_utf8_lossy(&bytes)));
        let text = Redactor::current()
            .redact(&attributes.text())
            .text
            .into_owned();
        let mut changes = FileChanges::none();
        changes.write(file.clone(), text);
        Ok(Ok(changes))
    })
    .await?;
    Ok(())
}
