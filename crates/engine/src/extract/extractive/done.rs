//! What a window's work came to, in the agent's own short words: the subjects of its commits, and the title of the plan
//! that a person accepted or of the pull request that was opened.
//!
//! A subject counts when its commit succeeded. Subjects that tell nothing ("init", "wip", a merge) and commits in
//! scratch folders are left out.
//!
//! Not here: how many commits were made and pushed (`outcome`).

use std::sync::LazyLock;

use daybook_domain::extraction::CitedText;
use daybook_text::lazy_pattern::constant_regex;
use regex::Regex;

use super::actions::{ActionKind, AgentAction};
use super::clauses::shorten;
use super::lexicon::english;
use super::sentences::{MAX_QUOTE, one_line};
use super::turns::WindowConversation;
use super::words::content_words;

/// Fewest content words of a subject.
const WORDS: usize = 2;

static MESSAGE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r#"\bgit\b[^\n;|]*?\bcommit\b[^\n;|]*?\s(?:-[a-zA-Z]*m|--message[= ])\s*(?:"\$\(cat <<-?\s*['"]?\w+['"]?\s*\n\s*([^\n]+)|"([^"\n$]+)|'([^'\n]+))"#,
    )
});

static SCRATCH: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\bgit init\b|\bmktemp\b|\bcd\s+\S*(/tmp|/var/folders|\$TMP|\$\{TMP)")
});

static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)^(merge\b|initial commit|first commit|wip\b|init\b|fixup!|squash!|tests?$|update$)",
    )
});

/// The subjects of the commits that were made in the window from index `from` on, in order, each once.
pub(super) fn commit_subjects(talk: &WindowConversation<'_>, from: usize) -> Vec<CitedText> {
    let mut found: Vec<CitedText> = Vec::new();
    let made = talk.new_actions().filter(|action| {
        let ActionKind::Run(commands) = &action.kind else {
            return false;
        };
        action.at >= from && action.has_succeeded() && commands.iter().any(|c| c.is_commit())
    });
    for action in made {
        for subject in subjects(&action.call_text()) {
            if found.iter().all(|known| known.text != subject) {
                found.push(cited(action, subject));
            }
        }
    }
    found
}

fn subjects(command: &str) -> Vec<String> {
    if SCRATCH.is_match(command) {
        return Vec::new();
    }
    let messages = MESSAGE.captures_iter(command);
    let lines = messages.filter_map(|m| (1..=3).find_map(|group| m.get(group)));
    let subjects = lines.map(|line| shorten(&one_line(line.as_str()), MAX_QUOTE));
    subjects
        .filter(|subject| !EMPTY.is_match(subject) && !subject.contains("[REDACTED"))
        .filter(|subject| content_words(&subject.to_lowercase(), english()).len() >= WORDS)
        .collect()
}

/// The title of the last plan that a person accepted in the window, or of the pull request that was opened.
pub(super) fn title(talk: &WindowConversation<'_>, from: usize) -> Option<CitedText> {
    let done = talk.new_actions().filter(|action| action.at >= from);
    done.rev()
        .filter(|action| action.has_succeeded())
        .find_map(|action| {
            let title = match &action.kind {
                ActionKind::Plan(plan) => plan_title(plan)?,
                ActionKind::Run(commands) => commands
                    .iter()
                    .find(|command| command.is_pull_request())
                    .and_then(|command| command.option(&["--title", "-t"]))?
                    .to_owned(),
                ActionKind::Edit { .. } | ActionKind::Issue(_) | ActionKind::Other => {
                    return None;
                }
            };
            let title = shorten(&one_line(&title), MAX_QUOTE);
            (!title.is_empty() && !title.contains("[REDACTED")).then(|| cited(action, title))
        })
}

/// The first heading of a plan, without the word "plan".
pub(super) fn plan_title(plan: &str) -> Option<String> {
    let heading = plan
        .lines()
        .find_map(|line| line.trim().strip_prefix('#'))?;
    let heading = heading.trim_start_matches('#').trim();
    let named = heading.split_once(':').filter(|(kind, _)| {
        let kind = kind.to_lowercase();
        kind.contains("plan") && kind.split(' ').count() <= 3
    });
    let title = named.map_or(heading, |(_, title)| title.trim());
    (content_words(&title.to_lowercase(), english()).len() >= WORDS).then(|| title.to_owned())
}

fn cited(action: &AgentAction<'_>, text: String) -> CitedText {
    CitedText {
        text,
        events: vec![action.call.seq],
        lines: vec![action.call.line],
    }
}

#[cfg(test)]
mod tests {
    use super::{plan_title, subjects};

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        assert_eq!(subjects(command), expected, "{command}");
    }

    #[test]
    fn a_commits_subject_is_the_first_line_of_its_message() {
        check(
            "git commit -m \"Read the ledger once\"",
            &["Read the ledger once"],
        );
        check(
            "cd x && git add -A && git commit -qm 'Read the ledger once' && git push",
            &["Read the ledger once"],
        );
        check(
            "git commit -m \"$(cat <<'EOF'\nfix(ledger): read it once\n\nIt was read twice.\nEOF\n)\"",
            &["fix(ledger): read it once"],
        );
        check(
            "git commit -m \"Add the totals\" && git commit -m \"Round the totals\"",
            &["Add the totals", "Round the totals"],
        );
    }

    #[test]
    fn subjects_that_tell_nothing_are_left_out() {
        for command in [
            "git commit -m init",
            "git commit -m \"Initial commit\"",
            "git commit -m \"Merge branch 'main' into totals\"",
            "cd /tmp/try && git commit -m \"Add the totals\"",
            "git init && git commit -m \"Add the totals\"",
            "git commit --no-edit",
        ] {
            check(command, &[]);
        }
    }

    #[test]
    fn a_plan_is_called_by_its_first_heading() {
        let title = |plan| plan_title(plan);
        assert_eq!(
            title("# Plan: Round the totals\n\n## Steps").as_deref(),
            Some("Round the totals")
        );
        assert_eq!(
            title("text\n## Read the ledger once").as_deref(),
            Some("Read the ledger once")
        );
        assert_eq!(title("# Plan"), None);
        assert_eq!(title("no heading"), None);
    }
}
