use std::sync::Arc;

use daybook_domain::Tenant;
use daybook_domain::eligibility::Switches;
use daybook_domain::limits::{APPEND_EVENTS, EVENT_TEXT};
use daybook_domain::trigger::DueLimits;
use daybook_store::MemoryStore;
use daybook_testkit::{ManualClock, fixtures, run};

use super::*;

fn reported(role: SpeakerRole, text: &str) -> ReportedEvent {
    ReportedEvent {
        id: None,
        role,
        text: text.to_owned(),
        at: None,
        tool: None,
        external: false,
    }
}

fn batch(reported: Vec<ReportedEvent>) -> AppendBatch {
    AppendBatch {
        session: SessionId {
            tenant: Tenant::local(),
            agent: "tidepool".to_owned(),
            host_id: "s1".to_owned(),
        },
        kind: None,
        user: None,
        place: None,
        venue: Venue::default(),
        events: reported,
    }
}

fn prepared_for(reported: Vec<ReportedEvent>) -> Vec<NewEvent> {
    let outputs = OutputReader::default();
    let prepared = prepare_batch(
        &Redactor::standard(),
        batch(reported),
        outputs,
        Timestamp(5_000),
    );
    prepared.events
}

#[test]
fn an_output_that_is_appended_later_shows_the_remote_of_its_commands_folder() {
    let intake = IngestContext {
        teams: Default::default(),
        store: Arc::new(MemoryStore::default()),
        clock: Arc::new(ManualClock::at(Timestamp(5_000))),
        tenant: Tenant::local(),
        patience: DueLimits::default(),
        switches: Switches::default(),
        redactor: Arc::new(Redactor::standard()),
        readers: 1,
    };
    let reef = || Some(fixtures::place("/nowhere/ada/reef"));
    let append = |events| AppendBatch {
        place: reef(),
        ..batch(events)
    };
    run(async {
        let call = ReportedEvent::tool_call("Bash", "git push");
        append_batch(&intake, append(vec![call])).await.unwrap();
        let output = ReportedEvent::tool_result("Bash", "To github.com:ada/reef.git");
        append_batch(&intake, append(vec![output])).await.unwrap();
        let roots = intake.store.roots(&intake.tenant).await.unwrap();
        assert_eq!(roots[0].remotes[0].remote, "github.com/ada/reef");
    });
}

fn ids(reported: Vec<ReportedEvent>) -> Vec<EventId> {
    prepared_for(reported)
        .iter()
        .map(|event| event.id)
        .collect()
}

#[track_caller]
fn check(reported: ReportedEvent, origin: Origin, text: &str) {
    let events = prepared_for(vec![reported]);
    let shown: Vec<(Origin, &str)> = events.iter().map(|e| (e.origin, &*e.text)).collect();
    assert_eq!(shown, [(origin, text)]);
}

#[test]
fn each_role_has_its_origin() {
    check(
        reported(SpeakerRole::User, "use tabs"),
        Origin::Human,
        "use tabs",
    );
    check(
        reported(SpeakerRole::Assistant, "I will"),
        Origin::Assistant,
        "I will",
    );
    check(reported(SpeakerRole::Tool, ""), Origin::ToolResult, "");
    check(
        reported(SpeakerRole::System, "be brief"),
        Origin::Harness,
        "be brief",
    );
    let call = ReportedEvent {
        tool: Some("Bash".to_owned()),
        ..reported(SpeakerRole::Assistant, "cargo test")
    };
    check(call, Origin::ToolCall, "cargo test");
}

#[test]
fn what_hosts_and_daybook_put_into_a_persons_message_is_not_theirs() {
    let reminder = "<system-reminder>be brief</system-reminder>";
    check(
        reported(SpeakerRole::User, &format!("{reminder}\nuse tabs")),
        Origin::Human,
        "use tabs",
    );
    check(
        reported(SpeakerRole::User, reminder),
        Origin::Harness,
        reminder,
    );
    let memory = "<daybook-memory>use tabs</daybook-memory>";
    check(
        reported(SpeakerRole::User, memory),
        Origin::Recalled,
        memory,
    );
}

#[test]
fn secrets_are_hidden_in_text_and_in_the_names_of_tools() {
    let secret = "export DB_PASSWORD='Tr0ub4dor&3'";
    let event = ReportedEvent {
        tool: Some(secret.to_owned()),
        ..reported(SpeakerRole::Tool, secret)
    };
    let hidden = "export DB_PASSWORD='[REDACTED:password]'";
    let events = prepared_for(vec![event]);
    assert_eq!(
        (&*events[0].text, events[0].tool.as_deref()),
        (hidden, Some(hidden))
    );
}

#[test]
fn a_secret_that_a_cut_would_halve_is_hidden_first() {
    let secret = "DB_PASSWORD='Tr0ub4dor&3'";
    let head = "x ".repeat(EVENT_TEXT * 3 / 8 - 40);
    let events = prepared_for(vec![reported(
        SpeakerRole::Tool,
        &format!("{head}{secret} {}", "y ".repeat(EVENT_TEXT)),
    )]);
    assert!(events[0].text.len() <= EVENT_TEXT);
    assert!(!events[0].text.contains("Tr0ub"));
}

#[test]
fn the_same_batch_has_the_same_ids() {
    let batch = || {
        vec![
            reported(SpeakerRole::User, "yes"),
            reported(SpeakerRole::User, "yes"),
            reported(SpeakerRole::Tool, "yes"),
        ]
    };
    let first = ids(batch());
    assert_eq!(first, ids(batch()));
    assert!(first[0] != first[1] && first[0] != first[2] && first[1] != first[2]);
}

#[test]
fn a_time_or_an_id_tells_repeated_words_apart() {
    let at = |at| ReportedEvent {
        at: Some(Timestamp(at)),
        ..reported(SpeakerRole::User, "yes")
    };
    assert_ne!(ids(vec![at(1)]), ids(vec![at(2)]));
    let named = |id: &str, text| ReportedEvent {
        id: Some(id.to_owned()),
        ..reported(SpeakerRole::User, text)
    };
    assert_ne!(ids(vec![named("a", "yes")]), ids(vec![named("b", "yes")]));
    assert_eq!(ids(vec![named("a", "yes")]), ids(vec![named("a", "no")]));
}

#[test]
fn a_batch_holds_no_more_than_an_append_may_carry() {
    let big = "word ".repeat(EVENT_TEXT / 5);
    let sizes = |events| -> Vec<usize> {
        let batches = split_batches(prepared_for(events));
        batches.iter().map(Vec::len).collect()
    };
    assert_eq!(sizes(vec![reported(SpeakerRole::Tool, &big); 5]), [2, 2, 1]);
    assert_eq!(
        sizes(vec![reported(SpeakerRole::Tool, "x"); APPEND_EVENTS + 1]),
        [APPEND_EVENTS, 1]
    );
}
