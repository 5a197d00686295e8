//! Entities: things that the memory knows, each a file with records, kept by agents' tools.
//!
//! `entities/<entity>.md` holds an entity, `INDEX.md` lists them. A write takes the folder's writer
//! lock and is one commit, like every other; so two agents never undo each other's records.
//!
//! Not here: how the files look (`format`), what one change comes to (`change`), and which folder
//! they lie in.

mod change;
mod format;
#[cfg(test)]
mod fuzz_tests;
mod shelf;
mod staged;

use std::path::{Path, PathBuf};

use daybook_domain::{EntityChange, EntityWrite, Staged};

use super::changes::Changes;
use super::error::FilesError;
use super::layout::ENTITY_INDEX;
use super::lock::WriterLock;
use super::path::FilePath;
use super::reader;
use super::stamp::Stamp;
use super::write::{Skipped, Snapshot, WriteOutcome};
use crate::ingest::redact::Redactor;

use change::{Read, checked, made, path_of};
pub use format::Card;
pub use shelf::FolderShelf;
pub use staged::{Posted, WINDOWS, post_staged};

/// Longest name of a record, in characters.
const RECORD: usize = 200;
/// Longest record, in bytes.
const CONTENT: usize = 64 * 1024;
/// Longest entity, in letters: its file name must fit every file system.
const ENTITY: usize = 100;
/// How the subjects of all commits begin that are made here.
const SUBJECT: &str = "Entities: ";

/// Whether a commit was made here: it says nothing about the pages of the memory.
pub(super) fn made_here(subject: &str) -> bool {
    subject.starts_with(SUBJECT)
}

/// Why an entity was not written.
#[derive(Debug, thiserror::Error)]
pub enum EntityError {
    /// The request is wrong; says how.
    #[error("{0}")]
    Refused(String),
    /// What the disk says.
    #[error(transparent)]
    Files(#[from] FilesError),
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The file, relative to the memory folder.
    pub path: String,
    /// There was no such file, or record, before.
    pub created: bool,
    /// Secrets that were hidden in it.
    pub secrets: usize,
}

/// An entity as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its word.
    pub entity: String,
    /// What it is; nothing when its file is missing or has no readable head.
    pub card: Option<Card>,
}

/// Makes an entity, or gives the one that there is another card.
///
/// # Errors
/// [`EntityError::Refused`] for words that cannot be one.
pub fn create(
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    redactor: &Redactor,
    entity: &str,
    card: &Card,
) -> Result<Saved, EntityError> {
    let change = EntityChange::Card {
        name: card.name.clone(),
        description: card.description.clone(),
    };
    let (write, secrets) = checked(redactor, entity, &change)?;
    let message = format!("{SUBJECT}describe {}", write.entity);
    save(lock, stamp, &message, &write, secrets)
}

/// Adds a record to an entity, or replaces the one of that name.
///
/// # Errors
/// [`EntityError::Refused`] for an entity that is not there, and for words that cannot be a record.
pub fn upsert(
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    redactor: &Redactor,
    entity: &str,
    record: &str,
    content: &str,
) -> Result<Saved, EntityError> {
    let change = EntityChange::Record {
        record: record.to_owned(),
        content: content.to_owned(),
    };
    let (write, secrets) = checked(redactor, entity, &change)?;
    let record = write.record().unwrap_or_default();
    let message = format!("{SUBJECT}record \"{record}\" of {}", write.entity);
    save(lock, stamp, &message, &write, secrets)
}

fn save(
    lock: &WriterLock<'_>,
    stamp: &Stamp,
    message: &str,
    write: &EntityWrite,
    secrets: usize,
) -> Result<Saved, EntityError> {
    let mut refused = None;
    let mut created = false;
    let outcome = lock.write(stamp, message, &|| true, |snapshot| {
        let mut changes = Changes::none();
        match made(write, &|path| text(snapshot, path)) {
            Ok(made) => {
                created = made.created;
                for (path, text) in made.files {
                    if let Some(skipped) = snapshot.skipped_at(&path) {
                        refused = Some(format!("{skipped}; it must be put right first."));
                    }
                    changes.write(path, text);
                }
                if refused.is_some() {
                    return Ok(Changes::none());
                }
            }
            Err(EntityError::Refused(why)) => refused = Some(why),
            Err(EntityError::Files(error)) => return Err(error),
        }
        Ok(changes)
    })?;
    done(outcome);
    match refused {
        Some(why) => Err(EntityError::Refused(why)),
        None => Ok(Saved {
            path: path_of(&write.entity).to_string(),
            created,
            secrets,
        }),
    }
}

/// What an agent is told of a change that was made: of a record, or of a card.
#[must_use]
pub fn told(entity: &str, record: Option<&str>, created: bool, secrets: usize) -> String {
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

impl Listed {
    /// How an agent is shown it: `- entity: name — description`.
    #[must_use]
    pub fn line(&self) -> String {
        let entity = &self.entity;
        match &self.card {
            Some(card) => format!("- {entity}: {} — {}", card.name, card.description),
            None => format!("- {entity}: (its file is missing, or has no name and description)"),
        }
    }
}

/// The entities of the memory folder at `folder`, in the order of its index, at most `limit`.
#[must_use]
pub fn list(folder: &Path, limit: usize) -> Vec<Listed> {
    let read = disk(folder.to_owned());
    listed(limit, &|path| Ok(read(path)))
}

/// Reads a memory folder's files as they stand on disk. What is refused there counts as missing.
fn disk(folder: PathBuf) -> impl Fn(&FilePath) -> Option<String> + Send {
    move |path| reader::text(&folder, path).ok().flatten()
}

fn listed(limit: usize, read: Read<'_>) -> Vec<Listed> {
    let text = |path: &FilePath| read(path).ok().flatten();
    let index = text(&FilePath::owned(ENTITY_INDEX)).unwrap_or_default();
    let entities = format::listed(&index).into_iter().take(limit);
    entities
        .map(|entity| Listed {
            card: text(&path_of(&entity)).as_deref().and_then(format::card),
            entity,
        })
        .collect()
}

/// Whether something else stands in the place of a file that `staged` would write.
#[must_use]
pub fn is_blocked(staged: &Staged, skipped: &[Skipped]) -> bool {
    let paths = staged.writes.iter().map(|write| path_of(&write.entity));
    let mut paths = paths.chain([FilePath::owned(ENTITY_INDEX)]);
    paths.any(|path| {
        let is_at = |skipped: &Skipped| Path::new(path.as_str()).starts_with(&skipped.path);
        skipped.iter().any(is_at)
    })
}

/// Nobody can take a lease away that is not there; a write that changed nothing is as good.
fn done(outcome: WriteOutcome) {
    match outcome {
        WriteOutcome::Written(_) | WriteOutcome::Unchanged(_) | WriteOutcome::LeaseLost => {}
    }
}

fn text(snapshot: &Snapshot<'_>, path: &FilePath) -> Result<Option<String>, FilesError> {
    let bytes = snapshot.read(path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::testbed::{Testbed, lock, stamp};

    fn make(bed: &Testbed, entity: &str, name: &str, description: &str) -> Result<Saved, String> {
        let card = Card {
            name: name.to_owned(),
            description: description.to_owned(),
        };
        let held = lock(&bed.folder);
        create(&held, &stamp(), &Redactor::standard(), entity, &card).map_err(|e| e.to_string())
    }

    fn put(bed: &Testbed, entity: &str, record: &str, content: &str) -> Result<Saved, String> {
        let held = lock(&bed.folder);
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
        let bed = Testbed::new();
        assert!(make(&bed, " tide ", "Tide", "the sea").unwrap().created);
        assert!(put(&bed, "tide", "Source", "the harbour").unwrap().created);
        assert!(!put(&bed, "tide", "Source", "the pier").unwrap().created);
        assert!(!make(&bed, "tide", "Tides", "the sea").unwrap().created);
        assert_eq!(bed.read("INDEX.md").unwrap(), "# Memory Index\n\n- tide\n");
        assert_eq!(
            bed.read("entities/tide.md").unwrap(),
            "---\nname: \"Tides\"\ndescription: \"the sea\"\n---\n# tide\n\n## Source\nthe pier\n"
        );
        assert_eq!(bed.log().len(), 4);
        assert!(bed.log().iter().all(|(_, subject)| made_here(subject)));
        bed.assert_settled();
    }

    #[test]
    fn what_cannot_be_is_refused_in_the_known_words() {
        let bed = Testbed::new();
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
            assert_eq!(make(&bed, entity, name, description), Err(why.to_owned()));
        }
        let refused = |why: &str| Err(why.to_owned());
        assert_eq!(
            put(&bed, "tide", "r", "c"),
            refused("Unknown entity: tide. Create it first.")
        );
        make(&bed, "tide", "n", "d").unwrap();
        assert_eq!(
            put(&bed, "tide", " ", "c"),
            refused("Record name is required.")
        );
        assert_eq!(
            put(&bed, "tide", "a\nb", "c"),
            refused("Record name must be a single line.")
        );
        bed.remove("entities/tide.md");
        assert_eq!(
            put(&bed, "tide", "r", "c"),
            refused("Entity file missing for tide. Create it first.")
        );
    }

    #[test]
    fn one_broken_file_does_not_hide_the_others() {
        let bed = Testbed::new();
        for entity in ["tide", "pier", "sea"] {
            make(&bed, entity, "Name", "d").unwrap();
        }
        bed.remove("entities/pier.md");
        bed.save("entities/sea.md", "no head");
        let found = list(bed.folder.root(), 200);
        let found: Vec<_> = found
            .iter()
            .map(|found| (found.entity.as_str(), found.card.is_some()))
            .collect();
        assert_eq!(found, [("pier", false), ("sea", false), ("tide", true)]);
        assert_eq!(list(bed.folder.root(), 1).len(), 1);
        assert_eq!(list(&bed.beside("nowhere"), 9), []);
    }

    #[test]
    fn no_secret_gets_into_a_record() {
        let bed = Testbed::new();
        make(&bed, "tide", "n", "d").unwrap();
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        let saved = put(&bed, "tide", "r", &format!("the token is {token}")).unwrap();
        assert_eq!(saved.secrets, 1);
        assert!(!bed.read("entities/tide.md").unwrap().contains(token));
    }
}
