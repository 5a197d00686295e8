//! The answers to prompts: a few lines of memory that fit the prompt, or nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, teaching_session};

const CLAUDE: &str = "claude-code";
const CODEX: &str = "codex";
/// A prompt whose words are in no other session.
const PROMPT: &str = "should the tide cache live in a file that survives a restart?";

fn payload(session: &str, folder: &Path, prompt: &str) -> String {
    json!({
        "hook_event_name": "UserPromptSubmit",
        "session_id": session,
        "cwd": folder,
        "prompt": prompt,
    })
    .to_string()
}

/// A memory of two projects, and their folders. Builds for tests take their time to look.
fn two_projects() -> (TestPlace, PathBuf, PathBuf) {
    let place = TestPlace::new();
    let tidepool = place.checkout("tidepool", "tides");
    let garden = place.checkout("garden", "main");
    let config = garden.join(".git/config");
    let of_tidepool = fs::read_to_string(&config).unwrap();
    fs::write(&config, of_tidepool.replace("tidepool", "garden")).unwrap();
    let rows = TestSession::new(50)
        .human("let's plant the beans in three rows beside the fence, always water them at dawn")
        .agent("Three rows beside the fence, watered at dawn.")
        .human("we decided that the greenhouse thermometer is read from the serial port")
        .agent("Noted: the greenhouse thermometer is read from the serial port.");
    place.write(
        "a.jsonl",
        &teaching_session(1).in_folder(&tidepool, "tides").text(),
    );
    place.write("b.jsonl", &rows.in_folder(&garden, "main").text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    patient(&place);
    (place, tidepool, garden)
}

fn patient(place: &TestPlace) {
    fs::write(
        place.root().join("daybook.toml"),
        "prompt_recall = \"10s\"\n",
    )
    .unwrap();
}

/// The lines of the answer to a prompt.
fn lines(place: &TestPlace, host: &str, payload: &str) -> Vec<String> {
    let said = place.hook(host, payload);
    if said.is_empty() {
        return Vec::new();
    }
    let answer: Value = serde_json::from_str(&said).expect("one JSON object");
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    let text = output["additionalContext"].as_str().expect("a text");
    assert!(text.starts_with("<daybook-memory>\n") && text.ends_with("</daybook-memory>\n"));
    let lines: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with("- "))
        .map(str::to_owned)
        .collect();
    assert!((1..=3).contains(&lines.len()), "{text}");
    assert!(lines.iter().all(|line| line.ends_with(']')), "{text}");
    lines
}

#[test]
fn a_prompt_is_answered_with_what_fits_it_once_and_from_its_own_project() {
    let (place, tidepool, garden) = two_projects();
    let first = lines(&place, CLAUDE, &payload("next", &tidepool, PROMPT));
    assert!(
        first.iter().any(|line| line.contains("survives a restart")),
        "{first:?}"
    );
    let again = lines(&place, CLAUDE, &payload("next", &tidepool, PROMPT));
    assert!(again.iter().all(|line| !first.contains(line)), "{again:?}");
    // Another session has not been shown it, and another project does not hold it.
    assert_eq!(
        lines(&place, CODEX, &payload("other", &tidepool, PROMPT)),
        first
    );
    assert_eq!(
        lines(&place, CLAUDE, &payload("beans", &garden, PROMPT)),
        [""; 0]
    );
    let greenhouse = "where is the greenhouse thermometer read from, which serial port?";
    assert!(!lines(&place, CLAUDE, &payload("beans", &garden, greenhouse)).is_empty());
    assert_eq!(
        lines(&place, CLAUDE, &payload("next", &tidepool, greenhouse)),
        [""; 0]
    );
}

#[test]
fn what_the_start_of_the_session_or_the_session_itself_said_is_not_told_again() {
    let (place, tidepool, _) = two_projects();
    let start = |session: &str, source: &str| {
        let start = json!({
            "hook_event_name": "SessionStart", "session_id": session, "cwd": tidepool, "source": source,
        });
        place.hook(CLAUDE, &start.to_string())
    };
    let told = start("next", "startup");
    let prompted = lines(&place, CLAUDE, &payload("next", &tidepool, PROMPT));
    for line in &prompted {
        let (_, citation) = line.rsplit_once('[').unwrap();
        assert!(!told.contains(citation), "{line} was told: {told}");
    }
    // After a compaction only the new start counts, and a session that is resumed holds all that it was shown.
    start("next", "resume");
    assert_eq!(
        lines(&place, CLAUDE, &payload("next", &tidepool, PROMPT)),
        [""; 0]
    );
    // The conversation holds its own words.
    let own = teaching_session(1);
    assert_eq!(
        lines(&place, CLAUDE, &payload(own.id(), &tidepool, PROMPT)),
        [""; 0]
    );
}

#[test]
fn what_the_host_loads_is_not_told() {
    let (place, tidepool, _) = two_projects();
    let before = lines(&place, CODEX, &payload("a", &tidepool, PROMPT));
    let words = before.iter().map(|line| {
        let line = line.trim_start_matches("- ");
        line.rsplit_once(" [").map_or(line, |(words, _)| words)
    });
    let rules: String = words.map(|words| format!("* {words}\n")).collect();
    fs::write(tidepool.join("AGENTS.md"), rules).unwrap();
    let after = lines(&place, CODEX, &payload("b", &tidepool, PROMPT));
    assert!(after.iter().all(|line| !before.contains(line)), "{after:?}");
}

#[test]
fn what_a_person_deleted_is_not_told_though_the_index_has_it() {
    let (place, tidepool, _) = two_projects();
    let mut files = place.memory().into_iter().map(|(name, _)| name);
    let is_own = |name: &String| name.contains("tidepool") && name.ends_with("/MEMORY.md");
    let memory = place.root().join(files.find(is_own).unwrap());
    let text = fs::read_to_string(&memory).unwrap();
    fs::write(
        &memory,
        text + "\n- the harbour gauge at Skerry Point reads forty centimetres too high [aa:L1]\n",
    )
    .unwrap();
    place.stdout(&["recall", "harbour gauge"]);
    let asked = payload(
        "a",
        &tidepool,
        "does the harbour gauge at Skerry Point read too high, by how many centimetres?",
    );
    let told = lines(&place, CLAUDE, &asked);
    assert!(told[0].contains("forty centimetres"), "{told:?}");
    let text = fs::read_to_string(&memory).unwrap();
    fs::write(
        &memory,
        text.replace("- the harbour gauge", "- no more of the gauge"),
    )
    .unwrap();
    let asked = asked.replace("\"a\"", "\"b\"");
    assert_eq!(lines(&place, CLAUDE, &asked), [""; 0]);
}

#[test]
fn a_prompt_for_a_page_of_memory_is_answered_with_its_lines() {
    let (place, tidepool, _) = two_projects();
    let decided = lines(
        &place,
        CLAUDE,
        &payload("next", &tidepool, "what are my preferences?"),
    );
    let memory: String = place.memory().into_iter().map(|(_, text)| text).collect();
    let words = decided[0].trim_start_matches("- ").split(" (").next();
    assert!(memory.contains(words.unwrap()), "{decided:?}");
    let done = lines(
        &place,
        CLAUDE,
        &payload("other", &tidepool, "what did we do recently?"),
    );
    assert!(done[0].contains("tides"), "{done:?}");
}

#[test]
fn a_prompt_that_asks_for_nothing_is_answered_with_nothing() {
    let (place, tidepool, _) = two_projects();
    for prompt in [
        "",
        "yes",
        "ok, go ahead and do that",
        "/review should the tide cache live in a file that survives a restart?",
        "! cat tide cache live in a file that survives a restart",
        "why is the moon not made of cheese in the opinion of most astronomers?",
        "潮汐表缓存应该保存在文件中以便重启后仍然存在吗？",
    ] {
        assert_eq!(
            lines(&place, CLAUDE, &payload("a", &tidepool, prompt)),
            [""; 0],
            "{prompt}"
        );
    }
    for odd in [json!(null), json!(7), json!(["a"]), json!({"text": PROMPT})] {
        let mut asked: Value = serde_json::from_str(&payload("a", &tidepool, "")).unwrap();
        asked["prompt"] = odd;
        assert_eq!(place.hook(CODEX, &asked.to_string()), "");
    }
    // Of a megabyte, head and tail are looked at.
    let long = "the tide table of the station is cached in a file ".repeat(20_000);
    place.hook(CLAUDE, &payload("a", &tidepool, &long));
}

#[test]
fn a_language_without_spaces_finds_what_was_said_in_it() {
    let place = TestPlace::new();
    let folder = place.checkout("tidepool", "tides");
    let session = TestSession::new(60)
        .human("潮汐表的缓存必须保存在文件里，重启以后才不会丢失")
        .agent("好的，缓存保存在文件里。")
        .in_folder(&folder, "tides");
    place.write("a.jsonl", &session.text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    patient(&place);
    let told = lines(
        &place,
        CODEX,
        &payload(
            "a",
            &folder,
            "潮汐表的缓存保存在文件里吗？重启以后会丢失吗？",
        ),
    );
    assert!(told.iter().any(|line| line.contains("潮汐表")), "{told:?}");
}

#[test]
fn a_memory_that_cannot_be_read_at_once_is_passed_over() {
    let asked = |folder: &Path| payload("a", folder, PROMPT);
    let quick = |place: &TestPlace, folder: &Path| {
        let began = Instant::now();
        let told = lines(place, CLAUDE, &asked(folder));
        assert!(began.elapsed() < Duration::from_secs(5));
        told
    };
    let place = TestPlace::new();
    assert_eq!(quick(&place, place.home()), [""; 0]);
    assert!(
        !place.root().join("daybook.db").exists(),
        "nothing is created"
    );

    let (place, tidepool, _) = two_projects();
    let database = place.root().join("daybook.db");
    let all = quick(&place, &tidepool);
    assert!(!all.is_empty());
    let forget = || fs::remove_dir_all(place.root().join("run/given")).unwrap();

    // Another process writes: the committed rows are read.
    forget();
    let owner = Connection::open(&database).unwrap();
    owner
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM observations")
        .unwrap();
    assert_eq!(quick(&place, &tidepool), all);
    drop(owner);

    // Another process has the file and its log locked.
    forget();
    let owner = Connection::open(&database).unwrap();
    let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE beside (n); COMMIT";
    owner.execute_batch(lock).unwrap();
    assert_eq!(quick(&place, &tidepool), [""; 0]);
    drop(owner);

    // The schema of another version, another program's, a file that is cut off, one that is none.
    Connection::open(&database)
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let whole = fs::read(&database).unwrap();
    for change in [
        "UPDATE schema_migrations SET checksum = 'x' WHERE version = 1",
        "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)",
        "DROP TABLE schema_migrations",
    ] {
        Connection::open(&database)
            .unwrap()
            .execute_batch(change)
            .unwrap();
        assert_eq!(quick(&place, &tidepool), [""; 0], "{change}");
        fs::write(&database, &whole).unwrap();
    }
    fs::write(&database, &whole[..whole.len() / 3]).unwrap();
    assert_eq!(quick(&place, &tidepool), [""; 0]);
    fs::write(&database, "not a database").unwrap();
    assert_eq!(quick(&place, &tidepool), [""; 0]);
    // Each hook wrote its hook event all the same.
    let notices = fs::read_dir(place.root().join("spool")).unwrap().count();
    assert_eq!(notices, 8);
}

#[test]
fn it_can_be_turned_off_and_nothing_is_told_after_its_time() {
    let (place, tidepool, _) = two_projects();
    for setting in [
        "prompt_recall = \"0s\"",
        "prompt_recall = \"1ms\"",
        "store = \"postgres://nobody@127.0.0.1:1/none\"\nprompt_recall = \"10s\"",
    ] {
        fs::write(place.root().join("daybook.toml"), setting).unwrap();
        let began = Instant::now();
        assert_eq!(
            lines(&place, CLAUDE, &payload("a", &tidepool, PROMPT)),
            [""; 0],
            "{setting}"
        );
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    assert!(!place.root().join("run/given").exists());
    patient(&place);
    assert!(!lines(&place, CLAUDE, &payload("a", &tidepool, PROMPT)).is_empty());
}
