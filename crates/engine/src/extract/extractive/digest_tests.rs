//! The account of a window: what was wanted, how it ended, what is open.

use daybook_domain::{Outcome, Timestamp};

use super::tests::{events, extracted};
use crate::extract::ExtractorOutput;

#[test]
fn the_last_request_is_told_with_whether_it_was_answered() {
    let interrupted = extracted(&events(
        "human: add a header\nassistant: Done.\nhuman: can you move the reader into its own module?\ncall Bash: ls\nharness: [Request interrupted by user]",
    ));
    let digest = interrupted.digest.unwrap();
    let last = digest.last_words.map(|last| (last.text, last.lines));
    let expected = "can you move the reader into its own module?".to_owned();
    assert_eq!(last, Some((expected, vec![3])));
    assert!(!digest.answered);
}

#[test]
fn a_last_message_that_wants_nothing_waits_for_no_answer() {
    let is_answered = |last: &str| {
        let talk = format!(
            "human: add a header to the ledger\ncall Bash: ls\nok: ledger.txt\nassistant: Done.\nhuman: {last}"
        );
        extracted(&events(&talk)).digest.unwrap().answered
    };
    for report in [
        "it runs on 8.1 since thursday morning, all fine, two warnings in the log",
        "applied. the upgrade is through, pgbouncer next week",
        "schöne ostern dann, ich bin bis dienstag weg",
    ] {
        assert!(is_answered(report), "{report}");
    }
    for wish in [
        "we don't need the test of the auto strategy",
        "with the sessions we want to be explicit about what deletion means",
        "the header is missing in the second file",
        "move the reader into its own module",
        "can you move the reader into its own module?",
        "bitte noch die zweite datei anpassen",
    ] {
        assert!(!is_answered(wish), "{wish}");
    }
}

#[test]
fn the_agents_last_question_is_told_when_it_asks_how_something_should_be() {
    let check = |dialogue: &str, expected: Option<(&str, u32)>| {
        let digest = extracted(&events(dialogue)).digest.unwrap();
        let asked = digest
            .open_question
            .map(|asked| (asked.text, asked.lines[0]));
        assert_eq!(asked, expected.map(|(text, line)| (text.to_owned(), line)));
    };
    check(
        "human: why do rows of zero show up?
call Bash: ls
ok: src
assistant: The bank sends them. We could drop them at import. Should I drop them, or print them in grey?",
        Some((
            "We could drop them at import. Should I drop them, or print them in grey?",
            4,
        )),
    );
    check(
        "human: sort the rows\nassistant: Done. Would you like me to commit it?",
        None,
    );
}

#[test]
fn a_session_without_a_request_yields_nothing() {
    for dialogue in [
        "",
        "human: Warmup\nassistant: Ready.",
        "harness: <command-name>/clear</command-name>",
        "assistant: Hello",
    ] {
        assert_eq!(
            extracted(&events(dialogue)),
            ExtractorOutput::default(),
            "{dialogue}"
        );
    }
}

#[test]
fn the_account_tells_what_was_wanted_and_how_it_ended() {
    let found = extracted(&events(
        "human: okay, so please add a header to the ledger
call Edit: {\"file_path\":\"a.rs\",\"new_string\":\"x\"}
ok: done
call Bash: git add . && git commit -m \"Add a header; git push\"
ok: [main 1a2b3c] Add a header
call Bash: git push
ok: done
assistant: Pushed.
human: can we sort the rows by date?
assistant: Yes. By which of the two dates?",
    ));
    let digest = found.digest.expect("a person asked for something");
    let task = digest
        .task
        .as_ref()
        .map(|t| (t.text.as_str(), t.lines.as_slice()));
    assert_eq!(task, Some(("please add a header to the ledger", &[1][..])));
    let last = digest
        .last_words
        .as_ref()
        .map(|t| (t.text.as_str(), t.lines.as_slice()));
    assert_eq!(last, Some(("can we sort the rows by date?", &[9][..])));
    assert_eq!(
        (digest.answered, digest.commits, digest.pushed),
        (false, 1, 1)
    );
    assert_eq!(
        (digest.outcome, digest.human_messages),
        (Some(Outcome::Success), 2)
    );
    assert_eq!(
        (digest.branch.as_deref(), digest.root.as_deref()),
        (Some("main"), Some("/home/ada/ledger"))
    );
    assert_eq!(
        (digest.from_at, digest.to_at),
        (Timestamp(1_000), Timestamp(10_000))
    );
}

#[test]
fn the_account_shows_the_values_of_one_subject_by_turn() {
    let said = "human: set the retry count to 5\nassistant: Done.\nhuman: set the retry count to 8\nassistant: Done.";
    let highlights = extracted(&events(said))
        .digest
        .map(|d| d.highlights)
        .unwrap_or_default();
    let shown: Vec<(&str, &[u32])> = highlights
        .iter()
        .map(|h| (h.text.as_str(), h.lines.as_slice()))
        .collect();
    let expected = [
        ("set: retry count: 5", &[1][..]),
        ("set: retry count: 8", &[3][..]),
    ];
    assert_eq!(shown, expected);
}

#[test]
fn the_persons_verdict_wins_over_what_the_checks_show() {
    let outcome = |rest: &str| {
        let work = format!(
            "human: sort the rows\ncall Edit: {{\"file_path\":\"a.rs\",\"new_string\":\"x\"}}\nok: done\n{rest}"
        );
        extracted(&events(&work)).digest.and_then(|d| d.outcome)
    };
    assert_eq!(outcome("human: works now, thanks"), Some(Outcome::Success));
    assert_eq!(
        outcome("call Bash: make test\nok: ok\nhuman: it's still broken"),
        Some(Outcome::Fail)
    );
    assert_eq!(
        outcome("call Bash: make test\nfailed: Exit code 1"),
        Some(Outcome::Fail)
    );
    assert_eq!(
        outcome("assistant: All tests pass ✅"),
        Some(Outcome::Uncertain)
    );
    assert_eq!(
        outcome("call Bash: git commit -m x\nok: done\nhuman: push it"),
        Some(Outcome::Success)
    );
    assert_eq!(
        outcome("call Bash: git commit -m x\nok: done\ncall Bash: make test\nfailed: no"),
        Some(Outcome::Partial)
    );
}

#[test]
fn a_digest_names_the_plan_and_the_commits() {
    let found = extracted(&events(
        "human: round the totals
call ExitPlanMode: {\"plan\":\"# Plan: Round the totals to cents\"}
ok: approved
call Bash: git commit -m \"Round the totals to cents\"
ok: done
assistant: Done.",
    ));
    let digest = found.digest.expect("a person asked for something");
    let texts: Vec<&str> = digest.committed.iter().map(|c| c.text.as_str()).collect();
    assert_eq!(texts, ["Round the totals to cents"]);
    assert_eq!(
        digest.title.map(|title| title.text).as_deref(),
        Some("Round the totals to cents")
    );
}
