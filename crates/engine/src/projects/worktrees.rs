//! Guesses which checkout a folder that is gone was a worktree of.
//!
//! Such a folder has only its path and the branches of its events. It is taken for a worktree where both agree: the
//! folder is named after a branch that was worked on in it, and exactly one repository lies where the worktree's
//! repository would. The result is a guess. A folder that shows a repository of its own is never asked about.
//!
//! Not here: worktrees whose path alone says so (`places`), and what follows from evidence (`assign`).

use std::collections::{BTreeMap, BTreeSet};

/// Branches that any repository may have: they prove nothing.
const TRUNKS: [&str; 7] = [
    "main",
    "master",
    "trunk",
    "develop",
    "dev",
    "staging",
    "production",
];

/// A checkout whose repository is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownCheckout<'f> {
    /// The identity of its project.
    pub(super) identity: &'f str,
    /// Branches that events happened on in it.
    pub(super) branches: &'f BTreeSet<String>,
}

/// The identity of the repository that `root` was a worktree of, if all signs agree on one.
pub(super) fn worktree_of<'f>(
    root: &str,
    branches: &BTreeSet<String>,
    known: &BTreeMap<&str, KnownCheckout<'f>>,
) -> Option<&'f str> {
    if let Some((above, _)) = root.rsplit_once("/worktrees/")
        && let Some(checkout) = known.get(above)
    {
        return Some(checkout.identity);
    }
    enclosing(root, branches, known).or_else(|| {
        let signs = branches.iter().filter(|branch| !is_trunk(branch));
        let mut identities = signs.filter_map(|branch| beside(root, branch, known));
        let first = identities.next()?;
        identities.all(|other| other == first).then_some(first)
    })
}

/// A subfolder of a checkout in which all of the same work went on: its branches are branches of the checkout.
fn enclosing<'f>(
    root: &str,
    branches: &BTreeSet<String>,
    known: &BTreeMap<&str, KnownCheckout<'f>>,
) -> Option<&'f str> {
    if branches.iter().all(|branch| is_trunk(branch)) {
        return None;
    }
    let above = |path: &str| {
        let rest = root.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    let nearest = known.iter().rfind(|(path, _)| above(path))?.1;
    branches
        .is_subset(nearest.branches)
        .then_some(nearest.identity)
}

/// The repository beside a folder that is named after a branch: `D/<branch>` or `D/<repository>-<branch>`, with the
/// repository in `D`.
fn beside<'f>(
    root: &str,
    branch: &str,
    known: &BTreeMap<&str, KnownCheckout<'f>>,
) -> Option<&'f str> {
    let ends_with = |name: &str| {
        let rest = root.strip_suffix(name)?;
        rest.strip_suffix('/')
    };
    let short = branch.rsplit('/').next().unwrap_or(branch);
    let flat = branch.replace('/', "-");
    let folder = [branch, &flat, short]
        .into_iter()
        .filter(|name| is_distinctive(name))
        .find_map(ends_with);
    if let Some(folder) = folder {
        return only_repository_in(folder, branch, known);
    }
    [flat.as_str(), short]
        .into_iter()
        .filter_map(|name| root.strip_suffix(name)?.strip_suffix('-'))
        .find_map(|checkout| known.get(checkout))
        .map(|checkout| checkout.identity)
}

/// The identity that all repositories directly in `folder` share, or else that of those on `branch`.
fn only_repository_in<'f>(
    folder: &str,
    branch: &str,
    known: &BTreeMap<&str, KnownCheckout<'f>>,
) -> Option<&'f str> {
    let lies_there = |path: &str| {
        path.rsplit_once('/')
            .is_some_and(|(above, _)| above == folder)
    };
    let repositories = || {
        let here = known.iter().filter(|(path, _)| lies_there(path));
        here.map(|(_, checkout)| checkout)
            .filter(|checkout| !checkout.branches.is_empty())
    };
    let all: BTreeSet<&str> = repositories().map(|checkout| checkout.identity).collect();
    let on_branch: BTreeSet<&str> = repositories()
        .filter(|checkout| checkout.branches.contains(branch))
        .map(|checkout| checkout.identity)
        .collect();
    [all, on_branch]
        .into_iter()
        .find(|identities| identities.len() == 1)
        .and_then(|identities| identities.first().copied())
}

/// Whether a folder of this name was hardly named by chance: `api` may be a repository of its own on `feature/api`.
fn is_distinctive(name: &str) -> bool {
    name.contains(['/', '-', '_']) || name.contains(|c: char| c.is_ascii_digit())
}

fn is_trunk(branch: &str) -> bool {
    TRUNKS.contains(&branch.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branches(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// `known` holds folders with their identity and branches.
    #[track_caller]
    fn check(root: &str, on: &[&str], known: &[(&str, &str, &[&str])], expected: Option<&str>) {
        let sets: Vec<BTreeSet<String>> = known.iter().map(|(_, _, on)| branches(on)).collect();
        let known: BTreeMap<&str, KnownCheckout<'_>> = known
            .iter()
            .zip(&sets)
            .map(|((path, identity, _), branches)| (*path, KnownCheckout { identity, branches }))
            .collect();
        assert_eq!(
            worktree_of(root, &branches(on), &known),
            expected,
            "{root} on {on:?}"
        );
    }

    const REEF: (&str, &str, &[&str]) = ("/src/reef", "github.com/ada/reef", &["main"]);
    const KELP: (&str, &str, &[&str]) =
        ("/src/kelp", "github.com/ada/kelp", &["main", "ada/tides"]);

    #[test]
    fn a_folder_named_after_its_branch_beside_one_repository_is_its_worktree() {
        let reef = Some("github.com/ada/reef");
        check("/src/ada/tides", &["ada/tides"], &[REEF], reef);
        check("/src/ada-tides", &["ada/tides"], &[REEF], reef);
        check(
            "/src/high-tides",
            &["ada/high-tides", "other"],
            &[REEF],
            reef,
        );
        check("/src/reef-tides", &["ada/tides"], &[REEF, KELP], reef);
        check("/src/reef/worktrees/x", &["y"], &[REEF, KELP], reef);
    }

    #[test]
    fn of_several_repositories_the_one_that_was_on_the_branch_is_meant() {
        let kelp = Some("github.com/ada/kelp");
        check("/src/ada/tides", &["ada/tides"], &[REEF, KELP], kelp);
        check("/src/charts", &["charts"], &[REEF, KELP], None);
    }

    #[test]
    fn a_name_without_its_branch_proves_nothing() {
        check("/src/reef-docs", &["main"], &[REEF], None);
        check("/src/reef-docs", &[], &[REEF], None);
        check("/src/reef-docs", &["ada/tides"], &[REEF], None);
        check("/src/main", &["main"], &[REEF], None);
        check("/src/api", &["feature/api", "api"], &[REEF], None);
        check("/other/tides", &["tides"], &[REEF], None);
    }

    #[test]
    fn a_subfolder_belongs_to_its_checkout_where_the_branches_agree() {
        let kelp = Some("github.com/ada/kelp");
        check(
            "/src/kelp/charts/north",
            &["ada/tides"],
            &[REEF, KELP],
            kelp,
        );
        check("/src/kelp/vendored", &["main"], &[KELP], None);
        check("/src/kelp/vendored", &["release-9"], &[KELP], None);
    }
}
