//! Machines that share one memory: each has its own folders, and all end with the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::{Origin, Place, Scope, ScopeKind, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::jobs::projects::join;
use daybook_engine::jobs::{WorkLimits, WorkerContext, remember, write_due};
use daybook_engine::stop::Stop;
use daybook_testkit::ManualClock;
use daybook_testkit::fixtures::{DAWN, user_scope};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{OpenStore, TestStore, in_memory, on_server};

/// Several machines that share a store.
struct MachineGroup {
    made: TestStore,
    clock: Arc<ManualClock>,
    folders: Vec<TempDir>,
}

impl MachineGroup {
    fn new(machines: usize, made: TestStore) -> Self {
        let folders = (0..machines).map(|_| tempfile::tempdir().expect("a folder can be made"));
        Self {
            made,
            clock: Arc::new(ManualClock::at(DAWN)),
            folders: folders.collect(),
        }
    }

    fn store(&self) -> &dyn Store {
        &*self.made.store
    }

    fn worker(&self, machine: usize) -> WorkerContext {
        WorkerContext {
            store: Arc::clone(&self.made.store),
            trees: self.made.trees.clone(),
            before_files: None,
            root: self.folders[machine].path().to_owned(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: format!("machine-{machine}"),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Default::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits::default(),
        }
    }

    /// Ada stores a note on one machine, which then writes its files.
    async fn note(&self, machine: usize, scope: &Scope, words: &str) {
        let (worker, redactor) = (self.worker(machine), Redactor::standard());
        let place = (scope.kind == ScopeKind::Project).then(|| Place {
            root: format!("/code/{}", scope.name),
            branch: None,
        });
        let kept = remember(
            &worker,
            &redactor,
            words,
            scope.clone(),
            place,
            Origin::Human,
        );
        kept.await.expect("it is kept");
        self.write(machine).await;
    }

    async fn write(&self, machine: usize) {
        let written = write_due(&self.worker(machine), &Stop::default(), &SilentProgress).await;
        assert_eq!(written.expect("files are written").failed, []);
    }

    async fn check_out(&self, machine: usize) {
        let worker = self.worker(machine);
        let (stamp, wait) = (worker.stamp(), worker.limits.folder_wait);
        let sharing = worker.folder_sync().expect("it is shared");
        let moved = sharing.check_out(&worker.tenant, &stamp, wait).await;
        assert!(
            moved
                .expect("it is read")
                .iter()
                .all(|(_, met)| met.is_some())
        );
    }

    fn page(&self, machine: usize, scope: &Scope) -> PathBuf {
        folder(self.folders[machine].path(), scope).join("MEMORY.md")
    }

    fn read(&self, machine: usize, scope: &Scope) -> String {
        fs::read_to_string(self.page(machine, scope)).expect("the page is there")
    }

    fn edit(&self, machine: usize, scope: &Scope, edit: impl Fn(&str) -> String) {
        let page = self.page(machine, scope);
        fs::write(&page, edit(&self.read(machine, scope))).expect("the page is there");
    }
}

/// The stores that several machines can share.
const SHARED: [OpenStore; 2] = [in_memory, on_server];

/// Runs `test` on machines that share a store, on each store that can be shared.
fn on_machines(machines: usize, test: impl AsyncFn(&MachineGroup)) {
    for made in SHARED.iter().filter_map(|make| make()) {
        daybook_testkit::run(test(&MachineGroup::new(machines, made)));
    }
}

fn without(text: &str, words: &str) -> String {
    let left = text.lines().filter(|line| !line.contains(words));
    left.map(|line| format!("{line}\n")).collect()
}

#[test]
fn machines_write_one_memory_and_lose_no_edit() {
    on_machines(2, async |machines| {
        let ada = user_scope("ada");
        machines.note(0, &ada, "Deploys happen on Tuesdays.").await;
        machines.check_out(1).await;
        assert_eq!(machines.read(0, &ada), machines.read(1, &ada));

        machines.edit(1, &ada, |page| {
            format!("{page}\nMy own line, kept by hand.\n")
        });
        machines.note(0, &ada, "Backups are taken at night.").await;
        machines
            .note(1, &ada, "The staging server is called reef.")
            .await;
        machines.check_out(0).await;
        assert_eq!(machines.read(0, &ada), machines.read(1, &ada));
        for words in ["Tuesdays", "by hand", "at night", "reef"] {
            assert!(machines.read(0, &ada).contains(words), "{words}");
        }
        let stamps = machines.store().file_stamps(&ada).await.unwrap();
        machines.check_out(0).await;
        machines.check_out(1).await;
        assert_eq!(machines.store().file_stamps(&ada).await.unwrap(), stamps);
    });
}

#[test]
fn a_history_that_lacks_an_older_commit_is_completed_by_a_checkout() {
    on_machines(2, async |machines| {
        let ada = user_scope("ada");
        machines.note(0, &ada, "Deploys happen on Tuesdays.").await;
        machines.note(0, &ada, "Backups are taken at night.").await;
        machines.check_out(1).await;
        let path = folder(machines.folders[1].path(), &ada);
        let opened = Folder::open(&path, FilesConfig::default()).unwrap();
        let oldest = opened.log(100).unwrap().pop().unwrap().id.to_string();
        let (first, rest) = oldest.split_at(2);
        fs::remove_file(path.join(".git/objects").join(first).join(rest)).unwrap();
        // As left by the version that lost it: a count, and no commit whose history was found complete.
        fs::write(path.join(".git/daybook/shared"), "1000\n").unwrap();
        assert!(!opened.check_history().unwrap().is_intact());
        machines.check_out(1).await;
        assert!(opened.check_history().unwrap().is_intact());
        // Later losses are found by the full check, and repaired.
        fs::remove_file(path.join(".git/objects").join(first).join(rest)).unwrap();
        machines.check_out(1).await;
        let worker = machines.worker(1);
        let (stamp, wait) = (worker.stamp(), worker.limits.folder_wait);
        let sharing = worker.folder_sync().expect("it is shared");
        let found = sharing.check_history(&ada).await.unwrap().unwrap();
        assert_eq!((found.here.broken(), found.missing_in_store), (1, 0));
        let healed = sharing.repair_history(&ada, &stamp, wait).await.unwrap();
        assert_eq!(healed.map(|healed| healed.fetched), Some(1));
        let found = sharing.check_history(&ada).await.unwrap().unwrap();
        assert!(found.is_intact());
    });
}

#[test]
fn what_a_person_deletes_on_one_machine_is_withdrawn_by_any() {
    on_machines(3, async |machines| {
        let ada = user_scope("ada");
        machines.note(0, &ada, "Deploys happen on Tuesdays.").await;
        machines.note(0, &ada, "Backups are taken at night.").await;
        machines.check_out(1).await;
        machines.edit(1, &ada, |page| without(page, "Tuesdays"));
        let worker = machines.worker(1);
        let (stamp, wait) = (worker.stamp(), worker.limits.folder_wait);
        let sharing = worker.folder_sync().expect("it is shared");
        let checked_in = sharing.check_in(&ada, &stamp, wait).await.unwrap().unwrap();
        assert!(checked_in.pushed > 0 && !checked_in.merged);

        machines.write(2).await;
        let held = machines.store().observations(&ada).await.unwrap();
        let texts: Vec<&str> = held.iter().map(|o| o.text.as_str()).collect();
        assert_eq!(texts, ["Backups are taken at night."]);
        machines
            .note(0, &ada, "The staging server is called reef.")
            .await;
        for machine in 0..3 {
            machines.check_out(machine).await;
            assert!(!machines.read(machine, &ada).contains("Tuesdays"));
            assert!(machines.read(machine, &ada).contains("reef"));
        }
    });
}

#[test]
fn a_project_that_is_joined_leaves_no_files_on_any_machine() {
    on_machines(2, async |machines| {
        let project = |name: &str| Scope {
            tenant: Tenant::local(),
            kind: ScopeKind::Project,
            name: name.to_owned(),
        };
        let lagoon = daybook_domain::Project {
            identity: "/code/lagoon".to_owned(),
            key: "lagoon".to_owned(),
            guessed: false,
        };
        let now = machines.clock.now();
        let local = Tenant::local();
        let assigned = machines
            .store()
            .assign_root(&local, "/code/lagoon", &lagoon, now);
        assigned.await.unwrap();
        machines
            .note(0, &project("lagoon"), "Tides are read hourly.")
            .await;
        machines.check_out(1).await;
        machines.edit(1, &project("lagoon"), |page| {
            format!("{page}\nMy own line.\n")
        });
        let joined = join(&machines.worker(1), "lagoon", "tidepool").await;
        let line_and_note = 2;
        assert_eq!(joined.unwrap().words, line_and_note);
        machines.write(1).await;
        machines.check_out(0).await;
        assert!(!machines.page(0, &project("lagoon")).exists());
        assert!(
            machines
                .read(0, &project("tidepool"))
                .contains("My own line.")
        );
        let lies = |path: &Path| path.join(".git").is_dir();
        assert!(lies(&folder(
            machines.folders[0].path(),
            &project("lagoon")
        )));
    });
}

/// Both machines write without contact, and one drops an entry that the other still shows.
#[test]
fn what_the_engine_itself_dropped_on_one_machine_is_no_persons_deletion() {
    on_machines(2, async |machines| {
        let ada = user_scope("ada");
        machines.note(0, &ada, "Deploys happen on Tuesdays.").await;
        machines.note(0, &ada, "Backups are taken at night.").await;
        machines.check_out(1).await;
        // As if each had written while the shared store could not be reached.
        let alone = |machine: usize| WorkerContext {
            trees: None,
            before_files: None,
            ..machines.worker(machine)
        };
        let redactor = Redactor::standard();
        let held = machines.store().observations(&ada).await.unwrap();
        let backups = held.iter().find(|o| o.text.contains("night")).unwrap();
        let words = "The staging server is called reef.";
        let (worker, place) = (alone(0), None);
        let kept = remember(&worker, &redactor, words, ada.clone(), place, Origin::Human);
        kept.await.expect("it is kept");
        write_due(&alone(0), &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        machines
            .store()
            .retract(&ada, backups.id, machines.clock.now())
            .await
            .unwrap();
        machines
            .store()
            .touch_scope(&ada, machines.clock.now())
            .await
            .unwrap();
        write_due(&alone(1), &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        let (worker, words) = (machines.worker(0), backups.text.as_str());
        let again = remember(&worker, &redactor, words, ada.clone(), None, Origin::Human);
        again.await.expect("it is said again");
        for machine in [0, 1, 0] {
            machines.check_out(machine).await;
            machines
                .store()
                .touch_scope(&ada, machines.clock.now())
                .await
                .unwrap();
            machines.write(machine).await;
        }
        let held = machines.store().observations(&ada).await.unwrap();
        assert_eq!(held.len(), 3, "{held:?}");
        assert!(machines.read(0, &ada).contains("at night"));
    });
}
