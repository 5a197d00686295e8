//! What failed, and what then worked.
//!
//! A lesson needs a check that failed with an error that says something, a change after it, and
//! the same check passing. "Failed, then succeeded" alone is none, and neither is a slip of the
//! pen that the compiler caught. What a person complained of counts too, when the agent named the
//! cause, changed something, a check passed and nobody objected.
//!
//! Not here: how a session ended (`outcome`).

use std::sync::LazyLock;

use daybook_domain::{Event, ObservationKind as Kind, Origin};
use regex::Regex;

use super::deeds::{Deed, base};
use super::finds::{Find, quote};
use super::lexicon::{Cue, english};
use super::sentences::{Sentence, agent_sentences, one_line};
use super::turns::{Talk, Turn};
use super::words::{content_words, is_concrete};

/// Deeds before a check that passes among which it may have failed.
const DEEDS_BACK: usize = 60;
/// Files named in a fix.
const FILES: usize = 3;
/// Most characters of an error line.
const ERROR: usize = 100;
/// Lines of output that are searched for the error.
const OUTPUT_LINES: usize = 400;
/// Messages after a complaint's until which a check may show that its cause is gone.
const CHECKED: usize = 2;
const PASSED: i32 = 50;
const WITH_CAUSE: i32 = 65;
const COMPLAINED: i32 = 60;

/// Checks that passed after they had failed and something was changed, and complaints whose cause was
/// found.
pub(super) fn fixes(talk: &Talk<'_>) -> Vec<Find> {
    let outcomes: Vec<Option<bool>> = talk.deeds.iter().map(Deed::passed).collect();
    let fixed_by = |n: usize, horizon: usize| fixed_by(talk, &outcomes, n, horizon);
    let mut finds = Vec::new();
    let passed = talk.deeds.iter().zip(&outcomes).enumerate();
    for (n, (deed, _)) in passed.filter(|(_, (_, outcome))| **outcome == Some(true)) {
        if deed.done < talk.first {
            continue;
        }
        let horizon = talk.horizon(deed.at);
        let Some((label, find)) = fixed_by(n, horizon) else {
            continue;
        };
        // The same check is fixed again and again while work goes on: the first time tells.
        let told_before = (0..n)
            .filter(|earlier| talk.deeds[*earlier].at >= horizon)
            .filter_map(|earlier| fixed_by(earlier, horizon))
            .any(|(other, _)| other == label);
        if !told_before {
            finds.push(find);
        }
    }
    finds.extend((0..talk.turns.len()).flat_map(|n| explained(talk, n)));
    finds
}

/// What the check of deed `n` shows to be fixed: the first failure of it that no other check has shown
/// to be fixed since.
fn fixed_by(
    talk: &Talk<'_>,
    outcomes: &[Option<bool>],
    n: usize,
    horizon: usize,
) -> Option<(String, Find)> {
    let passed = (outcomes[n] == Some(true)).then(|| &talk.deeds[n])?;
    let mut earlier = Vec::new();
    for m in (n.saturating_sub(DEEDS_BACK)..n).rev() {
        let deed = &talk.deeds[m];
        if deed.at < horizon {
            break;
        }
        if deed.done >= passed.at {
            continue;
        }
        match outcomes[m] {
            Some(true) if same_check(passed, deed) => break,
            Some(false) if same_check(deed, passed) => earlier.push(deed),
            Some(_) | None => {}
        }
    }
    let mut failed = earlier.into_iter().rev();
    failed.find_map(|failed| fixed(talk, failed, passed))
}

fn fixed(talk: &Talk<'_>, failed: &Deed<'_>, passed: &Deed<'_>) -> Option<(String, Find)> {
    let error = telling_line(&failed.output())?;
    let files = talk.files_changed(failed.done, passed.at);
    if files.is_empty() {
        return None;
    }
    let label = failed.checks().last()?.label();
    let exit = exit_code(&failed.output()).map_or(String::new(), |code| format!("exit {code}: "));
    let named = if files.len() > FILES {
        format!(
            "{} and {} more",
            files[..FILES].join(", "),
            files.len() - FILES
        )
    } else {
        files.join(", ")
    };
    let text = format!("`{label}` failed ({exit}\"{error}\") → passed after an edit of {named}");
    let cause = cause_between(talk, failed.done, passed.at);
    if cause.is_none() && was_expected(talk, failed.done, passed.at) {
        return None;
    }
    let on: Vec<&Event> = [failed.result, passed.result]
        .into_iter()
        .flatten()
        .collect();
    let score = if cause.is_some() { WITH_CAUSE } else { PASSED };
    let find = Find::shown(Kind::Fix, score, &on, &text);
    Some((label, find.in_context(cause.map(|c| c.text))))
}

/// The agent had meant it to fail: a test that was written first.
fn was_expected(talk: &Talk<'_>, from: usize, to: usize) -> bool {
    let spoken = talk.events[from..to]
        .iter()
        .find(|e| e.origin == Origin::Assistant);
    spoken.is_some_and(|e| {
        let low = e.text.to_lowercase();
        ["as expected", "expected to fail", "expected failure"]
            .iter()
            .any(|mark| low.contains(mark))
    })
}

/// Whether `later` checks at least what `failed` tripped over: its last command, or all of it.
fn same_check(failed: &Deed<'_>, later: &Deed<'_>) -> bool {
    let labels = |d: &Deed<'_>| -> Vec<String> { d.checks().iter().map(|c| c.label()).collect() };
    let (before, after) = (labels(failed), labels(later));
    before.last().is_some_and(|last| after.contains(last))
}

static EXIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:exit code|exited with code|process exited with code)[: ]+(\d+)")
        .expect("the pattern is constant")
});

fn exit_code(output: &str) -> Option<String> {
    output
        .lines()
        .take(6)
        .find_map(|line| EXIT.captures(line))
        .map(|c| c[1].to_owned())
}

static TELLS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(error|fail(ed|ure)?|fatal|panic(ked)?|expected|cannot|can't|could not|unable|missing|mismatch|undefined|invalid|denied|refused|timed? ?out|not (found|checked|allowed|supported|set|valid|equal)|no such|exception|assert\w*|conflict|unused|deprecated|warning|returns?|unexpected|violat\w+|must|should)\b")
        .expect("the pattern is constant")
});

static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(exit code|exited with|process exited|=== |--- (fail|pass)|fail\b|ok\b|pass\b|\?\s|#|\$ |\[[\w:.-]+\] (\$|error)|error task failed|error: (recipe|process|script|command)|make(\[\d+\])?: \*\*\*|npm err! (code|errno|a complete)|\d+ (issues?|errors?|failed|failures?)\b|collected \d|={3,}|-{3,}|_{3,}|traceback|stack trace|test result:|failures?:|errors?:?$)|elifecycle")
        .expect("the pattern is constant")
});

/// The first line of output that says what was wrong; `None` when none does, or when it only
/// shows a slip.
pub(super) fn telling_line(output: &str) -> Option<String> {
    let lines = output.lines().take(OUTPUT_LINES).map(one_line);
    let line = lines.into_iter().find(|l| {
        !l.contains("[REDACTED")
            && TELLS.is_match(l)
            && !NOISE.is_match(l)
            && content_words(&l.to_lowercase(), english()).len() >= 2
    })?;
    if english().shows(Cue::Slip, &line.to_lowercase()) {
        return None;
    }
    let line = line.replace(['`', '"'], "'");
    Some(cut_words(
        &without_folders(line.trim_start_matches("error: ")),
        ERROR,
    ))
}

/// `a/b/c.rs:3:1: wrong` as `c.rs:3:1: wrong`: folders differ between checkouts.
fn without_folders(line: &str) -> String {
    match line.split_once(' ') {
        Some((place, said)) if place.contains('/') && place.contains(':') => {
            format!("{} {said}", base(place))
        }
        _ => line.to_owned(),
    }
}

fn cut_words(line: &str, most: usize) -> String {
    if line.chars().count() <= most {
        return line.to_owned();
    }
    let room: String = line.chars().take(most - 2).collect();
    let cut = room.rfind(' ').map_or(room.as_str(), |at| &room[..at]);
    format!("{} …", cut.trim_end_matches([',', ':', ';', '-']))
}

fn cause_between(talk: &Talk<'_>, from: usize, to: usize) -> Option<Sentence> {
    let spoken = talk.events[from..to]
        .iter()
        .filter(|e| e.origin == Origin::Assistant);
    spoken.flat_map(|e| agent_sentences(&e.text)).find(is_cause)
}

/// A sentence in which the agent names a cause, and names something by it.
fn is_cause(sentence: &Sentence) -> bool {
    let hedged = [
        "might", "maybe", "could be", "let me", "let's", "probably", "possibly", "likely", "i'll",
        "perhaps", "?",
    ];
    english().weight(Cue::Cause, &sentence.low) >= 45
        && !hedged.iter().any(|h| sentence.low.contains(h))
        && content_words(&sentence.low, english()).len()
            >= if is_concrete(&sentence.text) { 5 } else { 6 }
        && !sentence.text.ends_with(':')
}

/// A complaint of the person in turn `n`, whose cause the agent named and removed without objection. It
/// belongs to the turn behind the check that shows it: until then the result may not have been looked at.
fn explained(talk: &Talk<'_>, n: usize) -> Option<Find> {
    let turn = &talk.turns[n];
    let last = (n + CHECKED).min(talk.turns.len() - 1);
    let may_be_new = talk.turns.get(last + 1).unwrap_or(&talk.turns[last]);
    if may_be_new.at < talk.first {
        return None;
    }
    let lexicon = turn.lexicon?;
    let complaint = turn.prose.iter().find(|s| {
        lexicon.weight(Cue::Complaint, &s.low) > 0 && content_words(&s.low, lexicon).len() >= 3
    })?;
    let (told_at, cause) = last_cause(talk, turn)?;
    let changed = talk.deeds_in(told_at, turn.end).find(|d| d.edited())?;
    let until = talk.turns[last].end;
    let checked = talk
        .deeds_in(changed.at, until)
        .find(|d| d.passed().is_some())?;
    let behind = talk.turns.iter().position(|t| t.at > checked.done)?;
    let next = &talk.turns[behind];
    let is_new = next.at >= talk.first && turn.at >= talk.horizon(next.at);
    let objected = talk.turns[n + 1..=behind].iter().any(objects);
    let passed = checked.passed() == Some(true);
    if !is_new || !passed || objected || reverted(talk, changed.at, next.end) {
        return None;
    }
    let on = [turn.said, talk.events[told_at], next.said];
    let find = Find::shown(Kind::Fix, COMPLAINED, &on, &cause.text);
    Some(find.in_context(Some(format!("“{}”", quote(&complaint.text)))))
}

/// The last cause that the agent named in a turn before it changed something.
fn last_cause(talk: &Talk<'_>, turn: &Turn<'_>) -> Option<(usize, Sentence)> {
    let last_edit = talk
        .deeds_in(turn.at, turn.end)
        .filter(|d| d.edited())
        .map(|d| d.at)
        .last()?;
    let spoken = (turn.at..last_edit)
        .rev()
        .filter(|i| talk.events[*i].origin == Origin::Assistant);
    spoken.into_iter().find_map(|i| {
        let said = agent_sentences(&talk.events[i].text);
        said.into_iter().find(is_cause).map(|cause| (i, cause))
    })
}

/// The next words show that it was not right.
fn objects(turn: &Turn<'_>) -> bool {
    let low = turn.low();
    let shows = |cue| turn.lexicon.is_some_and(|l| l.shows(cue, &low));
    let refuses = low
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .is_some_and(|first| ["no", "nope", "not", "nah"].contains(&first));
    shows(Cue::Trouble) || shows(Cue::Complaint) || turn.conceded.is_some() || refuses
}

/// The agent took its change back within the next turns.
fn reverted(talk: &Talk<'_>, from: usize, until: usize) -> bool {
    let later = talk.events[from..until]
        .iter()
        .filter(|e| e.origin == Origin::Assistant);
    let marks = [
        "let me revert",
        "reverting",
        "revert my",
        "revert the",
        "i'll revert",
        "undo my",
        "roll back",
    ];
    later.into_iter().any(|e| {
        let low = e.text.to_lowercase();
        marks.iter().any(|mark| low.contains(mark))
    })
}

#[cfg(test)]
mod tests {
    use super::telling_line;

    fn check(output: &str, expected: Option<&str>) {
        assert_eq!(telling_line(output).as_deref(), expected);
    }

    #[test]
    fn the_error_is_the_first_line_that_says_something() {
        check(
            "Exit code 1\n[lint] $ lint ./...\nserver.go:9:2: the returned error must be wrapped (wrap)\n1 issues:",
            Some("server.go:9:2: the returned error must be wrapped (wrap)"),
        );
        check(
            "Exit code 1\n--- FAIL: TestX\n    x_test.go:3: expected \"a b\", got \"\"\nFAIL",
            Some("x_test.go:3: expected 'a b', got ''"),
        );
    }

    #[test]
    fn slips_and_bare_failures_tell_nothing() {
        check("Exit code 1\nmain.go:3:1: undefined: ledger", None);
        check("Exit code 1\nFAIL\nmake: *** [test] Error 1", None);
        check("", None);
    }
}
