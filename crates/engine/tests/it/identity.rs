//! An import that is interrupted anywhere ends like an undisturbed one: projects, scopes and files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use daybook_domain::eligibility::Switches;
use daybook_domain::page::read_all;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{JobKey, PageRequest, Project, Tenant};
use daybook_engine::append::IngestContext;
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::import::{FileReport, ImportProgress, import, scan};
use daybook_engine::jobs::project_repairs::{SplitError, move_session, split};
use daybook_engine::jobs::{WorkLimits, WorkerContext, rebuild_index, settle_projects, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::at;
use daybook_testkit::{ManualClock, run};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::json;
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores::{self, TestStore};

/// The three checkouts no longer exist on this machine, and one session shows their remote.
const CHECKOUTS: [&str; 3] = [
    "/nowhere/ada/tidepool",
    "/nowhere/old/tidepool",
    "/nowhere/build/tidepool",
];

/// Interrupts the importing process, as far as the store can tell, after a number of batches.
struct CutOffProgress(AtomicUsize);

impl ImportProgress for CutOffProgress {
    fn bytes(&self, _: u64) {
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(left > 0, "the import is cut off here, as the test wants it");
    }

    fn file(&self, _: &FileReport) {}
}

fn line(session: &str, n: usize, folder: &str, role: &str, content: &serde_json::Value) -> String {
    let line = json!({
        "type": role,
        "uuid": format!("{session}-{n}"),
        "parentUuid": null,
        "isSidechain": false,
        "sessionId": session,
        "cwd": folder,
        "version": "2.1.0",
        "timestamp": format!("2026-03-02T09:{n:02}:00.000Z"),
        "message": {"role": role, "content": content},
    });
    format!("{line}\n")
}

/// Writes one session for each checkout; the last and shortest, which is read last, shows the remote.
fn write_transcripts(folder: &Path) {
    for (n, checkout) in CHECKOUTS.iter().enumerate() {
        let session = format!("{n}7f78aa0-1c2d-4e3f-8a4b-00000000000{n}");
        let mut lines = vec![json!(
            "let's keep the tide table in a file, please always run the linter first"
        )];
        for more in n..6 {
            let words = format!("please never cache the harbour charts of station {more}");
            lines.push(json!(words));
        }
        if n == 2 {
            let answer = "To github.com:ada/tidepool.git\n   1..2  main -> main";
            let input = json!({"command": "git push"});
            lines.push(json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": input}]));
            lines.push(json!([{"type": "tool_result", "tool_use_id": "t1", "content": answer}]));
        }
        let lines = lines.iter().enumerate();
        let text: String = lines
            .map(|(at, content)| {
                let role = match content[0]["type"] == "tool_use" {
                    true => "assistant",
                    false => "user",
                };
                line(&session, at, checkout, role, content)
            })
            .collect();
        fs::write(folder.join(format!("{n}.jsonl")), text).unwrap();
    }
}

/// A worker with its store and data folder.
struct ProjectFixture {
    worker: WorkerContext,
    _made: TestStore,
    _root: TempDir,
}

/// All state that must be equal.
#[derive(Debug, PartialEq)]
struct MemoryState {
    projects: Vec<Project>,
    roots: BTreeMap<String, Option<String>>,
    observations: BTreeMap<String, u64>,
    files: BTreeMap<String, String>,
}

impl ProjectFixture {
    fn new(made: TestStore) -> Self {
        let root = TempDir::new().unwrap();
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: None,
            before_files: None,
            root: root.path().to_owned(),
            clock: Arc::new(ManualClock::at(at(4_000_000))),
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
            _made: made,
            _root: root,
        }
    }

    /// Returns false when the import is interrupted after `batches` batches.
    fn import(&self, transcripts: &Path, batches: usize) -> bool {
        let intake = IngestContext {
            teams: Default::default(),
            store: Arc::clone(&self.worker.store),
            clock: Arc::clone(&self.worker.clock),
            tenant: self.worker.tenant.clone(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        let cut_off = CutOffProgress(AtomicUsize::new(batches));
        let stop = Stop::default();
        let whole = catch_unwind(AssertUnwindSafe(|| {
            let files = scan(&[transcripts.to_owned()]);
            run(import(&intake, "all", files, &stop, &cut_off)).unwrap();
        }));
        whole.is_ok()
    }

    fn work(&self) {
        run(async {
            settle_projects(&self.worker).await.unwrap();
            let report = work(&self.worker, &Stop::default(), &SilentProgress)
                .await
                .unwrap();
            assert_eq!(report.failed, []);
        });
    }

    fn state(&self) -> MemoryState {
        run(async {
            let (store, tenant) = (&self.worker.store, &self.worker.tenant);
            let places = store.places(tenant).await.unwrap();
            let scopes = read_all(|page| store.scopes(tenant, page)).await.unwrap();
            let told = scopes.into_iter().filter(|state| state.observations > 0);
            let mut files = BTreeMap::new();
            for kind in ["projects", "users"] {
                collect(&self.worker.root.join(kind), &self.worker.root, &mut files);
            }
            MemoryState {
                projects: read_all(|page| store.projects(tenant, page)).await.unwrap(),
                roots: places.into_iter().map(|(p, key)| (p.root, key)).collect(),
                observations: told
                    .map(|state| (state.scope.to_string(), state.observations))
                    .collect(),
                files,
            }
        })
    }
}

fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            collect(&path, root, files);
        } else if let (Ok(text), Ok(name)) = (fs::read_to_string(&path), path.strip_prefix(root)) {
            files.insert(name.display().to_string(), text);
        }
    }
}

#[test]
fn an_import_that_is_cut_off_after_any_batch_ends_like_an_undisturbed_one() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    for make in stores::ALL {
        let Some(made) = make() else { continue };
        let undisturbed = ProjectFixture::new(made);
        assert!(undisturbed.import(transcripts.path(), usize::MAX));
        undisturbed.work();
        let expected = undisturbed.state();
        let keys: BTreeSet<&str> = expected.projects.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, BTreeSet::from(["ada-tidepool"]));
        let mut batches = 1;
        loop {
            let fixture = ProjectFixture::new(make().unwrap());
            let is_whole = fixture.import(transcripts.path(), batches);
            // A worker that runs meanwhile files the events where they seem to belong.
            fixture.work();
            assert!(fixture.import(transcripts.path(), usize::MAX));
            fixture.work();
            assert_eq!(fixture.state(), expected, "cut off after {batches} batches");
            if is_whole {
                break;
            }
            batches += 1;
        }
        assert!(batches > 3, "there were {batches} batches");
    }
}

#[test]
fn undoing_the_import_that_showed_a_remote_takes_the_project_back() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    for make in stores::ALL {
        let (Some(first), Some(made)) = (make(), make()) else {
            continue;
        };
        let shown = transcripts.path().join("2.jsonl");
        let without = ProjectFixture::new(first);
        for n in 0..2 {
            without.import(&transcripts.path().join(format!("{n}.jsonl")), usize::MAX);
        }
        without.work();
        let fixture = ProjectFixture::new(made);
        for n in 0..2 {
            fixture.import(&transcripts.path().join(format!("{n}.jsonl")), usize::MAX);
        }
        fixture.import(&shown, usize::MAX);
        fixture.work();
        assert_eq!(fixture.state().projects.len(), 1);
        let (store, tenant) = (&fixture.worker.store, &fixture.worker.tenant);
        run(async {
            let newest = store
                .imports(tenant, PageRequest::first(1))
                .await
                .unwrap()
                .items[0]
                .no;
            store
                .undo_import(tenant, newest, at(4_000_001))
                .await
                .unwrap();
        });
        fixture.work();
        let (found, expected) = (fixture.state(), without.state());
        assert_eq!(found.projects, expected.projects);
        assert_eq!(found.roots, expected.roots);
        assert_eq!(found.observations, expected.observations);
    }
}

/// An earlier version did not store what files show: it is found again in tool output.
#[test]
fn a_rebuild_finds_again_what_an_older_version_did_not_keep() {
    use daybook_domain::seams::Append;
    use daybook_domain::{Origin, ToolStatus};
    use daybook_testkit::fixtures::{EventFixture, append, event, session};

    for made in stores::ALL.iter().filter_map(|make| make()) {
        let fixture = ProjectFixture::new(made);
        let store = &fixture.worker.store;
        run(async {
            for (n, checkout) in CHECKOUTS.iter().enumerate() {
                let mut said =
                    vec![event("set the cache limit to 50 entries").with_place(checkout)];
                if n == 2 {
                    said.push(
                        event("git push")
                            .with_origin(Origin::ToolCall)
                            .with_place(checkout),
                    );
                    let mut pushed = event("To github.com:ada/tidepool.git\n   1..2 main -> main")
                        .with_origin(Origin::ToolResult)
                        .with_place(checkout);
                    pushed.status = Some(ToolStatus::Succeeded);
                    said.push(pushed);
                }
                let told: Append = append(&session(&format!("aaa{n}")), said);
                store.append(&told).await.unwrap();
            }
        });
        fixture.work();
        assert_eq!(fixture.state().projects.len(), 3);
        run(async { rebuild_index(&fixture.worker).await.unwrap() });
        fixture.work();
        let state = fixture.state();
        let keys: Vec<&str> = state.projects.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["ada-tidepool"]);
        let scopes: BTreeSet<&String> = state.observations.keys().collect();
        assert_eq!(scopes.len(), 1, "{scopes:?}");
    }
}

/// Imports all checkouts, which one remote makes one project.
fn one_project(made: TestStore, transcripts: &Path) -> ProjectFixture {
    let fixture = ProjectFixture::new(made);
    assert!(fixture.import(transcripts, usize::MAX));
    fixture.work();
    assert_eq!(fixture.state().projects.len(), 1);
    fixture
}

/// Everything that could derive projects and observations once more.
fn repeat_everything(fixture: &ProjectFixture, transcripts: &Path) {
    fixture.import(transcripts, usize::MAX);
    run(async {
        rebuild_index(&fixture.worker).await.unwrap();
        let tenant = Tenant::local();
        let sessions = read_all(|page| fixture.worker.store.sessions(&tenant, page));
        for session in sessions.await.unwrap() {
            let job = JobKey::Extract(session.id);
            fixture
                .worker
                .store
                .redo(&job, at(4_000_002))
                .await
                .unwrap();
        }
    });
    fixture.work();
}

#[test]
fn a_checkout_that_was_split_off_stays_so_whatever_is_read_later() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let fixture = one_project(made, transcripts.path());
        let before = fixture.state();
        let roots = BTreeSet::from([CHECKOUTS[1].to_owned()]);
        run(async {
            let worker = &fixture.worker;
            let all = CHECKOUTS.iter().map(|root| (*root).to_owned()).collect();
            let refused = split(worker, "ada-tidepool", &all, "old").await;
            assert!(matches!(refused, Err(SplitError::NothingLeft(_))));
            let other = BTreeSet::from(["/nowhere".to_owned()]);
            let refused = split(worker, "ada-tidepool", &other, "old").await;
            assert!(matches!(refused, Err(SplitError::NoCheckout { .. })));
            split(worker, "ada-tidepool", &roots, "tidepool")
                .await
                .unwrap();
        });
        fixture.work();
        let after = fixture.state();
        let key = |state: &MemoryState, n: usize| state.roots[CHECKOUTS[n]].clone().unwrap();
        assert_eq!(key(&after, 1), "tidepool");
        assert_eq!(
            [key(&after, 0), key(&after, 2)],
            ["ada-tidepool"; 2].map(String::from)
        );
        assert!(after.observations["project/tidepool"] > 0);
        assert!(
            after
                .files
                .contains_key("projects/tidepool/memory/MEMORY.md")
        );
        let learned = |state: &MemoryState| state.observations["project/ada-tidepool"];
        assert!(learned(&after) <= learned(&before));
        repeat_everything(&fixture, transcripts.path());
        assert_eq!(fixture.state(), after);
    }
}

#[test]
fn a_session_that_was_moved_stays_moved_whatever_is_read_later() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    let files = [0, 1].map(|n| transcripts.path().join(format!("{n}.jsonl")));
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let fixture = one_project(made, transcripts.path());
        run(async {
            let (store, tenant) = (&fixture.worker.store, Tenant::local());
            let found = store.find_sessions(&tenant, "17f78").await.unwrap();
            let [session] = found.as_slice() else {
                panic!("{found:?}");
            };
            move_session(&fixture.worker, session, "charts")
                .await
                .unwrap();
        });
        fixture.work();
        let after = fixture.state();
        assert!(after.observations["project/charts"] > 0);
        let charts = &after.files["projects/charts/memory/MEMORY.md"];
        assert!(charts.contains("station 1"), "{charts}");
        let kept = &after.files["projects/ada-tidepool/memory/MEMORY.md"];
        assert!(kept.contains("station 0"), "{kept}");
        repeat_everything(&fixture, transcripts.path());
        assert_eq!(fixture.state(), after);

        // It goes on in another folder, and shows that folder's remote.
        let more = "we decided to print the charts of station 77 on paper, always";
        let line = line(
            "17f78aa0-1c2d-4e3f-8a4b-000000000001",
            30,
            CHECKOUTS[2],
            "user",
            &json!(more),
        );
        let text = fs::read_to_string(&files[1]).unwrap() + &line;
        fs::write(&files[1], text).unwrap();
        fixture.import(transcripts.path(), usize::MAX);
        fixture.work();
        let after = fixture.state();
        let charts = &after.files["projects/charts/memory/MEMORY.md"];
        assert!(charts.contains("station 77"), "{charts}");
        write_transcripts(transcripts.path());
    }
}

#[test]
fn a_moved_session_goes_along_when_its_project_is_renamed_by_evidence() {
    let transcripts = TempDir::new().unwrap();
    write_transcripts(transcripts.path());
    let later = transcripts.path().join("2.jsonl");
    let shown = fs::read_to_string(&later).unwrap();
    fs::remove_file(&later).unwrap();
    let stray = line(
        "57f78aa0",
        1,
        "/nowhere/ada/charts",
        "user",
        &json!("always greet the pilot boat by radio, please"),
    );
    fs::write(transcripts.path().join("5.jsonl"), stray).unwrap();
    for made in stores::ALL.iter().filter_map(|make| make()) {
        let fixture = ProjectFixture::new(made);
        fixture.import(transcripts.path(), usize::MAX);
        fixture.work();
        let key = fixture.state().roots[CHECKOUTS[0]].clone().unwrap();
        run(async {
            let (store, tenant) = (&fixture.worker.store, Tenant::local());
            let found = store.find_sessions(&tenant, "57f78").await.unwrap();
            move_session(&fixture.worker, &found[0], &key)
                .await
                .unwrap();
        });
        fixture.work();
        fs::write(&later, &shown).unwrap();
        fixture.import(transcripts.path(), usize::MAX);
        fixture.work();
        let state = fixture.state();
        let keys: BTreeSet<Option<String>> = state.roots.values().cloned().collect();
        assert_eq!(
            keys,
            BTreeSet::from([Some("ada-tidepool".to_owned())]),
            "{:?}",
            state.roots
        );
        fs::remove_file(&later).unwrap();
    }
}
