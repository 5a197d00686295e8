//! A person's word about what is remembered: its history, and the commands that change it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// A rule of the second session, word for word.
const RULE: &str = "always name the harbour in the log line";
/// A part of a rule of the first session.
const FIRST: &str = "always write the test first";
/// What recall is asked for the rule.
const QUESTION: &str = "what must the log line name?";
const SCOPE: [&str; 2] = ["--project", "tidepool"];

/// A second session of the same project.
fn second() -> TestSession {
    TestSession::new(2)
        .human("we decided to serve the harbour charts from a second host, please never cache them")
        .agent("Done: the charts come from the second host.")
        .human("always name the harbour in the log line")
}

fn import(place: &TestPlace, name: &str, session: &TestSession) {
    let file = place.write(name, &session.text());
    place.stdout(&["import", &file.display().to_string()]);
}

fn one_session() -> TestPlace {
    let place = TestPlace::new();
    import(&place, "a.jsonl", &teaching_session(1));
    place
}

fn two_sessions() -> TestPlace {
    let place = one_session();
    import(&place, "b.jsonl", &second());
    place
}

fn memory(place: &TestPlace) -> PathBuf {
    place.root().join("projects/tidepool/memory")
}

/// All files of tidepool's memory, byte for byte.
fn files(place: &TestPlace) -> BTreeMap<String, Vec<u8>> {
    let all = place.memory().into_iter();
    let own = all.filter_map(|(name, text)| {
        let below = name.strip_prefix("projects/tidepool/memory/")?;
        Some((below.to_owned(), text.into_bytes()))
    });
    own.collect()
}

fn curated(place: &TestPlace) -> String {
    fs::read_to_string(memory(place).join("MEMORY.md")).expect("a file")
}

/// Runs a command on tidepool's memory.
fn run(place: &TestPlace, words: &[&str]) -> String {
    place.stdout(&[words, &SCOPE].concat())
}

fn json(place: &TestPlace, words: &[&str]) -> serde_json::Value {
    place.json(&[words, &SCOPE].concat())
}

/// The files that hold these words, in any letter case.
fn shown_in(place: &TestPlace, words: &str) -> Vec<String> {
    let all = place.memory().into_iter();
    let holding = all.filter(|(_, text)| text.to_lowercase().contains(&words.to_lowercase()));
    holding.map(|(name, _)| name).collect()
}

/// Texts of recall without the layer of events, which keep the original words.
fn recalled(place: &TestPlace, question: &str) -> Vec<String> {
    let layers = [
        "recall",
        question,
        "--layer",
        "entry",
        "--layer",
        "observation",
    ];
    let found = place.json(&layers);
    let results = found["results"].as_array().expect("results").iter();
    results
        .map(|result| result["text"].as_str().expect("a text").to_lowercase())
        .collect()
}

fn ids(place: &TestPlace) -> Vec<String> {
    let history = json(place, &["history", "--limit", "1000"]);
    let commits = history["commits"].as_array().expect("commits").iter();
    commits
        .map(|commit| commit["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn the_history_names_each_change_its_author_and_its_file() {
    let place = two_sessions();
    let text = curated(&place) + "\n- ada's own line\n";
    fs::write(memory(&place).join("MEMORY.md"), text).unwrap();
    place.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "the pier is closed",
    ]);
    let shown = run(&place, &["history"]);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "project/tidepool");
    assert!(lines[1].contains("Daybook  Post"), "{shown}");
    assert!(lines[2].contains("ada  Edit MEMORY.md"), "{shown}");
    assert!(lines.len() >= 5, "{shown}");
    let all = json(&place, &["history"]);
    assert_eq!(all["commits"][1]["by_person"], true, "{all}");
    let notes = json(&place, &["history", "memory_summary.md"]);
    let of_file = notes["commits"].as_array().unwrap();
    assert!(
        of_file.len() < all["commits"].as_array().unwrap().len(),
        "{notes}"
    );
    let missing = place.run(&["history", "none.md", "--project", "tidepool"]);
    let error = String::from_utf8_lossy(&missing.stderr);
    assert!(error.contains("never had a file none.md"), "{error}");
}

#[test]
fn a_diff_shows_lines_as_a_person_reads_them_between_any_two_states() {
    let place = two_sessions();
    let last = run(&place, &["diff", "MEMORY.md"]);
    assert!(last.contains("## What ada insisted on"), "{last}");
    assert!(last.contains("+ - \"always name the harbour"), "{last}");
    assert!(!last.contains(" ^"), "{last}");
    let commits = ids(&place);
    let (first, newest) = (&commits[commits.len() - 1][..8], &commits[0][..8]);
    let both = json(&place, &["diff", first, newest, "MEMORY.md"]);
    let lines = both["files"][0]["lines"].as_array().unwrap();
    let is_new = |line: &serde_json::Value| {
        line["change"] == "added" && line["text"].as_str().unwrap().contains("name the harbour")
    };
    assert!(lines.iter().any(is_new), "{both}");
    let since = json(&place, &["diff", first, "MEMORY.md"]);
    assert_eq!(since, both);
    let at = json(&place, &["diff", "--at", first]);
    assert_eq!(at["from"], serde_json::Value::Null);
    assert!(
        at["files"]
            .as_array()
            .unwrap()
            .iter()
            .all(|file| file["change"] == "added")
    );
    for (words, message) in [
        (vec!["diff", "deadbeef", "MEMORY.md"], "no commit deadbeef"),
        (vec!["diff", "2020-01-01"], "younger than 2020-01-01"),
        (vec!["diff", first, "--at", newest], "either two states"),
    ] {
        let output = place.run(&[&words[..], &SCOPE].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains(message),
            "{error}"
        );
    }
}

#[test]
fn a_file_is_printed_as_it_was() {
    let place = one_session();
    let before = curated(&place);
    let first = ids(&place)[0].clone();
    import(&place, "b.jsonl", &second());
    let then = run(&place, &["history", "--at", &first, "MEMORY.md"]);
    assert_eq!(then.trim_end(), before.trim_end());
    assert!(!then.contains("harbour") && curated(&place).contains("harbour"));
    let now = run(&place, &["history", "--at", "now"]);
    assert_eq!(now.trim_end(), curated(&place).trim_end());
}

#[test]
fn what_is_remembered_is_listed_page_by_page_with_its_sources() {
    let place = two_sessions();
    let all = json(&place, &["list", "--limit", "100"]);
    let total = all["total"].as_u64().unwrap();
    let listed = all["memories"].as_array().unwrap();
    assert_eq!(listed.len() as u64, total);
    let mut paged = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let mut words = vec!["list", "--limit", "2"];
        words.extend(after.iter().flat_map(|after| ["--after", after.as_str()]));
        let page = json(&place, &words);
        paged.extend(page["memories"].as_array().unwrap().iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(&paged, listed);
    let rule = json(&place, &["list", "--query", "TEST first"]);
    let one = &rule["memories"][0];
    assert_eq!(rule["total"], 1, "{rule}");
    assert_eq!(one["learned_from"], "typed");
    assert!(
        one["shown_in"][0]
            .as_str()
            .unwrap()
            .starts_with("MEMORY.md:"),
        "{rule}"
    );
    let kinds = json(&place, &["list", "--kind", "fix", "--kind", "open-end"]);
    let kinds = kinds["memories"].as_array().unwrap().iter();
    assert!(
        kinds
            .map(|it| &it["kind"])
            .all(|kind| kind == "fix" || kind == "open_end")
    );
    let text = run(&place, &["list"]);
    assert!(text.contains(&one["id"].as_str().unwrap()[..8]), "{text}");
}

#[test]
fn a_line_leads_to_the_words_in_the_transcript_and_to_its_past() {
    let place = one_session();
    let line = curated(&place);
    let number = line
        .lines()
        .position(|line| line.contains(FIRST) && line.contains("[9e37:L1]"))
        .unwrap()
        + 1;
    let marker = line.lines().nth(number - 1).unwrap();
    let marker = &marker[marker.rfind('^').unwrap()..];
    let by_place = format!("MEMORY.md:{number}");
    let by_words = json(&place, &["why", "write the test first"]);
    let id = by_words["observations"][0]["id"].as_str().unwrap();
    for name in [&by_place, marker, &marker[..7], id, &id[..8]] {
        assert_eq!(json(&place, &["why", name]), by_words, "{name}");
    }
    let first = ids(&place).pop().unwrap();
    assert_eq!(by_words["since"]["id"], first.as_str(), "{by_words}");
    let source = by_words["sources"][0]["text"].as_str().unwrap();
    assert!(
        source.contains("let's add a cache to the tide table"),
        "{by_words}"
    );
    run(&place, &["edit", id, "The test comes first."]);
    let edited = json(&place, &["why", id]);
    assert_eq!(edited["changed_by_person"], true, "{edited}");
    assert_ne!(edited["since"]["id"], first.as_str());
    assert!(
        edited["before"].as_str().unwrap().contains(FIRST),
        "{edited}"
    );
    let told = run(&place, &["why", id]);
    assert!(
        told.contains("preference, stated, learned from what was typed")
            || told.contains("correction, stated"),
        "{told}"
    );
    assert!(!place.run(&["why", "zeppelins"]).status.success());
}

#[test]
fn what_is_forgotten_is_gone_everywhere_stays_away_and_comes_back_by_undo() {
    let place = two_sessions();
    let before = files(&place);
    assert!(
        shown_in(&place, RULE).len() >= 4,
        "{:?}",
        shown_in(&place, RULE)
    );
    run(&place, &["forget", RULE]);
    let gone = |place: &TestPlace| {
        let files = shown_in(place, RULE);
        // A page is named after the request that the session began with, and a task is that request itself.
        assert!(
            files.iter().all(|file| !file.ends_with("MEMORY.md")),
            "{files:?}"
        );
        let texts = recalled(place, QUESTION);
        assert!(texts.iter().all(|text| !text.contains(RULE)), "{texts:?}");
        assert_eq!(json(place, &["list", "--query", RULE])["total"], 0);
    };
    gone(&place);
    let after = files(&place);
    place.stdout(&["update", "--redo"]);
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    gone(&place);
    run(&place, &["undo"]);
    same(&files(&place), &before);
    place.stdout(&["update"]);
    same(&files(&place), &before);
    assert_eq!(json(&place, &["list", "--query", RULE])["total"], 1);
    let texts = recalled(&place, QUESTION);
    assert!(texts.iter().any(|text| text.contains(RULE)), "{texts:?}");
    run(&place, &["undo"]);
    same(&files(&place), &after);
    gone(&place);
    place.stdout(&["update"]);
    same(&files(&place), &after);
    gone(&place);
}

#[test]
fn a_part_of_the_words_is_forgotten_only_after_a_confirmation() {
    let place = two_sessions();
    let before = files(&place);
    let refused = place.run(&["forget", "always", "--project", "tidepool"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        error.contains("--yes") && error.contains("write the test first"),
        "{error}"
    );
    same(&files(&place), &before);
    run(&place, &["forget", "always", "--yes"]);
    assert!(!curated(&place).contains("always"), "{}", curated(&place));
    run(&place, &["undo"]);
    same(&files(&place), &before);
}

#[test]
fn a_changed_line_is_changed_in_every_file_and_in_recall() {
    let by_command = two_sessions();
    run(&by_command, &["edit", RULE, "Größere Tests kommen zuerst."]);
    let by_hand = two_sessions();
    let line = curated(&by_hand);
    let old = line.lines().find(|line| line.contains(RULE)).unwrap();
    let from = old.find(" [").unwrap();
    let edited = line.replace(
        old,
        &format!("- Größere Tests kommen zuerst.{}", &old[from..]),
    );
    fs::write(memory(&by_hand).join("MEMORY.md"), edited).unwrap();
    by_hand.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "the pier is closed",
    ]);
    for place in [&by_command, &by_hand] {
        let shown = shown_in(place, "Größere Tests kommen zuerst");
        for file in [
            "memory/MEMORY.md",
            "memory_summary.md",
            "memory/daily/",
            "memory/sessions/",
        ] {
            assert!(
                shown.iter().any(|name| name.contains(file)),
                "{file}: {shown:?}"
            );
        }
        let summary = fs::read_to_string(memory(place).join("memory_summary.md")).unwrap();
        assert!(!summary.contains(RULE), "{summary}");
        assert!(!curated(place).lines().any(|line| line.contains(RULE)));
        let texts = recalled(place, QUESTION);
        assert!(texts.iter().all(|text| !text.contains(RULE)), "{texts:?}");
        let texts = recalled(place, "Größere Tests");
        assert!(
            texts
                .iter()
                .any(|text| text.contains("größere tests kommen zuerst")),
            "{texts:?}"
        );
    }
    run(&by_command, &["undo"]);
    by_command.stdout(&["update"]);
    assert!(shown_in(&by_command, "Größere Tests").is_empty());
    assert!(curated(&by_command).contains(RULE));
    let texts = recalled(&by_command, QUESTION);
    assert!(texts.iter().any(|text| text.contains(RULE)), "{texts:?}");
}

#[test]
fn an_undone_line_of_the_engine_stays_away_until_the_undo_is_undone() {
    let place = one_session();
    let first = files(&place);
    import(&place, "b.jsonl", &second());
    let both = files(&place);
    let own = curated(&place) + "\n- ada's own line\n";
    fs::write(memory(&place).join("MEMORY.md"), &own).unwrap();
    run(&place, &["undo"]);
    let undone = curated(&place);
    assert!(undone.contains("ada's own line"), "{undone}");
    assert!(!undone.contains(RULE) && undone.contains(FIRST), "{undone}");
    place.stdout(&["update"]);
    assert_eq!(curated(&place), undone);
    assert_eq!(files(&place).len(), first.len());
    assert_eq!(json(&place, &["list", "--query", RULE])["total"], 0);
    run(&place, &["undo"]);
    place.stdout(&["update"]);
    assert_eq!(curated(&place), own);
    assert_eq!(
        files(&place).keys().collect::<Vec<_>>(),
        both.keys().collect::<Vec<_>>()
    );
    assert_eq!(json(&place, &["list", "--query", RULE])["total"], 1);
}

/// Asserts that two states have the same bytes, and shows the first difference as text.
fn same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    assert!(
        found.keys().eq(expected.keys()),
        "{:?} {:?}",
        found.keys(),
        expected.keys()
    );
    for (name, bytes) in expected {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&found[name]), text(bytes), "{name}");
        assert_eq!(&found[name], bytes, "{name}");
    }
}

#[test]
fn any_past_state_is_restored_byte_for_byte_and_stays() {
    let place = one_session();
    let mut states = BTreeMap::new();
    let remember = |place: &TestPlace, states: &mut BTreeMap<String, _>| {
        states.insert(ids(place)[0].clone(), files(place));
    };
    remember(&place, &mut states);
    import(&place, "b.jsonl", &second());
    remember(&place, &mut states);
    for n in 0..4 {
        let note = format!("the pier number {n} is closed on Mondays");
        place.stdout(&["remember", "--scope", "project/tidepool", &note]);
        remember(&place, &mut states);
        fs::create_dir_all(memory(&place).join("topics")).unwrap();
        fs::write(
            memory(&place).join(format!("topics/p{n}.md")),
            format!("{n}\r\nä"),
        )
        .unwrap();
        run(&place, &["pin", &note]);
        remember(&place, &mut states);
    }
    run(
        &place,
        &["edit", "please always write the test first", "Tests first."],
    );
    remember(&place, &mut states);
    run(&place, &["forget", "please never cache them", "--yes"]);
    remember(&place, &mut states);
    assert!(states.len() >= 11);
    let before = ids(&place);
    // There and back, in an order that goes both ways.
    let names: Vec<&String> = states.keys().collect();
    for name in names.iter().chain(names.iter().rev()) {
        run(&place, &["restore", "--at", name]);
        same(&files(&place), &states[*name]);
        place.stdout(&["update"]);
        same(&files(&place), &states[*name]);
    }
    let after = ids(&place);
    assert!(after.ends_with(&before), "history was rewritten");
}

#[test]
fn a_section_of_a_persons_own_stays_where_they_put_it() {
    let place = one_session();
    let own = "## Ada's tides\r\n\r\nHöchststand um acht.\r\n\r\n";
    let text = curated(&place).replace("## Decisions", &format!("{own}## Decisions"));
    fs::write(memory(&place).join("MEMORY.md"), text).unwrap();
    import(&place, "b.jsonl", &second());
    run(&place, &["pin", RULE]);
    run(&place, &["undo"]);
    let now = curated(&place);
    let (above, below) = now.split_once(own).expect("it stands as it was");
    assert!(
        above.contains(RULE) && below.starts_with("## Decisions"),
        "{now}"
    );
}

#[test]
fn what_two_projects_share_is_forgotten_in_both_and_in_the_persons_own_memory() {
    let place = one_session();
    let other = second()
        .agent("Understood.")
        .human("show me the chart of the pier")
        .in_folder(std::path::Path::new("/nowhere/ada/harbour"), "charts");
    import(&place, "b.jsonl", &other);
    let again = TestSession::new(3)
        .human(RULE)
        .agent("Done.")
        .human("thanks");
    import(&place, "c.jsonl", &again);
    let user = fs::read_to_string(place.root().join("users/ada/memory/MEMORY.md")).unwrap();
    assert!(user.contains(RULE), "{user}");
    let listed = place.json(&["list", "--scope", "user/ada", "--query", RULE]);
    let id = listed["memories"][0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    place.stdout(&["forget", &id]);
    place.stdout(&["update"]);
    let files = shown_in(&place, RULE);
    // The session began with these words: they are its title.
    assert!(
        files.iter().all(|file| !file.ends_with("/MEMORY.md")),
        "{files:?}"
    );
    let texts = recalled(&place, QUESTION);
    assert!(texts.iter().all(|text| !text.contains(RULE)), "{texts:?}");
}

#[test]
fn what_is_learned_after_a_restore_is_added_to_the_restored_state() {
    let place = one_session();
    let first = ids(&place)[0].clone();
    import(&place, "b.jsonl", &second());
    run(&place, &["restore", "--at", &first]);
    let texts = recalled(&place, QUESTION);
    assert!(
        texts.iter().all(|text| !text.contains("name the harbour")),
        "{texts:?}"
    );
    place.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "the pier is closed",
    ]);
    let now = curated(&place);
    assert!(
        now.contains("the pier is closed") && now.contains(FIRST),
        "{now}"
    );
    assert!(!now.contains(RULE), "{now}");
}

#[test]
fn a_backup_and_a_state_are_not_mixed() {
    let place = one_session();
    for (words, message) in [
        (vec!["restore"], "required"),
        (
            vec!["restore", "some.tar", "--at", "now"],
            "cannot be used with",
        ),
        (
            vec!["restore", "some.tar", "--project", "tidepool"],
            "go with --at",
        ),
        (
            vec!["restore", "--at", "soon", "--project", "tidepool"],
            "names no state",
        ),
    ] {
        let output = place.run(&words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && error.contains(message),
            "{words:?}: {error}"
        );
    }
}

#[test]
fn a_pinned_memory_comes_first_stays_and_is_in_the_summary() {
    let place = one_session();
    // More notes than a section has room for: the oldest is in no file but its day's.
    for n in 0..14 {
        let note = format!("berth {n} belongs to the pilot boat number {n}");
        place.stdout(&["remember", "--scope", "project/tidepool", &note]);
    }
    let first = "berth 0 belongs to the pilot boat number 0";
    assert!(!curated(&place).contains(first));
    run(&place, &["pin", first]);
    let section = |text: &str| -> Vec<String> {
        let from = text
            .find("## What ada asked to remember")
            .expect("a section");
        let lines = text[from..]
            .lines()
            .skip(1)
            .take_while(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let lines = section(&curated(&place));
    assert!(
        lines[0].contains(first) && lines[0].contains("#pinned ^"),
        "{lines:?}"
    );
    place.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "one more berth is free",
    ]);
    let lines = section(&curated(&place));
    assert!(lines[0].contains(first), "{lines:?}");
    let summary = fs::read_to_string(memory(&place).join("memory_summary.md")).unwrap();
    assert!(
        summary.contains(first) && !summary.contains("#pinned"),
        "{summary}"
    );
    let listed = json(&place, &["list", "--query", first]);
    assert_eq!(listed["memories"][0]["pinned"], true, "{listed}");
    run(&place, &["unpin", first]);
    assert!(!curated(&place).contains("#pinned"));
    place.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "another berth is free",
    ]);
    assert!(!curated(&place).contains(first));
}

#[test]
fn a_pin_that_is_typed_by_hand_is_the_same() {
    let place = one_session();
    let text = curated(&place);
    let line = text
        .lines()
        .find(|line| line.contains("push"))
        .expect("a rule about pushing");
    fs::write(
        memory(&place).join("MEMORY.md"),
        text.replace(line, &line.replace(" ^", " #pinned ^")),
    )
    .unwrap();
    import(&place, "b.jsonl", &second());
    let now = curated(&place);
    let place_of = |words: &str| {
        now.lines()
            .position(|line| line.contains(words))
            .expect("a line")
    };
    assert!(place_of("don't push") < place_of("[9e37:L1]"), "{now}");
    assert!(now.contains("#pinned ^"), "{now}");
}

/// The message keeps its words, and a question about it is answered with what the person made of it.
#[test]
fn an_answer_has_the_words_that_a_person_gave_one_of_several_notes() {
    let place = TestPlace::new();
    for note in [
        "the pilot boat leaves at nine",
        "the harbour master is called Ada",
        "the slipway closes in winter",
    ] {
        place.stdout(&["remember", note]);
    }
    let listed = place.json(&["list", "--query", "pilot boat"]);
    let memory = &listed["memories"][0];
    let (id, scope) = (
        memory["id"].as_str().unwrap(),
        memory["scope"].as_str().unwrap(),
    );
    place.stdout(&["edit", id, "the pilot boat leaves at ten", "--scope", scope]);
    for question in ["when does the pilot boat leave", "pilot boat"] {
        let answer = place.json(&["recall", question]);
        assert_eq!(answer["results"][0]["text"], "the pilot boat leaves at ten");
        assert!(!answer.to_string().contains("at nine"), "{answer}");
    }
    let said = place.json(&["recall", "pilot boat", "--layer", "event"]);
    assert_eq!(said["results"][0]["text"], "the pilot boat leaves at nine");
}

/// What a person took back is no answer, although their message stays in the log.
#[test]
fn what_was_forgotten_is_no_answer_until_it_is_taken_back() {
    let place = TestPlace::new();
    for note in [
        "the pilot boat leaves at nine",
        "the harbour master is called Ada",
    ] {
        place.stdout(&["remember", note]);
    }
    let asked = || {
        let answer = place.json(&["recall", "who is the harbour master"]);
        answer["results"].to_string()
    };
    assert!(asked().contains("called Ada"));
    let forgotten = place.json(&["forget", "the harbour master is called Ada"]);
    assert!(!asked().contains("called Ada"), "{}", asked());
    assert!(place.stdout(&["show", "note:L2"]).contains("called Ada"));
    let scope = forgotten["changes"][0]["scope"]
        .as_str()
        .unwrap()
        .to_owned();
    place.stdout(&["undo", "--scope", &scope]);
    assert!(asked().contains("called Ada"), "{}", asked());
}
