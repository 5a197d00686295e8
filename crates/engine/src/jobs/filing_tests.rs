use daybook_domain::{Place, SessionId, SessionKind, Timestamp, ToolStatus, Venue};

use super::*;

/// Where a conversation is held.
#[derive(Default, Clone, Copy)]
struct Held<'a> {
    agent: &'a str,
    user: &'a str,
    folder: &'a str,
    room: &'a str,
    team: &'a str,
    filed_in: &'a str,
}

fn name(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn session(held: Held<'_>) -> Session {
    Session {
        id: SessionId {
            tenant: Tenant::local(),
            agent: held.agent.to_owned(),
            host_id: "s".to_owned(),
        },
        label: "s".to_owned(),
        kind: SessionKind::Root,
        memory_off: false,
        switched_off: false,
        kept_on: false,
        pollution: None,
        forked_from: None,
        user: name(held.user),
        surface: None,
        venue: Venue {
            room_id: name(held.room),
            thread_id: None,
            team: name(held.team),
            filed_in: name(held.filed_in),
        },
        first_at: Timestamp::ZERO,
        last_at: Timestamp::ZERO,
        events: EventSeq(1),
        passed: Vec::new(),
    }
}

fn event(text: &str, folder: &str) -> Event {
    Event {
        seq: EventSeq(1),
        line: 1,
        origin: Origin::Human,
        at: Timestamp::ZERO,
        text: text.to_owned(),
        tool: None,
        call: None,
        status: None::<ToolStatus>,
        sidechain: false,
        place: name(folder).map(|root| Place { root, branch: None }),
    }
}

fn filed(held: Held<'_>, text: &str, general: bool) -> String {
    let draft = ObservationDraft {
        kind: ObservationKind::Preference,
        general,
        text: text.to_owned(),
        quoted: true,
        context: None,
        subject: None,
        stated: true,
        events: vec![EventSeq(1)],
        lines: vec![1],
        at: Timestamp::ZERO,
    };
    let projects = FolderProjects::new([("/srv/tidepool".to_owned(), "tidepool".to_owned())]);
    let window = [event(text, held.folder)];
    let rule = PollutionRule::default();
    let person = if held.user.is_empty() {
        "ada"
    } else {
        held.user
    };
    let observation = file_draft(draft, &session(held), &window, &projects, (person, &rule));
    observation.scope.to_string()
}

const BOT: Held<'_> = Held {
    agent: "harbour-bot",
    user: "",
    folder: "",
    room: "",
    team: "",
    filed_in: "",
};

#[test]
fn how_a_named_agent_should_work_is_filed_under_the_agent() {
    for rule in [
        "You should always answer in short paragraphs.",
        "As the harbour bot, never promise a berth.",
        "harbour-bot, always greet in Norwegian",
        "Never reply with tables to visitors; your answers are read aloud.",
        "Du sollst immer auf Deutsch antworten.",
    ] {
        assert_eq!(filed(BOT, rule, false), "agent/harbour-bot", "{rule}");
    }
}

#[test]
fn what_is_about_the_person_or_the_work_is_no_rule_for_the_agent() {
    for text in [
        "I prefer tabs over spaces.",
        "Please always write the test first.",
        "The harbour bot crashed on Tuesday.",
        "Harbour bot crashed again, never mind.",
    ] {
        assert_eq!(filed(BOT, text, false), "user/ada", "{text}");
    }
    let of_ben = Held { user: "ben", ..BOT };
    assert_eq!(
        filed(of_ben, "I prefer tabs over spaces.", true),
        "user/ben"
    );
}

#[test]
fn coding_agents_file_under_project_and_person_as_ever() {
    let rule = "You should always answer in short paragraphs.";
    for agent in ["claude-code", "codex", "chat", "agent"] {
        let held = Held { agent, ..BOT };
        assert_eq!(filed(held, rule, false), "user/ada", "{agent}");
        let held = Held {
            folder: "/srv/tidepool",
            ..held
        };
        assert_eq!(filed(held, rule, false), "project/tidepool", "{agent}");
        assert_eq!(filed(held, rule, true), "user/ada", "{agent}");
    }
}

#[test]
fn a_rule_said_in_a_project_is_the_projects_unless_it_holds_everywhere() {
    let rule = "You should always answer in short paragraphs.";
    let held = Held {
        folder: "/srv/tidepool",
        ..BOT
    };
    assert_eq!(filed(held, rule, false), "project/tidepool");
    assert_eq!(filed(held, rule, true), "agent/harbour-bot");
}

#[test]
fn what_members_say_in_a_room_or_a_team_is_theirs_and_no_one_persons() {
    let decided = "We deploy on Tuesdays.";
    let room = Held {
        room: "!pier:example.org",
        user: "ben",
        ..BOT
    };
    let team = Held {
        team: "a+b",
        folder: "/srv/tidepool",
        ..BOT
    };
    let both = Held {
        room: "!pier:example.org",
        ..team
    };
    assert_eq!(filed(room, decided, false), "room/!pier:example.org");
    assert_eq!(
        filed(room, "I prefer tabs, everywhere.", true),
        "room/!pier:example.org"
    );
    assert_eq!(filed(team, decided, false), "team/a+b");
    assert_eq!(filed(both, decided, false), "room/!pier:example.org");
    let rule = "You should always answer in short paragraphs.";
    assert_eq!(filed(room, rule, false), "room/!pier:example.org");
    assert_eq!(filed(room, rule, true), "agent/harbour-bot");
}

#[test]
fn the_callers_word_comes_before_every_rule() {
    let named = Held {
        room: "!pier",
        folder: "/srv/tidepool",
        filed_in: "agent/harbour-bot",
        ..BOT
    };
    assert_eq!(
        filed(named, "We deploy on Tuesdays.", false),
        "agent/harbour-bot"
    );
}
