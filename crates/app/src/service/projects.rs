//! Projects as they are stored: their checkouts and branches, and what each checkout's project rests on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use daybook_domain::page::read_all;
use daybook_engine::projects::assign::AssignmentBasis;
use daybook_engine::projects::moved_sessions::{decision_of_root, folder_of_root, is_decision};
use daybook_engine::projects::settle::assignment_bases;
use serde::Serialize;

use crate::wiring::Daybook;

/// The stored facts of one project.
#[derive(Default, Serialize)]
pub(crate) struct ProjectFacts {
    pub(crate) identities: BTreeSet<String>,
    pub(crate) guessed: bool,
    pub(crate) checkouts: BTreeSet<String>,
    pub(crate) gone: BTreeSet<String>,
    pub(crate) branches: BTreeSet<String>,
    /// Checkouts whose project is a guess, and what it rests on.
    pub(crate) guesses: BTreeMap<String, &'static str>,
    /// Sessions that a person moved here, each with its folder.
    pub(crate) moved_sessions: BTreeMap<String, String>,
}

pub(crate) async fn load_projects(daybook: &Daybook) -> Result<BTreeMap<String, ProjectFacts>> {
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let bases = assignment_bases(&**store, tenant).await?;
    let mut projects: BTreeMap<String, ProjectFacts> = BTreeMap::new();
    for (place, key) in store.places(tenant).await? {
        let Some(key) = key else {
            continue;
        };
        let facts = projects.entry(key).or_default();
        facts.branches.extend(place.branch);
        if let Some(session) = decision_of_root(&place.root) {
            let folder = folder_of_root(&place.root).to_owned();
            facts.moved_sessions.insert(session.to_owned(), folder);
            continue;
        }
        let guess = bases.get(&place.root).and_then(|basis| guess(*basis));
        let guess = guess.map(|guess| (place.root.clone(), guess));
        facts.guesses.extend(guess);
        if !Path::new(&place.root).exists() {
            facts.gone.insert(place.root.clone());
        }
        facts.checkouts.insert(place.root);
    }
    for project in read_all(|page| store.projects(tenant, page)).await? {
        // A project without a checkout is an outdated guess.
        if let Some(facts) = projects.get_mut(&project.key)
            && !is_decision(&project.identity)
        {
            facts.guessed |= project.guessed;
            facts.identities.insert(project.identity);
        }
    }
    Ok(projects)
}

/// What a guess rests on, in words; `None` for what is no guess about a checkout.
fn guess(basis: AssignmentBasis) -> Option<&'static str> {
    match basis {
        AssignmentBasis::SameName => Some("a guess by its name"),
        AssignmentBasis::Worktree => Some("a guess: a worktree by its path and branch"),
        AssignmentBasis::Evidence | AssignmentBasis::FolderAlone => None,
    }
}
