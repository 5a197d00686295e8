//! One file stops nothing: a file that cannot be imported is named with its reason until it is repaired, and
//! everything else is imported.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// How a Zstandard frame begins that holds so many bytes.
fn frame(bytes: u16) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0x60];
    frame.extend((bytes - 256).to_le_bytes());
    frame
}

/// A block of such a frame, its bytes as they are.
fn block(text: &[u8], is_last: bool) -> Vec<u8> {
    let header = u32::try_from(text.len()).unwrap() << 3 | u32::from(is_last);
    [&header.to_le_bytes()[..3], text].concat()
}

/// A compressed transcript whose decoding breaks off behind its first lines.
fn torn(text: &str) -> Vec<u8> {
    let text = text.as_bytes();
    let bytes = u16::try_from(text.len() + 100).unwrap();
    [frame(bytes), block(text, false), vec![0xFF; 9]].concat()
}

/// A session of messages of so many bytes each.
fn long(n: u32, messages: usize, bytes: usize) -> TestSession {
    let words = "tide ".repeat(bytes / 5);
    (0..messages).fold(TestSession::new(n), |session, message| {
        session.agent(&format!("{message} {words}"))
    })
}

/// Makes the database refuse every event of a stored session.
fn refuse(place: &TestPlace, session: &TestSession) {
    let refusal = format!(
        "CREATE TRIGGER refusal BEFORE INSERT ON events WHEN NEW.session_no =
            (SELECT session_no FROM sessions WHERE host_id = '{}')
         BEGIN SELECT RAISE(ABORT, 'no room for this session'); END",
        session.id()
    );
    change(place, &refusal);
}

fn change(place: &TestPlace, sql: &str) {
    let database = Connection::open(place.root().join("daybook.db")).unwrap();
    database.execute_batch(sql).unwrap();
}

fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("only JSON on standard output")
}

fn name(path: &Value) -> String {
    let path = Path::new(path.as_str().expect("a path"));
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Names of what `status` shows as failing, with the reasons.
fn failing(place: &TestPlace) -> BTreeMap<String, String> {
    let status = place.json(&["status"]);
    let failing = status["failing"].as_array().expect("a list").iter();
    failing
        .map(|one| (name(&one["path"]), one["why"].as_str().unwrap().to_owned()))
        .collect()
}

#[test]
fn an_import_goes_on_past_every_kind_of_bad_file_and_names_it() {
    let place = TestPlace::new();
    let (refused, torn_one) = (teaching_session(1), teaching_session(2));
    let text = refused.text();
    let folder = place.transcripts();
    place.write("refused.jsonl", &text[..text.len() / 2]);
    place.stdout(&["import", "--no-process", folder.to_str().unwrap()]);
    refuse(&place, &refused);

    place.write("refused.jsonl", &text);
    place.write("good.jsonl", &teaching_session(3).text());
    place.write("large.jsonl", &long(4, 600, 2_100).text());
    let damaged = teaching_session(5)
        .text()
        .replacen('\n', "\n{\"type\":\"user\",\"uuid\":\n", 1);
    place.write("damaged.jsonl", &damaged);
    fs::write(folder.join("torn.jsonl.zst"), torn(&torn_one.text())).unwrap();
    fs::write(folder.join("garbage.jsonl.zst"), frame(300)).unwrap();
    std::os::unix::fs::symlink("loop.jsonl", folder.join("loop.jsonl")).unwrap();

    let output = place.run(&["import", "--json", folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let report = parsed(&output);
    let files = report["files"].as_array().unwrap();
    let account: BTreeMap<String, &Value> = files.iter().map(|f| (name(&f["path"]), f)).collect();
    let status = |name: &str| account[name]["status"].as_str().unwrap();
    for good in ["good.jsonl", "large.jsonl", "damaged.jsonl"] {
        assert_eq!(status(good), "new", "{good}");
        assert!(account[good]["added"].as_u64() > Some(20), "{good}");
    }
    assert_eq!(account["large.jsonl"]["added"], 600);
    assert_eq!(account["damaged.jsonl"]["bad_lines"], 1);
    assert_eq!(status("refused.jsonl"), "failed");
    assert_eq!(
        account["refused.jsonl"]["why"],
        "refused: no room for this session"
    );
    for bad in ["torn.jsonl.zst", "garbage.jsonl.zst", "loop.jsonl"] {
        assert_eq!(status(bad), "unreadable", "{bad}");
        assert_ne!(account[bad]["why"], "", "{bad}");
    }
    assert_eq!(
        (&report["failed"], &report["stopped"]),
        (&json!(4), &json!(false))
    );
    assert_eq!(report["learned"]["failed"], json!([]));
    assert!(report["learned"]["read"].as_u64() >= Some(4));

    let shown = failing(&place);
    let names: Vec<&str> = shown.keys().map(String::as_str).collect();
    let bad = [
        "garbage.jsonl.zst",
        "loop.jsonl",
        "refused.jsonl",
        "torn.jsonl.zst",
    ];
    assert_eq!(names, bad);
    for interface in ["status", "doctor"] {
        let said = String::from_utf8(place.run(&[interface]).stdout).unwrap();
        assert!(
            said.contains("no room for this session"),
            "{interface}: {said}"
        );
        assert!(
            bad.iter().all(|bad| said.contains(bad)),
            "{interface}: {said}"
        );
    }
    assert_eq!(place.run(&["doctor"]).status.code(), Some(1));

    // Mended, each in its own way.
    change(&place, "DROP TRIGGER refusal");
    let whole = torn_one.text();
    let bytes = u16::try_from(whole.len()).unwrap();
    let whole = [frame(bytes), block(whole.as_bytes(), true)].concat();
    fs::write(folder.join("torn.jsonl.zst"), whole).unwrap();
    fs::remove_file(folder.join("garbage.jsonl.zst")).unwrap();
    fs::remove_file(folder.join("loop.jsonl")).unwrap();
    place.stdout(&["import", folder.to_str().unwrap()]);
    assert_eq!(failing(&place), BTreeMap::new());
    let sessions = place.json(&["sessions"]);
    let events = |session: &TestSession| {
        let sessions = sessions["sessions"].as_array().unwrap().iter();
        let mut ours = sessions.filter(|s| s["id"].as_str().unwrap().ends_with(session.id()));
        ours.next().expect("the session")["events"].clone()
    };
    let all = events(&teaching_session(3));
    assert_eq!((events(&refused), events(&torn_one)), (all.clone(), all));
}

#[test]
fn notices_behind_a_bad_one_are_taken_in_and_it_is_tried_again() {
    let place = TestPlace::new();
    let home = place.home().join(".claude/projects/tidepool");
    fs::create_dir_all(&home).unwrap();
    let write = |session: &TestSession, text: &str| {
        let path = home.join(format!("{}.jsonl", session.id()));
        fs::write(&path, text).unwrap();
        let payload = json!({
            "hook_event_name": "Stop", "session_id": session.id(), "cwd": place.home(),
            "transcript_path": path,
        });
        place.hook("claude-code", &payload.to_string());
    };
    let bad = teaching_session(1);
    let text = bad.text();
    write(&bad, &text[..text.len() / 2]);
    place.stdout(&["update"]);
    refuse(&place, &bad);

    let good: Vec<TestSession> = (2..5).map(teaching_session).collect();
    write(&bad, &text);
    good.iter()
        .for_each(|session| write(session, &session.text()));
    // As hosts run it: the exit code hides failures from them.
    let told = place.json(&["update", "--for", "20s"]);
    assert_eq!(told["notices"], 4);
    assert_eq!(
        name(&told["failing"][0]["path"]),
        format!("{}.jsonl", bad.id())
    );
    let status = place.json(&["status"]);
    assert_eq!(
        (&status["notices"], &status["sessions"]["all"]),
        (&json!(0), &json!(4))
    );
    let reason = "refused: no room for this session".to_owned();
    let expected = BTreeMap::from([(format!("{}.jsonl", bad.id()), reason)]);
    assert_eq!(failing(&place), expected);

    // Nothing changed, so nothing is tried until a person asks.
    assert_eq!(place.json(&["update", "--for", "20s"])["notices"], 0);
    assert_eq!(place.run(&["update"]).status.code(), Some(1));
    change(&place, "DROP TRIGGER refusal");
    assert_eq!(place.json(&["update"])["notices"], 1);
    assert_eq!(failing(&place), BTreeMap::new());
    assert_eq!(place.json(&["update"])["notices"], 0);
}

#[test]
fn a_session_whose_events_are_damaged_holds_up_the_learning_of_no_other() {
    let place = TestPlace::new();
    for n in 1..4 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    let folder = place.transcripts();
    place.stdout(&["import", "--no-process", folder.to_str().unwrap()]);
    let damage = format!(
        "UPDATE events SET origin = 'nonsense' WHERE event_no & 0xffffffff = 3 AND session_no =
            (SELECT session_no FROM sessions WHERE host_id = '{}')",
        teaching_session(2).id()
    );
    change(&place, &damage);
    let output = place.run(&["update", "--all", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = parsed(&output);
    let failed = report["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 1, "{report}");
    assert!(
        failed[0]["job"]
            .as_str()
            .unwrap()
            .contains(teaching_session(2).id())
    );
    assert_eq!((&report["read"], &report["taught"]), (&json!(3), &json!(2)));
}
