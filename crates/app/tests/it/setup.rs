//! What `daybook setup` does to the settings of the agents, as files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::fixture::daybook;

/// A home folder of its own.
pub(crate) struct HostHome {
    folder: TempDir,
}

impl HostHome {
    /// With Claude Code and Codex in it.
    fn new() -> Self {
        Self::with(&[".claude", ".codex"])
    }

    pub(crate) fn with(agents: &[&str]) -> Self {
        let home = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        for agent in agents {
            fs::create_dir_all(home.at(agent)).expect("a folder");
        }
        home
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).expect("a file")
    }

    pub(crate) fn value(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = daybook(&self.at("memory"), self.folder.path(), &["setup"]);
        command.env_remove("DAYBOOK_HOME").args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("daybook starts")
    }

    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "setup {arguments:?} failed: {error}"
        );
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    pub(crate) fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "setup {arguments:?} did not fail");
        String::from_utf8(output.stderr).expect("output is UTF-8")
    }

    /// All files below the home, but for the copies that setup keeps.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        self.files_where(|path| !is_copy(path))
    }

    /// The copies that setup keeps.
    fn copies(&self) -> Vec<(PathBuf, String)> {
        self.files_where(is_copy)
    }

    fn files_where(&self, keeps: impl Fn(&Path) -> bool) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        collect(self.folder.path(), &mut files);
        files.retain(|(path, _)| keeps(path));
        files.sort();
        files
    }
}

fn is_copy(path: &Path) -> bool {
    path.to_string_lossy().contains("daybook-backup")
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => collect(&path, files),
            false => {
                let bytes = fs::read(&path).expect("a file");
                files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
            }
        }
    }
}

/// The commands that an event runs.
fn commands(settings: &Value, event: &str) -> Vec<String> {
    let groups = settings["hooks"][event]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let handlers = groups
        .iter()
        .flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default());
    handlers
        .map(|handler| handler["command"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_fresh_home_gets_hooks_and_servers_and_gives_them_back() {
    let home = HostHome::new();
    let said = home.stdout(&["--yes"]);
    assert!(said.contains("/hooks"), "{said}");
    let program = env!("CARGO_BIN_EXE_daybook");
    let claude = home.value(".claude/settings.json");
    let codex = home.value(".codex/hooks.json");
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ] {
        assert_eq!(
            commands(&claude, event)[0],
            format!("{program} hook claude-code")
        );
        assert_eq!(commands(&codex, event)[0], format!("{program} hook codex"));
    }
    assert_eq!(claude["hooks"]["Stop"][0]["hooks"][1]["async"], true);
    assert_eq!(codex["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    let server = &home.value(".claude.json")["mcpServers"]["daybook"];
    assert_eq!(
        (server["command"].as_str(), &server["args"][0]),
        (Some(program), &Value::from("mcp"))
    );
    assert!(
        home.read(".codex/config.toml")
            .starts_with("[mcp_servers.daybook]\n")
    );
    home.stdout(&["--undo", "--yes"]);
    assert_eq!(home.files(), []);
}

#[test]
fn there_and_back_again_leaves_nothing_either() {
    let home = HostHome::new();
    for _ in 0..3 {
        home.stdout(&["--yes"]);
        assert_eq!(home.files().len(), 4);
        home.stdout(&["--undo", "--yes"]);
        assert_eq!(home.files(), []);
        assert_eq!(home.copies(), []);
        assert!(
            home.stdout(&["--undo", "--yes"])
                .starts_with("Nothing to undo")
        );
    }
}

#[test]
fn copies_do_not_pile_up() {
    let home = HostHome::new();
    home.write(".claude/settings.json", ODD[7]);
    for round in 0..5 {
        home.stdout(&["--yes"]);
        assert!(home.copies().iter().any(|(_, text)| text == ODD[7]));
        let elsewhere = home.at(&format!("memory-{round}"));
        home.stdout(&["--yes", "--root", &elsewhere.display().to_string()]);
        assert!(home.copies().len() <= 6, "{:?}", home.copies());
        home.stdout(&["--undo", "--yes"]);
        assert_eq!(home.read(".claude/settings.json"), ODD[7]);
        assert!(home.copies().len() <= 2, "{:?}", home.copies());
    }
}

#[test]
fn twice_is_once() {
    let home = HostHome::new();
    home.stdout(&["--yes"]);
    let before = home.files();
    assert!(
        home.stdout(&["--yes"])
            .starts_with("Nothing to change: Daybook is set up for Claude Code and Codex")
    );
    assert_eq!(home.files(), before);
}

#[test]
fn nobody_is_asked_without_a_terminal_and_a_dry_run_changes_nothing() {
    let home = HostHome::new();
    assert!(home.refusal(&[]).contains("--yes"));
    let said = home.stdout(&["--dry-run", "claude-code"]);
    assert!(
        said.contains("settings.json  (new)") && said.contains("+ {"),
        "{said}"
    );
    assert!(!said.contains("codex"), "{said}");
    assert_eq!(home.files(), []);
}

#[test]
fn only_the_agents_that_are_there_are_told() {
    let home = HostHome::new();
    fs::remove_dir(home.at(".codex")).expect("a folder");
    home.stdout(&["--yes"]);
    assert!(!home.at(".codex").exists());
    fs::remove_dir_all(home.at(".claude")).expect("a folder");
    fs::remove_file(home.at(".claude.json")).expect("a file");
    assert!(home.refusal(&["--yes"]).contains("no agent was found"));
}

/// Settings as people keep them.
const ODD: [&str; 9] = [
    "",
    " \n",
    "{}",
    "{\n}\n",
    "{\"hooks\":{\"Stop\":[],\"SessionEnd\":[ ]}}",
    "\u{feff}{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [ ]\r\n\t}\r\n}\r\n",
    "{ \"hooks\": { }, \"a\": 1, \"a\": 2 }\n",
    "// mine\n{\n      \"model\": \"opus\", // good\n      \"hooks\": {\n  \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"},]}, /* ] */],\n      },\n}\n",
    "{\n  \"hooks\": {\n    \"Unheard\": 3,\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"say done\"\n          }\n        ]\n      }\n    ]\n  }\n}",
];

#[test]
fn undo_gives_the_very_bytes_back() {
    for odd in ODD {
        let home = HostHome::new();
        home.write(".claude/settings.json", odd);
        home.write(".codex/hooks.json", odd);
        home.write(".claude.json", "{\"mcpServers\": {}, \"numStartups\": 3}");
        home.write(
            ".codex/config.toml",
            "# mine\r\nmodel = 'x'\r\n\r\n[mcp_servers]\r\n",
        );
        let before = home.files();
        home.stdout(&["--yes"]);
        assert_ne!(home.files(), before);
        assert!(home.stdout(&["--yes"]).contains("Nothing to change"));
        home.stdout(&["--undo", "--yes"]);
        assert_eq!(home.files(), before);
    }
}

#[test]
fn hooks_of_the_person_stay_where_they_are() {
    let home = HostHome::new();
    home.write(".claude/settings.json", ODD[8]);
    home.stdout(&["--yes"]);
    let settings = home.value(".claude/settings.json");
    let stop = commands(&settings, "Stop");
    assert_eq!((stop[0].as_str(), stop.len()), ("say done", 3));
    assert_eq!(settings["hooks"]["Unheard"], 3);
    // Only lines were added.
    let text = home.read(".claude/settings.json");
    let mut lines = text.lines();
    for line in ODD[8].lines().map(|line| line.trim_end_matches(',')) {
        assert!(
            lines.any(|new| new.trim_end_matches(',') == line),
            "{line} is gone from {text}"
        );
    }
}

#[test]
fn undo_keeps_what_the_person_changed_since() {
    let home = HostHome::new();
    home.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    home.stdout(&["--yes"]);
    let later = home.read(".claude/settings.json").replace("opus", "haiku");
    let later = later.replace("\n  }\n}", "\n  },\n  \"mine\": [1]\n}");
    home.write(".claude/settings.json", &later);
    home.stdout(&["--undo", "--yes"]);
    assert_eq!(
        home.read(".claude/settings.json"),
        "{\n  \"model\": \"haiku\",\n  \"mine\": [1]\n}\n"
    );
}

#[test]
fn an_older_entry_is_replaced() {
    let home = HostHome::new();
    home.stdout(&["--yes"]);
    let program = env!("CARGO_BIN_EXE_daybook");
    for name in [
        ".claude/settings.json",
        ".codex/hooks.json",
        ".claude.json",
        ".codex/config.toml",
    ] {
        home.write(name, &home.read(name).replace(program, "/opt/old/daybook"));
    }
    home.stdout(&["--yes"]);
    for (path, text) in home.files() {
        assert!(!text.contains("/opt/old"), "{}: {text}", path.display());
    }
    assert_eq!(commands(&home.value(".codex/hooks.json"), "Stop").len(), 2);
}

#[test]
fn a_named_data_folder_is_written_into_every_command() {
    let home = HostHome::new();
    let root = home.at("my memory");
    home.stdout(&["--yes", "--root", &root.display().to_string()]);
    let said = &commands(&home.value(".claude/settings.json"), "Stop")[0];
    let end = format!(" --root '{}' hook claude-code", root.display());
    assert!(said.ends_with(&end), "{said}");
    assert_eq!(
        home.value(".claude.json")["mcpServers"]["daybook"]["args"][0],
        "--root"
    );
    home.stdout(&["--undo", "--yes"]);
    assert_eq!(home.files(), []);
}

#[test]
fn servers_are_left_alone_when_told() {
    let home = HostHome::new();
    home.stdout(&["--yes", "--no-mcp"]);
    assert!(!home.at(".claude.json").exists() && !home.at(".codex/config.toml").exists());
}

#[test]
fn a_file_that_cannot_be_changed_safely_is_named_and_left_and_other_agents_are_set_up() {
    for (name, text, says) in [
        (
            ".claude/settings.json",
            "{\"hooks\": null}",
            "\"hooks\" is null, not an object",
        ),
        (
            ".claude/settings.json",
            "{\"hooks\": {\"Stop\": 1}}",
            "\"Stop\" is a number, not a list",
        ),
        (".claude/settings.json", "{\"model\": ", "it is not JSON"),
        (".codex/hooks.json", "[]", "something other than an object"),
        (
            ".claude.json",
            "{\"mcpServers\": []}",
            "\"mcpServers\" is a list",
        ),
        (
            ".codex/config.toml",
            "mcp_servers = 1",
            "\"mcp_servers\" is integer",
        ),
        (".codex/config.toml", "a = [", "it is not TOML"),
    ] {
        let home = HostHome::new();
        home.write(name, text);
        let broken = if name.contains("codex") {
            "codex"
        } else {
            "claude"
        };
        let of_broken = |path: &Path| path.to_string_lossy().contains(broken);
        let before = home.files_where(of_broken);
        let error = home.refusal(&["--yes"]);
        assert!(error.contains(says) && error.contains(name), "{error}");
        assert_eq!(home.files_where(of_broken), before);
        assert_eq!(home.files_where(|path| !of_broken(path)).len(), 2);
    }
}

#[test]
fn folders_named_by_the_environment_are_used() {
    let home = HostHome::new();
    let mut command = home.command(&["--yes", "claude-code", "codex"]);
    command
        .env("CLAUDE_CONFIG_DIR", home.at("c"))
        .env("CODEX_HOME", home.at("x"));
    assert!(command.output().expect("daybook starts").status.success());
    for name in [
        "c/settings.json",
        "c/.claude.json",
        "x/hooks.json",
        "x/config.toml",
    ] {
        assert!(home.at(name).is_file(), "{name}");
    }
    assert!(!home.at(".claude.json").exists());
}

#[test]
fn json_says_what_was_done() {
    let home = HostHome::new();
    let said: Value = serde_json::from_str(&home.stdout(&["--yes", "--json"])).expect("JSON");
    assert_eq!(said["changes"].as_array().map(Vec::len), Some(4));
    assert_eq!(said["changes"][0]["done"], true);
}

#[test]
fn remarks_say_why_a_host_would_run_nothing() {
    let home = HostHome::new();
    home.write(
        ".claude/settings.json",
        "{\n  // why\n  \"disableAllHooks\": true\n}\n",
    );
    home.write(
        ".codex/config.toml",
        "[features]\nhooks = false\n\n[[hooks.Stop]]\nhooks = []\n",
    );
    let said = home.stdout(&["--yes"]);
    for words in [
        "comments or trailing commas",
        "disableAllHooks",
        "hooks = false",
        "hooks of its own",
    ] {
        assert!(said.contains(words), "{words} is missing from {said}");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_linked_file_is_changed_where_it_is() {
        let home = HostHome::new();
        fs::create_dir(home.at("dotfiles")).expect("a folder");
        home.write("dotfiles/claude.json", "{\"model\": \"opus\"}\n");
        symlink("../dotfiles/claude.json", home.at(".claude/settings.json")).expect("a link");
        home.stdout(&["--yes"]);
        assert!(home.at(".claude/settings.json").is_symlink());
        assert!(
            home.read("dotfiles/claude.json")
                .contains("hook claude-code")
        );
        let copies = fs::read_dir(home.at(".claude"))
            .expect("a folder")
            .flatten();
        let copy = copies.map(|entry| entry.file_name().into_string().expect("a name"));
        assert_eq!(
            copy.filter(|name| name.starts_with("settings.json.daybook-backup-"))
                .count(),
            1
        );
        home.stdout(&["--undo", "--yes"]);
        assert_eq!(home.read("dotfiles/claude.json"), "{\"model\": \"opus\"}\n");
        assert!(home.at(".claude/settings.json").is_symlink());
    }

    #[test]
    fn a_file_keeps_its_mode_and_so_does_its_copy() {
        let home = HostHome::new();
        home.write(".claude/settings.json", "{}\n");
        fs::set_permissions(
            home.at(".claude/settings.json"),
            fs::Permissions::from_mode(0o640),
        )
        .expect("a mode");
        home.stdout(&["--yes", "claude-code"]);
        for entry in fs::read_dir(home.at(".claude"))
            .expect("a folder")
            .flatten()
        {
            let mode = entry.metadata().expect("metadata").mode() & 0o777;
            assert_eq!(mode, 0o640, "{}", entry.path().display());
        }
        assert_eq!(
            fs::metadata(home.at(".claude.json"))
                .expect("a file")
                .mode()
                & 0o777,
            0o600
        );
    }

    #[test]
    fn a_read_only_file_is_left_as_it_is() {
        let home = HostHome::new();
        home.write(".claude/settings.json", "{}\n");
        fs::set_permissions(
            home.at(".claude/settings.json"),
            fs::Permissions::from_mode(0o444),
        )
        .expect("a mode");
        let before = home.files();
        let error = home.refusal(&["--yes", "claude-code"]);
        assert!(
            error.contains("settings.json is read-only; nothing was changed"),
            "{error}"
        );
        assert_eq!(home.files(), before);
    }
}
