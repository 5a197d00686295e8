//! Any session id is a valid name, and one bad path in a memory folder affects no other file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::{FailureClass, JobKind, Tenant};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::files::layout::folder;
use daybook_engine::jobs::{UpdateReport, WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{
    EventFixture, append, at, claim_of, event, failed, project_scope, session,
};
use daybook_testkit::{ManualClock, run};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

/// The memory of one project, with its files.
struct NameFixture {
    worker: WorkerContext,
    root: TempDir,
    _made: stores::TestStore,
}

impl NameFixture {
    fn new() -> Self {
        let made = stores::in_memory().expect("memory is always there");
        let root = TempDir::new().unwrap();
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: None,
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(10_000))),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits::default(),
        };
        Self {
            worker,
            root,
            _made: made,
        }
    }

    fn memory(&self) -> PathBuf {
        folder(self.root.path(), &project_scope("tidepool"))
    }

    /// Appends an event to the session `id` that sets a limit.
    async fn say(&self, id: &str, what: &str) -> bool {
        let words = format!("set the {what} limit to 50 entries");
        let said = event(&words).with_place("/nowhere/ada/tidepool");
        let append = append(&session(id), vec![said]);
        self.worker.store.append(&append).await.is_ok()
    }

    async fn work(&self) -> UpdateReport {
        work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap()
    }

    fn curated(&self) -> String {
        fs::read_to_string(self.memory().join("MEMORY.md")).unwrap_or_default()
    }

    fn session_pages(&self) -> BTreeSet<String> {
        let folder = self.memory().join("sessions");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect()
    }
}

fn everything_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_name() == ".git" {
            continue;
        }
        found.insert(entry.path());
        if entry.file_type().unwrap().is_dir() {
            everything_below(&entry.path(), found);
        }
    }
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-cA-C./\\\\ \n\0%~:\\[\\]^#-]{1,8}",
        "(ops/|\\.\\./|\\.git/|con|COM1|é|e\u{301}){1,4}",
        "[a-z]{300}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sessions_of_any_id_have_a_page_each_and_none_elsewhere(
        ids in proptest::collection::btree_set(any_id(), 1..5)
    ) {
        let fixture = NameFixture::new();
        run(async {
            let mut taken_in = 0;
            for id in &ids {
                taken_in += usize::from(fixture.say(id, "cache").await);
            }
            let report = fixture.work().await;
            prop_assert_eq!(&report.failed, &[]);
            prop_assert!(report.unwritten.values().all(Vec::is_empty));
            prop_assert_eq!(fixture.session_pages().len(), taken_in, "{:?}", ids);
            let mut found = BTreeSet::new();
            everything_below(fixture.root.path(), &mut found);
            let pages = fixture.memory().join("sessions");
            for path in found {
                prop_assert!(path.starts_with(fixture.memory()) || fixture.memory().starts_with(&path)
                    || path.starts_with(fixture.root.path().join("run")), "{}", path.display());
                prop_assert!(!path.starts_with(&pages) || path == pages || path.parent() == Some(&pages));
            }
            // The files are read back as they were written: nothing is left to do.
            let head = fs::read(fixture.memory().join(".git/refs/heads/main")).ok();
            fixture.worker.store.touch_scope(&project_scope("tidepool"), at(10_001)).await.unwrap();
            fixture.work().await;
            prop_assert_eq!(fs::read(fixture.memory().join(".git/refs/heads/main")).ok(), head);
            Ok(())
        })?;
    }
}

#[test]
fn a_project_that_froze_for_a_name_is_written_at_the_next_run() {
    let fixture = NameFixture::new();
    run(async {
        assert!(fixture.say("ops/1", "cache").await);
        // An obstacle keeps the first run from writing, and the job waits for an outage to end.
        fs::write(fixture.root.path().join("projects"), "in the way").unwrap();
        assert_eq!(fixture.work().await.failed.len(), 1);
        let store = &fixture.worker.store;
        let later = at(9_000_000);
        let claims = store
            .claim(claim_of(JobKind::Consolidate, later, 9))
            .await
            .unwrap();
        let mut frozen = failed(FailureClass::Outage);
        frozen.failure.message =
            "\"sessions/2026-01-02-ops/.md\" cannot name a memory file: a component of it is hidden"
                .to_owned();
        for claimed in &claims {
            let _ = store.fail(&claimed.token, &frozen, later).await.unwrap();
        }
        fs::remove_file(fixture.root.path().join("projects")).unwrap();
        let report = fixture.work().await;
        assert_eq!(report.failed, []);
        assert_eq!(fixture.session_pages().len(), 1);
        assert!(fixture.curated().contains("cache limit"));
    });
}

#[cfg(unix)]
#[test]
fn a_linked_page_stops_no_other_and_is_written_when_the_link_is_gone() {
    check_linked_page(false);
}

#[cfg(unix)]
#[test]
fn a_page_that_a_person_puts_back_in_the_place_of_its_link_gets_what_came_meanwhile() {
    check_linked_page(true);
}

#[cfg(unix)]
fn check_linked_page(is_file_put_back: bool) {
    let fixture = NameFixture::new();
    run(async {
        assert!(fixture.say("aaaa", "cache").await);
        fixture.work().await;
        let (curated, other) = (
            fixture.memory().join("MEMORY.md"),
            fixture.root.path().join("mine.md"),
        );
        fs::rename(&curated, &other).unwrap();
        std::os::unix::fs::symlink(&other, &curated).unwrap();
        let before = fs::read_to_string(&other).unwrap();
        assert!(fixture.say("bbbb", "upload").await);
        let report = fixture.work().await;
        assert_eq!(report.failed, []);
        let unwritten: Vec<String> = report
            .unwritten
            .values()
            .flatten()
            .map(|unwritten| format!("{}: {}", unwritten.page, unwritten.why))
            .collect();
        assert_eq!(unwritten, ["MEMORY.md: MEMORY.md: it is a symbolic link"]);
        assert_eq!(fixture.session_pages().len(), 2);
        assert_eq!(fs::read_to_string(&other).unwrap(), before);
        // Nothing more is due as long as the link exists, and the page is once it is gone.
        assert_eq!(fixture.work().await.scopes, BTreeSet::new());
        fs::remove_file(&curated).unwrap();
        if is_file_put_back {
            fs::rename(&other, &curated).unwrap();
        }
        let report = fixture.work().await;
        assert!(report.unwritten.values().all(Vec::is_empty));
        let text = fixture.curated();
        assert!(
            text.contains("cache limit") && text.contains("upload limit"),
            "{text}"
        );
        assert_eq!(fixture.work().await.scopes, BTreeSet::new());
    });
}

#[cfg(unix)]
#[test]
fn a_link_that_a_person_committed_in_the_place_of_a_page_stops_no_other() {
    let fixture = NameFixture::new();
    let git = |words: &[&str]| {
        let person = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"];
        let mut command = std::process::Command::new("git");
        command
            .args(person)
            .args(words)
            .current_dir(fixture.memory());
        assert!(command.output().unwrap().status.success(), "{words:?}");
    };
    run(async {
        assert!(fixture.say("aaaa", "cache").await);
        fixture.work().await;
        let curated = fixture.memory().join("MEMORY.md");
        fs::remove_file(&curated).unwrap();
        std::os::unix::fs::symlink("elsewhere.md", &curated).unwrap();
        git(&["add", "MEMORY.md"]);
        git(&["commit", "-m", "Link it"]);
        assert!(fixture.say("bbbb", "upload").await);
        let report = fixture.work().await;
        assert_eq!(report.failed, []);
        assert!(!report.unwritten.values().all(Vec::is_empty));
        assert_eq!(fixture.session_pages().len(), 2);
        git(&["rm", "MEMORY.md"]);
        git(&["commit", "-m", "Unlink it"]);
        assert!(fixture.work().await.unwritten.values().all(Vec::is_empty));
        assert!(fixture.curated().contains("upload limit"));
    });
}

#[cfg(unix)]
#[test]
fn a_linked_memory_folder_is_not_followed_and_stops_no_other_memory() {
    let fixture = NameFixture::new();
    run(async {
        let elsewhere = TempDir::new().unwrap();
        fs::create_dir_all(fixture.memory().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), fixture.memory()).unwrap();
        fs::write(
            elsewhere.path().join("MEMORY.md"),
            "- a secret of somebody else\n",
        )
        .unwrap();
        assert!(fixture.say("aaaa", "cache").await);
        let report = fixture.work().await;
        assert_eq!(report.failed.len(), 1, "{report:?}");
        let why = &report.failed[0].failure.message;
        assert!(why.contains("it is a symbolic link"), "{why}");
        assert!(!elsewhere.path().join(".git").exists());
        fs::remove_file(fixture.memory()).unwrap();
        assert_eq!(fixture.work().await.failed, []);
        assert!(fixture.curated().contains("cache limit"));
    });
}
