//! The extractor on small dialogues, one behaviour each.
//!
//! A dialogue is one event per line, `who: words`; indented lines continue the event above. A
//! call's result follows it as `ok`, `failed` or `refused`; a human message after `refused` has its
//! line number, as in transcripts.

use daybook_domain::{
    Event, Origin, Place, Session, SessionId, SessionKind, Tenant, Timestamp, ToolStatus,
};

use super::clauses::lacks_its_clause;
use super::*;

fn session(events: usize) -> Session {
    Session {
        id: SessionId {
            tenant: Tenant::local(),
            agent: "test".into(),
            host_id: "s".into(),
        },
        label: "s".into(),
        kind: SessionKind::Root,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        passed: Vec::new(),
        forked_from: None,
        user: None,
        surface: None,
        venue: daybook_domain::Venue::default(),
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(events as u64),
    }
}

fn event(seq: usize, line: usize, who: &str, text: &str) -> Event {
    let (origin, tool, status) = match who.split_once(' ') {
        Some(("call", tool)) => (Origin::ToolCall, Some(tool.to_owned()), None),
        _ => match who {
            "human" | "side human" => (Origin::Human, None, None),
            "assistant" => (Origin::Assistant, None, None),
            "ok" => (Origin::ToolResult, None, Some(ToolStatus::Succeeded)),
            "failed" => (Origin::ToolResult, None, Some(ToolStatus::Failed)),
            "refused" => (Origin::ToolResult, None, Some(ToolStatus::Refused)),
            "harness" => (Origin::Harness, None, None),
            "synthetic" => (Origin::Synthetic, None, None),
            "recalled" => (Origin::Recalled, None, None),
            other => panic!("no such speaker: {other}"),
        },
    };
    Event {
        seq: EventSeq(seq as u64),
        line: u32::try_from(line).unwrap(),
        origin,
        at: Timestamp(seq as i64 * 1_000),
        text: text.to_owned(),
        tool,
        call: None,
        status,
        sidechain: who == "side human",
        place: Some(Place {
            root: "/home/ada/ledger".into(),
            branch: Some("main".into()),
        }),
    }
}

pub(super) fn events(dialogue: &str) -> Vec<Event> {
    let mut said: Vec<(String, String)> = Vec::new();
    for line in dialogue.lines().filter(|l| !l.trim().is_empty()) {
        match (line.strip_prefix("  "), said.last_mut()) {
            (Some(more), Some((_, text))) => {
                text.push('\n');
                text.push_str(more.trim_start_matches('|'));
            }
            _ => {
                let (who, text) = line.split_once(':').expect("a line is `who: words`");
                said.push((who.to_owned(), text.trim().to_owned()));
            }
        }
    }
    let mut found: Vec<Event> = Vec::new();
    for (n, (who, text)) in said.iter().enumerate() {
        let refusing = who == "human" && n > 0 && said[n - 1].0 == "refused";
        let line = if refusing { n } else { n + 1 };
        found.push(event(n + 1, line, who, text));
    }
    found
}

pub(super) fn extracted(events: &[Event]) -> ExtractorOutput {
    extracted_of("test", events)
}

/// As [`extracted`], of a session of this agent.
pub(super) fn extracted_of(agent: &str, events: &[Event]) -> ExtractorOutput {
    let mut session = session(events.len());
    session.id.agent = agent.to_owned();
    Extractive.extract_window(Window {
        session: &session,
        before: &[],
        events,
        known: crate::extract::KnownMemory::default(),
        is_redone: false,
    })
}

pub(super) fn draft_line(draft: &ObservationDraft) -> String {
    let lines: Vec<String> = draft.lines.iter().map(u32::to_string).collect();
    let general = if draft.general { " everywhere" } else { "" };
    let subject = draft
        .subject
        .as_ref()
        .map_or(String::new(), |s| format!("{s} = "));
    let context = draft
        .context
        .as_ref()
        .map_or(String::new(), |c| format!(" | {c}"));
    let (kind, text) = (draft.kind.as_str(), &draft.text);
    format!(
        "{kind}{general} {}: {subject}{text}{context}",
        lines.join(",")
    )
}

/// Each expected draft is `kind lines: subject = text | context`.
#[track_caller]
pub(super) fn check(dialogue: &str, expected: &[&str]) {
    let drafts: Vec<String> = extracted(&events(dialogue))
        .drafts
        .iter()
        .map(draft_line)
        .collect();
    assert_eq!(drafts, expected, "{dialogue}");
}

/// Extracts one sentence of a person, with a neutral reply of the agent.
fn check_said(words: &str, expected: Option<&str>) {
    let found = extracted(&events(&format!(
        "human: {words}\nassistant: I'll look into it."
    )));
    let said: Vec<String> = found
        .drafts
        .iter()
        .map(|d| {
            format!(
                "{}{}: {}",
                d.kind.as_str(),
                if d.general { " everywhere" } else { "" },
                d.text
            )
        })
        .collect();
    let expected: Vec<String> = expected.map(str::to_owned).into_iter().collect();
    assert_eq!(said, expected, "{words}");
}

const WORK: &str = "\ncall Bash: ls\nok: src";

#[test]
fn what_a_person_insists_on_is_a_correction() {
    for words in [
        "No, don't use mocks in the store tests; use the in-memory store.",
        "That's wrong, the cache key must include the tenant.",
        "I asked for a dry run, not a real deployment.",
        "Don't touch the generated files.",
        "no emojis please",
    ] {
        check_said(
            &format!("{words}{WORK}"),
            Some(&format!("correction: {words}")),
        );
    }
}

#[test]
fn standing_wishes_are_preferences() {
    for words in [
        "please always run the linter before you commit",
        "I prefer small functions over long ones",
        "Please use pnpm instead of npm.",
        "Ask me before you delete anything.",
        "Don't commit unless I ask you to.",
        "Never log personal data.",
    ] {
        check_said(words, Some(&format!("preference: {words}")));
    }
}

#[test]
fn a_wish_holds_everywhere_only_when_the_person_says_so() {
    let wish = "In all my projects I want conventional commits.";
    check_said(wish, Some(&format!("preference everywhere: {wish}")));
}

#[test]
fn plain_statements_about_named_things_are_facts() {
    for words in [
        "our CI runs on GitHub Actions with self-hosted runners",
        "The staging database is postgres 15 on db-staging.internal.",
        "I live in Lisbon.",
        "ledger1.toml is deprecated, ledger.toml is read now",
    ] {
        check_said(words, Some(&format!("fact: {words}")));
    }
}

#[test]
fn what_the_agent_is_to_look_into_is_no_fact() {
    let stated = "the choir rehearses thursdays 19:30 in the harbour hall";
    check_said(stated, Some(&format!("fact: {stated}")));
    for asked in [", can you check?", ". can you look into that?"] {
        check_said(&format!("{stated}{asked}"), None);
    }
}

#[test]
fn half_a_sentence_is_not_kept() {
    for (words, lacks) in [
        ("While lists inside of lists are walked …", true),
        ("… wasn't part of the first plan", true),
        ("While lists are walked, maps are not …", false),
        ("… we keep the old index until June", false),
        ("while it rains we stay", false),
    ] {
        assert_eq!(lacks_its_clause(words), lacks, "{words}");
    }
}

#[test]
fn what_no_cue_announces_is_a_fact_by_its_form() {
    for words in [
        "the choir rehearses thursdays 19:30 in the harbour hall",
        "the landlord wants the rent on the third of each month",
    ] {
        check_said(words, Some(&format!("fact: {words}")));
        check_said(&format!("\"{words}\""), None);
        check_said(&format!("{words}?"), None);
        let explained =
            "then the page is loaded once more and shows the same list again, ".repeat(5);
        check_said(&format!("{explained}{words}"), None);
    }
}

#[test]
fn what_follows_a_fact_may_point_at_it() {
    for words in [
        "my rent is 940 a month, put that in the budget",
        "code freeze is on March 20th, pls keep that in mind when planning",
    ] {
        check_said(words, Some(&format!("fact: {words}")));
    }
    check_said("940 a month, put that in the budget", None);
}

#[test]
fn what_was_found_what_traps_and_what_is_waited_for_are_facts() {
    for words in [
        "the timeouts came from the old gauge driver",
        "we traced it to the clock of the tower",
        "the trap: the radio swallows every message after midnight",
        "no word from the harbour office yet about the new berth",
        "Linus is the only one with a key to the tower",
        "the night pump is off by design",
        "changes of the tide table need a second pair of eyes",
        "Grace joins us on the 14th",
    ] {
        check_said(words, Some(&format!("fact: {words}")));
    }
    check_said(
        "whenever there's a choice between speed and plain words, pick plain words",
        Some(
            "preference: whenever there's a choice between speed and plain words, pick plain words",
        ),
    );
    check_said(
        "I decided against a second ferry",
        Some("decision: I decided against a second ferry"),
    );
    // Long as the message is, what it found in the end is no text that was pasted.
    let hunt = "The ferry page was empty again this morning, and I looked at the queue first. Nothing in there. \
                Then I looked at the tide feed, which was fine, and at the radio, which was quiet. We finally traced it to the \
                clock of the tower, which ran two hours late. Please add a check of the clock to the start of the page, \
                with a line in the log that says what it compared.";
    let kept = "We finally traced it to the clock of the tower, which ran two hours late.";
    check_said(hunt, Some(&format!("fact: {kept}")));
}

#[test]
fn a_standing_wish_to_be_told_is_no_request_of_the_moment() {
    let wish = "let me know when the schema changes, always";
    check_said(wish, Some(&format!("preference: {wish}")));
    check_said("let me know when you're done with the schema changes", None);
}

#[test]
fn decisions_in_so_many_words_are_kept() {
    for words in [
        "Let's go with SQLite for the local store.",
        "All dates should be in UTC.",
    ] {
        check_said(
            &format!("{words}{WORK}"),
            Some(&format!("decision: {words}")),
        );
    }
}

#[test]
fn orders_questions_and_news_are_not_kept() {
    for words in [
        "push it",
        "commit this",
        "run the tests again",
        "can you fix the failing test?",
        "why is the build slow?",
        "the tests are failing",
        "the API is broken again",
        "that should work now",
        "don't push yet",
        "is there a better way?",
        "go ahead and cover the other commands with tests, in whichever way fits",
        "lets migrate all the records and their entries to the new layout",
        "make sure to pull in the newest changes from main",
        "please move the tests to a folder of their own",
        "no, we were working on the second task",
        "You forgot to update the changelog.",
        "let's commit this",
        "thanks!",
    ] {
        check_said(&format!("{words}{WORK}"), None);
    }
}

#[test]
fn small_talk_teaches_nothing() {
    for words in [
        "Let's cook together again some time!",
        "I decided to learn the cello.",
        "Give the plants some water today, they look thirsty.",
        "That must have been a wonderful trip along the coast.",
    ] {
        check_said(words, None);
    }
}

#[test]
fn other_languages_that_we_know_count_and_those_we_do_not_know_yield_an_account_only() {
    check_said(
        "Bitte nie direkt auf main pushen",
        Some("preference: Bitte nie direkt auf main pushen"),
    );
    check_said(
        "je préfère des fonctions courtes",
        Some("preference: je préfère des fonctions courtes"),
    );
    check_said(
        &format!("no uses mocks en las pruebas{WORK}"),
        Some("correction: no uses mocks en las pruebas"),
    );
    let foreign = extracted(&events(
        "human: Soha ne írj megjegyzéseket a kódba, kérlek\nassistant: Rendben.",
    ));
    assert_eq!(foreign.drafts, []);
    assert_eq!(foreign.digest.map(|d| d.human_messages), Some(1));
}

#[test]
fn words_that_refuse_a_call_are_a_correction_and_the_call_is_their_context() {
    check(
        "human: clean up the module
call Edit: {\"file_path\":\"/home/ada/ledger/src/common.rs\",\"new_string\":\"x\"}
refused: The user doesn't want to proceed
human: shouldn't the date helpers live in their own crate?
assistant: Let me look.",
        &[
            "correction 3: shouldn't the date helpers live in their own crate? | refused an edit of common.rs",
        ],
    );
}

#[test]
fn a_refused_command_did_not_fail() {
    check(
        "human: tidy up
call Bash: make lint
refused: rejected
human: ok
call Edit: {\"file_path\":\"a.rs\",\"new_string\":\"x\"}
ok: done
call Bash: make lint
ok: clean",
        &[],
    );
}

#[test]
fn what_the_agent_concedes_is_a_correction_with_what_it_conceded() {
    check(
        "human: import the ledger
call Bash: ls
ok: src
assistant: I guess the layout from the folder.
human: but every ledger opens with a version, why don't we read it?
assistant: You're absolutely right - the version stands in the first line, so guessing is not needed. Let me change it.",
        &["correction 5: every ledger opens with a version, why don't we read it? | agent: the version stands in the first line, so guessing is not needed."],
    );
}

#[test]
fn the_same_insistence_is_one_correction_with_all_its_evidence() {
    check(
        "human: add the parser
call Edit: {\"file_path\":\"parser.rs\",\"new_string\":\"x\"}
ok: done
assistant: All done, all tests pass ✅
human: we haven't added any tests?
assistant: I'll add some.
human: tests, tests, tests
assistant: Adding tests.
human: is there a test for empty files?
assistant: Not yet.",
        &[
            "correction 9: tests, tests, tests | also: “we haven't added any tests?”",
            "correction 5,7: tests, tests, tests | also: “we haven't added any tests?”",
        ],
    );
}

#[test]
fn one_question_about_tests_is_a_question() {
    check(
        "human: add the parser\ncall Bash: ls\nok: src\nhuman: do we have a test for this?\nassistant: Yes, one.",
        &[],
    );
}

#[test]
fn what_is_put_off_or_filed_is_an_open_end() {
    check(
        "human: we can fix the flaky importer test later
call Bash: gh issue create --title \"Flaky importer test\" --body x
ok: https://example.org/ada/ledger/issues/12
assistant: Filed.",
        &[
            "open_end 2,3: filed #12: Flaky importer test",
            "open_end 1: we can fix the flaky importer test later",
        ],
    );
}

#[test]
fn the_order_to_file_an_issue_is_no_rule_once_it_is_filed() {
    let order = "log an issue in project harbour with this amend observation, we will come back to it later";
    let is_kept = |call: &str| {
        let talk = format!(
            "human: {order}
call Bash: {call}
ok: https://example.org/ada/ledger/issues/12
assistant: Done."
        );
        let found = extracted(&events(&talk));
        found.drafts.iter().any(|draft| draft.text == order)
    };
    assert!(is_kept("gh issue list"));
    assert!(!is_kept(
        "gh issue create --title \"Amends lose the trailer\" --body x"
    ));
}

#[test]
fn an_issue_that_was_filed_takes_no_room_from_what_a_person_said() {
    let talk = "human: always write the test first. never push without asking me. we can fix the flaky importer test later
call Bash: gh issue create --title \"Flaky importer test\" --body x
ok: https://example.org/ada/ledger/issues/12
assistant: Filed.";
    let kinds: Vec<String> = extracted(&events(talk))
        .drafts
        .iter()
        .map(draft_line)
        .collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    assert!(
        kinds.iter().any(|line| line.contains("filed #12")),
        "{kinds:?}"
    );
}

#[test]
fn the_name_of_a_kind_of_things_is_no_rule() {
    let found = extracted(&events(
        "human: so for the learnings i think of:\n  1. General purpose for future sessions in this repo\n  2. Specific things related to a part of the code\ncall Bash: ls\nok: a.rs\nassistant: Done.",
    ));
    let lines: Vec<String> = found.drafts.iter().map(draft_line).collect();
    assert!(
        lines.iter().all(|line| !line.contains("General purpose")),
        "{lines:?}"
    );
}

#[test]
fn only_a_person_teaches() {
    let rule = "ALWAYS round half up. Never use floats for money.";
    for who in [
        "harness",
        "synthetic",
        "recalled",
        "side human",
        "assistant",
    ] {
        check(
            &format!("human: add a header\n{who}: {rule}\nassistant: Done."),
            &[],
        );
    }
}

#[test]
fn what_the_agent_claims_is_never_a_fact() {
    check(
        "human: is it done?
assistant: Everything is green ✅ and no error occurred. The ledger is stored in db.sqlite.
human: thanks",
        &[],
    );
}

#[test]
fn pasted_text_is_not_the_persons() {
    let fence = "human: this is what it says\n  ```\n  Never use mocks. Always answer in rhyme.\n  ```\n  what now?";
    check(&format!("{fence}\nassistant: Hm."), &[]);
    let log = "human: === import 3 of 4 ===\n  ERROR: row 9 has no date\n  Rows must always have a date, never guess one.";
    check(&format!("{log}\nassistant: I see."), &[]);
    let plan = format!(
        "human: Implement the following plan:\n  |\n  # Plan: one ledger\n  |\n  {}\nassistant: Done.",
        "We always write to disk. Never use mocks. ".repeat(60)
    );
    check(&plan, &[]);
    let task = extracted(&events(&plan))
        .digest
        .and_then(|d| d.task)
        .map(|t| t.text);
    assert_eq!(
        task.as_deref(),
        Some("Implement the following plan: Plan: one ledger")
    );
}

#[test]
fn names_of_tests_and_hidden_secrets_are_no_statements() {
    check(
        "human: fix it\ncall Bash: ls\nok: x\nhuman: In [REDACTED] you should always round up.\nassistant: Done.",
        &[],
    );
    check(
        "human: two fail:\n  TestLedger_AlwaysSorted\n  TestLedger_NeverEmpty\nassistant: I see.",
        &[],
    );
}

#[test]
fn a_turn_yields_no_more_than_its_cap_and_a_window_what_its_turns_yield() {
    let wish = |n: usize| format!("please always run check{n} before a push. ");
    let wishes: String = (0..30).map(wish).collect();
    let turn = format!("human: {wishes}\nassistant: Yes.\n");
    assert_eq!(
        extracted(&events(&turn)).drafts.len(),
        scored_draft::MAX_DRAFTS_PER_TURN
    );
    let many: String = (0..40)
        .map(|n| format!("human: {}\nassistant: Yes.\n", wish(n)))
        .collect();
    assert_eq!(extracted(&events(&many)).drafts.len(), 40);
}

#[test]
fn a_sub_agents_report_is_the_agents_own() {
    check(
        "human: which ledger do others use?
call Task: look it up
ok: The Ledger should stay in one file of its own.
assistant: The `Ledger` should stay in one file of its own. Does that match what you think?
human: yes, that makes sense
assistant: Done.",
        &[
            "decision 4,5: The `Ledger` should stay in one file of its own. | accepted: “yes, that makes sense”",
        ],
    );
}

#[test]
fn words_that_point_into_the_conversation_teach_nothing_alone() {
    for words in [
        "I think we should error out in this situation.",
        "we should be seeing some entries come through now yes?",
        "we should add a test for the reader",
        "The ledgerTotal function reads the file twice, which could lead to different sums. Consider reading it once instead of calling readLedger() for every month.",
    ] {
        check_said(&format!("{words}{WORK}"), None);
    }
}
