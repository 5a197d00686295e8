//! Two machines with one memory: each has its own folders, and both end with the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::seams::Store;
use daybook_domain::time::Clock;
use daybook_domain::{Origin, Place, Scope, ScopeKind, SessionId, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::layout::folder;
use daybook_engine::files::{FilesConfig, Folder};
use daybook_engine::ingest::redact::Redactor;
use daybook_engine::jobs::projects::join;
use daybook_engine::jobs::{Progress, WorkLimits, Workshop, remember, write_due};
use daybook_engine::stop::Stop;
use daybook_testkit::ManualClock;
use daybook_testkit::fixtures::{DAWN, user_scope};
use jiff::tz::TimeZone;
use tempfile::TempDir;

use crate::stores::{Made, Make, in_memory, on_server};

struct Unseen;

impl Progress for Unseen {
    fn session_read(&self, _: &SessionId) {}
    fn scope_written(&self, _: &Scope) {}
}

/// Machines that share a store.
struct Site {
    made: Made,
    clock: Arc<ManualClock>,
    folders: Vec<TempDir>,
}

impl Site {
    fn new(machines: usize, made: Made) -> Self {
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

    fn shop(&self, machine: usize) -> Workshop {
        Workshop {
            store: Arc::clone(&self.made.store),
            trees: self.made.trees.clone(),
            root: self.folders[machine].path().to_owned(),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            extractor: Arc::new(Extractive),
            holder: format!("machine-{machine}"),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Default::default(),
            limits: WorkLimits::default(),
        }
    }

    /// Ada asks one machine to remember, and that machine writes it down.
    async fn note(&self, machine: usize, scope: &Scope, words: &str) {
        let (shop, redactor) = (self.shop(machine), Redactor::standard());
        let place = (scope.kind == ScopeKind::Project).then(|| Place {
            root: format!("/code/{}", scope.name),
            branch: None,
        });
        let kept = remember(&shop, &redactor, words, scope.clone(), place, Origin::Human);
        kept.await.expect("it is kept");
        self.write(machine).await;
    }

    async fn write(&self, machine: usize) {
        let written = write_due(&self.shop(machine), &Stop::default(), &Unseen).await;
        assert_eq!(written.expect("files are written").failed, []);
    }

    async fn check_out(&self, machine: usize) {
        let shop = self.shop(machine);
        let (stamp, wait) = (shop.stamp(), shop.limits.folder_wait);
        let sharing = shop.sharing().expect("it is shared");
        let moved = sharing.check_out(&shop.tenant, &stamp, wait).await;
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
const SHARED: [Make; 2] = [in_memory, on_server];

/// Runs `scene` on machines that share a store, on each store that can be shared.
fn on_machines(machines: usize, scene: impl AsyncFn(&Site)) {
    for made in SHARED.iter().filter_map(|make| make()) {
        daybook_testkit::run(scene(&Site::new(machines, made)));
    }
}

fn without(text: &str, words: &str) -> String {
    let left = text.lines().filter(|line| !line.contains(words));
    left.map(|line| format!("{line}\n")).collect()
}

#[test]
fn machines_write_one_memory_and_lose_no_edit() {
    on_machines(2, async |site| {
        let ada = user_scope("ada");
        site.note(0, &ada, "Deploys happen on Tuesdays.").await;
        site.check_out(1).await;
        assert_eq!(site.read(0, &ada), site.read(1, &ada));

        site.edit(1, &ada, |page| {
            format!("{page}\nMy own line, kept by hand.\n")
        });
        site.note(0, &ada, "Backups are taken at night.").await;
        site.note(1, &ada, "The staging server is called reef.")
            .await;
        site.check_out(0).await;
        assert_eq!(site.read(0, &ada), site.read(1, &ada));
        for words in ["Tuesdays", "by hand", "at night", "reef"] {
            assert!(site.read(0, &ada).contains(words), "{words}");
        }
        let stamps = site.store().file_stamps(&ada).await.unwrap();
        site.check_out(0).await;
        site.check_out(1).await;
        assert_eq!(site.store().file_stamps(&ada).await.unwrap(), stamps);
    });
}

#[test]
fn a_history_that_lacks_an_older_commit_is_completed_by_a_checkout() {
    on_machines(2, async |site| {
        let ada = user_scope("ada");
        site.note(0, &ada, "Deploys happen on Tuesdays.").await;
        site.note(0, &ada, "Backups are taken at night.").await;
        site.check_out(1).await;
        let path = folder(site.folders[1].path(), &ada);
        let opened = Folder::open(&path, FilesConfig::default()).unwrap();
        let oldest = opened.log(100).unwrap().pop().unwrap().id.to_string();
        let (first, rest) = oldest.split_at(2);
        fs::remove_file(path.join(".git/objects").join(first).join(rest)).unwrap();
        // As the version that lost it left it: a count, and no commit whose history was seen to be whole.
        fs::write(path.join(".git/daybook/shared"), "1000\n").unwrap();
        assert!(!opened.check_history().unwrap().is_whole());
        site.check_out(1).await;
        assert!(opened.check_history().unwrap().is_whole());
        // What is lost after that is found by the full check, and healed.
        fs::remove_file(path.join(".git/objects").join(first).join(rest)).unwrap();
        site.check_out(1).await;
        let shop = site.shop(1);
        let (stamp, wait) = (shop.stamp(), shop.limits.folder_wait);
        let sharing = shop.sharing().expect("it is shared");
        let found = sharing.check_history(&ada).await.unwrap().unwrap();
        assert_eq!((found.here.broken(), found.missing_there), (1, 0));
        let healed = sharing.heal_history(&ada, &stamp, wait).await.unwrap();
        assert_eq!(healed.map(|healed| healed.fetched), Some(1));
        let found = sharing.check_history(&ada).await.unwrap().unwrap();
        assert!(found.is_whole());
    });
}

#[test]
fn what_a_person_deletes_on_one_machine_is_withdrawn_by_any() {
    on_machines(3, async |site| {
        let ada = user_scope("ada");
        site.note(0, &ada, "Deploys happen on Tuesdays.").await;
        site.note(0, &ada, "Backups are taken at night.").await;
        site.check_out(1).await;
        site.edit(1, &ada, |page| without(page, "Tuesdays"));
        let shop = site.shop(1);
        let (stamp, wait) = (shop.stamp(), shop.limits.folder_wait);
        let sharing = shop.sharing().expect("it is shared");
        let checked_in = sharing.check_in(&ada, &stamp, wait).await.unwrap().unwrap();
        assert!(checked_in.given > 0 && !checked_in.merged);

        site.write(2).await;
        let held = site.store().observations(&ada).await.unwrap();
        let texts: Vec<&str> = held.iter().map(|o| o.text.as_str()).collect();
        assert_eq!(texts, ["Backups are taken at night."]);
        site.note(0, &ada, "The staging server is called reef.")
            .await;
        for machine in 0..3 {
            site.check_out(machine).await;
            assert!(!site.read(machine, &ada).contains("Tuesdays"));
            assert!(site.read(machine, &ada).contains("reef"));
        }
    });
}

#[test]
fn a_project_that_is_joined_leaves_no_files_on_any_machine() {
    on_machines(2, async |site| {
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
        let now = site.clock.now();
        let local = Tenant::local();
        let assigned = site
            .store()
            .assign_root(&local, "/code/lagoon", &lagoon, now);
        assigned.await.unwrap();
        site.note(0, &project("lagoon"), "Tides are read hourly.")
            .await;
        site.check_out(1).await;
        site.edit(1, &project("lagoon"), |page| {
            format!("{page}\nMy own line.\n")
        });
        let joined = join(&site.shop(1), "lagoon", "tidepool").await;
        let line_and_note = 2;
        assert_eq!(joined.unwrap().words, line_and_note);
        site.write(1).await;
        site.check_out(0).await;
        assert!(!site.page(0, &project("lagoon")).exists());
        assert!(site.read(0, &project("tidepool")).contains("My own line."));
        let lies = |path: &Path| path.join(".git").is_dir();
        assert!(lies(&folder(site.folders[0].path(), &project("lagoon"))));
    });
}

/// Both machines write without hearing of each other, and one drops what the other still shows.
#[test]
fn what_the_engine_itself_dropped_on_one_machine_is_no_persons_deletion() {
    on_machines(2, async |site| {
        let ada = user_scope("ada");
        site.note(0, &ada, "Deploys happen on Tuesdays.").await;
        site.note(0, &ada, "Backups are taken at night.").await;
        site.check_out(1).await;
        // As if each had written for the other machines when these could not be reached.
        let alone = |machine: usize| Workshop {
            trees: None,
            ..site.shop(machine)
        };
        let redactor = Redactor::standard();
        let held = site.store().observations(&ada).await.unwrap();
        let backups = held.iter().find(|o| o.text.contains("night")).unwrap();
        let words = "The staging server is called reef.";
        let (shop, place) = (alone(0), None);
        let kept = remember(&shop, &redactor, words, ada.clone(), place, Origin::Human);
        kept.await.expect("it is kept");
        write_due(&alone(0), &Stop::default(), &Unseen)
            .await
            .unwrap();
        site.store()
            .retract(&ada, backups.id, site.clock.now())
            .await
            .unwrap();
        site.store()
            .touch_scope(&ada, site.clock.now())
            .await
            .unwrap();
        write_due(&alone(1), &Stop::default(), &Unseen)
            .await
            .unwrap();
        let (shop, words) = (site.shop(0), backups.text.as_str());
        let again = remember(&shop, &redactor, words, ada.clone(), None, Origin::Human);
        again.await.expect("it is said again");
        for machine in [0, 1, 0] {
            site.check_out(machine).await;
            site.store()
                .touch_scope(&ada, site.clock.now())
                .await
                .unwrap();
            site.write(machine).await;
        }
        let held = site.store().observations(&ada).await.unwrap();
        assert_eq!(held.len(), 3, "{held:?}");
        assert!(site.read(0, &ada).contains("at night"));
    });
}
