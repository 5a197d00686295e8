use daybook_domain::{NewEvent, Origin};
use daybook_testkit::fixtures::{EventFixture, at, event};

use super::super::RecallQuestion;
use super::super::tests::{Memory, question};

const ASKED: &str = "does reset also delete the spool of the other tenant?";
const REPLY: &str =
    "It deletes the caller's own files alone. Nothing that belongs to somebody else is touched.";

/// Messages of one session, one second apart.
fn talk(messages: &[(Origin, &str)]) -> Vec<NewEvent> {
    let said = (1..).zip(messages);
    said.map(|(n, (origin, text))| event(text).with_origin(*origin).with_time(at(n)))
        .collect()
}

fn asked_and_answered() -> Memory {
    let memory = Memory::of(&["The spool of each tenant is a folder of its own."]);
    let talk = talk(&[
        (Origin::Human, ASKED),
        (Origin::Assistant, "Let me look at the code first:"),
        (Origin::Assistant, REPLY),
        (
            Origin::Human,
            "good, then go on with the release notes of the spool",
        ),
        (
            Origin::Assistant,
            "The notes are written and stand in the changelog.",
        ),
    ]);
    memory.hear("asked", talk);
    memory
}

#[test]
fn a_question_that_was_asked_before_is_answered_by_the_reply_to_it() {
    let recalled = asked_and_answered().ask(ASKED);
    let first = &recalled.answers[0];
    assert_eq!(first.text, REPLY);
    assert_eq!(first.context.as_deref(), Some(&*format!("asked: {ASKED}")));
    assert_eq!(first.origin, Some(Origin::Assistant));
    assert_eq!(first.events.len(), 2);
    assert!(
        first.citation.as_deref().unwrap().ends_with(":L1,3"),
        "{first:?}"
    );
    // Neither comes again.
    let again = |text: &str| {
        recalled.answers[1..]
            .iter()
            .any(|answer| answer.text == text)
    };
    assert!(!again(ASKED) && !again(REPLY), "{recalled:?}");
}

#[test]
fn a_question_without_a_reply_stands_alone() {
    let memory = asked_and_answered();
    // The reply came a second later than what is to be known.
    let then = RecallQuestion {
        until: Some(at(2)),
        ..question(ASKED)
    };
    assert_eq!(memory.texts(&then)[0], ASKED);
    // An announcement is no reply.
    let memory = Memory::default();
    let open = [
        (Origin::Human, ASKED),
        (Origin::Assistant, "Let me look at the code first:"),
    ];
    memory.hear("open", talk(&open));
    assert_eq!(memory.texts(&question(ASKED))[0], ASKED);
    // What a person went on to say is no reply.
    memory.hear(
        "open",
        talk(&[
            (Origin::Human, "never mind, on to the release notes"),
            (Origin::Assistant, REPLY),
        ]),
    );
    assert_eq!(memory.texts(&question(ASKED))[0], ASKED);
}

#[test]
fn of_a_long_message_its_question_is_shown() {
    let memory = Memory::default();
    let log =
        "spool tenant reset delete other: the tenant's spool was reset, and its files are gone. "
            .repeat(4);
    let message = format!(
        "I have read the log again and do not get it.\n\n{log}\n\nSo does reset delete the spool of the other tenant?"
    );
    memory.hear(
        "long",
        talk(&[(Origin::Human, &message), (Origin::Assistant, REPLY)]),
    );
    let recalled = memory.ask(ASKED);
    let shown = recalled.answers[0].context.as_deref();
    assert_eq!(
        shown,
        Some("asked: So does reset delete the spool of the other tenant?")
    );
}
