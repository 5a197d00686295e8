//! What was purged is nowhere in the data folder, nothing brings it back, and everything else is as it was.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use daybook_testkit::postgres::TestDatabase;
use serde_json::{Value, json};

use crate::fixture::{TestPlace, TestSession, daybook, teaching_session};

/// A word that only one session has.
pub(crate) fn marker(nth: usize) -> String {
    format!("zq{nth}marker{}x", nth * 7919 + 13)
}

/// A word that only one session's later part has.
pub(crate) fn late_marker(nth: usize) -> String {
    format!("zw{nth}later{}y", nth * 6151 + 7)
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => open.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    files.sort();
    files
}

/// All bytes below a data folder: those of files, and the objects of every history, loose or packed, inflated.
struct AllBytes(Vec<(String, Vec<u8>)>);

impl AllBytes {
    fn of(root: &Path) -> Self {
        let mut all = Vec::new();
        for path in files_below(root) {
            if path.file_name().is_some_and(|name| name == "HEAD")
                && path.with_file_name("objects").is_dir()
            {
                let git = path.parent().unwrap();
                let options = gix::open::Options::isolated().open_path_as_is(true);
                let repository = gix::open_opts(git, options).unwrap();
                for id in repository.objects.iter().unwrap() {
                    let object = repository.find_object(id.unwrap()).unwrap().detach();
                    all.push((format!("{} in {}", object.kind, git.display()), object.data));
                }
            }
            all.push((
                path.display().to_string(),
                path.display().to_string().into_bytes(),
            ));
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
        Self(all)
    }

    /// Where a text stands.
    fn places_of(&self, text: &str) -> Vec<String> {
        let finder = |bytes: &Vec<u8>| {
            let (first, rest) = text.as_bytes().split_first().unwrap();
            let mut from = 0;
            while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
                from += at + 1;
                if bytes[from..].starts_with(rest) {
                    return true;
                }
            }
            false
        };
        let found = self.0.iter().filter(|(_, bytes)| finder(bytes));
        found.map(|(place, _)| place.clone()).collect()
    }
}

#[track_caller]
pub(crate) fn check_gone(root: &Path, texts: &[String]) {
    let all = AllBytes::of(root);
    for text in texts {
        assert_eq!(all.places_of(text), [""; 0], "{text} is left");
    }
}

/// A session in one of several projects, whose words no other session has.
pub(crate) fn marked_session(place: &TestPlace, nth: usize, projects: usize) -> TestSession {
    let folder = place.home().join(format!("work/project{}", nth % projects));
    let (early, late) = (marker(nth), late_marker(nth));
    TestSession::new(u32::try_from(nth).unwrap() + 1)
        .in_folder(&folder, &format!("branch-{}", nth % 3))
        .human(&format!(
            "always moor the {early} at the northern quay before noon"
        ))
        .agent(&format!("I will moor the {early} there."))
        .command(
            "cargo test",
            &format!("{early} test result: FAILED, error: no {early}"),
            true,
        )
        .agent(&format!(
            "The root cause is that {early} drifts without an anchor."
        ))
        .edit("/nowhere/src/anchor.rs")
        .command(
            "cargo test",
            &format!("{early} test result: ok. 3 passed"),
            false,
        )
        .human(&format!(
            "let's go with the {late} lamp, a flare would blind the pilot"
        ))
        .agent(&format!("The {late} lamp it is."))
        .human(&format!(
            "my boat is called {late} and lies in harbour {}",
            nth % 5
        ))
}

/// A memory of `sessions` sessions, some of them another user's.
pub(crate) fn marked_place(sessions: usize, projects: usize) -> TestPlace {
    let place = TestPlace::new();
    for nth in 0..sessions {
        let session = marked_session(&place, nth, projects);
        place.write(&format!("{nth:04}.jsonl"), &session.text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["update"]);
    place
}

/// What must stay as it is: events, memories, what memory files state, and answers, each by the session that it is of.
#[derive(Debug, Default, PartialEq)]
struct Rest {
    events: BTreeMap<usize, Vec<String>>,
    memories: BTreeMap<usize, Vec<String>>,
    lines: BTreeMap<usize, BTreeSet<String>>,
    answers: BTreeMap<usize, BTreeSet<String>>,
}

pub(crate) fn label_of(place: &TestPlace, nth: usize, sessions: &Value) -> String {
    let id = TestSession::new(u32::try_from(nth).unwrap() + 1)
        .id()
        .to_owned();
    let all = sessions["sessions"].as_array().unwrap();
    let one = all
        .iter()
        .find(|one| one["id"].as_str().is_some_and(|name| name.contains(&id)));
    let one = one.unwrap_or_else(|| panic!("session {nth} is listed: {}", place.root().display()));
    one["label"].as_str().unwrap().to_owned()
}

/// The host's id of a session.
fn host_id(nth: usize) -> String {
    let session = TestSession::new(u32::try_from(nth).unwrap() + 1);
    session.id().to_owned()
}

/// What a line states, without what it says of other sessions: their number, and what contradicts it.
fn statement_of(line: &str) -> String {
    let parts = line.split(" · ");
    let of_others = ["open: ", "last of ", "one of "];
    let own: Vec<&str> = parts
        .filter(|part| !of_others.iter().any(|start| part.starts_with(start)))
        .collect();
    let own = own.join(" · ");
    match (own.find('"'), own.rfind('"')) {
        (Some(from), Some(to)) if from < to => own[from..=to].to_owned(),
        _ => own.split(" [").next().unwrap_or_default().to_owned(),
    }
}

impl Rest {
    /// That of these sessions.
    fn of(place: &TestPlace, sessions: &BTreeSet<usize>) -> Self {
        let database = rusqlite::Connection::open(place.root().join("daybook.db")).unwrap();
        let mut read = database
            .prepare(
                "SELECT text FROM events JOIN sessions USING (session_no) WHERE host_id = ?
                 ORDER BY event_no",
            )
            .unwrap();
        let mut remembered = database
            .prepare("SELECT kind || ' ' || holds || ' ' || text FROM observations ORDER BY text")
            .unwrap();
        let remembered = remembered.query_map([], |row| row.get(0)).unwrap();
        let remembered: Vec<String> = remembered.map(Result::unwrap).collect();
        let mut memory = place.memory();
        // It is there only where a project has more branches than MEMORY.md has room for.
        memory.retain(|(file, _)| !file.ends_with("/branches.md"));
        let mut rest = Self::default();
        for &nth in sessions {
            let texts = read.query_map([host_id(nth)], |row| row.get(0)).unwrap();
            rest.events.insert(nth, texts.map(Result::unwrap).collect());
            let is_own =
                |text: &str| text.contains(&marker(nth)) || text.contains(&late_marker(nth));
            let own = remembered.iter().filter(|text| is_own(text));
            rest.memories.insert(nth, own.cloned().collect());
            let lines = memory.iter().flat_map(|(_, text)| text.lines());
            let own = lines.map(statement_of).filter(|line| is_own(line));
            rest.lines.insert(nth, own.collect());
            let answer = place.json(&["recall", &format!("where is {} moored", marker(nth))]);
            let results = answer["results"].as_array().unwrap().iter();
            let own = results.filter(|one| one.to_string().contains(&marker(nth)));
            let own = own.map(|one| {
                let text = statement_of(one["text"].as_str().unwrap());
                json!([text, one["citation"], one["scope"]]).to_string()
            });
            rest.answers.insert(nth, own.collect());
        }
        rest
    }
}

/// Purges one session, or what is remembered with its later word. Returns the texts that are gone.
fn purge_some(place: &TestPlace, turn: usize, nth: usize, label: &str) -> Vec<String> {
    let id = host_id(nth);
    let name = match turn % 3 {
        0 => label,
        1 => return purge_memories(place, nth),
        _ => &id,
    };
    place.stdout(&["purge", "--session", name, "--yes"]);
    vec![marker(nth), late_marker(nth)]
}

fn purge_memories(place: &TestPlace, nth: usize) -> Vec<String> {
    let scope = scope_of(place, nth, 10);
    let word = late_marker(nth);
    let found = place.json(&["list", "--scope", &scope, "--query", &word]);
    let mut gone = Vec::new();
    for one in found["memories"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap();
        let output = place.run(&["purge", id, "--yes"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        // One memory may rest on the events of another.
        assert!(
            output.status.success() || error.contains("nothing"),
            "{error}"
        );
        gone.push(one["text"].as_str().unwrap().to_owned());
    }
    assert!(!gone.is_empty(), "nothing is remembered with {word}");
    gone
}

/// Purges `count` times, in several ways in turn, and checks at the end that all of it is gone, and that every event,
/// line of a memory file and answer of the other sessions is as it was before.
fn check_purges(sessions: usize, count: usize) {
    let place = marked_place(sessions, 10);
    let mut left: BTreeSet<usize> = (0..sessions).collect();
    let before = Rest::of(&place, &left);
    let mut gone: Vec<String> = Vec::new();
    let listed = place.json(&["sessions", "--limit", "1000"]);
    // Numbers from a fixed seed: the choice is random and the same in every run.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for turn in 0..count {
        let all: Vec<usize> = left.iter().copied().collect();
        let nth = all[next(all.len())];
        gone.extend(purge_some(
            &place,
            turn,
            nth,
            &label_of(&place, nth, &listed),
        ));
        left.remove(&nth);
    }
    assert_eq!(left.len(), sessions - count);
    check_gone(&place.root(), &gone);
    place.stdout(&["doctor"]);
    let now = Rest::of(&place, &left);
    for nth in &left {
        assert!(!now.events[nth].is_empty() && !now.lines[nth].is_empty());
        assert_eq!(now.events[nth], before.events[nth]);
        assert_eq!(now.memories[nth], before.memories[nth]);
        // Where there is room for a fixed number, what is left takes the places of what went.
        let lost: Vec<&String> = before.lines[nth].difference(&now.lines[nth]).collect();
        assert_eq!(lost, Vec::<&String>::new(), "lines of {}", marker(*nth));
        let lost: Vec<&String> = before.answers[nth].difference(&now.answers[nth]).collect();
        assert_eq!(lost, Vec::<&String>::new(), "answers of {}", marker(*nth));
    }
}

pub(crate) fn scope_of(place: &TestPlace, nth: usize, projects: usize) -> String {
    let all = place.json(&["projects"]);
    let name = format!("work/project{}", nth % projects);
    let mut keys = all["projects"].as_object().unwrap().iter();
    let found = keys.find(|(_, project)| project["checkouts"].to_string().contains(&name));
    format!(
        "project/{}",
        found.unwrap_or_else(|| panic!("{name} in {all}")).0
    )
}

#[test]
fn purged_sessions_and_memories_are_nowhere_and_the_rest_is_as_before() {
    check_purges(24, 10);
}

#[test]
#[ignore = "takes ten minutes: .ci/purges"]
fn a_hundred_purges_leave_nothing_of_two_hundred_sessions() {
    check_purges(200, 100);
}

#[test]
fn nothing_brings_back_what_was_purged() {
    let place = marked_place(3, 1);
    let backup = place.home().join("before.tar").display().to_string();
    let inside = place.root().join("own.tar").display().to_string();
    place.stdout(&["backup", &backup]);
    place.stdout(&["backup", &inside]);
    let label = label_of(&place, 1, &place.json(&["sessions"]));
    let purged = place.json(&["purge", "--session", &label, "--yes"]);
    assert_eq!(purged["copies"], json!(["own.tar: made again"]));
    let texts = [marker(1), late_marker(1)];
    check_gone(&place.root(), &texts);

    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["update"]);
    check_gone(&place.root(), &texts);

    let scope = scope_of(&place, 0, 1);
    let history = place.json(&["history", "--scope", &scope]);
    let oldest = history["commits"].as_array().unwrap().last().unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    place.run(&["undo", "--scope", &scope]);
    place.run(&["restore", "--at", &oldest, "--scope", &scope]);
    place.stdout(&["update"]);
    place.stdout(&["rebuild"]);
    check_gone(&place.root(), &texts);

    // A backup that was made before, with the tombstones of now.
    let elsewhere = place.home().join("elsewhere");
    let tombstones = place.root().join("purged/tombstones").display().to_string();
    let at = elsewhere.display().to_string();
    place.stdout(&[
        "restore",
        &backup,
        "--root",
        &at,
        "--tombstones",
        &tombstones,
    ]);
    check_gone(&elsewhere, &texts);
    let mut import = daybook(
        &elsewhere,
        place.home(),
        &["import", &place.transcripts().display().to_string()],
    );
    assert!(import.status().unwrap().success());
    check_gone(&elsewhere, &texts);
    let listed = daybook(&elsewhere, place.home(), &["recall", &marker(0), "--json"])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&marker(0)));

    // Without them, it says what it cannot know.
    let third = place.home().join("third").display().to_string();
    let told = place.stdout(&["restore", &backup, "--root", &third]);
    assert!(told.contains("is not known here"), "{told}");
    // The backup in the folder was made again without it.
    let fourth = place.home().join("fourth");
    place.stdout(&["restore", &inside, "--root", &fourth.display().to_string()]);
    check_gone(&fourth, &texts);
}

#[test]
fn a_project_a_user_and_a_time_are_purged() {
    let place = marked_place(6, 3);
    let scope = scope_of(&place, 1, 3);
    let project = scope.strip_prefix("project/").unwrap();
    place.stdout(&["purge", "--project", project, "--yes"]);
    check_gone(
        &place.root(),
        &[
            marker(1),
            late_marker(1),
            marker(4),
            late_marker(4),
            "project1".to_owned(),
        ],
    );
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    place.stdout(&["update"]);
    check_gone(&place.root(), &[marker(1), marker(4)]);
    let recalled = place.json(&["recall", &marker(2)]).to_string();
    assert!(recalled.contains(&marker(2)));

    place.stdout(&["purge", "--before", "2026-03-03", "--yes"]);
    let all: Vec<String> = (0..6)
        .flat_map(|nth| [marker(nth), late_marker(nth)])
        .collect();
    check_gone(&place.root(), &all);
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    check_gone(&place.root(), &all);
}

#[test]
fn a_users_purge_takes_their_sessions_their_memory_and_their_name() {
    let place = marked_place(2, 1);
    place.stdout(&["remember", "the lighthouse opens at nine"]);
    place.stdout(&["update"]);
    assert!(
        !AllBytes::of(&place.root())
            .places_of("lighthouse")
            .is_empty()
    );
    place.stdout(&["purge", "--user", "ada", "--yes"]);
    let words = [
        marker(0),
        marker(1),
        late_marker(0),
        "lighthouse".to_owned(),
    ];
    check_gone(&place.root(), &words);
    assert!(!place.root().join("users").exists());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    check_gone(&place.root(), &words);
}

#[test]
fn a_memory_whose_history_is_damaged_or_half_removed_is_purged() {
    let place = TestPlace::new();
    place.stdout(&["remember", "the lighthouse opens at nine"]);
    place.stdout(&["update"]);
    let head = place.root().join("users/ada/memory/.git/HEAD");
    std::fs::remove_file(head).unwrap();
    place.stdout(&["purge", "--user", "ada", "--yes"]);
    check_gone(&place.root(), &["lighthouse".to_owned()]);
    assert!(!place.root().join("users").exists());
}

#[test]
fn a_purge_shows_what_it_would_take_and_asks() {
    let place = marked_place(2, 1);
    let label = label_of(&place, 0, &place.json(&["sessions"]));
    let memory = place.memory();
    let shown = place.json(&["purge", "--session", &label, "--dry-run"]);
    let would = &shown["would_purge"];
    assert_eq!(
        (&would["sessions"], &would["kind"]),
        (&json!(1), &json!("session"))
    );
    assert!(would["events"].as_u64().unwrap() > 5 && would["digests"] == json!(1));
    let refused = place.run(&["purge", "--session", &label]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--yes"));
    assert_eq!(place.memory(), memory);
    let purged = place.json(&["purge", "--session", &label, "--yes"]);
    assert_eq!(purged["purged"]["events"], would["events"]);
    assert_eq!(purged["receipt"]["no"], 1);
    assert_eq!(purged["receipt"]["before"], "");
    let again = place.json(&["purge", "--before", "2026-01-01", "--yes"]);
    assert_eq!(again["would_purge"]["events"], 0);
    let nothing = place.json(&["purge", "--continue"]);
    assert_eq!(nothing["purged"], Value::Null);
}

#[test]
fn a_persons_own_line_stays_and_is_reported() {
    let place = marked_place(2, 1);
    let folder = files_below(&place.root())
        .into_iter()
        .find(|path| path.ends_with("memory/MEMORY.md"));
    let own = folder.unwrap().with_file_name("topics").join("mine.md");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, format!("# Mine\n\nthe {} is blue\n", marker(0))).unwrap();
    place.stdout(&["update"]);
    let label = label_of(&place, 0, &place.json(&["sessions"]));
    let purged = place.json(&["purge", "--session", &label, "--yes"]);
    let left: Vec<&Value> = purged["purged"]["left"]
        .as_object()
        .unwrap()
        .values()
        .collect();
    assert_eq!(left, [&json!([{"file": "topics/mine.md", "line": 3}])]);
    assert!(fs::read_to_string(&own).unwrap().contains(&marker(0)));
    check_gone(&place.root(), &[late_marker(0)]);
}

#[test]
fn a_purge_that_is_killed_is_finished_by_the_next_command() {
    let whole = marked_place(4, 2);
    let label = label_of(&whole, 2, &whole.json(&["sessions"]));
    let reached = [
        "purged",
        "purged/intent.json",
        "purged/tombstones",
        "purged/receipts.jsonl",
    ];
    for reached in reached {
        let place = copied(&whole);
        let mut child = place
            .daybook(&["purge", "--session", &label, "--yes"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let intent = place.root().join("purged/intent.json");
        let reached = place.root().join(reached);
        while !reached.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let had_begun = intent.exists();
        place.stdout(&["recall", "harbour"]);
        assert!(!intent.exists());
        if had_begun || place.root().join("purged/tombstones").exists() {
            check_gone(&place.root(), &[marker(2), late_marker(2)]);
            assert!(
                place
                    .json(&["recall", &marker(1)])
                    .to_string()
                    .contains(&marker(1))
            );
        }
        let sound = place.run(&["doctor"]);
        let told = String::from_utf8_lossy(&sound.stdout).into_owned();
        assert!(sound.status.success(), "{told}");
    }
}

/// The same data folder once more.
fn copied(whole: &TestPlace) -> TestPlace {
    let place = TestPlace::new();
    for path in files_below(&whole.root()) {
        let to = place.root().join(path.strip_prefix(whole.root()).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&path, &to).unwrap();
    }
    for path in files_below(&whole.root())
        .iter()
        .filter(|path| path.ends_with(".git/HEAD"))
    {
        for empty in ["refs/heads", "refs/tags", "objects/info", "objects/pack"] {
            let folder = path.parent().unwrap().strip_prefix(whole.root()).unwrap();
            fs::create_dir_all(place.root().join(folder).join(empty)).unwrap();
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let owner_only = fs::Permissions::from_mode(0o700);
        fs::set_permissions(place.root(), owner_only).unwrap();
    }
    place
}

#[test]
fn teaching_sessions_leave_no_word_of_their_own_behind() {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let label = place.json(&["sessions"])["sessions"][0]["label"]
        .as_str()
        .unwrap()
        .to_owned();
    place.stdout(&["purge", "--session", &label, "--yes"]);
    check_gone(
        &place.root(),
        &[
            "evicts_oldest".to_owned(),
            "survives".to_owned(),
            "tidepool".to_owned(),
        ],
    );
}

/// All rows of a database, with the bytes of objects readable.
fn dumped(database: &TestDatabase) -> String {
    let rows = database
        .program("pg_dump")
        .env("PGOPTIONS", "-c daybook.tenants=all")
        .args(["--enable-row-security", &database.url()])
        .output()
        .unwrap();
    let mut all = String::from_utf8_lossy(&rows.stdout).into_owned();
    let objects: Vec<String> = all
        .split("\\\\x")
        .skip(1)
        .filter_map(|hex| {
            let digits = hex.chars().take_while(char::is_ascii_hexdigit);
            let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
            let bytes = digits
                .chunks_exact(2)
                .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap());
            String::from_utf8(bytes.collect()).ok()
        })
        .collect();
    all.extend(objects);
    all
}

#[test]
fn a_purge_reaches_a_memory_on_a_server_and_every_machine_that_shares_it() {
    let Some(database) = daybook_testkit::postgres::empty() else {
        return;
    };
    let place = TestPlace::sharing(&database.address());
    for nth in 0..4 {
        let session = marked_session(&place, nth, 2);
        place.write(&format!("{nth:04}.jsonl"), &session.text());
    }
    let transcripts = place.transcripts().display().to_string();
    place.stdout(&["import", &transcripts]);
    place.stdout(&["update"]);
    let there = TestPlace::sharing(&database.address());
    there.stdout(&["checkout"]);
    let scope = scope_of(&place, 1, 2).replacen("project/", "projects/", 1);
    let own = there.root().join(&scope).join("memory/topics/mine.md");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "My own line.\n").unwrap();
    let lies_there = |text: &str| !AllBytes::of(&there.root()).places_of(text).is_empty();
    assert!(lies_there(&marker(1)) && dumped(&database).contains(&marker(1)));

    let label = label_of(&place, 1, &place.json(&["sessions"]));
    let purged = place.json(&["purge", "--session", &label, "--yes"]);
    assert!(purged["purged"]["commits"].as_u64() > Some(0), "{purged}");
    let gone = [marker(1), late_marker(1)];
    place.stdout(&["import", &transcripts]);
    there.stdout(&["checkout"]);
    let rows = dumped(&database);
    for text in &gone {
        assert!(!rows.contains(text), "{text} is on the server");
    }
    for kept in [marker(0), late_marker(2), marker(3)] {
        assert!(rows.contains(&kept) && lies_there(&kept), "{kept} is lost");
    }
    check_gone(&place.root(), &gone);
    check_gone(&there.root(), &gone);
    there.stdout(&["checkin"]);
    place.stdout(&["checkout"]);
    assert_eq!(fs::read_to_string(&own).unwrap(), "My own line.\n");
    let answer = place.json(&["recall", &format!("where is {} moored", marker(2))]);
    assert!(
        answer["results"].to_string().contains(&marker(2)),
        "{answer}"
    );

    // A whole project: what was written there since stays, and nothing else is pushed back.
    let since = own.with_file_name("since.md");
    fs::write(&since, "Written since.\n").unwrap();
    let project = scope.strip_prefix("projects/").unwrap();
    place.stdout(&["purge", "--project", project, "--yes"]);
    there.stdout(&["checkout"]);
    there.stdout(&["update"]);
    place.stdout(&["checkout"]);
    for root in [place.root(), there.root()] {
        check_gone(&root, &[marker(3), late_marker(3)]);
    }
    assert!(!dumped(&database).contains(&marker(3)));
    assert!(!own.exists());
    assert_eq!(fs::read_to_string(&since).unwrap(), "Written since.\n");
    assert!(lies_there(&marker(0)));
}
