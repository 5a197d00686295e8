//! One scope's memory folder: its location, its limits and its git repository.
//!
//! The folder is an ordinary work tree with an ordinary `.git`, so that people inspect and undo with the
//! tool that they know. It is opened isolated from the user's and the system's git configuration and from
//! `GIT_*` variables: no signing, no hooks, no conversion of line ends. The repository's own configuration
//! disables the last of these for the person's git as well; otherwise `git status` would report every file
//! as changed on a machine with `core.autocrlf`.
//!
//! Daybook's private files are in `.git/daybook/`, which git ignores.
//!
//! Not here: reading history (`history`), writing (`write`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::atomic;
use super::error::FilesError;
use super::reader::{FILE_BYTES, FolderReader};
use super::steps::{StepObserver, WriteStep};
use crate::bounded::FileRefusal;

/// Folders inside `.git/daybook/`: the new texts of an intent, its objects, and objects staged for other
/// commits.
const PRIVATE_FOLDERS: [&str; 3] = ["new", "promised", "objects"];

/// Names that are opened inside `.git`, and whether each is a folder.
const GIT_PLACES: [(&str, bool); 10] = [
    ("", true),
    ("objects", true),
    ("refs", true),
    ("daybook", true),
    ("HEAD", false),
    ("config", false),
    ("index", false),
    ("packed-refs", false),
    ("daybook/lock", false),
    ("daybook/clock", false),
];

/// The branch that a new folder starts on.
pub const MAIN_BRANCH: &str = "main";

/// What a finished write survives. A killed process loses nothing under either value.
///
/// Under both, the objects of a commit, the new text of its files and the intent are on disk before the
/// first file is changed, and a branch value before it takes effect: no file is ever torn, and a write that
/// a power cut interrupts is finished by the next writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileDurability {
    /// Does not wait for renames at the end. On a file system that keeps the order of renames (ext4,
    /// XFS, Btrfs, APFS, NTFS) a power cut still loses nothing of a finished write, or leaves its intent.
    #[default]
    Process,
    /// Also waits for every folder in which a file was renamed, whatever the file system.
    Power,
}

/// Bounds of one memory folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// What a finished write survives. `Power` waits for the disk a few times more per write.
    pub durability: FileDurability,
    /// Longest file, in bytes, that is written, or committed for a person. Memory use grows with it.
    pub max_file_bytes: u64,
    /// Most files in a folder. The time of a write grows with it, by one `lstat` for each file.
    pub max_files: usize,
    /// How long a write waits for a git command of the person to release a branch or the index. Higher
    /// rides out slower commands and holds the folder's writer lock longer. Not read from configuration
    /// files.
    #[serde(skip)]
    pub git_lock_wait: Duration,
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self {
            durability: FileDurability::Process,
            max_file_bytes: FILE_BYTES,
            max_files: 20_000,
            git_lock_wait: Duration::from_secs(1),
        }
    }
}

/// One scope's memory folder, created if it did not exist. Holds no open file; cheap to keep.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
    config: FilesConfig,
    steps: StepObserver,
    pub(super) may_exchange: bool,
}

impl Folder {
    /// Opens the folder at `root`; creates it (mode 0700, parents too) and its repository if needed. Files
    /// that it already holds are a person's; the first write commits them.
    ///
    /// # Errors
    /// [`FilesError::NotARepository`] if a `.git` exists that cannot be used; otherwise when the disk
    /// fails.
    pub fn open(root: impl AsRef<Path>, config: FilesConfig) -> Result<Self, FilesError> {
        let root =
            std::path::absolute(root.as_ref()).map_err(FilesError::io("find", root.as_ref()))?;
        let folder = Self {
            root,
            config,
            steps: StepObserver::default(),
            may_exchange: true,
        };
        folder.check_place()?;
        if !folder.git_dir().join("HEAD").is_file() {
            create_owner_only(&folder.root).map_err(FilesError::io("create", &folder.root))?;
            folder.make_repository()?;
        } else {
            // A process that was killed between making the repository and cleaning up left a folder behind.
            remove_unfinished(&folder.root);
        }
        folder.repository()?;
        Ok(folder)
    }

    /// Refuses a folder that is reached through a link below the data folder, or whose `.git` is one:
    /// writes would go elsewhere.
    pub(super) fn check_place(&self) -> Result<(), FilesError> {
        FolderReader::open(&self.root)?;
        let path = self.git_dir();
        for (name, is_folder) in GIT_PLACES {
            let place = path.join(name);
            let Ok(found) = fs::symlink_metadata(&place) else {
                continue;
            };
            let why = match is_folder {
                true => (!found.is_dir()).then_some(FileRefusal::NotAFolder),
                false => FileRefusal::of_kind(found.file_type()),
            };
            if let Some(why) = why {
                let source = format!("{}: {why}", place.display()).into();
                return Err(FilesError::NotARepository { path, source });
            }
        }
        Ok(())
    }

    /// A reader of the files on disk.
    pub(super) fn reader(&self) -> Result<FolderReader, FilesError> {
        let missing = || FilesError::io("read", &self.root)(io::ErrorKind::NotFound.into());
        FolderReader::open(&self.root)?.ok_or_else(missing)
    }

    /// The folder at `root` as it is. Nothing is created or checked.
    pub(crate) fn existing(root: &Path, config: FilesConfig) -> Self {
        Self {
            root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()),
            config,
            steps: StepObserver::default(),
            may_exchange: true,
        }
    }

    /// The same folder with an observer of its write steps; see [`StepObserver`].
    #[must_use]
    pub fn with_step_observer(self, steps: StepObserver) -> Self {
        Self { steps, ..self }
    }

    /// The folder's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn config(&self) -> &FilesConfig {
        &self.config
    }

    pub(super) fn is_power_safe(&self) -> bool {
        self.config.durability == FileDurability::Power
    }

    pub(super) fn git_dir(&self) -> PathBuf {
        self.root.join(".git")
    }

    /// A private path in `.git/daybook/`.
    pub(super) fn private_path(&self, name: &str) -> PathBuf {
        self.git_dir().join("daybook").join(name)
    }

    /// Creates Daybook's folders inside `.git` if they are missing, as in a repository that was cloned.
    pub(super) fn make_private_folders(&self) -> Result<(), FilesError> {
        if PRIVATE_FOLDERS
            .iter()
            .all(|name| self.private_path(name).is_dir())
        {
            return Ok(());
        }
        let made = PRIVATE_FOLDERS
            .iter()
            .try_for_each(|name| fs::create_dir_all(self.private_path(name)));
        made.and_then(|()| atomic::sync(&[self.private_path(""), self.git_dir()]))
            .map_err(FilesError::io("create", self.private_path("")))
    }

    pub(super) fn reach(&self, step: WriteStep) -> Result<(), FilesError> {
        self.steps
            .reach(step)
            .map_err(FilesError::io("go on writing", &self.root))
    }

    /// Opens the repository. Not kept between calls: a person's `git gc` may replace the packs under a
    /// long-lived one, which would then refer to objects that are gone.
    pub(super) fn repository(&self) -> Result<gix::Repository, FilesError> {
        let path = self.git_dir();
        let options = gix::open::Options::isolated().open_path_as_is(true);
        let unusable = |source: super::error::BoxError| FilesError::NotARepository {
            path: path.clone(),
            source,
        };
        let repo = gix::open_opts(&path, options).map_err(|error| unusable(Box::new(error)))?;
        if repo.workdir().is_none() || repo.object_hash() != gix::hash::Kind::Sha1 {
            return Err(unusable("it is bare or does not use SHA-1".into()));
        }
        let ref_storage = repo.config_snapshot().string("extensions.refStorage");
        if ref_storage.is_some_and(|kind| kind.as_slice() != b"files") {
            return Err(unusable("its branches are not kept in files".into()));
        }
        Ok(repo)
    }

    /// Builds the repository in a temporary folder and moves it into place, so that no process sees an
    /// incomplete one, and of two processes that open the folder at once, one wins.
    fn make_repository(&self) -> Result<(), FilesError> {
        let path = self.git_dir();
        let done = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(&self.root)
            .and_then(|aside| {
                write_repository_layout(aside.path())?;
                fs::rename(aside.path(), &path)?;
                // The temporary folder was renamed, so its guard has nothing to remove.
                drop(aside);
                let parent = self.root.parent().unwrap_or(&self.root);
                atomic::sync(&[self.root.clone(), parent.to_owned()])
            });
        if path.join("HEAD").is_file() {
            // Left behind by killed processes. A process that is making one now finds the repository made.
            remove_unfinished(&self.root);
        }
        match done {
            Err(_) if path.join("HEAD").is_file() => Ok(()),
            Err(_) if path.exists() => {
                let source = "it is not a git directory".into();
                Err(FilesError::NotARepository { path, source })
            }
            done => done.map_err(FilesError::io("create", path)),
        }
    }
}

/// Prefix of the names of unfinished repositories.
const UNFINISHED: &str = ".git-new-";

fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            // A leftover folder is no reason to fail: git ignores it through `info/exclude`.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn create_owner_only(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn write_repository_layout(git: &Path) -> io::Result<()> {
    for folder in [
        "objects/info",
        "objects/pack",
        "refs/heads",
        "refs/tags",
        "info",
        "daybook",
    ] {
        fs::create_dir_all(git.join(folder))?;
    }
    let files = [
        ("HEAD", format!("ref: refs/heads/{MAIN_BRANCH}\n")),
        ("config", git_config(&gix::fs::Capabilities::probe(git))),
        // Ignores folders left behind by a process that was killed while making a repository.
        ("info/exclude", "/.git-new-*/\n".to_owned()),
        // These override the person's own attributes, which may convert line ends as well.
        (
            "info/attributes",
            "* -text -filter -ident !working-tree-encoding\n".to_owned(),
        ),
    ];
    let mut written = vec![git.to_owned()];
    for (name, text) in files {
        fs::write(git.join(name), text)?;
        written.push(git.join(name));
    }
    atomic::sync(&written)
}

fn git_config(disk: &gix::fs::Capabilities) -> String {
    let mut settings = String::from("[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    // Memory files are not programs; a changed executable bit is no edit.
    settings += "\tfilemode = false\n\tautocrlf = false\n\tlogallrefupdates = true\n";
    if disk.ignore_case {
        settings += "\tignorecase = true\n";
    }
    if disk.precompose_unicode {
        settings += "\tprecomposeunicode = true\n";
    }
    if !disk.symlink {
        settings += "\tsymlinks = false\n";
    }
    settings
}
