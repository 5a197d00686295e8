//! Which project a folder belongs to.
//!
//! A project's identity is its normalised remote, else the repository's common folder, else the
//! folder itself (DESIGN.md, "Whose memory"). A checkout that is gone from this machine is known
//! by what its own transcripts show of its remote; where they show nothing, a folder of the name
//! of exactly one known repository is taken for a checkout of it, and marked as guessed.
//!
//! Not here: asking the file system. What a folder shows is handed in.

use std::collections::{BTreeMap, BTreeSet};

use daybook_domain::{EventId, Project};

/// What is known of a folder that work was done in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootFacts {
    /// Its remote, normalised: from the folder itself, or from what its transcripts show.
    pub remote: Option<String>,
    /// Its repository's common folder, when it is on this machine.
    pub common_dir: Option<String>,
}

/// The remote in one form for all the ways to write it: host, owner, repository.
///
/// ```
/// use daybook_engine::ingest::projects::normalised_remote as remote;
/// let same = Some("github.com/ada/engine".to_owned());
/// assert_eq!(remote("git@github.com:ada/engine.git"), same);
/// assert_eq!(remote("https://token@GitHub.com/ada/engine/"), same);
/// assert_eq!(remote("ssh://git@github.com:22/ada/engine"), same);
/// assert_eq!(remote("/srv/engine.git"), None);
/// ```
#[must_use]
pub fn normalised_remote(url: &str) -> Option<String> {
    let url = url.trim();
    let (authority, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let path = path
        .trim_matches('/')
        .trim_end_matches(".git")
        .trim_end_matches('/');
    let plain = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '~'))
    };
    let whole = plain(host) && host.contains('.') && plain(path) && path.contains('/');
    whole.then(|| format!("{}/{path}", host.to_lowercase()))
}

/// The remote that a command's output shows: of a push, a fetch, or a list of remotes.
#[must_use]
pub fn shown_remote(output: &str) -> Option<String> {
    output.lines().take(200).find_map(|line| {
        let line = line.trim();
        let url = line
            .strip_prefix("To ")
            .or_else(|| line.strip_prefix("From "))
            .or_else(|| listed_remote(line))?;
        normalised_remote(url)
    })
}

fn listed_remote(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("origin")?.trim_start();
    rest.strip_suffix("(push)")
        .or_else(|| rest.strip_suffix("(fetch)"))
        .map(str::trim)
}

/// The project of each folder. `known` keep their keys; the result is the same in whatever order
/// the folders came.
#[must_use]
pub fn assign(roots: &BTreeMap<String, RootFacts>, known: &[Project]) -> BTreeMap<String, Project> {
    let mut keys: BTreeMap<String, Project> = known
        .iter()
        .map(|project| (project.identity.clone(), project.clone()))
        .collect();
    let mut taken: BTreeSet<String> = known.iter().map(|project| project.key.clone()).collect();
    let repositories: BTreeSet<String> = roots
        .values()
        .filter_map(|facts| facts.remote.clone())
        .chain(
            known
                .iter()
                .map(|p| p.identity.clone())
                .filter(|identity| !is_folder(identity)),
        )
        .collect();
    let mut assigned = BTreeMap::new();
    for (root, facts) in roots {
        let (identity, guessed) = identity(root, facts, &repositories);
        let project = keys.entry(identity.clone()).or_insert_with(|| {
            let key = free_key(&identity, &taken);
            taken.insert(key.clone());
            Project {
                key,
                identity,
                guessed,
            }
        });
        assigned.insert(root.clone(), project.clone());
    }
    assigned
}

fn identity(root: &str, facts: &RootFacts, repositories: &BTreeSet<String>) -> (String, bool) {
    if let Some(remote) = &facts.remote {
        return (remote.clone(), false);
    }
    if let Some(common) = &facts.common_dir {
        return (common.clone(), false);
    }
    let same_name = |remote: &&String| last_part(remote) == last_part(root);
    let mut candidates = repositories.iter().filter(same_name);
    match (candidates.next(), candidates.next()) {
        (Some(only), None) => (only.clone(), true),
        _ => (root.to_owned(), true),
    }
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

/// A short key: the folder's name, or owner and repository. A taken one gets a fingerprint.
fn free_key(identity: &str, taken: &BTreeSet<String>) -> String {
    let name = if is_folder(identity) {
        slug(last_part(identity))
    } else {
        let parts: Vec<&str> = identity.split('/').skip(1).map(str::trim).collect();
        slug(&parts.join("-"))
    };
    let name = if name.is_empty() {
        "project".to_owned()
    } else {
        name
    };
    if !taken.contains(&name) {
        return name;
    }
    let print = EventId::of(&[identity.as_bytes()]).0;
    format!("{name}-{:06x}", print & 0xff_ffff)
}

fn slug(text: &str) -> String {
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
