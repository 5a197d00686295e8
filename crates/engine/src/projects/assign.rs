//! Assigns each folder to a project.
//!
//! A project's identity is its normalised remote, else the repository's common folder, else the
//! folder itself (DESIGN.md, "Scopes, projects and tenants"). A checkout that is gone from this machine
//! is identified by the remote that its sessions show. Where they show none, the project is a guess: by the name of
//! exactly one known repository, or as a worktree by its path and branches (`worktrees`).
//!
//! The result is a pure function of the facts about all folders, in whatever order they came: identities
//! and keys are decided anew each time. A person's decisions stay.
//!
//! Not here: reading the file system or a store. Their facts are arguments.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{EventId, Project, Timestamp};

use super::moved_sessions::decision_of_root;
use super::worktrees::{KnownCheckout, worktree_of};

/// The facts about a folder that work was done in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootFacts {
    /// Its remote, normalised, as the folder itself shows it.
    pub seen_remote: Option<String>,
    /// Its remote, normalised, as most sessions show it.
    pub shown_remote: Option<String>,
    /// Its repository's common folder, when it is on this machine.
    pub common_dir: Option<String>,
    /// Key of the project that it belongs to at present.
    pub project: Option<String>,
    /// Whether the present project follows from evidence, or is a guess.
    pub derived: bool,
    /// When the earliest session began there; zero when unknown.
    pub first_at: Timestamp,
    /// Branches that events happened on.
    pub branches: BTreeSet<String>,
}

impl Default for RootFacts {
    fn default() -> Self {
        Self {
            seen_remote: None,
            shown_remote: None,
            common_dir: None,
            project: None,
            derived: true,
            first_at: Timestamp::ZERO,
            branches: BTreeSet::new(),
        }
    }
}

/// Why a folder belongs to its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssignmentBasis {
    /// Its repository, a session's evidence, or a person's decision.
    Evidence,
    /// A guess: it has the name of exactly one known repository.
    SameName,
    /// A guess: by its path and branches it was a worktree of that repository.
    Worktree,
    /// Nothing is known but the folder: it is a project of its own.
    FolderAlone,
}

/// A folder's project, and whether it may change with the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectAssignment {
    /// The project.
    pub project: Project,
    /// Whether it follows from evidence that may change, or is a guess.
    pub derived: bool,
    /// What it rests on.
    pub basis: AssignmentBasis,
}

/// Assigns each folder to a project. The result does not depend on which folders were settled before, and
/// assigning again changes nothing.
#[must_use]
pub fn assign(
    roots: &BTreeMap<String, RootFacts>,
    known: &[Project],
) -> BTreeMap<String, ProjectAssignment> {
    let known = KnownProjects::of(known);
    let sure: BTreeMap<&String, ProjectIdentity> = roots
        .iter()
        .filter_map(|(root, facts)| Some((root, known.sure_identity(root, facts)?)))
        .collect();
    let repositories: BTreeSet<&str> = sure
        .values()
        .map(|identity| identity.name.as_str())
        .chain(known.given.iter().copied())
        .filter(|identity| !is_folder(identity))
        .collect();
    let by_name: BTreeMap<&String, ProjectIdentity> = roots
        .keys()
        .filter(|root| !sure.contains_key(root))
        .map(|root| (root, known.guessed_identity(root, &repositories)))
        .collect();
    let checkouts = known_checkouts(roots, sure.iter().chain(&by_name));
    let worktree = |root: &String, guess: &ProjectIdentity| {
        if guess.basis != AssignmentBasis::FolderAlone || known.given.contains(root.as_str()) {
            return guess.clone();
        }
        let repository = worktree_of(root, &roots[root].branches, &checkouts);
        repository.map_or_else(
            || guess.clone(),
            |name| ProjectIdentity::new(name, true, AssignmentBasis::Worktree),
        )
    };
    let identities: BTreeMap<&String, ProjectIdentity> = by_name
        .iter()
        .map(|(root, guess)| (*root, worktree(root, guess)))
        .chain(
            sure.iter()
                .map(|(root, identity)| (*root, identity.clone())),
        )
        .collect();
    let keys = known.keys(roots, &identities);
    let is_sure = |name: &str| sure.values().any(|identity| identity.name == name);
    let assigned = identities.iter().map(|(root, identity)| {
        let project = Project {
            key: keys[&identity.name].clone(),
            identity: identity.name.clone(),
            guessed: !is_sure(&identity.name),
        };
        let (derived, basis) = (identity.derived, identity.basis);
        let assignment = ProjectAssignment {
            project,
            derived,
            basis,
        };
        ((*root).clone(), assignment)
    });
    follow_renamed(roots, assigned.collect())
}

/// Sessions that a person moved to a project go along where that project gets another key.
fn follow_renamed(
    roots: &BTreeMap<String, RootFacts>,
    mut assigned: BTreeMap<String, ProjectAssignment>,
) -> BTreeMap<String, ProjectAssignment> {
    let moved = |root: &String| decision_of_root(root).is_some();
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (root, to) in assigned.iter().filter(|(root, _)| !moved(root)) {
        if let Some(before) = &roots[root].project {
            let after = keys.entry(before.clone()).or_default();
            after.insert(to.project.key.clone());
        }
    }
    for (_, to) in assigned.iter_mut().filter(|(root, _)| moved(root)) {
        if let Some(after) = keys.get(&to.project.key)
            && !after.contains(&to.project.key)
            && let Some(key) = after.first()
        {
            to.project.key.clone_from(key);
        }
    }
    assigned
}

/// The checkouts whose repository is known, or has exactly their name.
fn known_checkouts<'f>(
    roots: &'f BTreeMap<String, RootFacts>,
    identities: impl Iterator<Item = (&'f &'f String, &'f ProjectIdentity)>,
) -> BTreeMap<&'f str, KnownCheckout<'f>> {
    identities
        .filter(|(_, identity)| identity.basis != AssignmentBasis::FolderAlone)
        .map(|(root, identity)| {
            let checkout = KnownCheckout {
                identity: &identity.name,
                branches: &roots[*root].branches,
            };
            (root.as_str(), checkout)
        })
        .collect()
}

/// Projects that no folder has any more, and whose key no person chose.
#[must_use]
pub fn stale<'k>(
    assigned: &BTreeMap<String, ProjectAssignment>,
    known: &'k [Project],
) -> Vec<&'k Project> {
    let used: BTreeSet<&str> = assigned
        .values()
        .map(|assigned| assigned.project.identity.as_str())
        .collect();
    let frozen = KnownProjects::of(known).frozen;
    known
        .iter()
        .filter(|project| !used.contains(project.identity.as_str()))
        .filter(|project| !frozen.contains(project.key.as_str()))
        .collect()
}

/// The identity of a folder's project.
#[derive(Debug, Clone)]
struct ProjectIdentity {
    name: String,
    derived: bool,
    basis: AssignmentBasis,
}

impl ProjectIdentity {
    fn new(name: &str, derived: bool, basis: AssignmentBasis) -> Self {
        Self {
            name: name.to_owned(),
            derived,
            basis,
        }
    }

    fn derived(name: &str) -> Self {
        Self::new(name, true, AssignmentBasis::Evidence)
    }

    fn settled(name: &str) -> Self {
        Self::new(name, false, AssignmentBasis::Evidence)
    }
}

/// The stored projects, by identity.
struct KnownProjects<'k> {
    by_identity: BTreeMap<&'k str, &'k Project>,
    /// Identities whose project's key a person chose.
    given: BTreeSet<&'k str>,
    /// The keys of those projects: a folder that has one of them keeps it.
    frozen: BTreeSet<&'k str>,
}

impl<'k> KnownProjects<'k> {
    fn of(known: &'k [Project]) -> Self {
        let given = || known.iter().filter(|project| !has_own_key(project));
        Self {
            by_identity: known.iter().map(|p| (p.identity.as_str(), p)).collect(),
            given: given().map(|project| project.identity.as_str()).collect(),
            frozen: given().map(|project| project.key.as_str()).collect(),
        }
    }

    /// A folder's identity, unless it can only be guessed.
    fn sure_identity(&self, root: &str, facts: &RootFacts) -> Option<ProjectIdentity> {
        // A person's decision about a session outweighs all that is known of its folder.
        if let Some(decision) =
            decision_of_root(root).filter(|it| self.by_identity.contains_key(it))
        {
            return Some(ProjectIdentity::settled(decision));
        }
        let candidates = || {
            [&facts.seen_remote, &facts.shown_remote, &facts.common_dir]
                .into_iter()
                .flatten()
                .map(String::as_str)
        };
        if !facts.derived
            && let Some(kept) = self.settled_identity(facts, candidates().chain([root]))
        {
            return Some(ProjectIdentity::settled(kept));
        }
        // A person's assignment of this folder outweighs its remote.
        let placed = candidates().chain([root]).find(|identity| {
            self.given.contains(identity)
                && self.by_identity.get(identity).map(|p| p.key.as_str())
                    == facts.project.as_deref()
        });
        if let Some(placed) = placed {
            return Some(ProjectIdentity::derived(placed));
        }
        if let Some(remote) = &facts.seen_remote {
            return Some(ProjectIdentity::settled(remote));
        }
        candidates()
            .next()
            .or_else(|| self.remembered_repository(root, facts))
            .map(ProjectIdentity::derived)
    }

    /// The identity by which a folder was settled for good, if that was no guess.
    fn settled_identity<'c>(
        &self,
        facts: &RootFacts,
        mut candidates: impl Iterator<Item = &'c str>,
    ) -> Option<&'k str> {
        let key = facts.project.as_deref()?;
        let is_settled = |project: &&&'k Project| project.key == key && !project.guessed;
        candidates
            .find_map(|identity| self.by_identity.get(identity).filter(is_settled))
            .or_else(|| self.by_identity.values().find(is_settled))
            .map(|project| project.identity.as_str())
    }

    /// The common folder that a checkout had while it was on this machine.
    fn remembered_repository(&self, root: &str, facts: &RootFacts) -> Option<&'k str> {
        let key = facts.project.as_deref()?;
        let lies_there = |identity: &str| {
            let rest = identity.strip_prefix(root);
            rest.is_some_and(|rest| rest.starts_with(['/', '\\']))
        };
        self.by_identity
            .values()
            .find(|p| p.key == key && !p.guessed && lies_there(&p.identity))
            .map(|project| project.identity.as_str())
    }

    fn guessed_identity(&self, root: &str, repositories: &BTreeSet<&str>) -> ProjectIdentity {
        if self.given.contains(root) {
            return ProjectIdentity::derived(root);
        }
        let same_name = |remote: &&&str| last_part(remote) == last_part(root);
        let mut candidates = repositories.iter().filter(same_name);
        match (candidates.next(), candidates.next()) {
            (Some(only), None) => ProjectIdentity::new(only, true, AssignmentBasis::SameName),
            _ => ProjectIdentity::new(root, true, AssignmentBasis::FolderAlone),
        }
    }

    /// The key of each identity. Of several with one name, the one with the earliest session gets the plain
    /// name, and the others get a fingerprint too.
    fn keys(
        &self,
        roots: &BTreeMap<String, RootFacts>,
        identities: &BTreeMap<&String, ProjectIdentity>,
    ) -> BTreeMap<String, String> {
        let mut began: BTreeMap<&str, Timestamp> = BTreeMap::new();
        for (root, identity) in identities {
            let at = match roots[*root].first_at {
                Timestamp::ZERO => Timestamp(i64::MAX),
                at => at,
            };
            let first = began.entry(&identity.name).or_insert(at);
            *first = at.min(*first);
        }
        let mut by_age: Vec<(Timestamp, &str)> = began.into_iter().map(|(i, at)| (at, i)).collect();
        by_age.sort_unstable();
        let mut taken: BTreeSet<String> = self.frozen.iter().map(|key| (*key).to_owned()).collect();
        let mut keys = BTreeMap::new();
        for (_, identity) in by_age {
            let known = self.by_identity.get(identity);
            let key = match known.filter(|project| self.frozen.contains(project.key.as_str())) {
                Some(project) => project.key.clone(),
                None => free_key(identity, &taken),
            };
            taken.insert(key.clone());
            keys.insert(identity.to_owned(), key);
        }
        keys
    }
}

/// A project's key with a fingerprint, for while another project has its plain name.
#[must_use]
pub fn key_apart(identity: &str) -> String {
    with_print(&own_name(identity), identity)
}

fn is_folder(identity: &str) -> bool {
    identity.starts_with('/') || identity.contains('\\') || identity.get(1..2) == Some(":")
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path)
}

/// Whether a project's key was derived from its identity, and not chosen by a person.
#[must_use]
pub fn has_own_key(project: &Project) -> bool {
    let name = own_name(&project.identity);
    project.key == name || project.key == with_print(&name, &project.identity)
}

/// A short key: the folder's name, or owner and repository; with a fingerprint if that is taken.
fn free_key(identity: &str, taken: &BTreeSet<String>) -> String {
    let name = own_name(identity);
    if taken.contains(&name) {
        with_print(&name, identity)
    } else {
        name
    }
}

fn own_name(identity: &str) -> String {
    let name = if is_folder(identity) {
        slug(last_part(identity))
    } else {
        let parts: Vec<&str> = identity.split('/').skip(1).map(str::trim).collect();
        slug(&parts.join("-"))
    };
    if name.is_empty() {
        "project".to_owned()
    } else {
        name
    }
}

fn with_print(name: &str, identity: &str) -> String {
    let print = EventId::of(&[identity.as_bytes()]).0;
    format!("{name}-{:06x}", print & 0xff_ffff)
}

/// A name as a key: lower-case letters, digits, `-`, `_` and `.`.
#[must_use]
pub fn slug(text: &str) -> String {
    let slug: String = text
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '_' | '.') {
                c
            } else {
                '-'
            }
        })
        .collect();
    slug.trim_matches(['-', '.']).to_lowercase()
}

#[cfg(test)]
#[path = "assign_tests.rs"]
mod tests;
