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
fn a_reply_that_comes_before_its_question_takes_it_along() {
    let memory = Memory::default();
    let asked = "does it delete that of others?";
    memory.hear(
        "kept",
        talk(&[(Origin::Human, asked), (Origin::Assistant, REPLY)]),
    );
    let recalled = memory.ask("are files deleted that belong to somebody else?");
    assert_eq!(recalled.answers.len(), 1, "{recalled:?}");
    assert_eq!(recalled.answers[0].text, REPLY);
    assert_eq!(
        recalled.answers[0].context.as_deref(),
        Some(&*format!("asked: {asked}"))
    );
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
fn a_message_that_says_more_than_it_asks_stays_with_the_reply_below_it() {
    let memory = Memory::default();
    let message = "Since Monday the spool of each tenant is a folder of its own, below the one of the host, because \
        two of them had files of the same name. Does reset delete the other tenant's?";
    memory.hear(
        "both",
        talk(&[(Origin::Human, message), (Origin::Assistant, REPLY)]),
    );
    let recalled = memory.ask("where is the spool of each tenant since Monday?");
    let first = &recalled.answers[0];
    assert_eq!(first.text, message);
    assert_eq!(first.context.as_deref(), Some(&*format!("reply: {REPLY}")));
    assert_eq!(first.origin, Some(Origin::Human));
    assert_eq!(first.events.len(), 2);
}

#[test]
fn of_a_long_message_its_question_is_shown() {
    let memory = Memory::default();
    let first = "Does reset delete what the other tenant has in its spool, when both of them are on one host? ".repeat(4);
    let message = format!("{first}\n\nSo does reset delete the spool of the other tenant?");
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
