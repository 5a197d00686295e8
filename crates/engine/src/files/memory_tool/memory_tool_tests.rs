use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::files::stamp::{CommitAuthor, CommitStamp, Person};
use crate::files::{FilesConfig, Folder, LockOutcome};

/// A memory folder on which commands run.
struct ToolFolder {
    dir: tempfile::TempDir,
    folder: Folder,
}

impl ToolFolder {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path(), FilesConfig::default()).unwrap();
        Self { dir, folder }
    }

    fn run(&self, flavour: Flavour, command: Value) -> ToolAnswer {
        let command: MemoryToolCommand = serde_json::from_value(command).unwrap();
        let LockOutcome::Held(lock) = self.folder.try_lock(Duration::ZERO).unwrap() else {
            panic!("the lock is free");
        };
        let stamp = CommitStamp {
            time_ms: 1,
            person: Person::default(),
        };
        let (mut answer, message) = (None, command.subject());
        let author = CommitAuthor::Person;
        let outcome = lock.write_as(author, &stamp, &message, &|| true, |snapshot| {
            let (said, changes) = command.run(flavour, &Redactor::standard(), Some(snapshot))?;
            answer = Some(said);
            Ok(changes)
        });
        let _ = outcome.unwrap();
        answer.unwrap()
    }

    #[track_caller]
    fn check(&self, command: Value, expected: &str) {
        let answer = self.run(Flavour::Documented, command.clone());
        assert_eq!(answer.content, expected, "{command}");
    }

    fn create(&self, path: &str, text: &str) {
        let command = json!({"command": "create", "path": path, "file_text": text});
        let answer = self.run(Flavour::Documented, command);
        assert!(!answer.is_error, "{}", answer.content);
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.dir.path().join(file)).unwrap_or_default()
    }
}

#[test]
fn the_results_have_the_documented_words() {
    let tool = ToolFolder::new();
    let path = "/memories/notes/tides.md";
    tool.check(
        json!({"command": "create", "path": path, "file_text": "high\nlow\n"}),
        "File created successfully at: /memories/notes/tides.md",
    );
    tool.check(
        json!({"command": "create", "path": path, "file_text": "x"}),
        "Error: File /memories/notes/tides.md already exists",
    );
    tool.check(
        json!({"command": "view", "path": "/memories"}),
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n\
         9B\t/memories\n9B\t/memories/notes\n9B\t/memories/notes/tides.md",
    );
    tool.check(
        json!({"command": "view", "path": path, "view_range": [2, -1]}),
        "Here's the content of /memories/notes/tides.md with line numbers:\n     2\tlow\n     3\t",
    );
    tool.check(
        json!({"command": "view", "path": "/memories/none"}),
        "The path /memories/none does not exist. Please provide a valid path.",
    );
    tool.check(
        json!({"command": "str_replace", "path": path, "old_str": "low", "new_str": "ebb"}),
        "The memory file has been edited.\n     1\thigh\n     2\tebb\n     3\t",
    );
    tool.check(
        json!({"command": "str_replace", "path": path, "old_str": "low", "new_str": "ebb"}),
        "No replacement was performed, old_str `low` did not appear verbatim in /memories/notes/tides.md.",
    );
    tool.check(
        json!({"command": "str_replace", "path": path, "old_str": "h", "new_str": "ebb"}),
        "No replacement was performed. Multiple occurrences of old_str `h` in lines: 1, 1. Please ensure it is unique",
    );
    tool.check(
        json!({"command": "str_replace", "path": "/memories/notes", "old_str": "h", "new_str": ""}),
        "Error: The path /memories/notes does not exist. Please provide a valid path.",
    );
    tool.check(
        json!({"command": "insert", "path": path, "insert_line": 1, "insert_text": "turn\n"}),
        "The file /memories/notes/tides.md has been edited.",
    );
    assert_eq!(tool.read("notes/tides.md"), "high\nturn\nebb\n");
    tool.check(
        json!({"command": "insert", "path": path, "insert_line": 4, "insert_text": "x"}),
        "Error: Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]",
    );
    tool.check(
        json!({"command": "insert", "path": "/memories/none", "insert_line": 0, "insert_text": "x"}),
        "Error: The path /memories/none does not exist",
    );
    tool.check(
        json!({"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/sea/notes"}),
        "Successfully renamed /memories/notes to /memories/sea/notes",
    );
    assert_eq!(tool.read("sea/notes/tides.md"), "high\nturn\nebb\n");
    tool.check(
        json!({"command": "rename", "old_path": "/memories/none", "new_path": "/memories/sea"}),
        "Error: The destination /memories/sea already exists",
    );
    tool.check(
        json!({"command": "rename", "old_path": "/memories/none", "new_path": "/memories/x"}),
        "Error: The path /memories/none does not exist",
    );
    tool.check(
        json!({"command": "delete", "path": "/memories/sea"}),
        "Successfully deleted /memories/sea",
    );
    tool.check(
        json!({"command": "delete", "path": "/memories/sea"}),
        "Error: The path /memories/sea does not exist",
    );
    tool.check(
        json!({"command": "delete", "path": "/memories"}),
        "Error: Cannot delete the /memories directory itself",
    );
}

#[test]
fn the_words_of_the_python_package_are_a_flavour() {
    let tool = ToolFolder::new();
    tool.create("/memories/a/b.md", &"x".repeat(2048));
    for (command, expected) in [
        (
            json!({"command": "view", "path": "/memories"}),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n\
             2K\t/memories\n2K\t/memories/a/\n2K\t/memories/a/b.md",
        ),
        (
            json!({"command": "create", "path": "/memories/a", "file_text": ""}),
            "File /memories/a already exists",
        ),
        (
            json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": ""}),
            "The path /memories/a is not a file.",
        ),
        (
            json!({"command": "insert", "path": "/memories/a/b.md", "insert_line": -1, "insert_text": ""}),
            "Invalid `insert_line` parameter: -1. It should be within the range [0, 1].",
        ),
        (
            json!({"command": "delete", "path": "/etc"}),
            "Path must start with /memories, got: /etc",
        ),
        (
            json!({"command": "view", "path": "/memories/../x"}),
            "Path /memories/../x would escape /memories directory",
        ),
    ] {
        let answer = tool.run(Flavour::PythonSdk, command.clone());
        assert_eq!(answer.content, expected, "{command}");
    }
}

#[test]
fn what_cannot_be_a_file_is_a_failure_and_changes_nothing() {
    let tool = ToolFolder::new();
    tool.create("/memories/a", "text");
    let before = tool.folder.head().unwrap();
    for command in [
        json!({"command": "create", "path": "/memories/a/b", "file_text": "x"}),
        json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a/b"}),
        json!({"command": "create", "path": "/memories/.env", "file_text": "x"}),
        json!({"command": "create", "path": "/memories/big", "file_text": "x".repeat(9 << 20)}),
        json!({"command": "rename", "old_path": "/memories", "new_path": "/memories/b"}),
    ] {
        let answer = tool.run(Flavour::Documented, command);
        assert!(answer.is_error, "{}", answer.content);
        assert!(answer.content.starts_with("Error: "), "{}", answer.content);
    }
    assert_eq!(tool.folder.head().unwrap(), before);
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let tool = ToolFolder::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "zephyrine").unwrap();
    std::os::unix::fs::symlink(outside.path(), tool.dir.path().join("out")).unwrap();
    for command in [
        json!({"command": "view", "path": "/memories/out/secret"}),
        json!({"command": "create", "path": "/memories/out/new", "file_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/out/secret", "old_str": "z", "new_str": ""}),
        json!({"command": "delete", "path": "/memories/out"}),
    ] {
        let answer = tool.run(Flavour::Documented, command);
        assert!(answer.is_error, "{}", answer.content);
    }
    let kept = std::fs::read_to_string(outside.path().join("secret")).unwrap();
    assert_eq!(kept, "zephyrine");
    assert!(!outside.path().join("new").exists());
}

#[test]
fn edits_by_hand_are_in_the_history_and_secrets_are_hidden() {
    let tool = ToolFolder::new();
    let token = format!("gh{}_{}", 'p', "1aB3dE5gH7jK9".repeat(3));
    std::fs::write(tool.dir.path().join("mine.md"), format!("my {token}\n")).unwrap();
    let view = json!({"command": "view", "path": "/memories/mine.md"});
    let shown = tool.run(Flavour::Documented, view);
    assert!(
        !shown.is_error && !shown.content.contains(&token),
        "{}",
        shown.content
    );
    tool.create("/memories/theirs.md", &format!("a {token}\n"));
    assert!(!tool.read("theirs.md").contains(&token));
    tool.check(
        json!({"command": "delete", "path": "/memories/mine.md"}),
        "Successfully deleted /memories/mine.md",
    );
    let log = tool.folder.log(10).unwrap();
    let file = FilePath::new("mine.md").unwrap();
    let was = log
        .iter()
        .find_map(|commit| tool.folder.read_at(commit.id, &file).unwrap());
    assert_eq!(was, Some(format!("my {token}\n").into_bytes()));
}

#[test]
fn a_folder_that_does_not_exist_is_an_empty_one() {
    let redactor = Redactor::standard();
    for (command, expected) in [
        (
            json!({"command": "view", "path": "/memories/"}),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories",
        ),
        (
            json!({"command": "view", "path": "/memories/a"}),
            "The path /memories/a does not exist. Please provide a valid path.",
        ),
        (
            json!({"command": "delete", "path": "/memories/a"}),
            "Error: The path /memories/a does not exist",
        ),
    ] {
        let command: MemoryToolCommand = serde_json::from_value(command).unwrap();
        assert!(!command.creates());
        let (answer, changes) = command.run(Flavour::Documented, &redactor, None).unwrap();
        assert_eq!(answer.content, expected);
        assert_eq!(changes, FileChanges::none());
    }
}
