//! Chooses the scope that a request about memory files is for, and opens its folder.

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::{Scope, ScopeKind};
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::WorkLimits;

use super::current_place::locate;
use super::{RequestError, parse_scope, person_scope};
use crate::wiring::Daybook;

/// Whose memory a request is for, as it was given.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScopeChoice {
    /// A scope by name, such as `project/tidepool`.
    pub(crate) scope: Option<String>,
    /// A project by name.
    pub(crate) project: Option<String>,
}

impl ScopeChoice {
    /// The name of the chosen scope; `None` where none was given.
    fn name(&self) -> Option<String> {
        let project = self.project.as_ref().map(|name| format!("project/{name}"));
        self.scope.clone().or(project)
    }

    /// The chosen scope; without a choice, that of the project of the folder `here`, else the person's.
    pub(crate) async fn one(&self, daybook: &Daybook, here: Option<&Path>) -> Result<Scope> {
        if let Some(name) = self.name() {
            return known_scope(daybook, &name).await;
        }
        Ok(default_scopes(daybook, here).await?.remove(0))
    }

    /// The chosen scope alone; without a choice all scopes, those of `here` and of the person first.
    pub(crate) async fn all(&self, daybook: &Daybook, here: Option<&Path>) -> Result<Vec<Scope>> {
        if let Some(name) = self.name() {
            return Ok(vec![known_scope(daybook, &name).await?]);
        }
        let mut scopes = default_scopes(daybook, here).await?;
        for state in read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await? {
            if !scopes.contains(&state.scope) {
                scopes.push(state.scope);
            }
        }
        Ok(scopes)
    }
}

async fn default_scopes(daybook: &Daybook, here: Option<&Path>) -> Result<Vec<Scope>> {
    let project = match here {
        Some(here) => locate(daybook, here).await?.project,
        None => None,
    };
    let scopes = project.into_iter().chain([person_scope(daybook)]);
    Ok(scopes.collect())
}

/// The scope called `name`, if anything was ever kept in it.
async fn known_scope(daybook: &Daybook, name: &str) -> Result<Scope> {
    let (kind, inner) = parse_scope(name)
        .map_err(|error| anyhow::Error::new(RequestError::Invalid(error.to_string())))?;
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let mut scopes = known.into_iter().map(|state| state.scope);
    let is_it = |scope: &Scope| scope.kind == kind && scope.name == inner;
    let Some(scope) = scopes.find(is_it) else {
        let list = match kind {
            ScopeKind::Project => "; `daybook projects` lists the projects",
            ScopeKind::User | ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => "",
        };
        bail!(RequestError::NotFound(format!(
            "nothing is remembered in {name}{list}"
        )));
    };
    Ok(scope)
}

/// Opens the memory folder of a scope, brought up to date where machines share it.
pub(crate) async fn open_folder(daybook: &Daybook, scope: &Scope) -> Result<Folder> {
    if let Some(sharing) = daybook.sharing() {
        let (stamp, wait) = (daybook.stamp(), WorkLimits::default().folder_wait);
        let is_synced = sharing.check_in(scope, &stamp, wait).await?.is_some();
        if !is_synced {
            bail!(busy(scope));
        }
    }
    let path = folder(&daybook.root, scope);
    if !path.join(".git").exists() {
        bail!(RequestError::NotFound(format!(
            "{scope} has no memory files yet; `daybook update` writes what is due"
        )));
    }
    Ok(Folder::open(path, FilesConfig::default())?)
}

/// The error for a folder that another process writes for too long.
pub(crate) fn busy(scope: &Scope) -> RequestError {
    RequestError::Conflict(format!(
        "another process is writing the memory of {scope}; run this again when it has finished"
    ))
}
