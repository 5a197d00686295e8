//! A person's entities as one extraction sees and changes them: the files, what waits to be written to
//! them, and what it has staged itself. Writes nothing.
//!
//! Not here: what may be believed of a write (`extract`).

use std::path::Path;

use daybook_domain::{EntityChange, EntityWrite, Staged};

use super::change::{Overlay, checked, entity_word, path_of};
use super::{EntityError, disk, listed, told};
use crate::extract::entity_tools::{Proposed, Shelf};
use crate::files::error::FilesError;
use crate::files::path::FilePath;
use crate::ingest::redact::Redactor;

/// Most places that one extraction writes.
const WRITES: usize = 40;
/// Most bytes that one extraction stages: they become one row of the store.
const BYTES: usize = 64 * 1024;

type Disk = Box<dyn Fn(&FilePath) -> Result<Option<String>, FilesError> + Send>;

/// The entities of one memory folder.
pub struct FolderShelf {
    overlay: Overlay<Disk>,
    redactor: Redactor,
    staged: Vec<EntityWrite>,
}

impl FolderShelf {
    /// The entities of the memory folder at `folder`, as they will be once `waiting` is written.
    ///
    /// # Errors
    /// What the disk says.
    pub fn open(folder: &Path, waiting: &[Staged]) -> Result<Self, FilesError> {
        let read = disk(folder.to_owned());
        let read: Disk = Box::new(move |path| Ok(read(path)));
        let mut overlay = Overlay::over(read);
        for write in waiting.iter().flat_map(|staged| &staged.writes) {
            overlay.make_staged(write)?;
        }
        Ok(Self {
            overlay,
            redactor: Redactor::standard(),
            staged: Vec::new(),
        })
    }

    fn room_for(&self, write: &EntityWrite) -> Result<(), EntityError> {
        let others = self.staged.iter().filter(|staged| !staged.is_for(write));
        let others: Vec<&EntityWrite> = others.collect();
        let bytes: usize = others.iter().map(|staged| bytes(staged)).sum();
        if others.len() < WRITES && bytes + self::bytes(write) <= BYTES {
            return Ok(());
        }
        let full =
            "No more can be written in this session part; what is most worth keeping is there.";
        Err(EntityError::Refused(full.to_owned()))
    }

    fn proposed(&self, entity: &str, change: &EntityChange) -> Result<Proposed, EntityError> {
        let (mut write, secrets) = checked(&self.redactor, entity, change)?;
        write.over = self.overlay.standing(&write)?;
        // It is worked out now, so that what cannot be is refused before it is judged.
        self.overlay.would_make(&write)?;
        self.room_for(&write)?;
        let before = self.overlay.text(&path_of(&write.entity))?;
        Ok(Proposed {
            write,
            before: before.unwrap_or_default(),
            secrets,
        })
    }
}

fn bytes(write: &EntityWrite) -> usize {
    match &write.change {
        EntityChange::Card { name, description } => name.len() + description.len(),
        EntityChange::Record { record, content } => record.len() + content.len(),
    }
}

impl Shelf for FolderShelf {
    fn list(&self, limit: usize) -> Vec<String> {
        let read = |path: &FilePath| self.overlay.text(path);
        let listed = listed(limit, &read);
        let line = |listed: &super::Listed| self.redactor.redact(&listed.line()).text.into_owned();
        listed.iter().map(line).collect()
    }

    fn read(&self, entity: &str) -> Result<String, String> {
        let text = entity_word(entity).and_then(|entity| {
            let text = self.overlay.text(&path_of(&entity))?;
            text.ok_or_else(|| EntityError::Refused(format!("Unknown entity: {entity}.")))
        });
        let text = text.map_err(|error| error.to_string())?;
        Ok(self.redactor.redact(&text).text.into_owned())
    }

    fn propose(&self, entity: &str, change: &EntityChange) -> Result<Proposed, String> {
        let proposed = self.proposed(entity, change);
        proposed.map_err(|error| error.to_string())
    }

    fn stage(&mut self, proposed: Proposed) -> Result<String, String> {
        let Proposed { write, secrets, .. } = proposed;
        let made = self.overlay.make(&write);
        let made = made.map_err(|error| error.to_string())?;
        let told = told(&write.entity, write.record(), made.created, secrets);
        match self.staged.iter_mut().find(|staged| staged.is_for(&write)) {
            // What stood there before is what stood before the first of them.
            Some(staged) => staged.change = write.change,
            None => self.staged.push(write),
        }
        Ok(told)
    }

    fn staged(self: Box<Self>) -> Vec<EntityWrite> {
        self.staged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::testbed::Testbed;

    fn card(name: &str) -> EntityChange {
        EntityChange::Card {
            name: name.to_owned(),
            description: "the sea".to_owned(),
        }
    }

    fn record(content: &str) -> EntityChange {
        EntityChange::Record {
            record: "Source".to_owned(),
            content: content.to_owned(),
        }
    }

    fn put(shelf: &mut FolderShelf, change: &EntityChange) -> Result<String, String> {
        let proposed = shelf.propose(" tide ", change)?;
        shelf.stage(proposed)
    }

    #[test]
    fn what_is_staged_is_read_and_stands_in_no_file() {
        let bed = Testbed::new();
        let mut shelf = FolderShelf::open(bed.folder.root(), &[]).unwrap();
        assert_eq!(
            put(&mut shelf, &record("the pier")),
            Err("Unknown entity: tide. Create it first.".to_owned())
        );
        for (change, told) in [
            (card("Tide"), "Created memory entity tide."),
            (record("the pier"), "Added record Source to tide."),
            (record("the harbour"), "Updated record Source in tide."),
            (card("Tides"), "Memory entity tide updated."),
        ] {
            assert_eq!(put(&mut shelf, &change), Ok(told.to_owned()));
        }
        assert_eq!(shelf.list(9), ["- tide: Tides — the sea"]);
        assert!(
            shelf
                .read("tide")
                .unwrap()
                .ends_with("## Source\nthe harbour\n")
        );
        assert_eq!(shelf.read("pier"), Err("Unknown entity: pier.".to_owned()));
        assert_eq!(bed.read("INDEX.md"), None);
        let staged = Box::new(shelf).staged();
        let expected = [card("Tides"), record("the harbour")];
        assert!(staged.iter().map(|write| &write.change).eq(&expected));
        assert!(staged.iter().all(|write| write.over.is_none()));
    }

    #[test]
    fn no_secret_is_staged_or_shown() {
        let bed = Testbed::new();
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        bed.save("INDEX.md", "- tide\n");
        bed.save("entities/tide.md", format!("# tide\n{token}\n"));
        let mut shelf = FolderShelf::open(bed.folder.root(), &[]).unwrap();
        assert!(!shelf.read("tide").unwrap().contains(token));
        let told = put(&mut shelf, &record(&format!("it is {token}"))).unwrap();
        assert!(told.ends_with("A secret in it was hidden before it was kept."));
        let staged = Box::new(shelf).staged();
        assert!(!format!("{staged:?}").contains(token));
    }

    #[test]
    fn an_extraction_stages_so_much_and_no_more() {
        let bed = Testbed::new();
        let mut shelf = FolderShelf::open(bed.folder.root(), &[]).unwrap();
        put(&mut shelf, &card("Tide")).unwrap();
        put(&mut shelf, &record(&"x".repeat(BYTES - 100))).unwrap();
        // The same place may be written again.
        put(&mut shelf, &record(&"y".repeat(BYTES - 100))).unwrap();
        let other = EntityChange::Record {
            record: "Other".to_owned(),
            content: "z".repeat(100),
        };
        assert!(put(&mut shelf, &other).unwrap_err().starts_with("No more"));
    }
}
