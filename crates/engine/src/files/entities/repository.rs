//! One extraction's view of a person's entities: the files, staged writes not yet applied, and its own
//! writes. Writes no file.
//!
//! Not here: validating a write against its evidence (`extract`).

use std::path::Path;

use daybook_domain::{EntityChange, EntityWrite, StagedEntityWrite};

use super::change::{Overlay, check_change, parse_entity, path_of};
use super::{EntityError, change_message, disk_reader, list_entities};
use crate::extract::entity_tools::{EntityRepository, ProposedWrite};
use crate::files::error::FilesError;
use crate::files::path::FilePath;
use daybook_text::redact::Redactor;

/// Most cards and records that one extraction writes.
const WRITES: usize = 40;
/// Most bytes that one extraction stages: they become one row of the store.
const BYTES: usize = 64 * 1024;

type Disk = Box<dyn Fn(&FilePath) -> Result<Option<String>, FilesError> + Send>;

/// The entities of one memory folder.
pub struct FolderEntityRepository {
    overlay: Overlay<Disk>,
    redactor: Redactor,
    staged: Vec<EntityWrite>,
}

impl FolderEntityRepository {
    /// The entities of the memory folder at `folder`, with the `waiting` writes applied.
    ///
    /// # Errors
    /// When the memory folder cannot be read.
    pub fn open(folder: &Path, waiting: &[StagedEntityWrite]) -> Result<Self, FilesError> {
        let read = disk_reader(folder.to_owned());
        let read: Disk = Box::new(move |path| Ok(read(path)));
        let mut overlay = Overlay::over(read);
        for write in waiting.iter().flat_map(|staged| &staged.writes) {
            overlay.apply_staged(write)?;
        }
        Ok(Self {
            overlay,
            redactor: Redactor::current(),
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

    fn proposed(&self, entity: &str, change: &EntityChange) -> Result<ProposedWrite, EntityError> {
        let (mut write, secrets) = check_change(&self.redactor, entity, change)?;
        write.over = self.overlay.current_fingerprint(&write)?;
        // Computed now, so that an impossible change is refused before it is validated.
        self.overlay.plan(&write)?;
        self.room_for(&write)?;
        let before = self.overlay.text(&path_of(&write.entity))?;
        Ok(ProposedWrite {
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

impl EntityRepository for FolderEntityRepository {
    fn list(&self, limit: usize) -> Vec<String> {
        let read = |path: &FilePath| self.overlay.text(path);
        let listed = list_entities(limit, &read);
        let line =
            |listed: &super::ListedEntity| self.redactor.redact(&listed.line()).text.into_owned();
        listed.iter().map(line).collect()
    }

    fn read(&self, entity: &str) -> Result<String, String> {
        let text = parse_entity(entity).and_then(|entity| {
            let text = self.overlay.text(&path_of(&entity))?;
            text.ok_or_else(|| EntityError::Refused(format!("Unknown entity: {entity}.")))
        });
        let text = text.map_err(|error| error.to_string())?;
        Ok(self.redactor.redact(&text).text.into_owned())
    }

    fn propose(&self, entity: &str, change: &EntityChange) -> Result<ProposedWrite, String> {
        let proposed = self.proposed(entity, change);
        proposed.map_err(|error| error.to_string())
    }

    fn stage(&mut self, proposed: ProposedWrite) -> Result<String, String> {
        let ProposedWrite { write, secrets, .. } = proposed;
        let made = self.overlay.apply(&write);
        let made = made.map_err(|error| error.to_string())?;
        let message = change_message(&write.entity, write.record(), made.created, secrets);
        match self.staged.iter_mut().find(|staged| staged.is_for(&write)) {
            // The replaced text is that before the first of these writes.
            Some(staged) => staged.change = write.change,
            None => self.staged.push(write),
        }
        Ok(message)
    }

    fn staged(self: Box<Self>) -> Vec<EntityWrite> {
        self.staged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::folder_test_support::TestFolder;

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

    fn put(
        repository: &mut FolderEntityRepository,
        change: &EntityChange,
    ) -> Result<String, String> {
        let proposed = repository.propose(" tide ", change)?;
        repository.stage(proposed)
    }

    #[test]
    fn staged_writes_are_read_back_and_change_no_file() {
        let memory = TestFolder::new();
        let mut repository = FolderEntityRepository::open(memory.folder.root(), &[]).unwrap();
        assert_eq!(
            put(&mut repository, &record("the pier")),
            Err("Unknown entity: tide. Create it first.".to_owned())
        );
        for (change, message) in [
            (card("Tide"), "Created memory entity tide."),
            (record("the pier"), "Added record Source to tide."),
            (record("the harbour"), "Updated record Source in tide."),
            (card("Tides"), "Memory entity tide updated."),
        ] {
            assert_eq!(put(&mut repository, &change), Ok(message.to_owned()));
        }
        assert_eq!(repository.list(9), ["- tide: Tides — the sea"]);
        assert!(
            repository
                .read("tide")
                .unwrap()
                .ends_with("## Source\nthe harbour\n")
        );
        assert_eq!(
            repository.read("pier"),
            Err("Unknown entity: pier.".to_owned())
        );
        assert_eq!(memory.read("INDEX.md"), None);
        let staged = Box::new(repository).staged();
        let expected = [card("Tides"), record("the harbour")];
        assert!(staged.iter().map(|write| &write.change).eq(&expected));
        assert!(staged.iter().all(|write| write.over.is_none()));
    }

    #[test]
    fn no_secret_is_staged_or_shown() {
        let memory = TestFolder::new();
        let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
        memory.save("INDEX.md", "- tide\n");
        memory.save("entities/tide.md", format!("# tide\n{token}\n"));
        let mut repository = FolderEntityRepository::open(memory.folder.root(), &[]).unwrap();
        assert!(!repository.read("tide").unwrap().contains(token));
        let message = put(&mut repository, &record(&format!("it is {token}"))).unwrap();
        assert!(message.ends_with("A secret in it was hidden before it was kept."));
        let staged = Box::new(repository).staged();
        assert!(!format!("{staged:?}").contains(token));
    }

    #[test]
    fn an_extraction_stages_so_much_and_no_more() {
        let memory = TestFolder::new();
        let mut repository = FolderEntityRepository::open(memory.folder.root(), &[]).unwrap();
        put(&mut repository, &card("Tide")).unwrap();
        put(&mut repository, &record(&"x".repeat(BYTES - 100))).unwrap();
        // The same record may be written again.
        put(&mut repository, &record(&"y".repeat(BYTES - 100))).unwrap();
        let other = EntityChange::Record {
            record: "Other".to_owned(),
            content: "z".repeat(100),
        };
        assert!(
            put(&mut repository, &other)
                .unwrap_err()
                .starts_with("No more")
        );
    }
}
