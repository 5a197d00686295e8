//! The mirror of the remote repository: a bare repository in the data folder.
//!
//! The person's git fetches into it and pushes from it; Daybook reads its commits and adds new ones. Its tree has the
//! memory folders by kind and encoded name, as in the data folder. Whatever else people keep in the repository stays.
//! A commit's message lists the entries that a person removed, since no file shows who removed them.
//!
//! The mirror is a cache: without it everything is fetched again, and nothing counts as removed since.
//!
//! Not here: merging (`folder_merge`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use daybook_domain::{Scope, ScopeKind, Tenant};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::tree::{Editor, EntryKind};

use super::is_exchanged;
use crate::files::entry::EntryId;
use crate::files::error::FilesError;
use crate::files::history::CommitHash;
use crate::files::layout::{KINDS, kind_folder};
use crate::files::name::FileName;
use crate::files::path::FilePath;
use crate::files::stamp::CommitStamp;
use crate::files::tree::{TreeFiles, tree_of};

/// The reference that the remote branch is fetched to.
pub const FETCHED: &str = "refs/daybook/fetched";
/// File of the states that folders were last exchanged in, inside the mirror.
const EXCHANGED: &str = "daybook-exchanged";
/// Beginning of a line of a message that names a removed entry.
const REMOVED: &str = "Removed: ";
/// Longest file that is read from the mirror, in bytes.
const FILE_BYTES: u64 = 8 * 1024 * 1024;

/// Where a scope's files are in the repository: kind and encoded name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteFolder(String);

/// The files of one folder in one commit.
pub(super) type RemoteFiles = BTreeMap<FilePath, ObjectId>;
/// Entries that persons removed, by path in the repository.
pub type RemovedEntries = BTreeMap<String, BTreeSet<EntryId>>;

/// A file of the repository that changes; `None` removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUpdate {
    pub(super) path: String,
    pub(super) text: Option<String>,
}

/// The mirror of the remote repository.
pub struct Mirror {
    repo: gix::Repository,
    place: PathBuf,
}

impl RemoteFolder {
    /// The folder of a scope.
    #[must_use]
    pub fn of(scope: &Scope) -> Self {
        let name = FileName::folder(&scope.name);
        Self(format!("{}/{name}", kind_folder(scope.kind)))
    }

    /// The scope of this folder; `None` if its name is none that Daybook gives.
    #[must_use]
    pub fn scope(&self, tenant: &Tenant) -> Option<Scope> {
        let (kind, name) = self.0.split_once('/')?;
        let kind = KINDS.iter().position(|known| *known == kind)?;
        let scope = Scope {
            tenant: tenant.clone(),
            kind: SCOPE_KINDS[kind],
            name: FileName::decode_folder(name)?,
        };
        (Self::of(&scope) == *self).then_some(scope)
    }

    /// The path of a file of this folder.
    pub(super) fn path_of(&self, file: &FilePath) -> String {
        format!("{}/{file}", self.0)
    }
}

/// The kinds of scopes, in the order of [`KINDS`].
const SCOPE_KINDS: [ScopeKind; 5] = [
    ScopeKind::User,
    ScopeKind::Agent,
    ScopeKind::Team,
    ScopeKind::Room,
    ScopeKind::Project,
];

impl Mirror {
    /// Opens the mirror at `place`, and makes it if there is none.
    ///
    /// # Errors
    /// When the disk fails, or what is there is no repository.
    pub fn open(place: &Path) -> Result<Self, FilesError> {
        let failed = || FilesError::git("open", place);
        let options = gix::open::Options::isolated();
        let repo = match place.join("HEAD").is_file() {
            true => gix::open_opts(place, options.open_path_as_is(true)).map_err(failed())?,
            false => {
                fs::create_dir_all(place).map_err(FilesError::io("create", place))?;
                let (kind, create) = (gix::create::Kind::Bare, gix::create::Options::default());
                let made = gix::ThreadSafeRepository::init_opts(place, kind, create, options);
                made.map_err(failed())?.to_thread_local()
            }
        };
        let place = place.to_owned();
        Ok(Self { repo, place })
    }

    /// Where the mirror is.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The commit that was fetched last.
    ///
    /// # Errors
    /// When the mirror is damaged.
    pub fn fetched(&self) -> Result<Option<CommitHash>, FilesError> {
        let found = self.repo.try_find_reference(FETCHED);
        let found = found.map_err(self.failed("read"))?;
        let id = found.map(|mut found| found.peel_to_id().map(gix::Id::detach));
        Ok(id.transpose().map_err(self.failed("read"))?.map(CommitHash))
    }

    /// The folders of a commit that hold a scope's files.
    ///
    /// # Errors
    /// When the mirror is damaged.
    pub fn folders(
        &self,
        commit: Option<CommitHash>,
    ) -> Result<BTreeSet<RemoteFolder>, FilesError> {
        let mut folders = BTreeSet::new();
        let Some(commit) = commit else {
            return Ok(folders);
        };
        let failed = || self.failed("read");
        let root = tree_of(&self.repo, commit.0).map_err(failed())?;
        let root = self.repo.find_tree(root).map_err(failed())?;
        for kind in KINDS {
            let entry = root.lookup_entry([kind]).map_err(failed())?;
            let Some(entry) = entry.filter(|entry| entry.mode().is_tree()) else {
                continue;
            };
            let below = self.repo.find_tree(entry.object_id()).map_err(failed())?;
            for entry in below.iter() {
                let entry = entry.map_err(gix::Error::from_error).map_err(failed())?;
                if entry.mode().is_tree() {
                    let name = entry.filename().to_str_lossy();
                    folders.insert(RemoteFolder(format!("{kind}/{name}")));
                }
            }
        }
        Ok(folders)
    }

    /// The exchanged files of one folder.
    pub(super) fn files(
        &self,
        commit: Option<CommitHash>,
        folder: &RemoteFolder,
    ) -> Result<RemoteFiles, FilesError> {
        let Some(commit) = commit else {
            return Ok(RemoteFiles::new());
        };
        let tree = TreeFiles::of_subtree(&self.repo, commit.0, &folder.0);
        let files = tree.map_err(self.failed("read"))?.files.into_iter();
        let files = files.filter(|(path, _)| is_exchanged(path.as_str()));
        Ok(files.map(|(path, file)| (path, file.id)).collect())
    }

    /// A file's text; `None` if it is none, or longer than a memory file.
    pub(super) fn text(&self, id: ObjectId) -> Result<Option<String>, FilesError> {
        let size = self
            .repo
            .find_header(id)
            .map_err(self.failed("read"))?
            .size();
        if size > FILE_BYTES {
            return Ok(None);
        }
        let blob = self.repo.find_blob(id).map_err(self.failed("read"))?;
        Ok(String::from_utf8(blob.detach().data).ok())
    }

    /// Whether `later` contains `earlier`.
    pub(super) fn has_ancestor(&self, later: CommitHash, earlier: CommitHash) -> bool {
        let base = self.repo.merge_base(later.0, earlier.0);
        matches!(base, Ok(Some(base)) if base.detach() == earlier.0)
    }

    /// Entries that persons removed after `base`, up to `commit`.
    pub(super) fn removed_between(
        &self,
        base: CommitHash,
        commit: CommitHash,
    ) -> Result<RemovedEntries, FilesError> {
        let walk = self.repo.rev_walk([commit.0]).with_hidden([base.0]).all();
        let mut removed = RemovedEntries::new();
        for found in walk.map_err(self.failed("read"))? {
            let id = found.map_err(self.failed("read"))?.id;
            let commit = self.repo.find_commit(id).map_err(self.failed("read"))?;
            let message = commit.message_raw().map_err(gix::Error::from_error);
            let message = message.map_err(self.failed("read"))?.to_str_lossy();
            for line in message
                .lines()
                .filter_map(|line| line.strip_prefix(REMOVED))
            {
                if let Some((path, id)) = line.rsplit_once(' ')
                    && let Some(id) = EntryId::parse(id)
                {
                    removed.entry(path.to_owned()).or_default().insert(id);
                }
            }
        }
        Ok(removed)
    }

    /// Adds a commit with `updates` on top of `onto`; `None` if it would change nothing.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn commit(
        &self,
        onto: Option<CommitHash>,
        updates: &[FileUpdate],
        removed: &RemovedEntries,
        stamp: &CommitStamp,
    ) -> Result<Option<CommitHash>, FilesError> {
        let (tree, before) = self.edited_tree(onto, updates)?;
        if before == Some(tree) || updates.is_empty() {
            return Ok(None);
        }
        let mut message = "Exchange memory files\n".to_owned();
        for (path, ids) in removed {
            for id in ids {
                message.push_str(&format!("\n{REMOVED}{path} {}", id.as_str()));
            }
        }
        let who = stamp.person_signature();
        let commit = gix::objs::Commit {
            tree,
            parents: onto.into_iter().map(|commit| commit.0).collect(),
            author: who.clone(),
            committer: who,
            encoding: None,
            message: message.into(),
            extra_headers: Vec::new(),
        };
        let id = self
            .repo
            .write_object(&commit)
            .map_err(self.failed("write"))?;
        Ok(Some(CommitHash(id.detach())))
    }

    /// The tree of `onto` with `updates`, and the one without.
    fn edited_tree(
        &self,
        onto: Option<CommitHash>,
        updates: &[FileUpdate],
    ) -> Result<(ObjectId, Option<ObjectId>), FilesError> {
        let failed = || self.failed("write");
        let before = onto.map(|commit| tree_of(&self.repo, commit.0));
        let before = before.transpose().map_err(failed())?;
        let root = match before {
            Some(tree) => {
                let tree = self.repo.find_tree(tree).map_err(failed())?;
                tree.decode()
                    .map_err(gix::Error::from_error)
                    .map_err(failed())?
                    .into_owned()
            }
            None => gix::objs::Tree::default(),
        };
        let mut editor = Editor::new(root, &self.repo.objects, self.repo.object_hash());
        // Removals come first: a file may take the name of a folder that they empty.
        for update in updates.iter().filter(|update| update.text.is_none()) {
            let path = update.path.split('/').map(BStr::new);
            editor.remove_leaf(path).map_err(failed())?;
        }
        for update in updates {
            if let Some(text) = &update.text {
                let blob = self.repo.write_blob(text).map_err(failed())?.detach();
                let path = update.path.split('/').map(BStr::new);
                editor
                    .upsert(path, EntryKind::Blob, blob)
                    .map_err(failed())?;
            }
        }
        let tree = editor.write(|tree| Ok::<_, gix::Error>(self.repo.write_object(tree)?.detach()));
        Ok((tree.map_err(failed())?, before))
    }

    /// The state that each folder was last exchanged in. A damaged line costs itself alone.
    pub(crate) fn exchanged(&self) -> Result<BTreeMap<RemoteFolder, CommitHash>, FilesError> {
        let path = self.place.join(EXCHANGED);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(FilesError::io("read", &path))?,
        };
        let lines = text.lines().filter_map(|line| {
            let (commit, folder) = line.split_once(' ')?;
            Some((RemoteFolder(folder.to_owned()), commit.parse().ok()?))
        });
        Ok(lines.collect())
    }

    /// Replaces the states that folders were last exchanged in.
    pub(crate) fn set_exchanged(
        &self,
        states: &BTreeMap<RemoteFolder, CommitHash>,
    ) -> Result<(), FilesError> {
        let path = self.place.join(EXCHANGED);
        let lines = states.iter();
        let lines = lines.map(|(folder, commit)| format!("{commit} {}\n", folder.0));
        let text: String = lines.collect();
        let write = || -> std::io::Result<()> {
            let mut temporary = tempfile::NamedTempFile::new_in(&self.place)?;
            temporary.write_all(text.as_bytes())?;
            temporary.as_file().sync_all()?;
            temporary.persist(&path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(FilesError::io("write", &path))
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(gix::Error) -> FilesError {
        FilesError::git(doing, self.place.clone())
    }
}
