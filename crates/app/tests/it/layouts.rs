//! Profiles choose the files of memory: each layout is written, read back, answered from and changed by its own names, and
//! another profile converts it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::fixture::{TestPlace, teaching_session};

const PROFILES: [&str; 4] = ["daybook", "daycare", "codex", "mindroom"];
const RULE: &str = "always write the test first";

/// A place with one session, and a profile for its commands.
struct Profiled {
    place: TestPlace,
    profile: &'static str,
}

impl Profiled {
    fn new(profile: &'static str) -> Self {
        let place = TestPlace::new();
        let file = place.write("a.jsonl", &teaching_session(1).text());
        let profiled = Self { place, profile };
        profiled.stdout(&["import", &file.display().to_string()]);
        profiled
    }

    fn with_profile<'a>(&self, arguments: &[&'a str], set: &'a str) -> Vec<&'a str> {
        [arguments, &["--set", set]].concat()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let set = format!("profile={}", self.profile);
        self.place.stdout(&self.with_profile(arguments, &set))
    }

    fn fails(&self, arguments: &[&str]) -> bool {
        let set = format!("profile={}", self.profile);
        let output = self.place.run(&self.with_profile(arguments, &set));
        !output.status.success()
    }

    /// The folder of the memory: the project's, or the person's where they have one memory over all projects.
    fn folder(&self) -> String {
        let files = self.place.memory().into_iter();
        let mut folders = files.filter_map(|(name, _)| {
            let folder = name.strip_suffix("MEMORY.md")?;
            Some(folder.to_owned())
        });
        folders.next().expect("a memory file")
    }

    fn file(&self, path: &str) -> PathBuf {
        self.place.root().join(self.folder()).join(path)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap_or_default()
    }

    /// The files of the project's memory.
    fn files(&self) -> BTreeMap<String, String> {
        let all = self.place.memory().into_iter();
        let folder = self.folder();
        let own = all.filter_map(|(name, text)| {
            let below = name.strip_prefix(&folder)?;
            Some((below.to_owned(), text))
        });
        own.collect()
    }

    /// The log of the only day: its path and text.
    fn day(&self) -> (String, String) {
        let mut files = self.files().into_iter();
        let day = files.find(|(path, _)| path.starts_with("daily/"));
        day.expect("there is a day")
    }
}

/// The line of `text` that holds `words`, counted from 1.
fn line_of(text: &str, words: &str) -> usize {
    let mut lines = text.lines();
    let place = lines.position(|line| line.contains(words));
    place.expect("the words stand there") + 1
}

#[test]
fn another_profile_converts_the_files_at_the_next_update_and_back() {
    for from in PROFILES {
        let mut profiled = Profiled::new(from);
        fs::create_dir_all(profiled.file("topics")).expect("a folder");
        fs::write(profiled.file("topics/tides.md"), "Twice a day.\n").expect("a file");
        let before = profiled.files();
        for to in PROFILES.into_iter().filter(|to| *to != from) {
            profiled.profile = to;
            profiled.stdout(&["update"]);
            let files = profiled.files();
            let has = |start: &str| files.keys().any(|path| path.starts_with(start));
            assert_eq!(has("observations.md"), to == "daycare", "{from} to {to}");
            assert_eq!(has("raw_memories.md"), to == "codex", "{from} to {to}");
            assert_eq!(has("sessions/"), to == "daybook", "{from} to {to}");
            assert!(has("topics/tides.md") && has("MEMORY.md"), "{from} to {to}");
            let found = profiled.stdout(&["recall", "what comes before the code?"]);
            assert!(found.contains("test first"), "{found}");
        }
        profiled.profile = from;
        profiled.stdout(&["update"]);
        assert_eq!(profiled.files(), before, "back to {from}");
        assert_eq!(profiled.stdout(&["update"]).trim(), "Nothing is due.");
    }
}

#[test]
fn what_a_project_teaches_is_in_the_one_memory_that_daycare_has_for_a_person() {
    let profiled = Profiled::new("daycare");
    assert!(profiled.folder().starts_with("users/"));
    let files = profiled.place.memory();
    assert!(files.iter().all(|(name, _)| !name.starts_with("projects/")));
    assert!(
        profiled
            .read("observations.md")
            .to_lowercase()
            .contains(RULE)
    );
}

#[test]
fn m24_and_m44_a_line_of_mindroom_is_read_changed_and_deleted_by_its_id() {
    let profiled = Profiled::new("mindroom");
    let (path, text) = profiled.day();
    let line = text
        .lines()
        .find(|line| line.contains(RULE))
        .expect("it is logged");
    let id = line.split(['=', ']']).nth(1).expect("an id").to_owned();
    assert!(
        id.starts_with("m_") && line.contains("] [auto_flush:"),
        "{line}"
    );
    let why = profiled.stdout(&["why", &id]);
    assert!(
        why.contains(RULE) && why.contains(&format!("{path}:")),
        "{why}"
    );
    profiled.stdout(&["edit", &id, "the test comes first, always"]);
    assert!(
        profiled
            .read("MEMORY.md")
            .contains("the test comes first, always")
    );
    assert!(
        profiled
            .read(&path)
            .contains("the test comes first, always")
    );
    let found = profiled.stdout(&["recall", "what comes first, always?"]);
    assert!(found.contains("the test comes first, always"), "{found}");
    let text = profiled.read(&path);
    let place = format!(
        "file:{path}:{}",
        line_of(&text, "the test comes first, always")
    );
    profiled.stdout(&["forget", &place, "--yes"]);
    assert!(!profiled.read(&path).contains(RULE));
    for (path, text) in profiled.files() {
        assert!(!text.contains("the test comes first"), "{path}: {text}");
    }
    assert!(profiled.fails(&["why", "m_20260127135600_0000000000000"]));
}

#[test]
fn m25_and_m45_to_m48_prose_in_a_daily_file_has_the_name_of_its_place() {
    let profiled = Profiled::new("mindroom");
    let (path, text) = profiled.day();
    let prose = "The lighthouse is out of order.\nKeep this line.\n";
    fs::write(profiled.file(&path), format!("{text}{prose}")).expect("a file");
    profiled.stdout(&["consolidate"]);
    let found = profiled.stdout(&["recall", "is the lighthouse out of order?", "--limit", "1"]);
    assert!(
        found.contains("The lighthouse is out of order.") && found.contains(&path),
        "{found}"
    );
    assert!(!found.contains("Keep this line."), "{found}");
    // MindRoom's own path of a day, and ours.
    let shipped = path.replace("daily/", "memory/");
    let place = format!(
        "file:{shipped}:{}",
        line_of(&profiled.read(&path), "lighthouse")
    );
    profiled.stdout(&["edit", &place, "The lighthouse works again."]);
    let edited = format!("{text}The lighthouse works again.\nKeep this line.\n");
    assert_eq!(profiled.read(&path), edited);
    assert!(profiled.fails(&["edit", &place, " "]));
    assert_eq!(profiled.read(&path), edited);
    profiled.stdout(&["forget", &place, "--yes"]);
    assert_eq!(profiled.read(&path), format!("{text}Keep this line.\n"));
    for outside in [
        "file:docs/runbook.md:1",
        "file:SOUL.md:1",
        "file:../../daybook.db:1",
    ] {
        assert!(profiled.fails(&["forget", outside, "--yes"]), "{outside}");
    }
}

#[test]
fn a_block_of_daycare_is_explained_edited_and_forgotten_by_any_of_its_lines() {
    let profiled = Profiled::new("daycare");
    let log = profiled.read("observations.md");
    assert!(log.starts_with("## ") && !log.contains('^'), "{log}");
    let line = line_of(&log, RULE);
    let why = profiled.stdout(&["why", &format!("observations.md:{line}")]);
    assert!(
        why.contains(RULE) && why.contains("observations.md:"),
        "{why}"
    );
    let changed = log.replace("write the test first", "write the test before the code");
    fs::write(profiled.file("observations.md"), changed).expect("a file");
    profiled.stdout(&["consolidate"]);
    assert!(
        profiled
            .read("MEMORY.md")
            .contains("write the test before the code")
    );
    let found = profiled.stdout(&["recall", "what comes before the code?"]);
    assert!(found.contains("write the test before the code"), "{found}");
    let heading = format!("observations.md:{}", line - 1);
    profiled.stdout(&["forget", &heading, "--yes"]);
    assert!(!profiled.read("observations.md").contains(RULE));
    for (path, text) in profiled.files() {
        assert!(!text.contains("the test before the code"), "{path}: {text}");
    }
}

#[test]
fn a_line_of_raw_memories_is_edited_and_forgotten_in_every_file_at_once() {
    let profiled = Profiled::new("codex");
    let raw = profiled.read("raw_memories.md");
    let states_it = |line: &str| line.starts_with("- ") && line.to_lowercase().contains(RULE);
    let line = raw.lines().position(states_it).expect("it is stated") + 1;
    let place = format!("raw_memories.md:{line}");
    profiled.stdout(&["edit", &place, "Write the check before the change."]);
    let shows = |words: &str| {
        let files = profiled.files();
        let holds = |file: &str| files[file].contains(words);
        (holds("raw_memories.md"), holds("MEMORY.md"))
    };
    assert_eq!(shows("Write the check before the change."), (true, true));
    let edited = profiled.read("raw_memories.md");
    assert_eq!(
        edited.matches("## Thread").count(),
        raw.matches("## Thread").count()
    );
    assert!(profiled.fails(&["edit", "raw_memories.md:3", "no memory"]));
    profiled.stdout(&["forget", "Write the check before the change."]);
    assert_eq!(shows("Write the check before the change."), (false, false));
}

#[test]
fn a_line_of_memory_has_the_id_of_mindroom() {
    let profiled = Profiled::new("mindroom");
    let states_it = |line: &&str| line.to_lowercase().contains(RULE) && line.contains("[id=m_");
    let memory = profiled.read("MEMORY.md");
    let line = memory.lines().find(states_it).expect("a line with an id");
    let id = line
        .strip_prefix("- [id=")
        .and_then(|rest| rest.split_once(']'));
    let (id, _) = id.expect("an id");
    profiled.stdout(&["edit", id, "Write the check before the change."]);
    let memory = profiled.read("MEMORY.md");
    assert!(memory.contains(&format!("- [id={id}] Write the check before the change.")));
    profiled.stdout(&["forget", id]);
    let (_, day) = profiled.day();
    let memory = profiled.read("MEMORY.md");
    assert!(!memory.contains("the check before") && !day.contains("the check before"));
}
