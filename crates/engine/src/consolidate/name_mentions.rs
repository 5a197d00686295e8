//! Finds names in a text by rules: people, projects, repositories and tools.
//!
//! A rule asks for a form that other words do not have: a handle, the subject of a verb of people, an address of a
//! repository, a program's name. Whatever has no such form is no name here.
//!
//! Not here: how often a name must occur (`names`).

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// What a name is the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameKind {
    Person,
    Project,
    Repository,
    Tool,
}

/// A name in a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameMention {
    pub(super) kind: NameKind,
    pub(super) name: String,
    /// The form alone may also be that of an ordinary word at the beginning of a sentence.
    pub(super) is_doubtful: bool,
}

/// Hosts of repositories.
const HOSTS: [&str; 4] = ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"];
/// What only people do.
const PERSON_VERBS: &str = "asked asks wants wanted prefers preferred suggested suggests reviewed approved said says agreed complained \
    confirmed thinks reported likes insists proposed";
/// Capitalised words that do such things without being a person's name.
const NO_PERSONS: &str = "he she it they we you this that who what nobody everyone someone user users agent agents claude codex \
    cursor copilot gemini chatgpt gpt bot reviewer reviewers review linter compiler ci team customer client \
    support git github owner author";
/// Words behind `@` that are no handles.
const NO_HANDLES: &str = "types param return returns todo me here channel everyone all latest main next beta dataclass property \
    staticmethod override test deprecated media import see throws";
/// Programs and services whose names are no ordinary words.
const TOOLS: &str = "ansible bazel bitbucket buildkite circleci cmake codecov cypress dependabot docker elasticsearch eslint \
    figma ghcr gitleaks golangci-lint goreleaser grafana gradle graphql homebrew jenkins jira kafka kubectl \
    kubernetes lefthook mongodb mypy mysql nginx npm pnpm podman playwright postgres postgresql posthog \
    pre-commit prometheus pulumi pytest rabbitmq redis renovate ripgrep rustfmt sentry shellcheck sqlite \
    supabase tailwind terraform typescript vercel vitest webpack yarn zustand clippy";

/// First parts of branches that say what the branch is for.
const PURPOSES: &str = "feature features feat fix fixes bugfix bug hotfix chore docs doc release releases dependabot renovate claude \
    codex copilot cursor gemini test tests refactor wip dev user users ci build perf style revert support \
    experiment spike tmp";

/// `ada` of the branch `ada/tides`, where the first part may be a person's name.
pub(super) fn branch_owner(branch: &str) -> Option<&str> {
    let (owner, rest) = branch.split_once('/')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let may_be_one = (3..=39).contains(&owner.len())
        && owner.chars().all(plain)
        && owner.starts_with(|c: char| c.is_ascii_alphabetic())
        && !is_one_of(PURPOSES, &owner.to_lowercase());
    (may_be_one && !rest.is_empty()).then_some(owner)
}

/// What every text with a name holds one of, in whatever case: most texts hold none, and are not cut into words.
static SIGNS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [PERSON_VERBS, TOOLS, "@ project repo"].into_iter();
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .build(words.flat_map(str::split_whitespace).chain(HOSTS))
        .expect("the words are constant")
});

/// The names in a text, each once.
pub(super) fn mentions(text: &str) -> BTreeSet<NameMention> {
    if text.is_ascii() && !SIGNS.is_match(text) {
        return BTreeSet::new();
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        found.extend(repository(word).map(|name| sure(NameKind::Repository, name)));
        found.extend(handle(word).map(|name| sure(NameKind::Person, name)));
        found.extend(tool(word).map(|name| sure(NameKind::Tool, name)));
        found.extend(person(&words, at));
        found.extend(project(&words, at).map(|name| sure(NameKind::Project, name)));
    }
    found
}

/// Whether a list of words, divided by blanks, has this one.
fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether a word is the name of a tool: asked of every word.
fn is_tool(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| TOOLS.split(' ').collect());
    KNOWN.contains(word)
}

fn sure(kind: NameKind, name: String) -> NameMention {
    NameMention {
        kind,
        name,
        is_doubtful: false,
    }
}

/// `github.com/ada/reef` of an address.
fn repository(word: &str) -> Option<String> {
    if !word.contains('.') {
        return None;
    }
    let word = word.replace(':', "/");
    let (at, host) = HOSTS
        .iter()
        .find_map(|host| Some((word.find(host)?, host)))?;
    let mut parts = word[at + host.len()..].strip_prefix('/')?.split('/');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let part = |part: Option<&str>| {
        let part = part?;
        let end = part.find(|c| !plain(c)).unwrap_or(part.len());
        let part = part[..end].trim_end_matches('.');
        let part = part.strip_suffix(".git").unwrap_or(part);
        (!part.is_empty()).then(|| part.to_lowercase())
    };
    Some(format!(
        "{host}/{}/{}",
        part(parts.next())?,
        part(parts.next())?
    ))
}

/// `@ada-l` of a handle; no scope of a package, decorator or address.
fn handle(word: &str) -> Option<String> {
    let word = word
        .trim_start_matches(['(', '"', '\''])
        .strip_prefix('@')?;
    let name = word.trim_end_matches([',', '.', ':', ';', ')', '"', '\'', '?', '!']);
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_handle = (3..=39).contains(&name.len())
        && name.chars().all(plain)
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !is_one_of(NO_HANDLES, &name.to_lowercase());
    is_handle.then(|| format!("@{name}"))
}

/// The tool that a word names, whichever signs stand around it.
fn tool(word: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let word = word.trim_matches(|c: char| !is_part(c) || matches!(c, '.' | '-'));
    // Most words are in lower case already, and name no tool.
    let is_low = word
        .bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
    let name = match is_low {
        true => Cow::Borrowed(word),
        false => Cow::Owned(word.to_lowercase()),
    };
    is_tool(&name).then(|| name.into_owned())
}

/// A capitalised word before what only people do.
fn person(words: &[&str], at: usize) -> Option<NameMention> {
    let (word, verb) = (words[at], words.get(at + 1)?);
    let verb = verb.trim_end_matches([',', ':', '.']);
    let mut letters = word.chars();
    let is_name = letters.next().is_some_and(char::is_uppercase)
        && (2..=15).contains(&word.chars().count())
        && letters.all(|c| c.is_lowercase())
        && !is_one_of(NO_PERSONS, &word.to_lowercase());
    if !is_name || !is_one_of(PERSON_VERBS, verb) {
        return None;
    }
    let before = at.checked_sub(1).map(|at| words[at]);
    let begins =
        before.is_none_or(|before| !before.ends_with(|c: char| c.is_lowercase() || c == ','));
    Some(NameMention {
        kind: NameKind::Person,
        name: word.to_owned(),
        is_doubtful: begins,
    })
}

/// `reef-web` of "the reef-web project": a name with a sign or a capital, and no ordinary word.
fn project(words: &[&str], at: usize) -> Option<String> {
    let follows = words
        .get(at + 1)?
        .trim_end_matches([',', '.', ':', ';', ')', '?', '!']);
    let before = words.get(at.checked_sub(1)?)?;
    if !matches!(follows, "project" | "repo" | "repository") || before.to_lowercase() != "the" {
        return None;
    }
    let name = words[at].trim_matches(['`', '"', '\'', '“', '”']);
    let quoted = name.len() < words[at].len();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let marked = quoted || name.contains(['-', '_', '/']) || name.chars().any(char::is_uppercase);
    let is_ordinary = [
        "go-to",
        "top-level",
        "open-source",
        "whole",
        "github",
        "git",
        "go",
    ]
    .contains(&name.to_lowercase().as_str());
    let is_name = name.chars().count() >= 3 && name.chars().all(plain) && marked && !is_ordinary;
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let shown: Vec<String> = mentions(text)
            .into_iter()
            .map(|mention| {
                let doubt = if mention.is_doubtful { "?" } else { "" };
                format!("{:?} {}{doubt}", mention.kind, mention.name)
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn names_are_known_by_their_form() {
        check(
            "see git@github.com:Ada/Reef.git, and https://github.com/ada/reef/pull/3",
            &["Repository github.com/ada/reef"],
        );
        check("ask @ada-l, or (@bob)", &["Person @ada-l", "Person @bob"]);
        check(
            "then Bob asked for it. Carol wants more",
            &["Person Bob", "Person Carol?"],
        );
        check(
            "`golangci-lint` and Docker, not dockerfile",
            &["Tool docker", "Tool golangci-lint"],
        );
        check(
            "the reef-web project, the `tides` repo",
            &["Project reef-web", "Project tides"],
        );
    }

    #[test]
    fn a_branch_may_begin_with_its_owner() {
        assert_eq!(branch_owner("ada/tides"), Some("ada"));
        for branch in [
            "main",
            "feature/tides",
            "dependabot/npm/x",
            "8/9",
            "a b/c",
            "ada/",
        ] {
            assert_eq!(branch_owner(branch), None, "{branch}");
        }
    }

    #[test]
    fn ordinary_words_are_no_names() {
        for text in [
            "He asked. Claude suggested it. The reviewer wants tests",
            "npm i @types/node; @app.route(\"/\"); mail ada@example.com; @param x",
            "the whole project, the same repo, the new repository",
            "github.com/ada is a page, and github.com too",
            "Ada A. WANTS it",
            "",
        ] {
            let sure: Vec<NameMention> = mentions(text)
                .into_iter()
                .filter(|it| !it.is_doubtful)
                .collect();
            let sure: Vec<&str> = sure
                .iter()
                .map(|it| it.name.as_str())
                .filter(|it| *it != "npm")
                .collect();
            assert_eq!(sure, Vec::<&str>::new(), "{text}");
        }
    }
}
