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

use super::place::normalised_remote;

/// What is known of a folder that work was done in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootFacts {
    /// Its remote, normalised: from the folder itself, or from what its transcripts show.
    pub remote: Option<String>,
    /// Its repository's common folder, when it is on this machine.
    pub common_dir: Option<String>,
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
        normalised_remote(url).filter(|remote| is_address(remote))
    })
}

/// Prose begins with "To" and "From", too: an address has a dotted host, and no blanks.
fn is_address(remote: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '~');
    let dotted = remote
        .split('/')
        .next()
        .is_some_and(|host| host.contains('.'));
    dotted && remote.chars().all(plain)
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

/// Whether a project's key was made from its identity, and not given by a person.
#[must_use]
pub fn has_own_key(project: &Project) -> bool {
    let name = own_name(&project.identity);
    project.key == name || project.key == with_print(&name, &project.identity)
}

/// A short key: the folder's name, or owner and repository. A taken one gets a fingerprint.
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
mod tests {
    use super::*;

    fn folder(remote: Option<&str>) -> RootFacts {
        RootFacts {
            remote: remote.map(str::to_owned),
            common_dir: None,
        }
    }

    #[test]
    fn checkouts_of_one_remote_are_one_project_and_a_gone_one_is_guessed_by_its_name() {
        let remote = Some("github.com/ada/tidepool");
        let roots = BTreeMap::from([
            ("/home/ada/tidepool".to_owned(), folder(remote)),
            ("/srv/build/tidepool".to_owned(), folder(remote)),
            ("/old/laptop/tidepool".to_owned(), folder(None)),
            ("/home/ada/notes".to_owned(), folder(None)),
        ]);
        let assigned = assign(&roots, &[]);
        let project = |root: &str| (assigned[root].key.as_str(), assigned[root].guessed);
        assert_eq!(project("/home/ada/tidepool").0, "ada-tidepool");
        assert_eq!(project("/srv/build/tidepool").0, "ada-tidepool");
        assert_eq!(project("/old/laptop/tidepool").0, "ada-tidepool");
        assert_eq!(project("/home/ada/notes"), ("notes", true));
    }

    #[test]
    fn folders_of_one_name_without_a_remote_stay_apart() {
        let roots = BTreeMap::from([
            ("/a/api".to_owned(), folder(None)),
            ("/b/api".to_owned(), folder(None)),
        ]);
        let assigned = assign(&roots, &[]);
        assert_ne!(assigned["/a/api"].key, assigned["/b/api"].key);
        assert_eq!(
            assign(&roots, &assigned.values().cloned().collect::<Vec<_>>()),
            assigned
        );
    }

    #[test]
    fn a_remote_is_read_off_a_push_and_a_list_but_not_off_prose() {
        let shown = |output: &str| shown_remote(output);
        let tidepool = Some("github.com/ada/tidepool".to_owned());
        assert_eq!(
            shown("remote: done\nTo github.com:ada/tidepool.git\n   1..2 main -> main"),
            tidepool
        );
        assert_eq!(
            shown("origin\tgit@github.com:ada/tidepool.git (fetch)"),
            tidepool
        );
        assert_eq!(shown("To do: read a/b\nFrom here: on/off"), None);
    }
}
