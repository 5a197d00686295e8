//! Transcripts written for the tests, and a data folder of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of transcripts and a data folder, gone afterwards.
pub(crate) struct TestPlace {
    folder: TempDir,
    /// The database, where it is not a file in the data folder.
    store: Option<String>,
}

impl TestPlace {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            store: None,
        }
    }

    /// One whose memory is kept in the PostgreSQL database at `address`.
    pub(crate) fn sharing(address: &str) -> Self {
        let mut place = Self::new();
        place.keep_in(address);
        place
    }

    /// From now on memory is kept in the PostgreSQL database at `address`.
    pub(crate) fn keep_in(&mut self, address: &str) {
        let mut parts = address.split(' ').filter_map(|part| part.split_once('='));
        let mut part = |name| {
            let part = parts.find(|part| part.0 == name);
            part.expect("an address names host, user and database").1
        };
        let host = part("host").replace('/', "%2F");
        let (user, database) = (part("user"), part("dbname"));
        self.store = Some(format!("postgres://{user}@{host}/{database}"));
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(crate) fn transcripts(&self) -> PathBuf {
        let folder = self.folder.path().join("transcripts");
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.transcripts().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// `daybook` on this place's data folder, with no terminal and nothing of the machine's own.
    pub(crate) fn daybook(&self, arguments: &[&str]) -> Command {
        let mut command = daybook(&self.root(), self.folder.path(), arguments);
        if let Some(store) = &self.store {
            command.env("DAYBOOK_STORE", store);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.daybook(arguments).output().expect("daybook starts")
    }

    /// The home folder of the runs.
    pub(crate) fn home(&self) -> &Path {
        self.folder.path()
    }

    /// A folder that looks like a checkout of ada's tidepool.
    pub(crate) fn checkout(&self, name: &str, branch: &str) -> PathBuf {
        let folder = self.folder.path().join(name);
        let git = folder.join(".git");
        for inside in ["objects", "refs/heads"] {
            fs::create_dir_all(git.join(inside)).expect("a folder");
        }
        fs::write(git.join("HEAD"), format!("ref: refs/heads/{branch}\n")).expect("a file");
        let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\
                      [remote \"origin\"]\n\turl = git@github.com:ada/tidepool.git\n";
        fs::write(git.join("config"), config).expect("a file");
        folder
    }

    /// What a host reads from a hook, which must end well whatever happens.
    pub(crate) fn hook(&self, host: &str, payload: &str) -> String {
        use std::io::Write;
        let mut child = self
            .daybook(&["hook", host])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("daybook starts");
        if let Some(mut input) = child.stdin.take() {
            // One that does not read its payload has ended already.
            let _ = input.write_all(payload.as_bytes());
        }
        let output = child.wait_with_output().expect("daybook ends");
        assert!(output.status.success(), "a hook failed: {payload}");
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    /// Standard output of a run that must succeed.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "daybook {arguments:?} failed: {error}"
        );
        String::from_utf8(output.stdout).expect("output is UTF-8")
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        serde_json::from_str(&self.stdout(&all)).expect("only JSON on standard output")
    }

    /// All memory files, with their content.
    pub(crate) fn memory(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        for kind in ["projects", "users", "agents", "teams", "rooms"] {
            collect(&self.root().join(kind), &self.root(), &mut files);
        }
        files.sort();
        files
    }
}

pub(crate) fn daybook(root: &Path, home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daybook"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home)
        .env("DAYBOOK_HOME", root)
        .env("DAYBOOK_PERSON", "ada")
        .env("DAYBOOK_TIMEZONE", "UTC")
        .current_dir(home)
        .stdin(std::process::Stdio::null());
    command
}

fn collect(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, root, files);
        } else if let (Ok(text), Ok(name)) = (fs::read_to_string(&path), path.strip_prefix(root)) {
            files.push((name.display().to_string(), text));
        }
    }
}

/// A Claude Code session, built line by line.
#[derive(Clone)]
pub(crate) struct TestSession {
    id: String,
    folder: String,
    branch: String,
    lines: Vec<Value>,
}

impl TestSession {
    pub(crate) fn new(n: u32) -> Self {
        let id = format!(
            "{:08x}-1c2d-4e3f-8a4b-{n:012x}",
            n.wrapping_mul(0x9e37_79b9)
        );
        Self {
            id,
            folder: "/nowhere/ada/tidepool".to_owned(),
            branch: "main".to_owned(),
            lines: Vec::new(),
        }
    }

    /// The same session, as if it had happened in this folder, on this branch.
    pub(crate) fn in_folder(mut self, folder: &Path, branch: &str) -> Self {
        self.folder = folder.display().to_string();
        self.branch = branch.to_owned();
        for line in &mut self.lines {
            line["cwd"] = self.folder.clone().into();
            line["gitBranch"] = self.branch.clone().into();
        }
        self
    }

    /// The host's id of it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn human(self, words: &str) -> Self {
        self.line("user", json!(words))
    }

    pub(crate) fn agent(self, words: &str) -> Self {
        self.line("assistant", json!([{"type": "text", "text": words}]))
    }

    pub(crate) fn command(self, command: &str, answer: &str, failed: bool) -> Self {
        let call = format!("toolu_{}", self.lines.len());
        let input = json!({"command": command});
        self.line("assistant", json!([{"type": "tool_use", "id": call, "name": "Bash", "input": input}]))
            .line("user", json!([{"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": failed}]))
    }

    /// A call of any tool, and its answer.
    pub(crate) fn call(self, tool: &str, query: &str, answer: &str) -> Self {
        let id = format!("call-{}", self.lines.len());
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": {"query": query}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": answer}]);
        self.line("assistant", call).line("user", result)
    }

    pub(crate) fn edit(self, file: &str) -> Self {
        let call = format!("toolu_{}", self.lines.len());
        let input = json!({"file_path": file, "old_string": "a", "new_string": "b"});
        self.line("assistant", json!([{"type": "tool_use", "id": call, "name": "Edit", "input": input}]))
            .line("user", json!([{"type": "tool_result", "tool_use_id": call, "content": "The file has been updated."}]))
    }

    fn line(mut self, role: &str, content: Value) -> Self {
        let n = self.lines.len();
        self.lines.push(json!({
            "type": role,
            "uuid": format!("{}-{n}", self.id),
            "parentUuid": null,
            "isSidechain": false,
            "sessionId": self.id,
            "cwd": self.folder,
            "gitBranch": self.branch,
            "version": "2.1.0",
            "timestamp": format!("2026-03-02T{:02}:{:02}:00.000Z", 8 + n / 60 % 12, n % 60),
            "message": {"role": role, "content": content},
        }));
        self
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }
}

/// A session that teaches something: a rule, a setting, a trap and an open end.
pub(crate) fn teaching_session(n: u32) -> TestSession {
    let mut session = TestSession::new(n)
        .human("let's add a cache to the tide table, please always write the test first")
        .agent("I can keep the tides in memory (A) or in a file (B). Which one?")
        .human("let's go with B, a file survives a restart")
        .command(
            "cargo test",
            "running 3 tests\ntest cache::evicts_oldest ... FAILED\nerror: assertion failed: expected 20 entries, found 21",
            true,
        )
        .agent("The issue is that `evicts_oldest` counts a new entry before the oldest one is gone.")
        .edit("/nowhere/ada/tidepool/src/cache.rs")
        .command("cargo test", "running 3 tests\ntest result: ok. 3 passed; 0 failed", false);
    for turn in 0..12 {
        session = session
            .agent(&format!(
                "Step {turn} of session {n} is done: the table of station {turn} is cached."
            ))
            .human(&format!(
                "show me what the table of station {turn} looks like in session {n}"
            ));
    }
    session
        .human("no, don't push without asking me first")
        .agent("Understood, I will ask before pushing.")
        .human("should the cache also keep tides of past days?")
}
