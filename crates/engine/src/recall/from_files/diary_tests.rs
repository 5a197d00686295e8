use std::fs;

use daybook_domain::Reach;
use daybook_store::MemoryStore;
use daybook_testkit::fixtures::{at, project_scope, user_scope};
use daybook_testkit::run;

use daybook_domain::Tenant;
use daybook_domain::index::MemoryLayer;
use daybook_domain::seams::ScopeStore;

use super::*;
use crate::recall::from_files::answer_from_files;
use crate::recall::search::{RecallQuestion, RecallResult};

/// Memories of a data folder with a diary each.
struct Diaries {
    root: tempfile::TempDir,
    store: MemoryStore,
}

impl Diaries {
    fn new() -> Self {
        let diaries = Self {
            root: tempfile::tempdir().unwrap(),
            store: MemoryStore::default(),
        };
        diaries.write(
            &project_scope("tidepool"),
            "2026-11-21",
            "# tidepool\n\n- 09:00–10:00 the tide table on main · success · 1 commit, pushed [7f78]\n  \
             - committed: \"Cache tide tables\" [7f78:L9]\n  - decided: tables are kept for a day [7f78:L3]\n\
             - 08:00–08:10 what is the port? · uncertain [ab12]\n",
        );
        diaries.write(
            &project_scope("harbour"),
            "2026-11-21",
            "- 11:00–11:30 the crane on main · partial [cd34]\n  - decided: the crane waits for high tide [cd34:L7]\n  - decided: lamps are green [cd34:L9]\n",
        );
        diaries.write(
            &project_scope("harbour"),
            "2026-11-12",
            "- 12:00–12:30 berths on main · success [ef56]\n",
        );
        diaries
    }

    fn write(&self, scope: &Scope, day: &str, text: &str) {
        let daily = folder(self.root.path(), scope).join("daily");
        fs::create_dir_all(&daily).unwrap();
        fs::write(daily.join(format!("{day}.md")), text).unwrap();
        run(self.store.touch_scope(scope, at(1))).unwrap();
    }

    /// The answers to a question of 22 November 2026, in UTC, after one that was found otherwise.
    fn answers(&self, question: &RecallQuestion<'_>) -> Vec<String> {
        let other = FoundEntry {
            scope: user_scope("ada"),
            entry: DiaryEntry {
                day: String::new(),
                line: "found by words".to_owned(),
                below: Vec::new(),
            },
        };
        let mut recalled = RecallResult {
            answers: vec![answer(&other, &other.entry.line, None, &TimeZone::UTC)],
            ..RecallResult::default()
        };
        let place = (self.root.path(), &Tenant::local(), &TimeZone::UTC);
        run(answer_from_files(
            (&self.store, &self.store),
            place,
            question,
            &mut recalled,
        ))
        .unwrap();
        let answers = recalled.answers.into_iter();
        answers.map(|one| one.text).collect()
    }
}

fn asked(text: &str) -> RecallQuestion<'_> {
    let noon: jiff::Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
    RecallQuestion {
        text,
        reach: Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: 10,
        rare: false,
        embedder: None,
        until: None,
        now: Timestamp(noon.as_millisecond()),
    }
}

const OTHER: &str = "found by words";
const PORT: &str = "08:00–08:10 what is the port? · uncertain";
const TIDES: &str = "09:00–10:00 the tide table on main · success · 1 commit, pushed";
const CRANE: &str = "11:00–11:30 the crane on main · partial";
const BERTHS: &str = "12:00–12:30 berths on main · success";

#[test]
fn a_day_is_answered_by_its_entries_in_the_order_of_time() {
    let diaries = Diaries::new();
    let yesterday = diaries.answers(&asked("what did we do yesterday?"));
    assert_eq!(yesterday, [PORT, TIDES, CRANE]);
    assert_eq!(
        diaries.answers(&asked("what was done on 21 November?")),
        yesterday
    );
}

#[test]
fn of_a_long_period_the_sessions_of_which_most_came_are_shown() {
    let diaries = Diaries::new();
    let month = "what happened this month?";
    assert_eq!(diaries.answers(&asked(month)), [PORT, TIDES, CRANE, BERTHS]);
    let few = RecallQuestion {
        limit: 2,
        ..asked(month)
    };
    assert_eq!(diaries.answers(&few), [TIDES, CRANE]);
}

#[test]
fn without_a_period_the_latest_sessions_are_shown() {
    let diaries = Diaries::new();
    let few = RecallQuestion {
        limit: 2,
        ..asked("what have we been working on lately?")
    };
    assert_eq!(diaries.answers(&few), [TIDES, CRANE]);
}

#[test]
fn decisions_and_commits_are_lines_of_their_own() {
    let diaries = Diaries::new();
    let decided = diaries.answers(&asked("what did we decide yesterday?"));
    assert_eq!(
        decided,
        [
            "decided: the crane waits for high tide",
            "decided: lamps are green",
            "decided: tables are kept for a day"
        ]
    );
    let commits = diaries.answers(&asked("which commits were made yesterday"));
    assert_eq!(commits, ["committed: \"Cache tide tables\""]);
}

#[test]
fn what_else_the_question_is_about_narrows_it_and_keeps_other_answers() {
    let diaries = Diaries::new();
    assert_eq!(
        diaries.answers(&asked("what did we do on the crane yesterday?")),
        [CRANE, OTHER]
    );
    assert_eq!(
        diaries.answers(&asked("what did we decide about the crane this month?")),
        ["decided: the crane waits for high tide", OTHER]
    );
    // No decision names it.
    assert_eq!(
        diaries.answers(&asked("what did we decide about the port this month?")),
        [OTHER]
    );
    // Nothing is known of it.
    assert_eq!(
        diaries.answers(&asked("what did we do on the lighthouse yesterday?")),
        [OTHER]
    );
}

#[test]
fn only_memories_in_reach_are_read() {
    let diaries = Diaries::new();
    let within = |reach: Reach| {
        diaries.answers(&RecallQuestion {
            reach,
            ..asked("what did we do yesterday?")
        })
    };
    assert_eq!(
        within(Reach::Scopes(vec![project_scope("harbour")])),
        [CRANE]
    );
    let events = RecallQuestion {
        layers: vec![MemoryLayer::Event],
        ..asked("what did we do yesterday?")
    };
    assert_eq!(diaries.answers(&events), [OTHER]);
}

#[test]
fn a_day_without_a_diary_and_other_questions_are_answered_as_before() {
    let diaries = Diaries::new();
    for question in [
        "what did we do on 2026-11-02?",
        "what is the port?",
        "where were we yesterday?",
    ] {
        assert_eq!(diaries.answers(&asked(question)), [OTHER], "{question}");
    }
}
