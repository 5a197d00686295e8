//! Entities: things that agents keep knowledge about, each a file with records.
//!
//! `entities/<entity>.md` holds an entity, `INDEX.md` lists them. A write takes the folder's writer lock
//! and is one commit, like every other write; so two agents never undo each other's records.
//!
//! Not here: the file format (`format`), the result of one change (`change`), and the location of the
//! folder.

mod change;
mod format;
#[cfg(test)]
mod fuzz_tests;
pub mod manage;
mod repository;
mod staged;

use std::path::{Path, PathBuf};

use daybook_domain::{EntityChange, EntityWrite, StagedEntityWrite};

use super::changes::FileChanges;
use super::error::FilesError;
use super::layout::ENTITY_INDEX;
use super::lock::WriterLock;
use super::path::FilePath;
use super::reader;
use super::stamp::CommitStamp;
use super::write::{FolderSnapshot, SkippedPath, WriteOutcome};
use daybook_text::redact::Redactor;

use change::{ReadFile, check_change, path_of, plan_change};
pub use format::Card;
pub use repository::FolderEntityRepository;
pub use staged::{StagedReport, WINDOWS_PER_COMMIT, commit_staged};

/// Longest name of a record, in characters.
const RECORD: usize = 200;
/// Longest record, in bytes.
const CONTENT: usize = 64 * 1024;
/// Longest entity, in letters: its file name must fit every file system.
const ENTITY: usize = 100;
/// Prefix of the subjects of all commits made here.
const SUBJECT: &str = "Entities: ";

/// Whether a commit was made here. Such a commit leaves the pages of the memory unchanged.
pub(super) fn is_entity_commit(subject: &str) -> bool {
    subject.starts_with(SUBJECT)
}

/// Why an entity was not written.
#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// The request is invalid, for the given reason.
    #[error("{0}")]
    Refused(String),
    /// The memory folder could not be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// Result of writing an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedEntity {
    /// The file, relative to the memory folder.
    pub path: String,
    /// Whether the file, or the record, is new.
    pub created: bool,
    /// Number of secrets that were redacted in it.
    pub secrets: usize,
}

/// An entry of the list of entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedEntity {
    /// The entity's word, which is also its file name.
    pub entity: String,
    /// Its card; `None` when its file is missing or has no readable head.
    pub card: Option<Card>,
}

/// Creates an entity, or replaces the card of an existing one.
///
/// # Errors
/// [`EntityError::Refused`] for an invalid word, name or description.
pub fn create(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    redactor: &Redactor,
    entity: &str,
    card: &Card,
) -> Result<SavedEntity, EntityError> {
    let change = EntityChange::Card {
        name: card.name.clone(),
        description: card.description.clone(),
    };
    let (write, secrets) = check_change(redactor, entity, &change)?;
    let message = format!("{SUBJECT}describe {}", write.entity);
    save(lock, stamp, &message, &write, secrets)
}

/// Adds a record to an entity, or replaces the one of that name.
///
/// # Errors
/// [`EntityError::Refused`] for an unknown entity, and for an invalid record.
pub fn upsert(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    redactor: &Redactor,
    entity: &str,
    record: &str,
    content: &str,
) -> Result<SavedEntity, EntityError> {
    let change = EntityChange::Record {
        record: record.to_owned(),
        content: content.to_owned(),
    };
    let (write, secrets) = check_change(redactor, entity, &change)?;
    let record = write.record().unwrap_or_default();
    let message = format!("{SUBJECT}record \"{record}\" of {}", write.entity);
    save(lock, stamp, &message, &write, secrets)
}

fn save(
    lock: &WriterLock<'_>,
    stamp: &CommitStamp,
    message: &str,
    write: &EntityWrite,
    secrets: usize,
) -> Result<SavedEntity, EntityError> {
    let mut refused = None;
    let mut created = false;
    let outcome = lock.write(stamp, message, &|| true, |snapshot| {
        let mut changes = FileChanges::none();
        match plan_change(write, &|path| text(snapshot, path)) {
            Ok(planned) => {
                created = planned.created;
                for (path, text) in planned.files {
                    if let Some(skipped) = snapshot.skipped_at(&path) {
                        refused = Some(format!("{skipped}; it must be put right first."));
                    }
                    changes.write(path, text);
                }
                if refused.is_some() {
                    return Ok(FileChanges::none());
                }
            }
            Err(EntityError::Refused(why)) => refused = Some(why),
            Err(EntityError::Files(error)) => return Err(error),
        }
        Ok(changes)
    })?;
    ignore_outcome(outcome);
    match refused {
        Some(why) => Err(EntityError::Refused(why)),
        None => Ok(SavedEntity {
            path: path_of(&write.entity).to_string(),
            created,
            secrets,
        }),
    }
}

/// The message to an agent after a change of a record, or of a card.
#[must_use]
pub fn change_message(entity: &str, record: Option<&str>, created: bool, secrets: usize) -> String {
    let summary = match (record, created) {
        (None, true) => format!("Created memory entity {entity}."),
        (None, false) => format!("Memory entity {entity} updated."),
        (Some(record), true) => format!("Added record {record} to {entity}."),
        (Some(record), false) => format!("Updated record {record} in {entity}."),
    };
    match secrets {
        0 => summary,
        _ => format!("{summary} A secret in it was hidden before it was kept."),
    }
}

impl ListedEntity {
    /// The line shown to an agent: `- entity: name — description`.
    #[must_use]
    pub fn line(&self) -> String {
        let entity = &self.entity;
        match &self.card {
            Some(card) => format!("- {entity}: {} — {}", card.name, card.description),
            None => format!("- {entity}: (its file is missing, or has no name and description)"),
        }
    }
}

/// Lists at most `limit` entities of the memory folder at `folder`, in the order of its index.
#[must_use]
pub fn list(folder: &Path, limit: usize) -> Vec<ListedEntity> {
    let read = disk_reader(folder.to_owned());
    list_entities(limit, &|path| Ok(read(path)))
}

/// Returns a reader of a memory folder's files on disk. Refused files count as missing.
fn disk_reader(folder: PathBuf) -> impl Fn(&FilePath) -> Option<String> + Send {
    move |path| reader::text(&folder, path).ok().flatten()
}

fn list_entities(limit: usize, read: ReadFile<'_>) -> Vec<ListedEntity> {
    let text = |path: &FilePath| read(path).ok().flatten();
    let index = text(&FilePath::engine_file(ENTITY_INDEX)).unwrap_or_default();
    let entities = format::parse_index(&index).into_iter().take(limit);
    entities
        .map(|entity| ListedEntity {
            card: text(&path_of(&entity)).as_deref().and_then(format::card),
            entity,
        })
        .collect()
}

/// Whether an obstacle is in the place of a file that `staged` would write.
#[must_use]
pub fn is_blocked(staged: &StagedEntityWrite, skipped: &[SkippedPath]) -> bool {
    let paths = staged.writes.iter().map(|write| path_of(&write.entity));
    let mut paths = paths.chain([FilePath::engine_file(ENTITY_INDEX)]);
    paths.any(|path| {
        let is_at = |skipped: &SkippedPath| Path::new(path.as_str()).starts_with(&skipped.path);
        skipped.iter().any(is_at)
    })
}

/// These writes hold no lease, so none can be lost; an unchanged file is a success, too.
fn ignore_outcome(outcome: WriteOutcome) {
    match outcome {
        WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) | WriteOutcome::LeaseLost => {}
    }
}

fn text(snapshot: &FolderSnapshot<'_>, path: &FilePath) -> Result<Option<String>, FilesError> {
    let bytes = snapshot.read(path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::folder_test_support::{TestFolder, lock, stamp};

    fn make(
        memory: &TestFolder,
        entity: &str,
        name: &str,
        description: &str,
    ) -> Result<SavedEntity, String> {
        let card = Card {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let held = lock(&memory.folder);
        create(&held, &stamp(), &Redactor::standard(), entity, &card).map_err(|e| e.to_string())
    }

    fn put(
        memory: &TestFolder,
        entity: &str,
        record: &str,
        content: &str,
    ) -> Result<SavedEntity, String> {
        let held = lock(&memory.folder);
        upsert(
            &held,
            &stamp(),
            &Redactor::standard(),
            entity,
            record,
            content,
        )
        .map_err(|e| e.to_string())
    }

    #[test]
    fn entities_and_records_are_files_and_commits() {
        let memory = TestFolder::new();
        assert!(make(&memory, " tide ", "Tide", "the sea").unwrap().created);
        assert!(
            put(&memory, "tide", "Source", "the harbour")
                .unwrap()
                .created
        );
        assert!(!put(&memory, "tide", "Source", "the pier").unwrap().created);
        assert!(!make(&memory, "tide", "Tides", "the sea").unwrap().created);
        assert_eq!(
            memory.read("INDEX.md").unwrap(),
            "# Memory Index\n\n- tide\n"
        );
        assert_eq!(
            memory.read("entities/tide.md").unwrap(),
            "---\nname: \"Tides\"\ndescription: \"the sea\"\n---\n# tide\n\n## Source\nthe pier\n"
        );
        assert_eq!(memory.log().len(), 4);
        assert!(
            memory
                .log()
                .iter()
                .all(|(_, subject)| is_entity_commit(subject))
        );
        memory.assert_settled();
    }

    #[test]
    fn what_cannot_be_is_refused_in_the_known_words() {
        let memory = TestFolder::new();
        let long = "x".repeat(161);
        for (entity, name, description, why) in [
            (
                "Tide",
                "n",
                "d",
                "Entity must be a lowercase english word (a-z only, no underscores).",
            ),
            (
                "a_b",
                "n",
                "d",
                "Entity must be a lowercase english word (a-z only, no underscores).",
            ),
            ("tide", "  ", "d", "Name is required."),
            (
                "tide",
                &long[..61],
                "d",
                "Name must be at most 60 characters.",
            ),
            ("tide", "a\nb", "d", "Name must be a single line."),
            ("tide", "n", "", "Description is required."),
            (
                "tide",
                "n",
                &long,
                "Description must be at most 160 characters.",
            ),
            ("tide", "n", "a\nb", "Description must be a single line."),
        ] {
            assert_eq!(
                make(&memory, entity, name, description),
                Err(why.to_owned())
            );
        }
        let refused = |why: &str| Err(why.to_owned());
        assert_eq!(
            put(&memory, "tide", "r", "c"),
            refused("Unknown entity: tide. Create it first.")
        );
        make(&memory, "tide", "n", "d").unwrap();
        assert_eq!(
            put(&memory, "tide", " ", "c"),
            refused("Record name is required.")
        );
        assert_eq!(
            put(&memory, "tide", "a\nb", "c"),
            refused("Record name must be a single line.")
        );
        memory.remove("entities/tide.md");
        assert_eq!(
            put(&memory, "tide", "r", "c"),
            refused("Entity file missing for tide. Create it first.")
        );
    }

    #[test]
    fn one_broken_file_does_not_hide_the_others() {
        let memory = TestFolder::new();
        for entity in ["tide", "pier", "sea"] {
            make(&memory, entity, "Name", "d").unwrap();
        }
        memory.remove("entities/pier.md");
        memory.save("entities/sea.md", "no head");
        let found = list(memory.folder.root(), 200);
        let found: Vec<_> = found
            .iter()
            .map(|found| (found.entity.as_str(), found.card.is_some()))
            .collect();
        assert_eq!(found, [("pier", false), ("sea", false), ("tide", true)]);
        assert_eq!(list(memory.folder.root(), 1).len(), 1);
        assert_eq!(list(&memory.beside("nowhere"), 9), []);
    }

    #[test]
    fn no_secret_gets_into_a_record() {
        let memory = TestFolder::new();
        make(&memory, "tide", "n", "d").unwrap();
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        let saved = put(&memory, "tide", "r", &format!("the token is {token}")).unwrap();
        assert_eq!(saved.secrets, 1);
        assert!(!memory.read("entities/tide.md").unwrap().contains(token));
    }
}
