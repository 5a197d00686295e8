//! Files are canonical: with the database gone, `rebuild` makes the same memory from the files alone.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::{TestPlace, TestSession};
use crate::kill::RandomShares;

/// Sessions that are imported.
const SESSIONS: u32 = 100;
/// Every so many sessions teach nothing.
const IDLE: u32 = 10;
/// What recall is asked, of sessions, of what a person wrote, and of what they took back.
const QUESTIONS: [&str; 20] = [
    "gauge of harbour 1",
    "gauge of harbour 42",
    "gauge of harbour 99",
    "charts of bay 3",
    "charts of bay 17",
    "charts of bay 64",
    "charts of bay 88",
    "cache limit",
    "what changed in the cache limit",
    "which bay keeps its charts in a file",
    "check the gauge before the tide table",
    "pier on mondays",
    "who is the harbour master",
    "lighthouse keeper",
    "harbour FIVE",
    "harbour 7",
    "what did we decide",
    "where we left off",
    "bay95.toml",
    "tide table",
];

/// Session `n`; a tenth of them teaches nothing.
fn session(n: u32) -> TestSession {
    let session = TestSession::new(n);
    if n.is_multiple_of(IDLE) {
        return session.human("hello").agent("Hello.");
    }
    session
        .human(&format!(
            "please always check the gauge of harbour {n} before the tide table is written"
        ))
        .agent(&format!("The gauge of harbour {n} is checked first now."))
        .human(&format!(
            "we decided to keep the charts of bay {n} in the file bay{n}.toml"
        ))
        .human(&format!("set the cache limit to {} entries", 20 + n))
        .agent("Done.")
}

fn write_transcripts(place: &TestPlace) {
    for n in 1..=SESSIONS {
        let folder = PathBuf::from(format!(
            "/nowhere/ada/{}",
            ["tidepool", "lagoon"][n as usize % 2]
        ));
        let session = session(n).in_folder(&folder, "main");
        place.write(&format!("{n:03}.jsonl"), &session.text());
    }
}

fn import(place: &TestPlace) -> Value {
    place.json(&["import", &place.transcripts().display().to_string()])
}

/// A memory of a hundred sessions and of a person's edits.
fn lived_in() -> TestPlace {
    let place = TestPlace::new();
    write_transcripts(&place);
    import(&place);
    let page = place.root().join("projects/tidepool/memory/MEMORY.md");
    let text = fs::read_to_string(&page).expect("a page");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let place_of = |lines: &[String], nth: usize| {
        let mut entries = (0..lines.len()).filter(|at| lines[*at].contains("the gauge of harbour"));
        entries.nth(nth).expect("an entry")
    };
    let edited = place_of(&lines, 3);
    lines[edited] = lines[edited].replace("the gauge of", "the gauge of harbour FIVE and of");
    let deleted = place_of(&lines, 4);
    lines.remove(deleted);
    lines.push("\n## Ada's own\n\n- the pier is closed on mondays\n".to_owned());
    fs::write(&page, lines.join("\n")).expect("a page");
    let scope = ["--scope", "project/tidepool"];
    place.stdout(
        &[
            &["remember", "the harbour master is called Grace"],
            &scope[..],
        ]
        .concat(),
    );
    place.stdout(&["remember", "the lighthouse keeper is called Joan"]);
    place.stdout(&["forget", "charts of bay 17", "--yes"]);
    place.stdout(&["pin", "charts of bay 95", "--project", "lagoon"]);
    // A question counts as a use of what it showed, which may change the ranks of entries.
    answers(&place);
    place.stdout(&["rebuild"]);
    place
}

fn lose_database(place: &TestPlace) {
    for name in ["daybook.db", "daybook.db-wal", "daybook.db-shm"] {
        let _ = fs::remove_file(place.root().join(name));
    }
    assert!(!place.root().join("daybook.db").exists());
}

/// What memory answers, in its order: texts, citations, and where each is from. Scores also depend on how often words
/// occur in transcripts.
fn answers(place: &TestPlace) -> Vec<Vec<Value>> {
    let layers = ["--layer", "entry", "--layer", "observation"];
    let asked = QUESTIONS.iter().map(|question| {
        let found = place.json(&[&["recall", question], &layers[..]].concat());
        let results = found["results"].as_array().expect("results").iter();
        let told = [
            "text", "citation", "layer", "file", "scope", "session", "trust",
        ];
        results
            .map(|result| {
                told.map(|field| result[field].clone())
                    .into_iter()
                    .collect()
            })
            .collect()
    });
    asked.collect()
}

/// The best answer to each question. Which of many equal ones come next depends on how rare their words are in
/// transcripts.
fn best(answers: &[Vec<Value>]) -> Vec<Option<&Value>> {
    answers.iter().map(|all| all.first()).collect()
}

/// What `show` prints for the citation of the first session's first event.
fn cited(place: &TestPlace) -> (bool, String) {
    let label = session(1).id()[..4].to_owned();
    let shown = place.run(&["show", &format!("{label}:L1")]);
    let text = [shown.stdout, shown.stderr].concat();
    (
        shown.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn rebuild(place: &TestPlace) -> String {
    let rebuilt = place.run(&["rebuild"]);
    let told = String::from_utf8_lossy(&rebuilt.stderr).into_owned();
    assert!(rebuilt.status.success(), "{told}");
    told
}

#[test]
fn a_lost_database_is_made_again_from_the_files_and_the_next_import_repeats_nothing() {
    let place = lived_in();
    let (files, known) = (place.memory(), answers(&place));
    let sessions = place.json(&["sessions", "--limit", "200"]);
    lose_database(&place);
    let refused = place.run(&["status"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && why.contains("rebuild"),
        "{why}"
    );
    let told = rebuild(&place);
    assert!(
        told.contains("the database was lost; 101 sessions"),
        "{told}"
    );
    assert_eq!(place.memory(), files);
    assert_eq!(answers(&place), known);
    let imported = import(&place);
    assert_eq!(imported["events"], 0, "{imported}");
    assert_eq!(
        imported["learned"]["read"].as_u64().unwrap_or(0),
        0,
        "{imported}"
    );
    assert_eq!(place.memory(), files);
    assert_eq!(answers(&place), known);
    assert_eq!(place.json(&["sessions", "--limit", "200"]), sessions);
    let (is_shown, words) = cited(&place);
    assert!(
        is_shown && words.contains("the gauge of harbour 1 "),
        "{words}"
    );
    place.stdout(&["doctor"]);
    // A person's words still win: what they took back does not return, and their edits are theirs.
    place.stdout(&["update", "--all"]);
    assert_eq!(place.memory(), files);
    // A database that was made again can be lost again.
    lose_database(&place);
    rebuild(&place);
    place.stdout(&["doctor"]);
    assert_eq!((place.memory(), answers(&place)), (files, known));
}

#[test]
fn without_transcripts_answers_stay_and_citations_say_that_their_source_expired() {
    let place = lived_in();
    let (files, known) = (place.memory(), answers(&place));
    fs::remove_dir_all(place.transcripts()).expect("a folder");
    lose_database(&place);
    rebuild(&place);
    assert_eq!(place.memory(), files);
    assert_eq!(best(&answers(&place)), best(&known));
    let (is_shown, why) = cited(&place);
    assert!(!is_shown && why.contains("source expired"), "{why}");
    // A session whose words are gone is not read again: that would take back what it taught.
    place.stdout(&["update", "--all", "--redo"]);
    assert_eq!(place.memory(), files);
    place.stdout(&["doctor"]);
    write_transcripts(&place);
    let imported = import(&place);
    assert_eq!(imported["events"], 0, "{imported}");
    assert_eq!(
        imported["learned"]["read"].as_u64().unwrap_or(0),
        0,
        "{imported}"
    );
    assert_eq!(place.memory(), files);
    assert_eq!(answers(&place), known);
    let (is_shown, words) = cited(&place);
    assert!(
        is_shown && words.contains("the gauge of harbour 1 "),
        "{words}"
    );
}

#[test]
fn events_that_arrive_later_are_learned_after_a_rebuild() {
    let place = lived_in();
    lose_database(&place);
    rebuild(&place);
    let grown = session(1)
        .in_folder(&PathBuf::from("/nowhere/ada/lagoon"), "main")
        .human("please always feed the seals of harbour 1 at noon");
    place.write("001.jsonl", &grown.text());
    let imported = import(&place);
    assert_eq!(imported["events"], 1, "{imported}");
    let found = place.stdout(&["recall", "seals of harbour 1", "--layer", "observation"]);
    assert!(found.contains("feed the seals"), "{found}");
}

#[test]
fn a_damaged_line_of_the_record_is_named_and_costs_no_other() {
    let place = lived_in();
    let files = place.memory();
    let sessions = place.root().join("record/sessions");
    let mut parts: Vec<PathBuf> = fs::read_dir(&sessions)
        .expect("a record")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    parts.sort();
    let is_of = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a part");
        text.contains("the gauge of harbour 2 ")
    };
    let part = parts
        .iter()
        .find(|path| is_of(path))
        .expect("the second session");
    let text = fs::read_to_string(part).expect("a part");
    let mut lines: Vec<&str> = text.lines().collect();
    let is_gauge = |line: &&str| line.contains("\"row\":\"evidence\"") && line.contains("gauge");
    let damaged = lines.iter().position(is_gauge).expect("evidence");
    lines[damaged] = "{\"row\":\"evid";
    fs::write(part, lines.join("\n")).expect("a part");
    fs::remove_dir_all(place.transcripts()).expect("a folder");
    lose_database(&place);
    let told = rebuild(&place);
    let name = part
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let named = format!("{name}:{}: it is no JSON", damaged + 1);
    assert!(
        told.contains("damaged, and left out") && told.contains(&named),
        "{told}"
    );
    let lost = |text: &str| text.contains("gauge of harbour 2 ");
    for (before, after) in files.iter().zip(place.memory()) {
        let differs = |line: &&str| !after.1.contains(*line) && !lost(line);
        let gone: Vec<&str> = before
            .1
            .lines()
            .filter(differs)
            .filter(|line| line.starts_with("- \""))
            .collect();
        assert!(gone.len() <= 1, "{}: {gone:?}", before.0);
    }
    let found = place.stdout(&["recall", "charts of bay 2", "--layer", "observation"]);
    assert!(found.contains("bay2.toml"), "{found}");
}

#[test]
fn a_rebuild_that_is_killed_is_repeated_with_the_same_result() {
    let place = lived_in();
    let (files, known) = (place.memory(), answers(&place));
    let began = Instant::now();
    lose_database(&place);
    rebuild(&place);
    let whole = began.elapsed();
    let mut shares = RandomShares(7);
    for round in 0..4 {
        lose_database(&place);
        for _ in 0..2 {
            let mut child = place.daybook(&["rebuild"]).spawn().expect("daybook starts");
            std::thread::sleep(whole.mul_f64(shares.share()).min(Duration::from_secs(20)));
            let _ = child.kill();
            let _ = child.wait();
        }
        rebuild(&place);
        assert_eq!(place.memory(), files, "round {round}");
    }
    // A file whose reading broke off is read to its end by the next import.
    import(&place);
    assert_eq!(place.memory(), files);
    assert_eq!(answers(&place), known);
}

#[test]
fn background_work_makes_a_lost_database_again_by_itself_and_empties_no_file() {
    let place = lived_in();
    let files = place.memory();
    let transcripts = place.transcripts().display().to_string();
    for command in [&["update", "--for", "10s"][..], &["import", &transcripts]] {
        lose_database(&place);
        let done = place.run(command);
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            told.contains("the database was lost"),
            "{command:?}: {told}"
        );
        assert_eq!(place.memory(), files);
    }
}

#[test]
fn without_database_and_record_no_file_is_emptied() {
    let place = lived_in();
    let own = |files: &[(String, String)]| -> Vec<String> {
        let lines = files.iter().flat_map(|(_, text)| text.lines());
        let entries = lines.filter(|line| line.starts_with("- \""));
        // A line that the engine no longer knows is the person's: it loses the engine's mark alone.
        let mut all: Vec<String> = entries
            .map(|line| {
                line.rsplit_once(" ^")
                    .map_or(line, |(text, _)| text)
                    .to_owned()
            })
            .collect();
        all.sort();
        all.dedup();
        all
    };
    let before = own(&place.memory());
    lose_database(&place);
    fs::remove_dir_all(place.root().join("record")).expect("a record");
    place.stdout(&[
        "remember",
        "--scope",
        "project/tidepool",
        "the harbour opens at nine",
    ]);
    place.stdout(&["update", "--all"]);
    let after = own(&place.memory());
    let gone: Vec<&String> = before.iter().filter(|line| !after.contains(line)).collect();
    assert_eq!(gone, Vec::<&String>::new());
}
