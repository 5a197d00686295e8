//! Entities: things that the memory knows, each a file with records, kept by agents' tools.
//!
//! `entities/<entity>.md` holds an entity, `INDEX.md` lists them. A write takes the folder's writer
//! lock and is one commit, like every other; so two agents never undo each other's records.
//!
//! Not here: how the files look (`format`), and which folder they lie in.

mod format;

use std::fs;
use std::path::Path;

use super::changes::Changes;
use super::error::FilesError;
use super::lock::WriterLock;
use super::path::FilePath;
use super::stamp::Stamp;
use super::write::{Snapshot, WriteOutcome};
use crate::ingest::redact::Redactor;

pub use format::Card;

/// The list of entities.
const INDEX: &str = "INDEX.md";
/// Longest name of an entity for people, in characters.
pub const NAME: usize = 60;
/// Longest description, in characters.
pub const DESCRIPTION: usize = 160;
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
    let entity = entity_word(entity)?;
    let mut secrets = 0;
    let mut hidden = |text: &str| hide(redactor, text, &mut secrets);
    let card = Card {
        name: one_line("Name", &hidden(&card.name), NAME)?,
        description: one_line("Description", &hidden(&card.description), DESCRIPTION)?,
    };
    let path = path_of(&entity)?;
    let mut created = false;
    let message = format!("{SUBJECT}describe {entity}");
    let outcome = lock.write(stamp, &message, &|| true, |snapshot| {
        let old = text(snapshot, &path)?;
        created = old.is_none();
        let index_path = FilePath::new(INDEX)?;
        let index = text(snapshot, &index_path)?.unwrap_or_default();
        let mut changes = Changes::none();
        changes.write(
            path.clone(),
            format::with_card(old.as_deref(), &entity, &card),
        );
        changes.write(index_path, format::with_listed(&index, &entity));
        Ok(changes)
    })?;
    done(outcome);
    Ok(Saved {
        path: path.to_string(),
        created,
        secrets,
    })
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
    let entity = entity_word(entity)?;
    let mut secrets = 0;
    let record = record_name(&hide(redactor, record, &mut secrets))?;
    let content = hide(redactor, content, &mut secrets);
    if content.len() > CONTENT {
        let limit = format!("Content must be at most {CONTENT} bytes; use several records.");
        return Err(EntityError::Refused(limit));
    }
    let path = path_of(&entity)?;
    let mut created = Err(String::new());
    let message = format!("{SUBJECT}record \"{record}\" of {entity}");
    let outcome = lock.write(stamp, &message, &|| true, |snapshot| {
        let index = text(snapshot, &FilePath::new(INDEX)?)?.unwrap_or_default();
        let mut changes = Changes::none();
        let Some(old) = text(snapshot, &path)? else {
            created = Err(match format::listed(&index).contains(&entity) {
                true => format!("Entity file missing for {entity}. Create it first."),
                false => format!("Unknown entity: {entity}. Create it first."),
            });
            return Ok(changes);
        };
        if !format::listed(&index).contains(&entity) {
            created = Err(format!("Unknown entity: {entity}. Create it first."));
            return Ok(changes);
        }
        let (new, added) = format::with_record(&old, &record, &content);
        created = Ok(added);
        changes.write(path.clone(), new);
        Ok(changes)
    })?;
    done(outcome);
    Ok(Saved {
        path: path.to_string(),
        created: created.map_err(EntityError::Refused)?,
        secrets,
    })
}

/// The entities of the memory folder at `folder`, in the order of its index, at most `limit`.
#[must_use]
pub fn list(folder: &Path, limit: usize) -> Vec<Listed> {
    let read = |path: &Path| fs::read(path).ok().and_then(|b| String::from_utf8(b).ok());
    let index = read(&folder.join(INDEX)).unwrap_or_default();
    let entities = format::listed(&index).into_iter().take(limit);
    entities
        .map(|entity| {
            let file = folder.join("entities").join(format!("{entity}.md"));
            Listed {
                card: read(&file).as_deref().and_then(format::card),
                entity,
            }
        })
        .collect()
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

fn path_of(entity: &str) -> Result<FilePath, FilesError> {
    FilePath::new(format!("entities/{entity}.md"))
}

fn hide(redactor: &Redactor, text: &str, secrets: &mut usize) -> String {
    let redacted = redactor.redact(text);
    *secrets += redacted.findings.len();
    redacted.text.into_owned()
}

fn entity_word(entity: &str) -> Result<String, EntityError> {
    let entity = entity.trim();
    let is_word = !entity.is_empty() && entity.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_word {
        let rule = "Entity must be a lowercase english word (a-z only, no underscores).";
        return Err(EntityError::Refused(rule.to_owned()));
    }
    if entity.len() > ENTITY {
        let rule = format!("Entity must be at most {ENTITY} letters.");
        return Err(EntityError::Refused(rule));
    }
    Ok(entity.to_owned())
}

fn one_line(what: &str, text: &str, limit: usize) -> Result<String, EntityError> {
    let text = text.trim();
    let fault = match text {
        "" => "is required.".to_owned(),
        text if text.chars().count() > limit => format!("must be at most {limit} characters."),
        text if text.contains(['\n', '\r']) => "must be a single line.".to_owned(),
        text => return Ok(text.to_owned()),
    };
    Err(EntityError::Refused(format!("{what} {fault}")))
}

fn record_name(record: &str) -> Result<String, EntityError> {
    one_line("Record name", record, RECORD)
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
