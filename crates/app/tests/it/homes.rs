//! Homes of Codex, MindRoom and Daycare: taken over by an import, and handed back by an export.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use daybook_testkit::homes::{
    CODEX_NEW_THREAD, CODEX_THREAD, codex_rollout, codex_rollout_path, write_codex_home,
    write_daycare_home, write_mindroom_home,
};
use serde_json::Value;

use crate::fixture::TestPlace;

/// A file of each home that is no part of its memory.
const STRAYS: [&str; 3] = ["config.toml", "notes.txt", "users/ada/avatar.txt"];

/// A home that is taken over into a data folder.
struct TakenHome {
    place: TestPlace,
    profile: &'static str,
}

impl TakenHome {
    fn written(profile: &'static str) -> Self {
        let taken = Self {
            place: TestPlace::new(),
            profile,
        };
        let home = taken.home();
        match profile {
            "codex" => write_codex_home(&home),
            "mindroom" => write_mindroom_home(&home),
            _ => write_daycare_home(&home),
        }
        taken
    }

    fn new(profile: &'static str) -> Self {
        let taken = Self::written(profile);
        taken.import();
        taken
    }

    fn home(&self) -> PathBuf {
        self.place.home().join("taken")
    }

    fn import(&self) -> Value {
        let home = self.home().display().to_string();
        self.place.json(&["import", &home])
    }

    fn exported(&self) -> PathBuf {
        self.place.home().join("exported")
    }

    fn export(&self) -> Value {
        let to = self.exported().display().to_string();
        let arguments = ["export", "--profile", self.profile, "--to", &to];
        self.place.json(&arguments)
    }

    /// The files of the home that are part of its memory.
    fn memory_files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = files(&self.home());
        files.retain(|path, _| !STRAYS.contains(&path.as_str()));
        files
    }

    /// Checks that an export differs from the home in `path` alone, by these replacements.
    #[track_caller]
    fn check_export(&self, path: &str, replacements: &[(&str, &str)]) {
        self.export();
        let mut expected = self.memory_files();
        let bytes = expected.get_mut(path).expect("the file is there");
        let mut text = String::from_utf8(bytes.clone()).expect("text");
        for (before, after) in replacements {
            assert!(text.contains(before), "{before} is not in {path}");
            text = text.replace(before, after);
        }
        *bytes = text.into_bytes();
        check_same(&files(&self.exported()), &expected);
    }

    /// What a scope remembers; empty where it never held anything.
    fn listed(&self, scope: &str) -> String {
        let output = self.place.run(&["list", "--scope", scope, "-n", "100"]);
        String::from_utf8(output.stdout).expect("text")
    }

    /// How many memories all scopes hold, as the import's summary counts them.
    fn memories(&self) -> u64 {
        let scopes = [
            "user/ada",
            "project/tidepool",
            "agent/helper",
            "team/helper+scout",
        ];
        let count = |scope: &str| {
            let listed = self.listed(scope);
            let lines = listed.lines().filter(|line| line.contains(" · ["));
            lines.count() as u64
        };
        scopes.into_iter().map(count).sum()
    }

    fn found(&self, question: &str, words: &str) -> bool {
        self.place.stdout(&["recall", question]).contains(words)
    }
}

/// All files below a folder but the list of an export, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                collect(&path, root, files);
            } else if entry.file_name() != ".daybook-export.json" {
                let name = path.strip_prefix(root).expect("below").to_string_lossy();
                files.insert(name.replace('\\', "/"), fs::read(&path).expect("a file"));
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

#[track_caller]
fn check_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    for (path, bytes) in one {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(bytes), text(&other[path]), "{path}");
    }
}

fn status_of<'a>(report: &'a Value, path: &str) -> &'a Value {
    let files = report["files"].as_array().expect("a list");
    let is_it = |file: &&Value| {
        file["path"]
            .as_str()
            .is_some_and(|name| name.ends_with(path))
    };
    let file = files.iter().find(is_it);
    &file.unwrap_or_else(|| panic!("{path} is not in {report}"))["status"]
}

#[test]
fn a_home_is_handed_back_byte_for_byte_where_nothing_changed() {
    for profile in ["codex", "mindroom", "daycare"] {
        let taken = TakenHome::new(profile);
        let report = taken.export();
        check_same(&files(&taken.exported()), &taken.memory_files());
        assert_eq!(report["changed"], serde_json::json!([]), "{report}");
        let left = report["left_out"].as_array().expect("a list");
        assert_eq!(left.len(), 1, "{profile}: {report}");
        // An unchanged export is written again without a question.
        taken.export();
        check_same(&files(&taken.exported()), &taken.memory_files());
    }
}

#[test]
fn what_a_home_holds_is_recalled_with_its_file_as_source() {
    for (profile, question, words) in [
        (
            "codex",
            "which port does the harbour host listen on?",
            "8123",
        ),
        ("codex", "where is the boat moored?", "pier four"),
        ("daycare", "when do the otters eat?", "at seven"),
        ("daycare", "which flights does Ada book?", "morning flights"),
    ] {
        let taken = TakenHome::new(profile);
        assert!(taken.found(question, words), "{profile}: {question}");
    }
    let taken = TakenHome::new("mindroom");
    let found = |agent: &[&str]| {
        let arguments = [&["recall", "which tea does Ada prefer?"], agent].concat();
        taken.place.stdout(&arguments).contains("green tea")
    };
    assert!(found(&["--agent", "helper"]));
    assert!(!found(&["--agent", "stranger"]));
}

#[test]
fn a_second_import_adds_nothing_and_names_what_it_does_not_know() {
    for profile in ["codex", "mindroom", "daycare"] {
        let taken = TakenHome::written(profile);
        let first = taken.import();
        let (events, memories) = (first["events"].as_u64(), taken.memories());
        assert!(events > Some(4) && memories > 4, "{profile}: {first}");
        let stray = STRAYS
            .iter()
            .find(|stray| taken.home().join(stray).exists());
        assert_eq!(status_of(&first, stray.expect("a stray")), "unknown");
        let second = taken.import();
        assert_eq!(second["events"], 0, "{profile}: {second}");
        assert_eq!(taken.memories(), memories, "{profile}");
        taken.place.stdout(&["update", "--all"]);
        assert_eq!(taken.memories(), memories, "{profile}");
    }
}

#[test]
fn a_session_that_codex_has_learned_from_is_found_and_not_learned_again() {
    let taken = TakenHome::written("codex");
    let new = codex_rollout(
        CODEX_NEW_THREAD,
        "please always name the pier in the log line",
    );
    fs::write(taken.home().join(codex_rollout_path(CODEX_NEW_THREAD)), new).expect("a file");
    taken.import();
    taken.place.stdout(&["update", "--all"]);
    let listed = taken.place.stdout(&["list", "--project", "tidepool"]);
    let all = [listed, taken.place.stdout(&["list", "--scope", "user/ada"])].concat();
    assert!(all.contains("name the pier"), "{all}");
    assert!(!all.contains("always write the test first"), "{all}");
    let shown = taken
        .place
        .stdout(&["recall", "what about the test first?"]);
    assert!(
        shown.contains("write the test first") || shown.contains("before the code"),
        "{shown}"
    );
    // What came since is a note for Codex, and every other file is as it was.
    let report = taken.export();
    let mut exported = files(&taken.exported());
    let notes = "memories/extensions/ad_hoc/notes/";
    let is_new = |path: &String| path.starts_with(notes) && !path.ends_with("-boat.md");
    let added: Vec<String> = exported
        .keys()
        .filter(|path| is_new(path))
        .cloned()
        .collect();
    assert_eq!(report["added"], added.len(), "{report}");
    assert!(!added.is_empty());
    exported.retain(|path, _| !added.contains(path));
    check_same(&exported, &taken.memory_files());
    assert!(exported.contains_key(&codex_rollout_path(CODEX_THREAD)));
}

#[test]
fn an_edited_memory_changes_its_own_words_alone() {
    for (profile, scope, words, new, path, before) in [
        (
            "codex",
            "user/ada",
            "Short answers without praise",
            "Long answers without praise",
            "memories/memory_summary.md",
            "Short answers without praise",
        ),
        (
            "mindroom",
            "agent/helper",
            "The pump needs a new seal",
            "The pump has a new seal",
            "agents/helper/workspace/memory/2026-03-02.md",
            "The pump needs a new seal",
        ),
        (
            "daycare",
            "user/ada",
            "The seal feeder jams in the cold",
            "The seal feeder jams below zero",
            "users/ada/memory/observations.md",
            "The seal feeder jams in the cold",
        ),
    ] {
        let taken = TakenHome::new(profile);
        taken.place.stdout(&["edit", words, new, "--scope", scope]);
        taken.check_export(path, &[(before, new)]);
    }
}

#[test]
fn a_forgotten_memory_is_left_out_and_does_not_return() {
    for (profile, scope, words, path, gone) in [
        (
            "codex",
            "user/ada",
            "Charts are drawn with the kelp palette",
            "memories/memory_summary.md",
            "- Charts are drawn with the kelp palette\n",
        ),
        (
            "mindroom",
            "agent/helper",
            "Ada prefers green tea",
            "agents/helper/workspace/memory/2026-03-02.md",
            "Ada prefers green tea | ",
        ),
        (
            "daycare",
            "user/ada",
            "Ada books morning flights alone",
            "users/ada/memory/observations.md",
            "## 2026-03-01 12:00\n- **Text**: Ada books morning flights alone\n- **Context**: she corrected the Lisbon booking\n\n",
        ),
    ] {
        let taken = TakenHome::new(profile);
        taken
            .place
            .stdout(&["forget", words, "--scope", scope, "--yes"]);
        taken.check_export(path, &[(gone, "")]);
        // The same home, touched, is read again: what was forgotten stays so.
        let text = fs::read(taken.home().join(path)).expect("a file");
        fs::write(taken.home().join(path), text).expect("a file");
        taken.import();
        taken.check_export(path, &[(gone, "")]);
    }
}

#[test]
fn what_a_home_no_longer_says_is_unlearned_by_the_next_import() {
    let taken = TakenHome::new("codex");
    let path = taken.home().join("memories/memory_summary.md");
    let text = fs::read_to_string(&path).expect("a file");
    let text = text.replace(
        "- Short answers without praise\n",
        "- Answers in metric units\n",
    );
    fs::write(&path, text).expect("a file");
    let report = taken.import();
    assert_eq!(status_of(&report, "memory_summary.md"), "rewritten");
    let listed = taken.place.stdout(&["list", "--scope", "user/ada"]);
    assert!(
        listed.contains("metric units") && !listed.contains("Short answers"),
        "{listed}"
    );
    taken.export();
    check_same(&files(&taken.exported()), &taken.memory_files());
}

/// A row of Agno's in which bo says `words`.
fn agno_runs(words: &str) -> String {
    serde_json::json!([{
        "run_id": words,
        "created_at": 1_772_441_900,
        "messages": [
            {"role": "user", "content": words},
            {"role": "tool", "tool_name": "search", "content": "please always feed the otters at noon"},
        ],
    }])
    .to_string()
}

#[test]
fn a_database_of_agno_is_read_and_what_was_flushed_is_not_learned_again() {
    let taken = TakenHome::written("mindroom");
    let path = taken.home().join("sessions/scout.db");
    let database = rusqlite::Connection::open(&path).expect("a database");
    let create = "CREATE TABLE scout_sessions (session_id TEXT, session_type TEXT, agent_id TEXT, \
                  runs JSON, created_at INTEGER, updated_at INTEGER)";
    database.execute(create, []).expect("a table");
    for (session, words) in [
        ("room-one", "please always name the buoy in the report"),
        ("room-two", "please always name the pier in the log line"),
    ] {
        let row =
            "INSERT INTO scout_sessions VALUES (?, 'agent', 'scout', ?, 1772441000, 1772442000)";
        let runs = agno_runs(words);
        database.execute(row, [session, &runs]).expect("a row");
    }
    drop(database);
    let before = fs::read(&path).expect("a file");
    let first = taken.import();
    assert_eq!(taken.import()["events"], 0, "{first}");
    taken.place.stdout(&["update", "--all"]);
    let scopes = ["user/ada", "agent/scout"];
    let listed = scopes.map(|scope| taken.listed(scope));
    let listed = listed.concat();
    assert!(listed.contains("name the pier"), "{listed}");
    assert!(!listed.contains("name the buoy"), "{listed}");
    assert!(!listed.contains("feed the otters"), "{listed}");
    assert_eq!(fs::read(&path).expect("a file"), before);
}

#[test]
fn a_purged_memory_is_left_out_of_a_hand_back() {
    let taken = TakenHome::new("daycare");
    let words = "Ada books morning flights alone";
    taken.place.stdout(&["purge", words, "--yes"]);
    taken.export();
    let log = fs::read_to_string(taken.exported().join("users/ada/memory/observations.md"));
    assert!(!log.expect("a file").contains("morning flights"));
}

#[test]
fn a_damaged_file_costs_only_itself_and_is_named() {
    let taken = TakenHome::written("codex");
    let broken = taken.home().join("memories/MEMORY.md");
    fs::write(&broken, b"# Task Group: x\n\n- \xff\xfe\n").expect("a file");
    let home = taken.home().display().to_string();
    let output = taken.place.run(&["import", &home, "--json"]);
    assert!(!output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(status_of(&report, "memories/MEMORY.md"), "unreadable");
    assert!(taken.found("where is the boat moored?", "pier four"));
    let report = taken.export();
    let left = report["left_out"].to_string();
    assert!(left.contains("memories/MEMORY.md"), "{left}");
}

#[test]
fn an_import_of_a_home_is_shown_before_and_undone_after() {
    for profile in ["codex", "mindroom", "daycare"] {
        let taken = TakenHome::written(profile);
        let home = taken.home().display().to_string();
        let shown = taken.place.json(&["import", &home, "--dry-run"]);
        assert_eq!(shown["homes"][0]["kind"], profile);
        assert!(shown["homes"][0]["memories"].as_u64() > Some(4), "{shown}");
        assert!(!taken.place.root().join("daybook.db").exists());
        taken.import();
        assert!(taken.memories() > 4);
        taken.place.stdout(&["import", "--undo"]);
        assert_eq!(taken.memories(), 0, "{profile}");
        let again = taken.import();
        assert!(again["events"].as_u64() > Some(4), "{again}");
    }
}

#[test]
fn a_folder_with_other_files_is_not_overwritten_but_moved_aside_when_asked() {
    let taken = TakenHome::new("daycare");
    fs::create_dir_all(taken.exported()).expect("a folder");
    fs::write(taken.exported().join("own.txt"), "mine").expect("a file");
    let to = taken.exported().display().to_string();
    let arguments = ["export", "--profile", "daycare", "--to", &to];
    let refused = taken.place.run(&arguments);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("own.txt"));
    assert_eq!(files(&taken.exported()).len(), 1);
    taken.place.stdout(&[&arguments[..], &["--force"]].concat());
    check_same(&files(&taken.exported()), &taken.memory_files());
    let aside = taken.exported().with_file_name("exported.before-1");
    assert_eq!(fs::read(aside.join("own.txt")).expect("a file"), b"mine");
    // A changed file of an export is a person's, too.
    fs::write(taken.exported().join("users/ada/memory/otters.md"), "mine").expect("a file");
    assert!(!taken.place.run(&arguments).status.success());
    let home = taken.home().display().to_string();
    let into_home = ["export", "--profile", "daycare", "--to", &home, "--force"];
    assert!(!taken.place.run(&into_home).status.success());
    check_same(&files(&taken.home()), &{
        let mut all = taken.memory_files();
        all.insert(STRAYS[2].to_owned(), b"not of the memory\n".to_vec());
        all
    });
}
