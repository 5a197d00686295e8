//! Chooses the scope that a request about memory files is for, and opens its folder.

use std::path::Path;

use anyhow::{Result, bail};
use daybook_domain::page::read_all;
use daybook_domain::{Reach, Scope, ScopeKind};
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::WorkLimits;
use daybook_text::redact::Redactor;

use super::caller::{NamedCaller, own_scope, parse_named, reach, reached_scopes};
use super::current_place::locate;
use super::{RequestError, person_scope};
use crate::wiring::Daybook;

/// Whose memory a request is for, as it was given.
#[derive(Debug, Clone, Default)]
pub struct ScopeChoice {
    /// A scope by name, such as `project/tidepool`.
    pub scope: Option<String>,
    /// A project by name.
    pub project: Option<String>,
    /// Who asks; `None` for the person, who chooses from all of their data folder.
    pub caller: Option<NamedCaller>,
}

impl ScopeChoice {
    /// The name of the chosen scope; `None` where none was given.
    fn name(&self) -> Option<String> {
        let project = self.project.as_ref().map(|name| format!("project/{name}"));
        self.scope.clone().or(project)
    }

    /// The chosen scope. Without a choice, that of the project of the folder `here`, else the person's; for a caller that
    /// says who it is, the narrowest of its scopes that holds something.
    pub(crate) async fn one(&self, daybook: &Daybook, here: Option<&Path>) -> Result<Scope> {
        let mut scopes = self.all(daybook, here).await?;
        if scopes.is_empty() {
            bail!(RequestError::NotFound(
                "nothing is remembered yet for this caller".to_owned()
            ));
        }
        Ok(scopes.remove(0))
    }

    /// The scope that a change is for, which need not hold anything yet: the chosen one, if the caller takes part in it;
    /// without a choice the narrowest of a caller that says who it is, else the person's.
    pub(crate) async fn for_writing(&self, daybook: &Daybook) -> Result<Scope> {
        let reach = self.reach(daybook, None).await?;
        if let Some(name) = self.name() {
            let scope = parse_named(&daybook.settings, &daybook.tenant, &name)?;
            check_nameable(&scope)?;
            return Ok(scope);
        }
        let narrowest = match reach {
            Reach::Scopes(own) => own.into_iter().next(),
            Reach::Everything | Reach::Unnamed { .. } => None,
        };
        let scope = narrowest.unwrap_or_else(|| person_scope(daybook));
        check_nameable(&scope)?;
        Ok(scope)
    }

    /// The chosen scope alone; without a choice all scopes that the caller reaches: those of `here` and of the person
    /// first, or the narrowest first for a caller that says who it is.
    pub(crate) async fn all(&self, daybook: &Daybook, here: Option<&Path>) -> Result<Vec<Scope>> {
        let reach = self.reach(daybook, here).await?;
        if let Some(name) = self.name() {
            return Ok(vec![known_scope(daybook, &name).await?]);
        }
        let known = reached_scopes(daybook, &reach).await?;
        if let Reach::Scopes(own) = reach {
            let is_in_mem0 = |own: &Scope| daybook.settings.is_in_mem0(own);
            let own = own.into_iter();
            let own = own.filter(|own| known.contains(own) || is_in_mem0(own));
            return Ok(own.collect());
        }
        let mut scopes = default_scopes(daybook, here).await?;
        let others = known.into_iter().filter(|scope| !scopes.contains(scope));
        let others: Vec<Scope> = others.collect();
        scopes.extend(others);
        Ok(scopes)
    }

    /// What the caller reaches, with the project of `here`; refuses a choice outside of it.
    async fn reach(&self, daybook: &Daybook, here: Option<&Path>) -> Result<Reach> {
        let Some(named) = &self.caller else {
            return Ok(Reach::Everything);
        };
        let mut caller = named.resolve(&daybook.settings)?;
        caller.project = caller.project.or_else(|| self.project.clone());
        if let (None, Some(here)) = (&caller.project, here) {
            let place = locate(daybook, here).await?;
            caller.project = place.project.map(|scope| scope.name);
        }
        if let Some(name) = self.name() {
            own_scope(&daybook.settings, &caller, &name)?;
        }
        reach(daybook, &caller).await
    }
}

async fn default_scopes(daybook: &Daybook, here: Option<&Path>) -> Result<Vec<Scope>> {
    let project = match here {
        Some(here) => locate(daybook, here).await?.project,
        None => None,
    };
    let mut scopes: Vec<Scope> = project.into_iter().chain([person_scope(daybook)]).collect();
    if daybook.settings.has_one_memory() {
        scopes.reverse();
    }
    Ok(scopes)
}

/// The scope called `name`, if anything was ever kept in it.
async fn known_scope(daybook: &Daybook, name: &str) -> Result<Scope> {
    let named = parse_named(&daybook.settings, &daybook.tenant, name)?;
    if daybook.settings.is_in_mem0(&named) {
        return Ok(named);
    }
    let known = read_all(|page| daybook.store.scopes(&daybook.tenant, page)).await?;
    let mut scopes = known.into_iter().map(|state| state.scope);
    let Some(scope) = scopes.find(|scope| *scope == named) else {
        let list = match named.kind {
            ScopeKind::Project => "; `daybook projects` lists the projects",
            ScopeKind::User | ScopeKind::Agent | ScopeKind::Team | ScopeKind::Room => "",
        };
        bail!(RequestError::NotFound(format!(
            "nothing is remembered in {name}{list}"
        )));
    };
    Ok(scope)
}

/// Refuses a scope whose name holds a secret: it would be stored as it is.
pub(crate) fn check_nameable(scope: &Scope) -> Result<()> {
    if Redactor::current().redact(&scope.name).findings.is_empty() {
        return Ok(());
    }
    bail!(RequestError::Invalid(
        "the scope's name holds a secret, and it would be stored as it is; choose another name"
            .to_owned()
    ))
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
