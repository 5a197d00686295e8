//! A memory folder that the engine and a person write to, for tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::atomic;
use super::changes::FileChanges;
use super::error::FilesError;
use super::folder::{FilesConfig, Folder};
use super::history::CommitHash;
use super::lock::{LockOutcome, WriterLock};
use super::path::FilePath;
use super::stamp::{CommitStamp, Person};
use super::steps::StepObserver;
use super::write::{SettleReport, WriteOutcome};

/// A git configuration under which every commit that does not isolate itself would fail or change bytes.
const HOSTILE: &str = "[core]\n autocrlf = true\n attributesFile = ATTRIBUTES\n hooksPath = /nonexistent\n\
    [commit]\n gpgsign = true\n[gpg]\n program = /bin/false\n[user]\n name = Ada\n email = ada@localhost\n\
    [init]\n defaultBranch = trunk\n templateDir = /nonexistent\n";

pub(super) struct TestFolder {
    dir: tempfile::TempDir,
    pub(super) folder: Folder,
}

impl TestFolder {
    pub(super) fn new() -> Self {
        Self::with(FilesConfig::default())
    }

    pub(super) fn with(config: FilesConfig) -> Self {
        let dir = Self::beside_nothing();
        fs::write(dir.path().join("attributes"), "* text=auto eol=crlf\n").unwrap();
        let attributes = dir.path().join("attributes").display().to_string();
        fs::write(
            dir.path().join("gitconfig"),
            HOSTILE.replace("ATTRIBUTES", &attributes),
        )
        .unwrap();
        let folder = Folder::open(dir.path().join("deep/memory"), config).unwrap();
        Self { dir, folder }
    }

    /// A folder like this one, history and all.
    pub(super) fn copied(&self) -> Self {
        let memory = Self::beside_nothing();
        copy(self.dir.path(), memory.path());
        let mut folder = Folder::open(
            memory.path().join("deep/memory"),
            self.folder.config().clone(),
        )
        .unwrap();
        folder.may_exchange = self.folder.may_exchange;
        Self {
            dir: memory,
            folder,
        }
    }

    /// In memory where possible: these tests wait for the disk thousands of times.
    fn beside_nothing() -> tempfile::TempDir {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        }
        .unwrap()
    }

    /// All that is stored in the folder, with the objects of git inflated.
    pub(super) fn all_bytes(&self) -> String {
        let repo = self.folder.repository().unwrap();
        let mut all = String::new();
        let mut open = vec![self.folder.root().to_owned()];
        while let Some(next) = open.pop() {
            for place in atomic::list(&next).unwrap() {
                if place.is_dir() {
                    open.push(place);
                    continue;
                }
                all.push_str(&String::from_utf8_lossy(&fs::read(&place).unwrap()));
                let name: Vec<_> = place.iter().rev().take(2).collect();
                let id = format!("{}{}", name[1].to_string_lossy(), name[0].to_string_lossy());
                if let Ok(id) = id.parse::<gix::ObjectId>() {
                    let object = repo.find_object(id).unwrap();
                    all.push_str(&String::from_utf8_lossy(&object.data));
                }
            }
        }
        all
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.folder.root().join(path)
    }

    pub(super) fn beside(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// A person saves a file.
    pub(super) fn save(&self, path: &str, bytes: impl AsRef<[u8]>) {
        save(&self.at(path), bytes.as_ref());
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.at(path)).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> Option<String> {
        fs::read(self.at(path))
            .ok()
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The engine writes: `None` deletes.
    pub(super) fn write(
        &self,
        changes: &[(&str, Option<&str>)],
    ) -> Result<WriteOutcome, FilesError> {
        self.write_observed(StepObserver::default(), changes)
    }

    pub(super) fn write_observed(
        &self,
        steps: StepObserver,
        changes: &[(&str, Option<&str>)],
    ) -> Result<WriteOutcome, FilesError> {
        self.write_planned(steps, || as_changes(changes))
    }

    pub(super) fn write_planned(
        &self,
        steps: StepObserver,
        plan: impl FnOnce() -> FileChanges,
    ) -> Result<WriteOutcome, FilesError> {
        let folder = self.folder.clone().with_step_observer(steps);
        lock(&folder).write(&stamp(), "Write memory", &|| true, |_| Ok(plan()))
    }

    pub(super) fn settle(&self) -> Result<SettleReport, FilesError> {
        self.settle_observed(StepObserver::default())
    }

    pub(super) fn settle_observed(&self, steps: StepObserver) -> Result<SettleReport, FilesError> {
        lock(&self.folder.clone().with_step_observer(steps)).settle(&stamp())
    }

    /// Authors and subjects, oldest first.
    pub(super) fn log(&self) -> Vec<(String, String)> {
        let log = self.folder.log(1000).unwrap();
        log.into_iter()
            .rev()
            .map(|commit| (commit.author, commit.subject))
            .collect()
    }

    /// All memory files in the work tree.
    pub(super) fn work_tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    let path = entry.path();
                    let name = path
                        .strip_prefix(self.folder.root())
                        .unwrap()
                        .display()
                        .to_string();
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
        files
    }

    /// All memory files in `commit`.
    pub(super) fn tree(&self, commit: CommitHash) -> BTreeMap<String, Vec<u8>> {
        let files = self.folder.files_at(commit).unwrap();
        let read = |path: &FilePath| self.folder.read_at(commit, path).unwrap().unwrap();
        files
            .keys()
            .map(|path| (path.to_string(), read(path)))
            .collect()
    }

    /// Every content of `path` in the history, newest first.
    pub(super) fn versions(&self, path: &str) -> Vec<Vec<u8>> {
        let path = FilePath::new(path).unwrap();
        let log = self.folder.log(1000).unwrap();
        log.iter()
            .filter_map(|commit| self.folder.read_at(commit.id, &path).unwrap())
            .collect()
    }

    /// The work tree equals HEAD, and git reports nothing about the folder.
    pub(super) fn assert_settled(&self) {
        self.assert_is_head();
        if self.folder.head().unwrap().is_some() {
            self.assert_sound();
        }
        if let Some(status) = self.git(&["status", "--porcelain"]) {
            assert_eq!(status, "", "git status");
        }
    }

    /// The part of [`assert_settled`](Self::assert_settled) that needs no git.
    pub(super) fn assert_is_head(&self) {
        let head = self.folder.head().unwrap();
        assert_eq!(
            self.work_tree(),
            head.map(|head| self.tree(head)).unwrap_or_default()
        );
        for name in ["intent", "new/0", "locks/index"] {
            assert!(
                !self.at(".git/daybook").join(name).exists(),
                "{name} is left over"
            );
        }
    }

    pub(super) fn assert_sound(&self) {
        if let Some(found) = self.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]) {
            assert_eq!(found, "", "git fsck");
        }
    }

    /// Names of all objects that are not packed.
    pub(super) fn loose_objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(".git/objects")).unwrap() {
            let entry = entry.unwrap();
            let first = entry.file_name().into_string().unwrap();
            if first.len() == 2 {
                let rest = fs::read_dir(entry.path()).unwrap();
                let rest = rest.map(|rest| rest.unwrap().file_name().into_string().unwrap());
                names.extend(rest.map(|rest| first.clone() + &rest));
            }
        }
        names.sort();
        names
    }

    /// Path of an object that is not packed.
    pub(super) fn object(&self, name: &str) -> PathBuf {
        let (first, rest) = name.split_at(2);
        self.at(".git/objects").join(first).join(rest)
    }

    /// The disk changes the last byte of an object that is not packed.
    pub(super) fn flip_byte(&self, name: &str) {
        let mut bytes = fs::read(self.object(name)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::remove_file(self.object(name)).unwrap();
        fs::write(self.object(name), bytes).unwrap();
    }

    /// Runs git as the person would, on a machine with the hostile configuration. `None` without git.
    pub(super) fn git(&self, arguments: &[&str]) -> Option<String> {
        git(
            self.folder.root(),
            &self.dir.path().join("gitconfig"),
            arguments,
        )
    }

    pub(super) fn gitconfig(&self) -> PathBuf {
        self.dir.path().join("gitconfig")
    }
}

pub(super) fn git(root: &Path, config: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // These tests may run in a hook of the repository that they belong to.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(name);
    }
    let output = command
        .args(arguments)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", config)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .ok()?;
    assert!(
        output.status.success(),
        "git {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    )
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&place).unwrap();
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), place).unwrap();
        }
    }
}

pub(super) fn save(path: &Path, bytes: &[u8]) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).unwrap();
    }
    fs::write(path, bytes).unwrap();
}

pub(super) fn lock(folder: &Folder) -> WriterLock<'_> {
    // A test that starts git holds, for an instant, a copy of every lock of this process.
    match folder.try_lock(Duration::from_secs(10)).unwrap() {
        LockOutcome::Held(lock) => lock,
        LockOutcome::Busy => panic!("no other writer is active"),
    }
}

pub(super) fn stamp() -> CommitStamp {
    CommitStamp {
        time_ms: 1_700_000_000_000,
        person: Person::default(),
    }
}

pub(super) fn as_changes(changes: &[(&str, Option<&str>)]) -> FileChanges {
    let mut wanted = FileChanges::none();
    for (path, bytes) in changes {
        let path = FilePath::new(*path).unwrap();
        match bytes {
            Some(bytes) => wanted.write(path, *bytes),
            None => wanted.delete(path),
        }
    }
    wanted
}
